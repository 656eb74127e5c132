"""Plans of samples: the interval and the test at each size, from expected values or a pilot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from math import exp, inf, isfinite, isinf, log, sqrt
from typing import Any, TypeAlias

import numpy as np
from scipy.special import chdtri, erfc, nctdtr, ndtr, ndtri, stdtr, stdtrit
from scipy.stats import binom

from .._lists import ScoredLists
from .._order import counted_blocks
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_choice, check_number, check_share, is_number, ravelled
from .._warn import warn
from ..bounds import auc_bound, auc_deviation_bound, auc_variance_bound
from ..bounds._shared import mean_limits
from ..metrics import Measure
from ..metrics._shared import PSEUDO_WEIGHT, ClassInfluence, Groups, share_at
from ._evidence import (
    ROUNDING_VARIANCE,
    check_lists,
    dimensions,
    influence_of,
    joint_influence,
    mean_influences,
    named_scores,
    refuse_collections,
    refuse_one_class,
    refuse_unknown,
)
from ._limits import Limits, exact_limits, safe_limits, two_sided_quantile
from ._list_intervals import THRESHOLD_SHARE, grouped_top, largest_deviation, top_limits
from ._queries import are_shares, query_values_of
from ._roc import AUCMoments, auc_limits, auc_parts


def root_between(reaches: Callable[[float], bool], low: float, high: float) -> float:
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
    unit: str  # "items" or "queries"
    positive_fraction: float | None  # None for queries
    group_size: float | None = None  # Mean number of units in a group; None is no groups

    def sizes(self, n: int) -> tuple[int, ...]:
        """Numbers of positives and of negatives, or of queries."""
        if self.positive_fraction is None:
            return (n,)
        n_pos = min(max(int(self.positive_fraction * n + 0.5), 1), n - 1)
        return n_pos, n - n_pos


@dataclass(frozen=True)
class PlannedTest:
    alternative: str
    margin: float | None  # For non-inferiority and equivalence
    greater_is_better: bool

    def distances(self, difference: float) -> tuple[float, ...]:
        margin = self.margin or 0.0
        if self.alternative == "two-sided":
            return (abs(difference),)
        if self.alternative in ("less", "greater"):
            return (difference if self.alternative == "greater" else -difference,)
        if self.alternative == "non-inferior":
            return (margin + (difference if self.greater_is_better else -difference),)
        return (margin + difference, margin - difference)

    def power(self, difference: float, error: float, degrees: float, level: float) -> float:
        both = self.alternative == "two-sided"
        tail = (1.0 + level) / 2.0 if both else level
        large = degrees >= NORMAL_DEGREES
        critical = float(ndtri(tail) if large else stdtrit(degrees, tail))
        chance = all_rejected(
            [
                _above(critical, distance / error, degrees)
                for distance in self.distances(difference)
            ]
        )
        if both:
            chance += _above(critical, -abs(difference) / error, degrees)
        return min(chance, 1.0)


def all_rejected(chances: list[float]) -> float:
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


# Levels closer to 1 are equal to 1 up to rounding.
LEAST_TAIL = 1e-15


@dataclass(frozen=True)
class PlanModel:
    """Limits at each size of a sample, and a test where there is one."""

    sample: Composition
    most: float  # Largest width, which is the length of the range
    # From size, level and a factor of the variance, on the scale from 0 to 1; None is symmetric.
    limits: Callable[[int, float, float], Limits] | None = None
    factor: float = 1.0  # Of the variance

    def width(self, n: int, level: float) -> float:
        low, high = self.limits(n, level, self.factor) if self.limits else (0.0, 1.0)
        return self.most * (high - low)

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
        raise ValueError(
            "This method plans the width of an interval, not the power of a test: pass"
            " method='auto', or width instead of power."
        )


@dataclass(frozen=True)
class NormalModel(PlanModel):
    """Student's interval, the normal one or other limits, and the test by the standard error."""

    _: KW_ONLY
    # Variance of the estimate and its degrees of freedom, from size and true difference.
    variance: Callable[[int, float], tuple[float, float]]
    known: bool = False  # Whether the variance counts as known

    def scaled(self, factor: float) -> NormalModel:
        return replace(self, factor=self.factor * factor)

    def error(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        variance, degrees = self.variance(n, difference)
        return sqrt(variance * self.factor), inf if self.known else max(degrees, 1.0)

    def width(self, n: int, level: float) -> float:
        if self.limits is not None:
            return super().width(n, level)
        error, degrees = self.error(n)
        return min(2.0 * two_sided_quantile(level, degrees) * error, self.most)

    def level(self, n: int, width: float) -> float:
        if self.limits is not None:
            return super().level(n, width)
        error, degrees = self.error(n)
        half = width / 2.0 / error
        if degrees == inf:
            # 2 (1 - Phi(z)), without the loss of digits of a small tail.
            return 1.0 - float(erfc(half / sqrt(2.0)))
        return 1.0 - 2.0 * float(stdtr(degrees, -half))

    def power(self, n: int, difference: float, test: PlannedTest, level: float) -> float:
        return test.power(difference, *self.error(n, difference), level)


@dataclass(frozen=True)
class GuaranteedModel(PlanModel):
    """Bounds for the AUC, or a mean over queries, that hold for every distribution."""

    _: KW_ONLY
    method: Any
    expected: float | None = None  # On the scale from 0 to 1
    length: float = 1.0  # Of the range of what is averaged
    variance: float = 0.0  # Of the values, for "bernstein"

    def deviation(self, n: int, tail: float, *, both: bool) -> float:
        """Largest deviation from the estimate, or below it, but for a probability."""
        if self.sample.unit == "items":
            n_pos, n_neg = self.sample.sizes(n)
            if self.method == "chebyshev":
                # The bound is evaluated at the expected AUC instead of the observed one.
                variance = auc_variance_bound(n_pos, n_neg, expected_auc=self.expected).value
                return min(sqrt(variance / tail), 1.0)
            side: Any = "both" if both else "lower"
            options: Any = {"method": self.method, "auc": self.expected, "side": side}
            return self.length * auc_bound(n_pos, n_neg, tail, **options).value
        logs = log((2.0 if both else 1.0) / tail)
        mean = float(self.expected or 0.0) if self.method == "kl" else 0.0
        length = self.length if self.method == "hoeffding" else self.most
        low, high = mean_limits(self.method, mean, n, logs, self.variance / length**2)
        return length * max(mean - float(low), float(high) - mean)

    def tail(self, n: int, deviation: float, *, both: bool) -> float:
        if self.sample.unit == "items":
            n_pos, n_neg = self.sample.sizes(n)
            side: Any = "both" if both else "lower"
            options: Any = {"method": self.method, "expected_auc": self.expected, "side": side}
            return auc_deviation_bound(
                min(deviation / self.length, 1.0), n_pos, n_neg, **options
            ).value
        if self.method == "hoeffding":
            sides = 2.0 if both else 1.0
            return min(sides * exp(-2.0 * n * (deviation / self.length) ** 2), 1.0)

        def near(log_tail: float) -> bool:
            return self.deviation(n, exp(log_tail), both=both) <= deviation

        if not near(0.0):
            return 1.0
        return exp(root_between(near, -700.0, 0.0)) if not near(-700.0) else 0.0

    def width(self, n: int, level: float) -> float:
        return min(2.0 * self.deviation(n, _tail(level), both=True), self.most)

    def level(self, n: int, width: float) -> float:
        return 1.0 - self.tail(n, width / 2.0, both=True)

    def power(self, n: int, difference: float, test: PlannedTest, level: float) -> float:
        limit = self.deviation(n, _tail(level), both=test.alternative == "two-sided")
        distances = [distance - limit for distance in test.distances(difference)]
        return all_rejected(
            [1.0 - self.tail(n, x, both=False) if x > 0.0 else 0.0 for x in distances]
        )


def _tail(level: float) -> float:
    return min(1.0 - level, 1.0 - LEAST_TAIL)


def satterthwaite(variances: Sequence[float], degrees: Sequence[float]) -> float:
    total = sum(variances)
    if total <= 0.0:
        return max(min(degrees), 1.0)
    weights = [variance / total for variance in variances]
    return 1.0 / sum(
        weight**2 / max(degree, 1.0) for weight, degree in zip(weights, degrees, strict=True)
    )


@lru_cache(maxsize=256)
def _parts_of(aucs: tuple[float, ...], correlation: float, pairs: str) -> FloatArray:
    contrast = np.array([1.0, -1.0])[: len(aucs)]
    parts = auc_parts(np.array(aucs), correlation, pairs=pairs)
    return np.asarray(np.einsum("pij,i,j->p", parts, contrast, contrast))


@dataclass(frozen=True)
class ExpectedAUC:
    sample: Composition
    auc: Any  # Of a comparison that of the second ranker; None is that of the largest variance
    pairs: str  # "delong" for normal scores, "hanley-mcneil" for exponential ones, "any"
    correlation: float | None = None  # None is different data
    n_rankers: int = 1

    def variance(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Lehmann's variance and its degrees of freedom, or the largest variance."""
        n_pos, n_neg = self.sample.sizes(n)
        if self.pairs == "any":
            return auc_variance_bound(n_pos, n_neg, expected_auc=self.auc).value, inf
        aucs = (self.auc,) if self.n_rankers == 1 else (self.auc + difference, self.auc)
        samples = [aucs] if self.correlation is not None else [(auc,) for auc in aucs]
        variance, of_classes, degrees = 0.0, [], []
        for of_sample in samples:
            both, positive, negative = _parts_of(of_sample, self.correlation or 0.0, self.pairs)
            single = (n_neg - 1.0) * positive + (n_pos - 1.0) * negative
            variance += (both + single) / (n_pos * n_neg)
            of_classes += [positive / n_pos, negative / n_neg]
            degrees += [n_pos - 1.0, n_neg - 1.0]
        return variance, satterthwaite(of_classes, degrees)

    def limits(self, n: int, level: float, factor: float) -> Limits:
        """Score limits with the variances of placements that the sample will show."""
        n_pos, n_neg = self.sample.sizes(n)
        both, positive, negative = _parts_of((self.auc,), 0.0, self.pairs)
        rest = both - positive - negative
        spreads = (factor * (positive + rest / n_neg), factor * (negative + rest / n_pos))
        moments = AUCMoments.of_independent(self.auc, *spreads, 0.0, n_pos, n_neg)
        return _score_limits(moments, level)


def _score_limits(moments: AUCMoments, level: float) -> Limits:
    low, high = auc_limits("wilson", moments, level)
    return float(low), float(high)


@dataclass(frozen=True)
class Spreads:
    """Variances of a pilot: of the influence of each class, or of the values of queries."""

    sample: Composition
    variances: Sequence[Sequence[float]]  # Of each independent sample
    effect: float = 1.0  # By how much groups increase the variance
    degrees_per_unit: float | None = None  # None without groups
    estimate: float = 0.5  # On the scale from 0 to 1
    # Mean and extreme influence of each class; none of an AUC, whose placements vary instead.
    classes: Sequence[tuple[float, tuple[float, float]]] = ()
    groups_per_item: float | None = None

    def variance(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        sizes = self.sample.sizes(n)
        parts = [
            variance / size
            for of_sample in self.variances
            for variance, size in zip(of_sample, sizes, strict=True)
        ]
        degrees = satterthwaite(parts, [size - 1.0 for size in sizes] * len(self.variances))
        return self.effect * sum(parts), self._degrees(n, degrees)

    def _degrees(self, n: int, independent: float) -> float:
        if self.degrees_per_unit is None:
            return independent
        return max(self.degrees_per_unit * n, 1.0)

    def limits(self, n: int, level: float, factor: float) -> Limits:
        """Limits of a share of queries, of an AUC, or with half an item more at either end."""
        sizes = self.sample.sizes(n)
        if len(sizes) == 1 and not self.classes:
            return safe_limits(self.estimate, n / self.effect / factor, level)
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


def _of_two(first: float, second: float, correlation: float | None) -> float:
    return first + second - 2.0 * (correlation or 0.0) * sqrt(first * second)


@dataclass(frozen=True)
class ExpectedShare:
    """A share of queries, or the difference of two; no values with this mean vary more."""

    share: float  # Of a comparison that of the second ranker
    length: float  # Of the range of the measure
    correlation: float | None = None
    n_rankers: int = 1

    def variance(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        second = self.share * (1.0 - self.share)
        if self.n_rankers == 1:
            return self.length**2 * second / n, n - 1.0
        first = min(max(self.share + difference / self.length, 0.0), 1.0)
        variance = _of_two(first * (1.0 - first), second, self.correlation)
        n_samples = 1.0 if self.correlation is not None else 2.0
        return self.length**2 * variance / n, n_samples * (n - 1.0)

    def limits(self, n: int, level: float, factor: float) -> Limits:
        return safe_limits(self.share, float(n) / factor, level)


@dataclass(frozen=True)
class ExpectedTop:
    """The precision at the top, or the difference of two, labels random."""

    precision: float  # Of a comparison that of the second ranker
    eta: float  # Probability that an item at the threshold is positive
    tau: float
    effect: float = 1.0  # By how much groups increase the variance
    correlation: float | None = None
    n_rankers: int = 1

    def _size(self, n: int) -> float:
        """Number of independent items that the items in the top are worth."""
        return max(int(self.tau * n + 0.5), 1) / self.effect

    def variance(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Return the binomial variance with that of the threshold."""
        top = self._size(n)
        second = self._per_item(self.precision)
        if self.n_rankers == 1:
            return second / top, inf
        first = self._per_item(self.precision + difference)
        return _of_two(first, second, self.correlation) / top, max(top - 1.0, 1.0)

    def _per_item(self, precision: float) -> float:
        distance = (1.0 - self.tau) * (precision - self.eta) ** 2
        return precision * (1.0 - precision) + distance

    def limits(self, n: int, level: float, factor: float) -> Limits:
        top = self._size(n) / factor
        return top_limits(self.precision, self.eta, top, self.tau, level)[0]

    def exact_limits(self, n: int, level: float, factor: float) -> Limits:
        """Limits for every distribution, if the items near the threshold are as expected."""
        tail = (1.0 - level) * THRESHOLD_SHARE / 2.0
        least, largest = int(binom.ppf(tail, n, self.tau)), int(binom.isf(tail, n, self.tau))
        if least == 0:
            return 0.0, 1.0
        count = np.linspace(least, largest, min(largest - least + 1, 1001))
        hits = self.precision * self.tau * n + self.eta * (count - self.tau * n)
        hits = np.clip(hits, 0.0, count)
        alpha = (1.0 - level) * (1.0 - THRESHOLD_SHARE) / 2.0
        low, high = exact_limits(hits, count - hits, alpha)
        return float(low.min()), float(high.max())


# --------------------------------------------------------------------------------- expected values


def check_part(name: str, value: Any, what: str = "") -> float:
    """Check a number in (0, 1), with a hint for percentages."""
    if is_number(value) and 1.0 < value <= 100.0:
        raise ValueError(
            f"{name}={value!r} must be a number in (0, 1): for {value:g} per cent pass"
            f" {name}={value / 100:g}."
        )
    return check_share(name, value, what=what)


def check_value(name: str, value: Any, measure: Measure) -> float:
    low, high = measure.counted_range
    if is_number(value) and 1.0 < value <= 100.0 and (low, high) == (0.0, 1.0):
        return check_part(name, value)
    number = check_number(name, value, low, high, closed="neither", what=f"of {measure.name}")
    if "placements" in measure.laws and number < (low + high) / 2.0:
        raise ValueError(
            f"{name}={value!r} is below {(low + high) / 2.0:g}, the value of a random order:"
            f" negate the scores and pass {low + high - number:g}."
        )
    return number


AUC_GUARANTEED = ("mcdiarmid", "hoeffding", "kl", "chebyshev")
AUC_METHODS = ("auto", "wilson", "delong", "hanley-mcneil", "normal-worst", *AUC_GUARANTEED)
# Methods that do not use the expected AUC, and methods that need it.
WITHOUT_AUC = ("mcdiarmid", "hoeffding")
WITH_AUC = ("auto", "wilson", "delong", "hanley-mcneil", "kl")

QUERY_GUARANTEED = ("hoeffding", "kl", "bernstein")
QUERY_METHODS = ("auto", "t", "normal-worst", *QUERY_GUARANTEED)
TOP_METHODS = ("auto", "influence", "exact")


@dataclass(frozen=True)
class PlanInputs:
    """Expected values of the rankers."""

    expected: float | None  # Value of the measure, of a comparison that of the second ranker
    positive_fraction: float | None
    comparing: bool  # Whether two rankers are compared
    paired: bool  # Whether both score the same data
    correlation: float | None  # Of the two rankers
    sd: float | None  # Standard deviation of the values, or differences, of queries
    method: str

    @property
    def n_rankers(self) -> int:
        return 2 if self.comparing else 1

    @property
    def of_two(self) -> tuple[float | None, int]:
        """Correlation on the same data, None of one ranker or different data; and the number."""
        return self.correlation if self.comparing and self.paired else None, self.n_rankers

    def require(self, name: str, why: str) -> Any:
        if (value := getattr(self, name)) is None:
            raise ValueError(f"{name} is missing: {why}.")
        return value

    def refuse(self, name: str, why: str) -> None:
        if (value := getattr(self, name)) is not None:
            raise ValueError(f"{name}={value!r} is not used {why}.")

    def refuse_comparison(self) -> None:
        if self.comparing:
            raise ValueError(
                f"method={self.method!r} does not support a difference of two rankers: pass"
                " method='auto' or 'hoeffding'."
            )

    def require_correlation(self, of: str) -> None:
        if self.comparing and self.paired:
            self.require(
                "correlation",
                f"two rankers on the same data need the correlation of {of} (typically at least .9"
                " for versions of one model, .5 for different models); pass correlation=, a pilot"
                " of both, or paired=False for different data",
            )

    @property
    def guarantee(self) -> str:
        suffix = "" if self.expected is None else f", expecting {self.expected:g}"
        return f"holds for every distribution{suffix}"


def model_of(measure: Measure, inputs: PlanInputs) -> tuple[PlanModel, str, str]:
    """Model of a measure, its method and what it rests on."""
    if "placements" in measure.laws and measure.range == (0.0, 1.0):
        return _auc_model(inputs)
    if "top" in measure.laws:
        return _top_model(measure, inputs)
    if "distributions" in measure.laws:
        return _distance_model(measure, inputs)
    if measure.per_query:
        return _expected_query_model(measure, inputs)
    raise ValueError(
        f"The variance of {measure.name} has no formula: pass pilot=(y_true, y_score), or"
        " pilot=(y_true, {'a': scores_a, 'b': scores_b}) for the difference of two rankers."
    )


def _items(measure: str, inputs: PlanInputs) -> Composition:
    inputs.refuse("sd", "in a plan for items of one list: pass expected or a pilot")
    share = inputs.require(
        "positive_fraction",
        f"the variance of the {measure} depends on it; pass the fraction of positive items, such"
        " as positive_fraction=0.1",
    )
    return Composition("items", share)


def _auc_model(inputs: PlanInputs) -> tuple[PlanModel, str, str]:
    check_choice("method", inputs.method, AUC_METHODS, hint=" for the auc without a pilot")
    sample = _items("auc", inputs)
    method, expected = inputs.method, inputs.expected
    if method in WITHOUT_AUC:
        inputs.refuse("expected", f"by method={method!r}: leave it out, or pass method='kl'")
    elif method in WITH_AUC:
        inputs.require(
            "expected",
            "the variance of the AUC depends on it; pass the expected AUC, such as expected=0.8,"
            " or method='hoeffding', which is valid for every AUC",
        )
    if method in AUC_GUARANTEED:
        scale = 1.0
        if inputs.comparing:
            if method not in WITHOUT_AUC:
                inputs.refuse_comparison()
            inputs.refuse("correlation", f"by method={method!r}: leave it out")
            # The difference of two outcomes of a pair has twice the range; squares of deviations
            # of independent samples add up.
            scale = 2.0 if inputs.paired else sqrt(2.0)
        most = float(inputs.n_rankers)
        model = GuaranteedModel(sample, most, method=method, expected=expected, length=scale)
        return model, method, inputs.guarantee
    if method == "normal-worst":
        inputs.refuse_comparison()
        worst = "" if expected is None else f" at {expected:g}"
        variance = ExpectedAUC(sample, expected, "any").variance
        normal = NormalModel(sample, 1.0, variance=variance)
        return normal, method, f"the largest variance{worst}"
    if method == "wilson":
        inputs.refuse_comparison()
    inputs.require_correlation("their scores within a class")
    pairs = "hanley-mcneil" if method == "hanley-mcneil" else "delong"
    of_auc = ExpectedAUC(sample, float(expected or 0.0), pairs, *inputs.of_two)
    known = method in ("delong", "hanley-mcneil")
    scores = "exponential" if pairs == "hanley-mcneil" else "normal"
    rests_on = f"{scores} scores, expecting {expected:g}"
    if of_auc.correlation is not None:
        rests_on += f", correlation {of_auc.correlation:g}"
    limits = None if inputs.comparing or known else of_auc.limits
    if limits or method == "auto":
        method = "wilson" if limits else "influence"
    most = float(inputs.n_rankers)
    normal = NormalModel(sample, most, limits, variance=of_auc.variance, known=known)
    return normal, method, rests_on


def threshold_share(precision: float, tau: float, positive_fraction: float) -> float:
    """Find the share of positives at the threshold of the top, where scores are normal."""
    # How far the threshold is above the mean of each class.
    of_pos = -ndtri(precision * tau / positive_fraction)
    of_neg = -ndtri((1.0 - precision) * tau / (1.0 - positive_fraction))
    log_odds = (of_neg**2 - of_pos**2) / 2.0
    odds = positive_fraction / (1.0 - positive_fraction) * np.exp(log_odds)
    return float(odds / (1.0 + odds))


def _top_model(measure: Measure, inputs: PlanInputs) -> tuple[PlanModel, str, str]:
    check_choice("method", inputs.method, TOP_METHODS, hint=f" for {measure.name}")
    sample = _items("precision at the top", inputs)
    share, tau = float(inputs.positive_fraction or 0.0), float(measure.laws["top"])
    expected = inputs.require(
        "expected", "the variance of the precision depends on it; pass the expected precision"
    )
    if expected <= share:
        raise ValueError(
            f"expected={expected!r} is not above positive_fraction={share!r}, the precision of a"
            " random order: pass a greater value."
        )
    if expected * tau >= share:
        raise ValueError(
            f"expected={expected!r} in the top {tau:g} needs more positives than"
            f" positive_fraction={share!r} gives: pass at most {share / tau:.4g}."
        )
    inputs.require_correlation("the influence of single items on them")
    eta = threshold_share(expected, tau, share)
    top = ExpectedTop(expected, eta, tau, 1.0, *inputs.of_two)
    if inputs.method == "exact":
        inputs.refuse_comparison()
        return PlanModel(sample, 1.0, top.exact_limits), "exact", inputs.guarantee
    limits = None if inputs.comparing else top.limits
    normal = NormalModel(sample, float(inputs.n_rankers), limits, variance=top.variance)
    return normal, "influence", f"normal scores, expecting {expected:g}"


def _distance_model(measure: Measure, inputs: PlanInputs) -> tuple[PlanModel, str, str]:
    check_choice("method", inputs.method, ("auto", "dkw"), hint=f" for {measure.name}")
    inputs.refuse_comparison()
    sample = _items(measure.name, inputs)
    expected = 0.5 if inputs.expected is None else inputs.expected
    limits = partial(_distance_limits, sample, expected)
    return PlanModel(sample, 1.0, limits), "dkw", inputs.guarantee


def _distance_limits(
    sample: Composition, expected: float, n: int, level: float, factor: float
) -> Limits:
    reach = largest_deviation(*sample.sizes(n), level, grouped=False)
    return max(expected - reach, 0.0), min(expected + reach, 1.0)


def _expected_query_model(measure: Measure, inputs: PlanInputs) -> tuple[PlanModel, str, str]:
    hint = f" for {measure.name}, which is a mean over queries"
    check_choice("method", inputs.method, QUERY_METHODS, hint=hint)
    inputs.refuse("positive_fraction", f"for {measure.name}, a mean over queries: leave it out")
    sample = Composition("queries", None)
    low, high = measure.counted_range
    length = high - low
    method = inputs.method
    if method in QUERY_GUARANTEED:
        return _guaranteed_mean(measure, sample, inputs), method, inputs.guarantee
    most = length * inputs.n_rankers
    if inputs.sd is not None:
        inputs.refuse(
            "correlation", "with sd, the standard deviation of differences: leave it out"
        )
        spread = inputs.sd**2
        variances = [[spread]] * (2 if inputs.comparing and not inputs.paired else 1)
        of_differences = inputs.comparing and inputs.paired
        largest = length * (1.0 if of_differences else 0.5)
        if inputs.sd > largest:
            raise ValueError(
                f"sd={inputs.sd!r} is above {largest:g}, the largest possible value in the range"
                f" of {measure.name}: pass the standard deviation of single queries."
            )
        quantity = "differences" if of_differences else "values"
        model = NormalModel(sample, most, variance=Spreads(sample, variances).variance)
        return model, "t", f"{quantity} of sd {inputs.sd:g}"
    is_share = measure.values_are_ends
    if not is_share and method != "normal-worst":
        raise ValueError(
            f"The variance of {measure.name} over queries is unknown: pass a pilot with qid"
            " (pilot=(y_true, y_score), qid=qid), sd=, the standard deviation of its values or,"
            " for two rankers on the same queries, of the differences, or method='normal-worst'"
            " or 'hoeffding' for the worst case."
        )
    if not isfinite(length):
        raise ValueError(
            f"{measure.name} has no largest value, so it has no worst case: pass sd=."
        )
    expected = inputs.require("expected", f"the variance of {measure.name} depends on it; pass it")
    inputs.require_correlation("their values on a query")
    share = ExpectedShare((expected - low) / length, length, *inputs.of_two)
    rests_on = f"a share of queries, expecting {expected:g}"
    if is_share:
        method = "t" if inputs.comparing else "wilson"
    else:
        rests_on = f"the largest variance of values with the mean {expected:g}"
    limits = None if inputs.comparing else share.limits
    return NormalModel(sample, most, limits, variance=share.variance), method, rests_on


def _guaranteed_mean(measure: Measure, sample: Composition, inputs: PlanInputs) -> GuaranteedModel:
    low, high = measure.counted_range
    length = high - low
    if not isfinite(length):
        raise ValueError(
            f"{measure.name} has no known range, which method={inputs.method!r} needs: pass"
            " method='t' with sd= or a pilot."
        )
    inputs.refuse("correlation", f"by method={inputs.method!r}: leave it out")
    model = GuaranteedModel(sample, length * inputs.n_rankers, method=inputs.method)
    if inputs.method == "hoeffding":
        inputs.refuse("sd", "by method='hoeffding': leave it out, or pass method='bernstein'")
        inputs.refuse("expected", "by method='hoeffding': leave it out, or pass method='kl'")
        if inputs.comparing:
            length *= 2.0 if inputs.paired else sqrt(2.0)
        return replace(model, length=length)
    if inputs.comparing and (inputs.method == "kl" or not inputs.paired):
        inputs.refuse_comparison()
    if inputs.method == "kl":
        inputs.refuse("sd", "by method='kl': leave it out, or pass method='bernstein'")
        why = "method='kl' depends on the mean; pass the expected value"
        return replace(model, expected=(inputs.require("expected", why) - low) / length)
    sd = inputs.require("sd", "method='bernstein' depends on it; pass it")
    return replace(model, variance=sd**2)


# With fewer items of a class, queries or groups than these, the pilot raises an error or warns.
FEWEST, FEW = 3, 10

# Number of parts of each class that are left out in turn.
N_BLOCKS = 40

# From this sample size on fewer parts suffice to estimate the precision of the variance.
MANY, FEW_BLOCKS = 5_000, 10

# Largest weights that change the fraction of positives of a pilot.
LARGEST_WEIGHT = 20

# Size at which variances are compared.
REFERENCE = 10**9


# Labels, scores of one ranker or two by name, and other columns.
Pilot: TypeAlias = tuple[Any, dict[str, Any], dict[str, Any]]


def read_pilot(pilot: Any, rows: dict[str, Any]) -> Pilot:
    """Check the form of a pilot."""
    if not isinstance(pilot, tuple | list) or len(pilot) != 2:
        raise TypeError(
            "pilot must be a pair, labels and scores: pass pilot=(y_true, y_score), or"
            " pilot=(y_true, {'a': scores_a, 'b': scores_b}) for two rankers."
        )
    y_true, scores = pilot
    named = isinstance(scores, Mapping) or hasattr(scores, "columns")
    scores = named_scores(scores, name="pilot[1]", least=1) if named else {"": scores}
    if len(scores) > 2:
        raise ValueError(
            f"pilot has the scores of {len(scores)} rankers: plan for one pair at a time, with"
            " level=1 - 0.05 / number of pairs for all pairs together."
        )
    columns = {f"scores of {name!r}" if name else "y_score": x for name, x in scores.items()}
    columns |= {"qid": rows["qid"], "groups": rows["groups"]}
    refuse_collections("a pilot is one sample in memory", y_true=y_true, **columns)
    return ravelled(y_true, "y_true"), scores, rows


def pilot_model(
    measure: Measure, pilot: Pilot, inputs: PlanInputs, rng: np.random.Generator
) -> tuple[NormalModel, str, str, float]:
    """Model of a pilot, its method and description, and the degrees of freedom of its variance."""
    y_true, scores, rows = pilot
    of_queries = rows["qid"] is not None or dimensions(y_true) == 2
    methods = ("auto", "t") if of_queries else ("auto", "influence")
    hint = " with a pilot; the others take expected or sd"
    check_choice("method", inputs.method, methods, hint=hint)
    for name in ("correlation", "sd"):
        inputs.refuse(name, "with a pilot, which provides it: leave it out")
    if inputs.comparing:
        inputs.refuse("expected", "for a difference with a pilot: leave it out")
        if inputs.paired and len(scores) < 2:
            raise ValueError(
                "pilot has the scores of one ranker, but a comparison on the same data needs both:"
                " pass pilot=(y_true, {'a': scores_a, 'b': scores_b}), or paired=False for"
                " different data."
            )
    read = _pilot_of_queries if of_queries else _pilot_of_items
    sample, positive, groups, n, parts_of, shares = read(measure, pilot, inputs)
    everything = np.ones(n, dtype=bool)
    classes = [everything] if positive is None else [positive, ~positive]
    names = (sample.unit,) if positive is None else ("positives", "negatives")
    sizes = [int(np.count_nonzero(rows)) for rows in classes]
    for size, name in zip(sizes, names, strict=True):
        _check_size(size, name)
    if groups is not None:
        _check_size(groups.n_groups, f"groups{' of queries' if of_queries else ''}")

    def model_of(rows: BoolArray | slice) -> NormalModel:
        influences, of_rows = parts_of(rows), None if groups is None else groups.only(rows)
        if isinstance(influences, ScoredLists):
            top = _pilot_top(influences, measure.laws["top"], of_rows, inputs.expected)
            return NormalModel(sample, 1.0, top.limits, variance=top.variance)
        length = influences[0].length
        samples = [influences]
        if inputs.comparing and not inputs.paired:
            samples = [[influences[0]], [influences[-1]]]
        variance = _class_spreads(samples, sample, of_rows).variance
        if inputs.comparing or not isfinite(length) or (of_queries and not shares):
            return NormalModel(sample, inputs.n_rankers * length, variance=variance)
        options = (inputs.expected, shares or "placements" in measure.laws)
        spreads = _scaled_spreads(influences[0], sample, of_rows, *options)
        return NormalModel(sample, length, spreads.limits, variance=variance)

    def variance_of(rows: BoolArray) -> float:
        if min(np.count_nonzero(rows[of_class]) for of_class in classes) < 2:
            return 0.0
        return model_of(rows).variance(REFERENCE, 0.0)[0]

    model = model_of(slice(None))
    _check_spread(model)
    if groups is None:
        strata = [np.full(n, -1) for _ in classes]
        for blocks, of_class, size in zip(strata, classes, sizes, strict=True):
            blocks[of_class] = _blocks(size, rng)
    else:
        strata = [_blocks(groups.n_groups, rng)[groups.codes]]
    degrees = _degrees(variance_of, strata)
    counts = " and ".join(f"{size:,} {name}" for size, name in zip(sizes, names, strict=True))
    text = f"pilot of {counts}" + ("" if groups is None else f" in {groups.n_groups:,} groups")
    usual = "t" if of_queries else "influence"
    by_score = model.limits and (of_queries or "placements" in measure.laws)
    return model, "wilson" if by_score else usual, text, degrees


# Composition, positives, groups and number of units; of some of them the influences, or the list
# whose top counts; and whether their values are 0 and 1.
PilotSample: TypeAlias = tuple[
    Composition, BoolArray | None, Groups | None, int, Callable[[Any], Any], bool
]


def _pilot_of_queries(measure: Measure, pilot: Pilot, inputs: PlanInputs) -> PilotSample:
    y_true, scores, rows = pilot
    if inputs.positive_fraction is not None:
        raise ValueError(
            f"positive_fraction={inputs.positive_fraction!r} is for items of one list, but the"
            " sample consists of queries: leave it out."
        )
    samples = list(query_values_of(measure, y_true, scores, **rows).values())[: inputs.n_rankers]
    values, groups = np.stack([sample.values for sample in samples]), samples[0].groups
    sample = Composition(
        "queries", None, None if groups is None else values.shape[1] / groups.n_groups
    )

    def influences_of(rows: Any) -> list[ClassInfluence]:
        return mean_influences(values[:, rows], measure.counted_range)

    return sample, None, groups, values.shape[1], influences_of, are_shares(samples[0])


def _pilot_of_items(measure: Measure, pilot: Pilot, inputs: PlanInputs) -> PilotSample:
    y_true, scores, columns = pilot
    is_top = "top" in measure.laws and not inputs.comparing
    if measure.laws and measure.depends_on_length:
        raise ValueError(
            f"{measure.name} of one list depends on the number of its items, so that a pilot does"
            " not tell its variance in a longer list: pass qid for the mean over queries, or a"
            " measure of a share of the list, such as 'precision@top0.05'."
        )
    if not is_top:
        refuse_unknown(measure)
    of_rows = {"groups": columns["groups"], "pos_label": columns["pos_label"]}
    evidences = check_lists(measure, y_true, list(scores.values())[: inputs.n_rankers], **of_rows)
    data, groups = evidences[0].data, evidences[0].groups
    n, weights, share, positive = len(data.labels), None, None, None
    if measure.kind == "binary":
        refuse_one_class(data)
        positive, share = data.positive, float(data.positives[0]) / n
    if inputs.positive_fraction is not None:
        if positive is None:
            raise ValueError(
                f"positive_fraction={inputs.positive_fraction!r} is for measures of two classes,"
                f" but {measure.name} takes grades: leave it out."
            )
        share = inputs.positive_fraction
        weights = _class_weights(measure, data, share)
    sample = Composition("items", share, None if groups is None else n / groups.n_groups)

    def parts_of(rows: Any) -> Any:
        lists = [_list(evidence.data, rows, weights) for evidence in evidences]
        if is_top:
            return lists[0]
        return [influence_of(measure, data, conditional=True).linear for data in lists]

    return sample, positive, groups, n, parts_of, False


def variance_factor(degrees: float, probability: float) -> float:
    """Limit of a variance in units of its estimate, by the chi-square distribution."""
    if degrees == inf:
        return 1.0
    # What the chi-square variable exceeds with the probability.
    return float(degrees / max(chdtri(degrees, probability), 1e-300))


def _list(data: ScoredLists, rows: Any, weights: tuple[int, int] | None) -> ScoredLists:
    """Some rows of a list, each of which counts by its class."""
    labels, score = data.labels[rows], data.score[rows]
    weight = None if weights is None else np.where(labels, *map(float, weights))
    return replace(
        data, labels=labels, score=score, weight=weight, offsets=np.array([0, len(labels)])
    )


def _class_weights(measure: Measure, data: ScoredLists, share: float) -> tuple[int, int] | None:
    """Weights of each positive and each negative for a fraction of positives.

    None if the measure does not depend on the fraction.
    """
    is_top = "top" in measure.laws
    if not is_top and influence_of(measure, data, conditional=True).label_slope == 0.0:
        return None
    ratio = share / (1.0 - share) * float(data.sizes[0] / data.positives[0] - 1.0)
    simple = Fraction(max(ratio, 1.0 / ratio)).limit_denominator(LARGEST_WEIGHT)
    larger, smaller = simple.numerator, simple.denominator
    weights = (larger, smaller) if ratio >= 1.0 else (smaller, larger)
    if weights == (1, 1):
        return None
    if not is_top:
        weighted = _list(data, slice(None), weights)
        if (
            measure.weights == "none"
            or influence_of(measure, weighted, conditional=True).counts is None
        ):
            raise ValueError(
                f"{measure.name} depends on the fraction of positives, which is"
                f" {data.positives[0] / data.sizes[0]:.4g} in the pilot, and takes no weights to"
                f" change it to positive_fraction={share!r}: leave positive_fraction out, or"
                " sample the pilot with that fraction."
            )
    return weights


def _scaled_spreads(
    influence: ClassInfluence,
    sample: Composition,
    groups: Groups | None,
    expected: float | None,
    by_score: bool,
) -> Spreads:
    """Spreads of the measure of one ranker, on the scale from 0 to 1, with its ends or without."""
    origin, length = influence.range[0], influence.length
    scaled = influence.scaled(origin, length)
    estimate = scaled.estimate if expected is None else (expected - origin) / length
    spreads = replace(_class_spreads([[scaled]], sample, groups), estimate=estimate)
    if not by_score:
        return replace(spreads, classes=[*zip(scaled.means, scaled.class_ends(), strict=True)])
    if groups is None or sample.unit == "queries":
        return spreads
    sizes = [groups.sizes(rows) for rows in influence.classes]
    rarer = min(map(np.count_nonzero, sizes)) / len(influence.values)
    return replace(spreads, groups_per_item=rarer)


def _class_spreads(
    samples: Sequence[Sequence[ClassInfluence]], sample: Composition, groups: Groups | None
) -> Spreads:
    variances, grouped, independent, degrees = [], 0.0, 0.0, 0.0
    for influences in samples:
        contrast = np.array([1.0, -1.0])[: len(influences)]
        values = contrast @ np.stack([influence.values for influence in influences])
        of_classes = [values[rows] for rows in influences[0].classes]
        variances.append([float(x.var(ddof=1)) for x in of_classes])
        if groups is not None:
            # Each row counts once: the dependence within groups does not depend on the weights.
            unweighted = [replace(influence, counts=None) for influence in influences]
            joint = joint_influence(unweighted, groups=groups)
            grouped += float(contrast @ joint.covariance @ contrast)
            independent += sum(
                variance / len(x) for variance, x in zip(variances[-1], of_classes, strict=True)
            )
            degrees += joint.spread.of(contrast)
    if groups is None:
        return Spreads(sample, variances)
    effect = grouped / independent if independent > 0.0 else 1.0
    return Spreads(sample, variances, effect, degrees / len(samples[0][0].values))


def _pilot_top(
    data: ScoredLists, tau: float, groups: Groups | None, expected: float | None
) -> ExpectedTop:
    blocks = counted_blocks(data.score, data.positive, data.weight)
    n = int(blocks.n)
    top = min(max(int(tau * n + 0.5), 1), n - 1)
    eta = share_at(blocks, top, n)
    inside = np.clip((blocks.below + blocks.size - (n - top)) / blocks.size, 0.0, 1.0)
    precision = float(inside @ blocks.n_pos) / top
    effect = 1.0
    if groups is not None:
        independent = top_limits(precision, eta, top, tau, 0.95)[1]
        effect = grouped_top(data.positive, blocks, groups, top, eta)[1] / independent
    shrunken = (top * precision + 0.5) / (top + 1.0) if expected is None else expected
    return ExpectedTop(shrunken, eta, tau, effect)


def _check_size(n: int, what: str) -> None:
    if n < FEWEST:
        raise ValueError(
            f"The pilot has only {n} {what}, too few to estimate a variance: pass a pilot of at"
            f" least {FEWEST}, preferably {FEW} or more."
        )
    if n < FEW:
        warn(
            f"The pilot has only {n} {what}, so its variance is uncertain: see pilot_range of the"
            " plan, or pass assurance=0.9 to plan with an upper limit of the variance.",
            UserWarning,
        )


def _check_spread(model: NormalModel) -> None:
    length = model.most if isfinite(model.most) else 0.0
    if not model.variance(REFERENCE, 0.0)[0] * REFERENCE > ROUNDING_VARIANCE * length**2:
        raise ValueError(
            "The pilot has a variance of 0: all items or queries have the same influence on the"
            " quantity, as for two rankers with the same order; pass another pilot."
        )


def _blocks(n: int, rng: np.random.Generator) -> IntArray:
    """Part of each of n things, at random and of equal sizes; fewer parts where n is large."""
    return rng.permutation(n) % min(n, N_BLOCKS if n <= MANY else FEW_BLOCKS)


def _degrees(variance_of: Callable[[BoolArray], float], strata: Sequence[IntArray]) -> float:
    """Degrees of freedom of an estimated variance, by the jackknife.

    That of its logarithm, parts of each stratum being left out in turn: a mean of d squares of
    normal variables has a logarithm of the variance 2 / d.
    """
    total = 0.0
    for blocks in strata:
        n_blocks = int(blocks.max()) + 1
        variances = [variance_of(blocks != block) for block in range(n_blocks)]
        logs = np.log([variance for variance in variances if variance > 0.0])
        if len(logs) < n_blocks:
            return 1.0
        total += (n_blocks - 1.0) / n_blocks * float(np.sum((logs - logs.mean()) ** 2))
    return max(2.0 / total, 1.0) if total > 0.0 else inf
