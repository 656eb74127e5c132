"""Interval for a measure of one list, by the influence of its items."""

from __future__ import annotations

from math import isfinite

import numpy as np

from ..metrics import Measure
from ..metrics._shared import ClassInfluence
from ._groups import Groups
from ._influence_limits import influence_limits
from ._joint import joint_influence, nonzero_variance
from ._normal_test import two_sided_quantile
from ._results import Interval

__all__ = ["list_interval"]


def list_interval(
    measure: Measure, found: ClassInfluence, level: float, groups: Groups | None = None
) -> Interval:
    """Interval for a measure of one list of two classes, labels fixed unless rows were drawn."""
    sampled = found.sampling_weight is not None
    if isfinite(found.length):
        origin, length = found.range[0], found.length
        share = found.scaled(origin, length)
        limits, variance = influence_limits(
            share, share.estimate - share.bias, level, conditional=not sampled, groups=groups
        )
        # The bias is subtracted from the limits only, and the interval contains the estimate.
        low = origin + length * min(limits[0], share.estimate)
        high = origin + length * max(limits[1], share.estimate)
        error = length * float(np.sqrt(variance))
    else:
        joint = joint_influence([found], conditional=not sampled, groups=groups)
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
                f"{measure.name} has no known range and the same influence value for all items, so"
                " its variance cannot be estimated: pass range= to make_measure."
            )
        degrees = joint.spread.of(np.ones(1))
        half = error * (two_sided_quantile(level, degrees if groups else np.inf))
        low, high = (
            float(np.clip(found.estimate + side * half, *found.range)) for side in (-1.0, 1.0)
        )
    # What does not move with the share of positives is at no share of them.
    where = (
        f"at {found.n_pos} positives of {found.n}"
        if found.label_slope and not sampled
        else "of the population"
    )
    return Interval(
        estimate=found.estimate,
        low=low,
        high=high,
        level=level,
        method="influence",
        target=f"{measure.name} {where}",
        standard_error=error,
    )
