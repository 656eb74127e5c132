"""Limits for the rate of one class at a rate of the other, by order statistics."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from ..metrics._shared import RateInfluence
from ._exact_limits import Limits, safe_limits

__all__ = ["rate_limits"]


def rate_limits(found: RateInfluence, level: float) -> Limits:
    """Join the limits of the threshold, a quantile of one class, and of the rate of the other.

    Parameters
    ----------
    found : RateInfluence
        The rate, and the curve that it is read from.
    level : float
        Nominal probability, in (0, 1).

    Returns
    -------
    low : float
        Lower limit, at most the estimate.
    high : float
        Upper limit, at least the estimate.

    Notes
    -----
    An order statistic lies beyond the quantile with a binomial probability, whatever the
    distribution: the rates at two of them differ from the estimate by what the threshold moves
    it. The limits of a proportion differ by what the items of the other class move it. Each side
    is the root of the sum of the two squares (Zou & Donner 2008, Statistics in Medicine 27).
    """
    curve, tail = found.curve, (1.0 - level) / 2.0
    k, m = float(curve.ones.sum()), float(curve.others.sum())
    estimate = curve.before(found.threshold) / k
    first = int(binom.ppf(tail, m, found.rate))
    last = int(binom.isf(tail, m, found.rate)) + 1
    chance = safe_limits(estimate, k, level)
    low = max(estimate - np.hypot(estimate - curve.before(first) / k, estimate - chance[0]), 0.0)
    high = min(estimate + np.hypot(curve.before(last) / k - estimate, chance[1] - estimate), 1.0)
    return (low, high) if found.of_positives else (1.0 - high, 1.0 - low)
