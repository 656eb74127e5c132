"""Resampling of a mean: sign flips, bootstrap, and the limits that follow from them.

All functions take and return arrays with one value for each independent unit, such as a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from scipy.special import ndtr, ndtri

from .._typing import FloatArray

__all__ = [
    "FlippedSubsets",
    "bca_levels",
    "flipped_subsets",
    "resampled_means",
]

# Number of entries of a temporary array, which fits into the cache of a core.
BLOCK = 2**16

# Signs are drawn eight at a time: a byte picks the sum of its subset of eight values.
BITS = 8
PATTERNS = (np.arange(2**BITS)[:, None] >> np.arange(BITS)) & 1
GROUPS = 2**10


@dataclass(frozen=True, eq=False)
class FlippedSubsets:
    """Sums of the values whose sign is flipped, one for each assignment of signs."""

    sums: FloatArray  # (n_assignments,): Sum of the flipped values
    counts: FloatArray  # (n_assignments,): Their number, or the sum of their sizes
    slack: float  # Sums this near to 0 are 0 up to rounding
    exact: bool  # Whether these are all assignments but that without a flip; else random ones

    @property
    def pvalues(self) -> tuple[float, float]:
        """P-values for a mean that is too large, and for one that is too small.

        The flipped mean is at least the observed one if and only if the flipped values sum to at
        most 0. The observed assignment counts as one of them.
        """
        total = len(self.sums) + 1
        greater = 1 + np.count_nonzero(self.sums <= self.slack)
        less = 1 + np.count_nonzero(self.sums >= -self.slack)
        return greater / total, less / total

    def pvalue(self, alternative: str) -> float:
        """P-value of a mean that is extreme."""
        greater, less = self.pvalues
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
    values: FloatArray,
    n_resamples: int,
    rng: np.random.Generator,
    sizes: FloatArray | None = None,
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
    for start in range(0, n, BITS * GROUPS):
        part = values[start : start + BITS * GROUPS]
        groups = ceil(len(part) / BITS)
        table = _subset_table(part, groups)
        table_of_sizes = None
        if sizes is not None:
            table_of_sizes = _subset_table(sizes[start : start + BITS * GROUPS], groups)
        shift = 2**BITS * np.arange(groups)
        last = 2 ** (len(part) - BITS * (groups - 1)) - 1
        rows = max(1, BLOCK // groups)
        for first in range(0, n_resamples, rows):
            here = slice(first, min(first + rows, n_resamples))
            drawn = rng.integers(0, 2**BITS, size=(here.stop - here.start, groups), dtype=np.uint8)
            drawn[:, -1] &= last
            sums[here] += table.take(drawn + shift).sum(axis=1)
            if table_of_sizes is None:
                counts[here] += np.bitwise_count(drawn).sum(axis=1, dtype=np.intp)
            else:
                counts[here] += table_of_sizes.take(drawn + shift).sum(axis=1)
    return FlippedSubsets(sums, counts, slack, exact=False)


def _subset_table(part: FloatArray, groups: int) -> FloatArray:
    """Sums of all subsets of each eight values."""
    padded = np.zeros(groups * BITS)
    padded[: len(part)] = part
    return (padded.reshape(groups, BITS) @ PATTERNS.T).ravel()


def resampled_means(
    values: FloatArray,
    n_resamples: int,
    rng: np.random.Generator,
    sizes: FloatArray | None = None,
) -> FloatArray:
    """Draw samples with replacement and take their means. Shape (n_resamples,)."""
    n = len(values)
    means = np.empty(n_resamples)
    rows = max(1, BLOCK // n)
    for first in range(0, n_resamples, rows):
        here = slice(first, min(first + rows, n_resamples))
        drawn = rng.integers(0, n, size=(here.stop - here.start, n))
        if sizes is None:
            means[here] = values.take(drawn).mean(axis=1)
        else:
            means[here] = values.take(drawn).sum(axis=1) / sizes.take(drawn).sum(axis=1)
    return means


def bca_levels(
    mean: float, deviation: FloatArray, means: FloatArray, level: float
) -> tuple[float, float]:
    """Find the levels of bootstrap quantiles that correct for bias and skewness.

    The jackknife value without value i is the mean less ``(values[i] - mean)/(n - 1)``, so that
    the acceleration is ``sum of d^3 / (6 (sum of d^2)^(3/2))``, d the deviations. Resampled means
    that equal the mean count one half.
    """
    below = (np.count_nonzero(means < mean) + np.count_nonzero(means <= mean)) / 2
    # No sample on one side of the mean: the share is less than one in all, but not 0.
    share = np.clip(below, 0.5, len(means) - 0.5) / len(means)
    bias = ndtri(share)
    acceleration = (deviation**3).sum() / (6 * (deviation**2).sum() ** 1.5)
    normal = bias + ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    low, high = ndtr(bias + normal / (1 - acceleration * normal))
    return float(low), float(high)
