"""Losses as objectives of LightGBM and XGBoost: gradients by query, fits, and what is refused."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_rank import GroupRankerAdapter
from sklearn_rank.calibration import utility
from sklearn_rank.losses import PairwiseConvex, boosting_objective, get_loss, get_loss_names
from tests.naming import shown

NAMES = get_loss_names()
SIZES = np.array([3, 1, 4])


def loss_of(name):
    limited = np.isfinite(get_loss(name).largest_utility)
    return get_loss(name, eta=1.0) if limited else get_loss(name)


def decay(d):
    return np.exp(-d)


def slope_of_decay(d):
    return -np.exp(-d)


def data(n_queries=40, seed=0):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(10 * n_queries, 3)), np.repeat(np.arange(n_queries), 10)
    return X, rng.binomial(3, 1 / (1 + np.exp(2 - 2 * X[:, 0] ** 2))), qid


def trees(loss, **parameters):
    lightgbm = pytest.importorskip("lightgbm", reason="needs the extra [lightgbm]")
    objective = boosting_objective(loss, utility=partial(utility, "ndcg@5"))
    parameters = {"n_estimators": 10, "num_leaves": 4, "n_jobs": 1, **parameters}
    return GroupRankerAdapter(lightgbm.LGBMRanker(objective=objective, **parameters))


def total(loss, y, scores, qid):
    offsets = np.append(0, np.cumsum(np.bincount(qid)))
    return loss.on(utility("ndcg@5", y, qid=qid), offsets).value(scores).sum()


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_is_that_of_each_query_times_its_weight(name):
    rng = np.random.default_rng(0)
    labels, scores, weight = rng.random(8), rng.normal(size=8), np.array([1.0, 2.0, 0.5])
    objective = boosting_objective(loss_of(name))
    gradient, curvature = objective(labels, scores, np.repeat(weight, SIZES), SIZES)
    ends = np.cumsum(SIZES)
    for begin, end, factor in zip(ends - SIZES, ends, weight, strict=True):
        of_query = loss_of(name).on(labels[begin:end])
        for i in range(begin, end):
            step = 1e-6 * (np.arange(begin, end) == i)
            above, below = (of_query.value(scores[begin:end] + s)[0] for s in (step, -step))
            assert gradient[i] == pytest.approx(factor * (above - below) / 2e-6, abs=1e-6)
    if get_loss(name).has_curvature:
        exact = loss_of(name).on(labels, np.append(0, ends), query_weight=weight).curvature(scores)
        is_flat = exact <= 1e-3 * exact.mean()
        np.testing.assert_allclose(curvature, np.where(is_flat, np.abs(gradient), exact))
    else:
        np.testing.assert_array_equal(curvature, np.abs(gradient))


@pytest.mark.parametrize(("apart", "is_flat"), [(7.0, False), (10.0, True)])
def test_rows_without_curvature_take_steps_of_at_most_1(apart, is_flat):
    # The curvature of a pair in the wrong order is exp(-apart), of a tied one 1 / 4.
    objective = boosting_objective("comparison_logistic")
    _, curvature = objective([1, 0, 1, 0], np.array([0, apart, 0, 0]), None, np.array([2, 2]))
    expected = 1 / (1 + np.exp(-apart)) if is_flat else np.exp(-apart) / (1 + np.exp(-apart)) ** 2
    np.testing.assert_allclose(curvature, [expected, expected, 0.25, 0.25])


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_data_sets_of_the_libraries_are_read(library):
    module = pytest.importorskip(library, reason=f"needs the extra [{library}]")
    X, y, scores = np.eye(8), np.arange(8.0) % 3, np.linspace(-1, 1, 8).astype(np.float32)
    weight = np.array([1.0, 2.0, 0.5])
    if library == "lightgbm":
        rows = module.Dataset(X, y, group=SIZES, weight=np.repeat(weight, SIZES)).construct()
    else:
        rows = module.DMatrix(X, y, qid=np.repeat([4, 5, 9], SIZES), weight=weight)
    objective = boosting_objective("softmax")
    expected = objective(y, scores, np.repeat(weight, SIZES), SIZES)
    np.testing.assert_array_equal(objective(scores, rows), expected)


@pytest.mark.parametrize(
    "loss", [*map(loss_of, NAMES[::4]), PairwiseConvex(decay, slope_of_decay)], ids=shown
)
def test_every_loss_falls_with_the_trees(loss):
    X, y, qid = data()
    ranker = trees(loss)
    values = [total(loss, y, np.zeros(len(y)), qid)]
    for n_trees in (2, 10):
        ranker.set_params(estimator__n_estimators=n_trees)
        values.append(total(loss, y, ranker.fit(X, y, qid=qid).predict(X), qid))
    assert np.all(np.diff(values) < 0)
    assert ranker.score(X, y, qid=qid) > 0.8


def test_the_first_tree_of_lightgbm_is_a_newton_step_in_each_leaf():
    X, y, qid = data()
    ranker = trees("softmax", n_estimators=1, learning_rate=1.0, min_sum_hessian_in_leaf=0.0)
    ranker.fit(X, y, qid=qid, query_weight=1.0 + qid % 3)
    objective = ranker.estimator_.objective
    gradient, curvature = objective(y, np.zeros(len(y)), 1.0 + qid % 3, np.bincount(qid))
    leaf = ranker.estimator_.predict(X, pred_leaf=True).ravel()
    steps = -np.bincount(leaf, gradient) / np.bincount(leaf, curvature)
    np.testing.assert_allclose(ranker.predict(X), steps[leaf], rtol=1e-5)


def test_xgboost_minimises_it():
    xgboost = pytest.importorskip("xgboost", reason="needs the extra [xgboost]")
    X, y, qid = data()
    rows, loss = xgboost.DMatrix(X, y, qid=qid), get_loss("pairwise_logistic")
    objective = boosting_objective(loss, utility=partial(utility, "ndcg@5"))
    booster = xgboost.train({"nthread": 1, "base_score": 0.0}, rows, 10, obj=objective)
    scores = booster.predict(rows, output_margin=True)
    assert total(loss, y, scores, qid) < 0.7 * total(loss, y, np.zeros(len(y)), qid)
    with pytest.raises(ValueError, match="custom objective function not supported"):
        xgboost.XGBRanker(objective=objective)
    with pytest.raises(ValueError, match="got no queries"):
        xgboost.XGBRegressor(objective=objective).fit(X, y)


@pytest.mark.filterwarnings("ignore:Can't optimze:UserWarning")
def test_catboost_cannot_use_it():
    catboost = pytest.importorskip("catboost", reason="needs the extra [catboost]")
    X, y, qid = data(4)
    objective, quiet = (
        boosting_objective("softmax"),
        {"verbose": False, "allow_writing_files": False},
    )
    with pytest.raises(catboost.CatBoostError, match="passes no queries"):
        catboost.CatBoost({"loss_function": objective, "eval_metric": "NDCG", **quiet}).fit(
            X, y, group_id=qid
        )
    with pytest.raises(catboost.CatBoostError, match="Invalid loss_function"):
        GroupRankerAdapter(catboost.CatBoostRanker(loss_function=objective)).fit(X, y, qid=qid)


def test_it_is_copied_stored_and_searched_over():
    X, y, qid = data()
    ranker = trees("softmax").fit(X, y, qid=qid)
    scores = ranker.predict(X)
    np.testing.assert_array_equal(clone(ranker).fit(X, y, qid=qid).predict(X), scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), scores)
    objectives = [boosting_objective(name) for name in ("softmax", "pairwise_squared")]
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            ranker, {"estimator__objective": objectives}, cv=GroupKFold(3), error_score="raise"
        ).fit(X, y, groups=qid)
    expected = [
        np.mean(
            [
                clone(ranker)
                .set_params(estimator__objective=objective)
                .fit(X[train], y[train], qid=qid[train])
                .score(X[test], y[test], qid=qid[test])
                for train, test in GroupKFold(3).split(X, y, qid)
            ]
        )
        for objective in objectives
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert "ListwiseSoftmax" in repr(objectives[0])


def test_weights_within_a_query_and_unknown_losses_are_refused():
    objective = boosting_objective("softmax")
    with pytest.raises(ValueError, match="Weights differ within a query"):
        objective([1, 0, 1], np.zeros(3), [1.0, 2.0, 1.0], [2, 1])
    with pytest.raises(ValueError, match="is not the name of a loss"):
        boosting_objective("softmx")
    with pytest.raises(ValueError, match="raise eta"):
        boosting_objective("pointwise_logistic")([3, 0], np.zeros(2), None, [2])
