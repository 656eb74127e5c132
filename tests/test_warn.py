"""Warnings are given once a call of the user, whatever a search calls them from."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.svm import LinearSVR

from sklearn_rank import OrderPreservingRanker, RankEnsemble, TopFocusedRanker
from sklearn_rank.exceptions import QueryOverlapWarning
from sklearn_rank.metrics import get_scorer, ndcg_score
from sklearn_rank.model_selection import QueryKFold

RNG = np.random.default_rng(0)
X, y, QID = RNG.normal(size=(300, 3)), RNG.binomial(1, 0.1, 300), np.repeat(np.arange(60), 5)
CV = QueryKFold(3, random_state=0)


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def search(**told):
    return GridSearchCV(OrderPreservingRanker(), {"alpha": [0.1, 1.0, 10.0]}, cv=CV, **told).fit(
        X, y, groups=QID
    )


CALLS = {
    "search": search,
    "scorers": lambda: search(scoring=get_scorer("ndcg@5")),
    "validation": lambda: cross_validate(
        OrderPreservingRanker(), X, y, cv=CV, params={"groups": QID}, return_train_score=True
    ),
    "direct": lambda: ndcg_score(y, X[:, 0], qid=QID),
}


@pytest.mark.parametrize("name", CALLS)
def test_once_a_call(name):
    with warnings.catch_warnings(record=True) as caught:
        for _ in range(2):
            warnings.simplefilter("always")  # so that Python's own registry is forgotten
            CALLS[name]()
    assert [one.category for one in caught] == [UndefinedMetricWarning] * 2
    assert {one.filename for one in caught} == {__file__}


UNSOLVED = LogisticRegression(max_iter=1)
MANY_FITS = {
    "rounds": lambda: TopFocusedRanker(UNSOLVED, tau=0.1).fit(X, y),
    "folds": lambda: TopFocusedRanker(UNSOLVED, pilot_ranks="out_of_fold").fit(X, y),
    "workers": lambda: TopFocusedRanker(UNSOLVED, pilot_ranks="out_of_fold", n_jobs=2).fit(X, y),
    "members": lambda: RankEnsemble(
        [("a", LinearSVR(max_iter=1)), ("b", LinearSVR(max_iter=1))], weights="fitted"
    ).fit(X, RNG.integers(0, 3, 300), qid=QID),
}


@pytest.mark.parametrize("name", MANY_FITS)
def test_solvers_of_a_fit_warn_once(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        MANY_FITS[name]()
    assert [(one.category, one.filename) for one in caught] == [(ConvergenceWarning, __file__)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with pytest.raises(ConvergenceWarning):
            MANY_FITS[name]()


def test_other_messages_of_a_call_are_given():
    split = [(np.arange(13, 300), np.arange(13)), (np.arange(18, 300), np.arange(18))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scoring = {"ndcg": get_scorer("ndcg"), "ap": get_scorer("ap")}
        cross_validate(
            OrderPreservingRanker(), X, y, cv=split, params={"groups": QID}, scoring=scoring
        )
    told = [(one.category, str(one.message).partition(" ")[0]) for one in caught]
    assert sorted(told, key=str) == [
        (UndefinedMetricWarning, "average_precision_score"),
        (UndefinedMetricWarning, "ndcg_score"),
        (QueryOverlapWarning, "OrderPreservingRanker"),
    ]


def test_an_error_is_raised_each_time():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UndefinedMetricWarning)
        warnings.filterwarnings("ignore", "Scoring failed|One or more")
        found = search(refit=False)
    assert np.isnan(found.cv_results_["mean_test_score"]).all()
