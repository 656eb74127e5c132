"""Limits for the precision at the top, whose threshold is a quantile of the sample."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from .._blocks import CountedBlocks
from ..metrics._shared import share_at
from ._exact_limits import Limits, midp_limits, wider

__all__ = ["share_at_threshold", "top_limits"]


def share_at_threshold(blocks: CountedBlocks, n: int, n_pos: float, top: int) -> float:
    """Estimate the probability that an item just at the threshold is positive."""
    if top >= n:
        return n_pos / n
    return share_at(n - top, blocks.below + (n - blocks.n), blocks.size, blocks.n_pos)


def top_limits(
    estimate: float, eta: float, top: float, tau: float, level: float
) -> tuple[Limits, float]:
    """Return score limits for the precision at the top, or exact ones where they are farther out.

    The score limits are the p with ``top (estimate - p)**2 <= z**2 (p (1 - p) + (1 - tau) (p -
    eta)**2)``: the variance is that of the candidate precision, not of the observed one.
    """
    c = float(ndtri((1.0 + level) / 2.0)) ** 2 / top
    # (estimate - p)^2 - c (p - p^2 + (1 - tau) (p - eta)^2) = square p^2 - 2 half p + constant.
    square = 1.0 + c * tau
    half = estimate + c / 2.0 - c * (1.0 - tau) * eta
    constant = estimate**2 - c * (1.0 - tau) * eta**2
    reach = float(np.sqrt(max(half**2 - square * constant, 0.0)))
    score = max((half - reach) / square, 0.0), min((half + reach) / square, 1.0)

    shrunken = (top * estimate + 0.5) / (top + 1.0)
    binomial = shrunken * (1.0 - shrunken)
    variance = (binomial + (1.0 - tau) * (shrunken - eta) ** 2) / top
    return wider(score, midp_limits(estimate, binomial / variance, level)), variance
