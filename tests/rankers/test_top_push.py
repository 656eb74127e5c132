"""TopPushRanker: the problems it names, their certificates, and solutions of 0."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sklearn_rank import TopPushRanker
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.exceptions import ZeroSolutionWarning
from tests.naming import for_each
from tests.oracles import top_push as oracle

LOSSES = ["squared_hinge", "hinge", "logistic"]


def data(seed=0, n=60, d=4, shift=2.0, tails=None):
    """Rows of two classes; heavy tails where degrees of freedom are given."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, d)) if tails is None else rng.standard_t(tails, size=(n, d))
    X[y, 0] += shift
    return X, y.astype(int)


def parts(y):
    return np.flatnonzero(y), np.flatnonzero(1 - y)


# ------------------------------------------------------------------------------------- problems


@pytest.mark.parametrize(
    ("loss", "top", "tails"),
    [(loss, *of) for loss in LOSSES for of in ((1, 1.5), (7, None))],
)
def test_the_mean_of_the_top_is_minimised(top, loss, tails):
    X, y = data(tails=tails, shift=5.0)
    positive, reference = parts(y)
    for C in (0.1, 100.0):
        ranker = TopPushRanker(top, loss=loss, C=C).fit(X, y)
        ones = np.ones(len(reference))
        least = oracle.top_mean(X, positive, reference, ones, top, loss, C)
        np.testing.assert_allclose(ranker.objective_, least, rtol=1e-5)
        assert ranker.lower_bound_ <= least * (1 + 1e-6)
        assert ranker.dual_gap_ <= ranker.tol
        assert ranker.converged_
        assert ranker.n_iter_ < 40


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("unit", "C"), [(1e-6, 1.0), (1e-4, 1.0), (1.0, 1e-8), (1e4, 1e-14)])
def test_a_small_cost_or_unit_has_a_solution_other_than_none(unit, C, loss):
    X, y = data(n=90, shift=2.0)
    positive, reference = parts(y)
    ranker = TopPushRanker(20, loss=loss, C=C).fit(unit * X, y)
    slope = {"squared_hinge": 2.0, "hinge": 1.0, "logistic": 0.5 / np.log(2.0)}[loss]
    expected = slope * oracle.small_cost(X, positive, reference, 20)
    np.testing.assert_allclose(ranker.coef_[0] / (unit * C), expected, rtol=2e-3, atol=1e-3)
    assert ranker.converged_


@pytest.mark.parametrize("loss", LOSSES)
def test_infinite_push_is_top_push(loss):
    X, y = data(seed=1, n=36, shift=3.0)
    positive, negative = parts(y)
    ranker = TopPushRanker(1, loss=loss, C=5.0).fit(X, y)
    least = oracle.infinite_push(X, positive, negative, loss, 5.0)
    np.testing.assert_allclose(ranker.objective_, least, rtol=1e-5)


def test_a_share_is_that_number_of_rows():
    X, y = data(seed=3, shift=5.0)
    ranker = TopPushRanker(6, C=10.0).fit(X, y)
    share = TopPushRanker(6 / np.sum(1 - y), C=10.0).fit(X, y)
    np.testing.assert_array_equal(share.coef_, ranker.coef_)


def test_weights_that_are_no_counts_scale_as_shares():
    X, y = data(seed=5)
    weight = np.random.default_rng(5).random(len(y)) + 0.1
    first = TopPushRanker(0.2, C=10.0).fit(X, y, sample_weight=weight)
    second = TopPushRanker(0.2, C=10.0).fit(X, y, sample_weight=3.7 * weight)
    np.testing.assert_allclose(first.objective_, second.objective_, rtol=1e-6)


def test_beyond_both_limits_the_system_is_solved_by_products(monkeypatch):
    from sklearn_rank._solvers import _linear

    rng = np.random.default_rng(7)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 1100)) + 0.1 * y[:, np.newaxis]
    by_rows = TopPushRanker(4, C=10.0).fit(X, y)
    monkeypatch.setattr(_linear, "LARGEST_COPY", 1)
    by_products = TopPushRanker(4, C=10.0).fit(X, y)
    assert by_products.converged_
    np.testing.assert_allclose(by_products.objective_, by_rows.objective_, rtol=1e-5)


# -------------------------------------------------------------------------- sets of rows that grow


@pytest.mark.parametrize("tau", [0.01, 0.5])
def test_parts_of_the_rows_suffice(tau, monkeypatch):
    from sklearn_rank._solvers import _top_push

    X, y = data(seed=9, n=6000, shift=6.0)
    ranker = TopPushRanker(tau, C=100.0)
    in_parts = ranker.fit(X, y).objective_
    monkeypatch.setattr(_top_push, "SPARE_ROWS", len(y))
    # The gap is a share of the decrease from w = 0.
    atol = ranker.tol * ranker.C
    np.testing.assert_allclose(in_parts, ranker.fit(X, y).objective_, atol=atol)


# --------------------------------------------------------------------------------- solutions of 0


def test_zero_is_the_solution_where_the_mean_is_in_the_reduced_hull():
    for seed in range(5):
        X, y = data(seed=seed, n=90, d=3, shift=1.0)
        positive, negative = parts(y)
        mass = oracle.largest_collapsing_mass(X, positive, negative)
        assert mass > 2
        with pytest.warns(ZeroSolutionWarning, match="pass tau=") as caught:
            ranker = TopPushRanker(1, C=1000.0).fit(X, y)
        assert np.abs(ranker.coef_).max() < 1e-3
        said = int(str(caught[0].message).partition("pass tau=")[2].split()[0])
        assert mass < said <= 1.06 * mass + 2
        TopPushRanker(said, C=1000.0).fit(X, y)


@pytest.mark.parametrize("seed", [12, 15])
def test_fits_converge_near_the_smallest_top_that_has_a_solution(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(60, 700)), int(rng.integers(3, 40))
    X = np.exp(rng.normal(size=(n, d)) * rng.choice([0.5, 1, 2]))
    X *= rng.random((n, d)) < rng.choice([0.2, 1.0])
    signal = np.log1p(X[:, 0]) + 0.5 * np.log1p(X[:, 1]) + 0.5 * rng.normal(size=n)
    y = (signal > 2 * np.log1p(X).mean()).astype(int)
    X /= X.max(axis=0)
    for loss, top, C in itertools.product(LOSSES, (1, 0.05), (0.1, 1.0, 1000.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZeroSolutionWarning)
            ranker = TopPushRanker(top, C=C, loss=loss).fit(X, y)
        assert ranker.converged_
        assert ranker.n_iter_ < 60


def test_a_small_cost_under_which_every_loss_is_at_its_bound():
    """All slopes are C / k and one negative is the top: nothing bends any more."""
    X, y = load_ionosphere(return_X_y=True)
    train = np.random.default_rng(2).permutation(len(y))[106:211]
    ranker = TopPushRanker(1, loss="hinge", C=10**-1.2).fit(X[train], y[train])
    assert ranker.dual_gap_ <= ranker.tol


def test_classes_with_one_mean_have_no_top():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0], [1.0], [-1.0]])
    y = np.array([1, 1, 0, 0, 0, 0])
    with pytest.warns(ZeroSolutionWarning, match="it holds for every tau"):
        TopPushRanker(1).fit(X, y)


# ------------------------------------------------------------------------------ input and warnings


@for_each("top", [0, 1.0, 0.0, -1, 1.5, "1"])
def test_a_top_is_a_count_or_a_share(top):
    X, y = data()
    with pytest.raises(ValueError, match="'tau' parameter"):
        TopPushRanker(top).fit(X, y)


def test_a_top_of_all_rows_is_refused():
    X, y = data(n=30)
    with pytest.raises(ValueError, match=r"tau=20 takes 20 of the 20 negative rows"):
        TopPushRanker(20).fit(X, y)


def test_a_fit_that_ends_early_says_so():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        ranker = TopPushRanker(3, C=100.0, max_iter=2).fit(X, y)
    assert not ranker.converged_
    assert ranker.dual_gap_ > ranker.tol


def test_zero_is_the_solution_if_and_only_if_0_is_a_subgradient():
    rng = np.random.default_rng(14)
    n_zero = 0
    for _ in range(15):
        n, d = int(rng.integers(8, 40)), int(rng.integers(1, 6))
        X, y = data(rng.integers(1000), n, d, shift=rng.choice([0.0, 1.0, 3.0]))
        X = np.round(X, rng.integers(0, 2))  # tied rows
        weight = rng.integers(1, 4, n) if rng.random() < 0.5 else 0.1 + rng.random(n)
        positive, reference = parts(y)
        top = int(rng.integers(1, max(2, int(weight[reference].sum()))))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ranker = TopPushRanker(top, loss=str(rng.choice(LOSSES)), C=10.0)
            ranker.fit(X, y, sample_weight=weight)
        told = any(issubclass(warning.category, ZeroSolutionWarning) for warning in caught)
        distance = oracle.subgradient_at_zero(X, positive, reference, weight, top)
        n_zero += told
        assert told == (distance < 1e-7)
        assert told == (not ranker.coef_.any())
        assert ranker.converged_
        if told:
            assert ranker.objective_ == pytest.approx(10.0)
            assert 0 <= ranker.dual_gap_ <= 1e-9
    assert 3 < n_zero < 12
