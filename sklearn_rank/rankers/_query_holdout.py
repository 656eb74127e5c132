"""Held-out data for early stopping: whole queries, or a share of each class."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._lists import Lists, group_rows
from .._sklearn_compat import Interval, RealNotInt
from .._typing import AnyArray, BoolArray, IntArray
from .._validation import check_qid

__all__ = [
    "EARLY_STOPPING_CONSTRAINTS",
    "HeldOut",
    "check_validation_data",
    "held_out_lists",
    "hold_out_queries",
    "hold_out_rows",
]

# Parameters by which a fit stops early, for scikit-learn's validation.
EARLY_STOPPING_CONSTRAINTS: dict[str, list[Any]] = {
    "early_stopping": ["boolean"],
    "validation_fraction": [
        Interval(RealNotInt, 0, 1, closed="neither"),
        Interval(Integral, 1, None, closed="left"),
    ],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
}


class HeldOut(NamedTuple):
    """Rows to train on, and rows that are held out, each ascending."""

    train: IntArray
    validation: IntArray


def held_out_lists(lists: Lists, fraction: Any, random_state: Any) -> BoolArray:
    """Draw the lists that are held out. Which are held out: at least one, and not all."""
    n = lists.n_lists
    if n < 2:
        raise ValueError(
            "early_stopping=True holds out whole queries, but the number of queries of positive "
            f"weight is {n}: pass qid= of several queries, X_val=, y_val= and qid_val= of other "
            "queries, or early_stopping=False."
        )
    held = np.zeros(n, dtype=bool)
    held[check_random_state(random_state).permutation(n)[: _number(fraction, n, "queries")]] = True
    return held


def hold_out_queries(qid: Any, fraction: Any, random_state: Any, n_rows: int) -> HeldOut:
    """Hold out the rows of some queries."""
    ids, offsets, rows = group_rows(check_qid(qid, n_rows), by_appearance=True)
    lists = Lists(labels=np.zeros(n_rows), offsets=offsets, ids=ids, rows=rows)
    held = lists.to_items(held_out_lists(lists, fraction, random_state))
    taken = np.arange(n_rows) if rows is None else rows
    return HeldOut(np.sort(taken[~held]), np.sort(taken[held]))


def hold_out_rows(labels: AnyArray, fraction: Any, random_state: Any) -> HeldOut:
    """Hold out a share of the rows of each class."""
    random = check_random_state(random_state)
    share = fraction / len(labels) if isinstance(fraction, Integral) else fraction
    held = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        if len(rows) < 2:
            raise ValueError(
                "early_stopping=True holds out rows of each class, but the class "
                f"{label.item()!r} has one row: pass X_val= and y_val=, or early_stopping=False."
            )
        held[random.permutation(rows)[: _number(share, len(rows), "rows")]] = True
    return HeldOut(np.flatnonzero(~held), np.flatnonzero(held))


def check_validation_data(early_stopping: bool, X_val: Any, **others: Any) -> bool:
    """Check which arguments of validation came together. Whether there are validation data."""
    given = {"X_val": X_val, **others}
    absent = [name for name, value in given.items() if value is None]
    present = [name for name in given if name not in absent]
    if present and absent:
        raise ValueError(
            f"fit got {' and '.join(present)} without {' and '.join(absent)}: pass all of"
            f" {', '.join(given)}, or none of them."
        )
    if present and not early_stopping:
        raise ValueError(
            f"fit got {', '.join(present)}, which early_stopping=False does not use: set "
            "early_stopping=True, or leave them out."
        )
    return bool(present)


def _number(fraction: Any, n: int, what: str) -> int:
    """How many of n are held out."""
    if isinstance(fraction, Integral) and int(fraction) >= n:
        raise ValueError(
            f"validation_fraction={fraction} would hold out all {n} {what}: pass a smaller "
            "number, or a share in (0, 1)."
        )
    wanted = int(fraction) if isinstance(fraction, Integral) else round(float(fraction) * n)
    return min(max(wanted, 1), n - 1)
