"""Methods of intervals for a measure of one list, and their selection.

Given the scores the labels are independent, so that such a sum is one of independent draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np
from scipy.special import betaincinv, smirnovi
from scipy.stats import binom

from .._lists import ScoredLists
from .._order import check_n_places, counted_blocks, tied_blocks
from .._typing import FloatArray, IntArray
from ..metrics import Measure
from ..metrics._shared import (
    PSEUDO_WEIGHT,
    AUCMeasure,
    AveragePrecisionMeasure,
    ClassInfluence,
    CustomMeasure,
    DCGMeasure,
    EnrichmentFactorMeasure,
    FPRAtTPRMeasure,
    GiniMeasure,
    KolmogorovSmirnovMeasure,
    LiftMeasure,
    NDCGMeasure,
    NegativeHeightMeasure,
    PartialAUCMeasure,
    PositionalMeasure,
    PositivesAtTopMeasure,
    PrecisionAtKMeasure,
    PrecisionAtTopMeasure,
    RankBiasedPrecisionMeasure,
    RateInfluence,
    RIEMeasure,
    SmoothedPrecisionAtTopMeasure,
    SpearmanMeasure,
    SuccessMeasure,
    TauAPMeasure,
    TauBMeasure,
    TauXMeasure,
    TPRAtFPRMeasure,
    phi_of,
)
from ._auc import METHODS, WITH_GROUPS, auc_interval_of
from ._influence import (
    CorrelationInfluence,
    influence_of,
    of_spearman,
    of_tau_ap,
    of_tau_b,
    of_tau_x,
    refuse_sampling,
    sampling_influence,
)
from ._limits import Limits, influence_limits, safe_limits
from ._linear_rank import RankBootstrap, dkw_interval, rank_interval_of
from ._list_interval import list_interval
from ._results import Interval
from ._samples import (
    GroupPart,
    Groups,
    OneList,
    Spread,
    independent_rows,
    kolmogorov_margin,
    ordered_rows,
    refuse_one_class,
    runs_of_negatives,
    with_tied_tail,
)
from ._top import top_interval_of


def is_sum_of_draws(measure: Measure) -> bool:
    """Say whether a measure is a sum over places of what the item there gains by its own label."""
    if getattr(measure, "convention", None) is not None or isinstance(measure, NDCGMeasure):
        return False
    sums = DCGMeasure | PositionalMeasure | PrecisionAtKMeasure | RankBiasedPrecisionMeasure
    return isinstance(measure, sums)


@dataclass(frozen=True, eq=False)
class _Draws:
    """A mean of independent draws from [0, 1]."""

    mean: float  # The mean, some draws counting more than others
    largest: float  # Largest weight of a draw; the weights sum to 1
    unit: float  # What the measure is where all draws are 1
    of_whole_places: bool  # Whether no block of ties is cut, so that each place is one item


def drawn_interval(
    measure: Measure, sample: OneList, level: float, method: str = "wilson"
) -> Interval:
    """Interval for the expectation of a sum over the places of one list, given its scores.

    A mean of draws of weights w from [0, 1] has limits as if it were that of ``1 / max(w)`` draws
    of 0 and 1 that are alike, which is k for precision: draws that differ, count less or are
    between 0 and 1 spread less.
    """
    draws = _draws_of(measure, sample)
    limits_of = exact_limits if method == "exact" else safe_limits
    low, high = limits_of(draws.mean, 1.0 / draws.largest, level)
    return Interval(
        estimate=draws.unit * draws.mean,
        low=draws.unit * low,
        high=draws.unit * high,
        level=level,
        method=method,
        target=f"expected {measure.name} given the scores, labels new",
    )


def success_interval(measure: SuccessMeasure, sample: OneList, level: float) -> Interval:
    """Interval for the chance of a positive among the first items of one list, given its scores.

    The lower limit follows from that for the expected precision p of the first k, since ``1 - (1 -
    p)**k`` is the least chance of a positive; where ties are cut by the k-th place p itself is
    taken. The upper one is that of a single draw: 1, unless there was no positive.
    """
    first = PrecisionAtKMeasure(k=measure.k, rel=measure.rel)
    draws = _draws_of(first, sample)
    low, _ = exact_limits(draws.mean, 1.0 / draws.largest, level)
    if draws.of_whole_places:
        low = -float(np.expm1(measure.k * np.log1p(-low))) if low < 1.0 else 1.0
    found = float(measure.values(sample.data)[0])
    found = 0.0 if np.isnan(found) else found
    return Interval(
        estimate=found,
        low=min(low, found),
        high=1.0 if draws.mean > 0.0 else (1.0 + level) / 2.0,
        level=level,
        method="exact",
        target=f"expected {measure.name} given the scores, labels new",
    )


def exact_limits(estimate: float, draws: float, level: float) -> Limits:
    """Return the limits of Clopper and Pearson, for numbers of draws that need not be whole."""
    tail = (1.0 - level) / 2.0
    hits, misses = draws * estimate, draws * (1.0 - estimate)
    low = 0.0 if hits <= 0.0 else float(betaincinv(hits, misses + 1.0, tail))
    high = 1.0 if misses <= 0.0 else float(betaincinv(hits + 1.0, misses, 1.0 - tail))
    return low, high


def _draws_of(measure: Any, sample: OneList) -> _Draws:
    """Read a list as draws: each item with the mean discount of the places of its tied block."""
    data, n = sample.data, int(sample.data.sizes[0])
    if measure.kind == "graded":
        measure = _on_own_scale(measure, data.grade)
    form = measure.positional
    check_n_places(n)
    discounts = form.discounts(n)
    places = int(np.flatnonzero(discounts)[-1]) + 1 if discounts.any() else 0
    top = OneList(data.leading(places)).repeated().data
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
    return _Draws(
        mean=min(max(float(weight @ utility) / (total * highest), 0.0), 1.0),
        largest=float(weight.max()) / total,
        unit=total * highest,
        of_whole_places=not cut.any(),
    )


def _on_own_scale(measure: Any, grade: FloatArray) -> Any:
    """Pass the highest grade of the labels to a measure with a grade scale."""
    if measure.scaled_by_labels:
        return replace(measure, max_grade=float(grade.max()) or 1.0)
    return measure


def above_negatives_interval(
    measure: PositivesAtTopMeasure, sample: OneList, level: float, method: str = "wilson"
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
    k, m = int(data.positives[0]), int(data.sizes[0] - data.positives[0])
    share = float(counts @ above) / k
    if sample.groups is not None:
        found = ClassInfluence(
            share, above, positive, ends=(0.0, 1.0, 0.0, 0.0), range=(0.0, 1.0), label_slope=0.0
        )
        limits, _ = influence_limits(found, share, level, conditional=True, groups=sample.groups)
    else:
        limits = (exact_limits if method == "exact" else safe_limits)(share, float(k), level)
    unit = 1.0 if measure.normalize else float(k)
    what = "share" if measure.normalize else f"expected number among {k}"
    return Interval(
        estimate=unit * share,
        low=unit * limits[0],
        high=unit * limits[1],
        level=level,
        method=method,
        target=f"{what} of new positives above the highest of the {m} negatives seen",
    )


_INFLUENCE: dict[type[Measure], Callable[[ScoredLists], CorrelationInfluence]] = {
    SpearmanMeasure: of_spearman,
    TauAPMeasure: of_tau_ap,
    TauBMeasure: of_tau_b,
    TauXMeasure: of_tau_x,
}


def is_correlation(measure: Measure) -> bool:
    """Return whether a measure is a correlation with an influence function."""
    return type(measure) in _INFLUENCE


def correlation_interval(measure: Measure, sample: OneList, level: float) -> Interval:
    """Interval for the correlation in the population that the items were drawn from."""
    sample = sample.repeated()
    data = sample.data
    n = len(data.score)
    if np.ptp(data.grade) == 0.0:
        raise ValueError(
            f"{measure.name} is undefined: all {n} items of y_true have the same relevance; pass"
            " items with different relevance."
        )
    estimate = float(measure.values(data)[0])
    found = _INFLUENCE[type(measure)](data)
    shift, variance, degrees = _with_added_items(found, sample.groups)
    share, moved = (estimate + 1.0) / 2.0, (estimate + shift + 1.0) / 2.0
    moved = min(max(moved, 0.0), 1.0)
    n_effective = moved * (1.0 - moved) / (variance / 4.0)
    low, high = safe_limits(share, n_effective, level, degrees)
    return Interval(
        estimate=estimate,
        low=2.0 * low - 1.0,
        high=2.0 * high - 1.0,
        level=level,
        method="influence",
        target=f"{measure.name} of the population",
        standard_error=float(np.sqrt(variance)),
    )


def _with_added_items(
    found: CorrelationInfluence, groups: Groups | None
) -> tuple[float, float, float]:
    """Shift, variance and degrees of freedom with half an item, or group, at either extreme."""
    values, ends = found.values, np.array(found.ends)
    part = GroupPart.of_rows(
        values[np.newaxis], groups or Groups(np.arange(len(values)), len(values))
    )
    count = part.effective + 2.0 * PSEUDO_WEIGHT
    shift = PSEUDO_WEIGHT * float(ends.sum()) / count
    squares = PSEUDO_WEIGHT * float(np.sum((ends - shift) ** 2)) + part.effective * shift**2
    variance = float(np.sum(part.corrected() ** 2)) * (part.effective / count) ** 2
    return shift, variance + squares / count**2, float(Spread.of_groups([part]).degrees[0])


def height_interval(measure: NegativeHeightMeasure, sample: OneList, level: float) -> Interval:
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
    found = ClassInfluence(
        estimate=estimate**p,
        values=values,
        positive=data.positive,
        # A positive below all negatives and one above, a negative likewise.
        ends=(float(weighted.sum()), 0.0, 0.0, 1.0),
        range=(0.0, 1.0),
        counts=data.weight,
    )
    limits, variance = influence_limits(
        found, found.estimate, level, conditional=True, groups=sample.groups
    )
    slope = estimate ** (1.0 - p) / p if estimate > 0.0 else np.inf
    error = slope * float(np.sqrt(variance))
    return Interval(
        estimate=estimate,
        low=min(limits[0] ** (1.0 / p), estimate),
        high=max(limits[1] ** (1.0 / p), estimate),
        level=level,
        method="influence",
        target=f"{measure.name} of the population",
        standard_error=error if np.isfinite(error) else None,
    )


# Shares of the error that one class may have; the best of them depends on the counts alone.
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def largest_difference_interval(measure: Measure, sample: OneList, level: float) -> Interval:
    """Interval for the Kolmogorov-Smirnov statistic of the population, valid for every n.

    The statistic is at most as far from that of the population as both distribution functions
    together: ``|D - D'| <= sup|F+ - F+'| + sup|F- - F-'|``.
    """
    data = sample.data
    estimate = float(measure.values(data)[0])
    k = int(data.positives[0])
    sizes = [k, int(data.sizes[0]) - k]
    if sample.groups is not None:
        sizes = [
            independent_rows(sample.groups.sizes(one)) for one in (data.positive, ~data.positive)
        ]
    reach = _reach(*sizes, level, sample.groups is not None)
    return Interval(
        estimate=estimate,
        low=max(estimate - reach, 0.0),
        high=min(estimate + reach, 1.0),
        level=level,
        method="dkw",
        target=f"{measure.name} of the population",
    )


@lru_cache(maxsize=64)
def _reach(n_pos: int, n_neg: int, level: float, grouped: bool) -> float:
    """Bound for the sum of the deviations of both distribution functions."""
    found = []
    for share in SHARES:
        # The classes are independent unless groups join them.
        first = share * (1.0 - level)
        second = 1.0 - level - first if grouped else 1.0 - level / (1.0 - first)
        margin = kolmogorov_margin if grouped else _margin
        found.append(margin(first, n_pos) + margin(second, n_neg))
    return float(np.min(found))


def _margin(delta: float, n: int) -> float:
    """Largest distance of n independent rows, but for a share delta of the samples."""
    return float(smirnovi(n, delta / 2.0))


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
    sample = sample.repeated()
    data = sample.data
    estimate = float(measure.values(data)[0])
    parts, apart = _units(sample)
    values = np.concatenate(
        [
            measure._values(_lists_of(data, [_drawn(parts, apart, rng) for _ in range(count)]))
            for count in _batches(n_resamples, len(data.score))
        ]
    )
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
    low, high = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(
        estimate=estimate,
        low=min(float(low), estimate),
        high=max(float(high), estimate),
        level=level,
        method="bootstrap",
        target=f"{measure.name} of the population",
        standard_error=float(values.std(ddof=1)),
    )


def _batches(total: int, length: int) -> list[int]:
    """Numbers of lists of this length that are evaluated at once."""
    size = max(1, ITEMS // length)
    return [min(size, total - start) for start in range(0, total, size)]


def _units(sample: OneList) -> tuple[list[IntArray], bool]:
    """Rows of the parts of a list, and whether each is resampled apart, or they as wholes."""
    data = sample.data
    if sample.groups is not None:
        order = np.argsort(sample.groups.codes, kind="stable")
        starts = np.flatnonzero(np.diff(sample.groups.codes[order], prepend=-1))
        return np.split(order, starts[1:]), False
    if data.labels.dtype != bool:
        return [np.arange(len(data.score))], True
    return [np.flatnonzero(data.positive), np.flatnonzero(~data.positive)], True


def _drawn(parts: list[IntArray], apart: bool, rng: np.random.Generator) -> IntArray:
    """Rows of one resampled list."""
    if apart:
        return np.concatenate([rows[rng.integers(0, len(rows), len(rows))] for rows in parts])
    return np.concatenate([parts[i] for i in rng.integers(0, len(parts), len(parts))])


def _lists_of(data: ScoredLists, rows: list[IntArray]) -> ScoredLists:
    """Make a list of each choice of rows."""
    chosen = np.concatenate(rows)
    return ScoredLists(
        labels=data.labels[chosen],
        score=data.score[chosen],
        offsets=np.append(0, np.cumsum([len(one) for one in rows])),
        ids=np.arange(len(rows)),
    )


def rate_limits(found: RateInfluence, level: float) -> Limits:
    """Join the limits of the threshold, a quantile of one class, and of the rate of the other."""
    curve, tail = found.curve, (1.0 - level) / 2.0
    k, m = float(curve.ones.sum()), float(curve.others.sum())
    estimate = curve.before(found.threshold) / k
    first = int(binom.ppf(tail, m, found.rate))
    last = int(binom.isf(tail, m, found.rate)) + 1
    chance = safe_limits(estimate, k, level)
    low = max(estimate - np.hypot(estimate - curve.before(first) / k, estimate - chance[0]), 0.0)
    high = min(estimate + np.hypot(curve.before(last) / k - estimate, chance[1] - estimate), 1.0)
    return (low, high) if found.of_positives else (1.0 - high, 1.0 - low)


@dataclass(frozen=True)
class ListOptions:
    """How to make an interval of one list, checked."""

    level: float  # Nominal probability, in (0, 1)
    method: str = "auto"
    n_resamples: int = 10_000
    rng: np.random.Generator = field(default_factory=np.random.default_rng)


@dataclass(frozen=True)
class ListMethods:
    """Methods of intervals for a measure of one list."""

    measure: Measure
    names: tuple[str, ...]  # Names of the methods, what "auto" is first
    make: Callable[[OneList, ListOptions], Interval]
    grouped: tuple[str, ...]  # Methods that take groups
    explicit: str = ""
    one_class: bool = False  # Whether lists of one class have an interval too

    def chosen(self, method: str, *, grouped: bool = False, sampled: bool = False) -> str:
        """Read the name of a method."""
        if sampled:
            refuse_sampling(self.measure)
            if method not in ("auto", "influence"):
                raise ValueError(
                    f"method={method!r} does not support weights='sampling': pass"
                    " method='influence', or leave method out."
                )
            return "influence"
        listed = " or ".join(map(repr, self.names))
        if method == "auto":
            if self.explicit:
                raise ValueError(
                    f"method='auto' has no valid interval for {self.measure.name} of one list:"
                    f" {self.explicit}; pass method={listed}, or qid for the mean over queries."
                )
            method = (self.grouped or self.names)[0] if grouped else self.names[0]
        if method not in self.names:
            of_queries = (
                "; for a mean over queries pass qid" if method in ("t", "bootstrap", "bca") else ""
            )
            raise ValueError(
                f"method={method!r} does not support {self.measure.name} of one list: pass"
                f" {listed}{of_queries}."
            )
        if grouped and method not in self.grouped:
            instead = " or ".join(f"method={name!r}" for name in self.grouped)
            raise ValueError(
                f"method={method!r} needs independent items and takes no groups for"
                f" {self.measure.name}: "
                + (f"pass {instead}." if instead else "leave groups out if they are independent.")
            )
        return method

    def interval(self, sample: OneList, options: ListOptions) -> Interval:
        """Make an interval."""
        method = self.chosen(
            options.method, grouped=sample.groups is not None, sampled=sample.sampled
        )
        if not self.one_class or sample.sampled:
            refuse_one_class(sample.data)
        if sample.sampled:
            found = sampling_influence(self.measure, sample.data)
            return list_interval(self.measure, found, options.level, sample.groups)
        of_auc = isinstance(self.measure, AUCMeasure | GiniMeasure)
        if sample.groups is not None and not of_auc:
            sample = sample.repeated()
        return self.make(sample, replace(options, method=method))


def list_methods(measure: Measure) -> ListMethods:
    """Find the methods that make intervals for a measure of one list."""
    for route in _ROUTES:
        found = route(measure)
        if found is not None:
            return found
    raise ValueError(_without(measure))


def _without(measure: Measure) -> str:
    """Explain why a measure of one list has no interval, and what to do."""
    if measure.by_class:
        return (
            f"{measure.name} is a mean over classes, which has no interval: pass the labels of one"
            " class against the others, y_true == label, and its column of scores with 'auc'."
        )
    if getattr(measure, "convention", None) is not None:
        return (
            f"{measure.name} of one list follows the convention of another system, which has no"
            " interval: leave out convention, or pass qid for the mean over queries."
        )
    if measure.per_query:
        return (
            f"{measure.name} of one list is a single value, so its variance cannot be estimated:"
            " pass qid, the query id of each row, for the mean over queries."
        )
    return (
        f"{measure.name} has no influence function, so it has no interval for one list: pass"
        " influence= to make_measure, or pass qid for the mean over queries."
    )


def _of_auc(measure: Measure) -> ListMethods | None:
    """Methods of the AUC and of the Gini coefficient."""
    if not isinstance(measure, AUCMeasure | GiniMeasure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        found = auc_interval_of(
            sample.by_groups(),
            options.level,
            options.method,
            grouped=sample.groups is not None,
        )
        return found if isinstance(measure, AUCMeasure) else gini_of(found)

    return ListMethods(measure, tuple(METHODS), make, WITH_GROUPS, one_class=True)


def gini_of(found: Interval) -> Interval:
    """Turn an interval for the AUC into that of the Gini coefficient. Twice the area, less 1."""
    error = found.standard_error
    return replace(
        found,
        estimate=2.0 * found.estimate - 1.0,
        low=2.0 * found.low - 1.0,
        high=2.0 * found.high - 1.0,
        target="expected Gini coefficient",
        standard_error=None if error is None else 2.0 * error,
    )


def _of_top(measure: Measure) -> ListMethods | None:
    if not isinstance(measure, PrecisionAtTopMeasure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return top_interval_of(
            sample.data, float(measure.tau), options.level, options.method, sample.groups
        )

    return ListMethods(measure, ("influence", "exact"), make, ("influence",))


def _of_ranks(measure: Measure) -> ListMethods | None:
    """Linear rank statistics that are a mean over the positives, or its place in the range."""
    phi = phi_of(measure)
    if phi is None or getattr(measure, "convention", None) is not None:
        return None
    if getattr(measure, "ties", "average") != "average":
        return None
    normalize = getattr(
        measure, "normalize", "mean" if isinstance(measure, RIEMeasure) else "minmax"
    )
    if normalize is None:
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        said: dict[str, Any] = {"normalize": normalize, "what": measure.name}
        if options.method == "bootstrap":
            made = RankBootstrap(sample.repeated().data, phi, conditional=True, **said)
            found = made.interval(options.level, options.n_resamples, options.rng)
        else:
            function = dkw_interval if options.method == "dkw" else rank_interval_of
            found = function(
                sample.data, phi, options.level, conditional=True, groups=sample.groups, **said
            )
        if not isinstance(measure, RIEMeasure):
            return found
        n = sample.data.sizes
        return found.scaled(float((n / phi._sums(np.zeros_like(n), n, n))[0]))

    if not phi.is_limit_functional:
        reason = f"{phi!r} depends on the length of the list, so that lists are resampled"
        return ListMethods(measure, ("bootstrap",), make, (), explicit=reason)
    names = ("influence", "dkw", "bootstrap")
    return ListMethods(measure, names, make, ("influence", "dkw"))


def _of_first_places(measure: Measure) -> ListMethods | None:
    """Sums over the first places, whose labels are drawn given the scores."""
    if not is_sum_of_draws(measure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return drawn_interval(measure, sample, options.level, options.method)

    return ListMethods(measure, ("wilson", "exact"), make, (), one_class=True)


def _of_success(measure: Measure) -> ListMethods | None:
    if not isinstance(measure, SuccessMeasure) or measure.convention is not None:
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return success_interval(measure, sample, options.level)

    return ListMethods(measure, ("exact",), make, (), one_class=True)


def _of_positives_at_top(measure: Measure) -> ListMethods | None:
    if not isinstance(measure, PositivesAtTopMeasure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return above_negatives_interval(measure, sample, options.level, options.method)

    return ListMethods(measure, ("wilson", "exact"), make, ("wilson",))


def _of_largest_difference(measure: Measure) -> ListMethods | None:
    if not isinstance(measure, KolmogorovSmirnovMeasure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return largest_difference_interval(measure, sample, options.level)

    return ListMethods(measure, ("dkw",), make, ("dkw",))


def _of_rates(measure: Measure) -> ListMethods | None:
    """Methods of a point of the ROC curve; that at the extreme of a class has none."""
    if not isinstance(measure, FPRAtTPRMeasure | TPRAtFPRMeasure) or not measure.has_influence:
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return _by_influence(measure, sample, options)

    return ListMethods(measure, ("order statistics", "influence"), make, ("influence",))


def _of_height(measure: Measure) -> ListMethods | None:
    """Methods of the height of the negatives; that of the highest negative is an extreme."""
    if not isinstance(measure, NegativeHeightMeasure) or not isfinite(measure.p):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return height_interval(measure, sample, options.level)

    return ListMethods(measure, ("influence",), make, ("influence",))


def _of_correlation(measure: Measure) -> ListMethods | None:
    if not is_correlation(measure):
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return correlation_interval(measure, sample, options.level)

    return ListMethods(measure, ("influence",), make, ("influence",), one_class=True)


def _of_users_function(measure: Measure) -> ListMethods | None:
    """Methods of a custom measure, with or without an influence function."""
    if not isinstance(measure, CustomMeasure):
        return None
    known = measure.kind == "binary" and measure.has_influence

    def make(sample: OneList, options: ListOptions) -> Interval:
        if options.method == "influence":
            return _by_influence(measure, sample, options)
        return bootstrap_interval(measure, sample, options.level, options.n_resamples, options.rng)

    names = ("influence", "bootstrap") if known else ("bootstrap",)
    reason = (
        "it has no influence function (see make_measure(..., influence=)), and the bootstrap is"
        " wrong for measures that a single item determines, such as extremes"
    )
    one_class = measure.kind == "graded"
    return ListMethods(
        measure, names, make, names, explicit="" if known else reason, one_class=one_class
    )


def _of_influence(measure: Measure) -> ListMethods | None:
    if measure.kind != "binary" or not measure.has_influence:
        return None

    def make(sample: OneList, options: ListOptions) -> Interval:
        return _by_influence(measure, sample, options)

    return ListMethods(measure, ("influence",), make, ("influence",))


def _by_influence(measure: Measure, sample: OneList, options: ListOptions) -> Interval:
    data = sample.data
    if sample.groups is None and not isinstance(measure, CustomMeasure):
        data = _rows_that_count(measure, data)
    found = influence_of(measure, data, conditional=True)
    interval = list_interval(measure, found, options.level, sample.groups)
    if isinstance(found, RateInfluence) and options.method != "influence":
        low, high = rate_limits(found, options.level)
        return replace(interval, low=low, high=high, method=options.method)
    return interval


def _rows_that_count(measure: Measure, data: ScoredLists) -> ScoredLists:
    """Merge items that a measure does not distinguish into one row."""
    if isinstance(measure, AveragePrecisionMeasure | PartialAUCMeasure):
        return runs_of_negatives(data)
    top = 1.0
    if isinstance(measure, EnrichmentFactorMeasure | LiftMeasure):
        top = float(measure.fraction)
    elif isinstance(measure, SmoothedPrecisionAtTopMeasure):
        top = measure.largest_top
    return ordered_rows(with_tied_tail(data, top))


_ROUTES = (
    _of_auc,
    _of_top,
    _of_ranks,
    _of_first_places,
    _of_success,
    _of_positives_at_top,
    _of_largest_difference,
    _of_rates,
    _of_height,
    _of_correlation,
    _of_users_function,
    _of_influence,
)
