"""The factorisation of kernel matrices."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from sklearn_rank._solvers import check_definite, factorise_kernel
from tests.naming import for_each


def factor_of(K, **arguments):
    return factorise_kernel(lambda i: K[:, i], np.diag(K), **arguments)


def kernels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return {
        "linear": X @ X.T,
        "rbf": rbf_kernel(X, gamma=0.3),
        "narrow rbf": rbf_kernel(X, gamma=30.0),
        "poly": polynomial_kernel(X, degree=2, gamma=1.0, coef0=1.0),
        "repeated rows": rbf_kernel(X[rng.integers(0, 5, 40)]),
        "zero": np.zeros((4, 4)),
        "tiny": 1e-200 * rbf_kernel(X),
        "one point": np.array([[2.0]]),
    }


@for_each("name", kernels())
def test_rows_have_the_kernel_as_inner_products(name):
    K = kernels()[name]
    factor = factor_of(K)
    scale = max(K.max(), 1e-300)
    np.testing.assert_allclose(factor.rows @ factor.rows.T / scale, K / scale, atol=2e-12)
    check_definite(factor, lambda part: K[part])
    assert len(set(factor.support.tolist())) == len(factor.support) == factor.rows.shape[1]
    triangle = factor.rows[factor.support]
    assert (triangle == np.tril(triangle)).all()
    assert factor.error <= 1e-12


def test_ranks():
    ranks = {name: len(factor_of(K).support) for name, K in kernels().items()}
    expected = {"linear": 3, "poly": 10, "repeated rows": 5, "zero": 0, "one point": 1}
    assert {name: ranks[name] for name in expected} == expected
    assert ranks["narrow rbf"] == 40


def test_a_looser_tolerance_takes_fewer_points_and_says_what_is_left():
    K = kernels()["rbf"]
    loose = factor_of(K, tol=1e-3)
    assert len(loose.support) < len(factor_of(K).support)
    assert 1e-12 < loose.error <= 1e-3
    left = np.diag(K - loose.rows @ loose.rows.T)
    assert left.max() == pytest.approx(loose.error)


@pytest.mark.parametrize("name", ["linear", "rbf", "poly", "repeated rows"])
def test_weight_vectors_are_sums_of_kernel_functions(name):
    K = kernels()[name]
    factor = factor_of(K)
    coef = np.random.default_rng(1).normal(size=len(factor.support))
    scores = K[:, factor.support] @ factor.expansion(coef)
    np.testing.assert_allclose(scores, factor.rows @ coef, rtol=1e-6, atol=1e-8)


@for_each(
    "K",
    [
        np.array([[1.0, 2.0], [2.0, 1.0]]),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.array([[-1.0, 0.0], [0.0, 1.0]]),
        np.diag([1.0, 1.0, -1e-6]),
        -np.eye(2),
    ],
)
def test_indefinite_matrices_are_refused(K):
    def both():
        check_definite(factor_of(K), lambda part: K[part])

    with pytest.raises(ValueError, match="not positive semidefinite"):
        both()


def test_columns_are_asked_for_once_each():
    K = kernels()["poly"]
    asked = []
    factorise_kernel(lambda i: asked.append(i) or K[:, i], np.diag(K))
    assert len(asked) == len(set(asked)) == 10
