"""Measures of the top of the list: of its first k items, or of a share of it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from math import ceil, inf, sqrt
from typing import Any, ClassVar, Unpack

import numpy as np

from .._lists import Lists, ScoredLists
from .._order import ClassBlocks, TiedBlocks, counted_blocks, tied_blocks, top_masses
from .._typing import FloatArray, IntArray
from .._validation import check_position, check_share
from .._warn import warn
from ..exceptions import SmallTopWarning
from ._conventions import (
    NamedNumber,
    PositionalForm,
    cut_after,
    position,
    rules_of,
    share,
    share_of_total,
)
from ._evidence import (
    Draws,
    Evidence,
    LabelTotal,
    draws_of_places,
    mean_discounts,
)
from ._influence import (
    ClassInfluence,
    affine_of_recall,
    block_of_rank,
    blocks_at_top,
    lift_influence,
    local_ranks,
    recall_influence,
)
from ._measure import (
    BinaryOptions,
    ConventionalMeasure,
    ConventionOptions,
    Measure,
    RelevantOptions,
    Value,
    checked,
    function_of,
    short,
    without_function,
)
from ._tied_sums import NEGLIGIBLE, padded


class _ShareOfTop(Measure):
    """The positives in a top as a share of what ``_divisor`` says."""

    range = (0.0, 1.0)
    from_ranges = "sum"

    @abstractmethod
    def _mass(self, lists: ScoredLists) -> FloatArray:
        """Mass of the top of each list."""

    @abstractmethod
    def _divisor(self, mass: Any, n_pos: Any) -> Any:
        """A linear function of the number of positives."""

    def values(self, lists: ScoredLists) -> FloatArray:
        mass = self._mass(lists)
        blocks = self._ordered(lists).leading(mass).blocks()
        divisor = self._divisor(mass, n_relevant_of(lists, lists.positives))
        with np.errstate(invalid="ignore"):  # sums are rounded
            return np.minimum(positives_in_top(blocks, mass) / divisor, self.range[1])

    def label_total(self, lists: ScoredLists) -> LabelTotal | None:
        mass = float(self._mass(lists)[0])
        # A part of an item may be in the top.
        inside = np.clip(mass - np.arange(len(lists.score)), 0.0, 1.0)
        weights = mean_discounts(lists.score, inside)
        return LabelTotal(weights, lambda total, n_pos: total / self._divisor(mass, n_pos))

    def blocks_at_cut(self, lists: ScoredLists, blocks: TiedBlocks, law: str) -> IntArray | None:
        return blocks_at_top(blocks, float(self._mass(lists)[0]))

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        mass, n = float(self._mass(lists)[0]), float(lists.sizes[0])
        recall, n_pos = recall_influence(lists, mass, self.name), float(lists.positives[0])
        divisor = self._divisor(mass, n_pos)
        factor = n_pos / divisor
        # More positives among as many items raise the number found, and the divisor.
        rise = 1.0 - n_pos * (self._divisor(mass, n_pos + 1.0) - divisor) / divisor
        slope = factor * (recall.label_slope + rise * n / n_pos * recall.estimate)
        return affine_of_recall(recall, 0.0, factor, slope=slope)


class AtKMeasure(ConventionalMeasure):
    per_query = True
    range = (0.0, 1.0)
    from_ranges = "sum"

    k: int = checked(check_position)  # Number of top items

    def _discounts(self, n: int) -> FloatArray:
        return cut_after(np.ones(n), self.k)

    def _warn_of(self, lists: ScoredLists) -> None:
        n, n_lists = lists.sizes, lists.n_lists
        short = int(np.count_nonzero(n < self.k))
        of_system = n_lists > 1 and self.convention is not None  # trec_eval has P_1000 of all
        if 2 * short > n_lists and n.sum() > 200 and not of_system:  # Fewer rows may be a query
            what, mend = f"there are {n[0]:,.10g}", "a smaller k"
            if n_lists > 1:
                what = f"{short:,} of the {n_lists:,} queries have fewer, whose value is the same"
                what, mend = f"{what} for all scores", f"{mend}, or ids of longer lists as qid"
            text = f"{self.name} is of the first {self.k:,} rows, but {what}: pass {mend}."
            warn(text, UserWarning)


class _ShareAtK(AtKMeasure, _ShareOfTop):
    def _mass(self, lists: ScoredLists) -> FloatArray:
        return np.full(lists.n_lists, float(self.k))

    @property
    def positional(self) -> PositionalForm:
        largest = 1.0 / self._divisor(float(self.k), 1.0)
        return PositionalForm(self._utilities, self._discounts, largest=largest)

    def _utilities(self, lists: Lists) -> FloatArray:
        self._check_fit_weights(lists)
        n_pos = lists.weighted_totals(lists.positive.astype(np.float64))
        divisor = self._divisor(float(self.k), n_pos)
        return share_of_total(lists, np.where(n_pos > 0, divisor, 0.0))


class PrecisionAtKMeasure(_ShareAtK):
    stem = "precision@"
    of_segment = "top"
    _number = NamedNumber("k", position, "5")
    conventions = rules_of(
        paper={},
        xgboost={"undefined": "skip", "divides_by_length": True},
        catboost={"undefined": "skip", "divides_by_length": True, "weighs_lists": False},
        trec_eval={"undefined": "skip"},
        ranx={"undefined": "skip"},
        letor={"undefined": "skip"},
    )

    _own_laws = ("draws",)

    @property
    def values_are_ends(self) -> bool:
        return self.k == 1

    def _divisor(self, mass: Any, n_pos: Any) -> Any:
        return mass

    def values(self, lists: ScoredLists) -> FloatArray:
        values = super().values(lists)
        if self.rules.divides_by_length:
            values *= self.k / np.minimum(lists.sizes, self.k)
        return values

    def _utilities(self, lists: Lists) -> FloatArray:
        return lists.positive / self.k


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


class RecallAtKMeasure(_ShareAtK):
    stem = "recall@"
    of_segment = "labels"
    _number = NamedNumber("k", position, "20")
    lacking = "no positive"
    takes_relevant = ("n_relevant", "ideal")
    conventions = rules_of(
        paper={"knows_judgments": True},
        catboost={"undefined": 1.0, "weighs_lists": False},
        trec_eval={},
        ranx={},
    )

    def _divisor(self, mass: Any, n_pos: Any) -> Any:
        return n_pos


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

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Recall in [0, 1]; higher is better.

    See Also
    --------
    precision_at_k_score : Divides by k instead of the number of positives.

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
    """Mean weight of the positives in the top of each list, over all orders of tied items."""
    size = blocks.of_class + blocks.of_other
    above = blocks.by_block(blocks.total) - blocks.below - size
    n_in_top = np.clip(blocks.by_block(mass) - above, 0.0, size)
    # Blocks of positives only, cut or not, count without rounding.
    n_pos = np.where(blocks.of_other == 0.0, n_in_top, blocks.of_class * (n_in_top / size))
    return np.minimum(blocks.sums(n_pos), np.minimum(mass, blocks.n_class))


def n_relevant_of(lists: ScoredLists, n_pos: FloatArray) -> FloatArray:
    """Number of relevant items of each list, also of those that are not among its items."""
    return n_pos if lists.n_relevant is None else lists.n_relevant


class SuccessMeasure(AtKMeasure):
    weights = "whole"
    lacking = "no positive"
    stem = "success@"
    _number = NamedNumber("k", position, "10")
    takes_relevant = ("n_relevant", "ideal")
    conventions = rules_of(trec_eval={}, ranx={})

    values_are_ends = True

    _own_laws = ("any",)

    def draws(self, evidence: Evidence) -> Draws:
        """Those of the precision among the first k, one of which is enough."""
        return draws_of_places(PrecisionAtKMeasure(k=self.k, rel=self.rel), evidence)

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks = self._ordered(lists).blocks()
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
    repetitions and must be whole numbers.

    References
    ----------
    .. [1] Manning, Raghavan & Schütze (2008), *Introduction to Information Retrieval*, Cambridge
       University Press, Chapter 8.

    Examples
    --------
    >>> from sklearn_rank.metrics import success_at_k_score
    >>> success_at_k_score([0, 1, 0, 1], [4.0, 3.0, 2.0, 1.0], k=1)
    0.0

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


class RPrecisionMeasure(ConventionalMeasure, _ShareOfTop):
    per_query = True
    lacking = "no positive"
    weights = "relative"
    stem = "r_precision"
    takes_relevant = ("n_relevant", "ideal")
    conventions = rules_of(trec_eval={}, ranx={})

    def _mass(self, lists: ScoredLists) -> FloatArray:
        return n_relevant_of(lists, lists.positives)

    def _divisor(self, mass: Any, n_pos: Any) -> Any:
        return n_pos

    def label_total(self, lists: ScoredLists) -> None:
        """None, as which labels are summed depends on their number."""

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        recall = super()._influence(lists)
        n_pos, n = float(lists.positives[0]), float(lists.sizes[0])
        # More positives make a longer top: by the share of positives at its end, over theirs of
        # all, which is what a negative at the bottom adds, over that of the negatives.
        longer = recall.class_ends()[1][0] * n / (n - n_pos)
        # Where more positives are, the threshold moves as it does at fixed labels.
        jump_bias = recall.jump_bias[[0, 0]]
        return replace(recall, label_slope=recall.label_slope + longer, jump_bias=jump_bias)


@function_of(RPrecisionMeasure)
def r_precision_score(y_true: Any, y_score: Any, **options: Unpack[RelevantOptions]) -> Value:
    """R-precision: precision at position R, the number of positives in the list.

    ``R-Prec = (number of positives among the first R items) / R``, which equals the recall there.
    Ties are averaged over all orders of the tied items.

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
    ``n_relevant`` or ``ideal`` is given. With weights R is the weight of the positives.

    References
    ----------
    .. [1] Buckley & Voorhees (2000), *Evaluating evaluation measure stability*, SIGIR.

    Examples
    --------
    >>> from sklearn_rank.metrics import r_precision_score
    >>> r_precision_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5
    """


class F1AtKMeasure(_ShareAtK):
    lacking = "no positive"
    stem = "f1@"
    _number = NamedNumber("k", position, "10")
    takes_relevant = ("n_relevant", "ideal")
    conventions = rules_of(ranx={})

    def _divisor(self, mass: Any, n_pos: Any) -> Any:
        return (mass + n_pos) / 2.0

    def values(self, lists: ScoredLists) -> FloatArray:
        defined = n_relevant_of(lists, lists.positives) > 0
        return np.where(defined, super().values(lists), np.nan)


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
    of precision at k.

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


@without_function
class TopOneMeasure(Measure):
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
        return PositionalForm(_best_utilities, lambda n: cut_after(np.ones(n), 1), largest=1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        best = _best_utilities(lists)
        on_top = lists.score == lists.to_items(lists.largest(lists.score))
        counts = np.where(on_top, lists.counts, 0.0)
        return np.asarray(lists.totals(counts * best) / lists.totals(counts))


def _best_utilities(lists: Lists) -> FloatArray:
    """One for each item of the highest relevance, else 0; NaN in lists of one relevance."""
    highest, lowest = lists.largest(lists.grade), -lists.largest(-lists.grade)
    best = (lists.grade == lists.to_items(highest)).astype(np.float64)
    return np.where(lists.to_items(highest == lowest), np.nan, best)


class CoverageMeasure(Measure):
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
    scikit-learn's ``coverage_error`` has ``N + a + b``, and counts 0 for a list without positives,
    as ``undefined=0`` does here. Weights are repetitions and must be whole numbers.

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


class OfTop(Measure):
    weights = "relative"
    _rounds_top = True
    _number = NamedNumber("tau", share, "0.05")
    from_ranges = "sum"

    tau: float = checked(check_share, 0.05)  # Share of the items that form the top


class PrecisionAtTopMeasure(OfTop, _ShareOfTop):
    stem = "precision@top"
    of_segment = "top"

    # Binomial limits for the two classes above the threshold of the population.
    theorems = ("exact",)

    _own_laws = ("top",)

    def _mass(self, lists: ScoredLists) -> FloatArray:
        return masses_of_tops(lists, self.tau)

    def _divisor(self, mass: Any, n_pos: Any) -> Any:
        return mass


@function_of(PrecisionAtTopMeasure)
def precision_at_top_score(
    y_true: Any, y_score: Any, *, tau: float = 0.05, **options: Unpack[BinaryOptions]
) -> Value:
    """Precision at the top: share of positives among the top ``tau`` of the list.

    ``P@tau = E[number of positives among the first j items] / j`` with
    ``j = max(1, floor(tau * n + 1/2))``. Ties are averaged over all orders of the tied items.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1]; higher is better.

    See Also
    --------
    precision_at_k_score : Precision among a fixed number of items.
    smoothed_precision_at_top_score : Mean over four shares, to choose between models.
    positives_at_top_score : Number of positives above the highest negative.
    accuracy_at_top_loss : Errors on both sides of the same quantile.

    Notes
    -----
    If the end of the top cuts a block of ties, the block counts in proportion.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 5.2.

    Examples
    --------
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> precision_at_top_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.5

    Ties are averaged over their orders, so the order of the rows does not matter:

    >>> precision_at_top_score([0, 1, 1, 0], [2.0, 2.0, 1.0, 1.0], tau=0.25)
    0.5
    """


@without_function
class RecallAtTopMeasure(OfTop, _ShareOfTop):
    lacking = "no positive"
    stem = "recall@top"

    def _mass(self, lists: ScoredLists) -> FloatArray:
        return masses_of_tops(lists, self.tau)

    def _divisor(self, mass: Any, n_pos: Any) -> Any:
        return n_pos

    @property
    def order_counts_within(self) -> float:
        return float(self.tau)


@without_function
class EnrichmentFactorMeasure(ConventionalMeasure):
    weights = "relative"
    _rounds_top = True
    range = (0.0, inf)
    lacking = "no positive"
    stem = "enrichment@"
    _number = NamedNumber("tau", share, "0.01")
    from_ranges = "sum"
    conventions = rules_of(rdkit={"rounds_up": True})

    tau: float = checked(check_share)  # Share of the items that form the top

    def values(self, lists: ScoredLists) -> FloatArray:
        if self.rules.rounds_up:
            # In floating point, as the system does: 0.07 of 100 items are 8.
            mass = np.ceil(lists.sizes * self.tau)
        else:
            mass = masses_of_tops(lists, self.tau)
        ordered = self._ordered(lists).leading(mass)
        n_pos = positives_in_top(ordered.blocks(), mass)
        # In a list without positives 0 times infinity: undefined.
        with np.errstate(invalid="ignore", divide="ignore"):
            return n_pos / mass * (lists.sizes / lists.positives)

    @property
    def order_counts_within(self) -> float:
        return float(self.tau)

    def blocks_at_cut(self, lists: ScoredLists, blocks: TiedBlocks, law: str) -> IntArray | None:
        return blocks_at_top(blocks, float(masses_of_tops(lists, self.tau)[0]))

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        mass = masses_of_tops(lists, self.tau)
        return lift_influence(lists, [float(mass[0] / lists.sizes[0])], self.name)


class PositivesAtTopMeasure(Measure):
    lacking = "no positive"
    stem = "pos@top"
    from_ranges = "sum"

    normalize: bool = False  # Whether to divide by the number of positives of the list

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0 if self.normalize else inf)

    _own_laws = ("draws",)

    def draws(self, evidence: Evidence) -> Draws:
        """Each positive, above the highest negative or not, given the negatives.

        The variance of the highest negative, an extreme value, is not included.
        """
        data, rows = evidence.data, np.flatnonzero(evidence.data.positive)
        if len(rows) in (0, len(data.positive)):
            raise ValueError(
                f"y_true holds items of one class only, but {self.name} compares two: pass items"
                " of both classes."
            )
        above, counts = _above_negatives(data)[rows], data.counts[rows]
        n_pos = float(counts.sum())
        quantity = "share" if self.normalize else f"expected number among {n_pos:.0f}"
        n_neg = float(data.sizes[0]) - n_pos
        target = f"{quantity} of new positives above the highest of the {n_neg:.0f} negatives seen"
        groups = evidence.units.only(rows)
        unit = 1.0 if self.normalize else n_pos
        weights = np.full(len(rows), 1.0 / n_pos)
        return Draws(weights, above, groups, unit, target, counts=counts)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        above, positive = _above_negatives(lists), lists.positive
        unit = 1.0 if self.normalize else float(lists.positives[0])
        share = float(np.average(above[positive], weights=lists.counts[positive]))
        return ClassInfluence(
            estimate=unit * share,
            values=unit * above,
            positive=positive,
            ends=((0.0, unit), (0.0, 0.0)),
            range=(0.0, unit),
            label_slope=0.0,
            counts=lists.weight,
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        # The blocks of negatives: what is above the topmost counts, and a share of what is tied.
        blocks = lists.top_blocks(of_negatives=True)
        count = blocks.n_other.copy()
        mixed = blocks.n_class > 0
        top = blocks.top[mixed]
        above = np.maximum(count[mixed] - blocks.other_below[top] - blocks.of_other[top], 0.0)
        above += blocks.of_other[top] / (blocks.of_class[top] + 1.0)
        count[mixed] = np.minimum(above, count[mixed])  # sums are rounded
        if not self.normalize:
            return count
        with np.errstate(invalid="ignore"):
            return count / blocks.n_other


def _above_negatives(lists: ScoredLists) -> FloatArray:
    """Chance of each positive of one list to be above all negatives; 0 for negatives."""
    positive, score = lists.positive, lists.score
    highest = score[~positive].max()
    at = score == highest
    n_tied = float(lists.counts[~positive & at].sum())
    above = np.where(score > highest, 1.0, 0.0)
    above[at] = 1.0 / (n_tied + 1.0)
    above[~positive] = 0.0
    return above


@function_of(PositivesAtTopMeasure)
def positives_at_top_score(
    y_true: Any, y_score: Any, *, normalize: bool = False, **options: Unpack[BinaryOptions]
) -> Value:
    """Number of positives above the highest negative.

    Ties are averaged over all orders of the tied items: if the highest negative is in a block of
    ties with ``a`` positives and ``b`` negatives, the block adds ``a / (b + 1)``.

    Parameters
    ----------
    normalize : bool, default=False
        Whether to divide by the number of positives of the list.
    undefined
        How a list without positives counts with ``normalize=True``; None is "skip".

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Number of positives (all positives if there is no negative), or with ``normalize`` their
        share in [0, 1]; higher is better.

    See Also
    --------
    precision_at_top_score : Share of positives in a fixed share of the list.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 5.2.

    Examples
    --------
    >>> from sklearn_rank.metrics import positives_at_top_score
    >>> positives_at_top_score([1, 1, 0, 1], [4.0, 3.0, 2.0, 1.0])
    2.0

    A positive and a negative are tied at the top; the positive is first in half of the orders:

    >>> positives_at_top_score([1, 0, 1], [2.0, 2.0, 1.0])
    0.5
    """


class AccuracyAtTopMeasure(OfTop):
    range = (0.0, 1.0)
    greater_is_better = False
    lacking = "items of one class only"
    stem = "accuracy_loss@top"
    is_mean_over_ties = False
    with_equal_scores = ""

    def values(self, lists: ScoredLists) -> FloatArray:
        mass = masses_of_tops(lists, self.tau)
        if lists.n_lists > 1 or lists.weight is not None:
            blocks = tied_blocks(lists.score, lists.offsets)
            upto = blocks.running(blocks.totals(lists.counts))
            n_above = blocks.list_totals(upto < mass[blocks.list_of()], dtype=np.intp)
            last = np.append(blocks.first[1:], len(upto)) - 1
            at = blocks.starts[np.minimum(blocks.first + n_above, last)]
            quantile = lists.to_items(lists.score[blocks.order[at]])
        else:
            place = len(lists.score) - int(mass[0])
            quantile = np.partition(lists.score, place)[place]
        is_pos, is_neg = lists.positive, ~lists.positive
        errors = (is_neg & (lists.score > quantile), is_pos & (lists.score < quantile))
        above, below, n_neg = (
            lists.weighted_totals(rows.astype(np.float64)) for rows in (*errors, is_neg)
        )
        with np.errstate(invalid="ignore"):
            return (above / n_neg + below / lists.positives) / 2

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        mass = float(masses_of_tops(lists, self.tau)[0])
        n_pos, n = float(lists.positives[0]), float(lists.sizes[0])
        estimate = float(self.values(lists)[0])
        blocks = counted_blocks(lists.score, lists.positive, lists.weight)
        # Scores that may be at the end of the top, within 2.5 standard deviations of the number of
        # items above it: few of them are values of their own.
        window, n_below = 2.5 * local_ranks(int(n), lists.draws), int(n - mass)
        reach = min(ceil(sqrt(mass * n_below) / n * window), n_below, n - n_below)
        ranks = np.array([n_below + reach, n_below + 1, n_below - reach + 1])
        reached = block_of_rank(blocks, ranks)
        if reach and reached[2] - reached[0] <= 2 and blocks.size[reached[1]] > 1.0:
            quantile = lists.score[blocks.order[blocks.starts[reached[1]]]]
            wrong = np.where(lists.positive, lists.score < quantile, lists.score > quantile)
            n_neg = blocks.size - blocks.n_pos
            above = np.cumsum(n_neg)[reached] - n_neg[reached]
            right = np.cumsum(blocks.n_pos)[reached] / n_pos
            losses = (above / (n - n_pos) + 1.0 - right) / 2.0
            return ClassInfluence(
                estimate=estimate,
                values=wrong / 2.0,
                positive=lists.positive,
                ends=((0.5, 0.0), (0.0, 0.5)),
                range=self.range,
                label_slope=0.0,
                counts=lists.weight,
                jump_bias=np.tile(losses[1] - losses[[0, 2]], (2, 1)),
            )
        recall = recall_influence(lists, mass, self.name)
        # The negatives in the top are what the positives leave of it.
        rest = (n - n_pos) / n
        slope = ((mass / n - recall.estimate) / rest - recall.label_slope) / rest / 2.0
        at_zero = 0.5 + mass / n / rest / 2.0
        loss = affine_of_recall(recall, at_zero, -0.5 / rest, slope=slope)
        # The item at the quantile is right whatever it is.
        low = max(loss.range[0] - 0.5 / min(n_pos, n - n_pos), 0.0)
        return replace(loss, estimate=estimate, range=(low, loss.range[1]))


@function_of(AccuracyAtTopMeasure)
def accuracy_at_top_loss(
    y_true: Any, y_score: Any, *, tau: float = 0.05, **options: Unpack[BinaryOptions]
) -> Value:
    """Accuracy-at-the-top loss: class-balanced error rate at the top ``tau`` quantile.

    ``1/2 (mean over negatives of 1{s > q} + mean over positives of 1{s < q})``, where ``q`` is
    the score of item ``j = max(1, floor(tau * n + 1/2))`` from the top.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Loss in [0, 1]; lower is better.

    Warns
    -----
    SmallTopWarning
        If ``tau * n`` rounds to 0 for a list: the quantile is then its highest score.

    See Also
    --------
    precision_at_top_score : The share of positives in the top.
    sklearn_rank.AccuracyAtTopRanker : Minimises a convex surrogate.

    Notes
    -----
    Both inequalities are strict: items tied with the quantile are no errors. The loss is a
    function of the scores and is not averaged over the orders of tied items. If the share of
    positives exceeds ``tau``, the loss is positive unless scores are tied.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 3.1.

    Examples
    --------
    >>> from sklearn_rank.metrics import accuracy_at_top_loss
    >>> accuracy_at_top_loss([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.0
    >>> accuracy_at_top_loss([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.5
    """


def masses_of_tops(lists: ScoredLists, share: float, *, warns: bool = True) -> FloatArray:
    """Weight of the top of each list; warns of tops of less than one item."""
    masses, small = top_masses(lists.sizes, float(share), lists.whole, lists.smallest)
    if warns and small.any():
        n, n_lists = short(lists.sizes[np.argmax(small)]), len(small)
        of_lists = "" if n_lists == 1 else f" in {np.count_nonzero(small)} of {n_lists} lists"
        warn(
            f"The top {share:g} of {n} items holds less than one"
            f" item{of_lists} and was taken as one item: increase tau or score more items.",
            SmallTopWarning,
        )
    return masses


class LiftMeasure(_ShareOfTop):
    lacking = "no positive"
    weights = "relative"
    stem = "lift@"
    _number = NamedNumber("tau", share, "0.1")

    tau: float = checked(check_share)  # Share of the items that form the top

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return (0.0, 1.0 / float(self.tau))

    def _mass(self, lists: ScoredLists) -> FloatArray:
        return float(self.tau) * lists.sizes

    def _divisor(self, mass: Any, n_pos: Any) -> Any:
        return float(self.tau) * n_pos

    @property
    def order_counts_within(self) -> float:
        return float(self.tau)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        # A part of the first item is as good as all of it.
        influence = lift_influence(
            lists, [max(float(self.tau), 1.0 / float(lists.sizes[0]))], self.name
        )
        return replace(influence, estimate=float(self.values(lists)[0]))


@function_of(LiftMeasure)
def lift_score(
    y_true: Any, y_score: Any, *, tau: float, **options: Unpack[BinaryOptions]
) -> Value:
    """Lift: share of the positives found in the top, divided by the share of items in the top.

    ``Lift = G(tau) / tau``, G the cumulative gains curve: the share of the positives
    among the first ``tau * n`` items, the item at the cut counted in proportion. Ties are
    averaged over all orders of the tied items.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Ratio in [0, min(1 / tau, n / k)] for k positives among n items; 1 for a random order;
        higher is better.

    See Also
    --------
    get_measure : ``"enrichment@0.01"`` rounds the top to whole items.
    precision_at_top_score : The precision itself.

    Notes
    -----
    Lift and enrichment factor are equal if ``tau * n`` is a whole number. The influence of
    single items is of first order: for normal scores, 95 % intervals from it covered 92 to 94 %
    with 80 to 400 items in the top, 87 to 96 % with 20, and 71 % with 4.

    References
    ----------
    .. [1] Provost & Fawcett (2013), *Data Science for Business*, O'Reilly, Chapter 8.

    Examples
    --------
    >>> from sklearn_rank.metrics import lift_score
    >>> lift_score([1, 0, 0, 0], [4.0, 3.0, 2.0, 1.0], tau=0.25)
    4.0
    >>> lift_score([0, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], tau=0.375)
    1.3333333333333333
    """


class SmoothedPrecisionAtTopMeasure(OfTop):
    range = (0.0, 1.0)
    stem = "smoothed_precision@top"
    _multiples: ClassVar = (0.5, 1.0, 2.0, 4.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        masses = self._masses(lists)
        blocks = lists.leading(masses[-1]).blocks()
        return np.mean([positives_in_top(blocks, mass) / mass for mass in masses], axis=0)

    def _masses(self, lists: ScoredLists) -> list[FloatArray]:
        """Weights of the four tops of each list, ascending."""
        return [
            masses_of_tops(lists, min(times * self.tau, 1.0), warns=times == 1.0)
            for times in self._multiples
        ]

    @property
    def order_counts_within(self) -> float:
        return min(self._multiples[-1] * self.tau, 1.0)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        n, positives = lists.sizes[0], float(lists.positives[0] / lists.sizes[0])
        lift = lift_influence(
            lists, [float(mass[0] / n) for mass in self._masses(lists)], self.name
        )
        precision = lift.scaled(0.0, 1.0 / positives)
        # By the product rule: the share of positives is a factor.
        return replace(precision, label_slope=precision.label_slope + lift.estimate)


@function_of(SmoothedPrecisionAtTopMeasure)
def smoothed_precision_at_top_score(
    y_true: Any, y_score: Any, *, tau: float = 0.05, **options: Unpack[BinaryOptions]
) -> Value:
    """Smoothed precision at the top: mean over the top ``tau / 2``, ``tau``, ``2 tau``, ``4 tau``.

    ``(P@(tau/2) + P@tau + P@(2 tau) + P@(4 tau)) / 4``, with each precision ``P@`` as in
    :func:`precision_at_top_score` and shares above 1 taken as 1. Use it to choose between models
    for the top ``tau``: on a small sample ``P@tau`` takes few values, and its maximum is often
    reached by chance.

    Parameters
    ----------
    tau : float, default=0.05
        Share of the items of interest, in (0, 1).
    sample_weight
        Non-negative weights. If all are whole, they are repetitions, and n is their sum; else only
        their proportions matter, and each top has its share of their sum.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Mean precision in [0, 1]; higher is better.

    Warns
    -----
    SmallTopWarning
        If ``tau * n`` rounds to 0 for a list: its top is then one item. There is no warning if
        only ``tau / 2 * n`` rounds to 0.

    See Also
    --------
    precision_at_top_score : Precision at one share, for the final report.
    sklearn_rank.inference.metric_interval : Confidence interval, by the influence of single items.

    Notes
    -----
    Ties are averaged over all orders of the tied items. In simulations with 100 to 1,600 normal
    scores, 10 and 30 % of them positive, and ``tau`` from .01 to .2, 95 % intervals from the
    influence of single items covered 93 to 100 %.

    Examples
    --------
    >>> from sklearn_rank.metrics import smoothed_precision_at_top_score
    >>> y_true, y_score = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> smoothed_precision_at_top_score(
    ...     y_true, y_score, tau=0.25
    ... )  # (1 + 1 + 3/4 + 1/2) / 4
    0.8125
    """
