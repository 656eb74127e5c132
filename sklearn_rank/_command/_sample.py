"""What is measured: rankings and labels, in the form that the functions of inference take."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._typing import AnyArray, FloatArray
from ..metrics import Measure, make_measure

__all__ = ["OfQueries", "Sample", "values_of_queries"]


@dataclass(frozen=True)
class OfQueries:
    """Values of a measure, one for each query.

    Parameters
    ----------
    ids : ndarray of shape (n_defined,)
        Ids of the queries that have a value.
    values : ndarray of shape (n_defined,)
        Their values.
    n_queries : int
        Number of queries, those without a value included.
    n_undefined : int
        Number of queries where the measure is undefined, left out or counted as a number.
    """

    ids: AnyArray
    values: FloatArray
    n_queries: int
    n_undefined: int


@dataclass(frozen=True)
class Sample:
    """Arguments of ``metric_interval`` and ``compare``, and counts of queries.

    Parameters
    ----------
    measure : Measure
        The measure.
    y_true : ndarray
        Labels.
    scores : dict of str to ndarray
        Scores by name.
    qid, groups : ndarray or None, default=None
        Ids of the queries, and of groups that depend on each other.
    n_queries : int or None, default=None
        Number of queries; None is one list.
    n_undefined : int, default=0
        Number of queries where the measure is undefined.
    notes : tuple of str, default=()
        Sentences about this sample.
    """

    measure: Measure
    y_true: Any
    scores: dict[str, Any]
    qid: Any = None
    groups: Any = None
    n_queries: int | None = None
    n_undefined: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def of_values(cls, measure: Measure, found: dict[str, OfQueries]) -> Sample:
        """Make the sample of values of the same queries.

        Parameters
        ----------
        measure : Measure
            The measure.
        found : dict of str to OfQueries
            Values by name; queries that lack one of them are left out.

        Returns
        -------
        Sample
            One row for each query, whose scores are the values.
        """
        shared = set.intersection(*(set(one.ids.tolist()) for one in found.values()))
        first = next(iter(found.values()))
        kept = {name: np.isin(one.ids, sorted(shared)) for name, one in found.items()}
        return cls(
            make_measure(
                _value,
                name=measure.in_grammar()[0],  # the convention stands in the heading
                kind="graded",
                range=measure.counted_range,
                greater_is_better=measure.greater_is_better,
            ),
            np.zeros(len(shared)),
            {name: one.values[kept[name]] for name, one in found.items()},
            qid=first.ids[kept[next(iter(found))]],
            n_queries=first.n_queries,
            n_undefined=max(one.n_undefined for one in found.values()),
        )

    @property
    def given(self) -> dict[str, Any]:
        """Keyword arguments of the functions of inference."""
        return {"qid": self.qid, "groups": self.groups}

    def value(self, name: str) -> float:
        """Evaluate the measure, without an interval.

        Parameters
        ----------
        name : str
            Whose scores.

        Returns
        -------
        float
            The value; NaN where it is undefined.
        """
        if not len(self.y_true):
            return float("nan")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return float(self.measure(self.y_true, self.scores[name], qid=self.qid))


def _value(y_true: AnyArray, y_score: FloatArray) -> float:
    """The value of a query stands in the place of the score of its only row."""
    return float(y_score[0])


def values_of_queries(
    measure: Measure, y_true: Any, y_score: Any, qid: Any, ideal: Any = None
) -> OfQueries:
    """Evaluate each query.

    Parameters
    ----------
    measure : Measure
        The measure.
    y_true, y_score, qid : ndarray of shape (n_rows,)
        Labels, scores and ids of queries.
    ideal : dict or None, default=None
        Relevances of all relevant items of each query.

    Returns
    -------
    OfQueries
        The values.
    """
    lists = measure.lists(y_true, y_score, qid=qid, ideal=ideal)
    undefined = np.isnan(measure.values(lists))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values, ids = measure.of_lists(lists, average=None, return_qid=True)
    has = ~np.isnan(values)
    return OfQueries(ids[has], values[has], len(ids), int(undefined.sum()))
