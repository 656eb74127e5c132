"""The question of a plan, and the model of a measure from its expected value, without a pilot."""

from __future__ import annotations

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
    AUCModel,
    AUCVariance,
    ExactTopModel,
    GuaranteedAUC,
    GuaranteedMean,
    LimitsModel,
    MeanVariance,
    NormalModel,
    PlanModel,
    Question,
    Sample,
    ShareVariance,
    TopModel,
    TopVariance,
    WorstAUCVariance,
    root_between,
    smallest_size,
)
from ._score_distributions import threshold_share

USUAL_POWER = 0.8

# Largest fraction of the largest possible difference or margin that the search tries.
NEARLY = 1.0 - 1e-9

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
    found = check_number(name, value, low, high, closed="neither", what=f"of {measure.name}")
    if isinstance(measure, AUCMeasure) and found < 0.5:
        raise ValueError(
            f"{name}={value!r} is below 0.5, the value of a random order: negate the scores and"
            f" pass {1.0 - found:g}."
        )
    return found


@dataclass(frozen=True)
class Numbers:
    """The numbers of an interval or of a test as they were given."""

    n: Any
    level: Any
    width: Any
    difference: Any
    margin: Any
    alternative: Any
    power: Any

    @property
    def of_test(self) -> tuple[str, ...]:
        """Names of the given arguments that only a test has."""
        names = ("difference", "margin", "alternative", "power")
        return tuple(name for name in names if getattr(self, name) is not None)


@dataclass(frozen=True)
class Asked:
    """The numbers of an interval or of a test, one of which is unknown."""

    n: int | None  # Size of the sample
    level: float | None
    width: float | None = None
    question: Question | None = None  # The test; None is an interval
    difference: float | None = None  # True difference of the test
    power: float | None = None

    @classmethod
    def read(cls, measure: Measure, numbers: Numbers, n_rankers: int) -> Asked:
        """Read what is asked."""
        low, high = measure.counted_range
        if not numbers.of_test:
            return cls.interval(numbers, (high - low) * n_rankers)
        if numbers.width is not None:
            raise ValueError(
                f"width={numbers.width!r} is for an interval, but {', '.join(numbers.of_test)} for"
                " a test: pass one or the other."
            )
        return cls.test(measure, numbers)

    @classmethod
    def interval(cls, numbers: Numbers, most: float) -> Asked:
        """Check what is asked of an interval."""
        n, level, width = numbers.n, numbers.level, numbers.width
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
    def test(cls, measure: Measure, numbers: Numbers) -> Asked:
        """Check what is asked of a test."""
        low, high = measure.counted_range
        n, level, power = numbers.n, numbers.level, numbers.power
        if level is None:
            raise ValueError(
                "level=None is computed for an interval only: pass the level of the test."
            )
        level = check_part("level", level)
        n = None if n is None else check_whole("n", n, 2, MOST_ITEMS)
        question, difference = _question(measure, numbers, high - low)
        with_margin = question.alternative in WITH_MARGIN
        size = question.margin if with_margin else difference
        if n is None or (size is None and power is None):
            power = USUAL_POWER if power is None else power
        name = "margin" if with_margin else "difference"
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
        if size is not None and min(question.distances(float(difference or 0.0))) <= 0.0:
            margin = "" if question.margin is None else f" with margin={question.margin!r}"
            raise ValueError(
                f"difference={difference!r} is not in the direction of"
                f" alternative={question.alternative!r}{margin}: change its sign, or the"
                " alternative."
            )
        return cls(n, level, question=question, difference=difference, power=power)

    @property
    def unknown(self) -> str:
        """Name of the number that is to be found."""
        if self.n is None:
            return "n"
        if self.question is None:
            return "width" if self.width is None else "level"
        if self.power is None:
            return "power"
        return "margin" if self.question.alternative in WITH_MARGIN else "difference"

    def found(self, model: PlanModel, largest: float) -> float:
        """Find the number. The number; a whole one for n."""
        unknown = self.unknown
        if unknown == "n":
            return smallest_size(lambda n: self._suffices(model, n), self._wish())
        n = int(self.n or 0)
        if unknown in ("width", "power"):
            return self.value(model, n)
        if unknown == "level":
            return model.level(n, float(self.width or 0.0))
        wanted = float(self.power or 0.0)

        def seen(share: float) -> bool:
            return self.with_size(share * largest).value(model, n) >= wanted

        if not seen(NEARLY):
            raise ValueError(
                f"With n={n} the power is below {wanted:g} for every possible {unknown} of the"
                " measure: pass a greater n, or a smaller power."
            )
        return largest * root_between(seen, 0.0, NEARLY)

    def answered(self, found: float) -> Asked:
        """Set the number that was to be found. The question with its answer."""
        match self.unknown:
            case "n":
                return replace(self, n=int(found))
            case "level":
                return replace(self, level=found)
            case "width":
                return replace(self, width=found)
            case "power":
                return replace(self, power=found)
        return self.with_size(found)

    def with_size(self, size: float) -> Asked:
        """Set the difference of the test, or its margin. The question with it."""
        if self.question is not None and self.question.alternative in WITH_MARGIN:
            return replace(self, question=replace(self.question, margin=size))
        return replace(self, difference=size)

    def value(self, model: PlanModel, n: int) -> float:
        """Find the width of the interval, or the power of the test. The one or the other."""
        level = float(self.level or 0.0)
        if self.question is None:
            return model.width(n, level)
        return model.power(n, float(self.difference or 0.0), self.question, level)

    def _suffices(self, model: PlanModel, n: int) -> bool:
        value = self.value(model, n)
        if self.question is None:
            return value <= float(self.width or 0.0)
        return value >= float(self.power or 0.0)

    def _wish(self) -> str:
        if self.question is None:
            return f"width={self.width!r} at level={self.level!r}"
        return f"power={self.power!r} for difference={self.difference!r}"


def _question(measure: Measure, numbers: Numbers, most: float) -> tuple[Question, float | None]:
    """Return the test, and the difference that it should detect."""
    alternative, margin, difference = numbers.alternative, numbers.margin, numbers.difference
    if alternative is None:
        alternative = "two-sided" if margin is None else "non-inferior"
    check_choice("alternative", alternative, PLAN_ALTERNATIVES)
    if difference is not None:
        difference = _check_difference(difference, most, alternative)
    elif alternative in WITH_MARGIN:
        difference = 0.0
    if margin is not None:
        if alternative not in WITH_MARGIN:
            raise ValueError(
                f"margin={margin!r} is not used by alternative={alternative!r}: leave it out, or"
                " pass alternative='non-inferior' or 'equivalent'."
            )
        margin = _check_length("margin", margin, most, "what does not matter")
    return Question(alternative, margin, measure.greater_is_better), difference


def _check_length(name: str, value: Any, most: float, what: str) -> float:
    """Check a positive length that is shorter than the range."""
    value = check_number(name, value, 0.0, closed="neither", what=f"of {what}")
    if isfinite(most) and value >= most:
        percent = f"; for {value:g} per cent pass {value / 100:g}" if 1.0 < value <= 100.0 else ""
        raise ValueError(
            f"{name}={value!r} must be less than {most:g}, the length of the range{percent}."
        )
    return value


def _check_difference(value: Any, most: float, alternative: str) -> float:
    value = check_number("difference", value, what="of the two rankers")
    if value == 0.0 and alternative not in WITH_MARGIN:
        raise ValueError(
            "difference=0 cannot be detected by a test: pass the smallest difference that"
            " matters, or margin= to test equivalence."
        )
    if value != 0.0:
        _check_length("difference", abs(value), most, "the two rankers")
    return value


AUC_GUARANTEED = ("mcdiarmid", "hoeffding", "kl", "chebyshev")
AUC_METHODS = ("auto", "wilson", "delong", "hanley-mcneil", "normal-worst", *AUC_GUARANTEED)
# Methods that do not use the expected AUC, and methods that need it.
WITHOUT_AUC = ("mcdiarmid", "hoeffding")
WITH_AUC = ("auto", "wilson", "delong", "hanley-mcneil", "kl")

QUERY_GUARANTEED = ("hoeffding", "kl", "bernstein")
QUERY_METHODS = ("auto", "t", "normal-worst", *QUERY_GUARANTEED)
TOP_METHODS = ("auto", "influence", "exact")

EVERY = "holds for every distribution"


@dataclass(frozen=True)
class Expectation:
    """Expected values of the rankers."""

    expected: float | None  # Value of the measure, of a comparison that of the second ranker
    positive_fraction: float | None  # Share of the items that are positive
    comparing: bool  # Whether two rankers are compared
    paired: bool  # Whether both see the same data
    correlation: float | None  # How the two hang together
    sd: float | None  # Standard deviation of the values, or differences, of queries
    method: str  # How interval and test are made

    def checked(self, measure: Measure) -> Expectation:
        """Check the numbers. The same, with numbers of Python."""
        found: dict[str, Any] = {"paired": check_flag("paired", self.paired)}
        if self.expected is not None:
            found["expected"] = check_value("expected", self.expected, measure)
        if (share := self.positive_fraction) is not None:
            what = "the share of positives"
            found["positive_fraction"] = check_part("positive_fraction", share, what)
        if (together := self.correlation) is not None:
            found["correlation"] = check_number(
                "correlation", together, -1.0, 1.0, closed="neither"
            )
        if self.sd is not None:
            found["sd"] = check_number("sd", self.sd, 0.0, closed="neither")
        return replace(self, **found)

    @property
    def n_rankers(self) -> int:
        """One, or two."""
        return 2 if self.comparing else 1

    @property
    def together(self) -> float | None:
        """Correlation on the same data; None of one ranker and on different data."""
        return self.correlation if self.comparing and self.paired else None

    def needed(self, name: str, why: str) -> Any:
        """Return a required number, or raise an error."""
        if (value := getattr(self, name)) is None:
            raise ValueError(f"{name} is missing: {why}.")
        return value

    def refuse(self, name: str, why: str) -> None:
        """Raise an error if a number is given that is not used."""
        if (value := getattr(self, name)) is not None:
            raise ValueError(f"{name}={value!r} is not used {why}.")

    def check_correlation(self, of: str) -> None:
        """Check that a correlation is given if both rankers score the same data."""
        if self.comparing and self.paired:
            self.needed(
                "correlation",
                f"two rankers on the same data need the correlation of {of} (typically at least .9"
                " for versions of one model, .5 for different models); pass correlation=, a pilot"
                " of both, or paired=False for different data",
            )


def model_of(measure: Measure, given: Expectation) -> tuple[PlanModel, str, str]:
    """Make the model of a measure."""
    if isinstance(measure, AUCMeasure):
        return _auc(given)
    if isinstance(measure, PrecisionAtTopMeasure):
        return _top(measure, given)
    if measure.per_query:
        return _queries(measure, given)
    raise ValueError(
        f"The variance of {measure.name} has no formula: pass pilot=(y_true, y_score), or"
        " pilot=(y_true, {'a': scores_a, 'b': scores_b}) for the difference of two rankers."
    )


def _items(measure: str, given: Expectation) -> Sample:
    given.refuse("sd", "in a plan for items of one list: pass expected or a pilot")
    share = given.needed(
        "positive_fraction",
        f"the variance of the {measure} depends on it; pass the fraction of positive items, such"
        " as positive_fraction=0.1",
    )
    return Sample("items", share)


# ------------------------------------------------------------------------------------------- AUC


def _auc(given: Expectation) -> tuple[PlanModel, str, str]:
    check_choice("method", given.method, AUC_METHODS, hint=" for the auc without a pilot")
    sample = _items("auc", given)
    method, expected = given.method, given.expected
    if method in WITHOUT_AUC:
        given.refuse("expected", f"by method={method!r}: leave it out, or pass method='kl'")
    elif method in WITH_AUC:
        given.needed(
            "expected",
            "the variance of the AUC depends on it; pass the expected AUC, such as expected=0.8,"
            " or method='hoeffding', which is valid for every AUC",
        )
    if method in AUC_GUARANTEED:
        return _guaranteed_auc(sample, given), method, _guarantee(given)
    if method == "normal-worst":
        _refuse_comparison(given)
        worst = "" if expected is None else f" at {expected:g}"
        variance = WorstAUCVariance(sample, expected)
        return NormalModel(sample, 1.0, variance), method, f"the largest variance{worst}"
    if method == "wilson":
        _refuse_comparison(given)
    given.check_correlation("their scores within a class")
    pairs = "hanley-mcneil" if method == "hanley-mcneil" else "delong"
    of_auc = AUCVariance(sample, float(expected or 0.0), pairs, given.together, given.n_rankers)
    known = method in ("delong", "hanley-mcneil")
    scores = "exponential" if pairs == "hanley-mcneil" else "normal"
    rests_on = f"{scores} scores, expecting {expected:g}"
    if given.together is not None:
        rests_on += f", correlation {given.together:g}"
    if given.comparing:
        method = "influence" if method == "auto" else method
        return NormalModel(sample, 2.0, of_auc, known=known), method, rests_on
    if known:
        return NormalModel(sample, 1.0, of_auc, known=True), method, rests_on
    return AUCModel(sample, 1.0, of_auc), "wilson", rests_on


def _guaranteed_auc(sample: Sample, given: Expectation) -> GuaranteedAUC:
    scale, most = 1.0, 1.0
    if given.comparing:
        if given.method not in WITHOUT_AUC:
            _refuse_comparison(given)
        given.refuse("correlation", f"by method={given.method!r}: leave it out")
        # The difference of two outcomes of a pair has twice the range; squares of deviations of
        # independent samples add up.
        scale, most = 2.0 if given.paired else sqrt(2.0), 2.0
    return GuaranteedAUC(sample, given.method, given.expected, scale, most)


def _guarantee(given: Expectation) -> str:
    at = "" if given.expected is None else f", expecting {given.expected:g}"
    return EVERY + at


def _refuse_comparison(given: Expectation) -> None:
    if given.comparing:
        raise ValueError(
            f"method={given.method!r} does not support a difference of two rankers: pass"
            " method='auto' or 'hoeffding'."
        )


# ---------------------------------------------------------------------------- precision at the top


def _top(measure: PrecisionAtTopMeasure, given: Expectation) -> tuple[PlanModel, str, str]:
    check_choice("method", given.method, TOP_METHODS, hint=f" for {measure.name}")
    sample = _items("precision at the top", given)
    share, tau = float(given.positive_fraction or 0.0), measure.tau
    expected = given.needed(
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
    given.check_correlation("the influence of single items on them")
    eta = threshold_share(expected, tau, share)
    variance = TopVariance(expected, eta, tau, 1.0, given.together, given.n_rankers)
    rests_on = f"normal scores, expecting {expected:g}"
    if given.method == "exact":
        _refuse_comparison(given)
        return ExactTopModel(sample, variance), "exact", EVERY + f", expecting {expected:g}"
    if given.comparing:
        return NormalModel(sample, 2.0, variance), "influence", rests_on
    return TopModel(sample, 1.0, variance), "influence", rests_on


# ----------------------------------------------------------------------------------------- queries


def _queries(measure: Measure, given: Expectation) -> tuple[PlanModel, str, str]:
    hint = f" for {measure.name}, which is a mean over queries"
    check_choice("method", given.method, QUERY_METHODS, hint=hint)
    given.refuse("positive_fraction", f"for {measure.name}, a mean over queries: leave it out")
    sample = Sample("queries", None)
    low, high = measure.counted_range
    length = high - low
    method = given.method
    if method in QUERY_GUARANTEED:
        variance = None if given.sd is None else given.sd**2
        scaled = None if given.expected is None else (given.expected - low) / length
        bound = _query_bound(measure, sample, given, scaled, variance)
        return bound, method, _guarantee(given)
    most = length * given.n_rankers
    if given.sd is not None:
        given.refuse("correlation", "with sd, the standard deviation of differences: leave it out")
        spread = given.sd**2
        each = (spread, spread) if given.comparing and not given.paired else (spread,)
        of = "differences" if given.comparing and given.paired else "values"
        _check_sd(measure, given)
        return NormalModel(sample, most, MeanVariance(each)), "t", f"{of} of sd {given.sd:g}"
    share = _is_share(measure)
    if not share and method != "normal-worst":
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
    expected = given.needed("expected", f"the variance of {measure.name} depends on it; pass it")
    given.check_correlation("their values on a query")
    variance_of = ShareVariance((expected - low) / length, length, given.together, given.n_rankers)
    rests_on = f"a share of queries, expecting {expected:g}"
    if not share:
        rests_on = f"the largest variance of values with the mean {expected:g}"
    if given.comparing:
        return NormalModel(sample, most, variance_of), "t" if share else method, rests_on
    return LimitsModel(sample, length, variance_of), "wilson" if share else method, rests_on


def _check_sd(measure: Measure, given: Expectation) -> None:
    low, high = measure.counted_range
    largest = (high - low) * (1.0 if given.comparing and given.paired else 0.5)
    if float(given.sd or 0.0) > largest:
        raise ValueError(
            f"sd={given.sd!r} is above {largest:g}, the largest possible value in the range of"
            f" {measure.name}: pass the standard deviation of single queries."
        )


def _is_share(measure: Measure) -> bool:
    """Whether the measure is 0 or 1 on each query."""
    return isinstance(measure, SuccessMeasure) or (
        isinstance(measure, PrecisionAtKMeasure) and measure.k == 1
    )


def _query_bound(
    measure: Measure,
    sample: Sample,
    given: Expectation,
    expected: float | None,
    variance: float | None,
) -> GuaranteedMean:
    """Bounds of a mean over queries that hold for every distribution."""
    low, high = measure.counted_range
    length = high - low
    if not isfinite(length):
        raise ValueError(
            f"{measure.name} has no known range, which method={given.method!r} needs: pass"
            " method='t' with sd= or a pilot."
        )
    given.refuse("correlation", f"by method={given.method!r}: leave it out")
    if given.method == "hoeffding":
        given.refuse("sd", "by method='hoeffding': leave it out, or pass method='bernstein'")
        given.refuse("expected", "by method='hoeffding': leave it out, or pass method='kl'")
        spread = length * (2.0 if given.paired else sqrt(2.0)) if given.comparing else length
        return GuaranteedMean(sample, "hoeffding", length * given.n_rankers, spread)
    if given.comparing and (given.method == "kl" or not given.paired):
        _refuse_comparison(given)
    if given.method == "kl":
        given.refuse("sd", "by method='kl': leave it out, or pass method='bernstein'")
        if expected is None:
            given.needed("expected", "method='kl' depends on the mean; pass the expected value")
    elif variance is None:
        given.needed("sd", "method='bernstein' depends on it; pass it")
    most = length * given.n_rankers
    return GuaranteedMean(sample, given.method, most, most, expected, variance)
