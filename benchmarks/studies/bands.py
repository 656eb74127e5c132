"""Do bands of curves, and limits of several measures and segments, hold together?

    python benchmarks/studies/bands.py                        # print, about 40 minutes on one core
    python benchmarks/studies/bands.py --only roc --write     # also store the results
    pip install rocci                                         # the peer of `roc`

Protocol, written before the first run. All limits are at 95 %. A sample is a miss above if a lower
limit of the band is above the truth at any point, and a miss below if an upper limit is below it
anywhere; both are counted by themselves. The width is the mean over points and samples, as a
multiple of that of limits that hold for one point each. Nothing was chosen by these designs.

`top`: recall, precision and mean profit of the top at 25 shares (each percent to 20, then each
second to 30), 30, 100 and 400 positives among 300, 1,000 and 4,000 rows, one model, and its
difference to a second one whose scores have noise added; 2,000 samples. Lists are

- `normal`: normal scores, positives 1.5 higher, noise of .7;
- `t`: Student's t with 2 degrees of freedom, positives 2.5 higher, noise of the same kind, half;
- `lumps`: half of the positives like the negatives, the others 2.5 higher, rounded to quarters;
- `uniform`: positives uniform on [0, 5], negatives exponential, noise uniform on [0, 1]. All of
  the topmost .6 % are negatives;
- `Adult`: held-out rows of it (a9a) with scores of logistic regression, and of naive Bayes, fitted
  to 2,000 rows; samples are drawn with replacement. It is skipped without the data.

Limits of the recall and of differences of recall and precision are of fixed numbers of positives,
those of the precision and of all profits are of random rows: samples are drawn so. A positive
gains an exponential amount of mean 10, a negative costs 1. The truth is that of ten million rows,
of Adult of all held-out rows, a tenth of which are made positives by weights. The lift of fixed
numbers is recall by share, and has no cells. Aims: cover .935 to .97, width at most 1.5.

`roc`: true positive rate at the false positive rates .001, .002 ... .1, from one negative on, with
30/170, 200/1,000 and 50/5,000 positives and negatives, beside rocci (its defaults, one thread) in
the same run; 1,000 samples. Below one negative our band is from 0 to its first upper limit, as the
curve ascends. Scores are normal (positives 1.5 higher), Student's t with 2 degrees of freedom (2.5
higher), and a mixture: of the positives .3 are like negatives and the rest 2.5 higher, of the
negatives .03 are 3 higher. Truths are closed forms. Aims: mean height up to a rate of .1 at most
rocci's in each cell, cover at least .94, no slower.

`measures`: `auc`, `ap`, `precision@top0.05`, `recall@50` and `bedroc@20` of one list of 500 rows
with 50 positives, normal and t as above, truths from two million rows at this share; `ndcg@10`,
`recall@10` and `rr` over 30 and 100 queries of 20 rows with 1 to 8 relevant ones, truths from
100,000 queries; 1,000 samples. Aims: joint error .03 to .06; narrower than Bonferroni's limits.

`segments`: 2,000, 1,000, 500, 300, 150 and 50 rows, a tenth of each positive (so that one segment
has 5), positives 1, 1.2, ... 2 higher; recall in the first tenth of all rows, and the AUC within
the segment; 1,000 samples. Aim: cover of one point at least .93 in each segment. The six are asked
in both orders at once, so that all twelve hold together.

`time`: one list of a million rows, recall and true positive rate at 200 points, as a multiple of
the time of one `argsort` of the scores, the median of five. Aim: 3.
"""

import argparse
import sys
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import data_directory, describe_machine, format_table, seeded, update_results

from sklearn_rank.inference import curve, metric_interval
from sklearn_rank.metrics import get_measure

KEYS = ("part", "question", "design", "size")
SHARES = np.append(np.arange(1, 21), np.arange(22, 31, 2)) / 100
SHARE, GAIN, COST = 0.1, 10.0, 1.0
RANDOM = {("precision@top", "one"), ("profit@top", "one"), ("profit@top", "difference")}
RATES = np.arange(1, 101) / 1000


class Cell:
    """Counts of the samples of one cell whose limits miss the truth at any point."""

    def __init__(self, truth):
        self.truth, self.rows = np.asarray(truth), []

    def add(self, low, high, one=np.nan, seconds=0.0):
        slack = 1e-9 * np.maximum(np.abs(self.truth), 1.0)
        above, below = np.any(low > self.truth + slack), np.any(high < self.truth - slack)
        self.rows.append((above, below, np.mean(high - low), np.mean(one), seconds))

    def row(self, **key):
        above, below, width, one, seconds = np.mean(np.array(self.rows, dtype=float), axis=0)
        either = np.mean([row[0] or row[1] for row in self.rows])
        return {
            **key,
            "cover": f"{1 - either:.4f}",
            "above": f"{above:.4f}",
            "below": f"{below:.4f}",
            "width": f"{width:.4f}",
            "of one": f"{width / one:.3f}" if one == one else "",
            "ms": f"{1000 * seconds:.1f}",
            "samples": len(self.rows),
        }


def ends(intervals):
    """Lower and upper limits of several intervals."""
    return np.array([(found.low, found.high) for found in intervals]).T


def timed(call, *arguments, **options):
    start = time.perf_counter()
    found = call(*arguments, **options)
    return found, time.perf_counter() - start


# ------------------------------------------------------------------------------------------- `top`


def scores_of(design, positive, rng):
    """Scores of two models for rows of which some are positive."""
    n = len(positive)
    if design == "Adult":
        found = np.empty((n, 2))
        for rows, pool in zip((positive, ~positive), adult(), strict=True):
            found[rows] = pool[rng.integers(len(pool), size=np.count_nonzero(rows))]
        return found.T
    if design == "normal":
        first, noise = rng.normal(size=n) + 1.5 * positive, 0.7 * rng.normal(size=n)
    elif design == "t":
        first, noise = rng.standard_t(2, n) + 2.5 * positive, 0.5 * rng.standard_t(2, n)
    elif design == "lumps":
        first = rng.normal(size=n) + 2.5 * (positive & (rng.random(n) < 0.5))
        return np.round(4 * first) / 4, np.round(4 * (first + rng.normal(size=n))) / 4
    else:
        first = np.where(positive, rng.uniform(0, 5, n), rng.exponential(size=n))
        noise = rng.random(n)
    return first, first + noise


@cache
def adult():
    """Scores of held-out positives and negatives by two models, (n, 2) each."""
    frame = pd.read_csv(data_directory() / "a9a_train.csv.gz")
    X, y = frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy(int)
    order = seeded("bands", "Adult").permutation(len(y))
    train, rest = order[:2000], order[2000:]
    models = LogisticRegression(max_iter=1000), GaussianNB(var_smoothing=1e-3)
    fitted = [model.fit(X[train], y[train]) for model in models]
    scores = np.stack([model.predict_log_proba(X[rest])[:, 1] for model in fitted], axis=1)
    return scores[y[rest] == 1], scores[y[rest] == 0]


def recalls(score, positive, weight):
    """Recall at the shares, tied rows in the mean over their orders."""
    order = np.argsort(-score)
    score, weight = score[order], weight[order]
    ends = np.flatnonzero(np.append(score[1:] != score[:-1], True))
    mass = np.append(0.0, np.cumsum(weight)[ends])
    found = np.append(0.0, np.cumsum(weight * positive[order])[ends])
    return np.interp(SHARES * mass[-1], mass, found) / found[-1]


@cache
def true_recalls(design):
    if design == "Adult":
        sizes = [len(pool) for pool in adult()]
        positive = np.repeat([True, False], sizes)
        weight = np.repeat([SHARE / sizes[0], (1 - SHARE) / sizes[1]], sizes)
        scores = np.concatenate(adult()).T
    else:
        positive, weight = np.arange(10_000_000) < SHARE * 10_000_000, np.ones(10_000_000)
        scores = scores_of(design, positive, seeded("bands, truth", design))
    return np.stack([recalls(score, positive, weight) for score in scores])


def top(repetitions):
    designs = ["normal", "t", "lumps", "uniform", "Adult"]
    if not (data_directory() / "a9a_train.csv.gz").exists():
        print(f"Adult is skipped: there is no a9a_train.csv.gz in {data_directory()}.")
        designs.remove("Adult")
    for design in designs:
        recall = true_recalls(design)
        precision = SHARE * recall / SHARES
        truths = {
            "recall@top": recall,
            "precision@top": precision,
            "profit@top": (GAIN + COST) * precision - COST,
        }
        for k in (30, 100, 400):
            n, rng = round(k / SHARE), seeded("bands, top", design, k)
            cells = {}
            for name, (first, second) in truths.items():
                cells[name, "one"], cells[name, "difference"] = Cell(first), Cell(first - second)
            for i in range(repetitions):
                fixed, random = np.arange(n) < k, rng.random(n) < SHARE
                for (name, contrast), cell in cells.items():
                    positive = random if (name, contrast) in RANDOM else fixed
                    labels = positive.astype(int)
                    if name == "profit@top":
                        labels = np.where(positive, rng.exponential(GAIN, n), -COST)
                    a, b = scores_of(design, positive, rng)
                    scores, more = ({"a": a, "b": b}, {"baseline": "b"})
                    if contrast == "one":
                        scores, more = a, {}
                    found, seconds = timed(
                        curve, name, labels, scores, at=SHARES, random_state=i, **more
                    )
                    if contrast == "difference":
                        found = found["a - b"]
                    cell.add(*ends(found.together), np.ptp(ends(found.pointwise), axis=0), seconds)
            for (name, contrast), cell in cells.items():
                question = f"{name}, {contrast}"
                yield cell.row(part="top", question=question, design=design, size=f"{k}/{n}")


# ------------------------------------------------------------------------------------------- `roc`


def mixture_above(x):
    """Share of the negatives of the mixture above a score."""
    return 0.97 * ndtr(-x) + 0.03 * ndtr(3.0 - x)


def roc_designs():
    """Draws of scores of positives and of negatives, and the true positive rates at RATES."""
    cuts = np.array([brentq(lambda x, v=v: mixture_above(x) - v, -9, 9) for v in RATES])

    def mixture(n, m, rng):
        positives = rng.normal(size=n) + 2.5 * (rng.random(n) < 0.7)
        return positives, rng.normal(size=m) + 3.0 * (rng.random(m) < 0.03)

    return {
        "normal": (
            lambda n, m, rng: (rng.normal(1.5, 1, n), rng.normal(size=m)),
            ndtr(1.5 + ndtri(RATES)),
        ),
        "t": (
            lambda n, m, rng: (2.5 + rng.standard_t(2, n), rng.standard_t(2, m)),
            student.sf(student.isf(RATES, 2) - 2.5, 2),
        ),
        "mixture": (mixture, 0.7 * ndtr(2.5 - cuts) + 0.3 * ndtr(-cuts)),
    }


def roc(repetitions):
    from rocci import roc_band

    for design, (draw, truth) in roc_designs().items():
        for n, m in ((50, 5000), (200, 1000), (30, 170)):
            rng, ours, theirs = seeded("bands, roc", design, n), Cell(truth), Cell(truth)
            labels, first = np.repeat([1, 0], [n, m]), int(np.searchsorted(m * RATES, 1.0))
            for i in range(repetitions):
                score = np.concatenate(draw(n, m, rng))
                found, seconds = timed(
                    curve, "tpr@fpr", labels, score, at=RATES[first:], random_state=i
                )
                low, high = ends(found.together)
                low = np.append(np.zeros(first), low)
                high = np.append(np.full(first, high[0]), high)
                ours.add(low, high, seconds=seconds)
                band, seconds = timed(roc_band, labels, score, random_state=i, n_threads=1)
                low, _, high = band.at(RATES)
                theirs.add(low, high, seconds=seconds)
            for name, cell in (("tpr@fpr", ours), ("rocci", theirs)):
                yield cell.row(part="roc", question=name, design=design, size=f"{n}/{m}")


# -------------------------------------------------------------------------- `measures`, `segments`

OF_LIST = ("auc", "ap", "precision@top0.05", "recall@50", "bedroc@20")
OF_QUERIES = ("ndcg@10", "recall@10", "rr")


def queries(n, rng):
    """Relevance, scores and ids of queries of 20 rows, with 1 to 8 relevant ones."""
    relevant = np.arange(20) < rng.integers(1, 9, size=(n, 1))
    scores = rng.normal(size=(n, 20)) + relevant * rng.exponential(size=(n, 1))
    return relevant.astype(int).ravel(), scores.ravel(), np.repeat(np.arange(n), 20)


def measures(repetitions):
    for design in ("normal", "t"):
        positive = np.arange(2_000_000) < 200_000
        score = scores_of(design, positive, seeded("bands, measures, truth", design))[0]
        names = [name.replace("recall@50", "recall@top0.1") for name in OF_LIST]
        truth = [get_measure(name)(positive.astype(int), score) for name in names]
        rng = seeded("bands, measures", design)
        labels = (np.arange(500) < 50).astype(int)

        def of_list(rng=rng, labels=labels, design=design):
            return labels, scores_of(design, labels == 1, rng)[0], {}

        yield from several(OF_LIST, truth, of_list, repetitions, design, "50/500")
    rng = seeded("bands, queries, truth")
    y, score, qid = queries(100_000, rng)
    truth = [get_measure(name)(y, score, qid=qid) for name in OF_QUERIES]
    for n in (30, 100):
        rng = seeded("bands, queries", n)

        def of_queries(rng=rng, n=n):
            y, score, qid = queries(n, rng)
            return y, score, {"qid": qid}

        yield from several(OF_QUERIES, truth, of_queries, repetitions, "queries", n)


def several(names, truth, drawn, repetitions, design, size):
    joint, bonferroni = Cell(truth), Cell(truth)
    for i in range(repetitions):
        y, score, more = drawn()
        found, seconds = timed(metric_interval, list(names), y, score, random_state=i, **more)
        one = np.ptp(ends(found.pointwise), axis=0)
        joint.add(*ends(found.together), one, seconds)
        level = 1.0 - 0.05 / len(names)
        each = metric_interval(list(names), y, score, level=level, random_state=i, **more)
        bonferroni.add(*ends(each.pointwise), one)
    for name, cell in (("together", joint), ("Bonferroni", bonferroni)):
        yield cell.row(part="measures", question=name, design=design, size=size)


def segments(repetitions):
    sizes, shifts = np.array([2000, 1000, 500, 300, 150, 50]), 1.0 + np.arange(6) / 5
    segment = np.repeat(np.arange(6), sizes)
    positive = np.concatenate([np.arange(n) < n // 10 for n in sizes])
    weights = sizes / sizes.sum()

    def above(x):
        return float(weights @ (0.1 * ndtr(shifts - x) + 0.9 * ndtr(-x)))

    cut = brentq(lambda x: above(x) - 0.1, -5, 5)
    truths = {
        ("recall@400", "all rows"): ndtr(shifts - cut),
        ("auc", "own rows"): ndtr(shifts / np.sqrt(2.0)),
    }
    for (name, order), truth in truths.items():
        rng = seeded("bands, segments", name)
        cells, together = [Cell(x) for x in truth], Cell(truth)
        for i in range(repetitions):
            score = rng.normal(size=len(segment)) + shifts[segment] * positive
            found, seconds = timed(
                metric_interval, name, positive.astype(int), score, by=segment, random_state=i
            )
            found = found[order]
            low, high = ends(found.pointwise)
            together.add(*ends(found.together), high - low, seconds)
            for cell, *limits in zip(cells, low, high, strict=True):
                cell.add(*limits)
        key = {"part": "segments", "question": name}
        for n, cell in zip(sizes, cells, strict=True):
            yield cell.row(**key, design="one", size=f"{n // 10}/{n}")
        yield together.row(**key, design="together", size=f"{sizes.sum() // 10}/{sizes.sum()}")


# ------------------------------------------------------------------------------------------ `time`


def times(repetitions):
    rng = seeded("bands, time")
    labels = (rng.random(1_000_000) < SHARE).astype(int)
    score = rng.normal(size=1_000_000) + 1.5 * labels
    sort = np.median([timed(np.argsort, score)[1] for _ in range(5)])
    for name, at in (
        ("recall@top", np.arange(1, 201) / 500),
        ("tpr@fpr", np.arange(1, 201) / 2000),
    ):
        seconds = [timed(curve, name, labels, score, at=at, random_state=i)[1] for i in range(5)]
        yield {
            **dict.fromkeys(KEYS, ""),
            "part": "time",
            "question": name,
            "ms": f"{1000 * np.median(seconds):.0f}",
            "sorts": f"{np.median(seconds) / sort:.2f}",
        }


PARTS = {
    "top": (top, 2000),
    "roc": (roc, 1000),
    "measures": (measures, 1000),
    "segments": (segments, 1000),
    "time": (times, 5),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repetitions", type=int, help="samples of each cell")
    parser.add_argument("--write", action="store_true", help="store results/bands.csv")
    arguments = parser.parse_args()
    print(describe_machine("rocci"))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in arguments.only:
            cells, repetitions = PARTS[part]
            start = time.perf_counter()
            rows = []
            for row in cells(arguments.repetitions or repetitions):
                rows.append(row)
                if arguments.write:
                    update_results("bands", [row], KEYS)
            print(format_table(rows, [(key, key, "") for key in rows[-1]]))
            print(f"{part}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
