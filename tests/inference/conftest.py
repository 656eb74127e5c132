"""Fewer exchanges of ranks than users have, each of which ranks all items anew."""

import pytest

from sklearn_rank.inference import _compare


@pytest.fixture(autouse=True)
def _few_swaps(monkeypatch):
    monkeypatch.setattr(_compare, "SWAPS", 199)
