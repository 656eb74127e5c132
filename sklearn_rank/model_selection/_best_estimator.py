"""Prediction methods that a search delegates to its best estimator."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray

__all__ = ["BestEstimatorMixin"]


def _of_best(name: str) -> Any:
    """Let a method exist where the estimator has it."""

    def check(search: Any) -> bool:
        # The AttributeError names what is missing.
        best = getattr(search, "best_estimator_", None)
        for one in search._estimators() if best is None else [best]:
            getattr(one, name)
        return True

    return available_if(check)


class BestEstimatorMixin:
    """Methods and attributes of ``best_estimator_``, as far as it has them."""

    estimator: Any
    best_estimator_: Any
    n_splits_: int
    scorer_: Any

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score the predictions of ``best_estimator_`` by the measure.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels or grades.
        **params : dict
            ``groups``, the query id of each row, for a mean over queries.

        Returns
        -------
        float
            The value of the measure; a greater value is better.
        """
        self._check_has_best()
        if sklearn.get_config()["enable_metadata_routing"]:
            params = process_routing(self, "score", **params).scorer.score
        return self.scorer_(self.best_estimator_, X, y, **params)

    @_of_best("predict")
    def predict(self, X: Any) -> AnyArray:
        """Predict with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions of ``best_estimator_``.
        """
        self._check_has_best()
        return self.best_estimator_.predict(X)

    @_of_best("predict_proba")
    def predict_proba(self, X: Any) -> AnyArray:
        """Predict class probabilities with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probability of each class.
        """
        self._check_has_best()
        return self.best_estimator_.predict_proba(X)

    @_of_best("predict_log_proba")
    def predict_log_proba(self, X: Any) -> AnyArray:
        """Predict logarithms of class probabilities with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Logarithm of the probability of each class.
        """
        self._check_has_best()
        return self.best_estimator_.predict_log_proba(X)

    @_of_best("decision_function")
    def decision_function(self, X: Any) -> AnyArray:
        """Compute decision values with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Decision values; a higher value ranks a row nearer to the top.
        """
        self._check_has_best()
        return self.best_estimator_.decision_function(X)

    @_of_best("rank")
    def rank(self, X: Any, qid: Any = None) -> AnyArray:
        """Compute the rank of each row within its query with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        qid : array-like of shape (n_samples,), default=None
            Query id of each row, in any order. None means one query.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ranks from 1, the top.
        """
        self._check_has_best()
        return self.best_estimator_.rank(X, qid=qid)

    def _check_has_best(self) -> None:
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"This {type(self).__name__} has no best_estimator_: with refit=False and"
                f" {self.n_splits_} held-out parts there is one model per part, in"
                " fold_estimators_."
            )

    @property
    def classes_(self) -> AnyArray:
        """Class labels, if the estimator is a classifier."""
        return self._of_fitted("classes_")

    @property
    def n_features_in_(self) -> int:
        """Number of features, if the estimator provides it."""
        return self._of_fitted("n_features_in_")

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the features, if the estimator was fitted to a data frame."""
        return self._of_fitted("feature_names_in_")

    def _of_fitted(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"{type(self).__name__} has no {name} without a fitted best_estimator_."
            )
        return getattr(self.best_estimator_, name)
