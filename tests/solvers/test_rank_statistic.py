"""Smoothed rank statistics: sums over windows, values, slopes, and climbs that keep the best."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank._solvers import (
    CumulatedPhi,
    RankStatisticProblem,
    Search,
    as_design,
    maximise_rank_statistic,
)
from sklearn_rank._solvers import _score_functions as _rank_statistic
from sklearn_rank._solvers._score_functions import kernel_windows
from tests.naming import for_each
from tests.oracles import smoothed_statistic as oracle

PHIS = {
    "wilcoxon": lambda u: u,
    "local": lambda u: u * (u >= 0.8),
    "power": lambda u: u**4,
    "screening": lambda u: np.exp(-20 * (1 - u)),
}


def data(seed=0, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    positive = X[:, 0] + rng.logistic(size=n) > 0.5
    return X, positive, rng.integers(1, 4, n).astype(float)


def cumulated(phi, n, cells=None):
    at_ranks = phi(np.arange(1.0, n + 1) / (n + 1))
    total = np.append(0.0, np.cumsum(at_ranks))
    rank = np.linspace(0.0, n, (cells or n) + 1)
    return CumulatedPhi(rank, np.interp(rank, np.arange(n + 1.0), total))


def problem(X, positive, weight, phi=PHIS["local"]):
    design = as_design(X)
    sums = cumulated(phi, int(weight.sum()))

    def exact(scores, terms):
        below = (scores[:, np.newaxis] > scores) @ weight
        places = np.interp(below + weight, sums.rank, sums.total) - np.interp(
            below, sums.rank, sums.total
        )
        k, n = weight[positive].sum(), weight.sum()
        worst, rest = np.interp([k, n - k], sums.rank, sums.total)
        return (places[positive].sum() - worst) / (sums.total[-1] - rest - worst)

    return RankStatisticProblem(design, positive, weight, sums, exact)


def exact_value(made, coef):
    return made.exact(*made.design.scores_with_terms(coef))


def search(**settings):
    defaults = {"bandwidth": 0.3, "anchor": 0.0, "n_init": 1, "tol": 1e-6, "max_iter": 500}
    return Search(**{**defaults, **settings}, random=np.random.RandomState(0))


@for_each("make", ["normal", "heavy", "tied", "whole", "far"])
def test_sums_over_windows_are_those_over_pairs(make):
    rng = np.random.default_rng(0)
    z = {
        "normal": 5 * rng.normal(size=200),
        "heavy": 100 * rng.standard_t(1, size=200),
        "tied": rng.integers(-3, 4, 200) / 4,
        "whole": rng.integers(-3, 4, 200).astype(float),
        "far": 1e6 + rng.normal(size=200),
    }[make]
    weight = rng.random(200)
    integrals, densities = kernel_windows(z)(weight)
    t = z[:, np.newaxis] - z
    near = np.where(np.abs(t) < 1, 0.75 * (1 - t**2), 0.0) @ weight
    np.testing.assert_allclose(densities, near, atol=1e-11)
    np.testing.assert_allclose(integrals, oracle.integrated_kernel(t) @ weight, atol=1e-11)


@pytest.mark.parametrize("phi", PHIS.values(), ids=PHIS)
def test_phi_smoothed_by_a_triangle(phi):
    for width in (1.0, 3.3, 40.0):
        n = 25
        place = np.linspace(-1.0, 26.0, 41)
        sums = cumulated(phi, n)
        mean, slope = sums.smooth(place, width)
        expected = [oracle.smoothed_phi(x, n, phi, width) for x in place]
        np.testing.assert_allclose(mean, expected, atol=1e-12)
        difference = sums.smooth(place + 1e-6, width)[0] - sums.smooth(place - 1e-6, width)[0]
        np.testing.assert_allclose(slope, difference / 2e-6, atol=1e-6)
        assert np.all(slope >= -1e-12)
        coarse = cumulated(phi, 5000, 1000).smooth(np.array([2000.5, 4980.0]), 300.0)[0]
        fine = cumulated(phi, 5000).smooth(np.array([2000.5, 4980.0]), 300.0)[0]
        np.testing.assert_allclose(coarse, fine, atol=5e-3)


@pytest.mark.parametrize("phi", PHIS.values(), ids=PHIS)
def test_the_smoothed_statistic_and_its_slopes(phi):
    for bandwidth in (0.05, 0.5, 3.0):
        X, positive, weight = data(n=30)
        made = problem(X, positive, weight, phi)
        scores = np.random.default_rng(1).normal(size=30)
        value, slopes = made.smooth(scores, bandwidth)
        expected = oracle.smoothed_statistic(scores, positive, weight, phi, bandwidth)
        assert value == pytest.approx(expected, abs=1e-12)
        h = 1e-6
        differences = [
            (made.smooth(scores + e, bandwidth)[0] - made.smooth(scores - e, bandwidth)[0])
            / (2 * h)
            for e in h * np.eye(30)
        ]
        np.testing.assert_allclose(slopes, differences, atol=1e-6)
        # Neither where the scores are nor their scale counts.
        moved, _ = made.smooth(3.0 * scores + 2.0, bandwidth)
        assert moved == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("phi", PHIS.values(), ids=PHIS)
@pytest.mark.parametrize("anchor", [0.0, 1.0])
def test_it_is_never_below_its_start_and_mostly_above(phi, anchor):
    better = 0
    for seed in range(6):
        X, positive, weight = data(seed)
        made = problem(X, positive, weight, phi)
        start = np.random.default_rng(seed).normal(size=3)
        solution = maximise_rank_statistic(made, start, search(anchor=anchor))
        assert solution.start_value == pytest.approx(exact_value(made, start), abs=1e-12)
        assert solution.certificate.objective >= solution.start_value
        assert solution.certificate.objective == pytest.approx(
            exact_value(made, solution.coef), abs=1e-9
        )
        assert solution.certificate.converged
        assert np.average(
            (X @ solution.coef - np.average(X @ solution.coef, weights=weight)) ** 2,
            weights=weight,
        ) == pytest.approx(1.0)
        better += solution.certificate.objective > solution.start_value + 0.01
    assert better >= 4


def test_a_start_that_is_a_maximum_is_returned():
    X, _, weight = data()
    positive = X[:, 0] > 0.7
    solution = maximise_rank_statistic(
        problem(X, positive, weight), np.array([2.0, 0.0, 0.0]), search()
    )
    np.testing.assert_allclose(solution.coef[1:], 0.0, atol=1e-12)
    assert solution.certificate.objective == pytest.approx(1.0)


def test_an_anchor_keeps_near_the_start():
    X, positive, weight = data(n=200, d=6)
    start, near = np.eye(6)[1], []
    for anchor in (0.0, 1.0, 1e3):
        found = maximise_rank_statistic(
            problem(X, positive, weight, PHIS["wilcoxon"]), start, search(anchor=anchor)
        )
        near.append(np.corrcoef(X @ found.coef, X @ start)[0, 1])
    assert near[0] < near[1] < near[2]
    assert near[2] > 0.99


def test_the_gradient_of_what_is_climbed():
    X, positive, weight = data(d=4)
    made, counts = problem(X, positive, weight), weight.astype(int)
    start = X @ np.array([1.0, 0.5, 0.0, 0.0])
    spread = np.sqrt(np.cov(start, fweights=counts, ddof=0))
    coef = np.array([1.0, 0.5, 0.0, 0.0]) / spread
    scores = made.design.scores_with_terms(coef)
    ascent = _rank_statistic._Ascent(made, coef, scores, search(anchor=2.0), None)
    place, h = np.array([0.3, -0.2, 0.5, 0.1]), 1e-6
    value, gradient = ascent._value_and_gradient(place, 0.7)
    above, below = (
        [ascent._value_and_gradient(place + sign * e, 0.7)[0] for e in h * np.eye(4)]
        for sign in (1, -1)
    )
    np.testing.assert_allclose(gradient, np.subtract(above, below) / (2 * h), atol=1e-7)
    # Coordinates of norm 1 are scores of variance 1.
    scores = X @ ascent._coef(place / np.linalg.norm(place))
    moments = np.cov(scores, start / spread, fweights=counts, ddof=0)
    np.testing.assert_allclose(np.diag(moments), 1.0)
    assert value == pytest.approx(made.smooth(scores, 0.7)[0] + 2.0 * moments[0, 1])


def test_more_runs_are_no_worse_and_seeded():
    X, positive, weight = data(n=80, d=5)
    made, start = problem(X, positive, weight, PHIS["screening"]), np.eye(5)[3]
    one, many, again = (
        maximise_rank_statistic(made, start, search(n_init=n, bandwidth=0.1)) for n in (1, 8, 8)
    )
    assert many.certificate.objective > one.certificate.objective
    np.testing.assert_array_equal(many.coef, again.coef)


def test_sparse_rows_and_many_features_climb_too(monkeypatch):
    X, positive, weight = data()
    X[np.abs(X) < 0.4] = 0.0
    dense = maximise_rank_statistic(problem(X, positive, weight), np.eye(3)[0], search())
    sparse = maximise_rank_statistic(
        problem(sp.csr_array(X), positive, weight), np.eye(3)[0], search()
    )
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=1e-6)
    monkeypatch.setattr(_rank_statistic, "LARGEST_FACTOR", 0)
    plain = maximise_rank_statistic(problem(X, positive, weight), np.eye(3)[0], search())
    assert plain.certificate.objective > plain.start_value


def test_the_iterations_of_all_runs_are_limited_and_told():
    X, positive, weight = data()
    told = []
    solution = maximise_rank_statistic(
        problem(X, positive, weight),
        np.eye(3)[1],
        search(max_iter=3, n_init=3),
        lambda *step: told.append(step),
    )
    assert [step[0] for step in told] == [1, 2, 3]
    assert solution.certificate.n_iter == 3
    assert not solution.certificate.converged
    best = [step[2] for step in told]
    assert best == sorted(best)
    assert best[-1] == solution.certificate.objective


def test_scores_that_are_all_equal_have_no_way_up():
    X, positive, weight = data()
    solution = maximise_rank_statistic(problem(X, positive, weight), np.zeros(3), search())
    np.testing.assert_array_equal(solution.coef, 0.0)
    assert solution.certificate.objective == solution.start_value
