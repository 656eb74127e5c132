"""Positional measures: gains of the items, discounted by their positions."""

from __future__ import annotations

from typing import Any

from ._conventions import Convention
from ._discounted import Discount, Gain
from ._measure import Average, Undefined, Value
from ._positional_measures import DCGMeasure, NDCGMeasure, PositionalMeasure


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
    """Generalised positional measure: sum of gains with any gain and any discount function.

    ``sum over positions i <= k of gain(y at i) * discount(i)``, i = 1 at the top. Ties are
    averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0. In two dimensions each row is a list, and
        NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    gain : {"exponential", "linear"} or callable
        ``2**y - 1``, ``y``, or a function from the array of relevances to the array of gains.
    discount : {"logarithmic", "linear"} or callable
        ``1 / log2(1 + i)``, ``n - i``, or a function of two arrays, the positions i and the
        lengths n of their lists, that returns an array.
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
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
        Class that has relevance 1, if ``y_true`` holds labels of two classes. None expects
        relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The measure; more is better for discounts that decrease.

    Raises
    ------
    ValueError
        If a gain or discount is not finite, a gain is negative, or an argument is invalid.

    See Also
    --------
    dcg_score : Uses the logarithmic discount.
    linear_rank_score : For two classes and functions of the rank from the bottom.

    Notes
    -----
    DCG, precision and recall at k, the AUC and Spearman's correlation have the form
    ``b + positional_score``, where b depends on the labels only. Average precision and the
    expected reciprocal rank do not. Real weights take fractions of positions; n is then the weight
    of the list. The time is O(n log n), the memory O(n).

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

    Your own discount, as in rank-biased precision:

    >>> positional_score(
    ...     [1, 0, 1], [3.0, 2.0, 1.0], gain="linear", discount=lambda i, n: 0.5**i
    ... )
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
    """Discounted cumulative gain (DCG).

    ``DCG@k = sum over positions i <= k of gain(y at i) / log(1 + i)``, the logarithm to base
    ``log_base``. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0. In two dimensions each row is a list, and
        NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
    gain : {"exponential", "linear"}, callable or None, default=None
        ``2**y - 1``, ``y``, or a function from the array of relevances to the array of gains, each
        at least 0. None is "exponential"; scikit-learn uses "linear".
    log_base : float, default=2.0
        Base of the logarithm, greater than 1.
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
        Class that has relevance 1, if ``y_true`` holds labels of two classes. None expects
        relevances.
    convention : {"paper", "sklearn", "catboost"}, default=None
        System whose value to reproduce, with its gain and its rule for ties. A conflicting
        parameter raises an error, except ``gain`` for CatBoost, whose users choose it.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The gain, at least 0; higher is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, an argument is invalid or conflicts
        with ``convention``, or relevances in two dimensions go beyond 0 and 1 without a ``gain``.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    ndcg_score : DCG divided by that of the best order.
    sklearn.metrics.dcg_score : One list per row, linear gain; equal with ``gain="linear"``.

    Notes
    -----
    Each tied item gets the mean discount of the positions of its block. An item of real weight w
    takes the positions from P to P + w, with fractions of a position counted in proportion. The
    time is O(n log n), the memory O(n).

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
    """Normalised discounted cumulative gain (NDCG).

    ``NDCG@k = DCG@k(y, s) / DCG@k(y, y)``, the DCG divided by that of the best order. Ties are
    averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0. In two dimensions each row is a list, and
        NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
    gain : {"exponential", "linear"}, callable or None, default=None
        ``2**y - 1``, ``y``, or a function from the array of relevances to the array of gains, each
        at least 0. None is "exponential"; scikit-learn uses "linear".
    log_base : float, default=2.0
        Base of the logarithm, greater than 1; it does not change the value.
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
        How a list without gains counts: "skip" leaves it out of the mean (its own value is NaN),
        "raise" raises an error, a number is its value. None is 0, or with ``convention`` the value
        of that system.
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class that has relevance 1, if ``y_true`` holds labels of two classes. None expects
        relevances.
    ideal : array-like or mapping, default=None
        Relevances of all relevant items of each list, including those that are not among the rows.
        Pass an array for one list; else a mapping from the ids of the lists, or in two dimensions
        one array per row. None assumes that the rows contain all relevant items.
    convention : {"paper", "sklearn", "xgboost", "lightgbm", "catboost", "trec_eval", "gdeval", \
            "ranx", "letor"}, default=None
        System whose value to reproduce, with its gain, discount, rules for ties and for lists
        without gains. A conflicting parameter raises an error, except ``gain`` for CatBoost and
        ranx, whose users choose it. trec_eval, gdeval and ranx count relevant items that were not
        retrieved: if the rows lack some, pass ``ideal``. As in XGBoost and LightGBM, their lists
        without gains have the ``query_weight`` 1. The guide "Other systems" lists the rules.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Value in [0, 1]; higher is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, an argument is invalid or conflicts
        with ``convention``, relevances in two dimensions go beyond 0 and 1 without a ``gain``, or
        a list is undefined and ``undefined="raise"``.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        If lists are undefined; one warning with their number.

    See Also
    --------
    dcg_score : The gain without normalisation.
    sklearn.metrics.ndcg_score : One list per row, linear gain; equal with ``gain="linear"``.

    Notes
    -----
    Each tied item gets the mean discount of the positions of its block. A list without gains
    counts 0 as in scikit-learn; XGBoost and LightGBM count 1. The time is O(n log n), the memory
    O(n).

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

    >>> qid = [1, 1, 2, 2]
    >>> ndcg_score([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=qid, average=None).round(4)
    array([1.    , 0.6309])

    The value of LightGBM, which breaks ties by the order of the rows:

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
