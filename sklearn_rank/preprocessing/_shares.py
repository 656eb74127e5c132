"""Ranks within each list: the share of rows below a value minus the share above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SortedList:
    """The values of one list, by column, to rank other rows among them."""

    values: FloatArray  # (n, n_columns): Each column ascending, NaN last
    below: FloatArray

    @classmethod
    def of(cls, values: FloatArray, weight: FloatArray | None) -> SortedList:
        """Sort the columns."""
        order = np.argsort(values, axis=0)
        ordered = np.take_along_axis(values, order, axis=0)
        share = np.ones(order.shape) if weight is None else weight[order]
        share[np.isnan(ordered)] = 0.0
        start = np.zeros((1, values.shape[1]))
        return cls(ordered, np.concatenate((start, np.cumsum(share, axis=0))))

    def shares(self, values: FloatArray) -> FloatArray:
        """Rank other rows among those of the list. Shape (m, n_columns)."""
        shares = np.empty(values.shape)
        for j, (column, below) in enumerate(zip(self.values.T, self.below.T, strict=True)):
            first = np.searchsorted(column, values[:, j], "left")
            end = np.searchsorted(column, values[:, j], "right")
            shares[:, j] = _difference(below[first], below[end], below[-1])
        shares[np.isnan(values)] = np.nan
        return shares


def rank_shares(
    values: FloatArray, offsets: IntArray, weight: FloatArray | None, block: int
) -> FloatArray:
    """Rank the rows of each list, column by column. Shape (n, n_columns)."""
    shares = np.empty(values.shape)
    for rows, is_row in _equally_long(offsets, values.shape[1], block):
        padded = values[rows]
        padded[~is_row] = np.nan
        counts = None if weight is None else np.where(is_row, weight[rows], 0.0)
        ranked = _rank_lists(np.ascontiguousarray(padded.swapaxes(1, 2)), counts)
        shares[rows[is_row]] = ranked.swapaxes(1, 2)[is_row]
    return shares


def _equally_long(
    offsets: IntArray, n_columns: int, block: int
) -> Iterator[tuple[IntArray, BoolArray]]:
    """Rows of lists of about one length, as a table, and which entries of it are rows."""
    lengths = np.diff(offsets)
    by_length = np.argsort(lengths, kind="stable")
    most_rows, start = block // n_columns, 0
    while start < len(lengths):
        most = max(1, most_rows // lengths[by_length[start]])
        lists = by_length[start : start + most]
        # So many, filled up to the length of the last of them.
        rows = lengths[lists] * np.arange(1, len(lists) + 1)
        lists = lists[: max(1, np.searchsorted(rows, most_rows, "right"))]
        start += len(lists)
        place, begin = np.arange(lengths[lists[-1]]), offsets[lists, np.newaxis]
        is_row = place < lengths[lists, np.newaxis]
        yield np.where(is_row, begin + place, begin), is_row


def _rank_lists(values: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Ranks along the last axis of (lists, columns, places), with weights of (lists, places)."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    counted = np.count_nonzero(~np.isnan(ordered), axis=-1, keepdims=True)
    length = values.shape[-1]
    place = np.arange(length)
    is_new = ordered[..., 1:] != ordered[..., :-1]
    first, end = place, place + 1
    if not is_new.all():
        first = np.zeros(values.shape, dtype=np.intp)
        first[..., 1:] = np.where(is_new, place[1:], 0)
        np.maximum.accumulate(first, axis=-1, out=first)
        end = np.full(values.shape, length)
        end[..., :-1] = np.where(is_new, place[1:], length)
        backwards = end[..., ::-1]
        np.minimum.accumulate(backwards, axis=-1, out=backwards)
    if weight is None:
        share = _difference(first, end, counted)
    else:
        sums = np.zeros((*values.shape[:2], length + 1))
        by_column = np.broadcast_to(weight[:, np.newaxis], values.shape)
        np.cumsum(np.take_along_axis(by_column, order, axis=-1), axis=-1, out=sums[..., 1:])
        first, end = np.broadcast_to(first, values.shape), np.broadcast_to(end, values.shape)
        share = _difference(
            np.take_along_axis(sums, first, axis=-1),
            np.take_along_axis(sums, end, axis=-1),
            np.take_along_axis(sums, counted, axis=-1),
        )
    by_place = np.empty(values.shape)
    np.put_along_axis(by_place, order, share, axis=-1)
    by_place[np.isnan(values)] = np.nan
    return by_place


def _difference(below: AnyArray, up_to: AnyArray, total: AnyArray) -> FloatArray:
    """Share below less the share above, of which ``total - up_to`` is; 0 where nothing counts."""
    return (below + (up_to - total)) / np.where(total > 0, total, 1.0)
