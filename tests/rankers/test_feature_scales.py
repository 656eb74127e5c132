"""Rankers of two classes on features in any units, against the problem in scaled coordinates."""

import warnings
from itertools import cycle

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from sklearn_rank import (
    AccuracyAtTopRanker,
    PNormPushRanker,
    RankStatisticRanker,
    TopPushRanker,
)
from sklearn_rank.exceptions import FeatureScaleWarning, ZeroSolutionWarning
from tests.naming import shown


def data():
    X, y = make_classification(
        120, 5, n_informative=4, n_redundant=0, weights=[0.6], class_sep=1.5, random_state=3
    )
    return X, y


def units(name):
    """Rows in other units, or with one row far away."""
    X, y = data()
    rng = np.random.default_rng(0)
    if name == "one row of 1e8":
        X[3] = 1e8
    elif name == "one entry of 1e8":
        X[3, 2] = 1e8
    elif name == "epoch seconds":
        X[:, 2] = 1.6e9 + 1e7 * rng.random(len(y))
    elif name == "far from 0":
        X[:, 2] += 1.6e9
    else:
        X = X * np.array(name)
    return X, y


UNITS = {
    "plain": (1.0,) * 5,
    "one of 1e4": (1e4, 1.0, 1.0, 1.0, 1.0),
    "one of 1e9": (1e9, 1.0, 1.0, 1.0, 1.0),
    "1e-9 to 1e9": (1e-9, 1e-4, 1.0, 1e4, 1e9),
    "one row of 1e8": "one row of 1e8",
    "one entry of 1e8": "one entry of 1e8",
    "epoch seconds": "epoch seconds",
    "far from 0": "far from 0",
}
every_unit = pytest.mark.parametrize("name", UNITS.values(), ids=UNITS)


def fitted(ranker, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeatureScaleWarning)
        return ranker.fit(X, y)


def least(X, risk):
    """Least value by standardised features, each of which has its part of the penalty."""
    scale = X.std(axis=0)
    w = cp.Variable(X.shape[1])
    scores = ((X - X.mean(axis=0)) / scale) @ w
    penalty = 0.5 * cp.sum_squares(cp.multiply(1.0 / scale, w))
    problem = cp.Problem(cp.Minimize(penalty + risk(scores)))
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def loss_of(name, u):
    if name == "squared_hinge":
        return cp.square(cp.pos(1 + u))
    return cp.pos(1 + u) if name == "hinge" else cp.logistic(u) / np.log(2)


@pytest.mark.parametrize(
    ("name", "loss"),
    list(zip(UNITS.values(), cycle(["squared_hinge", "hinge", "logistic"]))),
    ids=shown,
)
def test_top_push_in_any_units(name, loss):
    """500 steps to a gap of .93 with one feature times 1e4, and 0 as the solution."""
    X, y = units(name)
    ranker = fitted(TopPushRanker(10, loss=loss, C=20.0), X, y)
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)

    def risk(scores):
        top = cp.sum_largest(scores[negative], 10) / 10
        return 20.0 * cp.sum(loss_of(loss, top - scores[positive])) / len(positive)

    expected = least(X, risk)
    assert ranker.converged_
    assert ranker.dual_gap_ <= ranker.tol
    assert ranker.objective_ <= expected * (1 + 1e-5)
    if name != "one row of 1e8":  # the other solver then ends above the minimum
        assert ranker.objective_ == pytest.approx(expected, rel=1e-4)
    assert ranker.lower_bound_ <= expected * (1 + 1e-6)
    assert ranker.n_iter_ < 120


@every_unit
def test_p_norm_push_in_any_units(name):
    X, y = units(name)
    ranker = fitted(PNormPushRanker(p=4, C=5.0), X, y)

    def risk(scores):
        up, down = scores[np.flatnonzero(y == 1)], scores[np.flatnonzero(y == 0)]
        n_pos, n_neg = y.sum(), (y == 0).sum()
        pushed = (cp.log_sum_exp(4 * down) - np.log(n_neg)) / 4
        return 5.0 * (cp.log_sum_exp(-up) - np.log(n_pos) + pushed)

    assert ranker.converged_
    expected = least(X, risk)
    assert ranker.objective_ <= expected + 1e-5 * abs(expected)
    if name != "one row of 1e8":
        assert ranker.objective_ == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    "ranker",
    [
        TopPushRanker(10, C=20.0),
        PNormPushRanker(),
        PNormPushRanker(loss="logistic"),
        RankStatisticRanker(),
    ],
    ids=repr,
)
def test_a_number_added_to_a_feature_costs_no_digits(ranker):
    """PNormPushRanker and RankStatisticRanker failed: their matrices lost all digits."""
    X, y = data()
    Z = X.copy()
    Z[:, 2] += 2.0**30
    one, two = fitted(ranker, X, y).coef_.copy(), fitted(ranker, Z, y).coef_
    np.testing.assert_allclose(two, one, rtol=1e-3, atol=1e-3 * np.abs(one).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", [*UNITS.values()][1::2], ids=shown)
def test_what_is_not_certified_warns(name):
    (X, y), ranker = units(name), AccuracyAtTopRanker(0.1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker.fit(X, y)
    warned = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    assert warned == (not ranker.converged_)
    assert np.isfinite(ranker.coef_).all()


def test_a_rank_statistic_sees_features_in_small_units():
    """Directions of small variance were left out, so that one feature in large units was all."""
    X, y = data()
    plain = RankStatisticRanker("auc", n_folds=None).fit(X, y)
    for scale in ((1e9, 1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0, 1e7)):
        Z = X * np.array(scale)
        other = fitted(RankStatisticRanker("auc", n_folds=None), Z, y)
        assert other.value_ > other.start_value_
        assert other.value_ == pytest.approx(plain.value_, abs=0.01)


@pytest.mark.parametrize(
    ("ranker", "sparse"),
    [
        (TopPushRanker(10), False),
        (PNormPushRanker(), True),
        (RankStatisticRanker(), True),
        (AccuracyAtTopRanker(0.1), False),
    ],
    ids=repr,
)
def test_scales_that_differ_by_a_million_warn(ranker, sparse):
    X, y = data()
    Z = X * np.array([1e7, 1.0, 1.0, 1.0, 1.0])
    scaler = r"StandardScaler\(with_mean=False\)" if sparse else r"StandardScaler\(\)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.warns(FeatureScaleWarning, match=scaler):
            ranker.fit(sp.csr_array(Z) if sparse else Z, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FeatureScaleWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ZeroSolutionWarning)
        ranker.fit(X * 1e3, y)
        if "kernel" in ranker.get_params():
            type(ranker)(kernel="precomputed").fit(Z @ Z.T / 1e14, y)
