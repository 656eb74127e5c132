"""The problem of several labels for each row: derivatives, preconditioner, bound."""

import numpy as np
import pytest

from sklearn_rank import losses
from sklearn_rank._label_rankings._label_orders import LabelOrders
from sklearn_rank._solvers import (
    LabelledRows,
    as_design,
    label_problem,
    solve_linear,
)
from sklearn_rank.losses._shared import LossOnLists
from tests.naming import shown

LOSSES = [
    losses.PointwiseLogistic(4.0),
    losses.PairwiseLogistic(),
    losses.PairwiseSquared(),
    losses.ListwiseSoftmax(),
]


def problem(loss, missing=0.0, fit_intercept=True, weighted=False, n=40, alpha=0.1):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) + 5.0
    y = rng.integers(0, 4, (n, 4)).astype(float)
    gaps = rng.random(y.shape) < missing
    gaps[:, :2] = False
    y[gaps] = np.nan
    weight = rng.uniform(0.5, 2, n) if weighted else None
    lists = LabelOrders(y, np.arange(4), "utilities").lists(weight=weight)
    items = LabelledRows(as_design(X), 4, fit_intercept, lists.rows, weight)
    return label_problem(items, LossOnLists(loss, lists, 1), alpha, shifted(loss, 4))


def shifted(loss, n_labels):
    return np.zeros(n_labels, dtype=int) if loss.is_translation_invariant else None


@pytest.mark.parametrize("loss", LOSSES, ids=shown)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_derivatives_are_those_of_the_values(loss, fit_intercept):
    for missing in (0.0, 0.5):
        of = problem(loss, missing, fit_intercept, weighted=True)
        rng = np.random.default_rng(1)
        at, step = 0.1 * rng.normal(size=of.n_parameters), rng.normal(size=of.n_parameters)
        above, below = (of.value_and_gradient(at + h * step) for h in (1e-5, -1e-5))
        gradient = of.value_and_gradient(at)[1]
        assert gradient @ step == pytest.approx((above[0] - below[0]) / 2e-5, rel=1e-6)
        product = of.hessian_product(of.scores(at), step)
        np.testing.assert_allclose(
            product, (above[1] - below[1]) / 2e-5, rtol=1e-5, atol=1e-5 * np.abs(product).max()
        )


@pytest.mark.parametrize("loss", LOSSES, ids=shown)
def test_scores_are_those_of_coefficients_and_intercepts(loss):
    of = problem(loss)
    parameters = np.random.default_rng(1).normal(size=of.n_parameters)
    coef, intercept = of.split(parameters)
    expected = of.items.design.scores(coef.T) + intercept
    scores = of.scores(parameters).reshape(-1, 4)
    if loss.is_translation_invariant:
        expected -= expected.mean(axis=1, keepdims=True)
        scores -= scores.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(scores, expected, atol=1e-12)
    np.testing.assert_allclose(of.split(of.parameters(coef, intercept))[1], intercept, atol=1e-12)


@pytest.mark.parametrize("loss", [losses.PointwiseSquared(), losses.PairwiseSquared()], ids=shown)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_preconditioner_solves_the_system_of_squared_losses(loss, fit_intercept):
    of = problem(loss, fit_intercept=fit_intercept, weighted=True)
    scores = of.scores(np.zeros(of.n_parameters))
    direction = np.random.default_rng(1).normal(size=(of.n_parameters // 4, 4))
    if loss.is_translation_invariant:
        direction -= direction.mean(axis=1, keepdims=True)
    product = of.hessian_product(scores, direction.ravel())
    coordinates = of.coordinates
    solution = of.preconditioner(scores)(coordinates.gradient(product))
    np.testing.assert_allclose(coordinates.parameters(solution), direction.ravel(), atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=shown)
def test_more_labels_than_rows_take_few_steps(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.uniform(0, 4, (30, 60))
    lists = LabelOrders(y, np.arange(60), "utilities").lists()
    items = LabelledRows(as_design(X), 60)
    of = label_problem(items, LossOnLists(loss, lists, 1), 0.1, shifted(loss, 60))
    found = solve_linear(of, tol=1e-8)
    assert found.certificate.converged
    assert found.certificate.n_iter <= 10
    assert found.certificate.relative_gap < 1e-10
