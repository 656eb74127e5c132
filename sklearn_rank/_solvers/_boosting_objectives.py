"""Objectives of boosted trees for two classes: functions of scores over pairs, and of the top."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from .._typing import BoolArray, FloatArray
from ._logistic import LogisticSums
from ._rank_statistic import CumulatedPhi


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


def smooth_quantile(score: FloatArray, weight: FloatArray, tau: float, width: float) -> float:
    """Solve ``sum of weight * expit((score - t) / width) = tau * sum of weight`` for t."""
    z, share = score / width, weight / weight.sum()
    # If all scores were the least or the largest one, t would be there; widened for rounding.
    low, high = z.min() - logit(tau) - 1e-3, z.max() - logit(tau) + 1e-3
    return width * float(
        brentq(lambda t: float(share @ expit(z - t)) - tau, low, high, xtol=1e-13, rtol=1e-14)
    )


class SmoothTopPush(ScoreObjective):
    r"""Mean over positives i of ``log(1 + exp(T - s_i))``, T a smooth mean of the top negatives.

    .. math:: T = \min_t\; t + \frac{\varepsilon}{\tau}
        \sum_j v_j \log(1 + e^{(s_j - t) / \varepsilon}),

    v the shares of the negatives, of sum 1. Its derivatives are :math:`b_j = v_j / \tau` times a
    step that rises smoothly from 0 to 1 about t; with a width of 0 T is the mean of the largest
    share tau of the scores, and on equal scores all negatives count alike.
    """

    def __init__(
        self, positive: BoolArray, weight: FloatArray, tau: float, width: float = 1.0
    ) -> None:
        super().__init__(positive, weight)
        self._tau, self._width = tau, width

    def _top(self, score: FloatArray) -> tuple[float, FloatArray]:
        """T, and the step at each negative."""
        t = smooth_quantile(score, self._down, self._tau, self._width)
        z = (score - t) / self._width
        mean = float(self._down @ np.logaddexp(0.0, z))
        return t + self._width / self._tau * mean, expit(z)

    def value(self, score: FloatArray) -> float:
        top, _ = self._top(score[self._negatives])
        return float(self._up @ np.logaddexp(0.0, top - score[self._positives]))

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        top, step = self._top(score[self._negatives])
        missing = expit(top - score[self._positives])
        lifted, bent = self._up * missing, self._up * missing * (1.0 - missing)
        pushed = self._down / self._tau * step
        # b b' is at most the diagonal of b, whose sum is 1.
        bend = bent.sum() + lifted.sum() * (1.0 - step) / self._width
        return self._joined(-lifted, lifted.sum() * pushed), self._joined(bent, pushed * bend)


class SmoothAccuracyAtTop(ScoreObjective):
    """Logistic loss of each class on its side of the smooth quantile of all scores.

    Half the mean over positives of ``log(1 + exp(t - s))`` and half that over negatives of ``log(1
    + exp(s - t))``, where t is :func:`smooth_quantile` of all rows, which moves with the scores.
    """

    def __init__(
        self, positive: BoolArray, weight: FloatArray, tau: float, width: float = 1.0
    ) -> None:
        super().__init__(positive, weight)
        self._tau, self._width = tau, width
        self._sign = self._joined(np.full(len(self._up), -1.0), np.ones(len(self._down)))
        self._share = self._joined(0.5 * self._up, 0.5 * self._down)

    def value(self, score: FloatArray) -> float:
        t = smooth_quantile(score, self._weight, self._tau, self._width)
        return float(self._share @ np.logaddexp(0.0, self._sign * (score - t)))

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        t = smooth_quantile(score, self._weight, self._tau, self._width)
        wrong = expit(self._sign * (score - t))
        slope, bent = self._sign * self._share * wrong, self._share * wrong * (1.0 - wrong)
        z = (score - t) / self._width
        near = self._weight * expit(z) * expit(-z)
        near /= near.sum()
        # t bends no more than its slopes over the width; its squares as for the top push.
        bend = bent.sum() + abs(float(slope.sum())) / self._width
        return slope - slope.sum() * near, bent + bend * near


class SmoothRankStatistic(ScoreObjective):
    """Minus the mean over positives of phi at their smooth ranks.

    The smooth rank of a row is the sum over all rows of ``weight * expit((s - s_j) / width)``.
    """

    def __init__(
        self,
        positive: BoolArray,
        weight: FloatArray,
        phi: CumulatedPhi,
        window: float,
        width: float = 1.0,
    ) -> None:
        super().__init__(positive, weight)
        self._phi, self._window, self._width = phi, window, width

    def _at_ranks(self, score: FloatArray) -> tuple[LogisticSums, FloatArray, FloatArray]:
        """Sums over pairs, and phi and its slope at the ranks of the positives."""
        z = score / self._width
        sums = LogisticSums(z[self._positives], z)
        return sums, *self._phi.smoothed(sums.at_upper((1, self._weight)), self._window)

    def value(self, score: FloatArray) -> float:
        return -float(self._up @ self._at_ranks(score)[1])

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums, _, slope = self._at_ranks(score)
        force = self._up * slope / self._width
        own = force * sums.at_upper((2, self._weight))
        others = self._weight * sums.at_lower((2, force))
        gradient, curvature = others.copy(), others
        gradient[self._positives] -= own
        # Where phi is convex its tangent is below it, and the step's second derivative is at most
        # its first.
        curvature[self._positives] += own
        return gradient, curvature / self._width
