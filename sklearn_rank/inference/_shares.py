"""Limits for means of values of 0 and 1, and of their differences, which are -1, 0 and 1.

Such values are far from normal: Student's 95 % interval for the mean of 20 values of 0 and 1
covers as little as .83.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ._exact_limits import Limits, safe_limits
from ._normal_test import two_sided_quantile
from ._query_values import ROUNDING, QueryValues

__all__ = ["are_differences_of_shares", "are_shares", "difference_limits", "share_limits"]

N_HALVINGS = 60


def are_shares(sample: QueryValues) -> bool:
    """Say whether all values are at the ends of the range, as 0 and 1."""
    low, high = sample.range
    if not np.isfinite([low, high]).all():
        return False
    apart = np.minimum(np.abs(sample.values - low), np.abs(sample.values - high))
    return bool(np.all(apart <= ROUNDING * (high - low)))


def are_differences_of_shares(sample: QueryValues) -> bool:
    """Say whether all differences are 0 or at the ends of the range, as -1, 0 and 1."""
    length = sample.range[1]
    if not np.isfinite(length):
        return False
    size = np.abs(sample.values)
    return bool(np.all(np.minimum(size, np.abs(size - length)) <= ROUNDING * length))


def _draws(sample: QueryValues) -> float:
    """Effective number of independent queries, at most the number of queries."""
    n = len(sample.values)
    if sample.is_plain:
        return float(n)
    mean = sample.mean
    variance = float(np.average((sample.values - mean) ** 2, weights=sample.weight))
    error = sample.standard_error
    # Groups that are equal by chance do not increase the effective number of queries.
    return n if error**2 * n <= variance else variance / error**2


def share_limits(sample: QueryValues, level: float) -> Limits:
    """Limits for a mean of values at the ends of the range."""
    start, length = sample.range[0], sample.range[1] - sample.range[0]
    share = float(np.clip((sample.mean - start) / length, 0.0, 1.0))
    degrees = np.inf if sample.is_plain else sample.degrees
    low, high = safe_limits(share, _draws(sample), level, degrees)
    return start + length * low, start + length * high


def difference_limits(sample: QueryValues, level: float) -> Limits:
    """Limits for a mean of differences with three possible values, by Tango's score."""
    length = sample.range[1]
    quantile = two_sided_quantile(level)
    draws = _draws(sample)
    if not sample.is_plain:
        draws *= (quantile / two_sided_quantile(level, sample.degrees)) ** 2
    up = draws * float(np.average(sample.values > length / 2, weights=sample.weight))
    down = draws * float(np.average(sample.values < -length / 2, weights=sample.weight))
    estimate = (up - down) / draws
    # The score falls as the difference grows.
    limits = []
    for low, high, target in ((-1.0, estimate, quantile), (estimate, 1.0, -quantile)):
        for _ in range(N_HALVINGS):
            middle = (low + high) / 2.0
            above = _score(middle, up, down, draws) > target
            low, high = (middle, high) if above else (low, middle)
        limits.append(length * (low + high) / 2.0)
    return limits[0], limits[1]


def _score(difference: float, up: float, down: float, draws: float) -> float:
    """Tango's score of a difference inside (-1, 1)."""
    # The probability of a win of the second is the root that maximises the likelihood given the
    # difference.
    linear = (2.0 * draws - up + down) * difference - up - down
    constant = -down * difference * (1.0 - difference)
    root = sqrt(max(linear**2 - 8.0 * draws * constant, 0.0))
    second = max((root - linear) / (4.0 * draws), 0.0)
    variance = draws * (2.0 * second + difference * (1.0 - difference))
    distance = up - down - draws * difference
    if variance <= 0.0:
        return float(np.copysign(np.inf, distance)) if distance else 0.0
    return distance / sqrt(variance)
