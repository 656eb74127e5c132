"""Interval for the precision at the top of the list."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from .._lists import ScoredLists
from .._order import CountedBlocks, TiedBlocks, counted_blocks, top_mass
from .._typing import AnyArray, BoolArray, IntArray
from .._validation import check_choice, check_level
from ..metrics import get_measure, precision_at_top_score
from ..metrics._shared import share_at
from ._limits import Limits, exact_limits, midp_limits, wider, wilson_limits
from ._results import Interval
from ._samples import GroupPart, Groups, check_sample


def share_at_threshold(blocks: CountedBlocks, n: int, n_pos: float, top: int) -> float:
    """Estimate the probability that an item just at the threshold is positive."""
    if top >= n:
        return n_pos / n
    return share_at(n - top, blocks.below + (n - blocks.n), blocks.size, blocks.n_pos)


def top_limits(
    estimate: float, eta: float, top: float, tau: float, level: float
) -> tuple[Limits, float]:
    """Return score limits for the precision at the top, or exact ones where they are farther out.

    The score limits are the p with ``top (estimate - p)**2 <= z**2 (p (1 - p) + (1 - tau) (p -
    eta)**2)``: the variance is that of the candidate precision, not of the observed one.
    """
    c = float(ndtri((1.0 + level) / 2.0)) ** 2 / top
    # (estimate - p)^2 - c (p - p^2 + (1 - tau) (p - eta)^2) = square p^2 - 2 half p + constant.
    square = 1.0 + c * tau
    half = estimate + c / 2.0 - c * (1.0 - tau) * eta
    constant = estimate**2 - c * (1.0 - tau) * eta**2
    reach = float(np.sqrt(max(half**2 - square * constant, 0.0)))
    score = max((half - reach) / square, 0.0), min((half + reach) / square, 1.0)

    shrunken = (top * estimate + 0.5) / (top + 1.0)
    binomial = shrunken * (1.0 - shrunken)
    variance = (binomial + (1.0 - tau) * (shrunken - eta) ** 2) / top
    return wider(score, midp_limits(estimate, binomial / variance, level)), variance


def grouped_top(
    positive: BoolArray, blocks: TiedBlocks, groups: Groups, top: int, eta: float
) -> tuple[float, float, float]:
    """Compute the effective number of Bernoulli draws of the precision at the top.

    An item of the share u in the top moves the precision by ``(u (y - eta) - (pi - eta) top / n) /
    top``, which includes what it moves the threshold. Half a group of positives and half one of
    negatives is added to the top.
    """
    n, sizes = len(positive), blocks.lengths()
    inside = np.empty(n)
    share = np.clip((top - blocks.starts) / sizes, 0.0, 1.0)
    inside[blocks.order] = np.repeat(share, sizes)
    precision = float(inside @ positive) / top
    influence = (inside * (positive - eta) - (precision - eta) * top / n) / top
    in_top = groups.only(inside > 0.0)
    part = GroupPart(groups.sums(influence)[np.newaxis], in_top.sizes())
    return *part.draws_of_share(precision), part.degrees


# Part of the error that "exact" spends on where the top of the population ends in the sample.
THRESHOLD_SHARE = 0.2


def precision_at_top_interval(
    y_true: Any,
    y_score: Any,
    *,
    tau: float = 0.05,
    level: float = 0.95,
    method: Literal["influence", "exact"] = "influence",
    groups: Any = None,
    pos_label: Any = None,
) -> Interval:
    """Confidence interval for the precision among the top fraction ``tau`` of the population.

    The target is ``pi = P(positive | F(s) > 1 - tau)`` with random labels. The variance is ``(pi
    (1 - pi) + (1 - tau) (pi - eta)**2) / (tau n)``, where eta is the probability that an item at
    the threshold is positive. It includes the variation of the threshold, which is a quantile of
    the sample.

    Parameters
    ----------
    y_true : array-like or dask collection of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like or dask collection of shape (n_samples,)
        Scores; a higher score ranks an item nearer to the top. Infinite scores are allowed, NaN is
        not.
    tau : float, default=0.05
        Fraction of the items that form the top, in (0, 1).
    level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). A higher level gives a wider interval.
    method : {"influence", "exact"}, default="influence"
        "influence" is a score interval: it contains the precisions that differ from the observed
        one by at most z of their own standard errors, with exact binomial limits if these are
        wider. "exact" is distribution-free and valid for every n.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent, items of one group may depend on each other in any way. None means independent
        items; the interval is much too short if they are not. Not supported by "exact", whose
        binomial counts require independent items.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    Interval
        The interval, of positive width and within [0, 1].

    Raises
    ------
    ValueError
        If ``tau`` is outside (0, 1), another argument is not valid, one class is absent, there is
        only one group, or ``groups`` is used with "exact".
    TypeError
        If ``tau`` is not a number.

    Warns
    -----
    SmallTopWarning
        If ``tau * n`` rounds to 0: the top is then one item.

    See Also
    --------
    linear_rank_interval : Interval for measures that weight ranks smoothly.
    sklearn_rank.metrics.precision_at_top_score : The precision at the top itself.

    Notes
    -----
    "influence" solves ``top (P - pi)**2 = z**2 (pi (1 - pi) + (1 - tau) (pi - eta)**2)`` for pi,
    where P is the observed precision. eta is estimated from sqrt(n) ranks on either side of the
    threshold, with half an item of either class added. On each side Clopper and Pearson's limits
    with mid-p values replace the limit if they are wider. They use ``top pi (1 - pi) / (pi (1 -
    pi) + (1 - tau) (pi - eta)**2)`` draws, with half an item of either class added to estimate pi.
    They are wider, toward the nearer end, in tops of a few items. With ``groups`` the limits are
    Wilson's, with the variance of the sums of the influence over groups and half a group of either
    class added. The degrees of freedom of Student's quantile are the effective number of groups,
    ``(sum of s^2)^2 / sum of s^4`` for groups with s items in the top, minus one.

    "exact" uses that the number M of items above the threshold of the population is binomial, and
    so is the number of positives among them given M. A fifth of the error is spent on the range of
    M, the rest on Clopper and Pearson's interval, which is the widest one over that range and over
    the orders of tied items. The cost is O(n log n) time and O(n) memory.

    For dask collections (without ``groups``) the distinct pairs of a score and a class are counted
    chunk by chunk, and the counts are collected in this process: O(m) memory for m pairs.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 5.2.
    .. [2] Clopper & Pearson (1934), *The use of confidence or fiducial limits*, Biometrika 26.

    Examples
    --------
    >>> from sklearn_rank.inference import precision_at_top_interval
    >>> y_true, y_score = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> print(precision_at_top_interval(y_true, y_score, tau=0.5))
    0.7500 [0.2218, 1.0000] (precision in the top 0.5 of the population, 95 %, influence)
    """
    level = check_level(level)
    check_choice("method", method, ("influence", "exact"))
    data, dependent = check_sample(y_true, y_score, pos_label, groups)
    if dependent is not None and method == "exact":
        raise ValueError(
            "method='exact' does not support groups, its counts need independent items: pass"
            " method='influence'."
        )
    return top_interval_of(data, float(tau), level, method, dependent)


def top_interval_of(
    data: ScoredLists,
    tau: float,
    level: float = 0.95,
    method: str = "influence",
    groups: Groups | None = None,
) -> Interval:
    """Interval for the precision at the top from a checked list."""
    estimate = float(get_measure(precision_at_top_score, tau=tau).values(data)[0])
    error, n = None, int(data.sizes[0])
    leading = data
    if method == "influence" and groups is None:
        # The items about the threshold are within sqrt(n) places of it.
        leading = data.leading(
            int(top_mass(np.array([float(n)]), tau)[0] + np.ceil(np.sqrt(n)) + 1)
        )
    blocks = counted_blocks(leading.score, leading.positive, leading.weight)
    if method == "exact":
        n_pos, size = blocks.n_pos.astype(np.intp), blocks.size.astype(np.intp)
        low, high = _exact(n_pos, size, tau, level)
    else:
        top = int(top_mass(np.array([float(n)]), tau)[0])
        eta = share_at_threshold(blocks, n, float(data.positives[0]), top)
        if groups is None:
            (low, high), variance = top_limits(estimate, eta, top, tau, level)
        else:
            n_effective, variance, degrees = grouped_top(
                data.positive, blocks.rows, groups, top, eta
            )
            low, high = wilson_limits(estimate, n_effective, level, degrees)
        error = float(np.sqrt(variance))
    target = f"precision in the top {tau:g} of the population"
    return Interval(estimate, low, high, level, method, target, error)


def _exact(n_pos: IntArray, size: IntArray, tau: float, level: float) -> tuple[float, float]:
    """Limits from every number of items that may lie above the threshold of the population."""
    n = int(size.sum())
    delta = 1.0 - level
    least = int(binom.ppf(delta * THRESHOLD_SHARE / 2.0, n, tau))
    largest = int(binom.isf(delta * THRESHOLD_SHARE / 2.0, n, tau))
    if least == 0:
        return 0.0, 1.0
    count = np.arange(least, largest + 1)
    fewest, most = extreme_hits(n_pos, size, count)
    alpha = delta * (1.0 - THRESHOLD_SHARE) / 2.0
    low, high = (exact_limits(hits, count - hits, alpha) for hits in (fewest, most))
    return float(low[0].min()), float(high[1].max())


def extreme_hits(n_pos: Any, size: Any, count: IntArray) -> tuple[AnyArray, AnyArray]:
    """Fewest and most positives of the top, negatives or positives first in a block it cuts."""
    upto, positives = np.cumsum(size), np.cumsum(n_pos)
    block = np.searchsorted(upto, count, "left")
    inside, before = n_pos[block], positives[block] - n_pos[block]
    cut = count - (upto[block] - size[block])
    return before + np.maximum(cut - (size[block] - inside), 0), before + np.minimum(cut, inside)
