"""Coverage of 95 % intervals for rows that were drawn with unequal probabilities.

    python benchmarks/studies/sampling_weights.py
    python benchmarks/studies/sampling_weights.py --repetitions 200 --write     # 15 minutes

Scores of two rankers share a part of weight .7 besides the class. The target is the value of
300,000 rows of the population. Measures are those of the new ranker, weighted by 1 / probability,
and its difference of AUC from the old one.

Reviewed designs: normal scores 1.5 standard deviations apart; the top of the old ranker is
reviewed fully, the rest with a small probability. The same weights read as frequencies are
included for comparison.

Log-normal designs: the logarithm of the weights of drawn rows is normal with a standard deviation,
so that of the population it is as far above. Given the class, the scores of the new ranker
correlate with it, by another number in either class, and the share of positives may rise or fall
with it. A row of a weight may be as many rows of the population as all others together.

Protocol. Limits for rows that a class may lack among the heaviest ones were chosen on normal
scores with correlations of 0 and .5 of one class, samples of 200 to 600 rows with 5 to 25 %
positive, standard deviations of .5 to 2, a constant share of positives, and the reviewed lists of
4,000, 6,000 and 10,000 rows at 2 %. The log-normal designs below and the reviewed ones at 1 and
3 % were not run before this file was committed. Coverage is to be at least .93, and the truth
beyond either limit in at most .045, in every cell.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, seeded
from scipy.special import expit, logit

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import get_measure

RESULTS = Path(__file__).resolve().parents[1] / "results" / "sampling_weights.csv"
# Rows of the list, share of positives, share that is reviewed, and probability of the rest.
REVIEWED = {
    "reviewed 6000": (6_000, 0.02, 0.05, 0.02),
    "reviewed 10000": (10_000, 0.03, 0.05, 0.02),
    "reviewed 20000": (20_000, 0.05, 0.05, 0.02),
    "reviewed 8000 at 3 %": (8_000, 0.015, 0.1, 0.03),
    "reviewed 5000 at 1 %": (5_000, 0.02, 0.03, 0.01),
}
# Rows drawn, share of positives, standard deviation of the logarithm of the weights, law of the
# scores, correlations of positives and negatives, and slope of the logit of the share.
LOG_NORMAL = {
    "log-normal .5": (300, 0.1, 0.5, "laplace", 0.6, -0.3, 0.0),
    "log-normal .75": (200, 0.1, 0.75, "laplace", -0.6, 0.3, 0.0),
    "log-normal 1": (250, 0.2, 1.0, "student", -0.7, 0.0, 0.0),
    "log-normal 1, rising": (500, 0.06, 1.0, "laplace", 0.7, 0.7, 0.5),
    "log-normal 1.5": (300, 0.3, 1.5, "laplace", -0.4, 0.4, 0.0),
    "log-normal 1.5, falling": (400, 0.1, 1.5, "student", 0.4, -0.6, -0.5),
    "log-normal 2": (250, 0.08, 2.0, "student", 0.3, -0.3, 0.0),
    "log-normal 2, rising": (500, 0.15, 2.0, "laplace", -0.7, 0.2, 0.5),
}
MEASURES = (
    "auc",
    "partial_auc@fpr0.2",
    "local_auc@0.8",
    "bedroc@20",
    "precision@top0.1",
    "lift@0.1",
    "tpr@fpr0.1",
    "fpr@tpr0.8",
    "ap",
)
COLUMNS = [
    ("design", "design", ""),
    ("draws", "positives worth", ".1f"),
    ("measure", "measure", ""),
    ("coverage", "coverage", ".3f"),
    ("too_high", "low too high", ".3f"),
    ("too_low", "high too low", ".3f"),
    ("width", "width", ".3f"),
    ("as_frequencies", "as frequencies", ".3f"),
]


def drawn(rng, n, positive):
    """Labels, and the scores of the old ranker and of the new."""
    y = (rng.random(n) < positive).astype(int)
    shared = 1.5 * y + 0.7 * rng.normal(size=n)
    return y, *(shared + np.sqrt(1 - 0.7**2) * rng.normal(size=n) for _ in range(2))


def reviewed(rng, n, positive, top, rate):
    """Rows whose labels are known, with 1 / probability."""
    y, old, new = drawn(rng, n, positive)
    of_top = old >= np.quantile(old, 1.0 - top)
    known = of_top | (rng.random(n) < rate)
    return y[known], old[known], new[known], np.where(of_top, 1.0, 1.0 / rate)[known]


def log_normal(rng, n, positive, deviation, law, with_pos, with_neg, slope, above=0.0):
    """Rows that were drawn, with 1 / probability; with ``above`` those of the population."""
    z = rng.normal(size=n) + above
    y = (rng.random(n) < expit(logit(positive) + slope * z)).astype(int)
    r = np.where(y == 1, with_pos, with_neg)
    own, other = (
        rng.standard_t(3, size=n) if law == "student" else rng.laplace(size=n) for _ in range(2)
    )
    new = 1.2 * y + r * z + np.sqrt(1.0 - r * r) * own
    old = 1.2 * y + 0.7 * (new - 1.2 * y) + np.sqrt(1 - 0.7**2) * other
    return y, old, new, np.exp(deviation * z)


def draws_of_positives(y, weight):
    """Number of positives that carry the weight, with one more of the largest weight of all."""
    share = np.append(weight[y == 1], weight.max())
    return share.sum() ** 2 / (share @ share) - 1.0


def study(design, repetitions):
    """Rows of the table of a design."""
    is_reviewed, parameters = design in REVIEWED, (REVIEWED | LOG_NORMAL)[design]
    rng, many = seeded("sampling weights", design), np.random.default_rng(0)
    if is_reviewed:
        y, old, new = drawn(many, 300_000, parameters[1])
    else:
        y, old, new, _ = log_normal(many, 300_000, *parameters[1:], above=parameters[2])
    targets = {name: get_measure(name)(y, new) for name in MEASURES}
    targets["compare auc"] = targets["auc"] - get_measure("auc")(y, old)
    if is_reviewed:
        targets["compare auc"] = 0.0
    found, draws = {name: [] for name in targets}, []
    for _ in range(repetitions):
        y, old, new, weight = (reviewed if is_reviewed else log_normal)(rng, *parameters)
        draws.append(draws_of_positives(y, weight))
        said = {"sample_weight": weight, "weights": "sampling"}
        for name in MEASURES:
            one, as_frequencies = metric_interval(name, y, new, **said), np.nan
            if is_reviewed:
                repeated = {"sample_weight": np.rint(weight), "weights": "frequency"}
                as_frequencies = targets[name] in metric_interval(name, y, new, **repeated)
            found[name].append((one.low, one.high, as_frequencies))
        both = compare("auc", y, {"a": new, "b": old}, **said)
        found["compare auc"].append((both.low[0], both.high[0], np.nan))
    for name, values in found.items():
        low, high, repeated = np.array(values, dtype=float).T
        too_high, too_low = (low > targets[name]).mean(), (high < targets[name]).mean()
        yield {
            "design": design,
            "draws": float(np.median(draws)),
            "measure": name,
            "coverage": 1.0 - too_high - too_low,
            "too_high": too_high,
            "too_low": too_low,
            "width": float(np.median(high - low)),
            "as_frequencies": repeated.mean(),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--only", nargs="+", default=[*REVIEWED, *LOG_NORMAL], help="designs")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    print(describe_machine())
    found = []
    for design in options.only:
        rows = list(study(design, options.repetitions))
        print(format_table(rows, COLUMNS), flush=True)
        found += rows
    if options.write:
        with RESULTS.open(newline="", encoding="utf-8") as file:
            found += [row for row in csv.DictReader(file) if row["design"] not in options.only]
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
