"""Primal-dual interior point method for positives above the mean of the top of other rows.

In the variables w, a level eta and excesses xi, the mean of the top is T = eta + kappa . xi with
xi_j >= s_j - eta and xi_j >= 0, kappa the weights over the mass of the top. The dual variables
beta of the first constraints are at most kappa times the sum of the slopes of the losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from .._typing import FloatArray
from ._difference_losses import DifferenceLoss, Hinge, Linear, LogisticLoss, SquaredHinge
from ._top_functionals import TopMean
from ._top_part import Judge, TopPart

__all__ = ["minimise_top_mean"]

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
