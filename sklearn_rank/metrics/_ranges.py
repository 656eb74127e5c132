"""Ranges of scores of one list: rows are cut at sampled quantiles, and the counts are combined.

Let V(T) be a measure of a table T, C the table whose bins are blocks of tied items, and F the
table of all rows. A measure is *additive* if it is a mean over the orders of tied items of

- a sum over blocks of tied items of functions of the block, of the weights of the classes above
  it and of the weights of the classes in all (or an increasing affine map of one, by numbers that
  depend on the weights of the classes in all), or
- a function of one block, and of the weights above it and in all, where these weights alone say
  which block it is once the blocks within a bin are known.

For a range r of bins let F_r have the rows of r and blocks for all other bins. Then::

    V(F) = V(C) + sum over ranges r of V(F_r) - V(C)

since refining r leaves the blocks elsewhere and the weights above them as they are: of a sum it
changes the terms of r only, and of one block it changes the value only if that is in r. The same
difference results if what is above r is one block and what is below it another, in both tables.
So ranges are evaluated one by one, wherever their rows are.

An additive measure is a mean over orders, in which a positive counts no less the higher it is.
What a range can add lies between the orders with all its positives below its negatives and above
them: the rows of a range where these agree are not needed, such as bins of one class, of one
score, and those far from the cut of a measure of the top.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from .._lists import ScoredLists
from .._order import CHUNK, changes, class_masses, tied_blocks
from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import in_coarsest_type, take


class SingleWeights(NamedTuple):
    """What is known of the weights of single rows, which a table adds up."""

    n_rows: int  # Number of rows, each counted once
    lightest: float = 1.0  # Smallest weight
    whole: bool = True  # Whether all are whole numbers

    @classmethod
    def of_rows(cls, n_rows: int, weight: FloatArray | None) -> SingleWeights:
        if weight is None:
            return cls(n_rows)
        whole = bool(np.all(weight == np.floor(weight)))
        return cls(n_rows, float(weight.min()), whole)

    def __or__(self, other: SingleWeights) -> SingleWeights:
        return SingleWeights(
            self.n_rows + other.n_rows,
            min(self.lightest, other.lightest),
            self.whole and other.whole,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreTable(ScoredLists):
    """One list in any order, whose rows may stand for several of the same score and label.

    A row takes the bytes of its score, of its label (1 of a class, 8 of a grade) and, where it
    stands for several, 8 of its weight.
    """

    single: SingleWeights  # What is known of the weights of the rows of which the table was made

    @classmethod
    def of(
        cls, score: AnyArray, label: AnyArray, weight: FloatArray | None, single: SingleWeights
    ) -> ScoreTable:
        offsets = np.array([0, len(score)])
        return cls(labels=label, offsets=offsets, weight=weight, score=score, single=single)

    @classmethod
    def of_rows(
        cls, score: AnyArray, label: AnyArray, weight: FloatArray | None = None
    ) -> ScoreTable:
        """Copy rows."""
        single = SingleWeights.of_rows(len(score), weight)
        columns = score.copy(), label.copy(), None if weight is None else weight.copy()
        return cls.of(*columns, single)

    @classmethod
    def of_blocks(cls, mass: FloatArray, single: SingleWeights) -> ScoreTable:
        """Make a table of ascending blocks of tied items. Its scores are numbers of blocks.

        Of each block the weights of the negatives and of the positives are passed.
        """
        weight = mass.ravel()[::-1]  # from the top
        some = np.flatnonzero(weight)
        row = len(weight) - 1 - some
        return cls.of(row >> 1, (row & 1).astype(bool), weight[some], single)

    @classmethod
    def joined(cls, tables: Sequence[ScoreTable]) -> ScoreTable:
        if len(tables) == 1:
            return tables[0]
        single = reduce(or_, (table.single for table in tables))
        return cls.of(*join_columns(tables), single)

    def __len__(self) -> int:
        return len(self.score)

    @property
    def label(self) -> AnyArray:
        """Labels, by their public name in the table of an accumulator."""
        return self.labels

    @cached_property
    def whole(self) -> BoolArray:
        return np.array([self.single.whole])

    @cached_property
    def smallest(self) -> FloatArray:
        return np.array([self.single.lightest])

    def rows_at(self, rows: Any) -> ScoreTable:
        """Copy some rows."""
        weight = take(self.weight, rows)
        return ScoreTable.of(self.score[rows], self.labels[rows], weight, self.single)

    def distinct(self) -> ScoreTable:
        """Make one of equal rows, by ascending score and label."""
        score, label, weight = self.score + 0, self.labels, self.weight  # One zero of both
        if weight is None and label.dtype.kind == "b":
            # Sorts of values alone are the fastest, and the one below merges two sorted runs.
            neg, n_neg = np.unique(score[~label], return_counts=True)
            pos, n_pos = np.unique(score[label], return_counts=True)
            score, weight = np.concatenate([neg, pos]), np.concatenate([n_neg, n_pos])
            label = np.arange(len(score)) >= len(neg)
        order = np.lexsort((label, score))
        score, label = score[order], label[order]
        weight = np.ones(len(score)) if weight is None else weight[order].astype(np.float64)
        starts = np.flatnonzero(changes(score) | changes(label))
        all_one = self.weight is None and len(starts) == len(self)
        counts = None if all_one else np.add.reduceat(weight, starts)
        return ScoreTable.of(score[starts], label[starts], counts, self.single)

    def condensed(self) -> ScoreTable:
        """Make one of equal rows if that leaves about half of them or fewer."""
        # One of 2**bits hashes is looked at: all rows of a score are in the sample, or none.
        sample, bits = [], max(len(self).bit_length() - 12, 1)
        for part in parts_of(len(self)):
            hashes = (self.score[part] + 0.0).astype(np.float64).view(np.uint64)
            hashes *= np.uint64(0x9E3779B97F4A7C15)
            sample.append(hashes[hashes >> np.uint64(64 - bits) == 0])
        n_distinct = len(np.unique(np.concatenate(sample))) << bits
        return self.distinct() if n_distinct <= len(self) / 2 else self


def parts_of(n: int) -> list[slice]:
    """Parts of rows that are worked on at once: what lies between two steps stays in the cache."""
    return [slice(start, start + CHUNK) for start in range(0, n, CHUNK)]


def join_columns(parts: Sequence[ScoredLists]) -> tuple[AnyArray, AnyArray, Any]:
    weight = None
    if any(part.weight is not None for part in parts):
        weight = np.concatenate([part.counts for part in parts])
    score = np.concatenate(in_coarsest_type(*(part.score for part in parts)))
    return score, np.concatenate([part.labels for part in parts]), weight


# -------------------------------------------------------------------------- which ranges count


def is_additive(measure: Any) -> bool:
    of_classes = measure.kind == "binary" and measure.weights != "none"
    return of_classes and measure.from_ranges == "sum" and measure.is_mean_over_ties


class Cells(NamedTuple):
    """Weights of the classes in cells of neighbouring scores, ascending."""

    mass: FloatArray  # (n_cells, 2): Weight of the negatives and of the positives
    single: SingleWeights

    def value(self, measure: Any, part: slice, blocks: FloatArray) -> float:
        """Value with these blocks in place of a range of cells, and one above and one below."""
        below, above = self.mass[: part.start].sum(axis=0), self.mass[part.stop :].sum(axis=0)
        blocks = np.concatenate([[below], blocks, [above]])
        with warnings.catch_warnings():
            # Warnings of the measure come with the result.
            warnings.simplefilter("ignore")
            return float(measure.values(ScoreTable.of_blocks(blocks, self.single))[0])

    def extremes(self, measure: Any, mixed: BoolArray, part: slice) -> tuple[float, float]:
        """Values with the positives of each mixed cell of a range below and above all others."""
        mixed, values = mixed[part], []
        for raised in (0, 1):
            # Two blocks for each cell, the upper one of a class of a mixed cell, else empty.
            blocks = np.zeros((len(mixed), 2, 2))
            blocks[:, 0] = self.mass[part]
            blocks[mixed, :, raised] = blocks[mixed, ::-1, raised]
            values.append(self.value(measure, part, blocks.reshape(-1, 2)))
        return values[0], values[1]

    def open(
        self, measure: Any, mixed: BoolArray, n_rows: AnyArray, share: float = 0.0
    ) -> BoolArray:
        """Which mixed cells hold rows whose order changes the value. Shape (n_cells,).

        A range that holds no larger share of the rows is not divided further.
        """
        is_open = np.zeros(len(mixed), dtype=bool)
        least = share * n_rows.sum()
        ranges = [(0, len(mixed))]
        while ranges:
            start, stop = ranges.pop()
            if not mixed[start:stop].any():
                continue
            low, high = self.extremes(measure, mixed, slice(start, stop))
            # Lists without a value have none in any order; others may differ by rounding.
            if not abs(high - low) > 4 * np.spacing(max(abs(low), abs(high))):
                continue
            if stop - start == 1 or n_rows[start:stop].sum() <= least:
                is_open[start:stop] = mixed[start:stop]
                continue
            half = np.cumsum(n_rows[start:stop])
            middle = start + 1 + int(np.searchsorted(half[:-1], half[-1] / 2))
            middle = min(middle, stop - 1)
            ranges += [(start, middle), (middle, stop)]
        return is_open


# ------------------------------------------------------------------------------------- the plan

# Cells that are opened or not, each of about as many rows; numbers of ranges fit into a byte.
N_CELLS = 256
# Rows that are evaluated at once: those of a range, or of a list that needs no ranges.
ROWS_OF_RANGE = 2**21


def need_ranges(samples: Sequence[ScoreTable]) -> bool:
    """Whether there are so many rows that they are cut into ranges of scores."""
    n_rows = sum(float(sample.sizes[0]) for sample in samples)
    labels = np.concatenate([sample.labels for sample in samples])
    # A grade of its own for each row leaves a list with tied ranges as long as the full one.
    return n_rows > ROWS_OF_RANGE and len(np.unique(labels)) <= N_CELLS // 4


def sample_of(table: ScoreTable) -> ScoreTable:
    """Rows at equal distances among those of each class, weighted by how many each stands for."""
    two = table.labels.dtype.kind == "b"
    classes = [~table.labels, table.labels] if two else [np.ones(len(table), dtype=bool)]
    rows, weight = [], []
    for of_class in map(np.flatnonzero, classes):
        n = len(of_class)
        m = min(n, 2 * N_CELLS)
        rows.append(of_class[(np.arange(m) * n) // max(m, 1)])
        weight.append(np.full(m, n / max(m, 1)))
    return replace(table.rows_at(np.concatenate(rows)), weight=np.concatenate(weight))


class Plan(NamedTuple):
    """Cells of scores between sampled quantiles, and which of them are opened: need their rows."""

    edges: AnyArray  # (n_cells - 1,): Lowest score of each but the first
    n_rows: AnyArray  # (n_cells,): About
    opened: BoolArray  # (n_cells,)

    @classmethod
    def of(cls, samples: Sequence[ScoreTable], measure: Any = None) -> Plan:
        """Open what seems to count in an additive measure, or all cells."""
        table = ScoreTable.joined(samples)
        order = np.argsort(table.score, kind="stable")
        score, upto = table.score[order], np.cumsum(table.counts[order])
        wanted = upto[-1] * np.arange(1, N_CELLS) / N_CELLS
        edges = np.unique(score[np.searchsorted(upto, wanted)])
        number, n = np.searchsorted(edges, table.score, "right"), len(edges) + 1
        if measure is None:
            return cls(edges, np.bincount(number, table.counts, n), np.ones(n, dtype=bool))
        mass = np.bincount(2 * number + table.labels, table.counts, 2 * n).reshape(-1, 2)
        n_rows = mass.sum(axis=1)
        return cls(edges, n_rows, _seem_open(Cells(np.rint(mass), table.single), measure, n_rows))

    def ranges(self) -> tuple[AnyArray, BoolArray, AnyArray]:
        """Edges of the ranges of opened cells and of others, which are opened, range of cells."""
        upto = np.cumsum(np.where(self.opened, self.n_rows, 0.0))
        place = upto // ROWS_OF_RANGE
        new = self.opened[1:] != self.opened[:-1]
        new |= self.opened[1:] & (place[1:] != place[:-1])
        number = np.append(0, np.cumsum(new))
        return self.edges[new], self.opened[np.append(True, new)], number


def _seem_open(cells: Cells, measure: Any, n_rows: AnyArray) -> BoolArray:
    """Which cells count by estimated weights, with four neighbours on each side."""
    mixed = np.ones(len(n_rows), dtype=bool)
    # A list of fewer items, which takes less time, shows a measure to which most places count.
    small = cells._replace(mass=np.ceil(cells.mass * (len(n_rows) / cells.mass.sum())))
    if 2 * np.count_nonzero(small.open(measure, mixed, n_rows, share=1 / 8)) > len(mixed):
        return mixed
    opened = cells.open(measure, mixed, n_rows)
    # Sampled quantiles of a class are off by about one cell.
    return np.convolve(opened, np.ones(9))[4:-4] > 0


# ------------------------------------------------------------------------------------ the ranges


def cut(
    table: ScoreTable, edges: AnyArray, opened: BoolArray
) -> tuple[ScoreTable, list[ScoreTable | None]]:
    """Cut a table at edges: all rows of a range tied, and the rows of the opened ranges.

    None where a range has no rows.
    """
    score, edges = in_coarsest_type(table.score, edges)
    table = replace(table, score=score)
    if table.labels.dtype.kind == "b":
        distinct, label = np.array([False, True]), table.labels
    else:
        distinct = np.unique(table.labels)
        label = np.searchsorted(distinct, table.labels)
    n = len(distinct)
    number, mass = np.zeros(len(table), dtype=np.uint8), np.zeros(n * len(opened))
    buffer = np.empty(min(CHUNK, len(table)), dtype=np.intp)
    for part in parts_of(len(table)):
        # Comparisons one by one take less time than a binary search, whose branches are random.
        for edge in edges:
            number[part] += table.score[part] >= edge
        cell = np.multiply(number[part], n, out=buffer[: len(number[part])], dtype=np.intp)
        cell += label[part]
        mass += np.bincount(cell, take(table.weight, part), len(mass))
    some = np.flatnonzero(mass)
    coarse = ScoreTable.of(some // n, distinct[some % n], mass[some], table.single)
    # NumPy sorts a byte by counting.
    if opened.all():
        rows = np.argsort(number, kind="stable")
    else:
        rows = np.flatnonzero(opened[number])
        rows = rows[np.argsort(number[rows], kind="stable")]
    bounds = np.cumsum(np.bincount(number, minlength=len(opened))[opened])[:-1]
    pieces = [table.rows_at(part) if len(part) else None for part in np.split(rows, bounds)]
    return coarse, pieces


def merge_tied(tables: Sequence[ScoreTable]) -> ScoreTable:
    return ScoreTable.joined(tables).distinct()


def refined(tied: ScoreTable, number: int, rows: ScoreTable, *, joined: bool) -> ScoreTable:
    """Make the list in which all ranges but one are tied, from the top.

    Neighbouring blocks of one class may be joined.
    """
    if rows.labels.dtype.kind == "b":
        mass = class_masses(rows.score, rows.labels, rows.weight, joined=joined)
        fine, n_levels = ScoreTable.of_blocks(mass, rows.single), len(mass)
    else:
        blocks = tied_blocks(rows.score)
        n_levels = len(blocks.starts)
        level = blocks.to_rows(np.arange(n_levels)[::-1])
        weight = take(rows.weight, blocks.order)
        fine = ScoreTable.of(level, rows.labels[blocks.order], weight, rows.single)
    above = tied.rows_at(np.flatnonzero(tied.score > number)[::-1])
    parts = [
        replace(above, score=above.score + n_levels - 1),
        replace(fine, score=fine.score + number),
        tied.rows_at(np.flatnonzero(tied.score < number)[::-1]),
    ]
    return ScoreTable.of(*join_columns(parts), tied.single)
