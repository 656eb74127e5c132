"""Rankers of boosted trees: of two classes for the top, and of queries by a calibrated loss."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._lists import Lists
from .._sklearn_compat import (
    BlockProgress,
    CallbackSupportMixin,
    Interval,
    StrOptions,
    check_sample_weight,
    fit_context,
    with_callbacks,
)
from .._solvers import (
    ExponentialPush,
    LogisticLikelihood,
    LogisticPush,
    ScoreObjective,
    SmoothAccuracyAtTop,
    SmoothRankStatistic,
    SmoothTopPush,
    count_threads,
)
from .._typing import AnyArray, FloatArray
from .._validation import ravelled
from ..losses._shared import LossOnLists
from ..metrics import Exponential, Measure, ScoreGeneratingFunction, get_measure, roc_auc_score
from ._base import (
    FitProgress,
    feature_keys,
    refuse_blocked,
    restored_on_error,
    store_parameters,
)
from ._boosting import (
    TREE_CONSTRAINTS,
    BoostedFit,
    Monitor,
    Objective,
    Trees,
    boost,
    category_codes,
    check_validation_data,
    held_out_lists,
    hold_out_rows,
    refuse_held_out_clicks,
    tree_settings,
    with_categories,
)
from ._list_base import (
    MEASURE_CONSTRAINTS,
    CalibratedRanker,
    check_held_out_weights,
    held_out_value,
    weights_of,
    with_query_weight,
)
from ._one_problem import read_phi, sums_over_ranks
from ._two_classes import BipartiteRanker, TwoClasses, mass_of_top

# Maximum step of a leaf, in log-odds: misordered rows with large differences have a gradient but
# almost no curvature, and would give unlimited steps.
LONGEST_STEP = 3.0


TARGETS = ("top_push", "p_norm_push", "accuracy_at_top", "w_phi", "pairwise_logistic")


def target_of(ranker: Any, rows: TwoClasses) -> ScoreObjective:
    positive, weight = rows.positive, rows.weight
    if ranker.target == "top_push":
        return SmoothTopPush(positive, weight, ranker.tau)
    if ranker.target == "accuracy_at_top":
        return SmoothAccuracyAtTop(positive, weight, ranker.tau)
    if ranker.target == "pairwise_logistic":
        return LogisticPush(positive, weight, 1.0)
    if ranker.target == "p_norm_push":
        push = ExponentialPush if ranker.loss == "exponential" else LogisticPush
        return push(positive, weight, float(ranker.p))
    phi = Exponential(1.0 / ranker.tau) if ranker.phi is None else read_phi(ranker.phi)
    length = float(weight.sum())
    # Jumps within the top are smoothed over half of the top.
    window = max(1.0, 0.5 * ranker.tau * length)
    return SmoothRankStatistic(positive, weight, sums_over_ranks(phi, length), window)


def warmed_up(target: ScoreObjective, rows: TwoClasses, n_warmup: int) -> Objective:
    """Gradient and curvature of the logistic likelihood in the first rounds, then of a target."""
    likelihood = LogisticLikelihood(rows.positive, rows.weight)
    n_rounds, of_likelihood, factor = 0, 0.0, 0.0

    def objective(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        nonlocal n_rounds, of_likelihood, factor
        n_rounds += 1
        if n_rounds <= n_warmup:
            gradient, curvature = likelihood.gradient_and_curvature(scores)
            of_likelihood = of_likelihood or float(curvature.sum())
            return gradient, curvature
        gradient, curvature = target.gradient_and_curvature(scores)
        curvature = curvature + np.abs(gradient) / LONGEST_STEP
        if factor == 0.0:
            factor = (of_likelihood or 1.0) / max(float(curvature.sum()), TINY)
        return factor * gradient, factor * curvature

    return objective


TINY = np.finfo(np.float64).tiny


# Weight of the AUC of held-out rows added to their precision at the top, which has few values.
TIES = 1e-6

# Scores that differ by less than this share of the greatest are equal: backends read gradients in
# single precision.
ROUNDING = 1e-6


class BoostedRanker(CallbackSupportMixin):
    _parameter_constraints: ClassVar[dict[str, Any]] = TREE_CONSTRAINTS

    _trees: Trees

    def _grow(
        self,
        X: Any,
        objective: Objective,
        random: Any,
        total_weight: float,
        monitor: Monitor | None,
        tree_done: Callable[[], None],
        *,
        of: str = "",
        held_out: str,
    ) -> BoostedFit:
        """Grow the trees from ``base_score_`` on, and store them; with ``verbose`` report each."""

        def on_round(number: int, value: float | None) -> None:
            tree_done()
            if self.verbose:
                reached = "" if value is None else f": {held_out} {value:.6g}"
                sys.stderr.write(f"tree {number}{of}{reached}\n")

        result = boost(
            X,
            objective,
            tree_settings(self, int(random.randint(2**31 - 1))),
            base_score=self.base_score_,
            total_weight=total_weight,
            monitor=monitor,
            on_round=on_round,
        )
        values = result.validation_values
        self.validation_scores_ = np.empty(0) if values is None else values
        self.best_iteration_, self.n_iter_ = result.trees.n_trees, result.n_rounds
        self._trees = result.trees
        return result

    def _scores(self, X: Any) -> FloatArray:
        return self._trees.scores(X)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the total gain of the splits; 0 without a split."""
        check_is_fitted(self)
        return self._trees.importances()

    @property
    def booster_(self) -> Any:
        """The ``lightgbm.Booster`` or ``xgboost.Booster``; its scores lack ``base_score_``.

        Of two classes its scores are greater for positives, whichever class is positive.
        """
        check_is_fitted(self)
        return self._trees.model


class BoostedTopRanker(BoostedRanker, BipartiteRanker):
    r"""Gradient-boosted trees for two classes, trained for the top of the ranking.

    LightGBM or XGBoost grows the trees. The first trees minimise the logistic loss, as in any
    boosted classifier. The following trees minimise the target, a smooth function of all scores s.
    With positives i, negatives j, :math:`\ell(u) = \log(1 + e^u)` and means weighted by
    ``sample_weight``, the targets are:

    - "top_push": :math:`\operatorname{mean}_i \ell(T - s_i)`, T a smooth mean of the top ``tau``
      of the negatives' scores,
      :math:`T = \min_t t + \operatorname{mean}_j \ell(s_j - t) / \tau`;
    - "p_norm_push": :math:`(\operatorname{mean}_j (\operatorname{mean}_i
      \ell(s_j - s_i))^p)^{1/p}`, or for ``loss="exponential"`` its logarithm with
      :math:`e^u` for :math:`\ell`;
    - "accuracy_at_top": :math:`\frac12 \operatorname{mean}_i \ell(t - s_i) + \frac12
      \operatorname{mean}_j \ell(s_j - t)`, t the smooth top ``tau`` quantile of all scores;
    - "w_phi": minus the mean over positives of phi at their smooth ranks, which are sums of
      :math:`1 / (1 + e^{s_j - s_i})` over rows; it is not convex;
    - "pairwise_logistic": :math:`\operatorname{mean}_{ij} \ell(s_j - s_i)`.

    Parameters
    ----------
    target : str, default="top_push"
        Objective of the trees after the warm-up: "top_push", "p_norm_push", "accuracy_at_top",
        "w_phi" or "pairwise_logistic".
    tau : float, default=0.05
        Share of the rows that form the top of the list, in (0, 1). Used by the targets "top_push"
        (as a share of the negatives), "accuracy_at_top" and "w_phi" with ``phi=None``, and by
        ``measure=None``.
    p : float, default=4
        Exponent of "p_norm_push", at least 1. A greater value concentrates on fewer negatives,
        nearer to the top.
    phi : str, Measure, ScoreGeneratingFunction, callable or None, default=None
        Score-generating function of "w_phi": one of :mod:`sklearn_rank.metrics`, or a measure that
        is a linear rank statistic, such as ``"local_auc@0.8"``. None is :class:`Exponential(1 /
        tau) <sklearn_rank.metrics.Exponential>`.
    loss : {"logistic", "exponential"}, default="logistic"
        Loss of a pair of "p_norm_push".
    n_warmup : int or None, default=None
        Number of first trees that minimise the logistic loss, at least 0. None is half of
        ``n_estimators``, and 0 for "pairwise_logistic". Without a warm-up all rows are tied at the
        start, so that the list has no top yet.
    backend : {"lightgbm", "xgboost"}, default="lightgbm"
        Library that grows the trees; install it by ``python -m pip install "lightgbm>=4.7"`` or
        ``"xgboost>=3.2"``.
    n_estimators : int, default=100
        Maximum number of trees, those of the warm-up included.
    learning_rate : float, default=0.1
        Factor of each tree, positive. A greater value takes larger steps.
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of a tree, at least 2. None is no limit.
    max_depth : int or None, default=None
        Maximum depth of a tree. None is no limit.
    min_samples_leaf : int, default=20
        Minimum number of rows of a leaf. XGBoost uses it as a minimum sum of curvatures, whose
        initial mean is 1. A greater value gives a smoother score.
    l2_regularization : float, default=0.0
        Penalty on squared leaf values, in units of rows at the start. A greater value shrinks the
        leaf values.
    max_features : float, default=1.0
        Share of the features, in (0, 1], that are drawn at random for each node.
    monotonic_cst : array-like of int, dict of int or None, default=None
        Monotonicity of the score of the positive class in each feature: 1 is nondecreasing, -1 is
        nonincreasing, 0 is unconstrained. An array is by position, a dict by feature name.
    measure : str, Measure, ScoreGeneratingFunction, callable or None, default=None
        Measure on held-out rows for early stopping. None is :func:`smoothed precision
        <sklearn_rank.metrics.smoothed_precision_at_top_score>` at ``tau``, which has few values,
        plus a millionth of the AUC, which breaks ties.
    early_stopping : bool, default=False
        Whether to stop when ``measure`` on held-out rows no longer improves, and keep the trees up
        to the best round.
    validation_fraction : float or int, default=0.1
        Share of the rows of each class (float), or number of rows (int), held out if ``fit`` gets
        no ``X_val``.
    n_iter_no_change : int, default=20
        Number of trees without improvement after which the fit stops.
    pos_label : int, float, bool, str or None, default=None
        The class to be ranked at the top. None takes 1 if the labels are 0 and 1 or -1 and 1, and
        otherwise the greater label, with a warning.
    n_jobs : int or None, default=None
        Number of threads. None is 1, -1 uses all cores.
    random_state : int, RandomState or None, default=None
        Seed for drawing the held-out rows and the features of each node. Nothing else is random.
    verbose : int, default=0
        1 writes a line for each tree to the standard error; 0 is silent.
    backend_params : dict or None, default=None
        Further parameters of the backend, by its own names, such as ``{"max_bin": 63}``.

    Attributes
    ----------
    classes_, pos_label_ : ndarray of shape (2,), object
        The classes, ascending, and the positive one.
    best_iteration_ : int
        Number of trees used for scoring: those up to the best round, or all.
    n_iter_ : int
        Number of boosting rounds that were run.
    n_warmup_ : int
        Number of the trees used for scoring that belong to the warm-up.
    base_score_ : float
        Score of all rows before the first tree, the log-odds of the positive class.
    objective_ : float
        Value of the target on the training rows, without held-out rows.
    validation_scores_ : ndarray of shape (n_rounds + 1,) or (0,)
        Value of ``measure`` on the held-out rows before the first round and after each round,
        negated if less is better. Empty without early stopping.
    threshold_ : float
        Threshold that is subtracted from scores to give decision values: it cuts the share
        ``tau`` off new rows. It is a quantile of out-of-fold scores, which takes one to five more
        fits of ``best_iteration_`` trees.
    categories_ : dict
        Categories of each column of dtype ``category``, by the number of the column.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    TopFocusedRanker : Refits any classifier, boosted trees included, with weights.
    TopPushRanker : Linear ranker with a convex objective and a certificate.
    RankBoostRanker : Boosts stumps for the exponential loss of pairs.

    Notes
    -----
    If trees can fit the data well, the logistic loss of a classifier is hard to beat. The user
    guide shows where a target helps and where it does not.

    Each tree uses the gradient of the target and a diagonal, raised so that no leaf takes a step
    greater than 3. Gradients take O(n log n) time, sums over all pairs included, and O(n) memory.
    A row of weight 2 counts as two rows in the target, but not in ``min_samples_leaf`` or the
    feature bins of the backend. Missing values (NaN) are sent to the side of a split that lowers
    the target more. Columns of dtype ``category`` of a pandas frame are split into sets of
    categories; a category that the fit did not see is a missing value.

    References
    ----------
    .. [1] Li, Jin & Zhou (2014), *Top rank optimization in linear time*, NIPS 27.
    .. [2] Rudin (2009), *The p-norm push*, JMLR 10.
    .. [3] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the top*, NIPS 25.
    .. [4] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21.

    Examples
    --------
    >>> from sklearn_rank import BoostedTopRanker
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> ranker = BoostedTopRanker(tau=0.1, max_leaf_nodes=4).fit(X[::2], y[::2])
    >>> scores = ranker.decision_function(X[1::2])
    >>> precision_at_top_score(y[1::2], scores, tau=0.1) > 0.85
    True
    """

    # Of LightGBM, which rounds the number of rows of each bin from their curvature.
    counts_rows = True
    _parameter_constraints = {
        "target": [StrOptions(set(TARGETS))],
        "p": [Interval(Real, 1, None, closed="left")],
        "phi": [str, Measure, ScoreGeneratingFunction, callable, None],
        "loss": [StrOptions({"logistic", "exponential"})],
        "n_warmup": [Interval(Integral, 0, None, closed="left"), None],
        "measure": [*MEASURE_CONSTRAINTS, None],
    }
    _finite = "allow-nan"
    # Only the top tau of the rows lie above the threshold.
    _poor_score = True

    def __init__(
        self,
        target="top_push",
        *,
        tau=0.05,
        p=4,
        phi=None,
        loss="logistic",
        n_warmup=None,
        backend="lightgbm",
        n_estimators=100,
        learning_rate=0.1,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        monotonic_cst=None,
        measure=None,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=20,
        pos_label=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
        backend_params=None,
    ):
        store_parameters(locals())

    def _validated(
        self, X: Any, y: Any = "no_validation", *, reset: bool = True, **checks: Any
    ) -> Any:
        refuse_blocked(self, X)
        return super()._validated(category_codes(self, X, reset=reset), y, reset=reset, **checks)

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> BoostedTopRanker:
        """Grow the trees of the warm-up and of the target.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Labels of two classes, of any type; ``pos_label`` is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; rows of weight 0 are ignored.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Validation rows for early stopping. None holds out some rows of ``X``.
        y_val : array-like of shape (n_val,), default=None
            Labels of the validation rows.
        sample_weight_val : array-like of shape (n_val,), default=None
            Weights of the validation rows.

        Returns
        -------
        BoostedTopRanker
            The estimator itself.

        Raises
        ------
        ImportError
            If the backend is not installed.
        ValueError
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them,
            validation arguments are incomplete or passed without ``early_stopping=True``, or
            ``n_warmup`` is more than ``n_estimators``.

        Warns
        -----
        PositiveClassWarning
            If ``pos_label`` is None and the labels are neither 0 and 1 nor -1 and 1.
        SmallTopWarning
            If the target is "accuracy_at_top" and ``tau`` times the number of rows rounds to less
            than one row.
        """
        with restored_on_error(self):
            has_validation = check_validation_data(self.early_stopping, X_val, y_val=y_val)
            if sample_weight_val is not None and not has_validation:
                raise ValueError(
                    "fit got sample_weight_val without X_val and y_val: pass all three, or "
                    "leave out sample_weight_val."
                )
            n_warmup = self._warmup()
            X, y, rows = self._check_rows(X, y, sample_weight)
            self.classes_, self.pos_label_ = rows.classes, rows.pos_label
            random = check_random_state(self.random_state)
            if self.target == "accuracy_at_top":
                mass_of_top(rows.weight, self.tau)  # warns of less than one row
            progress = BlockProgress(self, self.n_estimators, X, y)
            X = X if len(rows.taken) == X.shape[0] else X[rows.taken]
            monitor, X_train, train = None, X, rows
            if has_validation:
                monitor = self._monitor(*self._validation_rows(X_val, y_val, sample_weight_val))
            elif self.early_stopping:
                labels, fraction = y[rows.taken], self.validation_fraction
                trained, held_out = hold_out_rows(labels, fraction, random)
                monitor = self._monitor(X[held_out], rows.part(held_out))
                X_train, train = X[trained], rows.part(trained)
            target = target_of(self, train)
            negative, positive = train.masses
            self.base_score_ = float(np.log(positive / negative))
            self._grow(
                X_train,
                warmed_up(target, train, n_warmup),
                random,
                float(train.weight.sum()),
                monitor,
                progress.block_done,
                held_out="held-out rows",
            )
            self.n_warmup_ = min(n_warmup, self.best_iteration_)
            self.objective_ = target.value(self._scores(X_train))
            scores = self._scores(X)
            n_trees = max(self.best_iteration_, 1)
            threshold = self._threshold_of_share(
                X,
                rows,
                scores,
                np.full(len(scores), ROUNDING * float(np.abs(scores).max())),
                flexible=True,
                share=self.tau,
                of_fold={
                    "n_estimators": n_trees,
                    "n_warmup": min(n_warmup, n_trees),
                    "early_stopping": False,
                    "verbose": 0,
                    "backend_params": with_categories(self),
                },
            )
            self.threshold_ = rows.direction * threshold
            progress.fit_done()
        return self

    def _warmup(self) -> int:
        if self.n_warmup is None:
            return 0 if self.target == "pairwise_logistic" else self.n_estimators // 2
        if self.n_warmup > self.n_estimators:
            raise ValueError(
                f"n_warmup={self.n_warmup} is greater than n_estimators={self.n_estimators}, the "
                "total number of trees: lower n_warmup, or use None."
            )
        return int(self.n_warmup)

    def _validation_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, TwoClasses]:
        X, y = self._validated(X, y, reset=False)
        weight = check_sample_weight(
            ravelled(sample_weight, "sample_weight_val"), X, name="sample_weight_val"
        )
        positive = self._of_fitted_classes(y)
        rows = TwoClasses.of_rows(self.classes_, self.pos_label_, positive, weight)
        if len(np.unique(rows.positive)) < 2:
            raise ValueError(
                "X_val has rows of positive sample_weight_val in one class only: pass rows of "
                "both classes."
            )
        return X[rows.taken], rows

    def _monitor(self, X: Any, rows: TwoClasses) -> Monitor:
        of_top = f"smoothed_precision@top{self.tau!r}"
        measure = get_measure(of_top if self.measure is None else self.measure)
        sign = 1.0 if measure.greater_is_better else -1.0

        def value(scores: FloatArray) -> float:
            estimate = sign * float(measure(rows.positive, scores, sample_weight=rows.weight))
            if self.measure is not None:
                return estimate
            # A top that is all positive from the first tree on does not end the fit.
            return estimate + TIES * roc_auc_score(
                rows.positive, scores, sample_weight=rows.weight
            )

        return X, value


# Number of random sign vectors for estimating the curvature of a loss without second derivatives.
N_DRAWS = 4


def loss_objective(loss: LossOnLists) -> Objective:
    """Gradient and curvature of a loss, the latter nowhere negative."""
    if not loss.has_curvature:
        constant = secant_curvature(loss)
        return lambda score: (loss.value_and_gradient(score)[1], constant)

    def objective(score: FloatArray) -> tuple[FloatArray, FloatArray]:
        gradient, curvature = loss.gradient_and_curvature(score)
        return gradient, np.maximum(curvature, 0.0)

    return objective


def best_constant(loss: LossOnLists) -> float:
    """Constant score that minimises the loss; 0 if the loss does not depend on it."""
    if loss.loss.is_translation_invariant:
        return 0.0

    def slope(score: float) -> float:
        scores = np.full(len(loss.lists.labels), score)
        return float(loss.value_and_gradient(scores)[1].sum())

    low, high = -1.0, 1.0
    # If all utilities are at the upper limit, the loss has no minimum.
    while slope(low) > 0.0 and low > -32.0:
        low *= 2.0
    while slope(high) < 0.0 and high < 1e9 * (1.0 + loss.lists.grade.max()):
        high *= 2.0
    if not slope(low) <= 0.0 <= slope(high):
        return 0.0
    return float(brentq(slope, low, high, rtol=1e-12))


def secant_curvature(loss: LossOnLists) -> FloatArray:
    """Mean curvature of the items of each list between scores that differ by about 1.

    The mean of z'(g(z) - g(-z)) / 2 over random signs z (Hutchinson, 1990).
    """
    random, lists = np.random.default_rng(0), loss.lists
    total = np.zeros(lists.n_lists)
    for _ in range(N_DRAWS):
        signs = random.choice([-1.0, 1.0], len(lists.labels))
        rises = (loss.value_and_gradient(side)[1] for side in (signs, -signs))
        total += lists.totals(signs * np.subtract(*rises)) / (2 * N_DRAWS)
    mean = np.maximum(total, 0.0) / lists.sizes
    return np.asarray(lists.to_items(mean) * lists.counts)


def in_canonical_order(X: Any, lists: Lists) -> tuple[Any, Lists]:
    """Order the rows of each list by their content, on which sums and equal splits depend."""
    rows = np.arange(len(lists.labels)) if lists.rows is None else lists.rows
    key = feature_keys(X)[rows]
    order = np.lexsort((key, lists.counts, lists.grade, lists.list_of))
    rows, lists = rows[order], lists.take(slice(None), order)
    if X.shape[0] == len(rows) and np.array_equal(rows, np.arange(len(rows))):
        return X, lists
    return X[rows], lists


class BoostedOrderPreservingRanker(BoostedRanker, CalibratedRanker):
    """Gradient-boosted trees for learning to rank, with a loss calibrated for a measure.

    The measure maps relevance y to utilities v = u(y). The scores s, a sum of trees, minimise
    ``sum over queries q of w_q l(v_q, s_q) / sum of w_q`` for the loss l. Each tree is a Newton
    step, using the gradient and the diagonal of the second derivatives, and is grown by LightGBM
    or XGBoost.

    Parameters
    ----------
    loss : str or TemplateLoss, default="pairwise_logistic"
        Loss: a name that :func:`sklearn_rank.losses.get_loss` takes, or a loss object. For a loss
        without second derivatives, a constant for each query is estimated from its gradients.
        Losses that are not order-preserving give a warning.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
        Measure that defines the utilities. :meth:`score` computes it, and early stopping uses it.
    backend : {"lightgbm", "xgboost"}, default="lightgbm"
        Library that grows the trees. Install it by the extra of the same name.
    n_estimators : int, default=100
        Maximum number of trees.
    learning_rate : float, default=0.1
        Factor of each tree, greater than 0. A greater value takes larger steps. At 1 the training
        loss need not decrease with every tree.
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of a tree, at least 2. None is no limit.
    max_depth : int or None, default=None
        Maximum depth of a tree. None is no limit.
    min_samples_leaf : int, default=20
        Minimum number of rows of a leaf, as the backend counts them. LightGBM estimates the share
        of the rows by the share of the curvature. XGBoost uses the sum of curvatures, whose
        initial mean is 1.
    l2_regularization : float, default=0.0
        Penalty on squared leaf values, in units of rows of mean curvature. A greater value shrinks
        the leaf values.
    max_features : float, default=1.0
        Share of the features, in (0, 1], that are drawn at random for each node.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Monotonicity of the score in each feature: 1 is nondecreasing, -1 is nonincreasing, 0 is
        unconstrained. A dict maps feature names to these numbers.
    propensity_clip : float, default=0.0
        Minimum propensity, in [0, 1]; smaller propensities are raised to it. A greater value gives
        less variance and more bias against rarely examined rows. 0 does not clip.
    early_stopping : bool, default=False
        Whether to stop when ``measure`` on held-out queries no longer improves, and keep the trees
        up to the best round.
    validation_fraction : float or int, default=0.1
        Share (float) or number (int) of the queries held out for early stopping if ``fit`` gets no
        ``X_val``.
    n_iter_no_change : int, default=20
        Number of rounds without improvement after which early stopping ends the fit.
    single_list : bool, default=False
        Whether all rows belong to one query. ``fit`` then takes no ``qid``.
    n_jobs : int or None, default=None
        Number of threads. None is 1, -1 uses all cores.
    random_state : int, RandomState or None, default=None
        Seed for drawing the held-out queries, and the features if ``max_features`` is less than 1.
        Nothing else is random.
    verbose : int, default=0
        1 writes a line for each tree to the standard error; 0 is silent.
    backend_params : dict or None, default=None
        Further parameters of the backend, by its own names, such as ``{"max_bin": 63}``.
        Parameters that duplicate one of the estimator, or change the objective, raise an error.

    Attributes
    ----------
    best_iteration_ : int
        Number of trees used for scoring: those up to the best round, or all.
    base_score_ : float
        Score of all rows before the first tree: the constant that minimises the loss, 0 for losses
        of score differences.
    loss_ : TemplateLoss
        The loss, with its parameters.
    n_iter_ : int
        Number of boosting rounds that were run.
    training_queries_ : object
        Record of these queries, by which :meth:`score` and scorers warn of them.
    n_queries_ : int
        Number of queries that were used, held-out ones included.
    objective_ : float
        Weighted mean loss of the training queries, at the trees used for scoring.
    validation_scores_ : ndarray of shape (n_rounds + 1,) or (0,)
        Value of ``measure`` on the held-out queries before the first round and after each round,
        negated if less is better. Empty without early stopping.
    categories_ : dict
        Categories of each column of dtype ``category``, by the number of the column.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    OrderPreservingRanker : Linear ranker with a certified optimum.
    sklearn_rank.calibration.regret_bound : What a small surrogate regret guarantees.

    Notes
    -----
    There is no certificate, since a sum of trees does not minimise a convex problem. To judge a
    fit, check that ``objective_`` decreases with ``n_estimators``, and score held-out queries.

    A row or query of weight 2 has the gradient of two copies, but feature bins and
    ``min_samples_leaf`` count each row once. Columns of dtype ``category`` are split as in
    :class:`BoostedTopRanker`.

    The result does not depend on the order of the rows, and on the ids only by rounding, if they
    sort in another order. LightGBM's results do not depend on the number of threads.

    A tree costs O(n_samples n_features) plus one gradient of the loss, as in
    :class:`OrderPreservingRanker`. For XGBoost, sparse matrices are converted to dense single
    precision, since it treats entries that are not stored as missing, not as 0.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93.
    .. [2] Friedman, J. H. (2001). Greedy function approximation: a gradient boosting machine.
       Annals of Statistics 29.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank import BoostedOrderPreservingRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> qid = np.repeat(np.arange(60), 10)
    >>> y = rng.binomial(3, 1 / (1 + np.exp(3 - 3 * X[:, 0] ** 2)))
    >>> ranker = BoostedOrderPreservingRanker(measure="ndcg@5", n_estimators=20)
    >>> ranker = ranker.fit(X[:400], y[:400], qid=qid[:400])
    >>> ranker.score(X[400:], y[400:], qid=qid[400:]) > 0.9
    True
    >>> ranker.feature_importances_.argmax()
    np.int64(0)
    """

    _finite = "allow-nan"

    def __init__(
        self,
        loss="pairwise_logistic",
        *,
        measure="ndcg",
        backend="lightgbm",
        n_estimators=100,
        learning_rate=0.1,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        monotonic_cst=None,
        propensity_clip=0.0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=20,
        single_list=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        backend_params=None,
    ):
        store_parameters(locals())

    @with_callbacks
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
        X_val: Any = None,
        y_val: Any = None,
        qid_val: Any = None,
    ) -> BoostedOrderPreservingRanker:
        """Grow trees that minimise the loss over the queries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. NaN is a missing value, sent to the side of a split that lowers the loss more.
            Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row, sortable, in any order. None treats up to 2,000 rows as
            one query, with a warning; a number, or ``single_list=True``, any number of rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; rows of weight 0 are ignored.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.
        propensity : array-like of shape (n_samples,), default=None
            If y is an observation of the relevance, such as clicks: probability in (0, 1] that
            each row was examined, as in :class:`OrderPreservingRanker`. ``early_stopping`` then
            needs ``X_val`` with known relevance.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Rows of validation queries for early stopping.
        y_val : array-like of shape (n_val,), default=None
            Relevance of the validation rows.
        qid_val : array-like of shape (n_val,), default=None
            Query ids of the validation rows. They may coincide with ids in ``qid``.

        Returns
        -------
        BoostedOrderPreservingRanker
            The estimator itself.

        Raises
        ------
        ImportError
            If the backend is not installed.
        ValueError
            If an argument is not valid, the measure is undefined for every query, most queries
            have one row, or ``qid`` is missing for more than 2,000 rows.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        CalibrationWarning
            If the loss is not order-preserving, or the measure is "ap" or "err".
        """
        with restored_on_error(self):
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            if propensity is not None and self.early_stopping:
                refuse_held_out_clicks(X_val)
            rows, lists = self._utility_lists(
                X, y, qid, weights, reset=True, propensity=propensity
            )
            random = check_random_state(self.random_state)
            monitor = None
            if check_validation_data(self.early_stopping, X_val, y_val=y_val, qid_val=qid_val):
                monitor = self._monitor(self._checked_rows(X_val), y_val, qid_val)
            train = lists
            if self.early_stopping and monitor is None:
                remedy = " Or pass X_val, y_val and qid_val, which need no weights."
                check_held_out_weights(get_measure(self.measure), lists, remedy)
                held_out = held_out_lists(lists, self.validation_fraction, random)
                train = lists.only(~held_out)
                monitor = self._monitor_of_lists(rows, y, lists.only(held_out))
            train = with_query_weight(train, 1 / weights_of(train).sum())
            loss = self._loss(float(train.grade.max()))
            X_train, train = in_canonical_order(rows, train)
            on_lists = LossOnLists(loss, train, count_threads(self.n_jobs))
            objective = loss_objective(on_lists)
            self.base_score_ = best_constant(on_lists)
            progress = FitProgress(self, self.n_estimators, X, y)
            result = self._grow(
                X_train,
                objective,
                random,
                float(weights_of(train) @ train.sizes) * train.n_lists,
                monitor,
                progress.block_done,
                of=f" of {self.n_estimators}",
                held_out="held-out",
            )
            progress.fit_done()
            self.objective_ = float(on_lists.value_and_gradient(result.train_scores)[0].sum())
            self.loss_ = loss
            self._store_queries(lists)
        return self

    def _checked_labelled(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, AnyArray]:
        return super()._checked_labelled(category_codes(self, X, reset=reset), y, reset=reset)

    def _checked_rows(self, X: Any) -> Any:
        return super()._checked_rows(category_codes(self, X))

    def _monitor_of_lists(self, X: Any, y: Any, lists: Lists) -> Monitor:
        rows = np.arange(len(lists.labels)) if lists.rows is None else lists.rows
        weight = lists.query_weight
        return self._monitor(
            X[rows],
            np.asarray(ravelled(y, "y"))[rows],
            lists.list_of,
            sample_weight=lists.weight,
            query_weight=None if weight is None else lists.to_items(weight),
        )

    def _monitor(self, X: Any, y: Any, qid: Any, **weights: Any) -> Monitor:
        return X, held_out_value(get_measure(self.measure), y, qid, **weights)
