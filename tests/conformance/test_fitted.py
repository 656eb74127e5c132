"""What a fitted estimator is: what ``fit`` stored decides, and any tool can look at it."""

import pickle
import warnings

import numpy as np
import pytest
from lightgbm import LGBMRanker
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import (
    AccuracyAtTopRankerCV,
    GroupRankerAdapter,
    OrderPreservingRanker,
    RankEnsemble,
    RankEnsembleClassifier,
    TopFocusedRanker,
)
from sklearn_rank.model_selection import BoundSearchCV, TopThresholdClassifier
from sklearn_rank.preprocessing import QueryNormalizer
from tests.catalogue import BIPARTITE_RANKERS, LABEL_RANKERS, QUERY_RANKERS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0.3).astype(int)
QID = np.repeat(np.arange(10), 6)
VALUE = np.where(Y == 1, RNG.uniform(1.0, 9.0, 60), -2.0)
ORDERS = np.round(np.exp(RNG.normal(size=(60, 3)) + X), 1)

FLAG = TopThresholdClassifier(LogisticRegression(), level=0.6, random_state=0)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
MEMBERS = [("linear", LogisticRegression()), ("tree", TREE)]
OF_QUERIES = [
    ("linear", OrderPreservingRanker()),
    ("trees", HistGradientBoostingRegressor(max_iter=3)),
]


def of_queries(ranker):
    return ranker, {"y": Y, "qid": QID}, {"qid": QID}


def flags(fit=(), **params):
    return clone(FLAG).set_params(**params), {"y": Y, **dict(fit)}, {}


# Estimator, arguments of fit, and of the methods.
CASES = [
    *((ranker, {"y": Y}, {}) for ranker in BIPARTITE_RANKERS),
    (AccuracyAtTopRankerCV(0.2, param_grid={"C": [1e-4, 1.0]}, cv=2), {"y": Y}, {}),
    (TopFocusedRanker(LogisticRegression(), tau=0.2, cv=2), {"y": Y}, {}),
    (RankEnsembleClassifier(MEMBERS, cv=2), {"y": Y}, {}),
    *(
        of_queries(ranker)
        for ranker in (
            *QUERY_RANKERS,
            OrderPreservingRanker(normalize="zscore"),
            GroupRankerAdapter(LGBMRanker(n_estimators=2, n_jobs=1, verbosity=-1)),
            *(RankEnsemble(OF_QUERIES, fusion=one, cv=2) for one in ("zscore", "rank")),
            QueryNormalizer("minmax", signed_log=True),
            QueryNormalizer("rank"),
        )
    ),
    *((ranker, {"y": ORDERS}, {}) for ranker in LABEL_RANKERS),
    (BoundSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2), {"y": Y}, {}),
    flags(min_precision=0.5),
    flags(min_precision=0.5, cv=3),
    flags(min_recall=0.5, max_fpr=0.9),
    flags(min_value=0.0, value=(3.0, -1.0)),
    flags(min_value=0.1, fit={"value": VALUE}),
    flags(capacity=7),
    flags(capacity=0.1, max_fpr=0.5),
    flags(capacity=30, min_precision=0.4),
    flags(capacity=30, min_value=0.0, value=(3.0, -1.0)),
]


def named(case):
    return " ".join(repr(case[0]).split())[:90]


every_case = pytest.mark.parametrize("case", CASES, ids=named)
# One case of each class, for what does not depend on how it is fitted.
every_class = pytest.mark.parametrize(
    "case", {type(case[0]): case for case in CASES}.values(), ids=named
)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def answers(fitted, arguments):
    """What the methods return on the rows."""
    found = {}
    for name in (
        "predict",
        "decision_function",
        "predict_proba",
        "rank",
        "transform",
        "comparison_",
        "limits",
        "guarantees",
    ):
        try:
            method = getattr(fitted, name)
        except AttributeError:
            continue
        # There are none of a capacity alone, and those of values take a second.
        promises = " ".join(fitted.report_.promises) if name == "guarantees" else "some"
        if not promises or "value" in promises:
            continue
        value = method(X, **arguments) if callable(method) else method
        found[name] = value.to_dict() if name in ("limits", "comparison_") else value
    return found


def others(estimator, name):
    """Values that a parameter may be set to after the fit."""
    if name == "estimators":
        yield [("other", GaussianNB()), ("another", GaussianNB())]
    elif name == "estimator":
        yield GaussianNB()
    else:
        if isinstance(value := getattr(estimator, name), bool):
            yield not value
        yield from (None, object())
        for one in getattr(estimator, "_parameter_constraints", {}).get(name, ()):
            yield from getattr(one, "options", ())


def list_names(one):
    """As completion does: another error than AttributeError ends it."""
    for name in dir(one):
        getattr(one, name, None)


@every_case
def test_what_fit_stored_decides(case):
    estimator, fit, arguments = case
    fitted = clone(estimator).fit(X, **fit)
    expected = answers(fitted, arguments)
    assert expected
    changes = {name: list(others(fitted, name)) for name in fitted.get_params(deep=False)}
    for i in range(max(map(len, changes.values()))):
        params = {name: values[i % len(values)] for name, values in changes.items()}
        for name, value in params.items():
            setattr(fitted, name, value)
        np.testing.assert_equal(answers(fitted, arguments), expected, str(params))
    list_names(fitted)


@every_class
def test_any_tool_can_look_at_it(case):
    estimator, fit, arguments = case
    expected = answers(clone(estimator).fit(X, **fit), arguments)
    with config_context(transform_output="pandas"):
        fitted = clone(estimator).fit(X, **fit)
        for one in (clone(estimator), fitted):
            for output in ("default", "pandas"):
                with config_context(transform_output=output):
                    assert type(one).__name__ in repr(one)
                    assert type(one).__name__ in one._repr_html_()
                    list_names(one)
        copied = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_equal(answers(copied, arguments), expected)
