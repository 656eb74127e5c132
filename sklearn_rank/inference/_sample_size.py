"""How many items an AUC of a given accuracy needs, and what a given number of items yields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, sqrt
from typing import Any, Literal, TypeAlias

from scipy.special import erfc, ndtri

from .._arguments import MOST_ITEMS, check_choice, check_share, check_whole
from .._printed import Printed
from ..bounds import auc_bound, auc_deviation_bound, auc_variance_bound
from ._auc_moments import binormal_pairs, hanley_mcneil_pairs, lehmann_variance

__all__ = ["AUCPlan", "auc_sample_size"]

PlanMethod: TypeAlias = Literal[
    "mcdiarmid", "hoeffding", "kl", "chebyshev", "normal-worst", "hanley-mcneil", "delong"
]

GUARANTEED = ("mcdiarmid", "hoeffding", "kl", "chebyshev")
NORMAL = ("normal-worst", "hanley-mcneil", "delong")
METHODS = (*GUARANTEED, *NORMAL)

# Those that cannot be computed without an AUC to expect.
WITH_AUC = ("kl", "hanley-mcneil", "delong")

# Probabilities that two positives exceed a negative, and a positive two negatives, at an AUC.
PAIRS: dict[str, Callable[[float], tuple[float, float]]] = {
    "hanley-mcneil": hanley_mcneil_pairs,
    "delong": binormal_pairs,
}

# Those that an AUC makes no difference to.
WITHOUT_AUC = ("mcdiarmid", "hoeffding")


@dataclass(frozen=True, repr=False)
class AUCPlan(Printed):
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
        Expected AUC that was supposed; None if none was supposed.

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
    positive_fraction: float,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    n: int | None = None,
    method: PlanMethod = "hoeffding",
    auc: float | None = None,
) -> AUCPlan:
    """Plan a sample: of its size, the deviation of its AUC and the probability of that, the third.

    Given two of ``n``, ``epsilon`` and ``delta``, solve for the third:
    ``n >= ln(2/delta) / (2 min(rho, 1 - rho) epsilon^2)`` for "hoeffding", rho the fraction of
    positives.

    Parameters
    ----------
    positive_fraction : float
        Share rho of the items that are positive, in (0, 1).
    epsilon : float or None, default=None
        Deviation of the AUC from its expectation that is allowed, in (0, 1); less needs more
        items.
    delta : float or None, default=None
        Probability with which it may be exceeded, in (0, 1); 1 less the level of an interval.
    n : int or None, default=None
        Number of items, at least 2.
    method : str, default="hoeffding"
        - "mcdiarmid", "hoeffding", "kl", "chebyshev": sufficient for every distribution; "kl" for
          an AUC that will be observed to be ``auc``.
        - "normal-worst": normal approximation with the largest possible variance.
        - "hanley-mcneil", "delong": normal approximation with the variance that exponential, or
          normal scores of equal variance, have at ``auc``; the interval of that name is then
          about ``2 epsilon`` long.
    auc : float or None, default=None
        Expected AUC, in (0, 1); needed for "kl", "hanley-mcneil" and "delong", None is the worst
        case for "chebyshev" and "normal-worst", and the only value for the other two.

    Returns
    -------
    AUCPlan
        The sample: the smallest that suffices, or the one of size n with its ``epsilon`` or
        ``delta``, at most 1. Its positives are the nearest whole number to their share, at least
        one of each class.

    Raises
    ------
    TypeError
        If ``n`` is not a whole number.
    ValueError
        If an argument is out of range, not two of the three are given, the method needs ``auc``
        or makes no use of it, or more than 2**53 items are needed.

    See Also
    --------
    auc_interval : The interval, once there are scores.
    sklearn_rank.bounds.auc_sample_size_bound : The formulas of the paper, and for a choice from
        several functions.

    Notes
    -----
    It is for a sample in which just this share is positive. The classical methods promise the
    width of an interval at the expected AUC, not its coverage. Asked for ``delta``, "kl" takes
    ``auc`` for the *expected* AUC, of which the observed one is ``epsilon`` away. The size is
    found by a few dozen steps of bisection.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 5, Corollaries 6 and 7.
    .. [2] Hanley & McNeil (1982), *The meaning and use of the area under a receiver operating
       characteristic (ROC) curve*, Radiology 143.

    Examples
    --------
    >>> from sklearn_rank.inference import auc_sample_size
    >>> print(auc_sample_size(0.1, epsilon=0.05, delta=0.05))
    7375 items (738 positive, 6637 negative): AUC within 0.04999 with probability 0.95 (hoeffding)

    Expecting a value, and trusting the normal approximation, far fewer will do:

    >>> print(auc_sample_size(0.1, epsilon=0.05, delta=0.05, method="delong", auc=0.85))
    605 items (61 positive, 544 negative): AUC within 0.04972 with probability 0.95 (delong, \
expecting 0.85)

    What a thousand items yield:

    >>> round(auc_sample_size(0.1, n=1000, delta=0.05).epsilon, 4)
    0.1358
    >>> round(auc_sample_size(0.1, n=1000, epsilon=0.1, method="mcdiarmid").delta, 4)
    0.3306
    """
    design = _Design(positive_fraction, method, auc)
    if epsilon is not None:
        epsilon = check_share("epsilon", epsilon, what="a deviation")
    if delta is not None:
        delta = check_share("delta", delta, what="the probability of a larger deviation")
    if n is not None:
        n = check_whole("n", n, 2, MOST_ITEMS)
    if n is None and epsilon is not None and delta is not None:
        size = design.size(epsilon, delta)
        return design.plan(size, design.epsilon(size, delta), delta)
    if epsilon is None and delta is not None and n is not None:
        return design.plan(n, design.epsilon(n, delta), delta)
    if delta is None and epsilon is not None and n is not None:
        return design.plan(n, epsilon, design.delta(n, epsilon))
    raise ValueError(
        f"epsilon={epsilon!r}, delta={delta!r} and n={n!r}: pass two of the three, and leave out"
        " the one to be found."
    )


class _Design:
    """A share of positives and a method: each of n, epsilon and delta from the other two."""

    def __init__(self, positive_fraction: float, method: str, auc: float | None) -> None:
        positive_fraction = check_share(
            "positive_fraction", positive_fraction, what="the share of positives"
        )
        check_choice("method", method, METHODS)
        if auc is not None:
            auc = check_share("auc", auc, what="the expected AUC")
            if method in WITHOUT_AUC:
                raise ValueError(
                    f"auc={auc!r} has no part in method={method!r}: leave it out, or pass"
                    " method='kl'."
                )
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

    def size(self, epsilon: float, delta: float) -> int:
        fewest, most = 1, 2
        while self.epsilon(most, delta) > epsilon:
            fewest, most = most, 2 * most
            if most > MOST_ITEMS:
                raise ValueError(
                    f"epsilon={epsilon!r} and delta={delta!r} need more than 2**53 items: allow"
                    " more."
                )
        while most - fewest > 1:
            middle = (fewest + most) // 2
            enough = self.epsilon(middle, delta) <= epsilon
            fewest, most = (fewest, middle) if enough else (middle, most)
        return most

    def epsilon(self, n: int, delta: float) -> float:
        n_pos, n_neg = self.counts(n)
        if self.method in NORMAL:
            error = sqrt(self._variance(n_pos, n_neg))
            return min(float(-ndtri(delta / 2.0) * error), 1.0)
        if self.method == "chebyshev":
            # At the AUC that is expected, where a bound for data has the one that is observed.
            return min(sqrt(self._variance(n_pos, n_neg) / delta), 1.0)
        return auc_bound(n_pos, n_neg, delta, method=self.method, auc=self.auc).value

    def delta(self, n: int, epsilon: float) -> float:
        n_pos, n_neg = self.counts(n)
        if self.method in NORMAL:
            # 2 (1 - Phi(z)), without the loss of digits of a small tail.
            error = sqrt(2.0 * self._variance(n_pos, n_neg))
            return float(erfc(epsilon / error))
        return auc_deviation_bound(
            epsilon, n_pos, n_neg, method=self.method, expected_auc=self.auc
        ).value

    def _variance(self, n_pos: int, n_neg: int) -> float:
        if self.method in PAIRS and self.auc is not None:
            return float(lehmann_variance(self.auc, *PAIRS[self.method](self.auc), n_pos, n_neg))
        return auc_variance_bound(n_pos, n_neg, expected_auc=self.auc).value
