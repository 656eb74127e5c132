"""The parts of which estimators of two classes are made, one by one."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_rank.rankers._two_classes import (
    KernelMap,
    TwoClasses,
    fitted_scores,
    learned_scores,
    store_scores,
    store_threshold,
)
from tests.naming import for_each

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])


def estimator(kernel="linear"):
    return SimpleNamespace(kernel=kernel, gamma=0.5, degree=2, coef0=1.0, kernel_params=None)


def rows_of(taken, pos_label=1):
    half = np.arange(len(taken)) % 2 == 0
    return TwoClasses(np.array([0, 1]), pos_label, taken, half, np.ones(len(taken)))


def test_rows_of_weight_0_are_left_out():
    positive, weight = np.array([True, False, True, False]), np.array([1.0, 0.0, 2.0, 3.0])
    rows = TwoClasses.of_rows(["a", "b"], "a", positive, weight)
    assert rows.classes.tolist() == ["a", "b"]
    assert rows.direction == -1
    assert TwoClasses.of_rows(["a", "b"], "b", positive, weight).direction == 1
    assert rows.taken.tolist() == [0, 2, 3]
    assert rows.sign.tolist() == [1, 1, -1]
    assert rows.masses == (3.0, 3.0)


@for_each(
    ("class_weight", "expected"),
    [
        (None, [1.0, 2.0, 1.0]),
        ("balanced", [4 / 6, 8 / 6, 4 / 2]),
        ("pairs", [1.0, 2.0, 3.0]),
        ({0: 5.0, 1: 7.0}, [7.0, 14.0, 5.0]),
        ({1: 7.0}, [7.0, 14.0, 1.0]),
    ],
)
def test_costs_are_C_times_weight_times_the_factor_of_the_class(class_weight, expected):
    positive, weight = np.array([True, True, False]), np.array([1.0, 2.0, 1.0])
    rows = TwoClasses.of_rows([0, 1], 1, positive, weight)
    np.testing.assert_allclose(rows.costs(0.1, class_weight), 0.1 * np.array(expected))
    np.testing.assert_allclose(rows.pair_mass(), [1.0, 2.0, 3.0])
    of_first = class_weight
    if isinstance(class_weight, dict):
        of_first = {1 - label: factor for label, factor in class_weight.items()}
    mirrored = TwoClasses.of_rows([0, 1], 0, positive, weight)
    np.testing.assert_array_equal(mirrored.costs(0.1, of_first), rows.costs(0.1, class_weight))


@FORMS
def test_linear_scores(form):
    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(6, 3)), rng.normal(size=3)
    fitted = estimator()
    fitted.dual_coef_, fitted.support_, fitted.X_fit_ = 1, 2, 3  # of an earlier fit
    store_scores(fitted, learned_scores(None, coef, form(X)), rows_of(np.arange(6)))
    assert fitted.coef_.shape == (1, 3)
    assert not {"dual_coef_", "support_", "X_fit_"} & set(vars(fitted))
    function = fitted_scores(fitted)
    np.testing.assert_allclose(function.scores(form(X)), X @ coef, rtol=1e-14)
    np.testing.assert_allclose(function.squared_norms(form(X)), np.sum(X**2, axis=1))
    assert function.weight_norm(form(X)) == pytest.approx(np.linalg.norm(coef))
    scores, rounding = function.scores_of_fitted(form(X))
    np.testing.assert_array_equal(scores, function.scores(form(X)))
    exact = [sum(map(float, row * coef)) for row in X]
    assert np.all(np.abs(scores - exact) <= rounding)
    assert np.all(rounding <= 1e-14)


@FORMS
@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed", lambda a, b: a @ b])
def test_kernel_scores_are_those_of_the_coordinates(kernel, form):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(7, 2))
    X = rbf_kernel(points) if kernel == "precomputed" else form(points)
    if callable(kernel) and sp.issparse(X):
        X = points
    fitted = estimator(kernel)
    fitted.coef_ = 1
    kernel_map = KernelMap(fitted)
    coordinates = kernel_map.coordinates(X, np.arange(7))
    coef = rng.normal(size=coordinates.shape[1])
    taken = np.array([3, 4, 6, 7, 8, 9, 11])
    store_scores(fitted, learned_scores(kernel_map, coef, X), rows_of(taken))
    assert not hasattr(fitted, "coef_")
    assert hasattr(fitted, "X_fit_") == (kernel != "precomputed")
    assert set(fitted.support_) <= set(taken)
    if kernel == "precomputed":
        fitted.support_ = np.searchsorted(taken, fitted.support_)
    function = fitted_scores(fitted)
    np.testing.assert_allclose(function.scores(X), coordinates @ coef, atol=1e-8)
    np.testing.assert_allclose(function.squared_norms(X), np.sum(coordinates**2, axis=1))
    assert function.weight_norm(X) == pytest.approx(np.linalg.norm(coef))


def test_the_threshold_is_midway_below_the_quantile_and_off_rounding():
    scores, mass = np.array([4.0, 3.0, 1.0, 0.0]), np.ones(4)
    fitted = SimpleNamespace()
    store_threshold(fitted, 1.0, scores, np.zeros(4), mass, 2.0)
    assert (fitted.quantile_, fitted.threshold_) == (3.0, 2.0)
    assert fitted.intercept_.tolist() == [-2.0]
    scores = np.array([4.0, 3.0, 3.0 - 1e-12, 0.0])
    store_threshold(fitted, 1.0, scores, np.full(4, 1e-12), mass, 2.0)
    assert fitted.threshold_ == pytest.approx(1.5)
