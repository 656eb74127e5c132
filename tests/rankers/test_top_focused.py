"""TopFocusedRanker: its rounds by definition, what it fits, what it refuses."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from sklearn_rank import AccuracyAtTopRanker, TopFocusedRanker
from sklearn_rank.exceptions import PositiveClassWarning
from sklearn_rank.metrics import (
    Cauchy,
    Exponential,
    TopDCG,
    average_precision_score,
    get_measure,
)
from tests.oracles import second_look

BASE = LogisticRegression(tol=1e-10, max_iter=1000)


def data(n=80, seed=0):
    return make_classification(
        n, n_features=5, n_informative=3, weights=[0.6], class_sep=0.8, random_state=seed
    )


def cauchy(width):
    return lambda share: 1 / (1 + (share / width) ** 2)


def expected_rounds(X, y, weight, width=0.25, floor=0.02, n_rounds=2):
    return second_look.rounds(
        lambda X, y, weight: clone(BASE).fit(X, y, sample_weight=weight),
        lambda model, X: model.decision_function(X),
        X,
        y,
        weight,
        cauchy(width),
        floor,
        n_rounds,
    )


@pytest.mark.parametrize(
    "setting",
    [{}, {"focus": 0.1, "floor": 0.3}, {"n_rounds": 1}, {"n_rounds": 4, "focus": 2.0}],
    ids=str,
)
def test_rounds_by_definition(setting):
    X, y = data()
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    fitted = TopFocusedRanker(BASE, **setting).fit(X, y, weight)
    named = {"width": setting.get("focus", 0.25), **setting}
    named.pop("focus", None)
    models = expected_rounds(X, y, weight, **named)
    assert len(fitted.rounds_) == len(models) - 1
    for ours, theirs in zip([fitted.pilot_, *fitted.rounds_], models, strict=True):
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    new, _ = data(50, seed=1)
    total = sum(
        second_look.standard(model.decision_function(new), model.decision_function(X), weight)
        for model in (models[0], models[-1])
    )
    # The decision values are the sum of standard scores but for a factor and a constant.
    found = fitted.decision_function(new)
    slope, constant = np.polyfit(total, found, 1)
    assert slope > 0
    np.testing.assert_allclose(found, slope * total + constant, atol=1e-5)
    last = TopFocusedRanker(BASE, combine="last", **setting).fit(X, y, weight)
    np.testing.assert_allclose(
        last.decision_function(new), models[-1].decision_function(new), atol=1e-5
    )
    np.testing.assert_allclose(last.predict_proba(new), models[-1].predict_proba(new), atol=1e-6)


def test_out_of_fold_ranks_by_definition():
    X, y = data()
    folds = StratifiedKFold(4)
    fitted = TopFocusedRanker(BASE, pilot_ranks="out_of_fold", cv=folds, n_rounds=1).fit(X, y)
    held_out = cross_val_predict(BASE, X, y, cv=folds, method="decision_function")
    weight = second_look.weights(held_out, np.ones(len(y)), cauchy(0.25), 0.02)
    expected = clone(BASE).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(fitted.rounds_[0].coef_, expected.coef_, atol=1e-6)


def test_ranks_of_training_rows_for_linear_models_and_out_of_fold_for_others():
    X, y = data()

    def same(base):
        """Whether the default is that of ranks of training rows, and of ranks out of fold."""
        one, *others = (
            TopFocusedRanker(base, **settings).fit(X, y).decision_function(X)
            for settings in ({}, {"pilot_ranks": "training"}, {"pilot_ranks": "out_of_fold"})
        )
        return [np.array_equal(one, other) for other in others]

    search = GridSearchCV(BASE, {"C": [1.0]}, cv=2)
    for linear in (BASE, make_pipeline(StandardScaler(), search)):
        assert same(linear) == [True, False]
    forest = RandomForestClassifier(4, max_depth=5, random_state=0)
    assert same(forest) == [False, True]


def test_tied_scores_share_their_place():
    X = np.repeat([[0.0], [1.0], [2.0]], [30, 20, 10], axis=0)
    y = np.r_[np.arange(30) % 5 == 0, np.arange(20) % 2, np.arange(10) % 5 != 0].astype(int)
    fitted = TopFocusedRanker(BASE, n_rounds=1).fit(X, y)
    places = np.repeat([(10 + 20 + 15) / 60, (10 + 10) / 60, 5 / 60], [30, 20, 10])
    rate = np.array([cauchy(0.25)(place) for place in places])
    weight = np.maximum(0.02, rate / rate.max())
    expected = clone(BASE).fit(X, y, sample_weight=weight * 60 / weight.sum())
    np.testing.assert_allclose(fitted.rounds_[0].coef_, expected.coef_, atol=1e-7)


def test_focus_takes_functions_of_ranks():
    X, y = data()
    one = TopFocusedRanker(BASE, focus=0.1).fit(X, y)
    two = TopFocusedRanker(BASE, focus=Cauchy(0.1)).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    steep = TopFocusedRanker(BASE, focus=Exponential(10.0), n_rounds=1).fit(X, y)
    scores = clone(BASE).fit(X, y).decision_function(X)
    weight = second_look.weights(scores, np.ones(80), lambda share: np.exp(-10 * share), 0.02)
    expected = clone(BASE).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(steep.rounds_[0].coef_, expected.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="has no derivative"):
        TopFocusedRanker(BASE, focus=TopDCG(5)).fit(X, y)


@pytest.mark.parametrize(("tau", "width"), [(0.05, 0.25), (0.1, 0.4)])
def test_the_default_focus_follows_the_top(tau, width):
    assert TopFocusedRanker(BASE, tau=tau).fit(*data()).focus_ == Cauchy(width)


def test_a_floor_of_one_is_the_classifier_itself():
    X, y = data()
    fitted = TopFocusedRanker(BASE, floor=1.0).fit(X, y)
    plain = clone(BASE).fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X), plain.decision_function(X))
    np.testing.assert_allclose(fitted.predict_proba(X), plain.predict_proba(X))


def test_weights_are_repetitions_and_rows_of_weight_zero_are_absent():
    X, y = data()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    one = TopFocusedRanker(BASE).fit(X, y, weight)
    two = TopFocusedRanker(BASE).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-9)
    assert one.top_threshold_ == pytest.approx(two.top_threshold_)


@pytest.mark.parametrize(
    ("labels", "combine"),
    [(("fraud", "ok"), "sum"), ((0, 1), "last"), ((3.0, 7.0), "choose")],
)
def test_the_first_class_may_be_the_positive_one(labels, combine):
    X, y = data()
    named = np.array(labels)[y]
    ranker = TopFocusedRanker(BASE, tau=0.2, combine=combine, cv=3)
    fitted = clone(ranker).set_params(pos_label=labels[0]).fit(X, named)
    mirrored = clone(ranker).fit(X, 1 - y)
    decision = fitted.decision_function(X)
    np.testing.assert_allclose(decision, -mirrored.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(
        fitted.predict_proba(X), mirrored.predict_proba(X)[:, ::-1], atol=1e-6
    )
    np.testing.assert_array_equal(fitted.predict(X) == labels[1], decision > 0)
    assert np.count_nonzero(decision < fitted.top_threshold_) == 16
    assert fitted.score(X, named) == average_precision_score(1 - y, -decision)


def test_an_estimator_that_knows_the_positive_class_is_asked():
    X, y = data()
    named = np.array(["fraud", "ok"])[y]
    inner = AccuracyAtTopRanker(tau=0.2, pos_label="fraud")
    assert TopFocusedRanker(inner, tau=0.2).fit(X, named).pos_label_ == "fraud"
    with pytest.warns(
        PositiveClassWarning, match="TopFocusedRanker treats 'ok' as the positive class"
    ):
        TopFocusedRanker(BASE).fit(X, named)


@pytest.mark.parametrize(
    "base",
    [
        make_pipeline(StandardScaler(), BASE),
        GridSearchCV(make_pipeline(StandardScaler(), BASE), {"logisticregression__C": [0.1]}),
        LinearSVC(),
        RandomForestClassifier(5, random_state=0),
        VotingClassifier([("one", BASE), ("two", BASE)], voting="soft"),
    ],
    ids=lambda base: type(base).__name__,
)
def test_classifiers_of_all_kinds(base):
    X, y = data()
    with config_context(enable_metadata_routing="Search" in type(base).__name__):
        fitted = TopFocusedRanker(base, cv=3).fit(X, y)
        assert fitted.score(X, y) > y.mean()
        assert hasattr(fitted, "predict_proba") == hasattr(base, "predict_proba")
        weighted = TopFocusedRanker(base, cv=3).fit(X, y, np.r_[np.ones(70), np.full(10, 5.0)])
    if hasattr(base, "predict_proba"):
        share = fitted.predict_proba(X)
        np.testing.assert_allclose(share.sum(axis=1), 1.0)
        np.testing.assert_array_equal(share.argmax(axis=1), fitted.predict(X))
    assert not np.array_equal(weighted.decision_function(X), fitted.decision_function(X))


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (KNeighborsClassifier(), "has no fit"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "has no fit"),
        (Ridge(), "is not a classifier"),
        ("logistic", "is not a classifier"),
    ],
)
def test_what_takes_no_weights_or_is_no_classifier_is_refused(base, message):
    with pytest.raises(TypeError, match=message):
        TopFocusedRanker(base).fit(*data())


def test_choose_takes_the_best_by_cross_validation():
    X, y = data(200)
    folds = StratifiedKFold(4)
    fitted = TopFocusedRanker(BASE, tau=0.1, combine="choose", cv=folds).fit(X, y)
    measure = get_measure("smoothed_precision@top0.1")
    for combine in ("last", "sum"):
        ranker = TopFocusedRanker(BASE, tau=0.1, combine=combine)
        values = [
            measure(y[test], clone(ranker).fit(X[train], y[train]).decision_function(X[test]))
            for train, test in folds.split(X, y)
        ]
        np.testing.assert_allclose(fitted.scores_[combine], values)
    means = {name: values.mean() for name, values in fitted.scores_.items()}
    assert list(means) == ["pilot", "last", "sum"]
    assert means[fitted.combine_] == max(means.values())
    # The choice of an earlier fit does not stay.
    assert not hasattr(fitted.set_params(combine="sum").fit(X, y), "scores_")


def test_the_base_is_chosen_where_nothing_is_gained():
    X = np.arange(100.0).reshape(-1, 1)
    y = (np.arange(100) >= 60).astype(int)
    fitted = TopFocusedRanker(BASE, tau=0.1, combine="choose", cv=5).fit(X, y)
    assert fitted.combine_ == "pilot"
    np.testing.assert_array_equal(fitted.decision_function(X), fitted.pilot_.decision_function(X))


def test_groups_reach_the_folds():
    X, y = data()
    groups = np.arange(80) % 8
    ranker = TopFocusedRanker(BASE, pilot_ranks="out_of_fold", cv=GroupKFold(4))
    fitted = clone(ranker).fit(X, y, groups=groups)
    folds = list(GroupKFold(4).split(X, y, groups))
    other = clone(ranker).set_params(cv=folds).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), other.decision_function(X))
    with pytest.raises(ValueError, match="groups"):
        ranker.fit(X, y)
    for wrong in (40, 160):
        with pytest.raises(ValueError, match=f"groups has {wrong} entries for 80 rows"):
            ranker.fit(X, y, groups=np.arange(wrong))


def test_folds_that_are_no_partition_are_refused():
    X, y = data()
    ranker = TopFocusedRanker(BASE, pilot_ranks="out_of_fold", cv=ShuffleSplit(3, random_state=0))
    with pytest.raises(ValueError, match="are not a partition of the rows: row"):
        ranker.fit(X, y)
    halves = [(np.flatnonzero(y == k), np.flatnonzero(y != k)) for k in (0, 1)]
    with pytest.raises(ValueError, match="has one class only"):
        ranker.set_params(cv=halves).fit(X, y)


def test_lists_of_parts_are_of_the_rows_that_were_passed():
    X, y = data()
    parts = list(StratifiedKFold(4).split(X, y))
    weight = np.ones(80)
    weight[::7] = 0
    ranker = TopFocusedRanker(BASE, pilot_ranks="out_of_fold", cv=parts)
    fitted = clone(ranker).fit(X, y, weight)
    number = np.cumsum(weight > 0) - 1
    of_rows = [[number[part[weight[part] > 0]] for part in fold] for fold in parts]
    other = clone(ranker).set_params(cv=of_rows).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(fitted.decision_function(X), other.decision_function(X))
    with pytest.raises(ValueError, match="cv is a list of splits of all rows"):
        clone(ranker).set_params(combine="choose").fit(X, y)
    chosen = clone(ranker).set_params(combine="choose", pilot_ranks="training").fit(X, y, weight)
    assert len(chosen.scores_["sum"]) == 4
    with pytest.raises(ValueError, match="yields no folds"):
        clone(ranker).set_params(cv=[]).fit(X, y)


def test_frames_with_words_go_through_a_pipeline():
    X, y = data()
    frame = pd.DataFrame({"number": X[:, 0], "word": np.where(X[:, 1] > 0, "high", "low")})
    columns = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    labels = pd.Series(np.array(["no", "yes"])[y], index=np.arange(80)[::-1] + 1000)
    weight = np.r_[np.zeros(5), np.ones(75)]
    ranker = TopFocusedRanker(
        make_pipeline(columns, BASE), pos_label="yes", combine="choose", cv=3
    )
    fitted = ranker.fit(frame, labels, weight)
    assert fitted.feature_names_in_.tolist() == ["number", "word"]
    assert fitted.score(frame, labels) > y.mean()
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[["word", "number"]])


def test_bad_refits_leave_the_ranker_as_it_was():
    X, y = data()
    fitted = TopFocusedRanker(BASE).fit(X, y)
    before = dict(vars(fitted))
    for bad, message in (
        ((np.full_like(X, np.nan), y), "contains NaN"),
        ((X, np.zeros_like(y)), "one class only, 0"),
        ((X, np.arange(len(y)) % 3), "type of the target is multiclass"),
        ((X, y[:-1]), "inconsistent numbers of samples"),
        ((X, y, -np.ones(len(y))), "sample_weight is -1 at row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.fit(*bad)
        assert dict(vars(fitted)) == before


def test_scores_without_spread_have_no_share():
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    fitted = TopFocusedRanker(BASE).fit(X, y)
    assert np.ptp(fitted.decision_function(X)) == 0.0
    assert np.all(np.isfinite(fitted.predict_proba(X)))


def test_rows_that_are_known_as_an_array_alone():
    X, y = data()

    class Rows:
        def __array__(self, dtype=None, copy=None):
            return np.asarray(X, dtype=dtype)

    expected = TopFocusedRanker(HistGradientBoostingClassifier(max_iter=5)).fit(X, y)
    found = clone(expected).fit(Rows(), y)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
