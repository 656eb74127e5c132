"""All convex problems of accuracy at the top, and the choice among their solutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from joblib import Parallel, delayed

from .._top import quantile_at_mass
from .._typing import BoolArray, FloatArray, IntArray
from ._cvxpy import solve_pivots_cvxpy
from ._design import DenseDesign
from ._newton import prepare_newton, solve_pivots_newton
from ._pivot_problem import PivotProblem, PivotSolutions
from ._refine import best_scales, refine_top
from ._result import Certificate, SolverResult, relative_gap
from ._threads import one_blas_thread

__all__ = ["AccuracyAtTopSolution", "CandidateValues", "PivotSolver", "solve_accuracy_at_top"]

# Solutions from which the search for a better value of Problem (1) starts.
STARTS = 20


@dataclass(frozen=True)
class PivotSolver:
    """What solves the problems of pivots, and how accurately.

    Parameters
    ----------
    name : {"newton", "cvxpy"}, default="newton"
        The fast solver or the slow reference.
    tol : float, default=1e-6
        Relative duality gap at which a problem counts as solved.
    max_iter : int, default=500
        Most iterations for one problem.
    """

    name: Literal["newton", "cvxpy"] = "newton"
    tol: float = 1e-6
    max_iter: int = 500

    def __call__(self, problem: PivotProblem, pivots: IntArray) -> PivotSolutions:
        """Solve the problems of some pivots.

        Parameters
        ----------
        problem : PivotProblem
            The problems.
        pivots : ndarray of shape (n_pivots,)
            Row numbers of the pivots.

        Returns
        -------
        PivotSolutions
            Their solutions.
        """
        solve = solve_pivots_newton if self.name == "newton" else solve_pivots_cvxpy
        return solve(problem, pivots, tol=self.tol, max_iter=self.max_iter)


@dataclass(frozen=True, eq=False)
class CandidateValues:
    """Some numbers for each candidate, the solution of Problem (2) at its pivot.

    Parameters
    ----------
    objective : ndarray of shape (n_candidates,)
        Value of Problem (2), hinge loss around the pivot's score.
    lower_bound : ndarray of shape (n_candidates,)
        Certified: no weight vector has a smaller one.
    n_iter : ndarray of shape (n_candidates,)
        Iterations taken.
    converged : ndarray of bool of shape (n_candidates,)
        Whether the relative gap is at most the tolerance that was asked for.
    distance : ndarray of shape (n_candidates,)
        Distance between the pivot's score and the quantile of the scores.
    objective_top : ndarray of shape (n_candidates,)
        Value of Problem (1), hinge loss around the quantile of the scores.
    scaled : ndarray of shape (n_candidates,)
        The same at the best multiple of the weights where that was asked for.
    """

    objective: FloatArray
    lower_bound: FloatArray
    n_iter: IntArray
    converged: BoolArray
    distance: FloatArray
    objective_top: FloatArray
    scaled: FloatArray

    @property
    def relative_gap(self) -> FloatArray:
        """Each objective exceeds its optimum by at most this share."""
        return relative_gap(self.objective, self.lower_bound)

    @classmethod
    def joined(cls, blocks: list[CandidateValues]) -> CandidateValues:
        """Put blocks of candidates one after another.

        Parameters
        ----------
        blocks : list of CandidateValues
            The blocks.

        Returns
        -------
        CandidateValues
            Of all candidates.
        """
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(b, name) for b in blocks]) for name in names))

    def ordered(self, order: IntArray) -> CandidateValues:
        """Put the candidates into an order.

        Parameters
        ----------
        order : ndarray of shape (n_candidates,)
            The candidates.

        Returns
        -------
        CandidateValues
            Of the same candidates.
        """
        return CandidateValues(*(getattr(self, field.name)[order] for field in fields(self)))


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
    selection: Literal["closest", "objective", "refine"] = "closest",
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
        ``"closest"`` takes the solution whose pivot scores closest to the quantile of the
        scores, the smallest objective among ties (the paper's rule; distances within ``tol`` of
        a margin tie); ``"objective"`` the one with the smallest value of Problem (1), at the
        quantile of its own scores; ``"refine"`` goes on from the best multiples of the
        solutions, as :func:`refine_top` does, and its pivot is a row at the quantile.
    solver : PivotSolver or None, default=None
        What solves the problems; None is ``PivotSolver()``.
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
    solver = solver or PivotSolver()
    if solver.name == "newton":
        prepare_newton()
    problem, basis = _in_span_of_rows(problem)
    scales = selection == "refine"
    blocks: list[CandidateValues] = []
    with one_blas_thread():
        results = Parallel(
            n_jobs=n_jobs, require="sharedmem", return_as="generator", verbose=verbose
        )(
            delayed(_solve_block)(problem, pivots, top_mass, solver, scales)
            for pivots in problem.blocks()
        )
        for block in results:
            blocks.append(block)
            if on_block is not None:
                on_block()
        candidates = CandidateValues.joined(blocks)
        if selection == "refine":
            selected = _refine(problem, candidates, top_mass, solver)
        else:
            by_objective = selection == "objective"
            selected = _select(problem, candidates, solver, by_objective=by_objective)
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


def _solve_block(
    problem: PivotProblem, pivots: IntArray, top_mass: float, solver: PivotSolver, scales: bool
) -> CandidateValues:
    """Solve for a block of pivots and keep some numbers for each, but no solution."""
    solutions = solver(problem, pivots)
    if not np.all(np.isfinite(solutions.objective)):
        raise ValueError(
            "The scores overflow: the features are too large for float64 sums of squares; scale"
            " them, for example by StandardScaler."
        )
    scores = problem.scores(solutions.coef)
    quantile = quantile_at_mass(scores, problem.mass, top_mass)
    objective_top = problem.objective(solutions.coef, scores, quantile)
    return CandidateValues(
        objective=solutions.objective,
        lower_bound=solutions.lower_bound,
        n_iter=solutions.n_iter,
        converged=solutions.converged,
        distance=np.abs(scores[np.arange(len(pivots)), pivots] - quantile),
        objective_top=objective_top,
        scaled=best_scales(problem, solutions.coef, top_mass)[1] if scales else objective_top,
    )


def _in_span_of_rows(problem: PivotProblem) -> tuple[PivotProblem, FloatArray | None]:
    """The same problems in the span of the rows, and its orthonormal basis where it was taken.

    Weights off the span only add to the norm, so that none of the problems has any.
    """
    rows = problem.rows
    if not rows.is_dense or problem.n_features <= len(problem.y):
        return problem, None
    basis, coordinates = np.linalg.qr(rows.to_array().T)
    return replace(problem, rows=DenseDesign(np.ascontiguousarray(coordinates.T))), basis


def _select(
    problem: PivotProblem,
    candidates: CandidateValues,
    solver: PivotSolver,
    *,
    by_objective: bool,
) -> _Selected:
    """Select a candidate by its values, and solve for it again."""
    if by_objective:
        best = int(np.argmin(candidates.objective_top))
    else:
        # Scores are in units of the margin, and not known any better than to the tolerance.
        distance = candidates.distance
        tied = np.flatnonzero(distance <= distance.min() + solver.tol)
        best = int(tied[np.argmin(candidates.objective[tied])])
    return _Selected(
        coef=solver(problem, problem.pivots_to_repeat(best)).coef[-1],
        candidate=best,
        distance=float(candidates.distance[best]),
        pivot_objective=float(candidates.objective[best]),
        objective_top=float(candidates.objective_top[best]),
    )


def _refine(
    problem: PivotProblem,
    candidates: CandidateValues,
    top_mass: float,
    solver: PivotSolver,
) -> _Selected:
    """Go on from the best candidates; the pivot is then a row at the quantile."""
    likeliest = problem.pivots[np.argsort(candidates.scaled, kind="stable")[:STARTS]]
    starts = solver(problem, likeliest).coef
    refined = refine_top(problem, starts, top_mass, tol=solver.tol)
    value = refined.certificate.objective
    return _Selected(
        coef=refined.coef,
        candidate=int(np.searchsorted(problem.pivots, refined.pivot, "right")) - 1,
        # Around the score of that row Problem (2) and Problem (1) are one.
        distance=0.0,
        pivot_objective=value,
        objective_top=value,
    )
