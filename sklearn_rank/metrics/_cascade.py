"""Measures of a reader who goes down the list: average precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ._lists import Average, BinaryLists, Summary, Undefined, Value

__all__ = ["average_precision_score"]

# From this argument on the expansion of the digamma function is exact in float64.
LARGE = 64


def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = 0.0,
    return_qid: bool = False,
    pos_label: Any = None,
) -> Value:
    """Mean, over the positives, of the precision at their positions.

    ``AP = 1/k sum over positives of (positives down to it) / (items down to it)``, ``k`` the
    number of positives; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        How many times each item counts, in whole numbers.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default=0.0
        What a list without positives counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Average precision in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If a weight is not a whole number, an argument is not valid, or a list is undefined and
        ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

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
    are repetitions, have a meaning. Two dimensions are refused: scikit-learn takes the columns as
    classes. O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import average_precision_score
    >>> average_precision_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.8333333333333333

    A constant score is worth its mean over all orders:

    >>> average_precision_score([1, 0], [0.0, 0.0])
    0.75
    """
    summary = Summary("average_precision_score", average, undefined, return_qid)
    lists = BinaryLists.of(
        y_true,
        y_score,
        name="average_precision_score",
        refuse_2d=True,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    if not lists.whole.all():
        raise ValueError(
            "sample_weight has a value that is not whole: average precision counts items, so"
            " that a weight is a number of repetitions; precision_at_top_score takes real"
            " weights."
        )
    blocks = lists.blocks()
    positive, length = blocks.held, blocks.held + blocks.other
    positives_before = blocks.held_above
    items_before = positives_before + blocks.other_above
    ratio = (positive - 1) / np.maximum(length - 1, 1)
    sums = (positives_before + 1 - ratio * (items_before + 1)) * _reciprocals(
        items_before + 1, length
    ) + ratio * length
    with np.errstate(invalid="ignore"):
        values = np.minimum(blocks.sums(positive / length * sums) / blocks.n_held, 1.0)
    return summary.of(values, lists, "no positive")


def _reciprocals(start: FloatArray, count: FloatArray) -> FloatArray:
    """``1/x + 1/(x+1) + ... + 1/(x+count-1)`` for whole numbers, to rounding.

    The difference of two digamma functions, from their asymptotic series, which does not cancel;
    the first terms of sums that begin below its range are added one by one.
    """
    if np.all(count == 1):
        return 1.0 / start
    result = np.zeros(len(start))
    start, count = start.copy(), count.copy()
    low = np.flatnonzero(start < LARGE)
    for _ in range(LARGE):
        low = low[(start[low] < LARGE) & (count[low] > 0)]
        if len(low) == 0:
            break
        result[low] += 1.0 / start[low]
        start[low] += 1
        count[low] -= 1
    end = start + count
    result += np.log1p(count / start) + 0.5 * count / (start * end)
    for power, coefficient in ((2, 1 / 12), (4, -1 / 120), (6, 1 / 252)):
        result += coefficient * (start ** -float(power) - end ** -float(power))
    return result
