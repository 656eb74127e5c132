"""Norms of discounts, pairs out of order, and the bounds that are made of them."""

from itertools import permutations

import numpy as np
import pytest

from sklearn_rank.calibration import (
    discount_norm,
    list_regret_bound,
    regret_bound,
)
from sklearn_rank.calibration._regret import misordered_pairs
from sklearn_rank.losses import (
    ListwiseBregman,
    ListwiseNormalizedSoftmax,
    ListwiseSoftmax,
    PairwiseConvex,
    PairwiseLogistic,
    PointwiseDifferentiableHinge,
    PointwiseLogistic,
    TemplateLoss,
)
from tests.naming import for_each
from tests.oracles import calibration as oracle

MEASURES = {
    "dcg": ("dcg", {}),
    "ndcg@2": ("ndcg", {"k": 2}),
    "precision@3": ("precision", {"k": 3}),
    "recall@1": ("recall", {"k": 1}),
    "auc": ("auc", {}),
    "spearman": ("spearman", {}),
    "rbp@0.7": ("rbp", {"persistence": 0.7}),
}


def phi(measure, n):
    name, parameters = MEASURES[measure]
    return oracle.discounts(name, n, **parameters)


# ---------------------------------------------------------------------------------------- norms


@for_each("measure", MEASURES)
def test_norm_is_the_definition(measure):
    for p in (1, 1.5, 2, 7, np.inf):
        for n in range(1, 9):
            wanted = oracle.discount_norm(phi(measure, n), p)
            assert discount_norm(measure, n, p) == pytest.approx(wanted, rel=1e-12, abs=1e-15)


def test_a_cut_off_counts_no_position_twice():
    # Seven of ten positions count the same: three of them lie opposite to the last three.
    assert discount_norm("precision@7", 10) == pytest.approx(np.sqrt(3))
    assert discount_norm("precision@10", 10) == 0


@for_each(
    ("arguments", "message"),
    [
        (("ap", 5), "not a positional measure"),
        (("err@3", 5), "not a positional measure"),
        (("pnorm@4", 5), "no utilities"),
        (("dcg", 0), "n_items=0"),
        (("dcg", 2.5), "n_items=2.5"),
        (("dcg", True), "n_items=True"),
        (("dcg", 5, 0.5), "p=0.5"),
        (("dcg", 5, np.nan), "p=nan"),
        (("dcg", 5, "two"), "p='two'"),
    ],
)
def test_errors_of_the_norm(arguments, message):
    with pytest.raises(ValueError, match=message):
        discount_norm(*arguments)


# ---------------------------------------------------------------------------------------- pairs


def utilities_and_scores():
    for n in range(1, 6):
        for order in permutations(range(n)):
            yield np.arange(n, 0, -1.0), np.array(order, dtype=float)
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        yield rng.integers(0, 5, n) * 1.0, rng.integers(0, 5, n) * 1.0


def test_pairs_are_disjoint_and_out_of_order():
    for utility, score in utilities_and_scores():
        pairs = misordered_pairs(utility, score)
        assert pairs.shape == (len(pairs), 2)
        assert len(set(pairs.ravel().tolist())) == pairs.size
        assert np.all(utility[pairs[:, 0]] > utility[pairs[:, 1]])
        assert np.all(score[pairs[:, 0]] <= score[pairs[:, 1]])
        assert np.all(np.diff(utility[pairs[:, 0]]) <= 0)


def test_pairs_bound_the_regret():
    for utility, score in utilities_and_scores():
        n = len(utility)
        pairs = misordered_pairs(utility, score)
        rank = np.argsort(np.argsort(-utility, kind="stable"))
        for measure in MEASURES:
            discounts = np.array(phi(measure, n))
            bound = (
                (utility[pairs[:, 0]] - utility[pairs[:, 1]])
                @ (discounts[rank[pairs[:, 0]]] - discounts[rank[pairs[:, 1]]])
                if len(pairs)
                else 0.0
            )
            regret = oracle.worst_regret(discounts, utility.tolist(), score.tolist())
            assert regret <= bound + 1e-12


@for_each(
    ("arguments", "message"),
    [
        (([1.0, np.nan], [1.0, 2.0]), "expected_utility is nan at row 1"),
        (([[1.0, 2.0]], [1.0, 2.0]), "expected_utility has shape"),
        (([], []), "expected_utility is empty"),
        (([1.0, 2.0], [1.0]), "score has 1 entries: pass one score for each of the 2"),
        (([1.0, 2.0], [1.0, np.nan]), "NaN"),
    ],
)
def test_errors_of_pairs(arguments, message):
    with pytest.raises(ValueError, match=message):
        misordered_pairs(*arguments)


# --------------------------------------------------------------------------------------- bounds


def test_the_bound_is_constant_times_norm_times_root():
    for measure in MEASURES:
        n_items = [6, 6] if measure == "auc" else 6
        bound = regret_bound("pointwise_squared", measure, 0.09, n_items)
        wanted = np.sqrt(2) * oracle.discount_norm(phi(measure, 6), 2) * 0.3
        assert bound.value == pytest.approx(wanted)
        assert measure in bound.target


def test_lists_of_several_lengths():
    lengths = [2, 3, 3, 7]
    bound = regret_bound("pairwise_logistic", "auc", 0.04, lengths)
    # The largest utility is that of one positive among n - 1 negatives, or the reverse.
    factors = [2 / np.sqrt(n - 1) * oracle.discount_norm(phi("auc", n), 2) for n in lengths]
    assert bound.value == pytest.approx(np.sqrt(np.mean(np.square(factors))) * 0.2)
    same = regret_bound("pairwise_logistic", "ndcg", 0.04, [5] * 4)
    assert same.value == pytest.approx(regret_bound("pairwise_logistic", "ndcg", 0.04, 5).value)
    assert regret_bound("pairwise_logistic", "dcg", 0.04, 1, max_utility=3.0).value == 0


def test_largest_utility():
    by_measure = regret_bound("pairwise_exponential", "precision@4", 0.04, 9)
    given = regret_bound("pairwise_exponential", "precision@4", 0.04, 9, max_utility=1 / 16)
    assert given.value == pytest.approx(by_measure.value / 2)
    # No expected utility is above the largest utility.
    too_large = regret_bound("pairwise_exponential", "precision@4", 0.04, 9, max_utility=5.0)
    assert too_large.value == by_measure.value
    assert any("0.0625" in text for text in given.assumptions)
    with pytest.raises(ValueError, match="max_utility=None"):
        regret_bound("pairwise_exponential", "dcg", 0.04, 9)
    softmax = regret_bound("softmax", "dcg", 0.04, 9, max_utility=4.0)
    assert softmax.value == pytest.approx(4 * oracle.discount_norm(phi("dcg", 9), 2) * 0.2)


def test_other_exponents():
    at = {"measure": "dcg", "surrogate_regret": 50.0, "n_items": 20, "max_utility": 3.0}
    values = {p: regret_bound("pairwise_squared", p=p, **at).value for p in (1, 1.25, 1.5, 2)}
    # At p = 1 it is the largest regret of utilities in [0, 3], whatever the loss.
    assert values[1] == pytest.approx(3 * discount_norm("dcg", 20, 1))
    for p in (1.25, 1.5):
        q = p / (p - 1)
        wanted = discount_norm("dcg", 20, p) * 3 ** (1 - 2 / q) * 50 ** (1 / q)
        assert values[p] == pytest.approx(wanted)
    assert min(values.values()) < values[2]
    own = regret_bound("pairwise_squared", "dcg", 0.2, 20, p=np.inf, constant=1.5)
    assert own.value == pytest.approx(1.5 * discount_norm("dcg", 20, np.inf) * 0.2)
    varied = regret_bound("pairwise_squared", "dcg", 0.2, [3, 20], p=np.inf, constant=1.5)
    assert varied.value == own.value
    with pytest.raises(ValueError, match="p=3 needs a constant"):
        regret_bound("pairwise_squared", "dcg", 0.2, 20, p=3)
    with pytest.raises(ValueError, match="constant=2"):
        regret_bound("pairwise_squared", "dcg", 0.2, 20, p=1, constant=2.0)
    with pytest.raises(ValueError, match="max_utility=None"):
        regret_bound("pairwise_squared", "dcg", 0.2, 20, p=1.5)


def test_exponents_of_lists_of_several_lengths():
    lengths, p = [4, 9], 1.5
    bound = regret_bound("pairwise_squared", "ndcg", 0.3, lengths, p=p)
    norms = np.array([discount_norm("ndcg", n, p) for n in lengths])
    assert bound.value == pytest.approx(np.mean(norms**p) ** (1 / p) * 0.3 ** (1 / 3))


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("pointwise_squared", ["Theorem 5.2", "Table 2"]),
        (PointwiseDifferentiableHinge(eta=2.0), ["Theorem 5.2", "ours"]),
        (
            ListwiseBregman(lambda u: u @ u, lambda u: 2 * u, lambda s: s / 2, mu=2.0),
            ["Theorem 5.3", "Table 2"],
        ),
        ("pairwise_logistic", ["Theorem 5.4", "Table 2"]),
        ("softmax", ["Lemma 5.1", "ours"]),
        (
            PairwiseConvex(lambda d: np.exp(-d), lambda d: -np.exp(-d), constant=2.0),
            ["Theorem 5.4", "given with the loss"],
        ),
    ],
)
def test_the_bound_names_its_theorem(loss, words):
    bound = regret_bound(loss, "ndcg", 0.1, 10)
    for word in ["Calauzènes et al. (2013)", "Eq. 9", *words]:
        assert word in bound.theorem
    other = regret_bound(loss, "ndcg", 0.1, 10, p=1.5, constant=1.0)
    assert "Lemma 5.1" in other.theorem
    assert "the constant given" in other.theorem
    assert bound.delta == 0
    assert any("sum" in text for text in bound.assumptions)


@for_each(
    ("arguments", "message"),
    [
        (("comparison_logistic", "ndcg", 0.1, 9), "not order-preserving"),
        ((ListwiseNormalizedSoftmax(), "dcg", 0.1, 9), "not order-preserving"),
        (("pairwise_squared", "ap", 0.1, 9), "Theorem 3.3"),
        (("pairwise_squared", "err", 0.1, 9), "Theorem 3.3"),
        (("pairwise_squared", "auc", 0.1, 569), "Kotłowski"),
        (("pairwise_squared", "auc", 0.1, [569]), "one list only"),
        (("pairwise_squared", "ndcg", 0.1, [569]), "one list only"),
        (("pairwise_squared", "ndcg", 0.1, [5, 0]), "n_items is 0 for list 1"),
        (("pairwise_squared", "ndcg", 0.1, [5.0, 2.0]), "dtype float64"),
        (("pairwise_squared", "ndcg", 0.1, []), "n_items has shape"),
        (("pairwise_squared", "ndcg", -0.1, 9), "surrogate_regret=-0.1"),
        (("pairwise_squared", "ndcg", np.nan, 9), "surrogate_regret=nan"),
        ((PointwiseLogistic(eta=0.5), "ndcg", 0.1, 9), "raise eta"),
        ((PairwiseConvex(lambda d: -d, lambda d: 0 * d - 1), "ndcg", 0.1, 9), "pass constant="),
        (("no_such_loss", "ndcg", 0.1, 9), "not the name of a loss"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        regret_bound(*arguments)


@pytest.mark.parametrize("not_a_loss", [3, None, PairwiseLogistic])
def test_what_is_no_loss_is_refused(not_a_loss):
    with pytest.raises(TypeError, match="is not a loss: pass a TemplateLoss or the name of one"):
        regret_bound(not_a_loss, "ndcg", 0.1, 9)
    with pytest.raises(TypeError, match="is not a loss: pass a TemplateLoss or the name of one"):
        list_regret_bound(not_a_loss, "ndcg", 0.1, [1.0, 2.0], [1, 2])


def test_eta_has_to_cover_the_measure_at_its_length_only():
    # The largest utility of Spearman's correlation is 2 for two items, and 1/5 for seven.
    assert regret_bound(PointwiseLogistic(eta=0.25), "spearman", 0.1, 7).value > 0
    with pytest.raises(ValueError, match="raise eta"):
        regret_bound(PointwiseLogistic(eta=0.25), "spearman", 0.1, [2, 7])
    with pytest.raises(ValueError, match="max_utility is 3"):
        regret_bound(PointwiseLogistic(eta=2.0), "dcg", 0.1, 7, max_utility=3.0)


# ------------------------------------------------------------------------------- one list


def test_the_bound_of_a_list_by_hand():
    # Items 0 and 3 are exchanged, at positions 1 and 4; the largest utility is 4.
    bound = list_regret_bound(
        ListwiseSoftmax(), "dcg", 0.25, [4.0, 3.0, 2.0, 1.0], [1.0, 3.0, 2.0, 4.0]
    )
    assert bound.value == pytest.approx(4 * (1 - 1 / np.log2(5)) * 0.5)
    assert "Lemma 4.1" in bound.theorem
    assert "list" in bound.target


@for_each(
    ("arguments", "message"),
    [
        (("comparison_hinge", "dcg", 0.1, [1.0, 2.0], [1, 2]), "not order-preserving"),
        (("softmax", "ap", 0.1, [1.0, 2.0], [1, 2]), "Theorem 3.3"),
        (("softmax", "dcg", 0.1, [1.0, np.inf], [1, 2]), "expected_utility is inf"),
        (("pointwise_logistic", "dcg", 0.1, [1.0, 2.0], [1, 2]), "expected_utility is 2"),
        (("softmax", "dcg", 0.1, [1.0, -2.0], [1, 2]), "expected_utility is -2 at row 1"),
        (("softmax", "dcg", -1.0, [1.0, 2.0], [1, 2]), "surrogate_regret=-1.0"),
    ],
)
def test_refusals_of_one_list(arguments, message):
    with pytest.raises(ValueError, match=message):
        list_regret_bound(*arguments)


def test_a_loss_of_your_own_is_not_said_to_be_in_the_table():
    class Own(TemplateLoss):
        def _regret_constant(self, max_utility):
            return 3.0

        _value_and_gradient = _curvature = _hessian_product = None

    bound = regret_bound(Own(), "dcg", 1.0, 2)
    assert bound.value == pytest.approx(3 * (1 - 1 / np.log2(3)))
    assert "Lemma 5.1 and the constant given with the loss" in bound.theorem


def test_long_lists_take_no_square_of_memory():
    n = 20_000
    assert len(misordered_pairs(np.arange(n) * 1.0, np.zeros(n))) == n // 2
