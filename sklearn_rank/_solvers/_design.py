"""Data of a problem as a linear operator, through which solvers access all rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray

__all__ = [
    "CompiledArrays",
    "DenseDesign",
    "Design",
    "InMemoryDesign",
    "KernelDesign",
    "SparseDesign",
    "as_design",
    "as_kernel_design",
]


# Rows of which a copy is made at a time where one is needed.
COPIED_ROWS = 2048


class CompiledArrays(NamedTuple):
    """Rows as compiled kernels take them: dense rows, or CSR arrays, the others empty."""

    dense: FloatArray  # (n_rows, n_features): Dense rows, or of shape (0, 0)
    columns: FloatArray
    data: FloatArray  # CSR arrays with indices of 32 bits, or of length 0
    indices: IntArray  # CSR arrays with indices of 32 bits, or of length 0
    indptr: IntArray  # CSR arrays with indices of 32 bits, or of length 0


class Design(ABC):
    """Rows X of shape (n_rows, n_features), accessed through products only.

    This is all that an iterative solver may ask of the data, so that rows that are read in chunks
    or lie on other machines need no other solver. A problem that needs more than one pass for each
    product, or single entries, asks for an :class:`InMemoryDesign`.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""

    @abstractmethod
    def scores(self, coef: FloatArray) -> FloatArray:
        """Score the rows, ``X @ coef``; O(stored entries) for each weight vector.

        Shape (n_rows,) or (n_rows, k).
        """

    @abstractmethod
    def pull_back(self, by_row: FloatArray) -> FloatArray:
        """Sum the rows with factors, ``X.T @ by_row``; O(stored entries) for each vector of them.

        Shape (n_features,) or (n_features, k).
        """

    @abstractmethod
    def rows(self, index: Any) -> Design:
        """Take some rows."""

    @abstractmethod
    def gram(self, weight: FloatArray | None = None) -> FloatArray:
        """Weighted sum of the outer products of the rows, ``X.T @ diag(weight) @ X``.

        O(n_rows n_features^2) time for dense rows, O(n_features^2) memory beside weighted copies
        of some thousands of rows.
        """

    @abstractmethod
    def row_gram(self, index: IntArray) -> FloatArray:
        """Inner products of some rows with each other; O(m^2 n_features) time for m dense rows.

        Shape (m, m).
        """

    @abstractmethod
    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        """Sum the absolute terms of each score, ``|X| @ |coef|``.

        A score is exact to this, times the number of terms, times the machine epsilon.
        """

    @abstractmethod
    def squared_norms(self) -> FloatArray:
        """Square of the Euclidean norm of each row. Shape (n_rows,)."""

    # What solvers ask for together, which rows that are read for each product answer at once.

    def scores_with_terms(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Score the rows, and sum the absolute terms of each score. Shape (n_rows,)."""
        return self.scores(coef), self.absolute_scores(coef)

    def gram_and_sums(
        self, weight: FloatArray, by_row: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Weighted sum of the outer products of the rows, and sums of the rows with factors."""
        return self.gram(weight), self.pull_back(by_row)


class InMemoryDesign(Design):
    """Rows of which single entries can be had at once."""

    is_dense: ClassVar[bool]

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix

    @property
    def matrix(self) -> Any:
        """The rows: an ndarray or CSR array, not to be written to."""
        return self._matrix

    @property
    def shape(self) -> tuple[int, int]:
        return self._matrix.shape[0], self._matrix.shape[1]

    def scores(self, coef: FloatArray) -> FloatArray:
        return np.asarray(self._matrix @ coef)

    def pull_back(self, by_row: FloatArray) -> FloatArray:
        return np.asarray(self._matrix.T @ by_row)

    def rows(self, index: Any) -> InMemoryDesign:
        """Take some rows; see :meth:`Design.rows`."""
        return type(self)(self._matrix[index])

    @abstractmethod
    def to_array(self) -> FloatArray:
        """The rows as an array, a copy unless they are one. Shape (n_rows, n_features)."""

    @abstractmethod
    def canonical(self) -> InMemoryDesign:
        """Copy the rows into the one form in which equal rows have equal bytes."""

    @abstractmethod
    def row_keys(self) -> list[Any]:
        """Sortable keys of canonical rows; equal rows, and only they, have equal keys."""

    def centred(self) -> InMemoryDesign:
        """Move the origin to the mean of dense rows; sparse ones stay as they are."""
        return self.moved(np.asarray(self._matrix.mean(axis=0)))

    @abstractmethod
    def moved(self, origin: FloatArray, *, copy: bool = True) -> InMemoryDesign:
        """Move the origin of dense rows; sparse ones stay as they are."""

    @abstractmethod
    def compiled_arrays(self, *, by_columns: bool = False) -> CompiledArrays:
        """The rows for compiled kernels. C-contiguous."""


class DenseDesign(InMemoryDesign):
    """Rows in an array."""

    is_dense = True

    def gram(self, weight: FloatArray | None = None) -> FloatArray:
        X = self._matrix
        if weight is None:
            return np.asarray(X.T @ X)
        total = np.zeros((X.shape[1], X.shape[1]))
        # In parts, so that no copy of all rows is made.
        for start in range(0, len(X), COPIED_ROWS):
            part = slice(start, start + COPIED_ROWS)
            rows, factor = _weighted(X[part], weight[part])
            total += (rows * factor[:, np.newaxis]).T @ rows
        return total

    def row_gram(self, index: IntArray) -> FloatArray:
        rows = self._matrix[index]
        return np.asarray(rows @ rows.T)

    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        X, sums, coef = self._matrix, np.empty(len(self._matrix)), np.abs(coef)
        order: Literal["C", "F"] = "C" if X.flags.c_contiguous else "F"
        copied = np.empty((min(COPIED_ROWS, len(X)), X.shape[1]), order=order)
        for start in range(0, len(X), COPIED_ROWS):
            rows = X[start : start + COPIED_ROWS]
            sums[start : start + len(rows)] = np.abs(rows, out=copied[: len(rows)]) @ coef
        return sums

    def squared_norms(self) -> FloatArray:
        return np.einsum("ij,ij->i", self._matrix, self._matrix)

    def to_array(self) -> FloatArray:
        return self._matrix

    def canonical(self) -> DenseDesign:
        return DenseDesign(np.ascontiguousarray(self._matrix) + 0.0)

    def row_keys(self) -> list[Any]:
        return [row.tobytes() for row in self._matrix]

    def moved(self, origin: FloatArray, *, copy: bool = True) -> DenseDesign:
        return DenseDesign(np.subtract(self._matrix, origin, out=None if copy else self._matrix))

    @cached_property
    def _columns(self) -> FloatArray:
        return np.ascontiguousarray(self._matrix.T)

    def compiled_arrays(self, *, by_columns: bool = False) -> CompiledArrays:
        none = np.empty(0, dtype=np.int32)
        rows = np.ascontiguousarray(self._matrix)
        columns = self._columns if by_columns else np.empty((0, 0))
        return CompiledArrays(rows, columns, np.empty(0), none, none)


class KernelDesign(DenseDesign):
    """Coordinates of points in the space of a kernel, whose inner products are known."""

    def __init__(
        self, matrix: FloatArray, values: FloatArray, points: IntArray | None = None
    ) -> None:
        super().__init__(matrix)
        self._values = values
        self._points = np.arange(len(values)) if points is None else points

    def rows(self, index: Any) -> KernelDesign:
        """Take some rows; see :meth:`Design.rows`."""
        return KernelDesign(self._matrix[index], self._values, self._points[index])

    def row_gram(self, index: IntArray) -> FloatArray:
        points = self._points[index]
        return self._values[np.ix_(points, points)]


class SparseDesign(InMemoryDesign):
    """Rows in compressed sparse row format."""

    is_dense = False

    def gram(self, weight: FloatArray | None = None) -> FloatArray:
        X = weighted = self._matrix
        if weight is not None:
            X, factor = _weighted(X, weight)
            weighted = X.multiply(factor[:, np.newaxis]).tocsr()
        return np.asarray((weighted.T @ X).toarray())

    def row_gram(self, index: IntArray) -> FloatArray:
        rows = self._matrix[index]
        return np.asarray((rows @ rows.T).toarray())

    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        # abs() of SciPy would sort the matrix of the user in place.
        X = self._matrix
        terms = type(X)((np.abs(X.data), X.indices, X.indptr), shape=X.shape)
        return np.asarray(terms @ np.abs(coef))

    def squared_norms(self) -> FloatArray:
        return np.asarray(self._matrix.multiply(self._matrix).sum(axis=1)).ravel()

    def to_array(self) -> FloatArray:
        return np.asarray(self._matrix.toarray())

    def canonical(self) -> SparseDesign:
        X = self._matrix.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        X.indices = X.indices.astype(np.int32, copy=False)
        X.indptr = X.indptr.astype(np.int32, copy=False)
        return SparseDesign(X)

    def row_keys(self) -> list[Any]:
        X = self._matrix
        return [
            (X.indices[start:stop].tobytes(), X.data[start:stop].tobytes())
            for start, stop in pairwise(X.indptr)
        ]

    def moved(self, origin: FloatArray, *, copy: bool = True) -> SparseDesign:
        return self

    def compiled_arrays(self, *, by_columns: bool = False) -> CompiledArrays:
        X, none = self._matrix, np.empty((0, 0))
        indices = X.indices.astype(np.int32, copy=False)
        return CompiledArrays(none, none, X.data, indices, X.indptr.astype(np.int32, copy=False))


def _weighted(X: Any, weight: FloatArray) -> tuple[Any, FloatArray]:
    """Rows whose weight is not 0 where these are few, else all, and their weights."""
    used = np.flatnonzero(weight)
    return (X[used], weight[used]) if 2 * len(used) < len(weight) else (X, weight)


def as_design(X: Any) -> Design:
    """Wrap rows for a solver."""
    if isinstance(X, Design):
        return X
    matrix = X if sp.issparse(X) else np.asarray(X)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"X has shape {matrix.shape} and dtype {matrix.dtype}, but must be a two-dimensional "
            "array of real numbers."
        )
    if sp.issparse(matrix):
        return SparseDesign(sp.csr_array(matrix).astype(np.float64, copy=False))
    return DenseDesign(matrix.astype(np.float64, copy=False))


def as_kernel_design(coordinates: FloatArray, values: FloatArray | None) -> Design:
    """Wrap coordinates of points in the space of a kernel for a solver."""
    return DenseDesign(coordinates) if values is None else KernelDesign(coordinates, values)
