"""What rankers of two classes say of new rows: whom to act on, and who is predicted positive."""

import numpy as np
import pytest
import scipy.sparse as sp
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import (
    AccuracyAtTopRanker,
    AccuracyAtTopRankerCV,
    PNormPushRanker,
    RankBoostRanker,
    RankStatisticRanker,
    TopFocusedRanker,
    TopPushRanker,
)
from sklearn_rank.exceptions import ThresholdWarning
from sklearn_rank.metrics import rank_positions
from tests.catalogue import BIPARTITE_CLASSES
from tests.naming import for_each

N_NEW = 5000


def draw(rng, n, d):
    X = rng.normal(size=(n, d))
    logits = 1.5 * X[:, 0] + X[:, 1] - 1.5
    return X, (logits + rng.logistic(size=n) > 0).astype(int)


MEANT = [
    # (ranker, rows, features): each fits its training rows closely, or is linear.
    (RankBoostRanker(100), 600, 20),
    (RankBoostRanker(20, weak_ranker=DecisionTreeClassifier(max_depth=4)), 600, 20),
    (RankBoostRanker(20, weak_ranker="linear"), 200, 40),
    (PNormPushRanker(), 600, 5),
    (PNormPushRanker(C=100.0), 200, 60),
    (PNormPushRanker(C=100.0, kernel="rbf"), 400, 10),
    (TopPushRanker(0.3, C=10.0), 200, 60),
    (RankStatisticRanker(random_state=0), 200, 60),
    (AccuracyAtTopRanker(tau=0.1, C=0.1), 200, 40),
    (AccuracyAtTopRanker(tau=0.1, C=0.1, kernel="rbf"), 200, 5),
    (AccuracyAtTopRankerCV(tau=0.1, param_grid={"C": [0.1]}, cv=2), 300, 5),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.QuantileDistanceWarning")
@pytest.mark.parametrize(("ranker", "n", "d"), MEANT, ids=lambda case: str(case)[:60])
def test_predict_flags_the_share_of_new_rows_that_is_meant(ranker, n, d):
    ratios, n_seeds = [], 2
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, y = draw(rng, n, d)
        new, _ = draw(rng, N_NEW, d)
        flagged = np.mean(clone(ranker).fit(X, y).predict(new) == 1)
        meant = 0.1 if "precision@top0.1" in str(ranker) else getattr(ranker, "tau", y.mean())
        ratios.append(flagged / meant)
    # A quantile of the share s of n rows has a relative error of about 1 / sqrt(s n).
    error = 1 / np.sqrt(n_seeds * n * min(meant, 1 - meant))
    assert abs(np.mean(ratios) - 1) < 0.1 + 3 * error, ratios


@pytest.mark.slow
def test_fits_to_folds_are_brought_to_one_scale():
    # Mean and deviation do not bring these heavy tails to one scale (.55, by medians .24).
    ranker, errors = PNormPushRanker(16, C=100.0, kernel="rbf"), []
    for seed in range(12):
        rng = np.random.default_rng([seed, 2])
        X = rng.normal(size=(3300, 2))
        y = X @ rng.normal(size=2) / np.sqrt(2) + rng.normal(size=len(X)) > 0.8
        flagged = clone(ranker).fit(X[:300], y[:300]).predict(X[300:])
        errors.append(np.log(flagged.mean() / y[:300].mean()))
    assert np.mean(np.abs(errors)) < 0.2, np.round(errors, 2)


@pytest.mark.parametrize(
    "ranker",
    [
        AccuracyAtTopRanker(kernel="rbf"),
        PNormPushRanker(kernel="rbf"),
        RankStatisticRanker(kernel="rbf"),
        RankBoostRanker(),
    ],
    ids=str,
)
def test_an_error_in_a_fold_of_the_threshold_is_an_error_of_the_fit(ranker, monkeypatch):
    X, y = draw(np.random.default_rng(0), 60, 3)
    fit = type(ranker).fit

    def broken(self, X, y, sample_weight=None):
        if len(X) < 60:
            raise ValueError("the disk is full")
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(type(ranker), "fit", broken)
    with pytest.raises(ValueError, match="the disk is full") as caught:
        ranker.fit(X, y)
    assert "a fit to a part of the rows" in caught.value.__notes__[0]


def test_a_parameter_that_takes_all_rows_of_a_fold_leaves_the_threshold_in_sample():
    X, y = draw(np.random.default_rng(0), 60, 43)
    fitted = TopPushRanker(int(np.sum(y == 0)) - 1).fit(X, y)
    assert np.mean(fitted.predict(X)) == pytest.approx(np.mean(y), abs=0.02)


def test_a_threshold_that_is_a_guess_is_announced():
    X, y = draw(np.random.default_rng(0), 300, 60)
    with pytest.warns(ThresholdWarning, match=r"where no training row does.* top\(X, k\)"):
        PNormPushRanker(16, C=100.0, kernel="rbf").fit(X, y)
    # Rows so far apart that the kernel sees none of the others.
    with pytest.warns(ThresholdWarning, match=r"100% of held-out rows .* tie"):
        PNormPushRanker(kernel="rbf").fit(1e4 * X, y)
    # With a penalty, and for rows like those of the fit, nothing is said.
    PNormPushRanker(16, C=0.01, kernel="rbf").fit(X, y)
    PNormPushRanker(16, C=100.0, kernel="rbf").fit(X[:, :2], y)


@pytest.mark.parametrize(
    "base",
    [
        LGBMClassifier(verbose=-1, n_estimators=10, num_leaves=15, n_jobs=1),
        LogisticRegression(C=10.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("positive", ["fraud", "ok"])
def test_the_top_threshold_cuts_tau_of_new_rows(base, positive):
    rng = np.random.default_rng(0)
    X, y = draw(rng, 1000, 30)
    named = np.where(y == 1, "fraud", "ok")
    new, _ = draw(rng, N_NEW, 30)
    ranker = TopFocusedRanker(base, tau=0.1, pos_label=positive, cv=5).fit(X, named)
    above = ranker.decision_function(new) > ranker.top_threshold_
    # classes_ are "fraud" and "ok": decision values are greater for "ok".
    flagged = np.mean(above if positive == "ok" else ~above)
    assert 0.06 < flagged < 0.15


@for_each("ranker", BIPARTITE_CLASSES)
def test_rank_and_top_put_the_positive_class_first(ranker):
    X, y = draw(np.random.default_rng(1), 80, 6)
    named = np.where(y == 1, "fraud", "ok")
    for positive in ("fraud", "ok"):
        fitted = clone(ranker).set_params(pos_label=positive).fit(X, named)
        decision = fitted.decision_function(X)
        towards = -decision if positive == "fraud" else decision
        positions = fitted.rank(X)
        np.testing.assert_array_equal(positions, rank_positions(towards))
        top = fitted.top(X, 80)
        assert sorted(top) == list(range(80))
        assert np.all(np.diff(towards[top]) <= 0)
        np.testing.assert_array_equal(fitted.top(X, 7), top[:7])
        assert np.mean(named[top[:20]] == positive) > np.mean(named == positive)
        # No row that is predicted positive is below one that is not.
        flagged = fitted.predict(X) == positive
        assert flagged[top].tolist() == sorted(flagged.tolist(), reverse=True)


def test_tied_rows_are_taken_in_the_order_of_the_rows():
    X, y = np.tile([[0.0], [1.0]], (20, 1)), np.tile([0, 1], 20)
    ranker = PNormPushRanker().fit(X, y)
    assert ranker.top(X, 4).tolist() == [1, 3, 5, 7]
    assert ranker.top(X[::-1], 4).tolist() == [0, 2, 4, 6]
    assert set(ranker.rank(X)) == {10.5, 30.5}
    assert ranker.top(sp.csr_array(X), 1).tolist() == [1]


@for_each(
    ("k", "error", "message"),
    [
        (0, ValueError, "k=0 must be at least 1"),
        (41, ValueError, "k=41 must be at least 1 and at most 40"),
        (0.05, TypeError, "k=0.05 must be a whole number"),
        (True, TypeError, "must be a whole number"),
        (None, TypeError, "must be a whole number"),
    ],
)
def test_other_numbers_of_rows_are_refused(k, error, message):
    X, y = np.tile([[0.0], [1.0]], (20, 1)), np.tile([0, 1], 20)
    with pytest.raises(error, match=message):
        PNormPushRanker().fit(X, y).top(X, k)


def test_all_rows_are_needed_at_once():
    import dask.array as da

    X, y = np.tile([[0.0], [1.0]], (20, 1)), np.tile([0, 1], 20)
    ranker = PNormPushRanker().fit(X, y)
    for call in (ranker.rank, lambda rows: ranker.top(rows, 2)):
        with pytest.raises(TypeError, match=r"pass X\.compute\(\)"):
            call(da.from_array(X, chunks=10))


def test_a_sum_of_linear_fits_is_linear():
    X, y = draw(np.random.default_rng(2), 300, 4)
    for combine in ("sum", "last"):
        ranker = TopFocusedRanker(LogisticRegression(), combine=combine).fit(X, y)
        expected = X @ ranker.coef_[0] + ranker.intercept_
        np.testing.assert_allclose(ranker.decision_function(X), expected)
    assert not hasattr(ranker, "feature_importances_")
    assert not hasattr(TopFocusedRanker(LogisticRegression()), "coef_")
    trees = TopFocusedRanker(ExtraTreesClassifier(10, random_state=0)).fit(X, y)
    assert trees.feature_importances_.sum() == pytest.approx(1)
    assert trees.feature_importances_.argmax() == 0
    assert not hasattr(trees, "coef_")


def test_a_base_that_stops_early():
    rng = np.random.default_rng(3)
    (X, y), (X_val, y_val) = draw(rng, 400, 5), draw(rng, 200, 5)
    base = LGBMClassifier(n_estimators=100, early_stopping_round=5, n_jobs=1, verbose=-1)
    ranker = TopFocusedRanker(base, n_rounds=1).fit(X, y, eval_X=X_val, eval_y=y_val)
    assert all(fit.best_iteration_ < 50 for fit in (ranker.pilot_, *ranker.rounds_))


@pytest.mark.parametrize("n_values", [None, 3], ids=["all rows differ", "rows recur"])
def test_the_threshold_is_that_of_repeated_rows_in_any_order(n_values):
    rng = np.random.default_rng(4)
    X, y = draw(rng, 60, 8)
    if n_values:
        X = np.digitize(X[:, :2], np.linspace(-1, 1, n_values - 1))
    weight = rng.integers(1, 4, 60)
    ranker = PNormPushRanker(kernel="rbf", C=10.0, tol=1e-9)
    order = rng.permutation(weight.sum())
    repeated = np.repeat(np.arange(60), weight)[order]
    weighted = clone(ranker).fit(X, y, sample_weight=weight)
    assert weighted.threshold_ == pytest.approx(
        clone(ranker).fit(X[repeated], y[repeated]).threshold_, abs=1e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.5, 0.05])
def test_values_that_recur_in_new_rows(noise):
    # Six flags: 64 different rows, most or few of them of both classes.
    ratios = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (6600, 6))
        utility = X @ rng.normal(size=6) + noise * rng.normal(size=6600)
        y = utility > np.quantile(utility, 0.75)
        weight = rng.uniform(0.5, 1.5, 600)
        ranker = AccuracyAtTopRanker(tau=0.2, kernel="rbf")
        fitted = ranker.fit(X[:600], y[:600], sample_weight=weight)
        ratios.append(fitted.predict(X[600:]).mean() / 0.2)
    # Folds that leave out all copies of a row gave .69 to 1.57.
    assert np.all(np.abs(np.log(ratios)) < 0.3), ratios
