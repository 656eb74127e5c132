"""Limits for something in [0, 1] that is as certain as the mean of so many draws of 0 and 1."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

__all__ = ["wilson_limits"]


def wilson_limits(place: float, n_effective: float, level: float) -> tuple[float, float]:
    """Return limits by Wilson's score method with an effective sample size.

    The x with ``n (place - x)**2 <= z**2 x (1 - x)``.

    Parameters
    ----------
    place : float
        Estimate, in [0, 1].
    n_effective : float
        Number of independent draws of 0 and 1 whose mean has the same variance, positive.
    level : float
        Nominal probability, in (0, 1).

    Returns
    -------
    low : float
        Lower limit; 0 only if ``place`` is 0.
    high : float
        Upper limit; 1 only if ``place`` is 1.
    """
    z2 = float(ndtri((1.0 + level) / 2.0)) ** 2
    share = z2 / (n_effective + z2)
    center = (1.0 - share) * place + share / 2.0
    half = np.sqrt(share * ((1.0 - share) * place * (1.0 - place) + share / 4.0))
    low = 0.0 if place <= 0.0 else max(float(center - half), 0.0)
    high = 1.0 if place >= 1.0 else min(float(center + half), 1.0)
    return low, high
