"""Scorers: measures that work in cross-validation and searches."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

import numpy as np
import sklearn.metrics
from sklearn.base import is_classifier

from .._sklearn_compat import BaseScorer, cached_call
from ._names import is_per_query, measure_names, parse_measure

__all__ = [
    "RankingScorer",
    "get_scorer",
    "get_scorer_names",
    "make_ranking_scorer",
    "ranking_scores",
]

METHODS: tuple[str, ...] = ("decision_function", "predict_proba", "predict")


class _OfScores:
    """A metric for the scorer alone: others who call it, as a search for thresholds, pass labels.

    Parameters
    ----------
    metric : callable
        The metric, whose signature this has.
    """

    __wrapped__: Callable[..., Any]

    def __init__(self, metric: Callable[..., Any]) -> None:
        update_wrapper(self, metric)

    def __call__(self, *args: Any, **kwargs: Any) -> float:
        raise TypeError(
            f"{_function_name(self.__wrapped__)} is a measure of an order, which a threshold does"
            " not change, and was to be called on predicted labels: pass scoring= a measure of"
            " labels."
        )


class RankingScorer(BaseScorer):
    """Scorer of an ordering; made by :func:`make_ranking_scorer`.

    It ranks by ``decision_function``, else by ``predict_proba`` of the second class, and by
    ``predict`` only where the estimator is no classifier. For a classifier the second class is
    the relevant one, whatever the labels are, unless ``pos_label`` names the first.

    Parameters
    ----------
    score_func : callable
        Metric of ``(y_true, y_score)``.
    sign : int
        1 for a score, -1 for a loss.
    kwargs : dict
        Keyword arguments of the metric.
    qid : str, bool or None
        As in :func:`make_ranking_scorer`.
    single_list : bool
        As in :func:`make_ranking_scorer`.
    """

    def __init__(
        self,
        score_func: Callable[..., Any],
        sign: int,
        kwargs: dict[str, Any],
        qid: str | bool | None,
        single_list: bool,
    ) -> None:
        super().__init__(_OfScores(score_func), sign, kwargs, response_method=METHODS)
        self._metric = score_func
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
            elif qid is None and is_per_query(_innermost(self._metric)):
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
        _check_taken(self._metric, kwargs)
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
        """Score an estimator.

        Parameters
        ----------
        estimator : object
            Fitted estimator.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y_true : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row, the rows in any order.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of the query of each row.
        **metadata : dict
            What else the metric takes. What the scorer asks for under another name, as it does
            for ``qid`` under ``groups``, can be passed under that name too. ``groups`` that it
            does not ask for are those of a splitter, and not looked at.

        Returns
        -------
        float
            The value of the metric, negated for a loss.
        """
        metadata |= {"sample_weight": sample_weight, "qid": qid, "query_weight": query_weight}
        given = {name: value for name, value in metadata.items() if value is not None}
        return self._score(partial(cached_call, None), estimator, X, y_true, **self._named(given))

    def _named(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """Metadata under the names of the metric's arguments.

        A search over many measures hands the scorer that it refits by what any of them asked for,
        under the names of the caller.
        """
        requests = self._get_metadata_request().score.requests
        named = dict(metadata)
        for name, alias in requests.items():
            if isinstance(alias, str) and alias in metadata:
                value = named.pop(alias)
                if metadata.get(name, value) is not value:
                    raise ValueError(
                        f"{name} was passed as {name} and as {alias}, which the scorer takes for"
                        " it: leave out one of the two."
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
        method = _response_method(estimator)
        arguments = {**self._kwargs, **kwargs}
        has_queries = arguments.get("qid") is not None
        self._check_queries(has_queries)
        y_true = np.asarray(y_true)
        counted = _counted_labels(y_true, arguments.get("sample_weight"))
        if is_classifier(estimator):
            _check_known(counted, estimator)
            positive = arguments.pop("pos_label", None)
            if positive is None:
                positive = estimator.classes_[1]
            # Where many scorers share one call of the estimator, scikit-learn remembers the scores
            # under the name of the method, whichever class they are of. Under a name in a tuple
            # they are those of the second class, and of no other scorer.
            if positive == estimator.classes_[1]:
                y_score = method_caller(estimator, (method,), X, pos_label=positive)
            else:
                y_score = cached_call(None, estimator, method, X, pos_label=positive)
            y_true = (y_true == positive).astype(int)
        else:
            y_score = _one_score_a_row(method_caller(estimator, method, X), estimator, method)
        # Of many queries the metric itself knows which ones have no value.
        if not has_queries and len(counted) and np.all(counted == counted[0]):
            raise ValueError(
                f"All labels are {counted[:1].tolist()[0]!r}, so that no order is better than"
                " another: score rows of different labels; in cross-validation use stratified"
                " folds."
            )
        value = self._metric(y_true, y_score, **arguments)
        if np.ndim(value) != 0:
            raise ValueError(
                f"{_function_name(self._metric)} gave {len(value)} values, but a score is one"
                " number: leave out average=None and return_qid=True."
            )
        return float(self._sign * value)

    def _check_queries(self, given: bool) -> None:
        name = _function_name(self._metric)
        if self._single_list and given:
            raise ValueError(
                f"qid was passed to a scorer of {name} that was built with single_list=True, for"
                " rows that are one list: leave out one of the two."
            )
        if self._single_list or given:
            return
        request = self._get_metadata_request().score.requests.get("qid")
        if is_per_query(_innermost(self._metric)) or request not in (None, False):
            alias = request if isinstance(request, str) else "qid"
            raise ValueError(
                f"{name} is a mean over queries, but its scorer got no qid: pass qid=, one id per"
                f" row, where you call it; in a search pass fit(..., {alias}=...), in"
                f" cross-validation params={{{alias!r}: ...}}, after"
                " sklearn.set_config(enable_metadata_routing=True); or build it with"
                " single_list=True if all rows are one list."
            )

    def __repr__(self) -> str:
        shown = dict(self._kwargs)
        if self._qid is not None:
            shown["qid"] = self._qid
        if self._single_list:
            shown["single_list"] = True
        arguments = "".join(f", {name}={value!r}" for name, value in shown.items())
        name = getattr(self._metric, "__name__", repr(self._metric))
        return f"make_ranking_scorer({name}{arguments})"


def _innermost(metric: Any) -> Any:
    """The function ``f`` of ``functools.partial(f, ...)``."""
    while isinstance(metric, partial):
        metric = metric.func
    return metric


def _function_name(metric: Any) -> str:
    metric = _innermost(metric)
    return getattr(metric, "__name__", type(metric).__name__)


def _check_taken(metric: Callable[..., Any], names: Any) -> None:
    """Refuse arguments that the metric does not take, rather than in each fold of a search."""
    try:
        parameters = inspect.signature(metric).parameters.values()
    except (TypeError, ValueError):
        raise TypeError(
            f"{metric!r} does not say which arguments it takes: pass a function"
            " (y_true, y_score) that calls it."
        ) from None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    # The first two are y_true and y_score, whatever they are called.
    taken = [parameter.name for parameter in parameters][2:]
    for name in names:
        if name not in taken:
            raise TypeError(
                f"{_function_name(metric)} takes no argument {name!r}: it takes"
                f" {', '.join(taken) or 'none'}."
            )


def _counted_labels(y_true: np.ndarray[Any, Any], sample_weight: Any) -> np.ndarray[Any, Any]:
    """Labels of the rows that count; all of them where the metric will refuse the weights."""
    weight = None if sample_weight is None else np.asarray(sample_weight)
    if weight is None or weight.shape != y_true.shape or weight.dtype.kind not in "biuf":
        return y_true
    return y_true[weight != 0]


def _check_known(labels: np.ndarray[Any, Any], estimator: Any) -> None:
    classes = estimator.classes_
    unknown = ~np.logical_or(labels == classes[0], labels == classes[1])
    if unknown.any():
        raise ValueError(
            f"y has the label {labels[unknown].tolist()[0]!r}, but {type(estimator).__name__} was"
            f" fitted on {classes.tolist()}: pass the labels that it knows."
        )


def ranking_scores(estimator: Any, X: Any) -> Any:
    """Scores by which an estimator ranks rows, as its scorers see them.

    Parameters
    ----------
    estimator : object
        Fitted estimator.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    ndarray of shape (n_samples,)
        The scores.
    """
    method = _response_method(estimator)
    return _one_score_a_row(getattr(estimator, method)(X), estimator, method)


def _one_score_a_row(values: Any, estimator: Any, method: str) -> Any:
    if method != "predict_proba" or np.ndim(values) != 2:
        return values
    if np.shape(values)[1] != 2:
        raise ValueError(
            f"{type(estimator).__name__}.predict_proba has {np.shape(values)[1]} columns, but a"
            " ranking has two classes: fit one class against the rest."
        )
    return np.asarray(values)[:, 1]


def _response_method(estimator: Any) -> str:
    methods = METHODS[:2] if is_classifier(estimator) else METHODS
    if is_classifier(estimator) and len(estimator.classes_) != 2:
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {len(estimator.classes_)} classes, but a"
            " ranking has two: fit one class against the rest."
        )
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise AttributeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba: its labels"
        " give no order; use an estimator that scores."
    )


def make_ranking_scorer(
    metric: Callable[..., float],
    *,
    qid: str | bool | None = None,
    single_list: bool = False,
    **parameters: Any,
) -> RankingScorer:
    """Make a scorer of a measure of ``(y_true, y_score)``.

    Parameters
    ----------
    metric : callable
        Function of this module, or any ``metric(y_true, y_score, **parameters)``. One whose name
        ends in ``_loss`` is negated, so that more is better.
    qid : str, bool or None, default=None
        Under which name the scorer asks for the ids of the queries where metadata routing is
        enabled: a str is that name, True is "qid", False is never. None is "groups" for measures
        that are means over queries, and nothing for others.
    single_list : bool, default=False
        Whether all rows are one list. Such a scorer asks for no ids, and takes none.
    **parameters : dict
        Keyword arguments of the metric.

    Returns
    -------
    RankingScorer
        Callable ``scorer(estimator, X, y, qid=None, sample_weight=None, query_weight=None)``, for
        ``scoring=`` in scikit-learn.

    Raises
    ------
    TypeError
        If the metric is no function or does not take a parameter.
    ValueError
        If ``qid`` is no name, or is given for a single list.

    See Also
    --------
    get_scorer : Makes one from a name.
    sklearn.metrics.make_scorer : Hands labels on as they are; takes any response method.

    Notes
    -----
    Means over queries are :func:`dcg_score`, :func:`ndcg_score`, :func:`positional_score`,
    :func:`precision_at_k_score`, :func:`recall_at_k_score`, :func:`average_precision_score`,
    :func:`spearman_score`, and every metric for which ``qid`` is given here. Their scorers refuse
    to score without ids, because many queries scored as one list are another number. Other
    measures do not ask for ids, so that grouped folds leave their meaning as it is.

    The scorer ranks by ``decision_function``, else ``predict_proba``, else, for estimators that
    are no classifiers, ``predict``; a classifier that only predicts labels is refused. For a
    classifier, ``classes_[1]`` is the relevant class, unless ``pos_label=classes_[0]`` is given,
    which turns the order round. One list with one label is refused: no order of it is better than
    another, and its value would blur the mean over folds. Of many queries the metric's
    ``undefined`` says what those without a value count. With metadata routing enabled,
    ``set_score_request(sample_weight=True)`` or ``query_weight=True`` hands weights to the metric
    and leaves the request of the ids as it is.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.metrics import make_ranking_scorer, ndcg_score, precision_at_top_score
    >>> scorer = make_ranking_scorer(precision_at_top_score, tau=0.5)
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["bad", "bad", "good", "good"]
    >>> model = LogisticRegression().fit(X, y)
    >>> scorer(model, X, y)
    1.0

    A mean over queries needs their ids:

    >>> make_ranking_scorer(ndcg_score, k=1)(model, X, y, qid=["a", "b", "a", "b"])
    1.0
    """
    if not callable(metric):
        raise TypeError(f"metric={metric!r} must be a function: for a name use get_scorer.")
    _check_request(qid, single_list)
    _check_taken(metric, [*parameters, *(["qid"] if qid not in (None, False) else [])])
    sign = -1 if _function_name(metric).endswith("_loss") else 1
    return RankingScorer(metric, sign, parameters, qid, single_list)


def _check_request(qid: Any, single_list: Any) -> None:
    if not (qid is None or isinstance(qid, bool | str)):
        raise TypeError(
            "qid must be the name under which ids are passed, True for 'qid', or False for never,"
            f" got {type(qid).__name__}: pass the ids themselves where you call the scorer."
        )
    if isinstance(qid, str) and not qid.isidentifier():
        raise ValueError(f"qid={qid!r} must be a name that can be a keyword, such as 'groups'.")
    if not isinstance(single_list, bool):
        raise TypeError(f"single_list={single_list!r} must be True or False.")
    if single_list and qid not in (None, False):
        raise ValueError(
            f"qid={qid!r} asks for the ids of queries, and single_list=True says that there is"
            " one: leave out one of the two."
        )


def get_scorer(
    name: str, *, qid: str | bool | None = None, single_list: bool = False, **parameters: Any
) -> Any:
    """Make a scorer from the name of a measure.

    Parameters
    ----------
    name : str
        Means over queries: ``"ndcg"``, ``"ndcg@10"``, ``"dcg"``, ``"dcg@10"``, ``"precision@5"``,
        ``"recall@20"``, ``"ap"``, ``"ap@10"``, ``"rr"``, ``"rr@10"``, ``"err"``, ``"err@10"``,
        ``"rbp@0.8"``, ``"spearman"``; pass ``max_grade=`` with the graded "err" and "rbp" in a
        search, else it is that of each fold. Measures of one list of two classes: ``"auc"``,
        ``"local_auc@0.8"``, ``"pnorm@4"``, ``"bedroc@20"``, ``"precision@top0.05"``,
        ``"accuracy@top0.05"`` (the negated loss), ``"pos@top"``. With any number for the one
        shown; or a name that scikit-learn knows.
    qid : str, bool or None, default=None
        Under which name the scorer asks for the ids of the queries; see
        :func:`make_ranking_scorer`.
    single_list : bool, default=False
        Whether all rows are one list, as in the classification of two classes. Without it, a mean
        over queries refuses to score without ids.
    **parameters : dict
        Further keyword arguments of the measure, such as ``gain="linear"``.

    Returns
    -------
    callable
        Scorer for ``scoring=`` in scikit-learn; more is better.

    Raises
    ------
    ValueError
        If neither this package nor scikit-learn knows the name, or ``qid`` is no name.
    TypeError
        If the measure does not take a parameter.

    See Also
    --------
    make_ranking_scorer : Makes one from a function.
    get_scorer_names : The names.

    Notes
    -----
    ``scoring="precision@top0.05"`` as a string is refused by scikit-learn, which knows its own
    names only: pass the scorer. Means over queries reach cross-validation and searches with
    ``sklearn.set_config(enable_metadata_routing=True)``: ``groups`` is then handed to the splitter
    and, as ``qid``, to the scorer.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_rank.metrics import get_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scores = cross_val_score(RidgeClassifier(), X, y, scoring=get_scorer("precision@top0.1"))
    >>> scores.min()
    np.float64(1.0)

    Average precision of one list, not of queries:

    >>> scorer = get_scorer("ap", single_list=True)
    >>> bool(cross_val_score(RidgeClassifier(), X, y, scoring=scorer).min() > 0.97)
    True
    """
    if name in sklearn.metrics.get_scorer_names():
        if parameters or qid is not None or single_list:
            raise ValueError(
                f"{name!r} is scikit-learn's scorer and takes no parameters here: use"
                " sklearn.metrics.make_scorer."
            )
        return sklearn.metrics.get_scorer(name)
    measure = parse_measure(name)
    for parameter in measure.parameters.keys() & parameters.keys():
        raise TypeError(
            f"{parameter}={parameters[parameter]!r} is said by the name {name!r} already: leave"
            " out one of the two."
        )
    return make_ranking_scorer(
        measure.function, qid=qid, single_list=single_list, **measure.parameters, **parameters
    )


def get_scorer_names() -> list[str]:
    """Return the names of the measures of this package that :func:`get_scorer` takes.

    Returns
    -------
    list of str
        Sorted names; numbers in them are examples.

    See Also
    --------
    get_scorer : Makes a scorer; takes scikit-learn's names too.

    Examples
    --------
    >>> from sklearn_rank.metrics import get_scorer_names
    >>> get_scorer_names()[:3]
    ['accuracy@top0.05', 'ap', 'ap@10']
    """
    return measure_names()
