"""Boosted trees that minimise an order-preserving loss of queries."""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._lists import Lists
from .._sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    RealNotInt,
    StrOptions,
    check_monotonic_cst,
    fit_context,
    with_callbacks,
)
from .._solvers import threads_here
from .._typing import FloatArray
from .._validation import ravelled
from ..losses import TemplateLoss, get_loss_names
from ..metrics import Measure, get_measure
from ._boosted_losses import LossObjective, MeasureOfScores, in_canonical_order
from ._boosting import BoostedFit, Monitor, TreeSettings, boost, importances_of
from ._calibrated_base import CalibratedRanker
from ._fitting import FitProgress, restored_on_error
from ._query_base import MEASURE_CONSTRAINTS, QueryRanker, weights_of, with_query_weight
from ._query_holdout import EARLY_STOPPING_CONSTRAINTS, check_validation_data, held_out_lists

__all__ = ["BoostedOrderPreservingRanker"]


class BoostedOrderPreservingRanker(CallbackSupportMixin, CalibratedRanker):
    """Boosted trees for queries that minimise a loss calibrated with a measure.

    With the utilities v = u(y) that the measure gives the items, it grows trees of which the sum s
    makes ``sum over queries q of w_q l(v_q, s_q) / sum of w_q`` small, where l is the loss as its
    definition says. Each tree is a Newton step by the gradient and the diagonal of the second
    derivatives, grown by LightGBM or XGBoost.

    Parameters
    ----------
    loss : str or TemplateLoss, default="pairwise_logistic"
        Loss, by a name that :func:`sklearn_rank.losses.get_loss` takes, or made with parameters of
        its own, or of one's own. A loss without second derivatives is taken with a constant one
        for each query, estimated from its gradients. Losses that are not order-preserving are
        taken with a warning.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
        The measure that gives the utilities, of which :meth:`score` is the value, and by which
        the fit stops early.
    backend : {"lightgbm", "xgboost"}, default="lightgbm"
        What grows the trees: the package is one of the extras of this one.
    n_estimators : int, default=100
        Largest number of trees.
    learning_rate : float, default=0.1
        Factor of each tree, greater than 0; more is larger steps. At 1 the training loss need not
        fall with every tree.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree, at least 2; None is no limit.
    max_depth : int or None, default=None
        Largest depth of a tree; None is no limit.
    min_samples_leaf : int, default=20
        Least number of rows of a leaf, as the backends count them: LightGBM takes the share of a
        leaf in the curvature of its node for its share of the rows, XGBoost the sum of curvatures,
        of which the mean at the start is 1.
    l2_regularization : float, default=0.0
        Penalty of the squared values of the leaves, in units of rows of mean curvature; more is
        smaller values.
    max_features : float, default=1.0
        Share of the features, drawn anew, that are tried at each node.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        1 where the score may only rise with a feature, -1 where it may only fall, 0 elsewhere; or
        such numbers by names of features.
    propensity_clip : float, default=0.0
        Least propensity, in [0, 1]: smaller ones count as this one. More is less variance, and
        more bias against rows that were rarely examined; 0 clips none.
    early_stopping : bool, default=False
        Whether to end the fit, and to keep the trees up to the best round, by the value of
        ``measure`` for held-out queries.
    validation_fraction : float or int, default=0.1
        Share of the queries, or their number, that ``early_stopping`` holds out where ``fit`` gets
        no ``X_val``. Queries are held out whole.
    n_iter_no_change : int, default=20
        After how many rounds without a better value ``early_stopping`` ends the fit.
    single_list : bool, default=False
        Whether all rows are one list, so that no ``qid`` is needed, and none is taken.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 is all.
    random_state : int, RandomState or None, default=None
        What draws the held-out queries, and features where ``max_features`` is below 1; else
        nothing is random.
    verbose : int, default=0
        Whether to write a line for each tree to the standard error.
    backend_params : dict or None, default=None
        Further parameters in the words of the backend, as ``{"max_bin": 63}``. What another
        parameter says, or would change what is minimised, is refused.

    Attributes
    ----------
    best_iteration_ : int
        Number of trees that score: those up to the best round, or all.
    base_score_ : float
        Score of all rows before the first tree: the constant of which the loss is least, 0 for
        losses of differences of scores.
    loss_ : TemplateLoss
        The loss, with its parameters.
    n_iter_ : int
        Number of rounds that were run.
    training_queries_ : object
        Which queries were learned from, those held out among them, so that :meth:`score` and
        scorers can warn where some of them are scored.
    n_queries_ : int
        Number of queries that counted, those held out among them.
    objective_ : float
        Loss of the training queries by the trees that score, the weighted mean over them.
    validation_scores_ : ndarray of shape (n_rounds + 1,) or (0,)
        Value of ``measure`` for the held-out queries at the start and after each round, the
        negative value where less is better; empty without early stopping.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string names.

    See Also
    --------
    OrderPreservingRanker : Linear, with a certified optimum.
    sklearn_rank.calibration.regret_bound : What a small surrogate regret guarantees.

    Notes
    -----
    There is no certificate: the sum of trees is not the minimiser of a convex problem. What can be
    seen is that ``objective_`` falls with ``n_estimators``, and the value for held-out queries.

    The gradient and curvature of all rows are multiplied by one number, so that the mean curvature
    at the start is 1. Rows at which a loss hardly bends are taken with a curvature of 1e-3.

    Weights are those of the loss: a row or query of weight 2 has the gradient that it and its copy
    would have together. The trees need not be those of repeated rows, since the bins of the
    features, and ``min_samples_leaf``, count each row once. A weight of 0 is the row absent.

    The order of the rows and the names of the ids change nothing but, where ids sort in another
    order, roundings. LightGBM's results do not depend on the number of threads.

    A tree costs O(n_samples n_features) and the loss what it costs
    :class:`OrderPreservingRanker` for one gradient. LightGBM takes sparse matrices as they are;
    XGBoost takes them as dense ones in single precision, since what is not stored there is
    missing, not 0.

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
        "backend": [StrOptions({"lightgbm", "xgboost"})],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_features": [Interval(RealNotInt, 0, 1, closed="right")],
        "monotonic_cst": ["array-like", dict, None],
        "propensity_clip": [Interval(Real, 0, 1, closed="both")],
        **EARLY_STOPPING_CONSTRAINTS,
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "backend_params": [dict, None],
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
        """Grow trees that make the loss over the queries small.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; NaN is a value that is missing, which the trees send to the side that is
            better. Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row: numbers, strings or anything that sorts, in any order.
            None takes up to 2,000 rows as one query, with a warning; a single number, or
            ``single_list=True``, does on purpose.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 0 is the row absent.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.
        propensity : array-like of shape (n_samples,), default=None
            Where y is what was observed of the relevance, as clicks: the probability in (0, 1]
            that each row was examined, as in :class:`OrderPreservingRanker`. ``early_stopping``
            then needs ``X_val`` and relevance that is known.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Rows of other queries, by which ``early_stopping=True`` ends the fit.
        y_val : array-like of shape (n_val,), default=None
            Their relevance.
        qid_val : array-like of shape (n_val,), default=None
            Their ids, which need not differ from those of ``qid``.

        Returns
        -------
        BoostedOrderPreservingRanker
            The estimator itself.

        Raises
        ------
        ImportError
            If the package of the backend is not installed.
        ValueError
            If an argument is not valid, the measure is undefined for every query, most queries
            have one row, or ``qid`` is missing for more than 2,000 rows.
        ScorerSetupError
            If a search or cross-validation of scikit-learn passes no ``qid``, or has cut queries.
            It ends the search at once, which would turn other errors into NaN.

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
                    "early_stopping=True holds out queries, and a measure of their clicks prefers"
                    " what was shown on top: pass X_val, y_val and qid_val with known relevance,"
                    " or early_stopping=False."
                )
            rows, lists = self._utility_lists(
                X, y, qid, weights, reset=True, propensity=propensity
            )
            random = check_random_state(self.random_state)
            held = None
            if check_validation_data(self.early_stopping, X_val, y_val=y_val, qid_val=qid_val):
                held = self._monitor(self._checked_rows(X_val), y_val, qid_val)
            train = lists
            if self.early_stopping and held is None:
                kept = ~held_out_lists(lists, self.validation_fraction, random)
                train, held = lists.only(kept), self._held_out(rows, y, lists.only(~kept))
            train = with_query_weight(train, 1 / weights_of(train).sum())
            loss = self._loss(train)
            taken, train = in_canonical_order(rows, train)
            objective = LossObjective(loss, train, threads_here(self.n_jobs))
            self.base_score_ = objective.base_score()
            found = self._boost(taken, objective, held, int(random.randint(2**31 - 1)), (X, y))
            self._trees = found.trees
            self.best_iteration_ = found.trees.n_trees
            self.n_iter_ = found.n_rounds
            self.objective_ = objective.value(found.train_scores)
            self.validation_scores_ = (
                np.empty(0) if found.validation_values is None else found.validation_values
            )
            self.loss_ = loss
            self._store_queries(lists)
        return self

    def _boost(
        self,
        X: Any,
        objective: LossObjective,
        monitor: Monitor | None,
        seed: int,
        data: tuple[Any, Any],
    ) -> BoostedFit:
        """Grow the trees, and tell of each."""
        settings = TreeSettings(
            backend=self.backend,
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            max_features=self.max_features,
            monotonic_cst=self._constraints(),
            n_threads=threads_here(self.n_jobs),
            seed=seed,
            backend_params=self.backend_params or {},
        )
        progress = FitProgress(self, self.n_estimators, *data)

        def told(n_rounds: int, value: float | None) -> None:
            progress.step()
            if self.verbose:
                held_out = "" if value is None else f": held-out {value:.6g}"
                sys.stderr.write(f"tree {n_rounds} of {self.n_estimators}{held_out}\n")

        found = boost(
            X,
            objective,
            settings,
            base_score=self.base_score_,
            total_weight=float(weights_of(objective.lists) @ objective.lists.sizes)
            * objective.lists.n_lists,
            monitor=monitor,
            on_round=told,
        )
        if monitor is not None and isinstance(monitor.value, MeasureOfScores):
            monitor.value.warned.tell()
        progress.done()
        return found

    def _constraints(self) -> Any:
        """Monotone constraints, or None where there are none."""
        constraints = check_monotonic_cst(self, self.monotonic_cst)
        return constraints if np.any(constraints) else None

    def _held_out(self, X: Any, y: Any, lists: Lists) -> Monitor:
        """Watch queries of the training data."""
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
        """Watch rows by the measure."""
        measure: Measure = get_measure(self.measure)
        lists = measure.lists(y, np.zeros(X.shape[0]), qid=qid, **weights)
        return Monitor(X, MeasureOfScores(measure, lists, X.shape[0]), self.n_iter_no_change)

    @property
    def booster_(self) -> Any:
        """The ``lightgbm.Booster`` or ``xgboost.Booster``; its scores lack ``base_score_``."""
        check_is_fitted(self)
        return self._trees.model

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the total gain of the splits; sum 1, or 0 without a split."""
        check_is_fitted(self)
        return importances_of(self._trees)

    def _scores(self, X: Any) -> FloatArray:
        return self._trees.scores(X)
