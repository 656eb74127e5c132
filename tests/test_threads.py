"""Fits to few values take one OpenMP thread, and those of many all that there are."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_info, threadpool_limits

from sklearn_rank import RankEnsembleClassifier
from sklearn_rank._sklearn_compat import threads_for
from sklearn_rank.model_selection import BoundSearchCV


def openmp_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}


class CountsThreads(ClassifierMixin, BaseEstimator):
    def __init__(self, slope=1.0):
        self.slope = slope

    def fit(self, X, y):
        self.classes_, self.threads_ = np.unique(y), openmp_threads()
        return self

    def decision_function(self, X):
        return self.slope * X[:, 0]


@pytest.mark.parametrize(("n_columns", "n_threads"), [(2, 1), (10_000, 2)])
def test_small_fits_take_one_thread(n_columns, n_threads):
    y = np.arange(200) % 2
    X = np.tile(np.linspace(-1.0, 1.0, 200)[:, np.newaxis], n_columns)
    model = CountsThreads()
    with threadpool_limits(2, user_api="openmp"):
        ensemble = RankEnsembleClassifier([("one", model)], weights=[1.0]).fit(X, y)
        search = BoundSearchCV(model, {"slope": [1.0]}, refit=False, random_state=0).fit(X, y)
        assert openmp_threads() == {2}
        with threads_for([["lists"], ["of", "words"]]):
            assert openmp_threads() == {1}
    for fitted in (ensemble.estimators_[0], *search.fold_estimators_):
        assert fitted.threads_ == {n_threads}
