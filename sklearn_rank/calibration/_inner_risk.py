"""The expected loss of one list under a distribution of labels, and its infimum over orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog, minimize

from .._typing import FloatArray, IntArray
from ..losses import TemplateLoss

__all__ = ["InnerRisk", "Minimum"]

# Scores are searched in this range about 0, beyond which exponentials have no more to give.
REACH = 40.0
PLANES = 200


@dataclass(frozen=True, eq=False)
class Minimum:
    """A small value of the expected loss."""

    score: FloatArray  # (n,): Where it was found
    value: float  # The expected loss there
    gap: float  # How far it is above the infimum at most


class InnerRisk:
    """Expected loss of the scores of one list."""

    def __init__(
        self, loss: TemplateLoss, utilities: FloatArray, probabilities: FloatArray
    ) -> None:
        self.shape = utilities.shape
        offsets = np.arange(self.shape[0] + 1) * self.shape[1]
        self.lists = loss.on(utilities.ravel(), offsets, query_weight=probabilities)
        self.reach = REACH + float(utilities.max())

    def value_and_gradient(self, score: FloatArray) -> tuple[float, FloatArray]:
        """Expected loss and its gradient."""
        values, gradient = self.lists.value_and_gradient(np.tile(score, self.shape[0]))
        return float(values.sum()), gradient.reshape(self.shape).sum(axis=0)

    def minimum(self, accuracy: float) -> Minimum:
        """Minimise over all scores."""
        n = self.shape[1]
        return self._minimise(
            np.eye(n), np.full(n, -self.reach), lambda value, floor: value - floor <= accuracy
        )

    def minimum_of_constants(self) -> Minimum:
        """Minimise over scores that are all equal."""
        basis = np.ones((self.shape[1], 1))
        return self._minimise(basis, np.array([-self.reach]), lambda value, floor: True)

    def minimum_in_order(self, order: IntArray, goal: float) -> Minimum:
        """Find whether scores that do not rise along an order reach a value."""
        n = self.shape[1]
        # The first score, and the steps down from each to the next.
        basis = np.zeros((n, n))
        basis[order] = np.c_[np.ones(n), -np.tri(n, n - 1, -1)]
        lower = np.r_[-self.reach, np.zeros(n - 1)]
        return self._minimise(basis, lower, lambda value, floor: value <= goal or floor > goal)

    def _minimise(
        self, basis: FloatArray, lower: FloatArray, enough: Callable[[float, float], bool]
    ) -> Minimum:
        """Minimise over ``basis @ z``, z in a box from ``lower`` to the reach.

        ``enough`` says of a value and a floor of all values whether the search may end.
        """
        upper = np.full(len(lower), self.reach)

        def of(z: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self.value_and_gradient(basis @ z)
            return value, basis.T @ gradient

        found = minimize(
            of,
            np.clip(0.0, lower, upper),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(lower, upper, strict=True)),
            options={"ftol": 0.0, "gtol": 1e-11, "maxiter": 300, "maxls": 40},
        )
        value, slope = of(found.x)
        # A convex function is above its tangent, whose least value over the box is at a corner.
        drop = np.maximum(slope * (found.x - lower), slope * (found.x - upper))
        best = Minimum(found.x, value, float(drop.sum()))
        if not enough(value, value - best.gap):
            best = _by_planes(of, best, lower, upper, enough)
        return Minimum(basis @ best.score, best.value, best.gap)


def _by_planes(
    of: Callable[[FloatArray], tuple[float, FloatArray]],
    start: Minimum,
    lower: FloatArray,
    upper: FloatArray,
    enough: Callable[[float, float], bool],
) -> Minimum:
    """Kelley's cutting planes, for losses with kinks, at which quasi-Newton steps get stuck."""
    best, z, floor = start.value, start.score, start.value - start.gap
    where, planes, heights = z, [], []
    for _ in range(PLANES):
        value, slope = of(where)
        if value < best:
            best, z = value, where
        if enough(best, floor):
            break
        planes.append(np.r_[slope, -1.0])
        heights.append(slope @ where - value)
        solved = linprog(
            np.r_[np.zeros(len(lower)), 1.0],
            A_ub=np.array(planes),
            b_ub=np.array(heights),
            bounds=[*zip(lower, upper, strict=True), (None, None)],
        )
        if not solved.success:
            break
        where, floor = solved.x[:-1], max(floor, solved.x[-1])
    return Minimum(z, best, best - floor)
