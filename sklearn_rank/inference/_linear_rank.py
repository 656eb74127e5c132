"""Intervals for linear rank statistics: by influence, by resampling and distribution free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from .._lists import ScoredLists
from .._order import CountedBlocks, counted_blocks, places_of, tied_blocks
from .._printed import fixed
from .._typing import FloatArray
from .._validation import check_choice, check_flag, check_generator, check_level, check_resamples
from ..bounds._shared import kl_limits
from ..metrics import LocalAUC, Measure
from ..metrics._shared import (
    PSEUDO_WEIGHT,
    Normalize,
    Phi,
    ScoreGeneratingFunction,
    as_score_generating,
    linear_rank_influence_of,
    phi_of,
    rank_bias,
    rank_range,
)
from ._influence import influence_limits
from ._limits import independent_rows, mean_of_tail, safe_limits
from ._results import Interval
from ._samples import (
    ONE_EACH,
    Groups,
    check_sample,
    check_two_classes,
    ordered_rows,
    refuse_collections,
    runs_of_negatives,
    with_tied_tail,
)

# Points that are laid out at once.
POINTS = 2**20


@dataclass(frozen=True, repr=False)
class RankInterval(Interval):
    """Confidence interval for a rank statistic, with the estimated bias.

    Parameters
    ----------
    estimate : float
        The statistic, as :func:`sklearn_rank.metrics.linear_rank_score` returns it.
    low : float
        Lower limit.
    high : float
        Upper limit.
    level : float
        Nominal coverage of the interval, in (0, 1).
    method : str
        Name of the method that computed the interval.
    target : str
        The quantity that the interval estimates.
    standard_error : float or None, default=None
        Standard error of the estimate; None if the method gives none.
    bias : float or None, default=None
        Estimated bias: the mean of the estimate minus the target. It was subtracted from the
        centre of the interval. None if the method makes no correction.

    Examples
    --------
    >>> from sklearn_rank.inference import RankInterval
    >>> print(
    ...     RankInterval(
    ...         0.52, 0.41, 0.63, 0.95, "influence", "W_phi", 0.05, bias=-0.004
    ...     )
    ... )
    0.5200 [0.4100, 0.6300] (W_phi, 95 %, influence, bias -0.0040)
    """

    bias: float | None = None

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.bias is None else f"{text[:-1]}, bias {fixed(self.bias)})"

    def scaled(self, unit: float) -> RankInterval:
        """Convert the interval to another unit.

        Parameters
        ----------
        unit : float
            Positive factor by which the estimate, the limits, the standard error and the bias are
            multiplied.

        Returns
        -------
        RankInterval
            The interval in the new unit.
        """
        bias = None if self.bias is None else unit * self.bias
        return replace(self._in_unit(unit), bias=bias)


def limit_range(phi: ScoreGeneratingFunction, n: int, k: int) -> tuple[float, float]:
    """Return the smallest and largest value of the functional for k positives among n."""
    # The grid is finer than the items if there are few, because phi may jump between them.
    fine = max(1, 2**14 // n)
    worst = best = 0.0
    for begin in range(0, k * fine, POINTS):
        points = (np.arange(begin, min(begin + POINTS, k * fine)) + 0.5) / (n * fine)
        worst += float(np.sum(phi(points)))
        best += float(np.sum(phi(1.0 - points[::-1])))
    return worst / (k * fine), best / (k * fine)


def rank_target(
    n: int,
    k: int,
    conditional: bool,
    normalize: Normalize,
    name: str = "",
    *,
    expected: bool = False,
) -> str:
    """Describe the target of an interval in words."""
    between = ", from worst to best" if normalize == "minmax" and not name else ""
    labels = f" at {k} positives of {n}" if conditional else ", random labels"
    quantity = f"expected {name or 'statistic'}" if expected else name or "W_phi"
    return f"{quantity}{labels}{between}"


def rank_bootstrap_interval(
    data: ScoredLists,
    phi: ScoreGeneratingFunction,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    conditional: bool,
    normalize: Normalize,
    name: str = "",
) -> RankInterval:
    """Interval by samples of the items and half an imagined item at either end of each class."""
    n, k = len(data.score), int(np.count_nonzero(data.positive))
    least, largest = rank_range(phi, n, k)
    if not conditional:
        ends = phi._at_ranks(np.array([1.0, float(n)]), np.array([float(n)]))
        least, largest = float(ends[0]), float(ends[1])
    blocks = tied_blocks(data.score)
    n_pos = blocks.totals(data.positive.astype(np.float64)).astype(np.intp)
    counts = np.stack([n_pos, blocks.lengths() - n_pos])
    n_blocks = len(n_pos) + 2
    # Block of each item of either class, the imagined blocks first and last.
    block_of = [np.repeat(np.arange(1, len(n_pos) + 1), row) for row in counts]

    def statistic(n_pos: FloatArray, n_neg: FloatArray) -> float:
        # Of counts in blocks from the top: 0 for the worst and 1 for the best order.
        with_pos = np.flatnonzero(n_pos)
        size = n_pos + n_neg
        n, k = float(size.sum()), float(n_pos.sum())
        below = (n - np.cumsum(size))[with_pos]
        value = phi._sums(below, below + size[with_pos], np.array([n]))
        mean = float(np.sum(value * n_pos[with_pos] / size[with_pos])) / k
        low, high = (least, largest) if normalize == "mean" else rank_range(phi, int(n), int(k))
        return min(max((mean - low) / (high - low), 0.0), 1.0)

    def draw() -> list[FloatArray]:
        # Counts in blocks of both classes.
        n_drawn = k if conditional else int(np.clip(rng.binomial(n, k / n), 1, n - 1))
        draws = []
        for size, blocks in zip((n_drawn, n - n_drawn), block_of, strict=True):
            total = len(blocks) + 2.0 * PSEUDO_WEIGHT
            item = np.floor(rng.random(size) * total - PSEUDO_WEIGHT).astype(np.intp)
            inside = (item >= 0) & (item < len(blocks))
            block = np.where(
                inside,
                blocks[np.clip(item, 0, len(blocks) - 1)],
                np.where(item > 0, n_blocks - 1, 0),
            )
            draws.append(np.bincount(block, minlength=n_blocks).astype(np.float64))
        return draws

    value = statistic(*counts.astype(np.float64))
    draws = np.array([statistic(*draw()) for _ in range(n_resamples)])
    variance, center = float(draws.var(ddof=1)), float(draws.mean())
    low, high = safe_limits(value, center * (1.0 - center) / variance, level)
    origin, scale = (least, largest - least) if normalize == "mean" else (0.0, 1.0)
    estimate = origin + scale * value
    # Up to rounding they are in order.
    low, high = min(origin + scale * low, estimate), max(origin + scale * high, estimate)
    target = rank_target(n, k, conditional, normalize, name, expected=True)
    error = scale * float(np.sqrt(variance))
    return RankInterval(estimate, low, high, level, "bootstrap", target, error)


def dkw_interval(
    data: ScoredLists,
    phi: ScoreGeneratingFunction,
    level: float,
    *,
    conditional: bool,
    normalize: Normalize,
    groups: Groups | None = None,
    name: str = "",
) -> RankInterval:
    """Interval by a band around the distribution of the scores and Chernoff's limit."""
    blocks = counted_blocks(data.score, data.positive, data.weight)
    n, k, size, n_pos, below = blocks.n, blocks.k, blocks.size, blocks.n_pos, blocks.below
    if normalize == "minmax" and not conditional:
        raise ValueError(
            "normalize='minmax' needs the fraction of positives, which is random with"
            " conditional=False and method='dkw': pass conditional=True or normalize='mean'."
        )
    worst, best = rank_range(phi, n, k)
    floor, ceiling = _bounds_of(phi)
    delta = (1.0 - level) / 2.0
    factor = 2.0 * np.exp(1.0) if conditional else 2.0
    eps, n_draws = np.sqrt(np.log(factor / delta) / (2.0 * n)), float(k)
    if groups is not None:
        eps = mean_of_tail(factor, delta, independent_rows(groups.sizes()))
        n_draws = float(independent_rows(groups.sizes(data.positive)))
    estimate = float(np.sum(phi._sums(below, below + size, np.array([float(n)])) / size * n_pos))
    estimate /= k
    shifted = [
        (_mean_of(phi, blocks, at) - floor) / (ceiling - floor)
        for at in (_ranks_down(n, eps), lambda rank: np.minimum(rank / n + eps, 1.0))
    ]
    least, most = kl_limits(np.clip(shifted, 0.0, 1.0), np.log(2.0 / delta) / n_draws)
    low = floor + (ceiling - floor) * float(least[0])
    high = floor + (ceiling - floor) * float(most[1])
    if normalize == "minmax":
        lowest, highest = limit_range(phi, n, k)
        low, high = ((x - lowest) / (highest - lowest) for x in (low, high))
        low, high = max(low, 0.0), min(high, 1.0)
        estimate = min(max((estimate - worst) / (best - worst), 0.0), 1.0)
    low, high = min(low, estimate), max(high, estimate)
    target = rank_target(n, k, conditional, normalize, name)
    return RankInterval(estimate, low, high, level, "dkw", target)


def dkw_lower_limits(
    lists: Sequence[ScoredLists], measure: Measure, deltas: FloatArray
) -> FloatArray:
    """Lower limits by a band around the distribution of the scores, labels fixed.

    Shape (n_functions,).
    """
    phi: Any = phi_of(measure)
    floor, ceiling = _bounds_of(phi)
    limits = np.empty(len(lists))
    for row, (data, delta) in enumerate(zip(lists, deltas, strict=True)):
        blocks = counted_blocks(data.score, data.positive, data.weight)
        n, k = blocks.n, blocks.k
        eps = float(np.sqrt(np.log(4.0 * np.exp(1.0) / delta) / (2.0 * n)))
        lower = (_mean_of(phi, blocks, _ranks_down(n, eps)) - floor) / (ceiling - floor)
        limit = float(kl_limits(min(max(lower, 0.0), 1.0), np.log(2.0 / delta) / k)[0])
        limits[row] = floor + (ceiling - floor) * limit
    if getattr(measure, "normalize", "minmax") == "minmax":
        lowest, highest = limit_range(phi, n, k)
        limits = np.maximum((limits - lowest) / (highest - lowest), 0.0)
    return limits


def _ranks_down(n: int, eps: float) -> Callable[[FloatArray], FloatArray]:
    """Lower limits of the distribution function at ranks."""
    return lambda rank: np.maximum((rank - 1.0) / n - eps, 0.0)


def _mean_of(
    phi: ScoreGeneratingFunction, blocks: CountedBlocks, shift: Callable[[FloatArray], FloatArray]
) -> float:
    """Mean over the positives of phi at their shifted ranks, tied items in random order."""
    by_block, rank = np.zeros(len(blocks.size)), float(blocks.n)
    for block, first, _, place in places_of(blocks.size):
        ranks = np.arange(rank, rank - len(place), -1.0)
        by_block[block] += np.add.reduceat(phi(shift(ranks)), first)
        rank -= len(place)
    return float(np.sum(by_block / blocks.size * blocks.n_pos)) / blocks.k


def _bounds_of(phi: ScoreGeneratingFunction) -> tuple[float, float]:
    try:
        floor, ceiling = (float(x) for x in phi(np.array([0.0, 1.0])))
        bounded = np.isfinite(floor) and np.isfinite(ceiling)
    except ValueError:
        bounded = False
    if not bounded:
        raise ValueError(
            f"phi={phi!r} is not finite on [0, 1], but method='dkw' needs a bounded phi: pass"
            " method='influence' or 'bootstrap'."
        )
    return floor, ceiling


def check_limit(phi: Phi, instead: str) -> ScoreGeneratingFunction:
    """Read a phi that does not depend on the length of the list."""
    function = as_score_generating(phi)
    if not function.is_limit_functional:
        raise ValueError(
            f"phi={function!r} depends on the length of the list, so the statistic has no"
            f" influence function: {instead}."
        )
    return function


def linear_rank_influence(
    y_true: Any,
    y_score: Any,
    *,
    phi: Phi = "wilcoxon",
    conditional: bool = True,
    normalize: Normalize = "minmax",
    pos_label: Any = None,
) -> FloatArray:
    """Influence function of a linear rank statistic, one value per item (Hájek projection).

    Up to terms of smaller order ``W / k = target + mean(influence)``. With F the distribution of
    all scores, G that of the k positives, m negatives, p = k / n and
    ``T(x) = integral over u >= x of phi'(F(u)) dG(u)``, a positive at x has the influence
    ``(phi(F(x)) + p T(x)) / p`` and a negative ``T(x)``, each less the mean of its class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores; a higher score ranks an item nearer to the top. Infinite scores are allowed, NaN is
        not.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1) that does not depend on the length of the list.
    conditional : bool, default=True
        Whether the labels are treated as fixed. If True, the target is E[phi(F) | positive] at the
        sample's fraction of positives, k / n. If False, it is at the population's fraction of
        positives, and the influence includes that on k.
    normalize : {"mean", "minmax"}, default="minmax"
        "mean" is the mean of phi over the positives; "minmax" rescales it so that the worst order
        has the value 0 and the best order 1.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    ndarray of shape (n_samples,)
        Influence values in the order of the rows, with mean 0, and with mean 0 within each class
        if ``conditional``.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the worst and the best order have the
        same mean with "minmax", or phi depends on the length of the list.
    TypeError
        If ``conditional`` is not a bool.

    See Also
    --------
    linear_rank_interval : Confidence interval from these values.
    partial_auc_influence : Influence function of the partial AUC.

    Notes
    -----
    Each item of a tied block gets the mean of phi over the ranks of the block. Items of a block
    count each other with the part that lies above, which is one half for Wilcoxon's phi. A jump D
    of phi at u0 adds ``D eta`` below the quantile u0 to p T. Here eta is the fraction of positives
    at the jump, estimated within sqrt(n) ranks on either side or within the tied block; without
    this term the variance is several times too large. If phi has no ``derivative``, a difference
    quotient over the same ranks replaces it and includes the jumps. The paper attaches T to the
    positives only. The cost is O(n log n) time and O(n) memory.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Proposition 3.
    .. [2] Hájek (1968), *Asymptotic normality of simple linear rank statistics under
       alternatives*, Annals of Mathematical Statistics 39.

    Examples
    --------
    >>> from sklearn_rank.inference import linear_rank_influence
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> linear_rank_influence(y_true, y_score, phi="wilcoxon").round(2)
    array([ 0.5, -0.5, -0.5,  0.5])
    """
    check_choice("normalize", normalize, ("mean", "minmax"))
    conditional = check_flag("conditional", conditional)
    refuse_collections(ONE_EACH, y_true=y_true, y_score=y_score)
    data = check_two_classes(y_true, y_score, pos_label)
    function = check_limit(phi, "resample instead, linear_rank_interval(method='bootstrap')")
    influence = linear_rank_influence_of(data.positive, data.score, function, normalize=normalize)
    values = influence.centred()
    if not conditional:
        share = float(data.positive.mean())
        values += influence.label_slope * np.where(data.positive, 1.0 - share, -share)
    return values


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
        return rank_bootstrap_interval(
            data,
            as_score_generating(phi),
            level,
            check_resamples(n_resamples),
            check_generator(random_state),
            conditional=conditional,
            normalize=normalize,
        )
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
    name: str = "",
) -> RankInterval:
    """Interval by the variance of the influence values, with the estimated bias subtracted."""
    n, k = int(data.sizes[0]), int(data.positives[0])
    worst, best = rank_range(phi, n, k)
    if groups is None:
        top = 1.0 - phi.u0 if isinstance(phi, LocalAUC) else 1.0
        # Over a jump of phi a negative moves the positives by its own place.
        data = ordered_rows(with_tied_tail(data, top)) if phi.jumps else runs_of_negatives(data)
    influence = linear_rank_influence_of(
        data.positive, data.score, phi, normalize=normalize, counts=data.weight
    )
    shares = influence if normalize == "minmax" else influence.scaled(worst, best - worst)
    value = shares.estimate
    bias = _minmax_bias(data, phi, value)
    low, high = (0.0, 1.0) if normalize == "minmax" else limit_range(phi, n, k)
    if not conditional and normalize == "mean":
        # The fraction of positives is random, and so are the worst and the best value.
        center = low + (high - low) * (value - bias)
        low, high = (float(x) for x in phi(np.array([0.5 / n, 1.0 - 0.5 / n])))
        shares = influence.scaled(low, high - low)
        value, bias = (center - low) / (high - low), 0.0
    limits, variance = influence_limits(
        shares, value - bias, level, conditional=conditional, groups=groups
    )
    estimate = (
        influence.estimate if normalize == "mean" else min(max(influence.estimate, 0.0), 1.0)
    )
    length = high - low
    return RankInterval(
        estimate,
        # The interval contains the estimate even if the bias is more than half the width.
        min(low + length * limits[0], estimate),
        max(low + length * limits[1], estimate),
        level,
        "influence",
        rank_target(n, k, conditional, normalize, name),
        length * float(np.sqrt(variance)),
        bias=estimate - (low + length * (value - bias)),
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
