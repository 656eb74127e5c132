"""RankBoostRanker: the paper's algorithm, its stages, what it keeps, what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import RankBoostRanker
from sklearn_rank.metrics import roc_auc_score
from tests.oracles import rank_boost as oracle

pytestmark = pytest.mark.usefixtures("two_folds")
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def data(n=60, seed=0):
    return make_classification(
        n, n_features=4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=seed
    )


@pytest.mark.parametrize("weak_ranker", ["stump", "linear"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_scores_are_those_of_all_pairs(weak_ranker, container):
    X, y = data(30)
    X *= np.random.default_rng(0).random(X.shape) < 0.7
    weight = np.random.default_rng(0).integers(1, 4, 30)
    ranker = RankBoostRanker(6, weak_ranker=weak_ranker).fit(container(X), y, weight)
    chosen, losses = oracle.rank_boost(
        X, y == 1, weight, n_rounds=6, linear=weak_ranker == "linear"
    )
    expected = oracle.scores_of(chosen, X)
    scores = ranker.decision_function(container(X))
    np.testing.assert_allclose(scores - scores[0], expected - expected[0], atol=1e-9)
    np.testing.assert_allclose(ranker.train_loss_, losses, rtol=1e-9)
    assert ranker.objective_ == ranker.train_loss_[-1]
    np.testing.assert_allclose(ranker.alphas_, [alpha for _, alpha in chosen])
    names = [weak if weak_ranker == "linear" else weak[0] for weak, _ in chosen]
    assert ranker.features_.tolist() == names
    if weak_ranker == "stump":
        np.testing.assert_allclose(ranker.thresholds_, [weak[1] for weak, _ in chosen])
        assert not hasattr(ranker, "coef_")
    else:
        decision = container(X) @ ranker.coef_[0] + ranker.intercept_[0]
        np.testing.assert_allclose(decision, scores)


@pytest.mark.parametrize("weak_ranker", ["stump", "linear", TREE])
def test_theorem_1(weak_ranker):
    """The share of pairs in the wrong order, or tied, is at most the product of the Z."""
    X, y = data(80)
    weight = np.random.default_rng(0).integers(1, 3, 80)
    ranker = RankBoostRanker(20, weak_ranker=weak_ranker).fit(X, y, weight)
    assert np.all(np.diff(ranker.train_loss_) < 0)
    for stage, loss in zip(ranker.staged_decision_function(X), ranker.train_loss_, strict=True):
        pairs = oracle.pairs_of(y == 1)
        wrong = [weight[a] * weight[b] * (stage[a] >= stage[b]) for a, b in pairs]
        assert sum(wrong) / sum(weight[a] * weight[b] for a, b in pairs) <= loss + 1e-12
        assert oracle.exponential_loss(stage, y == 1, weight) == pytest.approx(loss)


@pytest.mark.parametrize(("weak_ranker", "positive"), [("stump", 0), ("linear", 1), (TREE, 0)])
def test_stages_end_at_the_ranker(weak_ranker, positive):
    X, y = data()
    ranker = RankBoostRanker(5, weak_ranker=weak_ranker, pos_label=positive).fit(X, y)
    stages = list(ranker.staged_decision_function(X))
    assert len(stages) == ranker.n_iter_ == 5
    np.testing.assert_allclose(stages[-1], ranker.decision_function(X), atol=1e-12)
    predictions = list(ranker.staged_predict(X))
    np.testing.assert_array_equal(predictions[-1], ranker.predict(X))
    assert ranker.staged_thresholds_[-1] == ranker.threshold_
    for number, (stage, classes) in enumerate(zip(stages, predictions, strict=True), start=1):
        shorter = clone(ranker).set_params(n_estimators=number).fit(X, y)
        scores = shorter.decision_function(X)
        np.testing.assert_allclose(stage - stage[0], scores - scores[0], atol=1e-12)
        assert np.mean(classes == y) > 0.5
    # What was learned does not depend on what the parameters are set to afterwards.
    ranker.set_params(weak_ranker="stump" if weak_ranker != "stump" else "linear")
    np.testing.assert_array_equal(list(ranker.staged_decision_function(X)), stages)


def test_one_weak_ranker_that_separates_ends_the_boosting():
    X, y = np.array([[3.0, 0.0], [4.0, 1.0], [7.0, 0.0], [9.0, 1.0]]), np.array([1, 1, 0, 0])
    for weak_ranker in ("stump", DecisionTreeClassifier(max_depth=1)):
        ranker = RankBoostRanker(weak_ranker=weak_ranker, learning_rate=0.1).fit(X, y)
        assert ranker.n_iter_ == 1
        assert ranker.converged_
        assert abs(ranker.alphas_[0]) == 5.0
        assert ranker.objective_ == pytest.approx(np.exp(-5.0))
        np.testing.assert_array_equal(ranker.predict(X), y)
    stump = RankBoostRanker().fit(X, y)
    assert (stump.features_.tolist(), stump.thresholds_.tolist()) == ([0], [5.5])
    assert stump.alphas_[0] == -5.0
    assert stump.gradient_norm_ == pytest.approx(1.0)


def test_a_separating_weak_ranker_outweighs_those_before_it():
    class Later(DecisionTreeClassifier):
        """Poor in its first fits."""

        n_fits = 0

        def fit(self, X, y, sample_weight=None):
            type(self).n_fits += 1
            self.set_params(max_depth=1 if type(self).n_fits <= 60 else None)
            return super().fit(X, y, sample_weight=sample_weight)

    X, y = data(100)
    ranker = RankBoostRanker(100, weak_ranker=Later(), learning_rate=1.0).fit(X, y)
    assert ranker.n_iter_ == 61
    assert abs(ranker.alphas_[-1]) == 1 + np.abs(ranker.alphas_[:-1]).sum() > 5.0
    assert roc_auc_score(y, ranker.decision_function(X)) == 1.0


@pytest.mark.parametrize("weak_ranker", ["stump", "linear"])
def test_the_end_is_where_no_weak_ranker_is_left(weak_ranker):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 2)), rng.integers(0, 2, 60)
    ranker = RankBoostRanker(10**5, weak_ranker=weak_ranker, tol=1e-6).fit(X, y)
    assert ranker.converged_
    assert ranker.n_iter_ < 10**5
    assert ranker.gradient_norm_ <= 1e-6
    early = RankBoostRanker(3, weak_ranker=weak_ranker).fit(X, y)
    assert not early.converged_
    assert early.gradient_norm_ > 1e-6


def test_nothing_to_learn_from_constant_features():
    X, y = np.ones((6, 2)), [0, 1, 0, 1, 1, 1]
    for weak_ranker in ("stump", "linear", TREE):
        ranker = RankBoostRanker(weak_ranker=weak_ranker).fit(X, y)
        assert ranker.n_iter_ == 0
        assert ranker.objective_ == 1.0
        assert len(set(ranker.decision_function(X))) == 1
        assert ranker.predict(X).tolist() == [1] * 6
        assert list(ranker.staged_predict(X)) == []


def test_float32_rows_are_on_their_side_of_the_thresholds():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(200, 3)), 2)
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=200) > 0).astype(int)
    ranker = RankBoostRanker(50).fit(X, y)
    np.testing.assert_array_equal(
        ranker.decision_function(X.astype(np.float32)), ranker.decision_function(X)
    )


def test_importances_are_shares_of_the_reduction_of_the_loss():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (2 * X[:, 0] + X[:, 1] + rng.normal(size=300) > 0).astype(int)
    for weak_ranker in ("stump", "linear", TREE):
        ranker = RankBoostRanker(15, weak_ranker=weak_ranker).fit(X, y)
        importance = ranker.feature_importances_
        assert importance.sum() == pytest.approx(1.0)
        assert importance[0] > importance[1] >= importance[2]
    ranker = RankBoostRanker(5).fit(X, y)
    gains = -np.diff(np.log(ranker.train_loss_), prepend=0.0)
    for j in range(3):
        share = gains[ranker.features_ == j].sum() / gains.sum()
        assert ranker.feature_importances_[j] == pytest.approx(share)
    none = RankBoostRanker(2, weak_ranker=LogisticRegression()).fit(X, y)
    assert not hasattr(none, "feature_importances_")


# ------------------------------------------------------------------------------------- estimators


@pytest.mark.parametrize(
    "estimator",
    [
        TREE,
        LinearSVC(),
        Ridge(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.ThresholdWarning")
def test_estimators_as_weak_rankers(estimator):
    X, y = data(150)
    ranker = RankBoostRanker(10, weak_ranker=estimator, random_state=0).fit(X, y)
    assert np.all(np.diff(ranker.train_loss_) < 0)
    assert np.isnan(ranker.gradient_norm_)
    assert not ranker.converged_
    assert len(ranker.estimators_) == ranker.n_iter_ == len(ranker.estimator_ranges_)
    one = RankBoostRanker(1, weak_ranker=estimator, random_state=0).fit(X, y)
    auc = [roc_auc_score(y, r.decision_function(X)) for r in (one, ranker)]
    assert auc[1] >= auc[0] > 0.7
    # Beyond the training scores a weak ranker stays between 0 and 1.
    far = ranker.decision_function(1e6 * X)
    assert np.ptp(far) <= np.abs(ranker.alphas_).sum() + 1e-9


def test_random_estimators_follow_the_seed():
    X, y = data(100)
    forest = RandomForestClassifier(3, max_depth=2)
    made = [
        RankBoostRanker(3, weak_ranker=forest, random_state=seed).fit(X, y) for seed in (0, 0, 1)
    ]
    scores = [ranker.decision_function(X) for ranker in made]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.any(scores[0] != scores[2])
    seeds = [fit.random_state for fit in made[0].estimators_]
    assert len(set(seeds)) == 3
    nested = make_pipeline(StandardScaler(), forest)
    again = RankBoostRanker(3, weak_ranker=nested, random_state=0)
    np.testing.assert_array_equal(
        again.fit(X, y).decision_function(X), clone(again).fit(X, y).decision_function(X)
    )


# ------------------------------------------------------------------------------ what a user types


def test_what_is_refused():
    X, y = data(30)
    for bad, error, message in (
        ({"weak_ranker": "stumps"}, ValueError, "a str among {.*} or an object impl"),
        ({"weak_ranker": None}, ValueError, "The 'weak_ranker' parameter"),
        ({"weak_ranker": DecisionTreeClassifier}, TypeError, "neither a classifier nor a reg"),
        ({"weak_ranker": StandardScaler()}, TypeError, "neither a classifier nor a regressor"),
        ({"weak_ranker": KNeighborsClassifier()}, TypeError, "has no fit.X, y, sample_weight=.,"),
        ({"learning_rate": 1.5}, ValueError, "'learning_rate' parameter"),
        ({"learning_rate": 0}, ValueError, "'learning_rate' parameter"),
        ({"n_estimators": 0}, ValueError, "'n_estimators' parameter"),
        ({"tol": -1.0}, ValueError, "'tol' parameter"),
    ):
        with pytest.raises(error, match=message):
            RankBoostRanker(**bad).fit(X, y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        RankBoostRanker().fit(X, y)


def test_another_weak_ranker_leaves_nothing_of_the_one_before():
    X, y = data()
    ranker = RankBoostRanker(4, weak_ranker=LogisticRegression()).fit(X, y)
    for weak_ranker in ("linear", "stump", TREE):
        ranker.set_params(weak_ranker=weak_ranker).fit(X, y)
        fresh = clone(ranker).fit(X, y)
        assert set(vars(ranker)) == set(vars(fresh))
        np.testing.assert_array_equal(ranker.decision_function(X), fresh.decision_function(X))


def test_lines_on_the_progress(capsys):
    X, y = data()
    RankBoostRanker(3, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("alpha ") and ", loss 0." in line for line in lines)
    RankBoostRanker(3).fit(X, y)
    assert capsys.readouterr().err == ""
