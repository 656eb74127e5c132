"""Intervals for linear rank statistics: by influence, by resampling and distribution free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._blocks import tied_blocks
from .._typing import BoolArray, FloatArray
from ..bounds._shared import kl_limits
from ..metrics._shared import (
    PSEUDO_WEIGHT,
    ClassInfluence,
    Normalize,
    Phi,
    ScoreGeneratingFunction,
    as_score_generating,
    label_slope,
    linear_rank_influence_of,
    rank_bias,
    rank_range,
)
from ._arguments import check_choice, check_level, check_resamples
from ._influence import check_limit, check_two_classes
from ._proportion import wilson_limits
from ._resampling import generator_of
from ._results import Interval

__all__ = ["RankInterval", "linear_rank_interval"]


@dataclass(frozen=True)
class RankInterval(Interval):
    """Interval for a rank statistic, with the bias that was taken off its centre.

    Parameters
    ----------
    estimate : float
        Value of the measure, as the metric gives it.
    low : float
        Lower limit.
    high : float
        Upper limit.
    level : float
        Nominal probability, in (0, 1), that the interval covers its target.
    method : str
        How it was made.
    target : str
        The quantity that it is for.
    standard_error : float or None, default=None
        Standard error of the estimate; None for a method that has none.
    bias : float or None, default=None
        By how much the estimate exceeds the target on average, itself estimated; it was taken off
        the centre. None for a method that needs none.

    Examples
    --------
    >>> from sklearn_rank.inference import RankInterval
    >>> print(RankInterval(0.52, 0.41, 0.63, 0.95, "influence", "W_phi", 0.05, bias=-0.004))
    0.5200 [0.4100, 0.6300] (W_phi, 95 %, influence, bias -0.0040)
    """

    bias: float | None = None

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.bias is None else f"{text[:-1]}, bias {self.bias:.4f})"


def linear_rank_interval(
    y_true: Any,
    y_score: Any,
    *,
    phi: Phi = "wilcoxon",
    level: float = 0.95,
    method: Literal["influence", "dkw", "bootstrap"] = "influence",
    conditional: bool = True,
    normalize: Normalize = "mean",
    n_resamples: int = 999,
    random_state: Any = None,
    pos_label: Any = None,
) -> RankInterval:
    """Interval for a linear rank statistic of one list.

    For ``W_phi = E[phi(F(s)) | positive]``, F the distribution of all scores, of which
    ``linear_rank_score`` is the estimate; with "bootstrap" for the expected statistic.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1), as :func:`sklearn_rank.metrics.linear_rank_score` takes.
    level : float, default=0.95
        Nominal probability, in (0, 1), that the interval covers its target.
    method : {"influence", "dkw", "bootstrap"}, default="influence"
        Variance of the influence values; or free of distribution and valid for every n; or
        resampling, the only one for a phi that depends on the length of the list.
    conditional : bool, default=True
        Whether the target is at the share of positives of this list, k / n, as if the labels had
        been fixed beforehand; else at their share in the population.
    normalize : {"mean", "minmax"}, default="mean"
        For the mean over the positives, or for its place between the worst and the best order:
        with Wilcoxon's phi the AUC.
    n_resamples : int, default=999
        Number of resamples of "bootstrap", at least 99.
    random_state : int, Generator, RandomState or None, default=None
        Source of random numbers of "bootstrap"; None is fresh.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    RankInterval
        The interval, of positive width and within the range of the statistic.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, no place counts; if phi depends on the
        length of the list and the method is not "bootstrap", phi is unbounded with "dkw", or
        ``normalize="minmax"`` with "dkw" and random labels.

    See Also
    --------
    linear_rank_influence : The values behind "influence".
    auc_interval : Methods for the AUC alone.
    partial_auc_interval : A part of the ROC curve is not a linear rank statistic.
    paired_rank_test : Two scorers on the same items.

    Notes
    -----
    "influence" and "bootstrap" work on the place x of the statistic between its worst and its
    best value. The estimated variance is that of the data with half an item more at either end
    of the list in both classes, V at the place x'; x' (1 - x') / V is the effective sample size
    of Wilson's interval, which has width at x = 1 too. The bias of "influence", the mean of
    E[phi(R / (n+1))] - phi(F) for normal ranks R, is taken off; jumps of phi are left out of it.

    "dkw" holds with at least the probability ``level`` whatever the distribution, for independent
    items: the mean over the positives of ``phi(R / n +- eps)``, eps from Dvoretzky, Kiefer,
    Wolfowitz and Massart (from Bretagnolle if conditional), then Chernoff's limit over the
    positives; either fails with probability (1 - level) / 2. With both classes drawn apart from
    each other only the conditional one holds.

    O(n log n) time, times the resamples for "bootstrap" once sorted; O(n) memory.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Propositions 3 and 5.
    .. [2] Wilson (1927), *Probable inference, the law of succession, and statistical inference*,
       Journal of the American Statistical Association 22.
    .. [3] Massart (1990), *The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality*,
       Annals of Probability 18.

    Examples
    --------
    >>> from sklearn_rank.inference import linear_rank_interval
    >>> from sklearn_rank.metrics import Exponential, TopDCG
    >>> y_true, y_score = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> found = linear_rank_interval(y_true, y_score, phi=Exponential(5.0), normalize="minmax")
    >>> print(found.target)
    W_phi at 4 positives of 8, from worst to best
    >>> round(found.estimate, 4), round(found.low, 4), round(found.high, 4), round(found.bias, 4)
    (0.8426, 0.3143, 0.9916, -0.0374)

    A phi without a limit is resampled:

    >>> found = linear_rank_interval(y_true, y_score, phi=TopDCG(3), method="bootstrap",
    ...                              random_state=0)
    >>> 0 < found.low < found.estimate < found.high < 1
    True
    """
    level = check_level(level)
    check_choice("method", method, ("influence", "dkw", "bootstrap"))
    check_choice("normalize", normalize, ("mean", "minmax"))
    positive, score = check_two_classes(y_true, y_score, pos_label)
    if method == "bootstrap":
        function = as_score_generating(phi)
        n_resamples = check_resamples(n_resamples)
        made = _Resampled(positive, score, function, conditional, normalize)
        return made.interval(level, n_resamples, generator_of(random_state))
    function = check_limit(phi, "resample, method='bootstrap'")
    if method == "dkw":
        return _distribution_free(positive, score, function, level, conditional, normalize)
    return _by_influence(positive, score, function, level, conditional, normalize)


def limit_range(phi: ScoreGeneratingFunction, n: int, k: int) -> tuple[float, float]:
    """Least and largest value of the functional with k positives among n.

    Parameters
    ----------
    phi : ScoreGeneratingFunction
        The function, not depending on the length of the list.
    n : int
        Number of items.
    k : int
        Number of positives.

    Returns
    -------
    worst : float
        Mean of phi over (0, k / n).
    best : float
        Mean of phi over (1 - k / n, 1).
    """
    # Finer than the items where they are few, for the sake of jumps between them.
    fine = max(1, 2**14 // n)
    points = (np.arange(k * fine) + 0.5) / (n * fine)
    return float(np.mean(phi(points))), float(np.mean(phi(1.0 - points[::-1])))


def place_bias(
    positive: BoolArray, score: FloatArray, phi: ScoreGeneratingFunction, place: float
) -> float:
    """Estimate the bias of the place of the statistic between the worst and the best order.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Which items are positive.
    score : ndarray of shape (n,)
        Their scores.
    phi : ScoreGeneratingFunction
        The function.
    place : float
        The place.

    Returns
    -------
    float
        The bias, 0 at either end, where worst and best order have the same.
    """
    n, k = len(score), int(np.count_nonzero(positive))
    worst, best = rank_range(phi, n, k)
    ends = np.arange(n)
    bias = rank_bias(positive, score, phi)
    bias -= (1.0 - place) * rank_bias(ends < k, ends.astype(np.float64), phi)
    bias -= place * rank_bias(ends >= n - k, ends.astype(np.float64), phi)
    return bias / (best - worst)


def _target(n: int, k: int, conditional: bool, normalize: Normalize, what: str = "W_phi") -> str:
    place = ", from worst to best" if normalize == "minmax" else ""
    return (f"{what} at {k} positives of {n}" if conditional else f"{what}, random labels") + place


def _by_influence(
    positive: BoolArray,
    score: FloatArray,
    phi: ScoreGeneratingFunction,
    level: float,
    conditional: bool,
    normalize: Normalize,
) -> RankInterval:
    n, k = len(score), int(np.count_nonzero(positive))
    worst, best = rank_range(phi, n, k)
    found = linear_rank_influence_of(positive, score, phi)
    place = (found.estimate - worst) / (best - worst)
    bias = place_bias(positive, score, phi, place)
    place_found = found.scaled(worst, best - worst)
    extra = 0.0
    if not conditional:
        slope = label_slope(found, phi, normalize=normalize, worst=worst, best=best)
        extra = (slope / (best - worst)) ** 2 * (k / n) * (1.0 - k / n) / n
    low, high = limit_range(phi, n, k)
    if not conditional and normalize == "mean":
        # The share of positives is not known, and with it the worst and the best value.
        low, high = (float(x) for x in phi(np.array([0.5 / n, 1.0 - 0.5 / n])))
        inner_low, inner_high = limit_range(phi, n, k)
        center = inner_low + (inner_high - inner_low) * (place - bias)
        unit = (best - worst) / (high - low)
        place_found = found.scaled(low, high - low)
        extra *= unit**2
        place, bias = (center - low) / (high - low), 0.0
    limits, variance = place_limits(place_found, place - bias, extra, level)
    if normalize == "minmax":
        estimate, scale, origin = (found.estimate - worst) / (best - worst), 1.0, 0.0
    else:
        estimate, scale, origin = found.estimate, high - low, low
    return RankInterval(
        estimate=estimate,
        low=origin + scale * limits[0],
        high=origin + scale * limits[1],
        level=level,
        method="influence",
        target=_target(n, k, conditional, normalize),
        standard_error=scale * float(np.sqrt(variance)),
        bias=estimate - (origin + scale * (place - bias)),
    )


def place_limits(
    found: ClassInfluence, place: float, extra: float, level: float
) -> tuple[tuple[float, float], float]:
    """Limits for a place in [0, 1] of which the influence is known.

    Parameters
    ----------
    found : ClassInfluence
        Influence on the place.
    place : float
        Estimate of the place, its bias taken off.
    extra : float
        Variance that the influence within the classes leaves out.
    level : float
        Nominal probability, in (0, 1).

    Returns
    -------
    limits : tuple of (float, float)
        The limits.
    variance : float
        Variance of the place, that of the added items included.
    """
    place = min(max(place, 0.0), 1.0)
    shift, variance = found.shrunken()
    variance += extra
    shrunken = min(max(place + shift, 0.0), 1.0)
    n_effective = shrunken * (1.0 - shrunken) / variance
    return wilson_limits(place, n_effective, level), variance


def _distribution_free(
    positive: BoolArray,
    score: FloatArray,
    phi: ScoreGeneratingFunction,
    level: float,
    conditional: bool,
    normalize: Normalize,
) -> RankInterval:
    n, k = len(score), int(np.count_nonzero(positive))
    if normalize == "minmax" and not conditional:
        raise ValueError(
            "normalize='minmax' needs the share of positives, which method='dkw' does not know"
            " with conditional=False: pass conditional=True or normalize='mean'."
        )
    worst, best = rank_range(phi, n, k)
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
    delta = (1.0 - level) / 2.0
    eps = np.sqrt((np.log(2.0 / delta) + (1.0 if conditional else 0.0)) / (2.0 * n))
    blocks = tied_blocks(score)
    held = np.add.reduceat(positive[blocks.order], blocks.starts, dtype=np.intp)
    size = blocks.lengths()
    below = (n - blocks.starts - size).astype(np.float64)
    value = phi._sums(below, below + size, np.array([float(n)])) / size
    estimate = float(np.sum(value * held)) / k
    rank = np.arange(n, 0.0, -1.0)
    means = []
    for at in (np.maximum((rank - 1.0) / n - eps, 0.0), np.minimum(rank / n + eps, 1.0)):
        of_block = np.add.reduceat(phi(at), blocks.starts) / size
        means.append((float(np.sum(of_block * held)) / k - floor) / (ceiling - floor))
    least, most = kl_limits(np.clip(means, 0.0, 1.0), np.log(2.0 / delta) / k)
    low, high = (
        floor + (ceiling - floor) * float(least[0]),
        floor + (ceiling - floor) * float(most[1]),
    )
    if normalize == "minmax":
        lowest, highest = limit_range(phi, n, k)
        low, high = ((x - lowest) / (highest - lowest) for x in (low, high))
        low, high = max(low, 0.0), min(high, 1.0)
        estimate = (estimate - worst) / (best - worst)
    return RankInterval(
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        method="dkw",
        target=_target(n, k, conditional, normalize),
    )


class _Resampled:
    """Statistics of samples drawn from the items and one imagined item at either end."""

    def __init__(
        self,
        positive: BoolArray,
        score: FloatArray,
        phi: ScoreGeneratingFunction,
        conditional: bool,
        normalize: Normalize,
    ) -> None:
        self.phi, self.conditional, self.normalize = phi, conditional, normalize
        self.n, self.k = len(score), int(np.count_nonzero(positive))
        blocks = tied_blocks(score)
        held = np.add.reduceat(positive[blocks.order], blocks.starts, dtype=np.intp)
        self.counts = np.stack([held, blocks.lengths() - held])
        self.n_blocks = len(held) + 2
        # Block of each item of either class, the imagined blocks first and last.
        self.places = [np.repeat(np.arange(1, len(held) + 1), row) for row in self.counts]
        rank_range(phi, self.n, self.k)

    def statistic(self, held: FloatArray, other: FloatArray) -> float:
        """Place, between worst and best, of counts in blocks from the top."""
        some = np.flatnonzero(held)
        size = held + other
        n, k = float(size.sum()), float(held.sum())
        below = (n - np.cumsum(size))[some]
        of_list = np.array([n])
        value = self.phi._sums(below, below + size[some], of_list)
        mean = float(np.sum(value * held[some] / size[some])) / k
        if self.normalize == "mean":
            low, high = self.mean_range()
        else:
            low, high = rank_range(self.phi, int(n), int(k))
        return (mean - low) / (high - low)

    def mean_range(self) -> tuple[float, float]:
        """Return the least and the largest mean statistic."""
        if self.conditional:
            return rank_range(self.phi, self.n, self.k)
        ends = self.phi._at_ranks(np.array([1.0, float(self.n)]), np.array([float(self.n)]))
        return float(ends[0]), float(ends[1])

    def draw(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw counts in blocks for both classes."""
        k = self.k
        if not self.conditional:
            k = int(np.clip(rng.binomial(self.n, self.k / self.n), 1, self.n - 1))
        drawn = []
        for size, places in zip((k, self.n - k), self.places, strict=True):
            total = len(places) + 2.0 * PSEUDO_WEIGHT
            at = np.floor(rng.random(size) * total - PSEUDO_WEIGHT).astype(np.intp)
            ends = np.array([0, self.n_blocks - 1])
            inside = (at >= 0) & (at < len(places))
            block = np.where(
                inside, places[np.clip(at, 0, len(places) - 1)], ends[(at > 0).astype(np.intp)]
            )
            drawn.append(np.bincount(block, minlength=self.n_blocks).astype(np.float64))
        return drawn[0], drawn[1]

    def interval(self, level: float, n_resamples: int, rng: np.random.Generator) -> RankInterval:
        held, other = self.counts.astype(np.float64)
        place = self.statistic(held, other)
        draws = np.array([self.statistic(*self.draw(rng)) for _ in range(n_resamples)])
        variance = float(draws.var(ddof=1))
        center = float(draws.mean())
        n_effective = center * (1.0 - center) / variance
        low, high = wilson_limits(min(max(place, 0.0), 1.0), n_effective, level)
        origin, scale = 0.0, 1.0
        if self.normalize == "mean":
            least, largest = self.mean_range()
            origin, scale = least, largest - least
        return RankInterval(
            estimate=origin + scale * place,
            low=origin + scale * low,
            high=origin + scale * high,
            level=level,
            method="bootstrap",
            target=_target(self.n, self.k, self.conditional, self.normalize, "expected statistic"),
            standard_error=scale * float(np.sqrt(variance)),
        )
