"""Centre and scale of the columns of each list, by mean and deviation or by the extremes."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray


def centre_and_scale(
    values: FloatArray, offsets: IntArray, weight: FloatArray | None, *, by_extremes: bool
) -> tuple[FloatArray, FloatArray]:
    """Compute centre and scale of the columns of each list."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    counted = values
    if weight is not None and not weight.all():
        counted = np.where((weight > 0)[:, np.newaxis], values, np.nan)
    # These two leave NaN out.
    low = np.fmin.reduceat(counted, starts, axis=0)
    with np.errstate(over="ignore"):
        width = np.fmax.reduceat(counted, starts, axis=0) - low
    if np.isinf(width).any():
        column = int(np.argmax(np.isinf(width).any(axis=0)))
        raise ValueError(
            f"The values of feature {column} within one query differ by more than 1.8e308: "
            "divide the feature by a constant."
        )
    width[width == 0] = np.inf
    if by_extremes:
        return low, width
    # In units of the width nothing overflows, and equal values are 0 exactly.
    unit = counted - np.repeat(low, lengths, axis=0)
    unit /= np.repeat(width, lengths, axis=0)
    missing = np.isnan(unit)
    if weight is None and not missing.any():
        total = lengths[:, np.newaxis].astype(np.float64)
        share = None
    else:
        share = np.where(missing, 0.0, 1.0 if weight is None else weight[:, np.newaxis])
        unit[missing] = 0.0
        total = np.add.reduceat(share, starts, axis=0)
        total[total == 0] = np.nan
    mean = _sums(unit, share, starts) / total
    unit -= np.repeat(mean, lengths, axis=0)
    unit *= unit
    deviation = np.sqrt(_sums(unit, share, starts) / total)
    with np.errstate(invalid="ignore"):
        centre, scale = low + width * mean, width * deviation
    equal = np.isinf(width)
    centre[equal] = low[equal]
    # Values that differ by no more than the rounding of their mean are equal.
    rounding = lengths[:, np.newaxis] * np.finfo(np.float64).eps * np.abs(centre)
    scale[equal | (scale <= rounding)] = np.inf
    return centre, scale


def _sums(values: FloatArray, share: FloatArray | None, starts: IntArray) -> FloatArray:
    return np.add.reduceat(values if share is None else values * share, starts, axis=0)


def scaled(
    values: FloatArray, offsets: IntArray, centre: FloatArray, scale: FloatArray
) -> FloatArray:
    """Subtract the centres of the lists and divide by their scales, in place.

    The same array; 0 where nothing is known of the list. Shape (n, n_columns).
    """
    lengths = np.diff(offsets)
    unknown = np.isnan(centre)
    if unknown.any():
        centre, scale = np.where(unknown, 0.0, centre), np.where(unknown, np.inf, scale)
    values -= np.repeat(centre, lengths, axis=0)
    values /= np.repeat(scale, lengths, axis=0)
    return values
