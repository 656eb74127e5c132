"""The fast solver: method of multipliers with semismooth Newton steps in compiled loops."""

from __future__ import annotations

import numpy as np

from .._typing import IntArray
from ._pivot_problem import PivotProblem, PivotSolutions

__all__ = ["prepare_newton", "solve_pivots_newton"]


def prepare_newton() -> None:
    """Compile the kernel, or load it from numba's cache, in the calling process."""
    from ._pivot_kernels import solve_pivots

    solve_pivots.compile()


def solve_pivots_newton(
    problem: PivotProblem, pivots: IntArray, *, tol: float = 1e-6, max_iter: int = 500
) -> PivotSolutions:
    """Solve the problems of some pivots by an augmented Lagrangian with Newton steps.

    Parameters
    ----------
    problem : PivotProblem
        The problems.
    pivots : ndarray of shape (n_pivots,)
        Row numbers of the pivots, int64.
    tol : float, default=1e-6
        Relative duality gap at which a problem counts as solved; smaller is more accurate.
    max_iter : int, default=500
        Most Newton steps for one problem.

    Returns
    -------
    PivotSolutions
        Solutions with certificates made anew from the data at the end.

    See Also
    --------
    solve_pivots_cvxpy : The slow reference, by an interior-point method.

    Notes
    -----
    A Newton step costs one product with the data, O(n d), and the factorisation of a matrix of
    min(d, number of rows with free multipliers). Some 10 to 50 steps are needed, more for larger
    cost. Each problem starts from zero, or with many features from the one before it: see the
    kernel for why. Peak memory: a copy of the data, O(min(n, d)^2) and O(n + d); with 100 dense
    features or more, at least an eighth of the rows, and at most 4,096 rows, two arrays of
    n x n.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import PivotProblem, solve_pivots_newton
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> problem = PivotProblem.from_rows(X, np.array([-1, 1, 1]), np.ones(3), np.ones(3))
    >>> np.round(solve_pivots_newton(problem, problem.pivots[:1]).coef, 3)
    array([[1.]])
    """
    from ._pivot_kernels import solve_pivots

    n_pivots = len(pivots)
    coef = np.empty((n_pivots, problem.n_features))
    objective = np.empty(n_pivots)
    lower_bound = np.empty(n_pivots)
    n_iter = np.empty(n_pivots, dtype=np.int64)
    solve_pivots(
        *problem.rows.compiled_arrays(),
        problem.products,
        problem.y,
        problem.cost,
        np.ascontiguousarray(pivots, dtype=np.int64),
        tol,
        max_iter,
        coef,
        objective,
        lower_bound,
        n_iter,
    )
    return PivotSolutions.judged(coef, objective, lower_bound, n_iter, tol=tol)
