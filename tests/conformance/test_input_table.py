"""The table of what every input means, sent through every public function and estimator."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from sklearn_rank import (
    OrderPreservingLabelRanker,
    OrderPreservingRanker,
    RankEnsemble,
    TopFocusedRanker,
    TopPushRanker,
)
from sklearn_rank.model_selection import BoundSearchCV, cross_val_compare, cross_val_interval
from sklearn_rank.preprocessing import QueryNormalizer
from tests.catalogue import BIPARTITE_RANKERS, LABEL_RANKERS, META_RANKERS, QUERY_RANKERS
from tests.naming import for_each

from .test_inputs import ARRAYS, IDS, LABELS, arguments_of, functions
from .test_inputs import pytestmark as pytestmark

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "measures.md"


def with_nan(values):
    changed = np.asarray(values, dtype=float).copy()
    changed[1] = np.nan
    return changed


def masked(values):
    mask = np.zeros(len(values), dtype=bool)
    mask[1] = True
    return np.ma.array(values, mask=mask)


def with_commas(values):
    return np.array([f"{x:.2f}".replace(".", ",") for x in values])


# Input, value, how it is made of good ones, a part of the message of its refusal, and what else is
# passed, of functions that take it.
TABLE = [
    ("labels", "NaN or None", with_nan, "known in part", {}),
    ("labels", "masked", masked, "masked values", {}),
    ("scores", "NaN", with_nan, "NaN", {}),
    ("scores", "texts with commas", with_commas, "decimal=','", {}),
    ("scores", "masked", masked, "masked values", {}),
    ("ids", "NaN or None", with_nan, "missing at row 1", {}),
    ("ids", "masked", masked, "masked values", {}),
    ("ids", "floats from 2**53 on", lambda ids: ids + 2.0**53, "pass integers or strings", {}),
    ("ids", "sizes of groups", lambda ids: np.bincount(ids), "np.repeat", {}),
    ("ids", "one per row", lambda ids: np.arange(len(ids)), "ids of rows", {}),
    ("weights", "NaN", with_nan, "sample_weight", {}),
    ("weights", "masked", masked, "masked values", {}),
    ("weights", "negative", lambda weight: -1.0 * np.asarray(weight), "weight", {}),
    ("weights", "all 0", lambda weight: 0 * np.asarray(weight), "weight", {}),
    (
        "weights",
        "without a meaning",
        np.asarray,
        "pass weights='frequency' if each row stands for that many",
        {"weights": None},
    ),
    (
        "weights",
        "not whole, of a frequency",
        lambda weight: np.asarray(weight) + 0.5,
        "weights='frequency' takes whole numbers",
        {"weights": "frequency"},
    ),
    (
        "weights",
        "of a drawn query, unequal",
        np.asarray,
        "with weights='sampling' a query is drawn as a whole",
        {"weights": "sampling", "measure": "ap"},
    ),
]
NAMES = {"labels": "y_true", "scores": "y_score", "ids": "qid", "weights": "sample_weight"}
ROW = for_each(("role", "value", "change", "message", "others"), TABLE)
FIT_ROWS = [
    (role, change, message)
    for role, _, change, message, others in TABLE
    if role != "scores" and not others
]
X = np.column_stack([ARRAYS["y_score"], np.arange(len(LABELS)) % 3])
# Of every class one ranker, and other estimators that learn from labels.
FITTED = [
    *{
        type(ranker): ranker
        for ranker in reversed(BIPARTITE_RANKERS + META_RANKERS + QUERY_RANKERS + LABEL_RANKERS)
    }.values(),
    OrderPreservingLabelRanker(target_type="classes"),
    RankEnsemble([("a", OrderPreservingRanker())], weights="fitted", cv=2),
    BoundSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}),
    QueryNormalizer(),
]
TWO = {"a": OrderPreservingRanker(alpha=1.0), "b": OrderPreservingRanker()}
ONE_OF_EACH_FAMILY = [
    TopPushRanker(),
    TopFocusedRanker(),
    OrderPreservingRanker(),
    OrderPreservingLabelRanker(),
    RankEnsemble([("a", OrderPreservingRanker())]),
]


def test_the_page_has_the_same_table():
    rows = re.findall(
        r"^\| (labels|scores|ids|weights) \| ([^|]+) \| refused", PAGE.read_text(), re.M
    )
    assert [(role, value.strip().strip("`")) for role, value in rows] == [
        (role, value) for role, value, *_ in TABLE
    ]


@ROW
def test_functions_refuse(role, value, change, message, others):
    argument = NAMES[role]
    refused = []
    for name, function in functions().items():
        if not {argument, *others} <= set(inspect.signature(function).parameters):
            continue
        if value == "one per row" and name in ("rank_positions", "utility"):
            continue  # without scores and labels a query of one row is as good as another
        given = {**arguments_of(function), **others}
        given[argument] = change(ARRAYS[argument])
        with pytest.raises(ValueError, match=re.escape(message)):
            function(**given)
        refused.append(name)
    assert len(refused) >= 2


def damaged(method):
    """Arguments of fit or score with one changed, of those that it reads, and the message."""
    known = inspect.signature(method).parameters
    given = {"y": LABELS, "qid": IDS, "sample_weight": ARRAYS["sample_weight"]}
    given = {name: value for name, value in given.items() if name in known}
    for role, change, message in FIT_ROWS:
        name = {"labels": "y", "ids": "qid", "weights": "sample_weight"}[role]
        unread = isinstance(method.__self__, QueryNormalizer) and (
            role == "labels" or len(np.unique(change(IDS))) == len(IDS)
        )
        if name in given and not unread:
            yield {**given, name: change(given[name])}, re.escape(message)


@for_each("estimator", FITTED)
def test_fits_refuse(estimator):
    estimator = clone(estimator)
    for given, message in damaged(estimator.fit):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, **given)
        assert not [name for name in vars(estimator) if name.endswith("_")]


@pytest.mark.parametrize("ranker", ONE_OF_EACH_FAMILY, ids=repr)
def test_scores_refuse(ranker):
    ids = {"qid": IDS + 99} if "qid" in inspect.signature(ranker.fit).parameters else {}
    ranker = clone(ranker).fit(X, LABELS, **ids)
    for given, message in damaged(ranker.score):
        with pytest.raises(ValueError, match=message):
            ranker.score(X, **given)


@pytest.mark.parametrize("change", [with_nan, masked])
@pytest.mark.parametrize(
    "split",
    [
        lambda y: cross_val_interval(LogisticRegression(), X, y, measure="auc", cv=2),
        lambda y: cross_val_interval(OrderPreservingRanker(), X, y, measure="ndcg", qid=IDS, cv=2),
        lambda y: cross_val_compare(TWO, X, y, measure="ndcg", qid=IDS, cv=2),
    ],
)
def test_labels_are_looked_at_before_they_are_split(split, change):
    message = "known in part" if change is with_nan else "masked values"
    with pytest.raises(ValueError, match=message):
        split(change(LABELS))
