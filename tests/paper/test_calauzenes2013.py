"""Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for order-preserving
surrogate losses in learning to rank*: Table 1, Theorem 3.3, Lemmas 4.1 and 5.1, Eq. 9, Table 2.

A (u, phi)-GPPM is ``b(y) + sum over positions of phi(position) u(y)`` (Definition 2.1), on scores
the mean over all orders that agree with them. U are the expected utilities.
"""

from fractions import Fraction
from itertools import combinations, cycle, permutations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import rankdata

from sklearn_rank import losses
from sklearn_rank.calibration import (
    discount_norm,
    list_regret_bound,
    regret_bound,
)
from sklearn_rank.calibration._regret import misordered_pairs
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
from tests.losses.cases import CASES
from tests.naming import for_each, shown
from tests.oracles import calibration as oracle
from tests.oracles import orders

# Utilities are fractions, and scores of two values have orders that are easy to see.
pytestmark = pytest.mark.filterwarnings("ignore:y_true holds fractions")


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
        for u, measure, definition in (
            (y / k, precision_at_k_score, orders.precision_at_k),
            (y / y.sum(), recall_at_k_score, orders.recall_at_k),
        ):
            value = gppm(u, first, s, k)
            assert value == pytest.approx(orders.expected(definition, y.tolist(), s.tolist(), k=k))
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
        if y.min() == y.max():  # the form is 0, and the correlation is undefined
            assert value == pytest.approx(0.0, abs=1e-14)
            continue
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


# ----------------------------------------------------------------------- order-preserving losses


def expected_loss(loss, cases, probabilities):
    """The inner risk, and its gradient, as a function of the scores."""
    on = loss.on(np.ravel(cases), np.arange(len(cases) + 1) * len(cases[0]))

    def risk(score):
        values, gradient = on.value_and_gradient(np.tile(score, len(cases)))
        gradient = gradient.reshape(len(cases), -1)
        return float(probabilities @ values), probabilities @ gradient

    return risk


def least_loss(loss, cases, probabilities):
    """Scores of least inner risk."""
    risk = expected_loss(loss, cases, probabilities)
    found = minimize(risk, np.zeros(len(cases[0])), jac=True, options={"gtol": 1e-9}, bounds=None)
    return found.x, found.fun


def dependent_utilities(rng, largest, n=None):
    """A few vectors of utilities and their probabilities; no two expected utilities are close."""
    while True:
        length = int(rng.integers(2, 6)) if n is None else n
        cases = rng.choice([0.0, 1.0, min(3.0, largest)], (3, length))
        probabilities = rng.dirichlet(np.ones(3))
        expected = probabilities @ cases
        if np.diff(np.sort(expected)).min() > 0.05 and expected.min() > 0.02:
            return cases, probabilities


@for_each("case", [c for c in CASES if c.loss.is_order_preserving])
def test_minimisers_order_like_expected_utilities(case):
    # Definition 3.1, for every loss that says so of itself.
    rng = np.random.default_rng(0)
    for _ in range(8):
        cases, probabilities = dependent_utilities(rng, case.largest)
        score, _ = least_loss(case.loss, cases, probabilities)
        np.testing.assert_array_equal(np.argsort(score), np.argsort(probabilities @ cases))


@pytest.mark.parametrize("case", [c for c in CASES if not c.loss.is_order_preserving], ids=shown)
def test_remark_2_the_usual_losses_do_not(case):
    # The second item is better in the mean, the first one more often.
    cases, probabilities = np.array([[1.0, 3.0, 0.0], [1.0, 0.0, 0.0]]), np.array([0.4, 0.6])
    assert np.argmax(probabilities @ cases) == 1
    risk = expected_loss(case.loss, cases, probabilities)
    starts = np.random.default_rng(0).normal(size=(2, 3))
    found = min(
        (
            minimize(lambda s: risk(s)[0], s, method="Nelder-Mead", options={"fatol": 1e-12})
            for s in starts
        ),
        key=lambda result: result.fun,
    )
    assert found.x[0] > found.x[1] + 0.1
    # Scores in the best order are worse.
    right = minimize(
        lambda t: risk(np.array([t[0], t[0] + t[1] ** 2, t[2]]))[0],
        starts[0],
        method="Nelder-Mead",
        options={"fatol": 1e-12, "maxiter": 4000},
    )
    assert right.fun > found.fun + 0.005


# ------------------------------------------------------------------------------------ Theorem 3.3

SHARE = {"AP": Fraction(1, 4), "ERR": Fraction(3, 4)}
ONE = {
    "AP": [((0, 1, 0), Fraction(4, 5)), ((0, 1, 1), Fraction(1, 5))],
    "ERR": [
        ((0, 1, 0), Fraction(1, 8)),
        ((0, 1, 1), Fraction(1, 2)),
        ((1, 0, 0), Fraction(3, 8)),
    ],
}
OTHER = {
    "AP": [
        ((0, 0, 1), Fraction(1, 3)),
        ((1, 1, 0), Fraction(1, 2)),
        ((1, 1, 1), Fraction(1, 6)),
    ],
    "ERR": [
        ((1, 0, 0), Fraction(1, 5)),
        ((1, 0, 1), Fraction(3, 5)),
        ((1, 1, 1), Fraction(1, 5)),
    ],
}
CASCADES = {"AP": oracle.average_precision, "ERR": oracle.expected_reciprocal_rank}


@pytest.mark.parametrize(("name", "up", "down"), [("AP", 2, 0), ("ERR", 0, 2)])
def test_theorem_3_3_for_all_utilities_at_once(name, up, down):
    # Every best order of both distributions has one item above another, and every best order of
    # their mixture has it below. Expected utilities are linear in the distribution, whatever u is:
    # they cannot order the two items in one way for both and in the other for the mixture.
    measure, share = CASCADES[name], SHARE[name]
    mixed = oracle.mixture([(share, ONE[name]), (1 - share, OTHER[name])])
    for distribution in (ONE[name], OTHER[name]):
        assert sum(p for _, p in distribution) == 1
        for order in oracle.best_orders(measure, distribution):
            assert order.index(up) < order.index(down)
    for order in oracle.best_orders(measure, mixed):
        assert order.index(up) > order.index(down)


@pytest.mark.parametrize("name", ["AP", "ERR"])
def test_theorem_3_3_needs_dependent_labels(name):
    # With independent labels the order by the probability of relevance is best.
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(2, 5))
        chance = [Fraction(int(k), 12) for k in rng.integers(0, 13, n)]
        distribution = []
        for labels in np.ndindex(*(2,) * n):
            p = Fraction(1)
            for label, c in zip(labels, chance, strict=True):
                p *= c if label else 1 - c
            distribution.append((labels, p))
        order = sorted(range(n), key=lambda i: -chance[i])
        best = oracle.best_orders(CASCADES[name], distribution)
        assert oracle.expected_value(CASCADES[name], distribution, order) == (
            oracle.expected_value(CASCADES[name], distribution, best[0])
        )


def test_theorem_3_3_needs_three_items():
    # Of two items, the best order is that of the difference of two chances.
    labels = [(1, 0), (0, 1), (1, 1), (0, 0)]
    rng = np.random.default_rng(1)
    for _ in range(40):
        weights = [Fraction(int(k)) for k in rng.integers(0, 9, 4)]
        distribution = list(zip(labels, weights, strict=True))
        for measure in CASCADES.values():
            gain = oracle.expected_value(measure, distribution, (0, 1)) - oracle.expected_value(
                measure, distribution, (1, 0)
            )
            assert np.sign(gain) == np.sign(weights[0] - weights[1])


# ------------------------------------------------------------------------------ Lemmas 4.1 and 5.1


def test_lemma_4_1_the_printed_proof_breaks_its_second_condition():
    # Items 0 to 3 by falling U, in the order 1, 2, 3, 0: item 1 stands above item 2, rightly. The
    # exchanges of the proof put that pair out of order, and then into the set.
    order = (1, 2, 3, 0)
    assert oracle.printed_pairs(order) == [(0, 3), (1, 2)]
    assert order.index(1) < order.index(2)
    score = -np.argsort(order)
    assert misordered_pairs([4.0, 3.0, 2.0, 1.0], score).tolist() == [[0, 3]]


def test_lemma_4_1_all_orders():
    # The lemma itself holds, with insertions in place of the exchanges.
    rng = np.random.default_rng(0)
    for n in range(2, 7):
        utility = np.sort(rng.random(n))[::-1]
        phi = np.sort(rng.random(n))[::-1]
        for order in permutations(range(n)):
            pairs = misordered_pairs(utility, -np.argsort(order))
            assert len(set(pairs.ravel())) == pairs.size
            bound = sum((utility[i] - utility[j]) * (phi[i] - phi[j]) for i, j in pairs)
            assert all(i < j and order.index(i) > order.index(j) for i, j in pairs)
            assert oracle.regret(phi, utility, order) <= bound + 1e-12


@for_each("p", [1, 1.3, 2, 5, np.inf])
def test_lemma_5_1(p):
    # No disjoint pairs have larger differences of discounts than positions opposite each other.
    for n in range(2, 7):
        for measure in ("dcg", "precision@2", "auc"):
            name, k = ("precision", 2) if measure == "precision@2" else (measure, None)
            phi = np.array(oracle.discounts(name, n, k=k))
            largest = 0.0
            for order in permutations(range(n)):
                pairs = [sorted(order[2 * i : 2 * i + 2]) for i in range(n // 2)]
                differences = [phi[i] - phi[j] for i, j in pairs]
                largest = max(largest, np.linalg.norm(differences, p))
            assert largest == pytest.approx(discount_norm(measure, n, p))


# ------------------------------------------------------------------------------- Eq. 9 and Table 2

ETA = 3.5
BREGMAN = losses.ListwiseBregman(
    lambda u: u @ u, lambda u: 2 * u, lambda s: s / 2, inverse_link=lambda u: 2 * u, mu=2.0
)
BOUNDED = [
    losses.PointwiseSquared(),
    losses.PointwiseLogistic(ETA),
    losses.PointwiseExponential(ETA),
    losses.PointwiseSquaredHinge(ETA, t=1.5),
    *(losses.PointwiseDifferentiableHinge(ETA, alpha) for alpha in (0.2, 0.8, 1.0, 3.0)),
    losses.PairwiseSquared(),
    losses.PairwiseLogistic(),
    losses.PairwiseExponential(),
    losses.ListwiseSoftmax(),
    BREGMAN,
]
POSITIONAL = {
    "dcg": ("dcg", {}, 2),
    "ndcg": ("ndcg", {}, 2),
    "ndcg@2": ("ndcg", {"k": 2}, 2),
    "precision@2": ("precision", {"k": 2}, 1),
    "recall@1": ("recall", {"k": 1}, 1),
    "auc": ("auc", {}, 1),
    "spearman": ("spearman", {}, 2),
    "rbp@0.8": ("rbp", {"persistence": 0.8}, 1),
}


def draw_list(rng, measure):
    """Utilities of a few vectors of labels of one list, and their probabilities."""
    name, parameters, highest = POSITIONAL[measure]
    n = int(rng.integers(2, 7))
    cases = []
    for _ in range(int(rng.integers(1, 4))):
        labels = rng.integers(0, highest + 1, n)
        labels[:2] = [0, 1]
        cases.append(oracle.utilities(name, rng.permutation(labels).tolist(), **parameters))
    phi = oracle.discounts(name, n, **parameters)
    return np.array(cases), rng.dirichlet(np.ones(len(cases))), np.array(phi)


def surrogate_regret(loss, cases, probabilities, score):
    risk = expected_loss(loss, cases, probabilities)
    least = np.clip(loss.minimizer(probabilities @ cases), -60, 60)
    return max(risk(score)[0] - risk(least)[0], 0.0)


@for_each(("loss", "measure"), list(zip(cycle(BOUNDED), [*POSITIONAL] * 3)))
def test_the_regret_is_below_its_bounds(loss, measure):
    rng = np.random.default_rng(3)
    for _ in range(8):
        cases, probabilities, phi = draw_list(rng, measure)
        expected = probabilities @ cases
        n = len(expected)
        least = np.clip(loss.minimizer(expected), -5, 5)
        # Near the minimiser and far from it; ties too.
        score = least + rng.choice([0.1, 1.0]) * rng.normal(size=n)
        if rng.random() < 0.4:
            score[rng.permutation(n)[:2]] = score.mean()
        size = surrogate_regret(loss, cases, probabilities, score)
        regret = oracle.worst_regret(phi, expected.tolist(), score.tolist())
        keywords = {"max_utility": float(expected.max())}
        lengths = [n, n]
        for p in (2, 1.5):
            bound = regret_bound(loss, measure, size, lengths, p=p, **keywords)
            assert regret <= bound.value + 1e-9
            of_list = list_regret_bound(loss, measure, size, expected, score, p=p)
            assert regret <= of_list.value + 1e-9
            assert of_list.value <= bound.value + 1e-9


def attained(loss, better, worse):
    """Squared ratio of the difference of two utilities to the bound, at the best tied scores."""
    cases, one = np.array([[better, worse]]), np.ones(1)
    risk = expected_loss(loss, cases, one)
    tied = minimize_scalar(
        lambda s: risk(np.array([s, s]))[0],
        bounds=(-20, 20),
        method="bounded",
        options={"xatol": 1e-10},
    ).fun
    gap = tied - risk(np.clip(loss.minimizer(cases[0]), -60, 60))[0]
    return (better - worse) ** 2 / (loss.regret_constant(better) ** 2 * gap)


@pytest.mark.parametrize("loss", BOUNDED, ids=shown)
def test_the_constants_of_table_2_are_attained_and_not_passed(loss):
    # Two items, the worse one at, or by as little as one likes above, the better one: the regret
    # is (phi(1) - phi(2)) times the difference of utilities, and the bound holds with equality in
    # the limit. For the softmax the constant is 2 sqrt(max U), of the largest utility, not sum.
    ratios = [
        attained(loss, better, better - step)
        for better in [0.02, 0.05, *np.arange(0.25, 3.5, 0.75), 3.45]
        for step in (0.01, 0.05, 0.2)
        if better > step
    ]
    assert 0.98 < max(ratios) <= 1 + 1e-5


def test_table_2_the_printed_constant_of_the_differentiable_hinge():
    # 4 sqrt(eta / alpha), said to hold for alpha < eta / 2, fails above 2.
    for alpha, fails in ((0.5, False), (1.9, False), (2.5, True), (4.5, True)):
        eta = 10.0
        loss = losses.PointwiseDifferentiableHinge(eta, alpha)
        printed = 4 * np.sqrt(eta / alpha)
        ratios = [
            attained(loss, b, b - 0.1) * (loss.regret_constant() / printed) ** 2
            for b in np.arange(0.25, 9.9, 0.25)
        ]
        assert (max(ratios) > 1) == fails


def test_theorem_5_3_the_infimum_is_not_0_under_noise():
    # As the proof says; what it needs is that the regret is the divergence from U, which is so.
    cases, probabilities = np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5])
    expected = probabilities @ cases
    risk = expected_loss(BREGMAN, cases, probabilities)
    infimum = risk(BREGMAN.minimizer(expected))[0]
    assert infimum == pytest.approx(1.25)
    score = np.array([0.3, -1.0])
    divergence = BREGMAN.on(expected).value(score)[0]
    assert risk(score)[0] - infimum == pytest.approx(divergence)


def test_equation_9_over_lists_of_several_lengths():
    # The mean of regrets against the bound of the mean surrogate regret.
    rng = np.random.default_rng(5)
    for loss in (losses.PairwiseLogistic(), losses.PointwiseSquared()):
        regrets, sizes, lengths = [], [], []
        for _ in range(300):
            cases, probabilities, phi = draw_list(rng, "ndcg")
            expected = probabilities @ cases
            score = rng.normal(size=len(expected))
            regrets.append(oracle.worst_regret(phi, expected.tolist(), score.tolist()))
            sizes.append(surrogate_regret(loss, cases, probabilities, score))
            lengths.append(len(expected))
        assert np.mean(regrets) <= regret_bound(loss, "ndcg", np.mean(sizes), lengths).value


def test_corollary_4_5_no_regret_without_surrogate_regret():
    # Below the bound of the smallest difference of utilities the order is right.
    rng = np.random.default_rng(6)
    loss = losses.PairwiseExponential()
    for _ in range(40):
        cases, probabilities = dependent_utilities(rng, 3.0)
        expected = probabilities @ cases
        step = min(abs(a - b) for a, b in combinations(expected, 2))
        score = loss.minimizer(expected) + 0.2 * rng.normal(size=len(expected))
        size = surrogate_regret(loss, cases, probabilities, score)
        if loss.regret_constant(expected.max()) ** 2 * size < step**2:
            np.testing.assert_array_equal(np.argsort(score), np.argsort(expected))
