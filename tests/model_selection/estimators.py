"""Estimators whose expected measure is known, and rows to go with them."""

import numpy as np
from scipy.special import ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedShuffleSplit

from sklearn_rank.metrics import make_measure
from sklearn_rank.model_selection._held_out import HeldOut

ONE = StratifiedShuffleSplit(1, test_size=0.4, random_state=0)


class Column(ClassifierMixin, BaseEstimator):
    """Scores by one column, whatever the training rows.

    Parameters
    ----------
    j : int
        The column.
    turn : bool
        Whether to turn the order round if that ranks the training rows better.
    """

    def __init__(self, j=0, turn=False):
        self.j = j
        self.turn = turn

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        column = X[:, self.j]
        means = [column[y == label].mean() for label in self.classes_]
        self.sign_ = -1.0 if self.turn and means[1] < means[0] else 1.0
        self.n_fit_ = len(y)
        return self

    def decision_function(self, X):
        return self.sign_ * X[:, self.j]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class Share(ClassifierMixin, BaseEstimator):
    """Gives every row the share of positives in training."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.share_ = np.mean(y == self.classes_[1])
        return self

    def decision_function(self, X):
        return np.full(len(X), self.share_)


class Fickle(Column):
    """Right about the order unless it was fitted to so many rows."""

    def __init__(self, j=0, turn=False, n=60):
        super().__init__(j, turn)
        self.n = n

    def fit(self, X, y):
        super().fit(X, y)
        self.sign_ = -1.0 if len(y) >= self.n else 1.0
        return self


def shifted(n_pos, n_neg, shifts, rng, correlation=0.0):
    """Normal columns, those of the positives shifted, and the expected AUC of each."""
    shifts = np.asarray(shifts, dtype=float)
    n = n_pos + n_neg
    y = np.repeat([1, 0], [n_pos, n_neg])
    common = rng.normal(size=(n, 1))
    X = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(
        size=(n, len(shifts))
    )
    X[:n_pos] += shifts
    return X, y, ndtr(shifts / np.sqrt(2))


def rows(seed=0, n_pos=30, n_neg=60, shifts=(0.4, 1.0, 0.9)):
    """Shifted columns, rows of both classes in random order."""
    X, y, _ = shifted(n_pos, n_neg, shifts, np.random.default_rng(seed))
    mixed = np.random.default_rng(seed).permutation(len(y))
    return X[mixed], y[mixed]


def tied_rows(seed=0, n_pos=14, n_neg=26):
    """Columns of few values, the first of which separates the classes a little."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n_pos, n_neg]))
    X = rng.integers(-3, 4, size=(len(y), 3)).astype(float)
    X[:, 0] += y
    return X, y


def queries(n_queries=24, seed=0, size=8):
    """Rows of queries in random order, with a relevant and an irrelevant one in each."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), size)
    X = rng.normal(size=(len(qid), 3))
    y = rng.binomial(2, 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1])))
    y[::size], y[1::size] = 2, 0
    rows = rng.permutation(len(qid))
    return X[rows], y[rows], qid[rows]


def only_score(y_true, y_score):
    return y_score[0]


ONLY_SCORE = make_measure(only_score, kind="graded", range=(0.0, 1.0))


def of_query_values(samples, **arguments):
    """Candidates with these values of queries, of one row each, on some parts."""
    ids = [np.arange(values.shape[1]) for values in samples]
    labels = [np.zeros(len(of_part)) for of_part in ids]
    return HeldOut(ONLY_SCORE, labels, [list(values) for values in samples], ids, **arguments)
