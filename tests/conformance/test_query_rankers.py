"""What holds for every ranker of queries, and how the ids of the queries reach it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import DataConversionWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank.exceptions import (
    QueryOverlapWarning,
    QuerySetupError,
    ScorerSetupError,
    SingleListWarning,
)
from sklearn_rank.metrics import get_measure, get_scorer, rank_positions
from tests.catalogue import QUERY_CLASSES, QUERY_RANKERS

every_ranker = pytest.mark.parametrize("ranker", QUERY_RANKERS, ids=repr)
every_class = pytest.mark.parametrize("ranker", QUERY_CLASSES, ids=repr)


def data(n_queries=9, seed=0, ids="int"):
    """Rows in random order, queries of 3 to 9 rows, grades 0 to 2."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 10, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(len(qid), 4))
    y = rng.binomial(2, 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1])))
    # The measures are then defined for every query.
    y[np.append(0, np.cumsum(sizes)[:-1])] = 2
    y[np.cumsum(sizes) - 1] = 0
    rows = rng.permutation(len(qid))
    if ids == "str":
        qid = np.array([f"query {q}" for q in qid])
    return X[rows], y[rows], qid[rows]


def strict(ranker):
    """The ranker to more digits."""
    return clone(ranker).set_params(tol=1e-8 if "lbfgs" in repr(ranker) else 1e-10)


def assert_near(one, two):
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-6)


def measured(ranker, X, y, qid, **weights):
    return get_measure(ranker.measure)(y, ranker.predict(X), qid=qid, **weights)


def learned(estimator):
    return {name: np.copy(v) for name, v in vars(estimator).items() if name.endswith("_")}


def assert_same(one, two):
    one, two = learned(one), learned(two)
    assert set(one) == set(two)
    for name in set(one) - {"loss_", "training_queries_"}:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


# -------------------------------------------------------------------------------- the estimator


@every_class
def test_it_is_neither_classifier_nor_regressor(ranker):
    assert not is_classifier(ranker)
    assert not is_regressor(ranker)


@every_ranker
def test_predict_rank_and_score(ranker):
    X, y, qid = data()
    fitted = clone(ranker).fit(X, y, qid=qid)
    score = fitted.predict(X)
    assert score.shape == y.shape
    np.testing.assert_array_equal(fitted.decision_function(X), score)
    np.testing.assert_array_equal(fitted.rank(X, qid=qid), rank_positions(score, qid=qid))
    np.testing.assert_array_equal(fitted.rank(X), rank_positions(score))
    assert fitted.score(X, y, qid=qid) == measured(fitted, X, y, qid)
    weights = {"query_weight": (qid % 3) + 1.0}
    assert fitted.score(X, y, qid=qid, **weights) == measured(fitted, X, y, qid, **weights)
    assert fitted.score(X, y, qid=qid) > clone(ranker).fit(-X, y, qid=qid).score(X, y, qid=qid)
    assert fitted.n_queries_ == 9
    assert getattr(fitted, "converged_", True)
    assert fitted.n_iter_ >= 1
    assert not [name for name in learned(fitted) if name in learned(clone(fitted))]


@every_class
def test_score_refuses_rows_of_unknown_queries(ranker):
    X, y, qid = data()
    fitted = clone(ranker).fit(X, y, qid=qid)
    with pytest.raises(ScorerSetupError, match="was fitted to 9 queries, but score got no qid"):
        fitted.score(X, y)
    assert fitted.score(X, y, qid=1) == measured(fitted, X, y, None)


@every_class
@pytest.mark.parametrize("ids", ["groups", {0: 1}, (i for i in range(3)), len])
def test_what_is_no_array_of_ids_is_refused(ranker, ids):
    X, y, qid = data()
    with pytest.raises(ValueError, match=r"qid.* not one id per row"):
        clone(ranker).fit(X, y, qid=ids)
    fitted = clone(ranker).fit(X, y, qid=qid)
    for method in (lambda: fitted.score(X, y, qid=ids), lambda: fitted.rank(X, ids)):
        with pytest.raises(ValueError, match=r"qid.* not one id per row"):
            method()


@every_class
def test_columns_are_vectors(ranker):
    X, y, qid = data()
    expected = clone(ranker).fit(X, y, qid=qid)
    for labels, ids in ((y[:, np.newaxis], qid), (y, qid[:, np.newaxis])):
        with pytest.warns(DataConversionWarning):
            found = clone(ranker).fit(X, labels, qid=ids)
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))
        with pytest.warns(DataConversionWarning):
            assert found.score(X, labels, qid=ids) == expected.score(X, y, qid=qid)


@every_class
def test_one_list_on_purpose_or_with_a_warning(ranker):
    X, y, _ = data(1)
    on_purpose = clone(ranker).fit(X, y, qid=0)
    with pytest.warns(SingleListWarning, match=f"{len(y)} rows, which it treats as one") as caught:
        warned = clone(ranker).fit(X, y)
    assert caught[0].filename == __file__
    assert_same(on_purpose, warned)
    assert on_purpose.score(X, y) == measured(on_purpose, X, y, None)


@every_class
def test_two_fits_are_the_same_fit(ranker):
    X, y, qid = data()
    again = clone(ranker).fit(*data(seed=5)[:2], qid=data(seed=5)[2])
    assert_same(clone(ranker).fit(X, y, qid=qid), again.fit(X, y, qid=qid))


@every_ranker
def test_ids_of_any_type_in_any_order(ranker):
    X, y, qid = data()
    expected = strict(ranker).fit(X, y, qid=qid)
    names = np.array([f"q{q}" for q in qid])
    for ids in (names, names.tolist(), pd.Series(names), qid.astype(float), names.astype(object)):
        assert_same(strict(ranker).fit(X, y, qid=ids), expected)
    order = np.random.default_rng(1).permutation(len(y))
    moved = strict(ranker).fit(X[order], y[order], qid=qid[order])
    assert_near(moved.predict(X), expected.predict(X))
    renamed = strict(ranker).fit(X, y, qid=-qid)
    assert_near(renamed.predict(X), expected.predict(X))


@every_class
@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([3, 3, 3], r"qid has 3 entries for \d+ rows"),
        (lambda qid: np.where(qid == 1, np.nan, qid), "qid is missing at row"),
        (lambda qid: np.stack((qid, qid)), r"qid has shape \(2, \d+\), but must be"),
    ],
)
def test_ids_that_are_refused(ranker, qid, message):
    X, y, ids = data()
    qid = qid(ids) if callable(qid) else qid
    with pytest.raises(ValueError, match=message):
        clone(ranker).fit(X, y, qid=qid)


@every_class
def test_the_third_argument_is_no_weight(ranker):
    X, y, qid = data()
    with pytest.raises(TypeError, match="positional"):
        clone(ranker).fit(X, y, qid)


@every_ranker
def test_weights_are_repetitions(ranker):
    X, y, qid = data()
    weight = np.random.default_rng(0).integers(1, 4, len(y)) * (np.arange(len(y)) % 5 > 0)
    rows = np.repeat(np.arange(len(y)), weight)
    one = strict(ranker).fit(X, y, qid=qid, sample_weight=weight)
    two = strict(ranker).fit(X[rows], y[rows], qid=qid[rows])
    assert_near(one.predict(X), two.predict(X))


@every_ranker
def test_weights_of_queries_are_repetitions_of_queries(ranker):
    X, y, qid = data()
    weight = (qid % 3).astype(float)
    once = np.flatnonzero(weight > 0)
    twice = np.flatnonzero(weight == 2)
    one = strict(ranker).fit(X, y, qid=qid, query_weight=weight)
    rows = np.append(once, twice)
    ids = np.append(qid[once], qid[twice] + 100)
    two = strict(ranker).fit(X[rows], y[rows], qid=ids)
    assert_near(one.predict(X), two.predict(X))
    assert one.n_queries_ == 6
    weight[np.flatnonzero(qid == 1)[0]] += 1
    with pytest.raises(ValueError, match="query_weight differs within the query 1"):
        clone(ranker).fit(X, y, qid=qid, query_weight=weight)


@every_ranker
def test_frames_sparse_matrices_and_lists(ranker):
    X, y, qid = data()
    X = X * (np.random.default_rng(0).random(X.shape) < 0.7)
    expected = strict(ranker).fit(X, y, qid=qid)
    names = [f"feature {j}" for j in range(X.shape[1])]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        fitted = strict(ranker).fit(frame, y, qid=qid)
        assert fitted.feature_names_in_.tolist() == names
        assert_near(fitted.predict(frame), expected.predict(X))
    for container in (sp.csr_array, sp.csc_array, sp.coo_matrix):
        fitted = strict(ranker).fit(container(X), y, qid=qid)
        assert_near(fitted.predict(container(X)), expected.predict(X))
    by_list = strict(ranker).fit(X.tolist(), y.tolist(), qid=qid.tolist())
    np.testing.assert_array_equal(by_list.predict(X), expected.predict(X))


@every_class
def test_the_number_of_jobs_changes_no_bit(ranker):
    X, y, qid = data(20)
    one, two = clone(ranker).set_params(n_jobs=1), clone(ranker).set_params(n_jobs=3)
    assert_same(one.fit(X, y, qid=qid), two.fit(X, y, qid=qid))


@every_ranker
def test_a_warm_start_ends_where_a_cold_one_does(ranker):
    X, y, qid = data()
    warm = strict(ranker).set_params(warm_start=True).fit(X, y, qid=qid)
    cold, steps = learned(warm), warm.n_iter_
    warm.fit(X, y, qid=qid)
    assert warm.n_iter_ < steps
    assert_near(warm.coef_, cold["coef_"])
    with pytest.raises(ValueError, match="warm_start=True, but X has 3 features"):
        warm.fit(X[:, :3], y, qid=qid)
    assert warm.n_features_in_ == 4


@every_class
def test_a_bad_refit_leaves_the_ranker_as_it_was(ranker):
    X, y, qid = data()
    fitted = clone(ranker).fit(X, y, qid=qid)
    before = learned(fitted)
    wide = np.ones((len(y), 9))
    bad_weights = np.full(len(y), -1.0)
    for rows, labels, arguments in (
        (np.full_like(X, np.inf), y, {"qid": qid}),
        (wide, np.zeros_like(y), {"qid": np.arange(len(y))}),
        (wide, y[:-1], {"qid": qid}),
        (wide, y, {"qid": qid[:-1]}),
        (wide, y, {"qid": qid, "sample_weight": bad_weights}),
        (wide, y, {"qid": qid, "query_weight": bad_weights}),
        (wide, y, {"qid": qid, "query_weight": np.zeros(len(y))}),
    ):
        with pytest.raises(
            ValueError, match=r"infinity|queries have only one row|weight|samples|entries"
        ):
            fitted.fit(rows, labels, **arguments)
        assert set(before) == set(learned(fitted))
        for name, value in before.items():
            np.testing.assert_array_equal(value, getattr(fitted, name), err_msg=name)


@every_ranker
def test_labels_that_are_no_relevance_are_refused(ranker):
    X, y, qid = data()
    with pytest.raises(ValueError, match="y must be numeric"):
        clone(ranker).fit(X, y.astype(str), qid=qid)
    with pytest.raises(ValueError, match="NaN"):
        clone(ranker).fit(X, np.where(y == 1, np.nan, y), qid=qid)
    if ranker.measure.startswith(("ndcg", "dcg")):
        with pytest.raises(ValueError, match=r"^y has the relevance -(0.5|1) at row"):
            clone(ranker).fit(X, -0.5 * y, qid=qid)


# ------------------------------------------------------------------------- how the ids travel

CV = GroupKFold(3)


def by_hand(ranker, X, y, qid):
    """Value of each fold by loops: fitted and measured with the ids."""
    values = []
    for train, test in CV.split(X, y, qid):
        fitted = clone(ranker).fit(X[train], y[train], qid=qid[train])
        values.append(measured(fitted, X[test], y[test], qid[test]))
    return np.array(values)


@every_class
def test_routing_on_groups_reach_splitter_fit_and_score(ranker, routing):
    X, y, qid = data(12, ids="str")
    values = cross_val_score(
        clone(ranker), X, y, cv=CV, params={"groups": qid}, error_score="raise"
    )
    np.testing.assert_array_equal(values, by_hand(ranker, X, y, qid))
    result = cross_validate(
        clone(ranker),
        X,
        y,
        cv=CV,
        scoring={"own": get_scorer("ndcg@3"), "auc-like": get_scorer("dcg")},
        params={"groups": qid},
        error_score="raise",
    )
    assert np.isfinite(result["test_own"]).all()
    scores = cross_val_predict(clone(ranker), X, y, cv=CV, params={"groups": qid})
    assert np.isfinite(scores).all()


@every_class
def test_routing_on_nested_searches_pipelines_and_curves(ranker, routing):
    X, y, qid = data(12)
    grid = {f"{type(ranker).__name__.lower()}__alpha": [0.01, 0.1]}
    pipe = make_pipeline(StandardScaler(), clone(ranker))
    search = GridSearchCV(pipe, grid, cv=CV, error_score="raise")
    search.fit(X, y, groups=qid)
    for i, value in enumerate([0.01, 0.1]):
        fold = search.cv_results_["split0_test_score"][i]
        train, test = next(CV.split(X, y, qid))
        scaled = StandardScaler().fit(X[train])
        one = clone(ranker).set_params(alpha=value)
        one.fit(scaled.transform(X[train]), y[train], qid=qid[train])
        assert fold == measured(one, scaled.transform(X[test]), y[test], qid[test])
    outer = cross_val_score(search, X, y, cv=CV, params={"groups": qid}, error_score="raise")
    assert np.isfinite(outer).all()
    with pytest.raises(TypeError, match="qid"):
        pipe.fit(X, y, qid=qid)
    assert pipe.fit(X, y, groups=qid)[-1].n_queries_ == 12


@every_class
def test_routing_off_groups_reach_the_splitter_only(ranker):
    X, y, qid = data(12)
    search = GridSearchCV(clone(ranker), {"alpha": [1.0]}, cv=CV)
    with pytest.raises(ValueError, match=r"(?s)got no qid .*metadata_routing"):
        search.fit(X, y, groups=qid)


@every_class
def test_routing_off_qid_reaches_fit_and_not_score(ranker):
    X, y, qid = data(12)
    for cv in (list(CV.split(X, y, qid)), KFold(3)):
        search = GridSearchCV(clone(ranker), {"alpha": [0.01]}, cv=cv, error_score="raise")
        with pytest.raises(ScorerSetupError, match="score got no qid"):
            search.fit(X, y, qid=qid)
        with (
            pytest.warns(UserWarning, match="score got no qid"),
            pytest.warns(UserWarning, match="test scores are non-finite"),
        ):
            search.set_params(error_score=np.nan).fit(X, y, qid=qid)
    pipe = make_pipeline(StandardScaler(), clone(ranker))
    pipe.fit(X, y, **{f"{type(ranker).__name__.lower()}__qid": qid})
    assert pipe[-1].n_queries_ == 12


@every_class
def test_groups_of_a_direct_call_are_refused(ranker):
    X, y, qid = data(12)
    fitted = clone(ranker).fit(X, y, qid=qid)
    calls = [(fitted.fit, (X, y)), (fitted.score, (X, y))]
    calls += [(method, (X,)) for method in (fitted.predict, fitted.decision_function, fitted.rank)]
    for method, arguments in calls:
        told = rf"{type(ranker).__name__}\.{method.__name__} takes query ids as qid=.*metadata_rou"
        with pytest.raises(TypeError, match=told):
            method(*arguments, groups=qid)
        method(*arguments, qid=qid)


@every_class
def test_ids_reach_all_methods_of_a_pipeline(ranker):
    X, y, qid = data(12)
    pipe = make_pipeline(StandardScaler(), clone(ranker))
    step = type(ranker).__name__.lower()
    expected = pipe.fit(X, y, **{f"{step}__qid": qid}).predict(X, qid=qid)
    with config_context(enable_metadata_routing=True):
        pipe.fit(X, y, groups=qid)
        for method in (pipe.predict, pipe.decision_function):
            np.testing.assert_array_equal(method(X, groups=qid), expected)
        value = pipe.score(X, y, groups=qid)
        assert value == pipe[-1].score(pipe[:-1].transform(X), y, qid=qid)
        with pytest.raises(ScorerSetupError, match=r"groups=, after sklearn\.set_config"):
            pipe.score(X, y)


# ------------------------------------------------------------------ ids that are wrong or cut


@every_class
def test_single_list_says_that_no_ids_are_needed(ranker):
    X, y, qid = data()
    one = clone(ranker).set_params(single_list=True).fit(X, y)
    assert_same(one, clone(ranker).fit(X, y, qid=7))
    assert_same(one, clone(one).fit(X, y, qid=7))
    with pytest.raises(ValueError, match="single_list=True"):
        clone(one).fit(X, y, qid=qid)
    values = cross_val_score(one, X, y, cv=KFold(2), error_score="raise")
    assert np.isfinite(values).all()


@every_class
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_rows_without_ids_are_refused_where_a_search_may_have_kept_them(ranker, n_jobs):
    X, y, qid = data(12)
    advice = r"set_config\(enable_metadata_routing=True\)"
    for cv, groups in ((CV, qid), (KFold(3), None)):
        with pytest.raises(QuerySetupError, match=advice), parallel_config("threading"):
            cross_val_score(
                clone(ranker), X, y, cv=cv, groups=groups, n_jobs=n_jobs, error_score="raise"
            )
    one = clone(ranker).set_params(single_list=True)
    with parallel_config("threading"):
        cross_val_score(one, X, y, cv=KFold(3), n_jobs=n_jobs, error_score="raise")


@every_class
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_scores_of_cut_queries_are_refused(ranker, routing):
    X, y, qid = data(12)
    cut = {"cv": KFold(3, shuffle=True, random_state=0), "params": {"groups": qid}}
    with pytest.raises(QuerySetupError, match=r"trained on other rows .*QueryKFold\(\)"):
        cross_val_score(clone(ranker), X, y, error_score="raise", **cut)
    with pytest.warns(UserWarning, match="trained on other rows"):
        assert np.isnan(cross_val_score(clone(ranker), X, y, **cut)).all()


# ---------------------------------------------------------------- queries that were trained on


@every_class
def test_the_training_queries_are_remembered(ranker):
    X, y, qid = data()
    fitted = clone(ranker).fit(X, y, qid=qid)
    assert len(fitted.training_queries_.hashes) == fitted.n_queries_ == 9
    order = np.random.default_rng(0).permutation(len(y))
    again = clone(ranker).fit(X[order], y[order], qid=qid[order].astype(float))
    assert again.training_queries_ == fitted.training_queries_
    assert pickle.loads(pickle.dumps(fitted)).training_queries_ == fitted.training_queries_


@every_class
def test_a_score_of_queries_that_were_trained_on_is_named(ranker):
    X, y, qid = data(12)
    first = qid < 8
    fitted = clone(ranker).fit(X[first], y[first], qid=qid[first])
    scorer = get_scorer("ndcg")
    for score in (fitted.score, lambda *a, **k: scorer(fitted, *a, **k)):
        score(X[first], y[first], qid=qid[first])  # a training score
        some = qid < 3
        score(X[some], y[some], qid=qid[some])
        score(X[~first], y[~first], qid=qid[~first])
        with pytest.warns(QueryOverlapWarning, match="on 8 of the 12 queries") as caught:
            score(X, y, qid=qid)
        assert len(caught) == 1
        part = np.flatnonzero(first)[:-1]
        with pytest.warns(QueryOverlapWarning, match="1 of them with other rows, such as"):
            score(X[part], y[part], qid=qid[part])
