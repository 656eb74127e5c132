"""Linear scores by Newton's method and L-BFGS: the minimum, its certificate, and what is kept."""

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank import losses
from sklearn_rank._solvers import quadratic_expansion, solve_linear, solve_linear_hinge


def problem(seed=0, n_lists=6, n_features=3):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, n_lists)
    offsets = np.append(0, np.cumsum(sizes))
    X = rng.normal(size=(offsets[-1], n_features))
    X[rng.random(X.shape) < 0.3] = 0.0
    utility = rng.choice([0.0, 0.0, 0.5, 1.0], offsets[-1])
    return X, utility, offsets


NAMES = ["pointwise_squared", "pointwise_logistic", "pairwise_logistic", "softmax"]


def by_cvxpy(name, X, v, offsets, alpha):
    """The problem written out for a solver of cones."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    intercept = b if name.startswith("pointwise") else 0
    s = X @ w + intercept
    total = 0.5 * alpha * cp.sum_squares(w)
    if name == "pointwise_squared":
        total += cp.sum_squares(v - s)
    elif name == "pointwise_logistic":
        total += v @ cp.logistic(-s) + (1 - v) @ cp.logistic(s)
    else:
        for begin, end in pairwise(offsets):
            if name == "softmax":
                total += v[begin:end].sum() * cp.log_sum_exp(s[begin:end])
                total -= v[begin:end] @ s[begin:end]
                continue
            for i in range(begin, end):
                for j in range(begin, end):
                    if i != j and v[i] > 0:
                        total += v[i] * cp.logistic(s[j] - s[i])
    value = cp.Problem(cp.Minimize(total)).solve(solver=cp.CLARABEL)
    return value, w.value


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["newton-cg", "lbfgs"])
@pytest.mark.parametrize("alpha", [0.01, 3.0])
def test_the_minimum_is_that_of_a_cone_solver(name, method, alpha):
    X, v, offsets = problem()
    loss = losses.get_loss(name)
    intercept = not loss.is_translation_invariant
    value, w = by_cvxpy(name, X, v, offsets, alpha)
    for matrix in (X, sp.csr_array(X)):
        found = solve_linear(
            matrix, loss.on(v, offsets), alpha=alpha, fit_intercept=intercept, method=method,
            tol=1e-8, max_iter=2000,
        )  # fmt: skip
        assert found.converged
        assert found.gradient_norm <= 1e-8
        assert found.objective == pytest.approx(value, rel=1e-7)
        np.testing.assert_allclose(found.coef, w, atol=1e-4)
        assert np.isnan(found.optimality_gap) == intercept
        assert (found.intercept != 0) == intercept


@pytest.mark.parametrize("name", ["pairwise_logistic", "pairwise_squared", "softmax"])
def test_the_certificate_bounds_the_distance_from_the_minimum(name):
    X, v, offsets = problem(1)
    on = losses.get_loss(name).on(v, offsets)
    least = solve_linear(X, on, alpha=0.5, tol=1e-12).objective
    for tol in (0.5, 0.1, 1e-2, 1e-4):
        found = solve_linear(X, on, alpha=0.5, tol=tol)
        assert found.objective - least <= found.optimality_gap
        assert found.gradient_norm <= tol


def test_too_few_iterations_are_reported():
    X, v, offsets = problem()
    on = losses.PairwiseLogistic().on(v, offsets)
    for method in ("newton-cg", "lbfgs"):
        found = solve_linear(X, on, alpha=1e-3, method=method, max_iter=1)
        assert not found.converged
        assert found.gradient_norm > 1e-6
        assert found.n_iter == 1


def test_nothing_to_learn_is_learned_at_once():
    X, v, offsets = problem()
    found = solve_linear(X, losses.PairwiseLogistic().on(0 * v, offsets), alpha=1.0)
    assert found.converged
    assert found.n_iter == 0
    np.testing.assert_array_equal(found.coef, 0.0)


def test_without_a_penalty_directions_of_no_curvature_do_no_harm():
    X, v, offsets = problem()
    X = np.hstack((X, X[:, :1]))
    on = losses.PairwiseSquared().on(v, offsets)
    found = solve_linear(X, on, alpha=0.0, tol=1e-9)
    assert found.converged
    assert np.isnan(found.optimality_gap)
    least = solve_linear(X[:, :3], on, alpha=0.0, tol=1e-9).objective
    assert found.objective == pytest.approx(least, rel=1e-10)


def test_progress_is_told():
    X, v, offsets = problem()
    on = losses.PairwiseLogistic().on(v, offsets)
    for method in ("newton-cg", "lbfgs"):
        told = []
        found = solve_linear(
            X,
            on,
            alpha=0.1,
            method=method,
            on_iteration=lambda *what, told=told: told.append(what),
        )
        assert [k for k, _, _ in told] == list(range(1, found.n_iter + 1))
        assert told[-1][1] == pytest.approx(found.objective)


def test_from_the_solution_no_step_is_needed():
    X, v, offsets = problem()
    on = losses.PairwiseLogistic().on(v, offsets)
    found = solve_linear(X, on, alpha=0.1)
    again = solve_linear(X, on, alpha=0.1, start=found.parameters)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.coef, found.coef)


@pytest.mark.parametrize("name", ["pointwise_squared", "pairwise_squared"])
def test_a_quadratic_past_is_the_rows_themselves(name):
    X, v, offsets = problem(2, n_lists=8)
    loss = losses.get_loss(name)
    intercept = not loss.is_translation_invariant
    cut = offsets[4]
    size = X.shape[1] + intercept
    earlier = loss.on(v[:cut], offsets[:5])
    later = loss.on(v[cut:], offsets[4:] - cut)
    anywhere = np.arange(size, dtype=float)
    past = quadratic_expansion(X[:cut], earlier, anywhere, fit_intercept=intercept)
    settings = {"alpha": 0.3, "fit_intercept": intercept, "tol": 1e-12}
    whole = solve_linear(X, loss.on(v, offsets), **settings)
    parts = solve_linear(X[cut:], later, past=past, **settings)
    np.testing.assert_allclose(parts.parameters, whole.parameters, atol=1e-9)


# ------------------------------------------------------------------------------------- the hinge


def hinge_by_cvxpy(X, y, offsets, alpha, margin):
    w = cp.Variable(X.shape[1])
    total = 0.5 * alpha * cp.sum_squares(w)
    for begin, end in pairwise(offsets):
        for i in range(begin, end):
            for j in range(begin, end):
                if y[i] > y[j]:
                    total += cp.pos(margin - (X[i] - X[j]) @ w)
    return cp.Problem(cp.Minimize(total)).solve(solver=cp.CLARABEL), w.value


def solve_hinge(X, y, offsets, **settings):
    return solve_linear_hinge(
        X,
        lambda margin: losses.ComparisonHinge(margin).on(y, offsets),
        lambda margin: losses.ComparisonSquaredHinge(margin).on(y, offsets),
        **settings,
    )


@pytest.mark.parametrize("alpha", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("margin", [1.0, 0.3])
def test_the_hinge_is_minimised_up_to_its_gap(alpha, margin):
    X, y, offsets = problem(3)
    value, w = hinge_by_cvxpy(X, y, offsets, alpha, margin)
    for tol in (1e-1, 1e-3, 1e-6):
        found = solve_hinge(X, y, offsets, alpha=alpha, margin=margin, tol=tol)
        assert found.converged
        assert found.dual_gap <= tol
        assert value * (1 - 1e-8) <= found.objective
        assert found.objective - value <= found.dual_gap * found.objective + 1e-7 * value
    np.testing.assert_allclose(found.coef, w, atol=1e-2)


def test_the_gap_bounds_the_distance_of_an_unfinished_hinge():
    X, y, offsets = problem(4, n_lists=12)
    value, _ = hinge_by_cvxpy(X, y, offsets, 0.01, 1.0)
    for max_iter in (1, 2, 3, 5, 8):
        found = solve_hinge(X, y, offsets, alpha=0.01, tol=1e-9, max_iter=max_iter)
        assert not found.converged
        assert found.objective - value <= found.dual_gap * found.objective
        assert found.dual_gap > 0


@pytest.mark.parametrize("name", ["pairwise_logistic", "pairwise_squared", "pointwise_logistic"])
def test_preconditioned_directions_reach_the_same_minimum(name, monkeypatch):
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 241, 12)
    X = rng.normal(size=(240, 30)) * np.logspace(-2, 2, 30)
    v = rng.choice([0.0, 0.0, 0.5, 1.0], 240)
    loss = losses.get_loss(name)
    calls = []
    on = loss.on(v, offsets)
    product = on.hessian_product
    on.hessian_product = lambda *arrays: calls.append(1) or product(*arrays)
    settings = {
        "alpha": 1e-3,
        "fit_intercept": not loss.is_translation_invariant,
        "tol": 1e-9,
        "max_iter": 500,
    }
    found = solve_linear(X, on, **settings)
    assert found.converged
    n_calls = len(calls)
    calls.clear()
    monkeypatch.setattr("sklearn_rank._solvers._linear.LARGEST_FACTOR", 0)
    plain = solve_linear(X, on, **settings)
    assert n_calls < 0.5 * len(calls)
    assert found.objective <= plain.objective * (1 + 1e-9)
