"""Newton's method with directions by conjugate gradients, for smooth convex functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from .._typing import FloatArray

__all__ = ["NewtonResult", "SmoothProblem", "newton_cg"]

# A direction need not solve Newton's system better than the next one will change it.
FORCING = 0.1

# Steps of conjugate gradients before a factorisation of n_parameters**3 is worth its price.
PATIENCE = 40

# Decrease of the objective, relative to it, that rounding hides.
ROUNDING = 1e-13

Solve = Callable[[FloatArray], FloatArray]
Report = Callable[[int, float, float, FloatArray], None]


class SmoothProblem(Protocol):
    """Protocol of a convex function of parameters through scores."""

    @property
    def preconditioned_at_once(self) -> bool:
        """Whether the preconditioner costs so little that it is used from the first step on."""

    def scores(self, parameters: FloatArray, /) -> FloatArray:
        """Scores at parameters, where second derivatives are taken."""

    def value_and_gradient(self, parameters: FloatArray, /) -> tuple[float, FloatArray]:
        """Value and gradient."""

    def hessian_product(self, scores: FloatArray, direction: FloatArray, /) -> FloatArray:
        """Product of the second derivatives with a direction."""

    def preconditioner(self, scores: FloatArray, /) -> Solve | None:
        """Solver of a system near that of the second derivatives, if there is one."""


class NewtonResult(NamedTuple):
    """Where the method ended.

    Parameters
    ----------
    parameters : ndarray of shape (n_parameters,)
        The last point.
    n_iter : int
        Number of steps.
    stalled : bool
        Whether no step decreased the objective although a decrease beyond rounding was possible.
    """

    parameters: FloatArray
    n_iter: int
    stalled: bool


class _Point(NamedTuple):
    """Parameters, the objective and its gradient there."""

    parameters: FloatArray
    value: float
    gradient: FloatArray


def newton_cg(
    problem: SmoothProblem,
    start: FloatArray,
    largest: float,
    max_iter: int,
    report: Report,
) -> NewtonResult:
    """Go on until the norm of the gradient is small enough.

    Parameters
    ----------
    problem : SmoothProblem
        The function.
    start : ndarray of shape (n_parameters,)
        Where to start.
    largest : float
        Largest norm of the gradient.
    max_iter : int
        Largest number of steps.
    report : callable
        Called after each step with its number from 1, the objective, the gradient's norm and the
        parameters.

    Returns
    -------
    NewtonResult
        The last point, and whether the method could not go on.
    """
    point = _Point(start, *problem.value_and_gradient(start))
    slow = problem.preconditioned_at_once
    for n_iter in range(max_iter):
        norm = float(np.linalg.norm(point.gradient))
        if norm <= largest:
            return NewtonResult(point.parameters, n_iter, False)
        enough = max(FORCING * norm, 0.5 * largest)
        step, slow = _direction(problem, point, enough, slow)
        slope = float(point.gradient @ step)
        if not slope < 0:
            return NewtonResult(point.parameters, n_iter, True)
        there, rounded = _along(problem, point, step, slope)
        if there is None:
            return NewtonResult(point.parameters, n_iter, not rounded)
        point = there
        report(n_iter + 1, point.value, float(np.linalg.norm(point.gradient)), point.parameters)
    return NewtonResult(point.parameters, max_iter, False)


def _along(
    problem: SmoothProblem, point: _Point, step: FloatArray, slope: float
) -> tuple[_Point | None, bool]:
    """Go along a step until half of its slope is gone, or give up; tell whether for rounding.

    A convex function's slope tells on which side its minimum lies, also across the kinks of a
    second derivative, where values alone would shorten steps again and again.
    """
    length, low, low_slope = 1.0, 0.0, slope
    high = high_slope = np.inf
    for _ in range(50):
        parameters = point.parameters + length * step
        there = _Point(parameters, *problem.value_and_gradient(parameters))
        new_slope = float(there.gradient @ step)
        lower = there.value <= point.value + ROUNDING * abs(point.value)
        if lower and abs(new_slope) <= 0.5 * abs(slope):
            return there, False
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
    # Rounding hides the end of a step, but not one that is too short.
    return None, bool(np.isfinite(high)) and -slope <= 10 * ROUNDING * abs(point.value)


def _direction(
    problem: SmoothProblem, point: _Point, enough: float, slow: bool
) -> tuple[FloatArray, bool]:
    """Solve the Newton system by conjugate gradients until the residual is small enough.

    Where that is slow, and was in earlier steps, products are preconditioned.
    """
    scores = problem.scores(point.parameters)
    system = _System(lambda p: problem.hessian_product(scores, p), enough)
    step, residual = np.zeros_like(point.parameters), -point.gradient
    solve = problem.preconditioner(scores) if slow else None
    limit = 20 * len(step) + 20
    if solve is None:
        plain = limit if slow else min(limit, PATIENCE)
        step, residual, done = system.go_on(step, residual, plain, None)
        if done or plain == limit:
            return step, slow
        solve = problem.preconditioner(scores)
    step, _, _ = system.go_on(step, residual, limit, solve)
    return step, True


@dataclass(frozen=True)
class _System:
    """A positive semidefinite system by its products, and the residual that is small enough."""

    product: Solve
    enough: float

    def go_on(
        self, step: FloatArray, residual: FloatArray, limit: int, solve: Solve | None
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Go on from a step; return it, its residual, and whether no more is to be done."""
        better = residual if solve is None else solve(residual)
        direction = better.copy()
        square = float(residual @ better)
        for _ in range(limit):
            product = self.product(direction)
            curvature = float(direction @ product)
            if not curvature > 1e-15 * float(direction @ direction):
                # No curvature this way: what there is so far, else downhill.
                return (step if step.any() else residual), residual, True
            length = square / curvature
            step = step + length * direction
            residual = residual - length * product
            if float(np.linalg.norm(residual)) <= self.enough:
                return step, residual, True
            better = residual if solve is None else solve(residual)
            new_square = float(residual @ better)
            direction = better + new_square / square * direction
            square = new_square
        return step, residual, False
