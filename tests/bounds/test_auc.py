"""Bounds of the AUC of a test set: their formulas, their order, and what they say."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_rank.bounds import (
    auc_bound,
    auc_deviation_bound,
    auc_sample_size_bound,
    auc_variance_bound,
)
from sklearn_rank.bounds._bound import binary_kl, kl_limits
from tests.naming import for_each
from tests.oracles import auc_variance as oracle
from tests.oracles import pairings

# The methods that an observed AUC makes a difference to.
BY_AUC = ("tightest", "kl", "chebyshev")
COUNTS = [(1, 1), (1, 50), (10, 10), (10, 90), (300, 40), (5000, 5000)]


def given(method, auc):
    """The observed AUC, for a method that uses it."""
    return {"auc": auc} if method in BY_AUC else {}


def test_binary_kl():
    for p, q in product((0.0, 0.2, 0.5, 1.0), (0.0, 0.3, 1.0)):
        assert float(binary_kl(p, q)) == pytest.approx(oracle.binary_entropy(p, q))


def test_kl_limits():
    p, most = np.meshgrid([0.0, 1e-6, 0.3, 0.97, 1.0], [0.0, 1e-4, 0.3, 3.0])
    low, high = kl_limits(p, most)
    for index in np.ndindex(p.shape):
        start, allowed = p[index], most[index]
        for found, end in ((low, 0.0), (high, 1.0)):
            expected = oracle.farthest(
                lambda q, s=start, a=allowed: oracle.binary_entropy(s, q) <= a, start, end
            )
            assert found[index] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("n_pos", "n_neg"), COUNTS)
def test_each_bound_is_at_most_the_looser_one(n_pos, n_neg):
    for side in ("both", "lower", "upper"):
        for delta, auc in product((0.001, 0.5), (0.0, 0.3, 0.99, 1.0)):
            kl, hoeffding, mcdiarmid = (
                auc_bound(
                    n_pos, n_neg, delta, method=method, side=side, **given(method, auc)
                ).value
                for method in ("kl", "hoeffding", "mcdiarmid")
            )
            assert kl <= hoeffding * (1 + 1e-12)
            assert hoeffding < mcdiarmid or mcdiarmid == 1


@pytest.mark.parametrize("side", ["both", "lower"])
def test_deviation_and_probability_are_inverse(side):
    for method in ("mcdiarmid", "hoeffding", "chebyshev"):
        for (n_pos, n_neg), delta in product(COUNTS, (0.01, 0.3)):
            epsilon = auc_bound(n_pos, n_neg, delta, method=method, side=side).value
            if epsilon < 1:
                back = auc_deviation_bound(epsilon, n_pos, n_neg, method=method, side=side).value
                assert back == pytest.approx(delta)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_kl_is_inverse_seen_from_the_expected_auc(side):
    # At the limit A, an AUC as far from A as the observed one has probability delta.
    bound = auc_bound(40, 60, 0.05, method="kl", auc=0.9, side=side).value
    limit = 0.9 - bound if side == "lower" else 0.9 + bound
    back = auc_deviation_bound(bound, 40, 60, method="kl", expected_auc=limit, side=side)
    assert back.value == pytest.approx(0.05)


def test_chebyshev_solves_the_worst_variance():
    for (n_pos, n_neg), auc in product(COUNTS, (0.0, 0.4, 0.97, 1.0)):
        share = 1 / (0.05 * min(n_pos, n_neg))
        low, high = oracle.wilson(auc, share, 1.0)
        bound = auc_bound(n_pos, n_neg, 0.05, method="chebyshev", auc=auc)
        assert bound.value == pytest.approx(min(max(auc - low, high - auc), 1.0))
        worst = auc_bound(n_pos, n_neg, 0.05, method="chebyshev").value
        assert worst == pytest.approx(min(np.sqrt(share / 4), 1))


def test_probabilities_of_the_impossible_are_zero():
    # From .9 no AUC is .2 higher, and a mean of draws of 0 never moves.
    value = auc_deviation_bound(0.2, 10, 10, method="kl", expected_auc=0.9, side="lower").value
    assert value == 0
    assert auc_deviation_bound(0.2, 10, 10, method="kl", expected_auc=0.0).value == 0


def test_one_class_says_nothing():
    for method in ("tightest", "mcdiarmid", "hoeffding", "kl", "chebyshev"):
        assert auc_bound(0, 10, 0.1, method=method, **given(method, 0.5)).value == 1
        expected = {"expected_auc": 0.5} if method in BY_AUC else {}
        assert auc_deviation_bound(0.1, 10, 0, method=method, **expected).value == 1


def test_what_it_says_of_itself():
    fixed = auc_bound(100, 900, 0.05, method="mcdiarmid")
    drawn = auc_bound(100, 900, 0.05, method="mcdiarmid", labels="random")
    assert fixed.value == drawn.value
    assert (fixed.conditioned_on, drawn.conditioned_on) == ("the labels", "")
    assert fixed.theorem == "Agarwal et al. (2005), Corollary 6"
    assert drawn.theorem == "Agarwal et al. (2005), Theorem 8"
    found = auc_deviation_bound(0.1, 10, 10, method="mcdiarmid")
    assert found.theorem == "Agarwal et al. (2005), Theorem 5"
    found = auc_sample_size_bound(0.1, 0.1, 0.5, method="mcdiarmid")
    assert found.theorem == "Agarwal et al. (2005), Corollary 7"
    assert auc_bound(9, 9, 0.1, side="lower").target == "AUC - expected AUC"
    hoeffding = "Hoeffding (1963), Section 5b, min(n_pos, n_neg) independent pairs"
    assert auc_bound(9, 9, 0.1, method="hoeffding").theorem == hoeffding
    found = auc_bound(9, 9, 0.1, method="kl", auc=0.5)
    assert found.theorem == f"{hoeffding}, in Chernoff's form"
    assert auc_variance_bound(4, 5, expected_auc=0.9).value == pytest.approx(0.09 / 4)


@pytest.mark.parametrize("method", ["mcdiarmid", "hoeffding", "chebyshev"])
def test_sample_sizes_suffice_and_no_fewer(method):
    for share in (0.25, 0.75):
        needed = auc_sample_size_bound(0.05, 0.1, share, method=method).value
        for n, enough in ((4 * np.ceil(needed / 4), True), (4 * np.ceil(needed / 4 - 1), False)):
            n_pos = int(share * n)
            bound = auc_bound(n_pos, int(n) - n_pos, 0.1, method=method).value
            assert (bound <= 0.05 + 1e-12) == enough


# ------------------------------------------------------------------------------------- the default

ONE = ("mcdiarmid", "hoeffding", "chebyshev")
DELTAS = (0.001, 0.05, 0.2, 0.3, 0.7)
CLASSES = (None, 1, 50)


@pytest.mark.parametrize("function_class", CLASSES)
def test_default_is_the_smallest_that_counts_alone_can_choose(function_class):
    for side in ("both", "lower", "upper"):
        chosen = set()
        for (n_pos, n_neg), delta in product(COUNTS, DELTAS):
            given = {"function_class": function_class, "side": side}
            default = auc_bound(n_pos, n_neg, delta, **given)
            values = [auc_bound(n_pos, n_neg, delta, method=name, **given) for name in ONE]
            assert default.value == min(bound.value for bound in values)
            assert default in values
            chosen.add(default.theorem.partition(" ")[0])
        assert chosen >= (
            {"Hoeffding", "Chebyshev's"} if function_class is None else {"sklearn_rank,"}
        )


@pytest.mark.parametrize("side", ["both", "lower", "upper"])
@pytest.mark.parametrize("function_class", CLASSES)
def test_default_with_an_observed_auc(side, function_class):
    for counts, delta, auc in product(COUNTS, DELTAS[::2], (0.0, 0.9)):
        of = {"function_class": function_class, "side": side}
        default = auc_bound(*counts, delta, auc=auc, **of).value
        # Knowing the AUC makes it larger only where Chebyshev's inequality is the smaller one.
        if side != "both" or delta <= 0.2:
            assert default <= auc_bound(*counts, delta, **of).value * (1 + 1e-12)
        for method in ("mcdiarmid", "hoeffding"):
            other = auc_bound(*counts, delta, method=method, **of).value
            assert default <= other * (1 + 1e-12)
        if delta == 0.001 and min(counts) >= 10:
            other = auc_bound(*counts, delta, auc=auc, method="chebyshev", **of).value
            assert default < other + 0.003


def test_default_chooses_without_a_look_at_the_auc():
    # Else it would be the smaller of two, which fails more often than either.
    for counts, delta in product(COUNTS, DELTAS):
        theorems = {
            auc_bound(*counts, delta, auc=auc).theorem for auc in np.linspace(0, 1, 6).tolist()
        }
        assert len(theorems) == 1


@pytest.mark.parametrize("side", ["both", "lower", "upper"])
def test_default_probability_is_the_smallest(side):
    for counts, epsilon, expected in product(COUNTS, (0.02, 0.1, 0.4, 1.0), (None, 0.5, 0.9, 1.0)):
        default = auc_deviation_bound(epsilon, *counts, expected_auc=expected, side=side).value
        methods = ONE if expected is None else (*ONE, "kl")
        assert default == min(
            auc_deviation_bound(
                *(epsilon, *counts),
                method=method,
                side=side,
                expected_auc=expected if method in BY_AUC else None,
            ).value
            for method in methods
        )
    small = auc_deviation_bound(0.05, 40, 40, variance=1e-6)
    assert small.value == pytest.approx(1e-6 / 0.05**2)
    finite = auc_deviation_bound(0.3, 40, 90, function_class=5, side=side)
    one = auc_deviation_bound(0.3, 40, 90, side=side).value
    assert finite.value == pytest.approx(5 * one, rel=1e-12)


@pytest.mark.parametrize("function_class", CLASSES)
def test_default_sample_size_is_the_smallest(function_class):
    for epsilon, delta, share in product((0.01, 0.2), DELTAS, (0.5, 0.1, 0.8)):
        default, *others = (
            auc_sample_size_bound(
                epsilon, delta, share, function_class=function_class, method=method
            ).value
            for method in ("tightest", *ONE)
        )
        assert default == min(others)


@for_each(
    ("error", "call", "message"),
    [
        (ValueError, lambda: auc_bound(-1, 5, 0.1), "n_pos=-1 must be at least 0"),
        (TypeError, lambda: auc_bound(5, 2.5, 0.1), "n_neg=2.5 must be a whole number"),
        (ValueError, lambda: auc_bound(5, 5, 0.0), r"delta=0.0 must be .* in \(0, 1\)"),
        (ValueError, lambda: auc_bound(5, 5, 0.1, method="kl"), "auc is None: pass it"),
        (
            ValueError,
            lambda: auc_bound(5, 5, 0.1, method="x"),
            "method='x' must be one of 'tightest', 'mcdiarmid', 'hoeffding', 'kl', 'chebyshev' for"
            " function_class=None",
        ),
        (ValueError, lambda: auc_bound(5, 5, 0.1, side="low"), "side='low' must be one of"),
        (ValueError, lambda: auc_bound(5, 5, 0.1, labels="x"), "labels='x' must be one of"),
        (ValueError, lambda: auc_bound(5, 5, 0.1, auc=1.1), r"auc=1.1 must be .* in \[0, 1\]"),
        (ValueError, lambda: auc_deviation_bound(0.0, 5, 5), "epsilon=0.0 must be .* a deviation"),
        (ValueError, lambda: auc_deviation_bound(0.1, 5, 5, variance=1), "variance=1 must be"),
        (
            ValueError,
            lambda: auc_deviation_bound(0.1, 5, 5, method="kl"),
            "expected_auc is None: pass it",
        ),
        (ValueError, lambda: auc_variance_bound(0, 5), "n_pos=0 must be at least 1"),
        (
            ValueError,
            lambda: auc_sample_size_bound(0.1, 0.1, 1.0),
            "prevalence=1.0 must be .* the share of positives",
        ),
        (
            ValueError,
            lambda: auc_sample_size_bound(0.1, 0.1, 0.5, method="kl"),
            "method='kl' must be one of 'tightest', 'mcdiarmid', 'hoeffding', 'chebyshev' for",
        ),
    ],
)
def test_refusals(error, call, message):
    with pytest.raises(error, match=message):
        call()


# ---------------------------------------------------------------------------------- as a guarantee


@pytest.mark.parametrize(
    ("method", "side"),
    [
        ("tightest", "lower"),
        ("tightest", "both"),
        ("mcdiarmid", "upper"),
        ("hoeffding", "both"),
        ("kl", "lower"),
        ("kl", "upper"),
        ("chebyshev", "lower"),
        ("chebyshev", "both"),
    ],
)
def test_violated_at_most_delta_at_the_largest_variance(method, side):
    # The smaller class lies wholly above or below the other: a mean of draws of 0 and 1.
    for n, delta in product((5, 30), (0.1, 0.5)):
        auc = np.arange(n + 1) / n
        width = np.array(
            [
                auc_bound(n, 2 * n, delta, method=method, side=side, **given(method, a)).value
                for a in auc.tolist()
            ]
        )
        for expected in (0.5, 0.9, 0.99):
            away = auc - expected
            far = {"lower": away, "upper": -away, "both": np.abs(away)}[side] > width
            assert binom.pmf(np.arange(n + 1), n, expected)[far].sum() <= delta


# ------------------------------------------------------------------ items that differ in their law


def laws(rng, n_items, spread):
    """Laws on three scores, item by item; the nearer to certain, the more they differ."""
    return [
        list(zip(range(3), rng.dirichlet(np.full(3, spread)).tolist(), strict=True))
        for _ in range(n_items)
    ]


@pytest.mark.parametrize(
    ("m", "n", "spread"),
    [(1, 3, 0.5), (2, 2, 0.05), (2, 2, 5.0), (3, 2, 0.5), (3, 2, 5.0)],
)
def test_chernoffs_bound_needs_no_identical_laws(m, n, spread):
    # Theorem 4 of the proofs, with every outcome and every pairing listed.
    rng = np.random.default_rng(10 * m + n)
    jensen_fails = 0
    for _ in range(2):
        of_pos, of_neg = laws(rng, m, spread), laws(rng, n, spread)
        law = pairings.law_of_auc(of_pos, of_neg)
        expected = sum(chance * auc for auc, chance in law)
        of_pairing = pairings.expected_by_pairing(of_pos, of_neg)
        assert np.mean(of_pairing) == pytest.approx(expected)
        k = min(m, n)
        for rate in (-20.0, -2.0, 0.5, 3.0, 20.0):
            coins = pairings.moment_of_coins(expected, k, rate)
            assert pairings.moment(law, rate) <= coins * (1 + 1e-12)
            # What Jensen's inequality alone leaves is no bound of that form.
            jensen = np.mean([pairings.moment_of_coins(a, k, rate) for a in of_pairing])
            jensen_fails += jensen > coins * (1 + 1e-9)
        for delta in (0.05, 0.3, 0.6):
            missed = 0.0
            for auc, chance in law:
                width = auc_bound(m, n, delta, method="kl", auc=auc, side="lower").value
                missed += chance * (auc - expected > width + 1e-12)
            assert missed <= delta
    assert jensen_fails or k == 1


@pytest.mark.slow
def test_the_smaller_of_two_limits_on_one_side_is_valid():
    # One positive-negative pair per draw: a binomial AUC, summed over its outcomes.
    for k, delta in product((5, 20, 60), (0.05, 0.3, 0.6)):
        hits = np.arange(k + 1)
        lower = [h / k - auc_bound(k, k, delta, auc=h / k, side="lower").value for h in hits]
        for expected in np.linspace(0.02, 0.98, 25):
            missed = binom.pmf(hits, k, expected)[np.array(lower) > expected + 1e-12].sum()
            assert missed <= delta
