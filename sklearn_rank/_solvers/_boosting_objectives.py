"""Objectives of boosted trees for two classes: functions of scores over pairs, and of the top."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from .._typing import BoolArray, FloatArray
from ._logistic import LogisticSums, p_norm
from ._rank_statistic import CumulatedPhi


class ScoreObjective(ABC):
    """A differentiable function of the scores of rows of two classes, to minimise."""

    def __init__(self, positive: BoolArray, weight: FloatArray) -> None:
        self._weight = weight
        self._pos, self._neg = np.flatnonzero(positive), np.flatnonzero(~positive)
        # Shares of the rows in the weight of their class.
        self._pos_shares = weight[self._pos] / weight[self._pos].sum()
        self._neg_shares = weight[self._neg] / weight[self._neg].sum()

    @abstractmethod
    def value(self, score: FloatArray) -> float:
        """Evaluate it."""

    @abstractmethod
    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives by the scores, and a diagonal that stands for the second derivatives."""

    def _join(
        self, by_positive: FloatArray | float, by_negative: FloatArray | float
    ) -> FloatArray:
        joined = np.empty(len(self._weight))
        joined[self._pos], joined[self._neg] = by_positive, by_negative
        return joined


class LogisticLikelihood(ScoreObjective):
    """Mean over all rows of ``log(1 + exp(-s))`` for positives, ``log(1 + exp(s))`` for others."""

    def value(self, score: FloatArray) -> float:
        losses = np.logaddexp(0.0, self._join(-score[self._pos], score[self._neg]))
        return float(self._weight @ losses / self._weight.sum())

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        probability, share = expit(score), self._weight / self._weight.sum()
        excess = probability - self._join(1.0, 0.0)
        return share * excess, share * probability * expit(-score)


class LogisticPush(ScoreObjective):
    """p-norm over the negatives of their mean ``log(1 + exp(s_j - s_i))`` against the positives i.

    With p = 1 it is the mean over all pairs of a positive and a negative. The sums over pairs take
    time linear in the number of rows.
    """

    def __init__(self, positive: BoolArray, weight: FloatArray, p: float) -> None:
        super().__init__(positive, weight)
        self._p = p

    def value(self, score: FloatArray) -> float:
        heights = self._sums(score).at_upper((0, self._pos_shares))
        return p_norm(heights, self._neg_shares, self._p)[0]

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums = self._sums(score)
        heights = np.maximum(sums.at_upper((0, self._pos_shares)), np.finfo(np.float64).tiny)
        _, shares = p_norm(heights, self._neg_shares, self._p)
        rises = sums.at_upper((1, self._pos_shares))
        gradient = self._join(-self._pos_shares * sums.at_lower((1, shares)), shares * rises)
        # What the norm adds is a variance of the heights' changes, each of which is a mean of
        # differences over pairs: the square of a mean is at most the mean of the squares.
        spread = (self._p - 1.0) * shares * rises / heights
        by_negative = shares * sums.at_upper((2, self._pos_shares)) + spread * rises
        by_positive = self._pos_shares * sums.at_lower((2, shares), (1, spread))
        return gradient, self._join(by_positive, by_negative)

    def _sums(self, score: FloatArray) -> LogisticSums:
        return LogisticSums(score[self._neg], score[self._pos])


class ExponentialPush(ScoreObjective):
    """Logarithm of the p-norm over the negatives j of their mean ``exp(s_j - s_i)``.

    It separates into ``log mean exp(-s_i) + (1 / p) log mean exp(p s_j)``.
    """

    def __init__(self, positive: BoolArray, weight: FloatArray, p: float) -> None:
        super().__init__(positive, weight)
        self._p = p

    def value(self, score: FloatArray) -> float:
        of_positives, _ = _soft_maximum(-score[self._pos], self._pos_shares)
        of_negatives, _ = _soft_maximum(self._p * score[self._neg], self._neg_shares)
        return of_positives + of_negatives / self._p

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        _, by_positive = _soft_maximum(-score[self._pos], self._pos_shares)
        _, by_negative = _soft_maximum(self._p * score[self._neg], self._neg_shares)
        gradient = self._join(-by_positive, by_negative)
        # The second derivatives are variances, of which the squares of means are left out.
        return gradient, self._join(by_positive, self._p * by_negative)


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
        t = smooth_quantile(score, self._neg_shares, self._tau, self._width)
        z = (score - t) / self._width
        mean = float(self._neg_shares @ np.logaddexp(0.0, z))
        return t + self._width / self._tau * mean, expit(z)

    def value(self, score: FloatArray) -> float:
        top, _ = self._top(score[self._neg])
        return float(self._pos_shares @ np.logaddexp(0.0, top - score[self._pos]))

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        top, step = self._top(score[self._neg])
        error = expit(top - score[self._pos])
        slopes, bends = self._pos_shares * error, self._pos_shares * error * (1.0 - error)
        top_slopes = self._neg_shares / self._tau * step
        # b b' is at most the diagonal of b, whose sum is 1.
        top_bends = bends.sum() + slopes.sum() * (1.0 - step) / self._width
        gradient = self._join(-slopes, slopes.sum() * top_slopes)
        return gradient, self._join(bends, top_slopes * top_bends)


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
        self._sign = self._join(-1.0, 1.0)
        self._share = self._join(0.5 * self._pos_shares, 0.5 * self._neg_shares)

    def value(self, score: FloatArray) -> float:
        t = smooth_quantile(score, self._weight, self._tau, self._width)
        return float(self._share @ np.logaddexp(0.0, self._sign * (score - t)))

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        t = smooth_quantile(score, self._weight, self._tau, self._width)
        error = expit(self._sign * (score - t))
        slopes, bends = self._sign * self._share * error, self._share * error * (1.0 - error)
        z = (score - t) / self._width
        quantile_slopes = self._weight * expit(z) * expit(-z)
        quantile_slopes /= quantile_slopes.sum()
        # t bends no more than its slopes over the width; its squares as for the top push.
        quantile_bend = bends.sum() + abs(float(slopes.sum())) / self._width
        gradient = slopes - slopes.sum() * quantile_slopes
        return gradient, bends + quantile_bend * quantile_slopes


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
        sums = LogisticSums(z[self._pos], z)
        return sums, *self._phi.smooth(sums.at_upper((1, self._weight)), self._window)

    def value(self, score: FloatArray) -> float:
        return -float(self._pos_shares @ self._at_ranks(score)[1])

    def gradient_and_curvature(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums, _, slope = self._at_ranks(score)
        force = self._pos_shares * slope / self._width
        by_positive = force * sums.at_upper((2, self._weight))
        curvature = self._weight * sums.at_lower((2, force))
        gradient = curvature.copy()
        gradient[self._pos] -= by_positive
        # Where phi is convex its tangent is below it, and the step's second derivative is at most
        # its first.
        curvature[self._pos] += by_positive
        return gradient, curvature / self._width
