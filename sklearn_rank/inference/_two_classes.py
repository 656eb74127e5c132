"""One list that holds both classes, checked: its rows, or a table of equal rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import LabelType, ScoredLists, check_scored_lists
from .._partitions import any_collection
from .._validation import ravelled
from ..metrics import Accumulator, Measure, get_measure
from ._collections import list_of_chunks, refuse_collections
from ._groups import Groups, check_groups

__all__ = [
    "check_sample",
    "check_two_classes",
    "counted_list",
    "dimensions",
    "refuse_counts",
    "refuse_grouped_collections",
    "refuse_one_class",
]


def dimensions(y_true: Any, *, name: str = "y_true") -> int:
    """Count the dimensions of labels."""
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
    sample_weight: Any = None,
) -> ScoredLists:
    """Check the labels and scores of one list that holds both classes."""
    y_true = ravelled(y_true, name)
    if dimensions(y_true, name=name) != 1:
        raise ValueError(
            f"{name} has {np.ndim(y_true)} dimensions, but the interval is for one list: pass"
            " one-dimensional labels and scores."
        )
    labels = LabelType("binary", pos_label, name=name, rel=rel)
    found = check_scored_lists(y_true, y_score, labels, sample_weight=sample_weight)
    refuse_one_class(found, name)
    return found


def refuse_one_class(data: ScoredLists, name: str = "y_true") -> None:
    """Refuse a list that holds one class only."""
    n, n_pos = data.sizes[0], data.positives[0]
    if n_pos == 0 or n_pos == n:
        lacking = "positive" if n_pos == 0 else "negative"
        raise ValueError(
            f"{name} holds items of one class only, with no {lacking} among {n:.0f}: pass items of"
            " both classes."
        )


def check_sample(
    y_true: Any,
    y_score: Any,
    pos_label: Any,
    groups: Any = None,
    *,
    measure: Measure | None = None,
) -> tuple[ScoredLists, Groups | None]:
    """Check a list that holds both classes, and the groups of its rows."""
    measure = measure or get_measure("auc")
    if not any_collection(y_true, y_score, groups):
        data = check_two_classes(y_true, y_score, pos_label, rel=measure.rel)
        return data, check_groups(groups, len(data.score))
    refuse_grouped_collections(groups, y_true=y_true, y_score=y_score)
    refuse_counts(measure)
    table = list_of_chunks(measure, y_true, y_score, pos_label).in_one_memory(measure)
    data = table.to_lists()
    refuse_one_class(data)
    return data, None


def refuse_counts(measure: Measure) -> None:
    """Raise an error for a measure whose variance needs all rows instead of counts."""
    if measure.weights == "none" or measure.kind != "binary":
        raise ValueError(
            f"The influence function of {measure.name} needs all rows in memory, not a dask"
            " collection: pass y_true.compute() and y_score.compute()."
        )


def refuse_grouped_collections(groups: Any, **columns: Any) -> None:
    """Raise an error for groups passed with collections."""
    if groups is not None:
        refuse_collections(
            "groups need all rows in memory, not their counts",
            **columns,
            groups=groups,
        )


def counted_list(accumulator: Accumulator) -> ScoredLists:
    """Take the list of an accumulator, whose weights must be repetitions."""
    if accumulator.n_items == 0:
        raise ValueError("No row has a positive weight: pass rows of positive weight.")
    table = accumulator.table
    if table is None:
        raise ValueError(
            f"An accumulator of {accumulator.measure.name} keeps all rows, but an interval needs"
            " counts of scores or values of queries: pass the rows as arrays to metric_interval,"
            " or accumulate with qid and queries='whole'."
        )
    return table.to_lists()
