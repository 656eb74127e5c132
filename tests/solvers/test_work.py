"""Work of Top Push in operations: no choice between two ways makes it jump."""

import warnings

import numpy as np
import pytest

from sklearn_rank import TopPushRanker
from sklearn_rank._solvers import _design, _linear, _top_push
from sklearn_rank.exceptions import ZeroSolutionWarning


def data(n, d, shift=1.0):
    y = np.arange(n) % 3 == 0
    X = np.random.default_rng(0).normal(size=(3000, d))[:n]
    X[:, 0] += shift * y
    return X, y.astype(int)


@pytest.fixture
def work(monkeypatch):
    """Count the operations of a fit."""
    total = [0.0]

    def counted(owner, name, flops):
        function = getattr(owner, name)

        def call(*arguments, **keywords):
            result = function(*arguments, **keywords)
            total[0] += flops(result, *arguments)
            return result

        monkeypatch.setattr(owner, name, call)

    def products(result, design, vectors):
        return 2 * design.shape[0] * design.shape[1] * (np.size(vectors) / len(vectors))

    kind = _design.DenseDesign
    counted(kind, "scores", products)
    counted(kind, "pull_back", products)
    counted(kind, "gram", lambda result, _, weight: np.count_nonzero(weight) * result.size)
    counted(kind, "row_gram", lambda result, design, _: result.size * design.shape[1])
    counted(_linear, "cholesky_solver", lambda _, matrix: len(matrix) ** 3 / 3)

    def of_fit(X, y, **parameters):
        total[0] = 0.0
        ranker = TopPushRanker(**parameters)
        ranker._is_of_fold = True  # without the folds of the threshold
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZeroSolutionWarning)
            ranker.fit(X, y)
        assert ranker.converged_
        return total[0]

    return of_fit


# Either side of a choice: rows, features and parameters.
NEIGHBOURS = {
    "all rows, or those that count": [(299, 5, {}), (305, 5, {})],
    "by features or by rows": [(120, 110, {}), (120, 125, {})],
    "of 1,000 features": [(1200, 1000, {}), (1200, 1001, {})],
    "w = 0 or not": [(3000, 8, {"tau": 0.31}), (3000, 8, {"tau": 0.33})],
    "w = 0 or not, few rows": [(200, 8, {"tau": 0.25}), (200, 8, {"tau": 0.28})],
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if "1,000" in name else name
        for name in NEIGHBOURS
    ],
)
def test_the_work_does_not_jump(name, work, monkeypatch):
    monkeypatch.setattr(_top_push, "SPARE_ROWS", 50)
    first, second = (work(*data(n, d), **parameters) for n, d, parameters in NEIGHBOURS[name])
    assert 0.5 < first / second < 2.0
