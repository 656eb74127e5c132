"""Tables of the distinct pairs of score and label of one list, with their weights.

Let C be the list in which all items of a range of scores are tied, for each of some ranges, and
F_r the same in which those of range r have their own scores again. Measures that are sums over
tied blocks, of what is in a block and how much is above and below it, have the value
``V(C) + sum over r of (V(F_r) - V(C))`` of the full list, since a block of range r is the same in
it as in F_r. Each F_r has the rows of one range, and one row for each other range and label, so
that ranges of about equal size can be evaluated on as many machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from .._lists import ScoredLists
from .._order import ClassBlocks, sorted_class_blocks
from .._typing import AnyArray, BoolArray, FloatArray

# Rows of one list, of lists with ids, or of one list in each row of two dimensions.
Form: TypeAlias = Literal["list", "ids", "rows"]


@dataclass(frozen=True, eq=False)
class Part:
    """What the rows of one part are."""

    lists: ScoredLists | None  # Their lists; None where there are no rows, or where none counts
    form: Form
    classes: dict[bool, Any]
    n_matrix_rows: int  # Number of rows of two dimensions


def read_part(
    measure: Any, y_true: Any, y_score: Any, *, pos_label: Any = None, **arguments: Any
) -> Part:
    """Read rows of which others may be elsewhere: a part may hold one class only, or nothing."""
    measure._check_arguments(**arguments)
    qid, sample_weight, query_weight = (
        arguments.get(name) for name in ("qid", "sample_weight", "query_weight")
    )
    shape = _shape(y_true)
    n_matrix_rows = shape[0] if len(shape) == 2 else 0
    form: Form = "list" if qid is None else "ids"
    is_empty = shape[:1] == (0,) and _shape(y_score)[:1] == (0,)
    fits = sample_weight is not None and _shape(y_score)[: len(shape)] == shape
    if is_empty or (fits and _all_zero(sample_weight, shape)):
        return Part(None, form, {}, n_matrix_rows)
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
    return Part(replace(lists, rows=None), form, classes, n_matrix_rows)


def check_classes_known(measure: Any) -> None:
    """Refuse a measure of many classes that does not know them, since a part may miss some."""
    if measure.by_class and getattr(measure, "labels", None) is None:
        raise ValueError(
            f"{measure.name} has no labels=, and a batch may lack some classes: pass"
            " get_measure(..., labels=), the class of each column of the scores."
        )


def _classes_of(measure: Any, pos_label: Any, lists: ScoredLists, y_true: Any) -> dict[bool, Any]:
    """Labels of the negatives and of the positives, where labels are classes."""
    if measure.by_class or not (measure.kind == "binary" or pos_label is not None):
        return {}
    if measure.label_type(pos_label).rel is not None:
        return {}
    positive = lists.labels if lists.labels.dtype.kind == "b" else lists.labels == 1
    classes = {}
    for value in (False, True):
        place = int(np.argmax(positive == value))
        if positive[place] == value:
            row = place if lists.rows is None else int(lists.rows[place])
            classes[value] = np.asarray(y_true).ravel()[row : row + 1].tolist()[0]
    return classes


def _all_zero(weight: Any, shape: tuple[int, ...]) -> bool:
    """Whether weights of a shape are all 0, so that nothing of what they weigh counts."""
    array: AnyArray = np.asarray(weight)
    return array.shape == shape and array.dtype.kind in "biuf" and not array.any()


def _shape(values: Any) -> tuple[int, ...]:
    try:
        return np.shape(values)
    except ValueError:  # rows of different lengths, which are refused where they are read
        return (-1,)


_Columns: TypeAlias = tuple[AnyArray, AnyArray, FloatArray | None]

# Rows from which compiled loops pay.
MANY = 2**15

_EMPTY = np.empty(0)


@dataclass(frozen=True)
class SingleWeights:
    """What is known of the weights of single rows, which a table adds up."""

    n_rows: int  # Number of rows, each counted once
    lightest: float = 1.0  # Smallest weight
    heaviest: float = 1.0  # Largest weight
    whole: bool = True  # Whether all are whole numbers

    @classmethod
    def of_rows(cls, n_rows: int, weight: FloatArray | None) -> SingleWeights:
        if weight is None:
            return cls(n_rows)
        whole = bool(np.all(weight == np.floor(weight)))
        return cls(n_rows, float(weight.min()), float(weight.max()), whole)

    def __or__(self, other: SingleWeights) -> SingleWeights:
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        return SingleWeights(
            self.n_rows + other.n_rows,
            min(self.lightest, other.lightest),
            max(self.heaviest, other.heaviest),
            self.whole and other.whole,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TableLists(ScoredLists):
    """One list whose equal rows stand as one of their weight."""

    single: SingleWeights  # What is known of the weights of the rows

    @classmethod
    def of(
        cls, score: AnyArray, label: AnyArray, weight: FloatArray | None, single: SingleWeights
    ) -> TableLists:
        offsets = np.array([0, len(score)])
        return cls(labels=label, offsets=offsets, weight=weight, score=score, single=single)

    @classmethod
    def of_blocks(cls, neg: FloatArray, pos: FloatArray, single: SingleWeights) -> TableLists:
        """Make one list of blocks of tied items. The list; its scores are numbers of blocks."""
        weight = np.stack([neg, pos], axis=1).ravel()
        some = np.flatnonzero(weight)
        return cls.of(some >> 1, (some & 1).astype(bool), weight[some], single)

    def blocks(self, *, of_negatives: bool = False, joined: bool = True) -> ClassBlocks:
        in_class = ~self.positive if of_negatives else self.positive
        return sorted_class_blocks(self.score, in_class, self.weight, joined=joined)

    def top_blocks(self, *, of_negatives: bool = False) -> ClassBlocks:
        return self.blocks(of_negatives=of_negatives)

    @cached_property
    def whole(self) -> BoolArray:
        return np.array([self.single.whole])

    @cached_property
    def smallest(self) -> FloatArray:
        return np.array([self.single.lightest])


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Distinct pairs of a score and a label, and how often each occurs.

    Tables are not changed once they are made. A row takes the bytes of its score, of its label (1
    of a class, 8 of a grade) and, where a row occurs more than once, 8 of its weight.
    """

    score: AnyArray  # (n,): Scores without NaN, ascending
    label: AnyArray
    weight: FloatArray | None  # (n,): How often each counts; None is 1 for each
    single: SingleWeights  # What is known of the weights of the rows of which the table was made

    @classmethod
    def of_rows(
        cls, score: AnyArray, label: AnyArray, weight: FloatArray | None = None
    ) -> ScoreTable:
        single = SingleWeights.of_rows(len(score), weight)
        # Adding 0 makes one zero of both.
        small = score.dtype.itemsize <= 2 or score.dtype == np.float32
        score = score.astype("f4" if small and label.dtype.kind == "b" else "f8")
        score += 0.0
        return cls(*_collapse((score, label, weight)), single)

    @classmethod
    def merged(cls, tables: Sequence[ScoreTable]) -> ScoreTable:
        if len(tables) == 1:
            return tables[0]
        single = SingleWeights(0)
        for table in tables:
            single |= table.single
        if sum(map(len, tables)) < MANY:
            score = np.concatenate([table.score for table in tables])
            label, weight = np.concatenate([table.label for table in tables]), None
            if any(table.weight is not None for table in tables):
                weight = np.concatenate([table.counts for table in tables])
            return cls(*_collapse((score, label, weight)), single)
        runs = [(table.score, table.label, table.weight) for table in tables]
        while len(runs) > 1:
            # The shortest first, so that no row is moved more often than needed.
            runs.sort(key=lambda run: -len(run[0]))
            runs.append(_merge_runs(runs.pop(), runs.pop()))
        return cls(*runs[0], single)

    def merge(self, other: ScoreTable) -> ScoreTable:
        return ScoreTable.merged([self, other])

    def __len__(self) -> int:
        return len(self.score)

    @property
    def counts(self) -> FloatArray:
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def n_rows(self) -> int:
        """Number of rows of which the table was made, each counted once."""
        return self.single.n_rows

    @property
    def nbytes(self) -> int:
        weight = 0 if self.weight is None else self.weight.nbytes
        return self.score.nbytes + self.label.nbytes + weight

    def to_lists(self) -> TableLists:
        return TableLists.of(self.score, self.label, self.weight, self.single)


def _collapse(columns: _Columns) -> _Columns:
    """Sort rows by score and label, and make one of equal ones."""
    score, label, weight = columns
    if len(score) >= MANY and label.dtype.kind == "b":
        return _merge_runs(_of_class(columns, label), _of_class(columns, ~label))
    # The stable sorts below take linear time for a few sorted runs.
    order = np.lexsort((label, score))
    score, label = score[order], label[order]
    new = np.ones(len(score), dtype=bool)
    new[1:] = (score[1:] != score[:-1]) | (label[1:] != label[:-1])
    weight = None if weight is None else weight[order]
    if new.all():
        return score, label, weight
    starts = np.flatnonzero(new)
    if weight is None:
        weight = np.diff(starts, append=len(score)).astype(np.float64)
    else:
        weight = np.add.reduceat(weight, starts)
    return score[starts], label[starts], weight


def _of_class(columns: _Columns, rows: BoolArray) -> _Columns:
    """Rows of one class by ascending score: sorts of values alone are the fastest."""
    score, label, weight = columns
    score, label = score[rows], label[rows]
    if weight is None:
        score.sort()
        return score, label, None
    order = np.argsort(score)
    return score[order], label, weight[rows][order]


def _merge_runs(first: _Columns, second: _Columns) -> _Columns:
    """Merge two sorted runs of rows, in linear time."""
    if not len(second[0]):
        first, second = second, first  # the kernel looks at the first row of the second
    dtype = np.promote_types(first[0].dtype, second[0].dtype)
    of_classes = first[1].dtype.kind == "b"
    runs = []
    for score, label, weight in (first, second):
        label = label.view(np.uint8) if of_classes else label
        runs.append((score.astype(dtype, copy=False), label, _EMPTY if weight is None else weight))
    from ._kernels import joins

    join = joins[dtype.str[1:], "b1" if of_classes else "f8"]
    most = len(first[0]) + len(second[0])
    to_score, to_label = np.empty(most, dtype), np.empty(most, runs[0][1].dtype)
    weighs = first[2] is not None or second[2] is not None
    to_weight = np.empty(most if weighs else 0)
    n, repeated = join(*runs, (to_score, to_label, to_weight))
    if repeated and not weighs:
        to_weight = np.empty(n)
        join(*runs, (to_score, to_label, to_weight))
    if n < most:
        to_score, to_label, to_weight = (x[:n].copy() for x in (to_score, to_label, to_weight))
    to_label = to_label.view(bool) if of_classes else to_label
    return to_score, to_label, to_weight if weighs or repeated else None


# Scores of each table that are looked at: more than ranges, so that these are of about equal size.
N_SAMPLES = 1024
# A grade of its own for each row leaves coarse tables as long as the full one.
MOST_LABELS = 64


@dataclass(frozen=True, eq=False)
class TableSummary:
    """Summary of a table without its rows."""

    n_rows: int
    single: SingleWeights  # What is known of the weights of the rows of which it was made
    labels: AnyArray
    samples: AnyArray  # Scores at equal distances among its rows, ascending


def summary_of(table: ScoreTable) -> TableSummary:
    """Summarise a table for the plan of ranges. Its length, labels and some scores."""
    n = len(table)
    places = (np.arange(min(n, N_SAMPLES)) * n) // min(n, N_SAMPLES)
    of_classes = table.label.dtype.kind == "b"
    labels = table.label[:1] if of_classes else np.unique(table.label)[: MOST_LABELS + 1]
    return TableSummary(n, table.single, labels, table.score[places])


def edges_of(summaries: Sequence[TableSummary], n_ranges: int) -> AnyArray | None:
    """Lowest score of each range of scores but the first, ascending; None if there is one range.

    Ranges hold about equal numbers of rows. Shape (n_ranges - 1,).
    """
    labels = np.unique(np.concatenate([summary.labels for summary in summaries]))
    if len(labels) > MOST_LABELS:
        return None
    samples = np.concatenate([summary.samples for summary in summaries])
    n_samples = np.array([len(summary.samples) for summary in summaries])
    n_rows = np.array([summary.n_rows for summary in summaries])
    stands_for = np.repeat(n_rows / n_samples, n_samples)
    order = np.argsort(samples, kind="stable")
    samples, passed = samples[order], np.cumsum(stands_for[order])
    wanted = passed[-1] * np.arange(1, n_ranges) / n_ranges
    edges = np.unique(samples[np.searchsorted(passed, wanted)])
    return edges if len(edges) else None


def pieces_of(table: ScoreTable, edges: AnyArray) -> list[ScoreTable | None]:
    """Cut a table at the edges of ranges. The rows of each range; None where there are none."""
    bounds = np.searchsorted(table.score, edges, "left")
    bounds = np.concatenate(([0], bounds, [len(table)]))
    return [
        _rows(table, slice(start, stop)) if start < stop else None
        for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ]


def _rows(table: ScoreTable, rows: slice) -> ScoreTable:
    # Copies, so that a piece does not hold the memory of the whole.
    weight = None if table.weight is None else table.weight[rows].copy()
    return replace(
        table, score=table.score[rows].copy(), label=table.label[rows].copy(), weight=weight
    )


def coarse_of(pieces: Sequence[ScoreTable | None]) -> ScoreTable:
    """Tie all rows of each range."""
    numbers, labels, weights = [], [], []
    for number, piece in enumerate(pieces):
        if piece is not None:
            if piece.label.dtype.kind == "b":
                distinct: AnyArray = np.array([False, True])
                of_row: AnyArray = piece.label.view(np.uint8)
            else:
                distinct, of_row = np.unique(piece.label, return_inverse=True)
            totals = np.bincount(of_row, piece.weight, len(distinct)).astype(np.float64)
            labels.append(distinct[totals > 0])
            weights.append(totals[totals > 0])
            numbers.append(np.full(len(labels[-1]), number))
    single = next(piece.single for piece in pieces if piece is not None)
    score, label, weight = (np.concatenate(parts) for parts in (numbers, labels, weights))
    return ScoreTable(score, label, weight, single)


def with_range(coarse: ScoreTable, number: int, fine: ScoreTable) -> TableLists:
    """Make the list in which all ranges but one are tied."""
    below, above = coarse.score < number, coarse.score > number
    level = np.zeros(len(fine), dtype=np.int64)  # among the distinct scores
    np.cumsum(fine.score[1:] != fine.score[:-1], out=level[1:])
    level += number
    score = np.concatenate((coarse.score[below], level, coarse.score[above] + level[-1]))
    label = np.concatenate((coarse.label[below], fine.label, coarse.label[above]))
    weight = np.concatenate((coarse.counts[below], fine.counts, coarse.counts[above]))
    return TableLists.of(score, label, weight, coarse.single)
