"""Deviation, probability and sample size for one function, finitely many, or an infinite class.

The functions are fixed before the sample is seen: a test set, or candidates that are scored on
one held-out part without a refit. A union bound gives each of ``|F|`` functions ``delta / |F|``:
in logarithms, since neither need be a number of float64.

Linear functions of d features, and polynomials as linear functions of their d monomials.

They hold for whichever function of the class was learned from the very sample that the AUC is of.
Unlike those of a test set they are not cut off at 1: a value of 1 or more says nothing, but shows
how much larger a sample would have to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, exp, expm1, inf, lgamma, log, log1p, sqrt
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from .._typing import FloatArray
from .._validation import check_choice, check_count
from ._bound import (
    AGARWAL,
    OURS,
    Side,
    binary_kl,
    bisect,
    kl_limits,
    least_size,
    of_side,
    score_limits,
)

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
        # (auc - A)^2 <= A (1 - A) c, with 1 / delta - 1 on one side by Cantelli's inequality.
        log_odds = -log_delta
        if side != "both" and log_odds <= 50.0:
            log_odds = log(expm1(log_odds))
        c = exp(min(log_odds - log(fewer), LARGEST_LOG))
        if auc is None:
            value = sqrt(c / 4.0)
        else:
            low, high = score_limits(auc, c)
            value = of_side(side, auc - float(low), float(high) - auc)
    return min(value, 1.0)


def tightest_finite_method(
    n_pos: int, n_neg: int, log_delta: float, auc: float | None, side: Side
) -> FiniteMethod:
    """Inequality of the smallest bound where the choice needs no correction.

    Without the AUC no bound depends on the data. On one side the values that two inequalities
    exclude are nested for each expected AUC, so that the smaller bound has the larger of two
    probabilities, not their sum. On both sides they are not: "kl" alone is taken.
    """
    if auc is not None and side == "both":
        return "kl"
    other: FiniteMethod = "hoeffding" if auc is None else "kl"
    return min(
        other,
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
        either = float(np.logaddexp(above, below))
        value = either if side == "both" else above if side == "lower" else below
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


def finite_theorem(method: str, of_one: str, of_all: str, n_functions: int | None) -> str:
    """Return the theorem of a bound."""
    if method == "mcdiarmid":
        return f"{AGARWAL}, {of_one if n_functions is None else of_all}"
    if n_functions is None:
        return SOURCES[method]
    if method == "chebyshev":
        return f"{SOURCES[method]}, for all functions"
    return f"{OURS}, Theorem 4, by {SOURCES[method]}"


def _log_chernoff(mean: float, value: float, n: int) -> float:
    """Logarithm of the probability that a mean of n terms of this expectation reaches so far."""
    if not 0.0 <= value <= 1.0:
        return -inf
    return -n * float(binary_kl(value, mean))


Kind: TypeAlias = Literal["linear", "polynomial"]
KINDS = ("linear", "polynomial")

# The smaller of degree and number of features: the number of monomials is a product of so many.
MOST_FACTORS = 1000


@dataclass(frozen=True)
class FunctionClass:
    """Class of scoring functions that a learner can choose from.

    Parameters
    ----------
    kind : {"linear", "polynomial"}
        Functions ``w.x + b``, or polynomials of a given degree.
    n_features : int
        Dimension of x, at least 1.
    degree : int or None, default=None
        Largest degree, at least 1. Needed for "polynomial", not allowed for "linear".

    Raises
    ------
    TypeError
        If a number is not whole.
    ValueError
        If a number is less than 1, if the degree is missing or not allowed, or if both the degree
        and the number of features exceed 1,000, because no sample is large enough for so many
        monomials.

    See Also
    --------
    auc_bound : Takes the class as an argument.

    Notes
    -----
    The class has to be fixed before the data are seen. Features must not be selected by the same
    labels.

    Examples
    --------
    >>> from sklearn_rank.bounds import FunctionClass
    >>> FunctionClass("linear", n_features=20).n_weights
    20
    >>> FunctionClass("polynomial", n_features=5, degree=2).n_weights
    20
    """

    kind: Kind
    n_features: int
    degree: int | None = None

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        object.__setattr__(self, "n_features", check_count("n_features", self.n_features))
        if self.kind == "polynomial":
            if self.degree is None:
                raise ValueError("kind='polynomial' needs degree, which is None: pass it.")
            object.__setattr__(self, "degree", check_count("degree", self.degree))
            if min(self.n_features, self.degree) > MOST_FACTORS:
                raise ValueError(
                    f"n_features={self.n_features} and degree={self.degree} exceed {MOST_FACTORS}"
                    " both: no sample is large enough for so many monomials; pass a lower degree."
                )
        elif self.degree is not None:
            raise ValueError(
                f"degree={self.degree!r} is not allowed for kind={self.kind!r}: leave it out."
            )

    @property
    def n_weights(self) -> int:
        """Number of non-constant monomials, ``binom(n_features + degree, degree) - 1``."""
        degree = 1 if self.degree is None else self.degree
        return comb(self.n_features + degree, degree) - 1


LOG_3 = log(3.0)

# Up to this many rows and columns matrices are counted exactly; beyond, they are bounded.
MOST_COUNTED = 300

# Sums of more terms than these are bounded, not added up.
MOST_TERMS = 10**6


def log_rank_shatter_coefficient(
    n_weights: int, n_pos: int, n_neg: int, method: str = "central"
) -> float:
    """Bound the logarithm of the bipartite rank-shatter coefficient ``r(F, n_pos, n_neg)``.

    The coefficient is the largest number of matrices ``1{f(x_i) > f(x'_j)} + 1/2 1{f(x_i) =
    f(x'_j)}`` that the functions f of a class F make of n_pos points x and n_neg points x'
    (Agarwal et al. 2005, Definition 15).

    The number of faces is exact up to three features, and too large from four on: differences of
    points that share members are not in general position. For ``d >= n_pos + n_neg - 1`` the
    coefficient *is* the number of all rank matrices. Time and memory are O(d), and O(1) for more
    than a million weights.
    """
    n_pairs = n_pos * n_neg
    if method == "paper":
        return log_patterns_of_paper(n_pairs, n_weights)
    patterns = log_regions if method == "strict" else log_faces
    bound = patterns(n_pairs, n_weights)
    return min(bound, _log_matrices(n_pos, n_neg, method != "strict", bound))


@lru_cache(maxsize=256)
def rank_matrix_count(n_pos: int, n_neg: int, ties: bool = True) -> int:
    """Count the bipartite rank matrices ``psi(n_pos, n_neg)``, exactly.

    The matrices ``1{a_i > b_j} + 1/2 1{a_i = b_j}`` of real numbers a and b, or those without 1/2.

    A sum over the numbers a and b of levels that hold positives and negatives. The levels are a
    word of letters P, N and (with ties) B for both, no P next to a P and no N next to an N. With s
    and t for P and N there are ``(1 + s)(1 + t) / (1 - 2 s t - s^2 t - s t^2 - s^2 t^2)`` of them,
    or over ``1 - s t``. O((n_pos + n_neg)^2) operations on whole numbers of that length.
    """
    inner = _inner_words(n_pos, n_neg, ties)
    of_pos, of_neg = _surjections(n_pos), _surjections(n_neg)
    total = 0
    for a in range(1, n_pos + 1):
        row = 0
        for b in range(1, n_neg + 1):
            words = inner[a][b] + inner[a - 1][b] + inner[a][b - 1] + inner[a - 1][b - 1]
            row += of_neg[b] * words
        total += of_pos[a] * row
    return total


def _inner_words(m: int, n: int, ties: bool) -> list[list[int]]:
    """Coefficients of ``s^a t^b`` in the denominator's reciprocal, a to m and b to n."""
    inner = [[0] * (n + 1) for _ in range(m + 1)]
    for a in range(m + 1):
        for b in range(n + 1):
            value = int(a == b == 0)
            if a and b:
                value += (2 if ties else 1) * inner[a - 1][b - 1]
            if ties and a > 1 and b:
                value += inner[a - 2][b - 1]
            if ties and a and b > 1:
                value += inner[a - 1][b - 2]
            if ties and a > 1 and b > 1:
                value += inner[a - 2][b - 2]
            inner[a][b] = value
    return inner


def _surjections(n: int) -> list[int]:
    """Numbers of maps from n things onto 0, ..., n levels."""
    row = [1]
    for _ in range(n):
        row = [
            0,
            *(a * (row[a - 1] + (row[a] if a < len(row) else 0)) for a in range(1, len(row) + 1)),
        ]
    return row


def _log_matrices(n_pos: int, n_neg: int, ties: bool, most: float) -> float:
    """Bound the logarithm of the number of matrices; anything if it exceeds ``most``."""
    # A column of any entries, repeated.
    if max(n_pos, n_neg) * (LOG_3 if ties else LOG_2) >= most:
        return inf
    if n_pos + n_neg <= MOST_COUNTED:
        return log(rank_matrix_count(int(n_pos), int(n_neg), ties))
    return min(_log_cauchy(n_pos, n_neg, ties), _log_insertions(n_pos, n_neg, ties))


def _log_insertions(n_pos: int, n_neg: int, ties: bool) -> float:
    """Order the fewer points, with ties in at most ``m! / ln(2)^m`` ways; insert all others."""
    fewer, more = min(n_pos, n_neg), max(n_pos, n_neg)
    if ties:
        return lgamma(fewer + 1.0) - fewer * log(LOG_2) + more * log(2.0 * fewer + 1.0)
    return lgamma(fewer + 1.0) + more * log(fewer + 1.0)


def _log_cauchy(m: int, n: int, ties: bool) -> float:
    """Cauchy's bound ``m! n! F(x, y) / (x^m y^n)``, valid wherever F, the series, converges.

    That is where its denominator ``e^-x + e^-y - 1 - (e^x - 1)(e^y - 1)``, without the last
    product if there are no ties, is positive; on each ray from the origin it decreases.
    """

    def log_value(point: FloatArray) -> FloatArray:
        x, y = np.exp(np.minimum(point, 5.0))
        denominator = (
            np.expm1(-x) + np.expm1(-y) + 1.0 - (np.expm1(x) * np.expm1(y) if ties else 0.0)
        )
        inside = (denominator > 0.0) & (np.max(point, axis=0) <= 5.0)
        value = -np.log(np.where(inside, denominator, 1.0)) - m * point[0] - n * point[1]
        return np.where(inside, value, np.inf)

    grid = np.stack(np.meshgrid(*2 * [np.linspace(-20.0, 4.0, 121)])).reshape(2, -1)
    start = grid[:, np.argmin(log_value(grid))]
    minimum = minimize(log_value, start, method="Nelder-Mead", options={"xatol": 1e-10})
    return lgamma(m + 1.0) + lgamma(n + 1.0) + float(minimum.fun)


def log_patterns_of_paper(n: int, dimension: int) -> float:
    """Sign patterns on n points by Agarwal et al., ``(2 e n / d)^d``, or ``3^n`` where n < d."""
    if n < dimension:
        return n * LOG_3
    return dimension * (LOG_2 + 1.0 + log(n) - log(dimension))


def log_binomial_sum(n: int, upto: int) -> float:
    """Logarithm of ``sum_{i<upto} binom(n, i)``; of more than a million terms a bound of it."""
    if upto > n:
        return n * LOG_2
    if upto > MOST_TERMS:
        return _log_entropy_bound(n, upto - 1, LOG_2)
    return float(logsumexp(_log_binomials(n, upto)))


def log_faces(n: int, dimension: int) -> float:
    """Sign patterns of linear functions on n points: faces of n hyperplanes through the origin.

    ``1 + sum_{i<d} 2^i binom(n-1, i) c`` with c = 2 where d - i is odd and 4 where it is even: the
    double sum ``1 + sum_{j<d} binom(n, j) 2 sum_{i<d-j} binom(n-j-1, i)`` in one, for hyperplanes
    in general position.
    """
    if dimension >= n:
        return n * LOG_3
    if dimension > MOST_TERMS:
        return 3.0 * LOG_2 + _log_entropy_bound(n - 1, dimension - 1, LOG_3)
    i = np.arange(dimension)
    constants = np.where((dimension - i) % 2, 1, 2) * LOG_2
    terms = _log_binomials(n - 1, dimension) + i * LOG_2 + constants
    return float(np.logaddexp(0.0, logsumexp(terms)))


def log_regions(n: int, dimension: int) -> float:
    """Sign patterns without zeros: regions ``2 sum_{i<d} binom(n-1, i)`` of n hyperplanes."""
    return LOG_2 + log_binomial_sum(n - 1, dimension)


def _log_binomials(n: int, upto: int) -> FloatArray:
    """Logarithms of ``binom(n, i)`` for i below ``upto <= n + 1``."""
    i = np.arange(upto - 1.0)
    return np.concatenate(([0.0], np.cumsum(np.log((float(n) - i) / (i + 1.0)))))


def _log_entropy_bound(n: int, last: int, log_base: float) -> float:
    """Bound the logarithm of ``sum_{i<=last} a^i binom(n, i)``, a = e^log_base - 1 being 1 or 2.

    The sum is at most ``x^-last (1 + a x)^n`` for x in (0, 1]; at the best x it is the entropy
    bound, and at x = 1 the whole sum.
    """
    ratio = round(exp(log_base)) - 1
    if last * (ratio + 1) >= ratio * n:
        return n * log_base
    left = n - last
    return last * (log(ratio) + log(n) - log(last)) + left * log1p(last / left)


UniformMethod: TypeAlias = Literal["averaging", "paper", "central", "strict", "freund"]
UNIFORM_METHODS = ("averaging", "paper", "central", "strict", "freund")


def uniform_width(
    function_class: FunctionClass,
    n_pos: int,
    n_neg: int,
    log_delta: float,
    method: str,
    side: Side,
) -> float:
    """Deviation of some AUC of the class that is exceeded with probability delta at most."""
    n_weights = function_class.n_weights
    if min(n_pos, n_neg) == 0:
        return inf
    if method == "averaging":
        # Theorem 3 of the proofs, in the smaller of its two forms.
        log_inverse = (log(2.0) if side == "both" else 0.0) - log_delta
        fewer = min(n_pos, n_neg)
        patterns = log_regions(fewer, n_weights)
        at_once = sqrt(2.0 * (patterns + log_inverse) / fewer)
        about_mean = sqrt(2.0 * patterns / fewer)
        about_mean += sqrt((1.0 / n_pos + 1.0 / n_neg) * log_inverse / 2.0)
        return min(at_once, about_mean)
    if method == "freund":
        # A threshold is one weight more.
        return sum(
            2.0 * sqrt((log_faces(2 * n, n_weights + 1) + log(12.0) - log_delta) / n)
            for n in (n_pos, n_neg)
        )
    patterns = log_rank_shatter_coefficient(n_weights, 2 * n_pos, 2 * n_neg, method)
    weight = 8.0 * (1.0 / n_pos + 1.0 / n_neg)
    return sqrt(weight * (patterns + log(4.0) - log_delta))


def uniform_probability(
    epsilon: float, function_class: FunctionClass, n_pos: int, n_neg: int, method: str, side: Side
) -> float:
    """Least delta at which :func:`uniform_width` is at most ``epsilon``, by bisection."""

    def suffices(log_delta: float) -> bool:
        width = uniform_width(function_class, n_pos, n_neg, log_delta, method, side)
        return width <= epsilon

    low, high = -700.0, -1e-12
    if not suffices(high):
        return 1.0
    return exp(low if suffices(low) else bisect(suffices, high, low)[0])


def uniform_sample_size(
    epsilon: float,
    delta: float,
    positive_fraction: float,
    function_class: FunctionClass,
    method: str,
) -> float:
    """Least n at which :func:`uniform_width` is at most ``epsilon``, by doubling and bisection."""

    def suffices(n: int) -> bool:
        n_pos = round(positive_fraction * n)
        width = uniform_width(function_class, n_pos, n - n_pos, log(delta), method, "both")
        return width <= epsilon

    return least_size(suffices)


def uniform_theorem(method: str, function_class: FunctionClass, statement: str) -> str:
    """Return the theorem of a bound; ``statement`` is its number in Agarwal et al."""
    theorems = {
        "averaging": f"{OURS}, Theorem 3",
        "freund": f"{AGARWAL}, Theorem 27",
        "strict": f"{AGARWAL}, {statement}, with {OURS}, Theorem 2",
        "central": f"{AGARWAL}, {statement}, with {OURS}, Theorem 1",
    }
    of_paper = 24 if function_class.kind == "linear" else 26
    return theorems.get(method, f"{AGARWAL}, {statement} with Theorem {of_paper}")
