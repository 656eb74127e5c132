"""Planning: the three questions invert each other, and agree with the intervals they plan."""

from math import ceil, log, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_rank.inference import (
    auc_interval,
    auc_sample_delta,
    auc_sample_epsilon,
    auc_sample_size,
)
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
    plan = auc_sample_size(epsilon, delta, fraction, method=method, auc=auc)
    again = auc_sample_epsilon(plan.n, delta, fraction, method=method, auc=auc)
    assert plan == again
    assert plan.epsilon <= epsilon
    assert plan.n == plan.n_pos + plan.n_neg
    assert min(plan.n_pos, plan.n_neg) >= 1
    assert abs(plan.n_pos - fraction * plan.n) <= 0.5 or min(plan.n_pos, plan.n_neg) == 1
    fewer = auc_sample_epsilon(plan.n - 1, delta, fraction, method=method, auc=auc)
    assert fewer.epsilon > epsilon


@pytest.mark.parametrize("method", [method for method in METHODS if method != "kl"])
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_epsilon_and_delta_invert(method, fraction):
    auc = expected(method)
    plan = auc_sample_epsilon(3000, 0.02, fraction, method=method, auc=auc)
    back = auc_sample_delta(3000, plan.epsilon, fraction, method=method, auc=auc)
    assert back.delta == pytest.approx(0.02)


@pytest.mark.parametrize("method", METHODS)
def test_accuracy_rises_with_n(method):
    auc = expected(method)
    for fraction in FRACTIONS:
        epsilons, deltas = [], []
        for n in range(2, 60):
            for call, values, given in (
                (auc_sample_epsilon, epsilons, 0.1),
                (auc_sample_delta, deltas, 0.1),
            ):
                plan = call(n, given, fraction, method=method, auc=auc)
                values.append(plan.epsilon if call is auc_sample_epsilon else plan.delta)
        assert np.all(np.diff(epsilons) <= 1e-12)
        assert np.all(np.diff(deltas) <= 1e-12)
        assert max(epsilons) <= 1
        assert max(deltas) <= 1


def test_closed_forms_where_the_share_is_whole():
    n, share = 1000, 0.1 * 0.9
    assert auc_sample_epsilon(n, 0.05, 0.1, method="mcdiarmid").epsilon == pytest.approx(
        sqrt(log(40) / (2 * share * n))
    )
    assert auc_sample_epsilon(n, 0.05, 0.1).epsilon == pytest.approx(sqrt(log(40) / 200))
    assert auc_sample_epsilon(n, 0.05, 0.1, method="chebyshev").epsilon == pytest.approx(
        sqrt(1 / (4 * 0.05 * 100))
    )
    worst = auc_sample_epsilon(n, 0.05, 0.1, method="normal-worst", auc=0.8).epsilon
    assert worst == pytest.approx(norm.ppf(0.975) * sqrt(0.16 / 100))


def test_corollary_7_to_a_row():
    # Whole numbers of positives: never more than a few rows from the formula for the share.
    for fraction in (0.5, 0.25, 0.1):
        formula = ceil(log(2 / 0.05) / (2 * fraction * (1 - fraction) * 0.03**2))
        plan = auc_sample_size(0.03, 0.05, fraction, method="mcdiarmid")
        assert abs(plan.n - formula) <= 1 / fraction


def test_delong_plans_delongs_interval():
    rng = np.random.default_rng(0)
    plan = auc_sample_size(0.04, 0.05, 0.2, method="delong", auc=0.85)
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
    plan = auc_sample_epsilon(200, 0.05, 0.25, method="hanley-mcneil", auc=auc)
    assert plan.epsilon == pytest.approx(norm.ppf(0.975) * error)
    plan = auc_sample_delta(200, 0.05, 0.25, method="hanley-mcneil", auc=auc)
    assert plan.delta == pytest.approx(2 * norm.sf(0.05 / error))


def test_order_of_what_is_promised():
    sizes = [
        auc_sample_size(0.05, 0.05, 0.2, method=method, auc=0.9).n
        for method in ("delong", "kl", "hoeffding", "mcdiarmid")
    ]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auc_sample_size(0, 0.1, 0.5), "epsilon=0 must be a deviation"),
        (lambda: auc_sample_size(0.1, 1.0, 0.5), "delta=1.0 must be the probability"),
        (lambda: auc_sample_size(0.1, 0.1, 0), "positive_fraction=0 must be the share"),
        (lambda: auc_sample_size(0.1, 0.1, 0.5, method="x"), "method='x' must be one of"),
        (lambda: auc_sample_size(0.1, 0.1, 0.5, method="kl"), "auc is None: pass it"),
        (lambda: auc_sample_size(0.1, 0.1, 0.5, auc=1.0), "auc=1.0 must be the expected AUC"),
        (lambda: auc_sample_size(1e-9, 0.1, 0.5), "need more than 2\\*\\*53 items"),
        (lambda: auc_sample_epsilon(1, 0.1, 0.5), "n=1 must be a whole number of items"),
        (lambda: auc_sample_delta(10.5, 0.1, 0.5), "n=10.5 must be a whole number of items"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
