"""Influence of single items on the share of positives in the top of one list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any

import numpy as np

from .._lists import ScoredLists
from .._typing import FloatArray
from ._influence import ClassInfluence, linear_rank_influence_of
from ._score_generating import ScoreGeneratingFunction, ranks_below


@dataclass(frozen=True)
class _InTops(ScoreGeneratingFunction):
    """``phi(u) = mean of 1{u >= 1 - f} / f``: its mean over the positives is the mean lift."""

    fractions: tuple[float, ...]

    _only_jumps = True

    @property
    def jumps(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        n = len(self.fractions)
        return tuple((1.0 - fraction, 1.0 / fraction / n) for fraction in self.fractions)

    @property
    def lipschitz(self) -> float:
        return inf

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


def lift_influence(lists: ScoredLists, fractions: Sequence[float]) -> ClassInfluence:
    """Find how much each item of one list moves precision in the top as a ratio to chance."""
    phi = _InTops(tuple(fractions))
    return linear_rank_influence_of(
        lists.positive, lists.score, phi, counts=lists.weight, draws=lists.draws
    )


def recall_influence(lists: ScoredLists, mass: float, called: str) -> ClassInfluence:
    """Compute the influence of each item of one list on the share of the positives in its top."""
    n = float(lists.sizes[0])
    if mass >= n:
        raise ValueError(
            f"{called} of {n:.0f} items covers all of them, so it does not depend on their order:"
            " use a smaller top."
        )
    return lift_influence(lists, [mass / n]).scaled(0.0, n / mass, copy=False)


def affine_of_recall(
    recall: ClassInfluence, at_zero: float, factor: float, *, slope: float = nan
) -> ClassInfluence:
    """Take a measure that is ``at_zero + factor * recall`` where the labels are fixed."""
    found = recall.scaled(-at_zero / factor, 1.0 / factor, copy=False)
    low, high = sorted(found.range)
    return replace(found, range=(low, high), label_slope=slope)
