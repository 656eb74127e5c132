"""Interval for a rank correlation by the influence of its items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.special import digamma, zeta

from .._lists import ScoredLists
from .._order import tied_blocks
from .._typing import FloatArray, IntArray
from ..metrics import Measure
from ..metrics._shared import (
    PSEUDO_WEIGHT,
    SpearmanMeasure,
    TauAPMeasure,
    TauBMeasure,
    TauXMeasure,
)
from ._limits import safe_limits
from ._results import Interval
from ._samples import GroupPart, OneList, singleton_groups

# Influence of each item, of mean 0, and of an item at either extreme.
CorrelationInfluence: TypeAlias = tuple[FloatArray, tuple[float, float]]


class _Pairs:
    """Items in descending order of their scores, and the counts of the items around each."""

    def __init__(self, data: ScoredLists) -> None:
        self.n = len(data.score)
        self.blocks = blocks = tied_blocks(data.score)
        # Number of distinct relevances above that of each item.
        by_grade, level = tied_blocks(data.grade), np.empty(self.n, dtype=np.int64)
        level[by_grade.order] = np.repeat(np.arange(len(by_grade.starts)), by_grade.lengths())
        self.level = level[blocks.order]
        # (4, n): Items of higher and of equal relevance, above the block and in the block.
        self.counts = _weights_around(self.level, np.ones(self.n), blocks.starts)
        lengths = blocks.lengths()
        self.above = np.repeat(blocks.starts, lengths).astype(np.float64)  # Items above the block
        self.size = np.repeat(lengths, lengths).astype(np.float64)  # and of the block

    def agreement(self) -> FloatArray:
        """Items that both orders put on the same side of each, less those on opposite sides."""
        mass = np.bincount(self.level).astype(np.float64)
        ahead = np.cumsum(mass) - mass
        higher, equal, higher_tied, equal_tied = self.counts
        higher_below = ahead[self.level] - higher - higher_tied
        equal_below = mass[self.level] - equal - equal_tied
        lower_below = self.n - self.above - self.size - higher_below - equal_below
        return higher - (self.above - higher - equal) + lower_below - higher_below

    def to_rows(self, values: FloatArray) -> FloatArray:
        """Put values in the order of the rows. Shape (n,)."""
        rows = np.empty(self.n)
        rows[self.blocks.order] = values
        return rows


def _weights_around(level: IntArray, weight: FloatArray, starts: IntArray) -> FloatArray:
    from ._pair_kernels import pair_weights

    sums = np.empty((4, len(level)))
    level, starts = (np.ascontiguousarray(x, dtype=np.int64) for x in (level, starts))
    pair_weights(level, np.ascontiguousarray(weight), starts, int(level.max()) + 1, sums)
    return sums


def of_tau_x(data: ScoredLists) -> CorrelationInfluence:
    """Influence of the items on tau-x."""
    pairs = _Pairs(data)
    agreement = (pairs.agreement() + pairs.counts[3] - 1.0) / (pairs.n - 1.0)
    mean = float(agreement.mean())
    ends = (2.0 * (-1.0 - mean), 2.0 * (1.0 - mean))
    return pairs.to_rows(2.0 * (agreement - mean)), ends


def of_tau_b(data: ScoredLists) -> CorrelationInfluence:
    """Influence of the items on tau-b."""
    pairs = _Pairs(data)
    n_others = pairs.n - 1.0
    agreement = pairs.agreement() / n_others
    same_grade = np.bincount(pairs.level).astype(np.float64)[pairs.level]
    by_grade, by_score = ((pairs.n - tied) / n_others for tied in (same_grade, pairs.size))
    mean, mean_grade, mean_score = (float(x.mean()) for x in (agreement, by_grade, by_score))
    # Scores that are all tied have correlation 0, for any divisor.
    mean_score = mean_score or 1.0
    divisor = float(np.sqrt(mean_grade * mean_score))
    tau = mean / divisor

    def influence(agreement: Any, by_grade: Any, by_score: Any) -> Any:
        ties = (by_grade - mean_grade) / mean_grade + (by_score - mean_score) / mean_score
        return 2.0 * (agreement - mean) / divisor - tau * ties

    values = pairs.to_rows(influence(agreement, by_grade, by_score))
    ends = float(influence(-1.0, 1.0, 1.0)), float(influence(1.0, 1.0, 1.0))
    return values - values.mean(), ends


def of_spearman(data: ScoredLists) -> CorrelationInfluence:
    """Influence of the items on Spearman's correlation.

    With u and v the middle ranks by score and by relevance as shares of the list, less one half,
    an item has ``12 (u v + p + q)`` less the mean: p is the mean of v over the items that it is
    below by score, q that of u over those that it is below by relevance, ties counted half.
    """
    n = len(data.score)
    by_score, by_grade = tied_blocks(data.score), tied_blocks(data.grade)
    ranks = []
    for blocks in (by_score, by_grade):
        middle = 0.5 - (blocks.starts + blocks.lengths() / 2.0) / n
        rank = np.empty(n)
        rank[blocks.order] = np.repeat(middle, blocks.lengths())
        ranks.append(rank)
    values = ranks[0] * ranks[1]
    mean = float(values.mean())
    for blocks, rank in ((by_score, ranks[1]), (by_grade, ranks[0])):
        sums = blocks.totals(rank)
        above = (np.cumsum(sums) - sums / 2.0) / n
        values[blocks.order] += np.repeat(above, blocks.lengths())
    values *= 12.0
    values -= values.mean()
    return values, (-3.0 - 36.0 * mean, 3.0 - 36.0 * mean)


def of_tau_ap(data: ScoredLists) -> CorrelationInfluence:
    """Influence of the items on tau-AP."""
    pairs = _Pairs(data)
    above, size = pairs.above, pairs.size
    right = pairs.counts[0] + pairs.counts[1] / 2.0
    # Of the others of the block, those that belong above the item: each has place r in 1..size.
    tied_right = pairs.counts[2] + (pairs.counts[3] - 1.0) / 2.0
    tied_share = tied_right / np.maximum(size - 1.0, 1.0)
    # Sums over its places of 1 / m and 1 / m^2, m the items above it; then of (r - 1) / m,
    # (r - 1) / m^2 and (r - 1)^2 / m^2.
    ones, squares = _place_sums(above, size)
    at_top = above == 0.0
    ratio = np.where(at_top, size - 1.0, size - above * ones)
    by_square = np.where(at_top, ones, ones - above * squares)
    of_squares = np.where(at_top, size - 1.0, size - 2.0 * above * ones + above**2 * squares)
    share = (right * ones + tied_share * ratio) / size
    # What an item above adds, if it belongs there, and what its presence takes.
    gain, loss = ones / size, (right * squares + tied_share * by_square) / size
    gain[at_top] = loss[at_top] = 0.0
    lower = _weights_around(
        pairs.level.max() - pairs.level[::-1],
        gain[::-1],
        pairs.n - np.append(pairs.blocks.starts[1:], pairs.n)[::-1],
    )[:2, ::-1]
    losses = np.cumsum(loss)
    last = np.repeat(np.append(pairs.blocks.starts[1:], pairs.n) - 1, pairs.blocks.lengths())
    added = lower[0] + lower[1] / 2.0 - (losses[-1] - losses[last])
    n_pairs = size * np.maximum(size - 1.0, 1.0)
    in_block = (right * by_square + tied_share * of_squares) / n_pairs
    if not pairs.blocks.untied:
        totals = np.add.reduceat(in_block, pairs.blocks.starts)
        of_others = np.repeat(totals, pairs.blocks.lengths()) - in_block
        added += np.where(size > 1.0, ratio / n_pairs * (size - 1.0 - tied_right) - of_others, 0.0)
    values = 2.0 * (share + added)
    mean = float(share.mean())
    ends = -2.0 * max(float(loss.sum()), mean), 2.0 * max(float((gain - loss).sum()), 1.0 - mean)
    return pairs.to_rows(values - values.mean()), ends


def _place_sums(above: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of 1/m and 1/m^2 over ``above <= m < above + size``, but m = 0."""
    least = np.maximum(above, 1.0)
    ones, squares = 1.0 / least, 1.0 / least**2
    alone = (above == 0.0) & (size == 1.0)
    ones[alone] = squares[alone] = 0.0
    tied = np.flatnonzero(size > 1.0)
    low, high = least[tied], above[tied] + size[tied]
    ones[tied] = digamma(high) - digamma(low)
    squares[tied] = zeta(2.0, low) - zeta(2.0, high)
    return ones, squares


CORRELATIONS: dict[type[Measure], Callable[[ScoredLists], CorrelationInfluence]] = {
    SpearmanMeasure: of_spearman,
    TauAPMeasure: of_tau_ap,
    TauBMeasure: of_tau_b,
    TauXMeasure: of_tau_x,
}


def correlation_interval(measure: Measure, sample: OneList, level: float, *_: Any) -> Interval:
    """Interval for the correlation in the population that the items were drawn from."""
    sample = sample.repeat()
    data = sample.data
    n = len(data.score)
    if np.ptp(data.grade) == 0.0:
        raise ValueError(
            f"{measure.name} is undefined: all {n} items of y_true have the same relevance; pass"
            " items with different relevance."
        )
    estimate = float(measure.values(data)[0])
    values, limits = CORRELATIONS[type(measure)](data)
    # Half an item, or group, is added at either extreme.
    ends = np.array(limits)
    part = GroupPart.of_rows(values[np.newaxis], sample.groups or singleton_groups(n))
    count = part.effective + 2.0 * PSEUDO_WEIGHT
    shift = PSEUDO_WEIGHT * float(ends.sum()) / count
    squares = PSEUDO_WEIGHT * float(np.sum((ends - shift) ** 2)) + part.effective * shift**2
    variance = float(np.sum(part.corrected() ** 2)) * (part.effective / count) ** 2
    variance += squares / count**2
    shrunken = min(max((estimate + shift + 1.0) / 2.0, 0.0), 1.0)
    n_effective = shrunken * (1.0 - shrunken) / (variance / 4.0)
    low, high = safe_limits((estimate + 1.0) / 2.0, n_effective, level, part.degrees)
    low, high = 2.0 * low - 1.0, 2.0 * high - 1.0
    target = f"{measure.name} of the population"
    return Interval(estimate, low, high, level, "influence", target, float(np.sqrt(variance)))
