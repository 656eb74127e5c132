"""Distribution-free intervals for linear rank statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._blocks import CountedBlocks, counted_blocks, places_of
from .._lists import ScoredLists
from .._typing import FloatArray
from ..bounds._shared import kl_limits
from ..metrics import Measure
from ..metrics._shared import Normalize, ScoreGeneratingFunction, phi_of, rank_range
from ._group_bands import independent_rows, mean_of_tail
from ._groups import Groups
from ._rank_results import RankInterval, limit_range, rank_target

__all__ = ["dkw_interval", "dkw_lower_limits"]


def dkw_interval(
    data: ScoredLists,
    phi: ScoreGeneratingFunction,
    level: float,
    *,
    conditional: bool,
    normalize: Normalize,
    groups: Groups | None = None,
    what: str = "",
) -> RankInterval:
    """Interval by a band around the distribution of the scores and Chernoff's limit."""
    blocks = counted_blocks(data.score, data.positive, data.weight)
    n, k, size, n_pos, below = blocks.n, blocks.k, blocks.size, blocks.n_pos, blocks.below
    if normalize == "minmax" and not conditional:
        raise ValueError(
            "normalize='minmax' needs the fraction of positives, which is random with"
            " conditional=False and method='dkw': pass conditional=True or normalize='mean'."
        )
    worst, best = rank_range(phi, n, k)
    floor, ceiling = _bounds_of(phi)
    delta = (1.0 - level) / 2.0
    factor = 2.0 * np.exp(1.0) if conditional else 2.0
    eps, n_draws = np.sqrt(np.log(factor / delta) / (2.0 * n)), float(k)
    if groups is not None:
        eps = mean_of_tail(factor, delta, independent_rows(groups.sizes()))
        n_draws = float(independent_rows(groups.sizes(data.positive)))
    estimate = float(np.sum(phi._sums(below, below + size, np.array([float(n)])) / size * n_pos))
    estimate /= k
    shifted = [
        (_mean_of(phi, blocks, at) - floor) / (ceiling - floor)
        for at in (_ranks_down(n, eps), lambda rank: np.minimum(rank / n + eps, 1.0))
    ]
    least, most = kl_limits(np.clip(shifted, 0.0, 1.0), np.log(2.0 / delta) / n_draws)
    low = floor + (ceiling - floor) * float(least[0])
    high = floor + (ceiling - floor) * float(most[1])
    if normalize == "minmax":
        lowest, highest = limit_range(phi, n, k)
        low, high = ((x - lowest) / (highest - lowest) for x in (low, high))
        low, high = max(low, 0.0), min(high, 1.0)
        estimate = min(max((estimate - worst) / (best - worst), 0.0), 1.0)
    return RankInterval(
        estimate=estimate,
        low=min(low, estimate),
        high=max(high, estimate),
        level=level,
        method="dkw",
        target=rank_target(n, k, conditional, normalize, what),
    )


def dkw_lower_limits(
    lists: Sequence[ScoredLists], measure: Measure, deltas: FloatArray
) -> FloatArray:
    """Lower limits by a band around the distribution of the scores, labels fixed.

    Shape (n_functions,).
    """
    phi: Any = phi_of(measure)
    floor, ceiling = _bounds_of(phi)
    found = np.empty(len(lists))
    for row, (data, delta) in enumerate(zip(lists, deltas, strict=True)):
        blocks = counted_blocks(data.score, data.positive, data.weight)
        n, k = blocks.n, blocks.k
        eps = float(np.sqrt(np.log(4.0 * np.exp(1.0) / delta) / (2.0 * n)))
        lower = (_mean_of(phi, blocks, _ranks_down(n, eps)) - floor) / (ceiling - floor)
        least = float(kl_limits(min(max(lower, 0.0), 1.0), np.log(2.0 / delta) / k)[0])
        found[row] = floor + (ceiling - floor) * least
    if getattr(measure, "normalize", "minmax") == "minmax":
        lowest, highest = limit_range(phi, n, k)
        found = np.maximum((found - lowest) / (highest - lowest), 0.0)
    return found


def _ranks_down(n: int, eps: float) -> Callable[[FloatArray], FloatArray]:
    """Lower limits of the distribution function at ranks."""
    return lambda rank: np.maximum((rank - 1.0) / n - eps, 0.0)


def _mean_of(
    phi: ScoreGeneratingFunction, blocks: CountedBlocks, at: Callable[[FloatArray], FloatArray]
) -> float:
    """Mean over the positives of phi at their shifted ranks, tied items in random order."""
    by_block, rank = np.zeros(len(blocks.size)), float(blocks.n)
    for some, first, _, place in places_of(blocks.size):
        ranks = np.arange(rank, rank - len(place), -1.0)
        by_block[some] += np.add.reduceat(phi(at(ranks)), first)
        rank -= len(place)
    return float(np.sum(by_block / blocks.size * blocks.n_pos)) / blocks.k


def _bounds_of(phi: ScoreGeneratingFunction) -> tuple[float, float]:
    """Values of a bounded phi at 0 and 1."""
    try:
        floor, ceiling = (float(x) for x in phi(np.array([0.0, 1.0])))
        bounded = np.isfinite(floor) and np.isfinite(ceiling)
    except ValueError:
        bounded = False
    if not bounded:
        raise ValueError(
            f"phi={phi!r} is not finite on [0, 1], but method='dkw' needs a bounded phi: pass"
            " method='influence' or 'bootstrap'."
        )
    return floor, ceiling
