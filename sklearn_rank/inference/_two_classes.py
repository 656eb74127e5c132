"""One list that holds both classes, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import LabelType, ScoredLists, check_scored_lists
from .._validation import ravelled

__all__ = ["check_two_classes", "dimensions"]


def dimensions(y_true: Any, *, name: str = "y_true") -> int:
    """Count the dimensions of labels.

    Parameters
    ----------
    y_true : array-like
        Labels.
    name : str, default="y_true"
        What the labels are called in messages.

    Returns
    -------
    int
        The number.
    """
    try:
        return np.ndim(y_true)
    except ValueError:
        raise ValueError(
            f"{name} has rows of different lengths, as labels of several classes at a time have:"
            " pass one label per row."
        ) from None


def check_two_classes(
    y_true: Any,
    y_score: Any,
    pos_label: Any,
    *,
    name: str = "y_true",
    rel: float | None = None,
) -> ScoredLists:
    """Check the labels and scores of one list that holds both classes.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores.
    pos_label : int, float, bool or str
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    name : str, default="y_true"
        What the labels are called in messages.
    rel : float or None, default=None
        Least grade that is positive, where the labels are grades.

    Returns
    -------
    ScoredLists
        The list, without weights.
    """
    y_true = ravelled(y_true, name)
    if dimensions(y_true, name=name) != 1:
        raise ValueError(
            f"{name} has {np.ndim(y_true)} dimensions, but the uncertainty is that of one list:"
            " pass one-dimensional labels and scores."
        )
    found = check_scored_lists(y_true, y_score, LabelType("binary", pos_label, name=name, rel=rel))
    n_pos = int(np.count_nonzero(found.positive))
    if n_pos == 0 or n_pos == len(found.positive):
        lacking = "positive" if n_pos == 0 else "negative"
        raise ValueError(
            f"{name} holds items of one class only, with no {lacking} among"
            f" {len(found.positive)}: there is nothing to rank apart; pass items of both classes."
        )
    return found
