"""Ranking files as Parquet: the rows of load_letor, whole queries, and all or nothing."""

import gzip

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from sklearn_rank.datasets import _letor, _svmlight, letor_to_parquet, load_letor


def text_of(lengths, n_features=4, first=1, seed=0):
    """Lines of queries of some lengths, with zeros left out and numbers that float32 rounds."""
    rng = np.random.default_rng(seed)
    lines = []
    for query, length in enumerate(lengths):
        for row in range(length):
            values = rng.random(n_features) * rng.integers(0, 2, n_features)
            listed = " ".join(f"{i + first}:{v!r}" for i, v in enumerate(values.tolist()) if v)
            lines.append(f"{rng.integers(0, 5)} qid:{query + 10} {listed} # item {row}\n")
    return "".join(lines)


@pytest.mark.parametrize(
    ("group_rows", "rows_per_file", "dtype"),
    [(5, 1, np.float32), (8, 7, np.float64), (16, 20, np.float32), (100, 10**6, np.float64),
     (5, 10**6, np.float64), (100, 7, np.float32)],
)  # fmt: skip
def test_round_trip_and_whole_queries(tmp_path, monkeypatch, group_rows, rows_per_file, dtype):
    monkeypatch.setattr(_letor, "GROUP_ROWS", group_rows)
    monkeypatch.setattr(_svmlight, "ROWS", 4)
    lengths = [3, 1, 4, 9, 1, 1, 23, 2, 6]
    path = tmp_path / "train.txt"
    path.write_text(text_of(lengths))
    known = load_letor(path, dtype=dtype)
    folder = letor_to_parquet(
        path, tmp_path / "train", dtype=dtype, rows_per_file=rows_per_file, comments=True
    )
    assert folder == tmp_path / "train"
    rows = pd.read_parquet(folder)
    assert set(rows[known.feature_names].dtypes) == {np.dtype(dtype)}
    np.testing.assert_array_equal(rows[known.feature_names], known.data)
    np.testing.assert_array_equal(rows["target"], known.target)
    np.testing.assert_array_equal(rows["qid"], known.qid)
    seen, most = set(), min(group_rows, rows_per_file)
    for file in sorted(folder.iterdir()):
        groups = pq.ParquetFile(file)
        n_groups, n_rows = groups.num_row_groups, groups.metadata.num_rows
        assert n_rows <= rows_per_file or n_groups == 1
        for number in range(n_groups):
            queries = groups.read_row_group(number)["qid"].to_pylist()
            assert len(queries) <= most or len(set(queries)) == 1
            assert not set(queries) & seen
            seen |= set(queries)
    assert sorted(folder.iterdir()) == sorted(folder.glob("part-0*.parquet"))


def test_the_frame_is_that_of_load_letor(tmp_path):
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress(text_of([2, 3]).encode()))
    known = load_letor(path, as_frame=True, comments=True).frame
    folder = letor_to_parquet(path, tmp_path / "out", dtype=np.float64, comments=True)
    pd.testing.assert_frame_equal(pd.read_parquet(folder), known, check_dtype=False)


def test_folders_of_parts_share_features_and_types_of_ids(tmp_path):
    for fold in (1, 2):
        (tmp_path / f"Fold{fold}").mkdir()
        (tmp_path / f"Fold{fold}" / "train.txt").write_text(text_of([2, 3], seed=fold))
        (tmp_path / f"Fold{fold}" / "test.txt").write_text("1 qid:a 6:0.5\n2 qid:7 1:3\n")
    folds = letor_to_parquet(tmp_path, tmp_path.parent / f"{tmp_path.name} out")
    known = load_letor(tmp_path, dtype=np.float32)
    assert list(folds) == ["Fold1", "Fold2"]
    for fold, parts in folds.items():
        for part, folder in parts.items():
            rows = pd.read_parquet(folder)
            features = rows.drop(columns=["target", "qid"])
            np.testing.assert_array_equal(features, known[fold][part].data)
            np.testing.assert_array_equal(rows["qid"], known[fold][part].qid)
    assert set(rows["qid"]) == {"a", "7"}
    named = {"a": tmp_path / "Fold1" / "test.txt"}
    assert letor_to_parquet(named, tmp_path / "named").a == tmp_path / "named" / "a"


def test_joined_files_and_a_query_that_goes_on(tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    paths[0].write_text("1 qid:1 1:1\n0 qid:2 1:2\n")
    paths[1].write_text("2 qid:3 1:3\n")
    rows = pd.read_parquet(letor_to_parquet(paths, tmp_path / "out"))
    assert rows["qid"].tolist() == [1, 2, 3]
    paths[1].write_text("2 qid:2 1:3\n")
    with pytest.warns(UserWarning, match=r"id 2 is the last of .*a.txt and the first of .*b"):
        letor_to_parquet(paths, tmp_path / "other")
    paths[1].write_text("2 qid:3 1:3\n2 qid:1 1:3\n")
    with pytest.raises(ValueError, match="rows of the query 1 are not consecutive"):
        letor_to_parquet(paths, tmp_path / "third")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "b.txt", "other", "out"]


def test_what_is_wrong_is_refused_and_leaves_nothing(tmp_path):
    path, out = tmp_path / "rows.txt", tmp_path / "out"
    path.write_text(text_of([2, 3]))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for arguments, kind, message in (
        ({"folder": tmp_path / "full"}, FileExistsError, "full exists and is not empty"),
        ({"folder": tmp_path / "no" / "out"}, FileNotFoundError, "no is not a folder: create it"),
        ({"rows_per_file": 0}, ValueError, "rows_per_file=0 must be at least 1"),
        ({"n_features": 2}, ValueError, "n_features=2 is less than the 4 features"),
        ({"dtype": int}, ValueError, "must be float64 or float32"),
        ({"comments": 1}, TypeError, "comments=1 must be True or False"),
        ({"path": path.open("rb")}, TypeError, "path contains streams"),
        ({"path": {"..": path}}, ValueError, "the part '..', which is not a valid folder name"),
    ):
        with pytest.raises(kind, match=message):
            letor_to_parquet(**{"path": path, "folder": out} | arguments)
        if "path" in arguments and hasattr(arguments["path"], "close"):
            arguments["path"].close()
    path.write_text("\n")
    with pytest.raises(ValueError, match=r"rows.txt has no rows"):
        letor_to_parquet(path, out, n_features=1)
    path.write_text(text_of([20]) + "1 qid:3 1:x\n")
    with pytest.raises(ValueError, match="line 21: the value of '1:x' is not a number"):
        letor_to_parquet(path, out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["full", "rows.txt"]
    path.write_text("1 qid:3 1:1\n")
    out.mkdir()
    assert len(pd.read_parquet(letor_to_parquet(path, out))) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_leaves_neither_folder_nor_stray_file(tmp_path, monkeypatch, error):
    path = tmp_path / "rows.txt"
    path.write_text(text_of([3] * 40))
    monkeypatch.setattr(_letor, "GROUP_ROWS", 16)
    monkeypatch.setattr(_svmlight, "ROWS", 2)
    read, files = _letor.read_blocks, []

    def interrupted(*arguments, **options):
        for number, block in enumerate(read(*arguments, **options)):
            if number == 30:
                files.extend(tmp_path.rglob("*.parquet"))
                raise error
            yield block

    monkeypatch.setattr(_letor, "read_blocks", interrupted)
    with pytest.raises(error):
        letor_to_parquet(path, tmp_path / "out", rows_per_file=16)
    assert len(files) > 1  # it was in the middle
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_an_error_that_says_so_and_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "rows.txt"
    path.write_text(text_of([3] * 4))

    def full(self, *arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(
        OSError, match=r"was removed \(\[Errno 28\].*if the disk is full, free space"
    ):
        letor_to_parquet(path, tmp_path / "out")
    assert list(tmp_path.iterdir()) == [path]
