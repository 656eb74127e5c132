"""The Gini coefficient of an order of two classes: the AUC, from -1 to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._lists import ScoredLists
from .._typing import FloatArray
from ._influence import ClassInfluence
from ._linear_rank_measures import AUCMeasure
from ._measure import Average, Measure, Undefined, Value

__all__ = ["GiniMeasure", "gini_score"]

_AUC = AUCMeasure()


@dataclass(frozen=True, kw_only=True, repr=False)
class GiniMeasure(Measure):
    """Twice the area under the ROC curve, less 1; see ``gini_score``."""

    lacking = _AUC.lacking
    weights = "relative"
    function = "gini_score"
    stem = "gini"
    from_ranges = "sum"

    @property
    def range(self) -> tuple[float, float]:
        """From -1 to 1."""
        return (-1.0, 1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Coefficient of each list."""
        return 2.0 * _AUC.values(lists) - 1.0

    def influence(self, lists: ScoredLists) -> ClassInfluence:
        """Find how much each item of one list moves the coefficient.

        Parameters
        ----------
        lists : ScoredLists
            One list with items of both classes; weights are whole and count them.

        Returns
        -------
        ClassInfluence
            Twice that of the AUC.
        """
        return _AUC.influence(lists).scaled(0.5, 0.5, copy=False)


def gini_score(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Gini coefficient of an order of two classes, also Somers' D: twice the AUC, less 1.

    ``Gini = P(s of a positive > s of a negative) - P(s of a positive < s of a negative)
    = 2 AUC - 1``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
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
        Coefficient in [-1, 1]; 0 for a random order; more is better.

    Raises
    ------
    ValueError
        If an argument is not valid, or a list is undefined and
        ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    roc_auc_score : From 0 to 1; bounds for it are bounds for the coefficient, doubled less 1.
    kolmogorov_smirnov_score : The other number of credit scoring.

    Notes
    -----
    It is the accuracy ratio of the cumulative accuracy profile, the area between profile and
    diagonal as a share of the best, and not the Gini coefficient of incomes. O(n log n) time, O(n)
    memory.

    References
    ----------
    .. [1] Hand & Till (2001), *A simple generalisation of the area under the ROC curve for
       multiple class classification problems*, Machine Learning 45.

    Examples
    --------
    >>> from sklearn_rank.metrics import gini_score
    >>> gini_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5
    """
    return GiniMeasure(undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )
