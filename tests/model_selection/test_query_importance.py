"""Permutation importance for measures over queries."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csc_array, csr_matrix
from sklearn.base import BaseEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.metrics import get_measure, get_scorer
from sklearn_rank.model_selection import query_permutation_importance

from .query_estimators import queries

X, y, qid = queries()
RANKER = OrderPreservingRanker(alpha=0.1).fit(X, y, qid=qid)
OPTIONS = {"qid": qid, "scoring": "ndcg@3", "n_repeats": 3, "random_state": 0}

both_ways = pytest.mark.parametrize("within", ["query", "all"])


@pytest.fixture(autouse=True, params=[True, False], ids=["routing", "no routing"])
def _routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield


class Watcher(BaseEstimator):
    """Scores by the first column times the sign of the last, and keeps the rows that it scored."""

    def fit(self, X, y):
        self.scored_ = []
        return self

    def predict(self, X):
        self.scored_.append(np.array(X))
        return X[:, 0] * np.where(X[:, -1] > 14.5, 1, -1)


@both_ways
def test_one_column_at_a_time_is_permuted_within_queries_or_in_all(within):
    watcher = Watcher().fit(X, y)
    found = query_permutation_importance(watcher, X, y, within=within, **OPTIONS)
    ndcg = get_measure("ndcg@3")
    sign = np.where(X[:, -1] > 14.5, 1, -1)
    base = ndcg(y, X[:, 0] * sign, qid=qid)
    scored = watcher.scored_
    np.testing.assert_array_equal(scored[0], X)
    assert len(scored) == 1 + 4 * 3
    for call, rows in enumerate(scored[1:]):
        feature, repeat = divmod(call, 3)
        others = [j for j in range(4) if j != feature]
        np.testing.assert_array_equal(rows[:, others], X[:, others])
        assert sorted(rows[:, feature]) == sorted(X[:, feature])
        kept = all(sorted(rows[qid == q, feature]) == sorted(X[qid == q, feature]) for q in qid)
        assert kept == (within == "query")
        score = rows[:, 0] * np.where(rows[:, -1] > 14.5, 1, -1)
        expected = base - ndcg(y, score, qid=qid)
        np.testing.assert_allclose(found.importances[feature, repeat], expected, atol=1e-12)
    np.testing.assert_allclose(found.importances_mean, found.importances.mean(axis=1))
    np.testing.assert_allclose(found.importances_std, found.importances.std(axis=1))
    np.testing.assert_array_equal(found.importances[1:3], 0.0)
    # The last column is constant within queries, and turns their order round.
    assert (found.importances[3] == 0.0).all() == (within == "query")
    assert found.importances_mean[0] > 0.0 or within == "query"


@pytest.mark.slow
def test_each_order_of_a_query_is_as_likely():
    n, q = 1000, np.tile([7, 7, 7, 3, 3], 1)
    watcher = Watcher().fit(None, None)
    rows = np.column_stack([np.arange(5.0), np.full(5, 20.0)])
    labels = np.array([2, 1, 0, 1, 0])
    query_permutation_importance(
        watcher, rows, labels, qid=q, scoring="ndcg", n_repeats=n, random_state=0
    )
    seen = np.array([scored[:, 0] for scored in watcher.scored_[1 : n + 1]])
    orders, counts = np.unique(seen, axis=0, return_counts=True)
    assert len(orders) == 12
    assert np.abs(counts / n - 1 / 12).max() < 5 * np.sqrt(1 / 12 / n)


@pytest.mark.slow
def test_agrees_with_scikit_learn_where_all_rows_are_one_query():
    scorer = get_scorer("spearman", single_list=True)
    model = Ridge().fit(X, y)
    theirs = permutation_importance(model, X, y, scoring=scorer, n_repeats=200, random_state=0)
    ours = query_permutation_importance(
        model, X, y, qid=np.zeros(len(y)), scoring="spearman", n_repeats=200, random_state=1
    )
    error = np.hypot(ours.importances_std, theirs.importances_std) / np.sqrt(200)
    assert np.all(np.abs(ours.importances_mean - theirs.importances_mean) <= 5 * error + 1e-12)


@both_ways
def test_any_container_gives_the_same(within):
    expected = query_permutation_importance(RANKER, X, y, within=within, **OPTIONS)
    names = list("abcd")
    X.setflags(write=False)
    for rows in (
        X.tolist(),
        csr_matrix(X),
        csc_array(X),
        pd.DataFrame(X, columns=names, index=np.arange(len(X))[::-1]),
        pl.DataFrame(X, schema=names),
    ):
        ranker = RANKER
        if hasattr(rows, "columns"):
            ranker = OrderPreservingRanker(alpha=0.1).fit(rows, y, qid=qid)
        found = query_permutation_importance(ranker, rows, y, within=within, **OPTIONS)
        np.testing.assert_allclose(found.importances, expected.importances, atol=1e-9)
    for ids in (qid.tolist(), pd.Series(qid), np.array([f"{q:02d}" for q in qid])):
        found = query_permutation_importance(
            RANKER, X, y, within=within, **{**OPTIONS, "qid": ids}
        )
        np.testing.assert_array_equal(found.importances, expected.importances)
    jobs = query_permutation_importance(RANKER, X, y, within=within, n_jobs=2, **OPTIONS)
    np.testing.assert_array_equal(jobs.importances, expected.importances)


@pytest.mark.parametrize(
    "scoring", [None, "ndcg@3", get_measure("ap", rel=2), get_scorer("err@5", max_grade=3)]
)
def test_pipelines_and_scorers(scoring):
    options = {**OPTIONS, "scoring": scoring}
    pipe = make_pipeline(StandardScaler(), OrderPreservingRanker())
    with sklearn.config_context(enable_metadata_routing=True):
        pipe.fit(X, y, groups=qid)
    found = query_permutation_importance(pipe, X, y, **options)
    assert found.importances.shape == (4, 3)
    assert found.importances_mean[0] > 0


def test_many_scorers():
    several = {"first": get_scorer("ndcg@1"), "third": get_scorer("ndcg@3")}
    found = query_permutation_importance(RANKER, X, y, **{**OPTIONS, "scoring": several})
    alone = query_permutation_importance(RANKER, X, y, **OPTIONS)
    assert set(found) == set(several)
    np.testing.assert_allclose(found["third"].importances, alone.importances)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"qid": None}, "query_permutation_importance got no"),
        ({"qid": 0}, "qid=0 is not an array"),
        ({"within": "queries"}, "within"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"scoring": "ndgc"}, "ndgc"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        query_permutation_importance(RANKER, X, y, **{**OPTIONS, **options})
