"""Precision and recall among the first k."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from .._blocks import ClassBlocks
from .._typing import FloatArray
from ._conventions import SKIP, Convention, rules_of
from ._lists import Average, Summary, Undefined, Value, binary_lists

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
    undefined: Undefined = SKIP,
    return_qid: bool = False,
    pos_label: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Share of positives among the first k items.

    ``Prec@k = (number of positives among the first k items) / k``; the mean is over all orders of
    tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int
        Number of items, at least 1. It divides even where the list is shorter.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default="skip"
        Of no effect: the measure is defined for every list.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    convention : {"paper", "xgboost", "trec_eval", "letor"}, default=None
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
    _check_k(k)
    rules = rules_of(
        "precision_at_k_score", convention, undefined=undefined, sample_weight=sample_weight
    )
    summary = Summary("precision_at_k_score", average, rules.undefined, return_qid)
    lists = binary_lists(
        rules.labels(y_true, pos_label),
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    blocks = rules.ordered(lists, lists.positive).blocks()
    found = positives_in_top(blocks, np.full(len(blocks.n_class), float(k)))
    divisor = np.minimum(lists.sizes, k) if rules.divides_by_length else k
    return summary.of(found / divisor, lists, "no value")


def recall_at_k_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = SKIP,
    return_qid: bool = False,
    pos_label: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Share of the positives that are among the first k items.

    ``Rec@k = (number of positives among the first k items) / (number of positives)``; the mean is
    over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int
        Number of items, at least 1.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default="skip"
        What a list without positives counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    convention : {"paper", "trec_eval"}, default=None
        System whose number to give: its rules for ties and for lists without positives; a
        parameter that says otherwise is refused.

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
    _check_k(k)
    rules = rules_of(
        "recall_at_k_score", convention, undefined=undefined, sample_weight=sample_weight
    )
    summary = Summary("recall_at_k_score", average, rules.undefined, return_qid)
    lists = binary_lists(
        rules.labels(y_true, pos_label),
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    blocks = rules.ordered(lists, lists.positive).blocks()
    found = positives_in_top(blocks, np.full(len(blocks.n_class), float(k)))
    with np.errstate(invalid="ignore"):
        return summary.of(found / blocks.n_class, lists, "no positive")


def positives_in_top(blocks: ClassBlocks, mass: FloatArray) -> FloatArray:
    """Mean weight of the positives in the top of each list, over all orders of tied items.

    Parameters
    ----------
    blocks : ClassBlocks
        Blocks that hold positives.
    mass : ndarray of shape (n_lists,)
        Weight of the top.

    Returns
    -------
    ndarray of shape (n_lists,)
        At most the weight of the top and that of the positives.
    """
    size = blocks.of_class + blocks.of_other
    above = blocks.by_block(blocks.total) - blocks.below - size
    share = np.clip((blocks.by_block(mass) - above) / size, 0.0, 1.0)
    return np.minimum(blocks.sums(blocks.of_class * share), np.minimum(mass, blocks.n_class))


def _check_k(k: Any) -> None:
    if not isinstance(k, Integral) or isinstance(k, bool):
        raise TypeError(f"k={k!r} must be a whole number: a position.")
    if k < 1:
        raise ValueError(f"k={k!r} must be at least 1.")
