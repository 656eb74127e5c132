"""The question of a plan, and the model of a measure from its expected value, without a pilot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, sqrt
from typing import Any

from .._arguments import (
    MOST_ITEMS,
    check_choice,
    check_flag,
    check_number,
    check_share,
    check_whole,
    is_number,
)
from ..metrics import Measure
from ..metrics._shared import (
    AUCMeasure,
    PrecisionAtKMeasure,
    PrecisionAtTopMeasure,
    SuccessMeasure,
)
from ._plan_models import (
    PLAN_ALTERNATIVES,
    AUCVariance,
    ExactTopModel,
    GuaranteedAUC,
    GuaranteedMean,
    MeanVariance,
    NormalModel,
    PlanModel,
    PlannedTest,
    Sample,
    ShareVariance,
    TopVariance,
    WorstAUCVariance,
    root_between,
    smallest_size,
)
from ._score_distributions import threshold_share

USUAL_POWER = 0.8


WITH_MARGIN = ("non-inferior", "equivalent")


def check_part(name: str, value: Any, what: str = "") -> float:
    """Check a number in (0, 1), with a hint for percentages."""
    if is_number(value) and 1.0 < value <= 100.0:
        raise ValueError(
            f"{name}={value!r} must be a number in (0, 1): for {value:g} per cent pass"
            f" {name}={value / 100:g}."
        )
    return check_share(name, value, what=what)


def check_value(name: str, value: Any, measure: Measure) -> float:
    """Check a value of a measure, inside its range."""
    low, high = measure.counted_range
    if is_number(value) and 1.0 < value <= 100.0 and (low, high) == (0.0, 1.0):
        return check_part(name, value)
    number = check_number(name, value, low, high, closed="neither", what=f"of {measure.name}")
    if isinstance(measure, AUCMeasure) and number < 0.5:
        raise ValueError(
            f"{name}={value!r} is below 0.5, the value of a random order: negate the scores and"
            f" pass {1.0 - number:g}."
        )
    return number


@dataclass(frozen=True)
class Quantities:
    """The quantities of an interval or of a test, one of which is unknown."""

    n: int | None
    level: float | None
    width: float | None = None
    test: PlannedTest | None = None  # None is an interval
    difference: float | None = None  # True difference of the test
    power: float | None = None

    @classmethod
    def read(
        cls,
        measure: Measure,
        n: Any,
        level: Any,
        width: Any,
        of_test: dict[str, Any],
        n_rankers: int,
    ) -> Quantities:
        """Check the quantities of a test or, where none is passed, of an interval."""
        passed = [name for name, value in of_test.items() if value is not None]
        if not passed:
            low, high = measure.counted_range
            return cls.of_interval(n, level, width, (high - low) * n_rankers)
        if width is not None:
            raise ValueError(
                f"width={width!r} is for an interval, but {', '.join(passed)} for a test: pass"
                " one or the other."
            )
        return cls.of_test(measure, n, level, **of_test)

    @classmethod
    def of_interval(cls, n: Any, level: Any, width: Any, most: float) -> Quantities:
        """Check the quantities of an interval."""
        if sum(value is None for value in (n, level, width)) != 1:
            raise ValueError(
                f"n={n!r}, width={width!r} and level={level!r}: pass two of the three and leave"
                " out the one to compute, or pass level=None to compute the level; for a test"
                " pass difference."
            )
        return cls(
            n=None if n is None else check_whole("n", n, 2, MOST_ITEMS),
            level=None if level is None else check_part("level", level),
            width=None if width is None else _check_length("width", width, most, "the interval"),
        )

    @classmethod
    def of_test(
        cls,
        measure: Measure,
        n: Any,
        level: Any,
        *,
        difference: Any,
        margin: Any,
        alternative: Any,
        power: Any,
    ) -> Quantities:
        """Check the quantities of a test."""
        if level is None:
            raise ValueError(
                "level=None is computed for an interval only: pass the level of the test."
            )
        level = check_part("level", level)
        n = None if n is None else check_whole("n", n, 2, MOST_ITEMS)
        low, high = measure.counted_range
        if alternative is None:
            alternative = "two-sided" if margin is None else "non-inferior"
        check_choice("alternative", alternative, PLAN_ALTERNATIVES)
        with_margin = alternative in WITH_MARGIN
        if difference is not None:
            difference = check_number("difference", difference, what="of the two rankers")
            if difference == 0.0 and not with_margin:
                raise ValueError(
                    "difference=0 cannot be detected by a test: pass the smallest difference that"
                    " matters, or margin= to test equivalence."
                )
            if difference != 0.0:
                _check_length("difference", abs(difference), high - low, "the two rankers")
        elif with_margin:
            difference = 0.0
        if margin is not None:
            if not with_margin:
                raise ValueError(
                    f"margin={margin!r} is not used by alternative={alternative!r}: leave it out,"
                    " or pass alternative='non-inferior' or 'equivalent'."
                )
            margin = _check_length("margin", margin, high - low, "what does not matter")
        test = PlannedTest(alternative, margin, measure.greater_is_better)
        name, size = ("margin", margin) if with_margin else ("difference", difference)
        if n is None or (size is None and power is None):
            power = USUAL_POWER if power is None else power
        if sum(value is None for value in (n, size, power)) != 1:
            raise ValueError(
                f"n={n!r}, {name}={size!r} and power={power!r}: pass two of the three and leave"
                " out the one to compute."
            )
        if power is not None and (power := check_part("power", power)) <= 1.0 - level:
            raise ValueError(
                f"power={power!r} is not above 1 - level, the rejection rate of a true hypothesis:"
                " pass a greater power."
            )
        if size is not None and min(test.distances(float(difference or 0.0))) <= 0.0:
            suffix = "" if margin is None else f" with margin={margin!r}"
            raise ValueError(
                f"difference={difference!r} is not in the direction of"
                f" alternative={alternative!r}{suffix}: change its sign, or the alternative."
            )
        return cls(n, level, test=test, difference=difference, power=power)

    @property
    def unknown(self) -> str:
        """Name of the unknown quantity."""
        if self.n is None:
            return "n"
        if self.test is None:
            return "width" if self.width is None else "level"
        if self.power is None:
            return "power"
        return "margin" if self.test.alternative in WITH_MARGIN else "difference"

    def solve(self, model: PlanModel, largest: float) -> float:
        """Compute the unknown quantity."""
        unknown = self.unknown
        if unknown == "n":
            if self.test is None:
                width = float(self.width or 0.0)
                wish = f"width={self.width!r} at level={self.level!r}"
                return smallest_size(lambda n: self.value(model, n) <= width, wish)
            power = float(self.power or 0.0)
            wish = f"power={self.power!r} for difference={self.difference!r}"
            return smallest_size(lambda n: self.value(model, n) >= power, wish)
        n = int(self.n or 0)
        if unknown in ("width", "power"):
            return self.value(model, n)
        if unknown == "level":
            return model.level(n, float(self.width or 0.0))
        power = float(self.power or 0.0)

        def is_detected(share: float) -> bool:
            return self.with_size(share * largest).value(model, n) >= power

        # Largest fraction of the largest possible difference or margin that the search tries.
        nearly = 1.0 - 1e-9
        if not is_detected(nearly):
            raise ValueError(
                f"With n={n} the power is below {power:g} for every possible {unknown} of the"
                " measure: pass a greater n, or a smaller power."
            )
        return largest * root_between(is_detected, 0.0, nearly)

    def with_solution(self, solution: float) -> Quantities:
        """Set the unknown quantity."""
        if self.unknown in ("difference", "margin"):
            return self.with_size(solution)
        value = int(solution) if self.unknown == "n" else solution
        return replace(self, **{self.unknown: value})  # type: ignore[arg-type]

    def with_size(self, size: float) -> Quantities:
        """Set the difference of the test, or its margin."""
        if self.test is not None and self.test.alternative in WITH_MARGIN:
            return replace(self, test=replace(self.test, margin=size))
        return replace(self, difference=size)

    def value(self, model: PlanModel, n: int) -> float:
        """Width of the interval, or power of the test."""
        level = float(self.level or 0.0)
        if self.test is None:
            return model.width(n, level)
        return model.power(n, float(self.difference or 0.0), self.test, level)

    def values(self, models: Sequence[PlanModel], n: int) -> tuple[float, ...]:
        """Width or power of several models."""
        return tuple(self.value(model, n) for model in models)


def _check_length(name: str, value: Any, most: float, what: str) -> float:
    """Check a positive length that is shorter than the range."""
    value = check_number(name, value, 0.0, closed="neither", what=f"of {what}")
    if isfinite(most) and value >= most:
        percent = f"; for {value:g} per cent pass {value / 100:g}" if 1.0 < value <= 100.0 else ""
        raise ValueError(
            f"{name}={value!r} must be less than {most:g}, the length of the range{percent}."
        )
    return value


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

    def check(self, measure: Measure) -> PlanInputs:
        """Check the numbers, which become those of Python."""
        values: dict[str, Any] = {"paired": check_flag("paired", self.paired)}
        if self.expected is not None:
            values["expected"] = check_value("expected", self.expected, measure)
        if self.positive_fraction is not None:
            values["positive_fraction"] = check_part(
                "positive_fraction", self.positive_fraction, "the share of positives"
            )
        if self.correlation is not None:
            values["correlation"] = check_number(
                "correlation", self.correlation, -1.0, 1.0, closed="neither"
            )
        if self.sd is not None:
            values["sd"] = check_number("sd", self.sd, 0.0, closed="neither")
        return replace(self, **values)

    @property
    def n_rankers(self) -> int:
        """One, or two."""
        return 2 if self.comparing else 1

    @property
    def joint_correlation(self) -> float | None:
        """Correlation on the same data; None of one ranker and on different data."""
        return self.correlation if self.comparing and self.paired else None

    def require(self, name: str, why: str) -> Any:
        """Return a number, or raise an error if it is None."""
        if (value := getattr(self, name)) is None:
            raise ValueError(f"{name} is missing: {why}.")
        return value

    def refuse(self, name: str, why: str) -> None:
        """Raise an error if a number is passed that is not used."""
        if (value := getattr(self, name)) is not None:
            raise ValueError(f"{name}={value!r} is not used {why}.")

    def refuse_comparison(self) -> None:
        """Raise an error for a method that plans for one ranker only."""
        if self.comparing:
            raise ValueError(
                f"method={self.method!r} does not support a difference of two rankers: pass"
                " method='auto' or 'hoeffding'."
            )

    def require_correlation(self, of: str) -> None:
        """Check that a correlation is passed if both rankers score the same data."""
        if self.comparing and self.paired:
            self.require(
                "correlation",
                f"two rankers on the same data need the correlation of {of} (typically at least .9"
                " for versions of one model, .5 for different models); pass correlation=, a pilot"
                " of both, or paired=False for different data",
            )

    @property
    def guarantee(self) -> str:
        """Describe a bound for every distribution."""
        suffix = "" if self.expected is None else f", expecting {self.expected:g}"
        return f"holds for every distribution{suffix}"


def model_of(measure: Measure, inputs: PlanInputs) -> tuple[PlanModel, str, str]:
    """Model of a measure, its method and what it rests on."""
    if isinstance(measure, AUCMeasure):
        return _auc_model(inputs)
    if isinstance(measure, PrecisionAtTopMeasure):
        return _top_model(measure, inputs)
    if measure.per_query:
        return _query_model(measure, inputs)
    raise ValueError(
        f"The variance of {measure.name} has no formula: pass pilot=(y_true, y_score), or"
        " pilot=(y_true, {'a': scores_a, 'b': scores_b}) for the difference of two rankers."
    )


def _items(measure: str, inputs: PlanInputs) -> Sample:
    inputs.refuse("sd", "in a plan for items of one list: pass expected or a pilot")
    share = inputs.require(
        "positive_fraction",
        f"the variance of the {measure} depends on it; pass the fraction of positive items, such"
        " as positive_fraction=0.1",
    )
    return Sample("items", share)


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
        bound = GuaranteedAUC(sample, method, expected, scale, float(inputs.n_rankers))
        return bound, method, inputs.guarantee
    if method == "normal-worst":
        inputs.refuse_comparison()
        worst = "" if expected is None else f" at {expected:g}"
        variance = WorstAUCVariance(sample, expected)
        return NormalModel(sample, 1.0, variance), method, f"the largest variance{worst}"
    if method == "wilson":
        inputs.refuse_comparison()
    inputs.require_correlation("their scores within a class")
    pairs = "hanley-mcneil" if method == "hanley-mcneil" else "delong"
    of_auc = AUCVariance(
        sample, float(expected or 0.0), pairs, inputs.joint_correlation, inputs.n_rankers
    )
    known = method in ("delong", "hanley-mcneil")
    scores = "exponential" if pairs == "hanley-mcneil" else "normal"
    rests_on = f"{scores} scores, expecting {expected:g}"
    if inputs.joint_correlation is not None:
        rests_on += f", correlation {inputs.joint_correlation:g}"
    by_limits = not inputs.comparing and not known
    if by_limits or method == "auto":
        method = "wilson" if by_limits else "influence"
    most = float(inputs.n_rankers)
    model = NormalModel(sample, most, of_auc, known=known, by_limits=by_limits)
    return model, method, rests_on


def _top_model(measure: PrecisionAtTopMeasure, inputs: PlanInputs) -> tuple[PlanModel, str, str]:
    check_choice("method", inputs.method, TOP_METHODS, hint=f" for {measure.name}")
    sample = _items("precision at the top", inputs)
    share, tau = float(inputs.positive_fraction or 0.0), measure.tau
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
    variance = TopVariance(expected, eta, tau, 1.0, inputs.joint_correlation, inputs.n_rankers)
    rests_on = f"normal scores, expecting {expected:g}"
    if inputs.method == "exact":
        inputs.refuse_comparison()
        return ExactTopModel(sample, variance), "exact", inputs.guarantee
    by_limits = not inputs.comparing
    model = NormalModel(sample, float(inputs.n_rankers), variance, by_limits=by_limits)
    return model, "influence", rests_on


def _query_model(measure: Measure, inputs: PlanInputs) -> tuple[PlanModel, str, str]:
    hint = f" for {measure.name}, which is a mean over queries"
    check_choice("method", inputs.method, QUERY_METHODS, hint=hint)
    inputs.refuse("positive_fraction", f"for {measure.name}, a mean over queries: leave it out")
    sample = Sample("queries", None)
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
        variances = (spread, spread) if inputs.comparing and not inputs.paired else (spread,)
        of_differences = inputs.comparing and inputs.paired
        largest = length * (1.0 if of_differences else 0.5)
        if inputs.sd > largest:
            raise ValueError(
                f"sd={inputs.sd!r} is above {largest:g}, the largest possible value in the range"
                f" of {measure.name}: pass the standard deviation of single queries."
            )
        quantity = "differences" if of_differences else "values"
        model = NormalModel(sample, most, MeanVariance(variances))
        return model, "t", f"{quantity} of sd {inputs.sd:g}"
    # Whether the measure is 0 or 1 on each query.
    is_share = isinstance(measure, SuccessMeasure) or (
        isinstance(measure, PrecisionAtKMeasure) and measure.k == 1
    )
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
    variance_of = ShareVariance(
        (expected - low) / length, length, inputs.joint_correlation, inputs.n_rankers
    )
    rests_on = f"a share of queries, expecting {expected:g}"
    if not is_share:
        rests_on = f"the largest variance of values with the mean {expected:g}"
    if is_share:
        method = "t" if inputs.comparing else "wilson"
    model = NormalModel(sample, most, variance_of, by_limits=not inputs.comparing)
    return model, method, rests_on


def _guaranteed_mean(measure: Measure, sample: Sample, inputs: PlanInputs) -> GuaranteedMean:
    """Bounds of a mean over queries that hold for every distribution."""
    low, high = measure.counted_range
    length = high - low
    if not isfinite(length):
        raise ValueError(
            f"{measure.name} has no known range, which method={inputs.method!r} needs: pass"
            " method='t' with sd= or a pilot."
        )
    inputs.refuse("correlation", f"by method={inputs.method!r}: leave it out")
    most = length * inputs.n_rankers
    if inputs.method == "hoeffding":
        inputs.refuse("sd", "by method='hoeffding': leave it out, or pass method='bernstein'")
        inputs.refuse("expected", "by method='hoeffding': leave it out, or pass method='kl'")
        spread = length * (2.0 if inputs.paired else sqrt(2.0)) if inputs.comparing else length
        return GuaranteedMean(sample, "hoeffding", most, spread)
    if inputs.comparing and (inputs.method == "kl" or not inputs.paired):
        inputs.refuse_comparison()
    if inputs.method == "kl":
        inputs.refuse("sd", "by method='kl': leave it out, or pass method='bernstein'")
        inputs.require("expected", "method='kl' depends on the mean; pass the expected value")
    else:
        inputs.require("sd", "method='bernstein' depends on it; pass it")
    expected = None if inputs.expected is None else (inputs.expected - low) / length
    variance = None if inputs.sd is None else inputs.sd**2
    return GuaranteedMean(sample, inputs.method, most, most, expected, variance)
