"""Threshold between the classes for methods that define none."""

from __future__ import annotations

import math

import numpy as np

from .._top import merge_rounded
from .._typing import BoolArray, FloatArray

__all__ = ["accuracy_threshold"]


def accuracy_threshold(
    scores: FloatArray, rounding: FloatArray, positive: BoolArray, weight: FloatArray
) -> float:
    """Threshold by which most of the rows, by weight, are on the side of their class.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Finite scores by which the positives are on top.
    rounding : ndarray of shape (n,)
        Bounds of their rounding errors: scores no further apart are one.
    positive : ndarray of bool of shape (n,)
        Whether each row is positive.
    weight : ndarray of shape (n,)
        Positive weights.

    Returns
    -------
    float
        Midway between two distinct scores, or beyond all of them; the largest of those that are
        equally good.
    """
    merged = merge_rounded(scores, rounding)
    # Gain or loss of weighted accuracy for each distinct score, from the top, placed above the
    # threshold.
    values, block = np.unique(-merged, return_inverse=True)
    change = np.bincount(block, weights=np.where(positive, weight, -weight))
    gain = np.cumsum(np.append(0.0, change))
    # Sums of weights are rounded; differences within rounding are ignored.
    above = int(np.argmax(gain >= gain.max() - 1e-12 * weight.sum()))
    margin = float(rounding.max())
    if above == 0:
        top = float(scores.max())
        return max(math.nextafter(top, math.inf), top + margin)
    lowest = -float(values[above - 1])
    if above == len(values):
        return min(math.nextafter(lowest, -math.inf), lowest - margin)
    below = float(scores[block == above].max())
    middle = below / 2 + lowest / 2
    return middle if below <= middle < lowest else below
