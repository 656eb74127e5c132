"""Base class of accuracy at the top and of the search for its parameters."""

from __future__ import annotations

import os
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._sklearn_compat import Interval, StrOptions
from .._solvers import AccuracyAtTopSolution, PivotProblem, PivotSolver
from .._validation import validate_data
from .._warn import warn
from ..bounds import Bound, accuracy_at_top_margin_bound
from ..exceptions import QuantileDistanceWarning
from ._fitting import forget, warn_not_converged
from ._kernel_base import KernelRanker
from ._kernel_map import KernelMap
from ._score_function import ScoreFunction, fitted_scores, store_scores
from ._threshold import is_flexible
from ._top_of_rows import store_threshold
from ._two_classes import TwoClasses

__all__ = ["AccuracyAtTopBase", "pivot_problem"]

# Distance from the quantile, in margins, above which the paper's rule warns: more than the one of
# separable rows, by the accuracy of the scores.
FAR = 1.01


def pivot_problem(
    kernel: KernelMap | None, X: Any, rows: TwoClasses, cost: Any, mass: Any
) -> PivotProblem:
    """Make the problems of the rows X, in kernel coordinates."""
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
        "tau": [Interval(Real, 0, 1, closed="neither")],
        "class_weight": [StrOptions({"balanced", "pairs"}), dict, None],
        "solver": [StrOptions({"auto", "newton", "cvxpy"})],
        "n_jobs": [Integral, None],
        "checkpoint": [str, os.PathLike, None],
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

    def _store_share_threshold(
        self,
        ranker: Any,
        function: ScoreFunction,
        X: Any,
        rows: TwoClasses,
        mass: Any,
        top: float,
        **of_fold: Any,
    ) -> None:
        """Replace the threshold of the training rows if their scores are unlike those of others.

        ``ranker`` has the parameters of the solution.
        """
        if self.kernel == "linear" and not is_flexible(rows, X.shape[1]):
            return
        scores, rounding = function.scores_of_fitted(X)
        self.threshold_ = rows.direction * ranker._threshold_of_share(
            X,
            rows,
            scores,
            rounding,
            flexible=True,
            share=top / mass.sum(),
            mass=mass,
            of_fold={**self._parameters_of_folds(), "checkpoint": None, **of_fold},
        )
        self.intercept_ = np.array([-self.threshold_])

    def _store_solution(
        self, solution: AccuracyAtTopSolution, rows: TwoClasses, selection: str, tau: float
    ) -> None:
        """Store the solution and the candidates, and warn if they are not accurate."""
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
