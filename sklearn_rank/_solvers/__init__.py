"""Solvers, which minimise a loss on rows and return a result with a certificate."""

from ._accuracy_at_top import (
    AccuracyAtTopSolution,
    Selection,
    select_solution,
    solve_accuracy_at_top,
)
from ._block_problem import BlockProblem, Blocks
from ._blocked_design import BlockedDesign
from ._candidates import (
    CandidateSolutions,
    CandidateValues,
    PivotSolver,
    Top,
    solve_candidates,
)
from ._chunked_design import ChunkedDesign, ChunkOfRows
from ._collapse import collapses, largest_collapsing_mass
from ._columns import by_columns
from ._contracts import LossOfScores, choose_method
from ._cutting_planes import CuttingPlaneResult, Planes, solve_cutting_planes
from ._design import Design, InMemoryDesign, as_design, as_kernel_design
from ._difference_losses import DifferenceLoss, Hinge, Linear, LogisticLoss, SquaredHinge
from ._hinge import BlockHingeProblem, HingeProblem, solve_linear_hinge
from ._kernel import KernelFactor, check_definite, factorise_kernel, factorise_kernel_matrix
from ._label_problem import LabelProblem
from ._linear import LinearSolution, solve_linear
from ._linear_problem import LinearProblem, Quadratic, quadratic_expansion
from ._logistic_regression import solve_logistic_regression
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
from ._result import Certificate, SolverResult
from ._scales import column_scales
from ._score_objectives import (
    ExponentialPush,
    LogisticLikelihood,
    LogisticPush,
    ScoreObjective,
)
from ._threads import threads_here
from ._top_functionals import SurrogateQuantile, TopFunctional, TopMean
from ._top_objectives import SmoothAccuracyAtTop, SmoothRankStatistic, SmoothTopPush
from ._top_part import TopPushProblem
from ._top_push import TopPushSolution, solve_top_push
from ._view_design import view_design
from ._weak_rankings import FeatureRanking, Features, Found, Stump, Stumps, score_by_tables

__all__ = [
    "AccuracyAtTopSolution",
    "BlockHingeProblem",
    "BlockProblem",
    "BlockedDesign",
    "Blocks",
    "Boosting",
    "CandidateSolutions",
    "CandidateValues",
    "Certificate",
    "ChunkOfRows",
    "ChunkedDesign",
    "CumulatedPhi",
    "CuttingPlaneResult",
    "Design",
    "DifferenceLoss",
    "ExponentialPush",
    "FeatureRanking",
    "Features",
    "Found",
    "Hinge",
    "HingeProblem",
    "InMemoryDesign",
    "KernelFactor",
    "LabelProblem",
    "Linear",
    "LinearProblem",
    "LinearSolution",
    "LogisticLoss",
    "LogisticLikelihood",
    "LogisticPush",
    "LossOfScores",
    "PNormPushProblem",
    "PairWeights",
    "PivotProblem",
    "PivotSolver",
    "Planes",
    "Quadratic",
    "RankBoostResult",
    "RankStatisticProblem",
    "RankStatisticSolution",
    "ScoreObjective",
    "Search",
    "Selection",
    "SmoothAccuracyAtTop",
    "SmoothRankStatistic",
    "SmoothTopPush",
    "SolverResult",
    "SquaredHinge",
    "Stump",
    "Stumps",
    "SurrogateQuantile",
    "Top",
    "TopFunctional",
    "TopMean",
    "TopPushProblem",
    "TopPushSolution",
    "as_design",
    "as_kernel_design",
    "best_scales",
    "by_columns",
    "check_definite",
    "choose_method",
    "column_scales",
    "collapses",
    "factorise_kernel",
    "factorise_kernel_matrix",
    "maximise_rank_statistic",
    "largest_collapsing_mass",
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
    "solve_logistic_regression",
    "solve_p_norm_push",
    "solve_pivots_newton",
    "solve_top_push",
    "threads_here",
    "view_design",
]
