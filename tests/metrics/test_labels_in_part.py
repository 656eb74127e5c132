"""Values and derivatives of measures at labels that are known in part, as fractions."""

import numpy as np
import pytest

from sklearn_rank.metrics import get_measure
from tests.catalogue import scores_for
from tests.naming import for_each
from tests.oracles import labels_in_part as oracle

SCORES = np.array([3.0, 1.0, 2.0, 2.0, 2.0, 0.0])


@pytest.mark.parametrize("name", ["ap", "auc", "precision@2", "recall@2", "f1@2", "dcg"])
@pytest.mark.parametrize("scores", [SCORES, np.arange(6.0)], ids=["tied", "untied"])
def test_fractions_count_as_in_the_definition(name, scores):
    measure = get_measure(name)
    y = np.array([0.9, 0.0, 0.35, 1.0, 0.5, 0.2])
    lists = measure.lists([1, 0, 0, 1, 0, 1], scores)
    value, slope, _ = measure.evidence(lists).label_function.at(y)
    assert value == pytest.approx(oracle.value(scores, y, name))
    expected = oracle.derivative(scores, y, name)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", ["ap", "recall@2", "f1@2", "auc"])
@pytest.mark.parametrize("scores", [SCORES, np.arange(6.0)], ids=["tied", "untied"])
def test_shifted_labels_exceed_the_value_by_what_the_definition_says(name, scores):
    rng = np.random.default_rng(0)
    q, shift = rng.uniform(0.2, 0.8, 6), rng.normal(size=6) / 3
    measure = get_measure(name)
    function = measure.evidence(measure.lists([1, 0, 0, 1, 0, 1], scores)).label_function
    at = function.at(q, shift)
    exceeds = oracle.value(scores, q + shift, name) - at.value
    assert np.sign(at.excess) == np.sign(exceeds)
    if name in ("ap", "recall@2"):  # of which the denominator is the number of positives
        ratio = (q + shift).sum() / q.sum()
        assert at.excess == pytest.approx(exceeds * ratio, rel=1e-6)
    # A small shift has that of the slope.
    assert function.at(q, 1e-5 * shift).excess == pytest.approx(1e-5 * at.slope @ shift, rel=1e-3)


NAMES = (
    "ap auc gini bedroc@20 local_auc@0.5 pnorm@3 precision@5 precision@top0.1 recall@5 f1@5"
    " lift@0.13 dcg dcg@7 ndcg ndcg@7 recall@top0.1 net_benefit@0.6 calibration@5"
)


@pytest.mark.parametrize("name", NAMES.split())
@pytest.mark.parametrize("digits", [0, 9], ids=["tied", "untied"])
def test_whole_labels_have_the_value_of_the_measure_and_a_slope_of_its_changes(name, digits):
    rng = np.random.default_rng(0)
    y = (rng.random(60) < 0.3).astype(int)
    score = scores_for(name, np.round(y + rng.normal(size=60), digits))
    measure = get_measure(name)
    evidence = measure.evidence(measure.lists(y, score))
    value = evidence.label_function.at(y.astype(float)).value
    assert value == pytest.approx(measure(y, score))
    p = rng.random(60)
    slope, i = evidence.label_function.at(p).slope, 7
    ends = [evidence.label_function.at(p + h * (np.arange(60) == i)).value for h in (-1e-4, 1e-4)]
    assert slope[i] == pytest.approx((ends[1] - ends[0]) / 2e-4, rel=1e-4, abs=1e-9)


def test_other_measures_say_that_they_have_no_such_value():
    measure = get_measure("rr")
    lists = measure.lists([1, 0], [2.0, 1.0])
    with pytest.raises(ValueError, match="rr is no known function of a sum over labels"):
        measure.evidence(lists).label_function.at(np.array([0.5, 0.5]))


SHARES = (
    "accuracy_loss@top0.05 enrichment@0.05 negative_height_loss@4 partial_auc@fpr0.1"
    " partial_auc@fpr0.3tpr0.7 smoothed_precision@top0.05 tpr@fpr0.05 fpr@tpr0.9 r_precision"
    " precision@recall0.9"
)


@for_each("name", SHARES.split())
def test_other_measures_count_each_row_as_a_positive_and_a_negative(name):
    rng, measure = np.random.default_rng(0), get_measure(name)
    score = rng.normal(size=2000)
    y = (score + rng.normal(size=2000) > 1.5).astype(int)
    evidence = measure.evidence(measure.lists(y, score))
    assert evidence.label_function.at(y.astype(float))[0] == pytest.approx(measure(y, score))
    p = 1.0 / (1.0 + np.exp(2.5 - 1.5 * score))
    slope = evidence.label_function.at(p)[1]
    for rows in (score > 1.3, (score > 0.0) & (score < 1.3), score < 0.0):
        # Thresholds are at single rows, so that labels are moved by more than a rounding error.
        moved = np.where(rows, 0.02 * p * (1.0 - p), 0.0)
        ends = [evidence.label_function.at(p + sign * moved)[0] for sign in (-1, 1)]
        assert 2.0 * slope @ moved == pytest.approx(ends[1] - ends[0], rel=0.06, abs=1e-4)
