"""The interval for the model fitted to all rows: the .632+ estimate from its definition."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection import cross_val_interval
from tests.model_selection.estimators import Share
from tests.oracles import cross_validation as oracle

B = 20


def rows(n_pos=12, n_neg=24, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n_pos, n_neg]))
    X = rng.normal(size=(len(y), 3))
    X[:, 0] += y
    return X, y


def interval(X, y, model=None, *, measure="auc", **options):
    options = {"cv": B, "random_state": 0} | options
    return cross_val_interval(
        model or LogisticRegression(), X, y, measure=measure, method="632+", **options
    )


def auc(y, score):
    return oracle.auc(score[y == 1].tolist(), score[y == 0].tolist())


@pytest.mark.parametrize(
    "model", [LogisticRegression(C=100.0), KNeighborsClassifier(3)], ids=["linear", "neighbours"]
)
def test_estimate_against_its_definition(model):
    X, y = rows()

    def score(train):
        return model.fit(X[train], y[train]).predict_proba(X)[:, 1]

    apparent, rng, left_out = auc(y, score(np.arange(len(y)))), np.random.default_rng(0), []
    for _ in range(B):
        # Rows drawn within each class.
        of_classes = np.flatnonzero(y), np.flatnonzero(1 - y)
        train = np.sort(np.concatenate([rng.choice(of, len(of)) for of in of_classes]))
        values, outside = score(train), np.setdiff1d(np.arange(len(y)), train)
        left_out.append(auc(y[outside], values[outside]))
    unseen = max(np.mean(left_out), 0.5)
    overfit = (apparent - unseen) / (apparent - 0.5)
    weight = 0.632 / (1 - 0.368 * overfit)
    assert 0 < overfit < 1
    found = interval(X, y, model)
    assert found.estimate == pytest.approx((1 - weight) * apparent + weight * unseen)
    assert found.target == "expected auc of the model fitted to all rows"
    assert found.estimate in found
    assert f"Apparent {apparent:.4f}, and {np.mean(left_out):.4f} on rows outside" in str(found)
    assert found.fold_values == ()


def test_nothing_learned_is_worth_what_chance_is():
    X, y = rows()
    assert interval(X, y, Share()).estimate == pytest.approx(0.5)


class Recorder(BaseEstimator):
    """Notes which ids and rows it is fitted to."""

    fits: list = []

    def fit(self, X, y, *, qid=None):
        self.fits.append((X[:, 0], None if qid is None else np.asarray(qid)))
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 1]


@pytest.mark.parametrize("grouped", [False, True], ids=["queries", "groups of queries"])
def test_copies_of_a_query_are_queries(grouped):
    rng, qid = np.random.default_rng(0), np.repeat(np.arange(12), 5)
    X = np.c_[np.arange(60), rng.normal(size=60)]
    y = rng.integers(0, 3, 60)
    y[::5] = 2
    Recorder.fits.clear()
    groups = qid // 2 if grouped else None
    found = interval(X, y, Recorder(), measure="ndcg@2", qid=qid, groups=groups)
    every, *drawn = Recorder.fits
    np.testing.assert_array_equal(every[1], qid)
    assert len(drawn) == B
    repeated = 0
    for row, ids in drawn:
        _, sizes = np.unique(ids, return_counts=True)
        assert set(sizes) == {5}  # a copy does not make a query longer
        of_rows = row.astype(int) // 5
        for one in np.unique(ids):
            assert len(np.unique(of_rows[ids == one])) == 1
        repeated += len(sizes) > len(np.unique(of_rows))
        if grouped:
            times = np.bincount(of_rows, minlength=12)
            np.testing.assert_array_equal(times[::2], times[1::2])
    assert repeated == B
    # What is learned is the same for all samples: the values of queries are those of all rows.
    values = get_measure("ndcg@2")(y, X[:, 1], qid=qid, average=None)
    assert abs(found.estimate - values.mean()) < 0.05


def test_groups_are_drawn_whole():
    X, y = rows()
    X[:, 0] = np.arange(len(y))
    Recorder.fits.clear()
    interval(X, y, Recorder(), groups=np.arange(len(y)) // 3)
    for row, _ in Recorder.fits[1:]:
        times = np.bincount(row.astype(int), minlength=len(y)).reshape(-1, 3)
        assert (times == times[:, :1]).all()
        assert times.sum() == len(y)


def test_the_same_seed_gives_the_same():
    X, y = rows()
    assert interval(X, y) == interval(X, y)
    assert interval(X, y) != interval(X, y, random_state=1)


def test_what_is_refused():
    X, y = rows()
    with pytest.raises(ValueError, match="cv=10"):
        interval(X, y, cv=10)
    with pytest.raises(ValueError, match="bootstrap samples has both classes"):
        interval(X, y, groups=y)
    with pytest.raises(ValueError, match="no known value for a random order"):
        interval(X, y, measure="accuracy_loss@top0.1")
