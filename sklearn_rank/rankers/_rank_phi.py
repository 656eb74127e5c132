"""Score-generating functions of rankers of two classes, and their sums over ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._solvers import CumulatedPhi
from .._validation import hint_of_adaboost
from ..metrics import Measure, ScoreGeneratingFunction, get_measure
from ..metrics._shared import as_score_generating, cumulated, phi_of

__all__ = ["read_phi", "sums_over_ranks"]

# Cells of ranks in which phi is summed up; shorter lists have a cell for each rank.
MOST_CELLS = 2**16

# Module whose functions are measures, not score-generating functions.
METRICS = "sklearn_rank.metrics"


def read_phi(phi: Any) -> ScoreGeneratingFunction:
    """Read the parameter ``phi``."""
    if isinstance(phi, ScoreGeneratingFunction):
        return phi
    named = isinstance(phi, str) and phi not in ("wilcoxon", "van_der_waerden")
    ours = str(getattr(phi, "__module__", "")).startswith(METRICS)
    if named or ours or isinstance(phi, Measure):
        found = phi_of(get_measure(phi))
        if found is None:
            raise ValueError(
                f"phi={phi!r} is not a linear rank statistic: pass one, such as 'auc', "
                "'local_auc@0.8', 'pnorm@4' or 'bedroc@20', or a score-generating function, "
                "such as sklearn_rank.metrics.TopDCG(10)."
            )
        return found
    return as_score_generating(phi)


def sums_over_ranks(phi: ScoreGeneratingFunction, length: float) -> CumulatedPhi:
    """Sum phi over the ranks of a list."""
    rank = np.linspace(0.0, length, 1 + int(min(np.ceil(length), MOST_CELLS)))
    sums = CumulatedPhi(rank, cumulated(phi, rank))
    if not phi._rises(np.asarray(length)):
        raise ValueError(
            f"phi={phi!r} has the same value at all {length:g} ranks, so that all orders are "
            "equally good: pass a function that varies over more of the list. A row of "
            "weight w counts as w rows: pass sample_weight / sample_weight.mean() if only the "
            f"proportions mean anything.{hint_of_adaboost(length)}"
        )
    return sums
