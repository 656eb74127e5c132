"""Objectives of boosted trees for two classes, by name, with a warm-up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._solvers import (
    ExponentialPush,
    LogisticLikelihood,
    LogisticPush,
    ScoreObjective,
    SmoothAccuracyAtTop,
    SmoothRankStatistic,
    SmoothTopPush,
)
from .._typing import FloatArray
from ..metrics import Exponential
from ._rank_phi import read_phi, sums_over_ranks
from ._two_classes import TwoClasses

__all__ = ["TARGETS", "WarmedUp", "target_of"]

# Maximum step of a leaf, in log-odds: misordered rows with large differences have a gradient but
# almost no curvature, and would give unlimited steps.
LONGEST_STEP = 3.0


def _rank_statistic(ranker: Any, rows: TwoClasses) -> ScoreObjective:
    phi = Exponential(1.0 / ranker.tau) if ranker.phi is None else read_phi(ranker.phi)
    length = float(rows.weight.sum())
    # Jumps within the top are smoothed over half of the top.
    window = max(1.0, 0.5 * ranker.tau * length)
    sums = sums_over_ranks(phi, length)
    return SmoothRankStatistic(rows.positive, rows.weight, sums, window)


def _p_norm_push(ranker: Any, rows: TwoClasses) -> ScoreObjective:
    made = ExponentialPush if ranker.loss == "exponential" else LogisticPush
    return made(rows.positive, rows.weight, float(ranker.p))


# Objectives by name.
TARGETS: dict[str, Callable[[Any, TwoClasses], ScoreObjective]] = {
    "top_push": lambda ranker, rows: SmoothTopPush(rows.positive, rows.weight, ranker.tau),
    "p_norm_push": _p_norm_push,
    "accuracy_at_top": lambda ranker, rows: SmoothAccuracyAtTop(
        rows.positive, rows.weight, ranker.tau
    ),
    "w_phi": _rank_statistic,
    "pairwise_logistic": lambda ranker, rows: LogisticPush(rows.positive, rows.weight, 1.0),
}


def target_of(ranker: Any, rows: TwoClasses) -> ScoreObjective:
    """Make the objective set by the parameters of a ranker."""
    return TARGETS[ranker.target](ranker, rows)


class WarmedUp:
    """Gradient and curvature of the logistic likelihood in the first rounds, then of a target."""

    def __init__(self, target: ScoreObjective, rows: TwoClasses, n_warmup: int) -> None:
        self._target, self._n_warmup = target, n_warmup
        self._likelihood = LogisticLikelihood(rows.positive, rows.weight)
        self._n_rounds, self._first, self._factor = 0, 0.0, 0.0

    def __call__(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and curvature for the next round. Shape (n,)."""
        self._n_rounds += 1
        if self._n_rounds <= self._n_warmup:
            gradient, curvature = self._likelihood.gradient_and_curvature(scores)
            self._first = self._first or float(curvature.sum())
            return gradient, curvature
        gradient, curvature = self._target.gradient_and_curvature(scores)
        curvature = curvature + np.abs(gradient) / LONGEST_STEP
        if self._factor == 0.0:
            self._factor = (self._first or 1.0) / max(float(curvature.sum()), TINY)
        return self._factor * gradient, self._factor * curvature


TINY = np.finfo(np.float64).tiny
