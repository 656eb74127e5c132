"""One value of a measure for each query: the sample that inference over queries starts from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._typing import AnyArray, BoolArray, FloatArray
from ..metrics import get_measure
from ..metrics._shared import MeasureLike

__all__ = ["QueryValues", "query_differences", "query_values_of"]

# Values that differ by less, relative to the largest, differ by rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class QueryValues:
    """Values of the queries that have one.

    Parameters
    ----------
    values : ndarray of shape (n_queries,)
        Finite values, by ascending id.
    ids : ndarray of shape (n_queries,)
        Ids of the queries.
    measure : str
        Name of the measure.
    range : tuple of (float, float)
        Smallest and largest value that a query can have.
    """

    values: FloatArray
    ids: AnyArray
    measure: str
    range: tuple[float, float]

    @property
    def constant(self) -> bool:
        """Whether all values are equal up to rounding."""
        return bool(np.ptp(self.values) <= ROUNDING * np.abs(self.values).max())


def query_values_of(
    measure: MeasureLike,
    y_true: Any,
    scores: Mapping[str, Any],
    *,
    qid: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> dict[str, QueryValues]:
    """Evaluate several systems on the same queries.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, as :func:`sklearn_rank.metrics.get_measure` takes it.
    y_true : array-like of shape (n_samples,) or (n_queries, n_items)
        Labels.
    scores : mapping of str to array-like of the same shape
        Scores of each system.
    qid : array-like of shape (n_samples,) or None
        Id of the query of each row; None for two dimensions.
    sample_weight : array-like of the same shape, default=None
        How many times each item counts.
    pos_label : int, float, bool or str, default=None
        The positive class.

    Returns
    -------
    dict of str to QueryValues
        Values of each system, on the queries where the measure is defined.
    """
    if qid is None and np.ndim(y_true) != 2:
        raise ValueError(
            "qid is missing: the queries are the sample, and one list has no spread; pass the id"
            " of the query of each row."
        )
    measure = get_measure(measure)
    found: dict[str, QueryValues] = {}
    lists = defined = None
    for name, y_score in scores.items():
        if lists is None:
            lists = measure.lists(
                y_true, y_score, qid=qid, sample_weight=sample_weight, pos_label=pos_label
            )
        else:
            lists = lists.scored_by(y_score, np.shape(y_true))
        with warnings.catch_warnings():
            if found:
                # Undefined by the labels, which are the same for all: said once.
                warnings.simplefilter("ignore", UndefinedMetricWarning)
            values, ids = measure.of_lists(lists, average=None, return_qid=True)
        if defined is None:
            defined = ~np.isnan(values)
        _check_values(measure.name, values, ids, defined)
        found[name] = QueryValues(
            values[defined], ids[defined], measure.name, measure.counted_range
        )
    return found


def _check_values(name: str, values: FloatArray, ids: AnyArray, defined: BoolArray) -> None:
    if np.isinf(values).any():
        raise ValueError(
            f"{name} is infinite for the query {ids.tolist()[int(np.argmax(np.isinf(values)))]!r}:"
            " remove the query or choose another measure."
        )
    if not np.array_equal(defined, ~np.isnan(values)):
        first = int(np.argmax(defined == np.isnan(values)))
        raise ValueError(
            f"{name} is defined for the query {ids.tolist()[first]!r} with the scores of one"
            " system but not of another, so that the systems cannot be compared on it: remove the"
            " query or choose the measure's undefined=."
        )
    if np.count_nonzero(defined) < 2:
        raise ValueError(
            f"{name} has a value for {np.count_nonzero(defined)} of {len(ids)} queries, but a"
            " spread takes two or more: pass more queries that have one."
        )


def query_differences(first: QueryValues, second: QueryValues) -> QueryValues:
    """Subtract the values of one system from those of another.

    Parameters
    ----------
    first : QueryValues
        Values of one system.
    second : QueryValues
        Values of the other on the same queries.

    Returns
    -------
    QueryValues
        First less second, 0 where they differ by rounding.
    """
    difference = first.values - second.values
    largest = max(np.abs(first.values).max(), np.abs(second.values).max())
    difference[np.abs(difference) <= ROUNDING * largest] = 0.0
    length = first.range[1] - first.range[0]
    return QueryValues(difference, first.ids, f"difference of {first.measure}", (-length, length))
