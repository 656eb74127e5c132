"""Intervals for the height of the negatives, and for the largest difference of the rates."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstwo, norm

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.inference._joint import joint_influence
from sklearn_rank.metrics import get_measure, kolmogorov_smirnov_score
from sklearn_rank.metrics._roc import GAIN
from tests.oracles import roc_points as oracle


def drawn(rng, n_pos=40, n_neg=120, shift=1.0, step=None):
    y = np.arange(n_pos + n_neg) < n_pos
    score = rng.normal(size=len(y)) + shift * y
    return y, score if step is None else np.round(score / step) * step


def jackknife_error(measure, y, score):
    """Standard error by leaving out one item at a time, class by class."""
    variance = 0.0
    for rows in (np.flatnonzero(y), np.flatnonzero(~y)):
        left = [measure(np.delete(y, i), np.delete(score, i)) for i in rows]
        variance += (len(rows) - 1) * np.var(left)
    return np.sqrt(variance)


@pytest.mark.parametrize("step", [None, 0.5])
@pytest.mark.parametrize("p", [1, 2, 4])
def test_the_error_of_the_height_is_that_of_the_jackknife(p, step):
    measure = get_measure(f"negative_height_loss@{p}")
    y, score = drawn(np.random.default_rng(p), step=step)
    found = metric_interval(measure, y, score)
    assert found.estimate == pytest.approx(measure(y, score), rel=1e-14)
    assert found.low < found.estimate < found.high
    np.testing.assert_allclose(found.standard_error, jackknife_error(measure, y, score), rtol=0.05)


def test_the_height_covers_and_never_claims_certainty():
    rng = np.random.default_rng(0)
    grid = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    target = np.mean(norm.cdf(grid - 1.0) ** 4) ** 0.25
    found = [metric_interval("negative_height_loss@4", *drawn(rng, 15, 60)) for _ in range(150)]
    assert np.mean([target in one for one in found]) >= 0.92
    perfect = metric_interval("negative_height_loss@4", [0, 0, 0, 1, 1], [1, 2, 3, 4, 5])
    assert perfect.estimate == perfect.low == 0.0 < perfect.high
    assert perfect.standard_error is None


def test_the_norm_of_the_highest_negative_alone_is_refused():
    y, score = drawn(np.random.default_rng(2))
    with pytest.raises(ValueError, match="no influence function"):
        metric_interval("negative_height_loss@inf", y, score)


def test_the_largest_difference_strays_no_farther_than_both_distributions():
    y, score = drawn(np.random.default_rng(3))
    found = metric_interval("ks", y, score, level=0.9, method="dkw")
    half = found.high - found.estimate
    # Kolmogorov's quantiles are two-sided: each class with half of the error is an upper bound.
    each = 1 - np.sqrt(0.9)
    assert half <= kstwo.isf(each, 40) + kstwo.isf(each, 120) + 1e-3
    assert half >= kstwo.isf(0.1, 40)
    assert found.estimate - found.low == pytest.approx(half)


@pytest.mark.parametrize("step", [None, 1.0])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_largest_difference_covers(shift, step):
    rng = np.random.default_rng(4)
    edges = np.linspace(-8, 8, 4001) if step is None else np.arange(-8, 9) - 0.5
    target = np.max(norm.sf(edges - shift) - norm.sf(edges))
    found = [metric_interval("ks", *drawn(rng, 10, 60, shift, step), level=0.8) for _ in range(60)]
    assert np.mean([target in one for one in found]) >= 0.8


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize(("shift", "step"), [(1.0, None), (0.2, 0.5), (-1.0, 1.0)])
def test_the_error_of_the_largest_difference_has_what_other_thresholds_may_gain(
    shift, step, two_sided
):
    y, score = drawn(np.random.default_rng(6), 12, 30, shift, step)
    measure = get_measure(kolmogorov_smirnov_score, two_sided=two_sided)
    counted, gained = oracle.largest_difference(y.tolist(), score.tolist(), GAIN, two_sided)
    variances = [
        np.var(np.array(counted)[y == label], ddof=1) / np.sum(y == label) for label in (0, 1)
    ]
    found = metric_interval(measure, y, score)
    assert found.standard_error == pytest.approx(np.sqrt(sum(variances) + gained**2))
    influence = measure.influence_of(measure.lists(y, score))
    assert influence.excess == pytest.approx(gained)
    assert found.estimate == influence.estimate == pytest.approx(measure(y, score))
    assert found == metric_interval(measure, y, np.exp(score))
    weight = np.arange(len(y)) % 3 + 1
    many = np.repeat(np.arange(len(y)), weight)
    weighted = metric_interval(measure, y, score, sample_weight=weight, weights="frequency")
    repeated = metric_interval(measure, y[many], score[many])
    assert (weighted.low, weighted.high) == pytest.approx((repeated.low, repeated.high))


def differences_of(shift, rival, n=400, times=60):
    rng, found = np.random.default_rng(7), []
    for _ in range(times):
        y = rng.random(n) < 0.3
        score = rng.normal(size=n) + shift * y
        found.append(compare("ks", y, {"a": score, "b": rival(y, score, rng)}))
    return np.array([(x.estimate, x.low[0], x.high[0]) for x in found]).T


def test_a_difference_of_two_largest_differences_is_found():
    estimate, low, high = differences_of(
        1.5, lambda y, s, rng: 0.844 * y + 0.6 * (s - 1.5 * y) + 0.8 * rng.normal(size=len(y))
    )
    assert np.mean(low > 0.0) >= 0.8
    assert np.mean((low <= 0.22) & (high >= 0.22)) >= 0.95
    assert np.mean(high - low) < 7.5 * estimate.std()


@pytest.mark.parametrize(
    ("shift", "rival", "difference"),
    [
        # Of few thresholds the largest is hardly too large, of many it is, and most at random.
        (1.0, lambda y, s, rng: np.round(s), 0.0),
        (2.0, lambda y, s, rng: rng.normal(size=len(y)), 2 * norm.cdf(1.0) - 1),
    ],
)
def test_differences_cover_if_one_is_too_large(shift, rival, difference):
    _, low, high = differences_of(shift, rival)
    assert np.mean((low <= difference) & (high >= difference)) >= 0.92


def test_the_largest_difference_of_groups_and_of_drawn_rows():
    y, score = drawn(np.random.default_rng(8))
    groups = np.arange(len(y)) // 2
    scores = {"a": score, "b": np.round(score)}
    table = compare(["ks", "auc"], y, scores, groups=groups, random_state=0)
    alone = compare("ks", y, scores, groups=groups)
    assert table["ks"].interval.low == pytest.approx(alone.low[0])
    twice = metric_interval("ks", np.r_[y, y], np.r_[score, score], groups=np.r_[groups, groups])
    once = metric_interval("ks", y, score, groups=groups)
    assert twice.standard_error == pytest.approx(once.standard_error, rel=0.15)
    weight = np.where(y, 1.0, 2.0)
    found = metric_interval("ks", y, score, sample_weight=weight, weights="sampling")
    assert found.standard_error == pytest.approx(
        metric_interval("ks", y, score).standard_error, rel=0.2
    )


def test_errors_of_the_best_thresholds_are_as_correlated_as_the_rankers():
    rng, measure = np.random.default_rng(8), get_measure("ks")
    y = rng.random(300) < 0.4
    score = rng.normal(size=(2, 300)) + y
    a, b = (measure.influence_of(measure.lists(y, s)) for s in score)
    alone = joint_influence([replace(x, excess=0.0) for x in (a, b)]).covariance
    excess = joint_influence([a, b]).covariance - alone
    r = alone[0, 1] / np.sqrt(alone[0, 0] * alone[1, 1])
    expected = [[a.excess**2, r * a.excess * b.excess], [r * a.excess * b.excess, b.excess**2]]
    np.testing.assert_allclose(excess, expected, rtol=1e-9)
