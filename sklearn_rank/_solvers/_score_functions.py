"""Losses and statistics of the scores of two classes, and linear scores that optimise them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize

from .._logistic_sums import LogisticSums
from .._typing import ArrayPair, BoolArray, FloatArray
from ._design import Design
from ._linear import LARGEST_FACTOR, LinearProblem, OnePart, solve_linear
from ._result import Certificate, SolverResult


def minimise_push(design: Design, push: _Push, **settings: Any) -> SolverResult:
    """Minimise ``1 / 2 ||w||**2`` plus a push of X w, to a relative duality gap.

    The derivatives a of a function f at scores X w are a point of the Fenchel dual, at which
    ``f(X w) + f*(a) = a . X w``: the gap is half the square of ``w + X' a``, the gradient.
    """
    problem = LinearProblem(OnePart(design, push), 1.0, scale=push.scale, system=push.system)
    return solve_linear(problem, by_gap=True, **settings)


class _Push(ABC):
    """C times the p-norm push R_p of a loss l of pairs, or a function of it, each convex.

    ``R_p = (mean over negatives j of (mean over positives i of l(s_j - s_i))**p)**(1/p)``, the
    means weighted; p is finite, and at least 1.
    """

    is_convex = has_hessian_product = has_curvature = True
    system: Literal["preconditioned", "factorised"]

    def __init__(self, positive: BoolArray, weight: FloatArray, p: float, C: float = 1.0) -> None:
        self._p, self.scale = p, C
        self._pos, self._neg = np.flatnonzero(positive), np.flatnonzero(~positive)
        # Shares of the rows in the weight of their class.
        self._pos_shares = weight[self._pos] / weight[self._pos].sum()
        self._neg_shares = weight[self._neg] / weight[self._neg].sum()
        self._scores, self._found = np.empty(0), dict[str, Any]()

    @abstractmethod
    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]: ...

    @abstractmethod
    def diagonal(self, scores: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Second derivatives, or near these: a diagonal, less outer products of vectors."""

    def hessian_product(self, scores: FloatArray, direction: FloatArray) -> FloatArray:
        diagonal, subtracted = self.diagonal(scores)
        product = diagonal * direction
        for vector in subtracted:
            product -= vector * (vector @ direction)
        return product

    def _join(self, by_positive: FloatArray, by_negative: FloatArray) -> FloatArray:
        joined = np.empty(len(self._pos) + len(self._neg))
        joined[self._pos], joined[self._neg] = by_positive, by_negative
        return joined

    def _cached(self, function: Callable[[FloatArray], Any], scores: FloatArray) -> Any:
        """Value of a function of scores, cached for the last scores."""
        if self._scores is not scores:
            self._scores, self._found = scores, {}
        name = function.__name__
        if name not in self._found:
            self._found[name] = function(scores)
        return self._found[name]


class ExponentialPush(_Push):
    """``C log R_p`` of ``exp(s_j - s_i)``, ``log mean exp(-s_i) + log mean exp(p s_j) / p``."""

    system = "factorised"

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        return self._cached(self._value_and_slopes, scores)

    def _value_and_slopes(self, scores: FloatArray) -> tuple[float, FloatArray]:
        of_positives, by_positive = _soft_maximum(-scores[self._pos], self._pos_shares)
        of_negatives, by_negative = _soft_maximum(self._p * scores[self._neg], self._neg_shares)
        slopes = self.scale * self._join(-by_positive, by_negative)
        return self.scale * (of_positives + of_negatives / self._p), slopes

    def diagonal(self, scores: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Variances under the two distributions of the slopes."""
        slopes = self.value_and_gradient(scores)[1]
        by_positive, by_negative = np.minimum(slopes, 0.0), np.maximum(slopes, 0.0)
        C, p = self.scale, self._p
        subtracted = [by_positive / np.sqrt(C), by_negative * np.sqrt(p / C)]
        return p * by_negative - by_positive, subtracted


def _soft_maximum(values: FloatArray, shares: FloatArray) -> tuple[float, FloatArray]:
    """``log sum share exp(values)``, and its derivatives by the values."""
    highest = float(values.max())
    terms = shares * np.exp(values - highest)
    total = float(terms.sum())
    return highest + np.log(total), terms / total


class LogisticPush(_Push):
    """``C R_p`` of ``log(1 + exp(s_j - s_i))``, a norm, in time linear in the number of rows."""

    system = "preconditioned"

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        sums, _, norm, norm_slopes, rises = self._cached(self._sums, scores)
        by_positive = self._pos_shares * sums.at_lower(((1, norm_slopes),))[0]
        return self.scale * norm, self.scale * self._join(-by_positive, norm_slopes * rises)

    def _sums(
        self, scores: FloatArray
    ) -> tuple[LogisticSums, FloatArray, float, FloatArray, FloatArray]:
        """Sums over pairs; means at each negative, their norm and its slopes; their slopes."""
        sums = LogisticSums(scores[self._neg], scores[self._pos])
        heights, rises = sums.at_upper(*(((order, self._pos_shares),) for order in (0, 1)))
        heights = np.maximum(heights, np.finfo(np.float64).tiny)
        norm, norm_slopes = p_norm(heights, self._neg_shares, self._p)
        return sums, heights, norm, norm_slopes, rises

    def _curvatures(self, scores: FloatArray) -> ArrayPair:
        """Second derivatives of the sum of the heights, by the positives and the negatives."""
        sums, _, _, norm_slopes, _ = self._cached(self._sums, scores)
        by_positive = self._pos_shares * sums.at_lower(((2, norm_slopes),))[0]
        return by_positive, norm_slopes * sums.at_upper(((2, self._pos_shares),))[0]

    def diagonal(self, scores: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        _, heights, _, norm_slopes, rises = self._cached(self._sums, scores)
        pos_curvature, neg_curvature = self._cached(self._curvatures, scores)
        spread = (self._p - 1.0) * norm_slopes * rises / heights * rises
        diagonal = self.scale * self._join(pos_curvature, neg_curvature + spread)
        # About one mean for all, which pairs are not, but a constant adds nothing either way.
        total = max(diagonal.sum(), np.finfo(np.float64).tiny)
        return diagonal, [diagonal / np.sqrt(total)]

    def hessian_product(self, scores: FloatArray, direction: FloatArray) -> FloatArray:
        sums, heights, norm, norm_slopes, rises = self._cached(self._sums, scores)
        pos_curvature, neg_curvature = self._cached(self._curvatures, scores)
        on_neg, on_pos = direction[self._neg], direction[self._pos]
        weighted = self._pos_shares * on_pos
        mean_rise, mean_curvature = sums.at_upper(((1, weighted),), ((2, weighted),))
        rise = rises * on_neg - mean_rise
        rise = norm_slopes * (rise / heights)
        rise -= norm_slopes * ((heights @ rise) / norm)
        rise *= self._p - 1.0
        by_negative = neg_curvature * on_neg - norm_slopes * mean_curvature
        by_positive = pos_curvature * on_pos
        changes = sums.at_lower(((2, norm_slopes * on_neg), (1, rise)))[0]
        by_positive -= self._pos_shares * changes
        return self.scale * self._join(by_positive, by_negative + rises * rise)


def p_norm(heights: FloatArray, shares: FloatArray, p: float) -> tuple[float, FloatArray]:
    """p-norm of positive numbers with shares, and its derivatives by them."""
    highest = float(heights.max())
    powers = shares * (heights / highest) ** (p - 1.0)
    mean = float(powers @ (heights / highest))
    return highest * mean ** (1.0 / p), powers * mean ** (1.0 / p - 1.0)


@dataclass(frozen=True, eq=False)
class CumulatedPhi:
    """Sums of phi over the lowest ranks of a list, linear in between."""

    rank: FloatArray  # (n_cells + 1,): Ranks from 0 to the length of the list, equally spaced
    total: FloatArray  # (n_cells + 1,): Sums of phi over the ranks up to these

    def smooth(self, place: FloatArray, width: float) -> ArrayPair:
        """Means of phi about places, with a triangle of a half width, and their derivatives."""
        integrals = [self._integrals(place + shift) for shift in (-width, 0.0, width)]
        slopes, means = (
            below - 2.0 * at + above for below, at, above in zip(*integrals, strict=True)
        )
        return means / width**2, slopes / width**2

    def _integrals(self, place: FloatArray) -> ArrayPair:
        """Integrals of phi, and of these."""
        cell = self.rank[1]
        index = np.clip((place / cell).astype(np.int64), 0, len(self.rank) - 2)
        offset, total = place - self.rank[index], self.total[index]
        rise = (self.total[index + 1] - total) / cell * offset
        return total + rise, self._integral_of_total[index] + offset * (total + 0.5 * rise)

    @cached_property
    def _integral_of_total(self) -> FloatArray:
        means = (self.total[1:] + self.total[:-1]) / 2.0
        return np.append(0.0, np.cumsum(means * self.rank[1]))


def kernel_windows(scores: FloatArray) -> Callable[[FloatArray], ArrayPair]:
    """Sums of the integral K of Epanechnikov's kernel k, and of k, at differences of given scores.

    Of weights of the rows, ``sum_j weight_j K(s_i - s_j)`` and ``sum_j weight_j k(s_i - s_j)``.
    Powers of the distance to the middle of a cell, at most 1/2, are cumulated: nothing cancels.
    """
    order = np.argsort(scores)
    z = scores[order]
    cell = np.floor(z)
    x = z - cell - 0.5
    powers = np.stack((np.ones_like(x), x, x * x, x * x * x))
    starts = np.flatnonzero(np.diff(cell, prepend=-np.inf))
    sizes = np.diff(starts, append=len(z))
    # Where a window begins, its middle cell begins and ends, and where it ends.
    bounds = (
        np.searchsorted(z, z - 1.0),
        *(np.repeat(places, sizes) for places in (starts, starts + sizes)),
        np.searchsorted(z, z + 1.0),
    )

    def sums(weight: FloatArray) -> ArrayPair:
        cumulated = np.zeros((4, len(z) + 1))
        np.cumsum(weight[order] * powers, axis=1, out=cumulated[:, 1:])
        low, start, end, high = (cumulated.take(bound, axis=1) for bound in bounds)
        left, right, moments = start - low, high - end, high - low
        # The cells on both sides, about the middle of the middle cell.
        odd, even = right - left, right + left
        moments[1] += odd[0]
        moments[2] += 2.0 * odd[1] + even[0]
        moments[3] += 3.0 * (odd[2] + even[1]) + odd[0]
        side = 1.0 - powers[2]
        cubic = x * (side + 2.0) * moments[0] - 3.0 * (side * moments[1] + x * moments[2])
        integral, near = np.empty((2, len(z)))
        integral[order] = low[0] + 0.5 * moments[0] + 0.25 * (cubic + moments[3])
        near[order] = 0.75 * (side * moments[0] + 2.0 * x * moments[1] - moments[2])
        return integral, near

    return sums


# Differences of the exact statistic up to this value are rounding.
ROUNDING_OF_STATISTIC = 1e-11


class RankStatisticProblem(NamedTuple):
    """Maximise the sum over positives of phi at their ranks, between its worst and best value."""

    design: Design
    positive: BoolArray  # (n,)
    weight: FloatArray  # (n,): How many times each counts, positive
    phi: CumulatedPhi  # The function of the ranks
    exact: Callable[[FloatArray, FloatArray], float]

    def spread(self, scores: FloatArray) -> float:
        """Standard deviation of scores; 0 if it is rounding."""
        share = self.weight / self.weight.sum()
        spread = float(np.sqrt(share @ (scores - share @ scores) ** 2))
        return spread if spread > 1e-12 * float(np.abs(scores).max()) else 0.0

    def smooth(self, scores: FloatArray, bandwidth: float) -> tuple[float, FloatArray]:
        weight, total = self.weight, float(self.weight.sum())
        centred = scores - weight @ scores / total
        scale = bandwidth * np.sqrt(weight @ centred**2 / total)
        z = centred / scale
        windows = kernel_windows(z)
        place, near = windows(weight)
        # Phi's jumps are smoothed over as many ranks as are near by the bandwidth.
        mean, slope = self.phi.smooth(place[self.positive], max(1.0, bandwidth * total / 4.0))
        # Sum of phi over the lowest and over the highest ranks, as many as positives.
        mass, length = float(weight[self.positive].sum()), self.phi.rank[-1]
        worst, rest = np.interp([mass, length - mass], self.phi.rank, self.phi.total)
        worst, best = float(worst), float(self.phi.total[-1] - rest)
        share = weight[self.positive] / (best - worst)
        force = np.zeros_like(scores)
        force[self.positive] = share * slope
        by_z = force * near - weight * windows(force)[1]
        variance = float(weight @ z**2)
        slopes = (by_z - weight * z * (float(by_z @ z) / variance)) / scale
        return float(share @ mean) - worst / (best - worst), slopes


@dataclass(frozen=True, eq=False, kw_only=True)
class RankStatisticSolution(SolverResult):
    """The best weights by the exact statistic, ``certificate.objective``."""

    start_value: float


class Search(NamedTuple):
    """Parameters of the maximisation."""

    bandwidth: float
    anchor: float
    n_init: int
    tol: float  # Largest entry of the gradient at which a run has converged
    max_iter: int  # Largest number of iterations of all runs together
    random: np.random.RandomState  # Directions of the other runs


def maximise_rank_statistic(
    problem: RankStatisticProblem,
    start: FloatArray,
    search: Search,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> RankStatisticSolution:
    """Maximise the smoothed statistic, and keep the best by the statistic itself.

    Runs of L-BFGS, each with twice the bandwidth first. Scores of weights have variance 1.
    """
    scores, terms = problem.design.scores_with_terms(start)
    spread = problem.spread(scores)
    if not spread > 0.0:
        value = problem.exact(scores, terms)
        return RankStatisticSolution(start, Certificate(value), start_value=value)
    factor = 1.0 / spread
    ascent = _Ascent(
        problem, start * factor, (scores * factor, terms * factor), search, on_iteration
    )
    start_value = ascent.best_value
    # Nothing is above the greatest value.
    for run in range(search.n_init if start_value < 1.0 - ROUNDING_OF_STATISTIC else 0):
        ascent.run(run)
    nan = float("nan")
    norm = ascent.norms[max(ascent.best_run, 0)] if ascent.norms else nan
    certificate = Certificate(ascent.best_value, nan, norm, ascent.n_iter, ascent.converged)
    return RankStatisticSolution(ascent.best_coef, certificate, start_value=start_value)


class _Ascent:
    """Runs of L-BFGS, in coordinates in which the rows have no correlation."""

    def __init__(
        self,
        problem: RankStatisticProblem,
        start: FloatArray,
        start_scores: ArrayPair,
        search: Search,
        on_iteration: Callable[[int, float, float], None] | None,
    ) -> None:
        self._problem, self._last = problem, (start, start_scores)
        self._search, self._on_iteration = search, on_iteration
        self._basis = _whitening(problem.design, problem.weight)
        self._origin = start
        if self._basis is not None:
            # Rows of about one length, whatever the units of the features.
            length = np.linalg.norm(self._basis, axis=1)
            length[length == 0] = 1.0
            scaled = self._basis / length[:, np.newaxis]
            self._origin = scipy.linalg.lstsq(scaled, start / length)[0]
        scores = start_scores[0]
        self._anchor = scores - problem.weight @ scores / problem.weight.sum()
        self.best_value = -np.inf
        self._compare(start, -1)
        self.n_iter, self.converged = 0, True
        self.norms: list[float] = []  # Largest entry of the gradient at the end of each run

    def _scores_with_terms(self, coef: FloatArray) -> ArrayPair:
        """Scores, cached for the last weights."""
        if not np.array_equal(coef, self._last[0]):
            self._last = coef.copy(), self._problem.design.scores_with_terms(coef)
        return self._last[1]

    def _compare(self, coef: FloatArray, run: int) -> None:
        scores, terms = self._scores_with_terms(coef)
        value = self._problem.exact(scores, terms)
        if value > self.best_value + ROUNDING_OF_STATISTIC:
            self.best_value, self.best_run = value, run
            self.best_coef = coef / self._problem.spread(scores)

    def _coef(self, x: FloatArray) -> FloatArray:
        return x if self._basis is None else np.asarray(self._basis @ x)

    def run(self, number: int) -> None:
        """Ascend from the start, or from a point beside it at an angle of 45 degrees."""
        x = self._origin
        if number:
            offset = self._search.random.standard_normal(self._problem.design.shape[1])
            if self._basis is not None:
                # Turned back into features, these do not depend on the signs of the basis.
                offset = offset @ (self._basis / np.linalg.norm(self._basis, axis=0))
            point = x + offset * (np.linalg.norm(x) / np.linalg.norm(offset))
            # With one feature the point beside it may be 0.
            x = point if point.any() else x
        for factor in (2.0, 1.0):
            x = x / np.linalg.norm(x) * np.linalg.norm(self._origin)
            x, norm = self._maximise(x, factor * self._search.bandwidth, number)
        self.norms.append(norm)

    def _maximise(self, x: FloatArray, bandwidth: float, run: int) -> tuple[FloatArray, float]:
        max_iter = self._search.max_iter - self.n_iter

        def loss(x: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self._value_and_gradient(x, bandwidth)
            return -value, -gradient

        def end_of_iteration(intermediate_result: scipy.optimize.OptimizeResult) -> None:
            self._compare(self._coef(intermediate_result.x), run)
            self.n_iter += 1
            if self._on_iteration is not None:
                self._on_iteration(self.n_iter, -float(intermediate_result.fun), self.best_value)

        if max_iter == 0:
            self.converged = False
            return x, float(np.abs(loss(x)[1]).max())
        options = {
            "maxiter": max_iter,
            "maxfun": 100 * max_iter,
            "gtol": self._search.tol,
            "ftol": 1e-10,
        }
        result = scipy.optimize.minimize(
            loss, x, jac=True, method="L-BFGS-B", callback=end_of_iteration, options=options
        )
        self.converged &= self.n_iter < self._search.max_iter
        return result.x, float(np.abs(result.jac).max())

    def _value_and_gradient(self, x: FloatArray, bandwidth: float) -> tuple[float, FloatArray]:
        """Smoothed statistic and what the anchor adds, and their gradient."""
        problem, design = self._problem, self._problem.design
        scores, _ = self._scores_with_terms(self._coef(x))
        value, slopes = problem.smooth(scores, bandwidth)
        share = problem.weight / problem.weight.sum()
        centred = scores - share @ scores
        spread = np.sqrt(share @ centred**2)
        correlation = float(share @ (centred * self._anchor)) / spread
        direction = self._anchor - correlation * centred / spread
        slopes += self._search.anchor * share * direction / spread
        gradient = design.pull_back(slopes)
        if self._basis is not None:
            gradient = self._basis.T @ gradient
        return value + self._search.anchor * correlation, gradient


def _whitening(design: Design, weight: FloatArray) -> FloatArray | None:
    """Columns that turn coordinates into weights of uncorrelated scores, if they are not many."""
    if design.shape[1] > LARGEST_FACTOR:
        return None
    share = weight / weight.sum()
    gram, mean = design.gram_and_sums(share, share[:, np.newaxis])
    covariance = gram - mean @ mean.T
    # Of correlations, so that a feature in small units counts, too.
    diagonal = np.diagonal(covariance)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    variance, basis = scipy.linalg.eigh(covariance / np.outer(scale, scale))
    mask = variance > 1e-10 * variance[-1]
    return np.asarray(basis[:, mask] / np.sqrt(variance[mask])) / scale[:, np.newaxis]
