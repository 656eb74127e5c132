"""Precision and recall among the first k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from .._arguments import check_position
from .._lists import Lists, ScoredLists
from .._order import ClassBlocks
from .._typing import FloatArray
from ._conventions import CATBOOST, LETOR, RANX, TREC_EVAL, XGBOOST, Rules
from ._functions import ConventionOptions, RelevantOptions, evaluate, function_of
from ._influence import ClassInfluence
from ._influence_of_top import affine_of_recall, recall_influence
from ._measure import ConventionalMeasure, Value
from ._named_numbers import NamedNumber, position
from ._positional_form import PositionalForm, cut_after, share_of_total


@dataclass(frozen=True, kw_only=True, repr=False)
class _AtK(ConventionalMeasure):
    """A share of the positives among the first k items."""

    per_query = True
    range = (0.0, 1.0)
    from_ranges = "sum"

    k: int  # Number of top items, at least 1

    def __post_init__(self) -> None:
        check_position("k", self.k)
        super().__post_init__()

    def _discounts(self, n: int) -> FloatArray:
        return cut_after(np.ones(n), self.k)

    def _found(self, lists: ScoredLists) -> FloatArray:
        """Mean number of positives among the first k."""
        blocks = self.rules.ordered(lists, lists.positive).leading(self.k).blocks()
        return positives_in_top(blocks, np.full(lists.n_lists, float(self.k)))


@dataclass(frozen=True, kw_only=True, repr=False)
class PrecisionAtKMeasure(_AtK):
    """Share of positives among the first k items; see ``precision_at_k_score``."""

    stem = "precision@"
    in_name = NamedNumber("k", position, "5")
    conventions = MappingProxyType(
        {
            "paper": Rules(),
            "xgboost": replace(XGBOOST, undefined="skip", divides_by_length=True),
            "catboost": replace(
                CATBOOST, undefined="skip", divides_by_length=True, weighs_lists=False
            ),
            "trec_eval": replace(TREC_EVAL, undefined="skip"),
            "ranx": replace(RANX, undefined="skip"),
            "letor": replace(LETOR, undefined="skip"),
        }
    )

    @property
    def positional(self) -> PositionalForm:
        """One k-th for each positive, at the first k positions."""
        return PositionalForm(
            lambda lists: lists.positive / self.k, self._discounts, largest=1.0 / self.k
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        """Precision of each list."""
        found = self._found(lists)
        if self.rules.divides_by_length:
            return found / np.minimum(lists.sizes, self.k)
        return found / self.k

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of each item of one list on the precision."""
        if not self.has_influence:
            return None
        recall = recall_influence(lists, float(self.k), self.name)
        n_pos, n = float(lists.positives[0]), float(lists.sizes[0])
        slope = (recall.estimate + n_pos / n * recall.label_slope) * n / self.k
        return affine_of_recall(recall, 0.0, n_pos / self.k, slope=slope)


@function_of(PrecisionAtKMeasure)
def precision_at_k_score(
    y_true: Any, y_score: Any, *, k: int, **options: Unpack[ConventionOptions]
) -> Value:
    """Precision at k: share of positives among the first k items.

    ``Prec@k = (number of positives among the first k items) / k``. Ties are averaged over all
    orders of the tied items.

    Parameters
    ----------
    k : int
        Number of top items, at least 1. It is the divisor even if the list is shorter.
    convention
        System whose value to reproduce, with its rules for ties and for lists shorter than k. A
        conflicting parameter raises an error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1]; higher is better.

    See Also
    --------
    recall_at_k_score : Divides by the number of positives instead of k.
    precision_at_top_score : Precision in a share of the list.

    Notes
    -----
    For grades pass ``rel``. The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import precision_at_k_score
    >>> precision_at_k_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], k=3)
    0.6666666666666666

    Two items, one of them positive, are tied at the second position:

    >>> precision_at_k_score([1, 0, 1, 0], [4.0, 2.0, 2.0, 1.0], k=2)
    0.75
    """
    return evaluate(PrecisionAtKMeasure, y_true, y_score, k=k, **options)


@dataclass(frozen=True, kw_only=True, repr=False)
class RecallAtKMeasure(_AtK):
    """Share of the positives that are among the first k items; see ``recall_at_k_score``."""

    stem = "recall@"
    in_name = NamedNumber("k", position, "20")
    lacking = "no positive"
    takes_relevant = ("n_relevant", "ideal")
    conventions = MappingProxyType(
        {
            "paper": Rules(knows_judgments=True),
            "catboost": replace(CATBOOST, undefined=1.0, weighs_lists=False),
            "trec_eval": TREC_EVAL,
            "ranx": RANX,
        }
    )

    @property
    def positional(self) -> PositionalForm:
        """One over the number of positives for each, at the first k positions."""
        return PositionalForm(self._utilities, self._discounts, largest=1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Recall of each list."""
        found, positives = self._found(lists), lists.positives
        with np.errstate(invalid="ignore"):
            # Sums of real weights are rounded.
            relevant = positives if lists.n_relevant is None else lists.n_relevant
            return np.minimum(found, positives) / relevant

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of each item of one list on the recall."""
        if not self.has_influence or lists.n_relevant is not None:
            return None
        return recall_influence(lists, float(self.k), self.name)

    def _utilities(self, lists: Lists) -> FloatArray:
        self._check_fit_weights(lists)
        return share_of_total(lists, lists.weighted_totals(lists.positive.astype(np.float64)))


@function_of(RecallAtKMeasure)
def recall_at_k_score(
    y_true: Any, y_score: Any, *, k: int, **options: Unpack[RelevantOptions]
) -> Value:
    """Recall at k: share of the positives that are among the first k items.

    ``Rec@k = (number of positives among the first k items) / (number of positives)``. Ties are
    averaged over all orders of the tied items.

    Parameters
    ----------
    k : int
        Number of top items, at least 1.
    convention
        System whose value to reproduce, with its rules for ties and for lists without positives. A
        conflicting parameter raises an error. trec_eval and ranx count relevant items that were
        not retrieved: if the rows lack some, pass ``ideal`` or ``n_relevant``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Recall in [0, 1]; higher is better.

    See Also
    --------
    precision_at_k_score : Divides by k instead of the number of positives.

    Notes
    -----
    For grades pass ``rel``. The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import recall_at_k_score
    >>> recall_at_k_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], k=1)
    0.5
    """
    return evaluate(RecallAtKMeasure, y_true, y_score, k=k, **options)


def positives_in_top(blocks: ClassBlocks, mass: FloatArray) -> FloatArray:
    """Mean weight of the positives in the top of each list, over all orders of tied items.

    At most the weight of the top and that of the positives. Shape (n_lists,).
    """
    size = blocks.of_class + blocks.of_other
    above = blocks.by_block(blocks.total) - blocks.below - size
    taken = np.clip(blocks.by_block(mass) - above, 0.0, size)
    # Blocks of positives only, cut or not, count without rounding.
    found = np.where(blocks.of_other == 0.0, taken, blocks.of_class * (taken / size))
    return np.minimum(blocks.sums(found), np.minimum(mass, blocks.n_class))


def relevant_of(lists: ScoredLists, blocks: ClassBlocks) -> FloatArray:
    """Number of relevant items of each list, those included that are not among its items.

    Shape (n_lists,).
    """
    return blocks.n_class if lists.n_relevant is None else lists.n_relevant
