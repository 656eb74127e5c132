"""Intervals for measures of one list: by influence, places, extremes, distances, resampling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf, sqrt
from typing import Any

import numpy as np
from scipy.stats import binom

from .._lists import ScoredLists
from .._order import TiedBlocks, counted_blocks, top_mass
from .._typing import AnyArray, FloatArray, IntArray
from ..metrics._shared import (
    Draws,
    Evidence,
    share_at,
)
from ._joint import GroupPart
from ._limits import (
    BLOCK,
    Limits,
    exact_limits,
    independent_rows,
    kolmogorov_margin,
    largest_excess,
    safe_limits,
)
from ._moments import TopMoments, top_variance
from ._results import Interval

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
    estimate, *limits = (draws.origin + draws.unit * x for x in (draws.mean, low, high))
    return Interval(estimate, min(limits), max(limits), level, name, draws.target)


def limits_of_draws(draws: Draws, grouped: bool, level: float, method: str) -> Limits:
    weights = draws.sums(1.0) if grouped else draws.weights
    n = 1.0 / float(weights.max())
    if method == "exact":
        tail = (1.0 - level) / 2.0
        low, high = exact_limits(n * draws.mean, n * (1.0 - draws.mean), tail)
        return float(low), float(high)
    if not grouped:
        return safe_limits(draws.mean, n, level)
    # Items of a group that differ count as more than one draw.
    sums = draws.sums(draws.values - draws.mean)
    part = GroupPart(sums[np.newaxis], weights, times=draws.groups.times)
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
        k = evidence.measure.k
        low = -float(np.expm1(k * np.log1p(-low))) if low < 1.0 else 1.0
    estimate = float(np.nan_to_num(evidence.value))
    high = 1.0 if draws.mean > 0.0 else (1.0 + level) / 2.0
    target = f"expected {evidence.measure.name} for the same scores and new labels"
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


def top_moments(evidence: Evidence) -> TopMoments:
    """Moments of the precision in the top, whose error includes that of the threshold.

    An item of the share u in the top moves the precision by ``(u (y - eta) - (pi - eta) top / n) /
    top``, which includes what it moves the threshold; these are summed by group.
    """
    data, groups, tau = evidence.data, evidence.groups, float(evidence.measure.tau)
    n = int(data.sizes[0])
    leading, top = data, int(top_mass(data.sizes, tau)[0])
    if groups is None:
        # The items about the threshold are within sqrt(n) places of it.
        leading = data.leading(top + int(np.ceil(np.sqrt(n))) + 1)
    blocks = counted_blocks(leading.score, leading.positive, leading.weight)
    estimate, (eta, jump) = precision_of(blocks, top), share_at(blocks, top, n)
    variance, n_effective, degrees = top_variance(estimate, eta, top, tau)[0], None, inf
    plain = (estimate * (1.0 - estimate) + (1.0 - tau) * (estimate - eta) ** 2) / top
    if groups is not None:
        inside = blocks.to_items(np.clip((top - blocks.starts) / blocks.lengths(), 0.0, 1.0))
        positive, share = data.positive, float(inside @ data.positive) / top
        influence = (inside * (positive - eta) - (share - eta) * top / n) / top
        in_top = groups.only(inside > 0.0)
        sums = groups.sums(influence)[np.newaxis]
        part = GroupPart(sums, in_top.sizes(), times=groups.times)
        n_effective, variance = part.draws_of_share(share)
        plain, degrees = part.variance, part.degrees
    return TopMoments(
        estimate=estimate,
        # Where the sample shows no variance, half an item is added.
        error=sqrt(plain if plain > 0.0 else variance),
        target=f"precision in the top {tau:g} of the population",
        tau=tau,
        top=top,
        eta=eta,
        jump=jump,
        n_effective=n_effective,
        degrees=degrees,
    )


def precision_of(blocks: TiedBlocks, top: int) -> float:
    """Share of positives in the top, in the mean over orders of ties; blocks from the top on."""
    above = np.cumsum(blocks.size) - blocks.size
    inside = np.clip((top - above) / blocks.size, 0.0, 1.0)
    return float(inside @ blocks.n_pos) / top


# Part of the error that "exact" spends on where the top of the population ends in the sample.
THRESHOLD_SHARE = 0.2


def exact_top_interval(evidence: Evidence, level: float, *, name: str, **_: Any) -> Interval:
    data, tau = evidence.data, float(evidence.measure.tau)
    blocks, n = counted_blocks(data.score, data.positive, data.weight), int(data.sizes[0])
    estimate = precision_of(blocks, int(top_mass(data.sizes, tau)[0]))
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
    target = f"precision in the top {tau:g} of the population"
    return Interval(estimate, low, high, level, name, target)


def extreme_hits(n_pos: Any, size: Any, count: IntArray) -> tuple[AnyArray, AnyArray]:
    """Fewest and most positives of the top, negatives or positives first in a block it cuts."""
    upto, positives = np.cumsum(size), np.cumsum(n_pos)
    block = np.searchsorted(upto, count, "left")
    inside, before = n_pos[block], positives[block] - n_pos[block]
    cut = count - (upto[block] - size[block])
    return before + np.maximum(cut - (size[block] - inside), 0), before + np.minimum(cut, inside)
