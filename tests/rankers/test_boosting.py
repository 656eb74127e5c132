"""The loop over the rounds and its backends, beside what LightGBM and XGBoost do themselves."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from sklearn_rank import BoostedTopRanker
from sklearn_rank.rankers._boosting import boost

lightgbm = pytest.importorskip("lightgbm", reason="needs the extra [lightgbm]")

SETTINGS = {
    "n_estimators": 30,
    "learning_rate": 0.1,
    "max_leaf_nodes": 7,
    "max_depth": None,
    "min_samples_leaf": 20,
    "l2_regularization": 1.0,
    "max_features": 1.0,
    "monotonic_cst": None,
    "n_iter_no_change": 20,
    "backend_params": {},
    "n_threads": 1,
    "seed": 0,
}

every_backend = pytest.mark.parametrize("backend", ["lightgbm", "xgboost"])


@pytest.fixture(autouse=True)
def needs_the_backend(request):
    if request.node.callspec.params.get("backend") == "xgboost":
        pytest.importorskip("xgboost", reason="needs the extra [xgboost]")


def settings(backend, **changed):
    return SimpleNamespace(backend=backend, **{**SETTINGS, **changed})


def data(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.8)
    return X, X[:, 0] + np.abs(X[:, 1]) + 0.1 * rng.normal(size=n)


def squared(y, scale=1.0):
    return lambda score: (scale * (score - y), np.full(len(y), scale))


@every_backend
def test_squared_errors_grow_the_trees_that_the_backend_grows_itself(backend):
    for scale in (1.0, 1e-6, 1e9):
        X, y = data()
        fitted = boost(X, squared(y, scale), settings(backend), base_score=y.mean())
        if backend == "lightgbm":
            peer = lightgbm.LGBMRegressor(
                n_estimators=30, num_leaves=7, reg_lambda=1.0, n_jobs=1, verbose=-1
            ).fit(X, y)
            rtol = 1e-5
        else:
            import xgboost

            peer = xgboost.XGBRegressor(
                n_estimators=30, max_leaves=7, max_depth=0, grow_policy="lossguide", n_jobs=1,
                learning_rate=0.1, reg_lambda=1.0, min_child_weight=20, base_score=y.mean(),
            ).fit(X, y)  # fmt: skip
            rtol = 1e-4
        np.testing.assert_allclose(fitted.trees.scores(X), peer.predict(X), rtol=0, atol=rtol)
        assert fitted.n_rounds == fitted.trees.n_trees == 30
        assert fitted.validation_values is None


@every_backend
def test_sparse_rows_are_dense_rows(backend):
    X, y = data()
    dense = boost(X, squared(y), settings(backend))
    for container in (sp.csr_array, sp.csr_matrix):
        sparse = boost(container(X), squared(y), settings(backend))
        np.testing.assert_allclose(
            sparse.trees.scores(container(X)), dense.trees.scores(X), rtol=0, atol=1e-12
        )


@every_backend
def test_the_first_best_round_is_kept(backend):
    X, y = data(600)
    seen = []

    def value(score):
        seen.append(-np.abs(score - y[400:]).mean().round(2))
        return seen[-1]

    fitted = boost(
        X[:400],
        squared(y[:400]),
        settings(backend, n_estimators=300, learning_rate=0.3, n_iter_no_change=7),
        base_score=0.5,
        monitor=(X[400:], value),
    )
    best = int(np.argmax(seen))
    np.testing.assert_array_equal(fitted.validation_values, seen)
    assert fitted.n_rounds == best + 7 == len(seen) - 1
    assert fitted.trees.n_trees == best
    assert value(fitted.trees.scores(X[400:])) == seen[best]
    assert value(fitted.trees.scores(X[400:], n_trees=3)) == seen[3]


@every_backend
def test_no_tree_at_all(backend):
    X, y = data()
    monitor, few = (X[:9], lambda score: 0.0), settings(backend, n_iter_no_change=3)
    fitted = boost(X, squared(y), few, base_score=2.0, monitor=monitor)
    assert fitted.n_rounds == 3
    assert fitted.trees.n_trees == 0
    np.testing.assert_array_equal(fitted.trees.scores(X), np.full(400, 2.0))
    np.testing.assert_array_equal(fitted.trees.importances(), np.zeros(5))
    assert pickle.loads(pickle.dumps(fitted.trees)) == fitted.trees


@every_backend
def test_trees_are_stored_copied_and_compared(backend):
    X, y = data()
    trees = boost(X, squared(y), settings(backend)).trees
    for same in (pickle.loads(pickle.dumps(trees)), copy.deepcopy(trees)):
        assert same == trees
        np.testing.assert_array_equal(same.scores(X), trees.scores(X))
    assert boost(X, squared(y), settings(backend)).trees == trees
    assert boost(X, squared(-y), settings(backend)).trees != trees
    assert trees != 1
    assert trees.importances().sum() == pytest.approx(1.0)
    assert trees.importances()[:2].min() > 0.1


@every_backend
def test_features_are_drawn_by_the_seed(backend):
    X, y = data()
    one, two, other = (
        boost(X, squared(y), settings(backend, max_features=0.4, seed=seed)).trees
        for seed in (0, 0, 1)
    )
    assert one == two != other


@every_backend
def test_monotone_constraints_hold(backend):
    X, y = data()
    constraints = np.array([-1, 1, 0, 0, 0])
    trees = boost(X, squared(y), settings(backend, monotonic_cst=constraints)).trees
    for feature, sign in ((0, -1), (1, 1)):
        rows = np.repeat(X[:20], 50, axis=0)
        rows[:, feature] = np.tile(np.linspace(-3, 3, 50), 20)
        steps = sign * np.diff(trees.scores(rows).reshape(20, 50), axis=1)
        assert steps.min() >= 0


@every_backend
@pytest.mark.parametrize(
    ("name", "instead"),
    [("objective", "set loss"), ("metric", "set measure"), ("eta", "set learning_rate")],
)
def test_parameters_that_would_break_the_fit_are_refused(backend, name, instead):
    X, y = data()
    with pytest.raises(ValueError, match=f"backend_params contains '{name}'.*{instead}"):
        boost(X, squared(y), settings(backend, backend_params={name: 1}))


@every_backend
def test_parameters_reach_the_backend(backend):
    X, y = data()
    few = boost(X, squared(y), settings(backend, backend_params={"max_bin": 3})).trees
    assert few != boost(X, squared(y), settings(backend)).trees
    assert len(np.unique(few.scores(X))) < 3**5


@every_backend
def test_scores_beyond_all_numbers_are_refused(backend):
    X, y = data()
    with pytest.raises(ValueError, match=r"overflow float64 .*lower learning_rate"):
        boost(X, lambda score: (score - np.inf, np.ones(400)), settings(backend))
    with pytest.raises(ValueError, match="curvature of the loss is 0 for all rows"):
        boost(X, lambda score: (score - y, np.zeros(400)), settings(backend))


@pytest.mark.parametrize(
    ("backend", "name", "near"),
    [
        ("lightgbm", "min_gain_to_splitt", "min_gain_to_split"),
        ("lightgbm", "baging_fraction", "bagging_fraction"),
        ("xgboost", "min_split_los", "min_split_loss"),
        ("xgboost", "maxbin", "max_bin"),
    ],
)
def test_misspelt_parameters_of_the_backend_are_refused(backend, name, near):
    X, y = data()
    message = f"contains '{name}', which has no effect in .* did you mean '{near}'"
    with pytest.raises(ValueError, match=message):
        boost(X, squared(y), settings(backend, backend_params={name: 50}))


@pytest.mark.parametrize(
    ("backend", "params"),
    [
        ("lightgbm", {"lambdarank_position_bias_regularization": 0.5}),
        ("lightgbm", {"label_gain": [0, 1]}),
        ("xgboost", {"lambdarank_unbiased": True}),
        ("xgboost", {"rate_drop": 0.5}),
        ("xgboost", {"cat_column": [0]}),
        ("lightgbm", {3: 1}),
        ("xgboost", {3: 1}),
        ("xgboost", {"min_gain_to_splitt": 50}),
    ],
)
def test_parameters_without_effect_are_refused(backend, params):
    X, y = data()
    with pytest.raises(ValueError, match=f"contains (the key )?{next(iter(params))!r}"):
        boost(X, squared(y), settings(backend, backend_params=params))


@pytest.mark.parametrize(
    ("backend", "params"),
    [
        ("lightgbm", {"min_split_gain": 0.1, "bagging_fraction": 0.5, "subsample_freq": 1}),
        ("lightgbm", {"cegb_tradeoff": 1.0, "reg_alpha": 0.1, "is_sparse": False}),
        ("xgboost", {"gamma": 0.1, "subsample": 0.5, "alpha": 0.1, "max_cached_hist_node": 9}),
        ("xgboost", {"tree_method": "hist", "interaction_constraints": "[[0, 1]]"}),
    ],
)
def test_aliases_of_the_backend_are_taken(backend, params):
    X, y = data()
    boost(X, squared(y), settings(backend, backend_params=params))


@every_backend
def test_columns_of_categories(backend):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 12, 600), rng.normal(size=600)])
    y = (X[:, 0] * 7 % 12 < 6).astype(float)  # no order of the codes tells the classes
    errors = []
    other_name = "cat_column" if backend == "lightgbm" else "categorical_feature"
    for params in ({}, {"categorical_feature": [0]}, {other_name: "0"}):
        few = settings(backend, max_leaf_nodes=2, n_estimators=20, backend_params=params)
        scores = boost(X, squared(y), few).train_scores
        errors.append(np.mean((scores - y) ** 2))
    assert errors[1] == errors[2] < 0.5 * errors[0]
    for columns in ([2], ["a"], "name:a"):
        wrong = settings(backend, backend_params={"categorical_feature": columns})
        with pytest.raises(ValueError, match=r"categorical_feature=.* from 0 to 1, such as \[0\]"):
            boost(X, squared(y), wrong)
    for column in (X[:, 0] - 1, X[:, 0] + 0.5):
        with pytest.raises(ValueError, match="negative numbers or fractions: number"):
            boost(np.column_stack([column, X[:, 1]]), squared(y), few)
    constrained = SimpleNamespace(**{**vars(few), "monotonic_cst": np.array([1, 0])})
    with pytest.raises(ValueError, match=r"monotonic_cst constrains one of the columns \[0\]"):
        boost(X, squared(y), constrained)


@every_backend
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_rows_without_values_score_alike(backend, container):
    y = np.arange(100.0)
    fitted = boost(container(np.zeros((100, 3))), squared(y), settings(backend), base_score=49.5)
    assert np.ptp(fitted.train_scores) == 0
    assert np.ptp(fitted.trees.scores(container(data(100)[0][:, :3]))) == 0


@pytest.mark.parametrize("backend", ["lightgbm", "xgboost"])
def test_entries_of_the_same_place_are_added(backend):
    rng = np.random.default_rng(0)
    once = sp.csr_matrix(rng.normal(size=(400, 4)) * (rng.random((400, 4)) < 0.6))
    twice = sp.csr_matrix(
        (np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), 2 * once.indptr), once.shape
    )
    y = once.toarray()[:, 1] > 0.5
    ranker = BoostedTopRanker(tau=0.2, n_estimators=5, backend=backend)
    expected = clone(ranker).fit(once, y).decision_function(once)
    for X, scored in ((once, twice), (twice, once)):
        found = clone(ranker).fit(X, y).decision_function(scored)
        np.testing.assert_array_equal(found, expected)


@every_backend
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_numbers_beyond_those_of_the_backend_are_refused(backend, container):
    X, y = data()
    with pytest.raises(ValueError, match="takes for 0: divide each column"):
        boost(container(1e-300 * X), squared(y), settings(backend))
    small = container(np.column_stack([1e-300 * X[:, :1], X[:, 1:]]))
    trees = boost(small, squared(y), settings(backend)).trees
    trees.scores(container(1e-300 * X))
    if backend == "xgboost":
        with pytest.raises(ValueError, match="takes for infinity: divide each column"):
            boost(container(1e300 * X), squared(y), settings(backend))
        with pytest.raises(ValueError, match="takes for infinity"):
            trees.scores(container(1e300 * X))


@pytest.mark.parametrize("backend", ["lightgbm"])
def test_entries_that_are_moved_after_the_fit_are_read_anew(backend):
    X = sp.csr_matrix(np.random.default_rng(0).normal(size=(400, 2)))
    y = X.toarray()[:, 1] > 0.5
    ranker = BoostedTopRanker(tau=0.2, n_estimators=5, backend=backend).fit(X, y)
    X.indices[:] = 1
    expected = ranker.decision_function(sp.csr_matrix(X.toarray()))
    np.testing.assert_array_equal(ranker.decision_function(X), expected)


@every_backend
@pytest.mark.parametrize("positive", [0, 1])
def test_scores_are_sums_of_the_shares_of_the_features(backend, positive):
    X, y = data()
    y = (y > np.median(y)).astype(int)
    ranker = BoostedTopRanker(n_estimators=5, backend=backend, pos_label=positive).fit(X, y)
    booster = ranker.booster_
    if backend == "lightgbm":
        total = booster.predict(X, pred_contrib=True).sum(axis=1)
    else:
        matrix = pytest.importorskip("xgboost").DMatrix(X)
        total = booster.predict(matrix, pred_contribs=True).sum(axis=1)
    sign = 1 if positive else -1
    expected = sign * (total + ranker.base_score_) - ranker.threshold_
    np.testing.assert_allclose(ranker.decision_function(X), expected, rtol=0, atol=1e-5)
