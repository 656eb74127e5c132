"""Settings of a search for accuracy at the top, and their selection."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from .._solvers import Selection
from .._typing import BoolArray, FloatArray

__all__ = ["Rule", "TopGrid"]

Rule = Literal["best", "one_standard_error"]

# Decimals to which means are compared.
DIGITS = 12

# From the slowest to the fastest in the order of the grid, that of scikit-learn's ParameterGrid.
NAMES = ("C", "quantile", "selection", "tau")


@dataclass(frozen=True, eq=False)
class TopGrid:
    """All combinations of some values of four parameters of ``AccuracyAtTopRanker``."""

    C: FloatArray  # (n_Cs,)
    quantile: tuple[str, ...]  # Values of the others
    selection: tuple[Selection, ...]  # Values of the others
    tau: tuple[float, ...]  # Values of the others

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values of each parameter."""
        return tuple(len(getattr(self, name)) for name in NAMES)

    def settings(self) -> list[dict[str, Any]]:
        """List all combinations, the last parameter changing first."""
        values = (self.C.tolist(), self.quantile, self.selection, self.tau)
        return [dict(zip(NAMES, one, strict=True)) for one in product(*values)]

    def choose(self, scores: FloatArray, rule: Rule) -> tuple[int, BoolArray]:
        """Choose a setting by its scores in folds."""
        # Means that differ only by rounding are equal.
        mean, error = scores.mean(axis=0).round(DIGITS), standard_error(scores)
        best = int(np.argmax(mean))
        within = mean >= mean[best] - error[best]
        if rule == "one_standard_error":
            strongest = int(np.argmax(within.reshape(self.shape).any(axis=(1, 2, 3))))
            of_each = mean.size // len(self.C)
            start = strongest * of_each
            best = start + int(np.argmax(mean[start : start + of_each]))
        return best, within

    def table(self, scores: FloatArray, within: BoolArray) -> dict[str, Any]:
        """Show the search as scikit-learn's searches show theirs: one column under each name."""
        settings, mean = self.settings(), scores.mean(axis=0)
        columns: dict[str, Any] = {
            f"param_{name}": np.array([one[name] for one in settings]) for name in NAMES
        }
        columns["params"] = settings
        columns |= {f"split{i}_test_score": of_fold for i, of_fold in enumerate(scores)}
        columns["mean_test_score"] = mean
        columns["std_test_score"] = scores.std(axis=0)
        columns["rank_test_score"] = rankdata(-mean.round(DIGITS), method="min").astype(np.int32)
        columns["standard_error"] = standard_error(scores)
        columns["within_one_standard_error"] = within
        return columns


def standard_error(scores: FloatArray) -> FloatArray:
    """Standard error of the mean over the folds, as if they were independent; NaN of one fold."""
    n_folds = len(scores)
    if n_folds < 2:
        return np.full(scores.shape[1], np.nan)
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(n_folds))
