"""Convex nondecreasing losses of score differences, with conjugates for dual problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, xlogy

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
    """A loss at some differences, its kinks rounded off.

    Parameters
    ----------
    value, slope, curvature : ndarray of shape (n,)
        Values and first and second derivatives.
    """

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray


class DifferenceLoss(ABC):
    """A convex nondecreasing loss l(u) of a difference u of scores, large where it is wrong.

    Attributes
    ----------
    has_kink : bool
        Whether the loss has a kink, so that its parts depend on the width of the rounding.
    at_zero : float
        l(0).
    reach : float
        The loss is 0 for differences of at most minus this.
    """

    has_kink: ClassVar[bool] = False
    at_zero: ClassVar[float] = 1.0
    reach: ClassVar[float] = 1.0

    @abstractmethod
    def values(self, u: FloatArray) -> FloatArray:
        """Evaluate the loss itself.

        Parameters
        ----------
        u : ndarray of shape (n,)
            Differences.

        Returns
        -------
        ndarray of shape (n,)
            l(u).
        """

    @abstractmethod
    def parts(self, u: FloatArray, width: float) -> LossParts:
        """Evaluate the loss, which exceeds its rounded form by at most half of the width.

        Parameters
        ----------
        u : ndarray of shape (n,)
            Differences.
        width : float
            Width of the parabola that stands for a kink, positive.

        Returns
        -------
        LossParts
            Value, slope and curvature.
        """

    @abstractmethod
    def conjugate(self, slope: FloatArray) -> FloatArray:
        """Evaluate the convex conjugate, ``sup over u of slope * u - l(u)``.

        Parameters
        ----------
        slope : ndarray of shape (n,)
            Slopes that the loss or its rounded form has somewhere.

        Returns
        -------
        ndarray of shape (n,)
            Finite values.
        """


class SquaredHinge(DifferenceLoss):
    """``max(0, 1 + u)**2``."""

    def values(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1.0 + u, 0.0) ** 2)

    def parts(self, u: FloatArray, width: float) -> LossParts:
        missing = np.maximum(1.0 + u, 0.0)
        return LossParts(missing * missing, 2.0 * missing, np.where(missing > 0, 2.0, 0.0))

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.asarray(slope * (0.25 * slope - 1.0))


class Hinge(DifferenceLoss):
    """``max(0, 1 + u)``; rounded off it is a parabola where ``1 + u`` is from 0 to the width."""

    has_kink = True

    def values(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1.0 + u, 0.0))

    def parts(self, u: FloatArray, width: float) -> LossParts:
        slope = np.clip((1.0 + u) / width, 0.0, 1.0)
        value = slope * (1.0 + u - 0.5 * width * slope)
        return LossParts(value, slope, np.where((slope > 0) & (slope < 1), 1.0 / width, 0.0))

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return -slope


class LogisticLoss(DifferenceLoss):
    """``log2(1 + exp(u))``, to base 2 so that it is 1 at 0 and bounds the error u >= 0."""

    reach = np.inf

    def values(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.logaddexp(0.0, u) / np.log(2.0))

    def parts(self, u: FloatArray, width: float) -> LossParts:
        share = expit(u)
        slope, curvature = share / np.log(2.0), share * expit(-u) / np.log(2.0)
        return LossParts(self.values(u), slope, curvature)

    def conjugate(self, slope: FloatArray) -> FloatArray:
        share = slope * np.log(2.0)
        return np.asarray((xlogy(share, share) + xlogy(1.0 - share, 1.0 - share)) / np.log(2.0))


class Linear(DifferenceLoss):
    """The difference itself, what every loss is to a problem of little cost."""

    at_zero = 0.0
    reach = np.inf

    def values(self, u: FloatArray) -> FloatArray:
        return u

    def parts(self, u: FloatArray, width: float) -> LossParts:
        return LossParts(u, np.ones_like(u), np.zeros_like(u))

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.zeros_like(slope)
