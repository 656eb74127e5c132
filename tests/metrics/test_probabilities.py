"""Measures of probabilities: net benefit of a threshold, calibration of the first k."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.inference import compare, metric_interval, sample_size
from sklearn_rank.metrics import Accumulator, get_measure, get_scorer, net_benefit
from sklearn_rank.model_selection import cross_val_interval

from ..oracles import thresholds as oracle


def samples(n=40, size=9, seed=0):
    """Labels of both classes, and probabilities many of which are tied and at the threshold."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        labels = rng.permutation([0, 1, *rng.integers(0, 2, size - 2)]).tolist()
        yield labels, (rng.integers(0, 11, size) / 10).tolist(), rng.integers(0, 10) / 10


@pytest.mark.parametrize("standardized", [False, True])
@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_is_the_definition(prevalence, standardized):
    how = {"prevalence": prevalence, "standardized": standardized}
    for labels, probabilities, threshold in samples():
        expected = oracle.net_benefit(labels, probabilities, threshold, **how)
        found = net_benefit(labels, probabilities, threshold=threshold, **how)
        assert found == pytest.approx(expected, abs=1e-14)
        assert type(found) is float


def test_weight_two_is_the_row_twice():
    rng = np.random.default_rng(0)
    for labels, probabilities, threshold in samples(10):
        weight = rng.integers(0, 4, len(labels))
        weight[[labels.index(0), labels.index(1)]] = 1
        how = {"threshold": threshold, "prevalence": 0.3}
        found = net_benefit(labels, probabilities, sample_weight=weight, **how)
        repeated = np.repeat(labels, weight), np.repeat(probabilities, weight)
        assert found == pytest.approx(net_benefit(*repeated, **how), abs=1e-14)


def test_probabilities_in_float32_reach_the_threshold_that_they_are():
    labels, threshold = [1, 0], 0.7
    narrow = np.array([threshold, 0.1], dtype=np.float32)
    assert float(narrow[0]) < threshold
    assert net_benefit(labels, narrow, threshold=threshold) == 0.5
    # Sums of such are a little more than 1.
    assert net_benefit(labels, np.nextafter(np.float32([1, 0]), 2), threshold=0.5) == 0.5


def test_one_class_has_a_value_where_nothing_is_divided_by_the_other():
    assert net_benefit([0, 0], [0.6, 0.1], threshold=0.5) == -0.5
    assert net_benefit([1, 1], [0.6, 0.1], threshold=0.5, standardized=True) == 0.5
    for labels, how in (
        ([0, 0], {"standardized": True}),
        ([0, 0], {"prevalence": 0.1}),
        ([1, 1], {"prevalence": 0.1}),
    ):
        with pytest.warns(UndefinedMetricWarning, match="items of one class only"):
            assert np.isnan(net_benefit(labels, [0.6, 0.1], threshold=0.5, **how))


def test_queries_have_the_mean_of_their_net_benefits():
    rows = list(samples(5))
    y, p = (np.concatenate(values) for values in zip(*((y, p) for y, p, _ in rows), strict=True))
    found = net_benefit(y, p, threshold=0.4, qid=np.repeat(np.arange(5), 9))
    expected = [oracle.net_benefit(y, p, 0.4) for y, p, _ in rows]
    assert found == pytest.approx(np.mean(expected))


def test_calibration_is_the_definition():
    for labels, probabilities, _ in samples(12, 6):
        for k in (1, 3, 6, 8):
            expected = sum(sorted(probabilities, reverse=True)[:k]) / k
            expected -= min(k, 6) / k * oracle.observed_at_top(labels, probabilities, min(k, 6))
            found = get_measure(f"calibration@{k}")(labels, probabilities)
            assert found == pytest.approx(expected, abs=1e-14)


def test_what_is_no_probability_is_refused():
    y = [1, 0, 1]
    with pytest.raises(ValueError, match=r"y_score is 1\.7 at row 1, .*CalibratedClassifierCV"):
        net_benefit(y, [0.2, 1.7, 0.1], threshold=0.5)
    with pytest.raises(ValueError, match=r"y_score is -inf at row 2"):
        net_benefit(y, [0.2, 0.7, -np.inf], threshold=0.5)
    with pytest.raises(ValueError, match=r"y_score is NaN at row 1"):
        net_benefit(y, [0.2, np.nan, 0.1], threshold=0.5)
    with pytest.raises(ValueError, match=r"predict_proba\(X\)\[:, 1\]"):
        net_benefit(y, np.full((3, 2), 0.5), threshold=0.5)
    for threshold in (1, -0.1, np.nan, "0.5"):
        with pytest.raises(ValueError, match=r"threshold=.* must be a number in \[0, 1\)"):
            net_benefit(y, [0.2, 0.7, 0.1], threshold=threshold)
    with pytest.raises(ValueError, match=r"prevalence=1 must be a number in \(0, 1\)"):
        net_benefit(y, [0.2, 0.7, 0.1], threshold=0.1, prevalence=1)
    with pytest.raises(ValueError, match="must be numeric"):
        metric_interval("net_benefit@0.1", y, ["a", "b", "c"])
    # What counts nothing may be anything.
    assert net_benefit(y, [0.2, 7.0, 0.8], threshold=0.5, sample_weight=[1, 0, 1]) == 0.5


@pytest.mark.parametrize("name", ["net_benefit@0.1", "calibration@10"])
def test_every_door_refuses_what_is_no_probability(name):
    rng = np.random.default_rng(0)
    y, qid = np.arange(60) % 3 == 0, np.arange(60) // 6
    p = rng.random(60)
    bad = np.where(np.arange(60) == 7, 1.5, p)
    lists, queries = Accumulator(name), Accumulator(name)
    doors = {
        "y_score is": (
            lambda: metric_interval(name, y, bad),
            lambda: metric_interval(name, y, bad.tolist(), qid=qid),
            lambda: metric_interval(name, y, bad.astype(object)),
            lambda: lists.update(y, bad),
            lambda: queries.update(y, bad, qid=qid),
            lambda: get_measure(name).influence(y, bad),
            lambda: sample_size(name, pilot=(y, bad), n=100, qid=qid),
        ),
        r"scores\['b'\] is": (
            lambda: compare(name, y, {"a": p, "b": bad}),
            lambda: compare(name, y, {"a": p, "b": bad}, qid=qid),
            lambda: compare(name, {"a": y, "b": y}, {"a": p, "b": bad}),
        ),
    }
    for what, calls in doors.items():
        for call in calls:
            with pytest.raises(ValueError, match=rf"{what} 1\.5 at row 7, but .* of prob"):
                call()


def test_scorers_take_probabilities():
    X, y = load_ionosphere(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    measure = get_measure("net_benefit@0.3")
    expected = measure(y, model.predict_proba(X)[:, 1])
    assert get_scorer(measure)(model, X, y) == expected
    named = LogisticRegression().fit(X, np.where(y == 1, "a", "b"))
    found = get_scorer(measure, pos_label="a")(named, X, np.where(y == 1, "a", "b"))
    assert found == measure(y, named.predict_proba(X)[:, 0])
    grid = GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, scoring=get_scorer(measure))
    assert grid.fit(X, y).best_score_ > y.mean() - (1 - y.mean()) * 3 / 7
    cv = [(np.arange(200), np.arange(200, 351))]
    held_out = cross_val_interval(model, X, y, measure=measure, cv=cv).estimate
    model.fit(X[:200], y[:200])
    assert held_out == measure(y[200:], model.predict_proba(X[200:])[:, 1])
    with pytest.raises(AttributeError, match="LinearSVC has no predict_proba"):
        get_scorer(measure)(LinearSVC().fit(X, y), X, y)


def test_scikit_learn_makes_a_scorer_of_the_function():
    X, y = load_ionosphere(return_X_y=True)
    scorer = make_scorer(net_benefit, response_method="predict_proba", threshold=0.3)
    found = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
    own = get_scorer("net_benefit@0.3")
    assert (found == cross_val_score(LogisticRegression(), X, y, scoring=own, cv=3)).all()
