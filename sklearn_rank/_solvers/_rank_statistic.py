"""Maximisation of a smoothed linear rank statistic of linear scores from a start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize

from .._typing import BoolArray, FloatArray
from ._design import Design
from ._result import Certificate, SolverResult


class KernelWindows:
    """Sums of Epanechnikov's kernel, or of its integral, at the differences of given scores.

    The kernel is ``k(t) = 3/4 (1 - t^2)`` on [-1, 1], its integral ``K`` rises from 0 to 1: both
    are polynomials on a window of the sorted scores. Time O(n log n), memory O(n).
    """

    def __init__(self, scores: FloatArray) -> None:
        self._order = np.argsort(scores)
        self._ascending = scores[self._order]

    def below(self, weight: FloatArray) -> FloatArray:
        """Smoothed weight below each score, ``sum_j weight_j K(z_i - z_j)``. Shape (n,)."""
        return self._sums(weight, True)

    def near(self, weight: FloatArray) -> FloatArray:
        """Smoothed weight at each score, ``sum_j weight_j k(z_i - z_j)``. Shape (n,)."""
        return self._sums(weight, False)

    def _sums(self, weight: FloatArray, integrated: bool) -> FloatArray:
        from ._kernels import window_sums

        ascending, sums = np.empty_like(weight), np.empty_like(weight)
        window_sums(self._ascending, weight[self._order], integrated, ascending)
        sums[self._order] = ascending
        return sums


# Features up to which steps are taken in coordinates in which the rows have no correlation.
LARGEST_WHITENED = 1000

# Variance of the standardised rows, relative to the largest, below which a direction is none.
LEAST_VARIANCE = 1e-10

# Standard deviation of scores, relative to the largest, that is not yet rounding.
LEAST_SPREAD = 1e-12

# Relative increase of the smoothed statistic at which a run is at rest.
FLAT = 1e-10

# An exact value is better than another if it is by more than rounding.
ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class CumulatedPhi:
    """Sums of phi over the lowest ranks of a list, linear in between."""

    rank: FloatArray  # (n_cells + 1,): Ranks from 0 to the length of the list, equally spaced
    total: FloatArray  # (n_cells + 1,): Sums of phi over the ranks up to these

    def smooth(self, place: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
        """Means of phi about places, with a triangle of a half width, and their derivatives.

        Beyond the ends, phi is constant. Shape (n,).
        """
        integrals = [self._integrals(place + shift) for shift in (-width, 0.0, width)]
        slopes, means = (
            below - 2.0 * at + above for below, at, above in zip(*integrals, strict=True)
        )
        return means / width**2, slopes / width**2

    def _integrals(self, place: FloatArray) -> tuple[FloatArray, FloatArray]:
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
        return spread if spread > LEAST_SPREAD * float(np.abs(scores).max()) else 0.0

    def smooth(self, scores: FloatArray, bandwidth: float) -> tuple[float, FloatArray]:
        """Smoothed statistic of scores, and its derivatives by them."""
        weight, total = self.weight, float(self.weight.sum())
        centred = scores - weight @ scores / total
        scale = bandwidth * np.sqrt(weight @ centred**2 / total)
        z = centred / scale
        windows = KernelWindows(z)
        place = windows.below(weight)[self.positive]
        # Phi's jumps are smoothed over as many ranks as are near by the bandwidth.
        mean, slope = self.phi.smooth(place, max(1.0, bandwidth * total / 4.0))
        # Sum of phi over the lowest and over the highest ranks, as many as positives.
        mass, length = float(weight[self.positive].sum()), self.phi.rank[-1]
        worst, rest = np.interp([mass, length - mass], self.phi.rank, self.phi.total)
        worst, best = float(worst), float(self.phi.total[-1] - rest)
        share = weight[self.positive] / (best - worst)
        force = np.zeros_like(scores)
        force[self.positive] = share * slope
        by_z = force * windows.near(weight) - weight * windows.near(force)
        variance = float(weight @ z**2)
        slopes = (by_z - weight * z * (float(by_z @ z) / variance)) / scale
        return float(share @ mean) - worst / (best - worst), slopes


@dataclass(frozen=True, eq=False)
class RankStatisticSolution(SolverResult):
    """The best weights that were met by the statistic itself, ``certificate.objective``."""

    start_value: float


class Search(NamedTuple):
    """How to look for a maximum."""

    bandwidth: float
    anchor: float
    n_init: int
    tol: float  # Largest entry of the gradient at which a run is at rest
    max_iter: int  # Largest number of iterations of all runs together
    random: np.random.RandomState  # Where the other runs begin


def maximise_rank_statistic(
    problem: RankStatisticProblem,
    start: FloatArray,
    search: Search,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> RankStatisticSolution:
    """Maximise the smoothed statistic, and keep the best by the statistic itself.

    Runs of L-BFGS, each with twice the bandwidth first. The scale of weights is that at which the
    scores of the rows have variance 1.
    """
    cache = _CachedScores(problem.design)
    spread = problem.spread(cache.scores(start))
    if not spread > 0.0:
        value = problem.exact(*cache.scores_with_terms(start))
        return RankStatisticSolution(start, Certificate(value), start_value=value)
    cache.scale(1.0 / spread)
    climb = _Climb(problem, cache, start * (1.0 / spread), search, on_iteration)
    start_value = climb.best_value
    # Nothing is above the greatest value.
    for run in range(search.n_init if start_value < 1.0 - ROUNDING else 0):
        climb.run(run)
    certificate = Certificate(
        climb.best_value,
        gradient_norm=climb.norms[max(climb.best_run, 0)] if climb.norms else float("nan"),
        n_iter=climb.n_iter,
        converged=climb.converged,
    )
    return RankStatisticSolution(climb.best_coef, certificate, start_value=start_value)


class _CachedScores:
    """Scores of the last weights, which are asked for again."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._coef, self._scores = np.empty(0), (np.empty(0), np.empty(0))

    def scores_with_terms(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not np.array_equal(coef, self._coef):
            self._coef, self._scores = coef.copy(), self._design.scores_with_terms(coef)
        return self._scores

    def scores(self, coef: FloatArray) -> FloatArray:
        return self.scores_with_terms(coef)[0]

    def scale(self, factor: float) -> None:
        """Go from the last weights to a multiple of them."""
        self._coef = self._coef * factor
        self._scores = self._scores[0] * factor, self._scores[1] * factor


class _Climb:
    """Runs of L-BFGS, in coordinates in which the rows have no correlation.

    The best weights are those of the largest exact statistic.
    """

    def __init__(
        self,
        problem: RankStatisticProblem,
        cache: _CachedScores,
        start: FloatArray,
        search: Search,
        on_iteration: Callable[[int, float, float], None] | None,
    ) -> None:
        self._problem, self._cache = problem, cache
        self._search, self._on_iteration = search, on_iteration
        self._basis = _whitening(problem.design, problem.weight)
        self._origin = start
        if self._basis is not None:
            # Rows of about one length, whatever the units of the features.
            length = np.linalg.norm(self._basis, axis=1)
            length[length == 0] = 1.0
            scaled = self._basis / length[:, np.newaxis]
            self._origin = scipy.linalg.lstsq(scaled, start / length)[0]
        scores = cache.scores(start)
        self._anchor = scores - problem.weight @ scores / problem.weight.sum()
        self.best_value = -np.inf
        self._compare(start, -1)
        self.n_iter, self.converged = 0, True
        self.norms: list[float] = []  # Largest entry of the gradient at the end of each run

    def _compare(self, coef: FloatArray, run: int) -> None:
        scores, terms = self._cache.scores_with_terms(coef)
        value = self._problem.exact(scores, terms)
        if value > self.best_value + ROUNDING:
            self.best_value, self.best_run = value, run
            self.best_coef = coef / self._problem.spread(scores)

    def _coef(self, x: FloatArray) -> FloatArray:
        return x if self._basis is None else np.asarray(self._basis @ x)

    def run(self, number: int) -> None:
        """Climb from the start, or from a point beside it at an angle of 45 degrees."""
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
            "ftol": FLAT,
        }
        result = scipy.optimize.minimize(
            loss, x, jac=True, method="L-BFGS-B", callback=end_of_iteration, options=options
        )
        self.converged &= self.n_iter < self._search.max_iter
        return result.x, float(np.abs(result.jac).max())

    def _value_and_gradient(self, x: FloatArray, bandwidth: float) -> tuple[float, FloatArray]:
        """Smoothed statistic and what the anchor adds, and their gradient."""
        problem, design = self._problem, self._problem.design
        scores = self._cache.scores(self._coef(x))
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
    """Columns by which coordinates become weights whose scores have variance 1, uncorrelated.

    None for so many features that weights are their own coordinates.
    """
    if design.shape[1] > LARGEST_WHITENED:
        return None
    share = weight / weight.sum()
    gram, mean = design.gram_and_sums(share, share[:, np.newaxis])
    covariance = gram - mean @ mean.T
    # Of correlations, so that a feature in small units counts, too.
    diagonal = np.diagonal(covariance)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    variance, basis = scipy.linalg.eigh(covariance / np.outer(scale, scale))
    mask = variance > LEAST_VARIANCE * variance[-1]
    return np.asarray(basis[:, mask] / np.sqrt(variance[mask])) / scale[:, np.newaxis]
