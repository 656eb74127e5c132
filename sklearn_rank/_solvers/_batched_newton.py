"""Problems of several pivots at once, in array operations over all of them.

With ``d_i = y_i (x_i - z)`` and ``u_i = 1 - w.d_i`` the problem of a pivot z is
``min 1/2 |w|^2 + sum_i c_i max(0, u_i)`` and its dual
``max sum_i c_i b_i - 1/2 |sum_i c_i b_i d_i|^2`` over multipliers ``0 <= b_i <= 1``. An outer
step of the method of multipliers replaces ``b`` by ``clip(b + sigma u, 0, 1)`` at the minimiser
of the augmented Lagrangian, whose Hessian ``I + sigma sum_F c_i d_i d_i'`` runs only over the
*free* rows F, those with ``0 < b_i + sigma u_i < 1``. A few Newton steps with an exact line
search find that minimiser. They start where alternating directions, which take one matrix for
all pivots, have found most of the free rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from .._typing import BoolArray, FloatArray, IntArray
from ._design import InMemoryDesign
from ._linear import MAX_TRIALS

# The penalty of the first step is FASTER times that of the splitting, without which it is
# SIGMA_START. It grows by SIGMA_GROWTH at each outer step, by
# SETTLED_GROWTH where the last Newton step was exact, so that the free rows have settled; the
# inner problem is solved until its squared gradient is INNER_RATIO times the dual progress; the
# line search stops when the slope has fallen by LINE_SEARCH_RATIO. Chosen by the number of Newton
# steps and line searches over four data sets and C from .001 to 1.
SIGMA_START = 0.9
FASTER = 5.0
SIGMA_GROWTH = 2.0
SETTLED_GROWTH = 10.0
SETTLED = 1e-20
INNER_RATIO = 30.0
LINE_SEARCH_RATIO = 0.2

# Multiplications that take as long as the Python code of a system of one pivot.
OVERHEAD = 5e5

# Splitting ends where so FEW rows of a pivot became free or bound within EVERY iterations, after
# at most MOST, or twice as many as features, which take as long as eight systems; it pays from
# MIN_FEATURES on.
EVERY, FEW, MOST, MIN_FEATURES = 10, 4, 100, 12


class Splitting:
    """Starts for any pivots by a splitting of u from w, that of Peaceman and Rachford.

    See Boyd, Parikh, Chu, Peleato & Eckstein (2011), *Distributed Optimization and Statistical
    Learning via the Alternating Direction Method of Multipliers*. One matrix serves all pivots, in
    single precision: theirs differ by a term of rank one,
    ``(B + r m m')^-1 g = B^-1 g - r (m.B^-1 g) B^-1 m / (1 + r m.B^-1 m)``.
    """

    def __init__(self, design: InMemoryDesign, y: FloatArray, cost: FloatArray) -> None:
        self.shape = len(y), design.shape[1]
        # The matrix of sparse rows may be large.
        self.pays = design.is_dense and self.shape[1] >= MIN_FEATURES
        if not self.pays:
            return
        self.centre = design.pull_back(cost) / cost.sum()
        rows = design.matrix - self.centre
        matrix = (rows * cost[:, np.newaxis]).T @ rows
        self.penalty = float(1.0 / np.sqrt(np.median(matrix.diagonal())))
        matrix *= self.penalty
        self.pays = bool(np.isfinite(matrix).all())
        if not self.pays:
            return
        matrix.flat[:: len(matrix) + 1] += 1.0
        self.inverse, self.rate = np.linalg.inv(matrix), self.penalty * cost.sum()
        ones = np.ones((len(y), 1))
        back = np.hstack([rows @ self.inverse, ones]) * (cost * y)[:, np.newaxis]
        self.constant = (self.penalty * back.sum(axis=0)).astype(np.float32)
        self.back = back.astype(np.float32)
        forth = np.hstack([-y[:, np.newaxis] * rows, y[:, np.newaxis], ones]).T
        self.forth = (2.0 * self.penalty * forth).astype(np.float32)

    def start(self, z: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Weights and multipliers near those of the pivots z, and a penalty."""
        n_rows, n_features = self.shape
        zeros = np.zeros((len(z), n_features)), np.zeros((len(z), n_rows)), SIGMA_START
        if not self.pays:
            return zeros
        moved = z - self.centre
        solved = moved @ self.inverse
        scale = self.rate / (1.0 + self.rate * np.vecdot(moved, solved))
        m, solved, change = (
            values.astype(np.float32) for values in (moved, solved, solved * scale[:, np.newaxis])
        )
        shifted = zeros[1].astype(np.float32)  # Multipliers before they are clipped
        clipped, free = shifted.copy(), shifted > 0.0
        w = np.ones((len(z), n_features + 2), np.float32)
        for n_iter in range(min(2 * n_features, MOST)):
            if n_iter and n_iter % EVERY == 0:
                before, free = free, (shifted > 0.0) & (shifted < 1.0)
                if np.count_nonzero(free != before) <= FEW * len(z):
                    break
            clipped *= 2.0
            clipped -= shifted
            pulled = clipped @ self.back + self.constant
            w[:, :-2] = pulled[:, :-1] - pulled[:, -1:] * solved
            w[:, :-2] -= np.vecdot(m, w[:, :-2])[:, np.newaxis] * change
            w[:, -2] = np.vecdot(m, w[:, :-2])
            np.matmul(w, self.forth, out=shifted)
            shifted += clipped
            np.clip(shifted, 0.0, 1.0, out=clipped)
        if not np.isfinite(w).all():
            return zeros
        return w[:, :-2].astype(np.float64), clipped.astype(np.float64), FASTER * self.penalty


class Batch:
    """Problems of several pivots; ``products`` are the inner products of all rows, or empty."""

    def __init__(
        self, design: InMemoryDesign, y: FloatArray, cost: FloatArray, products: FloatArray
    ) -> None:
        self.design, self.y, self.cost, self.products = design, y, cost, products
        self.X, self.signed = design.matrix, cost * y
        n, d = self.X.shape
        self.outer: FloatArray | None = None
        if design.is_dense and n * (d + 1) * (d + 2) <= OVERHEAD:
            # Systems of all pivots are one product with the products of features, and with 1.
            augmented = np.hstack([self.X, np.ones((n, 1))])
            upper = np.triu_indices(d + 1)
            self.outer = augmented[:, upper[0]] * augmented[:, upper[1]] * cost[:, np.newaxis]
            self.place = np.zeros((d + 1, d + 1), dtype=np.intp)
            self.place[upper] = self.place.T[upper] = np.arange(len(upper[0]))

    def along(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """``-w.d_i`` for every row. Shape (n_pivots, n_rows)."""
        scores = np.ascontiguousarray(w @ self.X.T)
        scores -= np.vecdot(w, z)[:, np.newaxis]
        scores *= -self.y
        return scores

    def pull(self, by_row: FloatArray, z: FloatArray) -> FloatArray:
        """``sum_i by_row_i (x_i - z)``. Shape (n_pivots, n_features)."""
        return np.asarray(by_row @ self.X - by_row.sum(axis=1)[:, np.newaxis] * z)

    def minimise(
        self, z: FloatArray, w: FloatArray, b: FloatArray, sigma: Any, *, tol: float, max_iter: int
    ) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """Weights, objective, lower bound and Newton steps of the pivots z, from a start."""
        cost = self.cost
        m = len(z)
        at, n_iter = np.arange(m), np.zeros(m, dtype=np.int64)
        coef, objective, bound = np.zeros_like(z), np.full(m, np.inf), np.full(m, -np.inf)
        u, sigma = 1.0 + self.along(w, z), np.full(m, sigma)
        trial = np.clip(b + sigma[:, np.newaxis] * u, 0.0, 1.0)
        inner, renew = np.zeros((2, m), dtype=bool)
        for step in range(max_iter + 1):
            v = self.pull(trial * self.signed, z)
            linear, square, norm = trial @ cost, np.vecdot(v, v), np.vecdot(w, w)
            # A share of the multipliers is feasible, too: the best, where that is less than all.
            share = np.where(square > linear, linear / square, 1.0)
            lower = share * linear - 0.5 * share**2 * square
            upper = 0.5 * norm + np.maximum(u, 0.0) @ cost
            better = upper < objective[at]
            objective[at[better]], coef[at[better]] = upper[better], w[better]
            bound[at] = np.maximum(bound[at], lower)
            done = ~(objective[at] - bound[at] > tol * objective[at]) | (step == max_iter)
            if done.any():
                # u was updated step by step: certify from sums made anew.
                ends, best = at[done], coef[at[done]]
                hinge = np.maximum(1.0 + self.along(best, z[done]), 0.0) @ cost
                objective[ends] = 0.5 * np.vecdot(best, best) + hinge
                n_iter[ends] = step
                done[done] = ~(objective[ends] - bound[ends] > tol * objective[ends])
                left = np.flatnonzero(~done)
                if len(left) == 0 or step == max_iter:
                    break
                state: Any = at, z, w, b, u, trial, v, norm, sigma, inner, renew
                state = (values[left] for values in state)
                at, z, w, b, u, trial, v, norm, sigma, inner, renew = state
            gradient = w - v
            square = np.vecdot(gradient, gradient)
            free = (trial > 0.0) & (trial < 1.0)
            progress = np.square(trial - b) @ cost / sigma
            outer = renew | (inner & (square <= INNER_RATIO * progress))
            index = np.flatnonzero(outer)
            if len(index):
                b[index] = trial[index]
                settled = square[index] <= SETTLED * norm[index]
                growth = np.where(settled, SETTLED_GROWTH, SIGMA_GROWTH)
                sigma[index] = growth * sigma[index]
                inner[index] = False
                # The first Newton step keeps the free rows, where the gradient of their linear
                # pieces is the guide: at the new multipliers and penalty many of them would be
                # clipped for one step only.
                by_row = -sigma[index, np.newaxis] * self.signed * u[index] * free[index]
                gradient[index] += self.pull(by_row, z[index])
            direction = self._directions(gradient, free, sigma, z)
            move = self.along(direction, z)
            slope, curvature = np.vecdot(w, direction), np.vecdot(direction, direction)
            trial = b + sigma[:, np.newaxis] * u
            length = _search(trial, sigma[:, np.newaxis] * move, cost * move, slope, curvature)
            # No descent: the prediction was wrong, or the step is within rounding.
            stays = length == 0.0
            direction[stays] = move[stays] = 0.0
            renew = stays & ~outer
            inner |= ~stays
            w += length[:, np.newaxis] * direction
            move *= length[:, np.newaxis]
            u += move
            move *= sigma[:, np.newaxis]
            trial += move
            np.clip(trial, 0.0, 1.0, out=trial)
        return coef, objective, bound, n_iter

    def _directions(
        self, gradient: FloatArray, free: BoolArray, sigma: FloatArray, z: FloatArray
    ) -> FloatArray:
        """Minus the gradients through the inverses of the Hessians."""
        d, design = z.shape[1], self.design
        if self.outer is not None:
            sums = (free.astype(np.float64) @ self.outer)[:, self.place]
            sums *= sigma[:, np.newaxis, np.newaxis]
            hessian = _about(sums[:, :d, :d], sums[:, :d, d], sums[:, d, d], z)
            solved: Any
            try:
                solved = np.linalg.solve(hessian, gradient[..., np.newaxis])
            except np.linalg.LinAlgError:  # by rounding at a large penalty
                solved = np.linalg.pinv(hessian, hermitian=True) @ gradient[..., np.newaxis]
            return -solved[..., 0]
        direction = -gradient
        by_row = np.zeros(free.shape)
        rises = -self.y * self.along(gradient, z)
        moved = np.ascontiguousarray(z @ self.X.T) - 0.5 * np.vecdot(z, z)[:, np.newaxis]
        for k in range(len(z)):
            index = free[k].nonzero()[0]
            if len(index) == 0:
                continue
            weight = sigma[k] * self.cost[index]
            if len(index) < d:
                if len(self.products):
                    matrix = self.products[index[:, np.newaxis], index]
                else:
                    matrix = design.row_gram(index)
                shift = moved[k, index]
                matrix -= shift
                matrix -= shift[:, np.newaxis]
                matrix.flat[:: len(index) + 1] += 1.0 / weight
                _, solved, info = lapack.dposv(matrix, rises[k, index], overwrite_a=True)
                if info == 0:
                    by_row[k, index] = solved
            else:
                part = design.rows(index)
                outer, row = part.gram(weight), part.pull_back(weight)
                hessian = _about(outer[np.newaxis], row[np.newaxis], weight.sum(), z[k : k + 1])
                _, solved, info = lapack.dposv(hessian[0], gradient[k], overwrite_a=True)
                if info == 0:
                    direction[k] = -solved
        if by_row.any():
            direction += self.pull(by_row, z)
        return direction


def _about(outer: FloatArray, row: FloatArray, total: Any, z: FloatArray) -> FloatArray:
    """``I`` plus sums of outer products of ``x_i - z``, from sums about 0."""
    hessian = outer - z[:, :, np.newaxis] * (row - np.multiply(total, z.T).T)[:, np.newaxis, :]
    hessian -= row[:, :, np.newaxis] * z[:, np.newaxis, :]
    hessian.reshape(len(z), -1)[:, :: z.shape[1] + 1] += 1.0
    return hessian


def _search(
    start: FloatArray, move: FloatArray, pull: FloatArray, slope: FloatArray, curvature: FloatArray
) -> FloatArray:
    """Lengths at which ``slope + length curvature + clip(start + length move, 0, 1).pull`` is 0.

    Almost, and 0 where the slope is not negative at 0.
    """
    trial = np.clip(start, 0.0, 1.0)
    slope_low = slope + np.vecdot(trial, pull)
    target = LINE_SEARCH_RATIO * np.abs(slope_low)
    length = np.where(slope_low < 0.0, 1.0, 0.0)
    low, high, slope_high = np.zeros_like(length), np.full_like(length, np.inf), length.copy()
    at = np.flatnonzero(length)
    if len(at) < len(length):
        start, move, pull = start[at], move[at], pull[at]
    for _ in range(MAX_TRIALS):
        trial = np.multiply(length[at, np.newaxis], move, out=trial[: len(at)])
        trial += start
        np.clip(trial, 0.0, 1.0, out=trial)
        value = slope[at] + length[at] * curvature[at] + np.vecdot(trial, pull)
        left = np.flatnonzero(np.abs(value) > target[at])
        if len(left) == 0:
            break
        index, value = at[left], value[left]
        if 2 * len(left) <= len(at):
            at, start, move, pull = index, start[left], move[left], pull[left]
        above, below = index[value > 0], index[value <= 0]
        high[above], slope_high[above] = length[above], value[value > 0]
        low[below], slope_low[below] = length[below], value[value <= 0]
        width = high[index] - low[index]
        # Regula falsi kept off the ends, so that the bracket always shrinks.
        inside = low[index] - slope_low[index] * width / (slope_high[index] - slope_low[index])
        inside = np.clip(inside, low[index] + 0.05 * width, high[index] - 0.05 * width)
        length[index] = np.where(np.isfinite(width), inside, 2.0 * length[index])
    return length
