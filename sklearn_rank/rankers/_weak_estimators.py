"""User-supplied estimators as weak rankers, with scores scaled to [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._solvers import Found
from .._typing import AnyArray, FloatArray
from ..metrics._shared import ranking_scores
from ._two_classes import TwoClasses
from ._weighted_base import fit_with_weights

__all__ = ["EstimatorRanking", "FittedEstimators"]


@dataclass(frozen=True, eq=False)
class EstimatorRanking:
    """Score of a fitted estimator, scaled to the range of the training rows."""

    estimator: Any  # Classifier of 0 and 1, or regressor
    low: float  # Least score of the training rows
    range: float  # Their largest score less the least

    def values(self, X: Any) -> AnyArray:
        """Values on rows, cut off at 0 and 1."""
        return self.scaled(ranking_scores(self.estimator, X, 1))

    def scaled(self, scores: Any) -> AnyArray:
        """Scale scores of the estimator; without a range all are 0."""
        if self.range == 0.0:
            return np.zeros(len(scores))
        return np.clip((np.asarray(scores, dtype=np.float64) - self.low) / self.range, 0.0, 1.0)


class FittedEstimators:
    """Fits of an estimator to rows under changing weights."""

    is_exact = False

    def __init__(self, estimator: Any, X: Any, rows: TwoClasses, random: Any) -> None:
        self._estimator, self._matrix = estimator, X
        self._label = rows.positive.astype(np.int64)
        self._random = random

    def best(self, signed: FloatArray) -> Found | None:
        """Fit a clone to the rows, weighted by their shares of the pairs, 1 in the mean."""
        weight = np.abs(signed) * (len(signed) / 2.0)
        fresh = clone(self._estimator)
        if self._random is not None:
            fresh.set_params(**_seeds(fresh, self._random))
        fitted = fit_with_weights(fresh, self._matrix, self._label, weight)
        scores = np.asarray(ranking_scores(fitted, self._matrix, 1), dtype=np.float64)
        low = float(scores.min())
        ranking = EstimatorRanking(fitted, low, float(scores.max()) - low)
        values = ranking.scaled(scores)
        return Found(ranking, values, float(signed @ values))


def _seeds(estimator: Any, random: Any) -> dict[str, int]:
    """Draw a value of each parameter that is a seed."""
    return {
        name: int(random.randint(np.iinfo(np.int32).max))
        for name in sorted(estimator.get_params(deep=True))
        if name.rpartition("__")[2] == "random_state"
    }
