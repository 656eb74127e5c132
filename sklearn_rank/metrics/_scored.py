"""Scores of estimators for rows, labels and dask collections, and checks of what they trained on.

Scikit-learn hands metadata to ``fit``, ``score`` and the splitter alone; a scorer calls
``predict`` without any. A ranker that normalises within queries needs them there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from inspect import signature
from math import isclose
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_consistent_length

from .._codes import distinct_codes
from .._label_orders import read_label_orders, rows_numbered
from .._lists import LabelType, Overlap, ScoredLists, TrainingQueries, check_lists, check_overlap
from .._sklearn_compat import cached_call, check_sample_weight, rows_at
from .._typing import AnyArray, FloatArray
from .._validation import are_usual_labels, class_among, is_number, ravelled
from .._warn import warn
from ..exceptions import OtherTopWarning, ScorerSetupError
from ._measure import Measure, short

RESPONSE_METHODS: tuple[str, ...] = ("decision_function", "predict_proba", "predict")


def own_pos_label(estimator: Any) -> Any:
    """Find which class an estimator was told to be the positive one.

    It is its parameter ``pos_label``, or that of the last step of a pipeline, of the estimator
    that a search chose or is to fit, or of what is calibrated or given a threshold.
    """
    for part in estimators_within(estimator):
        pos_label = getattr(part, "pos_label", None)
        # Ensembles number the classes for what they fit, whose labels are then others.
        if pos_label is not None or hasattr(part, "estimators_"):
            return pos_label
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
    pos_label = own_pos_label(estimator) if pos_label is None else pos_label
    if not is_classifier(estimator):
        return pos_label
    classes: Any = np.asarray(estimator.classes_)
    if classes.shape != (2,):
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {len(estimator.classes_)} classes, but a"
            " ranking has two: fit one class against the rest, or pass multi_class= with 'auc'."
        )
    if pos_label is not None:
        return class_among(classes, pos_label, f"classes of {type(estimator).__name__}")
    if are_usual_labels(classes):
        return classes[1]
    label, other_label = classes.tolist()
    raise ValueError(
        f"The positive class is unknown: {type(estimator).__name__} was fitted on {label!r} and"
        f" {other_label!r}: pass pos_label={label!r} or pos_label={other_label!r}."
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
    methods = RESPONSE_METHODS[:2] if is_classifier(estimator) else RESPONSE_METHODS
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise AttributeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba, and"
        " predicted labels give no ranking: use an estimator with one of them."
    )


def check_fixed_scale(measure: Measure, labels: AnyArray) -> None:
    """Raise an error if each part of the data would be scored on a scale of its own."""
    if not measure.scaled_by_labels or labels.dtype.kind not in "iuf":
        return
    if np.count_nonzero(labels == 0) + np.count_nonzero(labels == 1) < labels.size:
        raise ValueError(
            f"{measure.name} has no max_grade, so its scale depends on the highest grade of the"
            f" rows that are scored ({labels.max():g} here), and folds are not comparable: pass"
            " max_grade=, the highest grade of the scale, to get_scorer or get_measure."
        )


# Makes grades of shape (n_samples, n_labels), NaN where a row lacks the label.
LabelReader: TypeAlias = Callable[[Any], FloatArray]


def label_reader(estimator: Any, y: Any) -> LabelReader | None:
    """Find how the labels of an estimator that scores labels are read."""
    for part in estimators_within(estimator):
        if hasattr(part, "label_grades"):
            return part.label_grades
    try:
        shape = getattr(y, "shape", None) or np.shape(y)
    except ValueError:  # of different lengths: refused where they are read
        return None
    return _grades_of_columns if len(shape) == 2 and shape[1] > 1 else None


def _grades_of_columns(y: Any) -> FloatArray:
    if not sp.issparse(y) and any(isinstance(label, str) for label in np.asarray(y)[0].tolist()):
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
    if scores.shape != grades.shape:
        n_scores = f"{scores.shape[1]} scores" if scores.ndim == 2 else "one score"
        raise ScorerSetupError(
            f"The estimator gives {n_scores} for each row, but y has {grades.shape[1]} labels: fit"
            " an estimator to y with one column for each label, and score it on the same columns."
        )
    row, column = np.nonzero(~np.isnan(grades))
    missing = np.isnan(scores[row, column])
    if missing.any():
        index = int(np.argmax(missing))
        raise ValueError(
            f"The score of the label in column {column[index]} is NaN in row {row[index]}: pass a"
            " score for every label."
        )
    lists = measure._read(
        grades[row, column],
        scores[row, column],
        qid=row,
        query_weight=None if weight is None else weight[row],
    )
    measure._check_weights(lists)
    return lists


def check_two_grades(measure: Measure, grades: FloatArray) -> None:
    """Refuse a measure of two classes for labels of more grades."""
    if measure.kind != "binary" or measure.label_type().rel is not None:
        return
    if not np.all(np.isin(grades, (0.0, 1.0)) | np.isnan(grades)):
        raise ValueError(
            f"{measure.name} needs two classes, but the labels have more than two grades: pass the"
            f" smallest relevant grade, as in get_measure({measure.name!r}, rel=1)."
        )


# Names under which ids may be asked for.
NAMES_OF_IDS = ("groups", "qid")


def scored_by(estimator: Any) -> Any:
    """Find the estimator that can be handed ids: of a search, which cannot, what it chose."""
    while hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    return estimator


def metadata_for(estimator: Any, method: str, **metadata: Any) -> dict[str, Any]:
    """Find what a method of an estimator takes of some metadata."""
    metadata = {name: value for name, value in metadata.items() if value is not None}
    if not metadata or not hasattr(estimator, method):
        return {}
    if not hasattr(estimator, "steps"):
        names: Any = signature(getattr(estimator, method)).parameters
        return {name: value for name, value in metadata.items() if name in names}
    if "qid" in metadata:
        metadata |= dict.fromkeys(NAMES_OF_IDS, metadata["qid"])
    with config_context(enable_metadata_routing=True):
        names = get_routing_for_object(estimator).consumes(method=method, params=metadata.keys())
    return {name: metadata[name] for name in names}


def call_with_metadata(estimator: Any, method: str, *args: Any, **metadata: Any) -> Any:
    metadata = metadata_for(estimator, method, **metadata)
    if not hasattr(estimator, "steps"):
        return getattr(estimator, method)(*args, **metadata)
    with config_context(enable_metadata_routing=bool(metadata)):
        return getattr(estimator, method)(*args, **metadata)


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


def ranker_with_memory(estimator: Any) -> Any:
    """Find the ranker that remembers its training queries."""
    for part in estimators_within(estimator):
        if isinstance(getattr(part, "training_queries_", None), TrainingQueries):
            return part
    return None


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


def warn_of_other_top(measure: Measure, estimator: Any) -> None:
    """Warn if the share of the top differs between a measure and the training of an estimator."""
    if measure.in_name != "tau":
        return
    share = measure.tau  # type: ignore[attr-defined] # the parameter in the name
    for part in estimators_within(estimator):
        # Beside pos_label it is a share of the top; elsewhere tau may be anything.
        trained: Any = getattr(part, "tau", None) if hasattr(part, "pos_label") else None
        if not is_number(trained):
            continue
        if not isclose(trained, share):
            warn(
                f"{type(part).__name__} was trained for the top {short(trained)} of the list"
                f" (tau={short(trained)}) and is scored by {measure.name}, at the top"
                f" {short(share)}: make the two shares equal, or filter OtherTopWarning if they"
                " differ on purpose.",
                OtherTopWarning,
            )
        return


# Different labels that are looked at: of more, the smallest and the largest.
MOST_LABELS = 64


def counted_labels(y_true: AnyArray, sample_weight: Any) -> AnyArray:
    weight = None if sample_weight is None else np.asarray(sample_weight)
    if weight is None or weight.shape != y_true.shape or weight.dtype.kind not in "biuf":
        return y_true
    return y_true[weight != 0]


def labels_of_chunk(columns: dict[str, Any]) -> AnyArray:
    """Different labels of the rows that count."""
    labels = np.asarray(ravelled(columns["y_true"], "y_true"))
    return distinct_labels([counted_labels(labels, columns.get("sample_weight"))])


def distinct_labels(parts: Sequence[AnyArray]) -> AnyArray:
    """Different labels, or many of them."""
    labels = np.concatenate(parts)
    if labels.dtype.kind in "OSU":
        return distinct_codes(labels).distinct
    labels, half = np.unique(labels), MOST_LABELS // 2
    return labels if len(labels) <= MOST_LABELS else np.append(labels[:half], labels[-half:])


def scored_chunk(
    columns: dict[str, Any], estimator: Any, positive: Any, takes_ids: bool
) -> dict[str, Any]:
    """Replace the features by scores; labels of a classifier, by whether they are positive."""
    columns = dict(columns)
    X = columns.pop("X")
    if takes_ids:
        score = scores_with_ids(estimator, X, columns["qid"], positive)
    else:
        score = ranking_scores(estimator, X, positive)
    if is_classifier(estimator):
        columns["y_true"] = (np.asarray(columns["y_true"]) == positive).astype(np.int8)
    return {**columns, "y_score": score}


def overlap_of_chunk(columns: dict[str, Any], ranker: Any) -> Overlap | None:
    weights = {name: columns.get(name) for name in ("sample_weight", "query_weight")}
    if any(weight is not None and not np.any(weight) for weight in weights.values()):
        return None
    return overlap_with(ranker, np.asarray(columns["y_true"]), columns["qid"], weights)
