"""What the rankers of queries share: ids and weights in, scores and positions out."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from .._lists import group_rows
from .._sklearn_compat import check_sample_weight
from .._typing import FloatArray, IntArray
from .._validation import check_qid
from ..exceptions import SingleListWarning
from ..metrics import get_measure, rank_positions
from ._base import Ranker

__all__ = ["QueryRanker", "TrainingLists"]


@dataclass(frozen=True, eq=False)
class TrainingLists:
    """Training rows list by list, those of weight 0 removed.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, n_features)
        Rows.
    y : ndarray of shape (n,)
        Relevance.
    offsets : ndarray of shape (n_lists + 1,)
        Where each list begins, and n.
    weight : ndarray of shape (n,) or None
        Weights of the rows; None is 1 for each.
    query_weight : ndarray of shape (n_lists,)
        Weights of the lists.
    """

    X: Any
    y: FloatArray
    offsets: IntArray
    weight: FloatArray | None
    query_weight: FloatArray

    @property
    def list_of(self) -> IntArray:
        """List of each row."""
        return np.repeat(np.arange(len(self.query_weight)), np.diff(self.offsets))

    def where(self, kept: Any) -> TrainingLists:
        """Keep some lists.

        Parameters
        ----------
        kept : ndarray of bool of shape (n_lists,)
            Which ones.

        Returns
        -------
        TrainingLists
            Those.
        """
        if kept.all():
            return self
        rows = np.flatnonzero(kept[self.list_of])
        return TrainingLists(
            X=self.X[rows],
            y=self.y[rows],
            offsets=np.append(0, np.cumsum(np.diff(self.offsets)[kept])),
            weight=None if self.weight is None else self.weight[rows],
            query_weight=self.query_weight[kept],
        )


class QueryRanker(Ranker, metaclass=ABCMeta):
    """Base of the rankers of queries, whose ``predict`` is a score: neither class nor amount.

    A subclass has a parameter ``measure``, the name of the measure of its :meth:`score`, learns
    ``n_queries_``, and defines ``_scores``.
    """

    # One array groups=... then reaches splitter, fit and score, where routing is enabled.
    __metadata_request__fit = {"qid": "groups"}
    __metadata_request__score = {"qid": "groups"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _scores(self, X: Any) -> FloatArray:
        """Scores of validated rows."""

    def _lists(
        self, X: Any, y: Any, qid: Any, sample_weight: Any, query_weight: Any, *, reset: bool
    ) -> TrainingLists:
        """Check what ``fit`` was given and bring it into lists."""
        X, y = validate_data(
            self, X, y, dtype=np.float64, accept_sparse="csr", y_numeric=True, reset=reset
        )
        if y.dtype.kind not in "biuf":
            raise ValueError(f"y must be numeric, a relevance, got dtype {y.dtype}.")
        y = y.astype(np.float64, copy=False)
        n = len(y)
        if qid is None:
            warnings.warn(
                f"{type(self).__name__} got no qid and took all {n} rows as one list: pass qid=,"
                " one id per row (in a search or pipeline see the user guide on how ids travel),"
                " or qid=0 if one list is meant.",
                SingleListWarning,
                stacklevel=5,
            )
        ids = np.zeros(n, dtype=np.int64)
        if qid is not None and np.ndim(qid) > 0:
            ids = check_qid(qid, n)
        weight = check_sample_weight(sample_weight, X)
        by_row = np.ones(n)
        if query_weight is not None:
            try:
                by_row = check_sample_weight(query_weight, X)
            except ValueError as error:
                message = str(error).replace("sample_weight", "query_weight")
                raise ValueError(message) from None
        rows = np.flatnonzero((weight > 0) & (by_row > 0))
        if len(rows) == 0:
            raise ValueError("No row has positive sample_weight and query_weight: one must count.")
        names, offsets, order = group_rows(ids[rows])
        if order is not None:
            rows = rows[order]
        heads = by_row[rows][offsets[:-1]]
        differs = by_row[rows] != np.repeat(heads, np.diff(offsets))
        if differs.any():
            first = int(np.searchsorted(offsets, np.argmax(differs), "right")) - 1
            raise ValueError(
                f"query_weight differs within the query {names.tolist()[first]!r}: pass one"
                " weight per row that is the same for all rows of a query."
            )
        if len(rows) < n or order is not None:
            X, y = X[rows], y[rows]
        return TrainingLists(
            X=X,
            y=y,
            offsets=offsets,
            weight=None if np.all(weight == 1) else weight[rows],
            query_weight=heads,
        )

    def _warm_start(self, n_features: int) -> FloatArray | None:
        """Coefficients of the last fit, where a fit is to start from them."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        if len(self.coef_) != n_features:
            raise ValueError(
                f"warm_start=True, but X has {n_features} features and the last fit had"
                f" {len(self.coef_)}: pass the same features or warm_start=False."
            )
        return self.coef_

    def predict(self, X: Any) -> FloatArray:
        """Score rows; within a query a higher score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores. They order the rows of one query; those of different queries need not compare.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        return self._scores(X)

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows; the same as :meth:`predict`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores.
        """
        return self.predict(X)

    def rank(self, X: Any, qid: Any = None) -> FloatArray:
        """Find the positions of rows within their queries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row; None is one query.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positions from 1, the top; tied rows share the mean of theirs.
        """
        return rank_positions(self.predict(X), qid=qid)

    def score(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> float:
        """Value of the measure of the ranker, its parameter ``measure``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Relevance.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row; may be left out by a ranker fitted on one list.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each row counts.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of the query of each row.

        Returns
        -------
        float
            Mean over the queries; more is better.

        Raises
        ------
        ValueError
            If the ranker was fitted on several queries and ``qid`` is None.
        """
        check_is_fitted(self)
        if qid is None and self.n_queries_ > 1:
            raise ValueError(
                f"This {type(self).__name__} was fitted on {self.n_queries_} queries, and score"
                " got no qid: pass qid=, one id per row, or qid=0 if all rows are one query."
            )
        if qid is not None and np.ndim(qid) == 0:
            qid = None
        measure = get_measure(self.measure)
        value = measure(
            y,
            self.predict(X),
            qid=qid,
            sample_weight=sample_weight,
            query_weight=query_weight,
        )
        return float(value if measure.greater_is_better else -value)
