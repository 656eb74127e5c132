"""What has ``n_jobs``, on the processes of a cluster of dask: the results of one process."""

import os
from dataclasses import dataclass

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import (
    AccuracyAtTopRanker,
    AccuracyAtTopRankerCV,
    OrderPreservingRanker,
    RankEnsemble,
    TopFocusedRanker,
)
from sklearn_rank._solvers import PivotProblem, count_threads, solve_candidates
from sklearn_rank._solvers._accuracy_at_top import SentOnce, in_blocks
from sklearn_rank.datasets import make_subset_ranking
from sklearn_rank.exceptions import QuerySetupError, ScorerSetupError
from sklearn_rank.metrics import get_scorer
from sklearn_rank.model_selection import BoundSearchCV, QueryKFold

pytestmark = pytest.mark.slow

QUERIES = make_subset_ranking(30, n_items=8, return_X_y=True, random_state=0)


@pytest.fixture
def on_dask(client):
    """The backend of dask, and ids of queries that are routed."""
    with config_context(enable_metadata_routing=True), joblib.parallel_config(backend="dask"):
        yield client


def classes(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), (rng.random(n) < 0.4).astype(int)
    X[:, 0] += y
    return X, y


def locally(call):
    """The result in this process alone, whatever backend is active."""
    with joblib.parallel_config(backend="sequential"):
        return call()


# ------------------------------------------------------------------------------------- the blocks


@dataclass(frozen=True, eq=False)
class Counted(SentOnce):
    """Counts in each process how often it arrives."""

    matrix: np.ndarray

    def __setstate__(self, state):
        super().__setstate__(state)
        ARRIVED.append(1)


ARRIVED: list[int] = []


def arrivals(work, block):
    return os.getpid(), len(ARRIVED), float(work.matrix[block].sum())


def test_what_all_blocks_need_arrives_once_in_each_worker(on_dask):
    work = Counted(np.arange(60_000.0).reshape(200, 300))
    blocks = [np.array([k]) for k in range(24)]
    with in_blocks(arrivals, work, blocks, n_jobs=None) as done:
        processes, counts, sums = zip(*done, strict=True)
    assert os.getpid() not in processes
    assert set(counts) == {1}
    assert list(sums) == work.matrix[:24].sum(axis=1).tolist()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_large_problems_have_the_same_bits(form, on_dask):
    X, y = classes(130, 100)
    signs = np.where(y, 1.0, -1.0)
    problem = PivotProblem.from_rows(form(X), signs, np.full(130, 0.01), np.ones(130))
    tops = [(problem.mass, 10.0)]
    found, expected = (
        solve_candidates(problem, tops),
        locally(lambda: solve_candidates(problem, tops)),
    )
    for name, values in expected.values._asdict().items():
        np.testing.assert_array_equal(getattr(found.values, name), values)
    picked = np.array([2, 90])
    np.testing.assert_array_equal(found.coefs(picked), locally(lambda: expected.coefs(picked)))


def test_errors_and_interrupts_end_a_fit(on_dask, monkeypatch):
    X, y = classes()
    with pytest.raises(ValueError, match=r"^The scores overflow"), np.errstate(all="ignore"):
        AccuracyAtTopRanker(tau=0.1).fit(X * 1e200, y)
    ranker = AccuracyAtTopRanker(tau=0.1).fit(X[:40], y[:40])
    before, calls = ranker.coef_, []

    def interrupted(self):
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sklearn_rank.rankers._base.FitProgress.block_done", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ranker.fit(X, y)
    assert ranker.coef_ is before
    ranker.fit(X, y)
    expected = locally(lambda: AccuracyAtTopRanker(tau=0.1).fit(X, y))
    np.testing.assert_array_equal(ranker.coef_, expected.coef_)


def test_threads_within_a_fit_are_not_those_of_the_cluster(on_dask):
    assert count_threads(None) == 1
    assert count_threads(3) == 3
    assert count_threads(-1) == joblib.cpu_count()


# ------------------------------------------------------------------------------------ the rankers


OF_CLASSES, OF_QUERIES = (*classes(70), {}), (*QUERIES[:2], {"qid": QUERIES[2]})
CASES = [
    (AccuracyAtTopRankerCV(tau=0.1, param_grid={"C": [0.01, 0.1]}, cv=2), OF_CLASSES),
    (TopFocusedRanker(LogisticRegression(), cv=3), OF_CLASSES),
    (
        RankEnsemble(
            [("a", OrderPreservingRanker(alpha=1.0)), ("b", OrderPreservingRanker())],
            weights="fitted",
        ),
        OF_QUERIES,
    ),
]


@pytest.mark.parametrize(("ranker", "data"), CASES, ids=lambda case: type(case).__name__)
def test_rankers_learn_the_same(ranker, data, on_dask):
    X, y, params = data
    with config_context(enable_metadata_routing=False):
        found = clone(ranker).fit(X, y, **params)
        expected = locally(lambda: clone(ranker).fit(X, y, **params))
        scores = [one.decision_function(X, **params) for one in (found, expected)]
    np.testing.assert_array_equal(*scores)


# ----------------------------------------------------------------------------------- the searches


def searches():
    pipe = make_pipeline(StandardScaler(), OrderPreservingRanker())
    grid = {"orderpreservingranker__alpha": [0.1, 1.0]}
    options = {"cv": QueryKFold(3, random_state=0), "error_score": "raise"}
    return [
        GridSearchCV(pipe, grid, scoring=get_scorer("ndcg@5"), **options),
        BoundSearchCV(
            OrderPreservingRanker(), {"alpha": [0.1, 1.0]}, measure="ndcg@5", cv=3, random_state=0
        ),
    ]


@pytest.mark.parametrize("search", searches(), ids=lambda search: type(search).__name__)
def test_searches_of_queries_find_the_same(search, on_dask):
    X, y, qid = QUERIES
    found = clone(search).fit(X, y, groups=qid)
    expected = locally(lambda: clone(search).fit(X, y, groups=qid))
    assert found.best_params_ == expected.best_params_
    for name, values in expected.cv_results_.items():
        if "score" in name and "time" not in name:
            np.testing.assert_array_equal(found.cv_results_[name], values, err_msg=name)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_over_fits_that_are_shared_themselves(n_jobs, on_dask):
    X, y = classes()
    ranker = AccuracyAtTopRanker(tau=0.1, n_jobs=n_jobs)
    search = GridSearchCV(ranker, {"C": [0.01, 0.1]}, cv=3, error_score="raise")
    found, expected = clone(search).fit(X, y), locally(lambda: clone(search).fit(X, y))
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_setups_that_are_wrong_end_a_search(on_dask):
    X, y, qid = QUERIES
    cut = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(OrderPreservingRanker(), {"alpha": [0.1]}, cv=cut, error_score="raise")
    with pytest.raises(QuerySetupError, match=r"on other rows of \d+ of the \d+ .*QueryKFold"):
        search.fit(X, np.minimum(y, 1).astype(int), groups=qid)
    told = {"scoring": get_scorer("auc"), "cv": 3, "error_score": "raise"}
    X, y = classes()
    with pytest.raises(ScorerSetupError, match="pass pos_label="):
        cross_val_score(LogisticRegression(), X, np.where(y == 1, "fraud", "ok"), **told)


def test_a_task_of_ones_own_gives_the_error_back(on_dask):
    X, y, _ = QUERIES
    ranker = OrderPreservingRanker().fit(*QUERIES[:2], qid=QUERIES[2])
    task = on_dask.submit(ranker.score, X, y)
    with pytest.raises(ScorerSetupError, match="got no qid"):
        task.result(timeout=60)
