"""Inference over queries: sign flips and bootstrap against enumeration and scipy, and errors."""

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.inference import Comparison, compare, metric_interval
from sklearn_rank.inference._limits import (
    FlippedSubsets,
    flipped_subsets,
    holm_adjust,
)
from sklearn_rank.metrics import dcg_score, get_measure, make_measure, ndcg_score, roc_auc_score
from tests.naming import for_each
from tests.oracles import resampling as oracle

METHODS = ["randomization", "t", "wilcoxon"]


def first_score(y_true, y_score):
    return y_score[0]


# The value of a query is its first score.
FIRST = make_measure(first_score, kind="graded")


def interval_of(values, **options):
    n = len(values)
    return metric_interval(FIRST, np.zeros(n), values, qid=np.arange(n), **options)


def test_of(differences, **options):
    n = len(differences)
    options = {"method": "randomization", **options}
    return compare(
        FIRST, np.zeros(n), {"a": differences, "b": np.zeros(n)}, qid=np.arange(n), **options
    )


test_of.__test__ = False


def graded(n_queries=40, noise=(1.0, 2.0), seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 8)
    y = rng.integers(0, 3, size=len(qid))
    return y, [y + s * rng.normal(size=len(y)) for s in noise], qid


# ------------------------------------------------------------------------------------ sign flips


@for_each("seed", range(8))
def test_exact_flips_are_the_enumeration(seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(-3, 4, size=rng.integers(1, 9))
    flips = flipped_subsets(d / 1.0, 2**8, rng)
    assert flips.exact
    expected = oracle.sign_flip_pvalues(d.tolist())
    found = flips.pvalue("greater"), flips.pvalue("less")
    assert found == tuple(map(float, expected))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [0.5, 0.75, 0.9])
def test_exact_limits_hold_what_enumeration_does_not_reject(seed, level):
    rng = np.random.default_rng(seed)
    d = rng.integers(-3, 4, size=rng.integers(3, 8))
    low, high = flipped_subsets(d / 1.0, 2**8, rng).limits(level)
    if low == -np.inf:
        assert high == np.inf
        assert 2 * 0.5 ** len(d) > 1 - level + 1e-9
        return
    for edge, outward in ((low, -1), (high, 1)):
        assert oracle.is_rejected(d.tolist(), edge + outward * 1e-6, level)
        assert not oracle.is_rejected(d.tolist(), edge - outward * 1e-6, level) or low == high


def test_random_flips_have_the_mean_and_variance_of_all():
    rng = np.random.default_rng(0)
    for n in (7, 8, 9, 64, 1000, 8195):
        d = rng.normal(size=n)
        flips = flipped_subsets(d, 20_000, rng) if n > 14 else flipped_subsets(d, 100, rng)
        assert not flips.exact
        error = 6 / np.sqrt(len(flips.sums))
        scale = np.sqrt((d**2).sum() / 4)
        assert abs(flips.sums.mean() - d.sum() / 2) < error * scale
        assert flips.sums.var() == pytest.approx(scale**2, rel=max(0.1, 2.2 * error))
        assert abs(flips.counts.mean() - n / 2) < error * np.sqrt(n) / 2
        covariance = np.cov(flips.sums, flips.counts)[0, 1]
        assert abs(covariance - d.sum() / 4) < 2 * error * scale * np.sqrt(n) / 2


def test_an_exchange_of_no_query_rejects_no_shift():
    counts = np.repeat([0, 1], [3, 96])
    sums = np.append(np.zeros(3), np.arange(1.0, 97.0))
    flips = FlippedSubsets(sums, counts, slack=0.0, exact=False)
    # At 90 % a p-value of five in a hundred rejects: that of a shift below the second mean, the
    # observed assignment and three without an exchange being extreme for every shift.
    assert flips.limits(0.9) == (2.0, 95.0)
    assert flips.limits(0.92) == (1.0, 96.0)
    assert flips.limits(0.94) == (-np.inf, np.inf)


def test_blocks_do_not_change_the_sums(monkeypatch):
    import sklearn_rank.inference._limits as module

    monkeypatch.setattr(module, "BLOCK", 40)
    flips = flipped_subsets(2.0 ** np.arange(40), 300, np.random.default_rng(3))
    np.testing.assert_array_equal(
        [int(s).bit_count() for s in flips.sums.astype(np.int64)], flips.counts
    )
    monkeypatch.setattr(module, "GROUPS", 2)
    flips = flipped_subsets(2.0 ** np.arange(40), 300, np.random.default_rng(3))
    np.testing.assert_array_equal(
        [int(s).bit_count() for s in flips.sums.astype(np.int64)], flips.counts
    )


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_exact_test_is_scipys(alternative):
    rng = np.random.default_rng(4)
    d = rng.normal(size=10) + 0.4
    expected = stats.permutation_test(
        (d, np.zeros(10)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=2000,
        alternative=alternative,
    )
    found = test_of(d, alternative=alternative)
    assert found.method == "exact randomization"
    assert found.pvalue == expected.pvalue
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-14)


@pytest.mark.parametrize("n", [9, 30])
def test_interval_agrees_with_the_test(n):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        found = test_of(rng.normal(size=n) + 0.5, random_state=seed)
        assert (0 in found.interval) == (found.pvalue > 0.05)
        assert found.estimate in found.interval


# ------------------------------------------------------------------------------------- bootstrap


@pytest.mark.parametrize("method", ["percentile", "BCa"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_bootstraps_are_scipys_on_the_same_numbers(method, level):
    values = np.random.default_rng(0).exponential(size=300)
    expected = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=level,
        n_resamples=2000,
        method=method,
        rng=np.random.default_rng(7),
    )
    found = interval_of(
        values,
        level=level,
        n_resamples=2000,
        random_state=7,
        method={"percentile": "bootstrap", "BCa": "bca"}[method],
    )
    np.testing.assert_allclose([found.low, found.high], expected.confidence_interval, rtol=1e-12)


# --------------------------------------------------------------------------------------------- t


def test_t_interval_is_scipys():
    values = np.random.default_rng(0).normal(size=25)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    found = interval_of(values, level=0.9)
    np.testing.assert_allclose([found.low, found.high], expected, rtol=1e-12)
    assert found.standard_error == pytest.approx(stats.sem(values), rel=1e-12)
    assert found.method == "t"


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_t_and_wilcoxon_are_scipys(alternative):
    d = np.random.default_rng(1).integers(-3, 6, size=30).astype(float)
    found = test_of(d, method="t", alternative=alternative)
    expected = stats.ttest_1samp(d, 0, alternative=alternative)
    assert (found.statistic, found.pvalue) == pytest.approx(tuple(expected), rel=1e-12)
    found = test_of(d, method="wilcoxon", alternative=alternative)
    expected = stats.wilcoxon(d, zero_method="pratt", alternative=alternative)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
    assert found.estimate == d.mean()


# ----------------------------------------------------------------------------------- the measures


def test_sample_is_the_measure_of_each_query():
    y, (good, _), qid = graded()
    values = ndcg_score(y, good, qid=qid, k=3, average=None)
    for measure in ("ndcg@3", get_measure("ndcg@3"), get_measure(ndcg_score, k=3)):
        found = metric_interval(measure, y, good, qid=qid)
        assert found.estimate == pytest.approx(ndcg_score(y, good, qid=qid, k=3), rel=1e-14)
        assert found.standard_error == pytest.approx(stats.sem(values), rel=1e-12)
        assert found.target == "mean ndcg@3 over queries"
    linear = get_measure("ndcg@3", gain="linear")
    found = metric_interval(linear, y, good, qid=qid)
    expected = ndcg_score(y, good, qid=qid, k=3, gain="linear")
    assert found.estimate == pytest.approx(expected, rel=1e-14)
    assert found.target == "mean ndcg@3(gain='linear') over queries"


def test_one_query_per_row_of_two_dimensions():
    y, (good, _), qid = graded()
    measure = get_measure("ndcg@3", gain="linear")
    expected = metric_interval(measure, y, good, qid=qid)
    found = metric_interval(measure, y.reshape(40, 8), good.reshape(40, 8), qid=None)
    assert found == expected


def test_undefined_queries_count_as_the_measure_says():
    y, (good, fair), qid = graded()
    y = (y > 1).astype(int)
    y[qid == 3] = 0
    defined = qid != 3
    values = roc_auc_score(y[defined], good[defined], qid=qid[defined], average=None)
    for undefined, sample in (("skip", values), (0.0, np.append(values, 0.0))):
        with pytest.warns(UndefinedMetricWarning) as caught:
            found = metric_interval(get_measure("auc", undefined=undefined), y, good, qid=qid)
        assert len(caught) == 1
        assert found.estimate == pytest.approx(sample.mean(), rel=1e-14)
        assert found.standard_error == pytest.approx(stats.sem(sample), rel=1e-12)
    with pytest.warns(UndefinedMetricWarning) as caught:
        found = compare(
            "auc", y, {"a": good, "b": fair}, qid=qid, random_state=0, method="randomization"
        )
    assert len(caught) == 1
    kept = compare(
        "auc",
        y[defined],
        {"a": good[defined], "b": fair[defined]},
        qid=qid[defined],
        random_state=0,
        method="randomization",
    )
    assert found == kept


def test_limits_stay_in_the_range_of_the_measure():
    rng = np.random.default_rng(0)
    y = np.ones((4, 10), dtype=int)
    y[:, 5:] = 0
    near = y + 0.3 * rng.normal(size=y.shape)
    found = metric_interval("ndcg", y, near, qid=None, level=0.999)
    assert found.high == 1.0
    assert found.low < found.estimate < 1.0
    assert metric_interval(dcg_score, y, near, qid=None, level=0.999).high > 1.0


def test_few_queries_have_no_shift_to_reject():
    found = compare(
        "ndcg",
        np.eye(4),
        {"a": np.eye(4), "b": np.arange(4.0) * np.ones((4, 1))},
        qid=None,
        method="randomization",
    )
    assert (found.interval.low, found.interval.high) == (-1.0, 1.0)


# --------------------------------------------------------------------------------- no spread


@pytest.mark.parametrize("method", ["t", "bootstrap", "bca"])
def test_equal_values_do_not_make_width_zero(method):
    y, _, qid = graded()
    with pytest.warns(UserWarning, match="variance cannot be estimated"):
        found = metric_interval("ndcg", y, y, qid=qid, method=method)
    assert (found.estimate, found.high) == (1.0, 1.0)
    # Wilson's limit of 40 draws; a share of 1 - low of queries worth 0 is missed by all 40 with a
    # probability of less than 5 %.
    assert found.low == pytest.approx(40 / (40 + stats.norm.ppf(0.975) ** 2))
    assert found.low**40 < 0.05
    assert found.method == "wilson"


def test_equal_values_up_to_rounding_are_equal():
    values = 0.1 + np.array([0.0, 1e-17, 3e-17, 2e-17] * 5)
    values[3] = np.nextafter(0.1, 1)
    with pytest.warns(UserWarning, match="variance cannot be estimated"):
        found = interval_of(values)
    assert (found.low, found.high) == (-np.inf, np.inf)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_system_twice(method):
    y, (good, _), qid = graded()
    with pytest.warns(UserWarning, match="variance cannot be estimated"):
        found = compare("ndcg@3", y, {"a": good, "b": good}, qid=qid, method=method)
    assert (found.pvalue, found.estimate) == (1.0, 0.0)
    assert found.interval.low == -found.interval.high < 0


def test_differences_by_rounding_are_none():
    y, (good, _), qid = graded()

    def shaken(y_true, y_score):
        return ndcg_score(y_true, y_score) + 1e-15 * np.sign(y_score[0]) * y_true.sum()

    measure = make_measure(shaken, kind="graded", range=(0.0, 1.0))
    with pytest.warns(UserWarning, match="variance cannot be estimated"):
        found = compare(measure, y, {"a": good, "b": good - 100}, qid=qid, method="wilcoxon")
    assert found.pvalue == 1.0


def test_a_constant_difference_has_no_t():
    with pytest.raises(ValueError, match="t statistic is infinite"):
        test_of([0.5] * 8, method="t")
    found = test_of([0.5] * 8)
    assert found.pvalue == 2 / 2**8
    # Shifts that the exchanges do not reject have no width, and other limits no part in the test.
    assert np.isnan(found.low[0])


def test_a_narrow_level_of_few_other_values_is_said():
    values = np.zeros(100)
    values[0] = 1.0
    with pytest.warns(UserWarning, match="no width"):
        interval_of(values, method="bootstrap", level=0.01, random_state=0)


# -------------------------------------------------------------------------------- several systems


@for_each(
    ("pvalues", "expected"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.2], [0.2]),
        ([0.5, 0.6], [1.0, 1.0]),
        ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06]),
        ([0.04, 0.01], [0.04, 0.02]),
    ],
)
def test_holm_by_hand(pvalues, expected):
    np.testing.assert_allclose(holm_adjust(pvalues), expected, rtol=1e-14)


@pytest.mark.parametrize("method", ["t", "wilcoxon"])
def test_many_are_the_pairs_with_holm(method):
    y, scores, qid = graded(noise=(1.0, 1.2, 3.0))
    systems = dict(zip("abc", scores, strict=True))
    found = compare("ndcg@5", y, systems, qid=qid, method=method)
    assert isinstance(found, Comparison)
    assert found.contrasts == ("a - b", "a - c", "b - c")
    means = dict(zip(found.names, found.values, strict=True))
    pvalues = []
    for (a, b), one in zip(("ab", "ac", "bc"), map(found.__getitem__, found), strict=True):
        options = {"qid": qid, "method": method, "level": 1 - 0.05 / 3}
        alone = compare("ndcg@5", y, {"a": systems[a], "b": systems[b]}, **options)
        pvalues.append(alone.pvalue)
        assert one.statistics == alone.statistics
        np.testing.assert_array_equal((one.low, one.high), (alone.low, alone.high))
        assert np.isnan(one.low[0]) == (method == "wilcoxon")
        assert one.estimate == pytest.approx(means[a] - means[b], abs=1e-14)
    assert found.pvalues == tuple(holm_adjust(pvalues))
    assert "over 40 queries" in str(found)


def test_seeds():
    first = interval_of([1.0, 2.0, 5.0], method="bca", random_state=np.random.RandomState(0))
    again = interval_of([1.0, 2.0, 5.0], method="bca", random_state=np.random.RandomState(0))
    assert first == again
    rng = np.random.default_rng(0)
    values = np.random.default_rng(0).normal(size=30)
    assert interval_of(values, method="bca", random_state=rng) != interval_of(
        values, method="bca", random_state=rng
    )


# ---------------------------------------------------------------------------------------- errors


@for_each(
    ("options", "error", "words"),
    [
        ({"level": 1.0}, ValueError, r"level=1\.0 must be a number in \(0, 1\)\."),
        ({"level": True}, ValueError, "level=True"),
        ({"method": "normal"}, ValueError, "must be one of 'auto', 't', 'bootstrap', 'bca'"),
        ({"n_resamples": 10}, ValueError, r"n_resamples=10 must be at least 99\."),
        ({"n_resamples": 1e4}, TypeError, r"n_resamples=10000\.0 must be a whole number\."),
        ({"method": "bca", "level": 0.999}, ValueError, "pass at least 2000"),
        ({"random_state": "seed"}, ValueError, "random_state='seed'"),
        (
            {"measure": "auc", "qid": None, "method": "bca"},
            ValueError,
            "method='bca' does not support",
        ),
        ({"measure": 3}, TypeError, "measure=3 must be the name of a measure"),
        (
            {"measure": "ndgc"},
            ValueError,
            "'ndgc' is not the name of a measure: did you mean 'ndcg'",
        ),
        ({"measure": np.mean}, TypeError, r"pass make_measure\(function, \.\.\.\)"),
    ],
)
def test_intervals_refuse(options, error, words):
    y, (good, _), qid = graded()
    arguments = {"measure": "ndcg@5", "qid": qid, "n_resamples": 1000, **options}
    with pytest.raises(error, match=words):
        metric_interval(arguments.pop("measure"), y, good, **arguments)


def test_fewer_than_two_queries_are_refused():
    with pytest.raises(ValueError, match="1 of 1 queries"):
        metric_interval("ndcg", [1, 0], [2.0, 1.0], qid=[1, 1])
    with (
        pytest.warns(UndefinedMetricWarning),
        pytest.raises(ValueError, match="has a value for 1 of 2 queries"),
    ):
        metric_interval("auc", [1, 0, 1, 1], [2.0, 1.0, 0.0, 1.0], qid=[1, 1, 2, 2])


def test_infinite_values_are_refused():
    with pytest.raises(ValueError, match="infinite for the query 1"):
        interval_of([0.0, np.inf, 1.0])


def test_systems_defined_on_different_queries_are_refused():
    positive = make_measure(lambda y, s: s[0] if s[0] > 0 else np.nan, name="p", kind="graded")
    with pytest.raises(ValueError, match="defined for the query 1 with the scores of one"):
        compare(
            positive,
            [0, 0, 0],
            {"a": [1, 2, 3], "b": [1, -1, 2]},
            qid=[0, 1, 2],
            method="randomization",
        )


@for_each(
    ("options", "error", "words"),
    [
        ({"scores": [[1, 2]]}, TypeError, "must be a mapping"),
        ({"scores": {"a": [1, 2]}}, ValueError, "at least 2 are needed"),
        ({"baseline": "x"}, ValueError, "baseline='x' is not among"),
        ({"alternative": "bigger"}, ValueError, "alternative='bigger' must be one of"),
        ({"method": "sign"}, ValueError, "method='sign' must be one of"),
    ],
)
def test_comparisons_refuse(options, error, words):
    y, (good, fair), qid = graded()
    scores = {"a": good, "b": fair}
    arguments = {"scores": scores, "qid": qid, "method": "randomization", **options}
    with pytest.raises(error, match=words):
        compare("ndcg", y, arguments.pop("scores"), **arguments)
