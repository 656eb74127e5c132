"""Designs whose rows are read in blocks for each product."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Protocol

import numpy as np

from .._typing import FloatArray, IntArray
from ._design import Design, InMemoryDesign
from ._parted_design import PartedDesign, converted_parts
from ._row_copy import LARGEST_COPY, RowCopy

__all__ = ["BlockedDesign", "RowSource"]


class RowSource(Protocol):
    """Rows that can be read again and again."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Generate the rows once more: consecutive blocks from the first row to the last."""


class BlockedDesign(PartedDesign):
    """Rows of a source, each product with which reads them once.

    Memory is one block and, for each product, a vector of all rows.
    """

    def __init__(self, source: RowSource, order: IntArray | None = None) -> None:
        n_all_rows, n_features = source.shape
        super().__init__(n_all_rows, n_features, order)
        self._source = source

    def rows(self, index: Any) -> Design:
        """Take some rows: a copy where it has at most a gigabyte, else they are read again."""
        taken = self._places(index)
        copied = self._copied(taken, LARGEST_COPY)
        return BlockedDesign(self._source, taken) if copied is None else copied

    def row_gram(self, index: IntArray) -> FloatArray:
        copied = self._copied(self._places(index), np.inf)
        return (self if copied is None else copied).row_gram(np.arange(len(index)))

    def _blocks(self) -> Any:
        """One reading, whose files are closed where it is not read to its end."""
        return self._source.blocks()

    def _parts(self) -> Iterator[tuple[slice, Any]]:
        with closing(self._blocks()) as blocks:
            for part, rows in blocks:
                yield from converted_parts(rows, part.start)

    def _copied(self, taken: IntArray, most_bytes: float) -> InMemoryDesign | None:
        """Read rows of the source in float64; None where these are more bytes."""
        copy = RowCopy(taken, self._n_features)
        with closing(self._blocks()) as blocks:
            for part, rows in blocks:
                if not copy.add(rows[copy.numbers_in(part)], most_bytes):
                    return None
                if copy.is_complete:
                    break
        return copy.design()
