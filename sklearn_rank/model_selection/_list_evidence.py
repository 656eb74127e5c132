"""Limits from held-out lists of two classes: influence of the items, theorems of the AUC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from .._typing import BoolArray, FloatArray
from ..bounds import Bound, auc_bound, auc_fold_mean_bound
from ..bounds._shared import wilson_score_limits
from ..inference._shared import (
    JointEstimate,
    auc_score_limits,
    design_effect,
    joint_influence,
    midp_limits,
    sample_moments,
    unseen_effect,
)
from ..metrics import Measure, get_measure
from ..metrics._shared import ClassInfluence
from ._evidence import Evidence, each_of, spread_of, with_prior_shares
from ._fold_theorems import chernoff_fold_bound, fold_widths

__all__ = ["ITEMS", "LABELS", "AUCEvidence", "ListEvidence", "influence_of_list", "is_auc"]

AUC = get_measure("auc")
LABELS = "the labels"
ITEMS = "items are independent given their labels"


def is_auc(measure: Measure) -> bool:
    """Whether a measure of one list is the AUC."""
    return measure == get_measure("auc", undefined=measure.undefined, rel=measure.rel)


def influence_of_list(measure: Measure, positive: BoolArray, score: FloatArray) -> ClassInfluence:
    """Compute the influence of each item of one list on a measure."""
    found = measure.influence(measure.lists(positive.astype(np.int64), score))
    if found is None or not isfinite(found.estimate):
        raise ValueError(
            f"{measure.name} has no value for a held-out part of {np.count_nonzero(positive)}"
            f" positives and {np.count_nonzero(~positive)} negatives: pass larger parts."
        )
    return found


@dataclass(frozen=True, eq=False)
class ListEvidence(Evidence):
    """Values of several candidates on held-out lists, whose influence is known."""

    of_new_data: ClassVar[str] = "population"

    positive: Sequence[BoolArray]
    scores: Sequence[Sequence[FloatArray]]  # For each part the scores of each candidate
    measure: Measure
    disjoint: Sequence[int] | None = None  # As for :class:`Evidence`

    @cached_property
    def _influences(self) -> list[list[ClassInfluence]]:
        return [
            [influence_of_list(self.measure, positive, score) for score in scores]
            for positive, scores in zip(self.positive, self.scores, strict=True)
        ]

    @cached_property
    def joint_estimates(self) -> list[JointEstimate]:
        """Values of the candidates on each part, and how they vary together, given the labels."""
        joint = [joint_influence(found, conditional=True) for found in self._influences]
        if any((np.diag(one.regularized) <= 0.0).any() for one in joint):
            raise ValueError(
                f"{self.measure.name} has no known range and the same influence value for all"
                " items of a held-out part, so its variance cannot be estimated: pass range= to"
                " make_measure."
            )
        return joint

    @cached_property
    def _class_counts(self) -> tuple[list[int], list[int]]:
        n_pos = [int(np.count_nonzero(positive)) for positive in self.positive]
        return n_pos, [len(p) - m for p, m in zip(self.positive, n_pos, strict=True)]

    @property
    def chance(self) -> float | None:
        """Mean over the parts of the value of items that are all tied."""
        if not self.measure.is_mean_over_ties:
            return None
        tied = [
            self.measure.values(
                self.measure.lists(positive.astype(np.int64), np.zeros(len(positive)))
            )
            for positive in self.positive
        ]
        return float(np.mean(tied))

    def fewest(self) -> str:
        """Describe the size of the rarer class."""
        n_pos, n_neg = map(min, self._class_counts)
        return f"{n_pos} positives" if n_pos <= n_neg else f"{n_neg} negatives"

    def counts(self) -> str:
        """Say how many items there are. Positives and negatives of the parts."""
        n_pos, n_neg = self._class_counts
        return f"{spread_of(n_pos)} positives and {each_of(n_neg, 'negatives')}"

    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits from the influence, with half an item added at either end."""
        variance, z = np.diag(self.regularized_covariance), ndtri(tails)
        if not isfinite(self.length):
            reach = np.abs(z) * np.sqrt(variance)
            return self.means - reach, self.means + reach
        origin = self.measure.range[0]
        shift = np.mean([[one.regularized()[0] for one in part] for part in self._influences], 0)
        share = np.clip((self.means - origin) / self.length, 0.0, 1.0)
        shrunken = np.clip(share + shift / self.length, 0.0, 1.0)
        draws = shrunken * (1.0 - shrunken) * self.length**2 / variance
        low, high = wilson_score_limits(share, z, draws)
        for one in np.flatnonzero(tails < 0.5):
            # The exact limits are farther out where there are few draws.
            exact = midp_limits(
                float(share[one]), float(draws[one]), 1.0 - 2.0 * float(tails[one])
            )
            low[one], high[one] = min(low[one], exact[0]), max(high[one], exact[1])
        return origin + self.length * low, origin + self.length * high


@dataclass(frozen=True, eq=False)
class AUCEvidence(ListEvidence):
    """AUCs of several candidates on held-out parts."""

    of_new_data: ClassVar[str] = "expected"

    measure: Measure = AUC

    @cached_property
    def _moments(self) -> list[list[Any]]:
        return [
            [sample_moments(score, positive, None) for score in scores]
            for positive, scores in zip(self.positive, self.scores, strict=True)
        ]

    @cached_property
    def values(self) -> FloatArray:
        """AUC of each candidate on each part."""
        return np.array([[float(one.auc) for one in part] for part in self._moments]).T

    def widths(self, method: Any, deltas: FloatArray) -> FloatArray:
        """Distances of the lower limits from the means, each failing with its own delta.

        Shape (n_candidates,).
        """
        n_pos, n_neg = self._class_counts
        if method == "kl" and self.n_parts > 1:
            return fold_widths(self.means, min(*n_pos, *n_neg), deltas)
        if self.n_parts > 1:
            found = [
                auc_fold_mean_bound(n_pos, n_neg, float(delta), method=method, side="lower")
                for delta in deltas
            ]
        else:
            found = [
                auc_bound(
                    *(n_pos[0], n_neg[0], float(delta)),
                    method=method,
                    auc=float(auc) if method == "kl" else None,
                    side="lower",
                )
                for auc, delta in zip(self.means, deltas, strict=True)
            ]
        return np.array([one.value for one in found])

    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Score limits with a variance by placements, regularised."""
        # A (1 - A) is concave: that of the mean is no less than the mean over the parts.
        with np.errstate(divide="ignore", invalid="ignore"):
            effects, unseen = (
                [np.array([float(find(one)) for one in part]) for part in self._moments]
                for find in (design_effect, unseen_effect)
            )
        effect, rare = self._joined(effects), self._joined(unseen)
        return auc_score_limits(self.means, effect, rare, ndtri(tails))

    def bound(
        self, method: Any, candidate: int, delta: float, weights: FloatArray, n_candidates: int
    ) -> Bound:
        """Make the bound for a candidate that was chosen by its scores."""
        n_pos, n_neg = self._class_counts
        value = float(self.widths(method, delta * weights)[candidate])
        if method == "kl" and self.n_parts > 1:
            return chernoff_fold_bound(value, delta, "AUC", conditioned_on=LABELS, items=ITEMS)
        if self.n_parts > 1:
            stated = auc_fold_mean_bound(
                n_pos, n_neg, delta, n_functions=n_candidates, method=method, side="lower"
            )
        else:
            stated = auc_bound(
                n_pos[0],
                n_neg[0],
                delta,
                function_class=n_candidates,
                method=method,
                auc=float(self.means[candidate]) if method == "kl" else None,
                side="lower",
            )
        return with_prior_shares(stated, value, weights * n_candidates)
