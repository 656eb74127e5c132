"""Sums of two proportions, with limits that are valid for few hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf, sqrt

import numpy as np

from .._typing import BoolArray, FloatArray
from ..metrics._shared import PSEUDO_WEIGHT
from ._exact_limits import Limits, safe_limits
from ._groups import GroupPart, Groups

__all__ = ["Share", "Term", "limits_of_sum"]


@dataclass(frozen=True, eq=False)
class Share:
    """Proportion of hits among some items, and its effective number of draws."""

    estimate: float
    moves: FloatArray  # (n_items,) or (n_groups,): What each item, or each group of them, moves it
    draws: float  # Number of independent draws that it is worth
    degrees: float = inf  # Degrees of freedom of that number

    @classmethod
    def of_items(cls, hits: BoolArray, among: BoolArray, groups: Groups | None) -> Share:
        """Count the hits."""
        n = int(np.count_nonzero(among))
        estimate = np.count_nonzero(hits & among) / n
        if groups is None:
            return cls(estimate, np.where(among, hits - estimate, 0.0) / n, n)
        part = GroupPart.of_rows(hits[among].astype(np.float64)[np.newaxis], groups.only(among))
        count = part.effective + 2.0 * PSEUDO_WEIGHT
        shrunken = (part.effective * estimate + PSEUDO_WEIGHT) / count
        ends = PSEUDO_WEIGHT * ((1.0 - shrunken) ** 2 + shrunken**2)
        moves = part.sums[0]
        variance = ((part.effective**2) * float(moves @ moves) + ends) / count**2
        draws = min(shrunken * (1.0 - shrunken) / variance, n)
        return cls(estimate, moves, draws, max(part.effective - 1.0, 1.0))

    def limits(self, level: float) -> Limits:
        """Limits of the share alone."""
        return safe_limits(self.estimate, self.draws, level, self.degrees)


@dataclass(frozen=True, eq=False)
class Term:
    """One share in a sum: a number times the share, or times its odds."""

    factor: float
    share: Share
    odds: bool = False  # Whether it is the odds ``x / (1 - x)`` that count, of a share below 1

    def value(self, x: float) -> float:
        """Value of the term."""
        return self.factor * (x / (1.0 - x) if self.odds else x)

    def limits(self, level: float) -> Limits:
        """Limits of the term alone."""
        low, high = sorted(map(self.value, self.share.limits(level)))
        return low, high


def limits_of_sum(terms: Sequence[Term], level: float) -> tuple[float, Limits]:
    """Return a sum of one or two terms and its limits.

    A limit is as far from the sum as ``sqrt(a**2 + b**2 + 2 r a b)``, a and b the distances of the
    limits of the terms on that side, r their correlation.
    """
    values = [term.value(term.share.estimate) for term in terms]
    limits = [term.limits(level) for term in terms]
    estimate = float(sum(values))
    if len(terms) == 1:
        return estimate, limits[0]
    r = _correlation(*terms)
    (a, b), ((low_a, high_a), (low_b, high_b)) = values, limits
    low = estimate - _joined(a - low_a, b - low_b, r)
    return estimate, (low, estimate + _joined(high_a - a, high_b - b, r))


def _joined(a: float, b: float, r: float) -> float:
    """Length of the sum of two vectors of which r is the cosine."""
    return hypot(a + r * b, b * sqrt(max(1.0 - r * r, 0.0)))


def _correlation(first: Term, second: Term) -> float:
    """Correlation of two terms; 0 where one of the shares moves with no item."""
    one, other = first.share.moves, second.share.moves
    squares = float(one @ one) * float(other @ other)
    if squares == 0.0:
        return 0.0
    side = float(np.sign(first.factor) * np.sign(second.factor))
    return float(np.clip(side * float(one @ other) / sqrt(squares), -1.0, 1.0))
