"""Rank correlations by pairs: Kendall's tau-b, tau-x of Emond and Mason, and tau-AP."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Unpack

import numpy as np

from .._lists import ScoredLists
from .._order import TiedBlocks, tied_blocks
from .._typing import AnyArray, FloatArray, IntArray
from ._functions import WeightedOptions, evaluate, function_of
from ._measure import Measure, Value
from ._reciprocals import reciprocals


@dataclass(frozen=True, kw_only=True, repr=False)
class _RankCorrelation(Measure):
    """A correlation of two orders, undefined where the relevances are no order."""

    kind = "graded"
    per_query = True
    range = (-1.0, 1.0)
    lowest = -inf
    lacking = "items of one relevance only"
    compares_pairs = True


@dataclass(frozen=True, kw_only=True, repr=False)
class TauBMeasure(_RankCorrelation):
    """Pairs in the same order less pairs in the opposite order; see ``tau_b_score``."""

    weights = "relative"
    stem = "tau_b"

    def values(self, lists: ScoredLists) -> FloatArray:
        """Correlation of each list."""
        weight = lists.weight
        if weight is not None:
            # A pair weighs a product, which must neither overflow nor vanish.
            weight = weight / lists.to_items(lists.sizes)
        by_score = tied_blocks(lists.score, lists.offsets)
        by_grade = tied_blocks(lists.grade, lists.offsets)
        of_score, of_grade = _mass(by_score, weight), _mass(by_grade, weight)
        pairs = [
            by_grade.list_totals(of_grade * _above(by_grade, of_grade)),
            by_score.list_totals(of_score * _above(by_score, of_score)),
        ]
        difference = _agreement(lists, by_score, by_grade, weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = difference / np.sqrt(pairs[0]) / np.sqrt(pairs[1])
        # Scores that are all tied give no order, which counts as much as a random order.
        values = np.where(_n_blocks(by_score) > 1, np.clip(values, -1.0, 1.0), 0.0)
        return np.where(_n_blocks(by_grade) > 1, values, np.nan)


@function_of(TauBMeasure)
def tau_b_score(y_true: Any, y_score: Any, **options: Unpack[WeightedOptions]) -> Value:
    """Tau-b, the rank correlation of Kendall, between relevance and score.

    ``tau-b = (C - D) / sqrt((N - T_y) (N - T_s))``, where N is the number ``n (n - 1) / 2`` of
    pairs of items, C and D are the numbers of pairs that relevance and score put in the same and
    in the opposite order, and T_y and T_s are the numbers of pairs tied by relevance and by
    score.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; higher is better.

    See Also
    --------
    tau_ap_score : Errors at the top have more weight.
    tau_x_score : For orders with ties; a pair tied in both counts as in the same order.
    spearman_score : Correlation of the positions.
    scipy.stats.kendalltau : Equal for one list; NaN if all scores are tied.

    Notes
    -----
    ``C - D`` equals its mean over all orders of tied items. The divisor corrects for ties: the
    value is 1 if the scores have the order and the ties of the relevances. If all scores of a list
    are tied, the value is 0, the mean of a random order, and not undefined: a ranker gains nothing
    by giving hard queries constant scores. The weight of a pair is the product of the weights of
    its items. The time is O(n log n), the memory O(n); the first call compiles for about a
    second.

    References
    ----------
    .. [1] Kendall (1945), *The treatment of ties in ranking problems*, Biometrika 33.

    Examples
    --------
    >>> from sklearn_rank.metrics import tau_b_score
    >>> round(tau_b_score([3, 2, 1], [3.0, 1.0, 2.0]), 4)
    0.3333
    >>> round(tau_b_score([1, 1, 0], [3.0, 2.0, 1.0]), 4)
    0.8165
    """
    return evaluate(TauBMeasure, y_true, y_score, **options)


@dataclass(frozen=True, kw_only=True, repr=False)
class TauXMeasure(_RankCorrelation):
    """The same for orders with ties, which agree on a pair that both tie; see ``tau_x_score``."""

    weights = "whole"
    stem = "tau_x"
    from_ranges = "sum"

    def values(self, lists: ScoredLists) -> FloatArray:
        """Correlation of each list."""
        by_score = tied_blocks(lists.score, lists.offsets)
        by_grade = tied_blocks(lists.grade, lists.offsets)
        agreement = _agreement(lists, by_score, by_grade, lists.weight)
        tied = _tied_in_both(lists, by_score, by_grade)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = 2.0 * (agreement + tied) / lists.sizes / (lists.sizes - 1.0)
        return np.where(_n_blocks(by_grade) > 1, np.clip(values, -1.0, 1.0), np.nan)


@function_of(TauXMeasure)
def tau_x_score(y_true: Any, y_score: Any, **options: Unpack[WeightedOptions]) -> Value:
    """Tau-x, the rank correlation of Emond and Mason for orders with ties.

    ``tau-x = sum over items i != j of a_ij b_ij / (n (n - 1))``, ``a_ij = 1`` if relevance puts i
    above j or ties them, -1 if it puts i below j, and ``b_ij`` likewise by score. It equals
    ``(C - D + T) / N``, where ``N = n (n - 1) / 2`` is the number of pairs, C and D count the
    pairs in the same and in the opposite order, and T those tied in both.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; higher is better.

    See Also
    --------
    tau_b_score : Equal without ties; a pair tied in one order lowers the divisor too, and a
        constant score counts 0.
    spearman_score : Correlation of the positions.

    Notes
    -----
    A tie of scores is taken as the prediction that the items are equally relevant. A pair tied in
    both orders counts as in the same order, and a pair tied in one of them counts 0. The value is
    not a mean over the orders of tied items, which would count T as 0. ``1 - tau-x`` is
    proportional to the Kemeny-Snell distance, a metric on orders with ties; tau-x is 1 only for
    the same order.

    If all scores are tied, the value is the share of the pairs tied by relevance. If all
    relevances are equal, the formula gives the share of pairs tied by score; the measure is
    undefined here as the other correlations are, because there is no order to find. Weights are
    repetitions and must be whole numbers; copies of an item are tied in both orders. The time is
    O(n log n), the memory O(n); the first call compiles for about a second.

    References
    ----------
    .. [1] Emond & Mason (2002), *A new rank correlation coefficient with application to the
       consensus ranking problem*, Journal of Multi-Criteria Decision Analysis 11.

    Examples
    --------
    >>> from sklearn_rank.metrics import tau_x_score
    >>> round(tau_x_score([3, 2, 1], [3.0, 1.0, 2.0]), 4)
    0.3333

    Two items have one relevance; tying their scores raises the value:

    >>> round(tau_x_score([1, 1, 0], [3.0, 2.0, 1.0]), 4)
    0.6667
    >>> tau_x_score([1, 1, 0], [2.0, 2.0, 1.0])
    1.0
    """
    return evaluate(TauXMeasure, y_true, y_score, **options)


@dataclass(frozen=True, kw_only=True, repr=False)
class TauAPMeasure(_RankCorrelation):
    """Share of the items above each that belong there, from -1 to 1; see ``tau_ap_score``."""

    weights = "whole"
    stem = "tau_ap"
    from_ranges = "sum"

    def values(self, lists: ScoredLists) -> FloatArray:
        """Correlation of each list."""
        by_score = tied_blocks(lists.score, lists.offsets)
        by_grade = tied_blocks(lists.grade, lists.offsets)
        right = _credits(lists, by_score, by_grade, lists.weight)
        mass = _mass(by_score, lists.weight)
        above, size = _above(by_score, mass).astype(np.float64), mass.astype(np.float64)
        # At place r of a block of L items after N others, r = 1..L, an item has the mean credit
        # right / L among the N, and half of the r - 1 others of the block.
        harmonic = reciprocals(np.maximum(above, 1.0), size)
        sums = np.where(
            above > 0,
            right / size * harmonic + (size - above * harmonic) / 2.0,
            (size - 1.0) / 2.0,
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            values = 2.0 * by_score.list_totals(sums) / (lists.sizes - 1.0) - 1.0
        return np.where(_n_blocks(by_grade) > 1, np.clip(values, -1.0, 1.0), np.nan)


@function_of(TauAPMeasure)
def tau_ap_score(y_true: Any, y_score: Any, **options: Unpack[WeightedOptions]) -> Value:
    """AP rank correlation (tau-AP), in which errors at the top have more weight.

    ``tau-AP = 2 / (n - 1) sum over positions i = 2..n of C(i) / (i - 1) - 1``, C(i) the number of
    items above position i, by score, that are more relevant than the item at i. The value is
    averaged over all orders of items tied in either.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; 0 for a random order; higher is better.

    See Also
    --------
    tau_b_score : All pairs have equal weight; equal in the mean if errors are equally likely at
        every position.
    rank_biased_overlap_score : Similarity of two orders with more weight at the top.

    Notes
    -----
    The measure is not symmetric: the positions are those by score, and relevance is the truth. For
    a block of L tied items after N others, let S be the number of pairs of an item of the block
    and an item above it in the right order, plus half of the pairs tied by relevance. The sum then
    has the mean ``sum over r = 1..L of (S / L + (r - 1) / 2) / (N + r - 1)``. Weights are
    repetitions and must be whole numbers. The time is O(n log n), the memory O(n); the first call
    compiles for about a second.

    References
    ----------
    .. [1] Yilmaz, Aslam & Robertson (2008), *A new rank correlation coefficient for information
       retrieval*, SIGIR.

    Examples
    --------
    >>> from sklearn_rank.metrics import tau_ap_score

    Exchanging two items at the top costs more than at the bottom:

    >>> round(tau_ap_score([4, 3, 2, 1], [3.0, 4.0, 2.0, 1.0]), 4)
    0.3333
    >>> round(tau_ap_score([4, 3, 2, 1], [4.0, 3.0, 1.0, 2.0]), 4)
    0.7778
    """
    return evaluate(TauAPMeasure, y_true, y_score, **options)


def _credits(
    lists: ScoredLists, by_score: TiedBlocks, by_grade: TiedBlocks, weight: FloatArray | None
) -> FloatArray:
    """Weight of the pairs of an item of each block and one above it that are in the right order.

    Pairs of the same relevance count half.
    """
    from ._concordance_kernels import credit_above

    level = _levels(by_grade)
    credit = np.empty(len(by_score.starts))
    credit_above(
        level[by_score.order],
        np.ones(len(level)) if weight is None else weight[by_score.order],
        by_score.starts.astype(np.int64, copy=False),
        np.asarray(lists.offsets, dtype=np.int64),
        credit,
    )
    return credit


def _levels(by_grade: TiedBlocks) -> IntArray:
    """Number of distinct relevances of the list that are above that of each item."""
    level = np.empty(len(by_grade.order), dtype=np.int64)
    of_block = np.arange(len(by_grade.starts)) - by_grade.first[by_grade.list_of()]
    level[by_grade.order] = np.repeat(of_block, by_grade.lengths())
    return level


def _agreement(
    lists: ScoredLists, by_score: TiedBlocks, by_grade: TiedBlocks, weight: FloatArray | None
) -> FloatArray:
    """Weight of the pairs of each list in the same order less that of those in the opposite one.

    It is the mean over all orders of tied items, too.
    """
    credit = _credits(lists, by_score, by_grade, weight)
    mass = _mass(by_score, weight)
    untied = by_score.list_totals(mass * _above(by_score, mass))
    return np.asarray(2.0 * by_score.list_totals(credit) - untied)


def _tied_in_both(lists: ScoredLists, by_score: TiedBlocks, by_grade: TiedBlocks) -> FloatArray:
    """Number of pairs of each list whose scores are equal and whose relevances are."""
    if by_score.untied and lists.weight is None:
        return np.zeros(lists.n_lists)
    level = _levels(by_grade)[by_score.order]
    block = np.repeat(np.arange(len(by_score.starts)), by_score.lengths())
    n_levels = int(level.max()) + 1
    codes, which = np.unique(block * n_levels + level, return_inverse=True)
    weight = None if lists.weight is None else lists.weight[by_score.order]
    mass = np.bincount(which, weights=weight)
    pairs = mass * (mass - 1.0) / 2.0
    list_of = by_score.list_of()[codes // n_levels]
    totals = np.bincount(list_of, weights=pairs, minlength=lists.n_lists)
    return totals.astype(np.float64, copy=False)


def _mass(blocks: TiedBlocks, weight: FloatArray | None) -> AnyArray:
    """Weight of each block; counts as integers, whose sums are faster."""
    return blocks.lengths() if weight is None else blocks.totals(weight)


def _above(blocks: TiedBlocks, mass: AnyArray) -> AnyArray:
    """Weight of the list above each block."""
    return np.maximum(blocks.running(mass) - mass, 0)


def _n_blocks(blocks: TiedBlocks) -> IntArray:
    return np.diff(blocks.first, append=len(blocks.starts))
