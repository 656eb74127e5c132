"""Accuracy at the top (Boyd, Cortes, Mohri & Radovanovic 2012)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._order import top_mass
from .._sklearn_compat import (
    StrOptions,
    check_sample_weight,
    fit_context,
    with_callbacks,
)
from .._solvers import (
    AccuracyAtTopSolution,
    PivotProblem,
    PivotSolver,
    column_scales,
    solve_accuracy_at_top,
)
from .._validation import ravelled, validate_data
from .._warn import warn
from ..bounds import Bound, accuracy_at_top_margin_bound
from ..exceptions import QuantileDistanceWarning
from ._base import FitProgress, forget, restored_on_error, warn_not_converged, warn_of_scales
from ._kernel_base import (
    KernelMap,
    KernelRanker,
    ScoreFunction,
    fitted_scores,
    learned_scores,
    store_scores,
)
from ._two_classes import TwoClasses, is_flexible, mass_of_top, store_threshold

# Distance from the quantile, in margins, above which the paper's rule warns: more than the one of
# separable rows, by the accuracy of the scores.
FAR = 1.01


def pivot_problem(
    kernel: KernelMap | None, X: Any, rows: TwoClasses, cost: Any, mass: Any
) -> PivotProblem:
    """Problems of the rows X, in kernel coordinates."""
    return PivotProblem.from_rows(
        X,
        rows.sign,
        cost,
        mass,
        coordinates=None if kernel is None else partial(kernel.coordinates, X),
    )


class AccuracyAtTopBase(KernelRanker):
    """Base class of rankers for accuracy at the top: fitted attributes and margin bound.

    A subclass has the parameters of the constraints.
    """

    _parameter_constraints = {
        **KernelRanker._parameter_constraints,
        "class_weight": [StrOptions({"balanced", "pairs"}), dict, None],
        "solver": [StrOptions({"auto", "newton", "cvxpy"})],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Only the top tau of the rows lie above the threshold.
        tags.classifier_tags.poor_score = True
        return tags

    def _pivot_solver(self) -> PivotSolver:
        return PivotSolver(
            "newton" if self.solver == "auto" else self.solver, self.tol, self.max_iter
        )

    def _store_function(
        self, function: ScoreFunction, X: Any, rows: TwoClasses, mass: Any, top: float
    ) -> None:
        """Store a function of the rows X and its threshold at the top of the masses."""
        store_scores(self, function, rows)
        store_threshold(self, rows.direction, *function.scores_of_fitted(X), mass, top)

    def _pose(
        self, X: Any, rows: TwoClasses, cost: Any, mass: Any
    ) -> tuple[KernelMap | None, PivotProblem]:
        kernel = KernelMap.of(self)
        if kernel is None:
            warn_of_scales(self, column_scales(X), sparse=sp.issparse(X))
        return kernel, pivot_problem(kernel, X, rows, cost, mass)

    def _fit_problem(
        self,
        ranker: Any,
        kernel: KernelMap | None,
        problem: PivotProblem,
        X: Any,
        rows: TwoClasses,
        mass: Any,
        *,
        top: float,
        on_block: Callable[[], None],
        **of_fold: Any,
    ) -> None:
        """Solve the problem for a top with the parameters of ``ranker``; store the solution.

        The threshold is at the top ``tau`` of this ranker.
        """
        solution = solve_accuracy_at_top(
            problem,
            top_mass=top,
            selection=ranker.selection,
            solver=self._pivot_solver(),
            n_jobs=self.n_jobs,
            on_block=on_block,
        )
        top, _ = top_mass(mass, self.tau)
        function = learned_scores(kernel, solution.coef, X)
        self._store_function(function, X, rows, mass, top)
        self._store_solution(solution, rows, ranker.selection, ranker.tau)
        # Scores of the training rows are unlike those of new rows.
        if self.kernel != "linear" or is_flexible(rows, X.shape[1]):
            scores, rounding = function.scores_of_fitted(X)
            self.threshold_ = rows.direction * ranker._threshold_of_share(
                X,
                rows,
                scores,
                rounding,
                flexible=True,
                share=top / mass.sum(),
                mass=mass,
                of_fold={**self._parameters_of_folds(), **of_fold},
            )
            self.intercept_ = np.array([-self.threshold_])

    def _store_solution(
        self, solution: AccuracyAtTopSolution, rows: TwoClasses, selection: str, tau: float
    ) -> None:
        certificate, candidates = solution.certificate, solution.candidates
        self.pivot_index_ = int(rows.taken[solution.candidate_indices[solution.candidate]])
        self.quantile_distance_ = solution.distance
        self.objective_ = solution.pivot_objective
        self.objective_top_ = certificate.objective
        self.lower_bound_ = certificate.lower_bound
        self.optimality_gap_ = certificate.objective - certificate.lower_bound
        self.dual_gap_ = float(candidates.relative_gap.max())
        self.candidate_indices_ = rows.taken[solution.candidate_indices]
        self.candidate_objectives_ = candidates.objective
        self.candidate_distances_ = candidates.distance
        forget(self, "average_")
        if solution.averaged is not None:
            self.average_ = solution.averaged
        self.converged_ = certificate.converged
        self.n_iter_ = certificate.n_iter
        if selection == "closest" and solution.distance > FAR:
            warn(
                f"No candidate is at the top-{tau:g} quantile of its scores; the closest, which "
                f"was taken, is {solution.distance:.2g} margins away. Use selection='average', "
                "lower C, or raise tau.",
                QuantileDistanceWarning,
            )
        missed = np.count_nonzero(~candidates.converged)
        if missed:
            warn_not_converged(
                "relative_gap",
                self.dual_gap_,
                n_iter=self.n_iter_,
                max_iter=self.max_iter,
                tol=self.tol,
                regularise="lower C",
                problems=f"{missed} of {len(candidates.converged)} problems",
            )

    def margin_bound(
        self, X: Any, y: Any, *, radius: float, rho: float | None = None, delta: float = 0.05
    ) -> Bound:
        """Bound the balanced error at the learned threshold by the margins of the training rows.

        The risk is ``R(h, t) = 1/2 (P(h > t | negative) + P(h < t | positive))``, where t is the
        threshold. The bound holds uniformly over all functions and thresholds of this norm, and
        therefore for the learned ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows, or other rows of the same distribution. For
            ``kernel="precomputed"``, the square kernel matrix of the training rows.
        y : array-like of shape (n_samples,)
            Their classes; each row counts once.
        radius : float
            Upper bound of the norm of every possible row (of its image under a kernel; 1 for
            "rbf"). It must be known in advance: the largest norm in the data is not valid.
        rho : float or None, default=None
            Margin in units of the scores, positive. A greater value increases the margin loss and
            decreases the other terms. None minimises the bound.
        delta : float, default=0.05
            Probability with which the bound may fail, in (0, 1).

        Returns
        -------
        Bound
            Bound of R(h, t). A value of 1/2 or more is vacuous, since a threshold above all scores
            has risk 1/2.

        Raises
        ------
        ValueError
            If the norm of a row exceeds ``radius``, ``y`` does not have the two classes of
            ``fit``, or all coefficients are 0.

        See Also
        --------
        sklearn_rank.bounds.accuracy_at_top_margin_bound : The bound as a function of margins.

        Notes
        -----
        The rows must be drawn independently given their classes, and the features must not depend
        on the sample: a scaler fitted to the same rows invalidates the guarantee. ``tau`` has no
        effect: the bound is for the learned threshold, not for the quantile of the population. For
        a few hundred rows the bound is vacuous; the user guide discusses sample sizes.
        """
        check_is_fitted(self)
        X, y = validate_data(
            self, X, y, dtype=np.float64, accept_sparse=self._sparse(), reset=False
        )
        function = fitted_scores(self)
        squares = function.squared_norms(X)
        longest = int(np.argmax(squares))
        if squares[longest] > radius**2 * (1 + 1e-12):
            raise ValueError(
                f"radius={radius!r} is not an upper bound of the norms: row {longest} has norm "
                f"{np.sqrt(squares[longest]):.6g}; pass a number that no row can exceed."
            )
        positive = self._of_fitted_classes(y)
        margins = self._towards_positive(self.decision_function(X))
        return accuracy_at_top_margin_bound(
            -margins[~positive],
            margins[positive],
            delta,
            radius=radius,
            norm=function.weight_norm(X),
            rho=rho,
        )


# Remedy in the warning about long fits.
MANY_ROWS = (
    "accuracy at the top solves one convex problem for each distinct row. For many rows use "
    "TopFocusedRanker, which takes a few fits of a classifier (see 'Many rows' in the user "
    "guide). An interrupted fit leaves the ranker unchanged."
)


class AccuracyAtTopRanker(AccuracyAtTopBase):
    r"""Linear or kernel classifier trained for accuracy at the top of the ranking.

    Use it when only the highest-scored share :math:`\tau` of the rows is acted upon, as in fraud
    detection or screening. Accuracy at the top requires that positives score above the top
    :math:`\tau` quantile :math:`q_w` of all scores, and negatives below. Its surrogate

    .. math:: \min_w \tfrac12 \|w\|^2 + \sum_i c_i \, \max(0, 1 - y_i (w \cdot x_i - q_w))

    is not convex, because the quantile depends on :math:`w`. The method solves one convex problem
    for each distinct row :math:`z_k`, with :math:`w \cdot z_k` in place of :math:`q_w`. It then
    measures the distance of :math:`w_k \cdot z_k` from the quantile of the scores of :math:`w_k`.
    The paper returns the solution of the smallest distance; the default here is the mean direction
    of the closest tenth.

    Parameters
    ----------
    tau : float, default=0.05
        Share of the rows that form the top of the list, in (0, 1). The top holds ``max(1,
        floor(tau * n + 1/2))`` rows.
    pos_label : int, float, bool, str or None, default=None
        The positive class: its rows are to be ranked at the top. None takes 1 if the labels are 0
        and 1 or -1 and 1, and otherwise the greater label, with a warning.
    C : float, default=1.0
        Cost of a unit of hinge loss, positive. A greater value fits the training data more
        closely.
    class_weight : {"balanced", "pairs"}, dict or None, default="balanced"
        Factor on ``C`` for each class. ``"balanced"`` is ``n / (2 * n_class)``. ``"pairs"`` is the
        paper's weighting over all pairs of a positive and a negative row: each row counts once for
        every row of the other class, which equals ``"balanced"`` with ``C * 2 * n_pos * n_neg /
        n``. None is 1 for both classes. A dict maps each class to its factor.
    quantile : {"sample", "pairs"}, default="sample"
        Scores of which the quantile is taken. "sample": the scores of all rows. "pairs": the
        scores of the members of all pairs, half of which are positives and half negatives.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Kernel. With "precomputed", ``fit`` takes the square kernel matrix of the training rows and
        ``decision_function`` the matrix of new rows by training rows. A callable takes two rows
        and returns a number. The kernel must be positive semidefinite.
    gamma : float or None, default=None
        Coefficient of "rbf", ``exp(-gamma |x - z|^2)``, and "poly", ``(gamma x.z +
        coef0)^degree``. None is ``1 / n_features``.
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1
        Constant term of the "poly" kernel.
    kernel_params : dict or None, default=None
        Keyword arguments of a callable kernel.
    selection : {"average", "closest", "objective", "refine"}, default="average"
        How the solution is selected among the candidates. ``"closest"`` is the paper's rule; ties
        (distances within ``tol`` of a margin) go to the smaller objective. ``"average"`` takes the
        closest tenth (at least one) of the candidates, averages their normalised weights, and
        scales the mean to minimise the problem above. ``"objective"`` takes the candidate with the
        smallest value of the problem above, at the quantile of its own scores. ``"refine"`` starts
        from that candidate and lowers the value in further steps. The user guide compares them.
    solver : {"auto", "newton", "cvxpy"}, default="auto"
        ``"newton"`` is fast; ``"cvxpy"`` is a slow reference with the same certificate. ``"auto"``
        is ``"newton"``.
    tol : float, default=1e-6
        Tolerance on the relative duality gap of each convex problem, positive.
    max_iter : int, default=500
        Maximum number of iterations (Newton or interior-point steps) for one problem.
    n_jobs : int or None, default=None
        Number of workers. None is 1 unless in a :obj:`joblib.parallel_config` context, -1 uses all
        cores. Workers are threads unless that context sets another backend; see Notes. The result
        does not depend on it.
    verbose : int, default=0
        1 writes the estimated remaining time to the standard error, after 2, 4, 8 ... blocks of 32
        candidates. 0 is silent.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, ascending.
    pos_label_ : object
        The positive class.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the features. Only for ``kernel="linear"``.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the kernel values between a row and the support rows. Only for other
        kernels.
    support_ : ndarray of shape (n_support,)
        Indices of the support rows, whose images span those of all rows up to rounding. Only for
        other kernels.
    X_fit_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support rows. Only for other kernels, except "precomputed".
    intercept_ : ndarray of shape (1,)
        ``-threshold_``.
    quantile_ : float
        The top ``tau`` quantile of the training scores ``X @ coef_``; if the first class is
        positive, the quantile that cuts off the ``tau`` lowest.
    threshold_ : float
        Midpoint between the quantile and the next distinct score below the top. Without ties,
        exactly the top rows lie beyond it. Solutions of ``selection="refine"`` have ties there.
        With a kernel or fewer than 10 rows a feature, training scores say little about new rows,
        and the scores are those of up to five fits to other folds, so that the share ``tau`` of
        new rows lies beyond it.
    pivot_index_ : int
        Index of the row of ``X`` that is the pivot of the solution. The solutions of "average" and
        "refine" belong to no candidate; there it is a row at the quantile.
    quantile_distance_ : float
        Distance of the pivot's score from the quantile, in units of the margin.
    objective_ : float
        Value of the convex problem at the pivot (Problem 2). It equals ``objective_top_`` if the
        pivot is at the quantile.
    objective_top_ : float
        Value of the non-convex problem, at the quantile of the scores (Problem 1).
    lower_bound_ : float
        Certified lower bound of ``objective_top_`` over all weight vectors. It is loose unless
        ``C`` is small; see Notes.
    optimality_gap_ : float
        ``objective_top_ - lower_bound_``, an upper bound of the loss due to non-convexity.
    dual_gap_ : float
        Largest relative duality gap of the candidates' convex problems, to compare with ``tol``.
    candidate_indices_ : ndarray of shape (n_candidates,)
        Index of the first row of each distinct point, ascending.
    candidate_objectives_ : ndarray of shape (n_candidates,)
        Value of the convex problem of each candidate.
    candidate_distances_ : ndarray of shape (n_candidates,)
        Distance of each candidate's pivot score from the quantile of its scores.
    average_ : ndarray of shape (n_averaged,)
        Indices of the averaged candidates in the three ``candidate_`` arrays, ascending. Only for
        ``selection="average"``.
    converged_ : bool
        Whether the convex problems of all candidates reached ``tol``.
    n_iter_ : int
        Largest number of iterations over all candidates.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    AccuracyAtTopRankerCV : Chooses ``C``, selection, quantile and share by cross-validation.
    sklearn_rank.metrics.smoothed_precision_at_top_score : Measure for choosing ``C``.
    sklearn.calibration.CalibratedClassifierCV : Turns the scores into probabilities.
    sklearn.linear_model.LogisticRegression : The better choice when the top is large.

    Notes
    -----
    As in all of scikit-learn, ``decision_function`` is greater for ``classes_[1]``. If
    ``pos_label`` is ``classes_[0]``, the ranker is fitted with exchanged labels, and the signs of
    ``coef_``, ``dual_coef_``, ``intercept_``, ``quantile_`` and ``threshold_`` are reversed: the
    top of the list has the *smallest* decision values. The scorers of
    :func:`sklearn_rank.metrics.get_scorer` take this into account.

    Equal rows of one class are merged into one row with their total weight, and each distinct
    point is one candidate. ``sample_weight`` counts as repetition in the cost, the class counts
    and the quantile. Standardise the features, as for any SVM.

    A fit to n distinct rows solves n convex problems of 10 to 60 Newton steps. Each step takes a
    factorisation in at most min(n, d) dimensions and a product with all rows, O(n d). From about
    150,000 entries or 100 features on, a problem takes about three such products in total, and its
    steps use fewer rows. On at most two cores, 3,067 rows of 57 features take 2 to 7 seconds, and
    1,000 rows with a kernel 4 to 15 seconds. Peak memory is a few copies of the data. Sparse data
    stay sparse, but ``d x d`` matrices are formed if d <= n. For up to 4,096 rows with at least
    100 dense features and at least n / 8 of them, as with kernels (one feature for each support
    row), memory is an n x n array, plus one for each thread. Solutions of dense data, n_candidates
    x min(n, d) numbers, are stored until one is selected. Those of sparse data are not stored, and
    the averaged tenth is solved again. A path over ``C`` would save a tenth to a quarter of the
    steps and is not available.

    ``lower_bound_`` is the smallest value of all convex problems, which ignore the position of the
    quantile. If the classes are separable, the bound stops growing with ``C``, while the value of
    the problem does not. The best value found is 1 to 1.7 times the bound for ``C=.001``. For
    ``C`` from 1 to 10 it is 1.2 to 1.4 times the bound on Pima, 4 to 12 on Ionosphere and 9 to 56
    on breast cancer. For such ``C``, a large ``optimality_gap_`` does not indicate a bad fit.

    Blocks of 32 problems are distributed over the workers. Threads share the rows and start at
    once. The backends "loky" and "multiprocessing" of :obj:`joblib.parallel_config` start a
    process for each worker, which takes a second or two, and memory-map arrays of a megabyte or
    more. They are faster when threads of one process block each other. "dask" sends the rows once
    to each machine, and is worthwhile for fits of minutes or more.

    A relative duality gap g bounds the error of a solution in norm by ``sqrt(2 g objective)``. At
    the default ``tol``, ``quantile_distance_`` is therefore accurate to about 1e-3.

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

    The attributes certify the convex problems and bound the non-convex one:

    >>> fitted = ranker[-1]
    >>> bool(fitted.dual_gap_ <= fitted.tol)
    True
    >>> bool(fitted.lower_bound_ <= fitted.objective_top_)
    True
    """

    _parameter_constraints = {
        **AccuracyAtTopBase._parameter_constraints,
        "quantile": [StrOptions({"sample", "pairs"})],
        "selection": [StrOptions({"average", "closest", "objective", "refine"})],
    }

    def __init__(
        self,
        tau=0.05,
        *,
        pos_label=None,
        C=1.0,
        class_weight="balanced",
        quantile="sample",
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1.0,
        kernel_params=None,
        selection="average",
        solver="auto",
        tol=1e-6,
        max_iter=500,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(kernel, gamma, degree, coef0, kernel_params, tol, max_iter, verbose)
        self.tau = tau
        self.pos_label = pos_label
        self.C = C
        self.class_weight = class_weight
        self.quantile = quantile
        self.selection = selection
        self.solver = solver
        self.n_jobs = n_jobs

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AccuracyAtTopRanker:
        """Solve the convex problem of every distinct row and select one solution.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Labels of two classes, of any type; ``pos_label`` is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. A row of weight 2 counts as two rows, a row of weight 0 is
            ignored.

        Returns
        -------
        AccuracyAtTopRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them, or X, y
            or sample_weight is not finite.

        Warns
        -----
        ConvergenceWarning
            If a convex problem does not reach ``tol`` within ``max_iter`` iterations.
        LongFitWarning
            If the first blocks of candidates indicate that the fit will take more than ten
            minutes.
        PositiveClassWarning
            If ``pos_label`` is None and the labels are neither 0 and 1 nor -1 and 1.
        QuantileDistanceWarning
            If ``selection="closest"`` and ``quantile_distance_`` exceeds 1 (1.01, since scores
            are not exact).
        SmallTopWarning
            If ``tau`` times the number of rows rounds to less than one row.
        """
        with restored_on_error(self):
            X, y, rows = self._check_rows(X, y, sample_weight)
            cost = rows.costs(self.C, self.class_weight)
            mass = rows.weight if self.quantile == "sample" else rows.pair_mass()
            self._fit(self._rows_at(X, rows.taken), rows, cost, mass, (X, y))
        return self

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit_pairs(
        self, X_lower: Any, X_upper: Any, pair_weight: Any = None
    ) -> AccuracyAtTopRanker:
        """Fit to pairs of rows, the second preferred to the first: the paper's general setting.

        Row i of ``X_upper`` should score above the quantile, row i of ``X_lower`` below. A point
        in several pairs counts once for each pair.

        Parameters
        ----------
        X_lower, X_upper : {array-like, sparse matrix} of shape (n_pairs, n_features)
            The two rows of each pair. All kernels except "precomputed" are available.
        pair_weight : array-like of shape (n_pairs,), default=None
            Non-negative weights. A pair of weight 2 counts as two pairs, a pair of weight 0 is
            ignored.

        Returns
        -------
        AccuracyAtTopRanker
            The estimator itself. ``classes_`` are 0 and 1; ``predict`` returns 1, or ``pos_label``
            if it is given, above the quantile. ``pivot_index_``, ``candidate_indices_`` and
            ``support_`` index the rows of ``X_lower`` followed by those of ``X_upper``.

        Raises
        ------
        ValueError
            If ``X_lower`` and ``X_upper`` have different shapes, a value is not finite, or the
            kernel is precomputed.

        Warns
        -----
        ConvergenceWarning
            If a convex problem does not reach ``tol`` within ``max_iter`` iterations.
        LongFitWarning
            If the first blocks of candidates indicate that the fit will take more than ten
            minutes.
        QuantileDistanceWarning
            If ``selection="closest"`` and ``quantile_distance_`` exceeds 1 (1.01, since scores
            are not exact).
        SmallTopWarning
            If ``tau`` times the number of points in pairs rounds to less than one.

        See Also
        --------
        fit : Fits to two classes. With ``class_weight="pairs", quantile="pairs"`` it equals a fit
            to all pairs of a negative and a positive row.

        Notes
        -----
        ``class_weight`` and ``quantile`` have no effect: each point counts, in the loss and in the
        quantile, as often as it occurs in pairs.
        """
        with restored_on_error(self):
            if self.kernel == "precomputed":
                raise ValueError(
                    "fit_pairs needs the features of the rows and does not take "
                    "kernel='precomputed': choose another kernel."
                )
            X_lower = validate_data(self, X_lower, dtype=np.float64, accept_sparse="csr")
            X_upper = validate_data(
                self, X_upper, dtype=np.float64, accept_sparse="csr", reset=False
            )
            if X_lower.shape[0] != X_upper.shape[0]:
                raise ValueError(
                    f"X_lower has {X_lower.shape[0]} rows and X_upper {X_upper.shape[0]}: pass the"
                    " two rows of each pair."
                )
            if self.pos_label not in (None, 0, 1):
                raise ValueError(
                    f"pos_label={self.pos_label!r} is not valid for pairs, which have no labels "
                    "and get the classes 0 and 1: leave pos_label out."
                )
            pair_weight = ravelled(pair_weight, "pair_weight")
            weight = check_sample_weight(pair_weight, X_lower, name="pair_weight")
            if sp.issparse(X_lower) or sp.issparse(X_upper):
                X = sp.vstack((X_lower, X_upper), format="csr")
            else:
                X = np.concatenate((X_lower, X_upper))
            upper = np.repeat([False, True], len(weight))
            positive = 1 if self.pos_label is None else int(self.pos_label)
            rows = TwoClasses.of_rows([0, 1], positive, upper, np.tile(weight, 2))
            # Points of pairs count as often as they occur, in the loss and in the quantile.
            of_fold = {"class_weight": None, "quantile": "sample"}
            cost = self.C * rows.weight
            self._fit(X[rows.taken], rows, cost, rows.weight, (X, None), **of_fold)
        return self

    def _fit(
        self,
        X: Any,
        rows: TwoClasses,
        cost: Any,
        mass: Any,
        data: tuple[Any, Any],
        **of_fold: Any,
    ) -> None:
        """Fit to rows with costs in the loss, and masses in the quantile."""
        top = mass_of_top(mass, self.tau)
        kernel, problem = self._pose(X, rows, cost, mass)
        progress = FitProgress(self, len(problem.blocks()), *data, instead=MANY_ROWS)
        self._fit_problem(
            self, kernel, problem, X, rows, mass, top=top, on_block=progress.step, **of_fold
        )
        progress.done()
