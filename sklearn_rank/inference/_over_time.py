"""Means over queries that are in order of time: of each period, and of all until its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import IntArray
from ..metrics._shared import FEWEST_TIMES
from ._intervals import Intervals
from ._segments import queries_or_why, rows_of_segments
from ._simultaneous import Rankers, covariance_of, simultaneous_table

# Pairs of rankers whose difference is asked for; None for the values of all.
Contrasts = Sequence[tuple[str, str]] | None


def tables_over_time(
    rankers: Rankers,
    period_of: IntArray,
    keys: Sequence[tuple[dict[str, Any], dict[str, Any]]],
    asked: Sequence[Contrasts],
    name: str,
    level: float,
    rng: np.random.Generator,
    **more: Any,
) -> list[Intervals]:
    """Two tables of each that is asked: by period, and so far, with the two keys of each period.

    ``period_of`` is the period of each query that has a value. A period without a value has a
    note. So far there is a row as soon as queries tell how they depend on each other, and the
    last one.
    """
    by_period, so_far = [], []
    for period, (own, until) in enumerate(keys):
        by_period.append((own, queries_or_why(rankers, np.flatnonzero(period_of == period))))
        before = queries_or_why(rankers, np.flatnonzero(period_of <= period))
        if not isinstance(before, str):
            so_far.append((until, before))
    sizes = [len(found.samples[0].values) for _, found in so_far]
    first = min(int(np.searchsorted(sizes, FEWEST_TIMES)), len(sizes) - 1)
    so_far = so_far[first:]
    # Of a stationary series, means over the first n and the first N > n have the correlation
    # sqrt(n / N), whatever the dependence of neighbours, if both are many.
    n = np.array(sizes[first:], dtype=np.float64)
    steps = np.sqrt(np.minimum.outer(n, n) / np.maximum.outer(n, n))
    tables = []
    for contrasts in asked:
        target = f"difference of {name}" if contrasts else name
        table = rows_of_segments(by_period, contrasts)
        tables.append(simultaneous_table(table, level, rng, target))
        table = rows_of_segments(so_far, contrasts)
        of_all = covariance_of(table[-(len(table) // len(so_far)) :])
        of_all[np.diag_indices_from(of_all)] += of_all.diagonal() <= 0.0
        products: Any = np.kron(steps, of_all)
        target = f"{target} so far"
        tables.append(simultaneous_table(table, level, rng, target, products, **more))
    return tables
