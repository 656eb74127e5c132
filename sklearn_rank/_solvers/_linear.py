"""Linear scores that minimise a differentiable loss with a ridge penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp

from .._typing import FloatArray

__all__ = ["LinearSolution", "LossOfScores", "quadratic_expansion", "solve_linear"]

# A direction need not solve Newton's system better than the next one will change it.
FORCING = 0.1

# Steps of conjugate gradients before a factorisation of n_features**3 is worth its price, and the
# number of features up to which it is made.
PATIENCE = 40
LARGEST_FACTOR = 1000


class LossOfScores(Protocol):
    """What :func:`solve_linear` needs to know of a loss."""

    def value_and_gradient(self, score: FloatArray, /) -> tuple[FloatArray, FloatArray]: ...

    def hessian_product(self, score: FloatArray, direction: FloatArray, /) -> FloatArray: ...

    def curvature(self, score: FloatArray, /) -> FloatArray: ...


def quadratic_expansion(
    X: Any, loss: LossOfScores, parameters: FloatArray, *, fit_intercept: bool
) -> tuple[FloatArray, FloatArray]:
    """Second-order expansion of ``sum(loss(X w + b))``, as ``past`` of :func:`solve_linear`.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, n_features)
        Rows.
    loss : LossOfScores
        Loss of the scores.
    parameters : ndarray of shape (p,)
        Where it is taken: coefficients, and the intercept last where there is one.
    fit_intercept : bool
        Whether there is b.

    Returns
    -------
    curvature : ndarray of shape (p, p)
        Second derivatives; one Hessian product of the loss for each column.
    slope : ndarray of shape (p,)
        What makes the first derivatives those of the loss.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import PointwiseSquared
    >>> from sklearn_rank._solvers import quadratic_expansion
    >>> loss = PointwiseSquared().on([1.0, 3.0])
    >>> quadratic_expansion(np.eye(2), loss, np.zeros(2), fit_intercept=False)
    (array([[2., 0.],
           [0., 2.]]), array([2., 6.]))
    """
    objective = _Objective(X, loss, 0.0, fit_intercept)
    score = objective.scores(parameters)
    curvature = np.stack(
        [objective.hessian_product(score, unit) for unit in np.eye(objective.size)]
    )
    curvature = 0.5 * (curvature + curvature.T)
    return curvature, curvature @ parameters - objective.value_and_gradient(parameters)[1]


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """Minimum of ``sum(loss(X w + b)) + alpha / 2 ||w||**2``.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        The minimiser w.
    intercept : float
        The minimiser b; 0 without an intercept.
    objective : float
        Value of the objective.
    gradient_norm : float
        Norm of its gradient, relative to that at 0.
    optimality_gap : float
        Upper bound of the objective less its minimum, ``||gradient||**2 / (2 alpha)``; NaN with
        an intercept, which is not penalised, and for alpha 0.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the gradient norm is at most ``tol``.
    parameters : ndarray of shape (p,)
        Coefficients, and the intercept last where there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import PointwiseSquared
    >>> from sklearn_rank._solvers import solve_linear
    >>> solution = solve_linear(np.eye(2), PointwiseSquared().on([1.0, 3.0]), alpha=2.0)
    >>> solution.coef, solution.objective, solution.converged
    (array([0.5, 1.5]), 5.0, True)
    """

    coef: FloatArray
    intercept: float
    objective: float
    gradient_norm: float
    optimality_gap: float
    n_iter: int
    converged: bool
    parameters: FloatArray


class _Objective:
    """The objective as a function of coefficients, the intercept last."""

    def __init__(
        self,
        X: Any,
        loss: LossOfScores,
        alpha: float,
        fit_intercept: bool,
        past: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self.X = X
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.past = past
        self.n_features = X.shape[1]

    @property
    def size(self) -> int:
        return self.n_features + self.fit_intercept

    def scores(self, w: FloatArray) -> FloatArray:
        scores = np.asarray(self.X @ w[: self.n_features])
        return scores + w[-1] if self.fit_intercept else scores

    def pulled_back(self, by_score: FloatArray) -> FloatArray:
        by_feature = np.asarray(self.X.T @ by_score)
        return np.append(by_feature, by_score.sum()) if self.fit_intercept else by_feature

    def penalty(self, w: FloatArray) -> FloatArray:
        penalty = self.alpha * w
        if self.fit_intercept:
            penalty[-1] = 0.0
        return penalty if self.past is None else penalty + self.past[0] @ w

    def value_and_gradient(self, w: FloatArray) -> tuple[float, FloatArray]:
        values, by_score = self.loss.value_and_gradient(self.scores(w))
        penalty = self.penalty(w)
        value = float(values.sum() + 0.5 * penalty @ w)
        gradient = self.pulled_back(by_score) + penalty
        if self.past is None:
            return value, gradient
        return value - float(self.past[1] @ w), gradient - self.past[1]

    def preconditioner(self, scores: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
        """Solver of the system that keeps the diagonal of the loss's second derivatives alone."""
        if self.size > LARGEST_FACTOR or sp.issparse(self.X):
            return None
        try:
            weight = np.maximum(self.loss.curvature(scores), 0.0)
        except NotImplementedError:
            return None
        X = self.X
        if self.fit_intercept:
            X = np.hstack((X, np.ones((len(X), 1))))
        matrix = (X * weight[:, np.newaxis]).T @ X
        if self.past is not None:
            matrix += self.past[0]
        diagonal = np.einsum("ii->i", matrix)
        diagonal[: self.n_features] += self.alpha
        diagonal += 1e-12 * diagonal.max()
        try:
            factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        return lambda residual: scipy.linalg.cho_solve(factor, residual, check_finite=False)

    def hessian_product(self, scores: FloatArray, p: FloatArray) -> FloatArray:
        return self.pulled_back(self.loss.hessian_product(scores, self.scores(p))) + self.penalty(
            p
        )


def solve_linear(
    X: Any,
    loss: LossOfScores,
    *,
    alpha: float,
    fit_intercept: bool = False,
    method: str = "newton-cg",
    tol: float = 1e-6,
    max_iter: int = 200,
    start: FloatArray | None = None,
    past: tuple[FloatArray, FloatArray] | None = None,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> LinearSolution:
    """Minimise ``sum(loss(X w + b)) + alpha / 2 ||w||**2`` over w and b.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, n_features)
        Rows.
    loss : LossOfScores
        Convex loss of the scores.
    alpha : float
        Penalty, at least 0.
    fit_intercept : bool, default=False
        Whether there is b, which is not penalised; else it is 0.
    method : {"newton-cg", "lbfgs"}, default="newton-cg"
        Newton's method with directions by conjugate gradients, or limited-memory BFGS, which
        needs no second derivatives.
    tol : float, default=1e-6
        Largest gradient norm, relative to that at 0.
    max_iter : int, default=200
        Largest number of iterations.
    start : ndarray of shape (n_features,) or (n_features + 1,) or None, default=None
        Where to start, the intercept last; None is 0.
    past : tuple of (ndarray, ndarray) or None, default=None
        A positive semidefinite matrix A and a vector c that add ``w' A w / 2 - c' w`` to the
        objective, the intercept last: what is remembered of other rows.
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
    Newton's as many again for each conjugate gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import PairwiseLogistic
    >>> from sklearn_rank._solvers import solve_linear
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> solution = solve_linear(X, PairwiseLogistic().on([0.0, 0.0, 1.0]), alpha=0.5)
    >>> solution.coef.round(3), solution.converged
    (array([0.675, 0.675]), True)
    """
    objective = _Objective(X, loss, alpha, fit_intercept, past)
    zero = np.zeros(objective.size)
    value, gradient = objective.value_and_gradient(zero)
    scale = float(np.linalg.norm(gradient))
    w = zero if start is None else np.array(start, dtype=np.float64)
    n_iter = 0
    if scale > 0:
        report = on_iteration or (lambda *_: None)
        solve = _lbfgs if method == "lbfgs" else _newton_cg
        w, n_iter = solve(
            objective, w, tol * scale, max_iter, lambda k, f, g: report(k, f, g / scale)
        )
        value, gradient = objective.value_and_gradient(w)
    norm = float(np.linalg.norm(gradient))
    certain = alpha > 0 and not fit_intercept
    return LinearSolution(
        coef=w[: X.shape[1]],
        intercept=float(w[-1]) if fit_intercept else 0.0,
        objective=value,
        gradient_norm=norm / scale if scale > 0 else 0.0,
        optimality_gap=norm**2 / (2 * alpha) if certain else float("nan"),
        n_iter=n_iter,
        converged=bool(norm <= tol * scale),
        parameters=w,
    )


_Report = Callable[[int, float, float], None]


def _lbfgs(
    objective: _Objective, w: FloatArray, largest: float, max_iter: int, report: _Report
) -> tuple[FloatArray, int]:
    n_iter = 0

    def done(intermediate_result: Any) -> None:
        nonlocal n_iter
        n_iter += 1
        report(n_iter, float(intermediate_result.fun), float("nan"))

    result = scipy.optimize.minimize(
        objective.value_and_gradient,
        w,
        jac=True,
        method="L-BFGS-B",
        callback=done,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            # scipy looks at the largest component, at least the norm by the root of the size.
            "gtol": largest / np.sqrt(objective.size),
            "ftol": 0.0,
            "maxls": 50,
        },
    )
    return result.x, int(result.nit)


def _newton_cg(
    objective: _Objective, w: FloatArray, largest: float, max_iter: int, report: _Report
) -> tuple[FloatArray, int]:
    value, gradient = objective.value_and_gradient(w)
    slow = False
    for n_iter in range(max_iter):
        norm = float(np.linalg.norm(gradient))
        if norm <= largest:
            return w, n_iter
        enough = max(FORCING * norm, 0.5 * largest)
        step, slow = _direction(objective, w, gradient, enough, slow)
        moved = _along(objective, w, step, value, float(gradient @ step))
        if moved is None:
            return w, n_iter
        w, value, gradient = moved
        report(n_iter + 1, value, float(np.linalg.norm(gradient)))
    return w, max_iter


def _along(
    objective: _Objective, w: FloatArray, step: FloatArray, value: float, slope: float
) -> tuple[FloatArray, float, FloatArray] | None:
    """Go along a step until half of its slope is gone, or give up where rounding hides it.

    A convex function's slope tells on which side its minimum lies, also across the kinks of a
    second derivative, where values alone would shorten steps again and again.
    """
    length, low, low_slope = 1.0, 0.0, slope
    high = high_slope = np.inf
    for _ in range(50):
        there = w + length * step
        new_value, gradient = objective.value_and_gradient(there)
        new_slope = float(gradient @ step)
        lower = new_value <= value + 1e-13 * abs(value)
        if lower and abs(new_slope) <= 0.5 * abs(slope):
            return there, new_value, gradient
        if lower and new_slope < 0:
            low, low_slope = length, new_slope
        else:
            high, high_slope = length, new_slope
        if not np.isfinite(high):
            length = 2 * low
            continue
        share = 0.5
        if np.isfinite(high_slope) and high_slope > 0:
            share = min(max(-low_slope / (high_slope - low_slope), 0.1), 0.9)
        length = low + share * (high - low)
    return None


def _direction(
    objective: _Objective, w: FloatArray, gradient: FloatArray, enough: float, slow: bool
) -> tuple[FloatArray, bool]:
    """Solve the Newton system by conjugate gradients until the residual is small enough.

    Where that is slow, and was in earlier steps, products are preconditioned.
    """
    scores = objective.scores(w)
    step, residual = np.zeros_like(w), -gradient
    solve = objective.preconditioner(scores) if slow else None
    limit = 20 * len(w) + 20
    if solve is None:
        plain = limit if slow else min(limit, PATIENCE)
        step, residual, done = _conjugate_gradients(
            objective, scores, step, residual, enough, plain, None
        )
        if done or plain == limit:
            return step, slow
        solve = objective.preconditioner(scores)
    step, _, _ = _conjugate_gradients(objective, scores, step, residual, enough, limit, solve)
    return step, True


def _conjugate_gradients(
    objective: _Objective,
    scores: FloatArray,
    step: FloatArray,
    residual: FloatArray,
    enough: float,
    limit: int,
    solve: Callable[[FloatArray], FloatArray] | None,
) -> tuple[FloatArray, FloatArray, bool]:
    """Go on from a step; return it, its residual, and whether no more is to be done."""
    better = residual if solve is None else solve(residual)
    direction = better.copy()
    square = float(residual @ better)
    for _ in range(limit):
        product = objective.hessian_product(scores, direction)
        curvature = float(direction @ product)
        if not curvature > 1e-15 * float(direction @ direction):
            # No curvature this way: what there is so far, else downhill.
            return (step if step.any() else residual), residual, True
        length = square / curvature
        step = step + length * direction
        residual = residual - length * product
        if float(np.linalg.norm(residual)) <= enough:
            return step, residual, True
        better = residual if solve is None else solve(residual)
        new_square = float(residual @ better)
        direction = better + new_square / square * direction
        square = new_square
    return step, residual, False
