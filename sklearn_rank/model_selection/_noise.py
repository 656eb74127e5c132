"""Several candidates on the same rows: limits that hold together, and who may be the best."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from .._typing import BoolArray, FloatArray, IntArray
from ..inference._shared import (
    correlation_root,
    covariance_root,
    least_variance,
    never_certain_covariance,
    normal_draws,
)
from ._evidence import Evidence

__all__ = ["may_be_best", "simultaneous_tails"]

# Draws of normal variables from which the distribution of an extreme one is known.
N_DRAWS = 2**15


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
    root = correlation_root(evidence.regularized_covariance)
    smallest = [(ndtr(drawn) / weights).min(axis=1) for drawn in normal_draws(root, N_DRAWS, rng)]
    # A share of Bonferroni's is always enough, and delta / max(weights) never exceeded.
    quantile = np.quantile(np.concatenate(smallest), delta, method="lower")
    return np.clip(quantile, delta, delta / weights.max()) * weights


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
    covariance, equal = _covariance_and_ties(evidence, ahead)
    errors = np.sqrt(np.where(equal, 1.0, _variances_of_differences(covariance)))
    largest = np.where(equal, 0.0, ahead / errors).max(axis=0)
    # One comparison, and Bonferroni's correction for all, decide most candidates.
    stays = largest <= max(-float(ndtri(delta)), 0.0)
    undecided = np.flatnonzero(~stays & (largest <= -float(ndtri(delta / (n - 1)))))
    if len(undecided):
        drawn = _largest_differences(covariance, errors, equal, undecided, rng)
        quantiles = np.quantile(drawn, 1.0 - delta, axis=1, method="higher")
        stays[undecided] = largest[undecided] <= quantiles
    return stays


def _covariance_and_ties(evidence: Evidence, ahead: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Covariance by which no difference is certain, and which candidates are equal for certain."""
    covariance = evidence.covariance
    least = least_variance(ahead, evidence.length, evidence.n_effective)
    # A difference that would be certain has the variance with the added items, as in paired tests.
    certain = ~(_variances_of_differences(covariance) > least)
    equal = certain & (ahead == 0.0) & ~np.isnan(covariance).any()
    if np.array_equal(certain, equal):
        return covariance, equal
    covariance = never_certain_covariance(
        evidence.means, evidence.regularized_covariance, evidence.n_effective
    )
    return covariance, np.eye(len(ahead), dtype=bool)


def _largest_differences(
    covariance: FloatArray,
    errors: FloatArray,
    equal: BoolArray,
    candidates: IntArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw, for each of some candidates, its largest standardised distance to another one."""
    found: list[list[FloatArray]] = [[] for _ in candidates]
    for drawn in normal_draws(covariance_root(covariance), N_DRAWS, rng):
        for of_candidate, c in zip(found, candidates, strict=True):
            others = ~equal[:, c]
            distances = (drawn[:, others] - drawn[:, [c]]) / errors[others, c]
            of_candidate.append(distances.max(axis=1))
    return np.array([np.concatenate(of_candidate) for of_candidate in found])


def _variances_of_differences(covariance: FloatArray) -> FloatArray:
    variances = np.diag(covariance)
    return variances[:, None] + variances - 2.0 * covariance
