"""Rankers by losses that are not order-preserving: named baselines."""

from __future__ import annotations

import sys
import warnings
from functools import partial
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
from .._solvers._hinge import solve_linear_hinge
from .._solvers._linear import solve_linear
from .._typing import FloatArray
from ..losses import ComparisonHinge, ComparisonSquaredHinge
from ..losses._threads import ThreadedLoss
from ._fitting import restored_on_error
from ._query_base import QueryRanker

__all__ = ["RankSVM"]


class RankSVM(CallbackSupportMixin, QueryRanker):
    """Ranking SVM: a linear ranker by the hinge of pairs of different relevance.

    With scores s = X w it minimises ``sum over queries q of w_q L_q / sum of w_q + alpha / 2
    ||w||**2``, where L is the sum over pairs of rows of a query with y_i > y_j of
    ``max(0, 1 - (s_i - s_j))``, or of its square.

    It is a baseline: the loss counts pairs that are labelled differently, and not by how much, and
    is calibrated with no positional measure; under noise it need not order by expected utility.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Hinge or its square.
    measure : str, default="ndcg"
        Name of the measure of which :meth:`score` is the value; of no effect on the fit.
    alpha : float, default=1.0
        Strength of the penalty, greater than 0; more is smaller coefficients.
    tol : float, default=1e-4
        For the hinge the largest duality gap relative to the objective, for its square the largest
        norm of the gradient relative to that at 0; greater than 0.
    max_iter : int, default=1000
        Largest number of Newton steps.
    warm_start : bool, default=False
        Whether ``fit`` starts from the coefficients of the last fit.
    n_jobs : int or None, default=None
        Number of threads that evaluate the loss; None is 1, -1 is all. The result does not depend
        on it.
    verbose : int, default=0
        Whether to write lines on the progress to the standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients w.
    n_queries_ : int
        Number of queries.
    objective_ : float
        Value of the objective.
    dual_gap_ : float
        For the hinge: the objective less a lower bound of its minimum, relative to the objective.
    gradient_norm_ : float
        For the squared hinge: norm of the gradient relative to that at 0.
    converged_ : bool
        Whether the one or the other is at most ``tol``.
    n_iter_ : int
        Number of Newton steps.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string names.

    See Also
    --------
    OrderPreservingRanker : Losses that are calibrated with a measure.

    Notes
    -----
    ``C`` of SVMrank, which halves no norm but divides by the number of queries likewise, is
    ``1 / alpha``. A step costs O(n log n) for a query of n rows, whatever the number of pairs, and
    the products with X. For the hinge the kink is rounded to ever narrower parabolas; the slopes
    of the rounded hinge make a point of the dual problem, from which the gap is.

    References
    ----------
    .. [1] Joachims, T. (2002). Optimizing search engines using clickthrough data. KDD.
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Remark 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank import RankSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> qid = np.repeat(np.arange(20), 10)
    >>> y = rng.binomial(3, 1 / (1 + np.exp(-X[:, 0])))
    >>> ranker = RankSVM(measure="ndcg@5").fit(X, y, qid=qid)
    >>> bool(ranker.dual_gap_ <= ranker.tol)
    True
    """

    _parameter_constraints = {
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "measure": [str],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        loss="hinge",
        *,
        measure="ndcg",
        alpha=1.0,
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
        n_jobs=None,
        verbose=0,
    ):
        self.loss = loss
        self.measure = measure
        self.alpha = alpha
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
    ) -> RankSVM:
        """Minimise the loss over the pairs of all queries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Relevance; only its order counts.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row: numbers, strings or anything that sorts, in any order.
            None takes all rows as one query, with a warning; a single id does so on purpose.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows: 2 is the row twice, 0 the row absent.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.

        Returns
        -------
        RankSVM
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, or no query has rows of different relevance.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None.
        ConvergenceWarning
            If the certificate misses ``tol``.
        """
        with restored_on_error(self):
            lists = self._lists(X, y, qid, sample_weight, query_weight, reset=True)
            different = np.diff(lists.y) != 0
            different[lists.offsets[1:-1] - 1] = False
            if not different.any():
                raise ValueError(
                    "No query has rows of different relevance: all rows of each are of one class,"
                    " and there are no pairs to learn from; check y and qid."
                )
            start = self._warm_start(lists.X.shape[1])
            progress = BlockProgress(self, self.max_iter, X, y)

            def report(n_iter: int, value: float, certificate: float) -> None:
                progress.block_done()
                if self.verbose:
                    sys.stderr.write(
                        f"step {n_iter}: objective {value:.10g}, certificate {certificate:.2e}\n"
                    )

            # Losses take utilities from 0 on; of these only the order counts here.
            relevance = lists.y - lists.y.min()
            query_weight = lists.query_weight / lists.query_weight.sum()
            threads = effective_n_jobs(self.n_jobs)

            def on(loss: Any, margin: float) -> ThreadedLoss:
                return ThreadedLoss(
                    loss(margin), relevance, lists.offsets, lists.weight, query_weight, threads
                )

            settings = {"alpha": self.alpha, "tol": self.tol, "max_iter": self.max_iter}
            settings |= {"start": start, "on_iteration": report}
            solution: Any
            if self.loss == "hinge":
                hinges = partial(on, ComparisonHinge), partial(on, ComparisonSquaredHinge)
                solution = solve_linear_hinge(lists.X, *hinges, **settings)
                name, reached = "relative duality gap", solution.dual_gap
            else:
                solution = solve_linear(lists.X, on(ComparisonSquaredHinge, 1.0), **settings)
                name, reached = "gradient norm relative to that at 0", solution.gradient_norm
            if not solution.converged:
                warnings.warn(
                    f"The {name} is {reached:.1e} after {solution.n_iter} steps and misses"
                    f" tol={self.tol:g}: raise max_iter, tol or alpha, or standardise the"
                    " features.",
                    ConvergenceWarning,
                    stacklevel=4,
                )
            for name in {"dual_gap_", "gradient_norm_"} & set(vars(self)):
                delattr(self, name)
            if self.loss == "hinge":
                self.dual_gap_ = reached
            else:
                self.gradient_norm_ = reached
            self.coef_ = solution.coef
            self.n_queries_ = len(lists.query_weight)
            self.objective_ = solution.objective
            self.converged_ = solution.converged
            self.n_iter_ = solution.n_iter
            progress.fit_done()
        return self

    def _scores(self, X: Any) -> FloatArray:
        return np.asarray(X @ self.coef_)
