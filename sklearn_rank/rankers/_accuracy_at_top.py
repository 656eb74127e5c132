"""Accuracy at the top (Boyd, Cortes, Mohri & Radovanovic 2012)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from .._checkpoint import cleared_on_success
from .._sklearn_compat import (
    Interval,
    StrOptions,
    check_sample_weight,
    fit_context,
    with_callbacks,
)
from .._solvers import solve_accuracy_at_top
from .._validation import ravelled
from ._accuracy_at_top_base import AccuracyAtTopBase, pivot_problem
from ._fitting import FitProgress, restored_on_error
from ._kernel_map import KernelMap
from ._score_function import learned_scores
from ._top_of_rows import mass_of_top
from ._two_classes import TwoClasses

# What fits that take long are told.
MANY_ROWS = (
    "accuracy at the top has a convex problem for each distinct row. For many rows there is"
    " TopFocusedRanker, which takes a few fits of a classifier (see 'Many rows' in the user"
    " guide); an interrupted fit leaves the ranker as it was."
)


class AccuracyAtTopRanker(AccuracyAtTopBase):
    r"""Linear ranker that is trained for the top of the list.

    Accuracy at the top asks that the rows whose score exceeds the top :math:`\tau` quantile
    :math:`q_w` of all scores are positive, and that positives do so. Its surrogate

    .. math:: \min_w \tfrac12 \|w\|^2 + \sum_i c_i \, \max(0, 1 - y_i (w \cdot x_i - q_w))

    is not convex, because the quantile depends on :math:`w`. The method solves a convex problem
    for each distinct row :math:`z_k`, with :math:`w \cdot z_k` in place of :math:`q_w`, and looks
    at how close :math:`w_k \cdot z_k` comes to the quantile of its scores: the paper returns the
    closest solution, the default here is the mean direction of the closest tenth.

    Parameters
    ----------
    tau : float, default=0.05
        Share of the rows that make the top, in (0, 1). The top holds
        ``max(1, floor(tau * n + 1/2))`` rows.
    pos_label : int, float, bool, str or None, default=None
        The positive class, which belongs on top. None is 1 for labels among 0 and 1 or among -1
        and 1; for all others it is the greater label, with a warning.
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
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Inner product of rows. With "precomputed" ``fit`` takes the square matrix of the training
        rows and ``decision_function`` that of new rows with all training rows; a callable takes
        two rows and returns a number. It has to be positive semidefinite.
    gamma : float or None, default=None
        Rate of ``exp(-gamma |x - z|^2)`` and of ``(gamma x.z + coef0)^degree``; None is
        ``1 / n_features``.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly".
    kernel_params : dict or None, default=None
        Keyword arguments of a callable.
    selection : {"average", "closest", "objective", "refine"}, default="average"
        ``"closest"`` is the paper's rule, ties (distances within ``tol`` of a margin) going to
        the smaller objective. ``"average"`` is the mean of the weights, each divided by its norm,
        of the tenth (at least one) of the candidates that this rule puts first, at the multiple
        that makes the value of the problem above smallest. ``"objective"`` takes the smallest
        value of the problem above, each solution with the quantile of its own scores;
        ``"refine"`` goes on from the best of them, in steps that lower that value. The user
        guide compares them.
    solver : {"auto", "newton", "cvxpy"}, default="auto"
        ``"newton"`` is fast; ``"cvxpy"`` is the slow reference, judged by the same certificate.
        ``"auto"`` is ``"newton"``.
    tol : float, default=1e-6
        Relative duality gap at which a convex problem counts as solved, positive.
    max_iter : int, default=500
        Most iterations (Newton or interior-point steps) for one problem.
    n_jobs : int or None, default=None
        Number of workers; None is 1 unless in a :obj:`joblib.parallel_config` context, -1 all
        cores. They are threads unless that context names another backend; see the Notes. The
        result does not depend on it.
    checkpoint : str, path-like or None, default=None
        Folder that keeps the convex problems that are solved, so that a fit that was killed goes
        on from there, to the same bits. Fits to other data or with other parameters may share
        it: each has a folder of its own in it, which is deleted when the fit has succeeded.
    verbose : int, default=0
        1 writes how long the fit will still take to the standard error, after 2, 4, 8 ... blocks
        of 32 candidates; 0 is silent.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, ascending.
    pos_label_ : object
        The positive one of them.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features. Only for ``kernel="linear"``.
    dual_coef_ : ndarray of shape (1, n_support)
        Weights of the kernel's values with the support rows. Only for other kernels.
    support_ : ndarray of shape (n_support,)
        Support rows: those whose images span all others, to rounding. Only for other kernels.
    X_fit_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support rows. Only for other kernels that are not precomputed.
    intercept_ : ndarray of shape (1,)
        ``-threshold_``.
    quantile_ : float
        The top ``tau`` quantile of the training scores ``X @ coef_``; if the first class is
        positive, the quantile that cuts off the ``tau`` lowest.
    threshold_ : float
        Midway from the quantile to the next distinct score towards the other rows: without ties,
        exactly the top rows lie beyond it. Solutions of ``selection="refine"`` have ties there.
    pivot_index_ : int
        Row of the fitted ``X`` that is the pivot of the solution; with "average" and "refine",
        whose solutions are no candidate's, a row at the quantile.
    quantile_distance_ : float
        Distance of the pivot's score from the quantile, in units of the margin.
    objective_ : float
        Value of the convex problem at the pivot (Problem 2); where the pivot is at the quantile
        it is ``objective_top_``.
    objective_top_ : float
        Value of the problem itself, at the quantile of the scores (Problem 1).
    lower_bound_ : float
        Certified: no weight vector has a smaller value of the problem that the ranker is for,
        ``objective_top_``. It is loose unless ``C`` is small; see the Notes.
    optimality_gap_ : float
        ``objective_top_ - lower_bound_``: at most this is lost to the non-convexity.
    dual_gap_ : float
        Largest gap between the value of a candidate's convex problem and its own lower bound,
        relative to the value: the certificate to hold against ``tol``.
    candidate_indices_ : ndarray of shape (n_candidates,)
        First row of each distinct point, ascending.
    candidate_objectives_ : ndarray of shape (n_candidates,)
        Value of the convex problem of each candidate.
    candidate_distances_ : ndarray of shape (n_candidates,)
        Distance of each candidate's pivot score from the quantile of its scores.
    average_ : ndarray of shape (n_averaged,)
        The candidates that were averaged, indices into ``candidate_indices_`` and the other two,
        ascending. Only for ``selection="average"``.
    converged_ : bool
        Whether the convex problems of all candidates reached ``tol``.
    n_iter_ : int
        Largest number of iterations over all candidates.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where ``X`` has names that are all strings.

    See Also
    --------
    AccuracyAtTopRankerCV : Chooses ``C``, selection, quantile and share by cross-validation.
    sklearn_rank.metrics.smoothed_precision_at_top_score : What to select ``C`` by.
    sklearn.calibration.CalibratedClassifierCV : Makes probabilities of the scores, for soft voting
        too.
    sklearn.linear_model.LogisticRegression : The better choice where the top is large.

    Notes
    -----
    As in all of scikit-learn ``decision_function``, and with it ``coef_`` and ``threshold_``, is
    greater for ``classes_[1]``. If ``pos_label`` is ``classes_[0]``, the fit is that to exchanged
    labels with the signs of ``coef_``, ``dual_coef_``, ``intercept_``, ``quantile_`` and
    ``threshold_`` turned round: the top of the list are the *smallest* decision values. The
    scorers of :func:`sklearn_rank.metrics.get_scorer` know this parameter and count for it.

    Equal rows of one class become one row with their total weight, and each distinct point is a
    candidate once. ``sample_weight`` counts as repetition everywhere: in the cost, the class
    counts and the quantile. The features should be on one scale, as for any SVM.

    n distinct rows make n convex problems of 10 to 60 Newton steps, each with a factorisation in
    at most min(n, d) dimensions and a product with all rows, O(n d); problems of about 150,000
    entries or 100 features take about three such products altogether, and steps on fewer rows:
    3,067 rows of 57 features take 2 to 7 seconds, 1,000 rows with a kernel 4 to 15 on two cores
    at most. Peak memory is a few copies of the data, and sparse
    data stay sparse, but sums of ``d x d`` are formed where d <= n. With 100 dense features or
    more, at least an eighth of the rows, as kernels have (one for each support row), and up to
    4,096 rows, it is one array of n x n, and another for each thread. The solutions of dense data
    are kept until one is selected, n_candidates x min(n, d) numbers; those of sparse data are
    not, and the tenth that is averaged is solved for again. A path over ``C`` would save a tenth
    to a quarter of the steps, and is not offered.

    ``lower_bound_`` is the least value of all convex problems, which ignore where the quantile
    is; where the classes can be separated it stops growing with ``C``, as the value does not. The
    best value found is 1 to 1.7 times the bound for ``C=.001``; for ``C`` from 1 to 10 it is 1.2
    to 1.4 times on Pima, 4 to 12 on Ionosphere and 9 to 56 on breast cancer. A large
    ``optimality_gap_`` is then no sign of a bad fit.

    Blocks of 32 problems are shared among the workers. Threads share the rows and start at once.
    The backends "loky" and "multiprocessing" of :obj:`joblib.parallel_config` start a process for
    each worker, which takes a second or two, and map arrays of a megabyte or more into all of
    them; they pay where threads of the same process wait for each other. "dask" sends the rows
    once to each machine, and pays from some minutes of work on. With ``checkpoint``, the
    solutions of dense data take as much room in the folder as the data.

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
        **AccuracyAtTopBase._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
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
        checkpoint=None,
        verbose=0,
    ):
        self.tau = tau
        self.pos_label = pos_label
        self.C = C
        self.class_weight = class_weight
        self.quantile = quantile
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.selection = selection
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AccuracyAtTopRanker:
        """Solve the convex problem of every distinct row and select one solution.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR.
        y : array-like of shape (n_samples,)
            Two classes of any type, of which ``pos_label`` names the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; weight 2 is the row twice, weight 0 is the row absent.

        Returns
        -------
        AccuracyAtTopRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If ``y`` has one class or more than two, ``pos_label`` is none of them, or X, y or
            sample_weight is not finite.

        Warns
        -----
        ConvergenceWarning
            If a convex problem misses ``tol`` within ``max_iter`` iterations.
        LongFitWarning
            If the fit will take more than ten minutes, by its first blocks of candidates.
        PositiveClassWarning
            If ``pos_label`` is None and the labels are not among 0 and 1 or among -1 and 1.
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
        """Fit to pairs of rows of which the second is preferred, the paper's general setting.

        Row i of ``X_upper`` should score above the quantile, row i of ``X_lower`` below. A point
        that stands in many pairs counts once for each, on either side or on both.

        Parameters
        ----------
        X_lower, X_upper : {array-like, sparse matrix} of shape (n_pairs, n_features)
            The two rows of each pair. Kernels but "precomputed" apply.
        pair_weight : array-like of shape (n_pairs,), default=None
            Non-negative weights; weight 2 is the pair twice, weight 0 is the pair absent.

        Returns
        -------
        AccuracyAtTopRanker
            The estimator itself. ``classes_`` are 0 and 1, of which 1, or the ``pos_label``, is
            predicted above the quantile; ``pivot_index_``, ``candidate_indices_`` and
            ``support_`` count the rows of ``X_lower`` first and go on with those of ``X_upper``.

        Raises
        ------
        ValueError
            If the two have different shapes, a value is not finite, or the kernel is
            precomputed.

        Warns
        -----
        ConvergenceWarning
            If a convex problem misses ``tol`` within ``max_iter`` iterations.
        LongFitWarning
            If the fit will take more than ten minutes, by its first blocks of candidates.
        QuantileDistanceWarning
            If ``selection="closest"`` and ``quantile_distance_`` exceeds 1 (1.01, since scores
            are not exact).
        SmallTopWarning
            If ``tau`` times the number of points in pairs rounds to less than one.

        See Also
        --------
        fit : Two classes; with ``class_weight="pairs", quantile="pairs"`` the same as all pairs
            of a negative and a positive row.

        Notes
        -----
        ``class_weight`` and ``quantile`` have no effect: the pairs say how often each point
        counts, in the loss and in the quantile, which is over the members of all pairs.
        """
        with restored_on_error(self):
            if self.kernel == "precomputed":
                raise ValueError(
                    "fit_pairs compares rows by their features and knows no precomputed kernel:"
                    " choose another kernel."
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
                    f"pos_label={self.pos_label!r} is no class of pairs, whose rows have no labels"
                    " of their own and are of the classes 0 and 1: leave it out."
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
            self._fit(X[rows.taken], rows, self.C * rows.weight, rows.weight, (X, None))
        return self

    def _fit(self, X: Any, rows: TwoClasses, cost: Any, mass: Any, data: tuple[Any, Any]) -> None:
        """Solve the problem of rows with costs, and masses in the quantile; store the solution."""
        top = mass_of_top(mass, self.tau)
        kernel = KernelMap.of(self)
        problem = pivot_problem(kernel, X, rows, cost, mass)
        progress = FitProgress(self, len(problem.blocks()), *data, instead=MANY_ROWS)
        with cleared_on_success(self.checkpoint, type(self).__name__) as checkpoints:
            solution = solve_accuracy_at_top(
                problem,
                top_mass=top,
                selection=self.selection,
                solver=self._pivot_solver(),
                n_jobs=self.n_jobs,
                on_block=progress.step,
                checkpoints=checkpoints,
            )
            self._store_function(learned_scores(kernel, solution.coef, X), X, rows, mass, top)
            self._store_solution(solution, rows, self.selection, self.tau)
            progress.done()
