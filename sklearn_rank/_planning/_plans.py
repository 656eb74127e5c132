"""Questions to a planned sample, and its models: the interval and the test at each size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from math import inf, isfinite, isinf, sqrt
from typing import Any, TypeAlias

import numpy as np
from scipy.special import chdtri, nctdtr, ndtr, ndtri

from .._lists import ScoredLists
from .._partitions import refuse_collections
from .._printed import ROUNDING
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import column_of
from .._warn import warn
from ..bounds._shared import TINY, bisect, least_size
from ..inference._shared import (
    AUCMoments,
    Moments,
    TopMoments,
    auc_parts,
    check_lists,
    influence_of,
    joint_influence,
    mean_influences,
    named_scores,
    query_values_of,
    read_rows,
    refuse_one_class,
    refuse_unknown,
    single,
    top_moments,
    two_sided_quantile,
)
from ..metrics import Measure
from ..metrics._shared import ClassInfluence, Groups

Sizes: TypeAlias = tuple[int, ...]


def sizes_of(n: int, prevalence: float | None) -> Sizes:
    """Numbers of positives and of negatives, or of queries."""
    if prevalence is None:
        return (n,)
    n_pos = min(max(int(prevalence * n + 0.5), 1), n - 1)
    return n_pos, n - n_pos


@dataclass(frozen=True)
class PlanModel:
    """Interval of a statistic by its moments, else by Student's quantile as the test."""

    unit: str  # "items" or "queries"
    prevalence: float | None  # None for queries
    most: float  # Largest width, which is the length of the range
    # Variance of the estimate and its degrees of freedom, from sizes and true difference
    variance: Callable[[Sizes, float], tuple[float, float]]
    resized: Callable[..., Moments] | None = None  # Moments of sizes, and a factor of the variance
    group_size: float | None = None  # Mean number of units in a group; None is no groups
    factor: float = 1.0  # Of the variance

    def error(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        variance, degrees = self.variance(sizes_of(n, self.prevalence), difference)
        return sqrt(variance * self.factor), max(degrees, 1.0)

    def width(self, n: int, level: float) -> float:
        if self.resized is not None:
            low, high = self.resized(sizes_of(n, self.prevalence), self.factor).limits(level)
            return high - low
        error, degrees = self.error(n)
        return min(2.0 * two_sided_quantile(level, degrees) * error, self.most)

    def power(self, n: int, difference: float, level: float) -> float:
        """Power of the two-sided test."""
        error, degrees = self.error(n, difference)
        degrees = inf if degrees >= 1e7 else degrees
        critical, distance = two_sided_quantile(level, degrees), abs(difference) / error
        return min(sum(_above(critical, x, degrees) for x in (distance, -distance)), 1.0)


def _above(critical: float, noncentrality: float, degrees: float) -> float:
    """Probability that a noncentral t variable is above a number."""
    below = float(nctdtr(degrees, noncentrality, critical))
    if isfinite(degrees) and 0.0 <= below <= 1.0:
        return 1.0 - below
    # Of normal variables, and where the series fails: the spread of the standard error as normal.
    distance = noncentrality - critical * (1.0 - 1.0 / (4.0 * degrees))
    return float(ndtr(distance / sqrt(1.0 + critical**2 / (2.0 * degrees))))


def satterthwaite(variances: Sequence[float], degrees: Sequence[float]) -> float:
    total = sum(variances)
    if total <= 0.0:
        return max(min(degrees), 1.0)
    return 1.0 / sum(
        (variance / total) ** 2 / max(degree, 1.0)
        for variance, degree in zip(variances, degrees, strict=True)
    )


@lru_cache(maxsize=256)
def _parts_of(aucs: tuple[float, ...], correlation: float) -> FloatArray:
    contrast = np.array([1.0, -1.0])[: len(aucs)]
    parts = auc_parts(np.array(aucs), correlation)
    return np.asarray(np.einsum("pij,i,j->p", parts, contrast, contrast))


def auc_variance(
    auc: float, correlation: float | None, sizes: Sizes, difference: float = 0.0
) -> tuple[float, float]:
    """Variance of the AUC of normal scores, or of the difference of a correlated one to it."""
    n_pos, n_neg = sizes
    aucs = (auc,) if correlation is None else (auc + difference, auc)
    both, positive, negative = _parts_of(aucs, correlation or 0.0)
    single = (n_neg - 1.0) * positive + (n_pos - 1.0) * negative
    degrees = satterthwaite([positive / n_pos, negative / n_neg], [n_pos - 1.0, n_neg - 1.0])
    return (both + single) / (n_pos * n_neg), degrees


def auc_moments(auc: float, sizes: Sizes, factor: float = 1.0) -> AUCMoments:
    """Moments with the variances of placements that a sample of normal scores will show."""
    n_pos, n_neg = sizes
    both, positive, negative = _parts_of((auc,), 0.0)
    rest = both - positive - negative
    variances = factor * (positive + rest / n_neg), factor * (negative + rest / n_pos)
    return AUCMoments.of(auc, (n_pos, n_neg), variances)


# --------------------------------------------------------------------------------------- questions


@dataclass(frozen=True, kw_only=True)
class Question:
    """Quantities of an interval, or of a two-sided test, one of them unknown; what is expected."""

    measure: Measure
    comparing: bool  # Whether two rankers are compared
    # Value of the measure, of a comparison that of the second ranker
    expected: float | None = None
    prevalence: float | None = None
    correlation: float | None = None  # Of the two rankers
    n: int | None = None
    level: float = 0.95
    width: float | None = None
    difference: float | None = None
    power: float | None = None

    @property
    def n_rankers(self) -> int:
        return 2 if self.comparing else 1

    @property
    def is_test(self) -> bool:
        return self.difference is not None or self.power is not None

    @property
    def goal(self) -> str:
        return "power" if self.is_test else "width"

    @property
    def unknown(self) -> str:
        return next(x for x in ("n", self.goal, "difference") if getattr(self, x) is None)

    def value(self, model: PlanModel, n: int) -> float:
        """Width or power of a sample size."""
        if self.is_test:
            return model.power(n, float(self.difference or 0.0), self.level)
        return model.width(n, self.level)

    def solve(self, model: PlanModel) -> float:
        if self.unknown == self.goal:
            return self.value(model, int(self.n or 0))
        wish, sign = float(getattr(self, self.goal)), 1.0 if self.is_test else -1.0
        if self.n is None:
            size = least_size(lambda n: sign * self.value(model, n) >= sign * wish)
            if isinf(size):
                raise ValueError(f"{self.goal}={wish!r} takes more than 2**53 items: ask less.")
            return int(size)
        # The largest possible difference, with its sign; very large without a range.
        low, high = self.measure.counted_range
        start = 0.0 if self.expected is None else self.expected - low
        length = high - low if isfinite(high - low) else 1e9
        largest = length - start if self.measure.greater_is_better else -(start or length)
        n, nearly = self.n, 1.0 - 1e-9

        def is_detected(share: Any) -> bool:
            return model.power(n, float(share) * largest, self.level) >= wish

        if not is_detected(nearly):
            raise ValueError(
                f"With n={n} the power is below {wish:g} for every possible difference of the"
                " measure: pass a greater n, or a smaller power."
            )
        return largest * float(bisect(is_detected, nearly, 0.0)[0])

    def check(self, what: str, of: str, unit: str) -> float:
        """Check that all that the formula needs is given, and return the expected value."""
        if self.expected is None:
            raise ValueError(
                f"expected is missing: the variance of {what} depends on it; pass the expected"
                " value, such as expected=0.8."
            )
        if unit == "queries":
            refuse("prevalence", self.prevalence, f"for {what}, a mean over queries: leave it out")
        elif self.prevalence is None:
            raise ValueError(
                f"prevalence is missing: the variance of {what} depends on it; pass the fraction"
                " of positive items, such as prevalence=0.1."
            )
        if self.comparing and self.correlation is None:
            raise ValueError(
                f"correlation is missing: two rankers need the correlation of {of} (typically at"
                " least .9 for versions of one model, .5 for different models, 0 on different"
                " data); pass correlation=, or a pilot of both."
            )
        return self.expected


def refuse(name: str, value: Any, why: str) -> None:
    if value is not None:
        raise ValueError(f"{name}={value!r} is not used {why}.")


def formula_model(question: Question) -> tuple[PlanModel, str, str]:
    """Model of a measure of normal scores, or of a share, its method and what it rests on."""
    measure, correlation = question.measure, question.correlation
    low, high = measure.counted_range
    method, rests_on = "influence" if question.comparing else "wilson", "normal scores"
    unit, share, length, tau, eta = "items", 0.0, 1.0, 1.0, 0.0

    def of_shares(sizes: Sizes, difference: float = 0.0) -> tuple[float, float]:
        """Binomial variance of two shares, as labels are random, with that of the threshold."""
        size, shares = max(int(tau * sum(sizes) + 0.5), 1), (share, share + difference / length)
        second, first = (x * (1.0 - x) + (1.0 - tau) * (x - eta) ** 2 for x in shares)
        both = second + (first - 2.0 * (correlation or 0.0) * sqrt(first * second))
        return length**2 * both / size, max(size - 1.0, 1.0)

    variance: Callable[..., tuple[float, float]] = of_shares
    if "placements" in measure.laws and measure.range == (0.0, 1.0):
        value = question.check("the AUC", "their scores within a class", unit)
        variance = partial(auc_variance, value, correlation)
        resized: Callable[..., Moments] = partial(auc_moments, value)
    elif "top" in measure.laws:
        of = "the influence of single items on them"
        share = value = question.check("the precision at the top", of, unit)
        of_top: Any = measure
        tau = float(of_top.tau)
        eta = threshold_share(value, tau, float(question.prevalence or 0.0))
        resized = TopMoments(estimate=share, error=None, tau=tau, eta=eta, top=tau).resized
        method = "influence"
    elif measure.per_query and measure.values_are_ends:
        unit = "queries"
        value = question.check(measure.name, "their values on a query", unit)
        length = high - low
        share = (value - low) / length
        resized = TopMoments(estimate=share, error=None, tau=tau, eta=eta, top=tau).resized
        method = "t" if question.comparing else "wilson"
        rests_on = "a share of queries"
    else:
        qid = ", qid=qid" if measure.per_query else ""
        raise ValueError(
            f"The variance of {measure.name} has no formula: pass pilot=(y_true, y_score){qid}, or"
            f" pilot=(y_true, {{'a': scores_a, 'b': scores_b}}){qid} for the difference of two"
            " rankers."
        )
    rests_on += f", expecting {value:g}"
    if "placements" in measure.laws and correlation is not None:
        rests_on += f", correlation {correlation:g}"
    of_one = None if question.comparing else resized
    most = question.n_rankers * (high - low)
    return PlanModel(unit, question.prevalence, most, variance, of_one), method, rests_on


def threshold_share(precision: float, tau: float, prevalence: float) -> float:
    """Find the share of positives at the threshold of the top, where scores are normal."""
    if precision <= prevalence:
        raise ValueError(
            f"expected={precision!r} is not above prevalence={prevalence!r}, the precision of a"
            " random order: pass a greater value."
        )
    if precision * tau >= prevalence:
        raise ValueError(
            f"expected={precision!r} in the top {tau:g} needs more positives than"
            f" prevalence={prevalence!r} gives: pass at most {prevalence / tau:.4g}."
        )
    # How far the threshold is above the mean of each class.
    of_pos = -ndtri(precision * tau / prevalence)
    of_neg = -ndtri((1.0 - precision) * tau / (1.0 - prevalence))
    log_odds = (of_neg**2 - of_pos**2) / 2.0
    odds = prevalence / (1.0 - prevalence) * np.exp(log_odds)
    return float(odds / (1.0 + odds))


# ------------------------------------------------------------------------------------------ pilots


# Labels, scores of one ranker or two by name, and other columns.
Pilot: TypeAlias = tuple[Any, dict[str, Any], dict[str, Any]]


def read_pilot(measure: Measure, pilot: Any, rows: dict[str, Any]) -> Pilot:
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
    columns = {column_of(name): x for name, x in scores.items()}
    refuse_collections("a pilot is one sample in memory", y_true=y_true, **columns, **rows)
    y_true, rows = read_rows(measure, y_true, columns, **rows)
    return y_true, scores, rows


def pilot_model(
    question: Question, pilot: Pilot, rng: np.random.Generator
) -> tuple[PlanModel, str, str, float]:
    """Model of a pilot, its method and description, and the degrees of freedom of its variance."""
    measure, (_, scores, rows) = question.measure, pilot
    refuse("correlation", question.correlation, "with a pilot, which provides it: leave it out")
    if question.comparing:
        refuse("expected", question.expected, "for a difference with a pilot: leave it out")
        if len(scores) < 2:
            raise ValueError(
                "pilot has the scores of one ranker, but a comparison needs both: pass"
                " pilot=(y_true, {'a': scores_a, 'b': scores_b})."
            )
    of_queries = "qid" in rows
    sample = (_pilot_of_queries if of_queries else _pilot_of_items)(question, pilot)
    classes, groups = sample.classes, sample.groups
    names = (sample.unit,) if len(classes) == 1 else ("positives", "negatives")
    sizes = [int(np.count_nonzero(rows)) for rows in classes]
    for size, name in zip(sizes, names, strict=True):
        _check_size(size, name)
    if groups is not None:
        _check_size(groups.n_groups, f"groups{' of queries' if of_queries else ''}")

    def variance_of(rows: Any) -> float:
        """Variance of the mean of many units, times their number, by some rows."""
        if min(np.count_nonzero(of_class[rows]) for of_class in classes) < 2:
            return 0.0
        if sample.unit_variance is not None:
            return sample.unit_variance(rows)
        return sample.variance(rows)(sizes_of(10**9, sample.prevalence))[0] * 10**9

    resized, method = None, "t" if of_queries else "influence"
    length = question.n_rankers * sample.influences(slice(None))[0].length
    if not variance_of(slice(None)) > ROUNDING**2 * (length if isfinite(length) else 0.0) ** 2:
        raise ValueError(
            "The pilot has a variance of 0: all items or queries have the same influence on the"
            " quantity, as for two rankers with the same order; pass another pilot."
        )
    if not question.comparing:
        moments = sample.moments()
        if question.expected is not None:
            moments = moments.at(question.expected)
        elif moments.estimate in measure.counted_range:
            warn(
                f"The pilot has the {measure.name} {moments.estimate:g}, an end of its range,"
                " which the plan expects of every sample: pass expected=, the value to plan for.",
                UserWarning,
            )
        resized, method = moments.resized, moments.method
    group_size = None if groups is None else len(classes[0]) / groups.n_groups
    variance = sample.variance(slice(None))
    model = PlanModel(sample.unit, sample.prevalence, length, variance, resized, group_size)
    if groups is None:
        strata = [np.full(len(of_class), -1) for of_class in classes]
        for blocks, of_class, size in zip(strata, classes, sizes, strict=True):
            blocks[of_class] = _blocks(size, rng)
    else:
        strata = [_blocks(groups.n_groups, rng)[groups.codes]]
    degrees = _degrees(variance_of, strata)
    counts = " and ".join(f"{size:,} {name}" for size, name in zip(sizes, names, strict=True))
    text = f"pilot of {counts}" + ("" if groups is None else f" in {groups.n_groups:,} groups")
    return model, method, text, degrees


@dataclass(frozen=True, eq=False)
class PilotSample:
    """Units of a pilot, and what they say of the rankers."""

    unit: str  # "items" or "queries"
    prevalence: float | None  # None for queries
    classes: list[BoolArray]  # Rows of each class
    groups: Groups | None
    influences: Callable[[Any], list[ClassInfluence]]  # Of some rows
    moments: Callable[[], Moments]  # Of one ranker
    # Of some rows, where it is not that of the influence
    unit_variance: Callable[[Any], float] | None = None

    def variance(self, rows: Any) -> Callable[..., tuple[float, float]]:
        """Variance of a planned sample of which some rows are the pilot."""
        influences = self.influences(rows)
        contrast = np.array([1.0, -1.0])[: len(influences)]
        values = contrast @ np.stack([influence.values for influence in influences])
        of_classes = [values[in_class] for in_class in influences[0].classes]
        variances = [float(x.var(ddof=1)) for x in of_classes]
        effect, degrees_per_unit = 1.0, 0.0
        if self.groups is not None:
            # Each row counts once: the dependence within groups does not depend on the weights.
            unweighted = [replace(influence, counts=None) for influence in influences]
            joint = joint_influence(unweighted, groups=self.groups.only(rows))
            independent = sum(x / len(part) for x, part in zip(variances, of_classes, strict=True))
            grouped = float(contrast @ joint.covariance @ contrast)
            effect = grouped / independent if independent > 0.0 else 1.0
            degrees_per_unit = joint.spread.of(contrast) / len(values)

        def variance(sizes: Sizes, difference: float = 0.0) -> tuple[float, float]:
            parts = [x / size for x, size in zip(variances, sizes, strict=True)]
            degrees = degrees_per_unit * sum(sizes)
            degrees = degrees or satterthwaite(parts, [size - 1.0 for size in sizes])
            return effect * sum(parts), max(degrees, 1.0)

        return variance


def _pilot_of_queries(question: Question, pilot: Pilot) -> PilotSample:
    measure, (y_true, scores, rows) = question.measure, pilot
    refuse("prevalence", question.prevalence, "for a mean over queries: leave it out")
    samples = list(query_values_of(measure, y_true, scores, **rows).values())
    values = np.stack([sample.values for sample in samples[: question.n_rankers]])
    return PilotSample(
        "queries",
        None,
        [np.ones(values.shape[1], dtype=bool)],
        samples[0].groups,
        lambda rows: mean_influences(values[:, rows], measure.counted_range),
        lambda: samples[0].moments,
    )


def _pilot_of_items(question: Question, pilot: Pilot) -> PilotSample:
    measure, (y_true, scores, columns) = question.measure, pilot
    if measure.laws and measure.depends_on_length:
        raise ValueError(
            f"{measure.name} of one list depends on the number of its items, so that a pilot does"
            " not tell its variance in a longer list: pass qid for the mean over queries, or a"
            " measure of a share of the list, such as 'precision@top0.05'."
        )
    refuse_unknown(measure)
    named = {column_of(x): scores[x] for x in list(scores)[: question.n_rankers]}
    evidences = check_lists(measure, y_true, list(named.values()), names=list(named), **columns)
    data, groups = evidences[0].data, evidences[0].groups
    n, weights, share = len(data.labels), None, question.prevalence
    if measure.kind == "binary":
        refuse_one_class(data)
        classes = [data.positive, ~data.positive]
        if share is None:
            share = float(data.positives[0]) / n
        else:
            weights = _class_weights(measure, data, share)
    else:
        classes = [np.ones(n, dtype=bool)]
        refuse("prevalence", share, f"for {measure.name}, which takes grades: leave it out")
    first = evidences[0]

    def influences(rows: Any) -> list[ClassInfluence]:
        lists = [_list(evidence.data, rows, weights) for evidence in evidences]
        return [influence_of(measure, data, conditional=True).linear for data in lists]

    def unit_variance(rows: Any) -> float:
        """Of the precision in the top, which has random labels."""
        of_rows = None if groups is None else groups.only(rows)
        part = replace(first, data=_list(data, rows, weights), groups=of_rows)
        return len(part.data.score) * float(top_moments(part).error or 0.0) ** 2

    def moments() -> Moments:
        found: Any = single(first)
        if weights is None:
            return found
        weighted: Any = single(replace(first, data=_list(data, slice(None), weights)))
        if isinstance(found, TopMoments):
            draws = found.n_effective and found.n_effective * weighted.top / found.top
            return replace(weighted, n_effective=draws, degrees=found.degrees)
        # Each row counts once.
        squares = weighted.squares / weights
        return replace(weighted.resized(weighted.sizes / weights), squares=squares)

    return PilotSample(
        "items",
        share,
        classes,
        groups,
        influences,
        moments,
        unit_variance if "top" in measure.laws and not question.comparing else None,
    )


def variance_factor(degrees: float, probability: float) -> float:
    """Limit of a variance in units of its estimate, by the chi-square distribution."""
    if degrees == inf:
        return 1.0
    # What the chi-square variable exceeds with the probability.
    return float(degrees / max(chdtri(degrees, probability), TINY))


def _list(data: ScoredLists, rows: Any, weights: tuple[int, int] | None) -> ScoredLists:
    """Some rows of a list, each of which counts by its class."""
    labels, score = data.labels[rows], data.score[rows]
    weight = None if weights is None else np.where(labels, *map(float, weights))
    return replace(
        data, labels=labels, score=score, weight=weight, offsets=np.array([0, len(labels)])
    )


def _class_weights(measure: Measure, data: ScoredLists, share: float) -> tuple[int, int] | None:
    """Weights of each positive and each negative for a prevalence.

    None if the measure does not depend on the prevalence.
    """
    is_top = "top" in measure.laws
    if not is_top and influence_of(measure, data, conditional=True).label_slope == 0.0:
        return None
    ratio = share / (1.0 - share) * float(data.sizes[0] / data.positives[0] - 1.0)
    weights = Fraction(max(ratio, 1.0 / ratio)).limit_denominator(20).as_integer_ratio()
    weights = weights if ratio >= 1.0 else weights[::-1]
    if weights == (1, 1):
        return None
    weighted = _list(data, slice(None), weights)
    if not is_top and (
        measure.weights == "none"
        or influence_of(measure, weighted, conditional=True).counts is None
    ):
        raise ValueError(
            f"{measure.name} depends on the prevalence, which is"
            f" {data.positives[0] / data.sizes[0]:.4g} in the pilot, and takes no weights to"
            f" change it to prevalence={share!r}: leave prevalence out, or sample the pilot"
            " with that prevalence."
        )
    return weights


def _check_size(n: int, what: str) -> None:
    if n < 3:
        raise ValueError(
            f"The pilot has only {n} {what}, too few to estimate a variance: pass a pilot of at"
            " least 3, preferably 10 or more."
        )
    if n < 10:
        warn(
            f"The pilot has only {n} {what}, so its variance is uncertain: see pilot_range.",
            UserWarning,
        )


def _blocks(n: int, rng: np.random.Generator) -> IntArray:
    """Part of each of n things, at random and of equal sizes; fewer parts where n is large."""
    return rng.permutation(n) % min(n, 40 if n <= 5_000 else 10)


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
