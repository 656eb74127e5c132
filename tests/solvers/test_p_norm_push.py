"""The p-norm push: sums without pairs, derivatives, and minima with certificates."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, rel_entr

from sklearn_rank._logistic_sums import LogisticSums
from sklearn_rank._solvers import (
    ExponentialPush,
    LogisticPush,
    _design,
    _linear,
    as_design,
    minimise_push,
)
from tests.oracles import p_norm_push as oracle

LOSSES = pytest.mark.parametrize("loss", ["exponential", "logistic"])


def data(seed=0, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    positive = X[:, 0] + rng.logistic(size=n) > 0.5
    positive[:2] = True, False
    return X, positive, rng.integers(1, 4, n).astype(float)


def problem(X, positive, weight, *, p=4.0, C=1.0, loss="exponential"):
    push = ExponentialPush if loss == "exponential" else LogisticPush
    return as_design(X), push(positive, weight, p, C)


def solve_p_norm_push(made, *, tol=1e-6, max_iter=200, on_iteration=None):
    return minimise_push(*made, tol=tol, max_iter=max_iter, on_iteration=on_iteration)


@pytest.mark.parametrize("apart", [0.0, 30.0, -200.0, 500.0])
def test_sums_of_all_differences_are_those_of_the_pairs(apart):
    for scale in (0.0, 0.1, 3.0, 50.0, 1e3):
        rng = np.random.default_rng(0)
        t, s = scale * rng.normal(size=60) + apart, scale * rng.standard_t(2, size=45)
        of_t, of_s = rng.random(60), rng.random(45)
        sums, z = LogisticSums(t, s), t[:, np.newaxis] - s
        values = [np.logaddexp(0, z), expit(z), expit(z) * expit(-z)]
        for order, value in enumerate(values):
            # Differences of large scores are rounded themselves.
            rounding = 1e-13 * (1.0 + scale + abs(apart))
            expected = value @ of_s
            np.testing.assert_allclose(
                sums.at_upper(((order, of_s),))[0], expected, rounding, 1e-45
            )
            if order:
                expected = of_t @ value
                np.testing.assert_allclose(
                    sums.at_lower(((order, of_t),))[0], expected, rounding, 1e-25
                )
        both = sums.at_upper(((0, of_s), (2, -of_s)))[0]
        np.testing.assert_allclose(both, (values[0] - values[2]) @ of_s, rtol=1e-9, atol=1e-12)


@LOSSES
def test_value_slopes_and_curvature(loss):
    for p in (1.0, 4.0, 40.0):
        X, positive, weight = data(n=25)
        _, function = problem(X, positive, weight, p=p, C=3.0, loss=loss)
        rng = np.random.default_rng(1)
        scores, direction, h = rng.normal(size=25), rng.normal(size=25), 1e-5
        value, slopes = function.value_and_gradient(scores)
        found = oracle.push(scores, positive, weight, p, loss)
        assert value == pytest.approx(
            3 * (np.log(found) if loss == "exponential" else found), 1e-13
        )
        differences = [
            np.subtract(*(function.value_and_gradient(s)[0] for s in (scores + e, scores - e)))
            / (2 * h)
            for e in h * np.eye(25)
        ]
        np.testing.assert_allclose(slopes, differences, atol=1e-8)
        assert abs(slopes.sum()) < 1e-12  # only differences of scores count
        above, below = (
            function.value_and_gradient(scores + sign * h * direction)[1] for sign in (1, -1)
        )
        diagonal, subtracted = function.diagonal(scores)
        product = function.hessian_product(scores, direction)
        np.testing.assert_allclose(product, (above - below) / (2 * h), atol=1e-6)
        approximate = np.diag(diagonal)
        for vector in subtracted:
            approximate -= np.outer(vector, vector)
        assert np.linalg.eigvalsh(approximate)[0] > -1e-10
        if loss == "exponential":
            np.testing.assert_allclose(approximate @ direction, product, atol=1e-12)


@LOSSES
@pytest.mark.parametrize(("p", "C"), [(1.0, 100.0), (2.5, 0.01), (8.0, 1.0), (8.0, 100.0)])
def test_the_minimum_is_that_of_a_solver_of_cones(loss, p, C):
    X, positive, weight = data(seed=3, n=24)
    solution = solve_p_norm_push(problem(X, positive, weight, p=p, C=C, loss=loss), tol=1e-9)
    certificate = solution.certificate
    assert certificate.converged
    assert certificate.relative_gap <= 1e-9
    value = oracle.objective(solution.coef, X, positive, weight, p, C, loss)
    assert certificate.objective == pytest.approx(value, rel=1e-9, abs=1e-12)
    coef, least = oracle.by_cvxpy(X, positive, weight, p, C, loss)
    assert certificate.lower_bound <= least + 1e-7 * abs(least)
    assert certificate.objective <= least + 1e-6 * abs(least)
    np.testing.assert_allclose(solution.coef, coef, atol=1e-3 * np.abs(coef).max())


@pytest.mark.parametrize("p", [1.0, 4.0])
def test_the_lower_bound_is_the_dual_objective_of_two_entropies(p):
    X, positive, weight = data()
    made = problem(X, positive, weight, p=p, C=2.0)
    with_gap = solve_p_norm_push(made, tol=0.1)
    scores = X @ with_gap.coef
    u = weight[positive] / weight[positive].sum()
    v = weight[~positive] / weight[~positive].sum()
    a, b = u * np.exp(-scores[positive]), v * np.exp(p * scores[~positive])
    a, b = a / a.sum(), b / b.sum()
    pulled = 2.0 * (a @ X[positive] - b @ X[~positive])
    dual = -pulled @ pulled / 2 - 2.0 * (rel_entr(a, u).sum() + rel_entr(b, v).sum() / p)
    assert with_gap.certificate.lower_bound == pytest.approx(dual, rel=1e-12)
    assert with_gap.certificate.relative_gap > 1e-8


@LOSSES
def test_with_large_p_it_is_the_infinite_push(loss):
    X, positive, weight = data(n=30)
    coef, least = oracle.by_cvxpy(X, positive, weight, np.inf, 2.0, loss)
    gaps = []
    for p in (1e2, 1e4):
        solution = solve_p_norm_push(problem(X, positive, weight, p=p, C=2.0, loss=loss), tol=1e-9)
        gaps.append(np.abs(solution.coef - coef).max())
        # A p-norm over n of mean 1 is less than the maximum by at most the factor V**(1/p).
        if loss == "exponential":
            lost = 2.0 * np.log(weight[~positive].sum()) / p
        else:
            lost = least * (1.0 - weight[~positive].sum() ** (-1.0 / p))
        assert least - lost - 1e-6 <= solution.certificate.objective <= least + 1e-6
    assert gaps[1] < 1e-3 < gaps[0]


@LOSSES
def test_conjugate_gradients_and_factors_find_the_same(loss, monkeypatch):
    X, positive, weight = data(d=6)
    made = problem(X, positive, weight, C=10.0, loss=loss)
    expected = solve_p_norm_push(made, tol=1e-10).coef
    monkeypatch.setattr(_linear, "LARGEST_FACTOR", 0)
    found = solve_p_norm_push(made, tol=1e-10)
    assert found.certificate.converged
    np.testing.assert_allclose(found.coef, expected, atol=1e-5)


@LOSSES
def test_rows_in_blocks_and_sparse_rows_give_the_same(loss, monkeypatch):
    X, positive, weight = data()
    expected = solve_p_norm_push(problem(X, positive, weight, loss=loss), tol=1e-10).coef
    monkeypatch.setattr(_design, "COPIED_ROWS", 20)
    for form in (np.asarray, sp.csr_array):
        found = solve_p_norm_push(problem(form(X), positive, weight, loss=loss), tol=1e-10).coef
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@LOSSES
def test_separable_classes_and_much_cost(loss):
    X, positive, weight = data()
    X[:, 0] += np.where(positive, 10.0, -10.0)
    solution = solve_p_norm_push(problem(X, positive, weight, C=1e6, loss=loss))
    assert solution.certificate.converged
    assert (X[positive] @ solution.coef).min() > (X[~positive] @ solution.coef).max()


@LOSSES
def test_classes_with_one_mean_have_no_direction(loss):
    rng = np.random.default_rng(0)
    X = 100.0 * rng.normal(size=(50, 2))
    X, positive = np.vstack([X, rng.permutation(X)]), np.arange(100) < 50
    solution = solve_p_norm_push(problem(X, positive, np.ones(100), p=1.0, loss=loss))
    np.testing.assert_allclose(solution.coef, 0.0, atol=1e-12)
    assert solution.certificate.converged
    assert solution.certificate.relative_gap <= 1e-6  # the gradient is rounding, the objective 0


@LOSSES
def test_steps_are_counted_told_and_limited(loss):
    X, positive, weight = data(n=300)
    told = []
    made = problem(X, positive, weight, C=1e3, loss=loss)
    solution = solve_p_norm_push(made, on_iteration=lambda *step: told.append(step))
    assert [step[0] for step in told] == list(range(1, solution.certificate.n_iter + 1))
    certificate = solution.certificate
    assert told[-1][1:] == pytest.approx((certificate.objective, certificate.relative_gap), 1e-6)
    cut = solve_p_norm_push(made, max_iter=1).certificate
    assert not cut.converged
    assert cut.n_iter == 1
    assert cut.lower_bound <= solution.certificate.objective <= cut.objective
