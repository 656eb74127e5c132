"""How the ids of queries reach a scorer: with metadata routing on and off, as groups and as qid.

Every value is compared with the measure called by hand, fold by fold.
"""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)

from sklearn_rank.exceptions import ScorerSetupError, SingleListWarning
from sklearn_rank.metrics import (
    average_precision_score,
    dcg_score,
    get_scorer,
    ndcg_score,
    roc_auc_score,
)
from tests.metrics.query_ranking import CV, QueryRanker, by_hand, fold_values
from tests.naming import for_each

# ----------------------------------------------------------------------------------- routing is on


def test_on_groups(data, routing):
    X, y, qid = data
    expected = by_hand(QueryRanker(), X, y, qid, CV, qid=qid)
    pooled = by_hand(QueryRanker(), X, y, qid, CV)
    assert np.all(expected != pooled)
    result = cross_validate(
        QueryRanker(),
        X,
        y,
        scoring=get_scorer("ndcg@3"),
        cv=CV,
        params={"groups": qid},
        error_score="raise",
        return_estimator=True,
        return_train_score=True,
    )
    np.testing.assert_array_equal(result["test_score"], expected)
    for (train, _), fitted, score in zip(
        CV.split(X, y, qid), result["estimator"], result["train_score"], strict=True
    ):
        np.testing.assert_array_equal(fitted.qid_, qid[train])
        assert score == ndcg_score(y[train], fitted.predict(X[train]), k=3, qid=qid[train])


def test_on_groups_in_a_search(data, routing):
    X, y, qid = data
    powers = [0.5, 1.0, 2.0]
    search = GridSearchCV(
        QueryRanker(),
        {"power": powers},
        scoring=get_scorer("ndcg@3"),
        cv=CV,
        error_score="raise",
    ).fit(X, y, groups=qid)
    for i, power in enumerate(powers):
        expected = by_hand(QueryRanker(power), X, y, qid, CV, qid=qid)
        for fold in range(3):
            assert search.cv_results_[f"split{fold}_test_score"][i] == expected[fold]
    np.testing.assert_array_equal(search.best_estimator_.qid_, qid)
    expected = ndcg_score(y, search.predict(X), k=3, qid=qid)
    assert search.score(X, y, groups=qid) == expected
    with pytest.raises(ScorerSetupError, match="got no qid"):
        search.score(X, y)


def test_on_qid(data, routing):
    X, y, qid = data
    with pytest.raises(TypeError, match=r"unexpected argument.*'qid'.*not routed"):
        fold_values(QueryRanker(), X, y, get_scorer("ndcg@3"), groups=qid, qid=qid)
    ranker = QueryRanker().set_fit_request(qid=True)
    expected = by_hand(QueryRanker(), X, y, qid, CV, qid=qid)
    for scorer in (
        get_scorer("ndcg@3", qid=True),
        get_scorer("ndcg@3", qid="qid"),
        get_scorer("ndcg@3").set_score_request(qid=True),
    ):
        values = fold_values(ranker, X, y, scorer, groups=qid, qid=qid)
        np.testing.assert_array_equal(values, expected)
    # The splitter need not see the ids.
    values = fold_values(ranker, X, y, get_scorer("dcg@3", qid=True), cv=KFold(3), qid=qid)
    expected = by_hand(QueryRanker(), X, y, qid, KFold(3), partial(dcg_score, k=3), qid=qid)
    np.testing.assert_array_equal(values, expected)


def test_on_never_requested(data, routing):
    X, y, qid = data
    with pytest.raises(ScorerSetupError, match="got no qid"):
        fold_values(QueryRanker(), X, y, get_scorer("ndcg@3", qid=False), groups=qid)


# ---------------------------------------------------------------------------------- routing is off


def test_off_groups(data):
    X, y, qid = data
    arguments = {"groups": qid, "cv": CV, "error_score": "raise"}
    with pytest.warns(SingleListWarning, match=r"got no qid.*enable_metadata_routing=True"):
        cross_validate(QueryRanker(), X, y, scoring=get_scorer("ndcg@3"), **arguments)
    search = GridSearchCV(
        QueryRanker(), {"power": [1.0]}, scoring=get_scorer("ndcg@3"), cv=CV, error_score="raise"
    )
    with pytest.warns(SingleListWarning, match="got no qid"):
        search.fit(X, y, groups=qid)
    # Groups are for the splitter alone: neither fit nor a measure of one list sees them.
    values = cross_val_score(
        QueryRanker(), X, y, scoring=get_scorer("ndcg@3", single_list=True), **arguments
    )
    np.testing.assert_array_equal(values, by_hand(QueryRanker(), X, y, qid, CV, fit=()))


def test_off_qid(data):
    X, y, qid = data
    arguments = {"groups": qid, "params": {"qid": qid}, "cv": CV}
    scorer = get_scorer("ndcg@3")
    with pytest.raises(ScorerSetupError, match="got no qid"):
        cross_validate(QueryRanker(), X, y, scoring=scorer, error_score="raise", **arguments)
    # The ids reach fit, so that predictions are right, and the measure can be called on them.
    score = cross_val_predict(QueryRanker(), X, y, **arguments)
    expected = by_hand(
        QueryRanker(), X, y, qid, CV, measure=partial(ndcg_score, average=None), qid=qid
    )
    values = ndcg_score(y, score, qid=qid, average=None)
    assert sorted(values) == pytest.approx(sorted(np.concatenate(expected)))


# ----------------------------------------------------------------------- what each scorer asks for


def requested(scorer):
    requests = scorer.get_metadata_routing().score.requests
    return requests.get("qid")


def test_requests_do_not_depend_on_routing_at_construction(data):
    X, y, qid = data
    off = get_scorer("ndcg@3")
    with sklearn.config_context(enable_metadata_routing=True):
        on = get_scorer("ndcg@3")
        for scorer in (off, on):
            values = fold_values(QueryRanker(), X, y, scorer, groups=qid)
            np.testing.assert_array_equal(values, by_hand(QueryRanker(), X, y, qid, CV, qid=qid))


@for_each(
    ("name", "parameters", "expected"),
    [
        ("ndcg", {}, "groups"),
        ("ndcg", {"qid": "query"}, "query"),
        ("ndcg", {"qid": True}, True),
        ("ndcg", {"qid": "qid"}, True),
        ("ndcg", {"qid": False}, False),
        ("ndcg", {"single_list": True}, False),
        ("auc", {}, None),
        ("auc", {"qid": "groups"}, "groups"),
        ("auc", {"qid": False}, False),
        ("neg_accuracy_loss@top0.05", {}, None),
    ],
)
def test_default_requests(name, parameters, expected):
    scorer = get_scorer(name, **parameters)
    for again in (scorer, copy.copy(scorer), copy.deepcopy(scorer), clone(scorer, safe=False)):
        assert requested(again) == expected
    assert requested(pickle.loads(pickle.dumps(scorer))) == expected


def test_later_requests_leave_the_others(routing):
    scorer = get_scorer("ndcg")
    assert scorer.set_score_request(sample_weight=True) is scorer
    scorer.set_score_request(query_weight="importance")
    for again in (
        scorer,
        copy.copy(scorer),
        copy.deepcopy(scorer),
        clone(scorer, safe=False),
        pickle.loads(pickle.dumps(scorer)),
    ):
        requests = again.get_metadata_routing().score.requests
        assert requests["qid"] == "groups"
        assert requests["sample_weight"] is True
        assert requests["query_weight"] == "importance"
    # A copy is not the scorer.
    copy.deepcopy(scorer).set_score_request(qid="query")
    copy.copy(scorer).set_score_request(qid="query")
    assert requested(scorer) == "groups"
    assert requested(scorer.set_score_request(qid="query")) == "query"
    assert requested(scorer.set_score_request(qid=False)) is False


def test_wrong_requests_leave_the_scorer_as_it_was(routing):
    scorer = get_scorer("ndcg").set_score_request(sample_weight=True)
    before = scorer.get_metadata_routing().score.requests
    with pytest.raises(TypeError, match="takes no argument 'sampel_weight'"):
        scorer.set_score_request(sampel_weight=True)
    with pytest.raises(ValueError, match="alias"):
        scorer.set_score_request(query_weight="not a name")
    with (
        sklearn.config_context(enable_metadata_routing=False),
        pytest.raises(RuntimeError, match="only available when metadata routing is enabled"),
    ):
        scorer.set_score_request(query_weight=True)
    assert scorer.get_metadata_routing().score.requests == before


def test_weights_beside_the_queries(data, routing):
    X, y, qid = data
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, size=len(y))
    importance = np.unique(qid, return_inverse=True)[1] + 0.5
    scorer = get_scorer("ndcg@3").set_score_request(sample_weight=True, query_weight="importance")
    values = fold_values(
        QueryRanker(), X, y, scorer, groups=qid, sample_weight=weight, importance=importance
    )
    expected = by_hand(
        QueryRanker(), X, y, qid, CV, qid=qid, sample_weight=weight, query_weight=importance
    )
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("name", ["auc", "precision@top0.2", "pos@top", "bedroc@20"])
def test_grouped_folds_leave_measures_of_one_list_as_they_are(name, data, routing):
    X, grade, patient = data
    y = (grade > 1).astype(int)
    scorer = get_scorer(name)
    values = fold_values(Ridge(), X, y, scorer, groups=patient)
    expected = by_hand(Ridge(), X, y, patient, CV, scorer.measure, fit=())
    np.testing.assert_array_equal(values, expected)
    one_list = get_scorer("ap", single_list=True)
    values = fold_values(Ridge(), X, y, one_list, groups=patient)
    expected = by_hand(Ridge(), X, y, patient, CV, average_precision_score, fit=())
    np.testing.assert_array_equal(values, expected)


def test_a_later_request_of_ids_makes_a_mean_over_queries(data, routing):
    X, grade, qid = data
    ranker, y = Ridge().fit(X, grade), grade > 0
    scorer = get_scorer("auc").set_score_request(qid="query")
    assert scorer(ranker, X, y, query=qid) == roc_auc_score(y, ranker.predict(X), qid=qid)
    with pytest.raises(ScorerSetupError, match="got no qid"):
        scorer(ranker, X, y)
    scorer.set_score_request(qid=False)
    assert scorer(ranker, X, y) == roc_auc_score(y, ranker.predict(X))
