"""Success: whether a positive is among the first k."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from .._arguments import check_position
from .._lists import ScoredLists
from .._typing import FloatArray
from ._at_k_measures import relevant_of
from ._conventions import RANX, TREC_EVAL, Convention
from ._measure import Average, ConventionalMeasure, Undefined, Value
from ._stopping import NEGLIGIBLE, padded

__all__ = ["SuccessMeasure", "success_at_k_score"]


@dataclass(frozen=True, kw_only=True, repr=False)
class SuccessMeasure(ConventionalMeasure):
    """Whether a positive is among the first k items; see ``success_at_k_score``.

    Parameters
    ----------
    k : int
        Number of items, at least 1.
    """

    per_query = True
    weights = "whole"
    lacking = "no positive"
    function = "success_at_k_score"
    stem = "success@"
    in_name = "k"
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    conventions = MappingProxyType({"trec_eval": TREC_EVAL, "ranx": RANX})

    k: int

    def __post_init__(self) -> None:
        check_position("k", self.k)
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

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


def success_at_k_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
    n_relevant: Any = None,
    ideal: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Share of the lists with a positive among the first k items: the hit rate.

    ``Success@k = 1`` if one of the first k items is positive, else 0; the mean is over all orders
    of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int
        Number of items, at least 1.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        How many times each item counts, in whole numbers. Their scale is part of the value: weight
        2 is the item twice.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list without positives counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes, or
        with ``convention`` the grades that are relevant to the system.
    n_relevant : int, array-like or mapping, default=None
        Number of relevant items of each list, those included that are not among the rows: of one
        list a number; else one per row, the same for all items of a list, or a mapping from the
        ids of the lists. None takes all relevant items to be among the rows.
    ideal : array-like or mapping, default=None
        The same by the relevances of all relevant items of each list, of which those from ``rel``
        on count: of one list an array; else a mapping from the ids of the lists, or in two
        dimensions one array per row.
    convention : {"trec_eval", "ranx"}, default=None
        System whose number to give: its rules for ties and lists without positives; a parameter
        that says otherwise is refused. Both count relevant items that were not retrieved: pass
        ``ideal`` or ``n_relevant`` where the rows lack some.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Share in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If an argument is not valid, or a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``k`` is not a whole number.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    recall_at_k_score : The share of the positives that is there.
    reciprocal_rank_score : How far down the first positive stands.

    Notes
    -----
    Of the topmost tied block that holds positives, ``a`` among ``L`` items, the first k places
    take ``t``, and ``Success@k = 1 - C(L - a, t) / C(L, t)``. Weights are repetitions, and others
    than whole numbers are refused. O(n log n) time, O(n) memory.

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

    Any of three items may stand first, and two of them are positive:

    >>> success_at_k_score([1, 1, 0], [0.0, 0.0, 0.0], k=1)
    0.6666666666666666
    """
    return SuccessMeasure(k=k, undefined=undefined, rel=rel, convention=convention)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
        n_relevant=n_relevant,
        ideal=ideal,
    )
