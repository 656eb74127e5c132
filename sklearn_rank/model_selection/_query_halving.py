"""Successive halving whose resource is the number of whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from .._arguments import is_whole
from .._sklearn_compat import (
    BaseSuccessiveHalving,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    num_samples,
)
from .._typing import IntArray
from ._query_ids import Queries, queries_of
from ._query_splitters import QueryKFold
from ._whole_splits import splitter_of, whole_splits

__all__ = ["HalvingQueryGridSearchCV", "HalvingQueryRandomSearchCV"]


class _SomeQueries:
    """Splits of another splitter with a share of the queries of either side.

    Parameters
    ----------
    base : splitter
        The other one.
    share : float
        The share, in (0, 1].
    random_state : None, int or RandomState
        Source of the choice; of an int a larger share of a side has all queries of a smaller one.
    """

    def __init__(self, base: Any, share: float, random_state: Any) -> None:
        self.base = base
        self.share = share
        self.random_state = random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate rows to train on and rows to test on, of whole queries.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Grades.
        groups : array-like of shape (n_samples,), default=None
            Id of the query of each row.

        Yields
        ------
        train : ndarray
            Rows to train on.
        test : ndarray
            Rows to test on.
        """
        queries = queries_of(groups, num_samples(X), "The search")
        for train, test in whole_splits(self.base, X, y, groups, queries):
            yield self._some(queries, train), self._some(queries, test)

    def _some(self, queries: Queries, rows: IntArray) -> IntArray:
        present = np.flatnonzero(queries.has(rows))
        # 1e-9: of 0.3 * 10 queries there are 3, whatever the product rounds to.
        size = max(int(self.share * len(present) + 1e-9), 1)
        chosen = check_random_state(self.random_state).permutation(present)[:size]
        kept = np.zeros(queries.count, dtype=bool)
        kept[chosen] = True
        return np.asarray(rows)[kept[queries.of_rows[rows]]]


class _HalvingByQueries(BaseSuccessiveHalving):
    """What a search of scikit-learn by successive halving needs to count queries in place of rows.

    Goes before the search among the bases.
    """

    def get_metadata_routing(self) -> MetadataRouter:
        """Get what the search hands on, ``groups`` to the splitter among them.

        Returns
        -------
        MetadataRouter
            The requests.
        """
        # The ids are needed whether or not the user's splitter asks for them.
        asking = QueryKFold()
        return (
            super()
            .get_metadata_routing()
            .add(splitter=asking, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )

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
        super()._run_search(
            partial(_evaluate_on_queries, evaluate_candidates), callback_ctx=callback_ctx
        )


def _evaluate_on_queries(
    evaluate_candidates: Any, candidates: Any, cv: Any, **options: Any
) -> Any:
    """Evaluate candidates on splits of which queries, not rows, are left out."""
    some = _SomeQueries(cv.base_cv, cv.fraction, cv.random_state)
    return evaluate_candidates(candidates, some, **options)


class HalvingQueryGridSearchCV(_HalvingByQueries, HalvingGridSearchCV):
    """Search of a grid by successive halving, in which a step takes more queries for fewer models.

    As :class:`sklearn.model_selection.HalvingGridSearchCV`, which takes rows out of queries:
    ``min_resources``, ``max_resources`` and ``cv_results_["n_resources"]`` count queries, and
    each candidate is fitted and scored on whole ones. ``fit(X, y, groups=qid)``, with metadata
    routing enabled, hands the ids on.

    Parameters
    ----------
    estimator : estimator
        What is fitted with the parameters.
    param_grid : dict or list of dict
        Values to try, by the name of the parameter.
    factor : int or float, default=3
        How many times fewer candidates, and more queries, each step takes.
    max_resources : int or "auto", default="auto"
        Most queries that a candidate is evaluated on, in training and test together; "auto" is
        all.
    min_resources : {"exhaust", "smallest"} or int, default="exhaust"
        Queries of the first step. "smallest" is twice the number of splits; "exhaust" is so many
        that the last step takes as many as it can.
    aggressive_elimination : bool, default=False
        Whether the first step is repeated where there are too few queries for all steps.
    cv : int, splitter or iterable, default=5
        An int is that many folds of ``QueryKFold(shuffle=False)``. A splitter must give the same
        splits at each call, as with an int for its ``random_state``, and cut no query.
    scoring : str, callable or None, default=None
        Scorer, such as ``get_scorer("ndcg@10")``; None is the estimator's ``score``.
    refit : bool, default=True
        Whether the best candidate is fitted on all rows at the end.
    error_score : "raise" or float, default=nan
        What a failed fit scores.
    return_train_score : bool, default=True
        Whether training scores are reported.
    random_state : int, RandomState instance or None, default=None
        Source of the queries of each step; with an int each step has all queries of the one
        before.
    n_jobs : int or None, default=None
        Processes.
    verbose : int, default=0
        How much is printed.

    Attributes
    ----------
    n_resources_ : list of int
        Queries of each step.
    n_candidates_ : list of int
        Candidates of each step.
    n_remaining_candidates_ : int
        Candidates that are left after the last step.
    max_resources_ : int
        Most queries of a step.
    min_resources_ : int
        Queries of the first step.
    n_iterations_, n_required_iterations_, n_possible_iterations_ : int
        Steps that were taken, that the candidates need, and that the queries allow.
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, \
refit_time_, multimetric_, classes_, n_features_in_, feature_names_in_ : object
        As in scikit-learn's search.

    See Also
    --------
    HalvingQueryRandomSearchCV : The same for parameters drawn at random.
    sklearn.model_selection.HalvingGridSearchCV : With ``resource="n_estimators"`` and
        ``cv=QueryKFold(random_state=0)`` it leaves rows alone and grows trees.

    Notes
    -----
    Of n queries a step with r takes the share r/n of the queries of either side of each split,
    one at least.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn_rank import OrderPreservingRanker
    >>> from sklearn_rank.datasets import make_subset_ranking
    >>> from sklearn_rank.model_selection import HalvingQueryGridSearchCV
    >>> X, y, qid = make_subset_ranking(90, n_items=8, return_X_y=True, random_state=0)
    >>> grid = {"alpha": [0.01, 0.1, 1.0, 10.0]}
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     search = HalvingQueryGridSearchCV(OrderPreservingRanker(), grid, random_state=0)
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
    """Search of random parameters by successive halving, with queries as the resource.

    As :class:`sklearn.model_selection.HalvingRandomSearchCV`, which takes rows out of queries:
    see :class:`HalvingQueryGridSearchCV`.

    Parameters
    ----------
    estimator : estimator
        What is fitted with the parameters.
    param_distributions : dict or list of dict
        Distributions, or lists, to draw from, by the name of the parameter.
    n_candidates : "exhaust" or int, default="exhaust"
        How many candidates are drawn; "exhaust" is so many that the last step takes as many
        queries as it can.
    factor : int or float, default=3
        How many times fewer candidates, and more queries, each step takes.
    max_resources : int or "auto", default="auto"
        Most queries that a candidate is evaluated on, in training and test together; "auto" is
        all.
    min_resources : {"exhaust", "smallest"} or int, default="smallest"
        Queries of the first step. "smallest" is twice the number of splits; "exhaust" is so many
        that the last step takes as many as it can.
    aggressive_elimination : bool, default=False
        Whether the first step is repeated where there are too few queries for all steps.
    cv : int, splitter or iterable, default=5
        An int is that many folds of ``QueryKFold(shuffle=False)``. A splitter must give the same
        splits at each call, as with an int for its ``random_state``, and cut no query.
    scoring : str, callable or None, default=None
        Scorer, such as ``get_scorer("ndcg@10")``; None is the estimator's ``score``.
    refit : bool, default=True
        Whether the best candidate is fitted on all rows at the end.
    error_score : "raise" or float, default=nan
        What a failed fit scores.
    return_train_score : bool, default=True
        Whether training scores are reported.
    random_state : int, RandomState instance or None, default=None
        Source of the candidates and of the queries of each step.
    n_jobs : int or None, default=None
        Processes.
    verbose : int, default=0
        How much is printed.

    Attributes
    ----------
    n_resources_ : list of int
        Queries of each step.
    n_candidates_ : list of int
        Candidates of each step.
    n_remaining_candidates_ : int
        Candidates that are left after the last step.
    max_resources_ : int
        Most queries of a step.
    min_resources_ : int
        Queries of the first step.
    n_iterations_, n_required_iterations_, n_possible_iterations_ : int
        Steps that were taken, that the candidates need, and that the queries allow.
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, \
refit_time_, multimetric_, classes_, n_features_in_, feature_names_in_ : object
        As in scikit-learn's search.

    See Also
    --------
    HalvingQueryGridSearchCV : The same for all parameters of a grid.

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
    ...     search = HalvingQueryRandomSearchCV(OrderPreservingRanker(), draws, random_state=0)
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
