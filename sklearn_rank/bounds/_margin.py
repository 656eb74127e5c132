"""Margin bounds on a training sample, for bounded norms and any dimension.

All are about ``f(x) = <w, Phi(x)>`` with ``|w| <= norm`` and ``|Phi(x)| <= radius``, Phi a map
that does not depend on the sample. A value of 1 or more says nothing, and is not cut off.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, inf, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .._typing import FloatArray
from .._validation import (
    check_choice,
    check_flag,
    check_number,
    check_scores,
    check_share,
    check_vector,
)
from ._bound import INDEPENDENT, OURS, Bound

PAPER = "Boyd et al. (2012)"

# radius * norm / rho takes the values GRID^j, j = 0, 1, ..., of which each has its share
# 1 / ((j + 1) (j + 2)) of delta. A finer grid fits better and has smaller shares.
GRID = 1.1

# A bound from a larger quotient of radius * norm and rho would overflow.
LARGEST_RATIO = 1e300

# By how much scores may exceed radius * norm for being rounded.
ROUNDING = 1e-9


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
    (Corollary 1), which is unknown. Bipartite data contain only ``min(k_neg, k_pos)`` pairs
    without a common row; "bipartite" gives the smaller bound. Thresholds beyond ``radius * norm``
    are covered: there R(h, t) and the margin loss are at least 1/2.

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
    radius, reach, rho = _check_class(radius, norm, rho, fixed)
    _check_reach("margins_neg and margins_pos", -neg, pos, reach)
    if design == "pairs" and len(neg) != len(pos):
        raise ValueError(
            f"design='pairs' has {len(neg)} margins_neg, but {len(pos)} margins_pos: pass both"
            " margins of each pair, or design='bipartite'."
        )
    size_neg = size_pos = 1.0
    if squares is not None:
        is_list = hasattr(squares, "__iter__") and not isinstance(squares, str)
        means = [*squares] if is_list else []
        if len(means) != 2:
            raise ValueError(
                f"squares={squares!r} must be two numbers, for the negatives and for the"
                " positives."
            )
        # Roots as shares of the radius; a mean of squares may exceed its square by a rounding.
        most = radius * radius * (1.0 + 1e-12)
        what = "a mean of |Phi(x)|^2, at most radius^2"
        size_neg, size_pos = (
            sqrt(check_number(f"squares[{i}]", mean, 0.0, most, what=what)) / radius
            for i, mean in enumerate(means)
        )
    root_neg, root_pos = 1.0 / sqrt(len(neg)), 1.0 / sqrt(len(pos))
    complexity = (1.0 + size_neg) * root_neg + (1.0 + size_pos) * root_pos
    share = 0.5 / len(neg) if design == "pairs" else (1.0 / len(neg) + 1.0 / len(pos)) / 8.0

    def deviation(log_inverse: float) -> float:
        if squares is None:
            return sqrt(share * log_inverse)
        return 3.0 * sqrt(share * (log_inverse + log(2.0)))

    def loss(margin: float) -> float:
        return (margin_loss(neg, margin) + margin_loss(pos, margin)) / 2.0

    value, margin = _smallest(loss, complexity, deviation, reach, rho, delta, fixed)
    theorem = f"{PAPER}, Theorem 1"
    if design == "bipartite":
        theorem += f", for two samples; {OURS}, Theorem 6"
    return Bound(
        value=value,
        theorem=theorem,
        target="R(h, t)",
        delta=delta,
        conditioned_on="the labels" if design == "bipartite" else "",
        assumptions=(
            *_of_class(radius, margin, fixed),
            INDEPENDENT if design == "bipartite" else "pairs are independent",
        ),
    )


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
    radius, reach, rho = _check_class(radius, norm, rho, fixed)
    _check_reach("score_pos and score_neg", pos, neg, reach)
    share = (1.0 / len(pos) + 1.0 / len(neg)) / 2.0
    value, margin = _smallest(
        lambda margin: auc_margin_loss(pos, neg, margin),
        4.0 / sqrt(min(len(pos), len(neg))),
        lambda log_inverse: sqrt(share * log_inverse),
        reach,
        rho,
        delta,
        fixed,
    )
    return Bound(
        value=value,
        theorem=f"{OURS}, Theorem 7",
        target="1 - expected AUC",
        delta=delta,
        conditioned_on="the labels",
        assumptions=(*_of_class(radius, margin, fixed), INDEPENDENT),
    )


def _smallest(
    loss: Callable[[float], float],
    complexity: float,
    deviation: Callable[[float], float],
    reach: float,
    rho: float | None,
    delta: float,
    fixed: bool,
) -> tuple[float, float]:
    """Bound and margin: as given, or of the grid of ``reach / rho``."""
    log_inverse = -log(delta)
    if fixed and rho is not None:
        return loss(rho) + complexity * reach / rho + deviation(log_inverse), rho
    if rho is not None:
        steps = [max(0, ceil(log(reach / rho) / log(GRID) - 1e-9))]
    else:
        # From where on the complexity alone exceeds a bound that is known to hold.
        worst = 1.0 + complexity + deviation(log_inverse + log(2.0))
        steps = list(range(max(0, ceil(log(worst / complexity) / log(GRID))) + 1))
    best, margin = inf, reach
    for j in steps:
        ratio = GRID**j
        value = complexity * ratio + deviation(log_inverse + log((j + 1.0) * (j + 2.0)))
        if value < best:
            value += loss(reach / ratio)
            if value < best:
                best, margin = value, reach / ratio
    return best, margin


def _of_class(radius: float, margin: float, fixed: bool) -> tuple[str, ...]:
    choice = "fixed beforehand, as the norm is" if fixed else "of a grid of radius * norm / rho"
    return (
        f"rho = {margin:.6g}, {choice}",
        f"|Phi(x)| <= {radius:g} for every x, and Phi does not depend on the sample",
    )


def _check_class(
    radius: float, norm: float, rho: float | None, fixed: bool
) -> tuple[float, float, float | None]:
    """Check the class of functions: radius, its product with the norm, and rho."""
    radius = _check_positive("radius", radius, "the largest norm that a row can have")
    norm = _check_positive("norm", norm, "the norm of weights that order anything")
    reach = radius * norm
    if not 0.0 < reach < inf:
        raise ValueError(
            f"radius={radius!r} times norm={norm!r} is {reach:g} in floating-point numbers: scale"
            " the features."
        )
    check_flag("fixed", fixed)
    if rho is not None:
        rho = _check_positive("rho", rho, "a margin")
        if reach / rho > LARGEST_RATIO:
            raise ValueError(
                f"rho={rho!r} is so small relative to radius * norm = {reach:g} that the bound is"
                " infinite: pass a larger rho, or None."
            )
    elif fixed:
        raise ValueError(
            "fixed=True needs a rho that was chosen before the data were seen, but rho is None:"
            " pass it, or fixed=False for a grid."
        )
    return radius, reach, rho


def _check_positive(name: str, value: float, what: str) -> float:
    return check_number(name, value, 0.0, inf, closed="neither", what=what)


def _check_reach(names: str, x: FloatArray, y: FloatArray, reach: float) -> None:
    scores = np.concatenate([x, y])
    least, most = float(scores.min()), float(scores.max())
    # An infinite threshold puts all rows on one side.
    length = 0.0 if least == most else most - least
    if length > 2.0 * reach * (1.0 + ROUNDING):
        raise ValueError(
            f"{names} belong to scores with a range of {length:.6g}, but functions of this norm"
            f" have a range of at most 2 * radius * norm = {2.0 * reach:.6g}: pass the radius and"
            " norm of these scores."
        )
