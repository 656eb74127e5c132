"""Limits for the rate of one class at a rate of the other, by order statistics."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from ..metrics._shared import RateInfluence
from ._exact_limits import Limits, safe_limits

__all__ = ["rate_limits"]


def rate_limits(found: RateInfluence, level: float) -> Limits:
    """Join the limits of the threshold, a quantile of one class, and of the rate of the other."""
    curve, tail = found.curve, (1.0 - level) / 2.0
    k, m = float(curve.ones.sum()), float(curve.others.sum())
    estimate = curve.before(found.threshold) / k
    first = int(binom.ppf(tail, m, found.rate))
    last = int(binom.isf(tail, m, found.rate)) + 1
    chance = safe_limits(estimate, k, level)
    low = max(estimate - np.hypot(estimate - curve.before(first) / k, estimate - chance[0]), 0.0)
    high = min(estimate + np.hypot(curve.before(last) / k - estimate, chance[1] - estimate), 1.0)
    return (low, high) if found.of_positives else (1.0 - high, 1.0 - low)
