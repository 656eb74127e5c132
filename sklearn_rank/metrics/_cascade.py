"""Measures of a reader who goes down the list and stops somewhere."""

from __future__ import annotations

from typing import Any, Literal

from ._cascade_measures import (
    AveragePrecisionMeasure,
    ExpectedReciprocalRankMeasure,
    RankBiasedPrecisionMeasure,
    ReciprocalRankMeasure,
)
from ._conventions import Convention
from ._measure import Average, Undefined, Value

__all__ = [
    "average_precision_score",
    "expected_reciprocal_rank_score",
    "rank_biased_precision_score",
    "reciprocal_rank_score",
]


def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    normalize: Literal["positives", "reachable", "found"] | None = None,
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
    """Mean, over the positives, of the precision at their positions.

    ``AP@k = 1/m sum over positives at positions i <= k of (positives down to i) / i``, ``m`` the
    number of positives; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    normalize : {"positives", "reachable", "found"} or None, default=None
        What divides: the number m of positives, as in trec_eval, with ``n_relevant`` or
        ``ideal`` those that are not among the rows included; ``min(k, m)``, the number that k
        places can hold, with which the best order has the value 1; or the number that they do
        hold, as in torchmetrics, with which one positive, in the first place, has the value 1
        however many are missed. None is "positives".
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
    convention : {"paper", "sklearn", "xgboost", "lightgbm", "catboost", "trec_eval", "ranx", \
            "letor"}, default=None
        System whose number to give: its rules for ties, lists without positives and m; a
        parameter that says otherwise is refused. trec_eval and ranx count relevant items that
        were not retrieved: pass ``ideal`` or ``n_relevant`` where the rows lack some. The guide
        "Other systems" has the table.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Average precision in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If a weight is not a whole number, an argument is not valid or conflicts with
        ``convention``, or a list is undefined and ``undefined="raise"``.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    sklearn.metrics.average_precision_score : Equal without ties; counts every tied block at its
        end, which is neither the mean nor a bound in general.
    precision_at_k_score : The precision at one place.
    reciprocal_rank_score : The first positive alone.

    Notes
    -----
    In a block of ``a`` positives among ``L`` tied items, after ``p`` positives among ``N`` items,
    the mean is a sum of ``a/L (p + 1 + (j-1)(a-1)/(L-1)) / (N+j)`` over j = 1..L, and a sum of
    reciprocals in closed form; with ``k`` it ends at j = k - N, and with ``normalize="found"`` it
    is a mean over the hypergeometric number of positives found there, 0 where none is found at
    all. Precision counts items, so that
    only whole-number weights, which are repetitions, have a meaning. Two dimensions are refused:
    scikit-learn takes the columns as classes. Without ``k`` the influence of single items is
    known, so that one list has intervals and tests: 95 % intervals of
    :func:`sklearn_rank.inference.metric_interval` covered .93 and more, from 10 positives of .5 to
    .01 of the items on, of shifted normal, t3, log-normal and Cauchy scores and of mixtures where
    a few positives, or a few negatives, stand above all others. O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import average_precision_score
    >>> average_precision_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.8333333333333333

    A constant score is worth its mean over all orders:

    >>> average_precision_score([1, 0], [0.0, 0.0])
    0.75

    Three positives, of which the first place holds one:

    >>> average_precision_score([1, 1, 1], [3.0, 2.0, 1.0], k=1)
    0.3333333333333333
    >>> average_precision_score([1, 1, 1], [3.0, 2.0, 1.0], k=1, normalize="reachable")
    1.0
    """
    return AveragePrecisionMeasure(
        k=k, normalize=normalize, undefined=undefined, rel=rel, convention=convention
    )(
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


def reciprocal_rank_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    qid: Any = None,
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
    """One over the position of the first positive.

    ``RR@k = 1 / i`` for the position i of the first positive if i <= k, else 0; the mean is over
    all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
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
    convention : {"catboost", "trec_eval", "ranx"}, default=None
        System whose number to give: its rules for ties and lists without positives; a parameter
        that says otherwise is refused.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Reciprocal rank in [0, 1]; more is better. The mean over lists is the MRR.

    Raises
    ------
    ValueError
        If an argument is not valid or conflicts with ``convention``, or a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    average_precision_score : All positives.
    expected_reciprocal_rank_score : Grades; the reader may go on after a relevant item.

    Notes
    -----
    Of L tied items, a of them positive, after N negatives, the first positive is the j-th with
    chance ``binom(L - j, a - 1) / binom(L, a)``. The mean of 1 / i is not 1 over the mean of i.
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import reciprocal_rank_score
    >>> reciprocal_rank_score([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5

    A constant score is worth its mean over all orders, (1 + 1/2) / 2:

    >>> reciprocal_rank_score([0, 1], [0.0, 0.0])
    0.75
    """
    return ReciprocalRankMeasure(k=k, undefined=undefined, rel=rel, convention=convention)(
        y_true,
        y_score,
        qid=qid,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
        n_relevant=n_relevant,
        ideal=ideal,
    )


def expected_reciprocal_rank_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    max_grade: float | None = None,
    qid: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    ideal: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Mean of 1 / position of the item that satisfies a reader who goes down the list.

    ``ERR@k = sum over positions i <= k of P_i / i * prod over j < i of (1 - P_j)``, where an item
    of relevance y satisfies with chance ``P = (2**y - 1) / 2**max_grade``; the mean is over all
    orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row, where
        NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    max_grade : float or None, default=None
        Highest grade of the scale, at least the highest of ``y_true``. None takes the highest of
        ``y_true``, over all lists: a fold or a data set without it then has another measure.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        Of no effect: the measure is defined for every list, and 0 without relevance. Only with
        ``convention="gdeval"`` lists without a relevant item are undefined, and left out.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.
    ideal : array-like or mapping, default=None
        Relevances of all relevant items of each list, those included that are not among the rows,
        which with ``convention="gdeval"`` tell the lists that have one; of no effect else.
    convention : {"gdeval"}, default=None
        System whose number to give: 4 is the highest grade, a list without a relevant item is
        left out, and items of different relevance must not tie; a parameter that says otherwise
        is refused.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Expected reciprocal rank in [0, 1); more is better.

    Raises
    ------
    ValueError
        If a relevance is negative, not finite or above ``max_grade``, or an argument is not valid.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    reciprocal_rank_score : Two classes; the first positive satisfies.
    rank_biased_precision_score : The reader stops without regard to what he sees.

    Notes
    -----
    The same number for every order of the rows, where a recursion over the list gives one of the
    tied orders. Blocks of up to 1024 tied items take the square of their length, longer ones
    are integrated to about 1e-13 in time linear in their length; only where a block of thousands,
    few of them relevant, is cut by ``k`` does it take the square of ``k`` for each grade. Else
    O(n log n) time; O(n) memory.

    References
    ----------
    .. [1] Chapelle, Metzler, Zhang & Grinspan (2009), *Expected reciprocal rank for graded
       relevance*, CIKM.

    Examples
    --------
    >>> from sklearn_rank.metrics import expected_reciprocal_rank_score
    >>> expected_reciprocal_rank_score([2, 0, 1], [3.0, 2.0, 1.0], max_grade=2)
    0.7708333333333334

    On a scale up to 4 the same grades satisfy fewer readers:

    >>> expected_reciprocal_rank_score([2, 0, 1], [3.0, 2.0, 1.0], max_grade=4)
    0.20442708333333334
    """
    return ExpectedReciprocalRankMeasure(
        k=k, max_grade=max_grade, undefined=undefined, convention=convention
    )(
        y_true,
        y_score,
        qid=qid,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
        ideal=ideal,
    )


def rank_biased_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    persistence: float = 0.8,
    k: int | None = None,
    max_grade: float | None = None,
    qid: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
) -> Value:
    """Relevance seen per item, by a reader who goes on to the next with a fixed chance.

    ``RBP = (1 - p) sum over positions i <= k of (y at i) / max_grade * p**(i - 1)``, p the
    persistence; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row, where
        NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    persistence : float, default=0.8
        Chance p that the reader goes on, in (0, 1): of all that is seen, the first ten items have
        the share ``1 - p**10``, .89 by default.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    max_grade : float or None, default=None
        Relevance that counts 1, at least the highest of ``y_true``. None takes the highest of
        ``y_true``, over all lists: a fold or a data set without it then has another measure.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        Of no effect: the measure is defined for every list, and 0 without relevance.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1); more is better.

    Raises
    ------
    ValueError
        If a relevance is negative, not finite or above ``max_grade``, or an argument is not valid.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    positional_score : Any discount.
    expected_reciprocal_rank_score : The reader stops at what satisfies.

    Notes
    -----
    As in the paper nothing is divided by what the list could reach: n items that are all relevant
    have ``1 - p**n``, and what lies beyond the end counts as not relevant. O(n log n) time, O(n)
    memory.

    References
    ----------
    .. [1] Moffat & Zobel (2008), *Rank-biased precision for measurement of retrieval
       effectiveness*, ACM Transactions on Information Systems 27(1).

    Examples
    --------
    >>> from sklearn_rank.metrics import rank_biased_precision_score
    >>> rank_biased_precision_score([1, 0, 1], [3.0, 2.0, 1.0], persistence=0.5)
    0.625

    The best order of a short list does not reach 1:

    >>> rank_biased_precision_score([1, 1, 1], [3.0, 2.0, 1.0], persistence=0.5)
    0.875
    """
    return RankBiasedPrecisionMeasure(
        persistence=persistence, k=k, max_grade=max_grade, undefined=undefined
    )(
        y_true,
        y_score,
        qid=qid,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )
