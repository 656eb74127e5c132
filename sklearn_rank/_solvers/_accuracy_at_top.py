"""All convex problems of accuracy at the top, and the choice among their solutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from .._top import quantile_at_mass
from .._typing import FloatArray, IntArray
from ._cvxpy import solve_pivots_cvxpy
from ._newton import prepare_newton, solve_pivots_newton
from ._pivot_problem import PivotProblem, PivotSolutions
from ._refine import best_scales, refine_top
from ._threads import one_blas_thread

__all__ = ["AccuracyAtTopSolution", "solve_accuracy_at_top"]

# Solutions from which the search for a better value of Problem (1) starts.
STARTS = 20


@dataclass(frozen=True, eq=False)
class AccuracyAtTopSolution:
    """The selected solution, and what is known of all candidates.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        The selected weight vector.
    candidate : int
        Its candidate, an index into the arrays below.
    distance : float
        Distance between the pivot's score and the quantile of the scores, in units of the margin.
    objective : float
        Value of Problem (2), hinge loss around the pivot's score.
    objective_top : float
        Value of Problem (1), hinge loss around the quantile of the scores.
    lower_bound : float
        No weight vector has a smaller value of Problem (1).
    dual_gap : float
        Largest relative duality gap over all candidates.
    n_iter : int
        Largest number of iterations over all candidates.
    candidate_indices : ndarray of shape (n_candidates,)
        First row, in the data given, of each distinct point; ascending.
    candidate_objectives, candidate_distances : ndarray of shape (n_candidates,)
        Value of Problem (2), and distance, for each candidate.
    candidate_gaps : ndarray of shape (n_candidates,)
        Relative duality gaps.

    See Also
    --------
    solve_accuracy_at_top : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import PivotProblem, solve_accuracy_at_top
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> problem = PivotProblem.from_rows(X, np.array([-1, 1, 1]), np.ones(3), np.ones(3))
    >>> solution = solve_accuracy_at_top(problem, top_mass=1.0)
    >>> bool(solution.lower_bound <= solution.objective_top)
    True
    """

    coef: FloatArray
    candidate: int
    distance: float
    objective: float
    objective_top: float
    lower_bound: float
    dual_gap: float
    n_iter: int
    candidate_indices: IntArray
    candidate_objectives: FloatArray
    candidate_distances: FloatArray
    candidate_gaps: FloatArray


@dataclass(frozen=True, eq=False)
class _Block:
    """What is kept of a block of pivots: some numbers for each, but no solution."""

    primal: FloatArray
    dual: FloatArray
    gap: FloatArray
    distance: FloatArray
    objective_top: FloatArray
    scaled: FloatArray
    n_iter: IntArray


def solve_accuracy_at_top(
    problem: PivotProblem,
    *,
    top_mass: float,
    selection: Literal["closest", "objective", "refine"] = "closest",
    solver: Literal["newton", "cvxpy"] = "newton",
    tol: float = 1e-6,
    max_iter: int = 500,
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
        ``"closest"`` takes the solution whose pivot scores closest to the quantile of the
        scores, the smallest objective among ties (the paper's rule; distances within ``tol`` of
        a margin tie); ``"objective"`` the one with the smallest value of Problem (1), at the
        quantile of its own scores; ``"refine"`` goes on from the best multiples of the
        solutions, as :func:`refine_top` does, and its pivot is a row at the quantile.
    solver : {"newton", "cvxpy"}, default="newton"
        The fast solver or the slow reference.
    tol : float, default=1e-6
        Relative duality gap at which a problem counts as solved.
    max_iter : int, default=500
        Most iterations for one problem.
    n_jobs : int or None, default=None
        Number of threads that share the blocks of pivots. The result does not depend on it.
    verbose : int, default=0
        Verbosity of joblib.
    on_block : callable or None, default=None
        Called without arguments, in the calling thread, when a block of 32 pivots is done.

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
    sklearn_rank.AccuracyAtTopRanker : The estimator.

    Notes
    -----
    The problems are independent; BLAS is held to one thread while they are solved, and the
    blocks are shared among ``n_jobs`` threads. Beyond the solver's own memory each thread needs
    O(32 (n + d)): no solution is kept, and the selected one is solved for again. Dense data of
    more features than rows are turned to as many features as rows, O(n^2 d) once.

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
    if solver == "newton":
        prepare_newton()
    problem, basis = _without_spare_features(problem)
    by_position = np.argsort(problem.candidate_indices)
    blocks: list[_Block] = []
    tasks = problem.blocks()
    with one_blas_thread():
        results = Parallel(
            n_jobs=n_jobs, require="sharedmem", return_as="generator", verbose=verbose
        )(
            delayed(_solve_block)(
                problem,
                pivots,
                top_mass,
                selection,
                solver,
                tol,
                max_iter,
            )
            for pivots in tasks
        )
        for block in results:
            blocks.append(block)
            if on_block is not None:
                on_block()

    primal = np.concatenate([block.primal for block in blocks])
    dual = np.concatenate([block.dual for block in blocks])
    gap = np.concatenate([block.gap for block in blocks])
    distance = np.concatenate([block.distance for block in blocks])
    objective_top = np.concatenate([block.objective_top for block in blocks])
    if selection == "refine":
        scaled = np.concatenate([block.scaled for block in blocks])
        few = problem.pivots[np.argsort(scaled, kind="stable")[:STARTS]]
        with one_blas_thread():
            starts = _solver(solver)(problem, few, tol=tol, max_iter=max_iter).coef
            refined = refine_top(problem, starts, top_mass, tol=tol)
        coef, best = refined.coef, int(np.searchsorted(problem.pivots, refined.pivot, "right")) - 1
        # Around the score of that row Problem (2) and Problem (1) are one.
        chosen = (0.0, refined.objective_top, refined.objective_top)
    else:
        best = _select(selection, distance, primal, objective_top, tol)
        with one_blas_thread():
            coef = _solver(solver)(
                problem, problem.pivots_to_repeat(best), tol=tol, max_iter=max_iter
            ).coef[-1]
        chosen = (float(distance[best]), float(primal[best]), float(objective_top[best]))
    return AccuracyAtTopSolution(
        coef=coef if basis is None else basis @ coef,
        candidate=int(np.flatnonzero(by_position == best)[0]),
        distance=chosen[0],
        objective=chosen[1],
        objective_top=chosen[2],
        lower_bound=float(np.min(dual)),
        dual_gap=float(np.max(gap)),
        n_iter=int(max(block.n_iter.max() for block in blocks)),
        candidate_indices=problem.candidate_indices[by_position],
        candidate_objectives=primal[by_position],
        candidate_distances=distance[by_position],
        candidate_gaps=gap[by_position],
    )


def _solve_block(
    problem: PivotProblem,
    pivots: IntArray,
    top_mass: float,
    selection: str,
    solver: str,
    tol: float,
    max_iter: int,
) -> _Block:
    solutions = _solver(solver)(problem, pivots, tol=tol, max_iter=max_iter)
    if not np.all(np.isfinite(solutions.primal)):
        raise ValueError(
            "The scores overflow: the features are too large for float64 sums of squares; scale"
            " them, for example by StandardScaler."
        )
    scores = problem.scores(solutions.coef)
    quantile = quantile_at_mass(scores, problem.mass, top_mass)
    distance = np.abs(scores[np.arange(len(pivots)), pivots] - quantile)
    objective_top = problem.objective(solutions.coef, scores, quantile)
    scaled = objective_top
    if selection == "refine":
        scaled = best_scales(problem, solutions.coef, top_mass)[1]
    return _Block(
        primal=solutions.primal,
        dual=solutions.dual,
        gap=solutions.relative_gap,
        distance=distance,
        objective_top=objective_top,
        scaled=scaled,
        n_iter=solutions.n_iter,
    )


def _solver(name: str) -> Callable[..., PivotSolutions]:
    return solve_pivots_newton if name == "newton" else solve_pivots_cvxpy


def _without_spare_features(problem: PivotProblem) -> tuple[PivotProblem, FloatArray | None]:
    """The same problems in the span of the rows, and its orthonormal basis where it was taken.

    Weights off the span only add to the norm, so that none of the problems has any.
    """
    if sp.issparse(problem.rows) or problem.n_features <= len(problem.y):
        return problem, None
    basis, coordinates = np.linalg.qr(problem.rows.T)
    return replace(problem, rows=np.ascontiguousarray(coordinates.T)), basis


def _select(
    selection: str,
    distance: FloatArray,
    primal: FloatArray,
    objective_top: FloatArray,
    tol: float,
) -> int:
    if selection == "objective":
        return int(np.argmin(objective_top))
    # The scores are in units of the margin, and not known any better than to the tolerance.
    tied = np.flatnonzero(distance <= distance.min() + tol)
    return int(tied[np.argmin(primal[tied])])
