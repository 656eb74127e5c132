"""Scorers: measures that work in cross-validation and searches, and scores of estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from inspect import Parameter, Signature, signature
from math import isclose
from operator import add
from typing import Any, TypeAlias

import numpy as np
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import get_routing_for_object

from .. import _outer
from .._lists import (
    LabelType,
    Overlap,
    TrainingQueries,
    check_lists,
    check_overlap,
)
from .._partitions import any_collection, parts
from .._sklearn_compat import BaseScorer, any_response, cached_call
from .._typing import AnyArray, FloatArray
from .._validation import (
    are_usual_labels,
    array_of_labels,
    check_flag,
    class_among,
    distinct_codes,
    is_number,
    refuse_marks,
    refuse_misread,
    refuse_missing_labels,
    shape_of,
    shown,
)
from .._warn import warn
from ..exceptions import OtherTopWarning, ScorerSetupError, SingleListWarning
from ._grammar import MeasureLike, get_measure, get_measure_names
from ._measure import Measure, short
from ._of_collections import value_of_one_list, value_of_queries
from ._profit import amounts_of, refuse_value
from ._top import AtKMeasure

RESPONSE_METHODS: tuple[str, ...] = ("decision_function", "predict_proba", "predict")


def response_methods(measure: Measure) -> tuple[str, ...]:
    """Methods of estimators from which a measure takes scores, the preferred one first."""
    return RESPONSE_METHODS[1:] if measure.of_probabilities else RESPONSE_METHODS


def own_pos_label(estimator: Any) -> Any:
    """``pos_label`` of an estimator, or of the one within it through which it ranks."""
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
            " ranking has two: fit one class against the rest, or pass 'roc_auc_ovr' of"
            " scikit-learn."
        )
    if pos_label is not None:
        return class_among(classes, pos_label, f"classes of {type(estimator).__name__}")
    if are_usual_labels(classes):
        return classes[1]
    label, other_label = map(shown, classes.tolist())
    raise ValueError(
        f"The positive class is unknown: {type(estimator).__name__} was fitted on {label} and"
        f" {other_label}: pass pos_label={label} or pos_label={other_label}."
    )


def ranking_scores(
    estimator: Any,
    X: Any,
    positive: Any,
    *,
    qid: Any = None,
    caller: Any = None,
    methods: Sequence[str] = RESPONSE_METHODS,
) -> Any:
    """Scores by which an estimator ranks rows, as its scorers see them. Shape (n_samples,).

    Ids go to an estimator that takes them. ``caller`` is what scikit-learn calls it by.
    """
    method = response_method(estimator, methods)
    # Scikit-learn's call of the estimator hands on no metadata.
    if qid is not None and metadata_for(scored_by(estimator), method, qid=qid):
        return scores_with_ids(estimator, X, qid, positive, methods)
    if not is_classifier(estimator):
        values = caller(estimator, method, X) if caller else getattr(estimator, method)(X)
        return one_score_a_row(values, estimator, method)
    if caller and positive == estimator.classes_[1]:
        # Where many scorers share one call of the estimator, scikit-learn remembers the scores
        # under the name of the method, whichever class they are of. Under a name in a tuple they
        # are those of the second class, and of no other scorer.
        return caller(estimator, (method,), X, pos_label=positive)
    return cached_call(None, estimator, method, X, pos_label=positive)


def one_score_a_row(values: Any, estimator: Any, method: str) -> Any:
    """Take the second column of two probabilities, and a column of predictions as a vector."""
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


def response_method(estimator: Any, methods: Sequence[str] = RESPONSE_METHODS) -> str:
    usable = [x for x in methods if x != "predict" or not is_classifier(estimator)]
    for method in usable:
        if hasattr(estimator, method):
            return method
    lacking = "neither decision_function nor" if "decision_function" in methods else "no"
    raise AttributeError(
        f"{type(estimator).__name__} has {lacking} predict_proba, and predicted labels give no"
        " ranking: use an estimator with one of them."
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
    shape = shape_of(y, ragged=())  # refused where they are read
    return _outer.grades_of_columns if len(shape) == 2 and shape[1] > 1 else None


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
        metadata |= dict.fromkeys(("groups", "qid"), metadata["qid"])
    with config_context(enable_metadata_routing=True):
        names = get_routing_for_object(estimator).consumes(method=method, params=metadata.keys())
    return {name: metadata[name] for name in names}


def call_with_metadata(estimator: Any, method: str, *args: Any, **metadata: Any) -> Any:
    metadata = metadata_for(estimator, method, **metadata)
    routing = {"enable_metadata_routing": bool(metadata)} if hasattr(estimator, "steps") else {}
    with config_context(**routing):
        return getattr(estimator, method)(*args, **metadata)


def scores_with_ids(
    estimator: Any,
    X: Any,
    qid: Any,
    positive: Any = None,
    methods: Sequence[str] = RESPONSE_METHODS,
) -> Any:
    """Scores by which an estimator ranks the rows of queries. Shape (n_samples,)."""
    method = response_method(estimator, methods)
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
    if y.dtype.kind == "O" and not any(isinstance(label, str) for label in y):
        y = y.astype(np.float64)
    if y.dtype.kind not in "biuf":
        return None
    labels = LabelType("graded", lowest=-np.inf, name="y")
    lists = check_lists(y, labels, qid=qid, drop_queries_of_weight_0=True, **weights)
    return Overlap.of(ranker.training_queries_, np.asarray(lists.ids), lists.offsets, lists.grade)


def warn_of_trained_queries(estimator: Any, y: Any, qid: Any, weights: dict[str, Any]) -> None:
    ranker = None if qid is None or not shape_of(qid) else ranker_with_memory(estimator)
    overlap = None if ranker is None else overlap_with(ranker, y, qid, weights)
    if overlap is not None:
        check_overlap(overlap, type(ranker).__name__)


def warn_of_other_top(measure: Measure, estimator: Any) -> None:
    """Warn if the share of the top differs between a measure and the training of an estimator."""
    if not measure.stem.endswith("@top") or measure.in_name is None:
        return
    share = measure.tau  # type: ignore[attr-defined] # the parameter in the name
    for part in estimators_within(estimator):
        # Beside pos_label it is a share of the list (of Top Push: of the negatives).
        trained: Any = getattr(part, "tau", None) if hasattr(part, "pos_label") else None
        if not is_number(trained) or hasattr(part, "_tau_of_negatives"):
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


def labels_of_part(columns: dict[str, Any]) -> AnyArray:
    """Labels of the rows that count."""
    weight = columns.get("sample_weight")
    refuse_missing_labels(columns["y_true"], "y", weight)
    labels, weight = array_of_labels(columns["y_true"]), np.asarray(weight)
    if weight.shape != labels.shape or weight.dtype.kind not in "biuf":
        return labels
    return labels[weight != 0]


def distinct_labels(parts: Sequence[AnyArray]) -> AnyArray:
    """Different labels; of many numbers the two smallest and the two largest."""
    labels = np.concatenate(parts)
    if labels.dtype.kind in "OSU":
        return distinct_codes(labels).distinct
    labels = np.unique(labels)
    return labels if len(labels) <= 4 else np.append(labels[:2], labels[-2:])


def scored_part(
    columns: dict[str, Any],
    estimator: Any,
    positive: Any,
    caller: Any = None,
    methods: Sequence[str] = RESPONSE_METHODS,
) -> dict[str, Any]:
    """Replace the features by scores, and labels of a classifier by whether they are positive."""
    columns = {**columns, "y_true": array_of_labels(columns["y_true"])}
    qid = columns.get("qid")
    how: Any = {"qid": qid, "caller": caller, "methods": methods}
    score = ranking_scores(estimator, columns.pop("X"), positive, **how)
    value = columns.pop("value", None)
    if value is not None:
        columns["y_true"] = amounts_of(columns["y_true"], value, pos_label=positive)
    elif is_classifier(estimator):
        columns["y_true"] = (columns["y_true"] == positive).astype(int)
    return {**columns, "y_score": score}


def overlap_of_part(columns: dict[str, Any], ranker: Any) -> Overlap | None:
    weights = {name: columns.get(name) for name in ("sample_weight", "query_weight")}
    if any(weight is not None and not np.any(weight) for weight in weights.values()):
        return None
    return overlap_with(ranker, np.asarray(columns["y_true"]), columns["qid"], weights)


def metadata_of(measure: Measure) -> list[str]:
    """Names of the arguments that a measure takes beside labels and scores."""
    names = ("sample_weight", "query_weight", "qid", "pos_label", "n_relevant", "ideal", "value")
    absent = {"n_relevant", "ideal"}.difference(measure.takes_relevant)
    if measure.weights == "none":
        absent.add("sample_weight")
    if not measure.of_amounts:
        absent.add("value")
    return [name for name in names if name not in absent]


class _MeasureOfOrder:
    """A measure for the scorer only: a search for thresholds would call it with labels."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.__name__ = measure.name
        # From it scikit-learn takes what metadata there may be.
        given = [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("y_true", "y_score")
        ]
        kind = Parameter.KEYWORD_ONLY
        given += [Parameter(name, kind, default=None) for name in metadata_of(measure)]
        self.__signature__ = Signature(given)

    def __call__(self, *args: Any, **kwargs: Any) -> float:
        raise TypeError(
            f"{self.measure.name} is a ranking measure and does not depend on a threshold, but was"
            " called on predicted labels: pass a measure of labels as scoring=."
        )


class RankingScorer(BaseScorer):
    """Scorer of an ordering; made by :func:`get_scorer`.

    It ranks by ``decision_function`` unless the measure is of probabilities, else by
    ``predict_proba``, and by ``predict`` only where the estimator is no classifier. The positive
    class is ``pos_label``, else that of the estimator, else 1 of the usual labels; of others there
    is none, and it refuses to score.
    """

    def __init__(
        self, measure: Measure, kwargs: dict[str, Any], qid: str | bool | None, single_list: bool
    ) -> None:
        sign = 1 if measure.greater_is_better else -1
        methods = response_methods(measure)
        super().__init__(_MeasureOfOrder(measure), sign, kwargs, response_method=methods)
        self.measure = measure
        self._qid = qid
        self._single_list = single_list

    def _get_metadata_request(self) -> Any:
        # Until set_score_request is called nothing is stored, so that making a scorer does not
        # depend on whether routing is enabled.
        is_set = hasattr(self, "_metadata_request")
        requests = super()._get_metadata_request()
        if not is_set:
            for name in metadata_of(self.measure):  # scikit-learn before 1.9 has none
                requests.score.requests.setdefault(name, None)
            qid = self._qid
            if qid is None and self._single_list:
                qid = False
            elif qid is None and self.measure.per_query:
                qid = "groups"
            if qid is not None:
                requests.score.add_request(param="qid", alias=qid)
        return requests

    def set_score_request(self, **kwargs: Any) -> RankingScorer:
        """Set which metadata the scorer asks for; what is not named stays as it was.

        Parameters
        ----------
        **kwargs : dict
            ``name=True`` for metadata of this name, ``name="alias"`` for that of another,
            ``name=False`` to ignore it, ``name=None`` for an error where it is passed.

        Returns
        -------
        RankingScorer
            The scorer itself.
        """
        # Else each fold of a search would refuse them.
        names = metadata_of(self.measure)
        for name in kwargs:
            if name not in names:
                raise TypeError(
                    f"{self.measure.name} takes no argument {name!r}: it takes {', '.join(names)}."
                )
        requests = self._get_metadata_request()
        for name, alias in kwargs.items():
            requests.score.add_request(param=name, alias=alias)
        # Theirs checks that routing is enabled, and forgets every other request.
        super().set_score_request(**kwargs)
        self._metadata_request = requests
        return self

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: Any,
        *,
        sample_weight: Any = None,
        qid: Any = None,
        query_weight: Any = None,
        **metadata: Any,
    ) -> float:
        """Score an estimator. The value of the measure, negated for a loss."""
        metadata |= {"sample_weight": sample_weight, "qid": qid, "query_weight": query_weight}
        metadata = {name: value for name, value in metadata.items() if value is not None}
        arguments = self._rename_metadata(metadata)
        return self._score(partial(cached_call, None), estimator, X, y_true, **arguments)

    def _rename_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """Metadata under the measure's names; a search that refits passes those of its caller."""
        requests = self._get_metadata_request().score.requests
        named = dict(metadata)
        for name, alias in requests.items():
            if isinstance(alias, str) and alias in metadata:
                value = named.pop(alias)
                if metadata.get(name, value) is not value:
                    raise ScorerSetupError(
                        f"{name} was passed twice, as {name} and as {alias}: leave out one of the"
                        " two."
                    )
                named[name] = value
        if "groups" not in requests:
            named.pop("groups", None)
        return named

    def _score(
        self, method_caller: Callable[..., Any], estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        self._warn_overlap(
            message="A parameter of this scorer is passed as metadata too: pass it once.",
            kwargs=kwargs,
        )
        caller: Any = partial(any_response, method_caller)
        arguments = {**self._kwargs, **kwargs}
        refuse_misread(**arguments | {"X": X, "y": y_true})
        if any_collection(X, y_true, *arguments.values()):
            caller = None
        if (read := label_reader(estimator, y_true)) is None:
            value = self._value_of_rows(caller, estimator, X, y_true, arguments)
        elif caller:
            scores = _outer.label_scores(estimator, X, caller)
            value = self._value_of_labels(y_true, scores, read, arguments)
        else:
            raise TypeError(
                f"Dask collections need one score per row, but {self.measure.name} of"
                f" {type(estimator).__name__} takes one for each label: pass X.compute()"
                " and y.compute()."
            )
        return float(self._sign * value)

    def _value_of_rows(
        self, caller: Any, estimator: Any, X: Any, y_true: Any, arguments: dict[str, Any]
    ) -> float:
        """Value of rows in memory, or without ``caller`` in parts elsewhere."""
        qid, pos_label = arguments.get("qid"), arguments.pop("pos_label", None)
        methods = response_methods(self.measure)
        response_method(estimator, methods)
        self._check_queries(estimator, qid is not None)
        warn_of_other_top(self.measure, estimator)
        if not caller and "value" in arguments:
            raise TypeError(
                "value is for rows in memory: pass X.compute(), y.compute() and value.compute()."
            )
        of_ids = {name for name, column in arguments.items() if isinstance(column, Mapping)}
        shared = {name: arguments.pop(name) for name in of_ids if qid is not None}
        rows = parts(X=X, y_true=y_true, **arguments)
        labels = rows.without("X").map(labels_of_part).reduce(distinct_labels)
        positive = self._check_positive(estimator, pos_label, labels, qid is not None)
        if is_classifier(estimator) and self.measure.of_amounts and "value" not in arguments:
            raise ScorerSetupError(
                f"{self.measure.name} needs the amounts of rows, but y has classes: pass"
                " value=(gain, cost) to get_scorer, or route value= of each row by"
                " set_score_request(value=True)."
            )
        ranker = None if qid is None or not shape_of(qid) else ranker_with_memory(estimator)
        if ranker is not None:
            overlaps = rows.without("X").map(overlap_of_part, ranker).results()
            if overlaps:
                check_overlap(reduce(add, overlaps), type(ranker).__name__)
        scored = rows.map(scored_part, estimator, positive, caller, methods)
        pos_label = None if is_classifier(estimator) or "value" in arguments else positive
        if caller:
            known = {} if pos_label is None else {"pos_label": pos_label}
            return self._value(**scored.values[0], **shared, **known)
        if not isinstance(rows.columns.get("qid"), list):
            return float(value_of_one_list(self.measure, scored, pos_label))
        return float(value_of_queries(self.measure, scored, pos_label, shared, qid))

    def _value(self, y_true: Any, y_score: Any, **arguments: Any) -> float:
        """Value of the rows; scorers of other values of them replace it."""
        return self.measure(y_true, y_score, **arguments)

    def _value_of_labels(self, *labels: Any) -> float:
        """Value of scores with one column for each label, each row a list."""
        return _outer.value_of_labels(self.measure, *labels, single_list=self._single_list)

    def _check_positive(
        self, estimator: Any, pos_label: Any, labels: np.ndarray[Any, Any], has_queries: bool
    ) -> Any:
        """Positive class, if the measure has a value for these labels; None of grades."""
        try:
            positive = positive_class(estimator, pos_label)
        except ValueError as error:
            # Only here the setting is known that the message names.
            message = f"{str(error).removesuffix('.')}, to the scorer or the estimator."
            raise ScorerSetupError(message) from None
        graded = self.measure.kind == "graded" or self.measure.rel is not None
        if positive is None and not graded and not are_usual_labels(labels):
            refuse_marks(labels, "y_true")
            raise ScorerSetupError(
                f"The positive class is unknown: {self.measure.name} needs two classes, but y has"
                " labels other than 0 and 1 or -1 and 1: pass pos_label= to the scorer."
            )
        try:
            if is_classifier(estimator):
                refuse_level(self.measure, estimator)
            elif positive is None:
                check_fixed_scale(self.measure, labels)
        except ValueError as error:  # no candidate of a search could mend it
            raise ScorerSetupError(str(error)) from None
        if is_classifier(estimator):
            classes = estimator.classes_
            unknown = (labels != classes[0]) & (labels != classes[1])
            if unknown.any():
                raise ValueError(
                    f"y has the label {labels[unknown].tolist()[0]!r}, but"
                    f" {type(estimator).__name__} was fitted on {classes.tolist()}: pass labels of"
                    " these classes."
                )
        if self.measure.rel is not None:
            labels = labels >= self.measure.rel
        # For several queries the measure itself handles those without a value.
        if not has_queries and len(labels) and np.all(labels == labels[0]):
            raise ValueError(
                f"All labels are {labels[:1].tolist()[0]!r}, so all orders are equally good: score"
                " rows of different labels; in cross-validation use stratified folds."
            )
        return positive

    def _check_queries(self, estimator: Any, has_queries: bool) -> None:
        name = self.measure.name
        if self._single_list and has_queries:
            raise ScorerSetupError(
                f"qid was passed to a scorer of {name} that was built with single_list=True, which"
                " takes all rows as one list: leave out one of the two."
            )
        if self._single_list or has_queries:
            return
        request = self._get_metadata_request().score.requests.get("qid")
        alias = request if isinstance(request, str) else "qid" if request else "groups"
        mend = (
            "pass qid=, one id per row, when you call it; in a search build it with"
            f" get_scorer(..., qid={alias!r}) and pass fit(..., {alias}=...), in cross-validation"
            f" params={{{alias!r}: ...}}, after sklearn.set_config(enable_metadata_routing=True);"
            " for permutation_importance pass scoring=functools.partial(scorer, qid=qid);"
            " or build it with single_list=True if all rows are one"
            " list"
        )
        parts = list(estimators_within(estimator))
        parts += [step for part in parts for _, step in getattr(part, "steps", ())]
        n_queries = max(int(getattr(part, "n_queries_", 1)) for part in parts)
        if n_queries > 1:
            raise ScorerSetupError(
                f"{type(estimator).__name__} was fitted to {n_queries} queries, but the scorer of"
                f" {name} got no qid: {mend}."
            )
        by_default = self._qid is None and self.measure.per_query and request == "groups"
        if request not in (None, False) and not by_default:
            raise ScorerSetupError(
                f"The scorer of {name} asks for {alias!r}, but got no qid: {mend}."
            )
        # Of the first k a list is as usual as queries.
        if self.measure.per_query and not isinstance(self.measure, AtKMeasure):
            warn(
                f"{name} is a mean over queries, but its scorer got no qid and takes all rows as"
                f" one list: {mend}.",
                SingleListWarning,
            )

    def __repr__(self) -> str:
        name, parameters = self.measure.in_grammar()
        parameters = {**parameters, **self._kwargs}
        if self._qid is not None:
            parameters["qid"] = self._qid
        if self._single_list:
            parameters["single_list"] = True
        arguments = "".join(f", {name}={value!r}" for name, value in parameters.items())
        title = name if self.measure.greater_is_better else f"neg_{name}"
        return f"get_scorer({title!r}{arguments})"


def refuse_level(measure: Measure, estimator: Any) -> None:
    if measure.rel is not None:
        raise ValueError(
            f"{measure.name} has rel= for grades, but {type(estimator).__name__} is a classifier"
            " of two classes: leave out rel, or fit it to y >= rel."
        )


def check_name_of_ids(qid: Any) -> None:
    if not (qid is None or isinstance(qid, bool | str)):
        raise TypeError(
            "qid must be the name under which ids are passed, True for 'qid' or False for none,"
            f" got {type(qid).__name__}: pass the ids themselves when you call the scorer."
        )


def get_scorer(
    measure: MeasureLike,
    *,
    qid: str | bool | None = None,
    single_list: bool = False,
    pos_label: Any = None,
    value: Any = None,
    **parameters: Any,
) -> Any:
    """Get a scikit-learn scorer from a ranking measure.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        A name of :func:`get_scorer_names`, in which other numbers can replace those shown, such as
        ``"ndcg@10"``, ``"ap(rel>=2)"`` for grades of at least 2 as relevant, or the negated loss
        ``"neg_coverage"``; or a measure as :func:`get_measure` takes it, a loss being negated.
        "err" and "rbp" need ``max_grade=`` for grades beyond 0 and 1, so that all folds are on one
        scale. Scorers of scikit-learn, by its names, are those of
        :func:`sklearn.metrics.get_scorer`.
    qid : str, bool or None, default=None
        Name under which the scorer requests query ids if metadata routing is enabled. True is
        "qid", False requests none. None is "groups" for means over queries, and requests none for
        other measures.
    single_list : bool, default=False
        Whether all rows are one list, as in binary classification. Such a scorer takes no query
        ids. If False and no ids are passed, a mean over queries, but not one of the first k such
        as ``"precision@50"``, warns that all rows are one list, and every measure raises an error
        for an estimator that was fitted to several queries.
    pos_label : int, float, bool, str or None, default=None
        The positive class. None is the ``pos_label`` of the estimator, of the last step of a
        pipeline or of the estimator of a search if it has one; else 1, for labels 0 and 1 or -1
        and 1.
    value : pair of float or None, default=None
        For measures of amounts, such as ``"profit@50"``: what a row brings if it is positive, and
        if it is not. Amounts of each row are metadata: ``set_score_request(value=True)`` and
        ``fit(..., value=)``, the amount of each row if it is positive, two columns with the
        amounts if it is positive and if it is not, or a pair of such arrays or numbers.
    **parameters : dict
        Other parameters of the measure, such as ``gain="linear"``.

    Returns
    -------
    callable
        Callable ``scorer(estimator, X, y, qid=None, sample_weight=None, query_weight=None)``, for
        ``scoring=`` in scikit-learn; higher is better.

    Raises
    ------
    ValueError
        If there is no scorer of the name, if ``qid`` is not a valid name, or if it is given with
        ``single_list=True``.
    TypeError
        If the measure has no such parameter, or if ``measure`` is not a measure.

    See Also
    --------
    get_scorer_names : Returns the names of the scorers.
    make_measure : Makes a measure from your own function.
    sklearn.metrics.make_scorer : Makes a scorer from any function of labels and predictions.

    Notes
    -----
    scikit-learn does not accept ``scoring="precision@top0.05"`` as a string: pass the scorer. To
    use means over queries in cross-validation and searches, call
    ``sklearn.set_config(enable_metadata_routing=True)``: ``groups`` then goes to the splitter and,
    as ``qid``, to the scorer. Without ids all rows are one list: means over queries then warn with
    :class:`sklearn_rank.exceptions.SingleListWarning`, but not those of the first k. With ids
    every measure is a mean over queries; measures of one list request them only with
    ``qid="groups"``.

    The scorer ranks by ``decision_function``, else by ``predict_proba``, else, for estimators that
    are not classifiers, by ``predict``; of a measure of probabilities (``"net_benefit@0.1"``) it
    takes ``predict_proba`` first. A classifier that only predicts labels raises an error. If
    the positive class is ``classes_[0]``, the order is reversed. One list with a single label
    raises an error, because all its orders are equally good. For several queries, ``undefined`` of
    the measure sets how queries without a value are counted. With metadata routing enabled,
    ``set_score_request(sample_weight=True)`` or ``query_weight=True`` passes weights to the
    measure and does not change the request of the ids.

    Label rankers, multi-output regressors and multilabel classifiers are evaluated by the order of
    the labels in each row, averaged over the rows. For the latter two ``y`` holds grades of shape
    (n_samples, n_labels), with NaN if a row lacks the label. They take no ids, and
    ``sample_weight`` or ``query_weight`` is the weight of each row.

    Errors that affect all candidates raise :class:`sklearn_rank.exceptions.ScorerSetupError`: no
    ids for a ranker that was fitted to several queries, no positive class for labels other than 0
    and 1 or -1 and 1, no scale of the grades. In a search every error of a scorer becomes
    ``error_score`` with a warning, or is raised if ``error_score="raise"``.

    An estimator that was trained for another share ``tau`` of the top than that of the measure
    gets a :class:`sklearn_rank.exceptions.OtherTopWarning`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_rank.metrics import get_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scores = cross_val_score(
    ...     RidgeClassifier(), X, y, scoring=get_scorer("precision@top0.1")
    ... )
    >>> scores.min()
    np.float64(1.0)

    A mean over queries needs query ids:

    >>> model = RidgeClassifier().fit(X, y)
    >>> get_scorer("ndcg@1")(model, X[18:24], y[18:24], qid=list("aaabbb"))
    1.0
    """
    name, negated = measure, isinstance(measure, str) and measure.startswith("neg_")
    if isinstance(measure, str):
        measure = measure.removeprefix("neg_")
    measure = get_measure(measure, **parameters)
    if not measure.has_direction:
        raise ValueError(
            f"{measure.name} is right at 0, so that neither a greater nor a smaller value is"
            " better: score by 'net_benefit@0.1' or 'ap' instead."
        )
    if negated and measure.greater_is_better:
        raise ValueError(
            f"{name!r} is not the name of a scorer: {measure.name} is a score and is not negated;"
            f" use {measure.name!r}."
        )
    if isinstance(name, str) and not negated and not measure.greater_is_better:
        raise ValueError(
            f"{name!r} is a loss, but scorers need greater values to be better: use"
            f" {'neg_' + name!r}, the negated loss."
        )
    check_name_of_ids(qid)
    if isinstance(qid, str) and not qid.isidentifier():
        raise ValueError(f"qid={qid!r} must be a valid keyword name, such as 'groups'.")
    check_flag("single_list", single_list)
    if single_list and qid not in (None, False):
        raise ValueError(
            f"qid={qid!r} requests query ids, but single_list=True takes none: leave out one of"
            " the two."
        )
    if value is not None:
        refuse_value(measure)
    kwargs = {"pos_label": pos_label, "value": value}
    kwargs = {name: x for name, x in kwargs.items() if x is not None}
    return RankingScorer(measure, kwargs, qid, single_list)


def get_scorer_names() -> list[str]:
    """Return the names of the scorers of this package.

    Returns
    -------
    list of str
        Sorted names that :func:`get_scorer` takes; the numbers in them are examples.

    See Also
    --------
    get_scorer : Makes a scorer.

    Examples
    --------
    >>> from sklearn_rank.metrics import get_scorer_names
    >>> get_scorer_names()[:3]
    ['ap', 'ap@10', 'auc']
    """
    return sorted(
        name if get_measure(name).greater_is_better else f"neg_{name}"
        for name in get_measure_names()
        if get_measure(name).has_direction
    )
