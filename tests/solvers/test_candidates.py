"""The solutions of all candidates serve any number of tops, as if each were solved for alone."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank import _optional
from sklearn_rank._solvers import (
    PivotProblem,
    _pivots,
    select_solution,
    solve_accuracy_at_top,
    solve_candidates,
    solve_pivots_newton,
)
from tests.oracles import top_quantile


def problem_of(form=np.asarray, n=50, d=4, seed=0):
    """Rows that repeat, with whole weights, and two kinds of masses for them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[-10:] = X[:10]
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    weight = rng.integers(1, 4, n).astype(float)
    problem = PivotProblem.from_rows(form(X), y, 0.2 * weight, weight)
    masses = weight, weight * np.where(y > 0, weight[y < 0].sum(), weight[y > 0].sum())
    return problem, X, y, 0.2 * weight, masses


@pytest.mark.parametrize(
    ("form", "selection"),
    [
        (np.asarray, "average"),
        (sp.csr_array, "closest"),
        (np.asarray, "objective"),
        (sp.csr_array, "refine"),
    ],
)
def test_one_solve_serves_every_top_as_a_solve_of_its_own(form, selection):
    problem, X, y, cost, masses = problem_of(form)
    tops = [
        (problem.merge(mass), np.floor(tau * mass.sum()))
        for mass in masses
        for tau in (0.02, 0.1, 0.3)
    ]
    solutions = solve_candidates(problem, tops, scales=selection == "refine")
    for k, (mass, top_mass) in enumerate(tops):
        together = select_solution(solutions, selection, top=k)
        alone = solve_accuracy_at_top(
            replace(problem, mass=mass), top_mass=top_mass, selection=selection
        )
        assert together.certificate == alone.certificate
        for name in set(vars(alone)) - {"certificate", "candidates"}:
            np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))
        for name, values in alone.candidates._asdict().items():
            np.testing.assert_array_equal(getattr(together.candidates, name), values)
        value = top_quantile.value(together.coef, X, y, cost, masses[k // 3], top_mass)
        assert together.certificate.objective == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_weights_of_candidates_are_those_that_were_solved_for(form, monkeypatch):
    # By compiled loops to the bit, of sparse rows up to rounding.
    monkeypatch.setattr(_optional, "BREAK_EVEN", 0.0)
    monkeypatch.setattr(_pivots, "MOST_DENSE_ENTRIES", 0)
    problem, *_ = problem_of(form)
    solutions = solve_candidates(problem, [(problem.mass, 5.0)])
    assert (solutions.values.coef.size == 0) == sp.issparse(form(np.eye(2)))
    for numbers in (np.array([3]), np.array([30, 2, 7]), np.arange(problem.n_candidates)):
        for n_jobs in (1, 2):
            np.testing.assert_allclose(
                solutions.coefs(numbers, n_jobs),
                solve_pivots_newton(problem, problem.pivots[numbers]).coef,
                rtol=0,
                atol=1e-9 if sp.issparse(form(np.eye(2))) else 0,
            )


def test_wide_rows_are_solved_for_in_their_span():
    problem, *_ = problem_of(n=30, d=50)
    solutions = solve_candidates(problem, [(problem.mass, 5.0)], tol=1e-9)
    assert solutions.values.coef.shape == (problem.n_candidates, len(problem.y))
    np.testing.assert_allclose(
        solutions.values.coef @ solutions.basis.T,
        solve_pivots_newton(problem, problem.pivots, tol=1e-9).coef,
        atol=1e-4,
    )
