"""Bounds of linear rank statistics, of the precision at the top, and by margins.

For n items, k of them positive, ``W_n/k`` is the mean over the positives of ``phi(R/(n+1))``, R
their ascending ranks among all, and ``W_phi = E[phi(F(s)) | positive]`` with F the distribution of
all scores, phi nondecreasing. With labels held fixed, F is the mixture that has k/n positives.

Let a positive be above the threshold of the population with probability a, and a negative with
probability b: ``n_pos a + n_neg b = tau n``. Of the items of the test set K positives and N
negatives are above it, both binomial given the labels. Somewhere the list has K positives and N
negatives up to there, so that limits for K and N exclude all that are off its curve.

Margin bounds are about ``f(x) = <w, Phi(x)>`` with ``|w| <= norm`` and ``|Phi(x)| <= radius``, Phi
a map that does not depend on the sample, and are not cut off at 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil, inf, isinf, log, sqrt
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from .._order import top_mass
from .._typing import FloatArray
from .._validation import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_scores,
    check_share,
    check_vector,
    check_whole,
)
from ._auc import log_binomial_sum
from ._bound import (
    FIXED_FUNCTION,
    INDEPENDENT,
    NEGLIGIBLE,
    OURS,
    Bound,
    Labels,
    Side,
    bisect,
    condition,
    deviations,
    mean_limits,
    of_side,
)

# Under the largest or the middle rank of a tied block, two that order the same items alike but for
# their ties may differ by phi(1) less the mean of phi.
SAME_TIES = "tied items are in random order, or all have the largest rank, in W_n and W_phi alike"


def pooled_distribution_bound(n: int, delta: float, *, labels: Labels = "fixed") -> Bound:
    """Bound how far the distribution function of a pooled sample is from its expectation.

    ``sup |F_n - F| <= sqrt(ln(2/delta) / (2 n))`` for random labels, and
    ``sqrt((1 + ln(2/delta)) / (2 n))`` for fixed ones.

    Parameters
    ----------
    n : int
        Number of items, at least 1.
    delta : float
        Probability that the bound fails, in (0, 1). A smaller value gives a larger bound.
    labels : {"fixed", "random"}, default="fixed"
        With random labels the scores are a sample of F. With fixed labels they are not identically
        distributed, and F is the mean of their distributions.

    Returns
    -------
    Bound
        Bound of the largest difference, at most 1.

    Raises
    ------
    TypeError
        If a number of items is not a whole number.
    ValueError
        If an argument is out of range.

    See Also
    --------
    linear_rank_bound : Uses this bound.

    Notes
    -----
    The bound is for one fixed scoring function, with or without ties.

    References
    ----------
    .. [1] Massart (1990), *The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality*,
       Annals of Probability 18.
    .. [2] Shorack & Wellner (1986), *Empirical Processes with Applications to Statistics*, 25.1.

    Examples
    --------
    >>> from sklearn_rank.bounds import pooled_distribution_bound
    >>> round(pooled_distribution_bound(1000, 0.05, labels="random").value, 4)
    0.0429
    >>> round(pooled_distribution_bound(1000, 0.05).value, 4)
    0.0484
    """
    n = check_count("n", n)
    delta = check_share("delta", delta, what="the probability of failure")
    check_choice("labels", labels, get_args(Labels))
    value = min(_pooled(n, -log(delta), labels), 1.0)
    theorem = {
        "random": "Dvoretzky, Kiefer & Wolfowitz (1956), constant of Massart (1990)",
        "fixed": "Bretagnolle (1980), in Shorack & Wellner (1986), Inequality 25.1.2",
    }[labels]
    return Bound(value, theorem, "sup |F_n - F|", delta, *_given(labels))


def linear_rank_bound(
    n: int,
    n_pos: int,
    delta: float,
    *,
    lipschitz: float,
    height: float = 1.0,
    labels: Labels = "fixed",
) -> Bound:
    """Bound how far a linear rank statistic is from its population value, for a Lipschitz phi.

    ``lipschitz (1/(n+1) + eps) + height sqrt(ln(4/delta) / (2 n_pos))``, where eps is
    :func:`pooled_distribution_bound` at ``delta / 2``.

    Parameters
    ----------
    n : int
        Number of items, at least 1.
    n_pos : int
        Number of positives among them, at least 1.
    delta : float
        Probability that the bound fails, in (0, 1); each of its two parts has half of it. A
        smaller value gives a larger bound.
    lipschitz : float
        Smallest L with ``|phi(u) - phi(v)| <= L |u - v|``, finite and at least 0. None, for a phi
        with an unknown constant, raises an error.
    height : float, default=1.0
        Height ``phi(1) - phi(0)``, at least 0.
    labels : {"fixed", "random"}, default="fixed"
        "fixed" is given the labels, with W_phi at the share of positives ``n_pos / n``. "random"
        draws the labels with the items, with W_phi at the share of positives in the population.

    Returns
    -------
    Bound
        Bound of ``|W_n/k - W_phi|``, at most ``height``.

    Raises
    ------
    TypeError
        If a number of items is not a whole number.
    ValueError
        If an argument is out of range, such as an infinite Lipschitz constant.

    See Also
    --------
    linear_rank_sandwich_bound : Much smaller for a peaked phi; needs no Lipschitz constant.
    linear_rank_selection_bound : Bound for the best function of a class.

    Notes
    -----
    The scoring function must not depend on the items. The bound holds if tied items get the mean
    of phi over their ranks, as in ``linear_rank_score``, with W_phi the mean over their orders. It
    also holds if they all have the largest rank, as in Definition 1 of the paper.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, proof of Proposition 5.

    Examples
    --------
    >>> from sklearn_rank.bounds import linear_rank_bound
    >>> print(linear_rank_bound(4000, 1000, 0.05, lipschitz=1.0))
    With probability 0.95 given the labels: |W_n/k - W_phi| <= 0.073.
    Proof: Clémençon & Vayatis (2009), proof of Proposition 5, with constants.
    It holds where the ranking function does not depend on the test set; items are independent \
given their labels; tied items are in random order, or all have the largest rank, in W_n and \
W_phi alike.
    """
    n, n_pos = _check_sizes(n, n_pos)
    delta = check_share("delta", delta, what="the probability of failure")
    check_choice("labels", labels, get_args(Labels))
    lipschitz, height = _check_phi(lipschitz, height)
    log_inverse = log(2.0) - log(delta)
    value = lipschitz * (1.0 / (n + 1.0) + _pooled(n, log_inverse, labels))
    value += height * sqrt((log(2.0) + log_inverse) / (2.0 * n_pos))
    theorem = "Clémençon & Vayatis (2009), proof of Proposition 5, with constants"
    target = deviations("W_n/k", "W_phi")["both"]
    return Bound(min(value, height), theorem, target, delta, *_given(labels, SAME_TIES))


def linear_rank_sandwich_bound(
    rank_pos: ArrayLike,
    n: int,
    delta: float,
    phi: Callable[[FloatArray], Any],
    *,
    method: Literal["kl", "hoeffding"] = "kl",
    side: Side = "both",
    labels: Labels = "fixed",
) -> Bound:
    """Bound how far a linear rank statistic is from its population value, for any bounded phi.

    ``mean phi((R-1)/n - eps) - h <= W_phi <= mean phi(R/n + eps) + h`` with means over the
    positives. eps is :func:`pooled_distribution_bound` and h the bound of a mean of independent
    values ("hoeffding", or the limits of "kl"), both at ``delta / 2``.

    Parameters
    ----------
    rank_pos : array-like of shape (n_pos,)
        Ascending ranks of the positives among all n items, in [1, n]. Tied items have the ranks of
        their block in random order, with W_phi the mean over such orders, or all have its largest
        rank, as in Definition 1 of the paper.
    n : int
        Number of items, at least 1.
    delta : float
        Probability that the bound fails, in (0, 1). A smaller value gives a larger bound.
    phi : callable
        Nondecreasing, bounded function on [0, 1] that takes arrays. It may have jumps.
    method : {"kl", "hoeffding"}, default="kl"
        Inequality for the mean; "kl" is never larger than "hoeffding".
    side : {"both", "lower", "upper"}, default="both"
        "lower" bounds how far W_phi is below ``W_n/k`` (a lower limit for it), "upper" how far it
        is above, "both" both at once. For one side the bound of the mean is smaller; eps is the
        same.
    labels : {"fixed", "random"}, default="fixed"
        As in :func:`linear_rank_bound`.

    Returns
    -------
    Bound
        Bound of the deviation from ``mean phi(R/(n+1))`` over the positives.

    Raises
    ------
    TypeError
        If a number of items is not a whole number.
    ValueError
        If an argument is out of range, or if phi decreases or is infinite on [0, 1].

    See Also
    --------
    linear_rank_bound : Bound from counts only.
    sklearn_rank.inference.metric_interval : Interval from labels and scores, by method "dkw".

    Notes
    -----
    The shift costs nothing where phi is constant, which measures of the top are away from the top.
    The guide "Proofs of bounds" has the proof.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Proposition 5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.bounds import linear_rank_bound, linear_rank_sandwich_bound
    >>> def phi(u):
    ...     return np.exp(-20 * (1 - u))
    >>> rank_pos = np.arange(1, 4001)[np.arange(4000) % 4 == 0]
    >>> round(linear_rank_sandwich_bound(rank_pos, 4000, 0.05, phi).value, 3)
    0.053
    >>> round(linear_rank_bound(4000, 1000, 0.05, lipschitz=20.0).value, 3)
    0.571
    """
    n = check_count("n", n)
    rank = check_vector("rank_pos", rank_pos)
    if not np.all((rank >= 1) & (rank <= n)):
        raise ValueError(f"rank_pos must be ranks in [1, n={n}], at least one.")
    _check_sizes(n, len(rank))
    delta = check_share("delta", delta, what="the probability of failure")
    check_choice("method", method, ("kl", "hoeffding"))
    check_choice("side", side, get_args(Side))
    check_choice("labels", labels, get_args(Labels))
    eps = _pooled(n, log(2.0) - log(delta), labels)
    points = (np.maximum((rank - 1.0) / n - eps, 0.0), np.minimum(rank / n + eps, 1.0))
    floor, *means, ceiling = (
        float(np.mean(np.asarray(phi(shares), dtype=np.float64)))
        for shares in (np.zeros(1), points[0], rank / (n + 1.0), points[1], np.ones(1))
    )
    if not np.isfinite([floor, *means, ceiling]).all():
        raise ValueError("phi must be finite on [0, 1]: an unbounded phi has no such bound.")
    # Means of equal values differ from them by a rounding.
    slack = NEGLIGIBLE * max(abs(floor), abs(ceiling))
    if min(np.diff([floor, *means, ceiling])) < -slack:
        raise ValueError("phi must not decrease: pass a nondecreasing function.")
    log_inverse = (2.0 if side == "both" else 1.0) * log(2.0) - log(delta)
    height = ceiling - floor
    low = high = floor
    if height != 0.0:
        scaled = np.clip((np.array([means[0], means[2]]) - floor) / height, 0.0, 1.0)
        ends = np.clip(mean_limits(method, scaled, len(rank), log_inverse), 0.0, 1.0)
        low, high = (floor + height * float(end) for end in np.diagonal(ends))
    value = max(of_side(side, means[1] - low, high - means[1]), 0.0)
    given = _given(labels, SAME_TIES)
    target = deviations("W_n/k", "W_phi")[side]
    return Bound(value, f"{OURS}, Theorem 8", target, delta, *given)


def linear_rank_selection_bound(
    n: int,
    n_pos: int,
    delta: float,
    *,
    vc_dimension: int,
    lipschitz: float,
    height: float = 1.0,
    labels: Labels = "fixed",
) -> Bound:
    """Bound the regret of the scoring function with the largest linear rank statistic.

    ``2 (lipschitz (1/(n+1) + u(n)) + height u(n_pos))`` with
    ``u(N) = sqrt(2 (ln S(N) + ln(4/delta)) / N)``, ``S(N) = sum_{i<=V} binom(N, i)``.

    Parameters
    ----------
    n : int
        Number of items, at least 1.
    n_pos : int
        Number of positives among them, at least 1.
    delta : float
        Probability that the bound fails, in (0, 1). A smaller value gives a larger bound.
    vc_dimension : int
        Vapnik-Chervonenkis dimension V of the sets ``{x : s(x) <= t}``, for all scoring functions
        s of the class and all t; at least 1. Linear functions of d features have d + 1.
    lipschitz : float
        Smallest L with ``|phi(u) - phi(v)| <= L |u - v|``, finite and at least 0. None, for a phi
        with an unknown constant, raises an error.
    height : float, default=1.0
        Height ``phi(1) - phi(0)``, at least 0.
    labels : {"fixed", "random"}, default="fixed"
        As in :func:`linear_rank_bound`; the value is the same.

    Returns
    -------
    Bound
        Bound of the best W_phi of the class minus that of the empirical maximiser. It can exceed
        ``height``, where it is vacuous. Half of it bounds ``|W_n/k - W_phi|`` over the class.

    Raises
    ------
    TypeError
        If a number of items is not a whole number.
    ValueError
        If an argument is out of range.

    See Also
    --------
    linear_rank_bound : Bound for one function.
    auc_bound : Much smaller bound for the AUC.

    Notes
    -----
    The bound is Theorem 8 of the paper with explicit constants; the proof needs no second
    derivative of phi.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Theorem 8.

    Examples
    --------
    >>> from sklearn_rank.bounds import linear_rank_selection_bound
    >>> for n in (1_000, 100_000, 10_000_000):
    ...     found = linear_rank_selection_bound(
    ...         n, n // 2, 0.05, vc_dimension=3, lipschitz=1.0
    ...     )
    ...     print(n, round(found.value, 3))
    1000 1.017
    100000 0.129
    10000000 0.015
    """
    n, n_pos = _check_sizes(n, n_pos)
    delta = check_share("delta", delta, what="the probability of failure")
    vc_dimension = check_count("vc_dimension", vc_dimension)
    check_choice("labels", labels, get_args(Labels))
    lipschitz, height = _check_phi(lipschitz, height)

    def uniform(size: int) -> float:
        sets = log_binomial_sum(size, vc_dimension + 1)
        return sqrt(2.0 * (sets + 2.0 * log(2.0) - log(delta)) / size)

    value = 2.0 * (lipschitz * (1.0 / (n + 1.0) + uniform(n)) + height * uniform(n_pos))
    theorem = f"Clémençon & Vayatis (2009), Theorem 8, with constants of {OURS}, Theorem 9"
    target = "best W_phi of the class - W_phi of the largest W_n"
    of_class = "the class of functions does not depend on the sample"
    return Bound(value, theorem, target, delta, *_given(labels, SAME_TIES, functions=of_class))


def plug_in_rank_bound(error: float, prevalence: float, *, height: float = 1.0) -> Bound:
    """Bound the regret of ranking by an estimate of the probability of the positive class.

    ``W_phi(eta) - W_phi(eta_hat) <= height E|eta_hat - eta| / p``, without ties or with tied items
    in random order.

    Parameters
    ----------
    error : float
        ``E|eta_hat(X) - eta(X)|``, the mean error of the estimate, in [0, 1].
    prevalence : float
        Share p of positives, in (0, 1).
    height : float, default=1.0
        Height ``phi(1) - phi(0)``, at least 0.

    Returns
    -------
    Bound
        Bound of the regret, at most ``height``.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    linear_rank_selection_bound : Regret of maximising the statistic.

    Notes
    -----
    The bound printed in the paper, ``(1 - p) sup|phi'| E|eta_hat - eta|``, is false
    (:doc:`/theory/index`). An upper limit for the error gives an upper limit for the regret.

    If eta or eta_hat has ties, W_phi is the mean over the orders of the tied items, as
    ``linear_rank_score(ties="average")`` estimates it. If all items of a block of ties have its
    largest rank, the bound is false.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Remark 3, corrected.

    Examples
    --------
    >>> from sklearn_rank.bounds import plug_in_rank_bound
    >>> print(plug_in_rank_bound(0.01, 0.25))
    Always: W_phi(eta) - W_phi(eta_hat) <= 0.04.
    Proof: Clémençon & Vayatis (2009), Remark 3, corrected.
    It holds where tied items are in random order in W_phi, or there are no ties.
    """
    error = check_number("error", error, 0.0, 1.0, what="a mean of |eta_hat - eta|")
    prevalence = check_share("prevalence", prevalence, what="the share of positives")
    _, height = _check_phi(0.0, height)
    value = min(error / prevalence, 1.0) * height
    theorem = "Clémençon & Vayatis (2009), Remark 3, corrected"
    ties = "tied items are in random order in W_phi, or there are no ties"
    return Bound(value, theorem, "W_phi(eta) - W_phi(eta_hat)", assumptions=(ties,))


def _pooled(n: int, log_inverse: float, labels: Labels) -> float:
    """Bound of ``sup |F_n - F|``, given the logarithm of ``1 / delta``."""
    return sqrt((log(2.0) + log_inverse + (1.0 if labels == "fixed" else 0.0)) / (2.0 * n))


def _given(
    labels: Labels, *more: str, functions: str = FIXED_FUNCTION
) -> tuple[str, tuple[str, ...]]:
    """Condition of the probability, and the assumptions."""
    together = "items and labels are drawn together, independently"
    drawn = INDEPENDENT if labels == "fixed" else together
    return condition(labels), (functions, drawn, *more)


def _check_sizes(n: int, n_pos: int) -> tuple[int, int]:
    n, n_pos = check_count("n", n), check_count("n_pos", n_pos)
    if n_pos > n:
        raise ValueError(f"n_pos={n_pos!r} positives cannot be among n={n!r} items.")
    return n, n_pos


def _check_phi(lipschitz: float, height: float) -> tuple[float, float]:
    if lipschitz is None or lipschitz == inf:
        raise ValueError(
            f"lipschitz={lipschitz} must be a finite number, which no phi that jumps has: define"
            " the property lipschitz of this phi, or use linear_rank_sandwich_bound."
        )
    return (
        check_number("lipschitz", lipschitz, 0.0, inf, closed="left"),
        check_number("height", height, 0.0, inf, closed="left", what="phi(1) - phi(0)"),
    )


TIES_IN_RANDOM_ORDER = "tied items of the population are in random order, or there are none"


def precision_at_top_bound(
    rank_pos: ArrayLike,
    n: int,
    delta: float,
    *,
    tau: float,
    n_functions: int = 1,
    side: Side = "lower",
) -> Bound:
    """Bound how far the precision at the top of a sample is from that of the population.

    With ``K ~ Binomial(n_pos, pi tau n / n_pos)`` and
    ``N ~ Binomial(n_neg, (1 - pi) tau n / n_neg)`` let k be the upper quantile of K and m the
    lower quantile of N, both at ``delta / (2 n_functions)``. The lower limit is the smallest pi
    for which the list has at least m negatives above its (k + 1)-th positive. The upper limit is
    the lower limit with the classes exchanged.

    Parameters
    ----------
    rank_pos : array-like of shape (n_pos,)
        Ascending ranks of the positives among all n items, distinct whole numbers in [1, n]. Break
        ties with the negatives nearer to the top for ``side="lower"``, and with the positives
        nearer to the top for "upper"; the bound is then valid.
    n : int
        Number of items of both classes.
    delta : float
        Probability that the bound fails, in (0, 1). A smaller value gives a larger bound.
    tau : float
        Share of the population that forms the top, in (0, 1).
    n_functions : int, default=1
        Number of functions compared on the same items, at least 1. The bound holds for all
        functions at once.
    side : {"both", "lower", "upper"}, default="lower"
        "lower" bounds how far the precision of the population is below that of the test set (a
        lower limit for it), "upper" how far it is above, "both" both at once.

    Returns
    -------
    Bound
        Bound of the deviation from the share of positives among the first
        ``max(1, floor(tau n + 1/2))`` items, at most 1.

    Raises
    ------
    TypeError
        If a number of items is not a whole number.
    ValueError
        If an argument is out of range, or if there are no negatives.

    See Also
    --------
    linear_rank_sandwich_bound : Bound for measures with smoothly decreasing weights.
    sklearn_rank.inference.metric_interval : Interval from labels and scores, for random
        labels.

    Notes
    -----
    The bound is given the labels: the population has the share of positives of the test set.
    Nothing is assumed about the scores. The guide "Proofs of bounds" has the proof. The time is
    O(n_pos log n_pos).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.bounds import precision_at_top_bound
    >>> rank_pos = np.unique(1000 - np.arange(200) ** 2 // 50)  # 58 of the first 100
    >>> print(precision_at_top_bound(rank_pos, 1000, 0.05, tau=0.1))
    With probability 0.95 given the labels: precision at the top - that of the population <= \
0.1312.
    Proof: sklearn_rank, Proofs of bounds, Theorem 10.
    It holds where the ranking function does not depend on the test set; items are independent \
given their labels; tied items of the population are in random order, or there are none.
    """
    n = check_count("n", n)
    delta = check_share("delta", delta, what="the probability of failure")
    tau = check_share("tau", tau, what="the share of the top")
    n_functions = check_whole("n_functions", n_functions)
    check_choice("side", side, get_args(Side))
    rank = np.sort(check_vector("rank_pos", rank_pos))[::-1]
    is_rank = np.all((rank >= 1) & (rank <= n) & (rank == np.floor(rank)))
    if not is_rank or len(np.unique(rank)) < len(rank):
        raise ValueError(f"rank_pos must be distinct whole numbers in [1, n={n}], at least one.")
    if len(rank) == n:
        raise ValueError(f"All n={n} items are positive: there is no precision to bound.")
    of_neg = np.setdiff1d(np.arange(1.0, n + 1.0), rank)[::-1]
    top = top_mass(np.ones(n), tau)[0]
    precision = float(np.count_nonzero(rank > n - top)) / top
    tails = np.array([log(delta) - log(n_functions) - (log(2.0) if side == "both" else 0.0)])
    others_above = (n - ranks - np.arange(float(len(ranks))) for ranks in (rank, of_neg))
    low, misses = (
        float(top_precision_limits(above[np.newaxis], n, tau, tails)[0]) for above in others_above
    )
    value = max(of_side(side, precision - low, 1.0 - misses - precision), 0.0)
    given = _given("fixed", TIES_IN_RANDOM_ORDER)
    deviation = deviations("precision at the top", "that of the population")[side]
    return Bound(value, f"{OURS}, Theorem 10", deviation, delta, *given)


def top_precision_limits(
    neg_above: FloatArray, n: int, tau: float, log_deltas: FloatArray
) -> FloatArray:
    """Find lower limits for the precision at the top of the population, labels fixed.

    The limits, rounded outwards. Shape (n_functions,).
    """
    n_functions, n_pos = neg_above.shape
    n_neg, mass = n - n_pos, tau * n
    curve = np.column_stack([neg_above, np.full(n_functions, n_neg)])
    rows, tail = np.arange(n_functions), np.exp(log_deltas) / 2.0

    def is_possible(precision: Any) -> Any:
        most = binom.isf(tail, n_pos, np.minimum(precision * mass / n_pos, 1.0))
        above = np.minimum((1.0 - precision) * mass / n_neg, 1.0)
        fewest = binom.ppf(tail, n_neg, above)
        return curve[rows, most.astype(np.intp)] >= fewest

    highest = np.full(n_functions, min(1.0, n_pos / mass))
    return bisect(is_possible, highest, max(0.0, 1.0 - n_neg / mass))[1]


# ---------------------------------------------------------------------------------------- margins

# radius * norm / rho takes the values GRID^j, j = 0, 1, ..., of which each has its share
# 1 / ((j + 1) (j + 2)) of delta. A finer grid fits better and has smaller shares.
GRID = 1.1


def margin_loss(margins: FloatArray, rho: float) -> float:
    """Mean of ``Phi_rho(u)``: 1 for a margin u <= 0, then ``1 - u/rho`` down to 0.

    At least the share of negative margins, at most that of margins below rho (Boyd et al. 2012,
    Equation 5).
    """
    return float(np.mean(np.clip(1.0 - margins / rho, 0.0, 1.0)))


def auc_margin_loss(score_pos: FloatArray, score_neg: FloatArray, rho: float) -> float:
    """Mean of ``Phi_rho(s - t)`` over all pairs of a positive's score s and a negative's t."""
    ordered = np.sort(score_neg)
    # Differences from the middle keep the sums small.
    middle = ordered[len(ordered) // 2]
    sums = np.concatenate(([0.0], np.cumsum(ordered - middle)))
    stop = np.searchsorted(ordered, score_pos, "left")
    start = np.minimum(np.searchsorted(ordered, score_pos - rho, "right"), stop)
    within = (stop - start) * (1.0 - (score_pos - middle) / rho)
    within += (sums[stop] - sums[start]) / rho
    total = np.sum(within + (len(ordered) - stop))
    return float(np.clip(total / (len(score_pos) * len(ordered)), 0.0, 1.0))


def accuracy_at_top_margin_bound(
    margins_neg: ArrayLike,
    margins_pos: ArrayLike,
    delta: float,
    *,
    radius: float,
    norm: float,
    rho: float | None = None,
    design: Literal["bipartite", "pairs"] = "bipartite",
    squares: tuple[float, float] | None = None,
    fixed: bool = False,
) -> Bound:
    """Bound the accuracy-at-the-top risk of a learned function at a learned threshold, by margins.

    ``R(h, t) = 1/2 (P(h(x) > t | negative) + P(h(x) < t | positive))`` is at most the margin loss
    plus ``(2 r L / rho) (1/sqrt(k_neg) + 1/sqrt(k_pos))`` plus
    ``sqrt(ln(1/delta) (1/k_neg + 1/k_pos) / 8)``, or with m pairs ``4 r L / (rho sqrt(m))`` plus
    ``sqrt(ln(1/delta) / (2 m))``, for all functions of norm L and all thresholds t at once.

    Parameters
    ----------
    margins_neg : array-like of shape (k_neg,)
        Margins ``t - h(x)`` of the negatives, whose scores should not exceed the threshold t.
    margins_pos : array-like of shape (k_pos,)
        Margins ``h(x) - t`` of the positives. All scores h(x) must lie within ``radius * norm`` of
        a common number, which allows for an intercept.
    delta : float
        Probability that the bound fails, in (0, 1). A smaller value gives a larger bound.
    radius : float
        Number r with ``|Phi(x)| <= r`` for all x, positive. It must be known before the data: the
        largest value in the sample is not valid.
    norm : float
        Norm L of the learned weights, positive.
    rho : float or None, default=None
        Margin, positive. None takes the margin with the smallest bound.
    design : {"bipartite", "pairs"}, default="bipartite"
        "bipartite" assumes negatives and positives drawn independently, and the bound is given the
        labels. "pairs" assumes independent pairs of a negative and a positive, with margin i of
        each side in pair i (Theorem 1).
    squares : tuple of (float, float) or None, default=None
        Mean of ``|Phi(x)|^2`` over the negatives and over the positives. If given, the bound uses
        empirical complexities: ``sqrt(mean square)`` replaces r in the complexity terms, and the
        last term is multiplied by 3 and taken at ``delta / 2``.
    fixed : bool, default=False
        Whether ``norm`` (then a bound on the norm) and ``rho`` were chosen before the data were
        seen. If False, delta is split over a grid of ``radius * norm / rho``.

    Returns
    -------
    Bound
        Bound of R(h, t); it can exceed 1.

    Raises
    ------
    TypeError
        If ``fixed`` is not True or False.
    ValueError
        If an argument is out of range, if the margins are impossible for ``radius`` and ``norm``,
        if "pairs" have sides of different lengths, or if ``fixed=True`` without ``rho``.

    See Also
    --------
    sklearn_rank.AccuracyAtTopRanker.margin_bound : The bound of a fitted ranker.
    auc_margin_bound : Margin bound of the AUC.

    Notes
    -----
    The bound holds at the learned threshold t, not at the quantile of h in the population
    (Corollary 1), which is unknown. For bipartite data "bipartite" gives the smaller bound.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.bounds import accuracy_at_top_margin_bound
    >>> margins = np.full(40_000, 0.5)
    >>> size = {"radius": 1.0, "norm": 1.0}
    >>> print(accuracy_at_top_margin_bound(margins, margins, 0.05, **size))
    With probability 0.95 given the labels: R(h, t) <= 0.04972.
    Proof: Boyd et al. (2012), Theorem 1, for two samples; sklearn_rank, Proofs of bounds, \
Theorem 6.
    It holds where rho = 0.466507, of a grid of radius * norm / rho; |Phi(x)| <= 1 for every x, \
and Phi does not depend on the sample; items are independent given their labels.
    """
    neg = check_scores(margins_neg, name="margins_neg")
    pos = check_scores(margins_pos, name="margins_pos")
    delta = check_share("delta", delta, what="the probability of failure")
    check_choice("design", design, ("bipartite", "pairs"))
    radius, half_range, rho = _check_functions(radius, norm, rho, fixed)
    _check_range("margins_neg and margins_pos", -neg, pos, half_range)
    if design == "pairs" and len(neg) != len(pos):
        raise ValueError(
            f"design='pairs' has {len(neg)} margins_neg, but {len(pos)} margins_pos: pass both"
            " margins of each pair, or design='bipartite'."
        )
    size_neg = size_pos = 1.0
    if squares is not None:
        if np.shape(squares) != (2,):
            raise ValueError(f"squares={squares!r} must be two, of negatives and positives.")
        # Roots as shares of the radius; a mean of squares may exceed its square by a rounding.
        most = radius * radius * (1.0 + 1e-12)
        what = "a mean of |Phi(x)|^2, at most radius^2"
        size_neg, size_pos = (
            sqrt(check_number(f"squares[{i}]", mean, 0.0, most, what=what)) / radius
            for i, mean in enumerate(squares)
        )
    root_neg, root_pos = 1.0 / sqrt(len(neg)), 1.0 / sqrt(len(pos))
    complexity = (1.0 + size_neg) * root_neg + (1.0 + size_pos) * root_pos
    share = 0.5 / len(neg) if design == "pairs" else (1.0 / len(neg) + 1.0 / len(pos)) / 8.0
    log_inverse = -log(delta)
    if squares is not None:
        share, log_inverse = 9.0 * share, log_inverse + log(2.0)

    def loss(margin: float) -> float:
        return (margin_loss(neg, margin) + margin_loss(pos, margin)) / 2.0

    value, margin = _smallest(loss, complexity, share, log_inverse, half_range, rho, fixed)
    theorem, given, assumption = "Boyd et al. (2012), Theorem 1", "", "pairs are independent"
    if design == "bipartite":
        theorem += f", for two samples; {OURS}, Theorem 6"
        given, assumption = "the labels", INDEPENDENT
    assumptions = (*_of_class(radius, margin, fixed), assumption)
    return Bound(value, theorem, "R(h, t)", delta, given, assumptions)


def auc_margin_bound(
    score_pos: ArrayLike,
    score_neg: ArrayLike,
    delta: float,
    *,
    radius: float,
    norm: float,
    rho: float | None = None,
    fixed: bool = False,
) -> Bound:
    """Bound ``1 - expected AUC`` of a learned function by the margins of its training pairs.

    The margin loss over all pairs, plus ``4 r L / (rho sqrt(min(n_pos, n_neg)))``, plus
    ``sqrt((n_pos + n_neg) ln(1/delta) / (2 n_pos n_neg))``, for all functions of norm L at once.

    Parameters
    ----------
    score_pos : array-like of shape (n_pos,)
        Scores of the positives of the training set.
    score_neg : array-like of shape (n_neg,)
        Scores of its negatives. All scores must lie within ``radius * norm`` of a common number,
        which allows for an intercept.
    delta : float
        Probability that the bound fails, in (0, 1). A smaller value gives a larger bound.
    radius : float
        Number r with ``|Phi(x)| <= r`` for all x, positive. It must be known before the data: the
        largest value in the sample is not valid. 1 for a Gaussian kernel.
    norm : float
        Norm L of the learned weights, positive.
    rho : float or None, default=None
        Margin, positive. None takes the margin with the smallest bound.
    fixed : bool, default=False
        Whether ``norm`` (then a bound on the norm) and ``rho`` were chosen before the data were
        seen. If False, delta is split over a grid of ``radius * norm / rho``.

    Returns
    -------
    Bound
        Bound of 1 - expected AUC; it can exceed 1.

    Raises
    ------
    TypeError
        If ``fixed`` is not True or False.
    ValueError
        If an argument is out of range, if the scores are impossible for ``radius`` and ``norm``,
        or if ``fixed=True`` without ``rho``.

    See Also
    --------
    auc_bound : Bound by the number of features.
    accuracy_at_top_margin_bound : Margin bound at a threshold.

    Notes
    -----
    The bound answers the paper's open question on margin bounds; the guide "Proofs of bounds" has
    the proof. Ties count 1 in the loss and 1/2 in the AUC. The bound does not depend on the
    dimension, so it holds for kernels.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.bounds import auc_margin_bound
    >>> pos, neg = np.full(10_000, 0.5), np.full(40_000, -0.5)
    >>> found = auc_margin_bound(pos, neg, 0.05, radius=1.0, norm=1.0)
    >>> round(found.value, 4)
    0.0552
    """
    pos, neg = check_vector("score_pos", score_pos), check_vector("score_neg", score_neg)
    delta = check_share("delta", delta, what="the probability of failure")
    radius, half_range, rho = _check_functions(radius, norm, rho, fixed)
    _check_range("score_pos and score_neg", pos, neg, half_range)
    share = (1.0 / len(pos) + 1.0 / len(neg)) / 2.0
    complexity = 4.0 / sqrt(min(len(pos), len(neg)))
    loss = partial(auc_margin_loss, pos, neg)
    value, margin = _smallest(loss, complexity, share, -log(delta), half_range, rho, fixed)
    assumptions = (*_of_class(radius, margin, fixed), INDEPENDENT)
    return Bound(value, f"{OURS}, Theorem 7", "1 - expected AUC", delta, "the labels", assumptions)


def _smallest(
    loss: Callable[[float], float],
    complexity: float,
    share: float,
    log_inverse: float,
    half_range: float,
    rho: float | None,
    fixed: bool,
) -> tuple[float, float]:
    """Bound and margin: as given, or of the grid of ``half_range / rho``."""
    if fixed and rho is not None:
        return loss(rho) + complexity * half_range / rho + sqrt(share * log_inverse), rho
    if rho is not None:
        steps = [max(0, ceil(log(half_range / rho) / log(GRID) - NEGLIGIBLE))]
    else:
        # From where on the complexity alone exceeds a bound that is known to hold.
        worst = 1.0 + complexity + sqrt(share * (log_inverse + log(2.0)))
        steps = [*range(max(0, ceil(log(worst / complexity) / log(GRID))) + 1)]
    best, margin = inf, half_range
    for j in steps:
        ratio = GRID**j
        value = complexity * ratio + sqrt(share * (log_inverse + log((j + 1.0) * (j + 2.0))))
        if value < best:
            value += loss(half_range / ratio)
            if value < best:
                best, margin = value, half_range / ratio
    return best, margin


def _of_class(radius: float, margin: float, fixed: bool) -> tuple[str, ...]:
    choice = "fixed beforehand, as the norm is" if fixed else "of a grid of radius * norm / rho"
    return (
        f"rho = {margin:.6g}, {choice}",
        f"|Phi(x)| <= {radius:g} for every x, and Phi does not depend on the sample",
    )


def _check_functions(
    radius: float, norm: float, rho: float | None, fixed: bool
) -> tuple[float, float, float | None]:
    """Check the class of functions: radius, its product with the norm, and rho."""
    radius = _check_positive("radius", radius, "the largest norm that a row can have")
    norm = _check_positive("norm", norm, "the norm of weights that order anything")
    half_range = radius * norm
    if not 0.0 < half_range < inf:
        raise ValueError(
            f"radius={radius!r} times norm={norm!r} is {half_range:g} in floating-point numbers:"
            " scale the features."
        )
    check_flag("fixed", fixed)
    if rho is not None:
        rho = _check_positive("rho", rho, "a margin")
        if isinf(GRID * (half_range / rho)):
            raise ValueError(
                f"rho={rho!r} is so small relative to radius * norm = {half_range:g} that the"
                " bound is infinite: pass a larger rho, or None."
            )
    elif fixed:
        raise ValueError(
            "fixed=True needs a rho that was chosen before the data were seen, but rho is None:"
            " pass it, or fixed=False for a grid."
        )
    return radius, half_range, rho


def _check_positive(name: str, value: float, what: str) -> float:
    return check_number(name, value, 0.0, inf, closed="neither", what=what)


def _check_range(names: str, x: FloatArray, y: FloatArray, half_range: float) -> None:
    scores = np.concatenate([x, y])
    least, most = float(scores.min()), float(scores.max())
    # An infinite threshold puts all rows on one side.
    length = 0.0 if least == most else most - least
    if length > 2.0 * half_range * (1.0 + NEGLIGIBLE):
        raise ValueError(
            f"{names} belong to scores with a range of {length:.6g}, but functions of this norm"
            f" have a range of at most 2 * radius * norm = {2.0 * half_range:.6g}: pass the radius"
            " and norm of these scores."
        )
