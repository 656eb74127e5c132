"""Scores that are lower limits."""

from math import log, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank.bounds import auc_fold_mean_bound
from sklearn_rank.exceptions import ScorerSetupError
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import get_measure, ndcg_score
from sklearn_rank.model_selection import BoundSearchCV, make_bound_scorer
from tests.naming import for_each
from tests.oracles import selection as oracle

from .estimators import Column, queries, shifted


def of_integers(seed):
    """A fitted model, rows with tied scores, and labels."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    X = rng.integers(0, 4, (n, 1)).astype(float) + y[:, None]
    return Column().fit(X, y), X, y


@pytest.mark.parametrize("method", ["kl", "hoeffding", "mcdiarmid"])
def test_the_auc_against_the_definition(method):
    for seed in range(40):
        model, X, y = of_integers(seed)
        delta = [0.5, 0.05, 1e-4][seed % 3]
        sizes = int(y.sum()), int((1 - y).sum())
        expected = oracle.lower_limit(oracle.auc(y == 1, X[:, 0]), sizes, delta, method)
        scorer = make_bound_scorer("auc", level=1 - delta, method=method)
        assert scorer(model, X, y) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("measure", ["ndcg@3", "spearman"])
@pytest.mark.parametrize("method", ["kl", "hoeffding", "bernstein"])
def test_a_mean_over_queries_against_the_definition(method, measure):
    low, high = get_measure(measure).range
    for seed in range(10):
        X, y, qid = queries(6 + 20 * (seed % 3), seed)
        model = Ridge().fit(X, y)
        values = get_measure(measure)(y, model.predict(X), qid=qid, average=None)
        shares = (values - low) / (high - low)
        if method == "bernstein":
            expected = max(0.0, oracle.bernstein_lower(shares, 0.1))
        else:
            expected = oracle.lower_limit(shares.mean(), [len(shares)], 0.1, method)
        scorer = make_bound_scorer(measure, level=0.9, method=method)
        found = (scorer(model, X, y, qid=qid) - low) / (high - low)
        assert found == pytest.approx(expected, abs=1e-9)


def test_asymptotic_limits_are_those_of_inference():
    model, X, y = of_integers(7)
    expected = metric_interval("auc", y, X[:, 0], level=0.8).low
    found = make_bound_scorer("auc", level=0.9, method="wilson")(model, X, y)
    assert found == pytest.approx(expected)
    X, y, qid = queries(30)
    model = Ridge().fit(X, y)
    expected = metric_interval("dcg", y, model.predict(X), qid=qid, level=0.9).low
    found = make_bound_scorer("dcg", method="t")(model, X, y, qid=qid)
    assert found == pytest.approx(expected)


def test_candidates_divide_delta_and_the_scorer_says_whom_it_covers():
    model, X, y = of_integers(3)
    five = make_bound_scorer("auc", level=0.95, n_candidates=5)
    assert five(model, X, y) == pytest.approx(make_bound_scorer("auc", level=0.99)(model, X, y))
    assert "for any of 5 models" in five.statement
    assert "for one model" in make_bound_scorer().statement
    assert "asymptotic" in make_bound_scorer(method="wilson").statement
    assert repr(five) == "make_bound_scorer('auc', level=0.95, method='kl', n_candidates=5)"


def test_in_cross_validation_and_searches_with_any_labels():
    X, y, _ = shifted(30, 60, [1.0, 0.2], np.random.default_rng(0))
    named = np.array(["no", "yes"])[y]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    scorer = make_bound_scorer(method="hoeffding", pos_label="yes")
    assert repr(scorer).endswith("n_candidates=1, pos_label='yes')")
    scores = cross_val_score(model, X, named, scoring=scorer, cv=3, error_score="raise")
    plain = cross_val_score(model, X, named, scoring="roc_auc", cv=3)
    np.testing.assert_allclose(plain - scores, sqrt(log(20) / 20))
    search = GridSearchCV(
        model, {"logisticregression__C": [1e-4, 1.0]}, scoring=scorer, error_score="raise"
    ).fit(X, named)
    assert search.score(X, named) == scorer(search.best_estimator_, X, named)


def test_a_recipe_for_grid_search_with_counts():
    """What the user guide shows: scikit-learn's search, with the counts that a bound needs."""
    delta, prior = 0.05, {0.01: 0.9, 1.0: 0.1}

    def n_pos(estimator, X, y):
        return np.count_nonzero(y == estimator.classes_[1])

    def n_neg(estimator, X, y):
        return np.count_nonzero(y == estimator.classes_[0])

    def largest_bound(results):
        counts = [
            [int(results[f"split{j}_test_{name}"][0]) for j in range(4)]
            for name in ("n_pos", "n_neg")
        ]
        width = [
            auc_fold_mean_bound(*counts, delta * prior[params["C"]], side="lower").value
            for params in results["params"]
        ]
        return int(np.argmax(results["mean_test_auc"] - np.array(width)))

    moved = 0
    for seed in range(6):
        X, y, _ = shifted(20, 70, [1.0, 0.2], np.random.default_rng(seed))
        scoring = {"auc": "roc_auc", "n_pos": n_pos, "n_neg": n_neg}
        cv = StratifiedKFold(4)
        model, grid = LogisticRegression(), {"C": list(prior)}
        found = GridSearchCV(model, grid, scoring=scoring, refit=largest_bound, cv=cv).fit(X, y)
        ours = BoundSearchCV(model, grid, prior=list(prior.values()), level=1 - delta, cv=cv)
        ours.fit(X, y)
        assert found.best_index_ == ours.best_index_
        moved += found.best_index_ != np.argmax(found.cv_results_["mean_test_auc"])
    assert moved


def test_ids_travel_as_groups():
    X, y, qid = queries()
    with config_context(enable_metadata_routing=True):
        scorer = make_bound_scorer("ndcg@3", method="hoeffding")
        search = GridSearchCV(
            Ridge(), {"alpha": [0.1, 1.0]}, scoring=scorer, cv=GroupKFold(3), error_score="raise"
        ).fit(X, y, groups=qid)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        named = make_bound_scorer("ndcg@3", qid="qid")
        scores = cross_val_score(
            Ridge(),
            *(X, y),
            scoring=named,
            cv=GroupKFold(3),
            params={"qid": qid, "groups": qid},
            error_score="raise",
        )
    for score, (train, test) in zip(scores, GroupKFold(3).split(X, y, qid), strict=True):
        predicted = Ridge().fit(X[train], y[train]).predict(X[test])
        mean = ndcg_score(y[test], predicted, qid=qid[test], k=3)
        expected = oracle.lower_limit(mean, [len(np.unique(qid[test]))], 0.05, "kl")
        assert score == pytest.approx(expected, abs=1e-9)
    with pytest.raises(ScorerSetupError, match="got no qid"):
        scorer(search.best_estimator_, X, y)


def test_several_outputs_are_refused():
    X, y, _ = shifted(20, 40, (1.0, 0.5), np.random.default_rng(0))
    scorer, both = make_bound_scorer(), np.column_stack([y, 1 - y])
    for labels in (both, both.tolist(), sp.csr_array(both)):
        with pytest.raises(ValueError, match=r"y has shape \(60, 2\), but the limit needs one"):
            scorer(Column().fit(X, y), X, labels)
    for model in (
        DecisionTreeClassifier(max_depth=2),
        MultiOutputClassifier(LogisticRegression()),
    ):
        with pytest.raises(ValueError, match="was fitted to several outputs"):
            scorer(model.fit(X, both), X, y)


def test_weights_are_refused():
    model, X, y = of_integers(0)
    with pytest.raises(ScorerSetupError, match="sample_weight was passed to make_bound_scorer"):
        make_bound_scorer()(model, X, y, sample_weight=np.ones(len(y)))


@for_each(
    ("arguments", "message"),
    [
        ({"level": 0.0}, r"level=0.0 must be a number in \(0, 1\)"),
        ({"level": True}, r"level=True must be a number in \(0, 1\)"),
        ({"method": "t"}, "'t' is for other measures"),
        ({"method": "bernstein"}, "must be one of 'mcdiarmid', 'hoeffding', 'kl', 'wilson'"),
        ({"measure": "dcg"}, "method='kl' must be one of 't' for 'dcg'"),
        ({"measure": "negative_height_loss@inf"}, "has no influence function"),
        ({"measure": "local_auc@0.8"}, "must be one of 'dkw', 'influence' for 'local_auc@0.8'"),
        ({"measure": "neg_auc"}, "'neg_auc' is not the name of a measure"),
        (
            {"measure": "accuracy_loss@top0.1"},
            "must be one of 'influence' for 'accuracy_loss@top0.1'",
        ),
        ({"n_candidates": 0}, "n_candidates=0 must be at least 1"),
        ({"n_candidates": 1.0}, r"n_candidates=1\.0 must be a whole number"),
        ({"qid": "groups", "method": "mcdiarmid"}, "one of .* for 'auc' over queries"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make_bound_scorer(**arguments)


def test_ids_beside_a_limit_of_one_list_are_refused():
    X, y, qid = queries()
    model = Ridge().fit(X, y)
    with pytest.raises(ScorerSetupError, match="whose limit is for one list: make it with qid="):
        make_bound_scorer("auc")(model, X, y == 2, qid=qid)
