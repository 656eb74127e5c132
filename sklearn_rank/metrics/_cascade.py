"""Measures of a reader who goes down the list: average precision."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._order import tied_blocks
from .._typing import FloatArray
from .._validation import check_binary_scores

__all__ = ["average_precision_score"]

# From this argument on the expansion of the digamma function is exact in float64.
LARGE = 64


def average_precision_score(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> float:
    """Mean, over the positives, of the precision at their positions.

    ``AP = E[1/k sum over positives of (positives down to it) / (items down to it)]``, ``k`` the
    number of positives; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    sample_weight : array-like of shape (n_samples,), default=None
        How many times each item counts, in whole numbers.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    float
        Average precision in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If a weight is not a whole number, or the labels, scores or weights are not valid.

    Warns
    -----
    UndefinedMetricWarning
        If there is no positive; the value is then 0, as in scikit-learn.

    See Also
    --------
    sklearn.metrics.average_precision_score : Equal without ties; counts every tied block at its
        end, which is neither the mean nor a bound in general.
    precision_at_top_score : The precision at one place.

    Notes
    -----
    In a block of ``a`` positives among ``L`` tied items, after ``p`` positives among ``N`` items,
    the mean is a sum of ``a/L (p + 1 + (j-1)(a-1)/(L-1)) / (N+j)`` over j = 1..L, and a sum of
    reciprocals in closed form. Precision counts items, so that only whole-number weights, which
    are repetitions, have a meaning. O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import average_precision_score
    >>> average_precision_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.8333333333333333

    A constant score is worth its mean over all orders:

    >>> average_precision_score([1, 0], [0.0, 0.0])
    0.75
    """
    data = check_binary_scores(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    if np.any(data.weight != np.floor(data.weight)):
        raise ValueError(
            "sample_weight has a value that is not whole: average precision counts items, so"
            " that a weight is a number of repetitions; precision_at_top_score takes real"
            " weights."
        )
    blocks = tied_blocks(data.score)
    length = blocks.totals(data.weight)
    positive = blocks.totals(data.weight * data.positive)
    total = float(positive.sum())
    if total == 0:
        warnings.warn(
            "y_true has no positive: average precision is undefined and was set to 0.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return 0.0
    items_before = np.cumsum(length) - length
    positives_before = np.cumsum(positive) - positive
    held = positive > 0
    length, positive = length[held], positive[held]
    items_before, positives_before = items_before[held], positives_before[held]
    ratio = (positive - 1) / np.maximum(length - 1, 1)
    sums = (positives_before + 1 - ratio * (items_before + 1)) * _reciprocals(
        items_before + 1, length
    ) + ratio * length
    return float(min(np.sum(positive / length * sums) / total, 1.0))


def _reciprocals(start: FloatArray, count: FloatArray) -> FloatArray:
    """``1/x + 1/(x+1) + ... + 1/(x+count-1)`` for whole numbers, to rounding.

    The difference of two digamma functions, from their asymptotic series, which does not cancel;
    the first terms of sums that begin below its range are added one by one.
    """
    result = np.zeros(len(start))
    start, count = start.copy(), count.copy()
    for i in np.flatnonzero(start < LARGE):
        first = min(count[i], LARGE - start[i])
        result[i] = np.sum(1.0 / np.arange(start[i], start[i] + first))
        start[i] += first
        count[i] -= first
    end = start + count
    result += np.log1p(count / start) + 0.5 * count / (start * end)
    for power, coefficient in ((2, 1 / 12), (4, -1 / 120), (6, 1 / 252)):
        result += coefficient * (start ** -float(power) - end ** -float(power))
    return result
