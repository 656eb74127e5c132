"""Simultaneous limits for several candidates on the same rows, and comparison with the best."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

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

# Number of normal draws for the distribution of the extreme variable.
N_DRAWS = 2**15

# Up to this number of candidates, compiled code is not used.
FEW = 50


def simultaneous_tails(
    evidence: Evidence, delta: float, weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Probabilities that limits for single candidates may have to hold together.

    With correlated normal variables ``Z_c`` and tails in proportion to the weights, ``P(Z_c is
    within its tail for some c) = delta``.
    """
    delta = _kept(evidence, delta)
    if len(weights) == 1:
        return np.array([delta])
    root = correlation_root(evidence.regularized_covariance)
    # Of candidates of one weight the smallest value has the smallest tail.
    distinct, starts = np.unique(np.sort(weights), return_index=True)
    order = np.argsort(weights, kind="stable")
    smallest = [
        (ndtr(np.minimum.reduceat(drawn[:, order], starts, axis=1)) / distinct).min(axis=1)
        for drawn in normal_draws(root, N_DRAWS, rng)
    ]
    # A share of Bonferroni's is always enough, and delta / max(weights) never exceeded.
    quantile = np.quantile(np.concatenate(smallest), delta, method="lower")
    return np.clip(quantile, delta, delta / weights.max()) * weights


def _kept(evidence: Evidence, delta: float) -> float:
    """Largest probability of failure up to which a bound of the covariance is on the safe side.

    Of two normal variables of mean 0 the one of the larger covariance lies in a convex set of
    probability 1/2 or more the more seldom (Ehrhard's inequality), in others it need not.
    """
    return delta if evidence.disjoint is None else min(delta, 0.5)


def may_be_best(evidence: Evidence, delta: float, rng: np.random.Generator) -> BoolArray:
    """Find the candidates that a simultaneous paired test does not distinguish from the best.

    A candidate stays unless some other one is better than it by more than ``q`` standard errors of
    their difference, q being the quantile of the largest of its standardised differences to all
    others. So the one whose expected mean is the largest stays with probability ``1 - delta``, in
    the limit, although it is unknown which one that is.
    """
    n, delta = len(evidence.means), _kept(evidence, delta)
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
        leads = np.where(equal, np.inf, largest[:, None] * errors)[undecided]
        draws = normal_draws(covariance_root(covariance), N_DRAWS, rng)
        stays[undecided] = _often_overtaken(draws, undecided, leads, delta)
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


def _often_overtaken(
    draws: Iterator[FloatArray], candidates: IntArray, leads: FloatArray, delta: float
) -> BoolArray:
    """Whether in a share delta of the draws some other one is ahead by its lead or more.

    So it is where the lead is no more than the quantile of the largest standardised difference.
    """
    # As many draws are at or above the upper one of the two that enclose the quantile.
    enough = N_DRAWS - ceil((N_DRAWS - 1) * (1.0 - delta))
    counts, n_left = np.zeros(len(candidates), dtype=np.int64), N_DRAWS
    for drawn in draws:
        undecided = np.flatnonzero((counts < enough) & (counts + n_left >= enough))
        counts[undecided] += _times_overtaken(drawn, candidates[undecided], leads[undecided])
        n_left -= len(drawn)
    return counts >= enough


def _times_overtaken(drawn: FloatArray, candidates: IntArray, leads: FloatArray) -> IntArray:
    """Count the draws in which some other one is ahead of a candidate by its lead or more."""
    n = leads.shape[1]
    if n <= FEW:
        # Compilation would take longer.
        overtaken = [
            (drawn - lead >= drawn[:, [candidate]]).any(axis=1)
            for candidate, lead in zip(candidates, leads, strict=True)
        ]
        return np.array([np.count_nonzero(one) for one in overtaken], dtype=np.int64)
    from ._noise_kernels import BLOCK, count_overtaken

    starts = np.arange(0, n, BLOCK)
    tops = np.maximum.reduceat(drawn, starts, axis=1)
    least_leads = np.minimum.reduceat(leads, starts, axis=1)
    counts = np.zeros(len(candidates), dtype=np.int64)
    count_overtaken(drawn, tops, candidates, leads, least_leads, counts)
    return counts


def _variances_of_differences(covariance: FloatArray) -> FloatArray:
    variances = np.diag(covariance)
    return variances[:, None] + variances - 2.0 * covariance
