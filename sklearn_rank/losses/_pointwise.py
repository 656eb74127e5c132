"""Pointwise losses: sums over the items of a function of utility and score."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.special import expit

from .._typing import FloatArray
from ._base import Items, TemplateLoss, product_or_zero

__all__ = [
    "PointwiseDifferentiableHinge",
    "PointwiseExponential",
    "PointwiseLogistic",
    "PointwiseSquared",
    "PointwiseSquaredHinge",
]

_Parts = tuple[FloatArray, FloatArray]


class PointwiseSquared(TemplateLoss):
    """Squared error, ``sum_i (v_i - s_i)**2``.

    Its constant in the regret bound is sqrt(2).

    References
    ----------
    .. [1] Cossock, D. and Zhang, T. (2008). Statistical analysis of Bayes optimal subset ranking.
       IEEE Transactions on Information Theory 54.
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseSquared
    >>> values, gradient = PointwiseSquared().on([0.0, 1.0, 3.0]).value_and_gradient([0, 0, 1])
    >>> print(values, gradient)
    [5.] [ 0. -2. -4.]
    """

    is_quadratic = True

    def _value_and_gradient(self, prepared: Items, score: FloatArray) -> _Parts:
        residual = score - prepared.utility
        weighted = prepared.counts * residual
        return prepared.totals(weighted * residual), 2 * weighted

    def _curvature(self, prepared: Items, score: FloatArray) -> FloatArray:
        return 2 * prepared.counts

    def _hessian_product(
        self, prepared: Items, score: FloatArray, direction: FloatArray
    ) -> FloatArray:
        return 2 * prepared.counts * direction

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return utility.copy()

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(2))


class _TwoSided(TemplateLoss):
    """Losses ``sum_i v_i a(s_i) + (eta - v_i) b(s_i)`` with a falling and b rising.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, above the largest expected one; positive.
    """

    def __init__(self, eta: float = 1.0) -> None:
        self.eta = _positive(eta, "eta")

    @property
    def largest_utility(self) -> float:
        """Largest utility in the domain, ``eta``."""
        return self.eta

    @abstractmethod
    def _parts(self, score: FloatArray) -> _Parts:
        """Return a and b."""

    @abstractmethod
    def _slopes(self, score: FloatArray) -> _Parts:
        """Return their derivatives."""

    @abstractmethod
    def _bends(self, score: FloatArray) -> _Parts:
        """Return their second derivatives."""

    def _mix(self, items: Items, parts: _Parts) -> FloatArray:
        mixed = product_or_zero(items.utility, parts[0]) + product_or_zero(
            self.eta - items.utility, parts[1]
        )
        return mixed if items.weight is None else product_or_zero(items.weight, mixed)

    def _value(self, prepared: Items, score: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return prepared.totals(self._mix(prepared, self._parts(score)))

    def _value_and_gradient(self, prepared: Items, score: FloatArray) -> _Parts:
        with np.errstate(over="ignore"):
            return self._value(prepared, score), self._mix(prepared, self._slopes(score))

    def _curvature(self, prepared: Items, score: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return self._mix(prepared, self._bends(score))

    def _hessian_product(
        self, prepared: Items, score: FloatArray, direction: FloatArray
    ) -> FloatArray:
        return product_or_zero(direction, self._curvature(prepared, score))


class PointwiseLogistic(_TwoSided):
    """Logistic loss, ``sum_i v_i log(1 + exp(-s_i)) + (eta - v_i) log(1 + exp(s_i))``.

    Its constant in the regret bound is ``sqrt(eta)``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, above the largest expected one; positive.

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

    def _parts(self, score: FloatArray) -> _Parts:
        return np.logaddexp(0, -score), np.logaddexp(0, score)

    def _slopes(self, score: FloatArray) -> _Parts:
        return -expit(-score), expit(score)

    def _bends(self, score: FloatArray) -> _Parts:
        bend = expit(score) * expit(-score)
        return bend, bend

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return np.log(utility) - np.log(self.eta - utility)

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(self.eta))


class PointwiseExponential(_TwoSided):
    """Exponential loss, ``sum_i v_i exp(-s_i) + (eta - v_i) exp(s_i)``.

    Its constant in the regret bound is ``sqrt(eta)``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, above the largest expected one; positive.

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

    def _parts(self, score: FloatArray) -> _Parts:
        return np.exp(-score), np.exp(score)

    def _slopes(self, score: FloatArray) -> _Parts:
        return -np.exp(-score), np.exp(score)

    def _bends(self, score: FloatArray) -> _Parts:
        return np.exp(-score), np.exp(score)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return 0.5 * (np.log(utility) - np.log(self.eta - utility))

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(self.eta))


class PointwiseSquaredHinge(_TwoSided):
    """Squared hinge, ``sum_i v_i max(0, t - s_i)**2 + (eta - v_i) max(0, s_i)**2``.

    Its constant in the regret bound is ``sqrt(2 eta) / t``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, above the largest expected one; positive.
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

    is_smooth = False

    def __init__(self, eta: float = 1.0, t: float = 1.0) -> None:
        super().__init__(eta)
        self.t = _positive(t, "t")

    def _parts(self, score: FloatArray) -> _Parts:
        return np.maximum(0, self.t - score) ** 2, np.maximum(0, score) ** 2

    def _slopes(self, score: FloatArray) -> _Parts:
        return -2 * np.maximum(0, self.t - score), 2 * np.maximum(0, score)

    def _bends(self, score: FloatArray) -> _Parts:
        return np.where(score < self.t, 2.0, 0.0), np.where(score > 0, 2.0, 0.0)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return self.t * utility / self.eta

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(2 * self.eta) / self.t)


class PointwiseDifferentiableHinge(_TwoSided):
    """Differentiable hinge, ``sum_i v_i f(1 - s_i) + (eta - v_i) f(s_i)``.

    Here f(x) is 0 up to 0, ``x**2 / (2 alpha)`` up to alpha, and ``x - alpha / 2`` above. Its
    constant in the regret bound is ``2 sqrt(eta max(alpha, 1 / alpha))``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, above the largest expected one; positive.
    alpha : float, default=0.5
        Length of the curved part; positive.

    Notes
    -----
    The constant printed in the paper, ``4 sqrt(eta / alpha)`` for alpha in (0, eta / 2), fails
    for alpha > 2, and is twice too large for alpha <= 1.

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

    is_smooth = False

    def __init__(self, eta: float = 1.0, alpha: float = 0.5) -> None:
        super().__init__(eta)
        self.alpha = _positive(alpha, "alpha")

    def _parts(self, score: FloatArray) -> _Parts:
        return self._bent(1 - score), self._bent(score)

    def _slopes(self, score: FloatArray) -> _Parts:
        return -np.clip((1 - score) / self.alpha, 0, 1), np.clip(score / self.alpha, 0, 1)

    def _bends(self, score: FloatArray) -> _Parts:
        falls = (score < 1) & (score > 1 - self.alpha)
        rises = (score > 0) & (score < self.alpha)
        return falls.astype(np.float64) / self.alpha, rises.astype(np.float64) / self.alpha

    def _bent(self, x: FloatArray) -> FloatArray:
        short = np.clip(x, 0, self.alpha)
        return short**2 / (2 * self.alpha) + np.maximum(x - self.alpha, 0)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        share = utility / self.eta
        with np.errstate(divide="ignore"):
            low = self.alpha * share / (1 - share)
            high = 1 - self.alpha * (1 - share) / share
        # Where both parts are curved the minimiser is the share itself.
        scores = np.where(low <= min(1 - self.alpha, self.alpha), low, share)
        return np.where(high >= max(1 - self.alpha, self.alpha), high, scores)

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(2 * np.sqrt(self.eta * max(self.alpha, 1 / self.alpha)))


def _positive(value: float, name: str) -> float:
    if isinstance(value, bool) or not 0 < value < np.inf:
        raise ValueError(f"{name}={value!r} must be a finite number greater than 0.")
    return float(value)
