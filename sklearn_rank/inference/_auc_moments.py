"""Moments of a sample for the AUC intervals, in O(n log n), and their variances.

The *placement* of a positive is the fraction of negatives below it, and the placement of a
negative is the fraction of positives above it; ties count 1/2. Both have the AUC as their mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, owens_t

from .._blocks import ClassBlocks, class_blocks, tied_blocks
from .._lists import ScoredLists
from .._typing import AnyArray, BoolArray, FloatArray

__all__ = [
    "AUCMoments",
    "binormal_pairs",
    "clustered_moments",
    "hanley_mcneil_pairs",
    "lehmann_variance",
    "moments_of_ranges",
    "placement_sums",
    "sample_moments",
]


@dataclass(frozen=True, eq=False)
class AUCMoments:
    """The AUC of a sample, or of many at once, and the spread of its placements."""

    auc: AnyArray
    var_pos: AnyArray
    var_neg: AnyArray  # The same of negatives
    tied: AnyArray  # Share of the pairs of a positive and a negative that are tied
    n_pos: AnyArray  # Number of positives
    n_neg: AnyArray  # Number of negatives
    variance: AnyArray  # Estimated variance of the AUC: DeLong's, or with groups Obuchowski's
    n_groups: AnyArray | None = None

    @classmethod
    def of_independent(
        cls, auc: Any, var_pos: Any, var_neg: Any, tied: Any, n_pos: Any, n_neg: Any
    ) -> AUCMoments:
        """Take independent items, for which DeLong's variance is a sum."""
        variance = var_pos / n_pos + var_neg / n_neg
        given = (auc, var_pos, var_neg, tied, n_pos, n_neg, variance)
        return cls(*(np.asarray(value) for value in given))

    def unbiased_variance(self) -> FloatArray:
        """Estimate Lehmann's variance without bias."""
        m, n, auc = self.n_pos, self.n_neg, self.auc
        square = auc - self.tied / 4.0
        # Means over pairs of different items, of which the placements' squares are part.
        shared_neg = ((n - 1.0) / n * self.var_neg + auc**2 - square / m) * m / (m - 1.0)
        shared_pos = ((m - 1.0) / m * self.var_pos + auc**2 - square / n) * n / (n - 1.0)
        total = square - auc**2
        total = total + (m - 1.0) * (shared_neg - auc**2) + (n - 1.0) * (shared_pos - auc**2)
        return total / ((m - 1.0) * (n - 1.0))


def sample_moments(
    score: FloatArray, positive: BoolArray, weight: FloatArray | None
) -> AUCMoments:
    """Find the moments of independent items. Of one sample."""
    auc, squares_pos, squares_neg, tied, n_pos, n_neg = _sums(score, positive, weight, None)
    return _moments((auc, squares_pos, squares_neg, tied), n_pos, n_neg)


def _moments(sums: Iterable[float], n_pos: float, n_neg: float) -> AUCMoments:
    auc, squares_pos, squares_neg, tied = sums
    var_pos, var_neg = squares_pos / max(n_pos - 1.0, 1.0), squares_neg / max(n_neg - 1.0, 1.0)
    return AUCMoments.of_independent(auc, var_pos, var_neg, tied, n_pos, n_neg)


def placement_sums(lists: ScoredLists, tied: ScoredLists) -> FloatArray:
    """Sum the placements of a list, and their squares about the AUC of another. Shape (4,)."""
    if tied.positive.all() or not tied.positive.any():
        return np.zeros(4)
    center = _sums(tied.score, tied.positive, tied.weight, None)[0]
    return np.array(_sums(lists.score, lists.positive, lists.weight, center)[:4])


def moments_of_ranges(tied: ScoredLists, found: Sequence[FloatArray]) -> AUCMoments:
    """Find the moments of items that are in ranges of scores, apart."""
    center, *_, n_pos, n_neg = _sums(tied.score, tied.positive, tied.weight, None)
    base = placement_sums(tied, tied)
    auc, squares_pos, squares_neg, pairs = base + np.sum([one - base for one in found], axis=0)
    auc = min(max(float(auc), 0.0), 1.0)
    apart = (auc - center) ** 2
    squares_pos = max(float(squares_pos) - n_pos * apart, 0.0)
    squares_neg = max(float(squares_neg) - n_neg * apart, 0.0)
    return _moments((auc, squares_pos, squares_neg, float(pairs)), n_pos, n_neg)


def _sums(
    score: FloatArray, positive: BoolArray, weight: FloatArray | None, center: float | None
) -> tuple[float, float, float, float, float, float]:
    """Placement sums, and the numbers of positives and negatives."""
    # One search of the smaller class among all items gives the placements of both classes.
    swapped = bool(2 * np.count_nonzero(positive) > len(positive))
    blocks = class_blocks(score, ~positive if swapped else positive, weight, joined=True)
    auc, squares_class, squares_other, tied = _placement_sums(blocks, swapped, center)
    n_class, n_other = float(blocks.n_class[0]), float(blocks.n_other[0])
    if swapped:
        return auc, squares_other, squares_class, tied, n_other, n_class
    return auc, squares_class, squares_other, tied, n_class, n_other


def _placement_sums(
    blocks: ClassBlocks, swapped: bool, center: float | None
) -> tuple[float, float, float, float]:
    """Mean of the placements, sums of squares about it, or a point, and share of tied pairs."""
    n_class, n_other = float(blocks.n_class[0]), float(blocks.n_other[0])
    beaten = blocks.other_above if swapped else blocks.other_below
    placement = (beaten + blocks.of_other / 2.0) / n_other
    auc = float(np.dot(blocks.of_class, placement) / n_class)
    auc = min(auc, 1.0)
    center = auc if center is None else center
    squares_class = float(np.dot(blocks.of_class, (placement - center) ** 2))
    # Those of the other class stand in a block, or in a gap next to one: below the first block,
    # between two, above the last.
    upto = blocks.other_below + blocks.of_other
    gaps = np.append(blocks.other_below, n_other)
    gaps[1:] -= upto
    gaps = np.maximum(gaps, 0.0)
    above = np.append(n_class, blocks.class_above)
    passed = np.append(0.0, blocks.class_below + blocks.of_class)
    reached = (passed if swapped else above) / n_class
    halfway = blocks.class_below if swapped else blocks.class_above
    level = (halfway + blocks.of_class / 2.0) / n_class
    squares_other = float(
        np.dot(gaps, (reached - center) ** 2) + np.dot(blocks.of_other, (level - center) ** 2)
    )
    tied = float(np.dot(blocks.of_class, blocks.of_other)) / (n_class * n_other)
    return auc, squares_class, squares_other, tied


def clustered_moments(groups: ScoredLists) -> AUCMoments:
    """Find the moments of items that depend on each other within groups."""
    positive, weight = groups.positive, groups.counts
    blocks = tied_blocks(groups.score)
    weight_pos = blocks.totals(np.where(positive, weight, 0.0))
    weight_neg = blocks.totals(np.where(positive, 0.0, weight))
    n_pos, n_neg = float(weight_pos.sum()), float(weight_neg.sum())
    # Blocks descend from the top; of its own block an item counts half.
    below = np.cumsum(weight_neg[::-1])[::-1] - weight_neg / 2.0
    above = np.cumsum(weight_pos) - weight_pos / 2.0
    placement = np.empty(len(positive))
    block_of = np.repeat(np.arange(len(blocks.starts)), blocks.lengths())
    ordered = np.where(positive[blocks.order], below[block_of] / n_neg, above[block_of] / n_pos)
    placement[blocks.order] = np.clip(ordered, 0.0, 1.0)
    auc = float(np.clip(np.dot(weight_pos, below) / (n_pos * n_neg), 0.0, 1.0))

    apart = placement - auc
    sum_pos = groups.weighted_totals(np.where(positive, apart, 0.0)) / n_pos
    sum_neg = groups.weighted_totals(np.where(positive, 0.0, apart)) / n_neg
    with_pos = int(np.count_nonzero(groups.totals(positive.astype(np.float64))))
    with_neg = int(np.count_nonzero(groups.totals((~positive).astype(np.float64))))
    # Variance of the AUC: the part of each class, and the covariance within groups.
    var_pos = _inflation(with_pos) * float(np.dot(sum_pos, sum_pos))
    var_neg = _inflation(with_neg) * float(np.dot(sum_neg, sum_neg))
    joint = _inflation(groups.n_lists) * float(np.dot(sum_pos, sum_neg))
    variance = var_pos + var_neg + 2.0 * joint
    tied = float(np.dot(weight_pos, weight_neg)) / (n_pos * n_neg)
    found = (auc, var_pos, var_neg, tied, n_pos, n_neg, variance, min(with_pos, with_neg))
    return AUCMoments(*(np.asarray(value) for value in found))


def _inflation(n: int) -> float:
    """Correct for the mean that was estimated from the same groups; one group has no variance."""
    return n / (n - 1.0) if n > 1 else 0.0


def lehmann_variance(
    auc: Any, shared_neg: Any, shared_pos: Any, n_pos: Any, n_neg: Any, tied: Any = 0.0
) -> Any:
    """Variance of the AUC from its expectation and two probabilities of three items."""
    single = auc * (1.0 - auc) - tied / 4.0
    pairs_neg = (n_pos - 1.0) * (shared_neg - auc**2)
    return (single + pairs_neg + (n_neg - 1.0) * (shared_pos - auc**2)) / (n_pos * n_neg)


def hanley_mcneil_pairs(auc: Any) -> tuple[Any, Any]:
    """Give p1 and p2 where the scores of both classes are exponential."""
    return auc / (2.0 - auc), 2.0 * auc**2 / (1.0 + auc)


def binormal_pairs(auc: float, sd_ratio: float = 1.0) -> tuple[float, float]:
    """Give p1 and p2 where the scores of both classes are normal."""
    # Differences that share an item are jointly normal with the share of its variance.
    share = 1.0 / (1.0 + sd_ratio**2)
    return _both_below(ndtri(auc), share), _both_below(ndtri(auc), 1.0 - share)


def _both_below(h: float, correlation: float) -> float:
    """Probability that two standard normal variables are both below h."""
    slope = np.sqrt((1.0 - correlation) / (1.0 + correlation))
    return float(ndtr(h) - 2.0 * owens_t(h, slope))
