"""Table of the distinct pairs of score and label of one list, with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from .._lists import ScoredLists
from .._order import ClassBlocks, sorted_class_blocks
from .._typing import AnyArray, BoolArray, FloatArray

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
        """Find what is to be known of the weights of some rows."""
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
    def of_blocks(cls, neg: FloatArray, pos: FloatArray, single: SingleWeights) -> TableLists:
        """Make one list of blocks of tied items. The list; its scores are numbers of blocks."""
        weight = np.stack([neg, pos], axis=1).ravel()
        some = np.flatnonzero(weight)
        return cls(
            labels=(some & 1).astype(bool),
            offsets=np.array([0, len(some)]),
            weight=weight[some],
            score=some >> 1,
            single=single,
        )

    def blocks(self, *, of_negatives: bool = False, joined: bool = True) -> ClassBlocks:
        """Find the blocks of tied items that hold positives, or negatives, without a sort."""
        in_class = ~self.positive if of_negatives else self.positive
        return sorted_class_blocks(self.score, in_class, self.weight, joined=joined)

    def top_blocks(self, *, of_negatives: bool = False) -> ClassBlocks:
        """Find the topmost block that holds positives, or negatives. All such blocks."""
        return self.blocks(of_negatives=of_negatives)

    @cached_property
    def whole(self) -> BoolArray:
        """Whether all weights of rows are whole numbers: repetitions."""
        return np.array([self.single.whole])

    @cached_property
    def smallest(self) -> FloatArray:
        """Smallest weight of a row."""
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
        """Make the table of some rows in any order."""
        single = SingleWeights.of_rows(len(score), weight)
        # Adding 0 makes one zero of both.
        small = score.dtype.itemsize <= 2 or score.dtype == np.float32
        score = score.astype("f4" if small and label.dtype.kind == "b" else "f8")
        score += 0.0
        return cls(*_collapsed((score, label, weight)), single)

    @classmethod
    def merged(cls, tables: Sequence[ScoreTable]) -> ScoreTable:
        """Make one table of several. The table of the rows of all of them."""
        if len(tables) == 1:
            return tables[0]
        single = SingleWeights(0)
        for table in tables:
            single |= table.single
        if sum(map(len, tables)) < MANY:
            return cls(*_collapsed(_concatenated(tables)), single)
        runs = [(table.score, table.label, table.weight) for table in tables]
        while len(runs) > 1:
            # The shortest first, so that no row is moved more often than needed.
            runs.sort(key=lambda run: -len(run[0]))
            runs.append(_joined(runs.pop(), runs.pop()))
        return cls(*runs[0], single)

    def merge(self, other: ScoreTable) -> ScoreTable:
        """Make one table of this one and another. The table of the rows of both."""
        return ScoreTable.merged([self, other])

    def __len__(self) -> int:
        return len(self.score)

    @property
    def counts(self) -> FloatArray:
        """How often each row counts."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def n_rows(self) -> int:
        """Number of rows of which the table was made, each counted once."""
        return self.single.n_rows

    @property
    def nbytes(self) -> int:
        """Memory of the table."""
        weight = 0 if self.weight is None else self.weight.nbytes
        return self.score.nbytes + self.label.nbytes + weight

    def to_lists(self) -> TableLists:
        """Make the list that measures are of. One list without an id."""
        return TableLists(
            labels=self.label,
            offsets=np.array([0, len(self)]),
            weight=self.weight,
            score=self.score,
            single=self.single,
        )


def _concatenated(tables: Sequence[ScoreTable]) -> _Columns:
    weight = None
    if any(table.weight is not None for table in tables):
        weight = np.concatenate([table.counts for table in tables])
    return (
        np.concatenate([table.score for table in tables]),
        np.concatenate([table.label for table in tables]),
        weight,
    )


def _collapsed(columns: _Columns) -> _Columns:
    """Sort rows by score and label, and make one of equal ones."""
    score, label, weight = columns
    if len(score) >= MANY and label.dtype.kind == "b":
        return _joined(_of_class(columns, label), _of_class(columns, ~label))
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


def _joined(first: _Columns, second: _Columns) -> _Columns:
    """Merge two sorted runs of rows, in linear time."""
    if not len(first[0]) or not len(second[0]):
        score, label, weight = first if len(first[0]) else second
        if np.any((score[1:] == score[:-1]) & (label[1:] == label[:-1])):
            return _joined(_part((score, label, weight), 0, 1), _part((score, label, weight), 1))
        return score, label, weight
    dtype = np.promote_types(first[0].dtype, second[0].dtype)
    of_classes = first[1].dtype.kind == "b"
    given = []
    for score, label, weight in (first, second):
        label = label.view(np.uint8) if of_classes else label
        given.append(
            (score.astype(dtype, copy=False), label, _EMPTY if weight is None else weight)
        )
    from ._table_kernels import joins

    join = joins[dtype.str[1:], "b1" if of_classes else "f8"]
    most = len(first[0]) + len(second[0])
    to_score, to_label = np.empty(most, dtype), np.empty(most, given[0][1].dtype)
    weighs = first[2] is not None or second[2] is not None
    to_weight = np.empty(most if weighs else 0)
    n, repeated = join(*given, (to_score, to_label, to_weight))
    if repeated and not weighs:
        to_weight = np.empty(n)
        join(*given, (to_score, to_label, to_weight))
    if n < most:
        to_score, to_label, to_weight = (x[:n].copy() for x in (to_score, to_label, to_weight))
    to_label = to_label.view(bool) if of_classes else to_label
    return to_score, to_label, to_weight if weighs or repeated else None


def _part(columns: _Columns, start: int, stop: int | None = None) -> _Columns:
    score, label, weight = columns
    rows = slice(start, stop)
    return score[rows], label[rows], None if weight is None else weight[rows]
