"""Influence of single items on a point of the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from .._order import CountedBlocks, counted_blocks
from .._typing import BoolArray, FloatArray
from ._influence import ClassInfluence, by_row

# Standard deviations of the rank of the threshold over which the slope of the curve is taken.
REACH = 2.0


@dataclass(frozen=True)
class _Curve:
    """How many items of one class stand before each of another, from one end of the list."""

    ones: FloatArray  # (n_blocks,): Items of the class whose rate it is, by blocks of tied items
    others: FloatArray  # (n_blocks,): Items of the class whose rate is given

    def block_of(self, number: int) -> int:
        """Find the block that holds an item of the other class, the first being number 1."""
        return int(np.searchsorted(np.cumsum(self.others), number, "left"))

    def before(self, number: int) -> float:
        """Count the ones before an item of the other class, in the mean over orders of ties."""
        if number < 1:
            return 0.0
        if number > self.others.sum():
            return float(self.ones.sum())
        at = self.block_of(number)
        inside = number - self.others[:at].sum()
        return float(self.ones[:at].sum() + self.ones[at] * inside / (self.others[at] + 1.0))


@dataclass(frozen=True, eq=False, kw_only=True)
class RateInfluence(ClassInfluence):
    """Influence on a rate, with the curve and the number of the threshold that it is read from."""

    curve: _Curve
    threshold: int  # Number of the item of the others that is the threshold
    rate: float  # Share of the others before it in the population
    of_positives: bool


def rate_influence(
    positive: BoolArray,
    score: FloatArray,
    allowed: int,
    rate: float,
    *,
    of_positives: bool,
    counts: FloatArray | None = None,
    draws: float | None = None,
) -> RateInfluence:
    """Influence of checked items on the rate of one class at a rate of the other.

    The rate of the ones before the threshold, which is the first of the others beyond those that
    are allowed there. An item before it adds to the rate if it is a one; if it is another, it
    moves the threshold, over which the rate falls by the slope of the curve.

    The slope is that of the line over two standard deviations ``sqrt(m rate (1 - rate))`` of the
    number of others before the threshold of the population, on either side, one more item of the
    ones added. Before the threshold of the sample ``(allowed + 1) / (m + 1)`` of the others stand
    on average: what the rate gains by it is the bias.
    """
    blocks = counted_blocks(score, positive, counts)
    curve = _curve_of(blocks, of_positives)
    k, m = float(curve.ones.sum()), float(curve.others.sum())
    at = curve.block_of(allowed + 1)
    inside = allowed + 1 - float(curve.others[:at].sum())
    repeated = 1.0 if draws is None else blocks.n / draws
    reach = ceil(REACH * np.sqrt(m * rate * (1.0 - rate) * repeated))
    first, last = max(allowed + 1 - reach, 0), min(allowed + 1 + reach, int(m) + 1)
    slope = (curve.before(last) - curve.before(first) + 1.0) / (last - first) * m / k
    before = np.zeros(len(curve.ones))
    before[:at] = 1.0
    if_one, if_other = before.copy(), before * -slope
    if_one[at] = inside / (curve.others[at] + 1.0)
    if_other[at] = -slope * (inside - 1.0) / curve.others[at]
    reached = curve.before(allowed + 1) / k
    bias = slope * ((allowed + 1.0) / (m + 1.0) - rate)
    if of_positives:
        values, ends = by_row(blocks, positive, if_one, if_other), (0.0, 1.0, 0.0, -slope)
    else:
        # Before the threshold is below it, and the rate is that of negatives that are not.
        reached, bias, ends = 1.0 - reached, -bias, (slope, 0.0, -1.0, 0.0)
        values = by_row(blocks, positive, -if_other[::-1], -if_one[::-1])
    return RateInfluence(
        estimate=reached,
        values=values,
        positive=positive,
        ends=ends,
        range=(0.0, 1.0),
        label_slope=0.0,
        counts=counts,
        bias=bias,
        curve=curve,
        threshold=allowed + 1,
        rate=rate,
        of_positives=of_positives,
    )


def _curve_of(blocks: CountedBlocks, of_positives: bool) -> _Curve:
    """Curve of the positives from the top, or of the negatives from the bottom."""
    negatives = blocks.size - blocks.n_pos
    if of_positives:
        return _Curve(blocks.n_pos, negatives)
    return _Curve(negatives[::-1], blocks.n_pos[::-1])
