"""Four sets of queries, each query once, and how they are split."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache

import numpy as np
from benchmark_utils.data import read
from benchmark_utils.letor import first_rows

from sklearn_rank.metrics import ndcg_score

# Name: files, features, queries at the end that are cut.
SETS = {
    "MQ2008": (("mq2008_S1", "mq2008_S4"), 46, 0),
    "MSLR": (("mslr5k_train",), 136, 1),
    "OHSUMED": (tuple(f"ohsumed_S{part}" for part in range(1, 6)), 25, 0),
    "LightGBM": (("lightgbm_rank_train", "lightgbm_rank_test"), 300, 0),
}
SEEDS = (0, 1, 2)
FOLDS = 3
INNER_FOLDS = 3


@dataclass(frozen=True)
class Rows:
    """Rows of whole queries that stand together.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,)
        Grades.
    qid : ndarray of shape (n_rows,)
        Number of the query of each row, ascending.
    """

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray

    @property
    def lengths(self):
        """Rows of each query."""
        return np.diff(first_rows(self.qid))

    @property
    def queries(self):
        """Numbers of the queries."""
        return np.unique(self.qid)

    def only(self, queries):
        """The rows of some queries."""
        kept = np.isin(self.qid, queries)
        return Rows(self.X[kept], self.y[kept], self.qid[kept])

    def ndcg(self, score):
        """NDCG@10 of each query, ties at their expectation; NaN without a relevant row."""
        return ndcg_score(self.y, score, qid=self.qid, k=10, average=None, undefined="skip")


@cache
def rows_of(name):
    """Read a set; of queries that share half of their rows or more the first is kept."""
    files, n_features, cut = SETS[name]
    parts = [read([file], n_features) for file in files]
    X = np.vstack([part[0] for part in parts])
    y = np.concatenate([part[1] for part in parts])
    lengths = np.concatenate([np.diff(first_rows(part[2])) for part in parts])
    qid = np.repeat(np.arange(len(lengths)), lengths)
    rows = Rows(X, y, qid)
    kept = np.arange(len(lengths) - cut)
    return rows.only(np.setdiff1d(kept, repeated(rows)))


def repeated(rows):
    """Queries half of whose rows, or more, are those of an earlier query."""
    seen, shared = defaultdict(set), Counter()
    for row, query in zip(np.ascontiguousarray(rows.X), rows.qid, strict=True):
        seen[row.tobytes()].add(int(query))
    for queries in seen.values():
        first, *others = sorted(queries)
        shared.update((first, other) for other in others)
    lengths = dict(zip(rows.queries.tolist(), rows.lengths.tolist(), strict=True))
    return sorted({b for (a, b), n in shared.items() if 2 * n >= min(lengths[a], lengths[b])})


def folds_of(rows, n_folds, seed):
    """Yield the queries to train on and to test on; each tests once."""
    queries = np.random.default_rng(seed).permutation(rows.queries)
    for fold in range(n_folds):
        test = np.sort(queries[fold::n_folds])
        yield np.setdiff1d(queries, test), test


def split_of(name, seed, fold):
    """Rows to train on and rows to test on."""
    rows = rows_of(name)
    train, test = list(folds_of(rows, FOLDS, seed))[fold]
    return rows.only(train), rows.only(test)


def inner_splits(train, seed):
    """The same splits of the training queries for every method."""
    pairs = folds_of(train, INNER_FOLDS, 1000 + seed)
    return [(train.only(a), train.only(b)) for a, b in pairs]
