"""Coverage: the position of the last positive of a list."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Unpack

import numpy as np

from .._lists import ScoredLists
from .._typing import FloatArray
from ._functions import BinaryOptions, evaluate, function_of
from ._measure import Measure, Value


@dataclass(frozen=True, kw_only=True, repr=False)
class CoverageMeasure(Measure):
    """Position of the last positive; see ``coverage_loss``."""

    per_query = True
    range = (1.0, inf)
    greater_is_better = False
    weights = "whole"
    lacking = "no positive"
    stem = "coverage"
    from_ranges = "sum"

    def values(self, lists: ScoredLists) -> FloatArray:
        """Mean position of the last positive of each list."""
        blocks = lists.blocks()
        # They come list by list, those of a list from its bottom.
        list_of = np.zeros(len(blocks.of_class), dtype=np.intp)
        if blocks.list_of is not None:
            list_of = blocks.list_of
        bottom = np.flatnonzero(np.diff(list_of, prepend=-1))
        some, positive, other = list_of[bottom], blocks.of_class[bottom], blocks.of_other[bottom]
        above = blocks.total[some] - blocks.below[bottom] - positive - other
        values = np.full(lists.n_lists, np.nan)
        values[some] = above + positive * ((positive + other + 1.0) / (positive + 1.0))
        return values


@function_of(CoverageMeasure)
def coverage_loss(y_true: Any, y_score: Any, **options: Unpack[BinaryOptions]) -> Value:
    """Coverage: position of the last positive, the depth at which all positives are found.

    ``Coverage = max over positives of their position``, 1 being the top. Ties are averaged over
    all orders of the tied items.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Position, from the number of positives to the length of the list; lower is better.

    See Also
    --------
    reciprocal_rank_score : Depends on the position of the first positive.
    recall_at_k_score : Share of the positives among the first k items.
    sklearn.metrics.coverage_error : Puts the last positive at the end of its block of ties.

    Notes
    -----
    If the lowest block of ties with positives holds ``a`` of them and ``b`` other items after N
    items, the mean position of the last positive is ``N + a (a + b + 1) / (a + 1)``.
    scikit-learn's ``coverage_error`` puts it at the end of the block, ``N + a + b``, and counts 0
    for a list without positives, as ``undefined=0`` does here. The two are equal if the lowest
    positive is not tied with a negative. Weights are repetitions and must be whole numbers. The
    time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Tsoumakas, Katakis & Vlahavas (2010), *Mining multi-label data*, in Data Mining and
       Knowledge Discovery Handbook, Springer.

    Examples
    --------
    >>> from sklearn_rank.metrics import coverage_loss
    >>> coverage_loss([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    3.0

    One of three tied items is positive; its position is 2, 3 or 4:

    >>> coverage_loss([1, 0, 1, 0], [4.0, 3.0, 3.0, 3.0])
    3.0
    """
    return evaluate(CoverageMeasure, y_true, y_score, **options)
