"""Sums over pairs of items of a list, the rows and the partners of rectangles of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._lists import Lists
from .._logistic_sums import LARGEST_DISTANCE, LogisticSums
from .._optional import compiling_pays
from .._order import descending, ragged_ranges, running_totals
from .._typing import AnyArray, ArrayPair, FloatArray, IntArray
from ._base import BLOCK

# Nanoseconds of a pair, of an item that is sorted or in a series, and of a pair of intervals of
# scores of a series.
PAIR, COMPILED_PAIR, ITEM, CELL = 10.0, 2.5, 250.0, 3e3

# Differences of scores are clipped here, so that their exponentials are within float64.
MAX_EXCESS = 700.0


class Pairs(NamedTuple):
    """Pairs of items, as entries of a matrix of a stretch of rows and one of partners."""

    rows: slice
    columns: slice
    partners: IntArray  # (n_pairs,): From the first of the columns on
    begins: IntArray  # (n_rows + 1,): Where the pairs of each row begin

    def excess(self, score: FloatArray) -> FloatArray:
        """By how much partners score above their rows."""
        excess: FloatArray = score[self.columns][self.partners]
        excess -= np.repeat(score[self.rows], np.diff(self.begins))
        return excess

    def matrix(self, values: FloatArray) -> csr_array:
        shape = (s.stop - s.start for s in (self.rows, self.columns))
        return csr_array((values, self.partners, self.begins), shape=tuple(shape))

    def add(self, values: FloatArray, factors: FloatArray, sums: FloatArray) -> None:
        """Add values times factors (2, k, n) of the other item to sums at rows and partners."""
        matrix = self.matrix(values)
        sums[0][:, self.rows] += (matrix @ factors[1][:, self.columns].T).T
        sums[1][:, self.columns] += (matrix.T @ factors[0][:, self.rows].T).T


class Rectangles(NamedTuple):
    """Pairs of an item with one of the stretch of its partners; items of a list are in order."""

    lists: IntArray  # (m,): The list of each rectangle
    rows: IntArray  # (m,): First of its rows
    n_rows: IntArray
    partners: IntArray  # (m,): First of its partners
    n_partners: IntArray

    @property
    def n_pairs(self) -> IntArray:
        return self.n_rows * self.n_partners

    def only(self, mask: AnyArray) -> Rectangles:
        return Rectangles(*(column[mask] for column in self))

    def pairs(self) -> Iterator[Pairs]:
        """Blocks of pairs."""
        rows = ragged_ranges(self.rows, self.n_rows)
        firsts, counts = (np.repeat(of, self.n_rows) for of in (self.partners, self.n_partners))
        order = np.argsort(rows, kind="stable")
        number = np.cumsum(counts[order]) // BLOCK
        for part in np.split(order, np.flatnonzero(np.diff(number)) + 1) if len(order) else ():
            first, start, n = rows[part[0]], firsts[part].min(), counts[part]
            begins = np.append(0, np.cumsum(np.bincount(rows[part] - first, n))).astype(np.int64)
            yield Pairs(
                slice(first, first + len(begins) - 1),
                slice(start, int((firsts[part] + n).max())),
                ragged_ranges(firsts[part] - start, n),
                begins,
            )


def rectangles_of_all_pairs(lists: Lists, rises: AnyArray) -> Rectangles:
    """Each of the first items of a list, those for which something rises, with all of it."""
    n_rows = np.add.reduceat(rises, lists.offsets[:-1], dtype=np.int64)
    numbers, starts = np.arange(lists.n_lists), lists.offsets[:-1]
    return Rectangles(numbers, starts, n_rows, starts, lists.lengths).only(n_rows > 0)


def rectangles_of_levels(list_of: IntArray, level: IntArray) -> Rectangles:
    """Each item with all of later levels of its list, counted from 0 in the order of the items.

    Numbers of two levels differ first in one binary digit; there is a rectangle for each digit and
    the digits before it.
    """
    found = []
    for digit in range(int(level.max()).bit_length()):
        key = level >> digit
        new = np.flatnonzero((np.diff(key, prepend=-1) != 0) | (np.diff(list_of, prepend=-1) != 0))
        sizes = np.diff(new, append=len(level))
        upper = np.flatnonzero((key[new[:-1]] % 2 == 0) & (list_of[new[1:]] == list_of[new[:-1]]))
        lower = upper + 1
        found.append((list_of[new[upper]], new[upper], sizes[upper], new[lower], sizes[lower]))
    if not found:
        return Rectangles(*np.empty((5, 0), dtype=np.int64))
    return Rectangles(*map(np.concatenate, zip(*found, strict=True)))


class _Sums(NamedTuple):
    """Sums over pairs, and what they are of."""

    orders: tuple[int, ...]  # Of the derivatives
    factors: FloatArray  # (2, n_factors, n): Of the items as rows, and as partners
    items: FloatArray  # (2, n_orders, n_factors, n): At the rows, and at the partners
    lists: FloatArray  # (n_lists,): Totals of the order 0 and the first factors


class LogisticPairs:
    """Sums of derivatives of ``log(1 + exp(s_j - s_i))`` over the pairs of rectangles.

    Small rectangles are summed pair by pair, in others series of the logistic function take time
    linear in the number of items, whichever is predicted to take less time.
    """

    def __init__(self, rectangles: Rectangles, lists: Lists, is_weighted: bool) -> None:
        self._lists, self._is_weighted = lists, is_weighted
        by_series, by_pairs = _time_of_series(rectangles, 1.0), PAIR * rectangles.n_pairs
        self._compiled = compiling_pays(float(np.minimum(by_series, by_pairs).sum()))
        self._pair = COMPILED_PAIR if self._compiled else PAIR
        is_large = by_series < self._pair * rectangles.n_pairs
        small, self._large = rectangles.only(~is_large), rectangles.only(is_large)
        self._stacked = np.stack(small)
        self._small = [] if self._compiled else list(small.pairs())

    def sums(self, score: FloatArray, orders: tuple[int, ...], *factors: ArrayPair) -> _Sums:
        """Sum derivatives of some orders, with each of some factors of the rows and partners.

        Sums at each row over its partners, times the factors of these; at each partner over its
        rows; and of the order 0 the total of each list.
        """
        shape = len(orders), len(factors), len(score)
        found = _Sums(
            orders,
            np.ascontiguousarray(np.swapaxes(factors, 0, 1)),
            np.zeros((2, *shape)),
            np.zeros(self._lists.n_lists),
        )
        if self._compiled and self._stacked.size:
            from ._pair_kernels import add_pairs

            orders_taken = np.array(orders), self._is_weighted
            add_pairs(score, self._stacked, *orders_taken, MAX_EXCESS, *found[1:])
        others = self._add_series(score, found) if len(self._large.lists) else self._large
        for pairs in chain(self._small, others.pairs()):
            self._add_pairs(pairs, score, found)
        return found

    def _add_pairs(self, pairs: Pairs, score: FloatArray, found: _Sums) -> None:
        excess = pairs.excess(score)
        odds = np.clip(excess, -MAX_EXCESS, MAX_EXCESS)
        np.exp(odds, out=odds)
        plus = 1.0 + odds
        derivative = 0
        for number, order in enumerate(found.orders):
            if order == 0:
                logs = np.log1p(odds)
                if excess.max() > MAX_EXCESS:
                    logs += np.maximum(excess - MAX_EXCESS, 0.0)
                at_rows = pairs.matrix(logs) @ found.factors[1, 0, pairs.columns]
                at_rows *= found.factors[0, 0, pairs.rows]
                np.add.at(found.lists, self._lists.list_of[pairs.rows], at_rows)
                continue
            while derivative < order:
                odds /= plus
                derivative += 1
            pairs.add(odds, found.factors, found.items[:, number])

    def _add_series(self, score: FloatArray, found: _Sums) -> Rectangles:
        """Add the sums of large rectangles that take less time by series; return the others."""
        large = self._large
        sides = (large.rows, large.n_rows), (large.partners, large.n_partners)
        items = [ragged_ranges(*side) for side in sides]
        stretches = [
            (score[x], np.cumsum(count) - count)
            for x, (_, count) in zip(items, sides, strict=True)
        ]
        low = np.minimum(*(np.minimum.reduceat(*stretch) for stretch in stretches))
        width = np.maximum(*(np.maximum.reduceat(*stretch) for stretch in stretches)) - low
        n_cells = width / 2.0 + 1.0
        by_series = _time_of_series(large, n_cells) < self._pair * large.n_pairs
        by_series &= width < 2.0 * LARGEST_DISTANCE
        if by_series.any():
            numbers = [np.repeat(np.arange(len(low)), count) for _, count in sides]
            if not by_series.all():
                items = [x[by_series[y]] for x, y in zip(items, numbers, strict=True)]
                numbers = [x[by_series[x]] for x in numbers]
            lower, upper = (score[x] - low[y] for x, y in zip(items, numbers, strict=True))
            sums = LogisticSums(upper, lower, (numbers[1], numbers[0]))
            of_rows, of_partners = (
                list(x[:, y]) for x, y in zip(found.factors, items, strict=True)
            )
            orders = [order for order in found.orders if order]
            totals = [((0, of_rows[0]),)] if 0 in found.orders else []
            by_order = [((order, x),) for order, x in product(orders, of_rows)]
            at_partners = sums.at_upper(*by_order, *totals)
            at_rows = sums.at_lower(*(((order, x),) for order, x in product(orders, of_partners)))
            if totals:
                of_lists = large.lists[numbers[1]]
                np.add.at(found.lists, of_lists, of_partners[0] * at_partners[-1])
            places = product(np.flatnonzero(found.orders), range(len(of_rows)))
            for place, x, y in zip(places, at_rows, at_partners, strict=False):
                np.add.at(found.items[0][place], items[0], x)
                np.add.at(found.items[1][place], items[1], y)
        return large.only(~by_series)


class WindowPairs:
    """Sums over the pairs of rectangles whose order is wrong, or right by less than a margin."""

    def __init__(self, lists: Lists, level: IntArray) -> None:
        """Find the pairs of items with those of later levels, in the order of the items."""
        rectangles = rectangles_of_levels(lists.list_of, level)
        n_sorted = int(rectangles.n_rows.sum() + rectangles.n_partners.sum())
        self._compiled = compiling_pays(ITEM * n_sorted)
        if self._compiled:
            highest = np.maximum.reduceat(level, lists.offsets[:-1])
            self._lists, self._level = lists, lists.to_items(highest) - level
            return
        # Rows and partners of each rectangle, one after the other.
        begins = np.stack((rectangles.rows, rectangles.partners), axis=1).ravel()
        sizes = np.stack((rectangles.n_rows, rectangles.n_partners), axis=1).ravel()
        self._items = ragged_ranges(begins, sizes)
        self._is_row = np.repeat(np.arange(len(sizes)) % 2 == 0, sizes)
        self._offsets = np.append(0, np.cumsum(sizes[::2] + sizes[1::2]))

    def sums(self, score: FloatArray, margin: float, payload: FloatArray) -> FloatArray:
        """Sums of payloads (k, n) over the partners of each row, and rows of each partner."""
        if self._compiled:
            from ._pair_kernels import window_sums

            sums = np.empty((2, *payload.T.shape))
            columns = np.ascontiguousarray(payload.T)
            window_sums(score, self._level, columns, margin, self._lists.offsets, *sums)
            return np.swapaxes(sums, 1, 2)
        found = np.zeros((2, *payload.shape))
        if len(self._items):
            self._add_sorted(score, margin, payload, found)
        return found

    def _add_sorted(
        self, score: FloatArray, margin: float, payload: FloatArray, found: FloatArray
    ) -> None:
        offsets = self._offsets
        order, values = descending(
            score[self._items] + np.where(self._is_row, 0.0, margin), offsets
        )
        items, is_row = self._items[order], self._is_row[order]
        is_new = np.append(True, values[1:] != values[:-1])
        is_new[offsets[:-1]] = True
        begins = np.flatnonzero(is_new)
        block = np.cumsum(is_new) - 1
        rows, partners = items[is_row], items[~is_row]
        for k, of_items in enumerate(payload[:, items]):
            of_rows, of_partners = np.where(is_row, of_items, 0.0), np.where(is_row, 0.0, of_items)
            # Of what is above each block of equal values, and of what is below it.
            above = running_totals(of_partners, offsets[:-1])[begins] - of_partners[begins]
            ends = np.append(begins[1:], len(values)) - 1
            firsts = len(values) - offsets[:0:-1]
            below = running_totals(of_rows[::-1], firsts)[::-1][ends] - of_rows[ends]
            np.add.at(found[0, k], rows, above[block[is_row]])
            np.add.at(found[1, k], partners, below[block[~is_row]])


def _time_of_series(rectangles: Rectangles, n_cells: FloatArray | float) -> FloatArray:
    n_items = rectangles.n_rows + rectangles.n_partners
    return np.asarray(ITEM * n_items + CELL * np.square(n_cells))
