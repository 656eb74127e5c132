"""Interval and tests for the mean of a sample of query values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np
from scipy.stats import rankdata, wilcoxon

from .._arguments import check_choice, check_level, check_resamples
from .._typing import FloatArray
from .._warn import warn
from ..metrics import Measure
from ._groups import Groups
from ._holm import holm_adjust
from ._normal_test import (
    ALTERNATIVES,
    Alternative,
    level_of_both,
    pvalue_of,
    two_sided_quantile,
)
from ._query_values import ROUNDING, QueryValues, query_differences
from ._resampling import bca_levels, flipped_subsets, resampled_means
from ._results import Comparison, Interval
from ._shares import are_differences_of_shares, are_shares, difference_limits, share_limits

__all__ = [
    "ComparisonOptions",
    "IntervalOptions",
    "SampleTest",
    "compared_samples",
    "sample_interval",
    "sample_test",
]

_INTERVALS = ("auto", "t", "bootstrap", "bca")
_TESTS = {
    "randomization": "{} exchangeable within each query",
    "t": "equal mean {}",
    "wilcoxon": "differences of {} symmetric about 0",
}


@dataclass(frozen=True)
class IntervalOptions:
    """How to make an interval, checked."""

    method: str
    level: float
    n_resamples: int

    def __post_init__(self) -> None:
        check_choice("method", self.method, _INTERVALS)
        check_level(self.level)
        check_resamples(self.n_resamples)
        if self.method in ("bootstrap", "bca") and self.n_resamples * (1 - self.level) < 2:
            raise ValueError(
                f"n_resamples={self.n_resamples} is too small for level={self.level}: pass at"
                f" least {int(np.ceil(2 / (1 - self.level)))}."
            )


@dataclass(frozen=True)
class ComparisonOptions:
    """How to test, checked."""

    method: str
    alternative: Alternative  # What counts as extreme
    level: float
    n_resamples: int  # Random exchanges

    def __post_init__(self) -> None:
        check_choice("method", self.method, tuple(_TESTS))
        check_choice("alternative", self.alternative, ALTERNATIVES)
        check_level(self.level)
        level_of_both(self.level, self.alternative)
        check_resamples(self.n_resamples)


@dataclass(frozen=True)
class SampleTest:
    """Outcome of the test of a sample of differences."""

    statistic: float
    pvalue: float  # Its p-value
    method: str  # How it was found
    interval: Interval  # Interval for the mean difference


def sample_interval(
    sample: QueryValues, options: IntervalOptions, rng: np.random.Generator
) -> Interval:
    """Interval for the mean of a sample of values of queries. The mean with its limits."""
    level = options.level
    target = f"mean {sample.measure} over queries"
    if options.method == "auto" and not sample.constant and are_shares(sample):
        return _interval(sample, share_limits(sample, level), level, "wilson", target)
    if options.method in ("auto", "t") or sample.constant:
        return _t_interval(sample, level, target)
    _refuse_sampling(sample, options.method, "method='t'")
    sizes = None if sample.groups is None else sample.part.sizes
    means = resampled_means(sample.totals, int(options.n_resamples), rng, sizes)
    levels = ((1 - level) / 2, (1 + level) / 2)
    if options.method == "bca":
        # Change of the mean if a query, or a group, is left out.
        deviation = sample.part.sums[0] / (1.0 - sample.part.share)
        levels = bca_levels(float(sample.values.mean()), deviation, means, level)
    low, high = np.quantile(means, levels)
    return _interval(sample, (low, high), level, options.method, target)


def sample_test(
    sample: QueryValues, options: ComparisonOptions, rng: np.random.Generator
) -> SampleTest:
    """Test a sample of differences of queries. P-value, mean difference and its interval."""
    values, alternative = sample.values, options.alternative
    level = level_of_both(options.level, alternative)
    target = f"mean {sample.measure} over queries"
    estimate = sample.mean
    interval = None
    if options.method != "t":
        _refuse_sampling(sample, options.method, "method='t', or compare without method")
    if options.method == "randomization":
        sizes = None if sample.groups is None else sample.part.sizes
        flips = flipped_subsets(sample.totals, int(options.n_resamples), rng, sizes)
        statistic, pvalue = estimate, flips.pvalue(alternative)
        method = "exact randomization" if flips.exact else "randomization"
        if not sample.constant and not are_differences_of_shares(sample):
            limits = flips.limits(level)
            interval = _interval(sample, limits, level, options.method, target)
    elif not values.any():
        statistic, pvalue, method = 0.0, 1.0, options.method
    elif options.method == "t":
        if sample.standard_error <= ROUNDING * np.abs(values).max():
            raise ValueError(
                f"All differences of the {sample.counted} are {estimate:.4g}, so the t statistic"
                " is infinite: pass method='randomization' or 'wilcoxon'."
            )
        statistic, method = estimate / sample.standard_error, "t"
        pvalue = pvalue_of(statistic, alternative, sample.degrees)
    elif sample.groups is None:
        found = wilcoxon(values, zero_method="pratt", alternative=alternative)
        statistic, pvalue, method = found.statistic, found.pvalue, "wilcoxon"
    else:
        statistic, pvalue = _grouped_wilcoxon(sample.groups, values, options, rng)
        method = "wilcoxon"
    if interval is None:
        if options.method == "t" or sample.constant or not are_differences_of_shares(sample):
            interval = _t_interval(sample, level, target)
        else:
            interval = _interval(sample, difference_limits(sample, level), level, "tango", target)
    return SampleTest(float(statistic), float(pvalue), method, interval)


def compared_samples(
    samples: Mapping[str, QueryValues],
    pairs: Sequence[tuple[str, str]],
    options: ComparisonOptions,
    rng: np.random.Generator,
    measure: Measure,
) -> Comparison:
    """Test differences of several systems on the same queries, adjusted for their number."""
    each = replace(options, level=1.0 - (1.0 - options.level) / len(pairs))
    tests = [sample_test(query_differences(samples[a], samples[b]), each, rng) for a, b in pairs]
    methods = dict.fromkeys(
        test.method
        if test.interval.method in test.method
        else f"{test.method}, {test.interval.method} limits"
        for test in tests
    )
    ones = [test.interval for test in tests]
    by_holm = ", Holm" if len(pairs) > 1 else ""
    return Comparison(
        measure=measure.name,
        names=tuple(samples),
        values=tuple(one.mean for one in samples.values()),
        standard_errors=tuple(one.standard_error for one in samples.values()),
        contrasts=tuple(f"{a} - {b}" for a, b in pairs),
        differences=tuple(one.estimate for one in ones),
        low=tuple(one.low for one in ones),
        high=tuple(one.high for one in ones),
        statistics=tuple(test.statistic for test in tests),
        pvalues=tuple(holm_adjust([test.pvalue for test in tests])),
        level=options.level,
        alternative=options.alternative,
        margin=None,
        method=" / ".join(methods) + by_holm,
        target=f"mean {measure.name} over {next(iter(samples.values())).counted}",
        hypothesis=_TESTS[options.method].format(measure.name),
        difference_errors=tuple(
            nan if one.standard_error is None else one.standard_error for one in ones
        ),
        greater_is_better=measure.greater_is_better,
    )


def _refuse_sampling(sample: QueryValues, method: str, instead: str) -> None:
    if sample.weight is not None:
        raise ValueError(
            f"method={method!r} is for queries of equal probability and does not support"
            f" weights='sampling': pass {instead}."
        )


def _grouped_wilcoxon(
    groups: Groups, values: FloatArray, options: ComparisonOptions, rng: np.random.Generator
) -> tuple[float, float]:
    """Sum of the signed ranks, and its p-value by exchanges of whole groups."""
    ranks = rankdata(np.abs(values)) * np.sign(values)
    flips = flipped_subsets(groups.sums(ranks), int(options.n_resamples), rng)
    return float(ranks.sum()), flips.pvalue(options.alternative)


def _t_interval(sample: QueryValues, level: float, target: str) -> Interval:
    if sample.constant:
        return _constant_interval(sample, level, target)
    mean = sample.mean
    half = two_sided_quantile(level, sample.degrees) * sample.standard_error
    return _interval(sample, (mean - half, mean + half), level, "t", target)


def _interval(
    sample: QueryValues, limits: tuple[float, float], level: float, method: str, target: str
) -> Interval:
    low, high = np.clip(limits, *sample.range)
    if low == high:
        warn(
            f"The interval at level {level:g} has no width, because most queries have the same"
            " value: raise the level or pass method='t'.",
            UserWarning,
        )
    return Interval(
        estimate=sample.mean,
        low=float(low),
        high=float(high),
        level=float(level),
        method=method,
        target=target,
        standard_error=sample.standard_error,
    )


def _constant_interval(sample: QueryValues, level: float, target: str) -> Interval:
    """Limits for the mean if all queries have the same value."""
    value, n = float(sample.values[0]), sample.part.effective
    lowest, highest = sample.range
    missed = -np.expm1(np.log1p(-level) / n)
    low = value - missed * (value - lowest)
    high = value + missed * (highest - value)
    ends = "the range of the measure" if np.isfinite([low, high]).all() else "no known range"
    warn(
        f"The {sample.measure} is {value:.4g} for all {sample.counted}, so its variance cannot be"
        f" estimated: the interval uses {ends} and the largest fraction of other values that the"
        " sample may miss.",
        UserWarning,
    )
    return Interval(value, low, high, float(level), "constant values", target)
