"""Accuracy at the top: all candidates, the selection of one solution, and its refinement."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from .._order import quantile_at_mass, quantiles_at_masses
from .._typing import AnyArray, ArrayPair, BoolArray, FloatArray, IntArray
from ._design import DenseDesign
from ._linear import ROUNDED, cholesky_solver, search_line
from ._pivots import PivotProblem, PivotSolutions, solve_pivots_cvxpy, solve_pivots_newton
from ._result import Certificate, SolverResult, one_blas_thread

Result = TypeVar("Result")

# Addresses of arrays are multiples of this many bytes.
ALIGNED = 16


class SentOnce:
    """What all blocks need, large enough that no backend should send it with each of them.

    Large arrays are written once to memory that joblib's processes map; dask sends once to each
    worker what says that it is large. ``stopped`` asks threads of this process to give up.
    """

    stopped = False

    def __sizeof__(self) -> int:
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


@contextmanager
def in_blocks(
    function: Callable[[Any, IntArray], Result],
    work: SentOnce,
    blocks: Sequence[IntArray],
    *,
    n_jobs: int | None,
) -> Iterator[Iterator[Result]]:
    """Call a function for each block, by the joblib backend that is active, else by threads."""
    calls = [delayed(function)(work, block) for block in blocks]
    results = _run(calls, effective_n_jobs(n_jobs))
    try:
        yield results
        for _ in results:  # to its end, where joblib gives back what it used
            pass
    except BaseException:
        work.stopped = True
        with warnings.catch_warnings():
            # joblib would warn of blocks that nobody took.
            warnings.simplefilter("ignore", UserWarning)
            results.close()
        raise


def _run(calls: list[Any], n_jobs: int) -> Generator[Any, None, None]:
    backend, _ = get_active_backend(prefer="threads")
    if backend.supports_return_generator:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        yield from parallel(calls)
        return
    # Some at a time for a backend that returns all of them at once.
    with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
        for start in range(0, len(calls), n_jobs):
            yield from parallel(calls[start : start + n_jobs])


# A quantile of the scores, the largest such that the rows at or above it have a mass: the positive
# weight of each row of the problem in it, and that mass.
Top: TypeAlias = tuple[FloatArray, float]


class CandidateSolutions(NamedTuple):
    """The solutions of Problem (2) for every distinct point, of which a top selects."""

    problem: PivotProblem
    basis: FloatArray | None
    solve: Callable[..., PivotSolutions]
    tops: Sequence[Top]
    values: PivotSolutions  # Of sparse rows without weights

    def coefs(self, candidates: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Weights of some candidates. Shape (m, n_coordinates)."""
        if self.problem.rows.is_dense:
            return self.values.coef[candidates]
        work = _Work(self.problem, self.solve)
        blocks = self.problem.blocks(self.problem.pivots[candidates])
        with in_blocks(_coefs_of_block, work, blocks, n_jobs=n_jobs) as coefs:
            return np.concatenate(list(coefs))


def solve_candidates(
    problem: PivotProblem,
    tops: Sequence[Top],
    *,
    scales: bool = False,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 500,
    n_jobs: int | None = None,
    on_block: Callable[[], None] = lambda: None,
) -> CandidateSolutions:
    """Solve Problem (2) for every distinct point as the pivot, for any number of tops.

    The problems depend on rows and costs only; blocks of them are shared among ``n_jobs`` workers.
    Solutions of dense data are held, as many numbers as the data have; those of sparse data that
    are selected are solved for again.
    """
    by_solver: Any = solve_pivots_cvxpy if solver == "cvxpy" else solve_pivots_newton
    solve = partial(by_solver, tol=tol, max_iter=max_iter)
    basis = None
    if problem.rows.is_dense and problem.n_features > len(problem.y):
        # Weights off the span of the rows only add to the norm, so that no solution has any.
        basis, coordinates = np.linalg.qr(problem.rows.to_array().T)
        problem = replace(problem, rows=DenseDesign(np.ascontiguousarray(coordinates.T)))
    if solver != "cvxpy":
        _ = problem.products, problem.splitting  # which all blocks share
    work = _Work(problem, solve, tops, scales)
    blocks: list[PivotSolutions] = []
    with (
        one_blas_thread(),
        in_blocks(_solve_block, work, problem.blocks(), n_jobs=n_jobs) as solved,
    ):
        for block in solved:
            blocks.append(block)
            on_block()
    of_pivots = [block[:4] + block[5:] for block in blocks]
    joined = [np.concatenate(values) for values in zip(*of_pivots, strict=True)]
    values = PivotSolutions._make((*joined[:4], tol, *joined[4:]))
    return CandidateSolutions(problem, basis, solve, tops, values)


@dataclass(eq=False)
class _Work(SentOnce):
    """Data shared by all blocks of pivots."""

    problem: PivotProblem
    solve: Callable[..., PivotSolutions]
    tops: Sequence[Top] = ()
    scales: bool = False

    def solutions(self, pivots: IntArray) -> PivotSolutions:
        overflow = ValueError(
            "The scores overflow: the features are too large for float64 sums of squares; scale"
            " them, for example by StandardScaler."
        )
        try:
            solutions = self.solve(self.problem, pivots, interrupted=lambda: self.stopped)
        except np.linalg.LinAlgError as error:
            raise overflow from error
        if not np.all(np.isfinite(solutions.objective - solutions.lower_bound)):
            raise overflow
        return solutions


def _coefs_of_block(work: _Work, pivots: IntArray) -> FloatArray:
    with one_blas_thread():
        return work.solutions(pivots).coef


def _solve_block(work: _Work, pivots: IntArray) -> PivotSolutions:
    """Solutions of a block, with what selects from them, and without weights of sparse rows."""
    problem, tops = work.problem, work.tops
    with one_blas_thread():
        solutions = work.solutions(pivots)
        coef = solutions.coef
        scores = problem.scores(coef)
        pivot_scores = scores[np.arange(len(pivots)), pivots]
        distance, objective_top, scaled = np.empty((3, len(pivots), len(tops)))
        quantiles = quantiles_at_masses(scores, tops)
        for k, ((mass, top_mass), quantile) in enumerate(zip(tops, quantiles, strict=True)):
            distance[:, k] = np.abs(pivot_scores - quantile)
            objective_top[:, k] = scaled[:, k] = problem.objective(coef, scores, quantile)
            if work.scales:
                with_mass = replace(problem, mass=mass)
                scaled[:, k] = best_scales(with_mass, coef, top_mass)[1]
    coef = coef if problem.rows.is_dense else coef[:, :0]
    return PivotSolutions(coef, *solutions[1:5], distance, objective_top, scaled)


Selection = Literal["average", "closest", "objective", "refine"]

# One in so many candidates is averaged.
ONE_IN = 10

# Solutions from which the search for a better value of Problem (1) starts.
STARTS = 20


@dataclass(frozen=True, eq=False, kw_only=True)
class AccuracyAtTopSolution(SolverResult):
    """The selected solution, and what is known of all candidates."""

    candidate: int  # The candidate that was selected, an index into the arrays below
    distance: float
    pivot_objective: float  # Value of Problem (2) at ``coef``, hinge loss around the pivot's score
    candidate_indices: IntArray
    candidates: PivotSolutions  # What is known of each candidate
    averaged: IntArray | None


def solve_accuracy_at_top(
    problem: PivotProblem,
    *,
    top_mass: float,
    selection: Selection = "closest",
    n_jobs: int | None = None,
    **options: Any,
) -> AccuracyAtTopSolution:
    """Solve Problem (2) for every distinct point as the pivot and select one solution."""
    solutions = solve_candidates(
        problem, [(problem.mass, top_mass)], scales=selection == "refine", n_jobs=n_jobs, **options
    )
    return select_solution(solutions, selection, n_jobs=n_jobs)


def select_solution(
    solutions: CandidateSolutions,
    selection: Selection = "closest",
    top: int = 0,
    *,
    n_jobs: int | None = None,
) -> AccuracyAtTopSolution:
    """Select one of the solutions of Problem (2) for one top, average some, or refine the best."""
    problem, basis = solutions.problem, solutions.basis
    candidates, averaged = solutions.values.of_top(top), None
    with one_blas_thread():
        if selection in ("average", "refine"):
            mass, top_mass = solutions.tops[top]
            with_mass = replace(problem, mass=mass)
            if selection == "average":
                count = max(1, problem.n_candidates // ONE_IN)
                averaged = _closest(candidates, count)
                coefs = solutions.coefs(averaged, n_jobs)
                norms = np.linalg.norm(coefs, axis=1)
                # Weights of zero have no direction, and none to give.
                mean = np.mean(coefs / np.where(norms > 0, norms, 1.0)[:, np.newaxis], axis=0)
                scale = best_scales(with_mass, mean[np.newaxis], top_mass)[0][0]
                # A value that no multiple lowers, as where the costs of positives are the greater
                # total, is no reason to rank all rows alike.
                coef = mean * (scale if scale > 0 else norms.mean())
            else:
                likeliest = np.argsort(candidates.scaled, kind="stable")[:STARTS]
                starts = solutions.coefs(likeliest)
                coef = refine_top(with_mass, starts, top_mass, tol=candidates.tol).coef
            # The weights are no candidate's, and their pivot is a row at the quantile: around its
            # score Problem (2) and Problem (1) are one.
            scores = problem.scores(coef)
            quantile = quantile_at_mass(scores, mass, top_mass)
            pivot = int(np.argmax(scores == quantile))
            candidate = int(np.searchsorted(problem.pivots, pivot, "right")) - 1
            objective = pivot_objective = float(problem.objective(coef, scores, quantile))
            distance = 0.0
        else:
            candidate = int(np.argmin(candidates.objective_top))
            if selection == "closest":
                candidate = int(_closest(candidates, 1)[0])
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
        candidates=solutions.values.of_top(top, by_position),
        averaged=None if averaged is None else np.flatnonzero(np.isin(by_position, averaged)),
    )


def _closest(candidates: PivotSolutions, count: int) -> IntArray:
    """The candidates closest to their quantiles, to the tolerance; of ties, by the objective."""
    distance, tol = candidates.distance, candidates.tol
    largest = np.partition(distance, count - 1)[count - 1]
    closer = np.flatnonzero(distance < largest - tol)
    tied = np.flatnonzero(np.abs(distance - largest) <= tol)
    by_objective = tied[np.argsort(candidates.objective[tied], kind="stable")]
    return np.sort(np.concatenate((closer, by_objective[: count - len(closer)])))


# The method of multipliers: the penalty of a row is its cost times a factor that starts at 1, from
# other multipliers at PENALTY_WARM, and grows by PENALTY_GROWTH; an inner problem is solved until
# its squared gradient is INNER_RATIO times the dual progress. Chosen by the number of Newton steps
# on Ionosphere at C from .01 to 1.
PENALTY_WARM = 10.0
PENALTY_GROWTH = 3.0
INNER_RATIO = 0.01
MAX_NEWTON = 500


def best_scales(problem: PivotProblem, coef: FloatArray, top_mass: float) -> ArrayPair:
    """Find the best multiple a of each weight vector for Problem (1).

    The objective is convex in a, quadratic between the points b where a margin reaches 1: its
    derivative is 0 at the largest ``min(b, s)``, s the stationary point of the quadratic before b.
    """
    scores = problem.scores(coef)
    quantile = quantile_at_mass(scores, problem.mass, top_mass)
    margin = problem.y * (scores - quantile[:, np.newaxis])
    square = np.sum(coef**2, axis=1)[:, np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        kinks = np.where(margin > 0, 1.0 / margin, np.inf)
        order = np.argsort(kinks, axis=1)
        pull = np.take_along_axis(problem.cost * margin, order, axis=1)
        # From the right: the rows that still lose before the point.
        tail_pull = np.cumsum(pull[:, ::-1], axis=1)[:, ::-1]
        points = np.minimum(np.take_along_axis(kinks, order, axis=1), tail_pull / square)
    scale = np.maximum(np.max(points, axis=1), 0.0)
    scale[~np.isfinite(scale)] = 0.0
    column = scale[:, np.newaxis]
    return scale, problem.objective(column * coef, column * scores, scale * quantile)


def refine_top(
    problem: PivotProblem,
    coefs: FloatArray,
    top_mass: float,
    *,
    tol: float = 1e-6,
    max_steps: int = 200,
) -> SolverResult:
    """Lower the value of Problem (1), hinge loss around the quantile, to a local minimum."""
    with one_blas_thread():
        scales, objectives = best_scales(problem, coefs, top_mass)
        search = _ConeSearch(problem, top_mass, tol, max_steps)
        points = [search.best_of(np.zeros(problem.n_features))]
        for start in np.argsort(objectives, kind="stable")[:STARTS]:
            point = search.best_of(coefs[start], scales[start] * coefs[start])
            # From the order of the scores as given: at scale zero there is none.
            order = np.argsort(-problem.scores(coefs[start]), kind="stable")
            end = search.solve(order, point)
            points.append(point if end is None else search.reorder_ties(end))
        best = search.exchange(min(points, key=lambda point: point.value))
    steps: Any = {"n_iter": search.n_steps, "converged": search.n_steps < max_steps}
    return SolverResult(best.coef, Certificate(best.value, **steps))


class _Candidate(NamedTuple):
    """A weight vector, and the multipliers of the rows that made it, which sum to zero."""

    coef: FloatArray
    value: float
    multipliers: FloatArray | None = None


class _ConeSearch:
    """Steps from cone to cone, none taken twice."""

    def __init__(self, problem: PivotProblem, top_mass: float, tol: float, max_steps: int) -> None:
        self.problem, self.top_mass, self.tol, self.max_steps = problem, top_mass, tol, max_steps
        self.n_steps = 0
        self.solved: set[tuple[int, bytes]] = set()
        # Rows of one point, of both classes, stay together.
        self.point_of = np.searchsorted(problem.pivots, np.arange(len(problem.y)), "right") - 1

    def value(self, coef: FloatArray) -> float:
        scores = self.problem.scores(coef)
        quantile = quantile_at_mass(scores, self.problem.mass, self.top_mass)
        return float(self.problem.objective(coef, scores, quantile))

    def best_of(self, *coefs: FloatArray) -> _Candidate:
        points = [_Candidate(coef, self.value(coef)) for coef in coefs]
        return min(points, key=lambda point: point.value)

    def reorder_ties(self, point: _Candidate) -> _Candidate:
        while True:
            scores, pull, tied = self.ranks(point)
            if np.count_nonzero(tied) < 2:
                return point
            end = self.solve(_order(scores, pull, tied), point)
            if end is None:
                return point
            point = end

    def exchange(self, point: _Candidate) -> _Candidate:
        """Exchange rows across the quantile while that helps."""
        is_better = point.multipliers is not None
        while is_better and self.n_steps < self.max_steps:
            is_better = False
            for order in self.exchanges(point):
                end = self.solve(order, point)
                if end is not None:
                    point, is_better = self.reorder_ties(end), True
                    break
        return point

    def solve(self, order: IntArray, point: _Candidate) -> _Candidate | None:
        """Minimise over the cone of an order; None if that gains nothing or was tried before."""
        pivot, above = self.cone(order)
        key = pivot, above.tobytes()
        if key in self.solved or self.n_steps >= self.max_steps:
            return None
        self.solved.add(key)
        self.n_steps += 1
        cutoff = point.value * (1.0 - self.tol)
        end = _minimise(self, _Cone(self.problem, pivot, above), point.multipliers, cutoff)
        return end if end is not None and end.value < cutoff else None

    def cone(self, order: IntArray) -> tuple[int, BoolArray]:
        """The row of an order that reaches the mass, and which rows stand up to it."""
        reached = np.cumsum(self.problem.mass[order]) >= self.top_mass
        reached[-1] = True
        position = int(np.argmax(reached))
        above = np.zeros(len(order), dtype=bool)
        above[order[: position + 1]] = True
        return int(order[position]), above

    def ranks(self, point: _Candidate) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Scores less the quantile, what each row pulls upwards, and which rows are tied."""
        problem = self.problem
        scores = problem.scores(point.coef)
        scores = scores - quantile_at_mass(scores, problem.mass, self.top_mass)
        tied = np.abs(scores) <= ROUNDED * np.max(np.abs(scores))
        multipliers = np.zeros(len(tied)) if point.multipliers is None else point.multipliers
        pull = np.zeros(problem.n_candidates)
        np.add.at(pull, self.point_of, multipliers + problem.y * problem.cost)
        return np.where(tied, 0.0, scores), pull[self.point_of], tied

    def exchanges(self, point: _Candidate) -> list[IntArray]:
        """Orders with one row of the top and one of the rest exchanged, the likeliest first."""
        scores, pull, tied = self.ranks(point)
        order = _order(scores, pull, tied)
        _, above = self.cone(order)
        # A row of the wrong class is a margin nearer.
        key = scores + self.problem.y / 2
        inside, outside = np.flatnonzero(above), np.flatnonzero(~above)
        inside = inside[np.argsort(key[inside], kind="stable")][: self.max_steps]
        outside = outside[np.argsort(-key[outside], kind="stable")][: self.max_steps]
        distance = key[inside][:, np.newaxis] - key[outside]
        position = np.empty(len(order), dtype=np.intp)
        position[order] = np.arange(len(order))
        orders = []
        for pair in np.argsort(distance, axis=None, kind="stable")[: self.max_steps]:
            i, k = inside[pair // len(outside)], outside[pair % len(outside)]
            orders.append(order.copy())
            orders[-1][position[i]], orders[-1][position[k]] = k, i
        return orders


def _order(scores: FloatArray, pull: FloatArray, tied: BoolArray) -> IntArray:
    """The order in which tied rows that pull upwards come first."""
    return np.lexsort((np.arange(len(scores)), np.where(tied, -pull, 0.0), -scores))


class _Cone:
    """One convex problem, with every row turned to the side where it has to be.

    The signed distance of a row from the pivot, ``u = e.w`` with ``e = +-(x - z)``, has to be
    nonnegative, and costs ``c max(0, 1 - u)`` for rows of the right class, ``c (1 + u)`` for the
    others. Multipliers g are subgradients of that in u.
    """

    def __init__(self, problem: PivotProblem, pivot: int, above: BoolArray) -> None:
        self.rows, self.cost, self.pivot = problem.rows, problem.cost, pivot
        self.side = np.where(above, 1.0, -1.0)
        self.right = self.side * problem.y > 0
        self.z = self.rows.rows([pivot]).to_array()[0]
        self.cap = np.where(self.right, 0.0, self.cost)

    def forward(self, coef: FloatArray) -> FloatArray:
        return self.side * (self.rows.scores(coef) - self.z @ coef)

    def backward(self, g: FloatArray) -> FloatArray:
        signed = self.side * g
        return self.rows.pull_back(signed) - signed.sum() * self.z

    def gather(self, index: IntArray) -> FloatArray:
        return self.side[index, np.newaxis] * (self.rows.rows(index).to_array() - self.z)

    def multipliers(self, shifted: FloatArray, penalty: FloatArray) -> FloatArray:
        """Gradient of the smoothed losses, from ``penalty * u`` plus the multipliers before."""
        at_zero = np.minimum(shifted, -self.cost)
        at_one = np.minimum(shifted - penalty, 0.0)
        return np.where(
            self.right,
            np.where(shifted >= penalty - self.cost, at_one, at_zero),
            np.minimum(shifted, self.cost),
        )

    def curved_rows(self, shifted: FloatArray, penalty: FloatArray) -> IntArray:
        """Rows at a kink of their loss, for which the smoothed loss is curved."""
        near_one = (shifted > penalty - self.cost) & (shifted < penalty)
        return np.flatnonzero(
            np.where(self.right, near_one | (shifted < -self.cost), shifted < self.cost)
        )

    def dual_value(self, coef: FloatArray, g: FloatArray) -> float:
        """A lower bound on the loss of all weights in the cone, from multipliers."""
        gain = np.where(self.right, np.minimum(-g, self.cost), self.cost)
        return float(gain.sum() - coef @ coef / 2)

    def polish(self, g: FloatArray) -> FloatArray:
        """The minimiser if exactly the rows at a kink by their multipliers are there."""
        at_zero = np.where(self.right, g < -self.cost, g < self.cost)
        at_one = self.right & (g < 0) & (g > -self.cost)
        index = np.flatnonzero(at_zero | at_one)
        pull = -self.backward(np.where(at_zero | at_one, 0.0, g))
        if len(index) == 0:
            return pull
        signed_rows = self.gather(index)
        target = at_one[index] - signed_rows @ pull
        return pull + np.linalg.lstsq(signed_rows, target, rcond=None)[0]


def _minimise(
    search: _ConeSearch, cone: _Cone, multipliers: FloatArray | None, cutoff: float
) -> _Candidate | None:
    """Solve the problem of a cone; None if its dual value shows that it cannot beat the cutoff."""
    cost = cone.cost
    if multipliers is None:
        g, factor = np.zeros_like(cost), 1.0
    else:
        g, factor = np.minimum(cone.side * multipliers, cone.cap), PENALTY_WARM
    coef = -cone.backward(g)
    best = _Candidate(coef, np.inf)
    bound, n_newton = -np.inf, 0
    while True:
        penalty = factor * cost
        while True:
            distance = cone.forward(coef)
            shifted = penalty * distance + g
            new_g = cone.multipliers(shifted, penalty)
            gradient = coef + cone.backward(new_g)
            progress = float(np.sum((new_g - g) ** 2 / penalty))
            limit = max(INNER_RATIO * progress, 1e-26 * float(coef @ coef))
            if gradient @ gradient <= limit or n_newton >= MAX_NEWTON:
                break
            n_newton += 1
            step = _newton_step(cone, coef, (distance, g), penalty, gradient)
            if step is None:
                n_newton = MAX_NEWTON
                break
            coef = coef + step
        g = new_g
        coef = -cone.backward(g)
        bound = max(bound, cone.dual_value(coef, g))
        if bound >= cutoff:
            return None
        value = search.value(coef)
        if value < best.value:
            best = _Candidate(coef, value)
        n_newton += 1  # so that an outer step without any Newton step counts
        if best.value - bound <= search.tol * best.value or n_newton >= MAX_NEWTON:
            break
        factor *= PENALTY_GROWTH
    polished = search.best_of(cone.polish(g))
    if polished.value <= best.value * (1.0 + search.tol):  # rows that are tied are so exactly
        best = polished
    # Of the rows as they are, that of the pivot such that they sum to zero.
    multipliers = cone.side * g
    multipliers[cone.pivot] = 0.0
    multipliers[cone.pivot] = -multipliers.sum()
    return _Candidate(best.coef, best.value, multipliers)


def _newton_step(
    cone: _Cone, coef: FloatArray, start: Any, penalty: FloatArray, gradient: FloatArray
) -> FloatArray | None:
    """Minus the gradient through the inverse of the Hessian, None where rounding forbids it.

    So long that the slope of the smoothed objective has almost vanished. ``start`` are distances
    and multipliers of the rows.
    """
    distance, g = start
    curved, step = cone.curved_rows(penalty * distance + g, penalty), -gradient
    if len(curved):
        root = np.sqrt(penalty[curved])[:, np.newaxis] * cone.gather(curved)
        is_wide = root.shape[0] < root.shape[1]
        matrix = root @ root.T if is_wide else root.T @ root
        matrix[np.diag_indices_from(matrix)] += 1.0
        solve = cholesky_solver(matrix)
        if solve is None:
            return None
        step = root.T @ solve(root @ gradient) - gradient if is_wide else -solve(gradient)
    change = cone.forward(step)

    def at(length: float) -> tuple[FloatArray, float]:
        moved = cone.multipliers(penalty * (distance + length * change) + g, penalty)
        return length * step, float((coef + length * step) @ step + moved @ change)

    return search_line(at, float(gradient @ step), left=0.1)
