"""Intervals for measures of one list: by influence, places, extremes, distances, resampling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import hypot, inf, isfinite, isnan, nan, pi, sqrt
from typing import Any

import numpy as np
from scipy.special import exprel, ndtri
from scipy.stats import binom

from .._lists import ScoredLists
from .._order import TiedBlocks, counted_blocks, top_mass
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..metrics import Measure, get_measure, precision_at_top_score
from ..metrics._shared import (
    ABSOLUTE_VARIANCE,
    PSEUDO_WEIGHT,
    ClassInfluence,
    Draws,
    Evidence,
    Groups,
    RateCurve,
    share_at,
)
from ._joint import GroupPart, Joint, Spread, joint_influence
from ._limits import (
    BLOCK,
    Limits,
    exact_limits,
    independent_rows,
    kolmogorov_margin,
    largest_excess,
    midp_limits,
    safe_limits,
    share_limits,
    two_sided_quantile,
    wilson_limits,
)
from ._results import Interval

# --------------------------------------------------------------------------------------- influence


def influence_limits(
    influence: ClassInfluence,
    estimate: float,
    level: float,
    *,
    groups: Groups | None = None,
    conditional: bool = True,
) -> Limits:
    """Limits at these labels for the effective number of Bernoulli draws of the influence.

    Jumps count as those of random labels if these are not fixed.
    """
    degrees, jump_bias = inf, influence.jump_bias[0 if conditional else 1]
    if groups is None:
        shift, variance = influence.regularized()
    else:
        # Half a row is added at either end: what this adds to the variance of independent rows
        # counts as many times as groups vary more than they.
        weight = influence.sampling_weight
        shift, variance, independent, parts = 0.0, 0.0, 0.0, []
        for in_class, ends in zip(influence.classes, influence.class_ends(), strict=True):
            values = influence.values[np.newaxis, in_class]
            of_class = None if weight is None else weight[in_class]
            part = GroupPart.of_rows(values, groups.only(in_class), of_class, 1.0)
            parts.append(part)
            share, n_equal = np.asarray(1.0 / values.size), float(values.size)
            if of_class is not None:
                share = of_class / of_class.sum()
                n_equal = 1.0 / float(share @ share)
            count = n_equal + 2.0 * PSEUDO_WEIGHT
            center = float(np.sum(values * share))
            mean = (n_equal * center + PSEUDO_WEIGHT * sum(ends)) / count
            shift += mean - center
            squares = float(part.row_squares[0])
            independent += squares
            variance += squares * (n_equal / count) ** 2
            variance += n_equal * ((center - mean) / count) ** 2
            variance += PSEUDO_WEIGHT * sum((end - mean) ** 2 for end in ends) / count**2
        total = np.sum([part.sums[0] for part in parts], axis=0)
        between = float(total @ total)
        effect = len(influence.values) / min(part.count for part in parts)
        if independent > 0.0:
            effect = max(between / independent, 1.0)
        variance = between + effect * (variance - independent)
        jump_bias = jump_bias * sqrt(effect)
        degrees = Spread.of_groups(parts).of(np.ones(1))
    squares = jump_bias**2 - influence.jump_bias[0] ** 2
    variance += influence.slope_variance + ABSOLUTE_VARIANCE * float(squares.max())
    # Whether there is a jump is uncertain: with its bias, and without.
    values = np.clip(estimate - np.append(0.0, jump_bias), 0.0, 1.0)
    shrunken = np.clip(values + shift, 0.0, 1.0)
    low, high = share_limits(values, shrunken * (1.0 - shrunken) / variance, level, degrees)
    return float(low.min()), float(high.max())


def with_random_share(
    limits: Limits,
    influence: ClassInfluence,
    level: float,
    joint: Joint,
    groups: Groups | None,
) -> Limits:
    """Add to limits at this share of positives what other shares do, on the scale of logarithms.

    What a joint estimate with random labels has in addition to that with fixed ones. The distances
    are added in squares: given the labels the errors are not correlated (Zou & Donner 2008).
    """
    fixed, value = joint_influence([influence], groups=groups), influence.estimate
    added = max(float((joint.regularized - fixed.regularized)[0, 0]), 0.0)
    degrees = joint.spread.of(np.ones(1)) if groups else inf
    half = two_sided_quantile(level, degrees) * sqrt(added)
    relative = half / value if value > half else 0.0
    down, up = (half * exprel([-relative, relative])).tolist()
    return value - hypot(value - limits[0], down), value + hypot(limits[1] - value, up)


def list_interval(
    measure: Measure,
    influence: ClassInfluence,
    level: float,
    groups: Groups | None = None,
    *,
    conditional: bool = True,
) -> Interval:
    conditional = conditional and influence.sampling_weight is None
    joint = joint_influence([influence], conditional=conditional, groups=groups)
    error = float(joint.errors[0])
    if isfinite(influence.length):
        origin, length = influence.range[0], influence.length
        share = influence.scaled(origin, length)
        value = share.estimate - share.bias
        limits = influence_limits(share, value, level, groups=groups, conditional=conditional)
        # The bias is subtracted from the limits only, and the interval contains the estimate.
        low = origin + length * min(limits[0], share.estimate)
        high = origin + length * max(limits[1], share.estimate)
        if influence.exponent != 1.0:
            low, high = low**influence.exponent, high**influence.exponent
            # The slope at 0 is infinite.
            error, influence = error if influence.estimate else nan, influence.linear
        if not conditional:
            low, high = with_random_share((low, high), influence, level, joint, groups)
            low, high = max(low, measure.range[0]), min(high, measure.range[1])
    else:
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
    known = None if isnan(error) else error
    return Interval(influence.estimate, low, high, level, "influence", target, known)


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


# -------------------------------------------------------------------------------------- resampling


def bootstrap_interval(
    evidence: Evidence, level: float, *, n_resamples: int, rng: np.random.Generator, **_: Any
) -> Interval:
    """Interval between percentiles of the measure of resampled lists."""
    least = int(np.ceil(2.0 / (1.0 - level)))
    if n_resamples < least:
        raise ValueError(
            f"n_resamples={n_resamples} is too small for level={level}: pass at least {least}."
        )
    (values,) = resampled_values([evidence], n_resamples, rng)
    measure, estimate = evidence.measure, float(evidence.repeat().value)
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


def resampled_values(
    evidences: Sequence[Evidence], n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Values of rankers on the same resampled lists. Shape (n_rankers, n_resamples)."""
    repeated = [evidence.repeat() for evidence in evidences]
    units, stratified = _units(repeated[0])

    def draw() -> IntArray:
        if stratified:
            return np.concatenate([rows[rng.integers(0, len(rows), len(rows))] for rows in units])
        return np.concatenate([units[i] for i in rng.integers(0, len(units), len(units))])

    size, values = max(1, BLOCK // len(repeated[0].data.score)), []
    for start in range(0, n_resamples, size):
        lists = [draw() for _ in range(min(size, n_resamples - start))]
        rows, offsets = np.concatenate(lists), np.append(0, np.cumsum(list(map(len, lists))))
        batch = []
        for evidence in repeated:
            labels, score = evidence.data.labels[rows], evidence.data.score[rows]
            resampled = ScoredLists(
                labels=labels, score=score, offsets=offsets, ids=np.arange(len(lists))
            )
            batch.append(evidence.measure._values(resampled))
        values.append(np.stack(batch))
    found, measure = np.concatenate(values, axis=1), evidences[0].measure
    undefined = int(np.count_nonzero(np.isnan(found).any(axis=0)))
    if undefined or any(np.isnan(evidence.value) for evidence in repeated):
        raise ValueError(
            f"{measure.name} is undefined for {undefined} of {n_resamples} bootstrap samples"
            f" ({measure.lacking}): pass more items, or larger groups."
        )
    return found


def _units(sample: Evidence) -> tuple[list[IntArray], bool]:
    """Rows of each group or, without groups, of each class; whether rows are resampled within."""
    data = sample.data
    if sample.groups is not None:
        order = np.argsort(sample.groups.codes, kind="stable")
        starts = np.flatnonzero(np.diff(sample.groups.codes[order], prepend=-1))
        return np.split(order, starts[1:]), False
    if data.labels.dtype != bool or not sample.conditional:
        return [np.arange(len(data.score))], True
    return [np.flatnonzero(data.positive), np.flatnonzero(~data.positive)], True


# ------------------------------------------------------------------------------- places, extremes


def draws_interval(evidence: Evidence, level: float, *, name: str, **_: Any) -> Interval:
    """Interval for the expectation of a sum over independent items.

    A mean of draws of weights w from [0, 1] has limits as if it were that of ``1 / max(w)`` draws
    of 0 and 1 that are alike, which is k for precision: draws that differ, count less or are
    between 0 and 1 spread less. The items of a group are one draw.
    """
    draws = evidence.draws
    low, high = limits_of_draws(draws, evidence.groups is not None, level, name)
    limits = draws.unit * low, draws.unit * high
    return Interval(draws.unit * draws.mean, *limits, level, name, draws.target)


def limits_of_draws(draws: Draws, grouped: bool, level: float, method: str) -> Limits:
    weights = draws.groups.sums(draws.weights) if grouped else draws.weights
    n = 1.0 / float(weights.max())
    if method == "exact":
        tail = (1.0 - level) / 2.0
        low, high = exact_limits(n * draws.mean, n * (1.0 - draws.mean), tail)
        return float(low), float(high)
    if not grouped:
        return safe_limits(draws.mean, n, level)
    # Items of a group that differ count as more than one draw.
    sums = draws.groups.sums(draws.weights * (draws.values - draws.mean))
    part = GroupPart(sums[np.newaxis], weights)
    return safe_limits(draws.mean, part.draws_of_share(draws.mean)[0], level, part.degrees)


def any_interval(evidence: Evidence, level: float, **_: Any) -> Interval:
    """Interval for the chance of a positive among the first items of one list, given its scores.

    The lower limit follows from that for the expected precision p of the first k, since ``1 - (1 -
    p)**k`` is the least chance of a positive; where ties are cut by the k-th place, or items
    depend on each other, p itself is taken. The upper one is that of a single draw: 1, unless
    there was no positive.
    """
    draws, grouped = evidence.draws, evidence.groups is not None
    low = limits_of_draws(draws, grouped, level, "exact")[0]
    if draws.whole_places and not grouped:
        k = evidence.measure.laws["any"]
        low = -float(np.expm1(k * np.log1p(-low))) if low < 1.0 else 1.0
    estimate = float(np.nan_to_num(evidence.value))
    high = 1.0 if draws.mean > 0.0 else (1.0 + level) / 2.0
    target = f"expected {evidence.measure.name} given the scores, labels new"
    return Interval(estimate, min(low, estimate), high, level, "exact", target)


def largest_difference_interval(evidence: Evidence, level: float, **_: Any) -> Interval:
    """Interval for the Kolmogorov-Smirnov statistic of the population, valid for every n.

    The statistic is at most as far from that of the population as both distribution functions
    together: ``|D - D'| <= sup|F+ - F+'| + sup|F- - F-'|``.
    """
    measure, data, groups = evidence.measure, evidence.data, evidence.groups
    estimate = evidence.value
    n_pos = int(data.positives[0])
    n_neg = int(data.sizes[0]) - n_pos
    if groups is not None:
        n_pos, n_neg = (
            independent_rows(groups.sizes(rows)) for rows in (data.positive, ~data.positive)
        )
    margin = largest_deviation(n_pos, n_neg, level, grouped=groups is not None)
    low, high = max(estimate - margin, 0.0), min(estimate + margin, 1.0)
    return Interval(estimate, low, high, level, "dkw", f"{measure.name} of the population")


@lru_cache(maxsize=64)
def largest_deviation(n_pos: int, n_neg: int, level: float, *, grouped: bool) -> float:
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
            sums.append(largest_excess(delta / 2.0, n_pos) + largest_excess(rest / 2.0, n_neg))
    return min(sums)


# ----------------------------------------------------------------------------------------- the top


def top_limits(
    estimate: float, eta: float, top: float, tau: float, level: float, jump: float = 0.0
) -> tuple[Limits, float]:
    """Return score limits for the precision at the top, or exact ones where they are farther out.

    The score limits are the p with ``top (estimate - p)**2 <= z**2 (p (1 - p) + (1 - tau) (p -
    eta)**2)``: the variance is that of the candidate precision, not of the observed one. Where the
    share of positives jumps at the threshold, the estimate may have its bias, or not.
    """
    c = float(ndtri((1.0 + level) / 2.0)) ** 2 / top
    # (estimate - p)^2 - c (p - p^2 + (1 - tau) (p - eta)^2) = square p^2 - 2 half p + constant.
    square = 1.0 + c * tau
    half = estimate + c / 2.0 - c * (1.0 - tau) * eta
    constant = estimate**2 - c * (1.0 - tau) * eta**2
    root = float(np.sqrt(max(half**2 - square * constant, 0.0)))
    score = max((half - root) / square, 0.0), min((half + root) / square, 1.0)

    shrunken = (top * estimate + 0.5) / (top + 1.0)
    binomial = shrunken * (1.0 - shrunken)
    variance = (binomial + (1.0 - tau) * (shrunken - eta) ** 2) / top
    low, high = map(float, midp_limits(estimate, binomial / variance, level))
    low, high = min(score[0], low), max(score[1], high)
    if jump:
        unbiased = min(max(estimate + jump * sqrt((1.0 - tau) / (2.0 * pi * top)), 0.0), 1.0)
        others = top_limits(unbiased, eta, top, tau, level)[0]
        low, high = min(low, others[0]), max(high, others[1])
    return (low, high), variance


def grouped_top(
    positive: BoolArray, blocks: TiedBlocks, groups: Groups, top: int, eta: float
) -> tuple[float, GroupPart]:
    """Compute the precision at the top, and what groups contribute to it.

    An item of the share u in the top moves the precision by ``(u (y - eta) - (pi - eta) top / n) /
    top``, which includes what it moves the threshold.
    """
    n = len(positive)
    inside = blocks.to_items(np.clip((top - blocks.starts) / blocks.lengths(), 0.0, 1.0))
    precision = float(inside @ positive) / top
    influence = (inside * (positive - eta) - (precision - eta) * top / n) / top
    in_top = groups.only(inside > 0.0)
    return precision, GroupPart(groups.sums(influence)[np.newaxis], in_top.sizes())


# Part of the error that "exact" spends on where the top of the population ends in the sample.
THRESHOLD_SHARE = 0.2


def top_interval(evidence: Evidence, level: float, *, name: str, **_: Any) -> Interval:
    data, groups, tau = evidence.data, evidence.groups, float(evidence.measure.laws["top"])
    estimate = float(get_measure(precision_at_top_score, tau=tau).values(data)[0])
    error, n = None, int(data.sizes[0])
    leading, top = data, int(top_mass(np.array([float(n)]), tau)[0])
    if name == "influence" and groups is None:
        # The items about the threshold are within sqrt(n) places of it.
        leading = data.leading(top + int(np.ceil(np.sqrt(n))) + 1)
    blocks = counted_blocks(leading.score, leading.positive, leading.weight)
    if name == "exact":
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
        eta, jump = share_at(blocks, top, n)
        if groups is None:
            (low, high), variance = top_limits(estimate, eta, top, tau, level, jump)
            plain = estimate * (1.0 - estimate) + (1.0 - tau) * (estimate - eta) ** 2
            # Where the sample shows no variance, half an item is added.
            error = float(np.sqrt(plain / top if plain > 0.0 else variance))
        else:
            share, part = grouped_top(data.positive, blocks, groups, top, eta)
            n_effective, variance = part.draws_of_share(share)
            low, high = wilson_limits(estimate, n_effective, level, part.degrees)
            plain = float(np.sum(part.corrected**2))
            error = float(np.sqrt(plain if plain > 0.0 else variance))
    target = f"precision in the top {tau:g} of the population"
    return Interval(estimate, low, high, level, name, target, error)


def extreme_hits(n_pos: Any, size: Any, count: IntArray) -> tuple[AnyArray, AnyArray]:
    """Fewest and most positives of the top, negatives or positives first in a block it cuts."""
    upto, positives = np.cumsum(size), np.cumsum(n_pos)
    block = np.searchsorted(upto, count, "left")
    inside, before = n_pos[block], positives[block] - n_pos[block]
    cut = count - (upto[block] - size[block])
    return before + np.maximum(cut - (size[block] - inside), 0), before + np.minimum(cut, inside)
