"""Confidence sequences that are valid for every number of rows, by betting."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import log, nan
from typing import Protocol

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import UndefinedMetricWarning

from .._order import counted_blocks
from .._typing import BoolArray, FloatArray
from ..metrics import Accumulator, Measure
from ..metrics._shared import GiniMeasure
from ._queries import ROUNDING
from ._samples import counted_list

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
        """Bet on values."""
        values = np.clip(values, 0.0, 1.0)
        gains = self.wagers.gains[:, np.newaxis]
        for start in range(0, len(values), CHUNK):
            some = values[start : start + CHUNK]
            self.up += np.log1p(gains * some).sum(axis=1)
            self.down += np.log1p(gains * (1.0 - some)).sum(axis=1)
        self.count += len(values)
        self.total += float(values.sum())

    def add_coins(self, ones: float, count: float) -> None:
        """Bet on values of 0 and 1."""
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
    most = -log(alpha)
    up, down, count = np.concatenate([up, up]), np.concatenate([down, down]), np.tile(count, 2)
    limits = np.repeat([0.0, 1.0], len(count) // 2)
    for _ in range(MOST_STEPS):
        won, slope = log_capital(wagers, up, down, count, limits)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(won > most, (most - won) / slope, 0.0)
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
    won = np.concatenate(
        [
            wagers.log_shares + up - count * np.log1p(large),
            wagers.log_shares + down - count * np.log1p(small),
        ],
        axis=1,
    )
    most = won.max(axis=1)
    won = np.exp(won - most[:, np.newaxis])
    slopes = np.concatenate([-gains / (1.0 + large), gains / (1.0 + small)], axis=1)
    total = won.sum(axis=1)
    return most + np.log(total), count[:, 0] * (won * slopes).sum(axis=1) / total


# Pairs that share no item, at most, in one mean over pairings; numbers of subsets of so many pairs
# are below the largest float64.
MOST_PAIRS = 1000


def pair_growth(
    n_pos: FloatArray, n_neg: FloatArray, gains: FloatArray
) -> tuple[FloatArray, FloatArray, float, int]:
    """What bets on the pairs of some items become, in the mean over the pairings.

    A pairing gives each item of the smaller class another item of the larger one. A pair is worth
    1 where the positive has the higher score, 1/2 where they are tied, and else 0.
    """
    up, down = np.zeros(len(gains)), np.zeros(len(gains))
    total, n_pairs = 0.0, 0
    for of_pos, of_neg in _dealt(n_pos.astype(np.intp), n_neg.astype(np.intp)):
        some = min(int(of_pos.sum()), int(of_neg.sum()))
        # Of each positive how many negatives it beats, and of each negative how many beat it:
        # the same matrix, from the other end.
        if of_pos.sum() <= of_neg.sum():
            wins, losses = (of_pos, of_neg), (of_pos[::-1], of_neg[::-1])
        else:
            wins, losses = (of_neg[::-1], of_pos[::-1]), (of_neg, of_pos)
        won, lost = _subsets(*wins), _subsets(*losses)
        up += _mean_product(won, gains)
        down += _mean_product(lost, gains)
        total += float(won[1])
        n_pairs += some
    return up, down, total, n_pairs


def _dealt(n_pos: np.ndarray, n_neg: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Deal the items of each class to parts of at most so many pairs."""
    n_parts = -(-min(int(n_pos.sum()), int(n_neg.sum())) // MOST_PAIRS)
    if n_parts <= 1:
        return [(n_pos, n_neg)] * n_parts
    rng = np.random.default_rng(0)
    dealt = []
    for counts in (n_pos, n_neg):
        blocks = np.repeat(np.arange(len(counts)), counts)
        parts = np.array_split(rng.permutation(blocks), n_parts)
        dealt.append([np.bincount(part, minlength=len(counts)) for part in parts])
    return list(zip(*dealt, strict=True))


def _subsets(rows: np.ndarray, columns: np.ndarray) -> FloatArray:
    """Mean over pairings of the sum over all j pairs of the product of their worths, by j.

    ``rows`` and ``columns`` count the items of the smaller and of the larger class in each block;
    a pair is worth 1 where the row lies in a later block than the column.
    """
    n_rows, n_columns = int(rows.sum()), int(columns.sum())
    below = np.cumsum(columns) - columns
    found = np.zeros(n_rows + 1)
    found[0] = 1.0
    # Probability that a row meets one of the b columns below it, when j others are taken by rows
    # that lie below: (b - j) / (n_columns - j).
    taken = np.arange(n_rows, dtype=np.float64)
    done = 0
    for block in np.flatnonzero(rows):
        chance = np.maximum(below[block] - taken, 0.0) / (n_columns - taken)
        n_here, tied = int(rows[block]), int(columns[block])
        steps = [found]
        for row in range(n_here):
            last = min(done + row, int(below[block]) - 1) + 1
            after = steps[-1].copy()
            if last > 0:
                after[1 : last + 1] += chance[:last] * steps[-1][:last]
            steps.append(after)
        found = steps[-1]
        if tied:
            found = _with_ties(steps, tied, int(below[block]), taken, n_columns)
        done += n_here
    return found


def _with_ties(
    steps: list[FloatArray], tied: int, n_below: int, taken: FloatArray, n_columns: int
) -> FloatArray:
    """Let w of the rows of a block meet columns of their own block, each worth 1/2."""
    n_here = len(steps) - 1
    found = steps[-1].copy()
    # No more rows meet columns below than there are, and the tied ones are others.
    free = n_columns - taken[: n_below + 1]
    ways = np.ones(len(free))
    for w in range(1, min(n_here, tied) + 1):
        # w ordered columns of the tied ones, after j that lie below; w rows of those here.
        ways *= (tied - w + 1) / (free - (w - 1)) * ((n_here - w + 1) / (2.0 * w))
        source = steps[n_here - w][: min(len(ways), len(found) - w)]
        found[w : w + len(source)] += ways[: len(source)] * source
    return found


def _mean_product(subsets: FloatArray, gains: FloatArray) -> FloatArray:
    """Logarithm of the sum over j of ``gain**j`` times what j pairs are worth."""
    with np.errstate(divide="ignore"):
        logs = np.log(subsets)
    return logsumexp(logs + np.log(gains)[:, np.newaxis] * np.arange(len(subsets)), axis=1)


# Part of the error that is spent on where the top of the population ends in the sample.
THRESHOLD_SHARE = 0.2
# Tops of different length that are looked at at once.
TOPS_AT_ONCE = 2**12


def top_limits_at_all_times(
    n_pos: FloatArray, size: FloatArray, tau: float, n_best: float, alpha: float
) -> tuple[float, float]:
    """Limits from every number of items that may lie above the threshold of the population."""
    n = int(size.sum())
    of_threshold = alpha * THRESHOLD_SHARE
    first, last = _counts_above(n, tau, n_best, of_threshold)
    if first == 0:
        return 0.0, 1.0
    wagers = Wagers(n_best * tau, alpha - of_threshold)
    upto, positives = np.cumsum(size), np.cumsum(n_pos)
    low, high = 1.0, 0.0
    for start in range(first, last + 1, TOPS_AT_ONCE):
        count = np.arange(start, min(start + TOPS_AT_ONCE, last + 1), dtype=np.float64)
        block = np.searchsorted(upto, count, "left")
        above, inside = upto[block] - size[block], n_pos[block]
        before, cut = positives[block] - inside, count - above
        # Within the block that the end cuts, negatives first or positives first.
        fewest = before + np.maximum(cut - (size[block] - inside), 0.0)
        most = before + np.minimum(cut, inside)
        low = min(low, float(_share_limits(wagers, fewest, count, alpha - of_threshold)[0].min()))
        high = max(high, float(_share_limits(wagers, most, count, alpha - of_threshold)[1].max()))
    return low, high


def _counts_above(n: int, tau: float, n_best: float, alpha: float) -> tuple[int, int]:
    """Least and largest number of n items above the threshold that bets do not refute."""
    wagers = Wagers(n_best, alpha, (tau * (1.0 - tau)) ** 0.5)
    gain, most = np.log1p(wagers.gains), -np.log(alpha)

    def is_held(count: int) -> bool:
        won, _ = log_capital(
            wagers,
            (count * gain)[np.newaxis],
            ((n - count) * gain)[np.newaxis],
            np.array([float(n)]),
            np.array([tau]),
        )
        return bool(won[0] < most)

    found = []
    for inside, end in ((int(np.floor(tau * n)), 0), (int(np.ceil(tau * n)), n)):
        # The capital is convex in the count.
        outside = end + (1 if end else -1)
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            inside, outside = (middle, outside) if is_held(middle) else (inside, middle)
        found.append(inside)
    return found[0], found[1]


def _share_limits(
    wagers: Wagers, ones: FloatArray, count: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    gain = np.log1p(wagers.gains)
    return mean_limits(
        wagers,
        np.multiply.outer(ones, gain),
        np.multiply.outer(count - ones, gain),
        count,
        alpha,
    )


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
