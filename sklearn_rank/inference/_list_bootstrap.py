"""Interval for any measure of one list by resampling its items."""

from __future__ import annotations

import numpy as np

from .._lists import ScoredLists
from .._typing import IntArray
from ..metrics import Measure
from ._one_list import OneList
from ._results import Interval

__all__ = ["bootstrap_interval"]

# Largest number of items in the lists that are evaluated at once.
ITEMS = 2**20


def bootstrap_interval(
    measure: Measure,
    sample: OneList,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """Interval between percentiles of the measure of resampled lists."""
    least = int(np.ceil(2.0 / (1.0 - level)))
    if n_resamples < least:
        raise ValueError(
            f"n_resamples={n_resamples} is too small for level={level}: pass at least {least}."
        )
    sample = sample.repeated()
    data = sample.data
    estimate = float(measure.values(data)[0])
    parts, apart = _units(sample)
    values = np.concatenate(
        [
            measure._values(_lists_of(data, [_drawn(parts, apart, rng) for _ in range(count)]))
            for count in _batches(n_resamples, len(data.score))
        ]
    )
    undefined = int(np.count_nonzero(np.isnan(values)))
    if undefined or np.isnan(estimate):
        raise ValueError(
            f"{measure.name} is undefined for {undefined} of {n_resamples} bootstrap samples"
            f" ({measure.lacking}): pass more items, or larger groups."
        )
    if np.ptp(values) == 0.0:
        raise ValueError(
            f"{measure.name} is {estimate:.4g} for all {n_resamples} bootstrap samples, so its"
            " variance cannot be estimated: pass a list for which the order matters, or"
            " make_measure(..., influence=)."
        )
    low, high = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(
        estimate=estimate,
        low=min(float(low), estimate),
        high=max(float(high), estimate),
        level=level,
        method="bootstrap",
        target=f"{measure.name} of the population",
        standard_error=float(values.std(ddof=1)),
    )


def _batches(total: int, length: int) -> list[int]:
    """Numbers of lists of this length that are evaluated at once."""
    size = max(1, ITEMS // length)
    return [min(size, total - start) for start in range(0, total, size)]


def _units(sample: OneList) -> tuple[list[IntArray], bool]:
    """Rows of the parts of a list, and whether each is resampled apart, or they as wholes."""
    data = sample.data
    if sample.groups is not None:
        order = np.argsort(sample.groups.codes, kind="stable")
        starts = np.flatnonzero(np.diff(sample.groups.codes[order], prepend=-1))
        return np.split(order, starts[1:]), False
    if data.labels.dtype != bool:
        return [np.arange(len(data.score))], True
    return [np.flatnonzero(data.positive), np.flatnonzero(~data.positive)], True


def _drawn(parts: list[IntArray], apart: bool, rng: np.random.Generator) -> IntArray:
    """Rows of one resampled list."""
    if apart:
        return np.concatenate([rows[rng.integers(0, len(rows), len(rows))] for rows in parts])
    return np.concatenate([parts[i] for i in rng.integers(0, len(parts), len(parts))])


def _lists_of(data: ScoredLists, rows: list[IntArray]) -> ScoredLists:
    """Make a list of each choice of rows."""
    chosen = np.concatenate(rows)
    return ScoredLists(
        labels=data.labels[chosen],
        score=data.score[chosen],
        offsets=np.append(0, np.cumsum([len(one) for one in rows])),
        ids=np.arange(len(rows)),
    )
