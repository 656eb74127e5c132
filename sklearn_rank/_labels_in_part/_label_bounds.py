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
