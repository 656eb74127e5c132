"""Successive halving whose resource is the number of whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from .._sklearn_compat import (
    BaseSuccessiveHalving,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    num_samples,
)
from .._typing import IntArray
from .._validation import is_whole
from ._query_splitters import Queries, QueryKFold, queries_of, splitter_of, whole_splits


class _SomeQueries:
    """Splits of another splitter with a share of the queries of either side."""

    def __init__(self, base: Any, share: float, random_state: Any) -> None:
        self.base = base
        self.share = share
        self.random_state = random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate rows to train on and rows to test on, of whole queries."""
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
        self._n_samples_orig = queries.count
        if self.max_resources == "auto":
            self.max_resources_ = queries.count
        if self.min_resources_ > self.max_resources_:
            raise ValueError(
                f"min_resources={least!r} is {self.min_resources_} queries, but there are only"
                f" {self.max_resources_}: pass a smaller min_resources, or fewer folds."
            )

    def _run_search(self, evaluate_candidates: Any, *, callback_ctx: Any) -> None:
        def evaluate_on_queries(candidates: Any, cv: Any, **options: Any) -> Any:
            """Evaluate candidates on splits that are reduced by queries instead of rows."""
            splitter = _SomeQueries(cv.base_cv, cv.fraction, cv.random_state)
            results = evaluate_candidates(candidates, splitter, **options)
            # scikit-learn would take the first candidate.
            if np.isnan(results["mean_test_score"]).all():
                raise ValueError(
                    "All scores are NaN, since no candidate could be scored, as the warnings say:"
                    " pass error_score='raise' for the first error."
                )
            return results

        super()._run_search(evaluate_on_queries, callback_ctx=callback_ctx)


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
        super().__init__(
            estimator,
            param_grid,
            factor=factor,
            max_resources=max_resources,
            min_resources=min_resources,
            aggressive_elimination=aggressive_elimination,
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )


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
        Largest number of queries for one candidate, training and test together. "auto" means all.
    min_resources : {"exhaust", "smallest"} or int, default="smallest"
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
        Random number generator or seed of the candidates and of the queries of each iteration.
        Pass an int for reproducible results.
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
        super().__init__(
            estimator,
            param_distributions,
            n_candidates=n_candidates,
            factor=factor,
            max_resources=max_resources,
            min_resources=min_resources,
            aggressive_elimination=aggressive_elimination,
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
