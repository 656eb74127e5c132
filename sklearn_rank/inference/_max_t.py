"""The largest of several correlated normal variables, or Student's, from draws."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isinf

import numpy as np
from scipy.special import ndtr, stdtrit

from .._typing import FloatArray

__all__ = ["correlation_root", "covariance_root", "largest_statistics", "normal_draws"]

# Draws that are held at a time.
CHUNK = 2**12

# Eigenvalues that are smaller, relative to the largest, are 0 up to rounding.
RANK_TOLERANCE = 1e-12


def covariance_root(covariance: FloatArray) -> FloatArray:
    """Find a matrix R with ``R R' = covariance``.

    Parameters
    ----------
    covariance : ndarray of shape (n, n)
        Covariance; it may be singular.

    Returns
    -------
    ndarray of shape (n, rank)
        The matrix.
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = values > RANK_TOLERANCE * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def correlation_root(covariance: FloatArray) -> FloatArray:
    """Find a matrix R with ``R R'`` the correlations.

    Parameters
    ----------
    covariance : ndarray of shape (n, n)
        Covariance, of positive variances; it may be singular.

    Returns
    -------
    ndarray of shape (n, rank)
        The matrix.
    """
    errors = np.sqrt(np.diag(covariance))
    return covariance_root(covariance / np.outer(errors, errors))


def normal_draws(root: FloatArray, n_draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Draw normal variables, some at a time.

    Parameters
    ----------
    root : ndarray of shape (n, rank)
        Root of their covariance, from :func:`covariance_root`.
    n_draws : int
        Number of draws in all.
    rng : numpy.random.Generator
        Source of random numbers.

    Yields
    ------
    ndarray of shape (n_some, n)
        Some of the draws.
    """
    for start in range(0, n_draws, CHUNK):
        drawn = rng.standard_normal((min(CHUNK, n_draws - start), root.shape[1]))
        yield drawn @ root.T


def largest_statistics(
    covariance: FloatArray, n_draws: int, rng: np.random.Generator, degrees: float = inf
) -> FloatArray:
    """Draw the largest standardised absolute value of normal variables, or Student's.

    Parameters
    ----------
    covariance : ndarray of shape (n, n)
        Their covariance, of positive variances.
    n_draws : int
        Number of draws.
    rng : numpy.random.Generator
        Source of random numbers.
    degrees : float, default=inf
        Degrees of freedom of the variance by which each is divided, its own: the draws have the
        quantiles of Student's distribution in place of normal ones.

    Returns
    -------
    ndarray of shape (n_draws,)
        The draws, ascending.
    """
    root = correlation_root(covariance)
    drawn = np.concatenate([np.abs(some).max(axis=1) for some in normal_draws(root, n_draws, rng)])
    if not isinf(degrees):
        drawn = stdtrit(degrees, ndtr(drawn))
    return np.sort(drawn)
