"""RankBoost: boosting of weak rankers for the exponential loss of pairs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from .._sklearn_compat import (
    BlockProgress,
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    check_sample_weight,
    fit_context,
    with_callbacks,
)
from .._solvers import (
    FeatureRanking,
    Features,
    PairWeights,
    RankBoostResult,
    Stump,
    Stumps,
    WeakRanking,
    by_columns,
    count_threads,
    rank_boost,
    stump_scores,
)
from .._typing import AnyArray, FloatArray
from .._validation import ravelled, validate_data
from ..metrics import roc_auc_score
from ..metrics._shared import ranking_scores
from ._base import forget, refuse_blocked, restored_on_error
from ._boosting import hold_out_rows
from ._two_classes import (
    BipartiteRanker,
    LinearScores,
    TwoClasses,
    fit_with_weights,
    is_flexible,
    weight_argument,
)


@dataclass(frozen=True, eq=False)
class EstimatorRanking:
    """Score of a fitted estimator, scaled to the range of the training rows."""

    estimator: Any  # Classifier of 0 and 1, or regressor
    low: float  # Least score of the training rows
    range: float  # Their largest score less the least

    def values(self, X: Any) -> AnyArray:
        return self.scaled(ranking_scores(self.estimator, X, 1))

    def scaled(self, scores: Any) -> AnyArray:
        if self.range == 0.0:
            return np.zeros(len(scores))
        return np.clip((np.asarray(scores, dtype=np.float64) - self.low) / self.range, 0.0, 1.0)


class FittedEstimators:
    is_exact = False

    def __init__(self, estimator: Any, X: Any, rows: TwoClasses, random: Any) -> None:
        self._estimator, self._matrix = estimator, X
        self._label = rows.positive.astype(np.int64)
        self._random = random

    def best(self, signed: FloatArray) -> WeakRanking | None:
        """Fit a clone to the rows, weighted by their shares of the pairs, 1 in the mean."""
        weight = np.abs(signed) * (len(signed) / 2.0)
        estimator = clone(self._estimator)
        if self._random is not None:
            seeds = {
                name: int(self._random.randint(np.iinfo(np.int32).max))
                for name in sorted(estimator.get_params(deep=True))
                if name.rpartition("__")[2] == "random_state"
            }
            estimator.set_params(**seeds)
        model = fit_with_weights(estimator, self._matrix, self._label, weight)
        scores = np.asarray(ranking_scores(model, self._matrix, 1), dtype=np.float64)
        low = float(scores.min())
        ranking = EstimatorRanking(model, low, float(scores.max()) - low)
        values = ranking.scaled(scores)
        return WeakRanking(ranking, values, float(signed @ values))


# Fitted attributes that exist only with some weak rankers.
OF_SOME = (
    "coef_",
    "estimator_ranges_",
    "estimators_",
    "feature_importances_",
    "feature_ranges_",
    "features_",
    "intercept_",
    "thresholds_",
    "validation_score_",
)


class RankBoostRanker(CallbackSupportMixin, BipartiteRanker):
    r"""RankBoost: boosting of weak rankers for the exponential loss of pairs.

    The score is :math:`H(x) = \sum_t \alpha_t h_t(x)`. Round t selects the weak ranker h with the
    greatest :math:`|r|`,

    .. math:: r = \sum_{a, b} D_t(a, b) \, (h(b) - h(a)), \qquad
              D_t(a, b) \propto w_a w_b \, e^{H_{t-1}(a) - H_{t-1}(b)},

    over the pairs of a negative row a and a positive row b, with
    :math:`\alpha_t = \tfrac12 \ln \frac{1 + r}{1 - r}`. This is coordinate descent on the
    exponential ranking loss :math:`L(H)`, the weighted mean of :math:`e^{H(a) - H(b)}` over the
    pairs. D is a product of row weights, so that the cost of a round is linear in the number of
    rows, not of pairs.

    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds, at least 1. A greater value fits the training pairs more closely.
    weak_ranker : {"stump", "linear"} or estimator, default="stump"
        Weak rankers. "stump" is 1 if a feature exceeds a threshold and 0 otherwise, the best of
        all features and thresholds. "linear" is a feature divided by its range, and makes H
        linear. A classifier or regressor, whose ``fit`` must take ``sample_weight``, is fitted
        under the weights of the rows, and its scores are scaled to [0, 1] on the training rows.
    step : {"closed_form", "line_search"}, default="closed_form"
        Coefficient of a weak ranker: "closed_form" is the formula above; "line_search" minimises L
        and gives a greater coefficient.
    learning_rate : float, default=1.0
        Factor of the coefficients, in (0, 1]. A smaller value needs more rounds.
    early_stopping : bool, default=False
        Whether to stop when the AUC of held-out rows no longer improves.
    validation_fraction : float, default=0.1
        Share of the rows of each class held out for early stopping, in (0, 1); at least one row.
    n_iter_no_change : int, default=10
        Number of rounds without a better AUC of the held-out rows after which boosting ends.
    tol : float, default=1e-7
        Boosting ends when ``|r|`` is at most this value; gains of the held-out AUC up to this
        value count as no improvement. A greater value ends earlier.
    pos_label : int, float, bool, str or None, default=None
        The class to be ranked at the top. None takes 1 if the labels are 0 and 1 or -1 and 1, and
        otherwise the greater label, with a warning.
    n_jobs : int or None, default=None
        Number of threads that search for stumps. None is 1, -1 uses all cores. The result does not
        depend on it.
    random_state : int, RandomState or None, default=None
        Seed for drawing the held-out rows, and for each fit of an estimator that has a
        ``random_state`` (if None, the estimator keeps its own). Nothing else is random.
    verbose : int, default=0
        1 writes a line for each round to the standard error; 0 is silent.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, ascending.
    pos_label_ : object
        The positive class.
    alphas_ : ndarray of shape (n_rounds,)
        Coefficients of the weak rankers, for scores that are greater for positives.
    features_ : ndarray of shape (n_rounds,)
        Feature of each stump or linear weak ranker.
    thresholds_ : ndarray of shape (n_rounds,)
        Threshold of each stump, midway between two values of its feature.
    feature_ranges_ : ndarray of shape (n_rounds,)
        Range by which each linear weak ranker divides its feature.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the decision values. Only for linear weak rankers.
    intercept_ : ndarray of shape (1,)
        ``-threshold_``. Only for linear weak rankers.
    estimators_ : list of estimator
        The fitted weak rankers, for labels 0 and 1. Only if ``weak_ranker`` is an estimator.
    estimator_ranges_ : ndarray of shape (n_rounds, 2)
        Minimum and range of the scores of each of ``estimators_`` on the training rows.
    threshold_ : float
        Threshold above which rows are predicted positive: it cuts the share of positives of the
        training rows off new rows. It is a quantile of out-of-fold scores, which takes
        one to five more fits.
    staged_thresholds_ : ndarray of shape (n_rounds,)
        Threshold of each stage; the last one is ``threshold_``.
    train_loss_ : ndarray of shape (n_rounds,)
        L after each round, the product of the normalisers Z of the rounds. It is an upper bound of
        the share of pairs that are misordered or tied.
    objective_ : float
        L after the last round.
    gradient_norm_ : float
        Greatest ``|r|`` of all weak rankers after the last round, which is the greatest derivative
        of log L with respect to a coefficient. For an estimator, NaN or the ``|r|`` of its last
        fit.
    converged_ : bool
        Whether ``gradient_norm_`` is at most ``tol``, so that no combination of weak rankers has a
        smaller L (for an estimator, among the weak rankers that it finds), or one weak ranker
        separates the classes.
    n_iter_ : int
        Number of rounds.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the reduction of log L. For an estimator, the mean of the
        importances of its fits weighted by these reductions, if it has importances.
    validation_score_ : ndarray of shape (n_rounds,)
        AUC of the held-out rows after each round. Only with ``early_stopping``.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    TopFocusedRanker : Focuses on the top of the list instead of all pairs.
    sklearn.ensemble.AdaBoostClassifier : Boosting for the exponential loss of rows.

    Notes
    -----
    log L is convex in the coefficients of all weak rankers, so that ``gradient_norm_`` = 0 implies
    a minimum. If some combination orders all pairs correctly, there is no minimum: L decreases to
    0 and the coefficients grow without bound. ``learning_rate`` and ``n_estimators`` limit them.

    A weak ranker with ``r = 1`` or ``-1`` separates the classes, and the formula gives no finite
    coefficient. Its coefficient is then ``max(5, 1 + sum of |alphas_| before)``, which orders all
    pairs correctly, and boosting ends. All other coefficients are clipped at 5.

    Without early stopping, a row of weight 2 counts as two rows. With early stopping, rows are
    held out irrespective of their weights. Among equally good stumps, the first feature and its
    lowest threshold are taken. An estimator gets the rows as an array.

    *Cost.* Each column is sorted once. A round takes O(n_samples * n_features), or O(nonzeros) for
    sparse rows. Memory is 4 bytes for each entry in addition to the data.

    References
    ----------
    .. [1] Freund, Y., Iyer, R., Schapire, R. E. and Singer, Y. (2003). An efficient boosting
       algorithm for combining preferences. JMLR 4: Figures 1 and 2; Section 3.2, the third method;
       Theorem 1.
    .. [2] Rudin, C. and Schapire, R. E. (2009). Margin-based ranking and an equivalence between
       AdaBoost and RankBoost. JMLR 10: the threshold of the stages before the last.

    Examples
    --------
    >>> from sklearn_rank import RankBoostRanker
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.metrics import roc_auc_score
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> ranker = RankBoostRanker(50).fit(X[::2], y[::2])
    >>> roc_auc_score(y[1::2], ranker.decision_function(X[1::2])).__round__(2)
    0.94
    """

    _parameter_constraints = {
        "weak_ranker": [StrOptions({"stump", "linear"}), HasMethods(["fit"])],
        "step": [StrOptions({"closed_form", "line_search"})],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_estimators=100,
        *,
        weak_ranker="stump",
        step="closed_form",
        learning_rate=1.0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        pos_label=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_estimators = n_estimators
        self.weak_ranker = weak_ranker
        self.step = step
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if not isinstance(self.weak_ranker, str) and hasattr(self.weak_ranker, "fit"):
            tags.input_tags.sparse = get_tags(self.weak_ranker).input_tags.sparse
        return tags

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool = False) -> Any:
        refuse_blocked(self, X)
        sparse = "csr" if get_tags(self).input_tags.sparse else False
        return validate_data(self, X, y, dtype=np.float64, accept_sparse=sparse, reset=reset)

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RankBoostRanker:
        """Fit the weak rankers to rows of two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows without missing values. Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Labels of two classes, of any type; ``pos_label`` is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. A row of weight 2 counts as two rows, a row of weight 0 is
            ignored.

        Returns
        -------
        RankBoostRanker
            The estimator itself.

        Raises
        ------
        TypeError
            If ``weak_ranker`` is an estimator that takes no ``sample_weight``, or has no
            prediction method.
        ValueError
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them, X, y or
            sample_weight is not finite, or with ``early_stopping`` a class has one row.

        Warns
        -----
        PositiveClassWarning
            If ``pos_label`` is None and the labels are neither 0 and 1 nor -1 and 1.
        """
        with restored_on_error(self):
            if not isinstance(self.weak_ranker, str):
                weight_argument(self.weak_ranker, regressors=True)
            X, y = self._validated(X, y, reset=True)
            weight = check_sample_weight(ravelled(sample_weight, "sample_weight"), X)
            rows = self._two_classes(y, weight)
            progress = BlockProgress(self, self.n_estimators, X, y)
            X = X if len(rows.taken) == X.shape[0] else X[rows.taken]
            random = check_random_state(self.random_state)
            self._boost(X, rows, progress.block_done, random)
            self.classes_, self.pos_label_ = rows.classes, rows.pos_label
            self._store_threshold(X, rows)
            progress.fit_done()
        return self

    def _boost(
        self,
        X: Any,
        rows: TwoClasses,
        block_done: Callable[[], None],
        random: Any,
    ) -> None:
        part, validation = rows, None
        convert = by_columns if isinstance(self.weak_ranker, str) else lambda X: X
        if self.early_stopping:
            for is_positive, name in ((False, "negative"), (True, "positive")):
                if np.count_nonzero(rows.positive == is_positive) < 2:
                    raise ValueError(
                        "early_stopping=True holds out rows of each class, but the "
                        f"{name} class has one row only: pass early_stopping=False."
                    )
            train, held_out = hold_out_rows(rows.positive, self.validation_fraction, random)
            validation = _Validation(self, convert(X[held_out]), rows.part(held_out))
            part, X = rows.part(train), X[train]
        X = convert(X)

        def on_round(ranking: Any, alpha: float, log_loss: float) -> bool:
            block_done()
            if self.verbose:
                sys.stderr.write(f"alpha {alpha:.6g}, loss {np.exp(log_loss):.6g}\n")
            return validation is not None and validation.ends(ranking, alpha)

        n_threads = count_threads(self.n_jobs)
        with ThreadPoolExecutor(n_threads) if n_threads > 1 else nullcontext() as pool:
            run: Any = map if pool is None else pool.map
            rankings: Any
            if self.weak_ranker == "stump":
                rankings = Stumps(X, run, n_threads)
            elif self.weak_ranker == "linear":
                rankings = Features(X)
            else:
                seeds = None if self.random_state is None else random
                rankings = FittedEstimators(self.weak_ranker, X, part, seeds)
            pairs = PairWeights(part.positive, part.weight)
            result = rank_boost(
                rankings,
                pairs,
                self.n_estimators,
                step=self.step,
                learning_rate=self.learning_rate,
                tol=self.tol,
                on_round=on_round,
            )
        self._store(result, rows.direction, X.shape[1])
        if validation is not None:
            self.validation_score_ = np.array(validation.history)

    def _store(self, result: RankBoostResult, direction: float, n_features: int) -> None:
        forget(self, *OF_SOME)
        chosen = result.rankings
        self.alphas_ = result.alphas
        self.staged_thresholds_ = direction * result.thresholds
        self.train_loss_ = np.exp(result.log_loss)
        self.objective_ = float(self.train_loss_[-1]) if chosen else 1.0
        self.gradient_norm_ = result.largest_r
        self.converged_ = result.converged
        self.n_iter_ = len(chosen)
        # A gain may be less than its rounding.
        gains = np.maximum(-np.diff(result.log_loss, prepend=0.0), np.finfo(np.float64).tiny)
        if not isinstance(self.weak_ranker, str):
            self.estimators_ = [ranking.estimator for ranking in chosen]
            self.estimator_ranges_ = np.array([(r.low, r.range) for r in chosen]).reshape(-1, 2)
            if chosen and hasattr(self.estimators_[0], "feature_importances_"):
                importances = [fit.feature_importances_ for fit in self.estimators_]
                self.feature_importances_ = np.average(importances, axis=0, weights=gains)
            return
        self.features_ = np.array([ranking.feature for ranking in chosen], dtype=np.int64)
        total = gains.sum() if chosen else 1.0
        self.feature_importances_ = np.bincount(self.features_, gains, n_features) / total
        if self.weak_ranker == "stump":
            self.thresholds_ = np.array([ranking.threshold for ranking in chosen])
        else:
            self.feature_ranges_ = np.array([ranking.range for ranking in chosen])
            by_unit = result.alphas / self.feature_ranges_
            self.coef_ = direction * np.bincount(self.features_, by_unit, n_features)[np.newaxis]

    def _store_threshold(self, X: Any, rows: TwoClasses) -> None:
        if hasattr(self, "coef_"):
            scores, rounding = LinearScores(rows.direction * self.coef_[0]).scores_of_fitted(X)
        else:
            scores = self._scores(X)
            size = len(self.alphas_) * np.abs(self.alphas_).sum()
            rounding = np.full(len(scores), size * np.finfo(np.float64).eps)
        threshold = self._threshold_of_share(
            X,
            rows,
            scores,
            rounding,
            flexible=not hasattr(self, "coef_") or is_flexible(rows, X.shape[1]),
            of_fold={
                "n_estimators": max(self.n_iter_, 1),
                "early_stopping": False,
                "verbose": 0,
            },
        )
        self.threshold_ = rows.direction * threshold
        self.staged_thresholds_[-1:] = self.threshold_
        if hasattr(self, "coef_"):
            self.intercept_ = np.array([-self.threshold_])

    def _rankings(self) -> list[Any]:
        if hasattr(self, "estimators_"):
            fits = zip(self.estimators_, self.estimator_ranges_, strict=True)
            return [EstimatorRanking(fit, low, size) for fit, (low, size) in fits]
        if hasattr(self, "thresholds_"):
            stumps = zip(self.features_, self.thresholds_, strict=True)
            return [Stump(int(feature), float(threshold)) for feature, threshold in stumps]
        return [
            FeatureRanking(int(feature), float(size))
            for feature, size in zip(self.features_, self.feature_ranges_, strict=True)
        ]

    def _scores(self, X: Any) -> FloatArray:
        """Scores of validated rows by which the positives are on top."""
        if hasattr(self, "coef_"):
            return self._towards_positive(LinearScores(self.coef_[0]).scores(X))
        if hasattr(self, "thresholds_"):
            return stump_scores(self.features_, self.thresholds_, self.alphas_, X)
        scores = np.zeros(X.shape[0])
        for ranking, alpha in zip(self._rankings(), self.alphas_, strict=True):
            scores += alpha * ranking.values(X)
        return scores

    def decision_function(self, X: Any) -> FloatArray:
        """Score of each row minus the threshold between the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Decision values, greater for ``classes_[1]``. The top of the list has the greatest
            values if ``classes_[1]`` is the positive class, and the smallest if ``classes_[0]``
            is.
        """
        check_is_fitted(self)
        return self._towards_positive(self._scores(self._validated(X))) - self.threshold_

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Yield the decision values after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            Score of the stage minus its threshold. The last stage has the threshold of
            ``decision_function``. The threshold t of the others minimises the exponential loss of
            the rows, ``sum_a w_a exp(H(a) - t) + sum_b w_b exp(t - H(b))``.
        """
        check_is_fitted(self)
        X = self._validated(X)
        X = X if hasattr(self, "estimators_") else by_columns(X)
        scores = np.zeros(X.shape[0])
        stages = zip(self._rankings(), self.alphas_, self.staged_thresholds_, strict=True)
        for ranking, alpha, threshold in stages:
            scores += alpha * ranking.values(X)
            yield self._towards_positive(scores) - threshold

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predicted classes after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            Classes, by the signs of the decision values of the stage.
        """
        for decision in self.staged_decision_function(X):
            yield self._labels(decision)


class _Validation:
    """AUC of held-out rows after each round, and whether it still rises."""

    def __init__(self, ranker: RankBoostRanker, X: Any, rows: TwoClasses) -> None:
        self._tol, self._patience = ranker.tol, ranker.n_iter_no_change
        self._matrix, self._rows = X, rows
        self._scores = np.zeros(len(rows.weight))
        self.history: list[float] = []
        self._best, self._best_at = -1.0, 0

    def ends(self, ranking: Any, alpha: float) -> bool:
        """Add a weak ranker; return whether the last rounds brought nothing."""
        self._scores += alpha * ranking.values(self._matrix)
        auc = roc_auc_score(self._rows.positive, self._scores, sample_weight=self._rows.weight)
        self.history.append(auc)
        if auc > self._best + self._tol:
            self._best, self._best_at = auc, len(self.history)
        return len(self.history) - self._best_at >= self._patience
