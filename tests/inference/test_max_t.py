"""Draws of the largest of several normal variables, against quantiles that are known."""

import numpy as np
import pytest
from scipy.stats import norm, studentized_range

from sklearn_rank.inference import _compare as module
from sklearn_rank.inference._compare import covariance_root, largest_of_contrasts, normal_draws

N_DRAWS = 100_000


def critical(covariance, level=0.95, seed=0):
    rng = np.random.default_rng(seed)
    drawn = largest_of_contrasts(covariance, np.eye(len(covariance)), rng)
    return np.quantile(drawn, level)


def test_one_variable_has_the_normal_quantile():
    assert critical(np.array([[4.0]])) == pytest.approx(norm.ppf(0.975), abs=0.015)


def test_independent_variables_have_sidaks_quantile():
    for n in (2, 5, 20):
        expected = norm.ppf((1 + 0.95 ** (1 / n)) / 2)
        assert critical(np.eye(n)) == pytest.approx(expected, abs=0.02)


def test_differences_of_three_have_tukeys_range():
    rows = np.array([[1.0, -1, 0], [1, 0, -1], [0, 1, -1]])
    expected = studentized_range.ppf(0.95, 3, np.inf) / 2**0.5
    assert critical(rows @ rows.T / 2) == pytest.approx(expected, abs=0.015)


def test_the_same_variable_many_times_is_one():
    assert critical(np.ones((7, 7))) == pytest.approx(critical(np.ones((1, 1))), abs=1e-12)


def test_root_of_a_covariance_of_lower_rank():
    rng = np.random.default_rng(2)
    factor = rng.normal(size=(6, 2))
    root = covariance_root(factor @ factor.T)
    assert root.shape == (6, 2)
    np.testing.assert_allclose(root @ root.T, factor @ factor.T, atol=1e-12)


def test_draws_have_the_covariance():
    covariance = np.array([[2.0, 0.6], [0.6, 0.5]])
    rng = np.random.default_rng(3)
    drawn = np.concatenate(list(normal_draws(covariance_root(covariance), N_DRAWS, rng)))
    assert drawn.shape == (N_DRAWS, 2)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.03)
    np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=0.02)


def test_signed_draws_have_the_distribution_of_a_maximum():
    rng = np.random.default_rng(4)
    found = largest_of_contrasts(np.eye(4), np.eye(4), rng, signed=True)
    assert np.quantile(found, 0.95) == pytest.approx(norm.ppf(0.95 ** (1 / 4)), abs=0.02)
    assert np.all(np.diff(found) >= 0)


def test_fewer_draws_of_many_contrasts(monkeypatch):
    monkeypatch.setattr(module, "FLOPS", 10**5)
    found = largest_of_contrasts(np.eye(9), np.eye(9), np.random.default_rng(4))
    assert len(found) == module.FEWEST
