"""The ensemble for one list: its definition, kinds of rows, and habits."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import RankEnsembleClassifier
from sklearn_rank._ensembles import _ensemble_classifier
from sklearn_rank._ensembles._ensemble_classifier import Stack
from sklearn_rank.datasets import make_bipartite_ranking
from sklearn_rank.metrics import average_precision_score, get_measure
from sklearn_rank.rankers._two_classes import TwoClasses
from tests.model_selection.estimators import Column
from tests.naming import for_each
from tests.oracles import stack as oracle

MEMBERS = [
    ("linear", LogisticRegression()),
    ("bayes", GaussianNB()),
    ("trees", ExtraTreesClassifier(8, min_samples_leaf=3, random_state=0)),
]


def draw(seed=0, n=400, share=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] ** 2 + rng.logistic(size=n)
    return X, (score > np.quantile(score, 1.0 - share)).astype(int)


class Wrong(ClassifierMixin, BaseEstimator):
    """The order upside down, which cannot be had after the fit to all rows."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.n_rows_ = np.unique(y), len(y)
        return self

    def decision_function(self, X):
        if self.n_rows_ == 400:
            raise RuntimeError("asked for scores")
        return -X[:, 0] - X[:, 1] ** 2


# --------------------------------------------------------------------------------- the definition


@pytest.mark.parametrize("weighted", [False, True])
def test_shares_are_half_way_from_equal_ones_to_where_no_step_raises_the_measure(weighted):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        _, y = draw(seed, 150)
        weight = rng.integers(1, 4, 150).astype(float) if weighted else np.ones(150)
        odds = np.column_stack(
            [scale * (signal * y + rng.normal(size=150)) for scale, signal in SIGNALS]
        )
        rows = TwoClasses.of_rows(np.array([0, 1]), 1, y == 1, weight)
        stack, z = Stack(odds, rows, get_measure("ap")), oracle.standardised(odds, weight)

        def value(shares, y=y, z=z, weight=weight):
            return oracle.average_precision(y, z @ shares, weight)

        reached = 2.0 * stack.weights - 1.0 / 3.0
        if (stack.weights > 0.0).all():
            assert value(reached) > max(map(value, oracle.moves(reached))) - 1e-12
            assert value(reached) >= value(np.full(3, 1.0 / 3.0))
        assert stack.weights.sum() == pytest.approx(1.0)
        expected = oracle.calibration(z @ stack.weights, y == 1, weight)
        np.testing.assert_allclose((stack.slope, stack.constant), expected, atol=0.01)


SIGNALS = ((1.0, 1.5), (5.0, 1.0), (0.1, 0.4))


def test_decision_values_are_the_weighted_log_odds_of_the_members():
    X, y = draw(2)
    ensemble = RankEnsembleClassifier(MEMBERS, tau=0.1).fit(X, y)
    new, _ = draw(3)

    def log_odds(model, rows):
        share = np.clip(model.predict_proba(rows)[:, 1], 1e-12, 1.0 - 1e-12)
        return np.log(share / (1.0 - share))

    held_out = np.empty((400, 3))
    for train, test in StratifiedKFold(5).split(X, y):
        for i, (_, member) in enumerate(MEMBERS):
            held_out[test, i] = log_odds(member.fit(X[train], y[train]), X[test])
    np.testing.assert_allclose(ensemble.held_out_scores_, held_out)
    z = oracle.standardised(held_out, np.ones(400))
    slope, constant = oracle.calibration(z @ ensemble.weights_, y == 1, np.ones(400))
    odds = np.column_stack([log_odds(model, new) for model in ensemble.estimators_])
    score = (odds - held_out.mean(axis=0)) / held_out.std(axis=0) @ ensemble.weights_
    decision = ensemble.decision_function(new)
    np.testing.assert_allclose(decision, slope * score + constant, atol=0.01)
    np.testing.assert_allclose(ensemble.predict_proba(new)[:, 1], 1 / (1 + np.exp(-decision)))
    np.testing.assert_array_equal(ensemble.predict(new), (decision > 0).astype(int))


def test_the_comparison_is_of_rows_that_neither_members_nor_weights_have_seen():
    X, y = draw(4)
    ensemble = RankEnsembleClassifier(MEMBERS, tau=0.1).fit(X, y)
    scores, whole = ensemble.held_out_scores_, np.empty(400)
    for train, test in StratifiedKFold(5).split(X, y):
        rows = TwoClasses.of_rows(np.array([0, 1]), 1, y[train] == 1, np.ones(len(train)))
        whole[test] = Stack(scores[train], rows, get_measure("ap")).values(scores[test])
    expected = [average_precision_score(y, s) for s in (whole, *scores.T)]
    np.testing.assert_allclose(ensemble.comparison_.values, expected)
    assert ensemble.comparison_.names == ("ensemble", "linear", "bayes", "trees")
    assert ensemble.top_threshold_ == pytest.approx(np.quantile(whole, 0.9), abs=0.1)
    assert ensemble.fit_times_.shape == (3,)


def test_equal_and_given_weights_are_shares_of_standardised_scores():
    X, y = draw(5)
    equal = RankEnsembleClassifier(MEMBERS, weights="equal").fit(X, y).weights_
    np.testing.assert_allclose(equal, equal[0])
    given = RankEnsembleClassifier(MEMBERS, weights=[2, 0, 1]).fit(X, y).weights_
    np.testing.assert_allclose(given / given[2], [2.0, 0.0, 1.0])


def test_a_member_that_does_not_help_is_not_asked():
    X, y = draw(6)
    ensemble = RankEnsembleClassifier([*MEMBERS, ("wrong", Wrong())], cv=3).fit(X, y)
    assert ensemble.weights_[-1] == 0.0
    assert np.isfinite(ensemble.decision_function(X)).all()


def test_the_top_threshold_flags_the_share_of_new_rows():
    X, y = draw(8, 6000)
    for positive in ("a", "z"):
        labels = np.where(y == 1, positive, "m")
        ensemble = RankEnsembleClassifier(MEMBERS[:2], tau=0.1, pos_label=positive)
        ensemble.fit(X[:2000], labels[:2000])
        decision = ensemble.decision_function(X[2000:])
        beyond = decision - ensemble.top_threshold_
        flagged = beyond < 0 if positive == "a" else beyond > 0
        assert flagged.mean() == pytest.approx(0.1, abs=0.02)
        assert np.mean(labels[2000:][flagged] == positive) > 0.7
        np.testing.assert_array_equal(
            np.sort(ensemble.top(X[2000:], 50)),
            np.sort(np.argsort(decision if positive == "z" else -decision)[-50:]),
        )


# ----------------------------------------------------------------------------------- kinds of rows


@pytest.fixture
def few_trees(monkeypatch):
    """Default members of few trees, for tests of something else than how well they rank."""
    boosted = _ensemble_classifier.boosted_trees
    monkeypatch.setattr(
        _ensemble_classifier,
        "ExtraTreesClassifier",
        lambda _, **options: ExtraTreesClassifier(8, **options),
    )
    monkeypatch.setattr(
        _ensemble_classifier, "boosted_trees", lambda *of: boosted(*of).set_params(max_iter=15)
    )


def frame(n=600):
    rng = np.random.default_rng(9)
    rows = pd.DataFrame(
        {
            "amount": rng.lognormal(size=n),
            "kind": rng.choice(["x", "y", None], n),
            "place": pd.Categorical(rng.choice(["u", "v"], n)),
            "weekend": rng.random(n) < 0.5,
            "count": rng.integers(0, 5, n),
        }
    )
    score = np.log(rows["amount"]) + 2.0 * (rows["kind"] == "x") + rng.normal(size=n)
    rows.loc[::9, "amount"] = np.nan
    return rows, (score > np.quantile(score, 0.8)).to_numpy().astype(int)


def test_default_members_take_data_frames_with_categories_and_missing_values(few_trees):
    rows, y = frame()
    ensemble = RankEnsembleClassifier(cv=2, random_state=0).fit(rows[:400], y[:400])
    assert list(ensemble.named_estimators_) == ["boosted", "extra trees", "splines"]
    assert (ensemble.weights_ > 0.1).sum() >= 2
    new = rows[400:].assign(kind=lambda part: part["kind"].where(part["amount"] > 0.1, "new"))
    assert ensemble.score(new, y[400:]) > 0.6
    # Values of a column that orders the rows are not taken for numbers.
    again = rows.assign(kind=rows["kind"].map({"x": "b", "y": "a"}))
    other = RankEnsembleClassifier(cv=2, random_state=0).fit(again[:400], y[:400])
    assert other.score(again[400:], y[400:]) > 0.6
    with pytest.raises(ValueError, match="feature names"):
        ensemble.predict(new.rename(columns={"kind": "sort"}))


def test_columns_of_numbers_may_be_of_any_type_and_what_is_no_number_is_refused(few_trees):
    rows, y = frame(150)
    rows["nullable"] = pd.array([1, None, 3] * 50, dtype="Int64")
    plain = rows.assign(nullable=rows["nullable"].astype(float))
    first, second = (RankEnsembleClassifier(cv=2, random_state=0).fit(x, y) for x in (rows, plain))
    np.testing.assert_array_equal(first.decision_function(rows), second.decision_function(plain))
    for column, message in (
        (pd.date_range("2020-01-01", periods=150), r"'new' holds dates.*leave the column out"),
        (np.nan, r"columns \['new'\] have no value"),
    ):
        with pytest.raises(ValueError, match=message):
            RankEnsembleClassifier(cv=2, random_state=0).fit(rows.assign(new=column), y)
    array = np.column_stack([plain["count"], np.full(150, np.nan)])
    with pytest.raises(ValueError, match=r"columns \[1\] have no value"):
        RankEnsembleClassifier(cv=2, random_state=0).fit(array, y)


def test_default_members_take_sparse_rows(few_trees):
    rng = np.random.default_rng(10)
    X = sp.random(500, 60, 0.1, format="csr", random_state=0)
    y = (np.asarray(X[:, :10].sum(axis=1)).ravel() + 0.3 * rng.normal(size=500) > 1.0).astype(int)
    ensemble = RankEnsembleClassifier(cv=2, random_state=0).fit(X[:300], y[:300])
    assert list(ensemble.named_estimators_) == ["extra trees", "linear"]
    assert ensemble.score(X[300:].tocoo(), y[300:]) > 2.0 * y.mean()


@pytest.mark.parametrize("n", [6, 40])
def test_default_members_take_few_rows(n, few_trees):
    X, y = draw(11, n)
    ensemble = RankEnsembleClassifier(cv=2, random_state=0, tau=0.2).fit(X, y)
    assert np.isfinite(ensemble.predict_proba(X)).all()


def test_same_seed_same_result(few_trees):
    X, y = draw(12, 100)
    first, second, other = (
        RankEnsembleClassifier(cv=2, random_state=seed).fit(X, y).decision_function(X)
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, second)
    assert np.any(first != other)


# ------------------------------------------------------------------------------------------ habits


def test_rows_of_weight_0_are_ignored_and_weights_go_to_the_members():
    X, y = draw(13)
    weight = np.where(np.arange(400) < 300, 1.0, 0.0)
    members = MEMBERS[:2]
    zero = RankEnsembleClassifier(members, cv=2).fit(X, y, sample_weight=weight)
    part = RankEnsembleClassifier(members, cv=2).fit(X[:300], y[:300])
    np.testing.assert_allclose(zero.decision_function(X), part.decision_function(X))
    heavy = RankEnsembleClassifier(members, cv=2).fit(X, y, np.where(X[:, 0] > 0, 3.0, 1.0))
    assert np.abs(heavy.decision_function(X) - part.decision_function(X)).max() > 0.05
    for i in range(2):
        expected = average_precision_score(
            y, heavy.held_out_scores_[:, i], sample_weight=np.where(X[:, 0] > 0, 3.0, 1.0)
        )
        assert heavy.comparison_.values[1 + i] == pytest.approx(expected)
    # Weights of any scale, fractions included, say the same.
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 400)
    one, mean_one, large = (
        RankEnsembleClassifier(MEMBERS[1:], cv=2).fit(X, y, weight / scale).decision_function(X)
        for scale in (weight.sum(), weight.mean(), 1.0 / 64.0)
    )
    np.testing.assert_allclose(one, mean_one, rtol=1e-9)
    np.testing.assert_allclose(large, mean_one, atol=0.05)
    # Where one row has nearly all weight, limits are wide.
    few = RankEnsembleClassifier(members, cv=2).fit(X, y, np.where(np.arange(400) == 7, 1e4, 1.0))
    assert np.isfinite(few.decision_function(X)).all()
    assert max(few.comparison_.low) < 0.0 < min(few.comparison_.high)
    with pytest.raises(TypeError, match="takes weights"):
        RankEnsembleClassifier([("neighbours", KNeighborsClassifier())]).fit(X, y, weight + 1.0)


def test_another_measure_needs_no_new_fits():
    X, y = draw(19)
    ensemble = RankEnsembleClassifier(MEMBERS, tau=0.1, cv=2).fit(X, y)
    members, before = ensemble.estimators_, ensemble.decision_function(X)
    with pytest.raises(ValueError, match="nonsense"):
        ensemble.reweight("nonsense")
    np.testing.assert_array_equal(ensemble.decision_function(X), before)
    assert ensemble.measure == "ap"
    assert ensemble.reweight("precision@top0.1").estimators_ is members
    again = RankEnsembleClassifier(MEMBERS, tau=0.1, cv=2, measure="precision@top0.1").fit(X, y)
    np.testing.assert_array_equal(ensemble.decision_function(X), again.decision_function(X))
    assert str(ensemble.comparison_) == str(again.comparison_)
    assert np.any(ensemble.decision_function(X) != before)


def test_groups_stay_whole():
    X, y = draw(14, 300)
    X, y, groups = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(300), 4)
    neighbours = [("neighbours", KNeighborsClassifier(1)), ("linear", LogisticRegression())]
    leaking, whole, given = (
        RankEnsembleClassifier(neighbours, cv=cv).fit(X, y, groups=ids)
        for cv, ids in ((StratifiedKFold(5, shuffle=True, random_state=0), None), (5, groups),
                        (GroupKFold(5), groups))
    )  # fmt: skip
    assert leaking.comparison_.values[1] > 0.9
    for ensemble in (whole, given):
        assert ensemble.comparison_.values[1] < 0.6
        assert "in 300 groups" in str(ensemble.comparison_)


@for_each(
    ("options", "y", "error", "message"),
    [
        ({"estimators": []}, None, ValueError, "non-empty list of pairs"),
        ({"estimators": [("a", LogisticRegression)]}, None, ValueError, "is not an estimator"),
        ({"estimators": [("a", StandardScaler())]}, None, TypeError, "not a classifier"),
        ({"weights": [1, 2]}, None, ValueError, "must contain 3 numbers"),
        ({"weights": [1, -2, 1]}, None, ValueError, "must contain 3 numbers"),
        ({"measure": "nonsense"}, None, ValueError, "nonsense"),
        ({"cv": [([0, 1], [2, 3])]}, None, ValueError, "not a partition"),
        ({}, [1] + 19 * [0], ValueError, "at least two rows of each"),
        ({}, 20 * [0], ValueError, "two classes"),
        ({}, [0, 1, 2, 3] * 5, ValueError, "Only binary classification"),
    ],
)
def test_bad_input_is_refused_and_leaves_no_half_fitted_object(options, y, error, message):
    X = np.random.default_rng(16).normal(size=(20, 2))
    ensemble = RankEnsembleClassifier(**({"estimators": MEMBERS} | options))
    with pytest.raises(error, match=message):
        ensemble.fit(X, [0, 1] * 10 if y is None else y)
    assert not [name for name in vars(ensemble) if name.endswith("_")]


def test_rows_that_are_separated_keep_finite_log_odds_and_noise_keeps_its_order():
    X = np.linspace(-1.0, 1.0, 60)[:, np.newaxis]
    y = (X[:, 0] > 0).astype(int)
    tree = [("tree", DecisionTreeClassifier(random_state=0))]
    ensemble = RankEnsembleClassifier(tree, tau=0.3).fit(X, y)
    assert 2.0 < np.abs(ensemble.decision_function(X)).max() < 50.0
    ensemble = RankEnsembleClassifier([("column", Column())], tau=0.3).fit(X, 1 - y)
    assert (np.diff(ensemble.decision_function(X)) > 0.0).all()


@pytest.mark.slow
def test_the_default_ranks_well_beside_its_best_member():
    X, y = make_bipartite_ranking(3000, return_X_y=True, random_state=0)
    ensemble = RankEnsembleClassifier(random_state=0).fit(X[:1000], y[:1000])
    best = max(
        average_precision_score(y[1000:], model.predict_proba(X[1000:])[:, 1])
        for model in ensemble.estimators_
    )
    assert ensemble.score(X[1000:], y[1000:]) > 0.9 * best
