"""Average precision, where the catalogue says nothing."""

import numpy as np
import pytest
import sklearn.metrics
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.metrics import average_precision_score


def test_equals_scikit_learn_without_ties():
    rng = np.random.default_rng(0)
    for n in (2, 10, 1000, 30_000):
        y_true = rng.random(n) < 0.2
        y_true[0] = True
        y_score = rng.permutation(n)
        expected = sklearn.metrics.average_precision_score(y_true, y_score)
        assert average_precision_score(y_true, y_score) == pytest.approx(expected, rel=1e-13)


def test_tied_blocks_where_other_packages_differ():
    # The mean over orders; scikit-learn gives .46667, others between .5 and .66667.
    y_true, y_score = [1, 0, 0, 1, 0, 1], [0.9, 0.9, 0.5, 0.5, 0.5, 0.1]
    assert average_precision_score(y_true, y_score) == pytest.approx(0.590741, abs=5e-7)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 1), (3, 97), (70, 30), (400, 4600)])
def test_long_blocks_by_the_sum_over_positions(n_pos, n_neg):
    # Below a block of 10 positives and 90 negatives lies one block of the given size.
    y_true = np.r_[np.ones(10), np.zeros(90), np.ones(n_pos), np.zeros(n_neg)]
    y_score = np.r_[np.ones(100), np.zeros(n_pos + n_neg)]
    total = 0.0
    for before, hits, length, positives in ((0, 0, 100, 10), (100, 10, n_pos + n_neg, n_pos)):
        j = np.arange(1, length + 1)
        others = (j - 1) * (positives - 1) / max(length - 1, 1)
        total += np.sum(positives / length * (hits + 1 + others) / (before + j))
    expected = total / (10 + n_pos)
    assert average_precision_score(y_true, y_score) == pytest.approx(expected, rel=1e-13)


def test_repetitions_are_not_laid_out():
    # 2e12 items: the sum of the harmonic series in closed form.
    weight = [10**12, 10**12]
    value = average_precision_score([1, 0], [1.0, 0.0], sample_weight=weight)
    assert value == pytest.approx(1.0)
    tied = average_precision_score([1, 0], [0.0, 0.0], sample_weight=weight)
    assert tied == pytest.approx(0.5, abs=1e-9)


def test_weights_that_are_no_repetitions_are_refused():
    with pytest.raises(ValueError, match="not whole"):
        average_precision_score([1, 0], [1, 0], sample_weight=[0.5, 1])


def test_without_a_positive():
    with pytest.warns(UndefinedMetricWarning, match="no positive"):
        assert average_precision_score([0, 0], [1, 0]) == 0.0
