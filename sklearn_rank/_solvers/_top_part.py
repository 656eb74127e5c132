"""Problem of positives above the top of other rows, and its restriction to fewer rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ._design import Design, InMemoryDesign
from ._difference_losses import DifferenceLoss
from ._result import relative_gap
from ._row_system import MOST_FEATURES, RowSystem
from ._scales import column_scales, row_sums
from ._top_functionals import TopFunctional, TopMean

__all__ = ["Judge", "TopPart", "TopPushProblem", "not_worse", "share_left"]

# Distance, relative to the spread of the rows, below which two points are one.
NEAR = 1e-6

# Share of the objective below which a decrease may be none.
SUSPECT = 1e-6

# Relative gap that rounding leaves, and difference of objectives that it hides.
LEAST_GAP = 1e-15
ROUNDING = 1e-14

# Relative rounding of a difference of two values.
EPS = 2 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class TopPushProblem:
    """Minimise ``||w||**2 / 2 + sum over positives of cost * loss(T(s) - s_i)``, ``s = X w``."""

    design: Design  # The rows X
    positive: IntArray  # (n_pos,): Rows that belong above T
    cost: FloatArray  # (n_pos,): Their positive costs
    reference: IntArray  # (n_reference,): Rows of whose scores T is a function, ascending
    top: TopFunctional
    loss: DifferenceLoss

    @cached_property
    def at_zero(self) -> float:
        """The objective at w = 0."""
        return float(self.cost.sum()) * self.loss.at_zero + self.rise_at_zero

    @cached_property
    def rise_at_zero(self) -> float:
        """What of it is due to T of scores of 0, which need not be 0."""
        top = self.top.value(np.zeros(len(self.reference)))
        return float(self.cost @ self.loss.rises(np.full(len(self.positive), top)))

    @property
    def rounding(self) -> float:
        """What rounding may add to a change."""
        return EPS * abs(self.rise_at_zero)

    @cached_property
    def _means(self) -> tuple[float, float]:
        """Squared distance of the means of positives and reference rows, and squared spread."""
        weight, share = self.top.weight, np.zeros((self.design.shape[0], 2))
        share[self.positive, 0] = self.cost / self.cost.sum()
        share[self.reference, 1] = weight / weight.sum()
        centre, mean = self.design.pull_back(share).T
        squares = self.design.squared_norms() - 2.0 * self.design.scores(centre)
        spread = float(np.mean(np.maximum(squares[self.reference] + centre @ centre, 0.0)))
        return float((centre - mean) @ (centre - mean)), spread

    @property
    def has_one_mean(self) -> bool:
        """Whether positives and reference rows have one mean, to 1e-6 of the spread."""
        distance, spread = self._means
        return distance <= NEAR**2 * spread

    @property
    def negligible(self) -> float:
        """Decrease if the positives' mean is a mean of the top, to 1e-6 of the spread."""
        slope = float(self.cost.sum()) * self.loss.slope_at_zero
        return 0.5 * (NEAR * slope) ** 2 * self._means[1]

    def is_solved_by_zero(self, lower_bound: float) -> bool:
        """Whether w = 0 is the solution, given a lower bound of the change of the objective."""
        if -lower_bound > SUSPECT * abs(self.at_zero):
            return False  # without a pass over the rows
        if isinstance(self.top, TopMean):
            return -lower_bound <= self.negligible
        return self.has_one_mean

    def change(self, coef: FloatArray, scores: FloatArray) -> tuple[float, float]:
        """Evaluate the objective less that at 0."""
        top = self.top.value(scores[self.reference])
        rises = self.loss.rises(top - scores[self.positive])
        change = 0.5 * float(coef @ coef) + float(self.cost @ rises) - self.rise_at_zero
        return change, top


def share_left(change: float, lower_bound: float, rounding: float) -> float:
    """Largest share of the decrease of the objective that may be missing; w = 0 has none."""
    return float(relative_gap(change, lower_bound - rounding)) if change < 0 else np.inf


def not_worse(objective: float, best: float, rounding: float) -> bool:
    """Say whether a value of the objective is the best so far, but for rounding."""
    return objective <= best or objective - best <= max(rounding, ROUNDING * abs(best))


class TopPart:
    """The problem with T of some of its rows alone.

    The rows that it needs, the positives and those that T is of, are copied where the design
    copies so many; else each product meets all rows of the design.
    """

    def __init__(self, problem: TopPushProblem, kept: BoolArray) -> None:
        self.problem = problem
        self._origin: FloatArray | None = None
        self._take(kept)

    def keep(self, kept: BoolArray) -> None:
        """Let T be of other rows."""
        # Never two copies at a time.
        del self._rows
        self._take(kept)

    def _take(self, kept: BoolArray) -> None:
        problem = self.problem
        self.kept, self.functional = kept, problem.top.part(kept)
        reference = problem.reference[kept]
        needed = np.union1d(problem.positive, reference)
        self._positive = np.searchsorted(needed, problem.positive)
        self._reference = np.searchsorted(needed, reference)
        self._n_rows = len(needed)
        rows = problem.design.rows(needed)
        if rows.shape[1] <= MOST_FEATURES and isinstance(rows, InMemoryDesign):
            if self._origin is None:
                share = self._joined(problem.cost / problem.cost.sum(), np.zeros(len(reference)))
                self._origin = rows.pull_back(share)
            # Only differences of scores count: the origin may be where it costs no digits.
            rows = rows.moved(self._origin, copy=False)
        self._rows = rows

    def scores(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Score the positives and the rows that T is of."""
        scores = self._rows.scores(coef)
        return scores[self._positive], scores[self._reference]

    def scales(self) -> FloatArray:
        """Scales of the columns of the rows here."""
        rows = self._rows
        if isinstance(rows, InMemoryDesign):
            return column_scales(rows)
        n_rows, sums, squares = row_sums(rows, None)
        return np.sqrt(np.maximum(squares / n_rows - (sums / n_rows) ** 2, 0.0))

    def difference(self, positive: FloatArray, reference: FloatArray) -> FloatArray:
        """Sum the positives with factors, less the rows that T is of with theirs."""
        return self._rows.pull_back(self._joined(positive, -reference))

    def system(
        self,
        positive: FloatArray,
        reference: FloatArray,
        *differences: tuple[FloatArray, FloatArray],
    ) -> RowSystem:
        """Matrix of Newton's method, given the weights of the rows, and differences of rows."""
        by_row = [self._joined(of_positives, -others) for of_positives, others in differences]
        return RowSystem(self._rows, self._joined(positive, reference), np.column_stack(by_row))

    def _joined(self, positive: FloatArray, reference: FloatArray) -> FloatArray:
        """Factors of the rows here, some of which may be positive and what T is of."""
        by_row = np.zeros(self._n_rows)
        by_row[self._positive] = positive
        by_row[self._reference] += reference
        return by_row

    def change(self, coef: FloatArray, positive: FloatArray, reference: FloatArray) -> float:
        """Evaluate the objective less that of the whole problem at 0, given the scores."""
        rises = self.problem.loss.rises(self.functional.value(reference) - positive)
        rise = float(self.problem.cost @ rises) - self.problem.rise_at_zero
        return 0.5 * float(coef @ coef) + rise

    def lower_bound(
        self, slope: FloatArray, difference: FloatArray, top_conjugate: float = 0.0
    ) -> float:
        """Value of the dual problem less the objective at 0."""
        cost = self.problem.cost
        conjugate = float(cost @ self.problem.loss.conjugate(slope / cost))
        conjugate += float(slope.sum()) * top_conjugate + self.problem.rise_at_zero
        return -0.5 * float(difference @ difference) - conjugate


class Judge:
    """Keeps the best solution and the best lower bound, and checks their gap."""

    def __init__(
        self,
        wanted: float,
        stop: Callable[[float, float], bool] | None,
        max_iter: int,
        *,
        rounding: float,
        polish: bool = False,
    ) -> None:
        self._wanted, self._stop, self._max_iter = wanted, stop, max_iter
        self._rounding = rounding
        self._polish, self._gap_before = polish, np.inf
        self.coef: FloatArray = np.empty(0)
        self.objective, self.lower_bound = np.inf, -np.inf
        self.n_iter, self.exhausted = 0, False

    def see(self, coef: FloatArray, objective: float, lower_bound: float) -> bool:
        """Take notice of a solution and a bound; return whether to end."""
        if not_worse(objective, self.objective, self._rounding):
            self.coef, self.objective = coef, objective
        self.lower_bound = max(self.lower_bound, lower_bound)
        if self.n_iter >= self._max_iter:
            return True
        if self._stop is not None and self._stop(self.objective, self.lower_bound):
            return True
        gap = share_left(self.objective, self.lower_bound, self._rounding)
        before, self._gap_before = self._gap_before, gap
        if gap > self._wanted:
            return False
        return not self._polish or gap > 0.5 * before or gap < LEAST_GAP
