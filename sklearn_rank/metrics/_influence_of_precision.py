"""Influence of single items on the average precision of one list."""

from __future__ import annotations

import numpy as np

from .._order import counted_blocks, places_of
from .._typing import BoolArray, FloatArray
from ._influence import ClassInfluence, by_row
from ._reciprocals import reciprocals


def average_precision_influence(
    positive: BoolArray, score: FloatArray, counts: FloatArray | None = None
) -> ClassInfluence:
    """Influence of checked items on the average precision, in the mean over orders of ties.

    With j positives and N negatives down to a positive at position i, ``AP = 1/k sum of j / i``.
    Down to there, a share of the positives more raises the precision by ``k N / i**2`` times it,
    and a share of the m negatives lowers it by ``m j / i**2`` times that. A positive has its own
    precision and ``sum of N / i**2`` over the positives at or below it, a negative ``-m / k sum of
    j / i**2`` over the positives below it.
    """
    blocks = counted_blocks(score, positive, counts)
    n, k = blocks.n, blocks.k
    m = n - k
    some = blocks.some
    a, size = blocks.n_pos[some], blocks.size[some]
    pos_above = np.cumsum(a) - a
    above = n - blocks.below[some] - size
    neg_above = above - pos_above
    once, ahead, square, square_ahead, square_two = _place_sums(above, size)
    # Given a positive at a place, the chance that another place of its block has one.
    again = (a - 1.0) / np.maximum(size - 1.0, 1.0)
    against = (size - a) / np.maximum(size - 1.0, 1.0)
    # The same given one more item of the block.
    others = np.maximum(size - 2.0, 1.0)
    precision = ((pos_above + 1.0) * once + again * ahead) / size
    gain = (neg_above * square + against * square_ahead) / size
    gain_of_others = again * (neg_above * square_ahead + (size - a) / others * square_two) / size
    loss = a * ((pos_above + 1.0) * square + again * square_ahead) / size
    loss_within = a / np.maximum(size - 1.0, 1.0) / size
    loss_within *= (pos_above + 1.0) * square_ahead + (a - 1.0) / others * square_two

    if_positive, if_negative = np.zeros((2, len(blocks.size)))
    if_positive[some], if_negative[some] = a * gain, loss
    total_gain, total_loss = float(if_positive.sum()), float(if_negative.sum())
    # Of the blocks below each.
    for values in (if_positive, if_negative):
        upwards = values[::-1]
        np.cumsum(upwards, out=upwards)
    if_positive[some] += precision + gain + gain_of_others - a * gain
    if_negative[some] += loss_within - loss
    if_negative *= -m / k
    estimate = min(float(a @ precision) / k, 1.0)
    worst = 1.0 - m / k * float(reciprocals(np.array([m + 1.0]), np.array([float(k)]))[0])
    return ClassInfluence(
        estimate=estimate,
        values=by_row(blocks, positive, if_positive, if_negative),
        positive=positive,
        ends=(k / n, 1.0 + total_gain, 0.0, -total_loss * m / k),
        range=(worst, 1.0),
        # j N / i**2 summed is by how much the mean over the positives exceeds the precision.
        label_slope=(float(a @ if_positive[some]) / k - estimate) * n / k * n / m,
        counts=counts,
    )


def _place_sums(above: FloatArray, size: FloatArray) -> FloatArray:
    """Sums over the places v of each block, which lie at the positions ``i = above + v``.

    Shape (5, n_blocks).
    """
    sums = np.zeros((5, len(size)))
    sums[0] = 1.0 / (above + 1.0)
    sums[2] = sums[0] ** 2
    tied = np.flatnonzero(size > 1.0)
    if len(tied) == 0:
        return sums
    sums[:, tied] = 0.0
    for inside, first, block, place in places_of(size[tied]):
        which = tied[inside]
        once = 1.0 / (above[which][block] + place + 1.0)
        for row, terms in enumerate((once, once * place, once**2)):
            sums[row, which] += np.add.reduceat(terms, first)
        terms *= place
        sums[3, which] += np.add.reduceat(terms, first)
        terms *= place - 1.0
        sums[4, which] += np.add.reduceat(terms, first)
    return sums
