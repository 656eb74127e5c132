"""Score limits for the expected AUC that allow for rare items that the sample may lack."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ._auc_moments import AUCMoments

__all__ = ["auc_score_limits", "unseen_effect"]

# Fraction of the distance from the observed AUC that is due to rare items, which lie as far from
# the others as possible.
UNSEEN_SHARE = 0.25


def unseen_effect(moments: AUCMoments) -> FloatArray:
    """Variance that rare items add, over ``(AUC - A) A``."""
    if moments.n_groups is not None:
        return np.asarray(UNSEEN_SHARE / moments.n_groups)
    return np.asarray(UNSEEN_SHARE / np.minimum(moments.n_pos, moments.n_neg))


def auc_score_limits(auc: Any, effect: Any, unseen: Any, z: Any) -> tuple[FloatArray, FloatArray]:
    """Solve ``(auc - A)^2 = z^2 (effect A (1 - A) + unseen (auc - A) A)`` below ``auc``.

    Above it the mirror image, with ``unseen (A - auc) (1 - A)``.

    Let a share q of the positives lie below all negatives, and the placements of the others have
    the mean B and the variance V. The placements of all then have the mean ``A = (1 - q) B`` and
    the variance ``(1 - q) V + (B - A) A``: a sample without any of the share shows B and V, and
    ``(B - A) A`` is what it lacks. Here a part of the distance is laid to such items, the same
    part in either direction: above, to some that lie above all of the other class.
    """
    low = _below(auc, z**2 * effect, z**2 * unseen)
    return low, 1.0 - _below(1.0 - np.asarray(auc, dtype=np.float64), z**2 * effect, z**2 * unseen)


def _below(auc: Any, c: Any, e: Any) -> FloatArray:
    """Find the lower root of ``(auc - A)^2 = c A (1 - A) + e (auc - A) A``."""
    auc = np.asarray(auc, dtype=np.float64)
    half = auc * (2.0 + e) + c
    # The discriminant, without the cancellation of two large terms.
    root = np.sqrt((e * auc) ** 2 + 4.0 * c * auc * (1.0 - auc) + c * (2.0 * e * auc + c))
    return np.asarray(2.0 * auc**2 / (half + root))
