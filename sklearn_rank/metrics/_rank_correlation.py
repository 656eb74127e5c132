"""Agreement of two orders: rank correlations, and rank-biased overlap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, inf
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, zeta

from .._lists import Lists, ScoredLists, group_rows
from .._order import (
    TiedBlocks,
    descending,
    leading,
    ragged_ranges,
    running_totals,
    stable_order,
    tied_blocks,
)
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import LAST_POSITION, check_qid, check_scores, check_share
from ._conventions import NamedNumber, PositionalForm, linear_discounts, share
from ._evidence import Evidence
from ._influence import ClassInfluence
from ._measure import (
    ListOptions,
    Measure,
    Value,
    WeightedOptions,
    checked,
    function_of,
    last_position,
    one_of,
)
from ._tied_sums import NEGLIGIBLE, reciprocals


class _Agreement(Measure):
    """An agreement of two orders, undefined where the relevances are no order."""

    kind = "graded"
    per_query = True
    range = (-1.0, 1.0)
    lowest = -inf
    lacking = "items of one relevance only"


class _Tau(_Agreement):
    depends_on_length = False
    compares_pairs = True
    # Of each list by the pairs of its orders; any number for a list of one item.
    _tau: ClassVar[Callable[..., FloatArray]]

    def values(self, lists: ScoredLists) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs = _TwoOrders.of(lists, self._pair_weight(lists))
            values = np.clip(self._tau(pairs), -1.0, 1.0)
        return np.where(pairs.grades.n_blocks > 1, values, np.nan)

    def _pair_weight(self, lists: ScoredLists) -> FloatArray | None:
        return lists.weight


class TauBMeasure(_Tau):
    weights = "relative"
    stem = "tau_b"

    def _pair_weight(self, lists: ScoredLists) -> FloatArray | None:
        # A pair weighs a product, which must neither overflow nor vanish.
        return None if lists.weight is None else lists.weight / lists.to_items(lists.sizes)

    def _tau(self, pairs: _TwoOrders) -> FloatArray:
        values = pairs.agreement() / np.sqrt(pairs.grades.untied) / np.sqrt(pairs.scores.untied)
        # Scores that are all tied give no order, which counts as much as a random order.
        return np.where(pairs.scores.n_blocks > 1, values, 0.0)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return _influence_of_items(self, lists, _of_tau_b)


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


class TauXMeasure(_Tau):
    weights = "whole"
    stem = "tau_x"
    from_ranges = "sum"

    def _tau(self, pairs: _TwoOrders) -> FloatArray:
        # The squares of the cells are twice the pairs tied in both, and once each item.
        tied = pairs.squares - pairs.sizes
        return (2.0 * pairs.agreement() + tied) / pairs.sizes / (pairs.sizes - 1.0)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return _influence_of_items(self, lists, _of_tau_x)


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
    A tie of scores is taken as the prediction that the items are equally relevant; the value is
    not a mean over the orders of tied items, which would count T as 0. ``1 - tau-x`` is
    proportional to the Kemeny-Snell distance, a metric on orders with ties; tau-x is 1 only for
    the same order. If all scores are tied, it is the share of the pairs tied by relevance; if all
    relevances are, there is no order to find, and it is undefined. Weights are repetitions and
    must be whole numbers; copies of an item are tied in both orders.

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


class TauAPMeasure(_Tau):
    weights = "whole"
    stem = "tau_ap"
    from_ranges = "sum"

    def _tau(self, pairs: _TwoOrders) -> FloatArray:
        blocks, mass = pairs.by_score, _mass(pairs.by_score, pairs.weight)
        right = pairs.credits()
        above, size = _above(blocks, mass).astype(np.float64), mass.astype(np.float64)
        # At place r of a block of L items after N others, r = 1..L, an item has the mean credit
        # right / L among the N, and half of the r - 1 others of the block.
        harmonic = reciprocals(np.maximum(above, 1.0), size)
        sums = np.where(
            above > 0,
            right / size * harmonic + (size - above * harmonic) / 2.0,
            (size - 1.0) / 2.0,
        )
        return np.asarray(2.0 * blocks.list_totals(sums) / (pairs.sizes - 1.0) - 1.0)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return _influence_of_items(self, lists, _of_tau_ap)


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
    repetitions and must be whole numbers.

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
        mass = _mass(blocks, weight).astype(np.float64)
        squares = blocks.list_totals(mass * mass)
        if weight is None:
            return cls(n_blocks, squares, (sizes * sizes - squares) / 2.0)
        return cls(n_blocks, squares, blocks.list_totals(mass * _above(blocks, mass)))


@dataclass(frozen=True, eq=False)
class _TwoOrders:
    """Items in the order of their scores, those that are tied from the least relevant."""

    by_score: TiedBlocks
    level: NDArray[np.uint32]  # (n,): Number of distinct relevances of the list above the item's
    weight: FloatArray | None  # (n,): Of the items as lists have them
    offsets: IntArray
    sizes: FloatArray  # (n_lists,): Weight of the items
    grades: _Ties
    scores: _Ties
    squares: FloatArray  # (n_lists,): Sum of the squares of cells, items that are tied in both

    @classmethod
    def of(cls, lists: ScoredLists, weight: FloatArray | None) -> _TwoOrders:
        sizes = lists.sizes if weight is None else lists.totals(weight)
        blocks = tied_blocks(lists.grade, lists.offsets)
        grades, level = _Ties.of(blocks, weight, sizes), _levels(blocks)
        del blocks
        blocks = cells = tied_blocks(lists.score, lists.offsets)
        scores, level = _Ties.of(blocks, weight, sizes), level[blocks.order]
        if not blocks.untied:
            codes = blocks.to_rows(np.arange(len(blocks.starts), 0, -1)) * (int(level.max()) + 1)
            order, codes = descending(codes + level)
            blocks, level = replace(blocks, order=blocks.order[order]), level[order]
            starts = np.flatnonzero(_changes(codes))
            cells = replace(
                blocks, starts=starts, first=np.searchsorted(starts, blocks.starts[blocks.first])
            )
        squares = _Ties.of(cells, weight, sizes).squares
        return cls(blocks, level, weight, lists.offsets, sizes, grades, scores, squares)

    @cached_property
    def block(self) -> IntArray:
        """Number of the block of each item, among those of all lists."""
        return np.asarray(self.by_score.to_rows(np.arange(len(self.by_score.starts))))

    @property
    def _list_of(self) -> IntArray:
        return np.repeat(np.arange(len(self.sizes)), np.diff(self.offsets))

    @property
    def _ordered_weight(self) -> FloatArray | None:
        return None if self.weight is None else self.weight[self.by_score.order]

    def agreement(self) -> FloatArray:
        """Weight of the pairs of each list in the same order less that in the opposite order."""
        weight, into = self._ordered_weight, None if len(self.sizes) == 1 else self._list_of
        right = sums_over_pairs(self.level, self.offsets, into, weight, weight)
        tied_by_grade = (self.grades.squares - self.squares) / 2.0
        return 2.0 * right + tied_by_grade - self.scores.untied

    def credits(self) -> FloatArray:
        """Weight of the pairs of each block and what is above it in the right order, ties half."""
        weight = self._ordered_weight
        code = self._list_of * (int(self.level.max()) + 1) + self.level
        equal = _equal_above(code, self.block, weight)
        equal = self.by_score.sums(equal if weight is None else equal * weight)
        right = sums_over_pairs(self.level, self.offsets, self.block, weight, weight)
        return right + equal / 2.0


def _levels(by_grade: TiedBlocks) -> NDArray[np.uint32]:
    """Number of distinct relevances of the list that are above that of each item."""
    of_block = np.arange(len(by_grade.starts)) - by_grade.first[by_grade.list_of()]
    return np.asarray(by_grade.to_items(of_block.astype(np.uint32)))


# Items of the longest runs whose pairs are compared one by one; fewer where pairs have weights.
SHORT, SHORT_WEIGHTED = 32, 8


def sums_over_pairs(
    level: Any, offsets: IntArray, into: Any = None, earlier: Any = None, later: Any = None
) -> FloatArray:
    """Sum the weights of the pairs of an item and an earlier one of its list of a lower level.

    ``into`` says to which sum a pair adds, by its later item; None is one sum. A pair weighs the
    product of its items' weights, ``earlier`` and ``later``, or 1. Runs of items are split by the
    bits of their levels, the highest first: there the pairs are counted that this bit tells apart.
    """
    sums, sizes = np.zeros(1 if into is None else int(into[-1]) + 1), np.diff(offsets)
    bit = int(level.max()).bit_length()
    short = SHORT if earlier is None else SHORT_WEIGHTED
    # Differences of sums over all lists would lose digits of one.
    kind: Any = np.float64 if len(sizes) == 1 else np.longdouble

    def add(items: Any, weight: Any) -> None:
        weight = weight if later is None else weight * later[items]
        sums[:] += weight.sum() if into is None else np.bincount(into[items], weight, len(sums))

    while bit and sizes.max() > short:
        bit -= 1
        has_bit = (level & np.uint32(1 << bit)) != 0
        high, low = np.flatnonzero(has_bit), np.flatnonzero(~has_bit)
        starts = np.cumsum(sizes) - sizes
        high_before = np.searchsorted(high, starts)
        n_high, low_before = np.diff(high_before, append=len(high)), starts - high_before
        passed: Any = high - np.arange(len(high))
        if earlier is None:
            passed -= np.repeat(low_before, n_high)
        else:
            total = np.zeros(len(low) + 1, dtype=kind)
            np.cumsum(earlier[low], out=total[1:])
            passed = (total[passed] - np.repeat(total[low_before], n_high)).astype(np.float64)
        add(high, passed)
        del has_bit, passed
        level, into, earlier, later = (
            None if x is None else np.concatenate([x[low], x[high]])
            for x in (level, into, earlier, later)
        )
        sizes = np.concatenate([sizes - n_high, n_high])
        sizes = sizes[sizes > 0]
    if bit:
        run = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        weight: Any = np.zeros(len(level), np.uint8 if earlier is None else np.float64)
        for distance in range(1, int(sizes.max())):
            pairs = level[distance:] > level[:-distance]
            pairs &= run[distance:] == run[:-distance]
            weight[distance:] += pairs if earlier is None else pairs * earlier[:-distance]
        add(slice(None), weight)
    return sums


def _changes(values: AnyArray) -> BoolArray:
    """Where a value differs from that before it."""
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def _equal_above(code: AnyArray, block: IntArray, weight: FloatArray | None) -> FloatArray:
    """Weight of the items of the same code in the blocks above that of each item."""
    order = stable_order(code)
    new = _changes(code[order])
    starts = np.flatnonzero(new | _changes(block[order]))
    lengths = np.diff(starts, append=len(code))
    mass = lengths if weight is None else np.add.reduceat(weight[order], starts)
    above = np.empty(len(code))
    above[order] = np.repeat(running_totals(mass, np.flatnonzero(new[starts])) - mass, lengths)
    return above


def _mass(blocks: TiedBlocks, weight: FloatArray | None) -> AnyArray:
    """Weight of each block; counts as integers, whose sums are faster."""
    return blocks.lengths() if weight is None else blocks.totals(weight)


def _above(blocks: TiedBlocks, mass: AnyArray) -> AnyArray:
    """Weight of the list above each block."""
    return np.maximum(blocks.running(mass) - mass, 0)


# Lists of more than this weight are measured in units of their own.
HEAVY = 1e90


class SpearmanMeasure(_Agreement):
    depends_on_length = False
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
        unit = np.ldexp(1.0, np.frexp(size)[1]) if size.max() > HEAVY else np.ones(1)
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

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return _influence_of_items(self, lists, _of_spearman)


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
    mass: Any = _mass(blocks, weight)
    middles = blocks.running(mass).astype(np.float64, copy=False)
    middles -= (mass - 1.0) / 2.0
    return middles


def _from_middle(lists: Lists, blocks: TiedBlocks, unit: FloatArray) -> FloatArray:
    """Number of units by which each block is above the middle of its list."""
    middles = _middles(blocks, lists.weight)
    of_list = slice(None) if lists.n_lists == 1 else blocks.list_of()
    np.subtract(((lists.sizes + 1.0) / 2.0)[of_list], middles, out=middles)
    middles /= unit if len(unit) == 1 else unit[of_list]
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
    score = check_scores(y_score)
    if qid is None:
        return middle_positions(score, None, np.array([0, len(score)]))
    _, offsets, rows = group_rows(check_qid(qid, len(score)))
    if rows is None:
        return middle_positions(score, None, offsets)
    positions = np.empty(len(score))
    positions[rows] = middle_positions(score[rows], None, offsets)
    return positions


# Terms of a tail that are summed one by one.
LONGEST_TAIL = 2**20


class RankBiasedOverlapMeasure(_Agreement):
    range = (0.0, 1.0)
    weights = "none"
    stem = "rbo@"
    _number = NamedNumber("persistence", share, "0.9")

    persistence: float = checked(check_share, 0.9)  # Chance that the reader goes on by one depth
    k: int | None = last_position()
    beyond: Literal["extrapolated", "least", "nothing"] = one_of(
        "extrapolated", "least", "nothing", default="extrapolated"
    )

    def values(self, lists: ScoredLists) -> FloatArray:
        p, constant = float(self.persistence), _constant(lists)
        # Deeper the weights are negligible.
        deepest = min(ceil(NEGLIGIBLE / (1.0 - p)) + 1, self.k or LAST_POSITION)
        last = np.minimum(lists.lengths, deepest)
        lists = _among_first(lists, last)
        first, lengths = lists.offsets[:-1], lists.lengths
        depth = ragged_ranges(np.ones_like(first), lengths)
        shared = _overlaps(lists, depth)
        weight = np.where(depth <= lists.to_items(last), p ** (depth - 1.0) / depth, 0.0)
        values = (1.0 - p) * np.add.reduceat(weight * shared, first)
        at_last = shared[first + last - 1]
        if self.beyond == "extrapolated":
            values += at_last / last * p**last
        elif self.beyond == "least":
            values += at_last * (1.0 - p) / p * _tails(p, last)
        return np.where(constant, np.nan, np.minimum(values, 1.0))


@function_of(RankBiasedOverlapMeasure)
def rank_biased_overlap_score(
    y_true: Any,
    y_score: Any,
    *,
    persistence: float = 0.9,
    k: int | None = None,
    beyond: Literal["extrapolated", "least", "nothing"] = "extrapolated",
    **options: Unpack[ListOptions],
) -> Value:
    """Rank-biased overlap (RBO) of the orders by relevance and by score.

    ``RBO = (1 - p) sum over depths d of p**(d - 1) X_d / d``, X_d the number of items that are
    among the first d of both orders. The weights model a reader who goes on to the next depth with
    probability p. The value is averaged over all orders of items tied in either.

    Parameters
    ----------
    persistence : float, default=0.9
        Probability p that the reader goes on to the next depth, in (0, 1). A greater value looks
        deeper: at .9 the first ten depths have 86 % of the weight, at .98 the first fifty have 85
        %.
    k : int or None, default=None
        Last depth that is evaluated, at least 1. None is the length of the list.
    beyond : {"extrapolated", "least", "nothing"}, default="extrapolated"
        What the depths after the last one, D, add. "extrapolated" assumes that the agreement stays
        ``X_D / D`` (RBO-EXT of the paper). "least" assumes that no further common items are found
        (RBO-MIN). "nothing" ends the sum at D, so that equal orders have the value ``1 - p**D``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Overlap in [0, 1], 1 for equal orders if extrapolated; higher is better.

    See Also
    --------
    tau_ap_score : Correlation in [-1, 1] in which errors at the top have more weight.
    rank_biased_precision_score : Relevance seen by the same model of a reader.

    Notes
    -----
    Corsi and Urbano (2024) call the mean over the orders of tied items RBO-a; Webber et al. put
    all of a block of ties at its last position. Both orders contain the same items. For rankings
    of different items, give an item that a ranking lacks its lowest score, and set ``k``.

    References
    ----------
    .. [1] Webber, Moffat & Zobel (2010), *A similarity measure for indefinite rankings*, ACM
       Transactions on Information Systems 28.
    .. [2] Corsi & Urbano (2024), *The treatment of ties in rank-biased overlap*, SIGIR.

    Examples
    --------
    >>> from sklearn_rank.metrics import rank_biased_overlap_score
    >>> rank_biased_overlap_score([3, 2, 1], [3.0, 2.0, 1.0])
    1.0
    >>> round(rank_biased_overlap_score([3, 2, 1], [1.0, 2.0, 3.0]), 4)
    0.855

    The weight of the first ten depths:

    >>> round(rank_biased_overlap_score(range(10), range(10), beyond="least"), 2)
    0.86
    """


def _tails(p: float, last: IntArray) -> FloatArray:
    """Sums of ``p**d / d`` over d > last."""
    longest, more = int(last.max()), ceil(NEGLIGIBLE / (1.0 - p))
    if more > LONGEST_TAIL:
        # The tail is so heavy that what precedes it does not cancel.
        upto = np.cumsum(p ** np.arange(1.0, longest + 1) / np.arange(1.0, longest + 1))
        return -np.log1p(-p) - upto[last - 1]
    depth = np.arange(1.0, longest + more + 1)
    return np.cumsum((p**depth / depth)[::-1])[::-1][last]


def _among_first(lists: ScoredLists, counts: Any) -> ScoredLists:
    """Items that can be among so many first of either order."""
    first, second = (leading(x, counts, lists.offsets) for x in (lists.score, lists.grade))
    if first is None or second is None:
        return lists
    rows = np.union1d(first, second)
    offsets = np.searchsorted(rows, lists.offsets)
    return replace(lists, labels=lists.grade[rows], score=lists.score[rows], offsets=offsets)


def _overlaps(lists: ScoredLists, depth: IntArray) -> FloatArray:
    """Mean number of items that are among the first d of both orders, for each depth d of a list.

    An item of a tied block after N others, of L items, is among the first d with chance
    ``min(max((d - N) / L, 0), 1)``. At one depth all items whose chance is between 0 and 1 in one
    order are of one block, so that counts of items, which change where blocks begin and end, give
    the sum of the products.
    """
    n, head = len(depth), lists.to_items(lists.offsets[:-1])
    starts, ends, shares = [], [], []
    for values in (lists.score, lists.grade):
        blocks = tied_blocks(values, lists.offsets)
        # Of the item at each place, where its block begins among all rows, and how long it is.
        begins = np.repeat(blocks.starts, blocks.lengths())
        length = np.repeat(blocks.lengths(), blocks.lengths())
        # The depth cuts the block of the item at its place.
        shares.append((head + depth - begins) / length)
        start, end = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        start[blocks.order], end[blocks.order] = begins, begins + length
        starts.append(start)
        ends.append(end)
    # Depth d of a list stands in row head + d - 1; a block is complete from its last item on.
    complete = np.bincount(np.maximum(*ends) - 1, minlength=n)
    stops = lists.offsets[1:]
    complete[stops[:-1]] -= np.diff(stops, prepend=0)[:-1]  # all items of the list before
    shared = np.cumsum(complete).astype(np.float64)
    both_cut = _between(np.maximum(*starts), np.minimum(*ends) - 1, n)
    shared += shares[0] * shares[1] * both_cut
    for i, j in ((0, 1), (1, 0)):
        # The block of order i is cut, that of order j complete.
        since = np.maximum(starts[i], ends[j] - 1)
        shared += shares[i] * _between(since, ends[i] - 1, n)
    return shared


def _between(since: IntArray, until: IntArray, n: int) -> IntArray:
    """Number of items, for each row, that count from this row or one before it until after it."""
    until = np.maximum(since, until)
    change = np.bincount(since, minlength=n) - np.bincount(until, minlength=n)
    return np.cumsum(change)


# ----------------------------------------------------------------------------- influence of items


# Influence of each item, of mean 0, and of an item at either extreme.
CorrelationInfluence: TypeAlias = tuple[FloatArray, tuple[float, float]]


class _Pairs:
    """Items in descending order of their scores, and the counts of the items around each."""

    def __init__(self, data: ScoredLists) -> None:
        self.n = len(data.score)
        orders = _TwoOrders.of(data, None)
        self.blocks, self.level, self.block = orders.by_score, orders.level, orders.block
        lengths = self.blocks.lengths()
        self.above = np.repeat(self.blocks.starts, lengths).astype(
            np.float64
        )  # Items above the block
        self.size = np.repeat(lengths, lengths).astype(np.float64)  # and of the block
        # Items of higher and of equal relevance, above the block and in the block.
        self.higher, self.equal = _around(self.level, self.block)
        new = _changes(self.level) | _changes(self.block)
        ends = np.append(np.flatnonzero(new)[1:], self.n)
        lengths = np.diff(ends, prepend=0)
        self.equal_tied = np.repeat(lengths, lengths).astype(np.float64)
        self.higher_tied = self.above + self.size - np.repeat(ends, lengths)

    def agreement(self) -> FloatArray:
        """Items that both orders put on the same side of each, less those on opposite sides."""
        mass = np.bincount(self.level).astype(np.float64)
        ahead = np.cumsum(mass) - mass
        higher, equal = self.higher, self.equal
        higher_below = ahead[self.level] - higher - self.higher_tied
        equal_below = mass[self.level] - equal - self.equal_tied
        lower_below = self.n - self.above - self.size - higher_below - equal_below
        return higher - (self.above - higher - equal) + lower_below - higher_below

    def to_rows(self, values: FloatArray) -> FloatArray:
        rows = np.empty(self.n)
        rows[self.blocks.order] = values
        return rows


def _around(
    level: NDArray[np.uint32], block: IntArray, weight: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Weight of the items above the block of each item of one list, of lower and equal levels."""
    n = len(level)
    lower = sums_over_pairs(level, np.array([0, n]), np.arange(n), weight)
    return lower, _equal_above(level, block, weight)


def _of_tau_x(data: ScoredLists) -> CorrelationInfluence:
    pairs = _Pairs(data)
    agreement = (pairs.agreement() + pairs.equal_tied - 1.0) / (pairs.n - 1.0)
    mean = float(agreement.mean())
    ends = (2.0 * (-1.0 - mean), 2.0 * (1.0 - mean))
    return pairs.to_rows(2.0 * (agreement - mean)), ends


def _of_tau_b(data: ScoredLists) -> CorrelationInfluence:
    pairs = _Pairs(data)
    n_others = pairs.n - 1.0
    agreement = pairs.agreement() / n_others
    same_grade = np.bincount(pairs.level).astype(np.float64)[pairs.level]
    by_grade, by_score = ((pairs.n - tied) / n_others for tied in (same_grade, pairs.size))
    mean, mean_grade, mean_score = (float(x.mean()) for x in (agreement, by_grade, by_score))
    # Scores that are all tied have correlation 0, for any divisor.
    mean_score = mean_score or 1.0
    divisor = float(np.sqrt(mean_grade * mean_score))
    tau = mean / divisor

    def influence(agreement: Any, by_grade: Any, by_score: Any) -> Any:
        ties = (by_grade - mean_grade) / mean_grade + (by_score - mean_score) / mean_score
        return 2.0 * (agreement - mean) / divisor - tau * ties

    values = pairs.to_rows(influence(agreement, by_grade, by_score))
    ends = float(influence(-1.0, 1.0, 1.0)), float(influence(1.0, 1.0, 1.0))
    return values - values.mean(), ends


def _of_spearman(data: ScoredLists) -> CorrelationInfluence:
    """Influence of the items on Spearman's correlation.

    With u and v the middle ranks by score and by relevance as shares of the list, less one half,
    an item has ``12 (u v + p + q)`` less the mean: p is the mean of v over the items that it is
    below by score, q that of u over those that it is below by relevance, ties counted half.
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


def _of_tau_ap(data: ScoredLists) -> CorrelationInfluence:
    pairs = _Pairs(data)
    above, size = pairs.above, pairs.size
    right = pairs.higher + pairs.equal / 2.0
    # Of the others of the block, those that belong above the item: each has place r in 1..size.
    tied_right = pairs.higher_tied + (pairs.equal_tied - 1.0) / 2.0
    tied_share = tied_right / np.maximum(size - 1.0, 1.0)
    # Sums over its places of 1 / m and 1 / m^2, m the items above it; then of (r - 1) / m,
    # (r - 1) / m^2 and (r - 1)^2 / m^2.
    ones, squares = _place_sums(above, size)
    at_top = above == 0.0
    ratio = np.where(at_top, size - 1.0, size - above * ones)
    by_square = np.where(at_top, ones, ones - above * squares)
    of_squares = np.where(at_top, size - 1.0, size - 2.0 * above * ones + above**2 * squares)
    share = (right * ones + tied_share * ratio) / size
    # What an item above adds, if it belongs there, and what its presence takes.
    gain, loss = ones / size, (right * squares + tied_share * by_square) / size
    gain[at_top] = loss[at_top] = 0.0
    reverse = slice(None, None, -1)
    level, block = pairs.level.max() - pairs.level[reverse], pairs.block[-1] - pairs.block[reverse]
    lower, equal = (x[reverse] for x in _around(level, block, gain[reverse]))
    losses = np.cumsum(loss)
    last = np.repeat(np.append(pairs.blocks.starts[1:], pairs.n) - 1, pairs.blocks.lengths())
    added = lower + equal / 2.0 - (losses[-1] - losses[last])
    n_pairs = size * np.maximum(size - 1.0, 1.0)
    in_block = (right * by_square + tied_share * of_squares) / n_pairs
    if not pairs.blocks.untied:
        totals = np.add.reduceat(in_block, pairs.blocks.starts)
        of_others = np.repeat(totals, pairs.blocks.lengths()) - in_block
        added += np.where(size > 1.0, ratio / n_pairs * (size - 1.0 - tied_right) - of_others, 0.0)
    values = 2.0 * (share + added)
    mean = float(share.mean())
    ends = -2.0 * max(float(loss.sum()), mean), 2.0 * max(float((gain - loss).sum()), 1.0 - mean)
    return pairs.to_rows(values - values.mean()), ends


def _place_sums(above: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of 1/m and 1/m^2 over ``above <= m < above + size``, but m = 0."""
    least = np.maximum(above, 1.0)
    ones, squares = 1.0 / least, 1.0 / least**2
    alone = (above == 0.0) & (size == 1.0)
    ones[alone] = squares[alone] = 0.0
    tied = np.flatnonzero(size > 1.0)
    low, high = least[tied], above[tied] + size[tied]
    ones[tied] = digamma(high) - digamma(low)
    squares[tied] = zeta(2.0, low) - zeta(2.0, high)
    return ones, squares


def _influence_of_items(
    measure: Measure, lists: ScoredLists, of_items: Callable[[ScoredLists], CorrelationInfluence]
) -> ClassInfluence:
    if np.ptp(lists.grade) == 0.0:
        raise ValueError(
            f"{measure.name} is undefined: all {len(lists.grade)} items of y_true have the same"
            " relevance; pass items with different relevance."
        )
    values, ends = of_items(Evidence(measure, lists).repeat().data)
    if (counts := lists.weight) is not None:
        values = values[(np.cumsum(counts) - counts).astype(np.intp)]
    estimate = float(measure.values(lists)[0])
    return ClassInfluence(
        estimate, values, None, ends, measure.range, label_slope=0.0, counts=counts
    )
