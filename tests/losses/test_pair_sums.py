"""The ways to sums over pairs: pair by pair, by series or sorted, compiled or not."""

import subprocess
import sys

import numpy as np
import pytest

from sklearn_rank import _optional, losses
from sklearn_rank.losses import _pair_sums

PAIRED = [
    losses.PairwiseLogistic(),
    losses.ComparisonLogistic(),
    losses.ComparisonHinge(),
    losses.ComparisonSquaredHinge(),
]


def everything(loss, weighted, spread):
    """Derivatives of a loss of short and long lists."""
    rng = np.random.default_rng(0)
    offsets = np.append(0, np.cumsum([1, 2, 3, 9, 17, 40, 700, 900]))
    n = offsets[-1]
    weight = rng.integers(0, 3, n).astype(float) if weighted else None
    score, direction = spread * rng.normal(size=n), rng.normal(size=n)
    on = loss.on(rng.choice(5, n).astype(float), offsets, sample_weight=weight)
    yield from on.value_and_gradient(score)
    if on.has_curvature:
        yield from (*on.gradient_and_curvature(score), on.hessian_product(score, direction))


@pytest.mark.parametrize(
    ("loss", "weighted", "spread"),
    [
        (loss, *lists)
        for i, loss in enumerate(PAIRED)
        for lists in ([(True, 20.0)] if i % 2 else [(False, 1.0), (True, 400.0)])
    ],
    ids=repr,
)
def test_all_ways_agree(loss, weighted, spread, monkeypatch):
    ways = []
    for worth, item in ((0.0, 1e300), (np.inf, 1e300), (0.0, 0.0), (np.inf, 0.0)):
        monkeypatch.setattr(_optional, "BREAK_EVEN", worth)
        monkeypatch.setattr(_pair_sums, "ITEM", item)
        monkeypatch.setattr(_pair_sums, "CELL", min(item, 1.0))
        ways.append(list(everything(loss, weighted, spread)))
    for first, *others in zip(*ways, strict=True):
        for other in others:
            np.testing.assert_allclose(other, first, rtol=0, atol=1e-12 * np.abs(first).max())


@pytest.mark.slow
def test_without_numba():
    code = """
import sys
sys.modules["numba"] = None
import numpy as np
from sklearn_rank import OrderPreservingRanker, _optional
_optional.BREAK_EVEN = 0.0
X, qid = np.random.default_rng(0).normal(size=(60, 3)), np.repeat(np.arange(6), 10)
y = np.digitize(X[:, 0], [-0.5, 0.5])
for loss in ("pairwise_logistic", "pairwise_squared"):
    ranker = OrderPreservingRanker(loss)
    assert ranker.fit(X, y, qid=qid).score(X, y, qid=qid) > 0.9
"""
    subprocess.run([sys.executable, "-c", code], check=True)
