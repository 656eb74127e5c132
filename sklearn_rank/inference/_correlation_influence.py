"""Influence of each item of one list on a correlation of scores and relevances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, zeta

from .._blocks import TiedBlocks, tied_blocks
from .._lists import ScoredLists
from .._typing import FloatArray, IntArray

__all__ = ["CorrelationInfluence", "of_spearman", "of_tau_ap", "of_tau_b", "of_tau_x"]


@dataclass(frozen=True, eq=False)
class CorrelationInfluence:
    """First-order influence of each item on a correlation."""

    values: FloatArray  # (n,): Influence, of mean 0; the correlation varies as their mean
    ends: tuple[float, float]


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Items in the order of their scores, from the top, and what is around each."""

    blocks: TiedBlocks  # Blocks of tied scores
    level: IntArray  # (n,): Number of distinct relevances above that of each item
    weights: FloatArray
    above: FloatArray  # (n,): Items above the block
    size: FloatArray  # (n,): Items of the block

    @classmethod
    def of(cls, data: ScoredLists) -> _Pairs:
        """Count."""
        blocks, by_grade = tied_blocks(data.score), tied_blocks(data.grade)
        level = np.empty(len(data.score), dtype=np.int64)
        level[by_grade.order] = np.repeat(np.arange(len(by_grade.starts)), by_grade.lengths())
        level = level[blocks.order]
        lengths = blocks.lengths()
        return cls(
            blocks,
            level,
            _weights_around(level, np.ones(len(level)), blocks.starts),
            np.repeat(blocks.starts, lengths).astype(np.float64),
            np.repeat(lengths, lengths).astype(np.float64),
        )

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.level)

    def agreement(self) -> FloatArray:
        """Items that both orders put on the same side of each, less those on opposite sides."""
        mass = np.bincount(self.level).astype(np.float64)
        ahead = np.cumsum(mass) - mass
        higher, equal, higher_tied, equal_tied = self.weights
        higher_below = ahead[self.level] - higher - higher_tied
        equal_below = mass[self.level] - equal - equal_tied
        lower_below = self.n - self.above - self.size - higher_below - equal_below
        return higher - (self.above - higher - equal) + lower_below - higher_below

    def equal_relevance(self) -> FloatArray:
        """Items of the relevance of each, itself included."""
        return np.bincount(self.level).astype(np.float64)[self.level]

    def to_rows(self, values: FloatArray) -> FloatArray:
        """Put values in the order of the rows. Shape (n,)."""
        rows = np.empty(self.n)
        rows[self.blocks.order] = values
        return rows


def _weights_around(level: IntArray, weight: FloatArray, starts: IntArray) -> FloatArray:
    from ._pair_kernels import pair_weights

    found = np.empty((4, len(level)))
    level, starts = (np.ascontiguousarray(one, dtype=np.int64) for one in (level, starts))
    pair_weights(level, np.ascontiguousarray(weight), starts, int(level.max()) + 1, found)
    return found


def of_tau_x(data: ScoredLists) -> CorrelationInfluence:
    """Find the influence of the items on tau-x."""
    pairs = _Pairs.of(data)
    agreement = (pairs.agreement() + pairs.weights[3] - 1.0) / (pairs.n - 1.0)
    mean = float(agreement.mean())
    return CorrelationInfluence(
        pairs.to_rows(2.0 * (agreement - mean)), (2.0 * (-1.0 - mean), 2.0 * (1.0 - mean))
    )


def of_tau_b(data: ScoredLists) -> CorrelationInfluence:
    """Find the influence of the items on tau-b."""
    pairs = _Pairs.of(data)
    others = pairs.n - 1.0
    agreement = pairs.agreement() / others
    by_grade, by_score = (
        (pairs.n - tied) / others for tied in (pairs.equal_relevance(), pairs.size)
    )
    mean, of_grade, of_score = (float(x.mean()) for x in (agreement, by_grade, by_score))
    # Scores that are all tied have correlation 0, for any divisor.
    of_score = of_score or 1.0
    divisor = float(np.sqrt(of_grade * of_score))
    tau = mean / divisor

    def moved(agrees: Any, apart_by_grade: Any, apart_by_score: Any) -> Any:
        ties = (apart_by_grade - of_grade) / of_grade + (apart_by_score - of_score) / of_score
        return 2.0 * (agrees - mean) / divisor - tau * ties

    values = pairs.to_rows(moved(agreement, by_grade, by_score))
    return CorrelationInfluence(
        values - values.mean(), (float(moved(-1.0, 1.0, 1.0)), float(moved(1.0, 1.0, 1.0)))
    )


def of_spearman(data: ScoredLists) -> CorrelationInfluence:
    """Find the influence of the items on Spearman's correlation.

    With u and v the middle ranks by score and by relevance as shares of the list, less one half,
    an item has ``12 (u v + p + q)`` less the mean: p is the mean of v over the items that it is
    below by score, q that of u over those that it is below by relevance, ties counted half.
    """
    n = len(data.score)
    blocks = [tied_blocks(values) for values in (data.score, data.grade)]
    ranks = []
    for one in blocks:
        middle = 0.5 - (one.starts + one.lengths() / 2.0) / n
        share = np.empty(n)
        share[one.order] = np.repeat(middle, one.lengths())
        ranks.append(share)
    found = ranks[0] * ranks[1]
    mean = float(found.mean())
    for one, other in zip(blocks, reversed(ranks), strict=True):
        sums = one.totals(other)
        above = (np.cumsum(sums) - sums / 2.0) / n
        found[one.order] += np.repeat(above, one.lengths())
    found *= 12.0
    found -= found.mean()
    return CorrelationInfluence(found, (-3.0 - 36.0 * mean, 3.0 - 36.0 * mean))


def of_tau_ap(data: ScoredLists) -> CorrelationInfluence:
    """Find the influence of the items on tau-AP."""
    pairs = _Pairs.of(data)
    above, size = pairs.above, pairs.size
    right = pairs.weights[0] + pairs.weights[1] / 2.0
    # Of the others of the block, those that belong above the item: each has place r in 1..size.
    tied_right = pairs.weights[2] + (pairs.weights[3] - 1.0) / 2.0
    each = tied_right / np.maximum(size - 1.0, 1.0)
    # Sums over its places of 1 / m and 1 / m^2, m the items above it; then of (r - 1) / m,
    # (r - 1) / m^2 and (r - 1)^2 / m^2.
    ones, squares = _place_sums(above, size)
    first = above == 0.0
    ratio = np.where(first, size - 1.0, size - above * ones)
    by_square = np.where(first, ones, ones - above * squares)
    of_squares = np.where(first, size - 1.0, size - 2.0 * above * ones + above**2 * squares)
    share = (right * ones + each * ratio) / size
    # What an item above adds, if it belongs there, and what its presence takes.
    gain, loss = ones / size, (right * squares + each * by_square) / size
    gain[first] = loss[first] = 0.0
    lower = _weights_around(
        pairs.level.max() - pairs.level[::-1],
        gain[::-1],
        pairs.n - np.append(pairs.blocks.starts[1:], pairs.n)[::-1],
    )[:2, ::-1]
    upto = np.cumsum(loss)
    last = np.repeat(np.append(pairs.blocks.starts[1:], pairs.n) - 1, pairs.blocks.lengths())
    added = lower[0] + lower[1] / 2.0 - (upto[-1] - upto[last])
    among = size * np.maximum(size - 1.0, 1.0)
    inside = (right * by_square + each * of_squares) / among
    if not pairs.blocks.untied:
        of_block = np.add.reduceat(inside, pairs.blocks.starts)
        others = np.repeat(of_block, pairs.blocks.lengths()) - inside
        added += np.where(size > 1.0, ratio / among * (size - 1.0 - tied_right) - others, 0.0)
    values = 2.0 * (share + added)
    mean = float(share.mean())
    return CorrelationInfluence(
        pairs.to_rows(values - values.mean()),
        (-2.0 * max(float(loss.sum()), mean), 2.0 * max(float((gain - loss).sum()), 1.0 - mean)),
    )


def _place_sums(above: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of 1/m and 1/m^2 over ``above <= m < above + size``, but m = 0."""
    least = np.maximum(above, 1.0)
    ones, squares = 1.0 / least, 1.0 / least**2
    ones[(above == 0.0) & (size == 1.0)] = squares[(above == 0.0) & (size == 1.0)] = 0.0
    tied = np.flatnonzero(size > 1.0)
    low, high = least[tied], above[tied] + size[tied]
    ones[tied] = digamma(high) - digamma(low)
    squares[tied] = zeta(2.0, low) - zeta(2.0, high)
    return ones, squares
