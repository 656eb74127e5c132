"""Days that depend on each other: ids that are times, against the definition."""

import warnings

import numpy as np
import pytest
from scipy.stats import t as student

from sklearn_rank import OrderPreservingRanker
from sklearn_rank._labels_in_part._late_labels import LateLabels
from sklearn_rank.inference import (
    LabelDesign,
    compare,
    curve,
    metric_interval,
    two_sample_rank_test,
)
from sklearn_rank.inference._limits import wilson_limits
from sklearn_rank.inference._queries import QueryValues, sample_interval
from sklearn_rank.inference._shared import read_rankers
from sklearn_rank.metrics import Accumulator, get_measure
from sklearn_rank.metrics._evidence import Groups
from sklearn_rank.metrics._in_time import independent_units, look_dependent
from sklearn_rank.model_selection import cross_val_interval
from tests.naming import for_each
from tests.oracles import days as oracle

DAY = np.datetime64("2024-01-30")
NO_TIME = "is no time, so that its"


def autoregression(shape, r, rng):
    values = rng.normal(size=shape)
    for t in range(1, shape[-1]):
        values[..., t] = r * values[..., t - 1] + np.sqrt(1 - r**2) * values[..., t]
    return values


def log(seed, n_days=40, r=0.7, per_day=20):
    """Labels and scores of two models, whose quality changes slowly; and the number of the day."""
    rng = np.random.default_rng(seed)
    day = np.repeat(np.arange(n_days), per_day)
    level, drift = autoregression((2, n_days), r, rng)[:, day]
    y = (rng.random(len(day)) < 1 / (1 + np.exp(-1.5 * level))).astype(int)
    y[::per_day], y[1::per_day] = 1, 0
    a = rng.normal(size=len(day)) + y * (1 + drift)
    return y, a, a + rng.normal(size=len(day)) * (0.7 + 0.4 * drift), day


def quietly(call, *arguments, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{NO_TIME}")
        return call(*arguments, **options)


# -------------------------------------------------------------------------------- the definition


@pytest.mark.parametrize("n", [4, 5, 9, 30, 61])
@pytest.mark.parametrize("r", [0.0, 0.6, 0.95])
def test_variance_and_degrees_by_their_definition(n, r):
    values = autoregression((3, n), r, np.random.default_rng(n)) + 0.2
    units, degrees = independent_units(values, np.ones(n, dtype=bool))
    expected = [oracle.variance_of_sum(row.tolist()) for row in values]
    found = np.stack([(units**2).sum(axis=1), degrees], axis=1)
    np.testing.assert_allclose(found, expected)
    # Days without rows are left out; units that are no days count by themselves.
    there = np.append(np.arange(2 * n) % 2 == 0, False)
    wide = np.zeros((3, 2 * n + 1))
    wide[:, there], wide[:, -1] = values, 0.5
    units, degrees = independent_units(wide, there)
    np.testing.assert_allclose((units**2).sum(axis=1), np.array(expected)[:, 0] + 0.25)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_mean_over_days_by_its_definition(seed):
    y, a, b, day = log(seed)
    values = {}
    for name, score in {"a": a, "b": b}.items():
        found = metric_interval("ndcg@5", y, score, qid=DAY + day, method="t")
        values[name] = [get_measure("ndcg@5")(y[day == t], score[day == t]) for t in range(40)]
        variance, degrees = oracle.variance_of_mean(values[name])
        assert found.estimate == pytest.approx(np.mean(values[name]))
        assert found.standard_error == pytest.approx(np.sqrt(variance))
        half = student.ppf(0.975, degrees) * np.sqrt(variance)
        assert [found.low, found.high] == pytest.approx(
            np.clip([found.estimate - half, found.estimate + half], 0, 1)
        )
        assert found.target == "mean ndcg@5 over 40 days, dependent in time"
    # A difference has its own dependence.
    found = compare("ndcg@5", y, {"a": a, "b": b}, qid=DAY + day)
    difference = np.subtract(values["a"], values["b"])
    variance, degrees = oracle.variance_of_mean(difference.tolist())
    half = student.ppf(0.975, degrees) * np.sqrt(variance)
    assert found.interval.high - found.estimate == pytest.approx(half, rel=0.02)
    assert found.estimate == pytest.approx(difference.mean())


def test_sums_of_influence_by_their_definition():
    y, a, b, day = log(3)
    n = len(y)
    moved = []
    for score in (a, b):
        above = np.mean(score[:, None] > score[y == 0], axis=1)
        below = np.mean(score[:, None] < score[y == 1], axis=1)
        auc = above[y == 1].mean()
        moved.append(np.where(y == 1, (above - auc) / y.sum(), (below - auc) / (n - y.sum())))
    share = [np.bincount(day, y == x) / np.count_nonzero(y == x) for x in (0, 1)]
    of_days = [
        sum(
            np.bincount(day, row * (y == x)) / np.sqrt(1 - share[x])  # as of groups
            for x in (0, 1)
        )
        for row in (*moved, moved[0] - moved[1])
    ]
    (first, _), (second, _), (both, degrees) = (
        oracle.variance_of_sum(x.tolist()) for x in of_days
    )
    found = compare("auc", y, {"a": a, "b": b}, groups=DAY + day)
    assert found.standard_errors == pytest.approx(np.sqrt([first, second]))
    half = found.interval.high - found.estimate
    assert half == pytest.approx(student.ppf(0.975, degrees) * np.sqrt(both), rel=0.02)
    assert "in 40 days, dependent in time" in found.target


def test_limits_cover_where_those_of_independent_days_do_not():
    rng, n = np.random.default_rng(0), 60
    values = autoregression((400, n), 0.7, rng)
    ids = np.arange(n)
    covers = {}
    for kind, groups in {"days": Groups(ids, n, "days"), "queries": None}.items():
        samples = [QueryValues(x, ids, "m", (-np.inf, np.inf), groups) for x in values]
        covers[kind] = np.mean([0.0 in sample_interval(x, 0.95) for x in samples])
    assert covers["queries"] < 0.7
    assert covers["days"] > 0.9


# ----------------------------------------------------------------------- each door has it at once


def chunked(values):
    return pytest.importorskip("dask.array").from_array(values, chunks=200)


DOORS = {
    "interval, queries": lambda y, a, b, ids: metric_interval("precision@10", y, a, qid=ids),
    "interval, table": lambda y, a, b, ids: (
        metric_interval(["precision@10", "ndcg@5"], y, a, qid=ids, random_state=0)[
            "ndcg@5"
        ].interval
    ),
    "accumulator": lambda y, a, b, ids: metric_interval(
        Accumulator("precision@10").update(y, a, qid=ids)
    ),
    "chunks": lambda y, a, b, ids: metric_interval(
        "precision@10", *map(chunked, (y, a)), qid=chunked(ids)
    ),
    "compare, queries": lambda y, a, b, ids: (
        compare("precision@10", y, {"a": a, "b": b}, qid=ids).interval
    ),
    "compare, unpaired": lambda y, a, b, ids: (
        compare(
            "precision@10",
            *({"a": x[:400], "b": x[400:]} for x in (y, a)),
            qid={"a": ids[:400], "b": ids[400:]},
        ).interval
    ),
    "curve": lambda y, a, b, ids: curve("precision@k", y, a, at=[5, 10], qid=ids)[10].interval,
    "segments": lambda y, a, b, ids: (
        metric_interval(
            "precision@10", y, a, qid=ids, by=np.arange(len(y)) // 20 % 2, random_state=0
        )[1].interval
    ),
    "segments, one list": lambda y, a, b, ids: (
        metric_interval(
            "precision@top0.2", y, a, groups=ids, by=np.arange(len(y)) % 2, random_state=0
        )["all rows"][1].interval
    ),
    "one list, draws": lambda y, a, b, ids: metric_interval("precision@90", y, a, groups=ids),
    "one list, shares": lambda y, a, b, ids: metric_interval(
        "net_benefit@0.3", y, 1 / (1 + np.exp(-a)), groups=ids
    ),
    "one list, auc": lambda y, a, b, ids: metric_interval("auc", y, a, groups=ids),
    "one list, top": lambda y, a, b, ids: metric_interval("precision@top0.2", y, a, groups=ids),
    "one list, influence": lambda y, a, b, ids: metric_interval("ap", y, a, groups=ids),
    "one list, grades": lambda y, a, b, ids: metric_interval("spearman", y, a, groups=ids),
    "one list, compared": lambda y, a, b, ids: (
        compare("ap", y, {"a": a, "b": b}, groups=ids).interval
    ),
}


@for_each("name", DOORS)
def test_only_the_variance_knows_of_times(name):
    y, a, b, day = log(7, r=0.95)
    columns = y, a, b
    found = {
        kind: quietly(DOORS[name], *columns, ids)
        for kind, ids in {"numbers": day, "days": DAY + day}.items()
    }
    numbers, days = found.values()
    assert days.estimate == numbers.estimate
    # Fewer degrees of freedom alone make limits at most 1.4 times as wide.
    more = name.endswith(("list", "draws", "shares", "top", "grades"))
    assert days.width > (2.0 if more else 1.15) * numbers.width
    # In the order of time, not of rows, and whatever the gaps.
    order = np.random.default_rng(0).permutation(800)
    if name not in ("chunks", "compare, unpaired", "segments", "segments, one list"):
        gaps = DAY + day**2
        turned = DOORS[name](*(x[order] for x in columns), gaps[order])
        assert [turned.low, turned.high] == pytest.approx([days.low, days.high])


def test_folds_and_labels_that_come_late_are_of_days_too():
    from sklearn.linear_model import LogisticRegression

    y, a, b, day = log(6, r=0.9)
    X, widths = np.stack([a, b], axis=1), []
    for ids in (day, DAY + day):
        found = cross_val_interval(LogisticRegression(), X, y, measure="auc", groups=ids, cv=3)
        design = LabelDesign(entered=DAY + day, horizon=3, as_of=DAY + 60)
        late = (
            quietly(metric_interval, "auc", y * 0, a, groups=ids, design=design) if False else None
        )
        widths.append(found.width)
    assert late is None
    assert widths[1] > 1.1 * widths[0]


def test_queries_of_folds_are_days_too():
    y, a, b, day = log(7, r=0.95)
    X = np.stack([a, b], axis=1)
    widths = []
    for ids in (day, DAY + day):
        ranker = OrderPreservingRanker()
        found = quietly(cross_val_interval, ranker, X, y, measure="precision@10", qid=ids, cv=3)
        widths.append(found.high - found.low)
    assert widths[1] > 1.5 * widths[0]


def test_days_of_censored_rows_count():
    y, _, _, day = log(6)
    entered = DAY + day
    known = np.where(y == 1, entered + 5, np.datetime64("NaT"))
    design = LabelDesign(entered=entered, resolved=known, horizon=5, as_of=DAY + 42)
    late = LateLabels.of(design, y)
    assert not late.known[day >= 38].any()
    _, rows = late.weights(Groups(day, 40, "days"))
    assert rows.only(late.known).times.all()


def test_two_samples_of_the_same_days_depend_on_each_other():
    y, a, b, day = log(7)
    rows = "precision@10", {"a": y, "b": y}, {"a": a, "b": b}
    one, other = (metric_interval("precision@10", y, x, qid=DAY + day).width for x in (a, b))
    for later, least, most in ((0, 0.0, 0.8), (100, 0.9, 1.5)):  # the same days, and others
        found = compare(*rows, qid={"a": DAY + day, "b": DAY + later + day}).interval
        assert least < found.width / np.hypot(one, other) < most


def test_rank_tests_of_days():
    rng = np.random.default_rng(0)
    level, day = np.repeat(autoregression((40,), 0.95, rng), 20), np.repeat(np.arange(40), 20)
    score, first = level + rng.normal(size=800), day < 20
    samples, ids = (score[first], score[~first]), (DAY + day[first], DAY + day[~first])
    found = two_sample_rank_test(*samples, groups=ids)
    numbers = two_sample_rank_test(*samples, groups=(day[first], day[~first]), method="normal")
    assert found.pvalue > 2 * numbers.pvalue
    with pytest.raises(ValueError, match="method='exact' needs independent groups"):
        two_sample_rank_test(*samples, groups=ids, method="exact")


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        ("precision@10", "qid"),
        ("auc", "groups"),
        ("ap", "groups"),
        ("precision@90", "groups"),
    ],
)
def test_units_of_a_table_have_the_variance_of_each_row(measure, name):
    y, a, b, day = log(7)
    scores, ids = {"a": a, "b": b}, {name: DAY + day}
    rankers = read_rankers(get_measure(measure), y, scores, compared=False, **ids)
    errors = np.sqrt((rankers.units**2).sum(axis=1))
    for error, score in zip(errors, scores.values(), strict=True):
        one = metric_interval(measure, y, score, **ids)
        if one.standard_error is None:  # of draws, whose limits are those of a share
            n = one.estimate * (1 - one.estimate) / error**2
            assert one.width == pytest.approx(
                np.diff(wilson_limits(one.estimate, n, 0.95))[0], rel=0.5
            )
        else:
            assert one.standard_error == pytest.approx(error, rel=0.03)
    found = metric_interval([measure], y, scores, random_state=0, **ids)
    for row, score in zip(found.pointwise, scores.values(), strict=True):
        one = metric_interval(measure, y, score, **ids)
        assert (row.low, row.high) == (one.low, one.high)


# ------------------------------------------------------------------------- what is refused, warned


@pytest.mark.parametrize(
    ("call", "method"),
    [
        (lambda y, a, b, ids, m: compare("ndcg", y, {"a": a, "b": b}, qid=ids, method=m), m)
        for m in ("randomization", "wilcoxon")
    ]
    + [
        (lambda y, a, b, ids, m: metric_interval("ndcg", y, a, qid=ids, method=m), "bca"),
        (lambda y, a, b, ids, m: metric_interval("bedroc@20", y, a, groups=ids, method=m), "dkw"),
        (
            lambda y, a, b, ids, m: metric_interval("precision@9", y, a, groups=ids, method=m),
            "exact",
        ),
        (
            lambda y, a, b, ids, m: compare("auc", y, {"a": a, "b": b}, groups=ids, method=m),
            "swap",
        ),
    ],
)
def test_methods_for_independent_units_are_refused(call, method):
    y, a, b, day = log(8)
    with pytest.raises(ValueError, match=f"method='{method}' needs independent groups.*are days"):
        call(y, a, b, DAY + day, method)
    quietly(call, y, a, b, day, method)


def test_few_days_are_warned_of():
    y, a, _, day = log(9, n_days=7)
    with pytest.warns(UserWarning, match="7 days tell little of how they depend"):
        few = metric_interval("ndcg", y, a, qid=DAY + day)
    assert few.width > metric_interval("ndcg", y, a, qid=day).width


@pytest.mark.parametrize("name", ["qid", "groups"])
def test_dates_that_are_written_as_texts_or_numbers_are_times(name):
    y, a, _, day = log(10, n_days=30, r=0.9)
    texts = (DAY + day).astype(str)
    asked = "precision@top0.3", y, a
    expected = metric_interval(*asked, **{name: DAY + day})
    for ids in (texts, texts.tolist(), np.char.replace(texts, "-", "").astype(int)):
        assert metric_interval(*asked, **{name: ids}) == expected
    months = np.datetime64("2022-01") + day
    expected_of_months = metric_interval(*asked, **{name: months})
    assert metric_interval(*asked, **{name: months.astype(str)}) == expected_of_months
    for form in ("{2}.{1}.{0}", "{2} Jan {0}"):
        other = np.array([form.format(*x.split("-")) for x in texts])
        with pytest.raises(ValueError, match=r"dates such as '30[. ].*write them as 2024-01-31"):
            metric_interval(*asked, **{name: other})
    # One that is no date tells that all are ids, as of the thirtieth of February.
    ids = np.where(day == 29, 20240230, day + 20240101)
    assert metric_interval(*asked, **{name: ids}) != expected


def test_numbers_that_may_be_those_of_days_and_are_correlated_are_warned_of():
    y, a, b, day = log(10, r=0.9)
    mend = r"pass qid=np.asarray\(day, dtype='datetime64\[D\]'\)"
    for score in (a, {"a": a, "b": b}):
        with pytest.warns(UserWarning, match=f"qid {NO_TIME} 40 values.*{mend}"):
            metric_interval("precision@10", y, score, qid=day)
    # Without dependence, without order, or as times, nothing is said.
    y, *_ = log(10, r=0.0)
    metric_interval("precision@10", y, a, qid=day)


def test_ids_without_order_are_not_warned_of():
    y, a, _, day = log(10, r=0.9)
    for ids in (
        (day * 7919) % 104729,
        np.array([f"q{hash(x) % 997}" for x in range(40)])[day],
        DAY + day,
    ):
        metric_interval("precision@10", y, a, qid=ids)
    assert look_dependent(autoregression((40,), 0.9, np.random.default_rng(0)))


def test_chance_warns_once_in_a_thousand():
    values = np.random.default_rng(0).exponential(size=(10_000, 30))
    assert np.mean([look_dependent(x) for x in values]) < 0.002
