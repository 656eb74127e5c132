"""Logistic regression of two classes with an unpenalised intercept."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from .._typing import BoolArray, FloatArray
from ._design import Design
from ._result import SolverResult
from ._ridge_newton import Curvature, minimise_with_ridge

__all__ = ["solve_logistic_regression"]

# Rows of the sample from which a large problem starts.
SAMPLED_ROWS = 20_000

# Relative duality gap of the solution of the sample; that of the whole is what rounding hides.
ROUGH = 1e-6

# Steps of Newton's method, for the coefficients and for the intercept at given ones.
MOST_STEPS = 100


def solve_logistic_regression(
    design: Design, positive: BoolArray, weight: FloatArray, C: float
) -> SolverResult:
    """Minimise ``1 / 2 ||w||**2 + C sum of weight * log(1 + exp(-sign (X w + b)))``."""
    start, stride = None, len(positive) // SAMPLED_ROWS
    if stride >= 2:
        of_positives, of_negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
        sample = np.union1d(of_positives[::stride], of_negatives[::stride])
        rough = _Loss(positive[sample], weight[sample], C * stride)
        found = minimise_with_ridge(design.rows(sample), rough, tol=ROUGH, max_iter=MOST_STEPS)
        start = found.coef
    loss = _Loss(positive, weight, C)
    return minimise_with_ridge(design, loss, tol=0.0, max_iter=MOST_STEPS, start=start)


class _Loss:
    """Sum of the losses of scores at the intercept that is best for them, convex in these."""

    def __init__(self, positive: BoolArray, weight: FloatArray, C: float) -> None:
        self._positive, self._cost = positive, C * weight
        self.scale = float(self._cost.sum())
        self._aim = float(self._cost[positive].sum())
        self._intercept = float(logit(self._aim / self.scale))

    def value_and_slopes(self, scores: FloatArray) -> tuple[float, FloatArray]:
        lifted = scores + self._best_intercept(scores)
        losses = np.logaddexp(0.0, np.where(self._positive, -lifted, lifted))
        return float(self._cost @ losses), self._cost * (expit(lifted) - self._positive)

    def curvature(self, scores: FloatArray) -> Curvature:
        probability = expit(scores + self._best_intercept(scores))
        return _LossCurvature(self._cost * probability * (1.0 - probability))

    def _best_intercept(self, scores: FloatArray) -> float:
        """Solve ``sum of cost * probability = cost of the positives``, by safe Newton steps."""
        middle = float(logit(self._aim / self.scale))
        low, high = middle - float(scores.max()), middle - float(scores.min())
        intercept = min(max(self._intercept, low), high)
        for _ in range(MOST_STEPS):
            probability = expit(scores + intercept)
            excess = float(self._cost @ probability) - self._aim
            if excess > 0:
                high = intercept
            else:
                low = intercept
            steepness = float(self._cost @ (probability * (1.0 - probability)))
            step = excess / steepness if steepness > 0 else np.inf
            if not low <= intercept - step <= high:
                step = intercept - 0.5 * (low + high)
            intercept -= step
            if abs(step) <= 1e-14 * (1.0 + abs(intercept)):
                break
        self._intercept = intercept
        return intercept


class _LossCurvature:
    """Second derivatives: a variance, since the intercept follows the scores."""

    is_exact = True

    def __init__(self, diagonal: FloatArray) -> None:
        self.diagonal = diagonal
        total = max(float(diagonal.sum()), np.finfo(np.float64).tiny)
        self.subtracted = [diagonal / np.sqrt(total)]

    def product(self, direction: FloatArray) -> FloatArray:
        (vector,) = self.subtracted
        return np.asarray(self.diagonal * direction - vector * (vector @ direction))
