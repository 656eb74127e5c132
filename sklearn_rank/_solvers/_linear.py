"""Solver for a differentiable loss of linear scores with a ridge penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.optimize

from .._typing import FloatArray
from ._contracts import LossProperties, choose_method
from ._newton_cg import Report, SmoothProblem, newton_cg
from ._result import Certificate, SolverResult

__all__ = ["LinearSolution", "RidgeProblem", "solve_linear"]


class RidgeProblem(SmoothProblem, Protocol):
    """A convex loss of linear scores, one for each row or several, with a ridge penalty."""

    @property
    def loss(self) -> LossProperties:
        """Loss of the scores, or what it says of itself."""

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
        Largest gradient norm, relative to that at 0.
    max_iter : int, default=200
        Largest number of iterations.
    start : ndarray of shape (n_parameters,) or None, default=None
        Where to start; None is 0.
    on_iteration : callable or None, default=None
        Called after each iteration with its number from 1, the objective, and the norm of the
        gradient relative to that at 0.
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
    zero = np.zeros(problem.n_parameters)
    value, gradient = problem.value_and_gradient(zero)
    scale = float(np.linalg.norm(gradient))
    parameters = zero if start is None else np.array(start, dtype=np.float64)
    n_iter = 0
    if scale > 0:
        report = _relative(on_iteration, keep, scale)
        solve = _lbfgs if chosen == "lbfgs" else _newton_then_lbfgs
        parameters, n_iter = solve(problem, parameters, tol * scale, max_iter, report)
        value, gradient = problem.value_and_gradient(parameters)
    norm = float(np.linalg.norm(gradient))
    certificate = Certificate(
        objective=value,
        lower_bound=problem.lower_bound(parameters, value, gradient),
        gradient_norm=norm / scale if scale > 0 else 0.0,
        n_iter=n_iter,
        converged=bool(norm <= tol * scale),
    )
    coef, intercept = problem.split(parameters)
    return LinearSolution(
        coef=coef, certificate=certificate, intercept=intercept, parameters=parameters
    )


def _relative(
    on_iteration: Callable[[int, float, float], None] | None,
    keep: Callable[[int, FloatArray], None] | None,
    scale: float,
) -> Report:
    def report(n_iter: int, value: float, norm: float, parameters: FloatArray) -> None:
        if keep is not None:
            keep(n_iter, parameters)
        if on_iteration is not None:
            on_iteration(n_iter, value, norm / scale)

    return report


def _newton_then_lbfgs(
    problem: RidgeProblem, start: FloatArray, largest: float, max_iter: int, report: Report
) -> tuple[FloatArray, int]:
    newton = newton_cg(problem, start, largest, max_iter, report)
    if not newton.stalled or newton.n_iter == max_iter:
        return newton.parameters, newton.n_iter
    steps = newton.n_iter
    parameters, n_more = _lbfgs(
        problem,
        newton.parameters,
        largest,
        max_iter - steps,
        lambda n_iter, *found: report(steps + n_iter, *found),
    )
    return parameters, steps + n_more


def _lbfgs(
    problem: RidgeProblem, start: FloatArray, largest: float, max_iter: int, report: Report
) -> tuple[FloatArray, int]:
    n_iter = 0
    norm = float("nan")

    def evaluate(parameters: FloatArray) -> tuple[float, FloatArray]:
        nonlocal norm
        value, gradient = problem.value_and_gradient(parameters)
        norm = float(np.linalg.norm(gradient))
        return value, gradient

    def done(intermediate_result: Any) -> None:
        nonlocal n_iter
        n_iter += 1
        # An iteration ends with the evaluation where it leads.
        report(n_iter, float(intermediate_result.fun), norm, intermediate_result.x)

    result = scipy.optimize.minimize(
        evaluate,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=done,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            # scipy looks at the largest component, at least the norm by the root of the size.
            "gtol": largest / np.sqrt(problem.n_parameters),
            "ftol": 0.0,
            "maxls": 50,
        },
    )
    return result.x, int(result.nit)
