"""Predicted and observed shares of positives among the first items."""

import numpy as np
import pytest

from sklearn_rank.inference import Interval, calibration_at_top
from sklearn_rank.inference._limits import safe_limits

from ..oracles import thresholds as oracle


def sample(n=200, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.beta(1, 3, n)
    return (rng.random(n) < prob).astype(int), prob


def test_shares_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(12):
        labels = [0, 1, *rng.integers(0, 2, 4).tolist()]
        prob = (rng.integers(0, 4, 6) / 4).tolist()
        found = calibration_at_top(labels, prob, k=range(1, 7))
        expected = [oracle.observed_at_top(labels, prob, k) for k in range(1, 7)]
        np.testing.assert_allclose(found.observed, expected, atol=1e-14)
        means = [np.mean(sorted(prob, reverse=True)[:k]) for k in range(1, 7)]
        np.testing.assert_allclose(found.predicted, means, atol=1e-14)
        np.testing.assert_allclose(found.error, found.predicted - found.observed)
        assert ((found.low <= found.observed) & (found.observed <= found.high)).all()


def test_limits_are_those_of_k_draws_or_of_the_tied_block():
    y, prob = sample()
    found = calibration_at_top(y, prob, k=[1, 10, 200], level=0.9)
    for i, k in enumerate(found.k):
        limits = safe_limits(found.observed[i], k, 0.9)
        assert (found.low[i], found.high[i]) == pytest.approx(limits, abs=1e-12)
    tied = calibration_at_top(y, np.full(200, 0.3), k=[1, 50])
    whole = safe_limits(y.mean(), 200, 0.95)
    np.testing.assert_allclose(np.stack([tied.low, tied.high]), np.repeat([whole], 2, 0).T)
    # Four items above, and two of a block of ten.
    y = np.repeat([1, 0, 1, 0, 1], [3, 1, 2, 8, 1])
    prob = np.repeat([0.9, 0.5, 0.1], [4, 10, 1])
    found = calibration_at_top(y, prob, k=6)
    (a, b), (c, d) = safe_limits(0.75, 4, 0.95), safe_limits(0.2, 10, 0.95)
    mid = (4 * 0.75 + 2 * 0.2) / 6
    assert found.observed[0] == pytest.approx(mid)
    assert found.low[0] == pytest.approx(mid - np.hypot(4 * (0.75 - a), 2 * (0.2 - c)) / 6)
    assert found.high[0] == pytest.approx(mid + np.hypot(4 * (b - 0.75), 2 * (d - 0.2)) / 6)


def test_any_order_of_rows_labels_and_lengths():
    y, prob = sample()
    rows = np.random.default_rng(1).permutation(200)
    named, groups = np.where(y == 1, "ill", "well"), np.arange(200) // 3
    expected = calibration_at_top(y, prob, tau=[0.05, 0.5], groups=groups)
    found = calibration_at_top(
        named[rows], prob[rows], k=[100, 10, 10], groups=groups[rows], pos_label="ill"
    )
    for name in ("k", "predicted", "observed", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)


def test_one_length_is_an_interval_and_all_are_a_table():
    y, prob = sample()
    found = calibration_at_top(y, prob, k=[10, 20])
    assert found.at(20) == Interval(
        found.error[1],
        found.predicted[1] - found.high[1],
        found.predicted[1] - found.low[1],
        0.95,
        "joined shares",
        "predicted less expected share of positives among the first 20",
    )
    with pytest.raises(ValueError, match="k=5 is not among the 2 lengths"):
        found.at(5)
    lines = str(found).splitlines()
    assert [line.split()[0] for line in lines] == ["Positives", "k", "10", "20"]
    assert found._repr_html_().count("<tr>") == 3
    frame = found.to_frame()
    assert list(frame.columns) == ["predicted", "observed", "low", "high", "error"]
    assert frame.loc[20, "error"] == found.error[1]
    usual = calibration_at_top(y, prob)
    assert (usual.k[0], usual.k[-1]) == (1, 200)
    assert len(usual.k) <= 100
    assert len(str(usual).splitlines()) == 12


def test_what_is_refused():
    y, prob = sample()
    with pytest.raises(ValueError, match="k and tau are both given"):
        calibration_at_top(y, prob, k=3, tau=0.1)
    for k in (0, 201, 2.5):
        with pytest.raises((ValueError, TypeError), match=r"k=.* must be"):
            calibration_at_top(y, prob, k=k)
    with pytest.raises(ValueError, match=r"tau=1\.5 must be a number in \(0, 1\)"):
        calibration_at_top(y, prob, tau=1.5)
    with pytest.raises(ValueError, match="must be one or more numbers"):
        calibration_at_top(y, prob, k=[])
    with pytest.raises(ValueError, match="one class only"):
        calibration_at_top(np.zeros(200, int), prob)
    with pytest.raises(ValueError, match="which is not a probability"):
        calibration_at_top(y, 10 * prob)
