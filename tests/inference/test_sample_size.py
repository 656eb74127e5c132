"""Plans without a pilot: the questions invert each other, known sizes, refusals."""

import pickle
from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_rank._planning._plans import PlanModel, auc_variance, threshold_share
from sklearn_rank.inference import compare, metric_interval, sample_size
from sklearn_rank.inference._roc import both_below
from tests.naming import for_each
from tests.oracles import sample_sizes as oracle


def auc_plan(prevalence=0.1, **given):
    return sample_size("auc", prevalence=prevalence, **given)


# --------------------------------------------------------------------------- intervals for the AUC


@pytest.mark.parametrize(
    ("prevalence", "width", "level"), [(0.1, 0.1, 0.95), (0.97, 0.4, 0.5), (0.5, 0.02, 0.999)]
)
def test_smallest_that_suffices(prevalence, width, level):
    given = {"level": level, "expected": 0.9}
    plan = auc_plan(prevalence, width=width, **given)
    assert plan.width <= width
    assert plan.n == plan.n_pos + plan.n_neg
    assert min(plan.n_pos, plan.n_neg) >= 1
    assert abs(plan.n_pos - prevalence * plan.n) <= 0.5 or min(plan.n_pos, plan.n_neg) == 1
    assert auc_plan(prevalence, n=plan.n, **given).width == plan.width
    assert auc_plan(prevalence, n=plan.n - 1, **given).width > width


def test_intervals_have_the_planned_width():
    rng = np.random.default_rng(0)
    plan = auc_plan(0.2, width=0.08, expected=0.85)
    y = np.arange(plan.n) < plan.n_pos
    shift = y * sqrt(2) * norm.ppf(0.85)
    widths = [metric_interval("auc", y, rng.normal(size=plan.n) + shift).width for _ in range(40)]
    assert np.mean(widths) == pytest.approx(plan.width, rel=0.03)


# -------------------------------------------------------------------------------------- variances


@pytest.mark.parametrize("ends", [(0.0, 0.0), (0.0, 1.2), (-0.7, 0.0), (0.3, 0.9), (-1.5, 2.0)])
def test_orthants(ends):
    for correlation in (-0.9, -0.2, 0.0, 0.5, 0.99):
        assert both_below(*ends, correlation) == pytest.approx(
            oracle.orthant(*ends, correlation), abs=1e-9
        )


@pytest.mark.parametrize(
    ("aucs", "correlation"),
    [((0.8, 0.8), 0.0), ((0.8, 0.8), 0.95), ((0.9, 0.5), 0.6), ((0.95, 0.7), 0.95)],
)
def test_variance_of_a_difference_of_aucs(aucs, correlation):
    n_pos, n_neg = 12, 28
    variances = [
        oracle.auc_covariance(np.array([auc, auc]), 1 - 1e-9, n_pos, n_neg) for auc in aucs
    ]
    for auc, variance in zip(aucs, variances, strict=True):
        found = auc_variance(auc, None, (n_pos, n_neg))[0]
        assert found == pytest.approx(variance, rel=1e-3)
    covariance = oracle.auc_covariance(np.array(aucs), correlation, n_pos, n_neg)
    found = auc_variance(aucs[1], correlation, (n_pos, n_neg), aucs[0] - aucs[1])[0]
    assert found == pytest.approx(sum(variances) - 2 * covariance, rel=1e-3)


def test_threshold_of_normal_scores():
    share, tau, shift = 0.1, 0.05, 1.5
    grid = np.linspace(-2, 6, 200_001)
    in_top = share * norm.sf(grid - shift) + (1 - share) * norm.sf(grid)
    cut = grid[np.argmin(np.abs(in_top - tau))]
    precision = share * norm.sf(cut - shift) / tau
    weight = share * norm.pdf(cut - shift)
    eta = weight / (weight + (1 - share) * norm.pdf(cut))
    assert threshold_share(precision, tau, share) == pytest.approx(eta, abs=1e-3)


# -------------------------------------------------------------------------------------- power


@pytest.mark.parametrize(
    ("noncentrality", "degrees"), [(0.1, 1.0), (2.0, 4.0), (4.5, 1.0), (4.5, 33.0)]
)
def test_power_of_students_test(noncentrality, degrees):
    model = PlanModel("queries", None, 2.0, lambda sizes, difference: (1.0, degrees))
    exact = oracle.power_of_t(noncentrality, degrees, 0.9, True)
    assert model.power(9, noncentrality, 0.9) == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize(("d", "n"), [(0.5, 34), (0.2, 199), (-0.8, 15)])
def test_known_sizes_of_t_tests(d, n):
    # Of Cohen's tables and of every program for t-tests.
    model = PlanModel("queries", None, 2.0, lambda sizes, _: (1 / sizes[0], sizes[0] - 1.0))
    assert model.power(n, d, 0.95) >= 0.8 > model.power(n - 1, d, 0.95)


def test_power_inverts():
    given = {"expected": 0.85, "correlation": 0.6}
    plan = auc_plan(**given, difference=0.03, power=0.7)
    assert plan.power >= 0.7
    assert auc_plan(**given, difference=0.03, n=plan.n).power == plan.power
    assert auc_plan(**given, difference=0.03, n=plan.n - 1).power < 0.7
    found = auc_plan(**given, n=plan.n, power=plan.power)
    assert found.difference == pytest.approx(0.03, rel=1e-6)
    assert found.found == "difference"
    assert auc_plan(**given, difference=0.03).power == pytest.approx(0.8, abs=0.01)
    assert auc_plan(**given, difference=-0.03).n > plan.n


def test_simulated_power_of_paired_aucs():
    rng = np.random.default_rng(0)
    plan = auc_plan(0.3, expected=0.7, difference=0.1, correlation=0.6)
    y = np.arange(plan.n) < plan.n_pos
    rejected = 0
    for _ in range(150):
        noise = rng.normal(size=(2, plan.n))
        second = noise[0] + y * sqrt(2) * norm.ppf(0.7)
        first = 0.6 * noise[0] + 0.8 * noise[1] + y * sqrt(2) * norm.ppf(0.8)
        rejected += compare("auc", y, {"a": first, "b": second}).pvalue < 0.05
    assert rejected / 150 == pytest.approx(0.8, abs=0.1)


# ------------------------------------------------------------------------- shares, means, the top


def test_shares_of_queries():
    plan = sample_size("success@5", expected=0.3, width=0.2)
    y = np.tile(np.arange(6) == 0, (plan.n, 1))
    score = np.where(np.arange(plan.n)[:, np.newaxis] < 0.3 * plan.n, y, -1.0 * y)
    found = metric_interval("success@5", y, score)
    assert found.width == pytest.approx(plan.width, rel=0.02)
    assert plan.method == found.method == "wilson"
    # McNemar's variance of the difference of shares with a correlation.
    plan = sample_size("precision@1", expected=0.5, n=400, correlation=0.3, difference=0.1)
    variance = 0.6 * 0.4 + 0.25 - 2 * 0.3 * sqrt(0.24 * 0.25)
    exact = oracle.power_of_t(0.1 / sqrt(variance / 400), 399.0, 0.95)
    assert plan.power == pytest.approx(exact, abs=1e-3)


def test_precision_at_the_top():
    share, tau, precision = 0.1, 0.05, 0.6
    given = {"expected": precision, "prevalence": share}
    plan = sample_size(f"precision@top{tau}", **given, width=0.3)
    shift = norm.ppf(precision * tau / share) - norm.ppf((1 - precision) * tau / (1 - share))
    rng = np.random.default_rng(0)
    widths = []
    for _ in range(40):
        y = rng.random(plan.n) < share
        score = rng.normal(size=plan.n) + shift * y
        widths.append(metric_interval(f"precision@top{tau}", y, score).width)
    assert np.mean(widths) == pytest.approx(0.3, rel=0.05)


# -------------------------------------------------------------------------------------- results


def test_a_plan_prints_and_can_be_stored():
    plan = auc_plan(expected=0.85, difference=0.05, correlation=0.5)
    assert str(plan).startswith(
        f"{plan.n:,} items: {plan.n_pos} positives and {plan.n_neg:,} negatives\npower 0.8"
    )
    assert "for a difference of 0.05 in auc, two-sided at level 95 %" in str(plan)
    assert pickle.loads(pickle.dumps(plan)) == plan
    both = auc_plan(expected=0.85, width=0.05, correlation=0.5)
    assert "an interval for the difference of auc that is 0.04999 wide" in str(both)


NDCG = {"measure": "ndcg@10", "prevalence": None, "expected": None}


@for_each(
    ("error", "change", "message"),
    [
        (ValueError, {"level": 95}, r"level=95 .* for 95 per cent pass level=0.95"),
        (ValueError, {"expected": 85}, r"expected=85 .* pass expected=0.85"),
        (ValueError, {"prevalence": 10}, r"pass prevalence=0.1"),
        (ValueError, {"width": 10}, r"less than 1, the length of the range; .* pass 0.1"),
        (ValueError, {"width": 1.5}, "width=1.5 must be less than 1"),
        (ValueError, {"width": 0}, "width=0 must be a finite number greater than 0"),
        (ValueError, {"width": 1e-9}, r"width=1e-09 takes more than 2\*\*53 items"),
        (ValueError, {"expected": 0.3}, r"expected=0.3 is below 0.5.* pass 0.7"),
        (ValueError, {"expected": 1.0}, r"expected=1.0 must be a number in \(0, 1\)"),
        (ValueError, {"expected": None}, "expected is missing: the variance of the AUC"),
        (ValueError, {"prevalence": None}, "prevalence is missing"),
        (ValueError, {"n": 100}, "n=100 and width=0.1: leave out the one to compute"),
        (ValueError, {"width": None}, "n=None and width=None.* power are for a test"),
        (TypeError, {"n": 10.5, "width": None}, "n=10.5 must be a whole number"),
        (ValueError, {"n": 1, "width": None}, "n=1 must be at least 2"),
        (
            ValueError,
            {"difference": 0.1},
            "width=0.1: leave out the one.* width is for an interval",
        ),
        (ValueError, {"width": None, "difference": 0}, "difference=0 cannot be detected"),
        (ValueError, {"width": None, "difference": 0.05}, "correlation is missing"),
        (ValueError, {"width": None, "difference": 0.3}, "is outside the range"),
        (ValueError, {"width": None, "power": 0.8}, "leave out the one to compute"),
        (ValueError, {"width": None, "difference": 0.1, "power": 0.01}, "not above 1 - level"),
        (ValueError, {"width": None, "difference": 0.1, "power": 80}, "pass power=0.8"),
        (ValueError, {"correlation": 1}, r"correlation=1 must be a number in \(-1, 1\)"),
        (ValueError, {"qid": [1]}, "qid is only for a pilot, but pilot is None"),
        (ValueError, {"measure": "bedroc@20"}, "has no formula: pass pilot="),
        (ValueError, NDCG, r"has no formula: pass pilot=\(y_true, y_score\), qid=qid"),
        (ValueError, {"measure": "success@5"}, "prevalence=0.1 is not used"),
        (ValueError, {"measure": "precision@top0.2", "expected": 0.6}, "pass at most 0.5"),
        (
            ValueError,
            {"measure": "precision@top0.2", "expected": 0.05},
            "precision of a random order",
        ),
        (ValueError, {"pilot": [1, 2, 3]}, "pilot must be a pair"),
    ],
)
def test_refusals(error, change, message):
    given = {"measure": "auc", "prevalence": 0.1, "expected": 0.8, "width": 0.1} | change
    with pytest.raises((error, TypeError) if "pilot" in change else error, match=message):
        sample_size(**given)


def test_a_difference_that_no_test_sees():
    with pytest.raises(ValueError, match=r"the power is below 0\.8 for every possible difference"):
        auc_plan(0.5, expected=0.9, n=4, power=0.8, correlation=0.1)
