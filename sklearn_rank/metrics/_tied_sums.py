"""Sums along positions, in the mean over all orders of tied items.

After Euler and Maclaurin, about the middles of the positions,
``sum of f(s + j) over j = 1..m = integral of f from s + 1/2 to s + m + 1/2 + sum over i of
c_i (f^(2i-1)(s + m + 1/2) - f^(2i-1)(s + 1/2))``, ``c = -1/24, 7/5760, -31/967680, ...``. From
position 64 on three terms leave less than 1e-15 of the sum for the functions here; positions
before are added one by one. Values below the smallest normal number of float64, 2.2e-308, have
fewer digits, and so have sums of nothing else.

In a tied block of L items after N others, let ``c_m`` be the chance that the reader has stopped
after m of its items, in the mean over their orders. Up to the item M of the block the mean of
1 / position is ``c_M / (N + M) + sum over 0 < m < M of c_m / ((N + m) (N + m + 1))``. Short
blocks find all c_m item by item, long ones by integrals or grade by grade, so that no block costs
the square of its length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import expi, expit, log_expit, ndtri, xlogy

from .._lists import Lists, ScoredLists
from .._order import (
    MAX_PLACES,
    TiedBlocks,
    near_whole,
    ragged_ranges,
    sorted_descending,
    tied_blocks,
)
from .._typing import AnyArray, BoolArray, FloatArray, IntArray

# Positions before this one, and runs of at most so many, are added one by one.
HEAD = 64.0
# Terms that are laid out at a time.
CHUNK = 2**17
# exp(-NEGLIGIBLE) is nothing beside 1 in float64.
NEGLIGIBLE = 40.0


class Run:
    """A function of the position, smooth from position 64 on, and its sums over runs."""

    # Values at positions in lists of some length; they broadcast.
    at: Callable[[FloatArray, FloatArray], FloatArray]
    # First, third and fifth derivative there.
    odd_derivatives: Callable[[FloatArray, FloatArray], tuple[FloatArray, ...]]
    # Integral between positions of which the second is not close to the first, and a length.
    wide_integral: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

    def integral(self, start: FloatArray, width: FloatArray, length: FloatArray) -> FloatArray:
        """Integral from some positions over a width, to rounding."""
        result = self.wide_integral(start, start + width, length)
        half = width / 2.0
        # A difference of primitives would cancel; the nearest pole is at 0, far off.
        narrow = np.flatnonzero(start + half >= 3.0 * half)
        nodes, weights = np.polynomial.legendre.leggauss(12)
        for some in np.array_split(narrow, len(narrow) * len(nodes) // CHUNK + 1):
            middle, by = (start + half)[some, np.newaxis], half[some, np.newaxis]
            values = self.at(middle + by * nodes, length[some, np.newaxis])
            result[some] = half[some] * (values @ weights)
        return result

    def sums(self, before: FloatArray, count: FloatArray, length: FloatArray) -> FloatArray:

        def values(part: IntArray, terms: IntArray, step: IntArray) -> FloatArray:
            return self.at(np.repeat(before[part], terms) + step, np.repeat(length[part], terms))

        head = np.where(count <= HEAD, count, np.clip(np.ceil(HEAD - before), 0.0, count))
        sums = _sum_terms(head, values)
        far = np.flatnonzero(count > head)
        if len(far):
            sums[far] += self._smooth_sums(
                before[far] + head[far], count[far] - head[far], length[far]
            )
        return sums

    def sums_between(self, begin: FloatArray, end: FloatArray, length: FloatArray) -> FloatArray:
        """Sum the values at positions in ``(begin, end]``, a part of one counting by its share."""
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
        coefficients = (-1 / 24, 7 / 5760, -31 / 967680)
        for coefficient, upper, lower in zip(coefficients, *ends, strict=True):
            sums += coefficient * (upper - lower)
        return sums


class LogarithmicRun(Run):
    """The discount ``1 / log(1 + i)``, whatever the length of the list."""

    def at(self, position: FloatArray, length: FloatArray) -> FloatArray:
        # Positions begin at 1, where log1p is no more exact, but slower.
        return 1.0 / np.log(1.0 + position)

    def sums_between(self, begin: FloatArray, end: FloatArray, length: FloatArray) -> FloatArray:
        """Sum from a table, if it is no longer than what would be added one by one.

        What rounding took from the running sums is kept, so that the difference of two late ones
        has the digits of a sum of its own.
        """
        longest = int(end.max(initial=0.0))
        if longest > HEAD * len(end):
            return super().sums_between(begin, end, length)
        # One more for runs that end at the last position, of which they take nothing.
        discount = 1.0 / np.log(np.arange(2.0, longest + 3.0))
        total, lost = np.zeros((2, longest + 2))
        np.cumsum(discount, out=total[1:])
        added = np.diff(total)
        np.cumsum((total[:-1] - (total[1:] - added)) + (discount - added), out=lost[1:])
        first, last = begin.astype(np.intp), end.astype(np.intp)
        sums, after = total[last] - total[first] + (lost[last] - lost[first]), discount[last]
        parts = (end - last) * after - (begin - first) * discount[first]
        return np.where(first == last, (end - begin) * after, sums + parts)

    def wide_integral(self, start: FloatArray, stop: FloatArray, length: FloatArray) -> FloatArray:
        return expi(np.log1p(stop)) - expi(np.log1p(start))

    def odd_derivatives(self, position: FloatArray, length: FloatArray) -> tuple[FloatArray, ...]:
        y, r = 1.0 + position, 1.0 / np.log1p(position)
        square = r * r
        third = 2.0 + r * (6.0 + r * 6.0)
        fifth = 24.0 + r * (100.0 + r * (210.0 + r * (240.0 + r * 120.0)))
        # Quotients one after another: powers of late positions overflow.
        return -square / y, -square * third / y / y / y, -square * fifth / y / y / y / y / y


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

    def integral(self, start: FloatArray, width: FloatArray, length: FloatArray) -> FloatArray:
        stop, power = start + width, self.p + 1.0
        near = width < start
        ratio = np.where(near, np.log1p(-np.where(near, width, 0.0) / stop), np.log(start / stop))
        last = np.exp(power * _log_share(stop, length))
        return length / power * last * -np.expm1(power * ratio)

    def _last_terms(self, last: FloatArray, count: FloatArray, length: FloatArray) -> FloatArray:
        """Sum terms from ``last`` down; late positions may equal their neighbours in float64."""

        def shares(part: IntArray, terms: IntArray, step: IntArray) -> FloatArray:
            return np.exp(self.p * np.log1p((1.0 - step) / np.repeat(last[part], terms)))

        return self.at(last, length) * _sum_terms(count, shares)

    def odd_derivatives(self, position: FloatArray, length: FloatArray) -> tuple[FloatArray, ...]:
        derivatives = [self.at(position, length)]
        for order in range(5):
            derivatives.append(derivatives[-1] * ((self.p - order) / position))
        return derivatives[1], derivatives[3], derivatives[5]

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


def _sum_terms(
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


def reciprocals(start: FloatArray, count: FloatArray) -> FloatArray:
    """Sum ``1/x + 1/(x+1) + ... + 1/(x+count-1)`` for whole numbers, to rounding.

    The difference of two digamma functions, from their asymptotic series, which does not cancel;
    the first terms of sums that begin below its range are added one by one.
    """
    if np.all(count == 1):
        return 1.0 / start
    result = np.zeros(len(start))
    start, count = start.copy(), count.copy()
    low = np.flatnonzero(start < HEAD)
    while len(low := low[(start[low] < HEAD) & (count[low] > 0)]):
        result[low] += 1.0 / start[low]
        start[low] += 1
        count[low] -= 1
    end = start + count
    result += np.log1p(count / start) + 0.5 * count / (start * end)
    for power, coefficient in ((2, 1 / 12), (4, -1 / 120), (6, 1 / 252)):
        result += coefficient * (start ** -float(power) - end ** -float(power))
    return result


# Blocks of more items than this are integrated; it takes about as long as item by item here.
LONG = 512
# Lists whose lengths differ by no more than this factor share a matrix.
GROWTH = 1.25
# Trapezoids of this width are exact in float64 for the integrals below, with a margin.
STEP = 0.25


def reciprocal_stop(lists: ScoredLists, chance: FloatArray, k: int | None) -> FloatArray:
    """Mean of 1 / position of the item at which a reader stops, 0 if none. Shape (n_lists,)."""
    blocks = tied_blocks(lists.score, lists.offsets)
    chance = chance[blocks.order]
    # Only blocks that begin among the first k places and at which a reader may stop.
    some = np.flatnonzero(blocks.sums(chance))
    list_of = blocks.list_of()[some]
    above = blocks.starts[some] - lists.offsets[list_of]
    if k is not None:
        some, list_of, above = (x[above < k] for x in (some, list_of, above))
    starts, sizes = blocks.starts[some], blocks.lengths()[some]
    del blocks
    first = np.flatnonzero(np.diff(list_of, prepend=-1))
    taken = sizes if k is None else np.minimum(sizes, k - above)
    # As if each block were its first item alone; blocks of more follow.
    value = chance[starts]
    going_on = 1.0 - value
    value /= above + 1
    needed = sizes > 1
    if np.any(sizes > LONG):
        # Blocks with probability 0 of being reached are skipped.
        rows = ragged_ranges(starts, sizes)
        stays = np.multiply.reduceat(1.0 - chance[rows], np.cumsum(sizes) - sizes)
        needed &= _chances_to_reach(stays, first) > np.exp(-NEGLIGIBLE)
        going_on[~needed] = stays[~needed]
    long = needed & (sizes > LONG)
    tied = np.flatnonzero(needed & ~long)
    for which, index, real in padded(starts[tied], sizes[tied]):
        some = tied[which]
        value[some], going_on[some] = _short(
            np.where(real, chance[index], 0.0), sizes[some], above[some], taken[some]
        )
    weights: dict[tuple[int, int], FloatArray] = {}
    for block in np.flatnonzero(long):
        inside = chance[starts[block] : starts[block] + sizes[block]]
        value[block], going_on[block] = _long(
            inside, int(above[block]), int(taken[block]), weights
        )
    value *= _chances_to_reach(going_on, first)
    return np.bincount(list_of, value, lists.n_lists).astype(np.float64, copy=False)


def padded(first: IntArray, lengths: IntArray) -> Iterator[tuple[IntArray, IntArray, BoolArray]]:
    """Lay runs of about equal lengths out as matrices, one run in a row."""
    by_length = np.argsort(lengths, kind="stable")
    ordered = lengths[by_length]
    begin = 0
    while begin < len(ordered):
        longest = int(GROWTH * ordered[begin])
        end = int(np.searchsorted(ordered, longest, "right"))
        width = int(ordered[end - 1])
        for start in range(begin, end, max(1, CHUNK // width)):
            which = by_length[start : min(end, start + max(1, CHUNK // width))]
            position = np.arange(width)
            real = position < lengths[which, np.newaxis]
            last = lengths[which, np.newaxis] - 1
            yield which, first[which, np.newaxis] + np.minimum(position, last), real
        begin = end


def _chances_to_reach(going_on: FloatArray, first: IntArray) -> FloatArray:
    """Chance that a reader goes on through all blocks of the list above each."""
    reached = np.ones(len(going_on))
    for _, index, real in padded(first, np.diff(first, append=len(going_on))):
        passed = np.cumprod(np.where(real, going_on[index], 1.0), axis=1)
        below = real[:, 1:]
        reached[index[:, 1:][below]] = passed[:, :-1][below]
    return reached


def _short(
    chance: FloatArray, sizes: IntArray, above: IntArray, taken: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Mean of 1 / position within each block, and the chance to go on through it.

    An item put into n others at a place drawn at random is among the first m of them with chance m
    / (n + 1), so that c_m becomes ``(1 - m/(n+1)) c_m + m/(n+1) (P + (1 - P) c_(m-1))``.
    """
    # In one order whatever the sort left, so that rounding does not depend on it. Items at which
    # nobody stops come first and leave every c_m at 0.
    chance = np.sort(chance, axis=1)
    width = chance.shape[1]
    position = np.arange(1.0, taken.max() + 1)
    stopped = np.zeros((len(chance), len(position) + 1))
    missing = width - sizes
    idle = int(np.argmax(np.append(chance.any(axis=0), True)))
    for column in range(idle, width):
        # The zeros that fill a row are not items.
        count = np.maximum(column + 1 - missing, 1)
        share = np.minimum(position / count[:, np.newaxis], 1.0)
        stop = chance[:, column, np.newaxis]
        after = stopped[:, :-1] * (1.0 - stop)
        after += stop
        after -= stopped[:, 1:]
        after *= share
        stopped[:, 1:] += after
    rows = np.arange(len(chance))
    end = above + position[:, np.newaxis]
    weight = np.where(position[:, np.newaxis] < taken, 1.0 / (end * (end + 1.0)), 0.0)
    value = np.einsum("ij,ji->i", stopped[:, 1:], weight)
    value += stopped[rows, taken] / (above + taken)
    # Nothing comes after a block that is cut.
    return value, 1.0 - stopped[rows, taken]


def _long(
    chance: FloatArray, above: int, taken: int, weights: dict[tuple[int, int], FloatArray]
) -> tuple[float, float]:
    """Return the same for one long block."""
    size = len(chance)
    stop, count = np.unique(chance, return_counts=True)
    going_on = float(np.exp(xlogy(count, 1.0 - stop).sum()))
    # The chance to go on through m items is at most exp(-m mean(P)) (Hoeffding 1963).
    if taken < size and taken * (stop @ count) < NEGLIGIBLE * size:
        stopped = _chances_to_stop(stop, count, taken)
        end = above + np.arange(1.0, taken)
        value = stopped[-1] / (above + taken) + stopped[:-1] @ (1.0 / (end * (end + 1.0)))
        return float(value), going_on
    odds = np.arange(-NEGLIGIBLE - np.log(above + size), NEGLIGIBLE, STEP)
    if (above, size) not in weights:
        weights[above, size] = _weight(odds, above, size)
    return float(_stopping_density(odds, stop, count) @ weights[above, size]), going_on


def _stopping_density(odds: FloatArray, stop: FloatArray, count: IntArray) -> FloatArray:
    """Derivative of ``1 - prod_i (1 - t P_i)`` at ``t = expit(odds)``."""
    share = expit(odds)[:, np.newaxis]
    rest = expit(-odds)[:, np.newaxis]
    logarithm, slope = np.zeros(len(odds)), np.zeros(len(odds))
    for begin in range(0, len(stop), max(1, CHUNK // len(odds))):
        part = slice(begin, begin + max(1, CHUNK // len(odds)))
        # 1 - t P, which does not cancel.
        left = rest + share * (1.0 - stop[part])
        logarithm += np.log(left) @ count[part]
        slope += (1.0 / left) @ (stop[part] * count[part])
    return np.exp(logarithm) * slope


def _weight(odds: FloatArray, above: int, size: int) -> FloatArray:
    """Weights at ``t = expit(odds)`` with which the density sums to the mean of 1 / position.

    Give each item a time drawn from (0, 1), and let ``a^(N + number of items before)`` be
    integrated over a: with homogeneous coordinates the mean is the integral over t of the density
    times ``W(t) = integral over a in (0, 1) of a^(N + L) / (t + a (1 - t))^(L + 1)``. In the
    logarithm of the odds of t and of a the integrands are analytic and vanish at both ends, where
    sums at equal distances converge exponentially.
    """
    shift = -log_expit(odds)
    inner = np.arange(odds[0] - 5.0, NEGLIGIBLE + np.log(above + size), STEP)
    fixed = above * log_expit(inner) + log_expit(-inner)
    total = np.empty(len(odds))
    rows = max(1, CHUNK // len(inner))
    for begin in range(0, len(odds), rows):
        part = slice(begin, begin + rows)
        ratio = log_expit(inner + shift[part, np.newaxis])
        total[part] = np.exp(fixed + (size + 1) * ratio).sum(axis=1)
    return STEP * STEP * total * expit(odds) * expit(-odds)


def _chances_to_stop(stop: FloatArray, count: IntArray, taken: int) -> FloatArray:
    """c_m for m = 1..taken, grade by grade or item by item, whichever is less work."""
    some = stop > 0
    total = int(count[~some].sum())
    stop, count = stop[some], count[some]
    result = np.zeros(taken + 1)
    position = np.arange(1.0, taken + 1)
    if count.sum() <= len(stop) * taken:
        for chance in np.repeat(stop, count):
            total += 1
            after = chance + (1.0 - chance) * result[:-1] - result[1:]
            result[1:] += np.minimum(position / total, 1.0) * after
        return result[1:]
    for chance, number in zip(stop.tolist(), count.tolist(), strict=True):
        result = _with_grade(result, total, chance, number)
        total += number
    return result[1:]


def _with_grade(before: FloatArray, total: int, chance: float, number: int) -> FloatArray:
    """c_m after ``number`` items of one chance are mixed with ``total`` others."""
    after = np.zeros_like(before)
    new = np.arange(len(before), dtype=np.float64)
    with np.errstate(divide="ignore"):
        stay = np.exp(new * np.log1p(-chance)) if chance < 1 else (new == 0).astype(np.float64)
    stop = 1.0 - stay if chance == 1 else -np.expm1(new * np.log1p(-chance))
    for m in range(1, min(len(before), total + number + 1)):
        least, most = max(0, m - total), min(m, number)
        x = new[least:most]
        step = np.log((number - x) * (m - x) / ((x + 1.0) * (total - m + x + 1.0)))
        logarithm = np.append(0.0, np.cumsum(step))
        share = np.exp(logarithm - logarithm.max())
        share /= share.sum()
        n_new = np.arange(least, most + 1)
        after[m] = share @ (stop[n_new] + stay[n_new] * before[m - n_new])
    return after


Gain: TypeAlias = Literal["exponential", "linear"] | Callable[[FloatArray], Any]


class OfPosition(NamedTuple):
    """A discount that is the same for lists of all lengths."""

    at: Callable[[FloatArray], FloatArray]  # Discounts of positions from 1
    log_base: float | None = None  # Base of a logarithmic discount


_Discount: TypeAlias = OfPosition | Literal["linear"] | Callable[[FloatArray, FloatArray], Any]


def logarithmic(base: float) -> OfPosition:
    """Discount ``1 / log(1 + i)``."""
    return OfPosition(lambda position: np.log(base) / np.log1p(position), base)


def check_gain(name: str, gain: Any) -> None:
    if not callable(gain) and not (isinstance(gain, str) and gain in ("exponential", "linear")):
        raise ValueError(f"{name}={gain!r} must be 'exponential', 'linear' or a callable.")


def gains_of(grade: FloatArray, gain: Gain) -> FloatArray:
    """Gains of relevances. Finite gains, at least 0. Shape (n,)."""
    if callable(gain):
        gains = np.asarray(gain(grade.copy()), dtype=np.float64)
        if gains.shape != grade.shape:
            raise ValueError(
                f"gain returned shape {gains.shape} for {len(grade)} relevances: it must return"
                " one gain for each."
            )
    elif gain == "exponential":
        with np.errstate(over="ignore"):
            gains = np.exp2(grade) - 1.0
    else:
        return grade
    if not gains.max() < np.inf or not gains.min() >= 0:
        wrong = int(np.argmax(~(np.isfinite(gains) & (gains >= 0))))
        raise ValueError(
            f"The gain of the relevance {grade[wrong]:g} is {gains[wrong]:g}: gains must be finite"
            " and at least 0; pass gain='linear', to a ranker as"
            ' measure=get_measure("ndcg", gain="linear"), or smaller relevances.'
        )
    return gains


def discounted_sums(
    lists: ScoredLists, gains: FloatArray, discount: _Discount, k: int | None
) -> FloatArray:
    """Sum of discounted gains of each list, the mean over all orders of tied items."""
    gains, exponent = scaled_gains(lists, gains)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.ldexp(_ranked_sums(lists, lists.score, gains, discount, k), exponent)
    if not np.isfinite(sums).all():
        index = int(np.argmax(~np.isfinite(sums)))
        raise ValueError(
            f"The sum of discounted gains of {lists.name_of(index)} exceeds 1.8e308, the largest"
            " float64: use smaller relevances or discounts, or gain='linear'."
        )
    return sums


def scaled_gains(lists: Lists, gains: FloatArray) -> tuple[FloatArray, IntArray]:
    """Divide very large or very small gains by a power of 2 for each list; and its exponent."""
    largest, limit = lists.largest(gains), np.sqrt(np.finfo(np.float64).max)
    usual = (largest <= limit) & ((largest >= 1.0 / limit) | (largest == 0.0))
    if usual.all():
        return gains, np.zeros(len(usual), dtype=np.intp)
    exponent = np.where(usual, 0, np.frexp(largest)[1])
    return np.ldexp(gains, -lists.to_items(exponent)), exponent


def ideal_sums(lists: Lists, gains: FloatArray, discount: _Discount, k: int | None) -> FloatArray:
    """Sum of discounted gains of the best order of each list. Shape (n_lists,)."""
    if lists.weight is not None:
        return _ranked_sums(lists, gains, gains, discount, k)
    return np.concatenate([_best(part, gains[x], discount, k) for part, x in lists.parts(CHUNK)])


def _best(lists: Lists, gains: FloatArray, discount: _Discount, k: int | None) -> FloatArray:
    ordered = sorted_descending(gains, lists.offsets)
    starts, counted = lists.offsets[:-1], lists.lengths
    if k is not None:
        counted = np.minimum(counted, k)
        ordered = ordered[ragged_ranges(starts, counted)]
        starts = np.cumsum(counted) - counted
    return _list_sums(ordered * discounts_of(discount, lists.lengths, counted), starts)


def _ranked_sums(
    lists: Lists, score: AnyArray, gains: FloatArray, discount: _Discount, k: int | None
) -> FloatArray:
    """Sum part by part, each of which stays in the cache."""
    return np.concatenate(
        [
            _block_sums(part, tied_blocks(score[x], part.offsets), gains[x], discount, k)
            for part, x in lists.parts(CHUNK)
        ]
    )


def _block_sums(
    lists: Lists, blocks: TiedBlocks, gains: FloatArray, discount: _Discount, k: int | None
) -> FloatArray:
    if lists.weight is not None:
        return _weighted_sums(lists, blocks, gains, discount, k)
    lengths = lists.lengths
    counted = lengths if k is None else np.minimum(lengths, k)
    discounts = discounts_of(discount, lengths, counted)
    if k is not None:
        first_k, discounts = discounts, np.zeros(len(blocks.order))
        discounts[ragged_ranges(lists.offsets[:-1], counted)] = first_k
    if blocks.untied:
        return _list_sums(gains[blocks.order] * discounts, blocks.first)
    sums = np.add.reduceat(discounts, blocks.starts)
    return _list_sums(blocks.totals(gains) / blocks.lengths() * sums, blocks.first)


def _weighted_sums(
    lists: Lists, blocks: TiedBlocks, gains: FloatArray, discount: _Discount, k: int | None
) -> FloatArray:
    """Return the same where an item of weight w takes the positions from P to P + w."""
    weight = blocks.totals(lists.counts)
    gain = gains[blocks.order] if blocks.untied else blocks.totals(lists.counts * gains) / weight
    lengths = near_whole(lists.sizes)
    last = lengths if k is None else np.minimum(lengths, k)
    # One list takes numbers that broadcast.
    list_of = slice(None) if lists.n_lists == 1 else blocks.list_of()
    end = np.minimum(blocks.running(weight), last[list_of])
    del weight
    begin = np.append(0.0, end[:-1])
    begin[blocks.first] = 0.0
    length = np.broadcast_to(lengths, end.shape) if lists.n_lists == 1 else lengths[list_of]
    if isinstance(discount, OfPosition) and discount.log_base is not None:
        sums = np.log(discount.log_base) * LogarithmicRun().sums_between(begin, end, length)
    elif discount == "linear":
        # Of length - i over the positions in (begin, end].
        first, last = np.floor(begin), np.floor(end)
        sums = (last - first) * (length - (first + last + 1.0) / 2.0)
        sums += (end - last) * (length - last - 1.0) - (begin - first) * (length - first - 1.0)
    else:
        counted = np.ceil(last)
        if (total := counted.sum()) > MAX_PLACES:
            raise ValueError(
                f"The lists have {total:g} positions to evaluate the discount at, more than the"
                f" limit of {MAX_PLACES:g}: pass k, or weights of a smaller scale."
            )
        sums = _laid_out_sums(discount, lengths, counted.astype(np.int64), end, blocks)
    return _list_sums(gain * sums, blocks.first)


def _laid_out_sums(
    discount: _Discount,
    lengths: FloatArray,
    counted: IntArray,
    end: FloatArray,
    blocks: TiedBlocks,
) -> FloatArray:
    """Sums of the discounts of each block, the positions of all lists end to end.

    Whole positions are added block by block, not as differences of a running sum, which would lose
    the digits of late positions; parts of positions count by their share.
    """
    # One more for sums that end at the last position.
    discounts = np.append(discounts_of(discount, lengths, counted), 0.0)
    base = (np.cumsum(counted) - counted)[blocks.list_of()]
    whole = np.floor(end).astype(np.int64)
    begin = np.append(0, whole[:-1])
    begin[blocks.first] = 0
    edges = np.stack((base + begin, base + whole), axis=1).ravel()
    sums = np.add.reduceat(discounts, edges)[::2]
    # reduceat gives an empty stretch its first item.
    sums[whole == begin] = 0.0
    part = (end - whole) * discounts[base + whole]
    before = np.append(0.0, part[:-1])
    before[blocks.first] = 0.0
    return sums + part - before


def discounts_of(discount: _Discount, lengths: Any, counted: IntArray) -> FloatArray:
    """Discounts of the first positions of each list, list after list."""
    if not isinstance(discount, OfPosition):
        starts = np.ones(len(counted), dtype=np.intp)
        position = ragged_ranges(starts, counted).astype(np.float64)
        length = np.repeat(np.asarray(lengths, dtype=np.float64), counted)
        if discount == "linear":
            return length - position
        values = np.asarray(discount(position, length), dtype=np.float64)
        if values.shape != position.shape:
            raise ValueError(
                f"discount returned shape {values.shape} for {len(position)} positions: it must"
                " return one value for each."
            )
        if not np.isfinite(values).all():
            wrong = int(np.argmax(~np.isfinite(values)))
            raise ValueError(f"discount is not finite at position {position[wrong]:g}.")
        return values
    table = discount.at(np.arange(1, counted.max() + 1).astype(np.float64))
    if counted.min() == counted.max():
        return table if len(counted) == 1 else np.tile(table, len(counted))
    return table[ragged_ranges(np.zeros(len(counted), dtype=np.intp), counted)]


def _list_sums(values: FloatArray, first: IntArray) -> FloatArray:
    """Sums of consecutive stretches, none of them empty."""
    return np.add.reduceat(values, first) if len(first) > 1 else values.sum()[np.newaxis]
