"""Rank correlations."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from math import inf
from typing import Any, ClassVar, NamedTuple, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from .._lists import Lists, ScoredLists, group_rows
from .._order import TiedBlocks, changes, descending, tied_blocks
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_qid, check_scores, refuse_misread, take
from ._conventions import PositionalForm, linear_discounts
from ._evidence import Evidence
from ._influence import ClassInfluence
from ._measure import Measure, Value, WeightedOptions, function_of, without_function

# Influence of each item, of mean 0, and of an item at either extreme.
CorrelationInfluence: TypeAlias = tuple[FloatArray, tuple[float, float]]


class _Agreement(Measure):
    """An agreement of two orders, undefined where the relevances are no order."""

    kind = "graded"
    per_query = True
    range = (-1.0, 1.0)
    lowest = -inf
    lacking = "items of one relevance only"
    depends_on_length = False

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        if np.ptp(lists.grade) == 0.0:
            raise ValueError(
                f"{self.name} is undefined: all {len(lists.grade)} items of y_true have the same"
                " relevance; pass items with different relevance."
            )
        values, ends = self._influence_of_items(Evidence(self, lists).repeat().data)
        if (counts := lists.weight) is not None:
            values = values[(np.cumsum(counts) - counts).astype(np.intp)]
        estimate = float(self.values(lists)[0])
        return ClassInfluence(
            estimate, values, None, [ends], self.range, label_slope=0.0, counts=counts
        )

    @abstractmethod
    def _influence_of_items(self, data: ScoredLists) -> CorrelationInfluence: ...


class _OfPairs(_Agreement):
    """Pairs in the same order less those in the opposite order, divided by those not tied."""

    compares_pairs = True
    weights = "relative"
    # Powers of the numbers of pairs not tied by relevance and by score, of which the divisor is
    _powers: ClassVar[tuple[float, float]]

    def values(self, lists: ScoredLists) -> FloatArray:
        # A pair weighs a product, which must neither overflow nor vanish.
        weight = None if lists.weight is None else lists.weight / lists.to_items(lists.sizes)
        blocks, level, grades, scores, squares = _two_orders(lists, weight)
        list_of = None if lists.n_lists == 1 else lists.list_of
        right = sums_over_pairs(level, lists.offsets, list_of, take(weight, blocks.order))
        # Weight of the pairs in the same order less that in the opposite order.
        agreement = 2.0 * right + (grades.squares - squares) / 2.0 - scores.untied
        with np.errstate(divide="ignore", invalid="ignore"):
            values = agreement / grades.untied ** self._powers[0]
            values /= scores.untied ** self._powers[1]
        # Scores that are all tied give no order, which counts as much as a random order.
        values = np.where(scores.n_blocks > 1, np.clip(values, -1.0, 1.0), 0.0)
        return np.where(grades.n_blocks > 1, values, np.nan)

    def _influence_of_items(self, data: ScoredLists) -> CorrelationInfluence:
        n, (blocks, level, *_) = len(data.score), _two_orders(data, None)
        size, above = (
            blocks.to_rows(x).astype(np.float64) for x in (blocks.lengths(), blocks.starts)
        )
        # Items of the same relevance, in the order of the scores: in the list, above the block and
        # within it.
        by_level = np.argsort(level, kind="stable")
        new = changes(level[by_level])
        starts = np.flatnonzero(new | changes(above[by_level]))
        cell = np.diff(starts, append=n)
        equal, equal_tied = np.empty((2, n))
        equal[by_level] = np.repeat(starts - np.flatnonzero(new)[level[by_level[starts]]], cell)
        equal_tied[by_level] = np.repeat(cell, cell)
        same_grade = np.bincount(level)
        # Of higher relevance: in the list, above the block, and within it, where they come last.
        ahead = (np.cumsum(same_grade) - same_grade)[level]
        higher = sums_over_pairs(level, np.array([0, n]), np.arange(n))
        ends = np.append(np.flatnonzero(changes(level) | changes(above))[1:], n)
        higher_tied = above + size - np.repeat(ends, np.diff(ends, prepend=0))
        same_grade = same_grade[level].astype(np.float64)
        # Items on the same side of each in both orders, less those on opposite sides.
        agreement = 4.0 * higher + 2.0 * (equal + higher_tied - ahead - above) + n - size
        agreement += equal_tied - same_grade
        agreement /= n - 1.0
        by_grade, by_score = ((n - tied) / (n - 1.0) for tied in (same_grade, size))
        mean, mean_grade, mean_score = (float(x.mean()) for x in (agreement, by_grade, by_score))
        # Scores that are all tied have correlation 0, for any divisor.
        mean_score = mean_score or 1.0
        of_grade, of_score = self._powers
        divisor = mean_grade**of_grade * mean_score**of_score

        def influence(agreement: Any, by_grade: Any, by_score: Any) -> Any:
            ties = of_grade * (by_grade / mean_grade - 1.0)
            ties += of_score * (by_score / mean_score - 1.0)
            return 2.0 * (agreement - mean - mean * ties) / divisor

        values = np.empty(n)
        values[blocks.order] = influence(agreement, by_grade, by_score)
        low, high = float(influence(-1.0, 1.0, 1.0)), float(influence(1.0, 1.0, 1.0))
        return values - values.mean(), (low, high)


class TauBMeasure(_OfPairs):
    stem = "tau_b"
    _powers = (0.5, 0.5)


@without_function
class SomersDMeasure(_OfPairs):
    per_query = False
    stem = "somers_d"
    _powers = (1.0, 0.0)


@without_function
class CIndexMeasure(SomersDMeasure):
    range = (0.0, 1.0)
    stem = "c_index"

    def values(self, lists: ScoredLists) -> FloatArray:
        return (super().values(lists) + 1.0) / 2.0

    def _influence_of_items(self, data: ScoredLists) -> CorrelationInfluence:
        values, (low, high) = super()._influence_of_items(data)
        return values / 2.0, (low / 2.0, high / 2.0)


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
    spearman_score : Correlation of the positions.
    scipy.stats.kendalltau : Equal for one list; NaN if all scores are tied.

    Notes
    -----
    ``C - D`` equals its mean over all orders of tied items. The divisor corrects for ties: the
    value is 1 if the scores have the order and the ties of the relevances. If all scores of a list
    are tied, the value is 0, the mean of a random order, and not undefined. The weight of a pair
    is the product of the weights of its items.

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


class _Ties(NamedTuple):
    """Ties of one order of each list."""

    n_blocks: IntArray  # (n_lists,)
    squares: FloatArray  # (n_lists,): Sum of the squares of the weights of the blocks
    untied: FloatArray  # (n_lists,): Weight of the pairs that are not tied

    @classmethod
    def of(cls, blocks: TiedBlocks, weight: FloatArray | None, sizes: FloatArray) -> _Ties:
        n_blocks = np.diff(blocks.first, append=len(blocks.starts))
        if weight is None and blocks.untied:
            return cls(n_blocks, sizes, sizes * (sizes - 1.0) / 2.0)
        mass = blocks.masses(weight).astype(np.float64)
        squares = blocks.list_totals(mass * mass)
        if weight is None:
            return cls(n_blocks, squares, (sizes * sizes - squares) / 2.0)
        above = np.maximum(blocks.running(mass) - mass, 0.0)
        return cls(n_blocks, squares, blocks.list_totals(mass * above))


def _two_orders(
    lists: ScoredLists, weight: FloatArray | None
) -> tuple[TiedBlocks, NDArray[np.uint32], _Ties, _Ties, FloatArray]:
    """Items in the order of their scores, those that are tied from the least relevant.

    Blocks of their scores; number of distinct relevances of the list above that of each item; ties
    by relevance and by score; sums of the squares of cells, items that are tied in both.
    """
    sizes = lists.sizes if weight is None else lists.totals(weight)
    blocks = tied_blocks(lists.grade, lists.offsets)
    grades = _Ties.of(blocks, weight, sizes)
    of_block = np.arange(len(blocks.starts)) - blocks.first[blocks.list_of()]
    level = blocks.to_items(of_block.astype(np.uint32))
    del blocks
    blocks = cells = tied_blocks(lists.score, lists.offsets)
    scores, level = _Ties.of(blocks, weight, sizes), level[blocks.order]
    if not blocks.untied:
        codes = blocks.to_rows(np.arange(len(blocks.starts), 0, -1)) * (int(level.max()) + 1)
        order, codes = descending(codes + level)
        blocks, level = replace(blocks, order=blocks.order[order]), level[order]
        starts = np.flatnonzero(changes(codes))
        cells = replace(
            blocks, starts=starts, first=np.searchsorted(starts, blocks.starts[blocks.first])
        )
    return blocks, level, grades, scores, _Ties.of(cells, weight, sizes).squares


def sums_over_pairs(
    level: Any, offsets: IntArray, into: Any = None, weight: FloatArray | None = None
) -> FloatArray:
    """Sum the weights of the pairs of an item and an earlier one of its list of a lower level.

    ``into`` says to which sum a pair adds, by its later item; None is one sum. A pair weighs the
    product of the weights of its items. Runs of items are split by the bits of their levels, the
    highest first: there the pairs are counted whose levels differ in this bit.
    """
    sums, sizes = np.zeros(1 if into is None else int(into[-1]) + 1), np.diff(offsets)
    # Differences of sums over all lists would lose digits of one.
    kind: Any = np.float64 if len(sizes) == 1 else np.longdouble
    for bit in range(int(level.max()).bit_length())[::-1]:
        has_bit = (level & np.uint32(1 << bit)) != 0
        high, low = np.flatnonzero(has_bit), np.flatnonzero(~has_bit)
        starts = np.cumsum(sizes) - sizes
        high_before = np.searchsorted(high, starts)
        n_high, low_before = np.diff(high_before, append=len(high)), starts - high_before
        earlier: Any = high - np.arange(len(high))
        if weight is None:
            earlier -= np.repeat(low_before, n_high)
        else:
            total = np.zeros(len(low) + 1, dtype=kind)
            np.cumsum(weight[low], out=total[1:])
            earlier = (total[earlier] - np.repeat(total[low_before], n_high)).astype(np.float64)
            earlier *= weight[high]
        sums += earlier.sum() if into is None else np.bincount(into[high], earlier, len(sums))
        del has_bit, earlier
        level, into, weight = (
            None if x is None else np.concatenate([x[low], x[high]]) for x in (level, into, weight)
        )
        sizes = np.concatenate([sizes - n_high, n_high])
        sizes = sizes[sizes > 0]
    return sums


class SpearmanMeasure(_Agreement):
    weights = "whole"
    lacking = "one grade only"
    stem = "spearman"
    from_ranges = "sum"

    @property
    def positional(self) -> PositionalForm:
        return PositionalForm(
            _utilities,
            linear_discounts,
            largest=2.0,
            largest_by_length=lambda n: 12 / (n * (n + 1)),
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        size, constant = lists.sizes, _constant(lists)
        # Third powers would overflow; quotients by powers of 2 are exact.
        unit = np.ldexp(1.0, np.frexp(size)[1])
        # Positions from the middle of the list, whose products need no offset.
        blocks = tied_blocks(lists.score, lists.offsets)
        by_score = blocks.to_items(_from_middle(lists, blocks, unit))
        if lists.weight is not None:
            by_score *= lists.weight
        del blocks
        blocks = tied_blocks(lists.grade, lists.offsets)
        by_score = blocks.totals(by_score)
        by_score *= _from_middle(lists, blocks, unit)
        sums = blocks.list_totals(by_score) / unit
        with np.errstate(invalid="ignore", divide="ignore"):
            parts = (size / unit) * ((size + 1.0) / unit) * ((size - 1.0) / unit)
            return np.where(constant, np.nan, 12.0 * sums / parts)

    def _influence_of_items(self, data: ScoredLists) -> CorrelationInfluence:
        """Influence of the items on Spearman's correlation.

        With u and v the middle ranks by score and by relevance as shares of the list, less one
        half, an item has ``12 (u v + p + q)`` less the mean: p is the mean of v over the items
        that it is below by score, q that of u over those that it is below by relevance, ties
        counted half.
        """
        n = len(data.score)
        by_score, by_grade = tied_blocks(data.score), tied_blocks(data.grade)
        ranks = []
        for blocks in (by_score, by_grade):
            ranks.append(blocks.to_items(0.5 - (blocks.starts + blocks.lengths() / 2.0) / n))
        values = ranks[0] * ranks[1]
        mean = float(values.mean())
        for blocks, rank in ((by_score, ranks[1]), (by_grade, ranks[0])):
            sums = blocks.totals(rank)
            values += blocks.to_items((np.cumsum(sums) - sums / 2.0) / n)
        values *= 12.0
        values -= values.mean()
        return values, (-3.0 - 36.0 * mean, 3.0 - 36.0 * mean)


@function_of(SpearmanMeasure)
def spearman_score(y_true: Any, y_score: Any, **options: Unpack[WeightedOptions]) -> Value:
    """Rank correlation of Spearman (rho) between relevance and score.

    ``12 / (n (n**2 - 1)) sum over items of (n - r)(n - i) - 3 (n - 1) / (n + 1)``, r and i the
    positions by relevance and by score. The value is averaged over all orders of items tied in
    either.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Correlation in [-1, 1]; 0 for a random order; higher is better.

    See Also
    --------
    scipy.stats.spearmanr : Equal without ties; divides by the spread of the tied ranks, so that a
        list with tied relevances can reach 1.

    Notes
    -----
    Weights are repetitions and must be whole numbers.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import spearman_score
    >>> spearman_score([3, 2, 1], [3.0, 1.0, 2.0])
    0.5
    """


def _constant(lists: Lists) -> BoolArray:
    """Whether all items of the list are of one grade, as of one item."""
    return lists.largest(lists.grade) == -lists.largest(-lists.grade)


def _utilities(lists: Lists) -> FloatArray:
    if not lists.whole.all():
        raise ValueError(
            "sample_weight has a value that is not whole, but Spearman's correlation takes weights"
            " as numbers of repetitions: pass whole numbers."
        )
    position = middle_positions(lists.grade, lists.weight, lists.offsets)
    n, constant = lists.to_items(lists.sizes), lists.to_items(_constant(lists))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(constant, np.nan, 12 * ((n - position) / n) / ((n - 1) * (n + 1)))


def middle_positions(values: FloatArray, weight: FloatArray | None, offsets: Any) -> FloatArray:
    """Middle of the positions of the tied block of each item, from the top of its list."""
    blocks = tied_blocks(values, offsets)
    return np.asarray(blocks.to_items(_middles(blocks, weight)))


def _middles(blocks: TiedBlocks, weight: FloatArray | None) -> FloatArray:
    """Middle of the positions of each block, from the top of its list."""
    mass = blocks.masses(weight)
    middles = blocks.running(mass).astype(np.float64, copy=False)
    middles -= (mass - 1.0) / 2.0
    return middles


def _from_middle(lists: Lists, blocks: TiedBlocks, unit: FloatArray) -> FloatArray:
    """Number of units by which each block is above the middle of its list."""
    middles = _middles(blocks, lists.weight)
    of_list = slice(None) if lists.n_lists == 1 else blocks.list_of()
    np.subtract(((lists.sizes + 1.0) / 2.0)[of_list], middles, out=middles)
    middles /= unit[of_list]
    return middles


def rank_positions(y_score: Any, qid: Any = None) -> FloatArray:
    """Position of each item from the top of its list.

    Parameters
    ----------
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.

    Returns
    -------
    ndarray of shape (n_samples,)
        Positions in the order of the rows, 1 at the top. Tied items get the mean of their
        positions.

    Raises
    ------
    ValueError
        If a score is NaN or an id is missing.

    See Also
    --------
    scipy.stats.rankdata : Ranks of one list, with 1 at the bottom.

    Notes
    -----
    The time is O(n log n), the memory O(n).

    Examples
    --------
    >>> from sklearn_rank.metrics import rank_positions
    >>> rank_positions([0.1, 0.9, 0.5, 0.5])
    array([4. , 1. , 2.5, 2.5])
    >>> rank_positions([0.1, 0.9, 0.5, 0.5], qid=["a", "b", "a", "b"])
    array([2., 1., 1., 2.])
    """
    refuse_misread(y_score=y_score, qid=qid)
    score = check_scores(y_score)
    offsets = rows = None
    if qid is not None:
        _, offsets, rows = group_rows(check_qid(qid, len(score)))
    if rows is None:
        return middle_positions(score, None, offsets)
    positions = np.empty(len(score))
    positions[rows] = middle_positions(score[rows], None, offsets)
    return positions
