"""The Gini coefficient of an order of two classes: the AUC, from -1 to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from .._lists import ScoredLists
from .._typing import FloatArray
from ._auc import AUCMeasure
from ._functions import BinaryOptions, evaluate, function_of
from ._influence import ClassInfluence
from ._measure import Measure, Value

_AUC = AUCMeasure()


@dataclass(frozen=True, kw_only=True, repr=False)
class GiniMeasure(Measure):
    """Twice the area under the ROC curve, less 1; see ``gini_score``."""

    lacking = _AUC.lacking
    weights = "relative"
    range = (-1.0, 1.0)
    stem = "gini"
    from_ranges = "sum"

    def values(self, lists: ScoredLists) -> FloatArray:
        """Coefficient of each list."""
        return 2.0 * _AUC.values(lists) - 1.0

    def influence(self, lists: ScoredLists) -> ClassInfluence:
        """Compute the influence of each item of one list on the coefficient."""
        return _AUC.influence(lists).scaled(0.5, 0.5, copy=False)


@function_of(GiniMeasure)
def gini_score(y_true: Any, y_score: Any, **options: Unpack[BinaryOptions]) -> Value:
    """Gini coefficient of credit scoring (accuracy ratio, Somers' D): twice the AUC minus 1.

    ``Gini = P(s of a positive > s of a negative) - P(s of a positive < s of a negative)
    = 2 AUC - 1``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Coefficient in [-1, 1]; 0 for a random order; higher is better.

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
    return evaluate(GiniMeasure, y_true, y_score, **options)
