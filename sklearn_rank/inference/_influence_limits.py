"""Limits for a statistic in [0, 1] of which the influence of the items is known."""

from __future__ import annotations

from ..metrics._shared import ClassInfluence
from ._wilson import wilson_limits

__all__ = ["influence_limits"]


def influence_limits(
    found: ClassInfluence, estimate: float, label_variance: float, level: float
) -> tuple[tuple[float, float], float]:
    """Limits by Wilson's method with the effective sample size that the influence gives.

    Parameters
    ----------
    found : ClassInfluence
        Influence on the statistic, in its unit.
    estimate : float
        Estimate, its bias taken off.
    label_variance : float
        Variance that the influence within the classes leaves out.
    level : float
        Nominal probability, in (0, 1).

    Returns
    -------
    limits : tuple of (float, float)
        The limits.
    variance : float
        Variance of the statistic, that of the added items included.
    """
    estimate = min(max(estimate, 0.0), 1.0)
    shift, variance = found.regularized()
    variance += label_variance
    shrunken = min(max(estimate + shift, 0.0), 1.0)
    n_effective = shrunken * (1.0 - shrunken) / variance
    return wilson_limits(estimate, n_effective, level), variance
