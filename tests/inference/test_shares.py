"""Intervals for means of values of 0 and 1, and of their differences."""

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta, binom, chi2

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.inference._evidence import Groups
from sklearn_rank.inference._limits import wilson_limits
from sklearn_rank.inference._queries import QueryValues, difference_limits, share_limits


def rows(values):
    """Queries of two rows with these values of precision@1."""
    values = np.asarray(values)
    y = np.tile([1, 0], len(values))
    score = np.where(y == 1, np.repeat(values, 2) * 2.0, 1.0)
    return y, score, np.repeat(np.arange(len(values)), 2)


def interval(values, **options):
    y, score, qid = rows(values)
    return metric_interval("precision@1", y, score, qid=qid, **options)


def sample_of(values, low=0.0, groups=None):
    values = np.asarray(values, dtype=float)
    return QueryValues(values, np.arange(len(values)), "m", (low, 1.0), groups)


@pytest.mark.parametrize("n", [20, 50])
def test_coverage_for_all_rates(n):
    rates = np.linspace(0.02, 0.98, 193)
    chance = binom.pmf(np.arange(n + 1)[:, None], n, rates)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = [interval([1] * x + [0] * (n - x)) for x in range(n + 1)]
        student = [interval([1] * x + [0] * (n - x), method="t") for x in range(n + 1)]
    for intervals, least in ((found, 0.92), (student, 0.8)):
        low, high = np.array([(i.low, i.high) for i in intervals]).T[:, :, None]
        coverage = (chance * ((low <= rates) & (high >= rates))).sum(axis=0)
        assert coverage.min() >= least
    assert coverage.min() < 0.85  # Student's


def test_limits_are_wilsons_or_farther_out():
    for hits in (1, 7, 15, 29):
        found = interval([1] * hits + [0] * (30 - hits))
        low, high = wilson_limits(hits / 30, 30, 0.95)
        assert found.method == "wilson"
        assert found.estimate == hits / 30
        assert found.low <= low + 1e-12
        assert found.high >= high - 1e-12
        # Within the limits of Clopper and Pearson.
        assert found.low >= beta.ppf(0.025, hits, 31 - hits)
        assert found.high <= beta.ppf(0.975, hits + 1, 30 - hits)
        turned = interval([0] * hits + [1] * (30 - hits))
        np.testing.assert_allclose([1 - turned.high, 1 - turned.low], [found.low, found.high])


def test_which_method_is_taken():
    values = [1, 0, 0, 1, 1, 0, 1, 1]
    assert interval(values).method == "wilson"
    assert interval(values, method="t").method == "t"
    assert interval(values, method="bca", random_state=0).method == "bca"
    y, score, qid = rows(values)
    assert metric_interval("success@1", y, score, qid=qid).method == "wilson"
    assert metric_interval("rr", y, score, qid=qid).method == "t"  # 1/2 at the second place
    assert metric_interval("dcg", y, score, qid=qid).method == "t"  # of no known range
    with pytest.warns(UserWarning, match="variance cannot be estimated"):
        assert interval([1] * 8).method == "constant values"


def test_any_range_and_level():
    values = np.array([2.0, 5.0, 5.0, 2.0, 5.0])
    sample = QueryValues(values, np.arange(5), "m", (2.0, 5.0))
    low, high = share_limits(sample, 0.8)
    plain = share_limits(sample_of((values - 2) / 3), 0.8)
    np.testing.assert_allclose([low, high], 2 + 3 * np.array(plain))


def test_groups_of_copies_are_worth_one_query_each():
    rng = np.random.default_rng(0)
    values = (rng.random(40) < 0.3) * 1.0
    copies, of = np.repeat(values, 5), Groups(np.repeat(np.arange(40), 5), 40)
    low, high = share_limits(sample_of(copies, groups=of), 0.95)
    alone = share_limits(sample_of(values), 0.95)
    # Student's quantile of 39 degrees, and n - 1 in place of n.
    assert low < alone[0] < alone[1] < high
    np.testing.assert_allclose([low, high], alone, atol=0.012)
    # Groups that are alike are worth no more than their queries.
    even, of = np.tile([1.0, 0.0], 40), Groups(np.repeat(np.arange(40), 2), 40)
    low, high = share_limits(sample_of(even, groups=of), 0.95)
    expected = share_limits(sample_of(even), 0.95)
    assert low <= expected[0] < expected[1] <= high
    y, score, qid = rows(copies.astype(int))
    found = metric_interval("precision@1", y, score, qid=qid, groups=qid // 5)
    assert found.method == "wilson"


def tango_by_likelihood(up, down, n, level):
    """The definition: the score of a difference, the other probability by maximum likelihood."""

    def score(d):
        def slope(q):  # of the log likelihood with P(up) = q + d, P(down) = q
            return up / (q + d) + down / q - 2 * (n - up - down) / (1 - 2 * q - d)

        q = brentq(slope, max(0.0, -d) + 1e-14, (1 - d) / 2 - 1e-14, xtol=1e-15)
        return (up - down - n * d) / np.sqrt(n * (2 * q + d * (1 - d)))

    z = np.sqrt(chi2.ppf(level, 1))
    estimate = (up - down) / n
    return [brentq(lambda d: score(d) - z, -0.9999, estimate),
            brentq(lambda d: score(d) + z, estimate, 0.9999)]  # fmt: skip


@pytest.mark.parametrize(("up", "down", "n"), [(9, 2, 30), (4, 4, 20), (1, 12, 50), (30, 5, 60)])
def test_differences_have_tangos_limits(up, down, n):
    for level in (0.8, 0.95):
        values = np.repeat([1.0, -1.0, 0.0], [up, down, n - up - down])
        found = difference_limits(sample_of(values, low=-1.0), level)
        np.testing.assert_allclose(found, tango_by_likelihood(up, down, n, level), atol=1e-9)
        turned = difference_limits(sample_of(-values, low=-1.0), level)
        np.testing.assert_allclose(turned, [-found[1], -found[0]], atol=1e-12)


@pytest.mark.parametrize("method", ["randomization", "wilcoxon", "t"])
def test_which_interval_a_test_has(method):
    rng = np.random.default_rng(1)
    y, a, qid = rows((rng.random(30) < 0.7) * 1)
    b = rows((rng.random(30) < 0.4) * 1)[1]
    found = compare("precision@1", y, {"a": a, "b": b}, qid=qid, method=method, random_state=0)
    assert ("tango" in found.interval.method) == (method != "t")
    assert found.interval.low < found.estimate < found.interval.high
    graded = compare("rr", y, {"a": a, "b": b}, qid=qid, method=method, random_state=0)
    assert "tango" not in graded.interval.method or set(np.unique(a)) <= {0.0, 2.0}
    grouped = compare(
        "precision@1", y, {"a": a, "b": b}, qid=qid, groups=qid // 3, method=method, random_state=0
    )
    assert grouped.interval.low < grouped.estimate < grouped.interval.high
