"""Which solution is selected, and what the certificates say of it."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_rank import AccuracyAtTopRanker
from tests.oracles import accuracy_at_top as oracle


def rows(seed=0, n=50, d=3):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    y[:2] = [0, 1]
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("tau", [0.05, 0.3])
def test_refining_lowers_the_value_of_the_problem_and_stays_above_the_bound(kernel, C, tau):
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=tau, C=C, kernel=kernel, tol=1e-8)
    fits = {
        selection: clone(ranker).set_params(selection=selection).fit(X, y)
        for selection in ("closest", "objective", "refine")
    }
    refined, others = fits["refine"], (fits["closest"], fits["objective"])
    assert refined.lower_bound_ <= refined.objective_top_
    # Zero is a weight vector as well: all scores tie at their quantile, no hinge is satisfied.
    zero = C * 50
    best = min(zero, *(fit.objective_top_ for fit in others))
    assert refined.objective_top_ <= best * (1 + 1e-12)
    if C == 1.0:
        assert refined.objective_top_ < best
    assert refined.objective_ == refined.objective_top_
    assert refined.quantile_distance_ == 0
    assert {fit.lower_bound_ for fit in others} == {refined.lower_bound_}


def test_the_value_is_that_of_the_definition():
    X, y = rows(1)
    sign = np.where(y == 1, 1, -1)
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.3, selection="refine").fit(X, y)
    cost = oracle.row_costs(sign, 0.3, "balanced")
    value = oracle.problem_one(ranker.coef_[0], X, sign, cost, 0.1)
    assert ranker.objective_top_ == pytest.approx(value, rel=1e-7)
    scores = X @ ranker.coef_[0]
    assert scores[ranker.pivot_index_] == pytest.approx(ranker.quantile_)


def test_the_same_whatever_n_jobs_and_the_order_of_the_rows():
    X, y = rows(2, n=80)
    ranker = AccuracyAtTopRanker(tau=0.1, selection="refine").fit(X, y)
    threads = clone(ranker).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(ranker.coef_, threads.coef_)
    shuffled = np.random.default_rng(3).permutation(80)
    moved = clone(ranker).fit(X[shuffled], y[shuffled])
    np.testing.assert_array_equal(ranker.coef_, moved.coef_)
    assert shuffled[moved.pivot_index_] == ranker.pivot_index_
