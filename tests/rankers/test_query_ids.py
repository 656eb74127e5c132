"""Ids of queries on their way through scikit-learn, and the memory of those trained on."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)

from sklearn_rank import OrderPreservingRanker
from sklearn_rank import _lists as memory
from sklearn_rank._lists import TrainingQueries
from sklearn_rank.exceptions import (
    LargeGainWarning,
    QueryOverlapWarning,
    QuerySetupError,
    ScorerSetupError,
)
from sklearn_rank.metrics import get_measure

CV = GroupKFold(3)


def data(n_queries=12, seed=0):
    """Queries of six rows, in random order, with words as ids."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat([f"query {i}" for i in range(n_queries)], 6))
    X = rng.normal(size=(len(qid), 3))
    y = rng.binomial(2, 1 / (1 + np.exp(-2 * X[:, 0])))
    for one in np.unique(qid):
        rows = np.flatnonzero(qid == one)
        y[rows[:2]] = [0, 2]
    return X, y, qid


# ------------------------------------------------------------------------- cut and lost queries


def test_rows_of_weight_0_are_no_part_of_a_query(routing):
    X, y, qid = data()
    order = np.argsort(qid)
    X, y, qid = X[order], y[order], qid[order]
    weight = np.ones(72)
    weight[6:9] = 0
    ranker = (
        OrderPreservingRanker()
        .set_fit_request(sample_weight=True)
        .set_score_request(sample_weight=True)
    )
    split = [(np.arange(9, 72), np.arange(9))]
    params = {"groups": qid, "sample_weight": weight}
    values = cross_validate(ranker, X, y, cv=split, params=params, error_score="raise")
    assert np.isfinite(values["test_score"]).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_an_outer_split_that_cuts_is_found_behind_an_inner_one_that_does_not(routing):
    X, y, qid = data()
    inner = GridSearchCV(OrderPreservingRanker(), {"alpha": [1.0]}, cv=CV)
    cv, params = KFold(3), {"groups": qid}
    with pytest.raises(QuerySetupError, match="OrderPreservingRanker was trained on other rows"):
        cross_val_score(inner, X, y, cv=cv, params=params, error_score="raise")


# ------------------------------------------------------------------ memory of training queries


def remembered(ids, labels):
    ids, starts = np.unique(ids, return_index=True)
    return TrainingQueries.of(ids, np.append(starts, len(labels)), np.asarray(labels, float))


def test_hashes_do_not_depend_on_the_type_of_numbers():
    by_type = [
        memory._hashes_of_ids(np.array([3, 7], dtype=kind)).tolist()
        for kind in ("i1", "u2", "i8", "u8", "f4", "f8", object)
    ]
    assert all(one == by_type[0] for one in by_type)
    assert memory._hashes_of_ids(np.array([-1, 2**40])).tolist() == (
        memory._hashes_of_ids(np.array([-1.0, 2.0**40])).tolist()
    )
    words = np.array(["3", "7"])
    assert (
        memory._hashes_of_ids(words).tolist()
        == memory._hashes_of_ids(words.astype(object)).tolist()
    )
    assert memory._hashes_of_ids(words).tolist() != by_type[0]
    days = np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]")
    assert (
        memory._hashes_of_ids(days).tolist()
        == memory._hashes_of_ids(days.astype("M8[s]")).tolist()
    )
    assert len(set(memory._hashes_of_ids(np.array([0.5, 1.5, 2.0])).tolist())) == 3
    assert len(set(memory._hashes_of_ids(np.arange(10**5)).tolist())) == 10**5


@pytest.mark.slow
def test_hashes_are_the_same_in_all_processes():
    code = (
        "import numpy as np; from sklearn_rank import _lists as m;"
        "print(m._hashes_of_ids(np.array(['a', 'b'])).tolist())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == str(memory._hashes_of_ids(np.array(["a", "b"])).tolist())


def test_batches_are_joined():
    whole = remembered([1, 1, 2, 2, 2], [0, 1, 2, 0, 0])
    first, second = remembered([1, 1, 2], [0, 1, 2]), remembered([2, 2], [0, 0])
    assert first.joined(second) == whole
    assert whole.joined(whole) == whole
    assert whole.joined(TrainingQueries.of(None, np.array([0, 3]), np.zeros(3))) == whole
    assert first.joined(second) != first
    assert repr(whole) == "<TrainingQueries: 2>"


def test_of_many_queries_a_sample_is_remembered_and_judged_exactly(monkeypatch):
    monkeypatch.setattr(memory, "MAX_REMEMBERED", 50)
    ids = np.arange(1000)
    offsets, labels = np.arange(0, 2001, 2), np.tile([0.0, 1.0], 1000)
    trained = TrainingQueries.of(ids, offsets, labels)
    assert len(trained.hashes) == 50
    halves = [
        TrainingQueries.of(ids[part], offsets[:501], labels[:1000])
        for part in (slice(500), slice(500, 1000))
    ]
    assert halves[0].joined(halves[1]) == trained
    memory.check_overlap(memory.Overlap.of(trained, ids, offsets, labels), "Ranker")
    memory.check_overlap(memory.Overlap.of(trained, ids + 1000, offsets, labels), "Ranker")
    with pytest.warns(QueryOverlapWarning, match=r"judged by a sample"):
        memory.check_overlap(memory.Overlap.of(trained, ids + 500, offsets, labels), "Ranker")


def test_the_memory_is_that_of_partial_fit_and_of_undefined_queries():
    X, y, qid = data()
    first = np.isin(qid, np.unique(qid)[:5])
    y[qid == "query 0"] = 0  # no AUC there
    ranker = OrderPreservingRanker("pointwise_squared", measure="auc")
    y = np.minimum(y, 1)
    whole = ranker.fit(X, y, qid=qid)
    assert whole.n_queries_ == 11
    assert len(whole.training_queries_.hashes) == 12
    with pytest.warns(UndefinedMetricWarning):  # and of no query that was trained on
        whole.score(X, y, qid=qid)
    batches = OrderPreservingRanker("pointwise_squared", measure="auc")
    batches.partial_fit(X[first], y[first], qid=qid[first])
    batches.partial_fit(X[~first], y[~first], qid=qid[~first])
    assert batches.training_queries_ == whole.training_queries_
    assert batches.n_queries_ == 11


def test_rows_of_weight_0_were_not_trained_on():
    X, y, qid = data()
    held = np.isin(qid, np.unique(qid)[:5])
    ranker = OrderPreservingRanker().fit(X, y, qid=qid, sample_weight=(~held).astype(int))
    ranker.score(X, y, qid=qid, sample_weight=held.astype(int))
    ranker.score(X[held], y[held], qid=qid[held])
    with pytest.warns(QueryOverlapWarning, match="on 7 of the 12"):
        ranker.score(X, y, qid=qid)
    with pytest.warns(QueryOverlapWarning, match="on 7 of the 12"):
        ranker.score(X, y.astype(object), qid=qid)


# ------------------------------------------------------------------------ labels that are counts


def test_clicks_and_revenue_are_no_grades():
    X, y, qid = data()
    ranker = OrderPreservingRanker()
    told = r'get_measure\("n?dcg", gain="linear"\)'
    for largest in (1024, 5000, 1e6):
        clicks = np.where(y == 2, largest, y)
        with pytest.raises(ValueError, match=told):
            ranker.fit(X, clicks, qid=qid)
        for found in (get_measure("ndcg"), get_measure("dcg@5")):
            with pytest.raises(ValueError, match=told):
                found(clicks, X[:, 0], qid=qid)
        linear = clone(ranker).set_params(measure=get_measure("ndcg", gain="linear"))
        assert 0 < linear.fit(X, clicks, qid=qid).score(X, clicks, qid=qid) <= 1
        fitted = clone(ranker).fit(X, y, qid=qid)
        with pytest.raises(ScorerSetupError, match=told):
            fitted.score(X, clicks, qid=qid)
    for largest in (51, 1023):
        with pytest.warns(LargeGainWarning, match=rf"got the relevance {largest}, whose gain"):
            clone(ranker).fit(X, np.where(y == 2, largest, y), qid=qid)
    clone(ranker).fit(X, np.where(y == 2, 50, y), qid=qid)
