"""Pointwise losses: sums over the items of a function of utility and score."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.special import expit

from .._lists import Lists
from .._typing import FloatArray
from .._validation import check_number
from ._base import CONSTANT_OF_TABLE, ArrayPair, TemplateLoss, product_or_zero


class PointwiseSquared(TemplateLoss):
    """Pointwise squared loss, ``sum_i (v_i - s_i)**2``.

    The constant of the regret bound is sqrt(2).

    References
    ----------
    .. [1] Cossock, D. and Zhang, T. (2008). Statistical analysis of Bayes optimal subset ranking.
       IEEE Transactions on Information Theory 54.
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseSquared
    >>> values, gradient = (
    ...     PointwiseSquared().on([0.0, 1.0, 3.0]).value_and_gradient([0, 0, 1])
    ... )
    >>> print(values, gradient)
    [5.] [ 0. -2. -4.]
    """

    regret_theorem = "Theorem 5.2"
    regret_source = CONSTANT_OF_TABLE

    def _value_and_gradient(self, lists: Lists, score: FloatArray) -> ArrayPair:
        residual = score - lists.grade
        weighted = lists.counts * residual
        with np.errstate(over="ignore"):
            return lists.totals(weighted * residual), 2 * weighted

    def _curvature(self, lists: Lists, score: FloatArray) -> FloatArray:
        return 2 * lists.counts

    def _hessian_product(
        self, lists: Lists, score: FloatArray, direction: FloatArray
    ) -> FloatArray:
        return 2 * lists.counts * direction

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return utility.copy()

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(2))


class _TwoSided(TemplateLoss):
    """Losses ``sum_i v_i a(s_i) + (eta - v_i) b(s_i)`` with a falling and b rising."""

    regret_theorem = "Theorem 5.2"
    regret_source = CONSTANT_OF_TABLE

    def __init__(self, eta: float = 1.0) -> None:
        self.eta = check_number("eta", eta, 0.0, closed="neither")

    @property
    def largest_utility(self) -> float:
        """Largest utility in the domain, ``eta``."""
        return self.eta

    @abstractmethod
    def _parts(self, score: FloatArray) -> ArrayPair:
        """Return a and b."""

    @abstractmethod
    def _slopes(self, score: FloatArray) -> ArrayPair:
        """Return their derivatives."""

    @abstractmethod
    def _bends(self, score: FloatArray) -> ArrayPair:
        """Return their second derivatives."""

    def _mix(self, lists: Lists, parts: ArrayPair) -> FloatArray:
        falling = product_or_zero(lists.grade, parts[0])
        mixed = falling + product_or_zero(self.eta - lists.grade, parts[1])
        return mixed if lists.weight is None else product_or_zero(lists.weight, mixed)

    def _value(self, lists: Lists, score: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return lists.totals(self._mix(lists, self._parts(score)))

    def _value_and_gradient(self, lists: Lists, score: FloatArray) -> ArrayPair:
        with np.errstate(over="ignore"):
            return self._value(lists, score), self._mix(lists, self._slopes(score))

    def _curvature(self, lists: Lists, score: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return self._mix(lists, self._bends(score))

    def _hessian_product(
        self, lists: Lists, score: FloatArray, direction: FloatArray
    ) -> FloatArray:
        return product_or_zero(direction, self._curvature(lists, score))


class PointwiseLogistic(_TwoSided):
    """Pointwise logistic loss, ``sum_i v_i log(1 + exp(-s_i)) + (eta - v_i) log(1 + exp(s_i))``.

    The constant of the regret bound is ``sqrt(eta)``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, positive and greater than the greatest expected utility.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseLogistic
    >>> PointwiseLogistic(eta=2.0).on([0.0, 2.0]).value([0.0, 1000.0]).round(3)
    array([1.386])
    """

    def _parts(self, score: FloatArray) -> ArrayPair:
        short = np.log1p(np.exp(-np.abs(score)))
        return short + np.maximum(-score, 0), short + np.maximum(score, 0)

    def _slopes(self, score: FloatArray) -> ArrayPair:
        return -expit(-score), expit(score)

    def _bends(self, score: FloatArray) -> ArrayPair:
        small = np.exp(-np.abs(score))
        bend = small / np.square(1 + small)
        return bend, bend

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return np.log(utility) - np.log(self.eta - utility)

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(self.eta))


class PointwiseExponential(_TwoSided):
    """Pointwise exponential loss, ``sum_i v_i exp(-s_i) + (eta - v_i) exp(s_i)``.

    The constant of the regret bound is ``sqrt(eta)``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, positive and greater than the greatest expected utility.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseExponential
    >>> PointwiseExponential().on([0.25]).value([0.0])
    array([1.])
    """

    def _parts(self, score: FloatArray) -> ArrayPair:
        return np.exp(-score), np.exp(score)

    def _slopes(self, score: FloatArray) -> ArrayPair:
        return -np.exp(-score), np.exp(score)

    def _bends(self, score: FloatArray) -> ArrayPair:
        return np.exp(-score), np.exp(score)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return 0.5 * (np.log(utility) - np.log(self.eta - utility))

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(self.eta))


class PointwiseSquaredHinge(_TwoSided):
    """Pointwise squared hinge, ``sum_i v_i max(0, t - s_i)**2 + (eta - v_i) max(0, s_i)**2``.

    The constant of the regret bound is ``sqrt(2 eta) / t``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, positive and greater than the greatest expected utility.
    t : float, default=1.0
        Score of an item of utility ``eta``; positive.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseSquaredHinge
    >>> PointwiseSquaredHinge(t=2.0).on([0.0, 1.0]).value([1.0, 1.0])
    array([2.])
    """

    def __init__(self, eta: float = 1.0, t: float = 1.0) -> None:
        super().__init__(eta)
        self.t = check_number("t", t, 0.0, closed="neither")

    def _parts(self, score: FloatArray) -> ArrayPair:
        return np.maximum(0, self.t - score) ** 2, np.maximum(0, score) ** 2

    def _slopes(self, score: FloatArray) -> ArrayPair:
        return -2 * np.maximum(0, self.t - score), 2 * np.maximum(0, score)

    def _bends(self, score: FloatArray) -> ArrayPair:
        return np.where(score < self.t, 2.0, 0.0), np.where(score > 0, 2.0, 0.0)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return self.t * utility / self.eta

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(2 * self.eta) / self.t)


class PointwiseDifferentiableHinge(_TwoSided):
    """Pointwise differentiable hinge, ``sum_i v_i f(1 - s_i) + (eta - v_i) f(s_i)``.

    Here f(x) is 0 for x up to 0, ``x**2 / (2 width)`` up to the width, and ``x - width / 2``
    above. The constant of the regret bound is ``2 sqrt(eta max(width, 1 / width))``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, positive and greater than the greatest expected utility.
    width : float, default=0.5
        Width of the quadratic part, alpha in the paper; positive.

    Notes
    -----
    The constant printed in the paper, ``4 sqrt(eta / width)`` for a width in (0, eta / 2), is
    invalid for a width above 2, and too large by a factor of 2 for a width up to 1.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseDifferentiableHinge
    >>> PointwiseDifferentiableHinge().on([0.0, 1.0]).value([0.0, 0.0])
    array([0.75])
    """

    regret_source = "a constant of ours, as that of Table 2 fails for a width above 2"

    def __init__(self, eta: float = 1.0, width: float = 0.5) -> None:
        super().__init__(eta)
        self.width = check_number("width", width, 0.0, closed="neither")

    def _parts(self, score: FloatArray) -> ArrayPair:
        return self._bent(1 - score), self._bent(score)

    def _slopes(self, score: FloatArray) -> ArrayPair:
        return -np.clip((1 - score) / self.width, 0, 1), np.clip(score / self.width, 0, 1)

    def _bends(self, score: FloatArray) -> ArrayPair:
        falls = (score < 1) & (score > 1 - self.width)
        rises = (score > 0) & (score < self.width)
        return falls.astype(np.float64) / self.width, rises.astype(np.float64) / self.width

    def _bent(self, x: FloatArray) -> FloatArray:
        short = np.clip(x, 0, self.width)
        return short**2 / (2 * self.width) + np.maximum(x - self.width, 0)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        share = utility / self.eta
        with np.errstate(divide="ignore"):
            low = self.width * share / (1 - share)
            high = 1 - self.width * (1 - share) / share
        # Where both parts are curved the minimiser is the share itself.
        scores = np.where(low <= min(1 - self.width, self.width), low, share)
        return np.where(high >= max(1 - self.width, self.width), high, scores)

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(2 * np.sqrt(self.eta * max(self.width, 1 / self.width)))
