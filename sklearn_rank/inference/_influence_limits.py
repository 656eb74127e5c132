"""Limits for a statistic in [0, 1] from the influence of the items."""

from __future__ import annotations

from math import inf

import numpy as np

from .._typing import BoolArray, FloatArray
from ..metrics._shared import PSEUDO_WEIGHT, ClassInfluence
from ._exact_limits import safe_limits
from ._groups import GroupPart, Groups, Spread

__all__ = ["influence_limits", "label_sums"]


def influence_limits(
    found: ClassInfluence,
    estimate: float,
    level: float,
    *,
    conditional: bool,
    groups: Groups | None = None,
) -> tuple[tuple[float, float], float]:
    """Limits for the effective number of Bernoulli draws that the influence gives."""
    estimate = min(max(estimate, 0.0), 1.0)
    degrees = inf
    if groups is None:
        shift, variance = found.regularized()
        variance += 0.0 if conditional else found.label_variance()
    else:
        shift, variance, degrees = _of_groups(found, groups, conditional=conditional)
    shrunken = min(max(estimate + shift, 0.0), 1.0)
    n_effective = shrunken * (1.0 - shrunken) / variance
    return safe_limits(estimate, n_effective, level, degrees), variance


def label_sums(positive: BoolArray, weight: FloatArray | None, groups: Groups) -> FloatArray:
    """Sum what the rows move the share of positives, group by group. Shape (n_groups,)."""
    apart = positive - np.average(positive, weights=weight)
    if weight is None:
        return groups.sums(apart) / len(positive)
    return groups.sums(apart * (weight / weight.sum()))


def _of_groups(
    found: ClassInfluence, groups: Groups, *, conditional: bool
) -> tuple[float, float, float]:
    """Shift, variance and degrees of freedom with half a group added at either end."""
    positive, weight = found.positive, found.sampling_weight
    shift, variance, parts = 0.0, 0.0, []
    total = np.zeros(groups.n_groups)
    for in_class, ends in zip((positive, ~positive), found.class_ends(), strict=True):
        values, of_class = found.values[in_class], groups.only(in_class)
        own = None if weight is None else weight[in_class]
        part = GroupPart.of_rows(values[np.newaxis], of_class, own)
        parts.append(part)
        count, center = part.worth + 2.0 * PSEUDO_WEIGHT, float(np.average(values, weights=own))
        mean = (part.worth * center + PSEUDO_WEIGHT * sum(ends)) / count
        shift += mean - center
        # About the mean with the added groups, each of the mean size.
        total += part.sums[0] * (part.worth / count)
        squares = (center - mean) ** 2 * float(part.share @ part.share) * part.worth**2
        variance += (squares + PSEUDO_WEIGHT * sum((end - mean) ** 2 for end in ends)) / count**2
    if not conditional:
        total += found.label_slope * label_sums(positive, weight, groups)
    variance += float(total @ total)
    return shift, variance, Spread.of_groups(parts).of(np.ones(1))
