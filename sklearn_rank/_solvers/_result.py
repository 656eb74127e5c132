"""Result of solvers, with certificates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray

__all__ = ["Certificate", "SolverResult", "relative_gap"]


def relative_gap(objective: Any, lower_bound: Any) -> FloatArray:
    """Share of objectives by which they may exceed their minima. Shape (...)."""
    gap = np.maximum(np.asarray(objective) - lower_bound, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(gap == 0, 0.0, gap / np.abs(objective)))


@dataclass(frozen=True)
class Certificate:
    """How good a solution is, in the words that all solvers share."""

    objective: float  # Value of the objective at the solution
    lower_bound: float = float("nan")
    gradient_norm: float = float("nan")
    n_iter: int = 0  # Number of iterations
    converged: bool = True
    gap: float = float("nan")

    def __post_init__(self) -> None:
        # No criterion holds where the objective is no number.
        object.__setattr__(self, "converged", self.converged and bool(np.isfinite(self.objective)))

    @property
    def relative_gap(self) -> float:
        """Objective less its lower bound, relative to the objective if not said otherwise."""
        if not np.isnan(self.gap):
            return self.gap
        return float(relative_gap(self.objective, self.lower_bound))


@dataclass(frozen=True, eq=False)
class SolverResult:
    """A solution with its certificate, the base of the results of all solvers."""

    coef: FloatArray  # (n_features,): Weights of the features
    certificate: Certificate  # How good they are
