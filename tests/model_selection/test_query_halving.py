"""Successive halving by whole queries."""

import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.metrics import get_scorer
from sklearn_rank.model_selection import (
    HalvingQueryGridSearchCV,
    HalvingQueryRandomSearchCV,
    QueryKFold,
    QueryShuffleSplit,
)

from .query_estimators import Recorder, queries, whole

X, y, qid = queries(36)
GRID = {"j": [0, 1, 2, 3]}
CVS = [
    3,
    QueryKFold(3, random_state=0),
    QueryShuffleSplit(2, random_state=0),
    GroupKFold(3),
    PredefinedSplit(qid % 3),
    [(np.flatnonzero(qid % 3 > 0), np.flatnonzero(qid % 3 == 0))],
]


@pytest.fixture(autouse=True)
def _routing():
    Recorder.seen.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("cv", CVS, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize("kind", [int, object])
def test_each_step_takes_whole_queries(cv, kind):
    ids = queries(36, kind=kind)[2]
    search = HalvingQueryGridSearchCV(Recorder(), GRID, cv=cv, random_state=0)
    search.fit(X, y, groups=ids)
    assert search.n_resources_ == [12, 36]
    assert search.cv_results_["n_resources"].tolist() == [12] * 4 + [36] * 2
    for what, codes, seen in Recorder.seen:
        assert whole(codes, qid), what
        assert seen == [ids[np.argmax(qid == code)] for code in codes]
    fits = [len(set(codes)) for what, codes, _ in Recorder.seen if what == "fit"]
    assert fits[-1] == 36  # the refit
    if not isinstance(cv, QueryShuffleSplit):
        # Two thirds of the queries of the step.
        assert set(fits[: 4 * search.n_splits_]) == {8}
        assert set(fits[4 * search.n_splits_ : -1]) == {24}


def test_all_queries_of_a_step_are_in_the_next():
    search = HalvingQueryGridSearchCV(
        Recorder(), GRID, cv=CVS[-1], random_state=0, return_train_score=False
    )
    search.fit(X, y, groups=qid)
    fits = [set(codes) for what, codes, _ in Recorder.seen if what == "fit"]
    assert len({frozenset(step) for step in fits[:4]}) == 1
    assert fits[0] < fits[4]


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="before 1.8, scikit-learn routes nothing to the score of a search within a search",
)
def test_random_search_in_a_pipeline_with_a_scorer():
    pipe = make_pipeline(StandardScaler(), OrderPreservingRanker())
    draws = {"orderpreservingranker__alpha": loguniform(1e-3, 1e3)}
    search = HalvingQueryRandomSearchCV(
        pipe, draws, cv=3, scoring=get_scorer("ndcg@5"), random_state=0, error_score="raise"
    )
    first = clone(search).fit(X, y, groups=qid)
    assert first.n_resources_ == [6, 18]
    assert np.isfinite(first.cv_results_["mean_test_score"]).all()
    assert first.best_params_ == clone(search).fit(X, y, groups=qid).best_params_
    nested = cross_validate(
        search, X, y, cv=QueryKFold(2), params={"groups": qid}, error_score="raise"
    )
    assert np.isfinite(nested["test_score"]).all()


def test_resources_that_are_said():
    search = HalvingQueryGridSearchCV(
        Recorder(), GRID, cv=2, min_resources=6, max_resources=20, factor=2, random_state=0
    )
    assert search.fit(X, y, groups=qid).n_resources_ == [6, 12]
    search.set_params(aggressive_elimination=True, max_resources=11)
    assert search.fit(X, y, groups=qid).n_resources_ == [6, 6, 6]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": KFold(3)}, r"cv=KFold.* splits \d+ queries, such as .*cv=QueryKFold"),
        ({"cv": QueryKFold(3)}, "random_state to an int"),
        ({"max_resources": 40}, "max_resources=40 queries are more than the 36"),
        ({"min_resources": 40}, "min_resources=40 queries are more than the 36"),
        ({"cv": 20}, "is 40 queries, but there are only 36"),
        ({"cv": 1}, "n_splits"),
    ],
)
def test_bad_arguments(options, message):
    search = HalvingQueryGridSearchCV(Recorder(), GRID, **{"random_state": 0, **options})
    with pytest.raises(ValueError, match=message):
        search.fit(X, y, groups=qid)


@pytest.mark.parametrize("routing", [True, False])
def test_without_ids(routing):
    search = HalvingQueryGridSearchCV(Recorder(), GRID)
    with (
        sklearn.config_context(enable_metadata_routing=routing),
        pytest.raises(ValueError, match="HalvingQueryGridSearchCV got no groups"),
    ):
        search.fit(X, y)


def test_routing_off():
    """The splitter gets the ids as groups, the fits as qid; the ranker's score gets none."""
    with sklearn.config_context(enable_metadata_routing=False):
        search = HalvingQueryGridSearchCV(Recorder(), GRID, random_state=0)
        search.fit(X, y, groups=qid, qid=qid)
    assert all(whole(codes, qid) for _, codes, _ in Recorder.seen)
    assert all(seen is not None for what, _, seen in Recorder.seen if what == "fit")


@pytest.mark.filterwarnings("ignore:.*Scoring failed", "ignore:.*are non-finite")
def test_a_search_that_scores_no_candidate_fails():
    X, y, qid = queries()
    search = HalvingQueryGridSearchCV(
        OrderPreservingRanker(), {"alpha": [0.1, 1.0]}, scoring=get_scorer("err"), cv=2
    )
    with pytest.raises(ValueError, match=r"All scores are NaN, .* pass error_score='raise'"):
        search.fit(X, y, groups=qid)
    assert not hasattr(search, "best_estimator_")
    with pytest.raises(ValueError, match="err has no max_grade"):
        search.set_params(error_score="raise").fit(X, y, groups=qid)
