"""Limits for a mean of values in [0, 1] from the largest variance that such a mean can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._typing import FloatArray

__all__ = ["score_limits", "wilson_score_limits"]

# Of fewer draws than these nothing is known; they keep the quotient finite.
LEAST_DRAWS = 1e-300


def score_limits(estimate: ArrayLike, factor: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Solve ``(estimate - A)^2 = factor A (1 - A)`` for A."""
    value, c = np.asarray(estimate, dtype=np.float64), np.asarray(factor, dtype=np.float64)
    share = c / (1.0 + c)
    centre = (1.0 - share) * value + share / 2.0
    reach = np.sqrt(share * ((1.0 - share) * value * (1.0 - value) + share / 4.0))
    # Exact at the ends, where the difference would be rounded.
    low = np.where(value <= 0.0, 0.0, np.maximum(centre - reach, 0.0))
    return low, np.where(value >= 1.0, 1.0, np.minimum(centre + reach, 1.0))


def wilson_score_limits(
    estimate: ArrayLike, z: float | FloatArray, n_draws: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Solve ``n_draws (estimate - A)^2 = z^2 A (1 - A)`` for A."""
    return score_limits(estimate, z**2 / np.maximum(n_draws, LEAST_DRAWS))
