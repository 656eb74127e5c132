"""AUC of more than two classes: one against the rest, one against one."""

import pickle

import numpy as np
import pytest
import sklearn.metrics
from sklearn.datasets import load_iris
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score

from sklearn_rank.metrics import get_measure, get_scorer, roc_auc_score
from tests.oracles.multi_class import multi_class as by_pairs

SETTINGS = [(kind, mean) for kind in ("ovr", "ovo") for mean in ("macro", "weighted")]
every_setting = pytest.mark.parametrize(("kind", "mean"), SETTINGS)


def data(n, n_classes, levels=None, seed=0):
    """Classes, all of them present, and scores that sum to 1."""
    rng = np.random.default_rng(seed)
    column = np.r_[np.arange(n_classes), rng.choice(n_classes, n - n_classes, p=None)]
    score = rng.random((n, n_classes)) + 0.5 * (column[:, None] == np.arange(n_classes))
    if levels is not None:
        score = np.floor(score * levels) + 1
    return column, score / score.sum(axis=1, keepdims=True)


@every_setting
@pytest.mark.parametrize(("n", "levels"), [(4, None), (40, None), (40, 2), (1000, None)])
def test_scikit_learns_value(n, levels, kind, mean):
    for n_classes in (3, 4):
        y_true, y_score = data(n, n_classes, levels)
        found = roc_auc_score(y_true, y_score, multi_class=kind, class_average=mean)
        expected = sklearn.metrics.roc_auc_score(y_true, y_score, multi_class=kind, average=mean)
        assert found == pytest.approx(expected, rel=1e-12)
        if n < 100:
            assert found == pytest.approx(by_pairs(y_true, y_score, kind, mean), rel=1e-12)


@every_setting
def test_scores_need_not_be_probabilities(kind, mean):
    y_true, y_score = data(60, 3)
    expected = roc_auc_score(y_true, y_score, multi_class=kind, class_average=mean)
    odds = np.log(y_score) * 3 - [1.0, 0.0, 7.0]
    found = roc_auc_score(y_true, odds, multi_class=kind, class_average=mean)
    assert found == pytest.approx(expected)


@every_setting
def test_labels_of_any_kind_in_any_order(kind, mean):
    column, y_score = data(50, 3)
    parameters = {"multi_class": kind, "class_average": mean}
    expected = roc_auc_score(column, y_score, **parameters)
    names = np.array(["ash", "oak", "yew"])
    assert roc_auc_score(names[column], y_score, **parameters) == expected
    assert roc_auc_score(list(names[column]), y_score.tolist(), **parameters) == expected
    turned = y_score[:, [2, 0, 1]]
    labels = ["yew", "ash", "oak"]
    found = roc_auc_score(names[column], turned, labels=labels, **parameters)
    assert found == pytest.approx(expected)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(y_score), pandas.Series(names[column], index=range(50)[::-1])
    assert roc_auc_score(frame[1], frame[0], **parameters) == expected


@every_setting
def test_many_lists_and_weights(kind, mean):
    parameters = {"multi_class": kind, "class_average": mean}
    column, y_score = data(120, 3, levels=4, seed=1)
    qid = np.arange(120) % 5
    weight = np.random.default_rng(2).integers(0, 4, 120)
    values, ids = roc_auc_score(
        column, y_score, qid=qid, sample_weight=weight, average=None, return_qid=True, **parameters
    )
    assert ids.tolist() == [0, 1, 2, 3, 4]
    for query, value in zip(ids, values, strict=True):
        rows = np.repeat(np.flatnonzero(qid == query), weight[qid == query])
        assert value == pytest.approx(roc_auc_score(column[rows], y_score[rows], **parameters))
        assert value == pytest.approx(by_pairs(column[rows], y_score[rows], kind, mean))
    real = np.random.default_rng(3).uniform(0.1, 2, 120)
    if kind == "ovr":
        found = roc_auc_score(column, y_score, sample_weight=real, **parameters)
        expected = sklearn.metrics.roc_auc_score(
            column, y_score, sample_weight=real, multi_class=kind, average=mean
        )
        assert found == pytest.approx(expected)


def test_a_list_that_lacks_a_class_is_undefined():
    column, y_score = data(30, 3)
    qid = np.where(np.arange(30) < 20, 0, 1)
    column[qid == 1] %= 2
    for kind in ("ovr", "ovo"):
        with pytest.warns(UndefinedMetricWarning, match="no item of one of the classes"):
            values = roc_auc_score(column, y_score, multi_class=kind, qid=qid, average=None)
        assert np.isnan(values).tolist() == [False, True]
        with pytest.raises(ValueError, match="undefined"):
            roc_auc_score(column, y_score, multi_class=kind, qid=qid, undefined="raise")
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(roc_auc_score([0, 0], [[1, 0], [0, 1]], multi_class="ovo", labels=[0, 1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"multi_class": None}, "pass multi_class='ovr' or 'ovo'"),
        ({"multi_class": None, "labels": [0, 1, 2]}, "pass multi_class"),
        ({"multi_class": "all"}, "multi_class='all'"),
        ({"class_average": "micro"}, "class_average='micro'"),
        ({"labels": [0, 1]}, "labels has 2 classes, but y_score has 3 columns"),
        ({"labels": [0, 1, 1]}, "repeats a class"),
        ({"labels": [0, 1, 7]}, "label 2 at row 2"),
        ({"y_true": [0, 1, 0, 1]}, "2 classes, but y_score has 3 columns"),
        ({"y_true": [0, 1, 2]}, "3 labels, but y_score has 4 rows"),
        ({"y_score": [[1.0, np.nan, 0.0]] * 4}, "NaN at row 0, column 1"),
        ({"y_score": [0.1, 0.2, 0.3, 0.4]}, "one column of numbers"),
        ({"y_score": [["a", "b", "c"]] * 4}, "one column of numbers"),
        ({"pos_label": 1}, "pos_label"),
        ({"y_true": ["a", None, "b", "c"]}, "different types or missing labels"),
    ],
)
def test_bad_input_is_refused(change, message):
    y_score = np.random.default_rng(0).random((4, 3))
    given = {"y_true": [0, 1, 2, 1], "y_score": y_score, "multi_class": "ovr", **change}
    with pytest.raises(ValueError, match=message):
        roc_auc_score(given.pop("y_true"), given.pop("y_score"), **given)


def test_what_it_says_of_itself():
    measure = get_measure("auc", multi_class="ovo")
    assert measure == get_measure(roc_auc_score, multi_class="ovo")
    assert measure.name == "auc(multi_class='ovo')"
    assert repr(measure) == "get_measure('auc', multi_class='ovo')"
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert measure != get_measure("auc")
    assert measure.range == (0.0, 1.0)
    # What holds for pairs of two samples is not known for their means.
    assert measure.theorems == ()
    assert measure.positional is None
    assert not measure.has_influence


# -------------------------------------------------------------------------------------- scorers


@every_setting
def test_a_scorer_in_searches(kind, mean):
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=2.0, size=X.shape)
    names = np.array(["b", "c", "a"])[y]
    scorer = get_scorer("auc", multi_class=kind, class_average=mean)
    model = LogisticRegression(max_iter=1000)
    theirs = sklearn.metrics.make_scorer(
        sklearn.metrics.roc_auc_score,
        response_method="predict_proba",
        multi_class=kind,
        average=mean,
    )
    for labels in (y, names):
        # Ours ranks by decision_function, theirs needs probabilities.
        fitted = model.fit(X, labels)
        expected = roc_auc_score(
            labels, fitted.decision_function(X), multi_class=kind, class_average=mean
        )
        assert scorer(fitted, X, labels) == pytest.approx(expected)
        assert scorer(fitted, X, labels) == pytest.approx(theirs(fitted, X, labels), abs=0.05)
        assert cross_val_score(model, X, labels, scoring=scorer, cv=3).min() > 0.6
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, scoring=scorer, error_score="raise")
    assert search.fit(X, names).best_score_ > 0.6


def test_scorers_that_cannot_work_say_so():
    X, y = load_iris(return_X_y=True)
    scorer = get_scorer("auc", multi_class="ovr")
    assert repr(scorer) == "get_scorer('auc', multi_class='ovr')"
    model = LogisticRegression(max_iter=1000).fit(X, y)
    with pytest.raises(ValueError, match="No row has the label 2"):
        scorer(model, X[:100], y[:100])
    for wrong in (Ridge(), LogisticRegression()):
        fitted = wrong.fit(X[:100], y[:100])
        with pytest.raises(ValueError, match="leave out multi_class"):
            scorer(fitted, X[:100], y[:100])
