"""Limits at all times for the precision at the top of a population."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from ._confidence_sequence_bets import Wagers, log_capital, mean_limits

__all__ = ["top_limits_at_all_times"]

# Part of the error that is spent on where the top of the population ends in the sample.
THRESHOLD_SHARE = 0.2
# Tops of different length that are looked at at once.
CHUNK = 2**12


def top_limits_at_all_times(
    n_pos: FloatArray, size: FloatArray, tau: float, n_best: float, alpha: float
) -> tuple[float, float]:
    """Limits from every number of items that may lie above the threshold of the population."""
    n = int(size.sum())
    of_threshold = alpha * THRESHOLD_SHARE
    first, last = _counts_above(n, tau, n_best, of_threshold)
    if first == 0:
        return 0.0, 1.0
    wagers = Wagers(n_best * tau, alpha - of_threshold)
    upto, positives = np.cumsum(size), np.cumsum(n_pos)
    low, high = 1.0, 0.0
    for start in range(first, last + 1, CHUNK):
        count = np.arange(start, min(start + CHUNK, last + 1), dtype=np.float64)
        block = np.searchsorted(upto, count, "left")
        above, inside = upto[block] - size[block], n_pos[block]
        before, cut = positives[block] - inside, count - above
        # Within the block that the end cuts, negatives first or positives first.
        fewest = before + np.maximum(cut - (size[block] - inside), 0.0)
        most = before + np.minimum(cut, inside)
        low = min(low, float(_share_limits(wagers, fewest, count, alpha - of_threshold)[0].min()))
        high = max(high, float(_share_limits(wagers, most, count, alpha - of_threshold)[1].max()))
    return low, high


def _counts_above(n: int, tau: float, n_best: float, alpha: float) -> tuple[int, int]:
    """Least and largest number of n items above the threshold that bets do not refute."""
    wagers = Wagers(n_best, alpha, (tau * (1.0 - tau)) ** 0.5)
    gain, most = np.log1p(wagers.gains), -np.log(alpha)

    def is_held(count: int) -> bool:
        won, _ = log_capital(
            wagers,
            (count * gain)[np.newaxis],
            ((n - count) * gain)[np.newaxis],
            np.array([float(n)]),
            np.array([tau]),
        )
        return bool(won[0] < most)

    found = []
    for inside, end in ((int(np.floor(tau * n)), 0), (int(np.ceil(tau * n)), n)):
        # The capital is convex in the count.
        outside = end + (1 if end else -1)
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            inside, outside = (middle, outside) if is_held(middle) else (inside, middle)
        found.append(inside)
    return found[0], found[1]


def _share_limits(
    wagers: Wagers, ones: FloatArray, count: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    gain = np.log1p(wagers.gains)
    return mean_limits(
        wagers,
        np.multiply.outer(ones, gain),
        np.multiply.outer(count - ones, gain),
        count,
        alpha,
    )
