"""Certificates of the convex problems, on problems that hypothesis makes, against definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from sklearn_rank._solvers import (
    PivotProblem,
    solve_accuracy_at_top,
    solve_pivots_newton,
)
from sklearn_rank._solvers._pivots import solve_pivots_cvxpy
from tests.oracles import accuracy_at_top as oracle
from tests.oracles import top_quantile

# Small whole numbers: rows repeat, in one class and in both, and columns are constant.
shapes = st.tuples(st.integers(2, 12), st.integers(1, 3))


@st.composite
def problems(draw):
    """Rows, signs, costs and whole masses."""
    n, d = draw(shapes)
    numbers = st.lists(st.integers(-2, 2), min_size=n * d, max_size=n * d)
    X = np.array(draw(numbers), dtype=float).reshape(n, d)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return X, y, draw(st.sampled_from([0.01, 0.3, 10.0])) * weight, weight


quick = settings(max_examples=60, deadline=None)
slower = settings(max_examples=12, deadline=None)


def parts(data, k):
    """What the k-th problem is made of: the pivot as it was given, and the data."""
    X, y, cost, mass = data
    problem = PivotProblem.from_rows(X, y, cost, mass)
    return problem, X[problem.candidate_indices[k]]


@quick
@given(problems(), st.integers(0, 10**6))
def test_the_weights_satisfy_the_optimality_conditions(data, seed):
    """w is a sum of d_i with multipliers of c_i where 1 > w.d_i, 0 where 1 < w.d_i."""
    X, y, cost, _ = data
    problem, _ = parts(data, 0)
    k = seed % problem.n_candidates
    z = X[problem.candidate_indices[k]]
    solution = solve_pivots_newton(problem, problem.pivots[k : k + 1], tol=1e-12)
    w = solution.coef[0]
    d = y[:, None] * (X - z)
    u = 1 - d @ w
    # The gap bounds the distance of w from the solution, and so that of each margin.
    error = 1e-9 + np.sqrt(2e-12 * solution.objective[0]) * np.linalg.norm(d, axis=1)
    left = w - (cost * (u > error)) @ d
    kink = np.abs(u) <= error
    if kink.any():
        fit = lsq_linear(d[kink].T, left, bounds=(0, cost[kink] + 1e-12), tol=1e-14)
        left = fit.fun
    assert np.linalg.norm(left) <= 1e-4 * (1 + np.linalg.norm(w))


@quick
@given(problems(), st.integers(0, 10**6))
def test_no_weights_are_below_the_lower_bounds(data, seed):
    X, y, cost, mass = data
    problem, _ = parts(data, 0)
    rng = np.random.default_rng(seed)
    solutions = solve_pivots_newton(problem, problem.pivots, tol=1e-3)
    top = max(1.0, np.floor(0.3 * mass.sum()))
    bound = solve_accuracy_at_top(problem, top_mass=top).certificate.lower_bound
    for coef in solutions.coef[rng.integers(0, problem.n_candidates, 5)]:
        w = coef * rng.uniform(0, 2) + rng.normal(size=X.shape[1]) * 10.0 ** rng.uniform(-6, 0)
        assert top_quantile.value(w, X, y, cost, mass, top) >= bound * (1 - 1e-12)
        for k, first in enumerate(problem.candidate_indices):
            value = oracle.problem_two(w, X[first], X, y, cost)
            assert value >= solutions.lower_bound[k] * (1 - 1e-12)


@slower
@given(problems(), st.integers(0, 10**6))
def test_the_certificates_of_both_solvers_enclose_the_minimum_of_an_oracle(data, seed):
    X, y, cost, _ = data
    problem, _ = parts(data, 0)
    k = seed % problem.n_candidates
    pivot = problem.pivots[k : k + 1]
    _, least = oracle.solve_primal(X, y, cost, X[problem.candidate_indices[k]])
    for solve in (solve_pivots_newton, solve_pivots_cvxpy):
        found = solve(problem, pivot, tol=1e-7)
        assert found.converged.all()
        assert found.lower_bound[0] <= least * (1 + 1e-7) + 1e-9
        assert least <= found.objective[0] * (1 + 1e-7) + 1e-9
        assert found.objective[0] - least <= 2e-7 * found.objective[0] + 1e-8


@quick
@given(problems())
def test_costs_are_repetitions_and_sparse_rows_are_dense_rows(data):
    X, y, _, weight = data
    one = PivotProblem.from_rows(X, y, 0.3 * weight, weight)
    again = np.repeat(np.arange(len(y)), weight.astype(int))
    ones = np.ones(len(again))
    two = PivotProblem.from_rows(X[again], y[again], 0.3 * ones, ones)
    sparse = PivotProblem.from_rows(sp.csr_array(X), y, 0.3 * weight, weight)
    np.testing.assert_array_equal(two.mass, one.mass)
    np.testing.assert_allclose(two.cost, one.cost, rtol=1e-14)
    solutions = [solve_pivots_newton(p, p.pivots, tol=1e-9) for p in (one, two, sparse)]
    points = [tuple(X[i]) for i in one.candidate_indices]
    of_sparse = [points.index(tuple(X[i])) for i in sparse.candidate_indices]
    values = solutions[0].objective
    np.testing.assert_allclose(solutions[1].objective, values, rtol=3e-9)
    np.testing.assert_allclose(solutions[2].objective, values[of_sparse], rtol=3e-9)


@quick
@given(problems(), st.sampled_from(["average", "closest", "objective", "refine"]))
def test_the_selected_solution_has_the_values_it_says(data, selection):
    X, y, cost, mass = data
    problem, _ = parts(data, 0)
    top = max(1.0, np.floor(0.3 * mass.sum()))
    solution = solve_accuracy_at_top(problem, top_mass=top, selection=selection)
    certificate = solution.certificate
    value = top_quantile.value(solution.coef, X, y, cost, mass, top)
    # Scores that tie are told apart by rounding: the quantile is exact to that.
    assert certificate.objective == pytest.approx(value, rel=1e-7)
    assert certificate.lower_bound <= certificate.objective * (1 + 1e-12)
    assert certificate.converged
    assert certificate.relative_gap == pytest.approx(
        max(1 - certificate.lower_bound / certificate.objective, 0.0), abs=1e-12
    )
    pivot = X[solution.candidate_indices[solution.candidate]]
    if selection in ("closest", "objective"):
        found = oracle.problem_two(solution.coef, pivot, X, y, cost)
        assert solution.pivot_objective == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_rows_that_are_one_point_have_the_zero_solution(form, value):
    X, y = form(np.full((4, 2), value)), np.array([1.0, -1.0, 1.0, -1.0])
    problem = PivotProblem.from_rows(X, y, np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4))
    assert problem.n_candidates == 1
    for solve in (solve_pivots_newton, solve_pivots_cvxpy):
        solutions = solve(problem, problem.pivots, tol=1e-9)
        np.testing.assert_allclose(solutions.coef, 0, atol=1e-9)
        np.testing.assert_allclose(solutions.objective, 10)
        np.testing.assert_allclose(solutions.lower_bound, 10)
        assert solutions.converged.all()


def test_a_solve_that_stops_early_has_not_converged_and_says_how_far_it_is():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), np.where(rng.random(50) < 0.5, 1.0, -1.0)
    problem = PivotProblem.from_rows(X, y, np.ones(50), np.ones(50))
    solution = solve_accuracy_at_top(problem, top_mass=5.0, tol=1e-9, max_iter=4)
    candidates = solution.candidates
    assert not solution.certificate.converged
    assert solution.certificate.n_iter == 4
    np.testing.assert_array_equal(candidates.converged, candidates.relative_gap <= 1e-9)
    exact = solve_accuracy_at_top(problem, top_mass=5.0, tol=1e-12)
    least = exact.candidates.objective
    assert np.all(candidates.objective >= least * (1 - 1e-11))
    assert np.all(candidates.lower_bound <= least)
    assert np.all(candidates.objective * (1 - candidates.relative_gap) <= least * (1 + 1e-12))
