"""Comparisons of one list by limits alone: sums over places, successes."""

from math import hypot

import numpy as np
import pytest

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.inference._limits import safe_limits
from sklearn_rank.metrics import get_measure, positional_score

MEASURES = ["dcg@10", "success@3", get_measure("rbp@0.8", max_grade=1)]


def first_places(k):
    """Number of relevant items among the first k, as a sum over places."""
    return get_measure(
        positional_score, gain="linear", discount=lambda place, _: np.where(place <= k, 1.0, 0.0)
    )


def rows(seed=0, n=200):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return y, y + rng.normal(size=n), rng.normal(size=n)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_test_rejects_where_the_limits_exclude_the_hypothesis(measure, alternative):
    y, a, b = rows()
    whole = compare(measure, y, {"a": a, "b": b}, alternative=alternative)
    assert whole.estimate == pytest.approx(get_measure(measure)(y, a) - get_measure(measure)(y, b))
    assert whole.low[0] <= whole.estimate <= whole.high[0]
    p = whole.pvalue
    for level, rejects in ((1.0 - 1.000001 * p, True), (1.0 - 0.999999 * p, False)):
        if 0.5 < level < 1.0 and 1e-11 < p < 0.99:
            found = compare(measure, y, {"a": a, "b": b}, alternative=alternative, level=level)
            below, above = found.low[0] > 0.0, found.high[0] < 0.0
            excludes = {"two-sided": below or above, "greater": below, "less": above}[alternative]
            assert excludes == rejects == (found.pvalue <= 1.0 - level)


def test_margins_are_of_the_side_that_is_worse():
    y, a, b = rows()
    ahead = get_measure("dcg@10")(y, a) > get_measure("dcg@10")(y, b)
    better, worse = (a, b) if ahead else (b, a)
    assert compare("dcg@10", y, {"a": better, "b": worse}, margin=0.2).pvalue < 0.5
    assert compare("dcg@10", y, {"a": worse, "b": better}, margin=0.2).pvalue > 0.5


def test_sums_over_places_have_the_limits_of_gains_and_of_losses():
    n, k = 40, 10
    a = -np.arange(float(n))
    b = np.empty(n)  # the first four items leave the top
    b[4:] = -np.arange(n - 4.0)
    b[:4] = -np.arange(n - 4.0, n)
    y = np.zeros(n, dtype=int)
    y[[0, 1, 2, 11, 20]] = 1
    found = compare(first_places(k), y, {"a": a, "b": b})
    # Items 0 to 3 are in the top of a only, 10 to 13 in that of b only, four draws each.
    gains, losses = safe_limits(3 / 4, 4.0, 0.95), safe_limits(1 / 4, 4.0, 0.95)
    assert found.estimate == pytest.approx(2.0)
    low = 4 * hypot(3 / 4 - gains[0], losses[1] - 1 / 4)
    high = 4 * hypot(gains[1] - 3 / 4, 1 / 4 - losses[0])
    assert (found.low[0], found.high[0]) == pytest.approx((2.0 - low, 2.0 + high))
    assert found.method == "square-and-add"


def test_the_same_order_differs_by_nothing():
    y, a, _ = rows()
    found = compare(first_places(10), y, {"a": a, "b": 2.0 * a})
    assert (found.estimate, found.low[0], found.high[0], found.pvalue) == (0.0, 0.0, 0.0, 1.0)


def test_limits_of_all_rankers_hold_together():
    y, a, b = rows()
    found = compare("success@3", y, {"a": a, "b": b})
    single = [metric_interval("success@3", y, score, level=0.975) for score in (a, b)]
    assert found.low[0] == pytest.approx(single[0].low - single[1].high)
    assert found.high[0] == pytest.approx(single[0].high - single[1].low)


@pytest.mark.slow
def test_true_hypotheses_are_rarely_rejected():
    rng = np.random.default_rng(0)
    n, k, rejected = 60, 10, 0
    chance = np.linspace(0.9, 0.1, n)
    a, b = -np.arange(float(n)), -np.arange(float(n))
    # Two items of either half of the top change places with others of the same chance.
    chance[[30, 31, 32]], b[[1, 4, 7, 30, 31, 32]] = chance[[1, 4, 7]], b[[30, 31, 32, 1, 4, 7]]
    for _ in range(400):
        y = (rng.random(n) < chance).astype(int)
        rejected += compare(first_places(k), y, {"a": a, "b": b}).pvalue <= 0.05
    assert rejected <= 32  # of 400: 20 expected at the level


@pytest.mark.parametrize("measure", [*MEASURES[:2], first_places(10)], ids=str)
def test_weights_are_repetitions(measure):
    y, a, b = rows()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    many = np.repeat(np.arange(len(y)), weight)
    weighted = compare(measure, y, {"a": a, "b": b}, sample_weight=weight, weights="frequency")
    repeated = compare(measure, y[many], {"a": a[many], "b": b[many]})
    for name in ("estimate", "low", "high", "pvalue"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name))


@pytest.mark.parametrize("measure", MEASURES[:2])
def test_collections_are_refused(measure):
    array = pytest.importorskip("dask.array")
    y, a, b = (array.from_array(column, chunks=50) for column in rows())
    with pytest.raises(TypeError, match=r"compared row by row: pass y_true.compute\(\)"):
        compare(measure, y, {"a": a, "b": b})


def test_joined_limits_of_one_side_have_all_of_the_error():
    # The error of a success need not be the same on both sides.
    y, a, b = rows()
    low = compare("success@3", y, {"a": a, "b": b}, alternative="greater", level=0.95).low[0]
    single = [metric_interval("success@3", y, score, level=0.975) for score in (a, b)]
    assert low == pytest.approx(single[0].low - single[1].high)
