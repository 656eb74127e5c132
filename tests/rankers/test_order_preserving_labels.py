"""The linear ranker of labels: its problem, certificate and probabilities."""

from itertools import cycle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_rank import OrderPreservingLabelRanker
from sklearn_rank.exceptions import CalibrationWarning, UnlinkedLabelWarning
from sklearn_rank.losses import PairwiseConvex, PointwiseLogistic, get_loss_names
from tests.oracles import label_orders, losses

ORACLES = {
    "pairwise_logistic": losses.pairwise(losses.softplus_of_minus),
    "pairwise_squared": losses.pairwise_squared(),
    "pointwise_logistic": losses.pointwise_logistic(1.0),
    "pointwise_squared": losses.pointwise_squared(),
    "pointwise_squared_hinge": losses.pointwise_squared_hinge(1.0, 1.0),
    "softmax": losses.softmax,
}

SMOOTH = get_loss_names(order_preserving=True)


def data(n=60, n_labels=4, missing=0.0, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 2.0
    y = X @ rng.normal(size=(3, n_labels)) + rng.normal(size=(n, n_labels))
    if ties:
        y = np.round(y)
    gaps = rng.random(y.shape) < missing
    gaps[np.arange(n), rng.integers(n_labels, size=n)] = False
    return X, np.where(gaps, np.nan, y)


def ranker(loss="pointwise_logistic", **parameters):
    return OrderPreservingLabelRanker(loss, **{"target_type": "utilities", **parameters})


def shares(y):
    """Borda shares as the oracle has them, with None for missing labels; rows with an order."""
    rows, found = [], []
    for at, row in enumerate(y.tolist()):
        known = [k for k, one in enumerate(row) if one == one]
        if len({row[k] for k in known}) < 2:
            continue
        values = label_orders.borda_shares(row)
        full = [None] * len(row)
        for k, value in zip(known, values, strict=True):
            full[k] = value
        rows.append(at)
        found.append(full)
    return rows, found


# ---------------------------------------------------------------------------------- the problem


@pytest.mark.parametrize(
    ("loss", "missing"), [(loss, 0.4 * (i % 2)) for i, loss in enumerate(ORACLES)]
)
def test_the_solution_minimises_the_objective_of_the_definition(loss, missing):
    X, y = data(n=15, n_labels=3, missing=missing, ties=True)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    fitted = ranker(loss, alpha=0.05, tol=1e-9).fit(X, y, sample_weight=weight)
    rows, utilities = shares(y)
    assert fitted.n_rows_ == len(rows)

    def objective(parameters):
        coef = parameters.reshape(3, 4)
        return label_orders.objective(
            ORACLES[loss], utilities, weight[rows], 0.05, X[rows], coef[:, :3], coef[:, 3]
        )

    found = np.column_stack((fitted.coef_, fitted.intercept_)).ravel()
    assert fitted.objective_ == pytest.approx(objective(found), rel=1e-10)
    best = minimize(objective, found + 0.01, method="BFGS", options={"gtol": 1e-7})
    assert best.fun == pytest.approx(fitted.objective_, rel=1e-7)
    assert fitted.lower_bound_ <= best.fun * (1 + 1e-12)


@pytest.mark.parametrize(("loss", "fit_intercept"), list(zip(SMOOTH, cycle([True, False]))))
def test_certificate(loss, fit_intercept):
    missing = 0.0 if fit_intercept else 0.4
    X, y = data(missing=missing)
    best = ranker(loss, tol=1e-11, fit_intercept=fit_intercept).fit(X, y)
    assert best.converged_
    assert best.objective_ - best.lower_bound_ <= 1e-11 * best.objective_
    for tol in (0.3, 1e-2, 1e-4):
        rough = ranker(loss, tol=tol, fit_intercept=fit_intercept).fit(X, y)
        assert (
            rough.lower_bound_ <= best.objective_ * (1 + 1e-12) <= rough.objective_ * (1 + 2e-12)
        )
        assert rough.gradient_norm_ <= tol
    assert np.isnan(ranker(loss, alpha=0.0, tol=1e-4).fit(X, y).lower_bound_)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_losses_of_differences_have_sums_of_zero(missing):
    for loss in ("pairwise_logistic", "softmax", "pairwise_squared"):
        X, y = data(missing=missing)
        fitted = ranker(loss).fit(X, y)
        np.testing.assert_allclose(fitted.coef_.sum(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(fitted.intercept_.sum(), 0, atol=1e-12)


@pytest.mark.parametrize("loss", ["pairwise_logistic", "pointwise_logistic"])
def test_labels_that_no_row_joins(loss):
    X, y = data(n=40)
    y[:20, 2:] = np.nan
    y[20:, :2] = np.nan
    with pytest.warns(UnlinkedLabelWarning, match="0 and 2"):
        fitted = ranker(loss).fit(X, y)
    if loss == "pairwise_logistic":
        np.testing.assert_allclose(fitted.intercept_[:2].sum(), 0, atol=1e-12)
        np.testing.assert_allclose(fitted.intercept_[2:].sum(), 0, atol=1e-12)
    y[:, 3] = np.nan
    y[:20, 2] = y[:20, 0] - 1
    with pytest.warns(UnlinkedLabelWarning, match="0 and 3"):
        fitted = ranker(loss).fit(X, y)
    np.testing.assert_array_equal(fitted.coef_[3], 0)
    assert fitted.intercept_[3] == 0


def test_squared_losses_are_ridge_regressions_of_the_shares_in_one_step():
    X, y = data(n=50)
    found = ranker("pointwise_squared", alpha=0.3).fit(X, y)
    ridge = Ridge(alpha=0.3 * len(X) / 2, tol=1e-12).fit(X, np.array(shares(y)[1], dtype=float))
    np.testing.assert_allclose(found.coef_, ridge.coef_, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, ridge.intercept_, atol=1e-10)
    assert found.n_iter_ == 1
    assert ranker("pairwise_squared").fit(X, y).n_iter_ == 1


def test_warm_start_begins_at_the_solution():
    X, y = data()
    for loss in ("pointwise_logistic", "pairwise_logistic"):
        fitted = ranker(loss, warm_start=True).fit(X, y)
        assert fitted.fit(X, y).n_iter_ == 0
        assert fitted.fit(X[:, :2], y).converged_
        assert fitted.fit(X[:, :2], y[:, :3]).converged_


# -------------------------------------------------------------------- measures, losses and limits


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.CalibrationWarning")
@pytest.mark.parametrize("loss", get_loss_names(order_preserving=False))
def test_losses_that_are_not_order_preserving_warn(loss):
    X, y = data()
    # The certificate of a hinge, which has kinks, is good for a strong penalty alone.
    settings = {"tol": 0.1, "alpha": "100*scale"}
    with pytest.warns(CalibrationWarning, match="not order-preserving"):
        fitted = ranker(loss, **settings).fit(X, y)
    assert fitted.score(X, y) > 0.3


def test_measures():
    X, y = data()
    top = (y == y.max(axis=1, keepdims=True)).astype(float)
    for measure in ("precision@1", "recall@2", "auc", "ndcg", "spearman", "rbp@0.5"):
        assert OrderPreservingLabelRanker(measure=measure).fit(X, top).score(X, top) > -1
    for measure in ("ap", "err"):
        with pytest.warns(CalibrationWarning, match="No order-preserving loss"):
            OrderPreservingLabelRanker(measure=measure).fit(X, top)
    with pytest.warns(CalibrationWarning, match="defines no utilities of labels"):
        OrderPreservingLabelRanker(measure="rr").fit(X, top)
    with pytest.raises(ValueError, match="y is -2 in row 3 for label 1, but ndcg needs"):
        ranker(measure="ndcg").fit(X, np.where(np.arange(240).reshape(60, 4) == 13, -2.0, top))
    with pytest.raises(ValueError, match="needs two classes"):
        ranker(measure="precision@1").fit(X, y)


def test_limits_of_utilities():
    X, y = data()
    gains = np.round(np.clip(y, 0, 3))
    assert ranker(measure="dcg", eta=9.0).fit(X, gains).loss_.eta == 9.0
    assert ranker(measure="dcg").fit(X, gains).loss_.eta == 7.0
    assert ranker().fit(X, y).loss_.eta == 1.0
    row = int(np.argmax(gains.max(axis=1) == 3))
    with pytest.raises(ValueError, match=rf"of row {row} has the utility 7, .*raise eta"):
        ranker(measure="dcg", eta=5.0).fit(X, gains)
    with pytest.raises(ValueError, match="leave eta out"):
        ranker(PointwiseLogistic(), eta=2.0).fit(X, y)


def test_losses_of_ones_own():
    X, y = data()
    own = PairwiseConvex(lambda d: np.exp(-d), lambda d: -np.exp(-d), lambda d: np.exp(-d))
    named = ranker("pairwise_exponential", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(
        ranker(own, tol=1e-9).fit(X, y).predict(X), named.predict(X), atol=1e-7
    )
    rough = PairwiseConvex(lambda d: np.exp(-d), lambda d: -np.exp(-d))
    fitted = ranker(rough, max_iter=2000).fit(X, y)
    np.testing.assert_allclose(fitted.predict(X), named.predict(X), atol=1e-4)
    assert np.isnan(fitted.lower_bound_)


@pytest.mark.parametrize("n_labels", [3, 9])
@pytest.mark.parametrize("loss", ["pointwise_logistic", "pairwise_logistic", "pointwise_squared"])
def test_scale_of_alpha_is_relative_to_curvature_and_variance(loss, n_labels):
    X, y = data(n_labels=n_labels)
    alpha = ranker(loss).fit(X, y).alpha_
    assert ranker(loss).fit(10 * X, y).alpha_ == pytest.approx(100 * alpha)
    assert ranker(loss, alpha="10*scale").fit(X, y).alpha_ == pytest.approx(10 * alpha)
    twice = ranker(loss).fit(np.vstack((X, X)), np.vstack((y, y)))
    assert twice.alpha_ == pytest.approx(alpha)
    if loss == "pointwise_squared":
        assert alpha == pytest.approx(0.01 * 2 * X.var(axis=0).mean())
    with pytest.raises(ValueError, match="must be a number"):
        ranker(loss, alpha="much").fit(X, y)


# ---------------------------------------------------------------------------------- probabilities


def test_softmax_of_classes_is_multinomial_logistic_regression():
    X, y = data(n=200)
    classes = np.argmax(y, axis=1)
    fitted = OrderPreservingLabelRanker("softmax", measure="precision@1", alpha=0.02, tol=1e-10)
    fitted.fit(X, classes)
    other = LogisticRegression(C=1 / (0.02 * len(X)), tol=1e-10, max_iter=10000).fit(X, classes)
    np.testing.assert_allclose(fitted.predict_proba(X), other.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(fitted.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1)


def test_logistic_loss_of_an_indicator_is_one_regression_for_each_label():
    X, y = data(n=200)
    indicator = (y > 0.5).astype(float)
    fitted = OrderPreservingLabelRanker(measure="precision@1", alpha=0.02, tol=1e-10)
    fitted.fit(X, indicator)
    rows = np.ptp(indicator, axis=1) >= 0
    for label in range(4):
        other = LogisticRegression(C=1 / (0.02 * rows.sum()), tol=1e-10, max_iter=10000)
        other.fit(X, indicator[:, label])
        np.testing.assert_allclose(
            fitted.predict_proba(X)[:, label], other.predict_proba(X)[:, 1], atol=1e-5
        )


def test_scores_that_are_no_probabilities():
    X, y = data()
    top = (y == y.max(axis=1, keepdims=True)).astype(float)
    for unfit in (OrderPreservingLabelRanker(), OrderPreservingLabelRanker("softmax")):
        assert not hasattr(unfit, "predict_proba")
    for fitted in (
        OrderPreservingLabelRanker("pairwise_logistic").fit(X, top),
        OrderPreservingLabelRanker("softmax").fit(X, top),
        ranker(eta=2.0, measure="precision@1").fit(X, top),
        ranker(measure="dcg").fit(X, 2 * top),
    ):
        assert not hasattr(fitted, "predict_proba")
    with pytest.raises(AttributeError, match="whose scores are not probabilities"):
        OrderPreservingLabelRanker("pairwise_logistic").fit(X, top).predict_proba(X)
    with pytest.raises(AttributeError, match="tau_b gives other utilities for these labels"):
        OrderPreservingLabelRanker("softmax").fit(X, top).predict_proba(X)
