"""Limits for several candidates from held-out parts, and their joint covariance.

Each part is scored by models that were fitted without it. The target is the mean over the parts of
the expected measure of a candidate's models; with one part it is that of one model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import sklearn.metrics

from .._typing import FloatArray
from ..bounds import Bound
from ..inference._shared import JointEstimate
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike

__all__ = [
    "ASYMPTOTIC",
    "Evidence",
    "each_of",
    "measure_with_limits",
    "methods_of",
    "spread_of",
    "with_prior_shares",
]

# The limits of all candidates from their joint normal distribution.
ASYMPTOTIC = "max-t"


def measure_with_limits(measure: MeasureLike) -> Measure:
    """Read a measure that has lower limits and for which greater is better."""
    found = _read(measure)
    if not found.greater_is_better:
        raise ValueError(
            f"measure={found.name!r} is a loss, but lower limits need a measure for which greater"
            " is better: pass the negated function to make_measure."
        )
    if not found.per_query and found.kind == "graded":
        raise ValueError(
            f"measure={found.name!r} is a measure of one list of grades, which has no lower"
            " limits: pass 'auc' or a mean over queries, such as 'ndcg@10'."
        )
    if not found.per_query and not found.has_influence:
        raise ValueError(
            f"measure={found.name!r} has no influence function, so it has no lower limits: pass"
            " 'auc', a mean over queries, such as 'ndcg@10', or a measure with an influence"
            " function; sklearn_rank.inference has intervals for other measures of one list."
        )
    return found


def spread_of(counts: Sequence[int]) -> str:
    """Say numbers of items of several parts. The smallest and the largest."""
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def each_of(counts: Sequence[int], items: str) -> str:
    """Say numbers of items of several parts, and of what."""
    return f"{spread_of(counts)} {items}" + (" each" if len(counts) > 1 else "")


def _read(measure: MeasureLike) -> Measure:
    """Read a measure, with a hint for scikit-learn scores that are no ranking measures."""
    try:
        return get_measure(measure)
    except ValueError as error:
        if isinstance(measure, str) and measure in sklearn.metrics.get_scorer_names():
            raise ValueError(
                f"measure={measure!r} is scikit-learn's score of predicted labels or numbers, not"
                " of a ranking: pass 'auc', 'ap', 'precision@top0.1' or 'ndcg@10'."
            ) from error
        raise


def methods_of(measure: Measure, of_queries: bool) -> tuple[str, ...]:
    """Find the theorems that give lower limits. Their names."""
    return measure.theorems if measure.per_query == of_queries else ()


class Evidence(ABC):
    """Values of several candidates on held-out parts, and their limits.

    Asymptotic statements take parts without common items as independent. The mean of K parts is
    that of the means of the classes, in proportion to their sizes. By convexity of ``x x'`` it
    varies no more, in any direction and whatever the dependence of the classes, than these do on
    the average: part j of a class of ``K_j`` enters with its covariance over ``K K_j``.
    """

    measure: Measure
    disjoint: Sequence[int] | None
    of_queries: ClassVar[bool] = False
    of_new_data: ClassVar[str] = "expected"

    @cached_property
    @abstractmethod
    def joint_estimates(self) -> list[JointEstimate]:
        """Values of the candidates on each part, and how they vary together."""

    @property
    @abstractmethod
    def chance(self) -> float | None:
        """Value of the measure for a random order; None if it is unknown."""

    @abstractmethod
    def fewest(self) -> str:
        """Say the number of items that guarantees depend on, of the smallest part."""

    @abstractmethod
    def counts(self) -> str:
        """Say how many items there are."""

    @abstractmethod
    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Asymptotic limits, each of which fails with the given probability."""

    def widths(self, method: str, deltas: FloatArray) -> FloatArray:
        """Distances of the lower limits from the means, each failing with its own delta.

        Non-negative widths. Shape (n_candidates,).
        """
        raise ValueError(f"method={method!r} does not support {self.measure.name}.")

    def usual_method(self, method: str, delta: float, n_candidates: int) -> str:
        """Default method, which must not depend on the scores."""
        return "hoeffding" if method == "kl" and self.n_parts > 1 else method

    def bound(
        self, method: str, candidate: int, delta: float, weights: FloatArray, n_candidates: int
    ) -> Bound:
        """Make the bound for a candidate that was chosen by its scores."""
        raise ValueError(f"method={method!r} does not support {self.measure.name}.")

    @cached_property
    def values(self) -> FloatArray:
        """Value of each candidate on each part."""
        return np.array([one.estimates for one in self.joint_estimates]).T

    @cached_property
    def means(self) -> FloatArray:
        """Mean over the parts of each candidate's value."""
        return self.values.mean(axis=1)

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the means; NaN with one item of a class in a part."""
        return self._joined([one.covariance for one in self.joint_estimates])

    @cached_property
    def regularized_covariance(self) -> FloatArray:
        """Covariance with half an item added at either end, never singular."""
        return self._joined([one.regularized for one in self.joint_estimates])

    @cached_property
    def n_effective(self) -> float:
        """Effective number of items of the means: a harmonic mean."""
        return 1.0 / float(self._joined([1.0 / one.n_effective for one in self.joint_estimates]))

    def _joined(self, of_parts: Sequence[Any]) -> Any:
        """Variances of the mean over the parts, or an upper bound of them, from those of each."""
        sizes = [self.n_parts] * self.n_parts if self.disjoint is None else self.disjoint
        return sum(one / (self.n_parts * size) for one, size in zip(of_parts, sizes, strict=True))

    @property
    def n_parts(self) -> int:
        """Number of held-out parts."""
        return self.values.shape[1]

    @property
    def length(self) -> float:
        """Length of the range of the measure; may be infinite."""
        low, high = self.measure.counted_range
        return high - low

    def lower(self, method: str, deltas: FloatArray) -> FloatArray:
        """Lower limits for the expected means, each failing with its own delta.

        Shape (n_candidates,).
        """
        if method == ASYMPTOTIC:
            return self.asymptotic_limits(deltas)[0]
        return np.maximum(self.means - self.widths(method, deltas), self.measure.counted_range[0])


def with_prior_shares(stated: Bound, value: float, shares: FloatArray) -> Bound:
    """Restate a bound with equal parts of delta for unequal parts."""
    if np.allclose(shares, 1.0, rtol=1e-12, atol=0.0):
        return stated
    return replace(
        stated,
        value=value,
        theorem=f"{stated.theorem}, each candidate with its prior share of delta",
        assumptions=(*stated.assumptions, "the prior weights do not depend on the data"),
    )
