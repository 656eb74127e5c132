"""Top-1 accuracy: whether the first item of a list has the highest relevance."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Unpack

import numpy as np

from .._lists import Lists, ScoredLists
from .._typing import FloatArray
from ._functions import WeightedOptions, evaluate, function_of
from ._measure import Measure, Value
from ._positional_form import PositionalForm, cut_after


@dataclass(frozen=True, kw_only=True, repr=False)
class TopOneMeasure(Measure):
    """Whether the item on top has the highest relevance of its list; see ``top_1_score``."""

    kind = "graded"
    per_query = True
    range = (0.0, 1.0)
    lowest = -inf
    lacking = "items of one relevance only"
    weights = "relative"
    stem = "top1"
    from_ranges = "sum"

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


@function_of(TopOneMeasure)
def top_1_score(y_true: Any, y_score: Any, **options: Unpack[WeightedOptions]) -> Value:
    """Top-1 accuracy: share of the lists whose first item has the highest relevance.

    The value of a list is 1 if the first item by score has the highest relevance of the list, else
    0. Ties are averaged over all orders of the tied items.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Value in [0, 1]; higher is better.

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
    return evaluate(TopOneMeasure, y_true, y_score, **options)


def _best_utilities(lists: Lists) -> FloatArray:
    """One for each item of the highest relevance, else 0; NaN in lists of one relevance."""
    highest, lowest = lists.largest(lists.grade), -lists.largest(-lists.grade)
    best = (lists.grade == lists.to_items(highest)).astype(np.float64)
    return np.where(lists.to_items(highest == lowest), np.nan, best)
