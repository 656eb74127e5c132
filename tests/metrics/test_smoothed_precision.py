"""Precision at four shares of the top: what the catalogue says nothing about."""

import warnings

import numpy as np
import pytest

from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import (
    get_measure,
    lift_score,
    precision_at_top_score,
    smoothed_precision_at_top_score,
)


def mean_of_four(y_true, y_score, tau, **arguments):
    """The definition, by the function for one share, which takes no share of 1."""
    values = [
        precision_at_top_score(y_true, y_score, tau=times * tau, **arguments)
        if times * tau < 1
        else np.average(y_true, weights=arguments.get("sample_weight"))
        for times in (0.5, 1, 2, 4)
    ]
    return np.mean(values)


@pytest.mark.parametrize("n_scores", [30, 10**6])
def test_long_lists(n_scores):
    for tau in (0.01, 0.05, 0.2, 0.3, 0.6):
        rng = np.random.default_rng(0)
        y_true, y_score = rng.integers(0, 2, 5000), rng.integers(0, n_scores, 5000)
        assert smoothed_precision_at_top_score(y_true, y_score, tau=tau) == pytest.approx(
            mean_of_four(y_true, y_score, tau), rel=1e-14
        )
        for weight in (rng.integers(1, 4, 5000), rng.random(5000)):
            found = smoothed_precision_at_top_score(y_true, y_score, tau=tau, sample_weight=weight)
            expected = mean_of_four(y_true, y_score, tau, sample_weight=weight)
            assert found == pytest.approx(expected, rel=1e-11)


def test_only_a_top_that_is_too_small_at_tau_warns():
    y_true, y_score = np.arange(12) % 2, -np.arange(12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # 0.3, 0.6, 1.2 and 2.4 items: 1, 1, 1 and 2.
        found = smoothed_precision_at_top_score(y_true, y_score, tau=0.05)
    assert found == pytest.approx(0.5 / 4)
    with pytest.warns(SmallTopWarning, match=r"top 0.04 of 12 items .* increase tau") as caught:
        smoothed_precision_at_top_score(y_true, y_score, tau=0.04)
    assert len(caught) == 1


def test_influence_is_the_mean_of_the_four():
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.3
    score = np.round(y + rng.normal(size=400), 1)
    measure = get_measure("smoothed_precision@top0.1")
    found = measure.influence_of(measure.lists(y, score))
    each = [get_measure(lift_score, tau=f) for f in (0.05, 0.1, 0.2, 0.4)]
    lifts = [one.influence_of(one.lists(y, score)) for one in each]
    expected = y.mean() * np.mean([lift.centred() for lift in lifts], axis=0)
    np.testing.assert_allclose(found.centred(), expected, atol=1e-12)
    assert found.range == pytest.approx(
        tuple(y.mean() * np.mean([lift.range for lift in lifts], axis=0))
    )


@pytest.mark.parametrize("name", ["smoothed_precision@top0.01", "lift@0.01", "enrichment@0.01"])
def test_tops_of_less_than_one_item(name):
    measure = get_measure(name)
    y, score = np.arange(40) < 10, -np.arange(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallTopWarning)
        found = measure.influence_of(measure.lists(y, score))
        assert found.estimate == pytest.approx(measure(y, score))
        assert found.range == pytest.approx((0.0, measure(y, score)))
        assert metric_interval(name, y, score).low < found.estimate
