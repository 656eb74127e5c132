"""Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the area under
the ROC curve*: Sections 1 to 3.2, the test set.
"""

from itertools import product
from math import ceil, exp, log, sqrt

import numpy as np
import pytest
from scipy.stats import binom, norm

from sklearn_rank.bounds import (
    auc_bound,
    auc_deviation_bound,
    auc_sample_size_bound,
    auc_variance_bound,
)
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import roc_auc_score
from tests.oracles import auc_variance as oracle

# ------------------------------------------------------------------------------------- Section 1

TABLE_1 = {
    "y": [-1, -1, -1, -1, 1, 1, 1, 1],
    "f1": [-2, -1, 3, 4, 1, 2, 5, 6],
    "f2": [-2, -1, 5, 6, 1, 2, 3, 4],
}


def test_table_1():
    y = np.array(TABLE_1["y"])
    for name, auc in (("f1", 12 / 16), ("f2", 8 / 16)):
        score = np.array(TABLE_1[name])
        assert np.mean(np.where(score > 0, 1, -1) != y) == 2 / 8
        assert roc_auc_score(y, score) == auc
        assert oracle.auc(score[y == 1], score[y == -1]) == auc


def test_lemma_2_unbiased():
    of_pos, of_neg = (0.1, 0.3, 0.6), (0.5, 0.3, 0.2)
    expected = oracle.moments_of_distribution(of_pos, of_neg)["auc"]
    mean = 0.0
    for pos in product(range(3), repeat=2):
        for neg in product(range(3), repeat=3):
            mass = np.prod([of_pos[p] for p in pos]) * np.prod([of_neg[q] for q in neg])
            mean += mass * oracle.auc(pos, neg)
    assert mean == pytest.approx(expected)


# ------------------------------------------------------------------------------------- Section 3


def test_theorem_5_what_one_item_can_change():
    # McDiarmid's c_k: 1/m for a positive and 1/n for a negative, and both are reached.
    rng = np.random.default_rng(0)
    pos, neg = rng.integers(0, 4, 4).tolist(), rng.integers(0, 4, 3).tolist()
    most = {"pos": 0.0, "neg": 0.0}
    for values in product(range(-1, 6), repeat=2):
        one, other = ([value, *pos[1:]] for value in values)
        most["pos"] = max(most["pos"], abs(oracle.auc(one, neg) - oracle.auc(other, neg)))
        one, other = ([value, *neg[1:]] for value in values)
        most["neg"] = max(most["neg"], abs(oracle.auc(pos, one) - oracle.auc(pos, other)))
    assert most == pytest.approx({"pos": 1 / 4, "neg": 1 / 3})


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 40), (200, 200)])
def test_theorem_5_and_corollary_6(m, n):
    size, rho = m + n, m / (m + n)
    for epsilon in (0.05, 0.3, 1.0):
        value = auc_deviation_bound(epsilon, m, n, method="mcdiarmid").value
        assert value == pytest.approx(min(2 * exp(-2 * m * n * epsilon**2 / size), 1))
        assert value == pytest.approx(min(2 * exp(-2 * rho * (1 - rho) * size * epsilon**2), 1))
        changes = [1 / m] * m + [1 / n] * n
        assert value == pytest.approx(min(oracle.mcdiarmid_probability(epsilon, changes), 1))
    for delta in (0.01, 0.9):
        width = sqrt(log(2 / delta) / (2 * rho * (1 - rho) * size))
        assert auc_bound(m, n, delta, method="mcdiarmid").value == pytest.approx(min(width, 1))


@pytest.mark.parametrize("rho", [0.5, 0.2, 0.01])
def test_corollary_7(rho):
    for epsilon, delta in product((0.02, 0.1), (0.01, 0.2)):
        n = auc_sample_size_bound(epsilon, delta, rho, method="mcdiarmid").value
        assert n == ceil(log(2 / delta) / (2 * rho * (1 - rho) * epsilon**2))
        assert 2 * exp(-2 * rho * (1 - rho) * n * epsilon**2) <= delta
        assert 2 * exp(-2 * rho * (1 - rho) * (n - 1) * epsilon**2) > delta


@pytest.mark.parametrize(("size", "share"), [(20, 0.5), (40, 0.1)])
def test_theorem_8_labels_drawn_too(size, share):
    """Exactly, for scores that say all or nothing: the average over the labels is at most delta.

    A positive lies above all negatives with probability A, else below all of them.
    """
    delta, expected, missed = 0.3, 0.8, 0.0
    for m in range(size + 1):
        width = auc_bound(m, size - m, delta, method="mcdiarmid", labels="random").value
        drawn = binom.pmf(m, size, share)
        if m in (0, size):
            assert width == 1
            continue
        hits = np.arange(m + 1)
        far = np.abs(hits / m - expected) >= width
        missed += drawn * binom.pmf(hits, m, expected)[far].sum()
    assert missed <= delta


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mcdiarmid", "kl"])
def test_theorem_8_by_simulation(method):
    rng = np.random.default_rng(1)
    n_samples, delta, missed = 600, 0.2, 0  # none is missed in 400 of either method
    for _ in range(n_samples):
        y = rng.random(40) < 0.2
        if y.all() or not y.any():
            continue
        score = np.floor(3 * (rng.normal(size=40) + 2 * y)) / 3
        missed += EXPECTED not in metric_interval("auc", y, score, level=1 - delta, method=method)
    assert missed / n_samples <= delta


def expected_of_rounded_normal():
    edges = np.arange(-40, 60) / 3
    cells = [np.diff(norm.cdf(edges, shift)) for shift in (2.0, 0.0)]
    return float(cells[0] @ (np.cumsum(cells[1]) - cells[1] / 2))


EXPECTED = expected_of_rounded_normal()


# ----------------------------------------------------------------------------------- Section 3.1


def test_equations_10_and_11_chebyshev():
    value = auc_deviation_bound(0.2, 10, 30, method="chebyshev", variance=0.004)
    assert value.value == pytest.approx(0.004 / 0.2**2)
    # sigma / sqrt(delta), with the unbiased estimate for the variance.
    found = metric_interval(
        "auc", [1, 1, 1, 0, 0, 0], [6, 5, 2, 4, 3, 1], level=0.5, method="chebyshev"
    )
    sigma = sqrt(oracle.unbiased([6, 5, 2], [4, 3, 1]))
    assert found.estimate - found.low == pytest.approx(sigma / sqrt(0.5))


@pytest.mark.parametrize(("m", "n"), [(1, 3), (2, 2), (3, 2)])
def test_equation_14_largest_variance(m, n):
    rng = np.random.default_rng(m)
    for _ in range(15):
        of_pos, of_neg = rng.dirichlet([0.5] * 3), rng.dirichlet([0.5] * 3)
        auc = oracle.moments_of_distribution(of_pos, of_neg)["auc"]
        variance = oracle.variance_over_samples(of_pos, of_neg, m, n)
        bound = auc_variance_bound(m, n, expected_auc=auc).value
        assert variance <= bound + 1e-15
        assert bound <= auc_variance_bound(m, n).value == 1 / (4 * min(m, n))
    # Reached where each of the fewer items beats all of the others or none.
    of_pos, of_neg = ((0.3, 0, 0.7), (0, 1, 0)) if m <= n else ((0, 1, 0), (0.7, 0, 0.3))
    variance = oracle.variance_over_samples(of_pos, of_neg, m, n)
    assert variance == pytest.approx(0.7 * 0.3 / min(m, n))


def test_equation_14_at_the_observed_auc_is_no_guarantee():
    # At an observed AUC of 1 it would leave no width, with half of the samples so.
    n, expected = 10, 0.5 ** (1 / 10)
    assert binom.pmf(n, n, expected) == pytest.approx(0.5)
    low = 1 - auc_bound(n, 3 * n, 0.05, method="chebyshev", auc=1.0).value
    assert low < expected < 1


def test_equation_15_smallest_variance():
    """A lower limit without ties; scores reach it only at 0, at 1, or with one item of each class.

    To be reached, all placements would have to be the same: every positive with a share A of the
    negatives below it, yet every negative below a share A of the positives.
    """
    rng = np.random.default_rng(15)
    for m, n in ((1, 1), (2, 2), (1, 3), (2, 3)):
        for _ in range(10):
            # Positives on odd values and negatives on even ones never tie.
            of_pos, of_neg = np.zeros(4), np.zeros(4)
            of_pos[[1, 3]], of_neg[[0, 2]] = rng.dirichlet([1, 1]), rng.dirichlet([1, 1])
            auc = oracle.moments_of_distribution(of_pos, of_neg)["auc"]
            smallest = auc * (1 - auc) / (m * n)
            variance = oracle.variance_over_samples(of_pos, of_neg, m, n)
            if m == n == 1:
                assert variance == pytest.approx(smallest)
            else:
                assert variance > smallest * (1 + 1e-9)


# ----------------------------------------------------------------------------------- Section 3.2


def test_equation_16_error_rate():
    for n, delta in product((10, 500), (0.01, 0.3)):
        epsilon = sqrt(log(2 / delta) / (2 * n))
        assert 2 * exp(-2 * n * epsilon**2) == pytest.approx(delta)
        for rate in (0.5, 0.1):
            wrong = np.arange(n + 1)
            far = np.abs(wrong / n - rate) >= epsilon
            assert binom.pmf(wrong, n, rate)[far].sum() <= delta


def test_equation_17_and_what_it_is_compared_with():
    # The variance of the error rate lies between the least and the largest one of the AUC.
    for rate in (0.5, 0.2):
        m, n = 30, 70
        of_error = binom.var(m + n, rate) / (m + n) ** 2
        assert of_error == pytest.approx(rate * (1 - rate) / (m + n))
        largest = auc_variance_bound(m, n, expected_auc=rate).value
        assert rate * (1 - rate) / (m * n) < of_error < largest


# --------------------------------------------------------------------------------------- figures


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_figure_1(share):
    """Normal below McDiarmid below Chebyshev, at delta = .01 and the largest variance."""
    delta = 0.01
    for size in (1000, 10_000, 100_000):
        m = round(share * size)
        n = size - m
        sigma = sqrt(auc_variance_bound(m, n).value)
        normal = norm.ppf(1 - delta / 2) * sigma
        mcdiarmid = auc_bound(m, n, delta, method="mcdiarmid").value
        chebyshev = auc_bound(m, n, delta, method="chebyshev").value
        hoeffding = auc_bound(m, n, delta, method="hoeffding").value
        assert chebyshev == pytest.approx(min(sigma / sqrt(delta), 1))
        assert normal < hoeffding < mcdiarmid < chebyshev
        # The ratios are those of the constants and of sqrt(max(rho, 1 - rho)).
        assert mcdiarmid / hoeffding == pytest.approx(1 / sqrt(max(m, n) / size))
    # One point of each curve, at m/(m+n) = 1/2 and N = 10,000.
    if share == 0.5:
        point = auc_bound(5000, 5000, 0.01, method="mcdiarmid").value
        assert point == pytest.approx(0.03255, abs=5e-6)
        assert 0.5 / sqrt(5000) / sqrt(0.01) == pytest.approx(0.07071, abs=5e-6)
        assert norm.ppf(0.995) * 0.5 / sqrt(5000) == pytest.approx(0.01821, abs=5e-6)


@pytest.mark.parametrize(("rho", "factor"), [(0.5, 4.0), (0.1, 11.1111), (0.01, 101.0101)])
def test_figure_2(rho, factor):
    assert 1 / (rho * (1 - rho)) == pytest.approx(factor, abs=1e-4)
    of_error_rate = ceil(log(2 / 0.01) / (2 * 0.001**2))
    of_auc = auc_sample_size_bound(0.001, 0.01, rho, method="mcdiarmid").value
    assert of_auc / of_error_rate == pytest.approx(factor, rel=1e-5)
