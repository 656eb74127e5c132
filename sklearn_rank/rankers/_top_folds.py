"""Scores of settings of accuracy at the top in folds; one solution serves many settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from .._checkpoint import Checkpoints
from .._sklearn_compat import rows_at
from .._solvers import (
    CandidateSolutions,
    CandidateValues,
    PivotProblem,
    Top,
    select_solution,
    solve_candidates,
)
from .._top import top_mass
from .._typing import AnyArray, FloatArray, IntArray
from ._accuracy_at_top import AccuracyAtTopRanker
from ._accuracy_at_top_base import AccuracyAtTopBase, pivot_problem
from ._fitting import warn_not_converged
from ._folds import Fold
from ._kernel_map import KernelMap
from ._score_function import learned_scores
from ._top_grid import TopGrid
from ._top_of_rows import mass_of_top
from ._two_classes import TwoClasses

__all__ = ["CrossValidation"]

# Parameters by which a fitted ranker scores rows and is evaluated.
OF_SCORES = ("tau", "kernel", "gamma", "degree", "coef0", "kernel_params")


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Rows that are trained on and held out in turn, and what the scores are."""

    search: AccuracyAtTopBase  # Parameters of the fits
    X: Any  # (n, n_features): The rows that count; of a precomputed kernel its square matrix
    y: AnyArray  # (n,): Their labels
    rows: TwoClasses  # Their classes and weights
    scorer: Callable[..., Any]  # Called with a fitted ranker, rows and labels
    params: dict[str, Any]  # Further arguments of the scorer, where they have one value per row

    def scores(
        self,
        grid: TopGrid,
        folds: Sequence[Fold],
        on_block: Callable[[bool], None],
        checkpoints: Checkpoints | None,
    ) -> FloatArray:
        """Fit and score all settings in all folds.

        Shape (n_folds, n_Cs, n_quantiles, n_selections, n_taus).
        """
        scores = np.empty((len(folds), *grid.shape))
        solved = []
        for of_fold, (train, test) in zip(scores, folds, strict=True):
            part = _TrainingPart.of(self, grid, train)
            X_test, y_test = self.search._rows_at(self.X, test, train), self.y[test]
            params = {name: rows_at(value, test) for name, value in self.params.items()}
            for of_cost, C in zip(of_fold, grid.C.tolist(), strict=True):
                solutions = part.solve(C, on_block, checkpoints)
                solved.append(solutions.values)
                for place in np.ndindex(of_cost.shape):
                    ranker = part.ranker(solutions, *place)
                    of_cost[place] = self.scorer(ranker, X_test, y_test, **params)
        self._judge(solved)
        return scores

    def _judge(self, solved: list[CandidateValues]) -> None:
        missed = sum(np.count_nonzero(~values.converged) for values in solved)
        if missed:
            warn_not_converged(
                "relative_gap",
                max(float(values.relative_gap.max()) for values in solved),
                n_iter=max(int(values.n_iter.max()) for values in solved),
                max_iter=self.search.max_iter,
                tol=self.search.tol,
                regularise="leave out the largest of Cs",
                problems=f"{missed} of {sum(len(v.converged) for v in solved)} problems in folds",
            )


@dataclass(frozen=True, eq=False)
class _TrainingPart:
    """The problems of the rows that are trained on, for any ``C`` and setting."""

    search: AccuracyAtTopBase
    grid: TopGrid
    X: Any
    rows: TwoClasses
    masses: dict[str, FloatArray]
    kernel: KernelMap | None
    problem: PivotProblem
    tops: list[Top]

    @classmethod
    def of(cls, data: CrossValidation, grid: TopGrid, train: IntArray) -> _TrainingPart:
        search, rows = data.search, data.rows.part(train)
        X, kernel = search._rows_at(data.X, train), KernelMap.of(search)
        masses = {"sample": rows.weight, "pairs": rows.pair_mass()}
        # Costs come with C, masses with the tops.
        problem = pivot_problem(kernel, X, rows, rows.weight, rows.weight)
        tops = [
            Top(problem.merged(masses[quantile]), mass_of_top(masses[quantile], tau))
            for quantile, tau in product(grid.quantile, grid.tau)
        ]
        return cls(search, grid, X, rows, masses, kernel, problem, tops)

    def solve(
        self, C: float, on_block: Callable[[bool], None], checkpoints: Checkpoints | None
    ) -> CandidateSolutions:
        """Solve the problems of one C, which serve all other settings."""
        cost = self.problem.merged(self.rows.costs(C, self.search.class_weight))
        return solve_candidates(
            replace(self.problem, cost=cost),
            self.tops,
            scales="refine" in self.grid.selection,
            solver=self.search._pivot_solver(),
            n_jobs=self.search.n_jobs,
            on_block=on_block,
            checkpoints=checkpoints,
        )

    def ranker(
        self, solutions: CandidateSolutions, quantile: int, selection: int, tau: int
    ) -> AccuracyAtTopRanker:
        """Make the ranker of a setting, with its threshold at the top that is acted on."""
        solution = select_solution(
            solutions,
            self.grid.selection[selection],
            quantile * len(self.grid.tau) + tau,
            n_jobs=self.search.n_jobs,
        )
        ranker = AccuracyAtTopRanker(
            **{name: getattr(self.search, name) for name in OF_SCORES},
            pos_label=self.rows.pos_label,
        )
        ranker.n_features_in_ = self.X.shape[1]
        mass = self.masses[self.grid.quantile[quantile]]
        ranker._store_function(
            learned_scores(self.kernel, solution.coef, self.X),
            self.X,
            self.rows,
            mass,
            top_mass(mass, self.search.tau)[0],
        )
        return ranker
