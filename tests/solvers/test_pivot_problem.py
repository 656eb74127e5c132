"""PivotProblem: merging, distinct points, objective from the definition."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank._solvers import _pivots
from sklearn_rank._solvers._pivots import PivotProblem
from tests.naming import for_each
from tests.oracles import accuracy_at_top as oracle


@pytest.fixture(autouse=True)
def no_sparse_rows_made_dense(monkeypatch):
    monkeypatch.setattr(_pivots, "MOST_DENSE_ENTRIES", 0)


def merged(X, y, cost=None, mass=None):
    n = len(y)
    cost = np.ones(n) if cost is None else cost
    return PivotProblem.from_rows(X, np.asarray(y), cost, cost if mass is None else mass)


def rows_with_repeats(seed=0, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(n, d)).astype(float)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    return X, y, rng.integers(1, 5, n).astype(float), rng.integers(1, 5, n).astype(float)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_equal_rows_of_one_class_carry_the_sums(container):
    X, y, cost, mass = rows_with_repeats()
    problem = PivotProblem.from_rows(container(X), y, cost, mass)
    groups = {}
    for i in range(len(y)):
        groups.setdefault((tuple(X[i]), y[i]), []).append(i)
    assert len(problem.y) == len(groups)
    rows = problem.rows.to_array()
    shift = np.zeros(3) if container is sp.csr_array else np.mean([g[0] for g in groups], axis=0)
    found = {
        (tuple(np.round(row + shift, 9)), label): (c, m)
        for row, label, c, m in zip(rows, problem.y, problem.cost, problem.mass, strict=True)
    }
    assert found == {
        group: (cost[members].sum(), mass[members].sum()) for group, members in groups.items()
    }


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_each_distinct_point_is_a_candidate_once_at_its_first_row(container):
    X, y, cost, mass = rows_with_repeats()
    problem = PivotProblem.from_rows(container(X), y, cost, mass)
    first = {}
    for i, row in enumerate(map(tuple, X)):
        first.setdefault(row, i)
    assert sorted(problem.candidate_indices) == sorted(first.values())
    assert problem.n_candidates == len(first)
    rows = problem.rows.to_array()
    differences = rows[problem.pivots] - X[problem.candidate_indices]
    np.testing.assert_allclose(differences, differences[:1].repeat(len(differences), 0))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_the_order_of_the_rows_leaves_no_trace(container):
    X, y, cost, mass = rows_with_repeats()
    X = X + np.random.default_rng(3).normal(size=3)
    permutation = np.random.default_rng(1).permutation(len(y))
    one = PivotProblem.from_rows(container(X), y, cost, mass)
    two = PivotProblem.from_rows(
        container(X[permutation]), y[permutation], cost[permutation], mass[permutation]
    )
    for name in ("y", "cost", "mass", "pivots"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    dense = [p.rows.to_array() for p in (one, two)]
    np.testing.assert_array_equal(*dense)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_explicit_zeros_unsorted_and_repeated_entries_are_the_same_rows(index):
    # The row (2, 0, 3) four times: plain, with a zero, out of order, in two parts.
    data = np.array([2.0, 3.0, 2.0, 0.0, 3.0, 3.0, 2.0, 1.0, 1.0, 3.0, 1.0])
    indices = np.array([0, 2, 0, 1, 2, 2, 0, 0, 0, 2, 1], dtype=index)
    X = sp.csr_array((data, indices, np.array([0, 2, 5, 7, 10, 11], dtype=index)), shape=(5, 3))
    before = X.copy()
    problem = merged(X, [1, 1, 1, 1, -1])
    assert problem.n_candidates == 2
    assert sorted(problem.cost) == [1.0, 4.0]
    assert problem.rows.matrix.indices.dtype == np.int32
    np.testing.assert_array_equal(X.data, before.data)  # the caller's matrix is as it was
    np.testing.assert_array_equal(X.indices, before.indices)


def test_few_sparse_rows_become_dense(monkeypatch):
    X, y, cost, mass = rows_with_repeats()
    monkeypatch.setattr(_pivots, "MOST_DENSE_ENTRIES", X.size)
    one, two = (PivotProblem.from_rows(rows, y, cost, mass) for rows in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(one.rows.matrix, two.rows.matrix)
    monkeypatch.setattr(_pivots, "MOST_DENSE_ENTRIES", X.size - 1)
    assert not PivotProblem.from_rows(sp.csr_array(X), y, cost, mass).rows.is_dense


def test_dense_rows_are_a_centred_copy():
    X, y, _, _ = rows_with_repeats()
    before = X.copy()
    problem = merged(X, y)
    assert not np.shares_memory(problem.rows.matrix, X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose(problem.rows.matrix.mean(axis=0), 0, atol=1e-15)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_objective_and_scores_by_definition(container):
    X, y, cost, mass = rows_with_repeats()
    problem = PivotProblem.from_rows(container(X), y, cost, mass)
    rng = np.random.default_rng(2)
    coef = rng.normal(size=(4, 3))
    scores = problem.scores(coef)
    assert scores.shape == (4, len(problem.y))
    np.testing.assert_allclose(problem.scores(coef[1]), scores[1], rtol=1e-13)
    pivots = problem.pivots[:4]
    values = problem.objective(coef, scores, scores[np.arange(4), pivots])
    for k in range(4):
        z = X[problem.candidate_indices[k]]
        assert values[k] == pytest.approx(oracle.problem_two(coef[k], z, X, y, cost), rel=1e-12)
        assert problem.objective(coef[k], scores[k], scores[k, pivots[k]]) == pytest.approx(
            values[k], rel=1e-14
        )


@for_each("n", [1, 63, 64, 65, 140])
def test_blocks_partition_the_pivots(n):
    X = np.arange(float(n))[:, None]
    problem = merged(X, np.ones(n))
    blocks = problem.blocks()
    np.testing.assert_array_equal(np.concatenate(blocks), problem.pivots)
    assert max(map(len, blocks)) <= 64
