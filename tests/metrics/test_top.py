"""The measures of the top, where the catalogue says nothing."""

import numpy as np
import pytest

from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import (
    accuracy_at_top_loss,
    get_measure,
    precision_at_k_score,
    precision_at_top_curve,
    precision_at_top_score,
    recall_at_k_score,
)


@pytest.mark.parametrize("measure", [precision_at_top_score, accuracy_at_top_loss])
def test_tau_outside_the_unit_interval_is_refused(measure):
    for tau in (0, 1, -0.1, 5, np.nan):
        with pytest.raises(ValueError, match="must lie between 0 and 1"):
            measure([0, 1], [0, 1], tau=tau)


@pytest.mark.parametrize("measure", [precision_at_top_score, accuracy_at_top_loss])
def test_a_top_of_less_than_one_item_warns(measure):
    y_true, y_score = [0, 1, 1], [3, 2, 1]
    with pytest.warns(SmallTopWarning, match="top 0.1 of 3 items"):
        small = measure(y_true, y_score, tau=0.1)
    assert small == measure(y_true, y_score, tau=1 / 3)


@pytest.mark.parametrize("measure", [precision_at_top_score, accuracy_at_top_loss])
@pytest.mark.parametrize("tau", ["0.5", None])
def test_tau_that_is_no_number_is_refused(measure, tau):
    with pytest.raises(TypeError, match="must be a number"):
        measure([0, 1], [0, 1], tau=tau)


def test_half_an_item_rounds_up():
    # .29 * 50 is 14.499999999999998 in floating point: the top holds 15, of which one is positive.
    y_true = np.r_[np.zeros(14), 1, np.zeros(35)]
    assert precision_at_top_score(y_true, -np.arange(50), tau=0.29) == 1 / 15


def test_the_top_is_rounded_not_raised():
    # ceil(.07 * 100) is 8 in floating point.
    y_true = np.r_[np.ones(7), np.zeros(93)]
    assert precision_at_top_score(y_true, -np.arange(100), tau=0.07) == 1.0


def test_real_weights_by_hand():
    value = precision_at_top_score([1, 0, 1], [3, 2, 1], tau=0.5, sample_weight=[0.25, 0.5, 0.25])
    assert value == pytest.approx(0.5)


@pytest.mark.parametrize("tau", [0, 1.5, -0.1, np.nan, "0.5", None])
def test_bad_shares_are_refused(tau):
    with pytest.raises((TypeError, ValueError), match=f"tau={tau!r}"):
        get_measure(get_measure("enrichment@0.1"), tau=tau)


@pytest.mark.parametrize("measure", [precision_at_k_score, recall_at_k_score])
def test_k_that_is_no_position_is_refused(measure):
    for k in (0, -1, 2.5, True, None, "3", np.nan):
        with pytest.raises((TypeError, ValueError), match=f"k={k!r}"):
            measure([0, 1], [0, 1], k=k)


def test_small_tops_of_many_queries_warn_once():
    qid = np.repeat(np.arange(10), [1, 2, 3, 30, 40, 1, 2, 3, 30, 40])
    y_true = np.arange(len(qid)) % 2
    with pytest.warns(SmallTopWarning) as caught:
        precision_at_top_score(y_true, y_true, tau=0.1, qid=qid)
    assert len(caught) == 1


def test_every_point_of_the_curve_is_a_precision_at_the_top():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(2, 40))
        y_true, y_score = rng.integers(0, 2, n), rng.integers(0, 6, n)
        weight = rng.integers(0, 3, n)
        weight[0] = 1
        position, precision = precision_at_top_curve(y_true, y_score, sample_weight=weight)
        assert position[-1] == weight.sum()
        for j, value in zip(position[:-1], precision[:-1], strict=True):
            expected = precision_at_top_score(
                y_true, y_score, tau=j / weight.sum(), sample_weight=weight
            )
            assert value == pytest.approx(expected)
        assert precision[-1] == pytest.approx(np.average(y_true, weights=weight))


def test_a_top_of_positives_only_is_exactly_1():
    for n in range(2, 200):
        y, score = np.arange(n) >= n // 3, np.arange(float(n))
        assert precision_at_top_score(y, score, tau=0.3) == 1.0
