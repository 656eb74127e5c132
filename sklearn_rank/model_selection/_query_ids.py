"""Query ids of rows, and stratified samples of queries."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._lists import group_rows
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import check_qid, check_vector

__all__ = [
    "STRATA",
    "Queries",
    "check_stratify",
    "places_of",
    "queries_of",
    "spread_folds",
    "spread_sample",
]

# What queries can be stratified by.
STRATA = ("length", "relevance")


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries of rows."""

    ids: AnyArray  # (n_queries,): Ids, in the order in which they appear
    offsets: IntArray  # (n_queries + 1,): Where the rows of each query begin in ``rows``, and n
    rows: IntArray  # (n,)

    @property
    def count(self) -> int:
        """Number of queries."""
        return len(self.ids)

    @property
    def lengths(self) -> IntArray:
        """Number of rows of each query."""
        return np.diff(self.offsets)

    @cached_property
    def of_rows(self) -> IntArray:
        """Place of the query of each row among the ids."""
        places = np.empty(len(self.rows), dtype=np.intp)
        places[self.rows] = np.repeat(np.arange(self.count), self.lengths)
        return places

    def has(self, rows: Any) -> BoolArray:
        """Find the queries that have some of the rows."""
        found = np.zeros(self.count, dtype=bool)
        found[self.of_rows[rows]] = True
        return found

    def rows_of(self, some: Any) -> IntArray:
        """Find the rows of some queries, ascending. All of their rows. Shape (n_rows,)."""
        chosen = np.zeros(self.count, dtype=bool)
        chosen[some] = True
        return np.flatnonzero(chosen[self.of_rows])

    def strata(self, stratify: Collection[str], y: Any, least: int) -> list[FloatArray]:
        """Find what the queries are to be sorted by. Shape (n_queries,)."""
        keys = []
        if "length" in stratify:
            keys.append(self.lengths.astype(np.float64))
        if "relevance" in stratify:
            if y is None:
                raise ValueError(
                    "stratify='relevance' needs the grades, but y is None: pass split(X, y,"
                    " groups) or stratify='length'."
                )
            grade = check_vector("y", y, len(self.rows))[self.rows]
            keys.append(np.add.reduceat(grade, self.offsets[:-1]) / self.lengths)
        if len(keys) == 2:
            n_strata = max(int(np.sqrt(self.count / least)), 1)
            place = np.empty(self.count)
            place[np.argsort(keys[0], kind="stable")] = np.arange(self.count)
            keys[0] = np.floor(place * n_strata / self.count)
            # Each second stratum backwards, so that neighbours across its ends are alike.
            keys[1] = np.where(keys[0] % 2 == 0, keys[1], -keys[1])
        return keys


def places_of(ids: Any, n: int) -> IntArray | None:
    """Number of the id of each row, by appearance: folds of these do not depend on names."""
    return None if ids is None else queries_of(ids, n, "The splitter").of_rows


def queries_of(groups: Any, n: int, whose: str, *, name: str = "groups") -> Queries:
    """Check the id of the query of each row."""
    if groups is None:
        raise ValueError(
            f"{whose} got no groups, the query id of each row: pass split(X, y, groups=qid); in a"
            " search fit(X, y, groups=qid) and in cross-validation params={'groups': qid},"
            " after sklearn.set_config(enable_metadata_routing=True)."
        )
    if np.ndim(groups) == 0 and not isinstance(groups, str | bytes):
        raise ValueError(
            f"{name}={groups!r} is not an array, but {whose} needs one id for each of the {n}"
            f" rows: pass a one-dimensional array, such as {name}=frame['query']."
        )
    ids, offsets, rows = group_rows(check_qid(groups, n, name=name), by_appearance=True)
    return Queries(ids, offsets, np.arange(n) if rows is None else rows)


def check_stratify(stratify: Any) -> tuple[str, ...]:
    """Check what to stratify queries by. Some of ``STRATA``."""
    if stratify is None:
        return ()
    names = (stratify,) if isinstance(stratify, str) else stratify
    if not isinstance(names, tuple | list | set | frozenset) or not all(
        isinstance(name, str) and name in STRATA for name in names
    ):
        raise ValueError(
            f"stratify={stratify!r} must be None, 'length', 'relevance' or ('length',"
            " 'relevance'); to stratify by other quantities, such as labels of queries, use"
            " scikit-learn's StratifiedGroupKFold."
        )
    return tuple(name for name in STRATA if name in names)


def _sorted(n: int, keys: list[FloatArray], rng: np.random.RandomState | None) -> IntArray:
    """Order by the keys, ties as they stand or at random."""
    start = np.arange(n) if rng is None else rng.permutation(n)
    if not keys:
        return start
    return start[np.lexsort([key[start] for key in reversed(keys)])]


def spread_folds(
    n: int, n_folds: int, keys: list[FloatArray], rng: np.random.RandomState | None
) -> IntArray:
    """Assign queries to folds so that each fold gets one of any n_folds neighbours of an order.

    Fold of each query; the numbers of queries of two folds differ by one at most. Shape (n,).
    """
    order = _sorted(n, keys, rng)
    folds = np.empty(n, dtype=np.intp)
    if rng is None and not keys:
        for fold, part in enumerate(np.array_split(order, n_folds)):
            folds[part] = fold
        return folds
    for turn, start in enumerate(range(0, n, n_folds)):
        deal = np.arange(n_folds)[:: 1 if turn % 2 == 0 else -1]
        if rng is not None:
            deal = rng.permutation(n_folds)
        block = order[start : start + n_folds]
        folds[block] = deal[: len(block)]
    return folds


def spread_sample(
    some: IntArray, size: int, keys: list[FloatArray], rng: np.random.RandomState
) -> IntArray:
    """Draw from queries so that the drawn ones are spread over an order. Shape (size,)."""
    order = some[_sorted(len(some), [key[some] for key in keys], rng)]
    step = len(some) / size
    if keys:
        smaller = max(min(size, len(some) - size), 1)
        width = int(np.ceil(len(some) / smaller))
        first = -int(rng.randint(width))
        for start in range(first, len(some), width):
            block = slice(max(start, 0), start + width)
            order[block] = rng.permutation(order[block])
    places = np.floor((rng.uniform() + np.arange(size)) * step).astype(np.intp)
    return order[np.minimum(places, len(some) - 1)]
