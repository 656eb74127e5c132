"""Comparisons by cross-validation: paired, jointly, on the same folds."""

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from sklearn_rank.inference import Comparison
from sklearn_rank.inference import compare as compare_scores
from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection import QueryKFold, cross_val_compare, cross_val_interval
from tests.model_selection.estimators import Column
from tests.oracles import cross_validation as oracle


def rows(seed=0, n_pos=15, n_neg=25):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n_pos, n_neg]))
    X = rng.integers(-3, 4, size=(len(y), 3)).astype(float)
    X[:, 0] += y
    return X, y


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


def test_one_part_is_a_comparison_of_fixed_rankers():
    X, y = rows()
    cv = StratifiedShuffleSplit(1, test_size=0.6, random_state=0)
    test = next(cv.split(X, y))[1]
    scores = {name: X[test, j] for j, name in enumerate(COLUMNS)}
    for measure in ("auc", "bedroc@2", "ap"):
        found = compare(X, y, cv=cv, measure=measure)
        expected = compare_scores(measure, y[test], scores, random_state=0)
        assert isinstance(found, Comparison)
        assert found.contrasts == ("a - b", "a - c", "b - c")
        for name in ("values", "differences", "low", "high", "pvalues", "standard_errors"):
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected, name), atol=0.02, err_msg=name
            )
            if name not in ("low", "high", "pvalues"):
                np.testing.assert_allclose(getattr(found, name), getattr(expected, name))


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
    half = student.ppf(0.975, 11) * error
    np.testing.assert_allclose(
        (found.low[0], found.high[0]), (mean - half, mean + half), atol=5e-3
    )
    assert found.pvalue == pytest.approx(2 * student.sf(abs(mean / error), 11), abs=0.01)


def test_pairs_are_surer_than_two_intervals():
    X, y = rows(n_pos=40, n_neg=60)
    models = {"some": LogisticRegression(C=1.0), "less": LogisticRegression(C=0.01)}
    found = compare(X, y, models, cv=5)
    alone = [cross_val_interval(m, X, y, measure="auc", cv=5).width for m in models.values()]
    assert found.interval.width < 0.5 * min(alone)
    assert found.differences[0] != 0.0


def test_groups_and_baseline():
    X, y = rows()
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    groups = np.tile(np.arange(len(y) // 3), 3)
    found = compare(X, y, groups=groups, cv=4, baseline="c")
    assert found.contrasts == ("a - c", "b - c")
    folds = list(StratifiedKFold(4).split(X, y))
    alone = compare(X, y, cv=folds, baseline="c")
    assert found.difference_errors[0] > 1.3 * alone.difference_errors[0]


def test_an_estimator_beside_itself_is_not_different():
    X, y = rows()
    found = compare(X, y, {"a": Column(0), "b": Column(0)}, cv=4)
    assert found.estimate == 0.0
    assert found.pvalue > 0.99
    assert found.low[0] < 0.0 < found.high[0]


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
        ({"a": Column(0)}, {}, "takes two or more"),
        (Column(0), {}, "estimators is a Column"),
        ([("a", Column(0)), ("a", Column(1))], {}, "two of the same name"),
        (COLUMNS, {"baseline": "z"}, "none of the estimators"),
        (COLUMNS, {"level": 95}, "level"),
    ],
    ids=["one", "no list", "same name", "baseline", "level"],
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
