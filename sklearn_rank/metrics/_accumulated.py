"""Data that an accumulator keeps: a table of one list, the values of queries, or all rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from .._lists import Lists, ScoredLists, group_scored_rows
from .._typing import AnyArray, FloatArray
from .._validation import LARGEST_WEIGHT, CheckedRows, check_qid
from ._score_table import ScoreTable

# Rows that may wait unmerged beside a small table.
FEW = 2**18


class Kept(ABC):
    """Base class of the data that an accumulator keeps."""

    @abstractmethod
    def add(self, lists: ScoredLists, measure: Any) -> None:
        """Add the lists of one update; nothing is changed if that fails."""

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Add the data of another one of the same type; nothing is changed if that fails."""

    def shifted(self, first: int) -> Kept:
        """Renumber lists whose ids are numbers of rows of two dimensions."""
        raise TypeError(f"{type(self).__name__} has no lists to renumber.")

    @abstractmethod
    def result(self, measure: Any) -> float:
        """Evaluate the measure."""


class KeptTable(Kept):
    """One list, as a table of its distinct rows.

    Rows wait until they are as many as those of the table into which they are merged, or four
    times as many where hardly any are equal, so that n rows take time O(n log n) however many
    updates brought them.
    """

    def __init__(self, max_items: float = inf) -> None:
        self._max_items = max_items
        self._table: ScoreTable | None = None
        self._rows: list[ScoredLists] = []
        self._waiting: list[ScoreTable] = []
        self._n_waiting = 0
        self._times = 1

    def add(self, lists: ScoredLists, measure: Any) -> None:
        """Add the rows of one list."""
        measure._check_row_weights(lists)
        self._rows.append(_copied(lists))
        self._wait(len(lists.labels))

    def merge(self, other: KeptTable) -> None:
        """Add the rows of another one."""
        for table in other.tables():
            self._waiting.append(table)
            self._wait(len(table))

    def tables(self) -> list[ScoreTable]:
        """Find the tables that all rows are in. Tables that may share rows."""
        tables = [] if self._table is None else [self._table]
        if self._rows:
            score, labels, weight = joined_columns(self._rows)
            tables.append(ScoreTable.of_rows(score, labels, weight))
        return [*tables, *self._waiting]

    def _wait(self, n: int) -> None:
        self._n_waiting += n
        known = 0 if self._table is None else len(self._table)
        if self._n_waiting > min(max(FEW, self._times * known), self._max_items):
            self._merge()

    def _merge(self) -> ScoreTable:
        if self._n_waiting or self._table is None:
            n = self._n_waiting + (0 if self._table is None else len(self._table))
            tables = self.tables()
            self._rows, self._waiting, self._n_waiting = [], [], 0
            self._table = ScoreTable.merged(tables)
            self._times = 4 if 2 * len(self._table) > n else 1
        return self._table

    @property
    def is_full(self) -> bool:
        """Whether the table has more items than the limit."""
        return self._table is not None and len(self._table) > self._max_items

    @property
    def table(self) -> ScoreTable:
        """The table of all rows."""
        return self._merge()

    def result(self, measure: Any) -> float:
        """Evaluate the measure."""
        lists = self.table.to_lists()
        refuse_large_weights(lists)
        measure._check_weights(lists)
        return float(measure.of_lists(lists))


@dataclass(frozen=True, eq=False)
class QueryValues:
    """Value of a measure of each query."""

    ids: AnyArray  # (n_queries,)
    values: FloatArray  # (n_queries,): Values; NaN where a query has none
    query_weight: FloatArray | None  # (n_queries,): Weights in the mean; None is 1 for each

    def __len__(self) -> int:
        return len(self.ids)

    def merge(self, other: QueryValues) -> QueryValues:
        """Join the values of other queries. All of them."""
        ids = np.concatenate(_alike(self.ids, other.ids))
        order = _sorted_ids(ids)
        values = np.concatenate([self.values, other.values])[order]
        if self.query_weight is None and other.query_weight is None:
            return QueryValues(ids[order], values, None)
        weight = np.concatenate([_query_weight(one.to_lists()) for one in (self, other)])
        return QueryValues(ids[order], values, weight[order])

    def shared_with(self, other: QueryValues) -> Any:
        """Find a query that is in both. Its id; None if there is none."""
        few, many = sorted(_alike(self.ids, other.ids), key=len)
        try:
            if few[0] > many[-1] or few[-1] < many[0]:
                return None
            place = np.minimum(np.searchsorted(many, few), len(many) - 1)
        except TypeError:
            raise ValueError(_MIXED_IDS) from None
        found = np.flatnonzero(many[place] == few)
        return few[found[:1]].tolist()[0] if len(found) else None

    def to_lists(self) -> Lists:
        """Make lists that have ids and weights, and no items. One for each query."""
        return Lists(
            labels=np.empty(0),
            offsets=np.zeros(len(self) + 1, dtype=np.intp),
            ids=self.ids,
            query_weight=self.query_weight,
        )


_MIXED_IDS = "qid has ids of different types: make them all numbers or all strings."


def _alike(*ids: AnyArray) -> list[AnyArray]:
    """Ids in one common type that keeps their equality."""
    kinds = {one.dtype.kind for one in ids}
    dtype = np.dtype(object)  # numbers that float64 would round compare by value as objects
    if len(kinds) == 1 or kinds <= set("SU") or kinds <= set("iu"):
        joined = np.result_type(*ids)
        dtype = joined if len(kinds) == 1 or joined.kind != "f" else dtype
    return [one.astype(dtype, copy=False) for one in ids]


def _sorted_ids(ids: AnyArray) -> Any:
    try:
        return np.argsort(ids, kind="stable")
    except TypeError:
        raise ValueError(_MIXED_IDS) from None


class KeptQueries(Kept):
    """Values of queries, each passed completely in one update.

    They stand in sorted runs, each at least twice as long as the next, so that a query that comes
    again is found in the update that brings it.
    """

    def __init__(self) -> None:
        self._runs: list[QueryValues] = []

    def add(self, lists: ScoredLists, measure: Any) -> None:
        """Evaluate the measure on the queries of one update."""
        if measure.scaled_by_labels and np.any((lists.labels != 0) & (lists.labels != 1)):
            raise ValueError(
                f"{measure.name} has no max_grade, so its scale depends on the highest grade of"
                " all queries, but one update has only some of them (highest grade"
                f" {lists.labels.max():g}): pass the measure with max_grade=, the highest grade of"
                " the scale, or queries='split', which keeps all rows."
            )
        measure._check_weights(lists)
        self._add([QueryValues(np.asarray(lists.ids), measure._values(lists), lists.query_weight)])

    def merge(self, other: KeptQueries) -> None:
        """Add the values of another one."""
        self._add(list(other._runs))

    def _add(self, runs: list[QueryValues]) -> None:
        for run in runs:
            for known in self._runs:
                if (found := known.shared_with(run)) is not None:
                    raise ValueError(
                        f"Query {found!r} has rows in two updates, but its value needs all its"
                        " rows in one update: sort or partition the data by query, or pass"
                        " queries='split', which keeps all rows until result()."
                    )
        for run in runs:
            self._runs.append(run)
            while len(self._runs) > 1 and 2 * len(self._runs[-1]) > len(self._runs[-2]):
                last = self._runs.pop()
                self._runs[-1] = self._runs[-1].merge(last)

    @classmethod
    def joined(cls, parts: Sequence[tuple[int, KeptQueries]], remedy: str) -> KeptQueries:
        """Join the queries of chunks. All of them."""
        runs = [part.values for _, part in parts]
        ids = np.concatenate(_alike(*(run.ids for run in runs)))
        order = _sorted_ids(ids)
        ids = ids[order]
        again = np.flatnonzero(ids[1:] == ids[:-1])
        if len(again):
            first = int(again[0])
            chunk_of = np.repeat([number for number, _ in parts], [len(run) for run in runs])
            chunks = chunk_of[order[first : first + 2]].tolist()
            found = ids[first : first + 1].tolist()[0]
            raise ValueError(
                f"Query {found!r} has rows in chunks {chunks[0]} and {chunks[1]}, but its value"
                f" needs all its rows in one chunk: {remedy}."
            )
        values = np.concatenate([run.values for run in runs])[order]
        weight = None
        if any(run.query_weight is not None for run in runs):
            weight = np.concatenate([_query_weight(run.to_lists()) for run in runs])[order]
        kept = cls()
        kept._runs = [QueryValues(ids, values, weight)]
        return kept

    def shifted(self, first: int) -> KeptQueries:
        """Renumber lists whose ids are numbers of rows of two dimensions."""
        moved = copy(self)
        moved._runs = [replace(run, ids=run.ids + first) for run in self._runs]
        return moved

    @property
    def values(self) -> QueryValues:
        """The values of all queries, by ascending id."""
        while len(self._runs) > 1:
            last = self._runs.pop()
            self._runs[-1] = self._runs[-1].merge(last)
        return self._runs[0]

    def result(self, measure: Any) -> float:
        """Evaluate the measure. Its mean over the queries."""
        return float(self.combined(measure, "mean", False))

    def combined(self, measure: Any, average: Any, return_qid: bool) -> Any:
        """Give the mean, or all values. As :meth:`Measure.of_lists` gives it."""
        values = self.values
        if values.query_weight is not None and not values.query_weight.any():
            raise ValueError(NO_QUERY_COUNTS)
        return measure._combined(values.values, values.to_lists(), average, return_qid)


class KeptRows(Kept):
    """All rows, for measures that need them."""

    def __init__(self) -> None:
        self._parts: list[ScoredLists] = []

    def add(self, lists: ScoredLists, measure: Any) -> None:
        """Add the rows of the lists of one update."""
        measure._check_row_weights(lists)
        self._parts.append(_copied(lists))

    def merge(self, other: KeptRows) -> None:
        """Add the rows of another one."""
        self._parts.extend(list(other._parts))

    def shifted(self, first: int) -> KeptRows:
        """Renumber lists whose ids are numbers of rows of two dimensions."""
        moved = KeptRows()
        moved._parts = [
            part if part.ids is None else replace(part, ids=part.ids + first)
            for part in self._parts
        ]
        return moved

    @property
    def lists(self) -> ScoredLists:
        """The lists of all rows."""
        parts = self._parts
        ids: AnyArray | None = None
        query_weight = None
        for part in parts:
            if part.ids is not None:
                by_row = np.repeat(part.ids, part.lengths)
                ids = by_row if ids is None else np.concatenate(_alike(ids, by_row))
        if any(part.query_weight is not None for part in parts):
            query_weight = np.concatenate([part.to_items(_query_weight(part)) for part in parts])
        score, labels, weight = joined_columns(parts)
        rows = CheckedRows(
            labels=labels,
            score=score,
            weight=weight,
            qid=None if ids is None else check_qid(ids, len(ids)),
            query_weight=query_weight,
            rows=None,
            n_columns=None,
            name="y_true",
        )
        return group_scored_rows(rows, lambda checked: labels)

    def result(self, measure: Any) -> float:
        """Evaluate the measure. Its value, or the mean over the queries."""
        lists = self.lists
        refuse_large_weights(lists)
        measure._check_weights(lists)
        return float(measure.of_lists(lists))


NO_QUERY_COUNTS = "query_weight is zero for all queries: give one query a positive weight."


def _copied(lists: ScoredLists) -> ScoredLists:
    """Copy of the lists, because the caller may change the arrays."""
    return replace(
        lists,
        labels=lists.labels.copy(),
        score=lists.score.copy(),
        weight=None if lists.weight is None else lists.weight.copy(),
    )


def joined_columns(
    parts: list[ScoredLists],
) -> tuple[AnyArray, AnyArray, FloatArray | None]:
    """Lay the rows of several lists end to end."""
    weight = None
    if any(part.weight is not None for part in parts):
        weight = np.concatenate([part.counts for part in parts])
    score = np.concatenate([part.score for part in parts])
    return score, np.concatenate([part.labels for part in parts]), weight


def _query_weight(lists: Lists) -> FloatArray:
    return np.ones(lists.n_lists) if lists.query_weight is None else lists.query_weight


def refuse_large_weights(lists: Lists) -> None:
    """Raise an error for weights whose sum is so large that products with it overflow float64."""
    if lists.weight is not None and lists.weight.sum() > LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight must sum to at most {LARGEST_WEIGHT:g}, or its products overflow"
            " float64: divide the weights by a constant."
        )
