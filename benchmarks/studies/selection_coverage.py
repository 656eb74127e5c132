"""Coverage of the lower limit of a candidate that was chosen on the same small held-out part.

Eight equally good candidates have independent scores of the same rows: normal, Cauchy, or
log-normal rounded to one decimal, which tie. The candidate with the largest lower limit at
``level=0.9`` is chosen. *Missed* is the proportion of draws in which this limit is above the value
of the population, of two million rows. *below* is its mean distance below that value.

    python benchmarks/studies/selection_coverage.py --jobs 2   # print the table, two minutes
    python benchmarks/studies/selection_coverage.py --write    # also store it in results/
"""

import argparse
import sys
from itertools import product
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, write_table

from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection._candidates import lower_limits
from sklearn_rank.model_selection._held_out import HeldOut

DELTA = 0.1
N_CANDIDATES = 8
N_LARGE = 2_000_000
METHODS = {
    "precision@top0.1": ("exact", "max-t"),
    "ap": ("max-t",),
    "local_auc@0.8": ("dkw", "max-t"),
}
SCORES = ("normal", "Cauchy", "tied log-normal")
COUNTS = ((10, 90), (40, 360))
STORED = RESULTS / "selection_coverage.csv"


def draw(scores, n_pos, n_neg, n_candidates, rng):
    """Scores of each candidate, positives first."""
    shape = (n_candidates, n_pos + n_neg)
    if scores == "normal":
        found = rng.normal(size=shape)
        found[:, :n_pos] += 1.5
    elif scores == "Cauchy":
        found = rng.standard_cauchy(size=shape)
        found[:, :n_pos] += 3.0
    else:
        found = np.round(np.exp(rng.normal(size=shape)), 1)
        found[:, :n_pos] *= 3.0
    return found


def of_measure(name, scores, counts, n_draws):
    """A row for each method of a measure, on the same draws."""
    measure, methods = get_measure(name), METHODS[name]
    n_pos, weights = N_LARGE // 10, np.full(N_CANDIDATES, 1.0 / N_CANDIDATES)
    large = draw(scores, n_pos, N_LARGE - n_pos, 1, np.random.default_rng(0))[0]
    truth = float(measure(np.arange(N_LARGE) < n_pos, large))
    rng, positive = np.random.default_rng(1), np.arange(sum(counts)) < counts[0]
    limits = {method: [] for method in methods}
    observed = {method: [] for method in methods}
    for _ in range(n_draws):
        found = draw(scores, *counts, N_CANDIDATES, rng)
        evidence = HeldOut(measure, [positive], [list(found)])
        for method in methods:
            lower = lower_limits(evidence, method, DELTA, weights, rng)[1]
            # Of equal limits that of the largest mean, as in a search.
            chosen = np.lexsort((evidence.means, lower))[-1]
            limits[method].append(lower[chosen])
            observed[method].append(evidence.means[chosen])
    missed = {method: np.mean(np.array(limits[method]) > truth) for method in methods}
    return [
        {
            "measure": name,
            "method": method,
            "scores": scores,
            "counts": f"{counts[0]}/{counts[1]}",
            "truth": truth,
            "observed": np.mean(observed[method]),
            "missed": missed[method],
            "missed_se": np.sqrt(missed[method] * (1.0 - missed[method]) / n_draws),
            "below": truth - np.mean(limits[method]),
        }
        for method in methods
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="store the table")
    arguments = parser.parse_args()
    print(describe_machine())
    found = Parallel(arguments.jobs)(
        delayed(of_measure)(name, scores, counts, arguments.draws)
        for name, scores, counts in product(METHODS, SCORES, COUNTS)
    )
    rows = [row for rows_of_methods in found for row in rows_of_methods]
    columns = [
        ("measure", "measure", ""),
        ("method", "method", ""),
        ("scores", "scores", ""),
        ("counts", "counts", ""),
        ("truth", "truth", ".3f"),
        ("observed", "observed", ".3f"),
        ("missed", "missed", ".3f"),
        ("missed_se", "±", ".3f"),
        ("below", "below", ".3f"),
    ]
    print(format_table(rows, columns))
    if arguments.write:
        write_table(STORED, rows, columns)


if __name__ == "__main__":
    main()
