"""Coverage: how far down a list its last positive stands."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from .._lists import ScoredLists
from .._typing import FloatArray
from ._measure import Average, Measure, Undefined, Value

__all__ = ["CoverageMeasure", "coverage_loss"]


@dataclass(frozen=True, kw_only=True, repr=False)
class CoverageMeasure(Measure):
    """Position of the last positive; see ``coverage_loss``."""

    per_query = True
    greater_is_better = False
    weights = "whole"
    lacking = "no positive"
    function = "coverage_loss"
    stem = "coverage"
    from_ranges = "sum"

    @property
    def range(self) -> tuple[float, float]:
        """From 1 on."""
        return (1.0, inf)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Mean position of the last positive of each list."""
        blocks = lists.blocks()
        # They come list by list, those of a list from its bottom.
        list_of = np.zeros(len(blocks.of_class), dtype=np.intp)
        if blocks.list_of is not None:
            list_of = blocks.list_of
        bottom = np.flatnonzero(np.diff(list_of, prepend=-1))
        some, positive, other = list_of[bottom], blocks.of_class[bottom], blocks.of_other[bottom]
        above = blocks.total[some] - blocks.below[bottom] - positive - other
        values = np.full(lists.n_lists, np.nan)
        values[some] = above + positive * ((positive + other + 1.0) / (positive + 1.0))
        return values


def coverage_loss(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Position of the last positive: how far down the list one must go to find all of them.

    ``Coverage = max over positives of their position``, 1 being the top; the mean is over all
    orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        How many times each item counts, in whole numbers. Their scale is part of the value: weight
        2 is the item twice.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list without positives counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Position, from the number of positives to the length of the list; less is better.

    Raises
    ------
    ValueError
        If an argument is not valid, or a list is undefined and
        ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    reciprocal_rank_score : How far down the first positive stands.
    recall_at_k_score : How many of the positives are among the first k.
    sklearn.metrics.coverage_error : Counts all of a tied block.

    Notes
    -----
    Of the lowest tied block that holds positives, ``a`` of them and ``b`` others after N items,
    the last positive stands at ``N + a (a + b + 1) / (a + 1)`` in the mean over the orders.
    scikit-learn's ``coverage_error`` puts it at the end of the block, ``N + a + b``, and counts 0
    for a list without positives, as ``undefined=0`` does here; the two are equal where the lowest
    positive is not tied with a negative. Weights are repetitions, and others than whole numbers
    are refused. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Tsoumakas, Katakis & Vlahavas (2010), *Mining multi-label data*, in Data Mining and
       Knowledge Discovery Handbook, Springer.

    Examples
    --------
    >>> from sklearn_rank.metrics import coverage_loss
    >>> coverage_loss([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    3.0

    Of three tied items one is positive; it may stand at the place 2, 3 or 4:

    >>> coverage_loss([1, 0, 1, 0], [4.0, 3.0, 3.0, 3.0])
    3.0
    """
    return CoverageMeasure(undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )
