"""Measures as functions of totals that are linear in the labels, which may then be fractions.

Positions are known without labels: what is missing where labels are known in part are labels only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._order import tied_blocks
from .._typing import AnyArray, FloatArray

# Step of the differences, relative to the total.
STEP = 1e-5


class LabelTotal(NamedTuple):
    """A measure of one list as a function of the sum of weights times labels, and of labels."""

    weights: FloatArray  # (n_items,)
    value: Callable[[float, float], float]  # Of the weighted sum, and of the number of positives

    def at(self, labels: FloatArray) -> tuple[float, FloatArray]:
        """Value, and derivative in each label."""
        total, n_pos = float(self.weights @ labels), float(labels.sum())
        of_total, of_number = STEP * max(abs(total), 1.0), STEP * max(n_pos, 1.0)
        up, down = self.value(total + of_total, n_pos), self.value(total - of_total, n_pos)
        more, fewer = self.value(total, n_pos + of_number), self.value(total, n_pos - of_number)
        slopes = (up - down) / (2.0 * of_total), (more - fewer) / (2.0 * of_number)
        return self.value(total, n_pos), slopes[0] * self.weights + slopes[1]


def mean_discounts(score: AnyArray, discounts: FloatArray) -> FloatArray:
    """Mean discount of the block of tied items of each item, by row; discounts from the top."""
    blocks = tied_blocks(score)
    share = np.add.reduceat(discounts, blocks.starts) / blocks.lengths()
    return np.asarray(blocks.to_items(share))


def top_places(n: int, mass: float) -> FloatArray:
    """Share of each place that is within a top of a mass that need not be whole."""
    return np.clip(mass - np.arange(n), 0.0, 1.0)


def running_mean(values: FloatArray) -> Callable[[float], float]:
    """Mean of the first values, of a number that need not be whole."""
    sums = np.append(0.0, np.cumsum(values))
    return lambda n: float(np.interp(n, np.arange(len(sums)), sums)) / n


def average_precision_at(score: AnyArray, labels: FloatArray) -> tuple[float, FloatArray]:
    """Average precision at labels that may be fractions, and its derivative in each.

    The mean over the orders of ties of ``1/T sum of y_i (1 + labels above i) / position of i``,
    which is of degree two in the labels: those above count at their own value.
    """
    blocks = tied_blocks(score)
    y, starts, lengths = labels[blocks.order], blocks.starts, blocks.lengths()
    in_block = np.add.reduceat(y, starts)
    before = np.cumsum(in_block) - in_block
    place = np.arange(len(y)) - np.repeat(starts, lengths)
    position = np.arange(1.0, len(y) + 1.0)
    # Means over the places of a block: of 1 / position, and of the share of its others above.
    once = np.add.reduceat(1.0 / position, starts) / lengths
    ahead = np.add.reduceat(place / position, starts) / np.maximum(lengths - 1.0, 1.0) / lengths
    sums = in_block * once
    below = sums.sum() - np.cumsum(sums)
    by_item = [np.repeat(x, lengths) for x in (before, in_block, once, ahead, below)]
    above, others, once, ahead, below = by_item
    precision, total = (1.0 + above) * once, y.sum()
    value = float(y @ (precision + (others - y) * ahead)) / total
    derivative = np.empty(len(y))
    derivative[blocks.order] = (precision + 2.0 * (others - y) * ahead + below - value) / total
    return value, derivative
