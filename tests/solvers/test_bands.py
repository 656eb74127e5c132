"""Large problems: predicted from a free threshold, solved on bands of rows, certified by all."""

import _thread
import signal

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank._solvers import PivotProblem, solve_pivots_newton
from sklearn_rank._solvers import _pivots as _newton
from sklearn_rank._solvers._pivots import FreeThreshold, HingeRows

containers = pytest.mark.parametrize("container", [np.asarray, sp.csr_array])


def rows(seed, n, d):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1, -1)
    y[:2] = [-1, 1]
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7) + 0.3 * y[:, None], y


def make(X, y, C):
    return PivotProblem.from_rows(X, y, np.full(len(y), float(C)), np.ones(len(y)))


@pytest.fixture
def banded(monkeypatch):
    """All problems are large, and solved by compiled loops."""
    monkeypatch.setattr(_newton, "MOST_WORK_IN_ARRAYS", -1.0)
    monkeypatch.setattr(PivotProblem, "has_bands", True)


def on_all_rows(problem, pivots, tol):
    points = problem.rows.rows(pivots).to_array()
    return problem.hinge_rows.minimise(points, tol=tol, max_iter=500)


def check(problem, pivots, found, tol):
    """The values are those of the definition, the gaps hold, other solutions lie between."""
    assert found.converged.all()
    scores = problem.scores(found.coef)
    values = problem.objective(found.coef, scores, scores[np.arange(len(pivots)), pivots])
    np.testing.assert_allclose(found.objective, values, rtol=1e-10)
    assert np.all(found.objective - found.lower_bound <= tol * found.objective)
    other = on_all_rows(problem, pivots, 1e-9)
    assert np.all(found.lower_bound <= other.objective * (1 + 1e-12))
    assert np.all(other.lower_bound <= found.objective * (1 + 1e-12))


@containers
@pytest.mark.parametrize("C", [1e-4, 0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", [(600, 7), (300, 40), (90, 120)])
def test_bands_find_what_all_rows_find(shape, C, container, banded):
    problem = make(container(rows(0, *shape)[0]), rows(0, *shape)[1], C)
    pivots = problem.pivots[::25]
    check(problem, pivots, solve_pivots_newton(problem, pivots), 1e-6)
    check(problem, pivots, solve_pivots_newton(problem, pivots, tol=1e-9), 1e-9)


@pytest.mark.parametrize(
    "constants",
    [
        {"MAX_BANDS": 0},
        {"BAND": 1e-3, "BAND_PER_DISTANCE": 0.0, "LEAST_ROWS": 1, "LEAST_SHARE": 0.0},
        {"NARROWED": 1e-3, "LEAST_ROWS": 1},
        {"BAND": 100.0},
        {"PENALTY": 1e4},
    ],
    ids=str,
)
def test_whatever_the_first_band_the_certificate_holds(constants, banded, monkeypatch):
    for name, value in constants.items():
        monkeypatch.setattr(_newton, name, value)
    problem = make(*rows(1, 800, 6), 0.05)
    pivots = problem.pivots[::50]
    check(problem, pivots, solve_pivots_newton(problem, pivots), 1e-6)


def test_many_rows_are_solved_on_few_of_them(monkeypatch, banded):
    sizes = []
    minimise = HingeRows.minimise

    def counted(self, pivots, **options):
        ends = minimise(self, pivots, **options)
        sizes.append((len(self.y), int(ends.n_iter.sum())))
        return ends

    problem = make(*rows(2, 8000, 10), 0.01)
    _ = problem.free_threshold  # solved once
    monkeypatch.setattr(HingeRows, "minimise", counted)
    found = solve_pivots_newton(problem, problem.pivots[::500])
    assert found.converged.all()
    in_rows = sum(size * steps for size, steps in sizes)
    assert in_rows < 0.25 * 8000 * found.n_iter.sum()
    assert sum(steps for _, steps in sizes) == found.n_iter.sum()


@containers
def test_the_order_of_the_rows_leaves_no_trace(container, banded):
    X, y = rows(3, 400, 9)
    shuffled = np.random.default_rng(0).permutation(400)
    one, two = make(container(X), y, 0.1), make(container(X[shuffled]), y[shuffled], 0.1)
    found = [solve_pivots_newton(problem, problem.pivots[:40]).coef for problem in (one, two)]
    np.testing.assert_array_equal(*found)


def test_a_sparse_pivot_is_solved_alone_as_in_company(banded):
    problem = make(sp.csr_array(rows(4, 300, 20)[0]), rows(4, 300, 20)[1], 0.1)
    together = solve_pivots_newton(problem, problem.pivots[:20])
    for k in (0, 7, 8, 19):
        alone = solve_pivots_newton(problem, problem.pivots[k : k + 1])
        np.testing.assert_array_equal(alone.coef[0], together.coef[k])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_number_of_threads_changes_no_bit(n_jobs, banded):
    X, y = rows(5, 150, 12)
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.1)
    one, other = clone(ranker).fit(X, y), clone(ranker).set_params(n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.candidate_objectives_, other.candidate_objectives_)


def test_iterations_are_limited_in_all(banded):
    problem = make(*rows(6, 500, 8), 1.0)
    for limit in (1, 3, 10):
        found = solve_pivots_newton(problem, problem.pivots[:9], tol=1e-10, max_iter=limit)
        assert np.all(found.n_iter <= limit)
        assert np.all(found.lower_bound <= found.objective)
        assert np.all(np.isfinite(found.coef))


@containers
@pytest.mark.parametrize("shape", [(60, 4), (20, 50)])
def test_the_free_threshold_solves_its_problem(shape, container):
    X, y = rows(7, *shape)
    problem = make(container(X), y, 0.2)
    free = problem.free_threshold
    data = problem.rows.to_array()
    w, t = cp.Variable(shape[1]), cp.Variable()
    hinge = cp.sum(cp.multiply(problem.cost, cp.pos(1 - cp.multiply(problem.y, data @ w - t))))
    best = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + hinge)).solve(solver="CLARABEL")
    value = 0.5 * np.sum(free.coef[:-1] ** 2) + problem.cost @ np.maximum(free.margins, 0)
    assert best * (1 - 1e-6) <= value <= best * 1.02  # the threshold is penalised a little
    assert np.all((free.multipliers >= 0) & (free.multipliers <= 1))


def test_a_pivot_at_the_free_threshold_is_predicted_exactly():
    # Where the constraint costs nothing; and a prediction fulfils its constraint elsewhere.
    X, y = rows(8, 200, 5)
    problem = make(X, y, 0.1)
    free: FreeThreshold = problem.free_threshold
    w, constant = free.coef[:-1], free.constant
    threshold = -free.coef[-1] * constant
    on = threshold * w / (w @ w)
    coef, distance = free.coefs_at(np.array([on, on + 0.5 * w / (w @ w)]))
    np.testing.assert_allclose(coef[0], w, atol=1e-12)
    np.testing.assert_allclose(distance, [0.0, 0.5], atol=1e-12)
    assert np.linalg.norm(coef[1] - w) > 1e-3


@containers
def test_parked_rows_are_summed(container):
    X, y = rows(9, 30, 4)
    problem = make(container(X), y, 0.3)
    data, pivots = problem.rows.to_array(), problem.rows.to_array()[:2]
    held = np.random.default_rng(0).random((2, 30)) < 0.5
    vector, parked_cost = problem.hinge_rows.sum_held(held, pivots)
    for k in range(2):
        cost = problem.cost * held[k]
        expected = (cost * problem.y) @ (data - pivots[k])
        np.testing.assert_allclose(vector[k], expected, atol=1e-12)
        assert parked_cost[k] == pytest.approx(cost.sum())


def test_who_asks_to_give_up_is_heard(banded):
    problem = make(*rows(10, 300, 5), 0.1)
    asked = []
    with pytest.raises(InterruptedError):
        solve_pivots_newton(
            problem, problem.pivots, interrupted=lambda: asked.append(1) or len(asked) > 4
        )
    assert len(asked) == 5


@pytest.fixture
def interruptible():
    """A process that was started in the background ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_all_threads_and_keeps_the_old_fit(n_jobs, banded, monkeypatch):
    X, y = rows(11, 700, 5)
    ranker = AccuracyAtTopRanker(tau=0.2, n_jobs=n_jobs).fit(X[:30], y[:30])
    before = ranker.coef_.copy()
    calls = []
    minimise = HingeRows.minimise

    def interrupted_once(self, pivots, **options):
        calls.append(len(self.y))
        if len(calls) == 60:
            _thread.interrupt_main()  # as Ctrl-C does, also from another thread
        return minimise(self, pivots, **options)

    monkeypatch.setattr(HingeRows, "minimise", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, y)
    np.testing.assert_array_equal(ranker.coef_, before)
    at_end = len(calls)
    assert at_end < 1400  # there would be two for each row
    monkeypatch.setattr("sklearn_rank.rankers._two_classes.ROWS_PER_FEATURE", 0)  # no folds
    ranker.fit(X[:30], y[:30])
    assert len(calls) <= at_end + n_jobs + 61
