"""Selection from training data alone."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.bounds import FunctionClass, auc_bound
from sklearn_rank.metrics import average_precision_score, roc_auc_score
from sklearn_rank.model_selection import StructuralRankSelection

VACUOUS = "The guarantee is vacuous"
quiet = pytest.mark.filterwarnings(f"ignore:{VACUOUS}:UserWarning")


def rows(n=4000, seed=0):
    """A circle, which a polynomial of degree 2 ranks."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] ** 2 + X[:, 1] ** 2 + rng.normal(size=n) > 2).astype(int)


def test_the_degree_that_the_data_bear():
    X, y = rows()
    found = StructuralRankSelection(delta=0.1).fit(X, y)
    assert found.best_value_ == 2
    assert not found.is_vacuous_
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    for degree, bound, limit in zip([1, 2, 3], found.bounds_, found.limits_, strict=True):
        functions = FunctionClass("polynomial", n_features=2, degree=degree)
        expected = auc_bound(n_pos, n_neg, 0.1 / 3, function_class=functions, side="lower")
        assert bound == expected
        assert limit == found.training_scores_[degree - 1] - expected.value
    assert found.limits_[1] == found.limits_.max()
    assert found.training_scores_[1] == roc_auc_score(y, found.decision_function(X))
    np.testing.assert_array_equal(found.predict(X), found.decision_function(X) > 0)


def test_scaling_does_not_leave_the_class():
    X, y = rows(2000)
    plain = StructuralRankSelection().fit(X, y)
    moved = StructuralRankSelection().fit(100.0 * X + 7.0, y)
    np.testing.assert_allclose(moved.limits_, plain.limits_, atol=1e-6)


@quiet
def test_shares_of_delta():
    X, y = rows(500)
    for weights in ([6, 3, 1], lambda degree: {1: 6, 2: 3, 3: 1}[degree]):
        found = StructuralRankSelection(weights=weights).fit(X, y)
        np.testing.assert_allclose([bound.delta for bound in found.bounds_], [0.03, 0.015, 0.005])


@quiet
def test_the_first_features():
    X, y = rows(1000)
    X = np.hstack([X[:, :1] + 3 * y[:, None], X, X, X])[:, :6]
    found = StructuralRankSelection(classes="features").fit(X, y)
    assert found.grid_ == [1, 2, 4, 6]
    assert found.best_value_ == 1
    chosen = StructuralRankSelection(classes="features", grid=[1]).fit(X, y)
    changed = X.copy()
    changed[:, 1:] = 0.0
    np.testing.assert_array_equal(chosen.decision_function(X), chosen.decision_function(changed))


def test_vacuous_classes_are_called_vacuous():
    X, y = rows(300)
    with pytest.warns(UserWarning, match=VACUOUS):
        found = StructuralRankSelection().fit(X, y)
    assert found.is_vacuous_
    # The paper's bound exceeds 1 by far, and its shape picks the smallest class.
    with pytest.warns(UserWarning, match="for the best class the expected AUC is at least -"):
        paper = StructuralRankSelection(method="paper").fit(X, y)
    assert paper.best_value_ == 1
    assert (paper.limits_ < 0).all()


class Threshold(AccuracyAtTopRanker):
    """The order of the first feature, with C as the threshold."""

    def fit(self, X, y):
        self.classes_, self.pos_label_ = np.unique(y), np.max(y)
        self.n_features_in_ = X.shape[1]
        self.coef_, self.threshold_ = np.array([[1.0]]), self.C
        return self


def test_margins():
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % 2
    X = np.clip(rng.normal(2 * y - 1, 0.4), -2, 2)[:, None] / 2
    grid = [0.01, 0.4]
    found = StructuralRankSelection(Threshold(), classes="margin", grid=grid, radius=1.0)
    found.fit(X, y)
    expected = [
        Threshold(C=C).fit(X, y).margin_bound(X, y, radius=1.0, delta=0.05).value for C in grid
    ]
    np.testing.assert_array_equal(found.limits_, expected)
    assert expected[0] < 0.5 < expected[1] + 0.3
    assert found.best_value_ == 0.01
    assert not found.is_vacuous_


def test_few_rows_say_nothing_about_margins():
    X, y = rows(60)
    with pytest.warns(UserWarning, match="for the best class the risk is at most"):
        found = StructuralRankSelection(
            AccuracyAtTopRanker(tau=0.3), classes="margin", grid=[1e-3, 1e-2], radius=10.0
        ).fit(X, y)
    assert found.is_vacuous_
    np.testing.assert_allclose(
        found.limits_,
        [
            AccuracyAtTopRanker(tau=0.3, C=C).fit(X, y).margin_bound(X, y, radius=10.0).value
            for C in (1e-3, 1e-2)
        ],
    )


@quiet
def test_any_linear_classifier_and_no_other():
    X, y = rows(200)
    for learner in (RidgeClassifier(), LogisticRegression(C=0.1), SVC(kernel="linear")):
        expected = StructuralRankSelection(learner, grid=[1, 2]).fit(X, y)
        named = np.array(["ok", "fraud"])[y]
        found = StructuralRankSelection(learner, grid=[1, 2], pos_label="fraud").fit(X, named)
        np.testing.assert_allclose(found.training_scores_, expected.training_scores_, rtol=1e-3)
        assert found.pos_label_ == "fraud"
        assert found.score(X, named) == pytest.approx(expected.score(X, y), rel=1e-3)
    for learner in (SVC(), RandomForestClassifier(n_estimators=2)):
        with pytest.raises(TypeError, match="does not score by X @ coef_ plus a constant"):
            StructuralRankSelection(learner, grid=[1]).fit(X, y)


@quiet
def test_inside_cross_validation_and_after_a_failure():
    X, y = rows(150)
    search = StructuralRankSelection(grid=[1, 2])
    scores = cross_val_score(search, X, y, cv=3, error_score="raise")
    for score, (train, test) in zip(scores, StratifiedKFold(3).split(X, y), strict=True):
        found = clone(search).fit(X[train], y[train])
        assert score == average_precision_score(y[test], found.decision_function(X[test]))
    found = clone(search).fit(X, y)
    before = found.limits_
    with pytest.raises(ValueError, match="one class"):
        found.fit(X, np.ones(150))
    assert found.limits_ is before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": "depth"}, "classes='depth' must be one of"),
        ({"method": "best"}, "method='best' must be one of"),
        ({"delta": 0}, r"delta=0 must be a number in \(0, 1\): the probability of failure"),
        ({"grid": []}, "grid is empty"),
        ({"grid": [2, 1]}, "must be ascending"),
        ({"grid": [1.5]}, "grid contains 1.5, but must contain a whole number"),
        ({"classes": "features", "grid": [3]}, "grid contains 3, but X has 2 features"),
        ({"classes": "margin"}, "radius is None"),
        ({"radius": 1.0}, "radius=1.0 is not used by classes='degree'"),
        ({"classes": "margin", "radius": 1.0, "method": "paper"}, "method='paper' is not used by"),
        ({"classes": "margin", "radius": 1.0, "grid": [0.0]}, "must contain a positive number"),
        ({"classes": "margin", "radius": 1.0, "weights": [1]}, "is not used by classes='margin'"),
        (
            {"classes": "margin", "radius": 0.1, "grid": [0.01]},
            "is not an upper bound of the norms",
        ),
        ({"weights": [1.0]}, r"prior has shape \(1,\), but there are 3 candidates"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        StructuralRankSelection(**arguments).fit(*rows(40))


def test_margins_need_a_ranker_that_has_them():
    with pytest.raises(TypeError, match="has no C and margin_bound"):
        StructuralRankSelection(LogisticRegression(), classes="margin", radius=9.0).fit(*rows(40))
