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

# If the mean of the differences exceeds this many standard deviations, their variance is not a
# reliable estimate.
LARGEST_MEAN = 3.0


@dataclass(frozen=True, eq=False)
class JointEstimate:
    """Statistics of several scorers on the same data, and how they vary together."""

    estimates: FloatArray  # (n_scorers,)
    covariance: FloatArray
    regularized: FloatArray
    length: float  # Length of the range of the statistic; may be infinite
    n_effective: float  # Number of items that the statistics are worth
    spread: Spread  # How well the covariance is known


def joint_influence(
    found: Sequence[ClassInfluence], *, conditional: bool, groups: Groups | None = None
) -> JointEstimate:
    """Estimate statistics of one list of two classes and their covariance."""
    if groups is not None:
        return _joint_groups([(found, groups)], conditional=conditional)
    n, k, counts = found[0].n, found[0].n_pos, found[0].counts
    ends = np.array([one.class_ends() for one in found])
    parts = np.empty((2, len(found), len(found)))
    regularized = np.zeros_like(parts[0])
    for side, (in_class, size) in enumerate(((found[0].positive, k), (~found[0].positive, n - k))):
        rows = np.flatnonzero(in_class)
        values = np.empty((len(found), len(rows)))
        for one, row in zip(found, values, strict=True):
            np.take(one.values, rows, out=row)
        if counts is None:
            values -= values.mean(axis=1, keepdims=True)
            squares = values @ values.T
        else:
            values -= (values @ counts[rows] / size)[:, np.newaxis]
            squares = (values * counts[rows]) @ values.T
        parts[side] = squares / (size * (size - 1)) if size > 1 else np.nan
        total = size + 2.0 * PSEUDO_WEIGHT
        apart = ends[:, side, 1] - ends[:, side, 0]
        regularized += (squares + np.diag(PSEUDO_WEIGHT * apart**2 / 2.0)) / total**2
    covariance = parts.sum(axis=0)
    if not conditional:
        slopes = np.array([one.label_slope for one in found])
        labels = np.outer(slopes, slopes) * (k / n) * (1.0 - k / n) / n
        covariance, regularized = covariance + labels, regularized + labels
    return JointEstimate(
        estimates=np.array([one.estimate for one in found]),
        covariance=covariance,
        regularized=regularized,
        length=found[0].length,
        n_effective=k * (n - k) / n,
        spread=Spread(parts, np.maximum([k - 1.0, n - k - 1.0], 1.0), np.eye(2)),
    )


def joint_samples(
    samples: Sequence[tuple[ClassInfluence, Groups | None]], *, conditional: bool
) -> JointEstimate:
    """Estimate a statistic of each of several samples of items."""
    grouped = [([one], groups) for one, groups in samples if groups is not None]
    if grouped:
        return _joint_groups(grouped, conditional=conditional)
    return _independent([joint_influence([one], conditional=conditional) for one, _ in samples])


def joint_query_samples(
    samples: Sequence[tuple[FloatArray, Groups | None, FloatArray | None]], length: float
) -> JointEstimate:
    """Estimate means over queries of several independent samples of queries."""
    return _independent(
        [
            joint_query_means(values[np.newaxis], length, groups, weight)
            for values, groups, weight in samples
        ]
    )


def _independent(joints: Sequence[JointEstimate]) -> JointEstimate:
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
    n_statistics = sum(len(found) for found, _ in samples)
    n_groups = samples[0][1].n_groups
    parts, regularized = [], np.zeros((n_statistics, n_statistics))
    added, labels = np.zeros((2, n_statistics, n_groups))
    start = 0
    for found, groups in samples:
        rows = slice(start, start + len(found))
        start += len(found)
        ends = np.array([one.class_ends() for one in found])
        positive, weight = found[0].positive, found[0].sampling_weight
        for side, in_class in enumerate((positive, ~positive)):
            values = np.zeros((n_statistics, int(np.count_nonzero(in_class))))
            values[rows] = np.stack([one.values[in_class] for one in found])
            own = None if weight is None else weight[in_class]
            part = GroupPart.of_rows(values, groups.only(in_class), own)
            parts.append(part)
            # Half a group of the mean size more at either end.
            added += part.sums * (part.worth / (part.worth + 2.0 * PSEUDO_WEIGHT))
            apart = np.zeros(n_statistics)
            apart[rows] = ends[:, side, 1] - ends[:, side, 0]
            regularized += np.diag(
                PSEUDO_WEIGHT * apart**2 / 2.0 / (part.worth + 2.0 * PSEUDO_WEIGHT) ** 2
            )
        if not conditional:
            slopes = np.array([one.label_slope for one in found])
            labels[rows] = np.outer(slopes, label_sums(positive, weight, groups))
    total, added = robust_sums(parts) + labels, added + labels
    return JointEstimate(
        estimates=np.array([one.estimate for found, _ in samples for one in found]),
        covariance=total @ total.T,
        regularized=regularized + added @ added.T,
        length=max(found[0].length for found, _ in samples),
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
    apart = values - means[:, np.newaxis]
    squares = apart @ apart.T
    reach = length if isfinite(length) else float(np.ptp(values)) or 1.0
    ends = PSEUDO_WEIGHT * reach**2 / 2.0
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
    return np.maximum(rounding, (difference / LARGEST_MEAN) ** 2) / n_effective


def never_certain_covariance(
    estimates: FloatArray, regularized: FloatArray, n_effective: float
) -> FloatArray:
    """Covariance for which every difference has a positive variance.

    For differences as :func:`nonzero_variance`: with the added items and the square of the mean.
    Shape (n_scorers, n_scorers).
    """
    apart = estimates - estimates.mean()
    return np.asarray(regularized + np.outer(apart, apart) / n_effective)


def nonzero_variance(
    variance: float, regularized: float, difference: float, *, length: float, n_effective: float
) -> tuple[float, bool]:
    """Variance of a difference, never zero."""
    if variance > least_variance(difference, length, n_effective):
        return variance, False
    return regularized + difference**2 / n_effective, True


def list_interval(
    measure: Measure, found: ClassInfluence, level: float, groups: Groups | None = None
) -> Interval:
    """Interval for a measure of one list of two classes, labels fixed unless rows were drawn."""
    sampled = found.sampling_weight is not None
    if isfinite(found.length):
        origin, length = found.range[0], found.length
        share = found.scaled(origin, length)
        limits, variance = influence_limits(
            share, share.estimate - share.bias, level, conditional=not sampled, groups=groups
        )
        # The bias is subtracted from the limits only, and the interval contains the estimate.
        low = origin + length * min(limits[0], share.estimate)
        high = origin + length * max(limits[1], share.estimate)
        error = length * float(np.sqrt(variance))
    else:
        joint = joint_influence([found], conditional=not sampled, groups=groups)
        variance, _ = nonzero_variance(
            float(joint.covariance[0, 0]),
            float(joint.regularized[0, 0]),
            0.0,
            length=found.length,
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
            float(np.clip(found.estimate + side * half, *found.range)) for side in (-1.0, 1.0)
        )
    # What does not move with the share of positives is at no share of them.
    where = (
        f"at {found.n_pos} positives of {found.n}"
        if found.label_slope and not sampled
        else "of the population"
    )
    return Interval(
        estimate=found.estimate,
        low=low,
        high=high,
        level=level,
        method="influence",
        target=f"{measure.name} {where}",
        standard_error=error,
    )
