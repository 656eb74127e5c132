"""Several questions in one call: the same as single calls, and a level that holds for all."""

from __future__ import annotations

import pickle
import re
import warnings
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from sklearn_rank.inference import _curve as curve_module
from sklearn_rank.inference import compare, curve, metric_interval
from sklearn_rank.metrics import Accumulator, get_measure, get_scorer
from tests.naming import for_each
from tests.oracles import simultaneous as oracle

RNG = np.random.default_rng(5)
N = 400
Y = RNG.random(N) < 0.2
A = RNG.normal(size=N) + 1.3 * Y
B = 0.6 * A + 0.8 * RNG.normal(size=N)
MODELS = {"a": A, "b": B}
Q = np.repeat(np.arange(40), 10)
GRADE = RNG.integers(0, 3, size=N)
CURVES = {
    "recall@k": [5, 40, 150],
    "precision@k": [5, 40, 150],
    "precision@top": [0.02, 0.1, 0.4],
    "recall@top": [0.02, 0.1, 0.4],
    "lift": [0.02, 0.1, 0.4],
    "tpr@fpr": [0.02, 0.1, 0.4],
    "fpr@tpr": [0.3, 0.6, 0.9],
    "bedroc": [5, 20],
    "net_benefit": [0.05, 0.2, 0.5],
    "calibration@k": [5, 40, 150],
    "precision@recall": [0.1, 0.5, 0.8],
    "success@k": [1, 3],
}
PROBABILITIES = {"net_benefit", "calibration@k"}


def same(found, expected):
    """Rows of a table and intervals by themselves."""
    for one, other in zip(found, expected, strict=True):
        values = [(x.estimate, x.low, x.high) for x in (one, other)]
        np.testing.assert_allclose(*values, rtol=1e-10, atol=1e-12)
        assert one.method.partition(", ")[0] == other.method.partition(", ")[0]


@pytest.mark.parametrize(("name", "ties"), list(zip(CURVES, cycle([False, True]))))
def test_each_place_is_that_of_a_single_call(name, ties):
    models = {x: np.round(s, 1) if ties else s for x, s in MODELS.items()}
    if name in PROBABILITIES:
        models = {x: expit(s - 2.0).astype(np.float32) for x, s in models.items()}
    found = curve(name, Y, models, at=CURVES[name], random_state=0)
    measures = [get_measure(curve_module.measure_at(name, x)) for x in CURVES[name]]
    singles = [metric_interval(m, Y, s) for s in models.values() for m in measures]
    same(found.pointwise, singles)
    found = curve(name, Y, models, at=CURVES[name], baseline="b", random_state=0)
    for measure, one in zip(measures, found.pointwise, strict=True):
        pair = compare(measure, Y, models)
        expected = pair.estimate, pair.low[0], pair.high[0], pair.difference_errors[0]
        seen = one.estimate, one.low, one.high, one.standard_error or np.nan
        np.testing.assert_allclose(seen, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("baseline", [None, "b"])
@pytest.mark.parametrize("name", ["profit@k", "profit@top", "lorenz", "value_recall@k"])
def test_amounts_of_few_values_are_counted(monkeypatch, name, baseline):
    amounts = np.where(Y, 3.0, np.where(B > 0.5, 0.5, 0.0 if name == "lorenz" else -1.0))
    at = [5, 40, 150] if name.endswith("k") else [0.02, 0.1, 0.4]
    arguments = {"at": at, "baseline": baseline, "random_state": 0}
    scores = {x: np.round(s, 1) for x, s in MODELS.items()}
    fast = curve(name, amounts, scores, **arguments)
    monkeypatch.setattr(curve_module.CountedRankers, "of", lambda *_: None)
    slow = curve(name, amounts, scores, **arguments)
    same(fast.pointwise, slow.pointwise)
    same(fast.together, slow.together)


@pytest.mark.parametrize(
    ("name", "baseline"),
    [
        ("recall@k", None),
        ("recall@k", "b"),
        ("precision@top", "b"),
        ("tpr@fpr", None),
        ("fpr@tpr", "b"),
        ("net_benefit", None),
    ],
)
def test_counts_of_blocks_are_as_good_as_rows(monkeypatch, name, baseline):
    weight = RNG.integers(1, 4, size=N).astype(float)
    arguments = {"at": CURVES[name], "baseline": baseline, "random_state": 0}
    arguments |= {"sample_weight": weight, "weights": "frequency", "conditional": False}
    scores = {x: np.round(s, 1) for x, s in MODELS.items()}
    if name in PROBABILITIES:
        scores = {x: expit(s - 2.0) for x, s in scores.items()}
    fast = curve(name, Y, scores, **arguments)
    monkeypatch.setattr(curve_module.CountedRankers, "of", lambda *_: None)
    slow = curve(name, Y, scores, **arguments)
    same(fast.pointwise, slow.pointwise)
    same(fast.together, slow.together)
    assert fast.pvalues == pytest.approx(slow.pvalues, rel=0.05)


NAMES = ["auc", "ap", "bedroc@5"]


def test_level_is_that_of_the_joint_distribution():
    found = metric_interval(NAMES, Y, A, random_state=0)

    def values(kept):
        return [get_measure(x)(Y[kept], A[kept]) for x in NAMES]

    # Within classes, as the labels are fixed.
    products = np.zeros((3, 3))
    for rows in (np.flatnonzero(Y), np.flatnonzero(~Y)):
        left_out = np.array([values(np.delete(np.arange(N), i)) for i in rows])
        deviations = left_out - left_out.mean(axis=0)
        products += deviations.T @ deviations
    correlation = products / np.sqrt(np.outer(np.diag(products), np.diag(products)))
    expected = oracle.level_of_each(correlation, 0.95)
    assert found.level_of_each == pytest.approx(expected, abs=2e-3)
    assert 0.95 < found.level_of_each < 1 - 0.05 / 3
    same(
        found.together,
        [metric_interval(x, Y, A, level=found.level_of_each) for x in NAMES],
    )


def test_measures_that_skip_other_queries_are_joined_by_query():
    grade = GRADE.copy()
    grade[:30] = 0  # the first three queries have no value of these
    names = ["ndcg@5", "rr(rel>=1)", "recall@5(rel>=2)", "dcg@5"]
    with pytest.warns(UserWarning, match="no "):
        found = metric_interval(names, grade, A, qid=Q, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(found.pointwise, [metric_interval(x, grade, A, qid=Q) for x in names])
    assert found.method == "max-z"
    assert 0.95 < found.level_of_each < 1 - 0.05 / 4


@pytest.mark.parametrize("more", [{}, {"groups": Q}, {"qid": Q}, {"qid": Q, "groups": Q // 2}])
def test_compared_measures_are_those_of_single_calls(more):
    names = ["auc", "ap"] if "qid" not in more else ["ndcg@5", "rr(rel>=1)"]
    y = GRADE if "qid" in more else Y
    found = compare(names, y, MODELS, random_state=0, **more)
    for name, one in zip(names, found.pointwise, strict=True):
        pair = compare(name, y, MODELS, **more)
        limits = pair.estimate, pair.low[0], pair.high[0]
        np.testing.assert_allclose((one.estimate, one.low, one.high), limits, rtol=1e-10)
        assert found[name].pvalues[0] >= pair.pvalue
        assert found[name].band.low < one.low


def test_differences_of_sums_of_draws_are_joint():
    found = compare(["dcg@20", "rbp@0.9"], Y, MODELS, random_state=0)
    assert found.method == "max-z"
    assert 0.95 < found.level_of_each < 0.97
    for name, one in zip(("dcg@20", "rbp@0.9"), found.pointwise, strict=True):
        pair = compare(name, Y, MODELS)
        assert (one.low, one.high) == pytest.approx((pair.low[0], pair.high[0]))
    segment = RNG.choice(["x", "y", "z"], size=N)
    of_top = compare("precision@60", Y, MODELS, by=segment, random_state=0)
    assert of_top.method == "max-z"


def test_rows_that_stand_for_several_are_these():
    weight = RNG.integers(0, 4, size=N)
    names = ["pos@top", "precision@20", "dcg@20", "auc"]
    scores = {x: np.round(s, 1) for x, s in MODELS.items()}
    rows = {x: np.repeat(s, weight) for x, s in scores.items()}
    counted = {"sample_weight": weight.astype(float), "weights": "frequency", "random_state": 0}
    found = metric_interval(names, Y, scores, **counted)
    expected = metric_interval(names, np.repeat(Y, weight), rows, random_state=0)
    same(found.pointwise, expected.pointwise)
    assert found.level_of_each == pytest.approx(expected.level_of_each, abs=1e-4)
    found = compare(names, Y, scores, **counted)
    expected = compare(names, np.repeat(Y, weight), rows, random_state=0)
    same(found.pointwise, expected.pointwise)
    assert found.level_of_each == pytest.approx(expected.level_of_each, abs=1e-4)


def test_measures_without_influence_have_bonferronis_level():
    found = compare(["success@5", "auc"], Y, MODELS, random_state=0)
    assert found.method == "bonferroni"
    assert found.level_of_each == pytest.approx(0.975)
    assert "bonferroni" in str(found)


def test_segments_where_all_rows_are_ranked_together():
    segment = RNG.choice(["x", "y", "z"], size=N)
    for name, expected in (
        ("recall@60", lambda inside: oracle.recall_of_segment(Y, A, 60, inside)),
        ("precision@60", lambda inside: oracle.precision_of_segment(Y, A, 60, inside)),
        ("precision@top0.15", lambda inside: oracle.precision_of_segment(Y, A, 60, inside)),
        ("auc", lambda inside: oracle.auc_of_segment(Y, A, inside)),
    ):
        found = metric_interval(name, Y, A, by=segment, random_state=0)
        for x in "xyz":
            row = found[x]["all rows"].interval
            assert row.estimate == pytest.approx(expected(segment == x))
            assert row.low < row.estimate < row.high
            own = metric_interval(name, Y[segment == x], A[segment == x])
            same(found[x]["own rows"].pointwise, [own])


def test_amounts_of_segments_sum_to_those_of_all():
    amounts, segment = RNG.normal(size=N), RNG.choice(["x", "y", "z"], size=N)
    found = metric_interval("profit@50", amounts, A, by=segment, random_state=0)
    parts = [found[x]["all rows"].interval.estimate for x in "xyz"]
    assert sum(parts) == pytest.approx(get_measure("profit@50")(amounts, A))


def test_no_segment_vanishes():
    segment = np.where(np.arange(N) < 12, "empty", np.where(np.arange(N) < 200, "x", "y"))
    y = Y & (segment != "empty")
    found = metric_interval(["auc", "recall@50"], y, A, by=segment, random_state=0)
    row = found["auc"]["empty"]["own rows"]
    assert np.isnan(row.interval.estimate)
    assert row.notes == ("no positive among 12 rows",)
    assert "no positive among 12 rows" in str(found)
    compared = compare("auc", y, MODELS, by=segment, random_state=0)
    assert len(compared["empty"]) == 2
    assert compared["empty"]["a - b"].conclusions == ("no value", "no value")
    between = compare("auc", y, {"a": A}, by=segment, baseline="x", random_state=0)
    assert between.keys["contrast"][:2] == ("empty - x", "y - x")


def test_categories_without_rows_are_segments_too():
    names = ["small", "large", "none"]
    segment = pd.Categorical(np.where(np.arange(N) < 150, "small", "large"), categories=names)
    found = metric_interval("auc", Y, A, by=segment, random_state=0)["own rows"]
    assert found.keys["segment"] == tuple(names)
    assert found.notes == ("", "", "no rows")
    same(found["small"].pointwise, [metric_interval("auc", Y[:150], A[:150])])


def test_segments_without_variance_are_not_alike():
    segment = RNG.choice(["x", "y", "z"], size=N)
    found = metric_interval("auc", Y, Y + 0.0, by=segment, random_state=0)["own rows"]
    assert found.level_of_each > 0.95 ** (1 / 3)
    for one, both in zip(found.pointwise, found.together, strict=True):
        assert one.estimate == 1.0
        assert both.low < one.low


def test_a_segment_of_one_group_has_no_interval_of_its_own():
    segment, groups = np.arange(N) < 50, np.where(np.arange(N) < 50, 0, Q)
    row = metric_interval("auc", Y, A, by=segment, groups=groups)[True]["own rows"]
    assert row.notes == ("groups has one group only",)


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"groups": np.where(Q < 5, 0, Q)}, "groups has one group only"),
        ({"sample_weight": 1.0 + Q % 3, "weights": "sampling"}, "The 5 queries are worth"),
    ],
)
def test_segments_of_queries_that_a_single_call_refuses(more, note):
    few = Q < 5
    found = metric_interval("ndcg@5", GRADE, A, by=few, qid=Q, random_state=0, **more)
    assert found[True].notes[0].startswith(note)
    with pytest.raises(ValueError, match=note):
        metric_interval("ndcg@5", GRADE[few], A[few], qid=Q[few], **_of(more, few))
    expected = metric_interval("ndcg@5", GRADE[~few], A[~few], qid=Q[~few], **_of(more, ~few))
    same(found[False].pointwise, [expected])


def _of(columns, rows):
    return {x: v if isinstance(v, str) else v[rows] for x, v in columns.items()}


def test_levels_near_one_are_between_bonferronis_and_that_of_one():
    found = metric_interval(NAMES, Y, A, level=1 - 1e-5, random_state=0)
    assert 1e-5 / 3 < 1 - found.level_of_each < 1e-5
    three = compare("auc", Y, MODELS | {"c": A + B}, level=1 - 1e-5, random_state=0)
    alone, of_three = (compare("auc", Y, MODELS, level=1 - x) for x in (1e-5, 1e-5 / 3))
    assert of_three.low <= three["a - b"].low < alone.low


def test_segments_may_be_dates_and_measures_may_repeat():
    days = np.array(["2026-01-01", "2026-01-02"], dtype="M8[ns]")[np.arange(N) % 2]
    found = compare(["auc", "auc"], Y, {"a": A}, by=days, random_state=0)
    once = compare("auc", Y, {"a": A}, by=days, random_state=0)
    assert once.keys["contrast"][0] == "2026-01-01 - 2026-01-02"
    same(found.pointwise, once.pointwise * 2)
    assert compare("auc", Y, {"a": A}, by=pd.Categorical(days), random_state=0) == once


def test_differences_between_segments_are_of_separate_rows():
    segment = np.where(np.arange(N) % 3 == 0, "x", "y")
    found = compare("auc", Y, {"a": A}, by=segment, random_state=0)["own rows"]
    rows = {"x": segment == "x", "y": segment == "y"}
    labels, scores = ({x: v[r] for x, r in rows.items()} for v in (Y, A))
    expected = compare("auc", labels, scores)
    one = found.interval
    limits = expected.estimate, expected.low[0], expected.high[0]
    np.testing.assert_allclose((one.estimate, one.low, one.high), limits, rtol=1e-6)


def test_segments_of_queries():
    segment = np.where(Q < 15, "early", "late")
    found = metric_interval("ndcg@5", GRADE, A, by=segment, qid=Q, random_state=0)
    for x, rows in (("early", Q < 15), ("late", Q >= 15)):
        same(found[x].pointwise, [metric_interval("ndcg@5", GRADE[rows], A[rows], qid=Q[rows])])
    with pytest.raises(ValueError, match="several segments within the query 3"):
        metric_interval("ndcg@5", GRADE, A, by=np.where(np.arange(N) < 35, 1, 2), qid=Q)


def test_conclusions_say_where_a_ranker_is_better():
    y = np.arange(4000) < 400
    rng = np.random.default_rng(0)
    good = rng.normal(size=4000) + 1.5 * y
    bad = good + 2.0 * rng.normal(size=4000)
    found = curve("recall@k", y, {"new": good, "old": bad}, baseline="old", random_state=0)
    ((name, first, last, n, winner),) = found.ranges
    assert (name, winner) == ("new - old", "new")
    inside = [first <= k <= last for k in found.keys["at"]]
    clear = [x.low > 0 for x in found.together]
    assert inside == clear
    assert sum(clear) == n
    text = f"new - old: new better at all {n} places from {first:g} to {last:g}"
    assert found.conclusions == (text,)
    assert text in str(found)


def test_a_curve_is_read_at_any_place():
    found = curve("recall@k", Y, A, at=[10, 50, 100], random_state=0)
    expected = metric_interval("recall@70", Y, A, level=found.level_of_each)
    seen = pickle.loads(pickle.dumps(found)).at(70)
    same([seen], [expected])
    assert seen.level == 0.95
    assert found.at(50) == found[50].band
    with pytest.raises(ValueError, match=r"place=200 is outside of the curve"):
        found.at(200)
    for place in (20.5, "20", None, np.nan):
        with pytest.raises(ValueError, match="must be a whole number: pass one from 10 to 100"):
            found.at(place)


def test_differences_of_labels_in_part_have_the_pvalue_of_a_single_call():
    y = np.where(RNG.random(N) < 0.6, Y, np.nan)
    found = compare(["auc", "ap"], y, MODELS, design="all", random_state=0)
    for x, row in zip(("auc", "ap"), found, strict=True):
        single = compare(x, y, MODELS, design="all", random_state=0)
        same(found[x].pointwise, [single.interval])
        assert found[x].pvalues[0] == pytest.approx(min(2 * single.pvalue, 1))
        assert row["contrast"] == "a - b"


def test_tables_without_values_are_equal_to_themselves():
    y = Y & (np.arange(N) >= 50)
    found = metric_interval("auc", y, A, by=np.arange(N) < 50, random_state=0)
    assert any(found.notes)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert hash(again) == hash(found)


def test_tables():
    found = curve("lift", Y, MODELS, at=[0.1, 0.2], random_state=0)
    frame = found.to_frame()
    columns = ["ranker", "at", "estimate", "low", "high", "band_low", "band_high"]
    assert list(frame.columns)[:7] == columns
    assert (frame.band_low <= frame.low).all()
    assert "<table" in found._repr_html_()
    assert found.to_dict()["keys"]["at"] == [0.1, 0.2, 0.1, 0.2]
    assert found == curve("lift", Y, MODELS, at=[0.2, 0.1], random_state=0)
    assert "a" in found
    assert "c" not in found
    with pytest.raises(KeyError, match="'c' is no entry of this table"):
        found["c"]
    clash = metric_interval("auc", Y, MODELS, by=np.where(Q < 20, "a", "c"), random_state=0)
    with pytest.raises(KeyError, match="'a' is an entry of segment and of ranker"):
        clash["a"]
    with pytest.raises(AttributeError, match="band is of one row"):
        _ = found.band


@for_each(
    ("call", "message"),
    [
        (lambda: curve("recall@k", Y, A, at=[10, 500]), "at has 500, .* from 1 to 400"),
        (lambda: curve("recall@k", Y, A, at=[1.5]), "whole numbers"),
        (lambda: curve("lift", Y, A, at=[5]), "0.05 for 5 %"),
        (lambda: curve("lift", Y, A, at=[0.1, 1]), "0.01 for 1 %"),
        (lambda: curve("lift", Y, A, at=[0.9999]), "covers all of them"),
        (lambda: curve("bedroc", Y, A), "at is missing"),
        (lambda: curve("recall@k", [1], [0.5]), "one class only"),
        (lambda: curve("lift", Y, {"a": A}, baseline="a"), "baseline='a' is for several"),
        (lambda: curve("lift", Y, A, at=[]), "at=\\[\\] must be the places"),
        (lambda: curve("lift", Y, A, at=[np.nan]), "at has nan"),
        (lambda: curve("recall", Y, A), "did you mean 'recall@k' or 'recall@top'"),
        (lambda: curve("auc", Y, A), "is not the name of one measure"),
        (lambda: curve(get_measure("auc"), Y, A), "has no number that could vary"),
        (lambda: curve("ndcg@k", GRADE, A, qid=Q), "at is missing"),
        (lambda: curve("lift", Y, MODELS, baseline="c"), "baseline='c' is not among"),
        (lambda: metric_interval([], Y, A), "empty list"),
        (lambda: metric_interval("recall@k", Y, A), "as 'recall@k', to inference.curve"),
        (lambda: get_measure("recall@10,25"), "as 'recall@10,25,50', to metric_interval"),
        (lambda: metric_interval(["dcg@5", "auc"], GRADE, A), "auc: y_true has 3 classes"),
        (lambda: metric_interval("auc", Y, A, by=[1, 2]), "by has 2 entries for 400 rows"),
        (lambda: metric_interval("auc", Y, A, by=np.ones(N)), "by has one segment only"),
        (lambda: metric_interval("auc", Y, A, by=[1] * 200 + ["x"] * 200), "by mixes"),
        (lambda: metric_interval(["auc"], Y, A, method="delong"), "for one measure"),
        (
            lambda: compare(["auc", "ap"], Y, MODELS, margin=0.1),
            "pass alternative='two-sided' too",
        ),
    ],
)
def test_wrong_input_is_refused(call, message):
    with pytest.raises(ValueError, match=re.compile(message)):
        call()


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="conditional='no' must be True or False"):
        curve("lift", Y, A, at=0.1, conditional="no")
    with pytest.raises(TypeError, match="by is given as well"):
        metric_interval(Accumulator("auc").update(Y, A), by=Q)


def test_neither_side_of_calibration_is_better():
    probability = {"a": expit(A - 2.0), "b": expit(A - 4.0)}
    found = compare("calibration@200", Y, probability)
    assert found.conclusions == ("a greater",)
    assert found.best is None
    found = curve("calibration@k", Y, probability, at=[100, 200], baseline="b", random_state=0)
    assert found.conclusions == ("a - b: a greater at all 2 places from 100 to 200",)
    with pytest.raises(ValueError, match="right at 0"):
        get_scorer("neg_calibration@10")


def test_the_scale_of_sampling_weights_counts_nothing_in_segments():
    segment = np.where(np.arange(N) % 3 == 0, "x", "y")
    weight = RNG.random(N) + 0.2
    found = [
        metric_interval(
            ["auc", "precision@top0.1"],
            Y,
            A,
            by=segment,
            sample_weight=scale * weight,
            weights="sampling",
            random_state=0,
        )
        for scale in (1.0, 1.0 / weight.sum())
    ]
    assert "400 rows of unequal probability" in str(found[0])
    same(found[0].together, found[1].together)


def test_the_print_of_one_contrast_names_it():
    for baseline, contrast in ((None, "a - b"), ("a", "b - a")):
        header = str(compare(["auc", "ap"], Y, MODELS, baseline=baseline)).splitlines()[2]
        assert header.split()[:4] == ["measure", *contrast.split()]
