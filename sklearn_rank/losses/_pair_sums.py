"""Sums over pairs of items of a list, the rows and the partners of rectangles of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._lists import Lists
from .._logistic_sums import HALF_WIDTH, WIDEST, LogisticSums
from .._optional import compiling_pays
from .._order import descending, ragged_ranges, running_totals
from .._typing import AnyArray, FloatArray, IntArray

# Pairs that are worked on at once, in the cache.
BLOCK = 2**15

# Nanoseconds of a pair and of an item of a rectangle, pair by pair.
PAIR, COMPILED_PAIR, MEMBER = 5.0, 2.5, 50.0

# Nanoseconds of an item, an interval of scores and a pair of intervals, by series.
ITEM, CELL, PAIR_OF_CELLS = 250.0, 10e3, 1e3

# Nanoseconds of a pair as an entry of a matrix, and of an item of a rectangle that is sorted.
ENTRY, SORTED = 8.0, 250.0

# Odds exp(s_j - s_i) are quotients of exponentials taken once an item where the scores lie within
# this distance of each other, and products of eight of them are then within float64.
NARROW = 20.0

# Differences of scores from which on the odds would leave float64.
LARGEST = 700.0


class Rectangles(NamedTuple):
    """Pairs of an item with one of the stretch of its partners; items of a list are in order."""

    lists: IntArray  # (m,): The list of each rectangle
    rows: IntArray  # (m,): First of its rows
    n_rows: IntArray
    partners: IntArray  # (m,): First of its partners
    n_partners: IntArray

    def only(self, mask: AnyArray) -> Rectangles:
        return Rectangles(*(column[mask] for column in self))

    def pairs(self, n_items: int) -> tuple[IntArray, ...]:
        """Row and partner of each pair, by rows, and where the pairs of each item begin."""
        rows = ragged_ranges(self.rows, self.n_rows)
        order = np.argsort(rows, kind="stable")
        begins, counts = (np.repeat(of, self.n_rows) for of in (self.partners, self.n_partners))
        partners = ragged_ranges(begins[order], counts[order])
        begins = np.cumsum(np.bincount(rows + 1, counts, n_items + 1))
        of_pairs = np.repeat(rows[order], counts[order]), partners, begins
        return tuple(of.astype(np.int32) for of in of_pairs)

    def batches(self, dummy: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Lists, rows and partners of rectangles of about one size, filled up by a dummy item."""
        step = np.maximum(BLOCK // self.n_partners, 1)
        n_steps = -(-self.n_rows // step)
        parts = self.only(np.repeat(np.arange(len(step)), n_steps))
        before = np.repeat(step, n_steps) * ragged_ranges(np.zeros_like(n_steps), n_steps)
        n_rows = np.minimum(parts.n_rows - before, np.repeat(step, n_steps))
        parts = parts._replace(rows=parts.rows + before, n_rows=n_rows)
        heights, widths = _filled_up(parts.n_rows), _filled_up(parts.n_partners)
        order = np.lexsort((heights, widths))
        ends = np.flatnonzero((np.diff(heights[order]) != 0) | (np.diff(widths[order]) != 0)) + 1
        for same in np.split(order, ends) if len(order) else ():
            height, width = heights[same[0]], widths[same[0]]
            at_once = max(int(BLOCK // (height * width)), 1)
            for start in range(0, len(same), at_once):
                part = parts.only(same[start : start + at_once])
                sides = (
                    np.where(
                        np.arange(size) < count[:, None], begin[:, None] + np.arange(size), -1
                    )
                    for begin, count, size in (
                        (part.rows, part.n_rows, height),
                        (part.partners, part.n_partners, width),
                    )
                )
                rows, partners = (np.where(side < 0, dummy, side) for side in sides)
                yield part.lists, np.asfortranarray(rows), np.asfortranarray(partners)


def _filled_up(sizes: IntArray) -> IntArray:
    """Sizes of at most two binary digits that are no smaller, by half at most."""
    unit = 2 ** np.maximum(np.frexp(sizes - 0.5)[1] - 2, 0)
    return -(-sizes // unit) * unit


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
    """Sums over pairs, and what they are of; the last item is a dummy."""

    orders: tuple[int, ...]  # Of the derivatives
    factors: FloatArray  # (2, n_factors, n + 1): Of the items as rows, and as partners
    items: FloatArray  # (2, n_orders, n_factors, n + 1): At the rows, and at the partners
    lists: FloatArray  # (n_lists,): Totals of the order 0 and the first factors


class LogisticPairs:
    """Sums of derivatives of ``log(1 + exp(s_j - s_i))`` over the pairs of rectangles.

    Small rectangles are summed pair by pair, in others series of the logistic function take time
    linear in the number of items, whichever is predicted to take less time.
    """

    def __init__(self, rectangles: Rectangles, lists: Lists, is_weighted: bool) -> None:
        self._lists, self._is_weighted = lists, is_weighted
        by_series, by_pairs = _time_of_series(rectangles, 1.0), _time_of_pairs(rectangles, PAIR)
        self._compiled = compiling_pays(float(np.minimum(by_series, by_pairs).sum()))
        self._pair = COMPILED_PAIR if self._compiled else PAIR
        is_large = by_series < _time_of_pairs(rectangles, self._pair)
        small, self._large = rectangles.only(~is_large), rectangles.only(is_large)
        self._small = [] if self._compiled else list(small.batches(len(lists.labels)))
        self._stacked = np.stack(small).astype(np.int64)

    def sums(
        self, score: FloatArray, orders: tuple[int, ...], *factors: tuple[FloatArray, FloatArray]
    ) -> _Sums:
        """Sum derivatives of some orders, with each of some factors of the rows and partners.

        Sums at each row over its partners, times the factors of these; at each partner over its
        rows; and of the order 0 the total of each list.
        """
        n, n_lists = len(score), self._lists.n_lists
        padded = np.zeros((2, len(factors), n + 1))
        padded[:, :, :n] = np.swapaxes(factors, 0, 1)
        found = _Sums(
            orders, padded, np.zeros((2, len(orders), len(factors), n + 1)), np.zeros(n_lists)
        )
        batches = self._small
        if self._compiled and self._stacked.size:
            from ._pair_kernels import add_pairs

            limits = self._is_weighted, NARROW, LARGEST
            add_pairs(score, self._stacked, np.array(orders), *limits, *found[1:])
        if len(self._large.lists):
            batches = [*batches, *self._add_series(score, found).batches(n)]
        most = max((rows.size * partners.shape[1] for _, rows, partners in batches), default=0)
        space = np.empty((3, most))
        about_middle = np.zeros(n + 1)
        high, low = self._lists.largest(score), -self._lists.largest(-score)
        about_middle[:n] = score - self._lists.to_items(0.5 * (high + low))
        is_wide = high - low > NARROW
        with np.errstate(over="ignore"):
            ups, downs = np.exp(about_middle), np.exp(-about_middle)
        ups[n] = 0.0
        for batch in batches:
            wide = is_wide[batch[0]]
            for part in (wide, ~wide) if wide.any() and not wide.all() else (slice(None),):
                lists, rows, partners = (column[part] for column in batch)
                if wide.any() and is_wide[lists[0]]:
                    self._add_pairs(lists, rows, partners, about_middle, None, found, space)
                else:
                    self._add_pairs(lists, rows, partners, ups, downs, found, space)
        return found

    def _add_pairs(
        self,
        lists: IntArray,
        rows: IntArray,
        partners: IntArray,
        ups: FloatArray,
        downs: FloatArray | None,
        found: _Sums,
        space: FloatArray,
    ) -> None:
        """Add the sums of rectangles of one size, pair by pair.

        ``ups`` and ``downs`` are exponentials of the scores and of minus the scores, or scores.
        """
        shape, size = (*rows.shape, partners.shape[1]), rows.size * partners.shape[1]
        # The longest stretch is contiguous.
        layout: Literal["F", "C"] = "F" if shape[0] > shape[2] else "C"
        odds, plus, spare = (part.reshape(shape, order=layout) for part in space[:, :size])
        upper = ups[partners][:, np.newaxis, :]
        if downs is not None:
            np.multiply(upper, downs[rows][:, :, np.newaxis], out=odds)
        else:
            np.subtract(upper, ups[rows][:, :, np.newaxis], out=odds)
            beyond = np.maximum(odds - LARGEST, 0.0)
            np.exp(np.clip(odds, -LARGEST, LARGEST, out=odds), out=odds)
            odds *= (partners < len(ups) - 1)[:, np.newaxis, :]
        np.add(odds, 1.0, out=plus)
        factors = [(x[rows], y[partners]) for x, y in zip(*found.factors, strict=True)]
        derivative = 0
        for number, order in enumerate(found.orders):
            if order == 0:
                if downs is not None and not self._is_weighted:
                    logs = _sums_of_logarithms(plus, spare)
                else:
                    np.log1p(odds, out=spare)
                    if downs is None:
                        spare += beyond
                    logs = np.einsum("bij,bj->bi", spare, factors[0][1])
                np.add.at(found.lists, lists, np.einsum("bi,bi->b", factors[0][0], logs))
                continue
            while derivative < order:
                np.divide(odds, plus, out=odds)
                derivative += 1
            for k, (of_rows, of_partners) in enumerate(factors):
                at_rows = np.einsum("bij,bj->bi", odds, of_partners)
                at_partners = np.einsum("bij,bi->bj", odds, of_rows)
                np.add.at(found.items[0, number, k], rows.ravel(), at_rows.ravel())
                np.add.at(found.items[1, number, k], partners.ravel(), at_partners.ravel())

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
        n_cells = width / (2.0 * HALF_WIDTH) + 1.0
        by_series = _time_of_series(large, n_cells) < _time_of_pairs(large, self._pair)
        by_series &= width < WIDEST
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


def _sums_of_logarithms(values: FloatArray, space: FloatArray) -> FloatArray:
    """Sums of the logarithms along the last axis, of products of up to eight values each."""
    for _ in range(3):
        half, odd = divmod(values.shape[2], 2)
        if odd:
            break
        values = np.multiply(values[:, :, :half], values[:, :, half:], out=space[:, :, :half])
    return np.log(values).sum(axis=2)


class WindowPairs:
    """Sums over the pairs of rectangles whose order is wrong, or right by less than a margin.

    Small rectangles are summed pair by pair, others are sorted.
    """

    def __init__(self, lists: Lists, level: IntArray) -> None:
        """Find the pairs of items with those of later levels, in the order of the items."""
        rectangles, self._n = rectangles_of_levels(lists.list_of, level), len(level)
        by_sort = SORTED * (rectangles.n_rows + rectangles.n_partners)
        by_pairs = ENTRY * rectangles.n_rows * rectangles.n_partners
        is_large = by_sort < by_pairs
        self._compiled = compiling_pays(float(np.minimum(by_sort, by_pairs).sum()))
        if self._compiled:
            self._lists, self._level = (
                lists,
                lists.to_items(np.maximum.reduceat(level, lists.offsets[:-1])) - level,
            )
            return
        self._small = rectangles.only(~is_large).pairs(self._n)
        large = rectangles.only(is_large)
        # Rows and partners of each rectangle, one after the other.
        begins, sizes = (
            np.stack(columns, axis=1).ravel()
            for columns in ((large.rows, large.partners), (large.n_rows, large.n_partners))
        )
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
        rows, partners, begins = self._small
        counts = (score[rows] < score[partners] + margin).astype(np.float64)
        counts = csr_array((counts, partners, begins), shape=(self._n, self._n))
        found = np.stack([(counts @ payload.T).T, (counts.T @ payload.T).T])
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


def _time_of_pairs(rectangles: Rectangles, pair: float) -> FloatArray:
    n_items = rectangles.n_rows + rectangles.n_partners
    return pair * rectangles.n_rows * rectangles.n_partners + MEMBER * n_items


def _time_of_series(rectangles: Rectangles, n_cells: FloatArray | float) -> FloatArray:
    n_items = rectangles.n_rows + rectangles.n_partners
    return np.asarray(ITEM * n_items + CELL * n_cells + PAIR_OF_CELLS * np.square(n_cells))
