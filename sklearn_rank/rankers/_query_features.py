"""Base class of rankers that normalise features within each query."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._lists import Lists
from .._sklearn_compat import StrOptions
from .._solvers import Design, as_design, view_design
from .._typing import FloatArray
from .._validation import validate_data
from ..preprocessing import QueryNormalizer
from ..preprocessing._shared import METHODS
from ._blocked_rows import refuse_blocked
from ._query_base import QueryRanker, in_lists

__all__ = ["NORMALIZE_CONSTRAINTS", "NormalizingRanker", "as_normalizer"]

# What the parameter ``normalize`` may be, for scikit-learn's validation.
NORMALIZE_CONSTRAINTS = [None, StrOptions(set(METHODS)), QueryNormalizer]


def as_normalizer(normalize: Any) -> QueryNormalizer | None:
    """Make a normaliser for the parameter ``normalize``."""
    if normalize is None:
        return None
    return QueryNormalizer(normalize) if isinstance(normalize, str) else clone(normalize)


class NormalizingRanker(QueryRanker):
    """Base class of rankers with a parameter ``normalize``.

    ``fit`` obtains its rows from :meth:`_items`, which sets ``normalizer_``.
    """

    normalizer_: QueryNormalizer | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.normalize is None
        return tags

    def _items(self, X: Any, lists: Lists, *, add: bool = False) -> Design:
        """Rows of the lists in their order, with features per query where these are asked for.

        ``add`` keeps the normaliser of earlier batches.
        """
        normalizer = as_normalizer(self.normalize)
        self.normalizer_ = normalizer
        if normalizer is None:
            return view_design(X, lists.rows)
        arguments = {"qid": lists.list_of, "sample_weight": lists.weight}
        items = in_lists(X, lists).astype(np.float64, copy=False)
        items = normalizer.fit_transform(items, **arguments)
        if add:
            normalizer.n_queries_ += self.n_queries_
            normalizer.list_ = None
        return as_design(items)

    def predict(self, X: Any, *, qid: Any = None) -> FloatArray:
        """Predict scores; within a query a greater score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. With ``normalize``, all rows of each query.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. Required with ``normalize`` unless the ranker was fitted
            to one query; without ``normalize`` it has no effect.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores. They order the rows of one query; scores of different queries need not be
            comparable.

        Raises
        ------
        ValueError
            If ``qid`` is None, and the ranker normalises features within queries and was fitted to
            several.
        """
        check_is_fitted(self)
        refuse_blocked(self, X)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        if self.normalizer_ is None:
            return self._scores(X)
        if qid is None and self.normalizer_.list_ is None:
            raise self._needs_ids("normalises features within each query")
        return self._scores(self.normalizer_.transform(X, qid=qid))
