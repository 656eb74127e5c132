"""Folds and held-out rows within a fit, with whole queries."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, check_cv
from sklearn.utils import check_random_state, indexable

from .._lists import Lists
from .._sklearn_compat import Interval, RealNotInt, rows_at
from .._typing import AnyArray, BoolArray, IntArray
from .._validation import ravelled
from ._two_classes import row_keys

Fold = tuple[IntArray, IntArray]


def of_taken_rows(cv: Any, taken: IntArray, n_samples: int) -> Any:
    """Renumber parts that are given by row numbers, where rows of weight 0 are left out."""
    if not isinstance(cv, Iterable) or hasattr(cv, "split"):
        return cv
    number = np.full(n_samples, -1)
    number[taken] = np.arange(len(taken))
    parts = [(number[train], number[test]) for train, test in cv]
    return [(train[train >= 0], test[test >= 0]) for train, test in parts]


def values_of_taken_rows(name: str, values: Any, taken: IntArray, n_samples: int) -> Any:
    """Values of some rows, such as their groups. Shape (n,)."""
    (values,) = indexable(ravelled(values, name))
    if len(values) != n_samples:
        raise ValueError(
            f"{name} has {len(values)} values for {n_samples} rows: pass one value per row."
        )
    return rows_at(values, taken)


def query_folds(cv: Any, items: Any, lists: Lists, n_rows: int) -> list[Fold]:
    """Folds of lists, or of the rows of one list with equal rows in one fold."""
    cv = 5 if cv is None else cv
    groups = lists.list_of
    if isinstance(cv, int | np.integer):
        if lists.n_lists == 1:
            distinct, place = np.unique(row_keys(items, lists.labels), return_inverse=True)
            # Fewer folds where the rows are enough, but not different.
            n_folds = min(int(cv), max(2, len(distinct))) if len(groups) >= cv else int(cv)
            held_out = [np.isin(place, test) for _, test in KFold(n_folds).split(distinct)]
            return [(np.flatnonzero(~test), np.flatnonzero(test)) for test in held_out]
        if lists.n_lists < cv:
            raise ValueError(
                f"cv={cv} needs at least {cv} queries, but there are {lists.n_lists}: pass more "
                "queries or a smaller cv."
            )
        return list(GroupKFold(int(cv)).split(groups, groups=groups))
    if lists.rows is not None:
        cv = of_taken_rows(cv, lists.rows, n_rows)
    folds = list(check_cv(cv).split(groups, lists.labels, groups))
    for train, test in folds:
        shared = np.intersect1d(groups[train], groups[test])
        if len(shared) and lists.n_lists > 1:
            raise ValueError(
                f"cv splits {len(shared)} queries, such as {lists.name_of(int(shared[0]))}, "
                "between training and test parts: pass an int, or a splitter that keeps groups "
                "whole."
            )
    return folds


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


def held_out_lists(lists: Lists, fraction: Any, random_state: Any) -> BoolArray:
    """Draw the lists that are held out: at least one, and not all. Shape (n_lists,)."""
    n = lists.n_lists
    if n < 2:
        raise ValueError(
            "early_stopping=True holds out whole queries, but the number of queries of positive "
            f"weight is {n}: pass qid= of several queries, X_val=, y_val= and qid_val= of other "
            "queries, or early_stopping=False."
        )
    order = check_random_state(random_state).permutation(n)
    mask = np.zeros(n, dtype=bool)
    mask[order[: _n_held_out(fraction, n, "queries")]] = True
    return mask


def hold_out_rows(labels: AnyArray, fraction: Any, random_state: Any) -> tuple[IntArray, IntArray]:
    """Rows to train on and rows that are held out, a share of the rows of each class."""
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
        held[random.permutation(rows)[: _n_held_out(share, len(rows), "rows")]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def check_validation_data(early_stopping: bool, X_val: Any, **labels: Any) -> bool:
    """Check which arguments of validation came together; whether there are validation data."""
    data = {"X_val": X_val, **labels}
    absent = [name for name, value in data.items() if value is None]
    present = [name for name in data if name not in absent]
    if present and absent:
        raise ValueError(
            f"fit got {' and '.join(present)} without {' and '.join(absent)}: pass all of"
            f" {', '.join(data)}, or none of them."
        )
    if present and not early_stopping:
        raise ValueError(
            f"fit got {', '.join(present)}, which early_stopping=False does not use: set "
            "early_stopping=True, or leave them out."
        )
    return bool(present)


def _n_held_out(fraction: Any, n: int, unit: str) -> int:
    if isinstance(fraction, Integral) and int(fraction) >= n:
        raise ValueError(
            f"validation_fraction={fraction} would hold out all {n} {unit}: pass a smaller "
            "number, or a share in (0, 1)."
        )
    number = int(fraction) if isinstance(fraction, Integral) else round(float(fraction) * n)
    return min(max(number, 1), n - 1)
