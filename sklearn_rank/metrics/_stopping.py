"""Mean of 1 / position at which a reader stops, over all orders of tied items.

In a tied block of L items after N others, let ``c_m`` be the chance that the reader has stopped
after m of its items, in the mean over their orders. Up to the item M of the block the mean of
1 / position is ``c_M / (N + M) + sum over 0 < m < M of c_m / ((N + m) (N + m + 1))``. Short
blocks find all c_m item by item, long ones by integrals or grade by grade, so that no block costs
the square of its length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, xlogy

from .._lists import ScoredLists
from .._order import ragged_ranges, tied_blocks
from .._typing import BoolArray, FloatArray, IntArray

# Blocks of more items than this are integrated; it takes about as long as item by item here, for
# short ones if the weights of the integral are a short sum.
LONG = 512
SHORT = 128
MOST_TERMS = 1000.0
# Lists whose lengths differ by no more than this factor share a matrix.
GROWTH = 1.25
# Entries of a matrix that is worked on at once.
CHUNK = 2**17
# exp(-NEGLIGIBLE) is nothing beside 1 in float64.
NEGLIGIBLE = 40.0
# Trapezoids of this width are exact in float64 for the integrals below, with a margin.
STEP = 0.25


def reciprocal_stop(lists: ScoredLists, chance: FloatArray, k: int | None) -> FloatArray:
    """Mean of 1 / position of the item at which a reader stops, 0 if none. Shape (n_lists,)."""
    blocks = tied_blocks(lists.score, lists.offsets)
    chance = chance[blocks.order]
    starts, sizes, first = blocks.starts, blocks.lengths(), blocks.first
    del blocks
    heads = lists.offsets[:-1]
    if k is not None:
        counted = np.minimum(np.diff(lists.offsets), k)
        n_kept = np.searchsorted(starts, heads + counted) - first
        kept = ragged_ranges(first, n_kept)
        starts, sizes = starts[kept], sizes[kept]
        first = np.cumsum(n_kept) - n_kept
    n_blocks = np.diff(first, append=len(starts))
    above = starts - np.repeat(heads, n_blocks)
    taken = sizes if k is None else np.minimum(sizes, k - above)
    # As if each block were its first item alone; blocks of more follow.
    value = chance[starts]
    going_on = 1.0 - value
    value /= above + 1
    needed = sizes > 1
    if np.any(sizes > SHORT):
        # Blocks with probability 0 of being reached are skipped.
        stays = np.multiply.reduceat(1.0 - chance, starts)
        needed &= _reached(stays, first) > np.exp(-NEGLIGIBLE)
        going_on[~needed] = stays[~needed]
    long = needed & (sizes > SHORT)
    long[long] = (sizes[long] > LONG) | (_n_terms(above[long], sizes[long]) < MOST_TERMS)
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
    value *= _reached(going_on, first)
    return np.add.reduceat(value, first)


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


def _reached(going_on: FloatArray, first: IntArray) -> FloatArray:
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
        stopped = _stopped(stop, count, taken)
        end = above + np.arange(1.0, taken)
        value = stopped[-1] / (above + taken) + stopped[:-1] @ (1.0 / (end * (end + 1.0)))
        return float(value), going_on
    odds = np.arange(-NEGLIGIBLE - np.log(above + size), NEGLIGIBLE, STEP)
    if (above, size) not in weights:
        weights[above, size] = _weight(odds, above, size)
    return float(_density(odds, stop, count) @ weights[above, size]), going_on


def _density(odds: FloatArray, stop: FloatArray, count: IntArray) -> FloatArray:
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


def _n_terms(above: Any, size: Any) -> FloatArray:
    """Number of terms after which nothing is left of the sum in :func:`_weight`."""
    above = np.asarray(above, dtype=np.float64)
    with np.errstate(over="ignore"):
        terms: FloatArray = np.ceil((above + size) * np.expm1(NEGLIGIBLE / (above + 1.0))) + 1.0
    return terms


def _weight(odds: FloatArray, above: int, size: int) -> FloatArray:
    """Weights at ``t = expit(odds)`` with which the density sums to the mean of 1 / position.

    Give each item a time drawn from (0, 1), and let ``a^(N + number of items before)`` be
    integrated over a: with homogeneous coordinates the mean is the integral over t of the density
    times ``W(t) = integral over a in (0, 1) of a^(N + L) / (t + a (1 - t))^(L + 1)``. In the
    logarithm of the odds of t and of a the integrands are analytic and vanish at both ends, where
    sums at equal distances converge exponentially. W is also a hypergeometric function, ``(N + L +
    1) W(t) = sum over i of (1 - t)^i times the product of (L + j) / (N + L + 1 + j) for j = 1..i``
    (Euler's transformation), of which few terms are needed after many items.
    """
    n_terms = float(_n_terms(above, size))
    if n_terms < MOST_TERMS:
        j = np.arange(1.0, n_terms)
        ratio = np.append(1.0, np.cumprod((size + j) / (above + size + 1.0 + j)))
        rest, total = expit(-odds), np.zeros(len(odds))
        for coefficient in ratio[::-1].tolist():
            total *= rest
            total += coefficient
        return STEP * total / (above + size + 1.0) * expit(odds) * rest
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


def _stopped(stop: FloatArray, count: IntArray, taken: int) -> FloatArray:
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
    """c_m after ``number`` items of one chance were mixed with ``total`` others.

    Of the first m items, x are new with a hypergeometric chance.
    """
    after = np.zeros_like(before)
    new = np.arange(len(before), dtype=np.float64)
    with np.errstate(divide="ignore"):
        stay = np.exp(new * np.log1p(-chance)) if chance < 1 else (new == 0).astype(np.float64)
    stop = 1.0 - stay if chance == 1 else -np.expm1(new * np.log1p(-chance))
    for m in range(1, min(len(before), total + number + 1)):
        low, high = max(0, m - total), min(m, number)
        x = new[low:high]
        step = np.log((number - x) * (m - x) / ((x + 1.0) * (total - m + x + 1.0)))
        logarithm = np.append(0.0, np.cumsum(step))
        share = np.exp(logarithm - logarithm.max())
        share /= share.sum()
        here = np.arange(low, high + 1)
        after[m] = share @ (stop[here] + stay[here] * before[m - here])
    return after
