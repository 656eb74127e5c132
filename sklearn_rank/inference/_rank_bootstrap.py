"""Intervals for linear rank statistics by resampling within the classes."""

from __future__ import annotations

import numpy as np

from .._blocks import tied_blocks
from .._lists import ScoredLists
from .._typing import FloatArray
from ..metrics._shared import PSEUDO_WEIGHT, Normalize, ScoreGeneratingFunction, rank_range
from ._exact_limits import safe_limits
from ._rank_results import RankInterval, rank_target

__all__ = ["RankBootstrap"]


class RankBootstrap:
    """Statistics of samples drawn from the items and one imagined item at either end."""

    def __init__(
        self,
        data: ScoredLists,
        phi: ScoreGeneratingFunction,
        *,
        conditional: bool,
        normalize: Normalize,
        what: str = "",
    ) -> None:
        self.phi, self.conditional, self.normalize = phi, conditional, normalize
        self.what = what
        self.n, self.k = len(data.score), int(np.count_nonzero(data.positive))
        blocks = tied_blocks(data.score)
        n_pos = blocks.totals(data.positive.astype(np.float64)).astype(np.intp)
        self.counts = np.stack([n_pos, blocks.lengths() - n_pos])
        self.n_blocks = len(n_pos) + 2
        # Block of each item of either class, the imagined blocks first and last.
        self.blocks = [np.repeat(np.arange(1, len(n_pos) + 1), row) for row in self.counts]
        rank_range(phi, self.n, self.k)

    def statistic(self, n_pos: FloatArray, n_neg: FloatArray) -> float:
        """Statistic of counts in blocks from the top, 0 for the worst and 1 for the best order."""
        some = np.flatnonzero(n_pos)
        size = n_pos + n_neg
        n, k = float(size.sum()), float(n_pos.sum())
        below = (n - np.cumsum(size))[some]
        value = self.phi._sums(below, below + size[some], np.array([n]))
        mean = float(np.sum(value * n_pos[some] / size[some])) / k
        if self.normalize == "mean":
            low, high = self.mean_range()
        else:
            low, high = rank_range(self.phi, int(n), int(k))
        return min(max((mean - low) / (high - low), 0.0), 1.0)

    def mean_range(self) -> tuple[float, float]:
        """Return the least and the largest mean over the positives."""
        if self.conditional:
            return rank_range(self.phi, self.n, self.k)
        ends = self.phi._at_ranks(np.array([1.0, float(self.n)]), np.array([float(self.n)]))
        return float(ends[0]), float(ends[1])

    def draw(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw counts in blocks for both classes. Shape (n_blocks,)."""
        k = self.k
        if not self.conditional:
            k = int(np.clip(rng.binomial(self.n, self.k / self.n), 1, self.n - 1))
        drawn = []
        for size, blocks in zip((k, self.n - k), self.blocks, strict=True):
            total = len(blocks) + 2.0 * PSEUDO_WEIGHT
            at = np.floor(rng.random(size) * total - PSEUDO_WEIGHT).astype(np.intp)
            ends = np.array([0, self.n_blocks - 1])
            inside = (at >= 0) & (at < len(blocks))
            block = np.where(
                inside, blocks[np.clip(at, 0, len(blocks) - 1)], ends[(at > 0).astype(np.intp)]
            )
            drawn.append(np.bincount(block, minlength=self.n_blocks).astype(np.float64))
        return drawn[0], drawn[1]

    def interval(self, level: float, n_resamples: int, rng: np.random.Generator) -> RankInterval:
        """Make the interval."""
        n_pos, n_neg = self.counts.astype(np.float64)
        value = self.statistic(n_pos, n_neg)
        draws = np.array([self.statistic(*self.draw(rng)) for _ in range(n_resamples)])
        variance = float(draws.var(ddof=1))
        center = float(draws.mean())
        n_effective = center * (1.0 - center) / variance
        low, high = safe_limits(value, n_effective, level)
        origin, scale = 0.0, 1.0
        if self.normalize == "mean":
            least, largest = self.mean_range()
            origin, scale = least, largest - least
        estimate = origin + scale * value
        return RankInterval(
            estimate=estimate,
            # Up to rounding they are in order.
            low=min(origin + scale * low, estimate),
            high=max(origin + scale * high, estimate),
            level=level,
            method="bootstrap",
            target=rank_target(
                self.n, self.k, self.conditional, self.normalize, self.what, expected=True
            ),
            standard_error=scale * float(np.sqrt(variance)),
        )
