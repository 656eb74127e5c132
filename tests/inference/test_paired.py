"""Tests between scorers: DeLong's for Wilcoxon's phi, joint tests, simultaneous intervals."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2, norm, studentized_range

from sklearn_rank.inference import compare_rankers, paired_rank_test, unpaired_rank_test
from sklearn_rank.inference._max_t import largest_statistics
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    TopDCG,
    VanDerWaerden,
    linear_rank_score,
    roc_auc_score,
)
from tests.oracles import rank_inference as oracle

PHIS = ["wilcoxon", Power(3), Exponential(5.0), LocalAUC(0.7), VanDerWaerden(), lambda u: u**2]


def pair(rng, n, levels):
    y_true = rng.integers(0, 2, n)
    y_true[:4] = [0, 1, 0, 1]
    common = rng.integers(0, levels, n)
    return y_true, common + rng.integers(0, levels, n), common + rng.integers(0, levels, n)


@pytest.mark.parametrize("levels", [2, 6, 10_000])
def test_wilcoxon_is_delongs_test(levels):
    rng = np.random.default_rng(0)
    for _ in range(15):
        y_true, a, b = pair(rng, 25, levels)
        difference, error = oracle.delong(y_true.tolist(), a.tolist(), b.tolist())
        found = paired_rank_test(y_true, a, b, level=0.9)
        assert found.method == "influence"
        assert found.estimate == pytest.approx(difference, abs=1e-13)
        assert found.statistic == pytest.approx(difference / error, rel=1e-9, abs=1e-12)
        assert found.pvalue == pytest.approx(2 * norm.sf(abs(difference / error)), rel=1e-8)
        assert found.interval.high - difference == pytest.approx(norm.ppf(0.95) * error, rel=1e-9)
        mean = paired_rank_test(y_true, a, b, normalize="mean")
        assert mean.statistic == pytest.approx(found.statistic, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("phi", PHIS, ids=str)
@pytest.mark.parametrize("normalize", ["mean", "minmax"])
def test_the_estimate_is_the_difference_of_the_scores(phi, normalize):
    rng = np.random.default_rng(1)
    y_true, a, b = pair(rng, 40, 6)
    found = paired_rank_test(y_true, a, b, phi=phi, normalize=normalize)
    one, other = (linear_rank_score(y_true, s, phi=phi, normalize=normalize) for s in (a, b))
    assert found.estimate == pytest.approx(one - other, abs=1e-12)
    swapped = paired_rank_test(y_true, b, a, phi=phi, normalize=normalize)
    assert swapped.statistic == pytest.approx(-found.statistic)
    assert swapped.pvalue == pytest.approx(found.pvalue)
    assert found.estimate in found.interval


def test_alternatives():
    rng = np.random.default_rng(2)
    y_true, a, b = pair(rng, 40, 50)
    greater, less, both = (
        paired_rank_test(y_true, a, b, alternative=one).pvalue
        for one in ("greater", "less", "two-sided")
    )
    assert greater + less == pytest.approx(1)
    assert both == pytest.approx(2 * min(greater, less))


def test_random_labels_change_nothing_for_the_auc_and_little_else():
    rng = np.random.default_rng(3)
    y_true = (np.arange(400) < 150).astype(int)
    a, b = rng.normal(size=(2, 400)) + np.outer([2.5, 0.3], y_true)
    for phi, change in (("wilcoxon", 1e-3), (Exponential(5.0), 0.2)):
        fixed, random = (
            paired_rank_test(y_true, a, b, phi=phi, conditional=one).interval.standard_error
            for one in (True, False)
        )
        assert (random > fixed * 1.002) == (phi != "wilcoxon")
        assert random == pytest.approx(fixed, rel=change)


@pytest.mark.parametrize("phi", PHIS, ids=str)
def test_nothing_is_called_certain(phi):
    y_true = np.repeat([1, 0], 6)
    perfect = np.arange(12, 0, -1)
    # Two perfect rankings, a perfect and a reversed one, a constant one; one item of a class.
    for other in (perfect, perfect * 2, -perfect, np.zeros(12)):
        found = paired_rank_test(y_true, perfect, other, phi=phi)
        assert found.interval.width > 0.01
        assert abs(found.statistic) <= 3**0.5 * (3 if found.method == "influence" else 1)
        together = compare_rankers(y_true, {"a": perfect, "b": other, "c": perfect}, phi=phi)
        assert 1e-7 < together.pvalue <= 1
        assert all(test.interval.width > 0.01 for test in together.contrasts.values())
    assert paired_rank_test(y_true, perfect, -perfect, phi=phi).pvalue > 0.05
    found = paired_rank_test([1, 0, 0], [3, 2, 1], [1, 2, 3], phi="wilcoxon")
    assert found.method == "influence, added items"
    assert found.pvalue > 0.3
    assert -1 <= found.interval.low < found.interval.high <= 1


def test_identical_scorers_do_not_differ():
    rng = np.random.default_rng(4)
    y_true, a, _ = pair(rng, 50, 9)
    found = paired_rank_test(y_true, a, a * 3 + 1)
    assert (found.estimate, found.pvalue) == (0.0, 1.0)


def test_unpaired_is_the_sum_of_the_variances():
    rng = np.random.default_rng(5)
    y_a, a, _ = pair(rng, 30, 8)
    y_b, b, _ = pair(rng, 45, 8)
    found = unpaired_rank_test(y_a, a, y_b, b)
    assert found.estimate == pytest.approx(roc_auc_score(y_a, a) - roc_auc_score(y_b, b))
    variance = 0.0
    for y_true, y_score in ((y_a, a), (y_b, b)):
        for part in oracle.structural_components(y_true.tolist(), y_score.tolist()):
            variance += np.var(part, ddof=1) / len(part)
    assert found.interval.standard_error == pytest.approx(variance**0.5)
    assert unpaired_rank_test([1, 0], [2, 1], [1, 0], [2, 1]).interval.width > 0.5


def three(rng, n, shift=0.0):
    y_true = (np.arange(n) < n // 3).astype(int)
    common = rng.normal(size=n) + y_true
    scores = {name: common + rng.normal(size=n) for name in "ABC"}
    scores["C"] = scores["C"] + shift * y_true
    return y_true, scores


@pytest.mark.parametrize("phi", PHIS, ids=str)
def test_a_comparison_of_two_is_the_paired_test(phi):
    y_true, scores = three(np.random.default_rng(6), 90)
    two = {name: scores[name] for name in "AB"}
    found = compare_rankers(y_true, two, phi=phi)
    paired = paired_rank_test(y_true, scores["A"], scores["B"], phi=phi)
    assert found.statistic == pytest.approx(paired.statistic**2)
    assert found.pvalue == pytest.approx(paired.pvalue)
    assert found.degrees_of_freedom == 1
    test = found.contrasts["A - B"]
    assert test.statistic == pytest.approx(paired.statistic)
    assert test.pvalue == pytest.approx(paired.pvalue, rel=0.05)
    assert found.critical_value == pytest.approx(1.96, abs=0.015)
    assert test.interval.width == pytest.approx(paired.interval.width, rel=0.01)


def test_joint_test_by_the_covariance():
    y_true, scores = three(np.random.default_rng(7), 120, shift=0.5)
    found = compare_rankers(y_true, scores)
    assert found.names == ("A", "B", "C")
    for name, estimate in zip(found.names, found.estimates, strict=True):
        assert estimate == pytest.approx(roc_auc_score(y_true, scores[name]))
    for pair_of_names in ("A - B", "A - C", "B - C"):
        first, second = pair_of_names.split(" - ")
        _, error = oracle.delong(y_true.tolist(), scores[first].tolist(), scores[second].tolist())
        assert found.contrasts[pair_of_names].interval.standard_error == pytest.approx(error)
    rows = np.array([[1.0, -1, 0], [0, 1, -1]])
    d = rows @ found.estimates
    expected = d @ np.linalg.solve(rows @ found.covariance @ rows.T, d)
    assert found.statistic == pytest.approx(expected)
    assert found.degrees_of_freedom == 2
    assert found.pvalue == pytest.approx(chi2.sf(expected, 2))
    # Any basis of the same hypothesis.
    again = compare_rankers(y_true, scores, contrasts="B")
    assert again.statistic == pytest.approx(expected)
    assert list(again.contrasts) == ["A - B", "C - B"]
    own = compare_rankers(y_true, scores, contrasts={"half": [0.5, 0.5, -1]})
    assert own.contrasts["half"].estimate == pytest.approx(
        found.estimates[:2].mean() - found.estimates[2]
    )
    assert "simultaneous at 95 %" in str(found)
    assert "half" in str(own)


def test_max_t_is_tukeys_range_for_independent_equal_variances():
    rows = np.array([[1.0, -1, 0], [1, 0, -1], [0, 1, -1]])
    largest = largest_statistics(rows @ rows.T / 2, 100_000, np.random.default_rng(0))
    critical = np.quantile(largest, 0.95)
    assert critical == pytest.approx(studentized_range.ppf(0.95, 3, np.inf) / 2**0.5, abs=0.015)


def test_small_pvalues_are_not_those_of_the_draws():
    y_true, scores = three(np.random.default_rng(8), 3000, shift=1.5)
    found = compare_rankers(y_true, scores).contrasts["A - C"]
    assert found.pvalue == pytest.approx(3 * 2 * ndtr(-abs(found.statistic)), rel=1e-9, abs=0)
    assert found.pvalue < 1e-12


def test_a_duplicate_lowers_the_degrees_of_freedom():
    y_true, scores = three(np.random.default_rng(9), 60)
    expected = compare_rankers(y_true, {name: scores[name] for name in "AB"})
    found = compare_rankers(
        y_true, {"A": scores["A"], "B": scores["B"], "C": scores["B"]}, contrasts="A"
    )
    assert found.degrees_of_freedom == 1
    assert found.statistic == pytest.approx(expected.statistic)
    every = compare_rankers(y_true, {"A": scores["A"], "B": scores["B"], "C": scores["B"]})
    assert every.contrasts["B - C"].pvalue == 1.0
    assert every.contrasts["B - C"].interval.width > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"contrasts": "D"}, "not among the scorers"),
        ({"contrasts": {}}, "empty"),
        ({"contrasts": {"x": [1, 1, 1]}}, "must sum to 0"),
        ({"contrasts": {"x": [1, -1]}}, "one per scorer"),
        ({"phi": TopDCG(3)}, "no limit"),
        ({"level": 1.0}, "level=1.0"),
        ({"normalize": "sum"}, "normalize='sum'"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_refusals_of_the_comparison(arguments, message):
    y_true, scores = three(np.random.default_rng(10), 30)
    with pytest.raises(ValueError, match=message):
        compare_rankers(y_true, scores, **arguments)


def test_refusals():
    with pytest.raises(ValueError, match="mapping of at least two"):
        compare_rankers([1, 0], {"A": [1, 2]})
    with pytest.raises(ValueError, match="bootstrap"):
        paired_rank_test([1, 0, 1], [3, 2, 1], [1, 2, 3], phi=TopDCG(2))
    with pytest.raises(ValueError, match="alternative='both'"):
        paired_rank_test([1, 0], [3, 2], [1, 2], alternative="both")
    with pytest.raises(ValueError, match="y_true_b holds items of one class"):
        unpaired_rank_test([1, 0], [3, 2], [1, 1], [1, 2])
    with pytest.raises(ValueError, match="2 items and y_score 3"):
        paired_rank_test([1, 0], [3, 2], [1, 2, 3])


# ---------------------------------------------------------------------------------- Monte Carlo


@pytest.mark.slow
@pytest.mark.parametrize("phi", [*PHIS[:2], Exponential(20.0), LocalAUC(0.8)], ids=str)
def test_size_and_power(phi):
    rng = np.random.default_rng(11)
    rejected = {0.0: 0, 1.0: 0}
    for shift in rejected:
        for _ in range(1000):
            positive = np.arange(400) < 100
            common = rng.normal(size=400)
            a, b = (common + rng.normal(size=400) for _ in range(2))
            found = paired_rank_test(
                positive, a + (1.5 + shift) * positive, b + 1.5 * positive, phi=phi
            )
            rejected[shift] += found.pvalue < 0.05
    assert 30 <= rejected[0.0] <= 75
    assert rejected[1.0] > 800


@pytest.mark.slow
def test_simultaneous_coverage_and_joint_size():
    rng = np.random.default_rng(12)
    covered = rejected = 0
    for _ in range(400):
        positive = np.arange(300) < 100
        common = rng.normal(size=300)
        scores = {str(j): common + rng.normal(size=300) + 1.5 * positive for j in range(4)}
        found = compare_rankers(positive, scores, phi=Exponential(5.0))
        covered += all(0.0 in test.interval for test in found.contrasts.values())
        rejected += found.pvalue < 0.05
    assert 0.92 <= covered / 400 <= 0.98
    assert 0.02 <= rejected / 400 <= 0.085
