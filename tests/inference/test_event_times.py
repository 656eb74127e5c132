"""AUC(t), Harrell's and Uno's C: beside packages for survival analysis, and by definition."""

import json
from pathlib import Path

import numpy as np
import pytest

from sklearn_rank.inference import LabelDesign, compare, metric_interval
from tests.naming import for_each
from tests.oracles.concordance import concordance

GOLDEN = Path(__file__).parents[1] / "golden" / "survival_analysis.json"
PUBLISHED = json.loads(GOLDEN.read_text(encoding="utf-8"))


def design_of(time, is_event, horizon=None, **more):
    """Rows that entered on day 0 and were watched until the event or until they were censored."""
    resolved = np.where(is_event, time, np.nan)
    return LabelDesign(
        entered=np.zeros(len(time)), resolved=resolved, as_of=time, horizon=horizon, **more
    )


def ask(measure, time, is_event, score, horizon=None, **options):
    design = design_of(time, is_event, horizon)
    return metric_interval(measure, is_event, score, design=design, **options)


@pytest.mark.parametrize("case", PUBLISHED["cases"], ids=lambda case: case["name"])
def test_values_are_those_of_packages_for_survival_analysis(case):
    rows = [np.array(case[name]) for name in ("time", "event", "score")]
    harrell = ask("c_index", *rows).estimate
    assert harrell == pytest.approx(case["harrell"], abs=1e-12)
    assert harrell == pytest.approx(case["harrell_lifelines"], abs=1e-12)
    for name, measure in (("auc", "auc"), ("uno", "c_index")):
        found = [ask(measure, *rows, horizon).estimate for horizon in case["horizons"]]
        np.testing.assert_allclose(found, case[name], rtol=1e-12)


def test_auc_of_a_horizon_has_the_standard_error_that_time_roc_prints():
    case = PUBLISHED["cases"][0]
    rows = np.array([case[name] for name in ("time", "event", "score")])
    for horizon, printed in PUBLISHED["timeROC"].items():
        # There an event at the horizon itself is neither within it nor after it.
        found = ask("auc", *rows[:, rows[0] != float(horizon)], float(horizon))
        assert 100.0 * found.estimate == pytest.approx(printed[0], abs=0.005)
        # It divides by the number of rows of a class, and not by one less, of which 30 are cases.
        assert 100.0 * found.standard_error == pytest.approx(printed[1], rel=0.02)


@pytest.fixture(params=range(3))
def rows(request):
    """Times on whole days, so that events, ends of watching and scores tie."""
    rng = np.random.default_rng(request.param)
    score = rng.integers(0, 12, 45) / 12
    event, end = np.ceil(rng.exponential(20 * np.exp(-score))), rng.integers(1, 30, 45)
    return np.minimum(event, end).astype(float), event <= end, score


def moved(value_of, n, step=1e-4):
    """Derivative of a value in the case weight of each row, by differences."""
    ends = [[value_of(1 + sign * step * row) for sign in (1, -1)] for row in np.eye(n)]
    return np.array([(high - low) / (2 * step) for high, low in ends])


@pytest.mark.parametrize("horizon", [None, 12.0])
def test_the_c_index_and_its_errors_are_those_of_all_pairs(rows, horizon):
    time, is_event, score = rows
    # What comes after the horizon is not looked at.
    end, n, other = horizon or np.inf, len(time), -time % 7
    seen = np.minimum(time, end), is_event & (time <= end)

    def value_of(case_weights, score=score):
        given = {"weighted": horizon is not None, "case_weights": case_weights}
        return concordance(*seen, score, **given)

    found = ask("c_index", *rows, horizon)
    assert found.estimate == pytest.approx(value_of(np.ones(n)), rel=1e-12)
    influence = np.array([moved(value_of, n), moved(lambda w: value_of(w, other), n)])
    scale = np.sqrt(n / (n - 1))
    error = scale * np.sqrt(np.sum(influence[0] ** 2))
    assert found.standard_error == pytest.approx(error, rel=1e-7)
    scores, design = {"a": score, "b": other}, design_of(time, is_event, horizon)
    both = compare("c_index", is_event, scores, design=design)
    assert both.values[0] == found.estimate
    error = scale * np.sqrt(np.sum((influence[0] - influence[1]) ** 2))
    # That of a difference counts half a row at either end where few rows carry it.
    assert 0.999 * error < both.difference_errors[0] < 1.01 * error


def test_without_censoring_it_is_the_c_index_of_times(rows):
    time, _, score = rows
    expected = metric_interval("c_index", -np.minimum(time, 7.5), score)
    watched = LabelDesign(entered=0 * time, resolved=time, as_of=100.0, horizon=7.5)
    found = metric_interval("c_index", np.ones(len(time)), score, design=watched)
    for name in ("estimate", "low", "high", "standard_error"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12)
    assert "Uno's C" in found.target


def test_an_event_at_the_horizon_comes_before_the_rows_that_were_watched_for_it():
    time, is_event = np.array([1.0, 12.0, 12.0, 15.0]), np.array([True, True, False, False])
    score = np.array([1.0, 4.0, 2.0, 3.0])
    for unit, horizon in ((1.0, 12.0), (0.1, 1.2)):  # 12 times .1 is rounded to more than 1.2
        found = ask("c_index", unit * time, is_event, score, horizon)
        assert found.estimate == pytest.approx(2 / 5)


def test_groups_and_segments(rows):
    time, is_event, score = rows
    single = ask("c_index", *rows, 12.0)
    twice = [np.tile(x, 2) for x in rows]
    found = ask("c_index", *twice, 12.0, groups=np.tile(np.arange(len(time)), 2))
    assert found.estimate == pytest.approx(single.estimate, rel=1e-12)
    assert found.standard_error == pytest.approx(single.standard_error, rel=1e-7)
    part = np.arange(len(time)) % 2 == 0
    table = ask("c_index", *rows, by=np.where(part, "a", "b"))
    alone = ask("c_index", time[part], is_event[part], score[part])
    assert table.pointwise[0].estimate == alone.estimate
    assert table.pointwise[0].low == pytest.approx(alone.low, rel=1e-12)


def test_measures_of_the_top_at_a_horizon_are_those_of_weighted_rows(rows):
    time, is_event, score = rows
    value, design = (np.arange(45) + 1.0, -2.0), design_of(time, is_event, 8.0)
    label, weight = design.labels(is_event), design.sample_weight(is_event)
    known = weight > 0
    label, weight, of_known = label[known], weight[known], score[known]
    amount = np.where(label == 1, value[0][known], value[1])
    # Tied rows share the places of their block, and of the top's last block a part counts.
    found = {"precision": 0.0, "profit": 0.0, "ap": 0.0}
    above = positives = 0.0
    for level in sorted(set(of_known), reverse=True):
        tied = of_known == level
        mass, hits = weight[tied].sum(), weight[tied] @ label[tied]
        share = min(max(0.3 * weight.sum() - above, 0.0), mass) / mass
        found["precision"] += share * hits
        found["profit"] += share * (weight[tied] @ amount[tied])
        # Precision at a place within the block, on average.
        place = mass * (np.arange(5000) + 0.5) / 5000
        found["ap"] += hits * np.mean((positives + hits * place / mass) / (above + place))
        above, positives = above + mass, positives + hits
    expected = {
        "precision@top0.3": found["precision"] / (0.3 * weight.sum()),
        "recall@top0.3": found["precision"] / positives,
        "profit@top0.3": found["profit"] / (0.3 * weight.sum()),
        "ap": found["ap"] / positives,
    }
    for name, number in expected.items():
        options = {"value": value} if name.startswith("profit") else {}
        single = ask(name, *rows, 8.0, **options)
        # Average precision is that of rows that stand for whole numbers of items.
        assert single.estimate == pytest.approx(number, rel=1e-3 if name == "ap" else 1e-10)


def test_rows_that_are_watched_until_their_event_tell_no_mature_cohort(rows):
    time, is_event, score = rows
    mature = design_of(time, is_event, 8.0, mature_only=True)
    queries = {"design": design_of(time, is_event, 8.0), "qid": np.arange(len(time)) // 3}
    for ask_of_mature in (
        lambda: mature.sample_weight(is_event),
        lambda: metric_interval("auc", is_event, score, design=mature),
        lambda: metric_interval("auc", is_event, score, **queries),
    ):
        with pytest.raises(ValueError, match="as_of is the time of the event for all rows with"):
            ask_of_mature()


@for_each(
    ("changes", "message"),
    [
        ({"measure": "auc"}, "pass horizon="),
        ({"measure": ["auc", "c_index"], "horizon": 6}, "ask for c_index by itself"),
        ({"strata": [1, 1, 2, 2]}, "strata is not supported by c_index"),
        ({"qid": [1, 1, 2, 2]}, "qid is not supported by c_index"),
        ({"y": [1, 0, 0, 0]}, "Row 1 was resolved without an event"),
        (
            {"resolved": [9.0] + 3 * [np.nan], "y": [1, 0, 0, 0], "as_of": [9.0] + 3 * [2.0]},
            "came",
        ),
        ({"horizon": 30}, "No row was watched for the horizon, which is 30 days"),
        ({"resolved": [np.nan] * 4, "y": [0, 0, 0, 0]}, "No label is known"),
    ],
)
def test_what_has_no_order_of_events_is_refused(changes, message):
    given = {"measure": "c_index", "y": [1, 1, 0, 0], "as_of": [9.0, 9.0, 3.0, 7.0]}
    given |= {"resolved": [2.0, 5.0, np.nan, np.nan], **changes}
    measure, y, qid = given.pop("measure"), given.pop("y"), given.pop("qid", None)
    design = LabelDesign(entered=[0.0] * 4, **given)
    with pytest.raises((TypeError, ValueError), match=message):
        metric_interval(measure, y, [4.0, 3.0, 2.0, 1.0], design=design, qid=qid)
