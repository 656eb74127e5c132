"""Measures of dask collections, evaluated chunk by chunk, and the data that they keep.

Queries are evaluated in the chunks that hold them. The rows of one list become a table in each
chunk; small tables are joined, large ones are cut into ranges of scores that are evaluated apart:
see ``_ranges`` for which measures this is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from math import fsum, isnan
from operator import attrgetter, getitem
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from .._lists import Lists, ScoredLists, group_scored_rows, refuse_single_rows
from .._partitions import Partitions, how_to_join, parts
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import MAX_WEIGHT_SUM, CheckedRows, as_array, check_qid, shape_of
from .._warn import Message, collected, warn
from ._ranges import (
    Cells,
    Plan,
    ScoreTable,
    cut,
    is_additive,
    join_columns,
    merge_tied,
    need_ranges,
    refined,
    sample_of,
)

# Rows of one list, of lists with ids, or of one list in each row of two dimensions.
Form: TypeAlias = Literal["list", "ids", "rows"]

# Shape of rows of different lengths, which are refused where they are read.
RAGGED = (-1,)


def read_part(
    measure: Any, y_true: Any, y_score: Any, *, pos_label: Any = None, **arguments: Any
) -> tuple[ScoredLists | None, Form, dict[bool, Any], int]:
    """Read rows of which others may be elsewhere: a part may hold one class only, or nothing.

    Its lists, None if no row counts; its form; the labels of its classes; its number of rows of
    two dimensions.
    """
    measure._check_arguments(**arguments)
    qid, sample_weight, query_weight = (
        arguments.get(name) for name in ("qid", "sample_weight", "query_weight")
    )
    shape = shape_of(y_true, RAGGED)
    n_matrix_rows = shape[0] if len(shape) == 2 else 0
    form: Form = "list" if qid is None else "ids"
    is_empty = shape[:1] == (0,) and shape_of(y_score, RAGGED)[:1] == (0,)
    fits = sample_weight is not None and shape_of(y_score, RAGGED)[: len(shape)] == shape
    if is_empty or (fits and _all_zero(sample_weight, shape)):
        return None, form, {}, n_matrix_rows
    silent = query_weight is not None and _all_zero(query_weight, shape[:1])
    lists = measure._read(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=None if silent else query_weight,
        pos_label=pos_label,
    )
    relevant = {name: arguments.get(name) for name in ("n_relevant", "ideal")}
    lists = measure._with_relevant(lists, shape, sample_weight, pos_label, **relevant)
    if silent:
        lists = replace(lists, query_weight=np.zeros(lists.n_lists))
    if qid is None and lists.ids is not None:
        form = "rows"
    if form == "list" and query_weight is not None:
        raise ValueError(
            "query_weight weights queries, but without qid all rows are one list: pass qid, or"
            " leave query_weight out."
        )
    classes = _classes_of(measure, pos_label, lists, y_true)
    return replace(lists, rows=None), form, classes, n_matrix_rows


def _classes_of(measure: Any, pos_label: Any, lists: ScoredLists, y_true: Any) -> dict[bool, Any]:
    """Labels of the negatives and of the positives, where labels are classes."""
    of_grades = measure.kind != "binary" and pos_label is None
    if of_grades or measure.label_type(pos_label).rel is not None:
        return {}
    positive = lists.labels if lists.labels.dtype.kind == "b" else lists.labels == 1
    classes = {}
    for value in (False, True):
        place = int(np.argmax(positive == value))
        if positive[place] == value:
            row = place if lists.rows is None else int(lists.rows[place])
            classes[value] = as_array(y_true).ravel()[row : row + 1].tolist()[0]
    return classes


def _all_zero(weight: Any, shape: tuple[int, ...]) -> bool:
    if shape_of(weight, RAGGED) != shape:
        return False
    array: AnyArray = np.asarray(weight)
    return array.dtype.kind in "biuf" and not array.any()


@dataclass(frozen=True, eq=False)
class KeptValues:
    ids: AnyArray  # (n_queries,)
    values: FloatArray  # (n_queries,): Values; NaN where a query has none
    query_weight: FloatArray | None  # (n_queries,): Weights in the mean; None is 1 for each

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, lists: ScoredLists, measure: Any) -> KeptValues:
        measure._check_weights(lists)
        return cls(np.asarray(lists.ids), measure._values(lists), lists.query_weight)

    @classmethod
    def join(cls, runs: Sequence[KeptValues]) -> tuple[KeptValues, IntArray]:
        """Values of all queries by ascending id, and where each was in the runs."""
        ids = np.concatenate(_same_type(*(run.ids for run in runs)))
        with _comparing_ids():
            order = np.argsort(ids, kind="stable")
        values, weight = np.concatenate([run.values for run in runs])[order], None
        if any(run.query_weight is not None for run in runs):
            weight = np.concatenate([_query_weight(run.query_weight, len(run)) for run in runs])
            weight = weight[order]
        return cls(ids[order], values, weight), order

    def shared_with(self, other: KeptValues) -> Any:
        """Find a query that is in both. Its id; None if there is none."""
        few, many = sorted(_same_type(self.ids, other.ids), key=len)
        with _comparing_ids():
            if few[0] > many[-1] or few[-1] < many[0]:
                return None
            place = np.minimum(np.searchsorted(many, few), len(many) - 1)
        in_both = few[many[place] == few]
        return in_both[:1].tolist()[0] if len(in_both) else None

    def shift_ids(self, first: int) -> KeptValues:
        return replace(self, ids=self.ids + first)

    def combine(self, measure: Any, average: Any = "mean", return_qid: bool = False) -> Any:
        if self.query_weight is not None and not self.query_weight.any():
            raise ValueError(
                "query_weight is zero for all queries: give one query a positive weight."
            )
        # Of the lists only ids and weights count.
        offsets = np.zeros(len(self) + 1, dtype=np.intp)
        lists = Lists(self.values[:0], offsets, ids=self.ids, query_weight=self.query_weight)
        return measure._combine(self.values, lists, average, return_qid)


@contextmanager
def _comparing_ids() -> Iterator[None]:
    try:
        yield
    except TypeError:
        raise ValueError(
            "qid has ids of different types: make them all numbers or all strings."
        ) from None


def _same_type(*ids: AnyArray) -> list[AnyArray]:
    """Ids in one common type that keeps their equality."""
    kinds = {array.dtype.kind for array in ids}
    dtype = np.dtype(object)  # numbers that float64 would round compare by value as objects
    if len(kinds) == 1 or kinds <= set("SU") or kinds <= set("iu"):
        joined = np.result_type(*ids)
        dtype = joined if len(kinds) == 1 or joined.kind != "f" else dtype
    return [array.astype(dtype, copy=False) for array in ids]


class KeptQueries:
    """Values of queries, each passed completely in one update.

    They stand in sorted runs, each at least twice as long as the next, so that a query that comes
    again is found in the update that brings it.
    """

    def __init__(self) -> None:
        self._runs: list[KeptValues] = []

    def add(self, lists: ScoredLists, measure: Any) -> None:
        if measure.scaled_by_labels and np.any((lists.labels != 0) & (lists.labels != 1)):
            raise ValueError(
                f"{measure.name} has no max_grade, so its scale depends on the highest grade of"
                " all queries, but one update has only some of them (highest grade"
                f" {lists.labels.max():g}): pass the measure with max_grade=, the highest grade of"
                " the scale, or queries='split', which keeps all rows."
            )
        self._add([KeptValues.of(lists, measure)])

    def merge(self, other: KeptQueries) -> None:
        self._add(list(other._runs))

    def _add(self, runs: list[KeptValues]) -> None:
        for run in runs:
            for known in self._runs:
                if (query := known.shared_with(run)) is not None:
                    raise ValueError(
                        f"Query {query!r} has rows in two updates, but its value needs all its"
                        " rows in one update: sort or partition the data by query, or pass"
                        " queries='split', which keeps all rows until result()."
                    )
        for run in runs:
            self._runs.append(run)
            while len(self._runs) > 1 and 2 * len(self._runs[-1]) > len(self._runs[-2]):
                self._join_last()

    def _join_last(self) -> None:
        self._runs[-2:] = [KeptValues.join(self._runs[-2:])[0]]

    def shift_ids(self, first: int) -> KeptQueries:
        moved = copy(self)
        moved._runs = [run.shift_ids(first) for run in self._runs]
        return moved

    @property
    def values(self) -> KeptValues:
        while len(self._runs) > 1:
            self._join_last()
        return self._runs[0]

    def result(self, measure: Any) -> float:
        return float(self.values.combine(measure))


class KeptRows:
    """Rows in parts; of one list, equal ones may be kept once.

    Equal rows are looked for when there are five times as many as after the last time, so that n
    rows take the time of a few sorts in any number of parts.
    """

    def __init__(self, *, distinct: bool = False) -> None:
        self.distinct = distinct
        self._parts: list[Any] = []  # ScoreTable of one list of distinct rows, else ScoredLists
        self._n_known = self._n_waiting = 0  # Rows that were looked at, and others

    def add(self, lists: ScoredLists, measure: Any) -> None:
        measure._check_row_weights(lists)
        if self.distinct:
            self._keep(ScoreTable.of_rows(lists.score, lists.labels, lists.weight))
        else:
            weight = None if lists.weight is None else lists.weight.copy()
            labels, score = lists.labels.copy(), lists.score.copy()
            self._keep(replace(lists, labels=labels, score=score, weight=weight))

    def merge(self, other: KeptRows) -> None:
        for part in list(other._parts):
            self._keep(part)

    def _keep(self, part: ScoredLists) -> None:
        self._parts.append(part)
        self._n_waiting += len(part.labels)
        if self.distinct and self._n_waiting > 4 * self._n_known:
            known, new = self._parts[: self._n_known > 0], self._parts[self._n_known > 0 :]
            # New rows without weights are sorted faster alone.
            known.append(ScoreTable.joined(new).condensed())
            table = ScoreTable.joined(known).condensed()
            self._parts, self._n_known, self._n_waiting = [table], len(table), 0

    @property
    def table(self) -> ScoreTable:
        table = ScoreTable.joined(self._parts)
        self._parts = [table]
        return table

    def shift_ids(self, first: int) -> KeptRows:
        moved = KeptRows()
        moved._parts = [
            part if part.ids is None else replace(part, ids=part.ids + first)
            for part in self._parts
        ]
        return moved

    @property
    def lists(self) -> ScoredLists:
        if self.distinct:
            return self.table
        parts, ids, query_weight = self._parts, None, None
        of_rows = [np.repeat(part.ids, part.lengths) for part in parts if part.ids is not None]
        if of_rows:
            joined = reduce(lambda *pair: np.concatenate(_same_type(*pair)), of_rows)
            ids = check_qid(joined, len(joined))
        if any(part.query_weight is not None for part in parts):
            weights = ((part, _query_weight(part.query_weight, part.n_lists)) for part in parts)
            query_weight = np.concatenate([part.to_items(weight) for part, weight in weights])
        score, labels, weight = join_columns(parts)
        rows = CheckedRows(labels, score, weight, ids, query_weight, None, None, "y_true")
        return group_scored_rows(rows, lambda checked: labels)

    def result(self, measure: Any) -> float:
        lists = self.lists
        check_all_weights(lists, measure)
        return float(measure.of_lists(lists))


def _query_weight(weight: FloatArray | None, n_lists: int) -> FloatArray:
    return np.ones(n_lists) if weight is None else weight


def check_all_weights(lists: Lists, measure: Any) -> None:
    """Refuse weights that mean nothing to a measure, or whose products overflow float64."""
    if lists.weight is not None and lists.weight.sum() > MAX_WEIGHT_SUM:
        raise ValueError(
            f"sample_weight must sum to at most {MAX_WEIGHT_SUM:g}, or its products overflow"
            " float64: divide the weights by a constant."
        )
    measure._check_weights(lists)


Result = TypeVar("Result")

# Rows of a table that one machine may hold, where there are no ranges.
MAX_TABLE_ROWS = 2**28


class _ChunkResult(NamedTuple):
    """Queries or table of a chunk, and its warnings."""

    data: Any  # None where no row counts
    classes: dict[bool, Any]  # Labels of the negatives and of the positives
    n_matrix_rows: int
    messages: list[Message]
    n_single: int  # Number of lists of one row
    n_lists: int


def _read_chunk(
    columns: dict[str, Any],
    keep: Callable[[ScoredLists, Any], Any],
    measure: Any,
    pos_label: Any,
    shared: dict[str, Any],
) -> _ChunkResult:
    data, lengths = None, np.empty(0, dtype=np.intp)
    with collected() as messages:
        lists, _, classes, n_matrix_rows = read_part(
            measure, **columns, **shared, pos_label=pos_label
        )
        if lists is not None:
            data, lengths = keep(lists, measure), lists.lengths
    n_single = int(np.count_nonzero(lengths == 1))
    return _ChunkResult(data, classes, n_matrix_rows, messages, n_single, len(lengths))


def value_of_collections(
    measure: Any, columns: dict[str, Any], relevant: dict[str, Any], pos_label: Any, **how: Any
) -> Any:
    """Evaluate a measure; ``how`` are ``average`` and ``return_qid`` of its call."""
    measure._check_arguments(**columns, **relevant)
    columns = {name: value for name, value in columns.items() if value is not None}
    shared = {name: value for name, value in relevant.items() if isinstance(value, Mapping)}
    qid, y_true = columns.get("qid"), columns["y_true"]
    rows_are_lists = len(shape_of(y_true)) == 2 and y_true.shape[1] != 1
    if not rows_are_lists and (qid is None or len(shape_of(qid)) == 0):
        if how["return_qid"] and qid is None:
            raise ValueError("return_qid=True needs qid or one list per row: pass qid.")
        values = value_of_one_list(
            measure, parts(**columns, **relevant), pos_label, how["average"]
        )
        return (values, check_qid(qid, 1)) if how["return_qid"] else values
    by_row = {name: value for name, value in relevant.items() if name not in shared}
    return value_of_queries(measure, parts(**columns, **by_row), pos_label, shared, qid, **how)


# ------------------------------------------------------------------------------------- chunks


def _check_chunks(results: Iterable[_ChunkResult | None]) -> dict[int, _ChunkResult]:
    """Chunks with rows that count, of the same two labels; gives a warning of each category."""
    chunks = {number: chunk for number, chunk in enumerate(results) if chunk is not None}
    messages: dict[type[Warning], dict[int, str]] = {}
    for number, chunk in chunks.items():
        for message, category in chunk.messages:
            messages.setdefault(category, {}).setdefault(number, message)
    for category, by_chunk in messages.items():
        number, message = next(iter(by_chunk.items()))
        n_others = len(by_chunk) - 1
        also = f" So it is in {n_others} other chunks." if n_others else ""
        warn(f"chunk {number}: {message}{also}", category)
    with_rows = {number: chunk for number, chunk in chunks.items() if chunk.data is not None}
    if not with_rows:
        raise ValueError(
            "No row has positive sample_weight and query_weight: give at least one row positive"
            " weights."
            if chunks
            else "y_true is empty: pass at least one item."
        )
    labels: dict[bool, tuple[Any, int]] = {}
    for number, chunk in with_rows.items():
        for value, label in chunk.classes.items():
            expected, first = labels.setdefault(value, (label, number))
            if expected != label:
                raise ValueError(
                    f"chunk {number}: y_true has the label {label!r}, but chunk {first} has"
                    f" {expected!r}: a measure of two classes needs the same two labels in all"
                    " chunks."
                )
    return with_rows


# ------------------------------------------------------------------------------------ queries


def value_of_queries(
    measure: Any, rows: Partitions, pos_label: Any, shared: Any, qid: Any, **how: Any
) -> Any:
    if measure.scaled_by_labels:
        highest = rows.map(_highest_grade, measure, pos_label).reduce(max)
        measure = replace(measure, max_grade=highest)
    read = rows.map(_read_chunk, KeptValues.of, measure, pos_label, shared)
    by_number = _check_chunks(rows.compute(*read.values))
    chunks = list(by_number.values())
    if measure.function and "qid" in rows.columns and not shared:
        n_single = sum(chunk.n_single for chunk in chunks)
        refuse_single_rows(measure._title, n_single, sum(chunk.n_lists for chunk in chunks))
    before = accumulate((chunk.n_matrix_rows for chunk in chunks[:-1]), initial=0)
    runs = [c.data.shift_ids(n) if n else c.data for n, c in zip(before, chunks, strict=True)]
    values, order = KeptValues.join(runs)
    again = np.flatnonzero(values.ids[1:] == values.ids[:-1])
    if len(again):
        place = int(again[0])
        chunk_of = np.repeat(list(by_number), [len(run) for run in runs])
        first, second = chunk_of[order[place : place + 2]].tolist()
        raise ValueError(
            f"Query {values.ids[place : place + 1].tolist()[0]!r} has rows in chunks {first} and"
            f" {second}, but its value needs all its rows in one chunk: {how_to_join(qid)}."
        )
    return values.combine(measure, **how)


def _highest_grade(columns: dict[str, Any], measure: Any, pos_label: Any) -> float:
    lists, *_ = read_part(measure, **columns, pos_label=pos_label)
    return 0.0 if lists is None else float(lists.grade.max())


# ----------------------------------------------------------------------------------- one list


def value_of_one_list(
    measure: Any, rows: Partitions, pos_label: Any = None, average: Any = "mean"
) -> Any:
    """Evaluate a measure of all rows as one list. Shape (1,)."""
    if getattr(measure, "convention", None) not in (None, "paper"):
        raise ValueError(
            f"{measure.name} of one list depends on the order of tied rows, so all rows must be in"
            " memory: pass y_true.compute() and y_score.compute(), or qid= of queries that lie"
            " within chunks."
        )
    for name in ("n_relevant", "ideal"):
        if name in rows.columns:
            raise ValueError(
                f"{name} of one list cannot be used chunk by chunk: pass qid, or rows in memory,"
                " y_true.compute() and y_score.compute()."
            )
    table = ListInParts(measure, rows, pos_label)
    if measure.from_ranges is not None and table.in_ranges:
        lists, of_ranges = table.by_ranges(lambda lists, _: measure._values(lists)[0], measure)
        check_all_weights(lists, measure)
        value = float(measure._values(lists)[0])
        if measure.from_ranges == "largest":
            value = max(value, *of_ranges)
        elif not isnan(value):
            value = fsum([value, *(of_range - value for of_range in of_ranges)])
        low, high = measure.range
        value = min(max(value, low), high) if not isnan(value) else value
        return measure._combine(np.array([value]), lists, average)
    value, messages = table.in_one_memory(measure, _value_of_table, measure, average)
    for message, category in messages:
        warn(message, category)
    return value


class ListInParts:
    """The rows of one list, a table of those of each part, which stay where the parts are."""

    def __init__(self, measure: Any, rows: Partitions, pos_label: Any) -> None:
        read = rows.map(_read_chunk, _table_of, measure, pos_label, {}).persisted()
        chunks = _check_chunks(rows.compute(*read.map(_sample).values))
        self.tables = read.map(attrgetter("data"))
        self.samples: list[ScoreTable] = [chunk.data for chunk in chunks.values()]

    @property
    def n_rows(self) -> int:
        return round(sum(float(sample.sizes[0]) for sample in self.samples))

    @property
    def whole(self) -> bool:
        return all(sample.single.whole for sample in self.samples)

    @property
    def in_ranges(self) -> bool:
        """Whether there are so many rows that they are cut into ranges of scores."""
        return need_ranges(self.samples)

    def in_one_memory(
        self, measure: Any, function: Callable[..., Any] = lambda table: table, *arguments: Any
    ) -> Any:
        if self.n_rows > MAX_TABLE_ROWS:
            raise ValueError(
                f"{measure.name} of one list needs all {self.n_rows} distinct rows in memory:"
                " round the scores, which creates ties, or pass y_true.compute() and"
                " y_score.compute()."
            )
        table = self.tables.merged(ScoreTable.joined)
        return self.tables.compute(self.tables.call(function, table, *arguments))[0]

    def by_ranges(
        self, function: Callable[..., Result], measure: Any = None
    ) -> tuple[ScoreTable, list[Result]]:
        """Evaluate the lists in which all ranges but one are tied, where the ranges are.

        Ranges that count nothing in an additive measure stay tied in all.
        """
        additive = measure is not None and is_additive(measure)
        plan = Plan.of(self.samples, measure if additive else None)
        is_mean = measure is None or measure.is_mean_over_ties
        while True:
            edges, opened, range_of = plan.ranges()
            cuts = self.tables.map(cut, edges, opened)
            tied = cuts.map(getitem, 0).merged(merge_tied)
            numbers = zip(np.flatnonzero(opened).tolist(), strict=True)
            values = cuts.map(getitem, 1).gathered(_of_range, numbers, tied, function, is_mean)
            tied, *values = self.tables.compute(tied, *values)
            if not opened.all():
                mass = np.zeros((len(opened), 2))
                mass[tied.score, tied.labels.view(np.uint8)] = tied.weight
                closed = ~opened & (mass > 0).all(axis=1)
                missed = Cells(mass, tied.single).open(measure, closed, mass.sum(axis=1))
                if missed.any():
                    plan = plan._replace(opened=plan.opened | missed[range_of])
                    continue
            return tied, [value for value in values if value is not None]


def _table_of(lists: ScoredLists, measure: Any) -> ScoreTable:
    measure._check_row_weights(lists)
    return ScoreTable.of_rows(lists.score, lists.labels, lists.weight).condensed()


def _sample(chunk: _ChunkResult) -> _ChunkResult:
    return chunk if chunk.data is None else chunk._replace(data=sample_of(chunk.data))


def _value_of_table(table: ScoreTable, measure: Any, average: Any) -> tuple[Any, list[Message]]:
    lists: ScoredLists = table
    if measure.weights == "none" and measure.from_ranges is None:
        counts = table.counts.astype(np.intp)
        label, score = np.repeat(table.labels, counts), np.repeat(table.score, counts)
        lists = ScoredLists(labels=label, offsets=np.array([0, len(label)]), score=score)
    with collected() as messages:
        check_all_weights(lists, measure)
        value = measure.of_lists(lists, average=average)
    return value, messages


def _of_range(
    pieces: list[ScoreTable | None],
    number: int,
    tied: ScoreTable,
    function: Callable[..., Result],
    joined: bool,
) -> Result | None:
    """Value of the list in which all ranges but one are tied; None where that one is empty."""
    tables = [piece for piece in pieces if piece is not None]
    if not tables:
        return None
    with collected():  # the same are given of the list with all ranges tied
        return function(refined(tied, number, ScoreTable.joined(tables), joined=joined), tied)
