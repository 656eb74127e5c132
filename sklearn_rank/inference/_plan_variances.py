"""Variance of an estimate, or of a difference of two, at each sample size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, sqrt

import numpy as np

from .._typing import FloatArray
from ..bounds import auc_variance_bound
from ..metrics._shared import PSEUDO_WEIGHT
from ._auc_moments import AUCMoments
from ._binormal import auc_parts
from ._plan_questions import Sample

__all__ = [
    "AUCVariance",
    "ClassVariance",
    "DrawsVariance",
    "MeanVariance",
    "MomentsVariance",
    "ShareVariance",
    "TopVariance",
    "Variance",
    "WorstAUCVariance",
]

# Half an item of a class at either end, as the intervals add it.
ADDED = 2.0 * PSEUDO_WEIGHT


class Variance(ABC):
    """Variance of an estimate at each size of a sample."""

    @abstractmethod
    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance of the estimate."""


class DrawsVariance(Variance):
    """Variance of an estimate that behaves as a share of Bernoulli draws."""

    @abstractmethod
    def draws(self, n: int) -> tuple[float, float, float]:
        """Return the effective number of Bernoulli draws of the estimate, scaled to [0, 1]."""


class MomentsVariance(Variance):
    """Variance of an AUC, with the moments of its sample."""

    @abstractmethod
    def moments(self, n: int, factor: float) -> AUCMoments:
        """Describe the sample that the interval for an AUC is made of."""


@dataclass(frozen=True)
class AUCVariance(MomentsVariance):
    """Variance of AUCs of normal or exponential scores."""

    sample: Sample  # What the sample is made of
    expected: float  # Expected AUC; of a comparison that of the second ranker
    pairs: str  # Normal scores, or exponential ones
    correlation: float | None = None
    n_rankers: int = 1  # One ranker, or two

    def _parts(self, difference: float) -> list[FloatArray]:
        """Parts of each independent sample: of both, the positives and the negatives."""
        if self.n_rankers == 1:
            return [_parts_of((self.expected,), 0.0, self.pairs)]
        aucs = (self.expected + difference, self.expected)
        if self.correlation is None:
            return [_parts_of((auc,), 0.0, self.pairs) for auc in aucs]
        return [_parts_of(aucs, self.correlation, self.pairs)]

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: Lehmann's."""
        n_pos, n_neg = self.sample.counts(n)
        variance, of_classes, degrees = 0.0, [], []
        for both, positive, negative in self._parts(difference):
            single = (n_neg - 1.0) * positive + (n_pos - 1.0) * negative
            variance += (both + single) / (n_pos * n_neg)
            of_classes += [positive / n_pos, negative / n_neg]
            degrees += [n_pos - 1.0, n_neg - 1.0]
        return variance, satterthwaite(of_classes, degrees)

    def moments(self, n: int, factor: float) -> AUCMoments:
        """Describe a sample, with the variances of placements that it will show."""
        n_pos, n_neg = self.sample.counts(n)
        both, positive, negative = self._parts(0.0)[0]
        rest = both - positive - negative
        spreads = (factor * (positive + rest / n_neg), factor * (negative + rest / n_pos))
        return AUCMoments.of_independent(self.expected, *spreads, 0.0, n_pos, n_neg)


@lru_cache(maxsize=256)
def _parts_of(aucs: tuple[float, ...], correlation: float, pairs: str) -> FloatArray:
    """Parts of the variance of an AUC, or of the difference of two."""
    contrast = np.array([1.0, -1.0])[: len(aucs)]
    parts = auc_parts(np.array(aucs), correlation, pairs=pairs)
    return np.asarray(np.einsum("pij,i,j->p", parts, contrast, contrast))


@dataclass(frozen=True)
class WorstAUCVariance(Variance):
    """Largest variance that an AUC can have."""

    sample: Sample  # What the sample is made of
    expected: float | None  # Expected AUC; None is the worst

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: ``A (1 - A)`` over the size of the smaller class."""
        found = auc_variance_bound(*self.sample.counts(n), expected_auc=self.expected)
        return found.value, inf


@dataclass(frozen=True)
class ClassVariance(DrawsVariance, MomentsVariance):
    """Variance of a measure of one list by the influence of its items."""

    sample: Sample  # What the sample is made of
    variances: tuple[tuple[float, float], ...]
    effect: float  # By how much groups make the variance larger
    degrees_per_item: float | None
    estimate: float
    classes: tuple[tuple[float, tuple[float, float]], ...] = ()
    groups_per_item: float | None = None

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: that of each class over its size."""
        sizes = self.sample.counts(n)
        parts = [
            variance / size
            for of_sample in self.variances
            for variance, size in zip(of_sample, sizes, strict=True)
        ]
        degrees = [size - 1.0 for size in sizes] * len(self.variances)
        return self.effect * sum(parts), self._degrees(n, satterthwaite(parts, degrees))

    def _degrees(self, n: int, independent: float) -> float:
        if self.degrees_per_item is None:
            return independent
        return max(self.degrees_per_item * n, 1.0)

    def draws(self, n: int) -> tuple[float, float, float]:
        """Say what the measure is worth, with half an item added at either end of each class."""
        sizes = self.sample.counts(n)
        parts = zip(self.classes, self.variances[0], sizes, strict=True)
        given = [(mean, variance, ends, size) for (mean, ends), variance, size in parts]
        estimate, n_effective = _worth(self.estimate, given, self.effect)
        return estimate, n_effective, self._degrees(n, inf)

    def moments(self, n: int, factor: float) -> AUCMoments:
        """Describe a sample whose placements vary as those of the pilot."""
        sizes = self.sample.counts(n)
        spreads = [factor * variance for variance in self.variances[0]]
        found = AUCMoments.of_independent(
            self.estimate, spreads[0], spreads[1], 0.0, sizes[0], sizes[1]
        )
        if self.groups_per_item is None:
            return found
        n_groups = np.asarray(max(self.groups_per_item * n, 1.0))
        return replace(found, variance=self.effect * found.variance, n_groups=n_groups)


def _worth(
    estimate: float,
    classes: Sequence[tuple[float, float, tuple[float, float], int]],
    effect: float = 1.0,
) -> tuple[float, float]:
    """The estimate, and its draws with the added items: mean, variance, ends and size."""
    shift = variance = 0.0
    for mean, spread, ends, size in classes:
        moved = PSEUDO_WEIGHT * (sum(ends) - 2.0 * mean) / (size + ADDED)
        squares = (size - 1.0) * spread + size * moved**2
        squares *= effect
        squares += PSEUDO_WEIGHT * sum((end - mean - moved) ** 2 for end in ends)
        shift += moved
        variance += squares / (size + ADDED) ** 2
    shrunken = min(max(estimate + shift, 0.0), 1.0)
    return min(max(estimate, 0.0), 1.0), shrunken * (1.0 - shrunken) / variance


@dataclass(frozen=True)
class MeanVariance(DrawsVariance):
    """Variance of a mean over queries."""

    variances: tuple[float, ...]
    effect: float = 1.0  # By how much groups make it larger
    degrees_per_query: float | None = None
    estimate: float = 0.5  # The mean on the scale from 0 to 1

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: that of the values over the number of queries."""
        parts = [variance / n for variance in self.variances]
        degrees = satterthwaite(parts, [n - 1.0] * len(parts))
        if self.degrees_per_query is not None:
            degrees = max(self.degrees_per_query * n, 1.0)
        return self.effect * sum(parts), degrees

    def draws(self, n: int) -> tuple[float, float, float]:
        """Say what a share of queries is worth: the queries."""
        return self.estimate, n / self.effect, inf


@dataclass(frozen=True)
class ShareVariance(DrawsVariance):
    """Variance of a share of queries, or of the difference of two."""

    expected: float
    length: float
    correlation: float | None = None
    n_rankers: int = 1  # One ranker, or two

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: no values of the same mean vary more."""
        second = self.expected * (1.0 - self.expected)
        if self.n_rankers == 1:
            return self.length**2 * second / n, n - 1.0
        share = min(max(self.expected + difference / self.length, 0.0), 1.0)
        first = share * (1.0 - share)
        together = 0.0 if self.correlation is None else self.correlation
        variance = first + second - 2.0 * together * sqrt(first * second)
        independent = 1.0 if self.correlation is not None else 2.0
        return self.length**2 * variance / n, independent * (n - 1.0)

    def draws(self, n: int) -> tuple[float, float, float]:
        """Say what the share is worth: the queries."""
        return self.expected, float(n), inf


@dataclass(frozen=True)
class TopVariance(Variance):
    """Variance of the precision at the top, labels random."""

    expected: float  # Precision; of a comparison that of the second ranker
    eta: float  # Probability that an item at the threshold is positive
    tau: float  # Share of the items that make the top
    effect: float = 1.0  # By how much groups make the variance larger
    correlation: float | None = None
    n_rankers: int = 1  # One ranker, or two

    def top(self, n: int) -> float:
        """Count the items in the top. How many independent items they are worth."""
        return max(int(self.tau * n + 0.5), 1) / self.effect

    def of(self, n: int, difference: float = 0.0) -> tuple[float, float]:
        """Find the variance: binomial, and that of the threshold."""
        top = self.top(n)
        second = self._per_item(self.expected)
        if self.n_rankers == 1:
            return second / top, inf
        first = self._per_item(self.expected + difference)
        together = 0.0 if self.correlation is None else self.correlation
        return (first + second - 2.0 * together * sqrt(first * second)) / top, max(top - 1.0, 1.0)

    def _per_item(self, precision: float) -> float:
        away = (1.0 - self.tau) * (precision - self.eta) ** 2
        return precision * (1.0 - precision) + away


def satterthwaite(variances: Sequence[float], degrees: Sequence[float]) -> float:
    """Degrees of freedom of a sum of independent variances."""
    total = sum(variances)
    if total <= 0.0:
        return max(min(degrees), 1.0)
    weights = [v / total for v in variances]
    return 1.0 / sum(w**2 / max(d, 1.0) for w, d in zip(weights, degrees, strict=True))
