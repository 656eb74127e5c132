"""Solver for the hinge loss of pairs with a ridge penalty, with a duality gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._typing import FloatArray
from ._design import Design
from ._linear import BlockProblem, Blocks, LinearProblem, solve_linear
from ._result import Certificate, LossOfScores, SolverResult, relative_gap

# By which factor the curved part of the hinge shrinks from one problem to the next, and its least
# width relative to the margin.
SHRINKAGE = 0.25
LEAST_WIDTH = 1e-9

# Tolerance of a rounded problem, as a share of the root of its relative width.
INNER = 0.03

# How far a lower bound may be above the objective, relative to it: beyond this the scores have no
# digits left, and the bound is none.
LARGEST_ERROR = 1e-9

# Rounding of a sum of hinges, relative to it.
ROUNDING = 16 * float(np.finfo(np.float64).eps)


class SmoothedHinge:
    """Hinge whose kink is a parabola of a width: a difference of two squared hinges."""

    is_convex = has_hessian_product = has_curvature = True

    def __init__(self, outer: LossOfScores, inner: LossOfScores, width: float) -> None:
        self.outer = outer
        self.inner = inner
        self.factor = 1 / (2 * width)

    def value_and_gradient(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        values, gradient = self.outer.value_and_gradient(score)
        inner_values, inner_gradient = self.inner.value_and_gradient(score)
        return self.factor * (values - inner_values), self.factor * (gradient - inner_gradient)

    def hessian_product(self, score: FloatArray, direction: FloatArray) -> FloatArray:
        outer = self.outer.hessian_product(score, direction)
        return self.factor * (outer - self.inner.hessian_product(score, direction))

    def curvature(self, score: FloatArray) -> FloatArray:
        return self.factor * (self.outer.curvature(score) - self.inner.curvature(score))


@dataclass(frozen=True, eq=False)
class HingeProblem:
    """Minimise ``sum over pairs of max(0, margin - d) + alpha / 2 ||w||**2``.

    Here d is the difference of the scores X w of a pair.
    """

    design: Design  # The rows X
    hinge: Callable[[float], LossOfScores]
    squared_hinge: Callable[[float], LossOfScores]
    alpha: float  # Penalty, greater than 0
    margin: float = 1.0  # Margin of the hinge, greater than 0
    bends: FloatArray | None = None

    @property
    def n_features(self) -> int:
        return self.design.shape[1]

    @cached_property
    def _outer(self) -> LossOfScores:
        return self.squared_hinge(self.margin)

    @cached_property
    def _exact(self) -> LossOfScores:
        return self.hinge(self.margin)

    def _smooth(self, width: float) -> SmoothedHinge:
        return SmoothedHinge(self._outer, self.squared_hinge(self.margin - width), width)

    def smooth_problem(self, width: float) -> LinearProblem:
        """The problem of the hinge whose kink is a parabola of a width."""
        return LinearProblem(self.design, self._smooth(width), self.alpha, bends=self.bends)

    def bounds(self, coef: FloatArray, width: float) -> tuple[float, float]:
        losses = self._exact, self.hinge(self.margin - width), self._smooth(width)
        sums = hinge_sums(self.design, losses, coef)
        return hinge_bounds(*sums, coef, self.alpha, self.margin, width)


class BlockHingeProblem(NamedTuple):
    """The :class:`HingeProblem` of all rows, where these are in blocks."""

    blocks: Blocks  # The rows, in whole lists
    hinge: Callable[[Any, float], LossOfScores]
    squared_hinge: Callable[[Any, float], LossOfScores]
    alpha: float  # Penalty, greater than 0
    margin: float = 1.0  # Margin of the hinge, greater than 0
    factor: float = 1.0  # Factor of the hinge, greater than 0
    bends: FloatArray | None = None

    @property
    def n_features(self) -> int:
        return self.blocks.n_features

    def smooth_problem(self, width: float) -> BlockProblem:
        """The problem of the hinge whose kink is a parabola of a width."""
        blocks = self.blocks.on(partial(_smoothed_hinge, self.squared_hinge, self.margin, width))
        return BlockProblem(
            blocks, SmoothedHinge, self.alpha, factor=self.factor, bends=self.bends
        )

    def bounds(self, coef: FloatArray, width: float) -> tuple[float, float]:
        make = partial(_hinge_losses, self.hinge, self.squared_hinge, self.margin, width)
        value, inner, gradient = self.blocks.on(make).total(hinge_sums, coef)
        sums = self.factor * value, self.factor * inner, self.factor * gradient
        return hinge_bounds(*sums, coef, self.alpha, self.margin, width)


# The hinge at the margin, that at the margin less a width, and that with a kink of this width.
Hinges: TypeAlias = tuple[LossOfScores, LossOfScores, LossOfScores]


def _smoothed_hinge(squared_hinge: Any, margin: float, width: float, lists: Any) -> SmoothedHinge:
    outer, inner = squared_hinge(lists, margin), squared_hinge(lists, margin - width)
    return SmoothedHinge(outer, inner, width)


def _hinge_losses(
    hinge: Any, squared_hinge: Any, margin: float, width: float, lists: Any
) -> Hinges:
    smoothed = _smoothed_hinge(squared_hinge, margin, width, lists)
    return hinge(lists, margin), hinge(lists, margin - width), smoothed


def hinge_sums(items: Design, losses: Hinges, coef: FloatArray) -> tuple[float, float, FloatArray]:
    """Sums over items from which the bounds are."""
    scores = items.scores(coef)
    exact, inner, smoothed = (loss.value_and_gradient(scores) for loss in losses)
    return float(exact[0].sum()), float(inner[0].sum()), items.pull_back(smoothed[1])


def hinge_bounds(
    value: float,
    inner: float,
    gradient: FloatArray,
    coef: FloatArray,
    alpha: float,
    margin: float,
    width: float,
) -> tuple[float, float]:
    """Objective and dual objective from the sums of :func:`hinge_sums`."""
    # What rounding of the difference may have added is no slope.
    slopes = (value - inner - ROUNDING * (value + inner)) / width
    objective = float(value + 0.5 * alpha * coef @ coef)
    return objective, float(margin * slopes - gradient @ gradient / (2 * alpha))


def solve_linear_hinge(
    problem: HingeProblem | BlockHingeProblem,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    start: FloatArray | None = None,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> SolverResult:
    """Minimise a hinge of pairs of linear scores with a ridge penalty.

    The kink is rounded off to a parabola that is made ever narrower; each rounded problem is
    solved by Newton's method from the solution of the last. Its slopes at the pairs are a point of
    the dual problem, which gives a lower bound of the minimum.
    """
    margin = problem.margin
    w = np.zeros(problem.n_features) if start is None else np.array(start, dtype=np.float64)
    width = margin / 2
    best_w, best, bound, gap = w, np.inf, 0.0, np.inf
    n_iter = 0
    while n_iter < max_iter and width > LEAST_WIDTH * margin:
        solution = solve_linear(
            problem.smooth_problem(width),
            # A small part of the gap comes from here, the rest from the width.
            tol=INNER * float(np.sqrt(width / margin)),
            max_iter=max_iter - n_iter,
            start=w,
        )
        n_iter += max(1, solution.certificate.n_iter)
        w = solution.coef
        objective, lower_bound = problem.bounds(w, width)
        if objective < best:
            best_w, best = w, objective
        if lower_bound <= objective * (1 + LARGEST_ERROR):
            bound = max(bound, lower_bound)
        gap = float(relative_gap(best, bound))
        if on_iteration is not None:
            on_iteration(n_iter, best, gap)
        if gap <= tol:
            break
        width *= SHRINKAGE
    certificate = Certificate(best, bound, n_iter=n_iter, converged=bool(gap <= tol))
    return SolverResult(coef=best_w, certificate=certificate)
