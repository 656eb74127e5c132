"""Columns of dask collections in chunks that belong together, and errors that name the chunk."""

import os
import pickle
import re
import sys
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

import sklearn_rank
from sklearn_rank import OrderPreservingRanker
from sklearn_rank._partitions import Partitions, any_collection, is_collection, parts
from sklearn_rank.datasets import make_subset_ranking
from sklearn_rank.inference import compare
from tests.naming import for_each

N = 23
FRAME = pd.DataFrame(
    {"y": np.arange(N), "s": np.arange(N) / 2, "q": np.repeat(["a", "b"], [12, 11])}
)


def _columns(columns):
    return [
        (name, None if value is None else np.asarray(value)) for name, value in columns.items()
    ]


def _joined(values):
    return [one for value in values for one in value]


def _rows(columns):
    return [tuple(np.asarray(value) for value in columns.values())]


def _all_rows(rows):
    with dask.config.set(scheduler="synchronous"):
        chunks = rows.map(_rows).reduce(_joined)
    return [np.concatenate(one) for one in zip(*chunks, strict=True)]


@pytest.mark.parametrize("value", [da.ones(3), dd.from_pandas(FRAME, 2).y, dask.delayed(3)])
def test_collections_are_known(value):
    assert is_collection(value)
    assert any_collection(None, value)


@for_each("value", [None, 1, "a", np.ones(3), FRAME, [1], da.Array, {"a": 1}])
def test_other_values_are_no_collections(value):
    assert not is_collection(value)


def test_an_object_without_a_graph_is_no_collection():
    class Wrapper:
        def __dask_graph__(self):
            return None

    assert not is_collection(Wrapper())


@pytest.mark.parametrize("chunks", [(5, 5), (5, 7), (N, 1), ((0, 20, 3), (10, 0, 13))], ids=str)
def test_arrays_are_cut_alike(chunks):
    first, second = chunks
    partitions = parts(
        y=da.from_array(FRAME.y.to_numpy(), chunks=(first,)),
        s=da.from_array(FRAME.s.to_numpy(), chunks=(second,)),
    )
    y, s = _all_rows(partitions)
    np.testing.assert_array_equal(y, FRAME.y)
    np.testing.assert_array_equal(s, FRAME.s)


@pytest.mark.parametrize(
    "local", [FRAME.s.to_numpy(), FRAME.s, FRAME.s.tolist()], ids=["array", "series", "list"]
)
def test_arrays_in_memory_are_cut_as_the_collection_is(local):
    partitions = parts(s=local, y=da.from_array(FRAME.y.to_numpy(), chunks=4))
    assert partitions.lengths == (4, 4, 4, 4, 4, 3)
    s, y = _all_rows(partitions)
    np.testing.assert_array_equal(2 * s, y)


def test_numbers_and_none_hold_for_all_chunks():
    partitions = parts(y=da.arange(6, chunks=3), qid=0, weight=None)
    with dask.config.set(scheduler="synchronous"):
        found = partitions.map(_columns).results()
    assert [[name for name, _ in columns] for columns in found] == 2 * [["y", "qid", "weight"]]
    assert all(columns[1][1] == 0 and columns[2][1] is None for columns in found)


def test_columns_of_a_frame_keep_their_partitions():
    frame = dd.from_pandas(FRAME, npartitions=4)
    frame = frame[frame.y >= 8]  # the first partition is empty
    y, s, index = _all_rows(parts(y=frame.y, s=frame.s, index=frame.index))
    np.testing.assert_array_equal(y, np.arange(8, N))
    np.testing.assert_array_equal(s, y / 2)
    np.testing.assert_array_equal(index, y)


def test_files_read_the_columns_that_are_used(tmp_path):
    for i in range(4):
        FRAME[6 * i : 6 * i + 6].to_parquet(tmp_path / f"{i}.parquet")
    frame = dd.read_parquet(tmp_path)
    y, s, q = _all_rows(parts(y=frame.y, s=frame.s, q=frame.q))
    np.testing.assert_array_equal(y, FRAME.y)
    np.testing.assert_array_equal(q, FRAME.q)
    narrow = frame[["y", "s"]].repartition(npartitions=2)
    np.testing.assert_array_equal(_all_rows(parts(y=narrow.y, s=narrow.s))[1], s)


def test_columns_of_a_shuffled_frame_stay_together():
    frame = dd.from_pandas(FRAME, npartitions=4).shuffle("q")
    y, s = _all_rows(parts(y=frame.y, s=frame.s))
    assert sorted(y) == FRAME.y.tolist()
    np.testing.assert_array_equal(s, y / 2)


def test_what_columns_share_is_computed_once():
    calls = []

    def called(frame):
        calls.append(len(frame))
        return frame

    frame = dd.from_pandas(FRAME, npartitions=4).map_partitions(called, meta=FRAME.iloc[:0])
    _all_rows(parts(y=frame.y, s=frame.s, q=frame.q))
    assert len(calls) == 4
    calls.clear()
    table = da.from_array(FRAME[["y", "s"]].to_numpy(), chunks=(6, 2))
    table = table.map_blocks(called, dtype=float, meta=np.empty((0, 0)))
    _all_rows(parts(y=table[:, 0], s=table[:, 1]))
    assert len(calls) == 4


def test_frames_and_arrays_of_unknown_lengths_go_together():
    frame = dd.from_pandas(FRAME, npartitions=3)
    y, s = _all_rows(parts(y=frame.y.to_dask_array(), s=frame.s))
    np.testing.assert_array_equal(2 * s, y)
    known = frame.y.to_dask_array(lengths=True)
    y, s = _all_rows(parts(y=known, s=frame.s))
    np.testing.assert_array_equal(2 * s, y)


def test_two_dimensions_come_in_chunks_of_rows():
    X = da.ones((10, 6), chunks=(4, 2))
    partitions = parts(X=X, y=da.arange(10, chunks=5))
    with dask.config.set(scheduler="synchronous"):
        shapes = partitions.map(lambda columns: columns["X"].shape).results()
    assert shapes == [(4, 6), (4, 6), (2, 6)]
    one = parts(X=X[:, :1], y=da.arange(10, chunks=5))
    assert _all_rows(one)[0].shape == (10, 1)


@pytest.mark.parametrize(
    "column", [da.ones((6, 1), chunks=3), dd.from_pandas(FRAME[["y"]], 2)], ids=["array", "frame"]
)
def test_a_column_is_read_as_one_dimension(column):
    with pytest.warns(DataConversionWarning, match="y is a column"):
        partitions = parts(y=column)
    assert _all_rows(partitions)[0].ndim == 1


def test_what_belongs_together_must_be_known():
    frame = dd.from_pandas(FRAME, npartitions=4)
    with pytest.raises(ValueError, match=r"y has 4 partitions, but s has 3, of unknown lengths"):
        parts(y=frame.y, s=frame.repartition(npartitions=3).s)
    with pytest.raises(
        ValueError, match=r"s is in memory, .* pass y\.to_dask_array\(lengths=True"
    ):
        parts(y=frame.y, s=FRAME.s)
    with pytest.raises(ValueError, match="y has 6 items, but s has 5"):
        parts(y=da.ones(6), s=da.ones(5))
    with pytest.raises(ValueError, match="y has 6 items, but s has 5"):
        parts(y=da.ones(6), s=np.ones(5))
    with pytest.raises(TypeError, match=r"y is a Delayed.* of dask"):
        parts(y=dask.delayed(sum)([1]))
    with pytest.raises(ValueError, match="y has 3 dimensions"):
        parts(y=da.ones((2, 2, 2)))
    partitions = parts(y=frame.y, s=frame[frame.y != 7].s)
    with pytest.raises(ValueError, match=r"^chunk 1: y has 6 rows, but s has 5: take both"):
        _all_rows(partitions)


def test_no_rows_at_all_are_an_error():
    frame = dd.from_pandas(FRAME, npartitions=4)
    frame = frame[frame.y < 0]
    with pytest.raises(ValueError, match="y is empty: pass at least one item"):
        _all_rows(parts(y=frame.y, s=frame.s))


@for_each("n", [1, 7, 8, 9, 65])
def test_a_tree_merges_in_the_order_of_the_chunks(n):
    values = [dask.delayed([i]) if i % 3 else dask.delayed(None) for i in range(1, n + 1)]
    found = Partitions(values, {}, None).merged(_joined).compute(scheduler="synchronous")
    assert found == [i for i in range(1, n + 1) if i % 3]
    nothing = Partitions(n * [dask.delayed(None)], {}, None)
    assert nothing.merged(_joined).compute(scheduler="sync") is None


def _scaled(columns, own, factor):
    return own, factor * np.asarray(columns["y"])


def _gather(entries, number, factor):
    return number, factor * np.concatenate(entries).sum()


def test_rows_in_memory_are_one_part():
    y = np.arange(12.0)
    for column, own in ((y, [0]), (da.from_array(y, chunks=5), [0, 1, 2])):
        rows = parts(y=column, qid=None)
        with dask.config.set(scheduler="synchronous"):
            found = rows.map(_scaled, 3.0, each=[own])
            numbers, values = zip(*found.results(), strict=True)
            np.testing.assert_array_equal(np.concatenate(values), 3.0 * y)
            assert list(numbers) == own
            lazy = rows.map(lambda columns: 2.0 * columns["y"]).array()
            np.testing.assert_array_equal(np.asarray(lazy), 2.0 * y)
            halves = rows.map(lambda columns: [columns["y"][:2], columns["y"][2:]])
            sums = rows.compute(*halves.gathered(_gather, [(7,), (8,)], 10.0))
        assert [number for number, _ in sums] == [7, 8]
        assert sum(total for _, total in sums) == 10.0 * y.sum()


def test_a_column_that_is_left_out_is_not_read():
    y = da.arange(40, chunks=4)
    rows = parts(X=y.map_blocks(_corrupt, dtype=int), y=y).without("X")
    assert np.concatenate(_all_rows(rows)).tolist() == list(range(40))


def test_the_value_of_a_part_without_rows_is_not_looked_at():
    frame = dd.from_pandas(FRAME, npartitions=4)
    rows = parts(y=frame[frame.y >= 8].y).map(lambda columns: columns["y"].min())
    with dask.config.set(scheduler="synchronous"):
        assert rows.map(lambda least: least + 1).results() == [9, 13, 19]


def _fails(error):
    raise error


def _fails_at_seven(columns, error):
    if 7 in columns["y"]:
        raise error
    return columns


def test_errors_name_their_chunk():
    def found(error, **columns):
        return parts(**columns or {"y": da.arange(9, chunks=1)}).map(_fails_at_seven, error)

    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(ValueError, match=r"^chunk 7: wrong at row 3$") as raised:
            found(ValueError("wrong at row 3")).results()
        assert pickle.loads(pickle.dumps(raised.value)).chunk == 7
        with pytest.raises(RuntimeError, match=r"^chunk 7: KeyError: 'a'$"):
            found(KeyError("a")).results()
        with pytest.raises(DataConversionWarning, match=r"^chunk 7: odd$"):
            found(DataConversionWarning("odd")).results()
    with pytest.raises(ValueError, match=r"^wrong at row 3$"):
        found(ValueError("wrong at row 3"), y=np.arange(9))


def _corrupt(block, block_info=None):
    if block_info[0]["chunk-location"] == (5,):
        raise OSError(5, "Input/output error", "part.5")
    return block


def test_a_chunk_that_cannot_be_read_is_named():
    y = da.arange(40, chunks=4).map_blocks(_corrupt, dtype=int)
    partitions = parts(y=y, s=da.ones(40, chunks=4))
    with pytest.raises(RuntimeError, match=r"^chunk 5 cannot be computed: OSError: .*part\.5"):
        _all_rows(partitions)


def test_errors_of_what_is_merged_are_left_as_they_are():
    partitions = parts(y=da.arange(40, chunks=4))
    with dask.config.set(scheduler="synchronous"), pytest.raises(OSError, match="full"):
        partitions.map(_rows).reduce(lambda values: _fails(OSError("full")))


def test_arguments_are_sent_once():
    partitions = parts(y=da.arange(40, chunks=4))
    tasks = partitions.map(lambda columns, table: len(table), np.zeros(1000)).values
    tables = {
        key
        for task in tasks
        for key, node in dict(task.dask).items()
        if getattr(node, "value", None) is not None and np.shape(node.value) == (1000,)
    }
    assert len(tables) <= 1


def test_no_other_module_asks_dask():
    package = Path(sklearn_rank.__file__).parent
    asking = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"import_dask|(import|from) (dask|distributed)\b", path.read_text("utf-8"))
    ]
    assert sorted(asking) == ["_optional.py", "_partitions.py"]


def _process(columns):
    return {os.getpid()}


def _wrong_at_five(columns):
    if 20 in np.asarray(columns["y"]):
        raise ValueError("wrong at row 0")
    return {os.getpid()}


@pytest.mark.slow
def test_processes_of_a_cluster(client):
    y = da.arange(40, chunks=4)
    found = parts(y=y).map(_process).reduce(lambda values: set().union(*values))
    assert os.getpid() not in found
    with pytest.raises(ValueError, match=r"^chunk 5: wrong at row 0$"):
        parts(y=y).map(_wrong_at_five).results()
    with pytest.raises(RuntimeError, match="chunk 5 cannot be computed: OSError"):
        parts(y=y.map_blocks(_corrupt, dtype=int)).map(_rows).reduce(_joined)
    found = parts(y=y).map(_rows).reduce(_joined)
    assert np.concatenate(found, axis=None).tolist() == list(range(40))


def _compare():
    X, y, _ = make_subset_ranking(8, n_items=5, return_X_y=True, random_state=0)
    scores = {"a": X[:, 0], "b": X[:, 1]}
    return lambda: compare("auc", (y > 0).astype(int), scores), 6


def _fit():
    X, y, qid = make_subset_ranking(8, n_items=5, return_X_y=True, random_state=0)
    ranker = OrderPreservingRanker(alpha=1.0)
    return lambda: ranker.fit(X, y, qid=qid), 3


@pytest.mark.parametrize("made", [_compare, _fit])
def test_arrays_are_asked_at_the_door_only(made):
    (call, most), n_asked = made(), 0

    def count(frame, event, argument):
        nonlocal n_asked
        n_asked += event == "call" and frame.f_code is is_collection.__code__

    call()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    assert n_asked <= most
