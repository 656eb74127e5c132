"""Sorting of scores list by list, blocks of tied scores, and the top of a list.

A *list* is a run of consecutive rows; ``offsets`` says where each begins, and None is one list.
Weights count repetitions of an item; items of weight 0 must be removed by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._typing import AnyArray, ArrayPair, BoolArray, FloatArray, IntArray

# Entries that are processed at once, so that intermediate results stay in the cache.
CHUNK = 2**14

# Lists of fewer items are sorted as a whole, even if only their top counts.
LONG = 2**12


def changes(values: AnyArray) -> BoolArray:
    """Where a value differs from that before it."""
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def ragged_ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """Lay consecutive integers end to end, range by range."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def offsets_from(values: AnyArray, lowest: Any) -> IntArray:
    """Subtract the smallest of some integers, whatever their type."""
    if values.dtype.itemsize < 8:
        return values.astype(np.int64) - int(lowest)
    # A difference that overflows 64 bits wraps around to its value.
    return (values - lowest).astype(np.int64)


def stable_order(codes: AnyArray) -> IntArray:
    """Order rows by their codes; rows with equal codes keep their order."""
    lowest = codes.min()
    span = int(codes.max()) - int(lowest)
    if span >= 2**32:
        return np.argsort(codes, kind="stable")
    offset = offsets_from(codes, lowest).astype(np.uint32)
    # NumPy sorts 16 bits by counting: the lower half first, then the upper one.
    order = np.argsort(offset.astype(np.uint16), kind="stable")
    if span < 2**16:
        return order
    return order[np.argsort((offset >> 16).astype(np.uint16)[order], kind="stable")]


def running_totals(values: AnyArray, first: IntArray, out: AnyArray | None = None) -> AnyArray:
    """Cumulative sums that restart at each list; ``out`` is used for one list only."""
    if len(first) == 1:
        return np.cumsum(values, out=out)
    sums = values.copy()
    if values.dtype.kind == "i":
        sums[first[1:]] -= np.add.reduceat(values, first)[:-1]
        return np.cumsum(sums)
    # Differences of sums over other lists would lose the digits of a list of small weights.
    for places in _equally_long_lists(np.append(first, len(values))):
        sums[places] = np.cumsum(values[places], axis=1)
    return sums


def descending(values: AnyArray, offsets: IntArray | None = None) -> tuple[IntArray, AnyArray]:
    """Order the items of each list from its highest value to its lowest."""
    if offsets is None or len(offsets) == 2:
        # Scores often come sorted.
        if values[:1] >= values[-1:] and np.all(values[1:] <= values[:-1]):
            return np.arange(len(values)), values
        order = np.argsort(values)[::-1]
    else:
        order = np.arange(len(values))
        for places in _equally_long_lists(offsets):
            order[places] = places[:, :1] + np.argsort(values[places], axis=1)[:, ::-1]
    return order, values[order]


def sorted_descending(values: AnyArray, offsets: IntArray) -> AnyArray:
    """Sort the values of each list from the highest to the lowest."""
    backwards = values[::-1].copy()
    _sort_lists(backwards, (len(values) - offsets)[::-1])
    return backwards[::-1]


def _sort_lists(values: AnyArray, offsets: IntArray) -> None:
    """Sort the values of each list from the lowest to the highest, in place."""
    length = len(values) // (len(offsets) - 1)
    if len(offsets) == 2 or np.all(np.diff(offsets) == length):
        values.reshape(-1, length).sort(axis=1)
        return
    for places in _equally_long_lists(offsets):
        values[places] = np.sort(values[places], axis=1)


def _equally_long_lists(offsets: IntArray) -> Iterator[IntArray]:
    """Places of the lists of each length above 1 as a table, one list in a row.

    There are at most sqrt(2 n) lengths, and sorting a table is ten times faster than np.lexsort.
    """
    lengths = np.diff(offsets)
    by_length = np.argsort(lengths, kind="stable")
    cuts = np.flatnonzero(np.diff(lengths[by_length])) + 1
    for lists in np.split(by_length, cuts):
        if (length := int(lengths[lists[0]])) > 1:
            yield offsets[lists][:, np.newaxis] + np.arange(length)


def class_codes(
    values: AnyArray, in_class: BoolArray, offsets: IntArray | None = None
) -> NDArray[np.unsignedinteger[Any]]:
    """Sort the values of each list, with the class of their items as the last bit.

    A sort of values is several times faster than one of indices.
    """
    marked = _marked(values, in_class)
    _sort_lists(marked, np.array([0, len(values)]) if offsets is None else offsets)
    return marked.view(f"u{marked.itemsize}")


def _marked(values: AnyArray, in_class: BoolArray) -> AnyArray:
    """Floating-point numbers in the order of the values, with the class as last bit."""
    if values.dtype not in (np.float32, np.float64):
        # float32 holds integers of 16 bits exactly, float64 those of 32 and checked ones of 64.
        values = values.astype(np.float32 if values.dtype.itemsize <= 2 else np.float64)
    low, high = float(values.min()), float(values.max())
    infinite = max(-low, high) == np.inf
    if infinite:
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    # A power of two brings finite values below 1/2, and infinities become 3/4: one bit is free.
    exponent = max(int(np.frexp(max(-low, high))[1]) + 1, 0)
    scale = np.ldexp(values.dtype.type(1.0), -exponent)
    marked = np.empty_like(values)
    unsigned: Any = np.dtype(f"u{values.itemsize}").type
    codes, bits = marked.view(unsigned), values.view(unsigned)
    all_but_sign = unsigned((1 << (8 * values.dtype.itemsize - 1)) - 1)
    # Of the numbers other than 0 that would not become subnormal, in their bits, less 1.
    smallest = unsigned(((exponent + 1) << np.finfo(values.dtype).nmant) - 1)
    buffer = np.empty(min(CHUNK, len(values)), dtype=unsigned)
    for start in range(0, len(values), CHUNK):
        part, code = marked[start : start + CHUNK], codes[start : start + CHUNK]
        magnitude = buffer[: len(code)]
        np.multiply(values[start : start + CHUNK], scale, out=part)
        if infinite:
            np.clip(part, -0.75, 0.75, out=part)
        part += 0.0  # which makes one zero of both
        np.bitwise_and(code, all_but_sign, out=magnitude)
        code += magnitude  # twice the magnitude, behind the same sign
        code |= in_class[start : start + CHUNK]
        if exponent:
            np.bitwise_and(bits[start : start + CHUNK], all_but_sign, out=magnitude)
            magnitude -= unsigned(1)  # 0 becomes the largest number
            if magnitude.min() < smallest:
                ranks = np.unique(values, return_inverse=True)[1].astype(np.float64)
                return _marked(ranks, in_class)
    return marked


def leading(
    values: AnyArray, masses: FloatArray, offsets: IntArray, weight: FloatArray | None = None
) -> IntArray | None:
    """Find the items that can be in the top of their list, of such mass; None where most can."""
    lengths = np.diff(offsets)
    counts = np.ceil(masses)
    if weight is not None:
        # As if the weights of the top were the usual ones, and a little more.
        counts = np.ceil(1.2 * masses * lengths / np.add.reduceat(weight, offsets[:-1]) + 10.0)
    long = np.flatnonzero((lengths >= LONG) & (counts <= lengths // 4))
    if 2 * lengths[long].sum() < len(values):
        return None
    mask = np.ones(len(values), dtype=bool)
    for i in long.tolist():
        items, count = slice(offsets[i], offsets[i + 1]), int(counts[i])
        part, top = values[items], mask[items]
        while count <= len(part) // 2:
            cut = np.partition(part, len(part) - count)[len(part) - count]
            np.greater_equal(part, cut, out=top)
            if weight is None or weight[items][top].sum() > masses[i] * (1.0 + MASS_SLACK):
                break
            top[:] = True
            count *= 2
    rows = np.flatnonzero(mask)
    return rows if 2 * len(rows) <= len(values) else None


# Places of blocks that a loop takes in some seconds at the most.
MAX_PLACES = 1e8


@dataclass(frozen=True, eq=False)
class TiedBlocks:
    """Blocks of equal scores, list by list, each from the top."""

    order: IntArray  # (n,): Items, list by list, from the highest score of a list to its lowest
    starts: IntArray  # (n_blocks,): Where each block begins in ``order``
    first: IntArray  # (n_lists,): First block of each list
    # For one list of two classes, in which a row can represent many items:
    size: Any = None  # FloatArray of shape (n_blocks,): Number of items of each block
    n_pos: Any = None  # FloatArray of shape (n_blocks,): Number of positives of each block

    def lengths(self) -> IntArray:
        return np.diff(self.starts, append=len(self.order))

    def list_of(self) -> IntArray:
        n_lists = len(self.first)
        return np.repeat(np.arange(n_lists), np.diff(self.first, append=len(self.starts)))

    def masses(self, weight: FloatArray | None) -> Any:
        """Weight of each block; counts as integers, whose sums are faster."""
        return self.lengths() if weight is None else self.totals(weight)

    def totals(self, values: FloatArray) -> FloatArray:
        return values[self.order] if self.untied else self.sums(values[self.order])

    def sums(self, ordered: FloatArray) -> FloatArray:
        """Sum the values of each block, given in the order of the blocks."""
        return np.add.reduceat(ordered, self.starts)

    @property
    def untied(self) -> bool:
        return len(self.starts) == len(self.order)

    def list_totals(self, values: Any, dtype: Any = None) -> Any:
        if len(self.first) == 1:
            # np.sum adds pairwise, which keeps more digits of a long list.
            return values.sum(dtype=dtype)[np.newaxis]
        return np.add.reduceat(values, self.first, dtype=dtype)

    def running(self, values: AnyArray) -> AnyArray:
        """Sum the values of the blocks of a list from its top to each, itself included."""
        return running_totals(values, self.first)

    def to_rows(self, values: AnyArray) -> Any:
        """Give each row, in the order of the blocks, the value of its block; (..., n_blocks)."""
        return values if self.untied else np.repeat(values, self.lengths(), axis=-1)

    def to_items(self, values: AnyArray) -> Any:
        """Give each item the value of its block."""
        by_item = np.empty(len(self.order), dtype=values.dtype)
        by_item[self.order] = self.to_rows(values)
        return by_item

    @cached_property
    def n(self) -> int:
        return int(self.size.sum())

    @cached_property
    def k(self) -> int:
        return int(self.n_pos.sum())

    @cached_property
    def below(self) -> FloatArray:
        if len(self.size) == self.n:
            return np.arange(self.n - 1.0, -1.0, -1.0)
        return self.n - np.cumsum(self.size)

    @cached_property
    def upto(self) -> FloatArray:
        """Positives and negatives before each block, and all. Shape (2, n_blocks + 1)."""
        upto = np.zeros((2, len(self.size) + 1))
        np.cumsum(self.n_pos, out=upto[0, 1:])
        np.cumsum(self.size - self.n_pos, out=upto[1, 1:])
        return upto

    @cached_property
    def after(self) -> FloatArray:
        """Negatives and positives after each block from the bottom, and all; of that shape."""
        return (self.upto[:, -1:] - self.upto)[::-1, ::-1]

    @cached_property
    def some(self) -> IntArray:
        """Blocks that hold positives."""
        return np.flatnonzero(self.n_pos)


@dataclass(frozen=True, eq=False)
class ClassBlocks:
    """Blocks of tied items that contain some of one class, with the weights tied and below.

    Within a list they ascend: the last is nearest to the top.
    """

    of_class: FloatArray  # (n_blocks,): Weight of the class in each block
    of_other: FloatArray  # (n_blocks,): Weight of the other class in each block
    class_below: FloatArray  # (n_blocks,): Weight of the class in the list with lower scores
    other_below: FloatArray  # (n_blocks,): Weight of the other class in the list with lower scores
    list_of: IntArray | None  # (n_blocks,): List of each block; None if there is one list
    n_class: FloatArray  # (n_lists,): Weight of the class in each list
    n_other: FloatArray  # (n_lists,): Weight of the other class in each list

    @property
    def below(self) -> FloatArray:
        return self.class_below + self.other_below

    @property
    def total(self) -> FloatArray:
        return self.n_class + self.n_other

    def by_block(self, values: AnyArray) -> Any:
        """Give each block the value of its list; the result broadcasts with blocks."""
        return values if self.list_of is None else values[self.list_of]

    def to_blocks(self, values: AnyArray) -> AnyArray:
        """Give each block the value of its list. Shape (n_blocks,)."""
        return np.broadcast_to(self.by_block(values), self.of_class.shape)

    @property
    def top(self) -> IntArray:
        """Topmost block of each list, arbitrary for lists without a block."""
        if self.list_of is None:
            return np.array([len(self.of_class) - 1])
        last = np.flatnonzero(np.diff(self.list_of, append=-1))
        top = np.zeros(len(self.n_class), dtype=np.intp)
        top[self.list_of[last]] = last
        return top

    @property
    def class_above(self) -> FloatArray:
        return np.maximum(self.by_block(self.n_class) - self.class_below - self.of_class, 0.0)

    @property
    def other_above(self) -> FloatArray:
        return np.maximum(self.by_block(self.n_other) - self.other_below - self.of_other, 0.0)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum the values of the blocks of each list, 0 for lists without a block."""
        if self.list_of is None:
            return values.sum()[np.newaxis]
        sums: FloatArray = np.bincount(  # type: ignore[assignment] # of weights: floats
            self.list_of, weights=values, minlength=len(self.n_class)
        )
        return sums


def counted_blocks(
    y_score: FloatArray, positive: BoolArray, weight: FloatArray | None = None
) -> TiedBlocks:
    """Sort the items of one list and count the positives of each block of equal scores."""
    blocks = tied_blocks(y_score)
    counts = positive if weight is None else np.where(positive, weight, 0.0)
    n_pos = counts[blocks.order].astype(np.float64, copy=False)
    if not blocks.untied:
        n_pos = blocks.sums(n_pos)
    size = blocks.masses(weight).astype(np.float64, copy=False)
    return replace(blocks, size=size, n_pos=n_pos)


def check_n_places(n_places: float) -> None:
    """Refuse so many places that a loop over them would take minutes."""
    if n_places > MAX_PLACES:
        raise ValueError(
            f"sample_weight stands for {n_places:.3g} items that are looked at one by one, more "
            f"than {MAX_PLACES:g}: pass weights of a smaller scale."
        )


def places_of(size: FloatArray) -> Iterator[tuple[slice, IntArray, IntArray, FloatArray]]:
    """Iterate over the places of blocks, CHUNK at a time."""
    n_places = float(size.sum())
    check_n_places(n_places)
    stops = np.cumsum(size).astype(np.intp)
    starts = stops - size.astype(np.intp)
    for begin in range(0, int(n_places), CHUNK):
        end = min(begin + CHUNK, int(n_places))
        blocks = slice(
            int(np.searchsorted(stops, begin, "right")), int(np.searchsorted(starts, end, "left"))
        )
        first = np.maximum(starts[blocks], begin)
        lengths = np.minimum(stops[blocks], end) - first
        block = np.repeat(np.arange(len(first)), lengths)
        place = np.arange(begin, end) - starts[blocks][block]
        yield blocks, first - begin, block, place.astype(np.float64)


def tied_blocks(y_score: FloatArray, offsets: IntArray | None = None) -> TiedBlocks:
    """Sort the items of each list by descending score and find the blocks of equal scores."""
    order, ordered = descending(y_score, offsets)
    new = changes(ordered)
    first_items = np.zeros(1, dtype=np.intp) if offsets is None else offsets[:-1]
    new[first_items] = True
    starts = np.arange(len(new)) if new.all() else np.flatnonzero(new)
    return TiedBlocks(order, starts, np.searchsorted(starts, first_items))


def class_blocks(
    y_score: AnyArray,
    in_class: BoolArray,
    weight: FloatArray | None = None,
    offsets: IntArray | None = None,
    *,
    joined: bool = False,
) -> ClassBlocks:
    if offsets is None:
        offsets = np.array([0, len(y_score)])
    if weight is None:
        counts = _count_integers(y_score, in_class) if len(offsets) == 2 else None
        if counts is None:
            counts = _count_runs(class_codes(y_score, in_class, offsets), offsets, joined)
        return _class_blocks_of_counts(*counts, offsets)
    blocks = tied_blocks(y_score, offsets)
    inside, other = _masses_of_blocks(blocks, in_class, weight)
    first = (len(blocks.starts) - np.append(blocks.first[1:], len(blocks.starts)))[::-1]
    list_of = None if len(first) == 1 else blocks.list_of()[::-1]
    return _class_blocks_of_masses(inside, other, first, list_of)


def _masses_of_blocks(blocks: TiedBlocks, in_class: BoolArray, weight: FloatArray) -> ArrayPair:
    """Weights of the class and of the other in each block, from the bottom of the last list."""
    other = weight[blocks.order]
    inside = other * in_class[blocks.order]
    other -= inside
    # From the bottom, so that sums below a block are not differences of sums.
    return blocks.sums(inside)[::-1], blocks.sums(other)[::-1]


def _class_blocks_of_masses(
    inside: FloatArray, other: FloatArray, first: IntArray, list_of: IntArray | None
) -> ClassBlocks:
    """Find the blocks that hold some of the class among all blocks, ascending in each list."""
    some = np.flatnonzero(inside > 0.0)
    of_class, of_other = inside[some], other[some]
    class_upto = running_totals(of_class, np.searchsorted(some, first))
    other_upto = running_totals(other, first, out=other)
    n_other = other_upto[np.append(first[1:], len(inside)) - 1][::-1]
    if list_of is None:
        n_class = np.append(0.0, class_upto)[-1:]
    else:
        list_of = list_of[some]
        n_class = np.bincount(list_of, of_class, len(first))
    return ClassBlocks(
        of_class=of_class,
        of_other=of_other,
        class_below=np.maximum(class_upto - of_class, 0.0),
        other_below=np.maximum(other_upto[some] - of_other, 0.0),
        list_of=list_of,
        n_class=n_class,
        n_other=n_other,
    )


def class_masses(
    y_score: AnyArray, in_class: BoolArray, weight: FloatArray | None, *, joined: bool = False
) -> FloatArray:
    """Weights of the other class and of the class in each block of one list, ascending.

    Shape (n_blocks, 2).
    """
    if weight is not None:
        inside, other = _masses_of_blocks(tied_blocks(y_score), in_class, weight)
        return np.stack([other, inside], axis=1)
    offsets = np.array([0, len(y_score)])
    starts, n_inside = _count_runs(class_codes(y_score, in_class), offsets, joined)
    size = np.diff(starts, append=len(y_score))
    return np.stack([size - n_inside, n_inside], axis=1).astype(np.float64)


def _class_blocks_of_counts(starts: IntArray, inside: IntArray, offsets: IntArray) -> ClassBlocks:
    """Find the blocks of unweighted lists from where all blocks begin, ascending."""
    some = np.flatnonzero(inside)
    begin, of_class = starts[some], inside[some]
    size = np.append(starts, offsets[-1])[some + 1] - begin
    class_below = np.cumsum(of_class) - of_class
    list_of, n_class = None, inside.sum(keepdims=True)
    if len(offsets) > 2:
        n_class = np.add.reduceat(inside, np.searchsorted(starts, offsets[:-1]))
        list_of = np.repeat(np.arange(len(n_class)), np.diff(np.searchsorted(begin, offsets)))
        begin -= offsets[list_of]
        class_below -= (np.cumsum(n_class) - n_class)[list_of]
    return ClassBlocks(
        of_class=of_class.astype(np.float64),
        of_other=(size - of_class).astype(np.float64),
        class_below=class_below.astype(np.float64),
        other_below=(begin - class_below).astype(np.float64),
        list_of=list_of,
        n_class=n_class.astype(np.float64),
        n_other=(np.diff(offsets) - n_class).astype(np.float64),
    )


def _count_runs(codes: AnyArray, offsets: IntArray, joined: bool) -> tuple[IntArray, IntArray]:
    """Where each block begins in the sorted codes, and how many of the class it holds."""
    label = codes.astype(np.uint8) & 1
    split = _splits(codes, offsets)
    if joined:
        new = np.empty(len(codes) + 1, dtype=bool)
        np.not_equal(label[1:], label[:-1], out=new[1:-1])
        new[offsets] = True
        if len(split):
            new[split] = False
            begin, end = _around(split, _edges(codes, offsets))
            new[begin] = new[end] = True
        edges = np.flatnonzero(new)
    else:
        edges = _edges(codes, offsets)
    starts = edges[:-1]
    inside = np.where(label[starts], np.diff(edges), 0)
    if len(split):
        block = np.searchsorted(edges, split, "right") - 1
        begin, end = starts[block], edges[block + 1]
        inside[block] = np.where(label[split], end - split, split - begin)
    return starts, inside


def _edges(codes: AnyArray, offsets: IntArray) -> IntArray:
    """Where each run of tied items begins in the sorted codes, and their number."""
    new = np.empty(len(codes) + 1, dtype=bool)
    _compare(np.greater, codes, new)
    new[offsets] = True
    return np.flatnonzero(new)


def _compare(condition: np.ufunc, codes: AnyArray, out: BoolArray) -> None:
    """Where neighbours differ in more than (greater) or in nothing but (equal) the last bit."""
    buffer = np.empty(min(CHUNK, len(codes)), dtype=codes.dtype)
    for start in range(1, len(codes), CHUNK):
        part = codes[start : start + CHUNK]
        differing = buffer[: len(part)]
        np.bitwise_xor(part, codes[start - 1 : start - 1 + len(part)], out=differing)
        condition(differing, 1, out=out[start : start + len(part)])


def _around(places: IntArray, edges: IntArray) -> tuple[IntArray, IntArray]:
    """Begin and end of the runs that hold these places."""
    after = np.searchsorted(edges, places, "right")
    return edges[after - 1], edges[after]


def _splits(codes: AnyArray, offsets: IntArray) -> IntArray:
    """Where the class changes within a run of tied items."""
    split = np.empty(len(codes), dtype=bool)
    _compare(np.equal, codes, split)
    split[offsets[:-1]] = False
    return np.flatnonzero(split)


def top_class_blocks(
    y_score: AnyArray, in_class: BoolArray, weight: FloatArray | None, offsets: IntArray
) -> ClassBlocks:
    """Find the topmost block of each list that holds some of one class."""
    first, lengths = offsets[:-1], np.diff(offsets)

    def total(items: BoolArray) -> FloatArray:
        if len(lengths) == 1:
            n = np.count_nonzero(items) if weight is None else np.dot(weight, items)
            return np.array([float(n)])
        counts = items if weight is None else np.where(items, weight, 0.0)
        return np.add.reduceat(counts, first, dtype=np.float64)

    # Lists without the class get the lowest score here, and are left out below.
    highest = np.maximum.reduceat(np.where(in_class, y_score, y_score.min()), first)
    by_item = highest if len(lengths) == 1 else np.repeat(highest, lengths)
    tied, above = y_score == by_item, y_score > by_item
    n_class, of_class, of_both, n_above = map(total, (in_class, tied & in_class, tied, above))
    size = lengths.astype(np.float64)
    if weight is not None:
        size = np.add.reduceat(weight, first)
    some = np.flatnonzero(n_class)
    of_other, n_other = of_both - of_class, size - n_class
    return ClassBlocks(
        of_class=of_class[some],
        of_other=of_other[some],
        class_below=(n_class - of_class)[some],
        other_below=(n_other - of_other - n_above)[some],
        list_of=None if len(lengths) == 1 else some,
        n_class=n_class,
        n_other=n_other,
    )


def pairs_in_order(
    y_score: AnyArray, positive: BoolArray, offsets: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count the pairs of a positive above a negative in each list, ties by half."""
    counts = _count_integers(y_score, positive) if len(offsets) == 2 else None
    if counts is not None:
        blocks = _class_blocks_of_counts(*counts, offsets)
        beaten = blocks.other_below + blocks.of_other / 2.0
        return blocks.sums(blocks.of_class * beaten), blocks.n_class, blocks.n_other
    codes = class_codes(y_score, positive, offsets)
    label = codes.astype(np.uint8)
    label &= 1
    place = np.flatnonzero(label.view(bool))
    first = np.searchsorted(place, offsets)
    n_pos = np.diff(first)
    if len(offsets) == 2:
        total = place.sum(keepdims=True)
    else:
        total = np.diff(np.append(0, np.cumsum(place))[first])
    # Number of negatives below each positive.
    in_order = (total - n_pos * offsets[:-1] - n_pos * (n_pos - 1) // 2).astype(np.float64)
    split = _splits(codes, offsets)
    if len(split):
        begin, end = _around(split, _edges(codes, offsets))
        tied = (split - begin) * (end - split) * np.where(codes[split] & 1, -0.5, 0.5)
        list_of = np.searchsorted(offsets, split, "right") - 1
        in_order += np.bincount(list_of, weights=tied, minlength=len(in_order))
    return in_order, n_pos.astype(np.float64), (np.diff(offsets) - n_pos).astype(np.float64)


def _count_integers(y_score: AnyArray, mask: BoolArray) -> tuple[IntArray, IntArray] | None:
    """Count as _count_runs does, without a sort, for one list of integers of a small range."""
    if y_score.dtype.kind not in "iu":
        return None
    low, high = int(y_score.min()), int(y_score.max())
    if high - low >= min(2**16, len(y_score)):  # so that the counts fit into the cache
        return None
    counts = np.zeros(2 * (high - low + 1), dtype=np.intp)
    # Intermediate results take no more memory than the counts.
    step = max(CHUNK, len(counts))
    for start in range(0, len(y_score), step):
        place = np.subtract(y_score[start : start + step], low, dtype=np.int64)
        place *= 2
        place += mask[start : start + step]
        counts += np.bincount(place, minlength=len(counts))
    pairs = counts.reshape(-1, 2)
    pairs = pairs[pairs.any(axis=1)]
    size = pairs.sum(axis=1)
    return np.cumsum(size) - size, pairs[:, 1]


# Relative rounding error allowed in sums of real weights that are compared with a mass.
MASS_SLACK = 1e-12


def near_whole(mass: FloatArray) -> FloatArray:
    """Round sums of weights that would be whole if the sum was exact, in any order."""
    whole = np.rint(mass)
    return np.where(np.abs(mass - whole) <= MASS_SLACK * mass, whole, mass)


def top_mass(weight: FloatArray, tau: float) -> tuple[float, bool]:
    """Mass of the top ``tau``, and whether it is less than one item."""
    is_whole = np.all(weight == np.floor(weight))
    mass, is_small = top_masses(weight.sum(), tau, is_whole, weight.min())
    return float(mass), bool(is_small)


def top_masses(
    total: FloatArray, tau: float, whole: BoolArray | np.bool_, smallest: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Mass of the top ``tau`` of each list, and whether it is less than one item."""
    share = tau * np.asarray(total)
    # tau is a rounded decimal: .29 * 50 falls just short of 14.5, which rounds to 15.
    count = np.floor(share + 4 * np.spacing(share) + 0.5)
    mass = np.where(whole, np.maximum(1.0, count), share * (1.0 - MASS_SLACK))
    return mass, np.where(whole, count < 1.0, share < smallest)


def quantile_at_mass(scores: FloatArray, weight: FloatArray, mass: float) -> FloatArray:
    """Largest score such that the items that score at least as much have the given mass."""
    unit = float(weight[0])
    if unit == math.floor(unit) and np.all(weight == unit):
        # Equal whole weights need no sort.
        n = scores.shape[-1]
        place = n - min(max(math.ceil(mass / unit), 1), n)
        return np.asarray(np.partition(scores, place, axis=-1)[..., place])
    return next(quantiles_at_masses(scores, [(weight, mass)]))


def quantiles_at_masses(
    scores: FloatArray, tops: Iterable[tuple[FloatArray, float]]
) -> Iterator[FloatArray]:
    """Quantiles of the same scores, as :func:`quantile_at_mass` has them, by one sort."""
    order = np.argsort(-scores, axis=-1)
    summed, above = None, scores
    for weight, mass in tops:
        if weight is not summed:
            summed, above = weight, np.cumsum(weight[order], axis=-1)
        reached = above >= mass
        reached[..., -1] = True
        first = np.argmax(reached, axis=-1)[..., np.newaxis]
        item = np.take_along_axis(order, first, axis=-1)
        yield np.take_along_axis(scores, item, axis=-1)[..., 0]


def top_threshold(
    y_score: FloatArray, weight: FloatArray, mass: float, error: FloatArray | None = None
) -> tuple[float, float]:
    """Quantile of the scores and the threshold just below it."""
    margin = 0.0
    if error is not None:
        y_score = merge_rounded(y_score, error)
        margin = float(error.max())
    quantile = float(quantile_at_mass(y_score, weight, mass))
    lower = y_score[y_score < quantile]
    if len(lower) == 0:
        return quantile, min(math.nextafter(quantile, -math.inf), quantile - margin)
    below = float(lower.max())
    # Halved before they are added, so that large scores do not overflow.
    middle = below / 2 + quantile / 2
    return quantile, middle if below <= middle < quantile else below


def merge_rounded(y_score: FloatArray, error: FloatArray) -> FloatArray:
    """Give every run of neighbours that differ by no more than their errors its lowest value."""
    order = np.argsort(y_score, kind="stable")
    ordered, error = y_score[order], error[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.diff(ordered) > error[1:] + error[:-1]
    starts = np.flatnonzero(new)
    merged = np.empty_like(y_score)
    merged[order] = np.repeat(ordered[starts], np.diff(starts, append=len(order)))
    return merged
