"""Compiled augmented-Lagrangian Newton iteration for the hinge problems through a pivot.

With ``d_i = y_i (x_i - z)`` and ``u_i = 1 - w.d_i`` the problem is
``min 1/2 |w|^2 + sum_i c_i max(0, u_i)`` and its dual
``max sum_i c_i b_i - 1/2 |sum_i c_i b_i d_i|^2`` over multipliers ``0 <= b_i <= 1``. An outer
step of the method of multipliers replaces ``b`` by ``clip(b + sigma u, 0, 1)`` at the minimiser
of the augmented Lagrangian, whose Hessian ``I + sigma sum_F c_i d_i d_i'`` runs only over the
*free* rows F, those with ``0 < b_i + sigma u_i < 1``. A few Newton steps with an exact line
search find that minimiser, so that a step costs one product with the data and one small
Cholesky factorisation.

Measured on 569 x 30 to 3,067 x 57: starting a candidate from another candidate's solution,
nearest or best, saves no Newton step, because a tenth to a fifth of the multipliers differ; so
with few features every candidate starts from zero and is independent of all others. With as many
features as rows, as kernels have, the first two steps of such a start, in which nearly all rows
are free, cost more than the rest; there a candidate starts from the multipliers of the one before
it in its block, which halves the time (1,000 x 1,000).

The loop of :func:`solve_pivots` is one function in which the short steps are written out: as
functions of their own, whose arrays are counted as references at each call, they made fits of
512 x 8 by 10 to 50 % slower. All kernels are in one file, because numba's cache on disk looks at
the time stamp of the file of the compiled function alone.
"""

from __future__ import annotations

import numpy as np

from .._jit import compiled

# The penalty starts at SIGMA_START and grows by SIGMA_GROWTH at each outer step, by
# SETTLED_GROWTH where the last Newton step was exact, so that the free rows have settled; the
# inner problem is solved until its squared gradient is INNER_RATIO times the dual progress; the
# line search stops when the slope has fallen by LINE_SEARCH_RATIO. Chosen by the time and the
# number of Newton steps over three data sets and C from .001 to 1.
SIGMA_START = 0.9
SIGMA_GROWTH = 2.5
SETTLED_GROWTH = 10.0
SETTLED = 1e-20
INNER_RATIO = 30.0
LINE_SEARCH_RATIO = 0.1
MAX_LINE_SEARCH = 40

# Rows gathered at a time for the d x d Hessian; the number of features from which it pays to
# update it by the rows that enter and leave; and the updates after which it is summed anew, so
# that their rounding errors do not pile up.
GATHER = 256
MIN_UPDATED = 16
MAX_UPDATES = 16

# Features from which it pays to factorise the matrix that the first steps of all pivots share.
MIN_SHARED = 48

# Rows of a panel of the Cholesky factorisation, and of the rest that it updates at a time.
PANEL = 32
STRIP = 128


# Rows are handled by the list: a call with arrays costs more than a short row.
@compiled()
def _dot_rows(dense, data, indices, indptr, rows, start, stop, vector, out):
    """``out[p] = x_i.vector`` for ``i = rows[p]``, p from start to stop."""
    for p in range(start, stop):
        i = rows[p]
        total = 0.0
        if dense.shape[0] > 0:
            row = dense[i]
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            j = 0
            while j + 4 <= vector.shape[0]:
                t0 += row[j] * vector[j]
                t1 += row[j + 1] * vector[j + 1]
                t2 += row[j + 2] * vector[j + 2]
                t3 += row[j + 3] * vector[j + 3]
                j += 4
            while j < vector.shape[0]:
                t0 += row[j] * vector[j]
                j += 1
            total = (t0 + t1) + (t2 + t3)
        else:
            for t in range(indptr[i], indptr[i + 1]):
                total += data[t] * vector[indices[t]]
        out[p] = total


@compiled()
def _add_rows(dense, data, indices, indptr, rows, start, stop, factors, vector):
    """``vector += sum factors[p] x_i`` over ``i = rows[p]``, p from start to stop."""
    if dense.shape[0] > 0:
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
    else:
        for p in range(start, stop):
            i = rows[p]
            for t in range(indptr[i], indptr[i + 1]):
                vector[indices[t]] += factors[p] * data[t]


@compiled()
def _margins(dense_t, data, indices, indptr, y, z, w, out):
    """``-w.d_i`` for every row."""
    shift = np.dot(w, z)
    if dense_t.shape[1] > 0:
        np.dot(w, dense_t, out)
        for i in range(out.shape[0]):
            out[i] = y[i] * (shift - out[i])
    else:
        for i in range(out.shape[0]):
            total = 0.0
            for t in range(indptr[i], indptr[i + 1]):
                total += data[t] * w[indices[t]]
            out[i] = y[i] * (shift - total)


# Loops in place of assignments to slices: these take numba seconds to compile.
@compiled()
def _fill(vector, value):
    for i in range(vector.shape[0]):
        vector[i] = value


@compiled()
def _fill_matrix(matrix, value):
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] = value


@compiled()
def _copy(source, target):
    for i in range(source.shape[0]):
        target[i] = source[i]


@compiled()
def _clip(b, u, sigma, out):
    for i in range(b.shape[0]):
        out[i] = min(max(b[i] + sigma * u[i], 0.0), 1.0)


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


@compiled()
def _factor_panel(matrix, floors, begin, end, size):
    """Eliminate the rows from begin to end of a matrix of which only the upper triangle is read.

    Four rows at a time. A pivot that rounding has made too small is raised to a tiny share of its
    diagonal entry, so that the result stays finite.
    """
    j = begin
    while j < end:
        width = min(4, end - j)
        for p in range(j, j + width):
            for k in range(j, p):
                factor = matrix[k, p]
                for i in range(p, size):
                    matrix[p, i] -= factor * matrix[k, i]
            scale = 1.0 / np.sqrt(max(matrix[p, p], floors[p]))
            matrix[p, p] = 1.0 / scale
            for i in range(p + 1, size):
                matrix[p, i] *= scale
        if width == 4:
            r0 = matrix[j]
            r1 = matrix[j + 1]
            r2 = matrix[j + 2]
            r3 = matrix[j + 3]
            for k in range(j + 4, end):
                f0 = r0[k]
                f1 = r1[k]
                f2 = r2[k]
                f3 = r3[k]
                row = matrix[k]
                for i in range(k, size):
                    row[i] -= (f0 * r0[i] + f1 * r1[i]) + (f2 * r2[i] + f3 * r3[i])
        j += width


@compiled()
def _factor(matrix, size):
    """Cholesky factorisation in place, ``U'U``; only the upper triangle is read and written.

    Large matrices are taken by panels, whose products update the rest by BLAS.
    """
    floors = np.empty(size)
    for p in range(size):
        floors[p] = max(1e-14 * matrix[p, p], 1e-300)
    begin = 0
    while begin < size:
        end = size if size - begin < 2 * PANEL else begin + PANEL
        _factor_panel(matrix, floors, begin, end, size)
        # The rest in strips of rows, so that little below the diagonal is computed.
        start = end
        while start < size:
            stop = size if size - start < 2 * STRIP else start + STRIP
            panel = np.ascontiguousarray(matrix[begin:end, start:size])
            product = np.dot(np.ascontiguousarray(panel[:, : stop - start].T), panel)
            for i in range(start, stop):
                row = matrix[i]
                for k in range(i, size):
                    row[k] -= product[i - start, k - start]
            start = stop
        begin = end


@compiled()
def _solve_factored(matrix, rhs, size):
    """Solve ``U'U x = rhs`` in place."""
    for j in range(size):
        rhs[j] /= matrix[j, j]
        row = matrix[j]
        factor = rhs[j]
        for i in range(j + 1, size):
            rhs[i] -= factor * row[i]
    for j in range(size - 1, -1, -1):
        row = matrix[j]
        t0, t1, t2, t3 = rhs[j], 0.0, 0.0, 0.0
        i = j + 1
        # Four sums, which do not wait for each other.
        while i + 4 <= size:
            t0 -= row[i] * rhs[i]
            t1 -= row[i + 1] * rhs[i + 1]
            t2 -= row[i + 2] * rhs[i + 2]
            t3 -= row[i + 3] * rhs[i + 3]
            i += 4
        while i < size:
            t0 -= row[i] * rhs[i]
            i += 1
        rhs[j] = ((t0 + t1) + (t2 + t3)) / row[j]


@compiled()
def _solve_cholesky(matrix, rhs, size):
    """Solve a positive definite system in place; only the upper triangle is read."""
    _factor(matrix, size)
    _solve_factored(matrix, rhs, size)


@compiled()
def _gather(dense, data, indices, indptr, z, cost, rows, start, stop, out):
    """Dense rows ``sqrt(c_i) (x_i - z)`` for ``rows[start:stop]``."""
    for p in range(start, stop):
        i = rows[p]
        scale = np.sqrt(cost[i])
        row = out[p - start]
        if dense.shape[0] > 0:
            for j in range(z.shape[0]):
                row[j] = scale * (dense[i, j] - z[j])
        else:
            for j in range(z.shape[0]):
                row[j] = -scale * z[j]
            for t in range(indptr[i], indptr[i + 1]):
                row[indices[t]] += scale * data[t]


@compiled()
def _add_outer(
    dense, data, indices, indptr, z, cost, rows, n_added, n_rows, block, signed, hessian
):
    """Add ``c_i d_i d_i'`` over the first ``n_added`` rows and subtract it over the others.

    GATHER rows at a time; the upper triangle only.
    """
    for start in range(0, n_rows, GATHER):
        stop = min(start + GATHER, n_rows)
        _gather(dense, data, indices, indptr, z, cost, rows, start, stop, block)
        left = block[: stop - start]
        right = left
        if stop > n_added:
            right = signed[: stop - start]
            for p in range(stop - start):
                sign = 1.0 if start + p < n_added else -1.0
                for j in range(z.shape[0]):
                    right[p, j] = sign * left[p, j]
        product = np.dot(left.T, right)
        for p in range(hessian.shape[0]):
            for q in range(p, hessian.shape[0]):
                hessian[p, q] += product[p, q]


@compiled()
def _list_differences(free, n_free, inside, rows, left):
    """List the rows that enter the Hessian, then those that leave; update the marks.

    Returns the number that enter and the number of both.
    """
    n_enter = 0
    n_left = 0
    for p in range(n_free):
        inside[free[p]] += 2
    for i in range(inside.shape[0]):
        rows[n_enter] = i
        n_enter += inside[i] == 2
        left[n_left] = i
        n_left += inside[i] == 1
        inside[i] = inside[i] >= 2
    for p in range(n_left):
        rows[n_enter + p] = left[p]
    return n_enter, n_enter + n_left


@compiled()
def _gram(dense, data, indices, indptr, z, cost, free, n_free):
    """``sqrt(c_p c_q) d_p.d_q`` over the free rows, up to signs that cancel in the direction."""
    d = z.shape[0]
    if dense.shape[0] > 0:
        rows = np.empty((n_free, d))
        _gather(dense, data, indices, indptr, z, cost, free, 0, n_free, rows)
        return np.dot(rows, rows.T)
    gram = np.empty((n_free, n_free))
    scattered = np.empty(d)
    one = np.ones(n_free)
    for p in range(n_free):
        for j in range(d):
            scattered[j] = -z[j]
        _add_rows(dense, data, indices, indptr, free, p, p + 1, one, scattered)
        shift = np.dot(scattered, z)
        _dot_rows(dense, data, indices, indptr, free, p, n_free, scattered, gram[p])
        for q in range(p, n_free):
            gram[p, q] = np.sqrt(cost[free[p]] * cost[free[q]]) * (gram[p, q] - shift)
    return gram


@compiled()
def _look_up(products, cost, free, n_free, k, out):
    """Fill in the same as :func:`_gram` from the inner products of all rows; k is the pivot."""
    square = products[k, k]
    for p in range(n_free):
        i = free[p]
        row = products[i]
        shift = square - row[k]
        scale = np.sqrt(cost[i])
        for q in range(p, n_free):
            j = free[q]
            out[p, q] = scale * np.sqrt(cost[j]) * (row[j] + (shift - products[k, j]))


@compiled()
def _factor_first(all_outer, all_sum, all_cost, centre, factor):
    """Factorise the matrix of the first step, which all pivots share; write the centre.

    There all rows are free and the penalty is one: its matrices differ by the pivot only, a term
    of rank one about the centre of the rows.
    """
    d = centre.shape[0]
    for p in range(d):
        centre[p] = all_sum[p] / all_cost
        for q in range(p, d):
            factor[p, q] = SIGMA_START * (all_outer[p, q] - all_sum[p] * all_sum[q] / all_cost)
        factor[p, p] += 1.0
    _factor(factor, d)


@compiled()
def _sum_margins(columns, data, indices, indptr, y, z, w, u):
    """Write ``u = 1 - w.d_i``."""
    _margins(columns, data, indices, indptr, y, z, w, u)
    for i in range(u.shape[0]):
        u[i] += 1.0


@compiled()
def _start_warm(dense, data, indices, indptr, y, cost, z, every, b, counted, by_row, v):
    """Count multipliers that are there in v; return sum c_i b_i."""
    linear = 0.0
    shift = 0.0
    for i in range(b.shape[0]):
        counted[i] = b[i]
        linear += cost[i] * b[i]
        by_row[i] = y[i] * cost[i] * b[i]
        shift += by_row[i]
    _add_rows(dense, data, indices, indptr, every, 0, b.shape[0], by_row, v)
    for j in range(z.shape[0]):
        v[j] -= shift * z[j]
    return linear


@compiled()
def _find_first_direction(centre, all_cost, factor, z, gradient, moved, solved, direction):
    """Newton direction where all rows are free at the first penalty, from the shared factor.

    ``(B + r m m')^-1 g = B^-1 g - r (m.B^-1 g) B^-1 m / (1 + r m.B^-1 m)``.
    """
    d = z.shape[0]
    for j in range(d):
        moved[j] = z[j] - centre[j]
        solved[j] = moved[j]
        direction[j] = -gradient[j]
    _solve_factored(factor, solved, d)
    _solve_factored(factor, direction, d)
    rate = SIGMA_START * all_cost
    above = 0.0
    below = 1.0
    for j in range(d):
        above += rate * moved[j] * direction[j]
        below += rate * moved[j] * solved[j]
    for j in range(d):
        direction[j] -= above / below * solved[j]


@compiled()
def _find_direction_by_rows(
    dense, data, indices, indptr, cost, z, sigma, free, n_free, system, gradient, rhs, direction
):
    """Newton direction from the inner products of the free rows, where these are few."""
    base = np.dot(z, gradient)
    _dot_rows(dense, data, indices, indptr, free, 0, n_free, gradient, rhs)
    for p in range(n_free):
        for q in range(p, n_free):
            system[p, q] *= sigma
        system[p, p] += 1.0
        rhs[p] = np.sqrt(sigma * cost[free[p]]) * (rhs[p] - base)
    _solve_cholesky(system, rhs, n_free)
    shift = 0.0
    for j in range(z.shape[0]):
        direction[j] = -gradient[j]
    for p in range(n_free):
        rhs[p] *= np.sqrt(sigma * cost[free[p]])
        shift += rhs[p]
    _add_rows(dense, data, indices, indptr, free, 0, n_free, rhs, direction)
    for j in range(z.shape[0]):
        direction[j] -= shift * z[j]


@compiled()
def _move_sum(outer, row, total, z, hessian):
    """The sum of ``c_i d_i d_i'`` over all rows, from their sums and the pivot."""
    for p in range(z.shape[0]):
        for q in range(p, z.shape[0]):
            hessian[p, q] = outer[p, q] - row[p] * z[q] - z[p] * row[q] + total * z[p] * z[q]


@compiled(
    "void(float64[:, ::1], float64[:, ::1], float64[::1], int32[::1], int32[::1],"
    " float64[:, ::1], float64[::1], float64[::1], int64[::1], float64, int64,"
    " float64[:, ::1], float64[::1], float64[::1], int64[::1])"
)
def solve_pivots(
    dense,
    columns,
    data,
    indices,
    indptr,
    products,
    y,
    cost,
    pivots,
    tol,
    max_iter,
    coef,
    objective,
    lower_bound,
    n_iter,
):
    """Solve the problem of each pivot row; write solution, values and Newton steps.

    Dense data come as rows and as columns with empty CSR arrays; CSR data with empty dense ones.
    ``products`` are the inner products of all rows, or empty.
    """
    n = y.shape[0]
    d = coef.shape[1]
    z = np.empty(d)
    w = np.empty(d)
    v = np.empty(d)
    gradient = np.empty(d)
    direction = np.empty(d)
    moved = np.empty(d)
    solved = np.empty(d)
    best_w = np.empty(d)
    u = np.empty(n)
    b = np.empty(n)
    trial = np.empty(n)
    counted = np.empty(n)
    best_trial = np.empty(n)
    by_row = np.empty(n)
    along = np.empty(n)
    cost_along = np.empty(n)
    changed = np.empty(n + 1, np.int64)
    free = np.empty(n + 1, np.int64)
    left = np.empty(n + 1, np.int64)
    inside = np.zeros(n, np.int64)
    rhs = np.empty(max(min(n, d), 1))
    # The d x d form is only ever used with at least d free rows.
    hessian = np.zeros((d, d)) if d <= n else np.zeros((0, 0))
    scaled = np.empty(hessian.shape)
    block = np.empty((min(GATHER, n), d)) if d <= n else np.empty((0, d))
    signed = np.empty(block.shape)
    looked_up = np.empty((n, n)) if products.shape[0] > 0 else np.empty((0, 0))
    every = np.arange(n)
    all_cost = np.sum(cost)
    all_sum = np.zeros(d)
    _add_rows(dense, data, indices, indptr, every, 0, n, cost, all_sum)
    all_outer = np.zeros(hessian.shape)
    if d <= n:
        _fill(z, 0.0)
        _add_outer(dense, data, indices, indptr, z, cost, every, n, n, block, signed, all_outer)
    shares_first = MIN_SHARED <= d <= n
    centre = np.empty(d)
    first = np.empty((d, d)) if shares_first else np.empty((0, 0))
    if shares_first:
        _factor_first(all_outer, all_sum, all_cost, centre, first)
    one = np.ones(pivots.shape[0])
    n_free = n

    for index in range(pivots.shape[0]):
        _fill(z, 0.0)
        _add_rows(dense, data, indices, indptr, pivots, index, index + 1, one, z)
        _fill(v, 0.0)
        _fill(inside, 0)
        # Where most rows stayed free, the multipliers of another pivot say little.
        warm = products.shape[0] > 0 and index > 0 and 2 * n_free <= n
        if warm:
            _copy(trial, b)
            linear = _start_warm(
                dense, data, indices, indptr, y, cost, z, every, b, counted, by_row, v
            )
            _copy(v, w)
            _sum_margins(columns, data, indices, indptr, y, z, w, u)
        else:
            linear = 0.0
            _fill(w, 0.0)
            _fill(u, 1.0)
            _fill(b, 0.0)
            _fill(counted, 0.0)
        sigma = SIGMA_START
        steps = 0
        inner = 0
        updates = MAX_UPDATES
        checked = False
        stalled = False
        best_gap = np.inf
        _clip(b, u, sigma, trial)
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
            _add_rows(dense, data, indices, indptr, changed, 0, n_changed, by_row, v)
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
                    # Out of steps, maybe astray beyond what float64 can tell apart.
                    _copy(best_w, w)
                    _copy(best_trial, trial)
                # u and v were updated step by step: certify from sums made anew.
                checked = True
                _sum_margins(columns, data, indices, indptr, y, z, w, u)
                _fill(v, 0.0)
                _fill(counted, 0.0)
                linear = 0.0
                continue
            checked = False

            for i in range(n):
                by_row[i] = (trial[i] - b[i]) ** 2
            progress = np.dot(cost, by_row) / sigma
            outer = stalled or (inner > 0 and squared_gradient <= INNER_RATIO * progress)
            if outer:
                _copy(trial, b)
                settled = squared_gradient <= SETTLED * np.dot(w, w)
                sigma *= SETTLED_GROWTH if settled else SIGMA_GROWTH
                inner = 0
                stalled = False
                # The first Newton step keeps the free rows, where the gradient of their linear
                # pieces is the guide: at the new multipliers and penalty many of them would be
                # clipped for one step only.
                shift = 0.0
                for p in range(n_free):
                    i = free[p]
                    by_row[p] = -sigma * cost[i] * u[i] * y[i]
                    shift += by_row[p]
                _add_rows(dense, data, indices, indptr, free, 0, n_free, by_row, gradient)
                for j in range(d):
                    gradient[j] -= shift * z[j]

            if shares_first and steps == 0 and not warm:
                _find_first_direction(
                    centre, all_cost, first, z, gradient, moved, solved,
                    direction,
                )  # fmt: skip
            elif n_free < d:
                if products.shape[0] > 0:
                    system = looked_up
                    _look_up(products, cost, free, n_free, pivots[index], system)
                else:
                    system = _gram(dense, data, indices, indptr, z, cost, free, n_free)
                _find_direction_by_rows(
                    dense, data, indices, indptr, cost, z, sigma, free, n_free, system, gradient,
                    rhs, direction,
                )  # fmt: skip
            else:
                if n_free == n:  # as at each start
                    _move_sum(all_outer, all_sum, all_cost, z, hessian)
                    _fill(inside, 1)
                    updates = 0
                else:
                    n_enter = n_free
                    n_both = n_free
                    if d >= MIN_UPDATED:
                        n_enter, n_both = _list_differences(free, n_free, inside, changed, left)
                        updates += 1
                    if n_both >= n_free or updates > MAX_UPDATES:
                        _fill_matrix(hessian, 0.0)
                        _add_outer(
                            dense, data, indices, indptr, z, cost, free, n_free, n_free,
                            block, signed, hessian,
                        )  # fmt: skip
                        updates = 0
                    else:
                        _add_outer(
                            dense, data, indices, indptr, z, cost, changed, n_enter, n_both,
                            block, signed, hessian,
                        )  # fmt: skip
                for j in range(d):
                    for q in range(j, d):
                        scaled[j, q] = sigma * hessian[j, q]
                    scaled[j, j] += 1.0
                    direction[j] = -gradient[j]
                _solve_cholesky(scaled, direction, d)

            _margins(columns, data, indices, indptr, y, z, direction, along)
            steps += 1
            for i in range(n):
                cost_along[i] = cost[i] * along[i]
            slope_w = np.dot(w, direction)
            slope_d = np.dot(direction, direction)
            low = 0.0
            _clip(b, u, sigma, trial)
            slope_low = slope_w + np.dot(trial, cost_along)
            if slope_low >= 0.0:
                # No descent: the prediction was off, else rounding has the last word.
                stalled = not outer
                continue
            high = -1.0
            slope_high = 0.0
            target = LINE_SEARCH_RATIO * abs(slope_low)
            step = 1.0
            for _ in range(MAX_LINE_SEARCH):
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

        _copy(w, coef[index])
        objective[index] = upper
        lower_bound[index] = lower
        n_iter[index] = steps
