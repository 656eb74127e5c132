"""Linear fits to features in any units: the minimum of the same problem, and what is told."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_rank import (
    OrderPreservingLabelRanker,
    OrderPreservingRanker,
)
from sklearn_rank.calibration import utility
from sklearn_rank.exceptions import FeatureScaleWarning
from sklearn_rank.losses import ComparisonHinge, ComparisonSquaredHinge, get_loss_names
from sklearn_rank.metrics import roc_auc_score

from ..oracles.ridge import Objective, in_units

EPOCH = 1.7e9


def data(seed=0, n_lists=15, length=8):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_lists * length, 3))
    y = rng.binomial(3, 1 / (1 + np.exp(-Z[:, 0] - Z[:, 1] - 0.7 * Z[:, 2])))
    return Z, y, np.repeat(np.arange(n_lists), length)


def cases():
    """Rows, and the origin and the units in which their features are about 1; by name."""
    Z = data()[0]
    none, ones = np.zeros(3), np.ones(3)
    made = {}
    for name, origin, units in [
        ("units of 1", none, ones),
        ("1e9", none, [1, 1, 1e9]),
        ("1e-9", none, [1, 1e-9, 1]),
        ("both", none, [1e-9, 1, 1e9]),
        ("all 1e-9", none, [1e-9, 1e-9, 1e-9]),
        ("epoch", [0, 0, EPOCH], [1, 1, 3e6]),
        ("close epochs", [0, 0, EPOCH], [1, 1, 1e3]),
        ("centuries", [0, 0, EPOCH], [1, 1, 1e9]),
    ]:
        made[name] = Z * units + origin, origin, units
    X = Z.copy()
    X[5, 2] = 1e8
    made["a row of 1e8"] = X, none, [1, 1, 1e7]
    made["constant"] = np.column_stack((Z, np.full(len(Z), 5.0))), [0, 0, 0, 5], np.ones(4)
    made["twice"] = np.column_stack((Z, 1e6 * Z[:, 0])), np.zeros(4), [1, 1, 1, 1e6]
    made["float32"] = (Z * [1e6, 1, 1]).astype(np.float32), none, [1e6, 1, 1]
    return made


CASES = cases()
# The hinge has no derivative at its kinks, and a solver of its own.
LOSSES = [name for name in get_loss_names() if name != "comparison_hinge"]
LINEAR = pytest.mark.filterwarnings(
    "ignore::sklearn_rank.exceptions.FeatureScaleWarning",
    "ignore::sklearn_rank.exceptions.CalibrationWarning",
)


def label_ranker(loss="pairwise_logistic", **settings):
    """A ranker of rows of utilities."""
    return OrderPreservingLabelRanker(
        loss, measure="dcg", target_type="utilities", max_iter=500, **settings
    )


def left_of(ranker, loss, case, alpha):
    """Share of the decrease of the objective that a fit has left, by the oracle."""
    X, origin, units = CASES[case]
    intercept = bool(getattr(ranker, "intercept_", 0.0))
    units = np.asarray(units, dtype=float)
    of = Objective(in_units(X, origin, units), loss, alpha / units**2, intercept=intercept)
    u = ranker.coef_ * units
    if intercept:
        moved = np.asarray(origin, dtype=np.longdouble) @ ranker.coef_.astype(np.longdouble)
        u = np.append(u, float(ranker.intercept_ + moved))
    return of.left(u)


@LINEAR
@pytest.mark.parametrize(
    ("loss", "solver", "alpha", "case"),
    [
        (loss, *(("auto", 1e-3) if (i + j) % 2 else ("lbfgs", "scale")), case)
        for i, loss in enumerate(LOSSES)
        for j, case in enumerate(CASES)
        # Every loss with every fifth case.
        if (i + j) % 5 == 0
    ],
)
def test_a_fit_that_has_converged_is_the_minimum_in_any_units(loss, case, alpha, solver):
    _, y, qid = data()
    X = CASES[case][0]
    ranker = OrderPreservingRanker(loss, alpha=alpha, solver=solver, measure="dcg", max_iter=500)
    ranker.fit(X, y, qid=qid)
    assert ranker.converged_
    assert ranker.gradient_norm_ <= 1e-6
    gains = 2.0**y - 1
    weights = np.full(15, 1 / 15)
    on = ranker.loss_.on(gains, np.arange(0, 121, 8), query_weight=weights)
    # What rounding of the rows adds is no fault of the fit.
    assert left_of(ranker, on, case, ranker.alpha_) <= 1e-9


@LINEAR
@pytest.mark.parametrize(
    ("case", "alpha", "sparse"),
    [
        ("both", 1.0, False),
        ("epoch", 1e2, True),
        ("a row of 1e8", 1e2, True),
        ("constant", 1.0, False),
        ("float32", 1e2, False),
    ],
)
def test_hinges_of_pairs_are_certified_in_any_units(case, alpha, sparse):
    _, y, qid = data()
    X, origin, units = CASES[case]
    if sparse and X.dtype == np.float64:
        X = sp.csr_array(X)
    weights = np.full(15, 1 / 15)
    settings = {"offsets": np.arange(0, 121, 8), "query_weight": weights}
    squared = OrderPreservingRanker("comparison_squared_hinge", alpha=alpha).fit(X, y, qid=qid)
    assert squared.converged_
    assert left_of(squared, ComparisonSquaredHinge().on(y, **settings), case, alpha) <= 1e-9
    hinge = OrderPreservingRanker("comparison_hinge", alpha=alpha, tol=1e-4).fit(X, y, qid=qid)
    assert hinge.converged_
    assert 0 <= hinge.objective_ - hinge.lower_bound_ <= 1e-4 * hinge.objective_
    # The bound holds at any coefficients, such as those of the other loss.
    units = np.asarray(units, dtype=float)
    of = Objective(
        in_units(CASES[case][0], origin, units),
        ComparisonHinge().on(y, **settings),
        alpha / units**2,
        intercept=False,
    )
    for coef in (hinge.coef_, squared.coef_, 0 * hinge.coef_):
        assert of.value(coef * units) >= hinge.lower_bound_ * (1 - 1e-9)


@LINEAR
@pytest.mark.parametrize(
    ("loss", "fit_intercept", "case"),
    [
        ("pointwise_logistic", True, "both"),
        ("pointwise_logistic", True, "constant"),
        ("pairwise_logistic", False, "twice"),
    ],
)
def test_label_rankers_are_the_minimum_in_any_units(loss, case, fit_intercept):
    X, origin, units = CASES[case]
    utilities = data()[0] @ np.array([[1, 0, -1, 0.5], [0, 1, 1, -1], [1, 1, 0, 0]])
    y = np.argsort(np.argsort(utilities, axis=1), axis=1)
    ranker = label_ranker(loss, alpha=1e-2, fit_intercept=fit_intercept).fit(X, y)
    assert ranker.converged_
    # A problem in which the coefficients of all labels are those of one long row.
    units = np.asarray(units, dtype=float)
    Z = in_units(X, origin, units) if fit_intercept else in_units(X, 0 * units, units)
    rows = np.column_stack((Z, np.ones(len(Z)))) if fit_intercept else Z
    long = np.kron(rows, np.eye(4))
    penalty = np.repeat(np.append(1e-2 / units**2, [0.0] * fit_intercept), 4)
    weights = np.full(120, 1 / 120)
    on = ranker.loss_.on((2.0**y - 1).ravel(), np.arange(0, 481, 4), query_weight=weights)
    of = Objective(long, on, penalty, intercept=False)
    u = (ranker.coef_ * units).T
    if fit_intercept:
        moved = ranker.coef_.astype(np.longdouble) @ np.asarray(origin, dtype=np.longdouble)
        last = np.asarray(ranker.intercept_ + moved, dtype=float)
        u = np.vstack((u, last - last.mean() * (loss != "pointwise_logistic")))
    assert of.left(u.ravel()) <= 1e-9


@pytest.mark.parametrize("loss", ["pairwise_logistic", "pointwise_logistic"])
def test_a_default_penalty_moves_with_the_units(loss):
    Z, y, qid = data()
    orders = np.argsort(np.argsort(Z @ np.array([[1, 0, -1], [0, 1, 1], [1, 1, 0]]), 1), 1)
    one = OrderPreservingRanker(loss).fit(Z, y, qid=qid)
    labels = label_ranker(loss).fit(Z, orders)
    for unit in (1e-12, 1e9):
        other = OrderPreservingRanker(loss).fit(unit * Z, y, qid=qid)
        np.testing.assert_allclose(unit * other.coef_, one.coef_, rtol=1e-5)
        assert other.alpha_ == pytest.approx(unit**2 * one.alpha_)
        same = label_ranker(loss).fit(unit * Z, orders)
        np.testing.assert_allclose(unit * same.coef_, labels.coef_, rtol=1e-4, atol=1e-6)


@LINEAR
def test_one_feature_in_large_units_does_not_set_the_penalty_of_all():
    Z = data()[0]
    orders = np.argsort(np.argsort(Z @ np.array([[1, 0, -1], [0, 1, 1], [1, 1, 0]]), 1), 1)
    of_labels = [label_ranker().fit(X, orders) for X in (Z, Z * [1, 1, 1e9])]
    assert of_labels[1].alpha_ <= 10 * of_labels[0].alpha_


@pytest.mark.parametrize("kind", ["rows", "sparse"])
def test_a_default_fit_does_not_depend_on_the_units(kind):
    Z, y, qid = data()
    units = np.array([1e-9, 1.0, 1e9])
    coefs = []
    for X in (Z, Z * units):
        ranker = OrderPreservingRanker(tol=1e-9)
        if kind == "sparse":
            X = sp.csr_array(X)
        coefs.append(ranker.fit(X, y, qid=qid).coef_)
    np.testing.assert_allclose(coefs[1] * units, coefs[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("case", "told", "kinds"),
    [
        ("all 1e-9", False, ("sparse",)),
        ("constant", False, ("hinge",)),
        ("close epochs", False, ("labels", "float32")),
        ("twice", True, ("sparse",)),
        ("epoch", True, ("labels",)),
        ("a row of 1e8", True, ("hinge", "float32")),
    ],
)
def test_scales_that_differ_by_a_million_are_told(case, told, kinds):
    for kind in kinds:
        Z, y, qid = data()
        X = CASES[case][0]
        # About the mean, and in the mean over the queries.
        if case == "a row of 1e8":
            X = X * [1, 1, 10]
        if kind == "sparse":
            X = sp.csr_array(X)
        if kind == "float32" and case != "close epochs":
            X = X.astype(np.float32)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if kind == "labels":
                orders = np.argsort(Z @ np.array([[1, 0, -1], [0, 1, 1], [1, 1, 0]]), axis=1)
                label_ranker().fit(X, orders)
            else:
                loss = "comparison_hinge" if kind == "hinge" else "softmax"
                ranker = OrderPreservingRanker(loss, alpha=1.0)
                ranker.fit(X, y, qid=qid)
        texts = [str(one.message) for one in caught if one.category is FeatureScaleWarning]
        assert len(texts) == told
        if told:
            scaler = "StandardScaler(with_mean=False)" if kind == "sparse" else "StandardScaler()"
            assert f"make_pipeline({scaler}, " in texts[0]
            scaled = kind not in ("labels", "sparse")
            assert ('normalize="zscore"' in texts[0]) == scaled
            assert ('alpha="scale"' in texts[0]) == (kind != "labels")
        assert not any(one.category is ConvergenceWarning for one in caught)


@pytest.mark.parametrize("loss", ["softmax", "pointwise_logistic"])
def test_the_bound_is_that_of_the_gradient_and_a_penalty_of_each_coefficient(loss):
    Z, y, qid = data()
    X = Z * [1e-3, 1.0, 1e3]
    ranker = OrderPreservingRanker(loss, measure="dcg", eta=7.0, max_iter=1, fit_intercept=False)
    with pytest.warns(ConvergenceWarning):
        ranker.fit(X, y, qid=qid)
    on = ranker.loss_.on(2.0**y - 1, np.arange(0, 121, 8), query_weight=np.full(15, 1 / 15))
    values, by_score = on.value_and_gradient(X @ ranker.coef_)
    penalty = ranker.alpha_ * ranker.coef_
    objective = values.sum() + penalty @ ranker.coef_ / 2
    gradient = X.T @ by_score + penalty
    assert ranker.objective_ == pytest.approx(objective)
    bound = objective - np.sum(gradient**2 / (2 * ranker.alpha_))
    assert ranker.lower_bound_ == pytest.approx(bound, abs=1e-12)
    best = clone(ranker).set_params(max_iter=200).fit(X, y, qid=qid)
    assert ranker.lower_bound_ < best.lower_bound_ <= best.objective_ < ranker.objective_


@LINEAR
@pytest.mark.parametrize("settings", [{}, {"loss": "comparison_hinge", "alpha": 1.0}])
def test_rows_in_chunks_are_the_minimum_in_any_units(settings):
    da = pytest.importorskip("dask.array")
    _, y, qid = data()
    X = CASES["both"][0] + [0, 0, EPOCH]
    expected = OrderPreservingRanker(**settings).fit(X, y, qid=qid)
    rows, labels, ids = (
        da.from_array(column, chunks=((48, 72), *column.shape[1:])) for column in (X, y, qid)
    )
    found = OrderPreservingRanker(**settings).fit(rows, labels, qid=ids)
    assert found.converged_
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=2e-3)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)


@LINEAR
def test_without_a_penalty_the_second_derivatives_certify():
    _, y, qid = data()
    for case in ("1e9", "both", "epoch"):
        ranker = OrderPreservingRanker("pairwise_squared", alpha=0).fit(CASES[case][0], y, qid=qid)
        assert ranker.converged_
        assert np.isnan(ranker.lower_bound_)
        on = ranker.loss_.on(
            utility("ndcg", y, qid=qid),
            np.arange(0, 121, 8),
            query_weight=np.full(15, 1 / 15),
        )
        assert left_of(ranker, on, case, 0.0) <= 1e-9


@pytest.mark.parametrize("n_features", [2, 3])
def test_half_of_the_columns_in_large_units_do_not_set_the_penalty(n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, n_features))
    y = (X[:, 0] + rng.normal(size=400) > 1).astype(int)
    raw = X.copy()
    raw[:, -(n_features // 2) :] *= 100
    ranker = OrderPreservingRanker(measure="auc", single_list=True)
    scaled = roc_auc_score(y, ranker.fit(X, y).decision_function(X))
    assert roc_auc_score(y, ranker.fit(raw, y).decision_function(raw)) > scaled - 0.01
