"""Rows grouped into lists, one list per query: the internal form of ranked data.

A list is the items of one query, a run of consecutive rows here, wherever its rows stood before.
Rows of weight 0 are absent. Everything that works list by list, metrics, losses, rankers and
inference, takes this type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from ._blocks import ClassBlocks, class_blocks, top_class_blocks
from ._codes import Coded, distinct_codes, offsets_from, stable_order
from ._order import leading, ragged_ranges
from ._query_memory import TrainingQueries
from ._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._validation import (
    CheckedRows,
    check_grades,
    check_positive,
    check_rows,
    check_scores_of_rows,
)

__all__ = [
    "Kind",
    "LabelType",
    "Lists",
    "ScoredLists",
    "check_lists",
    "check_scored_lists",
    "group_rows",
    "group_scored_rows",
    "refuse_single_rows",
]

Kind: TypeAlias = Literal["binary", "graded"]
AnyLists = TypeVar("AnyLists", bound="Lists")


@dataclass(frozen=True, eq=False)
class Lists:
    """Labelled items, list by list."""

    labels: AnyArray
    offsets: IntArray  # (n_lists + 1,): Where each list begins, and n; no list is empty
    weight: FloatArray | None = None
    ids: AnyArray | None = None
    query_weight: FloatArray | None = None
    rows: IntArray | None = None
    given: TrainingQueries | None = None
    draws: float | None = None

    @property
    def positive(self) -> BoolArray:
        """Whether each item is positive, for lists of two classes."""
        return self.labels

    @property
    def grade(self) -> FloatArray:
        """Grade of each item, or its utility, for graded lists."""
        return self.labels

    @property
    def n_lists(self) -> int:
        """Number of lists."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        """Number of items of each list, each counted once."""
        return np.diff(self.offsets)

    @cached_property
    def sizes(self) -> FloatArray:
        """Weight of the items of each list."""
        if self.weight is None:
            return self.lengths.astype(np.float64)
        return np.add.reduceat(self.weight, self.offsets[:-1])

    @cached_property
    def positives(self) -> FloatArray:
        """Weight of the positives of each list, for lists of two classes."""
        if self.weight is not None:
            return np.add.reduceat(np.where(self.labels, self.weight, 0.0), self.offsets[:-1])
        if self.n_lists == 1:
            return np.array([float(np.count_nonzero(self.labels))])
        return np.add.reduceat(self.labels, self.offsets[:-1], dtype=np.float64)

    @property
    def counts(self) -> FloatArray:
        """How often each item counts."""
        return np.ones(len(self.labels)) if self.weight is None else self.weight

    @cached_property
    def whole(self) -> BoolArray:
        """Whether all weights of the list are whole numbers: repetitions."""
        if self.weight is None:
            return np.ones(self.n_lists, dtype=bool)
        return np.logical_and.reduceat(self.weight == np.floor(self.weight), self.offsets[:-1])

    @cached_property
    def smallest(self) -> FloatArray:
        """Smallest weight of each list."""
        if self.weight is None:
            return np.ones(self.n_lists)
        return np.minimum.reduceat(self.weight, self.offsets[:-1])

    @property
    def list_of(self) -> IntArray:
        """List of each item."""
        return np.repeat(np.arange(self.n_lists), self.lengths)

    def to_items(self, by_list: AnyArray) -> Any:
        """Give each item the value of its list. One value per item. Shape (n,)."""
        return np.repeat(by_list, self.lengths)

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum the values of the items of each list, each item counted once. Shape (n_lists,)."""
        return np.add.reduceat(values, self.offsets[:-1])

    def weighted_totals(self, values: FloatArray) -> FloatArray:
        """Sum the values of the items of each list, items counted by their weights.

        Shape (n_lists,).
        """
        return self.totals(values if self.weight is None else self.weight * values)

    def largest(self, values: FloatArray) -> FloatArray:
        """Find the largest value of each list. Shape (n_lists,)."""
        return np.maximum.reduceat(values, self.offsets[:-1])

    def with_labels(self: AnyLists, labels: AnyArray) -> AnyLists:
        """Replace the labels, as grades by utilities. The same lists with these."""
        return replace(self, labels=labels)

    def only(self, kept: BoolArray) -> Lists:
        """Keep some lists."""
        if kept.all():
            return self
        items = np.flatnonzero(self.to_items(kept))
        return Lists(
            labels=self.labels[items],
            offsets=np.append(0, np.cumsum(self.lengths[kept])),
            weight=None if self.weight is None else self.weight[items],
            ids=None if self.ids is None else self.ids[kept],
            query_weight=None if self.query_weight is None else self.query_weight[kept],
            rows=items if self.rows is None else self.rows[items],
            given=self.given,
        )

    def part(self, start: int, stop: int) -> Lists:
        """Take consecutive lists, without copying their items."""
        items = slice(self.offsets[start], self.offsets[stop])
        return Lists(
            labels=self.labels[items],
            offsets=self.offsets[start : stop + 1] - self.offsets[start],
            weight=None if self.weight is None else self.weight[items],
            ids=None if self.ids is None else self.ids[start:stop],
            query_weight=None if self.query_weight is None else self.query_weight[start:stop],
            rows=None if self.rows is None else self.rows[items],
        )

    def to_rows(self, values: FloatArray, n_rows: int) -> FloatArray:
        """Put values of the items back into the order of the user's rows. Shape (n_rows,)."""
        if self.rows is None:
            return values
        by_row = np.full(n_rows, np.nan)
        by_row[self.rows] = values
        return by_row

    def name_of(self, index: int) -> str:
        """Name a list, for messages."""
        return (
            "the list" if self.ids is None else f"the list with qid {self.ids.tolist()[index]!r}"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredLists(Lists):
    """Labelled items with scores, list by list."""

    score: AnyArray
    n_relevant: FloatArray | None = None
    ideal: Lists | None = None

    def scored_by(self, y_score: Any, shape: tuple[int, ...]) -> ScoredLists:
        """Take other scores of the rows from which the lists were made."""
        return replace(self, score=check_scores_of_rows(y_score, shape, self.rows))

    def leading(self, counts: Any) -> ScoredLists:
        """Keep the items that can be among the first of their list, ties at the cut included."""
        # The first k items make up a weight of k where no weight is less than 1.
        if counts is None or (self.weight is not None and self.weight.min() < 1.0):
            return self
        # Larger numbers of items than the longest list are equivalent to its length.
        wanted = np.ceil(np.minimum(counts, self.lengths)).astype(np.intp)
        rows = leading(self.score, wanted, self.offsets)
        if rows is None:
            return self
        return replace(
            self,
            labels=self.labels[rows],
            score=self.score[rows],
            weight=None if self.weight is None else self.weight[rows],
            rows=rows if self.rows is None else self.rows[rows],
            offsets=np.searchsorted(rows, self.offsets),
        )

    def blocks(self, *, of_negatives: bool = False, joined: bool = True) -> ClassBlocks:
        """Find the blocks of tied items that hold positives, or negatives."""
        in_class = ~self.positive if of_negatives else self.positive
        return class_blocks(self.score, in_class, self.weight, self.offsets, joined=joined)

    def top_blocks(self, *, of_negatives: bool = False) -> ClassBlocks:
        """Find the topmost block of each list that holds positives, or negatives."""
        if self.weight is not None:
            return self.blocks(of_negatives=of_negatives)
        in_class = ~self.positive if of_negatives else self.positive
        return top_class_blocks(self.score, in_class, self.offsets)


@dataclass(frozen=True)
class LabelType:
    """Type of labels: classes or grades, and how they are read."""

    kind: Kind  # Whether they are of two classes, or grades
    pos_label: Any = None
    lowest: float = 0.0  # Smallest grade that is allowed
    name: str = "y_true"  # What the labels are called in messages
    rel: float | None = None

    def read(self, checked: CheckedRows) -> AnyArray:
        """Read the labels of checked rows. Whether each is positive, or its grade. Shape (n,)."""
        if self.kind == "binary":
            if self.rel is None:
                return check_positive(checked, self.pos_label)
            if self.pos_label is not None:
                raise ValueError(
                    f"pos_label={self.pos_label!r} sets a class and rel={self.rel:g} a grade:"
                    " leave out one of the two."
                )
            return check_grades(checked, -np.inf) >= self.rel
        if self.pos_label is not None:
            return check_positive(checked, self.pos_label).astype(np.float64)
        return check_grades(checked, self.lowest)


def check_lists(
    labels: Any,
    label_type: LabelType,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    drop_queries_of_weight_0: bool = False,
    by_appearance: bool = False,
) -> Lists:
    """Make lists from labels that have no scores. The lists, by ascending id or by appearance."""
    checked = check_rows(
        labels,
        None,
        name=label_type.name,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        drop_queries_of_weight_0=drop_queries_of_weight_0,
    )
    shared, order = _grouped(checked, by_appearance=by_appearance)
    values = label_type.read(checked)
    return Lists(labels=values if order is None else values[order], **shared)


def check_scored_lists(
    y_true: Any,
    y_score: Any,
    label_type: LabelType,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
) -> ScoredLists:
    """Make lists from labels and scores. The lists, by ascending id."""
    checked = check_rows(
        y_true,
        y_score,
        name=label_type.name,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
    )
    return group_scored_rows(checked, label_type.read)


def group_scored_rows(
    checked: CheckedRows, read: Callable[[CheckedRows], AnyArray]
) -> ScoredLists:
    """Make lists from checked rows that have scores. The lists, by ascending id."""
    shared, order = _grouped(checked)
    values, score = read(checked), checked.scores
    if order is not None:
        values, score = values[order], score[order]
    return ScoredLists(labels=values, score=score, **shared)


def _grouped(
    checked: CheckedRows, *, by_appearance: bool = False
) -> tuple[dict[str, Any], IntArray | None]:
    """What all lists have, and the order of the checked rows that makes them consecutive."""
    weight, by_row, rows = checked.weight, checked.query_weight, checked.rows
    if checked.qid is None:
        offsets, ids, order = np.array([0, len(checked.labels)]), None, None
    else:
        ids, offsets, order = group_rows(checked.qid, by_appearance=by_appearance)
        if order is not None:
            weight = None if weight is None else weight[order]
            by_row = None if by_row is None else by_row[order]
            rows = order if rows is None else rows[order]
    shared = {"offsets": offsets, "ids": ids, "weight": weight, "rows": rows}
    return {**shared, "query_weight": _by_list(by_row, offsets, ids)}, order


def _by_list(
    by_row: FloatArray | None, offsets: IntArray, ids: AnyArray | None
) -> FloatArray | None:
    """Weight of each list from that of its rows."""
    if by_row is None:
        return None
    weight = by_row[offsets[:-1]]
    differs = by_row != np.repeat(weight, np.diff(offsets))
    if differs.any():
        bad = int(np.searchsorted(offsets, int(np.argmax(differs)), "right")) - 1
        where = "the list" if ids is None else f"the query {ids.tolist()[bad]!r}"
        raise ValueError(
            f"query_weight differs within {where}: pass one weight per row that is the same for"
            " all rows of a query."
        )
    if not weight.any():
        raise ValueError("query_weight is zero for all queries: give one query a positive weight.")
    return weight


def refuse_single_rows(name: str, n_single: int, n_lists: int) -> None:
    """Raise an error if most lists have one row, so that ids seem to be those of rows."""
    if n_lists > 1 and 2 * n_single > n_lists:
        raise ValueError(
            f"{name} got a qid for which {n_single} of {n_lists} queries have only one row: qid "
            "seems to contain ids of rows. Pass the id of the query of each row, which is the "
            "same for all rows that are ranked against each other, and remove queries of one "
            "row if there really are so many."
        )


def group_rows(
    qid: AnyArray | Coded, *, by_appearance: bool = False
) -> tuple[AnyArray, IntArray, IntArray | None]:
    """Find the rows of each query."""
    starts = _changes(qid.codes if isinstance(qid, Coded) else qid)
    if not isinstance(qid, Coded) and qid.dtype.kind != "O":
        heads = qid[starts]
        if np.all(heads[1:] > heads[:-1]):
            return heads, np.append(starts, len(qid)), None
    if 2 * len(starts) > len(qid):  # few rows of a query are adjacent
        ids, code = _ascending(qid)
        ids, code = _by_appearance(ids, code) if by_appearance else (ids, code)
        sizes = np.bincount(code)
    else:
        ids, code = _ascending(qid[starts])
        ids, code = _by_appearance(ids, code) if by_appearance else (ids, code)
        sizes = np.bincount(code, weights=np.diff(starts, append=len(qid))).astype(np.intp)
    offsets = np.append(0, np.cumsum(sizes))
    if np.all(code[1:] >= code[:-1]):
        return ids, offsets, None
    order = stable_order(code)
    if len(order) < len(qid):
        order = ragged_ranges(starts[order], np.diff(starts, append=len(qid))[order])
    return ids, offsets, order


def _by_appearance(ids: AnyArray, code: IntArray) -> tuple[AnyArray, IntArray]:
    """Order ids by their first places; of repeated indices NumPy keeps the last value."""
    first = np.empty(len(ids), dtype=np.intp)
    first[code[::-1]] = np.arange(len(code))[::-1]
    order = np.argsort(first)
    place = np.empty(len(ids), dtype=np.intp)
    place[order] = np.arange(len(ids))
    return ids[order], place[code]


def _changes(qid: AnyArray) -> IntArray:
    """Rows whose id is not that of the row before."""
    new = np.ones(len(qid), dtype=bool)
    new[1:] = qid[1:] != qid[:-1]
    return np.flatnonzero(new)


def _ascending(heads: AnyArray | Coded) -> tuple[AnyArray, IntArray]:
    """Distinct ids, ascending, and the place of each head among them."""
    if not isinstance(heads, Coded):
        if heads.dtype.kind not in "OSU":
            return _ascending_numbers(heads)
        heads = distinct_codes(heads)
    heads = heads.used()
    try:
        order = np.argsort(heads.distinct)
    except TypeError:
        raise ValueError(
            "qid mixes ids of different types: make them all numbers or all strings."
        ) from None
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return heads.distinct[order], place[heads.codes]


def _ascending_numbers(heads: AnyArray) -> tuple[AnyArray, IntArray]:
    """Distinct numbers or dates, ascending, and the place of each head among them."""
    if heads.dtype.kind in "iu":
        lowest = heads.min()
        span = int(heads.max()) - int(lowest)
        if span <= 4 * len(heads):
            return _ascending_codes(heads, lowest, span)
    ids, code = np.unique(heads, return_inverse=True)
    return ids, code


def _ascending_codes(heads: AnyArray, lowest: Any, span: int) -> tuple[AnyArray, IntArray]:
    """The same, for integers that lie so close that a table of them pays."""
    offset = offsets_from(heads, lowest)
    taken = np.zeros(span + 1, dtype=bool)
    taken[offset] = True
    place = np.cumsum(taken) - 1
    return (np.flatnonzero(taken) + lowest).astype(heads.dtype), place[offset]
