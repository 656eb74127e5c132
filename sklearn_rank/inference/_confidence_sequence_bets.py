"""Confidence sequences for the mean of values in [0, 1], by betting."""

from __future__ import annotations

from math import log

import numpy as np

from .._typing import FloatArray

__all__ = ["Bets", "Wagers", "mean_limits"]

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
            some = values[start : start + CHUNK]
            self.up += np.log1p(gains * some).sum(axis=1)
            self.down += np.log1p(gains * (1.0 - some)).sum(axis=1)
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
    most = -log(alpha)
    up, down, count = np.concatenate([up, up]), np.concatenate([down, down]), np.tile(count, 2)
    limits = np.repeat([0.0, 1.0], len(count) // 2)
    for _ in range(MOST_STEPS):
        won, slope = log_capital(wagers, up, down, count, limits)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(won > most, (most - won) / slope, 0.0)
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
    won = np.concatenate(
        [
            wagers.log_shares + up - count * np.log1p(large),
            wagers.log_shares + down - count * np.log1p(small),
        ],
        axis=1,
    )
    most = won.max(axis=1)
    won = np.exp(won - most[:, np.newaxis])
    slopes = np.concatenate([-gains / (1.0 + large), gains / (1.0 + small)], axis=1)
    total = won.sum(axis=1)
    return most + np.log(total), count[:, 0] * (won * slopes).sum(axis=1) / total
