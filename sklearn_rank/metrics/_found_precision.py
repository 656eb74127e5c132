"""Average precision of the positives that are found, divided by their number.

Where the last position cuts a tied block, the number depends on the order: the mean over the
orders is that of a ratio, a sum over how many positives of this block are found.
"""

from __future__ import annotations

import numpy as np

from .._order import ClassBlocks
from .._typing import FloatArray
from ._reciprocals import reciprocals
from ._stopping import padded


def found_average_precision(blocks: ClassBlocks, k: int) -> FloatArray:
    """Mean precision at the positions of the positives among the first k of each list.

    Mean over all orders of tied items; an order that finds no positive has the value 0, a list
    without positives is NaN. Shape (n_lists,).
    """
    length = blocks.of_class + blocks.of_other
    above = blocks.class_above + blocks.other_above
    complete = above + length <= k
    before = blocks.class_above + 1.0
    sums = _precision(before, above, blocks.of_class, length)
    total = blocks.sums(np.where(complete, sums, 0.0))
    found = blocks.sums(np.where(complete, blocks.of_class, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(found > 0, total / found, 0.0)
    cut = np.flatnonzero((above < k) & ~complete)
    if len(cut):
        of_list = np.zeros(len(cut), dtype=np.intp)
        of_list = of_list if blocks.list_of is None else blocks.list_of[cut]
        values[of_list] = _of_cut(
            blocks.of_class[cut],
            length[cut],
            above[cut],
            k - above[cut],
            total[of_list],
            found[of_list],
        )
    return np.where(blocks.n_class > 0, np.minimum(values, 1.0), np.nan)


def _precision(
    before: FloatArray, above: FloatArray, positive: FloatArray, length: FloatArray
) -> FloatArray:
    """Mean sum of the precisions at the positives of blocks; ``before`` counts one more above."""
    ratio = (positive - 1.0) / np.maximum(length - 1.0, 1.0)
    harmonic = reciprocals(above + 1.0, length)
    return positive / length * ((before - ratio * (above + 1.0)) * harmonic + ratio * length)


def _of_cut(
    positive: FloatArray,
    length: FloatArray,
    above: FloatArray,
    taken: FloatArray,
    total: FloatArray,
    found: FloatArray,
) -> FloatArray:
    """Mean, over how many positives of its last block are found, of the value of each list."""
    low = np.maximum(0.0, taken - (length - positive))
    count = (np.minimum(positive, taken) - low).astype(np.intp) + 1
    values = np.empty(len(positive))
    harmonic = reciprocals(above + 1.0, taken)
    for which, _, real in padded(np.zeros_like(count), count):
        a, n, c, n_above, of_above, p, each = (
            of_list[which, np.newaxis]
            for of_list in (positive, length, taken, above, total, found, harmonic)
        )
        h = low[which, np.newaxis] + np.arange(real.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            # Of those taken h are positive with a hypergeometric chance.
            step = np.log((a - h) * (c - h) / ((h + 1.0) * (n - a - c + h + 1.0)))
            inside = ((h - 1.0) / np.maximum(c - 1.0, 1.0)) * (c - (n_above + 1.0) * each)
            inside += (p + 1.0) * each
            value = (of_above + h / c * inside) / (p + h)
        logarithm = np.zeros_like(h)
        np.cumsum(np.where(real[:, 1:], step[:, :-1], 0.0), axis=1, out=logarithm[:, 1:])
        logarithm[~real] = -np.inf
        share = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        value = np.where(real & (p + h > 0), value, 0.0)
        values[which] = np.sum(share * value, axis=1) / np.sum(share, axis=1)
    return values
