"""Rows of one list in the order of their scores, equal ones as one with their count.

An interval needs only sums over the items, so the original row order is not kept.
"""

from __future__ import annotations

import numpy as np

from .._lists import ScoredLists
from .._order import class_codes

__all__ = ["ordered_rows", "runs_of_negatives", "with_tied_tail"]

# With fewer rows, merging equal rows does not save time.
MANY_ROWS = 2**14


def ordered_rows(data: ScoredLists) -> ScoredLists:
    """Sort a long list of two classes once, and count its rows."""
    if data.weight is not None or len(data.score) < MANY_ROWS:
        return data
    codes = class_codes(data.score, data.positive)[::-1]
    last_bit = codes.dtype.type(1)
    changed = np.flatnonzero(codes[1:] != codes[:-1])
    if len(changed) + 1 < len(codes):
        starts = np.concatenate([[0], changed + 1])
        counts = np.diff(starts, append=len(codes)).astype(np.float64)
        codes = codes[starts]
    else:
        counts = None
    positive = (codes & last_bit).astype(bool)
    tied = np.zeros(len(codes), dtype=bool)
    tied[1:] = (codes[1:] | last_bit) == (codes[:-1] | last_bit)
    score = np.cumsum(tied, dtype=np.float64)
    score -= np.arange(len(codes))
    return ScoredLists(
        labels=positive, score=score, weight=counts, offsets=np.array([0, len(codes)])
    )


def runs_of_negatives(data: ScoredLists) -> ScoredLists:
    """Sort a long list of two classes, and tie negatives where no positive lies between them.

    For measures to which these are alike, whether they are tied or not.
    """
    if data.weight is not None or len(data.score) < MANY_ROWS:
        return data
    blocks = data.blocks(joined=False)
    n_neg = float(blocks.n_other[0])
    tied, below = blocks.of_other[::-1], blocks.other_below[::-1]
    # From the top: negatives above each block that holds positives, its positives and negatives.
    counts = np.zeros((len(tied) + 1, 3))
    starts, stops = np.append(0.0, n_neg - below), np.append(n_neg - below - tied, n_neg)
    counts[:, 0], counts[:-1, 1], counts[:-1, 2] = stops - starts, blocks.of_class[::-1], tied
    score = np.repeat(-2.0 * np.arange(len(counts)), 3) - np.tile([0.0, 1.0, 1.0], len(counts))
    positive = np.tile([False, True, False], len(counts))
    counted = counts.ravel()
    some = counted > 0.0
    return ScoredLists(
        labels=positive[some],
        score=score[some],
        weight=counted[some],
        offsets=np.array([0, int(np.count_nonzero(some))]),
    )


def with_tied_tail(data: ScoredLists, share: float) -> ScoredLists:
    """Tie what is below the top of a long list, where nothing depends on the order below it."""
    n = len(data.score)
    kept = int(np.ceil(share * n)) + 2 * int(np.ceil(np.sqrt(n))) + 1
    if data.weight is not None or n < MANY_ROWS or kept >= n or data.score.dtype.kind != "f":
        return data
    top = data.leading(kept)
    n_left, n_pos = n - len(top.score), float(data.positives[0] - top.positives[0])
    if not n_left:
        return data
    counts = np.append(np.ones(len(top.score)), [n_pos, n_left - n_pos])
    some = counts > 0.0
    return ScoredLists(
        labels=np.append(top.labels, [True, False])[some],
        # Below the lowest score of the top there is another, so that it is no infinity.
        score=np.append(top.score, np.full(2, -np.inf, dtype=top.score.dtype))[some],
        weight=counts[some],
        offsets=np.array([0, int(np.count_nonzero(some))]),
    )
