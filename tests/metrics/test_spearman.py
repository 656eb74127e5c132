"""Rank correlation and positions, where the catalogue says nothing."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.metrics import get_measure, rank_positions, spearman_score


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


def test_positions_by_hand():
    positions = rank_positions([np.inf, 0.0, -0.0, -np.inf, 3])
    assert positions.dtype == np.float64
    assert positions.tolist() == [1, 3.5, 3.5, 5, 2]
    assert rank_positions([1, 2, 3], ["b", "a", "b"]).tolist() == [2, 1, 1]


@pytest.mark.parametrize(
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
