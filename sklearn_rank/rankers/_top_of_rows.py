"""Top of the training rows: its weight before the fit, its threshold after the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._top import top_mass, top_threshold
from .._typing import FloatArray
from .._warn import warn
from ..exceptions import SmallTopWarning

__all__ = ["mass_of_top", "store_threshold"]


def mass_of_top(mass: FloatArray, tau: float) -> float:
    """Mass of the top ``tau`` of the rows; warns where it is less than one row."""
    top, is_small = top_mass(mass, tau)
    if is_small:
        warn(
            f"tau={tau:g} of {len(mass)} rows is less than one row, so the top is taken as one "
            "row: raise tau or fit to more rows.",
            SmallTopWarning,
        )
    return top


def store_threshold(
    estimator: Any,
    direction: float,
    scores: FloatArray,
    rounding: FloatArray,
    mass: FloatArray,
    top: float,
) -> None:
    """Learn ``quantile_``, ``threshold_`` and ``intercept_`` from the scores of the rows."""
    quantile, threshold = top_threshold(scores, mass, top, rounding)
    estimator.quantile_, estimator.threshold_ = direction * quantile, direction * threshold
    estimator.intercept_ = np.array([-estimator.threshold_])
