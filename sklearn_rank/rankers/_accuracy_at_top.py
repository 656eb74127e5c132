"""Accuracy at the top (Boyd, Cortes, Mohri & Radovanovic 2012), also with cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from itertools import product
from typing import TYPE_CHECKING, Any, Self, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
import sklearn.metrics
from scipy.stats import rankdata
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from .. import _outer
from .._order import top_mass
from .._sklearn_compat import BaseScorer, StrOptions, fit_context, rows_at, with_callbacks
from .._solvers import (
    AccuracyAtTopSolution,
    PivotProblem,
    PivotSolutions,
    Selection,
    column_scales,
    most_blocks,
    select_solution,
    solve_accuracy_at_top,
    solve_candidates,
)
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_choice, check_number, check_sample_weight, check_share, ravelled
from .._warn import warn
from ..exceptions import QuantileDistanceWarning
from ..metrics import (
    Measure,
    ScoreGeneratingFunction,
    get_measure,
    get_scorer,
    smoothed_precision_at_top_score,
)
from ._base import (
    FitProgress,
    forget,
    restored_on_error,
    store_parameters,
    warn_not_converged,
    warn_of_scales,
)
from ._two_classes import (
    N_FOLDS,
    Fold,
    KernelRanker,
    ScoreFunction,
    TwoClasses,
    fitted_scores,
    is_flexible,
    kernel_of,
    learned_scores,
    mass_of_top,
    of_taken_rows,
    store_scores,
    store_threshold,
    values_of_taken_rows,
)

if TYPE_CHECKING:
    from ..bounds import Bound

# Distance from the quantile, in margins, above which the paper's rule warns: more than the one of
# separable rows, by the accuracy of the scores.
FAR = 1.01


class AccuracyAtTopBase(KernelRanker):
    """Base class of rankers for accuracy at the top: fitted attributes and margin bound."""

    _parameter_constraints = {
        "class_weight": [StrOptions({"balanced", "pairs"}), dict, None],
        "solver": [StrOptions({"auto", "newton", "cvxpy"})],
    }

    # Only the top tau of the rows lie above the threshold.
    _poor_score = True

    def _solver_settings(self, on_block: Callable[[], None]) -> dict[str, Any]:
        names = ("solver", "tol", "max_iter", "n_jobs")
        return {name: getattr(self, name) for name in names} | {"on_block": on_block}

    def _progress(self, n_blocks: int, X: Any, y: Any) -> FitProgress:
        remedy = (
            "accuracy at the top solves one convex problem for each distinct row. For many rows "
            "use TopFocusedRanker, which takes a few fits of a classifier (see 'Many rows' in the "
            "user guide). An interrupted fit leaves the ranker unchanged."
        )
        return FitProgress(self, n_blocks, X, y, instead=remedy)

    def _store_function(
        self, function: ScoreFunction, X: Any, rows: TwoClasses, mass: Any, top: float
    ) -> None:
        store_scores(self, function, rows)
        store_threshold(self, rows.direction, *function.scores_of_fitted(X), mass, top)

    def _fit(
        self,
        chosen: Any,
        X: Any,
        rows: TwoClasses,
        cost: Any,
        mass: Any,
        *,
        data: tuple[Any, Any] = (None, None),
        progress: FitProgress | None = None,
        **of_fold: Any,
    ) -> None:
        """Fit with the parameters of ``chosen``; the threshold is at this ranker's ``tau``."""
        top = mass_of_top(mass, chosen.tau)
        kernel = kernel_of(self)
        if kernel is None:
            warn_of_scales(self, column_scales(X), sparse=sp.issparse(X))
        coordinates = None if kernel is None else partial(kernel.coordinates, X)
        problem = PivotProblem.from_rows(X, rows.sign, cost, mass, coordinates)
        if progress is None:
            progress = self._progress(len(problem.blocks()), *data)
        settings = self._solver_settings(progress.block_done) | {"selection": chosen.selection}
        solution = solve_accuracy_at_top(problem, top_mass=top, **settings)
        top, _ = top_mass(mass, self.tau)
        function = learned_scores(kernel, solution.coef, X)
        self._store_function(function, X, rows, mass, top)
        self._store_solution(solution, rows, chosen.selection, chosen.tau)
        # Scores of the training rows are unlike those of new rows.
        if self.kernel != "linear" or is_flexible(rows, X.shape[1]):
            scores, rounding = function.scores_of_fitted(X)
            self.threshold_ = rows.direction * chosen._threshold_of_share(
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
        progress.fit_done()

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
        self._warn_of_missed([candidates], "lower C")

    def _warn_of_missed(
        self, solved: list[PivotSolutions], regularise: str, where: str = ""
    ) -> None:
        missed = sum(np.count_nonzero(~values.converged) for values in solved)
        if missed:
            gap = max(float(values.relative_gap.max()) for values in solved)
            n_iter = max(int(values.n_iter.max()) for values in solved)
            problems = f"{missed} of {sum(len(v.n_iter) for v in solved)} problems{where}"
            warn_not_converged(self, "relative_gap", gap, n_iter, regularise, problems)

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
        X, y = self._validated(X, y, reset=False)
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
        return _outer.accuracy_at_top_margin_bound(
            -margins[~positive],
            margins[positive],
            delta,
            radius=radius,
            norm=function.weight_norm(X),
            rho=rho,
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
        The class to be ranked at the top. None takes 1 if the labels are 0 and 1 or -1 and 1, and
        otherwise the greater label, with a warning.
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
        Kernel, positive semidefinite. "precomputed" takes matrices in place of rows: K(X, X) in
        ``fit``, K(X_new, X) after it. A callable takes two rows and returns a number.
    kernel_params : dict or None, default=None
        Parameters of the kernel: ``gamma`` (1 / n_features) of "rbf", ``exp(-gamma |x - z|^2)``;
        ``gamma``, ``degree`` (3) and ``coef0`` (1) of "poly", ``(gamma x.z + coef0)^degree``;
        keyword arguments of a callable kernel.
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
        1 writes the estimated remaining time to the standard error, after 2, 4, 8 ... blocks of 64
        candidates. 0 is silent.

    Attributes
    ----------
    classes_, pos_label_ : ndarray of shape (2,), object
        The classes, ascending, and the positive one.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the features. Only for ``kernel="linear"``.
    dual_coef_, support_, X_fit_ : ndarray
        Coefficients, indices and features of the support rows, whose images span those of all rows
        up to rounding. Only for other kernels; ``X_fit_`` not for "precomputed".
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
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    AccuracyAtTopRankerCV : The first choice: chooses ``C``, selection, quantile and share by
        cross-validation.
    sklearn_rank.metrics.smoothed_precision_at_top_score : Measure for choosing ``C``.
    sklearn.calibration.CalibratedClassifierCV : Turns the scores into probabilities.
    sklearn.linear_model.LogisticRegression : The better choice when the top is large.

    Notes
    -----
    **Choose C, and compare with logistic regression.** With the default ``C`` the precision of new
    rows in the top 5 % is below that of ``LogisticRegression()`` by .042 ± .018 in the mean over
    22 data sets, most where there are few rows for each feature (Ionosphere, .28); ``C=0.1`` is no
    better in the mean. If ``C`` is chosen for both, as :class:`AccuracyAtTopRankerCV` does, there
    is no difference: .001 ± .015, between +.27 (Ionosphere, 34 features) and -.12 (glass).

    As in all of scikit-learn, ``decision_function`` is greater for ``classes_[1]``. If
    ``pos_label`` is ``classes_[0]``, the ranker is fitted with exchanged labels, and the signs of
    ``coef_``, ``dual_coef_``, ``intercept_``, ``quantile_`` and ``threshold_`` are reversed: the
    top of the list has the *smallest* decision values. The scorers of
    :func:`sklearn_rank.metrics.get_scorer` take this into account.

    ``sample_weight`` counts as repetition in the cost, the class counts and the quantile.
    Standardise the features, as for any SVM.

    A fit to n distinct rows solves n convex problems, in blocks of 64 that are distributed over
    the workers. On at most two cores, 3,067 rows of 57 features take 2 to 7 seconds, and 1,000
    rows with a kernel 4 to 15 seconds, if numba is installed (the extra ``fast``): large fits then
    use loops that it compiles, once per machine, and take a third of the time. Small ones use
    array operations; the results of the two differ by no more than ``tol`` allows. Peak memory is
    a few copies of the data; ``d x d`` matrices are formed if d <= n, and n x n arrays for up to
    4,096 rows with at least 100 dense features, as with kernels.

    ``lower_bound_`` ignores the position of the quantile, so that a large ``optimality_gap_`` does
    not indicate a bad fit; the user guide states how large it is.

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

    >>> bool(ranker[-1].dual_gap_ <= ranker[-1].tol)
    True
    """

    _parameter_constraints = {
        "quantile": [StrOptions({"sample", "pairs"})],
        "selection": [StrOptions(set(get_args(Selection)))],
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
        kernel_params=None,
        selection="average",
        solver="auto",
        tol=1e-6,
        max_iter=500,
        n_jobs=None,
        verbose=0,
    ):
        store_parameters(locals())

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
            self._fit(self, self._rows_at(X, rows.taken), rows, cost, mass, data=(X, y))
        return self

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit_pairs(self, X_lower: Any, X_upper: Any, pair_weight: Any = None) -> Self:
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
            X_lower = self._validated(X_lower)
            X_upper = self._validated(X_upper, reset=False)
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
            of_fold: dict[str, Any] = {"class_weight": None, "quantile": "sample"}
            cost = self.C * rows.weight
            self._fit(self, X[rows.taken], rows, cost, rows.weight, data=(X, None), **of_fold)
        return self


# Decimals to which means are compared.
DIGITS = 12


# Values of C, quantile, selection and tau, of which all combinations are tried in this order.
TopGrid: TypeAlias = dict[str, Sequence[Any]]


class AccuracyAtTopRankerCV(AccuracyAtTopBase):
    """Accuracy at the top with ``C`` and the selection rule chosen by cross-validation.

    The convex problems of :class:`AccuracyAtTopRanker` depend on ``C`` alone: their solutions
    serve every share of the top, every selection and both quantiles. A search over all four
    parameters costs one fit for each value of ``C`` in each fold, and one final fit to all rows.

    Parameters
    ----------
    tau : float, default=0.05
        Share of the rows that form the top of the list, in (0, 1). ``scoring=None`` and the
        threshold use it.
    param_grid : dict or None, default=None
        Values of parameters of :class:`AccuracyAtTopRanker` to try, in all combinations. ``"C"``:
        by default 1e-4, 1e-3, 0.01, 0.1 and 1; with ``class_weight="pairs"`` costs are greater by
        a factor of about the number of rows of a class, so the values should be smaller.
        ``"selection"``: by default "average" and "closest"; "refine" takes far longer.
        ``"quantile"``: by default "sample". ``"tau"``, shares of the top to train for: by default
        ``tau``; a ranker trained for another share can be better at ``tau``.
    cv : int, splitter, iterable or None, default=None
        Folds. An int is the number of stratified folds without shuffling; None is 5, or fewer if a
        class has fewer rows. An iterable yields pairs of training and test indices.
    scoring : str, Measure, callable or None, default=None
        Score by which parameters are chosen; greater is better. None is the precision at the top,
        smoothed over four shares (``"smoothed_precision@top"`` with ``tau``). Names and measures
        are those of :func:`sklearn_rank.metrics.get_scorer`; measures of queries treat all rows as
        one query. A callable has the signature ``scorer(estimator, X, y)``.
    rule : {"best", "one_standard_error"}, default="best"
        "best" takes the greatest mean score over the folds. "one_standard_error" takes the
        smallest ``C`` that is within one standard error of the greatest mean for some value of the
        other parameters, and the best of these values at that ``C``. Ties go to the smaller ``C``,
        then to the first "quantile", "selection" and "tau" of the grid.
    pos_label : int, float, bool, str or None, default=None
        The class to be ranked at the top. None takes 1 if the labels are 0 and 1 or -1 and 1, and
        otherwise the greater label, with a warning.
    class_weight : {"balanced", "pairs"}, dict or None, default="balanced"
        Factor on ``C`` for each class, as for :class:`AccuracyAtTopRanker`.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Kernel. With "precomputed", ``fit`` takes the square kernel matrix of the rows.
    kernel_params : dict or None, default=None
        Parameters of the kernel, as for :class:`AccuracyAtTopRanker`.
    solver : {"auto", "newton", "cvxpy"}, default="auto"
        As for :class:`AccuracyAtTopRanker`.
    tol : float, default=1e-6
        Tolerance on the relative duality gap of each convex problem, positive.
    max_iter : int, default=500
        Maximum number of iterations (Newton or interior-point steps) for one problem.
    n_jobs : int or None, default=None
        Number of workers. None is 1 unless in a :obj:`joblib.parallel_config` context, -1 uses all
        cores. Workers are threads unless that context sets another backend; see Notes. The result
        does not depend on it.
    verbose : int, default=0
        1 writes the estimated remaining time to the standard error, after 2, 4, 8 ... blocks of 64
        candidates. 0 is silent.

    Attributes
    ----------
    C_ : float
        The ``C`` that was chosen.
    selection_ : str
        The selection that was chosen.
    quantile_of_ : str
        The ``quantile`` that was chosen.
    tau_ : float
        The share that was chosen, for which the ranker is trained.
    best_params_ : dict
        The four chosen values, by their parameter names in :class:`AccuracyAtTopRanker`.
    best_index_ : int
        Index in ``cv_results_`` of the chosen setting.
    best_score_ : float
        Mean score of the chosen setting over the folds.
    Cs_ : ndarray of shape (n_Cs,)
        The values of ``C``, ascending.
    scores_ : ndarray of shape (n_folds, n_Cs, n_quantiles, n_selections, n_taus)
        Score of each setting in each fold.
    cv_results_ : dict
        Results of all settings, as in :class:`sklearn.model_selection.GridSearchCV`, with two
        further columns: "standard_error" (of the mean score, as if folds were independent) and
        "within_one_standard_error" (of the greatest mean score).
    n_splits_ : int
        Number of folds.
    scorer_ : callable
        The scorer.
    classes_, pos_label_ : ndarray of shape (2,), object
        The classes, ascending, and the positive one.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the features, fitted to all rows. Only for ``kernel="linear"``.
    dual_coef_, support_, X_fit_ : ndarray
        As in :class:`AccuracyAtTopRanker`. Only for other kernels.
    intercept_ : ndarray of shape (1,)
        ``-threshold_``.
    quantile_ : float
        The top ``tau`` quantile of the training scores ``X @ coef_``; if the first class is
        positive, the quantile that cuts off the ``tau`` lowest.
    threshold_ : float
        Midpoint between the quantile and the next distinct score below the top. The top ``tau`` of
        the rows (of the members of pairs, if ``quantile_of_`` is "pairs") lie beyond it, whatever
        ``tau_`` is. With a kernel or fewer than 10 rows a feature it is of out-of-fold scores, as
        in :class:`AccuracyAtTopRanker`.
    pivot_index_, quantile_distance_, objective_, objective_top_, lower_bound_ : object
        As in :class:`AccuracyAtTopRanker` with ``best_params_``, and so at ``tau_``.
    optimality_gap_, dual_gap_, converged_, n_iter_, average_ : object
        As in :class:`AccuracyAtTopRanker` with ``best_params_``.
    candidate_indices_, candidate_objectives_, candidate_distances_ : ndarray
        As in :class:`AccuracyAtTopRanker` with ``best_params_``.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    AccuracyAtTopRanker : The ranker for given parameters.
    sklearn.model_selection.GridSearchCV : Refits every setting; searches over any parameter.
    sklearn_rank.model_selection.BoundSearchCV : Chooses models by lower confidence limits.

    Notes
    -----
    With the same folds and scorer, ``GridSearchCV`` over :class:`AccuracyAtTopRanker` gives the
    same scores and choice. With "refine" the search can take thirty times as long.

    ``best_score_`` is the greatest of many means and therefore optimistic. To report a score, use
    rows that are in no fold.

    Pipeline steps before the ranker are fitted to all rows, held-out ones included. If a step uses
    ``y``, search over the whole pipeline with ``GridSearchCV``.

    Rows of weight 0 are ignored and not split. Scores are weighted by ``sample_weight``. With
    metadata routing enabled, the default scorer uses the weights, and scorers that are passed get
    what they request. ``groups`` are passed to the splitter.

    The time is that of one fit of :class:`AccuracyAtTopRanker` for each fold and C, and one more.
    The memory is that of one fit, plus a few numbers for each candidate and each pair of a
    quantile and a share.

    References
    ----------
    .. [1] Boyd, S., Cortes, C., Mohri, M. and Radovanovic, A. (2012). Accuracy at the Top.
       Advances in Neural Information Processing Systems 25. Section 5.1.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_rank import AccuracyAtTopRankerCV
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> search = AccuracyAtTopRankerCV(0.1, param_grid={"tau": [0.1, 0.2]}, cv=3)
    >>> model = make_pipeline(StandardScaler(), search).fit(X[::2], y[::2])
    >>> search.scores_.shape
    (3, 5, 1, 2, 2)
    >>> precision_at_top_score(y[1::2], model.decision_function(X[1::2]), tau=0.1)
    1.0
    """

    _parameter_constraints = {
        "param_grid": [dict, None],
        "scoring": [str, callable, None],
        "rule": [StrOptions({"best", "one_standard_error"})],
    }

    def __init__(
        self,
        tau=0.05,
        *,
        param_grid=None,
        cv=None,
        scoring=None,
        rule="best",
        pos_label=None,
        class_weight="balanced",
        kernel="linear",
        kernel_params=None,
        solver="auto",
        tol=1e-6,
        max_iter=500,
        n_jobs=None,
        verbose=0,
    ):
        store_parameters(locals())

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the parameters by cross-validation and fit to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Labels of two classes, of any type; ``pos_label`` is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, used in fits and scores; rows of weight 0 are ignored.
        **params : dict
            ``groups`` for the splitter. With metadata routing enabled, the metadata that splitter
            and scorer request.

        Returns
        -------
        AccuracyAtTopRankerCV
            The estimator itself.

        Raises
        ------
        ValueError
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them, X, y or
            sample_weight is not finite, a value to try is not valid, the training or test part of
            a fold lacks a class, or a score is not finite.
        TypeError
            If metadata is passed that neither the splitter nor the scorer takes.

        Warns
        -----
        ConvergenceWarning
            If a convex problem does not reach ``tol`` within ``max_iter`` iterations. The folds
            give one warning together.
        LongFitWarning
            If the problems will take more than ten minutes.
        PositiveClassWarning
            If ``pos_label`` is None and the labels are neither 0 and 1 nor -1 and 1.
        QuantileDistanceWarning
            As in :class:`AccuracyAtTopRanker`, if ``selection_`` is "closest".
        SmallTopWarning
            If a share times the number of rows, of a part of a fold or of all, rounds to less than
            one row. The folds give one warning together.
        """
        with restored_on_error(self):
            grid = self._grid()
            X, y, rows = self._check_rows(X, y, sample_weight)
            for_splitter, for_scorer = self._routed(sample_weight, params, rows.taken, len(y))
            scorer = self._scorer(rows.pos_label)
            X_taken, y_taken = self._rows_at(X, rows.taken), y[rows.taken]
            folds = self._folds(X_taken, y_taken, rows, len(y), for_splitter)
            n_blocks = sum(most_blocks(len(train)) for train, _ in folds) * len(grid["C"])
            n_blocks += most_blocks(len(rows.taken))
            progress = self._progress(n_blocks, X, y)
            settings = self._solver_settings(progress.block_done)
            scores = self._cross_validate(
                grid, X_taken, y_taken, rows, folds, scorer, for_scorer, settings
            )
            self._choose(grid, scores)
            self.scorer_, self.n_splits_ = scorer, len(folds)
            self._refit(X_taken, rows, progress)
        return self

    def _grid(self) -> TopGrid:
        given: TopGrid = {
            "C": np.logspace(-4, 0, 5).tolist(),
            "quantile": ["sample"],
            "selection": ["average", "closest"],
            "tau": [self.tau],
        }
        for name in self.param_grid or {}:
            check_choice("param_grid", name, tuple(given))
        given |= self.param_grid or {}
        grid: TopGrid = {
            name: np.atleast_1d(np.asarray(values, dtype=object)).tolist()
            for name, values in given.items()
        }
        if not all(grid.values()):
            raise ValueError(
                f"param_grid={self.param_grid!r} must give each parameter at least one value."
            )
        choices_of = {"quantile": ("sample", "pairs"), "selection": get_args(Selection)}
        for name, choices in choices_of.items():
            for value in grid[name]:
                check_choice(name, value, choices)
        costs = [check_number("C", C, 0.0, closed="neither") for C in grid["C"]]
        taus = [check_share("tau", tau) for tau in grid["tau"]]
        return grid | {"C": np.unique(costs).tolist(), "tau": taus}

    def _scorer(self, pos_label: Any = None) -> Any:
        scoring = self.scoring
        if scoring is None:
            scoring = get_measure(smoothed_precision_at_top_score, tau=self.tau)
        if not isinstance(scoring, str | Measure | ScoreGeneratingFunction):
            if list(signature(scoring).parameters)[:2] == ["y_true", "y_score"]:
                name = getattr(scoring, "__name__", repr(scoring))
                raise TypeError(
                    f"scoring={name} is a function of labels and scores, not a scorer of an "
                    f"estimator, rows and labels: pass get_scorer({name}) of "
                    "sklearn_rank.metrics, with its parameters."
                )
            return scoring
        scorer = get_scorer(scoring, single_list=True, pos_label=pos_label)
        if _routing_enabled():
            scorer.set_score_request(sample_weight=True)
        return scorer

    def get_metadata_routing(self) -> MetadataRouter:
        """Get the metadata routing of the splitter and the scorer.

        Returns
        -------
        MetadataRouter
            The metadata requests.
        """
        split = MethodMapping().add(caller="fit", callee="split")
        score = MethodMapping().add(caller="fit", callee="score")
        score.add(caller="score", callee="score")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(splitter=self.cv, method_mapping=split)
        return router.add(scorer=self._scorer(), method_mapping=score)

    def _routed(
        self, sample_weight: Any, params: dict[str, Any], taken: IntArray, n_samples: int
    ) -> list[dict[str, Any]]:
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            parts = [routed.splitter.split, routed.scorer.score]
        else:
            unknown = sorted(set(params) - {"groups"})
            if unknown:
                raise TypeError(
                    f"fit got the unexpected argument {unknown[0]!r}: pass groups only, or "
                    "enable metadata routing for arguments that a splitter or scorer requests."
                )
            weighted = isinstance(self._scorer(), BaseScorer)
            parts = [params, {"sample_weight": sample_weight} if weighted else {}]
        return [
            {
                name: values_of_taken_rows(name, value, taken, n_samples)
                for name, value in part.items()
                if value is not None
            }
            for part in parts
        ]

    def _folds(
        self, X: Any, y: AnyArray, rows: TwoClasses, n_samples: int, params: dict[str, Any]
    ) -> list[Fold]:
        """Training and test parts, as numbers of the rows that count."""
        rarest = min(np.count_nonzero(rows.positive), np.count_nonzero(~rows.positive))
        if self.cv is None and rarest < 2:
            raise ValueError(
                "Training and test parts of folds need rows of both classes, but one class has "
                "one row: add rows, or use AccuracyAtTopRanker with fixed parameters."
            )
        cv = min(N_FOLDS, rarest) if self.cv is None else self.cv
        cv = check_cv(of_taken_rows(cv, rows.taken, n_samples), y, classifier=True)
        folds = list(cv.split(X, y, **params))
        if not folds:
            raise ValueError(f"cv={self.cv!r} yields no folds: pass an int, a splitter or a list.")
        for i, fold in enumerate(folds):
            for name, part in zip(("training", "test"), fold, strict=True):
                if len(np.unique(rows.positive[part])) < 2:
                    raise ValueError(
                        f"The {name} part of fold {i} has rows of one class only "
                        f"({np.count_nonzero(rows.positive)} of all {len(rows.taken)} rows are "
                        "positive): use fewer or stratified folds."
                    )
        return folds

    def _cross_validate(
        self,
        grid: TopGrid,
        X: Any,
        y: AnyArray,
        rows: TwoClasses,
        folds: list[Fold],
        scorer: Callable[..., Any],
        params: dict[str, Any],
        settings: dict[str, Any],
    ) -> FloatArray:
        """Scores of the folds. Shape (n_folds, n_Cs, n_quantiles, n_selections, n_taus)."""
        scores = np.empty((len(folds), *map(len, grid.values())))
        solved: list[PivotSolutions] = []
        scales = "refine" in grid["selection"]
        for of_fold, (train, test) in zip(scores, folds, strict=True):
            part, X_train, kernel = rows.part(train), self._rows_at(X, train), kernel_of(self)
            X_test, y_test = self._rows_at(X, test, train), y[test]
            params_test = {name: rows_at(value, test) for name, value in params.items()}
            masses = {"sample": part.weight, "pairs": part.pair_mass()}
            # Costs come with C, masses with the tops.
            coordinates = None if kernel is None else partial(kernel.coordinates, X_train)
            of_part = X_train, part.sign, part.weight, part.weight
            problem = PivotProblem.from_rows(*of_part, coordinates)
            tops = [
                (problem.merge(masses[quantile]), mass_of_top(masses[quantile], tau))
                for quantile, tau in product(grid["quantile"], grid["tau"])
            ]
            for of_cost, C in zip(of_fold, grid["C"], strict=True):
                of_C = replace(problem, cost=problem.merge(part.costs(C, self.class_weight)))
                solutions = solve_candidates(of_C, tops, scales=scales, **settings)
                solved.append(solutions.values)
                for place in np.ndindex(of_cost.shape):
                    quantile, selection, tau = place
                    rule, number = grid["selection"][selection], quantile * len(grid["tau"]) + tau
                    solution = select_solution(solutions, rule, number, n_jobs=self.n_jobs)
                    ranker = self._ranker(part, tau=self.tau)
                    ranker.n_features_in_ = X_train.shape[1]
                    mass = masses[grid["quantile"][quantile]]
                    # The threshold is at the top that is acted on.
                    top, _ = top_mass(mass, self.tau)
                    function = learned_scores(kernel, solution.coef, X_train)
                    ranker._store_function(function, X_train, part, mass, top)
                    of_cost[place] = scorer(ranker, X_test, y_test, **params_test)
        self._warn_of_missed(solved, "leave out the largest C", " in folds")
        return scores

    def _choose(self, grid: TopGrid, scores: FloatArray) -> None:
        if not np.all(np.isfinite(scores)):
            fold = int(np.argmax(~np.isfinite(scores).all(axis=(1, 2, 3, 4))))
            raise ValueError(
                f"scoring={self.scoring!r} is not finite on fold {fold}, so that the settings "
                "cannot be compared: use fewer folds or another measure."
            )
        if self.rule == "one_standard_error" and len(scores) < 2:
            raise ValueError(
                "rule='one_standard_error' needs at least two folds, and cv gives one: use more "
                "folds, or rule='best'."
            )
        of_settings = scores.reshape(len(scores), -1)
        mean, error = of_settings.mean(axis=0), np.full(of_settings.shape[1], np.nan)
        if len(scores) > 1:
            error = of_settings.std(axis=0, ddof=1) / np.sqrt(len(scores))
        # Means that differ only by rounding are equal.
        rounded = mean.round(DIGITS)
        best = int(np.argmax(rounded))
        within = rounded >= rounded[best] - error[best]
        if self.rule == "one_standard_error":
            strongest = int(np.argmax(within.reshape(scores.shape[1:]).any(axis=(1, 2, 3))))
            of_strongest = rounded.reshape(len(grid["C"]), -1)[strongest]
            best = strongest * len(of_strongest) + int(np.argmax(of_strongest))
        settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        self.Cs_, self.scores_ = np.array(grid["C"]), scores
        self.cv_results_ = {
            **{f"param_{name}": np.array([s[name] for s in settings]) for name in grid},
            "params": settings,
            **{f"split{i}_test_score": of_fold for i, of_fold in enumerate(of_settings)},
            "mean_test_score": mean,
            "std_test_score": of_settings.std(axis=0),
            "rank_test_score": rankdata(-rounded, method="min").astype(np.int32),
            "standard_error": error,
            "within_one_standard_error": within,
        }
        self.best_index_, self.best_params_ = best, settings[best]
        self.best_score_ = float(mean[best])
        self.C_, self.quantile_of_, self.selection_, self.tau_ = self.best_params_.values()

    def _refit(self, X: Any, rows: TwoClasses, progress: FitProgress) -> None:
        mass = rows.weight if self.quantile_of_ == "sample" else rows.pair_mass()
        cost = rows.costs(self.C_, self.class_weight)
        chosen = self._ranker(rows, **self.best_params_)
        self._fit(chosen, X, rows, cost, mass, progress=progress)

    def _ranker(self, rows: TwoClasses, **chosen: Any) -> AccuracyAtTopRanker:
        same = ("kernel", "kernel_params", "class_weight", "n_jobs")
        params = {name: getattr(self, name) for name in same} | chosen
        return AccuracyAtTopRanker(**params, pos_label=rows.pos_label)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """Compute the score defined by ``scoring``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for a scorer that takes weights.
        **params : dict
            With metadata routing enabled, the metadata that the scorer requests.

        Returns
        -------
        float
            The score; greater is better.
        """
        check_is_fitted(self)
        if _routing_enabled():
            routed = process_routing(self, "score", sample_weight=sample_weight, **params)
            params = routed.scorer.score
        elif sample_weight is not None:
            params = {**params, "sample_weight": sample_weight}
        return float(self.scorer_(self, X, y, **params))


def _routing_enabled() -> bool:
    return bool(sklearn.get_config()["enable_metadata_routing"])
