"""Top Push: losses of positives against the mean T of the highest scores of other rows.

An interior point method solves it with T = eta + kappa . xi, xi_j >= s_j - eta and xi_j >= 0,
where kappa are the weights over the mass of the top. The dual variables beta of the first
constraints are at most kappa times the sum of the slopes of the losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy.optimize import nnls
from scipy.special import xlog1py

from .._order import quantile_at_mass
from .._typing import ArrayPair, BoolArray, FloatArray, IntArray
from ._design import Design, InMemoryDesign, column_scales
from ._linear import flops_of_system, row_system
from ._result import Certificate, SolverResult, relative_gap

# Variables of an interior point at the positives, which stay positive: the slopes of the losses,
# times costs, and what is complementary to them.
Duals: TypeAlias = list[FloatArray]


# Of the duals at an interior point, given costs and differences: the change of a slope with its
# difference, h; that of a slope whose difference stays, e, as a function of what a step aims at,
# changes of the products of complementary variables; and the duals' changes, from those aims, the
# changes of the differences and of the slopes.
Linearised: TypeAlias = tuple[FloatArray, Callable[..., FloatArray], Callable[..., Duals]]


class DifferenceLoss(ABC):
    """A convex nondecreasing loss l(u) of a difference u of scores, 1 at 0."""

    slope_at_zero: ClassVar[float]
    first_slope: ClassVar[float]  # Slope at which the interior point method starts
    # Share of the slopes below which the start is not a point of the dual problem.
    least_share: ClassVar[float] = 1e-3

    @abstractmethod
    def rises(self, u: FloatArray) -> FloatArray:
        """Evaluate ``l(u) - l(0)``, accurate where u is small. Shape (n,)."""

    @abstractmethod
    def conjugate(self, slope: FloatArray) -> FloatArray:
        """Evaluate ``1 + sup over u of slope * u - l(u)``, accurate near the slope at 0."""

    @abstractmethod
    def start(self, cost: FloatArray, slope: FloatArray, u: FloatArray) -> Duals:
        """Choose the variables besides the slopes, given differences."""

    def pairs(self, cost: FloatArray | float, duals: Duals) -> list[ArrayPair]:
        """Complementary variables; of changes of all, at costs of 0, their changes."""
        return []

    @abstractmethod
    def linearised(self, cost: FloatArray, u: FloatArray, duals: Duals) -> Linearised: ...

    def longest(self, cost: FloatArray, duals: Duals, step: Duals) -> float:
        return min(map(_longest_step, duals, step))


class SquaredHinge(DifferenceLoss):
    """``max(0, 1 + u)**2``; duals are slopes a >= 0 and ``a / 2c - 1 - u >= 0``, the product 0."""

    slope_at_zero = first_slope = 2.0

    def rises(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, -1.0) * (2.0 + np.maximum(u, -1.0)))

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.asarray((0.5 * slope - 1.0) ** 2)

    def start(self, cost: FloatArray, slope: FloatArray, u: FloatArray) -> Duals:
        return [slope, np.maximum(slope / (2 * cost) - 1.0 - u, _least_dual(u))]

    def pairs(self, cost: FloatArray | float, duals: Duals) -> list[ArrayPair]:
        slope, slack = duals
        return [(slope, slack)]

    def linearised(self, cost: FloatArray, u: FloatArray, duals: Duals) -> Linearised:
        slope, slack = duals
        divisor = slack + slope / (2 * cost)
        missing = slope / (2 * cost) - 1.0 - u - slack

        def direction(aims: list[FloatArray], du: FloatArray, d_slope: FloatArray) -> Duals:
            return [d_slope, d_slope / (2 * cost) - du + missing]

        return slope / divisor, lambda aims: (aims[0] - slope * missing) / divisor, direction


class Hinge(DifferenceLoss):
    """``max(0, 1 + u)``; duals are slopes ``0 <= a <= c``, slacks, and losses."""

    slope_at_zero, first_slope = 1.0, 0.5

    def rises(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, -1.0))

    def conjugate(self, slope: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1.0 - slope, 0.0))

    def start(self, cost: FloatArray, slope: FloatArray, u: FloatArray) -> Duals:
        value = np.maximum(1.0 + u, 0.0) + _least_dual(u)
        return [slope, value - 1.0 - u, value]

    def pairs(self, cost: FloatArray | float, duals: Duals) -> list[ArrayPair]:
        slope, slack, value = duals
        return [(slope, slack), (cost - slope, value)]

    def linearised(self, cost: FloatArray, u: FloatArray, duals: Duals) -> Linearised:
        slope, slack, value = duals
        rest = cost - slope
        divisor = slack * rest + slope * value
        is_large = slope >= rest

        def direction(aims: list[FloatArray], du: FloatArray, d_slope: FloatArray) -> Duals:
            by_slope = (aims[0] - slack * d_slope) / np.where(is_large, slope, 1.0)
            by_rest = (aims[1] + value * d_slope) / np.where(is_large, 1.0, rest)
            d_slack = np.where(is_large, by_slope, by_rest - du)
            return [d_slope, d_slack, np.where(is_large, by_slope + du, by_rest)]

        share = slope * rest / divisor
        return share, lambda aims: (rest * aims[0] - slope * aims[1]) / divisor, direction

    def longest(self, cost: FloatArray, duals: Duals, step: Duals) -> float:
        return min(super().longest(cost, duals, step), _longest_step(cost - duals[0], -step[0]))


class LogisticLoss(DifferenceLoss):
    """``log2(1 + exp(u))``, to base 2 so that it is 1 at 0 and bounds the error u >= 0.

    Duals are slopes a below a bound b, and b - a: rounding would lose it.
    """

    slope_at_zero = first_slope = 0.5 / float(np.log(2.0))
    least_share = 1e-9

    def rises(self, u: FloatArray) -> FloatArray:
        small = np.log1p(0.5 * np.expm1(np.minimum(u, 1.0)))
        return np.where(u < 1.0, small, np.logaddexp(0.0, u) - np.log(2.0)) / np.log(2.0)

    def conjugate(self, slope: FloatArray) -> FloatArray:
        t = np.clip(2.0 * slope * np.log(2.0) - 1.0, -1.0, 1.0)
        return np.asarray((xlog1py(1.0 + t, t) + xlog1py(1.0 - t, -t)) / np.log(4.0))

    def start(self, cost: FloatArray, slope: FloatArray, u: FloatArray) -> Duals:
        return [slope, cost / np.log(2.0) - slope]

    def linearised(self, cost: FloatArray, u: FloatArray, duals: Duals) -> Linearised:
        slope, rest = duals
        h = slope * rest / (cost / np.log(2.0))
        e = h * (u - np.log(slope) + np.log(rest))
        return h, lambda aims: e, lambda aims, du, d_slope: [d_slope, -d_slope]


def _least_dual(u: FloatArray) -> float:
    return max(float(np.mean(np.abs(u))), 1e-3)


def _longest_step(value: FloatArray, change: FloatArray) -> float:
    falling = change < 0
    if not falling.any():
        return float(np.inf)
    return float(np.min(value[falling] / -change[falling]))


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

    def mass_of_mean(self, scores: FloatArray, mean: float) -> float:
        """Largest mass of which the top scores have at least a mean."""
        order = np.argsort(-scores)
        mass = np.cumsum(self.weight[order])
        excess = np.cumsum((self.weight * (scores - mean))[order])
        k = int(np.count_nonzero(excess >= 0.0))  # the excess rises, and then falls
        if k in (0, len(scores)):
            return float(mass[k - 1]) if k else 0.0
        return float(mass[k - 1] + excess[k - 1] / (mean - scores[order[k]]))


# Rows beside those in the top which the first set and each larger one have.
SPARE_ROWS = 500


@dataclass(frozen=True, eq=False)
class TopPushProblem:
    """Minimise ``||w||**2 / 2 + sum over positives of cost * loss(T(s) - s_i)``, ``s = X w``."""

    design: Design  # The rows X
    positive: IntArray  # (n_pos,): Rows that belong above T
    cost: FloatArray  # (n_pos,): Their positive costs
    reference: IntArray  # (n_reference,): Other rows, of whose scores T is a function, ascending
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
        share[self.positive, 0] = self.cost / self.at_zero
        share[self.reference, 1] = weight / weight.sum()
        centre, mean = self.design.pull_back(share).T
        square = float(share[:, 1] @ self.design.squared_norms())
        return centre, mean, max(square + float(centre @ (centre - 2.0 * mean)), 0.0)

    def change(self, coef: FloatArray, top: float, positive: FloatArray) -> float:
        """The objective less that at 0, given T and the scores of the positives."""
        return 0.5 * float(coef @ coef) + float(self.cost @ self.loss.rises(top - positive))


def _gap_of_change(change: float, lower_bound: float) -> float:
    """Largest share of the decrease of the objective that may be missing; w = 0 has none."""
    return float(relative_gap(change, lower_bound)) if change < 0 else np.inf


def _is_best(objective: float, best: float) -> bool:
    """Whether a value of the objective is the best so far, except for rounding."""
    return objective <= best or objective - best <= 1e-14 * abs(best)


class _InteriorPoint:
    """An interior point of the problem with T of some of its rows alone.

    The rows that it needs are copied where the design copies so many.
    """

    def __init__(self, problem: TopPushProblem, mask: BoolArray) -> None:
        self.problem, self.cost, self.loss = problem, problem.cost, problem.loss
        reference, weight = problem.reference[mask], problem.top.weight[mask]
        self.top = TopMean(weight, problem.top.mass)
        index = np.sort(np.append(problem.positive, reference))
        self._positive = np.searchsorted(index, problem.positive)
        self._reference = np.searchsorted(index, reference)
        rows = problem.design.rows(index)
        if isinstance(rows, InMemoryDesign):
            # Only differences of scores count: the origin may be where it costs no digits.
            origin = self._join(self.cost / self.cost.sum(), np.zeros(len(reference)))
            rows = rows.move(rows.pull_back(origin), copy=False)
        self.rows = rows
        self.kappa = weight / problem.top.mass
        slope, share = self.loss.first_slope * self.cost, weight / weight.sum()
        total = float(slope.sum())
        coef = self.difference(slope, total * share)
        # The share of the slopes by which the scores are no longer than the margin asks for.
        square = float(coef @ coef)
        scale = min(1.0, total / square) if square > 0 else 1.0
        if scale < self.loss.least_share:
            # Slopes that are so small are far from any that are wanted: coefficients of a length
            # that suits the features stand apart from them, and meet them in later steps.
            scales = self._scales()
            coef = coef / np.where(scales > 0, scales, 1.0) ** 2
            length = float(np.linalg.norm(coef * scales))
            coef = coef / length if length > 0 else 0.0 * coef
        else:
            slope, coef = scale * slope, scale * coef
        self.coef, self.beta = coef, float(slope.sum()) * share
        self.positive, self.reference = self.scores(coef)
        self.eta = float(share @ self.reference)
        room = float(np.mean(np.abs(np.append(self.positive, self.reference) - self.eta))) or 1.0
        differences = self.reference - self.eta
        self.xi = np.maximum(differences, 0.0) + room
        self.excess = self.xi - differences
        self.duals = self.loss.start(self.cost, slope, self.differences)

    def scores(self, coef: FloatArray) -> ArrayPair:
        scores = self.rows.scores(coef)
        return scores[self._positive], scores[self._reference]

    def _scales(self) -> FloatArray:
        if isinstance(self.rows, InMemoryDesign):
            return column_scales(self.rows)
        n_rows, n_features = self.rows.shape
        if not flops_of_system(n_features, 0.0) < np.inf:
            return np.ones(n_features)
        share = np.full(n_rows, 1.0 / n_rows)
        gram, mean = self.rows.gram_and_sums(share, share[:, np.newaxis])
        return np.sqrt(np.maximum(np.diagonal(gram) - mean[:, 0] ** 2, 0.0))

    def difference(self, positive: FloatArray, reference: FloatArray) -> FloatArray:
        """Sum of the positives with factors, less that of the reference rows with theirs."""
        return self.rows.pull_back(self._join(positive, -reference))

    def _join(self, positive: FloatArray, reference: FloatArray) -> FloatArray:
        by_row = np.empty(len(self._positive) + len(self._reference))
        by_row[self._positive], by_row[self._reference] = positive, reference
        return by_row

    @property
    def differences(self) -> FloatArray:
        """T less the scores of the positives, u."""
        return self.eta + float(self.kappa @ self.xi) - self.positive

    @property
    def gamma(self) -> FloatArray:
        return float(self.duals[0].sum()) * self.kappa - self.beta

    def minimise(self, tol: float, max_iter: int) -> tuple[FloatArray, float, int, bool]:
        """Step until a gap within ``tol`` stops halving.

        Returns the best coefficients, a lower bound of the change of the objective, the number of
        steps, and whether further steps would lead nowhere.
        """
        coef, objective, lower, gap, n_idle = self.coef, np.inf, -np.inf, np.inf, 0
        for n_iter in range(max_iter + 1):
            last_gap, last_distance = gap, objective - lower
            change, bound = self._certificate()
            if _is_best(change, objective):
                coef, objective = self.coef, change
            lower = max(lower, bound)
            gap = _gap_of_change(objective, lower)
            if n_iter == max_iter or (gap <= tol and not gap < 0.5 * last_gap):
                return coef, lower, n_iter, False
            n_idle = 0 if objective - lower < last_distance else n_idle + 1
            # After so many steps without a better gap, rounding is all that is left.
            if n_idle > 30 or not self._step():
                break
        return coef, lower, n_iter, True

    def _certificate(self) -> tuple[float, float]:
        """The change of the objective, and a bound of it by a feasible point of the dual."""
        cost, slope = self.cost, self.duals[0]
        # The sums are equal but for rounding.
        difference = self.difference(slope, self.beta * (slope.sum() / self.beta.sum()))
        self.residual = difference - self.coef
        conjugate = float(cost @ self.loss.conjugate(slope / cost))
        change = self.problem.change(self.coef, self.top.value(self.reference), self.positive)
        return change, -0.5 * float(difference @ difference) - conjugate

    def _step(self) -> bool:
        """Take a step of Mehrotra's method; return whether it had any length."""
        gamma = self.gamma
        n_products = sum(len(a) for a, _ in self.loss.pairs(self.cost, self.duals))
        product = self._product(self.duals)
        product += float(self.beta @ self.excess + gamma @ self.xi)
        mean = product / (n_products + 2 * len(self.beta))
        linearised = self.loss.linearised(self.cost, self.differences, self.duals)
        g = self.beta * gamma / (self.excess * gamma + self.beta * self.xi)
        if not (np.isfinite(g).all() and np.isfinite(linearised[0]).all()):
            return False
        try:
            direction = self._directions(gamma, g, linearised)
        except np.linalg.LinAlgError:
            return False
        guess = direction(0.0, None)
        length = min(1.0, guess.longest)
        new_product = self._product(self._moved_duals(guess, length))
        new_product += float(
            (self.beta + length * guess.beta) @ (self.excess + length * guess.excess)
        )
        new_product += float((gamma + length * guess.gamma) @ (self.xi + length * guess.xi))
        step = direction(mean * min(max(new_product / product, 0.0), 1.0) ** 3, guess)
        for share in (0.1, 0.5, 1.0):
            if step.longest >= 0.2:
                break
            # Near the boundary corrections to second order mislead: keep a share of the products.
            step = direction(share * mean, None)
        length = min(1.0, 0.99 * step.longest)
        if not length > 1e-12:
            return False
        for name in ("coef", "positive", "reference", "eta", "beta", "xi", "excess"):
            setattr(self, name, getattr(self, name) + length * getattr(step, name))
        self.duals = self._moved_duals(step, length)
        return True

    def _product(self, duals: Duals) -> float:
        return float(sum(a @ b for a, b in self.loss.pairs(self.cost, duals)))

    def _moved_duals(self, step: Any, length: float) -> Duals:
        return [dual + length * d for dual, d in zip(self.duals, step.duals, strict=True)]

    def _directions(
        self, gamma: FloatArray, g: FloatArray, linearised: Linearised
    ) -> Callable[[float, Any], Any]:
        """Solver of Newton's system, given curvatures of the losses and weights of rows.

        It is one matrix of the features, bordered by T, eta and the total A: the changes of the
        slopes a of the losses and of beta are linear in those of the scores,
        ``da = h (dT - X_P dw) + e`` and ``dbeta = g (X_S dw - deta) + m dA + f`` with
        ``A = sum a``. The solver takes the target of the products of the pairs, and a first guess
        that corrects the direction.
        """
        h, constant_of, duals_of = linearised
        pairs = [(self.beta, self.excess), (gamma, self.xi)]
        pairs += self.loss.pairs(self.cost, self.duals)
        # Where the divisor is 0, rounding is all that is left of both factors.
        divisor = self.excess * gamma + self.beta * self.xi
        m = self.kappa * self.beta * self.xi / divisor
        differences = [(h, 0.0 * g), (0.0 * h, g), (0.0 * h, m)]
        solve, sums = row_system(
            self.rows, self._join(h, g), np.column_stack([self._join(*by) for by in differences])
        )
        solved = solve(sums)
        # A row and a column each for dT, deta, dA.
        h_sum, g_sum, m_sum = h.sum(), g.sum(), m.sum()
        total_sum = (self.kappa**2 * self.xi * self.excess / divisor).sum()
        inner = (sums.T @ solved) * np.array([1.0, 1.0, -1.0])
        border = [
            [h_sum - inner[0, 0], -inner[0, 1], -1.0 - inner[0, 2]],
            [inner[1, 0], inner[1, 1] - g_sum, inner[1, 2] + m_sum - 1.0],
            [inner[2, 0] - 1.0, inner[2, 1] + 1.0 - m_sum, inner[2, 2] - total_sum],
        ]

        def direction(target: float, guess: Any) -> Any:
            """Changes of all variables, and the longest step along them to the boundary."""
            # Changes of the products of complementary variables, less those of second order.
            aims = [target - a * b for a, b in pairs]
            if guess is not None:
                changes = [(guess.beta, guess.excess), (guess.gamma, guess.xi)]
                changes += self.loss.pairs(0.0, guess.duals)
                aims = [aim - da * db for aim, (da, db) in zip(aims, changes, strict=True)]
            excess_aim, xi_aim, *aims = aims
            e = constant_of(aims)
            f = (gamma * excess_aim - self.beta * xi_aim) / divisor
            right = self.difference(e, f) + self.residual
            solution = solve(right[:, np.newaxis])[:, 0]
            products = sums.T @ solution
            k = self.kappa * (self.xi * excess_aim + self.excess * xi_aim) / divisor
            constant = [products[0] - e.sum(), -products[1] - f.sum(), -products[2] - k.sum()]
            try:
                d_top, d_eta, d_total = np.linalg.solve(border, constant)
            except np.linalg.LinAlgError:
                # No loss has a curvature left, and T is free: it moves the least that it can.
                d_top, d_eta, d_total = np.linalg.lstsq(border, constant)[0]
            coef = solution + solved @ np.array([d_top, d_eta, -d_total])
            positive, reference = self.scores(coef)
            d_slope = h * (d_top - positive) + e
            d_beta = g * (reference - d_eta) + m * d_total + f
            d_gamma = d_total * self.kappa - d_beta
            # Divide by the larger of the two dual variables.
            is_large = self.beta >= gamma
            by_beta = (excess_aim - self.excess * d_beta) / np.where(is_large, self.beta, 1.0)
            by_gamma = (xi_aim - self.xi * d_gamma) / np.where(is_large, 1.0, gamma)
            d_xi = np.where(is_large, by_beta + reference - d_eta, by_gamma)
            d_excess = np.where(is_large, by_beta, by_gamma - reference + d_eta)
            duals = duals_of(aims, d_top - positive, d_slope)
            values = self.beta, self.xi, self.excess, gamma
            longest = min(map(_longest_step, values, (d_beta, d_xi, d_excess, d_gamma)))
            longest = min(longest, self.loss.longest(self.cost, self.duals, duals))
            return SimpleNamespace(
                coef=coef,
                positive=positive,
                reference=reference,
                eta=float(d_eta),
                beta=d_beta,
                xi=d_xi,
                excess=d_excess,
                gamma=d_gamma,
                duals=duals,
                longest=longest,
            )

        return direction


def solve_top_push(
    problem: TopPushProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> SolverResult:
    """Put positives above a mean of the top of other rows, with a certificate.

    T is taken of the rows with high scores so far; rows that turn out to be in the top are added.
    """
    # w = 0 gains at most half the square of a subgradient: the distance of the means by slopes.
    gain = (problem.loss.slope_at_zero * problem.at_zero) ** 2
    negligible = 2.0 * tol * problem.at_zero / gain
    # Two points at a distance of at most 1e-6 of the spread of the rows are one.
    negligible = min(1e-12 * problem.means[2], negligible)
    nearest, points = nearest_top(problem, negligible)
    at_zero, square = problem.at_zero, float(nearest @ nearest)
    n_iter = len(points) + (square > negligible)
    # No solution is worse than 0.
    coef, best, lower = np.zeros(problem.design.shape[1]), 0.0, -np.inf
    if square <= negligible:
        lower = -0.5 * gain * square
        certificate = Certificate(at_zero, at_zero + lower, n_iter=n_iter, gap=-lower / at_zero)
        return SolverResult(coef, certificate)
    inner_tol, mask = 0.5 * tol, np.ones(len(problem.reference), dtype=bool)
    if len(mask) > 4 * SPARE_ROWS:
        # The first set of rows is a guess, which need not be solved accurately.
        inner_tol = max(inner_tol, 1e-2)
        scores = problem.design.scores(nearest)[problem.reference]
        mask = _active_and_spare(problem, scores)
    point = _InteriorPoint(problem, mask)
    while True:
        found, bound, n_steps, exhausted = point.minimise(inner_tol, max(max_iter - n_iter, 0))
        n_iter, lower = n_iter + n_steps, max(lower, bound)
        scores = problem.design.scores(found)
        reference = scores[problem.reference]
        change = problem.change(found, problem.top.value(reference), scores[problem.positive])
        if _is_best(change, best):
            coef, best = found, change
        gap = _gap_of_change(best, lower)
        if on_iteration is not None:
            on_iteration(n_iter, at_zero + best, gap)
        missing = problem.top.active(reference) & ~mask
        if gap <= tol or n_iter >= max_iter or (exhausted and not missing.any()):
            break
        inner_tol = 0.5 * tol
        if missing.any():
            mask |= _active_and_spare(problem, reference)
            del point  # Never two copies of rows at a time
            point = _InteriorPoint(problem, mask)
    certificate = Certificate(
        at_zero + best, at_zero + lower, n_iter=n_iter, converged=gap <= tol, gap=gap
    )
    return SolverResult(coef, certificate)


def _active_and_spare(problem: TopPushProblem, scores: FloatArray) -> BoolArray:
    """Rows that T depends on, and some that score less."""
    active = problem.top.active(scores)
    n_rows = int(1.5 * np.count_nonzero(active)) + SPARE_ROWS + len(problem.positive) // 10
    if n_rows >= len(scores):
        return np.ones(len(scores), dtype=bool)
    least = np.partition(scores, len(scores) - n_rows)[len(scores) - n_rows]
    return np.asarray(active | (scores >= least))


def nearest_in_hull(points: FloatArray) -> FloatArray:
    """Point of a convex hull that is nearest to 0, accurate in relation to its points.

    Its shares are in the proportions of the nonnegative x that minimise
    ``|points' x|**2 + unit**2 (sum(x) - 1)**2``, for any unit.
    """
    triangle: FloatArray = np.asarray(np.linalg.qr(points.T, mode="r"))
    unit = float(np.abs(triangle).max()) or 1.0
    matrix = np.vstack([triangle / unit, np.ones(len(points))])
    goal = np.append(np.zeros(len(triangle)), 1.0)
    shares, _ = nnls(matrix, goal, maxiter=100 * len(points))
    return np.asarray(shares @ points / shares.sum())


def nearest_top(
    problem: TopPushProblem, negligible: float, points: FloatArray | None = None
) -> ArrayPair:
    """Find weights by which the mean of the positives is above T, or show that there are none.

    They are the mean of the positives less one of the top, the nearest if their square is at most
    ``negligible``: then w = 0 minimises the objective for all costs in the same proportions. The
    points, the mean of the positives less means of the top, may be those of a larger mass; they
    are returned with those that were added.
    """
    centre, mean, _ = problem.means
    points = (centre - mean)[np.newaxis] if points is None else points
    coef, last_square = nearest_in_hull(points), np.inf
    square = float(coef @ coef)
    while negligible < square < last_square:
        last_square = square
        scores = problem.design.scores(coef)[problem.reference] - float(centre @ coef)
        shares = problem.top.shares(scores)
        if shares @ scores < -1e-3 * square:  # rounding is less
            break
        share = np.zeros(problem.design.shape[0])
        share[problem.reference] = shares
        points = np.vstack([points, centre - problem.design.pull_back(share)])
        coef = nearest_in_hull(points)
        square = float(coef @ coef)
    return coef, points


def largest_collapsing_mass(problem: TopPushProblem) -> float:
    """Search for the largest mass of the top with which w = 0 is the solution, roughly."""
    points, mass = None, float(problem.top.weight.sum())
    while mass > problem.top.mass:
        top = TopMean(problem.top.weight, mass)
        negligible = 1e-6 * problem.means[2]
        coef, points = nearest_top(replace(problem, top=top), negligible, points)
        if coef @ coef <= negligible:
            return mass
        scores = problem.design.scores(coef)
        mean = float(problem.cost @ scores[problem.positive] / problem.cost.sum())
        # T of a larger mass is less than the mean of the positives in this direction.
        mass = top.mass_of_mean(scores[problem.reference], mean)
    return problem.top.mass
