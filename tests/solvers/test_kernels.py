"""The compiled pieces against numpy, one by one."""

import numba
import numpy as np
import pytest

from sklearn_rank._solvers import _kernels as kernels
from tests.naming import for_each


def data(n, d):
    """Rows with zeros, and a generator."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6), rng


@numba.njit
def factor_and_solve(matrix, rhs, address):
    return kernels._solve_positive(matrix, rhs, rhs.shape[0], address)


def solve_cholesky(matrix, rhs):
    return factor_and_solve(matrix, rhs, kernels.address_of_posv())


@for_each("size", [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 17, 33, 63, 64, 65, 130])
def test_cholesky_solves(size):
    rng = np.random.default_rng(size)
    root = rng.normal(size=(size, size))
    matrix = root @ root.T + np.eye(size)
    rhs = rng.normal(size=size)
    expected = np.linalg.solve(matrix, rhs)
    upper = np.triu(matrix) + np.tril(np.full((size, size), np.nan), -1)  # only this is read
    assert solve_cholesky(upper, rhs)
    np.testing.assert_allclose(rhs, expected, rtol=1e-8, atol=1e-8)


def test_a_large_matrix_that_is_not_positive_definite_is_left():
    matrix, rhs = -np.eye(70), np.arange(70.0)
    assert not solve_cholesky(matrix, rhs)
    np.testing.assert_array_equal(rhs, np.arange(70.0))


@pytest.mark.parametrize("scale", [1e4, 1e8, 1e12])
def test_cholesky_of_an_ill_conditioned_matrix_descends(scale):
    # What the iteration meets at a large penalty: identity plus a large matrix of low rank.
    rng = np.random.default_rng(0)
    for size in (3, 6, 12, 100):
        root = rng.normal(size=(size, 2))
        matrix = np.eye(size) + scale * root @ root.T
        for gradient in (rng.normal(size=size), matrix @ rng.normal(size=size)):
            direction = -gradient
            assert solve_cholesky(matrix.copy(), direction)
            assert np.all(np.isfinite(direction))
            assert direction @ gradient < 0


@pytest.mark.slow
@pytest.mark.parametrize("n_free", [0, 1, 6])
def test_gram_of_the_free_rows(n_free):
    X, rng = data(9, 12)
    z, free = X[4].copy(), np.sort(rng.permutation(9)[:n_free])
    gram = kernels._gram(X, z, free, n_free)
    moved = X[free] - z
    upper = np.triu_indices(n_free)
    np.testing.assert_allclose(gram[upper], (moved @ moved.T)[upper], rtol=1e-12, atol=1e-12)
    # The same from a table of the inner products of all rows.
    looked_up = np.empty((n_free, n_free))
    kernels._look_up(X @ X.T, X @ z, z @ z, free, n_free, np.empty(9), looked_up)
    np.testing.assert_allclose(looked_up[upper], gram[upper], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("n_rows", [0, 1, 40, 300])  # in one batch of 256 rows, and over the edge
def test_outer_products_are_summed_about_a_pivot(n_rows):
    X, rng = data(400, 5)
    rows, weight, z = rng.permutation(400), rng.random(400) + 0.1, X[3].copy()
    hessian, block = np.empty((5, 5)), np.empty((kernels.GATHER, 5))
    kernels._hessian(X, z, weight, rows, n_rows, block, hessian)
    moved = X[rows[:n_rows]] - z
    upper = np.triu_indices(5)
    expected = np.eye(5) + moved.T @ (weight[:n_rows, None] * moved)
    np.testing.assert_allclose(hessian[upper], expected[upper], rtol=1e-11, atol=1e-11)


@pytest.mark.slow
def test_both_forms_of_the_newton_direction_solve_the_newton_system():
    X, rng = data(12, 7)
    cost, z, sigma, free = rng.random(12) + 0.1, X[3].copy(), 2.5, np.array([0, 4, 5, 9])
    gradient = rng.normal(size=7)
    d = X[free] - z
    expected = np.linalg.solve(np.eye(7) + sigma * d.T @ (cost[free, None] * d), -gradient)
    gram = kernels._gram(X, z, free, 4)
    direction = np.empty(7)
    arguments = (X, z, free, 4, sigma * cost[free], gram, gradient, np.empty(7), direction)
    find_by_rows(arguments, kernels.address_of_posv())
    np.testing.assert_allclose(direction, expected, rtol=1e-10, atol=1e-12)


@numba.njit
def find_by_rows(arguments, address):
    kernels._find_direction_by_rows(*arguments, address)
