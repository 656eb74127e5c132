"""Linear scores with a ridge penalty: problems, Newton's method by conjugate gradients, L-BFGS."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import scipy.linalg
import scipy.optimize
from scipy.sparse.linalg import LinearOperator, cg

from .._typing import ArrayPair, FloatArray, IntArray
from ._design import LARGEST_COPY, Coordinates, Design, column_scales, squares_about
from ._result import Certificate, SolverResult, choose_method, relative_gap

# A direction need not solve Newton's system better than the next one will change it.
FORCING = 0.1

# Steps of conjugate gradients before a factorisation of n_parameters**3 pays.
PATIENCE = 15

EPS = float(np.finfo(np.float64).eps)

# Share of a value that rounding of large scores may add.
ROUNDED = 1e-9

# Points of a line, or intercepts, that are tried at most.
MAX_TRIALS = 40

Solve = Callable[[FloatArray], FloatArray]


class Point(NamedTuple):
    """Coordinates of parameters, the scores, the objective and its gradient by the coordinates."""

    x: FloatArray
    scores: FloatArray
    value: float
    gradient: FloatArray


@dataclass(frozen=True, eq=False)
class Criterion:
    """Criterion of convergence: the suboptimality that a certificate leaves possible."""

    problem: LinearProblem
    tol: float  # Largest remainder
    # Of the objective; else the remainder is the root of a share of its decrease from 0 on.
    by_gap: bool = False

    @cached_property
    def value_at_0(self) -> float:
        return self.problem.value_and_gradient(np.zeros(self.problem.n_parameters))[0]

    def point(self, x: FloatArray, scores: FloatArray | None = None) -> Point:
        coordinates = self.problem.coordinates
        parameters = coordinates.parameters(x)
        scores = self.problem.scores(parameters) if scores is None else scores
        value, gradient = self.problem.value_and_gradient(parameters, scores)
        return Point(x, scores, value, coordinates.gradient(gradient))

    def square(self, gradient: FloatArray) -> float:
        """Squared norm of a gradient; by the penalty at least twice the suboptimality."""
        certified = self.problem.coordinates.certified
        return float(gradient @ (gradient if certified is None else certified * gradient))

    def decrease(self, point: Point) -> float:
        """Twice the decrease so far: by the values or, where rounding hides it, by convexity."""
        curved = float(point.x @ (self.problem.coordinates.penalty * point.x))
        by_slope = curved - 2.0 * float(point.gradient @ point.x)
        return max(2.0 * (self.value_at_0 - point.value), by_slope, 0.0)

    def remainder(self, point: Point, square: float | None = None) -> float:
        """Relative suboptimality, from a bound of twice its value: the squared norm if None."""
        square = self.square(point.gradient) if square is None else square
        if self.by_gap:
            is_hidden = square <= 2.0 * EPS * self.size(point)
            return 0.0 if is_hidden else float(relative_gap(point.value, point.value - square / 2))
        return float(np.sqrt(square / (square + self.decrease(point)))) if not square <= 0 else 0.0

    def is_met(self, point: Point) -> bool:
        # Weights of 0 may be within the tolerance of a gap, but have no order.
        is_nothing = self.by_gap and not point.x.any() and point.gradient.any()
        return not is_nothing and self.remainder(point) <= self.tol

    def size(self, point: Point) -> float:
        """Size of the terms of the objective, for what rounding hides."""
        return abs(point.value) + self.problem.scale

    def decrement(self, point: Point) -> float:
        """Square of the Newton decrement: about twice the suboptimality."""
        product, solve = self._difference_product(point), None
        if self.problem.rows.loss.has_hessian_product:
            product = self.hessian_product(point)
            solve = self.problem.preconditioner(point.scores)
        step, residual = np.zeros_like(point.x), -point.gradient
        preconditioned = residual if solve is None else solve(residual)
        largest_product = FORCING**2 * float(residual @ preconditioned)
        largest_square = FORCING**2 * float(residual @ residual)

        def is_done(residual: FloatArray, preconditioned: FloatArray) -> bool:
            return bool(
                residual @ preconditioned <= largest_product
                and residual @ residual <= largest_square
            )

        step, residual, _ = conjugate_gradients(
            product, is_done, step, residual, 20 * len(step) + 20, solve
        )
        preconditioned = residual if solve is None else solve(residual)
        return float(residual @ (step + preconditioned) - point.gradient @ step)

    def hessian_product(self, point: Point) -> Solve:
        """Products with the second derivatives by the coordinates."""
        problem, coordinates = self.problem, self.problem.coordinates

        def product(direction: FloatArray) -> FloatArray:
            by_parameter = problem.hessian_product(point.scores, coordinates.parameters(direction))
            return coordinates.gradient(by_parameter)

        return product

    def _difference_product(self, point: Point) -> Solve:
        def product(direction: FloatArray) -> FloatArray:
            # The cube root balances rounding and third derivatives.
            length = EPS ** (1 / 3) / (float(np.linalg.norm(direction)) or 1.0)
            ends = [self.point(point.x + sign * length * direction) for sign in (1, -1)]
            return (ends[0].gradient - ends[1].gradient) / (2.0 * length)

        return product


Report = Callable[[int, Point], None]


def newton_cg(
    criterion: Criterion, start: FloatArray, max_iter: int, report: Report
) -> tuple[Point, int]:
    """Take Newton steps until little enough of the objective remains, or rounding is all.

    Returns the last point and the number of steps.
    """
    point = criterion.point(start)
    is_slow = criterion.problem.system != "products"
    for n_iter in range(max_iter):
        if criterion.is_met(point):
            return point, n_iter
        step, is_slow = _direction(criterion, point, is_slow)
        slope = float(point.gradient @ step)
        if not slope < 0:
            return point, n_iter
        new = _search_along(criterion, point, step, slope)
        is_lower = criterion.square(new.gradient) < criterion.square(point.gradient)
        if not (is_lower or new.value < point.value):
            return point, n_iter
        point = new
        report(n_iter + 1, point)
    return point, max_iter


def _search_along(criterion: Criterion, point: Point, step: FloatArray, slope: float) -> Point:
    """Point along a step that has half of its slope.

    A greater value, but for rounding, is none: slopes alone may jump from one sign to the other.
    """
    scores = criterion.problem.scores(criterion.problem.coordinates.parameters(step))
    highest = point.value + ROUNDED * criterion.size(point)

    def at(length: float) -> tuple[Point, float]:
        trial = criterion.point(point.x + length * step, point.scores + length * scores)
        return trial, float(trial.gradient @ step)

    return search_line(at, slope, is_lower=lambda trial: trial.value <= highest)


Trial = TypeVar("Trial")


def search_line(
    at: Callable[[float], tuple[Trial, float]],
    slope: float,
    left: float = 0.5,
    is_lower: Callable[[Trial], bool] = lambda trial: True,
) -> Trial:
    """Go along a line, on which a convex function falls, until a share of its slope is left.

    ``at`` gives a point by its distance, and the slope there.
    """
    length, low, high = 1.0, (0.0, slope), (np.inf, np.inf)
    for n_trials in range(MAX_TRIALS):
        trial, new_slope = at(length)
        lower = is_lower(trial)
        if lower and abs(new_slope) <= left * abs(slope):
            break
        if lower and new_slope < 0:
            low = length, new_slope
        else:
            high = length, new_slope
        if not np.isfinite(high[0]):
            length = 2.0 * low[0]
            continue
        share = 0.5
        # Slopes that jump at a kink would move one end alone.
        if n_trials % 3 != 2 and 0.0 < high[1] < np.inf:
            share = min(max(-low[1] / (high[1] - low[1]), 0.1), 0.9)
        length = low[0] + share * (high[0] - low[0])
    return trial


def _direction(criterion: Criterion, point: Point, is_slow: bool) -> tuple[FloatArray, bool]:
    """Solve the Newton system by conjugate gradients; where that was slow, preconditioned ones."""
    problem = criterion.problem
    solve = problem.preconditioner(point.scores) if is_slow else None
    if solve is not None and problem.system == "factorised":
        return solve(-point.gradient), is_slow
    product = criterion.hessian_product(point)
    forcing = min(FORCING, criterion.remainder(point) ** (0.5 if criterion.by_gap else 1.0))
    by_gradient = (forcing * float(np.linalg.norm(point.gradient))) ** 2
    by_tolerance = 0.25 * criterion.tol**2 * criterion.decrease(point)

    def is_done(residual: FloatArray, _: FloatArray) -> bool:
        return (
            float(residual @ residual) <= by_gradient or criterion.square(residual) <= by_tolerance
        )

    step, residual = np.zeros_like(point.x), -point.gradient
    limit = 20 * len(step) + 20
    if solve is None:
        n_plain = limit if is_slow else min(limit, PATIENCE)
        step, residual, ended = conjugate_gradients(product, is_done, step, residual, n_plain)
        if ended or n_plain == limit:
            return step, is_slow
        solve = problem.preconditioner(point.scores)
    step, _, _ = conjugate_gradients(product, is_done, step, residual, limit, solve)
    return step, True


def conjugate_gradients(
    product: Solve,
    is_done: Callable[[FloatArray, FloatArray], bool],
    step: FloatArray,
    residual: FloatArray,
    limit: int,
    solve: Solve | None = None,
) -> tuple[FloatArray, FloatArray, bool]:
    """Solve a positive semidefinite system from a step on.

    Returns the step, its residual, and whether no more is to be done.
    """
    preconditioned = residual if solve is None else solve(residual)
    direction = preconditioned.copy()
    square = float(residual @ preconditioned)
    for _ in range(limit):
        by_direction = product(direction)
        curvature = float(direction @ by_direction)
        if not curvature > 1e-15 * float(direction @ direction):
            # No curvature in this direction: the step so far, else the gradient.
            return (step if step.any() else residual), residual, True
        length = square / curvature
        if not np.isfinite(length):
            return step, residual, True
        step = step + length * direction
        residual = residual - length * by_direction
        preconditioned = residual if solve is None else solve(residual)
        if is_done(residual, preconditioned):
            return step, residual, True
        new_square = float(residual @ preconditioned)
        direction = preconditioned + new_square / square * direction
        square = new_square
    return step, residual, False


# Number of parameters up to which a matrix of them is factorised.
LARGEST_FACTOR = 1000

# Half the distance of the intercepts between which the curvature of a loss is taken: losses with a
# margin may have none at a point.
STEP = 0.5


class Quadratic(NamedTuple):
    """A convex quadratic function ``p' A p / 2 - c' p`` of the parameters p."""

    curvature: FloatArray  # (n_parameters, n_parameters): A, positive semidefinite
    slope: FloatArray  # (n_parameters,): The vector c


# What the problems below sum over the items of a part, given their scores.


def _scores_of(items: Design, parameters: FloatArray) -> FloatArray:
    n_features = items.shape[1]
    if not parameters.any():
        return np.zeros(items.shape[0])
    scores = items.scores(parameters[:n_features])
    return scores if len(parameters) == n_features else scores + parameters[-1]


def _pull_back(items: Design, by_score: FloatArray, n_parameters: int) -> FloatArray:
    by_feature = items.pull_back(by_score)
    if n_parameters == len(by_feature):
        return by_feature
    return np.append(by_feature, by_score.sum())


def _count_and_sum(items: Design, loss: Any) -> tuple[float, FloatArray]:
    n_rows = items.shape[0]
    return float(n_rows), items.pull_back(np.ones(n_rows))


def _loss_and_gradient(
    items: Design, loss: Any, scores: FloatArray, n_parameters: int
) -> tuple[float, FloatArray]:
    values, by_score = loss.value_and_gradient(scores)
    return float(np.sum(values)), _pull_back(items, by_score, n_parameters)


def _loss_product(
    items: Design, loss: Any, scores: FloatArray, direction: FloatArray
) -> tuple[FloatArray]:
    by_score = loss.hessian_product(scores, _scores_of(items, direction))
    return (_pull_back(items, by_score, len(direction)),)


def _loss_curvature(
    items: Design, loss: Any, scores: FloatArray, n_parameters: int
) -> tuple[FloatArray]:
    """Second derivatives by the parameters by the parts of those by the scores that are known."""
    weight, subtracted = loss.diagonal(scores)
    n_features = items.shape[1]
    columns = np.column_stack([*subtracted, weight])
    gram, sums = items.gram_and_sums(weight, columns)
    if n_parameters > n_features:
        sums = np.vstack((sums, columns.sum(axis=0)))
    matrix = np.empty((n_parameters, n_parameters))
    matrix[:n_features, :n_features] = gram
    if n_parameters > n_features:
        matrix[-1] = matrix[:, -1] = sums[:, -1]
    return (matrix - sums[:, :-1] @ sums[:, :-1].T,)


class Parts:
    """Rows in parts of whole lists, with the loss of the scores of each; see :class:`OnePart`.

    A loss says whether it ``is_convex``, and whether it ``has_hessian_product`` and
    ``has_curvature``. It has ``value_and_gradient(score)``, with the value or that of each list,
    and these: ``hessian_product(score, direction)``, and ``diagonal(score)``, the diagonal of the
    second derivatives, less outer products of vectors.
    """

    loss: Any  # The loss, or its properties
    n_features: Any

    @abstractmethod
    def on(self, make: Callable[..., Any], loss: Any, /) -> Parts:
        """The same rows with ``make(lists, ...)``, made once for each part, as its loss."""

    @abstractmethod
    def _sum(self, function: Callable[..., tuple[Any, ...]], arguments: tuple[Any, ...]) -> Any:
        """Sum ``function(items, loss, *arguments)`` over the parts, in one pass over the rows."""

    def scores(self, parameters: FloatArray) -> FloatArray:
        """What the scores of a part come from, a linear function of the parameters."""
        return parameters

    def total(
        self, function: Callable[..., tuple[Any, ...]], /, *arguments: Any, at: Any = None
    ) -> Any:
        """Sum a function of items, loss and arguments over the parts.

        With ``at``, from :meth:`scores`, the first of the arguments are the scores of the items.
        """
        if at is not None:
            function = partial(_at_parameters, function, at)
        return self._sum(function, arguments)


def _at_parameters(
    function: Callable[..., Any], parameters: FloatArray, items: Design, loss: Any, *arguments: Any
) -> Any:
    return function(items, loss, _scores_of(items, parameters), *arguments)


@dataclass(frozen=True, eq=False)
class OnePart(Parts):
    """All rows as one part, with their lists if the loss is one of lists."""

    items: Any  # Design, or what a function in ``total`` takes
    loss: Any = None
    lists: Any = None
    n_threads: int = 1  # Number of threads of the loss

    @property
    def n_features(self) -> int:
        return int(self.items.shape[1])

    def on(self, make: Callable[..., Any], loss: Any) -> OnePart:
        return replace(self, loss=make(self.lists, self.n_threads))

    def scores(self, parameters: FloatArray) -> FloatArray:
        return _scores_of(self.items, parameters)

    def total(self, function: Callable[..., Any], /, *arguments: Any, at: Any = None) -> Any:
        return self._sum(function, arguments if at is None else (at, *arguments))

    def _sum(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return function(self.items, self.loss, *arguments)


@dataclass(frozen=True, eq=False)
class LinearProblem:
    """Minimise ``factor sum(loss(X w + b)) + sum(alpha w**2) / 2`` over w and b, convex.

    For rows in several parts each evaluation, or product with second derivatives, is one pass.
    """

    rows: Parts  # The rows X, with the loss of their scores
    alpha: float | FloatArray  # Penalty of all coefficients or of each, at least 0
    fit_intercept: bool = False  # Whether there is b, which is not penalised; else it is 0
    quadratic: Quadratic | None = None  # A function of the parameters that is added
    curvatures: FloatArray | None = None
    factor: float = 1.0  # Factor of the loss, greater than 0
    scale: float = 0.0  # Size of the terms of the loss, where they may cancel
    # Newton's systems by products first, or preconditioned at once, or by their exact factors.
    system: Literal["products", "preconditioned", "factorised"] = "products"

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    def scores(self, parameters: FloatArray) -> FloatArray:
        """Scores at parameters, or what they come from; linear in the parameters."""
        return self.rows.scores(parameters)

    def value_and_gradient(
        self, parameters: FloatArray, scores: FloatArray | None = None
    ) -> tuple[float, FloatArray]:
        scores = self.scores(parameters) if scores is None else scores
        value, gradient = self.loss_and_gradient(scores)
        penalty = self.penalty_product(parameters)
        value, gradient = value + 0.5 * float(penalty @ parameters), gradient + penalty
        if self.quadratic is None:
            return value, gradient
        slope = self.quadratic.slope
        return value - float(slope @ parameters), gradient - slope

    def hessian_product(self, scores: FloatArray, direction: FloatArray) -> FloatArray:
        return self.loss_product(scores, direction) + self.penalty_product(direction)

    def lower_bound(self, parameters: FloatArray, value: float, gradient: FloatArray) -> float:
        """Bound the minimum from below; NaN for none.

        The minimum over the intercepts alone is a strongly convex function of the coefficients.
        """
        alpha = np.broadcast_to(self.alpha, self.n_features)[: self.n_penalised]
        if not np.all(alpha > 0):
            return float("nan")
        if self.fit_intercept:
            best = self.with_best_intercepts(parameters, value, gradient)
            if best is None:
                return float("nan")
            value, gradient = best
        by_coef = self.by_coefficient(gradient)
        return value - 0.5 * float(by_coef @ (by_coef / alpha))

    def _sum(self, function: Callable[..., Any], scores: FloatArray, argument: Any) -> Any:
        sums = self.rows.total(function, argument, at=scores)
        return tuple(self.factor * value for value in sums)

    @property
    def n_parameters(self) -> int:
        return self.n_features + self.fit_intercept

    @property
    def n_penalised(self) -> int:
        return self.n_features

    @cached_property
    def coordinates(self) -> Coordinates:
        """With an intercept, features are taken about their means."""
        origin, curvature = None, 1.0
        curvatures = np.zeros(self.n_features) if self.curvatures is None else self.curvatures
        if self.fit_intercept:
            n_rows, sums = self.rows.total(_count_and_sum)
            origin, variances = sums / n_rows, np.zeros(self.n_features)
            if self.system == "products":
                variances = self.rows.total(squares_about, origin)[0] / n_rows
            below, above = (
                self.loss_and_gradient(self.scores(np.append(0.0 * origin, intercept)))[1][-1]
                for intercept in (-STEP, STEP)
            )
            curvature = max((above - below) / (2 * STEP), 0.0) or 1.0
            curvatures = curvature * variances
        squares = np.append(curvatures + self.alpha, [curvature] * self.fit_intercept)
        if self.quadratic is not None:
            plain = Coordinates(np.ones(self.n_parameters), np.zeros(0), origin)
            squares += np.maximum(np.diag(plain.matrix(self.quadratic.curvature)), 0.0)
        scale = np.ones(len(squares))
        if self.curvatures is not None or self.fit_intercept:
            scale = np.sqrt(np.where(squares > 0, squares, 1.0))
        penalty = np.zeros(self.n_parameters)
        penalty[: self.n_features] = self.alpha / scale[: self.n_features] ** 2
        return Coordinates(scale, penalty, origin)

    def split(self, parameters: FloatArray) -> tuple[FloatArray, Any]:
        intercept = float(parameters[-1]) if self.fit_intercept else 0.0
        return parameters[: self.n_features], intercept

    def with_best_intercepts(
        self, parameters: FloatArray, value: float, gradient: FloatArray
    ) -> tuple[float, FloatArray] | None:
        """Minimise over the intercepts; the least value that is left, and the gradient, if any."""
        curvature = float(self.coordinates.scale[-1] ** 2)
        for _ in range(MAX_TRIALS):
            slope = float(gradient[-1])
            new = parameters.copy()
            new[-1] -= slope / curvature
            # A step that rounding of the intercept hides is none.
            if slope * slope <= EPS * abs(value) * curvature or new[-1] == parameters[-1]:
                return value - slope * slope / curvature, gradient
            if not np.isfinite(new[-1]):
                return None
            value, gradient = self.value_and_gradient(new)
            change = float(gradient[-1]) - slope
            # The secant between two points has the curvature of a convex function there.
            curvature = max(change / (new[-1] - parameters[-1]), 1e-3 * curvature)
            parameters = new
        return None

    def by_coefficient(self, gradient: FloatArray) -> FloatArray:
        """Derivatives by the coefficients at the best intercepts."""
        # At the best intercept, that about the mean row is the same and has less rounding.
        coordinates = self.coordinates
        return (coordinates.gradient(gradient) * coordinates.scale)[: self.n_features]

    def loss_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        return self._sum(_loss_and_gradient, scores, self.n_parameters)

    def loss_product(self, scores: FloatArray, direction: FloatArray) -> FloatArray:
        """Product of the second derivatives of the loss with a direction of the parameters."""
        return self._sum(_loss_product, scores, direction)[0]

    def preconditioner(self, scores: FloatArray) -> Solve | None:
        """Solver, in coordinates, of the system with the known part of the Hessian."""
        if self.n_parameters > LARGEST_FACTOR or not self.rows.loss.has_curvature:
            return None
        (matrix,) = self._sum(_loss_curvature, scores, self.n_parameters)
        if self.quadratic is not None:
            matrix += self.quadratic.curvature
        np.einsum("ii->i", matrix)[: self.n_features] += self.alpha
        matrix = self.coordinates.matrix(matrix)
        diagonal = np.einsum("ii->i", matrix)
        diagonal += 1e-12 * diagonal + np.finfo(np.float64).tiny
        return cholesky_solver(matrix)

    def penalty_product(self, direction: FloatArray) -> FloatArray:
        """Product of the second derivatives of all but the loss with a direction."""
        product = np.zeros_like(direction)
        product[: self.n_features] = self.alpha * direction[: self.n_features]
        return (
            product if self.quadratic is None else product + self.quadratic.curvature @ direction
        )


def cholesky_solver(matrix: FloatArray) -> Solve | None:
    """Solver of a matrix, or one a little larger where rounding has made it indefinite."""
    diagonal = np.einsum("ii->i", matrix)
    added = EPS * diagonal
    while True:
        try:
            factor = scipy.linalg.cholesky(matrix, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            if not np.isfinite(added).all() or not added.any():
                return None
            diagonal += added
            added = 100.0 * added
        else:
            return partial(scipy.linalg.cho_solve, (factor, True), check_finite=False)


# How much rows may add to a system, relative to it, that are left out where rows are what costs.
NEGLIGIBLE = 1e-3


# Operations that a matrix of the features may take more, for it keeps more digits.
ALLOWANCE = 1e8


def flops_of_system(n: int, forming: float) -> float:
    """Operations that form and factorise a matrix; infinitely many where it is too large."""
    return forming + n**3 / 3 if 8 * n**2 <= LARGEST_COPY else np.inf


def row_system(
    rows: Design, weight: FloatArray, by_row: FloatArray | None = None
) -> tuple[Solve, FloatArray]:
    """Solver of ``I + X' diag(weight) X`` for columns of (n_features, k), and sums of the rows.

    It factorises a matrix of the features or of the rows, whichever takes fewer operations; the
    latter without rows that add little to the identity.
    """
    n_rows, n = rows.shape
    by_row = np.empty((n_rows, 0)) if by_row is None else by_row
    index = np.flatnonzero(n_rows * weight * rows.squares > NEGLIGIBLE)
    by_features = flops_of_system(n, n_rows * n**2)
    by_rows = flops_of_system(len(index), float(len(index)) ** 2 * n)
    if by_features <= by_rows + ALLOWANCE and by_features < np.inf:
        matrix, sums = rows.gram_and_sums(weight, by_row)
        matrix[np.diag_indices_from(matrix)] += 1.0
        return _factorised(matrix), sums
    sums = rows.pull_back(by_row)
    if by_rows < np.inf:
        root = np.sqrt(weight[index])[:, np.newaxis]
        matrix = rows.row_gram(index)
        matrix *= root
        matrix *= root.T
        matrix[np.diag_indices_from(matrix)] += 1.0
        solve, is_few = _factorised(matrix), 2 * len(index) < len(weight)
        used, place = (rows.rows(index), slice(None)) if is_few else (rows, index)

        def solve_by_rows(right: FloatArray) -> FloatArray:
            by_used = np.zeros((used.shape[0], right.shape[1]))
            by_used[place] = root * solve(root * used.scores(right)[place])
            return right - used.pull_back(by_used)

        return solve_by_rows, sums

    def product(vector: FloatArray) -> FloatArray:
        return vector + rows.pull_back(weight * rows.scores(vector))

    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)

    def solve_by_products(right: FloatArray) -> FloatArray:
        columns = [cg(operator, column, rtol=1e-10, maxiter=10 * n + 100)[0] for column in right.T]
        return np.column_stack(columns)

    return solve_by_products, sums


def _factorised(matrix: FloatArray) -> Solve:
    solve = cholesky_solver(matrix)
    if solve is None:
        raise np.linalg.LinAlgError("The matrix has no finite factor.")
    return solve


def quadratic_expansion(problem: LinearProblem, parameters: FloatArray) -> Quadratic:
    """Second-order expansion of the sum of losses, without penalty and other terms."""
    plain = replace(problem, alpha=0.0, quadratic=None)
    scores = plain.scores(parameters)
    units = np.eye(plain.n_parameters)
    curvature = np.stack([plain.hessian_product(scores, unit) for unit in units])
    curvature = 0.5 * (curvature + curvature.T)
    slope = curvature @ parameters - plain.value_and_gradient(parameters)[1]
    return Quadratic(curvature, slope)


class LabelledRows:
    """Items that are a row with one of the labels: products of the rows, and what is gathered.

    Coefficients are the entries of W row by row, then ``b + W' m``, the scores of the mean row m:
    features of any mean are as good as centred ones, and sparse rows stay sparse.
    """

    def __init__(
        self,
        rows: Any,
        n_labels: int,
        fit_intercept: bool = True,
        entries: IntArray | None = None,
        row_weight: FloatArray | None = None,
    ) -> None:
        n_rows, self.n_features = rows.shape
        self.design, self.n_labels, self.fit_intercept = rows, n_labels, fit_intercept
        self.entries = entries  # Of the items among all rows with all labels; None are all
        weight = np.ones(n_rows) if row_weight is None else row_weight
        self.share = weight / weight.sum()
        self.mean = rows.pull_back(self.share) if fit_intercept else np.zeros(self.n_features)
        n_items = n_rows * n_labels if entries is None else len(entries)
        self.shape = n_items, (self.n_features + fit_intercept) * n_labels

    def scores(self, coef: FloatArray) -> FloatArray:
        matrix = coef.reshape(-1, self.n_labels)
        scores = self.design.scores(matrix[: self.n_features])
        if self.fit_intercept:
            scores += matrix[-1] - self.mean @ matrix[: self.n_features]
        return np.asarray(scores.ravel()[... if self.entries is None else self.entries])

    def by_row(self, by_item: FloatArray) -> FloatArray:
        """Values of items as a matrix, 0 where there is none."""
        shape = len(self.share), self.n_labels
        if self.entries is None:
            return by_item.reshape(shape)
        by_row = np.zeros(shape)
        by_row.ravel()[self.entries] = by_item
        return by_row

    def pull_back(self, by_row: FloatArray) -> FloatArray:
        matrix = self.by_row(by_row)
        by_feature = self.design.pull_back(matrix)
        if not self.fit_intercept:
            return by_feature.ravel()
        totals = matrix.sum(axis=0)
        return np.vstack((by_feature - np.outer(self.mean, totals), totals)).ravel()


def label_problem(
    rows: LabelledRows, loss: Any, alpha: float, shifted: IntArray | None = None
) -> LabelProblem:
    """Minimise ``loss(X W + 1 b') + alpha / 2 ||W||**2`` over W and b, one column for each label.

    ``shifted`` numbers the groups of labels whose scores may be shifted together.
    """
    penalty = np.zeros(rows.shape[1])
    penalty[: rows.n_features * rows.n_labels] = alpha
    return LabelProblem(OnePart(rows, loss), penalty, rows.fit_intercept, shifted=shifted)


@dataclass(frozen=True, eq=False)
class LabelProblem(LinearProblem):
    """The linear problem of the items of :class:`LabelledRows`, made by :func:`label_problem`."""

    rows: OnePart
    shifted: IntArray | None = None
    # The preconditioner costs less than a few products.
    system: Literal["products", "preconditioned", "factorised"] = "preconditioned"

    @property
    def items(self) -> Any:
        return self.rows.items

    @property
    def n_parameters(self) -> int:
        return self.n_features

    @property
    def n_penalised(self) -> int:
        return int(self.items.n_features * self.items.n_labels)

    @cached_property
    def _variances(self) -> FloatArray:
        """Second moments of the features about the mean row."""
        items = self.items
        variances = column_scales(items.design, items.share) ** 2
        if items.fit_intercept:
            return variances
        return variances + items.design.pull_back(items.share) ** 2

    @cached_property
    def _mean_curvature(self) -> float:
        """Mean second derivative of the loss by the shift of the scores of a label."""
        n_items = self.items.shape[0]
        direction = np.where(np.random.default_rng(0).random(n_items) < 0.5, -STEP, STEP)
        above = self.rows.loss.value_and_gradient(direction)[1]
        below = self.rows.loss.value_and_gradient(-direction)[1]
        curvature = float(direction @ (above - below)) / (2 * STEP**2) / self.items.n_labels
        return curvature if 0.0 < curvature < np.inf else 1.0

    @cached_property
    def coordinates(self) -> Coordinates:
        n_labels = self.items.n_labels
        penalty = np.asarray(self.alpha)[::n_labels]
        squares = np.full(len(penalty), self._mean_curvature)
        squares[: self.items.n_features] *= self._variances
        squares += penalty
        scale = np.sqrt(np.where(squares > 0, squares, 1.0))
        return Coordinates(np.repeat(scale, n_labels), np.repeat(penalty / scale**2, n_labels))

    @cached_property
    def _moments(self) -> ArrayPair:
        """What diagonalises moments of the features and the penalty together, in coordinates.

        The vectors turn their sum into 1, and the penalty into the values.
        """
        items, part = self.items, slice(None, self.n_penalised, self.items.n_labels)
        scale, penalty = self.coordinates.scale[part], self.coordinates.penalty[part]
        mean, variances = items.mean, self._variances
        matrix = items.design.gram(items.share) - np.outer(mean, mean)
        # Where the mean is so large that rounding of it would be a moment, features count alone.
        rounded = 1e-13 * mean**2 > variances
        matrix[rounded] = matrix[:, rounded] = 0.0
        np.einsum("ii->i", matrix)[:] = variances
        matrix *= self._mean_curvature / np.outer(scale, scale)
        np.einsum("ii->i", matrix)[:] += penalty + 1e-12
        values, vectors = scipy.linalg.eigh(np.diag(penalty), matrix, check_finite=False)
        return np.clip(values, 0.0, 1.0), vectors

    def parameters(self, coef: FloatArray, intercept: FloatArray) -> FloatArray:
        """Make parameters of coefficients and intercepts; see :meth:`split`."""
        if not self.fit_intercept:
            return coef.T.ravel()
        return np.vstack((coef.T, intercept + coef @ self.items.mean)).ravel()

    def split(self, parameters: FloatArray) -> ArrayPair:
        items = self.items
        matrix = self._centre(parameters.reshape(-1, items.n_labels))
        coef = np.ascontiguousarray(matrix[: items.n_features].T)
        if not items.fit_intercept:
            return coef, np.zeros(items.n_labels)
        return coef, matrix[-1] - coef @ items.mean

    def preconditioner(self, scores: FloatArray) -> Solve | None:
        """Solver of the system in which all rows have the mean second derivatives by the scores.

        It is the Kronecker product of those with the moments of the features.
        """
        items = self.items
        if items.n_features > LARGEST_FACTOR:
            return None
        curvatures, labels = scipy.linalg.eigh(self._mean_hessian(scores), check_finite=False)
        if not curvatures[-1] > 0:
            return None
        # Gradients along directions without curvature are rounding.
        is_curved = curvatures > ROUNDED * curvatures[-1]
        curvatures = np.where(is_curved, curvatures, curvatures[-1]) / self._mean_curvature
        of_penalty, features = self._moments
        of_penalty = of_penalty[:, np.newaxis]
        system = (1.0 - of_penalty) * curvatures + of_penalty

        def solve(residual: FloatArray) -> FloatArray:
            solution = residual.reshape(-1, items.n_labels) @ labels
            coef = solution[: items.n_features]
            coef[:] = features @ (features.T @ coef / system)
            if items.fit_intercept:
                solution[-1] /= curvatures
            return (solution @ labels.T).ravel()

        return solve

    def with_best_intercepts(
        self, parameters: FloatArray, value: float, gradient: FloatArray
    ) -> tuple[float, FloatArray] | None:
        if not self.rows.loss.has_hessian_product:
            return None
        inverse = scipy.linalg.pinvh(self._mean_hessian(self.scores(parameters)))
        parameters, of_intercepts = parameters.copy(), slice(self.n_penalised, None)
        for _ in range(MAX_TRIALS):
            step = inverse @ gradient[of_intercepts]
            decrease = float(step @ gradient[of_intercepts])
            if decrease <= EPS * abs(value):
                return value - decrease, gradient
            parameters[of_intercepts] -= step
            new_value, gradient = self.value_and_gradient(parameters)
            if not new_value <= value + ROUNDED * abs(value):
                return None
            value = new_value
        return None

    def by_coefficient(self, gradient: FloatArray) -> FloatArray:
        return gradient[: self.n_penalised]

    def _mean_hessian(self, scores: FloatArray) -> FloatArray:
        """Second derivatives of the loss by shifts of the scores of each label, approximately.

        Only the diagonal is computed. Where rows of the matrix sum to 0, it stands for equal
        entries off the diagonal.
        """
        diagonal = np.full(self.items.n_labels, self._mean_curvature)
        if self.rows.loss.has_curvature:
            diagonal = self.items.by_row(self.rows.loss.curvature(scores)).sum(axis=0)
        if self.shifted is not None:
            n_shifted = np.bincount(self.shifted)[self.shifted]
            diagonal *= n_shifted / np.maximum(n_shifted - 1, 1)
        return self._centre(self._centre(np.diag(diagonal)).T)

    def _centre(self, matrix: FloatArray) -> FloatArray:
        """Take the mean over labels of one number from each row."""
        if self.shifted is None:
            return matrix
        member = (self.shifted == np.unique(self.shifted)[:, np.newaxis]).astype(np.float64)
        means = (matrix @ member.T) / member.sum(axis=1)
        return matrix - means @ member


def solve_linear(
    problem: LinearProblem,
    *,
    method: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 200,
    start: FloatArray | None = None,
    by_gap: bool = False,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> SolverResult:
    """Minimise a smooth convex loss of linear scores with a ridge penalty.

    It ends where little of the decrease of the objective remains or, ``by_gap``, of the objective.
    """
    solve = _lbfgs if choose_method(problem.rows.loss, method) == "lbfgs" else newton_cg
    criterion = Criterion(problem, tol, by_gap)
    coordinates = problem.coordinates
    start = np.zeros(problem.n_parameters) if start is None else np.array(start, dtype=np.float64)

    def report(n_more: int, point: Point) -> None:
        if on_iteration is not None:
            on_iteration(n_iter + n_more, point.value, criterion.remainder(point))

    inner_tol, n_iter, x, last_remainder = tol, 0, coordinates.of(start), np.inf
    while True:
        inner = Criterion(problem, inner_tol, by_gap)
        point, n_more = solve(inner, x, max_iter - n_iter, report)
        n_iter, x = n_iter + n_more, point.x
        parameters = coordinates.parameters(x) if n_iter else start
        if by_gap:
            value, remainder = point.value, criterion.remainder(point)
            bound = value if remainder == 0.0 else value - 0.5 * criterion.square(point.gradient)
            break
        # Scores that were added up step by step are rounded more than those made anew.
        value, gradient = problem.value_and_gradient(parameters)
        point = Point(x, point.scores, value, coordinates.gradient(gradient))
        bound = problem.lower_bound(parameters, value, gradient)
        remainder = criterion.remainder(point)
        if not coordinates.penalty.all():
            # The intercept was counted with its curvature at 0.
            remainder = max(criterion.remainder(point, 2.0 * (value - bound)), remainder)
        if not remainder <= tol:
            # The bound by the penalty alone is loose where the loss has much more curvature.
            by_hessian = criterion.remainder(point, criterion.decrement(point))
            remainder = float(np.fmin(remainder, by_hessian))
        if remainder <= tol or n_iter >= max_iter or not remainder < 0.5 * last_remainder:
            break
        last_remainder = remainder
        # What steps go by was less than what is certain.
        inner_tol = 0.5 * inner_tol * min(tol / remainder, 0.2)
    norm = float("nan") if by_gap else remainder
    certificate = Certificate(value, bound, norm, n_iter, bool(remainder <= tol))
    coef, intercept = problem.split(parameters)
    return SolverResult(coef, certificate, intercept, parameters)


def _lbfgs(
    criterion: Criterion, start: FloatArray, max_iter: int, report: Report
) -> tuple[Point, int]:
    n_iter = 0
    last = point = criterion.point(start)
    if criterion.is_met(point):
        return point, 0

    def evaluate(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal last
        last = criterion.point(x.copy())
        return last.value, last.gradient

    def end_of_iteration(intermediate_result: Any) -> None:
        nonlocal n_iter, point
        n_iter += 1
        # An iteration ends with the evaluation where it leads.
        point = last
        report(n_iter, point)
        if criterion.is_met(point):
            raise StopIteration

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": 0.0, "ftol": 0.0, "maxls": 50}
    scipy.optimize.minimize(
        evaluate, start, jac=True, method="L-BFGS-B", callback=end_of_iteration, options=options
    )
    if criterion.problem.rows.loss.has_hessian_product and n_iter < max_iter:
        # Where rounding of the values ends it, gradients are more accurate.
        point, n_more = newton_cg(
            criterion, point.x, max_iter - n_iter, lambda k, point: report(n_iter + k, point)
        )
        return point, n_iter + n_more
    return point, n_iter


# By which factor the curved part of the hinge shrinks from one problem to the next.
SHRINKAGE = 0.25

# Tolerance of a rounded problem, as a share of the root of its relative width.
INNER = 0.03


class SmoothedHinge:
    """Hinge whose kink is a parabola of a width: a difference of two squared hinges.

    With the hinges at the margin, and at the margin less the width.
    """

    is_convex = has_hessian_product = has_curvature = True

    def __init__(self, makers: Any, margin: float, width: float, *lists: Any) -> None:
        self.hinges, (self.outer, self.inner) = (
            [make(one, *lists) for one in (margin, margin - width)] for make in makers
        )
        self.factor = 1 / (2 * width)

    def value_and_gradient(self, score: FloatArray) -> ArrayPair:
        values, gradient = self.outer.value_and_gradient(score)
        inner_values, inner_gradient = self.inner.value_and_gradient(score)
        return self.factor * (values - inner_values), self.factor * (gradient - inner_gradient)

    def hessian_product(self, score: FloatArray, direction: FloatArray) -> FloatArray:
        outer = self.outer.hessian_product(score, direction)
        return self.factor * (outer - self.inner.hessian_product(score, direction))

    def diagonal(self, score: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        outer, inner = self.outer.diagonal(score)[0], self.inner.diagonal(score)[0]
        return np.maximum(self.factor * (outer - inner), 0.0), []


def solve_linear_hinge(
    problem: LinearProblem,
    *,
    hinges: tuple[Callable[..., Any], ...],
    margin: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
    start: FloatArray | None = None,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> SolverResult:
    """Minimise a hinge of pairs of linear scores, in place of the loss of a problem.

    It is ``max(0, margin - d)`` of differences d of scores; the hinge and its square take a margin
    and the lists of a part. Its kink is rounded off, ever less; the slopes of the pairs are a
    point of the dual problem.
    """
    w = np.zeros(problem.n_features) if start is None else np.array(start, dtype=np.float64)
    width = margin / 2
    best_w, best, bound, gap = w, np.inf, 0.0, np.inf
    n_iter = 0
    while n_iter < max_iter and width > ROUNDED * margin:
        make = partial(SmoothedHinge, hinges, margin, width)
        rows = problem.rows.on(make, SmoothedHinge)
        smooth = replace(problem, rows=rows)
        # Of the objective, which is far less than at 0 where the scores separate the pairs.
        at_0 = Criterion(smooth, tol).value_at_0
        left = min(1.0, best / at_0) if at_0 > 0 else 1.0
        solution = solve_linear(
            smooth,
            # A small part of the gap comes from here, the rest from the width.
            tol=INNER * float(np.sqrt(left * width / margin)),
            max_iter=max_iter - n_iter,
            start=w,
        )
        n_iter += max(1, solution.certificate.n_iter)
        w = solution.coef
        sums = rows.total(_hinge_sums, at=rows.scores(w))
        value, inner, gradient = (problem.factor * total for total in sums)
        # What rounding of the difference may have added is no slope.
        slopes = (value - inner - 16 * EPS * (value + inner)) / width
        # Pairs that differ by the margin less the width cost nothing at longer weights.
        for length, total in ((1.0, value), (margin / (margin - width), inner)):
            objective = float(length * total + 0.5 * length**2 * (w @ problem.penalty_product(w)))
            if objective < best:
                best_w, best = length * w, objective
        # Without a penalty there is no bound but 0.
        with np.errstate(divide="ignore"):
            square = float(np.sum(gradient**2 / problem.alpha, where=gradient != 0))
        # Slopes times any share of them are a point of the dual problem: the best one.
        share = float(np.clip(margin * slopes / square, 0.0, 1.0)) if square > 0 else 1.0
        lower_bound = float(share * (margin * slopes - 0.5 * share * square)) if share else 0.0
        # No bound where the scores have no digits left.
        if lower_bound <= best * (1 + ROUNDED):
            bound = max(bound, lower_bound)
        gap = float(relative_gap(best, bound))
        if on_iteration is not None:
            on_iteration(n_iter, best, gap)
        if gap <= tol:
            break
        width *= SHRINKAGE
    certificate = Certificate(best, bound, n_iter=n_iter, converged=bool(gap <= tol))
    return SolverResult(best_w, certificate, parameters=best_w)


def _hinge_sums(
    items: Design, loss: SmoothedHinge, scores: FloatArray
) -> tuple[float, float, FloatArray]:
    """Sums over items from which the bounds are."""
    exact, inner = (float(x.value_and_gradient(scores)[0].sum()) for x in loss.hinges)
    return exact, inner, items.pull_back(loss.value_and_gradient(scores)[1])
