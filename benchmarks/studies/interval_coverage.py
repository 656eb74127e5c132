"""Coverage of `metric_interval`: independent rows, few groups, graded lists, queries.

    python benchmarks/studies/interval_coverage.py [--write]       # about an hour
    python benchmarks/studies/interval_coverage.py --only ap auc --designs queries

Every cell draws samples whose target is known and counts how often the 95 % interval, with
``method="auto"``, is below or above it. The target of a measure of one list is its value in the
population at the share of positives of the sample, from a million rows. The means of queries are
known from 20,000 of them. The seed of a cell depends on the cell alone.

The designs "populations" and "few groups" are for evaluation: no constant and no method is chosen
on them, but that half items count for the limit of their side only. That was chosen by the average
precision on eight of the pairs (`CHOSEN_ON`), on lists of which a tenth of the positives, or 2 %
of the negatives, is far above all others, with 10/90, 20/180, 100/100 and 20/980 rows. The aims
for it are a length of 1.12 in the median of the other pairs, a coverage of .94 and tails of .045.

In the first design, 17 pairs of distributions (equal and unequal
spread, heavy and light tails, outliers of one class, ties, bounds, two modes, an order that is
nearly perfect or nearly random) meet six numbers of rows from 10/90 to 50/4,950. In the second,
8, 15 or 40 groups of five rows on average, equal or of different sizes, have an intraclass
correlation of the scores of 0, .3, .7 or 1; the target is that at the share of positives of each
sample. The aims are a coverage of .92 in each cell with at least ten positives and, in the second,
of .93. ``relative`` is the length in distances of the quantiles .025 and .975 of the estimate
less its target, at most 1.25 for 40 groups with a correlation of .7. With ``--write`` cells of
measures and designs that are not run stay as they are stored.
"""

import argparse
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from scipy import special
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, seeded, update_results

from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import get_measure

CELL = ("measure", "design", "shape", "size", "auc")
SHORT = 0.93
POPULATION_SIZE = 1_000_000

GRADED = ("spearman", "tau_b")
OF_QUERIES = ("ndcg@10", "ap", "auc", "rr", "precision@1", "err@10", "recall@5")


class Count:
    """How often intervals leave out their targets."""

    def __init__(self):
        self.n = self.below = self.above = self.refused = 0
        self.length, self.errors = 0.0, []
        self.methods = set()

    def add(self, make, target):
        self.n += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = make()
            except ValueError as error:
                self.refused += 1
                self.problem = str(error)
                return
        slack = 1e-9 * max(1.0, abs(target))
        self.below += target < found.low - slack
        self.above += target > found.high + slack
        self.length += found.high - found.low
        self.errors.append(found.estimate - target)
        self.methods.add(found.method)

    def row(self, **design):
        kept = max(self.n - self.refused, 1)
        spread = float(np.diff(np.quantile(self.errors or [0.0], [0.025, 0.975]))[0])
        return {
            **design,
            "coverage": f"{1 - (self.below + self.above + self.refused) / self.n:.4f}",
            "below": f"{self.below / self.n:.4f}",
            "above": f"{self.above / self.n:.4f}",
            "refused": f"{self.refused / self.n:.4f}",
            "length": f"{self.length / kept:.4f}",
            "relative": f"{self.length / kept / spread:.3f}" if spread > 0.0 else "",
            "method": "/".join(sorted(self.methods)),
            "repetitions": self.n,
        }


# Populations for evaluation: scores of positives and of negatives, from uniform numbers.


def either(share, first, second):
    """Mixture of two distributions."""
    return lambda u: np.where(u < share, first(u / share), second((u - share) / (1.0 - share)))


def normal(mean=0.0, deviation=1.0):
    return lambda u: mean + deviation * special.ndtri(np.clip(u, 1e-15, 1.0 - 1e-15))


def shifted(quantile, by):
    return quantile, lambda u: quantile(u) + by


def rounded(width):
    return tuple(lambda u, q=q: np.floor(q(u) / width) * width for q in (normal(), normal(1.5)))


POPULATIONS = {  # negatives, positives
    "normal": (normal(), normal(1.5)),
    "wide positives": (normal(), normal(1.5, 2.5)),
    "narrow positives": (normal(), normal(1.5, 0.4)),
    "t, 2 degrees": shifted(lambda u: special.stdtrit(2, u), 1.5),
    "t, 4 degrees": shifted(lambda u: special.stdtrit(4, u), 1.5),
    "Cauchy": shifted(lambda u: np.tan(np.pi * (u - 0.5)), 2.0),
    "log-normal": shifted(lambda u: np.exp(normal()(u)), 1.0),
    "exponential": (lambda u: -np.log1p(-u), lambda u: -5.0 * np.log1p(-u)),
    "uniform": shifted(lambda u: u, 0.4),
    "low positives": (normal(), either(0.1, normal(-3.0), normal(2.0))),
    "high negatives": (either(0.05, normal(4.0), normal()), normal(2.0)),
    "rounded": rounded(0.5),
    "five levels": rounded(1.25),
    "beta": (lambda u: special.betaincinv(1.0, 4.0, u), lambda u: special.betaincinv(2.0, 1.0, u)),
    "two modes": (normal(), either(0.5, normal(0.0), normal(3.0))),
    "nearly perfect": (normal(), normal(4.0)),
    "nearly random": (normal(), normal(0.2)),
}
CHOSEN_ON = (
    "normal",
    "Cauchy",
    "uniform",
    "five levels",
    "nearly random",
    "low positives",
    "wide positives",
    "nearly perfect",
)
POPULATION_SIZES = [(10, 90), (20, 180), (50, 450), (100, 100), (20, 1980), (50, 4950)]
OF_ROWS = (
    "auc",
    "ap",
    "bedroc@20",
    "partial_auc@fpr0.1",
    "tpr@fpr0.1",
    "fpr@tpr0.9",
    "precision@top0.1",
    "recall@50",
    "lift@0.1",
    "accuracy_loss@top0.1",
    "ks",
)


def middles(size):
    return (np.arange(size) + 0.5) / size


@cache
def value_of_population(measure, name, share):
    """Value in the population, from its quantiles; of the first k at the share that they are."""
    k = round(share * POPULATION_SIZE)
    negative, positive = POPULATIONS[name]
    score = np.r_[negative(middles(POPULATION_SIZE - k)), positive(middles(k))]
    y = np.arange(POPULATION_SIZE) >= POPULATION_SIZE - k
    return float(get_measure(measure)(y, score))


def populations_design(measures, repetitions):
    """Independent rows of one list, from populations for evaluation."""
    for population, (negative, positive) in POPULATIONS.items():
        for n_pos, n_neg in POPULATION_SIZES:
            rng, n = seeded("populations", population, n_pos, n_neg), n_pos + n_neg
            y, counts = np.arange(n) >= n_neg, {}
            for name in measures:
                asked = name
                if name == "recall@50":
                    if n <= 50:
                        continue
                    asked = f"recall@{round(50 / n * POPULATION_SIZE)}"
                counts[name] = Count(), value_of_population(asked, population, n_pos / n)
            for _ in range(repetitions):
                score = np.r_[negative(rng.random(n_neg)), positive(rng.random(n_pos))]
                for name, (count, target) in counts.items():
                    count.add(lambda m=name, a=y, b=score: metric_interval(m, a, b), target)
            for name, (count, _) in counts.items():
                yield count.row(
                    measure=name,
                    design="populations",
                    shape=population,
                    size=f"{n_pos}/{n_neg}",
                    n_pos=n_pos,
                    auc="",
                )


FEW_GROUPS = (8, 15, 40)
CORRELATIONS = (0.0, 0.3, 0.7, 1.0)
GROUP_SHARE = 0.3
OF_GROUPS = ("auc", "ap", "bedroc@20", "partial_auc@fpr0.1", "tpr@fpr0.1", "precision@top0.1")


SHARES = np.linspace(0.025, 0.975, 39)


@cache
def values_of_groups(measure):
    """Values in the population at some shares of positives."""
    n, values = POPULATION_SIZE // 5, []
    for share in SHARES:
        y = np.arange(n) < round(share * n)
        score = np.r_[normal(1.5)(middles(y.sum())), normal()(middles(n - y.sum()))]
        values.append(float(get_measure(measure)(y, score)))
    return np.array(values)


def few_groups_design(measures, repetitions):
    """Rows in few groups, of equal sizes or not, that are alike to different degrees."""
    for labels in ("mixed", "alike"):
        for n_groups in FEW_GROUPS:
            for sizes in ("equal", "unequal"):
                for correlation in CORRELATIONS:
                    rng = seeded("few groups", labels, n_groups, sizes, correlation)
                    counts = {name: Count() for name in measures}
                    for _ in range(repetitions):
                        while True:
                            size = np.full(n_groups, 5)
                            if sizes == "unequal":
                                size = rng.geometric(0.2, size=n_groups)
                            groups = np.repeat(np.arange(n_groups), size)
                            y = rng.random(len(groups)) < GROUP_SHARE
                            if labels == "alike":
                                y = (rng.random(n_groups) < GROUP_SHARE)[groups]
                            if min(len(np.unique(groups[y == k])) for k in (0, 1)) > 1:
                                break
                        score = 1.5 * y + correlation**0.5 * rng.normal(size=n_groups)[groups]
                        score += (1.0 - correlation) ** 0.5 * rng.normal(size=len(y))
                        for name, count in counts.items():
                            count.add(
                                lambda m=name, a=y, b=score, g=groups: metric_interval(
                                    m, a, b, groups=g
                                ),
                                float(np.interp(y.mean(), SHARES, values_of_groups(name))),
                            )
                    for name, count in counts.items():
                        yield count.row(
                            measure=name,
                            design=f"few groups, labels {labels}",
                            shape=f"correlation {correlation}",
                            size=f"{n_groups} x 5, {sizes}",
                            n_pos=round(n_groups * 5 * GROUP_SHARE),
                            auc="",
                        )


NOISES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t, 3 degrees": lambda rng, n: rng.standard_t(3, size=n),
    "log-normal": lambda rng, n: rng.lognormal(0.0, 1.0, size=n),
}


def graded_design(measures, repetitions):
    """One list of grades, or of scores of another ranker."""
    for noise in NOISES:
        for n in (20, 100, 500):
            rng = seeded("graded", noise, n)
            truth = np.arange(500_000) % 5
            scored = truth + 1.5 * NOISES[noise](seeded("truth", noise), len(truth))
            targets = {name: float(get_measure(name)(truth, scored)) for name in measures}
            counts = {name: Count() for name in measures}
            for _ in range(repetitions):
                y = rng.integers(0, 5, size=n)
                score = y + 1.5 * NOISES[noise](rng, n)
                for name, count in counts.items():
                    count.add(lambda m=name, a=y, b=score: metric_interval(m, a, b), targets[name])
            for name, count in counts.items():
                yield count.row(
                    measure=name, design="graded rows", shape=noise, size=n, n_pos=n, auc=""
                )


# Queries: how many, and how many of those share a group.
QUERIES = [(10, 1), (20, 1), (100, 1), (100, 5)]


def queries_of(rng, n_queries, n_alike, noise):
    """Queries of ten rows, of which some share what makes them hard."""
    qid = np.repeat(np.arange(n_queries), 10)
    groups = qid // n_alike
    y = (np.arange(10 * n_queries) % 10 < 3).astype(int)
    hard = 0.5 + 2.0 * rng.random(n_queries // n_alike)
    return y, y + hard[groups] * NOISES[noise](rng, len(qid)), qid, groups


@cache
def query_value(measure, noise):
    y, score, qid, _ = queries_of(seeded("queries", noise), 20_000, 1, noise)
    return float(get_measure(measure)(y, score, qid=qid))


def queries_design(measures, repetitions):
    """Means over queries."""
    for noise in NOISES:
        for n_queries, n_alike in QUERIES:
            rng = seeded("queries", noise, n_queries, n_alike)
            counts = {name: Count() for name in measures}
            for _ in range(repetitions):
                y, score, qid, groups = queries_of(rng, n_queries, n_alike, noise)
                dependent = groups if n_alike > 1 else None
                for name, count in counts.items():
                    count.add(
                        lambda m=name, a=y, b=score, q=qid, g=dependent: metric_interval(
                            m, a, b, qid=q, groups=g
                        ),
                        query_value(name, noise),
                    )
            for name, count in counts.items():
                yield count.row(
                    measure=f"{name} over queries",
                    design="queries" if n_alike == 1 else f"queries, {n_alike} a group",
                    shape=noise,
                    size=n_queries,
                    n_pos=n_queries,
                    auc="",
                )


DESIGNS = {
    "populations": (populations_design, OF_ROWS),
    "few groups": (few_groups_design, OF_GROUPS),
    "graded": (graded_design, GRADED),
    "queries": (queries_design, OF_QUERIES),
}


COLUMNS = [
    ("measure", "measure", ""),
    ("design", "design", ""),
    ("cells", "cells", "d"),
    ("least", "least coverage", "s"),
    ("median", "median", "s"),
    ("short", f"cells under {SHORT}", "d"),
    ("relative", "median length / spread", "s"),
    ("refused", "refused", "s"),
    ("worst", "worst cell", ""),
]


def summary(found):
    """For each measure and design the coverage over the cells with enough positives."""
    for measure, design in dict.fromkeys((row["measure"], row["design"]) for row in found):
        cells = [row for row in found if (row["measure"], row["design"]) == (measure, design)]
        covered = np.array([float(row["coverage"]) for row in cells])
        worst = cells[int(covered.argmin())]
        yield {
            "measure": measure,
            "design": design,
            "cells": len(cells),
            "least": f"{covered.min():.3f}",
            "median": f"{np.median(covered):.3f}",
            "short": int((covered < SHORT).sum()),
            "relative": "{:.2f}".format(
                np.median([float(row["relative"]) for row in cells if row["relative"]] or [0.0])
            ),
            "refused": f"{max(float(row['refused']) for row in cells):.3f}",
            "worst": f"{worst['shape']}, {worst['size']}, {worst['auc']}",
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    parser.add_argument("--only", nargs="+", default=None, help="measures")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    print(describe_machine())
    found = []
    with threadpool_limits(1):
        for name in arguments.designs:
            make, measures = DESIGNS[name]
            kept = [one for one in measures if arguments.only is None or one in arguments.only]
            if kept:
                found += list(make(kept, arguments.repetitions))
                if arguments.write:
                    update_results("interval_coverage", found, CELL)
    print(format_table(list(summary(found)), COLUMNS))


if __name__ == "__main__":
    main()
