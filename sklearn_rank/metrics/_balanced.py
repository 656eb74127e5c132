"""Precision and recall in one number: at as many places as positives, and among the first k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from .._arguments import check_position
from .._lists import Lists, ScoredLists
from .._typing import FloatArray
from ._at_k_measures import positives_in_top, relevant_of
from ._conventions import RANX, TREC_EVAL, Convention
from ._influence import ClassInfluence
from ._influence_of_top import affine_of_recall, recall_influence
from ._measure import Average, ConventionalMeasure, Undefined, Value
from ._positional_form import PositionalForm, cut_after, share_of_total

__all__ = ["F1AtKMeasure", "RPrecisionMeasure", "f1_at_k_score", "r_precision_score"]


@dataclass(frozen=True, kw_only=True, repr=False)
class RPrecisionMeasure(ConventionalMeasure):
    """Precision at as many places as there are positives; see ``r_precision_score``."""

    per_query = True
    lacking = "no positive"
    weights = "relative"
    function = "r_precision_score"
    stem = "r_precision"
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    conventions = MappingProxyType({"trec_eval": TREC_EVAL, "ranx": RANX})

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Precision of each list."""
        blocks = self.rules.ordered(lists, lists.positive).blocks()
        n_relevant = relevant_of(lists, blocks)
        with np.errstate(invalid="ignore"):
            return positives_in_top(blocks, n_relevant) / n_relevant

    @property
    def has_influence(self) -> bool:
        """Not by the rules of another system."""
        return self.convention is None

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Find how much each item of one list moves the precision.

        Parameters
        ----------
        lists : ScoredLists
            One list with items of both classes; weights are whole and count them.

        Returns
        -------
        ClassInfluence or None
            The influence: that of the share of the positives in the top; None with a convention or
            relevant items beyond the list.
        """
        if not self.has_influence or lists.n_relevant is not None:
            return None
        n_pos, n = float(lists.positives[0]), float(lists.sizes[0])
        recall = recall_influence(lists, n_pos, self.name)
        # More positives make a longer top: by the share of positives at its end, over theirs of
        # all, which is what a negative at the bottom adds, over that of the negatives.
        longer = recall.class_ends()[1][0] * n / (n - n_pos)
        return replace(recall, label_slope=recall.label_slope + longer)


@dataclass(frozen=True, kw_only=True, repr=False)
class F1AtKMeasure(ConventionalMeasure):
    """Harmonic mean of precision and recall among the first k items; see ``f1_at_k_score``.

    Parameters
    ----------
    k : int
        Number of items, at least 1.
    """

    per_query = True
    lacking = "no positive"
    function = "f1_at_k_score"
    stem = "f1@"
    in_name = "k"
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    conventions = MappingProxyType({"ranx": RANX})

    k: int

    def __post_init__(self) -> None:
        check_position("k", self.k)
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    @property
    def positional(self) -> PositionalForm:
        """Two over k plus the number of positives for each, at the first k positions."""
        return PositionalForm(
            self._utilities, lambda n: cut_after(np.ones(n), self.k), largest=2.0 / (self.k + 1.0)
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        """F1 of each list."""
        blocks = self.rules.ordered(lists, lists.positive).blocks()
        found = positives_in_top(blocks, np.full(lists.n_lists, float(self.k)))
        n_relevant = relevant_of(lists, blocks)
        return np.where(n_relevant > 0, 2.0 * found / (self.k + n_relevant), np.nan)

    @property
    def has_influence(self) -> bool:
        """Not by the rules of another system."""
        return self.convention is None

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Find how much each item of one list moves the F1.

        Parameters
        ----------
        lists : ScoredLists
            One list with items of both classes; weights are whole and count them.

        Returns
        -------
        ClassInfluence or None
            The influence: that of the share of the positives in the top; None with a convention or
            relevant items beyond the list.
        """
        if not self.has_influence or lists.n_relevant is not None:
            return None
        recall = recall_influence(lists, float(self.k), self.name)
        n_pos, n = float(lists.positives[0]), float(lists.sizes[0])
        both = self.k + n_pos
        slope = 2.0 * n_pos * recall.label_slope + 2.0 * n * self.k / both * recall.estimate
        return affine_of_recall(recall, 0.0, 2.0 * n_pos / both, slope=slope / both)

    def _utilities(self, lists: Lists) -> FloatArray:
        positives = lists.weighted_totals(lists.positive.astype(np.float64))
        return share_of_total(lists, np.where(positives > 0, (self.k + positives) / 2.0, 0.0))


def r_precision_score(
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
    n_relevant: Any = None,
    ideal: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Precision at position R, the number of positives: there precision and recall are equal.

    ``R-Prec = (number of positives among the first R items) / R``; the mean is over all orders of
    tied items.

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
        Precision in [0, 1]; more is better.

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
    precision_at_k_score : At one position for all lists.
    f1_at_k_score : Where precision and recall differ, their harmonic mean.

    Notes
    -----
    It is trec_eval's ``Rprec``, and R counts the positives among the items that are passed. With
    weights R is the weight of the positives. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Buckley & Voorhees (2000), *Evaluating evaluation measure stability*, SIGIR.

    Examples
    --------
    >>> from sklearn_rank.metrics import r_precision_score
    >>> r_precision_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5

    The second place is shared by two items, one of them positive:

    >>> r_precision_score([1, 0, 1, 0], [4.0, 2.0, 2.0, 1.0])
    0.75
    """
    return RPrecisionMeasure(undefined=undefined, rel=rel, convention=convention)(
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


def f1_at_k_score(
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
    """Harmonic mean of precision and recall among the first k items.

    ``F1@k = 2 P R / (P + R) = 2 (number of positives among the first k items) / (k + m)``, m the
    number of positives; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int
        Number of items, at least 1. It counts even where the list is shorter.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts. Their scale is part of the value:
        weight 2 is the item twice, and each list needs at least 1 in all.
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
    convention : {"ranx"}, default=None
        System whose number to give: its rules for ties and lists without positives; a parameter
        that says otherwise is refused. It counts relevant items that were not retrieved: pass
        ``ideal`` or ``n_relevant`` where the rows lack some.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        F1 in [0, 2 min(k, m) / (k + m)]; more is better.

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
    precision_at_k_score : Precision P alone.
    recall_at_k_score : Recall R alone.
    r_precision_score : Where both are equal.
    sklearn.metrics.f1_score : Of labels that are predicted.

    Notes
    -----
    It is linear in the positives that are found, so that the mean over the orders is that of
    precision at k, which no harmonic mean of mean precision and mean recall would need to be. For
    grades pass ``y_true >= grade``. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Manning, Raghavan & Schütze (2008), *Introduction to Information Retrieval*, Cambridge
       University Press, Chapter 8.

    Examples
    --------
    >>> from sklearn_rank.metrics import f1_at_k_score
    >>> f1_at_k_score([1, 0, 1, 1], [4.0, 3.0, 2.0, 1.0], k=2)
    0.4
    """
    return F1AtKMeasure(k=k, undefined=undefined, rel=rel, convention=convention)(
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
