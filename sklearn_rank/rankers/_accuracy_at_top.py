"""Accuracy at the top (Boyd, Cortes, Mohri & Radovanovic 2012)."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from .._order import top_mass, top_threshold
from .._sklearn_compat import (
    BlockProgress,
    CallbackSupportMixin,
    Interval,
    StrOptions,
    check_sample_weight,
    fit_context,
    with_callbacks,
)
from ..exceptions import SmallTopWarning
from ..solvers import PivotProblem, solve_accuracy_at_top
from ._base import BipartiteRanker, restored_on_error


class AccuracyAtTopRanker(CallbackSupportMixin, BipartiteRanker):
    r"""Linear ranker that is trained for the top of the list.

    Accuracy at the top asks that the rows whose score exceeds the top :math:`\tau` quantile
    :math:`q_w` of all scores are positive, and that positives do so. Its surrogate

    .. math:: \min_w \tfrac12 \|w\|^2 + \sum_i c_i \, \max(0, 1 - y_i (w \cdot x_i - q_w))

    is not convex, because the quantile depends on :math:`w`. The method solves a convex problem
    for each distinct row :math:`z_k`, with :math:`w \cdot z_k` in place of :math:`q_w`, and
    returns the solution whose :math:`w_k \cdot z_k` is closest to the quantile of its scores.

    Parameters
    ----------
    tau : float, default=0.05
        Share of the rows that make the top, in (0, 1). The top holds
        ``max(1, floor(tau * n + 1/2))`` rows.
    C : float, default=1.0
        Cost of a unit of hinge loss, positive; more fits the training data closer.
    class_weight : {"balanced", "pairs"}, dict or None, default="balanced"
        Factor on ``C`` for each class. ``"balanced"`` is ``n / (2 * n_class)``. ``"pairs"`` is
        the paper's weighting over all pairs of a positive and a negative row: each row counts
        once for every row of the other class; it is ``"balanced"`` with
        ``C * 2 * n_pos * n_neg / n``. None is 1 for both classes, a dict gives the factors.
    quantile : {"sample", "pairs"}, default="sample"
        Which scores the quantile is of: the rows', or the members of all pairs', of which
        positives and negatives are half each.
    selection : {"closest", "objective"}, default="closest"
        ``"closest"`` is the paper's rule, ties (distances within ``tol`` of a margin) going to
        the smaller objective; ``"objective"``
        takes the smallest value of the problem above, each solution with the quantile of its
        own scores. The rule is often better for small ``tau``; see the user guide.
    solver : {"auto", "newton", "cvxpy"}, default="auto"
        ``"newton"`` is fast; ``"cvxpy"`` is the slow reference, judged by the same certificate.
        ``"auto"`` is ``"newton"``.
    tol : float, default=1e-6
        Relative duality gap at which a convex problem counts as solved, positive.
    max_iter : int, default=500
        Most iterations (Newton or interior-point steps) for one problem.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless in a :obj:`joblib.parallel_config` context, -1 all
        cores. The result does not depend on it.
    verbose : int, default=0
        Verbosity of joblib over blocks of 32 candidates; 0 is silent.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, ascending; the second is positive.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        ``-threshold_``.
    quantile_ : float
        The top ``tau`` quantile of the training scores ``X @ coef_``.
    threshold_ : float
        Midway from the quantile to the next distinct score below: without ties, exactly the
        top rows lie above it.
    pivot_index_ : int
        Row of the fitted ``X`` that is the pivot of the solution.
    quantile_distance_ : float
        Distance of the pivot's score from the quantile, in units of the margin.
    objective_ : float
        Value of the convex problem at the pivot (Problem 2).
    objective_top_ : float
        Value of the problem itself, at the quantile of the scores (Problem 1).
    lower_bound_ : float
        Certified: no weight vector has a smaller ``objective_top_``.
    optimality_gap_ : float
        ``objective_top_ - lower_bound_``: at most this is lost to the non-convexity.
    dual_gap_ : float
        Largest relative duality gap over all candidates: the certificate to hold against
        ``tol``.
    candidate_indices_ : ndarray of shape (n_candidates,)
        First row of each distinct point, ascending.
    candidate_objectives_ : ndarray of shape (n_candidates,)
        Value of the convex problem of each candidate.
    candidate_distances_ : ndarray of shape (n_candidates,)
        Distance of each candidate's pivot score from the quantile of its scores.
    n_iter_ : int
        Largest number of iterations over all candidates.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where ``X`` has names that are all strings.

    See Also
    --------
    sklearn_rank.metrics.precision_at_top_score : What to select ``C`` by.
    sklearn.linear_model.LogisticRegression : The better choice where the top is large.

    Notes
    -----
    Equal rows of one class become one row with their total weight, and each distinct point is a
    candidate once. ``sample_weight`` counts as repetition everywhere: in the cost, the class
    counts and the quantile. The features should be on one scale, as for any SVM.

    n distinct rows make n convex problems of 10 to 60 Newton steps of O(n d) each, besides a
    factorisation in min(n, d) dimensions: 3,067 rows of 57 features take 2 to 7 seconds. Peak
    memory is a few copies of the data; no n x n array is made, and sparse data stay sparse, but
    sums of ``d x d`` are formed where d <= n. The candidates share no warm start, since it was
    measured to save nothing.

    A relative duality gap g certifies each solution to ``sqrt(2 g objective)`` in norm only, so
    that ``quantile_distance_`` is exact to about 1e-3 at the default ``tol``.

    References
    ----------
    .. [1] Boyd, S., Cortes, C., Mohri, M. and Radovanovic, A. (2012). Accuracy at the Top.
       Advances in Neural Information Processing Systems 25. Problems (1) and (2), Section 3.2.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_rank import AccuracyAtTopRanker
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> ranker = make_pipeline(StandardScaler(), AccuracyAtTopRanker(tau=0.1, C=0.01))
    >>> ranker.fit(X[::2], y[::2]).score(X[1::2], y[1::2]).__round__(2)
    0.91
    >>> precision_at_top_score(y[1::2], ranker.decision_function(X[1::2]), tau=0.1)
    1.0

    Every convex problem comes with a certificate, and so does the non-convex one:

    >>> fitted = ranker[-1]
    >>> bool(fitted.dual_gap_ <= fitted.tol)
    True
    >>> bool(fitted.lower_bound_ <= fitted.objective_top_)
    True
    """

    _parameter_constraints = {
        "tau": [Interval(Real, 0, 1, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced", "pairs"}), dict, None],
        "quantile": [StrOptions({"sample", "pairs"})],
        "selection": [StrOptions({"closest", "objective"})],
        "solver": [StrOptions({"auto", "newton", "cvxpy"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        tau=0.05,
        *,
        C=1.0,
        class_weight="balanced",
        quantile="sample",
        selection="closest",
        solver="auto",
        tol=1e-6,
        max_iter=500,
        n_jobs=None,
        verbose=0,
    ):
        self.tau = tau
        self.C = C
        self.class_weight = class_weight
        self.quantile = quantile
        self.selection = selection
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Only the top tau of the rows lie above the threshold.
        tags.classifier_tags.poor_score = True
        return tags

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AccuracyAtTopRanker:
        """Solve the convex problem of every distinct row and select one solution.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Two classes of any type; the greater is positive.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; weight 2 is the row twice, weight 0 is the row absent.

        Returns
        -------
        AccuracyAtTopRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If ``y`` has one class or more than two, or if X, y or sample_weight is not finite.

        Warns
        -----
        ConvergenceWarning
            If a convex problem misses ``tol`` within ``max_iter`` iterations.
        SmallTopWarning
            If ``tau`` times the number of rows rounds to less than one row.
        """
        with restored_on_error(self):
            X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr")
            weight = check_sample_weight(sample_weight, X)
            classes, positive = self._encode_binary(y, weight)
            self._fit(X, y, positive, weight, classes)
        return self

    def _fit(self, X: Any, y: Any, positive: Any, weight: Any, classes: Any) -> None:
        kept = np.flatnonzero(weight > 0)
        X_kept, positive, weight = X[kept], positive[kept], weight[kept]
        mass_pos, mass_neg = weight[positive].sum(), weight[~positive].sum()
        factor_neg, factor_pos = self._class_factors(classes, mass_neg, mass_pos)
        mass = weight
        if self.quantile == "pairs":
            mass = weight * np.where(positive, mass_neg, mass_pos)
        top, is_small = top_mass(mass, self.tau)
        if is_small:
            warnings.warn(
                f"The top {self.tau:g} of {len(kept)} rows holds less than one of the scores that"
                " the quantile is of, and was taken as one: raise tau or fit on more rows.",
                SmallTopWarning,
                stacklevel=5,
            )
        problem = PivotProblem.from_rows(
            X_kept,
            np.where(positive, 1.0, -1.0),
            self.C * weight * np.where(positive, factor_pos, factor_neg),
            mass,
        )
        progress = BlockProgress(self, len(problem.blocks()), X, y)
        solution = solve_accuracy_at_top(
            problem,
            top_mass=top,
            selection=self.selection,
            solver="newton" if self.solver == "auto" else self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            on_block=progress.block_done,
        )
        missed = np.count_nonzero(~(solution.candidate_gaps <= self.tol))
        if missed:
            warnings.warn(
                f"{missed} of {problem.n_candidates} problems missed tol={self.tol:g} in"
                f" max_iter={self.max_iter} iterations; the largest relative duality gap is"
                f" {solution.dual_gap:.1e}: raise max_iter or tol, lower C, or scale the"
                " features.",
                ConvergenceWarning,
                stacklevel=5,
            )

        self.classes_ = classes
        self.coef_ = solution.coef[np.newaxis]
        # BLAS rounds equal rows differently at different places of a matrix.
        rounding = abs(X_kept) @ np.abs(solution.coef) * X.shape[1] * np.finfo(np.float64).eps
        self.quantile_, self.threshold_ = top_threshold(
            np.asarray(X_kept @ solution.coef), mass, top, np.asarray(rounding)
        )
        self.intercept_ = np.array([-self.threshold_])
        self.pivot_index_ = int(kept[solution.candidate_indices[solution.candidate]])
        self.quantile_distance_ = solution.distance
        self.objective_ = solution.objective
        self.objective_top_ = solution.objective_top
        self.lower_bound_ = solution.lower_bound
        self.optimality_gap_ = solution.objective_top - solution.lower_bound
        self.dual_gap_ = solution.dual_gap
        self.candidate_indices_ = kept[solution.candidate_indices]
        self.candidate_objectives_ = solution.candidate_objectives
        self.candidate_distances_ = solution.candidate_distances
        self.n_iter_ = solution.n_iter
        progress.fit_done()

    def _class_factors(self, classes: Any, mass_neg: float, mass_pos: float) -> Any:
        if self.class_weight == "pairs":
            return mass_pos, mass_neg
        if self.class_weight == "balanced":
            total = mass_neg + mass_pos
            return total / (2 * mass_neg), total / (2 * mass_pos)
        factors = compute_class_weight(self.class_weight, classes=classes, y=classes)
        if not np.all((factors > 0) & np.isfinite(factors)):
            raise ValueError(
                "class_weight must give each class a positive, finite factor; got"
                f" {self.class_weight!r}: to leave a class out of the loss makes no ranking."
            )
        return factors

    def decision_function(self, X: Any) -> Any:
        """Score of each row less the threshold: positive for the predicted top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``X @ coef_[0] - threshold_``; more is nearer to the top.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        product = X @ self.coef_[0]
        return np.asarray(product) - self.threshold_
