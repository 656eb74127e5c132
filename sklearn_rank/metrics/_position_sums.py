"""Sums of smooth functions over runs of consecutive positions, long ones in closed form.

After Euler and Maclaurin, about the middles of the positions,
``sum of f(s + j) over j = 1..m = integral of f from s + 1/2 to s + m + 1/2 + sum over i of
c_i (f^(2i-1)(s + m + 1/2) - f^(2i-1)(s + 1/2))``, ``c = -1/24, 7/5760, -31/967680, ...``. From
position 64 on three terms leave less than 1e-15 of the sum for the functions here; positions
before are added one by one. Values below the smallest normal number of float64, 2.2e-308, have
fewer digits, and so have sums of nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from scipy.special import expi, ndtri

from .._order import ragged_ranges
from .._typing import FloatArray, IntArray

# Positions before this one, and runs of at most so many, are added one by one.
HEAD = 64.0
# Terms that are laid out at a time.
CHUNK = 2**20
COEFFICIENTS = (-1 / 24, 7 / 5760, -31 / 967680)
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(12)
# exp(-NEGLIGIBLE) is nothing beside 1 in float64.
NEGLIGIBLE = 40.0
# Positions with a table: the first few, and more where a table costs less than the runs.
TABLE, TABLE_BY_RUN = 4096, 4


class Run(ABC):
    """A function of the position, smooth from position 64 on, and its sums over runs."""

    @abstractmethod
    def at(self, position: FloatArray, length: FloatArray) -> FloatArray:
        """Values at positions in lists of some length; they broadcast."""

    @abstractmethod
    def odd_derivatives(self, position: FloatArray, length: FloatArray) -> tuple[FloatArray, ...]:
        """First, third and fifth derivative by the position."""

    @abstractmethod
    def wide_integral(self, start: FloatArray, stop: FloatArray, length: FloatArray) -> FloatArray:
        """Integral between positions of which the second is not close to the first."""

    def integral(self, start: FloatArray, width: FloatArray, length: FloatArray) -> FloatArray:
        """Integral from some positions over a width, to rounding."""
        result = self.wide_integral(start, start + width, length)
        half = width / 2.0
        # A difference of primitives would cancel; the nearest pole is at 0, far off.
        narrow = np.flatnonzero(start + half >= 3.0 * half)
        for some in np.array_split(narrow, len(narrow) * len(NODES) // CHUNK + 1):
            middle, by = (start + half)[some, np.newaxis], half[some, np.newaxis]
            values = self.at(middle + by * NODES, length[some, np.newaxis])
            result[some] = half[some] * (values @ NODE_WEIGHTS)
        return result

    def added(self, before: FloatArray, count: FloatArray, length: FloatArray) -> FloatArray:
        """Sum the values at the ``count`` positions after ``before`` one by one."""

        def values(part: IntArray, terms: IntArray, step: IntArray) -> FloatArray:
            return self.at(np.repeat(before[part], terms) + step, np.repeat(length[part], terms))

        return _laid_out(count, values)

    def sums(self, before: FloatArray, count: FloatArray, length: FloatArray) -> FloatArray:
        """Sum the values at runs of positions. Shape (n_runs,)."""
        head = np.where(count <= HEAD, count, np.clip(np.ceil(HEAD - before), 0.0, count))
        sums = self.added(before, head, length)
        far = np.flatnonzero(count > head)
        if len(far):
            sums[far] += self._smooth_sums(
                before[far] + head[far], count[far] - head[far], length[far]
            )
        return sums

    def sums_between(self, begin: FloatArray, end: FloatArray, length: FloatArray) -> FloatArray:
        """Sum the values at positions in ``(begin, end]``, a part of one counting by its share.

        Shape (n_runs,).
        """
        first, last = np.floor(begin), np.floor(end)
        sums = self.sums(first, last - first, length)
        cut = np.flatnonzero((first != begin) | (last != end))
        if len(cut):
            begin, end, first, last, length = (x[cut] for x in (begin, end, first, last, length))
            after = self.at(last + 1.0, length)
            parts = (end - last) * after - (begin - first) * self.at(first + 1.0, length)
            sums[cut] = np.where(first == last, (end - begin) * after, sums[cut] + parts)
        return sums

    def _smooth_sums(
        self, before: FloatArray, count: FloatArray, length: FloatArray
    ) -> FloatArray:
        start = before + 0.5
        sums = self.integral(start, count, length)
        ends = (self.odd_derivatives(start + by, length) for by in (count, 0.0))
        for coefficient, upper, lower in zip(COEFFICIENTS, *ends, strict=True):
            sums += coefficient * (upper - lower)
        return sums


class LogarithmicRun(Run):
    """The discount ``1 / log(1 + i)``, whatever the length of the list."""

    def at(self, position: FloatArray, length: FloatArray) -> FloatArray:
        # Positions begin at 1, where log1p is no more exact, but slower.
        return 1.0 / np.log(1.0 + position)

    def sums_between(self, begin: FloatArray, end: FloatArray, length: FloatArray) -> FloatArray:
        most = max(TABLE, TABLE_BY_RUN * len(end))
        late = np.flatnonzero(end > most)
        if len(late) == len(end):
            return super().sums_between(begin, end, length)
        if len(late) == 0:
            return _DiscountTable(int(end.max())).sums_between(begin, end)
        sums = np.empty(len(end))
        sums[late] = super().sums_between(begin[late], end[late], length[late])
        early = np.flatnonzero(end <= most)
        sums[early] = _DiscountTable(most).sums_between(begin[early], end[early])
        return sums

    def wide_integral(self, start: FloatArray, stop: FloatArray, length: FloatArray) -> FloatArray:
        return expi(np.log1p(stop)) - expi(np.log1p(start))

    def odd_derivatives(self, position: FloatArray, length: FloatArray) -> tuple[FloatArray, ...]:
        y, r = 1.0 + position, 1.0 / np.log1p(position)
        square = r * r
        third = 2.0 + r * (6.0 + r * 6.0)
        fifth = 24.0 + r * (100.0 + r * (210.0 + r * (240.0 + r * 120.0)))
        # Quotients one after another: powers of late positions overflow.
        return -square / y, -square * third / y / y / y, -square * fifth / y / y / y / y / y


class _DiscountTable:
    """The discounts ``1 / log(1 + i)`` of the first positions, and their running sums.

    What rounding took from the running sums is kept, so that the difference of two late ones has
    the digits of a sum of its own.
    """

    def __init__(self, last: int) -> None:
        # One more for runs that end at the last position, of which they take nothing.
        discount = 1.0 / np.log(np.arange(2.0, last + 3.0))
        total = np.empty(last + 2)
        total[0] = 0.0
        np.cumsum(discount, out=total[1:])
        added = np.diff(total)
        lost = np.empty(last + 2)
        lost[0] = 0.0
        np.cumsum((total[:-1] - (total[1:] - added)) + (discount - added), out=lost[1:])
        self.discount, self.total, self.lost = discount, total, lost

    def sums_between(self, begin: FloatArray, end: FloatArray) -> FloatArray:
        first, last = begin.astype(np.intp), end.astype(np.intp)
        sums = self.total[last] - self.total[first]
        sums += self.lost[last] - self.lost[first]
        before, part = begin - first, end - last
        after = self.discount[last]
        sums += part * after - before * self.discount[first]
        within = np.flatnonzero(first == last)
        sums[within] = (end[within] - begin[within]) * after[within]
        return sums


class NormalQuantileRun(Run):
    """The normal quantile at ``i / length``, for positions up to about half the length."""

    def at(self, position: FloatArray, length: FloatArray) -> FloatArray:
        return np.asarray(ndtri(position / length))

    def wide_integral(self, start: FloatArray, stop: FloatArray, length: FloatArray) -> FloatArray:
        return length * (_density(self.at(start, length)) - _density(self.at(stop, length)))

    def odd_derivatives(self, position: FloatArray, length: FloatArray) -> tuple[FloatArray, ...]:
        z = self.at(position, length)
        first = 1.0 / (length * _density(z))
        square = z * z
        return (
            first,
            (1.0 + 2.0 * square) * first**3,
            (7.0 + square * (46.0 + square * 24.0)) * first**5,
        )


class PowerRun(Run):
    """The power ``(i / length)**p``."""

    def __init__(self, p: float) -> None:
        self.p = p

    def at(self, position: FloatArray, length: FloatArray) -> FloatArray:
        return np.exp(self.p * _log_share(position, length))

    def wide_integral(self, start: FloatArray, stop: FloatArray, length: FloatArray) -> FloatArray:
        return self.integral(start, stop - start, length)

    def integral(self, start: FloatArray, width: FloatArray, length: FloatArray) -> FloatArray:
        stop, power = start + width, self.p + 1.0
        near = width < start
        ratio = np.where(near, np.log1p(-np.where(near, width, 0.0) / stop), np.log(start / stop))
        last = np.exp(power * _log_share(stop, length))
        return length / power * last * -np.expm1(power * ratio)

    def _last_terms(self, last: FloatArray, count: FloatArray, length: FloatArray) -> FloatArray:
        """Sum the values at ``count`` positions up to ``last`` one by one, from the last down.

        Late positions have the float of their neighbours, whose powers are others.
        """

        def shares(part: IntArray, terms: IntArray, step: IntArray) -> FloatArray:
            return np.exp(self.p * np.log1p((1.0 - step) / np.repeat(last[part], terms)))

        return self.at(last, length) * _laid_out(count, shares)

    def odd_derivatives(self, position: FloatArray, length: FloatArray) -> tuple[FloatArray, ...]:
        found, value = [], self.at(position, length)
        for order in range(5):
            value = value * ((self.p - order) / position)
            found.append(value)
        return found[0], found[2], found[4]

    def sums(self, before: FloatArray, count: FloatArray, length: FloatArray) -> FloatArray:
        # Smooth from 16 p on; before, all but the last terms of a run are nothing beside them.
        rough = np.ceil(np.maximum(max(HEAD, 16.0 * self.p) - before, 0.0))
        rough = np.where(count <= HEAD, count, np.minimum(rough, count))
        cut = before + rough
        terms = np.maximum(HEAD, np.ceil(np.minimum(NEGLIGIBLE / self.p * cut, cut)))
        terms = np.minimum(terms, rough)
        sums = self._last_terms(cut, terms, length)
        far = np.flatnonzero(count > rough)
        if len(far):
            sums[far] += self._smooth_sums(cut[far], (count - rough)[far], length[far])
        return sums


def _laid_out(
    count: FloatArray, values: Callable[[IntArray, IntArray, IntArray], FloatArray]
) -> FloatArray:
    """Sum ``values`` of some runs, their numbers of terms, and the terms 1, 2, ... of each."""
    sums = np.zeros(len(count))
    some = np.flatnonzero(count > 0)
    if len(some) == 0:
        return sums
    for part in np.array_split(some, int(len(some) * count.max()) // CHUNK + 1):
        terms = count[part].astype(np.intp)
        step = ragged_ranges(np.ones(len(part), dtype=np.intp), terms)
        sums[part] = np.add.reduceat(values(part, terms, step), np.cumsum(terms) - terms)
    return sums


def _density(z: FloatArray) -> FloatArray:
    return np.exp(-z * z / 2.0) / np.sqrt(2.0 * np.pi)


def _log_share(position: FloatArray, length: FloatArray) -> FloatArray:
    """``log(position / length)``, its digits kept where it is close to 0."""
    late = position > length / 2.0
    with np.errstate(divide="ignore"):
        return np.where(
            late,
            np.log1p((np.where(late, position, length) - length) / length),
            np.log(position / length),
        )
