"""Cutting planes on risks whose minimum another solver finds, and the small problem inside."""

from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest

from sklearn_rank._solvers import Planes, as_design, solve_cutting_planes
from sklearn_rank._solvers._cutting_planes import best_shares


class Tangent(NamedTuple):
    offset: float
    factors: np.ndarray


def absolute(target):
    """Mean absolute residual, with a kink for each row."""

    def tangent(scores):
        side = np.sign(scores - target) / len(target)
        return Tangent(float(-side @ target), side)

    return tangent


def squared(target):
    """Mean square, which is smooth: no number of planes is all of it."""

    def tangent(scores):
        slope = 2 * (scores - target) / len(target)
        value = float(np.mean((scores - target) ** 2))
        return Tangent(value - float(slope @ scores), slope)

    return tangent


def problem(n=40, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_absolute_residuals_to_the_last_digit(C):
    X, target = problem()
    w = cp.Variable(X.shape[1])
    expected = cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + C * cp.norm1(X @ w - target) / len(target))
    ).solve(solver="CLARABEL")
    result, _ = solve_cutting_planes(as_design(X), absolute(target), C=C, tol=1e-12, max_iter=500)
    certificate = result.certificate
    assert certificate.converged
    assert certificate.objective == pytest.approx(expected, rel=1e-6)
    assert certificate.lower_bound <= expected * (1 + 1e-7)
    value = result.coef @ result.coef / 2 + C * np.abs(X @ result.coef - target).mean()
    assert certificate.objective == pytest.approx(value, rel=1e-13)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_a_smooth_risk(C):
    X, target = problem()
    n, d = X.shape
    solution = np.linalg.solve(np.eye(d) + 2 * C / n * X.T @ X, 2 * C / n * X.T @ target)
    minimum = solution @ solution / 2 + C * np.mean((X @ solution - target) ** 2)
    result, _ = solve_cutting_planes(as_design(X), squared(target), C=C, tol=1e-8, max_iter=500)
    assert result.certificate.converged
    assert result.certificate.lower_bound <= minimum * (1 + 1e-12)
    assert result.certificate.objective == pytest.approx(minimum, rel=1e-8)
    np.testing.assert_allclose(result.coef, solution, atol=1e-3 * np.abs(solution).max())


def test_an_unfinished_solve_says_so():
    X, target = problem()
    result, _ = solve_cutting_planes(as_design(X), squared(target), C=1e3, tol=1e-9, max_iter=2)
    certificate = result.certificate
    assert not certificate.converged
    assert certificate.n_iter == 2
    assert certificate.relative_gap > 1e-9
    assert np.isfinite(certificate.lower_bound)
    assert certificate.lower_bound < certificate.objective <= 1e3 * np.mean(target**2)


def test_objective_and_bound_only_improve():
    X, target = problem(200, 20)
    told = []
    planes = Planes(20)  # with some to start from, the cost is C from the first iteration on
    planes.add(0.0, np.zeros(20))
    solve_cutting_planes(
        as_design(X),
        absolute(target),
        planes=planes,
        C=100.0,
        tol=1e-9,
        max_iter=500,
        on_iteration=lambda *line: told.append(line),
    )
    number, objective, gap = np.array(told).T
    np.testing.assert_array_equal(number, np.arange(1, len(told) + 1))
    assert np.all(np.diff(objective) <= 0)
    bound = objective * (1 - gap)
    assert np.all(np.diff(bound) >= -1e-12 * objective[0])


def test_planes_serve_another_cost_and_are_not_changed():
    X, target = problem(200, 10)
    _, planes = solve_cutting_planes(as_design(X), absolute(target), C=1.0, tol=1e-9, max_iter=500)
    n_planes, shares = len(planes), planes.shares.copy()
    settings = {"C": 2.0, "tol": 1e-9, "max_iter": 500}
    warm, _ = solve_cutting_planes(as_design(X), absolute(target), planes=planes, **settings)
    cold, _ = solve_cutting_planes(as_design(X), absolute(target), **settings)
    assert warm.certificate.n_iter < cold.certificate.n_iter
    assert warm.certificate.objective == pytest.approx(cold.certificate.objective, rel=1e-9)
    assert len(planes) == n_planes
    np.testing.assert_array_equal(planes.shares, shares)


def test_a_step_is_not_asked_for_where_zero_is_the_best():
    """The gap has to be next to nothing before weights of 0 are called the solution."""
    X, _ = problem()
    result, _ = solve_cutting_planes(
        as_design(X), absolute(np.zeros(len(X))), C=1.0, tol=1e-4, max_iter=100
    )
    assert not result.coef.any()
    assert result.certificate.objective == 0.0
    assert result.certificate.converged


def test_a_small_cost_is_solved_although_the_objective_hardly_moves():
    X, target = problem()
    C = 1e-6
    result, _ = solve_cutting_planes(as_design(X), absolute(target), C=C, tol=1e-3, max_iter=100)
    np.testing.assert_allclose(result.coef, C * X.T @ np.sign(target) / len(target), rtol=1e-6)


# ------------------------------------------------------------------------------- the small problem


def value(gram, offsets, shares):
    return shares @ gram @ shares / 2 - offsets @ shares


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_shares_against_an_interior_point_solver(scale):
    for rank in (1, 3, 12, 40):
        rng = np.random.default_rng(rank)
        planes = rng.normal(size=(30, rank))
        gram, offsets = scale * planes @ planes.T, rng.normal(size=30)
        start = np.zeros(30)
        start[4] = 1.0
        shares = best_shares(gram, offsets, start, 1e-13 * max(scale, 1.0))
        assert np.all(shares >= 0)
        assert shares.sum() == pytest.approx(1.0, abs=1e-14)
        b = cp.Variable(30, nonneg=True)
        goal = scale * cp.sum_squares(planes.T @ b) / 2 - offsets @ b
        expected = cp.Problem(cp.Minimize(goal), [cp.sum(b) == 1]).solve(solver="CLARABEL")
        found = value(gram, offsets, shares)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)
        slope = gram @ shares - offsets
        assert shares @ slope - slope.min() <= 1e-10 * max(scale, 1.0)


def test_equal_planes_and_flat_directions():
    """More planes than features carry: the matrix is singular, and offsets decide."""
    gram = np.ones((5, 5))
    offsets = np.array([0.0, 1.0, 1.0, 3.0, 2.0])
    shares = best_shares(gram, offsets, np.full(5, 0.2), 1e-14)
    np.testing.assert_allclose(shares, [0, 0, 0, 1, 0], atol=1e-14)
    np.testing.assert_allclose(best_shares(gram, 0 * offsets, np.full(5, 0.2), 1e-14).sum(), 1.0)


def test_idle_planes_go_and_others_stay():
    planes = Planes(2)
    for offset in range(5):
        planes.add(float(offset), np.array([1.0, 0.0]))
    for _ in range(40):
        planes.minimise(1.0, 1e-12)
        planes.drop_idle()
    assert planes.offsets.tolist() == [4.0]
    coef, bound = planes.minimise(2.0, 1e-12)
    np.testing.assert_allclose(coef, [-2.0, 0.0])
    assert bound == pytest.approx(2.0 * 4.0 - 2.0)
