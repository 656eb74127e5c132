"""Labels into utilities, through which a loss becomes that of a measure."""

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
    """Find the utilities u(y) of items for a measure ``b(y) + sum_i phi(i) u_(i)(y)``.

    Here u_(i) is that of the item at position i. A loss of utilities and scores becomes a loss for
    the measure when it is given these: order-preserving losses are calibrated with it.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        "dcg" and "ndcg" (``2**y - 1``, divided by the ideal DCG for the latter), with or
        without a last position as in "ndcg@10"; "precision@5" (y / 5), "recall@20" (y by the
        number of positives), "auc" (y by the number of pairs of two classes), "spearman"
        (``12 (n - r) / (n (n**2 - 1))``, r the position by relevance), "rbp@0.8" (0.2 y by the
        highest of all y). For "ap" and "err", which have no such form, y and
        ``(2**y - 1) / 2**max(y)``, with a warning.
    y_true : array-like of shape (n_samples,)
        Relevance of the items, or labels of two classes for the measures of these.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights: how many times each item counts. For the ideal order of "ndcg" their
        scale matters: each list needs at least 1 in all.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list is for which the measure is undefined: NaN for all of its items, an error, or
        for a number, which no order changes, utilities of 0. None is the default of the measure:
        0 for "ndcg" and "ap", "skip" for others.
    pos_label : int, float, bool or str, default=None
        The positive class, where ``y_true`` holds labels of two classes.

    Returns
    -------
    ndarray of shape (n_samples,)
        Utilities, at least 0; NaN for items of weight 0 and of lists that are skipped.

    Raises
    ------
    ValueError
        If the measure gives no utilities, an argument is not valid, or a list is undefined and
        ``undefined="raise"``.

    Warns
    -----
    CalibrationWarning
        For "ap" and "err": no order-preserving loss is calibrated with them where the labels of a
        list depend on each other.

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
            f"y_true has {np.ndim(y_true)} dimensions, but must have one: pass the items of all"
            " lists one after another, and qid, the id of the list of each."
        )
    lists = check_lists(
        y_true,
        found.label_type(pos_label),
        qid=qid,
        sample_weight=sample_weight,
    )
    return lists.to_rows(utilities_of(found, lists), len(y_true))
