"""One value of a measure for each query: the sample that inference over queries starts from."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._typing import AnyArray, FloatArray
from ..metrics import (
    average_precision_score,
    bedroc_score,
    dcg_score,
    expected_reciprocal_rank_score,
    ndcg_score,
    positives_at_top_score,
    precision_at_k_score,
    precision_at_top_score,
    rank_biased_precision_score,
    recall_at_k_score,
    reciprocal_rank_score,
    roc_auc_score,
    spearman_score,
)
from ..metrics._names import parse_measure

__all__ = ["Metric", "QueryValues", "query_differences", "query_values", "query_values_of"]

Metric: TypeAlias = str | Callable[..., Any]

_RANGES: dict[Callable[..., Any], tuple[float, float]] = {
    average_precision_score: (0.0, 1.0),
    bedroc_score: (0.0, 1.0),
    dcg_score: (0.0, np.inf),
    expected_reciprocal_rank_score: (0.0, 1.0),
    ndcg_score: (0.0, 1.0),
    positives_at_top_score: (0.0, 1.0),
    precision_at_k_score: (0.0, 1.0),
    precision_at_top_score: (0.0, 1.0),
    rank_biased_precision_score: (0.0, 1.0),
    recall_at_k_score: (0.0, 1.0),
    reciprocal_rank_score: (0.0, 1.0),
    roc_auc_score: (0.0, 1.0),
    spearman_score: (-1.0, 1.0),
}

_OURS = {
    "average": "every query has its own value",
    "query_weight": "queries are the sample and count equally",
    "return_qid": "ids are matched inside",
}

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


@dataclass(frozen=True)
class _Reader:
    """A measure, read: how to call it, what to call it, and where its values lie."""

    function: Callable[..., Any]
    parameters: dict[str, Any]
    name: str
    limits: tuple[float, float]

    @classmethod
    def of(cls, metric: Metric, parameters: dict[str, Any]) -> _Reader:
        for name, reason in _OURS.items():
            if name in parameters:
                raise TypeError(f"{name} is no parameter here: {reason}; leave it out.")
        if isinstance(metric, str):
            title, measure = metric, parse_measure(metric)
            for name in measure.parameters:
                if name in parameters:
                    raise TypeError(
                        f"{name}={parameters[name]!r} is said already by the name {title!r}: leave"
                        " one of them out."
                    )
            metric, parameters = measure.function, {**measure.parameters, **parameters}
        elif callable(metric):
            title = _title(metric, parameters)
        else:
            raise TypeError(
                f"metric={metric!r} must be the name of a measure, such as 'ndcg@10', or a"
                " function of sklearn_rank.metrics."
            )
        taken = inspect.signature(metric).parameters
        open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in taken.values())
        missing = sorted({"qid", "average", "return_qid", *parameters} - set(taken))
        if missing and not open_ended:
            raise TypeError(
                f"metric {title} does not take {', '.join(missing)}: pass a function of"
                " sklearn_rank.metrics, or one with its keywords qid, average and return_qid, and"
                " parameters that it knows."
            )
        inner = metric.func if isinstance(metric, partial) else metric
        limits = _RANGES.get(inner, (-np.inf, np.inf))
        return cls(metric, parameters, title, limits)

    def __call__(self, y_true: Any, y_score: Any, qid: Any) -> tuple[FloatArray, AnyArray]:
        values, ids = self.function(
            y_true, y_score, qid=qid, average=None, return_qid=True, **self.parameters
        )
        values = np.asarray(values, dtype=np.float64)
        if np.isinf(values).any():
            where = np.asarray(ids).tolist()[int(np.argmax(np.isinf(values)))]
            raise ValueError(
                f"{self.name} is infinite for the query {where!r}: remove the query or choose"
                " another measure."
            )
        return values, np.asarray(ids)


def query_values(
    metric: Metric, y_true: Any, y_score: Any, qid: Any, parameters: dict[str, Any]
) -> QueryValues:
    """Evaluate one system on each query.

    Parameters
    ----------
    metric : str or callable
        Name of a measure, or a function of :mod:`sklearn_rank.metrics`.
    y_true : array-like of shape (n_samples,)
        Labels.
    y_score : array-like of shape (n_samples,)
        Scores.
    qid : array-like of shape (n_samples,)
        Id of the query of each row.
    parameters : dict
        Keyword arguments of the measure.

    Returns
    -------
    QueryValues
        Values of the queries where the measure is defined.
    """
    (result,) = query_values_of(metric, y_true, {"": y_score}, qid, parameters).values()
    return result


def query_values_of(
    metric: Metric, y_true: Any, scores: dict[str, Any], qid: Any, parameters: dict[str, Any]
) -> dict[str, QueryValues]:
    """Evaluate several systems on the same queries.

    Parameters
    ----------
    metric : str or callable
        Name of a measure, or a function of :mod:`sklearn_rank.metrics`.
    y_true : array-like of shape (n_samples,)
        Labels.
    scores : dict of str to array-like of shape (n_samples,)
        Scores of each system.
    qid : array-like of shape (n_samples,)
        Id of the query of each row.
    parameters : dict
        Keyword arguments of the measure.

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
    reader = _Reader.of(metric, parameters)
    found: dict[str, QueryValues] = {}
    defined = None
    for name, y_score in scores.items():
        with warnings.catch_warnings():
            if found:
                # Undefined by the labels, which are the same for all: said once.
                warnings.simplefilter("ignore", UndefinedMetricWarning)
            values, ids = reader(y_true, y_score, qid)
        if defined is None:
            defined = ~np.isnan(values)
        elif not np.array_equal(defined, ~np.isnan(values)):
            first = int(np.argmax(defined == np.isnan(values)))
            raise ValueError(
                f"{reader.name} is defined for the query {ids.tolist()[first]!r} with the scores"
                " of one system but not of another, so that the systems cannot be compared on it:"
                " remove the query or choose undefined=."
            )
        if np.count_nonzero(defined) < 2:
            raise ValueError(
                f"{reader.name} has a value for {np.count_nonzero(defined)} of {len(ids)} queries,"
                " but a spread takes two or more: pass more queries that have one."
            )
        found[name] = QueryValues(values[defined], ids[defined], reader.name, reader.limits)
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


def _title(metric: Callable[..., Any], parameters: dict[str, Any]) -> str:
    said = dict(parameters)
    while isinstance(metric, partial):
        said = {**metric.keywords, **said}
        metric = metric.func
    name = getattr(metric, "__name__", type(metric).__name__)
    shown = ", ".join(f"{key}={value!r}" for key, value in said.items() if np.ndim(value) == 0)
    return f"{name}({shown})" if shown else name
