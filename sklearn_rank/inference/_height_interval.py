"""Interval for the height of the negatives, by the mean of its power."""

from __future__ import annotations

import numpy as np

from .._blocks import counted_blocks
from ..metrics._shared import ClassInfluence, NegativeHeightMeasure
from ._influence_limits import influence_limits
from ._one_list import OneList
from ._results import Interval

__all__ = ["height_interval"]


def height_interval(measure: NegativeHeightMeasure, sample: OneList, level: float) -> Interval:
    """Interval for the height of the negatives in the population, of a finite norm.

    The power ``M = mean over negatives of h(s)^p`` varies as the mean of ``h(s)^p`` over the
    negatives and that of ``p E[h(S)^(p - 1); S > x]``, S a negative, over the positives x; its
    limits are taken to the power ``1 / p``.
    """
    data, p = sample.data, float(measure.p)
    estimate = float(measure.values(data)[0])
    blocks = counted_blocks(data.score, data.positive, data.weight)
    n_pos, n_neg = blocks.n_pos, blocks.size - blocks.n_pos
    k, m = float(blocks.k), float(blocks.n - blocks.k)
    # Blocks descend: a negative has the positives below it and half of those of its own block.
    height = (k - np.cumsum(n_pos) + n_pos / 2.0) / k
    weighted = n_neg * p * height ** (p - 1.0) / m
    above = np.cumsum(weighted) - weighted / 2.0
    order = blocks.rows.order
    values = np.empty(len(order))
    values[order] = np.where(
        data.positive[order], blocks.to_rows(above), blocks.to_rows(height**p)
    )
    found = ClassInfluence(
        estimate=estimate**p,
        values=values,
        positive=data.positive,
        # A positive below all negatives and one above, a negative likewise.
        ends=(float(weighted.sum()), 0.0, 0.0, 1.0),
        range=(0.0, 1.0),
        counts=data.weight,
    )
    limits, variance = influence_limits(
        found, found.estimate, level, conditional=True, groups=sample.groups
    )
    slope = estimate ** (1.0 - p) / p if estimate > 0.0 else np.inf
    error = slope * float(np.sqrt(variance))
    return Interval(
        estimate=estimate,
        low=min(limits[0] ** (1.0 / p), estimate),
        high=max(limits[1] ** (1.0 / p), estimate),
        level=level,
        method="influence",
        target=f"{measure.name} of the population",
        standard_error=error if np.isfinite(error) else None,
    )
