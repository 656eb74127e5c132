"""Interval for measures of one list by the influence of its items, for one ranker or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..metrics import Measure
from ..metrics._shared import PSEUDO_WEIGHT, ClassInfluence
from ._limits import influence_limits, label_sums, two_sided_quantile
from ._results import Interval
from ._samples import GroupPart, Groups, Spread, each_alone, robust_sums

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
        part = GroupPart.of_rows(values, groups or each_alone(values.shape[1]), weight)
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


def nonzero_variance(
    variance: float, regularized: float, difference: float, *, length: float, n_effective: float
) -> tuple[float, bool]:
    """Variance of a difference, never zero."""
    if variance > least_variance(difference, length, n_effective):
        return variance, False
    return regularized + difference**2 / n_effective, True


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
        variance, _ = nonzero_variance(
            float(joint.covariance[0, 0]),
            float(joint.regularized[0, 0]),
            0.0,
            length=influence.length,
            n_effective=joint.n_effective,
        )
        error = float(np.sqrt(variance))
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
