"""Measures with a model of a reader: average precision, reciprocal rank, ERR and RBP."""

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
    """Average precision: mean of the precision at the positions of the positives.

    ``AP@k = 1/m sum over positives at positions i <= k of (positives down to i) / i``, ``m`` the
    number of positives. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
    normalize : {"positives", "reachable", "found"} or None, default=None
        The divisor. "positives" is the number m of positives, as in trec_eval; ``n_relevant`` and
        ``ideal`` add those that are not among the rows. "reachable" is ``min(k, m)``, the most
        positives that k positions can hold, so that the best order has the value 1. "found" is the
        number of positives among the first k, as in torchmetrics; a single positive at the first
        position then gives 1. None is "positives".
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative whole weights, read as repetitions: weight 2 counts an item twice. The scale
        changes the value. With ``convention="sklearn"``, any weights, by their proportions.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        How a list without positives counts: "skip" leaves it out of the mean (its own value is
        NaN), "raise" raises an error, a number is its value. None is 0, or with ``convention`` the
        rule of that system.
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
    convention : {"paper", "sklearn", "xgboost", "lightgbm", "catboost", "trec_eval", "ranx", \
            "letor"}, default=None
        System whose value to reproduce, with its rules for ties, lists without positives and m. A
        conflicting parameter raises an error. trec_eval and ranx count relevant items that were
        not retrieved: if the rows lack some, pass ``ideal`` or ``n_relevant``. The guide "Other
        systems" lists the rules.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Average precision in [0, 1]; higher is better.

    Raises
    ------
    ValueError
        If a weight is not a whole number, unless ``convention="sklearn"``, an argument is invalid
        or conflicts with ``convention``, or a list is undefined and ``undefined="raise"``.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        If lists are undefined; one warning with their number.

    See Also
    --------
    sklearn.metrics.average_precision_score : Equal without ties; evaluates a block of ties at its
        end, which is neither the mean nor a bound.
    precision_at_k_score : Precision at one position.
    reciprocal_rank_score : Depends on the first positive only.

    Notes
    -----
    In a block of ``a`` positives among ``L`` tied items, after ``p`` positives among ``N`` items,
    the mean is a sum of ``a/L (p + 1 + (j-1)(a-1)/(L-1)) / (N+j)`` over j = 1..L, which has a
    closed form in sums of reciprocals. With ``k`` the sum ends at j = k - N. With
    ``normalize="found"`` it is a mean over the hypergeometric number of positives found there, and
    0 if none is found. Weights must be whole numbers, because precision counts items.
    Two-dimensional labels raise an error, because scikit-learn takes their columns as classes.
    Without ``k`` the influence of single items is known, which gives intervals and tests for one
    list. In simulations 95 % intervals of :func:`sklearn_rank.inference.metric_interval` covered
    .93 and more, from 10 positives on, with .01 to .5 of the items positive. The scores were
    shifted normal, t3, log-normal and Cauchy, and mixtures in which a few positives or a few
    negatives were above all others. The time is O(n log n), the memory O(n).

    Examples
    --------
    >>> from sklearn_rank.metrics import average_precision_score
    >>> average_precision_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.8333333333333333

    A constant score gets the mean over all orders:

    >>> average_precision_score([1, 0], [0.0, 0.0])
    0.75

    Three positives, with ``k=1``:

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
    """Reciprocal rank: one over the position of the first positive (mean: MRR).

    ``RR@k = 1 / i`` for the position i of the first positive if i <= k, else 0. Ties are averaged
    over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
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
    convention : {"catboost", "trec_eval", "ranx"}, default=None
        System whose value to reproduce, with its rules for ties and for lists without positives. A
        conflicting parameter raises an error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Reciprocal rank in [0, 1]; higher is better. The mean over the lists is the MRR.

    Raises
    ------
    ValueError
        If an argument is invalid or conflicts with ``convention``, or if a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        If lists are undefined; one warning with their number.

    See Also
    --------
    average_precision_score : Depends on the positions of all positives.
    expected_reciprocal_rank_score : For grades; the reader may go on after a relevant item.

    Notes
    -----
    In a block of L tied items, a of them positive, after N negatives, the first positive is the
    j-th with probability ``binom(L - j, a - 1) / binom(L, a)``. The time is O(n log n), the
    memory O(n).

    Examples
    --------
    >>> from sklearn_rank.metrics import reciprocal_rank_score
    >>> reciprocal_rank_score([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5

    A constant score gets the mean over all orders, (1 + 1/2) / 2:

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
    """Expected reciprocal rank (ERR): mean of 1 / position of the item that satisfies a reader.

    ``ERR@k = sum over positions i <= k of P_i / i * prod over j < i of (1 - P_j)``, where an item
    of relevance y satisfies the reader with probability ``P = (2**y - 1) / 2**max_grade``. Ties
    are averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0. In two dimensions each row is a list, and
        NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
    max_grade : float or None, default=None
        Highest grade of the scale, at least the highest in ``y_true``. None takes the highest in
        ``y_true`` over all lists; values of data sets or folds are then not comparable if these
        maxima differ.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        Has no effect: the measure is defined for every list, and 0 for a list without relevance.
        With ``convention="gdeval"`` lists without a relevant item are undefined and left out.
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class that has relevance 1, if ``y_true`` holds labels of two classes. None expects
        relevances.
    ideal : array-like or mapping, default=None
        Relevances of all relevant items of each list, including those that are not among the rows.
        With ``convention="gdeval"`` they decide which lists have a relevant item; otherwise they
        have no effect.
    convention : {"gdeval"}, default=None
        System whose value to reproduce: 4 is the highest grade, a list without a relevant item is
        left out, and items of different relevance must not tie. A conflicting parameter raises an
        error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Expected reciprocal rank in [0, 1); higher is better.

    Raises
    ------
    ValueError
        If a relevance is negative, not finite or above ``max_grade``, or an argument is invalid.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    reciprocal_rank_score : For two classes; the first positive satisfies the reader.
    rank_biased_precision_score : The reader stops independently of relevance.

    Notes
    -----
    The value does not depend on the order of the rows. Blocks of up to 1024 tied items take time
    quadratic in their length; longer blocks are integrated to about 1e-13 in linear time. If ``k``
    cuts a block of thousands of items with few relevant ones, the time is quadratic in ``k`` for
    each grade. Otherwise the time is O(n log n); the memory is O(n).

    References
    ----------
    .. [1] Chapelle, Metzler, Zhang & Grinspan (2009), *Expected reciprocal rank for graded
       relevance*, CIKM.

    Examples
    --------
    >>> from sklearn_rank.metrics import expected_reciprocal_rank_score
    >>> expected_reciprocal_rank_score([2, 0, 1], [3.0, 2.0, 1.0], max_grade=2)
    0.7708333333333334

    On a scale up to 4 the same grades have a lower value:

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
    """Rank-biased precision (RBP): relevance with geometrically decreasing weights.

    ``RBP = (1 - p) sum over positions i <= k of (y at i) / max_grade * p**(i - 1)``, p the
    persistence. The weights model a reader who goes on to the next item with probability p. Ties
    are averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0. In two dimensions each row is a list, and
        NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    persistence : float, default=0.8
        Probability p that the reader goes on to the next item, in (0, 1). A greater value looks
        deeper: the first ten items have the share ``1 - p**10`` of the weight, .89 by default.
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
    max_grade : float or None, default=None
        Relevance that counts 1, at least the highest in ``y_true``. None takes the highest in
        ``y_true`` over all lists; values of data sets or folds are then not comparable if these
        maxima differ.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        Has no effect: the measure is defined for every list, and 0 for a list without relevance.
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class that has relevance 1, if ``y_true`` holds labels of two classes. None expects
        relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1); higher is better.

    Raises
    ------
    ValueError
        If a relevance is negative, not finite or above ``max_grade``, or an argument is invalid.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    positional_score : Takes any gain and any discount.
    expected_reciprocal_rank_score : The reader stops at an item that satisfies.

    Notes
    -----
    As in the paper the value is not divided by that of the best order: n relevant items have
    ``1 - p**n``, and positions beyond the end of the list count as not relevant. The time is O(n
    log n), the memory O(n).

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
