"""Planning: the three questions invert each other, and agree with the intervals they plan."""

from math import ceil, log, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_rank.bounds import auc_bound, auc_deviation_bound
from sklearn_rank.inference import auc_interval, auc_sample_size
from sklearn_rank.inference._sample_size import METHODS

FRACTIONS = (0.5, 0.1, 0.97)


def expected(method):
    """Half the methods need an AUC, the others may do without."""
    return 0.9 if method in ("kl", "hanley-mcneil", "delong") else None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fraction", FRACTIONS)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 0.05), (0.2, 0.5), (0.01, 0.001)])
def test_smallest_that_suffices(method, fraction, epsilon, delta):
    auc = expected(method)
    plan = auc_sample_size(fraction, epsilon=epsilon, delta=delta, method=method, auc=auc)
    again = auc_sample_size(fraction, n=plan.n, delta=delta, method=method, auc=auc)
    assert plan == again
    assert plan.epsilon <= epsilon
    assert plan.n == plan.n_pos + plan.n_neg
    assert min(plan.n_pos, plan.n_neg) >= 1
    assert abs(plan.n_pos - fraction * plan.n) <= 0.5 or min(plan.n_pos, plan.n_neg) == 1
    fewer = auc_sample_size(fraction, n=plan.n - 1, delta=delta, method=method, auc=auc)
    assert fewer.epsilon > epsilon


@pytest.mark.parametrize("method", [method for method in METHODS if method != "kl"])
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_epsilon_and_delta_invert(method, fraction):
    auc = expected(method)
    plan = auc_sample_size(fraction, n=3000, delta=0.02, method=method, auc=auc)
    back = auc_sample_size(fraction, n=3000, epsilon=plan.epsilon, method=method, auc=auc)
    assert back.delta == pytest.approx(0.02)


@pytest.mark.parametrize("method", METHODS)
def test_accuracy_rises_with_n(method):
    auc = expected(method)
    for fraction in FRACTIONS:
        epsilons, deltas = [], []
        for n in range(2, 60):
            given = {"n": n, "method": method, "auc": auc}
            epsilons.append(auc_sample_size(fraction, delta=0.1, **given).epsilon)
            deltas.append(auc_sample_size(fraction, epsilon=0.1, **given).delta)
        assert np.all(np.diff(epsilons) <= 1e-12)
        assert np.all(np.diff(deltas) <= 1e-12)
        assert max(epsilons) <= 1
        assert max(deltas) <= 1


def test_closed_forms_where_the_share_is_whole():
    n, share = 1000, 0.1 * 0.9
    assert auc_sample_size(0.1, n=n, delta=0.05, method="mcdiarmid").epsilon == pytest.approx(
        sqrt(log(40) / (2 * share * n))
    )
    assert auc_sample_size(0.1, n=n, delta=0.05).epsilon == pytest.approx(sqrt(log(40) / 200))
    assert auc_sample_size(0.1, n=n, delta=0.05, method="chebyshev").epsilon == pytest.approx(
        sqrt(1 / (4 * 0.05 * 100))
    )
    worst = auc_sample_size(0.1, n=n, delta=0.05, method="normal-worst", auc=0.8).epsilon
    assert worst == pytest.approx(norm.ppf(0.975) * sqrt(0.16 / 100))


def test_corollary_7_to_a_row():
    # Whole numbers of positives: never more than a few rows from the formula for the share.
    for fraction in (0.5, 0.25, 0.1):
        formula = ceil(log(2 / 0.05) / (2 * fraction * (1 - fraction) * 0.03**2))
        plan = auc_sample_size(fraction, epsilon=0.03, delta=0.05, method="mcdiarmid")
        assert abs(plan.n - formula) <= 1 / fraction


def test_delong_plans_delongs_interval():
    rng = np.random.default_rng(0)
    plan = auc_sample_size(0.2, epsilon=0.04, delta=0.05, method="delong", auc=0.85)
    widths = []
    for _ in range(200):
        score = rng.normal(size=plan.n)
        score[: plan.n_pos] += sqrt(2) * norm.ppf(0.85)
        y = np.arange(plan.n) < plan.n_pos
        widths.append(auc_interval(y, score, method="delong").width)
    assert np.mean(widths) / 2 == pytest.approx(0.04, rel=0.03)


def test_hanley_and_mcneil_by_hand():
    auc, n_pos, n_neg = 0.9, 50, 150
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (n_pos - 1) * (first - auc**2) + (n_neg - 1) * (second - auc**2)
    error = sqrt(variance / (n_pos * n_neg))
    plan = auc_sample_size(0.25, n=200, delta=0.05, method="hanley-mcneil", auc=auc)
    assert plan.epsilon == pytest.approx(norm.ppf(0.975) * error)
    plan = auc_sample_size(0.25, n=200, epsilon=0.05, method="hanley-mcneil", auc=auc)
    assert plan.delta == pytest.approx(2 * norm.sf(0.05 / error))


def test_order_of_what_is_promised():
    sizes = [
        auc_sample_size(0.2, epsilon=0.05, delta=0.05, method=method, auc=auc).n
        for method, auc in (("delong", 0.9), ("kl", 0.9), ("hoeffding", None), ("mcdiarmid", None))
    ]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 4


@pytest.mark.parametrize("method", ["mcdiarmid", "hoeffding", "kl"])
def test_guarantees_are_those_of_the_bounds(method):
    auc = expected(method)
    plan = auc_sample_size(0.25, n=400, delta=0.05, method=method, auc=auc)
    assert plan.epsilon == auc_bound(100, 300, 0.05, method=method, auc=auc).value
    plan = auc_sample_size(0.25, n=400, epsilon=0.07, method=method, auc=auc)
    found = auc_deviation_bound(0.07, 100, 300, method=method, expected_auc=auc)
    assert plan.delta == found.value


def test_chebyshev_takes_the_auc_for_the_expected_one():
    plan = auc_sample_size(0.25, n=400, delta=0.1, method="chebyshev", auc=0.9)
    assert plan.epsilon == pytest.approx(sqrt(0.09 / (100 * 0.1)))


VALUES = [
    # Method; size for .07 and .03, epsilon and delta of 500 items, with 30 % positives and an AUC
    # of .8; recorded values.
    ("mcdiarmid", 2042, 0.1414163908779744, 1.0),
    ("hoeffding", 1429, 0.11831744134431924, 0.9447331054820293),
    ("kl", 1059, 0.10467053746005961, 0.6150153869010502),
    ("chebyshev", 3629, 0.18856180831641264, 0.4266666666666665),
    ("normal-worst", 512, 0.07087485494407807, 0.12578642463894),
    ("hanley-mcneil", 265, 0.05096016055410617, 0.033237481558478395),
    ("delong", 218, 0.04605013710300493, 0.018461694224205714),
]


@pytest.mark.parametrize(("method", "n", "epsilon", "delta"), VALUES)
def test_values_of_each_method(method, n, epsilon, delta):
    given = {"method": method, "auc": None if method in ("mcdiarmid", "hoeffding") else 0.8}
    assert auc_sample_size(0.3, epsilon=0.07, delta=0.03, **given).n == n
    found = auc_sample_size(0.3, n=500, delta=0.03, **given)
    assert found.epsilon == pytest.approx(epsilon, rel=1e-12)
    found = auc_sample_size(0.3, n=500, epsilon=0.05, **given)
    assert found.delta == pytest.approx(delta, rel=1e-12)


@pytest.mark.parametrize(
    ("error", "change", "message"),
    [
        (ValueError, {"epsilon": 0}, "epsilon=0 must be .* a deviation"),
        (ValueError, {"delta": 1.0}, "delta=1.0 must be .* the probability of a larger"),
        (ValueError, {"positive_fraction": 0}, "positive_fraction=0 must be .* the share"),
        (ValueError, {"method": "x"}, "method='x' must be one of"),
        (ValueError, {"method": "kl"}, "auc is None: pass it"),
        (ValueError, {"auc": 1.0}, "auc=1.0 must be .* the expected AUC"),
        (ValueError, {"epsilon": 1e-9}, r"need more than 2\*\*53 items"),
        (ValueError, {"epsilon": None, "n": 1}, "n=1 must be at least 2"),
        (TypeError, {"delta": None, "n": 10.5}, "n=10.5 must be a whole number"),
        (ValueError, {"n": 100}, "epsilon=0.1, delta=0.1 and n=100: pass two of the three"),
        (ValueError, {"delta": None}, "epsilon=0.1, delta=None and n=None: pass two"),
        (ValueError, {"delta": None, "epsilon": None}, "n=None: pass two of the three"),
    ],
)
def test_refusals(error, change, message):
    given = {"positive_fraction": 0.5, "epsilon": 0.1, "delta": 0.1} | change
    with pytest.raises(error, match=message):
        auc_sample_size(**given)
