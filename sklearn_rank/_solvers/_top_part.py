"""Positives above the top of other rows: losses, functions of the top, and the convex problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit, xlog1py

from .._order import quantile_at_mass
from .._typing import BoolArray, FloatArray, IntArray
from ._design import Design, InMemoryDesign, column_scales, row_sums
from ._result import relative_gap

# Values of a loss, and its first and second derivatives. Each of shape (n,).
LossParts: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]


class DifferenceLoss(ABC):
    """A convex nondecreasing loss l(u) of a difference u of scores, large where it is wrong."""

    at_zero: ClassVar[float] = 1.0  # l(0)
    slope_at_zero: ClassVar[float] = 1.0  # A slope there
    reach: ClassVar[float] = 1.0  # The loss is 0 for differences of at most minus this

    @abstractmethod
    def rises(self, u: FloatArray) -> FloatArray:
        """Evaluate ``l(u) - l(0)``, accurate where u is small. Shape (n,)."""

    @abstractmethod
    def parts(self, u: FloatArray, width: float) -> LossParts:
        """Evaluate the loss with kinks rounded off, which is less by at most half of the width."""

    @abstractmethod
    def conjugate(self, slope: FloatArray) -> FloatArray:
        """Evaluate the conjugate of the rise, ``l(0) + sup over u of slope * u - l(u)``.

        Finite values, accurate near the slope at 0. Shape (n,).
        """


class SquaredHinge(DifferenceLoss):
    """``max(0, 1 + u)**2``."""

    slope_at_zero = 2.0

    def rises(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, -1.0) * (2.0 + np.maximum(u, -1.0)))

    def parts(self, u: FloatArray, width: float) -> LossParts:
        missing = np.maximum(1.0 + u, 0.0)
        return missing * missing, 2.0 * missing, np.where(missing > 0, 2.0, 0.0)

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.asarray((0.5 * slope - 1.0) ** 2)


class Hinge(DifferenceLoss):
    """``max(0, 1 + u)``; rounded off it is a parabola where ``1 + u`` is from 0 to the width."""

    def rises(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, -1.0))

    def parts(self, u: FloatArray, width: float) -> LossParts:
        slope = np.clip((1.0 + u) / width, 0.0, 1.0)
        value = slope * (1.0 + u - 0.5 * width * slope)
        return value, slope, np.where((slope > 0) & (slope < 1), 1.0 / width, 0.0)

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1.0 - slope, 0.0))


class LogisticLoss(DifferenceLoss):
    """``log2(1 + exp(u))``, to base 2 so that it is 1 at 0 and bounds the error u >= 0."""

    slope_at_zero = 0.5 / float(np.log(2.0))
    reach = np.inf

    def rises(self, u: FloatArray) -> FloatArray:
        small = np.log1p(0.5 * np.expm1(np.minimum(u, 1.0)))
        return np.where(u < 1.0, small, np.logaddexp(0.0, u) - np.log(2.0)) / np.log(2.0)

    def parts(self, u: FloatArray, width: float) -> LossParts:
        share = expit(u)
        slope, curvature = share / np.log(2.0), share * expit(-u) / np.log(2.0)
        return np.logaddexp(0.0, u) / np.log(2.0), slope, curvature

    def conjugate(self, slope: FloatArray) -> FloatArray:
        t = np.clip(2.0 * slope * np.log(2.0) - 1.0, -1.0, 1.0)
        return np.asarray((xlog1py(1.0 + t, t) + xlog1py(1.0 - t, -t)) / np.log(4.0))


class Linear(DifferenceLoss):
    """The difference itself, what every loss is to a problem of little cost."""

    at_zero = 0.0
    reach = np.inf

    def rises(self, u: FloatArray) -> FloatArray:
        return u

    def parts(self, u: FloatArray, width: float) -> LossParts:
        return u, np.ones_like(u), np.zeros_like(u)

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.zeros_like(slope)


# Steps of Newton's method in one variable, far more than its piecewise functions need.
MOST_STEPS = 200


class TopFunctional(ABC):
    """A convex nondecreasing function of scores; raising all scores raises it as much."""

    weight: FloatArray  # (n,): Positive weights of the scores
    mass: float  # Weight of the top

    @abstractmethod
    def value(self, scores: FloatArray) -> float:
        """T as it is."""

    @abstractmethod
    def active(self, scores: FloatArray) -> BoolArray:
        """Whether the value would be less without the score. Shape (n,)."""

    @abstractmethod
    def part(self, index: BoolArray) -> TopFunctional:
        """The functional of some rows, which is no larger."""

    @abstractmethod
    def sample(self, stride: int) -> TopFunctional:
        """The functional of every ``stride``-th row, and of the mass in proportion."""


@dataclass(frozen=True, eq=False)
class TopMean(TopFunctional):
    """Mean of the largest scores up to a mass."""

    weight: FloatArray  # (n,): Positive weights
    mass: float  # Mass of the top, at most the sum of the weights

    def value(self, scores: FloatArray) -> float:
        quantile = float(quantile_at_mass(scores, self.weight, self.mass))
        over = np.maximum(scores - quantile, 0.0)
        return quantile + float(self.weight @ over) / self.mass

    def active(self, scores: FloatArray) -> BoolArray:
        return np.asarray(scores >= quantile_at_mass(scores, self.weight, self.mass))

    def part(self, index: BoolArray) -> TopMean:
        return TopMean(self.weight[index], self.mass)

    def sample(self, stride: int) -> TopMean:
        weight = self.weight[::stride]
        return TopMean(weight, min(max(self.mass / stride, weight.max()), 0.9 * weight.sum()))


@dataclass(frozen=True, eq=False)
class SurrogateQuantile(TopFunctional):
    """The T at which a loss of the scores above it, ``l(beta (s - T))``, sums to a mass.

    Where ``l(0) >= 1`` it is no less than the quantile at that mass.
    """

    weight: FloatArray  # (n,): Positive weights
    mass: float
    loss: DifferenceLoss
    beta: float  # Its scale, positive; the larger, the narrower

    def value(self, scores: FloatArray) -> float:
        # The hinge is its own rounded form of no width, but for the derivatives.
        return self._root(scores, 1e-300)

    def parts(
        self, scores: FloatArray, width: float
    ) -> tuple[float, FloatArray, FloatArray, float]:
        """T with kinks rounded off, its slopes s of sum 1, its curvatures, and a conjugate.

        That is ``sup over t of s . t - T(t)``, for the unrounded T.
        """
        value = self._root(scores, self.beta * width)
        _, slope, curvature = self.loss.parts(self.beta * (scores - value), self.beta * width)
        slope, curvature = self.weight * slope, self.weight * curvature
        total = slope.sum()
        slope = slope / total
        conjugate = float(slope @ (scores - value))
        return value, slope, self.beta / total * curvature, conjugate

    def _root(self, scores: FloatArray, width: float) -> float:
        """Solve by Newton's method, which on a convex function stays on one side of the root."""
        value = float(scores.max())
        for _ in range(MOST_STEPS):
            values, slopes, _ = self.loss.parts(self.beta * (scores - value), width)
            slope = self.beta * float(self.weight @ slopes)
            step = (float(self.weight @ values) - self.mass) / slope
            value += step
            if abs(step) <= 1e-15 * (abs(value) + 1.0 / self.beta):
                break
        return value

    def active(self, scores: FloatArray) -> BoolArray:
        return np.asarray(scores > self.value(scores) - self.loss.reach / self.beta)

    def part(self, index: BoolArray) -> SurrogateQuantile:
        return SurrogateQuantile(self.weight[index], self.mass, self.loss, self.beta)

    def sample(self, stride: int) -> SurrogateQuantile:
        return SurrogateQuantile(self.weight[::stride], self.mass / stride, self.loss, self.beta)


# Features, and rows, up to which the system is factorised by the one or the other; beyond both,
# conjugate gradients.
MOST_FEATURES = 1000
MOST_ROWS = 4000

# Share of the largest weight below which a row is left out where rows are what costs.
NEGLIGIBLE = 1e-12


class RowSystem:
    """The matrix ``I + X' diag(weight) X`` of rows X of shape (n_rows, n_features)."""

    def __init__(self, rows: Design, weight: FloatArray, by_row: FloatArray) -> None:
        self._all_rows, self._weight = rows, weight
        self._by_features: FloatArray | None = None
        self._by_rows: FloatArray | None = None
        if rows.shape[1] <= MOST_FEATURES:
            matrix, self.sums = rows.gram_and_sums(weight, by_row)
            matrix[np.diag_indices_from(matrix)] += 1.0
            self._by_features = _cholesky(matrix)
            return
        self.sums = rows.pull_back(by_row)
        index = np.flatnonzero(weight > NEGLIGIBLE * weight.max(initial=0.0))
        if len(index) <= MOST_ROWS:
            self._root = np.sqrt(weight[index])
            self._rows = rows.rows(index)
            matrix = rows.row_gram(index)
            matrix = matrix * self._root[:, np.newaxis] * self._root
            matrix[np.diag_indices_from(matrix)] += 1.0
            self._by_rows = _cholesky(matrix)

    def solve(self, right: FloatArray) -> FloatArray:
        """Solve for each column. Shape (n_features, k)."""
        if self._by_features is not None:
            return _solve_factored(self._by_features, right)
        if self._by_rows is not None:
            root = self._root[:, np.newaxis]
            inner = _solve_factored(self._by_rows, root * self._rows.scores(right))
            return right - self._rows.pull_back(root * inner)
        n, rows = len(right), self._all_rows

        def product(vector: FloatArray) -> FloatArray:
            return vector + rows.pull_back(self._weight * rows.scores(vector))

        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
        columns = [cg(operator, column, rtol=1e-10, maxiter=10 * n + 100)[0] for column in right.T]
        return np.column_stack(columns)


def _cholesky(matrix: FloatArray) -> FloatArray:
    """Cholesky factor; of a matrix a little larger where rounding has eaten the identity."""
    diagonal = np.diag_indices_from(matrix)
    added = np.finfo(np.float64).eps * matrix[diagonal]
    while True:
        try:
            return np.asarray(scipy.linalg.cholesky(matrix, lower=True, check_finite=False))
        except scipy.linalg.LinAlgError:
            if not np.isfinite(added).all() or not added.any():
                raise
            matrix[diagonal] += added
            added = 100.0 * added


def _solve_factored(factor: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(scipy.linalg.cho_solve((factor, True), right, check_finite=False))


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
        """The part of it that is due to T of scores of 0, which need not be 0."""
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

    def change(self, coef: FloatArray, scores: FloatArray) -> float:
        """The objective less that at 0."""
        top = self.top.value(scores[self.reference])
        rises = self.loss.rises(top - scores[self.positive])
        return 0.5 * float(coef @ coef) + float(self.cost @ rises) - self.rise_at_zero


def gap_of_change(change: float, lower_bound: float, rounding: float) -> float:
    """Largest share of the decrease of the objective that may be missing; w = 0 has none."""
    return float(relative_gap(change, lower_bound - rounding)) if change < 0 else np.inf


def is_best(objective: float, best: float, rounding: float) -> bool:
    """Whether a value of the objective is the best so far, but for rounding."""
    return objective <= best or objective - best <= max(rounding, ROUNDING * abs(best))


class TopPart:
    """The problem with T of some of its rows alone.

    The rows that it needs, the positives and those that T is of, are copied where the design
    copies so many; else each product meets all rows of the design.
    """

    def __init__(self, problem: TopPushProblem, mask: BoolArray) -> None:
        self.problem = problem
        self._origin: FloatArray | None = None
        self._rows: Design
        self.select(mask)

    def select(self, mask: BoolArray) -> None:
        """Let T be of other rows."""
        # Never two copies at a time.
        vars(self).pop("_rows", None)
        problem = self.problem
        self.mask, self.functional = mask, problem.top.part(mask)
        reference = problem.reference[mask]
        index = np.union1d(problem.positive, reference)
        self._positive = np.searchsorted(index, problem.positive)
        self._reference = np.searchsorted(index, reference)
        self._n_rows = len(index)
        rows = problem.design.rows(index)
        if rows.shape[1] <= MOST_FEATURES and isinstance(rows, InMemoryDesign):
            if self._origin is None:
                share = self._join(problem.cost / problem.cost.sum(), np.zeros(len(reference)))
                self._origin = rows.pull_back(share)
            # Only differences of scores count: the origin may be where it costs no digits.
            rows = rows.move(self._origin, copy=False)
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
        return self._rows.pull_back(self._join(positive, -reference))

    def system(
        self,
        positive: FloatArray,
        reference: FloatArray,
        *differences: tuple[FloatArray, FloatArray],
    ) -> RowSystem:
        """Matrix of Newton's method, given the weights of the rows, and differences of rows."""
        by_row = [self._join(by_positive, -by_other) for by_positive, by_other in differences]
        return RowSystem(self._rows, self._join(positive, reference), np.column_stack(by_row))

    def _join(self, positive: FloatArray, reference: FloatArray) -> FloatArray:
        """Factors of the rows here, some of which may be positive and what T is of."""
        by_row = np.zeros(self._n_rows)
        by_row[self._positive] = positive
        by_row[self._reference] += reference
        return by_row

    def change(self, coef: FloatArray, positive: FloatArray, reference: FloatArray) -> float:
        """The objective less that of the whole problem at 0, given the scores."""
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
        tol: float,
        stop: Callable[[float, float], bool],
        max_iter: int,
        *,
        rounding: float,
        polish: bool,
    ) -> None:
        self._tol, self._stop, self._max_iter = tol, stop, max_iter
        self._rounding = rounding
        self._polish, self._gap = polish, np.inf
        self.coef: FloatArray = np.empty(0)
        self.objective, self.lower_bound = np.inf, -np.inf
        self.n_iter, self.exhausted = 0, False

    def update(self, coef: FloatArray, objective: float, lower_bound: float) -> bool:
        """Compare a solution and a bound with the best so far; return whether to end."""
        if is_best(objective, self.objective, self._rounding):
            self.coef, self.objective = coef, objective
        self.lower_bound = max(self.lower_bound, lower_bound)
        if self.n_iter >= self._max_iter or self._stop(self.objective, self.lower_bound):
            return True
        last_gap, self._gap = (
            self._gap,
            gap_of_change(self.objective, self.lower_bound, self._rounding),
        )
        if self._gap > self._tol:
            return False
        return not self._polish or self._gap > 0.5 * last_gap or self._gap < LEAST_GAP
