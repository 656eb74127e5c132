"""Warning if an estimator is scored on queries that it was trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import LabelType, Overlap, TrainingQueries, check_lists, check_overlap
from ._positive_class import estimators_within


def ranker_with_memory(estimator: Any) -> Any:
    """Find the ranker that remembers its training queries."""
    for one in estimators_within(estimator):
        if isinstance(getattr(one, "training_queries_", None), TrainingQueries):
            return one
    return None


def n_queries_of(estimator: Any) -> int:
    """Number of queries that an estimator, or a part through which it ranks, was fitted to."""
    inner = list(estimators_within(estimator))
    inner += [step for one in inner for _, step in getattr(one, "steps", ())]
    return max(int(getattr(one, "n_queries_", 1)) for one in inner)


def overlap_with(ranker: Any, y: Any, qid: Any, weights: dict[str, Any]) -> Overlap | None:
    """Compare the queries of some rows with those that a ranker was trained on."""
    if y.dtype.kind == "O" and not any(isinstance(label, str) for label in y):
        y = y.astype(np.float64)
    if y.dtype.kind not in "biuf":
        return None
    labels = LabelType("graded", lowest=-np.inf, name="y")
    lists = check_lists(y, labels, qid=qid, drop_queries_of_weight_0=True, **weights)
    return Overlap.of(ranker.training_queries_, np.asarray(lists.ids), lists.offsets, lists.grade)


def warn_of_trained_queries(estimator: Any, y: Any, qid: Any, weights: dict[str, Any]) -> None:
    """Warn if an estimator is scored on queries that it was trained on."""
    ranker = None if qid is None or np.ndim(qid) == 0 else ranker_with_memory(estimator)
    overlap = None if ranker is None else overlap_with(ranker, y, qid, weights)
    if overlap is not None:
        check_overlap(overlap, type(ranker).__name__)
