"""Deviation, probability and sample size for one function, or for each of finitely many.

The functions are fixed before the sample is seen: a test set, or candidates that are scored on
one held-out part without a refit. A union bound gives each of ``|F|`` functions ``delta / |F|``.
"""

from __future__ import annotations

from math import ceil, exp, inf, log, sqrt
from typing import Literal, TypeAlias

from ._kl import binary_kl, kl_limits
from ._statements import AGARWAL, OURS, Side, of_side

__all__ = [
    "FINITE_METHODS",
    "FiniteMethod",
    "finite_probability",
    "finite_sample_size",
    "finite_theorem",
    "finite_width",
    "tightest_finite_method",
]

FiniteMethod: TypeAlias = Literal["mcdiarmid", "hoeffding", "kl", "chebyshev"]
FINITE_METHODS = ("mcdiarmid", "hoeffding", "kl", "chebyshev")

AVERAGING = "Hoeffding (1963), Section 5b, min(n_pos, n_neg) independent pairs"
SOURCES = {
    "hoeffding": AVERAGING,
    "kl": f"{AVERAGING}, in Chernoff's form",
    "chebyshev": f"Chebyshev's inequality with {AGARWAL}, Equation 14",
}


def finite_width(
    n_pos: int, n_neg: int, delta: float, method: str, auc: float | None, side: Side
) -> float:
    """Deviation of the AUC of one function that is exceeded with probability ``delta`` at most.

    Parameters
    ----------
    n_pos, n_neg : int
        Counts of the classes.
    delta : float
        Probability of failure, for this function.
    method : str
        One of ``FINITE_METHODS``.
    auc : float or None
        Observed AUC, a number for "kl".
    side : {"both", "lower", "upper"}
        One side has the whole of delta.

    Returns
    -------
    float
        The deviation, at most 1.
    """
    fewer = min(n_pos, n_neg)
    if fewer == 0:
        return 1.0
    log_inverse = log(1.0 / (delta / 2.0 if side == "both" else delta))
    if method == "mcdiarmid":
        value = sqrt(log_inverse * (n_pos + n_neg) / (2.0 * n_pos * n_neg))
    elif method == "hoeffding":
        value = sqrt(log_inverse / (2.0 * fewer))
    elif method == "kl" and auc is not None:
        low, high = kl_limits(auc, log_inverse / fewer)
        value = of_side(side, auc - float(low), float(high) - auc)
    else:
        value = _chebyshev_width(fewer, delta, auc, side)
    return min(value, 1.0)


def tightest_finite_method(
    n_pos: int, n_neg: int, delta: float, auc: float | None, side: Side
) -> FiniteMethod:
    """Choose an inequality by what is known before the data, so that the choice costs nothing.

    Of the two that do not depend on the AUC the smaller is chosen, and improved by the AUC if it
    is known. "mcdiarmid" is never smaller than "hoeffding".
    """
    hoeffding, chebyshev = (
        finite_width(n_pos, n_neg, delta, method, None, side)
        for method in ("hoeffding", "chebyshev")
    )
    if chebyshev < hoeffding:
        return "chebyshev"
    return "hoeffding" if auc is None else "kl"


def finite_probability(
    epsilon: float,
    n_pos: int,
    n_neg: int,
    method: str,
    expected_auc: float | None,
    variance: float,
    side: Side,
) -> float:
    """Probability that the AUC of one function deviates by ``epsilon``.

    Parameters
    ----------
    epsilon : float
        Deviation, positive.
    n_pos, n_neg : int
        Counts of the classes.
    method : str
        One of ``FINITE_METHODS``.
    expected_auc : float or None
        Expected AUC, a number for "kl".
    variance : float
        Variance of the AUC, for "chebyshev".
    side : {"both", "lower", "upper"}
        That the observed AUC is far from the expected one, far above it, or far below it.

    Returns
    -------
    float
        Bound of the probability, at most 1.
    """
    fewer = min(n_pos, n_neg)
    n_sides = 2 if side == "both" else 1
    if fewer == 0:
        return 1.0
    if method == "mcdiarmid":
        value = n_sides * exp(-2.0 * n_pos * n_neg * epsilon**2 / (n_pos + n_neg))
    elif method == "hoeffding":
        value = n_sides * exp(-2.0 * fewer * epsilon**2)
    elif method == "kl" and expected_auc is not None:
        above = _chernoff(expected_auc, expected_auc + epsilon, fewer)
        below = _chernoff(expected_auc, expected_auc - epsilon, fewer)
        value = above + below if side == "both" else above if side == "lower" else below
    else:
        # One side: Cantelli's inequality.
        value = variance / (epsilon**2 + (0.0 if side == "both" else variance))
    return min(value, 1.0)


def finite_sample_size(
    epsilon: float, delta: float, positive_fraction: float, method: str, n_functions: int
) -> float:
    """Number of items at which the deviations of all functions are ``epsilon`` at most."""
    fewer = min(positive_fraction, 1.0 - positive_fraction)
    if method == "chebyshev":
        return float(ceil(n_functions / (4.0 * delta * fewer * epsilon**2)))
    share = positive_fraction * (1.0 - positive_fraction) if method == "mcdiarmid" else fewer
    needed = (log(n_functions) + log(2.0 / delta)) / (2.0 * share * epsilon**2)
    return float(ceil(needed))


def finite_theorem(method: str, one: str, chosen: str, n_functions: int | None) -> str:
    """Name what a bound rests on.

    Parameters
    ----------
    method : str
        One of ``FINITE_METHODS``.
    one : str
        Number of the statement in Agarwal et al. for one function.
    chosen : str
        Number of theirs for a finite class.
    n_functions : int or None
        Size of the class; None is one function.

    Returns
    -------
    str
        The theorem.
    """
    if method == "mcdiarmid":
        return f"{AGARWAL}, {one if n_functions is None else chosen}"
    if n_functions is None:
        return SOURCES[method]
    if method == "chebyshev":
        return f"{SOURCES[method]}, for all functions"
    return f"{OURS}, Theorem 4, by {SOURCES[method]}"


def _chebyshev_width(fewer: int, delta: float, auc: float | None, side: Side) -> float:
    """Solve ``(auc - A)^2 <= A (1 - A) c`` for A, one-sided by Cantelli's inequality."""
    c = (1.0 / delta if side == "both" else 1.0 / delta - 1.0) / fewer
    if auc is None:
        return sqrt(c / 4.0)
    centre = (auc + c / 2.0) / (1.0 + c)
    reach = sqrt(c * auc * (1.0 - auc) + c * c / 4.0) / (1.0 + c)
    return of_side(side, max(auc - centre + reach, 0.0), max(centre + reach - auc, 0.0))


def _chernoff(centre: float, reached: float, n: int) -> float:
    """Bound of the probability that a mean of n terms with this expectation reaches so far."""
    if not 0.0 <= reached <= 1.0:
        return 0.0
    entropy = float(binary_kl(reached, centre))
    return 0.0 if entropy == inf else exp(-n * entropy)
