"""Variance, width of the interval and power of the test at each sample size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, inf, isinf, log, sqrt
from typing import Any

import numpy as np
from scipy.special import betaincinv, erfc, nctdtr, ndtr, ndtri, stdtr, stdtrit
from scipy.stats import binom

from .._arguments import MOST_ITEMS
from .._typing import FloatArray
from ..bounds import auc_bound, auc_deviation_bound, auc_variance_bound
from ..bounds._shared import kl_limits
from ..metrics._shared import PSEUDO_WEIGHT
from ._auc import AUCMoments, auc_limits
from ._limits import safe_limits, two_sided_quantile
from ._score_distributions import auc_parts
from ._top import THRESHOLD_SHARE, top_limits

N_HALVINGS = 100


def smallest_size(enough: Callable[[int], bool], wish: str) -> int:
    """Find the least size that is enough."""
    fewest, most = 1, 2
    while not enough(most):
        fewest, most = most, 2 * most
        if most > MOST_ITEMS:
            raise ValueError(f"{wish} takes more than 2**53 items: ask for less.")
    while most - fewest > 1:
        middle = (fewest + most) // 2
        fewest, most = (fewest, middle) if enough(middle) else (middle, most)
    return most


def root_between(reaches: Callable[[float], bool], low: float, high: float) -> float:
    """Find where a function reaches a value by bisection."""
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


PLAN_ALTERNATIVES = ("two-sided", "less", "greater", "non-inferior", "equivalent")

# From this number of degrees of freedom on, Student's distribution is replaced by the normal one.
NORMAL_DEGREES = 1e7


@dataclass(frozen=True)
class Sample:
    """Composition of a sample of size n."""

    unit: str  # What there are n of
    positive_fraction: float | None  # Share of the items that are positive; None for queries
    group_size: float | None = None  # Mean number of them in a group; None is independent ones

    def counts(self, n: int) -> tuple[int, int]:
        """Count the positives and the negatives."""
        share = 0.5 if self.positive_fraction is None else self.positive_fraction
        n_pos = min(max(int(share * n + 0.5), 1), n - 1)
        return n_pos, n - n_pos


@dataclass(frozen=True)
class Question:
    """A test of a difference."""

    alternative: str  # What is to be shown
    margin: float | None  # Largest difference that does not matter, for the last two
    greater_is_better: bool  # Whether more of the measure is better

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
        found = self.joined(
            [
                _above(critical, distance / error, degrees)
                for distance in self.distances(difference)
            ]
        )
        if both:
            found += _above(critical, -abs(difference) / error, degrees)
        return min(found, 1.0)

    @staticmethod
    def joined(chances: list[float]) -> float:
        """Bound the probability that all of several hypotheses are rejected."""
        return max(1.0 - sum(1.0 - chance for chance in chances), 0.0)


def _above(critical: float, noncentrality: float, degrees: float) -> float:
    """Probability that a noncentral t variable is above a number."""
    if isinf(degrees) or degrees >= NORMAL_DEGREES:
        return float(ndtr(noncentrality - critical))
    found = float(nctdtr(degrees, noncentrality, critical))
    if 0.0 <= found <= 1.0:
        return 1.0 - found
    # Where the series fails: the spread of the standard error as normal.
    apart = noncentrality - critical * (1.0 - 1.0 / (4.0 * degrees))
    return float(ndtr(apart / sqrt(1.0 + critical**2 / (2.0 * degrees))))


# Half an item of a class at either end, as the intervals add it.
ADDED = 2.0 * PSEUDO_WEIGHT


class Variance(ABC):
    """Variance of an estimate at each size of a sample."""

    @abstractmethod
    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance of the estimate."""


class DrawsVariance(Variance):
    """Variance of an estimate that behaves as a share of Bernoulli draws."""

    @abstractmethod
    def draws(self, n: int) -> tuple[float, float, float]:
        """Return the effective number of Bernoulli draws of the estimate, scaled to [0, 1]."""


class MomentsVariance(Variance):
    """Variance of an AUC, with the moments of its sample."""

    @abstractmethod
    def moments(self, n: int, factor: float) -> AUCMoments:
        """Describe the sample that the interval for an AUC is made of."""


@dataclass(frozen=True)
class AUCVariance(MomentsVariance):
    """Variance of AUCs of normal or exponential scores."""

    sample: Sample  # What the sample is made of
    expected: float  # Expected AUC; of a comparison that of the second ranker
    pairs: str  # Normal scores, or exponential ones
    correlation: float | None = None
    n_rankers: int = 1  # One ranker, or two

    def _parts(self, difference: float) -> list[FloatArray]:
        """Parts of each independent sample: of both, the positives and the negatives."""
        if self.n_rankers == 1:
            return [_parts_of((self.expected,), 0.0, self.pairs)]
        aucs = (self.expected + difference, self.expected)
        if self.correlation is None:
            return [_parts_of((auc,), 0.0, self.pairs) for auc in aucs]
        return [_parts_of(aucs, self.correlation, self.pairs)]

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: Lehmann's."""
        n_pos, n_neg = self.sample.counts(n)
        variance, of_classes, degrees = 0.0, [], []
        for both, positive, negative in self._parts(difference):
            single = (n_neg - 1.0) * positive + (n_pos - 1.0) * negative
            variance += (both + single) / (n_pos * n_neg)
            of_classes += [positive / n_pos, negative / n_neg]
            degrees += [n_pos - 1.0, n_neg - 1.0]
        return variance, satterthwaite(of_classes, degrees)

    def moments(self, n: int, factor: float) -> AUCMoments:
        """Describe a sample, with the variances of placements that it will show."""
        n_pos, n_neg = self.sample.counts(n)
        both, positive, negative = self._parts(0.0)[0]
        rest = both - positive - negative
        spreads = (factor * (positive + rest / n_neg), factor * (negative + rest / n_pos))
        return AUCMoments.of_independent(self.expected, *spreads, 0.0, n_pos, n_neg)


@lru_cache(maxsize=256)
def _parts_of(aucs: tuple[float, ...], correlation: float, pairs: str) -> FloatArray:
    """Parts of the variance of an AUC, or of the difference of two."""
    contrast = np.array([1.0, -1.0])[: len(aucs)]
    parts = auc_parts(np.array(aucs), correlation, pairs=pairs)
    return np.asarray(np.einsum("pij,i,j->p", parts, contrast, contrast))


@dataclass(frozen=True)
class WorstAUCVariance(Variance):
    """Largest variance that an AUC can have."""

    sample: Sample  # What the sample is made of
    expected: float | None  # Expected AUC; None is the worst

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: ``A (1 - A)`` over the size of the smaller class."""
        found = auc_variance_bound(*self.sample.counts(n), expected_auc=self.expected)
        return found.value, inf


@dataclass(frozen=True)
class ClassVariance(DrawsVariance, MomentsVariance):
    """Variance of a measure of one list by the influence of its items."""

    sample: Sample  # What the sample is made of
    variances: tuple[tuple[float, float], ...]
    effect: float  # By how much groups make the variance larger
    degrees_per_item: float | None
    estimate: float
    classes: tuple[tuple[float, tuple[float, float]], ...] = ()
    groups_per_item: float | None = None

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: that of each class over its size."""
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

    def draws(self, n: int) -> tuple[float, float, float]:
        """Say what the measure is worth, with half an item added at either end of each class."""
        sizes = self.sample.counts(n)
        parts = zip(self.classes, self.variances[0], sizes, strict=True)
        given = [(mean, variance, ends, size) for (mean, ends), variance, size in parts]
        estimate, n_effective = _worth(self.estimate, given, self.effect)
        return estimate, n_effective, self._degrees(n, inf)

    def moments(self, n: int, factor: float) -> AUCMoments:
        """Describe a sample whose placements vary as those of the pilot."""
        sizes = self.sample.counts(n)
        spreads = [factor * variance for variance in self.variances[0]]
        found = AUCMoments.of_independent(
            self.estimate, spreads[0], spreads[1], 0.0, sizes[0], sizes[1]
        )
        if self.groups_per_item is None:
            return found
        n_groups = np.asarray(max(self.groups_per_item * n, 1.0))
        return replace(found, variance=self.effect * found.variance, n_groups=n_groups)


def _worth(
    estimate: float,
    classes: Sequence[tuple[float, float, tuple[float, float], int]],
    effect: float = 1.0,
) -> tuple[float, float]:
    """The estimate, and its draws with the added items: mean, variance, ends and size."""
    shift = variance = 0.0
    for mean, spread, ends, size in classes:
        moved = PSEUDO_WEIGHT * (sum(ends) - 2.0 * mean) / (size + ADDED)
        squares = (size - 1.0) * spread + size * moved**2
        squares *= effect
        squares += PSEUDO_WEIGHT * sum((end - mean - moved) ** 2 for end in ends)
        shift += moved
        variance += squares / (size + ADDED) ** 2
    shrunken = min(max(estimate + shift, 0.0), 1.0)
    return min(max(estimate, 0.0), 1.0), shrunken * (1.0 - shrunken) / variance


@dataclass(frozen=True)
class MeanVariance(DrawsVariance):
    """Variance of a mean over queries."""

    variances: tuple[float, ...]
    effect: float = 1.0  # By how much groups make it larger
    degrees_per_query: float | None = None
    estimate: float = 0.5  # The mean on the scale from 0 to 1

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: that of the values over the number of queries."""
        parts = [variance / n for variance in self.variances]
        degrees = satterthwaite(parts, [n - 1.0] * len(parts))
        if self.degrees_per_query is not None:
            degrees = max(self.degrees_per_query * n, 1.0)
        return self.effect * sum(parts), degrees

    def draws(self, n: int) -> tuple[float, float, float]:
        """Say what a share of queries is worth: the queries."""
        return self.estimate, n / self.effect, inf


@dataclass(frozen=True)
class ShareVariance(DrawsVariance):
    """Variance of a share of queries, or of the difference of two."""

    expected: float
    length: float
    correlation: float | None = None
    n_rankers: int = 1  # One ranker, or two

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: no values of the same mean vary more."""
        second = self.expected * (1.0 - self.expected)
        if self.n_rankers == 1:
            return self.length**2 * second / n, n - 1.0
        share = min(max(self.expected + difference / self.length, 0.0), 1.0)
        first = share * (1.0 - share)
        together = 0.0 if self.correlation is None else self.correlation
        variance = first + second - 2.0 * together * sqrt(first * second)
        independent = 1.0 if self.correlation is not None else 2.0
        return self.length**2 * variance / n, independent * (n - 1.0)

    def draws(self, n: int) -> tuple[float, float, float]:
        """Say what the share is worth: the queries."""
        return self.expected, float(n), inf


@dataclass(frozen=True)
class TopVariance(Variance):
    """Variance of the precision at the top, labels random."""

    expected: float  # Precision; of a comparison that of the second ranker
    eta: float  # Probability that an item at the threshold is positive
    tau: float  # Share of the items that make the top
    effect: float = 1.0  # By how much groups make the variance larger
    correlation: float | None = None
    n_rankers: int = 1  # One ranker, or two

    def top(self, n: int) -> float:
        """Count the items in the top. How many independent items they are worth."""
        return max(int(self.tau * n + 0.5), 1) / self.effect

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: binomial, and that of the threshold."""
        top = self.top(n)
        second = self._per_item(self.expected)
        if self.n_rankers == 1:
            return second / top, inf
        first = self._per_item(self.expected + difference)
        together = 0.0 if self.correlation is None else self.correlation
        return (first + second - 2.0 * together * sqrt(first * second)) / top, max(top - 1.0, 1.0)

    def _per_item(self, precision: float) -> float:
        away = (1.0 - self.tau) * (precision - self.eta) ** 2
        return precision * (1.0 - precision) + away


def satterthwaite(variances: Sequence[float], degrees: Sequence[float]) -> float:
    """Degrees of freedom of a sum of independent variances."""
    total = sum(variances)
    if total <= 0.0:
        return max(min(degrees), 1.0)
    weights = [v / total for v in variances]
    return 1.0 / sum(w**2 / max(d, 1.0) for w, d in zip(weights, degrees, strict=True))


# Levels closer to 1 are equal to 1 up to rounding.
LEAST_TAIL = 1e-15


class PlanModel(ABC):
    """An interval and a test at each size of the sample."""

    sample: Sample  # What the sample is made of
    most: float  # Largest width, which is the length of the range

    @abstractmethod
    def width(self, n: int, level: float) -> float:
        """Find the width of the interval. The width, at most the length of the range."""

    def level(self, n: int, width: float) -> float:
        """Find the level of an interval. The largest level at which the interval is no wider."""

        def too_wide(level: float) -> bool:
            return self.width(n, level) > width

        if too_wide(LEAST_TAIL):
            return 0.0
        if not too_wide(1.0 - LEAST_TAIL):
            return 1.0 - LEAST_TAIL
        return root_between(too_wide, LEAST_TAIL, 1.0 - LEAST_TAIL)

    def power(self, n: int, difference: float, question: Question, level: float) -> float:
        """Find the power of the test, where there is one."""
        raise ValueError(
            "This method plans the width of an interval, not the power of a test: pass"
            " method='auto', or width instead of power."
        )


@dataclass(frozen=True)
class NormalModel(PlanModel):
    """Student's interval, or the normal one, and the test by the same standard error."""

    sample: Sample  # What the sample is made of
    most: float  # Largest width
    variance: Variance
    factor: float = 1.0  # By how much it is larger than that
    known: bool = False

    def scaled(self, factor: float) -> NormalModel:
        """Multiply the variance. The model with that variance."""
        return replace(self, factor=self.factor * factor)

    def error(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the standard error."""
        variance, degrees = self.variance.of(n, difference)
        return sqrt(variance * self.factor), inf if self.known else max(degrees, 1.0)

    def width(self, n: int, level: float) -> float:
        """Find the width: two quantiles times the standard error."""
        error, degrees = self.error(n)
        return min(2.0 * two_sided_quantile(level, degrees) * error, self.most)

    def level(self, n: int, width: float) -> float:
        """Find the level by the distribution of the statistic."""
        error, degrees = self.error(n)
        half = width / 2.0 / error
        if degrees == inf:
            # 2 (1 - Phi(z)), without the loss of digits of a small tail.
            return 1.0 - float(erfc(half / sqrt(2.0)))
        return 1.0 - 2.0 * float(stdtr(degrees, -half))

    def power(self, n: int, difference: float, question: Question, level: float) -> float:
        """Find the power by the noncentral t distribution."""
        return question.power(difference, *self.error(n, difference), level)


@dataclass(frozen=True)
class ScoreModel(NormalModel):
    """Limits other than the estimate and a multiple of its standard error."""

    def level(self, n: int, width: float) -> float:
        """Find the level by bisection."""
        return PlanModel.level(self, n, width)


@dataclass(frozen=True)
class LimitsModel(ScoreModel):
    """Wilson's limits, or exact ones, for an estimate with an effective number of draws."""

    variance: DrawsVariance

    def width(self, n: int, level: float) -> float:
        """Find the width at the expected estimate."""
        estimate, n_effective, degrees = self.variance.draws(n)
        low, high = safe_limits(estimate, n_effective / self.factor, level, degrees)
        return self.most * (high - low)


@dataclass(frozen=True)
class AUCModel(ScoreModel):
    """Score limits for the AUC, or for the Gini coefficient."""

    variance: MomentsVariance

    def width(self, n: int, level: float) -> float:
        """Find the width at the expected AUC."""
        low, high = auc_limits("wilson", self.variance.moments(n, self.factor), level)
        return self.most * float(high - low)


@dataclass(frozen=True)
class TopModel(ScoreModel):
    """Limits for the precision at the top."""

    variance: TopVariance

    def width(self, n: int, level: float) -> float:
        """Find the width at the expected precision."""
        top = self.variance
        limits, _ = top_limits(top.expected, top.eta, top.top(n) / self.factor, top.tau, level)
        return limits[1] - limits[0]


@dataclass(frozen=True)
class ExactTopModel(PlanModel):
    """Limits for the precision at the top that hold for every distribution."""

    sample: Sample  # What the sample is made of
    variance: TopVariance  # Precision and share of positives at the threshold that are expected
    most: float = 1.0  # Largest width

    def width(self, n: int, level: float) -> float:
        """Find the width where the items near the threshold are as expected."""
        top = self.variance
        tail = (1.0 - level) * THRESHOLD_SHARE / 2.0
        first, last = int(binom.ppf(tail, n, top.tau)), int(binom.isf(tail, n, top.tau))
        if first == 0:
            return self.most
        count = np.linspace(first, last, min(last - first + 1, 1001))
        hits = top.expected * top.tau * n + top.eta * (count - top.tau * n)
        hits = np.clip(hits, 0.0, count)
        alpha = (1.0 - level) * (1.0 - THRESHOLD_SHARE) / 2.0
        low = betaincinv(np.maximum(hits, 1e-9), count - hits + 1.0, alpha)
        high = betaincinv(hits + 1.0, np.maximum(count - hits, 1e-9), 1.0 - alpha)
        return float(high.max() - low.min())


class GuaranteedModel(PlanModel):
    """Deviations that are exceeded with a probability that is bounded for every distribution."""

    @abstractmethod
    def deviation(self, n: int, tail: float, *, both: bool) -> float:
        """Find how far the estimate may be from its expectation."""

    @abstractmethod
    def tail(self, n: int, deviation: float, *, both: bool) -> float:
        """Find the probability of a deviation. Bound of the probability, at most 1."""

    def width(self, n: int, level: float) -> float:
        """Find the width: two deviations."""
        return min(2.0 * self.deviation(n, _tail(level), both=True), self.most)

    def level(self, n: int, width: float) -> float:
        """Find the level by the bound of the probability."""
        return 1.0 - self.tail(n, width / 2.0, both=True)

    def power(self, n: int, difference: float, question: Question, level: float) -> float:
        """Return a lower bound of the power."""
        both = question.alternative == "two-sided"
        limit = self.deviation(n, _tail(level), both=both)
        left = [distance - limit for distance in question.distances(difference)]
        return question.joined(
            [1.0 - self.tail(n, one, both=False) if one > 0.0 else 0.0 for one in left]
        )


def _tail(level: float) -> float:
    """One less the level, below 1."""
    return min(1.0 - level, 1.0 - LEAST_TAIL)


@dataclass(frozen=True)
class GuaranteedAUC(GuaranteedModel):
    """Bounds for the AUC of every distribution."""

    sample: Sample  # What the sample is made of
    method: Any
    expected: float | None  # Expected AUC, for the last two
    scale: float = 1.0
    most: float = 1.0  # Length of the range

    def deviation(self, n: int, tail: float, *, both: bool) -> float:
        """Find the deviation by the bound of the method."""
        counts = self.sample.counts(n)
        if self.method == "chebyshev":
            # The bound is evaluated at the expected AUC instead of the observed one.
            variance = auc_variance_bound(*counts, expected_auc=self.expected).value
            return min(sqrt(variance / tail), 1.0)
        side: Any = "both" if both else "lower"
        found = auc_bound(*counts, tail, method=self.method, auc=self.expected, side=side)
        return self.scale * found.value

    def tail(self, n: int, deviation: float, *, both: bool) -> float:
        """Find the probability by the bound of the method."""
        found = auc_deviation_bound(
            min(deviation / self.scale, 1.0),
            *self.sample.counts(n),
            method=self.method,
            expected_auc=self.expected,
            side="both" if both else "lower",
        )
        return found.value


@dataclass(frozen=True)
class GuaranteedMean(GuaranteedModel):
    """Bounds for a mean over queries of every distribution."""

    sample: Sample  # What the sample is made of
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
