"""Ways to solve the problems of pivots: the values agree, and the one that is chosen is not dear.

Work is counted in products of rows and features, as the choice predicts it, not in seconds.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank._solvers import PivotProblem, _pivots, solve_pivots_newton

TOL = 1e-6


def rows(kind, n, d, seed=0):
    """Rows of a kind: normal, of heavy tails, in coordinates of a kernel, or with w = 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2.5, (n, d)) if kind == "tails" else rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.logistic(size=n) > 1, 1.0, -1.0)
    if kind == "zero":  # each point in both classes: no weights lower the loss
        return np.repeat(X[: n // 2], 2, axis=0), np.tile([-1.0, 1.0], n // 2)
    if kind == "kernel":
        distance = np.sum((X[:, np.newaxis] - X) ** 2, axis=-1)
        X = np.linalg.cholesky(np.exp(-distance / d) + 1e-9 * np.eye(n))
    return X, y


def make(kind, n, d, C):
    X, y = rows(kind, n, d)
    return PivotProblem.from_rows(X, y, np.full(n, C), np.ones(n))


def solve(kind, n, d, C, monkeypatch, most_work):
    monkeypatch.setattr(_pivots, "MOST_WORK_IN_ARRAYS", most_work)
    problem = make(kind, n, d, C)
    assert problem.is_compiled == (most_work < 0)
    return solve_pivots_newton(problem, problem.pivots[:64], tol=TOL)


KINDS = ["normal", "tails", "kernel", "zero"]


@pytest.mark.parametrize("C", [1e-4, 0.1, 100.0])
@pytest.mark.parametrize("kind", KINDS)
def test_array_operations_take_the_steps_of_compiled_loops(kind, C, monkeypatch):
    n, d = (130, 4) if kind == "kernel" else (400, 4)
    arrays = solve(kind, n, d, C, monkeypatch, np.inf)
    monkeypatch.setattr(PivotProblem, "has_bands", False)
    loops = solve(kind, n, d, C, monkeypatch, -1.0)
    assert arrays.converged.all()
    assert loops.converged.all()
    assert np.all(arrays.lower_bound <= loops.objective * (1 + 1e-12))
    assert np.all(loops.lower_bound <= arrays.objective * (1 + 1e-12))
    distance = np.linalg.norm(arrays.coef - loops.coef, axis=1)
    assert np.all(distance <= 2 * np.sqrt(2 * TOL * loops.objective))
    assert (kind == "zero") == np.allclose(arrays.coef, 0.0)
    ratio = arrays.n_iter.sum() / loops.n_iter.sum()
    assert 0.5 <= ratio <= 2


@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0])
@pytest.mark.parametrize(
    ("kind", "n", "d"),
    [
        ("normal", 600, 5),
        ("normal", 4000, 30),
        ("tails", 2000, 40),
        ("kernel", 300, 4),
        ("zero", 600, 5),
        ("zero", 3000, 30),
    ],
)
def test_bands_are_chosen_where_they_take_less_work(kind, n, d, C, monkeypatch):
    monkeypatch.setattr(_pivots, "MOST_WORK_IN_ARRAYS", -1.0)
    problem = make(kind, n, d, C)
    probed = problem.pivots[:: max(1, problem.n_candidates // _pivots.N_PROBED)]
    others = problem.rows.rows(np.setdiff1d(problem.pivots, probed)[::29]).to_array()
    on_all = problem.hinge_rows.minimise(others, tol=TOL, max_iter=500).n_iter.sum()
    on_bands = _pivots._Groups(problem, TOL, 500, lambda: False).solve(others)
    work = {
        False: problem.hinge_rows.work(on_all),
        True: sum(state.work for state in on_bands),
    }
    assert work[problem.has_bands] <= 2 * min(work.values())


def test_the_way_follows_the_predicted_work():
    small, large = (make("normal", n, 5, 0.1) for n in (300, 3000))
    assert not small.is_compiled
    assert large.is_compiled
    wide = sp.random_array((200, 40_000), density=0.001, format="csr", rng=0)
    y = np.where(np.arange(200) % 3, -1.0, 1.0)
    problem = PivotProblem.from_rows(wide, y, np.ones(200), np.ones(200))
    assert problem.is_compiled
    assert not problem.rows.is_dense


@pytest.mark.parametrize("selection", ["average", "closest", "objective", "refine"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_ranker_does_not_depend_on_the_way(container, selection, monkeypatch):
    X, y = rows("normal", 150, 4)
    found = []
    for most_work in (np.inf, -1.0):
        monkeypatch.setattr(_pivots, "MOST_WORK_IN_ARRAYS", most_work)
        ranker = AccuracyAtTopRanker(tau=0.1, C=0.1, selection=selection, tol=1e-9)
        found.append(ranker.fit(container(X), y))
    one, two = found
    assert one.converged_
    assert two.converged_
    assert one.pivot_index_ == two.pivot_index_
    np.testing.assert_allclose(one.candidate_objectives_, two.candidate_objectives_, rtol=2e-9)
    np.testing.assert_allclose(one.candidate_distances_, two.candidate_distances_, atol=2e-3)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-3 * np.abs(one.coef_).max())
