"""The front door of comparisons: margins, rows of their own, other methods, refusals."""

import numpy as np
import pytest
from scipy import stats

from sklearn_rank.inference import compare
from sklearn_rank.inference._limits import holm_adjust
from sklearn_rank.metrics import make_measure

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
    assert found["x - y"].statistic == pytest.approx(welch.statistic)
    assert found["x - y"].pvalue > welch.pvalue
    two = compare(
        FIRST, {"x": zeros, "y": zeros[:25]}, {"x": first, "y": second}, qid={"x": qid, "y": other}
    )
    assert two.pvalue == pytest.approx(welch.pvalue)


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


@pytest.mark.parametrize("door", ["auto", "swap", "queries", "separate", "in part", "amounts"])
def test_the_positive_class_has_a_name_at_each_door(door):
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
    for labels, positive, other in ((grades, 2, 2), (words, "a bad one", "good")):
        kinds = (labels, labels.tolist(), labels.astype(object))
        for given in kinds[:1] if door == "swap" else kinds:
            found = []
            for one in (given, np.asarray(y, dtype=int)):
                told = {"pos_label": positive} if one is given else {}
                one = dict.fromkeys("abc", one) if door == "separate" else one
                found.append(compare(measure, one, scores, random_state=0, **told, **arguments))
            assert found[0].to_dict() == found[1].to_dict()
            given = dict.fromkeys("abc", given) if door == "separate" else given
            with pytest.raises(ValueError, match=rf"takes value in .*such as pos_label={other!r}"):
                compare(measure, given, scores, **arguments)
            with pytest.raises(
                ValueError, match="pos_label='x' is not among the labels of y_true"
            ):
                compare(measure, given, scores, pos_label="x", **arguments)
    qid = np.arange(len(y)) % 4
    assert compare("ndcg", grades, scores, qid=qid, random_state=0).values[0] > 0.0
