"""Penalty, loss and scaling of a ranker of queries by cross-validation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from .._lists import LabelType, Lists, check_lists
from .._sklearn_compat import fit_context
from .._solvers import as_design
from .._typing import FloatArray
from .._validation import check_propensities
from ..calibration._shared import positional_form, utilities_of
from ..exceptions import CalibrationWarning
from ..losses import TemplateLoss
from ..metrics import Measure, get_measure, positional_score
from ._base import restored_on_error, store_parameters
from ._linear_base import NORMALIZE_CONSTRAINTS, NormalizingRanker, as_normalizer
from ._linear_rankers import OrderPreservingRanker
from ._list_base import (
    check_held_out_weights,
    in_lists,
    refuse_propensities,
    weights_of,
)
from ._query_folds import metadata_at, metadata_of, query_folds
from ._two_classes import Fold

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
        propensity: Any = None,
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
        propensity : array-like of shape (n_samples,), default=None
            If y is an observation of the relevance, such as clicks: probability in (0, 1] that
            each row was examined, as in :class:`OrderPreservingRanker`. Held-out queries are then
            scored by their utilities divided by it, an unbiased estimate of the measure of the
            relevance.

        Returns
        -------
        OrderPreservingRankerCV
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, there are fewer queries than folds, ``cv`` splits a
            query, or ``propensity`` is given with a loss that is not order-preserving or a measure
            for which the utility of an item depends on other labels, such as "ndcg".
        """
        with restored_on_error(self):
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            labels = LabelType("graded", name="y")
            X, lists = self._lists(X, y, qid, weights, labels=labels)
            check_held_out_weights(get_measure(self.measure), lists)
            propensities = None
            if propensity is not None:
                if positional_form(self.measure)[1].discounts is None:
                    raise ValueError(
                        f"{self.measure!r} is no sum over the items, so that propensities give no "
                        "estimate of it on held-out queries: pass measure='dcg', 'dcg@10' or "
                        "'precision@5'."
                    )
                for loss in _several(self.losses):
                    refuse_propensities(loss, self.measure, lists.labels)
                propensities = check_propensities(propensity, X.shape[0], lists.rows)
            items, alphas = in_lists(X, lists), self._strengths()
            folds = query_folds(self.cv, items, lists, X.shape[0])
            metadata = {**metadata_of(lists, lists.weight), "propensity": propensities}
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
    train_metadata, test_metadata = (metadata_at(metadata, part) for part in fold)
    X_train, X_test, scores = X[train], X[test], []
    ranker = clone(ranker)
    for alpha in alphas:
        ranker.set_params(alpha=alpha)
        with warnings.catch_warnings():
            # The fit to all rows issues these warnings.
            for category in (CalibrationWarning, ConvergenceWarning):
                warnings.simplefilter("ignore", category)
            ranker.fit(X_train, y[train], **train_metadata)
        value = _value_of_fold(measure, y[test], ranker.predict(X_test), **test_metadata)
        scores.append(float(value if measure.greater_is_better else -value))
    return scores


def _value_of_fold(
    measure: Measure, y: FloatArray, scores: FloatArray, *, propensity: Any, **metadata: Any
) -> Any:
    """Value of a measure, with propensities of utilities divided by them."""
    if propensity is None:
        return measure(y, scores, **metadata)
    lists = check_lists(y, measure.label_type(name="y"), qid=metadata["qid"])
    utilities = lists.to_rows(utilities_of(measure, lists), len(y)) / propensity
    discounts: Any = positional_form(measure)[1].discounts

    def discount(position: FloatArray, length: FloatArray) -> FloatArray:
        values = np.empty(len(position))
        for n in np.unique(length):
            mask = length == n
            values[mask] = discounts(int(np.ceil(n)))[position[mask].astype(np.intp) - 1]
        return values

    return positional_score(utilities, scores, gain="linear", discount=discount, **metadata)
