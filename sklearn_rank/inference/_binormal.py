"""AUCs of normal scores: how several of them, on the same items, vary together."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri, owens_t

from .._typing import FloatArray
from ._auc_moments import hanley_mcneil_pairs

__all__ = ["auc_parts", "both_below", "threshold_share"]


def both_below(h: float, k: float, correlation: float) -> float:
    """Probability that two standard normal variables are below two numbers."""
    if h == 0.0 and k == 0.0:
        return float(0.25 + np.arcsin(correlation) / (2.0 * np.pi))
    root = float(np.sqrt((1.0 - correlation) * (1.0 + correlation)))
    outside = 0.0 if h * k > 0.0 or (h * k == 0.0 and h + k >= 0.0) else 0.5
    found = (ndtr(h) + ndtr(k)) / 2.0 - outside
    for one, other in ((h, k), (k, h)):
        slope = (other - correlation * one) / root
        # Of 0 only the angle matters: T(0, inf) is 1/4.
        found -= owens_t(one, slope / one if one != 0.0 else np.copysign(np.inf, slope))
    return float(found)


def auc_parts(aucs: FloatArray, correlation: float, *, pairs: str = "delong") -> FloatArray:
    """Find how AUCs of scorers on the same items vary with the items that their pairs share.

    Covariance of the outcomes of two pairs of a positive and a negative that share both, the
    positive, the negative: the covariance of the AUCs is ``(both + (n_neg - 1) positive + (n_pos -
    1) negative) / (n_pos n_neg)``. Shape (3, n_scorers, n_scorers).
    """
    h = ndtri(aucs)
    parts = np.empty((3, len(aucs), len(aucs)))
    for i, of_first in enumerate(h):
        for j, of_second in enumerate(h):
            chance = aucs[i] * aucs[j]
            alike = 1.0 if i == j else correlation
            # Differences of a positive and a negative score, which share both or one of these.
            both = aucs[i] if i == j else both_below(of_first, of_second, alike)
            shared = both_below(of_first, of_second, alike / 2.0)
            parts[:, i, j] = both - chance, shared - chance, shared - chance
    if pairs == "hanley-mcneil":
        negative, positive = hanley_mcneil_pairs(aucs)
        variances = parts.copy()
        for i, auc in enumerate(aucs):
            variances[:, i, i] = (
                auc * (1.0 - auc),
                positive[i] - auc**2,
                negative[i] - auc**2,
            )
        root = np.sqrt(
            np.einsum("pii->pi", variances) / np.maximum(np.einsum("pii->pi", parts), 1e-300)
        )
        parts = parts * root[:, :, np.newaxis] * root[:, np.newaxis, :]
    return parts


def threshold_share(precision: float, tau: float, positive_fraction: float) -> float:
    """Find the share of positives at the threshold of the top, where scores are normal."""
    # How far the threshold is above the mean of each class.
    of_pos = -ndtri(precision * tau / positive_fraction)
    of_neg = -ndtri((1.0 - precision) * tau / (1.0 - positive_fraction))
    log_odds = (of_neg**2 - of_pos**2) / 2.0
    odds = positive_fraction / (1.0 - positive_fraction) * np.exp(log_odds)
    return float(odds / (1.0 + odds))
