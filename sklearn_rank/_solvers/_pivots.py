"""The convex problems through a pivot: objective, dual value, and their solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from .._optional import compiling_pays, import_optional
from .._typing import BoolArray, FloatArray, IntArray
from ._batched_newton import Batch, Splitting
from ._design import DenseDesign, InMemoryDesign, as_design
from ._result import relative_gap


class PivotSolutions(NamedTuple):
    """Solutions of the problems of several pivots, and how near these are to quantiles."""

    coef: FloatArray  # (n_pivots, n_features): Weight vectors
    objective: FloatArray  # (n_pivots,): Objective values at ``coef``
    lower_bound: FloatArray  # (n_pivots,): Values of a feasible dual point
    n_iter: IntArray  # (n_pivots,): Iterations taken
    tol: float  # Relative gap at which a problem counts as solved
    # (n_pivots, n_tops), or of one top: distance of the pivot from the quantile of the scores,
    # objective around that, and this for the best multiple of the weights
    distance: Any = None
    objective_top: Any = None
    scaled: Any = None

    @property
    def relative_gap(self) -> FloatArray:
        return relative_gap(self.objective, self.lower_bound)

    @property
    def converged(self) -> BoolArray:
        return self.relative_gap <= self.tol

    def of_top(self, number: int, order: Any = slice(None)) -> PivotSolutions:
        """What is known of each pivot, in an order, for one of the tops."""
        of_pivots = (values[order] for values in self[:4])
        of_top = (values[order, number] for values in self[5:])
        return PivotSolutions._make((*of_pivots, self.tol, *of_top))


BLOCK_SIZE = 64

# From how many features on, and up to how many rows, a table of the inner products of all rows
# pays: systems of the rows with free multipliers are then looked up.
MIN_FEATURES_FOR_PRODUCTS, MOST_ROWS_FOR_PRODUCTS = 32, 4096

# Entries up to which sparse rows are made dense, which is faster, and what compiled loops take.
MOST_DENSE_ENTRIES = 2**24


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
        if n * d <= MOST_DENSE_ENTRIES:
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
        n, d = self.rows.shape
        # Of a Newton step of all pivots; more features than rows are replaced by coordinates.
        nanoseconds = 0.2 * self.n_candidates * n * (min(n, d) + 20)
        return self.rows.is_dense and compiling_pays(nanoseconds)

    @cached_property
    def products(self) -> FloatArray:
        """Inner products of all rows where there are many dense features, else empty."""
        is_narrow = self.n_features < MIN_FEATURES_FOR_PRODUCTS
        if is_narrow or not self.rows.is_dense or len(self.y) > MOST_ROWS_FOR_PRODUCTS:
            return np.empty((0, 0))
        return np.ascontiguousarray(self.rows.scores(self.rows.to_array().T))

    @cached_property
    def splitting(self) -> Splitting:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return Splitting(self.rows, self.y, self.cost)

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
    refuse_interrupted(interrupted)
    points = problem.rows.rows(pivots).to_array()
    rows = problem.rows, problem.y, problem.cost, problem.products
    start = problem.splitting.start(points)
    if problem.is_compiled:
        from ._kernels import minimise

        found = minimise(*rows, points, *start, tol=tol, max_iter=max_iter)
    else:
        found = Batch(*rows).minimise(points, *start, tol=tol, max_iter=max_iter)
    coef, objective, lower_bound, n_iter = found
    return PivotSolutions(coef, objective, lower_bound, n_iter, tol)


def refuse_interrupted(interrupted: Callable[[], bool]) -> None:
    if interrupted():
        raise InterruptedError("The fit was interrupted.")


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
