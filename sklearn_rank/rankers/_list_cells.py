"""Runs of whole lists whose rows stay in the processor's cache from scores to gradient."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from .._lists import Lists
from .._solvers import Design, as_design
from .._typing import IntArray
from ..preprocessing import QueryNormalizer

__all__ = ["Cell", "ItemReader", "cells_of", "summed"]

# Bytes of the rows of a cell in float64, which stay in the processor's cache.
CELL_BYTES = 2**22
# Minimum number of rows of a cell, to limit its overhead.
LEAST_ROWS = 1024


class Cell(NamedTuple):
    """Some consecutive lists, and where their rows are."""

    lists: Lists  # The lists; their ``rows`` are not looked at
    start: int  # The rows among which theirs are
    stop: int  # The rows among which theirs are
    order: IntArray | None


def cells_of(lists: Lists, n_features: int) -> list[Cell]:
    """Cut lists into cells."""
    size = max(LEAST_ROWS, CELL_BYTES // (8 * max(1, n_features)))
    offsets = lists.offsets
    cuts = np.searchsorted(offsets, np.arange(0, offsets[-1], size))
    cuts = np.unique(np.append(cuts, lists.n_lists))
    return [_cell(lists, a, b) for a, b in pairwise(cuts)]


def _cell(lists: Lists, first: int, last: int) -> Cell:
    start, stop = int(lists.offsets[first]), int(lists.offsets[last])
    part = lists.part(first, last)
    if lists.rows is None:
        return Cell(part, start, stop, None)
    rows = lists.rows[start:stop]
    low, high = int(rows.min()), int(rows.max()) + 1
    as_they_are = high - low == len(rows) and bool(np.all(rows[1:] > rows[:-1]))
    return Cell(part, low, high, None if as_they_are else rows - low)


class ItemReader:
    """Makes the items of cells from rows, in float64; those of a cell overwrite the last one's."""

    def __init__(self, normalizer: QueryNormalizer | None = None) -> None:
        self._normalizer = None if normalizer is None else clone(normalizer)
        self._buffer = np.empty((0, 0))

    def items(self, cell: Cell, rows: Any) -> Design:
        """Take the items of a cell. The items, which hold until the next call."""
        order, lists = cell.order, cell.lists
        if self._normalizer is not None:
            taken = (rows if order is None else rows[order]).astype(np.float64, copy=False)
            weight = lists.weight
            return as_design(
                self._normalizer.fit_transform(taken, qid=lists.list_of, sample_weight=weight)
            )
        if sp.issparse(rows) or (order is None and rows.dtype == np.float64):
            return as_design(rows if order is None else rows[order])
        n = len(lists.labels)
        if self._buffer.shape[0] < n or self._buffer.shape[1] != rows.shape[1]:
            self._buffer = np.empty((n, rows.shape[1]))
        items = self._buffer[:n]
        items[...] = rows if order is None else rows[order]
        return as_design(items)


def summed(results: Iterable[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    """Sum tuples of numbers and arrays, in order. The sums; None of nothing."""
    total: tuple[Any, ...] | None = None
    for found in results:
        if found is not None:
            total = found if total is None else tuple(map(np.add, total, found))
    return total
