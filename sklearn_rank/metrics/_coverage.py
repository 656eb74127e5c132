"""Coverage: the position of the last positive of a list."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from .._lists import ScoredLists
from .._typing import FloatArray
from ._measure import Average, Measure, Undefined, Value


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
    """Coverage: position of the last positive, the depth at which all positives are found.

    ``Coverage = max over positives of their position``, 1 being the top. Ties are averaged over
    all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative whole weights, read as repetitions: weight 2 counts an item twice. The scale
        changes the value.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        How a list without positives counts: "skip" leaves it out of the mean (its own value is
        NaN), "raise" raises an error, a number is its value. None is "skip".
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Position, from the number of positives to the length of the list; lower is better.

    Raises
    ------
    ValueError
        If an argument is invalid, or if a list is undefined and ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        If lists are undefined; one warning with their number.

    See Also
    --------
    reciprocal_rank_score : Depends on the position of the first positive.
    recall_at_k_score : Share of the positives among the first k items.
    sklearn.metrics.coverage_error : Puts the last positive at the end of its block of ties.

    Notes
    -----
    If the lowest block of ties with positives holds ``a`` of them and ``b`` other items after N
    items, the mean position of the last positive is ``N + a (a + b + 1) / (a + 1)``.
    scikit-learn's ``coverage_error`` puts it at the end of the block, ``N + a + b``, and counts 0
    for a list without positives, as ``undefined=0`` does here. The two are equal if the lowest
    positive is not tied with a negative. Weights are repetitions and must be whole numbers. The
    time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Tsoumakas, Katakis & Vlahavas (2010), *Mining multi-label data*, in Data Mining and
       Knowledge Discovery Handbook, Springer.

    Examples
    --------
    >>> from sklearn_rank.metrics import coverage_loss
    >>> coverage_loss([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    3.0

    One of three tied items is positive; its position is 2, 3 or 4:

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
