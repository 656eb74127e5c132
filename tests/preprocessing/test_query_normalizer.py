"""Features per query: against the definition, and what a transformer has to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import preprocessing
from sklearn_rank.exceptions import QuerySetupError, SingleListWarning
from sklearn_rank.preprocessing import QueryNormalizer
from tests.oracles import query_features as oracle

METHODS = ["zscore", "rank", "minmax"]
every_method = pytest.mark.parametrize("method", METHODS)


def data(n=80, n_queries=9, seed=0):
    """Values with ties, rows of a query scattered, a constant feature, a query of one row."""
    rng = np.random.default_rng(seed)
    qid = rng.integers(0, n_queries, n)
    qid[0] = n_queries
    X = rng.integers(-3, 4, (n, 5)) * np.array([1.0, 0.1, 1e6, 1.0, 1.0])
    X[:, 3] = 0.1 * qid
    return X, qid


def by_oracle(X, qid, method, signed_log=False):
    columns = []
    for column in X.T:
        values = [None if np.isnan(v) else v for v in column.tolist()]
        found = oracle.normalized(values, qid.tolist(), method, signed_log)
        columns.append([np.nan if v is None else v for v in found])
    return np.array(columns).T


@every_method
@pytest.mark.parametrize("signed_log", [False, True])
@pytest.mark.parametrize("copied", [1 << 17, 7])
def test_definition(method, signed_log, copied, monkeypatch):
    monkeypatch.setattr(preprocessing, "COPIED", copied)
    X, qid = data()
    normalizer = QueryNormalizer(method, signed_log=signed_log)
    found = normalizer.fit_transform(X, qid=qid)
    np.testing.assert_allclose(found, by_oracle(X, qid, method, signed_log), atol=1e-9)
    assert np.all(found[:, 3] == 0)
    assert np.all(found[0] == 0)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[qid == 1, 2] = np.nan
    found = normalizer.fit_transform(X, qid=qid)
    np.testing.assert_allclose(found, by_oracle(X, qid, method, signed_log), atol=1e-9)


@every_method
def test_weights_are_repetitions_and_rows_of_weight_0_are_absent(method):
    X, qid = data()
    X[::7, 1] = np.nan
    weight = np.random.default_rng(1).integers(0, 3, len(qid))
    rows = np.repeat(np.arange(len(qid)), weight)
    found = QueryNormalizer(method).fit_transform(X, qid=qid, sample_weight=weight)
    expected = QueryNormalizer(method).fit_transform(X[rows], qid=qid[rows])
    np.testing.assert_allclose(found[rows], expected, atol=1e-12)
    # The others are placed among the rows that count.
    absent = int(np.flatnonzero((weight == 0) & (np.bincount(qid, weight)[qid] > 0))[0])
    alone = QueryNormalizer(method).fit(X[rows][qid[rows] == qid[absent]], qid=0)
    np.testing.assert_allclose(
        found[absent], alone.transform(X[absent][np.newaxis])[0], atol=1e-12
    )
    nothing = QueryNormalizer(method).fit(X, qid=qid)
    found = nothing.transform(X, qid=qid, sample_weight=(qid == 2) * 1.0)
    assert np.all(np.nan_to_num(found[qid != 2]) == 0)


@every_method
def test_order_of_rows_and_type_of_ids(method):
    X, qid = data()
    expected = QueryNormalizer(method).fit_transform(X, qid=qid)
    order = np.random.default_rng(0).permutation(len(qid))
    moved = QueryNormalizer(method).fit_transform(X[order], qid=qid[order])
    np.testing.assert_allclose(moved, expected[order], atol=1e-12)
    names = np.array([f"query {q}" for q in qid])
    for ids in (names, names.tolist(), pd.Series(names), pl.Series(names), qid.astype(float)):
        found = QueryNormalizer(method).fit_transform(X, qid=ids)
        np.testing.assert_array_equal(found, expected)


@every_method
def test_values_of_any_size(method):
    X, qid = data()
    X = X[:, [0, 4]]
    expected = QueryNormalizer(method).fit_transform(X, qid=qid)
    for factor in (1e-290, 1e290):
        found = QueryNormalizer(method).fit_transform(X * factor, qid=qid)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    if method != "rank":
        # scikit-learn adds all values up to see whether one is infinite.
        with (
            np.errstate(over="ignore", invalid="ignore"),
            pytest.raises(ValueError, match="feature 1 within one query differ by more than"),
        ):
            QueryNormalizer(method).fit_transform(X * [1.0, 5e307], qid=qid)


def test_rounding_is_no_spread():
    column = np.array([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2])[:, np.newaxis]
    assert np.all(QueryNormalizer().fit_transform(column, qid=0) == 0)


@every_method
def test_one_list_places_new_rows_in_it(method):
    X, _ = data(30)
    on_purpose = QueryNormalizer(method).fit(X, qid=0)
    with pytest.warns(SingleListWarning, match="got no qid for 30 rows") as caught:
        warned = QueryNormalizer(method).fit(X)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(on_purpose.transform(X), warned.transform(X))
    np.testing.assert_allclose(on_purpose.transform(X), on_purpose.transform(X, qid=0))
    np.testing.assert_array_equal(on_purpose.transform(X)[3:5], on_purpose.transform(X[3:5]))
    if method == "zscore":
        scaled = StandardScaler().fit(X)
        np.testing.assert_allclose(on_purpose.transform(X + 1), scaled.transform(X + 1), atol=1e-9)
    pipe = make_pipeline(QueryNormalizer(method), Ridge())
    with pytest.raises(QuerySetupError, match="got no qid"):
        cross_val_score(pipe, X, X[:, 0], error_score="raise")


@every_method
def test_rows_of_unknown_queries_are_refused(method):
    X, qid = data()
    fitted = QueryNormalizer(method).fit(X, qid=qid)
    with pytest.raises(ValueError, match="was fitted to 10 queries and needs qid"):
        fitted.transform(X)
    with pytest.raises(ValueError, match=r"qid has 3 entries for 80 rows.*np\.repeat"):
        fitted.transform(X, qid=[1, 2, 3])
    with pytest.raises(NotFittedError):
        QueryNormalizer(method).transform(X, qid=qid)


def test_bad_input_leaves_a_fitted_one_as_it_was():
    X, qid = data()
    fitted = QueryNormalizer().fit(X, qid=qid)
    before = dict(vars(fitted))
    wide = np.ones((len(qid), 9))
    for rows, arguments in (
        (np.full_like(X, np.inf), {"qid": qid}),
        (wide, {"qid": qid[1:]}),
        (wide, {"qid": qid, "sample_weight": -qid}),
        (sp.csr_array(X), {"qid": qid}),
    ):
        with pytest.raises((ValueError, TypeError)):
            fitted.fit(rows, **arguments)
        assert vars(fitted) == before
    with pytest.raises(ValueError, match="'method' parameter"):
        QueryNormalizer("mean").fit(X, qid=qid)


@every_method
def test_frames_names_types_and_memory_that_is_not_ours(method):
    X, qid = data()
    names = ["a", "b", "c", "d", "e"]
    expected = QueryNormalizer(method).fit_transform(X, qid=qid)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        fitted = QueryNormalizer(method).fit(frame, qid=qid)
        np.testing.assert_allclose(fitted.transform(frame, qid=qid), expected, atol=1e-12)
        assert fitted.get_feature_names_out().tolist() == names
    indexed = pd.DataFrame(X, columns=names, index=np.arange(len(qid))[::-1])
    shown = QueryNormalizer(method).set_output(transform="pandas")
    shown = shown.fit(indexed, qid=qid).transform(indexed, qid=qid)
    assert shown.columns.tolist() == names
    assert shown.index.equals(indexed.index)
    X.setflags(write=False)
    kept = X.copy()
    assert QueryNormalizer(method).fit_transform(X, qid=qid).flags.writeable
    np.testing.assert_array_equal(X, kept)
    single = X.astype(np.float32)
    found = QueryNormalizer(method).fit_transform(single, qid=qid)
    assert found.dtype == np.float32
    np.testing.assert_allclose(
        found, QueryNormalizer(method).fit_transform(single.astype(float), qid=qid), atol=1e-6
    )
