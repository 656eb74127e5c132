"""Intervals for linear rank statistics: by influence, by resampling and distribution free."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._arguments import (
    check_choice,
    check_flag,
    check_generator,
    check_level,
    check_resamples,
)
from .._lists import ScoredLists
from ..metrics import LocalAUC
from ..metrics._shared import (
    Normalize,
    Phi,
    ScoreGeneratingFunction,
    as_score_generating,
    linear_rank_influence_of,
    rank_bias,
    rank_range,
)
from ._collections import refuse_collections
from ._groups import Groups
from ._influence import check_limit
from ._influence_limits import influence_limits
from ._ordered_rows import ordered_rows, runs_of_negatives, with_tied_tail
from ._rank_bootstrap import RankBootstrap
from ._rank_dkw import dkw_interval
from ._rank_results import RankInterval, limit_range, rank_target
from ._two_classes import check_sample

__all__ = ["linear_rank_interval", "rank_interval_of"]


def linear_rank_interval(
    y_true: Any,
    y_score: Any,
    *,
    phi: Phi = "wilcoxon",
    level: float = 0.95,
    method: Literal["influence", "dkw", "bootstrap"] = "influence",
    conditional: bool = True,
    normalize: Normalize = "minmax",
    n_resamples: int = 10_000,
    random_state: Any = None,
    groups: Any = None,
    pos_label: Any = None,
) -> RankInterval:
    """Confidence interval for a linear rank statistic of one ranked list.

    The target is ``W_phi = E[phi(F(s)) | positive]``, where F is the distribution of all scores;
    ``linear_rank_score`` is its estimate. With "bootstrap" the target is the expected statistic.

    Parameters
    ----------
    y_true : array-like or dask collection of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like or dask collection of shape (n_samples,)
        Scores; a higher score ranks an item nearer to the top. Infinite scores are allowed, NaN is
        not.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1), in any form that
        :func:`sklearn_rank.metrics.linear_rank_score` accepts.
    level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). A higher level gives a wider interval.
    method : {"influence", "dkw", "bootstrap"}, default="influence"
        "influence" uses the variance of the influence values. "dkw" is distribution-free and valid
        for every n. "bootstrap" resamples the items; it is the only method for a phi that depends
        on the length of the list.
    conditional : bool, default=True
        Whether the labels are treated as fixed. If True, the target is at the fraction of
        positives of this list, k / n; if False, at that of the population.
    normalize : {"mean", "minmax"}, default="minmax"
        "mean" is the mean of phi over the positives; "minmax" rescales it so that the worst order
        has the value 0 and the best order 1. With Wilcoxon's phi "minmax" is the AUC.
    n_resamples : int, default=10000
        Number of bootstrap samples, at least 99.
    random_state : int, Generator, RandomState or None, default=None
        Random number generator or seed of "bootstrap". Pass an int for reproducible results.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent, items of one group may depend on each other in any way. None means independent
        items; the interval is much too short if they are not. Not supported by "bootstrap",
        because a list of resampled groups has another length.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    RankInterval
        The interval, of positive width and within the range of the statistic.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, or the worst and the best order have the
        same value; if phi depends on the length of the list and the method is not "bootstrap"; if
        phi is unbounded with "dkw"; if ``normalize="minmax"`` is used with "dkw" and random
        labels; or if there is only one group, or groups with "bootstrap".
    TypeError
        If ``conditional`` is not a bool.

    See Also
    --------
    linear_rank_influence : The influence values that "influence" uses.
    auc_interval : Interval for the AUC, with more methods.
    partial_auc_interval : Interval for the partial AUC.
    paired_rank_test : Test of two scorers on the same items.

    Notes
    -----
    "influence" and "bootstrap" rescale the statistic to x, from 0 (worst order) to 1 (best order).
    The variance V is estimated from the data with half an item added at either end of the list in
    both classes, which gives the value x'. The effective sample size x' (1 - x') / V enters
    Wilson's interval, which has positive width also at x = 1. On each side Clopper and Pearson's
    limits with mid-p values replace it if they are wider, as they are for few draws. "influence"
    subtracts its bias, the mean of E[phi(R / (n+1))] - phi(F) for normal ranks R without the jumps
    of phi. Tied items take every rank of their block equally often. The interval contains its
    estimate.

    "dkw" covers with probability at least ``level`` for independent items of any distribution. It
    uses the mean over the positives of ``phi(R / n +- eps)`` with eps from the inequality of
    Dvoretzky, Kiefer, Wolfowitz and Massart (of Bretagnolle if ``conditional``), and Chernoff's
    limit over the positives. Each fails with probability (1 - level) / 2. If the two classes were
    sampled separately, only ``conditional=True`` is valid.

    With ``groups``, "influence" adds half a group at either end and uses Student's quantile, as
    :func:`paired_rank_test` does; its bias correction is that of independent items. "dkw" holds
    for groups with any dependence if the items of a class have one distribution. The list is then
    a mean over lists of ``floor(n / largest group)`` independent items. Therefore eps is the mean
    of its tail instead of its quantile, and Chernoff's limit counts ``floor(k / most in a group)``
    positives.

    The cost is O(n log n) time and O(n) memory. "bootstrap" adds O(n) time per resample.

    For dask collections (without ``groups`` or "bootstrap") the distinct pairs of a score and a
    class are counted chunk by chunk, and the counts are collected in this process: O(m) memory for
    m pairs, at most 2**28. They are not split by ranges of scores as for the AUC, because the
    influence of an item is a sum over all items above it.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Propositions 3 and 5.
    .. [2] Wilson (1927), *Probable inference, the law of succession, and statistical inference*,
       Journal of the American Statistical Association 22.
    .. [3] Clopper & Pearson (1934), *The use of confidence or fiducial limits*, Biometrika 26.
    .. [4] Massart (1990), *The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality*,
       Annals of Probability 18.

    Examples
    --------
    >>> from sklearn_rank.inference import linear_rank_interval
    >>> from sklearn_rank.metrics import Exponential, TopDCG
    >>> y_true, y_score = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> found = linear_rank_interval(
    ...     y_true, y_score, phi=Exponential(5.0), normalize="minmax"
    ... )
    >>> print(found.target)
    W_phi at 4 positives of 8, from worst to best
    >>> (
    ...     round(found.estimate, 4),
    ...     round(found.low, 4),
    ...     round(found.high, 4),
    ...     round(found.bias, 4),
    ... )
    (0.8426, 0.2232, 1.0, -0.0374)

    A phi that depends on the length of the list requires the bootstrap:

    >>> found = linear_rank_interval(
    ...     y_true, y_score, phi=TopDCG(3), method="bootstrap", random_state=0
    ... )
    >>> 0 < found.low < found.estimate < found.high < 1
    True
    """
    level, conditional = check_level(level), check_flag("conditional", conditional)
    check_choice("method", method, ("influence", "dkw", "bootstrap"))
    check_choice("normalize", normalize, ("mean", "minmax"))
    if method == "bootstrap":
        refuse_collections("resamples are drawn from its rows", y_true=y_true, y_score=y_score)
    data, dependent = check_sample(y_true, y_score, pos_label, groups)
    if method == "bootstrap":
        if dependent is not None:
            raise ValueError(
                "method='bootstrap' does not support groups, because a list of resampled groups"
                " has another length: pass method='influence' or 'dkw'."
            )
        n_resamples = check_resamples(n_resamples)
        made = RankBootstrap(
            data, as_score_generating(phi), conditional=conditional, normalize=normalize
        )
        return made.interval(level, n_resamples, check_generator(random_state))
    function = check_limit(phi, "resample, method='bootstrap'")
    make = dkw_interval if method == "dkw" else rank_interval_of
    return make(
        data, function, level, conditional=conditional, normalize=normalize, groups=dependent
    )


def rank_interval_of(
    data: ScoredLists,
    phi: ScoreGeneratingFunction,
    level: float = 0.95,
    *,
    conditional: bool = True,
    normalize: Normalize = "minmax",
    groups: Groups | None = None,
    what: str = "",
) -> RankInterval:
    """Interval by the variance of the influence values, with the estimated bias subtracted."""
    n, k = int(data.sizes[0]), int(data.positives[0])
    worst, best = rank_range(phi, n, k)
    if groups is None:
        top = 1.0 - phi.u0 if isinstance(phi, LocalAUC) else 1.0
        # Over a jump of phi a negative moves the positives by its own place.
        data = ordered_rows(with_tied_tail(data, top)) if phi.jumps else runs_of_negatives(data)
    found = linear_rank_influence_of(
        data.positive, data.score, phi, normalize=normalize, counts=data.weight
    )
    shares = found if normalize == "minmax" else found.scaled(worst, best - worst)
    value = shares.estimate
    bias = _minmax_bias(data, phi, value)
    low, high = (0.0, 1.0) if normalize == "minmax" else limit_range(phi, n, k)
    if not conditional and normalize == "mean":
        # The fraction of positives is random, and so are the worst and the best value.
        center = low + (high - low) * (value - bias)
        low, high = (float(x) for x in phi(np.array([0.5 / n, 1.0 - 0.5 / n])))
        shares = found.scaled(low, high - low)
        value, bias = (center - low) / (high - low), 0.0
    limits, variance = influence_limits(
        shares, value - bias, level, conditional=conditional, groups=groups
    )
    estimate = found.estimate if normalize == "mean" else min(max(found.estimate, 0.0), 1.0)
    return RankInterval(
        estimate=estimate,
        # The interval contains the estimate even if the bias is more than half the width.
        low=min(low + (high - low) * limits[0], estimate),
        high=max(low + (high - low) * limits[1], estimate),
        level=level,
        method="influence",
        target=rank_target(n, k, conditional, normalize, what),
        standard_error=(high - low) * float(np.sqrt(variance)),
        bias=estimate - (low + (high - low) * (value - bias)),
    )


def _minmax_bias(data: ScoredLists, phi: ScoreGeneratingFunction, value: float) -> float:
    """Estimate the bias of the statistic between the worst and the best order.

    It is 0 at either end, where the worst and the best order have the same bias.
    """
    n, k = int(data.sizes[0]), int(data.positives[0])
    worst, best = rank_range(phi, n, k)
    bias = rank_bias(data.positive, data.score, phi, data.weight)
    # The order within a class has no effect, so each class may be one block.
    classes, counts = np.array([True, False]), np.array([float(k), float(n - k)])
    bias -= (1.0 - value) * rank_bias(classes, np.array([0.0, 1.0]), phi, counts)
    bias -= value * rank_bias(classes, np.array([1.0, 0.0]), phi, counts)
    return bias / (best - worst)
