"""Rank correlations by pairs: Kendall's tau-b, tau-x of Emond and Mason, and tau-AP."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from .._blocks import TiedBlocks, tied_blocks
from .._lists import ScoredLists
from .._typing import AnyArray, FloatArray, IntArray
from ._measure import Average, Measure, Undefined, Value
from ._reciprocals import reciprocals

__all__ = [
    "TauAPMeasure",
    "TauBMeasure",
    "TauXMeasure",
    "tau_ap_score",
    "tau_b_score",
    "tau_x_score",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class _RankCorrelation(Measure):
    """A correlation of two orders, undefined where the relevances are no order."""

    kind = "graded"
    per_query = True
    lowest = -inf
    lacking = "items of one relevance only"
    compares_pairs = True

    @property
    def range(self) -> tuple[float, float]:
        """From -1 to 1."""
        return (-1.0, 1.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class TauBMeasure(_RankCorrelation):
    """Pairs in the same order less pairs in the opposite order; see ``tau_b_score``."""

    weights = "relative"
    function = "tau_b_score"
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
        # Scores that are all tied are no order, which is worth as much as one at random.
        values = np.where(_n_blocks(by_score) > 1, np.clip(values, -1.0, 1.0), 0.0)
        return np.where(_n_blocks(by_grade) > 1, values, np.nan)


@dataclass(frozen=True, kw_only=True, repr=False)
class TauXMeasure(_RankCorrelation):
    """The same for orders with ties, which agree on a pair that both tie; see ``tau_x_score``."""

    weights = "whole"
    function = "tau_x_score"
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


@dataclass(frozen=True, kw_only=True, repr=False)
class TauAPMeasure(_RankCorrelation):
    """Share of the items above each that belong there, from -1 to 1; see ``tau_ap_score``."""

    weights = "whole"
    function = "tau_ap_score"
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


def tau_b_score(
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
) -> Value:
    """Correlation by pairs in the same and in the opposite order: Kendall's tau-b.

    ``tau-b = (C - D) / sqrt((N - T_y) (N - T_s))``, of ``N = n (n - 1) / 2`` pairs of items C and
    D those that relevance and score put in the same and in the opposite order, T_y and T_s those
    tied by relevance and by score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite; in two dimensions one list per row, where NaN is no item.
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
        What a list of one relevance counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; more is better.

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
    tau_ap_score : Errors at the top weigh more.
    tau_x_score : Of orders with ties: a pair that both tie counts as one in the same order.
    spearman_score : Correlation of positions.
    scipy.stats.kendalltau : Equal for one list; NaN where all scores are tied.

    Notes
    -----
    ``C - D`` is its mean over all orders of tied items already; the divisor makes up for ties, so
    that a list whose scores tie as the relevances do has the value 1. Where all scores of a list
    are tied it is 0, as much as an order at random is worth in the mean, and not undefined: a
    ranker is not rewarded for scoring hard queries alike. A pair weighs the product of its
    weights. O(n log n) time, O(n) memory; the first call compiles for about a second.

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
    return TauBMeasure(undefined=undefined)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def tau_x_score(
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
) -> Value:
    """Correlation of two orders with ties: the tau-x of Emond and Mason.

    ``tau-x = sum over items i != j of a_ij b_ij / (n (n - 1))``, ``a_ij = 1`` where relevance puts
    i above j or ties them and -1 where it puts i below, ``b_ij`` likewise by score. Of ``N =
    n (n - 1) / 2`` pairs, C and D in the same and in the opposite order and T tied in both, it is
    ``(C - D + T) / N``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
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
        What a list of one relevance counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; more is better.

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
    tau_b_score : Equal without ties; a pair that one order ties alone lowers the divisor too, and
        scores that are all tied count 0.
    spearman_score : Correlation of positions.

    Notes
    -----
    A tie of scores says that the items belong on one level. A pair that both orders tie counts as
    one in the same order, and a pair that one of them ties counts 0, as ``C - D`` of an order at
    random does in the mean: ties of scores are a prediction here, and the value is no mean over
    their orders, which would count T as 0. ``1 - tau-x`` is proportional to the distance of Kemeny
    and Snell, the one that is a metric of orders with ties; it is 1 only for the same order.

    Scores that are all tied count the share of the pairs that relevance ties. A list of one
    relevance has a value by the formula, the share of pairs that scores tie; it is undefined here
    as in the other correlations, since there is no order that a ranker could find. Weights are
    repetitions, copies of an item being tied in both, and others than whole numbers are refused.
    O(n log n) time, O(n) memory; the first call compiles for about a second.

    References
    ----------
    .. [1] Emond & Mason (2002), *A new rank correlation coefficient with application to the
       consensus ranking problem*, Journal of Multi-Criteria Decision Analysis 11.

    Examples
    --------
    >>> from sklearn_rank.metrics import tau_x_score
    >>> round(tau_x_score([3, 2, 1], [3.0, 1.0, 2.0]), 4)
    0.3333

    Two items of one relevance: a ranker gains by tying them.

    >>> round(tau_x_score([1, 1, 0], [3.0, 2.0, 1.0]), 4)
    0.6667
    >>> tau_x_score([1, 1, 0], [2.0, 2.0, 1.0])
    1.0
    """
    return TauXMeasure(undefined=undefined)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def tau_ap_score(
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
) -> Value:
    """Rank correlation in which errors at the top weigh more: tau-AP.

    ``tau-AP = 2 / (n - 1) sum over positions i = 2..n of C(i) / (i - 1) - 1``, C(i) the number of
    items above position i, by score, that are more relevant than the item there. The mean is over
    all orders of items tied in either.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
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
        What a list of one relevance counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; 0 for a random order; more is better.

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
    tau_b_score : All pairs weigh the same; equal in the mean where errors are as likely at every
        position.
    rank_biased_overlap_score : Similarity of two orders, the top first.

    Notes
    -----
    It is not symmetric: the positions are those by score, and relevance is the truth. In a tied
    block of L items after N others, S the number of pairs of one of either in the right order and
    half of those that relevance ties, the sum has the mean ``sum over r = 1..L of
    (S / L + (r - 1) / 2) / (N + r - 1)``. Weights are repetitions, and others than whole numbers
    are refused. O(n log n) time, O(n) memory; the first call compiles for about a second.

    References
    ----------
    .. [1] Yilmaz, Aslam & Robertson (2008), *A new rank correlation coefficient for information
       retrieval*, SIGIR.

    Examples
    --------
    >>> from sklearn_rank.metrics import tau_ap_score

    An exchange at the top costs more than one at the bottom:

    >>> round(tau_ap_score([4, 3, 2, 1], [3.0, 4.0, 2.0, 1.0]), 4)
    0.3333
    >>> round(tau_ap_score([4, 3, 2, 1], [4.0, 3.0, 1.0, 2.0]), 4)
    0.7778
    """
    return TauAPMeasure(undefined=undefined)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )
