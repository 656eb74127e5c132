"""Settings for every test: figures are drawn without a screen and closed afterwards."""

import os
import sys

import pytest

os.environ.setdefault("MPLBACKEND", "agg")
if "PYTEST_XDIST_WORKER" in os.environ:
    # The processes are as many as the cores: a second thread in each would only wait.
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_collection_modifyitems(items):
    """Refuse names of tests that no other process would give them."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: name the cases by ids=tests.naming.shown.")
