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
    """Minimum of a :class:`LinearProblem`, or of one for several labels."""

    intercept: Any  # (n_labels,): The minimiser b; 0 without an intercept
    parameters: FloatArray  # (n_parameters,)


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
    """Minimise a smooth convex loss of linear scores with a ridge penalty."""
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
