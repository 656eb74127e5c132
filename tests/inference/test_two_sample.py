"""Two-sample tests against all choices of the sample, scipy and each other."""

import numpy as np
import pytest
from scipy import stats

from sklearn_rank.inference import two_sample_rank_test
from sklearn_rank.inference._linear_rank import _matched_tails, _whole, _whole_tails
from sklearn_rank.metrics import Exponential, LocalAUC, Power, TopDCG, VanDerWaerden, roc_auc_score
from tests.naming import for_each
from tests.oracles import rank_inference as oracle

PHIS = {
    "wilcoxon": ("wilcoxon", lambda u: u),
    "power": (Power(3), oracle.power(3)[0]),
    "exponential": (Exponential(7.0), oracle.exponential(7.0)[0]),
    "local": (LocalAUC(0.6), lambda u: u if u >= 0.6 else 0.0),
    "top": (lambda u: (u >= 0.7) * 1.0, lambda u: float(u >= 0.7)),
}
ALTERNATIVES = ("less", "greater", "two-sided")


@for_each("name", PHIS)
def test_exact_by_all_choices(name):
    for levels in (3, 8, 10_000):
        phi, function = PHIS[name]
        rng = np.random.default_rng(0)
        for n_pos, n_neg in ((1, 6), (4, 5), (6, 3), (5, 5)):
            first, second = rng.integers(0, levels, n_pos), rng.integers(0, levels, n_neg)
            expected = oracle.permutation_pvalues(first.tolist(), second.tolist(), function)
            for alternative, value in zip(ALTERNATIVES, expected, strict=True):
                found = two_sample_rank_test(
                    first, second, phi=phi, method="exact", alternative=alternative
                )
                assert found.pvalue == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("n_pos", [3, 20, 40])
def test_exact_is_mann_and_whitneys(n_pos):
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=n_pos) + 0.3, rng.normal(size=25)
    for alternative in ALTERNATIVES:
        expected = stats.mannwhitneyu(first, second, alternative=alternative, method="exact")
        found = two_sample_rank_test(first, second, alternative=alternative)
        assert found.method == "exact"
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)


def test_both_exact_ways_agree():
    rng = np.random.default_rng(2)
    for levels in (4, 1000):
        for n, k in ((20, 4), (24, 12)):
            scores = rng.integers(0, levels, n)
            values = stats.rankdata(scores) / (n + 1)
            whole = _whole(values)
            assert whole is not None
            np.testing.assert_allclose(
                _whole_tails(whole, k), _matched_tails(values, k), rtol=1e-10
            )


def test_few_of_many():
    # Two positives among 300 with a phi whose sums are no multiples: both halves stay small.
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=2) + 2, rng.normal(size=298)
    found = two_sample_rank_test(first, second, phi=Exponential(9.0), alternative="greater")
    assert found.method == "exact"
    values = np.exp(-9 * (1 - stats.rankdata(np.r_[first, second]) / 301))
    sums = (values[:, None] + values)[np.triu_indices(300, 1)]
    observed = values[:2].sum()
    assert found.pvalue == pytest.approx(np.mean(sums >= observed * (1 - 1e-12)))


@pytest.mark.parametrize("levels", [5, 10_000])
def test_normal_has_the_permutation_variance(levels):
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, levels, 60) + levels // 9, rng.integers(0, levels, 80)
    found = two_sample_rank_test(first, second, method="normal")
    expected = stats.mannwhitneyu(first, second, method="asymptotic", use_continuity=False)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-10)
    labels = np.repeat([1, 0], [60, 80])
    auc = roc_auc_score(labels, np.r_[first, second])
    assert found.estimate == pytest.approx(auc - 0.5)
    for phi in (Exponential(5.0), TopDCG(20), VanDerWaerden()):
        values = two_sample_rank_test(first, second, method="normal", phi=phi)
        assert np.isfinite(values.statistic)


def test_permutation_is_near_exact():
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 9, 9) + 2, rng.integers(0, 9, 12)
    for phi in ("wilcoxon", Exponential(6.0), TopDCG(5), VanDerWaerden()):
        for alternative in ALTERNATIVES:
            exact, drawn = (
                two_sample_rank_test(
                    first, second, phi=phi, method=method, alternative=alternative, random_state=0
                ).pvalue
                for method in ("exact", "permutation")
            )
            assert drawn == pytest.approx(exact, abs=0.015)


def test_permutation_is_reproducible_and_never_zero():
    first, second = np.arange(60) + 100, np.arange(70)
    one, again, other = (
        two_sample_rank_test(
            first, second, method="permutation", n_resamples=199, random_state=state
        ).pvalue
        for state in (0, 0, 1)
    )
    assert one == again == other == 2 / 200


def test_auto():
    rng = np.random.default_rng(6)
    sizes = [((8, 9), "exact"), ((30, 10), "exact"), ((400, 400), "normal")]
    for (n_pos, n_neg), method in sizes:
        found = two_sample_rank_test(rng.normal(size=n_pos), rng.normal(size=n_neg))
        assert found.method == method
    found = two_sample_rank_test(
        rng.normal(size=30), rng.normal(size=500), phi=Power(2.5), n_resamples=99, random_state=0
    )
    assert found.method == "permutation"


def test_all_tied_is_no_evidence():
    for method in ("auto", "exact", "permutation", "normal"):
        found = two_sample_rank_test([1, 1], [1, 1, 1], method=method)
        assert (found.pvalue, found.estimate) == (1.0, 0.0)
    found = two_sample_rank_test([3, 2], [1, 0], phi=LocalAUC(0.99), method="exact")
    assert found.pvalue == 1.0


@for_each(
    ("arguments", "message"),
    [
        ({"method": "fast"}, "method='fast'"),
        ({"alternative": "more"}, "alternative='more'"),
        ({"n_resamples": 5}, "n_resamples=5"),
        ({"phi": 3}, "phi=3"),
        ({"scores_pos": [np.nan]}, "scores_pos is NaN"),
        ({"scores_neg": []}, "scores_neg is empty"),
    ],
)
def test_refusals(arguments, message):
    given = {"scores_pos": [3.0, 1.0], "scores_neg": [2.0, 0.0]} | arguments
    with pytest.raises(ValueError, match=message):
        two_sample_rank_test(**given)


def test_exact_is_refused_where_it_would_take_too_long():
    rng = np.random.default_rng(8)
    with pytest.raises(ValueError, match="too long for 100 and 100"):
        two_sample_rank_test(
            rng.normal(size=100), rng.normal(size=100), phi=Power(1.5), method="exact"
        )


@pytest.mark.parametrize("labels", [[0, 1], [1, 2], [0, 1, 2, 3], [-1, 0, 1]])
def test_labels_are_no_sample(labels):
    y, score = np.resize(labels, 30), np.linspace(0.1, 0.9, 30)
    with pytest.raises(ValueError, match=r"_pos holds .*scores of one class: .* add 0\.5"):
        two_sample_rank_test(y, score)
    with pytest.raises(ValueError, match=r"_neg holds .*scores of one class: .* add 0\.5"):
        two_sample_rank_test(score, y)
    two_sample_rank_test(y + 0.5, score + 0.5)
    # Grades of five levels, or samples that cannot be labels and scores of the same rows.
    two_sample_rank_test(y + 1, np.resize([1, 2, 3, 4, 5], 30))
    two_sample_rank_test(y, score[:29])
