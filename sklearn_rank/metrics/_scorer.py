"""Scorers: measures that work in cross-validation and searches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sklearn.metrics
from sklearn.base import is_classifier

from .._sklearn_compat import BaseScorer
from ._names import measure_names, parse_measure

__all__ = [
    "RankingScorer",
    "get_scorer",
    "get_scorer_names",
    "make_ranking_scorer",
    "ranking_scores",
]


class RankingScorer(BaseScorer):
    """Scorer of an ordering; made by :func:`make_ranking_scorer`.

    It ranks by ``decision_function``, else by ``predict_proba`` of the second class, and by
    ``predict`` only where the estimator is no classifier. For a classifier the second class is
    the relevant one, whatever the labels are, unless ``pos_label`` names the first.
    """

    def _score(
        self, method_caller: Callable[..., Any], estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        self._warn_overlap(
            message="A parameter of this scorer is passed as metadata too: pass it once.",
            kwargs=kwargs,
        )
        method = _response_method(estimator)
        arguments = {**self._kwargs, **kwargs}
        y_true = np.asarray(y_true)
        counted = _counted_labels(y_true, arguments.get("sample_weight"))
        if is_classifier(estimator):
            _check_known(counted, estimator)
            positive = arguments.pop("pos_label", None)
            if positive is None:
                positive = estimator.classes_[1]
            y_score = method_caller(estimator, method, X, pos_label=positive)
            y_true = (y_true == positive).astype(int)
        else:
            y_score = method_caller(estimator, method, X)
        if len(counted) and np.all(counted == counted[0]):
            raise ValueError(
                f"All labels are {counted[:1].tolist()[0]!r}, so that no order is better than"
                " another: score rows of different labels; in cross-validation use stratified"
                " folds."
            )
        return float(self._sign * self._score_func(y_true, y_score, **arguments))

    def __repr__(self) -> str:
        arguments = "".join(f", {name}={value!r}" for name, value in self._kwargs.items())
        name = getattr(self._score_func, "__name__", repr(self._score_func))
        return f"make_ranking_scorer({name}{arguments})"


def _function_name(metric: Any) -> str:
    """Name of a function, that of ``f`` for ``functools.partial(f, ...)``, else nothing."""
    while isinstance(metric, partial):
        metric = metric.func
    return getattr(metric, "__name__", "")


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
    values = getattr(estimator, method)(X)
    return values[:, 1] if method == "predict_proba" else values


def _response_method(estimator: Any) -> str:
    methods = ["decision_function", "predict_proba"]
    if not is_classifier(estimator):
        methods.append("predict")
    elif len(estimator.classes_) != 2:
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


def make_ranking_scorer(metric: Callable[..., float], **parameters: Any) -> RankingScorer:
    """Make a scorer of a measure of ``(y_true, y_score)``.

    Parameters
    ----------
    metric : callable
        Function of this module, or any ``metric(y_true, y_score, **parameters)``. One whose name
        ends in ``_loss`` is negated, so that more is better.
    **parameters : dict
        Keyword arguments of the metric.

    Returns
    -------
    RankingScorer
        Callable ``scorer(estimator, X, y)`` for ``scoring=`` in scikit-learn.

    See Also
    --------
    get_scorer : Makes one from a name.
    sklearn.metrics.make_scorer : Hands labels on as they are; takes any response method.

    Notes
    -----
    The scorer ranks by ``decision_function``, else ``predict_proba``, else, for estimators that
    are no classifiers, ``predict``; a classifier that only predicts labels is refused. For a
    classifier, ``classes_[1]`` is the relevant class, unless ``pos_label=classes_[0]`` is given,
    which turns the order round. Rows of one label only are refused: no order of them is better
    than another, and their value would blur the mean over folds. With metadata routing enabled,
    ``set_score_request(sample_weight=True)`` hands weights to the metric.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.metrics import make_ranking_scorer, precision_at_top_score
    >>> scorer = make_ranking_scorer(precision_at_top_score, tau=0.5)
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["bad", "bad", "good", "good"]
    >>> scorer(LogisticRegression().fit(X, y), X, y)
    1.0
    """
    if not callable(metric):
        raise TypeError(f"metric={metric!r} must be a function: for a name use get_scorer.")
    sign = -1 if _function_name(metric).endswith("_loss") else 1
    return RankingScorer(metric, sign, parameters)


def get_scorer(name: str, **parameters: Any) -> Any:
    """Make a scorer from the name of a measure.

    Parameters
    ----------
    name : str
        ``"ap"``, ``"pos@top"``, ``"precision@top0.05"``, ``"accuracy@top0.05"`` (the negated
        loss), ``"dcg"``, ``"dcg@10"``, ``"ndcg"``, ``"ndcg@10"``, with any number for the one
        shown, or a name that scikit-learn knows.
    **parameters : dict
        Further keyword arguments of the measure, such as ``gain="linear"``.

    Returns
    -------
    callable
        Scorer for ``scoring=`` in scikit-learn; more is better.

    Raises
    ------
    ValueError
        If neither this package nor scikit-learn knows the name.

    See Also
    --------
    make_ranking_scorer : Makes one from a function.
    get_scorer_names : The names.

    Notes
    -----
    ``scoring="precision@top0.05"`` as a string is refused by scikit-learn, which knows its own
    names only: pass the scorer.

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
    """
    if name in sklearn.metrics.get_scorer_names():
        if parameters:
            raise ValueError(
                f"{name!r} is scikit-learn's scorer and takes no parameters here: use"
                " sklearn.metrics.make_scorer."
            )
        return sklearn.metrics.get_scorer(name)
    measure = parse_measure(name)
    return make_ranking_scorer(measure.function, **measure.parameters, **parameters)


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
    ['accuracy@top0.05', 'ap', 'dcg']
    """
    return measure_names()
