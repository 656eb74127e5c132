"""Sorting of the items of lists by score, and cumulative sums along lists.

A *list* is a run of consecutive rows; ``offsets`` says where each begins, and None is one list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = [
    "class_codes",
    "descending",
    "leading",
    "ragged_ranges",
    "running_totals",
    "sorted_descending",
]

# Entries that are worked on at once: what lies between two steps stays in the cache.
CHUNK = 2**14

# Places that are put right one by one; where there are more, indices are sorted.
MOST_WRONG = 1000

# Lists of fewer items are sorted as a whole, even if only their top counts.
LONG = 2**12


def ragged_ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """Lay consecutive integers end to end, range by range. Shape (lengths.sum()."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def running_totals(values: AnyArray, first: IntArray) -> AnyArray:
    """Cumulative sums that begin anew at each list. Shape (n,)."""
    if len(first) == 1:
        return np.cumsum(values)
    sums = values.copy()
    if values.dtype.kind == "i":
        sums[first[1:]] -= np.add.reduceat(values, first)[:-1]
        return np.cumsum(sums)
    # Differences of sums over other lists would lose the digits of a list of small weights.
    for begin, length in _by_length(np.append(first, len(values))):
        if len(begin) == 1:
            np.cumsum(values[begin[0] : begin[0] + length], out=sums[begin[0] : begin[0] + length])
        elif length > 1:
            rows = begin[:, np.newaxis] + np.arange(length)
            sums[rows] = np.cumsum(values[rows], axis=1)
    return sums


def descending(values: AnyArray, offsets: IntArray | None = None) -> tuple[IntArray, AnyArray]:
    """Order the items of each list from its highest value to its lowest."""
    if offsets is None or len(offsets) == 2:
        return _descending_list(values)
    matrix = _equally_long(values, offsets)
    if matrix is not None and matrix.shape[1] < LONG:
        order = np.argsort(matrix, axis=1)
        order += offsets[:-1, np.newaxis]
        order = order[:, ::-1].ravel()
        return order, values[order]
    order, ordered = np.empty(len(values), dtype=np.intp), np.empty_like(values)
    for first, length in _by_length(offsets):
        if length >= LONG:
            for start in first.tolist():
                places = slice(start, start + length)
                order[places], ordered[places] = _descending_list(values[places])
                order[places] += start
            continue
        rows = first[:, np.newaxis] + np.arange(length)
        # Sorting equally long lists as a matrix is ten times faster than np.lexsort.
        ascending = np.argsort(values[rows], axis=1)
        order[rows] = first[:, np.newaxis] + ascending[:, ::-1]
        ordered[rows] = values[order[rows]]
    return order, ordered


def _descending_list(values: AnyArray) -> tuple[IntArray, AnyArray]:
    """Order one list.

    A long one by a sort of values that hold the place of the item in their last bits, which is
    several times faster than one of indices, where enough bits are left to tell values apart.
    """
    if values[:1] >= values[-1:] and np.all(values[1:] <= values[:-1]):
        return np.arange(len(values)), values
    if len(values) < LONG or values.dtype not in (np.float32, np.float64):
        order = np.argsort(values)[::-1]
        return order, values[order]
    bits = (len(values) - 1).bit_length()
    lowest, highest = _integers(np.array([values.min(), values.max()]))
    shift = max(0, (int(highest) - int(lowest)).bit_length() + bits - 64)
    packed = np.empty(len(values), dtype=np.uint64)
    for start in range(0, len(values), CHUNK):
        code = packed[start : start + CHUNK]
        np.subtract(highest, _integers(values[start : start + CHUNK]), out=code.view(np.int64))
        code >>= np.uint64(shift)
        code <<= np.uint64(bits)
        code |= np.arange(start, start + len(code), dtype=np.uint64)
    packed.sort()
    packed &= np.uint64((1 << bits) - 1)
    order = packed.view(np.int64)
    ordered = values[order]
    if not shift or _settled(order, ordered, highest, shift):
        return order, ordered
    order = np.argsort(values)[::-1]
    return order, values[order]


def _integers(values: AnyArray) -> NDArray[np.int64]:
    """Integers in the order of floating-point numbers, neighbours for neighbours."""
    of_size = np.int32 if values.dtype.itemsize == 4 else np.int64
    # Adding 0 makes one zero of both.
    bits = (values + values.dtype.type(0.0)).view(of_size).astype(np.int64)
    bits ^= (bits >> 63) & np.iinfo(of_size).max
    return bits


def _settled(order: IntArray, ordered: AnyArray, highest: np.int64, shift: int) -> bool:
    """Correct places where codes were too short to tell values apart, if they are few."""
    wrong = np.flatnonzero(ordered[1:] > ordered[:-1])
    if len(wrong) == 0:
        return True
    if len(wrong) > MOST_WRONG:
        return False
    code = np.subtract(highest, _integers(ordered)).view(np.uint64) >> np.uint64(shift)
    for value in np.unique(code[wrong]):
        places = slice(*np.searchsorted(code, [value, value + code.dtype.type(1)]))
        inside = np.argsort(ordered[places])[::-1]
        order[places], ordered[places] = order[places][inside], ordered[places][inside]
    return True


def sorted_descending(values: FloatArray, offsets: IntArray | None = None) -> FloatArray:
    """Sort the values of each list from the highest to the lowest. Shape (n,)."""
    if offsets is None or len(offsets) == 2:
        return np.sort(values)[::-1]
    matrix = _equally_long(values, offsets)
    if matrix is not None:
        return np.sort(matrix, axis=1)[:, ::-1].ravel()
    ordered = np.empty_like(values)
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


def class_codes(
    values: AnyArray, in_class: BoolArray, offsets: IntArray | None = None
) -> NDArray[np.unsignedinteger[Any]]:
    """Sort the values of each list together with the class of their items.

    One sort of values, which is several times faster than one of indices: the class is written
    into the last bit of the values, their exponent making room for it.
    """
    marked = _marked(values, in_class)
    if offsets is None or len(offsets) == 2:
        marked.sort()
    elif (matrix := _equally_long(marked, offsets)) is not None:
        matrix.sort(axis=1)
    else:
        for first, length in _by_length(offsets):
            if len(first) == 1:
                marked[first[0] : first[0] + length].sort()
            elif length > 1:
                rows = first[:, np.newaxis] + np.arange(length)
                marked[rows] = np.sort(marked[rows], axis=1)
    return marked.view(_unsigned(marked))


def _unsigned(values: AnyArray) -> Any:
    """Type of unsigned integers of the same size."""
    return np.uint32 if values.dtype.itemsize == 4 else np.uint64


def _marked(values: AnyArray, in_class: BoolArray) -> AnyArray:
    """Numbers in the order of the values whose last bit is the class."""
    if values.dtype not in (np.float32, np.float64):
        # Integers of 16 bits are exact in 32, those of 32 and checked ones of 64 in 64.
        values = values.astype(np.float32 if values.dtype.itemsize <= 2 else np.float64)
    low, high = float(values.min()), float(values.max())
    infinite = max(-low, high) == np.inf
    if infinite:
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    # Powers of two that bring what is finite below 1/2, infinities to 3/4: below 1 there is a bit.
    exponent = max(int(np.frexp(max(-low, high))[1]) + 1, 0)
    scale = np.ldexp(values.dtype.type(1.0), -exponent)
    marked = np.empty_like(values)
    unsigned = _unsigned(values)
    codes, given = marked.view(unsigned), values.view(unsigned)
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
            np.bitwise_and(given[start : start + CHUNK], all_but_sign, out=magnitude)
            magnitude -= unsigned(1)  # 0 becomes the largest number
            if magnitude.min() < smallest:
                ranks = np.unique(values, return_inverse=True)[1].astype(np.float64)
                return _marked(ranks, in_class)
    return marked


def leading(values: AnyArray, counts: IntArray, offsets: IntArray) -> IntArray | None:
    """Find the items that can be among the first of their list. Shape (n_kept,)."""
    lengths = np.diff(offsets)
    long = np.flatnonzero((lengths >= LONG) & (counts <= lengths // 4))
    if 2 * lengths[long].sum() < len(values):
        return None
    kept = np.ones(len(values), dtype=bool)
    for first, length, count in zip(
        offsets[long].tolist(), lengths[long].tolist(), counts[long].tolist(), strict=True
    ):
        part = values[first : first + length]
        cut = np.partition(part, length - count)[length - count]
        np.greater_equal(part, cut, out=kept[first : first + length])
    rows = np.flatnonzero(kept)
    return rows if 2 * len(rows) <= len(values) else None
