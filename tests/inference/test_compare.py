"""The front door of comparisons: margins, rows of their own, other methods, refusals."""

import dask.array as da
import numpy as np
import pytest
from scipy import stats

from sklearn_rank.inference import compare, metric_interval, plan_labels, sample_size
from sklearn_rank.inference._limits import holm_adjust
from sklearn_rank.metrics import make_measure
from tests.oracles import means

FIRST = make_measure(lambda y, s: s[0], name="first", kind="graded", range=(0.0, 1.0))
LOSS = make_measure(
    lambda y, s: s[0], name="loss", kind="graded", range=(0.0, 1.0), greater_is_better=False
)


def rankers(seed=0, n=120):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < n // 3).astype(int)
    common = rng.normal(size=n) + y
    return y, {name: common + rng.normal(size=n) for name in "abc"}


def values(seed=0, n=40):
    rng = np.random.default_rng(seed)
    a = rng.random(n)
    return np.zeros(n), np.clip(a, 0, 1), np.clip(a + rng.normal(0.03, 0.1, n), 0, 1), np.arange(n)


@pytest.mark.parametrize(("measure", "sign"), [(FIRST, 1.0), (LOSS, -1.0)], ids=["gain", "loss"])
def test_margins_are_one_sided_tests_of_the_differences(measure, sign):
    y, a, b, qid = values()
    margin = 0.08
    found = compare(measure, y, {"a": a, "b": b}, qid=qid, margin=margin)
    expected = stats.ttest_1samp(sign * (a - b), -margin, alternative="greater")
    assert found.alternative == "non-inferior"
    assert (found.statistic, found.pvalue) == pytest.approx((expected.statistic, expected.pvalue))
    low, high = stats.t.interval(0.9, 39, (a - b).mean(), stats.sem(a - b))
    assert (found.low[0], found.high[0]) == pytest.approx((low, high))
    assert (found.pvalue <= 0.05) == ((low > -margin) if sign > 0 else (high < margin))
    assert found.interval.level == pytest.approx(0.9)
    both = compare(measure, y, {"a": a, "b": b}, qid=qid, margin=margin, alternative="equivalent")
    upper = stats.ttest_1samp(a - b, margin, alternative="less").pvalue
    lower = stats.ttest_1samp(a - b, -margin, alternative="greater").pvalue
    assert both.pvalue == pytest.approx(max(lower, upper))
    for alternative in ("less", "greater"):
        one = compare(measure, y, {"a": a, "b": b}, qid=qid, alternative=alternative)
        expected = stats.ttest_rel(a, b, alternative=alternative)
        assert one.pvalue == pytest.approx(expected.pvalue)


def test_limits_agree_with_tests_of_several():
    y, scores = rankers(3)
    for options in (
        {"margin": 0.1, "baseline": "c"},
        {"alternative": "greater"},
        {"alternative": "less"},
        {"margin": 0.1, "alternative": "equivalent"},
    ):
        found = compare("auc", y, scores, random_state=0, **options)
        low, high = np.array(found.low), np.array(found.high)
        inside = {
            "non-inferior": low > -0.1,
            "greater": low > 0,
            "less": high < 0,
            "equivalent": (low > -0.1) & (high < 0.1),
        }[found.alternative]
        clear = np.abs(np.array(found.pvalues) - 0.05) > 2e-3
        np.testing.assert_array_equal(inside[clear], (np.array(found.pvalues) <= 0.05)[clear])
        alone = compare(
            "auc", y, {"a": scores["a"], "b": scores["c"]}, **{**options, "baseline": None}
        )
        assert alone.pvalue <= found["a - c"].pvalue <= 3 * alone.pvalue + 1e-3


def test_rows_of_their_own():
    zeros, first, _, qid = values()
    _, second, third, other = values(1, n=25)
    found = compare(
        FIRST,
        {"x": zeros, "y": zeros[:25], "z": zeros[:25]},
        {"x": first, "y": second, "z": third},
        qid={"x": qid, "y": other, "z": other},
        random_state=0,
    )
    welch = stats.ttest_ind(first, second, equal_var=False)
    assert found["x - y"].statistic == pytest.approx(welch.statistic, rel=0.05)
    assert found["x - y"].pvalue > welch.pvalue
    two = compare(
        FIRST, {"x": zeros, "y": zeros[:25]}, {"x": first, "y": second}, qid={"x": qid, "y": other}
    )
    assert two.pvalue == pytest.approx(welch.pvalue, rel=0.05)


# ------------------------------------------------------------------------------ separate samples


def apart(seed=0, sizes=((10, 40), (30, 120), (90, 360))):
    rng = np.random.default_rng(seed)
    y, scores = {}, {}
    for name, (k, m) in zip("abc", sizes, strict=False):
        y[name] = np.repeat([1, 0], [k, m])
        scores[name] = rng.normal(size=k + m) + 1.5 * y[name]
    return y, scores


@pytest.mark.parametrize("measure", ["auc", "ap", "precision@top0.2", "recall@20", "bedroc@20"])
def test_separate_samples_add_their_own_limits_in_squares(measure):
    y, scores = apart(sizes=((10, 40), (90, 360)))
    found = compare(measure, y, scores)
    own = [metric_interval(measure, y[name], scores[name]) for name in "ab"]
    expected = means.square_and_add(*((x.low, x.high) for x in own), [x.estimate for x in own])
    np.testing.assert_allclose((found.low[0], found.high[0]), expected, atol=1e-12)
    assert found.method == "square-and-add"
    # The p-value is the level at which the limits reach 0.
    side = 0 if found.estimate > 0 else 1
    at_p = compare(measure, y, scores, level=1 - found.pvalue)
    assert (at_p.low, at_p.high)[side][0] == pytest.approx(0.0, abs=1e-7)


def test_separate_queries_add_their_own_limits_in_squares():
    rng = np.random.default_rng(0)
    scores = {"a": rng.beta(9, 1, 10), "b": rng.beta(8, 2, 100)}
    zeros = {name: np.zeros(len(x)) for name, x in scores.items()}
    qid = {name: np.arange(len(x)) for name, x in scores.items()}
    found = compare(FIRST, zeros, scores, qid=qid)
    own = [means.limits_of_mean(x.tolist(), 0.95) for x in scores.values()]
    expected = means.square_and_add(*own, [x.mean() for x in scores.values()])
    np.testing.assert_allclose((found.low[0], found.high[0]), expected, atol=1e-8)
    # Groups in both samples make these depend on each other.
    groups = {"a": np.arange(10), "b": np.arange(100) % 10}
    shared = compare(
        FIRST, zeros, {"a": scores["b"][:10], "b": scores["b"]}, qid=qid, groups=groups
    )
    other = compare(
        FIRST,
        zeros,
        {"a": scores["b"][:10], "b": scores["b"]},
        qid=qid,
        groups={"a": groups["a"] + 99, "b": groups["b"]},
    )
    assert shared.interval.width < other.interval.width


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alternative": "greater"},
        {"alternative": "less"},
        {"margin": 0.15, "baseline": "b"},
        {"margin": 0.2, "alternative": "equivalent"},
    ],
)
@pytest.mark.parametrize("sizes", [((10, 40), (90, 360)), ((10, 40), (30, 120), (90, 360))])
def test_tests_of_separate_samples_agree_with_their_limits(options, sizes):
    for seed in range(2):
        found = compare("auc", *apart(seed, sizes), random_state=0, **options)
        for low, high, pvalue in zip(found.low, found.high, found.pvalues, strict=True):
            margin = options.get("margin", 0.0)
            excluded = {
                "two-sided": low > 0 or high < 0,
                "greater": low > 0,
                "less": high < 0,
                "non-inferior": low > -margin,
                "equivalent": -margin < low and high < margin,
            }[found.alternative]
            assert (pvalue <= 0.05) == excluded


def test_a_mean_without_limits_gives_a_difference_without_limits():
    # Amounts have no range, so that equal values of queries say nothing.
    amounts, qid = np.tile([5, -1, -1], 20), np.repeat(np.arange(10), 6)
    scores = {"a": amounts, "b": np.arange(60) % 7}
    both = dict.fromkeys(scores, amounts)
    found = compare("profit@2", both, scores, qid=dict.fromkeys(scores, qid))
    assert (found.low, found.high) == ((-np.inf,), (np.inf,))
    assert found.pvalue == 1.0


def test_a_small_sample_beside_a_large_one():
    """Student's limits of the difference missed it in .06 to .10 on one side."""
    rng, misses, n = np.random.default_rng(0), np.zeros(2), 150
    truth = float(stats.norm.cdf(1 / np.sqrt(2)) - stats.norm.cdf(2 / np.sqrt(2)))
    for _ in range(n):
        y = {"a": np.repeat([1, 0], [5, 45]), "b": np.repeat([1, 0], [50, 450])}
        scores = {
            x: rng.normal(size=len(y[x])) + shift * y[x] for x, shift in (("a", 1), ("b", 2))
        }
        found = compare("auc", y, scores)
        misses += [found.low[0] > truth, found.high[0] < truth]
    assert misses.max() <= 0.04 * n


# ------------------------------------------------------------------------- the best of several


def test_limits_of_values_hold_together():
    y, scores = rankers(5)
    found = compare("auc", y, scores, random_state=0)
    again = compare("auc", y, scores, random_state=0)
    assert found.value_limits == again.value_limits
    assert found["a - b"].value_limits == found.value_limits[:2]
    for name, (low, high) in zip("abc", found.value_limits, strict=True):
        widest = metric_interval("auc", y, scores[name], level=1 - 0.05 / 3)
        narrowest = metric_interval("auc", y, scores[name])
        assert widest.low < low < narrowest.low
        assert narrowest.high < high < widest.high
    assert "95 % interval, all together" in str(found)
    # Rankers that are alike are as good as one, and a pair needs no draws.
    alike = {name: scores["a"] + 1e-3 * scores[name] for name in "bc"}
    one, pair = metric_interval("auc", y, scores["a"]), compare("auc", y, alike)
    assert pair == compare("auc", y, alike)
    assert pair.value_limits[0] == pytest.approx((one.low, one.high), abs=2e-3)


@pytest.mark.parametrize("name", ["auc", "accuracy_loss@top0.3", "negative_height_loss@4"])
def test_the_best_of_several(name, monkeypatch):
    monkeypatch.setattr("sklearn_rank.inference._compare.SWAPS", 49)
    y, scores = rankers(5)
    found = compare(name, y, scores, random_state=0)
    sign = 1 if found.greater_is_better else -1
    values = sign * np.array(found.values)
    i = int(values.argmax())
    best, alone = found.best, [metric_interval(name, y, scores[x]) for x in found.names]
    assert best.estimate == found.values[i]
    assert best.standard_error == pytest.approx(alone[i].standard_error)
    worse, better = (best.low, best.high)[::sign]
    assert worse == found.value_limits[i][0 if sign == 1 else 1]
    ends = [x.high if sign == 1 else x.low for x in alone]
    assert better == pytest.approx(sign * max(sign * np.array(ends)))
    assert sign * best.bias > 0
    assert f"{name} of {found.names[i]!r}, the best of 3" in best.target
    line = f"best: {found.names[i]}, {best.estimate:.4f} [{best.low:.4f}, {best.high:.4f}]"
    assert f"{line}, counting the choice among 3" in str(found)
    assert "best: " not in str(found[found.contrasts[0]])
    assert compare(name, y, scores, method="swap", random_state=0).best is None


def test_the_lower_limit_of_the_best_of_many_holds():
    rng, n, alone, together = np.random.default_rng(0), 40, 0, 0
    qid, zeros = np.arange(60), np.zeros(60)
    for _ in range(n):
        scores = dict(enumerate(rng.beta(4, 4, (12, 60))))
        found = compare(FIRST, zeros, scores, qid=qid, baseline="0")
        best = int(np.argmax(found.values))
        together += found.value_limits[best][0] > 0.5
        alone += found.values[best] - 1.96 * found.standard_errors[best] > 0.5
    assert together <= 0.05 * n
    assert alone > 0.15 * n


def test_other_methods_are_those_of_pairs():
    y, scores = rankers(4, n=30)
    found = compare("auc", y, scores, baseline="a", method="swap", random_state=0)
    assert found.method == "swaps, Holm"
    assert found.contrasts == ("b - a", "c - a")
    zeros, a, b, qid = values()
    named = {"a": a, "b": b, "c": np.clip(b + 0.05, 0, 1)}
    for method in ("t", "wilcoxon"):
        found = compare(FIRST, zeros, named, qid=qid, method=method, baseline="a")
        each = [
            compare(FIRST, zeros, {"a": named[name], "b": a}, qid=qid, method=method).pvalue
            for name in "bc"
        ]
        assert found.pvalues == pytest.approx(tuple(holm_adjust(each)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"margin": 0.1}, "there are 3 rankers and no baseline: pass baseline="),
        ({"margin": -0.1}, r"margin=-0.1 must be greater than 0 and less than 1"),
        ({"margin": 2.0}, "the length of the range of auc"),
        ({"margin": 0.1, "alternative": "less"}, "leave one of them out"),
        ({"alternative": "equivalent"}, "needs a margin, the largest difference of no importance"),
        ({"alternative": "greater", "level": 0.4}, "pass a level above 0.5"),
        ({"baseline": "d"}, r"baseline='d' is not among the rankers \['a', 'b', 'c'\]"),
        ({"method": "t"}, "method='t' does not support one list: pass method='swap'"),
        ({"method": "swap", "margin": 0.1, "baseline": "a"}, "does not support margin"),
        ({"sample_weight": np.ones(120)}, "pass weights='frequency' if each row"),
    ],
)
def test_refusals(arguments, message):
    y, scores = rankers()
    with pytest.raises(ValueError, match=message):
        compare("auc", y, scores, **arguments)


def test_refusals_of_mappings():
    y, scores = rankers()
    own = dict.fromkeys("abc", y)
    with pytest.raises(TypeError, match="groups is a mapping, but y_true is not"):
        compare("auc", y, scores, groups=own)
    with pytest.raises(TypeError, match="groups is not a mapping, but y_true is one"):
        compare("auc", own, scores, groups=y)
    with pytest.raises(ValueError, match=r"y_true has the names \['a'\] and scores"):
        compare("auc", {"a": y}, scores)
    matrix = np.eye(4)
    with pytest.raises(ValueError, match="qid is missing, but the test is over queries"):
        compare("ndcg", {"a": matrix, "b": y}, {"a": matrix, "b": scores["b"]})


@pytest.mark.parametrize("door", ["auto", "swap", "queries", "separate", "in part", "amounts"])
def test_the_positive_class_has_a_name_at_each_door(door, monkeypatch):
    monkeypatch.setattr("sklearn_rank.inference._compare.SWAPS", 49)
    y, scores = rankers()
    measure, arguments = "auc", {"method": "swap" if door == "swap" else "auto"}
    if door == "queries":
        measure, arguments = "ap", {"qid": np.arange(len(y)) % 4}
    elif door == "in part":
        arguments = {"design": "all"}
    elif door == "amounts":
        measure, arguments = "profit@50", {"value": (7.0, -1.0)}
    grades = 1 + np.asarray(y, dtype=int)
    words = np.where(y, "a bad one", "good")
    for labels, positive in ((grades, 2), (words, "a bad one")):  # which is the rarer one
        kinds = (labels, labels.tolist(), labels.astype(object))
        for given in kinds if door == "auto" else kinds[:1]:
            found = []
            for one in (given, np.asarray(y, dtype=int)):
                told = {"pos_label": positive} if one is given else {}
                one = dict.fromkeys("abc", one) if door == "separate" else one
                found.append(compare(measure, one, scores, random_state=0, **told, **arguments))
            assert found[0].to_dict() == found[1].to_dict()
            given = dict.fromkeys("abc", given) if door == "separate" else given
            such_as = rf"takes value in .*such as pos_label={positive!r}"
            with pytest.raises(ValueError, match=such_as):
                compare(measure, given, scores, **arguments)
            with pytest.raises(
                ValueError, match="pos_label='x' is not among the labels of y_true"
            ):
                compare(measure, given, scores, pos_label="x", **arguments)
    qid = np.arange(len(y)) % 4
    assert compare("ndcg", grades, scores, qid=qid, random_state=0).values[0] > 0.0


def part_known(y):
    return np.where(np.arange(len(y)) % 4, y, np.nan)


QID = np.arange(60) // 6
DOORS = {
    "list": lambda y, s: compare("auc", y, s),
    "swap": lambda y, s: compare("auc", y, s, method="swap"),
    "queries": lambda y, s: compare("ndcg@3", y, s, qid=QID),
    "collections": lambda y, s: compare(
        "ndcg@3",
        *(da.from_array(y), {name: da.from_array(x) for name, x in s.items()}),
        qid=da.from_array(QID),
    ),
    "labels in part": lambda y, s: compare("auc", part_known(y), s, design="all"),
    "queries in part": lambda y, s: compare("ndcg@3", part_known(y), s, qid=QID, design="all"),
    "separate": lambda y, s: compare("auc", {"a": y, "b": y}, s),
    "separate queries": lambda y, s: compare(
        "ndcg@3", {"a": y, "b": y}, s, qid={"a": QID, "b": QID}
    ),
    "pilot": lambda y, s: sample_size("auc", pilot=(y, s), n=100),
    "pilot of queries": lambda y, s: sample_size("ndcg@3", pilot=(y, s), qid=QID, n=100),
}


@pytest.mark.parametrize("wrong", ["NaN", "length", "words", "columns"])
@pytest.mark.parametrize("door", [*DOORS, "plan"])
def test_each_door_names_the_scores_that_are_wrong(door, wrong):
    y, rng = (np.arange(60) % 3 == 0).astype(int), np.random.default_rng(0)
    right = rng.normal(size=60) + y
    bad = {
        "NaN": np.where(np.arange(60) == 7, np.nan, right),
        "length": right[:-1],
        "words": np.full(60, "x"),
        "columns": np.c_[right, right],
    }[wrong]
    if door == "plan":
        labels = {"y_true": part_known(y), "budget": 3}
        with pytest.raises(ValueError, match=r"\bcompare_with\b"):
            plan_labels("auc", right, compare_with=bad, **labels)
        return
    for name in "ab":
        scores = {"a": right, "b": right} | {name: bad}
        with pytest.raises(ValueError, match=rf"\bscores\['{name}'\]") as caught:
            DOORS[door](y, scores)
        assert "y_score" not in str(caught.value)


def test_rankers_that_no_positive_tells_apart_may_differ_by_those_that_the_sample_lacks():
    # No hit in 30 draws has the mid-p value .05 at a chance of 1 - .05**(1 / 30).
    y = np.repeat([1, 0], [30, 170])
    score = np.random.default_rng(3).normal(size=200) + 9.0 * y
    score[:5] -= 20.0  # in no top
    other = score + np.where(y == 0, np.random.default_rng(4).normal(size=200), 0.0)
    found = compare("recall@40", y, {"a": score, "b": other}).interval
    assert found.estimate == 0.0
    assert -found.low == found.high == pytest.approx(1 - 0.05 ** (1 / 30), rel=0.03)
    other[0] = 99.0  # one positive tells them apart
    found = compare("recall@40", y, {"a": score, "b": other}).interval
    assert found.low < -0.1
    assert found.high < 0.07


@pytest.mark.parametrize("seed", [250, 1015])
def test_a_difference_that_few_rows_tell_is_excluded_by_limits_and_test_alike(seed):
    # The positives are alike for both rankers, so that limits allow for others.
    rng = np.random.default_rng(seed)
    n_pos = rng.integers(3, 12)
    n = n_pos + rng.integers(5, 60)
    y = (np.arange(n) < n_pos).astype(int)
    a = np.round(rng.normal(size=n) + 3 * y, 1)
    noise = rng.normal(size=n) * rng.choice([0, 0.3, 1])
    b = np.round(a + noise * (y == rng.integers(0, 2)), 1)
    found = compare("lift@0.3", y, {"a": a, "b": b})
    assert found.low[0] < 0.0 < found.high[0]
    assert found.pvalue > 0.05
    assert found.conclusions == ("no difference shown",)


def test_names_of_columns_are_no_files():
    with pytest.raises(FileNotFoundError, match=r"for a column of a frame pass frame\['y'\]"):
        compare("auc", "y", ["a", "b"])
