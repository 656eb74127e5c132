"""The statements of docs/theory/rankers.md, by enumeration of orders and sets of labels."""

from itertools import combinations, permutations
from math import comb, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from sklearn_rank import losses
from sklearn_rank.metrics import positional_score, spearman_score, tau_b_score
from tests.oracles import label_rankings as oracle
from tests.oracles import rank_correlation

CONDORCET = {(0, 1, 2): 3 / 5, (1, 2, 0): 2 / 5}


def some_distribution(rng, n_labels, n_orders=3):
    orders = list(permutations(range(n_labels)))
    at = rng.choice(len(orders), n_orders, replace=False)
    mass = rng.dirichlet(np.full(n_orders, 0.5))
    return {orders[one]: p for one, p in zip(at.tolist(), mass.tolist(), strict=True)}


def pairs_of(distribution):
    """P, the probabilities that one label is above another, 1/2 on the diagonal."""
    n = len(next(iter(distribution)))
    return np.array(
        [[0.5 if i == j else oracle.above(distribution, i, j) for j in range(n)] for i in range(n)]
    )


def shares_of(P):
    return (P.sum(axis=1) - 0.5) / (len(P) - 1)


def best_tau(distribution):
    return max(
        oracle.expected_tau(distribution, order)
        for order in permutations(next(iter(distribution)))
    )


# --------------------------------------------------------------------------- tau is not positional


def test_spearman_is_positional_with_shares():
    y, score = np.array([3.0, 1.0, 0.0, 2.0]), np.array([0.1, 0.5, 0.9, 0.3])
    shares, K = y / 3, 4
    value = positional_score(
        12 / (K * (K + 1)) * shares, score, gain="linear", discount=lambda at, n: n - at
    )
    worst = positional_score(
        12 / (K * (K + 1)) * shares, -y, gain="linear", discount=lambda at, n: n - at
    )
    assert spearman_score(y, score) - spearman_score(y, -y) == pytest.approx(value - worst)


# ------------------------------------------------------------------- Borda order and Kemeny order


def test_example_in_which_the_borda_order_is_not_best():
    shares = oracle.expected_shares(CONDORCET)
    assert shares == pytest.approx([3 / 5, 7 / 10, 1 / 5])
    assert oracle.expected_tau(CONDORCET, (0, 1, 2)) == pytest.approx(7 / 15)
    assert best_tau(CONDORCET) == pytest.approx(7 / 15)
    assert oracle.expected_tau(CONDORCET, (1, 0, 2)) == pytest.approx(1 / 3)
    ranks = {order: 2 - np.argsort(order) for order in permutations(range(3))}
    spearman = {
        order: sum(
            p * spearman_score(ranks[drawn], ranks[order]) for drawn, p in CONDORCET.items()
        )
        for order in ranks
    }
    assert max(spearman, key=spearman.get) == (1, 0, 2)


# ------------------------------------------------------------------------------- missing labels


def share_in(order, label, kept):
    others = [one for one in order if one in kept]
    return (len(others) - 1 - others.index(label)) / (len(others) - 1)


def expected_loss_minimiser(loss, distribution, sizes):
    """Scores that minimise the expected loss of the present labels, all sets of a size alike."""
    K = len(next(iter(distribution)))
    utilities, columns, offsets, weight = [], [], [0], []
    for order, p in distribution.items():
        for m, mass in sizes.items():
            for kept in combinations(range(K), m):
                utilities += [share_in(order, label, kept) for label in kept]
                columns += kept
                offsets.append(len(columns))
                weight.append(p * mass / comb(K, m))
    lists = loss.on(np.array(utilities), offsets, query_weight=np.array(weight))
    columns = np.array(columns)

    def risk(score):
        value, gradient = lists.value_and_gradient(score[columns])
        return np.sum(value), np.bincount(columns, gradient, K)

    found = minimize(risk, np.zeros(K), jac=True, method="BFGS", options={"gtol": 1e-9})
    return found.x


@pytest.mark.parametrize("sizes", [{2: 1.0}, {3: 1.0}, {2: 0.5, 3: 0.2, 4: 0.3}], ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "pointwise_squared",
        "pointwise_logistic",
        "softmax",
        "pairwise_squared",
        "pairwise_logistic",
    ],
)
def test_losses_of_present_labels_have_their_minimum_in_the_borda_order(name, sizes):
    loss = losses.get_loss(name, **({"eta": 1.0} if name == "pointwise_logistic" else {}))
    rng = np.random.default_rng(len(sizes))
    for _ in range(8):
        drawn = some_distribution(rng, 4)
        distribution = dict.fromkeys(permutations(range(4)), 0.04 / 24)
        for order, p in drawn.items():
            distribution[order] += 0.96 * p
        shares = shares_of(pairs_of(distribution))
        score = expected_loss_minimiser(loss, distribution, sizes)
        for i, j in permutations(range(4), 2):
            if shares[i] > shares[j] + 1e-3:
                assert score[i] > score[j]
        if name == "pointwise_squared":
            assert_allclose(score, shares, atol=1e-5)


def test_exponential_loss_of_pairs_may_have_another_order():
    distribution = dict.fromkeys(permutations(range(4)), 0.03 / 24)
    for order, p in {(1, 3, 0, 2): 0.74, (1, 3, 2, 0): 0.08, (2, 1, 3, 0): 0.18}.items():
        distribution[order] += 0.97 * p
    shares = shares_of(pairs_of(distribution))
    loss = losses.get_loss("pairwise_exponential")
    score = expected_loss_minimiser(loss, distribution, {2: 1.0})
    assert shares[0] > shares[2]
    assert score[0] < score[2] - 0.05
    score = expected_loss_minimiser(loss, distribution, {4: 1.0})
    assert score[0] > score[2]


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_tau_of_present_labels_is_unbiased_and_spearman_a_mixture(m):
    rng = np.random.default_rng(m)
    K = 5
    y, score = rng.permutation(K), rng.permutation(K)
    kept = [list(one) for one in combinations(range(K), m)]
    tau = tau_b_score(y, score)
    assert np.mean([tau_b_score(y[one], score[one]) for one in kept]) == pytest.approx(tau)
    part = 3 * (K - m) / ((K - 2) * (m + 1))
    expected = part * tau + (1 - part) * spearman_score(y, score)
    found = np.mean([spearman_score(y[one], score[one]) for one in kept])
    assert found == pytest.approx(expected)


# ---------------------------------------------------------------------------------------- ties


def test_tau_x_and_tau_b_of_rows_with_ties():
    rng = np.random.default_rng(0)
    score = np.array([3.0, 1.0, 2.0, 0.0])
    n_pairs = 6
    for _ in range(20):
        y = rng.integers(0, 3, 4).astype(float)
        y[0] = y[1] + 1
        sign = np.sign(y[:, None] - y) * np.sign(score[:, None] - score)
        tau = sign.sum() / 12
        assert rank_correlation.tau_x(y, score) == pytest.approx(tau)
        tied = (np.equal.outer(y, y).sum() - 4) / 2
        assert tau_b_score(y, score) == pytest.approx(tau * sqrt(n_pairs / (n_pairs - tied)))
