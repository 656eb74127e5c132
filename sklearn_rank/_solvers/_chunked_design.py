"""Designs on dask collections; products are computed on the workers of the chunks."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._optional import import_optional
from .._partitions import Partitions, in_chunk, tree_reduce
from .._typing import FloatArray, IntArray
from ._design import Design, InMemoryDesign
from ._parted_design import OrderedDesign
from ._row_copy import LARGEST_COPY, RowCopy
from ._view_design import view_design

__all__ = ["ChunkOfRows", "ChunkedDesign"]

USED_BY = "A dask collection"


class ChunkOfRows(NamedTuple):
    """A chunk that has rows."""

    number: int  # Its number among all chunks, for messages
    rows: Any  # An array or CSR array of float64 or float32
    n_rows: int
    n_bytes: int  # Bytes of these in float64

    @staticmethod
    def bytes_of(rows: Any) -> int:
        """Count the bytes of rows in float64. Their number."""
        if sp.issparse(rows):
            return int(rows.nnz * (8 + rows.indices.itemsize))
        return int(8 * rows.size)


class ChunkedDesign(OrderedDesign):
    """Rows in the chunks of a dask collection.

    Weights of features go to the chunks, and scores come back; factors of rows go to them, and
    sums come back, which are added in a tree. What goes is part of the tasks, so that all that a
    lost worker had can be computed again.
    """

    def __init__(
        self,
        partitions: Partitions,
        chunks: list[ChunkOfRows],
        n_features: int,
        order: IntArray | None = None,
    ) -> None:
        super().__init__(sum(chunk.n_rows for chunk in chunks), n_features, order)
        self._partitions, self._chunks = partitions, chunks

    def scores(self, coef: FloatArray) -> FloatArray:
        return self._by_row("scores", coef)[0]

    def absolute_scores(self, coef: FloatArray) -> FloatArray:
        return self._by_row("absolute_scores", coef)[0]

    def scores_with_terms(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        scores, terms = self._by_row("scores_with_terms", coef)
        return scores, terms

    def squared_norms(self) -> FloatArray:
        return self._by_row("squared_norms")[0]

    def pull_back(self, by_row: FloatArray) -> FloatArray:
        return self._summed("pull_back", by_row)[0]

    def gram(self, weight: FloatArray | None = None) -> FloatArray:
        return self._summed("gram", np.ones(self.shape[0]) if weight is None else weight)[0]

    def gram_and_sums(
        self, weight: FloatArray, by_row: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        gram, sums = self._summed("gram_and_sums", weight, by_row)
        return gram, sums

    def rows(self, index: Any) -> Design:
        """Take some rows: a copy where it has at most about a gigabyte, else they stay."""
        taken = self._places(index)
        ends = np.cumsum([chunk.n_rows for chunk in self._chunks])
        n_taken = np.bincount(np.searchsorted(ends, taken, "right"), minlength=len(ends))
        shares = n_taken / [chunk.n_rows for chunk in self._chunks]
        if shares @ [chunk.n_bytes for chunk in self._chunks] > LARGEST_COPY:
            return ChunkedDesign(self._partitions, self._chunks, self._n_features, taken)
        return self._copied(taken)

    def row_gram(self, index: IntArray) -> FloatArray:
        return self._copied(self._places(index)).row_gram(np.arange(len(index)))

    def _copied(self, taken: IntArray) -> InMemoryDesign:
        copy = RowCopy(taken, self._n_features)
        for rows in self._compute(self._tasks(_rows_at, lambda part: (copy.numbers_in(part),))):
            copy.add(rows)
        return copy.design()

    def _by_row(self, product: str, *arguments: FloatArray) -> list[FloatArray]:
        """Vectors of a product, or of several, that has a value for each row."""
        delayed = import_optional("dask", USED_BY).delayed
        shared = [delayed(one, traverse=False) for one in (product, *arguments)]
        found = self._compute(self._tasks(_product, lambda part: shared))
        return [self._in_order(np.concatenate(one)) for one in zip(*found, strict=True)]

    def _summed(self, product: str, *by_row: FloatArray) -> tuple[FloatArray, ...]:
        """Sums over the rows of a product, or of several, with factors of the rows."""
        by_all_rows = [self._by_all_rows(one) for one in by_row]
        tasks = self._tasks(_product, lambda part: (product, *(one[part] for one in by_all_rows)))
        (sums,) = self._compute([tree_reduce(tasks, _added)])
        return tuple(sums)

    def _tasks(self, function: Callable[..., Any], arguments: Callable[[slice], Any]) -> list[Any]:
        """Prepare ``function(rows, *arguments(part))`` for each chunk, part its rows among all."""
        delayed = import_optional("dask", USED_BY).delayed
        run, tasks, start = delayed(in_chunk, pure=False), [], 0
        for chunk in self._chunks:
            part = slice(start, start + chunk.n_rows)
            tasks.append(run(chunk.number, function, chunk.rows, *arguments(part)))
            start = part.stop
        return tasks

    def _compute(self, tasks: list[Any]) -> tuple[Any, ...]:
        config = import_optional("dask", USED_BY).config
        # Factors of the rows are part of the tasks: the tasks are large, and that is known.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
            return self._partitions.compute(*tasks)


def _product(rows: Any, product: str, *arguments: FloatArray) -> tuple[FloatArray, ...]:
    """Product of a design of the rows of a chunk."""
    found = getattr(view_design(rows), product)(*arguments)
    return found if isinstance(found, tuple) else (found,)


def _rows_at(rows: Any, numbers: IntArray) -> Any:
    return rows[numbers]


def _added(sums: list[tuple[FloatArray, ...]]) -> tuple[FloatArray, ...]:
    return tuple(reduce(np.add, one) for one in zip(*sums, strict=True))
