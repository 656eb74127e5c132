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
    """Mass of the top ``tau`` of the rows; warns where it is less than one row.

    Parameters
    ----------
    mass : ndarray of shape (n,)
        Positive weights of the rows in the quantile of their scores.
    tau : float
        Share of their sum, in (0, 1).

    Returns
    -------
    float
        The mass.
    """
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
    """Learn ``quantile_``, ``threshold_`` and ``intercept_`` from the scores of the rows.

    Parameters
    ----------
    estimator : estimator
        The estimator.
    direction : float
        +1 or -1: the factor from scores to decision values.
    scores : ndarray of shape (n,)
        Scores of the rows, by which the positives are on top.
    rounding : ndarray of shape (n,)
        Bounds of their rounding errors: scores no further apart are one.
    mass : ndarray of shape (n,)
        As for :func:`mass_of_top`.
    top : float
        Its result.
    """
    quantile, threshold = top_threshold(scores, mass, top, rounding)
    estimator.quantile_, estimator.threshold_ = direction * quantile, direction * threshold
    estimator.intercept_ = np.array([-estimator.threshold_])
