"""Rows in parts: columns in memory are one part, those of dask collections have several.

Scheduling, retries, spilling and transfers are dask's. This module brings columns into parts that
belong together, calls functions of one part, joins their results in a tree, and says in which
chunk an error arose. No other module asks dask for anything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import isnan, nan
from operator import getitem
from typing import Any
from weakref import ref

import numpy as np
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


def refuse_collections(reason: str = "all its rows are needed in memory", **columns: Any) -> None:
    """Raise an error for dask collections, also in mappings and pairs, if all rows are needed."""
    for name, value in columns.items():
        if is_collection(value):
            raise TypeError(f"{name} is a dask collection, but {reason}: pass {name}.compute().")
        inner: dict[str, Any] = {}
        if isinstance(value, Mapping):
            inner = {f"{name}[{key!r}]": part for key, part in value.items()}
        elif isinstance(value, tuple | list) and len(value) == 2:
            inner = {f"{name}[{place}]": part for place, part in enumerate(value)}
        if inner:
            refuse_collections(reason, **inner)


@dataclass(frozen=True, eq=False)
class Partitions:
    """A value of each part of some rows: its columns by name, or what functions made of them.

    Parts without rows have the value None, which functions do not get. Values of collections are
    lazy.
    """

    values: list[Any]
    columns: dict[str, Any]  # A list with one entry for each part, or a single value for all
    lengths: tuple[int, ...] | None  # Number of rows of each part, if known
    in_memory: bool = False

    def map(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Iterable[Any]] = ()
    ) -> Partitions:
        """Call ``function(value, *own, *shared)``, where ``each`` has the ``own`` of all parts."""
        run, same = self._task(_on_part), [self._sent(value) for value in (function, *shared)]
        numbers = [None] if self.in_memory else range(len(self.values))
        calls = zip(numbers, self.values, *each, strict=True)
        return replace(self, values=[run(len(each), *call, *same) for call in calls])

    def without(self, name: str) -> Partitions:
        """Leave out a column, which is then not read."""
        columns = {key: column for key, column in self.columns.items() if key != name}
        values = [{key: part[key] for key in columns} for part in self.values]
        return replace(self, values=values, columns=columns)

    def merged(self, merge: Callable[[list[Any]], Any]) -> Any:
        """Merge the values in a tree, each level in the order of the parts; lazy."""
        join, degree, level = self._task(_merge_present), 8, self.values
        while True:
            level = [join(merge, *level[i : i + degree]) for i in range(0, len(level), degree)]
            if len(level) == 1:
                return level[0]

    def call(self, function: Callable[..., Any], *values: Any) -> Any:
        """Call a function of values that may be lazy; lazy."""
        return self._task(function)(*map(self._sent, values))

    def gathered(
        self, function: Callable[..., Any], each: Iterable[tuple[Any, ...]], *shared: Any
    ) -> list[Any]:
        """Of values that are lists: ``function(entries, *own, *shared)`` for each place."""
        run, take = self._task(function), self._task(_entry)
        shared = tuple(map(self._sent, shared))
        return [
            run([take(value, place) for value in self.values], *own, *shared)
            for place, own in enumerate(each)
        ]

    def reduce(self, merge: Callable[[list[Any]], Any]) -> Any:
        (merged,) = self.compute(self.merged(merge))
        if merged is None:
            raise ValueError(f"{next(iter(self.columns))} is empty: pass at least one item.")
        return merged

    def results(self) -> list[Any]:
        """Values of the parts that have rows."""
        return [value for value in self.compute(*self.values) if value is not None]

    def compute(self, *values: Any) -> tuple[Any, ...]:
        """Compute on the scheduler that is active: a distributed client's, else dask's own."""
        return self._run("compute", *values)

    def persisted(self, exit_stack: ExitStack | None = None) -> Partitions:
        """Compute the values where they are, and keep them there, at most until an exit."""
        values = _Persisted(self._run("persist", *self.values))
        reference = ref(values)

        def release() -> None:
            # A traceback may refer to the values for long.
            values, distributed = reference(), sys.modules.get("distributed")
            if values is not None and distributed is not None:
                for future in distributed.futures_of(list(values)):
                    future.release()

        if exit_stack is not None:
            exit_stack.callback(release)
        return replace(self, values=values)

    def array(self, dtype: Any = np.float64) -> Any:
        """Values that are arrays as one, (n_rows,): lazy of collections."""
        if self.in_memory:
            return self.values[0]
        array = import_dask("dask.array")
        as_array = self._task(lambda values: np.empty(0, dtype) if values is None else values)
        lengths = self.lengths or (nan,) * len(self.values)
        chunks = zip(map(as_array, self.values), lengths, strict=True)
        return array.concatenate(
            [array.from_delayed(x, shape=(length,), dtype=dtype) for x, length in chunks]
        )

    def _task(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self.in_memory:
            return function
        task: Callable[..., Any] = import_dask().delayed(function, pure=False)
        return task

    def _sent(self, value: Any) -> Any:
        """A value that goes to all parts, once to each machine."""
        if self.in_memory or is_collection(value):
            return value
        return import_dask().delayed(value, traverse=False)

    def _run(self, method: str, *values: Any) -> tuple[Any, ...]:
        if self.in_memory:
            return values
        dask = import_dask()
        # What goes to single parts is in the tasks: they are large, and that is known.
        large = {"distributed.admin.large-graph-warning-threshold": "1 PB"}
        try:
            with dask.config.set(large if has_cluster() else {}):
                return tuple(getattr(dask, method)(*values))
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
        """Find by bisection the first part with a column that cannot be computed."""
        discard = self._task(lambda *columns: None)
        columns = [column for column in self.columns.values() if isinstance(column, list)]
        tasks = [discard(*of_part) for of_part in zip(*columns, strict=True)]
        low, high = 0, len(tasks)
        try:
            if not _fails(tasks):
                return None
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if _fails(tasks[low:middle]) else (middle, high)
        except TimeoutError:
            return None
        return low


class _Persisted(list[Any]):
    """Values that workers hold; a list that can be referred to weakly."""


def has_cluster() -> bool:
    try:
        sys.modules["distributed"].Client.current()
    except (KeyError, ValueError):
        return False
    return True


def parts(**columns: Any) -> Partitions:
    """Columns of the same rows in parts; numbers, strings and None hold for all rows."""
    lazy = {
        name: _check_column(name, value) for name, value in columns.items() if is_collection(value)
    }
    if not lazy:
        return Partitions([columns], columns, None, in_memory=True)
    single = {name: value for name, value in columns.items() if _is_single(value)}
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
    first, n_parts = next(iter(counts.items()))
    for name, count in counts.items():
        if count != n_parts:
            raise ValueError(
                f"{first} has {n_parts} partitions, but {name} has {count}, of unknown lengths,"
                " so their rows cannot be aligned: take both from one dataframe, or make arrays of"
                " both by .to_dask_array(lengths=True)."
            )
    cut = {}
    for name, value in local.items():
        if lengths is None or len(known) < len(lazy):
            unknown = next(column for column in lazy if column not in known)
            raise ValueError(
                f"{name} is in memory, but {unknown} has partitions of unknown lengths: make"
                f" {name} one of its columns, or pass {unknown}.to_dask_array(lengths=True)."
            )
        _check_total(known, name, _n_rows(value))
        cut[name] = _cut(value, lengths)
    by_part = {**single, **_delay_chunks(lazy), **cut}
    by_part = {name: by_part[name] for name in columns}
    values = [
        {name: x[i] if isinstance(x, list) else x for name, x in by_part.items()}
        for i in range(n_parts)
    ]
    return Partitions(values, by_part, lengths)


def how_to_join(qid: Any) -> str:
    """Say how the rows of each query come into one chunk."""
    if is_collection(qid) and _is_frame(qid):
        name = getattr(qid, "name", None) or "qid"
        return f"bring the rows of each together by df = df.shuffle({name!r})"
    return (
        "rechunk the arrays where queries begin, or make a dask dataframe df of them and take the"
        " columns of df.shuffle('qid')"
    )


def no_rows_of(X: Any) -> Any:
    """An array or data frame in memory with the features of a collection, but no rows."""
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions, not two: pass a dask array or dataframe.")
    if isnan(X.shape[1]):
        raise ValueError("X has an unknown number of columns: call X.compute_chunk_sizes() first.")
    return X._meta if _is_frame(X) else np.empty((0, X.shape[1]))


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
        raise ValueError(f"{first} has {total} items, but {name} has {n}: pass one for each row.")


def _on_part(n_own: int, number: int | None, value: Any, *arguments: Any) -> Any:
    """Call a function of the value of one part; errors get the number of the chunk."""
    own, (function, *shared) = arguments[:n_own], arguments[n_own:]
    try:
        if isinstance(value, dict) and number is not None and not _n_rows_of(value):
            value = None
        return None if value is None else function(value, *own, *shared)
    except Exception as error:
        if number is None:
            raise
        if error.args != (str(error),):
            general: Exception = RuntimeError(f"chunk {number}: {type(error).__name__}: {error}")
            general.chunk = number  # type: ignore[attr-defined]
            raise general from error
        error.args = (f"chunk {number}: {error}",)
        error.chunk = number  # type: ignore[attr-defined]
        raise


def _n_rows_of(columns: dict[str, Any]) -> int:
    counts = {name: _n_rows(value) for name, value in columns.items() if not _is_single(value)}
    first, n_rows = next(iter(counts.items()))
    for name, count in counts.items():
        if count != n_rows:
            raise ValueError(
                f"{first} has {n_rows} rows, but {name} has {count}: take both from one dataframe,"
                " or arrays of both by .to_dask_array(lengths=True) with equal chunks."
            )
    return n_rows


def _merge_present(merge: Callable[[list[Any]], Any], *values: Any) -> Any:
    present = [value for value in values if value is not None]
    if len(present) > 1:
        return merge(present)
    return present[0] if present else None


def _entry(values: Any, place: int) -> Any:
    return None if values is None else values[place]


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
