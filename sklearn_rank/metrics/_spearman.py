"""Rank correlation, and the positions that it correlates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import group_rows
from .._typing import FloatArray
from .._validation import check_qid, check_scores
from ._measure import Average, Undefined, Value
from ._spearman_measure import SpearmanMeasure, middle_positions


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
    """Rank correlation of Spearman (rho) between relevance and score.

    ``12 / (n (n**2 - 1)) sum over items of (n - r)(n - i) - 3 (n - 1) / (n + 1)``, r and i the
    positions by relevance and by score. The value is averaged over all orders of items tied in
    either.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite. In two dimensions each row is a list, and NaN is a missing
        item.
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
        How a list counts if all its items have one relevance: "skip" leaves it out of the mean
        (its own value is NaN), "raise" raises an error, a number is its value. None is "skip".
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class that has relevance 1, if ``y_true`` holds labels of two classes. None expects
        relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; 0 for a random order; higher is better.

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
    scipy.stats.spearmanr : Equal without ties; divides by the spread of the tied ranks, so that a
        list with tied relevances can reach 1.

    Notes
    -----
    Weights are repetitions and must be whole numbers. The time is O(n log n), the memory O(n).

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
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.

    Returns
    -------
    ndarray of shape (n_samples,)
        Positions in the order of the rows, 1 at the top. Tied items get the mean of their
        positions.

    Raises
    ------
    ValueError
        If a score is NaN or an id is missing.

    See Also
    --------
    scipy.stats.rankdata : Ranks of one list, with 1 at the bottom.

    Notes
    -----
    The time is O(n log n), the memory O(n).

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
