"""What every interval and every test of one list must keep, one property a test."""

import numpy as np
import pytest

from sklearn_rank.inference import compare, metric_interval, two_sample_rank_test
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    get_measure,
    linear_rank_score,
    partial_auc_score,
)
from tests.naming import for_each


def rank_interval(phi, method="influence", normalize="minmax"):
    def interval(y_true, y_score, **options):
        return metric_interval(
            get_measure(linear_rank_score, phi=phi, normalize=normalize),
            y_true,
            y_score,
            method=method,
            n_resamples=99,
            random_state=0,
            **options,
        )

    return interval


def partial(**limits):
    measure = get_measure(partial_auc_score, scale="normalized", **limits)
    return lambda y, s, **options: metric_interval(measure, y, s, **options)


def at_top(method):
    return lambda y, s, **options: metric_interval(
        "precision@top0.3", y, s, method=method, **options
    )


INTERVALS = {
    "auc": lambda y, s, **options: metric_interval("auc", y, s, **options),
    "auc, kl": lambda y, s, **options: metric_interval("auc", y, s, method="kl", **options),
    "wilcoxon": rank_interval("wilcoxon"),
    "exponential": rank_interval(Exponential(5.0)),
    "exponential, mean": rank_interval(Exponential(5.0), normalize="mean"),
    "local": rank_interval(LocalAUC(0.6)),
    "dkw": rank_interval(Power(2), method="dkw"),
    "bootstrap": rank_interval(Power(2), method="bootstrap"),
    "partial": partial(max_fpr=0.4),
    "two-way": partial(max_fpr=0.6, min_tpr=0.3),
    "top": at_top("influence"),
    "top, exact": at_top("exact"),
}
# Those whose target is as far from 1 as that of the labels turned round is from 0, and by how much
# their limits may fail to be with one item of a class: ranks over n + 1 make the imagined items of
# the classes unlike, and with them the effective sample size.
SYMMETRIC = {"auc": 0.0, "auc, kl": 0.0, "wilcoxon": 0.02}
MEASURES = ["auc", "local_auc@0.6", "bedroc@5", "pnorm@3"]

every_interval = for_each("name", INTERVALS)
every_measure = pytest.mark.parametrize("measure", MEASURES)


def lists(seed=0, n_lists=5):
    """Some with ties, some without; then the edges."""
    rng = np.random.default_rng(seed)
    for levels in (4, 12, 10**6)[: max(1, n_lists - 2)]:
        y = np.arange(40) < 15
        yield y.astype(int), rng.integers(0, levels, 40) + 0.3 * levels * y
    yield np.repeat([1, 0], 12), np.arange(24.0)[::-1]
    yield np.repeat([1, 0], 12), np.zeros(24)
    yield (np.arange(20) == 7).astype(int), np.arange(20.0)
    yield (np.arange(20) != 7).astype(int), np.arange(20.0)


def limits(found):
    return np.array([found.estimate, found.low, found.high])


# ------------------------------------------------------------------------------------- intervals


@every_interval
def test_the_interval_has_width_and_stays_in_the_range(name):
    for y, score in lists():
        found = INTERVALS[name](y, score)
        assert found.low < found.high
        if name != "exponential, mean":
            assert found.low >= 0.0
            assert found.high <= 1.0


@pytest.mark.parametrize("name", SYMMETRIC)
def test_classes_turned_round(name):
    for y, score in lists():
        found, turned = (INTERVALS[name](labels, score) for labels in (y, 1 - y))
        assert turned.estimate == pytest.approx(1 - found.estimate, abs=1e-12)
        tolerance = 1e-12 + SYMMETRIC[name] / min(y.sum(), (1 - y).sum())
        assert turned.low == pytest.approx(1 - found.high, abs=tolerance)
        assert turned.high == pytest.approx(1 - found.low, abs=tolerance)


# ----------------------------------------------------------------------------------------- tests


def pairs(n=60, n_pairs=6):
    rng = np.random.default_rng(3)
    y = (np.arange(n) < n // 3).astype(int)
    for levels in (5, 10**6):
        for _ in range(n_pairs // 2):
            common = rng.integers(0, levels, n) + 0.4 * levels * y
            yield y, common + rng.integers(0, levels, n), common + rng.integers(0, levels, n)


def pvalue_and_limits(found):
    return np.r_[found.pvalue, limits(found.interval)]


@every_measure
def test_increasing_maps_of_either_score_change_no_test(measure):
    for y, a, b in pairs(n_pairs=2):
        found = pvalue_and_limits(compare(measure, y, {"a": a, "b": b}))
        again = compare(measure, y, {"a": a * 2 + 1, "b": np.exp(b / b.max())})
        np.testing.assert_allclose(pvalue_and_limits(again), found, atol=1e-12)


@every_measure
def test_scorers_turned_round(measure):
    for y, a, b in pairs(n_pairs=2):
        for labels in (y, {"a": y, "b": y}):
            found = compare(measure, labels, {"a": a, "b": b})
            turned = compare(measure, labels, {"a": b, "b": a})
            assert turned.estimate == pytest.approx(-found.estimate)
            assert turned.statistic == pytest.approx(-found.statistic)
            assert turned.pvalue == pytest.approx(found.pvalue)
            assert turned.interval.low == pytest.approx(-found.interval.high)
            less, greater = (
                compare(measure, labels, scores, alternative=alternative).pvalue
                for scores, alternative in (
                    ({"a": a, "b": b}, "less"),
                    ({"a": b, "b": a}, "greater"),
                )
            )
            assert less == pytest.approx(greater)


@every_measure
def test_the_edge_of_the_interval_has_the_pvalue_of_its_level(measure):
    for y, a, b in pairs():
        pvalue = compare(measure, y, {"a": a, "b": b}).pvalue
        if pvalue > 0.01:
            at_edge = compare(measure, y, {"a": a, "b": b}, level=1 - pvalue).interval
            assert min(abs(at_edge.low), abs(at_edge.high)) == pytest.approx(0.0, abs=1e-12)


@every_measure
def test_equal_scorers_have_difference_0_and_p_1(measure):
    for y, score in lists():
        for other in (score, 5 * score):
            found = compare(measure, y, {"a": score, "b": other})
            assert (found.estimate, found.statistic, found.pvalue) == (0.0, 0.0, 1.0)
            assert found.interval.low == -found.interval.high < 0.0


@pytest.mark.parametrize("levels", [4, 10**6])
def test_samples_turned_round(levels):
    for method in ("exact", "permutation", "normal"):
        rng = np.random.default_rng(4)
        first, second = rng.integers(0, levels, 7) + levels // 3, rng.integers(0, levels, 9)
        options = {"method": method, "random_state": 0}
        greater, less = (
            two_sample_rank_test(*samples, alternative=alternative, **options).pvalue
            for samples, alternative in (((first, second), "greater"), ((second, first), "less"))
        )
        # Wilcoxon's scores are symmetric; random choices are others for the other sample.
        assert less == pytest.approx(greater, abs=0.03 if method == "permutation" else 1e-12)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (([1, np.nan], [1]), "scores_pos is NaN at row 1"),
        (([1], ["a"]), "scores_neg must be numeric"),
        (([], [1]), "scores_pos is empty"),
        (([1], [[1, 2]]), r"scores_neg has shape \(1, 2\), but must be one-dimensional"),
    ],
)
def test_samples_are_called_by_their_names(scores, message):
    with pytest.raises(ValueError, match=message):
        two_sample_rank_test(*scores)
