"""Subset ranking with order-preserving losses, after Calauzènes, Usunier and Gallinari (2013)."""

from __future__ import annotations

import sys
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from .._sklearn_compat import (
    BlockProgress,
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    with_callbacks,
)
from .._solvers._linear import quadratic_expansion, solve_linear
from .._typing import FloatArray
from ..calibration._positional_form import positional_form
from ..calibration._utility import utilities_of, warn_not_positional
from ..exceptions import CalibrationWarning
from ..losses import TemplateLoss, get_loss, get_loss_names
from ..losses._threads import ThreadedLoss
from ._fitting import restored_on_error
from ._query_base import QueryRanker, TrainingLists

__all__ = ["OrderPreservingRanker"]

# Losses of utilities up to a limit, which the measure sets.
BOUNDED = {
    "pointwise_differentiable_hinge",
    "pointwise_exponential",
    "pointwise_logistic",
    "pointwise_squared_hinge",
}


class OrderPreservingRanker(CallbackSupportMixin, QueryRanker):
    """Linear ranker of queries that minimises a loss calibrated with a measure.

    With the utilities v = u(y) that the measure gives the items, and scores s = X w + b, it
    minimises ``sum over queries q of w_q l(v_q, s_q) / sum of w_q + alpha / 2 ||w||**2``, convex
    in w and b, where l is the loss as its definition says, a sum over the items of a query or over
    their pairs.

    Parameters
    ----------
    loss : str or TemplateLoss, default="pairwise_logistic"
        Loss, by its name in :func:`sklearn_rank.losses.get_loss_names` or made with parameters of
        its own. Names of losses that are not order-preserving are taken with a warning.
    measure : str, default="ndcg"
        Name of the measure that gives the utilities, and of which :meth:`score` is the value:
        "ndcg@10", "dcg", "precision@5", "recall@20", "auc", "spearman", "rbp@0.8"; "ap" and
        "err" with a warning. See :func:`sklearn_rank.calibration.utility`.
    alpha : float, default=1.0
        Strength of the penalty, at least 0; more is smaller coefficients.
    fit_intercept : bool, default=True
        Whether there is b, which is not penalised. Losses of differences of scores do not depend
        on it, and leave it at 0.
    solver : {"auto", "newton-cg", "lbfgs"}, default="auto"
        Newton's method with conjugate gradients, or limited-memory BFGS. "auto" is Newton's method
        where the loss has Hessian products.
    tol : float, default=1e-6
        Largest norm of the gradient, relative to that at 0; greater than 0.
    max_iter : int, default=200
        Largest number of iterations.
    warm_start : bool, default=False
        Whether ``fit`` starts from the coefficients of the last fit.
    n_jobs : int or None, default=None
        Number of threads that evaluate the loss; None is 1, -1 is all. The result does not depend
        on it.
    verbose : int, default=0
        Whether to write a line for each iteration to the standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients w.
    intercept_ : float
        Intercept b.
    loss_ : TemplateLoss
        The loss, with its parameters.
    curvature_, slope_ : ndarray of shape (p, p) and (p,)
        What :meth:`partial_fit` remembers of the loss; absent after :meth:`fit`.
    total_query_weight_ : float
        Weight of the queries that it remembers; absent after :meth:`fit`.
    n_queries_ : int
        Number of queries that counted.
    objective_ : float
        Value of the objective.
    gradient_norm_ : float
        Norm of its gradient relative to that at 0, the certificate of the fit.
    optimality_gap_ : float
        Upper bound of the objective less its minimum, ``||gradient||**2 / (2 alpha)``; NaN where
        an intercept is fitted or alpha is 0.
    converged_ : bool
        Whether ``gradient_norm_`` is at most ``tol``.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string names.

    See Also
    --------
    RankSVM : The usual loss of pairs, which is not order-preserving.
    sklearn_rank.calibration.regret_bound : What a small surrogate regret guarantees.

    Notes
    -----
    Queries for which the measure is undefined are left out where the measure leaves them out;
    where it counts them as a number, as NDCG does a query without a relevant row, their utilities
    are 0. Long queries weigh more in a sum over items, and much more in a sum over pairs;
    ``query_weight`` changes this and leaves the loss order-preserving, for any weight that does
    not depend on the labels. The upper limit ``eta`` of pointwise losses is that of the measure
    (1 for NDCG), or where there is none, as for DCG, the largest utility in the training data;
    give a loss object to say it.

    A Newton step costs some ten evaluations of the loss: O(n_samples n_features) for the scores
    and O(n) a query of n rows, but O(r n) for the pairwise logistic loss with r relevant rows.
    Memory is a few vectors of n_samples beside the data. Features of very different scales make
    it slow: standardise them.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank import OrderPreservingRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> qid = np.repeat(np.arange(20), 10)
    >>> y = rng.binomial(3, 1 / (1 + np.exp(-X[:, 0])))
    >>> ranker = OrderPreservingRanker(measure="ndcg@5").fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid).__round__(2)
    0.81
    >>> bool(ranker.gradient_norm_ <= ranker.tol)
    True

    Positions within each query, 1 at the top:

    >>> ranker.rank(X, qid=qid)[:10]
    array([ 5.,  6.,  1.,  9., 10.,  7.,  4.,  2.,  3.,  8.])
    """

    _parameter_constraints = {
        "loss": [StrOptions(set(get_loss_names())), TemplateLoss],
        "measure": [str],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"auto", "newton-cg", "lbfgs"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        loss="pairwise_logistic",
        *,
        measure="ndcg",
        alpha=1.0,
        fit_intercept=True,
        solver="auto",
        tol=1e-6,
        max_iter=200,
        warm_start=False,
        n_jobs=None,
        verbose=0,
    ):
        self.loss = loss
        self.measure = measure
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

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
    ) -> OrderPreservingRanker:
        """Minimise the loss over the queries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row: numbers, strings or anything that sorts, in any order.
            None takes all rows as one query, with a warning; a single id does so on purpose.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows: 2 is the row twice, 0 the row absent.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.

        Returns
        -------
        OrderPreservingRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, or the measure is undefined for every query.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None.
        CalibrationWarning
            If the loss is not order-preserving, or the measure is "ap" or "err".
        ConvergenceWarning
            If the gradient norm misses ``tol``.
        """
        with restored_on_error(self):
            # A fit forgets what partial_fit has seen.
            for name in {"curvature_", "slope_", "total_query_weight_"} & set(vars(self)):
                delattr(self, name)
            lists = self._lists(X, y, qid, sample_weight, query_weight, reset=True)
            lists, utilities = self._utilities(lists)
            loss = self._loss(utilities)
            start = None
            if self._warm_start(lists.X.shape[1]) is not None:
                start = self._parameters(loss)
            self._minimise(lists, utilities, loss, start, None, lists.query_weight.sum(), (X, y))
            self.n_queries_ = len(lists.query_weight)
        return self

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> OrderPreservingRanker:
        """Fit to more queries, whole ones, beside what is remembered of earlier ones.

        Of the loss of earlier queries a quadratic function is kept, exact for squared losses: for
        these the result is that of :meth:`fit` on all queries, whatever the batches. For others it
        is the second-order expansion where each batch ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row; a query that was in an earlier batch counts as another.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row.

        Returns
        -------
        OrderPreservingRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, the measure is undefined for every query, or a utility
            exceeds the limit ``eta`` that the first batch set.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None.
        CalibrationWarning
            If the loss is not order-preserving, or the measure is "ap" or "err".
        ConvergenceWarning
            If the gradient norm misses ``tol``.

        Notes
        -----
        The memory is a matrix of n_features x n_features, and a batch costs one Hessian product
        for each feature beside the fit.
        """
        with restored_on_error(self):
            first = not hasattr(self, "total_query_weight_")
            lists = self._lists(X, y, qid, sample_weight, query_weight, reset=first)
            lists, utilities = self._utilities(lists)
            loss = self._loss(utilities) if first else self.loss_
            self._method(loss, needs_hessian=True)
            start = None if first else self._parameters(loss)
            if first:
                size = lists.X.shape[1] + self._has_intercept(loss)
                self.curvature_, self.slope_ = np.zeros((size, size)), np.zeros(size)
                self.total_query_weight_, self.n_queries_ = 0.0, 0
            total = self.total_query_weight_ + lists.query_weight.sum()
            past = self.curvature_ / total, self.slope_ / total
            gained = self._minimise(lists, utilities, loss, start, past, total, (X, y))
            self.curvature_ = self.curvature_ + total * gained[0]
            self.slope_ = self.slope_ + total * gained[1]
            self.total_query_weight_ = total
            self.n_queries_ += len(lists.query_weight)
        return self

    def _minimise(
        self,
        lists: TrainingLists,
        utilities: FloatArray,
        loss: TemplateLoss,
        start: FloatArray | None,
        past: tuple[FloatArray, FloatArray] | None,
        total_weight: float,
        data: tuple[Any, Any],
    ) -> Any:
        """Solve the problem and store its solution; with a past return what adds to it."""
        progress = BlockProgress(self, self.max_iter, *data)

        def report(n_iter: int, value: float, norm: float) -> None:
            progress.block_done()
            if self.verbose:
                sys.stderr.write(
                    f"iteration {n_iter}: objective {value:.10g}, gradient norm {norm:.2e}\n"
                )

        has_intercept = self._has_intercept(loss)
        threaded = ThreadedLoss(
            loss,
            utilities,
            lists.offsets,
            lists.weight,
            lists.query_weight / total_weight,
            effective_n_jobs(self.n_jobs),
        )
        solution = solve_linear(
            lists.X,
            threaded,
            alpha=self.alpha,
            fit_intercept=has_intercept,
            method=self._method(loss, needs_hessian=False),
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
            past=past,
            on_iteration=report,
        )
        gained = None
        if past is not None:
            gained = quadratic_expansion(
                lists.X, threaded, solution.parameters, fit_intercept=has_intercept
            )
        if not solution.converged:
            warnings.warn(
                f"The gradient norm is {solution.gradient_norm:.1e} of that at 0 after"
                f" {solution.n_iter} iterations and misses tol={self.tol:g}: raise max_iter, tol"
                " or alpha, or standardise the features.",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.coef_ = solution.coef
        self.intercept_ = solution.intercept
        self.loss_ = loss
        self.objective_ = solution.objective
        self.gradient_norm_ = solution.gradient_norm
        self.optimality_gap_ = solution.optimality_gap
        self.converged_ = solution.converged
        self.n_iter_ = solution.n_iter
        progress.fit_done()
        return gained

    def score(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> float:
        """Value of ``measure``, the mean over the queries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Relevance.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row; may be left out by a ranker fitted on one list.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each row counts.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of the query of each row.

        Returns
        -------
        float
            The value; more is better.

        Raises
        ------
        ValueError
            If the ranker was fitted on several queries and ``qid`` is None.

        Warns
        -----
        CalibrationWarning
            If the measure is "ap" or "err", with which no order-preserving loss is calibrated.
        """
        if positional_form(self.measure).discounts is None:
            warn_not_positional(self.measure)
        return super().score(X, y, qid=qid, sample_weight=sample_weight, query_weight=query_weight)

    def _utilities(self, lists: TrainingLists) -> tuple[TrainingLists, FloatArray]:
        """Utilities of the lists for which the measure is defined, and these lists."""
        if positional_form(self.measure).discounts is None:
            warn_not_positional(self.measure, stacklevel=6)
        # Not by the ids: the lists stand in order, one after another.
        try:
            values = utilities_of(self.measure, lists.y, lists.list_of, lists.weight)
        except ValueError as error:
            raise ValueError(str(error).replace("y_true", "y")) from None
        defined = ~np.isnan(values[lists.offsets[:-1]])
        if not np.any(values > 0):
            raise ValueError(
                f"No query has a row of positive utility for {self.measure}, as where none has"
                " both relevant and other rows: there is nothing to learn from; check y and qid."
            )
        return lists.where(defined), values[~np.isnan(values)]

    def _loss(self, utilities: FloatArray) -> TemplateLoss:
        if isinstance(self.loss, TemplateLoss):
            loss = self.loss
        elif self.loss in BOUNDED:
            largest = positional_form(self.measure).largest
            loss = get_loss(self.loss, eta=largest or float(utilities.max()) or 1.0)
        else:
            loss = get_loss(self.loss)
        if not loss.is_convex:
            raise ValueError(
                f"loss={loss!r} is not convex in the scores, so that a minimum could not be"
                " certified: use a link that is the inverse of psi_gradient."
            )
        if not loss.is_order_preserving:
            warnings.warn(
                f"{loss!r} is not order-preserving: its minimiser need not order the items by"
                f" expected utility, and is calibrated with no measure such as {self.measure}.",
                CalibrationWarning,
                stacklevel=5,
            )
        return loss

    def _has_intercept(self, loss: TemplateLoss) -> bool:
        return self.fit_intercept and not loss.is_translation_invariant

    def _method(self, loss: TemplateLoss, *, needs_hessian: bool) -> str:
        has_hessian = getattr(loss, "has_hessian", True)
        if not has_hessian and (needs_hessian or self.solver == "newton-cg"):
            wanted = "partial_fit" if needs_hessian else "solver='newton-cg'"
            raise ValueError(
                f"{wanted} needs Hessian products, which {loss!r} does not have: use fit with"
                " solver='lbfgs'."
            )
        if self.solver == "auto":
            return "newton-cg" if has_hessian else "lbfgs"
        return self.solver

    def _parameters(self, loss: TemplateLoss) -> FloatArray:
        return np.append(self.coef_, self.intercept_) if self._has_intercept(loss) else self.coef_

    def _scores(self, X: Any) -> FloatArray:
        return np.asarray(X @ self.coef_) + self.intercept_
