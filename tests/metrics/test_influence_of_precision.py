"""Influence of single items on the average precision of one list."""

import numpy as np
import pytest

from sklearn_rank import _order as _blocks
from sklearn_rank.inference import metric_interval
from sklearn_rank.inference._joint import joint_influence
from sklearn_rank.metrics import average_precision_score, get_measure
from sklearn_rank.metrics._influence import average_precision_influence
from tests.catalogue import variance_of_influence
from tests.naming import for_each
from tests.oracles import influence_of_precision as oracle

AP = get_measure("ap")


def of_rows(y_true, y_score, **options):
    return AP.influence_of(AP.lists(y_true, y_score, **options))


@for_each("levels", [1, 2, 3, 4, 1000])
def test_by_its_definition(levels):
    rng = np.random.default_rng(levels)
    for _ in range(8):
        n = 6 if levels < 4 else 9
        y_true, y_score = rng.integers(0, 2, n), rng.integers(0, levels, n)
        y_true[:2] = 0, 1
        estimate, values = oracle.influence(y_true.tolist(), y_score.tolist())
        found = of_rows(y_true, y_score)
        assert found.estimate == pytest.approx(estimate, rel=1e-12)
        assert found.estimate == pytest.approx(average_precision_score(y_true, y_score), rel=1e-14)
        np.testing.assert_allclose(found.values, values, rtol=1e-12, atol=1e-14)


def test_against_the_distributions_of_the_population():
    # Six scores and many items: shares move, as by the derivative of the functional.
    positive = np.array([0.3, 0.2, 0.0, 0.25, 0.15, 0.1])
    negative = np.array([0.0, 0.1, 0.2, 0.2, 0.3, 0.2])
    k, m = 200_000, 600_000
    y_true, y_score = np.repeat([1, 0], 6), np.tile(-np.arange(6.0), 2)
    counts = np.r_[positive * k, negative * m].round()
    kept = counts > 0
    found = of_rows(y_true[kept], y_score[kept], sample_weight=counts[kept])
    values = np.full(12, np.nan)
    values[kept] = found.values
    share, step = k / (k + m), 1e-4
    assert found.estimate == pytest.approx(
        oracle.precision_of_distributions(positive, negative, share), abs=1e-4
    )
    for row in np.flatnonzero(kept):
        moved = [positive.copy(), negative.copy()]
        of_class = moved[row // 6]
        slope = 0.0
        for sign in (1.0, -1.0):
            of_class[:] = (positive, negative)[row // 6] * (1.0 - sign * step)
            of_class[row % 6] += sign * step
            slope += sign * oracle.precision_of_distributions(*moved, share) / (2.0 * step)
        assert values[row] - found.means[row // 6] == pytest.approx(slope, abs=2e-3)
    slope = sum(
        sign * oracle.precision_of_distributions(positive, negative, share + sign * step)
        for sign in (1.0, -1.0)
    )
    assert found.label_slope == pytest.approx(slope / (2.0 * step), rel=1e-3)


def test_ends_and_range():
    y_true, y_score = [1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    found = of_rows(y_true, y_score)
    # Of the population: a list of the worst order has more, since a positive counts itself.
    worst = oracle.precision_of_distributions([0.0, 1.0], [1.0, 0.0], 0.4)
    np.testing.assert_allclose(found.range, (worst, 1.0), rtol=1e-3)
    assert found.range[0] < average_precision_score([0, 0, 0, 1, 1], y_score)
    # Above both positives; a positive at the bottom has the share of the positives.
    gained, lost = 1 / 9, 1.5 * (1 + 2 / 9)
    np.testing.assert_allclose(found.ends, [(0.4, 1 + gained), (0.0, -lost)], rtol=1e-12)


@pytest.mark.parametrize(("k", "m", "tied"), [(5, 20, True), (10, 10, False)])
def test_bias_against_the_population(k, m, tied):
    positive = np.array([0.15, 0.3, 0.1, 0.25, 0.15, 0.05])
    negative = np.array([0.02, 0.08, 0.2, 0.2, 0.3, 0.2])
    target = oracle.precision_of_distributions(positive, negative, k / (k + m))
    rng, y_true = np.random.default_rng(k), np.arange(k + m) < k
    found = []
    for _ in range(800):
        levels = [rng.choice(6, size, p=p) for size, p in ((k, positive), (m, negative))]
        score = -np.concatenate(levels) + (0.0 if tied else rng.random(k + m))
        found.append(of_rows(y_true, score))
    bias = np.mean([one.estimate for one in found]) - target
    assert bias > 0.02
    assert np.mean([one.bias for one in found]) == pytest.approx(bias, abs=0.3 * bias)


def test_bias_of_lists_that_are_all_tied_or_perfect():
    y_true = np.arange(60) < 9
    tied = of_rows(y_true, np.zeros(60))
    assert tied.estimate - tied.bias == pytest.approx(9 / 60, rel=1e-12)
    assert tied.estimate > 1.2 * 9 / 60
    for perfect in (-np.arange(60.0), y_true):
        assert of_rows(y_true, perfect).bias == pytest.approx(0.0, abs=1e-12)
    # One positive, in the middle on average.
    assert of_rows([0, 0, 1], [3.0, 2.0, 1.0]).bias == pytest.approx(1 / 3 - 1 / 5)


def test_limits_of_random_orders_are_about_the_share_of_positives():
    rng, y_true = np.random.default_rng(8), np.arange(100) < 10
    found = [metric_interval("ap", y_true, rng.normal(size=100)) for _ in range(300)]
    assert np.mean([one.estimate for one in found]) > 0.13
    assert np.mean([one.low <= 0.1 <= one.high for one in found]) > 0.96
    assert np.mean([one.low for one in found]) < 0.06


def test_blocks_longer_than_what_is_laid_out_at_once(monkeypatch):
    rng = np.random.default_rng(3)
    positive, score = rng.random(300) < 0.3, rng.integers(0, 6, 300).astype(float)
    expected = average_precision_influence(positive, score).values
    for places in (1, 7, 64):
        monkeypatch.setattr(_blocks, "CHUNK", places)
        found = average_precision_influence(positive, score).values
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_random_labels_vary_more():
    rng = np.random.default_rng(6)
    found, fixed = [], []
    for _ in range(400):
        positive = rng.random(600) < 0.2
        one = average_precision_influence(positive, rng.normal(size=600) + 1.2 * positive)
        found.append((one.estimate, joint_influence([one], conditional=False).covariance[0, 0]))
        fixed.append(variance_of_influence(one))
    estimates, variances = np.array(found).T
    assert variances.mean() == pytest.approx(np.var(estimates), rel=0.15)
    assert np.mean(fixed) < 0.85 * np.var(estimates)


def test_an_interval_at_the_ends_and_with_few_positives():
    for y_true in ([1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 1, 1, 1, 1]):
        y_score = [5.0, 4.0, 3.0, 2.0, 1.0]
        found = metric_interval("ap", y_true, y_score)
        assert found.estimate == average_precision_score(y_true, y_score)
        assert 0.0 <= found.low <= found.estimate <= found.high <= 1.0
        assert found.width > 0.2
    perfect = metric_interval("ap", np.arange(400) < 100, -np.arange(400.0))
    assert perfect.high == 1.0
    assert 0.6 < perfect.low < 0.97


@pytest.mark.parametrize(
    "measure",
    [
        get_measure("ap@5"),
        get_measure(average_precision_score, convention="sklearn"),
    ],
)
def test_what_is_not_known(measure):
    assert not measure.has_influence
    assert measure.influence_of(measure.lists([1, 0, 1], [3.0, 2.0, 1.0])) is None
    with pytest.raises(ValueError, match=r"of one list (is|follows)"):
        metric_interval(measure, [1, 0, 1], [3.0, 2.0, 1.0])


def test_relevant_items_that_are_not_among_the_rows():
    assert AP.influence_of(AP.lists([1, 0, 1], [3.0, 2.0, 1.0], n_relevant=4)) is None
