"""Four sets of judged queries, each query once, and LETOR's evaluation of one list."""

from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise

import numpy as np
from measuring import data_directory

from sklearn_rank.datasets import load_letor

# Name: files, features, queries at the end that are cut.
SETS = {
    "MQ2008": (("mq2008_S1", "mq2008_S4"), 46, 0),
    "MSLR": (("mslr5k_train",), 136, 1),
    "OHSUMED": (tuple(f"ohsumed_S{part}" for part in range(1, 6)), 25, 0),
    "LightGBM": (("lightgbm_rank_train", "lightgbm_rank_test"), 300, 0),
}
CUTOFFS = np.arange(1, 11)
METRICS = (*(f"NDCG@{k}" for k in CUTOFFS), *(f"P@{k}" for k in CUTOFFS), "MAP")


def read(name, n_features):
    """Features, grades and ids of an svmlight file whose queries stand together."""
    path = data_directory() / f"{name}.svm.gz"
    X, grade, qid = load_letor(path, return_X_y=True, n_features=n_features, zero_based=False)
    return X, grade, np.asarray(qid)


def first_rows(qid):
    """Where each query begins, and the number of rows; rows of a query stand together."""
    return np.concatenate([[0], np.flatnonzero(qid[1:] != qid[:-1]) + 1, [len(qid)]])


@cache
def rows_of(name):
    """Features, grades and numbers of queries; of queries that share half of their rows one."""
    files, n_features, cut = SETS[name]
    parts = [read(file, n_features) for file in files]
    X = np.vstack([part[0] for part in parts])
    y = np.concatenate([part[1] for part in parts])
    lengths = np.concatenate([np.diff(first_rows(part[2])) for part in parts])
    qid = np.repeat(np.arange(len(lengths)), lengths)
    seen, shared = defaultdict(set), Counter()
    for row, query in zip(np.ascontiguousarray(X), qid.tolist(), strict=True):
        seen[row.tobytes()].add(query)
    for queries in seen.values():
        first, *others = sorted(queries)
        shared.update((first, other) for other in others)
    left_out = {b for (a, b), n in shared.items() if 2 * n >= min(lengths[a], lengths[b])}
    left_out |= set(range(len(lengths) - cut, len(lengths)))
    kept = ~np.isin(qid, list(left_out))
    return X[kept], y[kept], qid[kept]


def letor_values(grade, score, qid):
    """Values of shape (n_queries, len(METRICS)) by LETOR's conventions, no code of the package.

    Gain ``2**grade - 1``; discount 1 at ranks 1 and 2, then ``1 / log2(rank)``; ties in file
    order; a grade from 1 counts as relevant; a query without a relevant row counts 0.
    """
    found = []
    for a, b in pairwise(first_rows(qid)):
        ranked = grade[a:b][np.argsort(-score[a:b], kind="stable")]
        gain, ideal = 2.0**ranked - 1, 2.0 ** np.sort(ranked)[::-1] - 1
        positions = np.arange(1, b - a + 1)
        discount = 1 / np.log2(np.maximum(positions, 2))
        hits, last = np.cumsum(ranked > 0), np.minimum(CUTOFFS, b - a) - 1
        best = np.cumsum(ideal * discount)[last]
        dcg = np.cumsum(gain * discount)[last]
        ndcg = np.divide(dcg, best, out=np.zeros(len(last)), where=best > 0)
        ap = (hits / positions * (ranked > 0)).sum() / max(hits[-1], 1)
        found.append(np.concatenate([ndcg, hits[last] / CUTOFFS, [ap]]))
    return np.array(found)
