"""Scorers in scikit-learn's tools."""

import pickle
import re

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB

from sklearn_rank.exceptions import ScorerSetupError, SingleListWarning
from sklearn_rank.metrics import (
    accuracy_at_top_loss,
    average_precision_score,
    get_measure,
    get_scorer,
    make_measure,
    recall_at_k_score,
    roc_auc_score,
)
from tests.catalogue import METRICS


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] + rng.normal(size=80) > 0.5).astype(int)


def one_list(name, **parameters):
    return get_scorer(name, single_list=True, **parameters)


def named():
    """A case for each form of a name."""
    cases = {re.sub(r"[0-9.e]+$", "", c.scorer_name): c for c in METRICS if c.scorer_name}
    return list(cases.values())


@pytest.mark.parametrize("case", named(), ids=str)
def test_names_give_the_measure(case, data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    sign = 1 if case.greater_is_better else -1
    value = case(y, model.decision_function(X))
    name = case.scorer_name
    amounts = {"value": (1.0, 0.0)} if case.measure.of_amounts else {}
    assert get_scorer(name, single_list=True, **amounts)(model, X, y) == sign * value
    qid = np.arange(80) % 3
    value = case(y, model.decision_function(X), qid=qid)
    assert get_scorer(name, **amounts)(model, X, y, qid=qid) == sign * value


@pytest.mark.parametrize(("name", "ours"), [("roc_auc", "auc"), ("average_precision", "ap")])
def test_one_name_is_one_function(data, name, ours):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    score = np.round(model.decision_function(X))
    assert one_list(name)(model, X, y) == one_list(ours)(model, X, y)
    assert get_measure(name)(y, score) == get_measure(ours)(y, score)
    for name_of_scikit_learn in ("neg_log_loss", "precision"):
        with pytest.raises(ValueError, match="is not the name of a measure"):
            get_scorer(name_of_scikit_learn)
    with pytest.raises(ValueError, match="'accuracy' is scikit-learn's score of predicted"):
        get_scorer("accuracy")


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        (LogisticRegression(), (-1, 1)),
        (RidgeClassifier(), (False, True)),
        (GaussianNB(), ("bad", "good")),
        (RidgeClassifier(), (3, 7)),
    ],
)
def test_labels_of_any_kind(labels, model, data):
    X, y = data
    named = np.array(labels)[y]
    usual = labels[1] in (1, True)
    for name in ("precision@top0.1", "ap", "ndcg@5"):
        scorer = one_list(name, **({} if usual else {"pos_label": labels[1]}))
        expected = one_list(name)(clone(model).fit(X, y), X, y)
        assert scorer(clone(model).fit(X, named), X, named) == pytest.approx(expected)


def test_classifiers_that_only_label_are_refused(data):
    X, y = data
    model = VotingClassifier([("one", LogisticRegression())], voting="hard").fit(X, y)
    with pytest.raises(AttributeError, match="give no ranking"):
        one_list("ap")(model, X, y)


def test_thresholds_are_not_chosen_by_an_order(data):
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=one_list("ap"), cv=2)
    with pytest.raises(TypeError, match="ap is a ranking measure"):
        tuned.fit(*data)


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
    for unknown in (7, "good?", np.array(["bad", "good"])):
        with pytest.raises(
            ScorerSetupError, match=r"not among the classes of \w+, .*to the scorer"
        ):
            one_list("ap", pos_label=unknown)(model, X, y)


@pytest.mark.parametrize("name", ["ap", "precision@top0.1", "ndcg"])
def test_labels_that_the_classifier_does_not_know_are_refused(name, data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    for wrong in (y.astype(str), y + 5):
        with pytest.raises(ValueError, match="was fitted on"):
            one_list(name)(model, X, wrong)
    with pytest.raises(ValueError, match=r"missing label at row 3 .* known in part"):
        one_list(name)(model, X, np.where(np.arange(80) == 3, np.nan, y))
    weight = np.ones(80)
    weight[3] = 0
    score = one_list(name)(model, X, np.where(weight, y, 9), sample_weight=weight)
    expected = one_list(name)(model, np.delete(X, 3, 0), np.delete(y, 3))
    assert score == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    "name", ["ap", "precision@top0.1", "pos@top", "ndcg", "neg_accuracy_loss@top0.1"]
)
def test_rows_of_one_label_are_refused(name, data):
    for label in (0, 1):
        X, y = data
        for model in (LogisticRegression(), Ridge()):
            model.fit(X, y)
            with pytest.raises(ValueError, match="all orders are equally good"):
                one_list(name)(model, X[y == label], y[y == label])
            with pytest.raises(ValueError, match="all orders are equally good"):
                one_list(name)(model, X, y, sample_weight=(y == label).astype(int))


def test_many_measures_share_one_call_of_the_estimator(data):
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


def test_losses_are_negated_and_scorers_travel(data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    scorer = get_scorer(accuracy_at_top_loss, tau=0.1)
    assert repr(scorer) == "get_scorer('neg_accuracy_loss@top0.1')"
    value = scorer(model, X, y)
    assert value == -accuracy_at_top_loss(y, model.decision_function(X), tau=0.1) < 0
    assert pickle.loads(pickle.dumps(scorer))(model, X, y) == value


def test_the_scorer_of_a_loss_is_named_as_its_negation():
    with pytest.raises(ValueError, match=r"use 'neg_accuracy_loss@top0\.1'"):
        get_scorer("accuracy_loss@top0.1")
    with pytest.raises(ValueError, match="'neg_auc' is not the name of a scorer: auc is"):
        get_scorer("neg_auc")


# ---------------------------------------------------------------------------------------- queries

PER_QUERY = ["ap", "dcg", "dcg@5", "ndcg", "ndcg@5", "precision@3", "recall@3", "spearman"]
ONE_LIST = ["neg_accuracy_loss@top0.2", "auc", "bedroc@20", "local_auc@0.5", "pnorm@4", "pos@top"]


@pytest.mark.parametrize("name", PER_QUERY)
def test_means_over_queries_need_the_queries(name, data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    expected = get_measure(name)(y, model.decision_function(X))
    for parameters in ({}, {"qid": False}):
        if name in ("precision@3", "recall@3"):
            assert get_scorer(name, **parameters)(model, X, y) == expected
            continue
        with pytest.warns(SingleListWarning, match="got no qid and takes all rows") as caught:
            assert get_scorer(name, **parameters)(model, X, y) == expected
        for advice in ("groups=", "enable_metadata_routing=True", "single_list=True"):
            assert advice in str(caught[0].message)
    with pytest.raises(ScorerSetupError, match="asks for 'query', but got no qid: pass qid="):
        get_scorer(name, qid="query")(model, X, y)
    assert one_list(name)(model, X, y) == expected


@pytest.mark.parametrize("name", ONE_LIST)
def test_measures_of_one_list_take_queries_where_they_are_given(name, data):
    X, y = data
    model = RidgeClassifier().fit(X, y)
    qid = np.arange(80) % 3
    measure = get_measure(name.removeprefix("neg_"))
    score = model.decision_function(X)
    sign = -1 if name.startswith("neg_") else 1
    assert measure.greater_is_better is (sign == 1)
    expected = sign * measure(y, score)
    assert get_scorer(name)(model, X, y) == expected
    of_queries = sign * measure(y, score, qid=qid)
    assert of_queries != expected
    for scorer in (get_scorer(name), get_scorer(name, qid=True)):
        assert scorer(model, X, y, qid=qid) == of_queries
    with pytest.raises(ScorerSetupError, match="got no qid"):
        get_scorer(name, qid="groups")(model, X, y)


@pytest.mark.parametrize("qid_type", [int, str, float, object])
def test_a_scorer_can_be_called_with_everything(qid_type, data):
    for routing in (False, True):
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
        with pytest.raises(ScorerSetupError, match="built with single_list=True"):
            one_list(name)(model, X, y, qid=np.zeros(80))
        for qid in (True, "groups"):
            with pytest.raises(ValueError, match="takes none"):
                one_list(name, qid=qid)
        assert one_list(name, qid=False)(model, X, y) == one_list(name)(model, X, y)


def test_what_cannot_be_a_request_is_refused():
    with pytest.raises(TypeError, match="pass the ids themselves when you call"):
        get_scorer("ndcg", qid=np.zeros(3))
    with pytest.raises(ValueError, match="'my groups' must be a valid keyword name"):
        get_scorer("ndcg", qid="my groups")
    with pytest.raises(TypeError, match="single_list='yes'"):
        get_scorer("ndcg", single_list="yes")


def test_metadata_that_the_measure_does_not_take_is_refused():
    with pytest.raises(TypeError, match="takes no argument 'sample_weight'"):
        get_scorer("rr").set_score_request(sample_weight=True)


def highest(labels, scores):
    """Label of the item on top."""
    assert set(labels) <= {0, 1}
    return labels[np.argmax(scores)]


def test_a_measure_of_ones_own(data):
    X, y = data
    model = RidgeClassifier().fit(X, np.array([-1, 1])[y])
    qid, score = np.arange(80) % 3, model.decision_function(X)
    labels = model.classes_[y]
    of_queries = np.mean([highest(y[qid == query], score[qid == query]) for query in range(3)])
    scorer = get_scorer(make_measure(highest))
    assert scorer(model, X, labels, qid=qid) == pytest.approx(of_queries, rel=1e-15)
    with pytest.warns(SingleListWarning, match="highest is a mean over queries"):
        scorer(model, X, labels)
    assert pickle.loads(pickle.dumps(scorer))(model, X, labels, qid=qid) == of_queries
    one = get_scorer(make_measure(highest, per_query=False))
    assert one(model, X, labels) == highest(y, score)
    loss = get_scorer(make_measure(highest, per_query=False, greater_is_better=False))
    assert loss(model, X, labels) == -highest(y, score)
    assert repr(loss) == "get_scorer('neg_highest')"
    with pytest.raises(TypeError, match="takes no sample_weight"):
        one(model, X, labels, sample_weight=np.ones(80))


@pytest.mark.parametrize("class_of_theirs", [{}, {"pos_label": 0}])
@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
def test_scorers_of_either_class_side_by_side(class_of_theirs, model, data):
    for first in ("ours", "theirs"):
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
    assert repr(get_scorer("ndcg@10")) == "get_scorer('ndcg@10')"
    shown = repr(get_scorer("ndcg", qid="query", gain="linear"))
    assert shown == "get_scorer('ndcg', gain='linear', qid='query')"
    assert repr(one_list("ap")) == "get_scorer('ap', single_list=True)"
    assert repr(get_scorer("auc", pos_label="a")) == "get_scorer('auc', pos_label='a')"
