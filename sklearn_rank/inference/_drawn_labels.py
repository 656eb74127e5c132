"""Intervals for sums over the first places of one list, whose labels are drawn given the scores.

Given the scores the labels are independent, so that such a sum is one of independent draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv

from .._blocks import check_n_places, tied_blocks
from .._typing import FloatArray
from ..metrics import Measure
from ..metrics._shared import (
    DCGMeasure,
    NDCGMeasure,
    PositionalMeasure,
    PrecisionAtKMeasure,
    RankBiasedPrecisionMeasure,
    SuccessMeasure,
)
from ._exact_limits import Limits, safe_limits
from ._one_list import OneList
from ._results import Interval

__all__ = ["drawn_interval", "exact_limits", "is_sum_of_draws", "success_interval"]


def is_sum_of_draws(measure: Measure) -> bool:
    """Say whether a measure is a sum over places of what the item there gains by its own label."""
    if getattr(measure, "convention", None) is not None or isinstance(measure, NDCGMeasure):
        return False
    sums = DCGMeasure | PositionalMeasure | PrecisionAtKMeasure | RankBiasedPrecisionMeasure
    return isinstance(measure, sums)


@dataclass(frozen=True, eq=False)
class _Draws:
    """A mean of independent draws from [0, 1]."""

    mean: float  # The mean, some draws counting more than others
    largest: float  # Largest weight of a draw; the weights sum to 1
    unit: float  # What the measure is where all draws are 1
    of_whole_places: bool  # Whether no block of ties is cut, so that each place is one item


def drawn_interval(
    measure: Measure, sample: OneList, level: float, method: str = "wilson"
) -> Interval:
    """Interval for the expectation of a sum over the places of one list, given its scores.

    A mean of draws of weights w from [0, 1] has limits as if it were that of ``1 / max(w)`` draws
    of 0 and 1 that are alike, which is k for precision: draws that differ, count less or are
    between 0 and 1 spread less.
    """
    draws = _draws_of(measure, sample)
    limits_of = exact_limits if method == "exact" else safe_limits
    low, high = limits_of(draws.mean, 1.0 / draws.largest, level)
    return Interval(
        estimate=draws.unit * draws.mean,
        low=draws.unit * low,
        high=draws.unit * high,
        level=level,
        method=method,
        target=f"expected {measure.name} given the scores, labels new",
    )


def success_interval(measure: SuccessMeasure, sample: OneList, level: float) -> Interval:
    """Interval for the chance of a positive among the first items of one list, given its scores.

    The lower limit follows from that for the expected precision p of the first k, since ``1 - (1 -
    p)**k`` is the least chance of a positive; where ties are cut by the k-th place p itself is
    taken. The upper one is that of a single draw: 1, unless there was no positive.
    """
    first = PrecisionAtKMeasure(k=measure.k, rel=measure.rel)
    draws = _draws_of(first, sample)
    low, _ = exact_limits(draws.mean, 1.0 / draws.largest, level)
    if draws.of_whole_places:
        low = -float(np.expm1(measure.k * np.log1p(-low))) if low < 1.0 else 1.0
    found = float(measure.values(sample.data)[0])
    found = 0.0 if np.isnan(found) else found
    return Interval(
        estimate=found,
        low=min(low, found),
        high=1.0 if draws.mean > 0.0 else (1.0 + level) / 2.0,
        level=level,
        method="exact",
        target=f"expected {measure.name} given the scores, labels new",
    )


def exact_limits(estimate: float, draws: float, level: float) -> Limits:
    """Return the limits of Clopper and Pearson, for numbers of draws that need not be whole."""
    tail = (1.0 - level) / 2.0
    hits, misses = draws * estimate, draws * (1.0 - estimate)
    low = 0.0 if hits <= 0.0 else float(betaincinv(hits, misses + 1.0, tail))
    high = 1.0 if misses <= 0.0 else float(betaincinv(hits + 1.0, misses, 1.0 - tail))
    return low, high


def _draws_of(measure: Any, sample: OneList) -> _Draws:
    """Read a list as draws: each item with the mean discount of the places of its tied block."""
    data, n = sample.data, int(sample.data.sizes[0])
    if measure.kind == "graded":
        measure = _on_own_scale(measure, data.grade)
    form = measure.positional
    check_n_places(n)
    discounts = form.discounts(n)
    places = int(np.flatnonzero(discounts)[-1]) + 1 if discounts.any() else 0
    top = OneList(data.leading(places)).repeated().data
    blocks = tied_blocks(top.score)
    lengths = blocks.lengths()
    cut = (blocks.starts < places) & (blocks.starts + lengths > places)
    share = np.add.reduceat(discounts[: len(top.score)], blocks.starts) / lengths
    weight = np.empty(len(top.score))
    weight[blocks.order] = np.repeat(share, lengths)
    utility = np.asarray(form.utilities(top), dtype=np.float64)
    highest = float(form.utilities(data).max()) if form.largest is None else form.largest
    if discounts.min() < 0.0 or utility.min() < 0.0:
        raise ValueError(
            f"{measure.name} has a negative gain or discount, which its interval for one list does"
            " not support: pass qid for the mean over queries."
        )
    total = float(weight.sum())
    if not (total > 0.0 and highest > 0.0):
        raise ValueError(
            f"{measure.name} is 0 for every order, because no item of y_true has a positive gain:"
            " pass a list with grades above 0."
        )
    return _Draws(
        mean=min(max(float(weight @ utility) / (total * highest), 0.0), 1.0),
        largest=float(weight.max()) / total,
        unit=total * highest,
        of_whole_places=not cut.any(),
    )


def _on_own_scale(measure: Any, grade: FloatArray) -> Any:
    """Pass the highest grade of the labels to a measure with a grade scale."""
    if measure.scaled_by_labels:
        return replace(measure, max_grade=float(grade.max()) or 1.0)
    return measure
