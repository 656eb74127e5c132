"""Rows that depend on each other within groups: every interval and test that takes them."""

import inspect

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit, stdtr, stdtrit

from sklearn_rank import OrderPreservingRanker, inference
from sklearn_rank.inference import (
    compare,
    metric_interval,
    two_sample_rank_test,
)
from sklearn_rank.inference._evidence import Groups, check_groups, check_lists, influences_of
from sklearn_rank.inference._joint import GroupPart, Spread, joint_influence
from sklearn_rank.inference._limits import (
    independent_rows,
    kolmogorov_margin,
    mean_of_tail,
)
from sklearn_rank.inference._queries import QueryValues, sample_interval
from sklearn_rank.metrics import (
    Exponential,
    Wilcoxon,
    get_measure,
    linear_rank_score,
    make_measure,
)
from sklearn_rank.model_selection import cross_val_interval
from tests.naming import for_each
from tests.oracles import groups as oracle
from tests.oracles import rank_inference as ranks

CONTRAST = np.array([1.0, -1.0])

FIRST = make_measure(lambda y, s: s[0], name="first", kind="graded", range=(-9.0, 9.0))

# Functions of rows that say nothing about how sure something is, or of no rows.
WITHOUT_GROUPS = {
    # Of a pilot: tests/inference/test_pilots.py.
    "sample_size",
    # Rows are chosen for labelling one by one.
    "plan_labels",
    "recall_certificate",
    "batch_limits",
}


def sample(seed=0, n_groups=12, shift=1.0, rankers=2):
    """Labels, scores and groups of both classes, in random order."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(n_groups), 1 + rng.poisson(4, n_groups)))
    n = len(groups)
    y = rng.random(n) < 0.4
    y[:2] = [True, False]
    common = rng.normal(size=n_groups)[groups]
    return y.astype(int), [shift * y + common + rng.normal(size=n) for _ in range(rankers)], groups


def split(y, values):
    return values[y == 1], values[y == 0]


# Each with labels, scores of two rankers and groups; None is independent rows.
CALLS = {
    "metric_interval, auc": lambda y, a, b, g: metric_interval("auc", y, a, groups=g),
    "compare, swap": lambda y, a, b, g: compare(
        "auc", y, {"a": a, "b": b}, groups=g, random_state=0, method="swap"
    ),
    "compare, unpaired": lambda y, a, b, g: compare(
        "auc", {"a": y, "b": y}, {"a": a, "b": b}, groups=None if g is None else {"a": g, "b": g}
    ),
    "metric_interval, rank": lambda y, a, b, g: metric_interval(Exponential(4.0), y, a, groups=g),
    "metric_interval, random": lambda y, a, b, g: metric_interval(
        get_measure(linear_rank_score, phi=Exponential(4.0), normalize="mean"),
        y,
        a,
        conditional=False,
        groups=g,
    ),
    "metric_interval, dkw": lambda y, a, b, g: metric_interval(
        Wilcoxon(), y, a, method="dkw", groups=g
    ),
    "metric_interval, partial": lambda y, a, b, g: metric_interval(
        "partial_auc@fpr0.4", y, a, groups=g
    ),
    "metric_interval, top": lambda y, a, b, g: metric_interval("precision@top0.3", y, a, groups=g),
    "metric_interval, draws": lambda y, a, b, g: metric_interval(
        f"calibration@{round(0.5 * len(y))}", y, expit(a), groups=g
    ),
    "metric_interval, shares": lambda y, a, b, g: metric_interval(
        "net_benefit@0.4", y, expit(a), groups=g
    ),
    "compare": lambda y, a, b, g: compare("auc", y, {"a": a, "b": b}, groups=g, random_state=0),
    "two_sample_rank_test": lambda y, a, b, g: two_sample_rank_test(
        *split(y, a), method="normal", groups=None if g is None else split(y, np.asarray(g))
    ),
    "metric_interval": lambda y, a, b, g: metric_interval("bedroc@5", y, a, groups=g),
    "metric_interval, queries": lambda y, a, b, g: metric_interval(
        FIRST, y, a, qid=np.arange(len(y)), groups=g
    ),
    "compare, randomization": lambda y, a, b, g: compare(
        FIRST,
        y,
        {"a": a, "b": b},
        qid=np.arange(len(y)),
        groups=g,
        random_state=0,
        method="randomization",
    ),
    "curve": lambda y, a, b, g: inference.curve(
        "lift", y, a, at=[0.1, 0.3], groups=g, random_state=0
    ).together[1],
    "curve, compared": lambda y, a, b, g: inference.curve(
        "lift", y, {"a": a, "b": b}, at=[0.1, 0.3], baseline="b", groups=g, random_state=0
    ).together[1],
    "compare, queries": lambda y, a, b, g: compare(
        FIRST, y, {"a": a, "b": b}, qid=np.arange(len(y)), groups=g, method="t"
    ),
}
every_call = for_each("name", CALLS)


def numbers(found):
    """Width and p-value of a result."""
    if hasattr(found, "contrasts"):
        return np.array([found.high[0] - found.low[0], found.pvalue])
    return np.array([found.width, np.nan])


def test_every_function_of_rows_takes_groups():
    for name in inference.__all__:
        function = getattr(inference, name)
        if inspect.isclass(function) or name in WITHOUT_GROUPS:
            continue
        assert "groups" in inspect.signature(function).parameters, name
        assert any(call.split(",")[0] == name for call in CALLS), name
        described = function.__doc__[function.__doc__.index("    groups : ") :]
        assert "independent" in described[:500], name


@every_call
def test_names_of_groups_and_order_of_rows_do_not_matter(name):
    y, (a, b), groups = sample(1)
    expected = numbers(CALLS[name](y, a, b, groups))
    names = np.array([f"user {i}" for i in np.random.default_rng(0).permutation(100)])[groups]
    np.testing.assert_allclose(numbers(CALLS[name](y, a, b, names)), expected, rtol=1e-9)
    order = np.random.default_rng(1).permutation(len(y))
    if name not in ("compare, randomization", "compare, swap"):  # other exchanges are drawn
        turned = CALLS[name](y[order], a[order], b[order], groups[order])
        np.testing.assert_allclose(numbers(turned), expected, rtol=1e-9)


@every_call
def test_dependent_rows_say_less(name):
    y, (a, b), _ = sample(2, n_groups=15)
    # Each row five times: nothing new is seen.
    five = np.repeat(np.arange(len(y)), 5)
    alone = numbers(CALLS[name](y, a, b, np.arange(len(y))))
    copied = numbers(CALLS[name](y[five], a[five], b[five], five))
    naive = numbers(CALLS[name](y[five], a[five], b[five], np.arange(len(five))))
    compared = np.isfinite(alone)
    tolerance = 0.35 if name == "compare, randomization" else 0.12
    np.testing.assert_allclose(copied[compared], alone[compared], rtol=tolerance)
    assert np.all(naive[compared] < 0.75 * alone[compared])


@every_call
def test_groups_that_are_none(name):
    y, (a, b), _ = sample(3)
    y, n = np.sort(y)[::-1], len(y)
    for groups, message in (
        (np.zeros(n), "one group only"),
        (np.arange(n - 1), "has .* entries for"),
        (np.array([None, *range(n - 1)]), "is missing at row 0"),
        (np.array(["a", *range(n - 1)], dtype=object), "mixes ids of different types|groups"),
    ):
        if len(groups) < n and name in ("compare, unpaired", "two_sample_rank_test"):
            continue  # a pair has lengths of its own
        with pytest.raises(ValueError, match=message):
            CALLS[name](y, a, b, groups)


# --------------------------------------------------------------------------------------- variance


def test_variance_by_the_regression_on_the_classes():
    for seed in range(6):
        y, (a, b), groups = sample(seed)
        found = compare("auc", y, {"a": a, "b": b}, groups=groups)
        moved = np.subtract(*(get_measure("auc").influence(y, x) for x in (a, b)))
        share = np.where(y == 1, y.mean(), 1 - y.mean())
        expected = oracle.robust_variance(moved * share, y, groups)
        influences, dependent = influences_of(
            check_lists(get_measure("auc"), y, [a, b], groups=groups)
        )
        joint = joint_influence(influences, groups=dependent)
        assert CONTRAST @ joint.covariance @ CONTRAST == pytest.approx(expected)
        # What the sample may lack is added.
        assert 1.0 - 1e-9 < found.interval.standard_error / expected**0.5 < 1.05
        assert found.statistic == found.estimate / found.interval.standard_error


def test_a_group_for_each_row_is_no_group_but_for_the_quantile():
    y, (a, b), _ = sample(7)
    alone = np.arange(len(y))
    found, expected = (
        compare("auc", y, {"a": a, "b": b}, groups=alone),
        compare("auc", y, {"a": a, "b": b}),
    )
    assert found.statistic == pytest.approx(expected.statistic)
    apart = compare(
        "auc", {"a": y, "b": y}, {"a": a, "b": b}, groups={"a": alone, "b": alone + 1000}
    )
    assert apart.statistic == pytest.approx(
        compare("auc", {"a": y, "b": y}, {"a": a, "b": b}).statistic, rel=0.03
    )
    # Samples of the same rows are as correlated as pairs, but their own limits are not Student's.
    shared = compare("auc", {"a": y, "b": y}, {"a": a, "b": b}, groups={"a": alone, "b": alone})
    assert shared.statistic == pytest.approx(expected.statistic, rel=0.2)
    for conditional in (True, False):
        measure = get_measure(linear_rank_score, phi=Exponential(3.0), normalize="mean")
        found = metric_interval(measure, y, a, groups=alone, conditional=conditional)
        expected = metric_interval(measure, y, a, conditional=conditional)
        assert found.standard_error == pytest.approx(expected.standard_error)
        assert 1.0 < found.width / expected.width < 1.08
    joint = compare("bedroc@5", y, {"a": a, "b": b}, groups=alone)
    plain = compare("bedroc@5", y, {"a": a, "b": b})
    np.testing.assert_allclose(joint.standard_errors, plain.standard_errors)
    np.testing.assert_allclose(joint.difference_errors, plain.difference_errors)
    assert joint.pvalue == pytest.approx(plain.pvalue, rel=1e-3)


def test_queries_of_two_samples_depend_through_the_groups_that_they_share():
    y, (a, b), groups = sample(11)
    rows = {"a": np.arange(len(y)), "b": np.arange(len(y))}
    labels, scores = {"a": y, "b": y}, {"a": a, "b": b}
    paired = compare(FIRST, y, scores, qid=rows["a"], groups=groups)
    shared = compare(FIRST, labels, scores, qid=rows, groups={"a": groups, "b": groups})
    assert shared.difference_errors == pytest.approx(paired.difference_errors)
    apart = compare(FIRST, labels, scores, qid=rows, groups={"a": groups, "b": groups + 99})
    # What the samples may lack is added.
    ratio = apart.difference_errors[0] / np.hypot(*paired.standard_errors)
    assert 1.0 <= ratio < 1.05


def test_means_of_queries_by_the_regression_on_a_constant():
    y, (a, b), groups = sample(8)
    qid = np.arange(len(y))
    expected = oracle.robust_variance(a, np.zeros(len(y)), groups) ** 0.5
    degrees = oracle.degrees_of_squares(np.bincount(groups).tolist())
    found = metric_interval(FIRST, y, a, qid=qid, groups=groups, method="t")
    assert found.standard_error == pytest.approx(expected)
    assert found.width == pytest.approx(2 * stdtrit(degrees, 0.975) * expected)
    test = compare(FIRST, y, {"a": a, "b": b}, qid=qid, groups=groups, method="t")
    error = oracle.robust_variance(a - b, np.zeros(len(y)), groups) ** 0.5
    assert test.statistic == pytest.approx((a - b).mean() / error)
    assert test.pvalue == pytest.approx(2 * stdtr(degrees, -abs(test.statistic)))
    joint = compare(FIRST, y, {"a": a, "b": b}, qid=qid, groups=groups, random_state=0)
    assert joint.statistic == pytest.approx(test.statistic)
    assert joint.pvalue == pytest.approx(test.pvalue, abs=0.02)


def test_degrees_of_freedom():
    def spread(sizes, variances):
        parts = []
        for size, variance in zip(sizes, variances, strict=True):
            sums = np.zeros((1, len(size)))
            held = np.flatnonzero(size)
            share = size[held[0]] / np.sum(size)
            sums[0, held[0]] = (variance * (1 - share)) ** 0.5
            parts.append(GroupPart(sums, np.array(size, dtype=float)))
        return Spread.of_groups(parts).of(np.ones(1))

    sizes = [3, 1, 4, 2, 4, 3]
    assert spread([sizes], [2.0]) == pytest.approx(oracle.degrees_of_squares(sizes))
    # Both classes in the same groups, and in groups of their own: Welch.
    assert spread([[2] * 9, [5] * 9], [1.0, 3.0]) == pytest.approx(8)
    apart = [[2] * 5 + [0] * 8, [0] * 5 + [4] * 8]
    assert spread(apart, [1.0, 3.0]) == pytest.approx(16 / (1 / 4 + 9 / 7))
    assert spread(apart, [1.0, 0.0]) == pytest.approx(4)
    # One group that holds a class does not show how it varies.
    assert spread([[9, 0, 0], [1, 1, 1]], [0.0, 0.0]) == 1.0


def test_one_group_that_holds_a_class_is_no_certainty():
    y, score = np.repeat([1, 0], [6, 9]), np.arange(15)[::-1]
    groups = np.r_[np.zeros(6), np.repeat([1, 2, 3], 3)]
    test = compare("auc", y, {"a": score, "b": -score}, groups=groups)
    assert test.pvalue > 0.05
    assert metric_interval(Wilcoxon(), y, score, groups=groups).low < 0.1


# ---------------------------------------------------------------------------------------- queries


def test_exchanges_of_groups_by_listing():
    rng = np.random.default_rng(4)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        groups = rng.integers(0, 6, 14)
        values = rng.integers(-4, 6, 14).astype(float)
        qid, zeros = np.arange(14), np.zeros(14)
        for method, signed in (("randomization", values), ("wilcoxon", None)):
            if signed is None:
                signed = oracle.signed_ranks(values.tolist())
            greater, less = oracle.group_flip_pvalues(signed, groups.tolist())
            for alternative, expected in (
                ("greater", greater),
                ("less", less),
                ("two-sided", min(1, 2 * min(greater, less))),
            ):
                found = compare(
                    FIRST,
                    zeros,
                    {"a": values, "b": zeros},
                    qid=qid,
                    groups=groups,
                    method=method,
                    alternative=alternative,
                )
                assert found.pvalue == pytest.approx(float(expected))


def test_the_interval_of_exchanges_holds_what_they_do_not_reject():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(9), rng.integers(1, 5, 9))
    values, zeros = rng.normal(size=len(groups)) + 0.4, np.zeros(len(groups))
    options = {"qid": np.arange(len(groups)), "groups": groups}
    found = compare(
        FIRST, zeros, {"a": values, "b": zeros}, level=0.9, method="randomization", **options
    ).interval
    for shift in (found.low, found.high):
        for inside, side in ((True, 1e-6), (False, -1e-6)):
            moved = shift + side * np.sign(found.estimate - shift)
            test = compare(
                FIRST, zeros, {"a": values - moved, "b": zeros}, method="randomization", **options
            )
            assert (test.pvalue > 0.1 * (1 + 1e-9)) == inside


def test_bootstrap_draws_groups():
    values, groups = np.array([0.0, 1.0, 5.0, 2.0]), np.array([0, 0, 1, 2])
    sample = QueryValues(values, np.arange(4), "value", (0.0, 10.0), Groups(groups, 3))
    listed = oracle.group_bootstrap_means(values.tolist(), groups.tolist())
    for level in (0.5, 0.8, 0.95):
        found = sample_interval(sample, level, "bootstrap", 40_000, np.random.default_rng(0))
        expected = np.quantile(listed, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
        np.testing.assert_allclose((found.low, found.high), expected)


def test_rows_in_any_order_and_queries_in_two_dimensions():
    rng = np.random.default_rng(10)
    qid = np.repeat(np.arange(20), 6)
    user = np.arange(20) // 3
    y, score = rng.integers(0, 3, 120), rng.normal(size=120)
    measure = get_measure("ndcg@3", gain="linear")
    expected = metric_interval(measure, y, score, qid=qid, groups=user[qid])
    order = rng.permutation(120)
    found = metric_interval(
        measure, y[order], score[order], qid=qid[order], groups=user[qid][order]
    )
    assert found.width == pytest.approx(expected.width)
    square = metric_interval(measure, y.reshape(20, 6), score.reshape(20, 6), groups=user)
    assert square.width == pytest.approx(expected.width)
    ids = {"qid": qid, "groups": np.where(np.arange(120) == 19, 9, user[qid])}
    with pytest.raises(ValueError, match="groups has different ids within the list with qid 3"):
        metric_interval(measure, y, score, **ids)
    with pytest.raises(ValueError, match=r"within the query 3: .* that recur in several queries"):
        cross_val_interval(OrderPreservingRanker(), score[:, None], y, measure=measure, **ids)


def test_undefined_queries_leave_their_groups():
    rng = np.random.default_rng(11)
    qid = np.repeat(np.arange(12), 5)
    user = np.repeat(np.arange(6), 10)
    y, score = np.tile([1, 0, 0, 1, 0], 12), rng.normal(size=60)
    y[user == 2] = 0
    with pytest.warns(UserWarning, match="undefined for 2 of 12"):
        found = metric_interval(
            "auc", y, score, qid=qid, groups=user, method="bootstrap", random_state=0
        )
    kept = user != 2
    expected = metric_interval(
        "auc",
        y[kept],
        score[kept],
        qid=qid[kept],
        groups=user[kept],
        method="bootstrap",
        random_state=0,
    )
    assert (found.low, found.high) == (expected.low, expected.high)
    y[user > 0] = 0
    with (
        pytest.warns(UserWarning, match="undefined for 10 of 12"),
        pytest.raises(ValueError, match="one group only with queries that have a value"),
    ):
        metric_interval("auc", y, score, qid=qid, groups=user)


def test_equal_values_of_dependent_queries():
    with pytest.warns(UserWarning, match="1 for all 12 queries of 4 groups"):
        found = metric_interval(
            make_measure(lambda y, s: s[0], name="first", kind="graded", range=(0.0, 1.0)),
            np.zeros(12),
            np.ones(12),
            qid=np.arange(12),
            groups=np.arange(12) // 3,
        )
    assert found.low == pytest.approx(0.05 ** (1 / 4))


def test_groups_whose_sums_do_not_vary_have_no_t():
    values = np.tile([1.0, -1.0, 0.0], 4) + 1.0
    options = {"qid": np.arange(12), "groups": np.arange(12) // 3}
    with pytest.raises(ValueError, match="12 queries of 4 groups are 1, so the t"):
        compare(FIRST, np.zeros(12), {"a": values, "b": np.zeros(12)}, method="t", **options)


# -------------------------------------------------------------------------------- two-sample tests


def test_choices_of_groups_by_listing():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        first, second = rng.integers(0, 9, 7) + 1, rng.integers(0, 9, 9)
        groups = np.array([0, 0, 1, 2, 2, 2, 3]), np.array([4, 4, 5, 6, 6, 7, 8, 8, 8])
        pooled = [*first, *second]
        values = [ranks.tied_mean(pooled, one, lambda u: u, 16) for one in pooled]
        less, greater = oracle.group_choice_pvalues(
            values, range(4), [int(g) for g in np.concatenate(groups)]
        )
        for alternative, expected in (("less", less), ("greater", greater)):
            options = {"groups": groups, "alternative": alternative}
            found = two_sample_rank_test(first, second, **options)
            assert found.method == "exact"
            assert found.pvalue == pytest.approx(expected)
            drawn = two_sample_rank_test(
                first, second, method="permutation", random_state=0, **options
            )
            assert drawn.pvalue == pytest.approx(expected, abs=0.02)


def test_normal_compares_means_by_the_regression():
    y, (a, _), groups = sample(12)
    found = two_sample_rank_test(*split(y, a), groups=split(y, groups))
    assert found.method == "normal"
    values = stats.rankdata(np.r_[split(y, a)]) / (len(y) + 1)
    first = np.sum(y)
    labels = np.arange(len(y)) < first
    signed = np.where(labels, values, -values)
    error = oracle.robust_variance(signed, labels, np.concatenate(split(y, groups))) ** 0.5
    difference = values[:first].mean() - values[first:].mean()
    assert found.statistic == pytest.approx(difference / error)


@pytest.mark.parametrize("method", ["exact", "permutation"])
def test_groups_of_both_samples_are_not_exchanged(method):
    with pytest.raises(ValueError, match="some groups have scores of both samples"):
        two_sample_rank_test([1, 2, 3], [4, 5, 6], method=method, groups=([0, 1, 2], [2, 3, 4]))


@for_each(
    ("groups", "message"),
    [
        ([0, 1, 2, 3, 4, 5], "groups must be a pair"),
        (np.arange(6), "groups must be a pair"),
        (([0, 1, 2], [3, 4]), r"groups\[1\] has 2 entries for 3 rows"),
        (([0, 0, 0], [1, 2, 3]), "A sample has one group only"),
        (([0, 0, 1], [2, 2, 3]), "are equal within each sample"),
    ],
)
def test_refusals_of_pairs(groups, message):
    with pytest.raises(ValueError, match=message):
        two_sample_rank_test([4, 6, 5], [2, 2, 2], groups=groups, method="normal")


def test_ids_of_both_samples_are_of_one_type():
    with pytest.raises(ValueError, match="groups mixes ids of different types"):
        two_sample_rank_test([1, 5, 3], [4, 2, 6], groups=(["a", "b", "c"], [1, 2, 3]))


# ------------------------------------------------------------------------------------------ bands


@pytest.mark.parametrize("n", [1, 2, 7, 60, 1000])
@pytest.mark.parametrize("delta", [0.005, 0.025, 0.2])
def test_margins_are_means_of_the_tail(n, delta):
    quantile = stats.kstwo.isf(delta, n)
    last = min(1.0, quantile + 5 / n**0.5)
    tail = quad(lambda x: stats.kstwo.sf(x, n), quantile, last, limit=300)[0]
    found = kolmogorov_margin(delta, n)
    # Both one-sided events together are a little less likely than their sum.
    assert quantile + tail / delta - 1e-7 <= found <= 1.01 * (quantile + tail / delta)
    bound = quad(lambda x: 2 * np.exp(-2 * n * x**2), np.sqrt(np.log(2 / delta) / 2 / n), np.inf)
    expected = np.sqrt(np.log(2 / delta) / 2 / n) + bound[0] / delta
    assert mean_of_tail(2.0, delta, n) == pytest.approx(expected)
    assert found <= min(1.0, expected) * (1 + 1e-9)


def test_independent_rows_of_groups():
    assert independent_rows(np.array([4.0, 4.0, 4.0])) == 3
    assert independent_rows(np.array([1.0, 0.0, 5.0, 4.0])) == 2
    assert check_groups(None, 3) is None
