"""States of confidence sequences: rows are added, and limits hold after each update."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import e, isfinite, log, log1p, nan

import numpy as np
from scipy.special import lambertw, ndtr
from sklearn.exceptions import UndefinedMetricWarning

from .._order import counted_blocks
from .._typing import BoolArray, FloatArray
from ..metrics import Accumulator, Measure
from ..metrics._shared import GiniMeasure
from ._betting import Bets, Wagers, pair_growth, top_limits_at_all_times
from ._influence import influence_of, joint_influence, nonzero_variance, refuse_unknown
from ._limits import two_sided_quantile
from ._list_methods import list_methods
from ._metric_interval import interval_of_accumulator
from ._queries import ROUNDING, QueryValues, refuse_infinite, sample_interval
from ._samples import accumulated_list


@dataclass(frozen=True)
class Options:
    """Options of all streams."""

    measure: Measure
    level: float  # Probability that the limits hold at all looks, in (0, 1)
    best_after: float  # After how many updates like the first the limits are to be nearest

    @property
    def alpha(self) -> float:
        """Probability of error."""
        return 1.0 - self.level


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of one update."""

    ranker: Accumulator  # The rows with the scores of the ranker; some row counts
    baseline: Accumulator | None  # The same rows with the scores of the baseline
    rows: tuple[BoolArray, FloatArray, FloatArray] | None  # Labels and both scores of one list
    values: FloatArray  # (n_queries,): Values of the queries; none of one list


def query_values(ranker: Accumulator, baseline: Accumulator | None) -> FloatArray:
    """Values of the queries that have one, less those of a baseline. Shape (n_queries,)."""
    values = _values_of(ranker)
    if baseline is None:
        return values[~np.isnan(values)]
    with warnings.catch_warnings():
        # Undefined queries depend on the labels, which are the same for both: warn once.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        of_baseline = _values_of(baseline)
    differs = np.isnan(values) != np.isnan(of_baseline)
    if differs.any():
        queries = ranker.query_values
        query = "" if queries is None else queries.ids.tolist()[int(np.argmax(differs))]
        raise ValueError(
            f"{ranker.measure.name} is defined for the query {query!r} with only one of the two"
            " scores, ranker and baseline: remove the query or set undefined= of the measure."
        )
    difference = values - of_baseline
    largest = np.maximum(np.abs(values), np.abs(of_baseline))
    difference[np.abs(difference) <= ROUNDING * largest] = 0
    return difference[~np.isnan(difference)]


def _values_of(accumulator: Accumulator) -> FloatArray:
    measure, queries = accumulator.measure, accumulator.query_values
    if queries is None:
        return np.empty(0)
    values = measure._combined(queries.values, queries.to_lists(), None, False)
    refuse_infinite(measure.name, values, queries.ids)
    return np.asarray(values, dtype=np.float64)


def query_range(measure: Measure, is_difference: bool) -> tuple[float, float]:
    """Least and largest value of a query."""
    low, high = measure.counted_range
    return (low - high, high - low) if is_difference else (low, high)


def _query_target(measure: Measure, is_difference: bool) -> str:
    return f"{'mean difference of' if is_difference else 'mean'} {measure.name} over queries"


class Stream(ABC):
    """State of a confidence sequence."""

    method = "betting"

    def __init__(
        self, options: Options, target: str, range: tuple[float, float] = (0.0, 1.0)
    ) -> None:
        self.options, self.target, self.range = options, target, range
        self.n = self.n_first = 0.0  # Items or queries so far, and in the first update with some

    def count(self, n_added: float) -> None:
        """Count items."""
        self.n_first = self.n_first or n_added
        self.n += n_added

    @abstractmethod
    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Add the rows of an update."""

    @abstractmethod
    def limits(self) -> tuple[float, float, float]:
        """Find estimate and limits; without an estimate NaN and the ends of the range."""


class _Betting(Stream):
    """Bets whose size is chosen by the first update that has a value."""

    bets: Bets | None = None

    def ready(self, n_first: float) -> Bets | None:
        """Return the bets, placed once there is something to bet on."""
        if self.bets is None and n_first > 0:
            options = self.options
            self.bets = Bets(Wagers(options.best_after * n_first, options.alpha))
        return self.bets

    def limits(self) -> tuple[float, float, float]:
        """Find the mean of the values and its limits in the range."""
        mean, low, high = nan, 0.0, 1.0
        if self.bets is not None:
            mean, (low, high) = self.bets.mean, self.bets.limits(self.options.alpha)
        origin, length = self.range[0], self.range[1] - self.range[0]
        mean, low, high = (origin + length * value for value in (mean, low, high))
        return mean, max(low, self.range[0]), min(high, self.range[1])


class QueryMean(_Betting):
    """Mean over queries of a measure of known range, or of its difference."""

    def __init__(self, options: Options, is_difference: bool) -> None:
        target = _query_target(options.measure, is_difference)
        super().__init__(options, target, query_range(options.measure, is_difference))

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Bet on the values of the queries."""
        self.count(len(batch.values))
        bets = self.ready(len(batch.values))
        if bets is not None:
            low, high = self.range
            bets.add_values((batch.values - low) / (high - low))


class PairedAUC(_Betting):
    """AUC of pairs of items of one update, or the Gini coefficient."""

    def __init__(self, options: Options) -> None:
        is_gini = isinstance(options.measure, GiniMeasure)
        target = f"expected {'Gini coefficient' if is_gini else 'AUC'} within updates"
        super().__init__(options, target, (-1.0, 1.0) if is_gini else (0.0, 1.0))

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Bet on the pairs of the items, in the mean over all pairings."""
        data = accumulated_list(batch.ranker)
        blocks = counted_blocks(data.score, data.positive, data.weight)
        self.count(blocks.n)
        n_pairs = min(blocks.k, blocks.n - blocks.k)
        bets = self.ready(n_pairs)
        if bets is not None and n_pairs:
            n_pos = blocks.n_pos[::-1]
            n_neg = blocks.size[::-1] - n_pos
            bets.add_growth(*pair_growth(n_pos, n_neg, bets.wagers.gains))


class AlertPrecision(_Betting):
    """Share of positives among the items of a score of at least a fixed threshold."""

    def __init__(self, options: Options, threshold: float) -> None:
        super().__init__(options, f"precision among scores of at least {threshold:g}")
        self.threshold = threshold

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Bet on the labels of the items above the threshold."""
        data = accumulated_list(batch.ranker)
        weight = data.counts * (data.score >= self.threshold)
        n_alerts = float(weight.sum())
        self.count(n_alerts)
        bets = self.ready(n_alerts)
        if bets is not None:
            bets.add_coins(float(weight[data.positive].sum()), n_alerts)


class _OneList(Stream):
    """A measure of all rows as one list."""

    accumulator: Accumulator | None = None

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Store all rows so far."""
        self.count(float(accumulated_list(batch.ranker).counts.sum()))
        self.accumulator = so_far


class TopPrecision(_OneList):
    """Precision in the top of the population, whose threshold the rows so far tell."""

    def __init__(self, options: Options, tau: float) -> None:
        super().__init__(options, f"precision in the top {tau:g} of the population")
        self.tau = tau

    def limits(self) -> tuple[float, float, float]:
        """Find the precision and its limits."""
        if self.accumulator is None:
            return nan, 0.0, 1.0
        data = accumulated_list(self.accumulator)
        blocks = counted_blocks(data.score, data.positive, data.weight)
        n_best = self.options.best_after * self.n_first
        limits = top_limits_at_all_times(
            blocks.n_pos, blocks.size, self.tau, n_best, self.options.alpha
        )
        return float(self.options.measure.values(data)[0]), *limits


# Distance in standard errors, and its level, from which on limits are those of the range: nearer
# to 1 a level is rounded.
WIDEST = 2.0 * float(ndtr(7.0)) - 1.0


def level_at_all_times(level: float, n: float, n_best: float) -> float:
    """Level of the fixed interval that is as wide as the confidence sequence.

    With ``x = x_best n / n_best`` it reaches ``z = sqrt((1 + 1/x) (ln(1 + x) + 2 ln(1 / (1 -
    level))))`` standard errors.
    """
    alpha = 1.0 - level
    # Where z is least: ln((1 + x) / alpha^2) = x.
    best = -float(lambertw(-(alpha**2) / e, -1).real) - 1.0
    x = best * n / n_best
    z = ((1.0 + 1.0 / x) * (log1p(x) - 2.0 * log(alpha))) ** 0.5
    return min(2.0 * float(ndtr(z)) - 1.0, WIDEST)


class _Asymptotic(Stream):
    """Interval of one look at a level that depends on the number of items so far."""

    method = "asymptotic"

    def limits(self) -> tuple[float, float, float]:
        """Find estimate and limits; without an estimate NaN and the ends of the range."""
        if not self.is_estimable():
            return nan, *self.range
        level = level_at_all_times(
            self.options.level, self.n, self.options.best_after * self.n_first
        )
        estimate, low, high = self.limits_at(level)
        return (estimate, low, high) if level < WIDEST else (estimate, *self.range)

    @abstractmethod
    def is_estimable(self) -> bool:
        """Return whether the data allow an estimate of the variance."""

    @abstractmethod
    def limits_at(self, level: float) -> tuple[float, float, float]:
        """Find estimate and limits of the interval for one look."""


class QueryMeanByVariance(_Asymptotic):
    """Mean over queries, by their variance."""

    def __init__(self, options: Options, is_difference: bool) -> None:
        target = _query_target(options.measure, is_difference)
        super().__init__(options, target, query_range(options.measure, is_difference))
        self.values: FloatArray = np.empty(0)

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Store the values of the queries."""
        self.values = np.concatenate([self.values, batch.values])
        self.count(len(batch.values))

    def is_estimable(self) -> bool:
        """Return whether there are two values."""
        return len(self.values) > 1

    def limits_at(self, level: float) -> tuple[float, float, float]:
        """Find the mean and its interval, Student's or of shares."""
        ids = np.arange(len(self.values))
        sample = QueryValues(self.values, ids, self.options.measure.name, self.range)
        interval = sample_interval(sample, level)
        return interval.estimate, interval.low, interval.high


class ListMeasure(_OneList, _Asymptotic):
    """A measure of all rows as one list, by its variance."""

    def __init__(self, options: Options) -> None:
        # A measure without an interval is refused.
        list_methods(options.measure).choose("auto")
        measure = options.measure
        super().__init__(options, f"{measure.name} of the population", measure.range)

    def is_estimable(self) -> bool:
        """Return whether there are items of both classes."""
        if self.accumulator is None:
            return False
        positive = accumulated_list(self.accumulator).positive
        return bool(positive.any() and not positive.all())

    def limits_at(self, level: float) -> tuple[float, float, float]:
        """Find the interval of the accumulator."""
        interval = interval_of_accumulator(self.accumulator, level)  # type: ignore[arg-type]
        self.target = interval.target
        return interval.estimate, interval.low, interval.high


class ListDifference(_Asymptotic):
    """Difference of a measure of one list between two rankers of the same rows."""

    def __init__(self, options: Options) -> None:
        refuse_unknown(options.measure)
        low, high = options.measure.range
        target = f"difference of {options.measure.name}"
        super().__init__(options, target, (low - high, high - low))
        self.positive: BoolArray = np.empty(0, dtype=bool)
        self.scores: FloatArray = np.empty((2, 0))

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Store the rows."""
        if batch.rows is not None:
            positive, *scores = batch.rows
            self.positive = np.concatenate([self.positive, positive])
            self.scores = np.concatenate([self.scores, np.stack(scores)], axis=1)
            self.count(float(len(positive)))

    def is_estimable(self) -> bool:
        """Return whether there are items of both classes."""
        return bool(self.positive.any() and not self.positive.all())

    def limits_at(self, level: float) -> tuple[float, float, float]:
        """Find the difference and its normal interval by influence."""
        measure = replace(self.options.measure, rel=None)
        influences = [
            influence_of(measure, measure.lists(self.positive, score), conditional=True)
            for score in self.scores
        ]
        joint = joint_influence(influences, conditional=True)
        contrast = np.array([1.0, -1.0])
        difference = float(contrast @ joint.estimates)
        variance, _ = nonzero_variance(
            float(contrast @ joint.covariance @ contrast),
            float(contrast @ joint.regularized @ contrast),
            difference,
            length=joint.length,
            n_effective=joint.n_effective,
        )
        half = two_sided_quantile(level) * float(np.sqrt(variance))
        low, high = difference - half, difference + half
        if isfinite(joint.length):
            low, high = max(low, -joint.length), min(high, joint.length)
        return difference, low, high
