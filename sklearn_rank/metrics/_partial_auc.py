"""Parts of the ROC curve, and how high the negatives stand.

Neither is a function of the pooled ranks of the positives.
"""

from __future__ import annotations

from typing import Any, Literal

from ._conventions import Convention
from ._measure import Average, Undefined, Value
from ._partial_auc_measures import NegativeHeightMeasure, PartialAUCMeasure

__all__ = ["negative_height_loss", "partial_auc_score"]


def partial_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    scale: Literal["raw", "mcclish", "normalized"] = "raw",
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
    """Partial area under the ROC curve, one- or two-way.

    ``A = integral over f from 0 to max_fpr of max(TPR(f) - min_tpr, 0)``; the mean is over all
    orders of tied items, for each of which the curve is a step function.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    max_fpr : float, default=1
        Largest false positive rate that counts, in (0, 1].
    min_tpr : float, default=0
        Smallest true positive rate that counts, in [0, 1).
    scale : {"raw", "mcclish", "normalized"}, default="raw"
        The area A itself; ``(1 + (A - c) / (top - c)) / 2``, where ``top`` is the area of a
        perfect order and c that under the diagonal; or ``A / top``.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole numbers are repetitions; of others only the proportions matter.
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
    convention : {"proc"}, default=None
        System whose number to give: pROC's curve is a straight line over each block of tied
        items, and a list of one class is an error; with ``scale="mcclish"`` it is scikit-learn's
        too.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Area: in [0, max_fpr (1 - min_tpr)] if raw, in [0, 1] if normalized; on McClish's scale
        1/2 for a random order, 1 at best, and below 1/2 for an order worse than random.

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
    sklearn.metrics.roc_auc_score : Its ``max_fpr`` is McClish's scale; equal without ties.
    local_auc_score : Cuts at a share of all items instead.

    Notes
    -----
    Where the limits cut a block of tied items, the mean over its orders is not the area under the
    diagonal of the block: with one positive, two negatives and ``max_fpr=1/2`` it is 1/3, not
    1/4. Non-whole weights are the limit of ever finer repetitions, for which it is the diagonal.
    O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] McClish (1989), *Analyzing a portion of the ROC curve*, Medical Decision Making 9.
    .. [2] Yang, Lu, Lyu & Hu (2019), *Two-way partial AUC and its properties*, Statistical
       Methods in Medical Research 28.

    Examples
    --------
    >>> from sklearn_rank.metrics import partial_auc_score
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> partial_auc_score(y_true, y_score, max_fpr=0.5)
    0.25
    >>> partial_auc_score(y_true, y_score, max_fpr=0.5, scale="normalized")
    0.5
    >>> partial_auc_score(y_true, y_score, min_tpr=0.5)
    0.25
    """
    return PartialAUCMeasure(
        max_fpr=max_fpr,
        min_tpr=min_tpr,
        scale=scale,
        undefined=undefined,
        rel=rel,
        convention=convention,
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


def negative_height_loss(
    y_true: Any,
    y_score: Any,
    *,
    p: float,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Height of the negatives in the list, the highest first: the loss of Rudin's p-norm push.

    ``(mean over negatives of (h / k)**p)**(1/p)``, h the number of the k positives below the
    negative; the mean over all orders of tied items is inside the root.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    p : float
        Norm, from 1, one less the AUC, to infinity, the share of positives below the highest
        negative (infinite push).
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole numbers are repetitions; of others only the proportions matter.
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
        Loss in [0, 1]; less is better.

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
    p_norm_push_score : Powers of the pooled ranks of the positives.
    positives_at_top_score : The positives above the highest negative.

    Notes
    -----
    Rudin counts all positives tied with a negative as below it; the mean over the orders counts
    half of them at p = 1. At p = infinity a block of a positives and b negatives on top has the
    mean ``a b / (b + 1)``. Non-whole weights are the limit of ever finer repetitions. O(n log n)
    time, O(n) memory.

    References
    ----------
    .. [1] Rudin (2009), *The P-Norm Push: a simple convex ranking algorithm that concentrates at
       the top of the list*, JMLR 10.

    Examples
    --------
    >>> from sklearn_rank.metrics import negative_height_loss
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> negative_height_loss(y_true, y_score, p=1)
    0.25
    >>> negative_height_loss(y_true, y_score, p=float("inf"))
    0.5
    """
    return NegativeHeightMeasure(p=p, undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )
