"""Interval for the number of positives above the highest observed negative."""

from __future__ import annotations

import numpy as np

from ..metrics._shared import ClassInfluence, PositivesAtTopMeasure
from ._drawn_labels import exact_limits
from ._exact_limits import safe_limits
from ._influence_limits import influence_limits
from ._one_list import OneList
from ._results import Interval

__all__ = ["above_negatives_interval"]


def above_negatives_interval(
    measure: PositivesAtTopMeasure, sample: OneList, level: float, method: str = "wilson"
) -> Interval:
    """Interval for the fraction of new positives above the highest observed negative.

    Given the negatives, the positives above the highest of them are a binomial number. The highest
    of new negatives is another one: its own variance, that of an extreme, is not in the interval.
    """
    data = sample.data
    positive, counts = data.positive, data.counts
    highest = data.score[~positive].max()
    n_tied = float(counts[~positive & (data.score == highest)].sum())
    # A tied positive counts with the probability that it is above all tied negatives.
    above = np.where(data.score > highest, 1.0, 0.0)
    above[data.score == highest] = 1.0 / (n_tied + 1.0)
    above[~positive] = 0.0
    k, m = int(data.positives[0]), int(data.sizes[0] - data.positives[0])
    share = float(counts @ above) / k
    if sample.groups is not None:
        found = ClassInfluence(
            share, above, positive, ends=(0.0, 1.0, 0.0, 0.0), range=(0.0, 1.0), label_slope=0.0
        )
        limits, _ = influence_limits(found, share, level, conditional=True, groups=sample.groups)
    else:
        limits = (exact_limits if method == "exact" else safe_limits)(share, float(k), level)
    unit = 1.0 if measure.normalize else float(k)
    what = "share" if measure.normalize else f"expected number among {k}"
    return Interval(
        estimate=unit * share,
        low=unit * limits[0],
        high=unit * limits[1],
        level=level,
        method=method,
        target=f"{what} of new positives above the highest of the {m} negatives seen",
    )
