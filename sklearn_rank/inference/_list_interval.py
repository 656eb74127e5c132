"""Interval for a measure of one list, by the influence of its items."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ..metrics import Measure
from ._groups import check_groups
from ._influence_limits import influence_limits
from ._joint import joint_influence, nonzero_variance
from ._measure_influence import measure_influence
from ._normal_test import two_sided_quantile
from ._results import Interval

__all__ = ["list_interval"]


def list_interval(
    measure: Measure, rows: tuple[Any, Any], level: float, groups: Any, pos_label: Any
) -> Interval:
    """Interval for a measure of one list of two classes, labels fixed.

    Parameters
    ----------
    measure : Measure
        The measure.
    rows : tuple of (array-like of shape (n_samples,), array-like of shape (n_samples,))
        Labels and scores.
    level : float
        Nominal probability, in (0, 1).
    groups : array-like of shape (n_samples,) or None
        Id of the group of each item; None is independent items.
    pos_label : int, float, bool or str
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    Interval
        The interval: Wilson's, or exact limits where they are farther out, within a finite range,
        else a normal one, or Student's with groups.
    """
    y_true, y_score = rows
    (found,) = measure_influence(
        measure, y_true, (y_score,), conditional=True, pos_label=pos_label
    )
    n, k = found.n, found.n_pos
    dependent = check_groups(groups, n)
    if isfinite(found.length):
        origin, length = found.range[0], found.length
        share = found.scaled(origin, length)
        limits, variance = influence_limits(
            share, share.estimate, level, conditional=True, groups=dependent
        )
        low, high = (origin + length * limit for limit in limits)
        error = length * float(np.sqrt(variance))
    else:
        joint = joint_influence([found], conditional=True, groups=dependent)
        variance, _ = nonzero_variance(
            float(joint.covariance[0, 0]),
            float(joint.regularized[0, 0]),
            0.0,
            length=found.length,
            n_effective=joint.n_effective,
        )
        error = float(np.sqrt(variance))
        if not error > 0.0:
            raise ValueError(
                f"{measure.name} has no known range and all items move it alike, so that nothing"
                " is known of how it varies: pass range= to make_measure."
            )
        degrees = joint.spread.of(np.ones(1))
        half = error * (two_sided_quantile(level, degrees if dependent else np.inf))
        low, high = (
            float(np.clip(found.estimate + side * half, *found.range)) for side in (-1.0, 1.0)
        )
    return Interval(
        estimate=found.estimate,
        low=low,
        high=high,
        level=level,
        method="influence",
        target=f"{measure.name} at {k} positives of {n}",
        standard_error=error,
    )
