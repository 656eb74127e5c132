"""The ROC curve: intervals for its area, whole or partial, and a band around it.

The *placement* of a positive is the fraction of negatives below it, and the placement of a
negative is the fraction of positives above it; ties count 1/2. Both have the AUC as their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri, owens_t
from sklearn.exceptions import UndefinedMetricWarning

from .._lists import ScoredLists
from .._order import class_blocks
from .._typing import BoolArray, FloatArray
from .._warn import warn
from ..bounds._shared import mean_limits, n_terms
from ..metrics import Measure, get_measure
from ..metrics._shared import ClassInfluence, Groups, independent_units
from ._evidence import list_in_parts, refuse_grouped_collections
from ._joint import GroupPart, robust_sums
from ._limits import Limits, two_sided_quantile
from ._moments import Moments


def both_below(h: float, k: float, correlation: float) -> float:
    """Probability that two standard normal variables are below two numbers."""
    if h == 0.0 and k == 0.0:
        return float(0.25 + np.arcsin(correlation) / (2.0 * np.pi))
    root = float(np.sqrt((1.0 - correlation) * (1.0 + correlation)))
    outside = 0.0 if h * k > 0.0 or (h * k == 0.0 and h + k >= 0.0) else 0.5
    chance = (ndtr(h) + ndtr(k)) / 2.0 - outside
    for x, y in ((h, k), (k, h)):
        slope = (y - correlation * x) / root
        # Of 0 only the angle matters: T(0, inf) is 1/4.
        chance -= owens_t(x, slope / x if x != 0.0 else np.copysign(np.inf, slope))
    return float(chance)


def auc_parts(aucs: FloatArray, correlation: float) -> FloatArray:
    """Parts of the covariance of AUCs on the same items, by the items that their pairs share.

    Covariance of the outcomes of two pairs of a positive and a negative that share both, the
    positive, the negative: the covariance of the AUCs is ``(both + (n_neg - 1) positive + (n_pos -
    1) negative) / (n_pos n_neg)``. Shape (3, n_scorers, n_scorers).
    """
    h = ndtri(aucs)
    parts = np.empty((3, len(aucs), len(aucs)))
    for i, h_first in enumerate(h):
        for j, h_second in enumerate(h):
            product = aucs[i] * aucs[j]
            alike = 1.0 if i == j else correlation
            # Differences of a positive and a negative score, which share both or one of these.
            both = aucs[i] if i == j else both_below(h_first, h_second, alike)
            shared = both_below(h_first, h_second, alike / 2.0)
            parts[:, i, j] = both - product, shared - product, shared - product
    return parts


@dataclass(frozen=True, eq=False, kw_only=True)
class AUCMoments(Moments):
    """The AUC of a sample, or a measure that is linear in it, and the spread of its placements."""

    method: str = "wilson"
    auc: float
    sizes: tuple[float, float]  # Numbers of positives and of negatives
    variances: tuple[float, float]  # Of the placements of positives and of negatives
    variance: float  # Estimated variance of the AUC: DeLong's, or that of sums over groups
    tied: float = 0.0  # Share of the pairs of a positive and a negative that are tied
    n_groups: float | None = None  # Number of groups with items of the rarer class
    range: Limits = (0.0, 1.0)  # Of the measure
    degrees: float = inf  # Of freedom of the variance, of groups that are times

    @classmethod
    def of(
        cls,
        auc: float,
        sizes: tuple[float, float],
        variances: Any,
        *,
        variance: float | None = None,
        measure: Measure | None = None,
        **more: Any,
    ) -> AUCMoments:
        if variance is None:
            variance = float(sum(x / n for x, n in zip(variances, sizes, strict=True)))
        if measure is not None:
            more |= {"range": measure.range, "target": expected_area(measure)}
        known: Any = {"sizes": sizes, "variances": variances, "variance": variance}
        return cls(estimate=nan, error=None, auc=auc, **known, **more)._with_error()

    def _with_error(self) -> AUCMoments:
        (low, high), error = self.range, self._error()
        estimate = low + (high - low) * self.auc
        return replace(
            self, estimate=estimate, error=None if error is None else (high - low) * error
        )

    @classmethod
    def of_influence(
        cls, influence: ClassInfluence, groups: Groups | None = None, **more: Any
    ) -> AUCMoments:
        """Moments of the influence, which is the placements, by items or by sums over groups."""
        low, length = influence.range[0], influence.length
        n_pos, n_neg = influence.sizes
        squares = [x / length**2 for x in influence.squares(influence.means)]
        variances = [x / max(n - 1, 1) for x, n in zip(squares, influence.sizes, strict=True)]
        if groups is not None:
            parts = [
                GroupPart.of_rows(influence.values[np.newaxis, rows], groups.only(rows))
                for rows in influence.classes
            ]
            sums = robust_sums(parts)  # NaN of a group that holds all of a class
            units, degrees = independent_units(sums[0], groups.times)
            more |= {"degrees": float(degrees)}
            more["variance"] = float(np.nan_to_num(np.sum(units**2))) / length**2
            more["n_groups"] = float(min(part.count for part in parts))
        auc = min(max((influence.estimate - low) / length, 0.0), 1.0)  # sums are rounded
        return cls.of(auc, (n_pos, n_neg), variances, **more)

    @property
    def n_rarer(self) -> float:
        return min(self.sizes)

    def unbiased_variance(self) -> float:
        (m, n), (var_pos, var_neg), auc = self.sizes, self.variances, self.auc
        if self.n_rarer < 2:
            return nan
        square = auc - self.tied / 4.0
        # Means over pairs of different items, of which the placements' squares are part.
        shared_neg = ((n - 1.0) / n * var_neg + auc**2 - square / m) * m / (m - 1.0)
        shared_pos = ((m - 1.0) / m * var_pos + auc**2 - square / n) * n / (n - 1.0)
        total = square - auc**2
        total += (m - 1.0) * (shared_neg - auc**2) + (n - 1.0) * (shared_pos - auc**2)
        return total / ((m - 1.0) * (n - 1.0))

    @property
    def estimated_variance(self) -> float | None:
        """Variance that the width is a multiple of the root of; None for other methods."""
        if self.method in ("delong", "logit-delong"):
            return self.variance
        return self.unbiased_variance() if self.method == "chebyshev" else None

    def _error(self) -> float | None:
        """Standard error; where the method takes a variance, one that is 0 is refused."""
        if isnan(self.auc):
            return None
        if self.method == "wilson":
            known = self.variance > ROUNDING_OF_VARIANCE and self.n_rarer >= 2
            unknown = design_effect(self) * self.auc * (1.0 - self.auc)
            return sqrt(self.variance if known else unknown) or None
        if (variance := self.estimated_variance) is None:
            return None
        unit = "item" if self.n_groups is None else "group with items"
        if (self.n_rarer if self.n_groups is None else self.n_groups) < 2:
            raise ValueError(
                f"method={self.method!r} estimates a variance, but there is only one {unit} of a"
                " class: choose method='wilson'."
            )
        if variance <= ROUNDING_OF_VARIANCE:
            raise ValueError(
                f"method={self.method!r} estimates a variance of 0 at an AUC of {self.auc:g}, so"
                " the interval would have no width: choose method='wilson'."
            )
        return sqrt(variance)

    def limits(self, level: float) -> Limits:
        auc, delta = self.auc, 1.0 - level
        z = two_sided_quantile(level, self.degrees)
        limits: Any = 0.0, 1.0
        if isnan(auc):
            pass
        elif self.method == "wilson":
            limits = auc_score_limits(auc, design_effect(self), unseen_effect(self), z)
        elif (variance := self.estimated_variance) is None:
            limits = mean_limits(
                self.method, auc, n_terms(self.method, *self.sizes), np.log(2.0 / delta)
            )
        elif self.method == "logit-delong":
            half = z * sqrt(variance) / (auc * (1.0 - auc))
            limits = expit(logit(auc) - half), expit(logit(auc) + half)
        else:
            half = sqrt(variance / delta) if self.method == "chebyshev" else z * sqrt(variance)
            limits = auc - half, auc + half
        origin, length = self.range[0], self.range[1] - self.range[0]
        low, high = (origin + length * min(max(float(x), 0.0), 1.0) for x in limits)
        return low, high

    def at(self, value: float) -> AUCMoments:
        low, high = self.range
        return replace(self, auc=(value - low) / (high - low))._with_error()

    def resized(self, sizes: Any, factor: float = 1.0) -> AUCMoments:
        of_classes = [x / n for x, n in zip(self.variances, self.sizes, strict=True)]
        effect = self.variance / sum(of_classes) if any(of_classes) else 1.0
        variances = [factor * x for x in self.variances]
        independent = sum(x / n for x, n in zip(variances, sizes, strict=True))
        n_groups = self.n_groups
        if n_groups is not None:
            n_groups = max(n_groups * sum(sizes) / sum(self.sizes), 1.0)
        known: Any = {"sizes": sizes, "variances": variances, "n_groups": n_groups}
        return replace(self, variance=effect * independent, **known)._with_error()


def expected_area(measure: Measure) -> str:
    """Name of the expectation of a measure that is linear in the AUC."""
    return f"expected {'AUC' if measure.range == (0.0, 1.0) else 'Gini coefficient'}"


# Below it a variance of the AUC is rounding.
ROUNDING_OF_VARIANCE = 1e-15


def sample_moments(data: ScoredLists, **more: Any) -> AUCMoments:
    """Moments of one list; of one of a single class nothing is known."""
    if is_one_class(data):
        warn(
            "The AUC is undefined for items of one class only: it is set to nan and its interval"
            " to [0, 1].",
            UndefinedMetricWarning,
        )
        return AUCMoments.of(nan, (nan, nan), (nan, nan), **more)
    return _moments(*_placement_sums(data.score, data.positive, data.weight), **more)


def _moments(
    auc: float,
    squares_pos: float,
    squares_neg: float,
    tied: float,
    n_pos: float,
    n_neg: float,
    **more: Any,
) -> AUCMoments:
    variances = squares_pos / max(n_pos - 1.0, 1.0), squares_neg / max(n_neg - 1.0, 1.0)
    return AUCMoments.of(auc, (n_pos, n_neg), variances, tied=tied, **more)


def placement_sums(lists: ScoredLists, tied: ScoredLists) -> FloatArray:
    """Sum the placements of a list, and their squares about the AUC of another. Shape (4,)."""
    if is_one_class(tied):
        return np.zeros(4)
    center = _placement_sums(tied.score, tied.positive, tied.weight)[0]
    return np.array(_placement_sums(lists.score, lists.positive, lists.weight, center)[:4])


def moments_of_ranges(tied: ScoredLists, sums: Sequence[FloatArray], **more: Any) -> AUCMoments:
    """Moments of items from the placement sums of separate ranges of scores."""
    center, *_, n_pos, n_neg = _placement_sums(tied.score, tied.positive, tied.weight)
    base = placement_sums(tied, tied)
    total, squares_pos, squares_neg, pairs = map(
        float, base + np.sum([of_range - base for of_range in sums], axis=0)
    )
    auc = min(max(total, 0.0), 1.0)
    shift = (auc - center) ** 2
    squares_pos = max(squares_pos - n_pos * shift, 0.0)
    squares_neg = max(squares_neg - n_neg * shift, 0.0)
    return _moments(auc, squares_pos, squares_neg, pairs, n_pos, n_neg, **more)


def _placement_sums(
    score: FloatArray, positive: BoolArray, weight: FloatArray | None, center: float | None = None
) -> tuple[float, float, float, float, float, float]:
    """Mean of the placements, sums of squares of positives and of negatives, tied share, counts.

    Squares are about a point, by default the mean.
    """
    # One search of the smaller class among all items gives the placements of both classes.
    swapped = bool(2 * np.count_nonzero(positive) > len(positive))
    blocks = class_blocks(score, ~positive if swapped else positive, weight, joined=True)
    n_class, n_other = float(blocks.n_class[0]), float(blocks.n_other[0])
    beaten = blocks.other_above if swapped else blocks.other_below
    placement = (beaten + blocks.of_other / 2.0) / n_other
    auc = min(float(np.dot(blocks.of_class, placement) / n_class), 1.0)
    center = auc if center is None else center
    squares_class = float(np.dot(blocks.of_class, (placement - center) ** 2))
    # Those of the other class are in a block, or in a gap next to one: below the first block,
    # between two, above the last.
    gaps = np.append(blocks.other_below, n_other)
    gaps[1:] -= blocks.other_below + blocks.of_other
    gaps = np.maximum(gaps, 0.0)
    above = np.append(n_class, blocks.class_above)
    passed = np.append(0.0, blocks.class_below + blocks.of_class)
    in_gaps = (passed if swapped else above) / n_class
    beyond = blocks.class_below if swapped else blocks.class_above
    in_blocks = (beyond + blocks.of_class / 2.0) / n_class
    squares_other = float(
        np.dot(gaps, (in_gaps - center) ** 2) + np.dot(blocks.of_other, (in_blocks - center) ** 2)
    )
    tied = float(np.dot(blocks.of_class, blocks.of_other)) / (n_class * n_other)
    if swapped:
        return auc, squares_other, squares_class, tied, n_other, n_class
    return auc, squares_class, squares_other, tied, n_class, n_other


def unseen_effect(moments: AUCMoments) -> float:
    """Variance that rare items add, over ``(AUC - A) A``.

    A quarter of the distance from the observed AUC is due to items as far from the others as
    possible.
    """
    return 0.25 / (moments.n_rarer if moments.n_groups is None else moments.n_groups)


def auc_score_limits(auc: float, effect: float, unseen: float, z: float) -> Limits:
    """Solve ``(auc - A)^2 = z^2 (effect A (1 - A) + unseen (auc - A) A)`` below ``auc``.

    Above it the mirror image, with ``unseen (A - auc) (1 - A)``.

    Let a share q of the positives lie below all negatives, and the placements of the others have
    the mean B and the variance V. The placements of all then have the mean ``A = (1 - q) B`` and
    the variance ``(1 - q) V + (B - A) A``: a sample without any of the share shows B and V, and
    ``(B - A) A`` is what it lacks. Here a part of the distance is laid to such items, the same
    part in either direction: above, to some that lie above all of the other class.
    """
    c, e = z**2 * effect, z**2 * unseen
    return _below(auc, c, e), 1.0 - _below(1.0 - auc, c, e)


def _below(auc: float, c: float, e: float) -> float:
    """Find the lower root of ``(auc - A)^2 = c A (1 - A) + e (auc - A) A``."""
    half = auc * (2.0 + e) + c
    # The discriminant, without the cancellation of two large terms.
    root = sqrt((e * auc) ** 2 + 4.0 * c * auc * (1.0 - auc) + c * (2.0 * e * auc + c))
    return 2.0 * auc**2 / (half + root)


def design_effect(moments: AUCMoments) -> float:
    """Variance of the AUC over ``A (1 - A)``, kept away from 0 where little is known.

    The variance of the placements of one class, over ``A (1 - A)``, lies between 0 and 1, and
    their sum over both classes is at most 1. Each is estimated as ``((n - 1) s^2 + c r) / ((n - 1)
    A (1 - A) + c)`` with ``c = 1/4`` and ``r = (1 + 1/n) / 2``: at an AUC of 1 nothing was seen
    and it is r; one item alone, which shows no spread, has the largest, 1.
    """
    terms = [*zip(moments.variances, moments.sizes, strict=True)]
    if moments.n_groups is not None:
        # The number of draws is the number of groups of the rarer class, each with this variance.
        terms = [(moments.n_groups * moments.variance, moments.n_groups)]
    largest, evidence = moments.auc * (1.0 - moments.auc), 0.25  # In units of n A (1 - A)
    effect = 0.0
    for variance, n in terms:
        prior = 0.5 * (1.0 + 1.0 / n)
        shown, most = (n - 1.0) * variance, (n - 1.0) * largest
        effect += (shown + evidence * prior) / (most + evidence) / n
    return effect


def auc_moments_of_parts(
    measure: Measure,
    y_true: Any,
    y_score: Any,
    method: str,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    **_: Any,
) -> AUCMoments:
    """Moments from counts of rows of collections, by ranges of scores where these are many."""
    columns = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
    refuse_grouped_collections(groups, **columns)
    rows = list_in_parts(get_measure("auc"), y_true, y_score, pos_label, sample_weight)
    known: Any = {"measure": measure, "method": method}
    if not rows.in_ranges:
        return sample_moments(rows.in_one_memory(get_measure("auc")), **known)
    tied, sums = rows.by_ranges(placement_sums)
    if is_one_class(tied):
        return sample_moments(tied, **known)
    return moments_of_ranges(tied, sums, **known)


def is_one_class(data: ScoredLists) -> bool:
    return bool(data.positive.all() or not data.positive.any())
