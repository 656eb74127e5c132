"""Deviation, probability and sample size for one function, or for each of finitely many.

The functions are fixed before the sample is seen: a test set, or candidates that are scored on
one held-out part without a refit. A union bound gives each of ``|F|`` functions ``delta / |F|``:
in logarithms, since neither need be a number of float64.
"""

from __future__ import annotations

from math import ceil, exp, expm1, inf, log, sqrt
from typing import Literal, TypeAlias

import numpy as np

from ._kl import binary_kl, kl_limits
from ._score_limits import score_limits
from ._statements import AGARWAL, OURS, Side, of_side

__all__ = [
    "FINITE_METHODS",
    "FiniteMethod",
    "finite_log_probability",
    "finite_sample_size",
    "finite_theorem",
    "finite_width",
    "tightest_finite_method",
]

FiniteMethod: TypeAlias = Literal["mcdiarmid", "hoeffding", "kl", "chebyshev"]
FINITE_METHODS = ("mcdiarmid", "hoeffding", "kl", "chebyshev")

LOG_2 = log(2.0)
# exp of it is still a number, and its reciprocal too.
LARGEST_LOG = 690.0

AVERAGING = "Hoeffding (1963), Section 5b, min(n_pos, n_neg) independent pairs"
SOURCES = {
    "hoeffding": AVERAGING,
    "kl": f"{AVERAGING}, in Chernoff's form",
    "chebyshev": f"Chebyshev's inequality with {AGARWAL}, Equation 14",
}


def finite_width(
    n_pos: int, n_neg: int, log_delta: float, method: str, auc: float | None, side: Side
) -> float:
    """Deviation of the AUC of one function that is exceeded with probability delta at most."""
    fewer = min(n_pos, n_neg)
    if fewer == 0:
        return 1.0
    log_inverse = (LOG_2 if side == "both" else 0.0) - log_delta
    if method == "mcdiarmid":
        value = sqrt(log_inverse * (n_pos + n_neg) / (2.0 * n_pos * n_neg))
    elif method == "hoeffding":
        value = sqrt(log_inverse / (2.0 * fewer))
    elif method == "kl" and auc is not None:
        low, high = kl_limits(auc, log_inverse / fewer)
        value = of_side(side, auc - float(low), float(high) - auc)
    else:
        value = _chebyshev_width(fewer, log_delta, auc, side)
    return min(value, 1.0)


def tightest_finite_method(
    n_pos: int, n_neg: int, log_delta: float, auc: float | None, side: Side
) -> FiniteMethod:
    """Choose the inequality of the smallest bound where the choice needs no correction.

    Without the AUC no bound depends on the data. On one side the values that two inequalities
    exclude are nested for each expected AUC, so that the smaller bound has the larger of two
    probabilities, not their sum. On both sides they are not: "kl" alone is taken.
    """
    if auc is not None and side == "both":
        return "kl"
    first: FiniteMethod = "hoeffding" if auc is None else "kl"
    return min(
        first,
        "chebyshev",
        key=lambda method: finite_width(n_pos, n_neg, log_delta, method, auc, side),
    )


def finite_log_probability(
    epsilon: float,
    n_pos: int,
    n_neg: int,
    method: str,
    expected_auc: float | None,
    variance: float,
    side: Side,
) -> float:
    """Logarithm of the probability that the AUC of one function deviates by ``epsilon``."""
    fewer = min(n_pos, n_neg)
    log_sides = LOG_2 if side == "both" else 0.0
    if fewer == 0:
        return 0.0
    if method == "mcdiarmid":
        value = log_sides - 2.0 * n_pos * n_neg * epsilon**2 / (n_pos + n_neg)
    elif method == "hoeffding":
        value = log_sides - 2.0 * fewer * epsilon**2
    elif method == "kl" and expected_auc is not None:
        above = _log_chernoff(expected_auc, expected_auc + epsilon, fewer)
        below = _log_chernoff(expected_auc, expected_auc - epsilon, fewer)
        joined = float(np.logaddexp(above, below))
        value = joined if side == "both" else above if side == "lower" else below
    elif variance == 0.0:
        value = -inf
    else:
        value = log(variance) - 2.0 * log(epsilon)
        if side != "both":
            # Cantelli's inequality.
            value = -float(np.logaddexp(0.0, -value))
    return min(value, 0.0)


def finite_sample_size(
    epsilon: float, delta: float, positive_fraction: float, method: str, n_functions: int
) -> float:
    """Number of items at which the deviations of all functions are ``epsilon`` at most.

    It is infinite beyond 1e299 or so.
    """
    fewer = min(positive_fraction, 1.0 - positive_fraction)
    log_over = log(n_functions) - log(delta)
    if method == "chebyshev":
        if log_over - log(4.0 * fewer) - 2.0 * log(epsilon) > LARGEST_LOG:
            return inf
        return float(ceil(n_functions / (4.0 * delta * fewer * epsilon**2)))
    share = positive_fraction * (1.0 - positive_fraction) if method == "mcdiarmid" else fewer
    if log(LOG_2 + log_over) - log(2.0) - log(share) - 2.0 * log(epsilon) > LARGEST_LOG:
        return inf
    return float(ceil((LOG_2 + log_over) / (2.0 * share * epsilon**2)))


def finite_theorem(method: str, one: str, chosen: str, n_functions: int | None) -> str:
    """Return the theorem of a bound."""
    if method == "mcdiarmid":
        return f"{AGARWAL}, {one if n_functions is None else chosen}"
    if n_functions is None:
        return SOURCES[method]
    if method == "chebyshev":
        return f"{SOURCES[method]}, for all functions"
    return f"{OURS}, Theorem 4, by {SOURCES[method]}"


def _chebyshev_width(fewer: int, log_delta: float, auc: float | None, side: Side) -> float:
    """Solve ``(auc - A)^2 <= A (1 - A) c`` for A, one-sided by Cantelli's inequality."""
    # For both sides 1 / delta, for one 1 / delta - 1.
    log_odds = -log_delta if side == "both" else _log_expm1(-log_delta)
    c = exp(min(log_odds - log(fewer), LARGEST_LOG))
    if auc is None:
        return sqrt(c / 4.0)
    low, high = (float(limit) for limit in score_limits(auc, c))
    return of_side(side, auc - low, high - auc)


def _log_expm1(x: float) -> float:
    """``ln(e^x - 1)`` for positive x."""
    return x if x > 50.0 else log(expm1(x))


def _log_chernoff(centre: float, reached: float, n: int) -> float:
    """Logarithm of the probability that a mean of n terms of this expectation reaches so far."""
    if not 0.0 <= reached <= 1.0:
        return -inf
    return -n * float(binary_kl(reached, centre))
