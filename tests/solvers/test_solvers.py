"""Both solvers on what is hard for solvers: scales, shapes, sparsity, limits."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank import _optional
from sklearn_rank._optional import is_installed
from sklearn_rank._solvers import (
    PivotProblem,
    _pivots,
    solve_accuracy_at_top,
    solve_pivots_newton,
)
from sklearn_rank._solvers._pivots import solve_pivots_cvxpy

SOLVERS = {"newton": solve_pivots_newton, "cvxpy": solve_pivots_cvxpy}
compiled = pytest.param(
    "compiled", marks=pytest.mark.skipif(not is_installed("numba"), reason="needs numba")
)
ways = pytest.mark.parametrize("way", ["arrays", compiled])

# By the constant that chooses between array operations and compiled loops.
WORTH = {"arrays": np.inf, "compiled": 0.0}


@pytest.fixture(params=["arrays", compiled, "cvxpy"])
def solver(request, monkeypatch):
    """Each way to solve the problems, by the name of its solver."""
    monkeypatch.setattr(_optional, "BREAK_EVEN", WORTH.get(request.param, np.inf))
    if request.param == "arrays":  # sparse rows stay so
        monkeypatch.setattr(_pivots, "MOST_DENSE_ENTRIES", 0)
    return "cvxpy" if request.param == "cvxpy" else "newton"


def rows(seed=0, n=30, d=3):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    y[:2] = [-1, 1]
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


def make(X, y, C=1.0):
    return PivotProblem.from_rows(X, y, np.full(len(y), float(C)), np.ones(len(y)))


def check(problem, solutions, tol):
    """The certificate holds and is reached, and the values are those of the weights."""
    assert np.all(np.isfinite(solutions.coef))
    assert np.all(solutions.relative_gap <= tol)
    scores = problem.scores(solutions.coef)
    values = problem.objective(
        solutions.coef, scores, scores[np.arange(len(scores)), problem.pivots[: len(scores)]]
    )
    np.testing.assert_allclose(values, solutions.objective, rtol=1e-9)


@pytest.mark.parametrize("shape", [(2, 1), (30, 1), (40, 20), (30, 60)])
def test_the_tolerance_is_reached(shape, solver):
    for C in (1e-6, 1.0, 1e3):
        X, y = rows(1, *shape)
        problem = make(X, y, C)
        pivots = problem.pivots[:8]
        check(problem, SOLVERS[solver](problem, pivots, tol=1e-8), 1e-8)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scales_of_the_features(scale, solver):
    # Features times s with costs divided by s^2 are the same problem with weights divided by s.
    X, y = rows(3)
    problem, scaled = make(X, y, 0.5), make(scale * X, y, 0.5 / scale**2)
    original = SOLVERS[solver](problem, problem.pivots, tol=1e-8)
    solutions = SOLVERS[solver](scaled, scaled.pivots, tol=1e-8)
    check(scaled, solutions, 1e-8)
    values = original.objective[np.argsort(problem.candidate_indices)] / scale**2
    np.testing.assert_allclose(
        solutions.objective[np.argsort(scaled.candidate_indices)], values, rtol=1e-7
    )


def test_the_origin_of_the_features_does_not_matter(solver):
    X, y = rows(5)
    for container in (np.asarray, sp.csr_array):
        near, far = make(container(X), y), make(container(X + 1000.0), y)
        one, two = (SOLVERS[solver](p, p.pivots, tol=1e-8) for p in (near, far))
        np.testing.assert_allclose(
            one.objective[np.argsort(near.candidate_indices)],
            two.objective[np.argsort(far.candidate_indices)],
            rtol=1e-7,
        )


@pytest.mark.parametrize("d", [3, 50])
def test_sparse_is_dense(d, solver):
    rng = np.random.default_rng(6)
    X, y = rows(6, 40, d)
    X *= rng.random(X.shape) < 0.3
    dense, sparse = make(X, y), make(sp.csr_array(X), y)
    tol = 1e-9
    one, two = (SOLVERS[solver](p, p.pivots, tol=tol) for p in (dense, sparse))
    check(sparse, two, tol)
    order = np.argsort(dense.candidate_indices), np.argsort(sparse.candidate_indices)
    values = one.objective[order[0]]
    np.testing.assert_allclose(two.objective[order[1]], values, rtol=2 * tol)
    distance = np.linalg.norm(one.coef[order[0]] - two.coef[order[1]], axis=1)
    assert np.all(distance <= 2 * np.sqrt(2 * tol * values))


@ways
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_pivot_is_solved_alone_as_in_company(container, way, monkeypatch):
    # Neither block nor order leaves a trace, but for the rounding of products of matrices. More
    # features have a start that is found for all pivots of a block.
    monkeypatch.setattr(_optional, "BREAK_EVEN", WORTH[way])
    X, y = rows(7, 50, 8)
    problem = make(container(X), y)
    together = solve_pivots_newton(problem, problem.pivots)
    for k in (0, 17, 49):
        alone = solve_pivots_newton(problem, problem.pivots[k : k + 1])
        np.testing.assert_allclose(alone.coef[0], together.coef[k], rtol=0, atol=1e-9)
        assert alone.n_iter[0] == together.n_iter[k]


def test_an_impossible_tolerance_ends(solver):
    X, y = rows(9, 12, 2)
    problem = make(X, y)
    solutions = SOLVERS[solver](problem, problem.pivots[:2], tol=1e-17, max_iter=2000)
    assert np.all(np.isfinite(solutions.coef))
    assert np.all(solutions.relative_gap <= 1e-12)


@pytest.mark.slow
@ways
def test_a_solve_that_fails_returns_the_best_that_it_met(way, monkeypatch):
    monkeypatch.setattr(_optional, "BREAK_EVEN", WORTH[way])
    # At this cost and these unscaled features the tolerance is beyond float64: the iteration may
    # go astray, but not what it returns.
    rng = np.random.default_rng(2327)
    X = rng.lognormal(0, 2, size=(112, 56))
    y = np.where(rng.random(112) < 0.5, 1, -1)
    problem = make(X, y, 2e4)
    solutions = solve_pivots_newton(problem, problem.pivots, tol=1e-13)
    assert np.any(solutions.n_iter == 500)
    assert np.all(solutions.relative_gap <= 1e-6)


# ------------------------------------------------------------------------ all candidates together


def solve(problem, top=3.0, solver="newton", tol=1e-6, **options):
    return solve_accuracy_at_top(problem, top_mass=top, solver=solver, tol=tol, **options)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("selection", ["closest", "objective"])
def test_the_number_of_threads_changes_no_bit(container, selection):
    X, y = rows(10, 100, 6)
    problem = make(container(X), y)
    one = solve(problem, n_jobs=1, selection=selection)
    for n_jobs in (2, 3):
        other = solve(problem, n_jobs=n_jobs, selection=selection)
        assert one.certificate == other.certificate
        for name in set(vars(one)) - {"certificate", "candidates"}:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        for name, values in one.candidates._asdict().items():
            np.testing.assert_array_equal(values, getattr(other.candidates, name))


def test_blocks_are_reported_one_by_one():
    X, y = rows(11, 150, 2)
    problem = make(X, y)
    calls = []
    solve(problem, on_block=lambda: calls.append(None))
    assert len(calls) == 3 == len(problem.blocks())


def test_the_choice_among_blocks_is_the_choice_among_all():
    # 200 rows are four blocks: the winner must be the best of all, not the best of one block.
    for seed in range(4):
        X, y = rows(seed, 200, 2)
        solution = solve(make(X, y, 0.01), top=20.0)
        distances, objectives = solution.candidates.distance, solution.candidates.objective
        tied = distances <= distances.min() + 1e-6
        assert solution.distance <= distances.min() + 1e-6
        assert solution.pivot_objective == objectives[tied].min()


@ways
def test_overflow_is_refused(way, monkeypatch):
    monkeypatch.setattr(_optional, "BREAK_EVEN", WORTH[way])
    X, y = rows(13, 10, 2)
    with pytest.raises(ValueError, match="The scores overflow: the features are too large"):
        solve(make(1e200 * X, y))


def test_no_square_array_of_the_rows_is_made():
    n, d = 4000, 5
    X, y = rows(14, n, d)
    problem = make(X, y, 0.01)
    solve(make(X[:50], y[:50], 0.01))  # compile first
    tracemalloc.start()
    # Three blocks: more of them take longer and no more memory.
    part = replace(
        problem, pivots=problem.pivots[:192], candidate_indices=problem.candidate_indices[:192]
    )
    solve(part, top=100.0, tol=1e-4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A block is 64 lists of n scores, and some arrays of its shape at a time; n^2 would be 128 MB.
    assert peak < 12 * 64 * n * 8
    assert peak < n * n * 8 / 4
