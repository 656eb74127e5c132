"""Shatter coefficients: against patterns counted one by one."""

from itertools import product
from math import comb, exp, lgamma, log

import numpy as np
import pytest

from sklearn_rank.bounds._auc import (
    _log_cauchy,
    _log_insertions,
    log_faces,
    log_patterns_of_paper,
    log_rank_shatter_coefficient,
    log_regions,
    rank_matrix_count,
)
from tests.naming import for_each
from tests.oracles import rank_patterns as oracle

SMALL = [(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (2, 3), (3, 2), (1, 4), (3, 3)]


def linear(m, n, d, method="central"):
    return log_rank_shatter_coefficient(d, m, n, method)


# ------------------------------------------------------------------------------- all rank matrices


@for_each(("m", "n"), [size for size in SMALL if sum(size) < 6])
def test_count_of_rank_matrices_by_enumeration(m, n):
    for ties in (True, False):
        assert rank_matrix_count(m, n, ties=ties) == len(oracle.rank_matrices(m, n, ties))


@pytest.mark.parametrize("ties", [True, False])
def test_count_of_rank_matrices_by_its_generating_function(ties):
    for m, n in product(range(1, 9), repeat=2):
        assert rank_matrix_count(m, n, ties=ties) == oracle.series_counts(m, n, ties)


def test_count_of_rank_matrices_in_numbers():
    sizes = [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (3, 3)]
    assert [rank_matrix_count(*size) for size in sizes] == [3, 9, 27, 51, 261, 1299, 2067]


@pytest.mark.parametrize("ties", [True, False])
def test_bounds_of_the_count(ties):
    for m, n in [(1, 1), (2, 7), (9, 9), (1, 60), (40, 3), (60, 80)]:
        exact = log(rank_matrix_count(m, n, ties=ties))
        assert max(m, n) * log(3 if ties else 2) <= exact * (1 + 1e-12)
        assert exact <= lgamma(m + n + 1) + (m + n - 1) * log(2) + 1e-12
        assert exact <= _log_cauchy(m, n, ties)
        assert exact <= _log_insertions(m, n, ties) * (1 + 1e-12)
    assert _log_cauchy(60, 80, ties) < 1.02 * exact
    # One row: nothing is lost by placing each column but the way to order the row.
    assert _log_insertions(1, 50, False) == pytest.approx(50 * log(2))


def test_large_counts_are_bounded_not_computed():
    few = [linear(m, n, 10**6) for m, n in ((150, 150), (151, 150), (1, 299), (1, 300))]
    assert few[0] < few[1] < 1.03 * few[0]
    assert few[2] < few[3] < 1.01 * few[2]
    assert linear(20_000, 30_000, 10**6) < lgamma(50_001) + 50_000 * log(2)


# ---------------------------------------------------------------------------------- linear classes


@pytest.mark.parametrize(("m", "n", "d"), [(2, 2, 1), (3, 2, 2), (2, 2, 3)])
def test_central_is_exact_up_to_three_features(m, n, d):
    rng = np.random.default_rng(m * n * d)
    vectors = oracle.differences(rng.normal(size=(m, d)), rng.normal(size=(n, d)))
    with_ties = oracle.sign_patterns(vectors)
    assert len(with_ties) == round(exp(linear(m, n, d)))
    strict = [pattern for pattern in with_ties if 0 not in pattern]
    assert len(strict) == round(exp(linear(m, n, d, "strict")))


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n", "d"), [(2, 2, 4), (2, 3, 3)])
def test_more_features(m, n, d):
    rng = np.random.default_rng(m * n * d)
    vectors = oracle.differences(rng.normal(size=(m, d)), rng.normal(size=(n, d)))
    counted = len(oracle.sign_patterns(vectors))
    assert counted <= round(exp(linear(m, n, d)))
    if d >= m + n - 1:
        # As many features as it takes to order the points in every way.
        assert counted == rank_matrix_count(m, n) == round(exp(linear(m, n, d)))
    if d <= 3:
        assert counted == round(exp(log_faces(m * n, d)))


@pytest.mark.slow
def test_points_in_special_position_have_fewer_patterns():
    # Equal points, points on a line, opposite differences.
    rng = np.random.default_rng(3)
    for _ in range(3):
        pos, neg = rng.integers(0, 2, (2, 2)), rng.integers(0, 2, (3, 2))
        patterns = oracle.sign_patterns(oracle.differences(pos, neg))
        assert len(patterns) <= round(exp(linear(2, 3, 2)))
        assert sum(0 not in pattern for pattern in patterns) <= round(
            exp(linear(2, 3, 2, "strict"))
        )


def test_ties_are_means_of_what_is_beside_them():
    """The step that lets "strict" leave ties out: a matrix with ties is a mean of two without."""
    rng = np.random.default_rng(4)
    pos, neg = rng.integers(0, 3, (3, 2)).astype(float), rng.integers(0, 3, (3, 2)).astype(float)
    step = rng.normal(size=2) * 1e-6
    for w in product((-1.0, 0.0, 1.0, 0.5), repeat=2):
        middle, below, above = (
            np.array(oracle.rank_matrix(pos @ v, neg @ v)) for v in (w, w - step, w + step)
        )
        np.testing.assert_array_equal(middle, (below + above) / 2)


def test_faces_and_regions():
    for n in range(1, 12):
        for d in range(1, 14):
            assert exp(log_faces(n, d)) == pytest.approx(oracle.faces(n, d), rel=1e-12)
            regions = 2 * sum(comb(n - 1, i) for i in range(d))
            assert exp(log_regions(n, d)) == pytest.approx(regions, rel=1e-12)
            assert exp(linear(1, n, d, "strict")) == pytest.approx(min(regions, 2**n), rel=1e-12)


def test_maths_at_three_and_three():
    assert round(exp(linear(3, 3, 2))) == 37
    assert round(exp(linear(3, 3, 2, "strict"))) == 18
    # Functions of one variable order the points in three ways, whatever their number.
    assert round(exp(linear(50, 70, 1))) == 3
    assert exp(linear(3, 3, 2, "paper")) == pytest.approx((np.e * 9) ** 2)


def test_thresholds_of_linear_functions():
    # Affine functions of one variable, a weight more: 4 N + 1 patterns, from N = 2 on.
    for n in (2, 3, 50):
        assert exp(log_faces(n, 2)) == pytest.approx(4 * n + 1)
    assert exp(log_faces(1, 2)) == pytest.approx(3)
    points = np.column_stack([np.ones(3), [0.3, 1.2, 2.0]])
    assert len(oracle.sign_patterns(points)) == 13


# ----------------------------------------------------------------------------------------- guards


def test_paper_formula_fails_for_few_pairs():
    # (2 e N / d)^d is not even 3^N there, which one pair reaches.
    assert (2 * np.e / 5) ** 5 < 3
    assert linear(1, 1, 5, "paper") == log_patterns_of_paper(1, 5) == pytest.approx(log(3))
    for m, n, d in product((1, 2, 3, 8), (1, 2, 5), (1, 2, 4, 6, 30)):
        exact = min(oracle.faces(m * n, d), rank_matrix_count(m, n))
        assert exp(linear(m, n, d, "paper")) >= exact * (1 - 1e-12)
        assert exp(linear(m, n, d)) == pytest.approx(exact)
