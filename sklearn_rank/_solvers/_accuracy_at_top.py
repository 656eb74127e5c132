"""Accuracy at the top: selection of one solution among all candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .._checkpoint import Checkpoints
from .._top import quantile_at_mass
from .._typing import FloatArray, IntArray
from ._candidates import CandidateSolutions, CandidateValues, PivotSolver, Top, solve_candidates
from ._pivot_problem import PivotProblem
from ._refine import best_scales, refine_top
from ._result import Certificate, SolverResult
from ._threads import one_blas_thread

__all__ = ["AccuracyAtTopSolution", "Selection", "select_solution", "solve_accuracy_at_top"]

Selection = Literal["average", "closest", "objective", "refine"]

# One in so many candidates is averaged.
ONE_IN = 10

# Solutions from which the search for a better value of Problem (1) starts.
STARTS = 20


@dataclass(frozen=True, eq=False)
class AccuracyAtTopSolution(SolverResult):
    """The selected solution, and what is known of all candidates."""

    candidate: int  # The candidate that was selected, an index into the arrays below
    distance: float
    pivot_objective: float  # Value of Problem (2) at ``coef``, hinge loss around the pivot's score
    candidate_indices: IntArray
    candidates: CandidateValues  # What is known of each candidate
    averaged: IntArray | None


def solve_accuracy_at_top(
    problem: PivotProblem,
    *,
    top_mass: float,
    selection: Selection = "closest",
    solver: PivotSolver | None = None,
    n_jobs: int | None = None,
    on_block: Callable[[bool], None] = lambda found: None,
    checkpoints: Checkpoints | None = None,
) -> AccuracyAtTopSolution:
    """Solve Problem (2) for every distinct point as the pivot and select one solution.

    [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 3.2.
    """
    solutions = solve_candidates(
        problem,
        [Top(problem.mass, top_mass)],
        scales=selection == "refine",
        solver=solver,
        n_jobs=n_jobs,
        on_block=on_block,
        checkpoints=checkpoints,
    )
    return select_solution(solutions, selection, n_jobs=n_jobs)


def select_solution(
    solutions: CandidateSolutions,
    selection: Selection = "closest",
    top: int = 0,
    *,
    n_jobs: int | None = None,
) -> AccuracyAtTopSolution:
    """Select one of the solutions of Problem (2) for one top, or average some.

    O(n_candidates) beside the weights that are asked for, but for ``"refine"``, which solves some
    hundreds of problems.
    """
    problem, basis = solutions.problem, solutions.basis
    candidates = solutions.values.at_top(top)
    with one_blas_thread():
        if selection == "average":
            selected = _average(solutions, candidates, solutions.tops[top], n_jobs)
        elif selection == "refine":
            selected = _refine(solutions, candidates, solutions.tops[top])
        else:
            best = int(np.argmin(candidates.objective_top))
            if selection == "closest":
                best = int(_closest(candidates, solutions.solver.tol, 1)[0])
            selected = _take(solutions, candidates, best)
    by_position = np.argsort(problem.candidate_indices)
    return AccuracyAtTopSolution(
        coef=selected.coef if basis is None else basis @ selected.coef,
        certificate=Certificate(
            selected.objective_top,
            lower_bound=float(np.min(candidates.lower_bound)),
            n_iter=int(candidates.n_iter.max()),
            converged=bool(candidates.converged.all()),
        ),
        candidate=int(np.flatnonzero(by_position == selected.candidate)[0]),
        distance=selected.distance,
        pivot_objective=selected.pivot_objective,
        candidate_indices=problem.candidate_indices[by_position],
        candidates=candidates.ordered(by_position),
        averaged=None
        if selected.averaged is None
        else np.flatnonzero(np.isin(by_position, selected.averaged)),
    )


@dataclass(frozen=True, eq=False)
class _Selected:
    """A solution, its candidates in the order of the problem, and its values."""

    coef: FloatArray
    candidate: int
    distance: float
    pivot_objective: float
    objective_top: float
    averaged: IntArray | None = None


def _closest(candidates: CandidateValues, tol: float, count: int) -> IntArray:
    """The candidates closest to their quantiles; of those that tie last, by the objective.

    Scores are in units of the margin, and not known any better than to the tolerance.
    """
    distance = candidates.distance
    last = np.partition(distance, count - 1)[count - 1]
    closer = np.flatnonzero(distance < last - tol)
    tied = np.flatnonzero(np.abs(distance - last) <= tol)
    by_objective = tied[np.argsort(candidates.objective[tied], kind="stable")]
    return np.sort(np.concatenate((closer, by_objective[: count - len(closer)])))


def _take(solutions: CandidateSolutions, candidates: CandidateValues, best: int) -> _Selected:
    """Take one candidate as it is."""
    return _Selected(
        coef=solutions.coefs(np.array([best]))[0],
        candidate=best,
        distance=float(candidates.distance[best]),
        pivot_objective=float(candidates.objective[best]),
        objective_top=float(candidates.objective_top[best]),
    )


def _average(
    solutions: CandidateSolutions, candidates: CandidateValues, top: Top, n_jobs: int | None
) -> _Selected:
    """Average the directions of the candidates closest to their quantiles."""
    problem = replace(solutions.problem, mass=top.mass)
    count = max(1, problem.n_candidates // ONE_IN)
    averaged = _closest(candidates, solutions.solver.tol, count)
    coefs = solutions.coefs(averaged, n_jobs)
    norms = np.linalg.norm(coefs, axis=1)
    # Weights of zero have no direction, and none to give.
    mean = np.mean(coefs / np.where(norms > 0, norms, 1.0)[:, np.newaxis], axis=0)
    scale = best_scales(problem, mean[np.newaxis], top.top_mass)[0][0]
    # A value that no multiple lowers, as where the costs of positives are the greater total, is
    # no reason to rank all rows alike.
    coef = mean * (scale if scale > 0 else norms.mean())
    scores = problem.scores(coef)
    quantile = quantile_at_mass(scores, problem.mass, top.top_mass)
    value = float(problem.objective(coef, scores, quantile))
    return _at_quantile(problem, coef, int(np.argmax(scores == quantile)), value, averaged)


def _refine(solutions: CandidateSolutions, candidates: CandidateValues, top: Top) -> _Selected:
    """Go on from the best candidates."""
    problem = replace(solutions.problem, mass=top.mass)
    likeliest = np.argsort(candidates.scaled, kind="stable")[:STARTS]
    starts = solutions.coefs(likeliest)
    refined = refine_top(problem, starts, top.top_mass, tol=solutions.solver.tol)
    return _at_quantile(problem, refined.coef, refined.pivot, refined.certificate.objective)


def _at_quantile(
    problem: PivotProblem,
    coef: FloatArray,
    pivot: int,
    value: float,
    averaged: IntArray | None = None,
) -> _Selected:
    """Weights that are no candidate's; their pivot is a row at the quantile.

    Around the score of that row Problem (2) and Problem (1) are one.
    """
    return _Selected(
        coef=coef,
        candidate=int(np.searchsorted(problem.pivots, pivot, "right")) - 1,
        distance=0.0,
        pivot_objective=value,
        objective_top=value,
        averaged=averaged,
    )
