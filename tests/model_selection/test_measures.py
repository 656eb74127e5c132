"""Measures of one's own, and of one list, where a name of a measure goes."""

import pickle
from math import log, sqrt

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupShuffleSplit, StratifiedKFold

from sklearn_rank.bounds._shared import mean_limits
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import (
    LocalAUC,
    get_measure,
    local_auc_score,
    make_measure,
)
from sklearn_rank.model_selection import BoundSearchCV, make_bound_scorer
from sklearn_rank.model_selection._guarantees import usual_method
from sklearn_rank.model_selection._held_out import HeldOut
from tests.oracles import means
from tests.oracles import selection as oracle

from .estimators import ONE, Column, queries, rows, shifted

AUC = get_measure("auc")


def gain_of_first(y_true, y_score):
    """Half the grade of the item at the top."""
    return y_true[np.argmax(y_score)] / 2


def wins(y_true, y_score):
    """Share of pairs in order: the AUC, for scores without ties."""
    return np.mean(y_score[y_true == 1][:, None] > y_score[y_true == 0])


def win_influence(y_true, y_score):
    """Share of the other class that each item is in order with."""
    above = y_score[:, None] > y_score
    return np.where(
        y_true == 1, above[:, y_true == 0].mean(axis=1), above[y_true == 1].mean(axis=0)
    )


OWN = make_measure(gain_of_first, kind="graded", range=(0.0, 1.0))
WITHOUT_RANGE = make_measure(gain_of_first, kind="graded")
OF_LIST = make_measure(wins, per_query=False, range=(0.0, 1.0), influence=win_influence)


def of_queries(measure, **arguments):
    return BoundSearchCV(
        Ridge(),
        {"alpha": [1e-3, 1.0, 1e3]},
        measure=measure,
        **{"random_state": 0, "error_score": "raise", **arguments},
    )


# ---------------------------------------------------------------------------- means over queries


@pytest.mark.parametrize("method", ["auto", "hoeffding", "bernstein", "max-t"])
def test_a_search_by_a_measure_of_ones_own(method):
    X, y, qid = queries(40)
    cv = GroupShuffleSplit(1, test_size=0.5, random_state=1)
    found = of_queries(OWN, method=method, cv=cv, refit=False).fit(X, y, groups=qid)
    test = next(cv.split(X, y, groups=qid))[1]
    values = OWN(y[test], found.predict(X[test]), qid=qid[test], average=None)
    assert found.best_score_ == pytest.approx(values.mean())
    n = len(values)
    expected = {
        "auto": lambda: oracle.lower_limit(values.mean(), [n], 0.05 / 3, "kl"),
        "hoeffding": lambda: values.mean() - sqrt(log(3 / 0.05) / (2 * n)),
        "bernstein": lambda: max(0.0, oracle.bernstein_lower(values, 0.05 / 3)),
    }
    if method in expected:
        assert found.best_bound_ == pytest.approx(expected[method](), abs=1e-9)
        assert found.report_.bound.target == (
            "mean gain_of_first - expected gain_of_first of the chosen model"
        )
    else:
        # Between the limit of one candidate and Bonferroni's of three.
        single, each = (
            means.limits_of_mean(values.tolist(), 1 - 2 * d)[0] for d in (0.05, 0.05 / 3)
        )
        assert each <= found.best_bound_ + 1e-3 <= single + 2e-3
    assert found.report_.measure == "gain_of_first"
    assert found.score(X, y, groups=qid) == OWN(y, found.predict(X), qid=qid)


def test_a_measure_without_a_range_has_asymptotic_limits_alone():
    X, y, qid = queries(40)
    with pytest.raises(ValueError, match="method='kl' must be one of 'auto', 'max-t' for"):
        of_queries(WITHOUT_RANGE, method="kl").fit(X, y, groups=qid)
    found = of_queries(WITHOUT_RANGE).fit(X, y, groups=qid)
    assert "Guaranteed: nothing; the following limits are asymptotic, for many queries." in str(
        found.report_
    )
    ranged = of_queries(OWN, method="max-t").fit(X, y, groups=qid)
    assert found.best_score_ == ranged.best_score_
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], ranged.cv_results_["mean_test_score"]
    )
    with pytest.raises(ValueError, match="method='kl' must be one of 't' for 'gain_of_first'"):
        make_bound_scorer(WITHOUT_RANGE)
    scorer = make_bound_scorer(WITHOUT_RANGE, method="t", level=0.9)
    model = Ridge().fit(X, y)
    options = {"qid": qid, "level": 0.8}
    expected = metric_interval(WITHOUT_RANGE, y, model.predict(X), **options).low
    assert scorer(model, X, y, qid=qid) == pytest.approx(expected)


def test_a_scorer_by_a_measure_of_ones_own():
    X, y, qid = queries(40)
    model = Ridge().fit(X, y)
    for method in ("t", "wilson"):
        scorer, options = make_bound_scorer(OWN, method=method, level=0.9), {"qid": qid}
        options |= {"level": 0.8, "method": "t" if method == "t" else "auto"}
        expected = metric_interval(OWN, y, model.predict(X), **options).low
        assert scorer(model, X, y, qid=qid) == pytest.approx(expected, abs=1e-9)
    assert "expected gain_of_first of the model" in scorer.statement
    copy = pickle.loads(pickle.dumps(scorer))
    assert copy.measure == OWN
    assert copy(model, X, y, qid=qid) == scorer(model, X, y, qid=qid)


def negative_gain(y_true, y_score):
    return -gain_of_first(y_true, y_score)


@pytest.mark.parametrize(("method", "cv"), [("kl", None), ("hoeffding", 3), ("max-t", 3)])
def test_a_loss_is_the_negative_of_a_score(method, cv):
    loss = make_measure(negative_gain, kind="graded", range=(-1, 0), greater_is_better=False)
    X, y, qid = queries(40)
    searches = [
        of_queries(measure, method=method, cv=cv).fit(X, y, groups=qid) for measure in (loss, OWN)
    ]
    found, expected = searches
    assert found.best_index_ == expected.best_index_
    assert found.best_score_ == -expected.best_score_
    assert found.best_bound_ == pytest.approx(-expected.best_bound_)
    np.testing.assert_allclose(
        found.cv_results_["upper_bound"], -expected.cv_results_["lower_bound"]
    )
    assert (found.cv_results_["rank_test_score"] == expected.cv_results_["rank_test_score"]).all()
    intervals = [search.report_.interval for search in searches]
    assert intervals[0].low == pytest.approx(-intervals[1].high)
    assert "because its upper limit is the smallest" in str(found.report_)
    if method != "max-t":
        assert found.report_.bound.value == pytest.approx(expected.report_.bound.value)
        observed, of_models = found.report_.bound.target.split(" - ")[::-1]
        assert observed.startswith("mean negative_gain")
        assert of_models.startswith(("expected", "mean expected"))
        model = Ridge().fit(X, y)
        scores = [make_bound_scorer(measure, method=method) for measure in (loss, OWN)]
        limits = [scorer(model, X, y, qid=qid) for scorer in scores]
        assert limits[0] == pytest.approx(limits[1])


def test_the_limit_of_a_loss_is_that_of_its_interval():
    X, y = rows(n_pos=100, n_neg=200)
    model = Column(1).fit(X, y)
    scorer = make_bound_scorer("accuracy_loss@top0.2", method="influence", level=0.95)
    high = metric_interval("accuracy_loss@top0.2", y, X[:, 1], level=0.9).high
    assert scorer(model, X, y) == pytest.approx(-high, abs=0.005)
    assert "minus the expected accuracy_loss@top0.2" in scorer.statement
    found = columns("fpr@tpr0.9", refit=False).fit(X, y)
    values = [
        get_measure("fpr@tpr0.9")(y[test], X[test, found.best_index_])
        for _, test in ONE.split(X, y)
    ]
    assert found.best_score_ == pytest.approx(values[0])
    assert found.best_score_ < found.best_bound_ < found.report_.interval.high <= 1.0
    assert "is at most" in str(found.report_)


def test_measures_without_limits_are_refused():
    graded = make_measure(gain_of_first, kind="graded", per_query=False)
    with pytest.raises(ValueError, match="so folds of one list give no limits: pass"):
        make_bound_scorer(graded)
    with pytest.raises(TypeError, match="pass make_measure"):
        make_bound_scorer(gain_of_first)


# -------------------------------------------------------------------------------------- one list


def columns(measure, **arguments):
    return BoundSearchCV(
        Column(),
        {"j": [0, 1, 2]},
        measure=measure,
        **{"random_state": 0, "cv": ONE, "error_score": "raise", **arguments},
    )


@pytest.mark.parametrize(
    ("measure", "cv"), [(LocalAUC(0.5), ONE), ("pnorm@4", ONE), (OF_LIST, StratifiedKFold(3))]
)
def test_a_measure_of_one_list_has_asymptotic_limits(measure, cv):
    X, y = rows()
    found = columns(measure, method="max-t", cv=cv, refit=False).fit(X, y)
    value = get_measure(measure)
    for j in range(3):
        expected = [value(y[test], X[test, j]) for _, test in cv.split(X, y)]
        assert found.cv_results_["mean_test_score"][j] == pytest.approx(np.mean(expected))
    assert (found.cv_results_["lower_bound"] < found.cv_results_["mean_test_score"]).all()
    assert (found.cv_results_["lower_bound"] > 0.0).all()
    assert found.report_.bound is None
    assert found.report_.interval.low < found.best_score_ < found.report_.interval.high
    assert value.name in found.report_.target


def test_the_auc_by_its_influence_has_nearly_its_limits():
    X, y, _ = shifted(200, 400, (0.8, 1.0), np.random.default_rng(1))
    by_influence = HeldOut(OF_LIST, [y == 1], [list(X.T)])
    by_placements = HeldOut(AUC, [y == 1], [list(X.T)])
    np.testing.assert_allclose(by_influence.means, by_placements.means)
    found, expected = (x.joint.covariance for x in (by_influence, by_placements))
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    tails = np.full(2, 0.025)
    for found, expected in zip(
        by_influence.asymptotic_limits(tails), by_placements.asymptotic_limits(tails), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=0.003)


def test_a_range_that_is_infinite_has_normal_limits():
    X, y, _ = shifted(100, 200, (0.8, 1.0), np.random.default_rng(1))
    free = make_measure(wins, per_query=False, influence=win_influence)
    evidence = HeldOut(free, [y == 1], [list(X.T)])
    low, high = evidence.asymptotic_limits(np.full(2, 0.025))
    error = np.sqrt(np.diag(oracle.auc_covariance(y == 1, list(X.T))))
    np.testing.assert_allclose(evidence.means - low, 1.96 * error, rtol=0.02)
    np.testing.assert_allclose(high + low, 2 * evidence.means)
    perfect = [np.where(y == 1, 1.0, 0.0)]
    with pytest.raises(ValueError, match="wins has no known range and the same influence"):
        HeldOut(free, [y == 1], [perfect]).asymptotic_limits(np.array([0.05]))


def test_a_perfect_order_is_not_certain():
    y = np.repeat([1, 0], [10, 20])
    for measure in ("local_auc@0.5", OF_LIST):
        evidence = HeldOut(get_measure(measure), [y == 1], [[y * 1.0 + np.arange(30) / 100]])
        low, high = evidence.asymptotic_limits(np.array([0.05]))
        assert high[0] == pytest.approx(1.0)
        assert 0.0 <= low[0] < 0.95


def test_a_correlation_of_grades_has_limits_without_ids():
    X, y, _ = queries(40)
    search = BoundSearchCV(
        Ridge(), {"alpha": [0.1, 1e4]}, measure="spearman", refit=False, random_state=0
    )
    report = search.fit(X, y).report_
    assert "spearman of one list on one held-out part" in str(report)
    assert report.counts.endswith("items")
    assert report.interval.low < report.lower < report.value < report.interval.high


@pytest.mark.parametrize("tied", [False, True])
def test_the_precision_at_the_top_has_the_limits_of_its_interval(tied):
    X, y, _ = shifted(40, 160, (0.4, 1.5), np.random.default_rng(3))
    X = np.round(X) if tied else X
    evidence = HeldOut(get_measure("precision@top0.2"), [y == 1], [list(X.T)])
    low, high = evidence.asymptotic_limits(np.array([0.025, 0.05]))
    for one, level in enumerate((0.95, 0.9)):
        expected = metric_interval("precision@top0.2", y, X[:, one], level=level)
        assert (low[one], high[one]) == pytest.approx((expected.low, expected.high), abs=1e-12)
    # Tails of a half and more have no limit beyond the value.
    for limits in evidence.asymptotic_limits(np.array([0.5, 0.9])):
        np.testing.assert_array_equal(limits, evidence.means)


def test_the_mean_precision_at_the_top_of_parts_is_worth_all_their_tops():
    X, y, _ = shifted(40, 160, (0.4, 1.5), np.random.default_rng(3))
    measure, tails = get_measure("precision@top0.2"), np.full(2, 0.05)
    four = (np.tile(y == 1, 4), np.tile(X, (4, 1)))
    large = HeldOut(measure, [four[0]], [list(four[1].T)])
    parts = HeldOut(measure, [y == 1] * 4, [list(X.T)] * 4)
    of_one = HeldOut(measure, [y == 1], [list(X.T)])
    for mean, single, whole in zip(
        *(one.asymptotic_limits(tails) for one in (parts, of_one, large)), strict=True
    ):
        # The share of positives at the threshold is of a narrower neighbourhood in the large one.
        np.testing.assert_allclose(mean, whole, atol=0.02)
        assert (np.abs(mean - parts.means) < np.abs(single - parts.means)).all()


@pytest.mark.parametrize(
    ("n_parts", "n", "method"), [(1, 300, "max-t"), (1, 3000, "dkw"), (10, 300, "max-t")]
)
def test_auto_takes_bands_by_counts_alone(n_parts, n, method):
    rng, y = np.random.default_rng(0), np.arange(n) < n // 10
    for scores in (y * 1.0, np.zeros(n), rng.normal(size=n)):
        evidence = HeldOut(get_measure("local_auc@0.8"), [y] * n_parts, [[scores]] * n_parts)
        assert usual_method(evidence, 0.05, 8) == method


def test_auto_says_nothing_vacuous_of_a_local_auc():
    X, y = rows(n_pos=20, n_neg=80)
    report = columns("local_auc@0.8", refit=False).fit(X, y).report_
    assert report.bound is None
    assert columns("local_auc@0.8", refit=False, method="dkw").fit(X, y).report_.bound is not None


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["local_auc@0.5", OF_LIST])
def test_limits_by_influence_cover(measure):
    # The expected value, of lists with as many positives, is found by simulation.
    measure, n_pos, n_neg = get_measure(measure), 40, 80
    large = [shifted(4000, 8000, [1.0], np.random.default_rng(s)) for s in range(20)]
    truth = np.mean([local_auc_score(y, X[:, 0], u0=0.5) for X, y, _ in large])
    if measure == OF_LIST:
        truth = large[0][2][0]
    missed = []
    for seed in range(600):
        X, y, _ = shifted(n_pos, n_neg, [1.0], np.random.default_rng(1000 + seed))
        evidence = HeldOut(measure, [y == 1], [[X[:, 0]]])
        low, high = evidence.asymptotic_limits(np.array([0.05]))
        missed.append([low[0] > truth, high[0] < truth])
    # Either side .05, binomial standard error .009.
    assert np.mean(missed, axis=0).max() < 0.05 + 0.03
    assert np.mean(missed, axis=0).sum() > 0.04


def test_limits_of_average_precision_are_for_the_population():
    # Scores without information: lists have .138 on average, and the population .1.
    evidence = HeldOut(get_measure("ap"), [np.arange(100) < 10], [[np.zeros(100)]])
    assert evidence.means[0] > 0.13
    assert evidence.asymptotic_limits(np.array([0.4]))[0][0] < 0.1


def test_the_bias_is_that_of_a_list_as_long_as_the_estimate_is_for():
    part = np.arange(100) < 10
    rows = [np.arange(100), np.arange(100, 200)]
    evidence = HeldOut(get_measure("ap"), [part, part], [[np.zeros(100)]] * 2, rows=rows)
    parts, all_rows = (evidence.interval(0.02, None, center) for center in (None, 0.138))
    assert parts.estimate == pytest.approx(0.138, abs=1e-3)
    assert parts.low == pytest.approx(0.1, abs=4e-3)
    assert all_rows.low == pytest.approx(0.119, abs=4e-3)


def test_the_bernstein_limits_are_those_of_maurer_and_pontil():
    """Theorem 4: sqrt(2 V log(2 / delta) / n) + 7 log(2 / delta) / (3 (n - 1)) on either side."""
    n, variance, delta = 20, 0.04, 0.05
    low, high = mean_limits("bernstein", 0.5, n, log(1 / delta), variance)
    half = sqrt(2 * variance * log(2 / delta) / n) + 7 * log(2 / delta) / (3 * (n - 1))
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-12)
