"""Convex functions of the top scores: mean of the top, and a bound of a quantile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._top import quantile_at_mass
from .._typing import BoolArray, FloatArray
from ._difference_losses import DifferenceLoss

__all__ = ["SurrogateQuantile", "TopFunctional", "TopMean", "TopParts"]

# Steps of Newton's method in one variable, far more than its piecewise functions need.
MOST_STEPS = 200


class TopParts(NamedTuple):
    """A functional T at scores, its kinks rounded off."""

    value: float
    slope: FloatArray  # (n,): Derivatives by the scores, at least 0, of sum 1
    curvature: FloatArray
    centre: FloatArray
    conjugate: float  # ``sup over s of slope . s - T(s)``, for the unrounded T


class TopFunctional(ABC):
    """A convex nondecreasing function of scores; raising all scores raises it as much."""

    weight: FloatArray  # (n,): Positive weights of the scores
    mass: float  # Weight of the top

    @abstractmethod
    def value(self, scores: FloatArray) -> float:
        """Evaluate it as it is. T(scores)."""

    @abstractmethod
    def counting(self, scores: FloatArray) -> BoolArray:
        """Say on which scores the value depends. Whether the value is less without the score."""

    @abstractmethod
    def part(self, index: BoolArray) -> TopFunctional:
        """Leave rows out, which makes it no larger. The functional of these."""

    @abstractmethod
    def sample(self, stride: int) -> TopFunctional:
        """Keep every ``stride``-th row, and the mass in proportion. The functional of these."""


@dataclass(frozen=True, eq=False)
class TopMean(TopFunctional):
    """Mean of the largest scores up to a mass."""

    weight: FloatArray  # (n,): Positive weights
    mass: float  # Mass of the top, at most the sum of the weights

    def value(self, scores: FloatArray) -> float:
        quantile = float(quantile_at_mass(scores, self.weight, self.mass))
        over = np.maximum(scores - quantile, 0.0)
        return quantile + float(self.weight @ over) / self.mass

    def counting(self, scores: FloatArray) -> BoolArray:
        return np.asarray(scores >= quantile_at_mass(scores, self.weight, self.mass))

    def part(self, index: BoolArray) -> TopMean:
        return TopMean(self.weight[index], self.mass)

    def sample(self, stride: int) -> TopMean:
        weight = self.weight[::stride]
        return TopMean(weight, min(max(self.mass / stride, weight.max()), 0.9 * weight.sum()))


@dataclass(frozen=True, eq=False)
class SurrogateQuantile(TopFunctional):
    """The T at which a loss of the scores above it, ``l(beta (s - T))``, sums to a mass.

    Where ``l(0) >= 1`` it is no less than the quantile at that mass.
    """

    weight: FloatArray  # (n,): Positive weights
    mass: float
    loss: DifferenceLoss
    beta: float  # Its scale, positive; the larger, the narrower

    def value(self, scores: FloatArray) -> float:
        # The hinge is its own rounded form of no width, but for the derivatives.
        return self._root(scores, 1e-300)

    def parts(self, scores: FloatArray, width: float) -> TopParts:
        value = self._root(scores, self.beta * width)
        parts = self.loss.parts(self.beta * (scores - value), self.beta * width)
        slope, curvature = self.weight * parts.slope, self.weight * parts.curvature
        total = slope.sum()
        slope = slope / total
        conjugate = float(slope @ (scores - value))
        return TopParts(value, slope, self.beta / total * curvature, slope, conjugate)

    def _root(self, scores: FloatArray, width: float) -> float:
        """Solve by Newton's method, which on a convex function stays on one side of the root."""
        value = float(scores.max())
        for _ in range(MOST_STEPS):
            parts = self.loss.parts(self.beta * (scores - value), width)
            slope = self.beta * float(self.weight @ parts.slope)
            step = (float(self.weight @ parts.value) - self.mass) / slope
            value += step
            if abs(step) <= 1e-15 * (abs(value) + 1.0 / self.beta):
                break
        return value

    def counting(self, scores: FloatArray) -> BoolArray:
        return np.asarray(scores > self.value(scores) - self.loss.reach / self.beta)

    def part(self, index: BoolArray) -> SurrogateQuantile:
        return SurrogateQuantile(self.weight[index], self.mass, self.loss, self.beta)

    def sample(self, stride: int) -> SurrogateQuantile:
        return SurrogateQuantile(self.weight[::stride], self.mass / stride, self.loss, self.beta)
