"""The top of a list: its mass, the quantile of the scores there, a threshold below it.

Weights count repetitions of an item; items of weight 0 must be removed by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from ._typing import BoolArray, FloatArray

__all__ = [
    "MASS_SLACK",
    "merge_rounded",
    "quantile_at_mass",
    "quantiles_at_masses",
    "top_mass",
    "top_masses",
    "top_threshold",
]

# A real mass is reached when all but this share of it is: sums of weights are rounded.
MASS_SLACK = 1e-12


def near_whole(mass: FloatArray) -> FloatArray:
    """Round sums of weights that are whole numbers but for the rounding of the sum.

    Whether a place exists or counts then does not depend on the order in which weights are added.
    """
    whole = np.rint(mass)
    return np.where(np.abs(mass - whole) <= MASS_SLACK * mass, whole, mass)


def top_mass(weight: FloatArray, tau: float) -> tuple[float, bool]:
    """Mass of the top ``tau``, and whether it is less than one item."""
    mass, is_small = top_masses(
        weight.sum(), tau, np.all(weight == np.floor(weight)), weight.min()
    )
    return float(mass), bool(is_small)


def top_masses(
    total: FloatArray, tau: float, whole: BoolArray | np.bool_, smallest: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Mass of the top ``tau`` of each list, and whether it is less than one item."""
    share = tau * np.asarray(total)
    # tau is a rounded decimal: .29 * 50 falls just short of 14.5, which rounds to 15.
    count = np.floor(share + 4 * np.spacing(share) + 0.5)
    mass = np.where(whole, np.maximum(1.0, count), share * (1.0 - MASS_SLACK))
    return mass, np.where(whole, count < 1.0, share < smallest)


def quantile_at_mass(scores: FloatArray, weight: FloatArray, mass: float) -> FloatArray:
    """Largest score such that the items that score at least as much have the given mass.

    The quantiles, scores of items each. Shape (...).
    """
    first = float(weight[0])
    if first == math.floor(first) and np.all(weight == first):
        # Equal whole weights need no sort.
        n = scores.shape[-1]
        place = n - min(max(math.ceil(mass / first), 1), n)
        return np.asarray(np.partition(scores, place, axis=-1)[..., place])
    return next(quantiles_at_masses(scores, [(weight, mass)]))


def quantiles_at_masses(
    scores: FloatArray, tops: Iterable[tuple[FloatArray, float]]
) -> Iterator[FloatArray]:
    """Quantiles of the same scores, as :func:`quantile_at_mass` has them, by one sort."""
    order = np.argsort(-scores, axis=-1)
    summed, above = None, scores
    for weight, mass in tops:
        if weight is not summed:
            summed, above = weight, np.cumsum(weight[order], axis=-1)
        reached = above >= mass
        reached[..., -1] = True
        first = np.argmax(reached, axis=-1)[..., np.newaxis]
        item = np.take_along_axis(order, first, axis=-1)
        yield np.take_along_axis(scores, item, axis=-1)[..., 0]


def top_threshold(
    y_score: FloatArray, weight: FloatArray, mass: float, error: FloatArray | None = None
) -> tuple[float, float]:
    """Quantile of the scores and the threshold just below it."""
    margin = 0.0
    if error is not None:
        y_score = merge_rounded(y_score, error)
        margin = float(error.max())
    quantile = float(quantile_at_mass(y_score, weight, mass))
    lower = y_score[y_score < quantile]
    if len(lower) == 0:
        return quantile, min(math.nextafter(quantile, -math.inf), quantile - margin)
    below = float(lower.max())
    # Halved before they are added, so that large scores do not overflow.
    middle = below / 2 + quantile / 2
    return quantile, middle if below <= middle < quantile else below


def merge_rounded(y_score: FloatArray, error: FloatArray) -> FloatArray:
    """Give every run of neighbours that differ by no more than their errors its lowest value.

    The lowest score of each one's run. Shape (n,).
    """
    order = np.argsort(y_score, kind="stable")
    ordered, error = y_score[order], error[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.diff(ordered) > error[1:] + error[:-1]
    starts = np.flatnonzero(new)
    merged = np.empty_like(y_score)
    merged[order] = np.repeat(ordered[starts], np.diff(starts, append=len(order)))
    return merged
