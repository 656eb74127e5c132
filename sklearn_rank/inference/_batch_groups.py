"""Bets on the positives of groups that are drawn without replacement.

Of a number of groups some are drawn at random. The rows of each are known, and the hits of those
that were drawn. If all groups have at most a number of hits, a bet on the hits of the next drawn
group has no gain on average: the capital of a player reaches ``1 / error`` with at most this
probability.
"""

from __future__ import annotations

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray

# Bets, as shares of the capital that is lost where the next group has no hit.
BETS = np.geomspace(1.0 / 64.0, 0.9, 8)


def fewest_hits_of_groups(
    hits: FloatArray, sizes: FloatArray, n_groups: int, n_rows: int, largest: int, tail: float
) -> int:
    """Fewest hits of all groups with which the drawn ones are not too rare.

    ``hits`` and ``sizes`` are those of the drawn groups in a random order, of ``n_groups`` with
    ``n_rows`` in all, of which the largest has so many. Shape (n_drawn,).
    """
    seen, of_rows = np.cumsum(hits) - hits, np.cumsum(sizes) - sizes
    share = (seen + 0.5) / (of_rows + 1.0)
    left = n_groups - np.arange(len(hits))
    # Hits, less those that the size foretells, from 0 on, and their mean in all groups left.
    value = hits + share * (largest - sizes)
    without = share * largest - share * (n_rows - of_rows) / left

    def is_rare(total: int) -> bool:
        mean = without + (total - seen) / left
        ratio = np.divide(value, mean, out=np.ones(len(value)), where=mean > 0.0)
        gains = np.log1p(BETS[:, np.newaxis] * (ratio - 1.0))
        capital = np.exp(np.cumsum(gains, axis=1)).mean(axis=0)
        return bool(capital.max(initial=1.0) >= 1.0 / tail)

    few, enough = int(hits.sum()) - 1, n_rows
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (middle, enough) if is_rare(middle) else (few, middle)
    return enough


class DrawnGroups:
    """Groups of the rows in a joint order from the top, of which the labelled ones are drawn.

    ``positive`` is False in the batch, and ``rng`` orders the groups. Shapes (n_rows,).
    """

    def __init__(
        self, codes: IntArray, is_batch: BoolArray, positive: BoolArray, rng: np.random.Generator
    ) -> None:
        self.codes, self.positive = codes, positive
        labelled, batch = np.unique(codes[~is_batch]), np.unique(codes[is_batch])
        if len(both := np.intersect1d(labelled, batch)):
            raise ValueError(
                f"groups and batch_groups have {len(both)} ids in common, so that labelled groups"
                " are not drawn at random: leave the labelled rows of these groups out."
            )
        self.drawn, self.n_batch = rng.permutation(labelled), len(batch)

    def places(self, numbers: IntArray) -> IntArray:
        """Places of the joint order above which about so many rows of the batch are."""
        times = (len(self.drawn) + self.n_batch) / self.n_batch
        return np.unique(np.minimum(np.rint(times * numbers), len(self.codes)).astype(np.intp))

    def fewest(self, place: int, tail: float, *, hits: bool = True) -> int:
        """Fewest hits, or misses, of the batch among the first rows of the joint order."""
        codes, positive = self.codes[:place], self.positive[:place]
        sizes = np.bincount(codes, minlength=int(self.codes.max()) + 1)
        of_group = np.bincount(codes, positive, len(sizes))
        drawn = self.drawn[sizes[self.drawn] > 0]
        of_drawn, n = sizes[drawn].astype(np.float64), of_group[drawn]
        if not hits:
            n = of_drawn - n
        options = int(np.count_nonzero(sizes)), place, int(sizes.max()), tail
        return max(fewest_hits_of_groups(n, of_drawn, *options) - int(n.sum()), 0)
