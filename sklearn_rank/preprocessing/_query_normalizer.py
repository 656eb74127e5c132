"""Normalisation of features within queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._lists import group_rows
from .._sklearn_compat import StrOptions, check_sample_weight, fit_context
from .._typing import FloatArray, IntArray
from .._validation import check_qid, ravelled, validate_data
from .._warn import warn
from ..exceptions import SingleListWarning
from ._moments import centre_and_scale, scaled
from ._shares import SortedList, rank_shares

METHODS = ("zscore", "rank", "minmax")

# Rows from which one list must be said to be one.
MANY_ROWS = 2000

# Values of whole queries that are copied at a time, and sorted at a time.
COPIED, SORTED = 1 << 17, 1 << 16


class QueryNormalizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Standardise features within each query, for learning to rank.

    For the values x of a feature in the rows of a query, the transformed value of row i is

    - "zscore": ``(x_i - mean of x) / standard deviation of x``;
    - "rank": the share of rows with ``x_j < x_i`` minus the share with ``x_j > x_i``, in (-1, 1),
      equal for tied rows;
    - "minmax": ``(x_i - min x) / (max x - min x)``, in [0, 1].

    A feature that is constant within a query becomes 0, for example in a query of one row.

    Parameters
    ----------
    method : {"zscore", "rank", "minmax"}, default="zscore"
        Transformation of the values of a feature within a query. "rank" keeps only their order,
        not their distances; "minmax" depends on the two extremes.
    signed_log : bool, default=False
        Whether to apply ``sign(x) log(1 + |x|)`` first, for counts and lengths, whose large values
        would dominate. It has no effect on "rank".

    Attributes
    ----------
    n_queries_ : int
        Number of queries of ``fit``.
    list_ : SortedList, tuple of ndarray, or None
        If ``fit`` got one query, its sorted values, or centres and scales, by which rows without
        ids are transformed. None if ``fit`` got several queries, from which nothing is learned.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    sklearn_rank.OrderPreservingRanker : Applies it by its parameter ``normalize``.

    Notes
    -----
    The order of the rows of a query depends only on differences within the query. A feature of the
    query itself, such as the number of pages with its words, is constant within the query and
    becomes 0. A feature whose scale differs between queries becomes comparable.

    A query is normalised by its own rows, in ``fit`` and in ``transform``, so that all rows of a
    query must be passed together, with their ids. If ``fit`` got one query, rows without ids are
    transformed by the statistics of that query, as by ``StandardScaler``. From 2000 rows on, one
    query must be requested explicitly by ``qid=0``.

    NaN stays NaN and is ignored in the statistics. Sparse X raises an error, since zeros do not
    stay zeros. Time is O(n_samples n_features), for "rank" times the logarithm of the length of a
    query. In addition to the result, memory is a few blocks of 1 MB, or columns of the longest
    query. ``float32`` input gives ``float32``, computed in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.preprocessing import QueryNormalizer
    >>> X = np.array(
    ...     [[1.0, 10.0], [3.0, 10.0], [100.0, 0.0], [500.0, 8.0], [300.0, 4.0]]
    ... )
    >>> qid = [0, 0, 1, 1, 1]
    >>> QueryNormalizer("minmax").fit_transform(X, qid=qid)
    array([[0. , 0. ],
           [1. , 0. ],
           [0. , 0. ],
           [1. , 1. ],
           [0.5, 0.5]])
    >>> QueryNormalizer("rank").fit_transform(X, qid=qid).round(2)
    array([[-0.5 ,  0.  ],
           [ 0.5 ,  0.  ],
           [-0.67, -0.67],
           [ 0.67,  0.67],
           [ 0.  ,  0.  ]])
    """

    # One array groups=... then reaches it in pipelines and searches, where routing is enabled.
    __metadata_request__fit = {"qid": "groups"}
    __metadata_request__transform = {"qid": "groups"}

    _parameter_constraints = {"method": [StrOptions(set(METHODS))], "signed_log": ["boolean"]}

    def __init__(self, method="zscore", *, signed_log=False):
        self.method = method
        self.signed_log = signed_log

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, *, qid: Any = None, sample_weight: Any = None
    ) -> QueryNormalizer:
        """Check the rows; for a single query, learn its statistics.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row: numbers, strings or any sortable values, in any order.
            None treats all rows as one query, with a warning, or from 2000 rows on raises an
            error. A single number treats all rows as one query without a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. A row of weight 2 counts as two rows, a row of weight
            0 is ignored.

        Returns
        -------
        QueryNormalizer
            The transformer itself.

        Raises
        ------
        ValueError
            If an argument is not valid, or ``qid`` is None for 2000 rows or more.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None.
        """
        before = self.__dict__.copy()
        try:
            self._fit(X, qid, sample_weight)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: Any, qid: Any, sample_weight: Any) -> None:
        X = self._checked(X, reset=True)
        weight = _checked_weight(sample_weight, X)
        if qid is None:
            _warn_of_one_list(type(self).__name__, len(X))
            self.n_queries_ = 1
        else:
            self.n_queries_ = len(group_rows(check_qid(ravelled(qid, "qid"), len(X)))[0])
        self.list_: Any = self._learned(X, weight) if self.n_queries_ == 1 else None

    def _learned(self, X: Any, weight: FloatArray | None) -> Any:
        """Statistics of a single query."""
        values = self._prepared(X)
        if self.method == "rank":
            return SortedList.of(values, weight)
        one, by_extremes = np.array([0, len(X)]), self.method == "minmax"
        return centre_and_scale(values, one, weight, by_extremes=by_extremes)

    def transform(self, X: Any, *, qid: Any = None, sample_weight: Any = None) -> Any:
        """Normalise the features of each query.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows of each query.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row, in any order; a single number if all rows are one query.
            None uses the statistics of the query of ``fit``, if it was a single one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. A row of weight 2 counts as two rows; rows of weight
            0 are transformed by the statistics of the others.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The normalised rows.

        Raises
        ------
        ValueError
            If ``qid`` is None and ``fit`` got several queries.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if qid is None:
            return self._in_fitted_list(X).astype(X.dtype, copy=False)
        weight = _checked_weight(sample_weight, X)
        _, offsets, rows = group_rows(check_qid(ravelled(qid, "qid"), len(X)))
        found = np.empty(X.shape, dtype=X.dtype)
        for lists, columns in _blocks(offsets, X.shape[1]):
            part = slice(offsets[lists.start], offsets[lists.stop])
            taken = part if rows is None else rows[part]
            found[taken, columns] = self._by_list(
                self._prepared(X[taken, columns]),
                offsets[lists.start : lists.stop + 1] - offsets[lists.start],
                None if weight is None else weight[taken],
            )
        return found

    def fit_transform(
        self, X: Any, y: Any = None, *, qid: Any = None, sample_weight: Any = None
    ) -> Any:
        """Fit, and normalise the features of the same rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row, as in :meth:`fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The normalised rows.
        """
        self.fit(X, y, qid=qid, sample_weight=sample_weight)
        return self.transform(X, qid=qid, sample_weight=sample_weight)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            reset=reset,
        )

    def _prepared(self, X: Any) -> FloatArray:
        """A copy in float64, of logarithms where these are asked for."""
        if self.signed_log and self.method != "rank":
            values = np.log1p(np.abs(X, dtype=np.float64))
            return np.copysign(values, X, out=values)
        return np.array(X, dtype=np.float64)

    def _by_list(
        self, values: FloatArray, offsets: IntArray, weight: FloatArray | None
    ) -> FloatArray:
        if self.method == "rank":
            return rank_shares(values, offsets, weight, SORTED)
        by_extremes = self.method == "minmax"
        centre, scale = centre_and_scale(values, offsets, weight, by_extremes=by_extremes)
        return scaled(values, offsets, centre, scale)

    def _in_fitted_list(self, X: Any) -> FloatArray:
        if self.list_ is None:
            raise ValueError(
                f"This {type(self).__name__} was fitted to {self.n_queries_} queries and needs "
                "qid to transform rows: pass qid=, one id per row, with all rows of each query, "
                "or qid=0 if all rows are one query (in a pipeline or search, groups= with "
                "metadata routing enabled)."
            )
        values = self._prepared(X)
        if self.method == "rank":
            return self.list_.shares(values)
        return scaled(values, np.array([0, len(X)]), *self.list_)


def _blocks(offsets: IntArray, n_columns: int) -> Iterator[tuple[slice, slice]]:
    """Whole lists, and columns of them, of which a copy is made at a time."""
    start, n_lists = 0, len(offsets) - 1
    while start < n_lists:
        end = offsets[start] + COPIED // n_columns
        stop = max(start + 1, int(np.searchsorted(offsets, end, "right")) - 1)
        width = max(1, min(n_columns, COPIED // int(offsets[stop] - offsets[start])))
        for first in range(0, n_columns, width):
            yield slice(start, stop), slice(first, first + width)
        start = stop


def _checked_weight(sample_weight: Any, X: Any) -> Any:
    """Weights of rows; None where there are none."""
    if sample_weight is None:
        return None
    return check_sample_weight(ravelled(sample_weight, "sample_weight"), X)


def _warn_of_one_list(name: str, n_rows: int) -> None:
    """Warn that ids are missing; raise an error if there are too many rows for one query."""
    said = (
        f"{name} got no qid for {n_rows} rows: pass qid=, one id per row (in a pipeline or "
        "search, groups= with metadata routing enabled), or qid=0 if all rows are one query."
    )
    if n_rows >= MANY_ROWS:
        raise ValueError(said)
    warn(said, SingleListWarning)
