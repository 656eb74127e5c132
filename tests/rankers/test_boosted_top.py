"""Boosted trees for the top of one list: targets, warm-up, early stopping, thresholds, inputs."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

from sklearn_rank import BoostedTopRanker
from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import get_scorer, precision_at_top_score, roc_auc_score
from sklearn_rank.rankers._boosted import TARGETS, target_of, warmed_up
from sklearn_rank.rankers._two_classes import TwoClasses
from tests.catalogue import FEW_TREES

lightgbm = pytest.importorskip("lightgbm", reason="LightGBM, an extra, is not installed")

pytestmark = pytest.mark.usefixtures("two_folds")
every_target = pytest.mark.parametrize("target", TARGETS)
SMALL = {"n_estimators": 20, "max_leaf_nodes": 4, "tau": 0.2}


def data(n=400, seed=0):
    return make_classification(
        n, n_features=6, n_informative=3, weights=[0.8], class_sep=0.8, random_state=seed
    )


def rows_of(y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return TwoClasses.of_rows(np.unique(y), 1, y == 1, weight)


@pytest.mark.parametrize(
    ("target", "backend"), [*((name, "lightgbm") for name in TARGETS), ("p_norm_push", "xgboost")]
)
def test_trees_lower_the_target(target, backend):
    pytest.importorskip(backend, reason="a backend, an extra, is not installed")
    X, y = data()
    small = clone(BoostedTopRanker(target, backend=backend, n_warmup=5, **SMALL))
    fits = [clone(small).set_params(n_estimators=n).fit(X, y) for n in (5, 10, 20)]
    assert np.all(np.diff([fit.objective_ for fit in fits]) < 0)
    fitted = fits[-1]
    assert roc_auc_score(y, fitted.decision_function(X)) > 0.9
    score = fitted.decision_function(X) + fitted.threshold_
    assert fitted.objective_ == pytest.approx(target_of(small, rows_of(y)).value(score))


def test_the_warm_up_is_the_logistic_loss_of_lightgbm():
    X, y = data()
    ranker = BoostedTopRanker(n_warmup=20, **SMALL).fit(X, y)
    assert (ranker.n_warmup_, ranker.best_iteration_) == (20, 20)
    theirs = lightgbm.LGBMClassifier(
        n_estimators=20, num_leaves=4, n_jobs=1, verbosity=-1, min_child_weight=0.0
    ).fit(X, y)
    expected = theirs.predict_proba(X, raw_score=True)
    scores = ranker.decision_function(X) + ranker.threshold_
    # Theirs has the log-odds in its first tree, and other least sums of curvatures in leaves.
    np.testing.assert_allclose(scores, expected, atol=1e-3)
    assert ranker.base_score_ == pytest.approx(np.log(y.mean() / (1 - y.mean())))


def test_none_is_half_of_the_trees_and_no_warm_up_where_all_pairs_count():
    X, y = data()
    assert BoostedTopRanker(**SMALL).fit(X, y).n_warmup_ == 10
    assert BoostedTopRanker("pairwise_logistic", **SMALL).fit(X, y).n_warmup_ == 0
    assert BoostedTopRanker(n_warmup=0, **SMALL).fit(X, y).n_warmup_ == 0
    with pytest.raises(ValueError, match="n_warmup=21 is greater than n_estimators=20"):
        BoostedTopRanker(n_warmup=21, **SMALL).fit(X, y)


def test_the_target_begins_with_the_curvature_of_the_likelihood_and_bounded_steps():
    _, y = data()
    rows = rows_of(y)
    objective = warmed_up(target_of(BoostedTopRanker(), rows), rows, 1)
    first = objective(np.zeros(len(y)))
    # A positive at the bottom has a slope and next to no curvature.
    scores = np.where(np.arange(len(y)) == np.flatnonzero(y)[0], -50.0, 2.0 * y)
    second = objective(scores)
    assert second[1].sum() == pytest.approx(first[1].sum())
    assert np.all(np.abs(second[0]) <= 3.0 * second[1] * (1 + 1e-12))
    third = objective(scores)
    np.testing.assert_array_equal(second, third)


def test_phi_and_p_and_loss_are_those_of_the_targets():
    X, y = data(150)
    base = BoostedTopRanker("w_phi", **SMALL)
    by_default = clone(base).fit(X, y).decision_function(X)
    for phi, same in (("bedroc@5", False), ("local_auc@0.8", False), (np.square, False)):
        other = clone(base).set_params(phi=phi).fit(X, y).decision_function(X)
        assert np.array_equal(other, by_default) == same
    with pytest.raises(ValueError, match="is not a linear rank statistic"):
        clone(base).set_params(phi="ap").fit(X, y)
    pushes = [
        BoostedTopRanker("p_norm_push", p=p, loss=loss, **SMALL).fit(X, y).decision_function(X)
        for p, loss in ((1, "logistic"), (8, "logistic"), (8, "exponential"))
    ]
    assert not np.array_equal(pushes[0], pushes[1])
    assert not np.array_equal(pushes[1], pushes[2])
    pairs = BoostedTopRanker("pairwise_logistic", n_warmup=10, **SMALL).fit(X, y)
    np.testing.assert_array_equal(pairs.decision_function(X), pushes[0])


def test_early_stopping_keeps_the_trees_of_the_best_round():
    X, y = data()
    X_val, y_val = data(300, seed=0)
    ranker = BoostedTopRanker(
        tau=0.2, n_estimators=60, early_stopping=True, n_iter_no_change=5, measure="auc"
    )
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(y_val)) < 0.2, 1 - y_val, y_val)
    fitted = ranker.fit(X, y, X_val=X_val, y_val=noisy)
    values = fitted.validation_scores_
    assert len(values) == fitted.n_iter_ + 1
    assert fitted.best_iteration_ == np.argmax(values)
    assert fitted.booster_.num_trees() == fitted.best_iteration_
    assert roc_auc_score(noisy, fitted.decision_function(X_val)) == pytest.approx(values.max())
    without = clone(ranker).set_params(early_stopping=False).fit(X, y)
    assert without.best_iteration_ == without.n_iter_ == 60
    assert len(without.validation_scores_) == 0


def test_losses_are_watched_with_their_sign_and_weights_count():
    X, y = data()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    ranker = BoostedTopRanker(early_stopping=True, measure="accuracy_loss@top0.2", **SMALL)
    one = clone(ranker).fit(X, y, X_val=X, y_val=y, sample_weight_val=weight)
    assert np.all(one.validation_scores_ <= 0)
    rows = np.repeat(np.arange(len(y)), weight)
    two = clone(ranker).fit(X, y, X_val=X[rows], y_val=y[rows])
    np.testing.assert_allclose(one.validation_scores_, two.validation_scores_)


def test_rows_are_held_out_by_class_and_by_seed():
    X, y = data()
    ranker = BoostedTopRanker(early_stopping=True, **SMALL)
    fits = [clone(ranker).set_params(random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(*(fit.validation_scores_ for fit in fits[:2]))
    assert not np.array_equal(fits[0].validation_scores_, fits[2].validation_scores_)
    one = np.zeros(len(y), dtype=int)
    one[0] = 1
    with pytest.raises(ValueError, match="the class 1 has one row: pass X_val="):
        clone(ranker).fit(X, one)
    told = clone(ranker).set_params(random_state=0, pos_label="ok")
    told.fit(X, np.array(["fraud", "ok"])[y])
    np.testing.assert_array_equal(told.validation_scores_, fits[0].validation_scores_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X_val": "X"}, "X_val without y_val"),
        ({"X_val": "X", "y_val": "y"}, "which early_stopping=False does not use"),
    ],
)
def test_validation_rows_that_would_not_be_used_are_refused(arguments, message):
    X, y = data(60)
    given = {name: {"X": X, "y": y}[value] for name, value in arguments.items()}
    with pytest.raises(ValueError, match=message):
        BoostedTopRanker(**SMALL).fit(X, y, **given)


def test_weights_of_validation_rows_without_validation_rows_are_refused():
    X, y = data(60)
    for early_stopping in (False, True):
        ranker = BoostedTopRanker(early_stopping=early_stopping, **SMALL)
        with pytest.raises(ValueError, match="sample_weight_val without X_val"):
            ranker.fit(X, y, sample_weight_val=np.ones(60))


def test_validation_rows_are_checked():
    X, y = data(60)
    ranker = BoostedTopRanker(early_stopping=True, **SMALL)
    with pytest.raises(ValueError, match="pass labels of the classes of fit"):
        ranker.fit(X, y, X_val=X, y_val=y + 1)
    with pytest.raises(ValueError, match="6 features"):
        ranker.fit(X, y, X_val=X[:, :5], y_val=y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        ranker.fit(X, y, X_val=X, y_val=y[:-1])
    with pytest.raises(
        ValueError, match="X_val has rows of positive sample_weight_val in one class"
    ):
        ranker.fit(X, y, X_val=X, y_val=y, sample_weight_val=y)
    assert not hasattr(ranker, "classes_")


def test_a_top_of_less_than_one_row():
    X, y = data()
    with pytest.warns(SmallTopWarning):
        BoostedTopRanker("accuracy_at_top", n_estimators=2, tau=1e-4).fit(X, y)


def test_constraints_hold_towards_the_top():
    X, y = data()
    named = np.array(["fraud", "ok"])[1 - y]
    sweep = np.zeros((50, 6))
    sweep[:, 1] = np.linspace(-3, 3, 50)
    for sign in (-1, 1):
        for constraint in ([0, sign, 0, 0, 0, 0], {"b": sign}):
            frame = pd.DataFrame(X, columns=list("abcdef"))
            ranker = BoostedTopRanker(monotonic_cst=constraint, pos_label="fraud", **SMALL)
            ranker.fit(frame, named)
            score = -ranker.decision_function(pd.DataFrame(sweep, columns=list("abcdef")))
            assert np.all(sign * np.diff(score) >= 0)


@pytest.mark.parametrize("backend", ["lightgbm", "xgboost"])
@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.ThresholdWarning")
def test_category_columns_are_split_into_sets(backend):
    pytest.importorskip(backend, reason="a backend, an extra, is not installed")
    code = np.random.default_rng(0).integers(0, 40, 600)
    y = (code * 7 % 40 < 12).astype(int)  # no order of the codes tells the classes
    X = pd.DataFrame({"code": pd.Categorical(code)})
    ranker = BoostedTopRanker(backend=backend, **SMALL).fit(X, y)
    scores = ranker.decision_function(X)
    assert roc_auc_score(y, scores) > 0.9
    ranker.set_params(backend_params={"categorical_feature": [0]}).fit(code[:, np.newaxis], y)
    # The threshold, that of fits to folds, is part of it.
    np.testing.assert_array_equal(ranker.decision_function(code[:, np.newaxis]), scores)


@every_target
def test_missing_values_and_sparse_rows(target):
    X, y = data()
    rng = np.random.default_rng(0)
    ranker = BoostedTopRanker(target, **SMALL)
    missing = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    assert roc_auc_score(y, clone(ranker).fit(missing, y).decision_function(missing)) > 0.8
    zeros = X * (rng.random(X.shape) < 0.5)
    dense = clone(ranker).fit(zeros, y).decision_function(zeros)
    sparse = clone(ranker).fit(sp.csc_array(zeros), y).decision_function(sp.coo_array(zeros))
    np.testing.assert_allclose(sparse, dense, atol=1e-6)


def test_pickles_have_no_rows_and_searches_choose_the_target():
    X, y = data()
    search = GridSearchCV(
        BoostedTopRanker(**SMALL),
        {"target": ["top_push", "w_phi"]},
        scoring=get_scorer("precision@top0.2"),
        cv=3,
        error_score="raise",
    ).fit(X, y)
    stored = pickle.dumps(search.best_estimator_)
    assert len(stored) < X.nbytes * 10
    read = pickle.loads(stored)
    np.testing.assert_array_equal(read.decision_function(X), search.decision_function(X))
    assert read.feature_importances_.sum() == pytest.approx(1.0)
    assert precision_at_top_score(y, read.decision_function(X), tau=0.2) > 0.5


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.ThresholdWarning")
def test_lines_of_the_fit(capsys):
    X, y = data(100)
    BoostedTopRanker(n_estimators=2, verbose=1).fit(X, y)
    assert capsys.readouterr().err == "tree 1\ntree 2\n"
    BoostedTopRanker(n_estimators=2, verbose=1, early_stopping=True, random_state=0).fit(X, y)
    assert "tree 2: held-out rows " in capsys.readouterr().err


def test_parameters_of_the_backend_reach_it_and_none_of_ours_do():
    X, y = data()
    coarse = BoostedTopRanker(backend_params={"max_bin": 3}, **SMALL).fit(X, y)
    fine = BoostedTopRanker(**SMALL).fit(X, y)
    assert not np.array_equal(coarse.decision_function(X), fine.decision_function(X))
    with pytest.raises(ValueError, match="backend_params contains 'num_leaves'"):
        BoostedTopRanker(backend_params={"num_leaves": 3}, **SMALL).fit(X, y)


@pytest.mark.parametrize("dtype", ["str", "object"])
def test_columns_of_words_say_how_to_encode_them(dtype):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": np.arange(20.0), "b": pandas.Series(["u", "v"] * 10, dtype=dtype)})
    with pytest.raises(ValueError, match=r"could not convert .*'u'.*make_column_transformer"):
        BoostedTopRanker(**SMALL).fit(X, np.arange(20) % 2)


def test_the_threshold_keeps_off_scores_that_are_equal_but_for_rounding():
    for seed in (22, 12):
        rng = np.random.default_rng(seed)
        X, y = rng.random((15, 15)), rng.integers(0, 2, 15)
        weight = rng.integers(0, 5, 15)
        ranker = BoostedTopRanker(tau=0.2, **FEW_TREES)
        ranker.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        decision = np.abs(ranker.decision_function(X))
        assert decision.min() > 1e-7 * decision.max()
