"""All convex problems of accuracy at the top: their solutions serve any number of tops."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed

from .._top import quantiles_at_masses
from .._typing import BoolArray, FloatArray, IntArray
from ._cvxpy import solve_pivots_cvxpy
from ._design import DenseDesign
from ._newton import prepare_newton, solve_pivots_newton
from ._pivot_problem import PivotProblem, PivotSolutions
from ._refine import best_scales
from ._result import relative_gap
from ._threads import one_blas_thread

__all__ = ["CandidateSolutions", "CandidateValues", "PivotSolver", "Top", "solve_candidates"]


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

    def __call__(
        self,
        problem: PivotProblem,
        pivots: IntArray,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> PivotSolutions:
        """Solve the problems of some pivots.

        Parameters
        ----------
        problem : PivotProblem
            The problems.
        pivots : ndarray of shape (n_pivots,)
            Row numbers of the pivots.
        interrupted : callable, optional
            Asked before each part of the work whether to give up.

        Returns
        -------
        PivotSolutions
            Their solutions.

        Raises
        ------
        InterruptedError
            If ``interrupted`` said so.
        """
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        if self.name == "newton":
            return solve_pivots_newton(problem, pivots, interrupted=interrupted, **options)
        return solve_pivots_cvxpy(problem, pivots, **options)


@dataclass(frozen=True, eq=False)
class Top:
    """A quantile of the scores: the largest such that the rows at or above it have a mass.

    Parameters
    ----------
    mass : ndarray of shape (n_rows,)
        Positive weight of each row of the problem in the quantile.
    top_mass : float
        The mass of the top.
    """

    mass: FloatArray
    top_mass: float


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
    distance : ndarray of shape (n_candidates,) or (n_candidates, n_tops)
        Distance between the pivot's score and the quantile of the scores, for one top or several.
    objective_top : ndarray of shape (n_candidates,) or (n_candidates, n_tops)
        Value of Problem (1), hinge loss around the quantile of the scores.
    scaled : ndarray of shape (n_candidates,) or (n_candidates, n_tops)
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

    def at_top(self, number: int) -> CandidateValues:
        """Take the values for one of several tops.

        Parameters
        ----------
        number : int
            The top.

        Returns
        -------
        CandidateValues
            With one number for each candidate in every field.
        """
        return replace(
            self,
            distance=self.distance[:, number],
            objective_top=self.objective_top[:, number],
            scaled=self.scaled[:, number],
        )


@dataclass(frozen=True, eq=False)
class CandidateSolutions:
    """The solutions of Problem (2) for every distinct point, of which a top selects.

    Parameters
    ----------
    problem : PivotProblem
        The problems that were solved: those given, or the same in the span of their rows.
    basis : ndarray of shape (n_features, n_coordinates) or None
        Orthonormal basis of that span; None where the problems are those given.
    solver : PivotSolver
        What solved them.
    tops : sequence of Top
        The tops that were asked for.
    values : CandidateValues
        Numbers of each candidate in the order of ``problem.pivots``, for all tops.
    kept : ndarray of shape (n_candidates, n_coordinates) or None
        The weights of each candidate; None for sparse data, of which only what is asked for is
        solved for again.

    See Also
    --------
    solve_candidates : Makes it.
    select_solution : Selects one solution for one of the tops.
    """

    problem: PivotProblem
    basis: FloatArray | None
    solver: PivotSolver
    tops: Sequence[Top]
    values: CandidateValues
    kept: FloatArray | None

    def coefs(self, candidates: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Weights of some candidates.

        Parameters
        ----------
        candidates : ndarray of shape (m,)
            Numbers of the candidates, in the order of ``problem.pivots``.
        n_jobs : int or None, default=None
            Number of threads, where they are solved for again.

        Returns
        -------
        ndarray of shape (m, n_coordinates)
            Their weights.
        """
        if self.kept is not None:
            return self.kept[candidates]
        pivots = self.problem.pivots[candidates]
        with one_blas_thread():
            solutions = Parallel(n_jobs=n_jobs, require="sharedmem")(
                delayed(self.solver)(self.problem, block) for block in self.problem.blocks(pivots)
            )
        return np.concatenate([block.coef for block in solutions])


def solve_candidates(
    problem: PivotProblem,
    tops: Sequence[Top],
    *,
    scales: bool = False,
    solver: PivotSolver | None = None,
    n_jobs: int | None = None,
    on_block: Callable[[], None] | None = None,
) -> CandidateSolutions:
    """Solve Problem (2) for every distinct point as the pivot, for any number of tops.

    The problems depend on rows and costs only, not on ``problem.mass``.

    Parameters
    ----------
    problem : PivotProblem
        Data and costs.
    tops : sequence of Top
        The quantiles that solutions are to be selected by.
    scales : bool, default=False
        Whether to find the best multiple of each solution for each top, as
        ``selection="refine"`` needs.
    solver : PivotSolver or None, default=None
        What solves the problems; None is ``PivotSolver()``.
    n_jobs : int or None, default=None
        Number of threads that share the blocks of pivots. The result does not depend on it.
    on_block : callable or None, default=None
        Called without arguments, in the calling thread, when a block of 32 pivots is done.

    Returns
    -------
    CandidateSolutions
        The solutions.

    Raises
    ------
    ValueError
        If the scores overflow.

    See Also
    --------
    select_solution : Selects one of them.

    Notes
    -----
    The problems are independent; BLAS is held to one thread while they are solved, and the
    blocks are shared among ``n_jobs`` threads. The scores of a block are sorted once for all
    tops. Beyond the solver's own memory each thread needs O(32 (n + d)). The solutions of dense
    data are kept, as many numbers as the data have; those of sparse data are not, and the ones
    selected are solved for again. Dense data of more features than rows are turned to as many
    features as rows, O(n^2 d) once.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import PivotProblem, Top, solve_candidates
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> problem = PivotProblem.from_rows(X, np.array([-1, 1, 1]), np.ones(3), np.ones(3))
    >>> solutions = solve_candidates(problem, [Top(problem.mass, 1.0), Top(problem.mass, 2.0)])
    >>> solutions.values.distance.shape
    (3, 2)
    """
    solver = solver or PivotSolver()
    problem, basis = _in_span_of_rows(problem)
    if solver.name == "newton":
        prepare_newton(problem)
    values: list[CandidateValues] = []
    kept = np.empty((problem.n_candidates, problem.n_features)) if problem.rows.is_dense else None
    n_done = 0
    stop = threading.Event()
    with one_blas_thread():
        blocks = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
            delayed(_solve_block)(
                problem, pivots, tops, partial(solver, interrupted=stop.is_set), scales
            )
            for pivots in problem.blocks()
        )
        with _closed_in_silence(blocks, stop):
            for of_block, coef in blocks:
                values.append(of_block)
                if kept is not None:
                    kept[n_done : n_done + len(coef)] = coef
                n_done += len(coef)
                if on_block is not None:
                    on_block()
    return CandidateSolutions(problem, basis, solver, tops, CandidateValues.joined(values), kept)


@contextmanager
def _closed_in_silence(
    blocks: Generator[Any, None, None], stop: threading.Event
) -> Iterator[None]:
    """End what still runs when the body raises; joblib would warn of blocks that nobody took."""
    try:
        yield
    except BaseException:
        stop.set()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            blocks.close()
        raise


def _solve_block(
    problem: PivotProblem,
    pivots: IntArray,
    tops: Sequence[Top],
    solve: Callable[[PivotProblem, IntArray], PivotSolutions],
    scales: bool,
) -> tuple[CandidateValues, FloatArray]:
    """Solve for a block of pivots; numbers of each, and their weights."""
    solutions = solve(problem, pivots)
    if not np.all(np.isfinite(solutions.objective)):
        raise ValueError(
            "The scores overflow: the features are too large for float64 sums of squares; scale"
            " them, for example by StandardScaler."
        )
    coef = solutions.coef
    scores = problem.scores(coef)
    of_pivots = scores[np.arange(len(pivots)), pivots]
    distance, objective_top, scaled = np.empty((3, len(pivots), len(tops)))
    quantiles = quantiles_at_masses(scores, [(top.mass, top.top_mass) for top in tops])
    for k, (top, quantile) in enumerate(zip(tops, quantiles, strict=True)):
        distance[:, k] = np.abs(of_pivots - quantile)
        objective_top[:, k] = scaled[:, k] = problem.objective(coef, scores, quantile)
        if scales:
            with_mass = replace(problem, mass=top.mass)
            scaled[:, k] = best_scales(with_mass, coef, top.top_mass)[1]
    values = CandidateValues(
        objective=solutions.objective,
        lower_bound=solutions.lower_bound,
        n_iter=solutions.n_iter,
        converged=solutions.converged,
        distance=distance,
        objective_top=objective_top,
        scaled=scaled,
    )
    return values, coef


def _in_span_of_rows(problem: PivotProblem) -> tuple[PivotProblem, FloatArray | None]:
    """The same problems in the span of the rows, and its orthonormal basis where it was taken.

    Weights off the span only add to the norm, so that none of the problems has any.
    """
    rows = problem.rows
    if not rows.is_dense or problem.n_features <= len(problem.y):
        return problem, None
    basis, coordinates = np.linalg.qr(rows.to_array().T)
    return replace(problem, rows=DenseDesign(np.ascontiguousarray(coordinates.T))), basis
