"""Coverage of the intervals of effects of a treatment by rank, beside a bootstrap of half samples.

    python benchmarks/studies/uplift.py            # print, some fifteen minutes
    python benchmarks/studies/uplift.py --write    # also store the results

Protocol, fixed before the first run. A design is an outcome (binary, 0 or 1 with a mean of .2 to
.4; normal; spend, 0 or log-normal), 400 or 2,000 rows, a propensity (.5; or varying from .2 to .8
with what moves outcome and effect) and an adjustment (none, so that the expected outcomes are the
means of the arms; or .8 of that without treatment, plus for treated rows the mean effect). Two
scores follow the effect with noise of .5 and 1.5 standard deviations. Measures are uplift@top0.1,
uplift@top0.3, qini, auuc and autoc of the first score, by metric_interval, and their differences,
by compare. The truth is the measure of the effects themselves on 2,000,000 rows. A cell is a
design and a measure or a difference: coverage of the 95 % limits in 1,000 samples, how often the
truth is below and above them, and the mean width over 3.92 standard deviations of the estimates. A
cell misses if it covers in less than .935; of 240 cells that cover in .95 about four would.

Standard errors of qini and autoc are compared with the deviation of 400 random halves of the rows
(the bootstrap of Yadlowsky, Fleming, Shah, Brunskill & Wager 2025, as in grf), written here from
the definition, in 25 samples of each design: a design misses if the mean of the ratios is off 1 by
more than 5 %. Times are those of an interval and of 200 halves, the default of grf, of 2,000 and
of 100,000 rows; the aim is a hundred times. A first run was stopped, and its results not read,
when the means of the arms took the place of expected outcomes of 0. The second covered in .935 or
more in 239 of 240 cells. The third, which is stored, has limits with as many degrees of freedom as
the fourth powers tell, and amounts of at least 0 on whose claims this was chosen: claims (a tenth
of the rows, more of high risk, log-normal), log-normal amounts and Poisson counts; 200 and 1,000
rows; lorenz@0.1, insurance_gini and c_index of a score, and their differences.
"""

import sys
import time
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from labels_in_part import run
from measuring import RESULTS, seeded, stored_results

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import effect_amounts, get_measure

STORED = RESULTS / "uplift.csv"
MEASURES = {
    name: get_measure(name) for name in ("uplift@top0.1", "uplift@top0.3", "qini", "auuc", "autoc")
}
OF_AMOUNTS = {name: get_measure(name) for name in ("lorenz@0.1", "insurance_gini", "c_index")}
AMOUNTS = ("claims", "log-normal", "counts")
OUTCOMES, SIZES = ("binary", "normal", "spend"), (400, 2000)
DESIGNS = tuple(
    ", ".join(map(str, design))
    for design in (
        *product(OUTCOMES, SIZES, ("p .5", "p varies"), ("raw", "adjusted")),
        *product(AMOUNTS, (200, 1000)),
    )
)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def population(outcome, n, rng):
    """Mean outcome without treatment, effect, two scores and propensity of each row."""
    habit, taste = rng.normal(size=(2, n))
    if outcome == "normal":
        base, effect = habit, 0.3 + 0.5 * taste
    else:
        base, effect = 0.1 + 0.3 * sigmoid(habit), 0.1 * (1.0 + np.tanh(taste))
    if outcome == "spend":
        base, effect = np.exp(1.5) * base, np.exp(1.5) * effect
    noise = rng.normal(size=(2, n))
    scores = {"a": taste + 0.5 * noise[0], "b": taste + 1.5 * noise[1]}
    return base, effect, scores, 0.2 + 0.6 * sigmoid(habit + taste)


def amounts_at_least_0(kind, n, rng):
    risk = rng.normal(size=n)
    scores = {"a": risk + rng.normal(size=n), "b": risk + 2.0 * rng.normal(size=n)}
    if kind == "counts":
        return rng.poisson(np.exp(0.5 * risk)).astype(float), scores
    if kind == "log-normal":
        return np.exp(risk + rng.normal(size=n)), scores
    has_claim = rng.random(n) < 0.1 * np.exp(0.5 * risk - 0.125)
    return np.where(has_claim, np.exp(rng.normal(7.0, 1.0, n)), 0.0), scores


def drawn(design, rng):
    """Amounts and scores of a sample."""
    if design.startswith(AMOUNTS):
        kind, n = design.split(", ")
        return amounts_at_least_0(kind, int(n), rng)
    outcome, n, propensity, adjustment = design.split(", ")
    base, effect, scores, chance = population(outcome, n := int(n), rng)
    if propensity == "p .5":
        chance = 0.5
    treated = rng.random(n) < chance
    mean = base + treated * effect
    if outcome == "normal":
        y = mean + rng.normal(size=n)
    else:
        y = np.exp(rng.normal(1.0, 1.0, n)) if outcome == "spend" else np.ones(n)
        y *= rng.random(n) < mean / (np.exp(1.5) if outcome == "spend" else 1.0)
    expected = None
    if adjustment == "adjusted":
        expected = 0.8 * base[:, np.newaxis] + effect.mean() * np.array([0.0, 1.0])
    return effect_amounts(y, treated, propensity=chance, expected=expected), scores


def measures_of(design):
    return OF_AMOUNTS if design.startswith(AMOUNTS) else MEASURES


@cache
def truths(outcome):
    n, rng, found = 2_000_000, seeded("uplift, truth", outcome), {}
    if outcome in AMOUNTS:
        effect, scores = amounts_at_least_0(outcome, n, rng)
    else:
        _, effect, scores, _ = population(outcome, n, rng)
    for name, measure in measures_of(outcome).items():
        first, second = (measure(effect, score) for score in scores.values())
        found |= {name: first, f"{name}, difference": first - second}
    return found


def mean_of_tops(ordered):
    """Qini and AUTOC of amounts in order."""
    places = np.arange(1.0, len(ordered) + 1.0)
    excess = np.cumsum(ordered) / places - ordered.mean()
    return np.mean(places / len(ordered) * excess), np.mean(excess)


def half_sample_errors(amounts, score, n_halves, rng):
    n, values = len(amounts), []
    for _ in range(n_halves):
        half = rng.permutation(n)[: n // 2]
        values.append(mean_of_tops(amounts[half][np.argsort(-score[half])]))
    return np.std(values, axis=0, ddof=1)


def cells(design, repetitions):
    truth, rng = truths(design.partition(", ")[0]), seeded("uplift, runs", design)
    found, ratios = {name: [] for name in truth}, []
    for i in range(repetitions):
        amounts, scores = drawn(design, rng)
        errors = {}
        for name, measure in measures_of(design).items():
            one = metric_interval(measure, amounts, scores["a"])
            both = compare(measure, amounts, scores, random_state=0)
            errors[name] = one.standard_error
            found[name].append((one.estimate, one.low, one.high))
            limits = both.differences[0], both.low[0], both.high[0]
            found[f"{name}, difference"].append(limits)
        if i < 25 and "qini" in errors:
            halves = half_sample_errors(amounts, scores["a"], 400, rng)
            ratios.append([errors["qini"], errors["autoc"]] / halves)
    of_halves = (
        dict(zip(("qini", "autoc"), np.mean(ratios, axis=0), strict=True)) if ratios else {}
    )
    for name, limits in found.items():
        value, low, high = np.array(limits).T
        yield {
            "design": design,
            "measure": name,
            "truth": f"{truth[name]:.4g}",
            "cover": f"{np.mean((low <= truth[name]) & (truth[name] <= high)):.4f}",
            "below": f"{np.mean(truth[name] < low):.4f}",
            "above": f"{np.mean(truth[name] > high):.4f}",
            "width": f"{np.mean(high - low) / (3.92 * value.std()):.3f}",
            "error/halves": f"{of_halves[name]:.3f}" if name in of_halves else "",
            "runs": repetitions,
        }


def times(n):
    """Seconds of an interval of autoc and of 200 halves, which sort for it; the least of 5."""
    amounts, scores = drawn(f"normal, {n}, p .5, raw", rng := seeded("uplift, times", n))
    calls = (
        lambda: metric_interval(MEASURES["autoc"], amounts, scores["a"]),
        lambda: half_sample_errors(amounts, scores["a"], 200, rng),
    )
    return [min(_seconds(call) for _ in range(5)) for call in calls]


def _seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def page():
    """Rows of the table by outcome, of the stored cells."""
    cells = stored_results(STORED.stem)
    for outcome, n in dict.fromkeys(tuple(row["design"].split(", ")[:2]) for row in cells):
        of_outcome = [row for row in cells if row["design"].startswith(f"{outcome}, {n}")]
        shown = [outcome, f"{int(n):,}"]
        for is_difference in (False, True):
            rows = [x for x in of_outcome if x["measure"].endswith("difference") == is_difference]
            cover, width = ([float(row[key]) for row in rows] for key in ("cover", "width"))
            tail = max(float(row[side]) for row in rows for side in ("below", "above"))
            least = [f"{x:.3f}".removeprefix("0") for x in (min(cover), tail)]
            shown += [*least, f"{min(width):.2f} to {max(width):.2f}"]
        ratios = [float(row["error/halves"]) for row in of_outcome if row["error/halves"]]
        shown += [f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else ""]
        print(f"| {' | '.join(shown)} |")


if __name__ == "__main__":
    run(__doc__, DESIGNS, cells, STORED, 1000)
    for n in (2000, 100_000):
        ours, halves = times(n)
        print(f"{n} rows: {1000 * ours:.3g} ms, 200 halves {1000 * halves:.3g} ms")
    page()
