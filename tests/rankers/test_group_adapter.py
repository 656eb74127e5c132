"""LightGBM, XGBoost and CatBoost behind one interface: beside calls by hand, and in searches."""

import pickle
from decimal import Decimal
from importlib.util import find_spec

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import (
    GroupRankerAdapter,
    OrderPreservingRanker,
    RankEnsembleClassifier,
    TopFocusedRanker,
)
from sklearn_rank._ensembles._group_adapter import ordered_by_content
from sklearn_rank._ensembles._members import categorical_columns
from sklearn_rank._lists import LabelType, check_lists
from sklearn_rank.exceptions import LargeGainWarning
from sklearn_rank.metrics import get_measure, ndcg_score
from sklearn_rank.rankers._base import check_columns, row_keys


def light(**parameters):
    return LGBMRanker(
        **{"n_estimators": 8, "num_leaves": 5, "min_child_samples": 5, "n_jobs": 1} | parameters
    )


def xgb(**parameters):
    reason = "xgboost is not installed"
    ranker = pytest.importorskip("xgboost", reason=reason).XGBRanker
    return ranker(**{"n_estimators": 8, "max_depth": 3, "n_jobs": 1} | parameters)


def cat(**parameters):
    reason = "catboost is not installed"
    ranker = pytest.importorskip("catboost", reason=reason).CatBoostRanker
    return ranker(**{"n_estimators": 8, "depth": 3, "thread_count": 1} | parameters)


every_library = pytest.mark.parametrize("make", [light, xgb, cat])


def data(n_queries=40, seed=0, n_features=5):
    """Rows in random order, queries of 5 to 15 rows, grades 0 to 3."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 16, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(len(qid), n_features))
    y = rng.binomial(3, 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1])))
    y[np.append(0, np.cumsum(sizes)[:-1])] = 3
    y[np.cumsum(sizes) - 1] = 0
    rows = rng.permutation(len(qid))
    return X[rows], y[rows], qid[rows]


# ------------------------------------------------------------------------- beside calls by hand


@every_library
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_what_the_library_gives_by_hand_on_sorted_rows(make, weighted):
    X, y, qid = data()
    weight = np.random.default_rng(1).integers(1, 4, 40) * 1.0 if weighted else None
    adapter = GroupRankerAdapter(make(), row_order="given")
    names = np.array([f"q{7 * i % 40}" for i in qid])
    by_row = None if weight is None else weight[qid]
    adapter.fit(X, y, qid=names, query_weight=by_row)
    np.testing.assert_array_equal(adapter.predict(X), native(make, X, y, qid, weight).predict(X))
    assert adapter.best_iteration_ == 8
    assert adapter.n_queries_ == 40


def test_misspelt_parameters_of_lightgbm_are_refused():
    X, y, qid = data()
    message = "contains 'min_gain_to_splitt', which .* did you mean 'min_gain_to_split'"
    with pytest.raises(ValueError, match=f"LGBMRanker {message}"):
        GroupRankerAdapter(light(min_gain_to_splitt=50)).fit(X, y, qid=qid)
    within = make_pipeline(StandardScaler(), LGBMClassifier(min_gain_to_splitt=50))
    with pytest.raises(ValueError, match=f"LGBMClassifier {message}"):
        TopFocusedRanker(within).fit(X, y > 1)
    GroupRankerAdapter(light(min_gain_to_split=1, reg_sqrt=False)).fit(X, y, qid=qid)


def test_a_parameter_by_two_names_is_refused():
    X, y, qid = data()
    for estimator, names in (
        (light(min_data_in_leaf=50), "min_data_in_leaf=50 and min_child_samples=5"),
        (light(eta=0.5), "learning_rate=0.1 and eta=0.5"),
        (light(lambda_l2=1, l2_regularization=5), "lambda_l2=1 and l2_regularization=5"),
        (xgb(eta=0.5, learning_rate=0.1), "learning_rate=0.1 and eta=0.5"),
    ):
        with pytest.raises(ValueError, match=f"has {names}, which are two names of one parameter"):
            GroupRankerAdapter(estimator).fit(X, y, qid=qid)
    # The library uses these, and nothing contradicts them.
    for estimator in (LGBMRanker(num_iterations=3), light(min_data_in_leaf=5), xgb(eta=0.5)):
        GroupRankerAdapter(estimator).fit(X, y, qid=qid)


def test_metrics_of_the_estimator_do_not_stop_the_fit():
    X, y, qid = data()
    for make, wish in (
        (light, {"metrics": ["map", "auc"]}),
        (xgb, {"eval_metric": ["ndcg@3", "map"]}),
        (cat, {"eval_metric": "MAP"}),
    ):
        adapter = GroupRankerAdapter(make(), early_stopping=True, random_state=0)
        expected = clone(adapter).fit(X, y, qid=qid).predict(X)
        fitted = clone(adapter).set_params(estimator=make(**wish)).fit(X, y, qid=qid)
        np.testing.assert_array_equal(fitted.predict(X), expected)


def native(make, X, y, qid, weight=None, *, params=None, **by_row):
    """A fit of the library itself on rows sorted by query; columns as its fit calls them."""
    code, ids = pd.factorize(qid)
    order = np.argsort(code, kind="stable")
    code = code[order]
    X = X.iloc[order] if hasattr(X, "iloc") else X[order]
    by_row = {name: values[order] for name, values in by_row.items()}
    if weight is not None:
        name = "group_weight" if make is cat else "sample_weight"
        by_row[name] = weight[ids] if make is xgb else weight[ids][code]
    quiet = {light: {"verbosity": -1}, cat: {"verbose": False, "allow_writing_files": False}}
    ids = {light: "group", xgb: "qid", cat: "group_id"}[make]
    by_row[ids] = np.bincount(code) if make is light else code
    return make(**quiet.get(make, {}) | (params or {})).fit(X, y[order], **by_row)


# What each library needs for a frame whose column "town" is of categories.
OF_TOWNS = {light: {}, xgb: {"enable_categorical": True}, cat: {"cat_features": ["town"]}}


def towns(seed=0):
    X, y, qid = data(seed=seed)
    names = np.array(["Bern", "Aarau", "Chur", "Davos"])[7 * y % 4]
    return pd.DataFrame(X).add_prefix("x").assign(town=pd.Categorical(names)), y, qid


@every_library
def test_category_columns_are_those_of_the_library(make):
    X, y, qid = towns()
    adapter = GroupRankerAdapter(make(**OF_TOWNS[make]), row_order="given").fit(X, y, qid=qid)
    expected = native(make, X, y, qid, params=OF_TOWNS[make]).predict(X)
    np.testing.assert_array_equal(adapter.predict(X), expected)
    # The codes of the categories do not count.
    turned = X.assign(town=X["town"].cat.reorder_categories(["Davos", "Bern", "Chur", "Aarau"]))
    np.testing.assert_array_equal(adapter.predict(turned), expected)
    some = (X["town"] != "Bern").to_numpy()
    fewer = X[some].assign(town=X["town"][some].cat.remove_unused_categories())
    np.testing.assert_array_equal(adapter.predict(fewer), expected[some])
    with config_context(enable_metadata_routing=True):
        values = cross_validate(
            adapter, X, y, cv=GroupKFold(3), params={"groups": qid}, error_score="raise"
        )
    assert values["test_score"].min() > 0.9


@every_library
def test_validation_rows_with_categories_in_another_order(make):
    X, y, qid = towns()
    held = qid >= 30
    validation = X[held].assign(
        town=X["town"][held].cat.set_categories(["Davos", "Chur", "Bern", "Aarau"])
    )
    adapter = GroupRankerAdapter(make(**OF_TOWNS[make]), early_stopping=True)
    of_val = {"y_val": y[held], "qid_val": qid[held]}
    adapter.fit(X[~held], y[~held], qid=qid[~held], X_val=validation, **of_val)
    best = adapter.validation_score_.max()
    assert adapter.score(validation, y[held], qid=qid[held]) == pytest.approx(best, abs=1e-6)


def test_words_in_frames_of_polars():
    X, y, qid = towns()
    words = pl.from_pandas(X.astype({"town": object}))
    coded = words.cast({"town": pl.Categorical})
    # LightGBM would end the process.
    for rows in (words, coded):
        with pytest.raises(ValueError, match=r"has 'town': pass X.to_pandas\(\)"):
            GroupRankerAdapter(light()).fit(rows, y, qid=qid)
    adapter = GroupRankerAdapter(xgb(**OF_TOWNS[xgb]))
    expected = clone(adapter).fit(X, y, qid=qid).predict(X)
    np.testing.assert_allclose(adapter.fit(coded, y, qid=qid).predict(coded), expected, atol=1e-5)


@pytest.mark.parametrize("columns", [["x0"], [0], "0"])
def test_columns_of_categories_of_lightgbm_by_parameter(columns):
    X, y, qid = data()
    X = pd.DataFrame(X).add_prefix("x").assign(x0=7 * y % 4)
    adapter = GroupRankerAdapter(light(categorical_feature=columns), row_order="given")
    expected = native(light, X, y, qid)
    assert not np.array_equal(adapter.fit(X, y, qid=qid).predict(X), expected.predict(X))
    order = np.argsort(pd.factorize(qid)[0], kind="stable")
    sizes = np.bincount(pd.factorize(qid)[0])
    expected.fit(X.iloc[order], y[order], group=sizes, categorical_feature=[0])
    np.testing.assert_array_equal(adapter.predict(X), expected.predict(X))


# --------------------------------------------------------------------------- columns of the rows


def clicks(seed=0):
    """Clicks on rows shown at positions, examined less at lower ones; every row has a place."""
    rng = np.random.default_rng(seed)
    X, y, qid = data(200, seed)
    position = pd.Series(rng.random(len(y))).groupby(qid).rank().to_numpy().astype(int)
    return X, rng.binomial(1, np.minimum(1, (0.1 + y / 3) / position)), qid, position


@pytest.mark.parametrize("regularization", [0.0, 0.5])
def test_positions_of_lightgbm_are_those_of_its_dataset(regularization):
    X, y, qid, position = clicks()
    params = {"lambdarank_position_bias_regularization": regularization, "verbosity": -1}
    adapter = GroupRankerAdapter(light(**params), row_order="given")
    adapter.fit(X, y, qid=qid, position=position)
    order = np.argsort(pd.factorize(qid)[0], kind="stable")
    params = {"objective": "lambdarank", "num_leaves": 5, "min_child_samples": 5} | params
    sizes = np.bincount(pd.factorize(qid)[0])
    rows = lightgbm.Dataset(X[order], y[order], group=sizes, position=position[order])
    expected = lightgbm.train(params, rows, 8).predict(X)
    np.testing.assert_array_equal(adapter.predict(X), expected)
    plain = native(light, X, y, qid).predict(X)
    assert np.abs(plain - expected).max() > 0.01


def test_positions_of_xgboost_are_the_order_of_its_rows():
    X, y, qid, position = clicks()
    adapter = GroupRankerAdapter(xgb(lambdarank_unbiased=True), row_order="given")
    adapter.fit(X, y, qid=qid, position=position)
    order = np.lexsort((position, pd.factorize(qid)[0]))
    expected = native(xgb, X[order], y[order], qid[order], params={"lambdarank_unbiased": True})
    found = adapter.predict(X)
    np.testing.assert_array_equal(found, expected.predict(X))
    assert np.abs(adapter.fit(X, y, qid=qid).predict(X) - found).max() > 0.01
    for wrong in (position + 1, np.where(position == 3, 2, position)):
        with pytest.raises(ValueError, match=r"positions 1, 2, .* use LGBMRanker, which takes"):
            adapter.fit(X, y, qid=qid, position=wrong)
    with pytest.raises(ValueError, match="has the weight 2"):
        adapter.fit(X, y, qid=qid, position=position, sample_weight=1 + (position == 2))
    # Without positions the order of the rows is taken for them, which weights would move.
    adapter.fit(X, y, qid=qid, sample_weight=np.ones(len(y)))
    for weight in (np.arange(len(y)) > 0, np.full(len(y), 3)):
        with pytest.raises(ValueError, match=r"unbiased=True .* leave sample_weight out"):
            adapter.fit(X, y, qid=qid, sample_weight=weight)


@pytest.mark.filterwarnings("ignore:ndcg_score is undefined")
@pytest.mark.parametrize("make", [light, xgb])
def test_positions_in_any_order_of_rows_and_with_early_stopping(make):
    X, y, qid, position = clicks()
    held = qid >= 150
    estimator = make(lambdarank_unbiased=True) if make is xgb else make()
    adapter = GroupRankerAdapter(estimator, early_stopping=True)
    with pytest.raises(ValueError, match="their clicks are biased towards items shown at the top"):
        adapter.fit(X, y, qid=qid, position=position)
    of_val = {"X_val": X[held], "y_val": y[held], "qid_val": qid[held]}
    rows = np.flatnonzero(~held)
    fitted = clone(adapter).fit(X[rows], y[rows], qid=qid[rows], position=position[rows], **of_val)
    value = fitted.score(X[held], y[held], qid=qid[held])
    assert value == pytest.approx(fitted.validation_score_.max(), abs=1e-6)
    rows = np.random.default_rng(0).permutation(rows)
    adapter.fit(X[rows], y[rows], qid=qid[rows], position=position[rows], **of_val)
    np.testing.assert_array_equal(adapter.predict(X), fitted.predict(X))


def test_equal_rows_at_several_positions_in_any_order():
    X, y, qid, position = clicks()
    X = X.round()
    adapter = GroupRankerAdapter(light())
    expected = clone(adapter).fit(X, y, qid=qid, position=position).predict(X)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, qid, position = X[order], y[order], qid[order], position[order]
    found = adapter.fit(X, y, qid=qid, position=position).predict(X)
    np.testing.assert_array_equal(found, expected[order])


def test_positions_that_would_have_no_effect_are_refused():
    X, y, qid, position = clicks()
    for estimator, message in (
        (xgb(), "has no effect on XGBRanker without lambdarank_unbiased=True"),
        (light(objective="rank_xendcg"), "has no effect with objective='rank_xendcg'"),
        (light(boosting_type="rf"), "has no effect with boosting='rf'"),
        (cat(), "is not supported for CatBoostRanker: leave it out, or use LGBMRanker"),
        (MeanRanker(), "is not supported for MeanRanker"),
    ):
        with pytest.raises(ValueError, match=f"position.* {message}"):
            GroupRankerAdapter(estimator).fit(X, y, qid=qid, position=position)
    with pytest.raises(ValueError, match="add 1 to positions that start at 0"):
        GroupRankerAdapter(light()).fit(X, y, qid=qid, position=position - 1)
    ranker = light(lambdarank_position_bias_regularization=0.5)
    for row_order in ("content", "given"):
        with pytest.raises(ValueError, match="has no effect without positions: pass position="):
            GroupRankerAdapter(ranker, row_order=row_order).fit(X, y, qid=qid)


@every_library
def test_initial_scores_are_those_of_the_library(make):
    X, y, qid = data()
    start = np.random.default_rng(1).normal(size=len(y))
    adapter = GroupRankerAdapter(make(), row_order="given").fit(X, y, qid=qid, init_score=start)
    name = {light: "init_score", xgb: "base_margin", cat: "baseline"}[make]
    expected = native(make, X, y, qid, **{name: start})
    zeros, trees = np.zeros(len(y)), expected.predict(X)
    np.testing.assert_allclose(adapter.predict(X, init_score=zeros), trees, atol=1e-6)
    scores = expected.predict(X, base_margin=start) if make is xgb else trees + start
    np.testing.assert_array_equal(adapter.predict(X, init_score=start), scores)
    assert np.abs(native(make, X, y, qid).predict(X) - trees).max() > 0.01
    for use in (adapter.predict, adapter.decision_function, adapter.rank):
        with pytest.raises(ValueError, match="was fitted with init_score: pass predict"):
            use(X)
    adapter.fit(X, y, qid=qid).predict(X)


@every_library
def test_initial_scores_with_early_stopping(make):
    X, y, qid = data()
    start = y + np.random.default_rng(1).normal(size=len(y))
    adapter = GroupRankerAdapter(make(), early_stopping=True, random_state=0)
    adapter.fit(X, y, qid=qid, init_score=start)
    # The queries that were held out are drawn from those in the order of their content.
    order = ordered_by_content(X, check_lists(y, LabelType("graded"), qid=qid), start)
    held = np.isin(qid, order.ids[np.random.RandomState(0).permutation(40)[:4]])
    scores = adapter.predict(X[held], init_score=start[held])
    value = ndcg_score(y[held], scores, qid=qid[held])
    assert value == pytest.approx(adapter.validation_score_.max(), abs=1e-6)
    of_val = {"X_val": X[held], "y_val": y[held], "qid_val": qid[held]}
    with pytest.raises(ValueError, match="none for the rows of X_val"):
        adapter.fit(X, y, qid=qid, init_score=start, **of_val)


# ------------------------------------------------------------------------------ order and ids


@every_library
@pytest.mark.parametrize("early_stopping", [False, True])
def test_neither_the_order_of_rows_nor_the_ids_matter(make, early_stopping):
    X, y, qid = data()
    X[:, 2] = np.round(X[:, 2])
    adapter = GroupRankerAdapter(make(), early_stopping=early_stopping, random_state=0)
    expected = clone(adapter).fit(X, y, qid=qid).predict(X)
    order = np.random.default_rng(1).permutation(len(y))
    names = np.array([f"q{(7 * i) % 40}" for i in qid])
    for ids in (names[order], pd.Series(names[order]), pl.Series(names[order]), -qid[order]):
        found = clone(adapter).fit(X[order], y[order], qid=ids)
        np.testing.assert_array_equal(found.predict(X), expected)


def test_keys_of_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(500, 6)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    labels = rng.integers(0, 2, 500).astype(float)
    keys = row_keys(X, labels)
    table = np.column_stack([X, labels])
    table[np.isnan(table)] = 9.0
    assert len(np.unique(keys)) == len(np.unique(table, axis=0))
    same = [sp.csr_array(X), np.asfortranarray(X), X.astype(np.float32), pl.DataFrame(X)]
    same += [pd.DataFrame(X), np.where(X == 0, -0.0, X), sp.csr_array(sp.coo_array(X))]
    for other in same:
        np.testing.assert_array_equal(row_keys(other, labels), keys)
    words = np.array(["a", "b", None], dtype=object)[rng.integers(0, 3, 500)]
    frame = pd.DataFrame({"number": X[:, 0], "word": words, "list": [[1]] * 500})
    order = rng.permutation(500)
    found = row_keys(frame.iloc[order], labels[order])
    np.testing.assert_array_equal(found, row_keys(frame, labels)[order])
    objects = frame[["number", "word"]].to_numpy()
    assert len(np.unique(row_keys(objects, labels))) == 24


# ------------------------------------------------------------------------------------- weights


@every_library
def test_weights_are_repetitions(make):
    X, y, qid = data()
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    adapter = GroupRankerAdapter(make())
    one = clone(adapter).fit(X, y, qid=qid, sample_weight=weight)
    two = clone(adapter).fit(X[rows], y[rows], qid=qid[rows])
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    with pytest.raises(ValueError, match="sample_weight is not whole"):
        clone(adapter).fit(X, y, qid=qid, sample_weight=weight + 0.5)


@every_library
def test_queries_of_weight_0_are_absent(make):
    X, y, qid = data()
    kept = qid % 3 > 0
    adapter = GroupRankerAdapter(make())
    one = clone(adapter).fit(X, y, qid=qid, query_weight=(qid % 3) * 1.0)
    two = clone(adapter).fit(X[kept], y[kept], qid=qid[kept], query_weight=(qid % 3)[kept])
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert one.n_queries_ == two.n_queries_ == 26
    plain = clone(adapter).fit(X[kept], y[kept], qid=qid[kept])
    assert np.any(plain.predict(X) != one.predict(X))


# ------------------------------------------------------------------------------ early stopping


@every_library
@pytest.mark.parametrize("measure", ["ndcg@5", "rbp@0.8", "err"])
def test_the_measure_itself_is_watched(make, measure):
    X, y, qid = data(80)
    y = (y > 1).astype(int)
    X_val, y_val, qid_val = data(30, seed=1)
    y_val = (y_val > 1).astype(int)
    adapter = GroupRankerAdapter(
        make(n_estimators=60), measure=measure, early_stopping=True, n_iter_no_change=6
    )
    validation = {"X_val": X_val, "y_val": y_val, "qid_val": qid_val}
    adapter.fit(X, y, qid=qid, **validation)
    values = adapter.validation_score_
    value = get_measure(measure)(y_val, adapter.predict(X_val), qid=qid_val)
    assert adapter.best_iteration_ == np.argmax(values) + 1 < 60
    assert values.max() == pytest.approx(value)
    assert len(values) == adapter.best_iteration_ + 6
    assert adapter.stopping_measure_ == get_measure(measure).name
    # As many rounds in all give the same scores, where nothing is drawn at random.
    if make is not cat:
        exact = make(n_estimators=adapter.best_iteration_)
        plain = GroupRankerAdapter(exact).fit(X, y, qid=qid)
        np.testing.assert_array_equal(plain.predict(X), adapter.predict(X))
        assert not hasattr(plain, "validation_score_")


def test_what_stopping_refuses():
    X, y, qid = data()
    stopped = GroupRankerAdapter(light(), early_stopping=True)
    with pytest.raises(ValueError, match="which early_stopping=False does not use"):
        GroupRankerAdapter(light()).fit(X, y, qid=qid, X_val=X, y_val=y, qid_val=qid)
    with pytest.raises(ValueError, match="fit got X_val without y_val and qid_val"):
        clone(stopped).fit(X, y, qid=qid, X_val=X)
    with pytest.raises(ValueError, match="X has 3 features"):
        clone(stopped).fit(X, y, qid=qid, X_val=X[:, :3], y_val=y, qid_val=qid)
    with pytest.raises(ValueError, match="the number of queries of positive weight is 1"):
        clone(stopped).fit(X, y, qid=0)
    twice = GroupRankerAdapter(light(early_stopping_rounds=5), early_stopping=True)
    with pytest.raises(ValueError, match="early_stopping_rounds=5 of LGBMRanker: unset"):
        twice.fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="not supported for OrderPreservingRanker"):
        GroupRankerAdapter(OrderPreservingRanker(), early_stopping=True).fit(X, y, qid=qid)
    constant = {"X_val": X, "y_val": np.zeros_like(y), "qid_val": qid}
    with pytest.raises(ValueError, match="ndcg is undefined for all held-out queries"):
        clone(stopped).fit(X, y, qid=qid, **constant)
    constant["y_val"] = np.where(qid < 3, y, 0)
    with pytest.warns(UndefinedMetricWarning, match="undefined for 37 of 40 lists") as caught:
        clone(stopped).fit(X, y, qid=qid, **constant)
    assert len(caught) == 1
    assert caught[0].filename == __file__


# ------------------------------------------------------------------------- rows of other kinds


@every_library
def test_rows_in_any_container(make):
    X, y, qid = data()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    expected = GroupRankerAdapter(make()).fit(X, y, qid=qid).predict(X)
    names = list("abcde")
    frames = [pd.DataFrame(X, columns=names)]
    # XGBoost reads frames of polars through pyarrow.
    if make is not xgb or find_spec("pyarrow"):
        frames.append(pl.DataFrame(X, schema=names))
    for frame in frames:
        fitted = GroupRankerAdapter(make()).fit(frame, y, qid=qid)
        assert fitted.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(fitted.predict(frame), expected)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[names[::-1]])
    read_only = X.copy()
    read_only.setflags(write=False)
    fitted = GroupRankerAdapter(make()).fit(read_only, y, qid=qid)
    np.testing.assert_array_equal(fitted.predict(X), expected)
    assert GroupRankerAdapter(make()).fit(X.tolist(), y.tolist(), qid=qid.tolist()).n_queries_
    assert fitted.feature_importances_.shape == (5,)


def held_otherwise():
    """The same numbers in two ways: frames of NumPy, and other types, names and tables."""
    X, y, qid = data()
    X = np.round(X, 2)
    X[::7, 1] = np.nan
    plain = pd.DataFrame(X, columns=list("abcde")).assign(flag=X[:, 0] > 0)
    decimals = [Decimal(f"{value:.2f}") for value in X[:, 0]]
    names = ["a[0]", "b{}", "c:", 'd,"', "<e>", "flag"]
    arrow = pa.table(plain).append_column("g", pa.array(decimals))
    return y, qid, {
        "objects": (plain, plain.astype(object).where(plain.notna(), None)),
        "decimals": (plain, plain.assign(a=decimals)),
        "Arrow": (plain, plain.convert_dtypes(dtype_backend="pyarrow")),
        "decimals of polars": (
            pl.DataFrame(plain),
            pl.DataFrame(plain).with_columns(a=pl.Series(decimals)),
        ),
        "table": (plain.assign(g=X[:, 0]), arrow),
        "names": (plain, plain.set_axis(names, axis=1)),
        "names of polars": (plain, pl.DataFrame(plain.set_axis(names, axis=1))),
        "levels": (plain, plain.set_axis([("u", name) for name in plain.columns], axis=1)),
        "big-endian": (X, X.astype(">f8")),
    }  # fmt: skip


@every_library
def test_numbers_are_numbers_whatever_holds_them(make):
    y, qid, kinds = held_otherwise()
    for kind, (plain, other) in kinds.items():
        adapter = GroupRankerAdapter(make(n_estimators=2), early_stopping=True, random_state=0)
        expected = adapter.fit(plain, y, qid=qid).predict(plain)
        found = clone(adapter).fit(other, y, qid=qid)
        np.testing.assert_array_equal(found.predict(other), expected, err_msg=kind)
        if kind != "big-endian":
            names = [*map(str, getattr(other, "column_names", other.columns))]
            assert [*map(str, getattr(found, "feature_names_in_", names))] == names
    # A column that the estimator is told to take for categories stays one of integers.
    coded = kinds["objects"][0].assign(a=(7 * y % 4).astype(object))
    if make is cat:
        adapter = GroupRankerAdapter(cat(cat_features=["a"]))
        adapter.fit(coded.drop(columns="b"), y, qid=qid)
    if make is light:
        renamed = coded.set_axis(["[a]", *coded.columns[1:]], axis=1)
        expected = GroupRankerAdapter(light(categorical_feature=["a"])).fit(coded, y, qid=qid)
        found = GroupRankerAdapter(light(categorical_feature=["[a]"])).fit(renamed, y, qid=qid)
        np.testing.assert_array_equal(found.predict(renamed), expected.predict(coded))


def test_numbers_are_numbers_in_rankers_of_two_classes():
    y, _, kinds = held_otherwise()
    y = y > 1
    trees = LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1)
    for ranker, of in (
        (TopFocusedRanker(trees, n_rounds=1), ("objects", "decimals of polars", "table")),
        (RankEnsembleClassifier([("one", trees), ("two", trees)], cv=2), ("objects", "table")),
    ):
        for kind in of:
            plain, other = kinds[kind]
            expected = ranker.fit(plain, y).decision_function(plain)
            found = ranker.fit(other, y).decision_function(other)
            np.testing.assert_array_equal(found, expected, err_msg=kind)
    plain, other = kinds["objects"]
    # By default columns that are no numbers are categories: these are not.
    assert categorical_columns(check_columns(ranker, other, y, reset=True)) == []
    assert other.dtypes.eq(object).all()


def test_large_grades_of_a_loss_of_catboost_are_warned_of():
    X, y, qid = data()
    for name, loss in (("loss_function", "QuerySoftMax"), ("objective", "QuerySoftMax:beta=0.5")):
        adapter = GroupRankerAdapter(cat(**{name: loss}))
        with pytest.warns(LargeGainWarning, match=r"the relevance 201, .* pass y / y.max\(\)"):
            adapter.fit(X, 67 * y, qid=qid)
    adapter.fit(X, y / y.max(), qid=qid)
    GroupRankerAdapter(cat(loss_function="QueryRMSE")).fit(X, 67 * y, qid=qid)


@every_library
@pytest.mark.parametrize("early_stopping", [False, True])
def test_sparse_rows(make, early_stopping):
    X, y, qid = data()
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    adapter = GroupRankerAdapter(make(), early_stopping=early_stopping, random_state=0)
    expected = clone(adapter).fit(X, y, qid=qid).predict(X)
    # To XGBoost what a sparse matrix does not hold is missing.
    if make is not xgb:
        for container in (sp.csr_array, sp.csc_array, sp.coo_matrix):
            fitted = clone(adapter).fit(container(X), y, qid=qid)
            np.testing.assert_array_equal(fitted.predict(container(X)), expected)
    for rows in (sp.csr_array(X > 0), sp.csr_array((3 * X).astype(int))):
        fitted = clone(adapter).fit(rows, y, qid=qid)
        floats = rows.astype(float)
        expected = clone(adapter).fit(floats, y, qid=qid).predict(floats)
        np.testing.assert_array_equal(fitted.predict(rows), expected)
    assert (
        clone(adapter).fit(sp.csr_array(X), y, qid=qid).predict(sp.csr_array(X)).shape == y.shape
    )


# ------------------------------------------------------------------------------- the estimator


@every_library
def test_pickle_clone_and_parameters(make, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    X, y, qid = data()
    adapter = GroupRankerAdapter(make(), early_stopping=True, random_state=0)
    fitted = clone(adapter).fit(X, y, qid=qid)
    read = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(read.predict(X), fitted.predict(X))
    assert not hasattr(clone(fitted), "estimator_")
    rate = "estimator__learning_rate"
    assert clone(adapter.set_params(**{rate: 0.3})).get_params()[rate] == 0.3
    np.testing.assert_array_equal(fitted.decision_function(X), fitted.predict(X))
    assert fitted.rank(X, qid=qid).min() == 1
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_what_takes_no_groups_is_refused():
    X, y, qid = data()
    with pytest.raises(TypeError, match="fit of LGBMRegressor takes none of group_id, qid, group"):
        GroupRankerAdapter(LGBMRegressor()).fit(X, y, qid=qid)
    pipe = make_pipeline(StandardScaler(), light())
    with pytest.raises(TypeError, match="make the adapter its last step"):
        GroupRankerAdapter(pipe).fit(X, y, qid=qid)


class MeanRanker(BaseEstimator):
    """Takes sizes of groups, and ranks by the sum of the features."""

    def fit(self, X, y, group):
        self.group_ = group
        return self

    def predict(self, X):
        return X.sum(axis=1)


def test_any_estimator_that_takes_groups():
    X, y, qid = data()
    fitted = GroupRankerAdapter(MeanRanker()).fit(X, y, qid=qid)
    assert sorted(fitted.estimator_.group_) == sorted(np.bincount(qid))
    np.testing.assert_array_equal(fitted.predict(X), X.sum(axis=1))
    assert not hasattr(fitted, "best_iteration_")
    for name in ("query_weight", "init_score"):
        with pytest.raises(ValueError, match=f"{name} was given, but is not supported for Mean"):
            fitted.fit(X, y, qid=qid, **{name: qid + 1.0})
    linear = GroupRankerAdapter(OrderPreservingRanker()).fit(X, y, qid=qid, query_weight=qid + 1.0)
    expected = OrderPreservingRanker().fit(X, y, qid=qid, query_weight=qid + 1.0)
    np.testing.assert_allclose(linear.predict(X), expected.predict(X), atol=1e-3)


def test_without_the_package_the_line_that_installs_it_is_told(monkeypatch):
    X, y, qid = data()
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    with pytest.raises(ImportError):
        GroupRankerAdapter().fit(X, y, qid=qid)


# ----------------------------------------------------------------------------------- searches


def candidates():
    """Those of the libraries that are installed, and one of ours."""
    found = [GroupRankerAdapter(light(), early_stopping=True, random_state=0)]
    if find_spec("xgboost"):
        found.append(GroupRankerAdapter(xgb()))
    if find_spec("catboost"):
        found.append(GroupRankerAdapter(cat(cat_features=[])))
    return [*found, OrderPreservingRanker()]


def test_one_search_over_all_libraries_and_ours():
    X, y, qid = data(30)
    ids = np.array([f"query {i}" for i in qid])
    pipe = Pipeline([("scale", StandardScaler()), ("ranker", OrderPreservingRanker())])
    grid = [{"ranker": candidates()}, {"ranker": [GroupRankerAdapter(light())],
             "ranker__estimator__num_leaves": [2, 6]}]  # fmt: skip
    cv = GroupKFold(2)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(pipe, grid, cv=cv, error_score="raise").fit(X, y, groups=ids)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    train, test = next(cv.split(X, y, ids))
    scaled = StandardScaler().fit(X[train])
    for i, setting in enumerate(search.cv_results_["params"]):
        one = clone(setting["ranker"])
        if len(setting) > 1:
            one.set_params(estimator__num_leaves=setting["ranker__estimator__num_leaves"])
        one.fit(scaled.transform(X[train]), y[train], qid=ids[train])
        value = one.score(scaled.transform(X[test]), y[test], qid=ids[test])
        assert search.cv_results_["split0_test_score"][i] == pytest.approx(value)


@pytest.mark.parametrize(("make", "name"), [(xgb, "lambdarank_unbiased"), (cat, "has_time")])
def test_options_that_read_the_order_refuse_an_order_by_content(make, name):
    X, y, qid = data()
    with pytest.raises(ValueError, match=rf"{name}=True .* row_order='given'"):
        GroupRankerAdapter(make(**{name: True})).fit(X, y, qid=qid)
    GroupRankerAdapter(make(**{name: True}), row_order="given").fit(X, y, qid=qid)
    GroupRankerAdapter(make(**{name: False})).fit(X, y, qid=qid)


@every_library
def test_indices_of_64_bits_and_entries_in_two(make):
    X, y, qid = data()
    narrow = sp.csr_matrix(X)
    wide = sp.csr_array(
        (np.repeat(narrow.data / 2, 2), np.repeat(narrow.indices, 2), 2 * narrow.indptr), X.shape
    )
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    fitted = GroupRankerAdapter(make()).fit(wide, y, qid=qid)
    expected = GroupRankerAdapter(make()).fit(narrow, y, qid=qid).predict(narrow)
    np.testing.assert_array_equal(fitted.predict(wide), expected)
    assert wide.indices.dtype == np.int64
    assert wide.nnz == 2 * narrow.nnz
