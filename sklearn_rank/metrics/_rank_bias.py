"""Bias of linear rank statistics in samples of finite size."""

from __future__ import annotations

import numpy as np

from .._order import counted_blocks, places_of
from .._typing import BoolArray, FloatArray
from ._score_generating import ScoreGeneratingFunction


def rank_bias(
    positive: BoolArray,
    score: FloatArray,
    phi: ScoreGeneratingFunction,
    counts: FloatArray | None = None,
) -> float:
    """Estimate by how much the mean statistic exceeds its target on average, labels fixed.

    The mean over the positives of ``E[phi(R / (n + 1))] - phi(F)``, where the rank R of an item at
    a given score is normal with the mean and the variance that the other items give it. Tied items
    are those of a continuous score in random order: each stands at every place of its block alike,
    and its share of the classes of the block is below it.
    """
    blocks = counted_blocks(score, positive, counts)
    n, k, n_pos, size = blocks.n, blocks.k, blocks.n_pos, blocks.size
    some = np.flatnonzero(n_pos)
    pos_above, above = (np.cumsum(n_pos) - n_pos)[some], (np.cumsum(size) - size)[some]
    n_pos, size = n_pos[some], size[some]
    total = 0.0
    for inside, _, block, place in places_of(size):
        length, in_class = size[inside][block], n_pos[inside][block]
        share = (place + 0.5) / length
        gain = _gains(
            phi,
            n,
            k,
            pos_above[inside][block] + share * in_class,
            above[inside][block] + place + 0.5,
        )
        total += float(np.sum(in_class / length * gain))
    return total / k


def _gains(
    phi: ScoreGeneratingFunction, n: int, k: int, above: FloatArray, all_above: FloatArray
) -> FloatArray:
    """Bias at places with so many positives, and so many items, above."""
    cdf_pos = (k - above) / k
    cdf_neg = (n - k - (all_above - above)) / (n - k)
    cdf = (n - all_above) / n
    mean = (1.0 + (k - 1) * cdf_pos + (n - k) * cdf_neg) / (n + 1.0)
    variance = (k - 1) * cdf_pos * (1.0 - cdf_pos) + (n - k) * cdf_neg * (1.0 - cdf_neg)
    reach = np.sqrt(3.0 * np.maximum(variance, 0.0)) / (n + 1.0)
    # Within the list, and as far on either side, so that the mean stays.
    ends = 0.5 / (n + 1.0)
    reach = np.minimum(reach, np.maximum(np.minimum(mean, 1.0 - mean) - ends, 0.0))
    of_list = np.array([float(n)])

    def continuous(rank: FloatArray) -> FloatArray:
        jumped = sum(height * (rank / (n + 1.0) >= u0) for u0, height in phi.jumps)
        return phi._at_ranks(rank, of_list) - jumped

    expected = np.zeros(len(cdf))
    # Three nodes are exact for the normal distribution up to phi of degree five.
    for share, sign in ((1 / 6, -1.0), (2 / 3, 0.0), (1 / 6, 1.0)):
        expected += share * continuous((mean + sign * reach) * (n + 1.0))
    return expected - continuous(cdf * (n + 1.0))
