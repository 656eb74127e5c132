"""AUC, its variance and the top of the list where scores are normal or exponential."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, owens_t

from .._typing import FloatArray


def lehmann_variance(
    auc: Any, shared_neg: Any, shared_pos: Any, n_pos: Any, n_neg: Any, tied: Any = 0.0
) -> Any:
    """Variance of the AUC from its expectation and two probabilities of three items."""
    single = auc * (1.0 - auc) - tied / 4.0
    pairs_neg = (n_pos - 1.0) * (shared_neg - auc**2)
    return (single + pairs_neg + (n_neg - 1.0) * (shared_pos - auc**2)) / (n_pos * n_neg)


def hanley_mcneil_pairs(auc: Any) -> tuple[Any, Any]:
    """Two positives above a negative, a positive above two: chances for exponential scores."""
    return auc / (2.0 - auc), 2.0 * auc**2 / (1.0 + auc)


def both_below(h: float, k: float, correlation: float) -> float:
    """Probability that two standard normal variables are below two numbers."""
    if h == 0.0 and k == 0.0:
        return float(0.25 + np.arcsin(correlation) / (2.0 * np.pi))
    root = float(np.sqrt((1.0 - correlation) * (1.0 + correlation)))
    outside = 0.0 if h * k > 0.0 or (h * k == 0.0 and h + k >= 0.0) else 0.5
    chance = (ndtr(h) + ndtr(k)) / 2.0 - outside
    for x, y in ((h, k), (k, h)):
        slope = (y - correlation * x) / root
        # Of 0 only the angle matters: T(0, inf) is 1/4.
        chance -= owens_t(x, slope / x if x != 0.0 else np.copysign(np.inf, slope))
    return float(chance)


def auc_parts(aucs: FloatArray, correlation: float, *, pairs: str = "delong") -> FloatArray:
    """Parts of the covariance of AUCs on the same items, by the items that their pairs share.

    Covariance of the outcomes of two pairs of a positive and a negative that share both, the
    positive, the negative: the covariance of the AUCs is ``(both + (n_neg - 1) positive + (n_pos -
    1) negative) / (n_pos n_neg)``. Shape (3, n_scorers, n_scorers).
    """
    h = ndtri(aucs)
    parts = np.empty((3, len(aucs), len(aucs)))
    for i, h_first in enumerate(h):
        for j, h_second in enumerate(h):
            product = aucs[i] * aucs[j]
            alike = 1.0 if i == j else correlation
            # Differences of a positive and a negative score, which share both or one of these.
            both = aucs[i] if i == j else both_below(h_first, h_second, alike)
            shared = both_below(h_first, h_second, alike / 2.0)
            parts[:, i, j] = both - product, shared - product, shared - product
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
