"""How much each item moves a measure of one list: first-order influence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from .._blocks import TiedBlocks, tied_blocks
from .._typing import BoolArray, FloatArray, IntArray
from ._score_generating import ScoreGeneratingFunction

__all__ = [
    "PSEUDO_WEIGHT",
    "ClassInfluence",
    "Normalize",
    "label_slope",
    "linear_rank_influence_of",
    "rank_bias",
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
    ends : tuple of (float, float, float, float)
        Influence of a positive at the bottom and at the top, of a negative likewise.
    """

    estimate: float
    values: FloatArray
    positive: BoolArray
    ends: tuple[float, float, float, float]

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

    def centred(self) -> FloatArray:
        """Return the influence on the statistic as a function of the sample, labels fixed.

        Returns
        -------
        ndarray of shape (n,)
            Of mean 0 within each class; the statistic varies as its mean.
        """
        n = len(self.values)
        centred = np.empty(n)
        for held, part in zip((self.positive, ~self.positive), self.parts(), strict=True):
            centred[held] = (part - part.mean()) * (n / len(part))
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

    def shrunken(self) -> tuple[float, float]:
        """Return shift and variance after half an item at either end is added to both classes.

        Returns
        -------
        shift : float
            By how much the statistic moves.
        variance : float
            Variance with the added items: positive wherever the ends differ.
        """
        shift, variance = 0.0, 0.0
        for part, ends in zip(self.parts(), (self.ends[:2], self.ends[2:]), strict=True):
            total = len(part) + 2.0 * PSEUDO_WEIGHT
            center = float(part.mean())
            mean = (len(part) * center + PSEUDO_WEIGHT * sum(ends)) / total
            squares = float(np.sum((part - mean) ** 2))
            squares += PSEUDO_WEIGHT * sum((end - mean) ** 2 for end in ends)
            shift += mean - center
            variance += squares / total**2
        return shift, variance

    def scaled(self, origin: float, length: float) -> ClassInfluence:
        """Measure the statistic from another origin in another unit.

        Parameters
        ----------
        origin : float
            What becomes 0.
        length : float
            What becomes 1, measured from there; positive.

        Returns
        -------
        ClassInfluence
            The same influence in the new unit.
        """
        ends = tuple(end / length for end in self.ends)
        return ClassInfluence(
            estimate=(self.estimate - origin) / length,
            values=self.values / length,
            positive=self.positive,
            ends=ends,  # type: ignore[arg-type]
        )


def label_slope(
    found: ClassInfluence,
    phi: ScoreGeneratingFunction,
    *,
    normalize: Normalize,
    worst: float,
    best: float,
) -> float:
    """How the target moves with the share of positives, in the unit of the mean statistic.

    Parameters
    ----------
    found : ClassInfluence
        Influence on the mean statistic.
    phi : ScoreGeneratingFunction
        The function.
    normalize : {"mean", "minmax"}
        Whether the target is the mean or its place between worst and best.
    worst : float
        Mean statistic of the worst order.
    best : float
        Mean statistic of the best order.

    Returns
    -------
    float
        The derivative; that of the place is multiplied by ``best - worst``.
    """
    positive = found.positive
    n, k = len(positive), int(np.count_nonzero(positive))
    share = k / n
    # p T of the positives is what remains of their values without phi; (1-p) T of the negatives.
    tail_neg = float(found.values[~positive].mean()) / (1.0 - share)
    tail_pos = (float(found.values[positive].mean()) - found.estimate) / share
    slope = tail_pos - tail_neg
    if normalize == "minmax":
        # The worst order is the mean of phi over (0, p), the best that over (1 - p, 1).
        place = (found.estimate - worst) / (best - worst)
        ends = phi._at_ranks(np.array([k + 0.5, n - k + 0.5]), np.array([float(n)]))
        slope -= (1.0 - place) * (float(ends[0]) - worst) / share
        slope -= place * (float(ends[1]) - best) / share
    return slope


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
    ends = phi._sums(np.array([0.0, n - k]), np.array([float(k), float(n)]), np.array([float(n)]))
    worst, best = float(ends[0]) / k, float(ends[1]) / k
    if not worst < best:
        raise ValueError(
            f"phi={phi!r} is the same at the worst and the best order of {k} positives among {n}"
            " items, so that no place counts: pass another phi or more items."
        )
    return worst, best


def linear_rank_influence_of(
    positive: BoolArray, score: FloatArray, phi: ScoreGeneratingFunction
) -> ClassInfluence:
    """Influence of checked items on the mean of phi over the positives.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Which items are positive; both classes are present.
    score : ndarray of shape (n,)
        Scores without NaN.
    phi : ScoreGeneratingFunction
        The function, not depending on the length of the list.

    Returns
    -------
    ClassInfluence
        The influence.
    """
    blocks = tied_blocks(score)
    n, k = len(score), int(np.count_nonzero(positive))
    ordered = positive[blocks.order]
    tied = len(blocks.starts) < n
    size = blocks.lengths().astype(np.float64) if tied else np.ones(n)
    held = (
        np.add.reduceat(ordered, blocks.starts, dtype=np.intp).astype(np.float64)
        if tied
        else ordered.astype(np.float64)
    )
    below = n - blocks.starts - size
    value = phi._sums(below, below + size, np.array([float(n)])) / size
    whole, own = _slopes(phi, blocks, below, size)
    moved = held * whole
    # Ranks gained by the positives above, then those of the same block.
    tail = np.cumsum(moved) - moved + held * own
    for place, height in _jumps(phi, n):
        eta = share_at(place, below, size, held)
        tail += height * eta * (n + 1.0) * np.clip((place - below) / size, 0.0, 1.0)
    of_positive, of_negative = value + tail / (n + 1.0), tail * ((n - k) / (n + 1.0) / k)
    if tied:
        block = np.repeat(np.arange(len(size)), blocks.lengths())
        of_positive, of_negative = of_positive[block], of_negative[block]
    values = np.empty(n)
    values[blocks.order] = np.where(ordered, of_positive, of_negative)
    total = float(tail[-1] + held[-1] * (whole[-1] - own[-1]))
    extremes = phi._at_ranks(np.array([1.0, float(n)]), np.array([float(n)]))
    return ClassInfluence(
        estimate=float(np.sum(held * value)) / k,
        values=values,
        positive=positive,
        ends=(
            float(extremes[0]) + total / (n + 1.0),
            float(extremes[1]),
            total * (n - k) / (n + 1.0) / k,
            0.0,
        ),
    )


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


def _has_derivative(phi: ScoreGeneratingFunction) -> bool:
    return type(phi).derivative is not ScoreGeneratingFunction.derivative


def _slope_at(phi: ScoreGeneratingFunction, rank: FloatArray, n: int) -> FloatArray:
    """Derivative of phi at descending ranks."""
    if _has_derivative(phi):
        return phi.derivative(rank / (n + 1.0))
    half = _window(n)
    upper, lower = np.minimum(rank + half, n), np.maximum(rank - half, 1.0)
    of_list = np.array([float(n)])
    rise = phi._at_ranks(upper, of_list) - phi._at_ranks(lower, of_list)
    return rise * ((n + 1.0) / np.maximum(upper - lower, 1.0))


def _window(n: int) -> int:
    """Ranks on either side over which something local is estimated."""
    return int(np.ceil(np.sqrt(n)))


def _jumps(phi: ScoreGeneratingFunction, n: int) -> list[tuple[int, float]]:
    """Number of ranks below each jump of phi that lies inside the list, and its height."""
    if not _has_derivative(phi):
        return []
    found = []
    for u0, height in phi.jumps:
        place = int(np.ceil(u0 * (n + 1.0) * (1.0 - 1e-15))) - 1
        if 0 < place < n:
            found.append((place, height))
    return found


def share_at(place: int, below: FloatArray, size: FloatArray, held: FloatArray) -> float:
    """Estimate the probability that an item at a place between two ranks is positive.

    Parameters
    ----------
    place : int
        Number of ranks below, more than 0 and less than n.
    below : ndarray of shape (n_blocks,)
        Items below each block of tied items, from the top.
    size : ndarray of shape (n_blocks,)
        Items of each block.
    held : ndarray of shape (n_blocks,)
        Positives of each block.

    Returns
    -------
    float
        Share within sqrt(n) ranks on either side, fewer near the ends, half an item of either
        class added; that of the tied block where it is wider and holds both sides.
    """
    n = int(below[0] + size[0])
    half = min(_window(n), place, n - place)
    first, last = (_block_of_rank(rank, below) for rank in (place + half, place - half + 1))
    at = _block_of_rank(place, below)
    if below[at] + size[at] > place and size[at] >= 2 * half:
        return float(held[at] / size[at])
    count, total = held[first : last + 1].sum(), size[first : last + 1].sum()
    return float((count + 0.5) / (total + 1.0))


def _block_of_rank(rank: int, below: FloatArray) -> int:
    """Block, counted from the top, that holds an ascending rank."""
    return len(below) - int(np.searchsorted(below[::-1], rank, "left"))


def rank_bias(positive: BoolArray, score: FloatArray, phi: ScoreGeneratingFunction) -> float:
    """Estimate by how much the mean statistic exceeds its target on average, labels fixed.

    The mean over the positives of ``E[phi(R / (n + 1))] - phi(F)``, where the rank R of an item at
    a given score is normal with the mean and the variance that the other items give it.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Which items are positive.
    score : ndarray of shape (n,)
        Scores without NaN.
    phi : ScoreGeneratingFunction
        The function.

    Returns
    -------
    float
        The bias.
    """
    blocks = tied_blocks(score)
    n, k = len(score), int(np.count_nonzero(positive))
    held = np.add.reduceat(positive[blocks.order], blocks.starts, dtype=np.intp)
    size = blocks.lengths()
    some: IntArray = np.flatnonzero(held)
    above = np.cumsum(held) - held / 2.0
    all_above = np.cumsum(size) - size / 2.0
    cdf_pos = (k - above[some]) / k
    cdf_neg = (n - k - (all_above - above)[some]) / (n - k)
    cdf = (n - all_above[some]) / n
    mean = (1.0 + (k - 1) * cdf_pos + (n - k) * cdf_neg) / (n + 1.0)
    spread = (k - 1) * cdf_pos * (1.0 - cdf_pos) + (n - k) * cdf_neg * (1.0 - cdf_neg)
    reach = np.sqrt(3.0 * np.maximum(spread, 0.0)) / (n + 1.0)
    # Within the list, and as far on either side, so that the mean stays.
    ends = 0.5 / (n + 1.0)
    reach = np.minimum(reach, np.maximum(np.minimum(mean, 1.0 - mean) - ends, 0.0))
    of_list = np.array([float(n)])

    def continuous(rank: FloatArray) -> FloatArray:
        jumped = sum(height * (rank / (n + 1.0) >= u0) for u0, height in phi.jumps)
        return phi._at_ranks(rank, of_list) - jumped

    expected = np.zeros(len(some))
    # Three nodes are exact for the normal distribution up to phi of degree five.
    for share, sign in ((1 / 6, -1.0), (2 / 3, 0.0), (1 / 6, 1.0)):
        expected += share * continuous((mean + sign * reach) * (n + 1.0))
    gain = expected - continuous(cdf * (n + 1.0))
    return float(np.sum(held[some] * gain) / k)
