"""A search by bounds: what it chooses, what it says, and that it behaves as others do."""

import pickle
from math import log, sqrt

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sklearn_rank import AccuracyAtTopRanker, OrderPreservingRanker
from sklearn_rank.bounds import auc_bound, auc_fold_mean_bound
from sklearn_rank.exceptions import QuerySetupError
from sklearn_rank.metrics import average_precision_score, ndcg_score, roc_auc_score
from sklearn_rank.model_selection import BoundSearchCV
from tests.naming import for_each
from tests.oracles import selection as oracle

from .estimators import ONE, Column, Fickle, queries, rows

# The seed of the split for cv=None that random_state=0 draws.
SEED = int(np.random.default_rng(0).integers(2**31))


def columns(**arguments):
    return BoundSearchCV(Column(), {"j": [0, 1, 2]}, **{"random_state": 0, **arguments})


# ---------------------------------------------------------------------------------- the choice


def test_masks_of_rows_are_their_numbers():
    X, y = rows(0)
    splits = list(StratifiedKFold(3).split(X, y))
    masks = [tuple(np.isin(np.arange(len(y)), part) for part in split) for split in splits]
    found = [columns(cv=cv).fit(X, y).report_ for cv in (splits, masks)]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("method", "cv"), [("mcdiarmid", ONE), ("hoeffding", StratifiedKFold(3)), ("kl", ONE)]
)
def test_equal_widths_choose_as_grid_search_does(method, cv):
    grid = {"C": [1e-4, 1e-2, 1.0], "fit_intercept": [False, True]}
    X, y = rows(0)
    plain = GridSearchCV(LogisticRegression(), grid, scoring="roc_auc", cv=cv).fit(X, y)
    found = BoundSearchCV(LogisticRegression(), grid, method=method, cv=cv).fit(X, y)
    assert found.best_params_ == plain.best_params_
    assert found.best_score_ == pytest.approx(plain.best_score_)
    assert found.cv_results_["params"] == plain.cv_results_["params"]
    np.testing.assert_array_equal(
        found.cv_results_["rank_test_score"], plain.cv_results_["rank_test_score"]
    )
    for name in ("mean_test_score", "std_test_score", "split0_test_score"):
        np.testing.assert_allclose(found.cv_results_[name], plain.cv_results_[name])
    assert (found.cv_results_["param_C"] == plain.cv_results_["param_C"]).all()
    np.testing.assert_allclose(found.decision_function(X), plain.decision_function(X))
    assert found.score(X, y) == pytest.approx(plain.score(X, y))


def test_limits_against_the_definition():
    X, y = rows()
    prior = np.array([5.0, 3.0, 2.0])
    for method in ("kl", "hoeffding", "mcdiarmid"):
        found = columns(method=method, prior=prior, cv=ONE, level=0.9).fit(X, y)
        test = next(ONE.split(X, y))[1]
        sizes = int(y[test].sum()), int((1 - y[test]).sum())
        for j in range(3):
            auc = oracle.auc(y[test] == 1, X[test, j])
            expected = oracle.lower_limit(auc, sizes, 0.01 * prior[j], method)
            assert found.cv_results_["lower_bound"][j] == pytest.approx(expected, abs=1e-9)
        np.testing.assert_allclose(found.cv_results_["delta"], 0.01 * prior)


def test_folds_have_the_mean_of_their_widths():
    X, y = rows()
    found = columns(cv=5, method="mcdiarmid").fit(X, y)
    width = sqrt(log(3 / 0.05) * 18 / (2 * 6 * 12))
    np.testing.assert_allclose(
        found.cv_results_["lower_bound"],
        np.maximum(found.cv_results_["mean_test_score"] - width, 0.0),
    )
    found = columns(cv=5, method="kl").fit(X, y)
    most = log(oracle.xi(6) * 3 / 0.05) / 6
    for mean, low in zip(
        found.cv_results_["mean_test_score"], found.cv_results_["lower_bound"], strict=True
    ):
        assert low == pytest.approx(oracle.kl_lower(mean, most), abs=1e-9)


def test_widths_that_depend_on_the_data_move_the_choice():
    # Candidate 0 has half of its positives at the very top and half at the bottom, candidate 1
    # every one at about the same place: nearly equal AUCs, the second far surer.
    y = np.tile([1] + [0] * 9, 33)
    rank = np.arange(len(y))
    X = np.zeros((len(y), 2))
    X[y == 0] = np.random.default_rng(0).permutation(np.linspace(0, 1, 297))[:, None]
    X[y == 1, 0] = np.where(rank[y == 1] // 10 % 2, 2.0, 0.44)
    X[y == 1, 1] = 0.7
    search = BoundSearchCV(Column(), {"j": [0, 1]}, cv=PredefinedSplit(np.where(rank < 30, -1, 0)))
    by_mean = clone(search).fit(X, y)
    by_width = clone(search).set_params(method="max-t", random_state=0).fit(X, y)
    assert by_mean.best_index_ == 0
    assert by_width.best_index_ == 1
    assert by_width.report_.bound is None
    assert "Guaranteed: nothing" in str(by_width.report_)


def test_within_noise_takes_the_simplest():
    X, y = rows(shifts=(0.9, 1.0, -1.0))
    found = columns(rule="within_noise", cv=ONE).fit(X, y)
    assert found.cv_results_["may_be_best"].tolist() == [True, True, False]
    assert found.best_params_ == {"j": 0}
    assert found.report_.may_be_best == (0, 1)
    for complexity in ("j", lambda params: params["j"]):
        assert found.set_params(complexity=complexity).fit(X, y).best_params_ == {"j": 0}
    found.set_params(complexity=lambda params: -params["j"])
    assert found.fit(X, y).best_params_ == {"j": 1}
    # The limit is still that of the candidate that was chosen.
    assert found.best_bound_ == found.cv_results_["lower_bound"][1]


def test_ties_go_to_the_simplest():
    X, y = rows()
    X[:, 2] = X[:, 1]
    assert columns(cv=ONE).fit(X, y).best_index_ == 1
    assert columns(cv=ONE, complexity=lambda p: -p["j"]).fit(X, y).best_index_ == 2


def test_limits_that_are_cut_off_do_not_tie():
    X, y = rows(n_pos=6, n_neg=6)
    found = columns(cv=3, method="mcdiarmid").fit(X, y)
    assert (found.cv_results_["lower_bound"] == 0).all()
    assert found.best_index_ == np.argmax(found.cv_results_["mean_test_score"])


# ---------------------------------------------------------------------------------- the report


def test_one_part_without_refit_has_theorem_10_for_the_model_itself():
    X, y = rows()
    found = columns(cv=ONE, refit=False, method="mcdiarmid", level=0.9).fit(X, y)
    train, test = next(ONE.split(X, y))
    n_pos = int(y[test].sum())
    expected = auc_bound(
        *(n_pos, len(test) - n_pos, 0.1), function_class=3, method="mcdiarmid", side="lower"
    )
    assert str(found.report_.bound) == str(expected)
    assert found.report_.bound.value == pytest.approx(expected.value, rel=1e-12)
    assert "Corollary 11" in found.report_.bound.theorem
    assert found.report_.covers_best_estimator
    assert found.best_estimator_.n_fit_ == len(train)
    assert found.fold_estimators_ == [found.best_estimator_]
    auc = roc_auc_score(y[test], found.decision_function(X[test]))
    assert found.best_score_ == pytest.approx(auc)
    assert found.best_bound_ == pytest.approx(auc - expected.value)
    assert f"{found.best_bound_:.4f}" in str(found.report_)


def test_folds_have_a_bound_of_their_mean():
    X, y = rows()
    found = columns(cv=3, refit=False).fit(X, y)
    expected = auc_fold_mean_bound([10] * 3, [20] * 3, 0.05, n_functions=3, side="lower")
    assert str(found.report_.bound) == str(expected)
    assert found.report_.bound.value == pytest.approx(expected.value, rel=1e-12)
    assert not found.report_.covers_best_estimator
    assert found.report_.target == "mean expected auc of the 3 fold models"
    assert len(found.fold_estimators_) == 3
    assert not hasattr(found, "best_estimator_")
    with pytest.raises(AttributeError, match="there is one model per part"):
        found.predict(X)
    assert "only the fold models" in str(found.report_)


def test_nothing_is_guaranteed_of_a_refitted_model():
    # Right on the training part of 54 rows, wrong on all 90.
    X, y = rows(shifts=(2.0, 2.5, 3.0))
    found = BoundSearchCV(Fickle(n=60), {"j": [0, 1, 2]}, cv=ONE).fit(X, y)
    column = X[:, found.best_params_["j"]]
    assert 0.5 < found.best_bound_ < found.best_score_ <= 1.0
    expected = 1.0 - roc_auc_score(y, column)
    assert roc_auc_score(y, found.decision_function(X)) == pytest.approx(expected)
    assert not found.report_.covers_best_estimator
    assert "a new model, fitted to all rows: nothing is guaranteed for it." in str(found.report_)
    assert found.report_.interval.low <= found.best_score_ <= found.report_.interval.high


# ---------------------------------------------------------------------------------- behaviour


@pytest.mark.slow
def test_the_same_whatever_n_jobs():
    X, y = rows()
    one = columns(method="max-t", rule="within_noise").fit(X, y)
    two = columns(method="max-t", rule="within_noise", n_jobs=2).fit(X, y)
    for name, column in one.cv_results_.items():
        if not name.endswith("_time"):
            np.testing.assert_array_equal(column, two.cv_results_[name])
    assert str(one.report_) == str(two.report_)


def test_bad_input_leaves_the_search_as_it_was():
    X, y = rows()
    found = columns().fit(X, y)
    before = pickle.dumps(found)
    for labels, message in (
        (np.zeros_like(y), "items of one class only"),
        (np.arange(len(y)) % 3, "Only binary classification is supported"),
        (y[:-1], "inconsistent numbers of samples"),
        (np.column_stack([y, 1 - y]), r"1d array, got an array of shape \(90, 2\)"),
        (None, "requires y to be passed"),
    ):
        with pytest.raises(ValueError, match=message):
            found.fit(X, labels)
        assert pickle.dumps(found) == before
    fresh = columns()
    with pytest.raises(ValueError, match="one class only"):
        fresh.fit(X, np.ones_like(y))
    assert [name for name in vars(fresh) if name.endswith("_")] == []


def test_a_second_fit_forgets_the_first():
    X, y = rows()
    found = columns(refit=False).fit(X, y)
    found.set_params(refit=True).fit(X, y)
    assert not hasattr(found, "fold_estimators_")
    found.set_params(refit=False, cv=3).fit(X, y)
    assert not hasattr(found, "best_estimator_")


class Failing(Column):
    """Fails for column 1."""

    def fit(self, X, y):
        if self.j == 1:
            raise RuntimeError("column 1 is forbidden")
        return super().fit(X, y)


def test_a_candidate_that_fails_is_not_chosen_but_counts():
    X, y = rows()
    search = BoundSearchCV(Failing(), {"j": [0, 1, 2]}, cv=ONE)
    with pytest.warns(FitFailedWarning, match="1 of 3 fits failed"):
        search.fit(X, y)
    assert search.best_index_ == 2
    assert np.isnan(search.cv_results_["lower_bound"][1])
    assert search.cv_results_["rank_bound"][1] == 3
    kept = columns(cv=ONE).fit(X, y)
    assert search.best_bound_ == kept.cv_results_["lower_bound"][2]
    with pytest.raises(RuntimeError, match="forbidden"):
        search.set_params(error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="All 1 fits failed"):
        BoundSearchCV(Failing(), {"j": [1]}, cv=ONE).fit(X, y)


def test_pipelines_labels_frames_and_sparse_rows():
    X, y = rows()
    model = make_pipeline(StandardScaler(with_mean=False), LogisticRegression())
    grid = {"logisticregression__C": [0.01, 1.0]}
    expected = BoundSearchCV(model, grid, cv=ONE).fit(X, y)
    named = np.array(["no", "yes"])[y]
    frame = pd.DataFrame(X, columns=list("abc"))
    for rows_, labels in (
        (frame, pd.Series(named)),
        (sp.csc_array(X), y),
        (X.tolist(), y.tolist()),
    ):
        told = "yes" if isinstance(labels, pd.Series) else None
        found = BoundSearchCV(model, grid, cv=ONE, pos_label=told).fit(rows_, labels)
        np.testing.assert_allclose(found.decision_function(rows_), expected.decision_function(X))
        assert found.best_bound_ == pytest.approx(expected.best_bound_)
    found = BoundSearchCV(model, grid, cv=ONE, pos_label="yes").fit(frame, named)
    assert found.classes_.tolist() == ["no", "yes"]
    assert found.feature_names_in_.tolist() == list("abc")
    assert set(found.predict(frame)) == {"no", "yes"}
    assert found.predict_proba(frame).shape == (90, 2)
    assert found.score(frame, named) == pytest.approx(expected.score(X, y))


def test_precomputed_kernels_and_our_rankers():
    X, y = rows()
    kernel = X @ X.T
    found = BoundSearchCV(
        SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, cv=ONE, error_score="raise"
    )
    plain = BoundSearchCV(SVC(kernel="linear"), {"C": [0.1, 1.0]}, cv=ONE).fit(X, y)
    assert found.fit(kernel, y).best_score_ == pytest.approx(plain.best_score_)
    assert found.__sklearn_tags__().input_tags.pairwise
    ranker = BoundSearchCV(AccuracyAtTopRanker(tau=0.2), {"C": [0.01, 1.0]}, cv=ONE).fit(X, y)
    train, test = next(ONE.split(X, y))
    expected = [
        roc_auc_score(
            y[test],
            AccuracyAtTopRanker(tau=0.2, C=C).fit(X[train], y[train]).decision_function(X[test]),
        )
        for C in (0.01, 1.0)
    ]
    np.testing.assert_allclose(ranker.cv_results_["mean_test_score"], expected)
    assert not hasattr(ranker, "predict_proba")


def test_estimators_that_are_no_classifiers():
    X, y = rows()
    found = BoundSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=ONE).fit(X, y)
    train, test = next(ONE.split(X, y))
    model = Ridge(**found.best_params_).fit(X[train], y[train])
    assert found.best_score_ == pytest.approx(roc_auc_score(y[test], model.predict(X[test])))
    with pytest.raises(ValueError, match="pos_label"):
        BoundSearchCV(Ridge(), {"alpha": [0.1]}, cv=ONE).fit(X, np.array(["a", "b"])[y])


def test_in_another_cross_validation():
    X, y = rows()
    scores = cross_val_score(columns(), X, y, cv=3, error_score="raise")
    for score, (train, test) in zip(scores, StratifiedKFold(3).split(X, y), strict=True):
        chosen = columns().fit(X[train], y[train]).best_params_["j"]
        assert score == pytest.approx(roc_auc_score(y[test], X[test, chosen]))
    nested = BoundSearchCV(columns(), {"rule": ["max_bound", "within_noise"]}, cv=ONE).fit(X, y)
    train, test = next(ONE.split(X, y))
    for rule, score in zip(
        ("max_bound", "within_noise"), nested.cv_results_["mean_test_score"], strict=True
    ):
        chosen = columns(rule=rule).fit(X[train], y[train]).best_params_["j"]
        assert score == pytest.approx(roc_auc_score(y[test], X[test, chosen]))


def test_weights_reach_the_fits_without_routing():
    X, y = rows()
    weight = np.arange(90.0)
    train = next(ONE.split(X, y))[0]
    search = BoundSearchCV(Ridge(), cv=ONE, refit=False).fit(X, y, sample_weight=weight)
    expected = Ridge().fit(X[train], y[train], weight[train])
    np.testing.assert_allclose(search.best_estimator_.coef_, expected.coef_)


# ---------------------------------------------------------------------------------- the splits


def test_parts_that_no_statement_is_true_of():
    X, y = rows()
    half = np.arange(45)
    for cv, message in (
        ([(np.arange(90), half)], "Row 0 is in the training and the test part"),
        ([(half, np.array([50, 51, 51]))], "holds out a row twice"),
        ([], "cv yielded no split"),
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), "holds out rows several times"),
        (
            [(np.flatnonzero(y == 1), np.flatnonzero(y == 0))],
            "without a positive: pass stratified",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            columns(cv=cv).fit(X, y)


def test_groups_of_an_auc():
    X, y = rows()
    groups = np.arange(90) // 3
    with pytest.raises(ValueError, match="cv=None holds out rows"):
        columns().fit(X, y, groups=groups)
    with pytest.warns(UserWarning, match="Several rows share a group"):
        columns(cv=GroupKFold(3)).fit(X, y, groups=groups)


@for_each(
    ("arguments", "message"),
    [
        ({"level": 1.0}, r"level=1.0 must be a number in \(0, 1\)"),
        ({"measure": "negative_height_loss@inf"}, "folds of one list give no limits: pass 'auc'"),
        ({"method": "bernstein"}, "method='bernstein' must be one of 'auto', 'mcdiarmid'"),
        ({"measure": "dcg"}, "'dcg' is a mean over queries.*pass groups="),
        ({"measure": "accuracy"}, "'accuracy' is scikit-learn's score of predicted labels"),
        ({"measure": "neg_log_loss"}, "'neg_log_loss' is scikit-learn's score of predicted"),
        ({"rule": "best"}, "rule='best' must be one of"),
        ({"prior": [1.0, 2.0]}, r"prior has shape \(2,\), but there are 3 candidates"),
        ({"prior": [1.0, 0.0, 2.0]}, r"prior is 0 for the candidate \{'j': 1\}"),
        ({"complexity": "C"}, "complexity='C' is not a parameter of the candidate"),
        ({"error_score": 0.0}, "error_score=0.0 must be 'raise' or nan"),
        ({"param_grid": []}, r"param_grid=\[\] contains no candidate: pass \{\} for"),
        ({"random_state": "seed"}, "random_state='seed' must be None"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        columns().set_params(**arguments).fit(*rows())


# ---------------------------------------------------------------------------------- queries


def of_queries(**arguments):
    return BoundSearchCV(
        OrderPreservingRanker(),
        {"alpha": [1e-3, 1.0, 1e3]},
        **{"measure": "ndcg@3", "random_state": 0, "error_score": "raise", **arguments},
    )


@pytest.mark.parametrize(("method", "cv"), [("auto", None), ("bernstein", 3), ("max-t", 3)])
def test_routing_on_one_array_reaches_everything(method, cv):
    X, y, qid = queries()
    with config_context(enable_metadata_routing=True):
        found = of_queries(method=method, cv=cv).fit(X, y, groups=qid)
        assert found.best_estimator_.n_queries_ == 24
        value = ndcg_score(y, found.predict(X), qid=qid, k=3)
        assert found.score(X, y, groups=qid) == pytest.approx(value)
        assert found.best_bound_ < found.best_score_
        np.testing.assert_array_equal(
            found.rank(X, qid=qid), found.best_estimator_.rank(X, qid=qid)
        )
        with pytest.raises(TypeError, match="qid"):
            of_queries().fit(X, y, qid=qid)


def test_routing_off():
    X, y, qid = queries()
    with config_context(enable_metadata_routing=True):
        expected = of_queries().fit(X, y, groups=qid)
    found = of_queries().fit(X, y, qid=qid)
    assert found.best_score_ == expected.best_score_
    assert str(found.report_) == str(expected.report_)
    assert found.score(X, y, groups=qid) == found.score(X, y, qid=qid)
    # The splitter and the measure alone see groups; the ranker refuses rows without ids.
    with pytest.raises(QuerySetupError, match="got no qid"):
        of_queries(cv=GroupKFold(3)).fit(X, y, groups=qid)
    with pytest.raises(ValueError, match="no limits for one list: pass groups="):
        of_queries().fit(X, y)


def appearing(ids):
    """Numbers of ids in the order in which they appear, of which folds are made."""
    return pd.factorize(ids)[0]


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored by KFold:UserWarning")
@pytest.mark.filterwarnings("ignore:Several rows share a group:UserWarning")
def test_cut_queries_are_refused():
    X, y, qid = queries()
    message = r"test part of split 0: pass cv=GroupShuffleSplit\(1\), which keeps"
    with pytest.raises(ValueError, match=message):
        of_queries(cv=[(np.arange(90), np.arange(90, 192))]).fit(X, y, qid=qid)
    with pytest.raises(
        ValueError, match=r"The query '\d+' has rows in the training and the test part"
    ):
        of_queries(cv=KFold(4)).fit(X, y, qid=qid.astype(str).astype(object))
    # The line that mends it, and the number alone.
    assert np.isfinite(of_queries(cv=GroupKFold(4)).fit(X, y, qid=qid).best_score_)
    folds = list(GroupKFold(4).split(X, y, appearing(qid)))
    expected = of_queries(cv=folds).fit(X, y, qid=qid).best_score_
    assert of_queries(cv=4).fit(X, y, qid=qid).best_score_ == expected
    # By the AUC too, whose splitter takes no notice of ids.
    binary = (y == 2).astype(int)
    with pytest.raises(
        ValueError, match=r"The query .* has rows in the training and the test part"
    ):
        of_queries(measure="auc", cv=KFold(4)).fit(X, binary, qid=qid)
    with pytest.raises(
        ValueError, match=r"The group .* has rows in the training and the test part"
    ):
        columns(cv=KFold(4)).fit(X, binary, groups=qid)


def test_groups_of_queries_beside_their_ids():
    X, y, qid = queries()
    groups = qid // 3
    folds = list(GroupKFold(4).split(X, y, appearing(groups)))
    expected = of_queries(cv=folds).fit(X, y, qid=qid)
    with pytest.warns(UserWarning, match="Several queries share a group"):
        found = of_queries(cv=4).fit(X, y, qid=qid, groups=groups)
    assert found.best_score_ == expected.best_score_
    cut = of_queries(cv=list(GroupKFold(4).split(X, y, appearing(qid))))
    with (
        pytest.warns(UserWarning, match="Several queries share a group"),
        pytest.raises(ValueError, match=r"The group .* has rows in the training and the test"),
    ):
        cut.fit(X, y, qid=qid, groups=groups)


def test_classifiers_of_queries():
    X, y, qid = queries()
    named = np.where(y == 2, "yes", "no")
    search = BoundSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, measure="ap", cv=3, pos_label="yes"
    )
    found = search.fit(X, named, groups=qid)
    parts = [
        average_precision_score(
            named[test] == "yes",
            LogisticRegression(**found.best_params_)
            .fit(X[train], named[train])
            .decision_function(X[test]),
            qid=qid[test],
        )
        for train, test in GroupKFold(3).split(X, y, groups=appearing(qid))
    ]
    assert found.best_score_ == pytest.approx(np.mean(parts))
    # Hoeffding's width of parts of eight queries, for two candidates.
    assert found.best_bound_ == pytest.approx(np.mean(parts) - sqrt(log(2 / 0.05) / 16))
    expected = average_precision_score(named == "yes", found.decision_function(X), qid=qid)
    assert found.score(X, named, groups=qid) == pytest.approx(expected)


class NoScores(BaseEstimator):
    def fit(self, X, y):
        return self


def test_an_estimator_without_scores():
    with pytest.raises(ValueError, match="has neither decision_function nor predict_proba"):
        BoundSearchCV(NoScores(), {}, cv=ONE).fit(*rows())
