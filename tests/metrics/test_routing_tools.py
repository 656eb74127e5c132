"""Scorers of queries inside scikit-learn's tools, and with the boosters of others."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge, RidgeCV
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.exceptions import ScorerSetupError
from sklearn_rank.metrics import (
    average_precision_score,
    get_scorer,
    ndcg_score,
    precision_at_k_score,
    roc_auc_score,
)
from tests.metrics.query_ranking import CV, N_ITEMS, N_QUERIES, QueryRanker, by_hand, fold_values

# --------------------------------------------------------------------------- scikit-learn's tools


def test_many_measures_in_one_search(data, routing):
    X, grade, qid = data
    y = (grade > 0).astype(int)
    scoring = {
        "ndcg": get_scorer("ndcg@3"),
        "p": get_scorer("precision@2"),
        "auc": get_scorer("auc", single_list=True),
        # scikit-learn 1.8 takes no decision values of what is no classifier.
        "theirs": make_scorer(metrics.roc_auc_score, response_method="predict"),
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
        measures = {
            "ndcg": (partial(ndcg_score, k=3), {"qid": qid}),
            "p": (partial(precision_at_k_score, k=2), {"qid": qid}),
            "auc": (roc_auc_score, {}),
        }
        for name, (measure, given) in measures.items():
            values = []
            for train, test in CV.split(X, y, qid):
                scale = StandardScaler().fit(X[train])
                ranker = QueryRanker(power).fit(
                    scale.transform(X[train]), y[train], qid=qid[train]
                )
                by_row = {key: value[test] for key, value in given.items()}
                values.append(measure(y[test], ranker.predict(scale.transform(X[test])), **by_row))
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
    with pytest.raises(ScorerSetupError, match="passed twice, as qid and as groups"):
        scorer(ranker, X, y, qid=qid, groups=qid[::-1])
    with pytest.raises(TypeError, match="query"):
        scorer(ranker, X, y, qid=qid, query=qid)
    # Groups that it does not ask for are those of a splitter.
    with pytest.raises(ScorerSetupError, match="fitted to 9 queries, but the scorer of auc got"):
        get_scorer("auc")(ranker, X, y > 0, groups=qid)
    one_list = get_scorer("auc", single_list=True)
    assert one_list(ranker, X, y > 0, groups=qid) == roc_auc_score(y > 0, ranker.predict(X))


def test_permutation_importance_of_queries(data):
    X, y, qid = data
    ranker, scorer = QueryRanker().fit(X, y, qid=qid), get_scorer("ndcg@3")
    with pytest.raises(ScorerSetupError, match="got no qid"):
        permutation_importance(ranker, X, y, scoring=scorer)

    def own(model, X, y):
        return ndcg_score(y, model.predict(X), k=3, qid=qid)

    found, expected = (
        permutation_importance(ranker, X, y, scoring=one, n_repeats=2, random_state=0)
        for one in (partial(scorer, qid=qid), own)
    )
    np.testing.assert_array_equal(found.importances, expected.importances)


@pytest.mark.parametrize("labels", [(0, 1), ("bad", "good")])
@pytest.mark.parametrize(
    "model", [LogisticRegression(), AccuracyAtTopRanker(tau=0.3)], ids=["logistic", "top"]
)
def test_classifiers_over_queries(model, labels, data, routing):
    X, grade, qid = data
    positive = (grade > 0).astype(int)
    y = np.array(labels)[positive]
    told = {} if labels == (0, 1) else {"pos_label": labels[1]}
    if isinstance(model, AccuracyAtTopRanker):
        # The scorer asks the last step of the pipeline.
        model, told = clone(model).set_params(**told), {}
    values = fold_values(
        make_pipeline(StandardScaler(), model), X, y, get_scorer("precision@3", **told), groups=qid
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
    values = fold_values(ranker, X, y, get_scorer("ndcg@3"), groups=qid)
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
    values = fold_values(ranker, X, y, get_scorer("ndcg@3"), groups=qid)
    np.testing.assert_array_equal(values, by_hand(ranker, X, y, qid, CV, qid=qid))
    fitted = lightgbm.LGBMRanker(n_estimators=3, min_child_samples=2, n_jobs=1, verbose=-1)
    fitted.fit(X, y, group=np.full(N_QUERIES, N_ITEMS))
    expected = ndcg_score(y, fitted.predict(X), k=3, qid=qid)
    assert get_scorer("ndcg@3")(fitted, X, y, qid=qid) == expected
