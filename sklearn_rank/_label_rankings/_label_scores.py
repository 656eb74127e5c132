"""Scores of labels, one column for each, against orders of labels: values of scorers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length

from .._lists import ScoredLists, check_scored_lists
from .._sklearn_compat import rows_at
from .._typing import FloatArray
from .._validation import check_sample_weight
from ..exceptions import ScorerSetupError
from ..metrics import Measure
from ..metrics._shared import RESPONSE_METHODS, check_fixed_scale, response_method
from ._label_orders import read_label_orders, rows_numbered

# Makes grades of shape (n_samples, n_labels), NaN where a row lacks the label.
LabelReader: TypeAlias = Callable[[Any], FloatArray]


def grades_of_columns(y: Any) -> FloatArray:
    if not sp.issparse(y) and any(isinstance(label, str) for label in np.asarray(y)[0].tolist()):
        raise ScorerSetupError(
            "y has two dimensions, one column for each label, but contains strings: pass grades;"
            " for label names in order from the top use"
            " sklearn_rank.preprocessing.label_grades(y)."
        )
    return read_label_orders(y, "utilities").grades


def label_scores(estimator: Any, X: Any, method_caller: Callable[..., Any]) -> FloatArray:
    if not is_classifier(estimator):
        method = response_method(estimator)
        scores = method_caller(estimator, method, X)
    else:
        # Scikit-learn's own call would take two labels for two classes, and one column of them.
        method = next(name for name in RESPONSE_METHODS if hasattr(estimator, name))
        scores = getattr(estimator, method)(X)
        if isinstance(scores, list):
            # Of the classes 0 and 1 the expected class is the probability of 1.
            expected = []
            for probability, classes in zip(scores, estimator.classes_, strict=True):
                values = np.asarray(classes)
                if values.dtype.kind not in "biuf":
                    raise ScorerSetupError(
                        f"The classes of a label are {values.tolist()}, but an expected value"
                        " needs numbers: fit to numeric grades, greater nearer to the top."
                    )
                expected.append(probability @ values.astype(np.float64))
            scores = np.column_stack(expected)
    if sp.issparse(scores):
        scores = scores.toarray()
    return np.asarray(scores)


def scored_labels(
    measure: Measure, y: Any, scores: Any, read: LabelReader, *, sample_weight: Any = None
) -> ScoredLists:
    check_consistent_length(scores, y)
    weight = np.ones(len(scores))
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, scores)
    rows = np.flatnonzero(weight)
    if len(rows) < len(weight):
        scores, y = scores[rows], rows_at(y, rows)
    with rows_numbered(rows):
        grades = read(y)
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
    if scores.shape != grades.shape:
        n_scores = f"{scores.shape[1]} scores" if scores.ndim == 2 else "one score"
        raise ScorerSetupError(
            f"The estimator gives {n_scores} for each row, but y has {grades.shape[1]} labels: fit"
            " an estimator to y with one column for each label, and score it on the same columns."
        )
    some = ~np.isnan(grades).all(axis=1)
    query_weight = None if sample_weight is None else weight[rows][some]
    columns = grades[some], scores[some], measure.label_type()
    lists = check_scored_lists(*columns, query_weight=query_weight)
    measure._check_weights(lists)
    return lists


def check_two_grades(measure: Measure, grades: FloatArray) -> None:
    if measure.kind != "binary" or measure.label_type().rel is not None:
        return
    if not np.all(np.isin(grades, (0.0, 1.0)) | np.isnan(grades)):
        raise ValueError(
            f"{measure.name} needs two classes, but the labels have more than two grades: pass the"
            f" smallest relevant grade, as in get_measure({measure.name!r}, rel=1)."
        )


def value_of_labels(
    measure: Measure,
    y_true: Any,
    y_score: Any,
    read: LabelReader,
    arguments: dict[str, Any],
    *,
    single_list: bool,
) -> float:
    """Value of scores with one column for each label, each row a list."""
    name = measure.name
    if single_list:
        raise ScorerSetupError(
            f"The scorer of {name} was built with single_list=True, but here each row is a"
            " list of labels: leave it out."
        )
    if "qid" in arguments:
        raise ScorerSetupError(
            f"qid was passed to a scorer of {name}, but here each row is a list of labels: leave"
            " it out; if groups are for the splitter, pass get_scorer(..., qid=False)."
        )
    weight = arguments.pop("sample_weight", None)
    if weight is not None and "query_weight" in arguments:
        raise ScorerSetupError(
            "sample_weight and query_weight are both weights of rows, because each row is a"
            " list of labels: leave out one of the two."
        )
    weight = arguments.pop("query_weight", weight)
    if arguments:
        raise ScorerSetupError(
            f"{next(iter(arguments))} was passed to a scorer of {name}, but here each row is a"
            " list of labels with grades: leave it out."
        )
    lists = scored_labels(measure, y_true, y_score, read, sample_weight=weight)
    return float(measure.of_lists(lists))
