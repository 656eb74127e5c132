"""Sorting, the mass of the top and its quantile."""

import numpy as np
import pytest

from sklearn_rank._order import quantile_at_mass, tied_blocks, top_mass, top_threshold


def test_blocks_descend_and_hold_ties_in_row_order():
    blocks = tied_blocks(np.array([1.0, 3.0, -0.0, 1.0, 0.0, np.inf]))
    assert blocks.order.tolist() == [5, 1, 0, 3, 2, 4]
    assert blocks.starts.tolist() == [0, 1, 2, 4]
    assert blocks.totals(np.arange(6.0)).tolist() == [5, 1, 3, 6]


@pytest.mark.parametrize(
    ("n", "tau", "expected"),
    [(100, 0.07, 7), (105, 0.19, 20), (105, 0.14, 15), (105, 0.095, 10), (105, 0.05, 5),
     (105, 0.01, 1), (7, 0.5, 4), (3, 0.99, 3), (50, 0.29, 15), (50, 0.57, 29), (15, 1 - 0.9, 2),
     (50, 0.28, 14), (10**9, 0.07, 7 * 10**7)],
)  # fmt: skip
def test_mass_of_whole_weights(n, tau, expected):
    assert top_mass(np.array([float(n - 1), 1.0]), tau) == (expected, False)
    if n < 1000:
        assert top_mass(np.ones(n), tau) == (expected, False)


def test_a_top_of_less_than_one_item_is_small():
    assert top_mass(np.ones(4), 0.1) == (1.0, True)
    assert top_mass(np.ones(5), 0.1) == (1.0, False)
    assert top_mass(np.array([0.5, 0.25]), 0.3)[1]
    assert not top_mass(np.array([0.5, 0.25]), 0.4)[1]


def test_quantile_by_repetition():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = rng.integers(1, 8)
        scores = rng.integers(0, 5, (3, n)).astype(float)
        weight = rng.integers(1, 4, n).astype(float)
        mass, _ = top_mass(weight, rng.uniform(0.01, 0.99))
        for row, quantile in zip(scores, quantile_at_mass(scores, weight, mass), strict=True):
            repeated = np.sort(np.repeat(row, weight.astype(int)))[::-1]
            assert quantile == repeated[int(mass) - 1]


def test_quantile_of_real_weights_allows_for_rounding():
    weight = np.full(10, 0.1)
    scores = np.arange(10.0)
    mass, _ = top_mass(weight, 0.3)
    assert quantile_at_mass(scores, weight, mass) == 7.0
    # Eight times .1 add up to less than .8.
    mass, _ = top_mass(weight, 0.8)
    assert quantile_at_mass(scores, weight, mass) == 2.0
    mass, _ = top_mass(weight, 1 - 1e-15)
    assert quantile_at_mass(scores, weight, mass) == 0.0


@pytest.mark.parametrize(
    "scores",
    [
        [3.0, 2.0, 1.0],
        [1.0, np.nextafter(1.0, 0.0), 0.0],
        [1.7e308, 1.6e308, -1.7e308],
        [np.inf, 0.0, -np.inf],
        [5e-324, 0.0, -5e-324],
    ],
)
def test_threshold_parts_the_top_from_the_rest(scores):
    scores = np.array(scores)
    for j in (1, 2):
        quantile, threshold = top_threshold(scores, np.ones(3), float(j))
        assert quantile == scores[j - 1]
        assert scores[j] <= threshold < quantile
        assert np.count_nonzero(scores > threshold) == j


def test_threshold_is_midway_even_between_large_scores():
    _, threshold = top_threshold(np.array([1.7e308, 1.6e308]), np.ones(2), 1.0)
    assert threshold == pytest.approx(1.65e308, rel=1e-15)


def test_threshold_below_all_scores():
    quantile, threshold = top_threshold(np.array([2.0, 2.0]), np.ones(2), 1.0)
    assert quantile == 2.0
    assert threshold < 2.0


@pytest.mark.parametrize("largest", [-np.finfo(float).max, 0.0, np.inf])
def test_threshold_below_a_single_score_at_the_edge(largest):
    quantile, threshold = top_threshold(np.array([largest]), np.ones(1), 1.0)
    assert threshold < quantile == largest


def test_scores_within_their_rounding_are_tied():
    scores = np.array([1.0, 1.0 + 2e-16, 0.5, 1.0 - 1e-16, 2.0])
    error = np.full(5, 1e-15)
    quantile, threshold = top_threshold(scores, np.ones(5), 2.0, error)
    assert quantile == 1.0 - 1e-16
    assert threshold == pytest.approx(0.75)
    assert top_threshold(scores, np.ones(5), 2.0)[1] > 1.0 - 1e-16
    _, threshold = top_threshold(scores[:2], np.ones(2), 1.0, error[:2])
    assert threshold < 1.0 - 9e-16
