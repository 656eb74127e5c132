"""Propensities from exchanges and random orders, beside loops; coverage of their errors."""

import numpy as np
import pandas as pd
import pytest

from sklearn_rank.clicks import Propensities, random_order_propensities, swap_propensities
from sklearn_rank.datasets import make_clicks
from tests.naming import for_each
from tests.oracles import clicks as oracles

Y = np.array([2, 0, 1, 1, 0, 3, 0, 2, 1])
SCORE = np.array([5.0, 4, 3, 2, 1, 4, 3, 2, 1])
QID = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])


def log(intervention, seed=0, n_sessions=3000, **settings):
    return make_clicks(
        Y,
        SCORE,
        QID,
        n_sessions=n_sessions,
        intervention=intervention,
        random_state=seed,
        **settings,
    )


def by_swaps(data, **changes):
    arguments = {"exchanged": data.exchanged, "swapped": data.swapped} | changes
    return swap_propensities(data.clicks, data.position, data.qid, **arguments)


def by_orders(data, **changes):
    return random_order_propensities(data.clicks, data.position, data.qid, **changes)


def test_exchanges_as_defined():
    data = log("swap", n_sessions=300)
    found = by_swaps(data)
    assert found.position.tolist() == [1, 2, 3, 4, 5]
    assert found.value[0] == 1
    for k in range(2, 6):
        expected = oracles.swap_ratio(
            data.clicks, data.position, data.qid, data.exchanged, data.swapped, k
        )
        assert found.value[k - 1] == pytest.approx(expected, rel=1e-12)


def test_standard_errors_of_exchanges_are_those_of_two_means():
    data = log("swap", n_sessions=60)
    found = by_swaps(data)
    rows = [np.flatnonzero(data.qid == session) for session in np.unique(data.qid)]
    rows = [own for own in rows if data.exchanged[own[0]] == 2]
    at = [[data.clicks[own[data.position[own] == k]][0] for own in rows] for k in (1, 2)]
    residual = np.array(at[1]) - found.value[1] * np.array(at[0])
    arm = np.array([data.swapped[own[0]] for own in rows]).astype(bool)
    variance = sum(residual[one].var(ddof=1) / one.sum() for one in (arm, ~arm))
    total = sum(np.array(at[0])[one].mean() for one in (arm, ~arm))
    assert found.standard_error[1] == pytest.approx(np.sqrt(variance) / total, rel=1e-12)


def test_random_orders_as_defined():
    data = log("random", n_sessions=300)
    found = by_orders(data)
    for k in range(2, 6):
        expected = oracles.random_order_ratio(data.clicks, data.position, data.qid, k)
        assert found.value[k - 1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("intervention", "find"), [("swap", by_swaps), ("random", by_orders)])
def test_standard_errors_cover(intervention, find):
    truth = np.arange(1.0, 6.0) ** -0.7
    inside = []
    for seed in range(250):
        found = find(log(intervention, seed, n_sessions=1200, eta=0.7, noise=0.1))
        inside.append(np.abs(found.value - truth)[1:] <= 1.96 * found.standard_error[1:])
    coverage = np.mean(inside, axis=0)
    assert np.all(coverage > 0.915)
    assert np.all(coverage < 0.985)


def test_any_share_of_swapped_sessions_is_right():
    """Relevant rows at the top and one swap in five: rates over all sessions would be wrong."""
    data = log("swap", n_sessions=60_000, eta=1.0)
    rng = np.random.default_rng(0)
    kept = (data.swapped == 0) | (rng.random(60_000) < 0.2)[data.qid]
    found = swap_propensities(
        data.clicks[kept],
        data.position[kept],
        data.qid[kept],
        exchanged=data.exchanged[kept],
        swapped=data.swapped[kept],
    )
    np.testing.assert_allclose(found.value, 1 / np.arange(1, 6), atol=0.05)


@pytest.mark.parametrize(("intervention", "find"), [("swap", by_swaps), ("random", by_orders)])
def test_dependent_sessions_come_in_groups(intervention, find):
    data = log(intervention)
    alone = find(data)
    same = find(data, groups=data.qid)
    np.testing.assert_allclose(same.standard_error, alone.standard_error, rtol=2e-3)
    twice = {name: np.tile(data[name], 2) for name in data}
    twice["qid"] = np.append(data.qid, data.qid + 3000)
    twice = type(data)(**twice)
    grouped = find(twice, groups=np.tile(data.qid, 2))
    np.testing.assert_allclose(grouped.value, alone.value, rtol=1e-12)
    np.testing.assert_allclose(grouped.standard_error, same.standard_error, rtol=1e-12)
    assert np.all(find(twice).standard_error[1:] < 0.75 * alone.standard_error[1:])


@pytest.mark.parametrize(("intervention", "find"), [("swap", by_swaps), ("random", by_orders)])
def test_rows_in_any_order_with_ids_of_any_type(intervention, find):
    data = log(intervention, n_sessions=400)
    expected = find(data)
    rows = np.random.default_rng(0).permutation(len(data.qid))
    moved = type(data)(**{name: data[name][rows] for name in data})
    moved.qid = pd.Series([f"s{q}" for q in moved.qid])
    moved.clicks = moved.clicks == 1
    found = find(moved)
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-12)
    np.testing.assert_allclose(found.standard_error, expected.standard_error, rtol=1e-12)


def test_rows_get_the_propensity_of_their_position():
    found = Propensities(np.array([1, 2, 4]), np.array([1.0, 1.25, 0.0]), None, 1, "by hand")
    np.testing.assert_allclose(found.of([2, 1, 2]), [1.0, 0.8, 1.0])
    for position, row in (([1, 4], 1), ([3, 1], 0), ([1, 1, 9], 2)):
        with pytest.raises(ValueError, match=f"of row {row} has no propensity"):
            found.of(position)
    with pytest.raises(ValueError, match=r"position is 0 in row 0.*add 1"):
        found.of([0, 1])


@for_each(
    ("changes", "message"),
    [
        ({"swapped": lambda d: np.zeros(len(d.qid))}, "are all swapped or all unswapped"),
        (
            {"swapped": lambda d: np.arange(len(d.qid)) % 2},
            "repeat the value in all rows of the session",
        ),
        ({"swapped": lambda d: np.full(len(d.qid), 2)}, "swapped is 2 in row 0"),
        ({"exchanged": lambda d: np.full(len(d.qid), 5)}, "pass all rows of each session"),
        ({"exchanged": lambda d: d.exchanged - 2}, r"exchanged is 0 .*add 1"),
        ({"pivot": lambda d: 0}, "pivot=0"),
    ],
)
def test_exchanges_that_are_refused(changes, message):
    data = log("swap", n_sessions=50)
    with pytest.raises(ValueError, match=message):
        by_swaps(data, **{name: change(data) for name, change in changes.items()})


def test_logs_that_are_refused():
    data = log("random", n_sessions=50)
    with pytest.raises(ValueError, match="one list shown once"):
        random_order_propensities(data.clicks, data.position, data.qid // 2)
    with pytest.raises(ValueError, match=r"clicks is \d in row 0.*y > 0"):
        random_order_propensities(data.clicks + 2, data.position, data.qid)
    with pytest.raises(ValueError, match="position has 3 entries"):
        random_order_propensities(data.clicks, [1, 2, 3], data.qid)
    with pytest.raises(ValueError, match="has a click at the latter"):
        random_order_propensities(0 * data.clicks, data.position, data.qid)
    with pytest.raises(ValueError, match="No row was shown at position 9"):
        random_order_propensities([0, 1], [2, 2], [0, 1], reference=9)


def test_a_notebook_shows_propensities_as_a_table():
    found = Propensities(np.array([1, 2]), np.array([1.0, 0.4]), None, 1, "by hand")
    assert found._repr_html_().count("<td") == 2
    known = Propensities(
        np.array([1, 2]), np.array([1.0, 0.4]), np.array([0.0, 0.1]), 1, "by hand"
    )
    assert known._repr_html_().count("<td") == 4
    assert ">0.1</td>" in known._repr_html_()


def test_sessions_that_are_alike_show_no_standard_error():
    session, position = np.repeat(np.arange(40), 3), np.tile([1, 2, 3], 40)
    clicks = np.zeros(120)
    clicks[0::3], clicks[1::3] = np.arange(40) % 4 < 2, np.arange(40) % 3 == 0
    exchanged = np.repeat(2 + np.arange(40) % 2, 3)
    swapped = np.repeat(np.arange(40) // 2 % 2, 3)
    swaps = swap_propensities(clicks, position, session, exchanged=exchanged, swapped=swapped)
    orders = random_order_propensities(clicks, position, session)
    for found in (swaps, orders):
        assert found.value[2] == 0
        assert found.standard_error[1] > 0
        assert np.isnan(found.standard_error[2])
        assert "3: 0 (standard error unknown: no clicks)" in str(found)
        assert "unknown" in found._repr_html_()
    for groups in (None, session // 2):
        found = random_order_propensities(np.ones(120), position, session, groups=groups)
        assert found.value.tolist() == [1, 1, 1]
        assert np.isnan(found.standard_error[1:]).all()
    alone = random_order_propensities([1, 1], [1, 2], [0, 0])
    assert "±" not in str(alone)
    assert np.isnan(alone.standard_error[1])
