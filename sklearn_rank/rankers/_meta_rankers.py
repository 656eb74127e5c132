"""Rankers that fit others to folds of queries: parameters by cross-validation, and ensembles."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.optimize
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, check_cv
from sklearn.utils import Bunch, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._lists import LabelType, Lists
from .._sklearn_compat import StrOptions, fit_context
from .._solvers import as_design
from .._typing import FloatArray, IntArray
from .._warn import told_once
from ..calibration._shared import positional_form, utilities_of
from ..exceptions import CalibrationWarning
from ..losses import TemplateLoss
from ..metrics import Measure, get_measure
from ..metrics._shared import call_with_metadata, metadata_for, scores_with_ids
from ..preprocessing import QueryNormalizer
from ._base import (
    in_parallel,
    restored_on_error,
    row_keys,
    store_parameters,
)
from ._linear_base import NORMALIZE_CONSTRAINTS, NormalizingRanker, as_normalizer
from ._linear_rankers import OrderPreservingRanker
from ._list_base import (
    QueryRanker,
    check_held_out_weights,
    in_lists,
    standardised_utilities,
    weights_of,
)
from ._members import NamedMembers
from ._two_classes import Fold, of_taken_rows


def query_folds(cv: Any, items: Any, lists: Lists, n_rows: int) -> list[Fold]:
    """Folds of lists, or of the rows of one list with equal rows in one fold."""
    cv = 5 if cv is None else cv
    groups = lists.list_of
    if isinstance(cv, int | np.integer):
        if lists.n_lists == 1:
            distinct, place = np.unique(row_keys(items, lists.labels), return_inverse=True)
            # Fewer folds where the rows are enough, but not different.
            n_folds = min(int(cv), max(2, len(distinct))) if len(groups) >= cv else int(cv)
            held_out = [np.isin(place, test) for _, test in KFold(n_folds).split(distinct)]
            return [(np.flatnonzero(~test), np.flatnonzero(test)) for test in held_out]
        if lists.n_lists < cv:
            raise ValueError(
                f"cv={cv} needs at least {cv} queries, but there are {lists.n_lists}: pass more "
                "queries or a smaller cv."
            )
        return list(GroupKFold(int(cv)).split(groups, groups=groups))
    if lists.rows is not None:
        cv = of_taken_rows(cv, lists.rows, n_rows)
    folds = list(check_cv(cv).split(groups, lists.labels, groups))
    for train, test in folds:
        shared = np.intersect1d(groups[train], groups[test])
        if len(shared) and lists.n_lists > 1:
            raise ValueError(
                f"cv splits {len(shared)} queries, such as {lists.name_of(int(shared[0]))}, "
                "between training and test parts: pass an int, or a splitter that keeps groups "
                "whole."
            )
    return folds


# From a penalty that leaves only the direction of the gradient to almost none.
ALPHAS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)


class OrderPreservingRankerCV(NormalizingRanker):
    """OrderPreservingRanker with penalty, loss and scaling chosen by cross-validation.

    For each loss, each normalisation of features and each fold of whole queries, it fits a path of
    :class:`OrderPreservingRanker` from the strongest penalty to the weakest, and scores the
    held-out queries by the measure. The setting with the best mean score is refitted to all rows.

    Parameters
    ----------
    losses : str, TemplateLoss or sequence of these, default="softmax"
        The losses to choose from.
    alphas : array-like of float, default=(100, 30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01)
        Strengths of the penalty to choose from, greater than 0, as multiples of the ``"scale"`` of
        :class:`OrderPreservingRanker`, so that they are comparable across losses and list lengths.
    normalize : None, {"zscore", "rank", "minmax"}, QueryNormalizer or sequence of these, \
default="zscore"
        Normalisations of features within queries to choose from. If one other than None is chosen,
        :meth:`predict` needs ``qid``.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
        Measure that selects the setting, defines the utilities, and is computed by :meth:`score`.
    cv : int, splitter, iterable or None, default=None
        Folds of whole queries: their number, a splitter that takes groups, or pairs of training
        and test indices. None is 5.
    tol : float, default=1e-6
        Tolerance on the norm of the gradient in the final fit, relative to the norm at 0. The path
        uses 1e-4.
    max_iter : int, default=200
        Maximum number of iterations of a fit.
    single_list : bool, default=False
        Whether all rows belong to one query. ``fit`` then takes no ``qid``, and folds split the
        rows.
    n_jobs : int or None, default=None
        Number of paths fitted in parallel. None is 1, -1 uses all cores.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_features,)
        The chosen penalty of each coefficient, as in :class:`OrderPreservingRanker`.
    best_params_ : dict
        The chosen ``loss``, ``alpha`` (with the unit ``*scale``) and ``normalize``.
    best_score_ : float
        Mean of the measure over held-out queries for the chosen setting. As the greatest of
        several means it is optimistic.
    cv_results_ : dict of list and ndarray
        ``params`` and ``mean_test_score`` of all candidates, and ``test_scores`` of shape
        (n_candidates, n_folds).
    estimator_ : OrderPreservingRanker
        The ranker fitted to all rows.
    coef_ : ndarray of shape (n_features,)
        Its coefficients.
    intercept_ : float
        Its intercept.
    normalizer_ : QueryNormalizer or None
        Normalises the features within each query.
    training_queries_ : object
        Record of the training queries, by which :meth:`score` and scorers warn of them.
    n_queries_ : int
        Number of queries that were used.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    RankEnsemble : Averages rankers; use it when no loss is clearly better than the others.

    Notes
    -----
    There are ``n_losses * n_normalizations * n_folds`` paths, each of about two fits, since a fit
    starts from the previous solution. Among candidates with equal scores the first is chosen,
    which has the stronger penalty. Nothing is random.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank import OrderPreservingRankerCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> qid = np.repeat(np.arange(20), 10)
    >>> y = rng.binomial(3, 1 / (1 + np.exp(-X[:, 0])))
    >>> ranker = OrderPreservingRankerCV(alphas=[10, 1, 0.1], measure="ndcg@5")
    >>> ranker = ranker.fit(X, y, qid=qid)
    >>> ranker.best_params_["loss"], ranker.cv_results_["mean_test_score"].shape
    ('softmax', (3,))
    """

    _parameter_constraints = {
        "losses": [str, TemplateLoss, list, tuple],
        "alphas": ["array-like"],
        "normalize": [*NORMALIZE_CONSTRAINTS, list, tuple],
    }

    def __init__(
        self,
        losses="softmax",
        *,
        alphas=ALPHAS,
        normalize="zscore",
        measure="ndcg",
        cv=None,
        tol=1e-6,
        max_iter=200,
        single_list=False,
        n_jobs=None,
    ):
        store_parameters(locals())

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> OrderPreservingRankerCV:
        """Choose penalty, loss and normalisation by cross-validation and refit to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are accepted only without normalisation.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row: numbers, strings or any sortable values, in any order.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. A row of weight 2 counts as two rows, a row of weight
            0 is ignored.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.

        Returns
        -------
        OrderPreservingRankerCV
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, there are fewer queries than folds, or ``cv`` splits a
            query.
        """
        with restored_on_error(self):
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            labels = LabelType("graded", name="y")
            X, lists = self._lists(X, y, qid, weights, labels=labels)
            check_held_out_weights(get_measure(self.measure), lists)
            items, alphas = in_lists(X, lists), self._strengths()
            folds = query_folds(self.cv, items, lists, X.shape[0])
            metadata = _metadata(lists, lists.weight)
            candidates, scores = self._paths(items, lists, metadata, folds, alphas)
            mean = _mean_scores(scores, lists, folds)
            best = int(np.argmax(mean))
            chosen = self._ranker(**candidates[best], tol=self.tol)
            self.estimator_ = chosen.fit(items, lists.grade, **metadata)
            self.coef_, self.intercept_ = chosen.coef_, chosen.intercept_
            self.normalizer_, self.alpha_ = chosen.normalizer_, chosen.alpha_
            self.best_params_, self.best_score_ = candidates[best], float(mean[best])
            self.cv_results_ = {
                "params": candidates,
                "mean_test_score": mean,
                "test_scores": scores,
            }
            self._store_queries(lists)
        return self

    def _strengths(self) -> list[str]:
        alphas = np.asarray(self.alphas, dtype=np.float64)
        if alphas.ndim != 1 or not len(alphas) or not np.all((alphas > 0) & np.isfinite(alphas)):
            raise ValueError(
                "alphas must contain at least one number, all greater than 0, got "
                f"{self.alphas!r}."
            )
        return [f"{alpha:g}*scale" for alpha in sorted(set(alphas.tolist()), reverse=True)]

    def _paths(
        self,
        items: Any,
        lists: Lists,
        metadata: dict[str, Any],
        folds: list[Fold],
        alphas: list[str],
    ) -> tuple[list[dict[str, Any]], FloatArray]:
        measure = get_measure(self.measure)
        candidates: list[dict[str, Any]] = []
        tasks = []
        for normalize in _several(self.normalize):
            normalizer = as_normalizer(normalize)
            rows = items
            if normalizer is not None:
                rows = normalizer.fit_transform(
                    items, qid=lists.list_of, sample_weight=lists.weight
                )
            for loss in _several(self.losses):
                candidates += [
                    {"loss": loss, "alpha": alpha, "normalize": normalize} for alpha in alphas
                ]
                path = self._ranker(loss=loss).set_params(warm_start=True), alphas
                tasks += [
                    delayed(_scores_of_path)(*path, rows, lists.grade, metadata, fold, measure)
                    for fold in folds
                ]
        scores = np.array(Parallel(n_jobs=self.n_jobs)(tasks))
        # Path by path: its folds, and in each the scores of its penalties.
        scores = scores.reshape(-1, len(folds), len(alphas))
        return candidates, scores.swapaxes(1, 2).reshape(len(candidates), len(folds))

    def _ranker(self, **params: Any) -> OrderPreservingRanker:
        params = {"tol": max(self.tol, 1e-4), **params}
        return OrderPreservingRanker(measure=self.measure, max_iter=self.max_iter, **params)

    def _scores(self, X: Any) -> FloatArray:
        return as_design(X).scores(self.coef_) + self.intercept_


def _several(choices: Any) -> list[Any]:
    if isinstance(choices, list | tuple):
        if not choices:
            raise ValueError("losses and normalize must each contain at least one value.")
        return list(choices)
    return [choices]


def _mean_scores(scores: FloatArray, lists: Lists, folds: list[Fold]) -> FloatArray:
    weight = weights_of(lists)
    held_out = np.array([weight[np.unique(lists.list_of[test])].sum() for _, test in folds])
    # A fold in which the measure is undefined is ignored for all candidates.
    defined = ~np.isnan(scores).any(axis=0)
    if not defined.any():
        raise ValueError(
            "The measure is undefined for all queries of every fold: pass more queries that "
            "contain both relevant and other rows."
        )
    return scores[:, defined] @ held_out[defined] / held_out[defined].sum()


def _metadata(lists: Lists, sample_weight: FloatArray | None) -> dict[str, Any]:
    weight = lists.query_weight
    by_item = None if weight is None else lists.to_items(weight)
    return {"qid": lists.list_of, "sample_weight": sample_weight, "query_weight": by_item}


def _metadata_at(metadata: dict[str, Any], items: IntArray) -> dict[str, Any]:
    return {name: None if values is None else values[items] for name, values in metadata.items()}


def _scores_of_path(
    ranker: OrderPreservingRanker,
    alphas: list[str],
    X: Any,
    y: FloatArray,
    metadata: dict[str, Any],
    fold: Fold,
    measure: Measure,
) -> list[float]:
    """Scores of a held-out fold along a path, each fit from where the last one ended."""
    train, test = fold
    of_train, of_test = (_metadata_at(metadata, part) for part in fold)
    X_train, X_test, scores = X[train], X[test], []
    ranker = clone(ranker)
    for alpha in alphas:
        ranker.set_params(alpha=alpha)
        with warnings.catch_warnings():
            # The fit to all rows issues these warnings.
            for category in (CalibrationWarning, ConvergenceWarning):
                warnings.simplefilter("ignore", category)
            ranker.fit(X_train, y[train], **of_train)
        value = measure(y[test], ranker.predict(X_test), **of_test)
        scores.append(float(value if measure.greater_is_better else -value))
    return scores


# How the scores of one member are made comparable with those of others.
FUSIONS = ("zscore", "rank", "minmax", "reciprocal_rank")

# Positions that are added before reciprocals are taken; Cormack, Clarke and Büttcher (2009).
ADDED = 60.0


# Scores that differ by less than this share of the greatest of the training rows are level.
EQUAL = 2.0**-30


class Fusion:
    """Scores of members, each on one scale within each query."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.normalizer = QueryNormalizer("rank" if name == "reciprocal_rank" else name)

    def fit(self, scores: FloatArray, qid: Any, sample_weight: Any) -> Fusion:
        """Learn the statistics of the scores of a single list; nothing for several lists."""
        largest = np.abs(scores).max(axis=0, initial=0.0, where=np.isfinite(scores))
        self.step = np.where(largest > 0, largest, 1.0) * EQUAL
        self.normalizer.fit(self._rounded(scores), qid=qid, sample_weight=sample_weight)
        self.n_rows = len(scores) if sample_weight is None else sample_weight.sum()
        return self

    def _rounded(self, scores: FloatArray) -> FloatArray:
        """Scores to be ranked, the same for equal rows wherever they are in a matrix."""
        if self.normalizer.method != "rank":
            return scores
        return np.rint(scores / self.step)

    def values(self, scores: FloatArray, qid: Any, sample_weight: Any = None) -> FloatArray:
        """Scores on one scale. Shape (n_samples, n_members)."""
        scores = self._rounded(scores)
        values = self.normalizer.transform(scores, qid=qid, sample_weight=sample_weight)
        if self.name != "reciprocal_rank":
            return values
        if qid is None:
            length: Any = self.n_rows
        else:
            _, code = np.unique(np.broadcast_to(np.ravel(qid), len(scores)), return_inverse=True)
            length = np.bincount(code, sample_weight)[code][:, np.newaxis]
        # The share below less the share above is a linear function of the position.
        position = (length + 1.0 - length * values) / 2.0
        return 1.0 / (ADDED + position)


def fitted_weights(values: FloatArray, lists: Lists) -> FloatArray:
    """Weights of members, from 0 and of sum 1, by which their mean is nearest to the utilities.

    They minimise the mean over the queries of the mean over their rows of ``(values w - v)**2``,
    with the utilities v standardised within each query.
    """
    target = standardised_utilities(lists)[:, np.newaxis]
    by_list = 1.0 / lists.sizes
    if lists.query_weight is not None:
        by_list = by_list * lists.query_weight
    root = np.sqrt(lists.to_items(by_list / lists.n_lists) * lists.counts)[:, np.newaxis]
    # With weights of sum 1 the residual is linear, and the nearest point to 0 of the hull of the
    # members' residuals is, but for its length, the solution with a further row of ones.
    residual = root * (values - target)
    gram = residual.T @ residual + 1.0
    factor = np.linalg.cholesky(gram + 1e-12 * np.trace(gram) * np.eye(len(gram)))
    ones = np.linalg.solve(factor, np.ones(len(gram)))
    weights, _ = scipy.optimize.nnls(factor.T, ones)
    return weights / weights.sum()


# Losses of the rankers that are averaged where no others are given.
LOSSES = ("pairwise_logistic", "pairwise_squared", "pointwise_squared", "softmax")


class RankEnsemble(NamedMembers, QueryRanker):
    """Ensemble of rankers: weighted mean of scores standardised within each query.

    Each member is fitted to all rows. Its scores are standardised within each query, and the score
    of a row is the weighted mean of the standardised scores over the members.

    Parameters
    ----------
    estimators : list of (str, estimator) or None, default=None
        Names and members: rankers of queries, pipelines, and regressors or classifiers, which are
        fitted without ids. The score of a classifier is ``decision_function`` or
        ``predict_proba``, or with more than two classes the expected class. None is an
        :class:`OrderPreservingRanker` with ``alpha="scale"`` and ``normalize="zscore"`` for each
        of the losses "pairwise_logistic", "pairwise_squared", "pointwise_squared" and "softmax".
    weights : {"equal", "fitted"} or array-like of shape (n_members,), default="equal"
        Weights of the members: equal, fitted, or non-negative numbers. "fitted" minimises the
        squared distance between the weighted mean score and the utilities defined by ``measure``,
        standardised within queries, over non-negative weights of sum 1. The scores of a query come
        from members fitted without it, in ``cv`` folds of whole queries.
    fusion : {"zscore", "rank", "minmax", "reciprocal_rank"}, default="zscore"
        Scale of the scores: as in :class:`sklearn_rank.preprocessing.QueryNormalizer`, or
        ``1 / (60 + position)`` for "reciprocal_rank".
    measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
        The measure that :meth:`score` computes; fitted weights use its utilities. The default
        members (``estimators=None``) use it as well.
    cv : int, splitter, iterable or None, default=5
        Folds of whole queries for fitted weights: their number, a splitter that takes groups, or
        pairs of training and test indices. None is 5.
    single_list : bool, default=False
        Whether all rows belong to one query. ``fit`` then takes no ``qid``.
    n_jobs : int or None, default=None
        Number of fits in parallel. None is 1, -1 uses all cores.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    named_estimators_ : Bunch
        The fitted members, by name.
    weights_ : ndarray of shape (n_members,)
        Weights of the members, with sum 1.
    fusion_ : object
        Scales the scores of the members.
    training_queries_ : object
        Record of the training queries, by which :meth:`score` and scorers warn of them.
    n_queries_ : int
        Number of queries that were used.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    OrderPreservingRankerCV : Chooses one ranker by cross-validation.
    sklearn.ensemble.VotingRegressor : Averages predictions of regressors.

    Notes
    -----
    Scores are standardised over the rows that are scored together, so pass all rows of a query
    with their ids. An ensemble fitted to one query scales rows without ids by the statistics of
    that query.

    For fitted weights, members score held-out rows without weights: a member that normalises
    features within queries counts each held-out row once.

    X may contain NaN if every member takes it, such as boosted trees and pipelines with an
    imputer.

    Members get X as an array without feature names, and ``qid``, ``sample_weight`` and
    ``query_weight`` if their ``fit`` takes them; pipelines get what their steps request. Weights
    that a member does not take raise an error.

    The time is that of the fits of the members, or ``cv + 1`` times as much with fitted weights.
    Nothing is random except within members.

    References
    ----------
    .. [1] Cormack, G. V., Clarke, C. L. A. and Büttcher, S. (2009). Reciprocal rank fusion
       outperforms Condorcet and individual rank learning methods. SIGIR, equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from sklearn_rank import OrderPreservingRanker, RankEnsemble
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> qid = np.repeat(np.arange(20), 10)
    >>> y = rng.binomial(3, 1 / (1 + np.exp(-X[:, 0])))
    >>> ensemble = RankEnsemble(
    ...     [
    ...         ("linear", OrderPreservingRanker(normalize="zscore", alpha=0.1)),
    ...         ("trees", HistGradientBoostingRegressor(max_iter=5)),
    ...     ],
    ...     weights=[2, 1],
    ...     measure="ndcg@5",
    ... ).fit(X, y, qid=qid)
    >>> ensemble.score(X, y, qid=qid).__round__(2)
    0.81
    """

    _parameter_constraints = {
        "estimators": [list, None],
        "weights": [StrOptions({"equal", "fitted"}), "array-like"],
        "fusion": [StrOptions(set(FUSIONS))],
    }
    _sparse = False
    _example = '[("linear", OrderPreservingRanker()), ("trees", regressor)]'

    def __init__(
        self,
        estimators=None,
        *,
        weights="equal",
        fusion="zscore",
        measure="ndcg",
        cv=5,
        single_list=False,
        n_jobs=None,
    ):
        store_parameters(locals())

    @property
    def _finite(self) -> bool | str:
        return True if self.estimators is None else "allow-nan"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimators is not None:
            tags.input_tags.allow_nan = all(
                isinstance(pair, tuple)
                and isinstance(pair[-1], BaseEstimator)
                and get_tags(pair[-1]).input_tags.allow_nan
                for pair in self.estimators
            )
        return tags

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> RankEnsemble:
        """Fit the members, and the weights if ``weights="fitted"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row, sortable, in any order. None treats up to 2,000 rows as
            one query, with a warning; a number, or ``single_list=True``, any number of rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. A row of weight 2 counts as two rows, a row of weight
            0.5 as half a row, a row of weight 0 is ignored.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.

        Returns
        -------
        RankEnsemble
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, a member does not take weights that are given, or there
            are fewer queries than folds.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        """
        with restored_on_error(self):
            get_measure(self.measure)
            names, members = self._members()
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            X, lists = self._lists(X, y, qid, weights, labels=LabelType("graded", name="y"))
            n_rows, X = len(X), in_lists(X, lists)
            # Weights where some were given.
            metadata = _metadata(lists, None if sample_weight is None else lists.counts)
            for name, member in zip(names, members, strict=True):
                _check_weights(name, member, metadata)
            self.weights_ = self._weights(members, X, lists, metadata, n_rows)
            calls = ((member, X, lists.grade, metadata) for member in members)
            self.estimators_ = in_parallel(self.n_jobs, _fit, calls)
            self.named_estimators_ = Bunch(**dict(zip(names, self.estimators_, strict=True)))
            # Members scale the rows of a single query by its statistics from fit, with weights.
            ids = None if lists.n_lists == 1 else lists.list_of
            scores = _member_scores(self.estimators_, X, ids)
            self.fusion_ = Fusion(self.fusion).fit(scores, lists.list_of, lists.weight)
            self._store_queries(lists)
        return self

    def predict(self, X: Any, *, qid: Any = None) -> FloatArray:
        """Predict scores; within a query a greater score is nearer to the top.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows of each query.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. Optional if the ensemble was fitted to one query, whose
            statistics then scale the rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Weighted means of the scaled scores of the members.

        Raises
        ------
        ValueError
            If ``qid`` is None and the ensemble was fitted to several queries.
        """
        check_is_fitted(self)
        X = self._checked_rows(X)
        if qid is None and self.n_queries_ > 1:
            raise self._needs_ids(f"was fitted to {self.n_queries_} queries")
        scores = _member_scores(self.estimators_, X, qid)
        return self.fusion_.values(scores, qid) @ self.weights_

    def _scores(self, X: Any) -> FloatArray:
        return self.predict(X)

    def _members(self) -> tuple[list[str], list[Any]]:
        if self.estimators is None:
            return list(LOSSES), [
                OrderPreservingRanker(
                    loss, measure=self.measure, alpha="scale", normalize="zscore", tol=1e-9
                )
                for loss in LOSSES
            ]
        return self._checked_members()

    def _weights(
        self, members: list[Any], X: Any, lists: Lists, metadata: dict[str, Any], n_rows: int
    ) -> FloatArray:
        given = self._given_weights(len(members))
        if given is not None:
            return given
        folds = query_folds(self.cv, X, lists, n_rows)
        if np.any(np.bincount(np.concatenate([test for _, test in folds])) != 1) or (
            sum(len(test) for _, test in folds) != len(X)
        ):
            raise ValueError(
                "cv must hold out every query exactly once for weights='fitted': pass an int, "
                "or a splitter whose test parts together contain all rows."
            )
        y = lists.grade
        calls = ((member, X, y, metadata, fold) for member in members for fold in folds)
        parts = in_parallel(self.n_jobs, _held_out_scores, calls)
        scores = np.empty((len(X), len(members)))
        for i, part in enumerate(parts):
            member, fold = divmod(i, len(folds))
            scores[folds[fold][1], member] = part
        fusion = Fusion(self.fusion).fit(scores, lists.list_of, lists.weight)
        utilities = utilities_of(positional_form(self.measure)[0], lists)
        lists = lists.with_labels(np.where(np.isnan(utilities), 0.0, utilities))
        return fitted_weights(fusion.values(scores, lists.list_of, lists.weight), lists)


def _check_weights(name: str, member: Any, metadata: dict[str, Any]) -> None:
    for weight in ("sample_weight", "query_weight"):
        values = metadata[weight]
        if values is not None and not metadata_for(member, "fit", **{weight: values}):
            raise ValueError(
                f"The member {name!r}, {type(member).__name__}, takes no {weight}: leave out the "
                "weights or the member, or request the weights in a step of its pipeline by "
                f"set_fit_request({weight}=True), with metadata routing enabled."
            )


def _fit(member: Any, X: Any, y: FloatArray, metadata: dict[str, Any]) -> Any:
    with told_once():
        return call_with_metadata(clone(member), "fit", X, y, **metadata)


def _held_out_scores(
    member: Any, X: Any, y: FloatArray, metadata: dict[str, Any], fold: Fold
) -> FloatArray:
    train, test = fold
    of_train = _metadata_at(metadata, train)
    ids = metadata["qid"][test] if metadata["qid"].any() else None
    return scores_with_ids(_fit(member, X[train], y[train], of_train), X[test], ids)


def _member_scores(members: list[Any], X: Any, qid: Any) -> FloatArray:
    return np.column_stack([scores_with_ids(member, X, qid) for member in members])
