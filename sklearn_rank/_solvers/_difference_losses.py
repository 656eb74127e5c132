"""Convex nondecreasing losses of score differences, with conjugates for dual problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, xlog1py

from .._typing import FloatArray

__all__ = [
    "DifferenceLoss",
    "Hinge",
    "Linear",
    "LogisticLoss",
    "LossParts",
    "SquaredHinge",
]


class LossParts(NamedTuple):
    """A loss at some differences, its kinks rounded off."""

    value: FloatArray  # (n,): Values and first and second derivatives
    slope: FloatArray  # (n,): Values and first and second derivatives
    curvature: FloatArray  # (n,): Values and first and second derivatives


class DifferenceLoss(ABC):
    """A convex nondecreasing loss l(u) of a difference u of scores, large where it is wrong."""

    has_kink: ClassVar[bool] = False
    at_zero: ClassVar[float] = 1.0  # l(0) and a slope there
    slope_at_zero: ClassVar[float] = 1.0  # l(0) and a slope there
    reach: ClassVar[float] = 1.0  # The loss is 0 for differences of at most minus this

    @abstractmethod
    def rises(self, u: FloatArray) -> FloatArray:
        """Evaluate ``l(u) - l(0)``, accurate where u is small. Shape (n,)."""

    @abstractmethod
    def parts(self, u: FloatArray, width: float) -> LossParts:
        """Evaluate the loss, which exceeds its rounded form by at most half of the width."""

    @abstractmethod
    def conjugate(self, slope: FloatArray) -> FloatArray:
        """Evaluate the conjugate of the rise, ``l(0) + sup over u of slope * u - l(u)``.

        Finite values, accurate near the slope at 0. Shape (n,).
        """


class SquaredHinge(DifferenceLoss):
    """``max(0, 1 + u)**2``."""

    slope_at_zero = 2.0

    def rises(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, -1.0) * (2.0 + np.maximum(u, -1.0)))

    def parts(self, u: FloatArray, width: float) -> LossParts:
        missing = np.maximum(1.0 + u, 0.0)
        return LossParts(missing * missing, 2.0 * missing, np.where(missing > 0, 2.0, 0.0))

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.asarray((0.5 * slope - 1.0) ** 2)


class Hinge(DifferenceLoss):
    """``max(0, 1 + u)``; rounded off it is a parabola where ``1 + u`` is from 0 to the width."""

    has_kink = True

    def rises(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, -1.0))

    def parts(self, u: FloatArray, width: float) -> LossParts:
        slope = np.clip((1.0 + u) / width, 0.0, 1.0)
        value = slope * (1.0 + u - 0.5 * width * slope)
        return LossParts(value, slope, np.where((slope > 0) & (slope < 1), 1.0 / width, 0.0))

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1.0 - slope, 0.0))


class LogisticLoss(DifferenceLoss):
    """``log2(1 + exp(u))``, to base 2 so that it is 1 at 0 and bounds the error u >= 0."""

    slope_at_zero = 0.5 / float(np.log(2.0))
    reach = np.inf

    def rises(self, u: FloatArray) -> FloatArray:
        small = np.log1p(0.5 * np.expm1(np.minimum(u, 1.0)))
        return np.where(u < 1.0, small, np.logaddexp(0.0, u) - np.log(2.0)) / np.log(2.0)

    def parts(self, u: FloatArray, width: float) -> LossParts:
        share = expit(u)
        slope, curvature = share / np.log(2.0), share * expit(-u) / np.log(2.0)
        return LossParts(np.logaddexp(0.0, u) / np.log(2.0), slope, curvature)

    def conjugate(self, slope: FloatArray) -> FloatArray:
        t = np.clip(2.0 * slope * np.log(2.0) - 1.0, -1.0, 1.0)
        return np.asarray((xlog1py(1.0 + t, t) + xlog1py(1.0 - t, -t)) / np.log(4.0))


class Linear(DifferenceLoss):
    """The difference itself, what every loss is to a problem of little cost."""

    at_zero = 0.0
    reach = np.inf

    def rises(self, u: FloatArray) -> FloatArray:
        return u

    def parts(self, u: FloatArray, width: float) -> LossParts:
        return LossParts(u, np.ones_like(u), np.zeros_like(u))

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.zeros_like(slope)
