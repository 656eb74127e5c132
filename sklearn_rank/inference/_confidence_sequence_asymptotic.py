"""Asymptotic confidence sequences, from fixed intervals at an adjusted level."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from math import isfinite, nan

import numpy as np

from .._typing import BoolArray, FloatArray
from ..metrics import Accumulator
from ._accumulator_interval import interval_of_accumulator
from ._confidence_sequence_normal import WIDEST, level_at_all_times
from ._confidence_sequence_streams import Batch, Options, query_range, query_target
from ._joint import joint_influence, nonzero_variance
from ._list_methods import list_methods
from ._measure_influence import influence_of, refuse_unknown
from ._normal_test import two_sided_quantile
from ._query_samples import IntervalOptions, sample_interval
from ._query_values import QueryValues
from ._two_classes import counted_list

__all__ = ["ListDifference", "ListMeasure", "QueryMeanByVariance"]

DIFFERENCE = np.array([1.0, -1.0])


class _Asymptotic(ABC):
    """Level of the fixed interval, by the number of items so far."""

    method = "asymptotic"

    def __init__(self, options: Options, range: tuple[float, float], target: str) -> None:
        self.options = options
        self.range = range
        self.target = target
        self.n = self.n_first = 0.0

    def count(self, n_added: float) -> None:
        """Count items."""
        self.n_first = self.n_first or n_added
        self.n += n_added

    def limits(self) -> tuple[float, float, float]:
        """Find estimate and limits; without an estimate NaN and the ends of the range."""
        if not self.is_estimable():
            return nan, *self.range
        level = level_at_all_times(
            self.options.level, self.n, self.options.best_after * self.n_first
        )
        estimate, low, high = self.fixed(level)
        return (estimate, low, high) if level < WIDEST else (estimate, *self.range)

    @abstractmethod
    def is_estimable(self) -> bool:
        """Return whether the data allow an estimate of the variance."""

    @abstractmethod
    def fixed(self, level: float) -> tuple[float, float, float]:
        """Find estimate and limits of the interval for one look."""


class QueryMeanByVariance(_Asymptotic):
    """Mean over queries, by their variance."""

    def __init__(self, options: Options, is_difference: bool) -> None:
        super().__init__(
            options,
            query_range(options.measure, is_difference),
            query_target(options.measure, is_difference),
        )
        self.values: FloatArray = np.empty(0)

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Remember the values of the queries."""
        values = batch.values
        self.values = np.concatenate([self.values, values])
        self.count(len(values))

    def is_estimable(self) -> bool:
        """Tell whether there are two values."""
        return len(self.values) > 1

    def fixed(self, level: float) -> tuple[float, float, float]:
        """Find the mean and its interval, Student's or of shares."""
        sample = QueryValues(
            self.values, np.arange(len(self.values)), self.options.measure.name, self.range
        )
        options = IntervalOptions("auto", level, 10_000)
        # This method draws nothing.
        found = sample_interval(sample, options, np.random.default_rng())
        return found.estimate, found.low, found.high


class ListMeasure(_Asymptotic):
    """A measure of all rows as one list."""

    def __init__(self, options: Options) -> None:
        measure = options.measure
        # A measure without an interval is refused.
        list_methods(measure).chosen("auto")
        super().__init__(options, measure.range, f"{measure.name} of the population")
        self.accumulator: Accumulator | None = None

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Remember all rows so far."""
        self.count(float(counted_list(batch.ranker).counts.sum()))
        self.accumulator = so_far

    def is_estimable(self) -> bool:
        """Tell whether there are items of both classes."""
        if self.accumulator is None:
            return False
        positive = counted_list(self.accumulator).positive
        return bool(positive.any() and not positive.all())

    def fixed(self, level: float) -> tuple[float, float, float]:
        """Compute the interval of the accumulator."""
        found = interval_of_accumulator(self.accumulator, level)  # type: ignore[arg-type]
        self.target = found.target
        return found.estimate, found.low, found.high


class ListDifference(_Asymptotic):
    """Difference of a measure of one list between two rankers of the same rows."""

    def __init__(self, options: Options) -> None:
        measure = options.measure
        refuse_unknown(measure)
        low, high = measure.range
        super().__init__(options, (low - high, high - low), f"difference of {measure.name}")
        self.positive: BoolArray = np.empty(0, dtype=bool)
        self.scores: FloatArray = np.empty((2, 0))

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Remember the rows."""
        if batch.rows is not None:
            positive, *scores = batch.rows
            self.positive = np.concatenate([self.positive, positive])
            self.scores = np.concatenate([self.scores, np.stack(scores)], axis=1)
            self.count(float(len(positive)))

    def is_estimable(self) -> bool:
        """Tell whether there are items of both classes."""
        return bool(self.positive.any() and not self.positive.all())

    def fixed(self, level: float) -> tuple[float, float, float]:
        """Find the difference and its normal interval by influence."""
        measure = replace(self.options.measure, rel=None)
        found = [
            influence_of(measure, measure.lists(self.positive, score), conditional=True)
            for score in self.scores
        ]
        joint = joint_influence(found, conditional=True)
        difference = float(DIFFERENCE @ joint.estimates)
        variance, _ = nonzero_variance(
            float(DIFFERENCE @ joint.covariance @ DIFFERENCE),
            float(DIFFERENCE @ joint.regularized @ DIFFERENCE),
            difference,
            length=joint.length,
            n_effective=joint.n_effective,
        )
        half = two_sided_quantile(level) * float(np.sqrt(variance))
        low, high = difference - half, difference + half
        if isfinite(joint.length):
            low, high = max(low, -joint.length), min(high, joint.length)
        return difference, low, high
