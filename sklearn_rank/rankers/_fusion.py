"""Scores of several rankers, made comparable within each query and averaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize

from .._lists import Lists
from .._typing import FloatArray
from ..preprocessing import QueryNormalizer

__all__ = ["FUSIONS", "Fusion", "fitted_weights"]

# How the scores of one member are made comparable with those of others.
FUSIONS = ("zscore", "rank", "minmax", "reciprocal_rank")

# Positions that are added before reciprocals are taken; Cormack, Clarke and Büttcher (2009).
ADDED = 60.0


# Scores that differ by less than this share of the greatest of the training rows are level.
EQUAL = 2.0**-30


class Fusion:
    """Scores of members, each on one scale within each query."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.normalizer = QueryNormalizer("rank" if name == "reciprocal_rank" else name)

    def fit(self, scores: FloatArray, qid: Any, sample_weight: Any) -> Fusion:
        """Learn the statistics of the scores of a single list; nothing for several lists."""
        largest = np.abs(scores).max(axis=0, initial=0.0, where=np.isfinite(scores))
        self.step = np.where(largest > 0, largest, 1.0) * EQUAL
        self.normalizer.fit(self._rounded(scores), qid=qid, sample_weight=sample_weight)
        self.n_rows = len(scores) if sample_weight is None else sample_weight.sum()
        return self

    def _rounded(self, scores: FloatArray) -> FloatArray:
        """Scores to be ranked, of equal rows equal wherever these stand in a matrix."""
        if self.normalizer.method != "rank":
            return scores
        return np.rint(scores / self.step)

    def values(self, scores: FloatArray, qid: Any, sample_weight: Any = None) -> FloatArray:
        """Put scores on one scale. Shape (n_samples, n_members)."""
        scores = self._rounded(scores)
        found = self.normalizer.transform(scores, qid=qid, sample_weight=sample_weight)
        if self.name != "reciprocal_rank":
            return found
        if qid is None:
            length: Any = self.n_rows
        else:
            _, code = np.unique(np.broadcast_to(np.ravel(qid), len(scores)), return_inverse=True)
            length = np.bincount(code, sample_weight)[code][:, np.newaxis]
        # The share below less the share above is a linear function of the position.
        position = (length + 1.0 - length * found) / 2.0
        return 1.0 / (ADDED + position)


def fitted_weights(values: FloatArray, lists: Lists) -> FloatArray:
    """Weights of members, from 0 and of sum 1, by which their mean is nearest to the utilities.

    They minimise the mean over the queries of the mean over their rows of ``(values w - v)**2``,
    with the utilities v standardised within each query.
    """
    utilities = lists.grade[:, np.newaxis]
    normalizer = QueryNormalizer()
    target = normalizer.fit_transform(utilities, qid=lists.list_of, sample_weight=lists.weight)
    by_list = 1.0 / lists.sizes
    if lists.query_weight is not None:
        by_list = by_list * lists.query_weight
    root = np.sqrt(lists.to_items(by_list / lists.n_lists) * lists.counts)[:, np.newaxis]
    # With weights of sum 1 the residual is linear, and the nearest point to 0 of the hull of the
    # members' residuals is, but for its length, the solution with a further row of ones.
    residual = root * (values - target)
    gram = residual.T @ residual + 1.0
    factor = np.linalg.cholesky(gram + 1e-12 * np.trace(gram) * np.eye(len(gram)))
    ones = np.linalg.solve(factor, np.ones(len(gram)))
    found, _ = scipy.optimize.nnls(factor.T, ones)
    return found / found.sum()
