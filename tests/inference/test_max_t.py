"""Draws of the largest of several normal variables, against quantiles that are known."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm, studentized_range

from sklearn_rank.inference._level import (
    covariance_root,
    excess_of_largest,
    largest_of_contrasts,
    normal_draws,
    simultaneous_level,
)

N_DRAWS = 100_000


def critical(covariance, level=0.95, seed=0):
    rng = np.random.default_rng(seed)
    return largest_of_contrasts(covariance, np.eye(len(covariance)), rng).quantile(level)


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
    assert critical(np.ones((7, 7))) == pytest.approx(norm.ppf(0.975), abs=1e-6)


def test_probabilities_beyond_are_those_of_plain_draws():
    rng = np.random.default_rng(8)
    steps = rng.standard_normal((150_000, 30)).cumsum(axis=1) / np.sqrt(np.arange(1, 31))
    covariance = np.sqrt(np.minimum.outer(i := np.arange(1.0, 31), i) / np.maximum.outer(i, i))
    for signed, drawn in ((False, np.abs(steps)), (True, steps)):
        largest = largest_of_contrasts(covariance, np.eye(30), rng, signed=signed)
        for x in (0.0, 1.5, 2.5, 3.5):
            expected = np.mean(drawn.max(axis=1) >= x)
            assert float(largest.beyond(x)) == pytest.approx(expected, rel=0.08)


def test_small_probabilities_are_as_exact_as_large_ones():
    largest = largest_of_contrasts(np.eye(5), np.eye(5), np.random.default_rng(1))
    x = np.linspace(0.5, 8.0, 100)  # of more than a few they are interpolated
    expected = -np.expm1(5 * np.log1p(-2 * norm.sf(x)))
    np.testing.assert_allclose(largest.beyond(x), expected, rtol=0.03)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_levels_near_one_of_independent_variables_have_bonferronis_quantile(k):
    for level in 1 - 10.0 ** -np.arange(5, 13):
        drawn = largest_of_contrasts(np.eye(k), np.eye(k), np.random.default_rng(0))
        assert drawn.quantile(level) == pytest.approx(norm.isf((1 - level) / 2 / k), abs=1e-3)


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
    assert found.quantile(0.95) == pytest.approx(norm.ppf(0.95 ** (1 / 4)), abs=0.02)
    np.testing.assert_allclose(found.beyond([-9.0, -1.0]), [1.0, 1 - norm.cdf(-1) ** 4], rtol=1e-3)


def test_level_that_holds_together():
    rng = np.random.default_rng(5)
    assert simultaneous_level(np.array([[3.0]]), 0.9, rng) == 0.9
    for n in (2, 5, 20):
        level = simultaneous_level(np.diag(np.arange(1.0, n + 1)), 0.95, rng)
        assert 1 - level == pytest.approx(1 - 0.95 ** (1 / n), rel=0.06)
        assert simultaneous_level(np.ones((n, n)), 0.95, rng) == pytest.approx(0.95, abs=2e-3)
        # No correlation makes the level higher than Bonferroni's.
        assert level <= 1 - 0.05 / n
    for r in (-1.0, -0.7, 0.0, 0.4, 1.0):
        covariance = np.array([[1.0, 2 * r], [2 * r, 4.0]])
        c = norm.ppf((1 + simultaneous_level(covariance, 0.95, rng)) / 2)
        drawn = largest_of_contrasts(covariance, np.eye(2), rng)
        assert c == pytest.approx(drawn.quantile(0.95), abs=0.02)
    exact = multivariate_normal(cov=[[1.0, 0.4], [0.4, 1.0]])
    c = norm.ppf((1 + simultaneous_level(np.array([[1.0, 0.4], [0.4, 1.0]]), 0.95, rng)) / 2)
    assert exact.cdf([c, c], lower_limit=[-c, -c]) == pytest.approx(0.95, abs=1e-6)


def test_expected_excess_of_the_largest_of_two():
    # Clark (1961).
    covariance = np.array([[1.0, 0.3], [0.3, 2.0]])
    for lead in (0.0, 1.0, -3.0):
        expected = 2.4**0.5 * norm.pdf(lead / 2.4**0.5)
        assert excess_of_largest(np.array([lead, 0.0]), covariance) == pytest.approx(
            expected, abs=0.03
        )


def test_infinite_statistics_among_many_have_no_chance():
    largest = largest_of_contrasts(np.eye(100), np.eye(100), np.random.default_rng(0))
    statistics = np.append(np.linspace(0.0, 8.0, 99), np.inf)
    found = largest.beyond(statistics)
    assert found[-1] < 1e-290
    expected = 1.0 - (1.0 - 2.0 * norm.sf(statistics[:-1])) ** 100
    np.testing.assert_allclose(found[:-1], expected, rtol=0.02)
