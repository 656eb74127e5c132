"""Limits over the labels of rows of which none was to be labelled."""

import numpy as np
import pytest
from scipy.special import expit

from sklearn_rank.inference import LabelDesign, compare, metric_interval
from sklearn_rank.metrics import get_measure
from tests.metrics.test_labels_in_part import NAMES
from tests.oracles import label_bounds as oracle

CONTRASTS = ((1, -1, 0), (1, 0, -1), (0, 1, -1))  # All pairs

# One of each kind; all are slow.
QUICK = ["ap", "auc", "recall@5", "ndcg@7"]


def reviewed_list(seed, most_below=None):
    """A list of which the first rows of a champion have labels, with ties, and three rankers."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 10)), int(rng.integers(1, 5))
    y = (rng.random(n) < 0.4).astype(float)
    scores = np.round(rng.normal(size=(3, n)) + y, int(rng.integers(0, 3)))
    champion = rng.permutation(n)
    y[champion < n - k] = np.nan
    design = LabelDesign(review_top=k, audit=0, scores=champion, most_below=most_below)
    return y, dict(zip("abc", scores, strict=True)), design


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *((name, 0) for name in QUICK),
        # One of three further lists for each measure.
        *(
            pytest.param(name, 1 + i % 3, marks=pytest.mark.slow)
            for i, name in enumerate(NAMES.split())
        ),
    ],
)
def test_limits_are_the_extremes_of_all_labellings(name, seed):
    y, scores, design = reviewed_list(seed)
    measure = get_measure(name)
    if measure.of_probabilities:
        scores = {ranker: expit(score) for ranker, score in scores.items()}
    columns = list(scores.values())
    found = metric_interval(name, y, columns[0], design=design)
    expected = oracle.limits(measure, y, columns[:1])
    np.testing.assert_allclose([found.low, found.high], expected, atol=1e-12)
    assert (found.method, found.level) == ("bounds", 1.0)
    found = compare(name, y, scores, design=design)
    for i, contrast in enumerate(CONTRASTS):
        low, high = oracle.limits(measure, y, columns, contrast)
        if name == "ap":
            assert found.low[i] <= low + 1e-12
            assert high - 1e-12 <= found.high[i] <= high + 0.25
        else:
            np.testing.assert_allclose([found.low[i], found.high[i]], [low, high], atol=1e-12)


@pytest.mark.parametrize("name", QUICK)
def test_a_pool_tells_nothing_of_other_rows(name):
    rng, measure = np.random.default_rng(0), get_measure(name)
    scores = rng.normal(size=(2, 9))
    # The first two rows of each of two rankers, of which none is a random sample.
    pool = (np.argsort(np.argsort(-scores)) < 2).any(axis=0)
    y = np.where(pool, rng.random(9) < 0.5, np.nan)
    for design in (LabelDesign(pool=pool), LabelDesign(pool=pool.tolist())):
        found = metric_interval(name, y, scores[0], design=design)
        expected = oracle.limits(measure, y, [scores[0]])
        np.testing.assert_allclose([found.low, found.high], expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"rows below have labels too: pass audit=.* or .*pool="):
        metric_interval(name, y, scores[0], design=LabelDesign(review_top=2, scores=scores[0]))


@pytest.mark.parametrize("name", ["ap", "auc", "recall@5"])
@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 5.0])
def test_the_assumption_limits_the_number_of_positives(name, factor):
    y, scores, design = reviewed_list(1, factor)
    reviewed = y[~np.isnan(y)]
    rate = (reviewed.sum() + 0.5) / (len(reviewed) + 1)
    most = int(factor * rate * np.isnan(y).sum())
    found = metric_interval(name, y, scores["a"], design=design)
    expected = oracle.limits(get_measure(name), y, [scores["a"]], most=most)
    np.testing.assert_allclose([found.low, found.high], expected, atol=1e-12)


def test_the_rate_at_the_cut_is_of_the_last_reviewed_rows_and_those_that_tie():
    y = np.r_[np.ones(10), np.zeros(40), np.full(100, np.nan)]
    champion = np.r_[np.arange(50.0, 30.0, -1), np.full(12, 30.0), np.arange(18.0, -100.0, -1)]
    design = LabelDesign(review_top=50, scores=champion, most_below=1.0)
    found = metric_interval("recall@50", y, champion, design=design)
    assert "any labels of 100 rows, at most 1 positive" in found.target  # .5 / 31 of 100
    assert (found.low, found.high) == (10 / 11, 1.0)


def test_labels_of_one_class_count_as_the_measure_says():
    y, score = [0, np.nan, np.nan], [3.0, 2.0, 1.0]
    design = LabelDesign(review_top=1, scores=score)
    skipped, counted = (metric_interval(m, y, score, design=design) for m in ("auc", "ap"))
    assert (skipped.low, skipped.high) == (0.0, 0.5)
    assert (counted.low, counted.high) == (0.0, (1 / 2 + 2 / 3) / 2)
    design = LabelDesign(review_top=1, scores=score, most_below=0)
    with pytest.raises(ValueError, match="auc is not defined for any labels of the 2 rows"):
        metric_interval("auc", y, score, design=design)


def test_a_comparison_says_what_the_labels_tell():
    y, score = np.r_[1, 1, 0, 0, np.full(20, np.nan)], -np.arange(24.0)
    design = LabelDesign(review_top=4, scores=score)
    rankers = {
        "a": score,
        "b": np.r_[score[2:4], score[:2], score[4:]],
        "c": score - 7,
        "d": -score,
    }
    found = compare("precision@2", y, rankers, design=design, baseline="a")
    assert found.conclusions == (
        "a better on this list",
        "no difference shown",
        "the labels do not tell",
    )
    assert found.pvalues == (0.0, 1.0, 1.0)
    assert found.differences == (-1.0, 0.0, -0.5)
    assert (found.low[2], found.high[2], found.level) == (-1.0, 0.0, 1.0)
    assert found["d - a"].conclusions == ("the labels do not tell",)
    found = compare("precision@2", y, {"a": score, "b": -score}, design=design, margin=0.5)
    shown = "a not worse by 0.5 or more on this list: shown; better: not shown"
    assert found.conclusions == (shown,)


def test_no_ranker_is_better_by_a_rounding_error():
    y, score = np.r_[np.ones(6), np.full(4, np.nan)], -np.arange(10.0)
    design = LabelDesign(review_top=6, scores=score)
    for seed in range(40):
        other = np.r_[np.random.default_rng(seed).permutation(score[:6]), score[6:]]
        found = compare("ndcg@8", y, {"a": score, "b": other}, design=design)
        assert (found.low, found.high) == ((0.0,), (0.0,))
        assert found.conclusions == ("no difference shown",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "score"}, "which says that none of the rows not reviewed have labels"),
        (
            {"design": LabelDesign(review_top=2, scores=-np.arange(6), proxy=np.full(6, 0.5))},
            "proxy predicts labels of 4 rows of which no sample",
        ),
        ({"design": LabelDesign(strata=[0, 0, 1, 1, 2, 2])}, "labels no row of the part of row 4"),
    ],
)
def test_what_needs_a_sample_is_refused(arguments, message):
    y, score = [1, 0, np.nan, np.nan, np.nan, np.nan], -np.arange(6.0)
    y[2] = 1 if "part" in message else np.nan
    arguments = {"design": LabelDesign(review_top=2, scores=score)} | arguments
    with pytest.raises(ValueError, match=message):
        metric_interval("auc", y, score, **arguments)


def test_an_assumption_on_rows_with_labels_is_refused():
    score = -np.arange(6.0)
    design = LabelDesign(review_top=2, scores=score, most_below=1.0)
    with pytest.raises(ValueError, match="but 1 rows below the first 2 have one"):
        metric_interval("auc", [1, 0, 1, np.nan, np.nan, np.nan], score, design=design)
    with pytest.raises(ValueError, match="most_below=-1 must be"):
        LabelDesign(review_top=2, scores=score, most_below=-1)
