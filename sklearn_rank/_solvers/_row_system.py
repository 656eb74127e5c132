"""Linear systems of Newton steps for linear scores with a ridge penalty."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, cg

from .._typing import FloatArray
from ._design import Design

__all__ = ["RowSystem"]

# Features, and rows, up to which the system is factorised by the one or the other; beyond both,
# conjugate gradients.
MOST_FEATURES = 1000
MOST_ROWS = 4000

# Share of the largest weight below which a row is left out where rows are what costs.
NEGLIGIBLE = 1e-12


class RowSystem:
    """The matrix ``I + X' diag(weight) X`` of rows X of shape (n_rows, n_features)."""

    def __init__(self, rows: Design, weight: FloatArray, by_row: FloatArray) -> None:
        self._all_rows, self._weight = rows, weight
        self._by_features: FloatArray | None = None
        self._by_rows: FloatArray | None = None
        if rows.shape[1] <= MOST_FEATURES:
            matrix, self.sums = rows.gram_and_sums(weight, by_row)
            matrix[np.diag_indices_from(matrix)] += 1.0
            self._by_features = _cholesky(matrix)
            return
        self.sums = rows.pull_back(by_row)
        kept = np.flatnonzero(weight > NEGLIGIBLE * weight.max(initial=0.0))
        if len(kept) <= MOST_ROWS:
            self._root = np.sqrt(weight[kept])
            self._rows = rows.rows(kept)
            matrix = rows.row_gram(kept)
            matrix = matrix * self._root[:, np.newaxis] * self._root
            matrix[np.diag_indices_from(matrix)] += 1.0
            self._by_rows = _cholesky(matrix)

    def solve(self, right: FloatArray) -> FloatArray:
        """Solve the system. Shape (n_features, k)."""
        if self._by_features is not None:
            return _solved(self._by_features, right)
        if self._by_rows is not None:
            root = self._root[:, np.newaxis]
            inner = _solved(self._by_rows, root * self._rows.scores(right))
            return right - self._rows.pull_back(root * inner)
        n = len(right)
        operator = LinearOperator((n, n), matvec=self._product, dtype=np.float64)
        columns = [cg(operator, column, rtol=1e-10, maxiter=10 * n + 100)[0] for column in right.T]
        return np.column_stack(columns)

    def _product(self, vector: FloatArray) -> FloatArray:
        rows = self._all_rows
        return vector + rows.pull_back(self._weight * rows.scores(vector))


def _cholesky(matrix: FloatArray) -> FloatArray:
    """Cholesky factor; of a matrix a little larger where rounding has eaten the identity."""
    diagonal = np.diag_indices_from(matrix)
    added = np.finfo(np.float64).eps * matrix[diagonal]
    while True:
        try:
            return np.asarray(scipy.linalg.cholesky(matrix, lower=True, check_finite=False))
        except scipy.linalg.LinAlgError:
            if not np.isfinite(added).all() or not added.any():
                raise
            matrix[diagonal] += added
            added = 100.0 * added


def _solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(scipy.linalg.cho_solve((factor, True), right, check_finite=False))
