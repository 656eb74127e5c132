"""Solvers for positives above the top of other rows: active set, interior point, Newton.

In the variables w, a level eta and excesses xi, the mean of the top is T = eta + kappa . xi with
xi_j >= s_j - eta and xi_j >= 0, kappa the weights over the mass of the top. The dual variables
beta of the first constraints are at most kappa times the sum of the slopes of the losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from .._typing import BoolArray, FloatArray
from ._newton_cg import next_length
from ._result import Certificate, SolverResult
from ._top_part import (
    DifferenceLoss,
    Hinge,
    Judge,
    Linear,
    LogisticLoss,
    SquaredHinge,
    SurrogateQuantile,
    TopMean,
    TopPart,
    TopPushProblem,
    gap_of_change,
    is_best,
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
    state = _InteriorPoint(part)
    n_idle = 0
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
        functional = cast(TopMean, part.functional)
        self.part = part
        self.kappa = functional.weight / functional.mass
        self.loss = LOSS_DUALS[type(part.problem.loss)](part.problem.cost)
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
        differences = self.reference - self.eta
        self.xi = np.maximum(differences, 0.0) + room
        self.excess = self.xi - differences
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

    def certificate(self) -> tuple[FloatArray, float, float]:
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
        n_products = self.loss.n_pairs + 2 * len(self.beta)
        product = self.loss.product() + float(self.beta @ self.excess + gamma @ self.xi)
        mean = product / n_products
        curvature = self.loss.curvature(u)
        weight = self.beta * gamma / (self.excess * gamma + self.beta * self.xi)
        if not (np.isfinite(weight).all() and np.isfinite(curvature).all()):
            return False
        try:
            direction = _newton_directions(self, gamma, curvature, weight)
        except np.linalg.LinAlgError:
            return False
        guess = direction(0.0, None)
        length = min(1.0, guess.longest)
        new_product = self.loss.product(self.loss.after(guess.loss, length))
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
        self.loss.move(step.loss, length)
        return True


class _Aim(NamedTuple):
    """Where a step starts and aims: differences, the products wanted, and a first guess of it."""

    u: FloatArray
    target: float
    guess: list[FloatArray] | None


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
    loss: list[FloatArray]
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
    # Where the divisor is 0, rounding is all that is left of both factors.
    divisor = state.excess * gamma + state.beta * state.xi
    m = state.kappa * state.beta * state.xi / divisor
    zeros_pos, zeros_ref = np.zeros_like(h), np.zeros_like(g)
    system = part.system(h, g, (h, zeros_ref), (zeros_pos, -g), (zeros_pos, -m))
    solved = system.solve(system.sums)
    # A row and a column each for dT, deta, dA.
    h_sum, g_sum, m_sum = h.sum(), g.sum(), m.sum()
    total_sum = (state.kappa**2 * state.xi * state.excess / divisor).sum()
    inner = (system.sums.T @ solved) * np.array([1.0, 1.0, -1.0])
    border = np.array(
        [
            [h_sum - inner[0, 0], -inner[0, 1], -1.0 - inner[0, 2]],
            [inner[1, 0], inner[1, 1] - g_sum, inner[1, 2] + m_sum - 1.0],
            [inner[2, 0] - 1.0, inner[2, 1] + 1.0 - m_sum, inner[2, 2] - total_sum],
        ]
    )

    def direction(target: float, guess: _Step | None) -> _Step:
        excess_aim = target - state.beta * state.excess
        xi_aim = target - gamma * state.xi
        if guess is not None:
            excess_aim = excess_aim - guess.beta * guess.excess
            xi_aim = xi_aim - guess.gamma * guess.xi
        aim = _Aim(state.top - state.positive, target, None if guess is None else guess.loss)
        e = state.loss.constant(aim)
        f = (gamma * excess_aim - state.beta * xi_aim) / divisor
        right = part.difference(e, f) + state.residual
        solution = system.solve(right[:, np.newaxis])[:, 0]
        products = system.sums.T @ solution
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
        loss = state.loss.direction(aim, d_top - positive, d_slope)
        longest = min(
            _longest_step(state.beta, d_beta),
            _longest_step(state.xi, d_xi),
            _longest_step(state.excess, d_excess),
            _longest_step(gamma, d_gamma),
            state.loss.longest(loss),
        )
        return _Step(
            coef, positive, reference, float(d_eta), d_beta, d_xi, d_excess, d_gamma, loss, longest
        )

    return direction


def _longest_step(value: FloatArray, change: FloatArray) -> float:
    """Longest step that keeps values non-negative."""
    falling = change < 0
    if not falling.any():
        return float(np.inf)
    return float(np.min(value[falling] / -change[falling]))


class _LossDual(ABC):
    """Dual variables of the positives: slopes of their losses, and what is complementary."""

    # Names of the variables, which stay positive.
    names: tuple[str, ...] = ("slope",)
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
        """Choose the variables besides the slopes, given differences."""
        return

    def pairs(self, *variables: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Complementary variables."""
        return []

    def after(self, step: list[FloatArray], length: float) -> list[FloatArray]:
        """The variables after a step."""
        changes = zip(self.names, step, strict=True)
        return [getattr(self, name) + length * change for name, change in changes]

    def product(self, variables: list[FloatArray] | None = None) -> float:
        """Sum of the products of complementary variables, by default those of now."""
        if variables is None:
            variables = [getattr(self, name) for name in self.names]
        return float(sum(a @ b for a, b in self.pairs(*variables)))

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
        changes = zip(self.names, step, strict=True)
        return min(_longest_step(getattr(self, name), change) for name, change in changes)

    def move(self, step: list[FloatArray], length: float) -> None:
        """Take a step."""
        vars(self).update(zip(self.names, self.after(step, length), strict=True))


class _SquaredHingeDual(_LossDual):
    """Slopes a >= 0 with ``a / 2c - 1 - u >= 0``, the product 0."""

    names = ("slope", "slack")

    def __init__(self, cost: FloatArray) -> None:
        super().__init__(cost, 2.0 * cost)
        self.n_pairs = len(cost)

    def start(self, u: FloatArray) -> None:
        least = max(float(np.mean(np.abs(u))), 1e-3)
        self.slack = np.maximum(self.slope / (2 * self.cost) - 1.0 - u, least)

    def pairs(self, *variables: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        slope, slack = variables
        return [(slope, slack)]

    def curvature(self, u: FloatArray) -> FloatArray:
        return self.slope / (self.slack + self.slope / (2 * self.cost))

    def constant(self, aim: _Aim) -> FloatArray:
        product_aim = aim.target - self.slope * self.slack
        if aim.guess is not None:
            product_aim = product_aim - aim.guess[0] * aim.guess[1]
        divisor = self.slack + self.slope / (2 * self.cost)
        return (product_aim - self.slope * self._missing(aim)) / divisor

    def direction(self, aim: _Aim, du: FloatArray, d_slope: FloatArray) -> list[FloatArray]:
        return [d_slope, d_slope / (2 * self.cost) - du + self._missing(aim)]

    def _missing(self, aim: _Aim) -> FloatArray:
        return self.slope / (2 * self.cost) - 1.0 - aim.u - self.slack


class _HingeDual(_LossDual):
    """Slopes ``0 <= a <= c`` with losses ``z >= 0`` and ``z >= 1 + u``."""

    names = ("slope", "slack", "value")

    def __init__(self, cost: FloatArray) -> None:
        super().__init__(cost, 0.5 * cost)
        self.n_pairs = 2 * len(cost)

    def start(self, u: FloatArray) -> None:
        least = max(float(np.mean(np.abs(u))), 1e-3)
        self.value = np.maximum(1.0 + u, 0.0) + least
        self.slack = self.value - 1.0 - u

    def pairs(self, *variables: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        slope, slack, value = variables
        return [(slope, slack), (self.cost - slope, value)]

    def _divisor(self) -> FloatArray:
        return self.slack * (self.cost - self.slope) + self.slope * self.value

    def curvature(self, u: FloatArray) -> FloatArray:
        return self.slope * (self.cost - self.slope) / self._divisor()

    def _product_aims(self, aim: _Aim) -> tuple[FloatArray, FloatArray]:
        """Changes of the products with the slope and with the rest of the cost."""
        by_slope = aim.target - self.slope * self.slack
        by_rest = aim.target - (self.cost - self.slope) * self.value
        if aim.guess is None:
            return by_slope, by_rest
        d_slope, d_slack, d_value = aim.guess
        return by_slope - d_slope * d_slack, by_rest + d_slope * d_value

    def constant(self, aim: _Aim) -> FloatArray:
        slope_aim, rest_aim = self._product_aims(aim)
        return ((self.cost - self.slope) * slope_aim - self.slope * rest_aim) / self._divisor()

    def direction(self, aim: _Aim, du: FloatArray, d_slope: FloatArray) -> list[FloatArray]:
        slope_aim, rest_aim = self._product_aims(aim)
        rest = self.cost - self.slope
        is_large = self.slope >= rest
        by_slope = (slope_aim - self.slack * d_slope) / np.where(is_large, self.slope, 1.0)
        by_rest = (rest_aim + self.value * d_slope) / np.where(is_large, 1.0, rest)
        return [
            d_slope,
            np.where(is_large, by_slope, by_rest - du),
            np.where(is_large, by_slope + du, by_rest),
        ]

    def longest(self, step: list[FloatArray]) -> float:
        return min(super().longest(step), _longest_step(self.cost - self.slope, -step[0]))


class _LogisticDual(_LossDual):
    """Slopes a between 0 and their bound b, ``log(a / (b - a)) = u``."""

    # The difference of a slope from its bound would be lost by rounding.
    names = ("slope", "rest")
    least_share = 1e-9

    def __init__(self, cost: FloatArray) -> None:
        self.bound = cost / np.log(2.0)
        super().__init__(cost, 0.5 * self.bound)

    def start(self, u: FloatArray) -> None:
        self.rest = self.bound - self.slope

    def curvature(self, u: FloatArray) -> FloatArray:
        return self.slope * self.rest / self.bound

    def constant(self, aim: _Aim) -> FloatArray:
        return self.curvature(aim.u) * (aim.u - np.log(self.slope) + np.log(self.rest))

    def direction(self, aim: _Aim, du: FloatArray, d_slope: FloatArray) -> list[FloatArray]:
        return [d_slope, -d_slope]


class _LinearDual(_LossDual):
    """Slopes that are the costs."""

    def __init__(self, cost: FloatArray) -> None:
        super().__init__(cost, cost)

    def shrink(self, scale: float) -> float:
        return 1.0

    def curvature(self, u: FloatArray) -> FloatArray:
        return np.zeros_like(u)

    def constant(self, aim: _Aim) -> FloatArray:
        return np.zeros_like(aim.u)


LOSS_DUALS: dict[type[DifferenceLoss], Callable[[FloatArray], _LossDual]] = {
    SquaredHinge: _SquaredHingeDual,
    Hinge: _HingeDual,
    LogisticLoss: _LogisticDual,
    Linear: _LinearDual,
}


# By which factor the rounding of the kinks shrinks, and its least width relative to the margin.
SHRINKAGE = 0.1
LEAST_WIDTH = 1e-10

# Decrease of the objective, relative to it, that rounding hides.
ROUNDING = 1e-14


class _ScoredCoef(NamedTuple):
    """Weights with the scores of the rows, or a direction of both."""

    coef: FloatArray
    positive: FloatArray
    reference: FloatArray


class _Values(NamedTuple):
    """The rounded objective at a point, and derivatives of the losses and of T by the scores."""

    objective: float
    slope: FloatArray
    curvature: FloatArray
    top_slope: FloatArray
    top_curvature: FloatArray
    top_conjugate: float

    @property
    def total(self) -> float:
        return float(self.slope.sum())

    def along(self, point: _ScoredCoef, step: _ScoredCoef) -> float:
        """Derivative along a step."""
        by_reference = self.total * float(self.top_slope @ step.reference)
        return float(point.coef @ step.coef + by_reference - self.slope @ step.positive)


def minimise_top_quantile(part: TopPart, judge: Judge, start: FloatArray) -> None:
    """Minimise the objective of a part whose functional bounds a quantile.

    Kinks are rounded off, ever less, and each rounded problem is solved from the last.
    """
    point, width = _ScoredCoef(start, *part.scores(start)), 1.0
    while True:
        values = _evaluate(part, point, width)
        difference = part.difference(values.slope, values.total * values.top_slope)
        bound = part.lower_bound(values.slope, difference, values.top_conjugate)
        objective = part.change(*point)
        gradient = point.coef - difference
        if judge.update(point.coef, objective, bound):
            return
        # Rounding may hide all that can be won from w = 0.
        at_zero = not point.coef.any()
        is_flat = at_zero and part.problem.has_one_mean
        # The gap is what the gradient is worth and what the rounding is.
        by_gradient = 0.5 * float(gradient @ gradient)
        step, slope = None, 0.0
        if not is_flat and (at_zero or by_gradient > 0.1 * (objective - bound - by_gradient)):
            try:
                step = _direction(part, gradient, values)
            except np.linalg.LinAlgError:
                # The narrower the kinks, the nearer the system is to a singular one.
                judge.exhausted = True
                return
            slope = values.along(point, step)
        if step is not None and (at_zero or -slope > ROUNDING * abs(objective)):
            point = _search_line(part, point, step, slope, width)
            judge.n_iter += 1
        elif width <= LEAST_WIDTH:
            judge.exhausted = True
            return
        else:
            width *= SHRINKAGE


def _evaluate(part: TopPart, point: _ScoredCoef, width: float) -> _Values:
    functional, cost = cast(SurrogateQuantile, part.functional), part.problem.cost
    top, top_slope, top_curvature, top_conjugate = functional.parts(point.reference, width)
    losses, slopes, curvatures = part.problem.loss.parts(top - point.positive, width)
    objective = 0.5 * float(point.coef @ point.coef) + float(cost @ losses)
    return _Values(
        objective, cost * slopes, cost * curvatures, top_slope, top_curvature, top_conjugate
    )


def _direction(part: TopPart, gradient: FloatArray, values: _Values) -> _ScoredCoef:
    """Newton's direction.

    The second derivatives are ``I + sum of weight (x - g)(x - g)'`` over all rows, g the mean of
    the rows by the slopes of T.
    """
    curvature = values.total * values.top_curvature
    system = part.system(
        values.curvature,
        curvature,
        (np.zeros_like(values.slope), -values.top_slope),
        (values.curvature, -curvature),
    )
    centre, weighted = system.sums.T
    total = float(values.curvature.sum() + curvature.sum())
    by_gradient, by_sum, by_centre = system.solve(np.column_stack((-gradient, weighted, centre))).T
    # The direction p depends on centre . p and weighted . p, two numbers.
    columns = np.column_stack((by_sum - total * by_centre, by_centre))
    rows = np.vstack((centre, weighted))
    products = np.linalg.solve(np.eye(2) - rows @ columns, rows @ by_gradient)
    coef = by_gradient + columns @ products
    return _ScoredCoef(coef, *part.scores(coef))


def _search_line(
    part: TopPart, point: _ScoredCoef, step: _ScoredCoef, slope: float, width: float
) -> _ScoredCoef:
    """Go along a step until nine tenths of its slope are gone; rows are not looked at."""
    length, low, high = 1.0, (0.0, slope), (np.inf, np.inf)
    for _ in range(60):
        trial = _ScoredCoef(*(x + length * dx for x, dx in zip(point, step, strict=True)))
        new_slope = _evaluate(part, trial, width).along(trial, step)
        if abs(new_slope) <= 0.1 * abs(slope):
            break
        if new_slope < 0:
            low = length, new_slope
        else:
            high = length, new_slope
        length = next_length(low, high, least=0.05)
    return trial


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


def solve_top_push(
    problem: TopPushProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    stop: Callable[[float, float], bool] | None = None,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> SolverResult:
    """Put positives above a functional of the top of other rows, with a certificate.

    T is taken of the rows that score high so far, and rows that turn out to count are added. The
    mean of the top is minimised by a primal-dual interior point method, a surrogate of the
    quantile by Newton's method.
    """
    n_rows, n_features = problem.design.shape
    # No solution is worse than 0, which is the best one more often than one would think.
    coef, lower = np.zeros(n_features), -np.inf
    best = problem.change(coef, np.zeros(n_rows))

    def is_near_enough(change: float, bound: float) -> bool:
        return problem.is_solved_by_zero(bound) or (stop is not None and stop(change, bound))

    n_iter, inner_tol, mask = 0, 0.5 * tol, np.ones(len(problem.reference), dtype=bool)
    if len(mask) > 4 * SPARE_ROWS:
        sample = sample_problem(problem)
        if sample is not None:
            start = solve_top_push(sample, tol=ROUGH, max_iter=max_iter).coef
        else:  # the difference of the means
            by_row = np.zeros(n_rows)
            by_row[problem.reference] = -1.0 / len(problem.reference)
            by_row[problem.positive] += problem.cost / problem.cost.sum()
            start = problem.design.pull_back(by_row)
        mask = _active_and_spare(problem, problem.design.scores(start)[problem.reference])
        inner_tol = max(inner_tol, ROUGH)
    part = TopPart(problem, mask)
    is_small = n_rows * n_features <= SMALL
    while True:
        judge = Judge(
            inner_tol,
            is_near_enough,
            max_iter - n_iter,
            rounding=problem.rounding,
            polish=is_small,
        )
        if isinstance(problem.top, TopMean):
            minimise_top_mean(part, judge)
        else:
            minimise_top_quantile(part, judge, coef)
        n_iter += judge.n_iter
        lower = max(lower, judge.lower_bound)
        scores = problem.design.scores(judge.coef)
        change = problem.change(judge.coef, scores)
        if is_best(change, best, problem.rounding):
            coef, best = judge.coef, change
        gap = gap_of_change(best, lower, problem.rounding)
        if on_iteration is not None:
            on_iteration(n_iter, problem.at_zero + best, gap)
        converged = gap <= tol or is_near_enough(best, lower)
        missing = problem.top.active(scores[problem.reference]) & ~part.mask
        if converged or n_iter >= max_iter or (judge.exhausted and not missing.any()):
            break
        inner_tol = 0.5 * tol
        if missing.any():
            part.select(part.mask | _active_and_spare(problem, scores[problem.reference]))
    at_zero = problem.at_zero
    if problem.is_solved_by_zero(lower):
        coef, best, gap = np.zeros(n_features), 0.0, -lower / at_zero if at_zero else 0.0
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
    index = np.union1d(positive, reference)
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
    n_rows = int(1.5 * np.count_nonzero(active)) + SPARE_ROWS
    if n_rows >= len(scores):
        return np.ones(len(scores), dtype=bool)
    least = np.partition(scores, len(scores) - n_rows)[len(scores) - n_rows]
    return np.asarray(active | (scores >= least))


# Relative accuracy of the mass that is searched for, where it is not less than one row.
ACCURACY = 0.05

# Largest number of Newton steps for each mass.
MOST_STEPS = 300


def collapses(problem: TopPushProblem) -> bool:
    """Whether w = 0 minimises the objective for all costs that are in the same proportions.

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
    sample = sample_problem(problem)
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
