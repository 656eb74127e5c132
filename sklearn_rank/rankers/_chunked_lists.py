"""Lists in the chunks of dask collections, where the losses of their rows are evaluated."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from .._lists import Lists
from .._optional import import_optional
from .._partitions import Partitions, in_chunk, tree_reduce
from ._list_cells import Cell, ItemReader, cells_of, summed

__all__ = ["ChunkedLists"]

USED_BY = "A dask collection"


class _Prepared(NamedTuple):
    """Rows of a chunk, cut into cells, with what was made for each."""

    rows: Any
    cells: list[Cell]
    losses: list[Any]


@dataclass(frozen=True, eq=False)
class ChunkedLists:
    """Blocks of lists in the chunks of collections; see ``Blocks`` of the solvers.

    Chunks are computed once and kept by the scheduler, which computes them again from their graph
    where a worker is lost.
    """

    partitions: Partitions  # Source of the chunks, used to name the chunk in errors
    chunks: list[Any]
    n_features: int
    held: ExitStack
    prepared: list[Any] | None = None  # The chunks with their losses

    @classmethod
    def of(
        cls, partitions: Partitions, chunks: list[Any], n_features: int, held: ExitStack
    ) -> ChunkedLists:
        """Compute the chunks, and keep them on the workers. The blocks, without losses."""
        return cls(partitions, _kept(chunks, held), n_features, held)

    def reduced(self, function: Callable[[Any], Any], merge: Callable[[list[Any]], Any]) -> Any:
        """Merge the results of a function for each chunk."""
        take = import_optional("dask", USED_BY).delayed(_if_any, pure=False)
        found = [take(function, chunk) for chunk in self.chunks]
        (merged,) = self.partitions.compute(tree_reduce(found, merge))
        return merged

    def on(self, make: Callable[[Lists], Any]) -> ChunkedLists:
        """Make losses where the chunks are. The same with the losses."""
        delayed = import_optional("dask", USED_BY).delayed
        prepare, shared = delayed(_prepare, pure=False), delayed(make, traverse=False)
        prepared = [prepare(number, chunk, shared) for number, chunk in enumerate(self.chunks)]
        return replace(self, prepared=_kept(prepared, self.held))

    def total(self, function: Callable[..., tuple[Any, ...]], *arguments: Any) -> Any:
        """Sum a function over the cells of all chunks."""
        delayed = import_optional("dask", USED_BY).delayed
        evaluate = delayed(_evaluate, pure=False)
        shared = delayed(partial(_call, function, arguments), traverse=False)
        found = [
            evaluate(number, chunk, shared) for number, chunk in enumerate(self.prepared or ())
        ]
        (sums,) = self.partitions.compute(tree_reduce(found, summed))
        return sums


def _kept(values: list[Any], held: ExitStack) -> list[Any]:
    """Compute values on the workers, and keep them there."""
    kept = _Kept(import_optional("dask", USED_BY).persist(*values))
    held.callback(_let_go, ref(kept))
    return kept


class _Kept(list[Any]):
    """Values that are kept as long as somebody refers to them."""


def _let_go(reference: ref[_Kept]) -> None:
    """Free what workers hold, which a traceback may refer to for long."""
    kept, distributed = reference(), sys.modules.get("distributed")
    if kept is not None and distributed is not None:
        for future in distributed.futures_of(list(kept)):
            future.release()


def _if_any(function: Callable[[Any], Any], chunk: Any) -> Any:
    return None if chunk is None else function(chunk)


def _call(function: Any, arguments: tuple[Any, ...], items: Any, loss: Any) -> tuple[Any, ...]:
    return function(items, loss, *arguments)


def _prepare(number: int, chunk: Any, make: Callable[[Lists], Any]) -> _Prepared | None:
    if chunk is None or chunk.lists is None:
        return None
    cells = cells_of(chunk.lists, chunk.rows.shape[1])
    losses = in_chunk(number, lambda: [make(cell.lists) for cell in cells])
    return _Prepared(chunk.rows, cells, losses)


def _evaluate(number: int, chunk: _Prepared | None, function: Any) -> tuple[Any, ...] | None:
    """Sums over the cells of a chunk."""
    if chunk is None:
        return None
    reader = ItemReader()

    def one(cell: Cell, loss: Any) -> tuple[Any, ...]:
        return function(reader.items(cell, chunk.rows[cell.start : cell.stop]), loss)

    found = summed(map(one, chunk.cells, chunk.losses))
    # The scheduler measures the size of arrays, but not of numbers in Python tuples.
    return None if found is None else tuple(np.asarray(one) for one in found)
