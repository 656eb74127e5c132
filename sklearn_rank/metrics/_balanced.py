"""Measures that combine precision and recall: R-precision and F1 at k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from .._arguments import check_position
from .._lists import Lists, ScoredLists
from .._typing import FloatArray
from ._at_k import positives_in_top, relevant_of
from ._conventions import RANX, TREC_EVAL
from ._functions import RelevantOptions, evaluate, function_of
from ._influence import ClassInfluence
from ._influence_of_top import affine_of_recall, recall_influence
from ._measure import ConventionalMeasure, Value
from ._named_numbers import NamedNumber, position
from ._positional_form import PositionalForm, cut_after, share_of_total


@dataclass(frozen=True, kw_only=True, repr=False)
class RPrecisionMeasure(ConventionalMeasure):
    """Precision at as many places as there are positives; see ``r_precision_score``."""

    per_query = True
    range = (0.0, 1.0)
    lacking = "no positive"
    weights = "relative"
    stem = "r_precision"
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    conventions = MappingProxyType({"trec_eval": TREC_EVAL, "ranx": RANX})

    def values(self, lists: ScoredLists) -> FloatArray:
        """Precision of each list."""
        blocks = self.rules.ordered(lists, lists.positive).blocks()
        n_relevant = relevant_of(lists, blocks)
        with np.errstate(invalid="ignore"):
            return positives_in_top(blocks, n_relevant) / n_relevant

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of each item of one list on the precision."""
        if not self.has_influence or lists.n_relevant is not None:
            return None
        n_pos, n = float(lists.positives[0]), float(lists.sizes[0])
        recall = recall_influence(lists, n_pos, self.name)
        # More positives make a longer top: by the share of positives at its end, over theirs of
        # all, which is what a negative at the bottom adds, over that of the negatives.
        longer = recall.class_ends()[1][0] * n / (n - n_pos)
        return replace(recall, label_slope=recall.label_slope + longer)


@function_of(RPrecisionMeasure)
def r_precision_score(y_true: Any, y_score: Any, **options: Unpack[RelevantOptions]) -> Value:
    """R-precision: precision at position R, the number of positives in the list.

    ``R-Prec = (number of positives among the first R items) / R``, which equals the recall there.
    Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    convention
        System whose value to reproduce, with its rules for ties and for lists without positives. A
        conflicting parameter raises an error. Both count relevant items that were not retrieved:
        if the rows lack some, pass ``ideal`` or ``n_relevant``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1]; higher is better.

    See Also
    --------
    precision_at_k_score : Precision at the same position for all lists.
    f1_at_k_score : Harmonic mean of precision and recall at k.

    Notes
    -----
    The measure is ``Rprec`` of trec_eval. R counts the positives among the rows, unless
    ``n_relevant`` or ``ideal`` is given. With weights R is the weight of the positives. The time
    is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Buckley & Voorhees (2000), *Evaluating evaluation measure stability*, SIGIR.

    Examples
    --------
    >>> from sklearn_rank.metrics import r_precision_score
    >>> r_precision_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5

    Two items, one of them positive, are tied at the second position:

    >>> r_precision_score([1, 0, 1, 0], [4.0, 2.0, 2.0, 1.0])
    0.75
    """
    return evaluate(RPrecisionMeasure, y_true, y_score, **options)


@dataclass(frozen=True, kw_only=True, repr=False)
class F1AtKMeasure(ConventionalMeasure):
    """Harmonic mean of precision and recall among the first k items; see ``f1_at_k_score``."""

    per_query = True
    range = (0.0, 1.0)
    lacking = "no positive"
    stem = "f1@"
    in_name = NamedNumber("k", position, "10")
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    conventions = MappingProxyType({"ranx": RANX})

    k: int  # Number of top items, at least 1

    def __post_init__(self) -> None:
        check_position("k", self.k)
        super().__post_init__()

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

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of each item of one list on the F1."""
        if not self.has_influence or lists.n_relevant is not None:
            return None
        recall = recall_influence(lists, float(self.k), self.name)
        n_pos, n = float(lists.positives[0]), float(lists.sizes[0])
        both = self.k + n_pos
        slope = 2.0 * n_pos * recall.label_slope + 2.0 * n * self.k / both * recall.estimate
        return affine_of_recall(recall, 0.0, 2.0 * n_pos / both, slope=slope / both)

    def _utilities(self, lists: Lists) -> FloatArray:
        self._check_fit_weights(lists)
        positives = lists.weighted_totals(lists.positive.astype(np.float64))
        return share_of_total(lists, np.where(positives > 0, (self.k + positives) / 2.0, 0.0))


@function_of(F1AtKMeasure)
def f1_at_k_score(
    y_true: Any, y_score: Any, *, k: int, **options: Unpack[RelevantOptions]
) -> Value:
    """F1 at k: harmonic mean of precision and recall among the first k items.

    ``F1@k = 2 P R / (P + R) = 2 (number of positives among the first k items) / (k + m)``, m the
    number of positives. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    k : int
        Number of top items, at least 1. The divisor uses k even if the list is shorter.
    convention
        System whose value to reproduce, with its rules for ties and for lists without positives. A
        conflicting parameter raises an error. It counts relevant items that were not retrieved: if
        the rows lack some, pass ``ideal`` or ``n_relevant``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        F1 in [0, 2 min(k, m) / (k + m)]; higher is better.

    See Also
    --------
    precision_at_k_score : The precision P.
    recall_at_k_score : The recall R.
    r_precision_score : At k = m, where precision, recall and F1 are equal.
    sklearn.metrics.f1_score : For predicted labels.

    Notes
    -----
    F1 at k is linear in the number of positives found, so its mean over orders follows from that
    of precision at k. For grades pass ``rel``. The time is O(n log n), the memory O(n).

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
    return evaluate(F1AtKMeasure, y_true, y_score, k=k, **options)
