"""Interval of one list by the influence of its items."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, sem, t

from sklearn_rank.inference import metric_interval
from sklearn_rank.inference._limits import safe_limits
from sklearn_rank.inference._moments import ClassMoments
from sklearn_rank.metrics import TopDCG, bedroc_score, get_measure, linear_rank_score, make_measure
from sklearn_rank.metrics._score_generating import Screening
from sklearn_rank.metrics._shared import ClassInfluence
from tests.catalogue import variance_of_influence
from tests.naming import for_each

LIST = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]
GROUPS = [0, 1, 2, 0, 1, 3, 3, 2]
SCREENING = Screening(5)


def mean_of_positives(y_true, y_score):
    return y_score[y_true == 1].mean()


def moved(y_true, y_score):
    return np.where(y_true == 1, y_score, 0.0)


def test_bedroc_of_one_list():
    found = metric_interval("bedroc@20", *LIST)
    assert found.estimate == pytest.approx(bedroc_score(*LIST, alpha=20))
    assert 0.0 <= found.low < found.estimate < found.high <= 1.0
    assert (found.method, found.target) == ("influence", "bedroc@20 at 4 positives of 8")


def numbers(found):
    return found.estimate, found.low, found.high, found.standard_error


def test_measures_that_are_others_in_another_unit():
    area, gini = metric_interval("auc", *LIST), metric_interval("gini", *LIST)
    assert numbers(gini)[:3] == pytest.approx([2 * x - 1 for x in numbers(area)[:3]])
    assert gini.standard_error == pytest.approx(2 * area.standard_error)
    phi = get_measure(linear_rank_score, phi=SCREENING, normalize="mean")
    mean, ratio = metric_interval(phi, *LIST), metric_interval("rie@5", *LIST)
    unit = get_measure("rie@5")(*LIST) / mean.estimate
    assert numbers(ratio) == pytest.approx([unit * x for x in numbers(mean)])


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


@for_each(
    ("measure", "options", "message"),
    [
        ("ndcg", {}, "ndcg of one list is a single value.*pass qid"),
        ("bedroc@20", {"method": "bca"}, "method='bca' does not support bedroc@20 of one"),
        ("bedroc@20", {"method": "kl"}, "pass 'influence' or 'dkw' or 'bootstrap'"),
        ("auc", {"method": "t"}, "'influence'; for a mean over queries pass qid"),
        ("auc", {"method": "kl", "groups": GROUPS}, "method='kl' needs independent items and"),
        ("precision@top0.5", {"method": "exact", "groups": GROUPS}, "pass method='influence'"),
        (get_measure(linear_rank_score, phi=TopDCG(2)), {}, "TopDCG.*pass method='bootstrap'"),
        ("bedroc@20", {"groups": np.zeros(8)}, "one group only"),
        (
            "bedroc@20",
            {"groups": GROUPS, "sample_weight": [1, 0, 0, 1, 0, 0, 0, 0], "weights": "frequency"},
            "one group",
        ),
        ("bedroc@20", {"level": 2}, "level=2"),
    ],
)
def test_refusals(measure, options, message):
    with pytest.raises(ValueError, match=message):
        metric_interval(measure, *LIST, **options)


@pytest.mark.parametrize(
    "function",
    [
        lambda y, s: metric_interval("auc", y, s),
        lambda y, s: metric_interval("bedroc@20", y, s),
        lambda y, s: metric_interval("ndcg", y, s, qid=[0, 0, 1, 1]),
    ],
)
def test_several_classes_at_a_time(function):
    with pytest.raises(ValueError, match="y_true has rows of different lengths"):
        function([(1,), (0, 1), (), (1,)], [1, 2, 3, 4])
    with pytest.raises(ValueError, match=r"y_true has (2 dimensions|shape \(4, 2\))"):
        function([[1, 0], [0, 1], [1, 1], [0, 0]], [1, 2, 3, 4])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_pos", "n_neg"),
    [("fpr@tpr0.9", 10, 100), ("fpr@tpr0.5", 10, 100), ("tpr@fpr0.1", 100, 10)],
)
def test_rates_at_few_items_of_the_class_of_the_threshold_are_covered(name, n_pos, n_neg):
    rng = np.random.default_rng(0)
    y = np.arange(n_pos + n_neg) < n_pos
    wide = y if name.startswith("fpr") else ~y
    spread = np.where(wide, 3.0, 1.0)
    share = float(name[7:])
    # The class whose quantile is the threshold has three times the spread of the other.
    quantile = (norm.ppf(1 - share) * 3 + 1) if name.startswith("fpr") else norm.ppf(1 - share) * 3
    target = norm.sf(quantile - (not name.startswith("fpr")))
    found = [metric_interval(name, y, y + spread * rng.normal(size=len(y))) for _ in range(300)]
    assert {one.method for one in found} == {"order statistics"}
    assert np.mean([target in one for one in found]) > 0.94
    assert all(one.low <= one.estimate <= one.high for one in found)


def test_rates_with_groups_use_the_influence_and_ties_keep_the_estimate_inside():
    y, score = np.tile([1, 0, 0, 1], 10), np.tile([2.0, 1.0, 2.0, 1.0], 10)
    found = metric_interval("fpr@tpr0.5", y, score)
    assert found.low < found.estimate < found.high
    grouped = metric_interval("fpr@tpr0.5", y, score, groups=np.arange(40) // 2)
    assert grouped.method == "influence"


def test_precision_at_a_recall_has_the_limits_of_its_rate():
    rng = np.random.default_rng(0)
    y = np.arange(200) < 40
    score = np.round(rng.normal(size=200) + 1.5 * y, 1)
    rate = metric_interval("fpr@tpr0.7", y, score)
    found = metric_interval("precision@recall0.7", y, score)
    values = (1.0 / (1.0 + 160 / 28 * x) for x in (rate.estimate, rate.high, rate.low))
    assert (found.estimate, found.low, found.high) == pytest.approx(tuple(values))
    random = metric_interval("precision@recall0.7", y, score, conditional=False)
    assert random.low < found.low < found.high < random.high


OF_SHARES = "lift@0.1 enrichment@0.05 rie@20 recall@50 f1@50 accuracy_loss@top0.1"


@for_each("name", OF_SHARES.split())
def test_of_the_population_a_pure_top_has_room_on_both_sides(name):
    # All of the first are positives, so that the value is the largest at this share of positives.
    y, score = np.arange(1000) < 300, -np.arange(1000.0)
    at_share, found = (metric_interval(name, y, score, conditional=c) for c in (True, False))
    low, high = get_measure(name).range
    assert found.low < at_share.low
    assert found.low < found.estimate < found.high or found.estimate in (low, high)
    assert low <= found.low
    assert found.high <= high
    if name == "lift@0.1":  # One over the share, whose limits are Wilson's
        of_share = metric_interval("precision@1000", y, score)
        assert found.high == pytest.approx(1 / of_share.low, rel=5e-3)


def test_lift_is_covered_where_the_top_is_pure():
    rng, below, above = np.random.default_rng(0), 0, 0
    for _ in range(200):
        y = rng.random(300) < 0.25
        found = metric_interval("lift@0.1", y, rng.normal(size=300) + 6 * y, conditional=False)
        below, above = below + (found.high < 4), above + (found.low > 4)
    assert max(below, above) <= 12  # 5 are expected in either tail


def cliff(rng, n=500, share=0.2, above=0.8, below=0.05):
    """A list whose chance of a positive falls where a top ends, and the measures there."""
    place = rng.random(n)
    y = rng.random(n) < np.where(place > 1.0 - share, above, below)
    return y, place


# Of the population with 20 % of chance .8 and the others of .05: there are .2 positives.
AT_CLIFF = {"r_precision": 0.8, "lift@0.2": 4.0}


@pytest.mark.parametrize("name", AT_CLIFF)
def test_limits_at_a_cliff_count_the_bias_of_a_threshold_that_moves_over_it(name):
    rng, truth, measure = np.random.default_rng(3), AT_CLIFF[name], get_measure(name)
    found, bias, beyond = [], [], np.zeros(2)
    for _ in range(200):
        y, score = cliff(rng)
        interval = metric_interval(measure, y, score, conditional=False)
        found.append(interval.estimate)
        bias.append(measure.influence_of(measure.lists(y, score)).jump_bias[1, 0])
        beyond += truth < interval.low, truth > interval.high
    moved = np.mean(found) - truth
    assert np.mean(bias) == pytest.approx(moved, rel=0.3)
    assert abs(moved) > 6 * np.std(found) / 200**0.5  # By standard errors of the mean
    assert beyond.max() <= 11  # 5 are expected on either side


def test_no_jump_is_seen_where_the_share_of_positives_falls_slowly():
    rng = np.random.default_rng(4)
    y = np.arange(1000) < 200
    measure = get_measure("r_precision")
    influence = measure.influence_of(measure.lists(y, rng.normal(size=1000) + y))
    assert abs(influence.jump_bias[0, 0]) < 0.1 * np.sqrt(variance_of_influence(influence))


def test_accuracy_loss_counts_the_scores_that_may_be_at_the_end_of_the_top():
    rng, measure = np.random.default_rng(5), get_measure("accuracy_loss@top0.1")

    def rounded(n):
        y = rng.random(n) < 0.3
        return y, np.round(1.2 * (rng.normal(size=n) + 1.5 * y))

    truth, beyond = measure(*rounded(10**6)), np.zeros(2)
    for _ in range(200):
        found = metric_interval(measure, *rounded(300), conditional=False)
        beyond += truth < found.low, truth > found.high
    assert beyond.max() <= 16  # 5 are expected on either side; without the other score half of all
    y, score = np.tile([1, 0], 30), np.repeat([3.0, 2.0, 1.0], [4, 16, 40])
    found = metric_interval(measure, y, score)
    # The top ends within two standard deviations of either of the two highest scores.
    for quantile in (3.0, 2.0):
        above, below = score[y == 0] > quantile, score[y == 1] < quantile
        assert (above.mean() + below.mean()) / 2 in found


def test_what_a_sample_lacks_at_one_end_is_beyond_the_limit_of_that_side():
    # Of values 0 and 1 half a unit more at an end makes so many draws.
    values = np.r_[np.ones(12), np.zeros(8)]
    found = ClassMoments.of(ClassInfluence(0.6, values, None, [(0.0, 1.0)], (0.0, 1.0)))
    assert found.limits(0.9) == pytest.approx(safe_limits(0.6, 20.5, 0.9, 19.0))
    low, high = found.limits(0.9)
    # An end far below concerns the lower limit alone.
    farther = replace(found, ends=np.array([[-1.0, 1.0]])).limits(0.9)
    assert farther[0] < low
    assert farther[1] == high
