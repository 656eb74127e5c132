"""Rows in another order or in single precision: products as of a copy of them."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank import OrderPreservingRanker, PNormPushRanker, TopPushRanker
from sklearn_rank._solvers import as_design, view_design

N = 5000  # more than two blocks


def rows(kind, dtype):
    X = np.random.default_rng(0).normal(size=(N, 4)).astype(dtype)
    if kind == "csr":
        X[np.abs(X) < 0.5] = 0
        return X.astype(np.float64), sp.csr_array(X)
    return X.astype(np.float64), np.asarray(X, order=kind)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_taken", [None, N, 3000, 200])
def test_products_are_those_of_a_copy(dtype, n_taken):
    for kind in ("C", "F", "csr"):
        rng = np.random.default_rng(1)
        X, given = rows(kind, dtype)
        order = None if n_taken is None else rng.permutation(N)[:n_taken]
        copied = as_design(X if order is None else X[order])
        design = view_design(given, order)
        n = len(X) if order is None else len(order)
        coef, by_row, some = rng.normal(size=4), rng.normal(size=n), np.array([3, 1, 99])
        assert design.shape == copied.shape == (n, 4)
        for one, two in (
            (design.scores(coef), copied.scores(coef)),
            (design.pull_back(by_row), copied.pull_back(by_row)),
            (design.gram(by_row), copied.gram(by_row)),
            (design.row_gram(some), copied.row_gram(some)),
            (design.absolute_scores(coef), copied.absolute_scores(coef)),
            (design.squared_norms(), copied.squared_norms()),
            (design.rows(some).scores(coef), copied.rows(some).scores(coef)),
        ):
            assert one.dtype == np.float64
            np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize(
    "ranker", [OrderPreservingRanker("pointwise_squared"), OrderPreservingRanker()]
)
def test_a_fit_copies_no_rows(ranker):
    rng = np.random.default_rng(0)
    n = 20000
    X = rng.normal(size=(n, 100)).astype(np.float32)
    qid, y = rng.permutation(np.repeat(np.arange(n // 20), 20)), rng.integers(0, 2, n)
    ranker.set_params(max_iter=1, tol=1e3).fit(X[:400], y[:400], qid=np.repeat(np.arange(20), 20))
    tracemalloc.start()
    try:
        ranker.fit(X, y, qid=qid)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.9 * 2 * X.nbytes  # less than the copy in float64 alone


@pytest.mark.parametrize("ranker", [TopPushRanker(), PNormPushRanker()])
def test_rows_of_two_classes_are_not_copied(ranker):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 50)).astype(np.float32)
    y = (X[:, 0] + 0.5 * rng.normal(size=len(X)) > 1).astype(int)
    double = ranker.fit(X.astype(float), y).objective_
    tracemalloc.start()
    try:
        ranker.fit(X, y)
        ranker.decision_function(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.3 * X.nbytes
    assert ranker.objective_ == pytest.approx(double, rel=1e-9)
