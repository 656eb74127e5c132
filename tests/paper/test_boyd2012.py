"""Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*: Problems (1), (2), Eq. (3).

Every convex problem is judged by two others' solutions (primal and dual, from cvxpy) and by its
own certificate; the non-convex problem by search; the choice among the solutions by brute force,
exactly where the order of the scores is certified and up to the certified tolerance elsewhere.
"""

from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank._solvers import PivotProblem, solve_pivots_newton
from sklearn_rank._solvers._pivots import solve_pivots_cvxpy
from sklearn_rank.exceptions import QuantileDistanceWarning, SmallTopWarning
from tests.naming import for_each
from tests.oracles import accuracy_at_top as oracle

# The random problems are small; many have no candidate near its quantile.
pytestmark = pytest.mark.filterwarnings(
    f"ignore::{QuantileDistanceWarning.__module__}.QuantileDistanceWarning"
)

SOLVERS = {"newton": solve_pivots_newton, "cvxpy": solve_pivots_cvxpy}
ORACLE_ERROR = 1e-8  # relative, of the value of an interior-point solution


def random_rows(seed):
    """Small random data with real features, no ties."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(8, 16), rng.integers(1, 5)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    y[:2] = [-1, 1]
    X = rng.normal(size=(n, d)) + 0.7 * y[:, None]
    return X, y, np.ones(n)


def weighted_rows(seed):
    X, y, _ = random_rows(seed)
    return X, y, np.random.default_rng(seed).integers(1, 4, size=len(y)).astype(float)


def duplicated_rows(seed):
    """Whole-number features, so that rows repeat, within the classes and across them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(14, 2)).astype(float)
    y = np.where(rng.random(14) < 0.5, 1, -1)
    y[:4] = [-1, 1, 1, 1]
    X[1] = X[0]
    X[3] = X[2]
    return X, y, rng.integers(1, 3, size=14).astype(float)


def equal_means(seed):
    """Rows of each class around the same centre: with small costs the solution is w = 0."""
    rng = np.random.default_rng(seed)
    half = rng.integers(-2, 3, size=(6, 2)).astype(float)
    X = np.vstack([half, -half])
    y = np.tile([1, 1, -1, 1, 1, -1], 2)
    return X, y, np.ones(12)


def equal_rows(seed):
    """One point only: every w.(x_i - z) is zero and so is the solution."""
    return np.full((6, 3), 1.5), np.array([1, -1, 1, -1, -1, -1]), np.ones(6)


CASES = {
    "random": random_rows,
    "weighted": weighted_rows,
    "duplicated": duplicated_rows,
    "equal means": equal_means,
    "equal rows": equal_rows,
}


def problem_for(X, y, weight, C, class_weight="balanced"):
    """The problem, with costs by the oracle: one per row, times the row's weight."""
    X_all, y_all = oracle.repeated(X, y, weight)
    cost_all = oracle.row_costs(y_all, C, class_weight)
    cost_of = {label: cost_all[y_all == label][0] for label in (-1, 1)}
    cost = weight * np.array([cost_of[label] for label in y])
    return PivotProblem.from_rows(X, y, cost, weight), X_all, y_all, cost_all


def fit(X, y, weight=None, **parameters):
    """Fit by the rule of the paper, unless another is named."""
    return AccuracyAtTopRanker(**{"selection": "closest", **parameters}).fit(X, y, weight)


# ------------------------------------------------------------------------ Problem (2) and Eq. (3)


@pytest.mark.parametrize(
    ("case", "C"),
    [
        (case, C)
        for i, case in enumerate(CASES)
        for j, C in enumerate([1e-3, 0.1, 10.0])
        if i % 3 == j
    ],
)
def test_problem_2_and_its_dual(case, C):
    X, y, weight = CASES[case](seed=1)
    problem, X_all, y_all, cost = problem_for(X, y, weight, C)
    tol = 1e-7
    found = [solve(problem, problem.pivots, tol=tol) for solve in SOLVERS.values()]
    for k, first in enumerate(problem.candidate_indices):
        z = X[first]
        w, value = oracle.solve_primal(X_all, y_all, cost, z)
        w_dual, dual_value = oracle.solve_dual(X_all, y_all, cost, z)
        slack = ORACLE_ERROR * value
        assert dual_value == pytest.approx(value, rel=ORACLE_ERROR)  # Eq. (3) is the dual of (2)
        np.testing.assert_allclose(w_dual, w, atol=1e-4 * max(1, np.abs(w).max()))
        for solutions in found:
            assert solutions.relative_gap[k] <= tol
            # The certificate: the optimum is between the two values that the solver reports ...
            assert solutions.lower_bound[k] <= value + slack
            assert solutions.objective[k] >= value - slack
            # ... the upper one is the objective of the weights that it returns, by definition ...
            assert oracle.problem_two(solutions.coef[k], z, X_all, y_all, cost) == pytest.approx(
                solutions.objective[k], rel=1e-12
            )
            # ... and they are as close as reported, which also bounds the error of the weights.
            gap = solutions.objective[k] - solutions.lower_bound[k]
            assert solutions.objective[k] - value <= gap + slack
            error = np.linalg.norm(solutions.coef[k] - w)
            assert error <= np.sqrt(2 * (max(gap, 0) + slack)) + 1e-4


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("max_iter", [1, 3, 6])
def test_the_certificate_holds_before_convergence(solver, max_iter):
    X, y, weight = weighted_rows(seed=5)
    problem, X_all, y_all, cost = problem_for(X, y, weight, 3.0)
    solutions = SOLVERS[solver](problem, problem.pivots, tol=1e-12, max_iter=max_iter)
    for k, first in enumerate(problem.candidate_indices):
        _, value = oracle.solve_primal(X_all, y_all, cost, X[first])
        assert 0 <= solutions.lower_bound[k] <= value * (1 + ORACLE_ERROR)
        assert solutions.objective[k] >= value * (1 - ORACLE_ERROR)
        assert oracle.problem_two(
            solutions.coef[k], X[first], X_all, y_all, cost
        ) == pytest.approx(solutions.objective[k], rel=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_rows_have_the_zero_solution(solver):
    X, y, _ = equal_rows(0)
    ranker = fit(X, y, solver=solver, tau=0.5, C=2.0)
    np.testing.assert_allclose(ranker.coef_, 0, atol=1e-12)
    assert ranker.objective_ == pytest.approx(2.0 * 6)
    assert ranker.quantile_distance_ == pytest.approx(0, abs=1e-12)
    assert ranker.optimality_gap_ == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_tiny_costs_leave_every_hinge_active(solver):
    for class_weight in ("balanced", "pairs", None):
        # Then w_k = sum c_i y_i x_i - (sum c_i y_i) z_k: the same for all k only where the classes
        # have equal total cost.
        X, y, weight = random_rows(seed=3)
        y = np.where(np.arange(len(y)) < 3, 1, -1)
        problem, X_all, y_all, cost = problem_for(X, y, weight, 1e-5, class_weight)
        solutions = SOLVERS[solver](problem, problem.pivots, tol=1e-13)
        signed = cost * y_all
        for k, first in enumerate(problem.candidate_indices):
            expected = signed @ X_all - signed.sum() * X[first]
            np.testing.assert_allclose(
                solutions.coef[k], expected, atol=1e-3 * np.abs(signed @ X_all).max()
            )
        if class_weight is None:
            assert abs(signed.sum()) > 1e-5
        else:
            assert signed.sum() == pytest.approx(0, abs=1e-15)


# ---------------------------------------------------------------------------------- Problem (1)


@cache
def least_value(case, C, k):
    """Of Problem (2) through row k, whatever the solver and the convention."""
    X, y, weight = CASES[case](seed=2)
    X_all, y_all = oracle.repeated(X, y, weight)
    return oracle.solve_primal(X_all, y_all, oracle.row_costs(y_all, C, "balanced"), X[k])[1]


@pytest.mark.parametrize(
    ("case", "convention", "solver"),
    [
        (case, convention, list(SOLVERS)[(i + j) % 2])
        for i, case in enumerate(CASES)
        for j, convention in enumerate(["sample", "pairs"])
    ],
)
def test_what_is_learned_agrees_with_the_definitions(case, convention, solver):
    X, y, weight = CASES[case](seed=2)
    tau, C = 0.3, 0.5
    ranker = fit(X, y, weight, tau=tau, C=C, quantile=convention, solver=solver)
    X_all, y_all = oracle.repeated(X, y, weight)
    cost = oracle.row_costs(y_all, C, "balanced")
    w = ranker.coef_[0]
    scores = X_all @ w
    q = oracle.quantile(oracle.scores_for_quantile(scores, y_all, convention), tau)
    pivot_score = float(X[ranker.pivot_index_] @ w)
    assert ranker.quantile_ == pytest.approx(q, abs=1e-9)
    assert ranker.quantile_distance_ == pytest.approx(abs(pivot_score - q), abs=1e-9)
    assert ranker.objective_ == pytest.approx(
        oracle.problem_two(w, X[ranker.pivot_index_], X_all, y_all, cost), rel=1e-9
    )
    top = oracle.problem_one(w, X_all, y_all, cost, tau, convention)
    assert ranker.objective_top_ == pytest.approx(top, rel=1e-9)
    assert ranker.optimality_gap_ == ranker.objective_top_ - ranker.lower_bound_
    values = [least_value(case, C, k) for k in ranker.candidate_indices_.tolist()]
    np.testing.assert_allclose(ranker.candidate_objectives_, values, rtol=2e-6)
    assert ranker.lower_bound_ <= min(values) * (1 + ORACLE_ERROR)
    assert ranker.lower_bound_ >= min(values) * (1 - 2e-6)


@pytest.mark.parametrize(
    ("case", "C", "convention"),
    [("random", 0.05, "sample"), ("weighted", 2.0, "pairs"), ("duplicated", 2.0, "sample")],
)
def test_no_weights_beat_the_lower_bound(case, C, convention):
    X, y, weight = CASES[case](seed=7)
    tau = 0.25
    ranker = fit(X, y, weight, tau=tau, C=C, quantile=convention)
    X_all, y_all = oracle.repeated(X, y, weight)
    cost = oracle.row_costs(y_all, C, "balanced")

    def value(w):
        return oracle.problem_one(w, X_all, y_all, cost, tau, convention)

    rng = np.random.default_rng(0)
    scale = 1 + np.abs(ranker.coef_).max()
    starts = [np.zeros(X.shape[1]), ranker.coef_[0], *rng.normal(0, scale, (10, X.shape[1]))]
    best = np.inf
    for w in starts:
        reached, step = value(w), scale
        for _ in range(60):
            moved = w + step * rng.normal(size=len(w))
            if (found := value(moved)) < reached:
                w, reached = moved, found
            else:
                step *= 0.85
        best = min(best, reached)
    assert ranker.lower_bound_ <= best
    assert best <= ranker.objective_top_ + 1e-9  # the search started from the solution, too


def test_the_lower_bound_is_met_where_the_best_pivot_is_its_own_quantile():
    # One feature, separable, a top of two rows: the problem of the lowest positive is Problem (1).
    X, y = np.array([[0.0], [0.5], [1.0], [3.0], [4.0]]), np.array([-1, -1, -1, 1, 1])
    ranker = fit(X, y, tau=0.4, C=0.01, selection="objective", tol=1e-10)
    cost = oracle.row_costs(y, 0.01, "balanced")
    grid = [oracle.problem_one([w], X, y, cost, 0.4) for w in np.linspace(-2, 2, 4001)]
    assert ranker.lower_bound_ <= min(grid) + 1e-9
    assert ranker.objective_top_ <= min(grid) + 1e-6


# ---------------------------------------------------------------------------- the selection rule


def certified_own_quantile(w, k, gap, X_all, pivot, tau):
    """Whether the order of the scores proves that the pivot of the exact solution is its quantile.

    Only for untied data: every other score is further away than the weights can be wrong, and
    exactly one less than the top count is above.
    """
    others = np.flatnonzero(np.any(X_all != pivot, axis=1))
    away = (X_all[others] - pivot) @ w
    sure = np.abs(away) > np.sqrt(2 * gap) * np.linalg.norm(X_all[others] - pivot, axis=1)
    above = np.count_nonzero(away > 0)
    repeats = len(X_all) - len(others)
    j = oracle.top_count(len(X_all), tau)
    return bool(sure.all() and above < j <= above + repeats)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", ["random", "weighted", "duplicated"])
def test_the_choice_is_the_closest_to_the_quantile(case, solver):
    tol = 1e-10
    seeds_certified = 0
    for seed in range(6):
        X, y, weight = CASES[case](seed)
        tau, C = (0.1, 0.3, 0.5)[seed % 3], (0.01, 0.1, 1.0)[seed // 2]
        ranker = fit(X, y, weight, tau=tau, C=C, solver=solver, tol=tol)
        assert ranker.dual_gap_ <= tol
        problem, X_all, y_all, cost = problem_for(X, y, weight, C)
        solutions = SOLVERS[solver](problem, problem.pivots, tol=tol)
        gaps = (
            np.maximum(solutions.objective - solutions.lower_bound, 0)
            + 1e-14 * solutions.objective
        )
        order = np.argsort(problem.candidate_indices)
        pivots = problem.candidate_indices[order]
        np.testing.assert_array_equal(pivots, ranker.candidate_indices_)
        w_all, gaps = solutions.coef[order], gaps[order]
        own = np.array(
            [
                certified_own_quantile(w, k, gap, X_all, X[k], tau)
                for w, k, gap in zip(w_all, pivots, gaps, strict=True)
            ]
        )
        _, distances, objectives = oracle.closest_candidates(X_all, y_all, cost, tau, X[pivots])
        radius = np.array(
            [
                np.sqrt(2 * gap) * np.linalg.norm(X_all - X[k], axis=1).max()
                for k, gap in zip(pivots, gaps, strict=True)
            ]
        )
        radius += 1e-4 * np.maximum(1, distances)  # the oracle's own error
        assert np.all(np.abs(ranker.candidate_distances_ - distances) <= radius)
        chosen = int(np.flatnonzero(pivots == ranker.pivot_index_)[0])
        assert ranker.quantile_distance_ == ranker.candidate_distances_[chosen]
        if own.any():
            # Brute force: among the pivots that are their own quantile, the smallest objective.
            seeds_certified += 1
            assert ranker.quantile_distance_ <= 1e-12
            allowed = own | (distances <= radius)
            smallest = objectives[own].min()
            assert allowed[chosen]
            assert ranker.objective_ <= smallest * (1 + 2 * tol + ORACLE_ERROR)
            if np.array_equal(allowed, own):
                best = np.flatnonzero(own)[np.argmin(objectives[own])]
                rivals = objectives[own] <= smallest * (1 + 1e-6)
                assert rivals.sum() > 1 or chosen == best
        else:
            assert distances[chosen] <= np.min(distances + radius) + radius[chosen]
    assert seeds_certified >= 1  # the exact branch was taken


def test_the_tie_goes_to_the_smaller_objective():
    rng = np.random.default_rng(4)
    n_ties = 0
    for _ in range(18):
        X = rng.normal(size=(10, 2))
        y = np.where(X[:, 0] + rng.normal(size=10) > 0, 1, -1)
        y[:2] = [-1, 1]
        ranker = fit(X, y, tau=0.3, C=1.0, tol=1e-9)
        tied = ranker.candidate_distances_ <= ranker.candidate_distances_.min() + ranker.tol
        assert ranker.objective_ == ranker.candidate_objectives_[tied].min()
        n_ties += np.ptp(ranker.candidate_objectives_[tied]) > 1e-6
    assert n_ties >= 3


@pytest.mark.parametrize("solver", SOLVERS)
def test_objective_takes_the_smallest_value_of_problem_1(solver):
    for seed in range(2):
        X, y, weight = weighted_rows(seed)
        tau, C = 0.25, 0.3
        ranker = fit(X, y, weight, tau=tau, C=C, selection="objective", solver=solver, tol=1e-9)
        problem, X_all, y_all, cost = problem_for(X, y, weight, C)
        solutions = SOLVERS[solver](problem, problem.pivots, tol=1e-9)
        values = [oracle.problem_one(w, X_all, y_all, cost, tau) for w in solutions.coef]
        assert ranker.objective_top_ == pytest.approx(min(values), rel=1e-9)


# ------------------------------------------------------------------------ pairs, weights, the top


@pytest.mark.parametrize("case", ["random", "weighted", "duplicated"])
def test_class_weight_pairs_is_the_sum_over_all_pairs(case):
    X, y, weight = CASES[case](seed=4)
    C = 0.02
    ranker = fit(X, y, weight, tau=0.2, C=C, class_weight="pairs", quantile="pairs")
    X_all, y_all = oracle.repeated(X, y, weight)
    w = ranker.coef_[0]
    pivot_score = X[ranker.pivot_index_] @ w
    assert ranker.objective_ == pytest.approx(
        oracle.pairs_objective(w, pivot_score, X_all, y_all, C), rel=1e-10
    )
    q = oracle.quantile(oracle.pair_members(X_all @ w, y_all), 0.2)
    assert ranker.objective_top_ == pytest.approx(
        oracle.pairs_objective(w, q, X_all, y_all, C), rel=1e-9
    )


@pytest.mark.parametrize("case", ["random", "weighted", "duplicated"])
def test_class_weight_pairs_is_balanced_with_a_larger_cost(case):
    X, y, weight = CASES[case](seed=4)
    n_pos, n_neg = weight[y == 1].sum(), weight[y == -1].sum()
    pairs = fit(X, y, weight, tau=0.2, C=0.02, class_weight="pairs", tol=1e-10)
    C = 0.02 * 2 * n_pos * n_neg / (n_pos + n_neg)
    balanced = fit(X, y, weight, tau=0.2, C=C, class_weight="balanced", tol=1e-10)
    assert pairs.pivot_index_ == balanced.pivot_index_
    np.testing.assert_allclose(pairs.coef_, balanced.coef_, rtol=1e-4, atol=1e-6)
    assert pairs.objective_ == pytest.approx(balanced.objective_, rel=1e-9)


@pytest.mark.parametrize("convention", ["sample", "pairs"])
def test_the_quantile_is_of_rows_or_of_pair_members(convention):
    for tau in (0.02, 0.1, 0.25, 0.5, 0.9):
        rng = np.random.default_rng(6)
        X = rng.normal(size=(24, 2))
        y = np.where(np.arange(24) < 4, 1, -1)
        small = convention == "sample" and tau * 24 < 0.5  # the pairs have 160 members
        with pytest.warns(SmallTopWarning) if small else nullcontext():
            ranker = fit(X, y, tau=tau, C=0.1, quantile=convention)
        scores = X @ ranker.coef_[0]
        members = oracle.scores_for_quantile(scores, y, convention)
        assert ranker.quantile_ == pytest.approx(oracle.quantile(members, tau), abs=1e-12)


@for_each("tau", [0.01, 0.05, 0.095, 0.14, 0.19])
def test_the_tops_of_the_papers_experiment(tau):
    # Section 5: "top 20, 15, 10, 5, 1" of 105 rows at 19, 14, 9.5, 5 and 1 per cent.
    assert oracle.top_count(105, tau) == {0.01: 1, 0.05: 5, 0.095: 10, 0.14: 15, 0.19: 20}[tau]
    rng = np.random.default_rng(8)
    X = rng.normal(size=(105, 3))
    y = np.where(X[:, 0] + rng.normal(size=105) > 0, 1, -1)
    ranker = fit(X, y, tau=tau, C=0.01, tol=1e-4)
    assert np.count_nonzero(ranker.decision_function(X) > 0) == oracle.top_count(105, tau)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", ["random", "duplicated"])
def test_weights_are_repetitions(case, solver):
    X, y, _ = CASES[case](seed=9)
    weight = np.random.default_rng(9).integers(0, 4, size=len(y)).astype(float)
    weight[[np.flatnonzero(y == 1)[0], np.flatnonzero(y == -1)[0]]] = 2
    X_all, y_all = oracle.repeated(X, y, weight)
    parameters = {"tau": 0.3, "C": 0.2, "solver": solver, "tol": 1e-10}
    weighted, repeated = fit(X, y, weight, **parameters), fit(X_all, y_all, **parameters)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    for name in ("objective_", "objective_top_", "lower_bound_"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-5)
    for name in ("quantile_", "threshold_"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), abs=1e-3)
    np.testing.assert_array_equal(X[weighted.pivot_index_], X_all[repeated.pivot_index_])
