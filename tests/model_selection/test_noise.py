"""Limits that hold together, and who may be the best."""

from math import exp

import numpy as np
import pytest
from scipy import stats

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection._candidates import may_be_best, simultaneous_tails
from sklearn_rank.model_selection._guarantees import fold_entropy, margins
from sklearn_rank.model_selection._held_out import HeldOut
from tests.oracles import selection as oracle

from .estimators import of_query_values, shifted

AUC = get_measure("auc")


def of_columns(rng, n_pos=40, n_neg=80, shifts=(1.0, 0.8, 0.4), correlation=0.6, n_parts=1):
    """Evidence of candidates that score by a column each."""
    parts = [shifted(n_pos, n_neg, shifts, rng, correlation)[:2] for _ in range(n_parts)]
    return HeldOut(AUC, [y == 1 for _, y in parts], [list(X.T) for X, _ in parts])


def test_values_and_covariance_are_those_of_the_definition():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        positive = np.repeat([True, False], [5, 8])
        scores = list(rng.integers(0, 6, (3, 13)).astype(float))
        evidence = HeldOut(AUC, [positive], [scores])
        expected = [oracle.auc(positive, score) for score in scores]
        np.testing.assert_allclose(evidence.means, expected)
        np.testing.assert_allclose(
            evidence.joint.covariance, oracle.auc_covariance(positive, scores), atol=1e-12
        )
        assert np.linalg.eigvalsh(evidence.joint.regularized)[0] > 0


def test_parts_are_averaged():
    evidence = of_columns(np.random.default_rng(0), n_parts=3)
    single = [
        HeldOut(AUC, [positive], [scores])
        for positive, scores in zip(evidence.labels, evidence.scores, strict=True)
    ]
    np.testing.assert_allclose(evidence.means, np.mean([one.means for one in single], axis=0))
    # All parts have one centre.
    expected = np.sum([one.joint.covariance for one in single], axis=0) / 9
    np.testing.assert_allclose(evidence.joint.covariance, expected, rtol=0.1)
    n_effective = [one.joint.n_effective for one in single]
    assert evidence.joint.n_effective == pytest.approx(sum(n_effective))


def test_one_part_has_wilsons_limits():
    evidence = of_columns(np.random.default_rng(1))
    low, high = evidence.asymptotic_limits(np.full(3, 0.02))
    for c, score in enumerate(evidence.scores[0]):
        expected = metric_interval("auc", evidence.labels[0], score, level=0.96)
        assert (low[c], high[c]) == pytest.approx((expected.low, expected.high))


def test_the_entropy_of_folds():
    for n in (1, 2, 5, 20):
        assert exp(n * fold_entropy(n, 0.1)) * 0.1 == pytest.approx(oracle.xi(n))
        # It does not depend on the coin.
        for p in (0.1, 0.5, 0.93):
            coins = stats.binom(n, p)
            mean = sum(coins.pmf(j) * exp(n * oracle.kl(j / n, p)) for j in range(n + 1))
            assert mean == pytest.approx(oracle.xi(n))


def test_tails_against_the_exact_distribution():
    for seed, shifts in ((0, (1.0, 0.8, 0.4)), (1, (0.5, 0.5))):
        rng = np.random.default_rng(seed)
        evidence = of_columns(rng, shifts=shifts)
        weights = np.full(len(shifts), 1 / len(shifts))
        tails = simultaneous_tails(evidence, 0.1, weights, rng)
        expected = stats.norm.sf(oracle.largest_quantile(evidence.joint.regularized, 0.9))
        np.testing.assert_allclose(tails, expected, rtol=0.05)
        assert 0.1 / len(shifts) <= tails[0] <= 0.1


def test_tails_follow_the_weights():
    rng = np.random.default_rng(3)
    evidence = of_columns(rng)
    weights = np.array([0.7, 0.2, 0.1])
    tails = simultaneous_tails(evidence, 0.1, weights, rng)
    np.testing.assert_allclose(tails / tails[0], weights / weights[0])
    assert tails.sum() >= 0.1 - 1e-12
    assert tails.max() <= 0.1 + 1e-12
    alone = HeldOut(AUC, evidence.labels, [evidence.scores[0][:1]])
    assert simultaneous_tails(alone, 0.1, np.ones(1), rng).tolist() == [0.1]


@pytest.mark.slow
def test_who_may_be_the_best_against_the_exact_quantile():
    decided = set()
    for seed in range(25):
        rng = np.random.default_rng(seed)
        evidence = of_columns(rng, shifts=(1.2, 0.9, 0.7, 0.2), correlation=0.5)
        found = may_be_best(evidence, 0.1, rng)
        # Near the border the draws may decide otherwise.
        for delta in (0.09, 0.11):
            expected = oracle.may_be_best(evidence.means, evidence.joint.covariance, delta)
            if delta == 0.09:
                assert (found <= expected).all()
            else:
                assert (found >= expected).all()
        decided.add(tuple(found))
        assert found[np.argmax(evidence.means)]
    assert len(decided) > 3


def test_two_candidates_are_a_one_sided_paired_test():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        evidence = of_columns(rng, shifts=(1.0, 0.6))
        named = dict(zip("ab", evidence.scores[0], strict=True))
        test = compare("auc", evidence.labels[0], named, random_state=0)["a - b"]
        worse = 1 if test.estimate > 0 else 0
        expected = stats.norm.sf(abs(test.statistic)) >= 0.05
        assert may_be_best(evidence, 0.05, rng)[worse] == expected


def test_equal_candidates_are_all_kept_and_certain_ones_are_not_certain():
    rng = np.random.default_rng(0)
    positive = np.repeat([True, False], [10, 20])
    score = rng.normal(size=30)
    assert may_be_best(HeldOut(AUC, [positive], [[score, score, 2 * score]]), 0.1, rng).all()
    perfect = positive.astype(float)
    # No variance at all: one item of each class decides nothing, ten and twenty do.
    few = np.array([True, False])
    assert may_be_best(
        HeldOut(AUC, [few], [[np.array([1.0, 0]), np.array([0, 1.0])]]), 0.1, rng
    ).all()
    found = may_be_best(HeldOut(AUC, [positive], [[perfect, -perfect, score]]), 0.1, rng)
    assert found.tolist() == [True, False, False]
    found = may_be_best(HeldOut(AUC, [positive], [[perfect, -perfect]]), 0.1, rng)
    assert found.tolist() == [True, False]
    assert may_be_best(HeldOut(AUC, [positive], [[score]]), 0.1, rng).tolist() == [True]


def test_queries():
    rng = np.random.default_rng(0)
    samples = [rng.random((3, 30)), rng.random((3, 20))]
    evidence = of_query_values(samples)
    np.testing.assert_allclose(
        evidence.means, (samples[0].mean(axis=1) + samples[1].mean(axis=1)) / 2
    )
    expected = (np.cov(samples[0]) / 30 + np.cov(samples[1]) / 20) / 4
    np.testing.assert_allclose(evidence.joint.covariance, expected, atol=0.05 * expected.max())
    by_parts = np.mean(
        [[oracle.bernstein_lower(values, 0.05) for values in sample] for sample in samples], axis=0
    )
    found = evidence.means - margins(evidence, "bernstein", np.full(3, 0.1))
    np.testing.assert_allclose(found, by_parts)
    constant = of_query_values([np.ones((2, 30))])
    assert (constant.asymptotic_limits(np.full(2, 0.05))[0] < 1).all()
    assert may_be_best(constant, 0.05, rng).all()


@pytest.mark.slow
def test_the_best_is_kept_as_often_as_promised():
    kept, sizes = [], []
    for seed in range(600):
        rng = np.random.default_rng(seed)
        evidence = of_columns(rng, 60, 120, (1.0, 0.95, 0.9, 0.5), n_parts=2)
        stays = may_be_best(evidence, 0.1, rng)
        kept.append(stays[0])
        sizes.append(stays.sum())
    # Binomial standard error .012.
    assert np.mean(kept) > 0.9 - 0.03
    assert np.mean(sizes) < 3.5
