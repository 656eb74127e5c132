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
    """Values of a measure, one for each query."""

    ids: AnyArray  # (n_defined,): Ids of the queries that have a value
    values: FloatArray  # (n_defined,)
    n_queries: int  # Number of queries, those without a value included
    n_undefined: int


@dataclass(frozen=True)
class Sample:
    """Arguments of ``metric_interval`` and ``compare``, and counts of queries."""

    measure: Measure
    y_true: Any
    scores: dict[str, Any]
    qid: Any = None  # Ids of the queries, and of groups that depend on each other
    groups: Any = None  # Ids of the queries, and of groups that depend on each other
    n_queries: int | None = None  # Number of queries; None is one list
    n_undefined: int = 0  # Number of queries where the measure is undefined
    notes: tuple[str, ...] = ()  # Sentences about this sample

    @classmethod
    def of_values(cls, measure: Measure, found: dict[str, OfQueries]) -> Sample:
        """Make the sample of values of the same queries."""
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
        """Evaluate the measure, without an interval. The value; NaN where it is undefined."""
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
    """Evaluate each query."""
    lists = measure.lists(y_true, y_score, qid=qid, ideal=ideal)
    undefined = np.isnan(measure.values(lists))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values, ids = measure.of_lists(lists, average=None, return_qid=True)
    has = ~np.isnan(values)
    return OfQueries(ids[has], values[has], len(ids), int(undefined.sum()))
