"""Tools of scikit-learn for whole queries: successive halving, learning curve, importance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import sklearn
from scipy.sparse import csr_array, issparse
from sklearn.metrics import check_scoring
from sklearn.model_selection import cross_validate
from sklearn.utils import Bunch, check_array, check_random_state
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.parallel import Parallel, delayed

from .._sklearn_compat import (
    BaseSuccessiveHalving,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    num_samples,
)
from .._typing import IntArray
from .._validation import (
    check_choice,
    check_flag,
    check_vector,
    check_whole,
    is_whole,
    refuse_missing_labels,
)
from ._query_splitters import (
    NAMES_OF_IDS,
    Queries,
    QueryKFold,
    queries_of,
    scorer_of,
    splitter_of,
    whole_splits,
)


class _SomeQueries:
    """Splits of another splitter with a share of the queries of either side."""

    def __init__(self, base: Any, share: float, random_state: Any) -> None:
        self.base = base
        self.share = share
        self.random_state = random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        queries = queries_of(groups, num_samples(X), "The search")
        for train, test in whole_splits(self.base, X, y, groups, queries):
            yield self._draw(queries, train), self._draw(queries, test)

    def _draw(self, queries: Queries, rows: IntArray) -> IntArray:
        present = np.flatnonzero(queries.has(rows))
        # 1e-9: of 0.3 * 10 queries there are 3, whatever the product rounds to.
        size = max(int(self.share * len(present) + 1e-9), 1)
        return queries.select(
            rows, check_random_state(self.random_state).permutation(present)[:size]
        )


class _HalvingByQueries(BaseSuccessiveHalving):
    """Mixin for scikit-learn's halving searches with queries instead of rows as the resource.

    Goes before the search among the bases.
    """

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing, which passes ``groups`` to the splitter.

        Returns
        -------
        MetadataRouter
            The requests.
        """
        # The ids are needed whether or not the user's splitter asks for them.
        mapping = MethodMapping().add(caller="fit", callee="split")
        return super().get_metadata_routing().add(splitter=QueryKFold(), method_mapping=mapping)

    def _check_input_parameters(self, X: Any, y: Any, split_params: dict[str, Any]) -> None:
        # scikit-learn calls it before it splits, and counts rows.
        n = num_samples(X)
        queries = queries_of(split_params.get("groups"), n, type(self).__name__)
        self._checked_cv_orig = splitter_of(self.cv, self.estimator)
        least = self.min_resources
        for name, value in (("max_resources", self.max_resources), ("min_resources", least)):
            if is_whole(value) and value > queries.count:
                raise ValueError(
                    f"{name}={value} queries are more than the {queries.count} queries of the"
                    " data: pass a smaller number."
                )
        super()._check_input_parameters(X=X, y=y, split_params=split_params)
        self._n_queries = queries.count
        if self.max_resources == "auto":
            self.max_resources_ = queries.count
        if self.min_resources_ > self.max_resources_:
            raise ValueError(
                f"min_resources={least!r} is {self.min_resources_} queries, but there are only"
                f" {self.max_resources_}: pass a smaller min_resources, or fewer folds."
            )

    def _run_search(self, evaluate_candidates: Any, *, callback_ctx: Any = None) -> None:
        # scikit-learn before 1.9 sets it to the number of rows, and has no callbacks.
        self._n_samples_orig = self._n_queries
        context = {} if callback_ctx is None else {"callback_ctx": callback_ctx}

        def evaluate_on_queries(candidates: Any, cv: Any, **options: Any) -> Any:
            splitter = _SomeQueries(cv.base_cv, cv.fraction, cv.random_state)
            results = evaluate_candidates(candidates, splitter, **options)
            # scikit-learn would take the first candidate.
            if np.isnan(results["mean_test_score"]).all():
                raise ValueError(
                    "All scores are NaN, since no candidate could be scored, as the warnings say:"
                    " pass error_score='raise' for the first error."
                )
            return results

        super()._run_search(evaluate_on_queries, **context)


def _arguments(of_init: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``__init__``, given as its ``locals()``."""
    return {name: of_init[name] for name in of_init if name not in ("self", "__class__")}


class HalvingQueryGridSearchCV(_HalvingByQueries, HalvingGridSearchCV):
    """Grid search by successive halving, with the number of queries as the resource.

    Like :class:`sklearn.model_selection.HalvingGridSearchCV`, but it samples whole queries instead
    of rows. ``min_resources``, ``max_resources`` and ``cv_results_["n_resources"]`` count queries.
    With metadata routing enabled, ``fit(X, y, groups=qid)`` passes the query ids on.

    Parameters
    ----------
    estimator : estimator
        Estimator to fit with each candidate's parameters; it is cloned.
    param_grid : dict or list of dict
        Values to try, by parameter name.
    factor : int or float, default=3
        Factor by which each iteration reduces the candidates and increases the queries.
    max_resources : int or "auto", default="auto"
        Largest number of queries for one candidate, training and test together. "auto" means all.
    min_resources : {"exhaust", "smallest"} or int, default="exhaust"
        Number of queries of the first iteration. "smallest" is twice the number of splits.
        "exhaust" makes the last iteration use as many queries as possible.
    aggressive_elimination : bool, default=False
        Whether to repeat the first iteration if there are too few queries for all iterations.
    cv : int, splitter or iterable, default=5
        Cross-validation strategy. An int is the number of folds of ``QueryKFold(shuffle=False)``.
        A splitter must keep queries whole and give the same splits at each call, as with an int
        for its ``random_state``.
    scoring : str, callable or None, default=None
        Scorer, such as ``get_scorer("ndcg@10")``. None means the ``score`` method of the
        estimator.
    refit : bool, default=True
        Whether to refit the best candidate to all rows.
    error_score : "raise" or float, default=nan
        Score of a failed fit; "raise" raises its error.
    return_train_score : bool, default=True
        Whether to compute training scores.
    random_state : int, RandomState instance or None, default=None
        Random number generator or seed of the queries of each iteration. With an int the result is
        reproducible, and each iteration contains all queries of the one before.
    n_jobs : int or None, default=None
        Number of parallel jobs, as for joblib.
    verbose : int, default=0
        Verbosity level; a greater value prints more.

    Attributes
    ----------
    n_resources_ : list of int
        Number of queries of each iteration.
    n_candidates_ : list of int
        Number of candidates of each iteration.
    n_remaining_candidates_ : int
        Number of candidates that remain after the last iteration.
    max_resources_ : int
        Largest number of queries of an iteration.
    min_resources_ : int
        Number of queries of the first iteration.
    n_iterations_, n_required_iterations_, n_possible_iterations_ : int
        Numbers of iterations that were run, that the candidates need, and that the queries allow.
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, \
refit_time_, multimetric_, classes_, n_features_in_, feature_names_in_ : object
        As in scikit-learn's searches.

    See Also
    --------
    HalvingQueryRandomSearchCV : The same search for randomly drawn parameters.
    sklearn.model_selection.HalvingGridSearchCV : With ``resource="n_estimators"`` and
        ``cv=QueryKFold(random_state=0)`` the resource is the number of trees.

    Notes
    -----
    An iteration with r of n queries uses the fraction r/n of the training queries and of the test
    queries of each split, at least one of each.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn_rank import OrderPreservingRanker
    >>> from sklearn_rank.datasets import make_subset_ranking
    >>> from sklearn_rank.model_selection import HalvingQueryGridSearchCV
    >>> X, y, qid = make_subset_ranking(90, n_items=8, return_X_y=True, random_state=0)
    >>> grid = {"alpha": [0.01, 0.1, 1.0, 10.0]}
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     ranker = OrderPreservingRanker()
    ...     search = HalvingQueryGridSearchCV(ranker, grid, random_state=0)
    ...     search = search.fit(X, y, groups=qid)
    >>> search.n_resources_, search.n_candidates_
    ([30, 90], [4, 2])
    """

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        factor=3,
        max_resources="auto",
        min_resources="exhaust",
        aggressive_elimination=False,
        cv=5,
        scoring=None,
        refit=True,
        error_score=np.nan,
        return_train_score=True,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(**_arguments(locals()))


class HalvingQueryRandomSearchCV(_HalvingByQueries, HalvingRandomSearchCV):
    """Randomized search by successive halving, with the number of queries as the resource.

    Like :class:`sklearn.model_selection.HalvingRandomSearchCV`, but it samples whole queries
    instead of rows; see :class:`HalvingQueryGridSearchCV`.

    Parameters
    ----------
    estimator : estimator
        Estimator to fit with each candidate's parameters; it is cloned.
    param_distributions : dict or list of dict
        Distributions or lists to draw from, by parameter name.
    n_candidates : "exhaust" or int, default="exhaust"
        Number of candidates to draw. "exhaust" makes the last iteration use as many queries as
        possible.
    factor : int or float, default=3
        Factor by which each iteration reduces the candidates and increases the queries.
    max_resources : int or "auto", default="auto"
        Largest number of queries for one candidate; see :class:`HalvingQueryGridSearchCV`.
    min_resources : {"exhaust", "smallest"} or int, default="smallest"
        Number of queries of the first iteration; see :class:`HalvingQueryGridSearchCV`.
    aggressive_elimination : bool, default=False
        Whether to repeat the first iteration if there are too few queries for all iterations.
    cv : int, splitter or iterable, default=5
        Cross-validation strategy; see :class:`HalvingQueryGridSearchCV`.
    scoring : str, callable or None, default=None
        Scorer, such as ``get_scorer("ndcg@10")``. None means the ``score`` method of the
        estimator.
    refit : bool, default=True
        Whether to refit the best candidate to all rows.
    error_score : "raise" or float, default=nan
        Score of a failed fit; "raise" raises its error.
    return_train_score : bool, default=True
        Whether to compute training scores.
    random_state : int, RandomState instance or None, default=None
        Random number generator or seed of the candidates and of the queries of each iteration.
        Pass an int for reproducible results.
    n_jobs : int or None, default=None
        Number of parallel jobs, as for joblib.
    verbose : int, default=0
        Verbosity level; a greater value prints more.

    Attributes
    ----------
    n_resources_, n_candidates_, n_remaining_candidates_, max_resources_, min_resources_, \
n_iterations_, n_required_iterations_, n_possible_iterations_ : object
        As in :class:`HalvingQueryGridSearchCV`.
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, \
refit_time_, multimetric_, classes_, n_features_in_, feature_names_in_ : object
        As in scikit-learn's searches.

    See Also
    --------
    HalvingQueryGridSearchCV : The same search for all parameters of a grid.

    Examples
    --------
    >>> import sklearn
    >>> from scipy.stats import loguniform
    >>> from sklearn_rank import OrderPreservingRanker
    >>> from sklearn_rank.datasets import make_subset_ranking
    >>> from sklearn_rank.model_selection import HalvingQueryRandomSearchCV
    >>> X, y, qid = make_subset_ranking(90, n_items=8, return_X_y=True, random_state=0)
    >>> draws = {"alpha": loguniform(1e-3, 1e2)}
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     ranker = OrderPreservingRanker()
    ...     search = HalvingQueryRandomSearchCV(ranker, draws, random_state=0)
    ...     search = search.fit(X, y, groups=qid)
    >>> search.n_resources_, search.n_candidates_
    ([10, 30, 90], [9, 3, 1])
    """

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_candidates="exhaust",
        factor=3,
        max_resources="auto",
        min_resources="smallest",
        aggressive_elimination=False,
        cv=5,
        scoring=None,
        refit=True,
        error_score=np.nan,
        return_train_score=True,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(**_arguments(locals()))


def query_learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    qid: Any,
    train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = None,
    scoring: Any = None,
    shuffle: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
    error_score: Any = np.nan,
    return_times: bool = False,
    params: dict[str, Any] | None = None,
    verbose: int = 0,
) -> tuple[Any, ...]:
    """Learning curve over the number of training queries.

    Like :func:`sklearn.model_selection.learning_curve`, but training sets grow by whole queries
    instead of rows. The query ids are passed to every fit and score that requests them, whether or
    not metadata routing is enabled.

    Parameters
    ----------
    estimator : estimator
        Estimator to fit, such as a query ranker or a pipeline.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Relevance grades.
    qid : array-like of shape (n_samples,)
        Query id of each row, in any order.
    train_sizes : array-like of shape (n_ticks,), default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Integers are numbers of training queries. Floats are fractions, in (0, 1], of the number of
        queries in the smallest training part. Equal numbers are merged.
    cv : int, splitter, iterable or None, default=None
        Cross-validation strategy. An int is the number of folds of ``QueryKFold(shuffle=False)``,
        and None means 5. A splitter must keep queries whole.
    scoring : str, Measure, callable or None, default=None
        Name of a measure, a measure, or a scorer. None means the ``score`` method of the
        estimator.
    shuffle : bool, default=True
        Whether the training queries are chosen at random. If False, they are those with the
        smallest ids. In both cases a larger training set contains every smaller one.
    random_state : int, RandomState instance or None, default=None
        Random number generator or seed of the choice. Pass an int for reproducible results.
    n_jobs : int or None, default=None
        Number of parallel jobs, as for joblib.
    error_score : "raise" or float, default=nan
        Score of a failed fit; "raise" raises its error.
    return_times : bool, default=False
        Whether to return fit and score times.
    params : dict or None, default=None
        Further metadata, such as ``{"sample_weight": weight}``, passed where it is requested.
    verbose : int, default=0
        Verbosity level; a greater value prints more.

    Returns
    -------
    train_sizes_abs : ndarray of shape (n_unique_ticks,)
        Numbers of training queries.
    train_scores : ndarray of shape (n_unique_ticks, n_splits)
        Scores on the training queries.
    test_scores : ndarray of shape (n_unique_ticks, n_splits)
        Scores on the held-out queries.
    fit_times : ndarray of shape (n_unique_ticks, n_splits)
        Seconds for each fit; only with ``return_times``.
    score_times : ndarray of shape (n_unique_ticks, n_splits)
        Seconds for each score; only with ``return_times``.

    See Also
    --------
    sklearn.model_selection.LearningCurveDisplay : Plots the result:
        ``LearningCurveDisplay(train_sizes=..., train_scores=..., test_scores=...).plot()``.

    Notes
    -----
    The cost is n_ticks times n_splits fits.

    Examples
    --------
    >>> from sklearn_rank import OrderPreservingRanker
    >>> from sklearn_rank.datasets import make_subset_ranking
    >>> from sklearn_rank.model_selection import query_learning_curve
    >>> X, y, qid = make_subset_ranking(60, n_items=8, return_X_y=True, random_state=0)
    >>> sizes, train, test = query_learning_curve(
    ...     OrderPreservingRanker(alpha=0.1),
    ...     X,
    ...     y,
    ...     qid=qid,
    ...     train_sizes=[5, 20, 48],
    ...     scoring="ndcg@5",
    ...     random_state=0,
    ... )
    >>> sizes
    array([ 5, 20, 48])
    >>> train.shape, bool(test[-1].mean() > test[0].mean())
    ((3, 5), True)
    """
    if isinstance(scoring, dict | list | tuple | set):
        raise ValueError(
            f"scoring={scoring!r} has several measures, but a learning curve needs one: pass one"
            " of them."
        )
    refuse_missing_labels(y)
    queries = queries_of(qid, num_samples(X), "query_learning_curve", name="qid")
    splits = list(whole_splits(splitter_of(cv, estimator), X, y, qid, queries))
    rng = check_random_state(random_state) if check_flag("shuffle", shuffle) else None
    timed = check_flag("return_times", return_times)
    present = [np.flatnonzero(queries.has(train)) for train, _ in splits]
    sizes = _check_sizes(train_sizes, min(map(len, present)))
    parts = []
    for of_part, (train, test) in zip(present, splits, strict=True):
        order = of_part if rng is None else rng.permutation(of_part)
        parts += [(queries.select(train, order[:size]), test) for size in sizes]
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = check_scoring(estimator, scoring=scorer_of(scoring))
        requested = get_routing_for_object(estimator).consumes("fit", NAMES_OF_IDS)
        requested |= get_routing_for_object(scorer).consumes("score", NAMES_OF_IDS)
        results = cross_validate(
            estimator,
            X,
            y,
            cv=parts,
            scoring=scorer,
            params={**dict.fromkeys(requested, qid), **(params or {})},
            return_train_score=True,
            error_score=error_score,
            n_jobs=n_jobs,
            verbose=verbose,
        )
    names = ["train_score", "test_score"] + (["fit_time", "score_time"] if timed else [])
    return sizes, *(results[name].reshape(len(splits), len(sizes)).T for name in names)


def _check_sizes(train_sizes: Any, most: int) -> IntArray:
    """Numbers of queries to train on, ascending."""
    sizes = check_vector("train_sizes", train_sizes, lowest=0.0)
    if np.asarray(train_sizes).dtype.kind in "iu":
        if sizes.min() < 1 or sizes.max() > most:
            raise ValueError(
                f"train_sizes={train_sizes!r} are numbers of queries and must be from 1 to {most},"
                " the size of the smallest training part."
            )
        return np.unique(sizes.astype(np.intp))
    if sizes.min() <= 0 or sizes.max() > 1:
        raise ValueError(
            f"train_sizes={train_sizes!r} are fractions of the queries and must be in (0, 1]: pass"
            " integers for numbers of queries."
        )
    return np.unique(np.maximum((sizes * most + 1e-9).astype(np.intp), 1))


def query_permutation_importance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    qid: Any,
    scoring: Any = None,
    within: Literal["query", "all"] = "query",
    n_repeats: int = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Any:
    """Permutation importance of features for a ranking score over queries.

    Like :func:`sklearn.inspection.permutation_importance`, but query ids are passed to the scorer.
    The importance of a feature is the score minus the score with permuted values of the feature,
    averaged over ``n_repeats`` permutations.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator, such as a query ranker or a pipeline.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows, preferably rows that the estimator was not fitted to.
    y : array-like of shape (n_samples,)
        Relevance grades.
    qid : array-like of shape (n_samples,)
        Query id of each row, in any order.
    scoring : str, Measure, callable, list, tuple, dict or None, default=None
        Name of a measure, a measure, or a scorer, or several in the forms that scikit-learn
        accepts. None means the ``score`` method of the estimator.
    within : {"query", "all"}, default="query"
        Whether values are permuted within each query or over all rows.
    n_repeats : int, default=5
        Number of permutations of each feature; all features use the same permutations.
    n_jobs : int or None, default=None
        Number of parallel jobs over features, as for joblib. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Random number generator or seed of the permutations. Pass an int for reproducible results.

    Returns
    -------
    Bunch or dict of Bunch
        ``importances`` of shape (n_features, n_repeats), ``importances_mean`` and
        ``importances_std`` of shape (n_features,). With several scorers a dict with one Bunch for
        each.

    Notes
    -----
    The two options answer different questions. "query" measures how much the *order* within
    queries depends on the feature: each query keeps its values, which are assigned to other rows.
    A feature that is constant within queries, such as the length of the query, has importance 0.
    "all" measures how much the score depends on the feature in total, but rows then get values
    that may never occur in their query. If two features carry the same information, each may have
    a low importance.

    The cost is 1 + n_features n_repeats predictions and scores, and a copy of X for each job.

    References
    ----------
    .. [1] Breiman (2001), *Random forests*, Machine Learning 45.

    Examples
    --------
    >>> from sklearn_rank import OrderPreservingRanker
    >>> from sklearn_rank.datasets import make_subset_ranking
    >>> from sklearn_rank.model_selection import query_permutation_importance
    >>> X, y, qid = make_subset_ranking(60, n_items=8, return_X_y=True, random_state=0)
    >>> X[:, 0] = qid  # the same for all rows of a query
    >>> ranker = OrderPreservingRanker(alpha=0.1).fit(X, y, qid=qid)
    >>> found = query_permutation_importance(
    ...     ranker, X, y, qid=qid, scoring="ndcg@5", random_state=0
    ... )
    >>> found.importances.shape, found.importances_mean[0].item()
    ((5, 5), 0.0)
    """
    check_choice("within", within, ("query", "all"))
    check_whole("n_repeats", n_repeats)
    if not hasattr(X, "columns"):
        X = check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite="allow-nan")
    queries = queries_of(qid, num_samples(X), "query_permutation_importance", name="qid")
    rng = check_random_state(random_state)
    n = len(queries.rows)
    sources = []  # For each repeat the row that each row gets its value from
    for _ in range(n_repeats):
        if within == "all":
            source = rng.permutation(n)
        else:
            source = np.empty(n, dtype=np.intp)
            source[queries.rows] = np.lexsort([rng.uniform(size=n), queries.of_rows])
        sources.append(source)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = check_scoring(estimator, scoring=scorer_of(scoring))
        router = MetadataRouter(owner="scorer").add(
            scorer=scorer, method_mapping=MethodMapping().add(caller="score", callee="score")
        )
        ids = dict.fromkeys(router.consumes("score", NAMES_OF_IDS), qid)
        if ids:
            ids = dict(process_routing(router, "score", **ids).scorer.score)
        base = scorer(estimator, X, y, **ids)
        scores = Parallel(n_jobs=n_jobs)(
            delayed(_scores_without)(scorer, estimator, X, y, ids, feature, sources)
            for feature in range(X.shape[1])
        )
    if not isinstance(base, dict):
        return _importances(base, scores)
    return {
        name: _importances(base[name], [[score[name] for score in row] for row in scores])
        for name in base
    }


def _scores_without(
    scorer: Any,
    estimator: Any,
    X: Any,
    y: Any,
    ids: dict[str, Any],
    feature: int,
    sources: list[IntArray],
) -> list[Any]:
    return [scorer(estimator, _permute(X, feature, source), y, **ids) for source in sources]


def _permute(X: Any, feature: int, source: IntArray) -> Any:
    """Rows with the values of one feature from others."""
    if hasattr(X, "isetitem"):
        X = X.copy()
        X.isetitem(feature, X.iloc[source, feature].array)
        return X
    if hasattr(X, "to_series"):
        return X.with_columns(X.to_series(feature).gather(source))
    if not issparse(X):
        X = X.copy()
        X[:, feature] = X[source, feature]
        return X
    entries = X.tocoo()
    to = np.empty_like(source)
    to[source] = np.arange(len(source))
    rows = np.where(entries.col == feature, to[entries.row], entries.row)
    return type(X)(csr_array((entries.data, (rows, entries.col)), shape=X.shape))


def _importances(base: float, scores: list[list[float]]) -> Bunch:
    importances = base - np.array(scores)
    return Bunch(
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        importances=importances,
    )
