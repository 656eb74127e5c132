"""Columns of a design: values, and rows sorted by each column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray

__all__ = ["SortedColumns", "by_columns", "column", "column_ranges"]


def by_columns(X: Any) -> Any:
    """Rows in a form that has fast columns. Shape (n_rows, n_features)."""
    if not sp.issparse(X):
        return X
    columns = sp.csc_array(X, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


def column(X: Any, j: int) -> FloatArray:
    """Values of a column. Shape (n_rows,)."""
    if not sp.issparse(X):
        return np.asarray(X[:, j])
    values = np.zeros(X.shape[0])
    part = slice(X.indptr[j], X.indptr[j + 1])
    values[X.indices[part]] = X.data[part]
    return values


def column_ranges(X: Any) -> FloatArray:
    """Largest less smallest value of each column. Shape (n_features,)."""
    if sp.issparse(X):
        return np.asarray((X.max(axis=0) - X.min(axis=0)).toarray()).ravel()
    return np.asarray(np.ptp(X, axis=0))


class SortedColumns:
    """The rows in the order of each column, and where a threshold may lie.

    Of the column j, ``order[begin[j]:split[j]]`` are rows by ascending value from the lowest on,
    and ``order[split[j]:begin[j + 1]]`` by descending value from the highest on. Rows of an array
    are all among the former; of a sparse one only those below 0 and above 0, and its zeros are
    between them. A row after which a threshold may lie, since the next value differs, is stored as
    its complement.
    """

    def __init__(self, X: Any, run: Callable[..., Any] = map) -> None:
        self._matrix = X
        n, d = X.shape
        self.n_rows = n
        if sp.issparse(X):
            self.begin = X.indptr.astype(np.int64)
        else:
            self.begin = n * np.arange(d + 1, dtype=np.int64)
        self.order = np.empty(self.begin[-1], dtype=np.int32)
        self.split = self.begin[1:].copy()
        for _ in run(self._sort, range(d)):
            pass

    def _entries(self, j: int) -> tuple[IntArray, FloatArray]:
        """Rows of the entries of a column, ascending, and their values."""
        X = self._matrix
        if not sp.issparse(X):
            return np.arange(self.n_rows), np.ascontiguousarray(X[:, j])
        part = slice(X.indptr[j], X.indptr[j + 1])
        return X.indices[part], X.data[part]

    def _sort(self, j: int) -> None:
        rows, values = self._entries(j)
        by_value = np.argsort(values)
        sorted_rows, values = rows[by_value], values[by_value]
        has_zeros = len(values) < self.n_rows
        n_low = int(np.searchsorted(values, 0.0)) if has_zeros else len(values)
        begin = self.begin[j]
        self.split[j] = begin + n_low
        parts = [(sorted_rows[:n_low], values[:n_low])]
        parts.append((sorted_rows[n_low:][::-1], values[n_low:][::-1]))
        for part_rows, part in parts:
            if len(part) == 0:
                continue
            ends = np.append(part[1:] != part[:-1], has_zeros)
            self.order[begin : begin + len(part)] = np.where(ends, ~part_rows, part_rows)
            begin += len(part)

    def _value(self, j: int, place: int) -> float:
        """Value of the row at a place of the order."""
        row = int(self.order[place])
        row = ~row if row < 0 else row
        X = self._matrix
        if not sp.issparse(X):
            return float(X[row, j])
        rows, values = self._entries(j)
        return float(values[np.searchsorted(rows, row)])

    def threshold(self, j: int, place: int) -> float:
        """Threshold after a row of the order of a column."""
        descending = place >= self.split[j]
        end = self.begin[j + 1] if descending else self.split[j]
        here = self._value(j, place)
        after = self._value(j, place + 1) if place + 1 < end else 0.0
        low, high = (after, here) if descending else (here, after)
        # Halved before they are added, so that large values do not overflow.
        middle = low / 2 + high / 2
        return middle if low <= middle < high else low
