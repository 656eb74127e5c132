"""Accuracy at the top: all candidates, and the selection of one solution."""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from .._checkpoint import Checkpoint, Checkpoints
from .._order import quantile_at_mass, quantiles_at_masses
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._design import DenseDesign
from ._pivots import (
    PivotProblem,
    PivotSolutions,
    prepare_newton,
    solve_pivots_cvxpy,
    solve_pivots_newton,
)
from ._refine import best_scales, refine_top
from ._result import Certificate, SolverResult, one_blas_thread, relative_gap

Result = TypeVar("Result")

# Addresses of arrays are multiples of this many bytes.
ALIGNED = 16

# Blocks for each worker that are handed at a time to a backend that returns all of them at once.
BLOCKS_AT_ONCE = 4


class SentOnce:
    """What all blocks need, large enough that no backend should send it with each of them.

    The arrays in it, if they are large, joblib writes once to a file in memory that its processes
    map. What it sends to dask's workers goes once to each, if its size says that it is large.
    """

    def __sizeof__(self) -> int:
        """Bytes that are sent, those of the arrays among them."""
        rest, arrays = _pickle_apart(self)
        return len(rest) + sum(array.nbytes for array in arrays)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was sent, as aligned in memory as it was, or sums would be of other bits."""
        rest, arrays = _pickle_apart(state)
        if any(array.ctypes.data % ALIGNED for array in arrays if array.size):
            state = pickle.loads(rest, buffers=[array.copy() for array in arrays])
        vars(self).update(state)


def _pickle_apart(value: Any) -> tuple[bytes, list[AnyArray]]:
    """Pickle without the contents of arrays, and these as bytes, not copied."""
    buffers: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return rest, [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]


class Stop:
    """Asks the threads of this process to give up; sent to another process, it never does."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def ask(self) -> None:
        self._event.set()

    def __call__(self) -> bool:
        return self._event.is_set()

    def __reduce__(self) -> tuple[Any, ...]:
        return Stop, ()


@contextmanager
def in_blocks(
    function: Callable[[Any, IntArray], Result],
    work: SentOnce,
    blocks: Sequence[IntArray],
    *,
    n_jobs: int | None,
    stop: Stop | None = None,
) -> Iterator[Iterator[Result]]:
    """Call a function for each block, by the joblib backend that is active, else by threads."""
    results = _run(function, work, blocks, effective_n_jobs(n_jobs))
    try:
        yield results
        for _ in results:  # to its end, where joblib gives back what it used
            pass
    except BaseException:
        if stop is not None:
            stop.ask()
        with warnings.catch_warnings():
            # joblib would warn of blocks that nobody took.
            warnings.simplefilter("ignore", UserWarning)
            results.close()
        raise


def _run(
    function: Callable[[Any, IntArray], Result],
    work: SentOnce,
    blocks: Sequence[IntArray],
    n_jobs: int,
) -> Generator[Result, None, None]:
    backend, _ = get_active_backend(prefer="threads")
    if backend.supports_return_generator:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        yield from parallel(delayed(function)(work, block) for block in blocks)
        return
    step = BLOCKS_AT_ONCE * n_jobs
    with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
        for start in range(0, len(blocks), step):
            yield from parallel(
                delayed(function)(work, block) for block in blocks[start : start + step]
            )


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
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        if self.name == "newton":
            return solve_pivots_newton(problem, pivots, interrupted=interrupted, **options)
        return solve_pivots_cvxpy(problem, pivots, **options)


class Top(NamedTuple):
    """A quantile of the scores: the largest such that the rows at or above it have a mass."""

    mass: FloatArray  # (n_rows,): Positive weight of each row of the problem in the quantile
    top_mass: float


class CandidateValues(NamedTuple):
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
    def concatenate(cls, blocks: list[CandidateValues]) -> CandidateValues:
        return cls._make(np.concatenate(values) for values in zip(*blocks, strict=True))

    def take(self, candidates: IntArray) -> CandidateValues:
        return CandidateValues._make(values[candidates] for values in self)

    def at_top(self, number: int) -> CandidateValues:
        """Take the values for one of several tops."""
        return self._replace(
            distance=self.distance[:, number],
            objective_top=self.objective_top[:, number],
            scaled=self.scaled[:, number],
        )


class CandidateSolutions(NamedTuple):
    """The solutions of Problem (2) for every distinct point, of which a top selects."""

    problem: PivotProblem
    basis: FloatArray | None
    solver: PivotSolver  # Solver that was used
    tops: Sequence[Top]
    values: CandidateValues
    all_coefs: FloatArray | None

    def coefs(self, candidates: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Weights of some candidates. Shape (m, n_coordinates)."""
        if self.all_coefs is not None:
            return self.all_coefs[candidates]
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
    on_block: Callable[[bool], None] = lambda is_saved: None,
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
    original, basis = problem, None
    if problem.rows.is_dense and problem.n_features > len(problem.y):
        # Weights off the span of the rows only add to the norm, so that no solution has any.
        basis, coordinates = np.linalg.qr(problem.rows.to_array().T)
        problem = replace(problem, rows=DenseDesign(np.ascontiguousarray(coordinates.T)))
    if solver.name == "newton":
        prepare_newton(problem)
    work = _Work(problem, solver, tops, scales)
    blocks, checkpoint = problem.blocks(), None
    saved: dict[int, _Block] = {}
    if checkpoints is not None:
        # Blocks of an earlier fit, told from others by the rows as they were given.
        checkpoint = checkpoints.of(
            (original.rows.matrix, original.y, original.cost, original.pivots),
            vars(solver),
            [(top.mass, top.top_mass) for top in tops],
            scales,
        )
        saved = _load_blocks(checkpoint, work, blocks)
    missing = [block for number, block in enumerate(blocks) if number not in saved]
    is_dense = problem.rows.is_dense
    all_coefs = np.empty((problem.n_candidates, problem.n_features)) if is_dense else None
    values: list[CandidateValues] = []
    n_done = 0
    with (
        one_blas_thread(),
        in_blocks(_solve_block, work, missing, n_jobs=n_jobs, stop=work.stop) as solved,
    ):
        for number in range(len(blocks)):
            is_saved = number in saved
            block_values, coef = saved.pop(number) if is_saved else next(solved)
            if checkpoint is not None and not is_saved:
                checkpoint.save(f"block-{number}", **block_values._asdict(), coef=coef)
            values.append(block_values)
            if all_coefs is not None:
                all_coefs[n_done : n_done + len(coef)] = coef
            n_done += len(block_values.objective)
            on_block(is_saved)
    all_values = CandidateValues.concatenate(values)
    return CandidateSolutions(problem, basis, solver, tops, all_values, all_coefs)


# Numbers of the candidates of a block, and their weights where these are held.
_Block: TypeAlias = tuple[CandidateValues, FloatArray]


@dataclass(frozen=True, eq=False)
class _Work(SentOnce):
    """Data shared by all blocks of pivots."""

    problem: PivotProblem
    solver: PivotSolver
    tops: Sequence[Top] = ()
    scales: bool = False
    stop: Stop = field(default_factory=Stop)


def _coefs_of_block(work: _Work, pivots: IntArray) -> FloatArray:
    with one_blas_thread():
        return work.solver(work.problem, pivots, work.stop).coef


def _solve_block(work: _Work, pivots: IntArray) -> _Block:
    problem, tops = work.problem, work.tops
    with one_blas_thread():
        solutions = work.solver(problem, pivots, work.stop)
        if not np.all(np.isfinite(solutions.objective)):
            raise ValueError(
                "The scores overflow: the features are too large for float64 sums of squares;"
                " scale them, for example by StandardScaler."
            )
        coef = solutions.coef
        scores = problem.scores(coef)
        pivot_scores = scores[np.arange(len(pivots)), pivots]
        distance, objective_top, scaled = np.empty((3, len(pivots), len(tops)))
        quantiles = quantiles_at_masses(scores, [(top.mass, top.top_mass) for top in tops])
        for k, (top, quantile) in enumerate(zip(tops, quantiles, strict=True)):
            distance[:, k] = np.abs(pivot_scores - quantile)
            objective_top[:, k] = scaled[:, k] = problem.objective(coef, scores, quantile)
            if work.scales:
                with_mass = replace(problem, mass=top.mass)
                scaled[:, k] = best_scales(with_mass, coef, top.top_mass)[1]
    certificates = solutions.objective, solutions.lower_bound, solutions.n_iter
    values = CandidateValues(*certificates, solutions.converged, distance, objective_top, scaled)
    return values, coef if problem.rows.is_dense else np.empty((0, 0))


def _load_blocks(checkpoint: Checkpoint, work: _Work, blocks: list[IntArray]) -> dict[int, _Block]:
    """Blocks that were solved, by their numbers."""
    loaded = {}
    for number, block in enumerate(blocks):
        n = len(block)
        of_tops = "f", (n, len(work.tops))
        like = {
            "objective": ("f", (n,)),
            "lower_bound": ("f", (n,)),
            "n_iter": ("i", (n,)),
            "converged": ("b", (n,)),
            "distance": of_tops,
            "objective_top": of_tops,
            "scaled": of_tops,
            "coef": ("f", (n, work.problem.n_features) if work.problem.rows.is_dense else (0, 0)),
        }
        arrays = checkpoint.load(f"block-{number}", like=like)
        if arrays is not None:
            coef = arrays.pop("coef")
            loaded[number] = CandidateValues(**arrays), coef
    return loaded


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
    on_block: Callable[[bool], None] = lambda is_saved: None,
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
    candidates, quantile = solutions.values.at_top(top), solutions.tops[top]
    averaged = None
    with one_blas_thread():
        if selection in ("average", "refine"):
            # The weights are no candidate's, and their pivot is a row at the quantile: around its
            # score Problem (2) and Problem (1) are one.
            with_mass = replace(problem, mass=quantile.mass)
            if selection == "average":
                coef, pivot, objective, averaged = _average(
                    solutions, with_mass, candidates, quantile.top_mass, n_jobs
                )
            else:
                likeliest = np.argsort(candidates.scaled, kind="stable")[:STARTS]
                starts = solutions.coefs(likeliest)
                tol = solutions.solver.tol
                refined = refine_top(with_mass, starts, quantile.top_mass, tol=tol)
                coef, pivot = refined.coef, refined.pivot
                objective = refined.certificate.objective
            candidate = int(np.searchsorted(problem.pivots, pivot, "right")) - 1
            distance, pivot_objective = 0.0, objective
        else:
            candidate = int(np.argmin(candidates.objective_top))
            if selection == "closest":
                candidate = int(_closest(candidates, solutions.solver.tol, 1)[0])
            coef = solutions.coefs(np.array([candidate]))[0]
            distance = float(candidates.distance[candidate])
            pivot_objective = float(candidates.objective[candidate])
            objective = float(candidates.objective_top[candidate])
    by_position = np.argsort(problem.candidate_indices)
    return AccuracyAtTopSolution(
        coef=coef if basis is None else basis @ coef,
        certificate=Certificate(
            objective,
            lower_bound=float(np.min(candidates.lower_bound)),
            n_iter=int(candidates.n_iter.max()),
            converged=bool(candidates.converged.all()),
        ),
        candidate=int(np.flatnonzero(by_position == candidate)[0]),
        distance=distance,
        pivot_objective=pivot_objective,
        candidate_indices=problem.candidate_indices[by_position],
        candidates=candidates.take(by_position),
        averaged=None if averaged is None else np.flatnonzero(np.isin(by_position, averaged)),
    )


def _closest(candidates: CandidateValues, tol: float, count: int) -> IntArray:
    """The candidates closest to their quantiles; of those that tie last, by the objective.

    Scores are in units of the margin, and not known any better than to the tolerance.
    """
    distance = candidates.distance
    largest = np.partition(distance, count - 1)[count - 1]
    closer = np.flatnonzero(distance < largest - tol)
    tied = np.flatnonzero(np.abs(distance - largest) <= tol)
    by_objective = tied[np.argsort(candidates.objective[tied], kind="stable")]
    return np.sort(np.concatenate((closer, by_objective[: count - len(closer)])))


def _average(
    solutions: CandidateSolutions,
    problem: PivotProblem,
    candidates: CandidateValues,
    top_mass: float,
    n_jobs: int | None,
) -> tuple[FloatArray, int, float, IntArray]:
    """Average the directions of the candidates closest to their quantiles.

    Returns the weights, a row at the quantile, the objective and the candidates.
    """
    averaged = _closest(candidates, solutions.solver.tol, max(1, problem.n_candidates // ONE_IN))
    coefs = solutions.coefs(averaged, n_jobs)
    norms = np.linalg.norm(coefs, axis=1)
    # Weights of zero have no direction, and none to give.
    mean = np.mean(coefs / np.where(norms > 0, norms, 1.0)[:, np.newaxis], axis=0)
    scale = best_scales(problem, mean[np.newaxis], top_mass)[0][0]
    # A value that no multiple lowers, as where the costs of positives are the greater total, is
    # no reason to rank all rows alike.
    coef = mean * (scale if scale > 0 else norms.mean())
    scores = problem.scores(coef)
    quantile = quantile_at_mass(scores, problem.mass, top_mass)
    objective = float(problem.objective(coef, scores, quantile))
    return coef, int(np.argmax(scores == quantile)), objective, averaged
