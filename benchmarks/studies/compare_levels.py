"""Level of `compare` for measures of one list and over queries, in any design and question.

    python benchmarks/studies/compare_levels.py            # print the tables, about eight minutes
    python benchmarks/studies/compare_levels.py --write    # also store results/compare_levels.csv
    python benchmarks/studies/compare_levels.py --only ap auc --repetitions 100

Every hypothesis is true, and the study counts how often a test at 5 % rejects it. Two or five
rankers have a common part and exchangeable noise, on the same data or (two) on different data.
With a margin the first ranker has more noise, and the margin is the difference of the two in a
large sample, the boundary of the hypothesis. Samples of "rows" are independent. "groups" have
five rows of one class and share half of the variation of their scores. "queries" have ten rows.
In "groups of queries" five queries share their difficulty for each ranker. The seed of a cell
depends on the cell alone.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import binom
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, seeded, write_table

from sklearn_rank.inference import _level as _max_t
from sklearn_rank.inference import compare
from sklearn_rank.metrics import get_measure

STORED = RESULTS / "compare_levels.csv"
DRAWS = 1000  # of max-t: enough for a share of rejections
LEVEL, HIGH = 0.05, 0.065
OF_LISTS = (
    "auc",
    "ap",
    "local_auc@0.8",
    "bedroc@20",
    "partial_auc@fpr0.1",
    "precision@top0.1",
    "tpr@fpr0.1",
)
OF_QUERIES = ("ndcg@10", "precision@1")
# Positives and negatives; groups of positives and of negatives; queries; groups of queries.
SIZES = {
    "rows": [(10, 190), (100, 200)],
    "groups": [(10, 30), (25, 45)],
    "queries": [10, 100],
    "groups of queries": [10, 40],
}
ALIKE = 5  # rows of a group, queries of a group
TAILS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
}
LARGE = 1_000_000  # rows of the sample that a margin comes from
CLOSE = 0.3  # noise of the better ranker, that of the others being 1


def scored(rng, y, tails, groups=None):
    """Scores of six rankers: five with exchangeable noise, and one with less of it."""
    draw, n = TAILS[tails], len(y)
    scales = np.array([1.0] * 5 + [CLOSE])[:, np.newaxis]
    if groups is None:
        common, noise = draw(rng, n), draw(rng, (6, n))
    else:
        m = groups[-1] + 1
        common = 0.5 * (draw(rng, m)[groups] + draw(rng, n))
        noise = 0.5 * (draw(rng, (6, m))[:, groups] + draw(rng, (6, n)))
    return 1.5 * y + common + scales * noise


def drawn(rng, design, size, tails):
    """Labels, scores and what else `compare` needs of one sample."""
    if design == "rows":
        y = np.arange(sum(size)) < size[0]
        return y, scored(rng, y, tails), {}
    if design == "groups":
        groups = np.repeat(np.arange(sum(size)), ALIKE)
        y = groups < size[0]
        return y, scored(rng, y, tails, groups), {"groups": groups}
    alike = ALIKE if design == "groups of queries" else 1
    qid = np.repeat(np.arange(size * alike), 10)
    y = (np.arange(len(qid)) % 10 < 3).astype(int)
    groups = qid // alike
    # How hard each group of queries is, for all rankers and for each.
    hard = 0.3 + 2.0 * rng.random(size)[groups] * rng.random((6, size))[:, groups]
    scores = y + hard * (scored(rng, y, tails) - 1.5 * y)
    return y, scores, {"qid": qid, **({"groups": groups} if alike > 1 else {})}


def margins(measures, design, size, tails):
    """How much better the ranker with less noise is by each measure, in a large sample."""
    if design in ("rows", "groups"):
        per_unit = 1 if design == "rows" else ALIKE
        many = tuple(round(LARGE / per_unit * one / sum(size)) for one in size)
    else:
        many = LARGE // 10 // (1 if design == "queries" else ALIKE)
    y, scores, given = drawn(seeded("margin", design, size, tails), design, many, tails)
    found = {}
    for measure in measures:
        of = [get_measure(measure)(y, scores[i], qid=given.get("qid")) for i in (5, 0)]
        found[measure] = float(of[0] - of[1])
    return found


def questions(sample, other, margin):
    """Every question of a sample, by name and number of rankers."""
    y, scores, given = sample
    two = {"y_true": y, "scores": {"a": scores[0], "b": scores[5]}, "margin": margin, **given}
    yield "difference", 2, {"y_true": y, "scores": {"a": scores[0], "b": scores[1]}, **given}
    yield (
        "difference",
        5,
        {"y_true": y, "scores": dict(zip("abcde", scores, strict=False)), **given},
    )
    yield "non-inferior", 2, two
    yield "equivalent", 2, {**two, "alternative": "equivalent"}
    second, others, given_second = other
    own = {name: {"a": one, "b": given_second[name]} for name, one in given.items()}
    if "groups" in own:
        own["groups"]["b"] = own["groups"]["b"] + len(y)
    yield (
        "difference, different data",
        2,
        {"y_true": {"a": y, "b": second}, "scores": {"a": scores[0], "b": others[1]}, **own},
    )


def cells(design, size, tails, measures, repetitions):
    """Rejections of one design by measure and question."""
    rng = seeded("levels", design, size, tails)
    found, apart = {}, margins(measures, design, size, tails)
    for _ in range(repetitions):
        sample, other = (drawn(rng, design, size, tails) for _ in range(2))
        for measure in measures:
            for question, rankers, asked in questions(sample, other, apart[measure]):
                pvalue = compare(measure, random_state=rng, **asked).pvalue
                found.setdefault((measure, question, rankers), []).append(pvalue <= LEVEL)
    shown = "/".join(map(str, size)) if isinstance(size, tuple) else size
    for (measure, question, rankers), rejected in found.items():
        yield {
            "measure": measure,
            "design": design,
            "size": shown,
            "tails": tails,
            "question": question,
            "rankers": rankers,
            "rejected": f"{np.mean(rejected):.4f}",
            "repetitions": repetitions,
        }


COLUMNS = [
    ("measure", "measure", ""),
    ("question", "question", ""),
    ("rankers", "rankers", "d"),
    ("cells", "cells", "d"),
    ("least", "least", "s"),
    ("median", "median", "s"),
    ("largest", "largest", "s"),
    ("worst", "where", ""),
]


def summary(found):
    """Least, median and largest share of false rejections by measure and question."""
    for key in dict.fromkeys((r["measure"], r["question"], r["rankers"]) for r in found):
        some = [r for r in found if (r["measure"], r["question"], r["rankers"]) == key]
        shares = np.array([float(r["rejected"]) for r in some])
        worst = some[int(shares.argmax())]
        yield {
            **dict(zip(("measure", "question", "rankers"), key, strict=True)),
            "cells": len(some),
            "least": f"{shares.min():.3f}",
            "median": f"{np.median(shares):.3f}",
            "largest": f"{shares.max():.3f}",
            "worst": f"{worst['design']}, {worst['size']}, {worst['tails']}",
        }


def is_high(row):
    """Whether more was rejected than a level of .065 explains, by an exact test at 2.5 %."""
    n = row["repetitions"]
    return binom.sf(round(float(row["rejected"]) * n) - 1, n, HIGH) <= 0.025


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=250)
    parser.add_argument("--only", nargs="+", default=None, help="measures")
    parser.add_argument("--write", action="store_true", help="store results/compare_levels.csv")
    arguments = parser.parse_args()
    _max_t.FEWEST = _max_t.MOST = DRAWS
    warnings.simplefilter("ignore")
    print(describe_machine())
    found = []
    with threadpool_limits(1):
        for design, sizes in SIZES.items():
            measures = OF_QUERIES if "queries" in design else OF_LISTS
            kept = [one for one in measures if arguments.only is None or one in arguments.only]
            for size in sizes if kept else ():
                for tails in TAILS:
                    found += cells(design, size, tails, kept, arguments.repetitions)
    if not found:
        parser.error(f"--only takes these measures: {', '.join(OF_LISTS + OF_QUERIES)}")
    print(format_table(list(summary(found)), COLUMNS))
    print(f"\nCells whose rejection rate is significantly above {HIGH}\n")
    high = [row for row in found if is_high(row)]
    print(format_table(high, [(key, key, "") for key in found[0]]) if high else "none")
    if arguments.write:
        write_table(STORED, found, ())


if __name__ == "__main__":
    main()
