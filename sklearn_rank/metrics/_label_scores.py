"""Estimators that score labels: one list for each row, whose items are the labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length

from .._label_orders import read_label_orders, rows_numbered
from .._lists import ScoredLists
from .._sklearn_compat import check_sample_weight, rows_at
from .._typing import FloatArray
from .._validation import ravelled
from ..exceptions import ScorerSetupError
from ._fixed_scale import check_fixed_scale
from ._label_lists import label_lists
from ._measure import Measure
from ._positive_class import RESPONSE_METHODS, estimators_within, response_method

# Makes grades of shape (n_samples, n_labels), NaN where a row lacks the label.
LabelReader: TypeAlias = Callable[[Any], FloatArray]


def label_reader(estimator: Any, y: Any) -> LabelReader | None:
    """Find how the labels of an estimator that scores labels are read."""
    for one in estimators_within(estimator):
        if hasattr(one, "label_grades"):
            return one.label_grades
    return _grades_of_columns if _n_columns(y) > 1 else None


def _n_columns(y: Any) -> int:
    """Number of columns of two dimensions; 0 of other data."""
    shape = getattr(y, "shape", None)
    if shape is None:
        try:
            shape = np.shape(y)
        except ValueError:  # of different lengths: refused where they are read
            return 0
    return int(shape[1]) if len(shape) == 2 else 0


def _grades_of_columns(y: Any) -> FloatArray:
    """Grades of the columns of a matrix."""
    if not sp.issparse(y) and any(isinstance(one, str) for one in np.asarray(y)[0].tolist()):
        raise ScorerSetupError(
            "y has two dimensions, one column for each label, but contains strings: pass grades;"
            " for label names in order from the top use"
            " sklearn_rank.preprocessing.label_grades(y)."
        )
    return read_label_orders(y, "utilities").grades


def label_scores(estimator: Any, X: Any, method_caller: Callable[..., Any]) -> FloatArray:
    """Scores of the labels of rows. Shape (n_samples, n_labels)."""
    if not is_classifier(estimator):
        method = response_method(estimator)
        scores = method_caller(estimator, method, X)
    else:
        # Scikit-learn's own call would take two labels for two classes, and one column of them.
        method = next(name for name in RESPONSE_METHODS if hasattr(estimator, name))
        scores = getattr(estimator, method)(X)
        if isinstance(scores, list):
            classes = estimator.classes_
            found = [_expected(*one) for one in zip(scores, classes, strict=True)]
            scores = np.column_stack(found)
    if sp.issparse(scores):
        scores = scores.toarray()
    return np.asarray(scores)


def _expected(probability: Any, classes: Any) -> FloatArray:
    """Expected class of one label; of the classes 0 and 1 the probability of 1."""
    values = np.asarray(classes)
    if values.dtype.kind not in "biuf":
        raise ScorerSetupError(
            f"The classes of a label are {values.tolist()}, but an expected value needs numbers:"
            " fit to numeric grades, greater nearer to the top."
        )
    return np.asarray(probability @ values.astype(np.float64))


def scored_labels(
    measure: Measure, y: Any, scores: Any, read: LabelReader, *, sample_weight: Any = None
) -> ScoredLists:
    """Make lists of scored labels, one for each row of positive weight."""
    check_consistent_length(scores, y)
    rows, weight = np.arange(len(scores)), None
    if sample_weight is not None:
        weight = check_sample_weight(ravelled(sample_weight, "sample_weight"), scores)
        rows = np.flatnonzero(weight)
        if len(rows) < len(weight):
            scores, y, weight = scores[rows], rows_at(y, rows), weight[rows]
    with rows_numbered(rows):
        grades = read(y)
    _check_labels(measure, grades)
    if scores.shape != grades.shape:
        told = f"{scores.shape[1]} scores" if scores.ndim == 2 else "one score"
        raise ScorerSetupError(
            f"The estimator gives {told} for each row, but y has {grades.shape[1]} labels: fit an"
            " estimator to y with one column for each label, and score it on the same columns."
        )
    return label_lists(measure, grades, scores, query_weight=weight)


def _check_labels(measure: Measure, grades: FloatArray) -> None:
    """Refuse a measure for grades of labels of which it has no value."""
    if measure.by_class:
        raise ScorerSetupError(
            f"{measure.name} needs one class per row, but y has one column for each label: leave"
            " out multi_class."
        )
    least = float(np.nanmin(grades))
    if measure.kind == "graded" and least < measure.lowest:
        raise ScorerSetupError(
            f"{measure.name} needs grades of at least {measure.lowest:g}, but y has {least:g}: use"
            " a measure of the order only, such as 'tau_b', or add a constant to y."
        )
    try:
        check_two_grades(measure, grades)
        check_fixed_scale(measure, grades[~np.isnan(grades)])
    except ValueError as error:
        raise ScorerSetupError(str(error)) from None


def check_two_grades(measure: Measure, grades: FloatArray) -> None:
    """Refuse a measure of two classes for labels of more grades."""
    if measure.kind != "binary" or measure.label_type().rel is not None:
        return
    if not np.all(np.isin(grades, (0.0, 1.0)) | np.isnan(grades)):
        raise ValueError(
            f"{measure.name} needs two classes, but the labels have more than two grades: pass the"
            f" smallest relevant grade, as in get_measure({measure.name!r}, rel=1)."
        )
