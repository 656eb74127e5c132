"""Scorers of dask collections: those of the same rows in memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.exceptions import QueryOverlapWarning, ScorerSetupError
from sklearn_rank.metrics import get_scorer

N = 60
RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(N, 3))
POSITIVE = FEATURES[:, 0] + RNG.normal(size=N) > 0
GRADES = np.clip(np.round(FEATURES[:, 0] + 1.5), 0, 3)
QID = np.repeat(np.arange(10), 6)
X, ODD = da.from_array(FEATURES, chunks=(18, 2)), da.from_array(FEATURES, chunks=(25, 3))


def lazily(values, chunks=18):
    return da.from_array(values, chunks=chunks)


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("name", ["auc", "precision@top0.2", "pos@top"])
def test_classifiers(name, words):
    labels = np.where(POSITIVE, "a", "b") if words else POSITIVE.astype(int)
    model = LogisticRegression().fit(FEATURES, labels)
    scorer = get_scorer(name, pos_label="a" if words else None)
    expected = scorer(model, FEATURES, labels)
    assert scorer(model, X, lazily(labels)) == pytest.approx(expected)
    assert scorer(model, ODD, labels) == pytest.approx(expected)
    weight = np.arange(N) % 3
    weighted = scorer(model, FEATURES, labels, sample_weight=weight)
    found = scorer(model, X, lazily(labels), sample_weight=lazily(weight))
    assert found == pytest.approx(weighted)


def test_frames_keep_the_names_of_features():
    frame = pd.DataFrame(FEATURES, columns=["f", "g", "h"])
    model = Ridge().fit(frame, GRADES)
    scorer = get_scorer("ndcg@3")
    expected = scorer(model, frame, GRADES, qid=QID)
    lazy = dd.from_pandas(frame.assign(grade=GRADES, query=QID), chunksize=12)
    found = scorer(model, lazy[["f", "g", "h"]], lazy.grade, qid=lazy["query"])
    assert found == pytest.approx(expected)


def test_rankers_of_queries():
    ranker = OrderPreservingRanker(alpha=1.0).fit(FEATURES, GRADES, qid=QID)
    scorer = get_scorer("ndcg@3")
    arguments = {"qid": QID + 100, "query_weight": np.repeat(np.arange(1.0, 11.0), 6)}
    expected = scorer(ranker, FEATURES, GRADES, **arguments)
    lazy = {name: lazily(value) for name, value in arguments.items()}
    assert scorer(ranker, X, lazily(GRADES), **lazy) == pytest.approx(expected)
    scorer(ranker, X, lazily(GRADES), qid=lazily(QID))  # a training score
    with pytest.warns(QueryOverlapWarning, match=r"trained on 3 of the 10 queries"):
        scorer(ranker, X, lazily(GRADES), qid=lazily(np.where(QID < 3, QID, QID + 100)))


def test_what_cannot_be_scored():
    labels = POSITIVE.astype(int)
    model = LogisticRegression().fit(FEATURES, labels)
    y = lazily(labels)
    with pytest.raises(ScorerSetupError, match="got no qid"):
        get_scorer("ndcg@3", qid=True)(model, X, y)
    with pytest.raises(ValueError, match="All labels are 0"):
        get_scorer("auc")(model, X, y * 0)
    with pytest.raises(ValueError, match="y has the label 7"):
        get_scorer("auc")(model, X, y * 7)
    with pytest.raises(ValueError, match=r"^chunk \d: .* has 2 features"):
        get_scorer("auc")(model, X[:, :2], y)
    scorer = get_scorer("ap", single_list=True)
    with pytest.raises(ValueError, match="n_relevant of one list"):
        scorer(model, X, y, n_relevant=50)
    graded = Ridge().fit(FEATURES, GRADES)
    with pytest.raises(ScorerSetupError, match="max_grade"):
        get_scorer("err")(graded, X, lazily(GRADES), qid=lazily(QID))
    values = RNG.permutation(N * 50).astype(float)
    with pytest.raises(ScorerSetupError, match="positive class is unknown"):
        get_scorer("auc")(graded, da.from_array(np.ones((N * 50, 3)), 500), lazily(values, 500))
