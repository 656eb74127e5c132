"""Cut-offs whose precision, recall or false positive rate on new rows is guaranteed.

A cut-off is a number k of rows from the top of a labelled sample, counted to the end of a block of
ties. Given the next lower score, the k rows are independent draws of those that a cut-off just
above it flags, so the positives among them are binomial; likewise the positives, and the
negatives, that lie above a cut-off.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from .._typing import AnyArray, BoolArray, FloatArray, IntArray

# Tests of a precision start where so many failures may occur, each with a share of the error; a
# later start adds what earlier tests did not lose.
STARTS, SHARES = (1, 8, 40), (0.7, 0.2, 0.1)

# Factor between the numbers of failures of tests.
STEP = 1.02


def chance_of_hits(hits: FloatArray, n: FloatArray, share: float) -> FloatArray:
    """Probability of at least so many hits of n if each is one with a probability.

    The numbers need not be whole.
    """
    hits, n = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(n, np.float64))
    some = hits > 0.0
    chance = np.ones(hits.shape)
    chance[some] = betainc(hits[some], n[some] - hits[some] + 1.0, share)
    return chance


def precision_cutoffs(hits: FloatArray, n: FloatArray, goal: float, delta: float) -> BoolArray:
    """Cut-offs that have at least a precision: one of them is wrong with probability delta.

    Theorem 11 of the proofs of bounds.

    ``hits`` are the positives among the n rows above each cut-off, in descending order. Cut-offs
    are tested in an order that does not depend on the labels, down from where few failures may
    occur, until a test fails. Shape (n_cutoffs,).
    """
    chance = chance_of_hits(hits, n, goal)
    certified, carried = np.zeros(len(chance), dtype=bool), 0.0
    for i, (start, share) in enumerate(zip(STARTS, SHARES, strict=True)):
        alpha, carried, end = share * delta + carried, 0.0, np.inf
        if i + 1 < len(STARTS):
            (end,) = _tests(np.array(STARTS[i + 1 : i + 2]), goal, SHARES[i + 1] * delta)
        # The cut-offs that are tested do not depend on what earlier tests left.
        sizes = _tests(_numbers(start, int(n[-1])), goal, share * delta)
        sizes = sizes[(sizes < end) & (sizes <= n[-1])]
        if not len(sizes):
            break
        cutoffs = np.unique(np.searchsorted(n, sizes))
        failed = np.flatnonzero(chance[cutoffs] > alpha)
        certified[cutoffs[: failed[0] if len(failed) else None]] = True
        carried = 0.0 if len(failed) else alpha
    return certified


def _numbers(first: int, last: int) -> FloatArray:
    """Numbers of failures from the first on, a factor apart where this is more than 1."""
    numbers = [first]
    while numbers[-1] < last:
        numbers.append(max(numbers[-1] + 1, int(STEP * numbers[-1])))
    return np.array(numbers, dtype=np.float64)


def _tests(failures: AnyArray, goal: float, alpha: float) -> IntArray:
    """Fewest rows of which so many failures still show a precision. Shape (n_failures,)."""
    failures = np.asarray(failures, dtype=np.float64)
    few, enough = failures.copy(), 2.0 * failures + 2.0
    while (short := chance_of_hits(enough - failures, enough, goal) > alpha).any():
        few[short], enough[short] = enough[short], 2.0 * enough[short]
    while (enough - few > 1.0).any():
        middle = np.floor((few + enough) / 2.0)
        short = chance_of_hits(middle - failures, middle, goal) > alpha
        few, enough = np.where(short, middle, few), np.where(short, enough, middle)
    return enough.astype(np.int64)
