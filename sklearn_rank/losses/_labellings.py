"""Most violated labellings for losses of pairs, and of a number of rows on top.

A labelling assigns a class to each row, or to each pair of rows. The structural hinge of a measure
is the maximum over labellings of the loss of the labelling plus its score minus that of the true
labelling. It is convex in the scores, and the maximising labelling is a tangent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from .._order import descending
from .._top import quantile_at_mass
from .._typing import BoolArray, FloatArray, IntArray

__all__ = ["Labelling", "MixedLabellings", "PairLabellings", "TopLabellings", "mean_of_tied"]

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
        above, below = self._sorted(self._positives, scores), self._sorted(self._negatives, scores)
        # One comparison for both classes: with two, rounding would swap halves of pairs.
        short, low = 1.0 - above.scores, -below.scores
        mass = below.running[np.searchsorted(low, short, side="left")]
        of_others = above.running[-1] - above.running[np.searchsorted(short, low, side="right")]
        swapped = float(above.weight @ mass)
        factors = np.empty(len(scores))
        factors[above.order] = -above.weight * mass / self._n_pairs
        factors[below.order] = below.weight * of_others / self._n_pairs
        return Labelling(swapped / self._n_pairs, factors)

    def _sorted(self, rows: IntArray, scores: FloatArray) -> _Sorted:
        order, ordered = descending(scores[rows])
        rows = rows[order]
        weight = self._weight[rows]
        running = np.zeros(len(rows) + 1)
        np.cumsum(weight, out=running[1:])
        return _Sorted(rows, ordered, weight, running)


class _Sorted(NamedTuple):
    """Rows of one class from the highest score on, and the weight of the first 0, 1, 2 ..."""

    order: IntArray
    scores: FloatArray
    weight: FloatArray
    running: FloatArray


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
        self._rows_alike = bool(np.all(weight == 1.0)) and mass == np.floor(mass)
        n_pos, n_neg = weight[positive].sum(), weight[~positive].sum()
        if reference == "best":
            self._goal = min(mass, n_pos)
            share = self._goal / n_pos, (mass - self._goal) / n_neg
        else:
            self._goal, share = unit, (1.0, (mass - n_pos) / n_neg)
        self._true = weight * np.where(positive, *share)

    def __call__(self, scores: FloatArray) -> Labelling:
        """Find the most violated labelling, the true one where none is violated."""
        value = scores + self._margin
        if self._rows_alike:
            place = len(value) - int(self._mass)
            last = np.partition(value, place)[place]
        else:
            last = quantile_at_mass(value, self._weight, self._mass)
        taken = np.where(value > last, self._weight, 0.0)
        tied = np.where(value == last, self._weight, 0.0)
        taken += tied * ((self._mass - taken.sum()) / tied.sum())
        lost = (self._goal - self._mass + float(taken @ self._margin)) / self._unit
        factors = (taken - self._true) / self._unit
        terms = abs(lost) + float(np.abs(factors) @ np.abs(scores))
        if lost + factors @ scores <= ROUNDING * terms:
            return Labelling(0.0, np.zeros_like(scores))
        return Labelling(lost, factors)


class MixedLabellings:
    """Mean of a structural hinge and that of the AUC, so that rows beyond the top count, too."""

    def __init__(
        self,
        labellings: Callable[[FloatArray], Labelling],
        pairs: PairLabellings,
        share: float,
    ) -> None:
        self._labellings, self._pairs, self._share = labellings, pairs, share

    def __call__(self, scores: FloatArray) -> Labelling:
        """Find the most violated labelling of each. Their mean."""
        first, second, share = self._labellings(scores), self._pairs(scores), self._share
        return Labelling(
            (1.0 - share) * first.offset + share * second.offset,
            (1.0 - share) * first.factors + share * second.factors,
        )


def mean_of_tied(values: FloatArray, ordered: FloatArray) -> FloatArray:
    """Give tied items the mean of their values: the mean over all orders of them. Shape (n,)."""
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if len(first) == len(values):
        return values
    length = np.diff(first, append=len(values))
    return np.repeat(np.add.reduceat(values, first) / length, length)
