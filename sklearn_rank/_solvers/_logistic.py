"""Logistic losses: of rows of two classes, of all pairs of two samples, and the p-norm push."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, Protocol

import numpy as np
import scipy.fft
import scipy.linalg
from scipy.special import expit, logit

from .._typing import BoolArray, FloatArray, IntArray
from ._design import Design, InMemoryDesign
from ._result import Certificate, SolverResult, relative_gap

# Features up to which the second derivatives are summed up in a matrix and factorised.
LARGEST_FACTOR = 1000

# A direction by conjugate gradients leaves at most this share of the gradient.
FORCING = 0.1

# Share of the slope that a step may leave along its direction.
LEFT_SLOPE = 0.5

# Decrease of the objective, relative to its terms, that rounding hides.
ROUNDING = 1e-14


class Curvature(Protocol):
    """Second derivatives of a function of scores at given ones."""

    @property
    def diagonal(self) -> FloatArray:
        """Diagonal part of an approximation; non-negative."""

    @property
    def subtracted(self) -> list[FloatArray]:
        """Vectors whose outer products that approximation subtracts from the diagonal part."""

    @property
    def is_exact(self) -> bool:
        """Whether the approximation is the matrix itself."""

    def product(self, direction: FloatArray, /) -> FloatArray:
        """Product of the matrix with a direction of scores."""


class ScoreFunction(Protocol):
    """A smooth convex function of the scores of the rows, not negative infinite."""

    @property
    def scale(self) -> float:
        """Size of its terms, for what rounding hides."""

    def value_and_slopes(self, scores: FloatArray, /) -> tuple[float, FloatArray]:
        """Value, and derivatives by the scores."""

    def curvature(self, scores: FloatArray, /) -> Curvature:
        """Second derivatives."""


class _Point(NamedTuple):
    """Coefficients with their scores, and the objective there."""

    coef: FloatArray
    scores: FloatArray
    value: float
    slopes: FloatArray


def minimise_with_ridge(
    design: Design,
    function: ScoreFunction,
    *,
    tol: float,
    max_iter: int,
    on_iteration: Callable[[int, float, float], None] | None = None,
    start: FloatArray | None = None,
) -> SolverResult:
    """Minimise ``1 / 2 ||w||**2 + f(X w)``.

    The derivatives a of f at scores X w are a point of the Fenchel dual, at which ``f(X w) + f*(a)
    = a . X w``: the duality gap is half the square of ``w + X' a``, the gradient. Along a step the
    scores are affine, so that its length is found without the rows.
    """
    if start is None:
        point = _at(function, np.zeros(design.shape[1]), np.zeros(design.shape[0]))
    else:
        point = _at(function, start, design.scores(start))
    hidden = np.finfo(np.float64).eps * function.scale
    n_iter = 0
    while True:
        curvature = sums = None
        if design.shape[1] <= LARGEST_FACTOR and not isinstance(design, InMemoryDesign):
            # Where each product reads the rows again, one reading serves all.
            curvature = function.curvature(point.scores)
            sums = _sums(design, curvature, point.slopes)
            gradient = point.coef + sums[1][:, -1]
        else:
            gradient = point.coef + design.pull_back(point.slopes)
        gap = 0.5 * float(gradient @ gradient)
        bound = point.value if gap <= hidden else point.value - gap
        share = float(relative_gap(point.value, bound))
        if on_iteration is not None and n_iter:
            on_iteration(n_iter, point.value, share)
        # Weights of 0 may be within the tolerance, but have no order.
        if (share <= tol and (n_iter or not gradient.any())) or n_iter == max_iter:
            break
        curvature = curvature or function.curvature(point.scores)
        step = _direction(design, curvature, gradient, sums)
        there = _along(function, point, step, design.scores(step))
        if there is None:
            break
        point, n_iter = there, n_iter + 1
    converged = bool(share <= tol)
    return SolverResult(
        point.coef, Certificate(point.value, bound, n_iter=n_iter, converged=converged)
    )


def _at(function: ScoreFunction, coef: FloatArray, scores: FloatArray) -> _Point:
    value, slopes = function.value_and_slopes(scores)
    return _Point(coef, scores, 0.5 * float(coef @ coef) + value, slopes)


def _along(
    function: ScoreFunction, point: _Point, step: FloatArray, of_step: FloatArray
) -> _Point | None:
    """Go along a step until half of its slope is gone; None where nothing is won.

    The slope of a convex function tells on which side its minimum lies.
    """

    def slope_at(there: _Point) -> float:
        return float(there.coef @ step) + float(there.slopes @ of_step)

    first = slope_at(point)
    if not first < 0.0:
        # The gradient is rounding.
        return None
    length, low, high = 1.0, 0.0, np.inf
    low_slope, high_slope = first, np.inf
    allowed = ROUNDING * (abs(point.value) + function.scale)
    for _ in range(60):
        there = _at(function, point.coef + length * step, point.scores + length * of_step)
        slope = slope_at(there)
        lower = there.value <= point.value + allowed
        if lower and abs(slope) <= LEFT_SLOPE * abs(first):
            return there
        if lower and slope < 0:
            low, low_slope = length, slope
        else:
            high, high_slope = length, slope
        if not np.isfinite(high):
            length = 4.0 * low
            continue
        share = 0.5
        if np.isfinite(high_slope) and high_slope > 0:
            share = min(max(-low_slope / (high_slope - low_slope), 0.1), 0.9)
        length = low + share * (high - low)
    return None


def _sums(
    design: Design, curvature: Curvature, *by_row: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weighted Gram matrix of the rows, and their sums with what is subtracted and with others."""
    columns = np.column_stack([*curvature.subtracted, *by_row])
    return design.gram_and_sums(curvature.diagonal, columns)


def _direction(
    design: Design,
    curvature: Curvature,
    gradient: FloatArray,
    sums: tuple[FloatArray, FloatArray] | None,
) -> FloatArray:
    """Solve Newton's system, exactly or to a share of the gradient."""
    solve = None
    if len(gradient) <= LARGEST_FACTOR:
        matrix, pulled = _sums(design, curvature) if sums is None else sums
        solve = _factorised(matrix, pulled[:, : len(curvature.subtracted)])
        if curvature.is_exact:
            return -solve(gradient)

    def product(direction: FloatArray) -> FloatArray:
        bent = curvature.product(design.scores(direction))
        return np.asarray(direction + design.pull_back(bent))

    return _conjugate_gradients(product, gradient, solve)


def _factorised(matrix: FloatArray, pulled: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Solver of the system of the approximate second derivatives."""
    matrix = matrix - pulled @ pulled.T
    matrix[np.diag_indices_from(matrix)] += 1.0
    # What is subtracted is at most what was added, but for rounding.
    ridge = np.finfo(np.float64).eps * float(np.trace(matrix))
    while True:
        try:
            factor = scipy.linalg.cho_factor(matrix)
        except scipy.linalg.LinAlgError:
            matrix[np.diag_indices_from(matrix)] += ridge
            ridge *= 10.0
        else:
            return lambda right: np.asarray(scipy.linalg.cho_solve(factor, right))


def _conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    gradient: FloatArray,
    solve: Callable[[FloatArray], FloatArray] | None,
) -> FloatArray:
    """Solve ``product(step) = -gradient`` to a share of the gradient's norm."""
    step, residual = np.zeros_like(gradient), -gradient
    norm = float(np.linalg.norm(gradient))
    enough = min(FORCING, np.sqrt(norm)) * norm
    better = residual if solve is None else solve(residual)
    direction, square = better.copy(), float(residual @ better)
    for _ in range(20 * len(step) + 20):
        bent = product(direction)
        length = square / float(direction @ bent)
        step += length * direction
        residual = residual - length * bent
        if float(np.linalg.norm(residual)) <= enough:
            break
        better = residual if solve is None else solve(residual)
        last, square = square, float(residual @ better)
        direction = better + square / last * direction
    return step


# Rows of the sample from which a large problem starts.
SAMPLED_ROWS = 20_000

# Relative duality gap of the solution of the sample; that of the whole is what rounding hides.
ROUGH = 1e-6

# Steps of Newton's method, for the coefficients and for the intercept at given ones.
MOST_STEPS = 100


def solve_logistic_regression(
    design: Design, positive: BoolArray, weight: FloatArray, C: float
) -> SolverResult:
    """Minimise ``1 / 2 ||w||**2 + C sum of weight * log(1 + exp(-sign (X w + b)))``."""
    start, stride = None, len(positive) // SAMPLED_ROWS
    if stride >= 2:
        of_positives, of_negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
        sample = np.union1d(of_positives[::stride], of_negatives[::stride])
        rough = _Loss(positive[sample], weight[sample], C * stride)
        found = minimise_with_ridge(design.rows(sample), rough, tol=ROUGH, max_iter=MOST_STEPS)
        start = found.coef
    loss = _Loss(positive, weight, C)
    return minimise_with_ridge(design, loss, tol=0.0, max_iter=MOST_STEPS, start=start)


class _Loss:
    """Sum of the losses of scores at the intercept that is best for them, convex in these."""

    def __init__(self, positive: BoolArray, weight: FloatArray, C: float) -> None:
        self._positive, self._cost = positive, C * weight
        self.scale = float(self._cost.sum())
        self._aim = float(self._cost[positive].sum())
        self._intercept = float(logit(self._aim / self.scale))

    def value_and_slopes(self, scores: FloatArray) -> tuple[float, FloatArray]:
        lifted = scores + self._best_intercept(scores)
        losses = np.logaddexp(0.0, np.where(self._positive, -lifted, lifted))
        return float(self._cost @ losses), self._cost * (expit(lifted) - self._positive)

    def curvature(self, scores: FloatArray) -> Curvature:
        probability = expit(scores + self._best_intercept(scores))
        return _LossCurvature(self._cost * probability * (1.0 - probability))

    def _best_intercept(self, scores: FloatArray) -> float:
        """Solve ``sum of cost * probability = cost of the positives``, by safe Newton steps."""
        middle = float(logit(self._aim / self.scale))
        low, high = middle - float(scores.max()), middle - float(scores.min())
        intercept = min(max(self._intercept, low), high)
        for _ in range(MOST_STEPS):
            probability = expit(scores + intercept)
            excess = float(self._cost @ probability) - self._aim
            if excess > 0:
                high = intercept
            else:
                low = intercept
            steepness = float(self._cost @ (probability * (1.0 - probability)))
            step = excess / steepness if steepness > 0 else np.inf
            if not low <= intercept - step <= high:
                step = intercept - 0.5 * (low + high)
            intercept -= step
            if abs(step) <= 1e-14 * (1.0 + abs(intercept)):
                break
        self._intercept = intercept
        return intercept


class _LossCurvature:
    """Second derivatives: a variance, since the intercept follows the scores."""

    is_exact = True

    def __init__(self, diagonal: FloatArray) -> None:
        self.diagonal = diagonal
        total = max(float(diagonal.sum()), np.finfo(np.float64).tiny)
        self.subtracted = [diagonal / np.sqrt(total)]

    def product(self, direction: FloatArray) -> FloatArray:
        (vector,) = self.subtracted
        return np.asarray(self.diagonal * direction - vector * (vector @ direction))


# The functions of a difference are analytic within a distance of pi of the real line, so that on
# an interval of this half width the error of a Chebyshev series of this many terms is some units
# of rounding: (pi + sqrt(pi**2 + 1))**-22 is 2e-18.
HALF_WIDTH, N_TERMS = 1.0, 22

# Intervals further apart than this, by 120, have differences at which the functions are constant
# or linear to rounding.
REACH = 60


class LogisticSums:
    """Sums over one sample of ``log(1 + exp(t - s))`` or its derivatives, at each of another.

    The line is cut into intervals. What the points of an interval contribute is summed up in their
    moments with Chebyshev polynomials, products with a small matrix for each distance of two
    intervals turn these into series on the other sample's intervals, and these are evaluated
    there. Time and memory are linear in the number of points, and the sums are exact to rounding.
    """

    def __init__(self, t: FloatArray, s: FloatArray) -> None:
        # About zero, where numbers are densest: only differences count.
        low = min(t.min(), s.min())
        cells = [np.floor((points - low) / (2.0 * HALF_WIDTH)) for points in (t, s)]
        self._cells, place = np.unique(np.concatenate(cells), return_inverse=True)
        self._centres = (self._cells + 0.5) * 2.0 * HALF_WIDTH
        self._upper = self._part(t - low, place[: len(t)])
        self._lower = self._part(s - low, place[len(t) :])
        self._pairs = list(self._near_cells())

    def _part(self, points: FloatArray, place: IntArray) -> tuple[FloatArray, IntArray]:
        local = (points - self._centres[place]) / HALF_WIDTH
        return np.ascontiguousarray(local), np.ascontiguousarray(place, dtype=np.int64)

    def _near_cells(self) -> Iterator[tuple[int, IntArray, IntArray]]:
        """Pairs of cells within reach, for each distance of an upper cell above a lower one."""
        for offset in range(-REACH, REACH + 1):
            source = np.searchsorted(self._cells, self._cells - offset)
            source[source == len(self._cells)] = 0
            target = np.flatnonzero(self._cells[source] == self._cells - offset)
            if len(target):
                yield offset, target, source[target]

    def at_upper(self, *terms: tuple[int, FloatArray]) -> FloatArray:
        """Sums over s at each t. Shape (m,)."""
        series = np.zeros((len(self._cells), N_TERMS))
        for order, factor in terms:
            moments = self._moments(self._lower, factor)
            for offset, target, source in self._pairs:
                series[target] += moments[source] @ _table(order, offset).T
            self._add_far_below(order, moments, series)
        return self._values(self._upper, series)

    def at_lower(self, *terms: tuple[int, FloatArray]) -> FloatArray:
        """Sums over t at each s, of derivatives by t; see :meth:`at_upper`. Shape (k,)."""
        series = np.zeros((len(self._cells), N_TERMS))
        for order, factor in terms:
            moments = self._moments(self._upper, factor)
            for offset, target, source in self._pairs:
                series[source] += moments[target] @ _table(order, offset)
            if order == 1:
                total = np.append(0.0, np.cumsum(moments[::-1, 0]))[::-1]
                first = np.searchsorted(self._cells, self._cells + REACH, side="right")
                series[:, 0] += total[first]
        return self._values(self._lower, series)

    def _add_far_below(self, order: int, moments: FloatArray, series: FloatArray) -> None:
        """Add what lies so far below that the logistic function is its asymptote."""
        if order == 2:
            return
        stop = np.searchsorted(self._cells, self._cells - REACH)
        total = np.append(0.0, np.cumsum(moments[:, 0]))[stop]
        if order == 1:
            series[:, 0] += total
            return
        places = self._centres * moments[:, 0] + HALF_WIDTH * moments[:, 1]
        series[:, 0] += self._centres * total - np.append(0.0, np.cumsum(places))[stop]
        series[:, 1] += HALF_WIDTH * total

    def _moments(self, part: tuple[FloatArray, IntArray], factor: FloatArray) -> FloatArray:
        from ._kernels import add_moments

        moments = np.zeros((len(self._cells), N_TERMS))
        add_moments(*part, np.ascontiguousarray(factor), moments)
        return moments

    def _values(self, part: tuple[FloatArray, IntArray], series: FloatArray) -> FloatArray:
        from ._kernels import evaluate_series

        values = np.empty(len(part[0]))
        evaluate_series(*part, series, values)
        return values


@cache
def _table(order: int, offset: int) -> FloatArray:
    """Chebyshev coefficients of a derivative of the logistic function on two intervals.

    Entry (p, q) is the coefficient of ``T_p(x) T_q(y)``, the difference being that of the points
    at x and y of intervals ``offset`` apart.
    """
    nodes = np.cos(np.pi * (np.arange(N_TERMS) + 0.5) / N_TERMS)
    z = HALF_WIDTH * (2.0 * offset + nodes[:, np.newaxis] - nodes)
    if order == 0:
        values = np.logaddexp(0.0, z)
    else:
        values = expit(z) if order == 1 else expit(z) * expit(-z)
    table = scipy.fft.dctn(values, type=2) / N_TERMS**2
    table[0] /= 2.0
    table[:, 0] /= 2.0
    return np.asarray(table)


@dataclass(frozen=True, eq=False)
class _Class:
    """The rows of one class, and their shares of its weight."""

    rows: IntArray
    share: FloatArray


@dataclass(frozen=True, eq=False)
class _Push:
    """Base class of both losses."""

    positives: _Class
    negatives: _Class
    p: float
    C: float

    def _joined(self, of_positives: FloatArray, of_negatives: FloatArray) -> FloatArray:
        joined = np.empty(len(of_positives) + len(of_negatives))
        joined[self.positives.rows] = self.C * of_positives
        joined[self.negatives.rows] = self.C * of_negatives
        return joined


class _ExponentialPush(_Push):
    """``C log R_p`` of the exponential, which is a sum of two logarithms of sums.

    ``log mean exp(-s_i) + (1 / p) log mean exp(p s_j)``, i positives, j negatives.
    """

    @property
    def scale(self) -> float:
        return self.C

    def value_and_slopes(self, scores: FloatArray) -> tuple[float, FloatArray]:
        lifted, on_positives = _soft_maximum(-scores[self.positives.rows], self.positives, 1.0)
        pushed, on_negatives = _soft_maximum(scores[self.negatives.rows], self.negatives, self.p)
        return self.C * (lifted + pushed), self._joined(-on_positives, on_negatives)

    def curvature(self, scores: FloatArray) -> Curvature:
        _, slopes = self.value_and_slopes(scores)
        return _ExponentialCurvature(self, slopes)


class _ExponentialCurvature:
    """Its second derivatives: variances under the two distributions of the slopes."""

    is_exact = True

    def __init__(self, push: _ExponentialPush, slopes: FloatArray) -> None:
        C, p = push.C, push.p
        lifted, pushed = np.zeros_like(slopes), np.zeros_like(slopes)
        lifted[push.positives.rows] = slopes[push.positives.rows]
        pushed[push.negatives.rows] = slopes[push.negatives.rows]
        self.diagonal = p * pushed - lifted
        self.subtracted = [lifted / np.sqrt(C), pushed * np.sqrt(p / C)]

    def product(self, direction: FloatArray) -> FloatArray:
        found = self.diagonal * direction
        for vector in self.subtracted:
            found -= vector * (vector @ direction)
        return found


class _LogisticPush(_Push):
    """``C R_p`` of ``log(1 + exp(u))``: a norm of convex functions that are not negative."""

    @property
    def scale(self) -> float:
        return self.C

    def value_and_slopes(self, scores: FloatArray) -> tuple[float, FloatArray]:
        sums = self._sums(scores)
        heights = sums.at_upper((0, self.positives.share))
        norm, shares = self._norm(heights)
        on_negatives = shares * sums.at_upper((1, self.positives.share))
        on_positives = self.positives.share * sums.at_lower((1, shares))
        return self.C * norm, self._joined(-on_positives, on_negatives)

    def curvature(self, scores: FloatArray) -> Curvature:
        return _LogisticCurvature(self, scores)

    def _sums(self, scores: FloatArray) -> LogisticSums:
        return LogisticSums(scores[self.negatives.rows], scores[self.positives.rows])

    def _norm(self, heights: FloatArray) -> tuple[float, FloatArray]:
        """p-norm of the heights of the negatives, and its derivatives by them."""
        highest = float(heights.max())
        if not highest > 0.0:
            return 0.0, np.zeros_like(heights)
        powers = self.negatives.share * (heights / highest) ** (self.p - 1.0)
        mean = float(powers @ (heights / highest))
        return highest * mean ** (1.0 / self.p), powers * mean ** (1.0 / self.p - 1.0)


class _LogisticCurvature:
    """Its second derivatives, by products."""

    is_exact = False

    def __init__(self, push: _LogisticPush, scores: FloatArray) -> None:
        self._push, self._sums = push, push._sums(scores)
        own, share = self._sums, push.positives.share
        self._heights = np.maximum(own.at_upper((0, share)), np.finfo(np.float64).tiny)
        self._norm, self._shares = push._norm(self._heights)
        self._rises = own.at_upper((1, share))
        self._bend_up = self._shares * own.at_upper((2, share))
        self._bend_down = share * own.at_lower((2, self._shares))
        spread = (push.p - 1.0) * self._shares * self._rises / self._heights * self._rises
        self.diagonal = push._joined(self._bend_down, self._bend_up + spread)
        # About one mean for all, which pairs are not, but a constant adds nothing either way.
        self.subtracted = [
            self.diagonal / np.sqrt(max(self.diagonal.sum(), np.finfo(np.float64).tiny))
        ]

    def product(self, direction: FloatArray) -> FloatArray:
        push, own = self._push, self._sums
        up, down = direction[push.negatives.rows], direction[push.positives.rows]
        weighted = push.positives.share * down
        rise = self._rises * up - own.at_upper((1, weighted))
        rise = self._shares * (rise / self._heights)
        if self._norm > 0.0:
            rise -= self._shares * ((self._heights @ rise) / self._norm)
        rise *= push.p - 1.0
        on_up = (
            self._bend_up * up - self._shares * own.at_upper((2, weighted)) + self._rises * rise
        )
        on_down = self._bend_down * down
        on_down -= push.positives.share * own.at_lower((2, self._shares * up), (1, rise))
        return push._joined(on_down, on_up)


def _soft_maximum(values: FloatArray, members: _Class, p: float) -> tuple[float, FloatArray]:
    """``log(mean exp(p values)) / p`` of a class, and its derivatives by the values."""
    highest = float(values.max())
    terms = members.share * np.exp(p * (values - highest))
    total = float(terms.sum())
    return highest + np.log(total) / p, terms / total


@dataclass(frozen=True, eq=False)
class PNormPushProblem:
    """Minimise ``1 / 2 ||w||**2 + C f(R_p)``, the p-norm push of the scores X w.

    ``R_p = (mean over negatives j of (mean over positives i of l(s_j - s_i))**p)**(1/p)``, the
    means weighted. With the exponential loss l and f the objective has the logarithm of R_p, with
    the logistic loss R_p itself: so each is convex.
    """

    design: Design  # The rows X
    positive: BoolArray  # (n,): Which rows are positive; there are some of each class
    weight: FloatArray  # (n,): Positive weights of the rows
    p: float  # At least 1, finite
    C: float
    loss: Literal["exponential", "logistic"]  # The loss l of a pair

    def function(self) -> ScoreFunction:
        """The objective without the penalty, as a function of scores."""
        made = _ExponentialPush if self.loss == "exponential" else _LogisticPush
        positives, negatives = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        return made(
            _Class(positives, self.weight[positives] / self.weight[positives].sum()),
            _Class(negatives, self.weight[negatives] / self.weight[negatives].sum()),
            self.p,
            self.C,
        )


def solve_p_norm_push(
    problem: PNormPushProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> SolverResult:
    """Minimise the p-norm push of linear scores by Newton's method."""
    return minimise_with_ridge(
        problem.design,
        problem.function(),
        tol=tol,
        max_iter=max_iter,
        on_iteration=on_iteration,
    )
