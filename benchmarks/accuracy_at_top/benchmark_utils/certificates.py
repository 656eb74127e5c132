"""The judge's arithmetic, from the definition of the problem and from nothing else.

For the pivot ``z`` the problem is ``min_w 1/2 |w|^2 + sum_i c_i max(0, 1 - y_i w.(x_i - z))``.
By weak duality any ``0 <= a_i <= c_i`` bounds it from below by
``sum_i a_i - 1/2 |sum_i a_i y_i (x_i - z)|^2``, whoever found ``a``.
"""

import hashlib

import clarabel
import numpy as np
import scipy.sparse as sp

REFERENCE_TOL = 1e-11

# Bounds found in this process, by problem: benchopt makes a new objective for each run.
_FOUND = {}


def primal_value(X, y, cost, row, coef):
    """Value of the problem of pivot ``row`` at ``coef``: an upper bound on its optimum."""
    hinge = np.maximum(1.0 - y * ((X - X[row]) @ coef), 0.0)
    return 0.5 * float(coef @ coef) + float(cost @ hinge)


def dual_value(X, y, cost, row, multipliers):
    """Value of the multipliers, clipped to the box: a lower bound on the optimum."""
    clipped = np.clip(multipliers, 0.0, cost)
    span = (X - X[row]).T @ (y * clipped)
    return float(clipped.sum()) - 0.5 * float(span @ span)


def solve_reference(X, y, cost, row):
    """Solve one problem by Clarabel's own interface to high accuracy.

    Returns
    -------
    tuple of (float, float)
        Lower and upper bound on the optimum, both recomputed from the points found.
    """
    n, d = X.shape
    differences = y[:, None] * (X - X[row])
    # Variables w and slacks over cost; the slacks and margins are the rows, both nonnegative.
    quadratic = sp.block_diag([sp.identity(d), sp.csc_matrix((n, n))], format="csc")
    rows = sp.bmat(
        [[sp.csc_matrix(-differences), -sp.identity(n)], [None, -sp.identity(n)]], format="csc"
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.max_iter = 200
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = REFERENCE_TOL
    solution = clarabel.DefaultSolver(
        quadratic,
        np.concatenate([np.zeros(d), cost]),
        rows,
        np.concatenate([-np.ones(n), np.zeros(n)]),
        [clarabel.NonnegativeConeT(2 * n)],
        settings,
    ).solve()
    multipliers = np.asarray(solution.z)[:n]
    candidates = [np.asarray(solution.x)[:d], differences.T @ np.clip(multipliers, 0.0, cost)]
    lower = dual_value(X, y, cost, row, multipliers)
    upper = min(primal_value(X, y, cost, row, coef) for coef in candidates)
    return lower, upper


class Reference:
    """Lower and upper bounds on the optima of one data set and cost, solved when asked for."""

    def __init__(self, X, y, cost):
        self.problem = X, y, cost
        digest = hashlib.sha256()
        for array in self.problem:
            digest.update(np.ascontiguousarray(array).tobytes())
        self.found = _FOUND.setdefault(digest.hexdigest(), {})

    def bounds(self, row):
        """Return the lower and the upper bound for one pivot row."""
        row = int(row)
        if row not in self.found:
            self.found[row] = solve_reference(*self.problem, row)
        return self.found[row]

    def save(self, path):
        """Write what has been solved so far."""
        rows = np.array(sorted(self.found))
        np.savez(path, rows=rows, bounds=np.array([self.found[row] for row in rows]))

    def load(self, path):
        """Read what another process has solved."""
        with np.load(path) as stored:
            pairs = zip(stored["rows"], stored["bounds"], strict=True)
            self.found.update({int(row): tuple(bounds) for row, bounds in pairs})
