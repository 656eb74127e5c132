"""Positional measures: gains of the items, discounted by their positions."""

from __future__ import annotations

from typing import Any

from ._conventions import Convention
from ._discounted import Discount, Gain
from ._measure import Average, Undefined, Value
from ._positional_measures import DCGMeasure, NDCGMeasure, PositionalMeasure

__all__ = ["dcg_score", "ndcg_score", "positional_score"]


def positional_score(
    y_true: Any,
    y_score: Any,
    *,
    gain: Gain,
    discount: Discount,
    k: int | None = None,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
) -> Value:
    """Generalised positional performance measure: any gain, discounted by any function.

    ``sum over positions i <= k of gain(y at i) * discount(i)``, i = 1 at the top; the mean is
    over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row, where
        NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    gain : {"exponential", "linear"} or callable
        ``2**y - 1``, ``y``, or a function from the array of relevances to that of gains.
    discount : {"logarithmic", "linear"} or callable
        ``1 / log2(1 + i)``, ``n - i``, or a function of two arrays, the positions and the lengths
        n of their lists, to an array.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
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
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The measure; more is better for discounts that decrease.

    Raises
    ------
    ValueError
        If a gain or discount is not finite, a gain is negative, or an argument is not valid.

    See Also
    --------
    dcg_score : The logarithmic discount.
    linear_rank_score : Two classes, and functions of the rank from the bottom.

    Notes
    -----
    With ``b + positional_score`` for an offset b of the labels, DCG, precision and recall at k,
    the AUC and Spearman's correlation are all of this form; average precision and the expected
    reciprocal rank are not. Real weights occupy parts of positions; n is then the weight of the
    list. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Definition 2.1
       and Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import positional_score
    >>> positional_score([2, 1, 0], [1.0, 3.0, 2.0], gain="linear", discount="linear")
    2.0

    A discount of one's own, as in rank-biased precision:

    >>> positional_score([1, 0, 1], [3.0, 2.0, 1.0], gain="linear",
    ...                  discount=lambda i, n: 0.5**i)
    0.625
    """
    return PositionalMeasure(gain=gain, discount=discount, k=k, undefined=undefined)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def dcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    gain: Gain | None = None,
    log_base: float = 2.0,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Discounted cumulative gain of a list.

    ``DCG@k = sum over positions i <= k of gain(y at i) / log(1 + i)``, the logarithm to
    ``log_base``; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row, where
        NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    gain : {"exponential", "linear"}, callable or None, default=None
        ``2**y - 1``, ``y``, or a function from the array of relevances to that of gains, each at
        least 0. None is "exponential"; scikit-learn's is "linear".
    log_base : float, default=2.0
        Base of the logarithm, greater than 1.
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
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.
    convention : {"paper", "sklearn", "catboost"}, default=None
        System whose number to give: its gain and rule for ties; a parameter that says otherwise
        is refused, but for the gain of CatBoost, which its users choose.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The gain, at least 0; more is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, an argument is not valid or conflicts
        with ``convention``, or relevances in two dimensions go beyond 0 and 1 without a ``gain``.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    ndcg_score : As a share of the best order.
    sklearn.metrics.dcg_score : One list per row, linear gain; equal with ``gain="linear"``.

    Notes
    -----
    Tied items share the mean discount of the positions that they take. A real weight w takes the
    positions from P to P + w, parts of a position by their share. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import dcg_score
    >>> round(dcg_score([2, 1, 0], [3.0, 2.0, 1.0]), 4)
    3.6309
    >>> dcg_score([2, 1, 0], [3.0, 2.0, 1.0], k=1, gain="linear")
    2.0
    """
    return DCGMeasure(
        k=k, gain=gain, log_base=log_base, undefined=undefined, convention=convention
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


def ndcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    gain: Gain | None = None,
    log_base: float = 2.0,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    ideal: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Discounted cumulative gain as a share of that of the best order.

    ``NDCG@k = DCG@k(y, s) / DCG@k(y, y)``; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row, where
        NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    gain : {"exponential", "linear"}, callable or None, default=None
        ``2**y - 1``, ``y``, or a function from the array of relevances to that of gains, each at
        least 0. None is "exponential"; scikit-learn's is "linear".
    log_base : float, default=2.0
        Base of the logarithm, greater than 1; it cancels.
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
        What a list in which no item has a gain counts: nothing (alone it is NaN), an error, or
        this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.
    ideal : array-like or mapping, default=None
        Relevances of all relevant items of each list, those included that are not among the rows:
        of one list an array; else a mapping from the ids of the lists, or in two dimensions one
        array per row. None takes all relevant items to be among the rows.
    convention : {"paper", "sklearn", "xgboost", "lightgbm", "catboost", "trec_eval", "gdeval", \
            "ranx", "letor"}, default=None
        System whose number to give: its gain, discount, rules for ties and for lists without
        gains; a parameter that says otherwise is refused, but for the gain of CatBoost and ranx,
        which their users choose. trec_eval, gdeval and ranx know relevant items that were not
        retrieved: pass ``ideal`` where the rows lack some. Lists without gains count as of
        ``query_weight`` 1 in XGBoost and LightGBM, and so here. The guide "Other systems" has the
        table.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Share in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, an argument is not valid or conflicts
        with ``convention``, relevances in two dimensions go beyond 0 and 1 without a ``gain``, or
        a list is undefined and ``undefined="raise"``.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    dcg_score : Not normalised.
    sklearn.metrics.ndcg_score : One list per row, linear gain; equal with ``gain="linear"``.

    Notes
    -----
    Tied items share the mean discount of the positions that they take. A list without gains
    counts 0 as in scikit-learn; XGBoost and LightGBM count 1. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import ndcg_score
    >>> ndcg_score([2, 1, 0], [3.0, 2.0, 1.0])
    1.0
    >>> round(ndcg_score([2, 1, 0], [0.0, 0.0, 0.0]), 4)
    0.7825

    Two lists, one value for each:

    >>> ndcg_score([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=[1, 1, 2, 2], average=None).round(4)
    array([1.    , 0.6309])

    What LightGBM reports, which breaks ties by the order of the rows:

    >>> round(ndcg_score([2, 1, 0], [0.0, 0.0, 0.0], convention="lightgbm"), 4)
    1.0
    """
    return NDCGMeasure(
        k=k, gain=gain, log_base=log_base, undefined=undefined, convention=convention
    )(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
        ideal=ideal,
    )
