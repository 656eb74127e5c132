"""For every test: figures are drawn without a screen and closed; processes of dask are shared."""

import gc
import os
import sys

import pytest

os.environ.setdefault("MPLBACKEND", "agg")
# A fork of a process with threads (polars, pyarrow, OpenMP) may wait for a lock for ever.
os.environ.setdefault("JOBLIB_START_METHOD", "forkserver")
if "PYTEST_XDIST_WORKER" in os.environ:
    # The processes are as many as the cores: a second thread in each would only wait, and one
    # that a library starts all the same must not wait in a loop.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def two_folds(monkeypatch):
    """Thresholds of fits to two folds rather than five, for tests of something else."""
    monkeypatch.setattr("sklearn_rank.rankers._two_classes.N_FOLDS", 2)


@pytest.fixture
def routing():
    """Metadata routing of scikit-learn is on."""
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="session")
def cluster():
    """Two processes of dask on this machine, started once and shared by all tests."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        memory_limit="8GiB",  # a worker near its limit pauses, and the tests with it
        dashboard_address=":0",  # any free port: test sessions may run side by side
    ) as started:
        yield started


@pytest.fixture
def client(cluster):
    """A client of the processes, which dask uses by default until the test ends."""
    from distributed import Client

    with Client(cluster) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected


# Imports and test items stay until the end: it takes seconds to look for garbage among them.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """Refuse names of tests that no other process would give them."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: name the cases by ids=tests.naming.shown.")
