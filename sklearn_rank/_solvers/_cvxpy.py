"""Slow reference solver: interior-point method of cvxpy, with the same certificate."""

from __future__ import annotations

import numpy as np

from .._typing import IntArray
from ._pivot_problem import PivotProblem, PivotSolutions

__all__ = ["solve_pivots_cvxpy"]


def solve_pivots_cvxpy(
    problem: PivotProblem, pivots: IntArray, *, tol: float = 1e-6, max_iter: int = 500
) -> PivotSolutions:
    """Solve the problems of some pivots with cvxpy and its interior-point solver Clarabel."""
    import cvxpy as cp

    # The solver's tolerances are for problems of unit size: the weights are w = unit w'.
    unit = float(np.sqrt(np.mean(problem.cost)))
    rows, y, cost = problem.rows.matrix * unit, problem.y, problem.cost / unit**2
    coef = cp.Variable(problem.n_features)
    slack = cp.Variable(len(y), nonneg=True)
    pivot = cp.Parameter(problem.n_features)
    margin = slack >= 1 - cp.multiply(y, rows @ coef - pivot @ coef)
    quadratic = cp.Problem(cp.Minimize(cp.sum_squares(coef) / 2 + cost @ slack), [margin])

    options = {
        "max_iter": max_iter,
        "tol_gap_abs": tol / 100 * float(np.min(cost)),
        "tol_gap_rel": tol / 100,
        "tol_feas": min(tol / 100, 1e-8),
    }
    n_pivots = len(pivots)
    solutions = np.zeros((n_pivots, problem.n_features))
    lower_bound = np.zeros(n_pivots)
    n_iter = np.zeros(n_pivots, dtype=np.int64)
    for index, row in enumerate(pivots):
        pivot.value = unit * problem.rows.rows([row]).to_array()[0]
        # The steps of Problem.solve, without its warning for a solution that is not accurate: the
        # certificate says how accurate it is.
        data, chain, inverse = quadratic.get_problem_data(cp.CLARABEL, solver_opts=options)
        found = chain.solve_via_data(quadratic, data, solver_opts=options)
        answer = chain.invert(found, inverse)
        if answer.status not in cp.settings.SOLUTION_PRESENT:
            continue
        quadratic.unpack(answer)
        multipliers = np.clip(margin.dual_value, 0.0, cost)
        signed = y * multipliers
        span = unit * problem.rows.pull_back(signed) - signed.sum() * pivot.value
        solutions[index] = unit * coef.value
        share = min(1.0, multipliers.sum() / max(span @ span, 1e-300))  # is feasible, and better
        lower_bound[index] = unit**2 * (share * multipliers.sum() - share**2 * (span @ span) / 2)
        n_iter[index] = answer.attr[cp.settings.NUM_ITERS]
    scores = problem.scores(solutions)
    objective = problem.objective(solutions, scores, scores[np.arange(n_pivots), pivots])
    return PivotSolutions.judged(solutions, objective, lower_bound, n_iter, tol=tol)
