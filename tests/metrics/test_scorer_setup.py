"""What no candidate of a search can mend fails or warns, whatever tool calls the scorer."""

import pickle
import re
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import AccuracyAtTopRanker, OrderPreservingRanker
from sklearn_rank.exceptions import (
    CalibrationWarning,
    QuerySetupError,
    ScorerSetupError,
    SmallTopWarning,
)
from sklearn_rank.metrics import (
    expected_reciprocal_rank_score,
    get_measure,
    get_scorer,
    make_measure,
    precision_at_top_score,
)
from sklearn_rank.metrics._scorer import own_pos_label
from sklearn_rank.model_selection import BoundSearchCV, make_bound_scorer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = (X[:, 0] + RNG.normal(size=90) > 0.8).astype(int)
NAMED = np.where(Y, "fraud", "ok")
GRADE = np.tile([0, 1, 0, 3, 0, 1, 0, 4, 2], 10)
QID = np.repeat(np.arange(30), 3)


class Scores(BaseEstimator):
    """No classifier: scores by the first feature, whatever the labels are."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0]


def first(labels, scores):
    return float(labels[np.argmax(scores)])


SETUPS = {
    "no ids": (LogisticRegression(), get_scorer("ap", qid="groups"), Y, "got no qid"),
    "no positive class": (
        LogisticRegression(),
        get_scorer("precision@top0.1"),
        NAMED,
        "fitted on 'fraud' and 'ok': pass .* to the scorer or the estimator",
    ),
    "no positive class of graded measures": (
        LogisticRegression(),
        get_scorer("ndcg", single_list=True),
        NAMED,
        "positive class is unknown",
    ),
    "no positive class of what is no classifier": (
        Scores(),
        get_scorer("auc"),
        NAMED,
        "auc needs two classes, but y has labels other than 0 and 1 or -1 and 1",
    ),
    "another class": (
        LogisticRegression(),
        get_scorer("auc", pos_label="Fraud"),
        NAMED,
        r"pos_label='Fraud' is not among the classes of \w+, 'fraud', 'ok': pass one of them, to",
    ),
    "no positive class of a limit": (
        LogisticRegression(),
        make_bound_scorer("auc"),
        NAMED,
        "positive class is unknown",
    ),
    "three classes": (LogisticRegression(), get_scorer("auc"), np.arange(90) % 3, "on 3 classes"),
    "no scale of err": (
        Ridge(),
        get_scorer("err", single_list=True),
        GRADE,
        "err has no max_grade, .*4 here.* pass max_grade=",
    ),
    "a measure of one's own": (
        LogisticRegression(),
        make_measure(first),
        Y,
        r"pass get_scorer\(measure\)",
    ),
}
every_setup = pytest.mark.parametrize(
    ("estimator", "scorer", "y", "message"), SETUPS.values(), ids=SETUPS
)


@every_setup
def test_searches_end_or_warn(estimator, scorer, y, message):
    """A scorer that can score no candidate is missed by nobody, whatever the ``error_score``."""
    for tool in ("search", "score", "curve"):
        calls = {
            "search": lambda **told: GridSearchCV(
                estimator, {}, scoring={"one": scorer}, refit=False, cv=3, **told
            ).fit(X, y),
            "score": lambda **told: cross_validate(
                estimator, X, y, scoring={"one": scorer}, cv=3, **told
            ),
            "curve": lambda **told: learning_curve(
                estimator, X, y, scoring=scorer, cv=3, train_sizes=[0.5, 1.0], **told
            ),
        }
        with pytest.raises(ScorerSetupError, match=message):
            calls[tool](error_score="raise")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            calls[tool]()
        told = [str(one.message) for one in caught]
        assert any(re.search(f"(?s)Scoring failed.*{message}", text) for text in told)
        if tool == "search":
            assert "test scores are non-finite" in told[-1]


@pytest.mark.parametrize(
    "backend",
    [
        "threading",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("multiprocessing", "loky")),
    ],
)
def test_in_workers_too(backend):
    told = {"scoring": get_scorer("ap", qid="groups"), "cv": 3, "error_score": "raise"}
    with joblib.parallel_config(backend, n_jobs=2), pytest.raises(ScorerSetupError, match="qid"):
        cross_val_score(LogisticRegression(), X, Y, **told)


@pytest.mark.parametrize("category", [QuerySetupError, ScorerSetupError])
def test_errors_are_ordinary_and_picklable(category):
    assert issubclass(category, ValueError)
    error = pickle.loads(pickle.dumps(category("what to do")))
    assert type(error) is category
    assert str(error) == "what to do"


def test_other_errors_become_the_error_score():
    one_label = np.where(np.arange(90) < 40, 0, 1)
    with pytest.warns(UserWarning, match="Scoring failed"):
        values = cross_val_score(
            Scores(), X, one_label, scoring=get_scorer("auc"), cv=[(range(90), range(30))]
        )
    assert np.isnan(values).all()


def test_misplaced_arguments_that_are_no_estimator_are_an_ordinary_error():
    with pytest.raises(TypeError, match="keywords for all other arguments"):
        get_measure("auc")([0, 1], [1.0, 2.0], [0, 0])


@pytest.mark.filterwarnings(f"ignore::{CalibrationWarning.__module__}.CalibrationWarning")
def test_grades_on_a_scale():
    model = Ridge().fit(X, GRADE)
    value = get_scorer("err", max_grade=4)(model, X, GRADE, qid=QID)
    score = model.predict(X)
    assert value == expected_reciprocal_rank_score(GRADE, score, max_grade=4, qid=QID)
    # Labels among 0 and 1 have one scale.
    value = get_scorer("err")(model, X, Y, qid=QID)
    assert value == expected_reciprocal_rank_score(Y, score, max_grade=1, qid=QID)
    with pytest.raises(ScorerSetupError, match="pass max_grade="):
        get_scorer("err")(model, X, GRADE, qid=QID)
    parts = [(np.arange(60), np.arange(60, 90))]
    with pytest.raises(ValueError, match="err has no max_grade"):
        BoundSearchCV(Ridge(), {"alpha": [1.0]}, measure="err", cv=parts).fit(X, GRADE, qid=QID)
    ranker = OrderPreservingRanker("pointwise_squared", measure=get_measure("err", max_grade=4))
    assert ranker.fit(X, GRADE, qid=QID).score(X, GRADE, qid=QID) > 0
    with pytest.raises(ScorerSetupError, match="pass max_grade="):
        ranker.set_params(measure="err").score(X, GRADE, qid=QID)


# --------------------------------------------------------------------- which class is positive


@pytest.mark.filterwarnings(f"ignore::{SmallTopWarning.__module__}.SmallTopWarning")
def test_the_positive_class_is_that_of_the_top_of_the_list():
    """The lexicographically greater label is not what a search counts."""
    rare = np.where(X[:, 1] > 1.2, "fraud", "ok")
    scoring = get_scorer("precision@top0.02", pos_label="fraud")
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(
        model, {"logisticregression__C": [1e-3, 10.0]}, scoring=scoring, error_score="raise"
    ).fit(X, rare)
    score = search.predict_proba(X)[:, 0]
    expected = precision_at_top_score(rare, score, tau=0.02, pos_label="fraud")
    assert scoring(search, X, rare) == expected
    other = get_scorer("precision@top0.02", pos_label="ok")(search, X, rare)
    assert other == precision_at_top_score(rare, -score, tau=0.02, pos_label="ok")


def test_the_scorer_asks_the_estimator():
    told = AccuracyAtTopRanker(tau=0.2, pos_label="fraud")
    assert own_pos_label(told) == "fraud"
    assert own_pos_label(make_pipeline(StandardScaler(), told)) == "fraud"
    search = GridSearchCV(make_pipeline(StandardScaler(), told), {})
    assert own_pos_label(search) == "fraud"
    assert own_pos_label(FixedThresholdClassifier(told)) == "fraud"
    assert own_pos_label(BoundSearchCV(told, {}, pos_label="ok")) == "ok"
    assert own_pos_label(make_pipeline(StandardScaler(), LogisticRegression())) is None
    assert own_pos_label(None) is None
    # What an ensemble fits has other labels than the ensemble.
    assert own_pos_label(BaggingClassifier(LogisticRegression(), 2).fit(X, NAMED)) is None
    fitted = told.fit(X, NAMED)
    scorer = get_scorer("auc")
    score = fitted.decision_function(X)
    auc = sklearn.metrics.roc_auc_score(NAMED == "fraud", -score)
    assert scorer(fitted, X, NAMED) == pytest.approx(auc)
    # The scorer's own word counts first.
    other = get_scorer("precision@top0.2", pos_label="ok")(fitted, X, NAMED)
    assert other == precision_at_top_score(NAMED, score, tau=0.2, pos_label="ok")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_what_is_no_classifier_reads_labels_by_the_positive_class():
    model = Scores().fit(X, NAMED)
    expected = precision_at_top_score(Y, X[:, 0], tau=0.1)
    assert get_scorer("precision@top0.1", pos_label="fraud")(model, X, NAMED) == expected
    bound = make_bound_scorer("auc", pos_label="fraud")(model, X, NAMED)
    assert bound == make_bound_scorer("auc")(model, X, Y)
    bound = make_bound_scorer("ap", pos_label="fraud")(model, X, NAMED, qid=QID)
    assert bound == make_bound_scorer("ap")(model, X, Y, qid=QID)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("positive", ["fraud", "ok"])
@pytest.mark.parametrize("measure", ["auc", "ap"])
def test_a_search_by_bounds_of_either_class(positive, measure):
    mirrored = (positive == NAMED).astype(int)
    arguments = {"measure": measure, "random_state": 0, "method": "hoeffding"}
    groups = {"groups": QID} if measure == "ap" else {}
    cv = GroupKFold(3) if measure == "ap" else 3
    told = BoundSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, pos_label=positive, cv=cv, **arguments
    ).fit(X, NAMED, **groups)
    expected = BoundSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=cv, **arguments).fit(
        X, mirrored, **groups
    )
    for name in ("mean_test_score", "lower_bound"):
        np.testing.assert_allclose(
            told.cv_results_[name], expected.cv_results_[name], rtol=1e-9, err_msg=name
        )
    assert told.score(X, NAMED, **groups) == pytest.approx(expected.score(X, mirrored, **groups))


def test_a_column_of_labels_in_cross_validation():
    y = X[:, :1] + RNG.normal(size=(90, 1)) > 1.0
    scoring = get_scorer("precision@top0.1")
    expected = cross_val_score(Ridge(), X, y.ravel(), scoring=scoring, cv=3, error_score="raise")
    with pytest.warns(sklearn.exceptions.DataConversionWarning, match="y_true is a column"):
        found = cross_val_score(Ridge(), X, y, scoring=scoring, cv=3, error_score="raise")
    np.testing.assert_allclose(found, expected)
    assert np.ptp(found) > 0 or found[0] != pytest.approx(y.mean())
