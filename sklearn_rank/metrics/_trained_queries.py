"""The queries that an estimator was trained on, beside those on which it is scored."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import LabelType, check_lists
from .._query_memory import TrainingQueries, warn_of_overlap
from ._positive_class import estimators_within

__all__ = ["warn_of_trained_queries"]


def warn_of_trained_queries(estimator: Any, y: Any, qid: Any, weights: dict[str, Any]) -> None:
    """Warn where an estimator is scored on queries of which it was trained on some.

    Parameters
    ----------
    estimator : object
        Fitted estimator; it, or what it ranks through, may remember its training queries.
    y : ndarray of shape (n_samples,)
        Labels of valid rows.
    qid : array-like of shape (n_samples,), number or None
        Ids of their queries.
    weights : dict
        Weights of rows and queries.
    """
    if qid is None or np.ndim(qid) == 0 or y.dtype.kind not in "biuf":
        return
    for one in estimators_within(estimator):
        trained = getattr(one, "training_queries_", None)
        if not isinstance(trained, TrainingQueries):
            continue
        lists = check_lists(
            y,
            LabelType("graded", lowest=-np.inf, name="y"),
            qid=qid,
            drop_queries_of_weight_0=True,
            **weights,
        )
        if lists.ids is not None:
            warn_of_overlap(trained, type(one).__name__, lists.ids, lists.offsets, lists.grade)
        return
