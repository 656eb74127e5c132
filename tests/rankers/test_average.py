"""The mean direction of the candidates closest to their quantiles."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_rank import AccuracyAtTopRanker
from tests.oracles import accuracy_at_top as oracle
from tests.rankers.rows import rows


def averaging(**parameters):
    return AccuracyAtTopRanker(**{"tau": 0.1, "C": 0.1, "selection": "average", **parameters})


def expected(X, sign, C, tau, class_weight="balanced", convention="sample"):
    """Which candidates are averaged, the weights, and the value of Problem (1)."""
    cost = oracle.row_costs(sign, C, class_weight)
    points = np.unique(X, axis=0)
    solved = oracle.closest_candidates(X, sign, cost, tau, points, convention)
    taken, mean = oracle.average_direction(*solved)
    coef = mean * oracle.best_multiple(mean, X, sign, cost, tau, convention)
    value = oracle.problem_one(coef, X, sign, cost, tau, convention)
    return points[taken], coef, value


@pytest.mark.parametrize(
    ("class_weight", "convention", "C", "tau"),
    [("balanced", "sample", 0.02, 0.3), ("pairs", "pairs", 0.003, 0.05)],
)
def test_it_is_the_definition(class_weight, convention, C, tau):
    X, y = rows(1)
    ranker = averaging(tau=tau, C=C, class_weight=class_weight, quantile=convention, tol=1e-10)
    ranker.fit(X, y)
    points, coef, value = expected(X, np.where(y == 1, 1, -1), C, tau, class_weight, convention)
    averaged = X[ranker.candidate_indices_[ranker.average_]]
    np.testing.assert_array_equal(np.unique(averaged, axis=0), points)
    np.testing.assert_allclose(ranker.coef_[0], coef, rtol=1e-3, atol=1e-4)
    assert ranker.objective_top_ == pytest.approx(value, rel=1e-4)
    distances = ranker.candidate_distances_
    left = np.delete(distances, ranker.average_)
    assert len(ranker.average_) == 4
    assert np.all(np.diff(ranker.average_) > 0)
    assert distances[ranker.average_].max() <= left.min() + 1e-10


def test_the_attributes_are_of_the_mean_and_the_certificates_of_every_problem():
    X, y = rows(2)
    ranker = averaging().fit(X, y)
    closest = clone(ranker).set_params(selection="closest").fit(X, y)
    for name in ("candidate_indices_", "candidate_objectives_", "candidate_distances_"):
        np.testing.assert_array_equal(getattr(ranker, name), getattr(closest, name))
    for name in ("lower_bound_", "dual_gap_", "n_iter_", "converged_"):
        assert getattr(ranker, name) == getattr(closest, name)
    cost = oracle.row_costs(np.where(y == 1, 1, -1), 0.1, "balanced")
    value = oracle.problem_one(ranker.coef_[0], X, np.where(y == 1, 1, -1), cost, 0.1)
    assert ranker.objective_top_ == pytest.approx(value, rel=1e-9)
    assert ranker.lower_bound_ <= ranker.objective_top_ == ranker.objective_
    assert ranker.quantile_distance_ == 0
    assert (X @ ranker.coef_[0])[ranker.pivot_index_] == pytest.approx(ranker.quantile_)
    assert not hasattr(ranker.set_params(selection="closest").fit(X, y), "average_")


def test_one_in_ten_and_at_least_one():
    for n, count in ((9, 1), (19, 1), (20, 2), (35, 3)):
        X, y = rows(3, n=n)
        ranker = averaging().fit(X, y)
        assert len(ranker.average_) == count
        if count == 1:
            closest = averaging(selection="closest").fit(X, y)
            assert ranker.candidate_indices_[ranker.average_] == closest.pivot_index_
            ratio = ranker.coef_[0] / closest.coef_[0]
            np.testing.assert_allclose(ratio, ratio[0])


def test_ties_at_the_boundary_go_to_the_smaller_objective_whatever_the_order_of_the_rows():
    # Separable: the quantile of nearly every solution is a whole margin from its pivot.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60))
    y = (X[:, 0] > 0).astype(int)
    ranker = averaging(tau=0.07, C=1.0).fit(X, y)
    distances, objectives = ranker.candidate_distances_, ranker.candidate_objectives_
    last = np.sort(distances)[2]
    tied = np.flatnonzero(np.abs(distances - last) <= 1e-6)
    inside, outside = np.intersect1d(tied, ranker.average_), np.setdiff1d(tied, ranker.average_)
    assert len(inside)
    assert len(outside)
    assert objectives[inside].max() < objectives[outside].min()
    moved = rng.permutation(30)
    again = clone(ranker).fit(X[moved], y[moved])
    np.testing.assert_array_equal(ranker.coef_, again.coef_)
    assert set(moved[again.average_]) == set(ranker.average_)


def test_rows_are_ranked_even_where_zero_has_the_least_value():
    # Costly positives below a quantile at the top: all multiples of the mean raise the value.
    X, y = rows(9)
    ranker = averaging(tau=0.03, C=0.01, class_weight={0: 0.01, 1: 100.0}, tol=1e-10).fit(X, y)
    cost = 0.01 * np.where(y == 1, 100.0, 0.01)
    sign = np.where(y == 1, 1, -1)
    assert oracle.best_multiple(ranker.coef_[0], X, sign, cost, 0.03) < 1e-9
    pivots = X[ranker.candidate_indices_[ranker.average_]]
    solutions = np.array([oracle.solve_primal(X, sign, cost, pivot)[0] for pivot in pivots])
    norms = np.linalg.norm(solutions, axis=1)
    mean = (solutions / norms[:, None]).mean(axis=0) * norms.mean()
    np.testing.assert_allclose(ranker.coef_[0], mean, rtol=1e-3)


def test_weights_of_zero_have_no_direction():
    ranker = averaging().fit(np.full((30, 2), 3.0), np.arange(30) % 2)
    np.testing.assert_array_equal(ranker.coef_, 0)
    assert ranker.objective_top_ == pytest.approx(3.0)
