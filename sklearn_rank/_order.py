"""The one place that sorts: items of lists by score, and sums along them.

A *list* is a run of consecutive rows; ``offsets`` says where each begins, and None is one list.
"""

from __future__ import annotations

import numpy as np

from ._typing import AnyArray, FloatArray, IntArray

__all__ = ["descending", "ragged_ranges", "running_totals", "sorted_descending"]


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
    position = np.arange(len(values)) - np.repeat(first, np.diff(first, append=len(values)))
    longest, step = int(position.max()), 1
    while step <= longest:
        rows = np.flatnonzero(position >= step)
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
