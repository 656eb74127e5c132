"""Influence values against their definition, pair by pair, and against brute-force variances."""

import numpy as np
import pytest

from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    ScoreGeneratingFunction,
    Wilcoxon,
    get_measure,
    linear_rank_score,
    partial_auc_score,
)
from sklearn_rank.metrics._influence import linear_rank_influence_of
from sklearn_rank.metrics._shared import rank_bias
from tests.catalogue import variance_of_influence
from tests.naming import for_each
from tests.oracles import rank_inference as oracle

SMOOTH = {
    "wilcoxon": (Wilcoxon(), lambda u: u, lambda u: 1.0),
    "power": (Power(3), *oracle.power(3)),
    "exponential": (Exponential(8.0), *oracle.exponential(8.0)),
}


def linear_rank_influence(
    y_true, y_score, *, phi="wilcoxon", normalize="minmax", conditional=True
):
    measure = get_measure(linear_rank_score, phi=phi, normalize=normalize)
    return measure.influence(y_true, y_score, conditional=conditional)


def partial_auc_influence(y_true, y_score, **limits):
    return get_measure(partial_auc_score, scale="raw", **limits).influence(y_true, y_score)


def random_list(rng, n, levels):
    y_true = rng.integers(0, 2, n)
    y_true[:4] = [0, 1, 0, 1]
    return y_true, rng.integers(0, levels, n)


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_phi_by_its_definition(name):
    for levels in (2, 5, 1000):
        phi, function, derivative = SMOOTH[name]
        rng = np.random.default_rng(0)
        for _ in range(10):
            y_true, y_score = random_list(rng, 13, levels)
            expected = oracle.influence(y_true.tolist(), y_score.tolist(), function, derivative)
            found = linear_rank_influence(y_true, y_score, phi=phi, normalize="mean")
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


def test_wilcoxon_is_delongs_structural_components():
    rng = np.random.default_rng(1)
    for levels in (3, 1000):
        y_true, y_score = random_list(rng, 20, levels)
        v10, v01 = oracle.structural_components(y_true.tolist(), y_score.tolist())
        found = linear_rank_influence(y_true, y_score, phi="wilcoxon", normalize="minmax")
        expected = np.empty(20)
        expected[y_true == 1], expected[y_true == 0] = v10, v01
        expected = oracle.centred(expected.tolist(), y_true.tolist())
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


class NoDerivative(ScoreGeneratingFunction):
    lipschitz = np.inf

    def __call__(self, u):
        return np.asarray(u) ** 2


def test_without_a_derivative_a_difference_quotient():
    rng = np.random.default_rng(4)
    y_true, y_score = random_list(rng, 3000, 10**6)
    expected = linear_rank_influence(y_true, y_score, phi=Power(2), normalize="mean")
    for phi in (lambda u: u**2, NoDerivative()):
        found = linear_rank_influence(y_true, y_score, phi=phi, normalize="mean")
        np.testing.assert_allclose(found, expected, atol=2e-3)
    known = linear_rank_influence(y_true, y_score, phi=LocalAUC(0.8), normalize="mean")
    unknown = linear_rank_influence(
        y_true, y_score, phi=lambda u: u * (u >= 0.8), normalize="mean"
    )
    # The unknown jump is spread over its window.
    assert np.quantile(np.abs(known - unknown), 0.95) < 0.2
    assert unknown.var() == pytest.approx(known.var(), rel=0.15)


def test_a_jump_within_a_tied_block_has_the_share_of_the_block():
    y_true = np.repeat([1, 0, 1, 0, 1, 0], [5, 5, 30, 10, 5, 45])
    y_score = np.repeat([3, 3, 2, 2, 1, 1], [5, 5, 30, 10, 5, 45])
    # Ranks 51 to 90 are tied, three quarters positive; the jump is between 70 and 71.
    found = linear_rank_influence_of(y_true == 1, y_score * 1.0, LocalAUC(70.5 / 101))
    smooth = linear_rank_influence_of(y_true == 1, y_score * 1.0, _Bent(70.5 / 101))
    gain = found.values - smooth.values
    height = 70.5 / 101
    negative = ~found.positive
    scale = 60 / 40
    np.testing.assert_allclose(gain[negative & (y_score == 1)], height * 0.75 * scale)
    np.testing.assert_allclose(gain[negative & (y_score == 2)], height * 0.75 * scale / 2)
    np.testing.assert_allclose(gain[negative & (y_score == 3)], 0.0)


class _Bent(ScoreGeneratingFunction):
    """The continuous part of the local AUC's function."""

    lipschitz = 1.0

    def __init__(self, u0):
        self.u0 = u0

    def __call__(self, u):
        return np.maximum(np.asarray(u) - self.u0, 0.0)

    def derivative(self, u):
        return np.where(np.asarray(u) >= self.u0, 1.0, 0.0)


@pytest.mark.parametrize("name", SMOOTH)
def test_variance_is_near_the_jackknife(name):
    phi = SMOOTH[name][0]
    rng = np.random.default_rng(5)
    y_true = np.repeat([1, 0], [40, 80])
    y_score = rng.normal(size=120) + y_true

    def place(labels, scores):
        return linear_rank_score(labels, scores, phi=phi, normalize="minmax")

    by_item = linear_rank_influence(y_true, y_score, phi=phi, normalize="minmax") / 120
    ours = sum(
        np.sum(by_item[y_true == one] ** 2) * (size / (size - 1))
        for one, size in ((1, 40), (0, 80))
    )
    jackknife = oracle.jackknife_variance(y_true.tolist(), y_score.tolist(), place)
    assert ours == pytest.approx(jackknife, rel=0.12)


def test_variance_with_a_jump_counts_its_own_variation():
    # Without the jump of phi in T the variance would be several times too large.
    rng = np.random.default_rng(6)
    phi, estimates, variances, without = LocalAUC(0.8), [], [], []
    for _ in range(300):
        positive = np.arange(600) < 200
        y_score = rng.normal(size=600) + 1.2 * positive
        found = linear_rank_influence_of(positive, y_score, phi)
        estimates.append(found.estimate)
        variances.append(variance_of_influence(found))
        bent = linear_rank_influence_of(positive, y_score, _Bent(0.8))
        jumped = bent.values + 0.8 * np.where(
            positive, np.argsort(np.argsort(y_score)) >= 480, 0.0
        )
        without.append(jumped[positive].var() / 200 + jumped[~positive].var() / 400)
    assert np.mean(variances) == pytest.approx(np.var(estimates), rel=0.25)
    assert np.mean(without) > 1.3 * np.var(estimates)


def test_partial_area_by_the_derivative_of_its_weights():
    rng = np.random.default_rng(7)
    for levels in (4, 1000):
        for max_fpr, min_tpr in ((1.0, 0.0), (0.37, 0.0), (0.613, 0.229), (0.9, 0.4)):
            y_true, y_score = random_list(rng, 15, levels)

            def area(weight, y_true=y_true, y_score=y_score, limits=(max_fpr, min_tpr)):
                return oracle.partial_area(y_true, y_score, weight, *limits)

            expected = oracle.derivative_by_weights(area, y_true.tolist())
            found = partial_auc_influence(y_true, y_score, max_fpr=max_fpr, min_tpr=min_tpr)
            np.testing.assert_allclose(found, expected, atol=2e-5)


def test_the_whole_area_is_the_auc():
    rng = np.random.default_rng(8)
    y_true, y_score = random_list(rng, 40, 9)
    found = partial_auc_influence(y_true, y_score)
    expected = linear_rank_influence(y_true, y_score, normalize="minmax")
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_bias_of_wilcoxon_is_exact():
    rng = np.random.default_rng(10)
    y_true, y_score = random_list(rng, 30, 1000)
    n, m = 30, 30 - y_true.sum()
    auc = linear_rank_score(y_true, y_score, phi="wilcoxon", normalize="minmax")
    found = rank_bias(y_true == 1, y_score * 1.0, Wilcoxon())
    assert found == pytest.approx(m * (0.5 - auc) / (n * (n + 1)), rel=1e-9)


# ------------------------------------------------------- the share of positives of the population


def labelled(rng, n=400, share=0.3, shift=1.0):
    y = (rng.random(n) < share).astype(int)
    return y, y * shift + rng.normal(size=n)


RATIOS = ["lift@0.1", "enrichment@0.1", "accuracy_loss@top0.1", "ap", "recall@40", "f1@40"]


@for_each("name", RATIOS)
def test_limits_of_the_population_join_those_at_its_share_with_other_shares(name):
    # A list that shows no jump at the threshold, which counts more where labels are not fixed.
    y, score = labelled(np.random.default_rng(1))
    fixed, found = (
        metric_interval(name, y, score, conditional=conditional) for conditional in (True, False)
    )
    measure = get_measure(name)
    both, within = (
        measure.influence(y, score, conditional=conditional) for conditional in (False, True)
    )
    error = (both - within).std() / np.sqrt(len(y))
    expected = oracle.with_other_shares(
        (fixed.estimate, fixed.low, fixed.high), error, measure.range
    )
    np.testing.assert_allclose([found.estimate, found.low, found.high], expected, rtol=1e-9)


@for_each(
    ("name", "columns"),
    [
        (name, columns)
        for columns in ("", "groups", "weights")
        for name in RATIOS[: 4 if columns == "weights" else None]
    ],
)
def test_no_limit_of_the_population_is_the_end_of_the_range_at_the_share_of_the_list(
    name, columns
):
    # All positives are above all negatives, as by a good ranker.
    y, score = labelled(np.random.default_rng(1), shift=20.0)
    more = {
        "groups": {"groups": np.arange(400) // 2},
        "weights": {"sample_weight": np.full(400, 3.0), "weights": "sampling"},
    }.get(columns, {})
    found = metric_interval(name, y, score, conditional=False, **more)
    ends = get_measure(name).range
    assert found.low < found.estimate or found.low == ends[0]
    assert found.estimate < found.high or found.high == ends[1]


def test_the_lift_of_a_pure_top_is_covered():
    missed = np.zeros(2)
    for seed in range(100):
        y, score = labelled(np.random.default_rng(seed), n=300, shift=4.0)
        found = metric_interval("lift@0.1", y, score, conditional=False)
        missed += found.low > 1 / 0.3, found.high < 1 / 0.3
    # Binomial numbers of probability .025: P(more) = .01. The old upper limits missed 40.
    assert missed.max() <= 7
