"""Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for order-preserving
surrogate losses in learning to rank*: Section 2 and Table 1.

A (u, phi)-GPPM is ``b(y) + sum over positions of phi(position) u(y)`` (Definition 2.1), on scores
the mean over all orders that agree with them.
"""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import rankdata

from sklearn_rank.metrics import (
    average_precision_score,
    dcg_score,
    ndcg_score,
    positional_score,
    precision_at_k_score,
    recall_at_k_score,
    roc_auc_score,
    spearman_score,
)
from tests.oracles import orders


def binary_lists(seed, n_lists=25, n_max=7):
    rng = np.random.default_rng(seed)
    for _ in range(n_lists):
        n = int(rng.integers(2, n_max + 1))
        y_true = rng.integers(0, 2, n)
        y_true[:2] = [0, 1]
        yield rng.permutation(y_true), rng.integers(0, 4, n)


def graded_lists(seed, n_lists=25, n_max=6):
    rng = np.random.default_rng(seed)
    for _ in range(n_lists):
        n = int(rng.integers(2, n_max + 1))
        y_true = rng.integers(0, 5, n)
        y_true[0] = 3
        yield y_true, rng.integers(0, 4, n)


def gppm(u, discount, y_score, k=None, b=0.0):
    """``discount`` is phi, a name or a function of position and length."""
    return b + positional_score(u, y_score, gain="linear", discount=discount, k=k)


def first(position, n_items):
    return np.ones_like(position)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_table_1_dcg(k):
    for y, s in graded_lists(0):
        value = gppm(2.0**y - 1, "logarithmic", s, k)
        assert value == pytest.approx(orders.expected(orders.dcg, y.tolist(), s.tolist(), k=k))
        assert value == pytest.approx(dcg_score(y, s, k=k))


@pytest.mark.parametrize("k", [1, 3, 10])
def test_table_1_ndcg(k):
    for y, s in graded_lists(1):
        ideal = dcg_score(y, y, k=k)
        value = gppm((2.0**y - 1) / ideal, "logarithmic", s, k)
        assert value == pytest.approx(orders.expected(orders.ndcg, y.tolist(), s.tolist(), k=k))
        assert value == pytest.approx(ndcg_score(y, s, k=k))


@pytest.mark.parametrize("k", [1, 3, 10])
def test_table_1_precision_and_recall(k):
    for y, s in binary_lists(2):
        for u, measure, oracle in (
            (y / k, precision_at_k_score, orders.precision_at_k),
            (y / y.sum(), recall_at_k_score, orders.recall_at_k),
        ):
            value = gppm(u, first, s, k)
            assert value == pytest.approx(orders.expected(oracle, y.tolist(), s.tolist(), k=k))
            assert value == pytest.approx(measure(y, s, k=k))


def test_table_1_auc():
    # The offset is printed without its sign.
    for y, s in binary_lists(3):
        k, m = y.sum(), len(y) - y.sum()
        value = gppm(y / (k * m), "linear", s, b=-(k - 1) / (2 * m))
        assert value == pytest.approx(orders.expected(orders.auc, y.tolist(), s.tolist()))
        assert value == pytest.approx(roc_auc_score(y, s))


def test_table_1_spearman():
    # Ties in y too: the mean over their orders gives them middle ranks.
    for y, s in graded_lists(4, n_max=5):
        n = len(y)
        u = 12 * (n - rankdata(-y)) / (n * (n**2 - 1))
        value = gppm(u, "linear", s, b=-3 * (n - 1) / (n + 1))
        assert value == pytest.approx(orders.spearman(y.tolist(), s.tolist()), abs=1e-14)
        assert value == pytest.approx(spearman_score(y, s), abs=1e-14)


def test_sorting_by_u_is_best():
    # phi is nonincreasing.
    for y, _ in graded_lists(5, n_lists=8, n_max=5):
        for discount in ("logarithmic", "linear", lambda i, n: 1 / i):
            best = gppm(y, discount, y)
            for order in permutations(range(len(y))):
                assert gppm(y, discount, np.array(order)) <= best + 1e-12


def unexplained(measure, labels):
    """What no position's credit can explain of a measure of two classes, over all orders."""
    rows = np.array(sorted(set(permutations(labels))))
    values = np.array([measure(row, -np.arange(len(row))) for row in rows])
    design = np.c_[np.ones(len(rows)), rows]
    credit = np.linalg.lstsq(design, values, rcond=None)[0]
    return np.abs(design @ credit - values).max()


def test_average_precision_is_no_positional_measure():
    labels = (1, 1, 0, 0, 0)
    for measure in (dcg_score, ndcg_score, roc_auc_score, spearman_score):
        assert unexplained(measure, labels) < 1e-12
    assert unexplained(average_precision_score, labels) > 0.01


@pytest.mark.parametrize("measure", [dcg_score, ndcg_score, spearman_score])
def test_scores_stand_for_all_their_orders(measure):
    for y, s in graded_lists(6, n_lists=10, n_max=5):
        values = [
            measure(y[list(order)], -np.arange(len(y))) for order in orders.orders(s.tolist())
        ]
        assert measure(y, s) == pytest.approx(np.mean(values), abs=1e-13)
