"""Conditional linear rank statistics, where the catalogue says nothing."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    TopDCG,
    VanDerWaerden,
    Wilcoxon,
    bedroc_score,
    dcg_score,
    linear_rank_score,
    local_auc_score,
)
from tests.naming import for_each


@pytest.fixture
def tied():
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 60)
    return y_true, rng.integers(0, 9, 60), rng.uniform(1, 3.3, 60)


def test_large_alpha_keeps_its_digits():
    # Of 1000 positions the first counts exp(-500), the second exp(-1000).
    y_true = np.zeros(1000)
    y_true[[0, 500]] = 1
    value = bedroc_score(y_true, -np.arange(1000), alpha=5e5)
    assert value == pytest.approx(1.0)
    assert bedroc_score(y_true[::-1], -np.arange(1000), alpha=5e5) == pytest.approx(0, abs=1e-12)


@for_each("phi", [Wilcoxon(), LocalAUC(0.5), Power(3), Exponential(2.0), VanDerWaerden(), np.cbrt])
def test_real_weights_take_parts_of_ranks(phi):
    # From the bottom: rank 1 and a half of 2; from 2 to three quarters of 3; the rest.
    value = linear_rank_score(
        [1, 0, 1], [1, 2, 3], phi=phi, normalize=None, sample_weight=[1.5, 1.25, 2.25]
    )
    expected = phi(np.arange(1, 6) / 6) @ [1, 0.5, 0.25, 1, 1]
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("n", [9, 27, 48, 99])
def test_cut_on_a_rank_counts_that_rank(n):
    # u0 (n + 1) may come out above the whole number that it stands for: .07 * 100 does.
    labels = np.eye(n)[:, ::-1]
    scores = np.tile(-np.arange(n), (n, 1))
    rank = np.arange(1, n + 1)
    for j in rank:
        u0 = j / (n + 1)
        values = local_auc_score(labels, scores, u0=u0, normalize=None, average=None)
        assert values == pytest.approx(np.where(rank >= j, rank / (n + 1), 0), rel=1e-13)
        # A block of all items, and the same as one item of that weight.
        tied = local_auc_score(np.ones(n), np.zeros(n), u0=u0, normalize=None)
        assert tied == pytest.approx((rank[j - 1 :] / (n + 1)).sum(), rel=1e-13)
        weighted = local_auc_score([1], [0], u0=u0, normalize=None, sample_weight=[n])
        assert weighted == pytest.approx(tied, rel=1e-13)


def test_no_place_that_counts():
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(local_auc_score([1, 0], [2, 1], u0=0.9))
    assert local_auc_score([1, 0], [2, 1], u0=0.9, normalize="mean") == 0.0
    for arguments in (([1, 0], [2, 1], np.ones_like), ([0], [0], np.square)):
        *rows, phi = arguments
        for ties in ("average", "max"):
            with pytest.warns(UndefinedMetricWarning):
                value = linear_rank_score(*rows, phi=phi, ties=ties, normalize="minmax")
            assert np.isnan(value)


@pytest.mark.parametrize("weighted", [False, True])
def test_top_dcg_is_the_gain_of_binary_labels(tied, weighted):
    for k in (1, 4, 30, 100):
        y_true, y_score, weight = tied
        weight = weight if weighted else None
        value = linear_rank_score(
            y_true, y_score, phi=TopDCG(k), normalize=None, sample_weight=weight
        )
        assert value == pytest.approx(
            dcg_score(y_true, y_score, k=k, sample_weight=weight), rel=1e-11
        )
