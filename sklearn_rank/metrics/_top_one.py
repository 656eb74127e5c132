"""Top-1 accuracy: whether the first item of a list has the highest relevance."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from .._lists import Lists, ScoredLists
from .._typing import FloatArray
from ._measure import Average, Measure, Undefined, Value
from ._positional_form import PositionalForm, cut_after


@dataclass(frozen=True, kw_only=True, repr=False)
class TopOneMeasure(Measure):
    """Whether the item on top has the highest relevance of its list; see ``top_1_score``."""

    kind = "graded"
    per_query = True
    lowest = -inf
    lacking = "items of one relevance only"
    weights = "relative"
    function = "top_1_score"
    stem = "top1"
    from_ranges = "sum"

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    @property
    def positional(self) -> PositionalForm:
        """One for each item of the highest relevance, at the first position."""
        return PositionalForm(_best_utilities, lambda n: cut_after(np.ones(n), 1), largest=1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Share of the best items in the topmost block of each list."""
        best = _best_utilities(lists)
        on_top = lists.score == lists.to_items(lists.largest(lists.score))
        counts = np.where(on_top, lists.counts, 0.0)
        return np.asarray(lists.totals(counts * best) / lists.totals(counts))


def _best_utilities(lists: Lists) -> FloatArray:
    """One for each item of the highest relevance, else 0; NaN in lists of one relevance."""
    highest, lowest = lists.largest(lists.grade), -lists.largest(-lists.grade)
    best = (lists.grade == lists.to_items(highest)).astype(np.float64)
    return np.where(lists.to_items(highest == lowest), np.nan, best)


def top_1_score(
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
) -> Value:
    """Top-1 accuracy: share of the lists whose first item has the highest relevance.

    The value of a list is 1 if the first item by score has the highest relevance of the list, else
    0. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite. In two dimensions each row is a list, and NaN is a missing
        item.
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
        How a list counts if all its items have one relevance: "skip" leaves it out of the mean
        (its own value is NaN), "raise" raises an error, a number is its value. None is "skip".
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class that has relevance 1, if ``y_true`` holds labels of two classes. None expects
        relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Value in [0, 1]; higher is better.

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
    success_at_k_score : Whether a relevant item is among the first k; equal for two classes and
        k=1.
    ndcg_score : With k=1, items of lower relevance count in part.
    sklearn.metrics.accuracy_score : Equal if the items are classes and one of them is correct.

    Notes
    -----
    If several scores are tied for the first position, the value is the share of these items that
    have the highest relevance. If all items of a list have one relevance, any order has a best
    item first, so the measure is undefined. Time and memory are O(n).

    Examples
    --------
    >>> from sklearn_rank.metrics import top_1_score
    >>> top_1_score([2, 1, 0, 0], [0.8, 0.9, 0.1, 0.2])
    0.0

    In the second row two labels are tied for the first position, and one of them is the best:

    >>> top_1_score([[2, 1, 0], [2, 1, 0]], [[3, 1, 2], [1, 1, 0]], average=None)
    array([1. , 0.5])
    """
    return TopOneMeasure(undefined=undefined)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )
