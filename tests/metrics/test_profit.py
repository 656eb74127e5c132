"""Amounts of rows: what classes and values make of them, their influence, and scorers."""

from functools import partial

import numpy as np
import pytest
import sklearn
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from sklearn_rank.exceptions import ScorerSetupError
from sklearn_rank.inference import compare, metric_interval, sample_size
from sklearn_rank.metrics import (
    get_measure,
    get_scorer,
)
from sklearn_rank.metrics._profit import amounts_of
from sklearn_rank.model_selection import BoundSearchCV, cross_val_compare, cross_val_interval


def rows(seed=0, n=600):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (rng.random(n) < 1 / (1 + np.exp(2 - 2 * X[:, 0]))).astype(int)
    value = np.column_stack([np.exp(3 + rng.normal(size=n)), -rng.random(n)])
    return X, y, value


def test_amounts_are_gains_of_positives_and_costs_of_others():
    y, gain, cost = np.array([1, 0, 1]), [10.0, 20.0, 30.0], [-1.0, -2.0, -3.0]
    assert amounts_of(y, gain).tolist() == [10, 0, 30]
    assert amounts_of(y, (gain, cost)).tolist() == [10, -2, 30]
    assert amounts_of(y, np.column_stack([gain, cost])).tolist() == [10, -2, 30]
    assert amounts_of(y, (7, cost)).tolist() == [7, -2, 7]
    with pytest.warns(UserWarning, match=r"positive cost, .* pass \(19, -1\) if they cost it"):
        assert amounts_of(y, (19, 1)).tolist() == [19, 1, 19]
    named = np.array(["fraud", "ok", "fraud"])
    assert amounts_of(named, (7, -1), pos_label="fraud").tolist() == [7, -1, 7]
    for value, message in (
        ((1, 2, 3), "value has 3 columns"),
        (([1.0, 2.0], 0), "value"),
        (100, r"value=100 must be an amount for each row, or a pair \(gain, cost\)"),
        ({"gain": 1}, "must be an amount for each row"),
        ((np.nan, 0), "value"),
        ([1.0, np.inf, 2.0], "value"),
    ):
        with pytest.raises(ValueError, match=message):
            amounts_of(y, value)
    with pytest.raises(ValueError, match="pos_label"):
        amounts_of(named, (7, -1))


@pytest.mark.parametrize("name", ["profit@900", "profit@top0.1", "value_recall@900"])
def test_the_influence_is_the_derivative_in_the_weight_of_a_row(name):
    """Up to the end of the top, whose amount is a local mean: of linear amounts it is known."""
    n = 9000
    score = -np.arange(n, dtype=float)
    amounts = 5.0 - np.arange(n) / 1500.0
    measure = get_measure(name)
    influence = measure.influence_of(measure.lists(amounts, score))
    assert influence.estimate == pytest.approx(measure(amounts, score))
    assert influence.values.mean() == pytest.approx(influence.estimate, rel=2e-2)
    top, gains = 900.0, np.maximum(amounts, 0.0)

    def value(weight):
        """The value of the population in which rows weigh so much."""
        share = weight / weight.sum()
        used = np.diff(np.minimum(np.cumsum(share), top / n), prepend=0.0)
        if name == "value_recall@900":
            return used @ gains / (share @ gains)
        return used @ amounts * (n if name == "profit@900" else n / top)

    for row in (0, 400, 899, 1500, n - 1):
        moved = np.ones(n)
        moved[row] += 1e-4
        slope = (value(moved) - value(np.ones(n))) / 1e-4 * n
        centred = influence.values[row] - influence.values.mean()
        assert centred == pytest.approx(slope, abs=0.03 * np.ptp(influence.values))


def test_profits_of_equal_amounts_are_those_of_the_precision():
    X, y, _ = rows(1)
    profit = metric_interval("profit@top0.1", np.where(y == 1, 95.0, -5.0), X[:, 0])
    precision = metric_interval("precision@top0.1", y, X[:, 0])
    low, high = (100.0 * x - 5.0 for x in (precision.low, precision.high))
    assert profit.estimate == pytest.approx(100.0 * precision.estimate - 5.0)
    assert (profit.low, profit.high) == pytest.approx((low, high), abs=4.0)


def test_expected_profits_are_covered():
    """The first k of rows in an order that says nothing: the mean amount, k times."""
    covered, n_runs, rng = 0, 300, np.random.default_rng(0)
    for _ in range(n_runs):
        amounts = np.where(rng.random(500) < 0.3, np.exp(3 + rng.normal(size=500)), -5.0)
        interval = metric_interval("profit@50", amounts, rng.normal(size=500))
        covered += interval.low <= 50 * (0.3 * np.exp(3.5) - 0.7 * 5) <= interval.high
    assert covered >= binom.ppf(0.001, n_runs, 0.93)


def test_interval_comparison_search_and_sample_size_of_one_list():
    X, y, value = rows(2)
    amounts, scores = amounts_of(y, value), {"a": X[:, 0], "b": X[:, 1]}
    assert metric_interval("profit@50", amounts, X[:, 0]).low > 0
    assert compare("profit@50", amounts, scores, random_state=0).low[0] > 0
    plan = sample_size("profit@top0.1", difference=5, pilot=(amounts, scores), random_state=0)
    assert plan.n > 100
    grid = {"C": [1e-3, 1.0]}
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("profit@50").set_score_request(value=True)
        search = GridSearchCV(LogisticRegression(), grid, scoring=scorer, cv=KFold(3))
        search.fit(X, y, value=value)
    values, profit = [], get_measure("profit@50")
    for train, test in KFold(3).split(X):
        model = LogisticRegression(**search.best_params_).fit(X[train], y[train])
        values.append(profit(amounts[test], model.decision_function(X[test])))
    assert search.best_score_ == pytest.approx(np.mean(values))


def test_amounts_of_rows_reach_intervals_and_comparisons_and_classes_are_none():
    X, y, value = rows(5)
    scores = {"a": X[:, 0], "b": X[:, 1]}
    named = np.where(y == 1, "fraud", "ok")
    for given in ((100.0, -5.0), value):
        amounts = amounts_of(y, given)
        found = metric_interval("profit@50", named, scores["a"], value=given, pos_label="fraud")
        assert found == metric_interval("profit@50", amounts, scores["a"])
        expected = compare("profit@50", amounts, scores)
        assert compare("profit@50", named, scores, value=given, pos_label="fraud") == expected
        apart = {"value": dict.fromkeys(scores, given), "pos_label": "fraud"}
        found = compare("profit@50", dict.fromkeys(scores, named), scores, **apart)
        assert found == compare("profit@50", dict.fromkeys(scores, amounts), scores)
    for name in ("profit@50", "profit@top0.1"):
        for call in (get_measure(name), partial(metric_interval, name)):
            with pytest.warns(UserWarning, match="is of amounts, for which labels of 0 and 1"):
                call(y, scores["a"])
    get_measure("value_recall@50")(y, scores["a"])
    with pytest.raises(TypeError, match="auc takes no argument 'value'"):
        metric_interval("auc", y, scores["a"], value=(100, -5))
    known, of_days = np.where(X[:, 1] < 1, amounts, np.nan), {"qid": np.arange(len(y)) % 9}
    for labels, given in ((y, {"value": value}), (known, {}), (known, of_days)):
        with pytest.raises(TypeError, match="divide the amount of each row with a label by"):
            metric_interval("profit@5", labels, scores["a"], design="all", **given)


def test_scorers_of_fixed_amounts_of_either_class_and_of_regressors():
    X, y, value = rows(3)
    scorer = get_scorer("profit@50", value=(100.0, -5.0))
    expected = cross_val_score(LogisticRegression(), X, y, scoring=scorer)
    named = np.where(y == 1, "fraud", "ok")
    told = get_scorer("profit@50", value=(100.0, -5.0), pos_label="fraud")
    # Folds are stratified by class, whatever it is called.
    found = cross_val_score(LogisticRegression(), X, named, scoring=told)
    assert found == pytest.approx(expected)
    amounts = amounts_of(y, value)
    model = Ridge().fit(X, amounts)
    of_amounts = get_measure("value_recall@30")(amounts, model.predict(X))
    assert get_scorer("value_recall@30")(model, X, amounts) == of_amounts


def test_a_scorer_without_amounts_and_a_measure_that_has_none_are_refused():
    X, y, value = rows(4)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ScorerSetupError, match=r"pass value=\(gain, cost\) to get_scorer"):
        get_scorer("profit@50")(model, X, y)
    with pytest.raises(TypeError, match="auc takes no argument 'value'"):
        get_scorer("auc", value=(1, 0))
    with pytest.raises(ValueError, match="value"):
        get_scorer("profit@50")(model, X, y, value=value[:10])
    with pytest.raises(ValueError, match="in any order, as all amounts are equal"):
        metric_interval("profit@50", np.ones(100), np.arange(100.0))
    with pytest.raises(ValueError, match="there is no gain"):
        metric_interval("value_recall@50", -np.arange(100.0), np.arange(100.0))


def test_folds_and_searches_by_bound_take_amounts_of_rows():
    X, y, value = rows(5, 1500)
    amounts, model = amounts_of(y, value), LogisticRegression()
    options = {"measure": "profit@top0.1", "cv": KFold(3)}
    found = cross_val_interval(model, X, y, params={"value": value}, **options)
    values = []
    for train, test in KFold(3).split(X):
        score = model.fit(X[train], y[train]).decision_function(X[test])
        values.append(get_measure("profit@top0.1")(amounts[test], score))
    assert found.fold_values == pytest.approx(values)
    both = {"a": model, "b": LogisticRegression(C=1e-4)}
    compared = cross_val_compare(both, X, y, params={"value": value}, **options)
    assert compared.values[0] == pytest.approx(np.mean(values))
    search = BoundSearchCV(model, {"C": [1e-4, 1.0]}, random_state=0, **options)
    best = search.fit(X, y, value=value).best_score_
    with sklearn.config_context(enable_metadata_routing=True):
        routed = sklearn.base.clone(search).fit(X, y, value=value)
        assert routed.best_score_ == best
        assert routed.score(X, y, value=value) == pytest.approx(
            get_measure("profit@top0.1")(amounts, routed.decision_function(X))
        )
    assert search.score(X, y, value=value) == routed.scorer_(routed, X, y, value=value)
    for call in (
        lambda: cross_val_interval(model, X, y, **options),
        lambda: search.fit(X, y),
    ):
        with pytest.raises(ValueError, match="needs the amounts of rows, but y has classes: pass"):
            call()
    # Of regressors the labels are amounts.
    assert np.isfinite(cross_val_interval(Ridge(), X, amounts, **options).estimate)
