"""Rankers together: fusion and weights by definition, members of any kind, ids on the way."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from sklearn_rank import OrderPreservingRanker, RankEnsemble, RankEnsembleClassifier
from sklearn_rank._ensembles import _ensemble
from sklearn_rank.exceptions import QueryOverlapWarning, ScorerSetupError, SingleListWarning
from sklearn_rank.metrics import get_measure, get_scorer
from sklearn_rank.metrics._shared import scores_with_ids
from sklearn_rank.preprocessing import QueryNormalizer
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
        ("svm", OrderPreservingRanker("pairwise_squared", alpha=1.0)),
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


def test_weights_and_comparison_are_of_held_out_queries():
    X, y, qid = data(24, seed=4)
    named = [members()[0], ("ridge", Ridge())]
    folds = list(GroupKFold(4).split(X, groups=qid))
    ensemble = RankEnsemble(named, measure="ndcg@3", cv=folds).fit(X, y, qid=qid)
    held_out = np.empty((len(y), 2))
    for train, test in folds:
        (_, linear), (_, ridge) = named
        linear.fit(X[train], y[train], qid=qid[train])
        held_out[test, 0] = linear.predict(X[test], qid=qid[test])
        held_out[test, 1] = ridge.fit(X[train], y[train]).predict(X[test])
    np.testing.assert_allclose(ensemble.held_out_scores_, held_out, atol=1e-4)
    values = np.array(
        [oracle.normalized(s.tolist(), qid.tolist(), "zscore") for s in held_out.T]
    ).T
    value = get_measure("ndcg@3")

    def of(weights, rows=slice(None)):
        return value(y[rows], values[rows] @ np.array(weights), qid=qid[rows])

    def climbed(rows=slice(None)):
        # Steps of a quarter from equal weights to a maximum, and half of the way back.
        share = 0.5
        while True:
            near = [w for w in (share, share - 0.25, share + 0.25) if 0 <= w <= 1]
            best = max(near, key=lambda w: of([w, 1 - w], rows))
            if best == share:
                # A member that is left out stays so if that is better.
                drawn = (share + 0.5) / 2
                if share in (0, 1) and of([share, 1 - share], rows) > of([drawn, 1 - drawn], rows):
                    return share
                return drawn
            share = best

    assert climbed() != 0.5
    np.testing.assert_allclose(ensemble.weights_[0], climbed())
    table = ensemble.comparison_
    assert tuple(table.names) == ("ensemble", "linear", "ridge")
    np.testing.assert_allclose(table.values[1:], [of([1, 0]), of([0, 1])])
    together = np.empty(len(y))
    for train, test in folds:
        together[test] = values[test] @ np.array([climbed(train), 1 - climbed(train)])
    assert table.values[0] == pytest.approx(value(y, together, qid=qid), abs=1e-9)
    assert ensemble.fit_times_.shape == (2,)
    other = clone(ensemble).set_params(measure="err").fit(X, y, qid=qid)
    np.testing.assert_array_equal(ensemble.reweight("err").weights_, other.weights_)
    assert ensemble.measure == "err"
    with pytest.raises(ValueError, match="is not the name of a measure"):
        ensemble.reweight("nonsense")
    assert ensemble.measure == "err"
    with pytest.raises(AttributeError, match="call fit first, with weights='fitted'"):
        str(RankEnsemble(named, weights="equal").fit(X, y, qid=qid).comparison_)


class Constant(BaseEstimator, RegressorMixin):
    """Scores 0, and an error after the fit to all rows if it is asked."""

    def __init__(self, n_rows=0):
        self.n_rows = n_rows

    def fit(self, X, y):
        self.n_fitted_ = len(y)
        return self

    def predict(self, X):
        if len(X) == self.n_rows - 1:
            raise RuntimeError("asked")
        return np.zeros(len(X))


def test_a_member_of_weight_0_is_not_asked():
    X, y, qid = data()
    named = [("none", Constant(len(y))), ("ridge", Ridge())]
    ensemble = RankEnsemble(named, weights=[0, 1]).fit(X, y, qid=qid)
    assert ensemble.predict(X[1:], qid=qid[1:]).shape == (len(y) - 1,)
    with pytest.raises(RuntimeError, match="asked"):
        RankEnsemble(named, weights=[1, 1]).fit(X, y, qid=qid).predict(X[1:], qid=qid[1:])


@pytest.fixture
def few_trees(monkeypatch):
    """Default members of few trees, for tests of something else than how well they rank."""
    lambdarank, boosted = _ensemble.lambdarank, _ensemble.boosted_trees

    def small(seed, is_large):
        adapter = lambdarank(seed, is_large)
        return adapter if is_large else adapter.set_params(estimator__n_estimators=20)

    for name, made in (
        ("lambdarank", small),
        ("boosted_trees", lambda *of: boosted(*of).set_params(max_iter=20)),
        ("ExtraTreesRegressor", lambda _, **options: ExtraTreesRegressor(8, **options)),
    ):
        monkeypatch.setattr(_ensemble, name, made)


def frame_of(n_queries=20):
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_queries), 12)
    kind = rng.choice(["a", "b", "c"], len(qid))
    number = rng.normal(size=len(qid))
    y = (rng.normal(size=len(qid)) + 2 * (kind == "b") + number > 1).astype(int)
    number[::9] = np.nan
    frame = pd.DataFrame({"number": number, "kind": kind, "shade": pd.Categorical(kind)})
    return frame.assign(kind=frame["kind"].where(rng.random(len(qid)) < 0.9)), y, qid


def test_default_members(monkeypatch, few_trees):
    X, y, qid = frame_of()
    equal = RankEnsemble(weights="equal", random_state=0)
    of_frame = RankEnsemble(random_state=0, cv=2).fit(X, y, qid=qid)
    assert list(of_frame.named_estimators_) == ["boosted", "extra trees", "linear"]
    assert of_frame.score(X, y, qid=qid) > 0.8
    other = X.head(30).assign(kind="new")
    assert np.isfinite(of_frame.predict(other, qid=qid[:30])).all()
    on_values, on_ranks = of_frame.estimators_[0][-1].estimators_
    assert type(on_values.estimator).__name__ == type(on_ranks[-1].estimator).__name__
    assert on_ranks[-1].n_features_in_ == 2 * on_values.n_features_in_
    nullable = X[["number"]].assign(count=pd.array([1, None, 3] * (len(y) // 3), dtype="Int64"))
    numbers = nullable.astype(float).to_numpy()
    same = [
        clone(equal).fit(rows, y, qid=qid).predict(rows, qid=qid) for rows in (nullable, numbers)
    ]
    np.testing.assert_array_equal(*same)
    # Amounts are no grades of lambdarank, and their gain is linear.
    amounts = clone(equal).fit(numbers, 1000.5 * y, qid=qid)
    assert isinstance(amounts.estimators_[0][-1], HistGradientBoostingRegressor)
    monkeypatch.setattr("sklearn_rank._ensembles._ensemble.is_installed", lambda _: False)
    without = clone(equal).fit(X, y, qid=qid)
    assert isinstance(without.estimators_[0][-1][-1], HistGradientBoostingRegressor)
    assert without.score(X, y, qid=qid) > 0.8
    with pytest.raises(ValueError, match=r"columns \['empty'\] have no value"):
        without.fit(X.assign(empty=np.nan), y, qid=qid)


def test_boosting_stops_early_with_many_queries_for_any_measure(monkeypatch):
    X, y, qid = frame_of()
    monkeypatch.setattr("sklearn_rank._ensembles._ensemble.MANY_QUERIES", 10)
    ensemble = RankEnsemble(weights="equal", measure="err", random_state=0).fit(X, y, qid=qid)
    for ranker in ensemble.named_estimators_["boosted"][-1].estimators_:
        adapter = getattr(ranker, "steps", [("", ranker)])[-1][1]
        assert adapter.best_iteration_ < 1000


@pytest.mark.parametrize("is_frame", [False, True])
def test_weights_reach_the_default_members(is_frame, few_trees):
    X, y, qid = frame_of()
    X = X if is_frame else X[["number"]].to_numpy()
    rng = np.random.default_rng(0)
    weight, of_query = rng.integers(0, 3, len(y)), 1.0 + qid % 2
    ensemble = RankEnsemble(weights="equal", random_state=0)
    plain = clone(ensemble).fit(X, y, qid=qid)
    weights = {"sample_weight": weight} if is_frame else {"query_weight": of_query}
    weighted = clone(ensemble).fit(X, y, qid=qid, **weights)
    for one, other in zip(plain.estimators_, weighted.estimators_, strict=True):
        scores = [scores_with_ids(member, X, qid) for member in (one, other)]
        assert np.abs(scores[0] - scores[1]).max() > 1e-3
    fitted = clone(ensemble).set_params(weights="fitted", cv=2)
    table = fitted.fit(X, y, qid=qid, **weights).comparison_
    scores = np.nan_to_num(fitted.held_out_scores_[:, 2])
    assert table.values[3] == pytest.approx(get_measure("ndcg")(y, scores, qid=qid, **weights))
    with pytest.raises(ValueError, match="or pass weights='equal'"):
        fitted.fit(X, y, qid=qid, sample_weight=weight + 0.5)
    halves = clone(ensemble).fit(X, y, qid=qid, sample_weight=weight + 0.5)
    assert not isinstance(halves.estimators_[0], RankEnsemble)


def test_too_few_rows_for_the_folds_of_one_query():
    X, y, _ = data(1)
    ensemble = RankEnsemble([("linear", OrderPreservingRanker())], cv=5, single_list=True)
    for n in (1, 4):
        with pytest.raises(ValueError, match=rf"cv=5 needs at least 5 rows .* got n_samples={n}:"):
            ensemble.fit(X[:n], y[:n])


@pytest.mark.slow
def test_weights_are_fitted_to_held_out_queries():
    X, y, qid = data(60)
    X = np.column_stack((X - qid[:, np.newaxis], np.random.default_rng(1).normal(size=len(y))))
    noise = make_pipeline(QueryNormalizer(), HistGradientBoostingRegressor(min_samples_leaf=1))
    good = OrderPreservingRanker(alpha=0.1)
    ensemble = RankEnsemble([("noise", noise), ("good", good)], weights="fitted", cv=4)
    ensemble.fit(X, y, qid=qid)
    # The trees fit the training rows best, and other queries worse.
    assert ensemble.weights_[1] > 0.5
    two_jobs = clone(ensemble).set_params(n_jobs=2).fit(X, y, qid=qid)
    np.testing.assert_array_equal(two_jobs.predict(X, qid=qid), ensemble.predict(X, qid=qid))
    with pytest.raises(ValueError, match="cv=4 needs at least 4 queries, got 3"):
        ensemble.fit(*data(3)[:2], qid=data(3)[2])
    assert ensemble.n_queries_ == 60
    folds = list(GroupKFold(4).split(X, groups=qid))
    for cv in (GroupKFold(4), folds):
        other = clone(ensemble).set_params(cv=cv).fit(X, y, qid=qid)
        np.testing.assert_allclose(other.weights_, ensemble.weights_, atol=0.51)
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
    ensemble = RankEnsemble([kept[0], ("ridge", Ridge())], weights="equal")
    one = clone(ensemble).fit(X, y, qid=qid, sample_weight=weight)
    two = clone(ensemble).fit(X[rows], y[rows], qid=qid[rows])
    np.testing.assert_allclose(one.predict(X, qid=qid), two.predict(X, qid=qid), atol=1e-4)
    # A member without ids counts the rows of a query of weight 2 twice.
    of_query = 1.0 + qid % 2
    ridge = clone(ensemble).fit(X, y, qid=qid, query_weight=of_query).estimators_[1]
    expected = Ridge().fit(X, y, of_query)
    np.testing.assert_allclose(ridge.coef_, expected.coef_, atol=1e-9)
    neighbours = ("neighbours", KNeighborsRegressor())
    with pytest.raises(ValueError, match="'neighbours', KNeighborsRegressor, takes no sample_w"):
        RankEnsemble([neighbours]).fit(X, y, qid=qid, query_weight=of_query)


def test_order_and_type_of_ids_and_pickles():
    X, y, qid = data()
    expected = RankEnsemble(members(), weights="fitted", cv=3).fit(X, y, qid=qid)
    scores = expected.predict(X, qid=qid)
    names = pd.Series([f"query {q:02}" for q in qid])
    found = RankEnsemble(members(), weights="fitted", cv=3).fit(X, y, qid=names)
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


class FirstColumn(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]

    decision_function = predict


class FirstColumnClassifier(ClassifierMixin, FirstColumn):
    pass


@pytest.mark.parametrize("weights", ["fitted", "equal"])
def test_a_member_whose_scores_are_nan_is_named(weights):
    X, y, qid = data()
    named = r"The member 'column' gave NaN as the score of \d+ of \d+ rows: leave it out"
    ensemble = RankEnsemble([("column", FirstColumn())], weights=weights, cv=2)
    of_classes = RankEnsembleClassifier([("column", FirstColumnClassifier())], cv=2)
    missing = np.where(np.arange(len(X))[:, np.newaxis] == 3, np.nan, X)
    with pytest.raises(ValueError, match=named):
        ensemble.fit(missing, y, qid=qid)
    with pytest.raises(ValueError, match=named):
        of_classes.fit(missing, y > np.median(y))
    ensemble.fit(X, y, qid=qid)
    with pytest.raises(ValueError, match=named):
        ensemble.predict(missing, qid=qid)


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
    ensemble = RankEnsemble(members(), weights="equal", measure="ndcg@3")
    values = []
    for train, test in GroupKFold(2).split(X, y, qid):
        fitted = clone(ensemble).fit(X[train], y[train], qid=qid[train])
        values.append(fitted.score(X[test], y[test], qid=qid[test]))
    with config_context(enable_metadata_routing=True):
        for scoring in (None, get_scorer("ndcg@3")):
            found = cross_val_score(
                ensemble, X, y, cv=GroupKFold(2), params={"groups": qid}, scoring=scoring,
                error_score="raise",
            )  # fmt: skip
            np.testing.assert_allclose(found, values)
        search = GridSearchCV(
            ensemble, {"linear__alpha": [0.1], "fusion": ["rank", "zscore"]},
            cv=GroupKFold(2), scoring=get_scorer("ndcg@3"), error_score="raise",
        ).fit(X, y, groups=qid)  # fmt: skip
    value = get_scorer("ndcg@3")(search, X, y, qid=qid)
    assert value == search.best_estimator_.score(X, y, qid=qid)


def test_missing_values_pass_to_members_that_all_take_them():
    X, y, qid = data()
    X[::7, 0] = np.nan
    trees = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=2)
    filled = make_pipeline(SimpleImputer(), Ridge())
    both = [("trees", trees), ("linear", filled)]
    ensemble = RankEnsemble(both, weights="equal").fit(X, y, qid=qid)
    one = RankEnsemble([("trees", trees)]).fit(X, y, qid=qid).predict(X, qid=qid)
    two = RankEnsemble([("linear", filled)]).fit(X, y, qid=qid).predict(X, qid=qid)
    np.testing.assert_allclose(ensemble.predict(X, qid=qid), (one + two) / 2, atol=1e-12)
    with pytest.raises(ValueError, match="Ridge does not accept missing values"):
        RankEnsemble([("trees", trees), ("linear", Ridge())]).fit(X, y, qid=qid)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        RankEnsemble().fit(sp.csr_array(np.nan_to_num(X)), y, qid=qid)
