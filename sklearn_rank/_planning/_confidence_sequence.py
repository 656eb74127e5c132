"""Confidence sequences: intervals that are valid at every look at new data."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from math import e, exp, isfinite, isnan, log, log1p, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import lambertw, logsumexp, ndtr
from sklearn.utils import check_consistent_length

from .. import _outer
from .._optional import import_pandas
from .._order import counted_blocks
from .._printed import fixed, html_table
from .._typing import AnyArray, ArrayPair, FloatArray
from .._validation import (
    Coded,
    array_of_labels,
    check_choice,
    check_column,
    check_flag,
    check_level,
    check_number,
    check_qid,
    in_coarsest_type,
    refuse_misread,
    shape_of,
    take,
)
from .._warn import warn
from ..inference import Interval
from ..inference._shared import (
    BLOCK,
    LEAST_DRAWS,
    MOST_STEPS,
    ROUNDED_STEP,
    THRESHOLD_SHARE,
    QueryValues,
    WeightMeaning,
    accumulated_list,
    check_joined_groups,
    check_lists,
    check_weight_meaning,
    expected_area,
    extreme_hits,
    interval_of,
    joint_of_rankers,
    method_of,
    on_same_queries,
    refuse_fractions,
    refuse_unknown,
    sample_interval,
    two_sided_quantile,
)
from ..metrics import Accumulator, Measure, get_measure
from ..metrics._shared import Evidence, MeasureLike

if TYPE_CHECKING:
    from .._labels_in_part import Design

# Growth of bets on some values, up and down, by the size of the bet; their total and their number.
Growth = tuple[FloatArray, FloatArray, float, float]


class Bets:
    """Capital of bets on values in [0, 1], as a function of the mean that they are against."""

    def __init__(self, n_best: float, alpha: float, deviation: float = 0.25) -> None:
        middle = (2.0 * log(2.0 / alpha) / n_best) ** 0.5 / deviation
        # Bets in geometric progression about the one that is best for the expected number of
        # values with this deviation; closer ones do not make the intervals narrower.
        place = log(1.5) * np.arange(-28, 29)
        share = 1.0 / (1.0 + place**2)
        # Gain of a value of 1 over one of 0.
        self.gains: FloatArray = middle * np.exp(place)
        # Half of the capital is on large values, half on small ones.
        self.log_shares: FloatArray = np.log(share / (2.0 * share.sum()))
        self.up, self.down = np.zeros((2, len(place)))
        self.count = self.total = 0.0

    def add(self, up: FloatArray, down: FloatArray, total: float, count: float) -> None:
        self.up, self.down = self.up + up, self.down + down
        self.total += total
        self.count += count

    def limits(self, alpha: float) -> tuple[float, float]:
        """Find the least and the largest mean against which the capital is below ``1 / alpha``."""
        up, down, count = self.up[np.newaxis], self.down[np.newaxis], np.array([self.count])
        low, high = mean_limits(self, up, down, count, alpha)
        return float(low[0]), float(high[0])


def value_growth(values: FloatArray, gains: FloatArray) -> Growth:
    values = np.clip(values, 0.0, 1.0)
    up, down = np.zeros((2, len(gains)))
    rows = BLOCK // len(gains)
    for start in range(0, len(values), rows):
        chunk = values[start : start + rows]
        up += np.log1p(gains[:, np.newaxis] * chunk).sum(axis=1)
        down += np.log1p(gains[:, np.newaxis] * (1.0 - chunk)).sum(axis=1)
    return up, down, float(values.sum()), float(len(values))


def coin_growth(ones: float, count: float, gains: FloatArray) -> Growth:
    return ones * np.log1p(gains), (count - ones) * np.log1p(gains), ones, count


def mean_limits(
    bets: Bets, up: FloatArray, down: FloatArray, count: FloatArray, alpha: float
) -> ArrayPair:
    """Find the means against which bets on several samples have not won ``1 / alpha``.

    The limits, to rounding. Shape (n_samples,).
    """
    threshold = -log(alpha)
    up, down, count = np.concatenate([up, up]), np.concatenate([down, down]), np.tile(count, 2)
    limits = np.repeat([0.0, 1.0], len(count) // 2)
    for _ in range(MOST_STEPS):
        capital, slope = log_capital(bets, up, down, count, limits)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(capital > threshold, (threshold - capital) / slope, 0.0)
        limits += step
        if np.max(np.abs(step)) <= ROUNDED_STEP:
            break
    low, high = np.split(limits, 2)
    return low, high


def log_capital(
    bets: Bets, up: FloatArray, down: FloatArray, count: FloatArray, mean: FloatArray
) -> ArrayPair:
    """Logarithm of the capital that bets against a mean have become from 1, and its slope."""
    mean, count, gains = mean[:, np.newaxis], count[:, np.newaxis], bets.gains
    large, small = gains * mean, gains * (1.0 - mean)
    sides = (up, large), (down, small)
    logs = np.hstack([bets.log_shares + grown - count * np.log1p(x) for grown, x in sides])
    largest = logs.max(axis=1)
    logs = np.exp(logs - largest[:, np.newaxis])
    slopes = np.concatenate([-gains / (1.0 + large), gains / (1.0 + small)], axis=1)
    total = logs.sum(axis=1)
    return largest + np.log(total), count[:, 0] * (logs * slopes).sum(axis=1) / total


# Pairs that share no item, at most, in one mean over pairings; numbers of subsets of so many pairs
# are below the largest float64.
MOST_PAIRS = 1000


def pair_growth(n_pos: FloatArray, n_neg: FloatArray, gains: FloatArray) -> Growth:
    """Growth on pairs of a positive and a negative, the items of each class by block, ascending.

    It is the mean over the pairings, which give each item of the smaller class another item of the
    larger one. A pair counts 1 where the positive has the higher score, 1/2 where they are tied,
    and otherwise 0.
    """
    up, down = np.zeros(len(gains)), np.zeros(len(gains))
    total, n_pairs = 0.0, 0
    for part_pos, part_neg in _split_pairs(n_pos.astype(np.intp), n_neg.astype(np.intp)):
        # Of each positive how many negatives it beats, and of each negative how many beat it:
        # the same matrix, from the other end.
        ends = [(part_pos, part_neg), (part_pos[::-1], part_neg[::-1])]
        if part_pos.sum() > part_neg.sum():
            ends = [end[::-1] for end in reversed(ends)]
        won, lost = (_subsets(*end) for end in ends)
        up += _mean_product(won, gains)
        down += _mean_product(lost, gains)
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
    """Mean over pairings of the sum over all j pairs of the product of their values, by j.

    ``rows`` and ``columns`` count the items of the smaller and of the larger class in each block;
    a pair counts 1 where the row lies in a later block than the column.
    """
    below = np.cumsum(columns) - columns
    # Probability that a row meets one of the b columns below it, when j others are taken by rows
    # that lie below: (b - j) / (n_columns - j).
    n_taken = np.arange(rows.sum(), dtype=np.float64)
    n_free = columns.sum() - n_taken
    sums = np.append(1.0, 0.0 * n_taken)
    for block in np.flatnonzero(rows):
        chance = np.maximum(below[block] - n_taken, 0.0) / n_free
        steps = [sums]
        for _ in range(rows[block]):
            steps.append(steps[-1] + np.append(0.0, chance * steps[-1][:-1]))
        sums = _with_ties(steps, int(columns[block]), n_free[: below[block] + 1])
    return sums


def _with_ties(steps: list[FloatArray], tied: int, free: FloatArray) -> FloatArray:
    """Let w of the rows of a block meet columns of their own block, each counting 1/2.

    ``free`` are the columns that are left when as many rows meet columns below as there are.
    """
    n_block, sums, share = len(steps) - 1, steps[-1].copy(), np.ones(len(free))
    for w in range(1, min(n_block, tied) + 1):
        # w ordered columns of the tied ones, after j that lie below; w rows of those here.
        share *= (tied - w + 1) / (free - (w - 1)) * ((n_block - w + 1) / (2.0 * w))
        source = steps[n_block - w][: min(len(share), len(sums) - w)]
        sums[w : w + len(source)] += share[: len(source)] * source
    return sums


def _mean_product(subsets: FloatArray, gains: FloatArray) -> FloatArray:
    """Logarithm of the sum over j of ``gain**j`` times the mean product of j pairs."""
    with np.errstate(divide="ignore"):
        logs = np.log(subsets)
    return logsumexp(logs + np.log(gains)[:, np.newaxis] * np.arange(len(subsets)), axis=1)


def top_limits_at_all_times(
    n_pos: FloatArray, size: FloatArray, tau: float, n_best: float, alpha: float
) -> tuple[float, float]:
    """Limits from every number of items that may lie above the threshold of the population."""
    n = int(size.sum())
    least, largest = _counts_above(n, tau, n_best, alpha * THRESHOLD_SHARE)
    if least == 0:
        return 0.0, 1.0
    alpha -= alpha * THRESHOLD_SHARE
    bets = Bets(n_best * tau, alpha)
    gain = np.log1p(bets.gains)
    lows, highs = [], []
    rows = BLOCK // len(gain)
    for start in range(least, largest + 1, rows):
        count = np.arange(start, min(start + rows, largest + 1))
        for ones in extreme_hits(n_pos, size, count):
            up, down = (np.multiply.outer(number, gain) for number in (ones, count - ones))
            low, high = mean_limits(bets, up, down, count.astype(np.float64), alpha)
            lows.append(low.min())
            highs.append(high.max())
    return float(min(lows)), float(max(highs))


def _counts_above(n: int, tau: float, n_best: float, alpha: float) -> tuple[int, int]:
    bets = Bets(n_best, alpha, (tau * (1.0 - tau)) ** 0.5)
    gain = np.log1p(bets.gains)[np.newaxis]

    def is_possible(count: int) -> bool:
        up, down = count * gain, (n - count) * gain
        capital, _ = log_capital(bets, up, down, np.array([float(n)]), np.array([tau]))
        return bool(capital[0] < -np.log(alpha))

    # The capital is convex in the count.
    below, above = int(np.floor(tau * n)), int(np.ceil(tau * n))
    least = bisect_left(range(below), True, key=is_possible)
    return least, n - bisect_left(range(n - above), True, key=lambda left: is_possible(n - left))


# Of one update: the rows with the scores of the ranker, of which some counts; and values of its
# queries, or labels, scores and groups of one list with a baseline or with groups, else None;
# which of baseline_score and groups there are.
Batch = tuple[Accumulator, dict[str, AnyArray] | None, tuple[str, ...]]


def query_values(scored: Sequence[Accumulator]) -> FloatArray:
    """Values of the queries that have one, less those of a baseline. Shape (n_queries,)."""
    by_score: dict[str, Any] = {str(i): part.query_values for i, part in enumerate(scored)}
    measure = scored[0].measure
    samples, _ = on_same_queries(
        measure, by_score, lambda name: by_score[name].combine(measure, None, True), least=0
    )
    first, *others = samples.values()
    return first.less(others[0]).values if others else first.values


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


@dataclass
class Stream:
    """State of a confidence sequence; that of a measure of one list keeps no rows itself."""

    method: str  # "betting" or "asymptotic"
    measure: Measure
    level: float  # Probability that the limits hold at all looks
    best_after: float  # After how many updates like the first the limits are to be nearest
    target: str
    range: tuple[float, float] = (0.0, 1.0)
    # Bets on a batch: its items or queries, the values that are bet on, and the growth by gains
    bets_on: Callable[[Stream, Batch], tuple[float, float, Callable[..., Growth]]] | None = None
    threshold: float | None = None  # Of the scores of alerts
    given: tuple[str, ...] = ()  # Which of baseline_score and groups all updates have
    bets: Bets | None = None  # Of a size that the first update with a value decides
    batches: tuple[dict[str, AnyArray], ...] = ()  # Columns that are kept
    n: float = 0.0  # Items or queries so far, and in the first update with some
    n_first: float = 0.0

    def add(self, batch: Batch) -> None:
        """Store what limits need of a batch, and count its items or queries."""
        ranker, columns, _ = batch
        if self.bets_on is not None:
            n, n_values, growth = self.bets_on(self, batch)
            if self.bets is None and n_values > 0:
                self.bets = Bets(self.best_after * n_values, 1.0 - self.level)
            if self.bets is not None:
                self.bets.add(*growth(self.bets.gains))
        elif columns is None:
            n = float(accumulated_list(ranker).counts.sum())
        else:
            self.batches += ({name: np.array(x) for name, x in columns.items()},)
            n = float(len(next(iter(columns.values()))))
        self.n_first = self.n_first or n
        self.n += n

    def limits(self, so_far: Accumulator) -> tuple[float, float, float]:
        """Find estimate and limits; without an estimate NaN and the ends of the range."""
        # Number of items or queries at which the limits are to be nearest.
        n_best = self.best_after * self.n_first
        if self.method == "asymptotic":
            return self._asymptotic_limits(so_far, n_best)
        if self.bets_on is None:
            measure: Any = self.measure
            data, tau = accumulated_list(so_far), float(measure.tau)
            blocks = counted_blocks(data.score, data.positive, data.weight)
            alpha = 1.0 - self.level
            limits = top_limits_at_all_times(blocks.n_pos, blocks.size, tau, n_best, alpha)
            return float(measure.values(data)[0]), *limits
        mean, low, high = nan, 0.0, 1.0
        if self.bets is not None:
            mean = self.bets.total / self.bets.count
            low, high = self.bets.limits(1.0 - self.level)
        origin, length = self.range[0], self.range[1] - self.range[0]
        mean, low, high = (origin + length * value for value in (mean, low, high))
        return mean, max(low, self.range[0]), min(high, self.range[1])

    def p_value(self, value: float) -> float:
        """Inverse of what bets against a mean have won, at most 1."""
        if (bets := self.bets) is None:
            return 1.0
        mean = np.array([(value - self.range[0]) / (self.range[1] - self.range[0])])
        grown = bets.up[np.newaxis], bets.down[np.newaxis], np.array([bets.count])
        return exp(-max(float(log_capital(bets, *grown, mean)[0][0]), 0.0))

    def _asymptotic_limits(self, so_far: Accumulator, n_best: float) -> tuple[float, float, float]:
        """Interval of one look at a level that depends on the number of items or queries."""
        names: Any = self.batches[0] if self.batches else ()
        columns = {
            name: np.concatenate(in_coarsest_type(*(batch[name] for batch in self.batches)))
            for name in names
            if name != "groups"
        }
        of_queries, measure = "values" in names, self.measure
        if of_queries:
            units = np.arange(self.n)
        else:
            data = accumulated_list(so_far)
            units = columns["labels"] if names else data.labels
        # Items of both classes are needed, or two queries.
        if len(units) < 2 or units.min() == units.max():
            return nan, *self.range
        level = level_at_all_times(self.level, self.n, n_best)
        if of_queries:
            sample = QueryValues(columns["values"], units, measure.name, self.range)
            found = sample_interval(sample, level)
        else:
            # The value at the population's share of positives, as that of the rows so far moves.
            conditional, groups = measure.kind != "binary", None
            evidences = [replace(measure.evidence(data), conditional=conditional)]
            if "groups" in names:
                ids = [batch["groups"] for batch in self.batches]
                groups = check_joined_groups(ids, [len(part) for part in ids])
            if names:
                rows: dict[str, Any] = {"conditional": conditional, "groups": groups}
                scores = [x for name, x in columns.items() if name != "labels"]
                evidences = check_lists(replace(measure, rel=None), units, scores, **rows)
            if len(evidences) == 2:
                found = self._difference(evidences, level)
            else:
                method = method_of(measure, grouped=groups is not None)
                found = interval_of(evidences[0], level, method)
            if not names:
                self.target = found.target
            drawn = [getattr(measure, "tau", 1.0) * data.sizes[0]]
            if measure.kind == "binary":
                drawn += [data.positives[0], data.sizes[0] - data.positives[0]]
            if min(drawn) < LEAST_DRAWS:
                # Of fewer items normal limits far out in the tails are not to be trusted.
                level = WIDEST
        low, high = (found.low, found.high) if level < WIDEST else self.range
        return found.estimate, low, high

    def _difference(self, evidences: Sequence[Evidence], level: float) -> Interval:
        """Difference of a measure of one list between two rankers of the same rows."""
        joint, _, _ = joint_of_rankers(evidences)
        difference = float(joint.estimates[0] - joint.estimates[1])
        (error,), (degrees,) = joint.standard_errors(np.array([[1.0, -1.0]]))
        half, (least, most) = two_sided_quantile(level, degrees) * float(error), self.range
        limits = max(difference - half, least), min(difference + half, most)
        return Interval(difference, *limits, level, self.method, self.target)


def on_queries(stream: Stream, batch: Batch) -> tuple[float, float, Callable[..., Growth]]:
    """Bets on the values of queries."""
    values, (low, high) = (batch[1] or {})["values"], stream.range
    n = float(len(values))
    return n, n, partial(value_growth, (values - low) / (high - low))


def on_alerts(stream: Stream, batch: Batch) -> tuple[float, float, Callable[..., Growth]]:
    """Bets on the labels of items above a threshold."""
    data = accumulated_list(batch[0])
    weight = data.counts * (data.score >= stream.threshold)
    n = float(weight.sum())
    return n, n, partial(coin_growth, float(weight[data.positive].sum()), n)


def on_pairs(stream: Stream, batch: Batch) -> tuple[float, float, Callable[..., Growth]]:
    """Bets on pairs of both classes."""
    data = accumulated_list(batch[0])
    blocks = counted_blocks(data.score, data.positive, data.weight)
    n_pos, size = blocks.n_pos[::-1], blocks.size[::-1]
    n_pairs = min(blocks.k, blocks.n - blocks.k)
    return blocks.n, n_pairs, partial(pair_growth, n_pos, size - n_pos)


# ---------------------------------------------------------------------------------------- sequence


class ConfidenceSequence:
    """Confidence sequence: intervals for a ranking measure, valid at every look at new data.

    If an ordinary interval is computed ten times as data arrive, it fails at one of these looks
    much more often than its level states. The intervals of a confidence sequence satisfy
    ``P(target_t in interval_t for all t) >= level``, for any number of looks and any stopping
    rule.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts.
    level : float, default=0.95
        Probability, in (0, 1), that all intervals cover their targets. A higher level gives wider
        intervals.
    method : {"auto", "betting", "asymptotic"}, default="auto"
        "betting" is valid for every number of rows. It supports means over queries of a measure
        with a known range, and ``"auc"``, ``"gini"`` and ``"precision@top"`` of one list.
        "asymptotic" is valid in the limit of a large first update. It supports means over queries,
        and the measures of one list that have an interval for a single look and a value of the
        population, which the number of rows does not change: ``"lift@0.1"``, not
        ``"precision@10"``; their limits are the ends of the range as long as one of two classes,
        or the top, has fewer than ten rows. "auto" is "betting" if it supports the measure and
        there are no ``groups``, else "asymptotic".
    threshold : float or None, default=None
        Score threshold for a measure such as ``"precision@top0.05"``, fixed without use of these
        rows. The target is then the fraction of positives among the rows with at least this score,
        whatever number follows "top"; -inf uses all rows. It is rounded as the scores are, for
        example to float32: pass scores of the type on which it was found. None means the top of
        the population, whose threshold is estimated.
    best_after : float, default=5
        Number of updates, each as large as the first, after which the intervals are narrowest
        relative to intervals for one look. Intervals after ten times more or fewer updates are
        about 10 % wider than the optimum.
    intersect : bool, default=False
        Whether each interval is intersected with all earlier ones. This is valid only if the
        target does not change over time.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Attributes
    ----------
    measure : Measure
        The measure.
    n_looks : int
        Number of updates.
    interval : Interval
        Interval of the last update.
    history : tuple of Interval
        Intervals of all updates.

    Raises
    ------
    TypeError
        If ``measure`` is not a measure.
    ValueError
        If an argument is not valid.

    See Also
    --------
    metric_interval : Interval for a single look, which is narrower.
    compare : Comparison of two rankers at a single look.

    Notes
    -----
    **Target.** With "betting" the distribution may drift over time. The target at a look is the
    mean so far of the conditional expectations of the values given earlier values. The mean is
    over queries, over alerts, or for the AUC over updates weighted by their number of pairs,
    ``min(n_pos, n_neg)``. Without drift the target is the expectation. The top of a population,
    "asymptotic" and ``intersect=True`` require independent and identically distributed rows,
    groups or queries. "asymptotic" is then for the value of the population, at its share of
    positives, as :func:`metric_interval` with ``conditional=False``: that of the rows so far is
    another one at each look. The intervals for the AUC compare only items of the same update.

    **Method.** For the n values v in [0, 1] seen so far and gains ``g``, the capital against a
    candidate mean m is the mean over g of ``prod (1 + g v) / (1 + g m)^n`` and ``prod (1 + g (1 -
    v)) / (1 + g (1 - m))^n``. The interval holds all m with capital below ``1 / (1 - level)``. For
    the AUC the product is over ``min(n_pos, n_neg)`` disjoint pairs, averaged over all ways to
    pair the items. For the top of a population, a fifth of the error is spent on the number of
    items above its threshold. "asymptotic" is the interval for one look at ``sqrt((1 + 1/x) (ln(1
    + x) + 2 ln(1 / (1 - level))))`` standard errors, x proportional to the number of rows. The
    theory pages have the proofs.

    Intervals are 1.5 to 2 times as wide as those for one look. The order of rows within an update
    and the order of queries have no effect; the split into updates matters for the AUC. Queries,
    or items of one list, must be independent: of ten rows of each user intervals without
    ``groups`` miss several times as often as stated. With ``groups`` rows of a group may depend on
    each other in any way, within and across updates, and groups are independent; the variance is
    that between groups. With ``qid=`` the group the target is the mean over groups of the measure
    in each.

    **Labels that come late.** A row must count when every label that it could have would be known:
    of a fraud that is reported within 28 days, 28 days after entry. Rows whose labels are known so
    far are no sample. If positives are known at once and negatives after four weeks, a sequence
    that takes them as they come excludes the true precision in nearly all histories of twelve
    weeks. Pass ``design=LabelDesign(entered=, resolved=, horizon=, as_of=)`` and the log as it
    stands; or, without times, the rows of a period once all their labels are known. What is kept
    of the log between looks are the times of entry of open rows.

    An update takes O(n) time for queries and alerts, and O(1000 k + n log n) for the AUC of k
    pairs. For other measures it takes the time of all rows so far. Memory holds the values and ids
    of queries, or the distinct pairs of a score and a class for lists.

    References
    ----------
    .. [1] Howard, Ramdas, McAuliffe & Sekhon (2021), *Time-uniform, nonparametric, nonasymptotic
       confidence sequences*, Annals of Statistics 49.
    .. [2] Waudby-Smith & Ramdas (2024), *Estimating means of bounded random variables by betting*,
       Journal of the Royal Statistical Society B 86.
    .. [3] Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), *Time-uniform central limit theory
       and asymptotic confidence sequences*, Annals of Statistics 52.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import ConfidenceSequence
    >>> rng = np.random.default_rng(0)
    >>> sequence = ConfidenceSequence("auc")
    >>> for week in range(4):
    ...     y_true = rng.random(300) < 0.2
    ...     interval = sequence.update(y_true, y_true + rng.normal(size=300))
    >>> print(interval)
    0.7577 [0.7040, 0.8060] (expected AUC within updates, 95 %, betting)
    >>> print(sequence)
    expected AUC within updates, 95 % for all looks at once, betting
    look         n  estimate            interval
       1       300    0.7698    [0.6559, 0.8621]
       2       600    0.7748    [0.6943, 0.8425]
       3       900    0.7612    [0.6961, 0.8179]
       4      1200    0.7577    [0.7040, 0.8060]

    Fraud is reported within four weeks, and nobody reports that there was none. At each look the
    log is passed as it stands, and payments count four weeks after they entered:

    >>> from sklearn_rank.inference import LabelDesign
    >>> entered = np.repeat(np.arange(1, 57), 40)
    >>> is_fraud = rng.random(len(entered)) < 0.2
    >>> score = is_fraud + rng.normal(size=len(entered))
    >>> reported = np.where(
    ...     is_fraud, entered + rng.integers(0, 28, len(entered)), np.nan
    ... )
    >>> sequence = ConfidenceSequence("auc")
    >>> for day in range(14, 57, 14):
    ...     log = entered <= day
    ...     y_true = np.where(reported[log] <= day, 1, np.nan)
    ...     times = {"entered": entered[log], "resolved": reported[log]}
    ...     design = LabelDesign(**times, horizon=28, as_of=day)
    ...     interval = sequence.update(y_true, score[log], design=design)
    >>> print(sequence)
    expected AUC within updates, 95 % for all looks at once, betting
    look         n  estimate            interval
       1         0         -    [0.0000, 1.0000]
       2         0         -    [0.0000, 1.0000]
       3       560    0.7930    [0.7097, 0.8618]
       4      1120    0.7697    [0.7109, 0.8216]
    """

    def __init__(
        self,
        measure: MeasureLike,
        *,
        level: float = 0.95,
        method: Literal["auto", "betting", "asymptotic"] = "auto",
        threshold: float | None = None,
        best_after: float = 5.0,
        intersect: bool = False,
        pos_label: Any = None,
    ) -> None:
        self.measure: Measure = get_measure(measure)
        self._level = check_level(level)
        self._best_after = check_number("best_after", best_after, 0.0, closed="neither")
        check_choice("method", method, ("auto", "betting", "asymptotic"))
        self._method = method
        if threshold is not None:
            if "top" not in self.measure.laws or method == "asymptotic":
                raise ValueError(
                    f"threshold={threshold!r} is only for the precision at the top, by betting:"
                    " pass measure='precision@top0.05' without method, or leave threshold out."
                )
            threshold = check_number("threshold", threshold)
        self._threshold = threshold
        self._intersect = check_flag("intersect", intersect)
        self._pos_label = pos_label
        self._so_far = self._new_accumulator()  # All rows with the scores of the ranker
        self._stream: Stream | None = None
        self._log: Any = None  # What is kept of a log whose labels come late
        self._history: list[Interval] = []
        self._counts: list[float] = []

    def _new_accumulator(self) -> Accumulator:
        return Accumulator(self.measure, pos_label=self._pos_label)

    def update(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = None,
        baseline_score: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        weights: WeightMeaning = None,
        design: Design = None,
    ) -> Interval:
        """Add rows and return the updated interval.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_lists, n_items)
            Labels. A two-dimensional array has one list per row, with NaN for absent items. May be
            empty.
        y_score : array-like of the same shape
            Scores of the ranker, computed without use of these labels.
        qid : array-like of shape (n_samples,), default=None
            Query id of each row. All rows of a query belong to one update, and either all updates
            have ids or none. None means one list of all rows of all updates.
        baseline_score : array-like of the same shape, default=None
            Scores of a baseline ranker. The intervals are then for the measure of the ranker minus
            that of the baseline. Either all updates have them or none.
        groups : array-like of shape (n_samples,), default=None
            Id of the group (user, patient) of each row of one list, whose rows may depend on each
            other; they may come in several updates. Either all updates have them or none, and the
            method is "asymptotic".
        sample_weight : array-like of the same shape, default=None
            Weights of the rows, for measures that support weights; not supported for one list
            with a baseline or groups.
        weights : {"frequency"} or None, default=None
            What ``sample_weight`` is; required with it. "frequency": each row stands for that many
            identical rows, a whole number. "sampling" raises an error: the guarantee needs rows or
            queries of equal probability.
        design : LabelDesign, "all" or None, default=None
            How rows of one list were chosen for labelling, if some labels of ``y_true`` are
            missing. Of the rows with labels those count that a random choice, the same in each
            run, keeps: the more likely a label was, the fewer, so that they are a random sample of
            all rows. If labels come late (``entered``, ``horizon``; ``as_of``, the day of the
            look), pass the log as it stands: at least the rows that were open at the last look,
            with what is known of them by now, and all newer ones. A row counts at the first look
            at which it is mature, whatever was known of it before, and a query when all of its
            rows are. Either all updates have such a design or none.

        Returns
        -------
        Interval
            The current interval. With probability ``level`` it and the intervals of all other
            looks hold. Until there is a value, the estimate is NaN and the limits are the ends of
            the range.

        Raises
        ------
        TypeError
            If the measure does not support one of the arguments.
        ValueError
            If an argument is not valid, a query occurred in an earlier update, or there is no
            interval for the measure. Of labels that come late, if ``as_of`` goes back, rows that
            were open at the last look are missing, or rows are new that were mature then.

        Warns
        -----
        UserWarning
            If ``intersect=True`` and an interval does not overlap the intersection of earlier
            ones.
        """
        check_weight_meaning(
            weights,
            sample_weight,
            no_sampling="confidence sequences, whose guarantee needs draws of equal probability:"
            " for one look use metric_interval(..., weights='sampling')",
        )
        refuse_fractions(sample_weight)
        scores = {"y_score": y_score, "baseline_score": baseline_score, "groups": groups}
        columns = {"y_true": y_true, **scores, "qid": qid, "sample_weight": sample_weight}
        refuse_misread(**columns, design=design)
        is_empty = 0 in shape_of(y_score)
        if design is not None and is_empty:
            return self.update(y_true, y_score)
        log, is_late = self._log, getattr(design, "entered", None) is not None
        began = self._stream if is_late else log
        if began is not None and is_late != (log is not None) and not is_empty:
            raise ValueError(
                "A log whose labels come late is passed as it stands in every update, with design="
                " LabelDesign(entered=, resolved=, horizon=, as_of=), or in none."
            )
        if design is not None:
            columns = {**scores, "qid": qid, "sample_weight": sample_weight}
            columns = {n: None if x is None else check_column(n, x) for n, x in columns.items()}
            y_true = array_of_labels(y_true)
            check_consistent_length(y_true, *columns.values())
            # A stream of its own: rows may have been drawn with such a seed.
            rng = np.random.default_rng([self.n_looks, 1])
            if is_late:
                late = log, y_true, design, rng, qid, self._pos_label
                rows, y_true, log = _outer.rows_of_look(*late)
            elif qid is not None or sample_weight is not None:
                raise ValueError("design is for one list: leave qid and sample_weight out.")
            else:
                rows = _outer.random_rows(y_true, design, rng, groups)
                y_true = y_true[rows]
            columns = {n: take(x, rows) for n, x in columns.items()}
            qid, sample_weight = columns.pop("qid"), columns.pop("sample_weight")
            scores = columns
        batch = self._read(y_true, scores, qid, sample_weight)
        stream, so_far = self._stream, self._so_far
        if batch is not None:
            stream = self._new_stream(batch) if stream is None else copy(stream)
            if stream.method == "asymptotic" and batch[1] is None:
                # A look that is refused changes nothing.
                so_far = self._new_accumulator().merge(so_far)
            so_far.merge(batch[0])
            stream.add(batch)
        self._history.append(self._look(stream, so_far))
        self._stream, self._so_far, self._log = stream, so_far, log
        self._counts.append(0.0 if stream is None else stream.n)
        return self._history[-1]

    def _read(
        self, y_true: Any, scores: dict[str, Any], qid: Any, sample_weight: Any
    ) -> Batch | None:
        """Check the rows of an update; None where none counts."""
        given = tuple(name for name in ("baseline_score", "groups") if scores[name] is not None)
        columns = {name: scores[name] for name in ("y_score", *given)}
        groups, parts = columns.pop("groups", None), []
        for score in columns.values():
            part = self._new_accumulator()
            # Error messages name the update.
            part._n_updates = self.n_looks
            part.update(y_true, score, qid=qid, sample_weight=sample_weight)
            parts.append(part)
        if parts[0].n_items == 0:
            return None
        if self._stream is not None and given != (earlier := self._stream.given):
            (name, *_) = sorted({*given} ^ {*earlier})
            here, before = (name if name in x else f"no {name}" for x in (given, earlier))
            raise ValueError(
                f"Update {self.n_looks} has {here}, but earlier updates had {before}: pass {name}"
                " in every update or in none."
            )
        if parts[0].query_values is not None:
            if groups is not None:
                raise ValueError(
                    "groups is for rows of one list, but qid splits them into queries: leave"
                    " groups out, and pass them as qid if queries of a group are not independent."
                )
            return parts[0], {"values": query_values(parts)}, given
        if not given:
            return parts[0], None, given
        if sample_weight is not None:
            raise ValueError(
                "sample_weight is not supported for the difference of two rankers on one list, or"
                " with groups: repeat the rows instead."
            )
        for name, score in columns.items():
            data = self.measure.lists(y_true, score, pos_label=self._pos_label)
            columns[name] = data.score
        columns["labels"] = data.labels
        if groups is not None:
            ids = check_qid(groups, len(data.labels), name="groups")
            columns["groups"] = ids.distinct[ids.codes] if isinstance(ids, Coded) else ids
        return parts[0], columns, given

    def _new_stream(self, batch: Batch) -> Stream:
        """Choose the stream that stores the rows, by the measure and the first rows."""
        ranker, columns, given = batch
        measure, method, threshold = self.measure, self._method, self._threshold
        of_queries, has_baseline = (ranker.query_values is not None, "baseline_score" in given)
        (low, high), laws = measure.counted_range if of_queries else measure.range, measure.laws
        of_top: Any = measure
        limits, bets_on = (low - high, high - low) if has_baseline else (low, high), None
        is_betting = method != "asymptotic"
        if of_queries:
            target = f"mean {'difference of ' * has_baseline}{measure.name} over queries"
            if threshold is not None:
                raise ValueError(
                    "threshold is for one list of alerts, but qid splits the rows into queries:"
                    " leave one of them out."
                )
            is_bounded = all(map(isfinite, limits))
            if method == "betting" and not is_bounded:
                raise ValueError(f"{measure.name} has no known range: pass method='asymptotic'.")
            is_betting = is_betting and is_bounded
            bets_on = on_queries if is_betting else None
        else:
            target = f"{measure.name} of the population"
            # A measure without an interval is refused, and one without a value that looks share.
            method_of(measure)
            jumps = measure.kind == "binary" and not measure.is_mean_over_ties
            if jumps or measure.depends_on_length or {"draws", "any"} & set(laws):
                reason = (
                    "may jump where scores tie" if jumps else "depends on the number of its rows"
                )
                raise ValueError(
                    f"{measure.name} of one list {reason}, so that looks have no target in common:"
                    " pass qid, such as the day, for the mean over lists, or a measure of a share"
                    " of the rows, such as 'precision@top0.05', 'lift@0.1' or 'ap'."
                )
            if columns is not None:
                if method == "betting" or threshold is not None:
                    raise ValueError(
                        "method='betting' does not support differences of a measure of one list,"
                        " nor groups, and neither does threshold: pass qid, or"
                        " method='asymptotic' without threshold."
                    )
                is_betting = False
                if has_baseline:
                    refuse_unknown(measure)
                    target = f"difference of {measure.name}"
            elif is_betting and "placements" in laws:
                target, bets_on = f"{expected_area(measure)} within updates", on_pairs
            elif is_betting and threshold is not None:
                target, bets_on = f"precision among scores of at least {threshold:g}", on_alerts
            elif is_betting and "top" in laws:
                target = f"precision in the top {of_top.tau:g} of the population"
            elif method == "betting":
                raise ValueError(
                    f"method='betting' does not support {measure.name} of one list, only 'auc',"
                    " 'gini' and 'precision@top': pass qid, or method='asymptotic'."
                )
            else:
                is_betting = False
        kind = "betting" if is_betting else "asymptotic"
        of_all = measure, self._level, self._best_after, target, limits
        return Stream(kind, *of_all, bets_on, threshold, given)

    def _look(self, stream: Stream | None, so_far: Accumulator) -> Interval:
        if stream is None:
            low, high = self.measure.counted_range
            return Interval(float("nan"), low, high, self._level, self._method, self.measure.name)
        estimate, low, high = stream.limits(so_far)
        interval = Interval(estimate, low, high, self._level, stream.method, stream.target)
        if not self._intersect or not self._history:
            return interval
        before = self._history[-1]
        low, high = max(low, before.low), min(high, before.high)
        if low > high:
            warn(
                f"The interval of look {self.n_looks} does not overlap the earlier ones: the"
                f" target has changed, or this is one of the {100 * (1.0 - self._level):.3g} % of"
                " sequences that fail; the intersection restarts here.",
                UserWarning,
            )
            return interval
        return replace(interval, low=low, high=high)

    # ------------------------------------------------------------------------------------ results

    @property
    def n_looks(self) -> int:
        """Number of updates."""
        return len(self._history)

    @property
    def interval(self) -> Interval:
        """Interval of the last update."""
        if not self._history:
            raise AttributeError("There is no interval yet: pass rows to update() first.")
        return self._history[-1]

    def p_value(self, value: float) -> float:
        """Compute a p-value of the hypothesis that the target is some value.

        Parameters
        ----------
        value : float
            The value, within the range of the measure or of its differences.

        Returns
        -------
        float
            P-value in [0, 1], of all rows so far. If the value is the target at all looks, it
            falls to p or below at any of them with a probability of at most p. It is at most ``1 -
            level`` where the interval, before any intersection, lacks the value.

        Raises
        ------
        ValueError
            If the value is outside the range, or the method is not "betting" on values of
            queries, of pairs or above a threshold.

        Examples
        --------
        >>> from sklearn_rank.inference import ConfidenceSequence
        >>> sequence = ConfidenceSequence("precision@1")
        >>> interval = sequence.update([[1, 0, 0]] * 20, [[3, 2, 1]] * 20)
        >>> round(sequence.p_value(0.5), 5)
        2e-05
        """
        if (stream := self._stream) is None:
            return 1.0
        if stream.bets_on is None:
            raise ValueError(
                f"There is no p-value for {stream.target}: it needs bets on values, by method="
                "'betting', of queries, of the AUC or above a threshold; read the interval."
            )
        return stream.p_value(check_number("value", value, *stream.range))

    @property
    def history(self) -> tuple[Interval, ...]:
        """Intervals of all updates."""
        return tuple(self._history)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each look.

        Returns
        -------
        pandas.DataFrame
            The columns are ``n`` (items, alerts or queries so far), ``estimate``, ``low`` and
            ``high``; the index counts looks from 1.
        """
        pd = import_pandas("ConfidenceSequence.to_frame()", "read history")
        columns = {
            name: [getattr(interval, name) for interval in self._history]
            for name in ("estimate", "low", "high")
        }
        index = pd.RangeIndex(1, self.n_looks + 1, name="look")
        return pd.DataFrame({"n": np.array(self._counts, dtype=np.int64), **columns}, index=index)

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """Cells of a title and of the last ten looks: number of the look, n, estimate, limits."""
        rows = [("look", "n", "estimate", "interval")]
        for look in range(max(self.n_looks - 10, 0), self.n_looks):
            interval = self._history[look]
            estimate = "-" if isnan(interval.estimate) else fixed(interval.estimate)
            limits = f"[{fixed(interval.low)}, {fixed(interval.high)}]"
            rows.append((str(look + 1), f"{self._counts[look]:.0f}", estimate, limits))
        return rows

    def _title(self) -> str:
        last = self.interval
        return f"{last.target}, {100 * last.level:.4g} % for all looks at once, {last.method}"

    def _repr_html_(self) -> str:
        if not self._history:
            return f"<pre>{escape(repr(self))}</pre>"
        header, *rows = self._rows()
        return html_table(self._title(), header, rows)

    def __repr__(self) -> str:
        return f"ConfidenceSequence({self.measure.name!r}, n_looks={self.n_looks})"

    def __str__(self) -> str:
        if not self._history:
            return repr(self)
        rows = ("{:>4}  {:>8}  {:>8}  {:>18}".format(*row) for row in self._rows())
        return "\n".join([self._title(), *rows])
