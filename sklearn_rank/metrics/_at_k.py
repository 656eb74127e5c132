"""Precision and recall among the first k."""

from __future__ import annotations

from typing import Any

from ._at_k_measures import PrecisionAtKMeasure, RecallAtKMeasure
from ._conventions import Convention
from ._measure import Average, Undefined, Value

__all__ = ["precision_at_k_score", "recall_at_k_score"]


def precision_at_k_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int,
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
    """Share of positives among the first k items.

    ``Prec@k = (number of positives among the first k items) / k``; the mean is over all orders of
    tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int
        Number of items, at least 1. It divides even where the list is shorter.
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
        Of no effect: the measure is defined for every list.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes, or
        with ``convention`` the grades that are relevant to the system.
    convention : {"paper", "xgboost", "catboost", "trec_eval", "ranx", "letor"}, default=None
        System whose number to give: its rules for ties and for lists shorter than k; a parameter
        that says otherwise is refused.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If an argument is not valid or conflicts with ``convention``.
    TypeError
        If ``k`` is not a whole number.

    See Also
    --------
    recall_at_k_score : As a share of all positives.
    precision_at_top_score : Among a share of the list.

    Notes
    -----
    For grades pass ``y_true >= grade``. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import precision_at_k_score
    >>> precision_at_k_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], k=3)
    0.6666666666666666

    The second place is shared by two items, one of them positive:

    >>> precision_at_k_score([1, 0, 1, 0], [4.0, 2.0, 2.0, 1.0], k=2)
    0.75
    """
    return PrecisionAtKMeasure(k=k, undefined=undefined, rel=rel, convention=convention)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def recall_at_k_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
    n_relevant: Any = None,
    ideal: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Share of the positives that are among the first k items.

    ``Rec@k = (number of positives among the first k items) / (number of positives)``; the mean is
    over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int
        Number of items, at least 1.
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
        What a list without positives counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes, or
        with ``convention`` the grades that are relevant to the system.
    n_relevant : int, array-like or mapping, default=None
        Number of relevant items of each list, those included that are not among the rows: of one
        list a number; else one per row, the same for all items of a list, or a mapping from the
        ids of the lists. None takes all relevant items to be among the rows.
    ideal : array-like or mapping, default=None
        The same by the relevances of all relevant items of each list, of which those from ``rel``
        on count: of one list an array; else a mapping from the ids of the lists, or in two
        dimensions one array per row.
    convention : {"paper", "catboost", "trec_eval", "ranx"}, default=None
        System whose number to give: its rules for ties and for lists without positives; a
        parameter that says otherwise is refused. trec_eval and ranx count relevant items that
        were not retrieved: pass ``ideal`` or ``n_relevant`` where the rows lack some.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Recall in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If an argument is not valid or conflicts with ``convention``, or a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``k`` is not a whole number.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    precision_at_k_score : As a share of k.

    Notes
    -----
    For grades pass ``y_true >= grade``. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import recall_at_k_score
    >>> recall_at_k_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], k=1)
    0.5
    """
    return RecallAtKMeasure(k=k, undefined=undefined, rel=rel, convention=convention)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
        n_relevant=n_relevant,
        ideal=ideal,
    )
