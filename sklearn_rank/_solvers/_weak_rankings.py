"""Weak rankings for boosting: stumps with exact thresholds, and single features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._typing import AnyArray, FloatArray
from ._columns import SortedColumns, column, column_ranges

__all__ = [
    "FeatureRanking",
    "Features",
    "Found",
    "Stump",
    "Stumps",
    "WeakRanking",
    "WeakRankings",
    "score_by_tables",
]

# Rankings whose |r| differs by less are equally good, since sums of weights are rounded.
SAME = 1e-12


class WeakRanking(Protocol):
    """A function of rows with a range of at most 1 on the rows that it was chosen for."""

    def values(self, X: Any) -> AnyArray:
        """Its values on rows from :func:`by_columns`."""


class Found(NamedTuple):
    """A weak ranking, its values on the rows, and how well it orders the weighted pairs."""

    ranking: Any
    values: AnyArray
    r: float


class WeakRankings(Protocol):
    """A class of weak rankings of the same rows.

    ``is_exact`` says whether :meth:`best` finds the largest ``|r|`` of all of them.
    """

    is_exact: bool

    def best(self, signed: FloatArray) -> Found | None:
        """Find a weak ranking h of large ``|r|``, ``r = signed @ h``; None if there is none.

        ``signed`` are weights of rows, positive for positive rows, negative for negative ones,
        with a sum of 1 in each class.
        """


@dataclass(frozen=True)
class Stump:
    """Whether a feature exceeds a threshold."""

    feature: int
    threshold: float

    def values(self, X: Any) -> AnyArray:
        """Whether it does, for rows from :func:`by_columns`."""
        return column(X, self.feature) > self.threshold


class Stumps:
    """All stumps of the features of some rows."""

    is_exact = True

    def __init__(self, X: Any, run: Callable[..., Any] = map, n_parts: int = 1) -> None:
        self._matrix, self._run = X, run
        self._sorted = SortedColumns(X, run)
        begin = self._sorted.begin
        shares = np.searchsorted(begin, np.linspace(0, begin[-1], n_parts + 1))
        shares[0], shares[-1] = 0, len(begin) - 1
        self._parts = [(int(a), int(b)) for a, b in pairwise(np.unique(shares))]

    def best(self, signed: FloatArray) -> Found | None:
        """Stump of the largest ``|r|``; of equal ones the first feature, the lowest threshold."""
        from ._stump_kernels import best_stumps

        columns = self._sorted
        n_features = len(columns.split)
        r, place = np.zeros(n_features), np.full(n_features, -1, dtype=np.int64)

        def search(part: tuple[int, int]) -> None:
            best_stumps(columns.order, columns.begin, columns.split, signed, *part, r, place)

        for _ in self._run(search, self._parts):
            pass
        j = _first_of_best(r)
        if place[j] < 0:
            return None
        stump = Stump(j, columns.threshold(j, int(place[j])))
        return Found(stump, stump.values(self._matrix), float(r[j]))


@dataclass(frozen=True)
class FeatureRanking:
    """A feature, divided by its range."""

    feature: int
    range: float  # Its largest less its smallest value

    def values(self, X: Any) -> AnyArray:
        """Its values on rows from :func:`by_columns`."""
        return column(X, self.feature) / self.range


class Features:
    """The features of some rows, each divided by its range; constant ones are left out."""

    is_exact = True

    def __init__(self, X: Any) -> None:
        self._matrix = X
        self._ranges = column_ranges(X)

    def best(self, signed: FloatArray) -> Found | None:
        """Feature of the largest ``|r|``; of equal ones the first."""
        r = np.zeros(len(self._ranges))
        np.divide(self._matrix.T @ signed, self._ranges, out=r, where=self._ranges > 0)
        j = _first_of_best(r)
        if self._ranges[j] == 0:
            return None
        ranking = FeatureRanking(j, float(self._ranges[j]))
        return Found(ranking, ranking.values(self._matrix), float(r[j]))


def score_by_tables(*arrays: Any) -> None:
    """Fill in scores of rows by tables of the features; see the kernel ``table_scores``."""
    from ._stump_kernels import table_scores

    table_scores(*arrays)


def _first_of_best(r: FloatArray) -> int:
    """First entry whose size is, but for rounding, the largest."""
    size = np.abs(r)
    return int(np.argmax(size >= size.max() - SAME))
