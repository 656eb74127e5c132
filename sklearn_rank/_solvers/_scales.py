"""Scales of the columns of a design, by which solvers choose coordinates and fits warn."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray
from ._design import COPIED_ROWS, InMemoryDesign

__all__ = ["column_scales"]

# Standard deviation of dense columns relative to an entry, and variance of sparse ones relative to
# their mean square, that rounding explains.
ROUNDING = 8 * float(np.finfo(np.float64).eps)
LOST = 64 * float(np.finfo(np.float64).eps)


def column_scales(X: Any, weight: FloatArray | None = None) -> FloatArray:
    """Standard deviation of each column about its mean, whatever the mean is.

    Deviations are taken from the first row, so that a mean that is large beside the spread, such
    as that of seconds since 1970, costs no digits. O(stored entries).

    Parameters
    ----------
    X : InMemoryDesign, ndarray or sparse matrix of shape (n_rows, n_features)
        The rows.
    weight : ndarray of shape (n_rows,) or None, default=None
        Weights of the rows, not all 0; None is equal ones.

    Returns
    -------
    ndarray of shape (n_features,)
        The standard deviations; 0 for a column that is constant, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import column_scales
    >>> column_scales(np.array([[1e9, 0.1], [1e9 + 2.0, 0.1]]))
    array([1., 0.])
    """
    if isinstance(X, InMemoryDesign):
        X = X.matrix
    n_rows, n_features = X.shape
    share = np.full(n_rows, 1.0 / n_rows) if weight is None else weight / weight.sum()
    if sp.issparse(X):
        X = sp.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        means, squares = X.T @ share, X.power(2).T @ share
        variances = squares - means * means
        return np.sqrt(np.where(variances > LOST * squares, variances, 0.0))
    origin = np.asarray(X[int(np.argmax(share))], dtype=np.float64)
    means, squares = np.zeros(n_features), np.zeros(n_features)
    for start in range(0, n_rows, COPIED_ROWS):
        moved = X[start : start + COPIED_ROWS] - origin
        part = share[start : start + COPIED_ROWS]
        means += part @ moved
        squares += np.einsum("i,ij,ij->j", part, moved, moved)
    scales = np.sqrt(np.maximum(squares - means * means, 0.0))
    return np.where(scales > ROUNDING * np.abs(origin), scales, 0.0)
