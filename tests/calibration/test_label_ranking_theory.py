"""The statements of docs/theory/label_ranking.md, by enumeration of orders and sets of labels."""

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

MODELS = [
    oracle.plackett_luce((5.0, 1.0, 2.0, 0.5)),
    oracle.plackett_luce((1.0, 1.0, 3.0, 0.2)),
    oracle.mallows((2, 0, 3, 1), 0.4),
    oracle.mallows((0, 1, 2, 3), 2.0),
]
models = pytest.mark.parametrize("model", range(len(MODELS)))
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


def tau_of_scores(P, score):
    above = np.sign(score[:, None] - score[None, :])
    return float((above * (2 * P - 1)).sum() / len(P) / (len(P) - 1))


def order_of(score):
    return tuple(np.argsort(-np.asarray(score), kind="stable").tolist())


# --------------------------------------------------------------------------- tau is not positional


@pytest.mark.parametrize("n_labels", [3, 5])
def test_tau_is_not_positional(n_labels):
    rest = tuple(range(3, n_labels))
    y = tuple(range(n_labels))
    even, odd = ((0, 1, 2), (1, 2, 0), (2, 0, 1)), ((1, 0, 2), (0, 2, 1), (2, 1, 0))
    rng = np.random.default_rng(0)
    u, phi = rng.normal(size=n_labels), rng.normal(size=n_labels)

    def total(value, orders):
        return sum(value((*order, *rest)) for order in orders)

    def positional(order):
        return phi @ u[list(order)]

    assert total(positional, even) == pytest.approx(total(positional, odd))
    difference = total(lambda order: oracle.tau(order, y), even) - total(
        lambda order: oracle.tau(order, y), odd
    )
    assert difference == pytest.approx(2 / comb(n_labels, 2))


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


@models
def test_borda_order_is_best_in_tau_under_strong_transitivity(model):
    distribution = MODELS[model]
    P = pairs_of(distribution)
    for i, j, k in permutations(range(4), 3):
        if P[i, j] >= 0.5 and P[j, k] >= 0.5:
            assert P[i, k] >= max(P[i, j], P[j, k]) - 1e-12
    shares, D = shares_of(P), 2 * P - 1
    assert_allclose(shares, oracle.expected_shares(distribution))
    assert tau_of_scores(P, shares) == pytest.approx(best_tau(distribution))
    assert best_tau(distribution) == pytest.approx(np.abs(D).sum() / 12)
    assert np.all(np.abs(D) <= 3 * np.abs(shares[:, None] - shares) + 1e-12)


@models
def test_an_exchange_into_the_order_of_the_centre_makes_no_order_less_likely(model):
    distribution = MODELS[model]
    better = shares_of(pairs_of(distribution))
    for order, p in distribution.items():
        for a, b in combinations(range(4), 2):
            if better[order[a]] >= better[order[b]] - 1e-12:
                swapped = list(order)
                swapped[a], swapped[b] = order[b], order[a]
                assert p >= distribution[tuple(swapped)] - 1e-12


@models
def test_regret_in_tau_by_that_of_squared_loss(model):
    P = pairs_of(MODELS[model])
    shares, best = shares_of(P), best_tau(MODELS[model])
    rng = np.random.default_rng(model)
    for scale in (0.02, 0.1, 0.5):
        for _ in range(200):
            score = shares + scale * rng.normal(size=4)
            regret = best - tau_of_scores(P, score)
            assert regret <= 2 * sqrt(6) * np.linalg.norm(score - shares) + 1e-12


def test_regret_in_tau_of_two_labels_is_attained():
    P = np.array([[0.5, 0.8], [0.2, 0.5]])
    shares, score = shares_of(P), np.array([0.5 - 1e-9, 0.5])
    regret = 0.6 - tau_of_scores(P, score)
    assert regret == pytest.approx(2 * sqrt(2) * np.linalg.norm(score - shares))


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


@pytest.mark.parametrize("n_labels", [3, 4])
def test_loss_of_the_borda_order_by_what_shares_do_not_explain(n_labels):
    rng = np.random.default_rng(n_labels)
    lost = 0
    for _ in range(60):
        distribution = some_distribution(rng, n_labels)
        P = pairs_of(distribution)
        D, shares = 2 * P - 1, shares_of(P)
        d = D.mean(axis=1)
        assert_allclose(d, 2 * (n_labels - 1) / n_labels * (shares - 0.5), atol=1e-12)
        cyclic = np.abs(D - (d[:, None] - d)).sum() / n_labels / (n_labels - 1)
        best = best_tau(distribution)
        borda = oracle.expected_tau(distribution, order_of(shares))
        assert best - borda <= 2 * cyclic + 1e-12
        assert 1 - borda <= 5 * (1 - best) + 1e-12
        lost += best - borda > 1e-6
    assert lost > 0


# ------------------------------------------------------------------------------- missing labels


def subsets(n_labels, size, *having):
    return [
        set_ for set_ in combinations(range(n_labels), size) if all(one in set_ for one in having)
    ]


def share_in(order, label, kept):
    others = [one for one in order if one in kept]
    return (len(others) - 1 - others.index(label)) / (len(others) - 1)


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_shares_of_present_labels_are_unbiased_and_imputed_ones_shrunk(m):
    K, order = 5, (3, 0, 4, 1, 2)
    rho = (K + 1) * (m - 1) / ((m + 1) * (K - 1))
    assert rho < 1 or m == K
    for label in range(K):
        v = oracle.share_below(order, label)
        found = np.array([share_in(order, label, kept) for kept in subsets(K, m, label)])
        assert found.mean() == pytest.approx(v)
        assert found.var() == pytest.approx(v * (1 - v) * (K - m) / ((m - 1) * (K - 2)))
        position = 1 + (m - 1) * (1 - found)
        imputed = (K - position * (K + 1) / (m + 1)) / (K - 1)
        assert imputed.mean() - 0.5 == pytest.approx(rho * (v - 0.5))


def test_the_imputed_position_is_the_mean_where_all_orders_are_as_likely():
    K, m = 5, 3
    for r in range(1, m + 1):
        # Positions of the m present labels: any set of m; that at place r of it.
        places = [sorted(kept)[r - 1] + 1 for kept in combinations(range(K), m)]
        assert np.mean(places) == pytest.approx(r * (K + 1) / (m + 1))


@pytest.mark.parametrize("m", [2, 3, 4])
def test_shares_of_pairs_are_between_pairs_and_shares(m):
    K = 4
    distribution = some_distribution(np.random.default_rng(m), K, 5)
    P = pairs_of(distribution)
    shares = shares_of(P)
    weight = (K - m) / ((K - 2) * (m - 1))
    for i, j in permutations(range(K), 2):
        kept = subsets(K, m, i, j)
        found = np.mean(
            [
                oracle.expected(distribution, lambda order, i=i, s=one: share_in(order, i, s))
                for one in kept
            ]
        )
        assert found == pytest.approx(weight * P[i, j] + (1 - weight) * shares[i])


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
