"""Team-draft interleaving beside all outcomes of its coins, and its test."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import chisquare

from sklearn_rank.clicks import team_draft, team_outcomes
from sklearn_rank.inference import ConfidenceSequence, metric_interval
from tests.naming import for_each
from tests.oracles import clicks as oracle

LENGTHS = [(3, 3, 3), (3, 3, 2), (2, 3, 5), (1, 3, 4), (3, 2, 3)]


def pairs(n_first, n_second):
    """Rankings of some of four items, the first one fixed."""
    return [(tuple(range(n_first)), second) for second in permutations(range(4), n_second)]


@for_each("lengths", LENGTHS)
def test_lists_have_the_chances_of_their_coins(lengths):
    rng = np.random.default_rng(0)
    for first, second in pairs(*lengths[:2])[::4]:
        expected = oracle.drafts(first, second, lengths[2])
        found = Counter(
            tuple(team_draft({0: first, 1: second}, k=lengths[2], random_state=rng).items())
            for _ in range(400)
        )
        assert set(found) <= set(expected)
        n = [found[mixed] for mixed in expected]
        if len(n) > 1:
            assert chisquare(n, 400 * np.array(list(expected.values()), float)).pvalue > 1e-5


@pytest.mark.parametrize("lengths", LENGTHS)
def test_clicks_on_places_favour_no_team(lengths):
    # Exactly, for every pair of rankings and any clicked places.
    for first, second in pairs(*lengths[:2]):
        drafts = oracle.drafts(first, second, lengths[2])
        for clicked in product((0, 1), repeat=len(next(iter(drafts)))):
            wins = Counter()
            for mixed, chance in drafts.items():
                count = Counter(
                    team for (_, team), click in zip(mixed, clicked, strict=True) if click
                )
                wins[np.sign(count[0] - count[1])] += chance
            assert wins[1] == wins[-1]


def test_random_clicks_favour_no_team():
    rng = np.random.default_rng(1)
    clicks = []
    for _ in range(4000):
        a, b = (rng.permutation(9)[:n] for n in (5, 8))
        mixed = team_draft({"a": a, "b": b}, random_state=rng)
        counts = Counter(team for team in mixed.values() if rng.random() < 0.4)
        clicks.append([counts["a"], counts["b"]])
    found = metric_interval("top1", **team_outcomes(clicks), level=0.999)
    assert found.low < 0.5 < found.high < 0.55


def test_a_list_can_be_made_again():
    rankings = {"a": list("abcdefgh"), "b": list("hgfedcba")}
    mixed = team_draft(rankings, k=6, random_state=3)
    assert list(mixed.items()) == list(team_draft(rankings, k=6, random_state=3).items())
    assert len({tuple(team_draft(rankings, k=6, random_state=i)) for i in range(30)}) > 4
    assert Counter(mixed.values()) == {"a": 3, "b": 3}
    # Rankings that have not an item in common, one of them with none.
    assert team_draft({"a": [], "b": [("x", 1)]}) == {("x", 1): None}


@pytest.mark.parametrize(
    ("rankings", "k", "message"),
    [
        ({"a": [1, 2], "b": [3, 2, 3]}, None, "The ranking 'b' has 3 twice"),
        ({"a": [1]}, None, "mapping from two names"),
        ([[1], [2]], None, "mapping from two names"),
        ({"a": [1], "b": [2]}, 0, "k=0"),
    ],
)
def test_what_is_refused(rankings, k, message):
    with pytest.raises(ValueError, match=message):
        team_draft(rankings, k=k)


@for_each("clicks", [[1, 0], [[1, 0, 2]], [[1, -1]], [[np.nan, 0]], []])
def test_clicks_are_two_columns_of_counts(clicks):
    with pytest.raises(ValueError, match=r"must have two columns|at row 0|is empty"):
        team_outcomes(clicks)


# ------------------------------------------------------------------------------------- the test


def test_sessions_one_by_one_or_in_batches():
    rng = np.random.default_rng(2)
    clicks = rng.poisson([0.9, 0.6], (150, 2))
    won = clicks[clicks[:, 0] != clicks[:, 1]] @ [1, -1] > 0
    singly, at_once = (ConfidenceSequence("top1", best_after=n) for n in (100, 100 / len(won)))
    for session in clicks:
        singly.update(**team_outcomes([session]))
    found = at_once.update(**team_outcomes(clicks))
    assert found.estimate == pytest.approx(won.mean())
    assert singly.interval.low == pytest.approx(found.low, rel=1e-9)
    assert singly.p_value(0.5) == pytest.approx(at_once.p_value(0.5), rel=1e-9)


def test_a_user_counts_once():
    rows = team_outcomes([[0, 2], [2, 1], [3, 0], [0, 1], [5, 1], [0, 1]], list("abbacc"))
    assert metric_interval("top1", **rows).estimate == 0.5
    assert rows["qid"].tolist() == list("aabb")
    assert rows["y_true"].tolist() == [0, 2, 2, 0]
    sequence = ConfidenceSequence("top1", best_after=100)
    sequence.update(**team_outcomes([[0, 0]], ["z"]))
    sequence.update(**rows)
    with pytest.raises(ValueError, match="'b'"):
        sequence.update(**team_outcomes([[1, 0]], ["b"]))


def test_p_values_are_those_of_the_limits():
    rng = np.random.default_rng(3)
    sequence = ConfidenceSequence("precision@3", level=0.9)
    assert sequence.p_value(0.5) == 1.0
    for _ in range(4):
        found = sequence.update(rng.integers(0, 2, (40, 5)), rng.random((40, 5)))
        for limit, inwards in ((found.low, 1e-6), (found.high, -1e-6)):
            assert sequence.p_value(limit) == pytest.approx(0.1, rel=1e-6)
            assert sequence.p_value(limit - inwards) < 0.1 < sequence.p_value(limit + inwards)
    assert sequence.p_value(found.estimate) == 1.0
    with pytest.raises(ValueError, match="value=2"):
        sequence.p_value(2)
    with_limits_only = ConfidenceSequence("ap")
    y = rng.integers(0, 2, 200)
    with_limits_only.update(y, y + rng.normal(size=200))
    with pytest.raises(ValueError, match="no p-value for ap of the population"):
        with_limits_only.p_value(0.5)
