"""Scorers: measures that work in cross-validation and searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from inspect import Parameter, Signature
from operator import add
from typing import Any

import numpy as np
import sklearn.metrics
from sklearn.base import is_classifier

from .._lists import check_overlap
from .._partitions import aligned, any_collection
from .._sklearn_compat import BaseScorer, cached_call
from .._validation import are_usual_labels, check_flag, ravelled, refuse_missing_labels
from .._warn import warn
from ..exceptions import ScorerSetupError, SingleListWarning
from ._grammar import MeasureLike, get_measure, get_measure_names
from ._measure import Measure
from ._of_collections import value_of_one_list, value_of_queries
from ._scored import (
    RESPONSE_METHODS,
    LabelReader,
    check_fixed_scale,
    counted_labels,
    distinct_labels,
    estimators_within,
    label_reader,
    label_scores,
    labels_of_chunk,
    metadata_for,
    one_score_a_row,
    overlap_of_chunk,
    positive_class,
    ranker_with_memory,
    response_method,
    scored_by,
    scored_chunk,
    scored_labels,
    scores_with_ids,
    warn_of_other_top,
    warn_of_trained_queries,
)

# What the name of the scorer of a loss begins with, as in scikit-learn.
NEGATED = "neg_"


# Metadata of a scorer, the names of arguments that measures take beside labels and scores.
METADATA = ("sample_weight", "query_weight", "qid", "pos_label", "n_relevant", "ideal")


def metadata_of(measure: Measure) -> list[str]:
    """List what a measure takes beside labels and scores."""
    absent = {"n_relevant", "ideal"}.difference(measure.takes_relevant)
    if measure.weights == "none":
        absent.add("sample_weight")
    return [name for name in METADATA if name not in absent]


class _MeasureOfOrder:
    """A measure for the scorer only: a search for thresholds would call it with labels."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.__name__ = measure.name
        # From it scikit-learn takes what metadata there may be.
        self.__signature__ = Signature(
            [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("y_true", "y_score")]
            + [
                Parameter(name, Parameter.KEYWORD_ONLY, default=None)
                for name in metadata_of(measure)
            ]
        )

    def __call__(self, *args: Any, **kwargs: Any) -> float:
        raise TypeError(
            f"{self.measure.name} is a ranking measure and does not depend on a threshold, but was"
            " called on predicted labels: pass a measure of labels as scoring=."
        )


class RankingScorer(BaseScorer):
    """Scorer of an ordering; made by :func:`get_scorer`.

    It ranks by ``decision_function``, else by ``predict_proba``, and by ``predict`` only where the
    estimator is no classifier. The positive class is ``pos_label``, else that of the estimator,
    else 1 of the usual labels; of others there is none, and it refuses to score.
    """

    def __init__(
        self, measure: Measure, kwargs: dict[str, Any], qid: str | bool | None, single_list: bool
    ) -> None:
        sign = 1 if measure.greater_is_better else -1
        super().__init__(_MeasureOfOrder(measure), sign, kwargs, response_method=RESPONSE_METHODS)
        self.measure = measure
        self._qid = qid
        self._single_list = single_list

    def _get_metadata_request(self) -> Any:
        # Until set_score_request is called nothing is stored, so that making a scorer does not
        # depend on whether routing is enabled.
        is_set = hasattr(self, "_metadata_request")
        requests = super()._get_metadata_request()
        if not is_set:
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
        """Metadata under the names of the measure's arguments.

        A search over many measures hands the scorer that it refits by what any of them asked for,
        under the names of the caller.
        """
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
        arguments = {**self._kwargs, **kwargs}
        if any_collection(X, y_true, *arguments.values()):
            return float(self._sign * self._value_of_collections(estimator, X, y_true, arguments))
        read = label_reader(estimator, y_true)
        if read is not None:
            scores = label_scores(estimator, X, method_caller)
            return float(self._sign * self._value_of_labels(y_true, scores, read, arguments))
        method = response_method(estimator)
        has_queries = arguments.get("qid") is not None
        self._check_queries(estimator, has_queries)
        if self.measure.by_class:
            y_score = method_caller(estimator, method, X)
            return float(
                self._sign * self._value_of_classes(estimator, y_true, y_score, arguments)
            )
        warn_of_other_top(self.measure, estimator)
        # Scikit-learn's call of the estimator hands on no metadata.
        takes_ids = has_queries and metadata_for(
            scored_by(estimator), method, qid=arguments["qid"]
        )
        y_true = ravelled(y_true, "y_true")
        refuse_missing_labels(y_true, "y", arguments.get("sample_weight"))
        y_true = np.asarray(y_true)
        counted = counted_labels(y_true, arguments.get("sample_weight"))
        pos_label = arguments.pop("pos_label", None)
        positive = self._check_positive(estimator, pos_label, counted, has_queries)
        if takes_ids:
            y_score = scores_with_ids(estimator, X, arguments["qid"], positive)
        elif not is_classifier(estimator):
            y_score = one_score_a_row(method_caller(estimator, method, X), estimator, method)
        elif positive == estimator.classes_[1]:
            # Where many scorers share one call of the estimator, scikit-learn remembers the scores
            # under the name of the method, whichever class they are of. Under a name in a tuple
            # they are those of the second class, and of no other scorer.
            y_score = method_caller(estimator, (method,), X, pos_label=positive)
        else:
            y_score = cached_call(None, estimator, method, X, pos_label=positive)
        if is_classifier(estimator):
            y_true = (y_true == positive).astype(int)
        elif positive is not None:
            arguments["pos_label"] = positive
        weights = {name: arguments.get(name) for name in ("sample_weight", "query_weight")}
        warn_of_trained_queries(estimator, y_true, arguments.get("qid"), weights)
        return float(self._sign * self._value(y_true, y_score, arguments))

    def _value_of_collections(
        self, estimator: Any, X: Any, y_true: Any, arguments: dict[str, Any]
    ) -> float:
        """Value of rows that are dask collections, less its sign."""
        if self.measure.by_class or label_reader(estimator, y_true) is not None:
            raise TypeError(
                f"Dask collections need one score per row, but {self.measure.name} of"
                f" {type(estimator).__name__} takes one for each class or label: pass X.compute()"
                " and y.compute()."
            )
        method, qid = response_method(estimator), arguments.get("qid")
        self._check_queries(estimator, qid is not None)
        warn_of_other_top(self.measure, estimator)
        pos_label = arguments.pop("pos_label", None)
        of_ids = {name for name, value in arguments.items() if isinstance(value, Mapping)}
        shared = {name: arguments.pop(name) for name in of_ids if qid is not None}
        partitions = aligned(X=X, y_true=y_true, **arguments)
        labels = partitions.reduce(labels_of_chunk, distinct_labels)
        positive = self._check_positive(estimator, pos_label, labels, qid is not None)
        takes_ids = bool(metadata_for(scored_by(estimator), method, qid=qid))
        names = [name for name in partitions.columns if name != "X"]
        scored = partitions.with_columns(
            scored_chunk, [*names, "y_score"], estimator, positive, takes_ids
        )
        pos_label = None if is_classifier(estimator) else positive
        if not isinstance(partitions.columns.get("qid"), list):
            return float(value_of_one_list(self.measure, scored, pos_label))
        value = float(value_of_queries(self.measure, scored, pos_label, shared, qid))
        ranker = ranker_with_memory(estimator)
        if ranker is not None:
            results = partitions.compute(*partitions.map(overlap_of_chunk, ranker))
            overlaps = [overlap for overlap in results if overlap is not None]
            if overlaps:
                check_overlap(reduce(add, overlaps), type(ranker).__name__)
        return value

    def _value(self, y_true: Any, y_score: Any, arguments: dict[str, Any]) -> float:
        return self.measure(y_true, y_score, **arguments)

    def _value_of_labels(
        self, y_true: Any, y_score: Any, read: LabelReader, arguments: dict[str, Any]
    ) -> float:
        """Value of scores with one column for each label, each row a list."""
        name = self.measure.name
        if self._single_list:
            raise ScorerSetupError(
                f"The scorer of {name} was built with single_list=True, but here each row is a"
                " list of labels: leave it out."
            )
        if "qid" in arguments:
            raise ScorerSetupError(
                f"qid was passed to a scorer of {name}, but here each row is a list of labels:"
                " leave it out; if groups are for the splitter only, pass get_scorer(...,"
                " qid=False)."
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
        lists = scored_labels(self.measure, y_true, y_score, read, sample_weight=weight)
        return float(self.measure.of_lists(lists))

    def _value_of_classes(
        self, estimator: Any, y_true: Any, y_score: Any, arguments: dict[str, Any]
    ) -> float:
        """Value of scores with one column for each class that the estimator was fitted on."""
        if not is_classifier(estimator) or np.ndim(y_score) != 2:
            raise ValueError(
                f"{self.measure.name} takes one score for each class, but"
                f" {type(estimator).__name__} gives one for each row: leave out multi_class."
            )
        classes = estimator.classes_.tolist()
        counted = counted_labels(np.asarray(y_true), arguments.get("sample_weight"))
        missing = [label for label in classes if not np.any(counted == label)]
        # For several queries the measure itself handles those without a value.
        if missing and arguments.get("qid") is None:
            raise ValueError(
                f"No row has the label {missing[0]!r}, so {self.measure.name} is undefined: score"
                " rows of all classes; in cross-validation use stratified folds."
            )
        measure = get_measure(self.measure, labels=tuple(classes))
        return float(measure(y_true, y_score, **arguments))

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
        """Check that ids came, or that all rows may be one list."""
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
            " for permutation_importance use query_permutation_importance of"
            " sklearn_rank.model_selection; or build it with single_list=True if all rows are one"
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
        if self.measure.per_query:
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
        title = name if self.measure.greater_is_better else NEGATED + name
        return f"get_scorer({title!r}{arguments})"


def refuse_level(measure: Measure, estimator: Any) -> None:
    """Refuse a level of grades for a classifier, whose labels are two classes."""
    if measure.rel is not None:
        raise ValueError(
            f"{measure.name} has rel= for grades, but {type(estimator).__name__} is a classifier"
            " of two classes: leave out rel, or fit it to y >= rel."
        )


def get_scorer(
    measure: MeasureLike,
    *,
    qid: str | bool | None = None,
    single_list: bool = False,
    pos_label: Any = None,
    **parameters: Any,
) -> Any:
    """Get a scikit-learn scorer from a ranking measure.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        Measures averaged over queries: ``"ndcg"``, ``"ndcg@10"``, ``"dcg"``, ``"dcg@10"``,
        ``"precision@5"``, ``"recall@20"``, ``"ap"``, ``"ap@10"``, ``"rr"``, ``"rr@10"``,
        ``"err"``, ``"err@10"``, ``"rbp@0.8"``, ``"success@10"``, ``"r_precision"``, ``"f1@10"``,
        ``"spearman"``, ``"tau_b"``, ``"tau_x"``, ``"tau_ap"``, ``"rbo@0.9"``, ``"top1"`` and the
        negated loss ``"neg_coverage"``. ``"ap(rel>=2)"`` takes grades of at least 2 as relevant.
        "err" and "rbp" need ``max_grade=`` for grades beyond 0 and 1, so that all folds are on one
        scale. Measures of one list of two classes: ``"auc"``, ``"gini"``, ``"ks"``,
        ``"partial_auc@fpr0.1"``, ``"tpr@fpr0.01"``, ``"local_auc@0.8"``, ``"pnorm@4"``,
        ``"bedroc@20"``, ``"rie@20"``, ``"precision@top0.05"``, ``"smoothed_precision@top0.05"``,
        ``"enrichment@0.01"``, ``"lift@0.1"``, ``"pos@top"``, and the negated losses
        ``"neg_fpr@tpr0.9"``, ``"neg_accuracy_loss@top0.05"`` and ``"neg_negative_height_loss@4"``.
        Other numbers can replace those shown. Names of scikit-learn scorers and measures as
        :func:`get_measure` takes them are allowed too; a loss is negated. For classifiers of more
        than two classes use ``"auc"`` with ``multi_class=``.
    qid : str, bool or None, default=None
        Name under which the scorer requests query ids if metadata routing is enabled. True is
        "qid", False requests none. None is "groups" for means over queries, and requests none for
        other measures.
    single_list : bool, default=False
        Whether all rows are one list, as in binary classification. Such a scorer takes no query
        ids. If False and no ids are passed, a mean over queries warns that all rows are one list,
        and every measure raises an error for an estimator that was fitted to several queries.
    pos_label : int, float, bool, str or None, default=None
        The positive class. None is the ``pos_label`` of the estimator, of the last step of a
        pipeline or of the estimator of a search if it has one; else 1, for labels 0 and 1 or -1
        and 1.
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
        If neither this package nor scikit-learn has a scorer of the name, if ``qid`` is not a
        valid name, or if it is given with ``single_list=True``.
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
    as ``qid``, to the scorer. Without ids all rows are one list, for every measure: means over
    queries then warn with :class:`sklearn_rank.exceptions.SingleListWarning`, because the value of
    many queries scored as one list is a different one. With ids every measure is a mean over
    queries. Measures of one list do not request them, so grouped folds do not change their
    meaning; ``qid="groups"`` requests them.

    The scorer ranks by ``decision_function``, else by ``predict_proba``, else, for estimators that
    are not classifiers, by ``predict``. A classifier that only predicts labels raises an error. If
    the positive class is ``classes_[0]``, the order is reversed. One list with a single label
    raises an error, because all its orders are equally good. For several queries, ``undefined`` of
    the measure sets how queries without a value are counted. With metadata routing enabled,
    ``set_score_request(sample_weight=True)`` or ``query_weight=True`` passes weights to the
    measure and does not change the request of the ids.

    Estimators that score several labels per row are evaluated by the order of the labels in each
    row, averaged over the rows. These are label rankers, which read ``y`` themselves, multi-output
    regressors and multilabel classifiers. For the latter two ``y`` holds grades of shape
    (n_samples, n_labels), with NaN if a row lacks the label. They take no ids, any measure is a
    mean over the rows, and ``sample_weight`` or ``query_weight`` is the weight of each row.

    Errors that affect all candidates raise :class:`sklearn_rank.exceptions.ScorerSetupError`: no
    ids for a ranker that was fitted to several queries, no positive class for labels other than 0
    and 1 or -1 and 1, no scale of the grades. In a search every error of a scorer becomes
    ``error_score`` with a warning, or is raised if ``error_score="raise"``.

    If the estimator, or an estimator inside it, was trained for another share ``tau`` of the top
    than that of the measure, the scorer warns with
    :class:`sklearn_rank.exceptions.OtherTopWarning`.

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

    Average precision of one list, without queries:

    >>> scorer = get_scorer("ap", single_list=True)
    >>> bool(cross_val_score(RidgeClassifier(), X, y, scoring=scorer).min() > 0.97)
    True

    A mean over queries needs query ids:

    >>> model = RidgeClassifier().fit(X, y)
    >>> get_scorer("ndcg@1")(model, X[18:24], y[18:24], qid=list("aaabbb"))
    1.0
    """
    if isinstance(measure, str) and measure in sklearn.metrics.get_scorer_names():
        if parameters or qid is not None or single_list or pos_label is not None:
            raise ValueError(
                f"{measure!r} is a scorer of scikit-learn and takes no parameters here: use"
                " sklearn.metrics.make_scorer."
            )
        return sklearn.metrics.get_scorer(measure)
    name, negated = measure, isinstance(measure, str) and measure.startswith(NEGATED)
    if isinstance(measure, str):
        measure = measure.removeprefix(NEGATED)
    measure = get_measure(measure, **parameters)
    if negated and measure.greater_is_better:
        raise ValueError(
            f"{name!r} is not the name of a scorer: {measure.name} is a score and is not negated;"
            f" use {measure.name!r}."
        )
    if isinstance(name, str) and not negated and not measure.greater_is_better:
        raise ValueError(
            f"{name!r} is a loss, but scorers need greater values to be better: use"
            f" {NEGATED + name!r}, the negated loss."
        )
    if not (qid is None or isinstance(qid, bool | str)):
        raise TypeError(
            "qid must be the name under which ids are passed, True for 'qid' or False for none,"
            f" got {type(qid).__name__}: pass the ids themselves when you call the scorer."
        )
    if isinstance(qid, str) and not qid.isidentifier():
        raise ValueError(f"qid={qid!r} must be a valid keyword name, such as 'groups'.")
    check_flag("single_list", single_list)
    if single_list and qid not in (None, False):
        raise ValueError(
            f"qid={qid!r} requests query ids, but single_list=True takes none: leave out one of"
            " the two."
        )
    kwargs = {} if pos_label is None else {"pos_label": pos_label}
    return RankingScorer(measure, kwargs, qid, single_list)


def get_scorer_names() -> list[str]:
    """Return the names of the scorers of this package.

    Returns
    -------
    list of str
        Sorted names that :func:`get_scorer` takes; the numbers in them are examples.

    See Also
    --------
    get_scorer : Makes a scorer; takes the names of scikit-learn too.

    Examples
    --------
    >>> from sklearn_rank.metrics import get_scorer_names
    >>> get_scorer_names()[:3]
    ['ap', 'ap@10', 'auc']
    """
    return sorted(
        name if get_measure(name).greater_is_better else NEGATED + name
        for name in get_measure_names()
    )
