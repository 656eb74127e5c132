"""Positive class of an estimator, and scores that rank this class to the top."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from .._sklearn_compat import cached_call
from .._validation import are_usual_labels, class_among

RESPONSE_METHODS: tuple[str, ...] = ("decision_function", "predict_proba", "predict")


def own_pos_label(estimator: Any) -> Any:
    """Find which class an estimator was told to be the positive one.

    It is its parameter ``pos_label``, or that of the last step of a pipeline, of the estimator
    that a search chose or is to fit, or of what is calibrated or given a threshold.
    """
    for one in estimators_within(estimator):
        said = getattr(one, "pos_label", None)
        if said is not None:
            return said
        # Ensembles number the classes for what they fit, whose labels are then others.
        if hasattr(one, "estimators_"):
            return None
    return None


def estimators_within(estimator: Any) -> Iterator[Any]:
    """Find the estimators through which another one ranks, from the outermost in."""
    while estimator is not None:
        yield estimator
        steps = getattr(estimator, "steps", None)
        if steps:
            estimator = steps[-1][1]
        else:
            inner = getattr(estimator, "estimator", None)
            estimator = getattr(estimator, "best_estimator_", inner)


def positive_class(estimator: Any, pos_label: Any = None) -> Any:
    """Find the positive class of a fitted estimator."""
    said = own_pos_label(estimator) if pos_label is None else pos_label
    if not is_classifier(estimator):
        return said
    classes = _two_classes_of(estimator)
    if said is not None:
        return class_among(classes, said, f"classes of {type(estimator).__name__}")
    if are_usual_labels(classes):
        return classes[1]
    first, second = classes.tolist()
    raise ValueError(
        f"The positive class is unknown: {type(estimator).__name__} was fitted on {first!r} and"
        f" {second!r}: pass pos_label={first!r} or pos_label={second!r}."
    )


def ranking_scores(estimator: Any, X: Any, positive: Any, method: str | None = None) -> Any:
    """Scores by which an estimator ranks rows, as its scorers see them. Shape (n_samples,)."""
    method = response_method(estimator) if method is None else method
    if is_classifier(estimator):
        return cached_call(None, estimator, method, X, pos_label=positive)
    return one_score_a_row(getattr(estimator, method)(X), estimator, method)


def one_score_a_row(values: Any, estimator: Any, method: str) -> Any:
    """Take the second column of two probabilities, and a column of predictions as a vector.

    One score for each row, where two dimensions are such. Shape (n_samples,).
    """
    if np.ndim(values) != 2:
        return values
    if np.shape(values)[1] == 1:
        # Estimators that were fitted to a column predict one.
        return np.asarray(values)[:, 0]
    if method != "predict_proba":
        return values
    if np.shape(values)[1] != 2:
        raise ValueError(
            f"{type(estimator).__name__}.predict_proba has {np.shape(values)[1]} columns, but a"
            " ranking has two classes: fit one class against the rest."
        )
    return np.asarray(values)[:, 1]


def response_method(estimator: Any) -> str:
    """Find the method by which an estimator ranks."""
    methods = RESPONSE_METHODS[:2] if is_classifier(estimator) else RESPONSE_METHODS
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise AttributeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba, and"
        " predicted labels give no ranking: use an estimator with one of them."
    )


def _two_classes_of(estimator: Any) -> Any:
    classes = np.asarray(estimator.classes_)
    if classes.shape != (2,):
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {len(estimator.classes_)} classes, but a"
            " ranking has two: fit one class against the rest, or pass multi_class= with 'auc'."
        )
    return classes
