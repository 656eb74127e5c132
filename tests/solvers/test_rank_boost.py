"""RankBoost's parts: sorted columns, the search for stumps, weights of pairs, minimum."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from sklearn_rank._solvers import (
    PairWeights,
    Stump,
    Stumps,
    best_feature,
    by_columns,
    rank_boost,
)
from sklearn_rank._solvers._rank_boost import column, column_ranges
from tests.naming import for_each
from tests.oracles import rank_boost as oracle


def problem(seed=0, n=14, d=3, levels=6):
    """Rows with ties in each feature, some of them 0."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-levels // 2, levels // 2 + 1, (n, d)) * 0.25
    positive = np.arange(n) % 3 == 0
    weight = rng.integers(1, 4, n).astype(float)
    return X, positive, weight


def boosted(X, positive, weight, n_rounds, *, linear=False, **how):
    settings = {"learning_rate": 1.0, "tol": 0.0, **how}
    search = best_feature(by_columns(X)) if linear else Stumps(by_columns(X)).best
    pairs = PairWeights(positive, weight)
    return rank_boost(search, pairs, n_rounds, **settings), pairs


def as_tuple(weak):
    return (weak.feature, weak.threshold) if isinstance(weak, Stump) else weak.feature


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_every_round_is_that_of_all_pairs(container):
    for linear in (False, True):
        for seed in range(3):
            X, positive, weight = problem(seed)
            expected, losses = oracle.rank_boost(
                X, positive, weight, n_rounds=8, linear=linear, rate=0.7
            )
            found, pairs = boosted(
                container(X), positive, weight, 8, linear=linear, learning_rate=0.7
            )
            assert [as_tuple(weak) for weak in found.rankings] == [weak for weak, _ in expected]
            np.testing.assert_allclose(found.alphas, [a for _, a in expected], atol=1e-5)
            np.testing.assert_allclose(np.exp(found.log_loss), losses, rtol=1e-9)
            scores = oracle.scores_of(expected, X)
            np.testing.assert_allclose(pairs.scores, scores, atol=1e-4)
            loss = oracle.exponential_loss(pairs.scores, positive, weight)
            np.testing.assert_allclose(np.exp(found.log_loss[-1]), loss, rtol=1e-12)


def test_weights_neither_overflow_nor_vanish():
    positive = np.array([False, True, False, True])
    pairs = PairWeights(positive, np.array([1e-150, 1.0, 1.0, 1e150]))
    pairs.add(np.array([5000.0, 5000.0, 0.0, 0.0]))
    assert np.all(np.isfinite(pairs.signed))
    assert pairs.signed[positive].sum() == pytest.approx(1.0)
    assert pairs.signed[~positive].sum() == pytest.approx(-1.0)
    assert np.isfinite(pairs.log_loss)


def test_the_threshold_is_of_the_least_loss_of_the_classes():
    X, positive, weight = problem(4)
    _, pairs = boosted(X, positive, weight, 3)
    H = pairs.scores

    def loss(t):
        return np.sum(weight * np.exp(np.where(positive, t - H, H - t)))

    assert minimize_scalar(loss, options={"xtol": 1e-10}).x == pytest.approx(pairs.threshold)


@for_each("kind", ["dense", "zeros", "no zeros", "negative", "none"])
def test_thresholds_lie_between_all_distinct_values(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 2))
    X[:, 0] = np.round(X[:, 0])
    if kind == "zeros":
        X[rng.random(X.shape) < 0.4] = 0.0
    elif kind == "negative":
        X = -np.abs(X) * (rng.random(X.shape) < 0.5)
    elif kind == "none":
        X[:] = 0.0
    rows = X if kind == "dense" else by_columns(sp.csr_array(X))
    columns = Stumps(rows)
    found = [
        (j, columns.threshold(j, place))
        for j in range(2)
        for place in range(columns.begin[j], columns.begin[j + 1])
        if columns.ends[place]
    ]
    assert sorted(found) == sorted(oracle.stumps_of(X))
    for j in range(2):
        np.testing.assert_array_equal(column(rows, j), X[:, j])
    np.testing.assert_array_equal(column_ranges(rows), np.ptp(X, axis=0))


def test_thresholds_between_neighbours_and_at_the_ends_of_the_floats():
    low = 1.0
    high = np.nextafter(low, 2.0)
    for below, above in ((low, high), (-high, -low), (-1.7e308, 1.7e308), (0.0, 5e-324)):
        X = np.array([[below], [above]])
        for rows in (X, by_columns(sp.csr_array(X))):
            found = Stumps(rows).best(np.array([-1.0, 1.0]))
            assert below <= found.ranking.threshold < above
            assert found.r == 1.0
            assert found.values.tolist() == [False, True]


def test_sums_of_entries_at_one_place_and_stored_zeros():
    data = ([1.0, -1.0, 0.5, 0.0], ([0, 0, 1, 2], [0, 0, 0, 0]))
    X = sp.coo_array(data, shape=(4, 1)).tocsr()
    assert column(by_columns(X), 0).tolist() == [0.0, 0.5, 0.0, 0.0]
    assert by_columns(X).nnz == 1
    assert len(X.data) >= 3  # the caller's matrix is as it was


def test_equally_good_stumps_go_to_the_first_feature_and_the_lowest_threshold():
    X = np.array([[-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]] * 2).T
    signed = np.array([-0.25, 0.5, -0.5, 0.5, -0.25, 0.0])
    for rows in (X, by_columns(sp.csr_array(X))):
        found = Stumps(rows).best(signed)
        assert found.ranking == Stump(0, -1.5)
        assert found.r == 0.25
    X, signed = X + 1.0, np.array([0.0, -0.5, 0.5, -0.5, 0.5, 0.0])
    for rows in (X, by_columns(sp.csr_array(X))):
        found = Stumps(rows).best(signed)
        assert found.ranking == Stump(0, 0.5)
        assert found.r == 0.5


@pytest.mark.parametrize("linear", [False, True])
def test_no_weak_ranking_left_is_the_minimum(linear):
    """Held against a solver of cones, over the coefficients of all weak rankings."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40, 2)).astype(float)
    positive, weight = rng.random(40) < 0.4, rng.integers(1, 3, 40).astype(float)
    found, _ = boosted(X, positive, weight, 3000, linear=linear, tol=1e-8)
    assert found.converged
    assert found.largest_r <= 1e-8
    weak = oracle.features_of(X) if linear else oracle.stumps_of(X)
    H = np.array([oracle.values_of(one, X) for one in weak]).T
    coef = cp.Variable(len(weak))
    log_w = [np.log(weight[rows] / weight[rows].sum()) for rows in (~positive, positive)]
    objective = cp.log_sum_exp(H[~positive] @ coef + log_w[0]) + cp.log_sum_exp(
        -H[positive] @ coef + log_w[1]
    )
    least = cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)
    assert found.log_loss[-1] == pytest.approx(least, abs=1e-7)
