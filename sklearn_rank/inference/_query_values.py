"""One value of a measure for each query: the sample that inference over queries starts from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._lists import ScoredLists
from .._partitions import any_collection
from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import check_item_weights, ravelled
from ..metrics import Measure, get_measure
from ..metrics._shared import KeptValues, MeasureLike
from ._collections import refuse_collections
from ._groups import GroupPart, Groups, Spread, check_groups, each_alone, robust_sums
from ._two_classes import dimensions
from ._weight_meaning import (
    WeightMeaning,
    check_weight_meaning,
    refuse_few_draws,
    refuse_fractions,
)

__all__ = [
    "ROUNDING",
    "QueryValues",
    "accumulated_values",
    "query_differences",
    "query_values_of",
]

# Values that differ by less than this, relative to the largest, are equal up to rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class QueryValues:
    """Values of the queries that have one."""

    values: FloatArray
    ids: AnyArray  # (n_queries,)
    measure: str
    range: tuple[float, float]  # Smallest and largest value that a query can have
    groups: Groups | None = None
    weight: FloatArray | None = None

    @property
    def mean(self) -> float:
        """Mean of the values."""
        return float(np.average(self.values, weights=self.weight))

    @cached_property
    def part(self) -> GroupPart:
        """Sums of the deviations from the mean over the groups, each query one without groups."""
        groups = self.groups or each_alone(len(self.values))
        return GroupPart.of_rows(self.values[np.newaxis], groups, self.weight)

    @property
    def is_plain(self) -> bool:
        """Whether queries are independent and equally probable."""
        return self.groups is None and self.weight is None

    @property
    def counted(self) -> str:
        """Number of queries, and of groups, in words for messages."""
        queries = f"{len(self.values)} queries"
        return queries if self.groups is None else f"{queries} of {self.part.count} groups"

    @cached_property
    def totals(self) -> FloatArray:
        """Sum of the values of each group, or the values."""
        return self.values if self.groups is None else self.groups.sums(self.values)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        if self.is_plain:
            return float(self.values.std(ddof=1) / np.sqrt(len(self.values)))
        return float(np.sqrt(np.sum(robust_sums([self.part]) ** 2)))

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the standard error."""
        if self.is_plain:
            return len(self.values) - 1.0
        return float(Spread.of_groups([self.part]).degrees[0])

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
    weights: WeightMeaning = None,
    groups: Any = None,
    pos_label: Any = None,
) -> dict[str, QueryValues]:
    """Evaluate several systems on the same queries."""
    in_chunks = any_collection(y_true, *scores.values(), qid, sample_weight, groups)
    if not in_chunks:
        y_true = ravelled(y_true, "y_true")
    if qid is None and dimensions(y_true) != 2:
        raise ValueError(
            "qid is missing, but the test is over queries: pass qid, the query id of each row."
            " For one list use metric_interval or compare without qid, or paired_rank_test."
        )
    measure = get_measure(measure)
    query_weight = None
    if check_weight_meaning(weights, sample_weight):
        if in_chunks:
            refuse_collections(
                "inverse probabilities are summed query by query",
                y_true=y_true,
                qid=qid,
                **scores,
            )
        sample_weight, query_weight = None, sample_weight
        if qid is None and np.ndim(query_weight) == 2:
            raise ValueError(_WITHIN)
    refuse_fractions(sample_weight)
    if in_chunks:
        if groups is not None:
            refuse_collections(
                "groups are compared row by row", y_true=y_true, qid=qid, groups=groups, **scores
            )

        def evaluate_chunks(name: str) -> tuple[FloatArray, AnyArray]:
            given = {"sample_weight": sample_weight, "pos_label": pos_label}
            return measure(y_true, scores[name], qid=qid, average=None, return_qid=True, **given)

        return _on_same_queries(measure, scores, evaluate_chunks)[0]
    first = next(iter(scores))
    given = {"sample_weight": sample_weight, "pos_label": pos_label}
    lists = measure.lists(y_true, scores[first], qid=qid, **given)
    by_query = None
    if query_weight is not None:
        by_query = _weight_of_queries(query_weight, lists, np.shape(y_true))
    shape = np.shape(y_true)

    def evaluate(name: str) -> tuple[FloatArray, AnyArray]:
        scored = lists if name == first else lists.scored_by(scores[name], shape)
        return measure.of_lists(scored, average=None, return_qid=True)

    found, defined = _on_same_queries(measure, scores, evaluate)
    if by_query is not None:
        by_query = by_query[defined]
        refuse_few_draws(by_query, float(by_query.max()), "queries")
    of_queries = _groups_of_queries(groups, lists, shape, defined)
    # By appearance, so that draws do not depend on what the ids are called.
    starts = lists.offsets[:-1]
    order = np.argsort(starts[defined] if lists.rows is None else lists.rows[starts][defined])
    return {
        name: replace(
            sample,
            values=sample.values[order],
            ids=sample.ids[order],
            groups=None if of_queries is None else of_queries.only(order),
            weight=None if by_query is None else by_query[order],
        )
        for name, sample in found.items()
    }


_WITHIN = (
    "sample_weight has one value per item, but with weights='sampling' a query is drawn as a"
    " whole: pass one 1 / probability per query, in two dimensions one per row."
)


def _weight_of_queries(
    query_weight: Any, lists: ScoredLists, shape: tuple[int, ...]
) -> FloatArray:
    """Inverse probability of each query, the same for all its rows."""
    weight = check_item_weights(query_weight, shape[:1], "y_true")
    rows = np.arange(len(lists.labels)) if lists.rows is None else lists.rows
    weight = weight[rows // shape[1] if len(shape) == 2 else rows]
    first = weight[lists.offsets[:-1]]
    differs = weight != lists.to_items(first)
    if differs.any() or not first.all():
        wrong = differs if differs.any() else weight == 0.0
        query = int(np.searchsorted(lists.offsets, int(np.argmax(wrong)), "right") - 1)
        raise ValueError(
            f"sample_weight {'differs' if differs.any() else 'is 0'} within"
            f" {lists.name_of(query)}, but with weights='sampling' a query is drawn as a whole:"
            " pass the same 1 / probability, above 0, for all rows of a query."
        )
    return first


def accumulated_values(measure: Measure, kept: KeptValues) -> QueryValues:
    """Take the values of queries that an accumulator keeps."""
    if kept.query_weight is not None:
        raise ValueError(
            "query_weight gives queries different weights, but the interval is for the mean over"
            " identically distributed queries: leave query_weight out."
        )

    def evaluate(name: str) -> tuple[FloatArray, AnyArray]:
        return measure._combined(kept.values, kept.to_lists(), None, True)

    return _on_same_queries(measure, [""], evaluate)[0][""]


def _on_same_queries(
    measure: Measure,
    names: Iterable[str],
    evaluate: Callable[[str], tuple[FloatArray, AnyArray]],
) -> tuple[dict[str, QueryValues], BoolArray]:
    """Values and ids of the queries for each system, and which of them have a value."""
    found: dict[str, QueryValues] = {}
    defined = np.empty(0, dtype=bool)
    for name in names:
        with warnings.catch_warnings():
            if found:
                # Undefined queries depend on the labels, which are the same for all systems: warn
                # once.
                warnings.simplefilter("ignore", UndefinedMetricWarning)
            values, ids = evaluate(name)
        if not found:
            defined = ~np.isnan(values)
        _check_values(measure.name, values, ids, defined)
        found[name] = QueryValues(
            values[defined], ids[defined], measure.name, measure.counted_range
        )
    return found, defined


def _groups_of_queries(
    groups: Any, lists: ScoredLists, shape: tuple[int, ...], defined: BoolArray
) -> Groups | None:
    """Group of each query that has a value; all rows of a query are in one."""
    by_row = check_groups(groups, shape[0])
    if by_row is None:
        return None
    rows = np.arange(len(lists.labels)) if lists.rows is None else lists.rows
    codes = by_row.codes[rows // shape[1] if len(shape) == 2 else rows]
    of_query = codes[lists.offsets[:-1]]
    differs = codes != lists.to_items(of_query)
    if differs.any():
        query = np.searchsorted(lists.offsets, int(np.argmax(differs)), "right") - 1
        raise ValueError(
            f"groups has different ids within {lists.name_of(int(query))}: pass groups of whole"
            " queries, or pass the groups as qid."
        )
    some, present = np.unique(of_query[defined], return_inverse=True)
    if len(some) < 2:
        raise ValueError(
            "groups has one group only with queries that have a value, but the variance needs at"
            " least two: pass queries of at least two groups."
        )
    return Groups(present, len(some))


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
            " system but not of another: remove the query or set undefined= of the measure."
        )
    if np.count_nonzero(defined) < 2:
        raise ValueError(
            f"{name} has a value for {np.count_nonzero(defined)} of {len(ids)} queries, but at"
            " least two are needed: pass more queries with a value."
        )


def query_differences(first: QueryValues, second: QueryValues) -> QueryValues:
    """Subtract the values of one system from those of another."""
    difference = first.values - second.values
    largest = max(np.abs(first.values).max(), np.abs(second.values).max())
    difference[np.abs(difference) <= ROUNDING * largest] = 0.0
    length = first.range[1] - first.range[0]
    return QueryValues(
        difference,
        first.ids,
        f"difference of {first.measure}",
        (-length, length),
        first.groups,
        first.weight,
    )
