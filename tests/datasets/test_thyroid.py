"""The bundled thyroid data: shape, values of the source, attribution."""

import numpy as np
import pandas as pd

from sklearn_rank.datasets import load_thyroid


def test_values_of_the_source_and_attribution():
    bunch = load_thyroid()
    X, y = bunch.data, bunch.target
    assert (X.shape, X.dtype, y.dtype) == ((7200, 6), np.float64, np.int64)
    assert np.bincount(y).tolist() == [6666, 534]
    # The first record of ann-train.data: 0.73 ... 0.0006 0.015 0.12 0.082 0.146 3
    assert X[0].tolist() == [0.73, 0.0006, 0.015, 0.12, 0.082, 0.146]
    repeated = len(X) - len(np.unique(np.column_stack((X, y)), axis=0))
    for words in ("Quinlan", "CC BY 4.0", "10.24432/C5D010", "Changes", f"{repeated} of them"):
        assert words in bunch.DESCR
    assert bunch.target_names[y[0]] == "normal"


def test_frame_holds_the_same_numbers():
    frame, target = load_thyroid(as_frame=True, return_X_y=True)
    X, y = load_thyroid(return_X_y=True)
    assert frame.columns.tolist() == ["age", "TSH", "T3", "TT4", "T4U", "FTI"]
    assert isinstance(target, pd.Series)
    np.testing.assert_array_equal(frame.to_numpy(), X)
    np.testing.assert_array_equal(target.to_numpy(), y)
