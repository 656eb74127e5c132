"""The level at which limits of several statistics hold all together, from their covariance."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, owens_t

from .._printed import ROUNDING
from .._typing import FloatArray
from ._limits import BLOCK

# Draws of the largest of several statistics, and products that they may take in all.
FEWEST, MOST, FLOPS = 10_000, 100_000, 25 * 10**7


def covariance_root(covariance: FloatArray) -> FloatArray:
    """Matrix R with ``R R' = covariance``, of shape (n, rank)."""
    values, vectors = np.linalg.eigh(covariance)
    positive = values > ROUNDING * values[-1]
    return vectors[:, positive] * np.sqrt(values[positive])


def normal_draws(root: FloatArray, n_draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    rows = max(1, BLOCK // len(root))
    for start in range(0, n_draws, rows):
        shape = min(rows, n_draws - start), root.shape[1]
        yield rng.standard_normal(shape, dtype=root.dtype) @ root.T


def largest_of_contrasts(
    covariance: FloatArray,
    contrasts: FloatArray,
    rng: np.random.Generator,
    *,
    signed: bool = False,
) -> FloatArray:
    """Draw the largest statistic of contrasts of normal variables, ascending.

    There are 100,000 draws; fewer, at least 10,000, for so many contrasts that they take seconds.
    """
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0.0] = 1.0
    root = (contrasts * scale) @ covariance_root(covariance / np.outer(scale, scale))
    errors = np.sqrt(np.sum(root**2, axis=1, keepdims=True))
    # Contrasts that vary by rounding alone are as good as any one variable.
    varies = errors[:, 0] > ROUNDING
    root = root[varies] / errors[varies] if varies.any() else np.ones((1, 1))
    n_draws = int(np.clip(FLOPS / root.size, FEWEST, MOST))
    maxima = [
        (drawn if signed else np.abs(drawn, out=drawn)).max(axis=1)
        for drawn in normal_draws(root.astype(np.float32), n_draws, rng)
    ]
    return np.sort(np.concatenate(maxima).astype(np.float64))


def quantile_of_largest(largest: FloatArray, level: float) -> float:
    """Quantile of draws; infinite where so few are beyond that these do not tell it."""
    if (1.0 - level) * len(largest) < 20.0:
        return inf
    return float(np.quantile(largest, level, method="higher"))


def simultaneous_level(covariance: FloatArray, level: float, rng: np.random.Generator) -> float:
    """Level of limits of each of K normal statistics that all hold with probability ``level``.

    It is that of the quantile of the largest of ``|Z_1|, ..., |Z_K|``, exact for one and two, and
    at most Bonferroni's, ``1 - (1 - level) / K``.
    """
    k = len(covariance)
    if k == 1:
        return level
    if k == 2:
        (first, both), (_, second) = covariance.tolist()
        r = min(max(both / sqrt(first * second), -1.0), 1.0)
        slope = sqrt((1.0 - r) / (1.0 + r)) if r > -1.0 else inf
        slopes = np.array([slope, 1.0 / slope if slope > 0.0 else inf])

        # P(|Z_1| > x or |Z_2| > x) by Owen's T function.
        def excess(x: float) -> float:
            return 4.0 * float(owens_t(x, slopes).sum()) - (1.0 - level)

        quantile = brentq(excess, 0.0, 40.0, xtol=1e-12)
    else:
        largest = largest_of_contrasts(covariance, np.eye(k), rng)
        quantile = quantile_of_largest(largest, level)
    error = 2.0 * float(ndtr(-quantile))
    return 1.0 - min(max(error, (1.0 - level) / k), 1.0 - level)


def excess_of_largest(values: FloatArray, covariance: FloatArray) -> float:
    """Expected error of the largest of statistics, were the values what they estimate.

    Normal errors of the covariance, the same draws in every call.
    """
    draws = normal_draws(covariance_root(covariance), FEWEST, np.random.default_rng(0))
    chosen = [x[np.arange(len(x)), (values + x).argmax(axis=1)] for x in draws]
    return float(np.concatenate(chosen).mean())
