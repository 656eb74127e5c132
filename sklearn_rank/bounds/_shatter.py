"""In how many ways a class of functions can order two samples, on a logarithmic scale."""

from __future__ import annotations

from functools import lru_cache
from math import comb, inf, lgamma, log
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from .._typing import FloatArray
from ._test_set import _check_choice, _check_counts, _is_count

__all__ = ["Kind", "log_rank_shatter_coefficient", "log_shatter_coefficient", "rank_matrix_count"]

Kind: TypeAlias = Literal["linear", "polynomial", "finite"]
KINDS = ("linear", "polynomial", "finite")
# Where the proofs stand of what is not from a paper.
OURS = "sklearn_rank, Proofs of bounds"
LOG_2, LOG_3 = log(2.0), log(3.0)

# Up to this many rows and columns matrices are counted exactly; beyond, they are bounded.
MOST_COUNTED = 300


def log_rank_shatter_coefficient(
    kind: Kind,
    n_pos: int,
    n_neg: int,
    *,
    n_features: int | None = None,
    degree: int | None = None,
    n_functions: int | None = None,
    method: Literal["paper", "central", "strict", "best"] = "best",
) -> float:
    """Bound the logarithm of the bipartite rank-shatter coefficient ``r(F, n_pos, n_neg)``.

    The coefficient is the largest number of matrices
    ``1{f(x_i) > f(x'_j)} + 1/2 1{f(x_i) = f(x'_j)}`` that the functions f of a class F make of
    n_pos points x and n_neg points x'.

    Parameters
    ----------
    kind : {"linear", "polynomial", "finite"}
        Class of functions: ``w.x + b``; polynomials of a degree; or finitely many functions.
    n_pos : int
        Number of points x, at least 1.
    n_neg : int
        Number of points x', at least 1.
    n_features : int or None, default=None
        Dimension d of x, at least 1; needed but for "finite".
    degree : int or None, default=None
        Largest degree q, at least 1; needed for "polynomial", which has
        ``binom(d + q, q) - 1`` weights, and only there.
    n_functions : int or None, default=None
        Number of functions, at least 1; needed for "finite", and only there.
    method : {"paper", "central", "strict", "best"}, default="best"
        "paper": ``(2 e N / d)^d`` with ``N = n_pos n_neg``, and ``3^N`` where N < d and that
        fails. "central": faces of N hyperplanes through the origin. "best": the smaller of
        "central" and of the number of all rank matrices. "strict": the smaller number of matrices
        without 1/2, for the theorems in which ties do not count; not for "finite".

    Returns
    -------
    float
        Upper bound of the natural logarithm, at least 0.

    Raises
    ------
    ValueError
        If an argument is out of range, missing, or of another kind.

    See Also
    --------
    log_shatter_coefficient : Patterns on single points or on pairs that share none.
    rank_matrix_count : The number of all rank matrices.
    auc_uniform_bound : What the coefficient is for.

    Notes
    -----
    "central" is exact up to three features, and counts too many from four on: differences of
    points that share members are not in general position. For ``d >= n_pos + n_neg - 1`` the
    coefficient *is* the number of all rank matrices. "central" and "strict" are not from the
    paper; the theory pages prove them. Time and memory are O(d).

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Definition 15, Theorems 16, 22, 24 and 26.

    Examples
    --------
    >>> from math import exp
    >>> from sklearn_rank.bounds import log_rank_shatter_coefficient
    >>> for method in ("paper", "central", "strict"):
    ...     value = log_rank_shatter_coefficient("linear", 3, 3, n_features=2, method=method)
    ...     print(method, round(exp(value)))
    paper 599
    central 37
    strict 18

    Functions of one variable order the points in three ways, whatever their number:

    >>> round(exp(log_rank_shatter_coefficient("linear", 50, 70, n_features=1)))
    3
    """
    _check_counts(n_pos, n_neg, least=1)
    _check_choice(method, "method", ("paper", "central", "strict", "best"))
    if kind == "finite" and method == "strict":
        raise ValueError(
            "method='strict' moves a function with ties to two without, which may lie outside of"
            " a finite class: choose method='best'."
        )
    size = _dimension(kind, n_features, degree, n_functions)
    n_pairs = n_pos * n_neg
    if kind == "finite":
        found = log(size)
        return found if method == "paper" else min(found, _log_matrices(n_pos, n_neg, True, found))
    if method == "paper":
        return _log_paper(n_pairs, size)
    if method == "central":
        return _log_faces(n_pairs, size)
    found = _log_regions(n_pairs, size) if method == "strict" else _log_faces(n_pairs, size)
    return min(found, _log_matrices(n_pos, n_neg, method != "strict", found))


def log_shatter_coefficient(
    kind: Kind,
    n_points: int,
    *,
    n_features: int | None = None,
    degree: int | None = None,
    n_functions: int | None = None,
    of: Literal["pairs", "thresholds"] = "pairs",
    method: Literal["paper", "central"] = "central",
) -> float:
    """Bound the logarithm of the number of sign patterns of functions derived from a class.

    ``s(H, N)``, the largest number of vectors ``(h(z_1), ..., h(z_N))``, with
    ``h(x, x') = sign(f(x) - f(x'))`` for "pairs" and ``h(x) = sign(f(x) - f(z))``, z any point,
    for "thresholds".

    Parameters
    ----------
    kind : {"linear", "polynomial", "finite"}
        Class of the functions f.
    n_points : int
        Number N of points or of pairs, at least 1.
    n_features : int or None, default=None
        Dimension d of x, at least 1; needed but for "finite".
    degree : int or None, default=None
        Largest degree, at least 1; needed for "polynomial".
    n_functions : int or None, default=None
        Number of functions, at least 1; needed for "finite".
    of : {"pairs", "thresholds"}, default="pairs"
        What the signs are of; the pairs may share points or not.
    method : {"paper", "central"}, default="central"
        "paper": ``(2 e N / d)^d``, and ``3^N`` where N < d. "central": faces of N hyperplanes
        through the origin.

    Returns
    -------
    float
        Upper bound of the natural logarithm, at least 0.

    Raises
    ------
    ValueError
        If an argument is out of range, missing, or of another kind.

    See Also
    --------
    log_rank_shatter_coefficient : All pairs of two samples.

    Notes
    -----
    Thresholds add a weight: b. A finite class has ``2 N + 1`` patterns for each function. For
    linear functions "central" is exact.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Definitions 20 and 21, Lemmas 23 and 25, Section 4.4.

    Examples
    --------
    >>> from math import exp
    >>> from sklearn_rank.bounds import log_shatter_coefficient
    >>> round(exp(log_shatter_coefficient("linear", 10, n_features=1, of="thresholds")))
    41
    """
    if not _is_count(n_points) or n_points < 1:
        raise ValueError(f"n_points={n_points!r} must be a whole number of at least 1.")
    _check_choice(of, "of", ("pairs", "thresholds"))
    _check_choice(method, "method", ("paper", "central"))
    size = _dimension(kind, n_features, degree, n_functions)
    if kind == "finite":
        each = log(2.0 * n_points + 1.0) if of == "thresholds" else 0.0
        return min(log(size) + each, n_points * LOG_3)
    if of == "thresholds":
        size += 1
    return _log_paper(n_points, size) if method == "paper" else _log_faces(n_points, size)


def rank_matrix_count(n_pos: int, n_neg: int, *, ties: bool = True) -> int:
    """Count the bipartite rank matrices ``psi(n_pos, n_neg)``.

    The matrices ``1{a_i > b_j} + 1/2 1{a_i = b_j}`` of real numbers a and b. Their exponential
    generating function is ``1 / (e^-x + e^-y - 1 - (e^x - 1)(e^y - 1))``.

    Parameters
    ----------
    n_pos : int
        Number of rows, at least 1.
    n_neg : int
        Number of columns, at least 1.
    ties : bool, default=True
        Whether 1/2 may occur; without, the last product is left out of the generating function.

    Returns
    -------
    int
        The number, exactly.

    Raises
    ------
    ValueError
        If a count is not a whole number of at least 1.

    See Also
    --------
    log_rank_shatter_coefficient : With what a class of functions can do.

    Notes
    -----
    It lies between ``3^max(n_pos, n_neg)`` and ``(n_pos + n_neg)! 2^(n_pos + n_neg - 1)``.
    O((n_pos + n_neg)^2) operations on whole numbers of that length. Without ties they are
    the poly-Bernoulli numbers of negative index.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 16 and Section 4.3.

    Examples
    --------
    >>> from sklearn_rank.bounds import rank_matrix_count
    >>> [rank_matrix_count(2, n) for n in (1, 2, 3)]
    [9, 51, 261]
    """
    _check_counts(n_pos, n_neg, least=1)
    return _count(int(n_pos), int(n_neg), bool(ties))


@lru_cache(maxsize=256)
def _count(m: int, n: int, ties: bool) -> int:
    """Sum over the numbers a and b of levels that hold positives and negatives.

    The levels are a word of letters P, N and (with ties) B for both, no P next to a P and no N
    next to an N. With s and t for P and N there are
    ``(1 + s)(1 + t) / (1 - 2 s t - s^2 t - s t^2 - s^2 t^2)`` of them, or over ``1 - s t``.
    """
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
    of_pos, of_neg = _surjections(m), _surjections(n)
    total = 0
    for a in range(1, m + 1):
        row = 0
        for b in range(1, n + 1):
            words = inner[a][b] + inner[a - 1][b] + inner[a][b - 1] + inner[a - 1][b - 1]
            row += of_neg[b] * words
        total += of_pos[a] * row
    return total


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
        return log(_count(int(n_pos), int(n_neg), ties))
    return min(_log_cauchy(n_pos, n_neg, ties), _log_places(n_pos, n_neg, ties))


def _log_places(n_pos: int, n_neg: int, ties: bool) -> float:
    """Order the fewer points, in at most ``m! / ln(2)^m`` ways with ties; place each other one."""
    fewer, more = min(n_pos, n_neg), max(n_pos, n_neg)
    if ties:
        return lgamma(fewer + 1.0) - fewer * log(LOG_2) + more * log(2.0 * fewer + 1.0)
    return lgamma(fewer + 1.0) + more * log(fewer + 1.0)


def _log_cauchy(m: int, n: int, ties: bool) -> float:
    """Cauchy's bound ``m! n! F(x, y) / (x^m y^n)``, valid wherever F, the series, converges.

    That is where its denominator is positive, which on each ray from the origin decreases.
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


def _dimension(
    kind: Kind, n_features: int | None, degree: int | None, n_functions: int | None
) -> int:
    """Number of weights of a linear class in its monomials, or of functions of a finite one."""
    _check_choice(kind, "kind", KINDS)
    given = {"n_features": n_features, "degree": degree, "n_functions": n_functions}
    needed = {
        "linear": ("n_features",),
        "polynomial": ("n_features", "degree"),
        "finite": ("n_functions",),
    }[kind]
    for name, value in given.items():
        if name not in needed:
            if value is not None:
                raise ValueError(
                    f"{name}={value!r} does not belong to kind={kind!r}: leave it out."
                )
        elif value is None:
            raise ValueError(f"kind={kind!r} needs {name}, which is None: pass it.")
        elif not _is_count(value) or value < 1:
            raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
    if kind == "polynomial":
        return comb(int(n_features or 0) + int(degree or 0), int(degree or 0)) - 1
    return int((n_features if kind == "linear" else n_functions) or 0)


def _log_paper(n: int, dimension: int) -> float:
    if n < dimension:
        return n * LOG_3
    return dimension * (LOG_2 + 1.0 + log(n) - log(dimension))


def _log_binomials(n: int, upto: int) -> FloatArray:
    """Logarithms of ``binom(n, i)`` for i below ``upto <= n + 1``."""
    i = np.arange(upto - 1.0)
    return np.concatenate(([0.0], np.cumsum(np.log((n - i) / (i + 1.0)))))


def _log_faces(n: int, dimension: int) -> float:
    """Faces of all dimensions of n hyperplanes through the origin, in general position.

    ``1 + sum_{i<d} 2^i binom(n-1, i) c`` with c = 2 where d - i is odd and 4 where it is even:
    the double sum ``1 + sum_{j<d} binom(n, j) 2 sum_{i<d-j} binom(n-j-1, i)`` in one.
    """
    size = min(dimension, n)
    i = np.arange(size)
    terms = _log_binomials(n - 1, size) + i * LOG_2 + np.where((size - i) % 2, 1, 2) * LOG_2
    return float(np.logaddexp(0.0, logsumexp(terms)))


def _log_regions(n: int, dimension: int) -> float:
    """Regions ``2 sum_{i<d} binom(n-1, i)`` of n hyperplanes through the origin."""
    return LOG_2 + float(logsumexp(_log_binomials(n - 1, min(dimension, n))))
