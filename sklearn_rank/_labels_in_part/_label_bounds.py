"""Limits of measures over all labels that rows which nobody labels can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._printed import ROUNDING
from .._typing import FloatArray
from ..inference import Interval
from ..inference._shared import Limits
from ..metrics._shared import Evidence


def is_bounded(evidence: Evidence) -> bool:
    """Whether there are rows without labels of which no sample was to be labelled."""
    return evidence.partial is not None and bool(evidence.partial.unreachable.any())


def values_over_labels(
    evidences: Sequence[Evidence], contrast: Sequence[float] = (1.0,)
) -> FloatArray:
    """Smallest and largest value of a contrast for each number u of positives not known.

    NaN where it is not defined; shape (2, n_numbers). For each u the value is linear in a sum over
    labels, which has its extremes where the u rows with the largest or smallest part in it are
    positive. What pairs of these rows add to it, as for average precision, has its extremes for
    each ranker by itself: the limits are sharp for one ranker, and for several they hold but are
    not sharp. Labels for which the measure is not defined count what its ``undefined`` says.
    O(n log n).
    """
    first: Any = evidences[0]
    open_rows = first.partial.unreachable
    known = np.where(open_rows, 0.0, first.data.labels.astype(np.float64))
    n_open, n_known = int(open_rows.sum()), float(known.sum())
    start, parts, pairs = 0.0, np.zeros(n_open), np.zeros((2, n_open + 1))
    for factor, evidence in zip(contrast, evidences, strict=True):
        if factor:
            total = evidence.known_total
            at_known, slope = total.total(known)
            start += factor * at_known
            parts += factor * slope[open_rows]
            if total.pairs is not None:
                pairs += factor * total.pairs.extremes(open_rows)[:: 1 if factor > 0 else -1]
    parts.sort()
    sums = start + pairs
    sums[0, 1:] += np.cumsum(parts)
    sums[1, 1:] += np.cumsum(parts[::-1])
    n_pos = n_known + np.arange(n_open + 1.0)
    value = first.known_total.value
    with np.errstate(divide="ignore", invalid="ignore"):
        values = value(sums, n_pos) - value(0.0, n_pos)
        # Where the sum is 0 the values of rankers may differ, as those of net benefit do.
        for factor, evidence in zip(contrast, evidences, strict=True):
            values += factor * evidence.known_total.value(0.0, n_pos)
    values.sort(axis=0)  # Those of calibration fall where the sum rises.
    # Where all labels are equal, the sum is that of all rows, up to rounding.
    for end in {0, n_open}:
        if n_pos[end] in (0.0, len(known)):
            of_class = np.full(len(known), n_pos[end] > 0.0, first.data.labels.dtype)
            of_rankers = [e.measure.values(replace(e.data, labels=of_class))[0] for e in evidences]
            values[:, end] = np.dot(contrast, of_rankers)
    if isinstance(first.measure.undefined, float):
        values[np.isnan(values)] = sum(contrast) * first.measure.undefined
    return np.asarray(values[:, : most_positive(first) + 1])


def values_over_grades(
    levels: FloatArray, evidences: Sequence[Evidence], contrast: Sequence[float] = (1.0,)
) -> FloatArray:
    """Smallest and largest value of a contrast over grades among the levels, the lowest is 0.

    Beside them NaN, if it may be undefined, or what this counts; shape (2, 2). They are sharp:
    where so many rows not known reach each level, those of the largest weights do. Numbers that
    ascend are found level by level, for a ratio again and again (Dinkelbach 1967).
    """
    totals: list[Any] = [x.grade_total for x in evidences]
    first, gains, ideal = evidences[0], totals[0].gain(levels), totals[0].ideal
    partial: Any = first.partial
    is_open, grade = partial.unreachable, first.data.labels
    parts = np.dot(contrast, [x.weights for x in totals])
    start = parts @ np.where(is_open, gains[0], totals[0].gain(grade))
    steps, numbers = np.diff(gains), np.arange(is_open.sum() + 1)
    reach = (grade[~is_open] >= levels[1:, np.newaxis]).sum(axis=1)
    best = np.zeros((len(steps), len(numbers)))
    if ideal is not None:
        best = ideal[reach[:, np.newaxis] + numbers] * steps[:, np.newaxis]
        best[0] += gains[0] * ideal[-1]
    lacks = ideal is not None and best[:, 0].sum() == 0.0
    found = np.full((2, 2), np.nan)
    if lacks and isinstance(first.measure.undefined, float):
        found[:, 1] = sum(contrast) * first.measure.undefined
    elif not lacks:
        found[:, 1] = start / (best[:, 0].sum() if ideal is not None else 1.0)
    for side, sign in enumerate((-1.0, 1.0)):
        sums = np.append(0.0, np.cumsum(np.sort(sign * parts[is_open])[::-1]))
        sums = steps[:, np.newaxis] * sums
        sums[0] += sign * start
        found[side, 0] = sign * _largest_ratio(sums, best, int(lacks), ideal is not None)
    return found


def _largest_ratio(sums: FloatArray, best: FloatArray, least: int, divided: bool) -> float:
    """Largest ratio of sums over levels, by numbers that do not ascend; the first has a least."""
    levels, ratio = np.arange(len(sums)), -np.inf
    if least >= sums.shape[1]:
        return np.nan
    chosen = np.where(levels == 0, least, 0)
    while True:
        value = sums[levels, chosen].sum()
        value /= best[levels, chosen].sum() if divided else 1.0
        if value <= ratio + ROUNDING:
            return float(max(value, ratio))
        ratio = value
        left, of_levels = np.zeros(sums.shape[1]), np.empty(sums.shape)
        for level in levels[::-1]:
            of_levels[level] = sums[level] - ratio * divided * best[level] + left
            left = np.maximum.accumulate(of_levels[level])
        most = sums.shape[1]
        for level in levels:
            low = least if level == 0 else 0
            chosen[level] = most = low + int(np.argmax(of_levels[level, low : most + 1]))


def label_bounds(evidences: Sequence[Evidence], contrast: Sequence[float] = (1.0,)) -> Limits:
    """Smallest and largest value of a contrast of rankers over the labels not known."""
    first: Any = evidences[0]
    values = values_over_labels(evidences, contrast)
    if np.isnan(values).all():
        raise ValueError(
            f"{first.measure.name} is not defined for any labels of the"
            f" {int(first.partial.unreachable.sum())} rows without a label:"
            f" {first.measure.lacking}."
        )
    return without_rounding((float(np.nanmin(values[0])), float(np.nanmax(values[1]))))


def without_rounding(limits: Limits) -> Limits:
    """Limits of which none is a rounding error from 0, which would make a ranker better."""
    low, high = (limit if abs(limit) > ROUNDING else 0.0 for limit in limits)
    return low, high


def bounds_interval(evidence: Evidence) -> Interval:
    low, high = label_bounds([evidence])
    return Interval((low + high) / 2.0, low, high, 1.0, "bounds", target_in_part(evidence))


def most_positive(evidence: Evidence) -> int:
    """Largest number of positives among the rows that nobody labels."""
    partial: Any = evidence.partial
    n_open = int(partial.unreachable.sum())
    if partial.most_below is None:
        return n_open
    at_cut = evidence.data.labels[partial.at_cut]
    rate = (at_cut.sum() + 0.5) / (len(at_cut) + 1.0)
    # The product of a share and a number may be whole up to rounding.
    return min(int(partial.most_below * rate * n_open * (1.0 + 1e-12)), n_open)


def target_in_part(evidence: Evidence) -> str:
    partial: Any = evidence.partial
    if not is_bounded(evidence):
        of = "this list" if evidence.conditional else "the population"
        return f"{evidence.measure.name} of {of}, {partial.text}"
    n_open, most = int(partial.unreachable.sum()), most_positive(evidence)
    assumed = "" if partial.most_below is None else f", at most {most} positive"
    return f"{evidence.measure.name} of this list for any labels of {n_open} rows{assumed}"
