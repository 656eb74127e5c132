"""Boosted trees that minimise an order-preserving loss of queries."""

from __future__ import annotations

import sys
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._lists import Lists
from .._sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    with_callbacks,
)
from .._solvers import count_threads
from .._typing import AnyArray, FloatArray
from .._validation import ravelled
from .._warn import collected, warn
from ..losses import TemplateLoss, get_loss_names
from ..losses._shared import ThreadedLoss
from ..metrics import Measure, get_measure
from ._base import FitProgress, restored_on_error
from ._boosting import (
    EARLY_STOPPING_CONSTRAINTS,
    TREE_CONSTRAINTS,
    Monitor,
    boost,
    category_codes,
    check_validation_data,
    held_out_lists,
    importances_of,
    tree_settings,
)
from ._list_base import (
    MEASURE_CONSTRAINTS,
    CalibratedRanker,
    QueryRanker,
    check_held_out_weights,
    weights_of,
    with_query_weight,
)
from ._two_classes import feature_keys

# Number of random sign vectors for estimating the curvature of a loss without second derivatives.
N_DRAWS = 4


class LossObjective:
    """Loss of lists as an objective of trees."""

    def __init__(self, loss: TemplateLoss, lists: Lists, n_threads: int) -> None:
        self.loss, self.lists = loss, lists
        self.on_lists = ThreadedLoss(loss, lists, n_threads)
        self.constant = None if loss.has_curvature else self._secant_curvature()

    def __call__(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and curvature, the latter nowhere negative."""
        if self.constant is not None:
            return self.on_lists.value_and_gradient(score)[1], self.constant
        gradient, curvature = self.on_lists.gradient_and_curvature(score)
        return gradient, np.maximum(curvature, 0.0)

    def value(self, score: FloatArray) -> float:
        return float(self.on_lists.value_and_gradient(score)[0].sum())

    def base_score(self) -> float:
        """Constant score that minimises the loss; 0 if the loss does not depend on it."""
        if self.loss.is_translation_invariant:
            return 0.0

        def slope(score: float) -> float:
            scores = np.full(len(self.lists.labels), score)
            return float(self.on_lists.value_and_gradient(scores)[1].sum())

        low, high = -1.0, 1.0
        # If all utilities are at the upper limit, the loss has no minimum.
        while slope(low) > 0.0 and low > -32.0:
            low *= 2.0
        while slope(high) < 0.0 and high < 1e9 * (1.0 + self.lists.grade.max()):
            high *= 2.0
        if not slope(low) <= 0.0 <= slope(high):
            return 0.0
        return float(brentq(slope, low, high, rtol=1e-12))

    def _secant_curvature(self) -> FloatArray:
        """Mean curvature of the items of each list between scores that differ by about 1.

        For random signs z the mean of z'(g(z) - g(-z)) / 2 is the sum of the second derivatives of
        a quadratic loss (Hutchinson, 1990).
        """
        random = np.random.default_rng(0)
        total = np.zeros(self.lists.n_lists)
        for _ in range(N_DRAWS):
            signs = random.choice([-1.0, 1.0], len(self.lists.labels))
            rises = (self.on_lists.value_and_gradient(side)[1] for side in (signs, -signs))
            total += self.lists.totals(signs * np.subtract(*rises)) / (2 * N_DRAWS)
        mean = np.maximum(total, 0.0) / self.lists.sizes
        return np.asarray(self.lists.to_items(mean) * self.lists.counts)


def in_canonical_order(X: Any, lists: Lists) -> tuple[Any, Lists]:
    """Order the rows of each list by their content, whatever their order.

    Sums of floating-point numbers depend on the order, and the choice between two equal splits on
    such sums.
    """
    rows = np.arange(len(lists.labels)) if lists.rows is None else lists.rows
    key = feature_keys(X)[rows]
    order = np.lexsort((key, lists.counts, lists.grade, lists.list_of))
    rows, lists = rows[order], lists.take(slice(None), order)
    if X.shape[0] == len(rows) and np.array_equal(rows, np.arange(len(rows))):
        return X, lists
    return X[rows], lists


class BoostedOrderPreservingRanker(CallbackSupportMixin, CalibratedRanker):
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
        Record of the training queries, held-out ones included. :meth:`score` and scorers use it to
        warn when training queries are scored.
    n_queries_ : int
        Number of queries that were used, held-out ones included.
    objective_ : float
        Weighted mean loss of the training queries, at the trees used for scoring.
    validation_scores_ : ndarray of shape (n_rounds + 1,) or (0,)
        Value of ``measure`` on the held-out queries before the first round and after each round,
        negated if less is better. Empty without early stopping.
    categories_ : dict
        Categories of each column of dtype ``category``, by the number of the column.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    OrderPreservingRanker : Linear ranker with a certified optimum.
    sklearn_rank.calibration.regret_bound : What a small surrogate regret guarantees.

    Notes
    -----
    There is no certificate, since a sum of trees does not minimise a convex problem. To judge a
    fit, check that ``objective_`` decreases with ``n_estimators``, and score held-out queries.

    The gradients and curvatures of all rows are multiplied by one factor, so that the initial mean
    curvature is 1. Smaller curvatures than 1e-3 are raised to 1e-3.

    Weights apply to the loss: a row or query of weight 2 has the gradient of two copies. The trees
    can differ from those of repeated rows, since feature bins and ``min_samples_leaf`` count each
    row once. Rows of weight 0 are ignored.

    The result does not depend on the order of the rows, and on the ids only by rounding, if they
    sort in another order. LightGBM's results do not depend on the number of threads.

    Columns of dtype ``category`` of a pandas frame are split into sets of categories, as by the
    backends themselves; a category that the fit did not see is a missing value.

    A tree costs O(n_samples n_features) plus one gradient of the loss, as in
    :class:`OrderPreservingRanker`. LightGBM takes sparse matrices as they are. For XGBoost they
    are converted to dense single precision, since XGBoost treats entries that are not stored as
    missing, not as 0.

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

    _parameter_constraints = {
        **QueryRanker._parameter_constraints,
        "loss": [StrOptions(set(get_loss_names(aliases=True))), TemplateLoss],
        "measure": MEASURE_CONSTRAINTS,
        **TREE_CONSTRAINTS,
        "propensity_clip": [Interval(Real, 0, 1, closed="both")],
        **EARLY_STOPPING_CONSTRAINTS,
    }
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
        self.loss = loss
        self.measure = measure
        self.backend = backend
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.monotonic_cst = monotonic_cst
        self.propensity_clip = propensity_clip
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.single_list = single_list
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.backend_params = backend_params

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
            Id of the query of each row: numbers, strings or any sortable values, in any order.
            None treats up to 2,000 rows as one query, with a warning. A single number, or
            ``single_list=True``, treats any number of rows as one query without a warning.
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
            if propensity is not None and self.early_stopping and X_val is None:
                raise ValueError(
                    "early_stopping=True holds out queries, and their clicks are biased towards "
                    "items shown at the top: pass X_val, y_val and qid_val with known "
                    "relevance, or early_stopping=False."
                )
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
            objective = LossObjective(loss, train, count_threads(self.n_jobs))
            self.base_score_ = objective.base_score()
            settings = tree_settings(self, int(random.randint(2**31 - 1)))
            progress = FitProgress(self, self.n_estimators, X, y)

            def on_round(n_rounds: int, value: float | None) -> None:
                progress.step()
                if self.verbose:
                    held_out = "" if value is None else f": held-out {value:.6g}"
                    sys.stderr.write(f"tree {n_rounds} of {self.n_estimators}{held_out}\n")

            result = boost(
                X_train,
                objective,
                settings,
                base_score=self.base_score_,
                total_weight=float(weights_of(train) @ train.sizes) * train.n_lists,
                monitor=monitor,
                on_round=on_round,
            )
            progress.done()
            self._trees = result.trees
            self.best_iteration_ = result.trees.n_trees
            self.n_iter_ = result.n_rounds
            self.objective_ = objective.value(result.train_scores)
            self.validation_scores_ = (
                np.empty(0) if result.validation_values is None else result.validation_values
            )
            self.loss_ = loss
            self._store_queries(lists)
        return self

    def _checked_labelled(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, AnyArray]:
        return super()._checked_labelled(category_codes(self, X, reset=reset), y, reset=reset)

    def _checked_rows(self, X: Any) -> Any:
        return super()._checked_rows(category_codes(self, X))

    def _monitor_of_lists(self, X: Any, y: Any, lists: Lists) -> Monitor:
        """Monitor of queries of the training data."""
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
        measure: Measure = get_measure(self.measure)
        lists = measure.lists(y, np.zeros(X.shape[0]), qid=qid, **weights)

        def value(scores: FloatArray) -> float:
            with collected() as messages:
                estimate = measure.of_lists(lists.scored_by(scores, (X.shape[0],)))
            if np.isnan(estimate):
                raise ValueError(
                    f"{measure.name} is undefined for all held-out queries: hold out more "
                    "queries by validation_fraction=, or pass X_val=, y_val= and qid_val=."
                )
            for message, category in messages:
                warn(message, category)
            return float(estimate if measure.greater_is_better else -estimate)

        return Monitor(X, value, self.n_iter_no_change)

    @property
    def booster_(self) -> Any:
        """The ``lightgbm.Booster`` or ``xgboost.Booster``; its scores lack ``base_score_``."""
        check_is_fitted(self)
        return self._trees.model

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the total gain of the splits; 0 without a split."""
        check_is_fitted(self)
        return importances_of(self._trees)

    def _scores(self, X: Any) -> FloatArray:
        return self._trees.scores(X)
