"""BoostedOrderPreservingRanker: steps, early stopping, constraints, and what is refused."""

import pickle
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from sklearn_rank import BoostedOrderPreservingRanker
from sklearn_rank.calibration import utility
from sklearn_rank.exceptions import CalibrationWarning, SingleListWarning
from sklearn_rank.losses import TemplateLoss, get_loss, get_loss_names
from sklearn_rank.losses._shared import LossOnLists
from sklearn_rank.metrics import get_measure
from sklearn_rank.rankers._boosted import in_canonical_order, secant_curvature

lightgbm = pytest.importorskip("lightgbm", reason="needs the extra [lightgbm]")

FEW = {"n_estimators": 10, "max_leaf_nodes": 5, "min_samples_leaf": 5}


@pytest.fixture(params=["lightgbm", "xgboost"])
def backend(request):
    pytest.importorskip(request.param, reason=f"needs the extra [{request.param}]")
    return request.param


def data(n_queries=40, seed=0):
    """Queries of 4 to 12 rows in random order; relevance is curved in one feature."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 13, n_queries)
    qid = rng.permutation(np.repeat(np.arange(n_queries), sizes))
    X = rng.normal(size=(len(qid), 4))
    y = rng.binomial(3, 1 / (1 + np.exp(2 - 2 * X[:, 0] ** 2 + X[:, 1])))
    return X, y, qid


def test_squared_errors_grow_the_trees_of_lightgbms_regressor():
    X, y, qid = data()
    weight = np.array([0.5, 1.0, 2.0])[qid % 3]
    ranker = BoostedOrderPreservingRanker("pointwise_squared", measure="dcg@3", **FEW)
    ranker.fit(X, y, qid=qid, query_weight=weight)
    # Rows in the same order, since bins and sums depend on it.
    peer = lightgbm.LGBMRegressor(
        n_estimators=10, num_leaves=5, min_child_samples=5, n_jobs=1, verbose=-1
    ).fit(X, 2.0**y - 1, sample_weight=weight)
    assert ranker.base_score_ == pytest.approx(np.average(2.0**y - 1, weights=weight))
    np.testing.assert_allclose(ranker.predict(X), peer.predict(X), rtol=0, atol=1e-5)


class Few(BoostedOrderPreservingRanker):
    """A subclass with one parameter."""

    def __init__(self, n_estimators=10):
        super().__init__(**(FEW | {"n_estimators": n_estimators}))


def test_a_subclass_need_not_have_all_parameters():
    X, y, qid = data()
    expected = BoostedOrderPreservingRanker(**FEW).fit(X, y, qid=qid).predict(X)
    np.testing.assert_array_equal(Few().fit(X, y, qid=qid).predict(X), expected)


def frame(n=800, seed=0):
    """A number, words and numbers as categories with missing ones, relevance and ids."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 12, n)
    X = pd.DataFrame({"x": rng.normal(size=n), "town": pd.Categorical([f"t{i}" for i in town])})
    X["shop"] = pd.Categorical(7 * (town * 5 % 12))
    X.loc[::17, "town"], X.loc[::13, "shop"] = np.nan, np.nan
    y = (town * 7 % 12 < 6) + (rng.random(n) < 1 / (1 + np.exp(-X["x"]))).astype(int)
    return X, y, np.arange(n) // 10


def test_category_columns_are_those_of_the_library(backend):
    X, y, qid = frame()
    ranker = BoostedOrderPreservingRanker("pointwise_squared", backend=backend, **FEW)
    ranker.set_params(measure="dcg").fit(X, y, qid=qid)
    if backend == "lightgbm":
        peer = lightgbm.LGBMRegressor(
            n_estimators=10, num_leaves=5, min_child_samples=5, n_jobs=1, verbose=-1
        )
    else:
        peer = pytest.importorskip("xgboost").XGBRegressor(
            n_estimators=10, max_leaves=5, max_depth=0, grow_policy="lossguide", reg_lambda=0,
            learning_rate=0.1, min_child_weight=5, n_jobs=1, enable_categorical=True,
        )  # fmt: skip
    peer.fit(X, 2.0**y - 1)
    assert list(ranker.categories_) == [1, 2]
    # A frame of few rows has fewer categories, and plain values are those of the categories.
    few = X.iloc[:9].assign(town=X["town"].iloc[:9].cat.remove_unused_categories())
    plain = X.assign(town=X["town"].astype(object), shop=X["shop"].astype(float))
    for rows, same in ((X, X), (few, X.iloc[:9]), (plain, X)):
        np.testing.assert_allclose(ranker.predict(rows), peer.predict(same), rtol=0, atol=1e-5)
    unseen = X.assign(town=X["town"].cat.rename_categories({"t3": "new"}))
    missing = X.assign(town=X["town"].cat.remove_categories("t3"))
    np.testing.assert_array_equal(ranker.predict(unseen), ranker.predict(missing))


def test_rows_without_the_categories_of_the_fit_are_refused(backend):
    X, y, qid = frame()
    ranker = BoostedOrderPreservingRanker(backend=backend, **FEW).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match=r"Columns \[1, 2\] of the X of fit are categories"):
        ranker.predict(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="'x' is of categories, but was not in fit"):
        ranker.predict(X.assign(x=X["shop"]))


@pytest.mark.parametrize("loss", ["pairwise_logistic", "pairwise_squared", "softmax"])
def test_the_first_tree_is_a_newton_step_in_each_leaf(loss, backend):
    X, y, qid = data()
    ranker = BoostedOrderPreservingRanker(
        loss, n_estimators=1, learning_rate=0.5, max_leaf_nodes=4, backend=backend
    ).fit(X, y, qid=qid)
    order = np.argsort(qid, kind="stable")
    offsets = np.append(0, np.cumsum(np.unique(qid, return_counts=True)[1]))
    v = np.concatenate([utility("ndcg", y[order][a:b]) for a, b in pairwise(offsets)])
    on = get_loss(loss).on(v, offsets)
    gradient, curvature = on.value_and_gradient(0 * v)[1], on.curvature(0 * v)
    curvature = np.maximum(curvature, 1e-3 * curvature.mean())
    score = ranker.predict(X)[order]
    assert len(np.unique(score)) == 4
    for value in np.unique(score):
        leaf = score == value
        step = -0.5 * gradient[leaf].sum() / curvature[leaf].sum()
        assert value == pytest.approx(step, rel=1e-4)


@pytest.mark.filterwarnings(f"ignore::{CalibrationWarning.__module__}.CalibrationWarning")
@pytest.mark.parametrize("loss", get_loss_names())
def test_every_loss_falls_with_the_trees(loss, backend):
    X, y, qid = data()
    ranker = BoostedOrderPreservingRanker(loss, **FEW, backend=backend)
    losses = [
        clone(ranker).set_params(n_estimators=n).fit(X, y, qid=qid).objective_ for n in (1, 4, 16)
    ]
    assert np.all(np.diff(losses) < 0)
    assert ranker.fit(X, y, qid=qid).score(X, y, qid=qid) > 0.8


def test_the_objective_is_the_mean_loss(backend):
    X, y, qid = data()
    weight = 1.0 + qid % 3
    ranker = BoostedOrderPreservingRanker(measure="ndcg@3", **FEW, backend=backend)
    ranker.set_params(early_stopping=True, n_iter_no_change=1, random_state=0)
    for stops in (False, True):
        ranker.set_params(early_stopping=stops)
        ranker.fit(X, y, qid=qid, query_weight=weight, **(validation() if stops else {}))
        total = 0.0
        for q in np.unique(qid):
            rows = qid == q
            on = get_loss("pairwise_logistic").on(utility("ndcg@3", y[rows]))
            total += (1 + q % 3) * on.value(ranker.predict(X[rows]))[0]
        assert ranker.objective_ == pytest.approx(total / (1 + np.unique(qid) % 3).sum(), rel=1e-5)


def validation():
    X, y, qid = data(15, seed=1)
    return {"X_val": X, "y_val": y, "qid_val": qid + 1000}


@pytest.mark.parametrize("measure", ["ndcg@3", "precision@2", "dcg"])
def test_the_round_of_the_best_value_is_kept(measure, backend):
    X, y, qid = data()
    grades = y if measure != "precision@2" else (y > 1).astype(int)
    held = validation()
    held["y_val"] = held["y_val"] if measure != "precision@2" else (held["y_val"] > 1).astype(int)
    ranker = BoostedOrderPreservingRanker(
        measure=measure, early_stopping=True, n_iter_no_change=6, backend=backend,
        **{**FEW, "n_estimators": 100},
    ).fit(X, grades, qid=qid, **held)  # fmt: skip
    values = ranker.validation_scores_
    best = int(np.argmax(values))
    assert ranker.best_iteration_ == best
    assert ranker.n_iter_ == len(values) - 1 == min(best + 6, 100)
    found = ranker.score(held["X_val"], held["y_val"], qid=held["qid_val"])
    assert found == pytest.approx(values[best], rel=1e-12)
    stopped = clone(ranker).set_params(early_stopping=False, n_estimators=max(best, 1))
    if best:
        stopped.fit(X, grades, qid=qid)
        np.testing.assert_array_equal(stopped.predict(X), ranker.predict(X))


def test_whole_queries_are_held_out_inside(backend):
    X, y, qid = data()
    ranker = BoostedOrderPreservingRanker(
        early_stopping=True, validation_fraction=0.25, random_state=3, backend=backend, **FEW
    )
    fitted = clone(ranker).fit(X, y, qid=qid)
    again = clone(ranker).fit(X, y, qid=np.array([f"q{q:02d}" for q in qid]))
    np.testing.assert_array_equal(fitted.validation_scores_, again.validation_scores_)
    assert len(fitted.validation_scores_) == fitted.n_iter_ + 1
    other = clone(ranker).set_params(random_state=4).fit(X, y, qid=qid)
    assert not np.array_equal(other.validation_scores_, fitted.validation_scores_)
    assert fitted.n_queries_ == 40
    with pytest.raises(ValueError, match="the number of queries of positive weight is 1"):
        clone(ranker).fit(X, y, qid=0)


def test_held_out_data_that_do_not_fit_together_are_refused():
    X, y, qid = data()
    ranker = BoostedOrderPreservingRanker(**FEW)
    with pytest.raises(ValueError, match="which early_stopping=False does not use"):
        ranker.fit(X, y, qid=qid, **validation())
    ranker.set_params(early_stopping=True)
    with pytest.raises(ValueError, match="X_val and y_val without qid_val"):
        ranker.fit(X, y, qid=qid, X_val=X, y_val=y)
    with pytest.raises(ValueError, match="X has 2 features, but"):
        ranker.fit(X, y, qid=qid, **{**validation(), "X_val": validation()["X_val"][:, :2]})
    with pytest.raises(ValueError, match="auc is undefined for all held-out queries"):
        ranker.set_params(measure="auc").fit(
            X, y > 1, qid=qid, X_val=X[:3], y_val=[0, 0, 0], qid_val=[1, 1, 2]
        )


@pytest.mark.parametrize("rows", ["sparse", "dense"])
def test_the_order_of_the_rows_changes_no_bit(rows, backend):
    import scipy.sparse as sp

    X, y, qid = data()
    X = sp.csr_array(X * (X > -0.5)) if rows == "sparse" else X
    ranker = BoostedOrderPreservingRanker(backend=backend, **FEW)
    order = np.random.default_rng(5).permutation(len(y))
    one = clone(ranker).fit(X, y, qid=qid)
    two = clone(ranker).fit(X[order], y[order], qid=qid[order])
    assert one._trees == two._trees
    np.testing.assert_array_equal(one.predict(X)[order], two.predict(X[order]))


def test_rows_stand_in_one_order():
    X, y, qid = data(6)
    lists = get_measure("ndcg").lists(y, np.zeros(len(y)), qid=qid)
    taken, ordered = in_canonical_order(X, lists)
    np.testing.assert_array_equal(taken, X[ordered.rows])
    np.testing.assert_array_equal(ordered.labels, y[ordered.rows])
    np.testing.assert_array_equal(qid[ordered.rows], np.sort(qid))
    again, same = in_canonical_order(taken, ordered_as_given(ordered))
    assert again is taken
    np.testing.assert_array_equal(same.rows, np.arange(len(y)))


def ordered_as_given(lists):
    from dataclasses import replace

    return replace(lists, rows=None)


def test_constraints_by_name_hold(backend):
    pd = pytest.importorskip("pandas")
    X, y, qid = data()
    X = pd.DataFrame(X, columns=list("abcd"))
    ranker = BoostedOrderPreservingRanker(monotonic_cst={"a": 1, "b": -1}, backend=backend, **FEW)
    ranker.fit(X, y, qid=qid)
    for name, sign in (("a", 1), ("b", -1)):
        rows = X.iloc[np.repeat(np.arange(20), 50)].copy()
        rows[name] = np.tile(np.linspace(-3, 3, 50), 20)
        steps = sign * np.diff(ranker.predict(rows).reshape(20, 50), axis=1)
        assert steps.min() >= 0
    assert clone(ranker).set_params(monotonic_cst=None).fit(X, y, qid=qid)._trees != ranker._trees


class Huber(TemplateLoss):
    """A loss of one's own without second derivatives."""

    is_order_preserving = False

    def _value_and_gradient(self, lists, score):
        residual = score - lists.grade
        slope = lists.counts * np.clip(residual, -1, 1)
        return lists.totals(slope * residual - slope**2 / 2), slope


def test_a_loss_without_second_derivatives_is_minimised(backend):
    X, y, qid = data()
    ranker = BoostedOrderPreservingRanker(Huber(), measure="dcg", backend=backend, **FEW)
    with pytest.warns(CalibrationWarning, match="not order-preserving"):
        few = clone(ranker).fit(X, y, qid=qid)
    with pytest.warns(CalibrationWarning):
        many = clone(ranker).set_params(n_estimators=40).fit(X, y, qid=qid)
    assert many.objective_ < few.objective_
    assert many.score(X, y, qid=qid) > few.score(X, y, qid=qid)


@pytest.mark.parametrize("name", get_loss_names())
def test_estimated_curvature_is_near_the_exact_one(name):
    _, y, qid = data(200)
    loss = get_loss(name)
    lists = get_measure("ndcg").lists(y, np.zeros(len(y)), qid=qid)
    lists = lists.with_labels(np.minimum(lists.grade / 3, 1))
    estimated = secant_curvature(LossOnLists(loss, lists))
    assert np.all(estimated >= 0)
    # Others are not bent at 0 itself.
    if "hinge" not in name:
        exact = loss.on(lists.grade, lists.offsets).curvature(np.zeros(len(y)))
        assert 0.5 < estimated.mean() / exact.mean() < 2


@pytest.mark.filterwarnings(f"ignore::{CalibrationWarning.__module__}.CalibrationWarning")
@pytest.mark.parametrize(
    "name", [name for name in get_loss_names() if name.startswith("pointwise")]
)
def test_trees_start_at_the_best_constant(name):
    X, y, qid = data()
    ranker = BoostedOrderPreservingRanker(name, **FEW).fit(X, y, qid=qid)
    lists = get_measure("ndcg").lists(y, np.zeros(len(y)), qid=qid)
    v = np.concatenate([utility("ndcg", lists.grade[a:b]) for a, b in pairwise(lists.offsets)])
    on = ranker.loss_.on(v, lists.offsets)
    at = [on.value(np.full(len(v), ranker.base_score_ + d)).sum() for d in (-0.01, 0, 0.01)]
    assert at[1] <= min(at)


def test_what_is_stored_scores_the_same(backend):
    X, y, qid = data()
    ranker = BoostedOrderPreservingRanker(backend=backend, **FEW).fit(X, y, qid=qid)
    read = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(read.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(read.feature_importances_, ranker.feature_importances_)
    assert ranker.feature_importances_.argmax() == 0
    module = lightgbm if backend == "lightgbm" else pytest.importorskip("xgboost")
    assert isinstance(read.booster_, module.Booster)


def test_missing_values_are_values(backend):
    X, y, qid = data()
    X = np.column_stack([X, y + 0.5])
    X[y == y.max(), -1] = np.nan  # that it is missing tells the most relevant rows
    ranker = BoostedOrderPreservingRanker(backend=backend, **FEW).fit(X, y, qid=qid)
    np.testing.assert_array_equal(
        BoostedOrderPreservingRanker(backend=backend, **FEW)
        .fit(X[::-1], y[::-1], qid=qid[::-1])
        .predict(X),
        ranker.predict(X),
    )
    assert ranker.predict(X)[y == y.max()].min() > ranker.predict(X)[y < y.max()].max()
    with pytest.raises(ValueError, match="infinity"):
        ranker.predict(np.full_like(X, np.inf))


def test_a_missing_package_is_named(monkeypatch):
    X, y, qid = data()
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(ImportError, match="xgboost"):
        BoostedOrderPreservingRanker(backend="xgboost").fit(X, y, qid=qid)


def test_a_line_for_each_tree(capfd, backend):
    X, y, qid = data()
    ranker = BoostedOrderPreservingRanker(
        verbose=1, early_stopping=True, random_state=0, backend=backend, **FEW
    )
    ranker.fit(X, y, qid=qid)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == ranker.n_iter_
    assert lines[0] == f"tree 1 of 10: held-out {ranker.validation_scores_[1]:.6g}"


@pytest.mark.slow
@pytest.mark.filterwarnings(f"ignore::{SingleListWarning.__module__}.SingleListWarning")
def test_scikit_learns_checks_with_xgboost():
    pytest.importorskip("xgboost", reason="needs the extra [xgboost]")
    # Single precision leaves a loss that does not see constants with one that is not quite 0.
    ranker = BoostedOrderPreservingRanker(
        "pointwise_squared", measure="dcg", backend="xgboost", n_estimators=5
    )
    found = check_estimator(ranker, on_skip=None)
    assert all(check["status"] in ("passed", "skipped") for check in found)
