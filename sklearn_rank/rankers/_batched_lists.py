"""Lists of rows that are read batch by batch, for each evaluation of a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from threading import local
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._lists import Lists
from .._order import ragged_ranges
from .._row_batches import RowBatches
from .._typing import FloatArray
from ..preprocessing import QueryNormalizer
from ._list_cells import Cell, ItemReader, cells_of, summed

__all__ = ["BatchedLists", "in_file_order", "read_cells"]


def in_file_order(lists: Lists) -> Lists:
    """Order lists by their rows, which for each must be together."""
    if lists.rows is None:
        return lists
    order = np.argsort(lists.rows[lists.offsets[:-1]])
    items = ragged_ranges(lists.offsets[:-1][order], lists.lengths[order])
    rows = lists.rows[items]
    offsets = np.append(0, np.cumsum(lists.lengths[order]))
    back = rows[1:] < rows[:-1]
    if back.any():
        place = order[int(np.searchsorted(offsets, int(np.argmax(back)), "right")) - 1]
        name = "" if lists.ids is None else f" {lists.ids[place : place + 1].tolist()[0]!r}"
        raise ValueError(
            f"The rows of the query{name} are not consecutive, as batches require: rows of other "
            "queries are between them. Store the rows sorted by qid, such as "
            'pyarrow.Table.sort_by("qid") before writing, or load them into memory.'
        )
    return Lists(
        labels=lists.labels[items],
        offsets=offsets,
        weight=None if lists.weight is None else lists.weight[items],
        ids=None if lists.ids is None else lists.ids[order],
        query_weight=None if lists.query_weight is None else lists.query_weight[order],
        rows=None if len(rows) == rows[-1] + 1 and rows[0] == 0 else rows,
        given=lists.given,
    )


def read_cells(rows: RowBatches, cells: list[Cell]) -> Iterator[list[tuple[int, Any]]]:
    """Read rows once, cell by cell."""
    stops = np.array([cell.stop for cell in cells])
    done = 0
    kept: list[Any] = []  # rows that were read of a cell that has not ended
    blocks: Any = rows.blocks()
    with closing(blocks):
        for part, X in blocks:
            found = []
            for number in range(done, int(np.searchsorted(stops, part.stop, "right"))):
                cell = cells[number]
                piece = X[max(cell.start - part.start, 0) : cell.stop - part.start]
                found.append((number, _stacked([*kept, piece]) if kept else piece))
                kept = []
            done += len(found)
            if done < len(cells) and cells[done].start < part.stop:
                kept.append(X[max(cells[done].start - part.start, 0) :].copy())
            if found:
                yield found


def _stacked(pieces: list[Any]) -> Any:
    return sp.vstack(pieces, format="csr") if sp.issparse(pieces[0]) else np.concatenate(pieces)


@dataclass(frozen=True, eq=False)
class BatchedLists:
    """Blocks of lists whose rows are read in batches; implements ``Blocks`` of the solvers."""

    rows: RowBatches
    cells: list[Cell]  # All lists, in the order of the rows
    normalizer: QueryNormalizer | None  # Normalises the features within each list
    n_threads: int  # Number of threads that share the cells of a batch
    losses: list[Any] | None = None  # Loss of each cell

    @classmethod
    def of(
        cls,
        rows: RowBatches,
        lists: Lists,
        *,
        normalizer: QueryNormalizer | None = None,
        n_threads: int = 1,
    ) -> BatchedLists:
        """Take lists of all rows. The blocks, without losses."""
        return cls(rows, cells_of(lists, rows.shape[1]), normalizer, n_threads)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.rows.shape[1]

    def on(self, make: Callable[[Lists], Any]) -> BatchedLists:
        """Make losses. The same with the losses."""
        return replace(self, losses=[make(cell.lists) for cell in self.cells])

    def total(self, function: Callable[..., tuple[Any, ...]], *arguments: Any) -> Any:
        """Sum a function over the cells, in one reading."""
        return summed(self._each(function, arguments))

    def _each(self, function: Any, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        losses = self.losses or [None] * len(self.cells)
        readers = local()

        def one(numbered: tuple[int, Any]) -> tuple[Any, ...]:
            number, X = numbered
            if not hasattr(readers, "reader"):
                readers.reader = ItemReader(self.normalizer)
            items = readers.reader.items(self.cells[number], X)
            return function(items, losses[number], *arguments)

        if self.n_threads == 1:
            for found in read_cells(self.rows, self.cells):
                yield from map(one, found)
            return
        with ThreadPoolExecutor(self.n_threads) as pool:
            for found in read_cells(self.rows, self.cells):
                yield from pool.map(one, found)

    def scores(self, score: Callable[[Any], FloatArray]) -> FloatArray:
        """Score the rows, in one reading. The scores; NaN for rows of no list. Shape (n_rows,)."""
        scores = np.full(self.rows.shape[0], np.nan)
        reader = ItemReader(self.normalizer)
        for found in read_cells(self.rows, self.cells):
            for number, X in found:
                cell = self.cells[number]
                part = scores[cell.start : cell.stop]
                items: Any = reader.items(cell, X)
                part[slice(None) if cell.order is None else cell.order] = score(items.matrix)
        return scores
