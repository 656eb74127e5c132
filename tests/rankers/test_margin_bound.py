"""The margin bound of a fitted ranker: numbers from definitions, kernels, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import binom
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.bounds import accuracy_at_top_margin_bound


def data(n=60, seed=0, classes=(0, 1)):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3 == 0)
    X = rng.normal(size=(n, 2)) + np.outer(y, [1.5, 0.5])
    X /= np.maximum(np.linalg.norm(X, axis=1) / 3, 1)[:, None]
    return X, np.array(classes)[y.astype(int)]


@pytest.mark.parametrize("classes", [(0, 1), ("bad", "good"), ("ok", "fraud")])
def test_linear(classes):
    for rho in (None, 0.3):
        X, y = data(classes=classes)
        ranker = AccuracyAtTopRanker(tau=0.2, C=0.1, pos_label=classes[1]).fit(X, y)
        found = ranker.margin_bound(X, y, radius=3.0, rho=rho, delta=0.1)
        direction = 1 if classes[1] == ranker.classes_[1] else -1
        w, t = direction * ranker.coef_[0], direction * ranker.threshold_
        score = X @ w
        expected = accuracy_at_top_margin_bound(
            t - score[y == classes[0]],
            score[y == classes[1]] - t,
            0.1,
            radius=3.0,
            norm=np.linalg.norm(w),
            rho=rho,
        )
        assert found.value == pytest.approx(expected.value)
        assert found.target == "R(h, t)"
        assert found.delta == 0.1
        assert "Boyd et al. (2012), Theorem 1" in found.theorem
        sparse = ranker.margin_bound(sp.csr_array(X), y, radius=3.0, rho=rho, delta=0.1)
        assert sparse.value == pytest.approx(found.value)


def dot(a, b):
    return float(a @ b)


@pytest.mark.parametrize("kernel", ["rbf", "poly", dot])
def test_kernels(kernel):
    X, y = data(30)
    params = {"rbf": {"gamma": 0.5}, "poly": {"gamma": 0.5, "degree": 2}, dot: None}[kernel]
    ranker = AccuracyAtTopRanker(tau=0.2, C=0.1, kernel=kernel, kernel_params=params).fit(X, y)
    radius = {"rbf": 1.0, "poly": (0.5 * 9 + 1), dot: 3.0}[kernel]
    found = ranker.margin_bound(X, y, radius=radius, rho=0.5)
    values = {
        "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.5),
        "poly": lambda A, B: (0.5 * A @ B.T + 1) ** 2,
        dot: lambda A, B: A @ B.T,
    }[kernel](ranker.X_fit_, ranker.X_fit_)
    norm = np.sqrt(ranker.dual_coef_[0] @ values @ ranker.dual_coef_[0])
    margins = ranker.decision_function(X)
    expected = accuracy_at_top_margin_bound(
        -margins[y == 0], margins[y == 1], 0.05, radius=radius, norm=norm, rho=0.5
    )
    assert found.value == pytest.approx(expected.value)


def test_linear_kernel_and_precomputed_are_the_linear_ranker():
    X, y = data(30)
    linear = AccuracyAtTopRanker(tau=0.2, C=0.1).fit(X, y)
    matrix = X @ X.T
    kernel = AccuracyAtTopRanker(tau=0.2, C=0.1, kernel="precomputed").fit(matrix, y)
    kernel.threshold_ = linear.threshold_  # by a kernel it comes from folds
    one = linear.margin_bound(X, y, radius=3.0).value
    assert kernel.margin_bound(matrix, y, radius=3.0).value == pytest.approx(one, rel=1e-3)
    with pytest.raises(ValueError, match="not the kernel matrix of the training rows"):
        kernel.margin_bound(matrix[:5], y[:5], radius=3.0)


def test_refused():
    X, y = data()
    with pytest.raises(NotFittedError):
        AccuracyAtTopRanker().margin_bound(X, y, radius=3.0)
    ranker = AccuracyAtTopRanker(tau=0.2, C=0.1).fit(X, y)
    longest = int(np.argmax(np.linalg.norm(X, axis=1)))
    with pytest.raises(
        ValueError, match=f"radius=1.0 is not an upper bound of the norms: row {longest}"
    ):
        ranker.margin_bound(X, y, radius=1.0)
    with pytest.raises(ValueError, match=r"y has the classes \[1\.0\], but fit got \[0, 1\]"):
        ranker.margin_bound(X, np.ones(len(y)), radius=3.0)
    with pytest.raises(ValueError, match="y has the classes"):
        ranker.margin_bound(X, y + 1, radius=3.0)
    with pytest.raises(ValueError, match="delta=0 must be"):
        ranker.margin_bound(X, y, radius=3.0, delta=0)
    with pytest.raises(ValueError, match=r"rho=-1\.0 must be"):
        ranker.margin_bound(X, y, radius=3.0, rho=-1.0)
    with pytest.raises(ValueError, match="radius=nan must be"):
        ranker.margin_bound(X, y, radius=np.nan)


@pytest.mark.slow
def test_holds_for_new_rows():
    missed, said = 0, []
    for seed in range(12):
        X, y = data(400, seed)
        ranker = AccuracyAtTopRanker(tau=0.3, C=0.003).fit(X, y)
        bound = ranker.margin_bound(X, y, radius=3.0, delta=0.3).value
        new, label = data(5000, 1000 + seed)
        margin = ranker.decision_function(new)
        risk = (np.mean(margin[label == 0] > 0) + np.mean(margin[label == 1] < 0)) / 2
        missed += risk > bound
        said.append(bound)
    assert missed <= binom.ppf(0.999, 12, 0.3)
    assert np.max(said) < 3
