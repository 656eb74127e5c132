"""How the ids of queries reach a scorer: with metadata routing on and off, as groups and as qid.

Every value is compared with the metric called by hand, fold by fold.
"""

import copy
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.metrics import (
    average_precision_score,
    dcg_score,
    get_scorer,
    make_ranking_scorer,
    ndcg_score,
    precision_at_k_score,
    roc_auc_score,
)

N_QUERIES, N_ITEMS = 9, 8


class QueryRanker(BaseEstimator):
    """Ranks by differences within queries, and remembers what it was given."""

    __metadata_request__fit = {"qid": "groups"}
    __metadata_request__score = {"qid": "groups"}

    def __init__(self, power=1.0, n_rounds=1):
        self.power = power
        self.n_rounds = n_rounds

    def fit(self, X, y, *, qid=None):
        X, y = np.asarray(X), np.asarray(y)
        self.qid_ = None if qid is None else np.array(qid)
        number = np.zeros(len(y), int) if qid is None else np.unique(qid, return_inverse=True)[1]
        share = np.eye(number.max() + 1)[number]
        share /= share.sum(axis=0)
        centred = X - (share > 0) @ (share.T @ X)
        slope = centred.T @ y
        self.coef_ = np.sign(slope) * np.abs(slope) ** self.power
        return self

    def predict(self, X):
        return np.asarray(X) @ self.coef_

    decision_function = predict

    def score(self, X, y, *, qid=None):
        if qid is None:
            raise ValueError("score needs qid")
        return ndcg_score(y, self.predict(X), k=3, qid=qid)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def data():
    """Rows of queries mixed; each query shifts all its rows, so that ids matter."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.array(list("abcdefghi")), N_ITEMS))
    shift = np.unique(qid, return_inverse=True)[1]
    X = rng.normal(size=(len(qid), 3)) + shift[:, None]
    grade = np.clip(np.round(X[:, 0] - shift + rng.normal(size=len(qid))), 0, 3).astype(int)
    return X, grade, qid


NDCG = partial(ndcg_score, k=3)


def by_hand(model, X, y, groups, cv, metric=NDCG, fit=("qid",), **by_row):
    """Value of each fold: fitted with the ids in ``fit``, scored with those in ``by_row``."""
    values = []
    folds = cv.split(X, y) if isinstance(cv, KFold) else cv.split(X, y, groups)
    for train, test in folds:
        given = dict.fromkeys(fit, groups[train])
        score = clone(model).fit(X[train], y[train], **given).predict(X[test])
        values.append(
            metric(y[test], score, **{name: value[test] for name, value in by_row.items()})
        )
    return np.array(values)


CV = GroupKFold(3)


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


@pytest.mark.parametrize("make", [list, pd.Series, lambda qid: pd.Series(qid).astype("category")])
def test_on_groups_of_many_types(make, data, routing):
    X, y, qid = data
    values = cross_val_score(
        QueryRanker(),
        pd.DataFrame(X),
        pd.Series(y),
        scoring=get_scorer("ndcg@3"),
        cv=CV,
        params={"groups": make(qid)},
        error_score="raise",
    )
    np.testing.assert_allclose(values, by_hand(QueryRanker(), X, y, qid, CV, qid=qid))


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
    with pytest.raises(ValueError, match="got no qid"):
        search.score(X, y)


def test_on_qid(data, routing):
    X, y, qid = data
    arguments = {"cv": CV, "error_score": "raise"}
    with pytest.raises(TypeError, match=r"unexpected argument.*'qid'.*not routed"):
        cross_validate(
            QueryRanker(),
            X,
            y,
            scoring=get_scorer("ndcg@3"),
            params={"groups": qid, "qid": qid},
            **arguments,
        )
    ranker = QueryRanker().set_fit_request(qid=True)
    expected = by_hand(QueryRanker(), X, y, qid, CV, qid=qid)
    for scorer in (
        get_scorer("ndcg@3", qid=True),
        get_scorer("ndcg@3", qid="qid"),
        get_scorer("ndcg@3").set_score_request(qid=True),
    ):
        values = cross_val_score(
            ranker, X, y, scoring=scorer, params={"groups": qid, "qid": qid}, **arguments
        )
        np.testing.assert_array_equal(values, expected)
    # The splitter need not see the ids.
    values = cross_val_score(
        ranker,
        X,
        y,
        scoring=get_scorer("dcg@3", qid=True),
        params={"qid": qid},
        cv=KFold(3),
        error_score="raise",
    )
    expected = by_hand(QueryRanker(), X, y, qid, KFold(3), partial(dcg_score, k=3), qid=qid)
    np.testing.assert_array_equal(values, expected)


def test_on_under_another_name(data, routing):
    X, y, qid = data
    values = cross_val_score(
        QueryRanker().set_fit_request(qid="query"),
        X,
        y,
        scoring=get_scorer("dcg@3", qid="query"),
        params={"query": qid},
        cv=KFold(3),
        error_score="raise",
    )
    expected = by_hand(QueryRanker(), X, y, qid, KFold(3), partial(dcg_score, k=3), qid=qid)
    np.testing.assert_array_equal(values, expected)


def test_on_without_ids_scoring_fails(data, routing):
    X, y, _ = data
    with pytest.raises(ValueError, match="got no qid"):
        cross_validate(
            QueryRanker(), X, y, scoring=get_scorer("ndcg@3"), cv=3, error_score="raise"
        )


def test_on_never_requested(data, routing):
    X, y, qid = data
    with pytest.raises(ValueError, match="got no qid"):
        cross_validate(
            QueryRanker(),
            X,
            y,
            scoring=get_scorer("ndcg@3", qid=False),
            cv=CV,
            params={"groups": qid},
            error_score="raise",
        )


# ---------------------------------------------------------------------------------- routing is off


def test_off_groups(data):
    X, y, qid = data
    arguments = {"groups": qid, "cv": CV, "error_score": "raise"}
    with pytest.raises(ValueError, match=r"got no qid.*enable_metadata_routing=True"):
        cross_validate(QueryRanker(), X, y, scoring=get_scorer("ndcg@3"), **arguments)
    search = GridSearchCV(
        QueryRanker(), {"power": [1.0]}, scoring=get_scorer("ndcg@3"), cv=CV, error_score="raise"
    )
    with pytest.raises(ValueError, match="got no qid"):
        search.fit(X, y, groups=qid)
    # Groups are for the splitter alone: neither fit nor a measure of one list sees them.
    values = cross_val_score(
        QueryRanker(), X, y, scoring=get_scorer("ndcg@3", single_list=True), **arguments
    )
    np.testing.assert_array_equal(values, by_hand(QueryRanker(), X, y, qid, CV, fit=()))


def test_off_groups_without_error_score_is_nan_with_a_warning(data):
    X, y, qid = data
    with pytest.warns(UserWarning, match=r"Scoring failed(.|\n)*got no qid"):
        values = cross_val_score(
            QueryRanker(), X, y, scoring=get_scorer("ndcg@3"), groups=qid, cv=CV
        )
    assert np.isnan(values).all()


def test_off_qid(data):
    X, y, qid = data
    arguments = {"groups": qid, "params": {"qid": qid}, "cv": CV}
    with pytest.raises(ValueError, match="got no qid"):
        cross_validate(
            QueryRanker(),
            X,
            y,
            scoring=get_scorer("ndcg@3"),
            error_score="raise",
            **arguments,
        )
    # The ids reach fit, so that predictions are right, and the metric can be called on them.
    score = cross_val_predict(QueryRanker(), X, y, **arguments)
    expected = by_hand(
        QueryRanker(), X, y, qid, CV, metric=partial(ndcg_score, average=None), qid=qid
    )
    values = ndcg_score(y, score, qid=qid, average=None)
    assert sorted(values) == pytest.approx(sorted(np.concatenate(expected)))
    # So can the scorer.
    result = cross_validate(
        QueryRanker(),
        X,
        y,
        scoring=lambda estimator, X, y: 0.0,
        return_estimator=True,
        return_indices=True,
        **arguments,
    )
    scorer = get_scorer("ndcg@3")
    values = [
        scorer(fitted, X[test], y[test], qid=qid[test])
        for fitted, test in zip(result["estimator"], result["indices"]["test"], strict=True)
    ]
    np.testing.assert_array_equal(values, by_hand(QueryRanker(), X, y, qid, CV, qid=qid))


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
            values = cross_val_score(
                QueryRanker(),
                X,
                y,
                scoring=scorer,
                cv=CV,
                params={"groups": qid},
                error_score="raise",
            )
            np.testing.assert_array_equal(values, by_hand(QueryRanker(), X, y, qid, CV, qid=qid))


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("ndcg", {}, "groups"),
        ("ndcg", {"qid": "query"}, "query"),
        ("ndcg", {"qid": True}, True),
        ("ndcg", {"qid": "qid"}, True),
        ("ndcg", {"qid": False}, False),
        ("ndcg", {"single_list": True}, False),
        ("precision@5", {}, "groups"),
        ("recall@5", {}, "groups"),
        ("ap", {}, "groups"),
        ("spearman", {}, "groups"),
        ("dcg@10", {}, "groups"),
        ("auc", {}, None),
        ("auc", {"qid": "groups"}, "groups"),
        ("auc", {"qid": False}, False),
        ("local_auc@0.8", {}, None),
        ("pnorm@4", {}, None),
        ("bedroc@20", {}, None),
        ("precision@top0.05", {}, None),
        ("accuracy@top0.05", {}, None),
        ("pos@top", {}, None),
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
    values = cross_val_score(
        QueryRanker(),
        X,
        y,
        scoring=scorer,
        cv=CV,
        params={"groups": qid, "sample_weight": weight, "importance": importance},
        error_score="raise",
    )
    expected = by_hand(
        QueryRanker(), X, y, qid, CV, qid=qid, sample_weight=weight, query_weight=importance
    )
    np.testing.assert_array_equal(values, expected)


def test_weights_nobody_decided_on_are_refused(data, routing):
    X, y, qid = data
    model = Ridge().set_fit_request(sample_weight=True)
    with pytest.raises(UnsetMetadataPassedError, match=r"\[sample_weight\].*ndcg_score"):
        cross_val_score(
            model,
            X,
            y,
            scoring=get_scorer("ndcg@3"),
            cv=CV,
            params={"groups": qid, "sample_weight": np.ones(len(y))},
            error_score="raise",
        )


@pytest.mark.parametrize("name", ["auc", "precision@top0.2", "pos@top", "bedroc@20"])
def test_grouped_folds_leave_measures_of_one_list_as_they_are(name, data, routing):
    X, grade, patient = data
    y = (grade > 1).astype(int)
    scorer = get_scorer(name)
    values = cross_val_score(
        Ridge(), X, y, scoring=scorer, cv=CV, params={"groups": patient}, error_score="raise"
    )
    metric = partial(scorer._metric, **scorer._kwargs)
    np.testing.assert_array_equal(values, by_hand(Ridge(), X, y, patient, CV, metric, fit=()))
    one_list = get_scorer("ap", single_list=True)
    values = cross_val_score(
        Ridge(), X, y, scoring=one_list, cv=CV, params={"groups": patient}, error_score="raise"
    )
    expected = by_hand(Ridge(), X, y, patient, CV, average_precision_score, fit=())
    np.testing.assert_array_equal(values, expected)


def test_a_later_request_of_ids_makes_a_mean_over_queries(data, routing):
    X, grade, qid = data
    ranker, y = Ridge().fit(X, grade), grade > 0
    scorer = get_scorer("auc").set_score_request(qid="query")
    assert scorer(ranker, X, y, query=qid) == roc_auc_score(y, ranker.predict(X), qid=qid)
    with pytest.raises(ValueError, match="got no qid"):
        scorer(ranker, X, y)
    scorer.set_score_request(qid=False)
    assert scorer(ranker, X, y) == roc_auc_score(y, ranker.predict(X))


def test_an_auc_per_query_where_asked_for(data, routing):
    X, grade, qid = data
    y = (grade > 0).astype(int)
    values = cross_val_score(
        QueryRanker(),
        X,
        y,
        scoring=get_scorer("auc", qid="groups"),
        cv=CV,
        params={"groups": qid},
        error_score="raise",
    )
    expected = by_hand(QueryRanker(), X, y, qid, CV, roc_auc_score, qid=qid)
    np.testing.assert_array_equal(values, expected)


def test_a_metric_of_others_gets_queries_where_asked_for(data, routing):
    X, y, qid = data

    def first(labels, scores, *, qid=None, power=1):
        lists = np.unique(qid)
        return np.mean([labels[qid == q][np.argmax(scores[qid == q])] ** power for q in lists])

    values = cross_val_score(
        QueryRanker(),
        X,
        y,
        scoring=make_ranking_scorer(first, qid="groups", power=2),
        cv=CV,
        params={"groups": qid},
        error_score="raise",
    )
    expected = by_hand(QueryRanker(), X, y, qid, CV, partial(first, power=2), qid=qid)
    np.testing.assert_array_equal(values, expected)


# --------------------------------------------------------------------------- scikit-learn's tools


def test_many_measures_in_one_search(data, routing):
    X, grade, qid = data
    y = (grade > 0).astype(int)
    scoring = {
        "ndcg": get_scorer("ndcg@3"),
        "p": get_scorer("precision@2"),
        "auc": get_scorer("auc"),
        "theirs": "roc_auc",
    }
    powers = [0.5, 2.0]
    search = GridSearchCV(
        make_pipeline(StandardScaler(), QueryRanker()),
        {"queryranker__power": powers},
        scoring=scoring,
        refit="ndcg",
        cv=CV,
        error_score="raise",
    ).fit(X, y, groups=qid)
    for i, power in enumerate(powers):
        metrics = {
            "ndcg": (partial(ndcg_score, k=3), {"qid": qid}),
            "p": (partial(precision_at_k_score, k=2), {"qid": qid}),
            "auc": (roc_auc_score, {}),
        }
        for name, (metric, given) in metrics.items():
            values = []
            for train, test in CV.split(X, y, qid):
                scale = StandardScaler().fit(X[train])
                ranker = QueryRanker(power).fit(
                    scale.transform(X[train]), y[train], qid=qid[train]
                )
                by_row = {key: value[test] for key, value in given.items()}
                values.append(metric(y[test], ranker.predict(scale.transform(X[test])), **by_row))
            assert search.cv_results_[f"mean_test_{name}"][i] == pytest.approx(np.mean(values))
    np.testing.assert_allclose(
        search.cv_results_["mean_test_auc"], search.cv_results_["mean_test_theirs"]
    )
    np.testing.assert_array_equal(search.best_estimator_[-1].qid_, qid)
    expected = ndcg_score(y, search.predict(X), k=3, qid=qid)
    assert search.score(X, y, groups=qid) == expected
    # The measure that asks for no ids is handed them by the search all the same.
    search.set_params(refit="auc").fit(X, y, groups=qid)
    assert search.score(X, y, groups=qid) == roc_auc_score(y, search.predict(X))


def test_names_of_the_caller_in_a_direct_call(data):
    X, y, qid = data
    ranker = QueryRanker().fit(X, y, qid=qid)
    expected = ndcg_score(y, ranker.predict(X), k=3, qid=qid)
    for scorer, name in (
        (get_scorer("ndcg@3"), "groups"),
        (get_scorer("ndcg@3"), "qid"),
        (get_scorer("ndcg@3", qid="query"), "query"),
    ):
        assert scorer(ranker, X, y, **{name: qid}) == expected
    scorer = get_scorer("ndcg@3")
    assert scorer(ranker, X, y, qid=qid, groups=qid) == expected
    with pytest.raises(ValueError, match="passed as qid and as groups"):
        scorer(ranker, X, y, qid=qid, groups=qid[::-1])
    with pytest.raises(TypeError, match="query"):
        scorer(ranker, X, y, qid=qid, query=qid)
    assert get_scorer("auc")(ranker, X, y > 0, groups=qid) == roc_auc_score(
        y > 0, ranker.predict(X)
    )


def test_nested_cross_validation(data, routing):
    X, y, qid = data
    grid = {"power": [0.5, 1.0, 2.0]}
    inner = GroupKFold(2)
    search = GridSearchCV(
        QueryRanker(), grid, scoring=get_scorer("ndcg@3"), cv=inner, error_score="raise"
    )
    arguments = {"cv": CV, "params": {"groups": qid}, "error_score": "raise"}
    result = cross_validate(
        search, X, y, scoring=get_scorer("ndcg@3"), return_estimator=True, **arguments
    )
    for (train, test), fitted, value in zip(
        CV.split(X, y, qid), result["estimator"], result["test_score"], strict=True
    ):
        means = [
            by_hand(
                QueryRanker(power), X[train], y[train], qid[train], inner, qid=qid[train]
            ).mean()
            for power in grid["power"]
        ]
        best = QueryRanker(grid["power"][int(np.argmax(means))])
        assert fitted.best_params_["power"] == best.power
        score = best.fit(X[train], y[train], qid=qid[train]).predict(X[test])
        assert value == ndcg_score(y[test], score, k=3, qid=qid[test])
    # By default the outer loop takes the measure of the search.
    default = cross_validate(search, X, y, **arguments)
    np.testing.assert_array_equal(default["test_score"], result["test_score"])


def test_learning_and_validation_curves(data, routing):
    X, y, qid = data
    arguments = {
        "scoring": get_scorer("dcg@3"),
        "cv": CV,
        "params": {"groups": qid},
        "error_score": "raise",
    }
    sizes, _, test_scores = learning_curve(
        QueryRanker(), X, y, train_sizes=[0.5, 1.0], **arguments
    )
    for size, values in zip(sizes, test_scores, strict=True):
        expected = []
        for train, test in CV.split(X, y, qid):
            some = train[:size]
            score = QueryRanker().fit(X[some], y[some], qid=qid[some]).predict(X[test])
            expected.append(dcg_score(y[test], score, k=3, qid=qid[test]))
        np.testing.assert_array_equal(values, expected)
    _, test_scores = validation_curve(
        QueryRanker(), X, y, param_name="power", param_range=[0.5, 2.0], **arguments
    )
    for power, values in zip([0.5, 2.0], test_scores, strict=True):
        np.testing.assert_array_equal(
            values, by_hand(QueryRanker(power), X, y, qid, CV, partial(dcg_score, k=3), qid=qid)
        )


def test_halving(data, routing):
    X, y, qid = data
    search = HalvingGridSearchCV(
        QueryRanker(),
        {"power": [0.5, 2.0]},
        resource="n_rounds",
        max_resources=2,
        factor=2,
        scoring=get_scorer("ndcg@3"),
        cv=CV,
        error_score="raise",
    ).fit(X, y, groups=qid)
    for power, mean in zip(
        search.cv_results_["param_power"], search.cv_results_["mean_test_score"], strict=True
    ):
        expected = by_hand(QueryRanker(power), X, y, qid, CV, qid=qid).mean()
        assert mean == pytest.approx(expected)
    np.testing.assert_array_equal(search.best_estimator_.qid_, qid)


@pytest.mark.slow  # starts processes
def test_leave_one_query_out_in_parallel(data, routing):
    X, y, qid = data
    values = cross_val_score(
        QueryRanker(),
        X,
        y,
        scoring=get_scorer("ndcg@3"),
        cv=LeaveOneGroupOut(),
        params={"groups": qid},
        error_score="raise",
        n_jobs=2,
    )
    expected = by_hand(QueryRanker(), X, y, qid, LeaveOneGroupOut(), qid=qid)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("on", [False, True])
def test_permutation_importance_of_queries(on, data):
    X, y, qid = data
    ranker = QueryRanker().fit(X, y, qid=qid)
    scorer = get_scorer("ndcg@3")
    with sklearn.config_context(enable_metadata_routing=on):
        with pytest.raises(ValueError, match="got no qid"):
            permutation_importance(ranker, X, y, scoring=scorer)
        result = permutation_importance(
            ranker, X, y, scoring=partial(scorer, qid=qid), n_repeats=2, random_state=0
        )
        own = permutation_importance(
            ranker,
            X,
            y,
            scoring=lambda model, X, y: ndcg_score(y, model.predict(X), k=3, qid=qid),
            n_repeats=2,
            random_state=0,
        )
    np.testing.assert_array_equal(result.importances, own.importances)


@pytest.mark.parametrize("labels", [(0, 1), ("bad", "good")])
@pytest.mark.parametrize(
    "model", [LogisticRegression(), AccuracyAtTopRanker(tau=0.3)], ids=["logistic", "top"]
)
def test_classifiers_over_queries(model, labels, data, routing):
    X, grade, qid = data
    positive = (grade > 0).astype(int)
    y = np.array(labels)[positive]
    values = cross_val_score(
        make_pipeline(StandardScaler(), model),
        X,
        y,
        scoring=get_scorer("precision@3"),
        cv=CV,
        params={"groups": qid},
        error_score="raise",
    )
    for (train, test), value in zip(CV.split(X, y, qid), values, strict=True):
        fitted = make_pipeline(StandardScaler(), clone(model)).fit(X[train], y[train])
        score = fitted.decision_function(X[test])
        assert value == precision_at_k_score(positive[test], score, k=3, qid=qid[test])


def test_estimators_that_validate_themselves(data, routing):
    X, grade, qid = data
    y = (grade > 0).astype(int)
    Cs = [1e-3, 1.0]
    fitted = LogisticRegressionCV(
        Cs=Cs,
        scoring=get_scorer("precision@3"),
        cv=CV,
        l1_ratios=(0,),
        use_legacy_attributes=False,
    ).fit(X, y, groups=qid)
    for j, C in enumerate(Cs):
        for fold, (train, test) in enumerate(CV.split(X, y, qid)):
            score = LogisticRegression(C=C).fit(X[train], y[train]).decision_function(X[test])
            expected = precision_at_k_score(y[test], score, k=3, qid=qid[test])
            assert fitted.scores_[fold, 0, j] == pytest.approx(expected)
    fitted = RidgeCV(alphas=[0.1, 10.0], scoring=get_scorer("ndcg@3")).fit(X, grade, groups=qid)
    left_out = cross_val_predict(Ridge(fitted.alpha_), X, grade, cv=LeaveOneOut())
    assert fitted.best_score_ == pytest.approx(ndcg_score(grade, left_out, k=3, qid=qid))


def test_regressors_over_queries(data, routing):
    X, y, qid = data

    class Constant(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            self.mean_ = y.mean()
            return self

        def predict(self, X):
            return np.full(len(X), self.mean_)

    for model in (Ridge(), Constant()):
        values = cross_val_score(
            model,
            X,
            y,
            scoring=get_scorer("ndcg@3", gain="linear"),
            cv=CV,
            params={"groups": qid},
            error_score="raise",
        )
        metric = partial(ndcg_score, k=3, gain="linear")
        expected = by_hand(model, X, y, qid, CV, metric, fit=(), qid=qid)
        np.testing.assert_array_equal(values, expected)


# ------------------------------------------------------------------------------ boosters of others


@pytest.fixture
def sorted_data(data):
    X, y, qid = data
    rows = np.argsort(qid, kind="stable")
    return X[rows], y[rows], np.unique(qid[rows], return_inverse=True)[1]


def test_xgboost(sorted_data, routing):
    xgboost = pytest.importorskip("xgboost", reason="XGBRanker is tried where it is installed")
    X, y, qid = sorted_data
    ranker = xgboost.XGBRanker(n_estimators=3, max_depth=2, n_jobs=1)
    ranker.set_fit_request(qid="groups")
    values = cross_val_score(
        ranker,
        X,
        y,
        scoring=get_scorer("ndcg@3"),
        cv=CV,
        params={"groups": qid},
        error_score="raise",
    )
    np.testing.assert_array_equal(values, by_hand(ranker, X, y, qid, CV, qid=qid))
    fitted = ranker.fit(X, y, qid=qid)
    expected = average_precision_score(y > 0, fitted.predict(X), qid=qid)
    assert get_scorer("ap")(fitted, X, y > 0, qid=qid) == expected


def test_lightgbm(sorted_data, routing):
    lightgbm = pytest.importorskip("lightgbm", reason="LGBMRanker is tried where it is installed")
    X, y, qid = sorted_data

    class ByQuery(lightgbm.LGBMRanker):
        """Takes an id per row, sorted, in place of the sizes of groups."""

        def fit(self, X, y, *, qid):
            return super().fit(X, y, group=np.unique(qid, return_counts=True)[1])

    ranker = ByQuery(n_estimators=3, min_child_samples=2, n_jobs=1, verbose=-1)
    ranker.set_fit_request(qid="groups")
    values = cross_val_score(
        ranker,
        X,
        y,
        scoring=get_scorer("ndcg@3"),
        cv=CV,
        params={"groups": qid},
        error_score="raise",
    )
    np.testing.assert_array_equal(values, by_hand(ranker, X, y, qid, CV, qid=qid))
    fitted = lightgbm.LGBMRanker(n_estimators=3, min_child_samples=2, n_jobs=1, verbose=-1)
    fitted.fit(X, y, group=np.full(N_QUERIES, N_ITEMS))
    expected = ndcg_score(y, fitted.predict(X), k=3, qid=qid)
    assert get_scorer("ndcg@3")(fitted, X, y, qid=qid) == expected
