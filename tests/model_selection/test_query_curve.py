"""Learning curve over numbers of whole queries."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, LearningCurveDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.metrics import get_measure, get_scorer
from sklearn_rank.model_selection import QueryKFold, query_learning_curve

from .query_estimators import Recorder, queries, whole

X, y, qid = queries()


@pytest.fixture(autouse=True, params=[True, False], ids=["routing", "no routing"])
def _routing(request):
    Recorder.seen.clear()
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield


@pytest.mark.parametrize("cv", [3, QueryKFold(3, random_state=0), GroupKFold(3)], ids=repr)
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("kind", [int, object])
def test_each_fit_has_whole_queries_and_their_ids(cv, shuffle, kind):
    ids = queries(kind=kind)[2]
    sizes, train, test = query_learning_curve(
        Recorder(), X, y, qid=ids, cv=cv, train_sizes=[3, 20, 11], shuffle=shuffle, random_state=0
    )
    assert sizes.tolist() == [3, 11, 20]
    assert train.shape == test.shape == (3, 3)
    for _, codes, seen in Recorder.seen:
        assert whole(codes, qid)
        assert seen == [ids[np.argmax(qid == code)] for code in codes]
    fits = [set(codes) for what, codes, _ in Recorder.seen if what == "fit"]
    assert [len(fit) for fit in fits] == [3, 11, 20] * 3
    assert fits[0] < fits[1] < fits[2]
    if not shuffle and kind is int:
        assert fits[0] == set([code for code in pd.unique(qid) if code in fits[2]][:3])


def test_values_are_those_of_fits_by_hand():
    sizes, train, test, *times = query_learning_curve(
        OrderPreservingRanker(alpha=0.1),
        X,
        y,
        qid=qid,
        train_sizes=[0.25, 1.0],
        shuffle=False,
        scoring="ndcg@3",
        return_times=True,
    )
    assert sizes.tolist() == [6, 24]
    assert [part.shape for part in times] == [(2, 5)] * 2
    ndcg = get_measure("ndcg@3")
    for split, (rows, held) in enumerate(QueryKFold(shuffle=False).split(X, y, qid)):
        for tick, size in enumerate(sizes):
            part = rows[np.isin(qid[rows], pd.unique(qid[rows])[:size])]
            ranker = OrderPreservingRanker(alpha=0.1).fit(X[part], y[part], qid=qid[part])
            for found, of in ((train, part), (test, held)):
                value = ndcg(y[of], ranker.predict(X[of]), qid=qid[of])
                np.testing.assert_allclose(found[tick, split], value, rtol=1e-12)


@pytest.mark.parametrize("scoring", [None, "ndcg@3", get_measure("ndcg@3"), get_scorer("ndcg@3")])
def test_pipelines_frames_and_scorers(scoring):
    pipe = make_pipeline(StandardScaler(), OrderPreservingRanker())
    frame = pd.DataFrame(X, columns=list("abcd"))
    options = {"qid": pd.Series(qid), "cv": 2, "train_sizes": [0.5], "error_score": "raise"}
    sizes, train, test = query_learning_curve(pipe, frame, y, scoring=scoring, **options)
    assert sizes.tolist() == [7]
    assert np.isfinite([train, test]).all()


def test_estimators_that_ask_for_no_ids_or_by_another_name():
    options = {"qid": qid, "cv": 2, "train_sizes": [5], "error_score": "raise"}
    assert query_learning_curve(Ridge(), X, y, **options)[2].shape == (1, 2)
    assert query_learning_curve(Ridge(), X, y, scoring="ndcg@3", **options)[2].shape == (1, 2)
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = OrderPreservingRanker().set_fit_request(qid=True, sample_weight=True)
        scorer = get_scorer("ndcg@3").set_score_request(sample_weight=False)
        named = OrderPreservingRanker().set_fit_request(qid=True).set_score_request(qid=True)
    assert np.isfinite(query_learning_curve(named, X, y, **options)[2]).all()
    params = {"sample_weight": np.where(X[:, 1] > 0, 2.0, 1.0)}
    options |= {"random_state": 0, "scoring": scorer}
    found = query_learning_curve(weighted, X, y, params=params, **options)
    plain = query_learning_curve(OrderPreservingRanker(), X, y, **options)
    assert not np.allclose(found[2], plain[2])


def test_what_is_returned_can_be_drawn():
    sizes, train, test = query_learning_curve(Recorder(), X, y, qid=qid, cv=2)
    display = LearningCurveDisplay(train_sizes=sizes, train_scores=train, test_scores=test)
    assert display.plot(score_type="both") is display


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"qid": None}, "query_learning_curve got no"),
        ({"qid": 0}, "qid=0 is not an array"),
        ({"cv": KFold(3)}, r"KFold.* splits \d+ queries"),
        ({"train_sizes": [25]}, "from 1 to 24"),
        ({"train_sizes": [0]}, "from 1 to 24"),
        ({"train_sizes": [1.5]}, r"in \(0, 1\]"),
        ({"train_sizes": [0.0]}, r"in \(0, 1\]"),
        ({"train_sizes": []}, "train_sizes is empty"),
        ({"scoring": ["ndcg@3", "ap"]}, "has several measures"),
        ({"shuffle": 1}, "shuffle"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        query_learning_curve(Recorder(), X, y, **{"qid": qid, **options})
