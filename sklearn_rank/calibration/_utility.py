"""Utilities of items for a measure."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import check_lists
from .._typing import FloatArray
from .._validation import ravelled
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._positional import positional_form, utilities_of, warn_if_not_positional

__all__ = ["utility"]


def utility(
    measure: MeasureLike,
    y_true: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    undefined: str | float | None = None,
    pos_label: Any = None,
) -> FloatArray:
    """Compute the utilities u(y) of items for a measure ``b(y) + sum_i phi(i) u_(i)(y)``.

    Here u_(i) is the utility of the item at position i, and phi(i) the discount. An
    order-preserving loss of these utilities and scores is calibrated for the measure.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        "dcg" and "ndcg" (``2**y - 1``, divided by the ideal DCG for "ndcg"), with or without a
        cutoff as in ``"ndcg@10"``; ``"precision@5"`` (y / 5); ``"recall@20"`` (y divided by the
        number of positives); "auc" (y divided by the number of pairs of the two classes);
        "spearman" (``12 (n - r) / (n (n**2 - 1))``, where r is the position by relevance);
        ``"rbp@0.8"`` (0.2 y divided by the greatest of all y). "ap" and "err" do not have this
        form; they give y and ``(2**y - 1) / 2**max(y)``, with a warning.
    y_true : array-like of shape (n_samples,)
        Relevance of the items, or labels of two classes for measures of two classes.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, in any order. None treats all items as one list.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights: number of times each item counts. For "ndcg" their scale affects the
        ideal order: lists need a total of more than 1 on average.
    undefined : {"skip", "raise"}, float or None, default=None
        Treatment of lists for which the measure is undefined: "skip" gives NaN for all of their
        items, "raise" raises an error, and a number gives utilities of 0. None is the default of
        the measure: 0 for "ndcg" and "ap", "skip" for others.
    pos_label : int, float, bool or str, default=None
        The positive class, if ``y_true`` contains labels of two classes.

    Returns
    -------
    ndarray of shape (n_samples,)
        Utilities, at least 0; NaN for items of weight 0 and of lists that are skipped.

    Raises
    ------
    ValueError
        If the measure defines no utilities, an argument is not valid, or the measure is undefined
        for a list and ``undefined="raise"``.

    Warns
    -----
    CalibrationWarning
        For "ap" and "err", for which no order-preserving loss is calibrated if the labels of a
        list are dependent.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93,
       Definition 2.1 and Table 1.

    Examples
    --------
    >>> from sklearn_rank.calibration import utility
    >>> utility("dcg", [0, 1, 2])
    array([0., 1., 3.])
    >>> utility("recall@5", [1, 0, 1, 0, 1], qid=["a", "a", "b", "b", "b"])
    array([1. , 0. , 0.5, 0. , 0.5])
    """
    found, _ = positional_form(measure)
    if undefined is not None:
        found = get_measure(found, undefined=undefined)
    warn_if_not_positional(found)
    y_true = ravelled(y_true, "y_true")
    if np.ndim(y_true) != 1:
        raise ValueError(
            f"y_true has {np.ndim(y_true)} dimensions, but must have one: concatenate the items "
            "of all lists, and pass qid, the id of the list of each item."
        )
    lists = check_lists(
        y_true,
        found.label_type(pos_label),
        qid=qid,
        sample_weight=sample_weight,
    )
    return lists.to_rows(utilities_of(found, lists), len(y_true))
