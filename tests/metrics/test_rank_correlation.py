"""Rank correlations and positions, where the catalogue says nothing."""

import numpy as np
import pytest
import scipy.stats
from scipy.stats import rankdata
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.metrics import get_measure, rank_positions, spearman_score, tau_b_score
from sklearn_rank.metrics._rank_correlation import sums_over_pairs
from tests.naming import for_each


def data(n, levels, seed=0):
    """Relevances and scores, all different unless there are levels."""
    rng = np.random.default_rng(seed)
    if levels is None:
        return rng.permutation(n), rng.permutation(n)
    return rng.integers(0, levels, n), rng.integers(0, levels, n)


@for_each(("n", "levels"), [(2, None), (3, 2), (50, None), (50, 4), (3000, 30)])
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


def test_positions_are_middle_ranks_from_the_top():
    rng = np.random.default_rng(0)
    for n in (1, 2, 10, 500):
        score = rng.integers(0, 12, n) / 7.0
        assert rank_positions(score).tolist() == rankdata(-score).tolist()
        qid = rng.integers(0, 1 + n // 5, n)
        expected = np.empty(n)
        for query in np.unique(qid):
            expected[qid == query] = rankdata(-score[qid == query])
        for ids in (qid, qid.astype(str), qid / 3):
            assert rank_positions(score, qid=ids).tolist() == expected.tolist()


@for_each(
    ("arguments", "message"),
    [
        (([1.0, np.nan],), "NaN at row 1"),
        (([],), "empty"),
        ((["a", "b"],), "numeric"),
        (([[1, 2]],), "one-dimensional"),
        (([1, 2, 3], [2, 1]), r"np\.repeat"),
        (([1, 2], [1, None]), "missing at row 1"),
    ],
)
def test_bad_input_of_positions_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        rank_positions(*arguments)


def test_one_item_has_no_value():
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(spearman_score([1], [1]))
    # Repeated, one item is a list of one grade.
    with pytest.warns(UndefinedMetricWarning, match=r"the list \(one grade only\)"):
        assert np.isnan(spearman_score([1], [1], sample_weight=[3]))


@pytest.mark.parametrize("grade", [0, 2.5, -1e300])
def test_constant_relevance_has_no_utility(grade):
    measure = get_measure("spearman")
    lists = measure.lists([grade] * 3 + [0, 1, 3], [1, 2, 3, 2, 1, 3], qid=[0, 0, 0, 1, 1, 1])
    utility = measure.positional.utilities(lists)
    assert np.isnan(utility[:3]).all()
    assert np.isfinite(utility[3:]).all()


@pytest.mark.parametrize("factor", [1e6, 1e60, 1e100, 1e149])
def test_heavy_items_have_a_finite_value(factor):
    y_true, y_score, weight = [3, 1, 2, 0], [2.0, 2.0, 3.0, 1.0], np.array([1.0, 2.0, 3.0, 1.0])
    limit = spearman_score(y_true, y_score, sample_weight=1e5 * weight)
    found = spearman_score(y_true, y_score, sample_weight=factor * weight)
    assert found == pytest.approx(limit, rel=1e-9)


def test_long_lists_keep_their_digits():
    n = 300_000
    y_true = np.arange(n)
    y_score = y_true.copy()
    y_score[[0, 1]] = y_score[[1, 0]]
    value = spearman_score(y_true, y_score)
    assert 1 - value == pytest.approx(12 / (n * (n**2 - 1.0)), rel=0.5, abs=5e-16)
