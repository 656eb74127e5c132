"""Rankers of queries that remember what they were given, and rows to go with them."""

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator


def queries(n=30, *, seed=0, kind=int):
    """X, y, qid of n queries of 3 to 9 rows, their rows mixed; the last column names the query."""
    rng = np.random.default_rng(seed)
    code = rng.permutation(np.repeat(np.arange(n), rng.integers(3, 10, n)))
    X = np.column_stack([rng.normal(size=(len(code), 3)), code])
    y = np.clip(np.round(X[:, 0] + rng.normal(size=len(code)) + 1), 0, 3)
    # In each query one item is relevant.
    y[np.unique(code, return_index=True)[1]] = 3
    names = {int: code, str: np.array([f"query {c}" for c in code])}
    names[object] = names[str].astype(object)
    return X, y, names[kind]


class Recorder(BaseEstimator):
    """Scores by one column, and writes down the rows and ids of each fit and score.

    Parameters
    ----------
    j : int
        The column.
    """

    # By sending what was seen to the class it survives clone.
    seen: ClassVar[list] = []

    __metadata_request__fit = {"qid": "groups"}
    __metadata_request__score = {"qid": "groups"}

    def __init__(self, j=0):
        self.j = j

    def _record(self, what, X, qid):
        Recorder.seen.append((what, np.asarray(X)[:, -1], None if qid is None else list(qid)))

    def fit(self, X, y, *, qid=None):
        self._record("fit", X, qid)
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.j]

    def score(self, X, y, *, qid=None):
        self._record("score", X, qid)
        return float(np.mean(self.predict(X) * y))


def whole(codes, of):
    """Whether the rows of queries, named by the last column of X, are all there."""
    return all(np.sum(codes == c) == np.sum(of == c) for c in np.unique(codes))
