"""Faults of files, disks and processes: the right number, or an error that says where."""

import contextlib
import os
import sys
import time

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.datasets import RowBatches, letor_to_parquet, load_letor
from sklearn_rank.metrics import Accumulator, get_measure, ndcg_score

FEATURES = [f"feature_{i}" for i in range(1, 6)]


def written(folder, n_queries=60, rows_per_file=100, seed=0):
    """Files of whole queries, and the rows in memory."""
    rng = np.random.default_rng(seed)
    lines = []
    for query in range(n_queries):
        for _ in range(rng.integers(6, 12)):
            values = rng.normal(size=5).round(3).tolist()
            grade = int(np.clip(round(1 + values[0] + rng.normal()), 0, 3))
            listed = " ".join(f"{i}:{value}" for i, value in enumerate(values, 1))
            lines.append(f"{grade} qid:{query} {listed}\n")
    (folder / "rows.txt").write_text("".join(lines))
    parquet = letor_to_parquet(folder / "rows.txt", folder / "rows", rows_per_file=rows_per_file)
    return parquet, load_letor(folder / "rows.txt", dtype=np.float32)


def batches_of(parquet):
    return RowBatches.from_parquet(parquet, label="target", qid="qid", cache_size=0)


def damage(file, where=0.5):
    """Change one byte in a file whose length stays."""
    data = bytearray(file.read_bytes())
    data[int(where * len(data))] ^= 0x10
    file.write_bytes(data)


# -------------------------------------------------------------------------------------- files


# pandas warns of what dask does.
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_every_reader_gets_the_same_rows(tmp_path):
    parquet, known = written(tmp_path)
    rows = batches_of(parquet)
    assert rows.n_batches > 3
    score = known.data[:, 0]
    expected = ndcg_score(known.target, score, k=5, qid=known.qid)
    accumulated = Accumulator.from_batches(
        ds.dataset(parquet).to_batches(columns=["target", "feature_1", "qid"]),
        "ndcg@5",
        y_true="target",
        y_score="feature_1",
        qid="qid",
    )
    assert accumulated.result() == pytest.approx(expected, rel=1e-12)
    with dask.config.set(scheduler="synchronous"):
        frame = dd.read_parquet(parquet)
        parts = [set(ids) for ids in dask.compute(*frame["qid"].to_delayed())]
        assert sum(map(len, parts)) == len(set.union(*parts)) == 60  # whole queries
        assert len(parts) > 1
        measured = get_measure("ndcg@5")(frame["target"], frame["feature_1"], qid=frame["qid"])
        assert measured == pytest.approx(expected, rel=1e-12)
        from_dask = OrderPreservingRanker().fit(frame[FEATURES], frame["target"], qid=frame["qid"])
    in_memory = OrderPreservingRanker().fit(known.data, known.target, qid=known.qid)
    from_batches = OrderPreservingRanker().fit(rows, rows.y, qid=rows.qid)
    for ranker in (from_dask, from_batches):
        np.testing.assert_allclose(ranker.coef_, in_memory.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("where", [0.1, 0.3, 0.5])
def test_a_damaged_file_is_named_with_the_batch(tmp_path, where):
    parquet, _ = written(tmp_path)
    rows = batches_of(parquet)
    damage(parquet / "part-00002.parquet", where)
    for read in (lambda: batches_of(parquet), lambda: list(rows.blocks())):
        with pytest.raises((OSError, ValueError), match=r"Batch 2.*part-00002.parquet") as caught:
            read()
        assert caught.value.__cause__ is not None


@pytest.mark.parametrize("kept", [0, 100, -100])
def test_a_file_that_is_cut_off_is_named(tmp_path, kept):
    parquet, _ = written(tmp_path)
    rows = batches_of(parquet)
    file = parquet / "part-00001.parquet"
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises((OSError, ValueError), match=r"Batch 1.*part-00001.parquet"):
        batches_of(parquet)
    if kept == -100:
        return  # the rows are there, and their footer has been read
    with pytest.raises(OSError, match=r"Batch 1 cannot be read: .*part-00001.parquet"):
        list(rows.blocks())


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_a_measure_over_files_names_the_chunk_that_is_cut_off(tmp_path):
    parquet, _ = written(tmp_path)
    frame = dd.read_parquet(parquet)
    file = parquet / "part-00002.parquet"
    file.write_bytes(file.read_bytes()[:100])
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(RuntimeError, match=r"chunk \d cannot be computed"),
    ):
        get_measure("ndcg@5")(frame["target"], frame["feature_1"], qid=frame["qid"])


def test_a_file_that_shrinks_between_readings_ends_a_fit_without_trace(tmp_path):
    parquet, _ = written(tmp_path)
    rows = batches_of(parquet)
    ranker = OrderPreservingRanker(alpha=0.5).fit(rows, rows.y, qid=rows.qid)
    before = ranker.coef_.copy()
    file = parquet / "part-00001.parquet"
    table = pq.read_table(file)
    pq.write_table(table.slice(0, table.num_rows - 3), file)
    ranker.set_params(alpha=0.1)
    with pytest.raises((OSError, ValueError), match=r"Batch 1.*part-00001.parquet"):
        ranker.fit(rows, rows.y, qid=rows.qid)
    np.testing.assert_array_equal(ranker.coef_, before)
    file.unlink()
    with pytest.raises(OSError, match=r"Batch 1 cannot be read: .*part-00001.parquet"):
        ranker.fit(rows, rows.y, qid=rows.qid)
    np.testing.assert_array_equal(ranker.coef_, before)


def test_a_loader_that_shuffles_ends_a_fit_without_trace():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(10), 6)
    y = (X[:, 0] > 0).astype(int)
    shuffles = []

    def read():
        parts = [slice(0, 24), slice(24, 36), slice(36, 60)]
        for part in parts[::-1] if shuffles else parts:
            yield X[part], y[part], qid[part]

    rows = RowBatches(read, cache_size=0)
    shuffles.append(True)
    ranker = OrderPreservingRanker(alpha=0.1)
    with pytest.raises(ValueError, match=r"Batch 0: Its labels have changed: .* not shuffle"):
        ranker.fit(rows, rows.y, qid=rows.qid)
    assert not hasattr(ranker, "coef_")
    shuffles.clear()
    assert ranker.fit(rows, rows.y, qid=rows.qid).converged_


def test_nan_in_batch_7_and_labels_of_another_type(tmp_path):
    for number in range(9):
        a = np.arange(4.0)
        if number == 7:
            a[2] = np.nan
        pq.write_table(pa.table({"a": a, "y": [0, 1, 0, 1]}), tmp_path / f"{number}.parquet")
    with pytest.raises(
        ValueError, match=r"Batch 7: X is nan at row 2 \(row 30 of all\), feature 'a'"
    ):
        RowBatches.from_parquet(tmp_path, label="y")
    words = pa.table({"a": np.arange(2.0), "y": ["0", "1"]})
    pq.write_table(words, tmp_path / "7.parquet")
    with pytest.raises(ValueError, match="Batch 7: y has words, but numbers in batch 0"):
        RowBatches.from_parquet(tmp_path, label="y")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are counted by Linux")
def test_no_file_stays_open(tmp_path):
    parquet, _ = written(tmp_path)

    def open_files():
        """Files of the data that stay open, also when Arrow has ended what it had begun."""
        for _ in range(100):
            targets = []
            for fd in os.listdir("/proc/self/fd"):
                with contextlib.suppress(FileNotFoundError):  # closed since it was listed
                    targets.append(os.readlink(f"/proc/self/fd/{fd}"))
            targets = [target for target in targets if str(tmp_path) in target]
            if not targets:
                break
            time.sleep(0.05)
        return targets

    rows = batches_of(parquet)
    blocks = rows.blocks()
    next(blocks)
    blocks.close()
    assert open_files() == []
    damage(parquet / "part-00002.parquet")
    with pytest.raises((OSError, ValueError)):
        list(rows.blocks())
    assert open_files() == []


# ---------------------------------------------------------------------------------- processes


def limit_spilling(dask_worker, managed, largest_file):
    """Let a worker spill what exceeds some bytes, to files of which none may be larger."""
    import resource

    before = dask_worker.data.fast.n
    dask_worker.data.fast.n = managed
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (hard if largest_file is None else largest_file, hard)
    )
    return before


def spilled(dask_worker):
    """Number of values on disk."""
    return len(dask_worker.data.slow)


@pytest.fixture
def spilling(client):
    """Set from which size values are spilled, and how large their files may be."""
    before = []

    def limit(managed, largest_file):
        before.append(client.run(limit_spilling, managed=managed, largest_file=largest_file))

    yield limit
    for managed in set(before[0].values()) if before else ():
        client.run(limit_spilling, managed=managed, largest_file=None)


def kept_by_workers(client, seed=0):
    """Labels and scores of 400,000 rows in the memory of the workers, and in ours."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 400_000)
    score = (rng.normal(size=400_000) + y).round(3)
    made = [da.from_array(values, chunks=50_000).map_blocks(np.copy) for values in (y, score)]
    chunks = client.persist(made)
    distributed.wait(chunks)
    return chunks, (y, score)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of the size of files are of POSIX")
@pytest.mark.parametrize("largest_file", [None, 350_000], ids=["disk", "full disk"])
def test_a_full_spill_folder_leaves_the_number_right(client, spilling, largest_file):
    spilling(500_000, largest_file)
    chunks, rows = kept_by_workers(client)
    assert get_measure("auc")(*chunks) == get_measure("auc")(*rows)
    assert sum(client.run(spilled).values()) > 0 or largest_file
    if largest_file:
        # dask keeps in memory what it cannot write, and logs it.
        assert not any(client.run(spilled).values())
