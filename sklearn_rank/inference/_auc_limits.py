"""Limits for the expected AUC by each method, from the moments of one or several samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

from .._typing import AnyArray, FloatArray
from ..bounds._shared import kl_limits, score_limits
from ._auc_moments import AUCMoments, hanley_mcneil_pairs, lehmann_variance
from ._auc_score_limits import auc_score_limits, unseen_effect

__all__ = ["ESTIMATED", "METHODS", "WITH_GROUPS", "auc_limits", "design_effect"]

Limits = tuple[FloatArray, FloatArray]

# Prior variance of the placements: its fraction of the largest possible value, and its prior
# weight in units of n A (1 - A).
PRIOR_SHARE = 0.5
PRIOR_EVIDENCE = 0.25

N_HALVINGS = 60


def auc_limits(method: str, moments: AUCMoments, level: float) -> Limits:
    """Find the limits of an interval."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = METHODS[method](moments, 1.0 - level)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def design_effect(moments: AUCMoments) -> FloatArray:
    """Variance of the AUC over ``A (1 - A)``, kept away from 0 where little is known.

    The variance of the placements of one class, over ``A (1 - A)``, lies between 0 and 1, and
    their sum over both classes is at most 1. Each is estimated as ``((n - 1) s^2 + c r) / ((n - 1)
    A (1 - A) + c)`` with ``c = 1/4`` and ``r = (1 + 1/n) / 2``: at an AUC of 1 nothing was seen
    and it is r; one item alone, which shows no spread, has the largest, 1.
    """
    largest = moments.auc * (1.0 - moments.auc)
    if moments.n_groups is not None:
        few = moments.n_groups
        # The number of draws is the number of groups of the rarer class, each with this variance.
        seen = (few - 1.0) * few * moments.variance
        return _shrunken_share(seen, (few - 1.0) * largest, few) / few
    m, n = moments.n_pos, moments.n_neg
    share_pos = _shrunken_share((m - 1.0) * moments.var_pos, (m - 1.0) * largest, m)
    share_neg = _shrunken_share((n - 1.0) * moments.var_neg, (n - 1.0) * largest, n)
    return share_pos / m + share_neg / n


def _shrunken_share(seen: AnyArray, largest: AnyArray, n: AnyArray) -> FloatArray:
    """Share of its largest value that a variance has, drawn to the prior where little was seen."""
    prior = PRIOR_SHARE * (1.0 + 1.0 / n)
    return (seen + PRIOR_EVIDENCE * prior) / (largest + PRIOR_EVIDENCE)


def _wilson(moments: AUCMoments, delta: float) -> Limits:
    return auc_score_limits(moments.auc, design_effect(moments), unseen_effect(moments), _z(delta))


def _delong(moments: AUCMoments, delta: float) -> Limits:
    return _wald(moments.auc, moments.variance, _z(delta))


def _logit_delong(moments: AUCMoments, delta: float) -> Limits:
    auc = moments.auc
    reach = _z(delta) * np.sqrt(moments.variance) / (auc * (1.0 - auc))
    return expit(logit(auc) - reach), expit(logit(auc) + reach)


def _hanley_mcneil(moments: AUCMoments, delta: float) -> Limits:
    return _wald(moments.auc, hanley_mcneil_variance(moments), _z(delta))


def hanley_mcneil_variance(moments: AUCMoments) -> FloatArray:
    """Variance of the AUC with exponential scores, at the observed AUC."""
    pairs = hanley_mcneil_pairs(moments.auc)
    return lehmann_variance(moments.auc, *pairs, moments.n_pos, moments.n_neg)


def _newcombe(moments: AUCMoments, delta: float) -> Limits:
    """Solve for the AUC whose Hanley-McNeil variance, both counts as their mean, fits."""
    half = (moments.n_pos + moments.n_neg) / 2.0
    pairs = moments.n_pos * moments.n_neg

    def variance(auc: FloatArray) -> FloatArray:
        first, second = hanley_mcneil_pairs(auc)
        return lehmann_variance(auc, first, second, half, half) * half**2 / pairs

    limits = []
    for end in (0.0, 1.0):
        inside = np.array(moments.auc, dtype=np.float64)
        outside = np.full_like(inside, end)
        for _ in range(N_HALVINGS):
            middle = (inside + outside) / 2.0
            near = (moments.auc - middle) ** 2 <= _z(delta) ** 2 * variance(middle)
            inside, outside = np.where(near, middle, inside), np.where(near, outside, middle)
        limits.append(outside)
    return limits[0], limits[1]


def _normal(moments: AUCMoments, delta: float) -> Limits:
    return _wald(moments.auc, moments.unbiased_variance(), _z(delta))


def _chebyshev(moments: AUCMoments, delta: float) -> Limits:
    return _wald(moments.auc, moments.unbiased_variance(), 1.0 / np.sqrt(delta))


def _normal_worst(moments: AUCMoments, delta: float) -> Limits:
    return score_limits(moments.auc, _z(delta) ** 2 / _fewer(moments))


def _chebyshev_worst(moments: AUCMoments, delta: float) -> Limits:
    return score_limits(moments.auc, 1.0 / (delta * _fewer(moments)))


def _mcdiarmid(moments: AUCMoments, delta: float) -> Limits:
    m, n = moments.n_pos, moments.n_neg
    reach = np.sqrt(np.log(2.0 / delta) * (m + n) / (2.0 * m * n))
    return moments.auc - reach, moments.auc + reach


def _hoeffding(moments: AUCMoments, delta: float) -> Limits:
    reach = np.sqrt(np.log(2.0 / delta) / (2.0 * _fewer(moments)))
    return moments.auc - reach, moments.auc + reach


def _kl(moments: AUCMoments, delta: float) -> Limits:
    return kl_limits(moments.auc, np.log(2.0 / delta) / _fewer(moments))


def _wald(auc: Any, variance: Any, factor: float) -> Limits:
    reach = factor * np.sqrt(variance)
    return auc - reach, auc + reach


def _fewer(moments: AUCMoments) -> AnyArray:
    return np.minimum(moments.n_pos, moments.n_neg)


def _z(delta: float) -> float:
    return -float(ndtri(delta / 2.0))


METHODS: dict[str, Callable[[AUCMoments, float], Limits]] = {
    "wilson": _wilson,
    "newcombe": _newcombe,
    "logit-delong": _logit_delong,
    "delong": _delong,
    "hanley-mcneil": _hanley_mcneil,
    "normal": _normal,
    "normal-worst": _normal_worst,
    "chebyshev": _chebyshev,
    "chebyshev-worst": _chebyshev_worst,
    "kl": _kl,
    "hoeffding": _hoeffding,
    "mcdiarmid": _mcdiarmid,
}

# Methods whose variance supports groups.
WITH_GROUPS = ("wilson", "logit-delong", "delong")


# Methods whose width is a multiple of an estimated standard error, so it is 0 if that is 0.
ESTIMATED: dict[str, Callable[[AUCMoments], Any]] = {
    "logit-delong": lambda moments: moments.variance,
    "delong": lambda moments: moments.variance,
    "hanley-mcneil": hanley_mcneil_variance,
    "normal": AUCMoments.unbiased_variance,
    "chebyshev": AUCMoments.unbiased_variance,
}
