"""Plans from a pilot: at its own size the plan is what the pilot shows, whatever the measure."""

from itertools import cycle

import numpy as np
import pytest

from sklearn_rank._planning._plans import Question, _degrees, pilot_model, read_pilot
from sklearn_rank.inference import metric_interval, sample_size
from sklearn_rank.inference._evidence import check_groups, check_lists, influences_of
from sklearn_rank.inference._joint import joint_influence
from sklearn_rank.metrics import get_measure

LISTS = ["auc", "bedroc@20", "gini", "partial_auc@fpr0.2"]
CONTRAST = np.array([1.0, -1.0])


def items(seed=0, n=300, share=0.3, draw=np.random.Generator.standard_normal):
    """Labels, and scores of two rankers with ties."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    rng.shuffle(y)
    noise = draw(rng, (3, n))
    scores = {"a": y + noise[0] + noise[1], "b": np.round(y + noise[0] + 1.3 * noise[2], 1)}
    return y, scores, rng


def queries(seed=0, n=60, size=8):
    """Grades, scores of two rankers and ids of queries."""
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, 3, n * size)
    scores = {"a": grade + rng.normal(size=n * size), "b": grade + 2 * rng.normal(size=n * size)}
    return grade, scores, np.repeat(np.arange(n), size), rng


def model(measure, pilot, prevalence=None, groups=None):
    """What a pilot says of each size."""
    pilot = read_pilot(
        get_measure(measure), pilot, {"qid": None, "groups": groups, "pos_label": None}
    )
    comparing = len(pilot[1]) == 2
    question = Question(measure=get_measure(measure), comparing=comparing, prevalence=prevalence)
    return pilot_model(question, pilot, np.random.default_rng(0))[0]


# ------------------------------------------------------------------------ at the size of the pilot


@pytest.mark.parametrize("grouped", [False, True])
def test_sizes_have_the_units_of_the_measure(grouped):
    y, scores, rng = items()
    groups = rng.integers(0, 60, len(y)) if grouped else None
    common = {"groups": groups, "random_state": 0}
    auc = sample_size("auc", pilot=(y, scores["b"]), width=0.1, expected=0.8, **common)
    gini = sample_size("gini", pilot=(y, scores["b"]), width=0.2, expected=0.6, **common)
    assert gini.n == auc.n
    auc, gini = (
        sample_size(name, pilot=(y, scores), difference=d, **common)
        for name, d in (("auc", 0.05), ("gini", 0.1))
    )
    assert gini.n == auc.n


@pytest.mark.parametrize(("measure", "grouped"), list(zip(LISTS, cycle([True, False]))))
def test_the_error_of_a_difference_is_that_of_the_pilot(measure, grouped):
    y, scores, rng = items()
    groups = rng.integers(0, 40, len(y)) if grouped else None
    found, _ = influences_of(check_lists(get_measure(measure), y, tuple(scores.values())))
    joint = joint_influence(found, conditional=True, groups=check_groups(groups, len(y)))
    error, degrees = model(measure, (y, scores), groups=groups).error(len(y))
    plan = sample_size(
        measure, n=len(y), power=0.8, pilot=(y, scores), groups=groups, random_state=0
    )
    assert error**2 == pytest.approx(CONTRAST @ joint.covariance @ CONTRAST)
    assert degrees == pytest.approx(joint.spread.of(CONTRAST))
    assert plan.n_groups == (40 if grouped else None)


@pytest.mark.parametrize("grouped", [False, True])
def test_queries(grouped):
    grade, scores, qid, rng = queries()
    groups = rng.permutation(np.arange(60) % 15)[qid] if grouped else None
    given = {"qid": qid, "groups": groups}
    found = metric_interval("ndcg@5", grade, scores["a"], **given)
    plan = sample_size("ndcg@5", n=60, pilot=(grade, scores["a"]), **given, random_state=0)
    assert plan.width == pytest.approx(found.width)
    assert (plan.unit, plan.n_pos, plan.method) == ("queries", None, "wilson")
    assert plan.n_groups == (15 if grouped else None)
    wide = sample_size("ndcg@5", width=plan.width / 2, pilot=(grade, scores["a"]), **given)
    assert (2.5 if grouped else 3.5) * 60 < wide.n < 4.1 * 60


def test_shares_of_queries_and_two_dimensions():
    grade, scores, _, _ = queries()
    y = (grade > 1).reshape(60, 8)
    y[:, 0] = True
    score = scores["a"].reshape(60, 8)
    found = metric_interval("precision@1", y, score)
    plan = sample_size("precision@1", n=60, pilot=(y, score))
    assert plan.width == pytest.approx(found.width)
    assert plan.method == found.method == "wilson"


# ------------------------------------------------------------------------------- what is moved


def test_the_auc_at_another_share_of_positives():
    y, scores, _ = items()
    found, _ = influences_of(check_lists(get_measure("auc"), y, tuple(scores.values())))
    difference = found[0].values - found[1].values
    exact = difference[y == 1].var(ddof=1) / 20 + difference[y == 0].var(ddof=1) / 980
    found = model("auc", (y, scores), prevalence=0.02).error(1000)[0]
    assert found**2 == pytest.approx(exact)


def test_a_measure_that_depends_on_the_share_sees_rows_repeated():
    y, scores, _ = items(share=0.5)
    often = np.where(y == 1, 1, 9)
    (repeated,), _ = influences_of(
        check_lists(
            get_measure("bedroc@20"),
            np.repeat(y, often),
            (np.repeat(scores["a"], often),),
        )
    )
    of_rows = repeated.values[np.cumsum(often) - 1]
    exact = of_rows[y == 1].var(ddof=1) / 90 + of_rows[y == 0].var(ddof=1) / 810
    variance = model("bedroc@20", (y, scores["a"]), prevalence=0.1).error(900)[0] ** 2
    assert variance == pytest.approx(exact, rel=1e-6)


# --------------------------------------------------------------------------- how well it is known


def test_degrees_of_a_variance_of_normal_values():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(20):
        values = rng.normal(size=200)
        blocks = rng.permutation(200) % 40
        found.append(1 / _degrees(lambda kept, v=values: v[kept].var(ddof=1), [blocks]))
    # The variance of 200 normal values is worth 199 degrees of freedom.
    assert 1 / np.mean(found) == pytest.approx(199, rel=0.2)


def test_the_range_covers_what_is_needed():
    truth = sample_size("auc", expected=0.760250, prevalence=0.3, width=0.1).n
    covered = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        y = np.arange(120) < 36
        pilot = y, rng.normal(size=120) + y
        plan = sample_size("auc", width=0.1, pilot=pilot, expected=0.760250, random_state=seed)
        covered += plan.pilot_range[0] <= truth <= plan.pilot_range[1]
    assert covered >= 12


def test_the_range_is_of_what_was_computed():
    y, scores, _ = items()
    given = {"pilot": (y, scores), "random_state": 0}
    plan = sample_size("auc", **given, difference=0.05)
    assert plan.pilot_range[0] < plan.n < plan.pilot_range[1]
    for known in ({"difference": 0.05}, {"power": 0.8}, {}):
        found = sample_size("auc", **given, n=plan.n, **known)
        low, high = found.pilot_range
        assert low < getattr(found, found.found) < high
        assert f"the pilot's variance allows {found.found} from {low:.4g} to" in str(found)


# -------------------------------------------------------------------------------------- refusals

Y, SCORES, _ = items(n=60)
FEW = (np.arange(60) < 2).astype(int)
GRADE, BOTH, QID, _ = queries(n=20)


@pytest.mark.parametrize(
    ("measure", "given", "message"),
    [
        ("auc", {"pilot": (FEW, SCORES["a"])}, "pilot has only 2 positives"),
        ("auc", {"pilot": (1 - FEW, SCORES["a"])}, "pilot has only 2 negatives"),
        ("auc", {"pilot": (Y, Y)}, "has a variance of 0"),
        ("auc", {"pilot": (Y, np.ones(60))}, "has a variance of 0"),
        (
            "auc",
            {"pilot": (Y, {"a": Y + 0.5, "b": 2.0 * Y}), "width": None, "difference": 0.1},
            "has a variance of 0",
        ),
        (
            "auc",
            {"pilot": (Y, SCORES), "width": None, "power": 0.8},
            "leave out the one to compute",
        ),
        (
            "auc",
            {"pilot": (Y, SCORES["a"]), "width": None, "difference": 0.1},
            "scores of one ranker",
        ),
        ("auc", {"pilot": (Y, SCORES), "expected": 0.8}, "expected=0.8 is not used"),
        ("auc", {"pilot": (Y, SCORES), "correlation": 0.8}, "correlation=0.8 is not used"),
        ("auc", {"pilot": (Y, {**SCORES, "c": Y})}, "scores of 3 rankers"),
        ("auc", {"pilot": Y}, "pilot must be a pair"),
        ("rr", {"pilot": (Y, SCORES["a"])}, "no influence function"),
        (
            "ndcg@5",
            {"pilot": (GRADE, BOTH["a"]), "qid": QID, "prevalence": 0.1},
            "prevalence=0.1 is not used for a mean over queries",
        ),
        (
            "ndcg@5",
            {"pilot": (GRADE[:16], BOTH["a"][:16]), "qid": QID[:16]},
            "pilot has only 2 queries",
        ),
        ("ndcg@5", {"pilot": (GRADE, BOTH["a"]), "qid": QID, "width": 1.5}, "less than 1"),
        (
            "auc",
            {"pilot": (Y, SCORES["a"]), "groups": np.arange(60) // 30},
            "pilot has only 2 groups",
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else " ".join(given),
)
def test_pilots_that_are_refused(measure, given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        sample_size(measure, **{"width": 0.1} | given)


def test_few_positives_are_warned_of():
    y, scores, _ = items(share=0.02)
    with pytest.warns(UserWarning, match="has only 6 positives"):
        plan = sample_size("auc", width=0.1, pilot=(y, scores["a"]))
    assert plan.pilot_range[1] > 2 * plan.n


@pytest.mark.parametrize("measure", ["auc", "bedroc@20"])
def test_infinite_and_heavy_tailed_scores(measure):
    y, scores, _ = items(draw=np.random.Generator.standard_cauchy)
    scores["a"][:3] = [np.inf, -np.inf, np.inf]
    plan = sample_size(measure, difference=0.1, pilot=(y, scores))
    assert plan.pilot_range[0] < plan.n < plan.pilot_range[1]
