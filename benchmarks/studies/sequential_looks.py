"""Errors of intervals over several looks at the same ranker, and their widths.

    python benchmarks/studies/sequential_looks.py            # print the table, about an hour
    python benchmarks/studies/sequential_looks.py --write    # also update results/
    python benchmarks/studies/sequential_looks.py --only auc --repetitions 100

There are ten or a hundred updates of 100 rows, or of 50 queries of 20 rows. "fixed" is the 95 %
interval for one look, used at each of them; the others are `ConfidenceSequence`. A sequence errs
if any of its intervals misses the target; a second count starts at the third look. Widths are the
medians of the ratios to the fixed interval at the first and at the last look. Few positives are
5 % of the rows, many 30 %. Heavy tails are Cauchy scores, and log-normal noise for queries.
Targets are exact, except for "ap" (four million rows) and the mean of "ndcg@10" (a million
queries). The difference of two equally good rankers is 0.
"""

import argparse
import sys
import warnings
import zlib
from functools import cache
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, stored_results, write_table

from sklearn_rank.inference import ConfidenceSequence, metric_interval
from sklearn_rank.metrics import Accumulator, get_measure

STORED = RESULTS / "sequential_looks.csv"
LEVEL = 0.95
ROWS, QUERIES, ITEMS = 100, 50, 20
SHARES = {"few": 0.05, "many": 0.3}
SHAPES = {"normal": (stats.norm(1.2), stats.norm()), "heavy": (stats.cauchy(1.5), stats.cauchy())}
TAU, THRESHOLD = 0.1, 1.5
# (measure, looks, part of the repetitions)
CELLS = [
    ("auc", 10, 1.0),
    ("precision@top0.1", 10, 1.0),
    ("alerts", 10, 1.0),
    ("ndcg@10", 10, 1.0),
    ("difference of ndcg@10", 10, 1.0),
    ("ap", 10, 1.0),
    ("auc", 100, 0.25),
    ("ndcg@10", 100, 0.25),
]
COLUMNS = [
    ("measure", "measure", ""),
    ("positives", "positives", ""),
    ("scores", "scores", ""),
    ("looks", "looks", "d"),
    ("method", "method", ""),
    ("error", "error", ".3f"),
    ("error_later", "from look 3", ".3f"),
    ("first_width", "width, first", ".2f"),
    ("last_width", "last", ".2f"),
    ("repetitions", "of", "d"),
]


def seeded(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def rows_of(rng, n, share, shape, *, exact=False):
    """Labels, of a fixed or a random number of positives, and scores."""
    positive = rng.random(n) < share
    if exact:
        positive = np.arange(n) < round(share * n)
    of_positive, of_negative = SHAPES[shape]
    score = np.where(
        positive, of_positive.rvs(n, random_state=rng), of_negative.rvs(n, random_state=rng)
    )
    return positive.astype(int), score


def queries_of(rng, n, share, shape):
    """Labels of items and two columns of scores that are equally good."""
    relevant = (rng.random((n, ITEMS)) < share).astype(int)
    draw = rng.standard_normal if shape == "normal" else lambda size: np.exp(rng.normal(size=size))
    return relevant, relevant + draw(relevant.shape), relevant + draw(relevant.shape)


@cache
def target_of(measure, share, shape):
    """What the intervals of a cell are for."""
    rng = seeded("target", measure, share, shape)
    of_positive, of_negative = SHAPES[shape]
    if measure.startswith("difference"):
        return 0.0
    if measure == "auc":
        positions = of_positive.ppf((np.arange(400_000) + 0.5) / 400_000)
        return float(of_negative.cdf(positions).mean())
    if measure in ("precision@top0.1", "alerts"):
        threshold = THRESHOLD
        if measure != "alerts":
            threshold = brentq(
                lambda t: share * of_positive.sf(t) + (1 - share) * of_negative.sf(t) - TAU, -9, 99
            )
        found = share * of_positive.sf(threshold)
        return found / (found + (1 - share) * of_negative.sf(threshold))
    if measure == "ap":
        return get_measure("ap")(*rows_of(rng, 4_000_000, share, shape, exact=True))
    parts = (queries_of(rng, 100_000, share, shape)[:2] for _ in range(10))
    return float(np.mean([get_measure(measure)(*part) for part in parts]))


def sequences_of(measure):
    """The confidence sequences of a cell, by name."""
    if measure == "alerts":
        return {"betting": ConfidenceSequence("precision@top0.1", threshold=THRESHOLD)}
    if measure == "ap":
        return {"asymptotic": ConfidenceSequence("ap")}
    name = measure.removeprefix("difference of ")
    return {
        method: ConfidenceSequence(name, method=method) for method in ("betting", "asymptotic")
    }


class Fixed:
    """The interval for one look, all of [0, 1] where there is none."""

    def __init__(self, measure):
        self.name = measure.removeprefix("difference of ")
        self.accumulator = None if measure == "alerts" else Accumulator(self.name)
        self.values = np.empty(0)

    def update(self, y, *scores, qid=None):
        if len(scores) == 2:
            measure = get_measure(self.name)
            a, b = (measure(y, score, qid=qid, average=None) for score in scores)
            self.values = np.append(self.values, a - b)
            half = stats.t.ppf((1 + LEVEL) / 2, len(self.values) - 1)
            half *= self.values.std(ddof=1) / len(self.values) ** 0.5
            return self.values.mean() - half, self.values.mean() + half
        if self.accumulator is None:
            self.values = np.append(self.values, y[scores[0] >= THRESHOLD])
            test = stats.binomtest(int(self.values.sum()), len(self.values))
            return tuple(test.proportion_ci(LEVEL, "wilson"))
        self.values = np.append(self.values, y.mean())
        self.accumulator.update(y, *scores, qid=qid)
        if not 0 < self.values.mean() < 1:
            return 0.0, 1.0
        found = metric_interval(self.accumulator, level=LEVEL)
        return found.low, found.high


def sequence_of_looks(rng, measure, share, shape, n_looks):
    """Limits of each method at each look."""
    sequences, fixed = sequences_of(measure), Fixed(measure)
    limits = {method: [] for method in ("fixed", *sequences)}
    for look in range(n_looks):
        given = {}
        if "ndcg" in measure:
            y, *scores = (column.ravel() for column in queries_of(rng, QUERIES, share, shape))
            scores = scores if measure.startswith("difference") else scores[:1]
            given["qid"] = np.repeat(np.arange(QUERIES) + QUERIES * look, ITEMS)
        else:
            y, *scores = rows_of(rng, ROWS, share, shape)
        limits["fixed"].append(fixed.update(y, *scores, **given))
        if len(scores) == 2:
            given["baseline_score"] = scores[1]
        for method, sequence in sequences.items():
            found = sequence.update(y, scores[0], **given)
            limits[method].append((found.low, found.high))
    return {method: np.array(found) for method, found in limits.items()}


def rows_of_cell(measure, n_looks, positives, shape, repetitions):
    """One row for each method."""
    share = SHARES[positives]
    target = target_of(measure, share, shape)
    rng = seeded(measure, n_looks, positives, shape)
    found = [sequence_of_looks(rng, measure, share, shape, n_looks) for _ in range(repetitions)]
    rows = []
    for method in found[0]:
        limits = np.array([one[method] for one in found])
        fixed = np.array([one["fixed"] for one in found])
        missed = (limits[..., 0] > target) | (limits[..., 1] < target)
        with np.errstate(divide="ignore", invalid="ignore"):
            widths = np.ptp(limits, axis=2) / np.ptp(fixed, axis=2)
        first, last = np.nanmedian(widths[:, [0, -1]], axis=0)
        rows.append(
            {
                "measure": measure,
                "positives": positives,
                "scores": shape,
                "looks": n_looks,
                "method": method,
                "error": float(missed.any(axis=1).mean()),
                "error_later": float(missed[:, 2:].any(axis=1).mean()),
                "first_width": float(first),
                "last_width": float(last),
                "repetitions": repetitions,
            }
        )
    return rows


def main(only=None, repetitions=200, write=False):
    rows = []
    for measure, n_looks, part in CELLS:
        if only and measure not in only:
            continue
        for positives in SHARES:
            for shape in SHAPES:
                some = max(round(part * repetitions), 1)
                cell = rows_of_cell(measure, n_looks, positives, shape, some)
                print(format_table(cell, COLUMNS), flush=True)
                rows += cell
    print(describe_machine())
    print(format_table(rows, COLUMNS))
    if write:
        made = {row["measure"] for row in rows}
        others = [row for row in stored_results(STORED.stem) if row["measure"] not in made]
        write_table(STORED, others + rows, COLUMNS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", help="measures")
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--write", action="store_true", help=f"store the rows in {STORED.name}")
    arguments = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main(arguments.only, arguments.repetitions, arguments.write)
