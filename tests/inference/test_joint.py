"""Joint estimates of several scorers: covariances against numpy, edges, and class influence."""

from math import inf

import numpy as np
import pytest

from sklearn_rank.inference._joint import joint_influence, least_variance, mean_influences
from sklearn_rank.metrics import Exponential, LocalAUC, Power, Wilcoxon, linear_rank_score
from sklearn_rank.metrics._influence import linear_rank_influence_of, partial_auc_influence_of
from sklearn_rank.metrics._shared import ClassInfluence
from tests.catalogue import variance_of_influence

PHIS = [Wilcoxon(), Power(3), Exponential(5.0), LocalAUC(0.7)]


def scorers(seed, n=60, n_scorers=3):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) < n // 3
    common = rng.normal(size=n) + positive
    return positive, [common + rng.normal(size=n) for _ in range(n_scorers)]


def influence_of(positive, scores, phi, **options):
    return [linear_rank_influence_of(positive, score, phi, **options) for score in scores]


# ---------------------------------------------------------------------------------- one statistic


@pytest.mark.parametrize("phi", PHIS, ids=str)
def test_both_normalizations_are_one_statistic_in_two_units(phi):
    positive, (score, _, _) = scorers(0)
    mean, minmax = (
        linear_rank_influence_of(positive, score, phi, normalize=one) for one in ("mean", "minmax")
    )
    assert mean.estimate == pytest.approx(
        linear_rank_score(positive, score, phi=phi, normalize="mean")
    )
    expected = linear_rank_score(positive, score, phi=phi, normalize="minmax")
    assert minmax.estimate == pytest.approx(expected)
    assert minmax.range == (0.0, 1.0)
    perfect = linear_rank_influence_of(positive, positive * 1.0, phi)
    reversed_ = linear_rank_influence_of(positive, ~positive * 1.0, phi)
    assert mean.range[0] <= reversed_.estimate < perfect.estimate <= mean.range[1]
    for name in ("covariance", "regularized"):
        of_mean, of_range = (getattr(joint_influence([x]), name)[0, 0] for x in (mean, minmax))
        assert of_range == pytest.approx(of_mean / mean.length**2)


@pytest.mark.parametrize("phi", PHIS, ids=str)
@pytest.mark.parametrize("normalize", ["mean", "minmax"])
def test_the_slope_is_the_derivative_by_the_share_of_positives(phi, normalize):
    def at(n_pos):
        n_neg = 2000 - n_pos
        positive, negative = ((np.arange(k) + 0.5) / k for k in (n_pos, n_neg))
        labels = np.arange(2000) < n_pos
        return linear_rank_influence_of(
            labels, np.r_[positive ** (1 / 3), negative], phi, normalize=normalize
        )

    slope = (at(1010).estimate - at(990).estimate) / (20 / 2000)
    assert at(1000).label_slope == pytest.approx(slope, rel=0.1, abs=0.02)


def test_random_labels_add_the_variance_of_their_share():
    positive, (score, _, _) = scorers(1)
    found = linear_rank_influence_of(positive, score, Exponential(5.0))
    share = positive.mean()
    expected = found.label_slope**2 * share * (1 - share) / len(positive)
    fixed, random = (
        joint_influence([found], conditional=conditional).covariance[0, 0]
        for conditional in (True, False)
    )
    assert random - fixed == pytest.approx(expected)
    assert partial_auc_influence_of(positive, score, 1.0, 0.0).label_slope == 0.0


def test_unknown_ends_are_those_that_were_seen():
    values, positive = np.array([0.2, 0.9, 0.5, -0.3, 0.1]), np.array([1, 1, 1, 0, 0]) == 1
    found = ClassInfluence(0.5, values, positive, range=(0.0, 1.0))
    np.testing.assert_array_equal(found.class_ends(), ((0.2, 0.9), (-0.3, 0.1)))
    ends = (0.2, 0.9), (-0.3, 0.1)
    told = ClassInfluence(0.5, values, positive, ends=ends, range=(0.0, 1.0))
    assert joint_influence([found]).regularized == joint_influence([told]).regularized
    assert np.isnan(found.label_slope)


def test_equal_values_have_ends_half_a_range_away():
    values, positive = np.array([0.4, 0.4, -0.2, -0.2]), np.array([1, 1, 0, 0]) == 1
    found = ClassInfluence(1.0, values, positive, range=(0.0, 2.0))
    np.testing.assert_allclose(found.class_ends(), ((-0.6, 1.4), (-1.2, 0.8)))
    assert joint_influence([found]).regularized[0, 0] > 0.1
    unbounded = ClassInfluence(1.0, values, positive)
    np.testing.assert_array_equal(unbounded.class_ends(), ((0.4, 0.4), (-0.2, -0.2)))


def test_other_units_scale_all_there_is():
    positive, (score, _, _) = scorers(2)
    found = linear_rank_influence_of(positive, score, Power(3))
    scaled = found.scaled(0.25, 0.5)
    assert scaled.estimate == (found.estimate - 0.25) / 0.5
    assert scaled.range == ((found.range[0] - 0.25) / 0.5, (found.range[1] - 0.25) / 0.5)
    assert scaled.label_slope == found.label_slope / 0.5
    assert variance_of_influence(scaled) == pytest.approx(variance_of_influence(found) / 0.25)
    np.testing.assert_allclose(scaled.class_ends(), np.array(found.class_ends()) / 0.5)
    np.testing.assert_allclose(scaled.centred(), found.centred() / 0.5)


# ------------------------------------------------------------------------------------ together


def test_regularized_is_never_singular():
    positive, (score, other, _) = scorers(5)
    for scores in ([score] * 3, [score, 2 * score, other], [positive * 1.0] * 2):
        found = influence_of(positive, scores, Wilcoxon(), normalize="minmax")
        joint = joint_influence(found, conditional=True)
        assert np.linalg.eigvalsh(joint.regularized)[0] > 1e-5
    for one in ([True, False, False], [True, True, False]):
        found = influence_of(np.array(one), [np.arange(3.0)] * 2, Wilcoxon())
        joint = joint_influence(found, conditional=True)
        assert np.isnan(joint.covariance).all()
        assert np.linalg.eigvalsh(joint.regularized)[0] > 1e-3


def test_query_means_have_the_covariance_of_means():
    values = np.random.default_rng(6).random((3, 25))
    joint = joint_influence(mean_influences(values, (0.0, 1.0)))
    np.testing.assert_allclose(joint.estimates, values.mean(axis=1))
    np.testing.assert_allclose(joint.covariance, np.cov(values) / 25)
    # Half a query at 0 and half a query at 1, for each scorer by itself.
    apart = values - values.mean(axis=1, keepdims=True)
    expected = (apart @ apart.T + 0.25 * np.eye(3)) / 26**2
    np.testing.assert_allclose(joint.regularized, expected)
    assert (joint.length, joint.n_effective) == (1.0, 25.0)


def test_query_means_without_a_range_have_that_of_what_was_seen():
    values = np.array([[3.0, 5.0, 10.0], [4.0, 4.0, 4.0]])
    of_range, unknown = (
        joint_influence(mean_influences(values, whole)) for whole in ((3.0, 10.0), (0.0, inf))
    )
    np.testing.assert_allclose(unknown.regularized, of_range.regularized)
    constant = joint_influence(mean_influences(np.full((2, 4), 3.0), (0.0, inf)))
    assert np.all(constant.covariance == 0.0)
    assert np.linalg.eigvalsh(constant.regularized)[0] > 0.0


# ------------------------------------------------------------------------- never without variance


def test_rounding_is_no_variance():
    assert least_variance(0.0, 2.0, 5.0) == pytest.approx(1e-24 * 4.0 / 5.0)
    assert least_variance(0.0, inf, 5.0) == 0.0
    found = least_variance(np.array([0.0, 0.3, -0.3]), 1.0, 1.0)
    np.testing.assert_allclose(found, [1e-24, 0.01, 0.01])
