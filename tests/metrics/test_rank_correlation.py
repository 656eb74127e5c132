"""Kendall's tau-b: against scipy."""

import numpy as np
import pytest
import scipy.stats

from sklearn_rank.metrics import tau_b_score
from sklearn_rank.metrics._rank_correlation import sums_over_pairs


def data(n, levels, seed=0):
    """Relevances and scores, all different unless there are levels."""
    rng = np.random.default_rng(seed)
    if levels is None:
        return rng.permutation(n), rng.permutation(n)
    return rng.integers(0, levels, n), rng.integers(0, levels, n)


@pytest.mark.parametrize(("n", "levels"), [(2, None), (3, 2), (50, None), (50, 4), (3000, 30)])
def test_tau_b_is_scipys(n, levels):
    y_true, y_score = data(n, levels, seed=1)
    expected = scipy.stats.kendalltau(y_true, y_score).statistic
    assert tau_b_score(y_true, y_score) == pytest.approx(expected, abs=1e-14)


def test_scores_that_are_all_tied_are_worth_a_random_order():
    assert np.isnan(scipy.stats.kendalltau([1, 2, 3], [0, 0, 0]).statistic)
    assert tau_b_score([1, 2, 3], [0.0, 0.0, 0.0]) == 0
    # Sums of real weights are rounded, but whether all are tied is counted.
    assert tau_b_score([1, 2, 3], [0.0] * 3, sample_weight=[0.1, 0.7, 0.3]) == 0


def test_tau_b_of_weights_far_apart():
    y_true, y_score = [1, 2, 3, 4], [1.0, 3.0, 2.0, 4.0]
    for scale in (1e-140, 1e-3, 1e140):
        weight = scale * np.array([1.0, 2.0, 0.5, 1.0])
        found = tau_b_score(y_true, y_score, sample_weight=weight)
        assert found == pytest.approx(tau_b_score(y_true, y_score, sample_weight=[2, 4, 1, 2]))


def test_weighted_pairs_of_runs():
    rng = np.random.default_rng(5)
    for n_levels in (1, 2, 9, 200):
        offsets = np.append(0, np.cumsum(rng.integers(1, 30, 6)))
        n = offsets[-1]
        level, list_of = rng.integers(0, n_levels, n), np.repeat(np.arange(6), np.diff(offsets))
        pairs = np.tril(level[:, None] > level) & (list_of[:, None] == list_of)
        for weight in (None, rng.uniform(0.1, 2, n)):
            each = np.ones(n) if weight is None else weight
            expected = (pairs * np.outer(each, each)).sum(axis=1)
            for into in (np.arange(n), list_of, None):
                found = sums_over_pairs(level.astype(np.uint32), offsets, into, weight)
                into = np.zeros(n, int) if into is None else into
                np.testing.assert_allclose(found, np.bincount(into, expected), rtol=1e-12)
