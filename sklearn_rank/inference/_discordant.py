"""The pairs of a positive and a negative that rankers order differently.

The variance of a difference of two rankers on one list is that of the positives, that of the
negatives, and that of pairs beyond both. Each sum of squares of the influence over a class also
holds the last: together they hold it twice (for the AUC, DeLong's variance is too large by it).
Where rankers agree on most pairs, as a model and the same after training on other rows do, it may
be half of what the sums hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .._printed import ROUNDING
from .._typing import AnyArray, FloatArray
from ..metrics._shared import ClassInfluence

# Of more pairs the variance is a small share of all, and takes longer to count than all else.
MOST_PAIRS = 4_000_000


class PairOrder(NamedTuple):
    """How one ranker orders pairs, and by how much these move its statistic."""

    above: AnyArray  # (2, n_pos, n_words): Bits of the negatives above each positive, or tied too
    n_above: FloatArray  # (n_pos,): Number of them, half of those that are tied
    steps: FloatArray  # (n_pos,): Change of the influence of a negative at each positive
    values: FloatArray  # (n_neg,): Influence of the negatives


class Pairs:
    """Variance that differences of rankers on one list have by pairs beyond the items."""

    def __init__(self, influences: Sequence[ClassInfluence], scores: Sequence[FloatArray]):
        self.influences, self.scores = [x.linear for x in influences], scores
        self.n_pos, self.n_neg = influences[0].sizes
        self._orders: dict[int, PairOrder | None] = {}
        self._found: dict[tuple[int, int], float] = {}

    def variance(self, contrast: FloatArray) -> float:
        """Variance by pairs of a difference, without bias.

        That of coefficients with the sum 0 follows from those of two rankers. It is 0 where the
        influence of negatives does not change at positives alone.
        """
        not_counted = min(self.n_pos, self.n_neg) < 2 or self.n_pos * self.n_neg > MOST_PAIRS
        if not_counted or abs(contrast.sum()) > ROUNDING:
            return 0.0
        rows = np.flatnonzero(contrast).tolist()
        for i in set(rows) - self._orders.keys():
            self._orders[i] = pair_order(self.influences[i], self.scores[i])
        found = 0.0
        for i, j in combinations(rows, 2):
            if (i, j) not in self._found:
                self._found[i, j] = self._of_two(self._orders[i], self._orders[j])
            found -= contrast[i] * contrast[j] * self._found[i, j]
        return found

    def _of_two(self, one: PairOrder | None, other: PairOrder | None) -> float:
        if one is None or other is None:
            return 0.0
        n_pos, n_neg = float(self.n_pos), float(self.n_neg)
        step_squares = one.steps * other.steps
        between = one.n_above - other.n_above
        # Squares of differences of 0, 1/2 for a tie, and 1.
        squared_differences = (
            bits(one.above ^ other.above).sum(axis=0) / 4.0
            + (bits(one.above[0] & ~other.above[1]) + bits(other.above[0] & ~one.above[1])) / 2.0
        )
        discordant = step_squares @ squared_differences
        if not discordant:
            return 0.0
        of_items = step_squares @ between**2 / n_neg + n_neg / n_pos * np.var(
            one.values - other.values
        )
        # What items change together at several places is left out: little if rankers agree.
        both = one.n_above * other.n_above / n_neg
        agreement = 1.0 - discordant / (step_squares @ (one.n_above + other.n_above - 2.0 * both))
        scale = n_pos / ((n_pos - 1.0) * (n_neg - 1.0) * n_neg)
        return float(scale * agreement * (discordant - of_items))


def pair_order(influence: ClassInfluence, score: FloatArray) -> PairOrder | None:
    """How a ranker orders pairs; None if negatives move it elsewhere than at positives too.

    Positives between the same two negatives share the change, halves of those that are tied.
    """
    if not influence.by_steps:
        return None
    positive, values = influence.positive, influence.values
    if influence.counts is not None:
        counts = influence.counts.astype(np.intp)
        positive, values, score = (np.repeat(x, counts) for x in (positive, values, score))
    pos, neg, values = score[positive], score[~positive], values[~positive]
    places, rows = np.unique(neg, return_index=True)
    bottom, top = influence.class_ends()[1]
    changes = np.abs(np.diff(np.concatenate([[bottom], values[rows], [top]])))
    gaps = np.stack([np.searchsorted(places, pos, side) for side in ("left", "right")])
    between = np.bincount(gaps.ravel(), minlength=len(changes)) / 2.0
    if changes[between == 0.0].sum() > ROUNDING * changes.sum():
        return None
    steps = (changes[gaps] / between[gaps]).mean(axis=0)
    above = np.stack([of(neg, pos[:, np.newaxis]) for of in (np.greater, np.greater_equal)])
    n_above = above.sum(axis=(0, 2)) / 2.0
    above = np.packbits(above, axis=2)
    above = np.pad(above, ((0, 0), (0, 0), (0, -above.shape[2] % 8))).view(np.uint64)
    return PairOrder(above, n_above, steps, values)


def bits(words: AnyArray) -> AnyArray:
    """Number of bits in each row of words."""
    return np.bitwise_count(words).sum(axis=-1)
