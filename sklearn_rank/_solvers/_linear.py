"""Linear scores that minimise a differentiable loss with a ridge penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.optimize

from .._typing import FloatArray
from ._contracts import LossOfScores, choose_method
from ._design import Design
from ._newton_cg import SmoothProblem, newton_cg
from ._result import Certificate, SolverResult

__all__ = [
    "LinearProblem",
    "LinearSolution",
    "Quadratic",
    "RidgeProblem",
    "quadratic_expansion",
    "solve_linear",
]

# Number of parameters up to which a matrix of them is factorised, a preconditioner.
LARGEST_FACTOR = 1000


class RidgeProblem(SmoothProblem, Protocol):
    """A convex loss of linear scores, one for each row or several, with a ridge penalty."""

    @property
    def loss(self) -> LossOfScores:
        """Loss of the scores."""

    @property
    def n_parameters(self) -> int:
        """Number of coefficients and intercepts."""

    def split(self, parameters: FloatArray, /) -> tuple[FloatArray, Any]:
        """Take coefficients and intercepts out of parameters."""

    def lower_bound(self, parameters: FloatArray, value: float, gradient: FloatArray, /) -> float:
        """Bound the minimum from below, given value and gradient at parameters; NaN for none."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    """A convex quadratic function ``p' A p / 2 - c' p`` of the parameters p.

    Parameters
    ----------
    curvature : ndarray of shape (n_parameters, n_parameters)
        A, positive semidefinite.
    slope : ndarray of shape (n_parameters,)
        The vector c.
    """

    curvature: FloatArray
    slope: FloatArray


@dataclass(frozen=True, eq=False)
class LinearProblem:
    """Minimise ``sum(loss(X w + b)) + alpha / 2 ||w||**2`` over w and b.

    The parameters are the coefficients w, with the intercept b last where there is one.

    Parameters
    ----------
    design : Design
        The rows X.
    loss : LossOfScores
        Convex loss of the scores.
    alpha : float
        Penalty, at least 0.
    fit_intercept : bool, default=False
        Whether there is b, which is not penalised; else it is 0.
    quadratic : Quadratic or None, default=None
        A function of the parameters that is added: what is remembered of other rows.
    """

    design: Design
    loss: LossOfScores
    alpha: float
    fit_intercept: bool = False
    quadratic: Quadratic | None = None

    # The preconditioner costs as much as many products.
    preconditioned_at_once = False

    @property
    def n_features(self) -> int:
        """Number of coefficients."""
        return self.design.shape[1]

    @property
    def n_parameters(self) -> int:
        """Number of coefficients, and one for the intercept."""
        return self.n_features + self.fit_intercept

    def split(self, parameters: FloatArray) -> tuple[FloatArray, float]:
        """Take coefficients and intercept out of parameters.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
            Parameters.

        Returns
        -------
        coef : ndarray of shape (n_features,)
            Coefficients.
        intercept : float
            The intercept; 0 where there is none.
        """
        intercept = float(parameters[-1]) if self.fit_intercept else 0.0
        return parameters[: self.n_features], intercept

    def lower_bound(self, parameters: FloatArray, value: float, gradient: FloatArray) -> float:
        """Bound the minimum of the objective from below by its strong convexity.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
            Parameters.
        value : float
            The objective there.
        gradient : ndarray of shape (n_parameters,)
            Its gradient.

        Returns
        -------
        float
            ``value - ||gradient||**2 / (2 alpha)``; NaN with an intercept and for alpha 0.
        """
        if self.fit_intercept or not self.alpha > 0:
            return float("nan")
        return value - float(gradient @ gradient) / (2 * self.alpha)

    def scores(self, parameters: FloatArray) -> FloatArray:
        """Score the rows.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
            Parameters.

        Returns
        -------
        ndarray of shape (n_rows,)
            The scores.
        """
        scores = self.design.scores(parameters[: self.n_features])
        return scores + parameters[-1] if self.fit_intercept else scores

    def value_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Value of the objective, and its gradient.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
            Parameters.

        Returns
        -------
        value : float
            Value.
        gradient : ndarray of shape (n_parameters,)
            Derivatives.
        """
        values, by_score = self.loss.value_and_gradient(self.scores(parameters))
        penalty = self._curvature_of_penalty(parameters)
        value = float(values.sum() + 0.5 * penalty @ parameters)
        gradient = self._pull_back(by_score) + penalty
        if self.quadratic is None:
            return value, gradient
        slope = self.quadratic.slope
        return value - float(slope @ parameters), gradient - slope

    def hessian_product(self, scores: FloatArray, direction: FloatArray) -> FloatArray:
        """Product of the second derivatives with a direction.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores at the parameters.
        direction : ndarray of shape (n_parameters,)
            Direction.

        Returns
        -------
        ndarray of shape (n_parameters,)
            The product.
        """
        by_score = self.loss.hessian_product(scores, self.scores(direction))
        return self._pull_back(by_score) + self._curvature_of_penalty(direction)

    def preconditioner(self, scores: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
        """Solver of the system that keeps the diagonal of the loss's second derivatives alone.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores at the parameters.

        Returns
        -------
        callable or None
            From a right-hand side to the solution; None where the diagonal is not known, there
            are too many parameters, or the matrix is not positive definite.
        """
        if self.n_parameters > LARGEST_FACTOR or not self.loss.has_curvature:
            return None
        weight = np.maximum(self.loss.curvature(scores), 0.0)
        matrix = np.empty((self.n_parameters, self.n_parameters))
        matrix[: self.n_features, : self.n_features] = self.design.gram(weight)
        if self.fit_intercept:
            matrix[-1] = matrix[:, -1] = self._pull_back(weight)
        if self.quadratic is not None:
            matrix += self.quadratic.curvature
        diagonal = np.einsum("ii->i", matrix)
        diagonal[: self.n_features] += self.alpha
        diagonal += 1e-12 * diagonal.max()
        try:
            factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        return lambda residual: scipy.linalg.cho_solve(factor, residual, check_finite=False)

    def _pull_back(self, by_score: FloatArray) -> FloatArray:
        by_feature = self.design.pull_back(by_score)
        return np.append(by_feature, by_score.sum()) if self.fit_intercept else by_feature

    def _curvature_of_penalty(self, direction: FloatArray) -> FloatArray:
        """Product of the second derivatives of all but the loss with a direction."""
        product = self.alpha * direction
        if self.fit_intercept:
            product[-1] = 0.0
        return (
            product if self.quadratic is None else product + self.quadratic.curvature @ direction
        )


def quadratic_expansion(problem: LinearProblem, parameters: FloatArray) -> Quadratic:
    """Second-order expansion of the sum of losses, without penalty and other terms.

    Parameters
    ----------
    problem : LinearProblem
        The problem; its loss has Hessian products.
    parameters : ndarray of shape (n_parameters,)
        Where it is taken.

    Returns
    -------
    Quadratic
        The expansion but for a constant; one Hessian product of the loss for each parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import PointwiseSquared
    >>> from sklearn_rank._solvers import LinearProblem, as_design, quadratic_expansion
    >>> problem = LinearProblem(as_design(np.eye(2)), PointwiseSquared().on([1.0, 3.0]), alpha=1.0)
    >>> quadratic_expansion(problem, np.zeros(2)).slope
    array([2., 6.])
    """
    of_loss = LinearProblem(problem.design, problem.loss, 0.0, problem.fit_intercept)
    score = of_loss.scores(parameters)
    units = np.eye(of_loss.n_parameters)
    curvature = np.stack([of_loss.hessian_product(score, unit) for unit in units])
    curvature = 0.5 * (curvature + curvature.T)
    slope = curvature @ parameters - of_loss.value_and_gradient(parameters)[1]
    return Quadratic(curvature, slope)


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
    >>> problem = LinearProblem(as_design(np.eye(2)), PointwiseSquared().on([1.0, 3.0]), alpha=2.0)
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
) -> LinearSolution:
    """Minimise a smooth convex loss of linear scores with a ridge penalty.

    Parameters
    ----------
    problem : LinearProblem or LabelProblem
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
        report = _relative(on_iteration, scale)
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


_Report = Callable[[int, float, float], None]


def _relative(on_iteration: _Report | None, scale: float) -> _Report:
    if on_iteration is None:
        return lambda n_iter, value, norm: None
    return lambda n_iter, value, norm: on_iteration(n_iter, value, norm / scale)


def _newton_then_lbfgs(
    problem: RidgeProblem, start: FloatArray, largest: float, max_iter: int, report: _Report
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
        lambda n_iter, value, norm: report(steps + n_iter, value, norm),
    )
    return parameters, steps + n_more


def _lbfgs(
    problem: RidgeProblem, start: FloatArray, largest: float, max_iter: int, report: _Report
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
        report(n_iter, float(intermediate_result.fun), norm)

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
