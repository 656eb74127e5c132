"""Scores of estimators for the rows of dask collections, computed chunk by chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from .._codes import distinct_codes
from .._lists import Overlap, check_overlap
from .._partitions import Partitions
from .._typing import AnyArray
from .._validation import ravelled
from ._of_collections import queries_value, value_of_one_list
from ._positive_class import ranking_scores
from ._scored_rows import scores_with_ids
from ._trained_queries import overlap_with, ranker_with_memory

# Different labels that are looked at: of more, the smallest and the largest.
MOST_LABELS = 64


def counted_labels(y_true: AnyArray, sample_weight: Any) -> AnyArray:
    """Find the labels of the rows that count."""
    weight = None if sample_weight is None else np.asarray(sample_weight)
    if weight is None or weight.shape != y_true.shape or weight.dtype.kind not in "biuf":
        return y_true
    return y_true[weight != 0]


def labels_in(partitions: Partitions) -> AnyArray:
    """Find the different labels of the rows that count."""
    found: AnyArray = partitions.reduce(_labels_of_chunk, _joined_labels)
    return found


def _labels_of_chunk(columns: dict[str, Any]) -> AnyArray:
    labels = np.asarray(ravelled(columns["y_true"], "y_true"))
    return _distinct(counted_labels(labels, columns.get("sample_weight")))


def _joined_labels(parts: Sequence[AnyArray]) -> AnyArray:
    return _distinct(np.concatenate(parts))


def _distinct(labels: AnyArray) -> AnyArray:
    if labels.dtype.kind in "OSU":
        return distinct_codes(labels).distinct
    found = np.unique(labels)
    half = MOST_LABELS // 2
    return found if len(found) <= MOST_LABELS else np.append(found[:half], found[-half:])


def value_of_scored(
    measure: Any,
    partitions: Partitions,
    estimator: Any,
    positive: Any,
    shared: Mapping[str, Any],
    *,
    takes_ids: bool,
    qid: Any,
) -> float:
    """Evaluate a measure of the scores of an estimator."""
    names = [name for name in partitions.columns if name != "X"]
    scored = partitions.with_columns(
        _scored_chunk, [*names, "y_score"], estimator, positive, takes_ids
    )
    pos_label = None if is_classifier(estimator) else positive
    if not isinstance(partitions.columns.get("qid"), list):
        return float(value_of_one_list(measure, scored, pos_label))
    value = queries_value(measure, scored, pos_label, dict(shared), qid)
    _give_overlap(partitions, estimator)
    return value


def _scored_chunk(
    columns: dict[str, Any], estimator: Any, positive: Any, takes_ids: bool
) -> dict[str, Any]:
    """Replace the features by scores; labels of a classifier, by whether they are positive."""
    kept = {name: value for name, value in columns.items() if name != "X"}
    labels = np.asarray(kept["y_true"])
    if takes_ids:
        score = scores_with_ids(estimator, columns["X"], columns["qid"], positive)
    else:
        score = ranking_scores(estimator, columns["X"], positive)
    if is_classifier(estimator):
        kept["y_true"] = (labels == positive).astype(np.int8)
    return {**kept, "y_score": score}


def _give_overlap(partitions: Partitions, estimator: Any) -> None:
    """Warn of queries on which the estimator was trained."""
    ranker = ranker_with_memory(estimator)
    if ranker is not None:
        found = partitions.compute(*partitions.map(_overlap_of_chunk, ranker))
        known = [overlap for overlap in found if overlap is not None]
        if known:
            check_overlap(reduce(add, known), type(ranker).__name__)


def _overlap_of_chunk(columns: dict[str, Any], ranker: Any) -> Overlap | None:
    weights = {name: columns.get(name) for name in ("sample_weight", "query_weight")}
    if any(weight is not None and not np.any(weight) for weight in weights.values()):
        return None
    return overlap_with(ranker, np.asarray(columns["y_true"]), columns["qid"], weights)
