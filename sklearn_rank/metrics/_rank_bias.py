"""Bias of linear rank statistics in samples of finite size."""

from __future__ import annotations

import numpy as np

from .._blocks import tied_blocks
from .._order import ragged_ranges
from .._typing import BoolArray, FloatArray
from ._score_generating import ScoreGeneratingFunction

__all__ = ["rank_bias"]


def rank_bias(positive: BoolArray, score: FloatArray, phi: ScoreGeneratingFunction) -> float:
    """Estimate by how much the mean statistic exceeds its target on average, labels fixed.

    The mean over the positives of ``E[phi(R / (n + 1))] - phi(F)``, where the rank R of an item at
    a given score is normal with the mean and the variance that the other items give it. Tied
    items are those of a continuous score in random order: each stands at every place of its block
    alike, and its share of the classes of the block is below it.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Which items are positive.
    score : ndarray of shape (n,)
        Scores without NaN.
    phi : ScoreGeneratingFunction
        The function.

    Returns
    -------
    float
        The bias.
    """
    blocks = tied_blocks(score)
    n, k = len(score), int(np.count_nonzero(positive))
    n_pos = blocks.totals(positive.astype(np.float64))
    size = blocks.lengths()
    some = np.flatnonzero(n_pos)
    length = size[some]
    place = (ragged_ranges(np.zeros_like(length), length) + 0.5) / np.repeat(length, length)
    above = np.repeat((np.cumsum(n_pos) - n_pos)[some], length)
    above += place * np.repeat(n_pos[some], length)
    all_above = np.repeat((np.cumsum(size) - size)[some], length)
    all_above = all_above + place * np.repeat(length, length)
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
    gain = expected - continuous(cdf * (n + 1.0))
    return float(np.sum(np.repeat(n_pos[some] / length, length) * gain) / k)
