"""How many items an AUC of a given accuracy needs, and what a given number of items yields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import erfc, ndtri

from .._arguments import check_choice
from ..bounds import auc_deviation_bound, auc_test_bound
from ._auc_moments import binormal_pairs, hanley_mcneil_pairs, lehmann_variance

__all__ = ["AUCPlan", "auc_sample_delta", "auc_sample_epsilon", "auc_sample_size"]

PlanMethod: TypeAlias = Literal[
    "mcdiarmid", "hoeffding", "kl", "chebyshev", "normal-worst", "hanley-mcneil", "delong"
]

GUARANTEED = ("mcdiarmid", "hoeffding", "kl", "chebyshev")
NORMAL = ("normal-worst", "hanley-mcneil", "delong")
METHODS = (*GUARANTEED, *NORMAL)

# Those that cannot be computed without an AUC to expect.
WITH_AUC = ("kl", "hanley-mcneil", "delong")

# No file has more rows; beyond it the counts stop being exact.
LARGEST_SAMPLE = 2**53


@dataclass(frozen=True)
class AUCPlan:
    """A sample, and how accurate its AUC is.

    Parameters
    ----------
    n : int
        Number of items.
    n_pos : int
        How many of them are positive.
    n_neg : int
        How many of them are negative.
    epsilon : float
        Deviation of the AUC from its expectation, half the length of a symmetric interval.
    delta : float
        Probability that the deviation is larger.
    method : str
        What the relation of these rests on.
    auc : float or None, default=None
        Expected AUC that was supposed; None is none.

    Examples
    --------
    >>> from sklearn_rank.inference import AUCPlan
    >>> print(AUCPlan(1000, 100, 900, 0.143, 0.05, "mcdiarmid"))
    1000 items (100 positive, 900 negative): AUC within 0.143 with probability 0.95 (mcdiarmid)
    """

    n: int
    n_pos: int
    n_neg: int
    epsilon: float
    delta: float
    method: str
    auc: float | None = None

    def __str__(self) -> str:
        supposed = "" if self.auc is None else f", expecting {self.auc:g}"
        return (
            f"{self.n} items ({self.n_pos} positive, {self.n_neg} negative): AUC within"
            f" {self.epsilon:.4g} with probability {1 - self.delta:.6g} ({self.method}{supposed})"
        )


def auc_sample_size(
    epsilon: float,
    delta: float,
    positive_fraction: float,
    *,
    method: PlanMethod = "hoeffding",
    auc: float | None = None,
) -> AUCPlan:
    """Smallest sample whose AUC is within ``epsilon`` of its expectation.

    ``"mcdiarmid"``: ``n >= ln(2/delta) / (2 rho (1 - rho) epsilon^2)``, rho the fraction of
    positives.

    Parameters
    ----------
    epsilon : float
        Deviation that is allowed, in (0, 1); less needs more items.
    delta : float
        Probability with which it may be exceeded, in (0, 1); 1 less the level of an interval.
    positive_fraction : float
        Share of the items that are positive, in (0, 1).
    method : str, default="hoeffding"
        - "mcdiarmid", "hoeffding", "kl", "chebyshev": sufficient for every distribution; "kl" for
          an AUC that will be observed to be ``auc``.
        - "normal-worst": normal approximation with the largest possible variance.
        - "hanley-mcneil", "delong": normal approximation with the variance that exponential, or
          normal scores of equal variance, have at ``auc``; the interval of that name is then
          about ``2 epsilon`` long.
    auc : float or None, default=None
        Expected AUC, in (0, 1); needed for "kl", "hanley-mcneil" and "delong", None is the worst
        case for "chebyshev" and "normal-worst".

    Returns
    -------
    AUCPlan
        The sample. Its positives are the nearest whole number to their share, at least one of
        each class.

    Raises
    ------
    ValueError
        If an argument is out of range, the method needs ``auc``, or more than 2**53 items are
        needed.

    See Also
    --------
    auc_sample_epsilon : How accurate a sample of given size is.
    auc_sample_delta : How probable a given accuracy is.
    auc_interval : The interval, once there are scores.
    sklearn_rank.bounds.auc_sample_size_bound : The formulas of the paper.

    Notes
    -----
    It is for a sample in which just this share is positive. The classical methods promise the
    width of an interval at the expected AUC, not its coverage. A few dozen steps of bisection.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 7.
    .. [2] Hanley & McNeil (1982), *The meaning and use of the area under a receiver operating
       characteristic (ROC) curve*, Radiology 143.

    Examples
    --------
    >>> from sklearn_rank.inference import auc_sample_size
    >>> print(auc_sample_size(0.05, 0.05, 0.1))
    7375 items (738 positive, 6637 negative): AUC within 0.04999 with probability 0.95 (hoeffding)

    Expecting a value, and trusting the normal approximation, far fewer will do:

    >>> print(auc_sample_size(0.05, 0.05, 0.1, method="delong", auc=0.85))
    605 items (61 positive, 544 negative): AUC within 0.04972 with probability 0.95 (delong, \
expecting 0.85)
    """
    _check_share(epsilon, "epsilon", "a deviation")
    _check_share(delta, "delta", "the probability of a larger deviation")
    design = _Design(positive_fraction, method, auc)

    def enough(n: int) -> bool:
        return design.epsilon(n, delta) <= epsilon

    fewest, most = 1, 2
    while not enough(most):
        fewest, most = most, 2 * most
        if most > LARGEST_SAMPLE:
            raise ValueError(
                f"epsilon={epsilon!r} and delta={delta!r} need more than 2**53 items: allow more."
            )
    while most - fewest > 1:
        middle = (fewest + most) // 2
        fewest, most = (fewest, middle) if enough(middle) else (middle, most)
    return design.plan(most, design.epsilon(most, delta), delta)


def auc_sample_epsilon(
    n: int,
    delta: float,
    positive_fraction: float,
    *,
    method: PlanMethod = "hoeffding",
    auc: float | None = None,
) -> AUCPlan:
    """How far the AUC of ``n`` items may be from its expectation, but for probability ``delta``.

    ``"mcdiarmid"``: ``sqrt(ln(2/delta) / (2 rho (1 - rho) n))``, rho the fraction of positives.

    Parameters
    ----------
    n : int
        Number of items, at least 2.
    delta : float
        Probability of a larger deviation, in (0, 1).
    positive_fraction : float
        Share of the items that are positive, in (0, 1).
    method : str, default="hoeffding"
        As in :func:`auc_sample_size`.
    auc : float or None, default=None
        Expected AUC, in (0, 1), as there.

    Returns
    -------
    AUCPlan
        The sample with its ``epsilon``, at most 1.

    Raises
    ------
    ValueError
        If an argument is out of range, or the method needs ``auc``.

    See Also
    --------
    auc_sample_size : The number of items for a given epsilon.

    Notes
    -----
    As in :func:`auc_sample_size`.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 6.

    Examples
    --------
    >>> from sklearn_rank.inference import auc_sample_epsilon
    >>> round(auc_sample_epsilon(1000, 0.05, 0.1).epsilon, 4)
    0.1358
    >>> round(auc_sample_epsilon(1000, 0.05, 0.1, method="kl", auc=0.95).epsilon, 4)
    0.0815
    """
    _check_size(n)
    _check_share(delta, "delta", "the probability of a larger deviation")
    design = _Design(positive_fraction, method, auc)
    return design.plan(int(n), design.epsilon(int(n), delta), delta)


def auc_sample_delta(
    n: int,
    epsilon: float,
    positive_fraction: float,
    *,
    method: PlanMethod = "hoeffding",
    auc: float | None = None,
) -> AUCPlan:
    """How probable it is that the AUC of ``n`` items is ``epsilon`` from its expectation.

    ``"mcdiarmid"``: ``2 exp(-2 rho (1 - rho) n epsilon^2)``, rho the fraction of positives.

    Parameters
    ----------
    n : int
        Number of items, at least 2.
    epsilon : float
        Deviation, in (0, 1).
    positive_fraction : float
        Share of the items that are positive, in (0, 1).
    method : str, default="hoeffding"
        As in :func:`auc_sample_size`.
    auc : float or None, default=None
        Expected AUC, in (0, 1), as there.

    Returns
    -------
    AUCPlan
        The sample with its ``delta``, at most 1.

    Raises
    ------
    ValueError
        If an argument is out of range, or the method needs ``auc``.

    See Also
    --------
    auc_sample_size : The number of items for a given delta.

    Notes
    -----
    As in :func:`auc_sample_size`, except that "kl" here takes ``auc`` for the *expected* AUC, of
    which the observed one is ``epsilon`` away.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 5.

    Examples
    --------
    >>> from sklearn_rank.inference import auc_sample_delta
    >>> round(auc_sample_delta(1000, 0.1, 0.1, method="mcdiarmid").delta, 4)
    0.3306
    >>> round(auc_sample_delta(1000, 0.05, 0.1, method="delong", auc=0.85).delta, 4)
    0.0115
    """
    _check_size(n)
    _check_share(epsilon, "epsilon", "a deviation")
    design = _Design(positive_fraction, method, auc)
    return design.plan(int(n), float(epsilon), design.delta(int(n), epsilon))


class _Design:
    """A share of positives and a method: epsilon from n and delta, delta from n and epsilon."""

    def __init__(self, positive_fraction: float, method: str, auc: float | None) -> None:
        _check_share(positive_fraction, "positive_fraction", "the share of positives")
        check_choice("method", method, METHODS)
        if auc is not None:
            _check_share(auc, "auc", "the expected AUC")
        elif method in WITH_AUC:
            raise ValueError(f"method={method!r} depends on the AUC, but auc is None: pass it.")
        self.positive_fraction = positive_fraction
        self.method: Any = method
        self.auc = auc

    def counts(self, n: int) -> tuple[int, int]:
        n_pos = min(max(floor(self.positive_fraction * n + 0.5), 1), n - 1)
        return n_pos, n - n_pos

    def plan(self, n: int, epsilon: float, delta: float) -> AUCPlan:
        return AUCPlan(n, *self.counts(n), epsilon, delta, self.method, self.auc)

    def epsilon(self, n: int, delta: float) -> float:
        n_pos, n_neg = self.counts(n)
        if self.method in NORMAL:
            error = np.sqrt(self._variance(n_pos, n_neg))
            return min(float(-ndtri(delta / 2.0) * error), 1.0)
        auc = self.auc if self.method == "kl" else None
        if self.method == "chebyshev":
            return min(float(np.sqrt(self._variance(n_pos, n_neg) / delta)), 1.0)
        return auc_test_bound(n_pos, n_neg, delta, method=self.method, auc=auc).value

    def delta(self, n: int, epsilon: float) -> float:
        n_pos, n_neg = self.counts(n)
        if self.method in NORMAL:
            # 2 (1 - Phi(z)), without the loss of digits of a small tail.
            error = np.sqrt(2.0 * self._variance(n_pos, n_neg))
            return float(erfc(epsilon / error))
        return auc_deviation_bound(
            epsilon, n_pos, n_neg, method=self.method, expected_auc=self.auc
        ).value

    def _variance(self, n_pos: int, n_neg: int) -> float:
        if self.method in PAIRS and self.auc is not None:
            return float(lehmann_variance(self.auc, *PAIRS[self.method](self.auc), n_pos, n_neg))
        spread = 0.25 if self.auc is None else self.auc * (1.0 - self.auc)
        return spread / min(n_pos, n_neg)


PAIRS: dict[str, Callable[[float], tuple[float, float]]] = {
    "hanley-mcneil": hanley_mcneil_pairs,
    "delong": binormal_pairs,
}


def _check_share(value: Any, name: str, what: str) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise ValueError(f"{name}={value!r} must be {what}, in (0, 1).")


def _check_size(n: Any) -> None:
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 2:
        raise ValueError(
            f"n={n!r} must be a whole number of items, at least 2: one of each class."
        )
