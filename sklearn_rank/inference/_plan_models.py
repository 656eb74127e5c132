"""Width of the interval and power of the test at each sample size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
from scipy.special import betaincinv, erfc, stdtr
from scipy.stats import binom

from ..bounds import auc_bound, auc_deviation_bound, auc_variance_bound
from ..bounds._shared import kl_limits
from ._auc_limits import auc_limits
from ._exact_limits import safe_limits
from ._normal_test import two_sided_quantile
from ._plan_questions import Question, Sample
from ._plan_search import root_between
from ._plan_variances import DrawsVariance, MomentsVariance, TopVariance, Variance
from ._top import THRESHOLD_SHARE
from ._top_limits import top_limits

__all__ = [
    "AUCModel",
    "ExactTopModel",
    "GuaranteedAUC",
    "GuaranteedMean",
    "LimitsModel",
    "NormalModel",
    "PlanModel",
    "TopModel",
]

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
