"""Newton's method for a ridge penalty plus a smooth convex function of linear scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg

from .._typing import FloatArray
from ._design import Design, InMemoryDesign
from ._result import Certificate, SolverResult, relative_gap

__all__ = ["Curvature", "ScoreFunction", "minimise_with_ridge"]

# Features up to which the second derivatives are summed up in a matrix and factorised.
LARGEST_FACTOR = 1000

# A direction by conjugate gradients leaves at most this share of the gradient.
FORCING = 0.1

# Share of the slope that a step may leave along its direction.
LEFT_SLOPE = 0.5

# Decrease of the objective, relative to its terms, that rounding hides.
ROUNDING = 1e-14


class Curvature(Protocol):
    """Second derivatives of a function of scores at given ones."""

    @property
    def diagonal(self) -> FloatArray:
        """Diagonal part of an approximation; non-negative."""

    @property
    def subtracted(self) -> list[FloatArray]:
        """Vectors whose outer products that approximation subtracts from the diagonal part."""

    @property
    def is_exact(self) -> bool:
        """Whether the approximation is the matrix itself."""

    def product(self, direction: FloatArray, /) -> FloatArray:
        """Product of the matrix with a direction of scores."""


class ScoreFunction(Protocol):
    """A smooth convex function of the scores of the rows, not negative infinite."""

    @property
    def scale(self) -> float:
        """Size of its terms, for what rounding hides."""

    def value_and_slopes(self, scores: FloatArray, /) -> tuple[float, FloatArray]:
        """Value, and derivatives by the scores."""

    def curvature(self, scores: FloatArray, /) -> Curvature:
        """Second derivatives."""


class _Point(NamedTuple):
    """Coefficients with their scores, and the objective there."""

    coef: FloatArray
    scores: FloatArray
    value: float
    slopes: FloatArray


def minimise_with_ridge(
    design: Design,
    function: ScoreFunction,
    *,
    tol: float,
    max_iter: int,
    on_iteration: Callable[[int, float, float], None] | None = None,
    start: FloatArray | None = None,
) -> SolverResult:
    """Minimise ``1 / 2 ||w||**2 + f(X w)``.

    The derivatives a of f at scores X w are a point of the Fenchel dual, at which ``f(X w) + f*(a)
    = a . X w``: the duality gap is half the square of ``w + X' a``, the gradient. Along a step the
    scores are affine, so that its length is found without the rows.
    """
    if start is None:
        point = _at(function, np.zeros(design.shape[1]), np.zeros(design.shape[0]))
    else:
        point = _at(function, start, design.scores(start))
    hidden = np.finfo(np.float64).eps * function.scale
    n_iter = 0
    while True:
        curvature = sums = None
        if design.shape[1] <= LARGEST_FACTOR and not isinstance(design, InMemoryDesign):
            # Where each product reads the rows again, one reading serves all.
            curvature = function.curvature(point.scores)
            sums = _sums(design, curvature, point.slopes)
            gradient = point.coef + sums[1][:, -1]
        else:
            gradient = point.coef + design.pull_back(point.slopes)
        gap = 0.5 * float(gradient @ gradient)
        bound = point.value if gap <= hidden else point.value - gap
        share = float(relative_gap(point.value, bound))
        if on_iteration is not None and n_iter:
            on_iteration(n_iter, point.value, share)
        # Weights of 0 may be within the tolerance, but have no order.
        if (share <= tol and (n_iter or not gradient.any())) or n_iter == max_iter:
            break
        curvature = curvature or function.curvature(point.scores)
        step = _direction(design, curvature, gradient, sums)
        there = _along(function, point, step, design.scores(step))
        if there is None:
            break
        point, n_iter = there, n_iter + 1
    converged = bool(share <= tol)
    return SolverResult(
        point.coef, Certificate(point.value, bound, n_iter=n_iter, converged=converged)
    )


def _at(function: ScoreFunction, coef: FloatArray, scores: FloatArray) -> _Point:
    value, slopes = function.value_and_slopes(scores)
    return _Point(coef, scores, 0.5 * float(coef @ coef) + value, slopes)


def _along(
    function: ScoreFunction, point: _Point, step: FloatArray, of_step: FloatArray
) -> _Point | None:
    """Go along a step until half of its slope is gone; None where nothing is won.

    The slope of a convex function tells on which side its minimum lies.
    """

    def slope_at(there: _Point) -> float:
        return float(there.coef @ step) + float(there.slopes @ of_step)

    first = slope_at(point)
    if not first < 0.0:
        # The gradient is rounding.
        return None
    length, low, high = 1.0, 0.0, np.inf
    low_slope, high_slope = first, np.inf
    allowed = ROUNDING * (abs(point.value) + function.scale)
    for _ in range(60):
        there = _at(function, point.coef + length * step, point.scores + length * of_step)
        slope = slope_at(there)
        lower = there.value <= point.value + allowed
        if lower and abs(slope) <= LEFT_SLOPE * abs(first):
            return there
        if lower and slope < 0:
            low, low_slope = length, slope
        else:
            high, high_slope = length, slope
        if not np.isfinite(high):
            length = 4.0 * low
            continue
        share = 0.5
        if np.isfinite(high_slope) and high_slope > 0:
            share = min(max(-low_slope / (high_slope - low_slope), 0.1), 0.9)
        length = low + share * (high - low)
    return None


def _sums(
    design: Design, curvature: Curvature, *by_row: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weighted Gram matrix of the rows, and their sums with what is subtracted and with others."""
    columns = np.column_stack([*curvature.subtracted, *by_row])
    return design.gram_and_sums(curvature.diagonal, columns)


def _direction(
    design: Design,
    curvature: Curvature,
    gradient: FloatArray,
    sums: tuple[FloatArray, FloatArray] | None,
) -> FloatArray:
    """Solve Newton's system, exactly or to a share of the gradient."""
    solve = None
    if len(gradient) <= LARGEST_FACTOR:
        matrix, pulled = _sums(design, curvature) if sums is None else sums
        solve = _factorised(matrix, pulled[:, : len(curvature.subtracted)])
        if curvature.is_exact:
            return -solve(gradient)

    def product(direction: FloatArray) -> FloatArray:
        bent = curvature.product(design.scores(direction))
        return np.asarray(direction + design.pull_back(bent))

    return _conjugate_gradients(product, gradient, solve)


def _factorised(matrix: FloatArray, pulled: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Solver of the system of the approximate second derivatives."""
    matrix = matrix - pulled @ pulled.T
    matrix[np.diag_indices_from(matrix)] += 1.0
    # What is subtracted is at most what was added, but for rounding.
    ridge = np.finfo(np.float64).eps * float(np.trace(matrix))
    while True:
        try:
            factor = scipy.linalg.cho_factor(matrix)
        except scipy.linalg.LinAlgError:
            matrix[np.diag_indices_from(matrix)] += ridge
            ridge *= 10.0
        else:
            return lambda right: np.asarray(scipy.linalg.cho_solve(factor, right))


def _conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    gradient: FloatArray,
    solve: Callable[[FloatArray], FloatArray] | None,
) -> FloatArray:
    """Solve ``product(step) = -gradient`` to a share of the gradient's norm."""
    step, residual = np.zeros_like(gradient), -gradient
    norm = float(np.linalg.norm(gradient))
    enough = min(FORCING, np.sqrt(norm)) * norm
    better = residual if solve is None else solve(residual)
    direction, square = better.copy(), float(residual @ better)
    for _ in range(20 * len(step) + 20):
        bent = product(direction)
        length = square / float(direction @ bent)
        step += length * direction
        residual = residual - length * bent
        if float(np.linalg.norm(residual)) <= enough:
            break
        better = residual if solve is None else solve(residual)
        last, square = square, float(residual @ better)
        direction = better + square / last * direction
    return step
