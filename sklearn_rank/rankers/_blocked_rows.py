"""Rows that are not in memory as a whole: batches that are read again, and dask collections."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from threading import local
from typing import Any, NamedTuple, TypeAlias
from weakref import ref

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_array

from .._lists import Lists
from .._optional import import_optional
from .._order import ragged_ranges
from .._partitions import Partitions, aligned, in_chunk, is_collection, tree_reduce
from .._row_batches import RowBatches
from .._sklearn_compat import check_sample_weight
from .._solvers import BlockedDesign, ChunkedDesign, ChunkOfRows, Design, as_design
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import missing_label, ravelled
from ..preprocessing import QueryNormalizer
from ._base import forget

# Dtypes that solvers take without conversion; others are converted to the first.
ROW_TYPES = (np.float64, np.float32)


def is_blocked(X: Any) -> bool:
    """Whether rows are read in blocks. True for ``RowBatches`` and dask collections."""
    return isinstance(X, RowBatches) or is_collection(X)


def refuse_blocked(estimator: Any, X: Any, instead: str = "") -> None:
    """Raise an error for rows in blocks, if a fit needs all rows in memory."""
    if is_blocked(X):
        raise TypeError(
            f"{type(estimator).__name__} needs X in memory, but X is of type {type(X).__name__}: "
            "pass an array of rows that fit into memory, such as X.compute() of a dask "
            f"collection{instead}."
        )


def check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Store the number and names of the features of blocked rows, or compare them with those."""
    n_features, names = _features(X)
    if reset:
        forget(estimator, "feature_names_in_")
        estimator.n_features_in_ = n_features
        if names is not None:
            estimator.feature_names_in_ = names
        return
    if n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting"
            f" {estimator.n_features_in_} features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is not None and not np.array_equal(known, names):
        place = int(np.argmax(known != names))
        raise ValueError(
            f"Feature {place} of X is {names[place]!r}, but was {known[place]!r} in fit: pass "
            "the columns in the order of fit, X[list(estimator.feature_names_in_)]."
        )


def _features(X: Any) -> tuple[int, Any]:
    """Number of features, and their names where all are strings."""
    if isinstance(X, RowBatches):
        return X.shape[1], X.feature_names
    if X.ndim != 2:
        raise ValueError(
            f"X has {X.ndim} dimensions, but must have two: pass a dask array or dataframe of "
            "rows and features."
        )
    names = getattr(X, "columns", None)
    if names is not None:
        names = np.asarray(names, dtype=object)
        names = names if all(isinstance(name, str) for name in names) else None
    n_features = X.shape[1]
    if n_features != n_features:
        raise ValueError(
            "X is a dask array with an unknown number of columns: call X.compute_chunk_sizes() "
            "first."
        )
    return int(n_features), names


def check_small_columns(rows: RowBatches, **columns: Any) -> None:
    """Check that labels, ids and weights of batches were passed, and are in memory."""
    for name, values in columns.items():
        kept = getattr(rows, name, None)
        if values is None and kept is not None:
            without = "" if name == "qid" else f", or {name}=np.ones(len(rows)) to leave it out"
            raise ValueError(
                f"X has {name}, but {name} was not passed: pass {name}=rows.{name}{without}."
            )
        if is_collection(values):
            raise TypeError(
                f"{name} is a dask collection, but X is RowBatches: pass rows.{name}, or X as a "
                "dask collection as well."
            )


def checked_chunk(X: Any, *, n_features: int, dtype: Any = ROW_TYPES) -> Any:
    """Check the features of a block. Finite numbers. Shape (n_rows, n_features)."""
    kept = list(dtype) if isinstance(dtype, tuple) else dtype
    X = check_array(X, accept_sparse="csr", dtype=kept, input_name="X", ensure_all_finite=False)
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features in this chunk, but {n_features} in others.")
    values = X.data if sp.issparse(X) else X
    # If the sum is finite, all values are; this needs no copy.
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        flat = int(np.argmin(np.isfinite(values)))
        row = (
            np.searchsorted(X.indptr, flat, "right") - 1 if sp.issparse(X) else flat // n_features
        )
        column = X.indices[flat] if sp.issparse(X) else flat % n_features
        raise ValueError(
            f"X contains NaN or infinity, first in row {int(row)}, column {int(column)}: impute "
            "the value or remove the row."
        )
    return sp.csr_array(X) if sp.issparse(X) else X


def extreme_labels(y: Any) -> AnyArray:
    """Find the smallest and the largest label. Shape (2,)."""
    if not is_collection(y):
        return _extremes([np.asarray(y)])
    return np.asarray(aligned(y=y).reduce(_extremes_of_chunk, _extremes))


def _extremes_of_chunk(columns: dict[str, Any]) -> AnyArray:
    return _extremes([np.asarray(columns["y"])])


def _extremes(parts: list[AnyArray]) -> AnyArray:
    joined = np.concatenate(parts)
    return np.array([joined.min(), joined.max()])


def scores_by_blocks(estimator: Any, X: Any, score: Callable[[Any], FloatArray]) -> Any:
    """Score blocked rows. Scores; lazy for dask collections. Shape (n_rows,)."""
    check_features(estimator, X, reset=False)
    if isinstance(X, RowBatches):
        scores = np.empty(X.shape[0])
        for part, rows in X.blocks():
            scores[part] = score(rows.astype(np.float64, copy=False))
        return scores
    return lazy_scores(aligned(X=X), _scores_of_chunk, score, estimator.n_features_in_)


def _scores_of_chunk(
    columns: dict[str, Any], score: Callable[[Any], FloatArray], n_features: int
) -> FloatArray:
    return score(checked_chunk(columns["X"], n_features=n_features, dtype=np.float64))


def lazy_scores(partitions: Any, function: Callable[..., FloatArray], *arguments: Any) -> Any:
    """Scores of the chunks as one dask array. Shape (n_rows,)."""
    array = import_optional("dask.array", "A dask collection")
    delayed = import_optional("dask", "A dask collection").delayed(_or_none, pure=False)
    lengths = partitions.lengths or (np.nan,) * partitions.n_chunks
    chunks = [
        array.from_delayed(delayed(scores), shape=(length,), dtype=np.float64)
        for scores, length in zip(partitions.map(function, *arguments), lengths, strict=True)
    ]
    return array.concatenate(chunks)


def _or_none(scores: FloatArray | None) -> FloatArray:
    """Scores of a chunk, none of one without rows."""
    return np.empty(0) if scores is None else scores


USED_BY = "A dask collection"


# Labels (n_rows,), weights (n_rows,), and the design of some rows; None takes all.
BlockedClasses: TypeAlias = tuple[AnyArray, FloatArray, Callable[[IntArray | None], Design]]


def blocked_classes(estimator: Any, X: Any, y: Any, sample_weight: Any) -> BlockedClasses:
    """Check rows that are not in memory, and load their labels and weights."""
    check_features(estimator, X, reset=True)
    if isinstance(X, RowBatches):
        check_small_columns(X, y=y, sample_weight=sample_weight)
        labels = np.asarray(ravelled(y, "y"))
        if labels.shape != X.shape[:1]:
            raise ValueError(
                f"y has shape {labels.shape}, but X has {X.shape[0]} rows: pass one label per "
                "row, such as y=rows.y."
            )
        weight = check_sample_weight(ravelled(sample_weight, "sample_weight"), X)
        return labels, weight, lambda taken: BlockedDesign(X, taken)
    return _of_chunks(
        aligned(X=X, y=y, sample_weight=sample_weight), int(estimator.n_features_in_)
    )


def _of_chunks(partitions: Partitions, n_features: int) -> BlockedClasses:
    """Check chunks, where they are; keep them there if there is a cluster."""
    dask = import_optional("dask", USED_BY)
    checked = partitions.map(_checked_rows, n_features)
    if _has_cluster():
        checked = list(dask.persist(*checked))
    small = replace(
        partitions,
        columns={name: one for name, one in partitions.columns.items() if name != "X"},
    )
    sizes = [dask.delayed(_size)(rows) for rows in checked]
    found = partitions.compute(*sizes, *small.map(_labels_and_weights))
    chunks, columns = [], []
    for number, (size, column) in enumerate(
        zip(found[: len(checked)], found[len(checked) :], strict=True)
    ):
        if size is None:
            continue
        chunks.append(ChunkOfRows(number, checked[number], *size))
        columns.append(column)
        if columns[0][0].dtype.kind != column[0].dtype.kind and "O" in (
            columns[0][0].dtype.kind,
            column[0].dtype.kind,
        ):
            raise ValueError(
                f"y has dtype {column[0].dtype} in chunk {number}, but {columns[0][0].dtype} in "
                f"chunk {chunks[0].number}: use one dtype in all chunks."
            )
    if not chunks:
        raise ValueError("X is empty: pass at least one row.")
    y, weight = (np.concatenate(one) for one in zip(*columns, strict=True))
    weight = check_sample_weight(weight, weight)
    return y, weight, lambda taken: ChunkedDesign(partitions, chunks, n_features, taken)


def _has_cluster() -> bool:
    """Whether a client of a cluster is active, whose workers can keep chunks."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.Client.current()
    except ValueError:
        return False
    return True


def _checked_rows(columns: dict[str, Any], n_features: int) -> Any:
    return checked_chunk(columns["X"], n_features=n_features)


def _size(rows: Any) -> tuple[int, int] | None:
    """Numbers of rows and of their bytes in float64; None of a chunk without rows."""
    return None if rows is None else (int(rows.shape[0]), ChunkOfRows.bytes_of(rows))


def _labels_and_weights(columns: dict[str, Any]) -> tuple[AnyArray, FloatArray]:
    y = np.asarray(ravelled(columns["y"], "y"))
    y = y.astype(object) if y.dtype.kind in "SU" else y
    weight = columns["sample_weight"]
    weight = np.ones(len(y)) if weight is None else np.asarray(ravelled(weight, "sample_weight"))
    for name, values, bad in (
        ("y", y, y != y),
        ("sample_weight", weight, ~(weight >= 0) | ~np.isfinite(weight)),
    ):
        if np.any(bad):
            row = int(np.argmax(bad))
            if name == "y":
                raise ValueError(missing_label(name, f"row {row}"))
            raise ValueError(
                f"{name} is {values[row]} in row {row}, but must be non-negative and finite: "
                "correct the value or remove the row."
            )
    return y, weight.astype(np.float64)


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
