"""The one place that sorts: blocks of tied scores, the mass of the top, its quantile.

A *list* is a run of consecutive rows; ``offsets`` says where each begins, and None is one list.
Weights count repetitions of an item; items of weight 0 must be removed by the caller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._typing import AnyArray, BoolArray, FloatArray, IntArray

T = TypeVar("T", bound=np.generic)

__all__ = [
    "ClassBlocks",
    "TiedBlocks",
    "class_blocks",
    "descending",
    "quantile_at_mass",
    "ragged_ranges",
    "running_totals",
    "sorted_descending",
    "tied_blocks",
    "top_mass",
    "top_masses",
    "top_threshold",
]

# A real mass is reached when all but this share of it is: sums of weights are rounded.
MASS_SLACK = 1e-12


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
    held : ndarray of shape (n_blocks,)
        Weight of the class in each block.
    other : ndarray of shape (n_blocks,)
        Weight of the other class in each block.
    held_below : ndarray of shape (n_blocks,)
        Weight of the class in the list with lower scores.
    other_below : ndarray of shape (n_blocks,)
        Weight of the other class in the list with lower scores.
    list_of : ndarray of shape (n_blocks,) or None
        List of each block; None if there is one list.
    n_held : ndarray of shape (n_lists,)
        Weight of the class in each list.
    n_other : ndarray of shape (n_lists,)
        Weight of the other class in each list.
    """

    held: FloatArray
    other: FloatArray
    held_below: FloatArray
    other_below: FloatArray
    list_of: IntArray | None
    n_held: FloatArray
    n_other: FloatArray

    @property
    def below(self) -> FloatArray:
        """Weight of all items of the list with lower scores."""
        return self.held_below + self.other_below

    @property
    def total(self) -> FloatArray:
        """Weight of each list."""
        return self.n_held + self.n_other

    def spread(self, values: NDArray[T]) -> NDArray[T]:
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
            return np.array([len(self.held) - 1])
        last = np.flatnonzero(np.diff(self.list_of, append=-1))
        top = np.zeros(len(self.n_held), dtype=np.intp)
        top[self.list_of[last]] = last
        return top

    @property
    def held_above(self) -> FloatArray:
        """Weight of the class in the list with higher scores."""
        return np.maximum(self.spread(self.n_held) - self.held_below - self.held, 0.0)

    @property
    def other_above(self) -> FloatArray:
        """Weight of the other class in the list with higher scores."""
        return np.maximum(self.spread(self.n_other) - self.other_below - self.other, 0.0)

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
            self.list_of, weights=values, minlength=len(self.n_held)
        )
        return sums


def ragged_ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """Lay consecutive integers end to end, range by range.

    Parameters
    ----------
    starts : ndarray of shape (n_ranges,)
        First integer of each range.
    lengths : ndarray of shape (n_ranges,)
        Number of integers of each.

    Returns
    -------
    ndarray of shape (lengths.sum(),)
        The integers.
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def running_totals(values: AnyArray, first: IntArray) -> AnyArray:
    """Cumulative sums that begin anew at each list.

    Parameters
    ----------
    values : ndarray of shape (n,)
        One value per entry; integers are faster.
    first : ndarray of shape (n_lists,)
        First entry of each list, ascending; no list is empty.

    Returns
    -------
    ndarray of shape (n,)
        Sums from the first entry of the list to each, itself included.
    """
    if len(first) == 1:
        return np.cumsum(values)
    sums = values.copy()
    if values.dtype.kind == "i":
        sums[first[1:]] -= np.add.reduceat(values, first)[:-1]
        return np.cumsum(sums)
    # Differences of sums over other lists would lose the digits of a list of small weights.
    place = np.arange(len(values)) - np.repeat(first, np.diff(first, append=len(values)))
    longest, step = int(place.max()), 1
    while step <= longest:
        rows = np.flatnonzero(place >= step)
        sums[rows] += sums[rows - step]
        step *= 2
    return sums


def descending(values: FloatArray, offsets: IntArray | None = None) -> IntArray:
    """Order the items of each list from its highest value to its lowest.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values without NaN; infinities are in order, and -0.0 equals 0.0.
    offsets : ndarray of shape (n_lists + 1,) or None, default=None
        Where each list begins, and n.

    Returns
    -------
    ndarray of shape (n,)
        Items; tied ones in no particular order.
    """
    if offsets is None or len(offsets) == 2:
        return np.argsort(values)[::-1]
    matrix = _equally_long(values, offsets)
    if matrix is not None:
        order = np.argsort(matrix, axis=1)
        order += offsets[:-1, np.newaxis]
        return order[:, ::-1].ravel()
    order = np.empty(len(values), dtype=np.intp)
    for first, length in _by_length(offsets):
        rows = first[:, np.newaxis] + np.arange(length)
        # Sorting equally long lists as a matrix is ten times faster than np.lexsort.
        ascending = np.argsort(values[rows], axis=1)
        order[rows] = first[:, np.newaxis] + ascending[:, ::-1]
    return order


def sorted_descending(values: FloatArray, offsets: IntArray | None = None) -> FloatArray:
    """Sort the values of each list from the highest to the lowest.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values without NaN.
    offsets : ndarray of shape (n_lists + 1,) or None, default=None
        Where each list begins, and n.

    Returns
    -------
    ndarray of shape (n,)
        The sorted values.
    """
    if offsets is None or len(offsets) == 2:
        return np.sort(values)[::-1]
    matrix = _equally_long(values, offsets)
    if matrix is not None:
        return np.sort(matrix, axis=1)[:, ::-1].ravel()
    ordered = np.empty(len(values))
    for first, length in _by_length(offsets):
        rows = first[:, np.newaxis] + np.arange(length)
        ordered[rows] = np.sort(values[rows], axis=1)[:, ::-1]
    return ordered


def _equally_long(values: FloatArray, offsets: IntArray) -> FloatArray | None:
    """Values with one list in a row where all lists are equally long, else None."""
    length = len(values) // (len(offsets) - 1)
    if np.all(offsets[1:] - offsets[:-1] == length):
        return values.reshape(-1, length)
    return None


def _by_length(offsets: IntArray) -> list[tuple[IntArray, int]]:
    """First rows of the lists of each length; there are at most sqrt(2 n) lengths."""
    lengths = np.diff(offsets)
    by_length = np.argsort(lengths, kind="stable")
    ordered = lengths[by_length]
    cuts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return [(offsets[lists], int(lengths[lists[0]])) for lists in np.split(by_length, cuts)]


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
    held: BoolArray,
    weight: FloatArray | None = None,
    offsets: IntArray | None = None,
) -> ClassBlocks:
    """Find the blocks of tied items that hold some of one class.

    Parameters
    ----------
    y_score : ndarray of shape (n,)
        Scores without NaN; infinities are in order, and -0.0 equals 0.0.
    held : ndarray of bool of shape (n,)
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
        return _class_blocks_of_values(y_score, held)
    if offsets is None:
        offsets = np.array([0, len(y_score)])
    blocks = tied_blocks(y_score, offsets)
    if weight is None:
        return _class_blocks_of_counts(blocks, held, offsets)
    inside = blocks.totals(np.where(held, weight, 0.0))
    other = blocks.totals(np.where(held, 0.0, weight))
    # From the bottom, so that sums of what is below are not differences.
    inside, other = inside[::-1], other[::-1]
    first = (len(blocks.starts) - np.append(blocks.first[1:], len(blocks.starts)))[::-1]
    list_of = blocks.list_of()[::-1]
    inside_upto, other_upto = running_totals(inside, first), running_totals(other, first)
    last = np.append(first[1:], len(inside)) - 1
    some = np.flatnonzero(inside)
    return ClassBlocks(
        held=inside[some],
        other=other[some],
        held_below=np.maximum(inside_upto[some] - inside[some], 0.0),
        other_below=np.maximum(other_upto[some] - other[some], 0.0),
        list_of=list_of[some],
        n_held=inside_upto[last][::-1],
        n_other=other_upto[last][::-1],
    )


def _class_blocks_of_counts(blocks: TiedBlocks, mask: BoolArray, offsets: IntArray) -> ClassBlocks:
    """Find the blocks of unweighted lists, looking closer only at those that hold some."""
    counts: AnyArray = mask[blocks.order]
    if len(blocks.starts) < len(counts):
        counts = np.add.reduceat(counts, blocks.starts, dtype=np.intp)
    some = np.flatnonzero(counts)[::-1]
    held = counts[some].astype(np.intp)
    list_of = np.searchsorted(blocks.first, some, "right") - 1
    ends = np.append(blocks.starts, len(mask))[some + 1]
    length, below = ends - blocks.starts[some], offsets[list_of + 1] - ends
    n_held = np.bincount(list_of, weights=held, minlength=len(blocks.first))
    # The last list comes first, so that what precedes a list here are the lists after it.
    before = n_held[::-1].cumsum()[::-1] - n_held
    held_below = np.cumsum(held) - held - before[list_of]
    return ClassBlocks(
        held=held.astype(np.float64),
        other=(length - held).astype(np.float64),
        held_below=held_below.astype(np.float64),
        other_below=(below - held_below).astype(np.float64),
        list_of=list_of,
        n_held=n_held.astype(np.float64),
        n_other=(np.diff(offsets) - n_held).astype(np.float64),
    )


def _class_blocks_of_values(y_score: FloatArray, mask: BoolArray) -> ClassBlocks:
    """Find the blocks of one unweighted list by sorting values only.

    A sort of values is several times faster than one of indices.
    """
    values = np.sort(y_score[mask])
    pooled = np.sort(y_score)
    below = pooled.searchsorted(values)
    held_below = np.arange(len(values))
    held = np.ones(len(values), dtype=np.intp)
    repeated = below[1:] == below[:-1]
    if repeated.any():
        held_below = np.flatnonzero(np.concatenate(([True], ~repeated)))
        held = np.diff(held_below, append=len(values))
        values, below = values[held_below], below[held_below]
    upto = below + held
    more = np.flatnonzero(pooled[np.minimum(upto, len(pooled) - 1)] == values)
    # At the very end the look beyond sees the block itself.
    more = more[upto[more] < len(pooled)]
    upto[more] = pooled.searchsorted(values[more], "right")
    n_held = float(np.count_nonzero(mask))
    return ClassBlocks(
        held=held.astype(np.float64),
        other=(upto - below - held).astype(np.float64),
        held_below=held_below.astype(np.float64),
        other_below=(below - held_below).astype(np.float64),
        list_of=None,
        n_held=np.array([n_held]),
        n_other=np.array([len(mask) - n_held]),
    )


def top_mass(weight: FloatArray, tau: float) -> tuple[float, bool]:
    """Mass of the top ``tau``, and whether it is less than one item.

    Parameters
    ----------
    weight : ndarray of shape (n,)
        Positive weights.
    tau : float
        Share of the total weight, in (0, 1).

    Returns
    -------
    mass : float
        For whole-number weights of sum W, ``max(1, floor(tau W + 1/2))``; else ``tau W``, less
        a share of 1e-12 for rounding.
    is_small : bool
        Whether the top is less than one item: ``tau W`` rounds to 0, or is less than the
        smallest weight.
    """
    mass, is_small = top_masses(
        weight.sum(), tau, np.all(weight == np.floor(weight)), weight.min()
    )
    return float(mass), bool(is_small)


def top_masses(
    total: FloatArray, tau: float, whole: BoolArray | np.bool_, smallest: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Mass of the top ``tau`` of each list, and whether it is less than one item.

    Parameters
    ----------
    total : ndarray of shape (n_lists,)
        Weight of each list.
    tau : float
        Share of it, in (0, 1).
    whole : ndarray of bool of shape (n_lists,)
        Whether all weights of the list are whole numbers.
    smallest : ndarray of shape (n_lists,)
        Smallest weight of the list.

    Returns
    -------
    mass : ndarray of shape (n_lists,)
        As :func:`top_mass` says.
    is_small : ndarray of bool of shape (n_lists,)
        As :func:`top_mass` says.
    """
    share = tau * np.asarray(total)
    # tau is a rounded decimal: .29 * 50 falls just short of 14.5, which rounds to 15.
    count = np.floor(share + 4 * np.spacing(share) + 0.5)
    mass = np.where(whole, np.maximum(1.0, count), share * (1.0 - MASS_SLACK))
    return mass, np.where(whole, count < 1.0, share < smallest)


def quantile_at_mass(scores: FloatArray, weight: FloatArray, mass: float) -> FloatArray:
    """Largest score such that the items that score at least as much have the given mass.

    Parameters
    ----------
    scores : ndarray of shape (..., n)
        Scores without NaN, one list per row.
    weight : ndarray of shape (n,)
        Positive weights, the same for all lists.
    mass : float
        Mass of the top, from :func:`top_mass`.

    Returns
    -------
    ndarray of shape (...)
        The quantiles, scores of items each.
    """
    order = np.argsort(-scores, axis=-1)
    reached = np.cumsum(weight[order], axis=-1) >= mass
    reached[..., -1] = True
    first = np.argmax(reached, axis=-1)[..., np.newaxis]
    item = np.take_along_axis(order, first, axis=-1)
    return np.take_along_axis(scores, item, axis=-1)[..., 0]


def top_threshold(
    y_score: FloatArray, weight: FloatArray, mass: float, error: FloatArray | None = None
) -> tuple[float, float]:
    """Quantile of the scores and the threshold just below it.

    Parameters
    ----------
    y_score : ndarray of shape (n,)
        Scores without NaN.
    weight : ndarray of shape (n,)
        Positive weights.
    mass : float
        Mass of the top, from :func:`top_mass`.
    error : ndarray of shape (n,) or None, default=None
        Bounds of the rounding errors of finite scores: a run of neighbours within their errors
        counts as tied, and the threshold keeps off all of it.

    Returns
    -------
    quantile : float
        The quantile.
    threshold : float
        Midway to the next distinct score below, and below the quantile even where the two are
        neighbours as floating-point numbers; just below the quantile if no score is lower.
    """
    margin = 0.0
    if error is not None:
        y_score = _merge_rounded(y_score, error)
        margin = float(error.max())
    quantile = float(quantile_at_mass(y_score, weight, mass))
    lower = y_score[y_score < quantile]
    if len(lower) == 0:
        return quantile, min(math.nextafter(quantile, -math.inf), quantile - margin)
    below = float(lower.max())
    # Halved before they are added, so that large scores do not overflow.
    middle = below / 2 + quantile / 2
    return quantile, middle if below <= middle < quantile else below


def _merge_rounded(y_score: FloatArray, error: FloatArray) -> FloatArray:
    """Give every run of neighbours that differ by no more than their errors its lowest value."""
    order = np.argsort(y_score, kind="stable")
    ordered, error = y_score[order], error[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.diff(ordered) > error[1:] + error[:-1]
    starts = np.flatnonzero(new)
    merged = np.empty_like(y_score)
    merged[order] = np.repeat(ordered[starts], np.diff(starts, append=len(order)))
    return merged
