"""Models of a measure for a plan, from its expected value or from a pilot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtri

from .._lists import LabelType, ScoredLists, check_scored_lists
from .._order import counted_blocks
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_choice, check_flag, check_number, check_share, is_number, ravelled
from .._warn import warn
from ..metrics import Measure
from ..metrics._shared import (
    AUCMeasure,
    ClassInfluence,
    GiniMeasure,
    PrecisionAtKMeasure,
    PrecisionAtTopMeasure,
    SuccessMeasure,
    share_at,
)
from ._influence import ROUNDING_VARIANCE, influence_of, joint_influence, refuse_unknown
from ._plan_models import (
    AUCVariance,
    ClassVariance,
    Composition,
    ExactTopModel,
    GuaranteedAUC,
    GuaranteedMean,
    MeanVariance,
    NormalModel,
    PlanModel,
    ShareVariance,
    TopVariance,
    Variance,
    WorstAUCVariance,
)
from ._queries import are_shares, query_differences, query_values_of
from ._samples import (
    GroupPart,
    Groups,
    check_groups,
    check_two_classes,
    dimensions,
    named_scores,
    refuse_collections,
    robust_sums,
)
from ._top import grouped_top, top_limits


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


def threshold_share(precision: float, tau: float, positive_fraction: float) -> float:
    """Find the share of positives at the threshold of the top, where scores are normal."""
    # How far the threshold is above the mean of each class.
    of_pos = -ndtri(precision * tau / positive_fraction)
    of_neg = -ndtri((1.0 - precision) * tau / (1.0 - positive_fraction))
    log_odds = (of_neg**2 - of_pos**2) / 2.0
    odds = positive_fraction / (1.0 - positive_fraction) * np.exp(log_odds)
    return float(odds / (1.0 + odds))


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


def _guaranteed_mean(measure: Measure, sample: Composition, inputs: PlanInputs) -> GuaranteedMean:
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


class Pilot:
    """Rows of a pilot, and the scores of one ranker or two."""

    def __init__(self, pilot: Any, qid: Any, groups: Any, pos_label: Any) -> None:
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
        refuse_collections(
            "a pilot is one sample in memory", y_true=y_true, qid=qid, groups=groups, **columns
        )
        self.y_true, self.scores = ravelled(y_true, "y_true"), scores
        self.qid, self.groups, self.pos_label = qid, groups, pos_label
        # Whether the queries are the sample.
        self.of_queries = qid is not None or dimensions(self.y_true) == 2


def pilot_model(
    measure: Measure, pilot: Pilot, inputs: PlanInputs, rng: np.random.Generator
) -> tuple[NormalModel, str, str, float]:
    """Model of a pilot, its method and description, and the degrees of freedom of its variance."""
    methods = ("auto", "t") if pilot.of_queries else ("auto", "influence")
    hint = " with a pilot; the others take expected or sd"
    check_choice("method", inputs.method, methods, hint=hint)
    for name in ("correlation", "sd"):
        inputs.refuse(name, "with a pilot, which provides it: leave it out")
    if inputs.comparing:
        inputs.refuse("expected", "for a difference with a pilot: leave it out")
        if inputs.paired and len(pilot.scores) < 2:
            raise ValueError(
                "pilot has the scores of one ranker, but a comparison on the same data needs both:"
                " pass pilot=(y_true, {'a': scores_a, 'b': scores_b}), or paired=False for"
                " different data."
            )
    make = _pilot_query_model if pilot.of_queries else _pilot_item_model
    return make(measure, pilot, inputs, rng)


def variance_factor(degrees: float, probability: float) -> float:
    """Limit of a variance in units of its estimate, by the chi-square distribution."""
    if degrees == inf:
        return 1.0
    # What the chi-square variable exceeds with the probability.
    return float(degrees / max(chdtri(degrees, probability), 1e-300))


def _pilot_query_model(
    measure: Measure, pilot: Pilot, inputs: PlanInputs, rng: np.random.Generator
) -> tuple[NormalModel, str, str, float]:
    share, comparing = inputs.positive_fraction, inputs.comparing
    if share is not None:
        raise ValueError(
            f"positive_fraction={share!r} is for items of one list, but the sample consists of"
            " queries: leave it out."
        )
    samples = list(
        query_values_of(
            measure,
            pilot.y_true,
            pilot.scores,
            qid=pilot.qid,
            groups=pilot.groups,
            pos_label=pilot.pos_label,
        ).values()
    )
    first = samples[0]
    if not comparing:
        values = first.values[np.newaxis]
    elif inputs.paired:
        values = query_differences(*samples).values[np.newaxis]
    else:
        values = np.stack([first.values, samples[-1].values])
    n, groups = values.shape[1], first.groups
    n_groups = n if groups is None else first.part.count
    _check_size(n_groups, "queries" if groups is None else "groups of queries")
    low, high = measure.counted_range
    estimate = 0.5
    if isfinite(low) and isfinite(high):
        mean = inputs.expected
        mean = float(first.values.mean()) if mean is None else mean
        estimate = (mean - low) / (high - low)
    model = NormalModel(
        Composition("queries", None, None if groups is None else n / n_groups),
        (high - low) * (2.0 if comparing else 1.0),
        _mean_variance(values, groups, estimate),
        by_limits=not comparing and are_shares(first),
    )

    def variance_of(rows: BoolArray) -> float:
        of_rows = None if groups is None else groups.only(rows)
        return _mean_variance(values[:, rows], of_rows, 0.5).of(REFERENCE)[0]

    of_query = np.arange(n)
    if groups is not None:
        of_query = np.unique(groups.codes, return_inverse=True)[1]
    _check_spread(model)
    degrees = _degrees(variance_of, [_blocks(n_groups, rng)[of_query]])
    text = f"pilot of {n:,} queries" + ("" if groups is None else f" in {n_groups:,} groups")
    return model, "wilson" if model.by_limits else "t", text, degrees


def _mean_variance(values: FloatArray, groups: Groups | None, estimate: float) -> MeanVariance:
    """Variance of the values of queries, and its inflation by groups."""
    n = values.shape[1]
    spreads = values.var(axis=1, ddof=1)
    if groups is None:
        return MeanVariance(tuple(spreads.tolist()), estimate=estimate)
    parts = [GroupPart.of_rows(row[np.newaxis], groups) for row in values]
    grouped = sum(float(np.sum(robust_sums([part]) ** 2)) for part in parts)
    independent = float(spreads.sum()) / n
    degrees = sum(part.degrees for part in parts)
    effect = grouped / independent if independent > 0.0 else 1.0
    return MeanVariance(tuple(spreads.tolist()), effect, degrees / n, estimate)


def _pilot_item_model(
    measure: Measure, pilot: Pilot, inputs: PlanInputs, rng: np.random.Generator
) -> tuple[NormalModel, str, str, float]:
    comparing, expected = inputs.comparing, inputs.expected
    if comparing or not isinstance(measure, PrecisionAtTopMeasure):
        refuse_unknown(measure)
    data = [
        check_two_classes(pilot.y_true, score, pilot.pos_label, rel=measure.rel)
        for score in pilot.scores.values()
    ]
    positive = data[0].positive
    scores = np.stack([lists.score for lists in data])[: inputs.n_rankers]
    groups = check_groups(pilot.groups, len(positive))
    n, n_pos = len(positive), int(positive.sum())
    _check_size(n_pos, "positives")
    _check_size(n - n_pos, "negatives")
    if groups is not None:
        _check_size(groups.n_groups, "groups")
    share, weights = n_pos / n, None
    if inputs.positive_fraction is not None:
        share = inputs.positive_fraction
        weights = _class_weights(measure, data[0], share)
    sample = Composition("items", share, None if groups is None else n / groups.n_groups)

    def model_of(rows: BoolArray | slice) -> NormalModel:
        lists = [_list(positive[rows], score[rows], weights) for score in scores]
        of_rows = None if groups is None else groups.only(rows)
        if isinstance(measure, PrecisionAtTopMeasure) and not comparing:
            variance: Variance = _top_variance(lists[0], measure.tau, of_rows, expected)
            return NormalModel(sample, 1.0, variance, by_limits=True)
        influences = [influence_of(measure, data, conditional=True) for data in lists]
        if comparing:
            ends = [[influences[0]], [influences[-1]]]
            samples = [influences] if inputs.paired else ends
            variance = _class_variance(samples, sample, of_rows)
            return NormalModel(sample, 2.0 * influences[0].length, variance)
        length = influences[0].length
        if not isfinite(length):
            return NormalModel(sample, inf, _class_variance([influences], sample, of_rows))
        variance = _scaled_variance(measure, influences[0], sample, of_rows, expected)
        return NormalModel(sample, length, variance, by_limits=True)

    def variance_of(rows: BoolArray) -> float:
        of_rows = positive[rows]
        if min(of_rows.sum(), (~of_rows).sum()) < 2:
            return 0.0
        return model_of(rows).variance.of(REFERENCE)[0]

    model = model_of(slice(None))
    _check_spread(model)
    if groups is None:
        strata = [np.full(n, -1), np.full(n, -1)]
        for blocks, in_class in zip(strata, (positive, ~positive), strict=True):
            blocks[in_class] = _blocks(int(in_class.sum()), rng)
    else:
        strata = [_blocks(groups.n_groups, rng)[groups.codes]]
    degrees = _degrees(variance_of, strata)
    text = f"pilot of {n_pos:,} positives and {n - n_pos:,} negatives"
    text += "" if groups is None else f" in {groups.n_groups:,} groups"
    is_auc = isinstance(measure, AUCMeasure | GiniMeasure)
    return model, "wilson" if is_auc and model.by_limits else "influence", text, degrees


def _list(positive: BoolArray, score: FloatArray, weights: tuple[int, int] | None) -> ScoredLists:
    """One list of both classes, whose rows may count several times."""
    labels = positive.astype(np.intp)
    weight = None if weights is None else np.where(positive, *map(float, weights))
    return check_scored_lists(labels, score, LabelType("binary", 1), sample_weight=weight)


def _class_weights(measure: Measure, data: ScoredLists, share: float) -> tuple[int, int] | None:
    """Weights of each positive and each negative for a fraction of positives.

    None if the measure does not depend on the fraction.
    """
    is_top = isinstance(measure, PrecisionAtTopMeasure)
    if not is_top and influence_of(measure, data, conditional=True).label_slope == 0.0:
        return None
    ratio = share / (1.0 - share) * float(data.sizes[0] / data.positives[0] - 1.0)
    simple = Fraction(max(ratio, 1.0 / ratio)).limit_denominator(LARGEST_WEIGHT)
    larger, smaller = simple.numerator, simple.denominator
    weights = (larger, smaller) if ratio >= 1.0 else (smaller, larger)
    if weights == (1, 1):
        return None
    if not is_top:
        weighted = _list(data.positive, data.score, weights)
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


def _scaled_variance(
    measure: Measure,
    influence: ClassInfluence,
    sample: Composition,
    groups: Groups | None,
    expected: float | None,
) -> ClassVariance:
    """Variance of the measure of one ranker, on the scale from 0 to 1."""
    origin, length = influence.range[0], influence.length
    scaled = influence.scaled(origin, length)
    variance = _class_variance([[scaled]], sample, groups)
    estimate = scaled.estimate if expected is None else (expected - origin) / length
    if isinstance(measure, AUCMeasure | GiniMeasure):
        rarer = None
        if groups is not None:
            of_classes = (groups.sizes(influence.positive), groups.sizes(~influence.positive))
            rarer = min(map(np.count_nonzero, of_classes)) / len(influence.values)
        return replace(variance, estimate=estimate, groups_per_item=rarer)
    classes = tuple(
        (part.mean, ends) for part, ends in zip(scaled.parts, scaled.class_ends(), strict=True)
    )
    return replace(variance, estimate=estimate, classes=classes)


def _class_variance(
    samples: Sequence[Sequence[ClassInfluence]], sample: Composition, groups: Groups | None
) -> ClassVariance:
    """Variance of the influence in each class, and its inflation by groups."""
    variances, grouped, independent, degrees = [], 0.0, 0.0, 0.0
    for influences in samples:
        contrast = np.array([1.0, -1.0])[: len(influences)]
        values = contrast @ np.stack([influence.values for influence in influences])
        positive = influences[0].positive
        of_classes = [values[positive], values[~positive]]
        variances.append(tuple(float(x.var(ddof=1)) for x in of_classes))
        if groups is not None:
            # Each row counts once: the dependence within groups does not depend on the weights.
            unweighted = [replace(influence, counts=None) for influence in influences]
            joint = joint_influence(unweighted, conditional=True, groups=groups)
            grouped += float(contrast @ joint.covariance @ contrast)
            independent += sum(
                variance / len(x) for variance, x in zip(variances[-1], of_classes, strict=True)
            )
            degrees += joint.spread.of(contrast)
    effect = grouped / independent if groups is not None and independent > 0.0 else 1.0
    return ClassVariance(
        sample=sample,
        variances=tuple(variances),  # type: ignore[arg-type]
        effect=effect,
        degrees_per_item=None if groups is None else degrees / len(samples[0][0].values),
        estimate=samples[0][0].estimate,
    )


def _top_variance(
    data: ScoredLists, tau: float, groups: Groups | None, expected: float | None
) -> TopVariance:
    """Variance of the precision at the top of one ranker."""
    blocks = counted_blocks(data.score, data.positive, data.weight)
    n = int(blocks.n)
    top = min(max(int(tau * n + 0.5), 1), n - 1)
    eta = share_at(n - top, blocks.below, blocks.size, blocks.n_pos)
    inside = np.clip((blocks.below + blocks.size - (n - top)) / blocks.size, 0.0, 1.0)
    precision = float(inside @ blocks.n_pos) / top
    effect = 1.0
    if groups is not None:
        independent = top_limits(precision, eta, top, tau, 0.95)[1]
        effect = grouped_top(data.positive, blocks.rows, groups, top, eta)[1] / independent
    shrunken = (top * precision + 0.5) / (top + 1.0) if expected is None else expected
    return TopVariance(shrunken, eta, tau, effect)


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
    if not model.variance.of(REFERENCE)[0] * REFERENCE > ROUNDING_VARIANCE * length**2:
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
