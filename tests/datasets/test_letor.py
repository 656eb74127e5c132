"""Ranking files: values against a plain parser, layouts of folders, and what is refused."""

import bz2
import gzip
import io
import os
import sys
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from sklearn_rank.datasets import _svmlight, load_letor
from tests.naming import for_each

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("SKLEARN_RANK_DATA", ROOT.parent / "shared" / "data"))

TWO_ROWS = b"2 qid:1 1:0.5 3:-2e-3 #docid = GX1 # a\n0 qid:1 2:4\n"


def stream(text):
    return io.BytesIO(text)


def parsed(text, first=1):
    """Dense features, grades, ids as written, comments: one line after the other."""
    rows = []
    for line in text.decode().splitlines():
        head, _, comment = line.partition("#")
        entries = head.split()
        if entries:
            pairs = [entry.split(":") for entry in entries[2:]]
            features = {int(index): float(value) for index, value in pairs}
            rows.append((float(entries[0]), entries[1][4:], features, comment.strip()))
    width = max((max(row[2], default=-1) for row in rows), default=-1) + 1 - first
    X = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for index, value in row[2].items():
            X[i, index - first] = value
    return X, [row[0] for row in rows], [row[1] for row in rows], [row[3] for row in rows]


def random_text(rng, n_rows, n_features=6, first=1, end="\n"):
    lines = []
    for _ in range(n_rows):
        indices = np.flatnonzero(rng.random(n_features) < 0.5) + first
        entries = " ".join(f"{index}:{rng.integers(-3, 4) / 4}" for index in indices)
        comment = f" # docid = {rng.integers(99)}" if rng.random() < 0.5 else ""
        lines.append(f"{rng.integers(5)} qid:{rng.integers(1, 4)} {entries}{comment}{end}")
        if rng.random() < 0.2:
            lines.append(rng.choice([end, f"# a remark{end}"]))
    # The lowest and the highest index occur somewhere.
    both = f"1 qid:2 {first}:1 {first + n_features - 1}:1{end}"
    lines.insert(int(rng.integers(len(lines) + 1)), both)
    return "".join(lines).encode()


@pytest.mark.parametrize("rows_at_once", [1, 3, 8192])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("first", [0, 1])
def test_equals_a_plain_parser(rows_at_once, end, first, monkeypatch):
    monkeypatch.setattr(_svmlight, "ROWS", rows_at_once)
    rng = np.random.default_rng(rows_at_once + first)
    for _ in range(10):
        text = random_text(rng, int(rng.integers(0, 12)), first=first, end=end)
        X, y, qid, comments = parsed(text, first)
        for zero_based in ("auto", first == 0):
            for sparse in (False, True):
                bunch = load_letor(
                    stream(text), comments=True, zero_based=zero_based, sparse=sparse
                )
                data = bunch.data.toarray() if sparse else bunch.data
                np.testing.assert_array_equal(data, X)
                assert bunch.target.tolist() == y
                assert bunch.qid.tolist() == [int(query) for query in qid]
                assert bunch.comments.tolist() == comments
                assert bunch.feature_names == [f"feature_{first + j}" for j in range(6)]


def test_types():
    bunch = load_letor(stream(TWO_ROWS))
    assert isinstance(bunch, Bunch)
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.qid.dtype == np.int64
    assert bunch.frame is None
    assert "comments" not in bunch
    assert load_letor(stream(TWO_ROWS), dtype=np.float32).data.dtype == np.float32
    bunch = load_letor(stream(b"1 qid:1 1:0 2:3\n"), sparse=True, dtype="float32")
    assert sp.issparse(bunch.data)
    assert bunch.data.format == "csr"
    assert bunch.data.nnz == 1
    assert bunch.data.indices.dtype == bunch.data.indptr.dtype == np.int32
    assert bunch.data.dtype == np.float32


@for_each(
    ("written", "expected"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["-7", "0", str(2**63 - 1)], [-7, 0, 2**63 - 1]),
        (["GX01", "q 2".replace(" ", "_"), "GX01"], ["GX01", "q_2", "GX01"]),
        # As integers these would be one query.
        (["1", "01"], ["1", "01"]),
        (["1", str(2**63)], ["1", str(2**63)]),
        (["1", "1.0"], ["1", "1.0"]),
        (["é", "a:b"], ["é", "a:b"]),
    ],
)
def test_ids_are_integers_only_if_none_are_merged(written, expected):
    text = "".join(f"1 qid:{query} 1:1\n" for query in written).encode()
    assert load_letor(stream(text)).qid.tolist() == expected


def test_ids_have_one_type_in_all_parts():
    parts = load_letor({"a": stream(b"1 qid:1 1:1\n"), "b": stream(b"1 qid:x 1:1\n")})
    assert parts.a.qid.tolist() == ["1"]
    assert parts.b.qid.tolist() == ["x"]


def test_null_is_nan_but_not_in_ids_and_comments():
    text = b"1 qid:NULL 1:NULL 2:3 #x:NULL\n0 qid:b 2:NULL\n"
    for sparse in (False, True):
        bunch = load_letor(stream(text), comments=True, sparse=sparse)
        data = bunch.data.toarray() if sparse else bunch.data
        np.testing.assert_array_equal(data, [[np.nan, 3], [0, np.nan]])
        assert bunch.qid.tolist() == ["NULL", "b"]
        assert bunch.comments.tolist() == ["x:NULL", ""]


def test_byte_order_mark_tabs_and_no_last_newline():
    X, y, qid = load_letor(stream(b"\xef\xbb\xbf3\tqid:4\t1:2  2:5"), return_X_y=True)
    assert (X.tolist(), y.tolist(), qid.tolist()) == ([[2, 5]], [3], [4])


def test_comment_of_other_encodings_loses_nothing():
    bunch = load_letor(stream(b"3 qid:4 1:2 # caf\xe9\n"), comments=True)
    assert bunch.comments.tolist() == ["caf\\xe9"]


@pytest.mark.parametrize(
    ("suffix", "compress"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_compressed_files(tmp_path, suffix, compress):
    path = tmp_path / f"train.txt{suffix}"
    path.write_bytes(compress(TWO_ROWS))
    X = [[0.5, 0, -2e-3], [0, 4, 0]]
    for form in (path, str(path)):
        assert load_letor(form).data.tolist() == X
    assert load_letor(tmp_path).train.data.tolist() == X


@pytest.mark.parametrize("opened", [gzip.open, open])
def test_streams_are_read_and_left_open(tmp_path, opened):
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(TWO_ROWS) if opened is gzip.open else TWO_ROWS)
    with opened(path, "rb") as file:
        assert load_letor(file).target.tolist() == [2, 0]
        assert not file.closed


def write_fold(folder, names=("train.txt", "vali.txt", "test.txt")):
    folder.mkdir(parents=True)
    for i, name in enumerate(names):
        (folder / name).write_bytes(b"%d qid:%d %d:1\n" % (i, i, i + 1))
    (folder / "README.txt").write_text("not data")
    (folder / "train.query").write_text("1")


def test_folder_of_parts_shares_the_features(tmp_path):
    write_fold(tmp_path / "data")
    bunch = load_letor(tmp_path / "data")
    assert list(bunch) == ["train", "vali", "test"]
    assert bunch.train.data.tolist() == [[1, 0, 0]]
    assert bunch.vali.data.tolist() == [[0, 1, 0]]
    assert bunch.test.data.tolist() == [[0, 0, 1]]
    assert bunch.test.target.tolist() == [2]
    wide = load_letor(tmp_path / "data", n_features=5, sparse=True)
    assert wide.train.data.shape == (1, 5)
    assert len(wide.train.feature_names) == 5
    X, y, qid = load_letor(tmp_path / "data", return_X_y=True).vali
    assert (X.tolist(), y.tolist(), qid.tolist()) == ([[0, 1, 0]], [1], [1])


def test_one_part_that_counts_from_zero_decides_for_all():
    files = {"a": stream(b"1 qid:1 1:5\n"), "b": stream(b"1 qid:1 0:7\n")}
    bunch = load_letor(files)
    assert bunch.a.data.tolist() == [[0, 5]]
    assert bunch.b.data.tolist() == [[7, 0]]
    assert bunch.a.feature_names == ["feature_0", "feature_1"]


def test_other_names_of_parts(tmp_path):
    write_fold(tmp_path / "a", ("trainingset.txt", "validationset.txt", "testset.txt"))
    write_fold(tmp_path / "b", ("Train.dat", "valid.svm", "TEST"))
    for name in "ab":
        bunch = load_letor(tmp_path / name)
        assert [bunch[part].target.tolist() for part in ("train", "vali", "test")] == [
            [0],
            [1],
            [2],
        ]


def test_folder_of_folds_in_the_order_of_their_numbers(tmp_path):
    for number in (1, 2, 10):
        write_fold(tmp_path / f"Fold{number}")
    (tmp_path / "S1.txt").write_text("the folds' parts, not read")
    bunch = load_letor(tmp_path)
    assert list(bunch) == ["Fold1", "Fold2", "Fold10"]
    assert list(bunch.Fold2) == ["train", "vali", "test"]
    assert bunch.Fold10.test.data.tolist() == [[0, 0, 1]]


def test_files_are_joined_in_their_order(tmp_path):
    for i in (1, 2):
        (tmp_path / f"S{i}.txt").write_bytes(b"%d qid:%d %d:1 # S%d\n" % (i, i, i, i))
    files = [tmp_path / "S2.txt", str(tmp_path / "S1.txt"), stream(b"0 qid:3 3:1\n")]
    for sparse in (False, True):
        files[2].seek(0)
        bunch = load_letor(iter(files), comments=True, sparse=sparse)
        data = bunch.data.toarray() if sparse else bunch.data
        assert data.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
        assert bunch.target.tolist() == [2, 1, 0]
        assert bunch.qid.tolist() == [2, 1, 3]
        assert bunch.comments.tolist() == ["S2", "S1", ""]
    files[2].seek(0)
    fold = load_letor({"train": files[:2], "test": files[2]})
    assert fold.train.data.shape == (2, 3)
    assert fold.test.data.shape == (1, 3)


def test_joined_files_that_share_a_query_warn():
    with pytest.warns(UserWarning, match=r"query id 7 occurs in .* one query; if they are diff"):
        bunch = load_letor([stream(b"1 qid:3 1:1\n0 qid:7 1:1\n"), stream(b"1 qid:7 1:1\n")])
    assert bunch.qid.tolist() == [3, 7, 7]


def test_frame():
    bunch = load_letor(stream(TWO_ROWS), as_frame=True, comments=True)
    names = ["feature_1", "feature_2", "feature_3"]
    assert bunch.frame.columns.tolist() == [*names, "target", "qid", "comment"]
    assert bunch.feature_names == bunch.data.columns.tolist() == names
    np.testing.assert_array_equal(bunch.frame[names], load_letor(stream(TWO_ROWS)).data)
    assert bunch.frame["comment"].tolist() == ["docid = GX1 # a", ""]
    pd.testing.assert_series_equal(bunch.frame["target"], bunch.target)
    pd.testing.assert_series_equal(bunch.frame["qid"], bunch.qid)
    X, y, qid = load_letor(stream(TWO_ROWS), as_frame=True, return_X_y=True)
    pd.testing.assert_frame_equal(X, bunch.data)
    pd.testing.assert_series_equal(y, bunch.target)
    pd.testing.assert_series_equal(qid, bunch.qid)


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match='-m pip install "pandas'):
        load_letor(stream(TWO_ROWS), as_frame=True)
    assert load_letor(stream(TWO_ROWS)).data.shape == (2, 3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("high qid:1 1:1", "the label 'high' is not a number; write the grade as one"),
        ("nan qid:1 1:1", "the label is nan, but must be finite"),
        ("1 1:1", "label is not followed by a query id 'qid:ID'; add it"),
        ("1", "label is not followed by a query id 'qid:ID'"),
        ("1 qid: 1:1", "label is not followed by a query id 'qid:ID'"),
        ("1 qid:1 1:1 2", "'2' is not of the form index:value; correct it"),
        ("1 qid:1 a:1", "'a:1' is not of the form index:value"),
        ("1 qid:1 1:1 qid:2", "'qid:2' is not of the form index:value"),
        ("1 qid:1 -1:1", "the feature index -1 is below"),
        ("1 qid:1 2:1 1:1", "index 1 follows 2, but indices must ascend; sort the entries"),
        ("1 qid:1 2:1 2:1", "index 2 follows 2"),
        ("1 qid:1 1:x", "the value of '1:x' is not a number; write NULL where it is missing"),
        ("1 qid:1 99999999999:1", "index 99999999999 is above 2147483647; hash it"),
        ("1_5 qid:1_5 1:1", "the label '1_5' is not a number"),
        ("1 qid:1 1:1_5", "the value of '1:1_5' is not a number"),
        ("1 qid:1 1_0:1", "'1_0:1' is not of the form"),
        ("1 qid:1 1:1e400", "a value is inf, but must be finite"),
        ("1 qid:1 1:NULL 2:-inf", "a value is -inf, but must be finite"),
    ],
)
@pytest.mark.parametrize("rows_at_once", [1, 2, 8192])
def test_a_wrong_line_is_named(tmp_path, line, message, rows_at_once, monkeypatch):
    monkeypatch.setattr(_svmlight, "ROWS", rows_at_once)
    path = tmp_path / "some.txt"
    path.write_text(f"# head\n1 qid:1 1:1\n\n0 qid:1 1:1\n{line} # c\n0 qid:1 1:1\n")
    with pytest.raises(ValueError, match=r"some\.txt, line 5: ") as caught:
        load_letor(path)
    assert message in str(caught.value)
    assert str(caught.value).endswith(".")


def test_index_zero_where_features_count_from_one():
    with pytest.raises(ValueError, match=r"line 1: the feature index 0 is below 1; pass zero_ba"):
        load_letor(stream(b"1 qid:1 0:1\n"), zero_based=False)
    assert load_letor(stream(b"1 qid:1 1:1\n"), zero_based=True).data.tolist() == [[0, 1]]


def test_number_of_features():
    with pytest.raises(ValueError, match=r"n_features=2 is less than the 3 features of stream"):
        load_letor(stream(TWO_ROWS), n_features=2)
    for zero_based, n in (("auto", 3), (False, 3), (True, 4)):
        bunch = load_letor(stream(TWO_ROWS), n_features=n, zero_based=zero_based)
        assert bunch.data.shape == (2, n)
    with pytest.raises(ValueError, match="has no features: pass n_features"):
        load_letor(stream(b"1 qid:1\n"))
    for sparse in (False, True):
        data = load_letor(stream(b"1 qid:1\n"), n_features=2, sparse=sparse).data
        assert data.shape == (1, 2)
        assert data.sum() == 0


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# nothing\n"])
def test_a_file_without_rows(text):
    with pytest.raises(ValueError, match="stream has no rows: remove it"):
        load_letor(stream(text))


def test_damaged_files(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(TWO_ROWS * 100)[:-12])
    with pytest.raises(ValueError, match=r"a\.gz cannot be decompressed after line \d+ .* again"):
        load_letor(path)
    path.write_bytes(TWO_ROWS)
    with pytest.raises(ValueError, match="Not a gzipped file"):
        load_letor(path)
    broken = bytearray(gzip.compress(TWO_ROWS))
    broken[10] = 0xFF
    path.write_bytes(bytes(broken))
    with pytest.raises(ValueError, match="cannot be decompressed") as caught:
        load_letor(path)
    assert isinstance(caught.value.__cause__, zlib.error | EOFError | gzip.BadGzipFile)
    with pytest.raises(FileNotFoundError):
        load_letor(tmp_path / "absent.txt")


def test_folders_that_are_not_clear(tmp_path):
    with pytest.raises(ValueError, match=r"has neither folders Fold1.* nor files train\.txt"):
        load_letor(tmp_path)
    write_fold(tmp_path / "Fold1")
    (tmp_path / "train.txt").write_bytes(TWO_ROWS)
    with pytest.raises(ValueError, match=r"has both Fold1 and train\.txt: pass"):
        load_letor(tmp_path)
    (tmp_path / "Fold1" / "train.txt.gz").write_bytes(gzip.compress(TWO_ROWS))
    with pytest.raises(ValueError, match=r"train\.txt and train\.txt\.gz, which have the same"):
        load_letor(tmp_path / "Fold1")


@for_each(
    ("path", "error", "message"),
    [
        (3, TypeError, "path is of type int, but must be"),
        (TWO_ROWS, TypeError, r"path is of type bytes.* io\.BytesIO"),
        ([], ValueError, "path is empty"),
        ({}, ValueError, "path is an empty mapping"),
        ([ROOT], TypeError, r"path\[0\] is .*, which is not a file"),
        ([3], TypeError, r"path\[0\] is 3, which is not a file"),
        (io.StringIO("1 qid:1 1:1"), TypeError, "stream gives text instead of bytes: open it"),
    ],
)
def test_other_paths_are_refused(path, error, message):
    with pytest.raises(error, match=message):
        load_letor(path)


@for_each(
    ("options", "message"),
    [
        ({"zero_based": "yes"}, "zero_based='yes' must be True, False or 'auto'"),
        ({"n_features": 0}, "n_features=0 must be at least 1 or None"),
        ({"dtype": int}, "must be float64 or float32"),
        ({"as_frame": True, "sparse": True}, "exclude each other"),
        ({"return_X_y": True, "comments": True}, "comments=True is not supported with"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        load_letor(stream(TWO_ROWS), **options)


def test_a_number_of_features_that_is_not_whole_is_refused():
    with pytest.raises(TypeError, match=r"n_features=2\.0 must be a whole number or None"):
        load_letor(stream(TWO_ROWS), n_features=2.0)


@pytest.mark.parametrize(
    ("name", "n_rows", "n_features", "n_queries", "grades"),
    [
        ("mslr5k_train", 5000, 136, 43, [2792, 1458, 665, 55, 30]),
        ("mq2008_S1", 2933, 46, 157, [2316, 427, 190]),
        ("ohsumed_S2", 2570, 25, 21, [1751, 451, 368]),
        ("lightgbm_rank_train", 3005, 300, 201, [645, 1211, 858, 222, 69]),
    ],
)
def test_published_sets(name, n_rows, n_features, n_queries, grades):
    path = FOLDER / f"{name}.svm.gz"
    if not path.is_file():
        pytest.skip(f"{path.name} is not there: set SKLEARN_RANK_DATA to its folder")
    bunch = load_letor(path, comments=True)
    assert bunch.data.shape == (n_rows, n_features)
    assert len(np.unique(bunch.qid)) == n_queries
    assert np.bincount(bunch.target.astype(int)).tolist() == grades
    assert all(bunch.comments) or not any(bunch.comments)
    with gzip.open(path) as file:
        X, _, _, comments = parsed(
            b"".join(line for _, line in zip(range(50), file, strict=False))
        )
    np.testing.assert_array_equal(bunch.data[:50, : X.shape[1]], X)
    assert bunch.comments[:50].tolist() == comments


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 qid:1 1:3\n0 qid:1 2000000000000:1\n",
            "line 2",
        ),
        ("1 qid:1 1:3\n0 qid:1 2:nan\n", "line 2: a value is nan, but must be finite; write"),
        ("1 qid:1 1:3\n0 qid:1 2:NaN 3:1\n", "line 2: a value is nan, but must be finite"),
    ],
)
def test_huge_indices_and_nan_are_refused_with_the_line(tmp_path, text, message):
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        load_letor(path)


@pytest.mark.parametrize("return_X_y", [False, True])
def test_hashed_features_take_the_memory_of_their_values(return_X_y):
    tracemalloc.start()
    file = stream(b"1 qid:1 7:1 2147483647:2\n0 qid:1 7:3\n")
    loaded = load_letor(file, sparse=True, return_X_y=return_X_y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    data = loaded[0] if return_X_y else loaded.data
    assert data.shape == (2, 2**31 - 1)
    assert data[0, 2**31 - 2] == 2
    assert return_X_y or loaded.feature_names is None
    assert peak < 2e6
