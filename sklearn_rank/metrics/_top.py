"""Measures of the top of the list of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import LabelType, check_scored_lists
from .._order import tied_blocks
from .._typing import FloatArray
from ._conventions import Convention
from ._measure import Average, Undefined, Value
from ._top_measures import (
    AccuracyAtTopMeasure,
    EnrichmentFactorMeasure,
    PositivesAtTopMeasure,
    PrecisionAtTopMeasure,
)


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
    """Precision at the top: share of positives among the top ``tau`` of the list.

    ``P@tau = E[number of positives among the first j items] / j`` with
    ``j = max(1, floor(tau * n + 1/2))``. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    tau : float, default=0.05
        Share of the items that form the top, in (0, 1).
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole weights are repetitions, and n is their sum. If a weight is not
        whole, only the proportions matter, and the top has the weight
        ``tau * sum(sample_weight)``.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        Has no effect: the measure is defined for every list.
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1]; higher is better.

    Raises
    ------
    ValueError
        If ``tau`` is outside (0, 1), or another argument is invalid.
    TypeError
        If ``tau`` is not a number.

    Warns
    -----
    SmallTopWarning
        If ``tau * n`` rounds to 0 for a list: its top is then one item.

    See Also
    --------
    precision_at_k_score : Precision among a fixed number of items.
    smoothed_precision_at_top_score : Mean over four shares, to choose between models.
    positives_at_top_score : Number of positives above the highest negative.
    accuracy_at_top_loss : Errors on both sides of the same quantile.

    Notes
    -----
    If the end of the top cuts a block of ties, the block counts in proportion. The time is O(n
    log n), the memory O(n).

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 5.2.

    Examples
    --------
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> precision_at_top_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.5

    Ties are averaged over their orders, so the order of the rows does not matter:

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
    """Enrichment factor: precision in the top divided by the share of positives in the list.

    ``EF = P@fraction / (k / n)`` for k positives among n items, with
    ``j = max(1, floor(fraction * n + 1/2))`` items in the top. Ties are averaged over all orders
    of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    fraction : float
        Share of the items that form the top, in (0, 1).
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole weights are repetitions, and n is their sum. If a weight is not
        whole, only the proportions matter, and the top has the weight
        ``tau * sum(sample_weight)``.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        How a list without positives counts: "skip" leaves it out of the mean (its own value is
        NaN), "raise" raises an error, a number is its value. None is "skip", or with
        ``convention`` the rule of that system.
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes.
    convention : {"rdkit"}, default=None
        System whose value to reproduce: tied items stay in the order of the rows, ``fraction * n``
        is rounded up, and a list without positives counts 0. A conflicting parameter raises an
        error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Ratio, at least 0 and at most n / max(j, k); 1 for a random order; higher is better.

    Raises
    ------
    ValueError
        If ``fraction`` is outside (0, 1), another argument is invalid, or a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``fraction`` is not a number.

    Warns
    -----
    SmallTopWarning
        If ``fraction * n`` rounds to 0 for a list: its top is then one item.
    UndefinedMetricWarning
        If lists are undefined; one warning with their number.

    See Also
    --------
    precision_at_top_score : The precision itself.
    lift_score : The same without rounding; the item at the cut counts in part.
    bedroc_score : Weights decrease smoothly instead of ending at a cut.

    Notes
    -----
    RDKit rounds the number of items up; here it is rounded to the nearest number. The influence of
    single items and its coverage are those of :func:`lift_score`. The time is O(n log n), the
    memory O(n).

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

    Ties are averaged over all orders of the tied items: if the highest negative is in a block of
    ties with ``a`` positives and ``b`` negatives, the block adds ``a / (b + 1)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    normalize : bool, default=False
        Whether to divide by the number of positives of the list.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights, read as repetitions: weight 2 counts an item twice. The scale changes
        the value, and weights between 0 and 1 raise an error.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        How a list without positives counts with ``normalize=True``: "skip" leaves it out of the
        mean (its own value is NaN), "raise" raises an error, a number is its value. None is
        "skip".
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Number of positives (all positives if there is no negative), or with ``normalize`` their
        share in [0, 1]; higher is better.

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
    precision_at_top_score : Share of positives in a fixed share of the list.
    negative_height_loss : With ``p=inf``, the share of positives below the highest negative.

    Notes
    -----
    The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 5.2.

    Examples
    --------
    >>> from sklearn_rank.metrics import positives_at_top_score
    >>> positives_at_top_score([1, 1, 0, 1], [4.0, 3.0, 2.0, 1.0])
    2.0

    A positive and a negative are tied at the top; the positive is first in half of the orders:

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
    """Accuracy-at-the-top loss: class-balanced error rate at the top ``tau`` quantile.

    ``1/2 (mean over negatives of 1{s > q} + mean over positives of 1{s < q})``, where ``q`` is
    the score of item ``j = max(1, floor(tau * n + 1/2))`` from the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    tau : float, default=0.05
        Share of the items that form the top, in (0, 1).
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole weights are repetitions, and n is their sum. If a weight is not
        whole, only the proportions matter, and the top has the weight
        ``tau * sum(sample_weight)``.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        How a list of one class counts: "skip" leaves it out of the mean (its own value is NaN),
        "raise" raises an error, a number is its value. None is "skip".
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Loss in [0, 1]; lower is better.

    Raises
    ------
    ValueError
        If ``tau`` is outside (0, 1), another argument is invalid, or a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``tau`` is not a number.

    Warns
    -----
    SmallTopWarning
        If ``tau * n`` rounds to 0 for a list: the quantile is then its highest score.
    UndefinedMetricWarning
        If lists are undefined; one warning with their number.

    See Also
    --------
    precision_at_top_score : The share of positives in the top.
    sklearn_rank.AccuracyAtTopRanker : Minimises a convex surrogate.

    Notes
    -----
    Both inequalities are strict: items tied with the quantile are no errors. The loss is a
    function of the scores and is not averaged over the orders of tied items. If the share of
    positives exceeds ``tau``, the loss is positive unless scores are tied. The time is O(n log
    n), the memory O(n).

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
    """Precision at every position of one list, for plots.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, read as repetitions. A position is the sum of the weights down to
        it.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    position : ndarray of shape (n_positions,)
        Positions from the top: 1, 2, ... without weights, else sums of weights. Items of weight 0
        have no position.
    precision : ndarray of shape (n_positions,)
        Share of positives down to each position, in [0, 1], averaged over all orders of tied
        items.

    Raises
    ------
    ValueError
        If the labels, scores or weights are invalid.

    See Also
    --------
    precision_at_top_score : Precision at one point of the curve.
    sklearn_rank.plotting.TopOfListDisplay : Plots the curve.

    Notes
    -----
    The time is O(n log n), the memory O(n).

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
        raise ValueError(
            "y_true or y_score has two dimensions, but a curve is for one list: pass"
            " one-dimensional arrays."
        )
    blocks = tied_blocks(lists.score)
    weight = lists.counts
    total = blocks.totals(weight)
    positive = blocks.totals(weight * lists.positive)
    block = np.repeat(np.arange(len(total)), blocks.lengths())
    position = np.cumsum(weight[blocks.order])
    into = position - (np.cumsum(total) - total)[block]
    expected = (np.cumsum(positive) - positive)[block] + into * (positive / total)[block]
    return position, np.clip(expected / position, 0.0, 1.0)
