"""Logistic regression: scikit-learn's minimum, with a certificate."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from sklearn_rank._solvers import as_design
from sklearn_rank.rankers._one_problem import logistic_regression


def data(n=300, d=4, shift=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0
    positive = X[:, 0] + shift * rng.logistic(size=n) > 4.5
    return X, positive, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("shift", [0.0, 1.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_minimum_is_scikit_learns(shift, form):
    for C in (1e-4, 1.0, 1e4):
        X, positive, weight = data(shift=shift)
        found = logistic_regression(as_design(form(X)), positive, weight, C)
        other = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000)
        expected = other.fit(X, positive, weight).coef_[0]
        np.testing.assert_allclose(found.coef, expected, rtol=1e-6, atol=1e-8)
        assert found.certificate.converged
        assert found.certificate.n_iter < 40


def test_more_features_than_are_factorised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1100)) * (rng.random((60, 1100)) < 0.1)
    positive = X[:, :30].sum(axis=1) > 0
    found = logistic_regression(as_design(sp.csr_array(X)), positive, np.ones(60), 1.0)
    other = LogisticRegression(C=1.0, tol=1e-10, max_iter=10000).fit(X, positive)
    np.testing.assert_allclose(found.coef, other.coef_[0], rtol=1e-5, atol=1e-7)


def test_equal_scores_far_from_the_intercept():
    X = np.array([[1e4], [1e4], [1e4], [1e4 + 1]])
    positive = np.array([True, False, False, True])
    found = logistic_regression(as_design(X), positive, np.ones(4), 1.0)
    centred = logistic_regression(as_design(X - 1e4), positive, np.ones(4), 1.0)
    np.testing.assert_allclose(found.coef, centred.coef, rtol=1e-6)
