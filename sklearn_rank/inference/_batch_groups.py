"""Bets on the positives of groups that are drawn without replacement.

Of a number of groups some are drawn at random. The rows of each are known, and the hits of those
that were drawn. If all groups have at most a number of hits, a bet on the hits of the next drawn
group has no gain on average: the capital of a player reaches ``1 / error`` with at most this
probability.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..bounds._shared import sums_of_earlier

# Share of the groups of which all rows count.
OF_GROUPS = 0.8


def fewest_hits_of_groups(
    hits: FloatArray, sizes: IntArray, n_groups: int, n_rows: int, largest: int, tail: float
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

    # Shares of the capital that are lost where the next group has no hit.
    bets = np.geomspace(1.0 / 64.0, 0.9, 8)[:, np.newaxis]

    def is_usual(total: int) -> bool:
        mean = without + (total - seen) / left
        ratio = np.divide(value, mean, out=np.ones(len(value)), where=mean > 0.0)
        gains = np.log1p(bets * (ratio - 1.0))
        capital = np.exp(np.cumsum(gains, axis=1)).mean(axis=0)
        return bool(capital.max(initial=1.0) < 1.0 / tail)

    fewest = int(hits.sum())
    return fewest + bisect_left(range(fewest, n_rows), True, key=is_usual)


class DrawnGroups:
    """Groups of the rows in a joint order from the top, of which the labelled ones are drawn.

    ``positive`` is False in the batch, and ``rng`` orders the groups. Shapes (n_rows,).
    """

    def __init__(
        self, codes: IntArray, is_batch: BoolArray, positive: BoolArray, rng: np.random.Generator
    ) -> None:
        self.codes, self.positive, self.n_groups = codes, positive, int(codes.max()) + 1
        self.earlier = sums_of_earlier(codes, np.ones(len(codes)))
        labelled, batch = np.unique(codes[~is_batch]), np.unique(codes[is_batch])
        if len(both := np.intersect1d(labelled, batch)):
            raise ValueError(
                f"groups and batch_groups have {len(both)} ids in common, so that labelled groups"
                " are not drawn at random: leave the labelled rows of these groups out."
            )
        self.drawn, self.n_batch = rng.permutation(labelled), len(batch)

    def places(self, numbers: IntArray) -> IntArray:
        """Places of the joint order above which about so many rows of the batch are."""
        times = self.n_groups / self.n_batch
        return np.unique(np.minimum(np.rint(times * numbers), len(self.codes)).astype(np.intp))

    def fewest(self, place: int, tail: float, *, hits: bool = True) -> int:
        """Fewest hits, or misses, of the batch among the first rows of the joint order.

        Of each group the first rows count, as many as most groups have: large ones would keep the
        bets small.
        """
        sizes = np.bincount(self.codes[:place])
        most = int(np.ceil(np.quantile(sizes[sizes > 0], OF_GROUPS)))
        rows = np.flatnonzero(self.earlier[:place] < most)
        codes, of_kind = self.codes[rows], self.positive[rows] == hits
        sizes = np.bincount(codes, minlength=self.n_groups)
        drawn = self.drawn[sizes[self.drawn] > 0]
        n = np.bincount(codes, of_kind, self.n_groups)[drawn]
        options = int(np.count_nonzero(sizes)), len(rows), most, tail
        return max(fewest_hits_of_groups(n, sizes[drawn], *options) - int(n.sum()), 0)
