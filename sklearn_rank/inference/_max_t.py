"""Distribution of the largest of several correlated normal or Student variables, from draws."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isinf

import numpy as np
from scipy.special import ndtr, stdtrit

from .._typing import FloatArray

__all__ = ["correlation_root", "covariance_root", "largest_of_contrasts", "normal_draws"]

# Draws of the largest of several statistics, and products that they may take in all.
FEWEST, MOST, FLOPS = 10_000, 100_000, 2 * 10**9

# Entries of a block of contrasts, which the cache holds.
BLOCK = 2**18

# Draws that are held at a time.
CHUNK = 2**12

# Eigenvalues that are smaller, relative to the largest, are 0 up to rounding.
RANK_TOLERANCE = 1e-12


def covariance_root(covariance: FloatArray) -> FloatArray:
    """Find a matrix R with ``R R' = covariance``. Shape (n, rank)."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > RANK_TOLERANCE * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def correlation_root(covariance: FloatArray) -> FloatArray:
    """Find a matrix R with ``R R'`` the correlations. Shape (n, rank)."""
    errors = np.sqrt(np.diag(covariance))
    return covariance_root(covariance / np.outer(errors, errors))


def normal_draws(root: FloatArray, n_draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Draw normal variables, some at a time."""
    for start in range(0, n_draws, CHUNK):
        drawn = rng.standard_normal((min(CHUNK, n_draws - start), root.shape[1]))
        yield drawn @ root.T


def largest_of_contrasts(
    covariance: FloatArray,
    contrasts: FloatArray,
    rng: np.random.Generator,
    degrees: float = inf,
    *,
    signed: bool = False,
) -> FloatArray:
    """Draw the largest statistic of several contrasts of normal variables, or Student's.

    The draws, ascending: 100,000, or fewer, at least 10,000, for so many contrasts that they would
    take seconds. Shape (n_draws,).
    """
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0.0] = 1.0
    root = (contrasts * scale) @ covariance_root(covariance / np.outer(scale, scale))
    errors = np.sqrt(np.sum(root**2, axis=1, keepdims=True))
    # Contrasts that vary by rounding alone are as good as any one variable.
    varies = errors[:, 0] > RANK_TOLERANCE
    root = root[varies] / errors[varies] if varies.any() else np.ones((1, 1))
    root = root.astype(np.float32)
    n_draws = int(np.clip(FLOPS / root.size, FEWEST, MOST))
    rows = max(1, BLOCK // len(root))
    drawn = np.empty(n_draws, dtype=np.float32)
    for start in range(0, n_draws, rows):
        here = drawn[start : start + rows]
        found = rng.standard_normal((len(here), root.shape[1]), dtype=np.float32) @ root.T
        found.max(axis=1, out=here)
        if not signed:
            np.maximum(here, -found.min(axis=1), out=here)
    largest = np.sort(drawn.astype(np.float64))
    return largest if isinf(degrees) else stdtrit(degrees, ndtr(largest))
