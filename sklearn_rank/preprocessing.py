"""Preprocessing for rankers: scaling of features within queries, orders of labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._lists import group_rows, treat_as_one_list
from ._on_first_use import on_first_use
from ._order import tied_blocks
from ._sklearn_compat import StrOptions, fit_context
from ._typing import ArrayPair, FloatArray, IntArray
from ._validation import check_qid, check_sample_weight, ravelled, refuse_misread, validate_data

if TYPE_CHECKING:
    from ._label_rankings import label_grades

__all__ = ["QueryNormalizer", "label_grades"]

__getattr__, __dir__ = on_first_use(__name__, {"_label_rankings": ["label_grades"]})


METHODS = ("zscore", "rank", "minmax")

# Values of whole queries that are copied at a time: few enough to stay in the cache.
COPIED = 1 << 15


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
    list_ : tuple of ndarray or None
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
    A query is normalised by its own rows, in ``fit`` and in ``transform``, so that all rows of a
    query must be passed together, with their ids. If ``fit`` got one query, rows without ids are
    transformed by the statistics of that query, as by ``StandardScaler``.

    NaN stays NaN and is ignored in the statistics. Sparse X raises an error, since zeros do not
    stay zeros. Time is O(n_samples n_features), for "rank" times the logarithm of the length of a
    query. In addition to the result, memory is a few blocks of 256 kB, or columns of the longest
    query. ``float32`` input gives ``float32``, computed in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.preprocessing import QueryNormalizer
    >>> X, qid = np.array([[1.0], [3.0], [100.0], [500.0], [200.0]]), [0, 0, 1, 1, 1]
    >>> QueryNormalizer("minmax").fit_transform(X, qid=qid).ravel()
    array([0.  , 1.  , 0.  , 1.  , 0.25])
    >>> QueryNormalizer("rank").fit_transform(X, qid=qid).ravel().round(2)
    array([-0.5 ,  0.5 , -0.67,  0.67,  0.  ])
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
    def fit(self, X: Any, y: Any = None, *, qid: Any = None, sample_weight: Any = None) -> Self:
        """Check the rows; for a single query, learn its statistics.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row: numbers, strings or any sortable values, in any order.
            None treats all rows as one query, with a warning, and in a search raises an error.
            A single number treats all rows as one query without a warning.
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
            If an argument is not valid, or ``qid`` is None in a search or cross-validation.

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
        refuse_misread(X=X, qid=qid, sample_weight=sample_weight)
        X = self._checked(X, reset=True)
        weight = _checked_weight(sample_weight, X)
        if qid is None:
            treat_as_one_list(f"{type(self).__name__} got no qid for {len(X)} rows", "pass qid=0")
            self.n_queries_ = 1
        else:
            self.n_queries_ = len(group_rows(check_qid(ravelled(qid, "qid"), len(X)))[0])
        self.list_: Any = None
        self._learned = self.method, self.signed_log
        if self.n_queries_ == 1:
            values = self._prepared(X)
            if self.method == "rank":
                self.list_ = _sorted_list(values, weight)
            else:
                self.list_ = _centre_and_scale(values, np.array([0, len(X)]), weight, self.method)

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
        refuse_misread(X=X, qid=qid, sample_weight=sample_weight)
        X, (method, _) = self._checked(X, reset=False), self._learned
        if qid is None:
            if self.list_ is None:
                raise ValueError(
                    f"This {type(self).__name__} was fitted to {self.n_queries_} queries and needs"
                    " qid to transform rows: pass qid=, one id per row, with all rows of each"
                    " query, or qid=0 if all rows are one query (in a pipeline or search, groups="
                    " with metadata routing enabled)."
                )
            values = self._prepared(X)
            if method == "rank":
                values = _shares_among(values, *self.list_)
            else:
                _scale(values, np.array([0, len(X)]), *self.list_)
            return values.astype(X.dtype, copy=False)
        weight = _checked_weight(sample_weight, X)
        _, offsets, rows = group_rows(check_qid(ravelled(qid, "qid"), len(X)))
        result = np.empty(X.shape, dtype=X.dtype)
        for lists, columns in _blocks(offsets, X.shape[1]):
            part = slice(offsets[lists.start], offsets[lists.stop])
            block = part if rows is None else rows[part]
            values = self._prepared(X[block, columns])
            within = offsets[lists.start : lists.stop + 1] - offsets[lists.start]
            weights = None if weight is None else weight[block]
            if method == "rank":
                values = _rank_shares(values, within, weights)
            else:
                _scale(values, within, *_centre_and_scale(values, within, weights, method))
            result[block, columns] = values
        return result

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
        dtypes = [np.float64, np.float32]
        return validate_data(self, X, dtype=dtypes, ensure_all_finite="allow-nan", reset=reset)

    def _prepared(self, X: Any) -> FloatArray:
        """A copy in float64, of logarithms where these are asked for."""
        method, signed_log = self._learned
        if signed_log and method != "rank":
            values = np.log1p(np.abs(X, dtype=np.float64))
            return np.copysign(values, X, out=values)
        return np.array(X, dtype=np.float64)


def _blocks(offsets: IntArray, n_columns: int) -> Iterator[tuple[slice, slice]]:
    """Slices of whole lists, and of columns, that are copied at a time."""
    start, n_lists = 0, len(offsets) - 1
    while start < n_lists:
        end = offsets[start] + COPIED // n_columns
        stop = max(start + 1, int(np.searchsorted(offsets, end, "right")) - 1)
        width = max(1, min(n_columns, COPIED // int(offsets[stop] - offsets[start])))
        for first in range(0, n_columns, width):
            yield slice(start, stop), slice(first, first + width)
        start = stop


def _checked_weight(sample_weight: Any, X: Any) -> Any:
    if sample_weight is None:
        return None
    return check_sample_weight(sample_weight, X)


def _centre_and_scale(
    values: FloatArray, offsets: IntArray, weight: FloatArray | None, method: str
) -> ArrayPair:
    """Mean and deviation, or minimum and range, of the columns of each list."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    counted = values
    if weight is not None and not weight.all():
        counted = np.where((weight > 0)[:, np.newaxis], values, np.nan)
    # These two leave NaN out.
    low = np.fmin.reduceat(counted, starts, axis=0)
    with np.errstate(over="ignore"):
        width = np.fmax.reduceat(counted, starts, axis=0) - low
    if np.isinf(width).any():
        column = int(np.argmax(np.isinf(width).any(axis=0)))
        raise ValueError(
            f"The values of feature {column} within one query differ by more than 1.8e308: "
            "divide the feature by a constant."
        )
    width[width == 0] = np.inf
    if method == "minmax":
        return low, width
    # In units of the width nothing overflows, and equal values are 0 exactly.
    unit = counted - np.repeat(low, lengths, axis=0)
    unit /= np.repeat(width, lengths, axis=0)
    missing = np.isnan(unit)
    if weight is None and not missing.any():
        total = lengths[:, np.newaxis].astype(np.float64)
        share = None
    else:
        share = np.where(missing, 0.0, 1.0 if weight is None else weight[:, np.newaxis])
        unit[missing] = 0.0
        total = np.add.reduceat(share, starts, axis=0)
        total[total == 0] = np.nan
    mean = _sums(unit, share, starts) / total
    unit -= np.repeat(mean, lengths, axis=0)
    unit *= unit
    deviation = np.sqrt(_sums(unit, share, starts) / total)
    with np.errstate(invalid="ignore"):
        centre, scale = low + width * mean, width * deviation
    equal = np.isinf(width)
    centre[equal] = low[equal]
    # Values that differ by no more than the rounding of their mean are equal.
    rounding = lengths[:, np.newaxis] * np.finfo(np.float64).eps * np.abs(centre)
    scale[equal | (scale <= rounding)] = np.inf
    return centre, scale


def _sums(values: FloatArray, share: FloatArray | None, starts: IntArray) -> FloatArray:
    return np.add.reduceat(values if share is None else values * share, starts, axis=0)


def _scale(values: FloatArray, offsets: IntArray, centre: FloatArray, scale: FloatArray) -> None:
    """Subtract the centres of the lists and divide by their scales; 0 where nothing is known."""
    lengths = np.diff(offsets)
    unknown = np.isnan(centre)
    if unknown.any():
        centre, scale = np.where(unknown, 0.0, centre), np.where(unknown, np.inf, scale)
    values -= np.repeat(centre, lengths, axis=0)
    values /= np.repeat(scale, lengths, axis=0)


def _sorted_list(values: FloatArray, weight: FloatArray | None) -> ArrayPair:
    """Columns of one list, ascending with NaN last, and the weight below each place of them."""
    order = np.argsort(values, axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    share = np.ones(order.shape) if weight is None else weight[order]
    share[np.isnan(ordered)] = 0.0
    return ordered, np.concatenate((np.zeros((1, values.shape[1])), np.cumsum(share, axis=0)))


def _shares_among(values: FloatArray, ordered: FloatArray, weight_below: FloatArray) -> FloatArray:
    """Rank new rows within a sorted list."""
    shares = np.empty(values.shape)
    for j, (column, below) in enumerate(zip(ordered.T, weight_below.T, strict=True)):
        first, end = (np.searchsorted(column, values[:, j], side) for side in ("left", "right"))
        shares[:, j] = (below[first] + below[end] - below[-1]) / (below[-1] or 1.0)
    shares[np.isnan(values)] = np.nan
    return shares


def _rank_shares(values: FloatArray, offsets: IntArray, weight: FloatArray | None) -> FloatArray:
    """Rank the rows of each list, in each column. Shape (n, n_columns)."""
    n, n_columns = values.shape
    # Each column of a list is a list of its own.
    columns = values.T.ravel()
    missing = np.isnan(columns)
    offsets = np.append(np.add.outer(n * np.arange(n_columns), offsets[:-1]).ravel(), len(columns))
    counts = np.where(missing, 0, 1 if weight is None else np.tile(weight, n_columns))
    blocks = tied_blocks(np.where(missing, -np.inf, columns), offsets)
    mass = blocks.totals(counts)
    above = blocks.running(mass)
    total, list_of = blocks.list_totals(mass), blocks.list_of()
    # 0 if all values of the list are missing
    share = total[list_of] - above - (above - mass)
    share = blocks.to_items(share / np.where(total > 0, total, 1)[list_of])
    share[missing] = np.nan
    return share.reshape(n_columns, n).T
