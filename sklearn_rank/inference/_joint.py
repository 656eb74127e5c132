"""The joint distribution of the errors of several statistics: what all questions read.

Queries, groups, folds, weights and labels in part each supply a ``Joint``; a comparison, a search,
a sequence and a plan ask it for the variance of a contrast, its degrees of freedom and the limits
of single statistics.

The variance of a difference is estimated by a sum of squares over independent units. Where few of
them carry it, other samples hold more or fewer such units, and the estimate varies as much: it is
small where these are lacking, which is where the difference errs. Two terms allow for that: the
variance that the sample may lack, and the degrees of freedom. Both follow from the sum of fourth
powers, and are those of a normal mean where the units are normal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import expm1, inf, isfinite, log, nan
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._printed import ROUNDING
from .._typing import BoolArray, FloatArray
from ..bounds._shared import TINY
from ..metrics._shared import (
    ClassInfluence,
    Groups,
    independent_units,
    singleton_groups,
    with_half_more,
)
from ._discordant import Pairs
from ._limits import Limits


@dataclass(frozen=True, eq=False)
class GroupPart:
    """Contribution of the rows of one class of one sample to statistics, group by group."""

    sums: FloatArray  # (n_statistics, n_groups): Sums of the deviations from the mean
    sizes: FloatArray  # (n_groups,): Number of rows of the part in each group, or their weight
    sampled: bool = False  # Whether sizes are sums of inverse probabilities
    row_squares: Any = None  # (n_statistics,): Sums of squares over the rows
    row_share: float = nan  # Mean share of a row, weighted by itself
    times: BoolArray | None = None  # (n_groups,): Which groups are times that depend on each other

    @cached_property
    def share(self) -> FloatArray:
        return self.sizes / self.sizes.sum()

    @cached_property
    def count(self) -> int:
        return int(np.count_nonzero(self.sizes))

    @cached_property
    def n_equal(self) -> float:
        """Number of groups of equal probability."""
        if not self.sampled:
            return float(self.count)
        return float(self.sizes.sum() ** 2 / (self.sizes**2).sum())

    @cached_property
    def effective(self) -> float:
        """Number of groups of equal size whose variance is known as well."""
        squares = self.sizes**2
        return float(squares.sum() ** 2 / (squares**2).sum())

    @property
    def degrees(self) -> float:
        found = float(np.min(independent_units(self.sums, self.times)[1]))
        return max(min(self.effective - 1.0, found), 1.0)

    @classmethod
    def of_rows(
        cls,
        values: FloatArray,
        groups: Groups,
        weight: FloatArray | None = None,
        lengths: Any = 0.0,  # (n_statistics,): Lengths of the ranges of the values, if known
    ) -> GroupPart:
        share: Any = 1.0 / values.shape[1] if weight is None else weight / weight.sum()
        means = np.average(values, axis=1, weights=weight)[:, np.newaxis]
        # What is rounding would else count as all that varies.
        scale = np.maximum(np.abs(values).max(axis=1), lengths)[:, np.newaxis]
        deviations = np.where(np.abs(values - means) > ROUNDING * scale, values - means, 0.0)
        deviations *= share
        if weight is None:
            sizes, row_share = groups.sizes(), share
        else:
            sizes, row_share = groups.sums(weight / weight.max()), float(share @ share)
        row_squares = np.einsum("ij,ij->i", deviations, deviations)
        sampled = weight is not None
        of_rows: Any = sampled, row_squares, row_share, groups.times
        return cls(groups.moved(deviations), sizes, *of_rows)

    def moved_together(self, lengths: FloatArray) -> FloatArray:
        """By how much a group moves statistics if one of its rows goes from an end to the other.

        Of its other rows so many move with it as the sums of groups vary more than those of
        independent rows: from none to all. Shape (n_statistics,).
        """
        group = float(self.share @ self.share)
        of_groups = np.einsum("ij,ij->i", self.sums, self.sums)
        varied = self.row_squares > ROUNDING**2 * self.row_share * lengths**2
        together = np.full(len(lengths), inf)
        np.divide(self.row_share * of_groups, self.row_squares, out=together, where=varied)
        return lengths * np.minimum(np.maximum(together, self.row_share), group)

    def draws_of_share(self, share: float) -> tuple[float, float]:
        """Effective number of draws of a share, and its variance.

        Half a group is added at either end.
        """
        units, _ = independent_units(self.sums, self.times)
        squares = self.effective**2 * float(np.sum(units**2))
        count, shrunken, squares = with_half_more(self.effective, share, squares, (0.0, 1.0))
        variance = float(squares) / count**2
        return float(shrunken * (1.0 - shrunken)) / variance, variance

    @cached_property
    def corrected(self) -> FloatArray:
        """Correct for the mean that was estimated from the same groups.

        The sums over ``sqrt(1 - share)``; NaN for a group that holds all rows. Shape
        (n_statistics, n_groups).
        """
        left = np.where(self.share < 1.0, 1.0 - self.share, np.nan)
        return self.sums / np.sqrt(left)

    @property
    def variance(self) -> float:
        """Variance of the only statistic."""
        return float(np.sum(independent_units(self.corrected, self.times)[0] ** 2))


def robust_sums(parts: Sequence[GroupPart]) -> FloatArray:
    """Sum the parts by group, each corrected for the mean that was estimated from the same groups.

    A sum is divided by ``sqrt(1 - share)``: without bias where rows are independent, and then the
    sample variance over the number of rows (Bell & McCaffrey 2002, CR2 with the classes as
    regressors).
    """
    return reduce(np.add, [part.corrected for part in parts])


@dataclass(frozen=True, eq=False)
class Spread:
    """Independent parts of a covariance, with the degrees of freedom of each."""

    covariances: FloatArray  # (n_parts, n_statistics, n_statistics)
    degrees: FloatArray  # (n_parts,): Degrees of freedom of each, at least 1
    overlap: FloatArray  # (n_parts, n_parts): How far parts are in the same groups, 1 for itself

    @classmethod
    def of_groups(cls, parts: Sequence[GroupPart]) -> Spread:
        profile = np.stack([part.share**2 for part in parts])
        profile /= np.sqrt((profile**2).sum(axis=1, keepdims=True))
        sums = [part.corrected for part in parts]
        degrees = np.array([max(part.effective - 1.0, 1.0) for part in parts])
        return cls(np.stack([x @ x.T for x in sums]), degrees, profile @ profile.T)

    def of(self, contrasts: FloatArray) -> float:
        """Degrees of freedom of the variance of a contrast, the least of several."""
        contrasts = np.atleast_2d(contrasts)
        variances = np.stack(
            [np.einsum("mi,mi->m", contrasts @ part, contrasts) for part in self.covariances]
        )
        # Rounding may leave a variance just below 0.
        variances = np.maximum(variances, 0.0)
        if not np.isfinite(variances).all() or not variances.any(axis=0).all():
            return float(self.degrees.min())
        weight = variances / variances.sum(axis=0)
        weight /= np.sqrt(self.degrees)[:, np.newaxis]
        return float(1.0 / np.einsum("pm,pm->m", self.overlap @ weight, weight).max())


@dataclass(frozen=True, eq=False)
class Units:
    """Independent units of one kind, such as the positives, and how they move statistics."""

    values: FloatArray  # (n_statistics, n_rows): By how much each moves it; the mean is 0
    products: FloatArray  # (n_statistics, n_statistics): Sums of products over the units
    n: float  # Number of units
    span: FloatArray  # (n_statistics,): By how much one does from the bottom to the top
    counts: FloatArray | None = None  # (n_rows,): Number of units alike; None is one
    first: int = 0  # Number of the first statistic that these units move
    ranked: bool = False  # Whether they are items of a class, which rankers order
    least: Any = 0.0  # (n_statistics,): Distance of limits, at least, by units that are unseen

    def moments(self, contrast: FloatArray) -> tuple[float, float]:
        """Sums of the squares and of the fourth powers of a contrast."""
        # Row by row: a product of so flat a matrix takes longer where its threads share cores.
        squares, of_units = np.zeros(self.values.shape[1]), self._of(contrast)
        for row in np.flatnonzero(of_units):
            squares += of_units[row] * self.values[row]
        squares *= squares
        counted = squares if self.counts is None else squares * self.counts
        return float(np.sum(counted)), float(np.einsum("i,i->", counted, squares))

    def unseen(self, contrast: FloatArray, square: float, fourth: float) -> float:
        """Variance that the sample may lack, from the sums of squares S and fourth powers F.

        That by half a unit at either end, which has the weight ``F / S**2 - 3 / n``: by so much
        the square of the coefficient of variation of S exceeds that for n normal units. The
        statistics order this unit as alike as the others. Units that are not ranked may differ in
        any way: as alike as the others and one more, which is at an end for each statistic by
        itself. So does every unit if nothing varies, with the weight 1.
        """
        moved, weight = self._of(contrast) * self.span, 1.0
        among, alone = self.products.diagonal(), self.span**2
        if square > ROUNDING**2 * float(moved @ moved) and fourth > 0.0:
            weight = fourth / square**2 - 3.0 / self.n
            if weight <= 0.0:
                return 0.0
            if self.ranked:
                alone = np.where(among > ROUNDING**2 * alone, 0.0, alone)
        among = among + alone
        alike = moved / np.sqrt(np.where(among > 0.0, among, 1.0))
        ends = float(alike @ self.products @ alike) + float(alike**2 @ alone)
        return weight * ends / 4.0

    def apart(self, contrast: FloatArray) -> float:
        """Distance of the limits of a contrast, at least: unseen units are as alike as these."""
        moved = (
            self._of(contrast) * self.least / np.sqrt(np.maximum(self.products.diagonal(), TINY))
        )
        return float(np.sqrt(max(moved @ self.products @ moved, 0.0)))

    def reach(self, contrast: FloatArray) -> float:
        """By how much a contrast changes if all units are at different ends for statistics.

        Where each statistic has a unit at either end, and all units are at the same ends for the
        statistics of the contrast. Else 0.
        """
        rows = np.flatnonzero(self._of(contrast))
        products = self.products[np.ix_(rows, rows)]
        root = np.sqrt(np.maximum(products.diagonal(), 0.0))
        if np.any(products < (1.0 - ROUNDING) * np.multiply.outer(root, root)):  # not alike
            return 0.0
        values = self.values[rows]
        below = values - values.min(axis=1, keepdims=True)
        above = values.max(axis=1, keepdims=True) - values
        if np.any(np.minimum(below, above) > ROUNDING * (below + above)):
            return 0.0
        if len(rows) and np.any((below > above) != (below > above)[0]):
            return 0.0
        return self.n * float(np.abs(self._of(contrast) * self.span).max(initial=0.0))

    def _of(self, contrast: FloatArray) -> FloatArray:
        return contrast[self.first : self.first + len(self.span)]


class Single(Protocol):
    """One statistic by itself."""

    @property
    def error(self) -> float | None:
        """Standard error; None if it is not known."""

    def limits(self, level: float) -> Limits:
        """Limits at a level."""

    def interval(self, level: float) -> Any:
        """The limits with what they are of."""


@dataclass(frozen=True, eq=False)
class AtLevels:
    """A statistic whose interval is computed anew at each level."""

    interval: Callable[[float], Any]
    pvalue: float = nan  # Of a difference

    error = None

    def limits(self, level: float) -> Limits:
        found = self.interval(level)
        return found.low, found.high


class Missed(NamedTuple):
    """Distances of limits by units that a sample lacks.

    With the chance ``error``, n units miss a share of ``1 - error**(1 / n)`` of others: the limit
    for no hit of a binomial number by its mid-p value.
    """

    kinds: tuple[tuple[float, float], ...]  # Distance if all units are such, and their number
    least: float = 0.0  # Distance at any error

    def distance(self, error: float) -> float:
        shares = ((reach, -expm1(log(max(error, TINY)) / n)) for reach, n in self.kinds)
        return max(self.least, max((reach * share for reach, share in shares), default=0.0))

    def error(self, distance: float) -> float:
        """Error at which the limits are at a distance."""
        if distance < self.least:
            return 1.0
        return max((max(1.0 - distance / reach, 0.0) ** n for reach, n in self.kinds), default=0.0)


@dataclass(frozen=True, eq=False)
class Joint:
    """Statistics of several rankers on the same data, and their covariance."""

    estimates: FloatArray  # (n_rankers,)
    covariance: FloatArray
    regularized: FloatArray  # The covariance with added items
    length: float  # Length of the range of the statistic; may be infinite
    n_effective: float  # Effective number of items
    spread: Spread  # Degrees of freedom of the covariance
    kinds: tuple[Units, ...] = ()  # Units of each class of each sample
    groups: FloatArray | None = None  # (n_rankers, n_groups): Their sums; None if independent
    singles: Sequence[Single] = ()  # Each statistic by itself; none if not known
    times: BoolArray | None = None  # (n_groups,): Which groups are times that depend on each other
    pairs: Sequence[Pairs] = ()  # Of each part what the sums of squares of both classes hold twice

    def with_units(self, values: FloatArray) -> Joint:
        """Add what other independent units do to the statistics; shape (n_rankers, n_units)."""
        products, no_span = values @ values.T, np.zeros(len(values))
        times, no_times = self.times, np.zeros(values.shape[1], dtype=bool)
        return replace(
            self,
            covariance=self.covariance + products,
            regularized=self.regularized + products,
            kinds=(*self.kinds, Units(values, products, float(values.shape[1]), no_span)),
            groups=None if self.groups is None else np.hstack([self.groups, values]),
            times=None if times is None else np.append(times, no_times),
        )

    def with_excess(self, excess: FloatArray) -> Joint:
        """Add such errors, which are as correlated as those that the statistics have."""
        if not excess.any():
            return self
        errors = np.sqrt(np.diag(self.covariance))
        scales = np.multiply.outer(errors, errors)
        related = np.eye(len(excess))
        np.divide(self.covariance, scales, out=related, where=scales > 0.0)
        values, vectors = np.linalg.eigh(related)
        return self.with_units(excess[:, np.newaxis] * vectors * np.sqrt(np.maximum(values, 0.0)))

    @property
    def units(self) -> FloatArray:
        """By how much independent units move the statistics. Shape (n_rankers, n_units)."""
        if self.groups is None:
            return self.kinds[0].values
        return independent_units(self.groups, self.times)[0]

    @property
    def errors(self) -> FloatArray:
        """Standard error of each statistic; with added items where these show no variance."""
        alone, unknown = np.diag(self.covariance), np.diag(self.regularized)
        least = least_variance(0.0, self.length, self.n_effective)
        return np.sqrt(np.where(alone > least, alone, unknown))

    def standard_errors(self, contrasts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Standard errors of contrasts, and their degrees of freedom."""
        found = np.array([self.variance_of(row) for row in contrasts])
        degrees = np.minimum(found[:, 1], [self.spread.of(row) for row in contrasts])
        differences, variances = contrasts @ self.estimates, found[:, 0]
        unknown = variances <= least_variance(differences, self.length, self.n_effective)
        variances[unknown] += differences[unknown] ** 2 / self.n_effective
        return np.sqrt(variances), degrees

    def variance_of(self, contrast: FloatArray) -> tuple[float, float]:
        """Variance of a contrast of statistics, and its degrees of freedom.

        The fourth powers of n normal deviations of variance ``V / n`` sum to ``3 V**2 / n``: the
        degrees are the n for which the sum is as observed. Units of several kinds are independent,
        or groups are their sums; of times the degrees are at most those of the transforms.
        """
        moments = [kind.moments(contrast) for kind in self.kinds]
        unseen = sum(x.unseen(contrast, *m) for x, m in zip(self.kinds, moments, strict=True))
        square, fourth = (sum(m[i] for m in moments) for i in (0, 1))
        held = sum(pairs.variance(contrast) for pairs in self.pairs) / max(len(self.pairs), 1) ** 2
        held = min(max(held, 0.0), *(m[0] for m in moments[:2])) if self.pairs else 0.0
        variance, most = square, inf
        if self.groups is not None:
            sums = contrast @ self.groups
            units, most = independent_units(sums, self.times)
            square, fourth, variance = (float(np.sum(x)) for x in (sums**2, sums**4, units**2))
        degrees = 3.0 * (square + unseen) ** 2 / fourth if fourth > 0.0 else inf
        return variance - held + unseen, max(min(degrees, float(most)), 1.0)

    def missed(self, contrast: FloatArray) -> Missed:
        """What a contrast may lack by units of a kind of which none is in the sample."""
        reaches = ((kind.reach(contrast), kind.n) for kind in self.kinds)
        least = sum(kind.apart(contrast) for kind in self.kinds)
        return Missed(tuple((reach, n) for reach, n in reaches if reach > 0.0), least)


def about_middle(lengths: FloatArray) -> FloatArray:
    """Ends of ranges about 0, as the mean influence is taken to be in the middle."""
    return lengths[:, np.newaxis] * [-0.5, 0.5]


def joint_influence(
    influences: Sequence[ClassInfluence], *, conditional: bool = True, groups: Groups | None = None
) -> Joint:
    """Estimate statistics of the same units, such as the items of a list, and their covariance."""
    influences = [influence.linear for influence in influences]
    first = influences[0]
    if groups is not None or first.sampling_weight is not None:
        groups = groups or singleton_groups(len(first.values))
        return _joint_groups([(influences, groups)], conditional=conditional)
    counts, m, n = first.counts, len(influences), first.n
    ends = np.array([influence.class_ends() for influence in influences])
    lengths = np.abs(ends[:, :, 1] - ends[:, :, 0])
    parts = np.empty((len(first.classes), m, m))
    regularized = np.zeros((m, m))
    sizes = np.array(first.sizes, dtype=np.float64)
    kinds = []
    for side, (rows, size) in enumerate(zip(first.classes, sizes, strict=True)):
        places = slice(None) if first.positive is None else np.flatnonzero(rows)
        values = np.stack([influence.values[places] for influence in influences])
        if counts is None:
            values -= values.mean(axis=1, keepdims=True)
            squares = values @ values.T
        else:
            values -= (values @ counts[rows] / size)[:, np.newaxis]
            squares = (values * counts[rows]) @ values.T
        products = squares / (size * max(size - 1.0, 1.0))
        parts[side] = products if size > 1.0 else np.nan
        # The squares of the deviations from the mean of a sample are too small by 1 - 1 / size.
        values /= np.sqrt(size * max(size - 1.0, 1.0))
        of_rows = None if counts is None else counts[rows]
        spans, ranked = lengths[:, side] / size, first.positive is not None
        kinds.append(Units(values, products, size, spans, of_rows, ranked=ranked))
        total, _, of_ends = with_half_more(size, 0.0, 0.0, about_middle(lengths[:, side]))
        regularized += (squares + np.diag(of_ends)) / total**2
    covariance = parts.sum(axis=0)
    if not conditional:
        slopes = np.array([influence.label_slope for influence in influences])
        share = sizes[0] / n
        labels = np.outer(slopes, slopes) * share * (1.0 - share) / n
        covariance, regularized = covariance + labels, regularized + labels
        deviations = np.outer(slopes / n, [1.0 - share, -share])
        kinds.append(Units(deviations, labels, n, np.zeros(m), sizes))
    estimates = np.array([influence.estimate for influence in influences])
    spread = Spread(parts, np.maximum(sizes - 1.0, 1.0), np.eye(len(parts)))
    n_effective = float(np.prod(sizes)) / n ** (len(sizes) - 1)
    joint = Joint(
        estimates, covariance, regularized, first.length, n_effective, spread, tuple(kinds)
    )
    return joint.with_excess(np.array([influence.excess for influence in influences]))


# None of n rows that are heavier than the heaviest one of a class is of it: this has so small a
# chance if a share of ``1 - UNSEEN**(1 / n)`` of such rows is.
UNSEEN = 0.05


def unseen_weights(influence: ClassInfluence) -> FloatArray:
    """Weight that each class may have in rows heavier than its heaviest one. Shape (n_classes,).

    Of inverse probabilities. Such rows are of the class at most as often as the lighter ones.
    """
    weight, unseen = influence.sampling_weight, np.zeros(len(influence.classes))
    if weight is None:
        return unseen
    for i, rows in enumerate(influence.classes):
        heavier = weight > weight[rows].max()
        if n := np.count_nonzero(heavier):
            often = len(weight[rows]) / (len(weight) - n)
            unseen[i] = min(often, 1.0 - UNSEEN ** (1.0 / n)) * weight[heavier].sum()
    return unseen


def unseen_shares(influence: ClassInfluence) -> FloatArray:
    """The same in proportion to the weight of the class."""
    unseen, weight = unseen_weights(influence), influence.sampling_weight
    if weight is None:
        return unseen
    return unseen / (unseen + [weight[rows].sum() for rows in influence.classes])


def joint_samples(samples: Sequence[tuple[ClassInfluence, Groups | None]]) -> Joint:
    """Estimate a statistic of each of several samples, which may share groups."""
    grouped = [([x.linear], groups) for x, groups in samples if groups is not None]
    if grouped:
        return _joint_groups(grouped, conditional=True)
    return joint_independent([joint_influence([influence]) for influence, _ in samples])


def mean_influences(
    values: FloatArray, whole: tuple[float, float], weight: FloatArray | None = None
) -> list[ClassInfluence]:
    """Influence of units, such as queries, on the mean of each row of their values."""
    low, high = whole
    if not isfinite(high - low):
        low = float(values.min())
        high = low + (float(np.ptp(values)) or 1.0)
    means = np.average(values, axis=1, weights=weight)
    return [
        ClassInfluence(float(mean), row, None, [(low, high)], whole, sampling_weight=weight)
        for mean, row in zip(means, values, strict=True)
    ]


def joint_independent(joints: Sequence[Joint]) -> Joint:
    n, n_parts = len(joints), len(joints[0].spread.degrees)
    parts = np.zeros((n_parts * n, n, n))
    for i, joint in enumerate(joints):
        parts[n_parts * i : n_parts * (i + 1), i, i] = joint.spread.covariances[:, 0, 0]
    return Joint(
        estimates=np.concatenate([joint.estimates for joint in joints]),
        covariance=np.diag([float(joint.covariance[0, 0]) for joint in joints]),
        regularized=np.diag([float(joint.regularized[0, 0]) for joint in joints]),
        length=max(joint.length for joint in joints),
        n_effective=1.0 / sum(1.0 / joint.n_effective for joint in joints),
        spread=Spread(
            parts, np.concatenate([joint.spread.degrees for joint in joints]), np.eye(len(parts))
        ),
        kinds=tuple(replace(x, first=i) for i, joint in enumerate(joints) for x in joint.kinds),
    )


def _joint_groups(
    samples: Sequence[tuple[Sequence[ClassInfluence], Groups]], *, conditional: bool
) -> Joint:
    """Estimate the statistics of samples by the sums of the influence over groups."""
    n_statistics = sum(len(influences) for influences, _ in samples)
    n_groups = samples[0][1].n_groups
    parts, spans, regularized = [], [], np.zeros((n_statistics, n_statistics))
    least = np.zeros((len(samples[0][0][0].classes), n_statistics))
    added, labels = np.zeros((2, n_statistics, n_groups))
    start = 0
    for influences, groups in samples:
        rows = slice(start, start + len(influences))
        start += len(influences)
        ends = np.array([influence.class_ends() for influence in influences])
        positive, weight = influences[0].positive, influences[0].sampling_weight
        shares = unseen_shares(influences[0])
        for side, in_class in enumerate(influences[0].classes):
            of_class_values = np.stack([influence.values[in_class] for influence in influences])
            values = np.zeros((n_statistics, of_class_values.shape[1]))
            values[rows] = of_class_values
            of_class = None if weight is None else weight[in_class]
            lengths = np.zeros(n_statistics)
            lengths[rows] = np.abs(ends[:, side, 1] - ends[:, side, 0])
            if shares[side] > 0.0:
                least[side] += shares[side] * lengths
            part = GroupPart.of_rows(values, groups.only(in_class), of_class, lengths)
            parts.append(part)
            # Half a group of the mean size more at either end.
            total, _, of_ends = with_half_more(part.n_equal, 0.0, 0.0, about_middle(lengths))
            added += part.sums * (part.n_equal / total)
            regularized += np.diag(of_ends) / total**2
            spans.append(part.moved_together(lengths))
        if not conditional and positive is not None:
            slopes = np.array([influence.label_slope for influence in influences])
            labels[rows] = np.outer(slopes, label_sums(positive, weight, groups))
    sums, added, times = robust_sums(parts) + labels, added + labels, None
    if samples[0][1].in_time:
        times = np.any([groups.present for _, groups in samples], axis=0)
    kinds, n_classes = [], len(parts) // len(samples)
    for side in range(n_classes):
        in_class = parts[side::n_classes]
        # What a group that holds all of a class adds is unknown.
        known = reduce(np.add, [x.corrected if x.count > 1 else x.sums for x in in_class])
        n = float(np.count_nonzero(reduce(np.add, [x.sizes for x in in_class])))
        span = reduce(np.add, spans[side::n_classes])
        # Narrower limits of like rankers were measured on rows of equal weight only.
        ranked = n_classes > 1 and not in_class[0].sampled
        kinds.append(Units(known, known @ known.T, n, span, ranked=ranked, least=least[side]))
    sums, added = (independent_units(x, times)[0] for x in (sums, added))
    joint = Joint(
        estimates=np.array([x.estimate for influences, _ in samples for x in influences]),
        covariance=sums @ sums.T,
        regularized=regularized + added @ added.T,
        length=max(influences[0].length for influences, _ in samples),
        n_effective=1.0 / sum(1.0 / part.effective for part in parts),
        spread=Spread.of_groups(parts),
        kinds=tuple(kinds),
        groups=sum((kind.values for kind in kinds), labels),
        times=times,
    )
    excess = np.array([x.excess for influences, _ in samples for x in influences])
    independent = reduce(np.add, [part.row_squares for part in parts])
    effect = np.diag(joint.covariance) / np.where(independent > 0.0, independent, np.inf)
    grouped = excess * np.sqrt(np.maximum(effect, 1.0))
    return joint.with_excess(np.where(excess > 0.0, grouped, 0.0))


def least_variance(difference: Any, length: float, n_effective: float) -> Any:
    """Find the variance of a difference below which it counts as unknown."""
    # Of the variance per item so much is rounding.
    rounding = ROUNDING**2 * length**2 if isfinite(length) else 0.0
    # A mean of more than three standard deviations makes the estimated variance unreliable.
    return np.maximum(rounding, (difference / 3.0) ** 2) / n_effective


def never_certain_covariance(
    estimates: FloatArray, regularized: FloatArray, n_effective: float
) -> FloatArray:
    """Covariance for which every difference has a positive variance.

    With the added items and the square of the mean.
    Shape (n_scorers, n_scorers).
    """
    deviations = estimates - estimates.mean()
    return np.asarray(regularized + np.outer(deviations, deviations) / n_effective)


def label_sums(positive: BoolArray, weight: FloatArray | None, groups: Groups) -> FloatArray:
    """Influence of the rows on the share of positives, summed by group. Shape (n_groups,)."""
    deviations = positive - np.average(positive, weights=weight)
    if weight is None:
        return groups.moved(deviations) / len(positive)
    return groups.moved(deviations * (weight / weight.sum()))
