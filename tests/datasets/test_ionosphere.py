"""The bundled Ionosphere data: shape, types, attribution, and the file itself."""

import sys
from importlib import resources

import numpy as np
import pandas as pd
import pytest

from sklearn_rank.datasets import load_ionosphere


def test_arrays():
    X, y = load_ionosphere(return_X_y=True)
    assert X.shape == (351, 34)
    assert X.dtype == np.float64
    assert y.shape == (351,)
    assert y.dtype == np.int64
    assert np.isfinite(X).all()
    assert np.abs(X).max() == 1.0
    assert np.bincount(y).tolist() == [126, 225]


def test_values_of_the_source():
    # The first record of ionosphere.data at the UCI repository: 1,0,0.99539,-0.05889,...,g
    X, y = load_ionosphere(return_X_y=True)
    assert X[0, :4].tolist() == [1, 0, 0.99539, -0.05889]
    assert X[0, 33] == -0.453
    assert y[:4].tolist() == [1, 0, 1, 0]
    assert not X[:, 1].any()


def test_bunch_names_and_attribution():
    bunch = load_ionosphere()
    assert bunch.target_names.tolist() == ["bad", "good"]
    assert bunch.feature_names == [f"V{i}" for i in range(1, 35)]
    assert bunch.frame is None
    for words in ("Sigillito", "CC BY 4.0", "https://doi.org/10.24432/C5W01B", "Changes"):
        assert words in bunch.DESCR


def test_frame_holds_the_same_numbers():
    bunch = load_ionosphere(as_frame=True)
    X, y = load_ionosphere(return_X_y=True)
    assert isinstance(bunch.data, pd.DataFrame)
    assert isinstance(bunch.target, pd.Series)
    assert bunch.frame.columns.tolist() == [*bunch.feature_names, "target"]
    np.testing.assert_array_equal(bunch.data.to_numpy(), X)
    np.testing.assert_array_equal(bunch.target.to_numpy(), y)
    data, target = load_ionosphere(return_X_y=True, as_frame=True)
    pd.testing.assert_frame_equal(data, bunch.data)
    pd.testing.assert_series_equal(target, bunch.target)


def test_each_call_gives_its_own_arrays():
    X, y = load_ionosphere(return_X_y=True)
    X[:] = 7
    y[:] = 7
    again, labels = load_ionosphere(return_X_y=True)
    assert again.max() == 1
    assert labels.max() == 1


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match='-m pip install "pandas'):
        load_ionosphere(as_frame=True)
    assert load_ionosphere().data.shape == (351, 34)


def test_the_file_is_part_of_the_package():
    packed = resources.files("sklearn_rank.datasets") / "data" / "ionosphere.csv.gz"
    assert packed.is_file()
    assert packed.read_bytes()[:2] == b"\x1f\x8b"
