"""Distribution-free bounds of the deviation of the AUC from its expectation.

Three questions (how far, how probably, how much data), each for one function, a finite class or a
uniform class. Ties count 1/2 in the AUC and in its expectation.

One function, or finitely many, are fixed before the sample is seen: a test set, or candidates that
are scored on one held-out part without a refit. A union bound gives each of ``|F|`` functions
``delta / |F|``: in logarithms, since neither need be a number of float64.

Bounds of a uniform class hold for whichever function of it was learned from the very sample that
the AUC is of. They are not cut off at 1: a value of 1 or more says nothing, but shows how much
larger a sample would have to be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, exp, expm1, inf, lgamma, log, log1p, sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from .._typing import AnyArray, FloatArray
from .._validation import (
    check_choice,
    check_count,
    check_number,
    check_share,
    check_whole,
    is_whole,
    shown,
)
from ._bound import (
    AGARWAL,
    FIXED_FUNCTION,
    INDEPENDENT,
    LARGEST_LOG,
    OURS,
    Bound,
    Labels,
    Side,
    binary_kl,
    bisect,
    condition,
    deviations,
    least_size,
    mean_limits,
    of_side,
)

FiniteMethod: TypeAlias = Literal["mcdiarmid", "hoeffding", "kl", "chebyshev"]


def finite_width(
    n_pos: int, n_neg: int, log_delta: float, method: str, auc: float | None, side: Side
) -> float:
    """Deviation of the AUC of one function that is exceeded with probability delta at most."""
    fewer = min(n_pos, n_neg)
    if fewer == 0:
        return 1.0
    log_inverse = (log(2.0) if side == "both" else 0.0) - log_delta
    if method == "chebyshev":
        # (auc - A)^2 <= A (1 - A) c, with 1 / delta - 1 on one side by Cantelli's inequality.
        log_inverse = -log_delta
        if side != "both" and log_inverse <= 50.0:
            log_inverse = log(expm1(log_inverse))
        if auc is None:
            return min(exp(min(log_inverse - log(fewer), LARGEST_LOG) / 2.0) / 2.0, 1.0)
    mean = 0.0 if auc is None else auc
    low, high = mean_limits(method, mean, n_terms(method, n_pos, n_neg), log_inverse)
    return min(of_side(side, mean - float(low), float(high) - mean), 1.0)


def n_terms(method: str, n_pos: Any, n_neg: Any) -> Any:
    """Number of independent terms of which the AUC has the inequality."""
    return n_pos * n_neg / (n_pos + n_neg) if method == "mcdiarmid" else np.minimum(n_pos, n_neg)


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
    log_sides = log(2.0) if side == "both" else 0.0
    if fewer == 0:
        return 0.0
    if method in ("mcdiarmid", "hoeffding"):
        value = log_sides - 2.0 * float(n_terms(method, n_pos, n_neg)) * epsilon**2
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
    epsilon: float, delta: float, prevalence: float, method: str, n_functions: int
) -> float:
    """Number of items at which the deviations of all functions are ``epsilon`` at most.

    It is infinite beyond the numbers of float64.
    """
    share = min(prevalence, 1.0 - prevalence)
    try:
        if method == "chebyshev":
            return float(ceil(n_functions / (4.0 * delta * share * epsilon**2)))
        if method == "mcdiarmid":
            share = prevalence * (1.0 - prevalence)
        log_inverse = log(2.0) + log(n_functions) - log(delta)
        return float(ceil(log_inverse / (2.0 * share * epsilon**2)))
    except (OverflowError, ZeroDivisionError):
        return inf


def _log_chernoff(mean: float, value: float, n: int) -> float:
    """Logarithm of the probability that a mean of n terms of this expectation reaches so far."""
    if not 0.0 <= value <= 1.0:
        return -inf
    return -n * float(binary_kl(value, mean))


Kind: TypeAlias = Literal["linear", "polynomial"]

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
        check_choice("kind", self.kind, ("linear", "polynomial"))
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


# How many functions one is chosen from, or their class; None is one that is given.
Functions: TypeAlias = int | FunctionClass | None

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
    # Coefficients of the reciprocal of the denominator, those of s^a t^b in [a + 2, b + 2].
    inner = np.zeros((n_pos + 3, n_neg + 3), dtype=object)
    inner[2, 2] = 1
    for a in range(3, n_pos + 3):
        one, two = inner[a - 1], inner[a - 2]
        inner[a, 2:] = (2 * one + two)[1:-1] + (one + two)[:-2] if ties else one[1:-1]
    words = inner[1:, 1:] + inner[:-1, 1:] + inner[1:, :-1] + inner[:-1, :-1]
    return int(_surjections(n_pos) @ words[1:, 1:] @ _surjections(n_neg))


def _surjections(n: int) -> AnyArray:
    """Numbers of maps from n things onto 0, ..., n levels, as Python's integers."""
    levels = np.arange(n + 1).astype(object)
    row = np.zeros(n + 1, dtype=object)
    row[0] = 1
    for _ in range(n):
        row[1:] = levels[1:] * (row[:-1] + row[1:])
        row[0] = 0
    return row


def _log_matrices(n_pos: int, n_neg: int, ties: bool, most: float) -> float:
    """Bound the logarithm of the number of matrices; anything if it exceeds ``most``."""
    # A column of any entries, repeated.
    if max(n_pos, n_neg) * (log(3.0) if ties else log(2.0)) >= most:
        return inf
    if n_pos + n_neg <= MOST_COUNTED:
        return log(rank_matrix_count(int(n_pos), int(n_neg), ties))
    return min(_log_cauchy(n_pos, n_neg, ties), _log_insertions(n_pos, n_neg, ties))


def _log_insertions(n_pos: int, n_neg: int, ties: bool) -> float:
    """Order the fewer points, with ties in at most ``m! / ln(2)^m`` ways; insert all others."""
    fewer, more = min(n_pos, n_neg), max(n_pos, n_neg)
    if ties:
        return lgamma(fewer + 1.0) - fewer * log(log(2.0)) + more * log(2.0 * fewer + 1.0)
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
        return n * log(3.0)
    return dimension * (log(2.0) + 1.0 + log(n) - log(dimension))


def log_binomial_sum(n: int, upto: int) -> float:
    """Logarithm of ``sum_{i<upto} binom(n, i)``; of more than a million terms a bound of it."""
    if upto > n:
        return n * log(2.0)
    if upto > MOST_TERMS:
        return _log_entropy_bound(n, upto - 1, log(2.0))
    return float(logsumexp(_log_binomials(n, upto)))


def log_faces(n: int, dimension: int) -> float:
    """Sign patterns of linear functions on n points: faces of n hyperplanes through the origin.

    ``1 + sum_{i<d} 2^i binom(n-1, i) c`` with c = 2 where d - i is odd and 4 where it is even: the
    double sum ``1 + sum_{j<d} binom(n, j) 2 sum_{i<d-j} binom(n-j-1, i)`` in one, for hyperplanes
    in general position.
    """
    if dimension >= n:
        return n * log(3.0)
    if dimension > MOST_TERMS:
        return 3.0 * log(2.0) + _log_entropy_bound(n - 1, dimension - 1, log(3.0))
    i = np.arange(dimension)
    constants = np.where((dimension - i) % 2, 1, 2) * log(2.0)
    terms = _log_binomials(n - 1, dimension) + i * log(2.0) + constants
    return float(np.logaddexp(0.0, logsumexp(terms)))


def log_regions(n: int, dimension: int) -> float:
    """Sign patterns without zeros: regions ``2 sum_{i<d} binom(n-1, i)`` of n hyperplanes."""
    return log(2.0) + log_binomial_sum(n - 1, dimension)


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


def uniform_log_probability(
    epsilon: float, function_class: FunctionClass, n_pos: int, n_neg: int, method: str, side: Side
) -> float:
    """Least ``log_delta`` at which :func:`uniform_width` is at most ``epsilon``, by bisection."""

    def suffices(log_delta: float) -> bool:
        width = uniform_width(function_class, n_pos, n_neg, log_delta, method, side)
        return width <= epsilon

    low, high = -700.0, -1e-12
    if not suffices(high):
        return 0.0
    return low if suffices(low) else float(bisect(suffices, high, low)[0])


def theorem_of(function_class: Functions, method: str, statements: tuple[str, str, str]) -> str:
    """Return the theorem: ``statements`` of Agarwal et al. on one, several, a class."""
    of_one, of_all, of_class = statements
    if isinstance(function_class, FunctionClass):
        theorems = {
            "averaging": f"{OURS}, Theorem 3",
            "freund": f"{AGARWAL}, Theorem 27",
            "strict": f"{AGARWAL}, {of_class}, with {OURS}, Theorem 2",
            "central": f"{AGARWAL}, {of_class}, with {OURS}, Theorem 1",
        }
        of_paper = 24 if function_class.kind == "linear" else 26
        return theorems.get(method, f"{AGARWAL}, {of_class} with Theorem {of_paper}")
    if method == "mcdiarmid":
        return f"{AGARWAL}, {of_one if function_class is None else of_all}"
    averaging = "Hoeffding (1963), Section 5b, min(n_pos, n_neg) independent pairs"
    source = {
        "hoeffding": averaging,
        "kl": f"{averaging}, in Chernoff's form",
        "chebyshev": f"Chebyshev's inequality with {AGARWAL}, Equation 14",
    }[method]
    if function_class is None:
        return source
    if method == "chebyshev":
        return f"{source}, for all functions"
    return f"{OURS}, Theorem 4, by {source}"


Tightest: TypeAlias = Literal["tightest"]
Method: TypeAlias = Tightest | FiniteMethod | UniformMethod

# Where there is no one expected AUC; the smallest of these bounds is never the first.
WITHOUT_AUC = ("mcdiarmid", "hoeffding", "chebyshev")


def auc_bound(
    n_pos: int,
    n_neg: int,
    delta: float,
    *,
    function_class: int | FunctionClass | None = None,
    method: Method = "tightest",
    auc: float | None = None,
    side: Side = "both",
    labels: Labels = "fixed",
) -> Bound:
    """Bound how far the AUC of a sample is from its expectation.

    For one of ``|F|`` functions ``sqrt(ln(2 |F|/delta) / (2 k))`` with ``k = min(n_pos, n_neg)``
    ("hoeffding"), smaller for an observed AUC near 0 or 1 ("kl"); for all functions of a uniform
    class ``sqrt(2 (ln(Pi) + ln(2/delta)) / k)`` with Pi the number of sign patterns on k pairs
    that share no item ("averaging").

    Parameters
    ----------
    n_pos : int
        Number of positives in the sample, at least 0.
    n_neg : int
        Number of negatives, at least 0.
    delta : float
        Probability that the bound fails, in (0, 1). A smaller value gives a larger bound.
    function_class : None, int or FunctionClass, default=None
        Functions that the sample may have chosen from. None is one function that does not depend
        on the sample, as on a test set. A number ``|F|`` is the number of candidates, made without
        the sample, from which the best was selected on it. A :class:`FunctionClass` is for a
        function learned on the sample.
    method : str, default="tightest"
        - "tightest": the smallest bound that needs no correction for the choice of a method. For
          one function or finitely many: the smaller of "hoeffding" and "chebyshev" without
          ``auc``; with it "kl" for ``side="both"``, and the smaller of "kl" and "chebyshev" for
          one side. For a :class:`FunctionClass`: "averaging".
        - "mcdiarmid", "hoeffding", "kl", "chebyshev": inequality for one function; each of
          finitely many gets ``delta / |F|``. "mcdiarmid" is that of the paper,
          ``sqrt(ln(2/delta) (n_pos + n_neg) / (2 n_pos n_neg))``. "kl" and "chebyshev" use the
          observed AUC: all expected AUCs A with ``k KL(AUC || A) <= ln(2/delta)``, or with
          ``(AUC - A)^2 <= A (1 - A) / (delta k)``.
        - "averaging", "paper", "central", "strict", "freund": for a :class:`FunctionClass`.
          "averaging" is proved in "Proofs of bounds". "paper" is Corollary 18 with Theorem 24 or
          26, ``sqrt(8 (n_pos + n_neg) (ln(r) + ln(4/delta)) / (n_pos n_neg))`` with r the
          bipartite rank-shatter coefficient at twice the counts. "central" and "strict" are
          Corollary 18 with smaller coefficients, proved in "Proofs of bounds". "freund" is
          Theorem 27, the older bound that the paper compares with.
    auc : float or None, default=None
        Observed AUC of the selected function, in [0, 1]. Needed for "kl"; for "chebyshev" None is
        the worst case. Other methods raise an error if it is given.
    side : {"both", "lower", "upper"}, default="both"
        "lower" bounds how far the expected AUC is below the observed one (a lower limit for it),
        "upper" how far it is above, "both" both at once. One side uses all of delta, which gives a
        smaller bound except for "paper", "central", "strict" and "freund".
    labels : {"fixed", "random"}, default="fixed"
        Whether the bound is given the labels ("fixed"), or the labels are drawn too ("random") and
        the counts are those observed. The value is the same.

    Returns
    -------
    Bound
        Bound of the deviation. For one function or finitely many it is at most 1, and 1 if a class
        is absent. For a :class:`FunctionClass` it bounds the largest deviation over the class; it
        can exceed 1, where it is vacuous, and is infinite if a class is absent.

    Raises
    ------
    TypeError
        If a count is not a whole number, or if ``function_class`` has another type.
    ValueError
        If an argument is out of range, if ``auc`` is missing for "kl" or given for a method that
        does not use it, or if the function class has no such method.

    See Also
    --------
    auc_deviation_bound : Probability of a given deviation.
    auc_sample_size_bound : Number of items for a given deviation.
    auc_fold_mean_bound : Bound for the mean AUC of cross-validation.
    auc_margin_bound : Bound by norms and margins, for any number of features.
    sklearn_rank.inference.metric_interval : Interval from labels and scores, also by asymptotic
        methods.

    Notes
    -----
    "kl" is never larger than "hoeffding", which is always smaller than "mcdiarmid". "chebyshev" is
    smaller than "kl" at some AUCs, by less than .003 from ten items of each class on and for delta
    up to .05. For one side the smaller of the two is valid although the choice depends on the
    AUC ("Proofs of bounds", Theorem 4); for both sides it is not. "averaging" is
    always smaller than the other four. It is the smaller of two forms, the one above and
    ``sqrt(2 ln(Pi) / k) + sqrt((n_pos + n_neg) ln(2/delta) / (2 n_pos n_neg))``; the choice
    depends on the counts only.

    The items of a class need not be identically distributed. For ``side="both"`` each side uses
    ``delta / 2`` and the larger bound is reported; "chebyshev" needs no halving.

    For finitely many functions a union bound is used. It does not hold for the pooled rows of K
    folds, because the function that scores a row was trained on the others. To weight candidates
    by a prior, bound each as one function with its share of delta.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollaries 6, 11 and 18, Theorems 8, 13, 19,
       24, 26 and 27, Equations 11 and 14.
    .. [2] Hoeffding (1963), *Probability inequalities for sums of bounded random variables*,
       JASA 58, Theorem 1 and Section 5.

    Examples
    --------
    >>> from sklearn_rank.bounds import FunctionClass, auc_bound
    >>> print(auc_bound(100, 900, 0.05))
    With probability 0.95 given the labels: |AUC - expected AUC| <= 0.1358.
    Proof: Hoeffding (1963), Section 5b, min(n_pos, n_neg) independent pairs.
    It holds where the ranking function does not depend on the test set; items are independent \
given their labels.

    A linear function that was trained on the same sample:

    >>> linear = FunctionClass("linear", n_features=20)
    >>> print(auc_bound(2000, 2000, 0.01, function_class=linear))
    With probability 0.99 given the labels: sup |AUC - expected AUC| <= 0.3331.
    Proof: sklearn_rank, Proofs of bounds, Theorem 3.
    It holds where the class of functions does not depend on the training set; items are \
independent given their labels.
    """
    n_pos, n_neg = check_count("n_pos", n_pos, 0), check_count("n_neg", n_neg, 0)
    delta = check_share("delta", delta, what="the probability of failure")
    function_class = _check_function_class(function_class)
    _check_method(function_class, method, get_args(FiniteMethod))
    auc = _check_auc("auc", auc, needed=method == "kl")
    uniform = isinstance(function_class, FunctionClass)
    _check_used("auc", auc, method, () if uniform else ("tightest", "kl", "chebyshev"))
    check_choice("side", side, get_args(Side))
    check_choice("labels", labels, get_args(Labels))

    def width(name: str) -> float:
        if isinstance(function_class, FunctionClass):
            return uniform_width(function_class, n_pos, n_neg, log(delta), name, side)
        log_delta = log(delta) - log(function_class or 1)
        return finite_width(n_pos, n_neg, log_delta, name, auc, side)

    # Without the AUC no bound depends on the data. With it, on one side, the values that two
    # inequalities exclude are nested for each expected AUC, so that the smaller bound has the
    # larger of two probabilities, not their sum. On both sides they are not.
    of_auc = ("kl",) if side == "both" else ("kl", "chebyshev")
    tight = WITHOUT_AUC[1:] if auc is None else of_auc
    inequality, value = _tightest(function_class, method, tight, width)
    statements = ("Corollary 6", "Corollary 11", "Corollary 18")
    if labels == "random":
        statements = ("Theorem 8", "Theorem 13", "Theorem 19")
    theorem = theorem_of(function_class, inequality, statements)
    target, assumptions = _describe(function_class, side)
    return Bound(value, theorem, target, delta, condition(labels), assumptions)


def auc_deviation_bound(
    epsilon: float,
    n_pos: int,
    n_neg: int,
    *,
    function_class: int | FunctionClass | None = None,
    method: Method = "tightest",
    expected_auc: float | None = None,
    variance: float | None = None,
    side: Side = "both",
) -> Bound:
    """Bound the probability that the AUC of a sample is ``epsilon`` from its expectation.

    For one of ``|F|`` functions ``2 |F| exp(-2 k epsilon^2)`` with ``k = min(n_pos, n_neg)``
    ("hoeffding"); for some function of a uniform class about ``2 Pi exp(-k epsilon^2 / 2)``
    ("averaging").

    Parameters
    ----------
    epsilon : float
        Deviation, in (0, 1]. A greater deviation has a smaller probability.
    n_pos : int
        Number of positives in the sample, at least 0.
    n_neg : int
        Number of negatives, at least 0.
    function_class : None, int or FunctionClass, default=None
        One function, finitely many, or a class, as in :func:`auc_bound`.
    method : str, default="tightest"
        - "tightest": the smallest of all that can be computed from the arguments.
        - "mcdiarmid", "hoeffding", "chebyshev": for one function or finitely many. "mcdiarmid" is
          that of the paper, ``2 exp(-2 n_pos n_neg epsilon^2 / (n_pos + n_neg))``; "chebyshev" is
          ``variance / epsilon^2``, or for one side ``variance / (variance + epsilon^2)``.
        - "kl": for one function with expected AUC A, ``exp(-k KL(A +- epsilon || A))`` per side.
        - "averaging", "paper", "central", "strict", "freund": for a :class:`FunctionClass`.
    expected_auc : float or None, default=None
        Expected AUC of the function, in [0, 1]; needed for "kl".
    variance : float or None, default=None
        Variance of its AUC for "chebyshev", in [0, 1/4]. None is the largest possible variance,
        which depends on ``expected_auc`` if that is given.
    side : {"both", "lower", "upper"}, default="both"
        Event whose probability is bounded: the observed AUC is at least ``epsilon`` from the
        expected one ("both"), above it ("lower") or below it ("upper").

    Returns
    -------
    Bound
        Bound of the probability given the labels, at most 1.

    Raises
    ------
    TypeError
        If a count is not a whole number, or if ``function_class`` has another type.
    ValueError
        If an argument is out of range or missing, if the function class has no such method, or if
        ``expected_auc`` or ``variance`` is given for more than one function or for a method that
        does not use it.

    See Also
    --------
    auc_bound : Deviation for a given probability.

    Notes
    -----
    The bound is given the labels; the average over random labels has no simple form. It does not
    depend on observed scores, so the smallest of several bounds is valid. For a
    :class:`FunctionClass` it is the smallest delta at which :func:`auc_bound` is at most
    ``epsilon``.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 5, Equations 10 and 14, Theorems 10 and 17.

    Examples
    --------
    >>> from sklearn_rank.bounds import FunctionClass, auc_deviation_bound
    >>> round(auc_deviation_bound(0.15, 100, 900).value, 4)
    0.0222
    >>> round(auc_deviation_bound(0.15, 100, 900, method="mcdiarmid").value, 4)
    0.0348
    >>> round(auc_deviation_bound(0.2, 100, 900, function_class=50).value, 4)
    0.0335
    >>> linear = FunctionClass("linear", n_features=20)
    >>> f"{auc_deviation_bound(0.4, 2000, 2000, function_class=linear).value:.0e}"
    '5e-24'
    """
    epsilon = check_number("epsilon", epsilon, 0.0, 1.0, closed="right", what="a deviation")
    n_pos, n_neg = check_count("n_pos", n_pos, 0), check_count("n_neg", n_neg, 0)
    function_class = _check_function_class(function_class)
    _check_method(
        function_class, method, get_args(FiniteMethod) if function_class is None else WITHOUT_AUC
    )
    expected_auc = _check_auc("expected_auc", expected_auc, needed=method == "kl")
    _check_single_function("expected_auc", expected_auc, function_class)
    if variance is not None:
        variance = check_number("variance", variance, 0.0, 0.25, what="that of an AUC")
    _check_single_function("variance", variance, function_class)
    _check_used("variance", variance, method, ("tightest", "chebyshev"))
    # Chebyshev's inequality takes the largest variance that an expected AUC allows.
    chebyshev = () if variance is not None else ("chebyshev",)
    _check_used("expected_auc", expected_auc, method, ("tightest", "kl", *chebyshev))
    check_choice("side", side, get_args(Side))
    if variance is None:
        variance = _largest_variance(max(1, min(n_pos, n_neg)), expected_auc)

    def log_probability(name: str) -> float:
        sizes = n_pos, n_neg, name
        if isinstance(function_class, FunctionClass):
            return uniform_log_probability(epsilon, function_class, *sizes, side)
        of_one = finite_log_probability(epsilon, *sizes, expected_auc, variance, side)
        return log(function_class or 1) + of_one

    tight = WITHOUT_AUC[1:] if expected_auc is None else ("kl", *WITHOUT_AUC[1:])
    inequality, value = _tightest(function_class, method, tight, log_probability)
    value = exp(min(value, 0.0))
    statements = ("Theorem 5", "Theorem 10", "Theorem 17")
    theorem = theorem_of(function_class, inequality, statements)
    deviation, assumptions = _describe(function_class, side)
    target = f"P({deviation} >= {epsilon:g})"
    return Bound(value, theorem, target, 0.0, "the labels", assumptions)


def auc_sample_size_bound(
    epsilon: float,
    delta: float,
    prevalence: float,
    *,
    function_class: int | FunctionClass | None = None,
    method: Method = "tightest",
) -> Bound:
    """Compute the number of items that guarantees an AUC accurate to ``epsilon``.

    For one of ``|F|`` functions ``ln(2 |F|/delta) / (2 min(rho, 1 - rho) epsilon^2)``, rho the
    fraction of positives ("hoeffding"); for all functions of a uniform class the smallest n for
    which :func:`auc_bound` with ``round(rho n)`` positives is at most ``epsilon``.

    Parameters
    ----------
    epsilon : float
        Allowed deviation, in (0, 1). A smaller deviation needs more items.
    delta : float
        Probability that it is exceeded, in (0, 1). A smaller probability needs more items.
    prevalence : float
        Share rho of the items that are positive, in (0, 1); 1/2 needs the fewest items.
    function_class : None, int or FunctionClass, default=None
        One function, finitely many, or a class, as in :func:`auc_bound`.
    method : str, default="tightest"
        - "tightest": the method that needs the fewest items.
        - "mcdiarmid", "hoeffding", "chebyshev": for one function or finitely many. "mcdiarmid" is
          that of the paper, with ``rho (1 - rho)`` for ``min(rho, 1 - rho)``.
        - "averaging", "paper", "central", "strict", "freund": for a :class:`FunctionClass`.

    Returns
    -------
    Bound
        Number of items needed, a whole number; infinite beyond 2^53 for a :class:`FunctionClass`,
        else beyond 1e299.

    Raises
    ------
    TypeError
        If ``function_class`` has another type.
    ValueError
        If an argument is out of range, or if the function class has no such method.

    See Also
    --------
    sklearn_rank.inference.sample_size : Plans a sample by an expected AUC, with counts of each
        class.

    Notes
    -----
    The number is for a sample in which exactly this share is positive. For "averaging" it is found
    by doubling and bisection.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollaries 7, 12 and 18.

    Examples
    --------
    >>> from sklearn_rank.bounds import FunctionClass, auc_sample_size_bound
    >>> auc_sample_size_bound(0.05, 0.05, 0.1).value
    7378.0
    >>> auc_sample_size_bound(0.05, 0.05, 0.1, method="mcdiarmid").value
    8198.0
    >>> auc_sample_size_bound(
    ...     0.05, 0.05, 0.1, function_class=50, method="mcdiarmid"
    ... ).value
    16891.0
    >>> linear = FunctionClass("linear", n_features=20)
    >>> for method in ("averaging", "paper"):
    ...     found = auc_sample_size_bound(
    ...         0.1, 0.05, 0.5, function_class=linear, method=method
    ...     )
    ...     print(method, round(found.value, -3))
    averaging 65000.0
    paper 1772000.0
    """
    epsilon = check_share("epsilon", epsilon, what="a deviation")
    delta = check_share("delta", delta, what="the probability of failure")
    prevalence = check_share("prevalence", prevalence, what="the share of positives")
    function_class = _check_function_class(function_class)
    _check_method(function_class, method, WITHOUT_AUC)

    def size(name: str) -> float:
        if not isinstance(function_class, FunctionClass):
            return finite_sample_size(epsilon, delta, prevalence, name, function_class or 1)

        def suffices(n: int) -> bool:
            sizes = (n_pos := round(prevalence * n)), n - n_pos
            return uniform_width(function_class, *sizes, log(delta), name, "both") <= epsilon

        return least_size(suffices)

    inequality, value = _tightest(function_class, method, WITHOUT_AUC[1:], size)
    statements = ("Corollary 7", "Corollary 12", "Corollary 18")
    theorem = theorem_of(function_class, inequality, statements)
    deviation, assumptions = _describe(function_class, "both")
    target = f"items needed for {deviation} < {epsilon:g} with probability {1 - delta:.6g}"
    return Bound(value, theorem, target, 0.0, "the labels", assumptions)


def auc_variance_bound(n_pos: int, n_neg: int, *, expected_auc: float | None = None) -> Bound:
    """Bound the variance of the AUC on a test set.

    ``A (1 - A) / min(n_pos, n_neg)`` for the expected AUC A; A = 1/2 is the worst.

    Parameters
    ----------
    n_pos : int
        Number of positives, at least 1.
    n_neg : int
        Number of negatives, at least 1.
    expected_auc : float or None, default=None
        Expected AUC, in [0, 1]. None is the worst case, 1/2.

    Returns
    -------
    Bound
        Bound of the variance given the labels, at most 1/4.

    Raises
    ------
    TypeError
        If a count is not a whole number.
    ValueError
        If an argument is out of range.

    See Also
    --------
    auc_bound : Chebyshev's inequality with this variance, solved for the expected AUC.

    Notes
    -----
    With the *observed* AUC in place of the expected one the bound is not valid. It is attained if
    each score of the smaller class lies either above or below all scores of the other.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Equation 14.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_variance_bound
    >>> auc_variance_bound(10, 90).value
    0.025
    """
    n_pos, n_neg = check_count("n_pos", n_pos), check_count("n_neg", n_neg)
    expected_auc = _check_auc("expected_auc", expected_auc, needed=False)
    value, theorem = _largest_variance(min(n_pos, n_neg), expected_auc), f"{AGARWAL}, Equation 14"
    assumptions = (FIXED_FUNCTION, INDEPENDENT)
    return Bound(value, theorem, "variance of the AUC", 0.0, "the labels", assumptions)


def _largest_variance(fewer: int, expected_auc: float | None) -> float:
    return (0.25 if expected_auc is None else expected_auc * (1.0 - expected_auc)) / fewer


def _tightest(
    function_class: Functions,
    method: str,
    tight: tuple[str, ...],
    value_of: Callable[[str], float],
) -> tuple[str, float]:
    """The method and its value; for "tightest" the one of some that has the smallest value."""
    if method != "tightest":
        tight = (method,)
    elif isinstance(function_class, FunctionClass):
        tight = ("averaging",)
    return min(((name, value_of(name)) for name in tight), key=lambda pair: pair[1])


def _describe(function_class: Functions, side: Side) -> tuple[str, tuple[str, str]]:
    target, assumption = deviations("AUC", "expected AUC")[side], FIXED_FUNCTION
    if isinstance(function_class, FunctionClass):
        target = f"sup {target}" if side == "both" else f"sup ({target})"
        assumption = "the class of functions does not depend on the training set"
    elif function_class is not None:
        target = deviations("AUC of the chosen function", "expected AUC")[side]
        assumption = "the functions do not depend on the sample that is scored"
    return target, (assumption, INDEPENDENT)


def _check_function_class(function_class: Functions) -> Functions:
    """Check a class; a number of functions becomes an int of any size."""
    if function_class is None or isinstance(function_class, FunctionClass):
        return function_class
    if is_whole(function_class):
        return check_whole("function_class", function_class)
    raise TypeError(
        f"function_class={function_class!r} must be None (one function), a whole number (so many"
        " functions) or a FunctionClass."
    )


def _check_method(function_class: Functions, method: str, finite_methods: tuple[str, ...]) -> None:
    if isinstance(function_class, FunctionClass):
        finite_methods = get_args(UniformMethod)
    hint = f" for function_class={shown(function_class)}"
    check_choice("method", method, ("tightest", *finite_methods), hint=hint)


def _check_used(name: str, value: float | None, method: str, users: tuple[str, ...]) -> None:
    if value is not None and method not in users:
        alternatives = " or ".join(repr(user) for user in users)
        raise ValueError(
            f"{name}={value!r} is not used by method={method!r} here: leave it"
            f" out{f', or pass method={alternatives}' if users else ''}."
        )


def _check_auc(name: str, auc: float | None, *, needed: bool) -> float | None:
    if auc is not None:
        return check_number(name, auc, 0.0, 1.0)
    if needed:
        raise ValueError(f"method='kl' depends on the AUC, but {name} is None: pass it.")
    return None


def _check_single_function(name: str, value: float | None, function_class: Functions) -> None:
    if value is not None and function_class is not None:
        raise ValueError(
            f"{name}={value!r} is for one function, but function_class={shown(function_class)} has"
            f" several: leave {name} out."
        )


def auc_fold_mean_bound(
    n_pos: Sequence[int],
    n_neg: Sequence[int],
    delta: float,
    *,
    n_functions: int = 1,
    method: Literal["mcdiarmid", "hoeffding"] = "hoeffding",
    side: Side = "both",
) -> Bound:
    """Bound how far the mean AUC of folds is from the mean expected AUC of the fold models.

    The mean over folds of ``sqrt(ln(2 |F|/delta) / (2 min(n_pos, n_neg)))``, or with "mcdiarmid"
    of ``sqrt(ln(2 |F|/delta) (n_pos + n_neg) / (2 n_pos n_neg))``.

    Parameters
    ----------
    n_pos : sequence of int
        Number of positives of each held-out fold, at least 0.
    n_neg : sequence of int
        Number of negatives of each fold, at least 0.
    delta : float
        Probability that the bound fails, in (0, 1). A smaller value gives a larger bound.
    n_functions : int, default=1
        Number ``|F|`` of candidates compared on the same folds, at least 1. The bound holds for
        all candidates at once.
    method : {"mcdiarmid", "hoeffding"}, default="hoeffding"
        Inequality for one fold; "hoeffding" is always smaller.
    side : {"both", "lower", "upper"}, default="both"
        "lower" bounds how far the expected mean is below the observed one (a lower limit for it),
        "upper" how far it is above, "both" both at once.

    Returns
    -------
    Bound
        Bound of the deviation of the mean, at most 1.

    Raises
    ------
    TypeError
        If a count is not a whole number.
    ValueError
        If an argument is out of range, or if ``n_pos`` and ``n_neg`` have different lengths.

    See Also
    --------
    auc_bound : Bound for one held-out set.

    Notes
    -----
    The folds depend on each other, because each is training data of the others. So K folds give no
    stronger guarantee than one, although their mean varies less. The bound holds under any
    dependence, also for repeated folds that share items. It does not apply to the model that is
    finally fitted to all rows. The guide "Proofs of bounds" has the proof.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 5 for a fold.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_fold_mean_bound
    >>> print(auc_fold_mean_bound([20] * 5, [180] * 5, 0.05))
    With probability 0.95 given the labels: |mean AUC of the folds - mean expected AUC of their \
models| <= 0.3037.
    Proof: sklearn_rank, Proofs of bounds, Theorem 5.
    It holds where each fold is scored by a model that was trained without it; items are \
independent given their labels.
    """
    n_functions = check_whole("n_functions", n_functions)
    check_choice("method", method, ("mcdiarmid", "hoeffding"))
    check_choice("side", side, get_args(Side))
    delta = check_share("delta", delta, what="the probability of failure")
    counts = [_of_folds(name, numbers) for name, numbers in (("n_pos", n_pos), ("n_neg", n_neg))]
    n_folds, n_folds_neg = map(len, counts)
    if n_folds != n_folds_neg:
        raise ValueError(f"n_pos has {n_folds} folds, but n_neg has {n_folds_neg}: pass both.")
    log_delta = log(delta) - log(n_functions)
    sizes = zip(*counts, strict=True)
    widths = [finite_width(m, n, log_delta, method, None, side) for m, n in sizes]
    target = deviations("mean AUC of the folds", "mean expected AUC of their models")[side]
    assumptions = ("each fold is scored by a model that was trained without it", INDEPENDENT)
    value = min(sum(widths) / n_folds, 1.0)
    return Bound(value, f"{OURS}, Theorem 5", target, delta, "the labels", assumptions)


def _of_folds(name: str, counts: Sequence[int]) -> list[int]:
    values = [] if isinstance(counts, str) or not hasattr(counts, "__iter__") else list(counts)
    if not values:
        raise ValueError(f"{name}={counts!r} must list the number of items of each fold.")
    return [check_count(f"{name}[{fold}]", count, 0) for fold, count in enumerate(values)]
