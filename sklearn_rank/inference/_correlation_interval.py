"""Interval for a correlation of the scores and the relevances of one list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._lists import ScoredLists
from ..metrics import Measure
from ..metrics._shared import (
    PSEUDO_WEIGHT,
    SpearmanMeasure,
    TauAPMeasure,
    TauBMeasure,
    TauXMeasure,
)
from ._correlation_influence import (
    CorrelationInfluence,
    of_spearman,
    of_tau_ap,
    of_tau_b,
    of_tau_x,
)
from ._exact_limits import safe_limits
from ._groups import GroupPart, Groups, Spread
from ._one_list import OneList
from ._results import Interval

__all__ = ["correlation_interval", "is_correlation"]

_INFLUENCE: dict[type[Measure], Callable[[ScoredLists], CorrelationInfluence]] = {
    SpearmanMeasure: of_spearman,
    TauAPMeasure: of_tau_ap,
    TauBMeasure: of_tau_b,
    TauXMeasure: of_tau_x,
}


def is_correlation(measure: Measure) -> bool:
    """Return whether a measure is a correlation with an influence function."""
    return type(measure) in _INFLUENCE


def correlation_interval(measure: Measure, sample: OneList, level: float) -> Interval:
    """Interval for the correlation in the population that the items were drawn from."""
    sample = sample.repeated()
    data = sample.data
    n = len(data.score)
    if np.ptp(data.grade) == 0.0:
        raise ValueError(
            f"{measure.name} is undefined: all {n} items of y_true have the same relevance; pass"
            " items with different relevance."
        )
    estimate = float(measure.values(data)[0])
    found = _INFLUENCE[type(measure)](data)
    shift, variance, degrees = _with_added_items(found, sample.groups)
    share, moved = (estimate + 1.0) / 2.0, (estimate + shift + 1.0) / 2.0
    moved = min(max(moved, 0.0), 1.0)
    n_effective = moved * (1.0 - moved) / (variance / 4.0)
    low, high = safe_limits(share, n_effective, level, degrees)
    return Interval(
        estimate=estimate,
        low=2.0 * low - 1.0,
        high=2.0 * high - 1.0,
        level=level,
        method="influence",
        target=f"{measure.name} of the population",
        standard_error=float(np.sqrt(variance)),
    )


def _with_added_items(
    found: CorrelationInfluence, groups: Groups | None
) -> tuple[float, float, float]:
    """Shift, variance and degrees of freedom with half an item, or group, at either extreme."""
    values, ends = found.values, np.array(found.ends)
    part = GroupPart.of_rows(
        values[np.newaxis], groups or Groups(np.arange(len(values)), len(values))
    )
    count = part.effective + 2.0 * PSEUDO_WEIGHT
    shift = PSEUDO_WEIGHT * float(ends.sum()) / count
    squares = PSEUDO_WEIGHT * float(np.sum((ends - shift) ** 2)) + part.effective * shift**2
    variance = float(np.sum(part.corrected() ** 2)) * (part.effective / count) ** 2
    return shift, variance + squares / count**2, float(Spread.of_groups([part]).degrees[0])
