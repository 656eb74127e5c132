"""Conditional linear rank statistics: sums over the positives of a function of their ranks."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ._conventions import Convention
from ._linear_rank_measures import (
    AUCMeasure,
    BEDROCMeasure,
    LinearRankMeasure,
    LocalAUCMeasure,
    Normalize,
    PNormPushMeasure,
    RIEMeasure,
    Ties,
)
from ._measure import Average, Measure, Undefined, Value
from ._multi_class import MultiClassAUCMeasure
from ._score_generating import Phi

__all__ = [
    "bedroc_score",
    "linear_rank_score",
    "local_auc_score",
    "p_norm_push_score",
    "rie_score",
    "roc_auc_score",
]


def linear_rank_score(
    y_true: Any,
    y_score: Any,
    *,
    phi: Phi,
    ties: Ties = "average",
    normalize: Normalize = "minmax",
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Conditional linear rank statistic: how high the positives rank, in the eyes of phi.

    ``W = sum over positives of phi(R / (n + 1))``, R the rank among all n items, n at the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    phi : ScoreGeneratingFunction, str or callable
        Nondecreasing function on (0, 1): an object such as :class:`LocalAUC`, "wilcoxon",
        "van_der_waerden", or a function from an array to an array.
    ties : {"average", "mid", "max"}, default="average"
        Tied items share the mean of phi over their ranks, which is the mean over all orders; or
        count phi at their middle rank; or at their highest, as in the paper's definition.
    normalize : {"mean", "minmax"} or None, default="minmax"
        Place between the worst and the best order, 0 and 1; mean over the positives; the sum.
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
        What a list without positives, or with "minmax" of one class or where no place counts,
        counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The statistic; more is better.

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
    roc_auc_score : ``phi(u) = u``.
    local_auc_score : The top of the list only.
    positional_score : Graded relevance, and discounts of the position from the top.

    Notes
    -----
    With ``normalize="minmax"`` and tied items the value may leave [0, 1] unless
    ``ties="average"``. A real weight w takes w ranks, parts of a rank by their share. O(n log n)
    time and O(n) memory; one unweighted list costs one sort of values, and phi at the ranks of
    the positives.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Definition 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import Exponential, linear_rank_score
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> round(linear_rank_score(y_true, y_score, phi="wilcoxon"), 4)
    0.75
    >>> round(linear_rank_score(y_true, y_score, phi="wilcoxon", normalize="mean"), 4)
    0.6
    >>> round(linear_rank_score(y_true, y_score, phi=Exponential(5.0), normalize="minmax"), 4)
    0.8034

    One value per list:

    >>> linear_rank_score([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=["a", "a", "b", "b"],
    ...                   phi=lambda u: u**2, normalize="minmax", average=None)
    array([1., 0.])
    """
    return LinearRankMeasure(
        phi=phi, ties=ties, normalize=normalize, undefined=undefined, rel=rel
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


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    multi_class: Literal["ovr", "ovo"] | None = None,
    class_average: Literal["macro", "weighted"] = "macro",
    labels: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Area under the ROC curve: share of the pairs of a positive and a negative in order.

    ``AUC = P(s of a positive > s of a negative) + P(equal) / 2``. With ``multi_class``, c classes
    and A(a | b) the AUC of class a against class b by the scores of class a: the mean of A(a | not
    a) over the classes (one against the rest), or of ``(A(a | b) + A(b | a)) / 2`` over the pairs
    (one against one), which is the M of Hand and Till.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or with ``multi_class`` of two and more.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused. With
        ``multi_class`` one column for each class; they need not be probabilities.
    multi_class : {"ovr", "ovo"} or None, default=None
        Each class against the rest, each against each, or None: two classes.
    class_average : {"macro", "weighted"}, default="macro"
        With ``multi_class``: the plain mean over the classes or pairs, or that weighted by the
        share of the items that are of the class, or of either class of the pair.
    labels : array-like of shape (n_classes,), default=None
        With ``multi_class``: the class of each column; None is those that occur, ascending.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts. Only their proportions matter.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list of one class, or with ``multi_class`` one that lacks a class, counts: nothing
        (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Area in [0, 1]; 1/2 for a random order; more is better.

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
    sklearn.metrics.roc_auc_score : Equal where both have a value; here one call takes many lists.
    local_auc_score : The top of the list only.
    partial_auc_score : A part of the ROC curve only.

    Notes
    -----
    Labels in two dimensions are refused: scikit-learn takes the columns as classes. A pair weighs
    the product of its weights. One against the rest depends on how frequent the classes are, also
    with the plain mean; one against one does not. O(n log n) time, and O(n) memory: for
    one unweighted list less than that of the arguments where scores are doubles, at most four
    times it where labels and scores take few bytes. With c classes c times the time.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Equation 4.
    .. [2] Hand & Till (2001), *A simple generalisation of the area under the ROC curve for
       multiple class classification problems*, Machine Learning 45.

    Examples
    --------
    >>> from sklearn_rank.metrics import roc_auc_score
    >>> roc_auc_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.75
    >>> roc_auc_score([1, 0, 0, 1], [2.0, 1.0, 5.0, 5.0], qid=[7, 7, 3, 3], average=None)
    array([0.5, 1. ])

    Three classes, one column of scores for each:

    >>> y_score = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5], [0.4, 0.5, 0.1]]
    >>> round(roc_auc_score(["a", "b", "c", "a"], y_score, multi_class="ovo"), 4)
    0.9167
    """
    return _auc_measure(y_true, y_score, multi_class, class_average, labels, undefined, rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def _auc_measure(
    y_true: Any,
    y_score: Any,
    multi_class: Any,
    class_average: Any,
    labels: Any,
    undefined: Undefined | None,
    rel: float | None,
) -> Measure:
    """The measure of two classes, or of more."""
    if multi_class is not None:
        return MultiClassAUCMeasure(
            multi_class=multi_class,
            class_average=class_average,
            labels=labels,
            undefined=undefined,
            rel=rel,
        )
    if labels is not None or class_average != "macro":
        raise ValueError(
            "labels= and class_average= are for scores of more than two classes: pass"
            " multi_class='ovr' or 'ovo' too, or leave them out."
        )
    if _has_columns(y_true, y_score):
        raise ValueError(
            f"y_score has shape {np.shape(y_score)}, one column for each class: pass"
            " multi_class='ovr' or 'ovo', or the column of the positive class."
        )
    return AUCMeasure(undefined=undefined, rel=rel)


def _has_columns(y_true: Any, y_score: Any) -> bool:
    try:
        return np.ndim(y_score) == 2 and np.shape(y_score)[1] > 1 and np.ndim(y_true) == 1
    except ValueError:  # rows of different lengths, which the measure refuses
        return False


def local_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    u0: float,
    normalize: Normalize = "minmax",
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Local AUC: the rank statistic of the positives in the top ``1 - u0`` of the list.

    ``W = sum over positives of u 1{u >= u0}`` at ``u = R / (n + 1)``, R the rank, n at the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    u0 : float
        Share of the list that does not count, in [0, 1); 0 is the AUC.
    normalize : {"mean", "minmax"} or None, default="minmax"
        Place between the worst and the best order, 0 and 1; mean over the positives; the sum.
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
        What a list of one class, or without a place that counts, counts: nothing (alone it is
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
        The statistic; more is better.

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
    linear_rank_score : With ``phi=LocalAUC(u0)`` the same.
    partial_auc_score : Cuts the ROC curve at a false positive rate instead.

    Notes
    -----
    The cut is a share of all items; that of the partial AUC is one of the negatives. O(n log n)
    time, O(n) memory.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Section 2.

    Examples
    --------
    >>> from sklearn_rank.metrics import local_auc_score
    >>> round(local_auc_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], u0=0.5), 4)
    0.5714
    """
    return LocalAUCMeasure(u0=u0, normalize=normalize, undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def p_norm_push_score(
    y_true: Any,
    y_score: Any,
    *,
    p: float,
    normalize: Normalize = "minmax",
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Rank statistic of the p-norm push: the p-th powers of the ranks of the positives.

    ``W = sum over positives of (R / (n + 1))**p``, R the rank among all n items, n at the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    p : float
        Exponent, positive; 1 is the AUC, and the larger, the more the top counts.
    normalize : {"mean", "minmax"} or None, default="minmax"
        Place between the worst and the best order, 0 and 1; mean over the positives; the sum.
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
        The statistic; more is better.

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
    linear_rank_score : With ``phi=Power(p)`` the same.
    negative_height_loss : Rudin's criterion, of the negatives that stand high.

    Notes
    -----
    O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Section 2.

    Examples
    --------
    >>> from sklearn_rank.metrics import p_norm_push_score
    >>> round(p_norm_push_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], p=2), 4)
    0.75
    """
    return PNormPushMeasure(p=p, normalize=normalize, undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def bedroc_score(
    y_true: Any,
    y_score: Any,
    *,
    alpha: float = 20.0,
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
    """Boltzmann-enhanced discrimination of the ROC curve: early recognition from 0 to 1.

    The mean over the positives of ``exp(-alpha i / n)``, i the position from the top among n
    items, as its place between the worst and the best order.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    alpha : float, default=20
        Rate, positive: about the top ``1 / alpha`` of the list counts.
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
        What a list of one class counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.
    convention : {"rdkit"}, default=None
        System whose number to give: tied items in the order of the rows, a list without
        positives 0, one without negatives 1; a parameter that says otherwise is refused.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Place in [0, 1]; more is better.

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
    rie_score : As a ratio to the mean of a random order.
    linear_rank_score : ``phi=Exponential(alpha)`` has ``n + 1`` in place of n.

    Notes
    -----
    RDKit's value is this one without ties; with ties it depends on the order of the rows.
    O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Truchon & Bayly (2007), *Evaluating virtual screening methods*, Journal of Chemical
       Information and Modeling 47, Equation 36.

    Examples
    --------
    >>> from sklearn_rank.metrics import bedroc_score
    >>> round(bedroc_score([1, 0, 1, 0, 0, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], alpha=5.0), 4)
    0.8224
    """
    return BEDROCMeasure(alpha=alpha, undefined=undefined, rel=rel, convention=convention)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def rie_score(
    y_true: Any,
    y_score: Any,
    *,
    alpha: float = 20.0,
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
    """Robust initial enhancement: early recognition as a ratio to a random order.

    The mean over the positives of ``exp(-alpha i / n)``, i the position from the top among n
    items, over the mean of that over all items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    alpha : float, default=20
        Rate, positive: about the top ``1 / alpha`` of the list counts.
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
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.
    convention : {"rdkit"}, default=None
        System whose number to give: tied items in the order of the rows, a list without
        positives 0; a parameter that says otherwise is refused.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Ratio, at least 0; 1 for a random order; more is better.

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
    bedroc_score : From 0 to 1.

    Notes
    -----
    O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Sheridan, Singh, Fluder & Kearsley (2001), *Protocols for bridging the peptide to
       nonpeptide gap in topological similarity searches*, Journal of Chemical Information and
       Computer Sciences 41.

    Examples
    --------
    >>> from sklearn_rank.metrics import rie_score
    >>> round(rie_score([1, 0, 1, 0, 0, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], alpha=5.0), 4)
    2.0303
    """
    return RIEMeasure(alpha=alpha, undefined=undefined, rel=rel, convention=convention)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )
