"""What ids are called changes no result: folds and draws depend on the order of appearance."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_rank import GroupRankerAdapter, OrderPreservingRanker, RankEnsemble
from sklearn_rank.inference import compare, metric_interval, sample_size
from sklearn_rank.model_selection import (
    BoundSearchCV,
    QueryKFold,
    cross_val_compare,
    cross_val_interval,
    query_train_test_split,
)

RNG = np.random.default_rng(5)
N_QUERIES, N_ITEMS = 30, 8
X = RNG.normal(size=(N_QUERIES * N_ITEMS, 4))
QUERY = RNG.permutation(np.repeat(np.arange(N_QUERIES), N_ITEMS))
GRADE = np.clip(np.round(X[:, 0] + RNG.normal(size=len(QUERY)) + 1), 0, 3)
POSITIVE = (GRADE > 1).astype(int)
SCORES = {"a": X[:, 0] + RNG.normal(size=len(QUERY)), "b": X[:, 0] - 0.5 * X[:, 1]}
NAMES = np.array([f"query {i:02d}" for i in RNG.permutation(N_QUERIES)])
IDS = {
    "integers": QUERY,
    "words": NAMES[QUERY],
    "backwards": -QUERY,
    "floats": QUERY / 7,
    "categories": pd.Series(NAMES[QUERY], dtype="category"),
}


def fitted(ranker):
    return lambda ids: clone(ranker).fit(X, GRADE, qid=ids).rank(X, qid=ids)


def printed(function, *given, ids_are="qid", **options):
    return lambda ids: repr(function(*given, **{ids_are: ids}, random_state=0, **options))


def folds(splitter):
    return lambda ids: [test.tolist() for _, test in splitter.split(X, GRADE, ids)]


CASES = {
    "RankEnsemble": fitted(
        RankEnsemble([("loss", OrderPreservingRanker())], weights="fitted", cv=3)
    ),
    "adapter, held out": fitted(
        GroupRankerAdapter(
            LGBMRanker(n_estimators=5, verbosity=-1, min_child_samples=2, n_jobs=1),
            early_stopping=True,
            random_state=0,
        )
    ),
    "QueryKFold": folds(QueryKFold(random_state=0)),
    "QueryKFold, consecutive": folds(QueryKFold(shuffle=False)),
    "query_train_test_split": lambda ids: query_train_test_split(
        np.arange(len(QUERY)), qid=ids, random_state=0
    )[1].tolist(),
    "bootstrap": printed(
        metric_interval, "ndcg", GRADE, SCORES["a"], method="bootstrap", n_resamples=999
    ),
    "randomization": printed(compare, "ndcg@3", GRADE, SCORES, method="randomization"),
    "pilot": printed(sample_size, "ndcg", width=0.05, pilot=(GRADE, SCORES["a"])),
    "swap": printed(compare, "auc", POSITIVE, SCORES, ids_are="groups", method="swap"),
    "bootstrap of groups": printed(
        partial(metric_interval, qid=QUERY, method="bootstrap", n_resamples=99),
        *("ndcg", GRADE, SCORES["a"]),
        ids_are="groups",
    ),
    "cross_val_interval": printed(
        cross_val_interval, OrderPreservingRanker(), X, GRADE, measure="ndcg", cv=3
    ),
    "cross_val_interval of groups": printed(
        partial(cross_val_interval, LogisticRegression(), X, POSITIVE, measure="auc", cv=3),
        ids_are="groups",
    ),
    "cross_val_compare": printed(
        cross_val_compare, {"a": Ridge(), "b": Ridge(1e4)}, X, GRADE, measure="ndcg"
    ),
    "BoundSearchCV": lambda ids: (
        BoundSearchCV(Ridge(), {"alpha": [1.0, 1e4]}, measure="ndcg", random_state=0)
        .fit(X, GRADE, groups=ids)
        .cv_results_["mean_test_score"]
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.QueryOverlapWarning")
@pytest.mark.parametrize(
    "case", [pytest.param(one, marks=[pytest.mark.slow] * (one == "swap")) for one in CASES]
)
def test_names_of_ids_do_not_count(case):
    with sklearn.config_context(enable_metadata_routing=True):
        expected = CASES[case](IDS["integers"])
        for ids in list(IDS.values())[1:]:
            found = CASES[case](ids)
            if isinstance(expected, np.ndarray):
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
            else:
                assert found == expected
