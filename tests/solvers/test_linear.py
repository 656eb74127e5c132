"""Linear scores by Newton's method and L-BFGS: the minimum, its certificate, and what is kept."""

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank import losses
from sklearn_rank._solvers import (
    LinearProblem,
    OnePart,
    as_design,
    solve_linear,
    solve_linear_hinge,
)
from sklearn_rank._solvers._linear import Criterion, newton_cg, search_line


def problem(seed=0, n_lists=6, n_features=3):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, n_lists)
    offsets = np.append(0, np.cumsum(sizes))
    X = rng.normal(size=(offsets[-1], n_features))
    X[rng.random(X.shape) < 0.3] = 0.0
    utility = rng.choice([0.0, 0.0, 0.5, 1.0], offsets[-1])
    return X, utility, offsets


def minimise(X, loss, *, alpha, fit_intercept=False, quadratic=None, **settings):
    made = LinearProblem(OnePart(as_design(X), loss), alpha, fit_intercept, quadratic)
    return solve_linear(made, **settings)


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


@pytest.mark.parametrize(
    ("name", "method", "alpha"),
    [
        (name, method, (0.01, 3.0)[(i + j) % 2])
        for i, name in enumerate(NAMES)
        for j, method in enumerate(("newton-cg", "lbfgs"))
    ],
)
def test_the_minimum_is_that_of_a_cone_solver(name, method, alpha):
    X, v, offsets = problem()
    loss = losses.get_loss(name)
    intercept = not loss.is_translation_invariant
    value, w = by_cvxpy(name, X, v, offsets, alpha)
    for matrix in (X, sp.csr_array(X)):
        found = minimise(
            matrix, loss.on(v, offsets), alpha=alpha, fit_intercept=intercept, method=method,
            tol=1e-7, max_iter=2000,
        )  # fmt: skip
        assert found.certificate.converged
        assert found.certificate.gradient_norm <= 1e-7
        assert found.certificate.objective == pytest.approx(value, rel=1e-7)
        np.testing.assert_allclose(found.coef, w, atol=1e-4)
        assert (
            found.certificate.lower_bound
            <= found.certificate.objective
            <= value + 1e-7 * abs(value)
        )
        assert (found.intercept != 0) == intercept


def test_nothing_to_learn_is_learned_at_once():
    X, v, offsets = problem()
    found = minimise(X, losses.PairwiseLogistic().on(0 * v, offsets), alpha=1.0)
    assert found.certificate.converged
    assert found.certificate.n_iter == 0
    np.testing.assert_array_equal(found.coef, 0.0)


def test_without_a_penalty_directions_of_no_curvature_do_no_harm():
    X, v, offsets = problem()
    X = np.hstack((X, X[:, :1]))
    on = losses.PairwiseSquared().on(v, offsets)
    found = minimise(X, on, alpha=0.0, tol=1e-9)
    assert found.certificate.converged
    assert np.isnan(found.certificate.lower_bound)
    least = minimise(X[:, :3], on, alpha=0.0, tol=1e-9).certificate.objective
    assert found.certificate.objective == pytest.approx(least, rel=1e-10)


def test_progress_is_told():
    X, v, offsets = problem()
    on = losses.PairwiseLogistic().on(v, offsets)
    for method in ("newton-cg", "lbfgs"):
        told = []
        found = minimise(
            X,
            on,
            alpha=0.1,
            method=method,
            on_iteration=lambda *what, told=told: told.append(what),
        )
        assert [k for k, _, _ in told] == list(range(1, found.certificate.n_iter + 1))
        assert told[-1][1] == pytest.approx(found.certificate.objective)


CONVEX = [
    "pointwise_squared",
    "pointwise_logistic",
    "pairwise_logistic",
    "pairwise_squared",
    "softmax",
]


@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize("method", ["newton-cg", "lbfgs"])
def test_no_point_is_below_the_lower_bound(name, method):
    for seed in range(3):
        X, v, offsets = problem(seed)
        on = losses.get_loss(name).on(v, offsets)
        made = LinearProblem(OnePart(as_design(X), on), alpha=0.2)
        scale = np.linalg.norm(made.value_and_gradient(np.zeros(3))[1])
        rng = np.random.default_rng(seed)
        for tol in (0.5, 1e-2, 1e-5):
            found = solve_linear(made, method=method, tol=tol, max_iter=1000)
            bound = found.certificate.lower_bound
            # The gap is at most what the tolerance promises.
            assert found.certificate.objective - bound <= (tol * scale) ** 2 / (2 * 0.2) * (
                1 + 1e-9
            )
            points = [
                np.zeros(3),
                *(found.coef + rng.normal(size=(20, 3)) * rng.choice([1e-4, 1.0, 9.0])),
            ]
            assert min(made.value_and_gradient(w)[0] for w in points) >= bound


@pytest.mark.parametrize("name", ["pointwise_squared", "pointwise_logistic"])
def test_the_intercept_bears_no_penalty(name):
    X, v, offsets = problem(6)
    on = losses.get_loss(name).on(v, offsets)
    found = minimise(X, on, alpha=1e9, fit_intercept=True, tol=1e-10)
    np.testing.assert_allclose(found.coef, 0, atol=1e-6)
    constant = v.mean() if name == "pointwise_squared" else np.log(v.mean() / (1 - v.mean()))
    assert found.intercept == pytest.approx(constant, abs=1e-5)


@pytest.mark.parametrize("least", [1e-4, 0.3, 7.0, 1e5])
def test_a_line_is_left_with_half_of_its_slope(least):
    """Slopes jump at a kink halfway to the minimum, before and beyond the first length."""

    def at(length):
        steep = 10.0 if length < 0.5 * least else 1.0
        return length, steep * (length - least) / least

    length = search_line(at, -10.0)
    assert abs(at(length)[1]) <= 5.0
    # What is never lower ends near the start.
    assert search_line(at, -10.0, is_lower=lambda length: False) < 1e-9


def test_newtons_method_ends_where_rounding_is_all_that_is_left():
    X, v, offsets = problem(8)
    made = LinearProblem(OnePart(as_design(X), losses.PairwiseLogistic().on(v, offsets)), 0.1)
    point, n_iter = newton_cg(Criterion(made, 0.0), np.zeros(3), 200, lambda *told: None)
    assert n_iter < 20
    assert np.linalg.norm(point.gradient) < 1e-12


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


def solve_hinge(X, y, offsets, *, alpha, margin=1.0, **settings):
    return solve_linear_hinge(
        LinearProblem(OnePart(as_design(X)), alpha),
        hinges=(
            lambda margin, *lists: losses.ComparisonHinge(margin).on(y, offsets),
            lambda margin, *lists: losses.ComparisonSquaredHinge(margin).on(y, offsets),
        ),
        margin=margin,
        **settings,
    )


@pytest.mark.parametrize(("alpha", "margin"), [(0.05, 1.0), (1.0, 0.3), (30.0, 1.0)])
def test_the_hinge_is_minimised_up_to_its_gap(alpha, margin):
    X, y, offsets = problem(3)
    value, w = hinge_by_cvxpy(X, y, offsets, alpha, margin)
    for tol in (1e-1, 1e-3, 1e-6):
        found = solve_hinge(X, y, offsets, alpha=alpha, margin=margin, tol=tol)
        assert found.certificate.converged
        assert found.certificate.relative_gap <= tol
        assert value * (1 - 1e-8) <= found.certificate.objective
        assert (
            found.certificate.objective - value
            <= found.certificate.relative_gap * found.certificate.objective + 1e-7 * value
        )
    np.testing.assert_allclose(found.coef, w, atol=1e-2)


def test_the_gap_bounds_the_distance_of_an_unfinished_hinge():
    X, y, offsets = problem(4, n_lists=12)
    value, _ = hinge_by_cvxpy(X, y, offsets, 0.01, 1.0)
    for max_iter in (1, 2, 3, 5, 8):
        found = solve_hinge(X, y, offsets, alpha=0.01, tol=1e-9, max_iter=max_iter)
        assert not found.certificate.converged
        assert (
            found.certificate.objective - value
            <= found.certificate.relative_gap * found.certificate.objective
        )
        assert found.certificate.relative_gap > 0


@pytest.mark.parametrize("name", ["pairwise_logistic", "pairwise_squared", "pointwise_logistic"])
def test_preconditioned_directions_reach_the_same_minimum(name, monkeypatch):
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 241, 12)
    # Directions of different lengths, which no change of units makes equal.
    turned = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    X = rng.normal(size=(240, 30)) * np.logspace(-2, 2, 30) @ turned
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
    found = minimise(X, on, **settings)
    assert found.certificate.converged
    n_calls = len(calls)
    calls.clear()
    monkeypatch.setattr("sklearn_rank._solvers._linear.LARGEST_FACTOR", 0)
    plain = minimise(X, on, **settings)
    assert n_calls < 0.5 * len(calls)
    assert found.certificate.objective <= plain.certificate.objective * (1 + 1e-9)


def test_the_hinge_of_sparse_rows_and_from_its_own_solution():
    X, y, offsets = problem(5)
    dense = solve_hinge(X, y, offsets, alpha=0.1, tol=1e-6)
    sparse = solve_hinge(sp.csr_array(X), y, offsets, alpha=0.1, tol=1e-6)
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=1e-6)
    again = solve_hinge(X, y, offsets, alpha=0.1, tol=1e-6, start=dense.coef)
    assert again.certificate.converged
    assert again.certificate.n_iter <= dense.certificate.n_iter
    assert again.certificate.objective <= dense.certificate.objective * (1 + 1e-6)


def test_a_hinge_without_pairs_is_0_at_once():
    X, y, offsets = problem(5)
    found = solve_hinge(X, 0 * y, offsets, alpha=0.1)
    assert found.certificate.converged
    assert found.certificate.objective == found.certificate.lower_bound == 0
    np.testing.assert_array_equal(found.coef, 0)
