"""Betting on disjoint pairs of a positive and a negative, averaged over all pairings."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from .._typing import FloatArray

__all__ = ["pair_growth"]

# Pairs that share no item, at most, in one mean over pairings; numbers of subsets of so many pairs
# are below the largest float64.
MOST_PAIRS = 1000


def pair_growth(
    n_pos: FloatArray, n_neg: FloatArray, gains: FloatArray
) -> tuple[FloatArray, FloatArray, float, int]:
    """What bets on the pairs of some items become, in the mean over the pairings.

    A pairing gives each item of the smaller class another item of the larger one. A pair is worth
    1 where the positive has the higher score, 1/2 where they are tied, and else 0.
    """
    up, down = np.zeros(len(gains)), np.zeros(len(gains))
    total, n_pairs = 0.0, 0
    for of_pos, of_neg in _dealt(n_pos.astype(np.intp), n_neg.astype(np.intp)):
        some = min(int(of_pos.sum()), int(of_neg.sum()))
        # Of each positive how many negatives it beats, and of each negative how many beat it:
        # the same matrix, from the other end.
        if of_pos.sum() <= of_neg.sum():
            wins, losses = (of_pos, of_neg), (of_pos[::-1], of_neg[::-1])
        else:
            wins, losses = (of_neg[::-1], of_pos[::-1]), (of_neg, of_pos)
        won, lost = _subsets(*wins), _subsets(*losses)
        up += _mean_product(won, gains)
        down += _mean_product(lost, gains)
        total += float(won[1])
        n_pairs += some
    return up, down, total, n_pairs


def _dealt(n_pos: np.ndarray, n_neg: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Deal the items of each class to parts of at most so many pairs."""
    n_parts = -(-min(int(n_pos.sum()), int(n_neg.sum())) // MOST_PAIRS)
    if n_parts <= 1:
        return [(n_pos, n_neg)] * n_parts
    rng = np.random.default_rng(0)
    dealt = []
    for counts in (n_pos, n_neg):
        blocks = np.repeat(np.arange(len(counts)), counts)
        parts = np.array_split(rng.permutation(blocks), n_parts)
        dealt.append([np.bincount(part, minlength=len(counts)) for part in parts])
    return list(zip(*dealt, strict=True))


def _subsets(rows: np.ndarray, columns: np.ndarray) -> FloatArray:
    """Mean over pairings of the sum over all j pairs of the product of their worths, by j.

    ``rows`` and ``columns`` count the items of the smaller and of the larger class in each block;
    a pair is worth 1 where the row lies in a later block than the column.
    """
    n_rows, n_columns = int(rows.sum()), int(columns.sum())
    below = np.cumsum(columns) - columns
    found = np.zeros(n_rows + 1)
    found[0] = 1.0
    # Probability that a row meets one of the b columns below it, when j others are taken by rows
    # that lie below: (b - j) / (n_columns - j).
    taken = np.arange(n_rows, dtype=np.float64)
    done = 0
    for block in np.flatnonzero(rows):
        chance = np.maximum(below[block] - taken, 0.0) / (n_columns - taken)
        n_here, tied = int(rows[block]), int(columns[block])
        steps = [found]
        for row in range(n_here):
            last = min(done + row, int(below[block]) - 1) + 1
            after = steps[-1].copy()
            if last > 0:
                after[1 : last + 1] += chance[:last] * steps[-1][:last]
            steps.append(after)
        found = steps[-1]
        if tied:
            found = _with_ties(steps, tied, int(below[block]), taken, n_columns)
        done += n_here
    return found


def _with_ties(
    steps: list[FloatArray], tied: int, n_below: int, taken: FloatArray, n_columns: int
) -> FloatArray:
    """Let w of the rows of a block meet columns of their own block, each worth 1/2."""
    n_here = len(steps) - 1
    found = steps[-1].copy()
    # No more rows meet columns below than there are, and the tied ones are others.
    free = n_columns - taken[: n_below + 1]
    ways = np.ones(len(free))
    for w in range(1, min(n_here, tied) + 1):
        # w ordered columns of the tied ones, after j that lie below; w rows of those here.
        ways *= (tied - w + 1) / (free - (w - 1)) * ((n_here - w + 1) / (2.0 * w))
        source = steps[n_here - w][: min(len(ways), len(found) - w)]
        found[w : w + len(source)] += ways[: len(source)] * source
    return found


def _mean_product(subsets: FloatArray, gains: FloatArray) -> FloatArray:
    """Logarithm of the sum over j of ``gain**j`` times what j pairs are worth."""
    with np.errstate(divide="ignore"):
        logs = np.log(subsets)
    return logsumexp(logs + np.log(gains)[:, np.newaxis] * np.arange(len(subsets)), axis=1)
