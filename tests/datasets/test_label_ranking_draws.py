"""Generated label rankings: orders have the distribution that is said, and the truth is true."""

from decimal import Decimal, localcontext
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from sklearn_rank.datasets import _synthetic as draws
from sklearn_rank.datasets import make_label_ranking
from sklearn_rank.metrics import tau_b_score
from sklearn_rank.preprocessing import label_grades
from tests.naming import for_each
from tests.oracles import label_rankings as oracle

NOISES = ("plackett_luce", "mallows", None)


def order_of(positions):
    return tuple(np.argsort(positions).tolist())


def distribution_of(bunch, row, noise, concentration):
    scores = bunch.scores[row]
    if noise == "plackett_luce":
        return oracle.plackett_luce(np.exp(scores).tolist())
    centre = order_of(-scores)
    if noise is None:
        return {order: float(order == centre) for order in permutations(range(len(scores)))}
    return oracle.mallows(centre, concentration)


@pytest.mark.parametrize("structure", ["linear", "nonlinear"])
@pytest.mark.parametrize("noise", NOISES)
def test_the_truth_is_that_of_the_distribution(noise, structure):
    for concentration in (0.0, 0.7, 3.0):
        bunch = make_label_ranking(
            3,
            n_labels=4,
            noise=noise,
            concentration=concentration,
            structure=structure,
            ties=0.3,
            missing=0.3,
            random_state=1,
        )
        for row in range(3):
            distribution = distribution_of(bunch, row, noise, concentration)
            for i in range(4):
                for j in range(4):
                    p = oracle.above(distribution, i, j) if i != j else 0.5
                    assert bunch.pair_probabilities[row, i, j] == pytest.approx(p, abs=1e-12)
            assert_allclose(
                bunch.expected_shares[row], oracle.expected_shares(distribution), atol=1e-12
            )
            best = max(oracle.expected_tau(distribution, order) for order in distribution)
            assert bunch.expected_tau[row] == pytest.approx(best, abs=1e-12)
            order = order_of(bunch.positions[row])
            assert oracle.expected_tau(distribution, order) == pytest.approx(best, abs=1e-12)
            if concentration or noise is None:
                assert order == order_of(-bunch.scores[row])


@pytest.mark.parametrize(
    ("noise", "concentration"),
    [("plackett_luce", 1.0), ("mallows", 0.5), ("mallows", 2.0), ("mallows", 0.0)],
)
@pytest.mark.parametrize("n_labels", [3, 4])
def test_orders_have_the_distribution(noise, concentration, n_labels):
    random = np.random.RandomState(0)
    scores = np.tile([0.9, -0.3, 0.4, 0.0][:n_labels], (40_000, 1))
    best = draws._positions(scores)
    drawn = draws._draw_orders(scores, best, noise, concentration, random)
    if noise == "mallows":
        distribution = oracle.mallows(order_of(best[0]), concentration)
    else:
        distribution = oracle.plackett_luce(np.exp(scores[0]).tolist())
    found, counts = np.unique(np.argsort(drawn, axis=1), axis=0, return_counts=True)
    by_order = dict(zip(map(tuple, found.tolist()), counts.tolist(), strict=True))
    observed = [by_order.get(order, 0) for order in distribution]
    assert chisquare(observed, 40_000 * np.array(list(distribution.values()))).pvalue > 0.01


def test_without_noise_the_order_is_the_best_one():
    bunch = make_label_ranking(50, noise=None, random_state=0)
    assert_array_equal(bunch.target, bunch.positions)
    assert_array_equal(bunch.expected_tau, 1.0)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("structure", ["linear", "nonlinear"])
def test_expected_tau_is_the_mean_of_tau(noise, structure):
    bunch = make_label_ranking(20_000, noise=noise, structure=structure, random_state=0)
    y = label_grades(bunch.target, target_type=bunch.target_type)
    assert tau_b_score(y, bunch.scores) == pytest.approx(bunch.expected_tau.mean(), abs=0.006)


@pytest.mark.slow
def test_scores_have_the_variance_and_the_coefficients_that_are_said():
    bunch = make_label_ranking(20_000, 4, 6, noise=None, random_state=0)
    assert_allclose(bunch.data @ bunch.coef + bunch.intercept, bunch.scores)
    assert_allclose(np.linalg.norm(bunch.coef, axis=0), 1)
    loud = make_label_ranking(20_000, 4, 6, concentration=3, random_state=0)
    assert_allclose(loud.scores, 3 * bunch.scores)
    bent = make_label_ranking(2000, 4, 60, noise=None, structure="nonlinear", random_state=0)
    assert (bent.scores**2).mean() == pytest.approx(1, abs=0.1)
    assert bent.coef is bent.intercept is None


def test_ties_join_neighbours():
    drawn = make_label_ranking(5000, n_labels=4, random_state=3).target
    tied = make_label_ranking(5000, n_labels=4, ties=0.25, random_state=3).target
    # Nothing that was above another is below it now.
    for i, j in permutations(range(4), 2):
        assert np.all((drawn[:, i] < drawn[:, j]) <= (tied[:, i] <= tied[:, j]))
    assert_allclose(tied.sum(axis=1), 10)
    ordered = np.sort(tied, axis=1)
    assert (np.diff(ordered, axis=1) == 0).mean() == pytest.approx(0.25, abs=0.015)
    label_grades(tied, target_type="positions")


def test_missing_labels_do_not_depend_on_positions():
    full = make_label_ranking(20_000, n_labels=4, random_state=5).target
    target = make_label_ranking(20_000, n_labels=4, missing=0.4, random_state=5).target
    known = ~np.isnan(target)
    assert known.sum(axis=1).min() == 2
    for position in range(1, 5):
        # Of 4 labels without the rule of two: 0.6.
        kept = known[full == position].mean()
        assert kept == pytest.approx(known.mean(), abs=0.012)
    expected = 1 - (0.4 * 4 - 0.4**4 * 2 - 4 * 0.4**3 * 0.6) / 4
    assert known.mean() == pytest.approx(expected, abs=0.005)
    for i, j in permutations(range(4), 2):
        both = known[:, i] & known[:, j]
        assert_array_equal(full[both, i] < full[both, j], target[both, i] < target[both, j])
    assert_array_equal(np.nanmin(target, axis=1), 1)
    assert_array_equal(np.nanmax(target, axis=1), known.sum(axis=1))


@for_each("concentration", [1e-12, 1e-6, 4.9e-5, 5.1e-5, 1e-3, 0.1, 5.0])
def test_pairs_of_any_concentration_are_accurate(concentration):
    with localcontext() as context:
        context.prec = 80
        q = (-Decimal(concentration)).exp()
        exact = [float((h + 1) / (1 - q ** (h + 1)) - h / (1 - q**h)) for h in range(1, 20)]
    above = draws._mallows_above(np.arange(20), concentration)[1:]
    assert_allclose(above, exact, rtol=1e-10)
    assert_allclose(1 - above, 1 - np.array(exact), rtol=0, atol=1e-10)


def test_pairs_at_the_ends_of_the_concentration():
    assert_array_equal(draws._mallows_above(np.arange(20), 0.0), 0.5)
    assert_allclose(draws._mallows_above(np.arange(20), 800.0), 1.0)


def test_same_seed_same_data():
    options = {"noise": "mallows", "ties": 0.2, "missing": 0.2, "random_state": 4}
    bunch = make_label_ranking(30, **options)
    data, target = make_label_ranking(30, **options, return_X_y=True)
    assert_array_equal(bunch.data, data)
    assert_array_equal(bunch.target, target)
    assert bunch.label_names == ["L1", "L2", "L3", "L4", "L5"]
    assert bunch.feature_names[0] == "feature_1"


@for_each(
    ("options", "message"),
    [
        ({"n_labels": 1}, "n_labels=1 must be at least 2"),
        ({"noise": "gumbel"}, "noise='gumbel' must be one of"),
        ({"structure": "product"}, "structure='product'"),
        ({"concentration": -1}, "concentration=-1"),
        ({"concentration": np.inf}, "concentration=inf"),
        ({"ties": 1}, "ties=1 must be"),
        ({"missing": 1.0}, "missing=1.0 must be"),
    ],
)
def test_what_is_out_of_range_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_label_ranking(**options)
