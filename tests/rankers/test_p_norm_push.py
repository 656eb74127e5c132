"""PNormPushRanker: what it minimises, what it refuses, and what grows with p."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification

from sklearn_rank import PNormPushRanker
from tests.naming import for_each
from tests.oracles import p_norm_push as oracle

LOSSES = pytest.mark.parametrize("loss", ["exponential", "logistic"])


def data(n=80, seed=0):
    return make_classification(
        n, n_features=5, n_informative=3, weights=[0.7], class_sep=0.7, random_state=seed
    )


@LOSSES
@pytest.mark.parametrize("p", [1, 2.5])
def test_it_minimises_the_penalised_push(loss, p):
    X, y = data()
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    ranker = PNormPushRanker(p, loss=loss, C=3.0).fit(X, y, weight)
    taken = weight > 0
    told = X[taken], y[taken] == 1, weight[taken], p, 3.0, loss
    value = oracle.objective(ranker.coef_[0], *told)
    assert ranker.objective_ == pytest.approx(value, rel=1e-10)
    assert ranker.converged_
    assert ranker.dual_gap_ <= ranker.tol
    _, least = oracle.by_cvxpy(*told)
    assert ranker.lower_bound_ <= least + 1e-7 * abs(least)
    assert ranker.objective_ <= least + 2e-6 * abs(least)
    np.testing.assert_allclose(
        ranker.decision_function(X), X @ ranker.coef_[0] - ranker.threshold_
    )


@LOSSES
def test_a_linear_kernel_by_values_and_sparse_rows_are_the_same_fit(loss):
    X, y = data()
    X[np.abs(X) < 0.5] = 0.0
    linear = PNormPushRanker(loss=loss, tol=1e-10).fit(X, y)
    by_values = PNormPushRanker(loss=loss, kernel="precomputed", tol=1e-10).fit(X @ X.T, y)
    np.testing.assert_allclose(
        by_values.decision_function(X @ X.T) + by_values.threshold_,
        linear.decision_function(X) + linear.threshold_,
        atol=1e-6,
    )
    assert by_values.objective_ == pytest.approx(linear.objective_)
    sparse = PNormPushRanker(loss=loss, tol=1e-10).fit(sp.csc_array(X), y)
    np.testing.assert_allclose(sparse.coef_, linear.coef_, atol=1e-8)


def test_an_infinite_p_is_refused_with_the_ranker_that_has_it():
    with pytest.raises(ValueError, match=r"p=inf .* use TopPushRanker\(tau=1\)"):
        PNormPushRanker(np.inf).fit(*data())


@for_each("wrong", [{"p": 0.5}, {"p": "4"}, {"p": np.nan}, {"loss": "hinge"}, {"C": 0.0}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}'|p=nan"):
        PNormPushRanker(**wrong).fit(*data())
