"""Wilson's limits for a statistic in [0, 1] with an effective number of draws."""

from __future__ import annotations

from math import inf

from ..bounds._shared import wilson_score_limits
from ._normal_test import two_sided_quantile

__all__ = ["wilson_limits"]


def wilson_limits(
    estimate: float, n_effective: float, level: float, degrees: float = inf
) -> tuple[float, float]:
    """Return limits by Wilson's score method with an effective sample size.

    The x with ``n (estimate - x)**2 <= z**2 x (1 - x)``.
    """
    quantile = two_sided_quantile(level, degrees)
    low, high = wilson_score_limits(estimate, quantile, n_effective)
    return float(low), float(high)
