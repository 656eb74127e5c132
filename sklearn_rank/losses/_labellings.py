"""Labellings of a list: distinct assignments of labels, and their counts.

A labelling assigns a class to each row, or to each pair of rows. The structural hinge of a measure
is the maximum over labellings of the loss of the labelling plus its score minus that of the true
labelling. It is convex in the scores, and the maximising labelling is a tangent.

Rows are counted one by one, so that a weight is a whole number of repetitions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from .._order import descending, quantile_at_mass, ragged_ranges
from .._typing import BoolArray, FloatArray, IntArray

# By how much rounding moves a sum over the rows, relative to the sum of its absolute terms.
ROUNDING = 1e-14


class Labelling(NamedTuple):
    """A labelling as a tangent of the structural hinge, ``offset + factors.scores``."""

    offset: float  # Loss of the labelling
    factors: FloatArray


class PairLabellings:
    """Structural hinge of the AUC: the mean of ``max(0, 1 - (s_i - s_j))`` over all pairs."""

    def __init__(self, positive: BoolArray, weight: FloatArray) -> None:
        self._positives, self._negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
        self._weight = weight
        self._n_pairs = weight[positive].sum() * weight[~positive].sum()

    def __call__(self, scores: FloatArray) -> Labelling:
        """Find the most violated labelling."""
        above, high, pos_weight, pos_running = self._sort(self._positives, scores)
        below, low, neg_weight, neg_running = self._sort(self._negatives, scores)
        # One comparison for both classes: with two, rounding would swap halves of pairs.
        short, low = 1.0 - high, -low
        neg_mass = neg_running[np.searchsorted(low, short, side="left")]
        pos_mass = pos_running[-1] - pos_running[np.searchsorted(short, low, side="right")]
        factors = np.empty(len(scores))
        factors[above] = -pos_weight * neg_mass / self._n_pairs
        factors[below] = neg_weight * pos_mass / self._n_pairs
        return Labelling(float(pos_weight @ neg_mass) / self._n_pairs, factors)

    def _sort(
        self, rows: IntArray, scores: FloatArray
    ) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Rows from the highest score on, scores, weights, and weights of the first 0, 1, ..."""
        order, ordered = descending(scores[rows])
        weight = self._weight[rows[order]]
        return rows[order], ordered, weight, np.append(0.0, np.cumsum(weight))


class TopLabellings:
    """Structural hinge of the positives among the first k rows.

    The most violated labelling has on top the k rows with the largest ``s_i + [i is negative]``,
    since its loss, too, is a sum over the rows. It is compared either with the labels themselves,
    which have all positives on top for any k, less the mean of the negatives for each positive
    beyond k, or with the mean of the labellings of k rows that have the maximum number of
    positives: for k up to the number of positives, k times their mean. The loss is the difference
    to 1, or to the greatest possible value. Both factors sum to k, so that a constant added to the
    scores changes nothing. If k is at least the number of positives, the two differ by a constant.
    """

    def __init__(
        self,
        positive: BoolArray,
        weight: FloatArray,
        *,
        mass: float,
        unit: float,
        reference: Literal["labels", "best"],
    ) -> None:
        self._weight, self._mass, self._unit = weight, mass, unit
        self._margin = np.where(positive, 0.0, 1.0)
        self._is_unweighted = bool(np.all(weight == 1.0)) and mass == np.floor(mass)
        n_pos, n_neg = weight[positive].sum(), weight[~positive].sum()
        if reference == "best":
            self._goal = min(mass, n_pos)
            share = self._goal / n_pos, (mass - self._goal) / n_neg
        else:
            self._goal, share = unit, (1.0, (mass - n_pos) / n_neg)
        self._true = weight * np.where(positive, *share)

    def __call__(self, scores: FloatArray) -> Labelling:
        """Find the most violated labelling, the true one where none is violated."""
        values = scores + self._margin
        if self._is_unweighted:
            place = len(values) - int(self._mass)
            threshold = np.partition(values, place)[place]
        else:
            threshold = quantile_at_mass(values, self._weight, self._mass)
        top = np.where(values > threshold, self._weight, 0.0)
        tied = np.where(values == threshold, self._weight, 0.0)
        top += tied * ((self._mass - top.sum()) / tied.sum())
        loss = (self._goal - self._mass + float(top @ self._margin)) / self._unit
        factors = (top - self._true) / self._unit
        terms = abs(loss) + float(np.abs(factors) @ np.abs(scores))
        if loss + factors @ scores <= ROUNDING * terms:
            return Labelling(0.0, np.zeros_like(scores))
        return Labelling(loss, factors)


def mean_of_tied(values: FloatArray, ordered: FloatArray) -> FloatArray:
    """Give tied items the mean of their values: the mean over all orders of them. Shape (n,)."""
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if len(starts) == len(values):
        return values
    lengths = np.diff(starts, append=len(values))
    return np.repeat(np.add.reduceat(values, starts) / lengths, lengths)


# Rows, with repetitions, of which an array is made.
MOST_ROWS = 10**9


# Of the scores of positives and of negatives, each descending: the loss of the most violated
# labelling, what each row adds to its scores, taken from those of positives, and their divisor.
Rule: TypeAlias = Callable[[FloatArray, FloatArray], tuple[float, FloatArray, FloatArray, float]]


class RowLabellings:
    """Structural hinge, by a rule, of rows that are repeated by their weights."""

    def __init__(self, rule: Rule, positive: BoolArray, weight: FloatArray) -> None:
        if weight.sum() > MOST_ROWS:
            raise ValueError(
                f"sample_weight sums to {weight.sum():g} rows, each of which is written down here,"
                f" at most {MOST_ROWS:g}: divide the weights, or leave them out."
            )
        counts = weight.astype(np.int64)
        self._rule, self._n = rule, len(weight)
        rows = np.arange(self._n)
        self._classes = [np.repeat(rows[kind], counts[kind]) for kind in (positive, ~positive)]

    def __call__(self, scores: FloatArray) -> Labelling:
        """Find the most violated labelling. Tied rows of one class share their places."""
        (pos_order, high), (neg_order, low) = (descending(scores[rows]) for rows in self._classes)
        loss, by_positive, by_negative, unit = self._rule(high, low)
        by_row = np.append(-mean_of_tied(by_positive, high), mean_of_tied(by_negative, low)) / unit
        rows = np.append(self._classes[0][pos_order], self._classes[1][neg_order])
        factors = np.bincount(rows, by_row, minlength=self._n)
        return Labelling(loss, factors.astype(np.float64, copy=False))


def average_precision_rule(
    high: FloatArray, low: FloatArray
) -> tuple[float, FloatArray, FloatArray, float]:
    """Order of the rows that violates average precision most (Yue et al. 2007).

    The loss of an order is 1 less its average precision; what it takes is the mean over all pairs
    of the excess of the negative's score, where the negative is above.

    What the j-th negative adds if it stands below p positives is a function f_j(p) with
    ``f_j(p - 1) - f_j(p)`` falling in j, so that the best p grow with j: those of every second
    negative lie between those of its neighbours, and all are found in
    O((n_pos + n_neg) log n_neg).
    """
    n_pos, n_neg = len(high), len(low)
    over = _best_places(high, low)
    # Negatives over the i-th positive: those that stand below fewer than i positives.
    ahead = np.searchsorted(over, np.arange(n_pos), side="right")
    loss = float(np.mean(ahead / (np.arange(1, n_pos + 1) + ahead)))
    by_negative = (n_pos - over).astype(np.float64)
    return loss, ahead.astype(np.float64), by_negative, float(n_pos) * n_neg


def _tail_sums(values: FloatArray) -> FloatArray:
    """Sums of the values from each on, and of none."""
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)


def _best_places(high: FloatArray, low: FloatArray) -> IntArray:
    """Number of positives above each negative in the most violated order; the least on ties."""
    n_pos, n_neg = len(high), len(low)
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, n_pos + n_neg + 1)))
    tail_sums = _tail_sums(high)

    def gain(j: IntArray, p: IntArray) -> FloatArray:
        """What the j-th negative, from 1 on, adds to loss and scores below p positives."""
        tail = harmonic[j + n_pos] - harmonic[j + p]
        loss = (tail - (j - 1) * (n_pos - p) / ((j + n_pos) * (j + p))) / n_pos
        return loss + ((n_pos - p) * low[j - 1] - tail_sums[p]) / (float(n_pos) * n_neg)

    places = np.full(n_neg + 1, n_pos)
    stride = 1 << (n_neg.bit_length() - 1)
    while stride:
        j = np.arange(stride, n_neg + 1, 2 * stride)
        least = np.where(j > stride, places[j - stride], 0)
        most = np.where(j + stride <= n_neg, places[np.minimum(j + stride, n_neg)], n_pos)
        lengths = most - least + 1
        starts = np.cumsum(lengths) - lengths
        p = ragged_ranges(least, lengths)
        gains = gain(np.repeat(j, lengths), p)
        best = np.flatnonzero(gains == np.repeat(np.maximum.reduceat(gains, starts), lengths))
        places[j] = p[best[np.searchsorted(best, starts)]]
        stride //= 2
    return places[1:]


def f1_rule(high: FloatArray, low: FloatArray) -> tuple[float, FloatArray, FloatArray, float]:
    """Set of rows that violates F1 of the classification by the sign most (Joachims 2005).

    The loss of a set is 1 less its F1; what it takes is the sum of its scores, divided by twice
    the number of positives, so that near the true labelling each error has a margin of 1.
    """
    n_pos, n_neg = len(high), len(low)
    unit = 2.0 * n_pos
    hits = np.arange(n_pos + 1)
    alarms = _best_alarms(hits, low, n_pos, unit)
    alarm_sums = np.append(0.0, np.cumsum(low))[alarms]
    miss_sums = _tail_sums(high)
    loss = 1.0 - 2.0 * hits / (n_pos + hits + alarms)
    best = int(np.argmax(loss + (alarm_sums - miss_sums) / unit))
    missed = (np.arange(n_pos) >= best).astype(np.float64)
    alarmed = (np.arange(n_neg) < alarms[best]).astype(np.float64)
    return float(loss[best]), missed, alarmed, unit


def _best_alarms(hits: IntArray, low: FloatArray, n_pos: int, unit: float) -> IntArray:
    """Number of negatives in the best set with each number of positives; the least on ties."""
    least, most = np.zeros_like(hits), np.full_like(hits, len(low))
    while np.any(least < most):
        middle = (least + most) // 2
        size = n_pos + hits + middle
        gain = 2.0 * hits / (size * (size + 1.0)) + low[np.minimum(middle, len(low) - 1)] / unit
        rises = (gain > 0) & (middle < most)
        least, most = np.where(rises, middle + 1, least), np.where(rises, most, middle)
    return least
