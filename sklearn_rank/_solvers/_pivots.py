"""The convex problems through a pivot: objective, dual value, and their solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from .._optional import import_optional, is_installed
from .._typing import BoolArray, FloatArray, IntArray
from ._batched_newton import Batch
from ._design import DenseDesign, InMemoryDesign, as_design
from ._linear import row_system
from ._result import relative_gap

# Sums over the rows whose multipliers are held at 1, for each pivot: of ``c_i y_i (x_i - z)``, of
# shape (n_pivots, n_features), and of ``c_i``.
Parked: TypeAlias = tuple[FloatArray, FloatArray]


class Start(NamedTuple):
    """Where the iteration starts for one pivot, or where it ended."""

    coef: FloatArray  # (n_features,)
    multipliers: FloatArray  # (n_rows,): Share of its cost that each row bears, from 0 to 1
    penalty: float  # That of the augmented Lagrangian


class PivotSolutions(NamedTuple):
    """Solutions of the problems of several pivots, with the values of a :class:`Certificate`."""

    coef: FloatArray  # (n_pivots, n_features): Weight vectors
    objective: FloatArray  # (n_pivots,): Objective values at ``coef``
    lower_bound: FloatArray  # (n_pivots,): Values of a feasible dual point
    n_iter: IntArray  # (n_pivots,): Iterations taken
    tol: float  # Relative gap at which a problem counts as solved
    multipliers: FloatArray = np.empty((0, 0))  # (n_pivots, n_rows), and penalties, if one goes on
    penalty: FloatArray = np.empty(0)

    @property
    def relative_gap(self) -> FloatArray:
        return relative_gap(self.objective, self.lower_bound)

    @property
    def converged(self) -> BoolArray:
        return self.relative_gap <= self.tol


class HingeRows(NamedTuple):
    """Rows with their signs, costs, and places in a table of inner products."""

    design: InMemoryDesign  # (n_rows, n_features)
    products: FloatArray  # (n_all, n_all): Inner products of rows, or empty
    numbers: IntArray  # (n_rows,): Places of the rows in this table
    y: FloatArray  # (n_rows,): Signs
    cost: FloatArray  # (n_rows,)

    def take(self, index: IntArray) -> HingeRows:
        design, numbers = self.design.rows(index), self.numbers[index]
        return HingeRows(design, self.products, numbers, self.y[index], self.cost[index])

    def work(self, n_iter: int) -> float:
        """Predict the products of some steps on these rows."""
        n, d = self.design.shape
        return n_iter * ((n + PER_STEP) * (d + PER_ROW) + min(n, d) ** 3 / 3)

    def margins(self, coef: FloatArray, pivots: FloatArray) -> FloatArray:
        """Margins ``1 - y_i w.(x_i - z)``. Shape (n_pivots, n_rows)."""
        shift = np.sum(coef * pivots, axis=1)
        return 1.0 - self.y * (self.design.scores(coef.T).T - shift[:, np.newaxis])

    def sum_held(self, held: FloatArray, pivots: FloatArray) -> Parked:
        cost = held * self.cost
        signed = cost * self.y
        vector = self.design.pull_back(signed.T).T - signed.sum(axis=1)[:, np.newaxis] * pivots
        return vector, cost.sum(axis=1)

    def minimise(
        self,
        pivots: FloatArray,
        *,
        tol: float,
        max_iter: int,
        start: Start | None = None,
        parked: Parked | None = None,
    ) -> PivotSolutions:
        """Solve the problems of some pivots, from nothing or from a start for the only one."""
        from .._jit import address_of_posv
        from ._kernels import solve_pivots

        n_pivots, d = pivots.shape
        if start is None:
            coef, multipliers = np.empty((n_pivots, d)), np.empty((n_pivots, len(self.y)))
        else:
            coef, multipliers = start.coef[np.newaxis].copy(), start.multipliers[np.newaxis].copy()
        penalty = np.full(n_pivots, 0.0 if start is None else start.penalty)
        objective, lower_bound = np.empty((2, n_pivots))
        values = objective, lower_bound, np.empty(n_pivots, dtype=np.int64)
        vector, parked_cost = parked or (np.zeros((n_pivots, d)), np.zeros(n_pivots))
        rows = *self.design.compiled_arrays(), *self[1:]
        points = np.ascontiguousarray(pivots), np.ascontiguousarray(vector), parked_cost
        settings = start is None, tol, max_iter, address_of_posv()
        solve_pivots(*rows, *points, *settings, coef, multipliers, penalty, *values)
        return PivotSolutions(coef, *values, tol, multipliers, penalty)


# The hinge is smoothed over this half width, in units of the margin. On 3,000 to 10,000 rows of
# 44 to 50 features, .1 to .4 predict alike, .02 twice as badly.
SMOOTHED = 0.2

# The relative gap and the most steps of this problem, whose solution is only a start.
TOLERANCE = 1e-3
MAX_ITER = 100

# The threshold is the weight of a constant feature, this many times as long as the rows, so that
# its share of the penalty does not count.
CONSTANT = 10.0


class FreeThreshold:
    """Solution of ``min over w and t of 1/2 |w|^2 + sum_i c_i max(0, 1 - y_i (w.x_i - t))``.

    The problem of a pivot z has the constraint ``w.z = t`` besides: its solution is near the
    minimiser of a quadratic model, ``I`` plus the outer products of rows with a margin about 0.
    """

    @np.errstate(over="ignore", invalid="ignore")
    def __init__(self, rows: InMemoryDesign, y: FloatArray, cost: FloatArray) -> None:
        # Value of the constant feature that every row has besides.
        self.constant = CONSTANT * max(1.0, float(np.sqrt(rows.squared_norms().mean())))
        column = np.full((len(y), 1), self.constant)
        stack: Any = np.hstack if rows.is_dense else sp.hstack
        augmented = cast(InMemoryDesign, as_design(stack([rows.matrix, column])))
        all_rows = HingeRows(augmented, np.empty((0, 0)), np.empty(0, dtype=np.int64), y, cost)
        origin = np.zeros((1, augmented.shape[1]))
        ends = all_rows.minimise(origin, tol=TOLERANCE, max_iter=MAX_ITER)
        self.coef, self.multipliers = ends.coef[0], ends.multipliers[0]
        self.margins = 1.0 - y * augmented.scores(self.coef)
        self._near = np.abs(self.margins) < SMOOTHED
        near, weight = (
            augmented.rows(np.flatnonzero(self._near)),
            cost[self._near] / (2 * SMOOTHED),
        )
        try:
            self._solve, _ = row_system(near, weight)
        except np.linalg.LinAlgError:  # beyond float64: then the prediction is the poorer for it
            self._solve = np.asarray

    def coefs_at(self, pivots: FloatArray) -> tuple[FloatArray, FloatArray]:
        coef, distance = np.empty(pivots.shape), np.empty(len(pivots))
        for k, pivot in enumerate(pivots):  # one by one: to the bit the same in any company
            point = np.append(pivot, self.constant)
            solved = self._solve(point[:, np.newaxis])[:, 0]
            distance[k] = point @ self.coef
            coef[k] = (self.coef - distance[k] / (point @ solved) * solved)[:-1]
        return coef, distance

    def multipliers_at(self, margins: FloatArray, rows: IntArray) -> FloatArray:
        """Predict the multipliers of some rows from the margins that the weights predict."""
        changed = self.multipliers[rows] + (margins - self.margins[rows]) / (2 * SMOOTHED)
        smoothed = 0.5 + margins / (2 * SMOOTHED)
        return np.clip(np.where(self._near[rows], changed, smoothed), 0.0, 1.0)


BLOCK_SIZE = 64

# From how many features on, up to how many rows and rows per feature, a table of the inner
# products of all rows pays: systems of the rows with free multipliers are then looked up.
MIN_FEATURES_FOR_PRODUCTS, MOST_ROWS_FOR_PRODUCTS, ROWS_PER_FEATURE = 100, 4096, 8


# What a row costs in a step besides its products, in products, and a step in rows; what all pivots
# with all rows may cost in a step for array operations to solve them in about a second; and the
# entries up to which sparse rows are then made dense.
PER_ROW = 20
PER_STEP = 500
MOST_WORK_IN_ARRAYS = 5e7
MOST_DENSE_ENTRIES = 2**22


def _work(n_pivots: int, shape: tuple[int, int]) -> int:
    """Products of a step of all pivots. More features than rows are replaced by coordinates."""
    n, d = shape
    return n_pivots * n * (min(n, d) + PER_ROW)


def most_blocks(n_rows: int) -> int:
    """Count the blocks of problems that rows have if all are distinct."""
    return -(-n_rows // BLOCK_SIZE)


@dataclass(frozen=True, eq=False)
class PivotProblem:
    """Hinge loss around the score of a pivot, for every distinct row z as the pivot.

    ``min over w of 1/2 |w|^2 + sum_i c_i max(0, 1 - y_i w.(x_i - z))`` is Problem (2) of Boyd,
    Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, with one cost per row. Its
    dual is ``max over 0 <= a <= c of sum_i a_i - 1/2 |sum_i a_i y_i (x_i - z)|^2``, Eq. (3).
    """

    rows: InMemoryDesign
    y: FloatArray
    cost: FloatArray  # (n_rows,): Positive cost of a unit of hinge loss
    mass: FloatArray  # (n_rows,): Positive weight of the row in the quantile of the scores
    pivots: IntArray  # (n_candidates,): Row number of each distinct point
    candidate_indices: IntArray
    samples: IntArray
    starts: IntArray  # (n_rows,): Where in ``samples`` those of each row start

    @classmethod
    def from_rows(
        cls,
        X: Any,
        y: FloatArray,
        cost: FloatArray,
        mass: FloatArray,
        coordinates: Callable[[IntArray], FloatArray] | None = None,
    ) -> PivotProblem:
        """Merge equal rows of one class and list the distinct points."""
        design = cast(InMemoryDesign, as_design(X))
        n, d = design.shape
        if n * d <= MOST_DENSE_ENTRIES and _work(n, design.shape) <= MOST_WORK_IN_ARRAYS:
            design = DenseDesign(design.to_array())
        design = design.canonical()
        keys = design.row_keys()
        order = sorted(range(len(keys)), key=lambda i: (keys[i], y[i], i))
        # Rows by value, not by position: the same data in another order, or with a weight
        # instead of a repetition, give the same arithmetic and so the same bits.
        starts: list[int] = []
        pivots: list[int] = []
        candidates: list[int] = []
        for position, i in enumerate(order):
            previous = order[position - 1] if position else None
            if previous is None or keys[i] != keys[previous]:
                pivots.append(len(starts))
                candidates.append(i)
                starts.append(position)
            else:
                candidates[-1] = min(candidates[-1], i)
                if y[i] != y[previous]:
                    starts.append(position)
        samples, offsets = np.asarray(order), np.asarray(starts)
        index = samples[offsets]
        rows = design.rows(index) if coordinates is None else DenseDesign(coordinates(index))
        return cls(
            rows=rows.move(np.asarray(rows.matrix.mean(axis=0))),
            y=np.ascontiguousarray(y[index], dtype=np.float64),
            cost=np.add.reduceat(cost[samples], offsets),
            mass=np.add.reduceat(mass[samples], offsets),
            pivots=np.asarray(pivots, dtype=np.int64),
            candidate_indices=np.asarray(candidates, dtype=np.int64),
            samples=samples,
            starts=offsets,
        )

    def merge(self, weight: FloatArray) -> FloatArray:
        """Sum weights of the samples over those that were merged into one row. Shape (n_rows,)."""
        return np.add.reduceat(weight[self.samples], self.starts)

    @property
    def n_candidates(self) -> int:
        return len(self.pivots)

    @cached_property
    def is_compiled(self) -> bool:
        """Whether compiled loops solve the problems, which are faster but have to be compiled."""
        is_small = _work(self.n_candidates, self.rows.shape) <= MOST_WORK_IN_ARRAYS
        return not (is_small and self.rows.is_dense) and is_installed("numba")

    @cached_property
    def products(self) -> FloatArray:
        """Inner products of all rows where there are many dense features, else empty."""
        is_narrow = self.n_features < max(
            MIN_FEATURES_FOR_PRODUCTS, len(self.y) / ROWS_PER_FEATURE
        )
        if is_narrow or not self.rows.is_dense or len(self.y) > MOST_ROWS_FOR_PRODUCTS:
            return np.empty((0, 0))
        return np.ascontiguousarray(self.rows.scores(self.rows.to_array().T))

    @cached_property
    def hinge_rows(self) -> HingeRows:
        return HingeRows(self.rows, self.products, np.arange(len(self.y)), self.y, self.cost)

    @cached_property
    def free_threshold(self) -> FreeThreshold:
        """The problem without a pivot, from which those of all pivots start."""
        return FreeThreshold(self.rows, self.y, self.cost)

    @cached_property
    def has_bands(self) -> bool:
        """Whether problems take less work on bands of rows, as some of them show."""
        probed = self.pivots[:: max(1, self.n_candidates // N_PROBED)]
        points = self.rows.rows(probed).to_array()
        on_bands = _Groups(self, 1e-6, 500, lambda: False).solve(points)
        steps = sum(state.work for state in on_bands) / self.hinge_rows.work(1)
        # Enough steps to see whether all rows take more of them.
        on_all = self.hinge_rows.minimise(points, tol=1e-6, max_iter=int(2 * steps / len(points)))
        return bool(on_all.n_iter.sum() > steps or not on_all.converged.all())

    def blocks(self, pivots: IntArray | None = None) -> list[IntArray]:
        pivots = self.pivots if pivots is None else pivots
        return [pivots[start : start + BLOCK_SIZE] for start in range(0, len(pivots), BLOCK_SIZE)]

    @property
    def n_features(self) -> int:
        return self.rows.shape[1]

    def scores(self, coef: FloatArray) -> FloatArray:
        """Score every row, up to a constant per weight vector."""
        scores = self.rows.scores(np.atleast_2d(coef).T).T
        return scores.reshape(*coef.shape[:-1], len(self.y))

    def objective(self, coef: FloatArray, scores: FloatArray, threshold: FloatArray) -> FloatArray:
        """Evaluate ``1/2 |w|^2 + sum_i c_i max(0, 1 - y_i (score_i - t))``. Shape (...)."""
        hinge = np.maximum(1.0 - self.y * (scores - np.asarray(threshold)[..., None]), 0.0)
        return np.asarray(0.5 * np.sum(coef**2, axis=-1) + hinge @ self.cost)


# Problems that are solved in both ways, to see whether bands of rows cost less than all rows; and
# what a call of the compiled loops on a band costs besides its steps, in products.
N_PROBED = 8
BAND_OVERHEAD = 7e5

# Pivots whose products with all rows are taken together.
GROUP_SIZE = 8

# Half width of the band, in units of the margin, where the pivot scores the free threshold; how
# much wider for each margin between the two; and the least number of rows: some, and this share
# of all, but no more than there are features.
BAND = 0.1
BAND_PER_DISTANCE = 0.1
LEAST_ROWS = 64
LEAST_SHARE = 0.25

# Relative gap from which on a band is narrowed to this share of its width.
ROUGH = 1e-4
NARROWED = 0.25

# Penalty of a predicted start; where margins were found wrong by v, PENALTY_TIMES_ERROR / v.
PENALTY = 1.0
PENALTY_TIMES_ERROR = 0.2

# Bands that are tried before all rows are taken.
MAX_BANDS = 4


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def solve_pivots_newton(
    problem: PivotProblem,
    pivots: IntArray,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    interrupted: Callable[[], bool] = lambda: False,
) -> PivotSolutions:
    """Solve the problems of some pivots by an augmented Lagrangian with Newton steps."""
    points = problem.rows.rows(pivots).to_array()
    if not problem.is_compiled:
        refuse_interrupted(interrupted)
        batch = Batch(problem.rows, problem.y, problem.cost, problem.products)
        return PivotSolutions(*batch.minimise(points, tol=tol, max_iter=max_iter), tol)
    if not problem.has_bands:
        return problem.hinge_rows.minimise(points, tol=tol, max_iter=max_iter)
    groups = _Groups(problem, tol, max_iter, interrupted)
    states = [
        state
        for start in range(0, len(pivots), GROUP_SIZE)
        for state in groups.solve(points[start : start + GROUP_SIZE])
    ]
    names = "best", "objective", "lower_bound", "n_iter"
    values = [np.array([getattr(state, name) for state in states]) for name in names]
    return PivotSolutions(values[0], values[1], values[2], values[3], tol)


def refuse_interrupted(interrupted: Callable[[], bool]) -> None:
    if interrupted():
        raise InterruptedError("The fit was interrupted.")


@dataclass(eq=False)
class _PivotState:
    """How far the problem of one pivot has come: latest and best weights, margins of all rows."""

    point: FloatArray
    coef: FloatArray
    margins: FloatArray
    width: float
    best: FloatArray
    error: float | None = None  # Largest margin on the wrong side; None: margins are predicted
    objective: float = np.inf
    lower_bound: float = -np.inf
    n_iter: int = 0
    work: float = 0.0  # Products that its steps took

    def take_ends(self, ends: PivotSolutions, rows: HingeRows) -> None:
        self.coef = ends.coef[0]
        self.lower_bound = max(self.lower_bound, float(ends.lower_bound[0]))
        self.n_iter += int(ends.n_iter[0])
        self.work += rows.work(int(ends.n_iter[0])) + BAND_OVERHEAD

    def take_margins(self, margins: FloatArray, cost: FloatArray) -> None:
        """Take the margins of the latest weights, and store these if they are the best."""
        self.margins = margins
        value = 0.5 * float(self.coef @ self.coef) + float(np.maximum(margins, 0.0) @ cost)
        if not value >= self.objective:
            self.objective, self.best = value, self.coef


class _Groups:
    """Groups of pivots, whose products with all rows are taken together.

    Each problem is solved on a band of rows with margins about 0, the multipliers of others held;
    where some are found on the other side the band is widened.
    """

    def __init__(
        self, problem: PivotProblem, tol: float, max_iter: int, interrupted: Callable[[], bool]
    ) -> None:
        self.rows, self.free = problem.hinge_rows, problem.free_threshold
        self.tol, self.max_iter, self.interrupted = tol, max_iter, interrupted

    @np.errstate(over="ignore", invalid="ignore")
    def solve(self, points: FloatArray) -> list[_PivotState]:
        coef, distance = self.free.coefs_at(points)
        margins = self.rows.margins(coef, points)
        states = [
            _PivotState(z, w, u, BAND + BAND_PER_DISTANCE * abs(d), best=w)
            for z, w, u, d in zip(points, coef, margins, distance, strict=True)
        ]
        pending = states
        for _ in range(MAX_BANDS):
            self._solve_on_bands(pending)
            pending = [state for state in pending if self._is_pending(state)]
            if not pending:
                return states
        for state in pending:  # from nothing, without a band
            point = state.point[np.newaxis]
            ends = self.rows.minimise(point, tol=self.tol, max_iter=self.max_iter - state.n_iter)
            state.take_ends(ends, self.rows)
            state.take_margins(self.rows.margins(ends.coef, point)[0], self.rows.cost)
        return states

    def _is_pending(self, state: _PivotState) -> bool:
        gap = state.objective - state.lower_bound
        return not gap <= self.tol * state.objective and state.n_iter < self.max_iter

    def _solve_on_bands(self, states: list[_PivotState]) -> None:
        """Solve each problem on its band, and evaluate it on all rows."""
        points = np.array([state.point for state in states])
        bands = np.array([self._band(state) for state in states])
        held = np.array([state.margins > 0 for state in states]) & ~bands
        vector, cost = self.rows.sum_held(held, points)
        for k, state in enumerate(states):
            parked = vector[k : k + 1], cost[k : k + 1]
            self._solve_on_band(state, np.flatnonzero(bands[k]), parked)
        margins = self.rows.margins(np.array([state.coef for state in states]), points)
        for k, state in enumerate(states):
            outside = ~bands[k] & ((margins[k] > 0) != held[k])
            state.error = float(np.abs(margins[k][outside]).max(initial=0.0))
            state.width = max(2.0 * state.error, NARROWED * state.width)
            state.take_margins(margins[k], self.rows.cost)

    def _band(self, state: _PivotState) -> BoolArray:
        """Rows with margins about 0, at least as many as a solution may need."""
        size = np.abs(state.margins)
        n, d = len(size), len(state.coef)
        least = min(n, LEAST_ROWS + min(d, int(LEAST_SHARE * n)))
        band: BoolArray = size <= max(state.width, np.partition(size, least - 1)[least - 1])
        return band

    def _start(self, state: _PivotState, band: IntArray) -> Start:
        margins = state.margins[band]
        if state.error is None:
            return Start(state.coef, self.free.multipliers_at(margins, band), PENALTY)
        penalty = PENALTY_TIMES_ERROR / max(state.error, 1e-3)
        return Start(state.coef, np.clip(0.5 + penalty * margins, 0.0, 1.0), penalty)

    def _solve_on_band(self, state: _PivotState, band: IntArray, parked: Parked) -> None:
        """Solve roughly on a band, then on a narrower one within it, on the first if need be."""
        part = self.rows.take(band)
        start = self._minimise(state, part, self._start(state, band), parked, ROUGH)
        point = state.point[np.newaxis]
        margins = part.margins(state.coef[np.newaxis], point)[0]
        inner = np.abs(margins) <= NARROWED * state.width
        if np.count_nonzero(inner) >= LEAST_ROWS and np.mean(inner) < 0.5:
            held = ~inner & (margins > 0)
            vector, cost = part.sum_held(held[np.newaxis], point)
            all_parked = parked[0] + vector, parked[1] + cost
            index = np.flatnonzero(inner)
            inner_start = Start(start.coef, start.multipliers[index], start.penalty)
            end = self._minimise(state, part.take(index), inner_start, all_parked, 0.5 * self.tol)
            margins = part.margins(state.coef[np.newaxis], point)[0]
            wrong = ~inner & ((margins > 0) != held)
            if not wrong.any():
                return
            error = float(np.abs(margins[wrong]).max())
            penalty = min(end.penalty, PENALTY_TIMES_ERROR / error)
            multipliers = np.clip(0.5 + penalty * margins, 0.0, 1.0)
            start = Start(state.coef, multipliers, penalty)
        self._minimise(state, part, start, parked, 0.5 * self.tol)

    def _minimise(
        self, state: _PivotState, rows: HingeRows, start: Start, parked: Parked, tol: float
    ) -> Start:
        refuse_interrupted(self.interrupted)
        ends = rows.minimise(
            state.point[np.newaxis],
            tol=tol,
            max_iter=self.max_iter - state.n_iter,
            start=start,
            parked=parked,
        )
        state.take_ends(ends, rows)
        return Start(ends.coef[0], ends.multipliers[0], float(ends.penalty[0]))


def solve_pivots_cvxpy(
    problem: PivotProblem,
    pivots: IntArray,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    interrupted: Callable[[], bool] = lambda: False,
) -> PivotSolutions:
    """Solve the problems of some pivots with cvxpy and its interior-point solver Clarabel."""
    cp = import_optional("cvxpy", "solver='cvxpy'", ", or leave solver='auto'")

    # The solver's tolerances are for problems of unit size: the weights are w = unit w'.
    unit = float(np.sqrt(np.mean(problem.cost)))
    rows, y, cost = problem.rows.matrix * unit, problem.y, problem.cost / unit**2
    coef = cp.Variable(problem.n_features)
    slack = cp.Variable(len(y), nonneg=True)
    pivot = cp.Parameter(problem.n_features)
    margin = slack >= 1 - cp.multiply(y, rows @ coef - pivot @ coef)
    quadratic = cp.Problem(cp.Minimize(cp.sum_squares(coef) / 2 + cost @ slack), [margin])

    options = {
        "max_iter": max_iter,
        "tol_gap_abs": tol / 100 * float(np.min(cost)),
        "tol_gap_rel": tol / 100,
        "tol_feas": min(tol / 100, 1e-8),
    }
    n_pivots = len(pivots)
    solutions = np.zeros((n_pivots, problem.n_features))
    lower_bound = np.zeros(n_pivots)
    n_iter = np.zeros(n_pivots, dtype=np.int64)
    for index, row in enumerate(pivots):
        refuse_interrupted(interrupted)
        pivot.value = unit * problem.rows.rows([row]).to_array()[0]
        # The steps of Problem.solve, without its warning for a solution that is not accurate: the
        # certificate says how accurate it is.
        data, chain, inverse = quadratic.get_problem_data(cp.CLARABEL, solver_opts=options)
        result = chain.invert(chain.solve_via_data(quadratic, data, solver_opts=options), inverse)
        if result.status not in cp.settings.SOLUTION_PRESENT:
            continue
        quadratic.unpack(result)
        multipliers = np.clip(margin.dual_value, 0.0, cost)
        signed = y * multipliers
        span = unit * problem.rows.pull_back(signed) - signed.sum() * pivot.value
        solutions[index] = unit * coef.value
        share = min(1.0, multipliers.sum() / max(span @ span, 1e-300))  # is feasible, and better
        lower_bound[index] = unit**2 * (share * multipliers.sum() - share**2 * (span @ span) / 2)
        n_iter[index] = result.attr[cp.settings.NUM_ITERS]
    scores = problem.scores(solutions)
    objective = problem.objective(solutions, scores, scores[np.arange(n_pivots), pivots])
    return PivotSolutions(solutions, objective, lower_bound, n_iter, tol)
