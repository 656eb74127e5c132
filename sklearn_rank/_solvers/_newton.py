"""The fast solver: method of multipliers with semismooth Newton steps in compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ._hinge_rows import HingeRows, Parked, Start
from ._pivot_problem import PivotProblem, PivotSolutions

__all__ = ["prepare_newton", "solve_pivots_newton"]

# From how many features on, or rows times features with some for what a row costs besides,
# problems start from the one with a free threshold and are solved on bands of rows.
MANY_FEATURES = 100
MANY_ENTRIES = 150_000
PER_ROW = 20

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


def prepare_newton(problem: PivotProblem) -> None:
    """Compile the kernel, or load it from numba's cache, and find what all pivots share."""
    from ._pivot_kernels import solve_pivots

    solve_pivots.compile()
    if _is_large(problem):
        _ = problem.hinge_rows, problem.free_threshold


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
    if not _is_large(problem):
        ends = problem.hinge_rows.minimise(points, tol=tol, max_iter=max_iter)
        return PivotSolutions.judged(
            ends.coef, ends.objective, ends.lower_bound, ends.n_iter, tol=tol
        )
    groups = _Groups(problem, tol, max_iter, interrupted)
    states = [
        state
        for first in range(0, len(pivots), GROUP_SIZE)
        for state in groups.solved(points[first : first + GROUP_SIZE])
    ]
    return PivotSolutions.judged(
        np.array([state.best for state in states]).reshape(points.shape),
        np.array([state.objective for state in states]),
        np.array([state.lower_bound for state in states]),
        np.array([state.n_iter for state in states], dtype=np.int64),
        tol=tol,
    )


def _is_large(problem: PivotProblem) -> bool:
    n, d = problem.rows.shape
    return d >= MANY_FEATURES or n * (d + PER_ROW) >= MANY_ENTRIES


@dataclass(eq=False)
class _State:
    """How far the problem of one pivot has come.

    ``coef`` are the latest weights and ``margins`` those of all rows; ``error`` is by how much
    margins were found on the wrong side of 0, None as long as they are predictions.
    """

    point: FloatArray
    coef: FloatArray
    margins: FloatArray
    width: float
    best: FloatArray
    error: float | None = None
    objective: float = np.inf
    lower_bound: float = -np.inf
    n_iter: int = 0

    def judge(self, margins: FloatArray, cost: FloatArray) -> None:
        """Take the margins of the latest weights, and keep these if they are the best."""
        self.margins = margins
        value = 0.5 * float(self.coef @ self.coef) + float(np.maximum(margins, 0.0) @ cost)
        if not value >= self.objective:
            self.objective, self.best = value, self.coef

    def is_solved(self, tol: float) -> bool:
        """Whether the relative gap is at most ``tol``."""
        return self.objective - self.lower_bound <= tol * self.objective


class _Groups:
    """Groups of pivots, whose products with all rows are taken together.

    Each problem is solved on a band of rows with margins about 0, all others with their
    multipliers held at 0 or 1. Then the margins of all rows give its value, and where some are
    found on the other side the band is widened.
    """

    def __init__(
        self, problem: PivotProblem, tol: float, max_iter: int, interrupted: Callable[[], bool]
    ) -> None:
        self.rows, self.free = problem.hinge_rows, problem.free_threshold
        self.tol, self.max_iter, self.interrupted = tol, max_iter, interrupted

    def solved(self, points: FloatArray) -> list[_State]:
        """Solve the problems of a group."""
        with np.errstate(over="ignore", invalid="ignore"):
            coef, distance = self.free.coefs_at(points)
            margins = self.rows.margins(coef, points)
            states = [
                _State(z, w, u, BAND + BAND_PER_DISTANCE * abs(away), best=w)
                for z, w, u, away in zip(points, coef, margins, distance, strict=True)
            ]
            pending = states
            for _ in range(MAX_BANDS):
                self._solve_on_bands(pending)
                pending = [state for state in pending if self._goes_on(state)]
                if not pending:
                    return states
            for state in pending:
                self._solve_on_all_rows(state)
        return states

    def _goes_on(self, state: _State) -> bool:
        return not state.is_solved(self.tol) and state.n_iter < self.max_iter

    def _solve_on_bands(self, states: list[_State]) -> None:
        """Solve each problem on its band, and judge it by all rows."""
        points = np.array([state.point for state in states])
        bands = np.array([self._band(state) for state in states])
        held = np.array([state.margins > 0 for state in states]) & ~bands
        parked = self.rows.parked(held, points)
        for k, state in enumerate(states):
            of_state = Parked(parked.vector[k : k + 1], parked.cost[k : k + 1])
            self._solve_on_band(state, np.flatnonzero(bands[k]), of_state)
        margins = self.rows.margins(np.array([state.coef for state in states]), points)
        for k, state in enumerate(states):
            outside = ~bands[k] & ((margins[k] > 0) != held[k])
            state.error = float(np.abs(margins[k][outside]).max(initial=0.0))
            state.width = max(2.0 * state.error, NARROWED * state.width)
            state.judge(margins[k], self.rows.cost)

    def _band(self, state: _State) -> BoolArray:
        """Rows with margins about 0, at least as many as a solution may need."""
        size = np.abs(state.margins)
        n, d = len(size), len(state.coef)
        least = min(n, LEAST_ROWS + min(d, int(LEAST_SHARE * n)))
        band: BoolArray = size <= max(state.width, np.partition(size, least - 1)[least - 1])
        return band

    def _start(self, state: _State, band: IntArray) -> Start:
        margins = state.margins[band]
        if state.error is None:
            return Start(state.coef, self.free.multipliers_at(margins, band), PENALTY)
        penalty = PENALTY_TIMES_ERROR / max(state.error, 1e-3)
        return Start(state.coef, np.clip(0.5 + penalty * margins, 0.0, 1.0), penalty)

    def _solve_on_band(self, state: _State, band: IntArray, parked: Parked) -> None:
        """Solve roughly on a band, then on a narrower one within it, on the first if need be."""
        part = self.rows.take(band)
        start = self._minimise(state, part, self._start(state, band), parked, ROUGH)
        point = state.point[np.newaxis]
        margins = part.margins(state.coef[np.newaxis], point)[0]
        inner = np.abs(margins) <= NARROWED * state.width
        if np.count_nonzero(inner) >= LEAST_ROWS and np.mean(inner) < 0.5:
            held = ~inner & (margins > 0)
            more = part.parked(held[np.newaxis], point)
            both = Parked(parked.vector + more.vector, parked.cost + more.cost)
            index = np.flatnonzero(inner)
            within = Start(start.coef, start.multipliers[index], start.penalty)
            found = self._minimise(state, part.take(index), within, both, 0.5 * self.tol)
            margins = part.margins(state.coef[np.newaxis], point)[0]
            wrong = ~inner & ((margins > 0) != held)
            if not wrong.any():
                return
            error = float(np.abs(margins[wrong]).max())
            penalty = min(found.penalty, PENALTY_TIMES_ERROR / error)
            multipliers = np.clip(0.5 + penalty * margins, 0.0, 1.0)
            start = Start(state.coef, multipliers, penalty)
        self._minimise(state, part, start, parked, 0.5 * self.tol)

    def _minimise(
        self, state: _State, rows: HingeRows, start: Start, parked: Parked, tol: float
    ) -> Start:
        """Go on with a problem on some rows."""
        if self.interrupted():
            raise InterruptedError("The fit was interrupted.")
        ends = rows.minimise(
            state.point[np.newaxis],
            tol=tol,
            max_iter=self.max_iter - state.n_iter,
            start=start,
            parked=parked,
        )
        state.coef = ends.coef[0]
        state.lower_bound = max(state.lower_bound, float(ends.lower_bound[0]))
        state.n_iter += int(ends.n_iter[0])
        return Start(ends.coef[0], ends.multipliers[0], float(ends.penalty[0]))

    def _solve_on_all_rows(self, state: _State) -> None:
        """Solve a problem from nothing, without a band."""
        point = state.point[np.newaxis]
        ends = self.rows.minimise(point, tol=self.tol, max_iter=self.max_iter - state.n_iter)
        state.coef = ends.coef[0]
        state.lower_bound = max(state.lower_bound, float(ends.lower_bound[0]))
        state.n_iter += int(ends.n_iter[0])
        state.judge(self.rows.margins(ends.coef, point)[0], self.rows.cost)
