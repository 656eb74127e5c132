"""Influence of single items on points of the ROC curve, and on how much the top holds."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_rank._order import counted_blocks
from sklearn_rank.inference import metric_interval
from sklearn_rank.inference._joint import joint_influence
from sklearn_rank.inference._methods import influence_moments
from sklearn_rank.metrics import get_measure, r_precision_score, recall_at_k_score
from sklearn_rank.metrics._influence import counts_at
from tests.catalogue import variance_of_influence
from tests.naming import for_each

POSITIVE = np.array([0.30, 0.25, 0.20, 0.15, 0.10])
NEGATIVE = np.array([0.05, 0.10, 0.20, 0.30, 0.35])
K, M = 400_000, 600_000
OF_RATES = ("tpr@fpr0.1", "tpr@fpr0.6", "fpr@tpr0.9", "fpr@tpr0.4")
OF_TOPS = ("precision@top0.3", "precision@300000", "recall@300000", "f1@300000", "r_precision")
OF_TOPS += ("recall@top0.3", "precision@recall0.9", "precision@recall0.4", "calibration@300000")
OF_TOPS += (
    "net_benefit@0.4",
    get_measure("net_benefit@0.4", standardized=True),
    get_measure("net_benefit@0.4", prevalence=0.1),
    get_measure("net_benefit@0.4", prevalence=0.1, standardized=True),
)


def influence(measure, y_true, y_score, **options):
    found = measure.influence_of(measure.lists(y_true, y_score, **options))
    return found and found.linear


def table(positive=POSITIVE, negative=NEGATIVE, k=K, m=M):
    """Shares of both classes at five scores, from the top, as rows with counts."""
    y_true, y_score = np.repeat([1, 0], 5), np.tile(0.9 - np.arange(5) / 5, 2)
    return y_true, y_score, np.r_[positive * k, negative * m].round()


def moved(name, row, step):
    """The measure where a share of a class more has the score of a row."""
    shares = [POSITIVE.copy(), NEGATIVE.copy()]
    shares[row // 5] *= 1.0 - step
    shares[row // 5][row % 5] += step
    y_true, y_score, counts = table(*shares)
    return get_measure(name)(y_true, y_score, sample_weight=counts)


@for_each("name", OF_RATES + OF_TOPS)
def test_is_the_derivative_by_the_distributions(name):
    y_true, y_score, counts = table()
    found = influence(get_measure(name), y_true, y_score, sample_weight=counts)
    assert found.estimate == pytest.approx(moved(name, 0, 0.0), rel=1e-10)
    for row in range(10):
        slope = (moved(name, row, 1e-3) - moved(name, row, -1e-3)) / 2e-3
        shift = found.values[row] - found.means[row // 5]
        assert shift == pytest.approx(slope, rel=1e-2, abs=5e-3)


@for_each("name", OF_RATES + OF_TOPS)
def test_random_labels_follow_the_target_to_another_share(name):
    values = []
    for more in (-10_000, 10_000):
        y_true, y_score, counts = table(k=K + more, m=M - more)
        values.append(get_measure(name)(y_true, y_score, sample_weight=counts))
    y_true, y_score, counts = table()
    found = influence(get_measure(name), y_true, y_score, sample_weight=counts)
    slope = (values[1] - values[0]) / (20_000 / (K + M))
    assert found.label_slope == pytest.approx(slope, abs=3e-3)


def test_accuracy_at_the_top():
    rng = np.random.default_rng(4)
    measure, found = get_measure("accuracy_loss@top0.2"), []
    for _ in range(300):
        positive = rng.random(500) < 0.3
        one = influence(measure, positive, rng.normal(size=500) + positive)
        found.append((one.estimate, joint_influence([one], conditional=False).covariance[0, 0]))
    estimates, variances = np.array(found).T
    assert variances.mean() == pytest.approx(estimates.var(), rel=0.25)
    # Most items at one score: the quantile stays there.
    y_true, y_score, counts = table()
    tied = influence(measure, y_true, y_score, sample_weight=counts)
    for row in range(10):
        shares = [POSITIVE.copy(), NEGATIVE.copy()]
        shares[row // 5] *= 0.999
        shares[row // 5][row % 5] += 0.001
        rows, scores, weight = table(*shares)
        slope = (measure(rows, scores, sample_weight=weight) - tied.estimate) / 0.001
        assert tied.values[row] - tied.means[row // 5] == pytest.approx(slope, abs=1e-3)


def test_the_rates_are_each_other_in_the_mirror():
    rng = np.random.default_rng(0)
    y_true, y_score = rng.random(90) < 0.4, rng.integers(0, 12, 90)
    one = influence(get_measure("tpr@fpr0.25"), y_true, y_score)
    other = influence(get_measure("fpr@tpr0.75"), ~y_true, -y_score)
    assert one.estimate == pytest.approx(1.0 - other.estimate)
    np.testing.assert_allclose(one.values, -other.values)
    assert (one.bias, variance_of_influence(one)) == pytest.approx(
        (-other.bias, variance_of_influence(other))
    )


@pytest.mark.parametrize(
    "name", ["tpr@fpr0.1", "fpr@tpr0.8", "precision@recall0.8", "recall@60", "r_precision"]
)
def test_variance_is_that_of_samples(name):
    rng = np.random.default_rng(1)
    positive, found = np.arange(600) < 150, []
    for _ in range(300):
        score = rng.normal(size=600) + 1.3 * positive
        found.append(influence(get_measure(name), positive, score))
    variance = np.var([one.estimate for one in found])
    # The slope of a curve is taken over a stretch, and one more item is added to it.
    assert np.mean([variance_of_influence(one) for one in found]) == pytest.approx(
        1.1 * variance, rel=0.3
    )


def test_precision_at_the_top_with_random_labels():
    # As its own interval has it: pi (1 - pi) and the threshold, a quantile of the sample.
    rng = np.random.default_rng(2)
    y_true = rng.random(3000) < 0.3
    y_score, tau = rng.normal(size=3000) + y_true, 0.1
    found = influence(get_measure("precision@top0.1"), y_true, y_score)
    blocks = counted_blocks(y_score, y_true)
    reach = int(np.ceil(2 * 0.3 * np.ceil(np.sqrt(3000))))
    counts, totals = counts_at(blocks, 2700, reach)
    eta = counts[0] / totals[0]
    pi = found.estimate
    expected = (pi * (1 - pi) + (1 - tau) * (pi - eta) ** 2) / 300
    assert joint_influence([found], conditional=False).covariance[0, 0] == pytest.approx(
        expected, rel=0.02
    )


def test_the_bias_of_few_negatives_is_taken_off_the_limits():
    y_score = np.arange(60.0)[::-1]
    y_true = np.arange(60) % 3 == 0
    measure = get_measure("tpr@fpr0.1")
    found = influence(measure, y_true, y_score)
    # Above the fifth of 40 negatives 5/41 stand on average, not 4/40.
    slope = found.ends[1][1]
    assert found.bias == pytest.approx(-slope * (5 / 41 - 0.1))
    interval, without = (
        influence_moments(measure, influence).interval(0.95)
        for influence in (found, replace(found, bias=0.0))
    )
    assert interval.low < without.low < interval.estimate < interval.high < without.high


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tpr@fpr0.05", "max_fpr=0.05 of 10 negatives is less than one.*at least 20 negatives"),
        ("fpr@tpr0.95", "min_tpr=0.95 of 10 positives is all of them.*at least 20 positives"),
        ("recall@30", "recall@30 of 20 items covers all of them"),
    ],
)
def test_what_a_list_is_too_short_for(name, message):
    y_true, y_score = np.arange(20) % 2, np.arange(20.0)
    with pytest.raises(ValueError, match=message):
        metric_interval(name, y_true, y_score)


def test_what_is_not_known():
    for measure in (
        get_measure("tpr@fpr0"),
        get_measure("fpr@tpr1"),
        get_measure("precision@recall1"),
        get_measure(recall_at_k_score, k=3, convention="trec_eval"),
        get_measure(r_precision_score, convention="ranx"),
    ):
        assert not measure.has_influence
        assert influence(measure, [1, 0, 1], [3.0, 2.0, 1.0]) is None
    measure = get_measure("recall@2")
    assert influence(measure, [1, 0, 1], [3.0, 2.0, 1.0], n_relevant=4) is None
