"""AccuracyAtTopRanker with kernels, and on pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

from sklearn_rank import AccuracyAtTopRanker
from tests.oracles import accuracy_at_top as oracle
from tests.rankers.rows import rows

CERTIFICATES = ("objective_", "objective_top_", "lower_bound_", "quantile_distance_")


def assert_alike(one, two, but=(), rtol=1e-8):
    for name in CERTIFICATES:
        if name not in but:
            value, other = getattr(one, name), getattr(two, name)
            assert value == pytest.approx(other, rel=rtol, abs=1e-7), name


def scores(ranker, X):
    """Scores without the threshold, which comes from folds where the score is by a kernel."""
    return ranker.decision_function(X) + ranker.threshold_


def test_a_linear_kernel_is_the_linear_ranker():
    X, y = rows()
    linear = AccuracyAtTopRanker(tau=0.1, C=0.1, tol=1e-10).fit(X, y)
    kernel = (
        clone(linear)
        .set_params(kernel="poly", kernel_params={"gamma": 1.0, "degree": 1, "coef0": 0})
        .fit(X, y)
    )
    assert_alike(kernel, linear)
    np.testing.assert_allclose(scores(kernel, X), scores(linear, X), atol=1e-7)
    assert not hasattr(kernel, "coef_")
    assert not hasattr(linear, "dual_coef_")
    assert kernel.dual_coef_.shape == (1, 3)
    np.testing.assert_array_equal(kernel.X_fit_, X[kernel.support_])


def test_the_kernel_problem_of_equation_4():
    X, y = rows(n=14)
    ranker = AccuracyAtTopRanker(tau=0.2, kernel="rbf", kernel_params={"gamma": 0.5}, tol=1e-9)
    ranker.set_params(class_weight=None).fit(X, y)
    K = rbf_kernel(X, gamma=0.5)
    sign = np.where(y == 1, 1.0, -1.0)
    values = [oracle.kernel_objective(K, sign, np.ones(14), k) for k in range(14)]
    np.testing.assert_allclose(ranker.candidate_objectives_, values, rtol=1e-6)
    assert ranker.lower_bound_ == pytest.approx(min(values), rel=1e-6)


def test_kernels_by_name_by_function_and_as_a_matrix_agree():
    X, y = rows(n=25)
    X_test, _ = rows(1)
    named = AccuracyAtTopRanker(
        tau=0.1, kernel="rbf", kernel_params={"gamma": 0.5}, tol=1e-10
    ).fit(X, y)

    def kernel(a, b, rate):
        return np.exp(-rate * np.sum((a - b) ** 2))

    function = clone(named).set_params(kernel=kernel, kernel_params={"rate": 0.5}).fit(X, y)
    matrix = clone(named).set_params(kernel="precomputed").fit(rbf_kernel(X, gamma=0.5), y)
    sparse = clone(named).fit(sp.csr_array(X), y)
    expected = scores(named, X_test)
    for ranker, test in (
        (function, X_test),
        (matrix, rbf_kernel(X_test, X, gamma=0.5)),
        (sparse, sp.csr_array(X_test)),
    ):
        assert_alike(ranker, named)
        np.testing.assert_allclose(scores(ranker, test), expected, atol=1e-5)
    assert not hasattr(matrix, "X_fit_")
    default = AccuracyAtTopRanker(tau=0.1, kernel="rbf").fit(X, y)
    assert_alike(default, clone(default).set_params(kernel_params={"gamma": 1 / 3}).fit(X, y))


@pytest.mark.parametrize(
    ("K", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "not positive semidefinite"),
        ([[0.0, 1.0], [1.0, 0.0]], "not positive semidefinite"),
        ([[1.0, 0.5], [0.1, 1.0]], "not symmetric"),
        ([[1.0, 0.5, 0.1], [0.5, 1.0, 0.1]], "square"),
    ],
)
def test_matrices_that_are_no_kernels_are_refused(K, message):
    with pytest.raises(ValueError, match=message):
        AccuracyAtTopRanker(tau=0.5, kernel="precomputed").fit(np.array(K), [0, 1])


def test_a_refit_with_another_kernel_keeps_nothing_of_the_first():
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=0.2, kernel="rbf").fit(X, y)
    ranker.set_params(kernel="linear").fit(X, y)
    assert not {"dual_coef_", "support_", "X_fit_"} & set(vars(ranker))
    ranker.set_params(kernel="poly").fit(X, y)
    assert "coef_" not in vars(ranker)


def test_a_precomputed_kernel_is_split_on_both_sides():
    X, y = rows(n=45)
    assert get_tags(AccuracyAtTopRanker(kernel="precomputed")).input_tags.pairwise
    assert not get_tags(AccuracyAtTopRanker(kernel="rbf")).input_tags.pairwise
    kernel = AccuracyAtTopRanker(tau=0.2, kernel="rbf", kernel_params={"gamma": 0.5}, tol=1e-9)
    expected = cross_val_score(kernel, X, y, cv=3, error_score="raise")
    kernel.set_params(kernel="precomputed")
    K = rbf_kernel(X, gamma=0.5)
    values = cross_val_score(kernel, K, y, cv=3, error_score="raise")
    np.testing.assert_allclose(values, expected, atol=1e-6)


def test_many_features_start_from_the_pivot_before_whatever_n_jobs():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(130, 4))
    y = (X[:, 0] + rng.normal(size=130) > 0.5).astype(int)
    one = AccuracyAtTopRanker(tau=0.1, kernel="rbf", kernel_params={"gamma": 1.0}, C=0.5).fit(X, y)
    assert len(one.support_) > 100
    two = clone(one).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    cold = clone(one).set_params(tol=1e-10).fit(X, y)
    np.testing.assert_allclose(one.candidate_objectives_, cold.candidate_objectives_, rtol=2e-6)
    w = one.dual_coef_[0]
    K = rbf_kernel(X, gamma=1.0)
    square = w @ K[np.ix_(one.support_, one.support_)] @ w
    scores = K[:, one.support_] @ w
    pivot = scores[one.pivot_index_]
    factor = np.where(y == 1, 130 / (2 * y.sum()), 130 / (2 * (1 - y).sum()))
    hinge = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (scores - pivot))
    assert square / 2 + 0.5 * factor @ hinge == pytest.approx(one.objective_, rel=1e-7)


def all_pairs(y):
    lower, upper = np.meshgrid(np.flatnonzero(y == 0), np.flatnonzero(y == 1), indexing="ij")
    return lower.ravel(), upper.ravel()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_all_pairs_are_the_two_classes(kernel, form):
    X, y = rows(n=20)
    lower, upper = all_pairs(y)
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.01, kernel=kernel, tol=1e-9)
    pairs = clone(ranker).fit_pairs(form(X[lower]), form(X[upper]))
    classes = ranker.set_params(class_weight="pairs", quantile="pairs").fit(X, y)
    assert_alike(pairs, classes)
    np.testing.assert_allclose(scores(pairs, X), scores(classes, X), atol=1e-6)
    assert pairs.classes_.tolist() == [0, 1]
    assert pairs.n_features_in_ == 3
    np.testing.assert_array_equal(pairs.predict(X), pairs.decision_function(X) > 0)
    assert len(pairs.candidate_indices_) == len(classes.candidate_indices_)


def test_a_point_on_both_sides_and_weights_of_pairs():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(12, 2))
    lower, upper = rng.integers(0, 12, 30), rng.integers(0, 12, 30)
    weight = rng.integers(0, 4, 30)
    ranker = AccuracyAtTopRanker(tau=0.2, C=0.1, tol=1e-9)
    one = clone(ranker).fit_pairs(X[lower], X[upper], pair_weight=weight)
    again = np.repeat(np.arange(30), weight)
    two = clone(ranker).fit_pairs(X[lower[again]], X[upper[again]])
    assert_alike(one, two)
    # From the definition: every member of every pair counts, and the quantile is over them all.
    Z = np.concatenate((X[lower[again]], X[upper[again]]))
    sign = np.repeat([-1.0, 1.0], len(again))
    scores = Z @ two.coef_[0]
    top = max(1, int(0.2 * len(Z) + 0.5))
    quantile = np.sort(scores)[::-1][top - 1]
    assert two.quantile_ == pytest.approx(quantile)
    hinge = np.maximum(0, 1 - sign * (scores - quantile)).sum()
    assert two.objective_top_ == pytest.approx(0.5 * two.coef_[0] @ two.coef_[0] + 0.1 * hinge)


def test_pairs_that_do_not_fit_are_refused():
    X, _ = rows(n=6)
    ranker = AccuracyAtTopRanker(tau=0.3)
    with pytest.raises(ValueError, match="6 rows and X_upper 5"):
        ranker.fit_pairs(X, X[:5])
    with pytest.raises(ValueError, match="2 features"):
        ranker.fit_pairs(X, X[:, :2])
    with pytest.raises(ValueError, match="does not take kernel='precomputed'"):
        AccuracyAtTopRanker(kernel="precomputed").fit_pairs(X @ X.T, X @ X.T)
    with pytest.raises(ValueError, match=r"^pair_weight is -1 at row 0: it must be finite"):
        ranker.fit_pairs(X, X[::-1], pair_weight=[-1, 1, 1, 1, 1, 1])
    assert not hasattr(ranker, "classes_")


def test_poly_kernels_beyond_one_matrix(monkeypatch):
    from sklearn_rank.rankers import _two_classes as _kernel_map

    X, y = rows()
    expected = {
        kernel: AccuracyAtTopRanker(tau=0.2, kernel=kernel).fit(X, y).objective_
        for kernel in ("rbf", "poly")
    }
    monkeypatch.setattr(_kernel_map, "LARGEST_COPY", 200)
    for kernel, value in expected.items():
        for form in (X, sp.csr_array(X)):
            ranker = AccuracyAtTopRanker(tau=0.2, kernel=kernel).fit(form, y)
            assert ranker.objective_ == pytest.approx(value, rel=1e-5)
    assert polynomial_kernel(X).shape == (40, 40)
