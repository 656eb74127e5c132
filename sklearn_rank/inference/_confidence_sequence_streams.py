"""State and limits of the confidence sequences that are valid for every number of rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import nan
from typing import Protocol

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._blocks import counted_blocks
from .._typing import BoolArray, FloatArray
from ..metrics import Accumulator, Measure
from ..metrics._shared import GiniMeasure
from ._confidence_sequence_bets import Bets, Wagers
from ._confidence_sequence_pairs import pair_growth
from ._confidence_sequence_top import top_limits_at_all_times
from ._query_values import ROUNDING
from ._two_classes import counted_list

__all__ = [
    "AlertPrecision",
    "Batch",
    "Options",
    "PairedAUC",
    "QueryMean",
    "Stream",
    "TopPrecision",
    "query_range",
    "query_target",
    "query_values",
]


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
    rows: tuple[BoolArray, FloatArray, FloatArray] | None
    values: FloatArray  # (n_queries,): Of queries: their values; none of one list


def query_values(ranker: Accumulator, baseline: Accumulator | None) -> FloatArray:
    """Values of the queries that have one, less those of a baseline. Shape (n_queries,)."""
    values = _values_of(ranker)
    if baseline is None:
        return values[~np.isnan(values)]
    with warnings.catch_warnings():
        # Undefined queries depend on the labels, which are the same for both: warn once.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        others = _values_of(baseline)
    differs = np.isnan(values) != np.isnan(others)
    if differs.any():
        kept = ranker.query_values
        first = "" if kept is None else kept.ids.tolist()[int(np.argmax(differs))]
        raise ValueError(
            f"{ranker.measure.name} is defined for the query {first!r} with only one of the two"
            " scores, ranker and baseline: remove the query or set undefined= of the measure."
        )
    difference = values - others
    difference[np.abs(difference) <= ROUNDING * np.maximum(np.abs(values), np.abs(others))] = 0
    return difference[~np.isnan(difference)]


def _values_of(accumulator: Accumulator) -> FloatArray:
    measure, kept = accumulator.measure, accumulator.query_values
    if kept is None:
        return np.empty(0)
    values = measure._combined(kept.values, kept.to_lists(), None, False)
    if np.isinf(values).any():
        raise ValueError(
            f"{measure.name} is infinite for the query"
            f" {kept.ids.tolist()[int(np.argmax(np.isinf(values)))]!r}: remove the query or choose"
            " another measure."
        )
    return np.asarray(values, dtype=np.float64)


class Stream(Protocol):
    """State of a confidence sequence."""

    method: str  # How the limits are made
    target: str  # What they are for
    n: float  # Number of items or queries so far

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Take the rows of an update."""

    def limits(self) -> tuple[float, float, float]:
        """Find estimate and limits; without an estimate NaN and the ends of the range."""


def query_range(measure: Measure, is_difference: bool) -> tuple[float, float]:
    """Least and largest value of a query."""
    low, high = measure.counted_range
    return (low - high, high - low) if is_difference else (low, high)


def query_target(measure: Measure, is_difference: bool) -> str:
    """Describe the target of limits for a mean over queries."""
    what = "mean difference of" if is_difference else "mean"
    return f"{what} {measure.name} over queries"


class _Betted:
    """Bets whose size is chosen by the first update that has a value."""

    method = "betting"

    def __init__(self, options: Options) -> None:
        self.options = options
        self.n = 0.0
        self.bets: Bets | None = None

    def ready(self, n_first: float) -> Bets | None:
        """Return the bets, placed once there is something to bet on."""
        if self.bets is None and n_first > 0:
            options = self.options
            self.bets = Bets(Wagers(options.best_after * n_first, options.alpha))
        return self.bets

    def limits(self) -> tuple[float, float, float]:
        """Find the mean of the values and its limits in [0, 1]."""
        if self.bets is None:
            return nan, 0.0, 1.0
        return self.bets.mean, *self.bets.limits(self.options.alpha)


class QueryMean(_Betted):
    """Mean over queries of a measure of known range, or of its difference."""

    def __init__(self, options: Options, is_difference: bool) -> None:
        super().__init__(options)
        self.range = query_range(options.measure, is_difference)
        self.target = query_target(options.measure, is_difference)

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Bet on the values of the queries."""
        values = batch.values
        self.n += len(values)
        bets = self.ready(len(values))
        if bets is not None:
            low, high = self.range
            bets.add_values((values - low) / (high - low))

    def limits(self) -> tuple[float, float, float]:
        """Find the mean and its limits in the units of the measure."""
        origin, length = self.range[0], self.range[1] - self.range[0]
        mean, low, high = (origin + length * value for value in super().limits())
        return mean, max(low, self.range[0]), min(high, self.range[1])


class PairedAUC(_Betted):
    """AUC of pairs of items of one update, or the Gini coefficient."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.is_gini = isinstance(options.measure, GiniMeasure)
        self.target = f"expected {'Gini coefficient' if self.is_gini else 'AUC'} within updates"

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Bet on the pairs of the items, in the mean over all pairings."""
        data = counted_list(batch.ranker)
        blocks = counted_blocks(data.score, data.positive, data.weight)
        self.n += blocks.n
        n_pairs = min(blocks.k, blocks.n - blocks.k)
        bets = self.ready(n_pairs)
        if bets is not None and n_pairs:
            n_pos = blocks.n_pos[::-1]
            n_neg = blocks.size[::-1] - n_pos
            bets.add_growth(*pair_growth(n_pos, n_neg, bets.wagers.gains))

    def limits(self) -> tuple[float, float, float]:
        """Find the mean of the AUCs, or the Gini coefficient that belongs to it, and limits."""
        mean, low, high = super().limits()
        return (2 * mean - 1, 2 * low - 1, 2 * high - 1) if self.is_gini else (mean, low, high)


class AlertPrecision(_Betted):
    """Share of positives among the items of a score of at least a fixed threshold."""

    def __init__(self, options: Options, threshold: float) -> None:
        super().__init__(options)
        self.threshold = threshold
        self.target = f"precision among scores of at least {threshold:g}"

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Bet on the labels of the items above the threshold."""
        data = counted_list(batch.ranker)
        weight = data.counts * (data.score >= self.threshold)
        n_alerts = float(weight.sum())
        self.n += n_alerts
        bets = self.ready(n_alerts)
        if bets is not None:
            bets.add_coins(float(weight[data.positive].sum()), n_alerts)


class TopPrecision:
    """Precision in the top of the population, whose threshold the rows so far tell."""

    method = "betting"

    def __init__(self, options: Options, tau: float) -> None:
        self.options = options
        self.tau = tau
        self.target = f"precision in the top {tau:g} of the population"
        self.n = self.n_first = 0.0
        self.accumulator: Accumulator | None = None

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        """Remember all rows so far."""
        n_added = float(counted_list(batch.ranker).counts.sum())
        self.n_first = self.n_first or n_added
        self.n += n_added
        self.accumulator = so_far

    def limits(self) -> tuple[float, float, float]:
        """Find the precision and its limits."""
        if self.accumulator is None:
            return nan, 0.0, 1.0
        data = counted_list(self.accumulator)
        blocks = counted_blocks(data.score, data.positive, data.weight)
        n_best = self.options.best_after * self.n_first
        limits = top_limits_at_all_times(
            blocks.n_pos, blocks.size, self.tau, n_best, self.options.alpha
        )
        return float(self.options.measure.values(data)[0]), *limits
