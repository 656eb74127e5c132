"""The bundled data: shapes, values of the sources, attribution, frames."""

import sys

import numpy as np
import pandas as pd
import pytest

from sklearn_rank.datasets import load_flights, load_ionosphere, load_thyroid

LOADERS = [load_ionosphere, load_thyroid, load_flights]


def test_ionosphere():
    # The first record of ionosphere.data at the UCI repository: 1,0,0.99539,-0.05889,...,g
    X, y = load_ionosphere(return_X_y=True)
    assert X.shape == (351, 34)
    assert X[0, :4].tolist() == [1, 0, 0.99539, -0.05889]
    assert X[0, 33] == -0.453
    assert y[:4].tolist() == [1, 0, 1, 0]
    assert np.bincount(y).tolist() == [126, 225]
    assert np.isfinite(X).all()
    assert not X[:, 1].any()


def test_thyroid():
    # The first record of ann-train.data: 0.73 ... 0.0006 0.015 0.12 0.082 0.146 3
    bunch = load_thyroid()
    X, y = bunch.data, bunch.target
    assert X.shape == (7200, 6)
    assert X[0].tolist() == [0.73, 0.0006, 0.015, 0.12, 0.082, 0.146]
    assert np.bincount(y).tolist() == [6666, 534]
    assert bunch.target_names[y[0]] == "normal"
    repeated = len(X) - len(np.unique(np.column_stack((X, y)), axis=0))
    assert f"{repeated} of them" in bunch.DESCR


def test_flights():
    bunch = load_flights(as_frame=True)
    X, y, qid = bunch.data, bunch.target, bunch.qid
    assert X.shape == (24426, 12)
    assert np.bincount(y).tolist() == [15958, 3530, 2862, 2076]
    sizes = np.bincount(qid)
    assert (len(sizes), sizes.min(), sizes.max()) == (1095, 4, 30)
    assert (np.diff(qid) >= 0).all()
    # Three queries a day: the origin and the weekday follow from the number of a query.
    assert (X["origin"] == np.array(["EWR", "JFK", "LGA"])[qid % 3]).all()
    assert (X["weekday"] == (1 + qid // 3) % 7).all()  # 2013 began on a Tuesday
    # Flight 4202 of EV arrived in St. Louis 116 minutes late on the first of January.
    rows = (qid == 0) & (X["carrier"] == "EV") & (X["destination"] == "STL")
    assert y[rows].tolist() == [2]
    codes, _, _ = load_flights(return_X_y=True)
    for name in ("origin", "carrier", "destination"):
        column = codes[:, X.columns.get_loc(name)].astype(int)
        assert (np.array(bunch.categories[name])[column] == X[name].astype(str)).all()


@pytest.mark.parametrize("load", LOADERS)
def test_bunch_frame_and_tuple_hold_the_same(load):
    bunch, framed = load(), load(as_frame=True)
    assert bunch.frame is None
    assert (bunch.data.dtype, bunch.target.dtype) == (np.float64, np.int64)
    keys = [key for key in ("target", "qid") if key in bunch]
    assert framed.frame.columns.tolist() == [*bunch.feature_names, *keys]
    numbers = framed.data.apply(lambda x: x.cat.codes if x.dtype == "category" else x)
    np.testing.assert_array_equal(numbers, bunch.data)
    for key, array, series in zip(keys, load(return_X_y=True)[1:], keys, strict=True):
        assert isinstance(framed[series], pd.Series)
        np.testing.assert_array_equal(framed[key], array)
    assert len(bunch.target_names) == bunch.target.max() + 1
    for words in (":Source:", ":Licence:", ":Changes:"):
        assert words in bunch.DESCR
    bunch.data[:] = 7
    assert load().data.max() != 7


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match='-m pip install "pandas'):
        load_ionosphere(as_frame=True)
    assert load_ionosphere().data.shape == (351, 34)
