"""Scorers in scikit-learn's tools."""

import pickle
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank.metrics import (
    accuracy_at_top_loss,
    average_precision_score,
    get_scorer,
    get_scorer_names,
    make_ranking_scorer,
    ndcg_score,
    precision_at_top_score,
)
from tests.catalogue import METRICS


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] + rng.normal(size=80) > 0.5).astype(int)


def named():
    return [case for case in METRICS if case.scorer_name is not None]


@pytest.mark.parametrize("case", named(), ids=str)
def test_names_give_the_metric(case, data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    value = case(y, model.decision_function(X))
    sign = 1 if case.greater_is_better else -1
    assert get_scorer(case.scorer_name)(model, X, y) == sign * value


def test_every_name_of_the_list_is_taken():
    names = get_scorer_names()
    assert names == sorted(names)
    for name in names:
        assert callable(get_scorer(name))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndgc@10", "did you mean 'ndcg@10'"),
        ("precision@top", "did you mean 'precision@top0.05'"),
        ("precision@topten", "is not the name"),
        ("ndcg@", "is not the name"),
        ("ap@3", "is not the name"),
        ("precision@top5", "is not the name"),
        ("precision@topnan", "is not the name"),
        ("precision@top 0.1", "is not the name"),
        ("accuracy@top0", "is not the name"),
        ("ndcg@0", "is not the name"),
        ("ndcg@-3", "is not the name"),
        ("ndcg@1_0", "is not the name"),
        ("dcg@2.5", "is not the name"),
        ("", "is not the name"),
    ],
)
def test_unknown_names_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        get_scorer(name)


def test_what_is_no_name_is_refused():
    with pytest.raises(TypeError, match="use make_ranking_scorer"):
        get_scorer(ndcg_score)
    with pytest.raises(TypeError, match="use get_scorer"):
        make_ranking_scorer("ap")


def test_small_shares_are_read_in_scientific_notation():
    assert get_scorer("precision@top1e-05")._kwargs == {"tau": 1e-5}


def test_scikit_learns_names_are_taken(data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    assert get_scorer("roc_auc")(model, X, y) == sklearn.metrics.get_scorer("roc_auc")(model, X, y)
    with pytest.raises(ValueError, match="takes no parameters here"):
        get_scorer("roc_auc", max_fpr=0.1)


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), ("bad", "good"), (3, 7)])
@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier(), GaussianNB()])
def test_the_second_class_is_relevant_whatever_the_labels(labels, model, data):
    X, y = data
    named = np.array(labels)[y]
    for name in ("precision@top0.1", "ap", "ndcg@5"):
        scorer = get_scorer(name)
        expected = scorer(clone(model).fit(X, y), X, y)
        assert scorer(clone(model).fit(X, named), X, named) == pytest.approx(expected)


def test_regressors_rank_by_predict(data):
    X, y = data
    model = Ridge().fit(X, y)
    expected = average_precision_score(y, model.predict(X))
    assert get_scorer("ap")(model, X, y) == expected
    graded = 2 * y
    assert get_scorer("ndcg")(model, X, graded) == ndcg_score(graded, model.predict(X))


def test_classifiers_that_only_label_are_refused(data):
    X, y = data
    model = VotingClassifier([("one", LogisticRegression())], voting="hard").fit(X, y)
    with pytest.raises(AttributeError, match="give no order"):
        get_scorer("ap")(model, X, y)


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
@pytest.mark.parametrize("labels", [(0, 1), ("bad", "good")])
def test_the_first_class_can_be_the_relevant_one(model, labels, data):
    X, y = data
    y = np.array(labels)[y]
    model.fit(X, y)
    theirs = sklearn.metrics.make_scorer(
        sklearn.metrics.average_precision_score,
        response_method=("decision_function", "predict_proba"),
        pos_label=labels[0],
    )
    value = get_scorer("ap", pos_label=labels[0])(model, X, y)
    assert value == pytest.approx(theirs(model, X, y), rel=1e-13)
    default = get_scorer("ap")(model, X, y)
    assert get_scorer("ap", pos_label=labels[1])(model, X, y) == default
    with pytest.raises(ValueError, match="not a valid label"):
        get_scorer("ap", pos_label=7)(model, X, y)


@pytest.mark.parametrize("name", ["ap", "precision@top0.1", "ndcg"])
def test_labels_that_the_classifier_does_not_know_are_refused(name, data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    for wrong in (y.astype(str), y + 5, np.where(np.arange(80) == 3, np.nan, y)):
        with pytest.raises(ValueError, match="was fitted on"):
            get_scorer(name)(model, X, wrong)
    weight = np.ones(80)
    weight[3] = 0
    score = get_scorer(name)(model, X, np.where(weight, y, 9), sample_weight=weight)
    assert score == get_scorer(name)(model, np.delete(X, 3, 0), np.delete(y, 3))


@pytest.mark.parametrize("name", ["ap", "precision@top0.1", "pos@top", "ndcg", "accuracy@top0.1"])
@pytest.mark.parametrize("label", [0, 1])
def test_rows_of_one_label_are_refused(name, label, data):
    X, y = data
    for model in (LogisticRegression(), Ridge()):
        model.fit(X, y)
        with pytest.raises(ValueError, match="no order is better"):
            get_scorer(name)(model, X[y == label], y[y == label])
        with pytest.raises(ValueError, match="no order is better"):
            get_scorer(name)(model, X, y, sample_weight=(y == label).astype(int))


def test_more_than_two_classes_are_refused(data):
    X, _ = data
    y = np.arange(80) % 3
    with pytest.raises(ValueError, match="3 classes"):
        get_scorer("ap")(LogisticRegression().fit(X, y), X, y)


@pytest.mark.parametrize("routing", [False, True])
def test_searches_pipelines_and_many_metrics(routing, data):
    X, y = data
    scoring = {"top": get_scorer("precision@top0.1"), "loss": get_scorer("accuracy@top0.1")}
    with sklearn.config_context(enable_metadata_routing=routing):
        pipeline = make_pipeline(StandardScaler(), LogisticRegression())
        search = GridSearchCV(
            pipeline,
            {"logisticregression__C": [0.1, 1.0]},
            scoring=scoring,
            refit="top",
            error_score="raise",
        ).fit(X, y)
        assert search.best_score_ > 0.7
        assert np.all(search.cv_results_["mean_test_loss"] <= 0)
        values = cross_val_score(pipeline, X, y, scoring=get_scorer("ap"), error_score="raise")
        assert np.all(values > 0.5)


def test_many_metrics_share_one_call_of_the_estimator(data):
    X, y = data

    class Counting(RidgeClassifier):
        calls = 0

        def decision_function(self, X):
            Counting.calls += 1
            return super().decision_function(X)

    scoring = {name: get_scorer(name) for name in ("ap", "pos@top", "ndcg@5")}
    cross_validate(Counting(), X, y, scoring=scoring, cv=2, error_score="raise")
    assert Counting.calls == 2


def test_searches_hand_weights_on_without_routing(data):
    X, y = data
    weight = np.arange(80) % 3
    everything = np.arange(80)
    search = GridSearchCV(
        RidgeClassifier(),
        {"alpha": [1.0]},
        scoring=get_scorer("ap"),
        cv=[(everything, everything)],
        error_score="raise",
    ).fit(X, y, sample_weight=weight)
    score = RidgeClassifier().fit(X, y, sample_weight=weight).decision_function(X)
    expected = average_precision_score(y, score, sample_weight=weight)
    assert search.best_score_ == pytest.approx(expected)


def test_weights_are_routed_where_asked_for(data):
    X, y = data
    weight = np.arange(80) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("precision@top0.2").set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        values = cross_validate(
            model,
            X,
            y,
            scoring=scorer,
            cv=[(np.arange(80), np.arange(80))],
            params={"sample_weight": weight},
            error_score="raise",
        )
    score = LogisticRegression().fit(X, y).decision_function(X)
    expected = precision_at_top_score(y, score, tau=0.2, sample_weight=weight)
    assert values["test_score"] == pytest.approx(expected)


def test_losses_are_negated_and_scorers_travel(data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    scorer = make_ranking_scorer(accuracy_at_top_loss, tau=0.1)
    assert repr(scorer) == "make_ranking_scorer(accuracy_at_top_loss, tau=0.1)"
    value = scorer(model, X, y)
    assert value < 0
    partly = make_ranking_scorer(partial(accuracy_at_top_loss, tau=0.1))
    assert "accuracy_at_top_loss" in repr(partly)
    assert "tau=0.1" in repr(partly)
    assert partly(model, X, y) == value
    assert pickle.loads(pickle.dumps(scorer))(model, X, y) == value
