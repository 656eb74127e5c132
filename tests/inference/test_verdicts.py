"""Better, worse, equal within a margin or not decided; queries that won, moved, or are lacking."""

import numpy as np
import pytest

from sklearn_rank.inference import compare, sample_size
from sklearn_rank.inference._by_query import growth_to_decide
from sklearn_rank.metrics import get_measure, make_measure
from tests.oracles import verdicts as oracle


def rankers(n=60, gains=(0.6, 0.0, 0.6), seed=0, n_items=8):
    """Labels of n queries, and scores of rankers a, b, c, ... of some gain over noise."""
    rng = np.random.default_rng(seed)
    grade = (rng.random((n, n_items)) < 0.4).astype(int)
    grade[:, 0] = 1
    shared = rng.normal(size=grade.shape)
    scores = {
        name: grade * (0.5 + gain) + shared + 0.4 * rng.normal(size=grade.shape)
        for name, gain in zip("abcdefgh", gains, strict=False)
    }
    return grade, scores


WORDS = {"equal": "equal within {margin:g}", "undecided": "no difference shown"}


@pytest.mark.parametrize(
    ("name", "margin"), [("ndcg@5", 0.005), ("ndcg@5", 0.2), ("negated", 0.03)]
)
def test_conclusions_with_a_margin_are_read_from_the_limits(margin, name):
    ndcg = get_measure("ndcg@5")
    measure = ndcg
    if name == "negated":
        measure = make_measure(
            lambda y, s: 1 - ndcg(y, s),
            name=name,
            kind="graded",
            range=(0, 1),
            greater_is_better=False,
        )
    y, scores = rankers(gains=(0.6, 0.0, 0.6, 0.55))
    given = {"margin": margin, "alternative": "two-sided", "random_state": 0}
    found = compare(measure, y, scores, **given)
    plain = compare(measure, y, scores, random_state=0)
    assert (found.low, found.high, found.pvalues) == (plain.low, plain.high, plain.pvalues)
    assert found.hypothesis == f"equal {measure.name}"
    assert f"two-sided, margin {margin:g};" in str(found)
    for contrast, low, high, said in zip(
        found, found.low, found.high, found.conclusions, strict=True
    ):
        first, second = contrast.split(" - ")
        shown = oracle.verdict(low, high, margin)
        if name == "negated":
            first, second = second, first
        sides = {"better": f"{first} better", "worse": f"{second} better"}
        assert said == (WORDS | sides)[shown].format(margin=margin)
        assert found[contrast].conclusions == (said,)
    seen = {oracle.verdict(*limits, margin) for limits in zip(found.low, found.high, strict=True)}
    assert seen >= (
        {"equal"} if margin == 0.2 else {"undecided", "worse" if name[0] == "n" else "better"}
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_a_margin_of_several_measures_is_of_limits_that_hold_together(reverse):
    y, scores = rankers(gains=(0.6, 0.58))
    scores = dict(reversed(scores.items())) if reverse else scores
    names = ["ndcg@3", "ndcg@5", "ndcg@8"]
    given = {"alternative": "two-sided", "random_state": 0}
    together = compare(names, y, scores, **given).together
    for reach in [x for one in together for x in (-one.low, one.high)]:
        margin = reach + 1e-9
        assert compare(names, y, scores, margin=margin, **given).conclusions == tuple(
            WORDS[oracle.verdict(x.low, x.high, margin)].format(margin=margin) for x in together
        )
    with pytest.raises(ValueError, match=r"margin=0\.1 of several measures .* is for two-sided"):
        compare(names, y, scores, margin=0.1)
    with pytest.raises(ValueError, match="margin=2 must be greater than 0 and less than 1"):
        compare(names, y, scores, margin=2, **given)


@pytest.mark.parametrize("method", ["auto", "randomization"])
def test_wins_and_the_queries_that_moved_most(method):
    y, scores = rankers(n=40)
    for score in scores.values():
        score[::4] = y[::4]  # queries on which all are equal
    qid = np.repeat([f"q{i}" for i in range(40)], y.shape[1])
    flat = {name: x.ravel() for name, x in scores.items()}
    found = compare("ndcg@3", y.ravel(), flat, qid=qid, method=method, random_state=0)
    values = {x: get_measure("ndcg@3")(y, scores[x], average=None) for x in scores}
    for contrast, counts in zip(found, found.wins, strict=True):
        a, b = (values[name] for name in contrast.split(" - "))
        assert counts == oracle.wins_ties_losses(a, b)
        one = found[contrast]
        assert one.wins == (counts,)
        moved = one.moved(4)
        order = sorted(range(40), key=lambda i: -abs(a[i] - b[i]))[:4]
        assert moved.queries == tuple(f"q{i}" for i in order)
        assert moved.values == tuple((a[i], b[i]) for i in order)
        assert moved.differences == tuple(a[i] - b[i] for i in order)
        assert len(one.moved(100)) == counts[0] + counts[2]
        assert list(moved.to_frame().columns) == [*contrast.split(" - "), "difference"]
        text = f"{contrast}: {counts[0]} queries better, {counts[1]} equal, {counts[2]} worse"
        assert text in str(found)
    assert found.to_dict()["wins"] == [wins for wins, _, _ in found.wins]
    assert found.to_frame()["losses"].tolist() == [losses for _, _, losses in found.wins]
    assert "by_query" not in found.to_dict()
    with pytest.raises(AttributeError, match="select one, as in found"):
        found.moved()


def test_one_list_has_no_queries():
    y, scores = rankers(n=1, n_items=50)
    found = compare("auc", y[0] > 0, {name: x[0] for name, x in scores.items()}, random_state=0)
    assert (found.wins, found.n_to_decide) == ((), ())
    assert "wins" not in found.to_dict()
    with pytest.raises(AttributeError, match="pass qid"):
        found["a - b"].moved()


def test_a_smaller_value_may_be_the_better_one():
    y, scores = rankers(n=30)
    loss = make_measure(
        lambda y, s: -float(np.sum(y * s)), name="loss", kind="graded", greater_is_better=False
    )
    pair = {name: scores[name] for name in "ab"}
    a, b = (-(y * scores[name]).sum(axis=1) for name in "ab")
    assert compare(loss, y, pair).wins == (oracle.wins_ties_losses(a, b, False),)


@pytest.mark.parametrize("margin", [None, 0.01, 0.03, 0.1])
@pytest.mark.parametrize("difference", [0.0, 0.004, 0.01, -0.02])
def test_a_sample_grown_so_far_decides_with_probability_8(difference, margin):
    n, error, critical = 100, 0.02, 2.1
    growth = growth_to_decide(difference, error, critical * error, margin or 0.0)
    if difference == 0.0 and margin is None:
        assert growth == np.inf
        return

    def chance(factor):
        return oracle.chance_to_decide(n * factor, difference, 0.2, critical, margin)

    if growth == 1.0:
        assert chance(1.0) >= 0.8
        return
    assert chance(growth * 1.01) > 0.8 > chance(growth * 0.99)


def test_the_number_of_queries_is_that_of_a_plan():
    y, scores = rankers(n=150, gains=(0.6, 0.58))
    found = compare("ndcg@5", y, scores)
    plan = sample_size("ndcg@5", pilot=(y, scores), difference=found.estimate, random_state=0)
    assert found.n_to_decide[0] == pytest.approx(plan.n, rel=0.08)
    assert f"about {found.n_to_decide[0]:,.0f} queries would decide" in str(found)
    # Copies of the queries by the factor, of the same groups, vary as if drawn so.
    user = np.arange(150) // 5
    grouped = compare("ndcg@5", y, scores, groups=user)
    pilot = {"pilot": (y, scores), "groups": user}
    plan = sample_size("ndcg@5", difference=found.estimate, random_state=0, **pilot)
    assert grouped.n_to_decide[0] == pytest.approx(plan.n_groups, rel=0.25)
    assert "groups would decide" in str(grouped)
    days = compare("ndcg@5", y, scores, groups=np.datetime64("2024-01-01") + np.arange(150))
    assert "days would decide" in str(days)


def test_a_ranker_beside_itself_is_equal_with_the_number_of_queries_that_is_said():
    asked = {"margin": 0.01, "alternative": "two-sided"}

    def beside_itself(n):
        y, scores = rankers(n=n)
        return compare("ndcg@5", y, {"new": scores["a"], "old": scores["a"]}, **asked)

    (n,) = beside_itself(30).n_to_decide
    assert 60 < n < 300
    assert beside_itself(int(n)).conclusions == ("equal within 0.01",)


def test_where_no_number_is_said():
    y, scores = rankers(n=80)
    assert np.isnan(compare("ndcg@5", y, {x: scores[x] for x in "ab"}).n_to_decide).all()
    swapped = (
        np.concatenate([scores["a"], scores["c"]]),
        np.concatenate([scores["c"], scores["a"]]),
    )
    same = compare("ndcg@5", np.concatenate([y, y]), dict(zip("ab", swapped, strict=True)))
    assert same.n_to_decide == (np.inf,)
    assert same.to_dict()["n_to_decide"] == [None]
    assert "without a margin no number of queries would decide" in str(same)
    assert compare("ndcg@5", y, scores, baseline="a", margin=0.1).n_to_decide == ()
    assert not compare("ndcg@5", *rankers(gains=(0.6,) * 5), random_state=0)._query_lines()
