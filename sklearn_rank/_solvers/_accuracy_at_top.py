"""Accuracy at the top: one solution selected among those of all candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .._typing import FloatArray, IntArray
from ._candidates import CandidateSolutions, CandidateValues, PivotSolver, Top, solve_candidates
from ._pivot_problem import PivotProblem
from ._refine import refine_top
from ._result import Certificate, SolverResult
from ._threads import one_blas_thread

__all__ = ["AccuracyAtTopSolution", "Selection", "select_solution", "solve_accuracy_at_top"]

Selection = Literal["closest", "objective", "refine"]

# Solutions from which the search for a better value of Problem (1) starts.
STARTS = 20


@dataclass(frozen=True, eq=False)
class AccuracyAtTopSolution(SolverResult):
    """The selected solution, and what is known of all candidates.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        The selected weight vector.
    certificate : Certificate
        Value of Problem (1) at ``coef``; the least lower bound of all candidates, below which no
        weight vector brings Problem (1); the largest number of iterations of a candidate; and
        whether all candidates converged.
    candidate : int
        The candidate that was selected, an index into the arrays below.
    distance : float
        Distance between the pivot's score and the quantile of the scores, in units of the margin.
    pivot_objective : float
        Value of Problem (2) at ``coef``, hinge loss around the pivot's score.
    candidate_indices : ndarray of shape (n_candidates,)
        First row, in the data given, of each distinct point; ascending.
    candidates : CandidateValues
        What is known of each candidate.

    See Also
    --------
    solve_accuracy_at_top : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import PivotProblem, solve_accuracy_at_top
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> problem = PivotProblem.from_rows(X, np.array([-1, 1, 1]), np.ones(3), np.ones(3))
    >>> certificate = solve_accuracy_at_top(problem, top_mass=1.0).certificate
    >>> bool(certificate.lower_bound <= certificate.objective)
    True
    """

    candidate: int
    distance: float
    pivot_objective: float
    candidate_indices: IntArray
    candidates: CandidateValues


def solve_accuracy_at_top(
    problem: PivotProblem,
    *,
    top_mass: float,
    selection: Selection = "closest",
    solver: PivotSolver | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    on_block: Callable[[], None] | None = None,
) -> AccuracyAtTopSolution:
    """Solve Problem (2) for every distinct point as the pivot and select one solution.

    Parameters
    ----------
    problem : PivotProblem
        Data, costs and masses.
    top_mass : float
        Mass of the top: the quantile is the largest score ``q`` such that the rows that score
        at least ``q`` have this mass.
    selection : {"closest", "objective", "refine"}, default="closest"
        As for :func:`select_solution`.
    solver, n_jobs, verbose, on_block : object
        As for :func:`solve_candidates`.

    Returns
    -------
    AccuracyAtTopSolution
        The solution selected, and certificates.

    Raises
    ------
    ValueError
        If the scores overflow.

    See Also
    --------
    solve_candidates : The first half, which serves several tops.
    select_solution : The second.
    sklearn_rank.AccuracyAtTopRanker : The estimator.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import PivotProblem, solve_accuracy_at_top
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> problem = PivotProblem.from_rows(X, np.array([-1, 1, 1]), np.ones(3), np.ones(3))
    >>> solve_accuracy_at_top(problem, top_mass=1.0).candidate_indices
    array([0, 1, 2])
    """
    solutions = solve_candidates(
        problem,
        [Top(problem.mass, top_mass)],
        scales=selection == "refine",
        solver=solver,
        n_jobs=n_jobs,
        verbose=verbose,
        on_block=on_block,
    )
    return select_solution(solutions, selection)


def select_solution(
    solutions: CandidateSolutions, selection: Selection = "closest", top: int = 0
) -> AccuracyAtTopSolution:
    """Select one of the solutions of Problem (2) for one top.

    Parameters
    ----------
    solutions : CandidateSolutions
        The solutions for every distinct point.
    selection : {"closest", "objective", "refine"}, default="closest"
        ``"closest"`` takes the solution whose pivot scores closest to the quantile of the
        scores, the smallest objective among ties (the paper's rule; distances within ``tol`` of
        a margin tie); ``"objective"`` the one with the smallest value of Problem (1), at the
        quantile of its own scores; ``"refine"`` goes on from the best multiples of the
        solutions, as :func:`refine_top` does, and its pivot is a row at the quantile; it needs
        solutions with ``scales=True``.
    top : int, default=0
        Number of the top among ``solutions.tops``.

    Returns
    -------
    AccuracyAtTopSolution
        The solution selected, and certificates.

    See Also
    --------
    solve_candidates : Makes the solutions.

    Notes
    -----
    O(n_candidates) beside the weights that are asked for, but for ``"refine"``, which solves
    some hundreds of problems.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import PivotProblem, Top, select_solution, solve_candidates
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> problem = PivotProblem.from_rows(X, np.array([-1, 1, 1]), np.ones(3), np.ones(3))
    >>> solutions = solve_candidates(problem, [Top(problem.mass, 1.0), Top(problem.mass, 2.0)])
    >>> select_solution(solutions, "objective", top=1).candidate
    1
    """
    problem, basis = solutions.problem, solutions.basis
    candidates = solutions.values.at_top(top)
    with one_blas_thread():
        if selection == "refine":
            selected = _refine(solutions, candidates, solutions.tops[top])
        else:
            by_objective = selection == "objective"
            selected = _select(solutions, candidates, by_objective=by_objective)
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
    )


@dataclass(frozen=True, eq=False)
class _Selected:
    """A solution, its candidate in the order of the problem, and its values."""

    coef: FloatArray
    candidate: int
    distance: float
    pivot_objective: float
    objective_top: float


def _select(
    solutions: CandidateSolutions, candidates: CandidateValues, *, by_objective: bool
) -> _Selected:
    """Select a candidate by its values."""
    if by_objective:
        best = int(np.argmin(candidates.objective_top))
    else:
        # Scores are in units of the margin, and not known any better than to the tolerance.
        distance = candidates.distance
        tied = np.flatnonzero(distance <= distance.min() + solutions.solver.tol)
        best = int(tied[np.argmin(candidates.objective[tied])])
    return _Selected(
        coef=solutions.coefs(np.array([best]))[0],
        candidate=best,
        distance=float(candidates.distance[best]),
        pivot_objective=float(candidates.objective[best]),
        objective_top=float(candidates.objective_top[best]),
    )


def _refine(solutions: CandidateSolutions, candidates: CandidateValues, top: Top) -> _Selected:
    """Go on from the best candidates; the pivot is then a row at the quantile."""
    problem = replace(solutions.problem, mass=top.mass)
    likeliest = np.argsort(candidates.scaled, kind="stable")[:STARTS]
    starts = solutions.coefs(likeliest)
    refined = refine_top(problem, starts, top.top_mass, tol=solutions.solver.tol)
    value = refined.certificate.objective
    return _Selected(
        coef=refined.coef,
        candidate=int(np.searchsorted(problem.pivots, refined.pivot, "right")) - 1,
        # Around the score of that row Problem (2) and Problem (1) are one.
        distance=0.0,
        pivot_objective=value,
        objective_top=value,
    )
