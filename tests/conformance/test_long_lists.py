"""Long lists take other paths than short ones; what they count is the same."""

import warnings

import numpy as np
import pytest

from sklearn_rank import _order
from sklearn_rank.metrics import _positional, _tied_sums
from tests.catalogue import FUNCTIONS, METRICS, WAYS_IN
from tests.naming import for_each

EXACT = 1e-13
TYPES = ("u1", "i1", "i2", "u4", "i8", "f2", "f4", ">f4")
SCORES = {
    "ties": lambda rng, n: rng.integers(0, 6, n),
    "few ties": lambda rng, n: rng.integers(0, n, n),
    "no ties": lambda rng, n: rng.permutation(n),
    "one block": lambda rng, n: np.zeros(n, dtype=int),
}


def value(case, y, score, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(case(y, score, **arguments))


@pytest.fixture
def all_long(monkeypatch):
    """Make every list a long one."""

    def enter():
        monkeypatch.setattr(_order, "LONG", 2)
        monkeypatch.setattr(_order, "CHUNK", 8)
        monkeypatch.setattr(_positional, "LOOKED_AT", (3, None))
        monkeypatch.setattr(_tied_sums, "LONG", 2)

    return enter


@pytest.mark.parametrize(
    "case", [c for i, c in enumerate(METRICS) if c in FUNCTIONS or i % 12 == 0], ids=str
)
def test_long_lists_count_the_same(case, all_long):
    rng = np.random.default_rng(0)
    found = []
    for make, n in zip(SCORES.values(), (61, 30, 61, 30), strict=True):
        y = rng.choice(case.grades, n, p=None if len(case.grades) > 2 else (0.6, 0.4))
        score, qid = make(rng, n), np.minimum(np.arange(n) // 4, 4)
        for weight in ({}, case.weighted(rng.integers(1, 4, n))):
            found.append((y, score, weight, {}))
            found.append((y, score, weight, {"qid": qid, "average": None}))
    short = [value(case, y, s, **w, **more) for y, s, w, more in found]
    all_long()
    for before, (y, s, w, more) in zip(short, found, strict=True):
        np.testing.assert_allclose(
            value(case, y, s * 1.0, **w, **more), before, rtol=EXACT, atol=EXACT
        )


@for_each("case", WAYS_IN)
def test_the_type_of_scores_does_not_count(case):
    rng = np.random.default_rng(1)
    y, score = rng.choice(case.grades, 40), rng.integers(0, 100, 40)
    for more in ({}, {"qid": np.arange(40) // 20}):
        expected = value(case, y, score.astype(np.float64), **more)
        for dtype in TYPES:
            found = value(case, y, score.astype(dtype), **more)
            np.testing.assert_allclose(found, expected, rtol=EXACT, atol=EXACT)
