"""Rows that stand for many equal items: influence and bias are those of the items themselves."""

import numpy as np
import pytest

from sklearn_rank import _order as _blocks
from sklearn_rank.inference import metric_interval
from sklearn_rank.inference._joint import joint_influence
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    VanDerWaerden,
    Wilcoxon,
    get_measure,
    get_measure_names,
)
from sklearn_rank.metrics._influence import linear_rank_influence_of, partial_auc_influence_of
from sklearn_rank.metrics._shared import as_score_generating, rank_bias
from tests.catalogue import scores_for
from tests.naming import for_each, shown

PHIS = [Wilcoxon(), LocalAUC(0.7), Power(3), Exponential(5.0), VanDerWaerden(), np.square]


def _table(seed, n=400, levels=23):
    """Rows of a table in random order, and the items that they stand for."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, levels, n).astype(np.float64)
    positive = rng.random(n) < (score + 3) / (levels + 10)
    rows, counts = np.unique(np.stack([score, positive]), axis=1, return_counts=True)
    shuffled = rng.permutation(len(counts))
    rows, counts = rows[:, shuffled], counts[shuffled].astype(np.float64)
    items = np.repeat(np.arange(len(counts)), counts.astype(int))
    return rows[1] == 1, rows[0], counts, items


def _same(found, expected, items):
    np.testing.assert_allclose(found.values[items], expected.values, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found.centred()[items], expected.centred(), rtol=1e-8, atol=1e-12)
    assert (found.n, found.n_pos) == (expected.n, expected.n_pos)
    for name in ("covariance", "regularized"):
        both = (float(getattr(joint_influence([x]), name)[0, 0]) for x in (found, expected))
        assert next(both) == pytest.approx(next(both), rel=1e-10, nan_ok=True)
    np.testing.assert_allclose(found.class_ends(), expected.class_ends(), rtol=1e-10)
    assert found.range == expected.range
    assert found.label_slope == pytest.approx(expected.label_slope, rel=1e-9, abs=1e-12)


@for_each("phi", PHIS)
def test_influence_on_rank_statistics(phi):
    for normalize in ("mean", "minmax"):
        phi = as_score_generating(phi)
        positive, score, counts, items = _table(0)
        found = linear_rank_influence_of(positive, score, phi, normalize=normalize, counts=counts)
        expected = linear_rank_influence_of(
            positive[items], score[items], phi, normalize=normalize
        )
        assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
        _same(found, expected, items)
        bias = rank_bias(positive, score, phi, counts)
        assert bias == pytest.approx(rank_bias(positive[items], score[items], phi), abs=1e-13)


@pytest.mark.parametrize("limits", [(1.0, 0.0), (0.3, 0.0), (0.4, 0.5)], ids=shown)
def test_influence_on_partial_areas(limits):
    positive, score, counts, items = _table(1)
    found = partial_auc_influence_of(positive, score, *limits, counts=counts)
    expected = partial_auc_influence_of(positive[items], score[items], *limits)
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
    _same(found, expected, items)


@for_each("name", [name for name in get_measure_names() if get_measure(name).has_influence])
def test_measures_take_counts(name):
    measure = get_measure(name)
    positive, score, counts, items = _table(2)
    score = scores_for(name, score - 11.0)
    found = measure.influence_of(measure.lists(positive, score, sample_weight=counts))
    expected = measure.influence_of(measure.lists(positive[items], score[items]))
    _same(found, expected, items)
    for conditional in (True, False):
        one, other = (joint_influence([x], conditional=conditional) for x in (found, expected))
        assert one.covariance == pytest.approx(other.covariance, rel=1e-10)
        assert one.regularized == pytest.approx(other.regularized, rel=1e-10)
        assert one.n_effective == other.n_effective


def test_blocks_longer_than_what_is_laid_out_at_once(monkeypatch):
    positive, score, counts, items = _table(3)
    phi = Exponential(3.0)
    expected = linear_rank_influence_of(positive, score, phi, counts=counts).values
    bias = rank_bias(positive, score, phi, counts)
    for places in (1, 7, 64):
        monkeypatch.setattr(_blocks, "CHUNK", places)
        found = linear_rank_influence_of(positive, score, phi, counts=counts).values
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert rank_bias(positive, score, phi, counts) == pytest.approx(bias, abs=1e-13)
    assert len(items) > 64


def test_the_extreme_orders_have_the_bias_of_their_items():
    positive = np.arange(90) < 20
    for phi in (Exponential(4.0), LocalAUC(0.6)):
        for sign in (1.0, -1.0):
            expected = rank_bias(positive, sign * np.arange(90.0), phi)
            found = rank_bias(
                np.array([True, False]), sign * np.arange(2.0), phi, np.array([20.0, 70.0])
            )
            assert found == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("measure", ["bedroc@20", "ap", "dcg@10"])
def test_items_that_would_be_looked_at_one_by_one_are_refused_where_they_are_too_many(measure):
    y, scores = np.array([0, 1] * 10), np.repeat(np.arange(10.0), 2)
    weight = np.ones(20)
    weight[0] = 1e12
    with pytest.raises(ValueError, match=r"1e\+12 items .* pass weights of a smaller scale"):
        metric_interval(measure, y, scores, sample_weight=weight, weights="frequency")
