"""Systems of equations of Newton's methods on linear scores with a ridge penalty."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, cg

from .._typing import FloatArray, IntArray
from ._design import Design

__all__ = ["RowSystem"]

# Features, and rows, up to which the system is factorised by the one or the other; beyond both,
# conjugate gradients.
MOST_FEATURES = 1000
MOST_ROWS = 4000

# Share of the largest weight below which a row is left out where rows are what costs.
NEGLIGIBLE = 1e-12


class RowSystem:
    """The matrix ``I + X' diag(weight) X`` of rows X of shape (n_rows, n_features).

    Parameters
    ----------
    design : Design
        Rows, of which X is some.
    index : ndarray of shape (n_rows,)
        Which ones.
    copies : list of (Design, slice)
        X in parts that are at hand, and which rows each part is.
    weight : ndarray of shape (n_rows,)
        Non-negative weights.

    Notes
    -----
    O(n_rows d^2 + d^3) time for d features up to 1,000; else O(n_rows^3) and the inner products
    of the rows, for up to 4,000 rows whose weight is not negligible; else a product with X for
    each step of conjugate gradients.
    """

    def __init__(
        self,
        design: Design,
        index: IntArray,
        copies: list[tuple[Design, slice]],
        weight: FloatArray,
    ) -> None:
        self._copies, self._weight = copies, weight
        n_features = design.shape[1]
        self._by_features: FloatArray | None = None
        self._by_rows: FloatArray | None = None
        if n_features <= MOST_FEATURES:
            matrix = np.zeros((n_features, n_features))
            for rows, part in copies:
                matrix += _gram(rows, weight[part])
            matrix[np.diag_indices_from(matrix)] += 1.0
            self._by_features = scipy.linalg.cholesky(
                matrix, lower=True, overwrite_a=True, check_finite=False
            )
            return
        kept = np.flatnonzero(weight > NEGLIGIBLE * weight.max(initial=0.0))
        if len(kept) <= MOST_ROWS:
            self._root = np.sqrt(weight[kept])
            self._rows = design.rows(index[kept])
            matrix = design.row_gram(index[kept])
            matrix = matrix * self._root[:, np.newaxis] * self._root
            matrix[np.diag_indices_from(matrix)] += 1.0
            self._by_rows = scipy.linalg.cholesky(
                matrix, lower=True, overwrite_a=True, check_finite=False
            )

    def solve(self, right: FloatArray) -> FloatArray:
        """Solve the system.

        Parameters
        ----------
        right : ndarray of shape (n_features, k)
            Right-hand sides.

        Returns
        -------
        ndarray of shape (n_features, k)
            The solutions.
        """
        if self._by_features is not None:
            return _solved(self._by_features, right)
        if self._by_rows is not None:
            root = self._root[:, np.newaxis]
            inner = _solved(self._by_rows, root * self._rows.scores(right))
            pulled = [self._rows.pull_back(column) for column in (root * inner).T]
            return right - np.column_stack(pulled)
        n = len(right)
        operator = LinearOperator((n, n), matvec=self._product, dtype=np.float64)
        columns = [cg(operator, column, rtol=1e-10, maxiter=10 * n + 100)[0] for column in right.T]
        return np.column_stack(columns)

    def _product(self, vector: FloatArray) -> FloatArray:
        result = vector.copy()
        for rows, part in self._copies:
            result += rows.pull_back(self._weight[part] * rows.scores(vector))
        return result


def _gram(rows: Design, weight: FloatArray) -> FloatArray:
    used = np.flatnonzero(weight)
    if 2 * len(used) < len(weight):
        return rows.rows(used).gram(weight[used])
    return rows.gram(weight)


def _solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(scipy.linalg.cho_solve((factor, True), right, check_finite=False))
