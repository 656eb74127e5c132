"""Base class of designs whose rows are read in parts for each product, as float64."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray
from ._design import Design, as_design

__all__ = ["OrderedDesign", "PartedDesign", "converted_parts"]

# Dense rows that are converted to float64 at a time, which stay in the processor's cache.
CONVERTED_ROWS = 2048


class OrderedDesign(Design):
    """Some rows of data in an order of their own: vectors are reordered, not rows."""

    def __init__(self, n_all_rows: int, n_features: int, order: IntArray | None = None) -> None:
        self._n_all_rows, self._n_features, self._order = n_all_rows, n_features, order

    @property
    def shape(self) -> tuple[int, int]:
        n_rows = self._n_all_rows if self._order is None else len(self._order)
        return n_rows, self._n_features

    def _places(self, index: Any) -> IntArray:
        """Numbers of rows of the design among all."""
        return np.arange(self._n_all_rows)[index] if self._order is None else self._order[index]

    def _in_order(self, by_all_rows: FloatArray) -> FloatArray:
        return by_all_rows if self._order is None else by_all_rows[self._order]

    def _by_all_rows(self, by_row: FloatArray) -> FloatArray:
        """Values of the rows, at their places among all; 0 for rows that are absent."""
        if self._order is None:
            return by_row
        values = np.zeros((self._n_all_rows, *np.shape(by_row)[1:]))
        values[self._order] = by_row
        return values


class PartedDesign(OrderedDesign):
    """Some rows of data that come in parts.

    Products are those of float64, whatever the type of the data.
    """

    @abstractmethod
    def _parts(self) -> Iterator[tuple[slice, Any]]:
        """Consecutive parts of all rows in float64; one may be overwritten by the next."""

    def scores(self, coef: FloatArray) -> FloatArray:
        scores = np.empty((self._n_all_rows, *np.shape(coef)[1:]))
        for part, rows in self._parts():
            scores[part] = rows @ coef
        return self._in_order(scores)

    def pull_back(self, by_row: FloatArray) -> FloatArray:
        by_all_rows = self._by_all_rows(by_row)
        total = np.zeros((self._n_features, *np.shape(by_row)[1:]))
        for part, rows in self._parts():
            total += rows.T @ by_all_rows[part]
        return total

    def gram(self, weight: FloatArray | None = None) -> FloatArray:
        weight = self._by_all_rows(np.ones(self.shape[0]) if weight is None else weight)
        total = np.zeros((self._n_features, self._n_features))
        for part, rows in self._parts():
            total += as_design(rows).gram(weight[part])
        return total

    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        terms = np.empty(self._n_all_rows)
        for part, rows in self._parts():
            terms[part] = as_design(rows).absolute_scores(coef)
        return self._in_order(terms)

    def squared_norms(self) -> FloatArray:
        norms = np.empty(self._n_all_rows)
        for part, rows in self._parts():
            norms[part] = as_design(rows).squared_norms()
        return self._in_order(norms)

    def scores_with_terms(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        scores, terms = np.empty(self._n_all_rows), np.empty(self._n_all_rows)
        for part, rows in self._parts():
            scores[part] = rows @ coef
            terms[part] = as_design(rows).absolute_scores(coef)
        return self._in_order(scores), self._in_order(terms)

    def gram_and_sums(
        self, weight: FloatArray, by_row: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        weight, by_all_rows = self._by_all_rows(weight), self._by_all_rows(by_row)
        total = np.zeros((self._n_features, self._n_features))
        sums = np.zeros((self._n_features, by_row.shape[1]))
        for part, rows in self._parts():
            total += as_design(rows).gram(weight[part])
            sums += rows.T @ by_all_rows[part]
        return total, sums


def converted_parts(rows: Any, start: int = 0) -> Iterator[tuple[slice, Any]]:
    """Cut rows into parts in float64."""
    n_rows = rows.shape[0]
    if sp.issparse(rows):
        yield slice(start, start + n_rows), sp.csr_array(rows).astype(np.float64, copy=False)
        return
    is_double = rows.dtype == np.float64
    shape = (0 if is_double else min(CONVERTED_ROWS, n_rows), rows.shape[1])
    converted = np.empty(shape, order="C" if rows.flags.c_contiguous else "F")
    for first in range(0, n_rows, CONVERTED_ROWS):
        some = rows[first : first + CONVERTED_ROWS]
        if not is_double:
            np.copyto(converted[: len(some)], some)
            some = converted[: len(some)]
        yield slice(start + first, start + first + len(some)), some
