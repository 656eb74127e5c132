"""Levels of limits that hold together, and measures of segments, from their definitions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm


def correlation_by_leaving_out(values_of, n):
    """Correlation of statistics by the jackknife over units: ``values_of(kept)`` for each."""
    everything = np.arange(n)
    values = np.array([values_of(np.delete(everything, i)) for i in range(n)])
    return np.corrcoef(values.T)


def level_of_each(correlation, level):
    """The level of each limit, so that all of them hold with probability ``level``."""
    k = len(correlation)

    def excess(c):
        inside = multivariate_normal(np.zeros(k), correlation, allow_singular=True)
        return inside.cdf(np.full(k, c), lower_limit=np.full(k, -c)) - level

    return 2.0 * norm.cdf(brentq(excess, 1.0, 6.0, xtol=1e-4)) - 1.0


def recall_of_segment(positive, score, k, inside):
    """Share of the positives of a segment that are among the first k of all rows, without ties."""
    first = np.argsort(-score)[:k]
    return np.mean(np.isin(np.flatnonzero(positive & inside), first))


def precision_of_segment(positive, score, k, inside):
    """Share of positives among the rows of a segment that are among the first k of all rows."""
    first = np.argsort(-score)[:k]
    return positive[first][inside[first]].mean()


def auc_of_segment(positive, score, inside):
    """Share of pairs of a positive of a segment and any negative that are in order."""
    return np.mean(score[positive & inside][:, None] > score[~positive])
