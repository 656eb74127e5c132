"""All convex problems of accuracy at the top; their solutions serve any top share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from .._checkpoint import Checkpoint, Checkpoints
from .._top import quantiles_at_masses
from .._typing import BoolArray, FloatArray, IntArray
from ._blocks_of_work import SentOnce, Stop, in_blocks
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
    """Solver of the problems of pivots, and its tolerance."""

    name: Literal["newton", "cvxpy"] = "newton"  # The fast solver or the slow reference
    tol: float = 1e-6  # Relative duality gap at which a problem counts as solved
    max_iter: int = 500  # Most iterations for one problem

    def __call__(
        self,
        problem: PivotProblem,
        pivots: IntArray,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> PivotSolutions:
        """Solve the problems of some pivots. Their solutions."""
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        if self.name == "newton":
            return solve_pivots_newton(problem, pivots, interrupted=interrupted, **options)
        return solve_pivots_cvxpy(problem, pivots, **options)


@dataclass(frozen=True, eq=False)
class Top:
    """A quantile of the scores: the largest such that the rows at or above it have a mass."""

    mass: FloatArray  # (n_rows,): Positive weight of each row of the problem in the quantile
    top_mass: float


@dataclass(frozen=True, eq=False)
class CandidateValues:
    """Some numbers for each candidate, the solution of Problem (2) at its pivot."""

    objective: FloatArray
    lower_bound: FloatArray  # (n_candidates,): Certified: no weight vector has a smaller one
    n_iter: IntArray  # (n_candidates,): Iterations taken
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
        """Put blocks of candidates one after another."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(b, name) for b in blocks]) for name in names))

    def ordered(self, order: IntArray) -> CandidateValues:
        """Put the candidates into an order."""
        return CandidateValues(*(getattr(self, field.name)[order] for field in fields(self)))

    def at_top(self, number: int) -> CandidateValues:
        """Take the values for one of several tops."""
        return replace(
            self,
            distance=self.distance[:, number],
            objective_top=self.objective_top[:, number],
            scaled=self.scaled[:, number],
        )


@dataclass(frozen=True, eq=False)
class CandidateSolutions:
    """The solutions of Problem (2) for every distinct point, of which a top selects."""

    problem: PivotProblem
    basis: FloatArray | None
    solver: PivotSolver  # Solver that was used
    tops: Sequence[Top]
    values: CandidateValues
    kept: FloatArray | None

    def coefs(self, candidates: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Weights of some candidates. Shape (m, n_coordinates)."""
        if self.kept is not None:
            return self.kept[candidates]
        work = _Work(self.problem, self.solver)
        blocks = self.problem.blocks(self.problem.pivots[candidates])
        with in_blocks(_coefs_of_block, work, blocks, n_jobs=n_jobs, stop=work.stop) as coefs:
            return np.concatenate(list(coefs))


def solve_candidates(
    problem: PivotProblem,
    tops: Sequence[Top],
    *,
    scales: bool = False,
    solver: PivotSolver | None = None,
    n_jobs: int | None = None,
    on_block: Callable[[bool], None] = lambda found: None,
    checkpoints: Checkpoints | None = None,
) -> CandidateSolutions:
    """Solve Problem (2) for every distinct point as the pivot, for any number of tops.

    The problems depend on rows and costs only, not on ``problem.mass``.

    The problems are independent; BLAS is held to one thread while they are solved, and the blocks
    are shared among ``n_jobs`` workers. The scores of a block are sorted once for all tops. Beyond
    the solver's own memory each worker needs O(32 (n + d)); processes map large arrays of the
    problem, and other machines get a copy each. The solutions of dense data are kept, as many
    numbers as the data have; those of sparse data are not, and the ones selected are solved for
    again. Dense data of more features than rows are turned to as many features as rows, O(n^2 d)
    once.
    """
    solver = solver or PivotSolver()
    given, (problem, basis) = problem, _in_span_of_rows(problem)
    if solver.name == "newton":
        prepare_newton(problem)
    work = _Work(problem, solver, tops, scales)
    saved = _SavedBlocks.of(given, work, checkpoints)
    kept = np.empty((problem.n_candidates, problem.n_features)) if problem.rows.is_dense else None
    values: list[CandidateValues] = []
    n_done = 0
    with (
        one_blas_thread(),
        in_blocks(_solve_block, work, saved.missing, n_jobs=n_jobs, stop=work.stop) as solved,
    ):
        for of_block, coef, found in saved.completed(solved):
            values.append(of_block)
            if kept is not None:
                kept[n_done : n_done + len(coef)] = coef
            n_done += len(of_block.objective)
            on_block(found)
    return CandidateSolutions(problem, basis, solver, tops, CandidateValues.joined(values), kept)


@dataclass(frozen=True, eq=False)
class _Work(SentOnce):
    """Data shared by all blocks of pivots."""

    problem: PivotProblem
    solver: PivotSolver
    tops: Sequence[Top] = ()
    scales: bool = False
    stop: Stop = field(default_factory=Stop)

    def solutions(self, pivots: IntArray) -> PivotSolutions:
        """Solve the problems of some pivots."""
        return self.solver(self.problem, pivots, self.stop)


def _coefs_of_block(work: _Work, pivots: IntArray) -> FloatArray:
    """Weights for a block of pivots."""
    with one_blas_thread():
        return work.solutions(pivots).coef


def _solve_block(work: _Work, pivots: IntArray) -> tuple[CandidateValues, FloatArray]:
    """Solve for a block of pivots; numbers of each, and their weights if they are kept."""
    with one_blas_thread():
        solutions = work.solutions(pivots)
        if not np.all(np.isfinite(solutions.objective)):
            raise ValueError(
                "The scores overflow: the features are too large for float64 sums of squares;"
                " scale them, for example by StandardScaler."
            )
        coef = solutions.coef if work.problem.rows.is_dense else np.empty((0, 0))
        return _values(work, pivots, solutions), coef


def _values(work: _Work, pivots: IntArray, solutions: PivotSolutions) -> CandidateValues:
    """Numbers of the solutions for a block of pivots."""
    problem, tops, coef = work.problem, work.tops, solutions.coef
    scores = problem.scores(coef)
    of_pivots = scores[np.arange(len(pivots)), pivots]
    distance, objective_top, scaled = np.empty((3, len(pivots), len(tops)))
    quantiles = quantiles_at_masses(scores, [(top.mass, top.top_mass) for top in tops])
    for k, (top, quantile) in enumerate(zip(tops, quantiles, strict=True)):
        distance[:, k] = np.abs(of_pivots - quantile)
        objective_top[:, k] = scaled[:, k] = problem.objective(coef, scores, quantile)
        if work.scales:
            with_mass = replace(problem, mass=top.mass)
            scaled[:, k] = best_scales(with_mass, coef, top.top_mass)[1]
    return CandidateValues(
        objective=solutions.objective,
        lower_bound=solutions.lower_bound,
        n_iter=solutions.n_iter,
        converged=solutions.converged,
        distance=distance,
        objective_top=objective_top,
        scaled=scaled,
    )


@dataclass(frozen=True, eq=False)
class _SavedBlocks:
    """Blocks that an earlier fit solved, and where those that this one solves are kept."""

    blocks: list[IntArray]
    found: dict[int, tuple[CandidateValues, FloatArray]]
    checkpoint: Checkpoint | None

    @classmethod
    def of(cls, given: PivotProblem, work: _Work, checkpoints: Checkpoints | None) -> _SavedBlocks:
        """Read the blocks of a problem, told from others by the rows as they were given."""
        blocks = work.problem.blocks()
        if checkpoints is None:
            return cls(blocks, {}, None)
        checkpoint = checkpoints.of(
            (given.rows.matrix, given.y, given.cost, given.pivots),
            vars(work.solver),
            [(top.mass, top.top_mass) for top in work.tops],
            work.scales,
        )
        found = {}
        for number, block in enumerate(blocks):
            arrays = checkpoint.load(f"block-{number}", like=_arrays_of_block(work, len(block)))
            if arrays is not None:
                coef = arrays.pop("coef")
                found[number] = CandidateValues(**arrays), coef
        return cls(blocks, found, checkpoint)

    @property
    def missing(self) -> list[IntArray]:
        """The blocks that have to be solved."""
        return [block for number, block in enumerate(self.blocks) if number not in self.found]

    def completed(
        self, solved: Iterator[tuple[CandidateValues, FloatArray]]
    ) -> Iterator[tuple[CandidateValues, FloatArray, bool]]:
        """All blocks in order, with whether they were found; the others are kept as they come."""
        for number in range(len(self.blocks)):
            if number in self.found:
                yield *self.found.pop(number), True
                continue
            of_block, coef = next(solved)
            if self.checkpoint is not None:
                self.checkpoint.save(f"block-{number}", **vars(of_block), coef=coef)
            yield of_block, coef, False


def _arrays_of_block(work: _Work, n: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Kind and shape of what is kept of a block of n pivots."""
    one, each = (n,), (n, len(work.tops))
    return {
        "objective": ("f", one),
        "lower_bound": ("f", one),
        "n_iter": ("i", one),
        "converged": ("b", one),
        "distance": ("f", each),
        "objective_top": ("f", each),
        "scaled": ("f", each),
        "coef": ("f", (n, work.problem.n_features) if work.problem.rows.is_dense else (0, 0)),
    }


def _in_span_of_rows(problem: PivotProblem) -> tuple[PivotProblem, FloatArray | None]:
    """The same problems in the span of the rows, and its orthonormal basis where it was taken.

    Weights off the span only add to the norm, so that none of the problems has any.
    """
    rows = problem.rows
    if not rows.is_dense or problem.n_features <= len(problem.y):
        return problem, None
    basis, coordinates = np.linalg.qr(rows.to_array().T)
    return replace(problem, rows=DenseDesign(np.ascontiguousarray(coordinates.T))), basis
