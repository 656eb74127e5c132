"""How to minimise: rows and a loss in, a result with its certificate out."""

from ._accuracy_at_top import (
    AccuracyAtTopSolution,
    Selection,
    select_solution,
    solve_accuracy_at_top,
)
from ._candidates import (
    CandidateSolutions,
    CandidateValues,
    PivotSolver,
    Top,
    solve_candidates,
)
from ._contracts import choose_method
from ._design import Design, as_design
from ._hinge import HingeProblem, solve_linear_hinge
from ._kernel import check_definite, factorise_kernel
from ._linear import LinearProblem, Quadratic, quadratic_expansion, solve_linear
from ._newton import solve_pivots_newton
from ._p_norm_push import PNormPushProblem, solve_p_norm_push
from ._pivot_problem import PivotProblem, most_blocks
from ._refine import best_scales, refine_top
from ._result import SolverResult

__all__ = [
    "AccuracyAtTopSolution",
    "CandidateSolutions",
    "CandidateValues",
    "Design",
    "HingeProblem",
    "LinearProblem",
    "PNormPushProblem",
    "PivotProblem",
    "PivotSolver",
    "Quadratic",
    "Selection",
    "SolverResult",
    "Top",
    "as_design",
    "best_scales",
    "check_definite",
    "choose_method",
    "factorise_kernel",
    "most_blocks",
    "quadratic_expansion",
    "refine_top",
    "select_solution",
    "solve_accuracy_at_top",
    "solve_candidates",
    "solve_linear",
    "solve_linear_hinge",
    "solve_p_norm_push",
    "solve_pivots_newton",
]
