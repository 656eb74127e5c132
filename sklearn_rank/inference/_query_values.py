"""One value of a measure for each query: the sample that inference over queries starts from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._typing import AnyArray, FloatArray
from ..metrics import get_measure
from ..metrics._shared import MeasureLike

__all__ = ["QueryValues", "query_differences", "query_values", "query_values_of"]

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
    limits : tuple of (float, float)
        Smallest and largest value that a query can have.
    """

    values: FloatArray
    ids: AnyArray
    measure: str
    limits: tuple[float, float]

    @property
    def constant(self) -> bool:
        """Whether all values are equal up to rounding."""
        return bool(np.ptp(self.values) <= ROUNDING * np.abs(self.values).max())


def query_values(
    measure: MeasureLike, y_true: Any, y_score: Any, qid: Any, parameters: dict[str, Any]
) -> QueryValues:
    """Evaluate one system on each query.

    Parameters
    ----------
    measure : str, Measure or callable
        The measure, as :func:`sklearn_rank.metrics.get_measure` takes it.
    y_true : array-like of shape (n_samples,)
        Labels.
    y_score : array-like of shape (n_samples,)
        Scores.
    qid : array-like of shape (n_samples,)
        Id of the query of each row.
    parameters : dict
        Parameters of the measure, ``sample_weight`` and ``pos_label``.

    Returns
    -------
    QueryValues
        Values of the queries where the measure is defined.
    """
    (result,) = query_values_of(measure, y_true, {"": y_score}, qid, parameters).values()
    return result


def query_values_of(
    measure: MeasureLike, y_true: Any, scores: dict[str, Any], qid: Any, parameters: dict[str, Any]
) -> dict[str, QueryValues]:
    """Evaluate several systems on the same queries.

    Parameters
    ----------
    measure : str, Measure or callable
        The measure, as :func:`sklearn_rank.metrics.get_measure` takes it.
    y_true : array-like of shape (n_samples,)
        Labels.
    scores : dict of str to array-like of shape (n_samples,)
        Scores of each system.
    qid : array-like of shape (n_samples,)
        Id of the query of each row.
    parameters : dict
        Parameters of the measure, ``sample_weight`` and ``pos_label``.

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
    data = {name: parameters.pop(name, None) for name in ("sample_weight", "pos_label")}
    read = get_measure(measure, **parameters)
    found: dict[str, QueryValues] = {}
    defined = None
    for name, y_score in scores.items():
        with warnings.catch_warnings():
            if found:
                # Undefined by the labels, which are the same for all: said once.
                warnings.simplefilter("ignore", UndefinedMetricWarning)
            values, ids = read(y_true, y_score, qid=qid, average=None, return_qid=True, **data)
        if defined is None:
            defined = ~np.isnan(values)
        elif not np.array_equal(defined, ~np.isnan(values)):
            first = int(np.argmax(defined == np.isnan(values)))
            raise ValueError(
                f"{read.name} is defined for the query {ids.tolist()[first]!r} with the scores"
                " of one system but not of another, so that the systems cannot be compared on it:"
                " remove the query or choose undefined=."
            )
        if np.count_nonzero(defined) < 2:
            raise ValueError(
                f"{read.name} has a value for {np.count_nonzero(defined)} of {len(ids)} queries,"
                " but a spread takes two or more: pass more queries that have one."
            )
        found[name] = QueryValues(values[defined], ids[defined], read.name, read.range)
    return found


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
    spread = first.limits[1] - first.limits[0]
    return QueryValues(difference, first.ids, f"difference of {first.measure}", (-spread, spread))
