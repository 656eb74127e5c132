"""Blocks of tied scores, list by list, and how the items of one class lie in them.

A *list* is a run of consecutive rows; ``offsets`` says where each begins, and None is one list.
Weights count repetitions of an item; items of weight 0 must be removed by the caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._order import descending, running_totals
from ._typing import AnyArray, BoolArray, FloatArray, IntArray

T = TypeVar("T", bound=np.generic)

__all__ = ["ClassBlocks", "TiedBlocks", "class_blocks", "tied_blocks"]


@dataclass(frozen=True, eq=False)
class TiedBlocks:
    """Blocks of equal scores, list by list, each from the top.

    Parameters
    ----------
    order : ndarray of shape (n,)
        Items, list by list, from the highest score of a list to its lowest.
    starts : ndarray of shape (n_blocks,)
        Where each block begins in ``order``.
    first : ndarray of shape (n_lists,)
        First block of each list.
    """

    order: IntArray
    starts: IntArray
    first: IntArray

    def lengths(self) -> IntArray:
        """Return the number of items of each block.

        Returns
        -------
        ndarray of shape (n_blocks,)
            At least 1 each.
        """
        return np.diff(self.starts, append=len(self.order))

    def list_of(self) -> IntArray:
        """Return the list of each block.

        Returns
        -------
        ndarray of shape (n_blocks,)
            Indices of lists.
        """
        n_lists = len(self.first)
        return np.repeat(np.arange(n_lists), np.diff(self.first, append=len(self.starts)))

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum the values of the items of each block.

        Parameters
        ----------
        values : ndarray of shape (n,)
            One value per item.

        Returns
        -------
        ndarray of shape (n_blocks,)
            The sums.
        """
        return np.add.reduceat(values[self.order], self.starts)

    def list_totals(self, values: Any, dtype: Any = None) -> Any:
        """Sum the values of the blocks of each list.

        Parameters
        ----------
        values : ndarray of shape (n_blocks,)
            One value per block.
        dtype : dtype or None, default=None
            Type of the sums; None is that of the values.

        Returns
        -------
        ndarray of shape (n_lists,)
            The sums.
        """
        if len(self.first) == 1:
            # np.sum adds pairwise, which keeps more digits of a long list.
            return values.sum(dtype=dtype)[np.newaxis]
        return np.add.reduceat(values, self.first, dtype=dtype)

    def running(self, values: AnyArray) -> AnyArray:
        """Sum the values of the blocks of a list from its top to each, itself included.

        Parameters
        ----------
        values : ndarray of shape (n_blocks,)
            One value per block; integers are faster.

        Returns
        -------
        ndarray of shape (n_blocks,)
            The sums.
        """
        return running_totals(values, self.first)


@dataclass(frozen=True, eq=False)
class ClassBlocks:
    """Blocks of tied items that hold some of one class, and what is tied with and below them.

    Within a list they ascend: the last is nearest to the top.

    Parameters
    ----------
    of_class : ndarray of shape (n_blocks,)
        Weight of the class in each block.
    of_other : ndarray of shape (n_blocks,)
        Weight of the other class in each block.
    class_below : ndarray of shape (n_blocks,)
        Weight of the class in the list with lower scores.
    other_below : ndarray of shape (n_blocks,)
        Weight of the other class in the list with lower scores.
    list_of : ndarray of shape (n_blocks,) or None
        List of each block; None if there is one list.
    n_class : ndarray of shape (n_lists,)
        Weight of the class in each list.
    n_other : ndarray of shape (n_lists,)
        Weight of the other class in each list.
    """

    of_class: FloatArray
    of_other: FloatArray
    class_below: FloatArray
    other_below: FloatArray
    list_of: IntArray | None
    n_class: FloatArray
    n_other: FloatArray

    @property
    def below(self) -> FloatArray:
        """Weight of all items of the list with lower scores."""
        return self.class_below + self.other_below

    @property
    def total(self) -> FloatArray:
        """Weight of each list."""
        return self.n_class + self.n_other

    def by_block(self, values: NDArray[T]) -> NDArray[T]:
        """Give each block the value of its list.

        Parameters
        ----------
        values : ndarray of shape (n_lists,)
            One value per list.

        Returns
        -------
        ndarray of shape (n_blocks,) or (1,)
            Values that broadcast with those of blocks.
        """
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
        """Sum the values of the blocks of each list.

        Parameters
        ----------
        values : ndarray of shape (n_blocks,)
            One value per block.

        Returns
        -------
        ndarray of shape (n_lists,)
            The sums, 0 for lists without a block.
        """
        if self.list_of is None:
            return values.sum()[np.newaxis]
        sums: FloatArray = np.bincount(  # type: ignore[assignment] # of weights: floats
            self.list_of, weights=values, minlength=len(self.n_class)
        )
        return sums


def tied_blocks(y_score: FloatArray, offsets: IntArray | None = None) -> TiedBlocks:
    """Sort the items of each list by descending score and find the blocks of equal scores.

    Parameters
    ----------
    y_score : ndarray of shape (n,)
        Scores without NaN; infinities are in order, and -0.0 equals 0.0.
    offsets : ndarray of shape (n_lists + 1,) or None, default=None
        Where each list begins, and n.

    Returns
    -------
    TiedBlocks
        Order and blocks; tied items are in no particular order.
    """
    order = descending(y_score, offsets)
    ordered = y_score[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    if offsets is None:
        return TiedBlocks(
            order=order, starts=np.flatnonzero(new), first=np.zeros(1, dtype=np.intp)
        )
    new[offsets[:-1]] = True
    starts = np.flatnonzero(new)
    return TiedBlocks(order=order, starts=starts, first=np.searchsorted(starts, offsets[:-1]))


def class_blocks(
    y_score: FloatArray,
    in_class: BoolArray,
    weight: FloatArray | None = None,
    offsets: IntArray | None = None,
) -> ClassBlocks:
    """Find the blocks of tied items that hold some of one class.

    Parameters
    ----------
    y_score : ndarray of shape (n,)
        Scores without NaN; infinities are in order, and -0.0 equals 0.0.
    in_class : ndarray of bool of shape (n,)
        Which items are of the class.
    weight : ndarray of shape (n,) or None, default=None
        Positive weights; None is 1 for each.
    offsets : ndarray of shape (n_lists + 1,) or None, default=None
        Where each list begins, and n.

    Returns
    -------
    ClassBlocks
        The blocks.
    """
    if weight is None and (offsets is None or len(offsets) == 2):
        return _class_blocks_of_values(y_score, in_class)
    if offsets is None:
        offsets = np.array([0, len(y_score)])
    blocks = tied_blocks(y_score, offsets)
    if weight is None:
        return _class_blocks_of_counts(blocks, in_class, offsets)
    inside = blocks.totals(np.where(in_class, weight, 0.0))
    other = blocks.totals(np.where(in_class, 0.0, weight))
    # From the bottom, so that sums of what is below are not differences.
    inside, other = inside[::-1], other[::-1]
    first = (len(blocks.starts) - np.append(blocks.first[1:], len(blocks.starts)))[::-1]
    list_of = blocks.list_of()[::-1]
    inside_upto, other_upto = running_totals(inside, first), running_totals(other, first)
    last = np.append(first[1:], len(inside)) - 1
    some = np.flatnonzero(inside)
    return ClassBlocks(
        of_class=inside[some],
        of_other=other[some],
        class_below=np.maximum(inside_upto[some] - inside[some], 0.0),
        other_below=np.maximum(other_upto[some] - other[some], 0.0),
        list_of=list_of[some],
        n_class=inside_upto[last][::-1],
        n_other=other_upto[last][::-1],
    )


def _class_blocks_of_counts(blocks: TiedBlocks, mask: BoolArray, offsets: IntArray) -> ClassBlocks:
    """Find the blocks of unweighted lists, looking closer only at those that hold some."""
    counts: AnyArray = mask[blocks.order]
    if len(blocks.starts) < len(counts):
        counts = np.add.reduceat(counts, blocks.starts, dtype=np.intp)
    some = np.flatnonzero(counts)[::-1]
    of_class = counts[some].astype(np.intp)
    list_of = np.searchsorted(blocks.first, some, "right") - 1
    ends = np.append(blocks.starts, len(mask))[some + 1]
    length, below = ends - blocks.starts[some], offsets[list_of + 1] - ends
    n_class = np.bincount(list_of, weights=of_class, minlength=len(blocks.first))
    # The last list comes first, so that what precedes a list here are the lists after it.
    before = n_class[::-1].cumsum()[::-1] - n_class
    class_below = np.cumsum(of_class) - of_class - before[list_of]
    return ClassBlocks(
        of_class=of_class.astype(np.float64),
        of_other=(length - of_class).astype(np.float64),
        class_below=class_below.astype(np.float64),
        other_below=(below - class_below).astype(np.float64),
        list_of=list_of,
        n_class=n_class.astype(np.float64),
        n_other=(np.diff(offsets) - n_class).astype(np.float64),
    )


def _class_blocks_of_values(y_score: FloatArray, mask: BoolArray) -> ClassBlocks:
    """Find the blocks of one unweighted list by sorting values only.

    A sort of values is several times faster than one of indices.
    """
    values = np.sort(y_score[mask])
    pooled = np.sort(y_score)
    below = pooled.searchsorted(values)
    class_below = np.arange(len(values))
    of_class = np.ones(len(values), dtype=np.intp)
    repeated = below[1:] == below[:-1]
    if repeated.any():
        class_below = np.flatnonzero(np.concatenate(([True], ~repeated)))
        of_class = np.diff(class_below, append=len(values))
        values, below = values[class_below], below[class_below]
    upto = below + of_class
    more = np.flatnonzero(pooled[np.minimum(upto, len(pooled) - 1)] == values)
    # At the very end the look beyond sees the block itself.
    more = more[upto[more] < len(pooled)]
    upto[more] = pooled.searchsorted(values[more], "right")
    n_class = float(np.count_nonzero(mask))
    return ClassBlocks(
        of_class=of_class.astype(np.float64),
        of_other=(upto - below - of_class).astype(np.float64),
        class_below=class_below.astype(np.float64),
        other_below=(below - class_below).astype(np.float64),
        list_of=None,
        n_class=np.array([n_class]),
        n_other=np.array([len(mask) - n_class]),
    )
