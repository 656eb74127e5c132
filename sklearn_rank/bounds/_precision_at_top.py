"""Bound of the deviation of the precision at the top of a test set from the population's.

Let a positive be above the threshold of the population with probability a, and a negative with
probability b: ``n_pos a + n_neg b = tau n``. Of the items of the test set K positives and N
negatives are above it, both binomial given the labels. Somewhere the list has K positives and N
negatives up to there, so that limits for K and N exclude all that are off its curve.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from .._order import top_mass
from .._typing import FloatArray
from .._validation import check_choice, check_count, check_share, check_vector, check_whole
from ._bound import FIXED_FUNCTION, INDEPENDENT, OURS, SIDES, Bound, Side, of_side

TOP_THEOREM = f"{OURS}, Theorem 10"
TIES_IN_RANDOM_ORDER = "tied items of the population are in random order, or there are none"
DEVIATIONS = {
    "both": "|precision at the top - that of the population|",
    "lower": "precision at the top - that of the population",
    "upper": "precision at the top of the population - that of the test set",
}

# Each step halves what is left: at the end neighbours in float64.
N_HALVINGS = 54


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
    sklearn_rank.inference.precision_at_top_interval : Interval from labels and scores, for random
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
    check_choice("side", side, SIDES)
    rank = np.sort(check_vector("rank_pos", rank_pos))[::-1]
    is_rank = np.all((rank >= 1) & (rank <= n) & (rank == np.floor(rank)))
    if not is_rank or len(np.unique(rank)) < len(rank):
        raise ValueError(f"rank_pos must be distinct whole numbers in [1, n={n}], at least one.")
    if len(rank) == n:
        raise ValueError(f"All n={n} items are positive: there is no precision to bound.")
    of_neg = np.setdiff1d(np.arange(1.0, n + 1.0), rank)[::-1]
    top = top_mass(np.ones(n), tau)[0]
    precision = float(np.count_nonzero(rank > n - top)) / top
    log_deltas = np.array([log(delta) - log(n_functions) - (log(2.0) if side == "both" else 0.0)])
    limits = []
    for ranks in (rank, of_neg):
        others_above: Any = (n - ranks - np.arange(len(ranks)))[np.newaxis]
        limits.append(float(top_precision_limits(others_above, n, tau, log_deltas)[0]))
    low, misses = limits
    return Bound(
        value=max(of_side(side, precision - low, 1.0 - misses - precision), 0.0),
        theorem=TOP_THEOREM,
        target=DEVIATIONS[side],
        delta=delta,
        conditioned_on="the labels",
        assumptions=(FIXED_FUNCTION, INDEPENDENT, TIES_IN_RANDOM_ORDER),
    )


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

    accepted = np.full(n_functions, min(1.0, n_pos / mass))
    refused = np.full(n_functions, max(0.0, 1.0 - n_neg / mass))
    for _ in range(N_HALVINGS):
        middle = (accepted + refused) / 2.0
        possible = is_possible(middle)
        accepted = np.where(possible, middle, accepted)
        refused = np.where(possible, refused, middle)
    return refused
