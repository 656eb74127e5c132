"""Limits of differences: standard errors by definition, level where the margin is true."""

import numpy as np
import pytest

from sklearn_rank.inference import compare
from sklearn_rank.inference._evidence import check_groups, check_lists, influences_of
from sklearn_rank.inference._joint import joint_influence, joint_samples, mean_influences
from sklearn_rank.inference._simultaneous import joint_on_list
from sklearn_rank.metrics import get_measure
from tests.oracles import differences as oracle

CONTRAST = np.array([1.0, -1.0])


def rankers(rng, n_pos, n_neg, n_rankers=2, tails=2.0):
    y = np.arange(n_pos + n_neg) < n_pos
    common = 1.5 * y + rng.standard_t(tails, len(y))
    scales = np.linspace(1.0, 0.3, n_rankers)[:, np.newaxis]
    return y, common + scales * rng.standard_t(tails, (n_rankers, len(y)))


def by_definition(influences, contrast):
    kinds = [
        (
            [influence.values[rows].tolist() for influence in influences],
            [np.ptp(influence.class_ends()[side]) for influence in influences],
        )
        for side, rows in enumerate(influences[0].classes)
    ]
    return oracle.standard_error(kinds, list(contrast))


@pytest.mark.parametrize("measure", ["auc", "bedroc@20", "precision@top0.1", "ap"])
def test_the_standard_error_by_its_definition(measure):
    rng = np.random.default_rng(0)
    for sizes in ((6, 30), (40, 25), (1, 9)):
        y, scores = rankers(rng, *sizes, n_rankers=3)
        influences, _ = influences_of(check_lists(get_measure(measure), y, list(scores)))
        for contrast in ([1.0, -1.0, 0.0], [0.5, 0.5, -1.0]):
            (error,), (degrees,) = joint_influence(influences).standard_errors(
                np.array([contrast])
            )
            expected, most = by_definition(influences, contrast)
            assert error == pytest.approx(expected)
            assert 1.0 <= degrees <= max(most, 1.0) * (1.0 + 1e-9)


@pytest.mark.parametrize("noise", [0.5, 0.1, 0.02])
def test_pairs_count_once(noise):
    rng = np.random.default_rng(1)
    y, (first, _) = rankers(rng, 9, 25)
    scores = [first, first + noise * rng.normal(size=34), first + noise * rng.normal(size=34)]
    joint, _, _ = joint_on_list(check_lists(get_measure("auc"), y, scores))
    tables = [np.greater.outer(x[y], x[~y]).astype(float) for x in scores]
    for contrast in ([1.0, -1.0, 0.0], [0.5, 0.5, -1.0]):
        expected = oracle.pairs_of_contrast([table.tolist() for table in tables], contrast)
        assert joint.pairs[0].variance(np.array(contrast)) == pytest.approx(expected)
    # All of it, of rankers that agree: the estimate of the variance without bias.
    table = tables[0] - tables[1]
    of_two = oracle.pairs_beyond(table.tolist())
    pairs_of_pairs = table.sum() ** 2 + (table**2).sum()
    pairs_of_pairs -= (table.sum(axis=0) ** 2).sum() + (table.sum(axis=1) ** 2).sum()
    unbiased = table.mean() ** 2 - pairs_of_pairs / (9 * 8 * 25 * 24)
    sums = [CONTRAST @ part[:2, :2] @ CONTRAST for part in joint.spread.covariances]
    assert sum(sums) - of_two == pytest.approx(unbiased)


@pytest.mark.parametrize("n", [3_000, 20_000])
def test_pairs_of_long_lists_are_not_worth_their_count(n):
    rng, y = np.random.default_rng(2), np.arange(n) < n / 10
    scores = rng.normal(size=n) + 1.5 * y + 0.03 * rng.normal(size=(2, n))
    joint, _, _ = joint_on_list(check_lists(get_measure("ap"), y, list(scores)))
    sums = [CONTRAST @ part @ CONTRAST for part in joint.spread.covariances]
    share = joint.pairs[0].variance(CONTRAST) / sum(sums)
    assert share > 0.05 if n == 3_000 else share == 0.0


def test_units_without_an_order_may_differ_in_any_way():
    values = np.array([np.linspace(0.9, 1.0, 15), np.r_[0.2, np.linspace(0.88, 1.0, 14)]])
    joint = joint_influence(mean_influences(values, (0.0, 1.0)))
    (error,), _ = joint.standard_errors(CONTRAST[np.newaxis])
    expected, _ = oracle.standard_error([(values.tolist(), [1.0, 1.0])], [1.0, -1.0], ranked=False)
    assert error == pytest.approx(expected)
    assert error > 1.05 * np.std(values[0] - values[1], ddof=1) / 15**0.5


def test_limits_of_twins_are_as_long_as_their_differences_are_spread():
    # A unit from one end of the list to the other would make them 3.5 times as long.
    rng, y, found = np.random.default_rng(4), np.arange(200) < 20, []
    for _ in range(100):
        scores = rng.normal(size=200) + 1.5 * y + 0.03 * rng.normal(size=(2, 200))
        interval = compare("ap", y, dict(zip("ab", scores, strict=True))).interval
        found.append((interval.estimate, interval.high - interval.estimate))
    differences, half = np.array(found).T
    assert np.mean(half) < 1.5 * np.quantile(np.abs(differences), 0.95)


def test_normal_units_have_students_interval():
    # Of a kurtosis below 3.
    values = np.array([np.linspace(0.2, 0.8, 20), np.linspace(0.7, 0.1, 20) ** 2])
    joint = joint_influence(mean_influences(values, (0.0, 1.0)))
    (error,), (degrees,) = joint.standard_errors(CONTRAST[np.newaxis])
    assert error == pytest.approx(np.std(values[0] - values[1], ddof=1) / 20**0.5)
    assert degrees == pytest.approx(19.0)


def test_rows_that_occur_more_than_once_and_rows_in_other_samples():
    rng = np.random.default_rng(2)
    y, scores = rankers(rng, 12, 20)
    weight = rng.integers(1, 4, 32)
    for measure in ("bedroc@20", "ap"):
        counted = compare(
            measure,
            y,
            dict(zip("ab", scores, strict=True)),
            sample_weight=weight,
            weights="frequency",
            margin=0.1,
        )
        repeated = compare(
            measure,
            y.repeat(weight),
            dict(zip("ab", scores.repeat(weight, axis=1), strict=True)),
            margin=0.1,
        )
        for name in ("low", "high", "pvalues"):
            assert getattr(counted, name) == pytest.approx(getattr(repeated, name))
        of_each, _ = influences_of(check_lists(get_measure(measure), y, list(scores)))
        apart = joint_samples([(influence, None) for influence in of_each])
        (error,), _ = apart.standard_errors(CONTRAST[np.newaxis])
        alone = [by_definition([one], [1.0])[0] for one in of_each]
        assert error == pytest.approx(np.hypot(*alone))


def test_groups_move_together_as_far_as_they_did():
    rng = np.random.default_rng(3)
    y, scores = rankers(rng, 20, 60)
    measure = get_measure("bedroc@20")
    influences, _ = influences_of(check_lists(measure, y, list(scores)))
    (alone,), _ = joint_influence(influences).standard_errors(CONTRAST[np.newaxis])
    singletons = joint_influence(influences, groups=check_groups(np.arange(80), 80))
    assert singletons.standard_errors(CONTRAST[np.newaxis])[0] == pytest.approx(alone)
    # Five copies of each row are worth one: variances are those of the rows, ends are five times
    # as likely to be seen.
    copied, _ = influences_of(check_lists(measure, y.repeat(5), list(scores.repeat(5, axis=1))))
    groups = check_groups(np.arange(80).repeat(5), 400)
    (together,), _ = joint_influence(copied, groups=groups).standard_errors(CONTRAST[np.newaxis])
    (apart,), _ = joint_influence(copied).standard_errors(CONTRAST[np.newaxis])
    assert together == pytest.approx(alone, rel=0.1)
    assert apart < 0.6 * together


def test_the_limits_hold_a_difference_beyond_the_range_without_ties():
    y = np.repeat([1, 0], [10, 30])
    found = compare("accuracy_loss@top0.1", y, {"a": -np.arange(40.0), "b": np.zeros(40)})
    assert found.low[0] < found.differences[0] <= found.high[0]


@pytest.mark.slow
def test_non_inferiority_keeps_its_level_where_few_items_tell_the_rankers_apart():
    # Student's interval rejects in 17 % of such samples: the aim is 5 %.
    rng, rejected = np.random.default_rng(5), 0
    large = rankers(rng, 300_000, 300_000, tails=30.0)
    measure = get_measure("precision@top0.1")
    margin = float(measure(large[0], large[1][1]) - measure(large[0], large[1][0]))
    students = 0
    for _ in range(400):
        y, scores = rankers(rng, 60, 60, tails=30.0)
        rejected += (
            compare(measure, y, dict(zip("ab", scores, strict=True)), margin=margin).pvalue <= 0.05
        )
        influences, _ = influences_of(check_lists(measure, y, list(scores)))
        joint = joint_influence(influences)
        error = np.sqrt(CONTRAST @ joint.covariance @ CONTRAST)
        students += CONTRAST @ joint.estimates - 1.66 * error > -margin
    assert rejected <= 36  # .09: 3 standard deviations beyond 5 %
    assert students > 1.5 * rejected
