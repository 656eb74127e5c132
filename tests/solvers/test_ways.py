"""Array operations and compiled loops for the problems of pivots: values, and which is chosen."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank import _optional
from sklearn_rank._solvers import PivotProblem, _batched_newton, solve_pivots_newton

TOL = 1e-6


def rows(kind, n, d, seed=0):
    """Rows of a kind: normal, of heavy tails, in coordinates of a kernel, or with w = 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2.5, (n, d)) if kind == "tails" else rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.logistic(size=n) > 1, 1.0, -1.0)
    if kind == "zero":  # each point in both classes: no weights lower the loss
        return np.repeat(X[: n // 2], 2, axis=0), np.tile([-1.0, 1.0], n // 2)
    if kind == "kernel":
        distance = np.sum((X[:, np.newaxis] - X) ** 2, axis=-1)
        X = np.linalg.cholesky(np.exp(-distance / d) + 1e-9 * np.eye(n))
    return X, y


def make(kind, n, d, C):
    X, y = rows(kind, n, d)
    return PivotProblem.from_rows(X, y, np.full(n, C), np.ones(n))


def solve(kind, n, d, C, monkeypatch, worth):
    monkeypatch.setattr(_optional, "BREAK_EVEN", worth)
    problem = make(kind, n, d, C)
    assert problem.is_compiled == (worth == 0)
    return solve_pivots_newton(problem, problem.pivots[:64], tol=TOL)


KINDS = ["normal", "tails", "kernel", "zero"]


@pytest.mark.parametrize("C", [1e-4, 100.0])
@pytest.mark.parametrize("kind", KINDS)
def test_array_operations_take_the_steps_of_compiled_loops(kind, C, monkeypatch):
    n, d = (130, 4) if kind == "kernel" else (400, 4)
    arrays = solve(kind, n, d, C, monkeypatch, np.inf)
    loops = solve(kind, n, d, C, monkeypatch, 0.0)
    assert arrays.converged.all()
    assert loops.converged.all()
    assert np.all(arrays.lower_bound <= loops.objective * (1 + 1e-12))
    assert np.all(loops.lower_bound <= arrays.objective * (1 + 1e-12))
    distance = np.linalg.norm(arrays.coef - loops.coef, axis=1)
    assert np.all(distance <= 2 * np.sqrt(2 * TOL * loops.objective))
    assert (kind == "zero") == np.allclose(arrays.coef, 0.0)
    ratio = arrays.n_iter.sum() / loops.n_iter.sum()
    assert 0.5 <= ratio <= 2


@pytest.mark.parametrize(
    ("worth", "scale"), [(np.inf, 1.0), (0.0, 1.0), (np.inf, 1e-25), (0.0, 1e25)]
)
def test_a_start_by_splitting_halves_the_steps(worth, scale, monkeypatch):
    monkeypatch.setattr(_optional, "BREAK_EVEN", worth)
    X, y = rows("normal", 200, 40)
    X[:, 0] *= 1e3  # in smaller units than the others
    problem = PivotProblem.from_rows(scale * X, y, np.full(200, 0.01 / scale**2), np.ones(200))
    fast = solve_pivots_newton(problem, problem.pivots, tol=TOL)
    monkeypatch.setattr(_batched_newton, "MIN_FEATURES", np.inf)
    slow = solve_pivots_newton(replace(problem), problem.pivots, tol=TOL)
    assert fast.converged.all()
    assert slow.converged.all()
    # Where single precision overflows, it starts from zero.
    assert fast.n_iter.sum() <= (0.5 if scale == 1.0 else 1.0) * slow.n_iter.sum()
    np.testing.assert_allclose(fast.objective, slow.objective, rtol=2 * TOL)


def test_the_way_follows_the_predicted_work():
    small, large = (make("normal", n, 5, 0.1) for n in (300, 3000))
    assert not small.is_compiled
    assert large.is_compiled
    large = sp.random_array((600, 40_000), density=0.001, format="csr", rng=0)
    y = np.where(np.arange(600) % 3, -1.0, 1.0)
    problem = PivotProblem.from_rows(large, y, np.ones(600), np.ones(600))
    assert not problem.rows.is_dense
    assert not problem.is_compiled
