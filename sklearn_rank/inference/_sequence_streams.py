"""States of confidence sequences: rows are added, and limits hold after each update."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import replace
from math import e, isfinite, log, log1p, nan
from typing import NamedTuple

import numpy as np
from scipy.special import lambertw, logsumexp, ndtr
from sklearn.exceptions import UndefinedMetricWarning

from .._order import counted_blocks
from .._typing import BoolArray, FloatArray
from ..metrics import Accumulator, Measure
from ..metrics._shared import GiniMeasure
from ._influence import influence_of, joint_influence, nonzero_variance, refuse_unknown
from ._limits import two_sided_quantile
from ._metric_interval import interval_of_accumulator, list_methods
from ._queries import ROUNDING, QueryValues, refuse_infinite, sample_interval
from ._samples import accumulated_list
from ._top import THRESHOLD_SHARE, extreme_hits

# Wagers on either side, in geometric progression about the one that is best for the expected
# number of values; closer ones do not make the intervals narrower.
RATIO = 1.5
N_EITHER_WAY = 28
# Standard deviation for which the middle wager is best.
TYPICAL_DEVIATION = 0.25
# Newton's steps, of which about fifteen are taken, until they are nearly as small as rounding.
MOST_STEPS = 200
SMALLEST_STEP = 1e-13
# Number of values that are processed at once.
CHUNK = 2**15


class Wagers:
    """Sizes of the bets: gains of a value of 1 over one of 0, and fractions of the capital."""

    def __init__(self, n_best: float, alpha: float, deviation: float = TYPICAL_DEVIATION) -> None:
        middle = (2.0 * log(2.0 / alpha) / n_best) ** 0.5 / deviation
        place = log(RATIO) * np.arange(-N_EITHER_WAY, N_EITHER_WAY + 1)
        share = 1.0 / (1.0 + place**2)
        self.gains: FloatArray = middle * np.exp(place)
        # Half of the capital is on large values, half on small ones.
        self.log_shares: FloatArray = np.log(share / (2.0 * share.sum()))


class Bets:
    """Capital of bets on values in [0, 1], as a function of the mean that they are against."""

    def __init__(self, wagers: Wagers) -> None:
        self.wagers = wagers
        self.up = np.zeros(len(wagers.gains))
        self.down = np.zeros(len(wagers.gains))
        self.count = self.total = 0.0

    def add_values(self, values: FloatArray) -> None:
        values = np.clip(values, 0.0, 1.0)
        gains = self.wagers.gains[:, np.newaxis]
        for start in range(0, len(values), CHUNK):
            chunk = values[start : start + CHUNK]
            self.up += np.log1p(gains * chunk).sum(axis=1)
            self.down += np.log1p(gains * (1.0 - chunk)).sum(axis=1)
        self.count += len(values)
        self.total += float(values.sum())

    def add_coins(self, ones: float, count: float) -> None:
        self.add_growth(
            ones * np.log1p(self.wagers.gains),
            (count - ones) * np.log1p(self.wagers.gains),
            ones,
            count,
        )

    def add_growth(self, up: FloatArray, down: FloatArray, total: float, count: float) -> None:
        """Add what bets on some values have become."""
        self.up, self.down = self.up + up, self.down + down
        self.total += total
        self.count += count

    @property
    def mean(self) -> float:
        """Mean of the values, of which there is one at least."""
        return self.total / self.count

    def limits(self, alpha: float) -> tuple[float, float]:
        """Find the least and the largest mean against which the capital is below ``1 / alpha``."""
        low, high = mean_limits(
            self.wagers,
            self.up[np.newaxis],
            self.down[np.newaxis],
            np.array([self.count]),
            alpha,
        )
        return float(low[0]), float(high[0])


def mean_limits(
    wagers: Wagers,
    up: FloatArray,
    down: FloatArray,
    count: FloatArray,
    alpha: float,
) -> tuple[FloatArray, FloatArray]:
    """Find the means against which bets on several samples have not won ``1 / alpha``.

    The limits, to rounding. Shape (n_samples,).
    """
    threshold = -log(alpha)
    up, down, count = np.concatenate([up, up]), np.concatenate([down, down]), np.tile(count, 2)
    limits = np.repeat([0.0, 1.0], len(count) // 2)
    for _ in range(MOST_STEPS):
        capital, slope = log_capital(wagers, up, down, count, limits)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(capital > threshold, (threshold - capital) / slope, 0.0)
        limits += step
        if np.max(np.abs(step)) <= SMALLEST_STEP:
            break
    low, high = np.split(limits, 2)
    return low, high


def log_capital(
    wagers: Wagers, up: FloatArray, down: FloatArray, count: FloatArray, mean: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Logarithm of the capital that bets against a mean have become from 1, and its slope."""
    mean, count, gains = mean[:, np.newaxis], count[:, np.newaxis], wagers.gains
    large, small = gains * mean, gains * (1.0 - mean)
    logs = np.concatenate(
        [
            wagers.log_shares + up - count * np.log1p(large),
            wagers.log_shares + down - count * np.log1p(small),
        ],
        axis=1,
    )
    largest = logs.max(axis=1)
    logs = np.exp(logs - largest[:, np.newaxis])
    slopes = np.concatenate([-gains / (1.0 + large), gains / (1.0 + small)], axis=1)
    total = logs.sum(axis=1)
    return largest + np.log(total), count[:, 0] * (logs * slopes).sum(axis=1) / total


# Pairs that share no item, at most, in one mean over pairings; numbers of subsets of so many pairs
# are below the largest float64.
MOST_PAIRS = 1000


def pair_growth(
    n_pos: FloatArray, n_neg: FloatArray, gains: FloatArray
) -> tuple[FloatArray, FloatArray, float, int]:
    """Growth of bets on the pairs of some items, up and down, their total and their number.

    It is the mean over the pairings, which give each item of the smaller class another item of the
    larger one. A pair is worth 1 where the positive has the higher score, 1/2 where they are tied,
    and otherwise 0.
    """
    up, down = np.zeros(len(gains)), np.zeros(len(gains))
    total, n_pairs = 0.0, 0
    for part_pos, part_neg in _split_pairs(n_pos.astype(np.intp), n_neg.astype(np.intp)):
        # Of each positive how many negatives it beats, and of each negative how many beat it:
        # the same matrix, from the other end.
        if part_pos.sum() <= part_neg.sum():
            wins, losses = (part_pos, part_neg), (part_pos[::-1], part_neg[::-1])
        else:
            wins, losses = (part_neg[::-1], part_pos[::-1]), (part_neg, part_pos)
        won = _subsets(*wins)
        up += _mean_product(won, gains)
        down += _mean_product(_subsets(*losses), gains)
        total += float(won[1])
        n_pairs += min(int(part_pos.sum()), int(part_neg.sum()))
    return up, down, total, n_pairs


def _split_pairs(n_pos: np.ndarray, n_neg: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split the items of each class at random, so that no part has too many pairs."""
    n_parts = -(-min(int(n_pos.sum()), int(n_neg.sum())) // MOST_PAIRS)
    if n_parts <= 1:
        return [(n_pos, n_neg)] * n_parts
    rng = np.random.default_rng(0)
    split = []
    for counts in (n_pos, n_neg):
        blocks = np.repeat(np.arange(len(counts)), counts)
        parts = np.array_split(rng.permutation(blocks), n_parts)
        split.append([np.bincount(part, minlength=len(counts)) for part in parts])
    return list(zip(*split, strict=True))


def _subsets(rows: np.ndarray, columns: np.ndarray) -> FloatArray:
    """Mean over pairings of the sum over all j pairs of the product of their worths, by j.

    ``rows`` and ``columns`` count the items of the smaller and of the larger class in each block;
    a pair is worth 1 where the row lies in a later block than the column.
    """
    n_rows, n_columns = int(rows.sum()), int(columns.sum())
    below = np.cumsum(columns) - columns
    sums = np.zeros(n_rows + 1)
    sums[0] = 1.0
    # Probability that a row meets one of the b columns below it, when j others are taken by rows
    # that lie below: (b - j) / (n_columns - j).
    n_taken = np.arange(n_rows, dtype=np.float64)
    n_done = 0
    for block in np.flatnonzero(rows):
        chance = np.maximum(below[block] - n_taken, 0.0) / (n_columns - n_taken)
        n_block, tied = int(rows[block]), int(columns[block])
        steps = [sums]
        for row in range(n_block):
            last = min(n_done + row, int(below[block]) - 1) + 1
            after = steps[-1].copy()
            if last > 0:
                after[1 : last + 1] += chance[:last] * steps[-1][:last]
            steps.append(after)
        sums = steps[-1]
        if tied:
            sums = _with_ties(steps, tied, int(below[block]), n_taken, n_columns)
        n_done += n_block
    return sums


def _with_ties(
    steps: list[FloatArray], tied: int, n_below: int, n_taken: FloatArray, n_columns: int
) -> FloatArray:
    """Let w of the rows of a block meet columns of their own block, each worth 1/2."""
    n_block = len(steps) - 1
    sums = steps[-1].copy()
    # No more rows meet columns below than there are, and the tied ones are others.
    free = n_columns - n_taken[: n_below + 1]
    ways = np.ones(len(free))
    for w in range(1, min(n_block, tied) + 1):
        # w ordered columns of the tied ones, after j that lie below; w rows of those here.
        ways *= (tied - w + 1) / (free - (w - 1)) * ((n_block - w + 1) / (2.0 * w))
        source = steps[n_block - w][: min(len(ways), len(sums) - w)]
        sums[w : w + len(source)] += ways[: len(source)] * source
    return sums


def _mean_product(subsets: FloatArray, gains: FloatArray) -> FloatArray:
    """Logarithm of the sum over j of ``gain**j`` times what j pairs are worth."""
    with np.errstate(divide="ignore"):
        logs = np.log(subsets)
    return logsumexp(logs + np.log(gains)[:, np.newaxis] * np.arange(len(subsets)), axis=1)


# Tops of different length that are evaluated at once.
TOPS_AT_ONCE = 2**12


def top_limits_at_all_times(
    n_pos: FloatArray, size: FloatArray, tau: float, n_best: float, alpha: float
) -> tuple[float, float]:
    """Limits from every number of items that may lie above the threshold of the population."""
    n = int(size.sum())
    least, largest = _counts_above(n, tau, n_best, alpha * THRESHOLD_SHARE)
    if least == 0:
        return 0.0, 1.0
    alpha -= alpha * THRESHOLD_SHARE
    wagers = Wagers(n_best * tau, alpha)
    gain = np.log1p(wagers.gains)
    low, high = 1.0, 0.0
    for start in range(least, largest + 1, TOPS_AT_ONCE):
        count = np.arange(start, min(start + TOPS_AT_ONCE, largest + 1))
        for side, ones in enumerate(extreme_hits(n_pos, size, count)):
            up, down = np.multiply.outer(ones, gain), np.multiply.outer(count - ones, gain)
            limits = mean_limits(wagers, up, down, count.astype(np.float64), alpha)[side]
            if side == 0:
                low = min(low, float(limits.min()))
            else:
                high = max(high, float(limits.max()))
    return low, high


def _counts_above(n: int, tau: float, n_best: float, alpha: float) -> tuple[int, int]:
    """Least and largest number of n items above the threshold that bets do not refute."""
    wagers = Wagers(n_best, alpha, (tau * (1.0 - tau)) ** 0.5)
    gain = np.log1p(wagers.gains)

    def is_possible(count: int) -> bool:
        capital, _ = log_capital(
            wagers,
            (count * gain)[np.newaxis],
            ((n - count) * gain)[np.newaxis],
            np.array([float(n)]),
            np.array([tau]),
        )
        return bool(capital[0] < -np.log(alpha))

    counts = []
    for inside, end in ((int(np.floor(tau * n)), 0), (int(np.ceil(tau * n)), n)):
        # The capital is convex in the count.
        outside = end + (1 if end else -1)
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            inside, outside = (middle, outside) if is_possible(middle) else (inside, middle)
        counts.append(inside)
    return counts[0], counts[1]


class Options(NamedTuple):
    """Options of all streams."""

    measure: Measure
    level: float  # Probability that the limits hold at all looks, in (0, 1)
    best_after: float  # After how many updates like the first the limits are to be nearest

    @property
    def alpha(self) -> float:
        """Probability of error."""
        return 1.0 - self.level


class Batch(NamedTuple):
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
    values = measure._combine(queries.values, queries.to_lists(), None, False)
    refuse_infinite(measure.name, values, queries.ids)
    return np.asarray(values, dtype=np.float64)


class Stream(ABC):
    """State of a confidence sequence."""

    method = "betting"

    def __init__(
        self, options: Options, target: str, range: tuple[float, float] = (0.0, 1.0)
    ) -> None:
        self.options, self.target, self.range = options, target, range
        self.n = self.n_first = 0.0  # Items or queries so far, and in the first update with some

    def count(self, n_added: float) -> None:
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

    def add(self, batch: Batch, so_far: Accumulator) -> None:
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
        self.count(float(accumulated_list(batch.ranker).counts.sum()))
        self.accumulator = so_far


class TopPrecision(_OneList):
    """Precision in the top of the population, whose threshold the rows so far tell."""

    def __init__(self, options: Options, tau: float) -> None:
        super().__init__(options, f"precision in the top {tau:g} of the population")
        self.tau = tau

    def limits(self) -> tuple[float, float, float]:
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

    values: FloatArray = np.empty(0)

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        self.values = np.concatenate([self.values, batch.values])
        self.count(len(batch.values))

    def is_estimable(self) -> bool:
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
        if self.accumulator is None:
            return False
        positive = accumulated_list(self.accumulator).positive
        return bool(positive.any() and not positive.all())

    def limits_at(self, level: float) -> tuple[float, float, float]:
        interval = interval_of_accumulator(self.accumulator, level)  # type: ignore[arg-type]
        self.target = interval.target
        return interval.estimate, interval.low, interval.high


class ListDifference(_Asymptotic):
    """Difference of a measure of one list between two rankers of the same rows."""

    positive: BoolArray = np.empty(0, dtype=bool)
    scores: FloatArray = np.empty((2, 0))

    def __init__(self, options: Options) -> None:
        refuse_unknown(options.measure)
        low, high = options.measure.range
        target = f"difference of {options.measure.name}"
        super().__init__(options, target, (low - high, high - low))

    def add(self, batch: Batch, so_far: Accumulator) -> None:
        if batch.rows is not None:
            positive, *scores = batch.rows
            self.positive = np.concatenate([self.positive, positive])
            self.scores = np.concatenate([self.scores, np.stack(scores)], axis=1)
            self.count(float(len(positive)))

    def is_estimable(self) -> bool:
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
        variance = nonzero_variance(joint, contrast, difference)
        half = two_sided_quantile(level) * float(np.sqrt(variance))
        low, high = difference - half, difference + half
        if isfinite(joint.length):
            low, high = max(low, -joint.length), min(high, joint.length)
        return difference, low, high
