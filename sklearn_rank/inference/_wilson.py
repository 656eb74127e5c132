"""Limits for something in [0, 1] that is as certain as the mean of so many draws of 0 and 1."""

from __future__ import annotations

from scipy.special import ndtri

from ..bounds._shared import score_limits

__all__ = ["wilson_limits"]

# Keeps the quotient finite.
LEAST = 1e-300


def wilson_limits(estimate: float, n_effective: float, level: float) -> tuple[float, float]:
    """Return limits by Wilson's score method with an effective sample size.

    The x with ``n (estimate - x)**2 <= z**2 x (1 - x)``.

    Parameters
    ----------
    estimate : float
        Estimate, in [0, 1].
    n_effective : float
        Number of independent draws of 0 and 1 whose mean has the same variance, at least 0.
    level : float
        Nominal probability, in (0, 1).

    Returns
    -------
    low : float
        Lower limit; 0 only if ``estimate`` is 0.
    high : float
        Upper limit; 1 only if ``estimate`` is 1.
    """
    z = float(ndtri((1.0 + level) / 2.0))
    low, high = score_limits(estimate, z**2 / max(n_effective, LEAST))
    return float(low), float(high)
