"""The global minimum of accuracy at the top, by exhaustion: slow, obvious, independent.

Any weights put some row at the quantile, some set of rows at or above it, and the rest at or
below. For each such choice the problem is convex; the least of all minima is the global one.
"""

from __future__ import annotations

from itertools import combinations

import cvxpy as cp
import numpy as np


def quantile(scores, mass, top_mass):
    """Largest score such that the rows that score at least as much have the mass of the top."""
    for u in sorted(scores, reverse=True):
        if sum(m for s, m in zip(scores, mass, strict=True) if s >= u) >= top_mass:
            return u
    return min(scores)


def value(w, X, y, cost, mass, top_mass):
    """1/2 |w|^2 plus the hinge loss around the quantile of the scores."""
    scores = [float(np.dot(w, x)) for x in X]
    q = quantile(scores, mass, top_mass)
    total = 0.5 * float(np.dot(w, w))
    for s, label, c in zip(scores, y, cost, strict=True):
        total += c * max(0.0, 1.0 - label * (s - q))
    return total


def cones(mass, top_mass):
    """All pairs of a row and a set of other rows that leave it at the quantile."""
    rows = range(len(mass))
    for pivot in rows:
        others = [i for i in rows if i != pivot]
        for size in range(len(mass)):
            for above in combinations(others, size):
                inside = sum(mass[i] for i in above)
                if inside < top_mass <= inside + mass[pivot]:
                    yield pivot, above


def _parametrised(X, y, cost):
    w = cp.Variable(X.shape[1])
    shifted, turned = cp.Parameter(X.shape), cp.Parameter(X.shape)
    hinges = cp.pos(1 - cp.multiply(y, shifted @ w))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cost @ hinges), [turned @ w >= 0])
    return problem, w, shifted, turned


def _solve(parametrised, X, pivot, above):
    problem, w, shifted, turned = parametrised
    shifted.value = X - X[pivot]
    side = np.array([1.0 if i in above else -1.0 for i in range(len(X))])
    turned.value = side[:, np.newaxis] * shifted.value
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(problem.value), np.array(w.value)


def minimum_over_cone(X, y, cost, pivot, above):
    """Least loss around the pivot with the rows above at least, the rest at most as high."""
    return _solve(_parametrised(X, y, cost), X, pivot, set(above))


def global_minimum(X, y, cost, mass, top_mass):
    """The global minimum, over all cones."""
    parametrised = _parametrised(X, y, cost)
    return min(
        _solve(parametrised, X, pivot, set(above))[0] for pivot, above in cones(mass, top_mass)
    )
