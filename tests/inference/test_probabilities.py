"""Limits of net benefit, which is a sum of two shares of rows, and of calibration at the top."""

from math import hypot, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_rank.inference import curve, metric_interval
from sklearn_rank.inference._joint import GroupPart
from sklearn_rank.inference._limits import safe_limits
from sklearn_rank.metrics import get_measure
from sklearn_rank.metrics._shared import Groups

WAYS = [{}, {"standardized": True}, {"prevalence": 0.1}, {"prevalence": 0.1, "standardized": True}]
every_way = pytest.mark.parametrize("how", WAYS, ids=lambda how: "-".join(how) or "plain")


def sample(n=200, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.beta(1, 3, n).round(2)
    return (rng.random(n) < prob).astype(int), prob


def net_benefit(threshold, y, prob, *, level=0.95, groups=None, **how):
    measure = get_measure(f"net_benefit@{threshold:g}", **how)
    return metric_interval(measure, y, prob, level=level, groups=groups)


def term(factor, hits, among, groups, level, odds):
    """A factor times a share or its odds, its limits, and what each row or group moves it."""
    draws, degrees, estimate = among.sum() / 1.0, np.inf, hits[among].mean()
    influence = np.where(among, hits - estimate, 0.0) / draws
    if groups is not None:
        part = GroupPart.of_rows(hits[among][np.newaxis] / 1.0, groups.only(among))
        influence, degrees = part.sums[0], part.degrees
        draws = min(part.draws_of_share(estimate)[0], draws)
    shares = np.array([estimate, *safe_limits(estimate, draws, level, degrees)])
    value, *limits = factor * (shares / (1.0 - shares) if odds else shares)
    return value, *sorted(limits), np.sign(factor) * influence


def by_rows(positive, prob, threshold, groups, level, prevalence=None, standardized=False):
    treated, rate = prob >= threshold, threshold / (1.0 - threshold)
    wrong, share = treated & ~positive, prevalence or positive.mean()
    among = positive | ~positive, positive | ~positive
    gain, loss, odds = 1.0, -rate, False
    if prevalence is not None:
        among = positive, ~positive
        scale = share if standardized else 1.0
        gain, loss = share / scale, loss * (1.0 - share) / scale
    elif standardized:
        among, odds = (positive, positive | wrong), True
    a, low_a, high_a, x = term(gain, treated & positive, among[0], groups, level, False)
    if not rate:
        return a, low_a, high_a
    b, low_b, high_b, y = term(loss, wrong, among[1], groups, level, odds)
    squares = (x @ x) * (y @ y)
    r = np.clip(x @ y / sqrt(squares), -1.0, 1.0) if squares else 0.0

    def distance(a, b):
        return hypot(a + r * b, b * sqrt(max(1.0 - r * r, 0.0)))

    low, high = distance(a - low_a, b - low_b), distance(high_a - a, high_b - b)
    return a + b, a + b - low, a + b + high


@every_way
@pytest.mark.parametrize("n_groups", [None, 50, 150])
def test_limits_are_those_of_both_shares_with_their_correlation(how, n_groups):
    y, prob = sample()
    of_row = None if n_groups is None else np.random.default_rng(2).permutation(200) % n_groups
    groups = None if n_groups is None else Groups(of_row, n_groups)
    for threshold in (0.0, 0.05, 0.25, 0.5, 0.8):
        found = net_benefit(threshold, y, prob, level=0.9, groups=of_row, **how)
        expected = by_rows(y == 1, prob, threshold, groups, 0.9, **how)
        assert (found.estimate, found.low, found.high) == pytest.approx(expected, abs=1e-9)
        assert found.method == "joined shares"
    # A curve looks at two runs of rows, those above the threshold and the others.
    measure = get_measure("net_benefit@0.1", **how)
    frame = curve(
        measure, y, prob, at=[0.05, 0.5], groups=of_row, level=0.9, random_state=0
    ).to_frame()
    for i, threshold in enumerate((0.05, 0.5)):
        expected = by_rows(y == 1, prob, threshold, groups, 0.9, **how)
        assert frame.loc[i, ["estimate", "low", "high"]].tolist() == pytest.approx(expected)


def test_two_groups_leave_the_odds_without_a_limit():
    y, prob = [1, 0, 0, 1], [0.4, 0.3, 0.2, 0.1]
    found = net_benefit(0.15, y, prob, groups=[0, 0, 1, 1], standardized=True)
    assert found.low == -np.inf
    assert np.isfinite([found.estimate, found.high]).all()


def test_nothing_found_is_not_certain():
    y, prob = np.repeat([1, 0], [5, 95]), np.full(100, 0.2)
    # Acting on all is as good as the share of positives; on none, it might yet have been some.
    found = net_benefit(0, y, prob)
    assert (found.low, found.high) == pytest.approx(safe_limits(0.05, 100, 0.95))
    found = net_benefit(0.5, y, prob)
    edge = safe_limits(0.0, 100, 0.95)[1]
    assert (found.estimate, found.low, found.high) == pytest.approx((0.0, -edge, edge))


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "cut"), [(0.05, 0.7), (0.5, 3.0)])
def test_few_positives_are_covered_on_either_side(threshold, cut):
    """30 of 300 on average are positive, of whom 24 and 5 are acted on, or fewer."""
    rng, exchange = np.random.default_rng(0), threshold / (1 - threshold)
    target = 0.1 * norm.sf(cut - 1.5) - 0.9 * exchange * norm.sf(cut)
    missed = []
    for _ in range(1000):
        y = rng.random(300) < 0.1
        acted = rng.normal(size=300) + 1.5 * y > cut
        found = net_benefit(threshold, y, np.where(acted, threshold, 0.0))
        missed.append((target < found.low, target > found.high))
    assert (np.mean(missed, axis=0) < 0.04).all()
    assert np.mean(missed) < 0.03


def test_calibration_has_the_limits_of_the_precision():
    y, prob = sample(seed=1)
    prob = prob + np.arange(200) / 1e5
    groups = np.arange(200) // 3
    for k, method in ((1, "exact"), (10, "wilson"), (50, "wilson"), (200, "wilson")):
        for ids in (None, groups):
            how = {"level": 0.9, "method": method, "groups": ids}
            precision = metric_interval(f"precision@{k}", y, prob, **how)
            found = metric_interval(f"calibration@{k}", y, prob, **how)
            predicted = np.sort(prob)[::-1][:k].mean()
            values = precision.estimate, precision.high, precision.low
            expected = [predicted - x for x in values]
            assert (found.estimate, found.low, found.high) == pytest.approx(expected)
            assert found.target == f"expected calibration@{k} for the same scores and new labels"
