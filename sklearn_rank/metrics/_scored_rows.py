"""Scores of rows by estimators that need the ids of the queries to score.

Scikit-learn hands metadata to ``fit``, ``score`` and the splitter alone; a scorer calls
``predict`` without any. A ranker that normalises within queries needs them there.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import get_routing_for_object

from ._positive_class import one_score_a_row, response_method

# Names under which ids may be asked for.
NAMES_OF_IDS = ("groups", "qid")


def scored_by(estimator: Any) -> Any:
    """Find the estimator that can be handed ids: of a search, which cannot, what it chose."""
    while hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    return estimator


def metadata_for(estimator: Any, method: str, **metadata: Any) -> dict[str, Any]:
    """Find what a method of an estimator takes of some metadata."""
    given = {name: value for name, value in metadata.items() if value is not None}
    if not given or not hasattr(estimator, method):
        return {}
    arguments = signature(getattr(estimator, method)).parameters
    if not hasattr(estimator, "steps"):
        return {name: value for name, value in given.items() if name in arguments}
    if "qid" in given:
        given |= dict.fromkeys(NAMES_OF_IDS, given["qid"])
    with config_context(enable_metadata_routing=True):
        taken = get_routing_for_object(estimator).consumes(method=method, params=given.keys())
    return {name: given[name] for name in taken}


def call_with_metadata(estimator: Any, method: str, *args: Any, **metadata: Any) -> Any:
    """Call a method with what it takes of some metadata."""
    taken = metadata_for(estimator, method, **metadata)
    if not hasattr(estimator, "steps"):
        return getattr(estimator, method)(*args, **taken)
    with config_context(enable_metadata_routing=bool(taken)):
        return getattr(estimator, method)(*args, **taken)


def scores_with_ids(estimator: Any, X: Any, qid: Any, positive: Any = None) -> Any:
    """Scores by which an estimator ranks the rows of queries. Shape (n_samples,)."""
    method = response_method(estimator)
    many = is_classifier(estimator) and len(estimator.classes_) > 2
    if many and hasattr(estimator, "predict_proba"):
        method = "predict_proba"
    values = call_with_metadata(scored_by(estimator), method, X, qid=qid)
    if many and method == "predict_proba":
        return np.asarray(values) @ np.asarray(estimator.classes_, dtype=np.float64)
    score = one_score_a_row(values, estimator, method)
    if np.ndim(score) != 1:
        raise ValueError(
            f"{type(estimator).__name__}.{method} has {np.shape(score)[1]} columns, but a ranking"
            " needs one score for each row: use an estimator with predict_proba, or a regressor."
        )
    if is_classifier(estimator) and positive is not None and positive == estimator.classes_[0]:
        return 1.0 - score if method == "predict_proba" else -score
    return score
