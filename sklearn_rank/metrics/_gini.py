"""The Gini coefficient of an order of two classes: the AUC, from -1 to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._lists import ScoredLists
from .._typing import FloatArray
from ._influence import ClassInfluence
from ._linear_rank_measures import AUCMeasure
from ._measure import Average, Measure, Undefined, Value

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
        """Compute the influence of each item of one list on the coefficient."""
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
    """Gini coefficient of credit scoring (accuracy ratio, Somers' D): twice the AUC minus 1.

    ``Gini = P(s of a positive > s of a negative) - P(s of a positive < s of a negative)
    = 2 AUC - 1``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes. In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
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
        Coefficient in [-1, 1]; 0 for a random order; higher is better.

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
    roc_auc_score : The AUC; a limit L for it gives the limit 2 L - 1 for the coefficient.
    kolmogorov_smirnov_score : Another common measure of credit scoring.

    Notes
    -----
    The coefficient is the accuracy ratio of the cumulative accuracy profile: the area between
    profile and diagonal, divided by that of the best order. It is not the Gini coefficient of
    incomes. The time is O(n log n), the memory O(n).

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
