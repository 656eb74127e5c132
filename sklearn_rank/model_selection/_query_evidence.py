"""Limits for several candidates from the queries of held-out parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtrit

from .._typing import FloatArray
from ..bounds import Bound
from ..bounds._shared import kl_limits
from ..inference._shared import JointEstimate, joint_query_means, query_values_of
from ..metrics import Measure
from ._evidence import Evidence, each_of, with_prior_shares
from ._fold_theorems import FITTED_APART, chernoff_fold_bound, fold_target, fold_widths

__all__ = ["QueryEvidence", "query_evidence"]

QUERIES = "queries are independent and of one distribution"
THEOREMS = {
    "hoeffding": "Hoeffding (1963), Theorem 2",
    "kl": "Hoeffding (1963), Theorem 1",
    "bernstein": "Maurer & Pontil (2009), Theorem 4",
}

# Standard errors smaller than this, relative to the mean, are due to rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class QueryEvidence(Evidence):
    """Values of several candidates on the queries of held-out parts."""

    of_queries: ClassVar[bool] = True

    measure: Measure  # A mean over queries
    samples: Sequence[FloatArray]
    disjoint: Sequence[int] | None = None  # As for :class:`Evidence`
    chance: float | None = None  # Mean over the parts of a random order

    @cached_property
    def joint_estimates(self) -> list[JointEstimate]:
        """Means of the candidates over the queries of each part, and how they vary together."""
        return [joint_query_means(sample, self.length) for sample in self.samples]

    @cached_property
    def _query_counts(self) -> list[int]:
        return [sample.shape[1] for sample in self.samples]

    @property
    def _degrees(self) -> int:
        """Degrees of freedom of the variance: at least those of the parts that are independent."""
        degrees = [count - 1 for count in self._query_counts]
        if self.disjoint is None:
            return sum(degrees)
        return min(degree * size for degree, size in zip(degrees, self.disjoint, strict=True))

    def fewest(self) -> str:
        """Say how many queries the smallest part has. Their number."""
        return f"{min(self._query_counts)} queries"

    def counts(self) -> str:
        """Say how many queries there are."""
        return each_of(self._query_counts, "queries")

    def widths(self, method: str, deltas: FloatArray) -> FloatArray:
        """Distances of the lower limits from the means, each failing with its own delta.

        Shape (n_candidates,).
        """
        logs = -np.log(deltas)
        if method == "hoeffding":
            shares = self._hoeffding(logs)
        elif method == "bernstein":
            shares = self._bernstein(logs)
        else:
            means = np.clip((self.means - self.measure.counted_range[0]) / self.length, 0.0, 1.0)
            if self.n_parts > 1:
                shares = fold_widths(means, min(self._query_counts), deltas)
            else:
                shares = means - kl_limits(means, logs / self._query_counts[0])[0]
        return self.length * shares

    def _hoeffding(self, logs: FloatArray) -> FloatArray:
        parts = [np.minimum(np.sqrt(logs / (2.0 * n)), 1.0) for n in self._query_counts]
        return np.mean(parts, axis=0)

    def _bernstein(self, logs: FloatArray) -> FloatArray:
        # The parts share delta: each of their own limits holds.
        logs = logs + log(2.0 * self.n_parts)
        parts = []
        for sample, n in zip(self.samples, self._query_counts, strict=True):
            variance = sample.var(axis=1, ddof=1) / self.length**2
            parts.append(np.sqrt(2.0 * variance * logs / n) + 7.0 * logs / (3.0 * (n - 1.0)))
        return np.mean(np.minimum(parts, 1.0), axis=0)

    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Student's limits, with the variance that queries of equal values may have hidden."""
        variance = np.diag(self.covariance)
        rounding = (ROUNDING * np.abs(self.means)) ** 2
        variance = np.where(variance > rounding, variance, np.diag(self.regularized_covariance))
        reach = -stdtrit(self._degrees, tails) * np.sqrt(variance)
        low, high = self.measure.counted_range
        return np.maximum(self.means - reach, low), np.minimum(self.means + reach, high)

    def bound(
        self, method: str, candidate: int, delta: float, weights: FloatArray, n_candidates: int
    ) -> Bound:
        """Make the bound for a candidate that was chosen by its scores."""
        name = self.measure.name
        value = float(self.widths(method, delta * weights)[candidate])
        folds = self.n_parts > 1
        if method == "kl" and folds:
            return chernoff_fold_bound(value, delta, name, conditioned_on="", items=QUERIES)
        chosen = f"mean {name} - expected {name} of the chosen model"
        stated = Bound(
            value=value,
            theorem=f"{THEOREMS[method]}{', for folds' if folds else ''}, for all candidates",
            target=fold_target(name) if folds else chosen,
            delta=delta,
            assumptions=(FITTED_APART, QUERIES),
        )
        return with_prior_shares(stated, value, weights * n_candidates)


def query_evidence(
    measure: Measure,
    y_true: Sequence[Any],
    scores: Sequence[Sequence[FloatArray]],
    qid: Sequence[Any],
    disjoint: Sequence[int] | None = None,
    pos_label: Any = None,
    with_chance: bool = False,
) -> QueryEvidence:
    """Evaluate the candidates on the queries of each part."""
    samples, tied = [], []
    with_chance = with_chance and measure.is_mean_over_ties
    for y, of_part, ids in zip(y_true, scores, qid, strict=True):
        named = {str(candidate): score for candidate, score in enumerate(of_part)}
        found = query_values_of(measure, y, named, qid=ids, pos_label=pos_label)
        samples.append(np.stack([one.values for one in found.values()]))
        if with_chance:
            # The mean over the orders of tied items, all of which are tied.
            zeros = {"tied": np.zeros(len(ids))}
            one = query_values_of(measure, y, zeros, qid=ids, pos_label=pos_label)["tied"]
            tied.append(one.values.mean())
    chance = float(np.mean(tied)) if with_chance else None
    return QueryEvidence(measure, samples, disjoint, chance)
