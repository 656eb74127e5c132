"""Tests between scorers: DeLong's for Wilcoxon's phi, joint tests, simultaneous intervals."""

import numpy as np
import pytest
from scipy.stats import t

from sklearn_rank.inference import compare
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    TopDCG,
    VanDerWaerden,
    get_measure,
    linear_rank_score,
    roc_auc_score,
)
from tests.naming import shown
from tests.oracles import differences
from tests.oracles import rank_inference as oracle

PHIS = ["wilcoxon", Power(3), Exponential(5.0), LocalAUC(0.7), VanDerWaerden(), lambda u: u**2]


def rank_statistic(phi, normalize="minmax"):
    return get_measure(linear_rank_score, phi=phi, normalize=normalize)


def outcomes(y_true, score):
    """Whether each positive is above each negative, 1/2 for a tie."""
    apart = np.subtract.outer(score[y_true == 1], score[y_true == 0])
    return ((1.0 + np.sign(apart)) / 2.0).tolist()


def pair(rng, n, levels):
    y_true = rng.integers(0, 2, n)
    y_true[:4] = [0, 1, 0, 1]
    common = rng.integers(0, levels, n)
    return y_true, common + rng.integers(0, levels, n), common + rng.integers(0, levels, n)


@pytest.mark.parametrize("levels", [2, 6, 10_000])
def test_wilcoxon_is_delongs_test_with_what_a_sample_may_lack_and_no_pair_twice(levels):
    rng = np.random.default_rng(0)
    for _ in range(6):
        y_true, a, b = pair(rng, 25, levels)
        scores = [a.tolist(), b.tolist()]
        difference, least = oracle.delong(y_true.tolist(), *scores)
        components = [oracle.structural_components(y_true.tolist(), s) for s in scores]
        tables = [outcomes(y_true, x) for x in (a, b)]
        error, most = differences.standard_error_of_aucs(components, [1.0, -1.0], tables)
        found = compare("auc", y_true, {"a": a, "b": b}, level=0.9)
        assert found.method == "max-t"
        assert found.estimate == pytest.approx(difference, abs=1e-13)
        assert found.statistic == pytest.approx(difference / error, rel=1e-9, abs=1e-12)
        assert least / 2**0.5 <= error * (1.0 + 1e-9)
        # Between either class alone and both together, or as many as few items carry.
        few = max(min(y_true.sum() - 1, 24 - y_true.sum(), most), 1.0)
        many = max(min(23, most), 1.0)
        pvalues = 2 * t.sf(abs(difference / error), [many, few])
        assert pvalues[0] * (1 - 1e-8) <= found.pvalue <= pvalues[1] * (1 + 1e-8)
        half = found.interval.high - difference
        assert t.ppf(0.95, many) * error <= half * (1 + 1e-9)
        assert half <= t.ppf(0.95, few) * error * (1 + 1e-9)
        mean = compare(rank_statistic("wilcoxon", "mean"), y_true, {"a": a, "b": b})
        assert mean.statistic == pytest.approx(found.statistic, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("phi", PHIS, ids=shown)
def test_the_estimate_is_the_difference_of_the_scores(phi):
    for normalize in ("mean", "minmax"):
        rng = np.random.default_rng(1)
        y_true, a, b = pair(rng, 40, 6)
        found = compare(rank_statistic(phi, normalize), y_true, {"a": a, "b": b})
        one, other = (linear_rank_score(y_true, s, phi=phi, normalize=normalize) for s in (a, b))
        assert found.estimate == pytest.approx(one - other, abs=1e-12)
        swapped = compare(rank_statistic(phi, normalize), y_true, {"a": b, "b": a})
        assert swapped.statistic == pytest.approx(-found.statistic)
        assert swapped.pvalue == pytest.approx(found.pvalue)
        assert found.estimate in found.interval


def test_alternatives():
    rng = np.random.default_rng(2)
    y_true, a, b = pair(rng, 40, 50)
    greater, less, both = (
        compare("auc", y_true, {"a": a, "b": b}, alternative=one).pvalue
        for one in ("greater", "less", "two-sided")
    )
    assert greater + less == pytest.approx(1)
    assert both == pytest.approx(2 * min(greater, less))


@pytest.mark.parametrize("phi", PHIS, ids=shown)
def test_nothing_is_called_certain(phi):
    measure = rank_statistic(phi)
    y_true = np.repeat([1, 0], 6)
    perfect = np.arange(12, 0, -1)
    # Two perfect rankings, a perfect and a reversed one, a constant one; one item of a class.
    for other in (perfect, perfect * 2, -perfect, np.zeros(12)):
        found = compare(measure, y_true, {"a": perfect, "b": other})
        assert found.interval.width > 0.01
        assert abs(found.statistic) <= 3 * 3**0.5
        scores = {"a": perfect, "b": other, "c": perfect}
        together = compare(measure, y_true, scores, random_state=0)
        assert 1e-7 < together.pvalue <= 1
        assert np.all(np.subtract(together.high, together.low) > 0.01)
    assert compare(measure, y_true, {"a": perfect, "b": -perfect}).pvalue > 2e-3
    found = compare("auc", [1, 0, 0], {"a": [3, 2, 1], "b": [1, 2, 3]})
    assert found.pvalue > 0.2
    assert -1 <= found.interval.low < found.interval.high <= 1


def test_unpaired_is_the_sum_of_the_variances():
    rng = np.random.default_rng(5)
    y_a, a, _ = pair(rng, 30, 8)
    y_b, b, _ = pair(rng, 45, 8)
    found = compare("auc", {"a": y_a, "b": y_b}, {"a": a, "b": b})
    assert found.estimate == pytest.approx(roc_auc_score(y_a, a) - roc_auc_score(y_b, b))
    variance = 0.0
    for y_true, y_score in ((y_a, a), (y_b, b)):
        for part in oracle.structural_components(y_true.tolist(), y_score.tolist()):
            variance += np.var(part, ddof=1) / len(part)
    assert found.interval.standard_error == pytest.approx(variance**0.5)
    y, score = {"a": [1, 0], "b": [1, 0]}, {"a": [2, 1], "b": [2, 1]}
    assert compare("auc", y, score).interval.width > 0.5


def test_refusals():
    with pytest.raises(
        ValueError, match=r"no influence function.*metric_interval\(method='bootstrap'\)"
    ):
        compare(TopDCG(2), [1, 0, 1], {"a": [3, 2, 1], "b": [1, 2, 3]})
    with pytest.raises(
        ValueError, match=r"measure='rr' has no influence function.*influence= to make_measure"
    ):
        compare("rr", [1, 0, 1], {"a": [3, 2, 1], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match="not the name of a measure: did you mean 'auc'"):
        compare("acu", {"a": [1, 0], "b": [1, 0]}, {"a": [3, 2], "b": [1, 2]})
    with pytest.raises(ValueError, match=r"level=0 must be a number in \(0, 1\)\."):
        compare("auc", [1, 0], {"a": [3, 2], "b": [1, 2]}, level=0)
    with pytest.raises(ValueError, match="alternative='both'"):
        compare("auc", [1, 0], {"a": [3, 2], "b": [1, 2]}, alternative="both")
    with pytest.raises(ValueError, match=r"y_true\['b'\] holds items of one class"):
        compare("auc", {"a": [1, 0], "b": [1, 1]}, {"a": [3, 2], "b": [1, 2]})
    with pytest.raises(ValueError, match=r"\(2,\), but scores\['b'\] \(3,\)"):
        compare("auc", [1, 0], {"a": [3, 2], "b": [1, 2, 3]})
