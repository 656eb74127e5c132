"""Relative entropy of two Bernoulli distributions and its inverse, for the Chernoff bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from .._typing import FloatArray

__all__ = ["binary_kl", "kl_limits"]

# Each step halves what is left: at the end neighbours in float64.
N_HALVINGS = 60


def binary_kl(p: ArrayLike, q: ArrayLike) -> FloatArray:
    """Relative entropy ``p ln(p/q) + (1-p) ln((1-p)/(1-q))`` of two Bernoulli distributions."""
    first, second = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Not 1 - p within the logarithm, which is 1 for a small p.
        others = (1.0 - first) * (np.log1p(-first) - np.log1p(-second))
    others = np.where(first == 1.0, 0.0, np.where(second == 1.0, np.inf, others))
    return rel_entr(first, second) + others


def kl_limits(p: ArrayLike, most: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest q with ``KL(p || q) <= most``."""
    start, entropy = np.broadcast_arrays(
        np.asarray(p, dtype=np.float64), np.asarray(most, dtype=np.float64)
    )
    limits = []
    for end in (0.0, 1.0):
        inside, outside = start.copy(), np.full_like(start, end)
        for _ in range(N_HALVINGS):
            middle = (inside + outside) / 2.0
            allowed = binary_kl(start, middle) <= entropy
            inside, outside = np.where(allowed, middle, inside), np.where(allowed, outside, middle)
        limits.append(outside)
    return limits[0], limits[1]
