"""Kendall's tau-b, tau-AP and rank-biased overlap: against scipy, stored values and the papers."""

from itertools import product
from math import fsum

import numpy as np
import pytest
import scipy.stats

from sklearn_rank.metrics import (
    _rank_correlation,
    get_measure,
    rank_biased_overlap_score,
    tau_ap_score,
    tau_b_score,
    tau_x_score,
)
from tests.oracles import rank_correlation


def data(n, levels, seed=0):
    """Relevances and scores, all different unless there are levels."""
    rng = np.random.default_rng(seed)
    if levels is None:
        return rng.permutation(n), rng.permutation(n)
    return rng.integers(0, levels, n), rng.integers(0, levels, n)


@pytest.mark.parametrize(("n", "levels"), [(2, None), (3, 2), (50, None), (50, 4), (3000, 30)])
def test_tau_b_is_scipys(n, levels):
    y_true, y_score = data(n, levels, seed=1)
    expected = scipy.stats.kendalltau(y_true, y_score).statistic
    assert tau_b_score(y_true, y_score) == pytest.approx(expected, abs=1e-14)


def test_scores_that_are_all_tied_are_worth_a_random_order():
    assert np.isnan(scipy.stats.kendalltau([1, 2, 3], [0, 0, 0]).statistic)
    assert tau_b_score([1, 2, 3], [0.0, 0.0, 0.0]) == 0
    # Sums of real weights are rounded, but whether all are tied is counted.
    assert tau_b_score([1, 2, 3], [0.0] * 3, sample_weight=[0.1, 0.7, 0.3]) == 0


def test_tau_b_of_weights_far_apart():
    y_true, y_score = [1, 2, 3, 4], [1.0, 3.0, 2.0, 4.0]
    for scale in (1e-140, 1e-3, 1e140):
        weight = scale * np.array([1.0, 2.0, 0.5, 1.0])
        found = tau_b_score(y_true, y_score, sample_weight=weight)
        assert found == pytest.approx(tau_b_score(y_true, y_score, sample_weight=[2, 4, 1, 2]))


@pytest.mark.parametrize(("n", "levels"), [(2, None), (50, None), (60, 4), (500, 3)])
def test_tau_x_is_one_less_the_distance_of_kemeny_and_snell(n, levels):
    y_true, y_score = data(n, levels, seed=3)
    signs = [np.sign(values - values[:, np.newaxis]) for values in (y_true, y_score)]
    # A pair in the opposite order counts 2, a pair that one of them ties 1.
    distance = np.abs(signs[0] - signs[1]).sum() / 2
    found = tau_x_score(y_true, y_score)
    assert found == pytest.approx(1 - 2 * distance / (n * (n - 1)), abs=1e-13)
    if levels is None:
        assert found == pytest.approx(tau_b_score(y_true, y_score), abs=1e-13)
    assert tau_x_score(y_true, y_true) == 1


def test_ties_of_scores_are_predictions_to_tau_x():
    assert tau_x_score([1, 1, 1, 0], [1, 1, 1, 0]) == 1
    # Half of what relevance ties is put apart, in either order.
    apart = [tau_x_score([1, 1, 0], score) for score in ([3, 2, 1], [2, 3, 1])]
    assert apart == [2 / 3, 2 / 3]
    assert tau_x_score([1, 1, 0], [0, 0, 0]) == 1 / 3
    # Copies of an item are tied in both.
    weighted = tau_x_score([2, 1], [1, 2], sample_weight=[10**9, 10**9])
    assert weighted == pytest.approx(0, abs=1e-8)


# Data and values of the tests of the R package ircor (Urbano and Marrero): truth, scores, scores
# rounded to one digit; tau-AP without ties, and its mean over the orders of tied items.
SETS = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
        (0.8519, 0.7454),
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
        (0.2504, 0.2692),
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
        (-0.6971, -0.5558),
    ),
]


@pytest.mark.parametrize(("truth", "scores", "tied", "expected"), SETS)
def test_tau_ap_against_stored_values(truth, scores, tied, expected):
    found = tau_ap_score(truth, scores), tau_ap_score(truth, tied)
    assert found == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("share", [0.5, 0.7, 0.95])
def test_tau_ap_is_tau_in_the_mean_where_errors_are_uniform(share):
    # Yilmaz, Aslam and Robertson (2008): each item is above a given share of those before it.
    n, means = 7, np.zeros(3)
    for right in product([False, True], repeat=n - 1):
        order = [0]
        for is_right in right:
            # The next item is worse than all above it, or better than all of them.
            order = [*order, len(order)] if is_right else [*(o + 1 for o in order), 0]
        chance = np.prod(np.where(right, share, 1 - share))
        truth, score = -np.array(order), -np.arange(n)
        means += chance * np.array([tau_ap_score(truth, score), tau_b_score(truth, score), 1.0])
    assert means == pytest.approx([2 * share - 1, 2 * share - 1, 1.0], abs=1e-12)


def test_errors_at_the_top_weigh_more():
    truth = np.arange(10)[::-1]
    top, bottom = truth.copy(), truth.copy()
    top[[0, 1]], bottom[[-1, -2]] = top[[1, 0]], bottom[[-2, -1]]
    assert tau_b_score(truth, top) == tau_b_score(truth, bottom)
    assert tau_ap_score(truth, top) < tau_ap_score(truth, bottom) < 1
    overlap = [rank_biased_overlap_score(truth, order) for order in (top, bottom)]
    assert overlap[0] < overlap[1] < 1


@pytest.mark.parametrize("levels", [None, 3, 40])
def test_tau_ap_of_long_lists(levels):
    y_true, y_score = data(400, levels, seed=2)
    above = y_score > y_score[:, None]
    credit = (y_true > y_true[:, None]) + 0.5 * (y_true == y_true[:, None])
    total = 0.0
    for item in range(400):
        n_above, size = above[item].sum(), (y_score == y_score[item]).sum()
        tied = (y_score == y_score[item]) & (np.arange(400) != item)
        for r in range(size):
            if n_above + r:
                some = credit[item][tied].sum() * r / (size - 1) if r else 0.0
                total += (credit[item][above[item]].sum() + some) / (n_above + r) / size
    assert tau_ap_score(y_true, y_score) == pytest.approx(2 * total / 399 - 1, abs=1e-12)


@pytest.mark.parametrize("short", [1, 4, 32])
def test_pairs_are_counted_bit_by_bit_or_one_by_one(short, monkeypatch):
    for name in ("SHORT", "SHORT_WEIGHTED"):
        monkeypatch.setattr(_rank_correlation, name, short)
    rng = np.random.default_rng(5)
    for n_levels in (1, 2, 9, 200):
        offsets = np.append(0, np.cumsum(rng.integers(1, 30, 6)))
        n = offsets[-1]
        level, list_of = rng.integers(0, n_levels, n), np.repeat(np.arange(6), np.diff(offsets))
        w, v = rng.uniform(0.1, 2, (2, n))
        pairs = np.tril(level[:, None] > level) & (list_of[:, None] == list_of)
        for earlier, later in ((None, None), (w, None), (None, v), (w, v)):
            weights = np.outer(*(np.ones(n) if x is None else x for x in (later, earlier)))
            expected = (pairs * weights).sum(axis=1)
            for into in (np.arange(n), list_of, None):
                found = _rank_correlation.sums_over_pairs(
                    level.astype(np.uint32), offsets, into, earlier, later
                )
                into = np.zeros(n, int) if into is None else into
                np.testing.assert_allclose(found, np.bincount(into, expected), rtol=1e-12)


def test_whole_weights_of_any_size():
    # An item of weight w is w items that are tied in both; no loop runs over them.
    found = tau_ap_score([1, 0, 1], [3.0, 2.0, 1.0], sample_weight=[2, 10**9, 1])
    assert -1 < found < 1
    assert tau_ap_score([1, 0], [1.0, 0.0], sample_weight=[1, 10**12]) == pytest.approx(
        0, abs=1e-9
    )


# ------------------------------------------------------------------------------------ overlap


def test_the_weight_of_the_first_depths():
    # Webber, Moffat and Zobel (2010): 86 % at p = .9 and depth 10, and their formula.
    for p, depth, weight in ((0.9, 10, 0.8556), (0.98, 50, 0.8522)):
        order = np.arange(depth)
        found = rank_biased_overlap_score(order, order, persistence=p, beyond="least")
        assert found == pytest.approx(weight, abs=5e-5)
        formula = 1 - p ** (depth - 1)
        formula -= (1 - p) / p * depth * (np.log(1 - p) + sum(p**i / i for i in range(1, depth)))
        assert found == pytest.approx(formula, abs=1e-13)


def test_rankings_of_different_items():
    # The two rankings of the paper's first example, <a b c d e f g> and <z c a v w x y>, share 0,
    # 0, 2, 2, 2, 2 and 2 of their first 1 to 7 items.
    first, second = "abcdefg", "zcavwxy"
    items = sorted({*first, *second})
    score, grade = ([-(one + item).find(item) for item in items] for one in (first, second))
    shares = [0, 0, 2 / 3, 2 / 4, 2 / 5, 2 / 6, 2 / 7]
    found = rank_biased_overlap_score(grade, score, k=7, beyond="nothing")
    assert found == pytest.approx(0.1 * sum(0.9**d * share for d, share in enumerate(shares)))
    extrapolated = rank_biased_overlap_score(grade, score, k=7)
    assert extrapolated == pytest.approx(found + 2 / 7 * 0.9**7)


@pytest.mark.parametrize("p", [0.1, 0.9, 0.999])
@pytest.mark.parametrize("levels", [None, 3, 60])
def test_overlap_of_long_lists(p, levels):
    n = 500
    y_true, y_score = data(n, levels, seed=3)
    chances = []
    for values in (y_true, y_score):
        above = (values > values[:, None]).sum(axis=1)[:, None]
        size = (values == values[:, None]).sum(axis=1)[:, None]
        chances.append(np.clip((np.arange(1, n + 1) - above) / size, 0, 1))
    shared = (chances[0] * chances[1]).sum(axis=0)
    for k in (None, 7, 230):
        last = n if k is None else k
        base = fsum((1 - p) * p**d * shared[d] / (d + 1) for d in range(last))
        rest = fsum((1 - p) * p**d / (d + 1) for d in range(last, last + 40_000))
        for beyond, expected in (
            ("nothing", base),
            ("least", base + shared[last - 1] * rest),
            ("extrapolated", base + shared[last - 1] / last * p**last),
        ):
            found = rank_biased_overlap_score(y_true, y_score, persistence=p, k=k, beyond=beyond)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_least_extrapolated_and_the_sum_are_in_order():
    rng = np.random.default_rng(4)
    qid = np.repeat(np.arange(50), 12)
    y_true, y_score = rng.integers(0, 4, (2, 600))
    values = [
        rank_biased_overlap_score(y_true, y_score, qid=qid, k=5, beyond=beyond, average=None)
        for beyond in ("nothing", "least", "extrapolated")
    ]
    assert np.all(np.diff(values, axis=0) >= 0)
    assert np.nanmax(values) <= 1


@pytest.mark.parametrize("p", [1 - 1e-7, 1 - 1e-12])
def test_a_reader_who_hardly_ever_stops(p):
    y_true, y_score = data(50, None, seed=6)
    least, most = (
        rank_biased_overlap_score(y_true, y_score, persistence=p, k=3, beyond=beyond)
        for beyond in ("least", "extrapolated")
    )
    shared = len(set(np.argsort(-y_true)[:3]) & set(np.argsort(-y_score)[:3]))
    assert most == pytest.approx(shared / 3, abs=1e-5)
    assert least == pytest.approx(0, abs=1e-5)
    assert rank_biased_overlap_score(y_true, y_true, persistence=p) == pytest.approx(1)


def test_overlap_is_symmetric():
    y_true, y_score = data(30, 5, seed=5)
    both = [rank_biased_overlap_score(*pair) for pair in ((y_true, y_score), (y_score, y_true))]
    assert both[0] == pytest.approx(both[1], rel=1e-13)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"persistence": 1.0}, "persistence"),
        ({"persistence": 0.0}, "persistence"),
        ({"k": 0}, "k"),
        ({"beyond": "ext"}, "beyond='ext'"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        rank_biased_overlap_score([1, 2], [1.0, 2.0], **parameters)


def test_no_theorem_is_lost_and_none_invented():
    for name in ("tau_b", "tau_ap", "rbo@0.9"):
        measure = get_measure(name)
        assert measure.theorems == ("hoeffding", "kl", "bernstein")
        assert measure.positional is None
    assert not get_measure("rbo@0.9").has_influence


def test_the_oracle_of_the_least_overlap_is_a_lower_bound():
    # What two prefixes share is shared by every continuation of them.
    for truth, order in (((0, 1, 2, 3), (0, 2, 1, 3)), ((3, 2, 1, 0), (0, 1, 2, 3))):
        least = rank_correlation.rbo(truth[:2], order[:2], 0.8, beyond="least")
        assert least <= rank_correlation.rbo(truth, order, 0.8, beyond="least")
