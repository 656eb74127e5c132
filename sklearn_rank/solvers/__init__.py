"""How to minimise: arrays in, a result with its certificate out."""

from ._accuracy_at_top import AccuracyAtTopSolution, solve_accuracy_at_top
from ._cvxpy import solve_pivots_cvxpy
from ._kernel import KernelFactor, check_definite, factorise_kernel
from ._newton import solve_pivots_newton
from ._pivot_problem import PivotProblem, PivotSolutions
from ._refine import RefinedSolution, best_scales, refine_top

__all__ = [
    "AccuracyAtTopSolution",
    "KernelFactor",
    "PivotProblem",
    "PivotSolutions",
    "RefinedSolution",
    "best_scales",
    "check_definite",
    "factorise_kernel",
    "refine_top",
    "solve_accuracy_at_top",
    "solve_pivots_cvxpy",
    "solve_pivots_newton",
]
