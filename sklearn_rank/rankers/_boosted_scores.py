"""Scores of many stumps at once, by a table of cumulated coefficients for each feature."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._solvers import score_by_tables
from .._typing import FloatArray, IntArray

__all__ = ["StumpScores"]

# Rows scored at a time, so that they stay in the processor's cache.
BLOCK = 2048


class StumpScores:
    """Sum of coefficients times stumps, ``1`` where a feature exceeds a threshold, else 0."""

    def __init__(self, features: IntArray, thresholds: FloatArray, alphas: FloatArray) -> None:
        order = np.lexsort((thresholds, features))
        self.knots = thresholds[order]
        self.features, first = np.unique(features[order], return_index=True)
        self.begin = np.append(first, len(order)).astype(np.int64)
        self.values = np.concatenate(
            [np.zeros(0)]
            + [
                np.append(0.0, np.cumsum(alphas[order[begin:end]]))
                for begin, end in pairwise(self.begin)
            ]
        )

    def scores(self, X: Any) -> FloatArray:
        """Scores of rows. Shape (n,)."""
        if len(self.features) == 0:
            return np.zeros(X.shape[0])
        # Columns without a stump are skipped.
        used = X[:, self.features] if sp.issparse(X) else X
        features = np.arange(len(self.features)) if sp.issparse(X) else self.features
        scores = np.empty(X.shape[0])
        for start in range(0, X.shape[0], BLOCK):
            part = used[start : start + BLOCK]
            block = part.toarray() if sp.issparse(X) else np.array(part, order="C")
            score_by_tables(
                block, features, self.begin, self.knots, self.values, scores[start : start + BLOCK]
            )
        return scores
