"""Limits of one statistic, from what a method needs to know of a sample.

Each class holds the moments that one method of limits rests on. It gives the standard error, the
limits at each level, and the same of a sample of another size: an interval, the values of a
comparison, a fold and a plan read the same object.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil, hypot, inf, isfinite, isnan, nan, pi, sqrt
from typing import Any, Self

import numpy as np
from scipy.special import bdtrik, exprel, ndtri

from .._printed import ROUNDING
from .._typing import FloatArray
from ..metrics._shared import (
    ABSOLUTE_VARIANCE,
    ClassInfluence,
    Groups,
    RateCurve,
    independent_units,
    with_half_more,
)
from ._joint import GroupPart, Joint, joint_influence, unseen_shares, unseen_weights
from ._limits import (
    Limits,
    limits_of_mean,
    midp_limits,
    safe_limits,
    share_limits,
    two_sided_quantile,
    wilson_limits,
)
from ._results import Interval


@dataclass(frozen=True, eq=False, kw_only=True)
class Moments(ABC):
    """Estimate of a statistic, its standard error, and its limits."""

    estimate: float
    error: float | None  # Standard error; None if it is not known
    method: str
    target: str = ""
    bias: float | None = None  # What the limits are corrected for, where a result reports it

    @abstractmethod
    def limits(self, level: float) -> Limits:
        """Lower and upper limit at a level."""

    @abstractmethod
    def resized(self, sizes: Any, factor: float = 1.0) -> Self:
        """The same of other numbers of units of each class, and a factor of their variance."""

    def interval(self, level: float) -> Interval:
        low, high = self.limits(level)
        found: Any = level, self.method, self.target, self.error, self.bias
        return Interval(self.estimate, low, high, *found)

    def at(self, value: float) -> Self:
        """The same about another value of the statistic."""
        return replace(self, estimate=value)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassMoments(Moments):
    """A sum of means over classes of independent units: the influence of items, or of groups.

    The limits are Wilson's, or exact ones where these are wider, for so many Bernoulli draws as
    vary as much within the range, with half a unit more at the end of each class that is on the
    side of the limit. What these add counts as many times as groups vary more than independent
    units. Without a range they are Student's.
    """

    method: str = "influence"
    share: float  # The statistic on the scale from 0 to 1, as all below, in units of ``length``
    length: float  # Length of the range in which the statistic moves; may be infinite
    sizes: FloatArray  # (n_classes,): Numbers of units of equal weight
    means: FloatArray  # (n_classes,): Mean influence
    squares: FloatArray  # (n_classes,): Sums of the squared deviations from it
    ends: FloatArray  # (n_classes, 2): Influence at the bottom and at the top
    whole: Limits  # The range in units of the measure
    allowed: Limits = (-inf, inf)  # Least and largest value where labels are random
    exponent: float = 1.0  # The measure is the statistic to this power
    effect: float = 1.0  # How many times groups vary as much as independent units
    degrees: float = inf
    shift: float = 0.0  # Estimated bias
    # (2,): By how much the estimate may be too large where the share of positives jumps at a
    # threshold, two alternatives
    jump_bias: FloatArray = field(default_factory=lambda: np.zeros(2))
    jump_variance: float = 0.0  # Of it, beyond that with fixed labels
    slope_variance: float = 0.0  # Of the estimated slopes at thresholds
    label_variance: float = 0.0  # Of the measure, by the random share of positives
    # Distances of limits, at least, by rows that a sample of unequal weights may lack: to either
    # side, and by the share of positives
    unseen: Limits = (0.0, 0.0)
    unseen_labels: float = 0.0

    @classmethod
    def of(
        cls,
        influence: ClassInfluence,
        groups: Groups | None = None,
        *,
        conditional: bool = True,
        whole: Limits | None = None,
        **more: Any,
    ) -> ClassMoments:
        """Moments of the influence of units; ``whole`` is the range that the bias is not of."""
        conditional = conditional and influence.sampling_weight is None
        joint = joint_influence([influence], conditional=conditional, groups=groups)
        length, error = influence.length, float(joint.errors[0])
        if groups is None and influence.sampling_weight is None:
            degrees = inf if influence.positive is not None else influence.n - 1.0
            if influence.ends is None and degrees < inf:  # the largest of a sample are no ends
                degrees = float(joint.standard_errors(np.ones((1, 1)))[1][0])
        else:
            _, most = independent_units(joint.groups, joint.times)  # type: ignore[arg-type]
            degrees = min(joint.spread.of(np.ones(1)), float(np.min(most)))
        origin, unit = (influence.range[0], length) if isfinite(length) else (0.0, 1.0)
        sizes, means, squares, effect = _of_classes(influence, groups, joint)
        if influence.exponent != 1.0 and not influence.estimate:
            error = nan  # The slope at 0 is infinite.
        ends, unseen, unseen_labels = influence.class_ends() / unit, (0.0, 0.0), 0.0
        weight, label_variance = influence.sampling_weight, 0.0
        if weight is not None and influence.positive is not None and isfinite(length):
            gaps = np.abs(ends - means[:, np.newaxis] / unit)
            down, up = (unseen_shares(influence) @ gaps).tolist()
            unseen, slope = (down, up), abs(influence.label_slope) / float(weight.sum())
            unseen_labels = slope * float(unseen_weights(influence).max())
            # Half of one more row of the largest weight at either end.
            label_variance = (slope * float(weight.max()) / 2.0) ** 2
        if not conditional:
            fixed = joint_influence([influence], groups=groups)
            label_variance += max(float((joint.regularized - fixed.regularized)[0, 0]), 0.0)
        fixed_bias, jump_bias = influence.jump_bias[[0, 0 if conditional else 1]] / unit
        jump_bias = jump_bias * sqrt(max(effect, 1.0))
        jump_variance = ABSOLUTE_VARIANCE * float((jump_bias**2 - fixed_bias**2).max())
        excess = influence.excess * sqrt(max(effect, 1.0))
        return cls(
            estimate=influence.linear.estimate,
            error=None if isnan(error) else error,
            share=(influence.estimate - origin) / unit,
            length=length,
            sizes=sizes,
            means=means / unit,
            squares=squares / unit**2,
            ends=ends,
            whole=influence.range if whole is None else whole,
            exponent=influence.exponent,
            effect=effect,
            degrees=degrees,
            shift=(influence.bias + excess) / unit,
            jump_bias=jump_bias,
            jump_variance=jump_variance,
            slope_variance=(influence.slope_variance + excess**2) / unit**2,
            label_variance=label_variance,
            unseen=unseen,
            unseen_labels=unseen_labels,
            **more,
        )

    def limits(self, level: float) -> Limits:
        value = self.estimate
        if not isfinite(self.length):
            half = (self.error or 0.0) * two_sided_quantile(level, self.degrees)
            low, high = np.clip([value - half, value + half], *self.whole).tolist()
            return low, high
        # Whether there is a jump is uncertain: with its bias, and without.
        values = np.clip(self.share - self.shift - np.append(0.0, self.jump_bias), 0.0, 1.0)
        seen, n_effective = self.squares / self.sizes**2, []
        for end in (self.ends.min(axis=1), self.ends.max(axis=1)):
            # Units that the sample lacks at one end are beyond the limit of that side.
            ends = np.stack([end, end], axis=1)
            count, centers, squares = with_half_more(
                self.sizes, self.means, self.squares, ends, 0.5
            )
            unseen = float((squares / count**2 - seen).sum())
            variance = self.effect * float(seen.sum()) + max(self.effect, 1.0) * unseen
            variance += self.slope_variance + self.jump_variance
            shrunken = np.clip(values + float((centers - self.means).sum()), 0.0, 1.0)
            n_effective.append(shrunken * (1.0 - shrunken) / max(variance, ROUNDING))
        found = share_limits(values, np.stack(n_effective), level, self.degrees)
        lows, highs = found[0][0], found[1][1]
        # The interval contains the estimate even if the bias is more than half the width.
        origin, length = self.whole[0], self.whole[1] - self.whole[0]
        farthest = np.clip([self.share - self.unseen[0], self.share + self.unseen[1]], 0.0, 1.0)
        low = origin + length * min(float(lows.min()), float(farthest[0]))
        high = origin + length * max(float(highs.max()), float(farthest[1]))
        low, *_, high = sorted((low**self.exponent, value, high**self.exponent))
        half = two_sided_quantile(level, self.degrees) * sqrt(self.label_variance)
        half = max(half, self.unseen_labels)
        return with_random_labels(value, (low, high), half, self.allowed)

    def with_student(self) -> ClassMoments:
        """With Student's quantile for independent units, by Satterthwaite's degrees of freedom."""
        degrees = np.maximum(self.sizes - 1.0, 1.0)
        parts = self.squares / self.sizes / degrees
        total = float(parts.sum())
        of_all = total**2 / float((parts**2 / degrees).sum()) if total else float(degrees.min())
        return replace(self, degrees=of_all)

    def at(self, value: float) -> ClassMoments:
        share = value ** (1.0 / self.exponent) - self.whole[0]
        return replace(self, estimate=value, share=share / (self.whole[1] - self.whole[0]))

    def resized(self, sizes: Any, factor: float = 1.0) -> ClassMoments:
        sizes = np.asarray(sizes, dtype=np.float64)
        ratio = float(self.sizes.sum() / sizes.sum())
        return replace(
            self,
            error=None if self.error is None else self.error * sqrt(ratio * factor),
            sizes=sizes,
            squares=factor * self.squares * (sizes - 1.0) / np.maximum(self.sizes - 1.0, 1.0),
            degrees=max(self.degrees / ratio, 1.0),
            shift=self.shift * ratio,
            jump_bias=self.jump_bias * sqrt(ratio),
            jump_variance=self.jump_variance * ratio,
            slope_variance=self.slope_variance * ratio**1.5,
            label_variance=self.label_variance * ratio,
        )


def with_random_labels(value: float, limits: Limits, half: float, allowed: Limits) -> Limits:
    """Add what other shares of positives do, normal limits of which are half a width away.

    On the scale of logarithms. The distances are added in squares: given the labels the errors are
    not correlated (Zou & Donner 2008).
    """
    low, high = limits
    if half:
        relative = half / value if value > half else 0.0
        down, up = (half * exprel([-relative, relative])).tolist()
        low, high = value - hypot(value - low, down), value + hypot(high - value, up)
    return min(max(low, allowed[0]), value), max(min(high, allowed[1]), value)


def _of_classes(
    influence: ClassInfluence, groups: Groups | None, joint: Joint
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Numbers of units of each class, their mean, sums of squares, and the effect of groups."""
    weight, n = influence.sampling_weight, len(influence.values)
    if groups is None and weight is None:
        sizes, means = np.array(influence.sizes, dtype=np.float64), np.array(influence.means)
        if influence.exponent != 1.0:  # of which the joint distribution is that of the power
            return sizes, means, np.array(influence.squares(influence.means)), 1.0
        variances = np.array([float(kind.products[0, 0]) for kind in joint.kinds[: len(sizes)]])
        return sizes, means, variances * sizes * np.maximum(sizes - 1.0, 1.0), 1.0
    groups, found, parts = groups or Groups(np.arange(n), n), [], []
    length = influence.length if isfinite(influence.length) else 0.0
    for rows in influence.classes:
        values = influence.values[rows]
        of_class = None if weight is None else weight[rows]
        part = GroupPart.of_rows(values[np.newaxis], groups.only(rows), of_class, length)
        size, mean = 1.0 / part.row_share, np.average(values, weights=of_class)
        found.append((size, float(mean), float(part.row_squares[0]) * size**2))
        parts.append(part)
    sizes, means, squares = np.array(found).T
    total = np.sum([part.sums[0] for part in parts], axis=0)
    total, _ = independent_units(total, groups.times)
    effect = n / min(part.count for part in parts)
    if (independent := float((squares / sizes**2).sum())) > 0.0:
        effect = float(total @ total) / independent
    return sizes, means, squares, effect


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanMoments(Moments):
    """A mean of values of queries from a range, whose limits are those of as many draws."""

    method: str = "wilson"
    n: float  # Number of values
    range: Limits
    variance: float  # Of the mean, as the values show it
    excess: float = 0.0  # Of their kurtosis over 2: by it values count that the sample lacks
    effective: float  # Number of values, or of groups of equal size, that vary as much
    units: float  # Number of values that move the mean as one
    degrees: float
    are_shares: bool = False  # Whether the variance of values at the ends follows from their mean
    of_labels: float = 0.0  # Variance by labels that are not known

    def limits(self, level: float) -> Limits:
        low, high = self.range
        length, mean = high - low, min(max(self.estimate, low), high)
        if not isfinite(length):
            return self.student_limits(level)
        degrees = inf if self.are_shares else self.degrees
        share, weight = (mean - low) / length, self.excess / self.effective
        found = limits_of_mean(
            share, self.variance / length**2, weight, self.units, level, degrees
        )
        # Deviations by labels do not end where the range does.
        half = two_sided_quantile(level, degrees) * sqrt(self.of_labels)
        below, above = (hypot(low + length * limit - mean, half) for limit in found)
        return max(mean - below, low), min(mean + above, high)

    def student_limits(self, level: float) -> Limits:
        if self.error is None:
            return self.range
        half = two_sided_quantile(level, self.degrees) * self.error
        low, high = np.clip([self.estimate - half, self.estimate + half], *self.range).tolist()
        return low, high

    def resized(self, sizes: Any, factor: float = 1.0) -> MeanMoments:
        ratio = self.n / float(np.sum(sizes))
        effective = self.effective / ratio
        return replace(
            self,
            error=None if self.error is None else self.error * sqrt(ratio * factor),
            n=self.n / ratio,
            variance=self.variance * ratio * factor,
            effective=effective,
            units=self.units / ratio,
            degrees=max((self.degrees + 1.0) / ratio - 1.0, 1.0),
            of_labels=self.of_labels * ratio,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TopMoments(Moments):
    """The precision in the top share of the population, whose threshold is one of the sample."""

    method: str = "influence"
    tau: float
    top: float  # Number of items in the top
    eta: float  # Probability that an item at the threshold is positive
    jump: float = 0.0  # By how much it falls there
    n_effective: float | None = None  # Of groups: independent draws that vary as much
    degrees: float = inf

    def limits(self, level: float) -> Limits:
        if self.n_effective is not None:
            return wilson_limits(self.estimate, self.n_effective, level, self.degrees)
        return top_limits(self.estimate, self.eta, self.top, self.tau, level, self.jump)

    def resized(self, sizes: Any, factor: float = 1.0) -> TopMoments:
        top = max(int(self.tau * float(np.sum(sizes)) + 0.5), 1)
        ratio, draws = self.top / top, self.n_effective
        return replace(
            self,
            error=None if self.error is None else self.error * sqrt(ratio * factor),
            top=top / factor,
            n_effective=None if draws is None else draws / (ratio * factor),
            degrees=max(self.degrees / ratio, 1.0),
        )


def top_limits(
    estimate: float, eta: float, top: float, tau: float, level: float, jump: float = 0.0
) -> Limits:
    """Return score limits for the precision at the top, or exact ones where they are farther out.

    The score limits are the p with ``top (estimate - p)**2 <= z**2 (p (1 - p) + (1 - tau) (p -
    eta)**2)``: the variance is that of the candidate precision, not of the observed one. Where the
    share of positives jumps at the threshold, the estimate may have its bias, or not.
    """
    c = float(ndtri((1.0 + level) / 2.0)) ** 2 / top
    # (estimate - p)^2 - c (p - p^2 + (1 - tau) (p - eta)^2) = square p^2 - 2 half p + constant.
    square = 1.0 + c * tau
    half = estimate + c / 2.0 - c * (1.0 - tau) * eta
    constant = estimate**2 - c * (1.0 - tau) * eta**2
    root = float(np.sqrt(max(half**2 - square * constant, 0.0)))
    score = max((half - root) / square, 0.0), min((half + root) / square, 1.0)

    n_effective = top_variance(estimate, eta, top, tau)[1]
    low, high = map(float, midp_limits(estimate, n_effective, level))
    low, high = min(score[0], low), max(score[1], high)
    if jump:
        unbiased = min(max(estimate + jump * sqrt((1.0 - tau) / (2.0 * pi * top)), 0.0), 1.0)
        others = top_limits(unbiased, eta, top, tau, level)
        low, high = min(low, others[0]), max(high, others[1])
    return low, high


def top_variance(estimate: float, eta: float, top: float, tau: float) -> tuple[float, float]:
    """Variance of the precision with half an item more at either end, and draws that vary so."""
    shrunken = float(with_half_more(top, estimate, 0.0, (0.0, 1.0))[1])
    binomial = shrunken * (1.0 - shrunken)
    variance = (binomial + (1.0 - tau) * (shrunken - eta) ** 2) / top
    return variance, binomial / variance


@dataclass(frozen=True, eq=False, kw_only=True)
class RateMoments(Moments):
    """The rate of one class at a rate of the other, a quantile of which is the threshold.

    The limits join those of the threshold and of the rate beyond it (Zou & Donner 2008).
    """

    method: str = "order statistics"
    curve: RateCurve
    n_ones: float  # Number of items of the class whose rate it is
    n_others: float
    measure_at: Callable[[float], float]  # The measure at a rate, in which it is monotone
    label_variance: float = 0.0  # Of the measure, by the random share of positives

    def limits(self, level: float) -> Limits:
        tail, curve = (1.0 - level) / 2.0, self.curve
        k, m = curve.upto[:, -1].tolist()
        estimate = curve.before(curve.threshold) / k
        # Quantiles of a binomial number of the others before the threshold of the population.
        n, unit = self.n_others, m / self.n_others
        least = ceil(bdtrik(tail, n, curve.rate)) * unit
        largest = (n + 1.0 - ceil(bdtrik(tail, n, 1.0 - curve.rate))) * unit
        chance = safe_limits(estimate, self.n_ones, level)
        low = estimate - hypot(estimate - curve.before(least) / k, estimate - chance[0])
        high = estimate + hypot(curve.before(largest) / k - estimate, chance[1] - estimate)
        rates = max(low, 0.0), min(high, 1.0)
        rates = rates if curve.of_positives else (1.0 - rates[1], 1.0 - rates[0])
        value = self.estimate
        low, *_, high = sorted((value, *map(self.measure_at, rates)))
        half = two_sided_quantile(level) * sqrt(self.label_variance)
        return with_random_labels(value, (low, high), half, (0.0, 1.0))

    def resized(self, sizes: Any, factor: float = 1.0) -> RateMoments:
        ones, others = sizes if self.curve.of_positives else sizes[::-1]
        # Numbers of items that vary as much; binomial ones are whole.
        ratio = (self.n_ones + self.n_others) / (ones + others)
        return replace(
            self,
            n_ones=ones / factor,
            n_others=max(round(others / factor), 1.0),
            label_variance=self.label_variance * ratio,
        )
