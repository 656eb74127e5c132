"""Variance of differences: how well a sample shows how much they vary.

The variance of a difference is estimated by a sum of squares over independent units. Where few of
them carry it, other samples hold more or fewer such units, and the estimate varies as much: it is
small where these are lacking, which is where the difference errs. Two terms allow for that: the
variance that the sample may lack, and the degrees of freedom. Both follow from the sum of fourth
powers, and are those of a normal mean where the units are normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from .._printed import ROUNDING
from .._typing import FloatArray
from ..metrics._shared import PSEUDO_WEIGHT


@dataclass(frozen=True, eq=False)
class Units:
    """Independent units of one kind, such as the positives, and how they move statistics."""

    values: FloatArray  # (n_statistics, n_rows): By how much each moves it; the mean is 0
    products: FloatArray  # (n_statistics, n_statistics): Sums of products over the units
    n: float  # Number of units
    span: FloatArray  # (n_statistics,): By how much one does from the bottom to the top
    counts: FloatArray | None = None  # (n_rows,): Number of units alike; None is one
    first: int = 0  # Number of the first statistic that these units move

    def moments(self, contrast: FloatArray) -> tuple[float, float]:
        """Sums of the squares and of the fourth powers of a contrast."""
        # Row by row: a product of so flat a matrix takes longer where its threads share cores.
        squares, of_units = np.zeros(self.values.shape[1]), self._of(contrast)
        for row in np.flatnonzero(of_units):
            squares += of_units[row] * self.values[row]
        squares *= squares
        counted = squares if self.counts is None else squares * self.counts
        return float(np.sum(counted)), float(np.einsum("i,i->", counted, squares))

    def unseen(self, contrast: FloatArray, square: float, fourth: float) -> float:
        """Variance that the sample may lack, from the sums of squares S and fourth powers F.

        That by half a unit at either end, which has the weight ``F / S**2 - 3 / n``: by so much
        the square of the coefficient of variation of S exceeds that for n normal units. It is 1 if
        nothing varies. The statistics order this unit as alike as the others and one more, which
        is at an end for each statistic by itself.
        """
        moved, weight = self._of(contrast) * self.span, 1.0
        if square > ROUNDING**2 * float(moved @ moved) and fourth > 0.0:
            weight = fourth / square**2 - 3.0 / self.n
            if weight <= 0.0:
                return 0.0
        among = self.products.diagonal() + self.span**2
        alike = moved / np.sqrt(np.where(among > 0.0, among, 1.0))
        ends = float(alike @ self.products @ alike) + float(alike**2 @ self.span**2)
        return weight * PSEUDO_WEIGHT / 2.0 * ends

    def _of(self, contrast: FloatArray) -> FloatArray:
        return contrast[self.first : self.first + len(self.span)]


def variance_of(
    kinds: Sequence[Units], contrast: FloatArray, groups: FloatArray | None = None
) -> tuple[float, float]:
    """Variance of a contrast of statistics, and its degrees of freedom.

    The fourth powers of n normal deviations of variance ``V / n`` sum to ``3 V**2 / n``: the
    degrees are the n for which the sum is as observed. Units of several kinds are independent, or
    ``groups`` of shape (n_statistics, n_groups) are their sums.
    """
    moments = [part.moments(contrast) for part in kinds]
    unseen = sum(part.unseen(contrast, *m) for part, m in zip(kinds, moments, strict=True))
    if groups is not None:
        squares = (contrast @ groups) ** 2
        moments = [(float(squares.sum()), float(squares @ squares))]
    variance, fourth = sum(m[0] for m in moments) + unseen, sum(m[1] for m in moments)
    degrees = 3.0 * variance**2 / fourth if fourth > 0.0 else inf
    return variance, max(degrees, 1.0)
