"""Scorers in scikit-learn's tools."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank.metrics import (
    accuracy_at_top_loss,
    average_precision_score,
    get_scorer,
    get_scorer_names,
    ndcg_score,
    positional_score,
    precision_at_k_score,
    precision_at_top_score,
    recall_at_k_score,
    roc_auc_score,
)
from sklearn_rank.metrics._names import parse_measure
from tests.catalogue import METRICS


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] + rng.normal(size=80) > 0.5).astype(int)


def one_list(name, **parameters):
    return get_scorer(name, single_list=True, **parameters)


def named():
    return [case for case in METRICS if case.scorer_name is not None]


@pytest.mark.parametrize("case", named(), ids=str)
def test_names_give_the_metric(case, data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    value = case(y, model.decision_function(X))
    sign = 1 if case.greater_is_better else -1
    assert get_scorer(case.scorer_name, single_list=True)(model, X, y) == sign * value


@pytest.mark.parametrize("case", named(), ids=str)
def test_names_give_the_metric_of_queries(case, data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    qid = np.arange(80) % 3
    value = case(y, model.decision_function(X), qid=qid)
    sign = 1 if case.greater_is_better else -1
    assert get_scorer(case.scorer_name)(model, X, y, qid=qid) == sign * value


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
        ("NDCG@10", "did you mean 'ndcg@10'"),
        ("precision@0.05", "did you mean 'precision@top0.05'"),
        ("map", "did you mean 'ap'"),
        ("local_auc", "did you mean 'local_auc@0.8'"),
        ("auc@0.8", "did you mean 'local_auc@0.8'"),
        ("bedroc", "did you mean 'bedroc@20'"),
        ("ndcg@", "is not the name"),
        ("ap@0", "is not the name"),
        ("err@2.5", "is not the name"),
        ("rbp@1", "is not the name"),
        ("rbp", "did you mean 'rbp@0.8'"),
        ("precision@top5", "is not the name"),
        ("precision@topnan", "is not the name"),
        ("precision@top 0.1", "is not the name"),
        ("neg_accuracy_loss@top0", "is not the name"),
        ("ndcg@0", "is not the name"),
        ("ndcg@-3", "is not the name"),
        ("ndcg@1_0", "is not the name"),
        ("dcg@2.5", "is not the name"),
        ("precision@", "is not the name"),
        ("precision@05", "is not the name"),
        ("recall@0.5", "is not the name"),
        ("local_auc@1", "is not the name"),
        ("local_auc@0", "is not the name"),
        ("pnorm@-1", "is not the name"),
        ("pnorm@inf", "is not the name"),
        ("bedroc@0", "is not the name"),
        ("bedroc@1e999", "is not the name"),
        ("spearman@3", "is not the name"),
        ("", "is not the name"),
    ],
)
def test_unknown_names_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        get_scorer(name)


def test_what_is_no_name_is_refused():
    with pytest.raises(TypeError, match="use get_scorer"):
        get_scorer(ndcg_score)
    with pytest.raises(TypeError, match="use get_scorer"):
        get_scorer("ap")


def test_a_measure_knows_whether_it_is_per_query():
    per_query = {name for name in get_scorer_names() if parse_measure(name).per_query}
    assert per_query == {
        "ap",
        "ap@10",
        "dcg",
        "dcg@10",
        "err",
        "err@10",
        "ndcg",
        "ndcg@10",
        "precision@5",
        "rbp@0.8",
        "recall@20",
        "rr",
        "rr@10",
        "spearman",
    }


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("precision@5", {"k": 5}),
        ("precision@top0.05", {"tau": 0.05}),
        ("local_auc@.8", {"u0": 0.8}),
        ("pnorm@4", {"p": 4.0}),
        ("pnorm@2.5", {"p": 2.5}),
        ("ap@10", {"k": 10}),
        ("rr", {}),
        ("err@3", {"k": 3}),
        ("rbp@.95", {"persistence": 0.95}),
        ("bedroc@1e+2", {"alpha": 100.0}),
        ("auc", {}),
    ],
)
def test_numbers_in_names(name, parameters):
    assert parse_measure(name).parameters == parameters


def test_small_shares_are_read_in_scientific_notation():
    assert get_scorer("precision@top1e-05")._kwargs == {"tau": 1e-5}


def test_scikit_learns_names_are_taken(data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    assert get_scorer("roc_auc")(model, X, y) == sklearn.metrics.get_scorer("roc_auc")(model, X, y)
    for parameters in ({"max_fpr": 0.1}, {"qid": "groups"}, {"single_list": True}):
        with pytest.raises(ValueError, match="takes no parameters here"):
            get_scorer("roc_auc", **parameters)


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), ("bad", "good"), (3, 7)])
@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier(), GaussianNB()])
def test_the_second_class_is_relevant_whatever_the_labels(labels, model, data):
    X, y = data
    named = np.array(labels)[y]
    for name in ("precision@top0.1", "ap", "ndcg@5"):
        scorer = one_list(name)
        expected = scorer(clone(model).fit(X, y), X, y)
        assert scorer(clone(model).fit(X, named), X, named) == pytest.approx(expected)


def test_regressors_rank_by_predict(data):
    X, y = data
    model = Ridge().fit(X, y)
    expected = average_precision_score(y, model.predict(X))
    assert one_list("ap")(model, X, y) == expected
    graded = 2 * y
    assert one_list("ndcg")(model, X, graded) == ndcg_score(graded, model.predict(X))


def test_classifiers_that_only_label_are_refused(data):
    X, y = data
    model = VotingClassifier([("one", LogisticRegression())], voting="hard").fit(X, y)
    with pytest.raises(AttributeError, match="give no order"):
        one_list("ap")(model, X, y)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (average_precision_score, "average_precision_score"),
        (partial(ndcg_score, k=3), "ndcg_score"),
    ],
)
def test_thresholds_are_not_chosen_by_an_order(metric, name, data):
    X, y = data
    scorer = get_scorer(metric, single_list=True)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, cv=2)
    with pytest.raises(TypeError, match=f"{name} is a measure of an order"):
        tuned.fit(X, y)


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
    value = one_list("ap", pos_label=labels[0])(model, X, y)
    assert value == pytest.approx(theirs(model, X, y), rel=1e-13)
    default = one_list("ap")(model, X, y)
    assert one_list("ap", pos_label=labels[1])(model, X, y) == default
    with pytest.raises(ValueError, match="not a valid label"):
        one_list("ap", pos_label=7)(model, X, y)


@pytest.mark.parametrize("name", ["ap", "precision@top0.1", "ndcg"])
def test_labels_that_the_classifier_does_not_know_are_refused(name, data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    for wrong in (y.astype(str), y + 5, np.where(np.arange(80) == 3, np.nan, y)):
        with pytest.raises(ValueError, match="was fitted on"):
            one_list(name)(model, X, wrong)
    weight = np.ones(80)
    weight[3] = 0
    score = one_list(name)(model, X, np.where(weight, y, 9), sample_weight=weight)
    expected = one_list(name)(model, np.delete(X, 3, 0), np.delete(y, 3))
    assert score == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    "name", ["ap", "precision@top0.1", "pos@top", "ndcg", "neg_accuracy_loss@top0.1"]
)
@pytest.mark.parametrize("label", [0, 1])
def test_rows_of_one_label_are_refused(name, label, data):
    X, y = data
    for model in (LogisticRegression(), Ridge()):
        model.fit(X, y)
        with pytest.raises(ValueError, match="no order is better"):
            one_list(name)(model, X[y == label], y[y == label])
        with pytest.raises(ValueError, match="no order is better"):
            one_list(name)(model, X, y, sample_weight=(y == label).astype(int))


def test_more_than_two_classes_are_refused(data):
    X, _ = data
    y = np.arange(80) % 3
    with pytest.raises(ValueError, match="3 classes"):
        one_list("ap")(LogisticRegression().fit(X, y), X, y)


@pytest.mark.parametrize("routing", [False, True])
def test_searches_pipelines_and_many_metrics(routing, data):
    X, y = data
    scoring = {
        "top": get_scorer("precision@top0.1"),
        "loss": get_scorer("neg_accuracy_loss@top0.1"),
    }
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
        values = cross_val_score(pipeline, X, y, scoring=one_list("ap"), error_score="raise")
        assert np.all(values > 0.5)


def test_many_metrics_share_one_call_of_the_estimator(data):
    X, y = data

    class Counting(RidgeClassifier):
        calls = 0

        def decision_function(self, X):
            Counting.calls += 1
            return super().decision_function(X)

    scoring = {name: one_list(name) for name in ("ap", "pos@top", "ndcg@5")}
    cross_validate(Counting(), X, y, scoring=scoring, cv=2, error_score="raise")
    assert Counting.calls == 2


def test_searches_hand_weights_on_without_routing(data):
    X, y = data
    weight = np.arange(80) % 3
    everything = np.arange(80)
    search = GridSearchCV(
        RidgeClassifier(),
        {"alpha": [1.0]},
        scoring=one_list("ap"),
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
    scorer = get_scorer(accuracy_at_top_loss, tau=0.1)
    assert repr(scorer) == "get_scorer(accuracy_at_top_loss, tau=0.1)"
    value = scorer(model, X, y)
    assert value < 0
    partly = get_scorer(partial(accuracy_at_top_loss, tau=0.1))
    assert "accuracy_at_top_loss" in repr(partly)
    assert "tau=0.1" in repr(partly)
    assert partly(model, X, y) == value
    assert pickle.loads(pickle.dumps(scorer))(model, X, y) == value


# ---------------------------------------------------------------------------------------- queries

PER_QUERY = ["ap", "dcg", "dcg@5", "ndcg", "ndcg@5", "precision@3", "recall@3", "spearman"]
ONE_LIST = ["neg_accuracy_loss@top0.2", "auc", "bedroc@20", "local_auc@0.5", "pnorm@4", "pos@top"]


@pytest.mark.parametrize("name", PER_QUERY)
def test_means_over_queries_need_the_queries(name, data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    for parameters, alias in (
        ({}, "groups"),
        ({"qid": "query"}, "query"),
        ({"qid": False}, "qid"),
    ):
        with pytest.raises(ValueError, match="got no qid: pass qid=") as caught:
            get_scorer(name, **parameters)(model, X, y)
        for advice in (f"{alias}=", "enable_metadata_routing=True", "single_list=True"):
            assert advice in str(caught.value)
    score = model.decision_function(X)
    measure = parse_measure(name)
    expected = measure.function(y, score, **measure.parameters)
    assert one_list(name)(model, X, y) == expected


@pytest.mark.parametrize("name", ONE_LIST)
def test_measures_of_one_list_take_queries_where_they_are_given(name, data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    qid = np.arange(80) % 3
    measure = parse_measure(name)
    score = model.decision_function(X)
    sign = 1 if measure.greater_is_better else -1
    expected = sign * measure.function(y, score, **measure.parameters)
    assert get_scorer(name)(model, X, y) == expected
    of_queries = sign * measure.function(y, score, **measure.parameters, qid=qid)
    assert of_queries != expected
    for scorer in (get_scorer(name), get_scorer(name, qid=True)):
        assert scorer(model, X, y, qid=qid) == of_queries
    with pytest.raises(ValueError, match="got no qid"):
        get_scorer(name, qid="groups")(model, X, y)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("qid_type", [int, str, float, object])
def test_a_scorer_can_be_called_with_everything(routing, qid_type, data):
    X, y = data
    rng = np.random.default_rng(1)
    number = rng.integers(5, size=80)
    qid = number.astype(qid_type)
    weight = rng.integers(1, 4, size=80)
    query_weight = (number + 1) / 2
    model = LogisticRegression().fit(X, y)
    with sklearn.config_context(enable_metadata_routing=routing):
        value = get_scorer("recall@3")(
            model, X, y, qid=qid, sample_weight=weight, query_weight=query_weight
        )
    expected = recall_at_k_score(
        y,
        model.decision_function(X),
        k=3,
        qid=number,
        sample_weight=weight,
        query_weight=query_weight,
    )
    assert value == expected


def test_a_single_list_takes_no_queries(data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    for name in ("ap", "auc"):
        with pytest.raises(ValueError, match="built with single_list=True"):
            one_list(name)(model, X, y, qid=np.zeros(80))
        for qid in (True, "groups"):
            with pytest.raises(ValueError, match="says that there is one"):
                one_list(name, qid=qid)
        assert one_list(name, qid=False)(model, X, y) == one_list(name)(model, X, y)


def test_what_cannot_be_a_request_is_refused():
    with pytest.raises(TypeError, match="pass the ids themselves where you call"):
        get_scorer("ndcg", qid=np.zeros(3))
    with pytest.raises(ValueError, match="'my groups' must be a name"):
        get_scorer("ndcg", qid="my groups")
    with pytest.raises(TypeError, match="single_list='yes'"):
        get_scorer("ndcg", single_list="yes")


def test_what_the_metric_does_not_take_is_refused_at_once():
    with pytest.raises(TypeError, match="ndcg_score takes no argument 'gian'"):
        get_scorer("ndcg", gian="linear")
    with pytest.raises(TypeError, match="k=5 is said by the name 'ndcg@10'"):
        get_scorer("ndcg@10", k=5)
    with pytest.raises(TypeError, match="does not say which arguments it takes"):
        get_scorer(max)
    with pytest.raises(TypeError, match="takes no argument 'qid'"):
        get_scorer(lambda y_true, y_score: 0.5, qid="groups")


def test_one_number_is_wanted(data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    for parameters in ({"average": None}, {"average": None, "return_qid": True}):
        with pytest.raises(ValueError, match="a score is one number"):
            get_scorer("ndcg", **parameters)(model, X, y, qid=np.arange(80) % 3)


def test_metrics_of_others(data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    qid = np.arange(80) % 3

    def highest(labels, scores, qid=None, power=1):
        assert set(labels) == {0, 1}
        lists = [np.ones(80, bool)] if qid is None else [qid == query for query in np.unique(qid)]
        return np.mean([labels[rows][np.argmax(scores[rows])] ** power for rows in lists])

    one = get_scorer(highest)
    assert one(model, X, y) == highest(y, model.decision_function(X))
    for many in (
        get_scorer(highest, qid="groups"),
        get_scorer(highest, qid=True),
    ):
        assert many(model, X, y, qid=qid) == highest(y, model.decision_function(X), qid)
        with pytest.raises(ValueError, match="highest is a mean over queries"):
            many(model, X, y)

    def anything(labels, scores, **others):
        return len(others)

    counting = get_scorer(anything, price=3, qid=True)
    assert counting(model, X, y, qid=qid, cost=1) == 3

    class Callable:
        def __call__(self, labels, scores):
            return 0.25

    assert get_scorer(Callable())(model, X, y) == 0.25
    assert "Callable" in repr(get_scorer(Callable()))


@pytest.mark.parametrize(
    "metric", [partial(partial(ndcg_score, k=3), gain="linear"), partial(positional_score, k=3)]
)
def test_what_is_partly_given_is_known_too(metric, data):
    X, y = data
    if metric.func is positional_score:
        metric = partial(metric, gain="linear", discount="linear")
    model = Ridge().fit(X, y)
    qid = np.arange(80) % 3
    scorer = get_scorer(metric)
    with pytest.raises(ValueError, match="got no qid"):
        scorer(model, X, y)
    assert scorer(model, X, y, qid=qid) == metric(y, model.predict(X), qid=qid)


def test_queries_of_one_label_are_for_the_metric_to_judge(data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    qid = np.arange(80) % 5
    y = np.where(qid == 2, 0, y)
    score = model.decision_function(X)
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning, match="1 of 5 lists"):
        value = get_scorer("ndcg@5")(model, X, y, qid=qid)
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning, match="1 of 5 lists"):
        assert value == ndcg_score(y, score, k=5, qid=qid)
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning, match="left out"):
        skipped = get_scorer("ndcg@5", undefined="skip")(model, X, y, qid=qid)
    assert skipped == pytest.approx(value * 5 / 4)
    with pytest.raises(ValueError, match="qid 2"):
        get_scorer("recall@5", undefined="raise")(model, X, y, qid=qid)
    nothing = np.zeros(80, int)
    assert get_scorer("precision@5")(model, X, nothing, qid=qid) == 0.0
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning, match="5 of 5 lists"):
        assert np.isnan(get_scorer("recall@5")(model, X, nothing, qid=qid))


@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("class_of_theirs", [{}, {"pos_label": 0}])
@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
def test_scorers_of_either_class_side_by_side(first, class_of_theirs, model, data):
    X, y = data
    model.fit(X, y)
    theirs = {
        "theirs": sklearn.metrics.make_scorer(
            sklearn.metrics.average_precision_score,
            response_method=("decision_function", "predict_proba"),
            **class_of_theirs,
        )
    }
    ours = {
        "one": get_scorer("auc"),
        "zero": get_scorer("auc", pos_label=0),
        "one again": one_list("ap"),
        "zero again": one_list("ap", pos_label=0),
    }
    scoring = {**ours, **theirs} if first == "ours" else {**theirs, **ours}
    values = sklearn.metrics.check_scoring(model, scoring)(model, X, y)
    for name, scorer in scoring.items():
        assert values[name] == scorer(model, X, y), name


def test_many_measures_of_what_has_no_predict(data):
    X, y = data

    class Scoring(BaseEstimator):
        def fit(self, X, y):
            return self

        def decision_function(self, X):
            return X[:, 0]

    scoring = {"auc": get_scorer("auc"), "ap": one_list("ap")}
    values = sklearn.metrics.check_scoring(Scoring(), scoring)(Scoring(), X, y)
    expected = {"auc": roc_auc_score(y, X[:, 0]), "ap": average_precision_score(y, X[:, 0])}
    assert values == expected


def test_scores_of_what_is_no_classifier_by_its_tags(data):
    X, y = data

    class Bare(BaseEstimator):
        def fit(self, X, y):
            self.model_ = LogisticRegression().fit(X, y)
            return self

        def predict_proba(self, X):
            return self.model_.predict_proba(X)

    model = Bare().fit(X, y)
    expected = roc_auc_score(y, model.predict_proba(X)[:, 1])
    assert get_scorer("auc")(model, X, y) == expected
    model.fit(X, np.arange(80) % 3)
    with pytest.raises(ValueError, match="3 columns"):
        get_scorer("auc")(model, X, y)


def test_what_a_scorer_shows():
    assert repr(get_scorer("ndcg@10")) == "get_scorer(ndcg_score, k=10)"
    shown = repr(get_scorer("ndcg", qid="query", gain="linear"))
    assert shown == "get_scorer(ndcg_score, gain='linear', qid='query')"
    shown = repr(one_list("ap"))
    assert shown == "get_scorer(average_precision_score, single_list=True)"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda s: clone(s, safe=False)])
def test_copies_score_alike(again, data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    qid = np.arange(80) % 3
    scorer = get_scorer(precision_at_k_score, k=3)
    assert again(scorer)(model, X, y, qid=qid) == scorer(model, X, y, qid=qid)
    with pytest.raises(ValueError, match="got no qid"):
        again(scorer)(model, X, y)
    assert again(one_list("ap"))(model, X, y) == one_list("ap")(model, X, y)
