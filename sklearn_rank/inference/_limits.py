"""Limits and p-values: normal, Wilson's, exact, by influence, by resampling, for any groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, erfc, expm1, floor, inf, isinf, log, log1p, pi, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import (
    betainc,
    betaincinv,
    betaln,
    gammaln,
    ndtr,
    ndtri,
    smirnov,
    smirnovi,
    stdtr,
    stdtrit,
)

from .._printed import ROUNDING
from .._typing import FloatArray
from ..bounds._shared import NEGLIGIBLE, TINY, wilson_score_limits
from ..metrics._shared import with_half_more

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]


def pvalue_of(statistic: float, alternative: Alternative, degrees: float = inf) -> float:
    if alternative == "two-sided":
        return 2.0 * _below(-abs(statistic), degrees)
    return _below(-statistic if alternative == "greater" else statistic, degrees)


def two_sided_quantile(level: float, degrees: float = inf) -> float:
    upper = (1.0 + level) / 2.0
    return float(ndtri(upper) if isinf(degrees) else stdtrit(degrees, upper))


def _below(statistic: float, degrees: float) -> float:
    return float(ndtr(statistic) if isinf(degrees) else stdtr(degrees, statistic))


def wilson_limits(
    estimate: float, n_effective: float, level: float, degrees: float = inf
) -> tuple[float, float]:
    """Return limits by Wilson's score method with an effective sample size.

    The x with ``n (estimate - x)**2 <= z**2 x (1 - x)``.
    """
    quantile = two_sided_quantile(level, degrees)
    low, high = wilson_score_limits(estimate, quantile, n_effective)
    return float(low), float(high)


# Newton's method takes about fifteen steps, until they are as small as rounding.
MOST_STEPS, ROUNDED_STEP = 400, 1e-13

Limits = tuple[float, float]
LimitsAt = Callable[[float], Limits]  # By their level


def safe_limits(estimate: float, n_effective: float, level: float, degrees: float = inf) -> Limits:
    """Return Wilson's limits, or the exact ones on a side where these are farther out."""
    low, high = share_limits(estimate, n_effective, level, degrees)
    return float(low), float(high)


def share_limits(
    estimate: Any, n_effective: Any, level: float, degrees: Any = inf
) -> tuple[FloatArray, FloatArray]:
    """Return the same of many shares at once."""
    # Wilson's limits depend on n / z**2 alone: Student's quantile is fewer draws. Quantiles near 0
    # are rounding.
    level = max(level, 1e-6)
    z = two_sided_quantile(level)
    n_effective = n_effective * (z / stdtrit(degrees, (1.0 + level) / 2.0)) ** 2
    wilson = wilson_score_limits(estimate, z, n_effective)
    exact = midp_limits(estimate, n_effective, level)
    return np.minimum(wilson[0], exact[0]), np.maximum(wilson[1], exact[1])


def excess_of(parts: FloatArray, n: float) -> float:
    """By how much the kurtosis of what n units contribute to a mean exceeds 2.

    Of normal values it is 3, but less in small samples. If nothing varies all is unknown.
    """
    # Deviations of groups may sum to rounding.
    squares = np.where(np.abs(parts) > ROUNDING * np.abs(parts).max(initial=1.0), parts, 0.0) ** 2
    total = float(squares.sum())
    return max(n * float(squares @ squares) / total**2 - 2.0, 0.0) if total > 0.0 else inf


def limits_of_mean(
    mean: float, variance: float, weight: float, n: float, level: float, degrees: float
) -> Limits:
    """Return limits for a mean of n values from [0, 1], the variance of the mean being estimated.

    These are those of so many draws of 0 and 1 whose mean varies as much. Half a value is added
    at either end, with a weight, at most 1, by which the variance is uncertain. Values of 0 and 1
    are n draws.
    """
    mean, n, weight = min(max(mean, 0.0), 1.0), max(n, 1.0 + NEGLIGIBLE), min(weight, 1.0)
    total, shrunken, squares = with_half_more(
        n, mean, n * (n - 1.0) * variance, (0.0, 1.0), weight
    )
    variance = squares / (total * (total - 1.0))
    n_effective = shrunken * (1.0 - shrunken) / max(variance, TINY) + 1.0 - (total - n)
    low, high = safe_limits(mean, n_effective, level, degrees)
    # A sample of equal values misses so many others.
    missed = -weight * expm1(log1p(-level) / n)
    return min(low, mean - missed * mean), max(high, mean + missed * (1.0 - mean))


def exact_limits(hits: Any, misses: Any, tail: float) -> tuple[FloatArray, FloatArray]:
    """Limits of Clopper and Pearson, for numbers of draws that need not be whole."""
    low = betaincinv(np.maximum(hits, NEGLIGIBLE), misses + 1.0, tail)
    high = betaincinv(hits + 1.0, np.maximum(misses, NEGLIGIBLE), 1.0 - tail)
    return np.where(hits > 0.0, low, 0.0), np.where(misses > 0.0, high, 1.0)


def midp_limits(estimate: Any, n_effective: Any, level: Any) -> tuple[FloatArray, FloatArray]:
    """Return the limits of Clopper and Pearson with mid-p values and an effective sample size.

    The p with ``P(X > x) + P(X = x) / 2 = (1 - level) / 2`` for a binomial X of n draws of
    probability p, ``x = n estimate`` hits seen, and the other way round for the upper one; for n
    and x that are not whole the incomplete beta functions take the place of the sums.
    """
    # With fewer draws the limits are those of the range.
    draws = np.maximum(n_effective, NEGLIGIBLE)
    tail = (1.0 - level) / 2.0
    both = np.stack(np.broadcast_arrays(draws * estimate, draws * (1.0 - estimate)))
    low, above = _lower(both, both[::-1], tail)
    return np.minimum(low, estimate), np.maximum(1.0 - above, estimate)


def _lower(hits: Any, misses: Any, tail: Any) -> FloatArray:
    """Find the least probability with which so many hits have the mid-p value ``tail``."""
    h, m = np.where(hits > 0.0, hits, 1.0), np.where(misses > 0.0, misses, 1.0)
    # Newton's method for the logarithm of p, from Jeffreys' limit, which is close.
    # SciPy before 1.17 has NaN at some of 1e12.
    p = np.nan_to_num(betaincinv(h + 0.5, m + 0.5, tail), nan=h / (h + m))
    tiny = np.finfo(np.float64).tiny
    p = np.maximum(p, tiny)
    scale = np.log(h + m) - betaln(h, m)
    with np.errstate(all="ignore"):
        for _ in range(MOST_STEPS):
            # The observed value counts fully, or not at all.
            chance = betainc(h, m + 1.0, p) + betainc(h + 1.0, m, p)
            density = np.exp(scale + h * np.log(p) + (m - 1.0) * np.log1p(-p))
            slope = density * ((1.0 - p) / m + p / h) / chance
            before, p = p, np.maximum(p * (2.0 * tail / chance) ** (1.0 / slope), tiny)
            if not np.any(np.abs(p - before) > ROUNDED_STEP):
                break
    of_hits = np.where(misses > 0.0, p, (2.0 * tail) ** (1.0 / h))
    return np.where(hits > 0.0, of_hits, 0.0)


# Entries of the temporary arrays of a step, which fit into the cache of a core.
BLOCK = 2**18
# Signs are drawn eight at a time: a byte picks the sum of its subset of eight values. So many
# bytes are drawn for a flip at a time.
GROUPS = 2**10


@dataclass(frozen=True, eq=False)
class FlippedSubsets:
    """Sums of the values whose sign is flipped, one for each assignment of signs."""

    sums: FloatArray  # (n_assignments,): Sum of the flipped values
    counts: FloatArray  # (n_assignments,): Their number, or the sum of their sizes
    slack: float  # Sums this near to 0 are 0 up to rounding
    exact: bool  # Whether these are all assignments but that without a flip; else random ones

    def pvalue(self, alternative: str) -> float:
        """P-value of a mean that is too large, too small, or either.

        The flipped mean is at least the observed one if and only if the flipped values sum to at
        most 0. The observed assignment counts as one of them.
        """
        total = len(self.sums) + 1
        greater = (1 + np.count_nonzero(self.sums <= self.slack)) / total
        less = (1 + np.count_nonzero(self.sums >= -self.slack)) / total
        both = min(1.0, 2 * min(greater, less))
        return {"greater": greater, "less": less, "two-sided": both}[alternative]

    def limits(self, level: float) -> tuple[float, float]:
        """Limits of all shifts that the test in both directions does not reject."""
        rejected = floor((1 - level) / 2 * (len(self.sums) + 1) * (1 + 1e-12)) - 1
        if rejected < 0:
            return -np.inf, np.inf
        empty = self.counts == 0
        means = self.sums / np.where(empty, 1.0, self.counts)
        low = np.partition(np.where(empty, -np.inf, means), rejected)[rejected]
        high = -np.partition(np.where(empty, -np.inf, -means), rejected)[rejected]
        return float(low), float(high)


def flipped_subsets(
    values: FloatArray, n_resamples: int, rng: np.random.Generator, sizes: FloatArray | None = None
) -> FlippedSubsets:
    """Flip the signs of values, in all ways or in random ones."""
    n = len(values)
    slack = 64 * np.finfo(np.float64).eps * float(np.abs(values).sum())
    if n < 63 and 2**n <= n_resamples:
        sums, counts = np.zeros(1), np.zeros(1)
        for value, size in zip(values, np.ones(n) if sizes is None else sizes, strict=True):
            sums = np.concatenate([sums, sums + value])
            counts = np.concatenate([counts, counts + size])
        return FlippedSubsets(sums[1:], counts[1:], slack, exact=True)
    sums, counts = np.zeros(n_resamples), np.zeros(n_resamples)
    for start in range(0, n, 8 * GROUPS):
        part = values[start : start + 8 * GROUPS]
        groups = ceil(len(part) / 8)
        table = _subset_table(part, groups)
        table_of_sizes = None
        if sizes is not None:
            table_of_sizes = _subset_table(sizes[start : start + 8 * GROUPS], groups)
        shift = 256 * np.arange(groups)
        last = 2 ** (len(part) - 8 * (groups - 1)) - 1
        rows = max(1, BLOCK // (4 * groups))  # Bytes, their places, and sums of both kinds
        for begin in range(0, n_resamples, rows):
            block = slice(begin, min(begin + rows, n_resamples))
            draws = rng.integers(0, 256, size=(block.stop - block.start, groups), dtype=np.uint8)
            draws[:, -1] &= last
            sums[block] += table.take(draws + shift).sum(axis=1)
            if table_of_sizes is None:
                counts[block] += np.bitwise_count(draws).sum(axis=1, dtype=np.intp)
            else:
                counts[block] += table_of_sizes.take(draws + shift).sum(axis=1)
    return FlippedSubsets(sums, counts, slack, exact=False)


def _subset_table(part: FloatArray, groups: int) -> FloatArray:
    """Sums of all subsets of each eight values."""
    patterns = (np.arange(256)[:, np.newaxis] >> np.arange(8)) & 1
    padded = np.zeros(groups * 8)
    padded[: len(part)] = part
    return (padded.reshape(groups, 8) @ patterns.T).ravel()


# A selection of M groups, each with a chance in proportion to its rows, and of one row of each has
# M independent rows; the empirical distribution of all rows is the mean over such selections. So
# the expectation of every convex function of its distance is at most that for M independent rows,
# and its quantiles are at most the means of their tails.


def independent_rows(sizes: FloatArray) -> int:
    """Number of groups that can be selected, each in proportion to its rows."""
    return floor(sizes.sum() / sizes.max())


def mean_of_tail(factor: float, delta: float, n: int) -> float:
    """Mean of the tail of a distance with ``P(distance > x) <= factor exp(-2 n x^2)``."""
    quantile = sqrt(log(factor / delta) / (2.0 * n))
    beyond = factor * sqrt(pi / (8.0 * n)) * erfc(quantile * sqrt(2.0 * n))
    return quantile + beyond / delta


# From this number of rows on the exponential bound is as good as the distribution itself, whose
# quantiles then take seconds.
MANY_ROWS = 1000


def largest_excess(delta: float, n: int) -> float:
    """Quantile of the one-sided Kolmogorov-Smirnov statistic that is exceeded with a chance."""
    return sqrt(-log(delta) / (2.0 * n)) if n > MANY_ROWS else float(smirnovi(n, delta))


def kolmogorov_margin(delta: float, n: int) -> float:
    """Mean of the tail of the Kolmogorov-Smirnov statistic, taken as both one-sided ones."""
    if n > MANY_ROWS:
        return min(1.0, mean_of_tail(2.0, delta, n))
    quantile = float(smirnovi(n, delta / 2.0))
    # Beyond the last point there is less than a share exp(-50) of the tail.
    length = min(1.0 - quantile, 5.0 / sqrt(n))
    # Gauss's nodes and weights on [-1, 1].
    nodes, weights = np.polynomial.legendre.leggauss(60)
    tails = smirnov(n, quantile + length * (nodes / 2.0 + 0.5))
    beyond = length * float(weights / 2.0 @ tails)
    return min(1.0, quantile + 2.0 * beyond / delta)


def holm_adjust(pvalues: Sequence[float]) -> FloatArray:
    """Adjust p-values for multiple tests by Holm's method (family-wise error rate)."""
    values = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    scaled = np.arange(len(values), 0, -1) * values[order]
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def log_binomial(n: Any, k: Any) -> FloatArray:
    """Logarithm of the binomial coefficient, -inf beyond n."""
    logs = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(np.maximum(n - k, 0.0) + 1.0)
    return np.asarray(np.where(k > n, -np.inf, logs))
