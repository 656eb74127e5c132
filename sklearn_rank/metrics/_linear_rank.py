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
    """Linear rank statistic: sum of a function phi of the ranks of the positives.

    ``W = sum over positives of phi(R / (n + 1))``, R the rank among all n items, n at the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    phi : ScoreGeneratingFunction, str or callable
        Nondecreasing function on (0, 1): an object such as :class:`LocalAUC`, "wilcoxon",
        "van_der_waerden", or a function from an array to an array.
    ties : {"average", "mid", "max"}, default="average"
        Value of tied items: "average" is the mean of phi over their ranks, which is the mean over
        all orders; "mid" is phi at their middle rank; "max" is phi at their highest rank, as in
        the definition of the paper.
    normalize : {"mean", "minmax"} or None, default="minmax"
        "minmax" scales the sum so that the worst order has 0 and the best 1, "mean" divides it by
        the number of positives, None returns the sum.
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
        How a list counts that has no positives, or with "minmax" one class or no rank that counts:
        "skip" leaves it out of the mean (its own value is NaN), "raise" raises an error, a number
        is its value. None is "skip".
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The statistic; higher is better.

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
    roc_auc_score : The statistic with ``phi(u) = u``.
    local_auc_score : Counts the top of the list only.
    positional_score : For graded relevance and discounts of the position from the top.

    Notes
    -----
    With ``normalize="minmax"`` and tied items the value can be outside [0, 1] unless
    ``ties="average"``. An item of real weight w takes w ranks, with fractions of a rank counted in
    proportion. The time is O(n log n), the memory O(n); one unweighted list takes one sort of the
    values, and phi at the ranks of the positives.

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
    >>> round(
    ...     linear_rank_score(
    ...         y_true, y_score, phi=Exponential(5.0), normalize="minmax"
    ...     ),
    ...     4,
    ... )
    0.8034

    One value per list:

    >>> linear_rank_score(
    ...     [1, 0, 0, 1],
    ...     [2.0, 1.0, 2.0, 1.0],
    ...     qid=["a", "a", "b", "b"],
    ...     phi=lambda u: u**2,
    ...     normalize="minmax",
    ...     average=None,
    ... )
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
    """Area under the ROC curve (AUC): share of pairs of a positive and a negative in order.

    ``AUC = P(s of a positive > s of a negative) + P(equal) / 2``. With ``multi_class``, let A(a |
    b) be the AUC of class a against class b by the scores of class a. "ovr" is the mean of A(a |
    not a) over the classes. "ovo" is the mean of ``(A(a | b) + A(b | a)) / 2`` over the pairs of
    classes, the M of Hand and Till.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or with ``multi_class`` of two or more.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not. With
        ``multi_class`` one column for each class; they need not be probabilities.
    multi_class : {"ovr", "ovo"} or None, default=None
        "ovr" compares each class with the rest, "ovo" each pair of classes. None expects two
        classes.
    class_average : {"macro", "weighted"}, default="macro"
        With ``multi_class``: "macro" is the plain mean over the classes or pairs, "weighted"
        weights a class or pair by its share of the items.
    labels : array-like of shape (n_classes,), default=None
        With ``multi_class``: the class of each column. None takes the classes that occur,
        ascending.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights of the items. Only their proportions matter.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {"mean"} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        How a list counts that has one class, or with ``multi_class`` lacks a class: "skip" leaves
        it out of the mean (its own value is NaN), "raise" raises an error, a number is its value.
        None is "skip".
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Area in [0, 1]; 1/2 for a random order; higher is better.

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
    sklearn.metrics.roc_auc_score : Equal if both are defined; takes one list per call.
    local_auc_score : Counts the top of the list only.
    partial_auc_score : Area under a part of the ROC curve.

    Notes
    -----
    Two-dimensional labels raise an error, because scikit-learn takes their columns as classes. The
    weight of a pair is the product of the weights of its items. "ovr" depends on the class
    frequencies, also with "macro"; "ovo" with "macro" does not. The time is O(n log n), times the
    number of classes with ``multi_class``. The memory is O(n): for one unweighted list less than
    that of the arguments if scores are doubles, and at most four times it if labels and scores
    take few bytes.

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
    >>> roc_auc_score(
    ...     [1, 0, 0, 1], [2.0, 1.0, 5.0, 5.0], qid=[7, 7, 3, 3], average=None
    ... )
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
            "labels= and class_average= are for more than two classes: pass multi_class='ovr' or"
            " 'ovo' too, or leave them out."
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
    """Local AUC: rank statistic of the positives in the top ``1 - u0`` of the list.

    ``W = sum over positives of u 1{u >= u0}`` at ``u = R / (n + 1)``, R the rank, n at the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    u0 : float
        Share of the list, from the bottom, that does not count, in [0, 1). 0 is the AUC; a greater
        value concentrates on the top.
    normalize : {"mean", "minmax"} or None, default="minmax"
        "minmax" scales the sum so that the worst order has 0 and the best 1, "mean" divides it by
        the number of positives, None returns the sum.
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
        How a list counts that has one class or no rank that counts: "skip" leaves it out of the
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
        The statistic; higher is better.

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
    linear_rank_score : The same with ``phi=LocalAUC(u0)``.
    partial_auc_score : Cuts the ROC curve at a false positive rate.

    Notes
    -----
    The cut is a share of all items; that of the partial AUC is a share of the negatives. The time
    is O(n log n), the memory O(n).

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
    """P-norm push statistic: sum of the p-th powers of the ranks of the positives.

    ``W = sum over positives of (R / (n + 1))**p``, R the rank among all n items, n at the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    p : float
        Exponent, positive. 1 is the AUC; a greater exponent gives more weight to the top.
    normalize : {"mean", "minmax"} or None, default="minmax"
        "minmax" scales the sum so that the worst order has 0 and the best 1, "mean" divides it by
        the number of positives, None returns the sum.
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
        The statistic; higher is better.

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
    linear_rank_score : The same with ``phi=Power(p)``.
    negative_height_loss : Rudin's criterion, by the heights of the negatives.

    Notes
    -----
    The time is O(n log n), the memory O(n).

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
    """BEDROC: Boltzmann-enhanced discrimination of the ROC curve, in [0, 1].

    The mean over the positives of ``exp(-alpha i / n)``, i the position from the top among n
    items, scaled so that the worst order has 0 and the best order 1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    alpha : float, default=20
        Rate, positive. About the top ``1 / alpha`` of the list counts: a greater rate concentrates
        on the top.
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
        How a list of one class counts: "skip" leaves it out of the mean (its own value is NaN),
        "raise" raises an error, a number is its value. None is "skip", or with ``convention`` the
        rule of that system.
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes.
    convention : {"rdkit"}, default=None
        System whose value to reproduce: tied items stay in the order of the rows, a list without
        positives counts 0, one without negatives 1. A conflicting parameter raises an error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        BEDROC in [0, 1]; higher is better.

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
    rie_score : The same sum as a ratio to its mean for a random order.
    linear_rank_score : With ``phi=Exponential(alpha)``, similar with ``n + 1`` in place of n.

    Notes
    -----
    Without ties the value equals that of RDKit. With ties RDKit depends on the order of the rows.
    The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Truchon & Bayly (2007), *Evaluating virtual screening methods*, Journal of Chemical
       Information and Modeling 47, Equation 36.

    Examples
    --------
    >>> from sklearn_rank.metrics import bedroc_score
    >>> round(
    ...     bedroc_score([1, 0, 1, 0, 0, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], alpha=5.0),
    ...     4,
    ... )
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
    """Robust initial enhancement (RIE): early recognition relative to a random order.

    The mean over the positives of ``exp(-alpha i / n)``, i the position from the top among n
    items, divided by the mean over all items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    alpha : float, default=20
        Rate, positive. About the top ``1 / alpha`` of the list counts: a greater rate concentrates
        on the top.
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
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two classes.
    convention : {"rdkit"}, default=None
        System whose value to reproduce: tied items stay in the order of the rows, and a list
        without positives counts 0. A conflicting parameter raises an error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Ratio, at least 0; 1 for a random order; higher is better.

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
    bedroc_score : The same sum scaled to [0, 1].

    Notes
    -----
    The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Sheridan, Singh, Fluder & Kearsley (2001), *Protocols for bridging the peptide to
       nonpeptide gap in topological similarity searches*, Journal of Chemical Information and
       Computer Sciences 41.

    Examples
    --------
    >>> from sklearn_rank.metrics import rie_score
    >>> round(
    ...     rie_score([1, 0, 1, 0, 0, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], alpha=5.0), 4
    ... )
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
