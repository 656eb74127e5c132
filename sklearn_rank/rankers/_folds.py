"""Training and test parts, and metadata of splitters, for the rows of positive weight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import indexable

from .._sklearn_compat import rows_at
from .._typing import IntArray
from .._validation import ravelled

__all__ = ["Fold", "of_taken_rows", "values_of_taken_rows"]

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
    """Take the values of some rows, such as their groups. Shape (n,)."""
    (values,) = indexable(ravelled(values, name))
    if len(values) != n_samples:
        raise ValueError(
            f"{name} has {len(values)} values for {n_samples} rows: pass one value per row."
        )
    return rows_at(values, taken)
