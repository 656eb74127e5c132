"""Influence of single items on measures of one list of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, inf, isfinite, log1p, nan, pi, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np

from .._lists import ScoredLists
from .._order import TiedBlocks, counted_blocks, places_of
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import take
from ._score_generating import ScoreGeneratingFunction, ranks_below

Normalize: TypeAlias = Literal["mean", "minmax"]

# Half width of the window about a threshold, in standard deviations of its rank.
BANDWIDTH = 2.0

# Mean of the absolute value of a normal variable, and its variance in units of the squared mean.
MEAN_ABSOLUTE = sqrt(2.0 / pi)
ABSOLUTE_VARIANCE = pi / 2.0 - 1.0


def with_half_more(
    n: Any, mean: Any, squares: Any, ends: Any, weight: Any = 1.0
) -> tuple[Any, ...]:
    """Number, mean and sum of squares of n units with half a unit more at either end.

    The units that a sample lacks; ends of shape (..., 2). A weight is that of the halves.
    """
    ends, half = np.asarray(ends, dtype=np.float64), 0.5 * weight
    total = n + 2.0 * half
    center = (n * mean + half * ends.sum(axis=-1)) / total
    of_ends = half * ((ends - center[..., np.newaxis]) ** 2).sum(axis=-1)
    return total, center, squares + n * (mean - center) ** 2 + of_ends


@dataclass(frozen=True, eq=False)
class ClassInfluence:
    """First-order influence of each unit, within its class and not centred.

    The statistic varies as the sum of the means over the classes: positives and negatives, or all
    units alike, such as queries. A row is a unit, or so many equal ones of a table of counts.
    """

    estimate: float
    values: FloatArray  # (n_rows,): Influence of each unit on the mean of its class
    positive: Any  # BoolArray of shape (n_rows,): Which items are positive; None is one class
    ends: Any = None  # (n_classes, 2): Influence at the bottom and at the top; None is unknown
    range: tuple[float, float] = (-inf, inf)  # Least and largest value of the statistic
    label_slope: float = nan
    counts: FloatArray | None = None
    bias: float = 0.0
    # (2, 2): By how much the estimate may be too large where the share of positives jumps at a
    # threshold: two alternatives each, with the labels fixed and with random labels
    jump_bias: FloatArray = field(default_factory=lambda: np.zeros((2, 2)))
    slope_variance: float = 0.0  # What the estimated slopes at thresholds add to the variance
    sampling_weight: FloatArray | None = None
    # By how much the largest of several estimates may be too large: a bias, and an error
    excess: float = 0.0
    curve: RateCurve | None = None  # From which a rate is read
    exponent: float = 1.0  # The measure is the statistic to this power
    by_steps: bool = False  # Whether the influence of negatives changes at positives alone

    @property
    def linear(self) -> ClassInfluence:
        """Influence on the measure itself, to first order."""
        if self.exponent == 1.0:
            return self
        # The slope at 0 may be infinite, and is taken where half an item more would lie.
        sizes, means = np.array(self.sizes), np.array(self.means)
        _, centers, _ = with_half_more(sizes, means, 0.0, self.class_ends())
        at = max(self.estimate, float((centers - means).sum()))
        slope = self.exponent * at ** (self.exponent - 1.0)
        low, high = sorted(end**self.exponent for end in self.range)
        return replace(
            self,
            estimate=self.estimate**self.exponent,
            values=slope * self.values,
            ends=None if self.ends is None else np.multiply(slope, self.ends),
            range=(low, high),
            exponent=1.0,
        )

    @property
    def length(self) -> float:
        return self.range[1] - self.range[0]

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """Rows of each class."""
        return (slice(None),) if self.positive is None else (self.positive, ~self.positive)

    @cached_property
    def parts(self) -> tuple[tuple[FloatArray, FloatArray | None], ...]:
        """Influence of the rows of each class, and the counts of the rows."""
        return tuple((self.values[rows], take(self.counts, rows)) for rows in self.classes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of units of each class."""
        return tuple(
            len(values) if counts is None else int(counts.sum()) for values, counts in self.parts
        )

    @cached_property
    def means(self) -> tuple[float, ...]:
        """Mean influence of each class."""
        return tuple(float(np.average(values, weights=counts)) for values, counts in self.parts)

    def squares(self, centers: Sequence[float]) -> list[float]:
        """Sum of the squared deviations from a number for each class."""
        terms = zip(self.parts, centers, strict=True)
        squares = [((values - center) ** 2, counts) for (values, counts), center in terms]
        return [float((x if counts is None else counts * x).sum()) for x, counts in squares]

    @property
    def n_pos(self) -> int:
        return self.sizes[0]

    @cached_property
    def n(self) -> int:
        return sum(self.sizes)

    def class_ends(self) -> FloatArray:
        """Influence at the bottom and at the top of the list, by class. Shape (n_classes, 2)."""
        if self.ends is not None:
            return np.asarray(self.ends, dtype=np.float64)
        half_width = self.length / 2.0 if isfinite(self.length) else 0.0
        ends = []
        for values, _ in self.parts:
            low, high = float(values.min()), float(values.max())
            ends.append((low, high) if low < high else (low - half_width, high + half_width))
        return np.array(ends)

    def centred(self) -> FloatArray:
        """Influence of each item given the labels, with mean 0 within each class. Shape (n,)."""
        centred = np.empty(len(self.values))
        for rows, mean, size in zip(self.classes, self.means, self.sizes, strict=True):
            centred[rows] = (self.values[rows] - mean) * (self.n / size)
        return centred

    def scaled(self, origin: float, length: float) -> ClassInfluence:
        ends = None if self.ends is None else np.divide(self.ends, length)
        ends_of_range = [(end - origin) / length for end in self.range]
        return replace(
            self,
            estimate=(self.estimate - origin) / length,
            values=self.values / length,
            ends=ends,
            range=(min(ends_of_range), max(ends_of_range)),
            label_slope=self.label_slope / length,
            bias=self.bias / length,
            jump_bias=self.jump_bias / length,
            slope_variance=self.slope_variance / length**2,
            excess=self.excess / length,
        )


def rank_range(phi: ScoreGeneratingFunction, n: int, k: int) -> tuple[float, float]:
    """Mean statistic of the worst and of the best order."""
    worst, best = _extremes(phi, n, k)
    if not worst < best:
        raise ValueError(
            f"phi={phi!r} gives the worst and the best order of {k} positives among {n} items the"
            " same value: pass another phi or more items."
        )
    return worst, best


def _extremes(phi: ScoreGeneratingFunction, n: int, k: int) -> tuple[float, float]:
    ends = phi._sums(np.array([0.0, n - k]), np.array([float(k), float(n)]), np.array([float(n)]))
    return float(ends[0]) / k, float(ends[1]) / k


def linear_rank_influence_of(
    positive: BoolArray,
    score: FloatArray,
    phi: ScoreGeneratingFunction,
    *,
    normalize: Normalize = "mean",
    counts: FloatArray | None = None,
    draws: float | None = None,
) -> ClassInfluence:
    blocks = counted_blocks(score, positive, counts)
    n, k = blocks.n, blocks.k
    worst, best = (_extremes if normalize == "mean" else rank_range)(phi, n, k)
    influence = _mean_influence(blocks, positive, phi, draws)
    influence = replace(influence, range=(worst, best), counts=counts)
    if normalize == "mean":
        return influence
    # The worst order is the mean of phi over (0, p), the best that over (1 - p, 1).
    between = (influence.estimate - worst) / (best - worst)
    ends = phi._at_ranks(np.array([k + 0.5, n - k + 0.5]), np.array([float(n)]))
    slope = influence.label_slope - (1.0 - between) * (float(ends[0]) - worst) * n / k
    slope -= between * (float(ends[1]) - best) * n / k
    return replace(influence, label_slope=slope).scaled(worst, best - worst)


def rank_influence(
    lists: ScoredLists, phi: ScoreGeneratingFunction, normalize: Normalize = "minmax"
) -> ClassInfluence:
    weights: dict[str, Any] = {"counts": lists.weight, "draws": lists.draws}
    rows = lists.positive, lists.score
    return linear_rank_influence_of(*rows, phi, normalize=normalize, **weights)


def _mean_influence(
    blocks: TiedBlocks, positive: BoolArray, phi: ScoreGeneratingFunction, draws: float | None
) -> ClassInfluence:
    """Influence on the mean of phi over the positives."""
    n, k, below, size, n_pos = blocks.n, blocks.k, blocks.below, blocks.size, blocks.n_pos
    window, repeated = local_ranks(n, draws), 1.0 if draws is None else n / draws
    # Only positives have a value and move the values of others.
    some = blocks.some
    first, length, inside = below[some], size[some], n_pos[some]
    value = phi._sums(first, first + length, np.array([float(n)])) / length
    outer, inner = _slopes(phi, n, first, length, window)
    # Ranks gained by the positives above, then those of the same block.
    moved = np.zeros(len(size))
    moved[some] = inside * outer
    tail = np.cumsum(moved)
    tail[some] += inside * (inner - outer)
    slope_error, jump_bias = 0.0, np.zeros((2, 2))
    thresholds = phi.jumps if phi.has_derivative else ()
    for u0, height in thresholds:
        n_below = rank_of_jump(n, u0)
        if not 0 < n_below < n:
            continue
        # Over the standard deviations of the number of items above.
        half_width = ceil(BANDWIDTH * np.sqrt(u0 * (1.0 - u0)) * window)
        counts, totals = counts_at(blocks, n_below, half_width)
        share = counts[0] / totals[0]
        raised = height * share * (n + 1.0)
        at = block_of_rank(blocks, n_below)
        share_below = (n_below - below[at]) / size[at]
        tail[at] += raised * share_below
        tail[at + 1 :] += raised
        # An item that crosses the threshold moves another across it, of the class of its share.
        k_above = float(n_pos[: at + 1].sum() - n_pos[at] * share_below)
        m_above = n - n_below - k_above
        crossing = k_above * (1.0 - k_above / k) + m_above * (1.0 - m_above / (n - k))
        # A row of unequal probability is many items. Without fixed labels more of them cross.
        of_labels = np.array([max(crossing, 0.0), u0 * (1.0 - u0) * n])
        deviations = np.sqrt(of_labels * repeated)
        # Those that cross upwards have another share than those that cross downwards: seen in a
        # window that holds the jump also where the threshold is far off it.
        wide = 2 * half_width
        jumps = jump_of(*counts_at(blocks, n_below, wide), deviations / wide, repeated) / 2.0
        means = MEAN_ABSOLUTE * jumps * deviations
        jump_bias[:, 0] -= height / k * means
        spread = share * (1.0 - share) / (totals[0] / repeated + 1.0)
        slope_error += (
            abs(height) / k * sqrt(spread * deviations[0] ** 2 + ABSOLUTE_VARIANCE * means[0] ** 2)
        )
    total = float(tail[-1])
    if n_pos[-1]:
        total += float(inside[-1] * (outer[-1] - inner[-1]))
    if_positive = tail / (n + 1.0)
    if_positive[some] += value
    tail *= (n - k) / (n + 1.0) / k
    extremes = phi._at_ranks(np.array([1.0, float(n)]), np.array([float(n)]))
    estimate = float(np.sum(inside * value)) / k
    # p T of the positives is what remains of their values without phi; (1-p) T of the negatives.
    slope = (float(inside @ if_positive[some]) / k - estimate) * n / k
    slope -= float(size @ tail - inside @ tail[some]) / (n - k) * n / (n - k)
    return ClassInfluence(
        estimate=estimate,
        values=by_row(blocks, positive, if_positive, tail),
        positive=positive,
        ends=(
            (float(extremes[0]) + total / (n + 1.0), float(extremes[1])),
            (total * (n - k) / (n + 1.0) / k, 0.0),
        ),
        label_slope=slope,
        slope_variance=slope_error**2,
        jump_bias=jump_bias,
        by_steps=not thresholds,
    )


def by_row(
    blocks: TiedBlocks, positive: BoolArray, if_positive: FloatArray, if_negative: FloatArray
) -> FloatArray:
    """Give each row the value of its block for its class. Shape (n_rows,)."""
    order = blocks.order
    values = np.empty(len(order))
    values[order] = np.where(
        positive[order], blocks.to_rows(if_positive), blocks.to_rows(if_negative)
    )
    return values


def _slopes(
    phi: ScoreGeneratingFunction, n: int, below: FloatArray, size: FloatArray, window: int
) -> tuple[FloatArray, FloatArray]:
    """Derivative of the value of each block by its rank, from items below it and from its own.

    An item within the block moves the part of the block that lies above it.
    """
    if phi._only_jumps:
        return np.zeros(len(size)), np.zeros(len(size))
    outer, inner = np.zeros((2, len(size)))
    highest = below + size
    for some, first, block, place in places_of(size):
        slope = _slope_at(phi, highest[some][block] - place, n, window)
        outer[some] += np.add.reduceat(slope, first)
        inner[some] += np.add.reduceat(slope * (1.0 - (place + 0.5) / size[some][block]), first)
    return outer / size, inner / size


def _slope_at(phi: ScoreGeneratingFunction, rank: FloatArray, n: int, window: int) -> FloatArray:
    """Derivative of phi at descending ranks."""
    if phi.has_derivative:
        return phi.derivative(rank / (n + 1.0))
    upper, lower = np.minimum(rank + window, n), np.maximum(rank - window, 1.0)
    length = np.array([float(n)])
    rise = phi._at_ranks(upper, length) - phi._at_ranks(lower, length)
    return rise * ((n + 1.0) / np.maximum(upper - lower, 1.0))


def local_ranks(n: int, draws: float | None = None) -> int:
    """Count the ranks on either side over which something local is estimated."""
    return int(np.ceil(np.sqrt(n) if draws is None else n / np.sqrt(draws)))


def share_at(blocks: TiedBlocks, top: int, n: int) -> tuple[float, float]:
    """Estimate the probability that an item just below the first ``top`` of n is positive.

    And by how much more it is just above it.
    """
    if top >= blocks.n:
        return blocks.k / blocks.n, 0.0
    window, n_below = local_ranks(n), blocks.n - top
    counts, totals = counts_at(blocks, n_below, window)
    deviation = sqrt(top * n_below / n) / window
    return float(counts[0] / totals[0]), float(jump_of(counts, totals, deviation))


def counts_at(blocks: TiedBlocks, n_below: int, window: int) -> tuple[FloatArray, FloatArray]:
    """Count the positives and the items about a threshold, half an item of either class added.

    Each on both sides of it, above, and below.
    """
    at, half = block_across(blocks, n_below, window), _half_window(blocks, n_below, window)
    if at is not None:
        return np.repeat(blocks.n_pos[at], 3), np.repeat(blocks.size[at], 3)
    ranks = [n_below + half, n_below + 1, n_below, n_below - half + 1]
    highest, above, below, lowest = block_of_rank(blocks, np.array(ranks))
    found = []
    for values, added in ((blocks.n_pos, 0.25), (blocks.size, 0.5)):
        upper, lower = values[highest : above + 1].sum(), values[below : lowest + 1].sum()
        shared = values[above] if above == below else 0.0
        found.append(np.array([upper + lower - shared + 2 * added, upper + added, lower + added]))
    return found[0], found[1]


def jump_of(
    counts: FloatArray, totals: FloatArray, deviation: Any, repeated: float = 1.0
) -> FloatArray:
    """Estimate by how much the share above a threshold exceeds that below, of ``counts_at``.

    Shrunken by its noise (James & Stein 1961). The jump is off the threshold by a normal number of
    places, whose standard deviation is given in units of the window, so that the two sides of the
    window differ by less than the jump: the estimate is divided by what remains on average.
    """
    _, above, below = counts / totals
    noise = repeated * float((counts * (totals - counts) / totals**3)[1:].sum())
    jump = float(above - below)
    jump *= max(1.0 - noise / jump**2, 0.0) if jump else 0.0
    return jump / (1.0 - MEAN_ABSOLUTE * np.minimum(deviation, 1.0))


def blocks_at_top(blocks: TiedBlocks, mass: float) -> IntArray:
    """Blocks at which what is local to the end of a top is looked for, and what it cuts."""
    share, local = mass / blocks.n, local_ranks(blocks.n)
    wide = ceil(BANDWIDTH * np.sqrt(share * (1.0 - share)) * local)
    n_below = rank_of_jump(blocks.n, 1.0 - share)
    halves = [_half_window(blocks, n_below, window) for window in (0, local, wide, 2 * wide)]
    ranks = [
        n_below + sign * half + more
        for half in halves
        for sign in (-1, 1)
        for more in (-1, 0, 1, 2)
    ]
    return np.unique(block_of_rank(blocks, np.clip(ranks, 1, blocks.n)))


def rank_of_jump(n: int, u0: float) -> int:
    """Number of ranks at which phi is below its jump."""
    return int(np.ceil(u0 * (n + 1.0) * (1.0 - 1e-15))) - 1


def block_across(blocks: TiedBlocks, n_below: int, window: int) -> int | None:
    """Find the tied block that holds both sides of a threshold and is as wide as what is local."""
    at = block_of_rank(blocks, n_below)
    wide = blocks.size[at] >= 2 * _half_window(blocks, n_below, window)
    return at if blocks.below[at] + blocks.size[at] > n_below and wide else None


def _half_window(blocks: TiedBlocks, n_below: int, window: int) -> int:
    return min(window, n_below, blocks.n - n_below)


def block_of_rank(blocks: TiedBlocks, rank: Any) -> Any:
    """Block, counted from the top, that holds an ascending rank."""
    return len(blocks.below) - np.searchsorted(blocks.below[::-1], rank, "left")


def partial_auc_influence_of(
    positive: BoolArray, score: FloatArray, max_fpr: float, min_tpr: float, counts: Any = None
) -> ClassInfluence:
    blocks = counted_blocks(score, positive, counts)
    n_pos, n_neg = blocks.n_pos, blocks.size - blocks.n_pos
    k, m = n_pos.sum(), n_neg.sum()
    tpr, fpr = np.cumsum(n_pos) / k, np.cumsum(n_neg) / m
    tpr_above, fpr_above = tpr - n_pos / k, fpr - n_neg / m
    tpr_at_limit = _height(max_fpr, fpr_above, fpr, tpr_above, tpr)
    fpr_at_limit = _height(min_tpr, tpr_above, tpr, fpr_above, fpr)
    widest = max(max_fpr - min(fpr_at_limit, max_fpr), 0.0)

    def ramp_area(z: FloatArray) -> FloatArray:
        """Integral of ``clip(x, 0, widest)`` from 0 to z."""
        return np.clip(z, 0.0, widest) ** 2 / 2.0 + widest * np.maximum(z - widest, 0.0)

    with np.errstate(invalid="ignore", divide="ignore"):
        width, rise = fpr - fpr_above, tpr - tpr_above
        if_positive = np.where(
            width > 0.0,
            (ramp_area(max_fpr - fpr_above) - ramp_area(max_fpr - fpr)) / width,
            np.clip(max_fpr - fpr, 0.0, widest),
        )
        inside = np.clip((max_fpr - fpr_above) / width, 0.0, 1.0)
        high = np.maximum(tpr_above + inside * rise - min_tpr, 0.0)
        low = np.maximum(tpr_above - min_tpr, 0.0)
        height = np.where(
            rise > 0.0,
            (high**2 / 2.0 - low**2 / 2.0) / rise,
            inside * np.maximum(tpr - min_tpr, 0.0),
        )
    if_negative = height - inside * max(tpr_at_limit - min_tpr, 0.0)
    area = float(np.sum(np.where(n_neg > 0.0, height * n_neg, 0.0))) / float(m)
    return ClassInfluence(
        estimate=area,
        values=by_row(blocks, positive, if_positive, if_negative),
        positive=positive,
        ends=((0.0, max_fpr), (0.0, min_tpr - 1.0)),
        range=(0.0, max_fpr * (1.0 - min_tpr)),
        label_slope=0.0,
        counts=counts,
    )


def _height(
    at: float, left: FloatArray, right: FloatArray, low: FloatArray, high: FloatArray
) -> float:
    """Height of a curve of straight pieces at a point, the lower end of a vertical piece."""
    piece = int(np.searchsorted(right, at, "left"))
    piece = min(piece, len(right) - 1)
    if right[piece] <= left[piece]:
        return float(low[piece])
    share = min(max((at - left[piece]) / (right[piece] - left[piece]), 0.0), 1.0)
    return float(low[piece] + share * (high[piece] - low[piece]))


def average_precision_influence(
    positive: BoolArray, score: FloatArray, counts: FloatArray | None = None
) -> ClassInfluence:
    """Influence of checked items on the average precision, in the mean over orders of ties.

    With j positives and N negatives down to a positive at position i, ``AP = 1/k sum of j / i``.
    Down to there, a share of the positives more raises the precision by ``k N / i**2`` times it,
    and a share of the m negatives lowers it by ``m j / i**2`` times that. A positive has its own
    precision and ``sum of N / i**2`` over the positives at or below it, a negative ``-m / k sum of
    j / i**2`` over the positives below it. The value of the population is the mean over the
    positives of their precision there, at this fraction of positives.
    """
    blocks = counted_blocks(score, positive, counts)
    n, k = blocks.n, blocks.k
    m = n - k
    some = blocks.some
    a, size = blocks.n_pos[some], blocks.size[some]
    pos_above = np.cumsum(a) - a
    above = n - blocks.below[some] - size
    neg_above = above - pos_above
    once, ahead, square, square_ahead, square_two = _place_sums(above, size)
    # Given a positive at a place, the chance that another place of its block has one.
    again = (a - 1.0) / np.maximum(size - 1.0, 1.0)
    against = (size - a) / np.maximum(size - 1.0, 1.0)
    # The same given one more item of the block.
    others = np.maximum(size - 2.0, 1.0)
    precision = ((pos_above + 1.0) * once + again * ahead) / size
    gain = (neg_above * square + against * square_ahead) / size
    gain_of_others = again * (neg_above * square_ahead + (size - a) / others * square_two) / size
    loss = a * ((pos_above + 1.0) * square + again * square_ahead) / size
    loss_within = a / np.maximum(size - 1.0, 1.0) / size
    loss_within *= (pos_above + 1.0) * square_ahead + (a - 1.0) / others * square_two

    if_positive, if_negative = np.zeros((2, len(blocks.size)))
    if_positive[some], if_negative[some] = a * gain, loss
    total_gain, total_loss = float(if_positive.sum()), float(if_negative.sum())
    # Of the blocks below each.
    for values in (if_positive, if_negative):
        upwards = values[::-1]
        np.cumsum(upwards, out=upwards)
    if_positive[some] += precision + gain + gain_of_others - a * gain
    if_negative[some] += loss_within - loss
    if_negative *= -m / k
    estimate = min(float(a @ precision) / k, 1.0)
    # Of the worst order in the population, which is below that of any list.
    worst = 1.0 - m / k * log1p(k / m)
    return ClassInfluence(
        estimate=estimate,
        values=by_row(blocks, positive, if_positive, if_negative),
        positive=positive,
        ends=((k / n, 1.0 + total_gain), (0.0, -total_loss * m / k)),
        range=(worst, 1.0),
        # j N / i**2 summed is by how much the mean over the positives exceeds the precision.
        label_slope=(float(a @ if_positive[some]) / k - estimate) * n / k * n / m,
        counts=counts,
        by_steps=True,
        bias=estimate - float(a @ _precision_of_population(a, size, pos_above, above, k, m)) / k,
    )


# Places of a tied block over which the precision is averaged.
MAX_NODES = 16


def _precision_of_population(
    a: FloatArray, size: FloatArray, pos_above: FloatArray, above: FloatArray, k: int, m: int
) -> FloatArray:
    """Estimate the precision of the population at the positives of each block, without bias.

    With A of the other positives and B of the negatives above a positive, ``A / (A + B)`` has the
    expectation ``a / (a + b)`` if A and B are Poisson numbers of means a and b, and one of them is
    not 0: that the positive itself counts, and that the precision is a ratio, is not in it. Of the
    others there are k - 1, so that A stands for ``A k / (k - 1)``. A and B are binomial rather
    than Poisson numbers, and vary less: the expectation exceeds ``a / (a + b)`` by about
    ``a b (T - F) / (a + b)**3``, T and F the rates there. The topmost positive, with nothing
    above it, has the precision at the others of its block, or at the next.
    """
    if k == 1:
        # Where the positive stands, on average half of the positives do.
        b = above + (size - 1.0) / 2.0
        return 0.5 / (0.5 + b)
    again = (a - 1.0) / np.maximum(size - 1.0, 1.0)

    def at(pos_above: FloatArray, above: FloatArray) -> FloatArray:
        share = pos_above / (k - 1.0)
        mean_pos, mean_neg = k * share, above - pos_above
        mean = np.maximum(mean_pos + mean_neg, 0.5)
        return mean_pos / mean - mean_pos * mean_neg * (share - mean_neg / m) / mean**3

    precision, nodes = np.zeros(len(size)), np.minimum(size, MAX_NODES)
    for inside, first, block, place in places_of(nodes):
        place = (place + 0.5) * (size / nodes)[inside][block] - 0.5
        values = at(
            pos_above[inside][block] + place * again[inside][block], above[inside][block] + place
        )
        precision[inside] += np.add.reduceat(values, first)
    # The first place of the list has nothing above it.
    if above[0] == 0.0 and 1.0 < size[0] <= MAX_NODES:
        nodes[0] -= 1.0
    precision /= nodes
    if above[0] == 0.0 and size[0] == 1.0:
        precision[0] = precision[1]
    return precision


def _place_sums(above: FloatArray, size: FloatArray) -> FloatArray:
    """Sums over the places v of each block, at the positions ``above + v``, in five rows."""
    sums = np.zeros((5, len(size)))
    for inside, first, block, place in places_of(size):
        once = 1.0 / (above[inside][block] + place + 1.0)
        square = once**2
        ahead = square * place
        for row, terms in zip(
            sums, (once, once * place, square, ahead, ahead * (place - 1.0)), strict=True
        ):
            row[inside] += np.add.reduceat(terms, first)
    return sums


@dataclass(frozen=True, eq=False)
class RateCurve:
    """How many items of one class stand before each of another, from one end of the list."""

    upto: FloatArray  # (2, n_blocks + 1): Ones and others before each block of tied items, and all
    threshold: int  # Number of the item of the others at which the rate is read
    rate: float  # Share of the others before it in the population
    of_positives: bool

    def block_of(self, number: float) -> int:
        """Find the block that holds an item of the other class, the first being number 1."""
        return int(np.searchsorted(self.upto[1, 1:], number, "left"))

    def before(self, number: float) -> float:
        """Count the ones before an item of the other class, in the mean over orders of ties."""
        if number < 1:
            return 0.0
        ones, others = self.upto
        if number > others[-1]:
            return float(ones[-1])
        at = self.block_of(number)
        inside = (number - others[at]) / (others[at + 1] - others[at] + 1.0)
        return float(ones[at] + (ones[at + 1] - ones[at]) * inside)


def upto_from(blocks: TiedBlocks, of_positives: bool) -> FloatArray:
    """Positives and negatives from the top, or negatives and positives from the bottom."""
    return blocks.upto if of_positives else blocks.after


def rate_window(
    blocks: TiedBlocks, allowed: int, rate: float, of_positives: bool, draws: float | None = None
) -> tuple[RateCurve, int, int]:
    """Curve of a rate, and the numbers of the others between which its slope is taken."""
    curve = RateCurve(upto_from(blocks, of_positives), allowed + 1, rate, of_positives)
    m, repeated = float(curve.upto[1, -1]), 1.0 if draws is None else blocks.n / draws
    half_width = ceil(BANDWIDTH * np.sqrt(m * rate * (1.0 - rate) * repeated))
    first, last = allowed + 1 - half_width, allowed + 1 + half_width
    return curve, max(first, 0), min(last, int(m) + 1)


def blocks_at_rate(blocks: TiedBlocks, allowed: int, rate: float, of_positives: bool) -> IntArray:
    """Blocks at which the influence on a rate looks, from the top."""
    curve, first, last = rate_window(blocks, allowed, rate, of_positives)
    at = [
        curve.block_of(min(max(number, 1), curve.upto[1, -1]))
        for number in (first, allowed + 1, last)
    ]
    n = len(blocks.starts)
    return np.unique(at if of_positives else n - 1 - np.array(at))


def rate_influence(
    lists: ScoredLists, allowed: int, rate: float, *, of_positives: bool
) -> ClassInfluence:
    """Influence of the items of one list on the rate of one class at a rate of the other.

    The rate of the ones before the threshold, which is the first of the others beyond those that
    are allowed there. An item before it adds to the rate if it is a one; if it is another, it
    moves the threshold, over which the rate falls by the slope of the curve.

    The slope is that of the line over two standard deviations ``sqrt(m rate (1 - rate))`` of the
    number of others before the threshold of the population, on either side, one more item of the
    ones added. Before the threshold of the sample ``(allowed + 1) / (m + 1)`` of the others stand
    on average: what the rate gains by it is the bias.
    """
    positive, counts = lists.positive, lists.weight
    blocks = counted_blocks(lists.score, positive, counts)
    curve, first, last = rate_window(blocks, allowed, rate, of_positives, lists.draws)
    k, m = curve.upto[:, -1].tolist()
    at = curve.block_of(allowed + 1)
    inside = allowed + 1 - float(curve.upto[1, at])
    slope = (curve.before(last) - curve.before(first) + 1.0) / (last - first) * m / k
    before = np.zeros(len(blocks.starts))
    before[:at] = 1.0
    if_one, if_other = before.copy(), before * -slope
    others = float(curve.upto[1, at + 1] - curve.upto[1, at])
    if_one[at] = inside / (others + 1.0)
    if_other[at] = -slope * (inside - 1.0) / others
    reached = curve.before(allowed + 1) / k
    bias = slope * ((allowed + 1.0) / (m + 1.0) - rate)
    if of_positives:
        values, ends = by_row(blocks, positive, if_one, if_other), ((0.0, 1.0), (0.0, -slope))
    else:
        # Before the threshold is below it, and the rate is that of negatives that are not.
        reached, bias, ends = 1.0 - reached, -bias, ((slope, 0.0), (-1.0, 0.0))
        values = by_row(blocks, positive, -if_other[::-1], -if_one[::-1])
    return ClassInfluence(
        estimate=reached,
        values=values,
        positive=positive,
        ends=ends,
        range=(0.0, 1.0),
        label_slope=0.0,
        counts=counts,
        bias=bias,
        curve=curve,
    )


@dataclass(frozen=True)
class _InTops(ScoreGeneratingFunction):
    """``phi(u) = mean of 1{u >= 1 - f} / f``: its mean over the positives is the mean lift."""

    fractions: tuple[float, ...]

    _only_jumps = True

    @property
    def jumps(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        n = len(self.fractions)
        return tuple((1.0 - fraction, 1.0 / fraction / n) for fraction in self.fractions)

    def __call__(self, u: Any) -> FloatArray:
        u = np.asarray(u)
        value = np.zeros(u.shape)
        for start, height in self.jumps:
            value += np.where(u >= start, height, 0.0)
        return value

    def derivative(self, u: Any) -> FloatArray:
        return np.zeros_like(np.asarray(u, dtype=np.float64))

    def _whole_sums(self, below: FloatArray, upto: FloatArray, n: FloatArray) -> FloatArray:
        sums = np.zeros(len(below))
        for start, height in self.jumps:
            sums += height * np.maximum(upto - np.maximum(below, ranks_below(start, n)), 0.0)
        return sums


def lift_influence(lists: ScoredLists, fractions: Sequence[float], called: str) -> ClassInfluence:
    """Influence on the precision in the top as a ratio to chance, the mean over some tops."""
    n = float(lists.sizes[0])
    if ranks_below(1.0 - min(fractions), lists.sizes)[0] < 1.0:
        raise ValueError(
            f"{called} of {n:.0f} items covers all of them, so it does not depend on their order:"
            " use a smaller top."
        )
    return rank_influence(lists, _InTops(tuple(fractions)), "mean")


def recall_influence(lists: ScoredLists, mass: float, called: str) -> ClassInfluence:
    n = float(lists.sizes[0])
    return lift_influence(lists, [mass / n], called).scaled(0.0, n / mass)


def affine_of_recall(
    recall: ClassInfluence, at_zero: float, factor: float, *, slope: float = nan
) -> ClassInfluence:
    """Take a measure that is ``at_zero + factor * recall`` where the labels are fixed."""
    influence = recall.scaled(-at_zero / factor, 1.0 / factor)
    low, high = sorted(influence.range)
    return replace(influence, range=(low, high), label_slope=slope)
