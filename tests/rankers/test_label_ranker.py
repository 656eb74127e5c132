"""Labels ranked by regressors, classifiers of pairs and rankers of queries."""

import gzip
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from lightgbm import LGBMRanker
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR, LinearSVC
from sklearn.utils import get_tags

from sklearn_rank import (
    GroupRankerAdapter,
    LabelRanker,
    OrderPreservingRanker,
    OrderPreservingRankerCV,
    RankSVM,
)
from sklearn_rank.losses import PointwiseSquared, boosting_objective
from sklearn_rank.metrics import get_measure, tau_b_score
from tests.naming import shown
from tests.oracles import label_reductions

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(os.environ.get("SKLEARN_RANK_DATA", ROOT.parent / "shared" / "data"))

TREES = GroupRankerAdapter(
    LGBMRanker(
        objective=boosting_objective("pairwise_logistic"),
        n_estimators=5,
        num_leaves=4,
        min_child_samples=3,
        n_jobs=1,
    )
)

# One of each kind, and with both forms of regression; deterministic, and with weights.
INNER = [
    Ridge(solver="sparse_cg", tol=1e-10),
    SVR(gamma=0.5, tol=1e-8),
    LogisticRegression(tol=1e-10, max_iter=1000),
    TREES,
]

every_kind = pytest.mark.parametrize("inner", INNER, ids=shown)
rows_without_order = pytest.mark.filterwarnings("ignore:tau_b_score is undefined")


def data(n=40, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.round(X @ rng.normal(size=(3, n_labels)) + rng.normal(size=(n, n_labels)), 1)
    return X, y


def incomplete(y, seed=0):
    """Without a third of the labels, with ties, a row of one label and a row of equal ones."""
    rng = np.random.default_rng(seed)
    y = np.round(y)
    y[rng.random(y.shape) < 1 / 3] = np.nan
    y[np.isnan(y).all(axis=1), 0] = 1.0
    y[0] = [np.nan, 1.0, np.nan, np.nan]
    y[1] = [2.0, 2.0, np.nan, 2.0]
    return y


def as_lists(y):
    return [[None if np.isnan(one) else one for one in row] for row in y]


def scores_of(inner, X, y, *, on=None, weight=None, **parameters):
    ranker = LabelRanker(inner, **parameters).fit(X, y, sample_weight=weight)
    return ranker.predict(X if on is None else on)


# ------------------------------------------------------------------------------- by definition


@pytest.mark.parametrize("missing", [False, True])
def test_a_regressor_learns_shares(missing):
    X, y = data()
    y = incomplete(y) if missing else y
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    expected = label_reductions.mean_shares(as_lists(y), weight)
    found = scores_of(DummyRegressor(), X, y, weight=weight)
    np.testing.assert_allclose(found, np.tile(expected, (len(X), 1)), rtol=1e-12)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_classifiers_learn_pairs(missing, voting):
    X, y = data(seed=3)
    y = incomplete(y) if missing else y
    y[:, 3] = np.where(np.isnan(y[:, 0]), y[:, 3], y[:, 0] + 1.0)  # always above
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    expected = label_reductions.votes(as_lists(y), weight, hard=voting == "hard")
    found = scores_of(DummyClassifier(), X, y, weight=weight, voting=voting)
    np.testing.assert_allclose(found, np.tile(expected, (len(X), 1)), rtol=1e-12)


def test_pairs_that_no_row_orders():
    y = [[1.0, 1.0, 0.0], [np.nan, 2.0, 1.0], [1.0, np.nan, 1.0], [3.0, 3.0, 3.0]]
    ranker = LabelRanker(LogisticRegression()).fit(np.eye(4), y)
    assert ranker.estimators_ == [0.5, 1.0, 1.0]
    np.testing.assert_allclose(ranker.predict(np.eye(4)[:1]), [[0.75, 0.75, 0.0]])


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_queries_have_the_labels_as_items(missing, sparse):
    X, y = data()
    y = incomplete(y) if missing else y
    features, relevance, query = label_reductions.items(X, as_lists(y))
    expected = clone(TREES).fit(np.array(features), relevance, qid=query)
    every, *_ = label_reductions.items(X, [[0, 1, 2, 3]] * len(X))
    found = scores_of(TREES, sp.csr_array(X) if sparse else X, y)
    np.testing.assert_array_equal(found.ravel(), expected.predict(np.array(every)))


def test_relevance_is_the_grade_where_its_size_counts():
    X, y = data()
    y = np.round(y - y.min(), 1) / 2
    items = np.hstack([np.repeat(X, 4, axis=0), np.tile(np.eye(4), (len(X), 1))])
    expected = clone(TREES).fit(items, y.ravel(), qid=np.repeat(np.arange(len(X)), 4))
    found = scores_of(TREES, X, y, measure="ndcg@2")
    np.testing.assert_array_equal(found.ravel(), expected.predict(items))
    assert not np.array_equal(found, scores_of(TREES, X, y))


def test_a_regressor_learns_the_utilities_of_a_positional_measure():
    X, y = data()
    grades = np.clip(np.round(y), 0, 3)
    grades[:, 0] += 1.0
    gains = 2.0**grades - 1.0
    expected = LinearRegression().fit(X, gains).predict(X)
    found = scores_of(LinearRegression(), X, grades, measure="dcg")
    np.testing.assert_allclose(found, expected)


def test_several_outputs_are_one_fit():
    X, y = data()
    shares = [[label_reductions.share_below(row, i) for i in range(4)] for row in as_lists(y)]
    ranker = LabelRanker(random_state=3).fit(X, y)
    expected = ExtraTreesRegressor(100, random_state=3).fit(X, shares)
    np.testing.assert_array_equal(ranker.predict(X + 0.1), expected.predict(X + 0.1))
    assert isinstance(ranker.estimator_, ExtraTreesRegressor)
    assert not hasattr(ranker, "estimators_")
    ranker.fit(X, incomplete(y))
    assert len(ranker.estimators_) == 4
    assert not hasattr(ranker, "estimator_")
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2)
    assert LabelRanker(search).fit(X, y).estimator_.best_params_["alpha"] in (0.1, 1.0)
    assert len(LabelRanker(HistGradientBoostingRegressor(max_iter=2)).fit(X, y).estimators_) == 4


@pytest.mark.parametrize("missing", [False, True])
def test_the_forest_ranks_noise_by_the_mean_order(missing):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), [3.0, 2.0, 1.0, 0.0] + 2.0 * rng.normal(size=(120, 4))
    y = incomplete(y) if missing else y
    new = rng.normal(size=(100, 3))
    orders = LabelRanker(random_state=0).fit(X, y).rank(new)
    plain = LabelRanker(ExtraTreesRegressor(100, random_state=0)).fit(X, y).rank(new)
    assert np.mean(orders == [1.0, 2.0, 3.0, 4.0]) > 0.8 > np.mean(plain == [1.0, 2.0, 3.0, 4.0])


def test_rows_of_great_weight_choose_the_leaves():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(100, 1)), 2, axis=0)
    y = np.column_stack((np.zeros(200), np.tile([1.0, -1.0], 100)))  # noise
    y[100:, 1] = np.repeat(np.sign(X[100::2, 0]), 2)  # no noise
    sizes = [
        LabelRanker(random_state=0).fit(X, y, sample_weight=w).estimator_.min_samples_leaf
        for w in (np.repeat([1.0, 1e-3], 100), np.repeat([1e-3, 1.0], 100))
    ]
    assert sizes[0] > sizes[1]


def test_hard_votes_follow_majorities():
    # Sixteen rows have a at the top and fourteen at the bottom: tau wants a first, Borda shares b.
    X = np.ones((30, 1))
    orders = ["a>b>c>d>e"] * 16 + ["b>c>d>e>a"] * 14
    soft, hard = (
        LabelRanker(LogisticRegression(), voting=voting).fit(X, orders)
        for voting in ("soft", "hard")
    )
    assert hard.rank(X[:1]).tolist() == [[1, 2, 3, 4, 5]]
    assert soft.rank(X[:1])[0, 1] == 1
    assert hard.score(X, orders) > soft.score(X, orders)


# ---------------------------------------------------------------------------------- properties


@every_kind
@pytest.mark.parametrize("missing", [False, True])
def test_weights_are_repetitions_and_rows_without_weight_are_absent(inner, missing):
    X, y = data()
    y = incomplete(y) if missing else y
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    present = np.flatnonzero(weight)
    found = scores_of(inner, X, y, weight=weight)
    twice = scores_of(inner, X[repeated], y[repeated], on=X)
    if inner is not TREES:  # whose leaves and bins count rows, whatever they weigh
        np.testing.assert_allclose(found, twice, atol=1e-5)
    without = scores_of(inner, X[present], y[present], on=X, weight=weight[present])
    np.testing.assert_array_equal(found, without)
    same = scores_of(inner, X, y, weight=np.full(len(y), 1.0))
    np.testing.assert_array_equal(scores_of(inner, X, y), same)


@every_kind
def test_the_order_of_rows_and_of_labels_does_not_matter(inner):
    for missing in (False, True):
        X, y = data()
        y = incomplete(y) if missing else y
        rows = np.random.default_rng(0).permutation(len(y))
        expected = scores_of(inner, X, y)
        np.testing.assert_allclose(scores_of(inner, X[rows], y[rows], on=X), expected, atol=1e-6)
        if inner is not TREES:  # whose ties between features go to the first
            found = scores_of(inner, X, y[:, ::-1])[:, ::-1]
            np.testing.assert_allclose(found, expected, atol=1e-6)


@every_kind
def test_any_container(inner):
    X, y = data()
    expected = scores_of(inner, X, y)
    X.flags.writeable = y.flags.writeable = False
    names = ["f0", "f1", "f2"]
    # Frames are stored by column, so that products round differently. Conjugate gradients stop at
    # a residual of `tol`; scores close to 0 can differ by that much in absolute terms.
    atol = inner.tol if isinstance(inner, Ridge) else 0.0
    for rows in (X, X.tolist(), pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        weight = np.ones(len(X))
        weight[-1] = 0.0
        fitted = LabelRanker(inner).fit(rows, y)
        np.testing.assert_allclose(fitted.predict(rows), expected, rtol=1e-12, atol=atol)
        LabelRanker(inner).fit(rows, y, sample_weight=weight)
    framed = LabelRanker(inner).fit(pd.DataFrame(X, columns=names), y)
    assert framed.feature_names_in_.tolist() == names
    if inner is not INNER[1]:
        fitted = LabelRanker(inner).fit(sp.csr_array(X), y)
        np.testing.assert_allclose(fitted.predict(sp.csr_array(X)), expected, rtol=0, atol=1e-4)
    named = LabelRanker(inner).fit(X, pd.DataFrame(y, columns=list("dcba")))
    assert named.labels_.tolist() == list("dcba")
    np.testing.assert_array_equal(named.predict(X), expected)


@every_kind
def test_pickle_clone_and_a_second_fit(inner):
    X, y = data()
    ranker = LabelRanker(inner).fit(*data(seed=4))
    ranker.fit(X, y)
    expected = scores_of(inner, X, y)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), expected)
    np.testing.assert_array_equal(clone(ranker).fit(X, y).predict(X), expected)
    assert not [name for name in vars(inner) if name.endswith("_")]


@rows_without_order
@every_kind
def test_score_is_the_measure(inner):
    X, y = data()
    y = incomplete(y)
    ranker = LabelRanker(inner).fit(X, y)
    value = get_measure("tau_b")(y, ranker.predict(X))
    assert ranker.score(X, y) == pytest.approx(value, rel=1e-12)
    assert ranker.rank(X).sum(axis=1).tolist() == [10.0] * len(X)


@pytest.mark.parametrize("inner", [None, SVR(), LogisticRegression()], ids=shown)
def test_jobs_change_nothing(inner):
    X, y = data()
    one, two = (
        scores_of(inner, X, incomplete(y), n_jobs=n_jobs, random_state=0) for n_jobs in (1, 2)
    )
    np.testing.assert_allclose(one, two, rtol=1e-12)


def test_what_is_minimised():
    X, y = data()
    found = [LabelRanker(inner).fit(X, y) for inner in INNER]
    assert [one.reduction_ for one in found] == ["regression", "regression", "pairs", "queries"]
    assert isinstance(found[0].loss_, PointwiseSquared)
    assert found[2].loss_ is None
    assert found[3].loss_ is None


# --------------------------------------------------------------------- with what scikit-learn has


def test_what_x_may_be_is_for_the_estimator_to_say():
    assert get_tags(LabelRanker()).input_tags.allow_nan
    assert get_tags(LabelRanker(target_type="classes")).input_tags.sparse
    assert not get_tags(LabelRanker(SVR(kernel="precomputed"))).input_tags.allow_nan
    assert get_tags(LabelRanker(SVR(kernel="precomputed"))).input_tags.pairwise
    X, y = data()
    X[::3, 0] = np.nan
    assert np.isfinite(scores_of(HistGradientBoostingRegressor(max_iter=3), X, y)).all()
    booster = GroupRankerAdapter(LGBMRanker(n_estimators=3, n_jobs=1, verbose=-1))
    assert np.isfinite(scores_of(booster, X, y)).all()
    with pytest.raises(ValueError, match="NaN"):
        LabelRanker(Ridge()).fit(X, y)
    words = pd.DataFrame({"x": data()[0][:, 0], "word": ["a", "b"] * 20})
    encoder = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    assert scores_of(make_pipeline(encoder, Ridge()), words, y).shape == y.shape


@rows_without_order
@every_kind
def test_searches_and_pipelines(inner):
    X, y = data(60)
    y = incomplete(y)
    values = cross_val_score(LabelRanker(inner), X, y, cv=KFold(3), error_score="raise")
    assert values.mean() > 0.1
    piped = make_pipeline(StandardScaler(), LabelRanker(inner)).fit(X, y)
    assert piped.score(X, y) > 0.3


def test_parameters_of_the_estimator_are_searched():
    X, y = data(60)
    search = GridSearchCV(LabelRanker(Ridge()), {"estimator__alpha": [1e-3, 1e6]}, cv=3)
    assert search.fit(X, y).best_params_ == {"estimator__alpha": 1e-3}


def test_weights_are_routed():
    X, y = data(60)
    weight = np.random.default_rng(0).integers(1, 4, 60)
    with config_context(enable_metadata_routing=True):
        ranker = LabelRanker(Ridge()).set_fit_request(sample_weight=True)
        ranker.set_score_request(sample_weight=True)
        found = cross_validate(
            ranker, X, y, cv=3, params={"sample_weight": weight}, error_score="raise"
        )
        step = TREES.__sklearn_clone__().set_fit_request(query_weight=True, qid=True)
        scores_of(make_pipeline(StandardScaler(), step), X, y, weight=weight)
    for (train, test), value in zip(KFold(3).split(X), found["test_score"], strict=True):
        fitted = LabelRanker(Ridge()).fit(X[train], y[train], weight[train])
        assert value == fitted.score(X[test], y[test], weight[test])


# ------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("inner", "error", "message"),
    [
        (LinearSVC(), TypeError, r"has no predict_proba.* CalibratedClassifierCV"),
        (Ridge, TypeError, "pass an instance such as ExtraTreesRegressor"),
        (StandardScaler(), ValueError, "implementing 'fit' and 'predict'"),
        (OrderPreservingRanker(), ValueError, "is linear .* use OrderPreservingLabelRanker"),
        (OrderPreservingRankerCV(alphas=[1.0], cv=2), ValueError, "is linear"),
        (RankSVM(), ValueError, "is linear"),
        (make_pipeline(StandardScaler(), RankSVM()), ValueError, "is linear"),
    ],
    ids=shown,
)
def test_estimators_that_cannot_rank_labels_are_refused(inner, error, message):
    X, y = data()
    with pytest.raises(error, match=message):
        LabelRanker(inner).fit(X, y)


def test_unused_weights_are_refused():
    X, y = data()
    weight = np.arange(1.0, 41.0)
    with pytest.raises(ValueError, match=r"KNeighborsRegressor takes no sample_weight: leave"):
        LabelRanker(KNeighborsRegressor()).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"Pipeline takes no query_weight: .*set_fit_request"):
        LabelRanker(make_pipeline(StandardScaler(), TREES)).fit(X, y, sample_weight=weight)
    # Weights of 0 and 1 say which rows there are, and need no help of the estimator.
    present = np.arange(40) % 4 > 0
    found = scores_of(KNeighborsRegressor(), X, y, weight=present.astype(float))
    expected = scores_of(KNeighborsRegressor(), X[present], y[present], on=X)
    np.testing.assert_array_equal(found, expected)


@every_kind
def test_orders_without_content_are_refused_and_leave_the_ranker_as_it_was(inner):
    X, y = data()
    ranker = LabelRanker(inner).fit(X, y)
    before = ranker.predict(X)
    with pytest.raises(ValueError, match="No row of y has a label of positive utility"):
        ranker.fit(X[:, :2], np.ones((40, 3)))
    gone = y.copy()
    gone[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"The label 2 occurs in no row of y with an"):
        ranker.fit(X[:, :2], gone)
    with pytest.raises(ValueError, match="not the name of a measure"):
        clone(ranker).set_params(measure="nonsense").fit(X, y)
    np.testing.assert_array_equal(ranker.predict(X), before)


# ----------------------------------------------------------------------------------- real data


def label_ranking(name):
    path = FOLDER / "label_ranking" / f"lr_{name}.csv.gz"
    if not path.exists():
        pytest.skip("label rankings are not in the folder that SKLEARN_RANK_DATA names")
    with gzip.open(path, "rt") as file:
        names = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",")
    n_features = sum(one.startswith("f") for one in names)
    return table[:, :n_features], table[:, n_features:]


@pytest.mark.parametrize(
    ("name", "inner", "least"),
    [
        ("glass", None, 0.89),
        ("iris", None, 0.96),
        ("wine", make_pipeline(StandardScaler(), LogisticRegression()), 0.95),
        ("glass", ExtraTreesClassifier(30, random_state=0), 0.89),
    ],
    ids=shown,
)
def test_label_rankings_of_the_literature(name, inner, least):
    X, y = label_ranking(name)
    ranker = LabelRanker(inner, target_type="positions", voting="hard", random_state=0)
    values = cross_val_score(
        ranker, X, y, cv=KFold(5, shuffle=True, random_state=0), error_score="raise"
    )
    assert values.mean() > least
    fitted = ranker.fit(X, y)
    assert fitted.score(X, y) == pytest.approx(tau_b_score(-y, fitted.predict(X)))
