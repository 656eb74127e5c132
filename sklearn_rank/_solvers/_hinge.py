"""Linear scores that minimise a hinge of pairs with a ridge penalty, with a duality gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ._contracts import LossOfScores
from ._design import Design
from ._linear import LinearProblem, solve_linear
from ._result import Certificate, SolverResult, relative_gap

__all__ = ["HingeProblem", "solve_linear_hinge"]

# By which factor the curved part of the hinge shrinks from one problem to the next, and its least
# width relative to the margin.
SHRINKAGE = 0.25
LEAST_WIDTH = 1e-9


class _SmoothedHinge:
    """Hinge whose kink is a parabola of a width: a difference of two squared hinges."""

    is_convex = has_hessian_product = has_curvature = True

    def __init__(self, outer: LossOfScores, inner: LossOfScores, width: float) -> None:
        self.outer = outer
        self.inner = inner
        self.factor = 1 / (2 * width)

    def value_and_gradient(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        values, gradient = self.outer.value_and_gradient(score)
        inner_values, inner_gradient = self.inner.value_and_gradient(score)
        return self.factor * (values - inner_values), self.factor * (gradient - inner_gradient)

    def hessian_product(self, score: FloatArray, direction: FloatArray) -> FloatArray:
        outer = self.outer.hessian_product(score, direction)
        return self.factor * (outer - self.inner.hessian_product(score, direction))

    def curvature(self, score: FloatArray) -> FloatArray:
        return self.factor * (self.outer.curvature(score) - self.inner.curvature(score))


@dataclass(frozen=True, eq=False)
class HingeProblem:
    """Minimise ``sum over pairs of max(0, margin - d) + alpha / 2 ||w||**2``.

    Here d is the difference of the scores X w of a pair.

    Parameters
    ----------
    design : Design
        The rows X.
    hinge : callable
        The hinge of the pairs, as a loss of scores, at a margin.
    squared_hinge : callable
        The squared hinge of the same pairs at a margin.
    alpha : float
        Penalty, greater than 0.
    margin : float, default=1.0
        Margin of the hinge, greater than 0.
    """

    design: Design
    hinge: Callable[[float], LossOfScores]
    squared_hinge: Callable[[float], LossOfScores]
    alpha: float
    margin: float = 1.0

    def bounds(
        self, coef: FloatArray, exact: LossOfScores, smoothed: LossOfScores, width: float
    ) -> tuple[float, float]:
        """Value of the objective, and a lower bound of its minimum.

        Parameters
        ----------
        coef : ndarray of shape (n_features,)
            Coefficients.
        exact, smoothed : LossOfScores
            The hinge, and the one whose kink is rounded off.
        width : float
            Width of the rounding.

        Returns
        -------
        objective : float
            Value of the objective.
        lower_bound : float
            Value of the dual objective at the slopes of the rounded hinge at the pairs.
        """
        scores = self.design.scores(coef)
        value = exact.value_and_gradient(scores)[0].sum()
        pulled = self.design.pull_back(smoothed.value_and_gradient(scores)[1])
        inner = self.hinge(self.margin - width).value_and_gradient(scores)[0].sum()
        slopes = (value - inner) / width
        objective = float(value + 0.5 * self.alpha * coef @ coef)
        return objective, float(self.margin * slopes - pulled @ pulled / (2 * self.alpha))


def solve_linear_hinge(
    problem: HingeProblem,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    start: FloatArray | None = None,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> SolverResult:
    """Minimise a hinge of pairs of linear scores with a ridge penalty.

    The kink is rounded off to a parabola that is made ever narrower; each rounded problem is
    solved by Newton's method from the solution of the last. Its slopes at the pairs are a point of
    the dual problem, which gives a lower bound of the minimum.

    Parameters
    ----------
    problem : HingeProblem
        The problem.
    tol : float, default=1e-4
        Largest duality gap, relative to the objective.
    max_iter : int, default=1000
        Largest number of Newton steps in all.
    start : ndarray of shape (n_features,) or None, default=None
        Where to start; None is 0.
    on_iteration : callable or None, default=None
        Called after each rounded problem with the number of steps so far, the objective and the
        relative gap.

    Returns
    -------
    SolverResult
        The solution and its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import ComparisonHinge, ComparisonSquaredHinge
    >>> from sklearn_rank._solvers import HingeProblem, as_design, solve_linear_hinge
    >>> X, y = as_design([[0.0], [1.0], [3.0]]), [0, 1, 2]
    >>> problem = HingeProblem(
    ...     X,
    ...     lambda margin: ComparisonHinge(margin).on(y),
    ...     lambda margin: ComparisonSquaredHinge(margin).on(y),
    ...     alpha=0.1,
    ... )
    >>> found = solve_linear_hinge(problem)
    >>> found.coef.round(2), found.certificate.converged
    (array([1.]), True)
    """
    margin, alpha = problem.margin, problem.alpha
    w = np.zeros(problem.design.shape[1]) if start is None else np.array(start, dtype=np.float64)
    exact, outer = problem.hinge(margin), problem.squared_hinge(margin)
    width = margin / 2
    best_w, best, bound, gap = w, np.inf, 0.0, np.inf
    n_iter = 0
    while n_iter < max_iter and width > LEAST_WIDTH * margin:
        smoothed = _SmoothedHinge(outer, problem.squared_hinge(margin - width), width)
        solution = solve_linear(
            LinearProblem(problem.design, smoothed, alpha),
            # A problem needs no better solution than its rounding is worth.
            tol=max(1e-9, 1e-3 * np.sqrt(width / margin)),
            max_iter=max_iter - n_iter,
            start=w,
        )
        n_iter += max(1, solution.certificate.n_iter)
        w = solution.coef
        objective, lower_bound = problem.bounds(w, exact, smoothed, width)
        if objective < best:
            best_w, best = w, objective
        bound = max(bound, lower_bound)
        gap = float(relative_gap(best, bound))
        if on_iteration is not None:
            on_iteration(n_iter, best, gap)
        if gap <= tol:
            break
        width *= SHRINKAGE
    certificate = Certificate(best, bound, n_iter=n_iter, converged=bool(gap <= tol))
    return SolverResult(coef=best_w, certificate=certificate)
