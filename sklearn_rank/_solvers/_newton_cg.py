"""Newton's method with directions by conjugate gradients, for smooth convex functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from .._typing import FloatArray
from ._design import Coordinates
from ._result import LossProperties

# A direction need not solve Newton's system better than the next one will change it.
FORCING = 0.1

# Steps of conjugate gradients before a factorisation of n_parameters**3 is worth its price.
PATIENCE = 15

# Decrease of the objective, relative to it, that rounding hides.
ROUNDING = 1e-13

# Decrease from which on gradients tell more than values, which the scores of large features round.
HIDDEN = 1e-9

# Residual of the system by which a gradient is certified, as a share of the squared norm.
EXACT = 1e-2

# Square of a direction in coordinates from which on it is rounding of a singular system.
LARGEST_SQUARE = 1e100

# Distance in coordinates over which gradients of losses without second derivatives are compared.
DIFFERENCE = 1e-5

Solve = Callable[[FloatArray], FloatArray]


class SmoothProblem(Protocol):
    """Protocol of a convex function of parameters through scores."""

    @property
    def loss(self) -> LossProperties:
        """Loss of the scores, or what it says of itself."""

    @property
    def preconditioned_at_once(self) -> bool:
        """Whether the preconditioner costs so little that it is used from the first step on."""

    @property
    def coordinates(self) -> Coordinates:
        """Coordinates in which the second derivatives by each parameter are about 1."""

    def scores(self, parameters: FloatArray, /) -> FloatArray:
        """Scores at parameters, where second derivatives are taken."""

    def value_and_gradient(self, parameters: FloatArray, /) -> tuple[float, FloatArray]:
        """Value and gradient."""

    def hessian_product(self, scores: FloatArray, direction: FloatArray, /) -> FloatArray:
        """Product of the second derivatives with a direction."""

    def preconditioner(self, scores: FloatArray, /) -> Solve | None:
        """Solver in the coordinates of a system near that of the second derivatives, if any."""


class Point(NamedTuple):
    """Coordinates of parameters, the objective and its gradient by the coordinates."""

    at: FloatArray
    value: float
    gradient: FloatArray


@dataclass(frozen=True, eq=False)
class Criterion:
    """What share of the decrease of the objective from 0 on is left, by its certificate."""

    problem: SmoothProblem
    tol: float  # Largest root of that share

    @cached_property
    def value_at_0(self) -> float:
        """The objective where all parameters are 0."""
        return self.problem.value_and_gradient(np.zeros(len(self.problem.coordinates.scale)))[0]

    def point(self, at: FloatArray) -> Point:
        """Evaluate the problem at coordinates."""
        coordinates = self.problem.coordinates
        value, gradient = self.problem.value_and_gradient(coordinates.parameters(at))
        return Point(at, value, coordinates.gradient(gradient))

    def square(self, gradient: FloatArray) -> float:
        """Square of the norm of a gradient: twice what can be won, or more, by the penalty.

        Without a penalty it is about that, as far as the coordinates are good ones.
        """
        certified = self.problem.coordinates.certified
        return float(gradient @ (gradient if certified is None else certified * gradient))

    def is_much_smaller(self, one: FloatArray, other: FloatArray) -> bool:
        """Whether a gradient is at most half of another, by its square or in coordinates."""
        return bool(
            self.square(one) <= 0.25 * self.square(other) or one @ one <= 0.25 * (other @ other)
        )

    def decrease(self, point: Point) -> float:
        """Twice the decrease so far: by the values or, where rounding hides it, by convexity."""
        bent = float(point.at @ (self.problem.coordinates.penalty * point.at))
        by_slope = bent - 2.0 * float(point.gradient @ point.at)
        return max(2.0 * (self.value_at_0 - point.value), by_slope, 0.0)

    def left(self, point: Point, square: float | None = None) -> float:
        """Root of the share that is left, by twice what can be won: the squared norm if None."""
        square = self.square(point.gradient) if square is None else square
        return float(np.sqrt(square / (square + self.decrease(point)))) if not square <= 0 else 0.0

    def decrement(self, point: Point) -> float:
        """Square of the gradient in the metric of the second derivatives: twice what can be won.

        It is exact to some hundredths; the system is solved far more accurately than for a step.
        """
        problem, coordinates = self.problem, self.problem.coordinates
        parameters = coordinates.parameters(point.at)
        if problem.loss.has_hessian_product:
            scores = problem.scores(parameters)
            solve = problem.preconditioner(scores)

            def product(direction: FloatArray) -> FloatArray:
                along = problem.hessian_product(scores, coordinates.parameters(direction))
                return coordinates.gradient(along)
        else:
            solve = None

            def product(direction: FloatArray) -> FloatArray:
                length = DIFFERENCE / (float(np.linalg.norm(direction)) or 1.0)
                ends = [self.point(point.at + sign * length * direction) for sign in (1, -1)]
                return (ends[0].gradient - ends[1].gradient) / (2.0 * length)

        step, residual = np.zeros_like(point.at), -point.gradient
        better = residual if solve is None else solve(residual)
        first = float(residual @ better)
        plain = float(residual @ residual)
        system = _System(
            product,
            lambda rest, better: bool(
                rest @ better <= EXACT * first and rest @ rest <= EXACT * plain
            ),
        )
        step, residual, _ = system.go_on(step, residual, 20 * len(step) + 20, solve)
        better = residual if solve is None else solve(residual)
        return float(residual @ (step + better) - point.gradient @ step)


Report = Callable[[int, Point], None]


class NewtonResult(NamedTuple):
    """Where the method ended."""

    point: Point
    n_iter: int  # Number of steps
    stalled: bool


def newton_cg(
    criterion: Criterion, start: FloatArray, max_iter: int, report: Report
) -> NewtonResult:
    """Go on until little enough of the decrease of the objective is left."""
    point = criterion.point(start)
    slow = criterion.problem.preconditioned_at_once
    for n_iter in range(max_iter):
        left = criterion.left(point)
        if left <= criterion.tol:
            return NewtonResult(point, n_iter, False)
        step, slow = _direction(criterion, point, min(FORCING, left), slow)
        slope = float(point.gradient @ step)
        if not slope < 0:
            return NewtonResult(point, n_iter, True)
        there, rounded = _along(criterion, point, step, slope)
        if there is None:
            return NewtonResult(point, n_iter, not rounded)
        point = there
        report(n_iter + 1, point)
    return NewtonResult(point, max_iter, False)


def _along(
    criterion: Criterion, point: Point, step: FloatArray, slope: float
) -> tuple[Point | None, bool]:
    """Go along a step until half of its slope is gone, or give up; tell whether for rounding.

    A convex function's slope tells on which side its minimum lies, also across the kinks of a
    second derivative, where values alone would shorten steps again and again.
    """
    length, low, low_slope = 1.0, 0.0, slope
    high = high_slope = np.inf
    hidden = -slope <= HIDDEN * abs(point.value)
    for trial in range(100):
        there = criterion.point(point.at + length * step)
        new_slope = float(there.gradient @ step)
        # Scores of large features round the value more than the gradient in good coordinates.
        lower = there.value <= point.value + ROUNDING * abs(point.value) or (
            hidden and criterion.is_much_smaller(there.gradient, point.gradient)
        )
        if lower and abs(new_slope) <= 0.5 * abs(slope):
            return there, False
        if hidden and not lower and new_slope >= 0:
            return None, True
        if lower and new_slope < 0:
            low, low_slope = length, new_slope
        else:
            high, high_slope = length, new_slope
        if not np.isfinite(high):
            length = 2 * low
            continue
        share = 0.5
        # Slopes that jump at a kink would move one end alone.
        if trial % 3 < 2 and np.isfinite(high_slope) and high_slope > 0:
            share = min(max(-low_slope / (high_slope - low_slope), 0.1), 0.9)
        length = low + share * (high - low)
    # Rounding hides the end of a step, but not one that is too short.
    return None, hidden and bool(np.isfinite(high))


def _direction(
    criterion: Criterion, point: Point, forcing: float, slow: bool
) -> tuple[FloatArray, bool]:
    """Solve the Newton system by conjugate gradients until the residual is small enough.

    Where that is slow, and was in earlier steps, products are preconditioned.
    """
    problem, coordinates = criterion.problem, criterion.problem.coordinates
    scores = problem.scores(coordinates.parameters(point.at))
    share = (forcing * float(np.linalg.norm(point.gradient))) ** 2
    enough = 0.25 * criterion.tol**2 * criterion.decrease(point)

    def product(direction: FloatArray) -> FloatArray:
        along = problem.hessian_product(scores, coordinates.parameters(direction))
        return coordinates.gradient(along)

    def done(residual: FloatArray, _: FloatArray) -> bool:
        return float(residual @ residual) <= share or criterion.square(residual) <= enough

    system = _System(product, done)
    step, residual = np.zeros_like(point.at), -point.gradient
    solve = problem.preconditioner(scores) if slow else None
    limit = 20 * len(step) + 20
    if solve is None:
        plain = limit if slow else min(limit, PATIENCE)
        step, residual, ended = system.go_on(step, residual, plain, None)
        if ended or plain == limit:
            return step, slow
        solve = problem.preconditioner(scores)
    step, _, _ = system.go_on(step, residual, limit, solve)
    return step, True


@dataclass(frozen=True)
class _System:
    """A positive semidefinite system by its products, and when its residual is small enough."""

    product: Solve
    done: Callable[[FloatArray, FloatArray], bool]

    def go_on(
        self, step: FloatArray, residual: FloatArray, limit: int, solve: Solve | None
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Go on from a step; return it, its residual, and whether no more is to be done."""
        better = residual if solve is None else solve(residual)
        direction = better.copy()
        square = float(residual @ better)
        for _ in range(limit):
            # A system that rounding made singular would lead away from all numbers.
            if not float(direction @ direction) < LARGEST_SQUARE:
                return step, residual, True
            product = self.product(direction)
            curvature = float(direction @ product)
            if not curvature > 1e-15 * float(direction @ direction):
                # No curvature this way: what there is so far, else downhill.
                return (step if step.any() else residual), residual, True
            length = square / curvature
            if not np.isfinite(length):
                return step, residual, True
            step = step + length * direction
            residual = residual - length * product
            better = residual if solve is None else solve(residual)
            if self.done(residual, better):
                return step, residual, True
            new_square = float(residual @ better)
            direction = better + new_square / square * direction
            square = new_square
        return step, residual, False
