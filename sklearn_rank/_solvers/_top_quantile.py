"""Newton's method for positives above a bound of the quantile of other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from .._typing import FloatArray
from ._difference_losses import LossParts
from ._top_functionals import SurrogateQuantile, TopParts
from ._top_part import Judge, TopPart

__all__ = ["minimise_top_quantile"]

# By which factor the rounding of the kinks shrinks, and its least width relative to the margin.
SHRINKAGE = 0.1
LEAST_WIDTH = 1e-10

# Decrease of the objective, relative to it, that rounding hides.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights with the scores of the rows, or a direction of both."""

    coef: FloatArray
    positive: FloatArray
    reference: FloatArray

    def moved(self, step: _Point, length: float) -> _Point:
        return _Point(
            self.coef + length * step.coef,
            self.positive + length * step.positive,
            self.reference + length * step.reference,
        )


@dataclass(frozen=True, eq=False)
class _Values:
    """The rounded objective at a point, and its derivatives by the scores."""

    objective: float
    top: TopParts
    loss: LossParts

    @property
    def total(self) -> float:
        return float(self.loss.slope.sum())

    def along(self, point: _Point, step: _Point) -> float:
        """Derivative along a step."""
        by_reference = self.total * float(self.top.slope @ step.reference)
        return float(point.coef @ step.coef + by_reference - self.loss.slope @ step.positive)


def minimise_top_quantile(part: TopPart, judge: Judge, start: FloatArray) -> None:
    """Minimise the objective of a part whose functional bounds a quantile.

    Kinks are rounded off, ever less, and each rounded problem is solved from the last.
    """
    point, width = _Point(start, *part.scores(start)), 1.0
    while True:
        values = _values(part, point, width)
        difference = part.difference(values.loss.slope, values.total * values.top.slope)
        lower = part.lower_bound(values.loss.slope, difference, values.top.conjugate)
        objective = part.change(point.coef, point.positive, point.reference)
        gradient = point.coef - difference
        if judge.see(point.coef, objective, lower):
            return
        # Rounding may hide all that can be won from w = 0.
        at_zero = not point.coef.any()
        flat = at_zero and part.problem.has_one_mean
        # The gap is what the gradient is worth and what the rounding is.
        off = 0.5 * float(gradient @ gradient)
        step, slope = None, 0.0
        if not flat and (at_zero or off > 0.1 * (objective - lower - off)):
            try:
                step = _direction(part, gradient, values)
            except np.linalg.LinAlgError:
                # The narrower the kinks, the nearer the system is to a singular one.
                judge.exhausted = True
                return
            slope = values.along(point, step)
        if step is not None and (at_zero or -slope > ROUNDING * abs(objective)):
            point = _along(part, point, step, slope, width)
            judge.n_iter += 1
        elif width <= LEAST_WIDTH:
            judge.exhausted = True
            return
        else:
            width *= SHRINKAGE


def _values(part: TopPart, point: _Point, width: float) -> _Values:
    functional, problem = cast(SurrogateQuantile, part.functional), part.problem
    top = functional.parts(point.reference, width)
    loss = problem.loss.parts(top.value - point.positive, width)
    objective = 0.5 * float(point.coef @ point.coef) + float(problem.cost @ loss.value)
    cost = problem.cost
    return _Values(objective, top, LossParts(loss.value, cost * loss.slope, cost * loss.curvature))


def _direction(part: TopPart, gradient: FloatArray, values: _Values) -> _Point:
    """Newton's direction.

    The second derivatives are ``I + sum of weight (x - g)(x - g)'`` over all rows, g the mean of
    the rows by the slopes of T.
    """
    curvature = values.total * values.top.curvature
    system = part.system(
        values.loss.curvature,
        curvature,
        (np.zeros_like(values.loss.slope), -values.top.slope),
        (values.loss.curvature, -curvature),
    )
    centre, summed = system.sums.T
    total = float(values.loss.curvature.sum() + curvature.sum())
    known, by_sum, by_centre = system.solve(np.column_stack((-gradient, summed, centre))).T
    # The direction p depends on centre . p and summed . p, two numbers.
    columns = np.column_stack((by_sum - total * by_centre, by_centre))
    rows = np.vstack((centre, summed))
    two = np.linalg.solve(np.eye(2) - rows @ columns, rows @ known)
    coef = known + columns @ two
    return _Point(coef, *part.scores(coef))


def _along(part: TopPart, point: _Point, step: _Point, slope: float, width: float) -> _Point:
    """Go along a step until nine tenths of its slope are gone; rows are not looked at."""
    length, low, low_slope = 1.0, 0.0, slope
    high, high_slope = np.inf, np.inf
    for _ in range(60):
        there = point.moved(step, length)
        new_slope = _values(part, there, width).along(there, step)
        if abs(new_slope) <= 0.1 * abs(slope):
            break
        if new_slope < 0:
            low, low_slope = length, new_slope
        else:
            high, high_slope = length, new_slope
        if not np.isfinite(high):
            length = 2.0 * low
            continue
        share = min(max(-low_slope / (high_slope - low_slope), 0.05), 0.95)
        length = low + share * (high - low)
    return there
