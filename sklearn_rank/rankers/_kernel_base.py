"""Rankers of two classes whose score is linear in the rows or in their images under a kernel."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    check_sample_weight,
    fit_context,
    with_callbacks,
)
from .._solvers import Design, SolverResult, as_design, column_scales
from .._typing import AnyArray, FloatArray
from .._validation import ravelled, validate_data
from ._base import BipartiteRanker
from ._blocked_classes import blocked_classes
from ._blocked_rows import is_blocked, refuse_blocked, scores_by_blocks
from ._fitting import (
    Criterion,
    FitProgress,
    restored_on_error,
    warn_not_converged,
    warn_of_scales,
)
from ._kernel_map import KernelMap
from ._score_function import ScoreFunction, fitted_scores, learned_scores, store_scores
from ._threshold import is_flexible
from ._two_classes import TwoClasses

__all__ = ["KernelRanker", "OneProblemRanker"]

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
        "pos_label": [Real, str, "boolean", None],
        "kernel": [StrOptions({"linear", "rbf", "poly", "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _sparse(self) -> Any:
        return False if self.kernel == "precomputed" else "csr"

    def _check_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, TwoClasses]:
        """Check what is fitted: the rows, their labels, and those that count."""
        refuse_blocked(
            self,
            X,
            instead=", or fit TopPushRanker, PNormPushRanker or RankStatisticRanker, which read "
            "rows in blocks",
        )
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse=self._sparse())
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square kernel matrix, got shape {X.shape}: pass"
                " K(X, X)."
            )
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
        if is_blocked(X):
            score = partial(_decision, fitted_scores(self), self.threshold_)
            return scores_by_blocks(self, X, score)
        X = validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse(), reset=False)
        return fitted_scores(self).scores(X) - self.threshold_

    def _parameters_of_folds(self) -> dict[str, Any]:
        """Parameters of the fits to folds: a threshold needs no accurate minimum."""
        return {"verbose": 0, "tol": max(self.tol, TOL_OF_FOLDS)}


def _decision(function: ScoreFunction, threshold: float, X: Any) -> FloatArray:
    return function.scores(X) - threshold


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
        return design.moved(mean) if np.any(np.abs(mean) > FAR * scales) else design

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

    def _check_blocked_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Design, AnyArray, TwoClasses]:
        """Check rows that are not in memory; return those that count as a design."""
        given = blocked_classes(self, X, y, sample_weight)
        rows = self._two_classes(given.y, given.weight)
        taken = None if len(rows.taken) == len(given.y) else rows.taken
        return given.design(taken), given.y, rows

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
                design, y, rows = self._check_blocked_rows(X, y, sample_weight)
                kernel, fitted = None, design
            else:
                X, y, rows = self._check_rows(X, y, sample_weight)
                fitted = X if len(rows.taken) == X.shape[0] else self._rows_at(X, rows.taken)
                kernel = KernelMap.of(self)
                if kernel is None:
                    design = self._near_origin(as_design(fitted))
                else:
                    design = kernel.design(fitted)
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
        """Store how good the solution is; warn where that is not good enough."""
        certificate = result.certificate
        self.objective_ = certificate.objective
        self.lower_bound_ = certificate.lower_bound
        self.dual_gap_ = certificate.relative_gap
        self.n_iter_ = certificate.n_iter
        self.converged_ = certificate.converged
        if not certificate.converged:
            warn_not_converged(
                "relative_gap",
                self.dual_gap_,
                n_iter=self.n_iter_,
                max_iter=self.max_iter,
                tol=self.tol,
                regularise=self._regularise,
            )
