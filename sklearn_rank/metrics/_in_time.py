"""Sums over times that depend on each other, as independent units: their cosine transforms.

The variance of a sum of values that depend on those of other times is the number n of times, times
the spectral density at frequency 0. Of values z_t in the order of time the transforms ``L_j =
sqrt(2 / n) sum_t cos(pi j (t - 1/2) / n) z_t`` are uncorrelated, and the variance of each is the
density at the frequency ``pi j / n``; the mean does not move them. The first ones stand for the
frequency 0 (Müller 2007; Lazarus, Lewis, Stock & Watson 2018).
"""

from __future__ import annotations

from math import inf, pi, sqrt
from typing import Any

import numpy as np
from scipy.fft import dct

from .._printed import ROUNDING
from .._typing import BoolArray, FloatArray

# With fewer times the transforms cannot tell a slow change from the mean.
FEWEST_TIMES = 8


def independent_units(sums: FloatArray, times: BoolArray | None) -> tuple[FloatArray, Any]:
    """Units that move each row of sums by as much, and the degrees of freedom of its variance.

    Sums over groups are units themselves, unless some are in the order of time, where ``times`` is
    True. The density falls with the frequency as that of an autoregression: where it is a share
    g_j of that at 0, the variance is ``n sum(L_j**2) / sum(g_j)``, which has ``sum(g_j)**2 /
    sum(g_j**2)`` degrees of freedom.
    """
    if times is None or np.count_nonzero(times) < 2:
        return sums, inf
    values = sums[..., times]
    n = values.shape[-1]
    count = min(max(round(0.4 * n ** (2 / 3)), 4), n // 2)
    q = _persistence(values)[..., np.newaxis]
    share = (1.0 - q) ** 2 / (1.0 - 2.0 * q * np.cos(pi * np.arange(1, count + 1) / n) + q**2)
    total = share.sum(axis=-1, keepdims=True)
    units = np.where(times, 0.0, sums)
    transforms = dct(values, norm="ortho", axis=-1)[..., 1 : count + 1]
    # Of n sums about their mean n - 1 are free.
    units[..., :count] = transforms * np.sqrt((n - 1.0) / total)
    return units, total[..., 0] ** 2 / np.sum(share**2, axis=-1)


def autocorrelations(values: FloatArray, lags: tuple[int, ...] = (1,)) -> list[FloatArray]:
    """Correlation of values with those so many times before; 0 where nothing varies."""
    n = values.shape[-1]
    least = ROUNDING * np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    values = values - values.mean(axis=-1, keepdims=True)
    values = np.where(np.abs(values) > least, values, 0.0)
    square = np.sum(values**2, axis=-1)
    square = np.where(square > 0.0, square, 1.0)
    return [
        np.sum(values[..., lag:] * values[..., : max(n - lag, 0)], axis=-1) / square
        for lag in lags
    ]


def _persistence(values: FloatArray) -> FloatArray:
    """Autocorrelation from one time to the next of what lasts, without noise of single times.

    The first autocorrelation has a bias of ``-(1 + 3 r) / n`` (Kendall 1954). Noise lowers all of
    them by one factor, which ratios do not have. Peaks of the density that are narrower than two
    transforms cannot be seen.
    """
    n = values.shape[-1]
    first, second, third = autocorrelations(values, (1, 2, 3))
    clear = first + second > 3.0 / sqrt(n)
    lasting = np.where(clear, (second + third) / np.where(clear, first + second, 1.0), 0.0)
    largest = np.maximum(first + (1.0 + 3.0 * first) / n, lasting)
    return np.clip(largest, 0.0, max(1.0 - 2.0 * pi / n, 0.0))


def look_dependent(values: FloatArray) -> bool:
    """Whether values in order are correlated from one to the next as chance makes one in 1,000."""
    n = len(values)
    return n >= 20 and float(autocorrelations(values)[0]) + 1.0 / n > 3.09 / sqrt(n)
