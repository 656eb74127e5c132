"""Objectives of boosted trees for two classes: functions of scores over pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import expit

from .._typing import BoolArray, FloatArray
from ._logistic_sums import LogisticSums

__all__ = [
    "ExponentialPush",
    "LogisticLikelihood",
    "LogisticPush",
    "ScoreObjective",
]


class ScoreObjective(ABC):
    """A differentiable function of the scores of rows of two classes, to minimise."""

    def __init__(self, positive: BoolArray, weight: FloatArray) -> None:
        self._weight = weight
        self._positives, self._negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
        # Shares of the rows in the weight of their class.
        self._up = weight[self._positives] / weight[self._positives].sum()
        self._down = weight[self._negatives] / weight[self._negatives].sum()

    @abstractmethod
    def value(self, score: FloatArray) -> float:
        """Evaluate it."""

    @abstractmethod
    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives by the scores, and a diagonal that stands for the second derivatives."""

    def _joined(self, of_positives: FloatArray, of_negatives: FloatArray) -> FloatArray:
        joined = np.empty(len(self._weight))
        joined[self._positives], joined[self._negatives] = of_positives, of_negatives
        return joined


class LogisticLikelihood(ScoreObjective):
    """Mean over all rows of ``log(1 + exp(-s))`` for positives, ``log(1 + exp(s))`` for others."""

    def value(self, score: FloatArray) -> float:
        losses = np.logaddexp(0.0, self._joined(-score[self._positives], score[self._negatives]))
        return float(self._weight @ losses / self._weight.sum())

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        chance, share = expit(score), self._weight / self._weight.sum()
        missing = chance - self._joined(np.ones(len(self._up)), np.zeros(len(self._down)))
        return share * missing, share * chance * expit(-score)


class LogisticPush(ScoreObjective):
    """p-norm over the negatives of their mean ``log(1 + exp(s_j - s_i))`` against the positives i.

    With p = 1 it is the mean over all pairs of a positive and a negative. The sums over pairs take
    time linear in the number of rows.
    """

    def __init__(self, positive: BoolArray, weight: FloatArray, p: float) -> None:
        super().__init__(positive, weight)
        self._p = p

    def value(self, score: FloatArray) -> float:
        return self._norm(self._sums(score).at_upper((0, self._up)))[0]

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums = self._sums(score)
        heights = np.maximum(sums.at_upper((0, self._up)), np.finfo(np.float64).tiny)
        _, shares = self._norm(heights)
        rises = sums.at_upper((1, self._up))
        gradient = self._joined(-self._up * sums.at_lower((1, shares)), shares * rises)
        # What the norm adds is a variance of the heights' changes, each of which is a mean of
        # differences over pairs: the square of a mean is at most the mean of the squares.
        spread = (self._p - 1.0) * shares * rises / heights
        on_negatives = shares * sums.at_upper((2, self._up)) + spread * rises
        on_positives = self._up * sums.at_lower((2, shares), (1, spread))
        return gradient, self._joined(on_positives, on_negatives)

    def _sums(self, score: FloatArray) -> LogisticSums:
        return LogisticSums(score[self._negatives], score[self._positives])

    def _norm(self, heights: FloatArray) -> tuple[float, FloatArray]:
        """p-norm of the heights of the negatives, and its derivatives by them."""
        highest = max(float(heights.max()), np.finfo(np.float64).tiny)
        powers = self._down * (heights / highest) ** (self._p - 1.0)
        mean = float(powers @ (heights / highest))
        return highest * mean ** (1.0 / self._p), powers * mean ** (1.0 / self._p - 1.0)


class ExponentialPush(ScoreObjective):
    """Logarithm of the p-norm over the negatives j of their mean ``exp(s_j - s_i)``.

    It separates into ``log mean exp(-s_i) + (1 / p) log mean exp(p s_j)``.
    """

    def __init__(self, positive: BoolArray, weight: FloatArray, p: float) -> None:
        super().__init__(positive, weight)
        self._p = p

    def value(self, score: FloatArray) -> float:
        lifted, _ = _soft_maximum(-score[self._positives], self._up)
        pushed, _ = _soft_maximum(self._p * score[self._negatives], self._down)
        return lifted + pushed / self._p

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        _, on_positives = _soft_maximum(-score[self._positives], self._up)
        _, on_negatives = _soft_maximum(self._p * score[self._negatives], self._down)
        gradient = self._joined(-on_positives, on_negatives)
        # The second derivatives are variances, of which the squares of means are left out.
        return gradient, self._joined(on_positives, self._p * on_negatives)


def _soft_maximum(values: FloatArray, share: FloatArray) -> tuple[float, FloatArray]:
    """``log sum share exp(values)``, and its derivatives by the values."""
    highest = float(values.max())
    terms = share * np.exp(values - highest)
    total = float(terms.sum())
    return highest + float(np.log(total)), terms / total
