"""Scorers of estimators that score the labels of each row."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import (
    coverage_error,
    label_ranking_average_precision_score,
    label_ranking_loss,
    ndcg_score,
)
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_rank import OrderPreservingLabelRanker
from sklearn_rank.exceptions import ScorerSetupError
from sklearn_rank.metrics import get_measure, get_scorer, roc_auc_score, tau_b_score
from sklearn_rank.model_selection import make_bound_scorer


class LeastSquares(OrderPreservingLabelRanker):
    """Ridge regression of the share of labels below, missing ones at a half."""

    def __init__(self, alpha=1.0, *, target_type="auto", measure="tau_b"):
        self.alpha = alpha
        self.target_type = target_type
        self.measure = measure

    def fit(self, X, y, sample_weight=None):
        X, orders, weight = self._labelled(X, y, sample_weight)
        below = orders.grades[:, :, np.newaxis] > orders.grades[:, np.newaxis]
        self.coef_ = Ridge(self.alpha).fit(X, below.mean(axis=2), weight)
        return self

    def _scores(self, X):
        return self.coef_.predict(X)


def positions_of(utility):
    return (-utility).argsort(axis=1).argsort(axis=1) + 1


@pytest.fixture
def data():
    """Rows, and the utilities of four labels: all different."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    return X, X @ rng.normal(size=(5, 4)) + rng.normal(size=(90, 4))


def in_words(utility):
    return [">".join("abcd"[i] for i in row) for row in (-utility).argsort(axis=1)]


FORMS = {
    "utilities": lambda u: u,
    "positions": positions_of,
    "frame": lambda u: pd.DataFrame(u, columns=list("wxyz")),
    "orders": in_words,
    "missing": lambda u: np.where((u > 1.0) & (np.arange(4) > 1), np.nan, u),
}
every_form = pytest.mark.parametrize("form", FORMS)
both_routings = pytest.mark.parametrize("routing", [False, True])


def ranker_of(form, **parameters):
    return LeastSquares(
        target_type=form if form in ("positions", "orders") else "utilities", **parameters
    )


# ------------------------------------------------------------------------------ rankers of labels


@pytest.mark.parametrize(("form", "routing"), [(form, i % 2 == 0) for i, form in enumerate(FORMS)])
def test_rankers_in_cross_validation_and_searches(form, routing, data):
    X, utility = data
    y = FORMS[form](utility)
    ranker = ranker_of(form)
    with sklearn.config_context(enable_metadata_routing=routing):
        scorer = get_scorer("tau_b")
        own = cross_val_score(ranker, X, y, cv=2, error_score="raise")
        found = cross_val_score(ranker, X, y, scoring=scorer, cv=2, error_score="raise")
        np.testing.assert_array_equal(found, own)
        assert found.mean() > 0.4
        grid = {"leastsquares__alpha": [1e-3, 1e4]}
        pipeline = make_pipeline(StandardScaler(), ranker)
        search = GridSearchCV(pipeline, grid, scoring=scorer, cv=2, error_score="raise").fit(X, y)
        assert search.best_params_ == {"leastsquares__alpha": 1e-3}
        expected = search.best_estimator_[-1].score(search.best_estimator_[:-1].transform(X), y)
        assert search.score(X, y) == scorer(search, X, y) == expected
        nested = cross_val_score(search, X, y, scoring=scorer, cv=2, error_score="raise")
        assert nested.min() > 0.3


def test_the_value_is_that_of_the_measure(data):
    X, utility = data
    ranker = ranker_of("positions").fit(X, positions_of(utility))
    scores = ranker.predict(X)
    y = positions_of(utility)
    for name, sign in (("tau_b", 1), ("top1", 1), ("spearman", 1)):
        expected = sign * get_measure(name)(utility, scores)
        assert get_scorer(name)(ranker, X, y) == pytest.approx(expected)
    ndcg = get_measure("ndcg@3", gain="exponential")(4 - y, scores)
    assert get_scorer("ndcg@3")(ranker, X, y) == pytest.approx(ndcg)
    covered = get_measure("coverage", rel=2)(4 - y, scores)
    assert get_scorer("neg_coverage", rel=2)(ranker, X, y) == pytest.approx(-covered)
    # Measures of one list are means over the rows as well.
    rows = np.repeat(np.arange(len(X)), 4)
    auc = roc_auc_score((4 - y).ravel(), scores.ravel(), qid=rows, rel=2)
    assert get_scorer("auc(rel>=2)")(ranker, X, y) == pytest.approx(auc)


@both_routings
def test_many_scorers(routing, data):
    X, utility = data
    y = positions_of(utility)
    names = ("tau_b", "ndcg@3", "neg_coverage(rel>=2)", "ap(rel>=2)")
    with sklearn.config_context(enable_metadata_routing=routing):
        result = cross_validate(
            ranker_of("positions"),
            X,
            y,
            scoring={name: get_scorer(name) for name in names},
            error_score="raise",
        )
        for name in names:
            alone = cross_val_score(ranker_of("positions"), X, y, scoring=get_scorer(name))
            np.testing.assert_array_equal(result[f"test_{name}"], alone)


def test_weights_of_rows(data):
    X, utility = data
    y = positions_of(utility).astype(float)
    ranker = ranker_of("positions").fit(X, y)
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    # What has no weight is not looked at.
    y[weight == 0] = -5
    for name in ("tau_b", "rr(rel>=3)", "ndcg"):
        scorer = get_scorer(name)
        expected = scorer(ranker, X[rows], y[rows])
        assert scorer(ranker, X, y, sample_weight=weight) == pytest.approx(expected)
        assert scorer(ranker, X, y, query_weight=weight) == pytest.approx(expected)
    expected = get_scorer("tau_b")(ranker, X, y, sample_weight=weight)
    assert ranker.score(X, y, sample_weight=weight) == expected
    with pytest.raises(ScorerSetupError, match="are both weights of rows"):
        get_scorer("tau_b")(ranker, X, y, sample_weight=weight, query_weight=weight)


def test_weights_reach_the_scorer_of_a_search(data):
    X, utility = data
    y, weight = positions_of(utility), np.random.default_rng(2).uniform(0, 2, len(X))
    expected = []
    for train, test in GroupKFold(3).split(X, groups=np.arange(len(X))):
        ranker = ranker_of("positions").fit(X[train], y[train], weight[train])
        expected.append(ranker.score(X[test], y[test], weight[test]))
    search = partial(
        GridSearchCV, param_grid={"alpha": [1.0]}, cv=GroupKFold(3), error_score="raise"
    )
    groups = np.arange(len(X))
    off = search(ranker_of("positions"), scoring=get_scorer("tau_b", qid=False))
    off.fit(X, y, groups=groups, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("tau_b", qid=False).set_score_request(sample_weight=True)
        ranker = ranker_of("positions").set_fit_request(sample_weight=True)
        on = search(ranker, scoring=scorer).fit(X, y, groups=groups, sample_weight=weight)
    for one in (off, on):
        found = [one.cv_results_[f"split{i}_test_score"][0] for i in range(3)]
        np.testing.assert_allclose(found, expected)


@both_routings
def test_classes_are_labels(routing, data):
    X, utility = data
    y = np.array(["low", "mid", "high", "top"])[utility.argmax(axis=1)]
    with sklearn.config_context(enable_metadata_routing=routing):
        ranker = LeastSquares(target_type="classes")
        value = cross_val_score(ranker, X, y, scoring=get_scorer("top1"), error_score="raise")
        assert value.mean() > 0.5
        ranker.fit(X, y)
        top = ranker.labels_[ranker.predict(X).argmax(axis=1)]
        assert get_scorer("top1")(ranker, X, y) == pytest.approx(np.mean(top == y))


# ----------------------------------------------------------- multi-output and multilabel peers


def test_regressors_of_many_outputs(data):
    X, utility = data
    y = FORMS["missing"](utility)
    for model in (
        Ridge(),
        MultiOutputRegressor(Ridge()),
        make_pipeline(StandardScaler(), Ridge()),
    ):
        model.fit(X, utility)
        expected = tau_b_score(y, model.predict(X))
        for given in (y, pd.DataFrame(y), y.tolist()):
            assert get_scorer("tau_b")(model, X, given) == expected
    search = GridSearchCV(
        Ridge(), {"alpha": [0.1, 1e5]}, scoring=get_scorer("tau_b"), error_score="raise"
    )
    assert search.fit(X, utility).best_params_ == {"alpha": 0.1}


MULTILABEL = [
    OneVsRestClassifier(LogisticRegression()),
    OneVsRestClassifier(RandomForestClassifier(4, random_state=0)),
    MLPClassifier((4,), max_iter=20, random_state=0),
    MultiOutputClassifier(LogisticRegression()),
    MultiOutputClassifier(LinearSVC()),
    RandomForestClassifier(4, random_state=0),
    KNeighborsClassifier(),
    RidgeClassifier(),
    ClassifierChain(LogisticRegression(), random_state=0),
    make_pipeline(StandardScaler(), RandomForestClassifier(4, random_state=0)),
]


def scores_by_hand(model, X):
    """Scores of the labels, from what the classes of the model say."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if not hasattr(model, "predict_proba"):
        return model.predict(X)
    chance = model.predict_proba(X)
    if isinstance(chance, list):
        return np.array(
            [one[:, list(c).index(1)] for one, c in zip(chance, model.classes_, strict=True)]
        ).T
    return chance


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MULTILABEL, ids=lambda model: str(model)[:60])
def test_multilabel_classifiers(model, data):
    X, utility = data
    n_labels = 4
    y = (utility[:, :n_labels] > 0).astype(int)
    model = sklearn.clone(model).fit(X, y)
    scores = scores_by_hand(model, X)
    some = np.flatnonzero(y.any(axis=1))
    expected = np.mean(
        [label_ranking_average_precision_score(y[i : i + 1], scores[i : i + 1]) for i in range(90)]
    )
    for given in (y, y.astype(bool), sp.csr_array(y), pd.DataFrame(y)):
        with pytest.warns(UndefinedMetricWarning):
            found = get_scorer("ap", undefined="skip")(model, X, given)
        rows = np.repeat(some, n_labels)
        value = get_measure("ap")(y[some].ravel(), scores[some].ravel(), qid=rows)
        assert found == pytest.approx(value)
    with pytest.warns(UndefinedMetricWarning):
        found = get_scorer("ap", undefined=1.0)(model, X, y)
    if np.all(np.diff(np.sort(scores, axis=1), axis=1) > 0):
        assert found == pytest.approx(expected)


def test_it_is_scikit_learns_without_ties(data):
    X, utility = data
    y = (utility > 0).astype(int)
    y[y.sum(axis=1) % 4 == 0, 0] ^= 1
    model = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    scores = model.decision_function(X)
    assert get_scorer("ap")(model, X, y) == pytest.approx(
        label_ranking_average_precision_score(y, scores)
    )
    assert get_scorer("neg_coverage")(model, X, y) == pytest.approx(-coverage_error(y, scores))
    assert get_scorer("auc")(model, X, y) == pytest.approx(1 - label_ranking_loss(y, scores))
    ndcg = get_scorer("ndcg@3", gain="linear")(model, X, y)
    assert ndcg == pytest.approx(ndcg_score(y, scores, k=3))


def test_labels_that_the_training_lacked():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = (X @ rng.normal(size=(3, 4)) > 0).astype(int)
    train = y.copy()
    train[:, 0], train[:, 3] = 0, 1
    forest = RandomForestClassifier(5, random_state=0).fit(X, train)
    assert [len(one) for one in forest.classes_] == [1, 2, 2, 1]
    chance = np.array(
        [one @ c for one, c in zip(forest.predict_proba(X), forest.classes_, strict=True)]
    ).T
    assert (chance[:, 0] == 0).all()
    assert (chance[:, 3] == 1).all()
    some = (y.min(axis=1) == 0) & (y.max(axis=1) == 1)
    found = get_scorer("top1")(forest, X[some], y[some])
    assert found == pytest.approx(get_measure("top1")(y[some], chance[some]))


def test_classifiers_of_grades(data):
    X, utility = data
    y = 4 - positions_of(utility)
    forest = RandomForestClassifier(4, random_state=0).fit(X, y)
    expected = np.array(
        [one @ c for one, c in zip(forest.predict_proba(X), forest.classes_, strict=True)]
    ).T
    assert get_scorer("spearman")(forest, X, y) == pytest.approx(
        get_measure("spearman")(y, expected)
    )
    words = np.where(utility > 0, "yes", "no")
    forest.fit(X, words)
    with pytest.raises(ScorerSetupError, match="contains strings: pass grades"):
        get_scorer("tau_b")(Ridge().fit(X, y), X, words)
    with pytest.raises(ScorerSetupError, match="an expected value needs numbers"):
        get_scorer("tau_b")(forest, X, utility)


# ------------------------------------------------------------------------- what cannot be scored


class Constant(RegressorMixin, BaseEstimator):
    def __init__(self, value=0.0, columns=2):
        self.value = value
        self.columns = columns

    def fit(self, X, y):
        return self

    def predict(self, X):
        shape = (len(X), self.columns) if self.columns else len(X)
        return np.full(shape, self.value)


def test_what_cannot_be_scored_says_what_to_do(data):
    X, utility = data
    y, order = positions_of(utility), in_words(utility)
    ranker = ranker_of("orders").fit(X, order)
    refused = partial(pytest.raises, ScorerSetupError)
    with refused(match=r"qid was passed .* each row is a list of labels.*qid=False"):
        get_scorer("tau_b")(ranker, X, order, qid=np.zeros(90))
    with refused(match="single_list=True, but here each row is a list"):
        get_scorer("tau_b", single_list=True)(ranker, X, order)
    with refused(match="pos_label was passed"):
        get_scorer("tau_b", pos_label="a")(ranker, X, order)
    with refused(match=r"get_measure\('ap', rel=1\)"):
        get_scorer("ap")(ranker, X, order)
    with refused(match="get_measure"):
        ranker_of("orders", measure="ap").fit(X, order).score(X, order)
    with refused(match="max_grade="):
        get_scorer("err")(ranker, X, order)
    assert get_scorer("err", max_grade=3)(ranker, X, order) > 0
    with refused(match=r"at least 0, but y has -.*'tau_b'"):
        get_scorer("ndcg")(Ridge().fit(X, utility), X, utility)
    for columns, told in ((0, "one score"), (2, "2 scores")):
        with refused(match=f"gives {told} for each row, but y has 4 labels"):
            get_scorer("tau_b")(Constant(columns=columns), X, y)
    with refused(match="one label per row"):
        make_bound_scorer("tau_b")(ranker, X, order)
    with pytest.raises(ValueError, match="y_score is NaN at row 0, column 0"):
        get_scorer("tau_b")(Constant(np.nan, 4), X, y)


def test_groups_of_a_splitter_with_routing(data):
    X, utility = data
    groups = np.arange(90) % 9
    run = partial(
        cross_val_score, Ridge(), X, utility, cv=GroupKFold(3), params={"groups": groups}
    )
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(ScorerSetupError, match="qid=False"):
            run(scoring=get_scorer("tau_b"), error_score="raise")
        assert run(scoring=get_scorer("tau_b", qid=False), error_score="raise").min() > 0


def test_rows_without_an_order_are_left_out(data):
    X, utility = data
    y = utility.copy()
    y[:3] = 1.0
    model = Ridge().fit(X, utility)
    with pytest.warns(UndefinedMetricWarning, match="3 of 90 lists"):
        found = get_scorer("tau_b")(model, X, y)
    assert found == pytest.approx(get_scorer("tau_b")(model, X[3:], y[3:]))


def test_a_column_is_still_a_vector(data):
    X, utility = data
    y = utility[:, :1].round()
    with pytest.warns(match="is a column"):
        assert get_scorer("tau_b", single_list=True)(Ridge().fit(X, y), X, y) > 0
