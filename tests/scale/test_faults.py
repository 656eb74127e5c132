"""Faults of files, disks and processes: the right number, or an error that says where."""

import sys
from contextlib import nullcontext, suppress

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pyarrow.dataset as ds
import pytest

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.datasets import letor_to_parquet, load_letor
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


# -------------------------------------------------------------------------------------- files


# pandas warns of what dask does.
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_every_reader_gets_the_same_rows(tmp_path):
    parquet, known = written(tmp_path)
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
    np.testing.assert_allclose(from_dask.coef_, in_memory.coef_, rtol=1e-4, atol=1e-6)


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
def test_a_full_spill_folder_never_gives_a_wrong_number(client, spilling, largest_file):
    spilling(500_000, largest_file)
    chunks, rows = kept_by_workers(client)
    # With a full disk dask cannot always read a value back, as it has to write another.
    with suppress(OSError, RuntimeError) if largest_file else nullcontext():
        assert get_measure("auc")(*chunks) == get_measure("auc")(*rows)
    assert sum(client.run(spilled).values()) > 0 or largest_file
