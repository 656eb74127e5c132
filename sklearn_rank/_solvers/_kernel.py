"""Factorisation of a kernel matrix, by which linear methods become kernel methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, solve_triangular

from .._typing import FloatArray, IntArray

# Rows of the kernel matrix that are compared with the factorisation at a time.
CHECKED_ROWS = 256


class KernelFactor(NamedTuple):
    """Coordinates of points in the space of a kernel: their inner products are its values."""

    rows: FloatArray  # (n_points, rank): Coordinates of each point
    support: IntArray  # (rank,): Points whose images span the others, to the tolerance
    error: float

    def expansion(self, coef: FloatArray) -> FloatArray:
        """Write a weight vector as a sum of kernel functions. Shape (rank,)."""
        triangle = self.rows[self.support]
        return np.asarray(solve_triangular(triangle, coef, trans="T", lower=True))


def factorise_kernel(
    column: Callable[[int], FloatArray], diagonal: FloatArray, *, tol: float = 1e-12
) -> KernelFactor:
    """Factorise a kernel matrix by Cholesky's method with pivots, column by column.

    ``K = L L'`` up to a residue that is positive semidefinite, with diagonal entries of at most
    ``tol`` times the largest of K. Its columns are asked for one by one, so that a matrix of low
    rank is never formed.
    """
    residual = np.array(diagonal, dtype=np.float64)
    n = len(residual)
    scale = float(residual.max(initial=0.0))
    _refuse_negative(residual, scale, tol)
    rows = np.zeros((n, 16))
    support: list[int] = []
    while len(support) < n:
        pivot = int(np.argmax(residual))
        if residual[pivot] <= tol * scale:
            break
        rank = len(support)
        if rank == rows.shape[1]:
            rows = np.concatenate((rows, np.zeros((n, min(rank, n - rank)))), axis=1)
        entry = np.asarray(column(pivot), dtype=np.float64) - rows[:, :rank] @ rows[pivot, :rank]
        coordinate = entry / np.sqrt(residual[pivot])
        # Exactly triangular, and no pivot twice.
        coordinate[support] = 0.0
        coordinate[pivot] = np.sqrt(residual[pivot])
        rows[:, rank] = coordinate
        residual -= coordinate * coordinate
        residual[support] = 0.0
        residual[pivot] = 0.0
        support.append(pivot)
        _refuse_negative(residual, scale, tol)
    return KernelFactor(
        rows=np.ascontiguousarray(rows[:, : len(support)]),
        support=np.asarray(support, dtype=np.intp),
        error=float(max(residual.max(initial=0.0), 0.0) / scale) if scale > 0 else 0.0,
    )


def factorise_kernel_matrix(matrix: FloatArray, *, tol: float = 1e-12) -> KernelFactor:
    """Factorise a kernel matrix in memory as :func:`factorise_kernel`, in blocks of columns."""
    diagonal = np.diag(matrix)
    scale = float(diagonal.max(initial=0.0))
    _refuse_negative(diagonal, scale, tol)
    if scale <= 0.0:
        return KernelFactor(np.zeros((len(matrix), 0)), np.empty(0, dtype=np.intp), 0.0)
    # LAPACK reads the columns of a Fortran array, which are the rows of a symmetric matrix.
    factor, pivots, rank, _ = lapack.dpstrf(
        np.array(matrix).T, tol * scale, lower=1, overwrite_a=1
    )
    order = np.asarray(pivots, dtype=np.intp) - 1
    rows = np.empty((len(matrix), rank))
    rows[order] = np.tril(factor[:, :rank])
    residual = diagonal - np.einsum("ij,ij->i", rows, rows)
    _refuse_negative(residual, scale, tol)
    return KernelFactor(rows, order[:rank], float(max(residual.max(), 0.0) / scale))


def check_definite(factor: KernelFactor, block: Callable[[slice], FloatArray]) -> None:
    """Refuse a matrix that differs from its factorisation, which no definite one does.

    The pivots' columns agree with any matrix; an indefinite one may hide beside them.
    """
    rows = factor.rows
    scale = float(np.max(np.sum(rows**2, axis=1), initial=0.0))
    for start in range(0, len(rows), CHECKED_ROWS):
        part = slice(start, start + CHECKED_ROWS)
        difference = np.abs(rows[part] @ rows.T - block(part))
        if difference.max() > 1e-8 * max(scale, 1e-300):
            raise ValueError(_INDEFINITE)


_INDEFINITE = (
    "The kernel matrix is not positive semidefinite: a solver of convex problems needs inner"
    " products; use a kernel such as 'rbf', or add a constant to the diagonal."
)


def _refuse_negative(residual: FloatArray, scale: float, tol: float) -> None:
    # Rounding leaves a few units in the last place of the entries that were subtracted.
    if residual.min(initial=0.0) < -max(tol, 1e-10) * max(scale, 1e-300):
        raise ValueError(_INDEFINITE)
