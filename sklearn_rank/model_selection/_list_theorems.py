"""Guarantees for one list: its precision at the top, and rank statistics."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._blocks import counted_blocks
from .._lists import ScoredLists
from .._top import top_mass
from .._typing import BoolArray, FloatArray
from ..bounds import Bound
from ..bounds._shared import (
    SAME_TIES,
    SANDWICH_THEOREM,
    TIES_IN_RANDOM_ORDER,
    TOP_THEOREM,
    top_precision_limits,
)
from ..inference._shared import dkw_lower_limits, share_at_threshold, top_limits
from ..metrics import Measure, get_measure
from ..metrics._shared import PrecisionAtTopMeasure
from ._evidence import ASYMPTOTIC, with_prior_shares
from ._fold_theorems import FITTED_APART
from ._list_evidence import ITEMS, LABELS, AUCEvidence, ListEvidence, is_auc

__all__ = ["RankEvidence", "TopEvidence", "list_evidence"]

# If a perfect order keeps less than this fraction of its distance to tied items, the theorem is
# not useful for realistic orders.
LEAST_KEPT = 2.0 / 3.0


def list_evidence(
    measure: Measure,
    positive: Sequence[BoolArray],
    scores: Sequence[Sequence[FloatArray]],
    disjoint: Sequence[int] | None = None,
) -> ListEvidence:
    """Make the evidence of lists with the theorems of the measure."""
    # Which rows are positive is known here.
    measure = get_measure(measure, rel=None)
    kind = ListEvidence
    if is_auc(measure):
        kind = AUCEvidence
    elif isinstance(measure, PrecisionAtTopMeasure):
        kind = TopEvidence
    elif "dkw" in measure.theorems:
        kind = RankEvidence
    return kind(positive, scores, measure, disjoint)


@dataclass(frozen=True, eq=False)
class _GuaranteedEvidence(ListEvidence):
    """Values of several candidates on held-out lists, each of which has limits of its own."""

    theorem: ClassVar[str]
    ties: ClassVar[str]

    @abstractmethod
    def lower_of_part(self, part: int, deltas: FloatArray) -> FloatArray:
        """Lower limits for one part, each failing with its own delta. Shape (n_candidates,)."""

    def widths(self, method: str, deltas: FloatArray) -> FloatArray:
        """Distances of the lower limits from the means, each failing with its own delta.

        Non-negative widths. Shape (n_candidates,).
        """
        n = self.n_parts
        limits = [self.lower_of_part(part, deltas / n) for part in range(n)]
        return np.maximum(self.means - np.mean(limits, axis=0), 0.0)

    def bound(
        self, method: str, candidate: int, delta: float, weights: FloatArray, n_candidates: int
    ) -> Bound:
        """Make the bound for a candidate that was chosen by its scores."""
        value = float(self.widths(method, delta * weights)[candidate])
        name, folds = self.measure.name, self.n_parts > 1
        stated = Bound(
            value=value,
            theorem=f"{self.theorem}, for all candidates{' and parts' if folds else ''} at once",
            target=f"mean {name} of the parts - mean {name} of the population by their models"
            if folds
            else f"{name} - {name} of the population by the chosen model",
            delta=delta,
            conditioned_on=LABELS,
            assumptions=(FITTED_APART, ITEMS, self.ties),
        )
        return with_prior_shares(stated, value, weights * n_candidates)


class TopEvidence(_GuaranteedEvidence):
    """Precision at the top of several candidates: limits from the negatives above positives."""

    theorem = TOP_THEOREM
    ties = TIES_IN_RANDOM_ORDER

    def lower_of_part(self, part: int, deltas: FloatArray) -> FloatArray:
        """Lower limits for one part, each failing with its own delta. Shape (n_candidates,)."""
        positive = self.positive[part]
        above = [
            np.count_nonzero(~positive)
            - np.searchsorted(np.sort(score[~positive]), np.sort(score[positive])[::-1], "left")
            for score in self.scores[part]
        ]
        measure: Any = self.measure
        return top_precision_limits(np.stack(above), len(positive), measure.tau, np.log(deltas))

    def asymptotic_limits(self, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Score limits, or exact ones where they are farther out."""
        measure: Any = self.measure
        sizes = [len(positive) for positive in self.positive]
        tops = [int(top_mass(np.array([float(n)]), measure.tau)[0]) for n in sizes]
        # The mean is worth so many items of a top; the threshold adds what it does at their mean.
        top = 1.0 / float(self._joined([1.0 / one for one in tops]))
        etas = np.mean([self._etas(part, one) for part, one in enumerate(tops)], axis=0)
        low, high = self.means.copy(), self.means.copy()
        for one in np.flatnonzero(tails < 0.5):
            level = 1.0 - 2.0 * float(tails[one])
            limits, _ = top_limits(
                float(self.means[one]), float(etas[one]), top, measure.tau, level
            )
            low[one], high[one] = limits
        return low, high

    def _etas(self, part: int, top: int) -> list[float]:
        """Probability for each candidate that an item at the threshold of a part is positive."""
        positive = self.positive[part]
        n, n_pos = len(positive), float(np.count_nonzero(positive))
        return [
            share_at_threshold(counted_blocks(score, positive), n, n_pos, top)
            for score in self.scores[part]
        ]


class RankEvidence(_GuaranteedEvidence):
    """Statistics of ranks of several candidates: limits from bands around the distributions."""

    theorem = SANDWICH_THEOREM
    ties = SAME_TIES

    def lower_of_part(self, part: int, deltas: FloatArray) -> FloatArray:
        """Lower limits for one part, each failing with its own delta. Shape (n_candidates,)."""
        lists = [self._list(part, score) for score in self.scores[part]]
        return dkw_lower_limits(lists, self.measure, deltas)

    def usual_method(self, method: str, delta: float, n_candidates: int) -> str:
        """Use bands if a perfect order keeps two thirds of its distance to tied items."""
        share = np.array([delta / (n_candidates * self.n_parts)])
        leads = []
        for part, positive in enumerate(self.positive):
            perfect = np.empty(len(positive))
            perfect[np.argsort(positive, kind="stable")] = np.arange(len(positive))
            best, tied = (self._list(part, score) for score in (perfect, np.zeros(len(positive))))
            least = float(dkw_lower_limits([best], self.measure, share)[0])
            chance = float(self.measure.values(tied)[0])
            leads.append((least - chance, float(self.measure.values(best)[0]) - chance))
        kept, whole = np.mean(leads, axis=0)
        return method if kept >= LEAST_KEPT * whole else ASYMPTOTIC

    def _list(self, part: int, score: FloatArray) -> ScoredLists:
        """The rows of a part in the order of some scores."""
        return self.measure.lists(self.positive[part].astype(np.int64), score)
