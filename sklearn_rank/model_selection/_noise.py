"""Several candidates on the same rows: limits that hold together, and who may be the best."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, ndtri

from .._typing import BoolArray, FloatArray
from ..inference._shared import least_variance
from ._evidence import Evidence

__all__ = ["may_be_best", "simultaneous_tails"]

# Draws of normal variables from which the distribution of an extreme one is known.
DRAWS, CHUNK = 2**15, 2**12


def simultaneous_tails(
    evidence: Evidence, delta: float, weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Probabilities that limits for single candidates may have to hold together.

    With correlated normal variables ``Z_c`` and tails in proportion to the weights,
    ``P(Z_c is within its tail for some c) = delta``.

    Parameters
    ----------
    evidence : Evidence
        What the candidates showed.
    delta : float
        Probability that any limit fails.
    weights : ndarray of shape (n_candidates,)
        Positive weights, of sum 1.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of shape (n_candidates,)
        Tails, between those of Bonferroni and delta.
    """
    if len(weights) == 1:
        return np.array([delta])
    errors = np.sqrt(np.diag(evidence.spare))
    root = _root(evidence.spare / np.outer(errors, errors))
    first = np.concatenate([(ndtr(draw) / weights).min(axis=1) for draw in _draws(root, rng)])
    # A share of Bonferroni's is always enough, and delta / max(weights) never exceeded.
    share = np.clip(np.quantile(first, delta, method="lower"), delta, delta / weights.max())
    return share * weights


def may_be_best(evidence: Evidence, delta: float, rng: np.random.Generator) -> BoolArray:
    """Find the candidates that a simultaneous paired test cannot tell from the best.

    A candidate stays unless some other one is better than it by more than ``q`` standard errors of
    their difference, q being the quantile of the largest of its standardised differences to all
    others. So the one whose expected mean is the largest stays with probability ``1 - delta``, in
    the limit, although it is not known which one that is.

    Parameters
    ----------
    evidence : Evidence
        What the candidates showed.
    delta : float
        Probability that the best is removed.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of bool of shape (n_candidates,)
        Which ones stay; the candidate of the largest mean does.
    """
    n = len(evidence.means)
    if n == 1:
        return np.ones(1, dtype=bool)
    ahead = evidence.means[:, None] - evidence.means
    covariance = evidence.covariance
    least = least_variance(ahead, evidence.unit, evidence.effective)
    # A difference that would be certain has the variance with the added items, as in paired tests.
    certain = ~(_of_differences(covariance) > least)
    equal = certain & (ahead == 0.0) & ~np.isnan(covariance).any()
    if not np.array_equal(certain, equal):
        apart = evidence.means - evidence.means.mean()
        covariance = evidence.spare + np.outer(apart, apart) / evidence.effective
        equal = np.eye(n, dtype=bool)
    errors = np.sqrt(np.where(equal, 1.0, _of_differences(covariance)))
    largest = np.where(equal, 0.0, ahead / errors).max(axis=0)
    # One comparison, and Bonferroni's correction for all, decide most candidates.
    stays = largest <= max(-float(ndtri(delta)), 0.0)
    open_ = np.flatnonzero(~stays & (largest <= -float(ndtri(delta / (n - 1)))))
    if len(open_):
        found: list[list[FloatArray]] = [[] for _ in open_]
        for draw in _draws(_root(covariance), rng):
            for kept, c in zip(found, open_, strict=True):
                others = ~equal[:, c]
                kept.append(((draw[:, others] - draw[:, [c]]) / errors[others, c]).max(axis=1))
        for kept, c in zip(found, open_, strict=True):
            quantile = np.quantile(np.concatenate(kept), 1.0 - delta, method="higher")
            stays[c] = largest[c] <= quantile
    return stays


def _of_differences(covariance: FloatArray) -> FloatArray:
    variances = np.diag(covariance)
    return variances[:, None] + variances - 2.0 * covariance


def _root(covariance: FloatArray) -> FloatArray:
    """Matrix R with R R' = covariance, of its rank."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def _draws(root: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Normal variables, some at a time."""
    for start in range(0, DRAWS, CHUNK):
        yield rng.standard_normal((min(CHUNK, DRAWS - start), root.shape[1])) @ root.T
