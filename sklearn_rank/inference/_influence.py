"""Influence of the items of one list on a measure: joint estimates of rankers and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np

from .._lists import ScoredLists
from .._partitions import any_collection
from .._typing import BoolArray, FloatArray
from .._validation import ravelled
from ..metrics import Measure
from ..metrics._shared import (
    PSEUDO_WEIGHT,
    AveragePrecisionMeasure,
    ClassInfluence,
    phi_of,
)
from ._limits import Limits, safe_limits, two_sided_quantile
from ._results import Interval
from ._samples import (
    GroupPart,
    Groups,
    OneList,
    Spread,
    WeightMeaning,
    check_groups,
    check_sample,
    check_two_classes,
    check_weight_meaning,
    refuse_collections,
    refuse_few_draws,
    refuse_fractions,
    robust_sums,
    singleton_groups,
)


def measure_influence(
    measure: Measure,
    y_true: Any,
    scores: Sequence[Any],
    *,
    conditional: bool = True,
    pos_label: Any = None,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    groups: Any = None,
    name: str = "y_true",
) -> tuple[list[ClassInfluence], Groups | None]:
    """Influence of the same rows on the measure of several rankers, and the groups of the rows."""
    # Differences need both scores of each row, which counts of scores do not keep.
    refuse_collections("scorers are compared row by row", **{name: y_true}, y_score=tuple(scores))
    sampled = check_weight_meaning(weights, sample_weight)
    if sampled:
        refuse_sampling(measure)
    measure._check_arguments(sample_weight=sample_weight)
    y_true = ravelled(y_true, name)
    data = check_two_classes(
        y_true, scores[0], pos_label, name=name, rel=measure.rel, sample_weight=sample_weight
    )
    dependent = check_groups(groups, len(y_true))
    if dependent is not None and data.rows is not None:
        dependent = dependent.only(data.rows)
    if not sampled:
        refuse_fractions(sample_weight)
    lists = [data, *(data.scored_by(y_score, np.shape(y_true)) for y_score in scores[1:])]
    if sampled:
        influences = [sampling_influence(measure, data) for data in lists]
        return influences, dependent or singleton_groups(len(data.labels))
    if dependent is not None:
        samples = [OneList(data, dependent).repeat() for data in lists]
        lists, dependent = [sample.data for sample in samples], samples[0].groups
    return [influence_of(measure, data, conditional=conditional) for data in lists], dependent


def sample_influence(
    measure: Measure,
    y_true: Any,
    y_score: Any,
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> ClassInfluence:
    """Influence of the items of one sample, or of the rows of a table of their counts."""
    if not any_collection(y_true, y_score):
        (influence,), _ = measure_influence(
            measure, y_true, (y_score,), conditional=conditional, pos_label=pos_label, name=name
        )
        return influence
    refuse_unknown(measure)
    data, _ = check_sample(y_true, y_score, pos_label, measure=measure)
    return influence_of(measure, data, conditional=conditional)


def refuse_unknown(measure: Measure) -> None:
    """Refuse a measure without an influence function."""
    if measure.kind != "binary" or not measure.has_influence:
        raise ValueError(_UNKNOWN.format(measure.name))


_UNKNOWN = (
    "measure={!r} has no influence function, so its variance on one list is unknown: pass"
    " influence= to make_measure; for a mean over queries pass qid to compare, metric_interval or"
    " paired_query_test; for a phi that depends on the length of the list use"
    " linear_rank_interval(method='bootstrap')."
)


def influence_of(measure: Measure, data: ScoredLists, *, conditional: bool) -> ClassInfluence:
    refuse_unknown(measure)
    influence = measure.influence(data)
    if influence is None:
        raise ValueError(_UNKNOWN.format(measure.name))
    if not conditional and not isfinite(influence.label_slope):
        raise ValueError(
            f"measure={measure.name!r} has no known derivative in the fraction of positives, which"
            " conditional=False needs: pass conditional=True."
        )
    return influence


def refuse_sampling(measure: Measure) -> None:
    """Refuse a measure that has no interval for rows of unequal probabilities."""
    has_influence = (
        measure.kind == "binary" and measure.has_influence and measure.weights != "none"
    )
    if has_influence and (
        measure.weights == "relative"
        or isinstance(measure, AveragePrecisionMeasure)
        or phi_of(measure) is not None
    ):
        return
    raise ValueError(
        f"{measure.name} of one list has no interval for weights='sampling': use a measure of"
        " shares that has an influence function, such as 'auc', 'partial_auc@fpr0.1',"
        " 'precision@top0.05', 'tpr@fpr0.1', 'ap' or 'bedroc@20', or report the value alone."
    )


def sampling_influence(measure: Measure, data: ScoredLists) -> ClassInfluence:
    """Influence of rows on a measure of the population that they were drawn from."""
    heaviest = float(data.counts.max())
    refuse_few_draws(data.counts[data.positive], heaviest, "positives")
    refuse_few_draws(data.counts[~data.positive], heaviest, "negatives")
    weight = data.counts / data.counts.min()
    data = replace(data, weight=weight)
    relative = weight / weight.max()
    n_draws = float(relative.sum() ** 2 / (relative @ relative))
    counted = replace(data, weight=whole_weights(weight), draws=n_draws)
    influence = influence_of(measure, counted, conditional=False)
    estimate = influence.estimate
    if measure.weights == "whole":
        # The ends are those of one item above all repetitions, and a drawn row is many of them.
        influence = replace(influence, ends=None)
    else:
        estimate = float(measure.values(data)[0])
    return replace(influence, estimate=estimate, counts=None, sampling_weight=weight)


# Number of items as which the rows of a list are counted, at most, and for each row.
MOST_ITEMS, MOST_PER_ROW = 2.0**21, 16.0


def whole_weights(weight: FloatArray) -> FloatArray:
    """Whole numbers in proportion to weights of at least 1, rounded unless all are whole."""
    whole, limit = np.rint(weight), max(MOST_ITEMS, MOST_PER_ROW * len(weight))
    if whole.sum() <= limit and np.all(np.abs(weight - whole) <= 1e-9 * weight):
        return whole
    return np.maximum(np.rint(weight * min(limit / weight.sum(), 1024.0)), 1.0)


def list_target(
    measure: Measure, influences: Sequence[ClassInfluence], groups: Sequence[Groups | None]
) -> str:
    """Describe the measure and the items."""
    texts = []
    for influence, dependent in zip(influences, groups, strict=True):
        text = f"{influence.n:.0f} items, {influence.n_pos:.0f} positive"
        if dependent is not None:
            text += f", in {np.count_nonzero(dependent.sizes())} groups"
        texts.append(text)
    return f"{measure.name} on {' and on '.join(texts)}"


# Variance per item, in squared ranges of the statistic, that is due to rounding.
ROUNDING_VARIANCE = 1e-28


@dataclass(frozen=True, eq=False)
class JointEstimate:
    """Statistics of several rankers on the same data, and their covariance."""

    estimates: FloatArray  # (n_rankers,)
    covariance: FloatArray
    regularized: FloatArray  # The covariance with added items
    length: float  # Length of the range of the statistic; may be infinite
    n_effective: float  # Effective number of items
    spread: Spread  # Degrees of freedom of the covariance


def joint_influence(
    influences: Sequence[ClassInfluence], *, conditional: bool, groups: Groups | None = None
) -> JointEstimate:
    """Estimate statistics of one list of two classes and their covariance."""
    if groups is not None:
        return _joint_groups([(influences, groups)], conditional=conditional)
    positive, counts = influences[0].positive, influences[0].counts
    n, k = influences[0].n, influences[0].n_pos
    ends = np.array([influence.class_ends() for influence in influences])
    parts = np.empty((2, len(influences), len(influences)))
    regularized = np.zeros_like(parts[0])
    for side, (in_class, size) in enumerate(((positive, k), (~positive, n - k))):
        rows = np.flatnonzero(in_class)
        values = np.empty((len(influences), len(rows)))
        for influence, row in zip(influences, values, strict=True):
            np.take(influence.values, rows, out=row)
        if counts is None:
            values -= values.mean(axis=1, keepdims=True)
            squares = values @ values.T
        else:
            values -= (values @ counts[rows] / size)[:, np.newaxis]
            squares = (values * counts[rows]) @ values.T
        parts[side] = squares / (size * (size - 1)) if size > 1 else np.nan
        total = size + 2.0 * PSEUDO_WEIGHT
        lengths = ends[:, side, 1] - ends[:, side, 0]
        regularized += (squares + np.diag(PSEUDO_WEIGHT * lengths**2 / 2.0)) / total**2
    covariance = parts.sum(axis=0)
    if not conditional:
        slopes = np.array([influence.label_slope for influence in influences])
        labels = np.outer(slopes, slopes) * (k / n) * (1.0 - k / n) / n
        covariance, regularized = covariance + labels, regularized + labels
    return JointEstimate(
        estimates=np.array([influence.estimate for influence in influences]),
        covariance=covariance,
        regularized=regularized,
        length=influences[0].length,
        n_effective=k * (n - k) / n,
        spread=Spread(parts, np.maximum([k - 1.0, n - k - 1.0], 1.0), np.eye(2)),
    )


def joint_samples(
    samples: Sequence[tuple[ClassInfluence, Groups | None]], *, conditional: bool
) -> JointEstimate:
    """Estimate a statistic of each of several samples of items."""
    grouped = [([influence], groups) for influence, groups in samples if groups is not None]
    if grouped:
        return _joint_groups(grouped, conditional=conditional)
    return joint_independent(
        [joint_influence([influence], conditional=conditional) for influence, _ in samples]
    )


def joint_independent(joints: Sequence[JointEstimate]) -> JointEstimate:
    """Join statistics of independent samples, one each."""
    n, n_parts = len(joints), len(joints[0].spread.degrees)
    parts = np.zeros((n_parts * n, n, n))
    for i, joint in enumerate(joints):
        parts[n_parts * i : n_parts * (i + 1), i, i] = joint.spread.covariances[:, 0, 0]
    return JointEstimate(
        estimates=np.concatenate([joint.estimates for joint in joints]),
        covariance=np.diag([float(joint.covariance[0, 0]) for joint in joints]),
        regularized=np.diag([float(joint.regularized[0, 0]) for joint in joints]),
        length=max(joint.length for joint in joints),
        n_effective=1.0 / sum(1.0 / joint.n_effective for joint in joints),
        spread=Spread(
            parts, np.concatenate([joint.spread.degrees for joint in joints]), np.eye(len(parts))
        ),
    )


def _joint_groups(
    samples: Sequence[tuple[Sequence[ClassInfluence], Groups]], *, conditional: bool
) -> JointEstimate:
    """Estimate the statistics of samples by the sums of the influence over groups."""
    n_statistics = sum(len(influences) for influences, _ in samples)
    n_groups = samples[0][1].n_groups
    parts, regularized = [], np.zeros((n_statistics, n_statistics))
    added, labels = np.zeros((2, n_statistics, n_groups))
    start = 0
    for influences, groups in samples:
        rows = slice(start, start + len(influences))
        start += len(influences)
        ends = np.array([influence.class_ends() for influence in influences])
        positive, weight = influences[0].positive, influences[0].sampling_weight
        for side, in_class in enumerate((positive, ~positive)):
            values = np.zeros((n_statistics, int(np.count_nonzero(in_class))))
            values[rows] = np.stack([influence.values[in_class] for influence in influences])
            of_class = None if weight is None else weight[in_class]
            part = GroupPart.of_rows(values, groups.only(in_class), of_class)
            parts.append(part)
            # Half a group of the mean size more at either end.
            total = part.worth + 2.0 * PSEUDO_WEIGHT
            added += part.sums * (part.worth / total)
            lengths = np.zeros(n_statistics)
            lengths[rows] = ends[:, side, 1] - ends[:, side, 0]
            regularized += np.diag(PSEUDO_WEIGHT * lengths**2 / 2.0 / total**2)
        if not conditional:
            slopes = np.array([influence.label_slope for influence in influences])
            labels[rows] = np.outer(slopes, label_sums(positive, weight, groups))
    sums, added = robust_sums(parts) + labels, added + labels
    return JointEstimate(
        estimates=np.array([x.estimate for influences, _ in samples for x in influences]),
        covariance=sums @ sums.T,
        regularized=regularized + added @ added.T,
        length=max(influences[0].length for influences, _ in samples),
        n_effective=1.0 / sum(1.0 / part.effective for part in parts),
        spread=Spread.of_groups(parts),
    )


def joint_query_means(
    values: FloatArray,
    length: float,
    groups: Groups | None = None,
    weight: FloatArray | None = None,
) -> JointEstimate:
    """Estimate means over queries and their covariance."""
    means, n = np.average(values, axis=1, weights=weight), float(values.shape[1])
    deviations = values - means[:, np.newaxis]
    squares = deviations @ deviations.T
    bound = length if isfinite(length) else float(np.ptp(values)) or 1.0
    ends = PSEUDO_WEIGHT * bound**2 / 2.0
    n_effective = n
    covariance, spread = squares / (n * (n - 1.0)), None
    if groups is not None or weight is not None:
        part = GroupPart.of_rows(values, groups or singleton_groups(values.shape[1]), weight)
        total, n = robust_sums([part]), part.worth
        squares = part.sums @ part.sums.T * n**2
        covariance, n_effective = total @ total.T, part.effective
        spread = Spread.of_groups([part])
    return JointEstimate(
        estimates=means,
        covariance=covariance,
        regularized=(squares + ends * np.eye(len(values))) / (n + 2.0 * PSEUDO_WEIGHT) ** 2,
        length=length,
        n_effective=n_effective,
        spread=spread or Spread(covariance[np.newaxis], np.array([n - 1.0]), np.eye(1)),
    )


def least_variance(difference: Any, length: float, n_effective: float) -> Any:
    """Find the variance of a difference below which it counts as unknown."""
    rounding = ROUNDING_VARIANCE * length**2 if isfinite(length) else 0.0
    # A mean of more than three standard deviations makes the estimated variance unreliable.
    return np.maximum(rounding, (difference / 3.0) ** 2) / n_effective


def never_certain_covariance(
    estimates: FloatArray, regularized: FloatArray, n_effective: float
) -> FloatArray:
    """Covariance for which every difference has a positive variance.

    For differences as :func:`nonzero_variance`: with the added items and the square of the mean.
    Shape (n_scorers, n_scorers).
    """
    deviations = estimates - estimates.mean()
    return np.asarray(regularized + np.outer(deviations, deviations) / n_effective)


def nonzero_variance(joint: JointEstimate, contrast: FloatArray, difference: float) -> float:
    """Variance of a difference, never zero."""
    variance = float(contrast @ joint.covariance @ contrast)
    if variance > least_variance(difference, joint.length, joint.n_effective):
        return variance
    return float(contrast @ joint.regularized @ contrast) + difference**2 / joint.n_effective


def influence_limits(
    influence: ClassInfluence,
    estimate: float,
    level: float,
    *,
    conditional: bool,
    groups: Groups | None = None,
) -> tuple[Limits, float]:
    """Limits for the effective number of Bernoulli draws of the influence, and the variance."""
    estimate = min(max(estimate, 0.0), 1.0)
    degrees = inf
    if groups is None:
        shift, variance = influence.regularized()
        variance += 0.0 if conditional else influence.label_variance()
    else:
        shift, variance, degrees = _of_groups(influence, groups, conditional=conditional)
    shrunken = min(max(estimate + shift, 0.0), 1.0)
    n_effective = shrunken * (1.0 - shrunken) / variance
    return safe_limits(estimate, n_effective, level, degrees), variance


def label_sums(positive: BoolArray, weight: FloatArray | None, groups: Groups) -> FloatArray:
    """Influence of the rows on the share of positives, summed by group. Shape (n_groups,)."""
    deviations = positive - np.average(positive, weights=weight)
    if weight is None:
        return groups.sums(deviations) / len(positive)
    return groups.sums(deviations * (weight / weight.sum()))


def _of_groups(
    influence: ClassInfluence, groups: Groups, *, conditional: bool
) -> tuple[float, float, float]:
    """Shift, variance and degrees of freedom with half a group added at either end."""
    positive, weight = influence.positive, influence.sampling_weight
    shift, variance, parts = 0.0, 0.0, []
    total = np.zeros(groups.n_groups)
    for in_class, ends in zip((positive, ~positive), influence.class_ends(), strict=True):
        values, of_class = influence.values[in_class], groups.only(in_class)
        weight_in_class = None if weight is None else weight[in_class]
        part = GroupPart.of_rows(values[np.newaxis], of_class, weight_in_class)
        parts.append(part)
        count = part.worth + 2.0 * PSEUDO_WEIGHT
        center = float(np.average(values, weights=weight_in_class))
        mean = (part.worth * center + PSEUDO_WEIGHT * sum(ends)) / count
        shift += mean - center
        # About the mean with the added groups, each of the mean size.
        total += part.sums[0] * (part.worth / count)
        squares = (center - mean) ** 2 * float(part.share @ part.share) * part.worth**2
        variance += (squares + PSEUDO_WEIGHT * sum((end - mean) ** 2 for end in ends)) / count**2
    if not conditional:
        total += influence.label_slope * label_sums(positive, weight, groups)
    variance += float(total @ total)
    return shift, variance, Spread.of_groups(parts).of(np.ones(1))


def list_interval(
    measure: Measure, influence: ClassInfluence, level: float, groups: Groups | None = None
) -> Interval:
    """Interval for a measure of one list of two classes, labels fixed unless rows were drawn."""
    sampled = influence.sampling_weight is not None
    if isfinite(influence.length):
        origin, length = influence.range[0], influence.length
        share = influence.scaled(origin, length)
        limits, variance = influence_limits(
            share, share.estimate - share.bias, level, conditional=not sampled, groups=groups
        )
        # The bias is subtracted from the limits only, and the interval contains the estimate.
        low = origin + length * min(limits[0], share.estimate)
        high = origin + length * max(limits[1], share.estimate)
        error = length * float(np.sqrt(variance))
    else:
        joint = joint_influence([influence], conditional=not sampled, groups=groups)
        error = float(np.sqrt(nonzero_variance(joint, np.ones(1), 0.0)))
        if not error > 0.0:
            raise ValueError(
                f"{measure.name} has no known range and the same influence value for all items, so"
                " its variance cannot be estimated: pass range= to make_measure."
            )
        degrees = joint.spread.of(np.ones(1))
        half = error * (two_sided_quantile(level, degrees if groups else np.inf))
        low, high = (
            float(np.clip(influence.estimate + side * half, *influence.range))
            for side in (-1.0, 1.0)
        )
    # What does not move with the share of positives is at no share of them.
    where = (
        f"at {influence.n_pos} positives of {influence.n}"
        if influence.label_slope and not sampled
        else "of the population"
    )
    target = f"{measure.name} {where}"
    return Interval(influence.estimate, low, high, level, "influence", target, error)
