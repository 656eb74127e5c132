"""Rows in an order of their own or in single precision, without a copy of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray
from ._design import Design, as_design

__all__ = ["ViewDesign", "view_design"]

# Dense rows that are converted to float64 at a time, which stay in the processor's cache.
CONVERTED_ROWS = 2048


class ViewDesign(Design):
    """Rows of a matrix, taken in some order at each product: vectors are reordered, not rows.

    Products are those of float64, whatever the type of the matrix.

    Parameters
    ----------
    matrix : ndarray or CSR array of shape (n_all_rows, n_features)
        The rows, float64, or dense ones of float32.
    order : ndarray of shape (n_rows,) or None, default=None
        Which of them are the rows of the design, each at most once; None is all.
    """

    def __init__(self, matrix: Any, order: IntArray | None = None) -> None:
        self._matrix = matrix
        self._order = order

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_features = self._matrix.shape
        return (n_rows if self._order is None else len(self._order)), n_features

    def scores(self, coef: FloatArray) -> FloatArray:
        scores = np.empty((self._matrix.shape[0], *np.shape(coef)[1:]))
        for part, rows in self._parts():
            scores[part] = rows @ coef
        return self._in_order(scores)

    def pull_back(self, by_row: FloatArray) -> FloatArray:
        by_all_rows = self._by_all_rows(by_row)
        total = np.zeros((self._matrix.shape[1], *np.shape(by_row)[1:]))
        for part, rows in self._parts():
            total += rows.T @ by_all_rows[part]
        return total

    def rows(self, index: Any) -> Design:
        """Take some rows, which are copied; see :meth:`Design.rows`."""
        taken = index if self._order is None else self._order[index]
        return as_design(self._matrix[taken])

    def gram(self, weight: FloatArray | None = None) -> FloatArray:
        weight = self._by_all_rows(np.ones(self.shape[0]) if weight is None else weight)
        n_features = self._matrix.shape[1]
        total = np.zeros((n_features, n_features))
        for part, rows in self._parts():
            total += as_design(rows).gram(weight[part])
        return total

    def row_gram(self, index: IntArray) -> FloatArray:
        return self.rows(index).row_gram(np.arange(len(index)))

    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        scores = np.empty(self._matrix.shape[0])
        for part, rows in self._parts():
            scores[part] = as_design(rows).absolute_scores(coef)
        return self._in_order(scores)

    def squared_norms(self) -> FloatArray:
        norms = np.empty(self._matrix.shape[0])
        for part, rows in self._parts():
            norms[part] = as_design(rows).squared_norms()
        return self._in_order(norms)

    def _in_order(self, by_all_rows: FloatArray) -> FloatArray:
        return by_all_rows if self._order is None else by_all_rows[self._order]

    def _by_all_rows(self, by_row: FloatArray) -> FloatArray:
        """Values of the rows, at their places in the matrix; 0 for rows that are absent."""
        if self._order is None:
            return by_row
        values = np.zeros((self._matrix.shape[0], *np.shape(by_row)[1:]))
        values[self._order] = by_row
        return values

    def _parts(self) -> Iterator[tuple[slice, Any]]:
        """Blocks of the matrix in float64; one that was converted is overwritten by the next."""
        X = self._matrix
        n_rows = X.shape[0]
        if sp.issparse(X):
            yield slice(n_rows), X
            return
        shape = (0 if X.dtype == np.float64 else CONVERTED_ROWS, X.shape[1])
        block = np.empty(shape, order="C" if X.flags.c_contiguous else "F")
        for start in range(0, n_rows, CONVERTED_ROWS):
            part = slice(start, min(start + CONVERTED_ROWS, n_rows))
            if X.dtype == np.float64:
                yield part, X[part]
            else:
                np.copyto(block[: part.stop - start], X[part])
                yield part, block[: part.stop - start]


def view_design(X: Any, order: IntArray | None = None) -> Design:
    """Wrap rows for a solver that asks for products alone, without a copy where that saves much.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_all_rows, n_features)
        The rows, float64 or float32. Of sparse float32 the values are copied, not the indices.
    order : ndarray of shape (n_rows,) or None, default=None
        Which of them, in which order, each at most once; None is all. Fewer than half of them
        are copied.

    Returns
    -------
    Design
        Its products are those of float64.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import view_design
    >>> design = view_design(np.array([[1, 2], [3, 4]], dtype=np.float32), np.array([1, 0]))
    >>> design.scores(np.array([1.0, 1.0])), design.pull_back(np.array([1.0, 0.0]))
    (array([7., 3.]), array([3., 4.]))
    """
    if order is not None and 2 * len(order) < X.shape[0]:
        X, order = X[order], None
    if sp.issparse(X) and X.dtype != np.float64:
        X = sp.csr_array((X.data.astype(np.float64), X.indices, X.indptr), shape=X.shape)
    if order is None and X.dtype == np.float64:
        return as_design(X)
    return ViewDesign(X, order)
