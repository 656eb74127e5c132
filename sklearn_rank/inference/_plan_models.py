"""Variance, width of the interval and power of the test at each sample size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, inf, isinf, log, sqrt
from typing import Any

import numpy as np
from scipy.special import erfc, nctdtr, ndtr, ndtri, stdtr, stdtrit
from scipy.stats import binom

from .._typing import FloatArray
from ..bounds import auc_bound, auc_deviation_bound, auc_variance_bound
from ..bounds._shared import kl_limits
from ..metrics._shared import PSEUDO_WEIGHT
from ._limits import Limits, exact_limits, safe_limits, two_sided_quantile
from ._roc import AUCMoments, auc_limits, auc_parts
from ._top import THRESHOLD_SHARE, top_limits


def root_between(reaches: Callable[[float], bool], low: float, high: float) -> float:
    """Least number at which a condition holds, by bisection."""
    for _ in range(100):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


# From this number of degrees of freedom on, Student's distribution is replaced by the normal one.
NORMAL_DEGREES = 1e7


@dataclass(frozen=True)
class Composition:
    """Composition of a sample of size n."""

    unit: str  # "items" or "queries"
    positive_fraction: float | None  # None for queries
    group_size: float | None = None  # Mean number of units in a group; None is no groups

    def counts(self, n: int) -> tuple[int, int]:
        """Count the positives and the negatives."""
        share = 0.5 if self.positive_fraction is None else self.positive_fraction
        n_pos = min(max(int(share * n + 0.5), 1), n - 1)
        return n_pos, n - n_pos


@dataclass(frozen=True)
class PlannedTest:
    """A test of a difference."""

    alternative: str
    margin: float | None  # For non-inferiority and equivalence
    greater_is_better: bool

    def distances(self, difference: float) -> tuple[float, ...]:
        """Return the distances of a difference from the hypotheses to reject."""
        margin = self.margin or 0.0
        if self.alternative == "two-sided":
            return (abs(difference),)
        if self.alternative in ("less", "greater"):
            return (difference if self.alternative == "greater" else -difference,)
        if self.alternative == "non-inferior":
            return (margin + (difference if self.greater_is_better else -difference),)
        return (margin + difference, margin - difference)

    def power(self, difference: float, error: float, degrees: float, level: float) -> float:
        """Find the probability that the test rejects."""
        both = self.alternative == "two-sided"
        tail = (1.0 + level) / 2.0 if both else level
        large = degrees >= NORMAL_DEGREES
        critical = float(ndtri(tail) if large else stdtrit(degrees, tail))
        chance = self.joint_power(
            [
                _above(critical, distance / error, degrees)
                for distance in self.distances(difference)
            ]
        )
        if both:
            chance += _above(critical, -abs(difference) / error, degrees)
        return min(chance, 1.0)

    @staticmethod
    def joint_power(chances: list[float]) -> float:
        """Bound the probability that all of several hypotheses are rejected."""
        return max(1.0 - sum(1.0 - chance for chance in chances), 0.0)


def _above(critical: float, noncentrality: float, degrees: float) -> float:
    """Probability that a noncentral t variable is above a number."""
    if isinf(degrees) or degrees >= NORMAL_DEGREES:
        return float(ndtr(noncentrality - critical))
    below = float(nctdtr(degrees, noncentrality, critical))
    if 0.0 <= below <= 1.0:
        return 1.0 - below
    # Where the series fails: the spread of the standard error as normal.
    distance = noncentrality - critical * (1.0 - 1.0 / (4.0 * degrees))
    return float(ndtr(distance / sqrt(1.0 + critical**2 / (2.0 * degrees))))


class Variance(ABC):
    """Variance of an estimate at each size of a sample, and limits that are not symmetric."""

    @abstractmethod
    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Return the variance of the estimate and its degrees of freedom."""

    def limits(self, n: int, level: float, factor: float) -> Limits:
        """Limits in [0, 1] where the variance is a multiple of this one."""
        raise NotImplementedError


@dataclass(frozen=True)
class AUCVariance(Variance):
    """Variance of AUCs of normal or exponential scores."""

    sample: Composition
    expected: float  # Expected AUC; of a comparison that of the second ranker
    pairs: str  # "delong" for normal scores, "hanley-mcneil" for exponential ones
    correlation: float | None = None
    n_rankers: int = 1

    def _parts(self, difference: float) -> list[FloatArray]:
        """Parts of each independent sample: of both, the positives and the negatives."""
        if self.n_rankers == 1:
            return [_parts_of((self.expected,), 0.0, self.pairs)]
        aucs = (self.expected + difference, self.expected)
        if self.correlation is None:
            return [_parts_of((auc,), 0.0, self.pairs) for auc in aucs]
        return [_parts_of(aucs, self.correlation, self.pairs)]

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Lehmann's variance."""
        n_pos, n_neg = self.sample.counts(n)
        variance, of_classes, degrees = 0.0, [], []
        for both, positive, negative in self._parts(difference):
            single = (n_neg - 1.0) * positive + (n_pos - 1.0) * negative
            variance += (both + single) / (n_pos * n_neg)
            of_classes += [positive / n_pos, negative / n_neg]
            degrees += [n_pos - 1.0, n_neg - 1.0]
        return variance, satterthwaite(of_classes, degrees)

    def limits(self, n: int, level: float, factor: float) -> Limits:
        """Score limits with the variances of placements that the sample will show."""
        n_pos, n_neg = self.sample.counts(n)
        both, positive, negative = self._parts(0.0)[0]
        rest = both - positive - negative
        spreads = (factor * (positive + rest / n_neg), factor * (negative + rest / n_pos))
        moments = AUCMoments.of_independent(self.expected, *spreads, 0.0, n_pos, n_neg)
        return _score_limits(moments, level)


def _score_limits(moments: AUCMoments, level: float) -> Limits:
    low, high = auc_limits("wilson", moments, level)
    return float(low), float(high)


@lru_cache(maxsize=256)
def _parts_of(aucs: tuple[float, ...], correlation: float, pairs: str) -> FloatArray:
    """Parts of the variance of an AUC, or of the difference of two."""
    contrast = np.array([1.0, -1.0])[: len(aucs)]
    parts = auc_parts(np.array(aucs), correlation, pairs=pairs)
    return np.asarray(np.einsum("pij,i,j->p", parts, contrast, contrast))


@dataclass(frozen=True)
class WorstAUCVariance(Variance):
    """Largest variance that an AUC can have: ``A (1 - A)`` over the size of the smaller class."""

    sample: Composition
    expected: float | None  # Expected AUC; None is the worst

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        bound = auc_variance_bound(*self.sample.counts(n), expected_auc=self.expected)
        return bound.value, inf


@dataclass(frozen=True)
class ClassVariance(Variance):
    """Variance of a measure of one list by the influence of its items."""

    sample: Composition
    variances: tuple[tuple[float, float], ...]  # Of the influence of each class, by ranker
    effect: float  # By how much groups increase the variance
    degrees_per_item: float | None  # None without groups
    estimate: float
    # Mean and extreme influence of each class; none of an AUC, whose placements vary instead.
    classes: tuple[tuple[float, tuple[float, float]], ...] = ()
    groups_per_item: float | None = None

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Sum the variance of each class over its size."""
        sizes = self.sample.counts(n)
        parts = [
            variance / size
            for of_sample in self.variances
            for variance, size in zip(of_sample, sizes, strict=True)
        ]
        degrees = [size - 1.0 for size in sizes] * len(self.variances)
        return self.effect * sum(parts), self._degrees(n, satterthwaite(parts, degrees))

    def _degrees(self, n: int, independent: float) -> float:
        if self.degrees_per_item is None:
            return independent
        return max(self.degrees_per_item * n, 1.0)

    def limits(self, n: int, level: float, factor: float) -> Limits:
        """Score limits of an AUC, or limits with half an item more at either end of each class."""
        sizes = self.sample.counts(n)
        if not self.classes:
            var_pos, var_neg = (factor * variance for variance in self.variances[0])
            moments = AUCMoments.of_independent(self.estimate, var_pos, var_neg, 0.0, *sizes)
            if self.groups_per_item is not None:
                n_groups = np.asarray(max(self.groups_per_item * n, 1.0))
                grouped = self.effect * moments.variance
                moments = replace(moments, variance=grouped, n_groups=n_groups)
            return _score_limits(moments, level)
        shift = variance = 0.0
        for (mean, ends), spread, size in zip(self.classes, self.variances[0], sizes, strict=True):
            count = size + 2.0 * PSEUDO_WEIGHT
            change = PSEUDO_WEIGHT * (sum(ends) - 2.0 * mean) / count
            squares = ((size - 1.0) * spread + size * change**2) * self.effect
            squares += PSEUDO_WEIGHT * sum((end - mean - change) ** 2 for end in ends)
            shift += change
            variance += squares / count**2
        shrunken = min(max(self.estimate + shift, 0.0), 1.0)
        n_effective = shrunken * (1.0 - shrunken) / variance
        estimate = min(max(self.estimate, 0.0), 1.0)
        return safe_limits(estimate, n_effective / factor, level, self._degrees(n, inf))


@dataclass(frozen=True)
class MeanVariance(Variance):
    """Variance of a mean over queries: that of the values over the number of queries."""

    variances: tuple[float, ...]  # Of the values, by independent sample
    effect: float = 1.0  # By how much groups increase the variance
    degrees_per_query: float | None = None  # None without groups
    estimate: float = 0.5  # The mean on the scale from 0 to 1

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        parts = [variance / n for variance in self.variances]
        degrees = satterthwaite(parts, [n - 1.0] * len(parts))
        if self.degrees_per_query is not None:
            degrees = max(self.degrees_per_query * n, 1.0)
        return self.effect * sum(parts), degrees

    def limits(self, n: int, level: float, factor: float) -> Limits:
        return safe_limits(self.estimate, n / self.effect / factor, level)


@dataclass(frozen=True)
class ShareVariance(Variance):
    """Variance of a share of queries, or of the difference of two; no values vary more."""

    expected: float  # On the scale from 0 to 1; of a comparison that of the second ranker
    length: float  # Length of the range
    correlation: float | None = None
    n_rankers: int = 1

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        second = self.expected * (1.0 - self.expected)
        if self.n_rankers == 1:
            return self.length**2 * second / n, n - 1.0
        share = min(max(self.expected + difference / self.length, 0.0), 1.0)
        first = share * (1.0 - share)
        variance = first + second - 2.0 * (self.correlation or 0.0) * sqrt(first * second)
        n_samples = 1.0 if self.correlation is not None else 2.0
        return self.length**2 * variance / n, n_samples * (n - 1.0)

    def limits(self, n: int, level: float, factor: float) -> Limits:
        return safe_limits(self.expected, float(n) / factor, level)


@dataclass(frozen=True)
class TopVariance(Variance):
    """Variance of the precision at the top, labels random."""

    expected: float  # Precision; of a comparison that of the second ranker
    eta: float  # Probability that an item at the threshold is positive
    tau: float
    effect: float = 1.0  # By how much groups increase the variance
    correlation: float | None = None
    n_rankers: int = 1

    def _top(self, n: int) -> float:
        """Number of independent items that the items in the top are worth."""
        return max(int(self.tau * n + 0.5), 1) / self.effect

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Return the binomial variance with that of the threshold."""
        top = self._top(n)
        second = self._per_item(self.expected)
        if self.n_rankers == 1:
            return second / top, inf
        first = self._per_item(self.expected + difference)
        variance = first + second - 2.0 * (self.correlation or 0.0) * sqrt(first * second)
        return variance / top, max(top - 1.0, 1.0)

    def _per_item(self, precision: float) -> float:
        distance = (1.0 - self.tau) * (precision - self.eta) ** 2
        return precision * (1.0 - precision) + distance

    def limits(self, n: int, level: float, factor: float) -> Limits:
        """Limits at the expected precision."""
        top = self._top(n) / factor
        return top_limits(self.expected, self.eta, top, self.tau, level)[0]


def satterthwaite(variances: Sequence[float], degrees: Sequence[float]) -> float:
    """Degrees of freedom of a sum of independent variances."""
    total = sum(variances)
    if total <= 0.0:
        return max(min(degrees), 1.0)
    weights = [variance / total for variance in variances]
    return 1.0 / sum(
        weight**2 / max(degree, 1.0) for weight, degree in zip(weights, degrees, strict=True)
    )


# Levels closer to 1 are equal to 1 up to rounding.
LEAST_TAIL = 1e-15


class PlanModel(ABC):
    """An interval and a test at each size of the sample."""

    sample: Composition
    most: float  # Largest width, which is the length of the range

    @abstractmethod
    def width(self, n: int, level: float) -> float:
        """Width of the interval."""

    def level(self, n: int, width: float) -> float:
        """Largest level at which the interval is no wider."""

        def too_wide(level: float) -> bool:
            return self.width(n, level) > width

        if too_wide(LEAST_TAIL):
            return 0.0
        if not too_wide(1.0 - LEAST_TAIL):
            return 1.0 - LEAST_TAIL
        return root_between(too_wide, LEAST_TAIL, 1.0 - LEAST_TAIL)

    def power(self, n: int, difference: float, test: PlannedTest, level: float) -> float:
        """Power of the test, where there is one."""
        raise ValueError(
            "This method plans the width of an interval, not the power of a test: pass"
            " method='auto', or width instead of power."
        )


@dataclass(frozen=True)
class NormalModel(PlanModel):
    """Student's interval, the normal one or other limits, and the test by the standard error."""

    sample: Composition
    most: float
    variance: Variance
    factor: float = 1.0  # Of the variance
    known: bool = False  # Whether the variance counts as known
    by_limits: bool = False  # Whether the interval has the limits of the variance

    def scaled(self, factor: float) -> NormalModel:
        """Multiply the variance."""
        return replace(self, factor=self.factor * factor)

    def error(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Standard error and its degrees of freedom."""
        variance, degrees = self.variance.of(n, difference)
        return sqrt(variance * self.factor), inf if self.known else max(degrees, 1.0)

    def width(self, n: int, level: float) -> float:
        """Difference of the limits, or two quantiles times the standard error."""
        if self.by_limits:
            low, high = self.variance.limits(n, level, self.factor)
            return self.most * (high - low)
        error, degrees = self.error(n)
        return min(2.0 * two_sided_quantile(level, degrees) * error, self.most)

    def level(self, n: int, width: float) -> float:
        """Find the level by the distribution of the statistic, or by bisection."""
        if self.by_limits:
            return super().level(n, width)
        error, degrees = self.error(n)
        half = width / 2.0 / error
        if degrees == inf:
            # 2 (1 - Phi(z)), without the loss of digits of a small tail.
            return 1.0 - float(erfc(half / sqrt(2.0)))
        return 1.0 - 2.0 * float(stdtr(degrees, -half))

    def power(self, n: int, difference: float, test: PlannedTest, level: float) -> float:
        """Find the power by the noncentral t distribution."""
        return test.power(difference, *self.error(n, difference), level)


@dataclass(frozen=True)
class ExactTopModel(PlanModel):
    """Limits for the precision at the top that hold for every distribution."""

    sample: Composition
    variance: TopVariance  # Expected precision and share of positives at the threshold
    most: float = 1.0

    def width(self, n: int, level: float) -> float:
        """Width where the items near the threshold are as expected."""
        top = self.variance
        tail = (1.0 - level) * THRESHOLD_SHARE / 2.0
        least, largest = int(binom.ppf(tail, n, top.tau)), int(binom.isf(tail, n, top.tau))
        if least == 0:
            return self.most
        count = np.linspace(least, largest, min(largest - least + 1, 1001))
        hits = top.expected * top.tau * n + top.eta * (count - top.tau * n)
        hits = np.clip(hits, 0.0, count)
        alpha = (1.0 - level) * (1.0 - THRESHOLD_SHARE) / 2.0
        low, high = exact_limits(hits, count - hits, alpha)
        return float(high.max() - low.min())


class GuaranteedModel(PlanModel):
    """Deviations that are exceeded with a probability that is bounded for every distribution."""

    @abstractmethod
    def deviation(self, n: int, tail: float, *, both: bool) -> float:
        """Largest distance of the estimate from its inputs, but for a probability."""

    @abstractmethod
    def tail(self, n: int, deviation: float, *, both: bool) -> float:
        """Bound of the probability of a deviation."""

    def width(self, n: int, level: float) -> float:
        """Two deviations."""
        return min(2.0 * self.deviation(n, _tail(level), both=True), self.most)

    def level(self, n: int, width: float) -> float:
        return 1.0 - self.tail(n, width / 2.0, both=True)

    def power(self, n: int, difference: float, test: PlannedTest, level: float) -> float:
        """Lower bound of the power."""
        limit = self.deviation(n, _tail(level), both=test.alternative == "two-sided")
        distances = [distance - limit for distance in test.distances(difference)]
        return test.joint_power(
            [1.0 - self.tail(n, x, both=False) if x > 0.0 else 0.0 for x in distances]
        )


def _tail(level: float) -> float:
    """One less the level, below 1."""
    return min(1.0 - level, 1.0 - LEAST_TAIL)


@dataclass(frozen=True)
class GuaranteedAUC(GuaranteedModel):
    """Bounds for the AUC of every distribution."""

    sample: Composition
    method: Any
    expected: float | None  # Expected AUC, for the last two
    scale: float = 1.0
    most: float = 1.0  # Length of the range

    def deviation(self, n: int, tail: float, *, both: bool) -> float:
        counts = self.sample.counts(n)
        if self.method == "chebyshev":
            # The bound is evaluated at the expected AUC instead of the observed one.
            variance = auc_variance_bound(*counts, expected_auc=self.expected).value
            return min(sqrt(variance / tail), 1.0)
        side: Any = "both" if both else "lower"
        bound = auc_bound(*counts, tail, method=self.method, auc=self.expected, side=side)
        return self.scale * bound.value

    def tail(self, n: int, deviation: float, *, both: bool) -> float:
        bound = auc_deviation_bound(
            min(deviation / self.scale, 1.0),
            *self.sample.counts(n),
            method=self.method,
            expected_auc=self.expected,
            side="both" if both else "lower",
        )
        return bound.value


@dataclass(frozen=True)
class GuaranteedMean(GuaranteedModel):
    """Bounds for a mean over queries of every distribution."""

    sample: Composition
    method: str
    most: float  # Length of the range of the values, or of the differences
    spread: float
    expected: float | None = None  # Expected mean on the scale from 0 to 1, for "kl"
    variance: float | None = None  # Variance of the values, for "bernstein"

    def deviation(self, n: int, tail: float, *, both: bool) -> float:
        """Find the deviation: Hoeffding's, that of the relative entropy or of the variance."""
        logs = log((2.0 if both else 1.0) / tail)
        if self.method == "kl":
            low, high = kl_limits(float(self.expected or 0.0), logs / n)
            share = float(self.expected or 0.0)
            return self.most * max(share - float(low), float(high) - share)
        if self.method == "bernstein":
            # Half of the error of each side is spent on the estimated variance.
            logs += log(2.0)
            spread = sqrt(2.0 * float(self.variance or 0.0) * logs / n)
            return spread + 7.0 * self.most * logs / (3.0 * max(n - 1.0, 1.0))
        return self.spread * sqrt(logs / (2.0 * n))

    def tail(self, n: int, deviation: float, *, both: bool) -> float:
        """Find the probability: the inverse of the deviation."""
        if self.method == "hoeffding":
            sides = 2.0 if both else 1.0
            return min(sides * exp(-2.0 * n * (deviation / self.spread) ** 2), 1.0)

        def near(log_tail: float) -> bool:
            return self.deviation(n, exp(log_tail), both=both) <= deviation

        if not near(0.0):
            return 1.0
        return exp(root_between(near, -700.0, 0.0)) if not near(-700.0) else 0.0
