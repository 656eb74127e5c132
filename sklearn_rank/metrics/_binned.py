"""A list that is larger than memory: bins of its scores, and bounds for the order within them.

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
So ranges are read again and evaluated one by one.

An additive measure is a mean over orders, in which a positive counts no less the higher it is.
What a range can add lies between the orders with all its positives below its negatives and above
them: a range where these agree is not read again, such as bins of one class, of one score, and
those far from the cut of a measure of the top.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np

from .._lists import ScoredLists
from .._typing import BoolArray, FloatArray, IntArray
from ._accumulated import Kept, KeptTable, refuse_large_weights
from ._measure import Measure
from ._score_bins import KEPT, SEEN, Cells, ScoreBins, TakenRows
from ._score_table import SingleWeights, TableLists

# Rows that are evaluated at once.
SLICE = 2**19
# A range is not divided further where it holds no larger share of the rows.
SMALLEST_SHARE = 1 / 64
# Ranges whose best and worst order differ by no more than rounding need no order.
ROUNDING = 1e-15
# Sums of the weights of the same rows in another order differ by no larger share.
SAME = 1e-9
# Rows kept in a pass for each item of a table: a row is smaller, and sorted in place.
ROWS_PER_ITEM = 5


def is_additive(measure: Measure) -> bool:
    """Say whether a measure is additive."""
    of_classes = measure.kind == "binary" and not measure.by_class and measure.weights != "none"
    return of_classes and measure.from_ranges == "sum" and measure.is_mean_over_ties


class KeptBins(Kept):
    """Bins of the scores of one list, and then some of its rows at a time."""

    def __init__(self, max_items: int) -> None:
        self._room = ROWS_PER_ITEM * max_items
        self._bins = ScoreBins()
        self._single = SingleWeights(0)
        # Of rows that come again: those that are kept, how many came, and what is done with.
        self._rows: TakenRows | None = None
        self._n_again = 0
        self._has_begun = False
        self._opened: Cells | None = None
        self._masses = np.zeros(2)
        self._done: list[Cells] = []
        self._added = 0.0

    @classmethod
    def of_table(cls, kept: KeptTable, max_items: int) -> KeptBins:
        """Count the rows of a table."""
        made = cls(max_items)
        for table in kept.tables():
            made._bins.add(table.score, table.label, table.weight)
            made._single |= table.single
        if not made._is_weighted:
            made._bins.count_repetitions()
        return made

    @property
    def _is_weighted(self) -> bool:
        return self._single.lightest != 1.0 or self._single.heaviest != 1.0

    def add(self, lists: ScoredLists, measure: Measure) -> None:
        """Add rows, or take those that come again."""
        n = len(lists.labels)
        if self._has_begun and (self._rows is None or self._n_again + n > self._single.n_rows):
            raise ValueError(
                f"This pass already has all {self._single.n_rows} rows: call again() before"
                " another pass, and pass the same batches each time."
            )
        measure._check_row_weights(lists)
        self._opened = None
        self._bins.add(lists.score, lists.labels, lists.weight, self._rows)
        if self._rows is None:
            self._single |= SingleWeights.of_rows(n, lists.weight)
            return
        self._n_again += n
        if self._n_again == self._single.n_rows:
            self._finish(measure)

    def merge(self, other: KeptBins) -> None:
        """Add the rows of another one."""
        if self._has_begun or other._has_begun:
            raise ValueError(
                "One of the accumulators is in another pass: merge accumulators before again()."
            )
        self._opened = None
        self._bins.merge(other._bins)
        self._single |= other._single

    # ------------------------------------------------------------------------ what comes again

    @property
    def is_read_again(self) -> bool:
        """Whether :meth:`again` was called."""
        return self._has_begun

    @property
    def is_reading(self) -> bool:
        """Whether the pass since the last call of :meth:`again` lacks some rows."""
        return self._rows is not None

    def again(self, measure: Measure) -> None:
        """Begin another pass over all rows."""
        if self._rows is not None:
            self._bins.start_again()
            self._rows.taken[:] = 0
            self._n_again = 0
            return
        self._masses = self._bins.masses()
        cells = self._open(measure)
        large = cells.n_rows > self._room
        fits = np.cumsum(np.where(large, 0, cells.n_rows)) <= self._room
        self._rows = self._bins.read_again(
            cells.bin[fits & ~large], cells.bin[large], self._is_weighted
        )
        self._n_again, self._has_begun = 0, True

    def needs_again(self, measure: Measure) -> bool:
        """Whether the result needs another pass over the rows."""
        return self._rows is not None or len(self._open(measure)) > 0

    def _cells(self) -> Cells:
        return Cells.joined([self._bins.cells(), *self._done])

    def _open(self, measure: Measure) -> Cells:
        if self._opened is None:
            self._opened = self._find_open(measure)
        return self._opened

    def _find_open(self, measure: Measure) -> Cells:
        """Cells with rows whose order is unknown and changes the value."""
        cells = self._cells()
        mixed = cells.mixed
        found = np.zeros(len(cells), dtype=bool)
        least = SMALLEST_SHARE * cells.n_rows.sum()
        ranges = [(0, len(cells))]
        while ranges:
            start, stop = ranges.pop()
            if not mixed[start:stop].any():
                continue
            low, high = self._extremes(measure, cells, start, stop)
            # Lists without a value have none in any order.
            if not abs(high - low) > ROUNDING * max(abs(low), abs(high)):
                continue
            if stop - start == 1 or cells.n_rows[start:stop].sum() <= least:
                found[start:stop] = mixed[start:stop]
                continue
            half = np.cumsum(cells.n_rows[start:stop])
            middle = start + 1 + int(np.searchsorted(half[:-1], half[-1] / 2))
            middle = min(middle, stop - 1)
            ranges += [(start, middle), (middle, stop)]
        return cells.at(found)

    def _extremes(
        self, measure: Measure, cells: Cells, start: int = 0, stop: int | None = None
    ) -> tuple[float, float]:
        """Values with the positives of each mixed cell of a range below and above all others."""
        mixed = cells.mixed[start:stop]
        values = []
        for raised, other in (("neg", "pos"), ("pos", "neg")):
            # Two blocks for each cell, the upper one of a class of a mixed cell, else empty.
            blocks = {one: np.zeros((len(mixed), 2)) for one in (raised, other)}
            for one in (raised, other):
                blocks[one][:, 0] = getattr(cells, one)[start:stop]
            blocks[raised][mixed] = blocks[raised][mixed][:, ::-1]
            neg, pos = (blocks[one].ravel() for one in ("neg", "pos"))
            values.append(self._value(measure, cells, start, stop, neg, pos))
        return values[0], values[1]

    def _value(
        self,
        measure: Measure,
        cells: Cells,
        start: int,
        stop: int | None,
        neg: FloatArray,
        pos: FloatArray,
    ) -> float:
        """Value with these blocks in place of a range of cells, and one above and one below."""
        below, above = slice(0, start), slice(len(cells) if stop is None else stop, None)
        neg = np.concatenate([[cells.neg[below].sum()], neg, [cells.neg[above].sum()]])
        pos = np.concatenate([[cells.pos[below].sum()], pos, [cells.pos[above].sum()]])
        with warnings.catch_warnings():
            # Warnings of the measure come with the result.
            warnings.simplefilter("ignore")
            return float(measure.values(self._lists(neg, pos))[0])

    def _lists(self, neg: FloatArray, pos: FloatArray) -> TableLists:
        return TableLists.of_blocks(neg, pos, self._single)

    # ---------------------------------------------------------------------------- what it adds

    def _finish(self, measure: Measure) -> None:
        """Add what the order of the rows that were kept adds to the value."""
        rows = self._rows
        if rows is None:
            return
        rows.sort()
        cells = self._cells()
        self._check_same(rows, cells)
        cells = _cut(cells, self._bins.is_taken(cells.bin), rows)
        taken = cells.bin == KEPT
        ends = [_ends_of(cells, codes) for codes in rows.codes]
        size = np.where(taken, cells.n_rows, 0) + 1
        edges = np.unique(np.append(np.arange(0, size.sum(), SLICE), size.sum()))
        edges = np.unique(np.searchsorted(np.append(0, np.cumsum(size)), edges))
        for start, stop in pairwise(edges.tolist()):
            part = slice(start, stop)
            if not taken[part].any():
                continue
            inside = [slice(int(begin[start]), int(end[stop - 1])) for begin, end in ends]
            blocks = rows.blocks(inside, cells.at(np.arange(start, stop)[~taken[part]]))
            fine = self._value(measure, cells, start, stop, *blocks)
            coarse = self._value(measure, cells, start, stop, cells.neg[part], cells.pos[part])
            self._added += fine - coarse
        self._bins.finish()
        done = cells.at(taken)
        self._done.append(replace(done, bin=np.full(len(done), SEEN)))
        self._rows = None

    def _check_same(self, rows: TakenRows, cells: Cells) -> None:
        """Check that the rows of this pass are those of the first pass."""
        taken = self._bins.is_taken(cells.bin)
        expected = [*self._masses, cells.neg[taken].sum(), cells.pos[taken].sum()]
        found = [*self._bins.masses(), *rows.masses()]
        if not np.allclose(expected, found, rtol=SAME, atol=0.0):
            raise ValueError(
                "The rows of this pass differ from those of the first pass: call again(), and pass"
                " the same batches each time."
            )

    # --------------------------------------------------------------------------------- results

    def result(self, measure: Measure) -> float:
        """Evaluate the measure."""
        cells = self._cells()
        lists = self._lists(cells.neg, cells.pos)
        refuse_large_weights(lists)
        measure._check_weights(lists)
        value = float(measure.of_lists(lists))
        return float(np.clip(value + self._added, *measure.range))

    def bounds(self, measure: Measure) -> tuple[float, float]:
        """Compute an interval that contains the value of the measure."""
        extremes = np.sort(self._extremes(measure, self._cells())) + self._added
        low, high = np.clip(extremes, *measure.range).tolist()
        return low, high


def _ends_of(cells: Cells, codes: IntArray) -> tuple[IntArray, IntArray]:
    """Where the rows of each cell begin and end among sorted ones."""
    return np.searchsorted(codes, cells.low), np.searchsorted(codes, cells.high, "right")


def _cut(cells: Cells, taken: BoolArray, rows: TakenRows) -> Cells:
    """Cut the cells whose rows are kept into parts that can be evaluated at once."""
    kept = cells.at(taken)
    low, high = [kept.low], [kept.high]
    for one in np.flatnonzero(kept.n_rows > SLICE).tolist():
        edges = rows.edges_within(int(kept.low[one]), int(kept.high[one]), SLICE)
        low.append(edges)
        high.append(edges - 1)
    # The cells do not overlap: sorted ends belong together.
    parts = rows.cells(np.sort(np.concatenate(low)), np.sort(np.concatenate(high)))
    return Cells.joined([cells.at(~taken), parts])
