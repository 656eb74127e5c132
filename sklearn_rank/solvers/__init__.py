"""How to minimise: arrays in, a result with its certificate out."""

from ._accuracy_at_top import AccuracyAtTopSolution, solve_accuracy_at_top
from ._cvxpy import solve_pivots_cvxpy
from ._newton import solve_pivots_newton
from ._pivot_problem import PivotProblem, PivotSolutions

__all__ = [
    "AccuracyAtTopSolution",
    "PivotProblem",
    "PivotSolutions",
    "solve_accuracy_at_top",
    "solve_pivots_cvxpy",
    "solve_pivots_newton",
]
