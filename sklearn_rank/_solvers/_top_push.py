"""Solvers for positives above the top of other rows: active set, interior point, Newton.

In the variables w, a level eta and excesses xi, the mean of the top is T = eta + kappa . xi with
xi_j >= s_j - eta and xi_j >= 0, kappa the weights over the mass of the top. The dual variables
beta of the first constraints are at most kappa times the sum of the slopes of the losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np

from .._typing import BoolArray, FloatArray
from ._result import Certificate, SolverResult
from ._top_part import (
    DifferenceLoss,
    Hinge,
    Judge,
    Linear,
    LogisticLoss,
    LossParts,
    SquaredHinge,
    SurrogateQuantile,
    TopMean,
    TopPart,
    TopParts,
    TopPushProblem,
    not_worse,
    share_left,
)

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


def minimise_top_mean(part: TopPart, judge: Judge) -> None:
    """Minimise the objective of a part whose functional is a mean of the top."""
    state = _State(part)
    idle = 0
    while True:
        gap_before = judge.objective - judge.lower_bound
        if judge.see(*state.certified()):
            return
        idle = 0 if judge.objective - judge.lower_bound < gap_before else idle + 1
        if idle > MOST_IDLE or not state.step():
            judge.exhausted = True
            return
        judge.n_iter += 1


class _State:
    """An interior point with its scores."""

    def __init__(self, part: TopPart) -> None:
        functional = cast(TopMean, part.functional)
        self.part = part
        self.kappa = functional.weight / functional.mass
        self.loss = _ROWS[type(part.problem.loss)](part.problem.cost)
        share = functional.weight / functional.weight.sum()
        coef = part.difference(self.loss.slope, self.total * share)
        # The share of the slopes by which the scores are no longer than the margin asks for.
        square = float(coef @ coef)
        scale = min(1.0, self.total / square) if square > 0 else 1.0
        if scale < self.loss.least_share:
            # Slopes that are so small are far from any that are wanted: coefficients of a length
            # that suits the features stand apart from them, and meet them in later steps.
            scales = part.scales()
            coef = coef / np.where(scales > 0, scales, 1.0) ** 2
            length = float(np.linalg.norm(coef * scales))
            coef = coef / length if length > 0 else 0.0 * coef
        else:
            coef = self.loss.shrink(scale) * coef
        self.coef, self.beta = coef, self.total * share
        self.positive, self.reference = part.scores(self.coef)
        self.eta = float(share @ self.reference)
        distances = np.append(self.positive, self.reference) - self.eta
        room = float(np.mean(np.abs(distances)))
        room = room if room > LEAST_ROOM * float(np.abs(distances + self.eta).max()) else 1.0
        over = self.reference - self.eta
        self.xi = np.maximum(over, 0.0) + room
        self.excess = self.xi - over
        self.loss.start(self.top - self.positive)

    @property
    def top(self) -> float:
        return self.eta + float(self.kappa @ self.xi)

    @property
    def gamma(self) -> FloatArray:
        return self.total * self.kappa - self.beta

    @property
    def total(self) -> float:
        return float(self.loss.slope.sum())

    def certified(self) -> tuple[FloatArray, float, float]:
        """Weights, the change of the objective, and a bound by a feasible point of the dual."""
        part, slope = self.part, self.loss.slope
        # The sums are equal but for rounding.
        beta = self.beta * (slope.sum() / self.beta.sum())
        difference = part.difference(slope, beta)
        self.residual = difference - self.coef
        bound = part.lower_bound(slope, difference)
        return self.coef, part.change(self.coef, self.positive, self.reference), bound

    def step(self) -> bool:
        """Take a step of Mehrotra's method; tell whether it had any length."""
        gamma = self.gamma
        u = self.top - self.positive
        count = self.loss.n_pairs + 2 * len(self.beta)
        product = self.loss.product() + float(self.beta @ self.excess + gamma @ self.xi)
        mean = product / count
        curvature = self.loss.curvature(u)
        weight = self.beta * gamma / (self.excess * gamma + self.beta * self.xi)
        if not (np.isfinite(weight).all() and np.isfinite(curvature).all()):
            return False
        try:
            system = _Bordered(self, gamma, curvature, weight)
        except np.linalg.LinAlgError:
            return False
        guess = system.direction(0.0, None)
        length = min(1.0, guess.longest)
        after = self.loss.product_after(guess.loss, length)
        after += float((self.beta + length * guess.beta) @ (self.excess + length * guess.excess))
        after += float((gamma + length * guess.gamma) @ (self.xi + length * guess.xi))
        target = mean * min(max(after / product, 0.0), 1.0) ** 3
        step = system.direction(target, guess)
        for share in CAREFUL:
            if step.longest >= SHORT:
                break
            # Corrections to second order lead astray near the boundary.
            step = system.direction(share * mean, None)
        length = min(1.0, SHARE_OF_WAY * step.longest)
        if not length > 1e-12:
            return False
        self.coef = self.coef + length * step.coef
        self.positive = self.positive + length * step.positive
        self.reference = self.reference + length * step.reference
        self.eta += length * step.eta
        self.beta = self.beta + length * step.beta
        self.xi = self.xi + length * step.xi
        self.excess = self.excess + length * step.excess
        self.loss.move(step.loss, length)
        return True


class _Aim(NamedTuple):
    """Where a step starts and aims: differences, the products wanted, and a first guess of it."""

    u: FloatArray
    target: float
    guess: list[FloatArray] | None


@dataclass(frozen=True, eq=False)
class _Step:
    """A direction in all variables, and how far it leads to the boundary."""

    coef: FloatArray
    positive: FloatArray
    reference: FloatArray
    eta: float
    beta: FloatArray
    xi: FloatArray
    excess: FloatArray
    gamma: FloatArray
    loss: list[FloatArray]
    longest: float


class _Bordered:
    """Newton's system at a state: one matrix of the features, bordered by T, eta and the total.

    The changes of the slopes a of the losses and of beta are linear in those of the scores, ``da =
    h (dT - X_P dw) + e`` and ``dbeta = g (X_S dw - deta) + m dA + f`` with ``A = sum a``.
    """

    def __init__(
        self, state: _State, gamma: FloatArray, curvature: FloatArray, weight: FloatArray
    ) -> None:
        self.state, self.gamma = state, gamma
        self.h, self.g = curvature, weight
        # Where the divisor is 0, rounding is all that is left of both factors.
        self.divisor = state.excess * gamma + state.beta * state.xi
        self.m = state.kappa * state.beta * state.xi / self.divisor
        part = state.part
        none_pos, none_ref = np.zeros_like(self.h), np.zeros_like(self.g)
        self.system = part.system(
            self.h, self.g, (self.h, none_ref), (none_pos, -self.g), (none_pos, -self.m)
        )
        self.pulled = self.system.sums
        self.solved = self.system.solve(self.pulled)
        # A row and a column each for dT, deta, dA.
        h, g, m = self.h.sum(), self.g.sum(), self.m.sum()
        left = state.kappa**2 * state.xi * state.excess / self.divisor
        signs = np.array([1.0, 1.0, -1.0])
        inner = (self.pulled.T @ self.solved) * signs
        self.border = np.array(
            [
                [h - inner[0, 0], -inner[0, 1], -1.0 - inner[0, 2]],
                [inner[1, 0], inner[1, 1] - g, inner[1, 2] + m - 1.0],
                [inner[2, 0] - 1.0, inner[2, 1] + 1.0 - m, inner[2, 2] - left.sum()],
            ]
        )

    def direction(self, target: float, guess: _Step | None) -> _Step:
        """Direction to products of the pairs that equal a target, corrected by a first guess."""
        state, gamma, part = self.state, self.gamma, self.state.part
        first = target - state.beta * state.excess
        second = target - gamma * state.xi
        if guess is not None:
            first = first - guess.beta * guess.excess
            second = second - guess.gamma * guess.xi
        aim = _Aim(state.top - state.positive, target, None if guess is None else guess.loss)
        e = state.loss.constant(aim)
        f = (gamma * first - state.beta * second) / self.divisor
        right = part.difference(e, f) + state.residual
        moved = self.system.solve(right[:, np.newaxis])[:, 0]
        by = self.pulled.T @ moved
        k = state.kappa * (state.xi * first + state.excess * second) / self.divisor
        constant = np.array([by[0] - e.sum(), -by[1] - f.sum(), -by[2] - k.sum()])
        try:
            d_top, d_eta, d_total = np.linalg.solve(self.border, constant)
        except np.linalg.LinAlgError:
            # No loss has a curvature left, and T is free: it moves the least that it can.
            d_top, d_eta, d_total = np.linalg.lstsq(self.border, constant)[0]
        coef = moved + self.solved @ np.array([d_top, d_eta, -d_total])
        positive, reference = part.scores(coef)
        d_slope = self.h * (d_top - positive) + e
        d_beta = self.g * (reference - d_eta) + self.m * d_total + f
        d_gamma = d_total * state.kappa - d_beta
        # Divide by the larger of the two dual variables.
        large = state.beta >= gamma
        by_beta = (first - state.excess * d_beta) / np.where(large, state.beta, 1.0)
        by_gamma = (second - state.xi * d_gamma) / np.where(large, 1.0, gamma)
        d_xi = np.where(large, by_beta + reference - d_eta, by_gamma)
        d_excess = np.where(large, by_beta, by_gamma - reference + d_eta)
        loss = state.loss.direction(aim, d_top - positive, d_slope)
        longest = min(
            _longest(state.beta, d_beta),
            _longest(state.xi, d_xi),
            _longest(state.excess, d_excess),
            _longest(gamma, d_gamma),
            state.loss.longest(loss),
        )
        return _Step(
            coef, positive, reference, float(d_eta), d_beta, d_xi, d_excess, d_gamma, loss, longest
        )


def _longest(value: FloatArray, change: FloatArray) -> float:
    """Longest step that keeps values non-negative."""
    falling = change < 0
    if not falling.any():
        return float(np.inf)
    return float(np.min(value[falling] / -change[falling]))


class _LossRows(ABC):
    """The positives of a problem: slopes of their costs, and what is complementary to these."""

    n_pairs = 0
    # Share of the slopes below which the start is not a point of the dual problem.
    least_share = 1e-3

    def __init__(self, cost: FloatArray, slope: FloatArray) -> None:
        self.cost, self.slope = cost, slope

    def shrink(self, scale: float) -> float:
        """Make the slopes smaller by a factor; return it."""
        self.slope = scale * self.slope
        return scale

    def start(self, u: FloatArray) -> None:
        """Choose what else there is, given differences; nothing where slopes are all."""
        return

    def product(self) -> float:
        """Sum of the products of complementary variables."""
        return 0.0

    def product_after(self, step: list[FloatArray], length: float) -> float:
        """The same after a step."""
        return 0.0

    @abstractmethod
    def curvature(self, u: FloatArray) -> FloatArray:
        """The change of a slope with its difference, h."""

    @abstractmethod
    def constant(self, aim: _Aim) -> FloatArray:
        """The change of a slope whose difference stays, e."""

    def direction(self, aim: _Aim, du: FloatArray, d_slope: FloatArray) -> list[FloatArray]:
        """Changes of all variables, that of the slope first."""
        return [d_slope]

    def longest(self, step: list[FloatArray]) -> float:
        """Longest step to the boundary."""
        return np.inf

    def move(self, step: list[FloatArray], length: float) -> None:
        """Take a step."""
        self.slope = self.slope + length * step[0]


class _SquaredHingeRows(_LossRows):
    """Slopes a >= 0 with ``a / 2c - 1 - u >= 0``, the product 0."""

    def __init__(self, cost: FloatArray) -> None:
        super().__init__(cost, 2.0 * cost)
        self.n_pairs = len(cost)

    def start(self, u: FloatArray) -> None:
        least = max(float(np.mean(np.abs(u))), 1e-3)
        self.left = np.maximum(self.slope / (2 * self.cost) - 1.0 - u, least)

    def product(self) -> float:
        return float(self.slope @ self.left)

    def product_after(self, step: list[FloatArray], length: float) -> float:
        return float((self.slope + length * step[0]) @ (self.left + length * step[1]))

    def curvature(self, u: FloatArray) -> FloatArray:
        return self.slope / (self.left + self.slope / (2 * self.cost))

    def constant(self, aim: _Aim) -> FloatArray:
        wanted = self._wanted(aim)
        missing = self.slope / (2 * self.cost) - 1.0 - aim.u - self.left
        divisor = self.left + self.slope / (2 * self.cost)
        return (wanted - self.slope * missing) / divisor

    def _wanted(self, aim: _Aim) -> FloatArray:
        wanted = aim.target - self.slope * self.left
        return wanted if aim.guess is None else wanted - aim.guess[0] * aim.guess[1]

    def direction(self, aim: _Aim, du: FloatArray, d_slope: FloatArray) -> list[FloatArray]:
        missing = self.slope / (2 * self.cost) - 1.0 - aim.u - self.left
        return [d_slope, d_slope / (2 * self.cost) - du + missing]

    def longest(self, step: list[FloatArray]) -> float:
        return min(_longest(self.slope, step[0]), _longest(self.left, step[1]))

    def move(self, step: list[FloatArray], length: float) -> None:
        super().move(step, length)
        self.left = self.left + length * step[1]


class _HingeRows(_LossRows):
    """Slopes ``0 <= a <= c`` with losses ``z >= 0`` and ``z >= 1 + u``."""

    def __init__(self, cost: FloatArray) -> None:
        super().__init__(cost, 0.5 * cost)
        self.n_pairs = 2 * len(cost)

    def start(self, u: FloatArray) -> None:
        least = max(float(np.mean(np.abs(u))), 1e-3)
        self.value = np.maximum(1.0 + u, 0.0) + least
        self.left = self.value - 1.0 - u

    def product(self) -> float:
        return float(self.slope @ self.left + (self.cost - self.slope) @ self.value)

    def product_after(self, step: list[FloatArray], length: float) -> float:
        slope = self.slope + length * step[0]
        first = slope @ (self.left + length * step[1])
        return float(first + (self.cost - slope) @ (self.value + length * step[2]))

    def _divisor(self) -> FloatArray:
        return self.left * (self.cost - self.slope) + self.slope * self.value

    def curvature(self, u: FloatArray) -> FloatArray:
        return self.slope * (self.cost - self.slope) / self._divisor()

    def _wanted(self, aim: _Aim) -> tuple[FloatArray, FloatArray]:
        first = aim.target - self.slope * self.left
        second = aim.target - (self.cost - self.slope) * self.value
        if aim.guess is None:
            return first, second
        return first - aim.guess[0] * aim.guess[1], second + aim.guess[0] * aim.guess[2]

    def constant(self, aim: _Aim) -> FloatArray:
        first, second = self._wanted(aim)
        return ((self.cost - self.slope) * first - self.slope * second) / self._divisor()

    def direction(self, aim: _Aim, du: FloatArray, d_slope: FloatArray) -> list[FloatArray]:
        first, second = self._wanted(aim)
        other = self.cost - self.slope
        large = self.slope >= other
        by_slope = (first - self.left * d_slope) / np.where(large, self.slope, 1.0)
        by_other = (second + self.value * d_slope) / np.where(large, 1.0, other)
        return [
            d_slope,
            np.where(large, by_slope, by_other - du),
            np.where(large, by_slope + du, by_other),
        ]

    def longest(self, step: list[FloatArray]) -> float:
        return min(
            _longest(self.slope, step[0]),
            _longest(self.cost - self.slope, -step[0]),
            _longest(self.left, step[1]),
            _longest(self.value, step[2]),
        )

    def move(self, step: list[FloatArray], length: float) -> None:
        super().move(step, length)
        self.left = self.left + length * step[1]
        self.value = self.value + length * step[2]


class _LogisticRows(_LossRows):
    """Slopes a between 0 and their bound b, ``log(a / (b - a)) = u``."""

    least_share = 1e-9

    def __init__(self, cost: FloatArray) -> None:
        self.bound = cost / np.log(2.0)
        super().__init__(cost, 0.5 * self.bound)

    def start(self, u: FloatArray) -> None:
        # Kept beside the slope, whose difference from the bound would be lost by rounding.
        self.other = self.bound - self.slope

    def curvature(self, u: FloatArray) -> FloatArray:
        return self.slope * self.other / self.bound

    def constant(self, aim: _Aim) -> FloatArray:
        return self.curvature(aim.u) * (aim.u - np.log(self.slope) + np.log(self.other))

    def longest(self, step: list[FloatArray]) -> float:
        return min(_longest(self.slope, step[0]), _longest(self.other, -step[0]))

    def move(self, step: list[FloatArray], length: float) -> None:
        super().move(step, length)
        self.other = self.other - length * step[0]


class _LinearRows(_LossRows):
    """Slopes that are the costs."""

    def __init__(self, cost: FloatArray) -> None:
        super().__init__(cost, cost)

    def shrink(self, scale: float) -> float:
        return 1.0

    def curvature(self, u: FloatArray) -> FloatArray:
        return np.zeros_like(u)

    def constant(self, aim: _Aim) -> FloatArray:
        return np.zeros_like(aim.u)


_ROWS: dict[type[DifferenceLoss], Callable[[FloatArray], _LossRows]] = {
    SquaredHinge: _SquaredHingeRows,
    Hinge: _HingeRows,
    LogisticLoss: _LogisticRows,
    Linear: _LinearRows,
}


# By which factor the rounding of the kinks shrinks, and its least width relative to the margin.
SHRINKAGE = 0.1
LEAST_WIDTH = 1e-10

# Decrease of the objective, relative to it, that rounding hides.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights with the scores of the rows, or a direction of both."""

    coef: FloatArray
    positive: FloatArray
    reference: FloatArray

    def moved(self, step: _Point, length: float) -> _Point:
        return _Point(
            self.coef + length * step.coef,
            self.positive + length * step.positive,
            self.reference + length * step.reference,
        )


@dataclass(frozen=True, eq=False)
class _Values:
    """The rounded objective at a point, and its derivatives by the scores."""

    objective: float
    top: TopParts
    loss: LossParts

    @property
    def total(self) -> float:
        return float(self.loss.slope.sum())

    def along(self, point: _Point, step: _Point) -> float:
        """Derivative along a step."""
        by_reference = self.total * float(self.top.slope @ step.reference)
        return float(point.coef @ step.coef + by_reference - self.loss.slope @ step.positive)


def minimise_top_quantile(part: TopPart, judge: Judge, start: FloatArray) -> None:
    """Minimise the objective of a part whose functional bounds a quantile.

    Kinks are rounded off, ever less, and each rounded problem is solved from the last.
    """
    point, width = _Point(start, *part.scores(start)), 1.0
    while True:
        values = _values(part, point, width)
        difference = part.difference(values.loss.slope, values.total * values.top.slope)
        lower = part.lower_bound(values.loss.slope, difference, values.top.conjugate)
        objective = part.change(point.coef, point.positive, point.reference)
        gradient = point.coef - difference
        if judge.see(point.coef, objective, lower):
            return
        # Rounding may hide all that can be won from w = 0.
        at_zero = not point.coef.any()
        flat = at_zero and part.problem.has_one_mean
        # The gap is what the gradient is worth and what the rounding is.
        off = 0.5 * float(gradient @ gradient)
        step, slope = None, 0.0
        if not flat and (at_zero or off > 0.1 * (objective - lower - off)):
            try:
                step = _direction(part, gradient, values)
            except np.linalg.LinAlgError:
                # The narrower the kinks, the nearer the system is to a singular one.
                judge.exhausted = True
                return
            slope = values.along(point, step)
        if step is not None and (at_zero or -slope > ROUNDING * abs(objective)):
            point = _along(part, point, step, slope, width)
            judge.n_iter += 1
        elif width <= LEAST_WIDTH:
            judge.exhausted = True
            return
        else:
            width *= SHRINKAGE


def _values(part: TopPart, point: _Point, width: float) -> _Values:
    functional, problem = cast(SurrogateQuantile, part.functional), part.problem
    top = functional.parts(point.reference, width)
    loss = problem.loss.parts(top.value - point.positive, width)
    objective = 0.5 * float(point.coef @ point.coef) + float(problem.cost @ loss.value)
    cost = problem.cost
    return _Values(objective, top, LossParts(loss.value, cost * loss.slope, cost * loss.curvature))


def _direction(part: TopPart, gradient: FloatArray, values: _Values) -> _Point:
    """Newton's direction.

    The second derivatives are ``I + sum of weight (x - g)(x - g)'`` over all rows, g the mean of
    the rows by the slopes of T.
    """
    curvature = values.total * values.top.curvature
    system = part.system(
        values.loss.curvature,
        curvature,
        (np.zeros_like(values.loss.slope), -values.top.slope),
        (values.loss.curvature, -curvature),
    )
    centre, summed = system.sums.T
    total = float(values.loss.curvature.sum() + curvature.sum())
    known, by_sum, by_centre = system.solve(np.column_stack((-gradient, summed, centre))).T
    # The direction p depends on centre . p and summed . p, two numbers.
    columns = np.column_stack((by_sum - total * by_centre, by_centre))
    rows = np.vstack((centre, summed))
    two = np.linalg.solve(np.eye(2) - rows @ columns, rows @ known)
    coef = known + columns @ two
    return _Point(coef, *part.scores(coef))


def _along(part: TopPart, point: _Point, step: _Point, slope: float, width: float) -> _Point:
    """Go along a step until nine tenths of its slope are gone; rows are not looked at."""
    length, low, low_slope = 1.0, 0.0, slope
    high, high_slope = np.inf, np.inf
    for _ in range(60):
        there = point.moved(step, length)
        new_slope = _values(part, there, width).along(there, step)
        if abs(new_slope) <= 0.1 * abs(slope):
            break
        if new_slope < 0:
            low, low_slope = length, new_slope
        else:
            high, high_slope = length, new_slope
        if not np.isfinite(high):
            length = 2.0 * low
            continue
        share = min(max(-low_slope / (high_slope - low_slope), 0.05), 0.95)
        length = low + share * (high - low)
    return there


# Rows beside those that count which the first set and each larger one have.
SPARE_ROWS = 500

# Entries of X up to which steps beyond the tolerance cost nothing that a user would notice.
SMALL = 1_000_000

# Relative gap of the solutions from which the rows that count are guessed.
ROUGH = 1e-2

# Rows that T is of in the sample from which a large problem's first set is guessed, at least.
SAMPLED_ROWS = 20_000

# Positives in the sample, at least, where there are as many.
SAMPLED_POSITIVES = 2_000


@dataclass(frozen=True, eq=False)
class TopPushSolution(SolverResult):
    """A solution, and T at its scores."""

    top: float  # T(X coef)


def solve_top_push(
    problem: TopPushProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    stop: Callable[[float, float], bool] | None = None,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> TopPushSolution:
    """Put positives above a functional of the top of other rows, with a certificate.

    T is taken of the rows that score high so far, and rows that turn out to count are added. The
    mean of the top is minimised by a primal-dual interior point method, a surrogate of the
    quantile by Newton's method.
    """
    n_rows, n_features = problem.design.shape
    # No solution is worse than 0, which is the best one more often than one would think.
    coef, lower = np.zeros(n_features), -np.inf
    best, top = problem.change(coef, np.zeros(n_rows))

    def near(change: float, bound: float) -> bool:
        return problem.is_solved_by_zero(bound) or (stop is not None and stop(change, bound))

    n_iter, wanted, kept = 0, 0.5 * tol, np.ones(len(problem.reference), dtype=bool)
    if len(kept) > 4 * SPARE_ROWS:
        first = _first_guess(problem, max_iter)
        kept = _with_spare(problem, problem.design.scores(first)[problem.reference])
        wanted = max(wanted, ROUGH)
    part = TopPart(problem, kept)
    small = n_rows * n_features <= SMALL
    while True:
        judge = Judge(wanted, near, max_iter - n_iter, rounding=problem.rounding, polish=small)
        if isinstance(problem.top, TopMean):
            minimise_top_mean(part, judge)
        else:
            minimise_top_quantile(part, judge, coef)
        n_iter += judge.n_iter
        lower = max(lower, judge.lower_bound)
        scores = problem.design.scores(judge.coef)
        change, value = problem.change(judge.coef, scores)
        if not_worse(change, best, problem.rounding):
            coef, best, top = judge.coef, change, value
        gap = share_left(best, lower, problem.rounding)
        if on_iteration is not None:
            on_iteration(n_iter, problem.at_zero + best, gap)
        converged = gap <= tol or near(best, lower)
        missing = problem.top.counting(scores[problem.reference]) & ~part.kept
        if converged or n_iter >= max_iter or (judge.exhausted and not missing.any()):
            break
        wanted = 0.5 * tol
        if missing.any():
            part.keep(part.kept | _with_spare(problem, scores[problem.reference]))
    at_zero = problem.at_zero
    if problem.is_solved_by_zero(lower):
        coef, best, gap = np.zeros(n_features), 0.0, -lower / at_zero if at_zero else 0.0
    certificate = Certificate(
        at_zero + best, at_zero + lower, n_iter=n_iter, converged=converged, gap=gap
    )
    return TopPushSolution(coef, certificate, top)


def _first_guess(problem: TopPushProblem, max_iter: int) -> FloatArray:
    """Solve the problem of a sample of the rows roughly, or take the difference of the means."""
    sample = sampled(problem)
    if sample is not None:
        return solve_top_push(sample, tol=ROUGH, max_iter=max_iter).coef
    by_row = np.zeros(problem.design.shape[0])
    by_row[problem.reference] = -1.0 / len(problem.reference)
    by_row[problem.positive] += problem.cost / problem.cost.sum()
    return problem.design.pull_back(by_row)


def sampled(problem: TopPushProblem) -> TopPushProblem | None:
    """Keep one row in so many of a large problem, and its costs in proportion."""
    stride = len(problem.reference) // SAMPLED_ROWS
    if stride < 2:
        return None
    of_positives = max(1, min(stride, len(problem.positive) // SAMPLED_POSITIVES))
    positive, reference = problem.positive[::of_positives], problem.reference[::stride]
    needed = np.union1d(positive, reference)
    return replace(
        problem,
        design=problem.design.rows(needed),
        positive=np.searchsorted(needed, positive),
        cost=of_positives * problem.cost[::of_positives],
        reference=np.searchsorted(needed, reference),
        top=problem.top.sample(stride),
    )


def _with_spare(problem: TopPushProblem, scores: FloatArray) -> BoolArray:
    """Rows that T depends on, and some that score less."""
    counting = problem.top.counting(scores)
    n_kept = int(1.5 * np.count_nonzero(counting)) + SPARE_ROWS
    if n_kept >= len(scores):
        return np.ones(len(scores), dtype=bool)
    level = np.partition(scores, len(scores) - n_kept)[len(scores) - n_kept]
    return np.asarray(counting | (scores >= level))


# Relative accuracy of the mass that is searched for, where it is not less than one row.
ACCURACY = 0.05

# Largest number of Newton steps for each mass.
MOST_STEPS = 300


def collapses(problem: TopPushProblem) -> bool:
    """Say whether w = 0 minimises the objective for all costs that are in the same proportions.

    It does where the mean of the positives is a mean of the rows that T is of, none of which
    counts for more than its weight over the mass of the top.
    """
    # With linear losses half the squared distance of the two is the minimum, negated.
    linear = replace(problem, cost=problem.cost / problem.cost.sum(), loss=Linear())
    solution = solve_top_push(
        linear, max_iter=MOST_STEPS, stop=lambda change, lower: change < -linear.negligible
    )
    return solution.certificate.objective >= -linear.negligible


def largest_collapsing_mass(problem: TopPushProblem) -> float:
    """Search for the largest mass of the top with which the problem collapses.

    Large problems are searched in a sample of their rows.
    """
    sample = sampled(problem)
    if sample is not None:
        share = largest_collapsing_mass(sample) / float(sample.top.weight.sum())
        return max(problem.top.mass, share * float(problem.top.weight.sum()))
    top = cast(TopMean, problem.top)
    total = float(top.weight.sum())
    low, high = top.mass, total
    while high - low > max(1.0, ACCURACY * low):
        middle = np.sqrt(low * high)
        middle = np.ceil(middle) if np.ceil(middle) < high else middle
        if collapses(replace(problem, top=replace(top, mass=float(middle)))):
            low = float(middle)
        else:
            high = float(middle)
    return total if high == total else low
