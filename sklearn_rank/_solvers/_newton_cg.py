"""Newton's method with directions by conjugate gradients, for smooth convex functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

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


class RidgeProblem(Protocol):
    """A convex loss of linear scores, one for each row or several, with a ridge penalty."""

    @property
    def loss(self) -> LossProperties:
        """Loss of the scores, or its properties."""

    @property
    def n_parameters(self) -> int:
        """Number of coefficients and intercepts."""

    @property
    def preconditioned_at_once(self) -> bool:
        """Whether the preconditioner costs so little that it is used from the first step on."""

    @property
    def coordinates(self) -> Coordinates:
        """Coordinates in which the second derivatives by each parameter are about 1."""

    def scores(self, parameters: FloatArray, /) -> FloatArray:
        """Scores at parameters, where second derivatives are taken."""

    def value_and_gradient(self, parameters: FloatArray, /) -> tuple[float, FloatArray]: ...

    def hessian_product(self, scores: FloatArray, direction: FloatArray, /) -> FloatArray: ...

    def preconditioner(self, scores: FloatArray, /) -> Solve | None:
        """Solver in the coordinates of a system near that of the second derivatives, if any."""

    def split(self, parameters: FloatArray, /) -> tuple[FloatArray, Any]:
        """Take coefficients and intercepts out of parameters."""

    def lower_bound(self, parameters: FloatArray, value: float, gradient: FloatArray, /) -> float:
        """Bound the minimum from below, given value and gradient at parameters; NaN for none."""


class Point(NamedTuple):
    """Coordinates of parameters, the objective and its gradient by the coordinates."""

    x: FloatArray
    value: float
    gradient: FloatArray


@dataclass(frozen=True, eq=False)
class Criterion:
    """What share of the decrease of the objective from 0 on remains, by its certificate."""

    problem: RidgeProblem
    tol: float  # Largest root of that share

    @cached_property
    def value_at_0(self) -> float:
        """The objective where all parameters are 0."""
        return self.problem.value_and_gradient(np.zeros(len(self.problem.coordinates.scale)))[0]

    def point(self, x: FloatArray) -> Point:
        """Evaluate the problem at coordinates."""
        coordinates = self.problem.coordinates
        value, gradient = self.problem.value_and_gradient(coordinates.parameters(x))
        return Point(x, value, coordinates.gradient(gradient))

    def square(self, gradient: FloatArray) -> float:
        """Square of the norm of a gradient: twice what can be won, or more, by the penalty.

        Without a penalty it is about that, as far as the coordinates are good ones.
        """
        certified = self.problem.coordinates.certified
        return float(gradient @ (gradient if certified is None else certified * gradient))

    def decrease(self, point: Point) -> float:
        """Twice the decrease so far: by the values or, where rounding hides it, by convexity."""
        curved = float(point.x @ (self.problem.coordinates.penalty * point.x))
        by_slope = curved - 2.0 * float(point.gradient @ point.x)
        return max(2.0 * (self.value_at_0 - point.value), by_slope, 0.0)

    def remainder(self, point: Point, square: float | None = None) -> float:
        """Root of the share that remains, by twice what can be won: the squared norm if None."""
        square = self.square(point.gradient) if square is None else square
        return float(np.sqrt(square / (square + self.decrease(point)))) if not square <= 0 else 0.0

    def decrement(self, point: Point) -> float:
        """Square of the gradient in the metric of the second derivatives: twice what can be won.

        It is exact to some hundredths; the system is solved far more accurately than for a step.
        """
        product, solve = self._difference_product(point), None
        if self.problem.loss.has_hessian_product:
            scores, product = self.hessian_product(point)
            solve = self.problem.preconditioner(scores)
        step, residual = np.zeros_like(point.x), -point.gradient
        preconditioned = residual if solve is None else solve(residual)
        largest_product = EXACT * float(residual @ preconditioned)
        largest_square = EXACT * float(residual @ residual)

        def is_done(residual: FloatArray, preconditioned: FloatArray) -> bool:
            return bool(
                residual @ preconditioned <= largest_product
                and residual @ residual <= largest_square
            )

        step, residual, _ = conjugate_gradients(
            product, is_done, step, residual, 20 * len(step) + 20, solve
        )
        preconditioned = residual if solve is None else solve(residual)
        return float(residual @ (step + preconditioned) - point.gradient @ step)

    def hessian_product(self, point: Point) -> tuple[FloatArray, Solve]:
        """Scores, and products with the second derivatives by the coordinates."""
        problem, coordinates = self.problem, self.problem.coordinates
        scores = problem.scores(coordinates.parameters(point.x))

        def product(direction: FloatArray) -> FloatArray:
            by_parameter = problem.hessian_product(scores, coordinates.parameters(direction))
            return coordinates.gradient(by_parameter)

        return scores, product

    def _difference_product(self, point: Point) -> Solve:
        def product(direction: FloatArray) -> FloatArray:
            length = DIFFERENCE / (float(np.linalg.norm(direction)) or 1.0)
            ends = [self.point(point.x + sign * length * direction) for sign in (1, -1)]
            return (ends[0].gradient - ends[1].gradient) / (2.0 * length)

        return product


Report = Callable[[int, Point], None]


class NewtonResult(NamedTuple):
    """Where the method ended."""

    point: Point
    n_iter: int  # Number of steps
    stalled: bool


def newton_cg(
    criterion: Criterion, start: FloatArray, max_iter: int, report: Report
) -> NewtonResult:
    """Go on until little enough of the decrease of the objective remains."""
    point = criterion.point(start)
    is_slow = criterion.problem.preconditioned_at_once
    for n_iter in range(max_iter):
        remainder = criterion.remainder(point)
        if remainder <= criterion.tol:
            return NewtonResult(point, n_iter, False)
        step, is_slow = _direction(criterion, point, min(FORCING, remainder), is_slow)
        slope = float(point.gradient @ step)
        if not slope < 0:
            return NewtonResult(point, n_iter, True)
        next_point, is_rounded = _search_line(criterion, point, step, slope)
        if next_point is None:
            return NewtonResult(point, n_iter, not is_rounded)
        point = next_point
        report(n_iter + 1, point)
    return NewtonResult(point, max_iter, False)


def _search_line(
    criterion: Criterion, point: Point, step: FloatArray, slope: float
) -> tuple[Point | None, bool]:
    """Go along a step until half of its slope is gone, or give up; tell whether for rounding.

    A convex function's slope tells on which side its minimum lies, also across the kinks of a
    second derivative, where values alone would shorten steps again and again.
    """

    def has_much_smaller_gradient(trial: Point) -> bool:
        new, old = trial.gradient, point.gradient
        return bool(
            criterion.square(new) <= 0.25 * criterion.square(old)
            or new @ new <= 0.25 * (old @ old)
        )

    length, low, high = 1.0, (0.0, slope), (np.inf, np.inf)
    is_hidden = -slope <= HIDDEN * abs(point.value)
    for n_trials in range(100):
        trial = criterion.point(point.x + length * step)
        new_slope = float(trial.gradient @ step)
        # Scores of large features round the value more than the gradient in good coordinates.
        lower = trial.value <= point.value + ROUNDING * abs(point.value) or (
            is_hidden and has_much_smaller_gradient(trial)
        )
        if lower and abs(new_slope) <= 0.5 * abs(slope):
            return trial, False
        if is_hidden and not lower and new_slope >= 0:
            return None, True
        if lower and new_slope < 0:
            low = length, new_slope
        else:
            high = length, new_slope
        # Slopes that jump at a kink would move one end alone.
        length = next_length(low, high, halves=n_trials % 3 == 2)
    # Rounding hides the end of a step, but not one that is too short.
    return None, is_hidden and bool(np.isfinite(high[0]))


def next_length(
    low: tuple[float, float],
    high: tuple[float, float],
    *,
    growth: float = 2.0,
    least: float = 0.1,
    halves: bool = False,
) -> float:
    """Length of the next step on a line along which a convex function falls.

    ``low`` and ``high`` are the longest step and its slope before the minimum, and the shortest
    beyond it; if none is, the length grows. Else it is where the secant of the slopes is 0, at
    least a share of the way from both ends.
    """
    if not np.isfinite(high[0]):
        return growth * low[0]
    share = 0.5
    if not halves and 0.0 < high[1] < np.inf:
        share = min(max(-low[1] / (high[1] - low[1]), least), 1.0 - least)
    return low[0] + share * (high[0] - low[0])


def _direction(
    criterion: Criterion, point: Point, forcing: float, is_slow: bool
) -> tuple[FloatArray, bool]:
    """Solve the Newton system by conjugate gradients until the residual is small enough.

    Where that is slow, and was in earlier steps, products are preconditioned.
    """
    scores, product = criterion.hessian_product(point)
    by_gradient = (forcing * float(np.linalg.norm(point.gradient))) ** 2
    by_tolerance = 0.25 * criterion.tol**2 * criterion.decrease(point)

    def is_done(residual: FloatArray, _: FloatArray) -> bool:
        return (
            float(residual @ residual) <= by_gradient or criterion.square(residual) <= by_tolerance
        )

    step, residual = np.zeros_like(point.x), -point.gradient
    solve = criterion.problem.preconditioner(scores) if is_slow else None
    limit = 20 * len(step) + 20
    if solve is None:
        n_plain = limit if is_slow else min(limit, PATIENCE)
        step, residual, ended = conjugate_gradients(
            product, is_done, step, residual, n_plain, None
        )
        if ended or n_plain == limit:
            return step, is_slow
        solve = criterion.problem.preconditioner(scores)
    step, _, _ = conjugate_gradients(product, is_done, step, residual, limit, solve)
    return step, True


def conjugate_gradients(
    product: Solve,
    is_done: Callable[[FloatArray, FloatArray], bool],
    step: FloatArray,
    residual: FloatArray,
    limit: int,
    solve: Solve | None,
) -> tuple[FloatArray, FloatArray, bool]:
    """Solve a positive semidefinite system from a step on.

    Returns the step, its residual, and whether no more is to be done.
    """
    preconditioned = residual if solve is None else solve(residual)
    direction = preconditioned.copy()
    square = float(residual @ preconditioned)
    for _ in range(limit):
        # A system that rounding made singular would lead away from all numbers.
        if not float(direction @ direction) < LARGEST_SQUARE:
            return step, residual, True
        by_direction = product(direction)
        curvature = float(direction @ by_direction)
        if not curvature > 1e-15 * float(direction @ direction):
            # No curvature this way: what there is so far, else downhill.
            return (step if step.any() else residual), residual, True
        length = square / curvature
        if not np.isfinite(length):
            return step, residual, True
        step = step + length * direction
        residual = residual - length * by_direction
        preconditioned = residual if solve is None else solve(residual)
        if is_done(residual, preconditioned):
            return step, residual, True
        new_square = float(residual @ preconditioned)
        direction = preconditioned + new_square / square * direction
        square = new_square
    return step, residual, False
