"""Scales of the features, learned from training rows only."""

from itertools import pairwise

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmark_utils.letor import first_rows


def by_query(function, X, qid):
    """Apply a function to the rows of each query."""
    offsets = first_rows(qid)
    return np.vstack([function(X[a:b]) for a, b in pairwise(offsets)])


def unit_range(X):
    """From 0 to 1, as LETOR's QueryLevelNorm; constant features are 0."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0)


def unit_variance(X):
    """Mean 0 and standard deviation 1; constant features are 0."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1.0)


def logarithms(X):
    """``sign(x) log(1 + |x|)``."""
    return np.sign(X) * np.log1p(np.abs(X))


BLOCKS = {
    "as is": lambda X, qid: X,
    "log": lambda X, qid: logarithms(X),
    "by query": lambda X, qid: by_query(unit_variance, X, qid),
    "query range": lambda X, qid: by_query(unit_range, X, qid),
}


class Features:
    """Blocks side by side, each column standardised over the training rows.

    Parameters
    ----------
    name : str
        Names of ``BLOCKS`` with " + " between them.
    """

    def __init__(self, name):
        self.blocks = [BLOCKS[block] for block in name.split(" + ")]
        self.scaler = StandardScaler()

    def fit_transform(self, X, qid):
        """Learn means and standard deviations, and apply them."""
        return self.scaler.fit_transform(self._blocks(X, qid))

    def transform(self, X, qid):
        """Apply them."""
        return self.scaler.transform(self._blocks(X, qid))

    def _blocks(self, X, qid):
        return np.hstack([block(X, qid) for block in self.blocks])
