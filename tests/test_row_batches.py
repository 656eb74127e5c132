"""Rows that are read batch by batch: the same rows as in one array, and what is refused where."""

import gzip
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from sklearn_rank.datasets import RowBatches, load_letor

N, D = 23, 3
NAMES = ["a", "b", "c"]
CUTS = {"one": [], "some": [5, 5, 11, 20], "each": list(range(1, N)), "empty ends": [0, 7, N]}


def drawn(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)).astype(dtype)
    X[rng.random((N, D)) < 0.4] = 0
    return {
        "X": X,
        "y": rng.integers(0, 3, N),
        "qid": np.sort(rng.integers(0, 6, N)),
        "sample_weight": rng.random(N),
        "query_weight": rng.random(N),
    }


def cut(data, cuts, form=np.asarray):
    bounds = [0, *cuts, N]
    return [
        {role: (form if role == "X" else np.asarray)(column[a:b]) for role, column in data.items()}
        for a, b in pairwise(bounds)
    ]


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def joined(rows):
    """Features of all rows, from one reading."""
    return np.concatenate([dense(X) for _, X in rows.blocks()])


FORMS = {
    "array": np.asarray,
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist() if len(X) else X,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "csr": sp.csr_matrix,
    "coo": sp.coo_array,
}


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("form", FORMS)
def test_batches_are_the_rows(form, cuts):
    data = drawn()
    rows = RowBatches(
        cut(data, cuts, FORMS[form]) if form != "list" or 0 not in cuts else cut(data, cuts)
    )
    lengths = np.diff([0, *cuts, N])
    lengths = lengths[lengths > 0]
    np.testing.assert_array_equal(rows.offsets, np.cumsum([0, *lengths]))
    assert rows.shape == (N, D)
    assert len(rows) == N
    assert rows.n_batches == len(lengths)
    assert rows.dtype == np.float64
    assert rows.is_sparse == (form in ("csr", "coo"))
    for role in ("y", "qid", "sample_weight", "query_weight"):
        np.testing.assert_array_equal(getattr(rows, role), data[role])
    assert (rows.feature_names is None) == (form not in ("pandas", "polars"))
    for _ in range(2):
        for where, X in rows.blocks():
            np.testing.assert_array_equal(dense(X), data["X"][where])
            assert isinstance(X, sp.csr_array) or X.flags.c_contiguous
    np.testing.assert_array_equal(joined(rows), data["X"])


def test_tuples_functions_and_optional_columns():
    data = drawn()
    rows = RowBatches(lambda: ((part["X"], part["y"]) for part in cut(data, [9])))
    assert (rows.qid, rows.sample_weight, rows.query_weight) == (None, None, None)
    assert repr(rows) == "RowBatches(23 rows in 2 batches, 3 features, float64)"
    rows = RowBatches([(data["X"], data["y"], data["qid"])], feature_names=NAMES)
    np.testing.assert_array_equal(rows.qid, data["qid"])
    assert rows.feature_names.tolist() == NAMES
    one_list = RowBatches([(data["X"], data["y"], 4)])
    assert set(one_list.qid) == {4}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (np.float32, np.float32, np.float32),
        (np.float32, np.float64, np.float64),
        (np.int64, np.float32, np.float64),
        (np.float16, np.float16, np.float64),
    ],
)
def test_types_of_features(first, second, expected):
    X = np.arange(12.0).reshape(6, 2)
    rows = RowBatches([(X[:2].astype(first), [0, 1]), (X[2:].astype(second), [0, 1, 0, 1])])
    assert rows.dtype == expected
    assert {block.dtype for _, block in rows.blocks()} == {np.dtype(expected)}
    np.testing.assert_array_equal(joined(rows), X)


def test_words_are_shared_objects():
    y = np.array(["good", "bad"] * 3)
    rows = RowBatches([(np.ones((6, 1)), y, list("aabbcc")), (np.ones((1, 1)), ["bad"], ["c"])])
    assert rows.y.tolist() == [*y, "bad"]
    assert rows.qid.tolist() == list("aabbccc")
    assert len({id(label) for label in rows.y}) == 2
    as_category = RowBatches([(np.ones((6, 1)), pd.Series(y, dtype="category"))])
    assert as_category.y.tolist() == y.tolist()


def test_missing_labels_of_rows_of_weight_0_stay():
    rows = RowBatches([{"X": np.ones((2, 1)), "y": [np.nan, 1], "sample_weight": [0, 1]}])
    assert np.isnan(rows.y[0])
    assert len(joined(rows)) == 2
    with pytest.raises(ValueError, match=r"Batch 0: y has a missing label at row 0 \(row 0"):
        RowBatches([{"X": np.ones((2, 1)), "y": [np.nan, 1], "sample_weight": [1, 1]}])


GOOD = (np.ones((4, 2)), [0, 1, 0, 1])
WITH_NAN = np.ones((3, 2))
WITH_NAN[1, 1] = np.nan
WRONG = {
    "NaN": ((WITH_NAN, [0, 1, 0]), r"X is nan at row 1 \(row 5 of all\), feature 1: features"),
    "inf": ((sp.csr_array([[0, 1, -np.inf]]), [1]), None),
    "width": ((np.ones((1, 3)), [0]), "X has 3 features, but 2 in batch 0"),
    "kind": ((sp.csr_array(np.ones((1, 2))), [0]), "X is a sparse matrix, but an array in batch"),
    "frame": ((pd.DataFrame(np.ones((1, 2))), [0]), "X is a data frame, but an array in batch 0"),
    "labels": ((np.ones((1, 2)), ["a"]), "y has words, but numbers in batch 0: use the same"),
    "mixed": ((np.ones((2, 2)), ["a", 1]), "y has 1 at row 1 among other types"),
    "length": ((np.ones((2, 2)), [1]), r"y has shape \(1,\), but X has 2 rows"),
    "qid": (
        (np.ones((1, 2)), [1], [3]),
        r"It has \['X', 'qid', 'y'\], but batch 0 has \['X', 'y'",
    ),
    "vector": ((np.ones(2), [1, 0]), "Expected 2D array, got 1D array instead"),
    "text": ((np.array([["a", "b"]]), [1]), "could not convert string to float"),
    "no tuple": (np.ones((2, 2)), "It is a ndarray, but must be"),
    "too long": ((1, 2, 3, 4), "It is a tuple of 4, but must be"),
    "unknown": ({"X": np.ones((1, 2)), "y": [1], "w": [1]}, r"It has \['X', 'y', 'w'\], but must"),
    "weight": ({"X": np.ones((1, 2)), "y": [1], "sample_weight": [-1]}, "sample_weight is -1 at"),
    "masked": ((np.ones((1, 2)), np.ma.masked_equal([1], 1)), "y has masked values"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_batches_are_refused_with_their_number(name):
    batch, message = WRONG[name]
    if name == "inf":
        good = (sp.csr_array(np.ones((4, 3))), [0, 1, 0, 1])
        message = r"X is -inf at row 0 \(row 4 of all\), feature 2"
    elif name == "weight":
        good = {"X": GOOD[0], "y": GOOD[1], "sample_weight": [0.5] * 4}
    else:
        good = GOOD
    empty = (np.ones((0, 2)), [])
    with pytest.raises((ValueError, TypeError), match=f"^Batch 2: {message}"):
        RowBatches([good, empty, batch])


def test_names_of_columns():
    def frame(names):
        return pd.DataFrame(np.ones((1, 2)), columns=names), [1]

    with pytest.raises(ValueError, match=r"Batch 1: X has the columns \['b', 'a'\], but \['a'"):
        RowBatches([frame(["a", "b"]), frame(["b", "a"])])
    with pytest.raises(ValueError, match=r"feature_names is .*, but the columns are .*: leave it"):
        RowBatches([frame(["a", "b"])], feature_names=["c", "d"])
    with pytest.raises(ValueError, match="feature_names has 1 names for 2 features"):
        RowBatches([GOOD], feature_names=["c"])
    with_nan = pd.DataFrame({"a": [1.0], "b": [np.inf]})
    with pytest.raises(ValueError, match=r"row 0 \(row 1 of all\), feature 'b'"):
        RowBatches([frame(["a", "b"]), (with_nan, [1])])
    assert RowBatches([frame([0, 1])]).feature_names is None


def test_large_finite_features_are_no_error():
    X = np.full((3, 2), 1.7e308)
    np.testing.assert_array_equal(joined(RowBatches([(X, [0, 1, 0])])), X)


def test_what_can_be_read_once_is_refused():
    with pytest.raises(TypeError, match="batches is a generator, which can be read only once"):
        RowBatches(batch for batch in [GOOD])
    with pytest.raises(TypeError, match="batches is of type int"):
        RowBatches(3)
    with pytest.raises(ValueError, match="The batches have no rows"):
        RowBatches([])
    generator = (batch for batch in [GOOD, GOOD])
    rows = RowBatches(lambda: generator, cache_size=0)
    with pytest.raises(ValueError, match=r"The batches end after 0 of 8 rows: .* fresh"):
        list(rows.blocks())


CHANGES = {
    "shorter": (lambda X, y: (X[:-1], y[:-1]), "Batch 1: It has 3 rows, but had 4"),
    "labels": (lambda X, y: (X, 1 - y), "Batch 1: Its labels have changed"),
    "features": (lambda X, y: (X + 1, y), "Batch 1: Its features have changed"),
    "width": (
        lambda X, y: (X[:, :1], y),
        "Batch 1: It has another type, or its number of features is not 2",
    ),
    "words": (lambda X, y: (X, y.astype(str)), "Batch 1: Its labels have changed"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_batches_that_change_are_refused(name):
    change, message = CHANGES[name]
    X, y = np.arange(16.0).reshape(8, 2), np.array([0, 1, 0, 1, 0, 1, 0, 1])
    readings = []

    def read():
        readings.append(1)
        yield X[:4], y[:4]
        second = X[4:], y[4:]
        yield change(*second) if len(readings) > 2 else second

    rows = RowBatches(read, cache_size=0)
    list(rows.blocks())
    with pytest.raises(ValueError, match=message):
        list(rows.blocks())


@pytest.mark.parametrize(("make", "size"), [(np.asarray, 192), (sp.csr_array, 384)])
def test_what_fits_into_the_cache_is_read_once(make, size):
    readings, buffer = [], np.empty((4, 2))

    def read():
        readings.append(1)
        for batch in (1, 2, 3):
            buffer[:] = batch  # the same array again
            yield make(buffer), [0, 1, 0, 1]

    for cache_size, n_readings in ((size / 1e6, 1), (0.99 * size / 1e6, 3)):
        readings.clear()
        rows = RowBatches(read, cache_size=cache_size)
        for _ in range(2):
            values = [(part.start, X.sum()) for part, X in rows.blocks()]
            assert values == [(0, 8), (4, 16), (8, 24)]
        assert len(readings) == n_readings


def test_more_and_fewer_batches_are_refused():
    batches = [GOOD, GOOD]
    rows = RowBatches(batches)
    batches.append(GOOD)
    with pytest.raises(ValueError, match="Batch 2: All 8 rows of the first pass came before it"):
        list(rows.blocks())
    del batches[1:]
    with pytest.raises(ValueError, match="The batches end after 4 of 8 rows"):
        list(rows.blocks())


def test_shuffled_rows_are_refused():
    X, y = np.random.default_rng(0).normal(size=(400, 2)), np.ones(400)
    order = np.random.default_rng(1)

    def read():
        rows = order.permutation(400)
        for part in np.split(rows, 4):
            yield X[part], y[part]

    rows = RowBatches(read, cache_size=0)
    with pytest.raises(ValueError, match=r"Batch 0: Its features have changed: .* not shuffle"):
        list(rows.blocks())


@pytest.mark.parametrize("error", [OSError("bad disk"), EOFError("bad disk"), KeyError("k")])
def test_errors_of_reading_name_the_batch_and_close_the_files(error):
    closed = []

    def read():
        try:
            yield GOOD
            raise error
        finally:
            closed.append(1)

    if isinstance(error, KeyError):
        with pytest.raises(KeyError) as caught:
            RowBatches(read)
        assert caught.value.__notes__ == ["This happened in batch 1."]
    else:
        with pytest.raises(OSError, match=r"^Batch 1 cannot be read: bad disk$") as caught:
            RowBatches(read)
        assert caught.value.__cause__ is error
    assert closed == [1]


def test_a_reading_that_is_left_closes_its_files():
    open_files = []

    def read():
        open_files.append(1)
        try:
            yield GOOD
            yield GOOD
        finally:
            open_files.pop()

    rows = RowBatches(read, cache_size=0)
    blocks = rows.blocks()
    next(blocks)
    assert open_files == [1]
    blocks.close()
    assert open_files == []


def test_what_has_a_method_close_is_closed():
    class Loader:
        def __init__(self):
            self.left, self.closed = 3, 0

        def __iter__(self):
            return self

        def __next__(self):
            self.left -= 1
            if self.left < 0:
                raise StopIteration
            return GOOD

        def close(self):
            self.closed += 1

    loaders = []

    def read():
        loaders.append(Loader())
        return loaders[-1]

    rows = RowBatches(read, cache_size=0)
    blocks = rows.blocks()
    next(blocks)
    blocks.close()
    assert [loader.closed for loader in loaders] == [1, 1]
    assert loaders[-1].left == 2


# --------------------------------------------------------------------------------------- files


def write_parquet(path, data, **columns):
    table = pa.table({**dict(zip(NAMES, data["X"].T, strict=True)), "y": data["y"], **columns})
    pq.write_table(table, path, row_group_size=8)
    return path


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parquet(tmp_path, dtype):
    data = drawn(dtype)
    path = write_parquet(
        tmp_path / "rows.parquet",
        data,
        q=[f"query {query}" for query in data["qid"]],
        w=data["sample_weight"],
        v=data["query_weight"],
        note=["words"] * N,
    )
    columns = {"label": "y", "qid": "q", "sample_weight": "w", "query_weight": "v"}
    rows = RowBatches.from_parquet(path, **columns, batch_rows=5)
    rows = pickle.loads(pickle.dumps(rows))
    assert rows.offsets.tolist() == [0, 5, 8, 13, 16, 21, 23]  # row groups of 8
    assert rows.dtype == dtype
    assert rows.feature_names.tolist() == NAMES
    np.testing.assert_array_equal(joined(rows), data["X"])
    np.testing.assert_array_equal(rows.y, data["y"])
    assert rows.qid.tolist() == [f"query {query}" for query in data["qid"]]
    np.testing.assert_array_equal(rows.sample_weight, data["sample_weight"])
    np.testing.assert_array_equal(rows.query_weight, data["query_weight"])
    some = RowBatches.from_parquet(path, label="y", features=["c", "a"])
    np.testing.assert_array_equal(joined(some), data["X"][:, [2, 0]])


def test_parquet_folders_lists_and_data_sets(tmp_path):
    data = drawn()
    for part in range(2):
        half = {"X": data["X"][part::2], "y": data["y"][part::2]}
        write_parquet(tmp_path / f"part{part}.parquet", half)
    both = np.concatenate([data["X"][0::2], data["X"][1::2]])
    paths = sorted(tmp_path.iterdir())
    for source in (tmp_path, str(tmp_path), paths, ds.dataset(tmp_path, format="parquet")):
        rows = RowBatches.from_parquet(source, label="y")
        np.testing.assert_array_equal(joined(rows), both)
    other = RowBatches.from_parquet(paths[::-1], label="y")
    np.testing.assert_array_equal(other.y, np.r_[data["y"][1::2], data["y"][0::2]])


def test_types_of_parquet_files_are_not_rounded_to_those_of_the_first(tmp_path):
    X = np.array([[1 / 3], [2 / 3]])
    for part, dtype in enumerate([np.float32, np.float64]):
        table = pa.table({"a": X[part].astype(dtype), "y": [part]})
        pq.write_table(table, tmp_path / f"{part}.parquet")
    rows = RowBatches.from_parquet(tmp_path, label="y")
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(joined(rows), [[np.float32(1 / 3)], [2 / 3]])


def test_kinds_of_columns(tmp_path):
    path = tmp_path / "rows.parquet"
    table = pa.table(
        {
            "whole": pa.array([1, 2], pa.int8()),
            "flag": [True, False],
            "money": pa.array([1, 2]).cast(pa.decimal128(30, 2)),
            "label": pa.array(["a", "b"]).dictionary_encode(),
        }
    )
    pq.write_table(table, path)
    rows = RowBatches.from_parquet(path, label="label")
    np.testing.assert_array_equal(joined(rows), [[1, 1, 1], [2, 0, 2]])
    assert rows.y.tolist() == ["a", "b"]


def test_parquet_that_is_wrong_is_refused(tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", drawn(), q=[None, *range(1, N)], t=["x"] * N)
    for arguments, message in (
        ({"label": "z"}, r"There is no column 'z': the files have \['a', 'b', 'c', 'y', 'q', 't'"),
        ({"label": "y", "features": ["y"]}, "The column 'y' is used twice"),
        ({"label": "y", "features": ["t"]}, "The feature 't' is a column of string"),
        ({"label": "y", "features": []}, "have no numeric column for features"),
        ({"label": "y", "qid": "q"}, r"Batch 0: qid is missing at row 0 \(row 0 of all\)"),
        ({"label": "y"}, r"Batch 0: X is nan at row 0 \(row 0 of all\), feature 'q'"),
        ({"label": "y", "batch_rows": 0}, "batch_rows=0 must be at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            RowBatches.from_parquet(path, **arguments)
    with pytest.raises(TypeError, match="features='a' is a string"):
        RowBatches.from_parquet(path, label="y", features="a")


LINES = [
    b"2 qid:1 1:0.5 3:-2e-3 # a\n",
    b"0 qid:1 2:4\n",
    b"\n# nothing\n",
    b"1 qid:7\n",
    b"0 qid:7 4:1 5:0.25\n",
    b"1 qid:8 1:1\n",
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("zero_based", ["auto", True, False])
@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_svmlight_is_what_load_letor_reads(tmp_path, sparse, zero_based, batch_rows):
    paths = [tmp_path / "a.txt", tmp_path / "b.txt.gz"]
    paths[0].write_bytes(b"".join(LINES[:2]))
    paths[1].write_bytes(gzip.compress(b"".join(LINES[2:])))
    rows = RowBatches.from_svmlight(
        paths, sparse=sparse, zero_based=zero_based, batch_rows=batch_rows
    )
    rows = pickle.loads(pickle.dumps(rows))
    known = load_letor(paths, zero_based=zero_based)
    np.testing.assert_array_equal(joined(rows), known.data)
    np.testing.assert_array_equal(rows.y, known.target)
    np.testing.assert_array_equal(rows.qid, known.qid)
    assert rows.qid.dtype == known.qid.dtype
    assert rows.feature_names.tolist() == known.feature_names
    assert rows.is_sparse == sparse


def test_svmlight_ids_widths_and_types(tmp_path):
    path = tmp_path / "rows.txt"
    path.write_bytes(b"".join(LINES) + b"1 qid:x 2:1\n")
    rows = RowBatches.from_svmlight(str(path), n_features=7, dtype=np.float32, batch_rows=2)
    assert rows.shape == (6, 7)
    assert rows.dtype == np.float32
    assert rows.qid.tolist() == ["1", "1", "7", "7", "8", "x"]
    with pytest.raises(
        ValueError, match=r"n_features=2 is less than the 5 features of .*rows.txt"
    ):
        RowBatches.from_svmlight(path, n_features=2)
    path.write_bytes(b"".join(LINES) + b"1 qid:8 2:?\n")
    with pytest.raises(ValueError, match=r"^Batch 1: .*rows.txt, line 8: the value of '2:\?' is"):
        RowBatches.from_svmlight(path, batch_rows=4)
    path.write_bytes(b"1 qid:8 1:1 2:NULL\n")
    with pytest.raises(ValueError, match=r"feature 'feature_2'"):
        RowBatches.from_svmlight(path)
    with pytest.raises(OSError, match="nowhere"):
        RowBatches.from_svmlight(Path("nowhere"))
