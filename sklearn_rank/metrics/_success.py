"""Success at k: whether a positive is among the first k items."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from .._arguments import check_position
from .._lists import ScoredLists
from .._typing import FloatArray
from ._at_k import relevant_of
from ._conventions import RANX, TREC_EVAL
from ._functions import RelevantOptions, evaluate, function_of
from ._measure import ConventionalMeasure, Value
from ._named_numbers import NamedNumber, position
from ._stopping import NEGLIGIBLE, padded


@dataclass(frozen=True, kw_only=True, repr=False)
class SuccessMeasure(ConventionalMeasure):
    """Whether a positive is among the first k items; see ``success_at_k_score``."""

    per_query = True
    range = (0.0, 1.0)
    weights = "whole"
    lacking = "no positive"
    stem = "success@"
    in_name = NamedNumber("k", position, "10")
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    conventions = MappingProxyType({"trec_eval": TREC_EVAL, "ranx": RANX})

    k: int  # Number of top items, at least 1

    def __post_init__(self) -> None:
        check_position("k", self.k)
        super().__post_init__()

    def values(self, lists: ScoredLists) -> FloatArray:
        """Chance of a positive among the first k of each list."""
        blocks = self.rules.ordered(lists, lists.positive).blocks()
        values = np.where(relevant_of(lists, blocks) > 0, 0.0, np.nan)
        some = np.flatnonzero(blocks.n_class)
        if len(some) == 0:
            return values
        # Above the topmost block that holds a positive there is none.
        top = blocks.top[some]
        size = blocks.of_class[top] + blocks.of_other[top]
        above = blocks.total[some] - blocks.below[top] - size
        taken = np.clip(self.k - above, 0.0, size)
        values[some] = 1.0 - _none_of(blocks.of_class[top], taken, size)
        return values


@function_of(SuccessMeasure)
def success_at_k_score(
    y_true: Any, y_score: Any, *, k: int, **options: Unpack[RelevantOptions]
) -> Value:
    """Success at k (hit rate): share of the lists with a positive among the first k items.

    ``Success@k = 1`` if one of the first k items is positive, else 0. Ties are averaged over all
    orders of the tied items.

    Parameters
    ----------
    k : int
        Number of top items, at least 1.
    convention
        System whose value to reproduce, with its rules for ties and for lists without positives. A
        conflicting parameter raises an error. Both count relevant items that were not retrieved:
        if the rows lack some, pass ``ideal`` or ``n_relevant``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Value in [0, 1]; higher is better.

    See Also
    --------
    recall_at_k_score : Share of the positives among the first k items.
    reciprocal_rank_score : Depends on the position of the first positive.

    Notes
    -----
    If the first block of ties with a positive has ``L`` items, ``a`` of them positive, and ``t``
    of its items are among the first k, then ``Success@k = 1 - C(L - a, t) / C(L, t)``. Weights are
    repetitions and must be whole numbers. The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Manning, Raghavan & Schütze (2008), *Introduction to Information Retrieval*, Cambridge
       University Press, Chapter 8.

    Examples
    --------
    >>> from sklearn_rank.metrics import success_at_k_score
    >>> success_at_k_score([0, 1, 0, 1], [4.0, 3.0, 2.0, 1.0], k=1)
    0.0
    >>> success_at_k_score([0, 1, 0, 1], [4.0, 3.0, 2.0, 1.0], k=2)
    1.0

    Three items are tied for the first position, and two of them are positive:

    >>> success_at_k_score([1, 1, 0], [0.0, 0.0, 0.0], k=1)
    0.6666666666666666
    """
    return evaluate(SuccessMeasure, y_true, y_score, k=k, **options)


def _none_of(positive: FloatArray, taken: FloatArray, size: FloatArray) -> FloatArray:
    """Chance that none of the positives is among those taken of as many items.

    ``C(size - positive, taken) / C(size, taken)`` is the product of ``1 - more / (size - i)`` over
    i < fewer, the numbers of positives and of those taken in either role.
    """
    fewer, more = np.minimum(positive, taken), np.maximum(positive, taken)
    chance = np.where(fewer > 0, 0.0, 1.0)
    # The first t factors are at most exp(-t more / size) together, and there are at most fewer.
    with np.errstate(divide="ignore"):
        terms = np.minimum(fewer, np.ceil(NEGLIGIBLE * size / more)).astype(np.intp)
    many = np.flatnonzero(fewer)
    for which, _, real in padded(many, terms[many]):
        rows = many[which]
        left = size[rows, np.newaxis] - np.arange(real.shape[1])
        factor = 1.0 - more[rows, np.newaxis] / np.maximum(left, 1.0)
        chance[rows] = np.prod(np.where(real, np.maximum(factor, 0.0), 1.0), axis=1)
    return chance
