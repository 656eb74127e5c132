"""Whether the item on top is one of the best."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from .._lists import Lists, ScoredLists
from .._typing import FloatArray
from ._measure import Average, Measure, Undefined, Value
from ._positional_form import PositionalForm, cut_after

__all__ = ["TopOneMeasure", "top_1_score"]


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
    """Share of the lists on top of which stands one of their best items.

    It is 1 for a list whose item on top, by score, has the highest relevance that occurs in the
    list, else 0; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite; in two dimensions one list per row, where NaN is no item.
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
        What a list of one relevance counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Share in [0, 1]; more is better.

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
    success_at_k_score : Whether a relevant item is among the first k; equal for k=1 and two
        classes.
    ndcg_score : With k=1 less good items count in part.
    sklearn.metrics.accuracy_score : Equal where the items are classes and one of them is right.

    Notes
    -----
    Of the topmost block of tied scores it is the share that has the highest relevance. Any item on
    top of a list of one relevance is right, whatever the scores, so that such a list says nothing
    of them and is undefined. O(n) time and memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import top_1_score
    >>> top_1_score([2, 1, 0, 0], [0.8, 0.9, 0.1, 0.2])
    0.0

    Either of two labels may stand on top of the second row, and one of them is the best:

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
