"""Labels that come late: what is known on a day, and intervals from it."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from sklearn_rank.inference import LabelDesign, compare, curve, metric_interval
from sklearn_rank.model_selection import (
    BoundSearchCV,
    TopThresholdClassifier,
    cross_val_interval,
)
from tests.naming import for_each
from tests.oracles.late_labels import (
    censoring_weights,
    influence,
    net_benefit,
    weighted_auc,
    what_is_known,
)

HORIZON, AS_OF = 10, 20


@pytest.fixture(params=range(2))
def log(request):
    """Rows on whole days, so that entries, events and ends tie, and labels of 0 come early too."""
    rng = np.random.default_rng(request.param)
    n = 90
    entered = rng.integers(0, AS_OF + 1, n).astype(float)
    score = rng.integers(0, 12, n) / 12
    y = (rng.random(n) < 0.2 + 0.6 * score).astype(float)
    resolved = entered + np.where(y == 1, rng.integers(0, 16, n), rng.integers(3, 40, n))
    return pd.DataFrame({"entered": entered, "resolved": resolved, "y": y, "score": score})


def design_of(log, **more):
    times = {"entered": log["entered"], "resolved": log["resolved"]}
    return LabelDesign(**times, horizon=HORIZON, as_of=AS_OF, **more)


def known(log):
    rows = zip(log["entered"], log["resolved"], log["y"], strict=True)
    return list(zip(*(what_is_known(*row, HORIZON, AS_OF) for row in rows), strict=True))


@pytest.mark.parametrize("in_strata", [False, True])
def test_weights_are_the_inverse_probability_of_being_watched(log, in_strata):
    labels, _, days = known(log)
    strata = log["score"] > 0.5 if in_strata else np.zeros(len(log))
    design = design_of(log, strata=strata if in_strata else None)
    expected = censoring_weights(labels, days, list(strata))
    found = design.sample_weight(log["y"])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # Where rows are watched for the horizon, the labels that are known stand for all rows.
    assert found.sum() == pytest.approx(len(log))
    np.testing.assert_array_equal(
        design.labels(log["y"]), [np.nan if label is None else label for label in labels]
    )


@pytest.mark.parametrize("measure", ["auc", "net_benefit@0.4"])
def test_values_are_those_of_weighted_rows_and_errors_have_that_of_the_weights(log, measure):
    labels, _, days = known(log)
    strata, y, score = log["score"] > 0.5, log["y"], log["score"]
    design = design_of(log, strata=strata)

    def value_of(weights):
        if measure == "auc":
            return weighted_auc(labels, score, weights)
        return net_benefit(labels, score, weights, 0.4)

    found = metric_interval(measure, y, score, design=design)
    weights = censoring_weights(labels, days, list(strata))
    assert found.estimate == pytest.approx(value_of(weights), rel=1e-12)
    moved = influence(value_of, labels, days, list(strata))
    # The squares are those of deviations from the means of classes, of 9 positives and more.
    error, rel = np.sqrt(np.sum(moved**2)), 0.06 if measure == "auc" else 0.02
    assert found.standard_error == pytest.approx(error, rel=rel)
    rows = weights > 0
    as_if_known = metric_interval(
        measure,
        design.labels(y)[rows],
        score[rows],
        sample_weight=weights[rows],
        weights="sampling",
    )
    assert as_if_known.estimate == pytest.approx(found.estimate, rel=1e-12)
    assert measure == "auc" or as_if_known.standard_error > 1.02 * found.standard_error


def test_all_questions_read_the_design_alike(log):
    design, y = design_of(log), log["y"]
    scores = {"a": log["score"], "b": -log["entered"]}
    names = ["auc", "precision@top0.3"]
    singles = [metric_interval(name, y, scores["a"], design=design) for name in names]
    table = metric_interval(names, y, scores["a"], design=design)
    assert [x.estimate for x in table.pointwise] == [x.estimate for x in singles]
    np.testing.assert_allclose([x.low for x in table.pointwise], [x.low for x in singles])
    both = compare(names[0], y, scores, design=design)
    assert both.values[0] == singles[0].estimate
    of_shares = curve("precision@top", y, scores["a"], at=[0.2, 0.3], design=design)
    assert of_shares.pointwise[1].low == pytest.approx(singles[1].low)
    for found in (singles[0], table, both, of_shares):
        n_open = [label is None for label in known(log)[0]].count(True)
        assert f"{n_open} open; weighted by the inverse probability of cens" in found.target


def test_what_comes_after_the_day_is_not_known(log):
    later = log["resolved"] > AS_OF
    changed = log.assign(y=np.where(later, 1 - log["y"], log["y"]))
    changed["resolved"] += later
    asked = [
        metric_interval("auc", x["y"], x["score"], design=design_of(x)) for x in (log, changed)
    ]
    assert asked[0] == asked[1]


def test_the_mature_cohort_ignores_labels_that_are_known_early(log):
    mature = AS_OF - log["entered"] >= HORIZON
    design = design_of(log, mature_only=True)
    found = metric_interval("auc", log["y"], log["score"], design=design)
    labels = [label for label, is_mature in zip(known(log)[0], mature, strict=True) if is_mature]
    expected = metric_interval("auc", labels, log["score"][mature])
    assert replace(found, target="") == replace(expected, target="")
    assert "mature rows only" in found.target
    weights = design.sample_weight(log["y"])
    np.testing.assert_array_equal(weights, mature.astype(float))


def test_labels_that_are_all_known_are_those_of_one_list(log):
    all_known = replace(design_of(log), as_of=100)
    found = metric_interval("ap", log["y"], log["score"], design=all_known)
    labels = log["y"] * (log["resolved"] - log["entered"] <= HORIZON)
    expected = metric_interval("ap", labels, log["score"])
    assert replace(found, target="") == replace(expected, target="")


def test_a_horizon_that_no_row_reached_leaves_bounds(log):
    design = replace(design_of(log), horizon=AS_OF + 1)
    with pytest.warns(UserWarning, match=f"watched for the horizon of {AS_OF + 1} days, but for "):
        found = metric_interval("auc", log["y"], log["score"], design=design)
    is_known = log["resolved"] <= AS_OF
    pool = LabelDesign(pool=is_known)
    labels = np.where(is_known, log["y"], np.nan)
    expected = metric_interval("auc", labels, log["score"], design=pool)
    assert replace(found, target="") == replace(expected, target="")
    assert found.method == "bounds"


def test_queries_count_when_all_of_their_rows_are_mature(log):
    by_day = {"qid": log["entered"], "design": design_of(log)}
    found = metric_interval("precision@2", log["y"], log["score"], **by_day)
    mature = AS_OF - log["entered"] >= HORIZON
    labels = np.array([label or 0 for label in known(log)[0]])
    expected = metric_interval(
        "precision@2", labels[mature], log["score"][mature], qid=log["entered"][mature]
    )
    assert replace(found, target="") == replace(expected, target="")
    n_days, n_mature = log["entered"].nunique(), log["entered"][mature].nunique()
    assert f"{n_mature} of {n_days} queries are mature" in found.target


def test_the_probability_of_a_review_multiplies_that_of_being_watched(log):
    rng = np.random.default_rng(0)
    probability = np.where(log["score"] > 0.5, 0.9, 0.6)
    pool = rng.random(len(log)) < probability
    rows = log[pool]
    design = design_of(log, pool=pool, inclusion_probability=probability)
    y, resolved = log["y"].where(pool), log["resolved"].where(pool)
    design = replace(design, resolved=resolved)
    labels, _, days = known(rows)
    expected = censoring_weights(labels, days, np.zeros(len(rows))) / probability[pool]
    np.testing.assert_allclose(design.sample_weight(y)[pool], expected, rtol=1e-12)
    assert not design.sample_weight(y)[~pool].any()
    mature = replace(design, mature_only=True)
    found = metric_interval("auc", y, log["score"], design=mature)
    old = AS_OF - log["entered"] >= HORIZON
    now = LabelDesign(inclusion_probability=probability[old])
    labels = np.where(pool, design.labels(y), np.nan)[old]
    expected = metric_interval("auc", labels, log["score"][old], design=now)
    assert replace(found, target="") == replace(expected, target="")


@pytest.mark.parametrize("way", ["review", "strata"])
def test_a_review_or_a_sample_by_strata_multiplies_it_too(log, way):
    score, rng = log["score"].to_numpy() + np.arange(len(log)) / 1e4, np.random.default_rng(1)
    top = np.argsort(np.argsort(-score)) < 30
    pool, high = top.copy(), score > np.median(score)
    if way == "review":
        pool[rng.choice(np.flatnonzero(~top), 20, replace=False)] = True
        chosen = {"review_top": 30, "audit": 20, "scores": score}
        probability, strata = np.where(top, 1.0, 20 / (~top).sum()), np.zeros(len(log))
    else:
        pool = (rng.random(len(log)) < np.where(high, 0.8, 0.5)) | (np.arange(len(log)) < 2)
        chosen = {"strata": high}
        shares = {x: pool[high == x].mean() for x in (True, False)}
        probability, strata = np.array([shares[x] for x in high.tolist()]), high
    rows = log[pool]
    design = design_of(log, pool=pool, **chosen)
    design = replace(design, resolved=log["resolved"].where(pool))
    labels, _, days = known(rows)
    expected = censoring_weights(labels, days, list(strata[pool])) / probability[pool]
    found = design.sample_weight(log["y"].where(pool))
    np.testing.assert_allclose(found[pool], expected, rtol=1e-12)
    assert not found[~pool].any()


def test_groups_may_depend_in_entries_and_in_labels(log):
    users = np.arange(len(log)) // 2
    single = metric_interval("auc", log["y"], log["score"], design=design_of(log))
    twice = pd.concat([log, log])
    ids = np.tile(np.arange(len(log)), 2)
    doubled = metric_interval(
        "auc", twice["y"], twice["score"], design=design_of(twice), groups=ids
    )
    assert doubled.estimate == pytest.approx(single.estimate)
    assert doubled.standard_error == pytest.approx(single.standard_error, rel=0.01)
    grouped = metric_interval("auc", log["y"], log["score"], design=design_of(log), groups=users)
    assert grouped.standard_error != single.standard_error


def test_times_may_be_dates(log):
    as_dates = log.assign(
        entered=pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(log["entered"], "D"),
        resolved=pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(log["resolved"], "D"),
    )
    first = metric_interval("auc", log["y"], log["score"], design=design_of(log))
    of_dates = LabelDesign(
        entered=as_dates["entered"],
        resolved=as_dates["resolved"],
        horizon=pd.Timedelta(HORIZON, "D"),
        as_of=pd.Timestamp("2024-01-21", tz="UTC"),
    )
    assert metric_interval("auc", log["y"], log["score"], design=of_dates) == first


def test_amounts_are_those_of_labels_within_the_horizon(log):
    value = (np.arange(len(log)) + 1.0, -2.0)
    asked = {"value": value, "design": design_of(log)}
    found = metric_interval("profit@top0.3", log["y"], log["score"], **asked)
    weights, labels = design_of(log).sample_weight(log["y"]), design_of(log).labels(log["y"])
    amounts = np.where(labels == 1, value[0], value[1])
    order = np.lexsort((-amounts, -log["score"]))
    # The mean amount of the first 30 % of the weight, those of tied scores alike.
    left, total = 0.3 * weights.sum(), 0.0
    for score in np.unique(log["score"])[::-1]:
        tied = (log["score"] == score) & (weights > 0)
        mass = min(left, weights[tied].sum())
        if mass > 0:
            total += mass * np.average(amounts[tied], weights=weights[tied])
            left -= mass
    assert found.estimate == pytest.approx(total / (0.3 * weights.sum()), rel=1e-3)
    assert len(order) == len(log)


def test_an_event_at_the_horizon_counts_whatever_the_rounding_of_the_sum():
    entered = np.arange(50) / 10 + 0.05
    design = LabelDesign(entered=entered, resolved=entered + 2.3, horizon=2.3, as_of=9)
    assert design.labels(np.ones(50)).all()
    last = LabelDesign(entered=entered, horizon=2.3, as_of=entered + 2.3)
    assert not np.isnan(last.labels(np.zeros(50))).any()
    assert ((entered + 2.3) - entered > 2.3).any()
    assert ((entered + 2.3) - entered < 2.3).any()


@for_each(
    ("changes", "message"),
    [
        ({"resolved": [-1.0, 9.0, np.nan]}, "Row 0 was resolved before it entered"),
        ({"entered": [0.0, 1.0, 40.0]}, "Row 2 entered after as_of"),
        ({"y": [1, np.nan, 0]}, "Row 1 was resolved, but y_true has no label for it"),
        ({"y": [1, 0, 1]}, "Row 2 is positive, but has no time at which that became known"),
        ({"resolved": [5.0]}, "resolved has 1 entries for 3 labels"),
        ({"horizon": 0}, "horizon=0 must be a finite number greater than 0"),
        (
            {"horizon": 90, "resolved": [np.nan] * 3, "y": [0, 0, 0]},
            "No label is known: the horizon is 90 days, and rows were watched for 20 at most",
        ),
        ({"as_of": "2024-01-01"}, "entered holds numbers, but as_of holds times"),
        ({"y": ["fraud", "ok", None]}, "pos_label is not specified"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    given = {"entered": [0.0, 1.0, 2.0], "resolved": [5.0, 9.0, np.nan], "y": [1, 0, 0]}
    given |= {"horizon": 6, "as_of": 20, **changes}
    y = given.pop("y")
    with pytest.raises(ValueError, match=message):
        metric_interval("auc", y, [3.0, 2.0, 1.0], design=LabelDesign(**given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strata": [1, 2], "horizon": 3}, "horizon belongs to entered="),
        ({"entered": [1, 2], "horizon": 3, "proxy": [0, 1]}, "proxy is not supported"),
        (
            {"entered": [1, 2], "horizon": 3, "inclusion_probability": [0.5, 0.5]},
            "pass one way in which rows were chosen for labels, and as pool=",
        ),
    ],
    ids=str,
)
def test_arguments_that_do_not_go_together_are_refused(given, message):
    with pytest.raises(TypeError, match=message):
        LabelDesign(**given)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"y_score": "too long"}, "scores has 91 rows for 90 labels"),
        ({"y_score": {"a": "too long"}}, r"scores\['a'\] has 91 rows for 90 labels"),
        ({"by": np.zeros(89)}, "by has 89 rows for 90 labels"),
        ({"value": [10, -1]}, "value has 2 rows for 90 labels"),
        ({"value": (np.ones(91), -1.0)}, "value has 91 rows for 90 labels"),
        ({"y_score": "lacks one"}, "scores is missing at row 89: pass it"),
        ({"weights": "sampling"}, "leave sample_weight and weights out"),
        ({"measure": "precision@5"}, "come late, and the design with mature_only=True has none"),
        ({"method": "bootstrap"}, "come late, and the design with mature_only=True has none"),
        (
            {"horizon": 21, "value": (1, -1)},
            r"value is for labels .* known, but \d+ are",
        ),
        ({"horizon": 21, "by": np.zeros(90)}, "a later as_of or a shorter horizon, or leave by"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_columns_that_are_not_of_the_rows_are_refused(log, asked, message):
    score = log["score"].to_numpy()
    wrong = {"too long": np.append(score, 1.0), "lacks one": np.append(score[:-1], np.nan)}
    asked = {"measure": "profit@top0.3" if "value" in asked else "auc", "y_score": score, **asked}
    if isinstance(asked["y_score"], dict):
        asked["y_score"] = {"a": wrong["too long"]}
    elif isinstance(asked["y_score"], str):
        asked["y_score"] = wrong[asked["y_score"]]
    design = replace(design_of(log), horizon=asked.pop("horizon", HORIZON))
    with pytest.raises(ValueError, match=message):
        metric_interval(y_true=log["y"], design=design, **asked)


def test_the_amounts_of_open_rows_need_not_be_known(log):
    is_open = np.array([label is None for label in known(log)[0]])
    amount, found = np.arange(1.0, len(log) + 1), []
    for _ in range(2):
        value = (amount, -1.0)
        found.append(
            metric_interval(
                "profit@top0.3", log["y"], log["score"], value=value, design=design_of(log)
            )
        )
        amount[is_open] = np.nan
    assert found[0] == found[1]


def test_labels_may_be_words(log):
    words, numbers = np.where(log["y"] == 1, "fraud", "fine"), log["y"].to_numpy()
    design, X, given = design_of(log), log[["score"]], ((words, "fraud"), (numbers, None))
    found, expected = ((design.labels(y, pos_label=x)) for y, x in given)
    np.testing.assert_array_equal(found, expected, strict=True)
    found, expected = (design.sample_weight(y, pos_label=x) for y, x in given)
    np.testing.assert_array_equal(found, expected)
    options = {"measure": "auc", "design": design}
    found, expected = (
        cross_val_interval(LogisticRegression(), X, y, pos_label=x, **options) for y, x in given
    )
    assert found.estimate == expected.estimate


def test_times_that_are_yet_to_come_do_not_say_when_we_look(log):
    start = np.datetime64("2024-01-01")
    dates = {x: start + log[x].to_numpy().astype("m8[D]") for x in ("entered", "resolved")}
    told = log["resolved"].to_numpy() <= AS_OF
    dates["resolved"] = np.where(told, dates["resolved"], np.datetime64("9999-12-31"))
    design = LabelDesign(**dates, horizon=HORIZON)
    with pytest.raises(ValueError, match=r"9999-12-31T.* is yet to come: pass as_of"):
        design.labels(log["y"])
    expected = design_of(log).labels(log["y"])
    found = replace(design, as_of=start + AS_OF).labels(log["y"])
    np.testing.assert_array_equal(found, expected)
    numbers = replace(design_of(log), resolved=np.where(told, log["resolved"], np.inf))
    np.testing.assert_array_equal(numbers.labels(log["y"]), expected)
    with pytest.raises(ValueError, match="inf, which is yet to come"):
        replace(numbers, as_of=None).labels(log["y"])


@pytest.mark.parametrize("words", [False, True])
def test_promises_and_searches_take_the_mature_rows(words):
    rng = np.random.default_rng(0)
    X, entered = rng.normal(size=(900, 2)), rng.integers(0, 60, 900).astype(float)
    event = rng.random(900) < 1 / (1 + np.exp(1 - X[:, 0]))
    resolved = np.where(event, entered + rng.integers(0, 20, 900), np.nan)
    y = np.where(event, "fraud", "ok") if words else event.astype(int)
    pos_label = {"pos_label": "fraud"} if words else {}
    groups, value = np.arange(900) // 2, (rng.exponential(9, 900), np.full(900, -1.0))
    design = LabelDesign(entered=entered, resolved=resolved, horizon=14, as_of=60)
    mature = entered <= 46
    labels = (event & (resolved - entered <= 14))[mature]
    labels = np.where(labels, "fraud", "ok") if words else labels.astype(int)
    model = LogisticRegression()
    promise = {"min_precision": 0.3, "cv": 3, "random_state": 0, **pos_label}
    found = TopThresholdClassifier(model, **promise).fit(X, y, design=design, groups=groups)
    expected = TopThresholdClassifier(model, **promise)
    expected.fit(X[mature], labels, groups=groups[mature])
    assert str(found.report_) == str(expected.report_)
    of_value = TopThresholdClassifier(model, min_value=0.0, cv=3, random_state=0, **pos_label)
    by_hand = clone(of_value).fit(X[mature], labels, value=tuple(x[mature] for x in value))
    of_value.fit(X, y, value=value, design=design)
    assert str(of_value.report_) == str(by_hand.report_)
    search = BoundSearchCV(model, {"C": [0.1, 1.0]}, cv=2, random_state=0, **pos_label)
    of_hand = clone(search).fit(X[mature], labels)
    assert search.fit(X, y, design=design).best_bound_ == of_hand.best_bound_
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        found.fit(pd.DataFrame(X), pd.Series(y, index=np.arange(900)[::-1]), design=design)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        found.fit(X[1:], y, design=design)
    parts = [(np.arange(400), np.arange(400, 900))]
    with pytest.raises(ValueError, match="cv has numbers of rows, of which design takes some"):
        search.set_params(cv=parts).fit(X, y, design=design)


def test_days_that_look_dependent_are_a_warning_where_rows_count_as_independent():
    rng = np.random.default_rng(0)
    day = np.repeat(np.arange(70), 40)
    score = rng.normal(size=len(day))
    dates = np.datetime64("2024-01-01") + day
    for storms, warns in ((0.0, False), (2.0, True)):
        y = rng.random(len(day)) < 1 / (1 + np.exp(2 - score - storms * np.sin(day / 5)))
        resolved = np.where(y, dates + rng.integers(0, 7, len(day)), np.datetime64("NaT"))
        times = {"entered": dates, "resolved": resolved, "horizon": 7}
        design, messages = LabelDesign(**times, as_of=dates[-1]), []
        for columns in ({}, {"groups": dates}, {"qid": dates}):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                metric_interval("precision@top0.2", y, score, design=design, **columns)
            messages.append([str(x.message) for x in caught])
        assert [len(x) for x in messages] == [warns, 0, 0]
        if warns:
            # Those of the last week are known because of what they are.
            assert "Labels of 63 days of entry are correlated" in messages[0][0]
