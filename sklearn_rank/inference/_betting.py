"""Limits for means that hold at every look, by betting on the values."""

from __future__ import annotations

from math import log

import numpy as np
from scipy.special import logsumexp

from .._typing import FloatArray
from ._top import THRESHOLD_SHARE, extreme_hits

# Wagers on either side, in geometric progression about the one that is best for the expected
# number of values; closer ones do not make the intervals narrower.
RATIO = 1.5
N_EITHER_WAY = 28
# Standard deviation for which the middle wager is best.
TYPICAL_DEVIATION = 0.25
# Newton's steps, of which about fifteen are taken, until they are nearly as small as rounding.
MOST_STEPS = 200
SMALLEST_STEP = 1e-13
# Number of values that are processed at once.
CHUNK = 2**15


class Wagers:
    """Sizes of the bets: gains of a value of 1 over one of 0, and fractions of the capital."""

    def __init__(self, n_best: float, alpha: float, deviation: float = TYPICAL_DEVIATION) -> None:
        middle = (2.0 * log(2.0 / alpha) / n_best) ** 0.5 / deviation
        place = log(RATIO) * np.arange(-N_EITHER_WAY, N_EITHER_WAY + 1)
        share = 1.0 / (1.0 + place**2)
        self.gains: FloatArray = middle * np.exp(place)
        # Half of the capital is on large values, half on small ones.
        self.log_shares: FloatArray = np.log(share / (2.0 * share.sum()))


class Bets:
    """Capital of bets on values in [0, 1], as a function of the mean that they are against."""

    def __init__(self, wagers: Wagers) -> None:
        self.wagers = wagers
        self.up = np.zeros(len(wagers.gains))
        self.down = np.zeros(len(wagers.gains))
        self.count = self.total = 0.0

    def add_values(self, values: FloatArray) -> None:
        """Bet on values."""
        values = np.clip(values, 0.0, 1.0)
        gains = self.wagers.gains[:, np.newaxis]
        for start in range(0, len(values), CHUNK):
            chunk = values[start : start + CHUNK]
            self.up += np.log1p(gains * chunk).sum(axis=1)
            self.down += np.log1p(gains * (1.0 - chunk)).sum(axis=1)
        self.count += len(values)
        self.total += float(values.sum())

    def add_coins(self, ones: float, count: float) -> None:
        """Bet on values of 0 and 1."""
        self.add_growth(
            ones * np.log1p(self.wagers.gains),
            (count - ones) * np.log1p(self.wagers.gains),
            ones,
            count,
        )

    def add_growth(self, up: FloatArray, down: FloatArray, total: float, count: float) -> None:
        """Add what bets on some values have become."""
        self.up, self.down = self.up + up, self.down + down
        self.total += total
        self.count += count

    @property
    def mean(self) -> float:
        """Mean of the values, of which there is one at least."""
        return self.total / self.count

    def limits(self, alpha: float) -> tuple[float, float]:
        """Find the least and the largest mean against which the capital is below ``1 / alpha``."""
        low, high = mean_limits(
            self.wagers,
            self.up[np.newaxis],
            self.down[np.newaxis],
            np.array([self.count]),
            alpha,
        )
        return float(low[0]), float(high[0])


def mean_limits(
    wagers: Wagers,
    up: FloatArray,
    down: FloatArray,
    count: FloatArray,
    alpha: float,
) -> tuple[FloatArray, FloatArray]:
    """Find the means against which bets on several samples have not won ``1 / alpha``.

    The limits, to rounding. Shape (n_samples,).
    """
    threshold = -log(alpha)
    up, down, count = np.concatenate([up, up]), np.concatenate([down, down]), np.tile(count, 2)
    limits = np.repeat([0.0, 1.0], len(count) // 2)
    for _ in range(MOST_STEPS):
        capital, slope = log_capital(wagers, up, down, count, limits)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(capital > threshold, (threshold - capital) / slope, 0.0)
        limits += step
        if np.max(np.abs(step)) <= SMALLEST_STEP:
            break
    low, high = np.split(limits, 2)
    return low, high


def log_capital(
    wagers: Wagers, up: FloatArray, down: FloatArray, count: FloatArray, mean: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Logarithm of the capital that bets against a mean have become from 1, and its slope."""
    mean, count, gains = mean[:, np.newaxis], count[:, np.newaxis], wagers.gains
    large, small = gains * mean, gains * (1.0 - mean)
    logs = np.concatenate(
        [
            wagers.log_shares + up - count * np.log1p(large),
            wagers.log_shares + down - count * np.log1p(small),
        ],
        axis=1,
    )
    largest = logs.max(axis=1)
    logs = np.exp(logs - largest[:, np.newaxis])
    slopes = np.concatenate([-gains / (1.0 + large), gains / (1.0 + small)], axis=1)
    total = logs.sum(axis=1)
    return largest + np.log(total), count[:, 0] * (logs * slopes).sum(axis=1) / total


# Pairs that share no item, at most, in one mean over pairings; numbers of subsets of so many pairs
# are below the largest float64.
MOST_PAIRS = 1000


def pair_growth(
    n_pos: FloatArray, n_neg: FloatArray, gains: FloatArray
) -> tuple[FloatArray, FloatArray, float, int]:
    """Growth of bets on the pairs of some items, up and down, their total and their number.

    It is the mean over the pairings, which give each item of the smaller class another item of the
    larger one. A pair is worth 1 where the positive has the higher score, 1/2 where they are tied,
    and otherwise 0.
    """
    up, down = np.zeros(len(gains)), np.zeros(len(gains))
    total, n_pairs = 0.0, 0
    for part_pos, part_neg in _split_pairs(n_pos.astype(np.intp), n_neg.astype(np.intp)):
        # Of each positive how many negatives it beats, and of each negative how many beat it:
        # the same matrix, from the other end.
        if part_pos.sum() <= part_neg.sum():
            wins, losses = (part_pos, part_neg), (part_pos[::-1], part_neg[::-1])
        else:
            wins, losses = (part_neg[::-1], part_pos[::-1]), (part_neg, part_pos)
        won = _subsets(*wins)
        up += _mean_product(won, gains)
        down += _mean_product(_subsets(*losses), gains)
        total += float(won[1])
        n_pairs += min(int(part_pos.sum()), int(part_neg.sum()))
    return up, down, total, n_pairs


def _split_pairs(n_pos: np.ndarray, n_neg: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split the items of each class at random, so that no part has too many pairs."""
    n_parts = -(-min(int(n_pos.sum()), int(n_neg.sum())) // MOST_PAIRS)
    if n_parts <= 1:
        return [(n_pos, n_neg)] * n_parts
    rng = np.random.default_rng(0)
    split = []
    for counts in (n_pos, n_neg):
        blocks = np.repeat(np.arange(len(counts)), counts)
        parts = np.array_split(rng.permutation(blocks), n_parts)
        split.append([np.bincount(part, minlength=len(counts)) for part in parts])
    return list(zip(*split, strict=True))


def _subsets(rows: np.ndarray, columns: np.ndarray) -> FloatArray:
    """Mean over pairings of the sum over all j pairs of the product of their worths, by j.

    ``rows`` and ``columns`` count the items of the smaller and of the larger class in each block;
    a pair is worth 1 where the row lies in a later block than the column.
    """
    n_rows, n_columns = int(rows.sum()), int(columns.sum())
    below = np.cumsum(columns) - columns
    sums = np.zeros(n_rows + 1)
    sums[0] = 1.0
    # Probability that a row meets one of the b columns below it, when j others are taken by rows
    # that lie below: (b - j) / (n_columns - j).
    n_taken = np.arange(n_rows, dtype=np.float64)
    n_done = 0
    for block in np.flatnonzero(rows):
        chance = np.maximum(below[block] - n_taken, 0.0) / (n_columns - n_taken)
        n_block, tied = int(rows[block]), int(columns[block])
        steps = [sums]
        for row in range(n_block):
            last = min(n_done + row, int(below[block]) - 1) + 1
            after = steps[-1].copy()
            if last > 0:
                after[1 : last + 1] += chance[:last] * steps[-1][:last]
            steps.append(after)
        sums = steps[-1]
        if tied:
            sums = _with_ties(steps, tied, int(below[block]), n_taken, n_columns)
        n_done += n_block
    return sums


def _with_ties(
    steps: list[FloatArray], tied: int, n_below: int, n_taken: FloatArray, n_columns: int
) -> FloatArray:
    """Let w of the rows of a block meet columns of their own block, each worth 1/2."""
    n_block = len(steps) - 1
    sums = steps[-1].copy()
    # No more rows meet columns below than there are, and the tied ones are others.
    free = n_columns - n_taken[: n_below + 1]
    ways = np.ones(len(free))
    for w in range(1, min(n_block, tied) + 1):
        # w ordered columns of the tied ones, after j that lie below; w rows of those here.
        ways *= (tied - w + 1) / (free - (w - 1)) * ((n_block - w + 1) / (2.0 * w))
        source = steps[n_block - w][: min(len(ways), len(sums) - w)]
        sums[w : w + len(source)] += ways[: len(source)] * source
    return sums


def _mean_product(subsets: FloatArray, gains: FloatArray) -> FloatArray:
    """Logarithm of the sum over j of ``gain**j`` times what j pairs are worth."""
    with np.errstate(divide="ignore"):
        logs = np.log(subsets)
    return logsumexp(logs + np.log(gains)[:, np.newaxis] * np.arange(len(subsets)), axis=1)


# Tops of different length that are evaluated at once.
TOPS_AT_ONCE = 2**12


def top_limits_at_all_times(
    n_pos: FloatArray, size: FloatArray, tau: float, n_best: float, alpha: float
) -> tuple[float, float]:
    """Limits from every number of items that may lie above the threshold of the population."""
    n = int(size.sum())
    least, largest = _counts_above(n, tau, n_best, alpha * THRESHOLD_SHARE)
    if least == 0:
        return 0.0, 1.0
    alpha -= alpha * THRESHOLD_SHARE
    wagers = Wagers(n_best * tau, alpha)
    gain = np.log1p(wagers.gains)
    low, high = 1.0, 0.0
    for start in range(least, largest + 1, TOPS_AT_ONCE):
        count = np.arange(start, min(start + TOPS_AT_ONCE, largest + 1))
        for side, ones in enumerate(extreme_hits(n_pos, size, count)):
            up, down = np.multiply.outer(ones, gain), np.multiply.outer(count - ones, gain)
            limits = mean_limits(wagers, up, down, count.astype(np.float64), alpha)[side]
            if side == 0:
                low = min(low, float(limits.min()))
            else:
                high = max(high, float(limits.max()))
    return low, high


def _counts_above(n: int, tau: float, n_best: float, alpha: float) -> tuple[int, int]:
    """Least and largest number of n items above the threshold that bets do not refute."""
    wagers = Wagers(n_best, alpha, (tau * (1.0 - tau)) ** 0.5)
    gain = np.log1p(wagers.gains)

    def is_possible(count: int) -> bool:
        capital, _ = log_capital(
            wagers,
            (count * gain)[np.newaxis],
            ((n - count) * gain)[np.newaxis],
            np.array([float(n)]),
            np.array([tau]),
        )
        return bool(capital[0] < -np.log(alpha))

    counts = []
    for inside, end in ((int(np.floor(tau * n)), 0), (int(np.ceil(tau * n)), n)):
        # The capital is convex in the count.
        outside = end + (1 if end else -1)
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            inside, outside = (middle, outside) if is_possible(middle) else (inside, middle)
        counts.append(inside)
    return counts[0], counts[1]
