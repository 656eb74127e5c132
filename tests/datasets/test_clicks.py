"""Simulated clicks follow the model that they are said to follow."""

import numpy as np
import pytest

from sklearn_rank.datasets import make_clicks
from tests.naming import for_each

Y = np.array([0, 3, 1, 2, 0, 1])
SCORE = np.array([1.0, 3.0, 2.0, 5.0, 9.0, 7.0])
QID = np.array(["b", "a", "a", "b", "b", "a"])


def chance(grade, position, eta, noise):
    return position**-eta * (noise + (1 - noise) * (2.0**grade - 1) / 7)


@pytest.mark.parametrize("noise", [0.0, 0.2, [0.5, 0.1, 0.0]])
def test_click_rates(noise):
    log = make_clicks(Y, SCORE, QID, n_sessions=60_000, eta=0.8, noise=noise, random_state=0)
    np.testing.assert_allclose(log.propensity, log.position**-0.8)
    for row in range(6):
        own = log.rows == row
        place = np.unique(log.position[own])
        assert len(place) == 1
        epsilon = noise if np.ndim(noise) == 0 else noise[place[0] - 1]
        expected = chance(Y[row], place[0], 0.8, epsilon)
        assert log.clicks[own].mean() == pytest.approx(expected, abs=0.012)
        assert own.sum() == pytest.approx(30_000, rel=0.03)


def test_sessions_are_whole_lists_by_falling_score():
    log = make_clicks(Y, SCORE, QID, n_sessions=200, random_state=0)
    assert len(log.rows) == 600
    np.testing.assert_array_equal(log.qid, np.repeat(np.arange(200), 3))
    np.testing.assert_array_equal(log.position, np.tile([1, 2, 3], 200))
    seen = {tuple(rows) for rows in log.rows.reshape(200, 3).tolist()}
    assert seen == {(5, 1, 2), (4, 3, 0)}
    top = make_clicks(Y, SCORE, QID, n_sessions=200, k=2, random_state=0)
    assert {tuple(rows) for rows in top.rows.reshape(200, 2).tolist()} == {(5, 1), (4, 3)}
    assert set(log.exchanged) == {1}
    assert set(log.swapped) == {0}


def test_swaps_exchange_two_rows():
    log = make_clicks(Y, SCORE, QID, n_sessions=4000, intervention="swap", random_state=0)
    for rows, k, swapped in zip(
        log.rows.reshape(-1, 3).tolist(), log.exchanged[::3], log.swapped[::3], strict=True
    ):
        if swapped:
            rows[0], rows[k - 1] = rows[k - 1], rows[0]
        assert rows in ([5, 1, 2], [4, 3, 0])
    for k in (2, 3):
        assert np.mean(log.exchanged == k) == pytest.approx(0.5, abs=0.03)
        assert log.swapped[log.exchanged == k].mean() == pytest.approx(0.5, abs=0.04)
    short = make_clicks([1, 0, 1], [3, 2, 1], [0, 0, 1], intervention="swap", random_state=0)
    alone = short.rows == 2
    assert set(short.exchanged[alone]) == {1}
    assert set(short.swapped[alone]) == {0}


def test_random_orders_are_as_likely_as_each_other():
    log = make_clicks(Y, SCORE, QID, n_sessions=12_000, intervention="random", k=2, random_state=0)
    orders, counts = np.unique(log.rows.reshape(-1, 2), axis=0, return_counts=True)
    assert len(orders) == 12
    np.testing.assert_allclose(counts, 1000, rtol=0.12)


def test_seeds_and_ties():
    one, two, three = (make_clicks(Y, 0 * SCORE, QID, random_state=seed) for seed in (1, 1, 2))
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    assert np.any(one.clicks != three.clicks)
    assert np.any(
        np.unique(one.rows.reshape(-1, 3), axis=0) != np.unique(three.rows.reshape(-1, 3), axis=0)
    )


@for_each(
    ("change", "message"),
    [
        ({"y": np.zeros(6)}, "no relevance above 0"),
        ({"y": -Y}, "y has -3, -2, -1 beside two classes"),
        ({"eta": -1.0}, "eta=-1"),
        ({"noise": 1.0}, "noise=1"),
        ({"noise": [0.1, 0.2]}, "noise has 2 entries, but lists have 3 positions"),
        ({"noise": [0.1, 0.2, 1.0]}, "noise is 1"),
        ({"n_sessions": 0}, "n_sessions=0"),
        ({"k": 0}, "k=0"),
        ({"intervention": "exchange"}, "intervention='exchange'"),
        ({"qid": [1, 2]}, "qid has 2 entries"),
    ],
)
def test_what_is_refused(change, message):
    arguments = {"y": Y, "y_score": SCORE, "qid": QID} | change
    with pytest.raises(ValueError, match=message):
        make_clicks(**arguments)
