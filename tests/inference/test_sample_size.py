"""Plans without a pilot: the questions invert each other, known sizes, theorems, refusals."""

import pickle
from math import ceil, log, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_rank.bounds import auc_bound, auc_deviation_bound
from sklearn_rank.inference import compare, metric_interval, sample_size
from sklearn_rank.inference._plans import (
    AUC_METHODS,
    Composition,
    ExpectedAUC,
    PlannedTest,
    threshold_share,
)
from sklearn_rank.inference._roc import both_below
from tests.oracles import sample_sizes as oracle

FRACTIONS = (0.5, 0.1, 0.97)
METHODS = [name for name in AUC_METHODS if name != "auto"]
GIVEN = {
    name: {"method": name}
    | (
        {}
        if name in ("mcdiarmid", "hoeffding", "chebyshev", "normal-worst")
        else {"expected": 0.9}
    )
    for name in METHODS
}


def auc_plan(positive_fraction=0.1, **given):
    return sample_size("auc", positive_fraction=positive_fraction, **given)


# --------------------------------------------------------------------------- intervals for the AUC


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("fraction", "width", "level"), [(0.1, 0.1, 0.95), (0.97, 0.4, 0.5), (0.5, 0.02, 0.999)]
)
def test_smallest_that_suffices(method, fraction, width, level):
    given = GIVEN[method]
    plan = auc_plan(fraction, width=width, level=level, **given)
    assert plan.width <= width
    assert plan.n == plan.n_pos + plan.n_neg
    assert min(plan.n_pos, plan.n_neg) >= 1
    assert abs(plan.n_pos - fraction * plan.n) <= 0.5 or min(plan.n_pos, plan.n_neg) == 1
    assert auc_plan(fraction, n=plan.n, level=level, **given).width == plan.width
    assert auc_plan(fraction, n=plan.n - 1, level=level, **given).width > width


@pytest.mark.parametrize("method", [name for name in METHODS if name != "kl"])
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_width_and_level_invert(method, fraction):
    plan = auc_plan(fraction, n=3000, level=0.98, **GIVEN[method])
    back = auc_plan(fraction, n=3000, level=None, width=plan.width, **GIVEN[method])
    assert back.level == pytest.approx(0.98)
    assert (plan.found, back.found) == ("width", "level")


@pytest.mark.parametrize("method", METHODS)
def test_accuracy_rises_with_n(method):
    for fraction in FRACTIONS:
        sizes = np.arange(4, 60, 3)
        widths = auc_plan(fraction, n=30, level=0.9, **GIVEN[method]).curve(sizes).values
        assert np.all(np.diff(widths) <= 1e-12)
        assert widths.max() <= 1
        levels = [
            auc_plan(fraction, width=0.2, level=None, n=int(n), **GIVEN[method]).level
            for n in sizes[::6]
        ]
        assert np.all(np.diff(levels) >= -1e-12)
        assert min(levels) >= 0


def test_closed_forms_where_the_share_is_whole():
    n, share = 1000, 0.1 * 0.9
    found = {name: auc_plan(n=n, **GIVEN[name]).width / 2 for name in GIVEN}
    assert found["mcdiarmid"] == pytest.approx(sqrt(log(40) / (2 * share * n)))
    assert found["hoeffding"] == pytest.approx(sqrt(log(40) / 200))
    assert found["chebyshev"] == pytest.approx(sqrt(1 / (4 * 0.05 * 100)))
    worst = auc_plan(n=n, method="normal-worst", expected=0.8).width / 2
    assert worst == pytest.approx(norm.ppf(0.975) * sqrt(0.16 / 100))


def test_corollary_7_to_a_row():
    # Whole numbers of positives: never more than a few rows from the formula for the share.
    for fraction in (0.5, 0.25, 0.1):
        formula = ceil(log(2 / 0.05) / (2 * fraction * (1 - fraction) * 0.03**2))
        assert abs(auc_plan(fraction, width=0.06, method="mcdiarmid").n - formula) <= 1 / fraction


@pytest.mark.parametrize(
    ("method", "interval"),
    [
        ("delong", lambda y, s: metric_interval("auc", y, s, method="delong")),
        ("wilson", lambda y, s: metric_interval("auc", y, s)),
    ],
)
def test_intervals_have_the_planned_width(method, interval):
    rng = np.random.default_rng(0)
    plan = auc_plan(0.2, width=0.08, method=method, expected=0.85)
    y = np.arange(plan.n) < plan.n_pos
    widths = []
    for _ in range(60):
        score = rng.normal(size=plan.n) + y * sqrt(2) * norm.ppf(0.85)
        widths.append(interval(y, score).width)
    assert np.mean(widths) == pytest.approx(plan.width, rel=0.03)


def test_hanley_and_mcneil_by_hand():
    auc, n_pos, n_neg = 0.9, 50, 150
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (n_pos - 1) * (first - auc**2) + (n_neg - 1) * (second - auc**2)
    error = sqrt(variance / (n_pos * n_neg))
    given = {"method": "hanley-mcneil", "expected": auc, "n": 200}
    assert auc_plan(0.25, **given).width == pytest.approx(2 * norm.ppf(0.975) * error)
    level = auc_plan(0.25, width=0.1, level=None, **given).level
    assert level == pytest.approx(1 - 2 * norm.sf(0.05 / error))


def test_order_of_what_is_promised():
    sizes = [
        auc_plan(0.2, width=0.1, **GIVEN[method]).n
        for method in ("delong", "kl", "hoeffding", "mcdiarmid")
    ]
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize("method", ["mcdiarmid", "hoeffding", "kl"])
def test_guarantees_are_those_of_the_bounds(method):
    given = GIVEN[method]
    auc = given.get("expected")
    found = auc_plan(0.25, n=400, **given).width / 2
    assert found == pytest.approx(auc_bound(100, 300, 0.05, method=method, auc=auc).value)
    level = auc_plan(0.25, n=400, width=0.14, level=None, **given).level
    bound = auc_deviation_bound(0.07, 100, 300, method=method, expected_auc=auc).value
    assert 1 - level == pytest.approx(bound)


def test_chebyshev_takes_the_auc_for_the_expected_one():
    plan = auc_plan(0.25, n=400, level=0.9, method="chebyshev", expected=0.9)
    assert plan.width / 2 == pytest.approx(sqrt(0.09 / (100 * 0.1)))


VALUES = [
    # Method; size for a deviation of .07 with probability .03, deviation and probability of 500
    # items, with 30 % positives and an AUC of .8; recorded values.
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
    given = {"method": method}
    if method not in ("mcdiarmid", "hoeffding"):
        given["expected"] = 0.8
    assert auc_plan(0.3, width=0.14, level=0.97, **given).n == n
    assert auc_plan(0.3, n=500, level=0.97, **given).width / 2 == pytest.approx(epsilon)
    level = auc_plan(0.3, n=500, width=0.1, level=None, **given).level
    assert 1 - level == pytest.approx(delta)


# -------------------------------------------------------------------------------------- variances


@pytest.mark.parametrize("ends", [(0.0, 0.0), (0.0, 1.2), (-0.7, 0.0), (0.3, 0.9), (-1.5, 2.0)])
def test_orthants(ends):
    for correlation in (-0.9, -0.2, 0.0, 0.5, 0.99):
        assert both_below(*ends, correlation) == pytest.approx(
            oracle.orthant(*ends, correlation), abs=1e-9
        )


@pytest.mark.parametrize("correlation", [0.0, 0.6, 0.95])
@pytest.mark.parametrize("aucs", [(0.8, 0.8), (0.9, 0.5), (0.95, 0.7)])
def test_variance_of_a_difference_of_aucs(aucs, correlation):
    n_pos, n_neg = 12, 28
    sample = Composition("items", 0.3)
    variances = [
        oracle.auc_covariance(np.array([auc, auc]), 1 - 1e-9, n_pos, n_neg) for auc in aucs
    ]
    for auc, variance in zip(aucs, variances, strict=True):
        found = ExpectedAUC(sample, auc, "delong").variance(40)[0]
        assert found == pytest.approx(variance, rel=1e-3)
    covariance = oracle.auc_covariance(np.array(aucs), correlation, n_pos, n_neg)
    found = ExpectedAUC(sample, aucs[1], "delong", correlation, 2).variance(40, aucs[0] - aucs[1])[
        0
    ]
    assert found == pytest.approx(sum(variances) - 2 * covariance, rel=1e-3)
    found = ExpectedAUC(sample, aucs[1], "delong", None, 2).variance(40, aucs[0] - aucs[1])[0]
    assert found == pytest.approx(sum(variances), rel=1e-3)


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


@pytest.mark.parametrize("degrees", [1.0, 4.0, 33.0])
@pytest.mark.parametrize("noncentrality", [0.1, 2.0, 4.5])
def test_power_of_students_test(noncentrality, degrees):
    for alternative, both in (("two-sided", True), ("greater", False)):
        found = PlannedTest(alternative, None, True).power(noncentrality, 1.0, degrees, 0.9)
        exact = oracle.power_of_t(noncentrality, degrees, 0.9, both)
        assert found == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize(
    ("given", "n"),
    [
        # Sizes of Cohen's tables and of every program for t-tests: d = .5, .2 and .8.
        ({"sd": 0.1, "difference": 0.05}, 34),
        ({"sd": 0.1, "difference": 0.02}, 199),
        ({"sd": 0.1, "difference": -0.08}, 15),
        ({"sd": 0.1, "difference": 0.05, "alternative": "greater"}, 27),
        ({"sd": 0.1, "difference": 0.05, "paired": False}, 64),
        ({"sd": 0.1, "difference": 0.08, "paired": False}, 26),
    ],
    ids=str,
)
def test_known_sizes_of_t_tests(given, n):
    plan = sample_size("ndcg@10", power=0.8, **given)
    assert plan.n == n
    assert (plan.unit, plan.n_pos, plan.method) == ("queries", None, "t")
    same = given | {"n": n}
    found = sample_size("ndcg@10", **same)
    assert found.power == plan.power >= 0.8
    same.pop("difference")
    sign = -1 if given["difference"] < 0 else 1
    smallest = sample_size("ndcg@10", power=0.8, **same).difference
    assert 0 < smallest <= sign * given["difference"]


def test_auc_against_a_number():
    # pROC 1.18: power.roc.test(ncases = 41, ncontrols = 72, auc = 0.73) has the power 0.9897, with
    # another approximation of the variance and its value at .5 for the limit of the test.
    plan = auc_plan(41 / 113, expected=0.73, against=0.5, n=113)
    assert plan.power == pytest.approx(0.9897, abs=0.01)
    assert (plan.n_pos, plan.paired, plan.against) == (41, None, 0.5)
    assert auc_plan(41 / 113, expected=0.73, against=0.5, power=plan.power).n == 113


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "non-inferior", "equivalent"])
def test_power_inverts(alternative):
    given = {"expected": 0.85, "correlation": 0.6, "alternative": alternative}
    size = "margin" if alternative in ("non-inferior", "equivalent") else "difference"
    plan = auc_plan(**given, **{size: 0.03}, power=0.7)
    assert plan.power >= 0.7
    assert auc_plan(**given, **{size: 0.03}, n=plan.n).power == plan.power
    assert auc_plan(**given, **{size: 0.03}, n=plan.n - 1).power < 0.7
    found = auc_plan(**given, n=plan.n, power=plan.power)
    assert getattr(found, size) == pytest.approx(0.03, rel=1e-6)
    assert found.found == size
    assert auc_plan(**given, **{size: 0.03}).power == pytest.approx(0.8, abs=0.01)


def test_sides_of_a_loss():
    # Less of a loss is better: a difference above 0 makes the first the worse one.
    given = {"sd": 0.1, "margin": 0.05, "n": 50}
    better = sample_size("ndcg@10", difference=0.02, **given).power
    worse = sample_size("ndcg@10", difference=-0.02, **given).power
    assert better > worse
    loss = sample_size("coverage", sd=0.1, n=50, margin=0.05, difference=-0.02).power
    assert loss == pytest.approx(better)


def test_a_guaranteed_test_has_the_power_that_it_says():
    plan = auc_plan(0.5, difference=0.3, method="hoeffding")
    assert plan.power >= 0.8
    k = plan.n // 2
    # Deviations of a difference, whose outcomes are in [-1, 1].
    limit = 2 * sqrt(log(2 / 0.05) / (2 * k))
    assert plan.power == pytest.approx(1 - np.exp(-2 * k * ((0.3 - limit) / 2) ** 2))
    rng = np.random.default_rng(1)
    plan = sample_size("ndcg@10", difference=0.3, method="hoeffding", power=0.5)
    d = rng.choice([-1.0, 1.0], p=[0.35, 0.65], size=(2000, plan.n)).mean(axis=1)
    assert np.mean(d > 2 * sqrt(log(40) / (2 * plan.n))) >= 0.5
    unpaired = sample_size("ndcg@10", difference=0.3, method="hoeffding", power=0.5, paired=False)
    assert unpaired.n == pytest.approx(plan.n / 2, abs=1)


def test_simulated_power_of_paired_aucs():
    rng = np.random.default_rng(0)
    plan = auc_plan(0.3, expected=0.7, difference=0.1, correlation=0.6)
    y = np.arange(plan.n) < plan.n_pos
    rejected = 0
    for _ in range(150):
        noise = rng.normal(size=(2, plan.n))
        second = noise[0] + y * sqrt(2) * norm.ppf(0.7)
        first = 0.6 * noise[0] + 0.8 * noise[1] + y * sqrt(2) * norm.ppf(0.8)
        rejected += compare("auc", y, first, second).pvalue < 0.05
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


def test_means_of_queries_of_every_distribution():
    widths = {
        name: sample_size("ndcg@10", n=500, method=name, **given).width
        for name, given in {
            "hoeffding": {},
            "kl": {"expected": 0.95},
            "bernstein": {"sd": 0.05},
            "normal-worst": {"expected": 0.5},
        }.items()
    }
    assert widths["hoeffding"] == pytest.approx(2 * sqrt(log(40) / 1000))
    logs = log(80)
    maurer_pontil = sqrt(2 * 0.05**2 * logs / 500) + 7 * logs / (3 * 499)
    assert widths["bernstein"] == pytest.approx(2 * maurer_pontil)
    assert widths["kl"] < widths["hoeffding"]
    assert widths["normal-worst"] == pytest.approx(2 * 1.96 * 0.5 / sqrt(500), rel=0.01)
    level = sample_size("ndcg@10", n=500, method="kl", expected=0.95, level=None, width=0.06).level
    back = sample_size("ndcg@10", n=500, method="kl", expected=0.95, level=level).width
    assert back == pytest.approx(0.06)


@pytest.mark.parametrize("method", ["influence", "exact"])
def test_precision_at_the_top(method):
    share, tau, precision = 0.1, 0.05, 0.6
    plan = sample_size(
        f"precision@top{tau}", expected=precision, positive_fraction=share, width=0.3,
        method=method,
    )  # fmt: skip
    shift = norm.ppf(precision * tau / share) - norm.ppf((1 - precision) * tau / (1 - share))
    rng = np.random.default_rng(0)
    widths = []
    for _ in range(40):
        y = rng.random(plan.n) < share
        score = rng.normal(size=plan.n) + shift * y
        widths.append(metric_interval(f"precision@top{tau}", y, score, method=method).width)
    assert np.mean(widths) == pytest.approx(0.3, rel=0.05)


# -------------------------------------------------------------------------------------- results


def test_a_plan_prints_has_a_curve_and_can_be_stored():
    plan = auc_plan(expected=0.85, difference=0.05, correlation=0.5)
    assert str(plan).startswith(
        f"{plan.n:,} items: {plan.n_pos} positives and {plan.n_neg:,} negatives\npower 0.8"
    )
    assert "for a difference of 0.05 in auc, two-sided at level 95 %" in str(plan)
    again = pickle.loads(pickle.dumps(plan))
    curve = again.curve()
    assert again == plan
    assert curve.of == "power"
    assert np.all(np.diff(curve.values) > 0)
    assert plan.curve([plan.n]).values == pytest.approx([plan.power])
    frame = plan.curve([100, 200]).to_frame()
    assert list(frame.columns) == ["power"]
    assert frame.index.tolist() == [100, 200]
    assert frame.index.name == "items"
    assert "<table" in plan.curve([100, 200])._repr_html_()
    with pytest.raises(ValueError, match="n=1 must be at least 2"):
        plan.curve(1)


NDCG = {"measure": "ndcg@10", "positive_fraction": None, "expected": None}


@pytest.mark.parametrize(
    ("error", "change", "message"),
    [
        (ValueError, {"level": 95}, r"level=95 .* for 95 per cent pass level=0.95"),
        (ValueError, {"expected": 85}, r"expected=85 .* pass expected=0.85"),
        (ValueError, {"positive_fraction": 10}, r"pass positive_fraction=0.1"),
        (ValueError, {"width": 10}, r"less than 1, the length of the range; .* pass 0.1"),
        (ValueError, {"width": 1.5}, "width=1.5 must be less than 1"),
        (ValueError, {"width": 0}, "width=0 must be a finite number greater than 0"),
        (ValueError, {"width": 1e-9}, r"width=1e-09 .* takes more than 2\*\*53 items"),
        (ValueError, {"expected": 0.3}, r"expected=0.3 is below 0.5.* pass 0.7"),
        (ValueError, {"expected": 1.0}, r"expected=1.0 must be a number in \(0, 1\)"),
        (ValueError, {"expected": None}, "expected is missing: .* method='hoeffding'"),
        (ValueError, {"positive_fraction": None}, "positive_fraction is missing"),
        (ValueError, {"method": "x"}, "method='x' must be one of .* without a pilot"),
        (ValueError, {"method": "hoeffding"}, "expected=0.8 is not used by method='hoeffding'"),
        (ValueError, {"n": 100}, "n=100, width=0.1 and level=0.95: pass two of the three"),
        (ValueError, {"width": None}, "n=None, width=None .* for a test pass difference"),
        (TypeError, {"n": 10.5, "width": None}, "n=10.5 must be a whole number"),
        (ValueError, {"n": 1, "width": None}, "n=1 must be at least 2"),
        (ValueError, {"difference": 0.1}, "width=0.1 is for an interval, but difference for a"),
        (ValueError, {"width": None, "difference": 0}, "difference=0 cannot be detected"),
        (ValueError, {"width": None, "difference": 0.05}, "correlation is missing"),
        (ValueError, {"width": None, "difference": 0.3, "paired": False}, "is outside the range"),
        (
            ValueError,
            {"width": None, "power": 0.8, "paired": False},
            "leave out the one to compute",
        ),
        (
            ValueError,
            {"width": None, "difference": 0.1, "level": None},
            "level=None is computed for",
        ),
        (ValueError, {"width": None, "difference": 0.1, "power": 0.01}, "not above 1 - level"),
        (ValueError, {"width": None, "difference": 0.1, "power": 80}, "pass power=0.8"),
        (
            ValueError,
            {"width": None, "difference": -0.1, "alternative": "greater"},
            "change its sign",
        ),
        (
            ValueError,
            {"width": None, "margin": 0.1, "alternative": "greater"},
            "margin=0.1 is not used",
        ),
        (ValueError, {"correlation": 1}, r"correlation=1 must be a number in \(-1, 1\)"),
        (ValueError, {"qid": [1]}, "qid is only for a pilot, but pilot is None"),
        (ValueError, {"assurance": 0.9}, "assurance is only for a pilot"),
        (ValueError, {"sd": 0.1}, "sd=0.1 is not used in a plan for items"),
        (ValueError, {"against": 0.5, "width": None, "paired": True}, "against=0.5 is for one"),
        (ValueError, {"measure": "bedroc@20"}, "has no formula: pass pilot="),
        (ValueError, NDCG, "over queries is unknown: pass a pilot with qid"),
        (ValueError, NDCG | {"positive_fraction": 0.1}, "positive_fraction=0.1 is not used"),
        (ValueError, NDCG | {"sd": 0.9}, "sd=0.9 is above 0.5"),
        (ValueError, NDCG | {"method": "kl"}, "expected is missing"),
        (ValueError, NDCG | {"method": "bernstein"}, "sd is missing"),
        (
            ValueError,
            {"measure": "precision@top0.2", "expected": 0.6},
            "pass at most 0.5",
        ),
        (
            ValueError,
            {"measure": "precision@top0.2", "expected": 0.05},
            "precision of a random order",
        ),
        (
            ValueError,
            {"width": None, "difference": 0.1, "method": "kl", "paired": False},
            "does not support a difference of two rankers",
        ),
        (ValueError, {"pilot": [1, 2, 3]}, "pilot must be a pair"),
    ],
    ids=str,
)
def test_refusals(error, change, message):
    given = {"measure": "auc", "positive_fraction": 0.1, "expected": 0.8, "width": 0.1} | change
    with pytest.raises((error, TypeError) if "pilot" in change else error, match=message):
        sample_size(**given)


def test_a_difference_that_no_test_sees():
    with pytest.raises(ValueError, match=r"the power is below 0\.8 for every possible difference"):
        auc_plan(0.5, expected=0.9, n=4, power=0.8, correlation=0.1)


def test_the_exact_method_plans_no_test():
    with pytest.raises(ValueError, match="not the power of a test: pass method='auto'"):
        sample_size(
            "precision@top0.1",
            expected=0.5,
            against=0.4,
            positive_fraction=0.1,
            power=0.8,
            method="exact",
        )
