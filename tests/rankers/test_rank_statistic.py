"""RankStatisticRanker: never below its start, by the statistic that it is for."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import PNormPushRanker, RankStatisticRanker
from sklearn_rank.metrics import (
    LocalAUC,
    TopDCG,
    VanDerWaerden,
    bedroc_score,
    get_measure,
    linear_rank_score,
    local_auc_score,
    ndcg_score,
    roc_auc_score,
)
from sklearn_rank.rankers import _one_problem as _rank_statistic
from tests.naming import for_each, shown


def data(n=120, seed=0):
    return make_classification(
        n, n_features=5, n_informative=3, weights=[0.7], class_sep=0.7, random_state=seed
    )


def cubed(u):
    return u**3


PHIS = [
    ("auc", "auc"),
    ("local_auc@0.8", "local_auc@0.8"),
    ("pnorm@4", "pnorm@4"),
    ("bedroc@20", "bedroc@20"),
    ("wilcoxon", "auc"),
    (roc_auc_score, "auc"),
    (TopDCG(5), TopDCG(5)),
    (VanDerWaerden(), VanDerWaerden()),
    (cubed, "pnorm@3"),
]


@pytest.mark.parametrize(
    ("settings", "phi", "measure"),
    [
        *(({}, *phi) for phi in PHIS),
        *(({"n_folds": None}, *phi) for phi in PHIS[::3]),
        *(
            ({"n_folds": None, "bandwidth": 0.1, "anchor": 0.0, "n_init": 3}, *phi)
            for phi in PHIS[1::3]
        ),
    ],
    ids=shown,
)
def test_the_value_is_the_statistic_and_no_less_than_the_starts(phi, measure, settings):
    X, y = data()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    ranker = RankStatisticRanker(phi, random_state=0, **settings).fit(X, y, weight)
    statistic = get_measure(measure)
    value = statistic(y, ranker.decision_function(X), sample_weight=weight)
    assert ranker.value_ == pytest.approx(value, abs=1e-9)
    start = LogisticRegression(max_iter=1000).fit(X, y, weight)
    of_start = statistic(y, start.decision_function(X), sample_weight=weight)
    assert ranker.start_value_ == pytest.approx(of_start, abs=1e-9)
    assert ranker.value_ >= ranker.start_value_
    assert ranker.converged_
    scores = X[weight > 0] @ ranker.coef_[0]
    counts = weight[weight > 0]
    spread = np.average((scores - np.average(scores, weights=counts)) ** 2, weights=counts)
    assert spread == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
def test_where_the_top_has_another_direction_it_finds_it(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 4))
    sure = X[:, 1] > 1.5
    chance = np.where(sure, 0.95, 0.45 / (1 + np.exp(-3 * X[:, 0])))
    y = (rng.random(2000) < chance).astype(int)
    ranker = RankStatisticRanker("bedroc@20", anchor=0.0).fit(X[::2], y[::2])
    start = LogisticRegression().fit(X[::2], y[::2])
    found, before = (
        bedroc_score(y[1::2], one.decision_function(X[1::2]), alpha=20) for one in (ranker, start)
    )
    assert found > before + 0.05


@pytest.mark.parametrize(
    ("phi", "n", "d", "scale", "decay"),
    [("local_auc@0.8", 240, 160, 0.05, 0.0), ("bedroc@20", 238, 166, 1, 0.8)],
)
def test_with_nearly_as_many_features_as_rows_it_is_no_worse_than_its_start(
    phi, n, d, scale, decay
):
    """Held-out local AUC .61 where the start has .81, with a training value of 1."""
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(n + 2000, d)) * np.arange(1, d + 1) ** -decay
    mean = X[:, :15] @ rng.normal(size=15)
    y = (1.5 * mean / mean.std() + rng.logistic(size=n + 2000) > 0.3).astype(int)
    fitted = RankStatisticRanker(phi).fit(X[:n], y[:n])
    start = LogisticRegression(max_iter=3000).fit(X[:n], y[:n])
    statistic = get_measure(phi)
    held_out, of_start, climbed = (
        statistic(y[n:], one.decision_function(X[n:]))
        for one in (fitted, start, RankStatisticRanker(phi, n_folds=None).fit(X[:n], y[:n]))
    )
    assert held_out >= of_start - 0.002
    assert climbed < of_start
    assert fitted.fold_values_.shape == (5, 2)
    assert fitted.fold_values_[:, 1].mean() < fitted.fold_values_[:, 0].mean()
    none = RankStatisticRanker(phi, n_init=0).fit(X[:n], y[:n])
    np.testing.assert_array_equal(none.decision_function(X), fitted.decision_function(X))


def test_folds_depend_on_neither_the_order_of_rows_nor_repetition():
    X, y = data(300)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    whole = RankStatisticRanker("auc").fit(X, y, weight)
    repeated = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weight))
    one_by_one = RankStatisticRanker("auc").fit(X[repeated], y[repeated])
    np.testing.assert_allclose(one_by_one.fold_values_, whole.fold_values_, atol=1e-3)
    np.testing.assert_allclose(one_by_one.coef_, whole.coef_, atol=1e-3)
    again = RankStatisticRanker("auc").fit(X, y, weight)
    np.testing.assert_array_equal(again.coef_, whole.coef_)
    np.testing.assert_array_equal(again.fold_values_, whole.fold_values_)


def test_without_folds_there_is_nothing_to_compare():
    X, y = data(60)
    one = np.append(np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:1])
    assert RankStatisticRanker("auc").fit(X[one], y[one]).fold_values_.shape == (0, 2)
    apart = X + 100.0 * y[:, np.newaxis]
    fitted = RankStatisticRanker("auc").fit(apart, y)
    assert fitted.value_ == fitted.start_value_ == 1.0
    assert fitted.fold_values_.shape == (0, 2)
    assert fitted.converged_


def test_any_linear_classifier_is_a_start():
    X, y = data()
    push = PNormPushRanker(p=8, C=10.0)
    ranker = RankStatisticRanker("bedroc@20", start=push).fit(X, y)
    value = bedroc_score(y, push.fit(X, y).decision_function(X), alpha=20)
    assert ranker.start_value_ == pytest.approx(value)
    assert ranker.value_ >= value


def test_kernels_and_sparse_rows():
    X, y = data()
    X[np.abs(X) < 0.5] = 0.0
    linear = RankStatisticRanker("auc").fit(X, y)
    np.testing.assert_allclose(
        RankStatisticRanker("auc").fit(sp.csr_matrix(X), y).decision_function(X),
        linear.decision_function(X),
        atol=1e-4,
    )
    by_values = RankStatisticRanker("auc", kernel="precomputed").fit(X @ X.T, y)
    assert by_values.value_ == pytest.approx(linear.value_, abs=0.01)
    curved = RankStatisticRanker(
        "auc", kernel="rbf", kernel_params={"gamma": 0.1}, n_folds=None
    ).fit(X, y)
    assert curved.value_ > linear.value_
    assert curved.value_ == pytest.approx(
        linear_rank_score(y, curved.decision_function(X), phi="wilcoxon")
    )


def test_scores_that_differ_by_rounding_are_tied(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(400, 3)) / 10
    y = (X[:, 0] + 0.2 * rng.logistic(size=400) > 0.2).astype(int)
    exact = _rank_statistic.merge_rounded
    expected = RankStatisticRanker("auc").fit(X, y)

    def otherwise_rounded(scores, rounding):
        return exact(scores + rounding * rng.choice([-0.4, 0.4], len(scores)), rounding)

    monkeypatch.setattr(_rank_statistic, "merge_rounded", otherwise_rounded)
    ranker = RankStatisticRanker("auc").fit(X, y)
    assert ranker.value_ == expected.value_
    np.testing.assert_array_equal(ranker.coef_, expected.coef_)


@for_each(
    ("wrong", "error", "message"),
    [
        ({"phi": "ndcg@10"}, ValueError, "phi='ndcg@10' is not a linear rank statistic: pass one"),
        ({"phi": ndcg_score}, ValueError, "is not a linear rank statistic"),
        ({"phi": local_auc_score}, TypeError, "u0"),
        ({"phi": "rocauc"}, ValueError, "'rocauc' is not the name of a measure"),
        ({"phi": LocalAUC(0.999)}, ValueError, "the same value at all 120 ranks"),
        ({"phi": lambda u: -u}, ValueError, "phi decreases"),
        ({"start": 3}, TypeError, "3 is not a classifier"),
        (
            {"start": make_pipeline(StandardScaler(), LogisticRegression())},
            TypeError,
            "has no coef_ with 5 coefficients: pass a linear classifier",
        ),
        ({"bandwidth": 0.0}, ValueError, "'bandwidth'"),
        ({"anchor": -1.0}, ValueError, "'anchor'"),
        ({"n_init": -1}, ValueError, "'n_init'"),
    ],
)
def test_what_is_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        RankStatisticRanker(**wrong).fit(*data())


def test_too_few_iterations_warn(capsys):
    X, y = data()
    ranker = RankStatisticRanker(max_iter=2, n_init=4, n_folds=None, random_state=0, verbose=1)
    with pytest.warns(ConvergenceWarning, match="did not converge within max_iter=2 iterations"):
        ranker.fit(X, y)
    assert ranker.n_iter_ == 2
    assert not ranker.converged_
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["iteration 1", "iteration 2"]
    assert lines[-1].endswith(f"best statistic {ranker.value_:.2e}")
