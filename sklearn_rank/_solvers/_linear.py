"""Solver for a differentiable loss of linear scores with a ridge penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.optimize

from .._typing import FloatArray
from ._contracts import choose_method
from ._newton_cg import Criterion, Point, Report, SmoothProblem, newton_cg
from ._result import Certificate, SolverResult

__all__ = ["LinearSolution", "RidgeProblem", "solve_linear"]


class RidgeProblem(SmoothProblem, Protocol):
    """A convex loss of linear scores, one for each row or several, with a ridge penalty."""

    @property
    def n_parameters(self) -> int:
        """Number of coefficients and intercepts."""

    def split(self, parameters: FloatArray, /) -> tuple[FloatArray, Any]:
        """Take coefficients and intercepts out of parameters."""

    def lower_bound(self, parameters: FloatArray, value: float, gradient: FloatArray, /) -> float:
        """Bound the minimum from below, given value and gradient at parameters; NaN for none."""


@dataclass(frozen=True, eq=False)
class LinearSolution(SolverResult):
    """Minimum of a :class:`LinearProblem`, or of one for several labels.

    Parameters
    ----------
    coef : ndarray of shape (n_features,) or (n_labels, n_features)
        The minimiser w.
    certificate : Certificate
        With the lower bound of the problem.
    intercept : float or ndarray of shape (n_labels,)
        The minimiser b; 0 without an intercept.
    parameters : ndarray of shape (n_parameters,)
        Parameters of the problem.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import PointwiseSquared
    >>> from sklearn_rank._solvers import LinearProblem, as_design, solve_linear
    >>> problem = LinearProblem(
    ...     as_design(np.eye(2)), PointwiseSquared().on([1.0, 3.0]), alpha=2.0
    ... )
    >>> solution = solve_linear(problem)
    >>> solution.coef, solution.certificate.objective, solution.certificate.lower_bound
    (array([0.5, 1.5]), 5.0, 5.0)
    """

    intercept: Any
    parameters: FloatArray


def solve_linear(
    problem: RidgeProblem,
    *,
    method: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 200,
    start: FloatArray | None = None,
    on_iteration: Callable[[int, float, float], None] | None = None,
    keep: Callable[[int, FloatArray], None] | None = None,
) -> LinearSolution:
    """Minimise a smooth convex loss of linear scores with a ridge penalty.

    Parameters
    ----------
    problem : LinearProblem, BlockProblem or LabelProblem
        The problem.
    method : {"auto", "newton-cg", "lbfgs"}, default="auto"
        Newton's method with directions by conjugate gradients, or limited-memory BFGS, which
        needs no second derivatives; see :func:`choose_method`.
    tol : float, default=1e-6
        Largest norm of the gradient, relative to that at 0; see Notes.
    max_iter : int, default=200
        Largest number of iterations.
    start : ndarray of shape (n_parameters,) or None, default=None
        Where to start; None is 0.
    on_iteration : callable or None, default=None
        Called after each iteration with its number from 1, the objective, and the relative norm
        of the gradient.
    keep : callable or None, default=None
        Called after each iteration with its number and the parameters, which can be ``start`` of
        another call: before ``on_iteration`` is.

    Returns
    -------
    LinearSolution
        The solution and its certificate.

    Notes
    -----
    An iteration of either method costs an evaluation of the loss and two products with X, one of
    Newton's as many again for each conjugate gradient. Where Newton's method cannot go on, as
    where Hessian products are not finite or not those of the gradient, L-BFGS takes over.

    Both work in coordinates in which the second derivative by each parameter is about 1, so that
    steps do not depend on the units of the features. The square of the relative norm of the
    gradient is the share of all decrease of the objective from 0 on that is left, by a bound of
    what is left: by strong convexity, or where rounding or a weak penalty makes this too weak, the
    square of the gradient in the metric of the second derivatives over 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import PairwiseLogistic
    >>> from sklearn_rank._solvers import LinearProblem, as_design, solve_linear
    >>> X = as_design(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    >>> problem = LinearProblem(X, PairwiseLogistic().on([0.0, 0.0, 1.0]), alpha=0.5)
    >>> solution = solve_linear(problem)
    >>> solution.coef.round(3), solution.certificate.converged
    (array([0.675, 0.675]), True)
    """
    chosen = choose_method(problem.loss, method)
    criterion = Criterion(problem, tol)
    coordinates = problem.coordinates
    start = np.zeros(problem.n_parameters) if start is None else np.array(start, dtype=np.float64)

    def report(n_more: int, point: Point) -> None:
        if keep is not None:
            keep(n_iter + n_more, coordinates.parameters(point.at))
        if on_iteration is not None:
            on_iteration(n_iter + n_more, point.value, criterion.left(point))

    solve = _lbfgs if chosen == "lbfgs" else _newton_then_lbfgs
    aimed, n_iter, at, last = tol, 0, coordinates.of(start), np.inf
    while True:
        point, n_more = solve(Criterion(problem, aimed), at, max_iter - n_iter, report)
        n_iter, at = n_iter + n_more, point.at
        parameters = coordinates.parameters(at) if n_iter else start
        value, gradient = problem.value_and_gradient(parameters)
        bound = problem.lower_bound(parameters, value, gradient)
        left = _left(criterion, point, value - bound)
        if left <= tol or n_iter >= max_iter or not left < 0.5 * last:
            break
        last = left
        # What steps go by was less than what is certain.
        aimed = 0.5 * aimed * min(tol / left, 0.2)
    certificate = Certificate(
        objective=value,
        lower_bound=bound,
        gradient_norm=left,
        n_iter=n_iter,
        converged=bool(left <= tol),
    )
    coef, intercept = problem.split(parameters)
    return LinearSolution(
        coef=coef, certificate=certificate, intercept=intercept, parameters=parameters
    )


def _left(criterion: Criterion, point: Point, gap: float) -> float:
    """Root of the share of the decrease that is left, by a gap or the second derivatives."""
    left = criterion.left(point)
    if not criterion.problem.coordinates.penalty.all():
        # An intercept was counted as it bends at 0.
        left = max(criterion.left(point, 2.0 * gap), left)
    if not left <= criterion.tol:
        # The penalty alone may say little where the loss bends much more than it.
        left = float(np.fmin(left, criterion.left(point, criterion.decrement(point))))
    return left


def _newton_then_lbfgs(
    criterion: Criterion, start: FloatArray, max_iter: int, report: Report
) -> tuple[Point, int]:
    newton = newton_cg(criterion, start, max_iter, report)
    if not newton.stalled or newton.n_iter == max_iter:
        return newton.point, newton.n_iter
    steps = newton.n_iter
    point, n_more = _lbfgs(
        criterion,
        newton.point.at,
        max_iter - steps,
        lambda n_iter, point: report(steps + n_iter, point),
    )
    return point, steps + n_more


def _lbfgs(
    criterion: Criterion, start: FloatArray, max_iter: int, report: Report
) -> tuple[Point, int]:
    n_iter = 0
    evaluated = point = criterion.point(start)
    if criterion.left(point) <= criterion.tol:
        return point, 0

    def evaluate(at: FloatArray) -> tuple[float, FloatArray]:
        nonlocal evaluated
        evaluated = criterion.point(at.copy())
        return evaluated.value, evaluated.gradient

    def end_of_iteration(intermediate_result: Any) -> None:
        nonlocal n_iter, point
        n_iter += 1
        # An iteration ends with the evaluation where it leads.
        point = evaluated
        report(n_iter, point)
        if criterion.left(point) <= criterion.tol:
            raise StopIteration

    scipy.optimize.minimize(
        evaluate,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=end_of_iteration,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            "gtol": 0.0,
            "ftol": 0.0,
            "maxls": 50,
        },
    )
    if criterion.problem.loss.has_hessian_product and n_iter < max_iter:
        # Where rounding of the values ends it, gradients tell more.
        done = n_iter
        end = newton_cg(
            criterion, point.at, max_iter - done, lambda k, there: report(done + k, there)
        )
        return end.point, done + end.n_iter
    return point, n_iter
