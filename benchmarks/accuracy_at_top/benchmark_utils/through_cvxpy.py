"""What the peers that go through cvxpy share: the objective, the options, and failures."""

import cvxpy as cp
import numpy as np


def objective_value(coef, cost, slack):
    """Half the squared norm plus the cost of the slacks."""
    return cp.sum_squares(coef) / 2 + cost @ slack


def options(backend, tolerance):
    """Options that ask a backend for a tolerance."""
    if backend == "osqp":
        return {
            "solver": cp.OSQP,
            "eps_abs": tolerance,
            "eps_rel": tolerance,
            "max_iter": 20_000,
        }
    return {
        "solver": cp.CLARABEL,
        "tol_gap_abs": tolerance,
        "tol_gap_rel": tolerance,
        "tol_feas": tolerance,
    }


def solve(problem, coef, margin, choice):
    """Solve; zeros where the backend gives up.

    Returns
    -------
    tuple of (ndarray, ndarray, float)
        Weights, multipliers of the margins, seconds inside the backend.
    """
    try:
        problem.solve(**choice)
    except cp.SolverError:
        return np.zeros(coef.shape), np.zeros(margin.shape), np.nan
    if coef.value is None:
        return np.zeros(coef.shape), np.zeros(margin.shape), np.nan
    return coef.value, margin.dual_value, problem.solver_stats.solve_time
