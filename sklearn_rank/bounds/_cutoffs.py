"""Cut-offs whose precision, recall or false positive rate on new rows is guaranteed.

A cut-off is a number k of rows from the top of a labelled sample, counted to the end of a block of
ties. Given the next lower score, the k rows are independent draws of those that a cut-off just
above it flags, so the positives among them are binomial; likewise the positives, and the
negatives, that lie above a cut-off.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log

import numpy as np
from scipy.special import betainc, logsumexp

from .._typing import BoolArray, FloatArray, IntArray
from ._bound import NEGLIGIBLE

# Tests of a precision start where so many failures may occur, each with a share of the error; a
# later start adds what earlier tests did not lose.
STARTS, SHARES = (1, 8, 40), (0.7, 0.2, 0.1)

# Factor between the numbers of failures of tests.
STEP = 1.02

# Tests of a mean amount start at so many rows, a factor apart.
STARTS_OF_ROWS, STEP_OF_ROWS = (16, 64, 256), 1.1


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

    ``hits`` are the positives among the n rows above each cut-off, in descending order; Theorem 11
    of the proofs of bounds. Shape (n_cutoffs,).
    """
    failures = [_numbers(start, n[-1], STEP) for start in STARTS]
    sizes = [
        _tests(numbers, goal, share * delta)
        for numbers, share in zip(failures, SHARES, strict=True)
    ]
    return _in_sequence(chance_of_hits(hits, n, goal), n, sizes, delta)


def value_cutoffs(
    amounts: FloatArray, n: FloatArray, goal: float, delta: float, codes: IntArray | None = None
) -> BoolArray:
    """Cut-offs whose rows have at least a mean amount: one is wrong with probability delta.

    ``amounts`` and ``codes`` are amounts and groups of the rows from the top, of which n are above
    each cut-off. Shape (n_cutoffs,).
    """
    sizes = [_numbers(start, n[-1], STEP_OF_ROWS) for start in STARTS_OF_ROWS]
    return _in_sequence(chance_of_amounts(amounts, n, goal, 1.0, codes), n, sizes, delta)


def chance_of_amounts(
    amounts: FloatArray,
    n: FloatArray,
    goal: float,
    times: float = 1.0,
    codes: IntArray | None = None,
) -> FloatArray:
    """P-values of the first n rows, for several n, against a mean amount below the goal.

    The product of ``1 + bet (amount - goal)`` then has an expectation below 1, and so has the mean
    over some bets; of groups, that of ``1 + bet sum(amount - goal)``. ``times`` is for so many
    times as many rows. Shape (n_cutoffs,).
    """
    last, excess = n.astype(np.intp) - 1, amounts - goal
    before = np.zeros(len(excess)) if codes is None else sums_of_earlier(codes, excess)
    # Relative to the largest bet that no amount can ruin.
    bets = np.geomspace(1.0 / 4096.0, 0.9, 25) / -min((before + excess).min(), excess.min())
    gains = (np.log1p(bet * (before + excess)) - np.log1p(bet * before) for bet in bets)
    capital = [times * np.cumsum(gain)[last] for gain in gains]
    return np.exp(np.minimum(log(len(bets)) - logsumexp(capital, axis=0), 0.0))


def sums_of_earlier(codes: IntArray, values: FloatArray) -> FloatArray:
    """Sum of the values of earlier rows of the same group. Shape (n_samples,)."""
    order = np.argsort(codes, kind="stable")
    sums = np.cumsum(values[order]) - values[order]
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    earlier = np.empty(len(codes))
    earlier[order] = sums - np.repeat(sums[starts], np.diff(starts, append=len(codes)))
    return earlier


def _in_sequence(
    chance: FloatArray, n: FloatArray, sizes: Sequence[FloatArray], delta: float
) -> BoolArray:
    """Test cut-offs by their p-values in an order that is fixed in advance, until one fails.

    Sequences of numbers of rows share delta, and one without a failure leaves its part to the
    next, before which it ends. Shape (n_cutoffs,).
    """
    n = n * (1.0 + NEGLIGIBLE)  # effective numbers of groups may lie just below whole ones
    certified, carried = np.zeros(len(chance), dtype=bool), 0.0
    ends = [*(float(of_start[0]) for of_start in sizes[1:]), inf]
    for of_start, share, end in zip(sizes, SHARES, ends, strict=True):
        alpha, carried = share * delta + carried, 0.0
        of_start = of_start[(of_start < end) & (of_start <= n[-1])]
        if not len(of_start):
            break
        cutoffs = np.unique(np.searchsorted(n, of_start))
        failed = np.flatnonzero(chance[cutoffs] > alpha)
        certified[cutoffs[: failed[0] if len(failed) else None]] = True
        carried = 0.0 if len(failed) else alpha
    return certified


def _numbers(first: int, last: float, step: float) -> FloatArray:
    """Numbers from the first on, a factor apart where this is more than 1."""
    numbers = [first]
    while numbers[-1] < last:
        numbers.append(max(numbers[-1] + 1, int(step * numbers[-1])))
    return np.array(numbers, dtype=np.float64)


def _tests(failures: FloatArray, goal: float, alpha: float) -> FloatArray:
    """Fewest rows of which so many failures still show a precision. Shape (n_failures,)."""
    few, enough = failures.copy(), 2.0 * failures + 2.0
    while (short := chance_of_hits(enough - failures, enough, goal) > alpha).any():
        few[short], enough[short] = enough[short], 2.0 * enough[short]
    while (enough - few > 1.0).any():
        middle = np.floor((few + enough) / 2.0)
        short = chance_of_hits(middle - failures, middle, goal) > alpha
        few, enough = np.where(short, middle, few), np.where(short, enough, middle)
    return enough
