"""Accuracy at the top: all candidates, and the selection of one solution."""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

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

Done = TypeVar("Done")

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
        rest, arrays = _taken_apart(self)
        return len(rest) + sum(array.nbytes for array in arrays)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was sent, as aligned in memory as it was, or sums would be of other bits."""
        rest, arrays = _taken_apart(state)
        if any(array.ctypes.data % ALIGNED for array in arrays if array.size):
            state = pickle.loads(rest, buffers=[array.copy() for array in arrays])
        vars(self).update(state)


def _taken_apart(value: Any) -> tuple[bytes, list[AnyArray]]:
    """Pickle without the contents of arrays, and these as bytes, not copied."""
    buffers: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return rest, [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]


class Stop:
    """Asks the threads of this process to give up; sent to another process, it never does."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def ask(self) -> None:
        """Ask."""
        self._asked.set()

    def __call__(self) -> bool:
        """Whether it was asked."""
        return self._asked.is_set()

    def __reduce__(self) -> tuple[Any, ...]:
        return Stop, ()


@contextmanager
def in_blocks(
    function: Callable[[Any, IntArray], Done],
    work: SentOnce,
    blocks: Sequence[IntArray],
    *,
    n_jobs: int | None,
    stop: Stop | None = None,
) -> Iterator[Iterator[Done]]:
    """Call a function for each block, by the joblib backend that is active, else by threads."""
    done = _called(function, work, blocks, effective_n_jobs(n_jobs))
    try:
        yield done
        for _ in done:  # to its end, where joblib gives back what it used
            pass
    except BaseException:
        if stop is not None:
            stop.ask()
        with warnings.catch_warnings():
            # joblib would warn of blocks that nobody took.
            warnings.simplefilter("ignore", UserWarning)
            done.close()
        raise


def _called(
    function: Callable[[Any, IntArray], Done],
    work: SentOnce,
    blocks: Sequence[IntArray],
    n_jobs: int,
) -> Generator[Done, None, None]:
    backend, _ = get_active_backend(prefer="threads")
    if backend.supports_return_generator:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        yield from parallel(delayed(function)(work, block) for block in blocks)
        return
    step = BLOCKS_AT_ONCE * n_jobs
    with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
        for first in range(0, len(blocks), step):
            some = blocks[first : first + step]
            yield from parallel(delayed(function)(work, block) for block in some)


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
