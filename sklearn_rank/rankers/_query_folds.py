"""Folds of whole queries, and metadata of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, check_cv

from .._lists import Lists
from .._typing import FloatArray, IntArray
from ._base import row_keys
from ._two_classes import Fold, of_taken_rows


def query_folds(cv: Any, items: Any, lists: Lists, n_rows: int) -> list[Fold]:
    """Folds of lists, or of the rows of one list with equal rows in one fold."""
    cv = 5 if cv is None else cv
    groups = lists.list_of
    if isinstance(cv, int | np.integer):
        if lists.n_lists == 1:
            distinct, place = np.unique(row_keys(items, lists.labels), return_inverse=True)
            if len(groups) < cv:
                raise ValueError(
                    f"cv={cv} needs at least {cv} rows of one query, got n_samples={len(groups)}: "
                    "pass more rows or a smaller cv."
                )
            # Fewer folds where the rows are enough, but not different.
            n_folds = min(int(cv), max(2, len(distinct)))
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


def metadata_of(lists: Lists, sample_weight: FloatArray | None) -> dict[str, Any]:
    weight = lists.query_weight
    by_item = None if weight is None else lists.to_items(weight)
    return {"qid": lists.list_of, "sample_weight": sample_weight, "query_weight": by_item}


def metadata_at(metadata: dict[str, Any], items: IntArray) -> dict[str, Any]:
    return {name: None if values is None else values[items] for name, values in metadata.items()}
