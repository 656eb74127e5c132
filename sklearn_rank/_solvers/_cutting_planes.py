"""Cutting-plane method for a convex function of the scores with a ridge penalty."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from .._typing import FloatArray, IntArray
from ._result import Certificate, SolverResult, relative_gap

# Curvature, relative to the largest, that is rounding.
FLAT = 1e-13

# Steps without a smaller value after which rounding is all that is left.
MOST_IDLE_STEPS = 30


def best_shares(
    gram: FloatArray, offsets: FloatArray, start: FloatArray, accuracy: float
) -> FloatArray:
    """Minimise ``b'Qb / 2 - offsets.b`` over shares b >= 0 of sum 1, by an active set."""
    # Those that are active may be badly weighed, since the matrix may have had another factor.
    shares, active = _minimise_active(gram, offsets, start, np.flatnonzero(start > 0))
    lowest, best, n_idle = np.inf, shares, 0
    for _ in range(50 * len(offsets) + 100):
        slope = gram[:, active] @ shares[active] - offsets
        value = float(shares[active] @ (slope - offsets)[active]) / 2
        n_idle = 0 if value < lowest else n_idle + 1
        if value < lowest:
            lowest, best = value, shares
        elif n_idle >= MOST_IDLE_STEPS:
            # Where the matrix has lost digits, planes may enter and leave in turn.
            return best
        entering = int(np.argmin(slope))
        gap = shares[active] @ slope[active] - slope[entering]
        if gap <= accuracy or entering in active:
            break
        last_shares = shares
        shares, active = _minimise_active(gram, offsets, shares, np.append(active, entering))
        if np.array_equal(last_shares, shares):
            break
    return shares


def _minimise_active(
    gram: FloatArray, offsets: FloatArray, shares: FloatArray, active: IntArray
) -> tuple[FloatArray, IntArray]:
    """Minimise over the active planes; those whose shares would be negative leave."""
    shares = shares.copy()
    while len(active) > 1:
        step = _step(gram[np.ix_(active, active)], offsets[active], shares[active])
        values = shares[active]
        falling = step < 0
        reach = np.full(len(values), np.inf)
        reach[falling] = values[falling] / -step[falling]
        nearest = int(np.argmin(reach))
        if reach[nearest] >= 1.0:
            values = values + step
            shares[active] = values / values.sum()
            break
        values = np.maximum(values + reach[nearest] * step, 0.0)
        values[nearest] = 0.0
        shares[active] = values / values.sum()
        active = active[shares[active] > 0]
    else:
        shares[active] = 1.0
    return shares, active[shares[active] > 0]


def _step(gram: FloatArray, offsets: FloatArray, shares: FloatArray) -> FloatArray:
    """Newton step within the plane of sum 1; far along where the problem is flat and falling."""
    base = int(np.argmax(shares))
    rest = np.delete(np.arange(len(shares)), base)
    slope = gram @ shares - offsets
    slope = slope[rest] - slope[base]
    side = gram[rest, base]
    curvature = gram[np.ix_(rest, rest)] - side - side[:, np.newaxis] + gram[base, base]
    try:
        factor = cho_factor(curvature, lower=True, check_finite=False)
        if (np.diag(factor[0]) ** 2).min() <= FLAT * gram.diagonal().max():
            raise np.linalg.LinAlgError
        step = -cho_solve(factor, slope, check_finite=False)
    except np.linalg.LinAlgError:
        values, vectors = eigh(curvature, check_finite=False)
        parts = vectors.T @ slope
        flat = values <= FLAT * gram.diagonal().max() * len(shares)
        falling = np.abs(parts) * flat
        if falling.max() > 1e-12 * max(np.abs(slope).max(), 1e-300):
            step = -vectors @ (parts * flat)
            step *= 1e6 / np.abs(step).max()
        else:
            step = -vectors @ np.where(flat, 0.0, parts / np.where(flat, 1.0, values))
    full = np.empty(len(shares))
    full[rest] = step
    full[base] = -step.sum()
    return full


# Factor from one cost to the next on the way to C, and the relative gap that is asked for there.
RISE = 4.0
TOL_ON_THE_WAY = 0.03

# The tangent that is added touches between the best point and the model's, this share of the way.
STEP_FOR_TANGENT = 0.05

# Most values along one line, and the share of the gap to which its minimum is found.
MOST_ON_LINE = 12
ACCURACY_ON_LINE = 0.01

# The share of the gap to which the model is minimised.
ACCURACY_OF_MODEL = 1e-3

# Iterations for which a plane stays that does not carry the solution of the model.
PATIENCE = 30

# Beside the tolerance, which share of the gain over weights of 0 may be missed; and the share of
# the tolerance from which on there is no gain.
SHARE_OF_GAIN = 0.01
AS_GOOD_AS_ZERO = 1e-4
TINY = float(np.finfo(np.float64).tiny)

# Iterations in which the gap must shrink by this factor; else rounding is all that is left.
MOST_IDLE = 200
SLOWEST = 0.999

# By how little, relative to the objective, rounding alone can move it, and a sum over all rows.
ROUNDING = 1e-15
ROUNDING_OF_SUMS = 1e-13

# Length of weights, relative to the longest that a plane can make, that cancelling planes leave.
SHORT = 1e-6


# A linear function of the scores that is nowhere above a convex one, ``offset + factors.s``, and
# equal to it at the scores for which it was made.
Tangent: TypeAlias = tuple[float, FloatArray]


class Planes:
    """Linear functions of the weights nowhere above a risk, less its value at 0, for every C."""

    def __init__(self, n_features: int) -> None:
        self.slopes = np.empty((0, n_features))
        self.offsets = np.empty(0)
        self.gram = np.empty((0, 0))
        self.shares = np.empty(0)
        self._idle = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.offsets)

    def copy(self) -> Planes:
        """The same planes, to add to and to drop from, none of which has been idle."""
        planes = copy(self)
        planes._idle = np.zeros_like(self._idle)
        return planes

    def add(self, offset: float, slope: FloatArray) -> None:
        self.shares = np.append(self.shares, 0.0 if len(self) else 1.0)
        self.gram = np.pad(self.gram, (0, 1))
        self.gram[-1] = self.gram[:, -1] = np.append(self.slopes @ slope, slope @ slope)
        self.slopes = np.vstack([self.slopes, slope])
        self.offsets = np.append(self.offsets, offset)
        self._idle = np.append(self._idle, 0)

    def minimise(self, C: float, accuracy: float) -> tuple[FloatArray, float]:
        """Minimise ``|w|^2 / 2 + C max_j (offset_j + slope_j.w)`` by its dual problem."""
        self.shares = best_shares(C * self.gram, self.offsets, self.shares, accuracy / C)
        self._idle = np.where(self.shares > 0, 0, self._idle + 1)
        coef = -C * (self.shares @ self.slopes)
        return coef, float(C * (self.shares @ self.offsets) - coef @ coef / 2)

    def drop_idle(self) -> None:
        """Drop planes that carried no solution for long."""
        mask = self._idle <= PATIENCE
        if not mask.all():
            self.slopes, self.offsets = self.slopes[mask], self.offsets[mask]
            self.shares, self._idle = self.shares[mask], self._idle[mask]
            self.gram = self.gram[np.ix_(mask, mask)]


class _RiskPoint(NamedTuple):
    """A weight vector with its scores and the tangent of the risk there."""

    coef: FloatArray
    scores: FloatArray
    tangent: Tangent
    risk: float

    def objective(self, C: float) -> float:
        return float(self.coef @ self.coef / 2 + C * self.risk)


class _Risk:
    """The risk at weights less that at 0, which has digits where the risk itself has none."""

    def __init__(self, rows: Any, tangent_at: Callable[[FloatArray], Tangent]) -> None:
        self._rows, self._tangent_at = rows, tangent_at
        self.at_zero = float(tangent_at(np.zeros(rows.shape[0]))[0])

    def at(self, coef: FloatArray, scores: FloatArray | None = None) -> _RiskPoint:
        scores = self._rows.scores(coef) if scores is None else scores
        offset, factors = self._tangent_at(scores)
        risk = float((offset - self.at_zero) + factors @ scores)
        return _RiskPoint(coef, scores, (offset, factors), risk)

    def between(self, start: _RiskPoint, end: _RiskPoint, step: float) -> _RiskPoint:
        """Evaluate it on a line, which takes no product with the rows."""
        return self.at(
            start.coef + step * (end.coef - start.coef),
            start.scores + step * (end.scores - start.scores),
        )

    def add_plane(self, planes: Planes, point: _RiskPoint) -> None:
        offset, factors = point.tangent
        planes.add(offset - self.at_zero, self._rows.pull_back(factors))


def _best_on_line(
    risk: _Risk, start: _RiskPoint, end: _RiskPoint, C: float, accuracy: float
) -> _RiskPoint:
    """Find the best point between two, to an accuracy; the line's own cutting planes find it."""
    direction = end.coef - start.coef
    scores = end.scores - start.scores
    squared = float(direction @ direction)

    def slope(point: _RiskPoint) -> float:
        return C * float(point.tangent[1] @ scores)

    inner = float(start.coef @ direction)
    base = start.coef @ start.coef / 2
    best = min(start, end, key=lambda point: point.objective(C))
    low, at_low, high, at_high = 0.0, start, 1.0, end
    if squared == 0 or inner + squared + slope(end) <= 0:
        return best
    for _ in range(MOST_ON_LINE):
        slope_low, slope_high = slope(at_low), slope(at_high)
        # Where the tangents at both ends meet, or where one of them and the ridge have a minimum.
        gain = slope_high - slope_low
        low_value, high_value = C * at_low.risk, C * at_high.risk
        meet = low
        if gain > 0:
            meet = (low_value - slope_low * low - high_value + slope_high * high) / gain
        step = min(max(meet, -(inner + slope_high) / squared), -(inner + slope_low) / squared)
        if not low < step < high:
            return best
        ridge = base + step * inner + step * step * squared / 2
        bound = ridge + max(
            low_value + slope_low * (step - low), high_value + slope_high * (step - high)
        )
        if best.objective(C) - bound <= accuracy:
            return best
        point = risk.between(start, end, step)
        if point.objective(C) < best.objective(C):
            best = point
        if inner + step * squared + slope(point) > 0:
            high, at_high = step, point
        else:
            low, at_low = step, point
    return best


def solve_cutting_planes(
    rows: Any,
    tangent_at: Callable[[FloatArray], Tangent],
    *,
    C: float,
    tol: float,
    max_iter: int,
    planes: Planes | None = None,
    on_iteration: Callable[[int, float, float], None] = lambda *_: None,
) -> tuple[SolverResult, Planes]:
    """Minimise ``|w|^2 / 2 + C R(X w)`` for a convex R, known by one tangent at each point.

    Each iteration minimises the model, the largest of the planes so far, goes to the best point on
    the line from the best so far to it, and adds the planes there and between. Without planes to
    start from the cost rises to C. ``rows`` have ``shape``, ``scores`` and ``pull_back``. The
    planes at the end serve the problem with another C.

    Joachims (2006), Training linear SVMs in linear time, KDD. Franc and Sonnenburg (2009),
    Optimized cutting plane algorithm for large-scale risk minimization, JMLR 10, Algorithm 3.
    """
    risk = _Risk(rows, tangent_at)
    best = risk.at(np.zeros(rows.shape[1]))
    costs = [C]
    if planes is None:
        planes = Planes(rows.shape[1])
        risk.add_plane(planes, best)
        squared_slope = float(planes.gram[0, 0])
        if risk.at_zero > 0 and squared_slope > 0:
            # From a cost at which a step along the first slope is about right: the planes that a
            # small cost asks for serve the next, for which a model of few planes would have its
            # minimum far away.
            least = risk.at_zero / squared_slope
            n_steps = max(0, math.ceil(math.log(C / least, RISE)))
            costs = [least * RISE**step for step in range(n_steps)] + [C]
    else:
        planes = planes.copy()
    n_iter = 0
    for cost in costs:
        goal = tol if cost == C else max(tol, TOL_ON_THE_WAY)
        lower_bound, n_idle, narrowest = -np.inf, 0, np.inf
        at_zero = cost * risk.at_zero
        while n_iter < max_iter and n_idle < MOST_IDLE:
            n_iter += 1
            objective = best.objective(cost)
            largest_gain = min(objective - lower_bound, abs(at_zero + objective))
            accuracy = max(ROUNDING * abs(at_zero + objective), ACCURACY_OF_MODEL * largest_gain)
            coef, bound = planes.minimise(cost, accuracy)
            lower_bound = max(lower_bound, bound)
            end = risk.at(coef)
            largest_gain = max(objective - lower_bound, 0.0)
            best = _best_on_line(risk, best, end, cost, ACCURACY_ON_LINE * largest_gain)
            objective = best.objective(cost)
            gap = float(relative_gap(at_zero + objective, at_zero + lower_bound))
            on_iteration(n_iter, at_zero + objective, gap)
            n_idle = 0 if gap < SLOWEST * narrowest else n_idle + 1
            narrowest = gap if n_idle == 0 else narrowest
            # Where C is small the objective is nearly that at 0, whatever the weights.
            missed = (objective - lower_bound) / max(-lower_bound, TINY)
            if gap <= goal and (missed <= SHARE_OF_GAIN or gap <= AS_GOOD_AS_ZERO * goal):
                break
            risk.add_plane(planes, end)
            if best is not end:
                risk.add_plane(planes, risk.between(best, end, STEP_FOR_TANGENT))
            planes.drop_idle()
    objective = risk.at(best.coef).objective(C)
    # Weights that are what cancelling planes leave of 0, and no better: their order means nothing.
    longest = C * float(np.sqrt(np.diagonal(planes.gram).max(initial=0.0)))
    at_zero = C * risk.at_zero
    if float(np.linalg.norm(best.coef)) <= SHORT * longest and (
        objective >= -ROUNDING_OF_SUMS * abs(at_zero)
    ):
        best, objective = risk.at(np.zeros(rows.shape[1])), 0.0
    if lower_bound == -np.inf:  # the iterations ended on the way
        lower_bound = planes.minimise(C, ACCURACY_OF_MODEL * abs(at_zero + objective))[1]
    objective, lower_bound = at_zero + objective, at_zero + lower_bound
    certificate = Certificate(
        objective,
        lower_bound=min(lower_bound, objective),  # rounding may turn them around
        n_iter=n_iter,
        converged=bool(relative_gap(objective, lower_bound) <= tol),
    )
    return SolverResult(best.coef, certificate), planes
