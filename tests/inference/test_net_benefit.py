"""Net benefit at many thresholds, with limits."""

from math import hypot, sqrt

import numpy as np
import pytest

from sklearn_rank.inference import Interval, _probabilities, net_benefit_curve
from sklearn_rank.inference._joint import GroupPart
from sklearn_rank.inference._limits import safe_limits
from sklearn_rank.metrics import net_benefit
from sklearn_rank.metrics._shared import Groups

WAYS = [{}, {"standardized": True}, {"prevalence": 0.1}, {"prevalence": 0.1, "standardized": True}]
every_way = pytest.mark.parametrize("how", WAYS, ids=lambda how: "-".join(how) or "plain")


def sample(n=200, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.beta(1, 3, n).round(2)
    return (rng.random(n) < prob).astype(int), prob


@every_way
def test_values_are_those_of_single_thresholds(how):
    y, prob = sample()
    curve = net_benefit_curve(y, prob, **how)
    expected = [net_benefit(y, prob, threshold=one, **how) for one in curve.threshold]
    np.testing.assert_allclose(curve.net_benefit, expected, rtol=0, atol=1e-12)
    all_treated = [net_benefit(y, np.ones(200), threshold=one, **how) for one in curve.threshold]
    np.testing.assert_allclose(curve.treat_all, all_treated, rtol=0, atol=1e-9)
    assert (curve.low <= curve.net_benefit).all()
    assert (curve.net_benefit <= curve.high).all()
    np.testing.assert_array_equal(curve.threshold, [float(f"{i / 100}") for i in range(100)])


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


def by_rows(positive, prob, threshold, groups, level, prevalence, standardized):
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
def test_limits_are_those_of_each_threshold(how, n_groups, monkeypatch):
    y, prob = sample()
    monkeypatch.setattr(_probabilities, "MOST_COUNTS", 1000)
    of_row = None if n_groups is None else np.random.default_rng(2).permutation(200) % n_groups
    groups = None if n_groups is None else Groups(of_row, n_groups)
    curve = net_benefit_curve(y, prob, groups=of_row, level=0.9, **how)
    options = {"prevalence": None, "standardized": False, **how}
    expected = [by_rows(y == 1, prob, t, groups, 0.9, **options) for t in curve.threshold]
    found = np.stack([curve.net_benefit, curve.low, curve.high], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_two_groups_leave_the_odds_without_a_limit():
    y, prob = [1, 0, 0, 1], [0.4, 0.3, 0.2, 0.1]
    curve = net_benefit_curve(y, prob, groups=[0, 0, 1, 1], standardized=True, thresholds=[0.15])
    assert curve.low == -np.inf
    assert np.isfinite([curve.net_benefit, curve.high]).all()


@every_way
def test_any_order_of_rows_labels_and_thresholds(how):
    y, prob = sample()
    rows = np.random.default_rng(1).permutation(len(y))
    groups = np.arange(200) // 4
    named = np.where(y == 1, "ill", "well")
    expected = net_benefit_curve(y, prob, thresholds=[0.1, 0.4], groups=groups, **how)
    found = net_benefit_curve(
        named[rows],
        prob[rows],
        thresholds=[0.4, 0.1, 0.4],
        groups=groups[rows],
        pos_label="ill",
        **how,
    )
    for name in ("threshold", "net_benefit", "low", "high", "treat_all"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)


def test_nothing_found_is_not_certain():
    y = np.repeat([1, 0], [5, 95])
    curve = net_benefit_curve(y, np.full(100, 0.2), thresholds=[0.0, 0.5])
    # Acting on all is as good as the share of positives; on none, it might yet have been some.
    assert (curve.low[0], curve.high[0]) == pytest.approx(safe_limits(0.05, 100, 0.95))
    assert curve.net_benefit[1] == 0.0
    edge = safe_limits(0.0, 100, 0.95)[1]
    assert (curve.low[1], curve.high[1]) == pytest.approx((-edge, edge))


def test_one_threshold_is_an_interval_and_the_curve_a_table():
    y, prob = sample()
    curve = net_benefit_curve(y, prob, thresholds=[0.1, 0.3], level=0.9)
    found = curve.at(0.3)
    assert found == Interval(
        curve.net_benefit[1],
        curve.low[1],
        curve.high[1],
        0.9,
        "joined shares",
        "net benefit at 0.3",
    )
    with pytest.raises(
        ValueError, match=r"threshold=0\.2 is not among the 2 thresholds of the curve"
    ):
        curve.at(0.2)
    lines = str(curve).splitlines()
    assert lines[0].startswith("Net benefit at a share of ")
    assert [line.split()[0] for line in lines[1:]] == ["threshold", "0.1", "0.3"]
    assert curve._repr_html_().count("<tr>") == 3
    frame = curve.to_frame()
    assert list(frame.columns) == ["net_benefit", "low", "high", "treat_all"]
    assert frame.loc[0.3, "high"] == curve.high[1]
    assert len(str(net_benefit_curve(y, prob)).splitlines()) == 12


def test_what_is_refused():
    y, prob = sample()
    with pytest.raises(ValueError, match="one class only"):
        net_benefit_curve(np.ones(200, int), prob)
    with pytest.raises(ValueError, match=r"thresholds=1\.0 must be a number in \[0, 1\)"):
        net_benefit_curve(y, prob, thresholds=[0.5, 1.0])
    for thresholds in ([], [[0.1]]):
        with pytest.raises(ValueError, match="must be one or more probabilities"):
            net_benefit_curve(y, prob, thresholds=thresholds)
    with pytest.raises(ValueError, match=r"prevalence=1 must be a number in \(0, 1\)"):
        net_benefit_curve(y, prob, prevalence=1)
    with pytest.raises(TypeError, match="standardized='no' must be True or False"):
        net_benefit_curve(y, prob, standardized="no")
    with pytest.raises(ValueError, match="which is not a probability"):
        net_benefit_curve(y, prob * 3)
