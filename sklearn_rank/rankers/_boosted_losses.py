"""Losses of queries as objectives of boosted trees, and measures of held-out queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from .._lists import Lists, ScoredLists
from .._typing import FloatArray
from .._warn import collected, warn
from ..losses import TemplateLoss
from ..losses._shared import ThreadedLoss
from ..metrics import Measure
from ._row_keys import feature_keys

__all__ = ["LossObjective", "MeasureOfScores", "in_canonical_order"]


# Number of random sign vectors for estimating the curvature of a loss without second derivatives.
N_DRAWS = 4


class LossObjective:
    """Loss of lists as an objective of trees."""

    def __init__(self, loss: TemplateLoss, lists: Lists, n_threads: int) -> None:
        self.loss, self.lists = loss, lists
        self.on_lists = ThreadedLoss(loss, lists, n_threads)
        self.constant = None if loss.has_curvature else self._secant_curvature()

    def __call__(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and curvature, the latter nowhere negative."""
        if self.constant is not None:
            return self.on_lists.value_and_gradient(score)[1], self.constant
        gradient, curvature = self.on_lists.gradient_and_curvature(score)
        return gradient, np.maximum(curvature, 0.0)

    def value(self, score: FloatArray) -> float:
        """Sum over the lists."""
        return float(self.on_lists.value_and_gradient(score)[0].sum())

    def base_score(self) -> float:
        """Constant score that minimises the loss; 0 if the loss does not depend on it."""
        if self.loss.is_translation_invariant:
            return 0.0

        def slope(score: float) -> float:
            every = np.full(len(self.lists.labels), score)
            return float(self.on_lists.value_and_gradient(every)[1].sum())

        low, high = -1.0, 1.0
        # If all utilities are at the upper limit, the loss has no minimum.
        while slope(low) > 0.0 and low > -32.0:
            low *= 2.0
        while slope(high) < 0.0 and high < 1e9 * (1.0 + self.lists.grade.max()):
            high *= 2.0
        if not slope(low) <= 0.0 <= slope(high):
            return 0.0
        return float(brentq(slope, low, high, rtol=1e-12))

    def _secant_curvature(self) -> FloatArray:
        """Mean curvature of the items of each list between scores that differ by about 1.

        For random signs z the mean of z'(g(z) - g(-z)) / 2 is the sum of the second derivatives of
        a quadratic loss (Hutchinson, 1990).
        """
        random = np.random.default_rng(0)
        total = np.zeros(self.lists.n_lists)
        for _ in range(N_DRAWS):
            signs = random.choice([-1.0, 1.0], len(self.lists.labels))
            rises = (self.on_lists.value_and_gradient(side)[1] for side in (signs, -signs))
            total += self.lists.totals(signs * np.subtract(*rises)) / (2 * N_DRAWS)
        mean = np.maximum(total, 0.0) / self.lists.sizes
        return np.asarray(self.lists.to_items(mean) * self.lists.counts)


class MeasureOfScores:
    """Value of a measure for changing scores of the same rows."""

    def __init__(self, measure: Measure, lists: ScoredLists, n_rows: int) -> None:
        self.measure, self.lists, self.n_rows = measure, lists, n_rows

    def __call__(self, score: FloatArray) -> float:
        """Value of these scores, by which more is better."""
        with collected() as told:
            value = self.measure.of_lists(self.lists.scored_by(score, (self.n_rows,)))
        if np.isnan(value):
            raise ValueError(
                f"{self.measure.name} is undefined for all held-out queries: hold out more "
                "queries by validation_fraction=, or pass X_val=, y_val= and qid_val=."
            )
        for message, category in told:
            warn(message, category)
        return float(value if self.measure.greater_is_better else -value)


def in_canonical_order(X: Any, lists: Lists) -> tuple[Any, Lists]:
    """Order the rows of each list by their content, independent of their given order.

    Sums of floating-point numbers depend on the order, and the choice between two equal splits on
    such sums.
    """
    rows = np.arange(len(lists.labels)) if lists.rows is None else lists.rows
    key = feature_keys(X)[rows]
    order = np.lexsort((key, lists.counts, lists.grade, lists.list_of))
    rows = rows[order]
    lists = replace(
        lists,
        labels=lists.labels[order],
        weight=None if lists.weight is None else lists.weight[order],
        rows=rows,
    )
    if X.shape[0] == len(rows) and np.array_equal(rows, np.arange(len(rows))):
        return X, lists
    return X[rows], lists
