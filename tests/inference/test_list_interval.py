"""Interval of one list by the influence of its items."""

import numpy as np
import pytest
from scipy.stats import sem, t

from sklearn_rank.inference import (
    auc_interval,
    linear_rank_interval,
    metric_interval,
    partial_auc_interval,
    roc_band,
)
from sklearn_rank.metrics import (
    LocalAUC,
    bedroc_score,
    get_measure,
    make_measure,
    partial_auc_score,
)

LIST = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]


def mean_of_positives(y_true, y_score):
    return y_score[y_true == 1].mean()


def moved(y_true, y_score):
    return np.where(y_true == 1, y_score, 0.0)


def test_bedroc_of_one_list():
    found = metric_interval("bedroc@20", *LIST)
    assert found.estimate == pytest.approx(bedroc_score(*LIST, alpha=20))
    assert 0.0 <= found.low < found.estimate < found.high <= 1.0
    assert (found.method, found.target) == ("influence", "bedroc@20 at 4 positives of 8")


def test_as_the_functions_of_each_measure():
    found = metric_interval("auc", *LIST)
    expected = linear_rank_interval(*LIST)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    area = metric_interval(get_measure(partial_auc_score, max_fpr=0.5, scale="normalized"), *LIST)
    expected = partial_auc_interval(*LIST, max_fpr=0.5, scale="normalized")
    assert (area.low, area.high) == pytest.approx((expected.low, expected.high))
    # There the bias is taken off.
    local = linear_rank_interval(*LIST, phi=LocalAUC(0.5))
    assert metric_interval("local_auc@0.5", *LIST).estimate == pytest.approx(local.estimate)


def test_an_influence_of_ones_own():
    measure = make_measure(mean_of_positives, per_query=False, influence=moved)
    found = metric_interval(measure, *LIST)
    values = [8, 7, 5, 2]
    assert found.standard_error == pytest.approx(sem(values))
    assert found.width == pytest.approx(2 * 1.959964 * sem(values))
    groups = [0, 1, 0, 2, 1, 2, 3, 3]
    grouped = metric_interval(measure, *LIST, groups=groups)
    # The negatives move nothing: the four groups of a positive each.
    assert grouped.width == pytest.approx(2 * t.ppf(0.975, 3) * sem(values))
    same = [1, 0, 1, 0], [3.0, 1.0, 3.0, 2.0]
    with pytest.raises(ValueError, match="pass range= to make_measure"):
        metric_interval(measure, *same)


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("ndcg", {}, "How single items move measure='ndcg' is not known.*pass qid"),
        ("precision@top0.1", {}, "the precision at the top has precision_at_top_interval"),
        ("bedroc@20", {"method": "bca"}, "method='bca' is for means over queries, but without"),
        ("bedroc@20", {"sample_weight": np.ones(8)}, "sample_weight is for means over queries"),
        ("bedroc@20", {"groups": np.zeros(8)}, "one group only"),
        ("bedroc@20", {"level": 2}, "level=2"),
    ],
)
def test_refusals(measure, options, message):
    with pytest.raises(ValueError, match=message):
        metric_interval(measure, *LIST, **options)


@pytest.mark.parametrize(
    "function",
    [
        auc_interval,
        linear_rank_interval,
        roc_band,
        lambda y, s: metric_interval("bedroc@20", y, s),
        lambda y, s: metric_interval("ndcg", y, s, qid=[0, 0, 1, 1]),
    ],
)
def test_several_classes_at_a_time(function):
    with pytest.raises(ValueError, match="y_true has rows of different lengths"):
        function([(1,), (0, 1), (), (1,)], [1, 2, 3, 4])
    with pytest.raises(ValueError, match=r"y_true has (2 dimensions|shape \(4, 2\))"):
        function([[1, 0], [0, 1], [1, 1], [0, 0]], [1, 2, 3, 4])
