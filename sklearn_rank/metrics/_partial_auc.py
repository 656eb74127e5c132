"""Partial area under the ROC curve, and the p-norm of the heights of the negatives.

Neither is a function of the pooled ranks of the positives.
"""

from __future__ import annotations

from typing import Any, Literal

from ._conventions import Convention
from ._measure import Average, Undefined, Value
from ._partial_auc_measures import NegativeHeightMeasure, PartialAUCMeasure


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
    """Partial area under the ROC curve (partial AUC), one-way or two-way.

    ``A = integral over f from 0 to max_fpr of max(TPR(f) - min_tpr, 0)``. Ties are averaged over
    all orders of the tied items; for each order the curve is a step function.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    max_fpr : float, default=1
        Largest false positive rate that counts, in (0, 1].
    min_tpr : float, default=0
        Smallest true positive rate that counts, in [0, 1).
    scale : {"raw", "mcclish", "normalized"}, default="raw"
        "raw" is the area A; "mcclish" is ``(1 + (A - c) / (top - c)) / 2``, where ``top`` is the
        area of a perfect order and c that under the diagonal; "normalized" is ``A / top``.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole weights are repetitions. If a weight is not whole, only the
        proportions matter.
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
    convention : {"proc"}, default=None
        System whose value to reproduce: pROC's curve is a straight line over each block of tied
        items, and a list of one class is an error. With ``scale="mcclish"`` the value is that of
        scikit-learn too.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Area: in [0, max_fpr (1 - min_tpr)] if raw, in [0, 1] if normalized; on McClish's scale
        1/2 for a random order, 1 at best, and below 1/2 for an order worse than random.

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
    sklearn.metrics.roc_auc_score : With ``max_fpr`` uses McClish's scale; equal without ties.
    local_auc_score : Cuts at a share of all items.

    Notes
    -----
    If the limits cut a block of tied items, the mean over its orders is not the area under the
    diagonal of the block: with one positive, two negatives and ``max_fpr=1/2`` it is 1/3, not 1/4.
    Weights that are not whole are the limit of finer and finer repetitions, which is the
    diagonal. The time is O(n log n), the memory O(n).

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
    """Loss of Rudin's p-norm push: p-norm of the heights of the negatives.

    ``(mean over negatives of (h / k)**p)**(1/p)``, h the number of the k positives below the
    negative. Ties are averaged over all orders of the tied items, inside the root.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    p : float
        Norm, at least 1. The loss is one minus the AUC at 1, and the share of positives below the
        highest negative at infinity (infinite push). A greater value concentrates on the top.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights. Whole weights are repetitions. If a weight is not whole, only the
        proportions matter.
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
        Loss in [0, 1]; lower is better.

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
    p_norm_push_score : Sum of powers of the pooled ranks of the positives.
    positives_at_top_score : Number of positives above the highest negative.

    Notes
    -----
    Rudin counts all positives tied with a negative as below it; the mean over the orders counts
    half of them at p = 1. At p = infinity a block of a positives and b negatives at the top has
    the mean ``a b / (b + 1)``. Weights that are not whole are the limit of finer and finer
    repetitions. The time is O(n log n), the memory O(n).

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
