"""Coverage of 95 % intervals for rows that were drawn with unequal probabilities.

Scores of two rankers share a normal part of weight .7 besides the class, 1.5 standard deviations
apart. The top 5 % of the old ranker are reviewed fully, the rest with a probability of 2 %, and
the measures are those of the new one, weighted by 1 / probability. The target is the value of two
million rows. Intervals refuse by the number that the positives are worth, which is off here. The
same weights read as frequencies are included for comparison.

    python benchmarks/studies/sampling_weights.py
    python benchmarks/studies/sampling_weights.py --repetitions 400 --write
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table

from sklearn_rank.inference import _evidence as _weight_meaning
from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import get_measure

RESULTS = Path(__file__).resolve().parents[1] / "results" / "sampling_weights.csv"
# Rows of the list and share of positives.
LISTS = ((6_000, 0.02), (10_000, 0.03), (12_000, 0.05), (20_000, 0.05))
RATE = 0.02
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
    ("n", "rows", "d"),
    ("positive", "positive", ".2f"),
    ("draws", "positives worth", ".1f"),
    ("measure", "measure", ""),
    ("coverage", "coverage", ".3f"),
    ("width", "width", ".3f"),
    ("error_over_sd", "error / sd", ".2f"),
    ("as_frequencies", "as frequencies", ".3f"),
]


def drawn(rng, n, positive):
    """Labels, and the scores of the old ranker and of the new."""
    y = (rng.random(n) < positive).astype(int)
    shared = 1.5 * y + 0.7 * rng.normal(size=n)
    return y, *(shared + np.sqrt(1 - 0.7**2) * rng.normal(size=n) for _ in range(2))


def reviewed(rng, n, positive):
    """The rows whose labels are known, with 1 / probability."""
    y, old, new = drawn(rng, n, positive)
    top = old >= np.quantile(old, 0.95)
    known = top | (rng.random(n) < RATE)
    return y[known], old[known], new[known], np.where(top, 1.0, 1.0 / RATE)[known]


def draws_of_positives(y, weight):
    """Number of positives that carry the weight, as the refusal counts it."""
    share = np.append(weight[y == 1], weight.max())
    return share.sum() ** 2 / (share @ share) - 1.0


def study(repetitions):
    """Rows of the table, list by list."""
    for n, positive in LISTS:
        rng = np.random.default_rng([n, int(1000 * positive)])
        y, _, score = drawn(np.random.default_rng(0), 2_000_000, positive)
        targets = {name: get_measure(name)(y, score) for name in MEASURES}
        found = {name: [] for name in (*MEASURES, "compare auc")}
        draws = []
        for _ in range(repetitions):
            y, old, new, weight = reviewed(rng, n, positive)
            draws.append(draws_of_positives(y, weight))
            said = {"sample_weight": weight, "weights": "sampling"}
            for name, target in targets.items():
                one = metric_interval(name, y, new, **said)
                repeated = metric_interval(
                    name, y, new, sample_weight=np.rint(weight), weights="frequency"
                )
                found[name].append(
                    (
                        target in one,
                        one.high - one.low,
                        one.estimate,
                        one.standard_error,
                        target in repeated,
                    )
                )
            both = compare("auc", y, {"a": new, "b": old}, **said)
            low, high = both.low[0], both.high[0]
            values = (low <= 0 <= high, high - low, both.estimate, both.difference_errors[0])
            found["compare auc"].append((*values, np.nan))
        for name, values in found.items():
            covered, width, estimate, error, repeated = np.array(values, dtype=float).T
            yield {
                "n": n,
                "positive": positive,
                "draws": float(np.median(draws)),
                "measure": name,
                "coverage": covered.mean(),
                "width": float(np.median(width)),
                "error_over_sd": float(np.sqrt(np.mean(error**2)) / estimate.std()),
                "as_frequencies": repeated.mean(),
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    print(describe_machine())
    _weight_meaning.LEAST_DRAWS = 0.0
    found = list(study(options.repetitions))
    print(format_table(found, COLUMNS))
    if options.write:
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
