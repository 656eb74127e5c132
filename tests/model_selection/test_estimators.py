"""Searches among several estimators, and reports that say which one it was."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from sklearn_rank.metrics import average_precision_score, precision_at_top_score
from sklearn_rank.model_selection import BoundSearchCV

from .estimators import ONE, Column, shifted


def rows(n_pos=30, n_neg=60, shifts=(0.2, 1.0, 2.0), seed=0):
    X, y, _ = shifted(n_pos, n_neg, shifts, np.random.default_rng(seed))
    return X, y


def test_several_are_the_union_of_their_candidates():
    X, y = rows()
    one = BoundSearchCV(Column(), {"j": [0, 1, 2]}, cv=ONE, refit=False).fit(X, y)
    forms = [
        [(Column(), {"j": [0, 1]}), Column(j=2)],
        {"first": (Column(), {"j": [0, 1]}), "last": (Column(), {"j": [2]})},
        (Column(j=0), Column(j=1), (Column(j=2), None)),
    ]
    names = [
        ["column-1", "column-1", "column-2"],
        ["first", "first", "last"],
        ["column-1", "column-2", "column-3"],
    ]
    for form, expected in zip(forms, names, strict=True):
        found = clone(BoundSearchCV(form, cv=ONE, refit=False)).fit(X, y)
        assert found.cv_results_["estimator"].tolist() == expected
        for column in ("mean_test_score", "lower_bound", "may_be_best"):
            np.testing.assert_array_equal(found.cv_results_[column], one.cv_results_[column])
        assert found.best_estimator_.get_params() == one.best_estimator_.get_params()
        assert f"Chosen from 3 candidates: {expected[2]}" in str(found.report_)
        assert is_classifier(found)
        np.testing.assert_array_equal(found.predict(X), one.predict(X))
    assert "estimator" not in one.cv_results_


def test_functions_of_the_parameters_see_the_names():
    X, y = rows()
    pairs = {"a": (Column(), {"j": [2, 1]}), "b": Column(j=2)}
    found = BoundSearchCV(
        pairs,
        cv=ONE,
        prior=lambda params: 2.0 if params["estimator"] == "a" else 1.0,
        complexity=lambda params: params["estimator"] == "a",
    ).fit(X, y)
    np.testing.assert_allclose(found.cv_results_["prior"], [0.4, 0.4, 0.2])
    assert found.cv_results_["rank_bound"].tolist()[:2] == [1, 3]
    found.set_params(prior=None).fit(X, y)
    assert found.best_index_ == 2  # of equal ones the simplest
    assert found.best_estimator_.j == 2


def test_one_estimator_without_a_grid():
    X, y = rows()
    found = BoundSearchCV(Column(j=1), cv=ONE, refit=False).fit(X, y)
    assert str(found.report_).startswith("One candidate: as it is.\n")
    assert found.best_params_ == {}


def test_metadata_reach_each_of_them():
    X, y = rows()
    weight = np.where(np.arange(len(y)) % 2, 1.0, 5.0)
    with config_context(enable_metadata_routing=True):
        models = [
            LogisticRegression().set_fit_request(sample_weight=True),
            GaussianNB().set_fit_request(sample_weight=False),
        ]
        found = BoundSearchCV(models, cv=ONE, random_state=0).fit(X, y, sample_weight=weight)
    train, _ = next(ONE.split(X, y))
    weighted = LogisticRegression().fit(X[train], y[train], weight[train])
    plain = GaussianNB().fit(X[train], y[train])
    expected = [
        BoundSearchCV(Fixed(scores), cv=ONE, refit=False).fit(X, y).best_score_
        for scores in (weighted.decision_function, lambda Z: plain.predict_proba(Z)[:, 1])
    ]
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected)


class Fixed(Column):
    """Scores by a function."""

    def __init__(self, function=None):
        super().__init__()
        self.function = function

    def decision_function(self, X):
        return self.function(X)


@pytest.mark.parametrize(
    ("estimator", "grid", "message"),
    [
        ([], None, r"estimator=\[\] contains no estimator"),
        ([Column()], {"j": [1]}, "is for a single estimator, but several"),
        ([("lr", Column())], None, "begins with a name: pass a dict"),
        ([(Column(), {}, 3)], None, "is not a pair of an estimator and its grid"),
        ([Column(), Ridge()], None, "mix classifiers and other estimators"),
        ([(Column(), [])], None, r"param_grid=\[\] contains no candidate"),
    ],
    ids=["empty", "grid", "name", "three", "kinds", "no candidate"],
)
def test_refusals(estimator, grid, message):
    with pytest.raises(ValueError, match=message):
        BoundSearchCV(estimator, grid).fit(*rows())
    with pytest.raises(TypeError, match="is not an estimator: pass an estimator, a list"):
        BoundSearchCV([Column]).fit(*rows())


def test_average_precision_of_one_list_without_ids():
    X, y = rows(60, 120)
    test = next(ONE.split(X, y))[1]
    found = BoundSearchCV(
        Column(),
        {"j": [0, 1, 2]},
        measure="average_precision",
        cv=ONE,
        refit=False,
        random_state=0,
    ).fit(X, y)
    assert found.best_score_ == pytest.approx(average_precision_score(y[test], X[test, 2]))
    assert found.score(X, y) == pytest.approx(average_precision_score(y, X[:, 2]))
    said = str(found.report_)
    assert "Scored by the ap of one list on one held-out part: 24 positives and 48" in said
    assert "Guaranteed: nothing; the following limits are asymptotic, for many rows." in said
    ids = np.arange(180) % 60
    over = [(np.flatnonzero(ids % 2 == 0), np.flatnonzero(ids % 2))]
    means = BoundSearchCV(Column(), {"j": [0, 2]}, measure="ap", cv=over).fit(X, y, groups=ids)
    assert "Scored by the mean ap over queries on one held-out part: 30 queries." in str(
        means.report_
    )
    assert means.report_.bound is not None


def test_precision_at_the_top_has_a_guarantee():
    X, y = rows(100, 300)
    test = next(ONE.split(X, y))[1]
    search = BoundSearchCV(
        Column(), {"j": [0, 1, 2]}, measure="precision@top0.1", cv=ONE, refit=False, random_state=0
    )
    found = search.fit(X, y)
    assert found.best_score_ == pytest.approx(precision_at_top_score(y[test], X[test, 2], tau=0.1))
    assert 0.25 < found.best_bound_ < found.best_score_
    assert "Theorem 10, for all candidates." in str(found.report_)
    assert found.best_bound_ < found.set_params(method="max-t").fit(X, y).best_bound_
    both = found.set_params(method="exact", cv=3).fit(X, y)
    assert "for folds, for all candidates and parts" in str(both.report_)
    constant = search.set_params(cv=ONE).fit(np.zeros((400, 3)), y)
    assert constant.best_bound_ == 0.0
    assert "excludes no value" in str(constant.report_)
    assert "A model that ranks at random (0.25) is not ruled out." in str(constant.report_)
