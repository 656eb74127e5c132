"""Limits for a statistic in [0, 1] from the influence of the items."""

from __future__ import annotations

from math import inf

import numpy as np

from ..metrics._shared import PSEUDO_WEIGHT, ClassInfluence
from ._exact_limits import safe_limits
from ._groups import GroupPart, Groups, Spread

__all__ = ["influence_limits"]


def influence_limits(
    found: ClassInfluence,
    estimate: float,
    level: float,
    *,
    conditional: bool,
    groups: Groups | None = None,
) -> tuple[tuple[float, float], float]:
    """Limits for the effective number of Bernoulli draws that the influence gives.

    Parameters
    ----------
    found : ClassInfluence
        Influence on the statistic, in its unit.
    estimate : float
        Estimate, its bias taken off.
    level : float
        Nominal probability, in (0, 1).
    conditional : bool
        Whether the labels count as fixed; else how the statistic moves with them is known.
    groups : Groups or None, default=None
        Groups of items that depend on each other; None is independent items.

    Returns
    -------
    limits : tuple of (float, float)
        The limits.
    variance : float
        Variance of the statistic, that of the added items included.
    """
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


def _of_groups(
    found: ClassInfluence, groups: Groups, *, conditional: bool
) -> tuple[float, float, float]:
    """Shift, variance and degrees of freedom with half a group added at either end."""
    positive = found.positive
    shift, variance, parts = 0.0, 0.0, []
    total = np.zeros(groups.n_groups)
    for in_class, ends in zip((positive, ~positive), found.class_ends(), strict=True):
        values, of_class = found.values[in_class], groups.only(in_class)
        part = GroupPart.of_rows(values[np.newaxis], of_class)
        parts.append(part)
        count, center = part.count + 2.0 * PSEUDO_WEIGHT, float(values.mean())
        mean = (part.count * center + PSEUDO_WEIGHT * sum(ends)) / count
        shift += mean - center
        # About the mean with the added groups, each of the mean size.
        total += part.sums[0] * (part.count / count)
        squares = (center - mean) ** 2 * float(part.share @ part.share) * part.count**2
        variance += (squares + PSEUDO_WEIGHT * sum((end - mean) ** 2 for end in ends)) / count**2
    if not conditional:
        total += found.label_slope * groups.sums(positive - positive.mean()) / len(positive)
    variance += float(total @ total)
    return shift, variance, Spread.of_groups(parts).of(np.ones(1))
