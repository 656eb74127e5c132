"""Solvers, which minimise a loss on rows and return a result with a certificate."""

from ._accuracy_at_top import (
    AccuracyAtTopSolution,
    Selection,
    best_scales,
    refine_top,
    select_solution,
    solve_accuracy_at_top,
    solve_candidates,
)
from ._design import (
    COPIED_ROWS,
    LARGEST_COPY,
    LOST,
    ChunkedDesign,
    DenseDesign,
    Design,
    InMemoryDesign,
    as_design,
    bytes_of,
    check_definite,
    column_scales,
    factorise_kernel,
    factorise_kernel_matrix,
    view_design,
)
from ._linear import (
    STEP,
    LabelledRows,
    LabelProblem,
    LinearProblem,
    OnePart,
    Parts,
    Quadratic,
    label_problem,
    quadratic_expansion,
    solve_linear,
    solve_linear_hinge,
)
from ._pivots import PivotProblem, PivotSolutions, most_blocks, solve_pivots_newton
from ._rank_boost import (
    FeatureRanking,
    PairWeights,
    RankBoostResult,
    Stump,
    Stumps,
    WeakRanking,
    WeakSearch,
    best_feature,
    by_columns,
    rank_boost,
)
from ._result import Certificate, SolverResult, choose_method, count_threads
from ._score_functions import (
    ROUNDING_OF_STATISTIC,
    CumulatedPhi,
    ExponentialPush,
    LogisticPush,
    RankStatisticProblem,
    RankStatisticSolution,
    Search,
    maximise_rank_statistic,
    minimise_push,
)
from ._top_push import (
    Hinge,
    LogisticLoss,
    SquaredHinge,
    TopMean,
    TopPushProblem,
    largest_collapsing_mass,
    solve_top_push,
)
