"""How far down the last positive stands: against scikit-learn where nothing is tied."""

import numpy as np
import pytest
from sklearn.metrics import coverage_error

from sklearn_rank.metrics import coverage_loss


def test_it_is_scikit_learns_without_ties():
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, (200, 5)), rng.normal(size=(200, 5))
    y[~y.any(axis=1), 0] = 1
    assert coverage_loss(y, score) == pytest.approx(coverage_error(y, score), abs=1e-13)
    y[:3] = 0
    with pytest.warns(match="no positive"):
        found = coverage_loss(y, score, undefined=0)
    assert found == pytest.approx(coverage_error(y, score), abs=1e-13)


def test_whole_weights_of_any_size():
    found = coverage_loss([1, 0, 1], [3, 2, 2], sample_weight=[5, 10**12, 1])
    assert found == pytest.approx(5 + (10**12 + 2) / 2)
    # Many copies of a positive: the last one is at the end of its block.
    found = coverage_loss([1, 0], [1, 1], sample_weight=[10**12, 1])
    assert found == pytest.approx(10**12 + 1, abs=2)
