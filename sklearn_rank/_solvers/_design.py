"""Rows as a linear operator, wherever they lie; coordinates by a kernel, and scales of columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import getitem
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack, solve_triangular

from .._partitions import Partitions
from .._typing import ArrayPair, FloatArray, IntArray

# Rows of which a copy is made at a time, which stay in the processor's cache.
COPIED_ROWS = 2048


class Design:
    """Rows X of shape (n_rows, n_features), accessed through products only.

    Rows that are read in chunks or lie on other machines need no other solver; a problem that
    needs single entries asks for an ``InMemoryDesign``.
    """

    shape: tuple[int, int]

    @abstractmethod
    def scores(self, coef: FloatArray) -> FloatArray:
        """Score the rows, ``X @ coef``. Shape (n_rows,) or (n_rows, k)."""

    @abstractmethod
    def pull_back(self, by_row: FloatArray) -> FloatArray:
        """Sum the rows with factors, ``X.T @ by_row``. Shape (n_features,) or (n_features, k)."""

    @abstractmethod
    def rows(self, index: Any) -> Design: ...

    @abstractmethod
    def gram(self, weight: FloatArray) -> FloatArray:
        """Weighted sum of the outer products of the rows, ``X.T @ diag(weight) @ X``."""

    @abstractmethod
    def row_gram(self, index: IntArray) -> FloatArray:
        """Inner products of some rows with each other. Shape (m, m)."""

    @abstractmethod
    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        """Sum the absolute terms of each score, ``|X| @ |coef|``, by which it may be rounded."""

    @abstractmethod
    def squared_norms(self) -> FloatArray:
        """Square of the Euclidean norm of each row. Shape (n_rows,)."""

    @cached_property
    def squares(self) -> FloatArray:
        return self.squared_norms()

    # What solvers ask for together, which rows that are read for each product answer at once.

    def scores_with_terms(self, coef: FloatArray) -> ArrayPair:
        return self.scores(coef), self.absolute_scores(coef)

    def gram_and_sums(self, weight: FloatArray, by_row: FloatArray) -> ArrayPair:
        return self.gram(weight), self.pull_back(by_row)


class MatrixDesign(Design):
    """Rows of a matrix in memory, not to be written to."""

    def __init__(self, matrix: Any) -> None:
        self.matrix, self.shape = matrix, matrix.shape

    def scores(self, coef: FloatArray) -> FloatArray:
        return np.asarray(self.matrix @ coef)

    def pull_back(self, by_row: FloatArray) -> FloatArray:
        return np.asarray((by_row.T @ self.matrix).T)


class DenseDesign(MatrixDesign):
    """Rows in an array."""

    is_dense = True
    _last: tuple[Any, Any] = (0.0, 0.0)  # Weights of the last Gram matrix, and it

    def rows(self, index: Any) -> DenseDesign:
        return DenseDesign(self.matrix[index])

    def gram(self, weight: FloatArray) -> FloatArray:
        X, total = self.matrix, np.zeros((self.shape[1], self.shape[1]))
        # In parts, so that no copy of all rows is made.
        for start in range(0, len(X), COPIED_ROWS):
            part = slice(start, start + COPIED_ROWS)
            rows, factor = _nonzero(X[part], weight[part])
            total += (rows * factor[:, np.newaxis]).T @ rows
        return total

    def gram_and_sums(self, weight: FloatArray, by_row: FloatArray) -> ArrayPair:
        """Take the products; update the Gram matrix by the rows with changed weights."""
        before, total = self._last
        change = weight - before
        is_small = 2 * np.count_nonzero(change) < np.count_nonzero(weight)
        total = total + self.gram(change) if is_small else self.gram(weight)
        self._last = weight, total
        return total.copy(), self.pull_back(by_row)

    def row_gram(self, index: IntArray) -> FloatArray:
        rows = self.matrix[index]
        return np.asarray(rows @ rows.T)

    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        X, sums, coef = self.matrix, np.empty(len(self.matrix)), np.abs(coef)
        order: Literal["C", "F"] = "C" if X.flags.c_contiguous else "F"
        absolute = np.empty((min(COPIED_ROWS, len(X)), X.shape[1]), order=order)
        for start in range(0, len(X), COPIED_ROWS):
            rows = X[start : start + COPIED_ROWS]
            sums[start : start + len(rows)] = np.abs(rows, out=absolute[: len(rows)]) @ coef
        return sums

    def squared_norms(self) -> FloatArray:
        return np.einsum("ij,ij->i", self.matrix, self.matrix)

    def to_array(self) -> FloatArray:
        return np.asarray(self.matrix)

    def canonical(self) -> DenseDesign:
        """Copy the rows into the one form in which equal rows have equal bytes."""
        return DenseDesign(np.ascontiguousarray(self.matrix) + 0.0)

    def row_keys(self) -> list[Any]:
        """Sortable keys of canonical rows; equal rows, and only they, have equal keys."""
        return [row.tobytes() for row in self.matrix]

    def move(self, origin: FloatArray, *, copy: bool = True) -> DenseDesign:
        """Move the origin of dense rows; sparse ones stay as they are."""
        return DenseDesign(np.subtract(self.matrix, origin, out=None if copy else self.matrix))


class SparseDesign(MatrixDesign):
    """Rows in compressed sparse row format."""

    is_dense = False

    def rows(self, index: Any) -> SparseDesign:
        return SparseDesign(self.matrix[index])

    def gram(self, weight: FloatArray) -> FloatArray:
        X, factor = _nonzero(self.matrix, weight)
        return np.asarray((X.multiply(factor[:, np.newaxis]).tocsr().T @ X).toarray())

    def row_gram(self, index: IntArray) -> FloatArray:
        rows = self.matrix[index]
        return np.asarray((rows @ rows.T).toarray())

    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        # abs() of SciPy would sort the matrix of the user in place.
        X = self.matrix
        terms = type(X)((np.abs(X.data), X.indices, X.indptr), shape=X.shape)
        return np.asarray(terms @ np.abs(coef))

    def squared_norms(self) -> FloatArray:
        return np.asarray(self.matrix.multiply(self.matrix).sum(axis=1)).ravel()

    def to_array(self) -> FloatArray:
        return np.asarray(self.matrix.toarray())

    def canonical(self) -> SparseDesign:
        X = self.matrix.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        X.indices = X.indices.astype(np.int32, copy=False)
        X.indptr = X.indptr.astype(np.int32, copy=False)
        return SparseDesign(X)

    def row_keys(self) -> list[Any]:
        X = self.matrix
        return [
            (X.indices[start:stop].tobytes(), X.data[start:stop].tobytes())
            for start, stop in pairwise(X.indptr)
        ]

    def move(self, origin: FloatArray, *, copy: bool = True) -> SparseDesign:
        return self


# Rows of which single entries can be had at once.
InMemoryDesign: TypeAlias = DenseDesign | SparseDesign


def _nonzero(X: Any, weight: FloatArray) -> tuple[Any, FloatArray]:
    """Rows of nonzero weight where these are few, else all rows, and their weights."""
    used = np.flatnonzero(weight)
    return (X[used], weight[used]) if 2 * len(used) < len(weight) else (X, weight)


def as_design(X: Any) -> Design:
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


# What one method of a design returns, or the values of several that it takes together.
Products: TypeAlias = tuple[FloatArray, ...]


class OrderedDesign(Design):
    """Some rows of data that come in parts: vectors are reordered, not rows."""

    def __init__(self, shape: tuple[int, int], order: IntArray | None = None) -> None:
        self._n_all_rows, self._order = shape[0], order
        self.shape = shape if order is None else (len(order), shape[1])

    @abstractmethod
    def _by_part(self, product: str, *arguments: FloatArray) -> Iterable[Products]:
        """Products of each part of all rows, by the name of the method of a design."""

    @abstractmethod
    def _sum(self, product: str, *by_row: FloatArray) -> Products:
        """Sums over the rows of products with factors of the rows."""

    @abstractmethod
    def _copy(self, places: IntArray) -> InMemoryDesign:
        """Copy rows, given their numbers among all."""

    def scores(self, coef: FloatArray) -> FloatArray:
        return self._by_row("scores", coef)[0]

    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        return self._by_row("absolute_scores", coef)[0]

    def squared_norms(self) -> FloatArray:
        return self._by_row("squared_norms")[0]

    def scores_with_terms(self, coef: FloatArray) -> ArrayPair:
        scores, terms = self._by_row("scores_with_terms", coef)
        return scores, terms

    def pull_back(self, by_row: FloatArray) -> FloatArray:
        return self._sum("pull_back", by_row)[0]

    def gram(self, weight: FloatArray) -> FloatArray:
        return self._sum("gram", weight)[0]

    def gram_and_sums(self, weight: FloatArray, by_row: FloatArray) -> ArrayPair:
        gram, sums = self._sum("gram_and_sums", weight, by_row)
        return gram, sums

    def row_gram(self, index: IntArray) -> FloatArray:
        return self._copy(self._places(index)).row_gram(np.arange(len(index)))

    def _by_row(self, product: str, *arguments: FloatArray) -> list[FloatArray]:
        products = zip(*self._by_part(product, *arguments), strict=True)
        by_all_rows = (np.concatenate(values) for values in products)
        return [values if self._order is None else values[self._order] for values in by_all_rows]

    def _places(self, index: Any) -> IntArray:
        """Numbers of rows of the design among all."""
        return np.arange(self._n_all_rows)[index] if self._order is None else self._order[index]

    def _by_all_rows(self, by_row: FloatArray) -> FloatArray:
        """Values of the rows, at their places among all; 0 for rows that are absent."""
        if self._order is None:
            return by_row
        values = np.zeros((self._n_all_rows, *np.shape(by_row)[1:]))
        values[self._order] = by_row
        return values


def _product(rows: Any, product: str, *arguments: FloatArray) -> Products:
    """Product of a design of the rows of a part."""
    result = getattr(view_design(rows), product)(*arguments)
    return result if isinstance(result, tuple) else (result,)


def _add(parts: Iterable[Products]) -> Products:
    return reduce(lambda total, products: tuple(map(np.add, total, products)), parts)


# Bytes of a copy of rows, or of a matrix that is factorised, at most.
LARGEST_COPY = 2**30


def _numbers_in(ascending: IntArray, part: slice) -> IntArray:
    """Rows within a part, of rows given by their ascending places among all."""
    low, high = np.searchsorted(ascending, (part.start, part.stop))
    return ascending[low:high] - part.start


class ViewDesign(OrderedDesign):
    """Rows of a matrix, taken in some order and in float64 at each product."""

    def __init__(self, matrix: Any, order: IntArray | None = None) -> None:
        super().__init__(matrix.shape, order)
        self.matrix, self.is_dense = matrix, not sp.issparse(matrix)

    def rows(self, index: Any) -> Design:
        """Copy a slice, of which few rows are at a time; else take what saves memory."""
        places = self._places(index)
        return self._copy(places) if isinstance(index, slice) else view_design(self.matrix, places)

    def _parts(self) -> Iterator[tuple[slice, Any]]:
        """Consecutive parts of all rows in float64; one may be overwritten by the next."""
        rows, n_rows = self.matrix, self.matrix.shape[0]
        if not self.is_dense:
            yield slice(0, n_rows), sp.csr_array(rows).astype(np.float64, copy=False)
            return
        is_double = rows.dtype == np.float64
        shape = (0 if is_double else min(COPIED_ROWS, n_rows), rows.shape[1])
        converted = np.empty(shape, order="C" if rows.flags.c_contiguous else "F")
        for start in range(0, n_rows, COPIED_ROWS):
            part = rows[start : start + COPIED_ROWS]
            if not is_double:
                np.copyto(converted[: len(part)], part)
                part = converted[: len(part)]
            yield slice(start, start + len(part)), part

    def _by_part(self, product: str, *arguments: FloatArray) -> Iterable[Products]:
        return (_product(rows, product, *arguments) for _, rows in self._parts())

    def _sum(self, product: str, *by_row: FloatArray) -> Products:
        factors = [self._by_all_rows(values) for values in by_row]
        return _add(
            _product(rows, product, *(values[part] for values in factors))
            for part, rows in self._parts()
        )

    def _copy(self, places: IntArray) -> Any:
        return as_design(self.matrix[places])

    def move(self, origin: FloatArray, *, copy: bool = True) -> Design:
        """Copy the rows in float64, since single precision would lose what a move is for."""
        return DenseDesign(self.matrix - origin)


def view_design(X: Any, order: IntArray | None = None) -> Design:
    """Wrap rows for a solver that needs products only; no copy where that saves much."""
    if order is not None and 2 * len(order) < X.shape[0]:
        X, order = X[order], None
    if sp.issparse(X) and X.dtype != np.float64:
        X = sp.csr_array((X.data.astype(np.float64), X.indices, X.indptr), shape=X.shape)
    is_one = isinstance(X, Design) or X.dtype == np.float64 or X.shape[0] <= COPIED_ROWS
    if order is None and is_one:
        return as_design(X)
    return ViewDesign(X, order)


def bytes_of(rows: Any) -> int:
    """Bytes of a matrix in float64."""
    if sp.issparse(rows):
        return int(rows.nnz * (8 + rows.indices.itemsize))
    return int(8 * rows.size)


class ChunkedDesign(OrderedDesign):
    """Rows in the parts of dask collections: arrays or CSR arrays of float64 or float32.

    What goes to them is part of the tasks, so that all that a lost worker had can be computed
    again; sums that come back are added in a tree.
    """

    def __init__(
        self, parts: Partitions, sizes: IntArray, n_features: int, order: IntArray | None = None
    ) -> None:
        """``sizes`` are the numbers of rows and of bytes of the parts. Shape (2, n_parts)."""
        super().__init__((int(sizes[0].sum()), n_features), order)
        self._parts, self._sizes = parts, sizes
        ends = np.cumsum(sizes[0]).tolist()
        self._slices = [slice(*pair) for pair in pairwise([0, *ends])]

    def rows(self, index: Any) -> Design:
        """Take some rows: a copy where it has at most about a gigabyte, else they stay."""
        places, (n_rows, n_bytes) = self._places(index), self._sizes
        part_of = np.searchsorted(np.cumsum(n_rows), places, "right")
        shares = np.bincount(part_of, minlength=len(n_rows)) / np.maximum(n_rows, 1)
        if shares @ n_bytes > LARGEST_COPY:
            return ChunkedDesign(self._parts, self._sizes, self.shape[1], places)
        return self._copy(places)

    def _copy(self, places: IntArray) -> Any:
        ascending = np.sort(places)
        taken = [_numbers_in(ascending, part) for part in self._slices]
        rows = self._parts.map(getitem, each=[taken]).results()
        is_sparse = any(map(sp.issparse, rows))
        stacked = sp.vstack(rows, format="csr") if is_sparse else np.concatenate(rows)
        return as_design(stacked).rows(np.argsort(np.argsort(places, kind="stable")))

    def _by_part(self, product: str, *arguments: FloatArray) -> Iterable[Products]:
        return self._parts.map(_product, product, *arguments).results()

    def _sum(self, product: str, *by_row: FloatArray) -> Products:
        factors = [self._by_all_rows(values) for values in by_row]
        each: list[list[Any]] = [[values[part] for part in self._slices] for values in factors]
        each.insert(0, [product] * len(self._slices))
        return tuple(self._parts.map(_product, each=each).reduce(_add))


# Standard deviation of dense columns relative to an entry, and variance of sparse ones relative to
# their mean square, that rounding explains.
LOST = 64 * float(np.finfo(np.float64).eps)


@np.errstate(over="ignore", invalid="ignore")
def column_scales(X: Any, weight: FloatArray | None = None) -> FloatArray:
    """Standard deviation of each column about its mean.

    Deviations are taken from one row, so that a large mean, as of seconds since 1970, costs no
    digits.
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
    return np.where(scales > LOST * np.abs(origin), scales, 0.0)


def squares_about(items: Design, loss: Any, origin: FloatArray) -> tuple[FloatArray]:
    """Sum the squares of the rows of items, moved by an origin."""
    n_items, n_features = items.shape
    squares = np.zeros(n_features)
    for start in range(0, n_items, COPIED_ROWS):
        block: Any = items.rows(slice(start, min(start + COPIED_ROWS, n_items)))
        rows = block.matrix
        if sp.issparse(rows):
            # Entries that are not stored are moved, too.
            squares += np.asarray(rows.power(2).sum(axis=0)).ravel()
            squares -= origin * (2.0 * np.asarray(rows.sum(axis=0)).ravel())
            squares += rows.shape[0] * origin * origin
            continue
        moved = rows - origin
        squares += np.einsum("ij,ij->j", moved, moved, dtype=np.float64)
    return (squares,)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates in which a problem of any units of the features is well scaled."""

    scale: FloatArray
    penalty: FloatArray
    origin: FloatArray | None = None

    @cached_property
    def certified(self) -> FloatArray | None:
        """Factors of the squared derivatives in a bound of twice the suboptimality."""
        if not self.penalty.any():
            return None
        return 1.0 / np.where(self.penalty > 0, self.penalty, 1.0)

    def of(self, parameters: FloatArray) -> FloatArray:
        if self.origin is not None:
            intercept = parameters[-1] + self.origin @ parameters[:-1]
            parameters = np.append(parameters[:-1], intercept)
        return parameters * self.scale

    def parameters(self, coordinates: FloatArray) -> FloatArray:
        parameters = coordinates / self.scale
        if self.origin is not None:
            parameters[-1] -= self.origin @ parameters[:-1]
        return parameters

    def gradient(self, by_parameter: FloatArray) -> FloatArray:
        if self.origin is not None:
            by_coef = by_parameter[:-1] - self.origin * by_parameter[-1]
            by_parameter = np.append(by_coef, by_parameter[-1])
        return by_parameter / self.scale

    def matrix(self, by_parameters: FloatArray) -> FloatArray:
        if self.origin is not None:
            by_parameters = by_parameters.copy()
            by_parameters[:, :-1] -= np.outer(by_parameters[:, -1], self.origin)
            by_parameters[:-1] -= np.outer(self.origin, by_parameters[-1])
        return by_parameters / np.outer(self.scale, self.scale)


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
    """Factorise a kernel matrix by Cholesky's method with pivots, ``K = L L'``, column by column.

    The residue is positive semidefinite, with diagonal entries of at most ``tol`` times the
    largest of K. A matrix of low rank is never formed.
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
    """Refuse a matrix that differs from its factorisation, as an indefinite one does somewhere."""
    rows = factor.rows
    scale = float(np.max(np.sum(rows**2, axis=1), initial=0.0))
    for start in range(0, len(rows), COPIED_ROWS):
        part = slice(start, start + COPIED_ROWS)
        difference = np.abs(rows[part] @ rows.T - block(part))
        if difference.max() > 1e-8 * max(scale, 1e-300):
            raise _indefinite()


def _indefinite() -> ValueError:
    return ValueError(
        "The kernel matrix is not positive semidefinite: a solver of convex problems needs inner"
        " products; use a kernel such as 'rbf', or add a constant to the diagonal."
    )


def _refuse_negative(residual: FloatArray, scale: float, tol: float) -> None:
    # Rounding leaves a few units in the last place of the entries that were subtracted.
    if residual.min(initial=0.0) < -max(tol, 1e-10) * max(scale, 1e-300):
        raise _indefinite()
