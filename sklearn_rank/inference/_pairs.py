"""The pairs of a positive and a negative that rankers order differently.

The variance of a difference of two rankers on one list is that of the positives, that of the
negatives, and that of pairs beyond both. Each sum of squares of the influence over a class also
holds the last: together they hold it twice (for the AUC, DeLong's variance is too large by it).
Where rankers agree on most pairs, as a model and the same after training on other rows do, it may
be half of what the sums hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations

import numpy as np

from .._printed import ROUNDING
from .._typing import FloatArray, IntArray
from ..metrics._shared import ClassInfluence

# Of more items pairs are a small share of the variance, and take longer to count than all else.
MOST_ITEMS = 5_000


class Pairs:
    """Variance that differences of rankers on one list have by pairs beyond the items."""

    def __init__(self, influences: Sequence[ClassInfluence], scores: Sequence[FloatArray]):
        self.influences, self.scores = [x.linear for x in influences], scores
        self.positive = influences[0].positive
        counts = influences[0].counts
        self.counts = np.ones(len(self.positive)) if counts is None else counts
        self._found: dict[tuple[int, int], float] = {}

    @cached_property
    def steps(self) -> list[FloatArray | None]:
        of_each = zip(self.influences, self.scores, strict=True)
        return [steps_at_positives(x, score, self.counts) for x, score in of_each]

    def variance(self, contrast: FloatArray, sums: Sequence[float]) -> float:
        """Variance by pairs of a difference, given its sums of squares over the classes.

        That of coefficients with the sum 0 follows from those of two rankers. It is 0 where the
        influence of negatives does not change at positives alone, and at most either sum.
        """
        if abs(contrast.sum()) > ROUNDING or self.influences[0].n > MOST_ITEMS:
            return 0.0
        of_two = combinations(np.flatnonzero(contrast).tolist(), 2)
        found = sum(-contrast[i] * contrast[j] * self._of_two(i, j) for i, j in of_two)
        return min(max(float(found), 0.0), *sums)

    def _of_two(self, i: int, j: int) -> float:
        if (i, j) not in self._found:
            self._found[i, j] = self._counted(i, j)
        return self._found[i, j]

    def _counted(self, i: int, j: int) -> float:
        first, second = self.steps[i], self.steps[j]
        n_pos, n_neg = self.influences[0].sizes
        if first is None or second is None or min(n_pos, n_neg) < 2:
            return 0.0
        positive, counts = self.positive, self.counts
        ranks = ranks_of_both(self.scores[i], self.scores[j])
        negatives = np.where(positive, 0.0, counts)
        one, other = (negatives_above(rank, negatives)[positive] for rank in ranks)
        scale = n_pos / ((n_pos - 1.0) * (n_neg - 1.0) * n_neg)
        squares = first * second * counts[positive]
        discordant = one + other - 2.0 * above_in_both(*ranks, negatives)[positive]
        if not squares @ discordant:
            return 0.0
        moved = (self.influences[i].values - self.influences[j].values)[~positive]
        of_negatives = np.cov(moved, fweights=counts[~positive].astype(np.intp), ddof=0)
        alone = squares @ ((one - other) ** 2 / n_neg) + n_neg / n_pos * of_negatives
        # What items change together at several places is left out: little if rankers agree.
        unrelated = one + other - 2.0 * one * other / n_neg
        agreement = 1.0 - (squares @ discordant) / (squares @ unrelated)
        return float(scale * agreement * (squares @ discordant - alone))


def steps_at_positives(
    influence: ClassInfluence, score: FloatArray, counts: FloatArray
) -> FloatArray | None:
    """By how much the influence of a negative changes at each positive; None if elsewhere too.

    That is so at a threshold, and in blocks of tied items of both classes. Positives between the
    same two negatives share the change. Shape (n_pos,).
    """
    if not influence.by_steps:
        return None
    order = np.argsort(score, kind="stable")
    positive = influence.positive[order]
    (bottom, top) = influence.class_ends()[1]
    curve = np.concatenate([[bottom], influence.values[order][~positive], [top]])
    changes, places = np.abs(np.diff(curve)), np.cumsum(~positive)[positive]
    between = np.bincount(places, counts[order][positive], minlength=len(changes))
    if changes[between == 0.0].sum() > ROUNDING * changes.sum():
        return None
    by_row = np.argsort(order[positive])
    return np.asarray((changes[places] / between[places])[by_row])


def ranks_of_both(first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray]:
    """Ascending ranks by two scores; ties of one are in the order of the other."""
    ranks = np.empty((2, len(first)), dtype=np.intp)
    for rank, keys in zip(ranks, ((second, first), (first, second)), strict=True):
        rank[np.lexsort(keys)] = np.arange(len(first))
    return ranks[0], ranks[1]


def negatives_above(rank: IntArray, negatives: FloatArray) -> FloatArray:
    """Number of negatives above each row."""
    in_order = np.empty(len(rank))
    in_order[rank] = negatives
    return np.asarray(negatives.sum() - np.cumsum(in_order)[rank])


def above_in_both(first: IntArray, second: IntArray, negatives: FloatArray) -> FloatArray:
    """Number of negatives above each row by both ranks, counted while merging; O(n log(n))."""
    n = len(first)
    size = 1 << (n - 1).bit_length()
    rank, counted, found = np.arange(size), np.zeros(size), np.zeros(size)
    rank[second], counted[second] = first, negatives
    # Blocks of rows that follow each other by the second rank; each is sorted by the first.
    order, width = np.arange(size), 1
    while width < size:
        blocks, width = order.reshape(-1, 2 * width), 2 * width
        merged = np.argsort(rank[blocks], axis=1, kind="stable")
        upper = merged >= width // 2
        blocks = np.take_along_axis(blocks, merged, axis=1)
        passed = np.cumsum(np.where(upper, counted[blocks], 0.0), axis=1)
        found[blocks[~upper]] += (passed[:, -1:] - passed)[~upper]
        order = blocks.ravel()
    return found[second]
