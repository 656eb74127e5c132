"""A ranker of queries, and cross-validation by hand to hold searches against."""

from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    cross_val_score,
)

from sklearn_rank.metrics import (
    ndcg_score,
)

N_QUERIES, N_ITEMS = 9, 8


class QueryRanker(BaseEstimator):
    """Ranks by differences within queries, and remembers what it was given."""

    __metadata_request__fit = {"qid": "groups"}
    __metadata_request__score = {"qid": "groups"}

    def __init__(self, power=1.0, n_rounds=1):
        self.power = power
        self.n_rounds = n_rounds

    def fit(self, X, y, *, qid=None):
        X, y = np.asarray(X), np.asarray(y)
        self.qid_ = None if qid is None else np.array(qid)
        number = np.zeros(len(y), int) if qid is None else np.unique(qid, return_inverse=True)[1]
        self.n_queries_ = number.max() + 1
        share = np.eye(self.n_queries_)[number]
        share /= share.sum(axis=0)
        centred = X - (share > 0) @ (share.T @ X)
        slope = centred.T @ y
        self.coef_ = np.sign(slope) * np.abs(slope) ** self.power
        return self

    def predict(self, X):
        return np.asarray(X) @ self.coef_

    decision_function = predict

    def score(self, X, y, *, qid=None):
        if qid is None:
            raise ValueError("score needs qid")
        return ndcg_score(y, self.predict(X), k=3, qid=qid)


NDCG = partial(ndcg_score, k=3)


def by_hand(model, X, y, groups, cv, measure=NDCG, fit=("qid",), **by_row):
    """Value of each fold: fitted with the ids in ``fit``, scored with those in ``by_row``."""
    values = []
    folds = cv.split(X, y) if isinstance(cv, KFold) else cv.split(X, y, groups)
    for train, test in folds:
        given = dict.fromkeys(fit, groups[train])
        score = clone(model).fit(X[train], y[train], **given).predict(X[test])
        values.append(
            measure(y[test], score, **{name: value[test] for name, value in by_row.items()})
        )
    return np.array(values)


CV = GroupKFold(3)


def fold_values(model, X, y, scorer, cv=CV, **params):
    """Value of each fold by scikit-learn; ``params`` are what cross-validation is passed."""
    return cross_val_score(model, X, y, scoring=scorer, cv=cv, params=params, error_score="raise")
