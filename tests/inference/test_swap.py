"""The test by swaps: all exchanges of a few items, its level, its groups, its edges."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata

from sklearn_rank.inference import compare
from sklearn_rank.metrics import Exponential
from tests.oracles import rank_inference as oracle


def swap_test(y_true, a, b, measure="auc", **options):
    return compare(measure, y_true, {"a": a, "b": b}, method="swap", **options)


def lists(rng, n=9, levels=100):
    y_true = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    return y_true, rng.integers(0, levels, n) + y_true, rng.integers(0, levels, n)


def statistic(y_true, ranks_a, ranks_b):
    """Difference over the root of the sum of squared influences, from placements."""
    found = [oracle.structural_components(y_true, ranks) for ranks in (ranks_a, ranks_b)]
    total, difference = 0.0, np.mean(found[0][0]) - np.mean(found[1][0])
    for first, second in zip(*found, strict=True):
        apart = np.array(first) - second
        total += np.sum((apart - apart.mean()) ** 2) / len(apart) ** 2
    if abs(difference) < 1e-12:
        return 0.0
    return difference / np.sqrt(total) if total > 1e-18 else np.copysign(np.inf, difference)


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_it_draws_from_all_exchanges(alternative):
    rng = np.random.default_rng(0)
    sign = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}[alternative]
    for levels in (4,):
        y_true, a, b = lists(rng, levels=levels)
        ranks = np.array([rankdata(a), rankdata(b)])
        observed, drawn = statistic(y_true, *ranks), []
        for swapped in product((False, True), repeat=len(y_true)):
            drawn.append(statistic(y_true, *np.where(swapped, ranks[::-1], ranks)))
        exact = np.mean(sign(np.array(drawn)) >= sign(np.array(observed)) - 1e-9)
        found = swap_test(y_true, a, b, alternative=alternative, random_state=1)
        # The influence of Wilcoxon's statistic between worst and best is that of the AUC.
        assert found.pvalue == pytest.approx(exact, abs=0.06)
        assert found.statistic == pytest.approx(observed, rel=1e-9)
        assert found.estimate == pytest.approx(compare("auc", y_true, {"a": a, "b": b}).estimate)


def test_groups_change_places_together():
    rng = np.random.default_rng(2)
    y_true, a, b = lists(rng, 8)
    group = np.array(["x", "y"])[np.arange(8) % 2]
    found = swap_test(y_true, a, b, groups=group, random_state=0)
    # Two groups: four exchanges, in pairs of the same size.
    assert found.pvalue == pytest.approx(0.5, abs=0.06) or found.pvalue == 1.0
    alone = swap_test(y_true, a, b, groups=np.arange(8), random_state=0)
    rows = swap_test(y_true, a, b, random_state=0)
    assert (alone.pvalue, alone.statistic) == (rows.pvalue, rows.statistic)


@pytest.mark.parametrize("measure", ["auc", Exponential(20.0)])
def test_clear_differences_are_found(measure):
    rng = np.random.default_rng(3)
    y_true = np.arange(60) < 30
    good, bad = rng.normal(size=60) + 3 * y_true, rng.normal(size=60)
    found = swap_test(y_true, good, bad, measure=measure, random_state=0)
    assert found.pvalue <= 0.05
    assert found.method == "swaps"
    assert np.isnan([found.low[0], found.high[0]]).all()
    with pytest.raises(AttributeError, match="method='swaps' gives no interval"):
        _ = found.interval
    perfect = np.arange(60)[::-1]
    worst = swap_test(y_true, perfect, -perfect, random_state=0)
    assert np.isfinite(worst.pvalue)
    assert worst.pvalue <= 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alternative": "both"}, "alternative='both'"),
        ({"groups": [1, 1, 1, 1]}, "one group only"),
        ({"measure": "rr"}, "no influence function"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        swap_test([1, 0, 1, 0], [4, 3, 2, 1], [1, 2, 3, 4], **arguments)
