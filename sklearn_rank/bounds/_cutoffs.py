"""Cut-offs whose precision, recall or false positive rate on new rows is guaranteed.

A cut-off is a number k of rows from the top of a labelled sample, counted to the end of a block of
ties. Given the next lower score, the k rows are independent draws of those that a cut-off just
above it flags, so the positives among them are binomial; likewise the positives, and the
negatives, that lie above a cut-off.
"""

from __future__ import annotations

from math import ceil, log
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import betainc, logsumexp

from .._typing import BoolArray, FloatArray, IntArray
from ._bound import NEGLIGIBLE, bisect

# Factor between the numbers of failures of tests, and between the numbers of rows of looks.
STEP, STEP_OF_LOOKS = 1.02, 1.1

# Share of the error, times the goal, of the first tests; each look that is passed adds to it. Few
# rows can show a high precision, and not a low one.
SHARE = 0.6


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
    failures, certified = _numbers(1, n[-1], STEP), np.zeros(len(n), dtype=bool)
    least = SHARE * goal * delta
    sizes = _tests(failures, goal, least)
    of_looks = n[-1] / STEP_OF_LOOKS ** np.arange(ceil(log(n[-1], STEP_OF_LOOKS)))
    looks = np.unique(np.searchsorted(sizes, of_looks, "right"))
    looks = looks[looks > 0] - 1
    n_ahead = len(looks) - np.searchsorted(looks, np.arange(len(sizes)))
    alpha = delta - (delta - least) * n_ahead / max(len(looks), 1)
    sizes = np.maximum.accumulate(_tests(failures, goal, alpha))
    # Effective numbers of groups may lie just below whole ones.
    places = np.searchsorted(n * (1.0 + NEGLIGIBLE), sizes)
    places = places[places < len(n)]
    chance = chance_of_hits(hits[places], n[places], goal)
    failed = np.flatnonzero(chance > alpha[: len(places)])
    while len(failed) and (ahead := looks[looks >= failed[0]]).size:
        n_shown = _looks_shown(chance[ahead], n[places[ahead]], goal, delta - alpha[ahead])
        if not n_shown:
            break
        failed = failed[failed > ahead[n_shown - 1]]
    passed = slice(failed[0] if len(failed) else None)
    certified[places[passed]] = chance[passed] <= delta
    return certified


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


def _looks_shown(chance: FloatArray, n: FloatArray, goal: float, alpha: FloatArray) -> int:
    """How many looks at the first n rows are passed, up to the one of the least p-value.

    A look is passed where as small a p-value, there or later, has probability alpha at most if
    each row is a hit with the probability ``goal``.
    """
    end = int(chance.argmin()) + 1
    least, n, alpha = chance[end - 1], np.rint(n), alpha[:end]
    by_chance = least * np.arange(len(n), len(n) - end, -1.0)
    if least > alpha[0] or (by_chance <= alpha).all():
        return end * int(least <= alpha[0])
    _, fewest = bisect(lambda x: chance_of_hits(np.floor(x), n, goal) > least, 0.0 * n, n + 1.0)
    low, _ = _usual(n, goal)
    fewest, after = np.floor(fewest), np.ones(1)
    for i in range(len(n) - 1, -1, -1):
        # Probability of no such p-value from here on, given the hits, from ``low`` to ``fewest``.
        missed = np.ones(int(fewest[i] - low[i]))
        if i + 1 < len(n):
            rows = n[i + 1] - n[i]
            first, last = _usual(rows, goal)
            of_rows = -np.diff(chance_of_hits(np.arange(first, last + 2.0), rows, goal))
            # The convolution of ``after`` with them, from the one of ``low`` hits on.
            length, start = len(after) + len(of_rows) - 1, int(low[i] - low[i + 1] + last)
            fast = next_fast_len(length, real=True)
            sums = irfft(rfft(after, fast) * rfft(of_rows[::-1], fast), fast)[start:length]
            missed = np.append(sums, np.zeros(len(missed)))[: len(missed)]
        if i < end:
            hits = np.arange(low[i], fewest[i] + 1.0)
            by_chance[i] = 1.0 + np.diff(chance_of_hits(hits, n[i], goal)) @ missed
        after = missed
    return int(np.append(np.flatnonzero(by_chance > alpha), end)[0])


def _usual(n: Any, share: float) -> tuple[Any, Any]:
    """Numbers of hits of n between which all but a negligible probability is."""
    reach = 7.0 * np.sqrt(n * share * (1.0 - share)) + 7.0
    return np.floor(np.maximum(n * share - reach, 0.0)), np.minimum(np.ceil(n * share + reach), n)


def _numbers(first: int, last: float, step: float) -> FloatArray:
    """Numbers from the first on, a factor apart where this is more than 1."""
    numbers = [first]
    while numbers[-1] < last:
        numbers.append(max(numbers[-1] + 1, int(step * numbers[-1])))
    return np.array(numbers, dtype=np.float64)


def _tests(failures: FloatArray, goal: float, alpha: Any) -> FloatArray:
    """Fewest rows of which so many failures still show a precision. Shape (n_failures,)."""
    few, enough = failures.copy(), 2.0 * failures + 2.0
    while (short := chance_of_hits(enough - failures, enough, goal) > alpha).any():
        few[short], enough[short] = enough[short], 2.0 * enough[short]
    while (enough - few > 1.0).any():
        middle = np.floor((few + enough) / 2.0)
        short = chance_of_hits(middle - failures, middle, goal) > alpha
        few, enough = np.where(short, middle, few), np.where(short, enough, middle)
    return enough
