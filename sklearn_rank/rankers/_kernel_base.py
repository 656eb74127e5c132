"""Linear and kernel scores of two classes: coordinates, fitted attributes, base class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from .._sklearn_compat import (
    CallbackSupportMixin,
    StrOptions,
    check_sample_weight,
    fit_context,
    with_callbacks,
)
from .._solvers import (
    DenseDesign,
    Design,
    KernelDesign,
    SolverResult,
    as_design,
    check_definite,
    column_scales,
    factorise_kernel,
    factorise_kernel_matrix,
)
from .._typing import FloatArray, IntArray
from .._validation import ravelled, validate_data
from ._base import (
    BipartiteRanker,
    Criterion,
    FitProgress,
    forget,
    is_blocked,
    refuse_blocked,
    restored_on_error,
    store_certificate,
    warn_of_scales,
)
from ._blocked_rows import blocked_classes, scores_by_blocks
from ._two_classes import TwoClasses, is_flexible, summed

# Up to this many points the matrix is computed at once, beyond it by the columns that are needed.
MOST_AT_ONCE = 4096

# Positive definite kernels that are 1 at distance 0.
OF_DISTANCES = ("rbf", "laplacian")


class KernelMap:
    """A kernel with its parameters, as scikit-learn's kernel methods read them."""

    def __init__(self, estimator: Any) -> None:
        self.kernel = estimator.kernel
        self.params: dict[str, Any]
        if callable(self.kernel):
            self.params = dict(estimator.kernel_params or {})
        else:
            self.params = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}

    @classmethod
    def of(cls, estimator: Any) -> KernelMap | None:
        """Kernel of an estimator; None for ``kernel="linear"``."""
        return None if estimator.kernel == "linear" else cls(estimator)

    @property
    def is_precomputed(self) -> bool:
        return bool(self.kernel == "precomputed")

    def values(self, X: Any, Y: Any) -> FloatArray:
        """Values of the kernel between two sets of points. Shape (n, m)."""
        # Scikit-learn takes squares of stored entries.
        X, Y = (summed(rows) if sp.issparse(rows) else rows for rows in (X, Y))
        return np.asarray(
            pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **self.params)
        )

    def design(self, X: Any) -> Design:
        """Coordinates of points, whose inner products are the values of the kernel."""
        rows, matrix = self.coordinates(X, np.arange(X.shape[0])), self._matrix
        return DenseDesign(rows) if matrix is None else KernelDesign(rows, matrix)

    def coordinates(self, X: Any, taken: IntArray) -> FloatArray:
        """Coordinates of some points, as :meth:`design` has them of all. Shape (m, rank)."""
        matrix: FloatArray | None = None
        if self.is_precomputed:
            matrix = X[np.ix_(taken, taken)]
            if np.abs(matrix - matrix.T).max() > 1e-8 * np.abs(matrix).max():
                raise ValueError(
                    "The precomputed kernel matrix is not symmetric: pass K(X, X) to fit, and"
                    " K(X_test, X) to decision_function."
                )
        else:
            points = X[taken]
            if callable(self.kernel) or len(taken) <= MOST_AT_ONCE:
                matrix = self.values(points, points)
        if matrix is not None:
            factor = factorise_kernel_matrix(matrix)
        else:
            factor = factorise_kernel(
                lambda i: self.values(points, points[i : i + 1])[:, 0], self.diagonal(points)
            )
        if self.kernel not in OF_DISTANCES:
            check_definite(
                factor,
                lambda part: (
                    matrix[part] if matrix is not None else self.values(points[part], points)
                ),
            )
        self._factor, self._taken, self._matrix = factor, taken, matrix
        return factor.rows

    def expansion(self, coef: FloatArray) -> tuple[IntArray, FloatArray]:
        """Weights of the coordinates as a sum of kernel functions."""
        return self._taken[self._factor.support], self._factor.expansion(coef)

    def diagonal(self, X: Any) -> FloatArray:
        """Kernel of each point with itself, the squared norm of its image. Shape (n,)."""
        if self.is_precomputed:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"X of shape {X.shape} is not the kernel matrix of the training rows, whose "
                    "diagonal holds their squared norms: pass the matrix that was passed to fit."
                )
            return np.diag(X)
        if callable(self.kernel):
            points = (X[i : i + 1] for i in range(X.shape[0]))
            return np.array([self.values(point, point)[0, 0] for point in points])
        if self.kernel in OF_DISTANCES:
            return np.ones(X.shape[0])
        gamma = self.params["gamma"] or 1.0 / X.shape[1]
        inner = gamma * as_design(X).squared_norms() + self.params["coef0"]
        return np.asarray(inner ** self.params["degree"])


def check_kernel_shape(estimator: Any, X: Any) -> None:
    if estimator.kernel == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a square kernel matrix, got shape {X.shape}: pass"
            " K(X, X)."
        )


def rounding_of_sums(terms: FloatArray, n_terms: int) -> FloatArray:
    """Bound the rounding errors of sums, given the sums of their absolute terms."""
    return np.asarray(terms * n_terms * np.finfo(np.float64).eps)


class LinearScores:
    """Scores of rows: their products with coefficients."""

    def __init__(self, coef: FloatArray) -> None:
        self.coef = coef

    def attributes(self, taken: IntArray, direction: float) -> dict[str, Any]:
        """Fitted attributes of ``direction``, +1 or -1, times the scores.

        ``taken`` are the rows of ``fit`` that the coefficients were learned from.
        """
        return {"coef_": direction * self.coef[np.newaxis]}

    def scores(self, X: Any) -> FloatArray:
        """Scores of validated rows."""
        return as_design(X).scores(self.coef)

    def scores_of_fitted(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Scores of the rows that this was learned from, and bounds of their rounding.

        BLAS rounds equal rows differently at different positions in a matrix.
        """
        scores, terms = as_design(X).scores_with_terms(self.coef)
        return scores, rounding_of_sums(terms, len(self.coef))

    def weight_norm(self, X: Any) -> float:
        """Norm of the weight vector; only a precomputed kernel needs X, the fitted matrix."""
        return float(np.sqrt(self.coef @ self.coef))

    def squared_norms(self, X: Any) -> FloatArray:
        """Squared norms of validated rows, or of their images under the kernel."""
        return as_design(X).squared_norms()


class KernelScores:
    """Scores of rows: their kernel values with support rows times coefficients."""

    def __init__(
        self, kernel: KernelMap, dual_coef: FloatArray, support: IntArray, support_rows: Any
    ) -> None:
        self.kernel, self.dual_coef = kernel, dual_coef
        self.support, self.support_rows = support, support_rows

    def attributes(self, taken: IntArray, direction: float) -> dict[str, Any]:
        attributes = {
            "dual_coef_": direction * self.dual_coef[np.newaxis],
            "support_": taken[self.support],
        }
        if not self.kernel.is_precomputed:
            attributes["X_fit_"] = self.support_rows
        return attributes

    def _values(self, X: Any) -> FloatArray:
        if self.kernel.is_precomputed:
            return np.asarray(X[:, self.support])
        return self.kernel.values(X, self.support_rows)

    def scores(self, X: Any) -> FloatArray:
        return np.asarray(self._values(X) @ self.dual_coef)

    def scores_of_fitted(self, X: Any) -> tuple[FloatArray, FloatArray]:
        values = self._values(X)
        terms = np.abs(values) @ np.abs(self.dual_coef)
        return values @ self.dual_coef, rounding_of_sums(terms, len(self.dual_coef))

    def weight_norm(self, X: Any) -> float:
        if self.kernel.is_precomputed:
            values = X[np.ix_(self.support, self.support)]
        else:
            values = self.kernel.values(self.support_rows, self.support_rows)
        return float(np.sqrt(max(self.dual_coef @ values @ self.dual_coef, 0.0)))

    def squared_norms(self, X: Any) -> FloatArray:
        return self.kernel.diagonal(X)


ScoreFunction: TypeAlias = LinearScores | KernelScores


def learned_scores(kernel: KernelMap | None, coef: FloatArray, X: Any) -> ScoreFunction:
    if kernel is None:
        return LinearScores(coef)
    support, dual_coef = kernel.expansion(coef)
    return KernelScores(kernel, dual_coef, support, None if kernel.is_precomputed else X[support])


def store_scores(estimator: Any, function: ScoreFunction, rows: TwoClasses) -> None:
    """Give an estimator its classes and its score function, and nothing of an earlier fit.

    What is stored scores the second class high, as in all of scikit-learn, whichever is positive.
    """
    forget(estimator, "coef_", "dual_coef_", "support_", "X_fit_")
    estimator.classes_, estimator.pos_label_ = rows.classes, rows.pos_label
    vars(estimator).update(function.attributes(rows.taken, rows.direction))


def fitted_scores(estimator: Any, outputs: Any = 0) -> ScoreFunction:
    """Score function of one or all outputs of an estimator, from its fitted attributes."""
    kernel = KernelMap.of(estimator)
    if kernel is None:
        return LinearScores(estimator.coef_[outputs].T)
    rows = None if kernel.is_precomputed else estimator.X_fit_
    return KernelScores(kernel, estimator.dual_coef_[outputs].T, estimator.support_, rows)


# Tolerance of the fits to folds.
TOL_OF_FOLDS = 1e-2

# Means of features, in standard deviations, from which on rows are moved.
FAR = 1e3


class KernelRanker(CallbackSupportMixin, BipartiteRanker):
    """Base class of rankers with a linear or kernel score: input checks and decision values.

    A subclass has the parameters of the constraints; ``tol``, ``max_iter`` and ``verbose`` are its
    solver's.
    """

    _parameter_constraints = {
        "kernel": [StrOptions({"linear", "rbf", "poly", "precomputed"}), callable],
    }

    def __init__(self, kernel, gamma, degree, coef0, kernel_params, tol, max_iter, verbose):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _sparse(self) -> Any:
        return False if self.kernel == "precomputed" else "csr"

    def _check_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, TwoClasses]:
        refuse_blocked(
            self,
            X,
            instead=", or fit TopPushRanker, PNormPushRanker or RankStatisticRanker, which read "
            "rows in blocks",
        )
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse=self._sparse())
        check_kernel_shape(self, X)
        weight = ravelled(sample_weight, "sample_weight")
        return X, y, self._two_classes(y, check_sample_weight(weight, X))

    def _rows_at(self, X: Any, rows: Any, others: Any = None) -> Any:
        """Some rows; of a precomputed kernel with themselves, or with others."""
        if self.kernel != "precomputed":
            return X[rows]
        return X[np.ix_(rows, rows if others is None else others)]

    def decision_function(self, X: Any) -> Any:
        """Score of each row minus the threshold between the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, RowBatches, dask array or dataframe} of shape \
                (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Decision values ``X @ coef_[0] - threshold_``, greater for ``classes_[1]``. The top of
            the list has the greatest values if ``classes_[1]`` is the positive class, and the
            smallest if ``classes_[0]`` is. For dask collections, a lazy dask array.
        """
        check_is_fitted(self)
        function, threshold = fitted_scores(self), self.threshold_
        if is_blocked(X):
            return scores_by_blocks(self, X, lambda rows: function.scores(rows) - threshold)
        X = validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse(), reset=False)
        return function.scores(X) - threshold

    def _parameters_of_folds(self) -> dict[str, Any]:
        """Parameters of the fits to folds: a threshold needs no accurate minimum."""
        return {"verbose": 0, "tol": max(self.tol, TOL_OF_FOLDS)}


class OneProblemRanker(KernelRanker):
    """Base class of kernel rankers that solve one problem, on rows in memory or in blocks.

    A subclass defines :meth:`_solve` and, if it is for the top, :meth:`_share_of_top`.
    """

    # How to make the problem easier, and the convergence criterion of the solver.
    _regularise = "lower C"
    _criterion: Criterion = "relative_gap"

    @abstractmethod
    def _solve(self, design: Design, rows: TwoClasses, progress: FitProgress) -> SolverResult:
        """Solve the problem on rows, and report each iteration."""

    def _share_of_top(self, rows: TwoClasses) -> float | None:
        """Share of the rows that are predicted positive; None is that of the positives."""
        return None

    def _near_origin(self, design: Any) -> Design:
        """Warn of unequal scales; move rows whose offset costs the digits of their spread."""
        scales = column_scales(design)
        warn_of_scales(self, scales, sparse=not design.is_dense)
        if not (design.is_dense and self._only_differences()):
            return design
        mean = design.pull_back(np.full(design.shape[0], 1.0 / design.shape[0]))
        return design.move(mean) if np.any(np.abs(mean) > FAR * scales) else design

    def _only_differences(self) -> bool:
        """Whether the problem depends on differences of scores alone."""
        return True

    def _check_parameters(self, *, blocked: bool) -> None:
        """Refuse parameters before rows are looked at; ``blocked`` is whether in blocks."""
        if blocked and self.kernel != "linear":
            raise ValueError(
                f"kernel={self.kernel!r} needs all pairs of rows, but X is read in blocks: use "
                "kernel='linear', or pass rows in memory."
            )

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the score function from rows of two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, RowBatches, dask array or dataframe} of shape \
                (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR. With ``kernel="linear"``, X can be
            :class:`~sklearn_rank.datasets.RowBatches`, which are read several times, or a dask
            collection, whose chunks stay with their workers. Memory is then some vectors of 8
            bytes per row, and copies of at most 1 GiB of rows.
        y : array-like or dask collection of shape (n_samples,)
            Labels of two classes, of any type; ``pos_label`` is the positive one. With
            ``RowBatches``, pass ``X.y``.
        sample_weight : array-like or dask collection of shape (n_samples,), default=None
            Non-negative weights. A row of weight 2 counts as two rows, a row of weight 0 is
            ignored.

        Returns
        -------
        object
            The estimator itself.

        Raises
        ------
        ValueError
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them, or X, y
            or sample_weight is not finite.

        Warns
        -----
        ConvergenceWarning
            If the problem does not reach ``tol`` within ``max_iter`` iterations.
        PositiveClassWarning
            If ``pos_label`` is None and the labels are neither 0 and 1 nor -1 and 1.
        """
        with restored_on_error(self):
            self._check_parameters(blocked=is_blocked(X))
            if is_blocked(X):
                y, weight, design_of = blocked_classes(self, X, y, sample_weight)
                rows = self._two_classes(y, weight)
                design = design_of(None if len(rows.taken) == len(y) else rows.taken)
                kernel, fitted = None, design
            else:
                X, y, rows = self._check_rows(X, y, sample_weight)
                fitted = X if len(rows.taken) == X.shape[0] else self._rows_at(X, rows.taken)
                kernel = KernelMap.of(self)
                design = (
                    self._near_origin(as_design(fitted))
                    if kernel is None
                    else kernel.design(fitted)
                )
            progress = FitProgress(self, self.max_iter, X, y, criterion=self._criterion)
            result = self._solve(design, rows, progress)
            function = learned_scores(kernel, result.coef, fitted)
            store_scores(self, function, rows)
            scores, rounding = function.scores_of_fitted(fitted)
            threshold = self._threshold_of_share(
                fitted,
                rows,
                scores,
                rounding,
                # Rows that are read in blocks are many.
                flexible=not is_blocked(X)
                and (kernel is not None or is_flexible(rows, design.shape[1])),
                share=self._share_of_top(rows),
                of_fold=self._parameters_of_folds(),
            )
            self.threshold_ = rows.direction * threshold
            self.intercept_ = np.array([-self.threshold_])
            self._store_certificate(result)
            progress.done()
        return self

    def _store_certificate(self, result: SolverResult) -> None:
        store_certificate(self, result.certificate, "relative_gap", regularise=self._regularise)
