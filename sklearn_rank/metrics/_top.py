"""Measures of the top of the list of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._blocks import tied_blocks
from .._lists import LabelType, check_scored_lists
from .._typing import FloatArray
from ._conventions import Convention
from ._measure import Average, Undefined, Value
from ._top_measures import (
    AccuracyAtTopMeasure,
    EnrichmentFactorMeasure,
    PositivesAtTopMeasure,
    PrecisionAtTopMeasure,
)

__all__ = [
    "accuracy_at_top_loss",
    "enrichment_factor_score",
    "positives_at_top_score",
    "precision_at_top_curve",
    "precision_at_top_score",
]


def precision_at_top_score(
    y_true: Any,
    y_score: Any,
    *,
    tau: float = 0.05,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Share of positives among the top ``tau`` of the list.

    ``P@tau = E[number of positives among the first j items] / j`` with
    ``j = max(1, floor(tau * n + 1/2))``; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    tau : float, default=0.05
        Share of the items that make the top, in (0, 1).
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole numbers are repetitions, n their sum; of others only the
        proportions matter, and the top has the weight ``tau * sum(sample_weight)``.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        Of no effect: the measure is defined for every list.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If ``tau`` is outside (0, 1), or another argument is not valid.
    TypeError
        If ``tau`` is not a number.

    Warns
    -----
    SmallTopWarning
        If ``tau * n`` rounds to 0 for a list: its top is then one item.

    See Also
    --------
    precision_at_k_score : Among a number of items.
    smoothed_precision_at_top_score : The mean over four shares, for choosing between models.
    positives_at_top_score : Counts positives down to the first negative.
    accuracy_at_top_loss : Counts the errors on both sides of the same quantile.

    Notes
    -----
    A block of tied items that the end of the top cuts counts by its share. O(n log n) time,
    O(n) memory.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 5.2.

    Examples
    --------
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> precision_at_top_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.5

    Ties count by all their orders, whatever the order of the rows:

    >>> precision_at_top_score([0, 1, 1, 0], [2.0, 2.0, 1.0, 1.0], tau=0.25)
    0.5
    """
    return PrecisionAtTopMeasure(tau=tau, undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def enrichment_factor_score(
    y_true: Any,
    y_score: Any,
    *,
    fraction: float,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
    convention: Convention | None = None,
) -> Value:
    """Precision in the top of the list as a ratio to the share of positives in all of it.

    ``EF = P@fraction / (k / n)`` for k positives among n items, with
    ``j = max(1, floor(fraction * n + 1/2))`` items in the top; the mean is over all orders of tied
    items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    fraction : float
        Share of the items that make the top, in (0, 1).
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole numbers are repetitions, n their sum; of others only the
        proportions matter, and the top has the weight ``tau * sum(sample_weight)``.
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
    convention : {"rdkit"}, default=None
        System whose number to give: tied items in the order of the rows, ``fraction * n``
        rounded up, a list without positives 0; a parameter that says otherwise is refused.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Ratio, at least 0 and at most n / max(j, k); 1 for a random order; more is better.

    Raises
    ------
    ValueError
        If ``fraction`` is outside (0, 1), another argument is not valid, or a list is undefined
        and ``undefined="raise"``.
    TypeError
        If ``fraction`` is not a number.

    Warns
    -----
    SmallTopWarning
        If ``fraction * n`` rounds to 0 for a list: its top is then one item.
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    precision_at_top_score : The precision itself.
    lift_score : The same without rounding: the item at the cut counts by its part.
    bedroc_score : No sharp end of the top.

    Notes
    -----
    RDKit rounds the number of items up, here it is rounded to the nearest. The influence of single
    items is that of :func:`lift_score`, with its coverage. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Truchon & Bayly (2007), *Evaluating virtual screening methods*, Journal of Chemical
       Information and Modeling 47.

    Examples
    --------
    >>> from sklearn_rank.metrics import enrichment_factor_score
    >>> enrichment_factor_score([1, 0, 0, 0], [4.0, 3.0, 2.0, 1.0], fraction=0.25)
    4.0
    """
    return EnrichmentFactorMeasure(
        fraction=fraction, undefined=undefined, rel=rel, convention=convention
    )(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def positives_at_top_score(
    y_true: Any,
    y_score: Any,
    *,
    normalize: bool = False,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Number of positives above the highest negative.

    The mean over all orders of tied items: where the highest negative is tied with others in a
    block of ``a`` positives and ``b`` negatives, the block adds ``a / (b + 1)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    normalize : bool, default=False
        Whether to divide by the number of positives.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts. Their scale is part of the value:
        weight 2 is the item twice, and each list needs at least 1 in all.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list without positives with ``normalize=True`` counts: nothing (alone it is
        NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Number of positives, all of them in a list without a negative, or their share in [0, 1];
        more is better.

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
    precision_at_top_score : Looks at a fixed share of the list.
    negative_height_loss : Counts the positives below the highest negative, with ``p=inf``.

    Notes
    -----
    O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 5.2.

    Examples
    --------
    >>> from sklearn_rank.metrics import positives_at_top_score
    >>> positives_at_top_score([1, 1, 0, 1], [4.0, 3.0, 2.0, 1.0])
    2.0

    One positive and one negative share the top: the positive comes first half the time.

    >>> positives_at_top_score([1, 0, 1], [2.0, 2.0, 1.0])
    0.5
    """
    return PositivesAtTopMeasure(normalize=normalize, undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def accuracy_at_top_loss(
    y_true: Any,
    y_score: Any,
    *,
    tau: float = 0.05,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Mean share of negatives above, and of positives below, the top ``tau`` quantile.

    ``1/2 (mean over negatives of 1{s > q} + mean over positives of 1{s < q})``, where ``q`` is
    the score of item ``j = max(1, floor(tau * n + 1/2))`` from the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    tau : float, default=0.05
        Share of the items that make the top, in (0, 1).
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole numbers are repetitions, n their sum; of others only the
        proportions matter, and the top has the weight ``tau * sum(sample_weight)``.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list of one class counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Loss in [0, 1]; less is better.

    Raises
    ------
    ValueError
        If ``tau`` is outside (0, 1), another argument is not valid, or a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``tau`` is not a number.

    Warns
    -----
    SmallTopWarning
        If ``tau * n`` rounds to 0 for a list: the quantile is then its highest score.
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    precision_at_top_score : The share of positives above the quantile.
    sklearn_rank.AccuracyAtTopRanker : Minimises a convex surrogate.

    Notes
    -----
    Both inequalities are strict, so that items tied with the quantile count on neither side. The
    loss is a function of the scores, not of an order, and has no mean over orders. Where
    positives are more frequent than ``tau`` it cannot be 0 without ties. O(n log n) time, O(n)
    memory.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 3.1.

    Examples
    --------
    >>> from sklearn_rank.metrics import accuracy_at_top_loss
    >>> accuracy_at_top_loss([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.0
    >>> accuracy_at_top_loss([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.5
    """
    return AccuracyAtTopMeasure(tau=tau, undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def precision_at_top_curve(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Precision among the first items of one list, for every length of the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights: how many times each item counts. Positions are their sums.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    position : ndarray of shape (n_positions,)
        Items from the top to here, itself included: 1, 2, ... without weights. Items of weight 0
        have no position.
    precision : ndarray of shape (n_positions,)
        Share of positives among them, in [0, 1]; the mean over all orders of tied items.

    Raises
    ------
    ValueError
        If the labels, scores or weights are not valid.

    See Also
    --------
    precision_at_top_score : One point of the curve.
    sklearn_rank.plotting.TopOfListDisplay : Draws it.

    Notes
    -----
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import precision_at_top_curve
    >>> position, precision = precision_at_top_curve([1, 0, 1, 0], [3.0, 2.0, 2.0, 1.0])
    >>> position
    array([1., 2., 3., 4.])
    >>> precision
    array([1.        , 0.75      , 0.66666667, 0.5       ])
    """
    labels = LabelType("binary", pos_label)
    lists = check_scored_lists(y_true, y_score, labels, sample_weight=sample_weight)
    if lists.n_lists > 1:
        raise ValueError("A curve is of one list: pass one-dimensional y_true and y_score.")
    blocks = tied_blocks(lists.score)
    weight = lists.counts
    total = blocks.totals(weight)
    positive = blocks.totals(weight * lists.positive)
    block = np.repeat(np.arange(len(total)), blocks.lengths())
    position = np.cumsum(weight[blocks.order])
    into = position - (np.cumsum(total) - total)[block]
    expected = (np.cumsum(positive) - positive)[block] + into * (positive / total)[block]
    return position, np.clip(expected / position, 0.0, 1.0)
