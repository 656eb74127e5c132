"""Most violated labellings for losses of counts: average precision and F1.

Rows are counted one by one, so that a weight is a whole number of repetitions.
"""

from __future__ import annotations

import numpy as np

from .._order import descending, ragged_ranges
from .._typing import BoolArray, FloatArray, IntArray
from ._labellings import Labelling, mean_of_tied

__all__ = ["AveragePrecisionLabellings", "F1Labellings"]


# Rows, with repetitions, of which an array is made.
MOST_ROWS = 10**9


class _Repeated:
    """Labellings of rows that are repeated by their weights."""

    def __init__(self, positive: BoolArray, weight: FloatArray) -> None:
        if weight.sum() > MOST_ROWS:
            raise ValueError(
                f"sample_weight sums to {weight.sum():g} rows, each of which is written down here,"
                f" at most {MOST_ROWS:g}: divide the weights, or leave them out."
            )
        counts = weight.astype(np.int64)
        self._n = len(weight)
        rows = np.arange(self._n)
        self._positives: IntArray = np.repeat(rows[positive], counts[positive])
        self._negatives: IntArray = np.repeat(rows[~positive], counts[~positive])

    def _tangent(
        self,
        loss: float,
        above: IntArray,
        by_above: FloatArray,
        below: IntArray,
        by_below: FloatArray,
    ) -> Labelling:
        """Add up what copies of a row contribute."""
        rows = np.concatenate([above, below])
        factors = np.bincount(rows, np.append(by_above, by_below), minlength=self._n)
        return Labelling(loss, factors.astype(np.float64, copy=False))

    def _sorted(self, rows: IntArray, scores: FloatArray) -> tuple[IntArray, FloatArray]:
        order, ordered = descending(scores[rows])
        return rows[order], ordered


class AveragePrecisionLabellings(_Repeated):
    """Structural hinge of average precision (Yue et al. 2007).

    A labelling is an order of the rows. Its loss is 1 less its average precision; what it takes is
    the mean over all pairs of the excess of the negative's score, where the negative is above.

    Both classes are in the order of their scores. What the j-th negative adds if it stands below p
    positives is a function f_j(p) with ``f_j(p - 1) - f_j(p)`` falling in j, so that the best p
    grow with j: those of every second negative lie between those of its neighbours, and all are
    found in O((n_pos + n_neg) log n_neg).
    """

    def __call__(self, scores: FloatArray) -> Labelling:
        """Find the most violated labelling. Tied rows of one class share their places."""
        above, high = self._sorted(self._positives, scores)
        below, low = self._sorted(self._negatives, scores)
        n_pos, n_neg = len(above), len(below)
        over = _best_places(high, low)
        # Negatives over the i-th positive: those that stand below fewer than i positives.
        ahead = np.searchsorted(over, np.arange(n_pos), side="right")
        loss = float(np.mean(ahead / (np.arange(1, n_pos + 1) + ahead)))
        n_pairs = float(n_pos) * n_neg
        return self._tangent(
            loss,
            above,
            -mean_of_tied(ahead.astype(np.float64), high) / n_pairs,
            below,
            mean_of_tied((n_pos - over).astype(np.float64), low) / n_pairs,
        )


def _best_places(high: FloatArray, low: FloatArray) -> IntArray:
    """Number of positives above each negative in the most violated order; the least on ties."""
    n_pos, n_neg = len(high), len(low)
    harmonic = np.zeros(n_pos + n_neg + 1)
    np.cumsum(1.0 / np.arange(1, n_pos + n_neg + 1), out=harmonic[1:])
    # Sums over the positives from each on.
    beyond = np.zeros(n_pos + 1)
    beyond[:-1] = np.cumsum(high[::-1])[::-1]

    def gain(j: IntArray, p: IntArray) -> FloatArray:
        """What the j-th negative, from 1 on, adds to loss and scores below p positives."""
        tail = harmonic[j + n_pos] - harmonic[j + p]
        lost = (tail - (j - 1) * (n_pos - p) / ((j + n_pos) * (j + p))) / n_pos
        return lost + ((n_pos - p) * low[j - 1] - beyond[p]) / (float(n_pos) * n_neg)

    places = np.full(n_neg + 1, n_pos)
    stride = 1 << (n_neg.bit_length() - 1)
    while stride:
        j = np.arange(stride, n_neg + 1, 2 * stride)
        first = np.where(j > stride, places[j - stride], 0)
        last = np.where(j + stride <= n_neg, places[np.minimum(j + stride, n_neg)], n_pos)
        length = last - first + 1
        starts = np.cumsum(length) - length
        p = ragged_ranges(first, length)
        value = gain(np.repeat(j, length), p)
        found = np.flatnonzero(value == np.repeat(np.maximum.reduceat(value, starts), length))
        places[j] = p[found[np.searchsorted(found, starts)]]
        stride //= 2
    return places[1:]


class F1Labellings(_Repeated):
    """Structural hinge of F1 of the classification by the sign (Joachims 2005).

    A labelling is any set of rows. Its loss is 1 less its F1; what it takes is the sum of its
    scores, divided by twice the number of positives, so that near the true labelling each error
    has a margin of 1.
    """

    def __call__(self, scores: FloatArray) -> Labelling:
        """Find the most violated labelling."""
        above, high = self._sorted(self._positives, scores)
        below, low = self._sorted(self._negatives, scores)
        n_pos, n_neg = len(above), len(below)
        unit = 2.0 * n_pos
        hits = np.arange(n_pos + 1)
        alarms = _best_alarms(hits, low, n_pos, unit)
        taken_low = np.append(0.0, np.cumsum(low))[alarms]
        missed_high = np.append(np.cumsum(high[::-1])[::-1], 0.0)
        loss = 1.0 - 2.0 * hits / (n_pos + hits + alarms)
        best = int(np.argmax(loss + (taken_low - missed_high) / unit))
        missed = (np.arange(n_pos) >= best).astype(np.float64)
        alarmed = (np.arange(n_neg) < alarms[best]).astype(np.float64)
        return self._tangent(
            float(loss[best]),
            above,
            -mean_of_tied(missed, high) / unit,
            below,
            mean_of_tied(alarmed, low) / unit,
        )


def _best_alarms(hits: IntArray, low: FloatArray, n_pos: int, unit: float) -> IntArray:
    """Number of negatives in the best set with each number of positives; the least on ties."""
    first, last = np.zeros_like(hits), np.full_like(hits, len(low))
    while np.any(first < last):
        middle = (first + last) // 2
        size = n_pos + hits + middle
        added = 2.0 * hits / (size * (size + 1.0)) + low[np.minimum(middle, len(low) - 1)] / unit
        wanted = (added > 0) & (middle < last)
        first, last = np.where(wanted, middle + 1, first), np.where(wanted, last, middle)
    return first
