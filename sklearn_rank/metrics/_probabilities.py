"""Validation of probabilities, for functions that use a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import LabelType, ScoredLists, check_scored_lists
from .._validation import check_scores, ravelled

# Sums of rounded probabilities may be as much more than 1, in float32 too.
ROUNDING = 1e-6


def check_probabilities(
    y_true: Any, y_prob: Any, pos_label: Any, *, sample_weight: Any = None
) -> ScoredLists:
    """Check the labels and probabilities of one list."""
    y_true, y_prob = ravelled(y_true, "y_true"), ravelled(y_prob, "y_prob")
    if np.ndim(y_prob) == 2:
        raise ValueError(
            f"y_prob has {np.shape(y_prob)[1]} columns, but must have one probability per row:"
            " pass that of the positive class, predict_proba(X)[:, 1]."
        )
    given = check_scores(y_prob, name="y_prob")
    prob = np.clip(given, 0.0, 1.0)
    if np.ndim(y_true) == 1 and len(y_true) != len(prob):
        raise ValueError(
            f"y_prob has {len(prob)} rows, but y_true has {len(y_true)}: pass one probability per"
            " row."
        )
    outside = np.flatnonzero(np.abs(given - prob) > ROUNDING)
    if outside.size:
        raise ValueError(
            f"y_prob is {given[outside[0]]:.4g} in row {outside[0]}, which is not a probability:"
            " pass predict_proba(X)[:, 1], or calibrate the scores with"
            " sklearn.calibration.CalibratedClassifierCV."
        )
    return check_scored_lists(
        y_true, prob, LabelType("binary", pos_label), sample_weight=sample_weight
    )


def threshold_of(threshold: float, y_prob: Any) -> float:
    """Round a threshold as the probabilities were, so that those equal to it reach it."""
    kind = np.asarray(y_prob).dtype
    return float(kind.type(threshold)) if kind.kind == "f" else threshold
