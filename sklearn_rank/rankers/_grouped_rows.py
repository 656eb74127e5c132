"""Rows sorted by query for libraries of boosted trees, and measures of validation rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._codes import stable_order
from .._lists import Lists
from .._sklearn_compat import rows_at
from .._typing import FloatArray, IntArray
from ..metrics import Measure
from ._row_keys import mixed_bits, row_keys

__all__ = ["GroupedRows", "ValidationScores", "grouped_rows", "ordered_by_content"]


class GroupedRows(NamedTuple):
    """Rows of queries, one query after the other."""

    X: Any
    labels: FloatArray
    sizes: IntArray
    query_weight: FloatArray | None

    @property
    def codes(self) -> IntArray:
        """Number of the query of each row, from 0."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def row_weight(self) -> FloatArray | None:
        """Weight of the query of each row."""
        return None if self.query_weight is None else np.repeat(self.query_weight, self.sizes)


def ordered_by_content(X: Any, lists: Lists) -> Lists:
    """Order the rows of each query, and the queries, by hashes of features and labels."""
    n = X.shape[0]
    rows = np.arange(n) if lists.rows is None else lists.rows
    keys = row_keys(X, lists.to_rows(lists.labels, n))[rows]
    # A row of weight 2 counts as two of them.
    counted = keys if lists.weight is None else keys * lists.weight.astype(np.uint64)
    list_keys = np.add.reduceat(counted, lists.offsets[:-1])
    if lists.query_weight is not None:
        list_keys += mixed_bits(lists.query_weight - 1.0)
    list_order = np.argsort(list_keys)
    place = np.empty(lists.n_lists, dtype=np.intp)
    place[list_order] = np.arange(lists.n_lists)
    order = np.argsort(keys)
    order = order[stable_order(lists.to_items(place)[order])]
    return replace(
        lists,
        labels=lists.labels[order],
        offsets=np.append(0, np.cumsum(lists.lengths[list_order])),
        weight=None if lists.weight is None else lists.weight[order],
        ids=None if lists.ids is None else lists.ids[list_order],
        query_weight=None if lists.query_weight is None else lists.query_weight[list_order],
        rows=rows[order],
    )


def grouped_rows(X: Any, lists: Lists) -> GroupedRows:
    """Sort rows by query and repeat each by its weight."""
    rows, labels, sizes = lists.rows, lists.grade, lists.lengths
    if lists.weight is not None:
        times = lists.weight.astype(np.intp)
        rows = np.repeat(np.arange(X.shape[0]) if rows is None else rows, times)
        labels = np.repeat(labels, times)
        sizes = np.add.reduceat(times, lists.offsets[:-1])
    return GroupedRows(X if rows is None else rows_at(X, rows), labels, sizes, lists.query_weight)


class ValidationScores:
    """Values of a measure on validation rows, round by round."""

    def __init__(self, measure: Measure, rows: GroupedRows) -> None:
        self.values: list[float] = []
        self._sign = 1.0 if measure.greater_is_better else -1.0
        self._measure = measure
        self._lists = measure.lists(
            rows.labels,
            np.zeros(len(rows.labels)),
            qid=rows.codes,
            query_weight=rows.row_weight,
        )
        if np.isnan(measure.values(self._lists)).all():
            raise ValueError(
                f"{measure.name} is undefined for all held-out queries: hold out more queries by "
                "validation_fraction, or pass X_val=, y_val= and qid_val=."
            )
        # Queries without a value are warned of here, once.
        measure.of_lists(self._lists)

    def add(self, scores: Any) -> float:
        """Evaluate the scores of one more round. Value of the measure, more is better."""
        scored = self._lists.scored_by(scores, (len(self._lists.labels),))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            self.values.append(self._sign * float(self._measure.of_lists(scored)))
        return self.values[-1]
