"""Influence of single items on measures of one list of two classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite, nan
from typing import Literal, TypeAlias

import numpy as np

from .._blocks import TiedBlocks, tied_blocks
from .._typing import BoolArray, FloatArray
from ._score_generating import ScoreGeneratingFunction

__all__ = [
    "PSEUDO_WEIGHT",
    "ClassInfluence",
    "Normalize",
    "linear_rank_influence_of",
    "partial_auc_influence_of",
    "rank_range",
    "share_at",
]

Normalize: TypeAlias = Literal["mean", "minmax"]

# Weight of each of two imagined items per class, one at either end of the list.
PSEUDO_WEIGHT = 0.5


@dataclass(frozen=True, eq=False)
class ClassInfluence:
    """First-order influence of each item, within its class and not centred.

    The statistic varies as the sum of the mean over the positives and the mean over the
    negatives.

    Parameters
    ----------
    estimate : float
        The statistic.
    values : ndarray of shape (n,)
        Influence of each item on the mean of its class.
    positive : ndarray of bool of shape (n,)
        Which items are positive.
    ends : tuple of (float, float, float, float) or None, default=None
        Influence of a positive at the bottom and at the top of the list, of a negative likewise;
        None where they are not known.
    range : tuple of (float, float), default=(-inf, inf)
        Least and largest value of the statistic.
    label_slope : float, default=nan
        Derivative of the target by the share of positives; NaN where it is not known.
    """

    estimate: float
    values: FloatArray
    positive: BoolArray
    ends: tuple[float, float, float, float] | None = None
    range: tuple[float, float] = (-inf, inf)
    label_slope: float = nan

    @property
    def length(self) -> float:
        """Length of the range."""
        return self.range[1] - self.range[0]

    def parts(self) -> tuple[FloatArray, FloatArray]:
        """Return the values of either class.

        Returns
        -------
        positive : ndarray of shape (n_pos,)
            Those of the positives.
        negative : ndarray of shape (n_neg,)
            Those of the negatives.
        """
        return self.values[self.positive], self.values[~self.positive]

    def class_ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the influence of an item at either end of the list.

        Returns
        -------
        positive : tuple of (float, float)
            Of a positive. Where it is not known, the least and the largest value of the class;
            where these are equal, half the range of the statistic on either side.
        negative : tuple of (float, float)
            Of a negative.
        """
        if self.ends is not None:
            return self.ends[:2], self.ends[2:]
        reach = self.length / 2.0 if isfinite(self.length) else 0.0
        found = []
        for part in self.parts():
            low, high = float(part.min()), float(part.max())
            found.append((low, high) if low < high else (low - reach, high + reach))
        return found[0], found[1]

    def centred(self) -> FloatArray:
        """Return the influence on the statistic as a function of the sample, labels fixed.

        Returns
        -------
        ndarray of shape (n,)
            Of mean 0 within each class; the statistic varies as its mean.
        """
        n = len(self.values)
        centred = np.empty(n)
        for in_class, part in zip((self.positive, ~self.positive), self.parts(), strict=True):
            centred[in_class] = (part - part.mean()) * (n / len(part))
        return centred

    def variance(self) -> float:
        """Return the variance of the statistic, labels fixed; NaN with one item of a class.

        Returns
        -------
        float
            Sum over the classes of the sample variance over the size.
        """
        return sum(
            float(part.var(ddof=1)) / len(part) if len(part) > 1 else np.nan
            for part in self.parts()
        )

    def label_variance(self) -> float:
        """Return the variance that a random number of positives adds.

        Returns
        -------
        float
            The variance; NaN where it is not known.
        """
        share = float(np.count_nonzero(self.positive)) / len(self.positive)
        return self.label_slope**2 * share * (1.0 - share) / len(self.positive)

    def regularized(self) -> tuple[float, float]:
        """Return shift and variance after half an item at either end is added to both classes.

        Returns
        -------
        shift : float
            By how much the statistic moves.
        variance : float
            Variance with the added items: positive wherever the ends differ.
        """
        shift, variance = 0.0, 0.0
        for part, ends in zip(self.parts(), self.class_ends(), strict=True):
            total = len(part) + 2.0 * PSEUDO_WEIGHT
            center = float(part.mean())
            mean = (len(part) * center + PSEUDO_WEIGHT * sum(ends)) / total
            squares = float(np.sum((part - mean) ** 2))
            squares += PSEUDO_WEIGHT * sum((end - mean) ** 2 for end in ends)
            shift += mean - center
            variance += squares / total**2
        return shift, variance

    def scaled(self, origin: float, length: float, *, copy: bool = True) -> ClassInfluence:
        """Measure the statistic from another origin in another unit.

        Parameters
        ----------
        origin : float
            What becomes 0, whatever the share of positives.
        length : float
            What becomes 1, measured from there; positive.
        copy : bool, default=True
            Whether these values stay as they are; else their memory is used again.

        Returns
        -------
        ClassInfluence
            The same influence in the new unit.
        """
        ends = None if self.ends is None else tuple(end / length for end in self.ends)
        return ClassInfluence(
            estimate=(self.estimate - origin) / length,
            values=np.divide(self.values, length, out=None if copy else self.values),
            positive=self.positive,
            ends=ends,  # type: ignore[arg-type]
            range=((self.range[0] - origin) / length, (self.range[1] - origin) / length),
            label_slope=self.label_slope / length,
        )


def rank_range(phi: ScoreGeneratingFunction, n: int, k: int) -> tuple[float, float]:
    """Mean statistic of the worst and of the best order.

    Parameters
    ----------
    phi : ScoreGeneratingFunction
        The function.
    n : int
        Number of items.
    k : int
        Number of positives.

    Returns
    -------
    worst : float
        Mean of phi over the lowest k ranks.
    best : float
        Mean of phi over the highest k ranks.
    """
    worst, best = _extremes(phi, n, k)
    if not worst < best:
        raise ValueError(
            f"phi={phi!r} is the same at the worst and the best order of {k} positives among {n}"
            " items, so that the order does not count: pass another phi or more items."
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
) -> ClassInfluence:
    """Influence of checked items on a linear rank statistic.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Which items are positive; both classes are present.
    score : ndarray of shape (n,)
        Scores without NaN.
    phi : ScoreGeneratingFunction
        The function, not depending on the length of the list.
    normalize : {"mean", "minmax"}, default="mean"
        Of the mean of phi over the positives, or of its value between the worst and the best
        order.

    Returns
    -------
    ClassInfluence
        The influence; its range is that of lists with as many positives and negatives.
    """
    n, k = len(score), int(np.count_nonzero(positive))
    worst, best = (_extremes if normalize == "mean" else rank_range)(phi, n, k)
    found = replace(_mean_influence(positive, score, phi), range=(worst, best))
    slope = _label_slope(found)
    if normalize == "mean":
        return replace(found, label_slope=slope)
    # The worst order is the mean of phi over (0, p), the best that over (1 - p, 1).
    between = (found.estimate - worst) / (best - worst)
    ends = phi._at_ranks(np.array([k + 0.5, n - k + 0.5]), np.array([float(n)]))
    slope -= (1.0 - between) * (float(ends[0]) - worst) * n / k
    slope -= between * (float(ends[1]) - best) * n / k
    # Nobody else has the values yet; a copy would take a third of the time of long lists.
    return replace(found, label_slope=slope).scaled(worst, best - worst, copy=False)


def _label_slope(found: ClassInfluence) -> float:
    """How the mean of phi over the positives moves with their share."""
    share = float(np.count_nonzero(found.positive)) / len(found.positive)
    # p T of the positives is what remains of their values without phi; (1-p) T of the negatives.
    of_positives, of_negatives = found.parts()
    tail_neg = float(of_negatives.mean()) / (1.0 - share)
    tail_pos = (float(of_positives.mean()) - found.estimate) / share
    return tail_pos - tail_neg


def _mean_influence(
    positive: BoolArray, score: FloatArray, phi: ScoreGeneratingFunction
) -> ClassInfluence:
    """Influence on the mean of phi over the positives."""
    blocks = tied_blocks(score)
    n, k = len(score), int(np.count_nonzero(positive))
    ordered = positive[blocks.order]
    tied = len(blocks.starts) < n
    size = blocks.lengths().astype(np.float64) if tied else np.ones(n)
    n_pos = (
        np.add.reduceat(ordered, blocks.starts, dtype=np.intp).astype(np.float64)
        if tied
        else ordered.astype(np.float64)
    )
    below = n - blocks.starts - size
    value = phi._sums(below, below + size, np.array([float(n)])) / size
    whole, own = _slopes(phi, blocks, below, size)
    moved = n_pos * whole
    # Ranks gained by the positives above, then those of the same block.
    tail = np.cumsum(moved) - moved + n_pos * own
    for n_below, height in _jumps(phi, n):
        eta = share_at(n_below, below, size, n_pos)
        tail += height * eta * (n + 1.0) * np.clip((n_below - below) / size, 0.0, 1.0)
    if_positive, if_negative = value + tail / (n + 1.0), tail * ((n - k) / (n + 1.0) / k)
    total = float(tail[-1] + n_pos[-1] * (whole[-1] - own[-1]))
    extremes = phi._at_ranks(np.array([1.0, float(n)]), np.array([float(n)]))
    return ClassInfluence(
        estimate=float(np.sum(n_pos * value)) / k,
        values=_by_item(blocks, ordered, if_positive, if_negative),
        positive=positive,
        ends=(
            float(extremes[0]) + total / (n + 1.0),
            float(extremes[1]),
            total * (n - k) / (n + 1.0) / k,
            0.0,
        ),
    )


def _by_item(
    blocks: TiedBlocks, ordered: BoolArray, if_positive: FloatArray, if_negative: FloatArray
) -> FloatArray:
    """Give each item the value of its block for its class; ``ordered`` are the labels there."""
    if len(blocks.starts) < len(ordered):
        block = np.repeat(np.arange(len(blocks.starts)), blocks.lengths())
        if_positive, if_negative = if_positive[block], if_negative[block]
    values = np.empty(len(ordered))
    values[blocks.order] = np.where(ordered, if_positive, if_negative)
    return values


def _slopes(
    phi: ScoreGeneratingFunction, blocks: TiedBlocks, below: FloatArray, size: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Derivative of the value of each block by its rank, from items below it and from its own.

    An item within the block moves the part of the block that lies above it.
    """
    n = len(blocks.order)
    rank = np.arange(n, 0.0, -1.0)
    slope = _slope_at(phi, rank, n)
    if len(size) == n:
        return slope, slope / 2.0
    within = (rank - np.repeat(below, blocks.lengths()) - 0.5) / np.repeat(size, blocks.lengths())
    whole = np.add.reduceat(slope, blocks.starts) / size
    return whole, np.add.reduceat(slope * within, blocks.starts) / size


def _slope_at(phi: ScoreGeneratingFunction, rank: FloatArray, n: int) -> FloatArray:
    """Derivative of phi at descending ranks."""
    if phi.has_derivative:
        return phi.derivative(rank / (n + 1.0))
    half = _window(n)
    upper, lower = np.minimum(rank + half, n), np.maximum(rank - half, 1.0)
    length = np.array([float(n)])
    rise = phi._at_ranks(upper, length) - phi._at_ranks(lower, length)
    return rise * ((n + 1.0) / np.maximum(upper - lower, 1.0))


def _window(n: int) -> int:
    """Ranks on either side over which something local is estimated."""
    return int(np.ceil(np.sqrt(n)))


def _jumps(phi: ScoreGeneratingFunction, n: int) -> list[tuple[int, float]]:
    """Number of ranks below each jump of phi that lies inside the list, and its height."""
    if not phi.has_derivative:
        return []
    found = []
    for u0, height in phi.jumps:
        n_below = int(np.ceil(u0 * (n + 1.0) * (1.0 - 1e-15))) - 1
        if 0 < n_below < n:
            found.append((n_below, height))
    return found


def share_at(n_below: int, below: FloatArray, size: FloatArray, n_pos: FloatArray) -> float:
    """Estimate the probability that an item between two ranks is positive.

    Parameters
    ----------
    n_below : int
        Number of ranks below it, more than 0 and less than n.
    below : ndarray of shape (n_blocks,)
        Items below each block of tied items, from the top.
    size : ndarray of shape (n_blocks,)
        Items of each block.
    n_pos : ndarray of shape (n_blocks,)
        Positives of each block.

    Returns
    -------
    float
        Share within sqrt(n) ranks on either side, fewer near the ends, half an item of either
        class added; that of the tied block where it is wider and holds both sides.
    """
    n = int(below[0] + size[0])
    half = min(_window(n), n_below, n - n_below)
    first, last = (_block_of_rank(rank, below) for rank in (n_below + half, n_below - half + 1))
    at = _block_of_rank(n_below, below)
    if below[at] + size[at] > n_below and size[at] >= 2 * half:
        return float(n_pos[at] / size[at])
    count, total = n_pos[first : last + 1].sum(), size[first : last + 1].sum()
    return float((count + 0.5) / (total + 1.0))


def _block_of_rank(rank: int, below: FloatArray) -> int:
    """Block, counted from the top, that holds an ascending rank."""
    return len(below) - int(np.searchsorted(below[::-1], rank, "left"))


def partial_auc_influence_of(
    positive: BoolArray, score: FloatArray, max_fpr: float, min_tpr: float
) -> ClassInfluence:
    """Influence of checked items on the raw area under a part of the ROC curve.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Which items are positive; both classes are present.
    score : ndarray of shape (n,)
        Scores without NaN.
    max_fpr : float
        Largest false positive rate that counts, in (0, 1].
    min_tpr : float
        Smallest true positive rate that counts, in [0, 1).

    Returns
    -------
    ClassInfluence
        The influence; the curve is straight across tied items, and the target does not depend on
        the share of positives.
    """
    blocks = tied_blocks(score)
    ordered = positive[blocks.order]
    n_pos = np.add.reduceat(ordered, blocks.starts, dtype=np.intp).astype(np.float64)
    n_neg = blocks.lengths() - n_pos
    k, m = n_pos.sum(), n_neg.sum()
    tpr, fpr = np.cumsum(n_pos) / k, np.cumsum(n_neg) / m
    tpr_above, fpr_above = tpr - n_pos / k, fpr - n_neg / m
    tpr_at_limit = _height(max_fpr, fpr_above, fpr, tpr_above, tpr)
    fpr_at_limit = _height(min_tpr, tpr_above, tpr, fpr_above, fpr)
    widest = max(max_fpr - min(fpr_at_limit, max_fpr), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        width, rise = fpr - fpr_above, tpr - tpr_above
        if_positive = np.where(
            width > 0.0,
            (_ramp_area(max_fpr - fpr_above, widest) - _ramp_area(max_fpr - fpr, widest)) / width,
            np.clip(max_fpr - fpr, 0.0, widest),
        )
        inside = np.clip((max_fpr - fpr_above) / width, 0.0, 1.0)
        height = np.where(
            rise > 0.0,
            (_half_square(tpr_above + inside * rise - min_tpr) - _half_square(tpr_above - min_tpr))
            / rise,
            inside * np.maximum(tpr - min_tpr, 0.0),
        )
    if_negative = height - inside * max(tpr_at_limit - min_tpr, 0.0)
    area = float(np.sum(np.where(n_neg > 0.0, height * n_neg, 0.0))) / float(m)
    return ClassInfluence(
        estimate=area,
        values=_by_item(blocks, ordered, if_positive, if_negative),
        positive=positive,
        ends=(0.0, max_fpr, 0.0, min_tpr - 1.0),
        range=(0.0, max_fpr * (1.0 - min_tpr)),
        label_slope=0.0,
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


def _ramp_area(z: FloatArray, widest: float) -> FloatArray:
    """Integral of ``clip(x, 0, widest)`` from 0 to z."""
    inside = np.clip(z, 0.0, widest)
    return inside**2 / 2.0 + widest * np.maximum(z - widest, 0.0)


def _half_square(z: FloatArray) -> FloatArray:
    """Integral of ``max(x, 0)`` up to z."""
    return np.maximum(z, 0.0) ** 2 / 2.0
