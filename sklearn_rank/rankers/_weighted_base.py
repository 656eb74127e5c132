"""Weighted fits of a user-supplied estimator, and its scores as log-odds."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor

from .._sklearn_compat import BaseSearchCV
from .._typing import FloatArray
from .._warn import told_once
from ..metrics._shared import ranking_scores, response_method

__all__ = ["fit_with_weights", "log_odds", "log_odds_of_probabilities", "weight_argument"]

# Probabilities of 0 and 1 have no logarithm of their odds.
LEAST_PROBABILITY = 1e-12


def weight_argument(estimator: Any, *, regressors: bool = False) -> str:
    """Find the argument of ``fit`` by which an estimator takes weights of rows."""
    is_learner = hasattr(estimator, "fit") and not isinstance(estimator, type)
    if not (is_learner and (is_classifier(estimator) or (regressors and is_regressor(estimator)))):
        kind = "neither a classifier nor a regressor" if regressors else "not a classifier"
        raise TypeError(
            f"{estimator!r} is {kind}: pass a classifier, such as LogisticRegression()."
        )
    if getattr(estimator, "steps", None):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_argument(last, regressors=regressors)}"
    if isinstance(estimator, BaseSearchCV):
        return weight_argument(estimator.estimator, regressors=regressors)
    parameters = signature(estimator.fit).parameters
    # Ensembles pass on all arguments.
    if "sample_weight" not in parameters and not any(
        parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()
    ):
        raise TypeError(
            f"{estimator!r} has no fit(X, y, sample_weight=), which is needed to weight rows: "
            "pass a classifier that takes weights, such as LogisticRegression() or "
            "HistGradientBoostingClassifier()."
        )
    return "sample_weight"


def fit_with_weights(
    estimator: Any, X: Any, y: Any, weight: FloatArray | None, **fit_params: Any
) -> Any:
    """Fit a clone of an estimator to weighted rows."""
    given = {} if weight is None else {weight_argument(estimator, regressors=True): weight}
    # The weights are computed for this estimator, so that no metadata request is needed.
    with config_context(enable_metadata_routing=False), told_once():
        return clone(estimator).fit(X, y, **given, **fit_params)


def log_odds(estimator: Any, X: Any, positive: Any) -> FloatArray:
    """Scores of rows by a fitted classifier, by which the positives are on top. Shape (n,)."""
    if response_method(estimator) == "predict_proba":
        return log_odds_of_probabilities(estimator, X, positive)
    return np.asarray(ranking_scores(estimator, X, positive), dtype=np.float64)


def log_odds_of_probabilities(estimator: Any, X: Any, positive: Any) -> FloatArray:
    """Logarithms of the odds of rows by the probabilities of a fitted classifier. Shape (n,)."""
    columns = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    share = columns[:, int(estimator.classes_[1] == positive)]
    return logit(np.clip(share, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))
