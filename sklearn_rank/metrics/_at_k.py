"""Measures of the first k items: precision, recall, F1, R-precision, success, top 1, coverage."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any, Unpack

import numpy as np

from .._lists import Lists, ScoredLists
from .._order import ClassBlocks
from .._typing import FloatArray, IntArray
from .._validation import check_position
from ._conventions import (
    NamedNumber,
    PositionalForm,
    cut_after,
    position,
    rules_of,
    share_of_total,
)
from ._functions import (
    BinaryOptions,
    ConventionOptions,
    RelevantOptions,
    WeightedOptions,
    function_of,
)
from ._influence import ClassInfluence, affine_of_recall, precision_influence, recall_influence
from ._measure import ConventionalMeasure, Measure, Value, checked
from ._tied_sums import NEGLIGIBLE, padded


class _AtK(ConventionalMeasure):
    """A share of the positives among the first k items."""

    per_query = True
    range = (0.0, 1.0)
    from_ranges = "sum"

    k: int = checked(check_position)  # Number of top items

    def _discounts(self, n: int) -> FloatArray:
        return cut_after(np.ones(n), self.k)

    def _n_pos_in_top(self, lists: ScoredLists) -> FloatArray:
        """Mean number of positives among the first k."""
        blocks = self.rules.ordered(lists, lists.positive).leading(self.k).blocks()
        return positives_in_top(blocks, np.full(lists.n_lists, float(self.k)))


class PrecisionAtKMeasure(_AtK):
    """Share of positives among the first k items; see ``precision_at_k_score``."""

    stem = "precision@"
    _number = NamedNumber("k", position, "5")
    conventions = rules_of(
        paper={},
        xgboost={"undefined": "skip", "divides_by_length": True},
        catboost={"undefined": "skip", "divides_by_length": True, "weighs_lists": False},
        trec_eval={"undefined": "skip"},
        ranx={"undefined": "skip"},
        letor={"undefined": "skip"},
    )

    @property
    def positional(self) -> PositionalForm:
        """One k-th for each positive, at the first k positions."""
        return PositionalForm(
            lambda lists: lists.positive / self.k, self._discounts, largest=1.0 / self.k
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        length = np.minimum(lists.sizes, self.k) if self.rules.divides_by_length else self.k
        return self._n_pos_in_top(lists) / length

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return precision_influence(lists, self.k, self.name)


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


class RecallAtKMeasure(_AtK):
    """Share of the positives that are among the first k items; see ``recall_at_k_score``."""

    stem = "recall@"
    _number = NamedNumber("k", position, "20")
    lacking = "no positive"
    takes_relevant = ("n_relevant", "ideal")
    conventions = rules_of(
        paper={"knows_judgments": True},
        catboost={"undefined": 1.0, "weighs_lists": False},
        trec_eval={},
        ranx={},
    )

    @property
    def positional(self) -> PositionalForm:
        """One over the number of positives for each, at the first k positions."""
        return PositionalForm(self._utilities, self._discounts, largest=1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        n_pos = np.minimum(self._n_pos_in_top(lists), lists.positives)  # sums are rounded
        with np.errstate(invalid="ignore"):
            return n_pos / n_relevant_of(lists, lists.positives)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
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


def positives_in_top(blocks: ClassBlocks, mass: FloatArray) -> FloatArray:
    """Mean weight of the positives in the top of each list, over all orders of tied items.

    At most the weight of the top and that of the positives. Shape (n_lists,).
    """
    size = blocks.of_class + blocks.of_other
    above = blocks.by_block(blocks.total) - blocks.below - size
    n_in_top = np.clip(blocks.by_block(mass) - above, 0.0, size)
    # Blocks of positives only, cut or not, count without rounding.
    n_pos = np.where(blocks.of_other == 0.0, n_in_top, blocks.of_class * (n_in_top / size))
    return np.minimum(blocks.sums(n_pos), np.minimum(mass, blocks.n_class))


def n_relevant_of(lists: ScoredLists, n_pos: FloatArray) -> FloatArray:
    """Number of relevant items of each list, also of those that are not among its items."""
    return n_pos if lists.n_relevant is None else lists.n_relevant


class SuccessMeasure(_AtK):
    """Whether a positive is among the first k items; see ``success_at_k_score``."""

    weights = "whole"
    lacking = "no positive"
    stem = "success@"
    _number = NamedNumber("k", position, "10")
    takes_relevant = ("n_relevant", "ideal")
    conventions = rules_of(trec_eval={}, ranx={})

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks = self.rules.ordered(lists, lists.positive).blocks()
        values = np.where(n_relevant_of(lists, blocks.n_class) > 0, 0.0, np.nan)
        defined, positive, size, above = topmost_positives(blocks)
        taken = np.clip(self.k - above, 0.0, size)
        values[defined] = 1.0 - _none_of(positive, taken, size)
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


def topmost_positives(blocks: ClassBlocks) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Lists with positives; the positives and the items of the topmost block with one, and above.

    Above that block there is no positive. Four arrays of shape (n_lists_with_positives,).
    """
    defined = np.flatnonzero(blocks.n_class)
    top = blocks.top[defined]
    positive, size = blocks.of_class[top], blocks.of_class[top] + blocks.of_other[top]
    return defined, positive, size, blocks.total[defined] - blocks.below[top] - size


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


class RPrecisionMeasure(ConventionalMeasure):
    """Precision at as many places as there are positives; see ``r_precision_score``."""

    per_query = True
    range = (0.0, 1.0)
    lacking = "no positive"
    weights = "relative"
    stem = "r_precision"
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    conventions = rules_of(trec_eval={}, ranx={})

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks = self.rules.ordered(lists, lists.positive).blocks()
        n_relevant = n_relevant_of(lists, blocks.n_class)
        with np.errstate(invalid="ignore"):
            return positives_in_top(blocks, n_relevant) / n_relevant

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
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


class F1AtKMeasure(_AtK):
    """Harmonic mean of precision and recall among the first k items; see ``f1_at_k_score``."""

    lacking = "no positive"
    stem = "f1@"
    _number = NamedNumber("k", position, "10")
    takes_relevant = ("n_relevant", "ideal")
    conventions = rules_of(ranx={})

    @property
    def positional(self) -> PositionalForm:
        """Two over k plus the number of positives for each, at the first k positions."""
        return PositionalForm(self._utilities, self._discounts, largest=2.0 / (self.k + 1.0))

    def values(self, lists: ScoredLists) -> FloatArray:
        n_pos, n_relevant = self._n_pos_in_top(lists), n_relevant_of(lists, lists.positives)
        return np.where(n_relevant > 0, 2.0 * n_pos / (self.k + n_relevant), np.nan)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
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


def _best_utilities(lists: Lists) -> FloatArray:
    """One for each item of the highest relevance, else 0; NaN in lists of one relevance."""
    highest, lowest = lists.largest(lists.grade), -lists.largest(-lists.grade)
    best = (lists.grade == lists.to_items(highest)).astype(np.float64)
    return np.where(lists.to_items(highest == lowest), np.nan, best)


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
        blocks = lists.blocks()
        # They come list by list, those of a list from its bottom.
        list_of = blocks.to_blocks(np.arange(lists.n_lists))
        bottom = np.flatnonzero(np.diff(list_of, prepend=-1))
        defined, positive, other = (
            values[bottom] for values in (list_of, blocks.of_class, blocks.of_other)
        )
        above = blocks.total[defined] - blocks.below[bottom] - positive - other
        values = np.full(lists.n_lists, np.nan)
        values[defined] = above + positive * ((positive + other + 1.0) / (positive + 1.0))
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
