"""Blocks of work on threads and processes: sent once, in order, ended together."""

import os
import pickle
import threading
from dataclasses import dataclass

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank._solvers import PivotProblem, count_threads, solve_candidates
from sklearn_rank._solvers import _accuracy_at_top as _blocks_of_work
from sklearn_rank._solvers import _result as _threads
from sklearn_rank._solvers._accuracy_at_top import SentOnce, in_blocks
from tests.naming import shown

PROCESSES = ["loky", "multiprocessing"]
BACKENDS = ["threading", "loky", pytest.param("multiprocessing", marks=pytest.mark.slow)]
BLOCKS = [np.array([k, k + 1]) for k in range(13)]


@dataclass(eq=False)
class Rows(SentOnce):
    matrix: np.ndarray


def total(work, block):
    return float(work.matrix[block].sum())


def file_of_rows(work, block):
    return str(work.matrix.filename), os.getpid()


def failing(work, block):
    if block[0] == 5:
        raise ValueError("Row 5 is wrong.")
    return 0.0


def problem(n=130, d=100, seed=0, sparse=False):
    """Features enough for a table of products and for the prediction of starts."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X[:, 0] += y
    if sparse:
        X = sp.csr_array(np.where(rng.random(X.shape) < 0.8, 0.0, X))
    return PivotProblem.from_rows(X, y, np.full(n, 0.01), np.ones(n))


def assert_equal(one, other):
    for name, values in one.values._asdict().items():
        np.testing.assert_array_equal(values, getattr(other.values, name))


@pytest.mark.parametrize(
    ("backend", "blocks"),
    [
        ("threading", []),
        ("threading", BLOCKS[:1]),
        ("threading", BLOCKS),
        pytest.param("loky", BLOCKS, marks=pytest.mark.slow),
        pytest.param("multiprocessing", [], marks=pytest.mark.slow),
        pytest.param("multiprocessing", BLOCKS, marks=pytest.mark.slow),
    ],
    ids=shown,
)
def test_results_come_in_the_order_of_the_blocks(backend, blocks):
    work = Rows(np.random.default_rng(0).normal(size=(14, 3)))
    with (
        joblib.parallel_config(backend, n_jobs=2),
        in_blocks(total, work, blocks, n_jobs=None) as done,
    ):
        assert list(done) == [total(work, block) for block in blocks]


@pytest.mark.parametrize(
    "backend", ["threading", *(pytest.param(one, marks=pytest.mark.slow) for one in PROCESSES)]
)
def test_an_error_arrives_as_it_was_raised(backend):
    work = Rows(np.zeros((14, 3)))
    with (
        joblib.parallel_config(backend, n_jobs=2),
        pytest.raises(ValueError, match=r"^Row 5 is wrong\.$"),
        in_blocks(failing, work, BLOCKS, n_jobs=None) as done,
    ):
        list(done)
    assert work.stopped


@pytest.mark.slow
def test_threads_are_the_default_and_follow_the_configured_number(monkeypatch):
    asked = []
    parallel = _blocks_of_work.Parallel

    def recorded(**options):
        asked.append(parallel(**options))
        return asked[-1]

    monkeypatch.setattr(_blocks_of_work, "Parallel", recorded)
    work = Rows(np.zeros((14, 3)))
    for config, n_jobs in [
        ({}, None),
        ({}, 2),
        ({"n_jobs": 2}, None),
        ({"n_jobs": 2, "backend": "loky"}, None),
    ]:
        with (
            joblib.parallel_config(**config),
            in_blocks(total, work, BLOCKS, n_jobs=n_jobs) as done,
        ):
            list(done)
    assert [one.n_jobs for one in asked] == [1, 2, 2, 2]
    names = [type(one._backend).__name__ for one in asked]
    assert names == ["SequentialBackend", "ThreadingBackend", "ThreadingBackend", "LokyBackend"]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky"])
def test_processes_map_large_arrays(backend, tmp_path):
    work = Rows(np.zeros((14, 300)))
    with (
        joblib.parallel_config(backend, n_jobs=2, max_nbytes=20_000, temp_folder=str(tmp_path)),
        in_blocks(file_of_rows, work, BLOCKS, n_jobs=None) as done,
    ):
        files, processes = zip(*done, strict=True)
    assert len(set(files)) == 1  # whatever the number of tasks
    assert os.getpid() not in processes


def test_the_size_is_that_of_the_arrays():
    assert Rows(np.zeros((14, 300))).__sizeof__() == pytest.approx(14 * 300 * 8, rel=0.05)
    assert Rows(np.zeros((14, 300)).T).__sizeof__() == pytest.approx(14 * 300 * 8, rel=0.05)


def test_arrays_that_arrive_anywhere_in_memory_are_aligned():
    work, buffers = Rows(np.arange(12.0).reshape(3, 4)), []
    sent = pickle.dumps(work, protocol=5, buffer_callback=buffers.append)
    odd = memoryview(bytearray(3 + 12 * 8))[3:]
    odd[:] = buffers[0].raw()
    found = pickle.loads(sent, buffers=[odd])
    assert found.matrix.flags.aligned
    assert found.matrix.flags.writeable
    np.testing.assert_array_equal(found.matrix, work.matrix)
    kept = pickle.loads(sent, buffers=buffers)
    assert np.shares_memory(kept.matrix, work.matrix)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "sparse"),
    [("loky", False), ("multiprocessing", True)],
)
def test_processes_change_no_bit_of_large_problems(backend, sparse):
    given = problem(sparse=sparse)
    tops = [(given.mass, 10.0), (given.mass, 30.0)]
    expected = solve_candidates(given, tops)
    with joblib.parallel_config(backend, n_jobs=2, max_nbytes=2_000):  # arrays are read-only
        found = solve_candidates(given, tops)
        picked = np.array([3, 77])
        np.testing.assert_array_equal(found.coefs(picked), expected.coefs(picked))
    assert_equal(expected, found)


@pytest.mark.parametrize(
    "backend",
    [
        "threading",
        pytest.param("loky", marks=pytest.mark.slow),
        pytest.param("multiprocessing", marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_leaves_nothing_behind(backend, tmp_path):
    given, calls = problem(), []

    def interrupt():
        calls.append(None)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with joblib.parallel_config(backend, n_jobs=2, max_nbytes=2_000, temp_folder=str(tmp_path)):
        with pytest.raises(KeyboardInterrupt):
            solve_candidates(given, [(given.mass, 10.0)], on_block=interrupt)
        assert len(calls) == 2
        again = solve_candidates(given, [(given.mass, 10.0)])
    assert_equal(again, solve_candidates(given, [(given.mass, 10.0)]))
    assert list(tmp_path.rglob("*.pkl")) == []


def test_blas_is_held_until_the_last_thread_is_done(monkeypatch):
    log = []

    class Pools:
        def limit(self, **options):
            log.append(options["limits"])
            return self

        def restore_original_limits(self):
            log.append("restored")

    monkeypatch.setattr(_threads, "_pools", Pools)
    first = _threads.one_blas_thread()
    second = _threads.one_blas_thread()
    for step in (first.__enter__, second.__enter__):
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
    first.__exit__(None, None, None)
    assert log == [1]
    second.__exit__(None, None, None)
    assert log == [1, "restored"]


def test_threads_within_a_fit_are_those_that_are_configured():
    assert [count_threads(n_jobs) for n_jobs in (None, 1, 3)] == [1, 1, 3]
    assert count_threads(-1) == joblib.cpu_count()
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend, n_jobs=2):
            assert [count_threads(n_jobs) for n_jobs in (None, 1, 3)] == [2, 1, 3]
    with joblib.parallel_config(n_jobs=2):
        assert count_threads(None) == 2
