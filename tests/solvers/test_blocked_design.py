"""Rows that are read again at each product: products as of a copy of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank._solvers import BlockedDesign, as_design
from sklearn_rank._solvers import _design as _blocked_design
from sklearn_rank._solvers._design import DenseDesign, SparseDesign

N = 5000


class Source:
    """Blocks that end at given rows, and how many times they were read."""

    def __init__(self, X, ends):
        self.X, self.ends, self.n_readings, self.n_read = X, [*ends, X.shape[0]], 0, 0

    @property
    def shape(self):
        return self.X.shape

    def blocks(self):
        self.n_readings += 1
        start = 0
        for end in self.ends:
            self.n_read += 1
            yield slice(start, end), self.X[start:end]
            start = end


def rows(kind, dtype=np.float64):
    X = np.random.default_rng(0).normal(size=(N, 4)).astype(dtype)
    if kind == "csr":
        X[np.abs(X) < 0.5] = 0
        return X.astype(np.float64), sp.csr_array(X)
    return X.astype(np.float64), np.asarray(X, order=kind)


@pytest.mark.parametrize("kind", ["C", "F", "csr"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_taken", [None, N, 200])
@pytest.mark.parametrize("ends", [[], [1, 2500, 4999]], ids=str)
def test_products_are_those_of_a_copy_in_one_reading(kind, dtype, n_taken, ends):
    rng = np.random.default_rng(1)
    X, given = rows(kind, dtype)
    order = None if n_taken is None else rng.permutation(N)[:n_taken]
    copied = as_design(X if order is None else X[order])
    source = Source(given, ends)
    design = BlockedDesign(source, order)
    n = copied.shape[0]
    coef, by_row, some = rng.normal(size=4), rng.normal(size=n), np.array([3, 1, 99])
    many, few = rng.normal(size=(n, 2)), np.where(np.arange(n) % 5 == 0, by_row, 0.0)
    assert design.shape == copied.shape == (n, 4)
    for product in (
        lambda one: one.scores(coef),
        lambda one: one.scores(np.column_stack((coef, -coef))),
        lambda one: one.pull_back(by_row),
        lambda one: one.pull_back(many),
        lambda one: one.gram(by_row),
        lambda one: one.gram(few),
        lambda one: one.row_gram(some),
        lambda one: one.absolute_scores(coef),
        lambda one: one.squared_norms(),
        lambda one: np.column_stack(one.scores_with_terms(coef)),
        lambda one: np.column_stack(one.gram_and_sums(by_row, many)),
        lambda one: one.rows(some).scores(coef),
        lambda one: one.rows(np.arange(n) % 2 == 0).scores(coef),
        lambda one: one.rows(slice(3, 20, 2)).to_array(),
        lambda one: one.rows(some[:0]).pull_back(by_row[:0]),
    ):
        source.n_readings = 0
        found, expected = product(design), product(copied)
        assert source.n_readings == 1
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("kind", ["C", "csr"])
def test_many_rows_are_not_copied_but_read_again(kind, monkeypatch):
    X, given = rows(kind)
    source = Source(given, [1000, 2000, 3000])
    design, index = BlockedDesign(source), np.random.default_rng(0).permutation(N)[:300]
    copied = design.rows(index)
    assert type(copied) is (SparseDesign if kind == "csr" else DenseDesign)
    monkeypatch.setattr(_blocked_design, "LARGEST_COPY", 6000)
    lazy = design.rows(index)
    assert type(lazy) is BlockedDesign
    np.testing.assert_allclose(lazy.scores(np.ones(4)), X[index].sum(axis=1), atol=1e-12)
    again = lazy.rows(np.arange(0, 300, 3))
    assert type(again) is type(copied)
    np.testing.assert_array_equal(again.to_array(), X[index[::3]])
    gram = X[index] @ X[index].T
    np.testing.assert_allclose(lazy.row_gram(np.arange(300)), gram, atol=1e-12)


def test_rows_are_read_as_far_as_they_are_needed():
    source = Source(rows("C")[1], [1000, 2000, 3000])
    BlockedDesign(source).rows(np.array([1200, 5]))
    assert source.n_read == 2
