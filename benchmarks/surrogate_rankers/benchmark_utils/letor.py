"""LETOR's evaluation and OHSUMED's official folds, with no code of the package.

Gain ``2**grade - 1``; discount 1 at ranks 1 and 2, then ``1 / log2(rank)``; ties in file order;
a grade from 1 counts as relevant; a query without a relevant row counts 0.
"""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np

CUTOFFS = np.arange(1, 11)
METRICS = tuple([f"NDCG@{k}" for k in CUTOFFS] + [f"P@{k}" for k in CUTOFFS] + ["MAP"])
PARTS = (1, 2, 3, 4, 5)


def first_rows(qid):
    """Where each query begins, and the number of rows; rows of a query stand together."""
    begins = np.flatnonzero(qid[1:] != qid[:-1]) + 1
    offsets = np.concatenate([[0], begins, [len(qid)]])
    if len(np.unique(qid)) != len(offsets) - 1:
        raise ValueError("Rows of a query do not stand together: sort the file by qid.")
    return offsets


def of_list(grade, score):
    """Value of each of ``METRICS`` on one query."""
    ranked = grade[np.argsort(-score, kind="stable")]
    gain, ideal = 2.0**ranked - 1, 2.0 ** np.sort(grade)[::-1] - 1
    discount = 1 / np.log2(np.maximum(np.arange(1, len(grade) + 1), 2))
    relevant = ranked > 0
    hits = np.cumsum(relevant)
    last = np.minimum(CUTOFFS, len(grade)) - 1
    best = np.cumsum(ideal * discount)[last]
    dcg = np.cumsum(gain * discount)[last]
    ndcg = np.divide(dcg, best, out=np.zeros(len(last)), where=best > 0)
    precision = hits / np.arange(1, len(grade) + 1)
    ap = (precision * relevant).sum() / max(hits[-1], 1)
    return np.concatenate([ndcg, hits[last] / CUTOFFS, [ap]])


def of_queries(grade, score, qid):
    """Values of shape (n_queries, len(METRICS))."""
    offsets = first_rows(qid)
    return np.array([of_list(grade[a:b], score[a:b]) for a, b in pairwise(offsets)])


def fold_parts(fold):
    """Parts that train, validate and test in a fold: S1 to S5 rotate."""
    vali = (fold - 2) % 5 + 1
    return [s for s in PARTS if s not in (fold, vali)], [vali], [fold]


def read_single_features(directory):
    """Published values of every feature used alone, {(feature, metric): value}."""
    with open(Path(directory, "ohsumed_letor2_single_features.csv")) as lines:
        return {
            (int(row["feature"]), row["metric"]): float(row["value"])
            for row in csv.DictReader(lines)
        }


def read_baselines(directory):
    """Published means over the five test folds, {algorithm: {metric: value}}."""
    published = {}
    with open(Path(directory, "ohsumed_letor2_baselines.csv")) as lines:
        for row in csv.DictReader(lines):
            if row["subset"] == "test" and row["fold"] == "Average":
                published.setdefault(row["algorithm"], {})[row["metric"]] = float(row["value"])
    return published
