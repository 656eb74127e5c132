"""The map: gain of a second look at the top, by simulation with large test parts."""

import csv
import time
from functools import partial
from itertools import product

import numpy as np
from measuring import RESULTS

from . import generators
from .data_sets import Split
from .methods import lightgbm, logistic
from .store import TAUS, as_text, values_of

PATH = RESULTS / "top_of_list_map.csv"
DRAWS = {"plain": {}, "noisy_bulk": {"noise": 0.3}, "heavy_tails": {"heavy": True}}
ANGLES = (0, 45, 90)
# Base, and the number of repetitions by training rows.
BASES = {
    "logistic": (partial(logistic, n_folds=3), {250: 12, 1000: 8, 4000: 6, 16000: 4}),
    "lightgbm": (partial(lightgbm, n_folds=3), {250: 8, 1000: 6, 4000: 4}),
}
N_TEST = 20_000


def simulate(base, kind, angle, n, seed):
    """Measures of all forms of a base on one draw."""
    rng = np.random.default_rng([seed, n, angle, list(DRAWS).index(kind)])
    X, y = generators.draw(n + N_TEST, rng, angle=float(angle), **DRAWS[kind])
    split = Split(X[:n], y[:n], None, X[n:], y[n:], 0.0)
    found = BASES[base][0](split, TAUS)
    return {method: values_of(split.y_test, scores) for method, (scores, *_) in found.items()}


def cell(base, kind, angle, n, repetitions):
    """Mean differences of each form from its base in one cell of the map."""
    draws = [simulate(base, kind, angle, n, seed) for seed in range(repetitions)]
    rows = []
    for method, tau in product(draws[0], TAUS):
        measure = f"P@{tau:.0%}"
        ours, theirs = (np.array([d[m][measure] for d in draws]) for m in (method, base))
        difference = ours - theirs
        if method != base:
            rows.append(
                {"base": base, "kind": kind, "angle": angle, "n_train": n}
                | {"form": method.split(", ")[1], "tau": tau, "repetitions": repetitions}
                | {"of_base": theirs.mean(), "difference": difference.mean()}
                | {"error": difference.std(ddof=1) / np.sqrt(repetitions)}
            )
    return rows


def run(base):
    """Compute the cells of a base that are missing and store them."""
    rows = []
    if PATH.is_file():
        with open(PATH, newline="") as lines:
            rows = list(csv.DictReader(lines))
    done = {(row["base"], row["kind"], int(row["angle"]), int(row["n_train"])) for row in rows}
    sizes = BASES[base][1]
    for n, kind, angle in product(sizes, DRAWS, ANGLES):
        if (base, kind, angle, n) in done:
            continue
        start = time.process_time()
        new = cell(base, kind, angle, n, sizes[n])
        rows += [{key: as_text(value) for key, value in row.items()} for row in new]
        with open(PATH, "w", newline="") as lines:
            writer = csv.DictWriter(lines, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        spent = time.process_time() - start
        print(f"map: {base} {kind} {angle} {n} {spent:.1f} s", flush=True)
