"""Positives above the top of other rows: losses, functions of the top, the problem, its solvers.

The mean of the top is T = eta + kappa . xi with xi_j >= s_j - eta and xi_j >= 0, kappa the weights
over the mass of the top; the dual variables beta of the first constraints are at most kappa times
the sum of the slopes of the losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit, xlog1py

from .._order import quantile_at_mass
from .._typing import BoolArray, FloatArray, IntArray
from ._design import Design, InMemoryDesign, column_scales
from ._linear import Solve, flops_of_system, row_system, search_line
from ._nearest_point import Hull
from ._result import Certificate, SolverResult, relative_gap

# Values of a loss, and its first and second derivatives. Each of shape (n,).
LossParts: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]

# Variables of an interior point at the positives, which stay positive: the slopes of the losses,
# times costs, and what is complementary to them.
Duals: TypeAlias = list[FloatArray]


class DualPoint(NamedTuple):
    """The positives at an interior point, and what a step from there aims at."""

    cost: FloatArray
    u: FloatArray  # Differences of scores
    duals: Duals
    aims: list[FloatArray]  # Changes of the products of complementary variables


class DifferenceLoss(ABC):
    """A convex nondecreasing loss l(u) of a difference u of scores, 1 at 0."""

    first_slope: ClassVar[float]  # That of the start
    # Share of the slopes below which the start is not a point of the dual problem.
    least_share: ClassVar[float] = 1e-3

    @abstractmethod
    def rises(self, u: FloatArray) -> FloatArray:
        """Evaluate ``l(u) - l(0)``, accurate where u is small. Shape (n,)."""

    @abstractmethod
    def parts(self, u: FloatArray, width: float) -> LossParts:
        """Evaluate the loss with kinks rounded off, which is less by at most half of the width."""

    @abstractmethod
    def conjugate(self, slope: FloatArray) -> FloatArray:
        """Evaluate ``1 + sup over u of slope * u - l(u)``, accurate near the slope at 0."""

    def start(self, cost: FloatArray, slope: FloatArray, u: FloatArray) -> Duals:
        """Choose the variables besides the slopes, given differences."""
        return [slope]

    def pairs(self, cost: FloatArray | float, duals: Duals) -> list[tuple[FloatArray, FloatArray]]:
        """Complementary variables; of changes of all, at costs of 0, their changes."""
        return []

    def product(self, cost: FloatArray, duals: Duals) -> float:
        return float(sum(a @ b for a, b in self.pairs(cost, duals)))

    @abstractmethod
    def curvature(self, at: DualPoint) -> FloatArray:
        """The change of a slope with its difference, h."""

    @abstractmethod
    def constant(self, at: DualPoint) -> FloatArray:
        """The change of a slope whose difference stays, e."""

    def direction(self, at: DualPoint, du: FloatArray, d_slope: FloatArray) -> Duals:
        return [d_slope]

    def longest(self, cost: FloatArray, duals: Duals, step: Duals) -> float:
        return min(map(_longest_step, duals, step))


class SquaredHinge(DifferenceLoss):
    """``max(0, 1 + u)**2``; duals are slopes a >= 0 and ``a / 2c - 1 - u >= 0``, the product 0."""

    first_slope = 2.0

    def rises(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, -1.0) * (2.0 + np.maximum(u, -1.0)))

    def parts(self, u: FloatArray, width: float) -> LossParts:
        missing = np.maximum(1.0 + u, 0.0)
        return missing * missing, 2.0 * missing, np.where(missing > 0, 2.0, 0.0)

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.asarray((0.5 * slope - 1.0) ** 2)

    def start(self, cost: FloatArray, slope: FloatArray, u: FloatArray) -> Duals:
        return [slope, np.maximum(slope / (2 * cost) - 1.0 - u, _least_dual(u))]

    def pairs(self, cost: FloatArray | float, duals: Duals) -> list[tuple[FloatArray, FloatArray]]:
        slope, slack = duals
        return [(slope, slack)]

    def curvature(self, at: DualPoint) -> FloatArray:
        slope, slack = at.duals
        return slope / (slack + slope / (2 * at.cost))

    def constant(self, at: DualPoint) -> FloatArray:
        slope, slack = at.duals
        return (at.aims[0] - slope * self._missing(at)) / (slack + slope / (2 * at.cost))

    def direction(self, at: DualPoint, du: FloatArray, d_slope: FloatArray) -> Duals:
        return [d_slope, d_slope / (2 * at.cost) - du + self._missing(at)]

    def _missing(self, at: DualPoint) -> FloatArray:
        slope, slack = at.duals
        return slope / (2 * at.cost) - 1.0 - at.u - slack


class Hinge(DifferenceLoss):
    """``max(0, 1 + u)``, or a parabola at its kink; slopes ``0 <= a <= c``, slacks, losses."""

    first_slope = 0.5

    def rises(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, -1.0))

    def parts(self, u: FloatArray, width: float) -> LossParts:
        slope = np.clip(1.0 + u, 0.0, width) / width
        value = slope * (1.0 + u - 0.5 * width * slope)
        return value, slope, np.where((slope > 0) & (slope < 1), 1.0 / width, 0.0)

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1.0 - slope, 0.0))

    def start(self, cost: FloatArray, slope: FloatArray, u: FloatArray) -> Duals:
        value = np.maximum(1.0 + u, 0.0) + _least_dual(u)
        return [slope, value - 1.0 - u, value]

    def pairs(self, cost: FloatArray | float, duals: Duals) -> list[tuple[FloatArray, FloatArray]]:
        slope, slack, value = duals
        return [(slope, slack), (cost - slope, value)]

    def curvature(self, at: DualPoint) -> FloatArray:
        slope, slack, value = at.duals
        rest = at.cost - slope
        return slope * rest / (slack * rest + slope * value)

    def constant(self, at: DualPoint) -> FloatArray:
        slope, slack, value = at.duals
        rest = at.cost - slope
        return (rest * at.aims[0] - slope * at.aims[1]) / (slack * rest + slope * value)

    def direction(self, at: DualPoint, du: FloatArray, d_slope: FloatArray) -> Duals:
        slope, slack, value = at.duals
        rest = at.cost - slope
        is_large = slope >= rest
        by_slope = (at.aims[0] - slack * d_slope) / np.where(is_large, slope, 1.0)
        by_rest = (at.aims[1] + value * d_slope) / np.where(is_large, 1.0, rest)
        d_slack = np.where(is_large, by_slope, by_rest - du)
        return [d_slope, d_slack, np.where(is_large, by_slope + du, by_rest)]

    def longest(self, cost: FloatArray, duals: Duals, step: Duals) -> float:
        return min(super().longest(cost, duals, step), _longest_step(cost - duals[0], -step[0]))


class LogisticLoss(DifferenceLoss):
    """``log2(1 + exp(u))``, to base 2 so that it is 1 at 0 and bounds the error u >= 0.

    Duals are slopes a below a bound b, and b - a: rounding would lose it.
    """

    first_slope = 0.5 / float(np.log(2.0))
    least_share = 1e-9

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

    def start(self, cost: FloatArray, slope: FloatArray, u: FloatArray) -> Duals:
        return [slope, cost / np.log(2.0) - slope]

    def curvature(self, at: DualPoint) -> FloatArray:
        slope, rest = at.duals
        return slope * rest / (at.cost / np.log(2.0))

    def constant(self, at: DualPoint) -> FloatArray:
        slope, rest = at.duals
        return self.curvature(at) * (at.u - np.log(slope) + np.log(rest))

    def direction(self, at: DualPoint, du: FloatArray, d_slope: FloatArray) -> Duals:
        return [d_slope, -d_slope]


def _least_dual(u: FloatArray) -> float:
    return max(float(np.mean(np.abs(u))), 1e-3)


def _longest_step(value: FloatArray, change: FloatArray) -> float:
    falling = change < 0
    if not falling.any():
        return float(np.inf)
    return float(np.min(value[falling] / -change[falling]))


# Steps of Newton's method in one variable, far more than its piecewise functions need.
MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class TopMean:
    """Mean of the largest scores up to a mass."""

    weight: FloatArray  # (n,): Positive weights of the scores
    mass: float  # Mass of the top, at most the sum of the weights

    def value(self, scores: FloatArray) -> float:
        quantile = float(quantile_at_mass(scores, self.weight, self.mass))
        over = np.maximum(scores - quantile, 0.0)
        return quantile + float(self.weight @ over) / self.mass

    def active(self, scores: FloatArray) -> BoolArray:
        """Whether the value would be less without the score. Shape (n,)."""
        return np.asarray(scores >= quantile_at_mass(scores, self.weight, self.mass))

    def shares(self, scores: FloatArray) -> FloatArray:
        """Weights of the scores in the value, of sum 1. Shape (n,)."""
        quantile = quantile_at_mass(scores, self.weight, self.mass)
        above = np.where(scores > quantile, self.weight, 0.0)
        tied = np.where(scores == quantile, self.weight, 0.0)
        return (above + (self.mass - above.sum()) / tied.sum() * tied) / self.mass

    def parts(self, scores: FloatArray, width: float) -> tuple[float, FloatArray, FloatArray]:
        """The value with kinks rounded off, its slopes of sum 1, and its curvatures."""
        quantile = float(quantile_at_mass(scores, self.weight, self.mass))
        kappa = self.weight / self.mass
        # The slopes rise from 0 to kappa over a width, below which the quantile is.
        band = np.flatnonzero(np.abs(scores - quantile) < width)
        near, of_near = scores[band], kappa[band]
        missing = 1.0 - float(kappa.sum(where=scores >= quantile + width))
        low, level, high = quantile - width, quantile, quantile
        for _ in range(MOST_STEPS):
            share = np.clip((near - level) / width, 0.0, 1.0)
            excess = float(of_near @ share) - missing
            low, high = (level, high) if excess > 0.0 else (low, level)
            slope = float(of_near.sum(where=(share > 0.0) & (share < 1.0))) / width
            if abs(excess) <= 1e-15 or not high - low > 1e-15 * width:
                break
            level += excess / slope if slope > 0.0 else np.inf
            if not low <= level <= high:
                level = 0.5 * (low + high)
        share = np.clip((scores - level) / width, 0.0, 1.0)
        slopes = kappa * share / float(kappa @ share)
        curvatures = np.where((share > 0.0) & (share < 1.0), kappa / width, 0.0)
        return float(slopes @ (scores - 0.5 * width * share)), slopes, curvatures

    def mass_of_mean(self, scores: FloatArray, mean: float) -> float:
        """Largest mass of which the top scores have at least a mean."""
        order = np.argsort(-scores)
        mass = np.cumsum(self.weight[order])
        excess = np.cumsum((self.weight * (scores - mean))[order])
        k = int(np.count_nonzero(excess >= 0.0))  # the excess rises, and then falls
        if k in (0, len(scores)):
            return float(mass[k - 1]) if k else 0.0
        return float(mass[k - 1] + excess[k - 1] / (mean - scores[order[k]]))

    def part(self, index: BoolArray) -> TopMean:
        """The functional of some rows, which is no larger."""
        return TopMean(self.weight[index], self.mass)

    def sample(self, stride: int) -> TopMean:
        """The functional of every ``stride``-th row, and of the mass in proportion."""
        weight = self.weight[::stride]
        return TopMean(weight, min(max(self.mass / stride, weight.max()), 0.9 * weight.sum()))


# Distance, relative to the spread of the rows, below which two points are one.
NEAR = 1e-6

# The same at which the mass of a top is nearly the largest, and a share of its square.
ROUGHLY_NEAR = 1e-3
ACCURACY = 1e-3

# Rows in which a mean of the top is looked for first, as a multiple of the top.
TOPS_IN_SAMPLE = 8

# Relative gap that rounding leaves, and difference of objectives, relative to them, that it hides.
LEAST_GAP = 1e-15
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class TopPushProblem:
    """Minimise ``||w||**2 / 2 + sum over positives of cost * loss(T(s) - s_i)``, ``s = X w``."""

    design: Design  # The rows X
    positive: IntArray  # (n_pos,): Rows that belong above T
    cost: FloatArray  # (n_pos,): Their positive costs
    reference: IntArray  # (n_reference,): Rows of whose scores T is a function, ascending
    top: TopMean
    loss: DifferenceLoss

    @cached_property
    def at_zero(self) -> float:
        """The objective at w = 0."""
        return float(self.cost.sum())

    @cached_property
    def means(self) -> tuple[FloatArray, FloatArray, float]:
        """Means of the positives and of the reference rows, and squared spread about the first."""
        weight, share = self.top.weight, np.zeros((self.design.shape[0], 2))
        share[self.positive, 0] = self.cost / self.cost.sum()
        share[self.reference, 1] = weight / weight.sum()
        centre, mean = self.design.pull_back(share).T
        square = float(share[:, 1] @ self.design.squared_norms())
        return centre, mean, max(square + float(centre @ (centre - 2.0 * mean)), 0.0)

    @property
    def strides(self) -> list[int]:
        """Between the rows in which a mean of the top is looked for: of a sample first, if any."""
        n_tops = float(self.top.weight.sum()) / self.top.mass
        stride = int(min(len(self.reference) / SAMPLED_ROWS, n_tops / TOPS_IN_SAMPLE))
        return [stride, 1] if stride > 1 else [1]

    @cached_property
    def gain_of_distance(self) -> float:
        """Twice what can be won from w = 0, over the squared distance of the positives' mean.

        Its distance from a mean of the top, times the sum of the slopes, is a gradient there.
        """
        slopes = self.loss.parts(np.zeros(len(self.cost)), 1.0)[1]
        return float(self.cost @ slopes) ** 2

    def change(self, coef: FloatArray, scores: FloatArray) -> float:
        """The objective less that at 0."""
        top = self.top.value(scores[self.reference])
        rises = self.loss.rises(top - scores[self.positive])
        return 0.5 * float(coef @ coef) + float(self.cost @ rises)


def gap_of_change(change: float, lower_bound: float) -> float:
    """Largest share of the decrease of the objective that may be missing; w = 0 has none."""
    return float(relative_gap(change, lower_bound)) if change < 0 else np.inf


def is_best(objective: float, best: float) -> bool:
    """Whether a value of the objective is the best so far, but for rounding."""
    return objective <= best or objective - best <= ROUNDING * abs(best)


class TopPart:
    """The problem with T of some of its rows alone.

    The rows that it needs are copied where the design copies so many.
    """

    _rows: Design

    def __init__(self, problem: TopPushProblem, mask: BoolArray) -> None:
        self.problem = problem
        self._origin: FloatArray | None = None
        self.select(mask)

    def select(self, mask: BoolArray) -> None:
        """Let T be of other rows."""
        # Never two copies at a time.
        vars(self).pop("_rows", None)
        vars(self).pop("interior_point", None)
        problem = self.problem
        self.mask, self.functional = mask, problem.top.part(mask)
        reference = problem.reference[mask]
        index = np.flatnonzero(np.bincount(np.append(problem.positive, reference)))
        self._positive = np.searchsorted(index, problem.positive)
        self._reference = np.searchsorted(index, reference)
        self._n_rows = len(index)
        rows = problem.design.rows(index)
        if isinstance(rows, InMemoryDesign):
            if self._origin is None:
                share = self._join(problem.cost / problem.cost.sum(), np.zeros(len(reference)))
                self._origin = rows.pull_back(share)
            # Only differences of scores count: the origin may be where it costs no digits.
            rows = rows.move(self._origin, copy=False)
        self._rows = rows

    @cached_property
    def interior_point(self) -> _InteriorPoint:
        """Where the steps of an interior point method are."""
        return _InteriorPoint(self)

    def scores(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        scores = self._rows.scores(coef)
        return scores[self._positive], scores[self._reference]

    def scales(self) -> FloatArray:
        rows = self._rows
        if isinstance(rows, InMemoryDesign):
            return column_scales(rows)
        if not flops_of_system(rows.shape[1], 0.0) < np.inf:
            return np.ones(rows.shape[1])
        share = np.full(rows.shape[0], 1.0 / rows.shape[0])
        gram, mean = rows.gram_and_sums(share, share[:, np.newaxis])
        return np.sqrt(np.maximum(np.diagonal(gram) - mean[:, 0] ** 2, 0.0))

    def difference(self, positive: FloatArray, reference: FloatArray) -> FloatArray:
        """Sum the positives with factors, less the rows that T is of with theirs."""
        return self._rows.pull_back(self._join(positive, -reference))

    def system(
        self,
        positive: FloatArray,
        reference: FloatArray,
        *differences: tuple[FloatArray, FloatArray],
    ) -> tuple[Solve, FloatArray]:
        """Newton's system, given the weights of the rows, and differences of rows."""
        by_row = [self._join(by_positive, -by_other) for by_positive, by_other in differences]
        return row_system(self._rows, self._join(positive, reference), np.column_stack(by_row))

    def _join(self, positive: FloatArray, reference: FloatArray) -> FloatArray:
        """Factors of the rows here, some of which may be positive and what T is of."""
        by_row = np.zeros(self._n_rows)
        by_row[self._positive] = positive
        by_row[self._reference] += reference
        return by_row

    def change(self, coef: FloatArray, positive: FloatArray, reference: FloatArray) -> float:
        """The objective less that of the whole problem at 0, given the scores."""
        rises = self.problem.loss.rises(self.functional.value(reference) - positive)
        return 0.5 * float(coef @ coef) + float(self.problem.cost @ rises)

    def lower_bound(self, slope: FloatArray, difference: FloatArray) -> float:
        """Value of the dual problem less the objective at 0."""
        cost = self.problem.cost
        conjugate = float(cost @ self.problem.loss.conjugate(slope / cost))
        return -0.5 * float(difference @ difference) - conjugate


@dataclass(eq=False)
class Judge:
    """Keeps the best solution and the best lower bound, and checks their gap."""

    tol: float
    max_iter: int
    polish: bool
    coef: FloatArray
    objective: float = np.inf
    lower_bound: float = -np.inf
    gap: float = np.inf
    n_iter: int = 0
    exhausted: bool = False

    def update(self, coef: FloatArray, objective: float, lower_bound: float) -> bool:
        """Compare a solution and a bound with the best so far; return whether to end."""
        if is_best(objective, self.objective):
            self.coef, self.objective = coef, objective
        self.lower_bound = max(self.lower_bound, lower_bound)
        if self.n_iter >= self.max_iter:
            return True
        last_gap = self.gap
        self.gap = gap_of_change(self.objective, self.lower_bound)
        if self.gap > self.tol:
            return False
        return not self.polish or self.gap > 0.5 * last_gap or self.gap < LEAST_GAP


# Share of the way to the boundary that a step goes.
SHARE_OF_WAY = 0.99

# Distance between scores, relative to them, below which they are equal, and no unit for the start.
LEAST_ROOM = 1e-12

# Length below which a step is replaced by one that keeps these shares of the products, of which
# the last only makes them equal.
SHORT = 0.2
CAREFUL = (0.1, 0.5, 1.0)

# Steps without a better gap after which rounding is all that is left.
MOST_IDLE = 30


def minimise_by_interior_points(part: TopPart, judge: Judge) -> None:
    """Minimise the objective of a part whose functional is a mean of the top."""
    state, n_idle = part.interior_point, 0
    while True:
        last_gap = judge.objective - judge.lower_bound
        if judge.update(*state.certificate()):
            return
        n_idle = 0 if judge.objective - judge.lower_bound < last_gap else n_idle + 1
        if n_idle > MOST_IDLE or not state.step():
            judge.exhausted = True
            return
        judge.n_iter += 1


class _InteriorPoint:
    """An interior point with its scores."""

    def __init__(self, part: TopPart) -> None:
        functional, cost = part.functional, part.problem.cost
        self.part, self.cost, self.loss = part, cost, part.problem.loss
        self.kappa = functional.weight / functional.mass
        slope = self.loss.first_slope * cost
        share = functional.weight / functional.weight.sum()
        total = float(slope.sum())
        coef = part.difference(slope, total * share)
        # The share of the slopes by which the scores are no longer than the margin asks for.
        square = float(coef @ coef)
        scale = min(1.0, total / square) if square > 0 else 1.0
        if scale < self.loss.least_share:
            # Slopes that are so small are far from any that are wanted: coefficients of a length
            # that suits the features stand apart from them, and meet them in later steps.
            scales = part.scales()
            coef = coef / np.where(scales > 0, scales, 1.0) ** 2
            length = float(np.linalg.norm(coef * scales))
            coef = coef / length if length > 0 else 0.0 * coef
        else:
            slope, coef = scale * slope, scale * coef
        self.coef, self.beta = coef, float(slope.sum()) * share
        self.positive, self.reference = part.scores(coef)
        self.eta = float(share @ self.reference)
        distances = np.append(self.positive, self.reference) - self.eta
        room = float(np.mean(np.abs(distances)))
        room = room if room > LEAST_ROOM * float(np.abs(distances + self.eta).max()) else 1.0
        differences = self.reference - self.eta
        self.xi = np.maximum(differences, 0.0) + room
        self.excess = self.xi - differences
        self.duals = self.loss.start(cost, slope, self.differences)

    @property
    def differences(self) -> FloatArray:
        """T less the scores of the positives, u."""
        return self.eta + float(self.kappa @ self.xi) - self.positive

    @property
    def gamma(self) -> FloatArray:
        return float(self.duals[0].sum()) * self.kappa - self.beta

    def certificate(self) -> tuple[FloatArray, float, float]:
        """Weights, the change of the objective, and a bound by a feasible point of the dual."""
        part, slope = self.part, self.duals[0]
        # The sums are equal but for rounding.
        beta = self.beta * (slope.sum() / self.beta.sum())
        difference = part.difference(slope, beta)
        self.residual = difference - self.coef
        bound = part.lower_bound(slope, difference)
        return self.coef, part.change(self.coef, self.positive, self.reference), bound

    def step(self) -> bool:
        """Take a step of Mehrotra's method; tell whether it had any length."""
        gamma = self.gamma
        n_products = sum(len(a) for a, _ in self.loss.pairs(self.cost, self.duals))
        product = self.loss.product(self.cost, self.duals)
        product += float(self.beta @ self.excess + gamma @ self.xi)
        mean = product / (n_products + 2 * len(self.beta))
        h = self.loss.curvature(DualPoint(self.cost, self.differences, self.duals, []))
        g = self.beta * gamma / (self.excess * gamma + self.beta * self.xi)
        if not (np.isfinite(g).all() and np.isfinite(h).all()):
            return False
        try:
            direction = _newton_directions(self, gamma, h, g)
        except np.linalg.LinAlgError:
            return False
        guess = direction(0.0, None)
        length = min(1.0, guess.longest)
        new_product = self.loss.product(self.cost, self._moved_duals(guess, length))
        new_product += float(
            (self.beta + length * guess.beta) @ (self.excess + length * guess.excess)
        )
        new_product += float((gamma + length * guess.gamma) @ (self.xi + length * guess.xi))
        target = mean * min(max(new_product / product, 0.0), 1.0) ** 3
        step = direction(target, guess)
        for share in CAREFUL:
            if step.longest >= SHORT:
                break
            # Corrections to second order lead astray near the boundary.
            step = direction(share * mean, None)
        length = min(1.0, SHARE_OF_WAY * step.longest)
        if not length > 1e-12:
            return False
        for name in ("coef", "positive", "reference", "eta", "beta", "xi", "excess"):
            setattr(self, name, getattr(self, name) + length * getattr(step, name))
        self.duals = self._moved_duals(step, length)
        return True

    def _moved_duals(self, step: _Step, length: float) -> Duals:
        return [dual + length * d for dual, d in zip(self.duals, step.duals, strict=True)]


class _Step(NamedTuple):
    """A direction in all variables, and how far it leads to the boundary."""

    coef: FloatArray
    positive: FloatArray
    reference: FloatArray
    eta: float
    beta: FloatArray
    xi: FloatArray
    excess: FloatArray
    gamma: FloatArray
    duals: Duals
    longest: float


def _newton_directions(
    state: _InteriorPoint, gamma: FloatArray, h: FloatArray, g: FloatArray
) -> Callable[[float, _Step | None], _Step]:
    """Solver of Newton's system at a state, given curvatures of the losses and weights of rows.

    It is one matrix of the features, bordered by T, eta and the total A: the changes of the slopes
    a of the losses and of beta are linear in those of the scores, ``da = h (dT - X_P dw) + e`` and
    ``dbeta = g (X_S dw - deta) + m dA + f`` with ``A = sum a``. The solver takes what the products
    of the pairs shall be, and a first guess that corrects the direction.
    """
    part = state.part
    pairs = [(state.beta, state.excess), (gamma, state.xi)]
    pairs += state.loss.pairs(state.cost, state.duals)
    # Where the divisor is 0, rounding is all that is left of both factors.
    divisor = state.excess * gamma + state.beta * state.xi
    m = state.kappa * state.beta * state.xi / divisor
    zeros_pos, zeros_ref = np.zeros_like(h), np.zeros_like(g)
    solve, sums = part.system(h, g, (h, zeros_ref), (zeros_pos, -g), (zeros_pos, -m))
    solved = solve(sums)
    # A row and a column each for dT, deta, dA.
    h_sum, g_sum, m_sum = h.sum(), g.sum(), m.sum()
    total_sum = (state.kappa**2 * state.xi * state.excess / divisor).sum()
    inner = (sums.T @ solved) * np.array([1.0, 1.0, -1.0])
    border = np.array(
        [
            [h_sum - inner[0, 0], -inner[0, 1], -1.0 - inner[0, 2]],
            [inner[1, 0], inner[1, 1] - g_sum, inner[1, 2] + m_sum - 1.0],
            [inner[2, 0] - 1.0, inner[2, 1] + 1.0 - m_sum, inner[2, 2] - total_sum],
        ]
    )

    def direction(target: float, guess: _Step | None) -> _Step:
        # Changes of the products of complementary variables, less those of second order.
        aims = [target - a * b for a, b in pairs]
        if guess is not None:
            changes = [(guess.beta, guess.excess), (guess.gamma, guess.xi)]
            changes += state.loss.pairs(0.0, guess.duals)
            aims = [aim - da * db for aim, (da, db) in zip(aims, changes, strict=True)]
        excess_aim, xi_aim = aims[:2]
        at = DualPoint(state.cost, state.differences, state.duals, aims[2:])
        e = state.loss.constant(at)
        f = (gamma * excess_aim - state.beta * xi_aim) / divisor
        right = part.difference(e, f) + state.residual
        solution = solve(right[:, np.newaxis])[:, 0]
        products = sums.T @ solution
        k = state.kappa * (state.xi * excess_aim + state.excess * xi_aim) / divisor
        constant = np.array(
            [products[0] - e.sum(), -products[1] - f.sum(), -products[2] - k.sum()]
        )
        try:
            d_top, d_eta, d_total = np.linalg.solve(border, constant)
        except np.linalg.LinAlgError:
            # No loss has a curvature left, and T is free: it moves the least that it can.
            d_top, d_eta, d_total = np.linalg.lstsq(border, constant)[0]
        coef = solution + solved @ np.array([d_top, d_eta, -d_total])
        positive, reference = part.scores(coef)
        d_slope = h * (d_top - positive) + e
        d_beta = g * (reference - d_eta) + m * d_total + f
        d_gamma = d_total * state.kappa - d_beta
        # Divide by the larger of the two dual variables.
        is_large = state.beta >= gamma
        by_beta = (excess_aim - state.excess * d_beta) / np.where(is_large, state.beta, 1.0)
        by_gamma = (xi_aim - state.xi * d_gamma) / np.where(is_large, 1.0, gamma)
        d_xi = np.where(is_large, by_beta + reference - d_eta, by_gamma)
        d_excess = np.where(is_large, by_beta, by_gamma - reference + d_eta)
        duals = state.loss.direction(at, d_top - positive, d_slope)
        longest = min(
            _longest_step(state.beta, d_beta),
            _longest_step(state.xi, d_xi),
            _longest_step(state.excess, d_excess),
            _longest_step(gamma, d_gamma),
            state.loss.longest(state.cost, state.duals, duals),
        )
        d_eta = float(d_eta)
        return _Step(
            coef, positive, reference, d_eta, d_beta, d_xi, d_excess, d_gamma, duals, longest
        )

    return direction


# By which factor the rounding of the kinks shrinks, and its least width relative to the margin.
SHRINKAGE = 0.1
LEAST_WIDTH = 1e-10


class _ScoredCoef(NamedTuple):
    """Weights with the scores of the rows, or a direction of both."""

    coef: FloatArray
    positive: FloatArray
    reference: FloatArray


class _Values(NamedTuple):
    """Derivatives of the rounded losses and of the rounded T by the scores."""

    slope: FloatArray
    curvature: FloatArray
    top_slope: FloatArray
    top_curvature: FloatArray

    @property
    def total(self) -> float:
        return float(self.slope.sum())

    def along(self, point: _ScoredCoef, step: _ScoredCoef) -> float:
        by_reference = self.total * float(self.top_slope @ step.reference)
        return float(point.coef @ step.coef + by_reference - self.slope @ step.positive)


def minimise_rounded(part: TopPart, judge: Judge, start: FloatArray, width: float) -> float:
    """Minimise the objective of a part by Newton's method, kinks rounded off ever less.

    Returns the last width of the kinks.
    """
    point = _ScoredCoef(start, *part.scores(start))
    while True:
        values = _evaluate(part, point, width)
        difference = part.difference(values.slope, values.total * values.top_slope)
        bound = part.lower_bound(values.slope, difference)
        objective = part.change(*point)
        gradient = point.coef - difference
        if judge.update(point.coef, objective, bound):
            return width
        at_zero = not point.coef.any()
        # The gap is what the gradient is worth and what the rounding is.
        by_gradient = 0.5 * float(gradient @ gradient)
        by_rounding = objective - bound - by_gradient
        step, slope = None, 0.0
        if at_zero or by_gradient > 0.1 * by_rounding:
            try:
                step = _direction(part, gradient, values)
            except np.linalg.LinAlgError:
                # The narrower the kinks, the nearer the system is to a singular one.
                judge.exhausted = True
                return width
            slope = values.along(point, step)
        if step is not None and (at_zero or -slope > ROUNDING * abs(objective)):
            point = _search_line(part, point, step, slope, width)
            judge.n_iter += 1
        elif width <= LEAST_WIDTH:
            judge.exhausted = True
            return width
        else:
            goal = 0.5 * judge.tol * abs(objective)
            width *= min(max(goal / max(by_rounding, goal), SHRINKAGE), 0.5)


def _evaluate(part: TopPart, point: _ScoredCoef, width: float) -> _Values:
    cost = part.problem.cost
    top, top_slope, top_curvature = part.functional.parts(point.reference, width)
    _, slopes, curvatures = part.problem.loss.parts(top - point.positive, width)
    return _Values(cost * slopes, cost * curvatures, top_slope, top_curvature)


def _direction(part: TopPart, gradient: FloatArray, values: _Values) -> _ScoredCoef:
    """Newton's direction; with g the gradient of T, the Hessian is I and two sums over rows.

    They are of ``(x - g)(x - g)'`` over positives, and of ``(x - m)(x - m)'`` over the others, m
    their mean by the curvatures.
    """
    h, c = values.curvature, values.total * values.top_curvature
    solve, sums = part.system(h, c, (h, 0.0 * c), (0.0 * h, -values.top_slope), (0.0 * h, -c))
    couplings = np.array([[0.0, -1.0, 0.0], [-1.0, h.sum(), 0.0], [0.0, 0.0, 0.0]])
    couplings[2, 2] = -1.0 / c.sum() if c.any() else 0.0
    solved = solve(np.column_stack((-gradient, sums)))
    columns = solved[:, 1:] @ couplings
    products = np.linalg.solve(np.eye(3) + sums.T @ columns, sums.T @ solved[:, 0])
    coef = solved[:, 0] - columns @ products
    return _ScoredCoef(coef, *part.scores(coef))


def _search_line(
    part: TopPart, point: _ScoredCoef, step: _ScoredCoef, slope: float, width: float
) -> _ScoredCoef:
    """Go along a step until nine tenths of its slope are gone; rows are not looked at."""

    def at(length: float) -> tuple[_ScoredCoef, float]:
        trial = _ScoredCoef(*(x + length * dx for x, dx in zip(point, step, strict=True)))
        return trial, _evaluate(part, trial, width).along(trial, step)

    return search_line(at, slope, left=0.1, least=0.05)[0]


# Rows beside those that count which the first set and each larger one have.
SPARE_ROWS = 500

# Entries of X up to which steps beyond the tolerance cost nothing that a user would notice.
SMALL = 1_000_000

# Relative gap of solutions, and of those of samples, from which the rows that count are guessed.
ROUGH = 1e-2
LESS_ROUGH = 1e-3

# Width of the kinks where the start is the solution of a sample, and most steps for a mean of the
# top from there.
WARM = 0.1
MOST_ROUNDED = 25

# Rows that T is of in the sample from which a large problem's first set is guessed, at least.
SAMPLED_ROWS = 20_000

# Positives in the sample, at least, where there are as many.
SAMPLED_POSITIVES = 2_000


def solve_top_push(
    problem: TopPushProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> SolverResult:
    """Put positives above a functional of the top of other rows, with a certificate.

    T is taken of the rows that score high so far, and rows that turn out to count are added.
    """
    n_rows, n_features = problem.design.shape
    negligible = 2.0 * tol * problem.at_zero / problem.gain_of_distance
    nearest = nearest_top(problem, min(NEAR**2 * problem.means[2], negligible))
    start, n_iter, at_zero = nearest.coef, nearest.n_iter, problem.at_zero
    # No solution is worse than 0, which is the best one more often than one would think.
    coef, best = np.zeros(n_features), 0.0
    if nearest.is_one:
        lower = -0.5 * problem.gain_of_distance * nearest.square
        certificate = Certificate(at_zero, at_zero + lower, n_iter=n_iter, gap=-lower / at_zero)
        return SolverResult(coef, certificate)
    lower, inner_tol, mask = -np.inf, 0.5 * tol, np.ones(len(problem.reference), dtype=bool)
    # A mean of the top has many kinks for each feature, unless rows are many.
    is_smooth, width = False, 1.0
    if len(mask) > 4 * SPARE_ROWS:
        sample = sample_problem(problem)
        inner_tol = max(inner_tol, ROUGH if sample is None else LESS_ROUGH)
        if sample is not None:
            solution = solve_top_push(sample, tol=LESS_ROUGH, max_iter=max_iter)
            n_iter += solution.certificate.n_iter
            if solution.coef.any():
                coef = start = solution.coef
            is_smooth = True
        scores = problem.design.scores(start)[problem.reference]
        mask = _active_and_spare(problem, scores)
        width = WARM * float(scores.std())
    part = TopPart(problem, mask)
    while True:
        n_left = min(max_iter - n_iter, MOST_ROUNDED if is_smooth else max_iter)
        polish = n_rows * n_features <= SMALL
        judge = Judge(inner_tol, n_left, polish=polish, coef=coef)
        if is_smooth:
            width = minimise_rounded(part, judge, coef, width)
            is_smooth = judge.gap <= inner_tol
            judge.exhausted &= is_smooth
        else:
            minimise_by_interior_points(part, judge)
        n_iter += judge.n_iter
        lower = max(lower, judge.lower_bound)
        scores = problem.design.scores(judge.coef)
        change = problem.change(judge.coef, scores)
        if is_best(change, best):
            coef, best = judge.coef, change
        gap = gap_of_change(best, lower)
        if on_iteration is not None:
            on_iteration(n_iter, at_zero + best, gap)
        converged = gap <= tol
        missing = problem.top.active(scores[problem.reference]) & ~part.mask
        if converged or n_iter >= max_iter or (judge.exhausted and not missing.any()):
            break
        inner_tol = 0.5 * tol
        if missing.any():
            part.select(part.mask | _active_and_spare(problem, scores[problem.reference]))
    certificate = Certificate(
        at_zero + best, at_zero + lower, n_iter=n_iter, converged=converged, gap=gap
    )
    return SolverResult(coef, certificate)


def sample_problem(problem: TopPushProblem) -> TopPushProblem | None:
    """Keep one row in so many of a large problem, and its costs in proportion."""
    stride = len(problem.reference) // SAMPLED_ROWS
    if stride < 2:
        return None
    pos_stride = max(1, min(stride, len(problem.positive) // SAMPLED_POSITIVES))
    positive, reference = problem.positive[::pos_stride], problem.reference[::stride]
    index = np.flatnonzero(np.bincount(np.append(positive, reference)))
    return replace(
        problem,
        design=problem.design.rows(index),
        positive=np.searchsorted(index, positive),
        cost=pos_stride * problem.cost[::pos_stride],
        reference=np.searchsorted(index, reference),
        top=problem.top.sample(stride),
    )


def _active_and_spare(problem: TopPushProblem, scores: FloatArray) -> BoolArray:
    """Rows that T depends on, and some that score less."""
    active = problem.top.active(scores)
    n_rows = int(1.5 * np.count_nonzero(active)) + SPARE_ROWS + len(problem.positive) // 10
    if n_rows >= len(scores):
        return np.ones(len(scores), dtype=bool)
    least = np.partition(scores, len(scores) - n_rows)[len(scores) - n_rows]
    return np.asarray(active | (scores >= least))


class NearestTop(NamedTuple):
    """The mean of the positives less one of the top: the nearest, or one by which T is less."""

    coef: FloatArray
    square: float  # Its square, the distance of the two
    is_one: bool  # Whether it is negligible, so that the mean of the positives is one of the top
    n_iter: int  # Passes over rows


def nearest_top(
    problem: TopPushProblem, negligible: float, hull: Hull | None = None
) -> NearestTop:
    """Find weights by which the mean of the positives is above T, or show that there are none.

    There are none where w = 0 minimises the objective for all costs in the same proportions. A
    squared distance of at most ``negligible`` is none. The points of the hull, the mean of the
    positives less means of the top, may be those of a larger mass.
    """
    centre, mean, _ = problem.means
    hull = Hull(len(centre)) if hull is None else hull
    if not len(hull.points):
        hull.add(centre - mean)
    n_iter, coef = 1, hull.nearest(ACCURACY * negligible)
    square = float(coef @ coef)
    for stride in problem.strides:
        design, reference = problem.design, problem.reference[::stride]
        if stride > 1:
            design, reference = design.rows(reference), np.arange(len(reference))
        top, last_square = TopMean(problem.top.weight[::stride], problem.top.mass), np.inf
        while negligible < square < last_square:
            n_iter, last_square = n_iter + 1, square
            scores = design.scores(coef)[reference] - float(centre @ coef)
            share = np.zeros(design.shape[0])
            share[reference] = top.shares(scores)
            if share[reference] @ scores < -ACCURACY * square:  # rounding is less
                break
            hull.add(centre - design.pull_back(share))
            coef = hull.nearest(ACCURACY * negligible)
            hull.drop_idle()
            square = float(coef @ coef)
    return NearestTop(coef, square, square <= negligible, n_iter)


def largest_collapsing_mass(problem: TopPushProblem) -> float:
    """Search for the largest mass of the top with which w = 0 is the solution, roughly."""
    sample = sample_problem(problem)
    if sample is not None:
        share = largest_collapsing_mass(sample) / float(sample.top.weight.sum())
        return max(problem.top.mass, share * float(problem.top.weight.sum()))
    hull, mass = Hull(problem.design.shape[1]), float(problem.top.weight.sum())
    negligible = ROUGHLY_NEAR**2 * problem.means[2]
    while mass > problem.top.mass:
        top = TopMean(problem.top.weight, mass)
        found = nearest_top(replace(problem, top=top), negligible, hull)
        if found.is_one:
            return mass
        scores = problem.design.scores(found.coef)
        mean = float(problem.cost @ scores[problem.positive] / problem.cost.sum())
        # T of a larger mass is less than the mean of the positives in this direction.
        mass = top.mass_of_mean(scores[problem.reference], mean)
    return problem.top.mass
