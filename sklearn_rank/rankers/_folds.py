"""Training and test parts, as numbers of the rows that count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import IntArray

__all__ = ["Fold", "of_taken_rows"]

Fold = tuple[IntArray, IntArray]


def of_taken_rows(cv: Any, taken: IntArray, n_samples: int) -> Any:
    """Renumber parts that are given by row numbers, where rows of weight 0 are left out.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        As scikit-learn takes it.
    taken : ndarray of shape (n,)
        The rows that count, ascending.
    n_samples : int
        Number of rows that were passed.

    Returns
    -------
    int, splitter, list or None
        The same; of an iterable of parts a list of them, numbers of the rows that count.
    """
    if not isinstance(cv, Iterable) or hasattr(cv, "split"):
        return cv
    number = np.full(n_samples, -1)
    number[taken] = np.arange(len(taken))
    parts = [(number[train], number[test]) for train, test in cv]
    return [(train[train >= 0], test[test >= 0]) for train, test in parts]
