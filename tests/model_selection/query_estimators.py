"""Rows of queries."""

import numpy as np


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


def whole(codes, of):
    """Whether the rows of queries, named by the last column of X, are all there."""
    return all(np.sum(codes == c) == np.sum(of == c) for c in np.unique(codes))
