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
    """Precision at k: share of positives among the first k items.

    ``Prec@k = (number of positives among the first k items) / k``. Ties are averaged over all
    orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    k : int
        Number of top items, at least 1. It is the divisor even if the list is shorter.
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
        Has no effect: the measure is defined for every list.
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes, or
        with ``convention`` applies the threshold of that system.
    convention : {"paper", "xgboost", "catboost", "trec_eval", "ranx", "letor"}, default=None
        System whose value to reproduce, with its rules for ties and for lists shorter than k. A
        conflicting parameter raises an error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1]; higher is better.

    Raises
    ------
    ValueError
        If an argument is invalid or conflicts with ``convention``.
    TypeError
        If ``k`` is not a whole number.

    See Also
    --------
    recall_at_k_score : Divides by the number of positives instead of k.
    precision_at_top_score : Precision in a share of the list.

    Notes
    -----
    For grades pass ``rel``. The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import precision_at_k_score
    >>> precision_at_k_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], k=3)
    0.6666666666666666

    Two items, one of them positive, are tied at the second position:

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
    """Recall at k: share of the positives that are among the first k items.

    ``Rec@k = (number of positives among the first k items) / (number of positives)``. Ties are
    averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    k : int
        Number of top items, at least 1.
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
        How a list without positives counts: "skip" leaves it out of the mean (its own value is
        NaN), "raise" raises an error, a number is its value. None is "skip", or with
        ``convention`` the rule of that system.
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes, or
        with ``convention`` applies the threshold of that system.
    n_relevant : int, array-like or mapping, default=None
        Number of relevant items of each list, including those that are not among the rows. Pass a
        number for one list; else one number per row, equal for all rows of a list, or a mapping
        from the ids of the lists. None assumes that the rows contain all relevant items.
    ideal : array-like or mapping, default=None
        Relevances of all relevant items of each list, an alternative to ``n_relevant``; those of
        at least ``rel`` count. Pass an array for one list; else a mapping from the ids of the
        lists, or in two dimensions one array per row.
    convention : {"paper", "catboost", "trec_eval", "ranx"}, default=None
        System whose value to reproduce, with its rules for ties and for lists without positives. A
        conflicting parameter raises an error. trec_eval and ranx count relevant items that were
        not retrieved: if the rows lack some, pass ``ideal`` or ``n_relevant``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Recall in [0, 1]; higher is better.

    Raises
    ------
    ValueError
        If an argument is invalid or conflicts with ``convention``, or if a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``k`` is not a whole number.

    Warns
    -----
    UndefinedMetricWarning
        If lists are undefined; one warning with their number.

    See Also
    --------
    precision_at_k_score : Divides by k instead of the number of positives.

    Notes
    -----
    For grades pass ``rel``. The time is O(n log n), the memory O(n).

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
