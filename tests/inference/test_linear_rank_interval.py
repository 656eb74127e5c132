"""Intervals for rank statistics: definitions, edges, refusals, and coverage by simulation."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from sklearn_rank.inference import Interval, metric_interval
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    TopDCG,
    VanDerWaerden,
    Wilcoxon,
    get_measure,
    linear_rank_score,
    partial_auc_score,
    precision_at_top_score,
)
from tests.naming import for_each, shown
from tests.oracles import rank_inference as oracle

BOUNDED = [Wilcoxon(), Power(3), Exponential(5.0), LocalAUC(0.5), lambda u: u**2]
PHIS = [*BOUNDED, VanDerWaerden()]


def rank_interval(y_true, y_score, *, phi="wilcoxon", normalize="minmax", **options):
    measure = get_measure(linear_rank_score, phi=phi, normalize=normalize)
    return metric_interval(measure, y_true, y_score, **options)


def area_interval(y_true, y_score, **options):
    return metric_interval(get_measure(partial_auc_score, **options), y_true, y_score)


def random_list(rng, n, levels):
    y_true = rng.integers(0, 2, n)
    y_true[:4] = [0, 1, 0, 1]
    return y_true, rng.integers(0, levels, n)


# ------------------------------------------------------------------------------------ by influence


@pytest.mark.parametrize("phi", PHIS, ids=shown)
@pytest.mark.parametrize("conditional", [True, False])
def test_the_estimate_is_the_score_and_the_width_the_influence(phi, conditional):
    for normalize in ("mean", "minmax"):
        rng = np.random.default_rng(0)
        y_true = (np.arange(4000) < 1500).astype(int)
        y_score = rng.normal(size=4000) + y_true
        found = rank_interval(
            y_true, y_score, phi=phi, normalize=normalize, conditional=conditional
        )
        assert isinstance(found, Interval)
        expected = linear_rank_score(y_true, y_score, phi=phi, normalize=normalize)
        assert found.estimate == pytest.approx(expected)
        assert found.method == "influence"
        measure = get_measure(linear_rank_score, phi=phi, normalize=normalize)
        influence = measure.influence(y_true, y_score, conditional=conditional)
        error = np.sqrt(np.sum(influence**2)) / 4000
        assert found.standard_error == pytest.approx(error, rel=0.02)
        assert found.width == pytest.approx(2 * 1.96 * error, rel=0.04)
        assert abs(found.bias) < error
        assert (found.low + found.high) / 2 == pytest.approx(
            found.estimate - found.bias, abs=error / 5
        )


def test_the_auc_has_no_bias():
    y_true, y_score = random_list(np.random.default_rng(14), 60, 1000)
    found = rank_interval(y_true, y_score, normalize="minmax")
    assert found.bias == pytest.approx(0.0, abs=1e-12)
    assert abs(rank_interval(y_true, y_score, normalize="mean").bias) > 1e-6


def test_targets_are_named():
    y_true, y_score = [1, 0, 1, 0], [4, 3, 2, 1]
    texts = {
        rank_interval(y_true, y_score, normalize=normalize, conditional=conditional).target
        for normalize in ("mean", "minmax")
        for conditional in (True, False)
    }
    assert texts == {
        f"linear_rank({between}phi=Wilcoxon()){labels}"
        for between in ("", "normalize='mean', ")
        for labels in (" at 2 positives of 4", ", random labels")
    }
    assert "bias" in str(rank_interval(y_true, y_score, normalize="mean"))
    assert "bias" not in str(rank_interval(y_true, y_score, method="dkw", normalize="mean"))


# "dkw" refuses a phi without bounds, and only "bootstrap" takes one that depends on the length.
METHODS = [
    *(("influence", phi) for phi in PHIS),
    *(("dkw", phi) for phi in PHIS if not isinstance(phi, VanDerWaerden)),
    *(("bootstrap", phi) for phi in [*PHIS[::3], TopDCG(3)]),
]


@pytest.mark.parametrize(
    ("method", "phi", "conditional"),
    [(*of, i % 2 == 0) for i, of in enumerate(METHODS)],
    ids=shown,
)
def test_never_of_zero_width_never_outside(method, phi, conditional):
    lists = [
        ([1, 0], [2, 1]),
        ([1, 0], [1, 2]),
        ([1, 0], [1, 1]),
        ([1] + [0] * 30, np.arange(31)[::-1]),
        ([1] * 30 + [0], np.arange(31)[::-1]),
        ([1] * 20 + [0] * 20, np.arange(40)[::-1]),
        ([1] * 20 + [0] * 20, np.arange(40)),
        ([1] * 20 + [0] * 20, np.zeros(40)),
    ]
    for i, normalize in enumerate(("mean", "minmax")):
        if normalize == "minmax" and method == "dkw" and not conditional:
            continue
        for y_true, y_score in lists[i::2]:
            found = rank_interval(
                y_true,
                y_score,
                phi=phi,
                method=method,
                normalize=normalize,
                conditional=conditional,
                n_resamples=99,
                random_state=0,
            )
            assert np.isfinite([found.low, found.high, found.estimate]).all()
            assert found.width > 1e-3
            assert found.low <= found.estimate <= found.high
            if normalize == "minmax":
                assert 0 <= found.low < found.high <= 1


# ------------------------------------------------------------------------------- distribution free


def test_dkw_by_its_definition():
    rng = np.random.default_rng(2)
    n = 500
    y_true, y_score = random_list(rng, n, 10**9)
    k = y_true.sum()
    rank = (y_score <= y_score[:, None]).sum(axis=1)[y_true == 1]
    for conditional in (True, False):
        found = rank_interval(
            y_true, y_score, phi=Power(2), method="dkw", conditional=conditional, normalize="mean"
        )
        eps = np.sqrt((np.log(2 / 0.025) + conditional) / (2 * n))
        upper = np.mean(np.minimum(rank / n + eps, 1) ** 2)
        lower = np.mean(np.maximum((rank - 1) / n - eps, 0) ** 2)
        assert found.high == pytest.approx(oracle.kl_limit(upper, k, 0.0125, True), abs=1e-9)
        assert found.low == pytest.approx(oracle.kl_limit(lower, k, 0.0125, False), abs=1e-9)


# -------------------------------------------------------------------------------------- resampling


@pytest.mark.parametrize("phi", [Wilcoxon(), Exponential(5.0)], ids=shown)
def test_bootstrap_is_near_the_influence(phi):
    rng = np.random.default_rng(4)
    y_true = (np.arange(400) < 150).astype(int)
    y_score = (rng.normal(size=400) + y_true).round(1)
    for conditional in (True, False):
        for normalize in ("mean", "minmax"):
            one, other = (
                rank_interval(
                    y_true,
                    y_score,
                    phi=phi,
                    method=method,
                    conditional=conditional,
                    normalize=normalize,
                    n_resamples=500,
                    random_state=0,
                )
                for method in ("influence", "bootstrap")
            )
            assert other.estimate == pytest.approx(one.estimate)
            assert other.standard_error == pytest.approx(one.standard_error, rel=0.12)


# -------------------------------------------------------------------------- parts of the ROC curve


@pytest.mark.parametrize("limits", [(1.0, 0.0), (0.3, 0.0), (0.6, 0.5), (0.2, 0.9)])
def test_partial_auc_interval_has_the_scale_of_the_score(limits):
    for scale in ("raw", "mcclish", "normalized"):
        max_fpr, min_tpr = limits
        rng = np.random.default_rng(6)
        for levels in (4, 1000):
            y_true, y_score = random_list(rng, 60, levels)
            y_score = y_score + levels // 3 * y_true
            found, raw = (
                area_interval(y_true, y_score, max_fpr=max_fpr, min_tpr=min_tpr, scale=one)
                for one in (scale, "raw")
            )
            value = partial_auc_score(
                y_true, y_score, max_fpr=max_fpr, min_tpr=min_tpr, scale=scale
            )
            assert isinstance(found, Interval)
            assert found.estimate == pytest.approx(value)
            assert found.low <= found.estimate <= found.high
            area = partial_auc_score(y_true, y_score, max_fpr=max_fpr, min_tpr=min_tpr)
            share = (raw.high - area) / raw.width
            assert (found.high - value) / found.width == pytest.approx(share)


# ---------------------------------------------------------------------------- precision at the top


def test_precision_interval_has_the_variance_of_a_random_threshold():
    rng = np.random.default_rng(7)
    y_true = (np.arange(2000) < 200).astype(int)
    y_score = rng.normal(size=2000) + 4.0 * y_true
    found = metric_interval("precision@top0.1", y_true, y_score)
    assert found.estimate == precision_at_top_score(y_true, y_score, tau=0.1)
    order = np.argsort(-y_score)
    # Half an item of either class added to sqrt(n) ranks on either side of the threshold.
    eta = (y_true[order[155:245]].sum() + 0.5) / 91
    pi = found.estimate
    error = np.sqrt((pi * (1 - pi) + 0.9 * (pi - eta) ** 2) / 200)
    assert error > 1.2 * np.sqrt(pi * (1 - pi) / 200)
    assert found.standard_error == pytest.approx(error, rel=0.05)
    expected = oracle.top_limits(pi, eta, 200, 0.1, norm.isf(0.025), 0.025)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-8)
    # With eta at the precision nothing but the binomial variance is left.
    binomial = oracle.top_limits(pi, pi, 200, 0.1, norm.isf(0.025), 0.025)
    assert found.width > 1.2 * (binomial[1] - binomial[0])


def test_exact_precision_by_all_counts():
    rng = np.random.default_rng(8)
    y_true = (rng.random(60) < 0.4).astype(int)
    y_score = rng.permutation(60)
    found = metric_interval("precision@top0.3", y_true, y_score, method="exact", level=0.9)
    labels = y_true[np.argsort(-y_score)]
    low, high = 1.0, 0.0
    counts = np.arange(61)
    cdf = binom.cdf(counts, 60, 0.3)
    for count in counts[(cdf >= 0.01) & (binom.sf(counts - 1, 60, 0.3) > 0.01)]:
        hits = labels[:count].sum()
        grid = np.linspace(0, 1, 20001)
        inside = grid[
            (binom.sf(hits - 1, count, grid) >= 0.04) & (binom.cdf(hits, count, grid) >= 0.04)
        ]
        low, high = min(low, inside[0]), max(high, inside[-1])
    assert found.low == pytest.approx(low, abs=1e-4)
    assert found.high == pytest.approx(high, abs=1e-4)


def test_exact_precision_with_ties_is_the_widest_over_the_orders():
    y_true, y_score = [1] * 20 + [0] * 20, np.zeros(40)
    found = metric_interval("precision@top0.3", y_true, y_score, method="exact")
    assert found.low == 0.0
    assert found.high == 1.0
    wilson = metric_interval("precision@top0.3", y_true, y_score)
    assert 0.1 < wilson.low < 0.5 < wilson.high < 0.9


def test_precision_interval_at_the_edges():
    for method in ("influence", "exact"):
        for y_true, tau in (([1] * 20 + [0] * 80, 0.1), ([0] * 80 + [1] * 20, 0.1)):
            found = metric_interval(
                f"precision@top{tau}", y_true, np.arange(100)[::-1], method=method
            )
            assert 0 <= found.low < found.high <= 1
            assert found.width > 0.1
    found = metric_interval("precision@top0.9", [1, 0], [2, 1])
    assert found.width > 0.3


# ---------------------------------------------------------------------------------------- refusals


@for_each(
    ("arguments", "message"),
    [
        ({"phi": TopDCG(3)}, "depends on the length of the list.*bootstrap"),
        ({"phi": TopDCG(3), "method": "dkw"}, "method='dkw' does not support.*bootstrap"),
        ({"phi": VanDerWaerden(), "method": "dkw"}, "not finite on \\[0, 1\\]"),
        ({"phi": np.log, "method": "dkw"}, "not finite on \\[0, 1\\]"),
        ({"method": "dkw", "conditional": False, "normalize": "minmax"}, "fraction of positives"),
        ({"method": "delta"}, "method='delta'"),
        ({"normalize": None}, "normalize=None"),
        ({"level": 95}, "level=95"),
        ({"level": True}, "level=True"),
        ({"method": "bootstrap", "n_resamples": 10}, "n_resamples=10"),
        ({"phi": LocalAUC(0.99)}, "the same value: pass another"),
        ({"phi": LocalAUC(0.99), "method": "bootstrap"}, "the same value: pass another"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        rank_interval([1, 0, 1, 0], [4, 3, 2, 1], **arguments)


def test_other_refusals():
    with pytest.raises(ValueError, match="one class only"):
        rank_interval([1, 1], [4, 3], normalize="mean")
    with pytest.raises(ValueError, match="scale='sum'"):
        area_interval([1, 0], [4, 3], scale="sum")
    with pytest.raises(ValueError, match="method='dkw'"):
        metric_interval("precision@top0.05", [1, 0], [4, 3], method="dkw")


def test_the_worst_order_of_few_items_is_within_its_limits():
    found = metric_interval("rie@20", [1, 0, 0], [0.0, 1.0, 1.0], conditional=False)
    assert found.low == found.estimate < found.high
