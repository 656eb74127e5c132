"""Exact limits for proportions of few draws."""

from __future__ import annotations

from math import inf

from scipy.special import betainc, betaincinv

from ._normal_test import two_sided_quantile
from ._wilson import wilson_limits

__all__ = ["midp_limits", "safe_limits", "wider"]

# With fewer draws than this the limits are those of the range.
LEAST_DRAWS = 1e-9

N_HALVINGS = 32

Limits = tuple[float, float]


def safe_limits(estimate: float, n_effective: float, level: float, degrees: float = inf) -> Limits:
    """Return Wilson's limits, or the exact ones on a side where these are farther out."""
    # Wilson's limits depend on n / z**2 alone: Student's quantile is fewer draws.
    n_effective *= (two_sided_quantile(level) / two_sided_quantile(level, degrees)) ** 2
    return wider(
        wilson_limits(estimate, n_effective, level), midp_limits(estimate, n_effective, level)
    )


def wider(first: Limits, second: Limits) -> Limits:
    """Take the wider of two pairs of limits on either side."""
    return min(first[0], second[0]), max(first[1], second[1])


def midp_limits(estimate: float, n_effective: float, level: float) -> Limits:
    """Return the limits of Clopper and Pearson with mid-p values and an effective sample size.

    The p with ``P(X > x) + P(X = x) / 2 = (1 - level) / 2`` for a binomial X of n draws of
    probability p, ``x = n estimate`` hits seen, and the other way round for the upper one; for n
    and x that are not whole the incomplete beta functions take the place of the sums.
    """
    draws = max(n_effective, LEAST_DRAWS)
    tail = (1.0 - level) / 2.0
    hits, misses = draws * estimate, draws * (1.0 - estimate)
    low, high = _lower(hits, misses, tail), 1.0 - _lower(misses, hits, tail)
    return min(low, estimate), max(high, estimate)


def _lower(hits: float, misses: float, tail: float) -> float:
    """Find the least probability with which so many hits have the mid-p value ``tail``."""
    if hits <= 0.0:
        return 0.0
    if misses <= 0.0:
        return float((2.0 * tail) ** (1.0 / hits))
    # The observed value counts fully, or not at all.
    low = float(betaincinv(hits, misses + 1.0, tail))
    high = float(betaincinv(hits + 1.0, misses, tail))
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2.0
        chance = betainc(hits, misses + 1.0, middle) + betainc(hits + 1.0, misses, middle)
        low, high = (middle, high) if chance < 2.0 * tail else (low, middle)
    return (low + high) / 2.0
