"""Rankers together: fusion and weights by definition, members of any kind, ids on the way."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from sklearn_rank import OrderPreservingRanker, RankEnsemble, RankSVM
from sklearn_rank.exceptions import QueryOverlapWarning, ScorerSetupError, SingleListWarning
from sklearn_rank.metrics import get_measure, get_scorer
from sklearn_rank.preprocessing import QueryNormalizer
from sklearn_rank.rankers._list_base import LabelType, check_lists
from sklearn_rank.rankers._meta_rankers import fitted_weights
from tests.oracles import query_features as oracle

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{QueryOverlapWarning.__module__}.{QueryOverlapWarning.__name__}"
)


def data(n_queries=12, seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(4, 9, n_queries))
    X = rng.normal(size=(len(qid), 3)) + qid[:, np.newaxis]
    y = rng.binomial(2, 1 / (1 + np.exp(qid - X[:, 0])))
    order = rng.permutation(len(qid))
    return X[order], y[order], qid[order]


def members():
    return [
        ("linear", OrderPreservingRanker(normalize="zscore")),
        ("svm", RankSVM("squared_hinge")),
        ("ridge", make_pipeline(QueryNormalizer("rank"), Ridge())),
        ("grades", LogisticRegression(C=0.1)),
    ]


@pytest.mark.parametrize("fusion", ["zscore", "rank", "minmax", "reciprocal_rank"])
def test_definition(fusion):
    X, y, qid = data()
    weights = [3.0, 1.0, 2.0, 2.0]
    ensemble = RankEnsemble(members(), weights=weights, fusion=fusion).fit(X, y, qid=qid)
    np.testing.assert_allclose(ensemble.weights_, np.array(weights) / 8)
    (_, linear), (_, svm), _, (_, grades) = members()
    ranks = QueryNormalizer("rank").fit_transform(X, qid=qid)
    scores = [
        linear.fit(X, y, qid=qid).predict(X, qid=qid),
        svm.fit(X, y, qid=qid).predict(X),
        Ridge().fit(ranks, y).predict(ranks),
        grades.fit(X, y).predict_proba(X) @ np.array([0, 1, 2]),
    ]
    scores = [np.round(s, 12).tolist() for s in scores]
    expected = oracle.fused(scores, qid.tolist(), ensemble.weights_.tolist(), fusion)
    found = ensemble.predict(X, qid=qid)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_array_equal(ensemble.decision_function(X, qid=qid), found)
    assert ensemble.score(X, y, qid=qid) == get_measure("ndcg")(y, found, qid=qid)
    assert ensemble.rank(X, qid=qid)[qid == 3].min() == 1
    assert list(ensemble.named_estimators_) == ["linear", "svm", "ridge", "grades"]
    assert ensemble.named_estimators_.svm is ensemble.estimators_[1]


def test_fitted_weights_are_the_nearest():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(6), 5)
    y = rng.integers(0, 3, 30).astype(float)
    y[::5] = 3
    values = QueryNormalizer().fit_transform(
        np.column_stack((y + rng.normal(size=30), y + 2 * rng.normal(size=30), -y)), qid=qid
    )
    lists = check_lists(y, LabelType("graded"), qid=qid)
    found = fitted_weights(values, lists)
    assert found.sum() == pytest.approx(1)
    assert found[2] == pytest.approx(0)
    target = oracle.normalized(y.tolist(), qid.tolist(), "zscore")

    def distance(weights):
        return oracle.squared_distance(values.tolist(), target, qid.tolist(), weights)

    best = distance(found.tolist())
    steps = np.linspace(0, 1, 21)
    for a, b in itertools.product(steps, steps):
        if a + b <= 1:
            assert distance([a, b, 1 - a - b]) >= best - 1e-9


@pytest.mark.slow
def test_weights_are_fitted_to_held_out_queries():
    X, y, qid = data(20)
    X = np.column_stack((X - qid[:, np.newaxis], np.random.default_rng(1).normal(size=len(y))))
    noise = make_pipeline(QueryNormalizer(), HistGradientBoostingRegressor(min_samples_leaf=1))
    good = OrderPreservingRanker(alpha=0.1)
    ensemble = RankEnsemble([("noise", noise), ("good", good)], weights="fitted", cv=4)
    ensemble.fit(X, y, qid=qid)
    # The trees fit the training rows best, and other queries worse.
    assert ensemble.weights_[1] > 0.5
    with pytest.raises(ValueError, match="cv=4 needs at least 4 queries, but there are 3"):
        ensemble.fit(*data(3)[:2], qid=data(3)[2])
    assert ensemble.n_queries_ == 20
    folds = list(GroupKFold(4).split(X, groups=qid))
    for cv in (GroupKFold(4), folds):
        other = clone(ensemble).set_params(cv=cv).fit(X, y, qid=qid)
        np.testing.assert_allclose(other.weights_, ensemble.weights_, atol=0.3)
    with pytest.raises(ValueError, match=r"cv splits [0-9]+ queries"):
        clone(ensemble).set_params(cv=list(KFold(2).split(X))).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="cv must hold out every query exactly once"):
        clone(ensemble).set_params(cv=folds[:2]).fit(X, y, qid=qid)


def test_weights_of_rows_and_queries():
    X, y, qid = data()
    kept = members()[:3]
    kept[2] = ("ridge", Ridge())
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    ensemble = RankEnsemble([kept[0], ("ridge", Ridge())])
    one = clone(ensemble).fit(X, y, qid=qid, sample_weight=weight)
    two = clone(ensemble).fit(X[rows], y[rows], qid=qid[rows])
    np.testing.assert_allclose(one.predict(X, qid=qid), two.predict(X, qid=qid), atol=1e-4)
    with pytest.raises(ValueError, match="The member 'ridge', Ridge, takes no query_weight"):
        clone(ensemble).fit(X, y, qid=qid, query_weight=1.0 + qid % 2)


def test_order_and_type_of_ids_jobs_and_pickles():
    X, y, qid = data()
    expected = RankEnsemble(members(), weights="fitted", cv=3).fit(X, y, qid=qid)
    scores = expected.predict(X, qid=qid)
    names = pd.Series([f"query {q:02}" for q in qid])
    found = RankEnsemble(members(), weights="fitted", cv=3, n_jobs=2).fit(X, y, qid=names)
    np.testing.assert_allclose(found.predict(X, qid=names), scores, atol=1e-9)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(expected)).predict(X, qid=qid), scores)
    some = np.isin(qid, [2, 5])
    np.testing.assert_allclose(expected.predict(X[some], qid=qid[some]), scores[some])


def test_one_list():
    X, y, _ = data(3)
    with pytest.warns(SingleListWarning):
        warned = RankEnsemble(members()[:2]).fit(X, y)
    told = RankEnsemble(members()[:2], single_list=True).fit(X, y)
    np.testing.assert_array_equal(warned.predict(X), told.predict(X))
    np.testing.assert_allclose(told.predict(X)[:2], told.predict(X[:2]))
    np.testing.assert_allclose(told.predict(X), told.predict(X, qid=0))


def test_what_is_refused():
    X, y, qid = data()
    fitted = RankEnsemble(members()[:2]).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="was fitted to 12 queries and needs qid"):
        fitted.predict(X)
    with pytest.raises(ScorerSetupError, match="score got no qid"):
        fitted.score(X, y)
    for arguments, message in (
        ({"estimators": [Ridge()]}, "list of pairs of a name and an estimator"),
        ({"estimators": []}, "must be a non-empty list"),
        ({"estimators": [("a", Ridge())] * 2}, "not unique"),
        ({"estimators": [("a", Ridge)]}, "The member 'a' is not an estimator"),
        ({"weights": [1.0]}, "must contain 2 numbers of at least 0"),
        ({"weights": [1.0, -1.0]}, "must contain 2 numbers of at least 0"),
        ({"fusion": "mean"}, "'fusion' parameter"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(fitted).set_params(**arguments).fit(X, y, qid=qid)


def test_parameters_of_members():
    ensemble = RankEnsemble(members())
    ensemble.set_params(linear__alpha=3.0, grades=Ridge())
    assert ensemble.named_estimators["linear"].alpha == 3.0
    assert isinstance(ensemble.get_params()["grades"], Ridge)
    assert RankEnsemble().get_params()["estimators"] is None
    assert RankEnsemble().set_params(fusion="rank").fusion == "rank"


def test_groups_reach_it_and_its_members_in_searches():
    X, y, qid = data()
    ensemble = RankEnsemble(members(), measure="ndcg@3")
    values = []
    for train, test in GroupKFold(3).split(X, y, qid):
        fitted = clone(ensemble).fit(X[train], y[train], qid=qid[train])
        values.append(fitted.score(X[test], y[test], qid=qid[test]))
    with config_context(enable_metadata_routing=True):
        for scoring in (None, get_scorer("ndcg@3")):
            found = cross_val_score(
                ensemble, X, y, cv=GroupKFold(3), params={"groups": qid}, scoring=scoring,
                error_score="raise",
            )  # fmt: skip
            np.testing.assert_allclose(found, values)
        search = GridSearchCV(
            ensemble, {"linear__alpha": [0.1, 1.0], "fusion": ["rank", "zscore"]},
            cv=GroupKFold(3), scoring=get_scorer("ndcg@3"), error_score="raise",
        ).fit(X, y, groups=qid)  # fmt: skip
    value = get_scorer("ndcg@3")(search, X, y, qid=qid)
    assert value == search.best_estimator_.score(X, y, qid=qid)


def test_missing_values_pass_to_members_that_all_take_them():
    X, y, qid = data()
    X[::7, 0] = np.nan
    trees = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=2)
    filled = make_pipeline(SimpleImputer(), Ridge())
    ensemble = RankEnsemble([("trees", trees), ("linear", filled)]).fit(X, y, qid=qid)
    one = RankEnsemble([("trees", trees)]).fit(X, y, qid=qid).predict(X, qid=qid)
    two = RankEnsemble([("linear", filled)]).fit(X, y, qid=qid).predict(X, qid=qid)
    np.testing.assert_allclose(ensemble.predict(X, qid=qid), (one + two) / 2, atol=1e-12)
    with pytest.raises(ValueError, match="Ridge does not accept missing values"):
        RankEnsemble([("trees", trees), ("linear", Ridge())]).fit(X, y, qid=qid)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        RankEnsemble().fit(sp.csr_array(np.nan_to_num(X)), y, qid=qid)
