"""A convex loss of linear scores with a ridge penalty, as a function of the coefficients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from .._typing import FloatArray
from ._contracts import LossOfScores
from ._design import Design
from ._scales import Coordinates, row_sums

__all__ = [
    "LinearProblem",
    "PenalisedLoss",
    "Quadratic",
    "loss_and_gradient",
    "loss_curvature",
    "loss_product",
    "quadratic_expansion",
    "scores_of",
]

# Number of parameters up to which a matrix of them is factorised, a preconditioner.
LARGEST_FACTOR = 1000

# Half the distance of the intercepts between which the curvature of a loss is taken: losses with a
# margin may have none at a point.
STEP = 0.5

# Steps in the intercept alone, and the decrease that they leave, relative to the objective.
INTERCEPT_STEPS, SETTLED = 30, 1e-15


@dataclass(frozen=True, eq=False)
class Quadratic:
    """A convex quadratic function ``p' A p / 2 - c' p`` of the parameters p."""

    curvature: FloatArray  # (n_parameters, n_parameters): A, positive semidefinite
    slope: FloatArray  # (n_parameters,): The vector c


def scores_of(items: Design, parameters: FloatArray) -> FloatArray:
    """Score items. Shape (n_items,)."""
    n_features = items.shape[1]
    scores = items.scores(parameters[:n_features])
    return scores if len(parameters) == n_features else scores + parameters[-1]


def loss_and_gradient(
    items: Design, loss: LossOfScores, parameters: FloatArray
) -> tuple[float, FloatArray]:
    """Sum of the loss of items, and its gradient."""
    values, by_score = loss.value_and_gradient(scores_of(items, parameters))
    return float(values.sum()), _pulled_back(items, by_score, len(parameters))


def loss_product(
    items: Design, loss: LossOfScores, scores: FloatArray, direction: FloatArray
) -> FloatArray:
    """Product of the second derivatives of the loss of items with a direction.

    Shape (n_parameters,).
    """
    by_score = loss.hessian_product(scores, scores_of(items, direction))
    return _pulled_back(items, by_score, len(direction))


def loss_curvature(
    items: Design, loss: LossOfScores, scores: FloatArray, n_parameters: int
) -> FloatArray:
    """Second derivatives of the loss of items, without those by the scores of two items.

    A positive semidefinite matrix. Shape (n_parameters, n_parameters).
    """
    n_features = items.shape[1]
    weight = np.maximum(loss.curvature(scores), 0.0)
    matrix = np.empty((n_parameters, n_parameters))
    matrix[:n_features, :n_features] = items.gram(weight)
    if n_parameters > n_features:
        matrix[-1] = matrix[:, -1] = _pulled_back(items, weight, n_parameters)
    return matrix


def _pulled_back(items: Design, by_score: FloatArray, n_parameters: int) -> FloatArray:
    by_feature = items.pull_back(by_score)
    if n_parameters == len(by_feature):
        return by_feature
    return np.append(by_feature, by_score.sum())


class PenalisedLoss(ABC):
    """A convex loss of linear scores, wherever its rows are, with a ridge penalty.

    The parameters are the coefficients w, with the intercept b last where there is one.
    """

    loss: Any  # The loss, or what it says of itself
    alpha: float  # Penalty, at least 0
    fit_intercept: bool  # Whether there is b, which is not penalised; else it is 0
    quadratic: Quadratic | None = None  # A function of the parameters that is added
    bends: FloatArray | None = None

    # The preconditioner costs as much as many products.
    preconditioned_at_once = False

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of coefficients."""

    @abstractmethod
    def scores(self, parameters: FloatArray) -> Any:
        """Scores of the rows, or what stands for them where second derivatives are taken."""

    @abstractmethod
    def _loss_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Sum of the loss, and its gradient."""

    @abstractmethod
    def _loss_product(self, scores: Any, direction: FloatArray) -> FloatArray:
        """Product of the second derivatives of the loss with a direction."""

    @abstractmethod
    def _loss_curvature(self, scores: Any) -> FloatArray:
        """Second derivatives of the loss but for those by the scores of two items."""

    @abstractmethod
    def _row_sums(self, origin: FloatArray | None) -> tuple[float, FloatArray, FloatArray]:
        """Number of rows, and sums of them and of their squares, moved by an origin."""

    @property
    def n_parameters(self) -> int:
        """Number of coefficients, and one for the intercept."""
        return self.n_features + self.fit_intercept

    @cached_property
    def coordinates(self) -> Coordinates:
        """Coordinates in which the second derivatives by each parameter are about 1.

        With an intercept, features are taken about their means.
        """
        origin, bend = None, 1.0
        bends = np.zeros(self.n_features) if self.bends is None else self.bends
        if self.fit_intercept:
            n_rows, sums, _ = self._row_sums(None)
            origin = sums / n_rows
            variances = self._row_sums(origin)[2] / n_rows
            ends = [np.append(np.zeros(self.n_features), b) for b in (-STEP, STEP)]
            below, above = (self._loss_and_gradient(end)[1][-1] for end in ends)
            bend = max((above - below) / (2 * STEP), 0.0) or 1.0
            bends = bend * variances
        squares = np.append(bends + self.alpha, [bend] * self.fit_intercept)
        if self.quadratic is not None:
            plain = Coordinates(np.ones(self.n_parameters), np.zeros(0), origin)
            squares += np.maximum(np.diag(plain.matrix(self.quadratic.curvature)), 0.0)
        known = self.bends is not None or self.fit_intercept
        scale = np.sqrt(np.where(squares > 0, squares, 1.0)) if known else np.ones(len(squares))
        penalty = np.zeros(self.n_parameters)
        penalty[: self.n_features] = self.alpha / scale[: self.n_features] ** 2
        return Coordinates(scale, penalty, origin)

    def split(self, parameters: FloatArray) -> tuple[FloatArray, float]:
        """Take coefficients and intercept out of parameters."""
        intercept = float(parameters[-1]) if self.fit_intercept else 0.0
        return parameters[: self.n_features], intercept

    def lower_bound(self, parameters: FloatArray, value: float, gradient: FloatArray) -> float:
        """Bound the minimum of the objective from below by its strong convexity.

        With an intercept, the minimum over it alone is a strongly convex function of w; it is
        reached by steps in the intercept.
        """
        if not self.alpha > 0:
            return float("nan")
        if self.fit_intercept:
            found = self._with_best_intercept(parameters, value, gradient)
            if found is None:
                return float("nan")
            value, gradient = found
        # At the best intercept, that about the mean row is the same and has less rounding.
        coordinates = self.coordinates
        by_coef = (coordinates.gradient(gradient) * coordinates.scale)[: self.n_features]
        return value - float(by_coef @ by_coef) / (2 * self.alpha)

    def _with_best_intercept(
        self, parameters: FloatArray, value: float, gradient: FloatArray
    ) -> tuple[float, FloatArray] | None:
        """Minimise over the intercept; return the least value it can have, and the gradient."""
        bend = float(self.coordinates.scale[-1] ** 2)
        for _ in range(INTERCEPT_STEPS):
            slope = float(gradient[-1])
            there = parameters.copy()
            there[-1] -= slope / bend
            # A step that rounding of the intercept hides is none.
            if slope * slope <= SETTLED * abs(value) * bend or there[-1] == parameters[-1]:
                return value - slope * slope / bend, gradient
            if not np.isfinite(there[-1]):
                return None
            new_value, new_gradient = self.value_and_gradient(there)
            change = float(new_gradient[-1]) - slope
            # Of a convex function between two points: their secant bends as it does.
            bend = max(change / (there[-1] - parameters[-1]), 1e-3 * bend)
            parameters, value, gradient = there, new_value, new_gradient
        return None

    def value_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Value of the objective, and its gradient."""
        value, gradient = self._loss_and_gradient(parameters)
        penalty = self._curvature_of_penalty(parameters)
        value = float(value + 0.5 * penalty @ parameters)
        gradient = gradient + penalty
        if self.quadratic is None:
            return value, gradient
        slope = self.quadratic.slope
        return value - float(slope @ parameters), gradient - slope

    def hessian_product(self, scores: Any, direction: FloatArray) -> FloatArray:
        """Product of the second derivatives with a direction. Shape (n_parameters,)."""
        return self._loss_product(scores, direction) + self._curvature_of_penalty(direction)

    def preconditioner(self, scores: Any) -> Callable[[FloatArray], FloatArray] | None:
        """Solver of the system that keeps the diagonal of the loss's second derivatives alone."""
        if self.n_parameters > LARGEST_FACTOR or not self.loss.has_curvature:
            return None
        matrix = self._loss_curvature(scores)
        if self.quadratic is not None:
            matrix += self.quadratic.curvature
        np.einsum("ii->i", matrix)[: self.n_features] += self.alpha
        matrix = self.coordinates.matrix(matrix)
        diagonal = np.einsum("ii->i", matrix)
        diagonal += 1e-12 * diagonal + np.finfo(np.float64).tiny
        try:
            factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        return lambda residual: scipy.linalg.cho_solve(factor, residual, check_finite=False)

    def _curvature_of_penalty(self, direction: FloatArray) -> FloatArray:
        """Product of the second derivatives of all but the loss with a direction."""
        product = self.alpha * direction
        if self.fit_intercept:
            product[-1] = 0.0
        return (
            product if self.quadratic is None else product + self.quadratic.curvature @ direction
        )


@dataclass(frozen=True, eq=False)
class LinearProblem(PenalisedLoss):
    """Minimise ``sum(loss(X w + b)) + alpha / 2 ||w||**2`` over w and b."""

    design: Design  # The rows X
    loss: LossOfScores  # Convex loss of the scores
    alpha: float  # Penalty, at least 0
    fit_intercept: bool = False  # Whether there is b, which is not penalised; else it is 0
    quadratic: Quadratic | None = None
    bends: FloatArray | None = None

    @property
    def n_features(self) -> int:
        """Number of coefficients."""
        return self.design.shape[1]

    def scores(self, parameters: FloatArray) -> FloatArray:
        """Score the rows. Shape (n_rows,)."""
        return scores_of(self.design, parameters)

    def _loss_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        return loss_and_gradient(self.design, self.loss, parameters)

    def _loss_product(self, scores: FloatArray, direction: FloatArray) -> FloatArray:
        return loss_product(self.design, self.loss, scores, direction)

    def _loss_curvature(self, scores: FloatArray) -> FloatArray:
        return loss_curvature(self.design, self.loss, scores, self.n_parameters)

    def _row_sums(self, origin: FloatArray | None) -> tuple[float, FloatArray, FloatArray]:
        return row_sums(self.design, self.loss, origin)


def quadratic_expansion(problem: LinearProblem, parameters: FloatArray) -> Quadratic:
    """Second-order expansion of the sum of losses, without penalty and other terms."""
    of_loss = LinearProblem(problem.design, problem.loss, 0.0, problem.fit_intercept)
    score = of_loss.scores(parameters)
    units = np.eye(of_loss.n_parameters)
    curvature = np.stack([of_loss.hessian_product(score, unit) for unit in units])
    curvature = 0.5 * (curvature + curvature.T)
    slope = curvature @ parameters - of_loss.value_and_gradient(parameters)[1]
    return Quadratic(curvature, slope)
