"""How to minimise: arrays in, a result with its certificate out."""

from ._accuracy_at_top import AccuracyAtTopSolution, solve_accuracy_at_top
from ._contracts import LossOfScores, LossProperties, choose_method
from ._cvxpy import solve_pivots_cvxpy
from ._design import DenseDesign, Design, SparseDesign, as_design
from ._hinge import HingeProblem, solve_linear_hinge
from ._kernel import KernelFactor, check_definite, factorise_kernel
from ._linear import (
    LinearProblem,
    LinearSolution,
    Quadratic,
    quadratic_expansion,
    solve_linear,
)
from ._newton import solve_pivots_newton
from ._pivot_problem import PivotProblem, PivotSolutions
from ._refine import RefinedSolution, best_scales, refine_top
from ._result import Certificate, SolverResult, relative_gap

__all__ = [
    "AccuracyAtTopSolution",
    "Certificate",
    "DenseDesign",
    "Design",
    "HingeProblem",
    "KernelFactor",
    "LinearProblem",
    "LinearSolution",
    "LossOfScores",
    "LossProperties",
    "PivotProblem",
    "PivotSolutions",
    "Quadratic",
    "RefinedSolution",
    "SolverResult",
    "SparseDesign",
    "as_design",
    "best_scales",
    "check_definite",
    "choose_method",
    "factorise_kernel",
    "quadratic_expansion",
    "refine_top",
    "relative_gap",
    "solve_accuracy_at_top",
    "solve_linear",
    "solve_linear_hinge",
    "solve_pivots_cvxpy",
    "solve_pivots_newton",
]
