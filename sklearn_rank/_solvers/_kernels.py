"""Compiled loops for problems of pivots.

The problems of pivots and the method are those of ``_batched_newton``; a step costs one product
with the data and one small Cholesky factorisation.

The loop of :func:`solve_pivots` is one function in which the short steps are written out: as
functions of their own, whose arrays are counted as references at each call, they made fits of
512 x 8 by 10 to 50 % slower. All kernels are in one file, because numba's cache on disk looks at
the time stamp of the file of the compiled function alone.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from .._jit import compiled
from ._batched_newton import INNER_RATIO, LINE_SEARCH_RATIO, SETTLED, SETTLED_GROWTH, SIGMA_GROWTH
from ._linear import MAX_TRIALS

# Rows gathered at a time for the d x d Hessian.
GATHER = 256

# The share by which the diagonal of a matrix is raised, so that rounding does not make it
# indefinite.
RAISED = 1e-13


# Rows are handled by the list: a call with arrays costs more than a short row.
@compiled()
def _dot_rows(dense, rows, start, stop, vector, out):
    """``out[p] = x_i.vector`` for ``i = rows[p]``, p from start to stop."""
    for p in range(start, stop):
        out[p] = np.dot(dense[rows[p]], vector)


@compiled()
def _add_rows(dense, rows, start, stop, factors, vector):
    """``vector += sum factors[p] x_i`` over ``i = rows[p]``, p from start to stop."""
    p = start
    while p + 4 <= stop:
        f0 = factors[p]
        f1 = factors[p + 1]
        f2 = factors[p + 2]
        f3 = factors[p + 3]
        r0 = dense[rows[p]]
        r1 = dense[rows[p + 1]]
        r2 = dense[rows[p + 2]]
        r3 = dense[rows[p + 3]]
        for j in range(vector.shape[0]):
            vector[j] += (f0 * r0[j] + f1 * r1[j]) + (f2 * r2[j] + f3 * r3[j])
        p += 4
    while p < stop:
        i = rows[p]
        for j in range(vector.shape[0]):
            vector[j] += factors[p] * dense[i, j]
        p += 1


@compiled()
def _margins(dense, y, z, w, out):
    """``-w.d_i`` for every row."""
    shift = np.dot(w, z)
    np.dot(dense, w, out)
    for i in range(out.shape[0]):
        out[i] = y[i] * (shift - out[i])


# Loops in place of assignments to slices: these take numba seconds to compile.
@compiled()
def _fill(vector, value):
    for i in range(vector.shape[0]):
        vector[i] = value


@compiled()
def _copy(source, target):
    for i in range(source.shape[0]):
        target[i] = source[i]


@compiled()
def _clip_along(b, u, direction, sigma, step, out):
    for i in range(b.shape[0]):
        out[i] = min(max(b[i] + sigma * (u[i] + step * direction[i]), 0.0), 1.0)


@compiled()
def _compare(new, old, changed, free):
    """List the rows whose multiplier changed and those that are free, without branching."""
    n_changed = 0
    n_free = 0
    for i in range(new.shape[0]):
        changed[n_changed] = i
        n_changed += new[i] != old[i]
        free[n_free] = i
        n_free += (new[i] > 0.0) & (new[i] < 1.0)
    return n_changed, n_free


def address_of_posv() -> int:
    """Address of LAPACK's solver of positive definite systems in scipy."""
    return numba.extending.get_cython_function_address("scipy.linalg.cython_lapack", "dposv")


@numba.extending.intrinsic
def call_posv(typingctx: Any, address: Any, size: Any, matrix: Any, rhs: Any) -> Any:
    """Solve the leading part of a system in place, by the upper triangle of a C-contiguous matrix.

    Returns 0, or another number if the matrix is not positive definite.
    """

    cgutils, types = numba.core.cgutils, numba.types

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, size, matrix, rhs = args
        array, right = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[2:], (matrix, rhs), strict=True)
        )
        integer, byte = (context.get_value_type(t) for t in (types.int32, types.int8))
        order = builder.trunc(size, integer)
        columns = builder.trunc(builder.extract_value(array.shape, 1), integer)
        values = [byte(ord("L")), order, integer(1), columns, order]
        uplo, n, nrhs, lda, ldb = (cgutils.alloca_once_value(builder, value) for value in values)
        info = cgutils.alloca_once(builder, integer)
        pointers = [uplo, n, nrhs, array.data, lda, right.data, ldb, info]
        function = cgutils.ir.FunctionType(cgutils.ir.VoidType(), [p.type for p in pointers])
        builder.call(builder.inttoptr(address, function.as_pointer()), pointers)
        return builder.load(info)

    return types.int32(types.intp, types.intp, matrix, rhs), generate


@compiled()
def _solve_positive(matrix, rhs, size, posv):
    """Solve a positive definite system in place; whether it is one, else ``rhs`` stays."""
    for p in range(size):
        matrix[p, p] *= 1.0 + RAISED
    return size == 0 or call_posv(posv, size, matrix, rhs) == 0


@compiled()
def _hessian(dense, z, weight, rows, n_rows, block, out):
    """Write the upper triangle of ``I`` plus the weighted sum of outer products of ``x_i - z``."""
    for p in range(out.shape[0]):
        for q in range(p, out.shape[0]):
            out[p, q] = 1.0 if p == q else 0.0
    for start in range(0, n_rows, GATHER):
        stop = min(start + GATHER, n_rows)
        for p in range(start, stop):
            i = rows[p]
            root = np.sqrt(weight[p])
            row = block[p - start]
            for j in range(z.shape[0]):
                row[j] = root * (dense[i, j] - z[j])
        part = block[: stop - start]
        product = np.dot(part.T, part)
        for p in range(out.shape[0]):
            for q in range(p, out.shape[0]):
                out[p, q] += product[p, q]


@compiled()
def _gram(dense, z, free, n_free):
    """``d_p.d_q`` over the free rows, up to signs that cancel in the direction."""
    rows = np.empty((n_free, z.shape[0]))
    for p in range(n_free):
        for j in range(z.shape[0]):
            rows[p, j] = dense[free[p], j] - z[j]
    return np.dot(rows, rows.T)


@compiled()
def _look_up(products, with_pivot, square, free, n_free, of_free, out):
    """Fill in the same as :func:`_gram` from the inner products of all rows and with the pivot."""
    for q in range(n_free):
        of_free[q] = with_pivot[free[q]]
    for p in range(n_free):
        row = products[free[p]]
        shift = square - of_free[p]
        for q in range(p, n_free):
            out[p, q] = row[free[q]] + (shift - of_free[q])


@compiled()
def _sum_margins(dense, y, z, w, u):
    """Write ``u = 1 - w.d_i``."""
    _margins(dense, y, z, w, u)
    for i in range(u.shape[0]):
        u[i] += 1.0


@compiled()
def _find_direction_by_rows(
    dense, z, free, n_free, penalty, system, gradient, rhs, direction, posv
):
    """Newton direction from the inner products of the free rows, where these are few."""
    for j in range(z.shape[0]):
        direction[j] = -gradient[j]
    base = np.dot(z, gradient)
    _dot_rows(dense, free, 0, n_free, gradient, rhs)
    for p in range(n_free):
        system[p, p] += 1.0 / penalty[p]
        rhs[p] -= base
    if not _solve_positive(system, rhs, n_free, posv):
        return
    shift = 0.0
    for p in range(n_free):
        shift += rhs[p]
    _add_rows(dense, free, 0, n_free, rhs, direction)
    for j in range(z.shape[0]):
        direction[j] -= shift * z[j]


# Arrays that are not written to may be in read-only shared memory.
@compiled(
    "void({M}, {M}, {v}, {v}, {M}, {M}, f8, f8, i8, intp, f8[:, ::1], f8[:, ::1])".format(
        M="Array(f8, 2, 'C', readonly=True)", v="Array(f8, 1, 'C', readonly=True)"
    )
)
def solve_pivots(
    dense, products, y, cost, pivots, start, first_sigma, tol, max_iter, posv, coef, values
):
    """Solve the problem of each pivot; write solution, objective, lower bound and Newton steps.

    From weights ``coef``, multipliers ``start`` and a penalty ``first_sigma``.
    ``products`` are the inner products of all rows, or empty. ``pivots`` are points.
    """
    n = y.shape[0]
    d = coef.shape[1]
    v = np.zeros(d)
    b = np.empty(n)
    gradient = np.empty(d)
    direction = np.empty(d)
    best_w = np.empty(d)
    u = np.empty(n)
    trial = np.empty(n)
    counted = np.empty(n)
    best_trial = np.empty(n)
    by_row = np.empty(n)
    along = np.empty(n)
    cost_along = np.empty(n)
    changed = np.empty(n + 1, np.int64)
    free = np.empty(n + 1, np.int64)
    rhs = np.empty(max(min(n, d), 1))
    weight = np.empty(n)
    # The d x d form is only ever used with at least d free rows.
    hessian = np.empty((d, d)) if d <= n else np.empty((0, 0))
    block = np.empty((min(GATHER, n), d)) if d <= n else np.empty((0, d))
    looked_up = np.empty(0)
    with_pivot = np.empty(n) if products.shape[0] > 0 else np.empty(0)
    # Where all rows are free, about their mean: the Hessians differ by a term of rank one.
    total = 0.0
    centre = np.zeros(d)
    for i in range(n):
        total += cost[i]
        for j in range(d):
            centre[j] += cost[i] * dense[i, j]
    for j in range(d):
        centre[j] /= total
    everything = np.empty(hessian.shape)
    if d <= n:
        _hessian(dense, centre, cost, np.arange(n), n, block, everything)
    for index in range(pivots.shape[0]):
        z = pivots[index]
        w = coef[index]
        if products.shape[0] > 0:
            np.dot(dense, z, with_pivot)
        square = np.dot(z, z)
        linear = 0.0
        _fill(v, 0.0)
        _fill(counted, 0.0)
        sigma = first_sigma
        _copy(start[index], b)
        _sum_margins(dense, y, z, w, u)
        _clip_along(b, u, u, sigma, 0.0, trial)
        steps = 0
        inner = 0
        checked = False
        renew = False
        best_gap = np.inf
        while True:
            n_changed, n_free = _compare(trial, counted, changed, free)
            shift = 0.0
            for t in range(n_changed):
                i = changed[t]
                difference = cost[i] * (trial[i] - counted[i])
                linear += difference
                by_row[t] = y[i] * difference
                shift += by_row[t]
                counted[i] = trial[i]
            _add_rows(dense, changed, 0, n_changed, by_row, v)
            squared_gradient = 0.0
            for j in range(d):
                v[j] -= shift * z[j]
                gradient[j] = w[j] - v[j]
                squared_gradient += gradient[j] * gradient[j]
            for i in range(n):
                by_row[i] = max(u[i], 0.0)
            upper = 0.5 * np.dot(w, w) + np.dot(cost, by_row)
            squared_v = np.dot(v, v)
            lower = linear - 0.5 * squared_v
            if squared_v > linear:
                # A share of the multipliers is feasible, too: this is the best share's value.
                lower = 0.5 * linear * linear / squared_v
            if upper - lower < best_gap:
                best_gap = upper - lower
                _copy(w, best_w)
                _copy(trial, best_trial)
            if upper - lower <= tol * upper or steps >= max_iter:
                if checked:
                    break
                if upper - lower > best_gap:
                    # Out of steps, possibly by differences below float64 resolution.
                    _copy(best_w, w)
                    _copy(best_trial, trial)
                # u and v were updated step by step: certify from sums made anew.
                checked = True
                _sum_margins(dense, y, z, w, u)
                _fill(v, 0.0)
                _fill(counted, 0.0)
                linear = 0.0
                continue
            checked = False

            for i in range(n):
                by_row[i] = (trial[i] - b[i]) ** 2
            progress = np.dot(cost, by_row) / sigma
            outer = renew or (inner > 0 and squared_gradient <= INNER_RATIO * progress)
            if outer:
                _copy(trial, b)
                settled = squared_gradient <= SETTLED * np.dot(w, w)
                sigma *= SETTLED_GROWTH if settled else SIGMA_GROWTH
                inner = 0
                renew = False
                # The first Newton step keeps the free rows, where the gradient of their linear
                # pieces is the guide: at the new multipliers and penalty many of them would be
                # clipped for one step only.
                shift = 0.0
                for p in range(n_free):
                    i = free[p]
                    by_row[p] = -sigma * cost[i] * u[i] * y[i]
                    shift += by_row[p]
                _add_rows(dense, free, 0, n_free, by_row, gradient)
                for j in range(d):
                    gradient[j] -= shift * z[j]

            for p in range(n_free):
                weight[p] = sigma * cost[free[p]]
            if n_free < d:
                if products.shape[0] > 0:
                    if looked_up.shape[0] < n_free * n_free:
                        looked_up = np.empty(n_free * n_free)
                    system = looked_up[: n_free * n_free].reshape((n_free, n_free))
                    _look_up(products, with_pivot, square, free, n_free, rhs, system)
                else:
                    system = _gram(dense, z, free, n_free)
                _find_direction_by_rows(
                    dense, z, free, n_free, weight, system, gradient, rhs, direction, posv
                )
            else:
                if n_free == n:
                    for p in range(d):
                        moved = sigma * total * (centre[p] - z[p])
                        for q in range(p, d):
                            hessian[p, q] = sigma * everything[p, q] + moved * (centre[q] - z[q])
                        hessian[p, p] += 1.0 - sigma
                else:
                    _hessian(dense, z, weight, free, n_free, block, hessian)
                for j in range(d):
                    direction[j] = -gradient[j]
                # If rounding makes the matrix indefinite, the line search uses the gradient.
                _solve_positive(hessian, direction, d, posv)

            _margins(dense, y, z, direction, along)
            steps += 1
            for i in range(n):
                cost_along[i] = cost[i] * along[i]
            slope_w = np.dot(w, direction)
            slope_d = np.dot(direction, direction)
            low = 0.0
            _clip_along(b, u, u, sigma, 0.0, trial)
            slope_low = slope_w + np.dot(trial, cost_along)
            if slope_low >= 0.0:
                # No descent: the prediction was wrong, or the step is within rounding.
                renew = not outer
                continue
            high = -1.0
            slope_high = 0.0
            target = LINE_SEARCH_RATIO * abs(slope_low)
            step = 1.0
            for _ in range(MAX_TRIALS):
                _clip_along(b, u, along, sigma, step, trial)
                slope = slope_w + step * slope_d + np.dot(trial, cost_along)
                if abs(slope) <= target:
                    break
                if slope > 0:
                    high = step
                    slope_high = slope
                else:
                    low = step
                    slope_low = slope
                if high > 0:
                    # Regula falsi kept off the ends, so that the bracket always shrinks.
                    width = high - low
                    step = low - slope_low * width / (slope_high - slope_low)
                    step = min(max(step, low + 0.05 * width), high - 0.05 * width)
                else:
                    step *= 2.0
            for j in range(d):
                w[j] += step * direction[j]
            for i in range(n):
                u[i] += step * along[i]
            inner += 1

        values[0, index] = upper
        values[1, index] = lower
        values[2, index] = steps


def minimise(design, y, cost, products, points, coef, start, sigma, *, tol, max_iter):
    """Weights, objective, lower bound and Newton steps of the pivots at some points."""
    rows = np.ascontiguousarray(design.matrix), products, y, cost
    values = np.empty((3, len(points)))
    settings = start, sigma, tol, max_iter, address_of_posv()
    solve_pivots(*rows, np.ascontiguousarray(points), *settings, coef, values)
    return coef, values[0], values[1], values[2].astype(np.int64)
