"""Boosted trees for any loss of the scores, grown by LightGBM or XGBoost.

This module contains the loop over the rounds. It gets gradient and curvature at the scores of all
rows from an objective, passes them to a backend that grows one tree, and gets the value on
held-out rows from a monitor. A backend only grows trees and scores rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ._boosting_backends import BACKENDS, Objective, Trees, TreeSettings

__all__ = [
    "BoostedFit",
    "Monitor",
    "Objective",
    "TreeSettings",
    "Trees",
    "boost",
    "importances_of",
]

# Minimum curvature of a row, where the initial mean is 1: rows without curvature, such as those
# far on the wrong side of a hinge, would give unlimited steps.
LEAST_CURVATURE = 1e-3


class Monitor(NamedTuple):
    """Evaluation of held-out rows, which ends the fit early."""

    X: Any  # (n_rows, n_features): Held-out rows
    value: Callable[[FloatArray], float]  # Value of their scores, in their order; more is better
    patience: int  # Number of rounds without improvement after which the fit ends


class BoostedFit(NamedTuple):
    """Result of a fit."""

    trees: Trees  # The trees up to the best round
    n_rounds: int  # Number of rounds that were run
    validation_values: FloatArray | None
    train_scores: FloatArray  # (n_rows,): Scores of the rows by these trees


def boost(
    X: Any,
    objective: Objective,
    settings: TreeSettings,
    *,
    base_score: float = 0.0,
    total_weight: float | None = None,
    monitor: Monitor | None = None,
    on_round: Callable[[int, float | None], None] | None = None,
) -> BoostedFit:
    """Grow trees one by one along the gradient of an objective.

    Gradient and curvature are multiplied by one factor, so that the mean curvature at the start is
    1: parameters of the backends that are sums of curvatures then count rows, and the scale of the
    objective does not matter.
    """
    grower = BACKENDS[settings.backend](X, settings, None if monitor is None else monitor.X)
    scaled = _Scaled(objective, base_score, float(total_weight or X.shape[0]))
    values = [] if monitor is None else [monitor.value(grower.validation_scores() + base_score)]
    sizes, best, n_rounds = [0], 0, 0
    while n_rounds < settings.n_estimators:
        grown = grower.grow(scaled)
        n_rounds += 1
        sizes.append(grower.n_trees)
        if monitor is not None:
            value = monitor.value(grower.validation_scores() + base_score)
            values.append(value)
            best = n_rounds if value > values[best] else best
        if on_round is not None:
            on_round(n_rounds, values[-1] if values else None)
        # Without a split the next round would be the same, unless it draws other features.
        if not grown and settings.max_features == 1.0:
            break
        if monitor is not None and n_rounds - best >= monitor.patience:
            break
    kept = sizes[best] if monitor is not None else grower.n_trees
    trees = grower.trees(kept, base_score)
    all_kept = kept == grower.n_trees
    scores = grower.training_scores() + base_score if all_kept else trees.scores(X)
    return BoostedFit(trees, n_rounds, np.array(values) if values else None, scores)


class _Scaled:
    """Objective with a mean curvature of 1 at the start, nowhere less than a floor."""

    def __init__(self, objective: Objective, base_score: float, total_weight: float) -> None:
        self.objective, self.base_score, self.total_weight = objective, base_score, total_weight
        self.factor: float | None = None

    def __call__(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and curvature at the scores of the trees, without the base score."""
        with np.errstate(over="ignore", invalid="ignore"):
            gradient, curvature = self.objective(scores + self.base_score)
        if not (np.isfinite(gradient).all() and np.isfinite(curvature).all()):
            raise ValueError(
                "The loss or its derivatives overflow float64 at the scores of the trees so "
                "far: lower learning_rate, or raise l2_regularization."
            )
        if self.factor is None:
            total = float(curvature.sum())
            if not total > 0.0:
                raise ValueError(
                    f"The curvature of the loss is 0 for all rows (n_samples = {len(scores)}) "
                    "before the first tree, so that no tree can be grown: check labels and ids."
                )
            self.factor = self.total_weight / total
        return gradient * self.factor, np.maximum(curvature * self.factor, LEAST_CURVATURE)


def importances_of(trees: Trees) -> FloatArray:
    """Total gain of the splits of each feature, of sum 1 where there is a split."""
    gain = trees.importances("gain")
    total = gain.sum()
    return gain / total if total > 0 else gain
