"""LightGBM, XGBoost and CatBoost as rankers of queries."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from .._lists import LabelType, Lists
from .._optional import import_optional
from .._sklearn_compat import HasMethods, StrOptions, fit_context
from .._typing import AnyArray, FloatArray
from .._validation import hint_of_adaboost, refuse_missing_labels, validate_data
from ..metrics import get_measure
from ..metrics._shared import check_fixed_scale
from ._blocked_rows import refuse_blocked
from ._boosting_backends import refuse_unknown_parameters
from ._fitting import forget, restored_on_error
from ._group_boosters import CatBoost, GroupBooster, Stopping, booster_of, unfitted
from ._grouped_rows import GroupedRows, ValidationScores, grouped_rows, ordered_by_content
from ._query_base import MEASURE_CONSTRAINTS, QueryRanker
from ._query_holdout import EARLY_STOPPING_CONSTRAINTS, check_validation_data, held_out_lists
from ._row_keys import is_frame

__all__ = ["GroupRankerAdapter"]

# Grades of any sign; the library checks them.
GRADES = LabelType("graded", lowest=-np.inf, name="y")


class GroupRankerAdapter(QueryRanker):
    r"""Adapt LGBMRanker, XGBRanker or CatBoostRanker to query ids, searches and pipelines.

    These libraries require the rows of a query to be consecutive, and take different arguments:
    ``LGBMRanker`` takes group sizes, ``XGBRanker`` and ``CatBoostRanker`` take ids; weights belong
    to rows, queries or groups. The adapter takes ids of any type in any order (``qid``, or
    ``groups`` with metadata routing), sorts the rows and translates the weights. It scores and
    stops early by any measure of this package. All of them can then be used in searches, pipelines
    and cross-validation like :class:`OrderPreservingRanker`.

    Parameters
    ----------
    estimator : estimator or None, default=None
        ``LGBMRanker``, ``XGBRanker``, ``CatBoostRanker`` or a subclass; or any estimator whose
        ``fit`` takes ``group_id``, ``qid`` or ``group`` (sizes); the first of these in its
        signature is used. None is ``LGBMRanker()``. The estimator is cloned.
    measure : str, Measure or function, default="ndcg"
        Measure for :meth:`score` and ``early_stopping``: any value that
        :func:`~sklearn_rank.metrics.get_measure` takes. It does not change the loss of the
        estimator.
    early_stopping : bool, default=False
        Whether to stop when ``measure`` on held-out queries no longer improves. The estimator sets
        the maximum number of rounds.
    validation_fraction : float or int, default=0.1
        Share (float in (0, 1)) or number (int) of the queries held out for early stopping if
        ``fit`` gets no ``X_val``.
    n_iter_no_change : int, default=20
        Number of rounds without improvement after which the fit stops, at least 1.
    random_state : int, RandomState or None, default=None
        Seed for drawing the held-out queries. The estimator has its own seed.
    row_order : {"content", "given"}, default="content"
        Order in which queries and their rows are passed to the estimator. "content" sorts by
        hashes of their values, so that the model does not depend on the order of the rows or on
        the ids. "given" takes queries as they appear and keeps the order of the rows of a query.
        The order affects the model, because all scores are tied at the start and the libraries
        break ties by position. Options that read positions or time from the order of the rows,
        ``lambdarank_unbiased`` of XGBoost and ``has_time`` of CatBoost, require "given".
    single_list : bool, default=False
        Whether all rows belong to one query. ``fit`` then takes no ``qid``.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    best_iteration_ : int
        Number of rounds (trees) used for scoring, for the three libraries.
    validation_score_ : ndarray of shape (n_rounds,)
        Value of ``measure`` on the validation queries after each round; greater is better. Only
        with ``early_stopping``.
    stopping_measure_ : str
        Name of the measure of ``validation_score_``.
    n_queries_ : int
        Number of queries of the fit, held-out ones included.
    training_queries_ : object
        Hashes of up to 100,000 ids of these queries, and digests of their labels. :meth:`score`
        and scorers use them to warn when training queries are scored.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    OrderPreservingRanker : Linear ranker with a loss calibrated for the measure.
    RankSVM : Linear ranker with the hinge loss of pairs.

    Notes
    -----
    **Weights.** ``query_weight`` goes to LightGBM as the weight of each row of the query, to
    XGBoost as the weight of the query, to CatBoost as ``group_weight``. None of them has row
    weights that count as repetition: LightGBM multiplies the gradient of the row only, CatBoost
    ignores them for pairwise losses with a message, and XGBoost has none. Rows are therefore
    repeated according to ``sample_weight``, which must consist of whole numbers.

    **Grades.** Grades that the library does not accept raise an error that names a remedy:
    LightGBM takes whole grades below the length of ``label_gain`` (31), XGBoost whole grades up to
    31 unless ``ndcg_exp_gain=False``.

    **Early stopping.** All three libraries evaluate ``measure`` itself, averaged over the orders
    of tied rows (LightGBM's own NDCG takes tied rows in their given order). The ``metric`` of the
    estimator is not evaluated.

    ``X`` is passed to the estimator unchanged except for the order of its rows. Categorical
    columns, sparse matrices, float32 and missing values are available if the library takes them.
    The number and names of the features are checked. LightGBM and CatBoost print nothing and
    CatBoost writes no files, unless the estimator's parameters request it. The estimator sets the
    number of threads.

    Sorting takes O(n_samples (n_features + log n_samples)) time and the memory of a copy of ``X``.

    Examples
    --------
    >>> from lightgbm import LGBMRanker
    >>> from sklearn_rank import GroupRankerAdapter
    >>> from sklearn_rank.datasets import make_subset_ranking
    >>> X, y, qid = make_subset_ranking(60, n_items=8, return_X_y=True, random_state=0)
    >>> ids = [f"query {q}" for q in qid]
    >>> booster = LGBMRanker(n_estimators=20, num_leaves=4, n_jobs=1)
    >>> ranker = GroupRankerAdapter(booster, measure="ndcg@5").fit(X, y, qid=ids)
    >>> ranker.score(X, y, qid=ids) > 0.8
    True
    """

    _parameter_constraints = {
        **QueryRanker._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "measure": MEASURE_CONSTRAINTS,
        **EARLY_STOPPING_CONSTRAINTS,
        "row_order": [StrOptions({"content", "given"})],
    }

    def __init__(
        self,
        estimator=None,
        *,
        measure="ndcg",
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=20,
        random_state=None,
        row_order="content",
        single_list=False,
    ):
        self.estimator = estimator
        self.measure = measure
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.row_order = row_order
        self.single_list = single_list

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        if self.estimator is not None and not booster_of(self.estimator).is_known:
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _fresh(self) -> GroupBooster:
        """An unfitted copy of the estimator."""
        if self.estimator is None:
            return booster_of(import_optional("lightgbm", type(self).__name__).LGBMRanker())
        return booster_of(unfitted(self.estimator))

    def __sklearn_clone__(self) -> GroupRankerAdapter:
        bare = copy(self)
        bare.estimator = None
        cloned = super(GroupRankerAdapter, bare).__sklearn_clone__()
        cloned.estimator = None if self.estimator is None else unfitted(self.estimator)
        return cloned

    # The estimator checks its own parameters.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        qid_val: Any = None,
    ) -> GroupRankerAdapter:
        """Sort the rows by query and fit the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Relevance, as the estimator takes it.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row: numbers, strings or any sortable values, in any order.
            None treats up to 2,000 rows as one query, with a warning. A single number, or
            ``single_list=True``, treats any number of rows as one query without a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times each row counts, whole numbers; rows of weight 0 are ignored.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query; queries
            of weight 0 are ignored.
        X_val : {array-like, sparse matrix, DataFrame} of shape (n_val, n_features), default=None
            Validation rows for early stopping, instead of held-out queries.
        y_val : array-like of shape (n_val,), default=None
            Relevance of the validation rows.
        qid_val : array-like of shape (n_val,), default=None
            Query ids of the validation rows.

        Returns
        -------
        GroupRankerAdapter
            The ranker itself.

        Raises
        ------
        TypeError
            If ``fit`` of the estimator takes no groups or query ids.
        ValueError
            If the estimator does not take the grades, ``sample_weight`` is not whole, the
            estimator does not weight queries, it cannot stop early or has early stopping set as
            well, most queries have one row, or ``qid`` is missing for more than 2,000 rows.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        UndefinedMetricWarning
            If ``measure`` is undefined for some of the validation queries.
        """
        with restored_on_error(self):
            booster = self._fresh()
            booster.ids_argument()
            refuse_unknown_parameters(booster.estimator)
            booster.check_order(self.row_order)
            if sample_weight is not None:
                booster.check_weights(np.asarray(sample_weight))
            is_given = check_validation_data(
                self.early_stopping, X_val, y_val=y_val, qid_val=qid_val
            )
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            X, lists = self._ordered_lists(X, y, qid, weights)
            booster.check_labels(lists.grade)
            booster.check_rows(X, of_fit=True)
            self._store_queries(lists)
            forget(self, "validation_score_", "stopping_measure_", "best_iteration_")
            stopping = None
            if self.early_stopping:
                booster.check_stopping()
                if is_given:
                    X_val, held = self._ordered_lists(X_val, y_val, qid_val, {}, reset=False)
                    booster.check_rows(X_val, of_fit=False)
                else:
                    is_held = held_out_lists(lists, self.validation_fraction, self.random_state)
                    X_val, held, lists = X, lists.only(is_held), lists.only(~is_held)
                stopping = self._stopping(grouped_rows(X_val, held))
            booster.fit(grouped_rows(X, lists), stopping)
            self.estimator_ = booster.estimator
            if stopping is not None:
                self.validation_score_ = np.array(stopping.scores.values)
            n_rounds = booster.n_rounds()
            if n_rounds is not None:
                self.best_iteration_ = n_rounds
        return self

    def _ordered_lists(
        self, X: Any, y: Any, qid: Any, weights: dict[str, Any], *, reset: bool = True
    ) -> tuple[Any, Lists]:
        """Rows as they came, and their lists in the order in which they are handed on."""
        X, lists = self._lists(X, y, qid, weights, labels=GRADES, reset=reset)
        if not lists.whole.all():
            raise ValueError(
                "sample_weight is not whole, and boosted rankers take no row weights that count "
                "as repetition: pass whole numbers, or query_weight=, the weight of the query "
                "of each row." + hint_of_adaboost(np.sum(weights["sample_weight"]))
            )
        return X, ordered_by_content(X, lists) if self.row_order == "content" else lists

    def _stopping(self, rows: GroupedRows) -> Stopping:
        measure = get_measure(self.measure)
        check_fixed_scale(measure, rows.labels)
        self.stopping_measure_ = measure.name
        return Stopping(rows, ValidationScores(measure, rows), self.n_iter_no_change)

    def _checked_labelled(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, AnyArray]:
        refuse_blocked(self, X)
        if y is None or is_frame(X):
            validate_data(self, X, y, reset=reset, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=reset, **self._array_checks(self.estimator))
        check_consistent_length(X, y)
        refuse_missing_labels(y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        return X, y.astype(np.float64) if y.dtype.kind == "O" else y

    def _checked_rows(self, X: Any) -> Any:
        refuse_blocked(self, X)
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        return validate_data(self, X, reset=False, **self._array_checks(self.estimator_))

    def _array_checks(self, estimator: Any) -> dict[str, Any]:
        """How arrays are checked; the estimator checks values, and frames."""
        # CatBoost takes strings in object arrays.
        has_words = isinstance(booster_of(estimator), CatBoost)
        return {
            "dtype": None if has_words else "numeric",
            "accept_sparse": "csr",
            "ensure_all_finite": False,
        }

    def _scores(self, X: Any) -> FloatArray:
        booster = booster_of(self.estimator_)
        booster.check_rows(X, of_fit=False)
        return np.asarray(booster.predict(X), dtype=np.float64)

    @property
    def feature_importances_(self) -> FloatArray:
        """Feature importances of the estimator's default kind.

        Returns
        -------
        ndarray of shape (n_features,)
            Importance of each feature.
        """
        check_is_fitted(self)
        return booster_of(self.estimator_).importances()
