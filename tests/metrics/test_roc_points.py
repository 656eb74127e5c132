"""Points of the ROC curve, the statistic of Kolmogorov and Smirnov, and the Gini coefficient."""

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics

from sklearn_rank.metrics import (
    fpr_at_tpr_loss,
    get_measure,
    kolmogorov_smirnov_score,
    partial_auc_score,
    tpr_at_fpr_score,
)
from tests.naming import for_each


def data(n, levels=None, seed=0):
    rng = np.random.default_rng(seed)
    y_true = (rng.random(n) < 0.3).astype(int)
    y_true[:2] = [0, 1]
    y_score = rng.permutation(n) if levels is None else rng.integers(0, levels, n)
    # The positives are higher by no whole number, so that they tie with no negative.
    return y_true, y_score + (0.3 * n + 0.25) * y_true if levels is None else y_score


@for_each("rate", [0.01, 0.1, 0.25, 1 / 3, 0.5, 0.99])
def test_rates_without_ties_are_those_of_scikit_learns_curve(rate):
    for n in (2, 10, 500):
        y_true, y_score = data(n)
        fpr, tpr, _ = sklearn.metrics.roc_curve(y_true, y_score, drop_intermediate=False)
        # Counts over counts, and a rate that is the quotient of two, are rounded.
        within = fpr <= rate * (1 + 1e-12)
        assert tpr_at_fpr_score(y_true, y_score, max_fpr=rate) == pytest.approx(tpr[within].max())
        reached = tpr >= rate * (1 - 1e-12)
        assert fpr_at_tpr_loss(y_true, y_score, min_tpr=rate) == pytest.approx(fpr[reached].min())


@pytest.mark.parametrize("levels", [3, 30])
def test_real_weights_are_on_the_lines_of_the_curve(levels):
    y_true, y_score = data(300, levels, seed=1)
    weight = np.random.default_rng(2).uniform(0.2, 2, 300)
    fpr, tpr, _ = sklearn.metrics.roc_curve(
        y_true, y_score, sample_weight=weight, drop_intermediate=False
    )
    for rate in (0.05, 0.3, 0.77):
        found = tpr_at_fpr_score(y_true, y_score, max_fpr=rate, sample_weight=weight)
        assert found == pytest.approx(np.interp(rate, fpr, tpr), rel=1e-9)
        found = fpr_at_tpr_loss(y_true, y_score, min_tpr=rate, sample_weight=weight)
        assert found == pytest.approx(np.interp(rate, tpr, fpr), rel=1e-9)


@pytest.mark.parametrize("levels", [None, 4])
def test_the_partial_area_is_the_sum_of_the_heights(levels):
    y_true, y_score = data(80, levels, seed=3)
    m = int((y_true == 0).sum())
    heights = [tpr_at_fpr_score(y_true, y_score, max_fpr=j / m) for j in range(m)]
    for j in (1, m // 3, m):
        area = partial_auc_score(y_true, y_score, max_fpr=j / m)
        assert area == pytest.approx(sum(heights[:j]) / m, rel=1e-12)


def test_a_rate_of_nothing_with_real_weights():
    # Sums of these weights leave a remainder where there is nothing above.
    weight = [0.1, 0.2, 0.3, 0.7, 0.1]
    y_true = [1, 0, 1, 0, 0]
    for y_score in ([5, 4, 3, 2, 1], [9, 4, 3, 2, 4]):
        assert tpr_at_fpr_score(y_true, y_score, max_fpr=0, sample_weight=weight) == (
            pytest.approx(0.25)
        )
        assert fpr_at_tpr_loss(y_true, y_score, min_tpr=0.25, sample_weight=weight) == 0


# ------------------------------------------------------------------ largest difference, and Gini


@pytest.mark.parametrize(("n", "levels"), [(2, None), (30, 3), (500, None), (500, 20)])
def test_largest_difference_is_scipys(n, levels):
    y_true, y_score = data(n, levels, seed=5)
    for sign in (1, -1):
        parts = sign * y_score[y_true == 1], sign * y_score[y_true == 0]
        two_sided = scipy.stats.ks_2samp(*parts).statistic
        # The distribution of the positives lies below that of the negatives.
        one_sided = scipy.stats.ks_2samp(*parts, alternative="less").statistic
        found = kolmogorov_smirnov_score(y_true, sign * y_score)
        assert found == pytest.approx(one_sided, abs=1e-13)
        found = kolmogorov_smirnov_score(y_true, sign * y_score, two_sided=True)
        assert found == pytest.approx(two_sided, abs=1e-13)


def test_gini_is_twice_the_area_less_one_and_so_is_its_influence():
    y_true, y_score = data(150, 12, seed=7)
    area, gini = get_measure("auc"), get_measure("gini")
    assert gini(y_true, y_score) == pytest.approx(2 * area(y_true, y_score) - 1)
    assert gini(y_true, y_score) == pytest.approx(scipy.stats.somersd(y_true, y_score).statistic)
    lists = gini.lists(y_true, y_score)
    twice, once = gini.influence_of(lists), area.influence_of(lists)
    assert twice.estimate == pytest.approx(2 * once.estimate - 1)
    assert twice.centred() == pytest.approx(2 * once.centred())
    assert twice.range == (-1.0, 1.0)
