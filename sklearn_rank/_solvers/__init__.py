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
from ._columns import by_columns
from ._contracts import choose_method
from ._cutting_planes import CuttingPlaneResult, Planes, solve_cutting_planes
from ._design import Design, as_design
from ._hinge import HingeProblem, solve_linear_hinge
from ._kernel import check_definite, factorise_kernel
from ._linear import LinearProblem, Quadratic, quadratic_expansion, solve_linear
from ._newton import solve_pivots_newton
from ._p_norm_push import PNormPushProblem, solve_p_norm_push
from ._pivot_problem import PivotProblem, most_blocks
from ._rank_boost import Boosting, PairWeights, RankBoostResult, rank_boost
from ._rank_statistic import (
    CumulatedPhi,
    RankStatisticProblem,
    RankStatisticSolution,
    Search,
    maximise_rank_statistic,
)
from ._refine import best_scales, refine_top
from ._result import SolverResult
from ._weak_rankings import FeatureRanking, Features, Found, Stump, Stumps, score_by_tables

__all__ = [
    "AccuracyAtTopSolution",
    "Boosting",
    "CandidateSolutions",
    "CandidateValues",
    "CumulatedPhi",
    "CuttingPlaneResult",
    "Design",
    "FeatureRanking",
    "Features",
    "Found",
    "HingeProblem",
    "LinearProblem",
    "PNormPushProblem",
    "PairWeights",
    "PivotProblem",
    "PivotSolver",
    "Planes",
    "Quadratic",
    "RankBoostResult",
    "RankStatisticProblem",
    "RankStatisticSolution",
    "Search",
    "Selection",
    "SolverResult",
    "Stump",
    "Stumps",
    "Top",
    "as_design",
    "best_scales",
    "by_columns",
    "check_definite",
    "choose_method",
    "factorise_kernel",
    "maximise_rank_statistic",
    "most_blocks",
    "quadratic_expansion",
    "rank_boost",
    "refine_top",
    "score_by_tables",
    "select_solution",
    "solve_accuracy_at_top",
    "solve_candidates",
    "solve_cutting_planes",
    "solve_linear",
    "solve_linear_hinge",
    "solve_p_norm_push",
    "solve_pivots_newton",
]
