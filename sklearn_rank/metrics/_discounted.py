"""Sums of discounted gains, list by list, in the mean over all orders of tied items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from .._lists import Lists, ScoredLists
from .._order import TiedBlocks, near_whole, ragged_ranges, sorted_descending, tied_blocks
from .._typing import FloatArray, IntArray
from ._position_sums import LogarithmicRun

# Positions whose discounts are laid out as an array; weights on a larger scale are no counts.
MOST_POSITIONS = 10**7
# Sums of gains up to here, and of gains down to its inverse, neither overflow nor lose digits.
USUAL_GAIN = 1e150

# Different gains of one list up to which the items of each are added up without a sort.
FEW_GAINS = 16

# With no more of them for each item it is faster to do so than to find sums in closed form.
MOST_PER_ITEM = 4

Gain: TypeAlias = Literal["exponential", "linear"] | Callable[[FloatArray], Any]
Discount: TypeAlias = Literal["logarithmic", "linear"] | Callable[[FloatArray, FloatArray], Any]


def check_gain(gain: Any) -> None:
    """Raise an error for an invalid gain."""
    if not callable(gain) and not (isinstance(gain, str) and gain in ("exponential", "linear")):
        raise ValueError(f"gain={gain!r} must be 'exponential', 'linear' or a callable.")


def gains_of(grade: FloatArray, gain: Gain) -> FloatArray:
    """Gains of relevances. Finite gains, at least 0. Shape (n,)."""
    if callable(gain):
        gains = np.asarray(gain(grade.copy()), dtype=np.float64)
        if gains.shape != grade.shape:
            raise ValueError(
                f"gain returned shape {gains.shape} for {len(grade)} relevances: it must return"
                " one gain for each."
            )
    elif gain == "exponential":
        with np.errstate(over="ignore"):
            gains = np.exp2(grade) - 1.0
    else:
        return grade
    if not gains.max() < np.inf or not gains.min() >= 0:
        wrong = int(np.argmax(~(np.isfinite(gains) & (gains >= 0))))
        raise ValueError(
            f"The gain of the relevance {grade[wrong]:g} is {gains[wrong]:g}: gains must be finite"
            " and at least 0; pass gain='linear', to a ranker as"
            ' measure=get_measure("ndcg", gain="linear"), or smaller relevances.'
        )
    return gains


def discounted_sums(
    lists: ScoredLists, gains: FloatArray, discount: Discount, k: int | None
) -> FloatArray:
    """Sum of discounted gains of each list, the mean over all orders of tied items.

    Shape (n_lists,).
    """
    gains, exponent = scaled_gains(lists, gains)
    blocks = tied_blocks(lists.score, lists.offsets)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = _block_sums(lists, blocks, gains, discount, k)
        if exponent is not None:
            sums = np.ldexp(sums, exponent)
    if not np.isfinite(sums).all():
        first = int(np.argmax(~np.isfinite(sums)))
        raise ValueError(
            f"The sum of discounted gains of {lists.name_of(first)} exceeds 1.8e308, the largest"
            " float64: use smaller relevances or discounts, or gain='linear'."
        )
    return sums


def scaled_gains(lists: Lists, gains: FloatArray) -> tuple[FloatArray, IntArray | None]:
    """Divide very large or very small gains by a power of 2 for each list."""
    largest = lists.largest(gains)
    usual = (largest <= USUAL_GAIN) & ((largest >= 1.0 / USUAL_GAIN) | (largest == 0.0))
    if usual.all():
        return gains, None
    exponent = np.where(usual, 0, np.frexp(largest)[1])
    return np.ldexp(gains, -lists.to_items(exponent)), exponent


def ideal_sums(lists: Lists, gains: FloatArray, discount: Discount, k: int | None) -> FloatArray:
    """Sum of discounted gains of the best order of each list. Shape (n_lists,)."""
    if lists.weight is not None:
        lists, gains = _merged(lists, lists.weight, gains)
        return _block_sums(lists, tied_blocks(gains, lists.offsets), gains, discount, k)
    ordered = sorted_descending(gains, lists.offsets)
    starts = lists.offsets[:-1]
    lengths = np.diff(lists.offsets)
    counted = lengths if k is None else np.minimum(lengths, k)
    if k is not None:
        ordered = ordered[ragged_ranges(starts, counted)]
        starts = np.cumsum(counted) - counted
    return _list_sums(ordered * _discounts(discount, lengths, counted), starts)


def _merged(lists: Lists, weight: FloatArray, gains: FloatArray) -> tuple[Lists, FloatArray]:
    """Make one item of all that gain the same, where one list has few different gains."""
    if lists.n_lists > 1 or len(np.unique(gains[: 10 * FEW_GAINS])) > FEW_GAINS:
        return lists, gains
    each = np.unique(gains)
    if len(each) > FEW_GAINS:
        return lists, gains
    totals = np.array([np.dot(weight, gains == gain) for gain in each.tolist()])
    return Lists(labels=each, weight=totals, offsets=np.array([0, len(each)])), each


def _block_sums(
    lists: Lists,
    blocks: TiedBlocks,
    gains: FloatArray,
    discount: Discount,
    k: int | None,
) -> FloatArray:
    if lists.weight is not None:
        return _weighted_sums(lists, lists.weight, blocks, gains, discount, k)
    lengths = np.diff(lists.offsets)
    starts, order, first = blocks.starts, blocks.order, blocks.first
    counted = lengths
    if k is not None and k < lengths.max():
        # Only blocks that begin among the first k places, with all of their items.
        counted = np.minimum(lengths, k)
        n_kept = np.searchsorted(starts, lists.offsets[:-1] + counted) - first
        kept = ragged_ranges(first, n_kept)
        first = np.cumsum(n_kept) - n_kept
        begin = starts[kept] - np.repeat(lists.offsets[:-1], n_kept)
        sizes = np.append(starts, len(order))[kept + 1] - starts[kept]
        taken = np.minimum(sizes, k - begin)
        if len(kept) == sizes.sum():
            # No two items are tied here.
            gains = gains[order[starts[kept]]]
            return _list_sums(gains * _discounts(discount, lengths, counted), first)
        order = order[ragged_ranges(starts[kept], sizes)]
        totals = np.add.reduceat(gains[order], np.cumsum(sizes) - sizes)
        sums = np.add.reduceat(_discounts(discount, lengths, counted), np.cumsum(taken) - taken)
        return _list_sums(totals / sizes * sums, first)
    discounts = _discounts(discount, lengths, counted)
    if len(starts) == len(order):
        return _list_sums(gains[order] * discounts, first)
    totals, sums = blocks.totals(gains), np.add.reduceat(discounts, starts)
    return _list_sums(totals / blocks.lengths() * sums, first)


def _weighted_sums(
    lists: Lists,
    item_weight: FloatArray,
    blocks: TiedBlocks,
    gains: FloatArray,
    discount: Discount,
    k: int | None,
) -> FloatArray:
    """Return the same where an item of weight w takes the positions from P to P + w."""
    weight = blocks.totals(item_weight)
    gain = gains[blocks.order] if blocks.untied else blocks.totals(item_weight * gains) / weight
    lengths = near_whole(lists.sizes)
    last = lengths if k is None else np.minimum(lengths, k)
    # One list takes numbers that broadcast.
    list_of = slice(None) if lists.n_lists == 1 else blocks.list_of()
    end = np.minimum(blocks.running(weight), last[list_of])
    del weight
    begin = np.append(0.0, end[:-1])
    begin[blocks.first] = 0.0
    length = np.broadcast_to(lengths, end.shape) if lists.n_lists == 1 else lengths[list_of]
    if lists.whole.all() and last.sum() <= MOST_PER_ITEM * len(gains):
        # Few positions for the number of items are looked up.
        counted = last.astype(np.int64)
        some = begin < end
        begin += (np.cumsum(counted) - counted)[list_of]
        place = begin[some].astype(np.int64)
        sums = end
        sums[~some] = 0.0
        sums[some] = np.add.reduceat(_discounts(discount, lengths, counted), place)
    elif isinstance(discount, Logarithmic) or discount == "logarithmic":
        by_position = discount if isinstance(discount, Logarithmic) else Logarithmic(2.0)
        sums = by_position.scale * LogarithmicRun().sums_between(begin, end, length)
    elif discount == "linear":
        sums = _linear_sums(begin, end, length)
    else:
        counted = np.ceil(last)
        if (total := counted.sum()) > MOST_POSITIONS:
            raise ValueError(
                f"The lists have {total:g} positions to evaluate the discount at, more than the"
                f" limit of {MOST_POSITIONS:g}: pass k, or weights of a smaller scale."
            )
        sums = _laid_out_sums(discount, lengths, counted.astype(np.int64), end, blocks)
    return _list_sums(gain * sums, blocks.first)


def _linear_sums(begin: FloatArray, end: FloatArray, length: FloatArray) -> FloatArray:
    """Sums of ``length - i`` over the positions in ``(begin, end]``."""
    first, last = np.floor(begin), np.floor(end)
    whole = (last - first) * (length - (first + last + 1.0) / 2.0)
    parts = (end - last) * (length - last - 1.0) - (begin - first) * (length - first - 1.0)
    return whole + parts


def _laid_out_sums(
    discount: Discount, lengths: FloatArray, counted: IntArray, end: FloatArray, blocks: TiedBlocks
) -> FloatArray:
    """Sums of the discounts of each block, the positions of all lists end to end.

    Whole positions are added block by block, not as differences of a running sum, which would lose
    the digits of late positions; parts of positions count by their share.
    """
    # One more for sums that end at the last position.
    discounts = np.append(_discounts(discount, lengths, counted), 0.0)
    base = (np.cumsum(counted) - counted)[blocks.list_of()]
    whole = np.floor(end).astype(np.int64)
    begin = np.append(0, whole[:-1])
    begin[blocks.first] = 0
    edges = np.stack((base + begin, base + whole), axis=1).ravel()
    sums = np.add.reduceat(discounts, edges)[::2]
    # reduceat gives an empty stretch its first item.
    sums[whole == begin] = 0.0
    part = (end - whole) * discounts[base + whole]
    before = np.append(0.0, part[:-1])
    before[blocks.first] = 0.0
    return sums + part - before


def _discounts(discount: Discount, lengths: Any, counted: IntArray) -> FloatArray:
    """Discounts of the first positions of each list, list after list."""
    if discount == "linear" or (callable(discount) and not isinstance(discount, OfPosition)):
        starts = np.ones(len(counted), dtype=np.intp)
        position = ragged_ranges(starts, counted).astype(np.float64)
        length = np.repeat(np.asarray(lengths, dtype=np.float64), counted)
        if discount == "linear":
            return length - position
        values = np.asarray(discount(position, length), dtype=np.float64)
        if values.shape != position.shape:
            raise ValueError(
                f"discount returned shape {values.shape} for {len(position)} positions: it must"
                " return one value for each."
            )
        if not np.isfinite(values).all():
            wrong = int(np.argmax(~np.isfinite(values)))
            raise ValueError(f"discount is not finite at position {position[wrong]:g}.")
        return values
    by_position = discount if isinstance(discount, OfPosition) else Logarithmic(2.0)
    table = by_position(np.arange(1, counted.max() + 1).astype(np.float64))
    if counted.min() == counted.max():
        return table if len(counted) == 1 else np.tile(table, len(counted))
    return table[ragged_ranges(np.zeros(len(counted), dtype=np.intp), counted)]


class OfPosition(ABC):
    """A discount that is the same for lists of all lengths."""

    @abstractmethod
    def __call__(self, position: FloatArray, length: FloatArray | None = None) -> FloatArray:
        """Discounts of positions from 1."""


class Logarithmic(OfPosition):
    """The discount ``1 / log(1 + i)``."""

    def __init__(self, base: float) -> None:
        self.scale = np.log(base)

    def __call__(self, position: FloatArray, length: FloatArray | None = None) -> FloatArray:
        return self.scale / np.log1p(position)


class Letor(OfPosition):
    """The discount 1 at the positions 1 and 2, and ``1 / log2(i)`` after."""

    def __call__(self, position: FloatArray, length: FloatArray | None = None) -> FloatArray:
        return 1.0 / np.log2(np.maximum(position, 2.0))


class Geometric(OfPosition):
    """The discount ``(1 - p) p**(i - 1)``."""

    def __init__(self, persistence: float) -> None:
        self.persistence = persistence

    def __call__(self, position: FloatArray, length: FloatArray | None = None) -> FloatArray:
        return (1.0 - self.persistence) * self.persistence ** (position - 1.0)


def _list_sums(values: FloatArray, first: IntArray) -> FloatArray:
    """Sums of consecutive stretches, none of them empty."""
    return np.add.reduceat(values, first) if len(first) > 1 else values.sum()[np.newaxis]
