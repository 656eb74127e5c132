"""Rankers of two classes that fit under changing weights: RankBoost, and refits for the top."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._optional import refuse_unknown_parameters
from .._sklearn_compat import (
    BlockProgress,
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    fit_context,
    rows_at,
    with_callbacks,
)
from .._solvers import (
    FeatureRanking,
    PairWeights,
    RankBoostResult,
    Stump,
    Stumps,
    WeakRanking,
    WeakSearch,
    best_feature,
    by_columns,
    rank_boost,
)
from .._typing import AnyArray, FloatArray
from ..metrics import Cauchy, ScoreGeneratingFunction, get_measure
from ..metrics._shared import own_pos_label, ranking_scores
from ._base import (
    TIED,
    check_columns,
    forget,
    in_parallel,
    refuse_blocked,
    restored_on_error,
    store_parameters,
)
from ._two_classes import (
    BipartiteRanker,
    Fold,
    LinearScores,
    TwoClasses,
    fit_with_weights,
    folds_of_all_rows,
    is_flexible,
    log_odds,
    log_odds_of_probabilities,
    mass_of_top,
    share_threshold,
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


def fitted_estimator(estimator: Any, X: Any, rows: TwoClasses, random: Any) -> WeakSearch:
    """Fit a clone to the rows, weighted by their shares of the pairs, as the weak ranking."""
    label = rows.positive.astype(np.int64)

    def best(signed: FloatArray) -> WeakRanking:
        weight = np.abs(signed) * (len(signed) / 2.0)  # 1 in the mean
        new = clone(estimator)
        if random is not None:
            seeds = {
                name: int(random.randint(np.iinfo(np.int32).max))
                for name in sorted(new.get_params(deep=True))
                if name.rpartition("__")[2] == "random_state"
            }
            new.set_params(**seeds)
        model = fit_with_weights(new, X, label, weight)
        scores = np.asarray(ranking_scores(model, X, 1), dtype=np.float64)
        low = float(scores.min())
        ranking = EstimatorRanking(model, low, float(scores.max()) - low)
        values = ranking.scaled(scores)
        return WeakRanking(ranking, values, float(signed @ values))

    return best


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
    learning_rate : float, default=1.0
        Factor of the coefficients, in (0, 1]. A smaller value needs more rounds.
    tol : float, default=1e-7
        Boosting ends when ``|r|`` is at most this value. A greater value ends earlier.
    pos_label : int, float, bool, str or None, default=None
        The class to be ranked at the top. None takes 1 if the labels are 0 and 1 or -1 and 1, and
        otherwise the greater label, with a warning.
    random_state : int, RandomState or None, default=None
        Seed for each fit of an estimator that has a ``random_state``; if None, the estimator keeps
        its own. Nothing else is random.
    verbose : int, default=0
        1 writes a line for each round to the standard error; 0 is silent.

    Attributes
    ----------
    classes_, pos_label_ : ndarray of shape (2,), object
        The classes, ascending, and the positive one.
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
        Threshold above which rows are predicted positive: it cuts the share of positives off new
        rows. It is a quantile of out-of-fold scores, which takes one to five more fits.
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
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

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

    ``staged_decision_function`` gives the scores of every round, to choose their number on
    held-out rows. A row of weight 2 counts as two rows. Among equally good stumps, the first
    feature and its lowest threshold are taken. A round takes O(n_samples * n_features), or
    O(nonzeros) for sparse rows. Memory is 12 bytes for each entry in addition to the data.

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
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_estimators=100,
        *,
        weak_ranker="stump",
        learning_rate=1.0,
        tol=1e-7,
        pos_label=None,
        random_state=None,
        verbose=0,
    ):
        store_parameters(locals())

    @property
    def _sparse(self) -> Any:
        weak_ranker = self.weak_ranker
        if isinstance(weak_ranker, str) or not hasattr(weak_ranker, "fit"):
            return "csr"
        return "csr" if get_tags(weak_ranker).input_tags.sparse else False

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them, or X, y
            or sample_weight is not finite.

        Warns
        -----
        PositiveClassWarning
            If ``pos_label`` is None and the labels are neither 0 and 1 nor -1 and 1.
        """
        with restored_on_error(self):
            if not isinstance(self.weak_ranker, str):
                weight_argument(self.weak_ranker, regressors=True)
            refuse_blocked(self, X)
            # Some fitted attributes exist only with some weak rankers.
            forget(self, *(name for name in vars(self) if name.endswith("_")))
            X, y, rows = self._check_rows(X, y, sample_weight)
            progress = BlockProgress(self, self.n_estimators, X, y)
            X = X if len(rows.taken) == X.shape[0] else X[rows.taken]
            self._boost(X, rows, progress.block_done)
            self.classes_, self.pos_label_ = rows.classes, rows.pos_label
            self._store_threshold(X, rows)
            progress.fit_done()
        return self

    def _boost(self, X: Any, rows: TwoClasses, block_done: Callable[[], None]) -> None:
        def on_round(alpha: float, log_loss: float) -> None:
            block_done()
            if self.verbose:
                sys.stderr.write(f"alpha {alpha:.6g}, loss {np.exp(log_loss):.6g}\n")

        is_exact = isinstance(self.weak_ranker, str)
        search: WeakSearch
        if is_exact:
            X = by_columns(X)
            search = Stumps(X).best if self.weak_ranker == "stump" else best_feature(X)
        else:
            random = None
            if self.random_state is not None:
                random = check_random_state(self.random_state)
            search = fitted_estimator(self.weak_ranker, X, rows, random)
        result = rank_boost(
            search,
            PairWeights(rows.positive, rows.weight),
            self.n_estimators,
            learning_rate=self.learning_rate,
            tol=self.tol,
            is_exact=is_exact,
            on_round=on_round,
        )
        self._store(result, rows.direction, X.shape[1])

    def _store(self, result: RankBoostResult, direction: float, n_features: int) -> None:
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
            of_fold={"n_estimators": max(self.n_iter_, 1), "verbose": 0},
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

    def _stages(self, X: Any) -> Iterator[FloatArray]:
        """Scores of validated rows after each round, greater for positives."""
        X = X if hasattr(self, "estimators_") else by_columns(X)
        scores = np.zeros(X.shape[0])
        for ranking, alpha in zip(self._rankings(), self.alphas_, strict=True):
            scores = scores + alpha * ranking.values(X)
            yield scores

    def _scores(self, X: Any) -> FloatArray:
        if hasattr(self, "coef_"):
            return self._towards_positive(LinearScores(self.coef_[0]).scores(X))
        last = deque(self._stages(X), maxlen=1)
        return last[0] if last else np.zeros(X.shape[0])

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
        refuse_blocked(self, X)
        stages = self._stages(self._validated(X, reset=False))
        for scores, threshold in zip(stages, self.staged_thresholds_, strict=True):
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


Combination = Literal["pilot", "last", "sum"]


def focus_weights(
    scores: FloatArray, weight: FloatArray, phi: ScoreGeneratingFunction, floor: float
) -> FloatArray:
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    gap = -np.diff(ordered) > TIED * (ordered[0] - ordered[-1])
    starts = np.flatnonzero(np.r_[True, gap])
    mass = np.add.reduceat(weight[order], starts)
    below = (weight.sum() - np.cumsum(mass) + mass / 2.0) / weight.sum()
    rate = np.asarray(phi.derivative(np.clip(below, 0.0, 1.0)), dtype=np.float64)
    if not np.all(np.isfinite(rate) & (rate >= 0.0)) or rate.max() <= 0.0:
        raise ValueError(
            f"The derivative of focus={phi!r} must be finite and non-negative at the places of all"
            " rows, and positive for one: pass another function, such as Cauchy(0.25)."
        )
    focused, sizes = np.empty(len(scores)), np.diff(starts, append=len(scores))
    focused[order] = np.repeat(np.maximum(floor, rate / rate.max()), sizes)
    focused *= weight
    return focused * (weight.sum() / focused.sum())


def shares_of(combination: Combination, spreads: Any) -> FloatArray:
    """Shares of pilot and last round in the scores, given the spreads of theirs."""
    if combination != "sum":
        return np.array([1.0, 0.0] if combination == "pilot" else [0.0, 1.0])
    # Scores without spread order nothing, and have no share.
    shares = np.array([1.0 / spread if spread > 0.0 else 0.0 for spread in spreads])
    return shares / shares.sum() if shares.any() else np.array([0.0, 1.0])


def pooled_scores(
    models: list[Any],
    X: Any,
    positive: Any,
    shares: FloatArray,
    score: Callable[[Any, Any, Any], FloatArray] = log_odds,
) -> FloatArray:
    """Scores by the pilot, the first of the models, and the last round."""
    ends = zip((models[0], models[-1]), shares, strict=True)
    return np.asarray(sum(share * score(model, X, positive) for model, share in ends if share))


def _score_fold(
    fit: Callable[..., Any], X: Any, y: AnyArray, weight: FloatArray, positive: Any, fold: Fold
) -> FloatArray:
    train, test = fold
    model = fit(rows_at(X, train), y[train], weight[train])
    return log_odds(model, rows_at(X, test), positive)


def _spread(scores: FloatArray, weight: FloatArray) -> float:
    """Weighted standard deviation; 0 where the scores differ by rounding only."""
    centred = scores - np.average(scores, weights=weight)
    spread = float(np.sqrt(np.average(centred**2, weights=weight)))
    return spread if spread > TIED * float(np.abs(scores).max()) else 0.0


class TopFocusedRanker(CallbackSupportMixin, BipartiteRanker):
    r"""Refit any classifier with more weight on its top-scored rows, for precision at the top.

    The pilot is a fit to the unweighted rows. Each further round weights a row by its place in the
    ranking of the previous round,

    .. math:: \max\Bigl(\text{floor}, \frac{1}{1 + (v / \text{focus})^2}\Bigr),

    where v is the share of the list above it, and refits the classifier. By default, the score is
    the sum of the standardised scores of the pilot and the last round. The weights depend only on
    the features of a row, through its score. If the model of the classifier is correctly
    specified, all rounds estimate the same parameters; if not, the last round fits best near the
    top.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Classifier whose ``fit`` takes ``sample_weight``, or a pipeline or search that ends in one.
        None is ``LogisticRegression(max_iter=1000)``.
    tau : float, default=0.05
        Share of the rows that make the top, in (0, 1): It sets the default of ``focus``, the
        criterion of ``combine="choose"``, and ``top_threshold_``.
    pos_label : int, float, bool, str or None, default=None
        The positive class: its rows are to be ranked at the top. None takes the ``pos_label`` of
        the estimator if it has one, else 1 if the labels are 0 and 1 or -1 and 1, and otherwise
        the greater label, with a warning.
    focus : float, ScoreGeneratingFunction or None, default=None
        Share of the list at which the weight is one half, positive. A smaller value concentrates
        on the top and learns from fewer rows. None is ``max(4 * tau, 0.25)``. Alternatively, a
        function phi of :mod:`sklearn_rank.metrics` with a derivative, which gives the weights
        :math:`\phi'(1 - v) / \max \phi'`. A number f is equivalent to :class:`Cauchy(f)
        <sklearn_rank.metrics.Cauchy>`.
    floor : float, default=0.02
        Minimum weight, in (0, 1]. A smaller value ignores more of the rest of the list; with 1,
        all rows have equal weight.
    n_rounds : int, default=2
        Number of fits after the pilot, at least 1.
    combine : {"sum", "last", "choose"}, default="sum"
        How the scores are combined: "sum" adds the standardised scores of pilot and last round,
        "last" uses the last round only, "choose" takes the candidate with the best cross-validated
        :func:`smoothed precision <sklearn_rank.metrics.smoothed_precision_at_top_score>` at
        ``tau`` among the pilot, the last round and the sum; ties go to the first of these.
    pilot_ranks : {"auto", "training", "out_of_fold"}, default="auto"
        Scores that rank the rows: "training" uses a fit to all rows, "out_of_fold" uses fits to
        the other folds, which is needed if the classifier fits its training rows closely. "auto"
        is "training" for linear models (with ``coef_``), else "out_of_fold".
    cv : int, splitter, iterable or None, default=None
        Folds of "out_of_fold" and "choose", as in scikit-learn. Each row must be in exactly one
        test part. None is five stratified folds.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel. None is 1, -1 uses all cores. The result does not
        depend on it.

    Attributes
    ----------
    classes_, pos_label_ : ndarray of shape (2,), object
        The classes, ascending, and the positive one.
    pilot_ : estimator
        The fit to the unweighted rows.
    rounds_ : list of estimator
        The fits of the further rounds.
    focus_ : ScoreGeneratingFunction
        The function phi whose derivative gives the weights.
    combine_ : {"sum", "last", "pilot"}
        Scores that are used.
    scores_ : dict of ndarray of shape (n_folds,)
        Criterion of each candidate on each fold. Only for ``combine="choose"``.
    spreads_ : ndarray of shape (2,)
        Standard deviations of the training scores of pilot and last round, by which the sum
        divides the scores.
    top_threshold_ : float
        Decision value beyond which the top ``tau`` of new rows lie, the greater values if
        ``classes_[1]`` is the positive class, and the smaller ones if ``classes_[0]`` is. It is a
        quantile of the training scores of linear models with at least 10 rows a feature, and of
        out-of-fold scores of all others.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the decision values, if the classifier has such.
    intercept_ : ndarray of shape (1,)
        Their constant.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the features for the scores that are used, if the classifier has such:
        weighted like the scores in a sum.
    n_features_in_ : int
        Number of features, if the rows have features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    AccuracyAtTopRanker : Linear ranker for one share of the top, with certificates.
    sklearn_rank.metrics.smoothed_precision_at_top_score : Measure for choosing parameters.

    Notes
    -----
    ``decision_function`` is a weighted mean of the decision values of the two fits (of their
    log-odds, if the classifier has no decision values), which gives the same order as the sum of
    standardised scores. ``predict_proba`` pools their probabilities in the same way. The
    thresholds 0 and 1/2 separate the classes, as in the classifier itself.

    With weights on the positives alone, each round increases a lower bound of the linear rank
    statistic :func:`W_phi <sklearn_rank.metrics.linear_rank_score>`; see the theory pages. The
    weights of the negatives, and the sum of scores, are heuristics supported by a study over many
    data sets; see the documentation.

    The cost is ``n_rounds + 1`` fits, or ``(n_rounds + 1)(n_folds + 1)`` with "out_of_fold"; for
    linear models with fewer than 10 rows a feature ``2 n_folds`` more than the first.
    "choose" takes the same on each fold in addition.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21: the statistic.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_rank import TopFocusedRanker
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> base = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
    >>> ranker = TopFocusedRanker(base).fit(X[::2], y[::2])
    >>> scores = ranker.decision_function(X[1::2])
    >>> precision_at_top_score(y[1::2], scores, tau=0.1).__round__(2)
    0.83
    """

    _parameter_constraints = {
        "estimator": "no_validation",
        "focus": [Interval(Real, 0, None, closed="neither"), ScoreGeneratingFunction, None],
        "floor": [Interval(Real, 0, 1, closed="right")],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "combine": [StrOptions({"sum", "last", "choose"})],
        "pilot_ranks": [StrOptions({"auto", "training", "out_of_fold"})],
    }

    def __init__(
        self,
        estimator=None,
        *,
        tau=0.05,
        pos_label=None,
        focus=None,
        floor=0.02,
        n_rounds=2,
        combine="sum",
        pilot_ranks="auto",
        cv=None,
        n_jobs=None,
    ):
        store_parameters(locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_base = get_tags(self._base())
        tags.input_tags = of_base.input_tags
        tags.classifier_tags.poor_score = of_base.classifier_tags.poor_score
        return tags

    def _base(self) -> Any:
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the pilot and the weighted rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as the classifier takes them.
        y : array-like of shape (n_samples,)
            Labels of two classes, of any type; ``pos_label`` is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; rows of weight 0 are ignored.
        groups : array-like of shape (n_samples,), default=None
            Groups for ``cv``.
        **fit_params : dict
            Further arguments of each fit of the classifier, such as ``eval_X=X_val,
            eval_y=y_val`` for early stopping of LightGBM. Do not pass arrays of one value per row
            of X, because folds are fitted, too.

        Returns
        -------
        TopFocusedRanker
            The estimator itself.

        Raises
        ------
        TypeError
            If the estimator is not a classifier or takes no ``sample_weight``.
        ValueError
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them, or the
            test parts of ``cv`` are not a partition of the rows.

        Warns
        -----
        PositiveClassWarning
            If neither this ranker nor the estimator sets ``pos_label``, and the labels are neither
            0 and 1 nor -1 and 1.
        SmallTopWarning
            If ``tau`` times the number of rows rounds to less than one row.
        """
        with restored_on_error(self):
            base = self._base()
            weight_argument(base)
            refuse_unknown_parameters(base)
            X, y, rows, cv, groups = self._check_rows_of_members(
                X, y, sample_weight, groups, own_pos_label(base)
            )
            self.classes_, self.pos_label_ = rows.classes, rows.pos_label
            mass_of_top(rows.weight, self.tau)  # warns of less than one row
            progress = BlockProgress(self, self.n_rounds + 1, X, y)
            self.focus_ = self._focus()
            fit_rounds = partial(self._fit_rounds, cv, fit_params)
            self.combine_ = self.combine
            forget(self, "scores_")
            if self.combine == "choose":
                measure = get_measure(f"smoothed_precision@top{self.tau!r}")
                values: dict[Any, list[float]] = {name: [] for name in get_args(Combination)}
                for train, test in self._folds(cv, X, y, groups):
                    part = None if groups is None else rows_at(groups, train)
                    models, spreads, _ = fit_rounds(
                        rows_at(X, train), y[train], rows.part(train), part
                    )
                    of_test, args = rows.part(test), (rows_at(X, test), rows.pos_label)
                    for name, column in values.items():
                        scores = pooled_scores(models, *args, shares_of(name, spreads))
                        mass = of_test.weight
                        column.append(measure(of_test.positive, scores, sample_weight=mass))
                self.scores_ = {name: np.array(column) for name, column in values.items()}
                self.combine_ = max(values, key=lambda name: self.scores_[name].mean())
            models, self.spreads_, held_out = fit_rounds(
                X, y, rows, groups, on_round=progress.block_done, for_threshold=True
            )
            self.pilot_, *self.rounds_ = models
            shares = shares_of(self.combine_, self.spreads_)
            if held_out is None:
                scores = pooled_scores(models, X, rows.pos_label, shares)
            else:
                scores = shares[0] * held_out[0] + shares[1] * held_out[1]
            self.top_threshold_ = rows.direction * share_threshold(
                scores, np.zeros(len(scores)), rows.weight, self.tau
            )
            progress.fit_done()
        return self

    def _focus(self) -> ScoreGeneratingFunction:
        phi = self.focus
        if phi is None:
            # A narrower focus ignores the bulk on some data sets: its rows then rise to the top.
            phi = Cauchy(max(4.0 * self.tau, 0.25))
        elif not isinstance(phi, ScoreGeneratingFunction):
            phi = Cauchy(phi)
        if not phi.has_derivative:
            raise ValueError(
                f"focus={phi!r} has no derivative, which defines the weights of the rows: pass a "
                "share of the list, or a function such as Exponential(20.0)."
            )
        return phi

    def _fit_rounds(
        self,
        cv: Any,
        fit_params: dict[str, Any],
        X: Any,
        y: AnyArray,
        rows: TwoClasses,
        groups: Any,
        *,
        on_round: Callable[[], None] = lambda: None,
        for_threshold: bool = False,
    ) -> tuple[list[Any], FloatArray, Any]:
        """Fit, weigh the rows by their places, fit again.

        Returns the models, the spreads of the scores of the first and the last, and if they are
        needed for a threshold their scores of held-out rows.
        """
        weight, positive = rows.weight, rows.pos_label
        fit: Callable[..., Any] = partial(fit_with_weights, self._base(), **fit_params)

        def score_held_out(weight: FloatArray, folds: Sequence[Fold]) -> FloatArray:
            calls = ((fit, X, y, weight, positive, fold) for fold in folds)
            parts = in_parallel(self.n_jobs, _score_fold, calls)
            scores = np.empty(len(y))
            for (_, test), part in zip(folds, parts, strict=True):
                scores[test] = part
            return scores

        models = [fit(X, y, weight)]
        on_round()
        linear, ranks = _linear_part(models[0]), self.pilot_ranks
        if ranks == "auto":
            ranks = "out_of_fold" if linear is None else "training"
        # Folds of out-of-fold scores; None for scores of the fit to all rows.
        folds = None if ranks == "training" else self._folds(cv, X, y, groups)
        current, pilot_scores = weight, None
        for _ in range(self.n_rounds):
            if folds is None:
                scores = log_odds(models[-1], X, positive)
            else:
                scores = score_held_out(current, folds)
                pilot_scores = scores if pilot_scores is None else pilot_scores
            current = focus_weights(scores, weight, self.focus_, self.floor)
            models.append(fit(X, y, current))
            on_round()
        spreads = [_spread(log_odds(models[k], X, positive), weight) for k in (0, -1)]
        held_out = None
        is_steady = linear is not None and not is_flexible(rows, np.shape(linear.coef_)[-1])
        rarest = min(np.sum(rows.positive), np.sum(~rows.positive))
        if for_threshold and not is_steady and rarest >= 10:  # else too few to hold out
            folds = self._folds(cv, X, y, groups)
            if pilot_scores is None:
                pilot_scores = score_held_out(weight, folds)
            held_out = pilot_scores, score_held_out(current, folds)
        return models, np.array(spreads), held_out

    def _folds(self, cv: Any, X: Any, y: AnyArray, groups: Any) -> list[Fold]:
        """Folds of which each row is in one test part, and both classes in each training part."""
        if isinstance(cv, list) and any(np.max(test, initial=0) >= len(y) for _, test in cv):
            raise ValueError(
                "cv is a list of splits of all rows, but combine='choose' must also split its "
                "training parts: pass a splitter, such as StratifiedKFold(5), or "
                "pilot_ranks='training'."
            )
        return folds_of_all_rows(cv, X, y, groups)

    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values, on the scale of those of the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Decision values, greater for ``classes_[1]``. 0 separates the classes, and
            ``top_threshold_`` cuts off the top.
        """
        check_is_fitted(self)
        X = check_columns(self, X, reset=False)
        return self._pooled(X, log_odds)

    def _of_fits(self, name: str) -> FloatArray:
        """Combine an attribute of pilot and last round as the scores are combined."""
        if not hasattr(self, "pilot_"):
            raise AttributeError(f"{name} needs a fit: call fit first.")
        parts = [np.asarray(getattr(fit, name)) for fit in (self.pilot_, self.rounds_[-1])]
        if name == "feature_importances_":
            parts = [part / (part.sum() or 1.0) for part in parts]
        shares = shares_of(self.combine_, self.spreads_)
        return shares[0] * parts[0] + shares[1] * parts[1]

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the decision values: a sum of linear fits is linear."""
        return self._of_fits("coef_")

    @property
    def intercept_(self) -> FloatArray:
        """Constant of the decision values."""
        return self._of_fits("intercept_")

    @property
    def feature_importances_(self) -> FloatArray:
        """Importances of pilot and last round, each of sum 1, weighted like their scores."""
        return self._of_fits("feature_importances_")

    @available_if(lambda self: hasattr(getattr(self, "pilot_", self._base()), "predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class, by the last round or pooled over pilot and last round.

        The logarithms of the odds are pooled as ``decision_function`` pools decision values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        X = check_columns(self, X, reset=False)
        odds = self._pooled(X, log_odds_of_probabilities)
        return expit(np.column_stack((-odds, odds)))

    def _pooled(self, X: Any, score: Any) -> FloatArray:
        models, shares = [self.pilot_, *self.rounds_], shares_of(self.combine_, self.spreads_)
        return self._towards_positive(pooled_scores(models, X, self.pos_label_, shares, score))


def _linear_part(estimator: Any) -> Any:
    """What has coefficients: a fitted estimator, or what a pipeline or search ends in; or None."""
    while True:
        if hasattr(estimator, "coef_"):
            return estimator
        steps = getattr(estimator, "steps", None)
        inner = steps[-1][1] if steps else getattr(estimator, "best_estimator_", None)
        if inner is None:
            return None
        estimator = inner
