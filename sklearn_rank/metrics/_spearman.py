"""Rank correlation, and the positions that it correlates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import group_rows
from .._typing import FloatArray
from .._validation import check_qid, check_scores
from ._measure import Average, Undefined, Value
from ._spearman_measure import SpearmanMeasure, middle_positions

__all__ = ["rank_positions", "spearman_score"]


def spearman_score(
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
) -> Value:
    """Rank correlation of relevance and score, after Spearman.

    ``12 / (n (n**2 - 1)) sum over items of (n - r)(n - i) - 3 (n - 1) / (n + 1)``, r and i the
    positions by relevance and by score; the mean is over all orders of items tied in either.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        How many times each item counts, in whole numbers, whose scale is part of the value.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list of one grade counts, as one of one item: nothing (alone it is NaN), an error,
        or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; 0 for a random order; more is better.

    Raises
    ------
    ValueError
        If an argument is not valid, or a list is undefined and ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    scipy.stats.spearmanr : Equal without ties; divides by the spread of the tied ranks, so that a
        list in which relevances are tied can still reach 1.

    Notes
    -----
    Weights are repetitions, and others than whole numbers are refused. O(n log n) time, O(n)
    memory.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import spearman_score
    >>> spearman_score([3, 2, 1], [3.0, 1.0, 2.0])
    0.5
    """
    return SpearmanMeasure(undefined=undefined)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def rank_positions(y_score: Any, qid: Any = None) -> FloatArray:
    """Position of each item from the top of its list.

    Parameters
    ----------
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.

    Returns
    -------
    ndarray of shape (n_samples,)
        Positions in the order of the rows, 1 at the top; tied items share the mean of theirs.

    Raises
    ------
    ValueError
        If a score is NaN or an id is missing.

    See Also
    --------
    scipy.stats.rankdata : Ranks of one list, 1 at the bottom.

    Notes
    -----
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import rank_positions
    >>> rank_positions([0.1, 0.9, 0.5, 0.5])
    array([4. , 1. , 2.5, 2.5])
    >>> rank_positions([0.1, 0.9, 0.5, 0.5], qid=["a", "b", "a", "b"])
    array([2., 1., 1., 2.])
    """
    score = check_scores(y_score)
    if qid is None:
        return middle_positions(score, None, np.array([0, len(score)]))
    _, offsets, rows = group_rows(check_qid(qid, len(score)))
    if rows is None:
        return middle_positions(score, None, offsets)
    positions = np.empty(len(score))
    positions[rows] = middle_positions(score[rows], None, offsets)
    return positions
