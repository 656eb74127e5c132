"""Comparisons by cross-validation: paired, jointly, on the same folds."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from sklearn_rank.inference import compare as compare_scores
from sklearn_rank.metrics import get_measure, make_measure
from sklearn_rank.model_selection import QueryKFold, cross_val_compare, cross_val_interval
from tests.model_selection.estimators import Column
from tests.model_selection.estimators import tied_rows as rows
from tests.oracles import cross_validation as oracle
from tests.oracles import differences


class Feature(BaseEstimator):
    """Scores by one column."""

    def __init__(self, j=0):
        self.j = j

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, self.j]


COLUMNS = {"a": Column(0), "b": Column(1), "c": Column(2)}


def compare(X, y, estimators=COLUMNS, *, measure="auc", **options):
    options = {"random_state": 0} | options
    return cross_val_compare(estimators, X, y, measure=measure, **options)


@pytest.mark.parametrize(
    "options", [{}, {"margin": 0.1, "baseline": "c"}, {"level": 0.9}], ids=str
)
@pytest.mark.parametrize("measure", ["auc", "bedroc@2", "ap"])
def test_one_part_is_a_comparison_of_fixed_rankers(measure, options):
    X, y = rows(n_pos=40, n_neg=60)
    cv = StratifiedShuffleSplit(1, test_size=0.6, random_state=0)
    test = next(cv.split(X, y))[1]
    scores = {name: X[test, j] for j, name in enumerate(COLUMNS)}
    found = compare(X, y, cv=cv, measure=measure, **options)
    expected = compare_scores(measure, y[test], scores, random_state=0, **options)
    for name in ("contrasts", "conclusions", "hypothesis"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("values", "differences", "standard_errors", "statistics"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name))
    for name in ("low", "high", "pvalues"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=0.01)


def test_values_are_those_of_the_intervals():
    X, y = rows()
    found = compare(X, y, cv=StratifiedKFold(4))
    for name, value in zip(found.names, found.values, strict=True):
        alone = cross_val_interval(COLUMNS[name], X, y, measure="auc", cv=StratifiedKFold(4))
        assert alone.estimate == pytest.approx(value)
    assert found.target == "mean expected auc of the 4 fold models"
    single = compare(X, y, {"a": Column(0), "b": Column(1)}, cv=StratifiedKFold(4))
    assert single.estimate == pytest.approx(found.differences[0])
    assert single.interval.low > found.low[0]


def test_queries_against_the_definition():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(12), 5)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    y[::5] = 2
    found = compare(X, y, {"a": Feature(0), "b": Feature(1)}, measure="ndcg@2", qid=qid, cv=4)
    folds = []
    for _, test in QueryKFold(4, shuffle=False).split(X, y, qid):
        a, b = (
            get_measure("ndcg@2")(y[test], X[test, j], qid=qid[test], average=None) for j in (0, 1)
        )
        folds.append(dict(zip(np.unique(qid[test]).tolist(), a - b, strict=True)))
    mean, error = oracle.fold_mean_queries(folds)
    assert found.estimate == pytest.approx(mean)
    assert found.interval.standard_error == pytest.approx(error)
    assert found.statistic == pytest.approx(mean / error)
    half = stats.t.ppf(0.975, 11) * error
    np.testing.assert_allclose(
        (found.low[0], found.high[0]), (mean - half, mean + half), atol=5e-3
    )
    assert found.pvalue == pytest.approx(2 * stats.t.sf(abs(mean / error), 11), abs=0.01)


def loss_of_queries(n=12):
    """Features of queries of two rows, and how much each column loses on each query."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((n, 2)), 2, axis=0)
    return X, np.tile([1.0, 0.0], n), np.repeat(np.arange(n), 2), 1.0 - X[::2]


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["gain", "loss"])
def test_margins_are_one_sided_tests_of_the_differences(sign):
    X, y, qid, losses = loss_of_queries()
    a, b = -sign * losses.T
    measure = make_measure(
        lambda y, s: -sign * abs(y[0] - s[0]),
        name="own",
        kind="graded",
        greater_is_better=sign > 0,
        range=(-1.0, 1.0),
    )
    columns = {"a": Feature(0), "b": Feature(1)}

    def found(**options):
        return compare(X, y, columns, measure=measure, qid=qid, cv=4, **options)

    for margin in (0.02, 0.5):
        expected = stats.ttest_1samp(sign * (a - b), -margin, alternative="greater")
        one = found(margin=margin)
        assert one.alternative == "non-inferior"
        assert (one.statistic, one.pvalue) == pytest.approx((expected.statistic, expected.pvalue))
        low, high = stats.t.interval(0.9, len(a) - 1, (a - b).mean(), stats.sem(a - b))
        assert (one.low[0], one.high[0]) == pytest.approx((low, high))


@pytest.mark.parametrize("measure", ["precision@top0.2", "tpr@fpr0.2", "auc", "ap"])
def test_measures_by_the_influence_in_each_fold(measure):
    X, y = rows(n_pos=20, n_neg=31)
    cv = StratifiedKFold(4)
    read = get_measure(measure)
    added = {}
    for name in "ab":
        folds = ([], [])
        for _, test in cv.split(X, y):
            influence = read.influence_of(read.lists(y[test], X[test, COLUMNS[name].j]))
            for of_class, label in zip(folds, (1, 0), strict=True):
                values = influence.values[y[test] == label]
                values = values + influence.estimate - values.mean()
                of_class.append(dict(zip(test[y[test] == label].tolist(), values, strict=True)))
        added[name] = [oracle.on_mean(of_class) for of_class in folds]
    apart = [
        [of_a[item] - of_b[item] for item in of_a]
        for of_a, of_b in zip(added["a"], added["b"], strict=True)
    ]
    variance, pairs = sum(np.var(one, ddof=1) / len(one) for one in apart), 0.0
    for _, test in cv.split(X, y):
        scores = [X[test, COLUMNS[name].j] for name in "ab"]
        apart = [np.subtract.outer(x[y[test] == 1], x[y[test] == 0]) for x in scores]
        tables = [((1.0 + np.sign(table)) / 2.0).tolist() for table in apart]
        pairs += differences.pairs_of_contrast(tables, [1.0, -1.0]) / 4**2
    if measure != "auc":
        pairs = 0.0
    error = np.sqrt(variance - pairs)
    values = [
        np.mean([read(y[test], X[test, COLUMNS[name].j]) for _, test in cv.split(X, y)])
        for name in "ab"
    ]
    models = {name: COLUMNS[name] for name in "ab"}
    found = compare(X, y, models, measure=measure, cv=cv)
    assert found.values == pytest.approx(values)
    if measure == "ap":  # whose steps at the positives are of the order of AUC's
        assert 0.95 * error < found.interval.standard_error < error
    else:
        assert found.interval.standard_error == pytest.approx(error)
    for name, value in zip("ab", values, strict=True):
        alone = cross_val_interval(COLUMNS[name], X, y, measure=measure, cv=cv)
        of_one = sum(np.var(list(one.values()), ddof=1) / len(one) for one in added[name])
        assert alone.estimate == pytest.approx(value)
        # The interval has half an item of either class more at either end.
        assert alone.standard_error == pytest.approx(np.sqrt(of_one), rel=0.2)
        assert 0.0 <= alone.low < value < alone.high <= 1.0


def test_groups_and_baseline():
    X, y = rows()
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    groups = np.tile(np.arange(len(y) // 3), 3)
    found = compare(X, y, groups=groups, cv=4, baseline="c")
    assert found.contrasts == ("a - c", "b - c")
    folds = list(StratifiedKFold(4).split(X, y))
    alone = compare(X, y, cv=folds, baseline="c")
    assert found.difference_errors[0] > 1.3 * alone.difference_errors[0]


def test_estimators_in_a_list():
    X, y = rows()
    found = compare(X, y, [LogisticRegression(), LogisticRegression(C=0.1), Ridge()], cv=4)
    assert found.names == ("LogisticRegression-1", "LogisticRegression-2", "Ridge")
    named = compare(X, y, [("first", Ridge()), LogisticRegression()], cv=4)
    assert named.names == ("first", "LogisticRegression")
    assert "first - LogisticRegression" in str(named)


@pytest.mark.parametrize(
    ("estimators", "options", "words"),
    [
        ({"a": Column(0)}, {}, "at least two"),
        (Column(0), {}, "estimators is a Column"),
        ([("a", Column(0)), ("a", Column(1))], {}, "contains a name twice"),
        (COLUMNS, {"baseline": "z"}, "not among the rankers \\['a', 'b', 'c'\\]"),
        (COLUMNS, {"level": 95}, "level"),
        (COLUMNS, {"margin": 0.1}, "there are 3 rankers and no baseline: pass baseline="),
        (COLUMNS, {"margin": 2.0, "baseline": "a"}, "the length of the range of auc"),
    ],
    ids=[
        *("one", "no list", "same name", "baseline", "level", "margin of pairs", "large margin"),
    ],
)
def test_what_is_refused(estimators, options, words):
    X, y = rows()
    with pytest.raises((ValueError, TypeError), match=words):
        compare(X, y, estimators, **options)


def test_different_positive_classes_are_refused():
    class Says(Column):
        def __init__(self, j=0, turn=False, pos_label=None):
            super().__init__(j, turn)
            self.pos_label = pos_label

    X, y = rows()
    models = {"a": Says(pos_label=0), "b": Says(pos_label=1)}
    with pytest.raises(ValueError, match="different positive classes"):
        compare(X, y, models)
