"""Intervals for means of values within a range, as of 0 and 1, and tests of their differences."""

import warnings

import numpy as np
import pytest
from scipy.stats import beta, binom

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.inference._evidence import Groups
from sklearn_rank.inference._limits import wilson_limits
from sklearn_rank.inference._queries import QueryValues, sample_interval, sample_test
from tests.oracles import means as oracle


def rows(values):
    """Queries of two rows with these values of precision@1, in a random order."""
    values = np.random.default_rng(0).permutation(values)
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
    assert coverage.min() < 0.88  # Student's


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
    assert metric_interval("rr", y, score, qid=qid).method == "wilson"
    assert metric_interval("dcg", y, score, qid=qid).method == "t"  # of no known range
    with pytest.warns(UserWarning, match="variance cannot be estimated"):
        assert interval([1] * 8).method == "wilson"


def test_any_range_and_level():
    values = np.array([2.0, 5.0, 5.0, 2.0, 5.0])
    sample = QueryValues(values, np.arange(5), "m", (2.0, 5.0))
    low, high = sample.moments.limits(0.8)
    plain = sample_of((values - 2) / 3).moments.limits(0.8)
    np.testing.assert_allclose([low, high], 2 + 3 * np.array(plain))


def test_groups_of_copies_are_worth_one_query_each():
    rng = np.random.default_rng(0)
    values = (rng.random(40) < 0.3) * 1.0
    copies, of = np.repeat(values, 5), Groups(np.repeat(np.arange(40), 5), 40)
    low, high = sample_of(copies, groups=of).moments.limits(0.95)
    alone = sample_of(values).moments.limits(0.95)
    # Student's quantile of 39 degrees.
    assert low < alone[0] < alone[1] < high
    np.testing.assert_allclose([low, high], alone, atol=0.012)
    # Other values have that quantile without groups too.
    values = rng.beta(4, 1, 40)
    grouped = sample_of(np.repeat(values, 5), groups=of).moments.limits(0.95)
    np.testing.assert_allclose(grouped, sample_of(values).moments.limits(0.95), atol=1e-12)
    y, score, qid = rows(copies.astype(int))
    found = metric_interval("precision@1", y, score, qid=qid, groups=qid // 5)
    assert found.method == "wilson"


# ----------------------------------------------------------------------------- values of any kind

SAMPLES = {
    "ordinary": np.random.default_rng(0).beta(2, 2, 12),
    "near 1": 1 - np.random.default_rng(1).beta(0.3, 8, 30),
    "one other": [1.0] * 19 + [0.25],
    "shares": [1.0] * 17 + [0.0] * 3,
    "equal at the end": [1.0] * 9,
    "equal within": [0.25] * 9,
    "narrow": 0.7 + 0.01 * np.random.default_rng(2).random(15),
}


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_limits_of_a_mean_against_the_definition(kind, level):
    values = np.asarray(SAMPLES[kind])
    expected = oracle.limits_of_mean(values.tolist(), level)
    np.testing.assert_allclose(sample_of(values).moments.limits(level), expected, atol=1e-8)
    turned = sample_of(1 - values).moments.limits(level)
    np.testing.assert_allclose(turned, [1 - expected[1], 1 - expected[0]], atol=1e-8)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_mean_is_within_its_limits_which_are_nested(kind):
    sample = sample_of(SAMPLES[kind])
    before = (sample.mean, sample.mean)
    for level in (0.1, 0.5, 0.9, 0.99, 0.9999):
        low, high = sample.moments.limits(level)
        assert 0 <= low <= before[0] + 1e-12
        assert before[1] - 1e-12 <= high <= 1 + 1e-12
        before = low, high


def test_means_near_their_end_are_covered():
    """Student's interval, which method='t' still is, misses a mean of .98 in a quarter."""
    rng, misses, n = np.random.default_rng(0), {"auto": [0, 0], "t": [0, 0]}, 400
    for _ in range(n):
        sample = sample_of(rng.beta(3.92, 0.08, 30))
        for method, of_method in misses.items():
            found = sample_interval(sample, 0.95, method)
            of_method[0] += found.low > 0.98
            of_method[1] += found.high < 0.98
    assert max(misses["auto"]) <= 0.035 * n
    assert max(misses["t"]) > 0.12 * n


def test_ordinary_means_are_not_wider_than_students():
    rng = np.random.default_rng(0)
    for n in (10, 30, 100):
        widths = np.zeros(2)
        for _ in range(50):
            sample = sample_of(rng.beta(2, 2, n))
            widths += [sample_interval(sample, 0.95, method).width for method in ("auto", "t")]
        assert widths[0] <= widths[1]


# ------------------------------------------------------------------------------------ exchanges


def systems(first, second):
    y, a, qid = rows(first)
    return y, {"a": a, "b": rows(second)[1]}, qid


def test_a_test_has_no_limits_that_are_not_its_own():
    """Score limits beside a p-value of exchanges excluded 0 where it did not reject."""
    rng = np.random.default_rng(1)
    y, scores, qid = systems((rng.random(30) < 0.7) * 1, (rng.random(30) < 0.4) * 1)
    for groups in (None, qid // 3):
        for method in ("randomization", "wilcoxon", "t"):
            found = compare(
                "precision@1", y, scores, qid=qid, groups=groups, method=method, random_state=0
            )
            assert np.isnan(found.low[0]) == np.isnan(found.high[0]) == (method != "t")
    with pytest.raises(AttributeError, match="gives no interval"):
        compare("precision@1", y, scores, qid=qid, method="randomization").interval  # noqa: B018


@pytest.mark.parametrize("seed", range(4))
def test_limits_of_exchanges_are_those_that_the_test_does_not_reject(seed):
    rng = np.random.default_rng(seed)
    differences = rng.normal(0.3, 0.5, 9)
    sample = QueryValues(differences, np.arange(9), "m", (-np.inf, np.inf))
    _, pvalue, _, found = sample_test(sample, "randomization", "two-sided", 0.95, 10_000, rng)
    assert pvalue == pytest.approx(oracle.exchange_pvalue(differences.tolist()))
    assert (pvalue <= 0.05) == (not found.low <= 0.0 <= found.high)
    for limit, outwards in ((found.low, -1e-9), (found.high, 1e-9)):
        assert oracle.exchange_pvalue(differences.tolist(), limit + outwards) <= 0.05
        assert oracle.exchange_pvalue(differences.tolist(), limit - outwards) > 0.05
