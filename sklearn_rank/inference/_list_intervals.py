"""Intervals for measures of one list: by influence, places, extremes, distances, resampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np
from scipy.special import digamma, ndtri, smirnovi, zeta
from scipy.stats import binom

from .._lists import ScoredLists
from .._order import (
    CountedBlocks,
    TiedBlocks,
    check_n_places,
    counted_blocks,
    tied_blocks,
    top_mass,
)
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..metrics import Measure, get_measure, precision_at_top_score
from ..metrics._shared import (
    PSEUDO_WEIGHT,
    AveragePrecisionMeasure,
    ClassInfluence,
    CustomMeasure,
    EnrichmentFactorMeasure,
    LiftMeasure,
    NegativeHeightMeasure,
    PartialAUCMeasure,
    PositivesAtTopMeasure,
    PrecisionAtKMeasure,
    RateCurve,
    SmoothedPrecisionAtTopMeasure,
    SpearmanMeasure,
    SuccessMeasure,
    TauAPMeasure,
    TauBMeasure,
    TauXMeasure,
    share_at,
)
from ._evidence import (
    GroupPart,
    Groups,
    OneList,
    Spread,
    influence_of,
    joint_influence,
    label_sums,
    nonzero_variance,
    ordered_rows,
    runs_of_negatives,
    singleton_groups,
    with_tied_tail,
)
from ._limits import (
    Limits,
    exact_limits,
    independent_rows,
    kolmogorov_margin,
    midp_limits,
    safe_limits,
    two_sided_quantile,
    wider,
    wilson_limits,
)
from ._results import Interval

# --------------------------------------------------------------------------------------- influence


def influence_limits(
    influence: ClassInfluence,
    estimate: float,
    level: float,
    *,
    conditional: bool,
    groups: Groups | None = None,
) -> tuple[Limits, float]:
    """Limits for the effective number of Bernoulli draws of the influence, and the variance."""
    estimate = min(max(estimate, 0.0), 1.0)
    degrees = inf
    if groups is None:
        shift, variance = influence.regularized()
        variance += 0.0 if conditional else influence.label_variance()
    else:
        # Half a group is added at either end.
        positive, weight = influence.positive, influence.sampling_weight
        shift, variance, parts = 0.0, 0.0, []
        total = np.zeros(groups.n_groups)
        for in_class, ends in zip((positive, ~positive), influence.class_ends(), strict=True):
            values, of_class = influence.values[in_class], groups.only(in_class)
            weight_in_class = None if weight is None else weight[in_class]
            part = GroupPart.of_rows(values[np.newaxis], of_class, weight_in_class)
            parts.append(part)
            count = part.worth + 2.0 * PSEUDO_WEIGHT
            center = float(np.average(values, weights=weight_in_class))
            mean = (part.worth * center + PSEUDO_WEIGHT * sum(ends)) / count
            shift += mean - center
            # About the mean with the added groups, each of the mean size.
            total += part.sums[0] * (part.worth / count)
            squares = (center - mean) ** 2 * float(part.share @ part.share) * part.worth**2
            squares += PSEUDO_WEIGHT * sum((end - mean) ** 2 for end in ends)
            variance += squares / count**2
        if not conditional:
            total += influence.label_slope * label_sums(positive, weight, groups)
        variance += float(total @ total)
        degrees = Spread.of_groups(parts).of(np.ones(1))
    shrunken = min(max(estimate + shift, 0.0), 1.0)
    n_effective = shrunken * (1.0 - shrunken) / variance
    return safe_limits(estimate, n_effective, level, degrees), variance


def list_interval(
    measure: Measure,
    influence: ClassInfluence,
    level: float,
    groups: Groups | None = None,
    *,
    conditional: bool = True,
) -> Interval:
    conditional = conditional and influence.sampling_weight is None
    if isfinite(influence.length):
        origin, length = influence.range[0], influence.length
        share = influence.scaled(origin, length)
        limits, variance = influence_limits(
            share, share.estimate - share.bias, level, conditional=conditional, groups=groups
        )
        # The bias is subtracted from the limits only, and the interval contains the estimate.
        low = origin + length * min(limits[0], share.estimate)
        high = origin + length * max(limits[1], share.estimate)
        error = length * float(np.sqrt(variance))
    else:
        joint = joint_influence([influence], conditional=conditional, groups=groups)
        error = float(np.sqrt(nonzero_variance(joint, np.ones(1), 0.0)))
        if not error > 0.0:
            raise ValueError(
                f"{measure.name} has no known range and the same influence value for all items, so"
                " its variance cannot be estimated: pass range= to make_measure."
            )
        degrees = joint.spread.of(np.ones(1))
        half = error * (two_sided_quantile(level, degrees if groups else np.inf))
        low, high = (
            float(np.clip(influence.estimate + side * half, *influence.range))
            for side in (-1.0, 1.0)
        )
    # What does not move with the share of positives is at no share of them.
    where = (
        f"at {influence.n_pos} positives of {influence.n}"
        if influence.label_slope and conditional
        else "of the population"
    )
    target = f"{measure.name} {where}"
    return Interval(influence.estimate, low, high, level, "influence", target, error)


def rate_limits(curve: RateCurve, level: float) -> Limits:
    """Join the limits of the threshold, a quantile of one class, and of the rate of the other."""
    tail = (1.0 - level) / 2.0
    k, m = float(curve.ones.sum()), float(curve.others.sum())
    estimate = curve.before(curve.threshold) / k
    least = int(binom.ppf(tail, m, curve.rate))
    largest = int(binom.isf(tail, m, curve.rate)) + 1
    chance = safe_limits(estimate, k, level)
    low = max(estimate - np.hypot(estimate - curve.before(least) / k, estimate - chance[0]), 0.0)
    high = min(
        estimate + np.hypot(curve.before(largest) / k - estimate, chance[1] - estimate), 1.0
    )
    return (low, high) if curve.of_positives else (1.0 - high, 1.0 - low)


def influence_interval(
    measure: Measure,
    sample: OneList,
    level: float,
    method: str,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    if method == "bootstrap":
        return bootstrap_interval(measure, sample, level, n_resamples, rng)
    data = sample.data
    if sample.groups is None and not isinstance(measure, CustomMeasure):
        # Merge items that the measure does not distinguish.
        if isinstance(measure, AveragePrecisionMeasure | PartialAUCMeasure):
            data = runs_of_negatives(data)
        else:
            top = 1.0
            if isinstance(measure, EnrichmentFactorMeasure | LiftMeasure):
                top = float(measure.fraction)
            elif isinstance(measure, SmoothedPrecisionAtTopMeasure):
                top = measure.largest_top
            data = ordered_rows(with_tied_tail(data, top))
    influence = influence_of(measure, data, conditional=sample.conditional)
    interval = list_interval(
        measure, influence, level, sample.groups, conditional=sample.conditional
    )
    if influence.curve is not None and method != "influence":
        low, high = rate_limits(influence.curve, level)
        return replace(interval, low=low, high=high, method=method)
    return interval


# -------------------------------------------------------------------------------------- resampling


# Largest number of items in the lists that are evaluated at once.
ITEMS = 2**20


def bootstrap_interval(
    measure: Measure,
    sample: OneList,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """Interval between percentiles of the measure of resampled lists."""
    least = int(np.ceil(2.0 / (1.0 - level)))
    if n_resamples < least:
        raise ValueError(
            f"n_resamples={n_resamples} is too small for level={level}: pass at least {least}."
        )
    sample = sample.repeat()
    data = sample.data
    estimate = float(measure.values(data)[0])
    units, stratified = _units(sample)

    def draw() -> IntArray:
        if stratified:
            return np.concatenate([rows[rng.integers(0, len(rows), len(rows))] for rows in units])
        return np.concatenate([units[i] for i in rng.integers(0, len(units), len(units))])

    size = max(1, ITEMS // len(data.score))
    batches = []
    for start in range(0, n_resamples, size):
        lists = [draw() for _ in range(min(size, n_resamples - start))]
        rows = np.concatenate(lists)
        resampled = ScoredLists(
            labels=data.labels[rows],
            score=data.score[rows],
            offsets=np.append(0, np.cumsum(list(map(len, lists)))),
            ids=np.arange(len(lists)),
        )
        batches.append(measure._values(resampled))
    values = np.concatenate(batches)
    undefined = int(np.count_nonzero(np.isnan(values)))
    if undefined or np.isnan(estimate):
        raise ValueError(
            f"{measure.name} is undefined for {undefined} of {n_resamples} bootstrap samples"
            f" ({measure.lacking}): pass more items, or larger groups."
        )
    if np.ptp(values) == 0.0:
        raise ValueError(
            f"{measure.name} is {estimate:.4g} for all {n_resamples} bootstrap samples, so its"
            " variance cannot be estimated: pass a list for which the order matters, or"
            " make_measure(..., influence=)."
        )
    low, high = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    target, error = f"{measure.name} of the population", float(values.std(ddof=1))
    low, high = min(low, estimate), max(high, estimate)
    return Interval(estimate, low, high, level, "bootstrap", target, error)


def _units(sample: OneList) -> tuple[list[IntArray], bool]:
    """Rows of each group or, without groups, of each class; whether rows are resampled within."""
    data = sample.data
    if sample.groups is not None:
        order = np.argsort(sample.groups.codes, kind="stable")
        starts = np.flatnonzero(np.diff(sample.groups.codes[order], prepend=-1))
        return np.split(order, starts[1:]), False
    if data.labels.dtype != bool or not sample.conditional:
        return [np.arange(len(data.score))], True
    return [np.flatnonzero(data.positive), np.flatnonzero(~data.positive)], True


# ----------------------------------------------------------------------------- places and extremes


def place_sum_interval(
    measure: Measure, sample: OneList, level: float, method: str, *_: Any
) -> Interval:
    """Interval for the expectation of a sum over the places of one list, given its scores.

    A mean of draws of weights w from [0, 1] has limits as if it were that of ``1 / max(w)`` draws
    of 0 and 1 that are alike, which is k for precision: draws that differ, count less or are
    between 0 and 1 spread less.
    """
    mean, largest, unit = _draws_of(measure, sample)[:3]
    low, high = (exact_share_limits if method == "exact" else safe_limits)(
        mean, 1.0 / largest, level
    )
    target = f"expected {measure.name} given the scores, labels new"
    return Interval(unit * mean, unit * low, unit * high, level, method, target)


def success_interval(measure: SuccessMeasure, sample: OneList, level: float, *_: Any) -> Interval:
    """Interval for the chance of a positive among the first items of one list, given its scores.

    The lower limit follows from that for the expected precision p of the first k, since ``1 - (1 -
    p)**k`` is the least chance of a positive; where ties are cut by the k-th place p itself is
    taken. The upper one is that of a single draw: 1, unless there was no positive.
    """
    precision = PrecisionAtKMeasure(k=measure.k, rel=measure.rel)
    mean, largest, _unit, of_whole_places = _draws_of(precision, sample)
    low = exact_share_limits(mean, 1.0 / largest, level)[0]
    if of_whole_places:
        low = -float(np.expm1(measure.k * np.log1p(-low))) if low < 1.0 else 1.0
    estimate = float(np.nan_to_num(measure.values(sample.data)[0]))
    high = 1.0 if mean > 0.0 else (1.0 + level) / 2.0
    target = f"expected {measure.name} given the scores, labels new"
    return Interval(estimate, min(low, estimate), high, level, "exact", target)


def exact_share_limits(estimate: float, draws: float, level: float) -> Limits:
    hits, misses = draws * estimate, draws * (1.0 - estimate)
    low, high = exact_limits(hits, misses, (1.0 - level) / 2.0)
    return float(low), float(high)


def _draws_of(measure: Any, sample: OneList) -> tuple[float, float, float, bool]:
    """Read a list as draws from [0, 1]: each item with the mean discount of its tied block.

    Weighted mean of the draws, largest weight, value of the measure where all draws are 1, and
    whether no block of ties is cut, so that each place is one item.
    """
    data, n = sample.data, int(sample.data.sizes[0])
    if measure.kind == "graded" and measure.scaled_by_labels:
        measure = replace(measure, max_grade=float(data.grade.max()) or 1.0)
    form = measure.positional
    check_n_places(n)
    discounts = form.discounts(n)
    places = int(np.flatnonzero(discounts)[-1]) + 1 if discounts.any() else 0
    top = OneList(data.leading(places)).repeat().data
    blocks = tied_blocks(top.score)
    lengths = blocks.lengths()
    cut = (blocks.starts < places) & (blocks.starts + lengths > places)
    share = np.add.reduceat(discounts[: len(top.score)], blocks.starts) / lengths
    weight = np.empty(len(top.score))
    weight[blocks.order] = np.repeat(share, lengths)
    utility = np.asarray(form.utilities(top), dtype=np.float64)
    highest = float(form.utilities(data).max()) if form.largest is None else form.largest
    if discounts.min() < 0.0 or utility.min() < 0.0:
        raise ValueError(
            f"{measure.name} has a negative gain or discount, which its interval for one list does"
            " not support: pass qid for the mean over queries."
        )
    total = float(weight.sum())
    if not (total > 0.0 and highest > 0.0):
        raise ValueError(
            f"{measure.name} is 0 for every order, because no item of y_true has a positive gain:"
            " pass a list with grades above 0."
        )
    mean = min(max(float(weight @ utility) / (total * highest), 0.0), 1.0)
    return mean, float(weight.max()) / total, total * highest, not cut.any()


def above_negatives_interval(
    measure: PositivesAtTopMeasure, sample: OneList, level: float, method: str, *_: Any
) -> Interval:
    """Interval for the fraction of new positives above the highest observed negative.

    Given the negatives, the positives above the highest of them are a binomial number. The highest
    of new negatives is another one: its own variance, that of an extreme, is not in the interval.
    """
    data = sample.data
    positive, counts = data.positive, data.counts
    highest = data.score[~positive].max()
    n_tied = float(counts[~positive & (data.score == highest)].sum())
    # A tied positive counts with the probability that it is above all tied negatives.
    above = np.where(data.score > highest, 1.0, 0.0)
    above[data.score == highest] = 1.0 / (n_tied + 1.0)
    above[~positive] = 0.0
    n_pos, n_neg = int(data.positives[0]), int(data.sizes[0] - data.positives[0])
    share = float(counts @ above) / n_pos
    if sample.groups is not None:
        influence = ClassInfluence(
            share, above, positive, ends=(0.0, 1.0, 0.0, 0.0), range=(0.0, 1.0), label_slope=0.0
        )
        (low, high), _variance = influence_limits(
            influence, share, level, conditional=True, groups=sample.groups
        )
    else:
        find = exact_share_limits if method == "exact" else safe_limits
        low, high = find(share, float(n_pos), level)
    unit = 1.0 if measure.normalize else float(n_pos)
    quantity = "share" if measure.normalize else f"expected number among {n_pos}"
    target = f"{quantity} of new positives above the highest of the {n_neg} negatives seen"
    return Interval(unit * share, unit * low, unit * high, level, method, target)


def height_interval(
    measure: NegativeHeightMeasure, sample: OneList, level: float, *_: Any
) -> Interval:
    """Interval for the height of the negatives in the population, of a finite norm.

    The power ``M = mean over negatives of h(s)^p`` varies as the mean of ``h(s)^p`` over the
    negatives and that of ``p E[h(S)^(p - 1); S > x]``, S a negative, over the positives x; its
    limits are taken to the power ``1 / p``.
    """
    data, p = sample.data, float(measure.p)
    estimate = float(measure.values(data)[0])
    blocks = counted_blocks(data.score, data.positive, data.weight)
    n_pos, n_neg = blocks.n_pos, blocks.size - blocks.n_pos
    k, m = float(blocks.k), float(blocks.n - blocks.k)
    # Blocks descend: a negative has the positives below it and half of those of its own block.
    height = (k - np.cumsum(n_pos) + n_pos / 2.0) / k
    weighted = n_neg * p * height ** (p - 1.0) / m
    above = np.cumsum(weighted) - weighted / 2.0
    order = blocks.rows.order
    values = np.empty(len(order))
    values[order] = np.where(
        data.positive[order], blocks.to_rows(above), blocks.to_rows(height**p)
    )
    influence = ClassInfluence(
        estimate=estimate**p,
        values=values,
        positive=data.positive,
        # A positive below all negatives and one above, a negative likewise.
        ends=(float(weighted.sum()), 0.0, 0.0, 1.0),
        range=(0.0, 1.0),
        counts=data.weight,
    )
    limits, variance = influence_limits(
        influence, influence.estimate, level, conditional=True, groups=sample.groups
    )
    low, high = (limit ** (1.0 / p) for limit in limits)
    slope = estimate ** (1.0 - p) / p if estimate > 0.0 else np.inf
    error = slope * float(np.sqrt(variance))
    low, high, target = (
        min(low, estimate),
        max(high, estimate),
        f"{measure.name} of the population",
    )
    known = error if isfinite(error) else None
    return Interval(estimate, low, high, level, "influence", target, known)


def largest_difference_interval(
    measure: Measure, sample: OneList, level: float, *_: Any
) -> Interval:
    """Interval for the Kolmogorov-Smirnov statistic of the population, valid for every n.

    The statistic is at most as far from that of the population as both distribution functions
    together: ``|D - D'| <= sup|F+ - F+'| + sup|F- - F-'|``.
    """
    data, groups = sample.data, sample.groups
    estimate = float(measure.values(data)[0])
    n_pos = int(data.positives[0])
    n_neg = int(data.sizes[0]) - n_pos
    if groups is not None:
        n_pos, n_neg = (
            independent_rows(groups.sizes(rows)) for rows in (data.positive, ~data.positive)
        )
    reach = _largest_deviation(n_pos, n_neg, level, groups is not None)
    low, high = max(estimate - reach, 0.0), min(estimate + reach, 1.0)
    return Interval(estimate, low, high, level, "dkw", f"{measure.name} of the population")


@lru_cache(maxsize=64)
def _largest_deviation(n_pos: int, n_neg: int, level: float, grouped: bool) -> float:
    sums = []
    # Shares of the error that one class may have; the best of them depends on the counts alone.
    for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        delta = share * (1.0 - level)
        if grouped:
            rest = 1.0 - level - delta
            sums.append(kolmogorov_margin(delta, n_pos) + kolmogorov_margin(rest, n_neg))
        else:
            # The classes are independent.
            rest = 1.0 - level / (1.0 - delta)
            sums.append(float(smirnovi(n_pos, delta / 2.0)) + float(smirnovi(n_neg, rest / 2.0)))
    return min(sums)


# ----------------------------------------------------------------------------------------- the top


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


def top_interval_of(
    data: ScoredLists,
    tau: float,
    level: float = 0.95,
    method: str = "influence",
    groups: Groups | None = None,
) -> Interval:
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
        delta = 1.0 - level
        # Numbers of items that may lie above the threshold of the population.
        least = int(binom.ppf(delta * THRESHOLD_SHARE / 2.0, n, tau))
        count = np.arange(least, int(binom.isf(delta * THRESHOLD_SHARE / 2.0, n, tau)) + 1)
        low, high = 0.0, 1.0
        if least > 0:
            alpha = delta * (1.0 - THRESHOLD_SHARE) / 2.0
            limits = [exact_limits(x, count - x, alpha) for x in extreme_hits(n_pos, size, count)]
            low, high = float(limits[0][0].min()), float(limits[1][1].max())
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


def extreme_hits(n_pos: Any, size: Any, count: IntArray) -> tuple[AnyArray, AnyArray]:
    """Fewest and most positives of the top, negatives or positives first in a block it cuts."""
    upto, positives = np.cumsum(size), np.cumsum(n_pos)
    block = np.searchsorted(upto, count, "left")
    inside, before = n_pos[block], positives[block] - n_pos[block]
    cut = count - (upto[block] - size[block])
    return before + np.maximum(cut - (size[block] - inside), 0), before + np.minimum(cut, inside)


# ------------------------------------------------------------------------------------ correlations


# Influence of each item, of mean 0, and of an item at either extreme.
CorrelationInfluence: TypeAlias = tuple[FloatArray, tuple[float, float]]


class _Pairs:
    """Items in descending order of their scores, and the counts of the items around each."""

    def __init__(self, data: ScoredLists) -> None:
        self.n = len(data.score)
        self.blocks = blocks = tied_blocks(data.score)
        # Number of distinct relevances above that of each item.
        by_grade, level = tied_blocks(data.grade), np.empty(self.n, dtype=np.int64)
        level[by_grade.order] = np.repeat(np.arange(len(by_grade.starts)), by_grade.lengths())
        self.level = level[blocks.order]
        # (4, n): Items of higher and of equal relevance, above the block and in the block.
        self.counts = _weights_around(self.level, np.ones(self.n), blocks.starts)
        lengths = blocks.lengths()
        self.above = np.repeat(blocks.starts, lengths).astype(np.float64)  # Items above the block
        self.size = np.repeat(lengths, lengths).astype(np.float64)  # and of the block

    def agreement(self) -> FloatArray:
        """Items that both orders put on the same side of each, less those on opposite sides."""
        mass = np.bincount(self.level).astype(np.float64)
        ahead = np.cumsum(mass) - mass
        higher, equal, higher_tied, equal_tied = self.counts
        higher_below = ahead[self.level] - higher - higher_tied
        equal_below = mass[self.level] - equal - equal_tied
        lower_below = self.n - self.above - self.size - higher_below - equal_below
        return higher - (self.above - higher - equal) + lower_below - higher_below

    def to_rows(self, values: FloatArray) -> FloatArray:
        rows = np.empty(self.n)
        rows[self.blocks.order] = values
        return rows


def _weights_around(level: IntArray, weight: FloatArray, starts: IntArray) -> FloatArray:
    from ._pair_kernels import pair_weights

    sums = np.empty((4, len(level)))
    level, starts = (np.ascontiguousarray(x, dtype=np.int64) for x in (level, starts))
    pair_weights(level, np.ascontiguousarray(weight), starts, int(level.max()) + 1, sums)
    return sums


def of_tau_x(data: ScoredLists) -> CorrelationInfluence:
    pairs = _Pairs(data)
    agreement = (pairs.agreement() + pairs.counts[3] - 1.0) / (pairs.n - 1.0)
    mean = float(agreement.mean())
    ends = (2.0 * (-1.0 - mean), 2.0 * (1.0 - mean))
    return pairs.to_rows(2.0 * (agreement - mean)), ends


def of_tau_b(data: ScoredLists) -> CorrelationInfluence:
    pairs = _Pairs(data)
    n_others = pairs.n - 1.0
    agreement = pairs.agreement() / n_others
    same_grade = np.bincount(pairs.level).astype(np.float64)[pairs.level]
    by_grade, by_score = ((pairs.n - tied) / n_others for tied in (same_grade, pairs.size))
    mean, mean_grade, mean_score = (float(x.mean()) for x in (agreement, by_grade, by_score))
    # Scores that are all tied have correlation 0, for any divisor.
    mean_score = mean_score or 1.0
    divisor = float(np.sqrt(mean_grade * mean_score))
    tau = mean / divisor

    def influence(agreement: Any, by_grade: Any, by_score: Any) -> Any:
        ties = (by_grade - mean_grade) / mean_grade + (by_score - mean_score) / mean_score
        return 2.0 * (agreement - mean) / divisor - tau * ties

    values = pairs.to_rows(influence(agreement, by_grade, by_score))
    ends = float(influence(-1.0, 1.0, 1.0)), float(influence(1.0, 1.0, 1.0))
    return values - values.mean(), ends


def of_spearman(data: ScoredLists) -> CorrelationInfluence:
    """Influence of the items on Spearman's correlation.

    With u and v the middle ranks by score and by relevance as shares of the list, less one half,
    an item has ``12 (u v + p + q)`` less the mean: p is the mean of v over the items that it is
    below by score, q that of u over those that it is below by relevance, ties counted half.
    """
    n = len(data.score)
    by_score, by_grade = tied_blocks(data.score), tied_blocks(data.grade)
    ranks = []
    for blocks in (by_score, by_grade):
        middle = 0.5 - (blocks.starts + blocks.lengths() / 2.0) / n
        rank = np.empty(n)
        rank[blocks.order] = np.repeat(middle, blocks.lengths())
        ranks.append(rank)
    values = ranks[0] * ranks[1]
    mean = float(values.mean())
    for blocks, rank in ((by_score, ranks[1]), (by_grade, ranks[0])):
        sums = blocks.totals(rank)
        above = (np.cumsum(sums) - sums / 2.0) / n
        values[blocks.order] += np.repeat(above, blocks.lengths())
    values *= 12.0
    values -= values.mean()
    return values, (-3.0 - 36.0 * mean, 3.0 - 36.0 * mean)


def of_tau_ap(data: ScoredLists) -> CorrelationInfluence:
    pairs = _Pairs(data)
    above, size = pairs.above, pairs.size
    right = pairs.counts[0] + pairs.counts[1] / 2.0
    # Of the others of the block, those that belong above the item: each has place r in 1..size.
    tied_right = pairs.counts[2] + (pairs.counts[3] - 1.0) / 2.0
    tied_share = tied_right / np.maximum(size - 1.0, 1.0)
    # Sums over its places of 1 / m and 1 / m^2, m the items above it; then of (r - 1) / m,
    # (r - 1) / m^2 and (r - 1)^2 / m^2.
    ones, squares = _place_sums(above, size)
    at_top = above == 0.0
    ratio = np.where(at_top, size - 1.0, size - above * ones)
    by_square = np.where(at_top, ones, ones - above * squares)
    of_squares = np.where(at_top, size - 1.0, size - 2.0 * above * ones + above**2 * squares)
    share = (right * ones + tied_share * ratio) / size
    # What an item above adds, if it belongs there, and what its presence takes.
    gain, loss = ones / size, (right * squares + tied_share * by_square) / size
    gain[at_top] = loss[at_top] = 0.0
    lower = _weights_around(
        pairs.level.max() - pairs.level[::-1],
        gain[::-1],
        pairs.n - np.append(pairs.blocks.starts[1:], pairs.n)[::-1],
    )[:2, ::-1]
    losses = np.cumsum(loss)
    last = np.repeat(np.append(pairs.blocks.starts[1:], pairs.n) - 1, pairs.blocks.lengths())
    added = lower[0] + lower[1] / 2.0 - (losses[-1] - losses[last])
    n_pairs = size * np.maximum(size - 1.0, 1.0)
    in_block = (right * by_square + tied_share * of_squares) / n_pairs
    if not pairs.blocks.untied:
        totals = np.add.reduceat(in_block, pairs.blocks.starts)
        of_others = np.repeat(totals, pairs.blocks.lengths()) - in_block
        added += np.where(size > 1.0, ratio / n_pairs * (size - 1.0 - tied_right) - of_others, 0.0)
    values = 2.0 * (share + added)
    mean = float(share.mean())
    ends = -2.0 * max(float(loss.sum()), mean), 2.0 * max(float((gain - loss).sum()), 1.0 - mean)
    return pairs.to_rows(values - values.mean()), ends


def _place_sums(above: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of 1/m and 1/m^2 over ``above <= m < above + size``, but m = 0."""
    least = np.maximum(above, 1.0)
    ones, squares = 1.0 / least, 1.0 / least**2
    alone = (above == 0.0) & (size == 1.0)
    ones[alone] = squares[alone] = 0.0
    tied = np.flatnonzero(size > 1.0)
    low, high = least[tied], above[tied] + size[tied]
    ones[tied] = digamma(high) - digamma(low)
    squares[tied] = zeta(2.0, low) - zeta(2.0, high)
    return ones, squares


CORRELATIONS: dict[type[Measure], Callable[[ScoredLists], CorrelationInfluence]] = {
    SpearmanMeasure: of_spearman,
    TauAPMeasure: of_tau_ap,
    TauBMeasure: of_tau_b,
    TauXMeasure: of_tau_x,
}


def correlation_interval(measure: Measure, sample: OneList, level: float, *_: Any) -> Interval:
    """Interval for the correlation in the population that the items were drawn from."""
    sample = sample.repeat()
    data = sample.data
    n = len(data.score)
    if np.ptp(data.grade) == 0.0:
        raise ValueError(
            f"{measure.name} is undefined: all {n} items of y_true have the same relevance; pass"
            " items with different relevance."
        )
    estimate = float(measure.values(data)[0])
    values, limits = CORRELATIONS[type(measure)](data)
    # Half an item, or group, is added at either extreme.
    ends = np.array(limits)
    part = GroupPart.of_rows(values[np.newaxis], sample.groups or singleton_groups(n))
    count = part.effective + 2.0 * PSEUDO_WEIGHT
    shift = PSEUDO_WEIGHT * float(ends.sum()) / count
    squares = PSEUDO_WEIGHT * float(np.sum((ends - shift) ** 2)) + part.effective * shift**2
    variance = float(np.sum(part.corrected() ** 2)) * (part.effective / count) ** 2
    variance += squares / count**2
    shrunken = min(max((estimate + shift + 1.0) / 2.0, 0.0), 1.0)
    n_effective = shrunken * (1.0 - shrunken) / (variance / 4.0)
    low, high = safe_limits((estimate + 1.0) / 2.0, n_effective, level, part.degrees)
    low, high = 2.0 * low - 1.0, 2.0 * high - 1.0
    target = f"{measure.name} of the population"
    return Interval(estimate, low, high, level, "influence", target, float(np.sqrt(variance)))
