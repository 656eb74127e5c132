"""Effects of a treatment as amounts, and the influence of rows on sums of amounts by rank."""

from itertools import cycle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold

from sklearn_rank.clicks import click_amounts
from sklearn_rank.inference import compare, metric_interval, sample_size
from sklearn_rank.metrics import effect_amounts, get_measure, get_scorer
from sklearn_rank.model_selection import BoundSearchCV, cross_val_interval
from tests.naming import for_each
from tests.oracles import one_list, uplift

RANKS = ["qini", "auuc", "autoc", "insurance_gini"]


def experiment(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    chance = 1.0 / (1.0 + np.exp(-0.5 * X[:, 0]))
    treated = rng.random(n) < chance
    outcome = X[:, 0] + treated * (0.5 + 0.5 * X[:, 1]) + rng.normal(size=n)
    return X, outcome, treated.astype(int), chance


def test_amounts_are_those_of_the_definition():
    X, y, treated, chance = experiment(50)
    means = np.column_stack([X[:, 0], X[:, 0] + 0.3])
    for propensity in (0.4, chance):
        for expected in (None, X[:, 0], means):
            found = effect_amounts(y, treated, propensity=propensity, expected=expected)
            oracle = uplift.amounts(y, treated, propensity, expected)
            np.testing.assert_allclose(found, oracle, rtol=1e-12)
    share = effect_amounts(y, treated == 1)
    np.testing.assert_array_equal(share, effect_amounts(y, treated, propensity=treated.mean()))
    # With the share treated their mean is the difference of the means of the arms.
    difference = y[treated == 1].mean() - y[treated == 0].mean()
    assert share.mean() == pytest.approx(difference)


def test_the_expectation_is_the_effect_if_either_model_is_right():
    n = 200_000
    X, y, treated, chance = experiment(n)
    effect = 0.5 + 0.5 * X[:, 1]
    right = np.column_stack([X[:, 0], X[:, 0] + effect])
    features = np.column_stack([np.ones(n), X, np.maximum(X, 0.0)])
    errors = []
    for propensity, expected in ((chance, None), (chance, X[:, 1]), (0.3, right), (0.3, None)):
        found = effect_amounts(y, treated, propensity=propensity, expected=expected) - effect
        errors.append(np.abs(features.T @ found / n).max())
    assert max(errors[:3]) < 0.03
    assert errors[3] > 0.1  # neither
    narrow, wide = (
        effect_amounts(y, treated, propensity=chance, expected=e) for e in (right, None)
    )
    assert narrow.std() < 0.9 * wide.std()


@for_each(
    ("change", "message"),
    [
        ({"treatment": [1, 1, 1, 1]}, "treatment is 1 in all 4 rows.*pass the rows of both"),
        ({"treatment": [0, 1, 2, 0]}, "treatment is 2 in row 2, but must be 1 .* and 0"),
        ({"propensity": [0.5, 0.5, 1.0, 0.5]}, r"propensity is 1 in row 2.* in \(0, 1\)"),
        ({"propensity": 0}, r"propensity is 0 in row 0.* in \(0, 1\)"),
        ({"propensity": 1.5}, "propensity is 1.5 in row 0"),
        ({"outcome": [1.0, np.nan, 0.0, 1.0]}, "outcome is nan at row 1: it must be finite"),
        ({"outcome": [1.0, 2.0]}, "treatment has 4 entries, but must have 2"),
        ({"propensity": [0.5, 0.5]}, "propensity has 2 entries, but must have 4"),
        ({"expected": np.ones((4, 3))}, "expected has 3 columns, but must have one, or that"),
        ({"expected": np.ones(3)}, "expected has 3 entries, but must have 4"),
    ],
)
def test_no_experiment_is_refused(change, message):
    rows = {"outcome": [1.0, 2.0, 0.0, 1.0], "treatment": [0, 1, 1, 0]}
    with pytest.raises(ValueError, match=message):
        effect_amounts(**rows | change)


def amounts_of(name, n, seed, *, ties):
    X, y, treated, chance = experiment(n, seed)
    amounts = effect_amounts(y, treated, propensity=chance)
    amounts = np.abs(amounts) if name == "insurance_gini" else amounts
    return amounts, np.round(X[:, 1]) if ties else X[:, 1]


@pytest.mark.parametrize(("name", "ties"), list(zip(RANKS, cycle([True, False]))))
def test_the_influence_is_that_of_leaving_rows_out(name, ties):
    amounts, score = amounts_of(name, 300, 0, ties=ties)
    amounts[np.argmax(score)] *= 8.0  # the first row moves itself least
    measure = get_measure(name)
    found = measure.influence(amounts, score)
    expected = one_list.jackknife(measure, amounts, score)
    expected -= expected.mean()
    assert np.corrcoef(found, expected)[0, 1] > 0.999
    assert found.std() == pytest.approx(expected.std(), rel=0.02)


@pytest.mark.parametrize(("name", "share"), [("qini", 0.5), ("auuc", 1.0), ("autoc", np.exp(-1))])
def test_the_range_is_from_the_worst_order_to_the_best(name, share):
    measure, amounts, places = get_measure(name), np.repeat([3.0, 0.0], 500), np.arange(1000)
    low, high = measure.influence_of(measure.lists(amounts, np.zeros(1000))).range
    assert high == pytest.approx(measure(3.0 * (places < 1000 * share), -places), abs=5e-3)
    assert low == pytest.approx(measure(3.0 * (places >= 1000 * share), -places), abs=5e-3)


@pytest.mark.parametrize(
    ("name", "ties"),
    list(zip([*RANKS, "lorenz@0.1", "uplift@top0.1"], cycle([False, True]))),
)
def test_the_standard_error_is_that_of_the_bootstrap_of_halves(name, ties):
    amounts, score = amounts_of("insurance_gini", 1000, 1, ties=ties)
    error = metric_interval(name, amounts, score).standard_error
    expected = uplift.half_sample_error(get_measure(name), amounts, score, 600, seed=0)
    assert error == pytest.approx(expected, rel=0.1)


def test_two_classes_have_the_auc():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    score, other = np.round(rng.normal(size=300) + y, 1), rng.normal(size=300) + y
    auc = metric_interval("auc", y, score, method="delong")
    for name, factor in (("c_index", 1.0), ("somers_d", 2.0)):
        found = metric_interval(name, y, score)
        assert found.estimate == pytest.approx(1.0 - factor * (1.0 - auc.estimate))
        assert found.standard_error == pytest.approx(factor * auc.standard_error, rel=0.01)
    of_auc, of_c = (compare(x, y, {"a": score, "b": other}) for x in ("auc", "c_index"))
    assert of_c.differences[0] == pytest.approx(of_auc.differences[0])
    labels, qid = rng.normal(size=300), np.arange(300) // 30
    value = get_measure("somers_d")
    each = [value(labels[qid == q], score[qid == q]) for q in range(10)]
    assert value(labels, score, qid=qid) == pytest.approx(np.mean(each))


def test_the_standard_error_of_the_c_index_is_the_deviation_between_lists():
    rng, values, errors = np.random.default_rng(0), [], []
    for _ in range(300):
        labels = np.round(rng.exponential(size=80), 1)
        found = metric_interval("c_index", labels, np.round(labels + rng.normal(size=80), 1))
        values.append(found.estimate)
        errors.append(found.standard_error)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.12)


def test_exposure_is_a_weight_of_claims_per_unit():
    rng = np.random.default_rng(0)
    exposure, claims, score = (
        rng.uniform(0.1, 1.0, 200),
        rng.poisson(1.0, 200),
        rng.normal(size=200),
    )
    order = np.argsort(-score)
    shares = [np.append(0.0, np.cumsum(x[order]) / x.sum()) for x in (exposure, claims)]
    area = np.sum(np.diff(shares[0]) * (shares[1][1:] + shares[1][:-1]) / 2.0)
    gini = get_measure("insurance_gini")
    assert gini(claims / exposure, score, sample_weight=exposure) == pytest.approx(2 * area - 1)
    lorenz = get_measure("lorenz@0.1")(claims / exposure, score, sample_weight=exposure)
    assert lorenz == pytest.approx(np.interp(0.1, *shares))


def test_effects_go_through_every_question():
    X, y, treated, chance = experiment(900)
    amounts = effect_amounts(y, treated, propensity=chance)
    scores, groups = {"good": X[:, 1], "bad": X[:, 0]}, np.arange(900) // 3
    for name in ("uplift@top0.2", "qini", "autoc"):
        found = compare(name, amounts, scores, groups=groups)
        assert found.conclusions == ("good better",)
        plan = sample_size(name, difference=0.2, pilot=(amounts, scores), random_state=0)
        assert plan.n > 100
        folds = cross_val_interval(Ridge(), X, amounts, measure=name, cv=KFold(3))
        assert folds.low < folds.estimate < folds.high
    bought, both = y > 0, np.column_stack([amounts, amounts])
    options = {"measure": "qini", "cv": KFold(3)}
    folds = cross_val_interval(LogisticRegression(), X, bought, params={"value": both}, **options)
    values = []
    for train, test in KFold(3).split(X):
        score = LogisticRegression().fit(X[train], bought[train]).decision_function(X[test])
        values.append(get_measure("qini")(amounts[test], score))
    assert folds.fold_values == pytest.approx(values)
    search = GridSearchCV(Ridge(), {"alpha": [1e-3, 1e7]}, scoring=get_scorer("qini"), cv=KFold(3))
    fitted = search.fit(X, amounts)
    best = BoundSearchCV(Ridge(), {"alpha": [1e-3, 1e7]}, measure="qini", cv=3, random_state=0)
    assert fitted.best_score_ > 0.05
    assert np.isfinite(best.fit(X, amounts).best_score_)


def test_amounts_without_an_answer_are_refused():
    with pytest.raises(ValueError, match="qini is 0 in any order, as all amounts are equal"):
        metric_interval("qini", np.ones(50), np.arange(50.0))
    for name in ("insurance_gini", "lorenz@0.1"):
        with pytest.raises(ValueError, match="undefined: there is no amount above 0; pass rows"):
            metric_interval(name, np.zeros(50), np.arange(50.0))
        with pytest.raises(ValueError, match="at least 0"):
            metric_interval(name, np.arange(50.0) - 1.0, np.arange(50.0))
    with (
        pytest.warns(UserWarning, match=r"pass amounts of effects, effect_amounts\(outcome"),
    ):
        get_measure("autoc")([0, 1, 1], [1.0, 2.0, 3.0])


def test_clicks_over_propensities_are_amounts():
    np.testing.assert_array_equal(click_amounts([1, 0, 1], [0.5, 0.25, 1.0]), [2.0, 0.0, 1.0])
    with pytest.raises(ValueError, match=r"propensity is 0 at row 1, .* in \(0, 1\]"):
        click_amounts([1, 0, 1], [0.5, 0.0, 1.0])
    with pytest.raises(ValueError, match="clicks is 2 in row 1"):
        click_amounts([1, 2, 1], [0.5, 0.5, 1.0])
