"""Blocks of tied scores, list by list, and how the items of one class lie in them.

A *list* is a run of consecutive rows; ``offsets`` says where each begins, and None is one list.
Weights count repetitions of an item; items of weight 0 must be removed by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._order import CHUNK, class_codes, descending, running_totals
from ._typing import AnyArray, BoolArray, FloatArray, IntArray

T = TypeVar("T", bound=np.generic)

__all__ = [
    "ClassBlocks",
    "CountedBlocks",
    "TiedBlocks",
    "check_n_places",
    "class_blocks",
    "counted_blocks",
    "pairs_in_order",
    "places_of",
    "sorted_class_blocks",
    "tied_blocks",
    "top_class_blocks",
]

# Integers of so many different values are counted; their counts fit into the cache.
MOST_COUNTED = 2**16

# Places of blocks that are laid out at once.
PLACES = 2**16

# Places that a walk over them, one by one, gets through in some seconds.
MOST_PLACES = 1e8


@dataclass(frozen=True, eq=False)
class TiedBlocks:
    """Blocks of equal scores, list by list, each from the top."""

    order: IntArray  # (n,): Items, list by list, from the highest score of a list to its lowest
    starts: IntArray  # (n_blocks,): Where each block begins in ``order``
    first: IntArray  # (n_lists,): First block of each list

    def lengths(self) -> IntArray:
        """Return the number of items of each block. At least 1 each. Shape (n_blocks,)."""
        return np.diff(self.starts, append=len(self.order))

    def list_of(self) -> IntArray:
        """Return the list of each block. Indices of lists. Shape (n_blocks,)."""
        n_lists = len(self.first)
        return np.repeat(np.arange(n_lists), np.diff(self.first, append=len(self.starts)))

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum the values of the items of each block. Shape (n_blocks,)."""
        ordered = values[self.order]
        return ordered if self.untied else np.add.reduceat(ordered, self.starts)

    @property
    def untied(self) -> bool:
        """Whether each block is one item."""
        return len(self.starts) == len(self.order)

    def list_totals(self, values: Any, dtype: Any = None) -> Any:
        """Sum the values of the blocks of each list. Shape (n_lists,)."""
        if len(self.first) == 1:
            # np.sum adds pairwise, which keeps more digits of a long list.
            return values.sum(dtype=dtype)[np.newaxis]
        return np.add.reduceat(values, self.first, dtype=dtype)

    def running(self, values: AnyArray) -> AnyArray:
        """Sum the values of the blocks of a list from its top to each, itself included.

        Shape (n_blocks,).
        """
        return running_totals(values, self.first)


@dataclass(frozen=True, eq=False)
class ClassBlocks:
    """Blocks of tied items that hold some of one class, and what is tied with and below them.

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
        """Weight of all items of the list with lower scores."""
        return self.class_below + self.other_below

    @property
    def total(self) -> FloatArray:
        """Weight of each list."""
        return self.n_class + self.n_other

    def by_block(self, values: NDArray[T]) -> NDArray[T]:
        """Give each block the value of its list. Values that broadcast with those of blocks."""
        return values if self.list_of is None else values[self.list_of]

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
        """Weight of the class in the list with higher scores."""
        return np.maximum(self.by_block(self.n_class) - self.class_below - self.of_class, 0.0)

    @property
    def other_above(self) -> FloatArray:
        """Weight of the other class in the list with higher scores."""
        return np.maximum(self.by_block(self.n_other) - self.other_below - self.of_other, 0.0)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum the values of the blocks of each list. The sums, 0 for lists without a block."""
        if self.list_of is None:
            return values.sum()[np.newaxis]
        sums: FloatArray = np.bincount(  # type: ignore[assignment] # of weights: floats
            self.list_of, weights=values, minlength=len(self.n_class)
        )
        return sums


@dataclass(frozen=True, eq=False)
class CountedBlocks:
    """Blocks of tied items of one list, from the top, and how many of either class each holds."""

    rows: TiedBlocks  # Which rows each block holds; a row may stand for many items
    size: FloatArray  # (n_blocks,): Number of items of each block
    n_pos: FloatArray  # (n_blocks,): Number of positives of each block

    @cached_property
    def n(self) -> int:
        """Number of items."""
        return int(self.size.sum())

    @cached_property
    def k(self) -> int:
        """Number of positives."""
        return int(self.n_pos.sum())

    @cached_property
    def below(self) -> FloatArray:
        """Number of items below each block."""
        if self.untied:
            return np.arange(self.n - 1.0, -1.0, -1.0)
        return self.n - np.cumsum(self.size)

    @cached_property
    def some(self) -> IntArray:
        """Blocks that hold positives."""
        return np.flatnonzero(self.n_pos)

    @property
    def untied(self) -> bool:
        """Whether each block is one item."""
        return len(self.size) == self.n

    def to_rows(self, values: FloatArray) -> FloatArray:
        """Give each row, in the order of the blocks, the value of its block. Shape (n_rows,)."""
        return values if self.rows.untied else np.repeat(values, self.rows.lengths())


def counted_blocks(
    y_score: FloatArray, positive: BoolArray, weight: FloatArray | None = None
) -> CountedBlocks:
    """Sort the items of one list and count the positives of each block of equal scores."""
    rows = tied_blocks(y_score)
    if weight is not None:
        return CountedBlocks(
            rows, rows.totals(weight), rows.totals(np.where(positive, weight, 0.0))
        )
    ordered = positive[rows.order]
    if rows.untied:
        return CountedBlocks(rows, np.ones(len(ordered)), ordered.astype(np.float64))
    n_pos = np.add.reduceat(ordered, rows.starts, dtype=np.float64)
    return CountedBlocks(rows, rows.lengths().astype(np.float64), n_pos)


def check_n_places(n_places: float) -> None:
    """Refuse so many places that a walk over them would not end."""
    if n_places > MOST_PLACES:
        raise ValueError(
            f"sample_weight stands for {n_places:.3g} items that are looked at one by one, more "
            f"than {MOST_PLACES:g}: pass weights of a smaller scale."
        )


def places_of(size: FloatArray) -> Iterator[tuple[slice, IntArray, IntArray, FloatArray]]:
    """Go through the places of blocks, so many at once."""
    check_n_places(float(size.sum()))
    stops = np.cumsum(size).astype(np.intp)
    starts = stops - size.astype(np.intp)
    for begin in range(0, int(stops[-1]), PLACES):
        end = min(begin + PLACES, int(stops[-1]))
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
    new = np.ones(len(order), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    if offsets is None:
        starts = np.arange(len(new)) if new.all() else np.flatnonzero(new)
        return TiedBlocks(order=order, starts=starts, first=np.zeros(1, dtype=np.intp))
    new[offsets[:-1]] = True
    starts = np.flatnonzero(new)
    return TiedBlocks(order=order, starts=starts, first=np.searchsorted(starts, offsets[:-1]))


def class_blocks(
    y_score: AnyArray,
    in_class: BoolArray,
    weight: FloatArray | None = None,
    offsets: IntArray | None = None,
    *,
    joined: bool = False,
) -> ClassBlocks:
    """Find the blocks of tied items that hold some of one class."""
    if offsets is None:
        offsets = np.array([0, len(y_score)])
    if weight is None:
        found = _counted_integers(y_score, in_class) if len(offsets) == 2 else None
        if found is None:
            found = _stretches(class_codes(y_score, in_class, offsets), offsets, joined)
        return _class_blocks_of_counts(*found, offsets)
    return _class_blocks_of_weights(tied_blocks(y_score, offsets), in_class, weight)


def _class_blocks_of_weights(
    blocks: TiedBlocks, in_class: BoolArray, weight: FloatArray
) -> ClassBlocks:
    """Find the blocks of weighted lists."""
    # The sign is the class, so that items are looked up once.
    signed = np.where(in_class, weight, -weight)[blocks.order]
    parts: list[FloatArray] = [np.maximum(signed, 0.0), np.maximum(-signed, 0.0)]
    if not blocks.untied:
        parts = [np.add.reduceat(part, blocks.starts) for part in parts]
    # From the bottom, so that sums of what is below are not differences.
    inside, other = (np.ascontiguousarray(part[::-1]) for part in parts)
    first = (len(blocks.starts) - np.append(blocks.first[1:], len(blocks.starts)))[::-1]
    list_of = None if len(first) == 1 else blocks.list_of()[::-1]
    return _class_blocks_of_masses(inside, other, first, list_of)


def _class_blocks_of_masses(
    inside: FloatArray, other: FloatArray, first: IntArray, list_of: IntArray | None
) -> ClassBlocks:
    """Find the blocks that hold some of the class among all blocks, ascending in each list."""
    inside_upto, other_upto = running_totals(inside, first), running_totals(other, first)
    last = np.append(first[1:], len(inside)) - 1
    some = np.flatnonzero(inside)
    of_class, of_other = inside[some], other[some]
    return ClassBlocks(
        of_class=of_class,
        of_other=of_other,
        class_below=np.maximum(inside_upto[some] - of_class, 0.0),
        other_below=np.maximum(other_upto[some] - of_other, 0.0),
        list_of=None if list_of is None else list_of[some],
        n_class=inside_upto[last][::-1],
        n_other=other_upto[last][::-1],
    )


def sorted_class_blocks(
    y_score: AnyArray, in_class: BoolArray, weight: FloatArray | None, *, joined: bool = False
) -> ClassBlocks:
    """Find the blocks of one list that is sorted."""
    new = np.ones(len(y_score), dtype=bool)
    np.not_equal(y_score[1:], y_score[:-1], out=new[1:])
    if joined:
        # Blocks of one class, whose neighbours above are of that class only too.
        starts = np.flatnonzero(new)
        n_class = np.add.reduceat(in_class, starts, dtype=np.int64)
        alone = np.where(
            n_class == 0, 1, np.where(n_class == np.diff(starts, append=len(new)), 2, 0)
        )
        new[starts[1:]] = (alone[1:] != alone[:-1]) | (alone[1:] == 0)
    starts = np.flatnonzero(new)
    counts = np.ones(len(y_score)) if weight is None else weight
    inside = np.add.reduceat(np.where(in_class, counts, 0.0), starts)
    other = np.add.reduceat(np.where(in_class, 0.0, counts), starts)
    return _class_blocks_of_masses(inside, other, np.zeros(1, dtype=np.intp), None)


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


def _stretches(codes: AnyArray, offsets: IntArray, joined: bool) -> tuple[IntArray, IntArray]:
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


def _compare(condition: np.ufunc, codes: AnyArray, found: BoolArray) -> None:
    """Where neighbours differ in more than (greater) or in nothing but (equal) the last bit."""
    buffer = np.empty(min(CHUNK, len(codes)), dtype=codes.dtype)
    for start in range(1, len(codes), CHUNK):
        part = codes[start : start + CHUNK]
        differing = buffer[: len(part)]
        np.bitwise_xor(part, codes[start - 1 : start - 1 + len(part)], out=differing)
        condition(differing, 1, out=found[start : start + len(part)])


def _around(places: IntArray, edges: IntArray) -> tuple[IntArray, IntArray]:
    """Begin and end of the runs that hold these places."""
    after = np.searchsorted(edges, places, "right")
    return edges[after - 1], edges[after]


def _places(codes: AnyArray) -> IntArray:
    """Where the items of the class stand."""
    label = codes.astype(np.uint8)
    label &= 1
    return np.flatnonzero(label.view(bool))


def _splits(codes: AnyArray, offsets: IntArray) -> IntArray:
    """Where the class changes within a run of tied items."""
    split = np.empty(len(codes), dtype=bool)
    _compare(np.equal, codes, split)
    split[offsets[:-1]] = False
    return np.flatnonzero(split)


def top_class_blocks(y_score: AnyArray, in_class: BoolArray, offsets: IntArray) -> ClassBlocks:
    """Find the topmost block of each unweighted list that holds some of one class."""
    first, lengths = offsets[:-1], np.diff(offsets)

    def count(items: BoolArray) -> IntArray:
        if len(lengths) == 1:
            return np.array([np.count_nonzero(items)])
        found: IntArray = np.add.reduceat(items, first, dtype=np.intp)
        return found

    n_class = count(in_class)
    # The lowest score of all stands for lists without the class, which are left out below.
    highest = np.maximum.reduceat(np.where(in_class, y_score, y_score.min()), first)
    by_item = highest if len(lengths) == 1 else np.repeat(highest, lengths)
    tied, above = y_score == by_item, y_score > by_item
    of_class, of_both, n_above = count(tied & in_class), count(tied), count(above)
    some = np.flatnonzero(n_class)
    of_other, n_other = of_both - of_class, lengths - n_class
    return ClassBlocks(
        of_class=of_class[some].astype(np.float64),
        of_other=of_other[some].astype(np.float64),
        class_below=(n_class - of_class)[some].astype(np.float64),
        other_below=(n_other - of_other - n_above)[some].astype(np.float64),
        list_of=None if len(lengths) == 1 else some,
        n_class=n_class.astype(np.float64),
        n_other=n_other.astype(np.float64),
    )


def pairs_in_order(
    y_score: AnyArray, positive: BoolArray, offsets: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count the pairs of a positive above a negative in each list, ties by half."""
    found = _counted_integers(y_score, positive) if len(offsets) == 2 else None
    if found is not None:
        blocks = _class_blocks_of_counts(*found, offsets)
        beaten = blocks.other_below + blocks.of_other / 2.0
        return blocks.sums(blocks.of_class * beaten), blocks.n_class, blocks.n_other
    codes = class_codes(y_score, positive, offsets)
    place = _places(codes)
    first = np.searchsorted(place, offsets)
    n_pos = np.diff(first)
    if len(offsets) == 2:
        total = place.sum(keepdims=True)
    else:
        total = np.diff(np.append(0, np.cumsum(place))[first])
    # What stands below each positive, less the positives there.
    in_order = (total - n_pos * offsets[:-1] - n_pos * (n_pos - 1) // 2).astype(np.float64)
    split = _splits(codes, offsets)
    if len(split):
        begin, end = _around(split, _edges(codes, offsets))
        tied = (split - begin) * (end - split) * np.where(codes[split] & 1, -0.5, 0.5)
        list_of = np.searchsorted(offsets, split, "right") - 1
        in_order += np.bincount(list_of, weights=tied, minlength=len(in_order))
    return in_order, n_pos.astype(np.float64), (np.diff(offsets) - n_pos).astype(np.float64)


def _counted_integers(y_score: AnyArray, mask: BoolArray) -> tuple[IntArray, IntArray] | None:
    """Return the same of one list of integers that lie close together, counted without a sort."""
    if y_score.dtype.kind not in "iu":
        return None
    low, high = int(y_score.min()), int(y_score.max())
    if high - low >= min(MOST_COUNTED, len(y_score)):
        return None
    counts = np.zeros(2 * (high - low + 1), dtype=np.intp)
    # As many at once as there are counts: what lies between takes no more memory than these.
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
