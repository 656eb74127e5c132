"""Logarithm of the number of ways in which a class of functions can order two samples.

Linear functions of d features, and polynomials as linear functions of their d monomials.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p
from typing import Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from .._typing import FloatArray

__all__ = [
    "log_binomial_sum",
    "log_faces",
    "log_patterns_of_paper",
    "log_rank_shatter_coefficient",
    "log_regions",
    "rank_matrix_count",
]

LOG_2, LOG_3 = log(2.0), log(3.0)

# Up to this many rows and columns matrices are counted exactly; beyond, they are bounded.
MOST_COUNTED = 300

# Sums of more terms than these are bounded, not added up.
MOST_TERMS = 10**6


def log_rank_shatter_coefficient(
    n_weights: int,
    n_pos: int,
    n_neg: int,
    method: Literal["paper", "central", "strict"] = "central",
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
    found = patterns(n_pairs, n_weights)
    return min(found, _log_matrices(n_pos, n_neg, method != "strict", found))


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


def _log_matrices(n_pos: int, n_neg: int, ties: bool, enough: float) -> float:
    """Bound the logarithm of the number of matrices; anything if it exceeds ``enough``."""
    # A column of any entries, repeated.
    if max(n_pos, n_neg) * (LOG_3 if ties else LOG_2) >= enough:
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

    def log_value(at: FloatArray) -> FloatArray:
        x, y = np.exp(np.minimum(at, 5.0))
        below = np.expm1(-x) + np.expm1(-y) + 1.0 - (np.expm1(x) * np.expm1(y) if ties else 0.0)
        inside = (below > 0.0) & (np.max(at, axis=0) <= 5.0)
        value = -np.log(np.where(inside, below, 1.0)) - m * at[0] - n * at[1]
        return np.where(inside, value, np.inf)

    grid = np.stack(np.meshgrid(*2 * [np.linspace(-20.0, 4.0, 121)])).reshape(2, -1)
    start = grid[:, np.argmin(log_value(grid))]
    found = minimize(log_value, start, method="Nelder-Mead", options={"xatol": 1e-10})
    return lgamma(m + 1.0) + lgamma(n + 1.0) + float(found.fun)


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
    rest = n - last
    return last * (log(ratio) + log(n) - log(last)) + rest * log1p(last / rest)
