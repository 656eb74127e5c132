"""RankBoost for two classes.

Freund, Iyer, Schapire and Singer (2003). The weight of a pair of a negative and a positive row is
the product of a weight of each, so that no pair is ever formed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from ._weak_rankings import WeakRankings

__all__ = ["LARGEST_STEP", "Boosting", "PairWeights", "RankBoostResult", "rank_boost"]

# A weak ranking that some of the pairs contradict by rounding alone gets no larger coefficient.
LARGEST_STEP = 5.0

# A weak ranking of which |r| is this near to 1 separates the classes.
SEPARATES = 1.0 - 1e-12


class PairWeights:
    """The weights of pairs of a negative row a and a positive row b, given scores H of the rows.

    They are proportional to ``w_a w_b exp(H(a) - H(b))`` and sum to 1: products of a weight of
    each row, which sum to 1 in each class.
    """

    def __init__(self, positive: BoolArray, weight: FloatArray) -> None:
        self._sign = np.where(positive, 1.0, -1.0)
        self._classes = [np.flatnonzero(positive == kind) for kind in (False, True)]
        masses = [weight[rows].sum() for rows in self._classes]
        self._log_odds_of_masses = float(np.log(masses[0]) - np.log(masses[1]))
        self._log_share = np.log(weight)
        for rows, mass in zip(self._classes, masses, strict=True):
            self._log_share[rows] -= np.log(mass)
        self.scores = np.zeros(len(weight))
        self.signed = np.empty(len(weight))
        self._weigh()

    def _weigh(self) -> None:
        """Weights from the logarithms, which neither overflow nor lose what is small."""
        exponent = self._log_share - self._sign * self.scores
        log_sums = []
        for rows in self._classes:
            of_class = exponent[rows]
            largest = of_class.max()
            part = np.exp(of_class - largest)
            total = part.sum()
            self.signed[rows] = self._sign[rows] * (part / total)
            log_sums.append(float(largest + np.log(total)))
        self._log_sums = log_sums

    def add(self, amount: AnyArray) -> None:
        """Add to the scores of the rows."""
        self.scores += amount
        self._weigh()

    @property
    def log_loss(self) -> float:
        """Logarithm of the mean over pairs of ``exp(H(a) - H(b))``, by their first weights."""
        return self._log_sums[0] + self._log_sums[1]

    @property
    def threshold(self) -> float:
        """Threshold t of the scores H of the least ``sum_a w_a e^(H-t) + sum_b w_b e^(t-H)``."""
        return 0.5 * (self._log_odds_of_masses + self._log_sums[0] - self._log_sums[1])

    def best_step(self, values: AnyArray, r: float) -> float:
        """Coefficient of a weak ranking that makes the loss least, cut off where it is large."""
        low, high = values[self._classes[0]], values[self._classes[1]]
        neg, pos = -self.signed[self._classes[0]], self.signed[self._classes[1]]
        if values.dtype == bool:
            right = pos[high].sum() * neg[~low].sum()
            wrong = neg[low].sum() * pos[~high].sum()
            with np.errstate(divide="ignore"):
                step = 0.5 * (np.log(right) - np.log(wrong))
            return float(np.clip(step, -LARGEST_STEP, LARGEST_STEP))
        lowest = values.min()
        return _newton(neg, low - lowest, pos, high - lowest, float(np.sign(r)))


def _newton(
    neg: FloatArray, low: FloatArray, pos: FloatArray, high: FloatArray, sign: float
) -> float:
    """Minimise ``log(neg @ exp(a low)) + log(pos @ exp(-a high))`` over a of a sign."""

    def slopes(a: float) -> tuple[float, float]:
        first = second = 0.0
        for weight, values, side in ((neg, low, 1.0), (pos, high, -1.0)):
            tilted = weight * np.exp(side * a * values)
            tilted /= tilted.sum()
            mean = float(tilted @ values)
            first += side * mean
            second += float(tilted @ np.square(values - mean))
        return first, second

    # Between the ends, whose slopes have different signs, Newton's steps or halves.
    inner, outer = 0.0, sign * LARGEST_STEP
    if slopes(outer)[0] * sign <= 0.0:
        return outer
    a = 0.0
    for _ in range(60):
        first, second = slopes(a)
        if first * sign <= 0.0:
            inner = a
        else:
            outer = a
        step = a - first / second if second > 0.0 else outer
        if not min(inner, outer) <= step <= max(inner, outer):
            step = 0.5 * (inner + outer)
        if abs(step - a) <= 1e-10:
            return step
        a = step
    return a


@dataclass(frozen=True)
class Boosting:
    """How to boost."""

    n_rounds: int  # Largest number of rounds
    step: Literal["closed_form", "line_search"]
    learning_rate: float  # Factor of the coefficients, in (0, 1]
    tol: float  # Size of r from which on a weak ranking is of use


@dataclass(frozen=True, eq=False)
class RankBoostResult:
    """Result of boosting."""

    rankings: list[Any]  # The weak rankings, one a round
    alphas: FloatArray  # (n_rounds,): Their coefficients
    log_loss: FloatArray  # (n_rounds,): Logarithm of the exponential loss after each round
    thresholds: FloatArray
    largest_r: float
    converged: bool


def rank_boost(
    rankings: WeakRankings,
    pairs: PairWeights,
    how: Boosting,
    on_round: Callable[[Any, float, float], bool] = lambda ranking, alpha, log_loss: False,
) -> RankBoostResult:
    """Boost weak rankings. The weak rankings and their coefficients."""
    chosen: list[Any] = []
    alphas: list[float] = []
    log_loss: list[float] = []
    thresholds: list[float] = []
    separates, found = False, None
    for _ in range(how.n_rounds):
        found = rankings.best(pairs.signed)
        if found is None or abs(found.r) <= how.tol:
            break
        separates = abs(found.r) >= SEPARATES
        if separates:
            # No pair is against it: it decides, and the rankings before it order within.
            alpha = np.copysign(max(LARGEST_STEP, 1.0 + np.sum(np.abs(alphas))), found.r)
        elif how.step == "closed_form":
            alpha = how.learning_rate * np.clip(np.arctanh(found.r), -LARGEST_STEP, LARGEST_STEP)
        else:
            alpha = how.learning_rate * pairs.best_step(found.values, found.r)
        pairs.add(alpha * found.values)
        chosen.append(found.ranking)
        alphas.append(float(alpha))
        log_loss.append(pairs.log_loss)
        thresholds.append(pairs.threshold)
        found = None
        if on_round(chosen[-1], alphas[-1], log_loss[-1]) or separates:
            break
    if found is None and rankings.is_exact:
        found = rankings.best(pairs.signed)
    if found is None:
        largest_r = 0.0 if rankings.is_exact else float("nan")
    else:
        largest_r = abs(found.r)
    return RankBoostResult(
        chosen,
        np.array(alphas),
        np.array(log_loss),
        np.array(thresholds),
        largest_r,
        separates or largest_r <= how.tol,
    )
