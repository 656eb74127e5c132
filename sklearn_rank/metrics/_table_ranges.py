"""Evaluation of one list whose rows are in several tables, without merging them in memory.

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
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ._score_table import ScoreTable, SingleWeights, TableLists

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


@dataclass(frozen=True, eq=False)
class RangePlan:
    """How tables are cut into ranges of scores."""

    edges: AnyArray  # (n_ranges - 1,): Lowest score of each range but the first, ascending
    single: SingleWeights  # What is known of the weights of the rows of all tables

    @property
    def n_ranges(self) -> int:
        """Number of ranges, some of which may be empty."""
        return len(self.edges) + 1

    @classmethod
    def of(cls, summaries: Sequence[TableSummary], n_ranges: int) -> RangePlan | None:
        """Plan ranges of about the same number of rows."""
        labels = np.unique(np.concatenate([one.labels for one in summaries]))
        if len(labels) > MOST_LABELS:
            return None
        samples = np.concatenate([one.samples for one in summaries])
        stands_for = np.concatenate(
            [np.full(len(one.samples), one.n_rows / len(one.samples)) for one in summaries]
        )
        order = np.argsort(samples, kind="stable")
        samples, passed = samples[order], np.cumsum(stands_for[order])
        wanted = passed[-1] * np.arange(1, n_ranges) / n_ranges
        edges = np.unique(samples[np.searchsorted(passed, wanted)])
        single = reduce(or_, (one.single for one in summaries))
        return cls(edges, single) if len(edges) else None


def pieces_of(table: ScoreTable, plan: RangePlan) -> list[ScoreTable | None]:
    """Cut a table at the edges of ranges. The rows of each range; None where there are none."""
    bounds = np.searchsorted(table.score, plan.edges, "left")
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
            found, weight = _label_totals(piece)
            numbers.append(np.full(len(found), number))
            labels.append(found)
            weights.append(weight)
    single = next(piece.single for piece in pieces if piece is not None)
    score, label, weight = (np.concatenate(parts) for parts in (numbers, labels, weights))
    return ScoreTable(score, label, weight, single)


def _label_totals(table: ScoreTable) -> tuple[AnyArray, FloatArray]:
    """Distinct labels, and how often each counts."""
    found: AnyArray = np.array([False, True])
    of_row: AnyArray = table.label
    if table.label.dtype.kind == "b":
        of_row = of_row.view(np.uint8)
    else:
        found, of_row = np.unique(table.label, return_inverse=True)
    totals = np.bincount(of_row, table.weight, len(found)).astype(np.float64)
    return found[totals > 0], totals[totals > 0]


def with_range(
    coarse: ScoreTable, number: int | None, fine: ScoreTable | None, plan: RangePlan
) -> TableLists:
    """Make the list in which all ranges but one are tied."""
    score, label, weight = coarse.score, coarse.label, coarse.counts
    if fine is not None and number is not None:
        below, above = score < number, score > number
        level = number + _levels(fine.score)
        score = np.concatenate((score[below], level, score[above] + level[-1]))
        label = np.concatenate((label[below], fine.label, label[above]))
        weight = np.concatenate((weight[below], fine.counts, weight[above]))
    return TableLists(
        labels=label,
        offsets=np.array([0, len(score)]),
        weight=_as_float(weight),
        score=score,
        single=plan.single,
    )


def _levels(score: AnyArray) -> IntArray:
    """Number of each among the distinct values of ascending scores."""
    levels = np.zeros(len(score), dtype=np.int64)
    np.cumsum(score[1:] != score[:-1], out=levels[1:])
    return levels


def _as_float(weight: Any) -> FloatArray:
    return np.asarray(weight, dtype=np.float64)
