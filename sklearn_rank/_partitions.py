"""Rows of dask collections, chunk by chunk: chunk i of all columns in one task.

Scheduling, retries, spilling and transfers are dask's. This module brings columns into chunks that
belong together, runs functions of one chunk, joins their results in a tree, and says in which
chunk an error arose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import isnan
from operator import getitem
from typing import Any

from sklearn.exceptions import DataConversionWarning

from ._optional import import_dask
from ._warn import warn


def is_collection(value: Any) -> bool:
    """Return whether a value is a dask collection, without importing dask."""
    graph = getattr(value, "__dask_graph__", None)
    if graph is None or isinstance(value, type):
        return False
    # The graph of a collection of dask is not asked for: it may have to be built.
    return type(value).__module__.partition(".")[0] == "dask" or graph() is not None


def any_collection(*values: Any) -> bool:
    return any(is_collection(value) for value in values)


def refuse_collection(value: Any, name: str) -> None:
    """Raise an error for a dask collection if all rows are needed at once."""
    if is_collection(value):
        raise TypeError(
            f"{name} is a dask collection, but all its rows are needed in memory here: pass"
            f" {name}.compute()."
        )


@dataclass(frozen=True, eq=False)
class Partitions:
    """Columns of rows, cut into chunks."""

    columns: dict[str, Any]
    n_chunks: int  # Number of chunks, empty ones included
    lengths: tuple[int, ...] | None

    def map(
        self, function: Callable[..., Any], *arguments: Any, numbered: bool = False
    ) -> list[Any]:
        delayed = import_dask().delayed
        run = delayed(_on_chunk, pure=False)
        names = tuple(self.columns)
        shared = [
            argument if is_collection(argument) else delayed(argument, traverse=False)
            for argument in (function, *arguments)
        ]
        columns = [
            c if isinstance(c, list) else [c] * self.n_chunks for c in self.columns.values()
        ]
        return [
            run(number, numbered, names, *chunk, *shared)
            for number, chunk in enumerate(zip(*columns, strict=True))
        ]

    def compute(self, *values: Any) -> tuple[Any, ...]:
        """Compute on the scheduler that is active: a distributed client's, else dask's own."""
        return self._run("compute", *values)

    def persist(self, *values: Any) -> tuple[Any, ...]:
        return self._run("persist", *values)

    def _run(self, method: str, *values: Any) -> tuple[Any, ...]:
        try:
            return tuple(getattr(import_dask(), method)(*values))
        except Exception as error:
            # An engine that has lost its workers is not asked again.
            package = type(error).__module__.partition(".")[0]
            lost = isinstance(error, MemoryError) or package == "distributed"
            number = None if lost or hasattr(error, "chunk") else self._first_unreadable()
            if number is None:
                raise
            raise RuntimeError(
                f"chunk {number} cannot be computed: {type(error).__name__}: {error}"
            ) from error

    def _first_unreadable(self) -> int | None:
        """Find by bisection the first chunk with a column that cannot be computed."""
        dask = import_dask()
        discard = dask.delayed(lambda *columns: None, pure=False)
        columns = [column for column in self.columns.values() if isinstance(column, list)]
        tasks = [discard(*(c[number] for c in columns)) for number in range(self.n_chunks)]
        low, high = 0, self.n_chunks
        try:
            if not _fails(tasks):
                return None
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if _fails(tasks[low:middle]) else (middle, high)
        except TimeoutError:
            return None
        return low

    def with_columns(
        self, function: Callable[..., Any], names: Sequence[str], *arguments: Any
    ) -> Partitions:
        """Replace the columns of each chunk by the columns that a function returns."""
        take = import_dask().delayed(_column_of, pure=False)
        chunks = self.map(function, *arguments)
        columns = {name: [take(chunk, name) for chunk in chunks] for name in names}
        return Partitions(columns, self.n_chunks, self.lengths)

    def reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[[list[Any]], Any],
        *arguments: Any,
        numbered: bool = False,
    ) -> Any:
        """Run a function on each chunk and merge the results."""
        results = self.map(function, *arguments, numbered=numbered)
        (merged,) = self.compute(tree_reduce(results, merge))
        if merged is None:
            raise ValueError(f"{next(iter(self.columns))} is empty: pass at least one item.")
        return merged


def tree_reduce(parts: Sequence[Any], merge: Callable[[list[Any]], Any]) -> Any:
    """Prepare a tree of merges; each level keeps the order of the chunks."""
    join, degree = import_dask().delayed(_merge_present, pure=False), 8
    level = list(parts)
    while True:
        level = [join(merge, *level[i : i + degree]) for i in range(0, len(level), degree)]
        if len(level) == 1:
            return level[0]


def in_chunk(number: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function on one chunk; errors get the number of the chunk."""
    try:
        return function(*arguments)
    except Exception as error:
        if error.args != (str(error),):
            general: Exception = RuntimeError(f"chunk {number}: {type(error).__name__}: {error}")
            general.chunk = number  # type: ignore[attr-defined]
            raise general from error
        error.args = (f"chunk {number}: {error}",)
        error.chunk = number  # type: ignore[attr-defined]
        raise


def aligned(**columns: Any) -> Partitions:
    single = {name: value for name, value in columns.items() if _is_single(value)}
    lazy = {
        name: _check_column(name, value) for name, value in columns.items() if is_collection(value)
    }
    local = {name: columns[name] for name in columns if name not in {*single, *lazy}}
    known = {
        name: value.chunks[0]
        for name, value in lazy.items()
        if _is_array(value) and not any(isnan(length) for length in value.chunks[0])
    }
    lengths = None
    if known:
        lengths = tuple(int(length) for length in next(iter(known.values())))
        for name, chunks in known.items():
            _check_total(known, name, sum(chunks))
            if chunks != lengths:
                lazy[name] = lazy[name].rechunk({0: lengths})
    counts = {name: value.npartitions for name, value in lazy.items()}
    first, n_chunks = next(iter(counts.items()))
    for name, count in counts.items():
        if count != n_chunks:
            raise ValueError(
                f"{first} has {n_chunks} partitions, but {name} has {count}, of unknown lengths,"
                " so their rows cannot be aligned: take both from one dataframe, or make arrays of"
                " both by .to_dask_array(lengths=True)."
            )
    cut = {}
    for name, value in local.items():
        if lengths is None or len(known) < len(lazy):
            unknown = next(column for column in lazy if column not in known)
            raise ValueError(
                f"{name} is in memory, but {unknown} has partitions of unknown lengths: make"
                f" {name} a column of the same dataframe, or pass"
                f" {unknown}.to_dask_array(lengths=True)."
            )
        _check_total(known, name, _n_rows(value))
        cut[name] = _cut(value, lengths)
    chunks = {**single, **_delay_chunks(lazy), **cut}
    return Partitions({name: chunks[name] for name in columns}, n_chunks, lengths)


def _is_single(value: Any) -> bool:
    if value is None or isinstance(value, str | bytes):
        return True
    return not is_collection(value) and getattr(value, "ndim", int(hasattr(value, "__len__"))) == 0


def _check_column(name: str, value: Any) -> Any:
    """A collection as one with a chunk for each range of rows: a dask array, series or frame."""
    if not _is_frame(value) and not _is_array(value):
        raise TypeError(
            f"{name} is a {type(value).__name__} of dask, which has no known rows: pass a dask"
            " array, series or dataframe."
        )
    if value.ndim not in (1, 2):
        raise ValueError(f"{name} has {value.ndim} dimensions, but must have one or two.")
    if value.ndim == 1:
        return value
    shape = value.shape
    if name != "X" and shape[1] == 1:
        warn(
            f"{name} is a column, in two dimensions, and was read as one dimension: pass a series,"
            f" or {name}[:, 0] of an array. (One list per row takes two columns or more.)",
            DataConversionWarning,
        )
        return value[value.columns[0]] if _is_frame(value) else value[:, 0]
    return value if _is_frame(value) else value.rechunk({1: -1})


def _is_frame(value: Any) -> bool:
    # Of the type, since any name is an attribute of a Delayed.
    return hasattr(type(value), "divisions")


def _is_array(value: Any) -> bool:
    return hasattr(type(value), "numblocks")


def _delay_chunks(lazy: dict[str, Any]) -> dict[str, list[Any]]:
    """Make one Delayed per chunk; tasks that columns share, such as a shuffle, run once."""
    frames = {name: value for name, value in lazy.items() if _is_frame(value)}
    # Arrays that are optimised one by one would each compute the shared tasks.
    chunks = {
        name: list(value.to_delayed(optimize_graph=False).ravel())
        for name, value in lazy.items()
        if name not in frames
    }
    if frames:
        joined = import_dask("dask.dataframe").map_partitions(
            lambda *columns: columns,
            *frames.values(),
            meta=(None, "object"),
            align_dataframes=False,
            enforce_metadata=False,
        )
        # Simplified as one expression, they read the columns that are used and share all else;
        # the further steps of the optimiser would join partitions.
        packs = joined.simplify().to_delayed(optimize_graph=False)
        take = import_dask().delayed(getitem, pure=False)
        chunks |= {name: [take(pack, i) for pack in packs] for i, name in enumerate(frames)}
    return chunks


def _cut(value: Any, lengths: tuple[int, ...]) -> list[Any]:
    delayed, rows = import_dask().delayed, getattr(value, "iloc", value)
    ends = pairwise(accumulate(lengths, initial=0))
    return [delayed(rows[start:stop], traverse=False) for start, stop in ends]


def _n_rows(value: Any) -> int:
    shape = getattr(value, "shape", None)
    return int(shape[0]) if shape else len(value)


def _check_total(known: dict[str, Any], name: str, n: int) -> None:
    first, chunks = next(iter(known.items()))
    total = sum(int(length) for length in chunks)
    if n != total:
        raise ValueError(
            f"{first} has {total} items, but {name} has {n}: pass one of each for each row."
        )


def _on_chunk(number: int, numbered: bool, names: tuple[str, ...], *values: Any) -> Any:
    """Run a function on the columns of one chunk; None if it has no rows."""
    columns = dict(zip(names, values, strict=False))
    function, *arguments = values[len(names) :]

    def run() -> Any:
        counts = {name: _n_rows(value) for name, value in columns.items() if not _is_single(value)}
        first, n_rows = next(iter(counts.items()))
        for name, count in counts.items():
            if count != n_rows:
                raise ValueError(
                    f"{first} has {n_rows} rows, but {name} has {count}: take both from one"
                    " dataframe, or make arrays of both by .to_dask_array(lengths=True) with equal"
                    " chunks."
                )
        if not n_rows:
            return None
        return function(*([number] if numbered else []), columns, *arguments)

    return in_chunk(number, run)


def _column_of(columns: dict[str, Any] | None, name: str) -> Any:
    return () if columns is None else columns[name]


def _merge_present(merge: Callable[[list[Any]], Any], *parts: Any) -> Any:
    present = [part for part in parts if part is not None]
    if len(present) > 1:
        return merge(present)
    return present[0] if present else None


def _fails(tasks: list[Any]) -> bool:
    """Whether tasks end in an error; a TimeoutError after a minute on a cluster.

    Its workers may ask each other without end for a value that one of them cannot read.
    """
    dask = import_dask()
    # The scheduler of a client is a method of it.
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    if client is None:
        try:
            dask.compute(*tasks)
        except Exception:
            return True
        return False
    futures = client.compute(tasks)
    try:
        import_dask("distributed").wait(futures, timeout=60)
    except TimeoutError:
        client.cancel(futures)
        raise
    return any(future.status == "error" for future in futures)
