"""Variance of a larger sample from a pilot, and the precision of that variance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite
from typing import Any

import numpy as np
from scipy.special import chdtri

from .._arguments import check_choice
from .._lists import LabelType, ScoredLists, check_scored_lists
from .._order import counted_blocks
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import ravelled
from .._warn import warn
from ..metrics import Measure
from ..metrics._shared import (
    AUCMeasure,
    ClassInfluence,
    GiniMeasure,
    PrecisionAtTopMeasure,
    share_at,
)
from ._influence import ROUNDING_VARIANCE, influence_of, joint_influence, refuse_unknown
from ._plan_expectation import PlanInputs
from ._plan_models import (
    ClassVariance,
    MeanVariance,
    NormalModel,
    Sample,
    TopVariance,
    Variance,
)
from ._queries import are_shares, query_differences, query_values_of
from ._samples import (
    GroupPart,
    Groups,
    Spread,
    check_groups,
    check_two_classes,
    dimensions,
    named_scores,
    refuse_collections,
    robust_sums,
)
from ._top import grouped_top, top_limits

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


@dataclass(frozen=True, eq=False)
class Pilot:
    """Rows of a pilot, and the scores of one ranker or two."""

    y_true: Any
    scores: dict[str, Any]
    qid: Any
    groups: Any
    pos_label: Any

    @classmethod
    def read(cls, pilot: Any, qid: Any, groups: Any, pos_label: Any) -> Pilot:
        """Check the arguments."""
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
        return cls(ravelled(y_true, "y_true"), scores, qid, groups, pos_label)

    @property
    def of_queries(self) -> bool:
        """Whether the queries are the sample."""
        return self.qid is not None or dimensions(self.y_true) == 2


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
    make = _query_model if pilot.of_queries else _item_model
    return make(measure, pilot, inputs, rng)


def variance_factor(degrees: float, probability: float) -> float:
    """Limit of a variance in units of its estimate, by the chi-square distribution."""
    if degrees == inf:
        return 1.0
    # What the chi-square variable exceeds with the probability.
    return float(degrees / max(chdtri(degrees, probability), 1e-300))


def _query_model(
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
        Sample("queries", None, None if groups is None else n / n_groups),
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
    degrees = sum(float(Spread.of_groups([part]).degrees[0]) for part in parts)
    effect = grouped / independent if independent > 0.0 else 1.0
    return MeanVariance(tuple(spreads.tolist()), effect, degrees / n, estimate)


def _item_model(
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
    sample = Sample("items", share, None if groups is None else n / groups.n_groups)

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
    sample: Sample,
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
    samples: Sequence[Sequence[ClassInfluence]], sample: Sample, groups: Groups | None
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
