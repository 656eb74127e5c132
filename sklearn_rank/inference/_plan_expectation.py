"""The model of a measure from its expected value, without a pilot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, sqrt
from typing import Any

from .._arguments import check_choice, check_flag, check_number
from ..metrics import Measure
from ..metrics._shared import (
    AUCMeasure,
    PrecisionAtKMeasure,
    PrecisionAtTopMeasure,
    SuccessMeasure,
)
from ._binormal import threshold_share
from ._plan_asked import check_part, check_value
from ._plan_models import (
    AUCModel,
    ExactTopModel,
    GuaranteedAUC,
    GuaranteedMean,
    LimitsModel,
    NormalModel,
    PlanModel,
    TopModel,
)
from ._plan_questions import Sample
from ._plan_variances import (
    AUCVariance,
    MeanVariance,
    ShareVariance,
    TopVariance,
    WorstAUCVariance,
)

__all__ = ["Expectation", "model_of"]

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
