"""The table of what every input means, sent through every public function and two estimators."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from sklearn_rank import OrderPreservingRanker, TopPushRanker

from .test_inputs import ARRAYS, IDS, LABELS, arguments_of, functions
from .test_inputs import pytestmark as pytestmark

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "metrics.md"


def with_nan(values):
    changed = np.asarray(values, dtype=float).copy()
    changed[1] = np.nan
    return changed


def masked(values):
    mask = np.zeros(len(values), dtype=bool)
    mask[1] = True
    return np.ma.array(values, mask=mask)


# Input, value, how it is made of good ones, and a part of the message of its refusal.
TABLE = [
    ("labels", "NaN or None", with_nan, "known in part"),
    ("labels", "masked", masked, "masked values"),
    ("scores", "NaN", with_nan, "NaN"),
    ("scores", "masked", masked, "masked values"),
    ("ids", "NaN or None", with_nan, "missing at row 1"),
    ("ids", "masked", masked, "masked values"),
    ("ids", "floats from 2**53 on", lambda ids: ids + 2.0**53, "pass integers or strings"),
    ("ids", "sizes of groups", lambda ids: np.bincount(ids), "np.repeat"),
    ("ids", "one per row", lambda ids: np.arange(len(ids)), "ids of rows"),
    ("weights", "NaN", with_nan, "sample_weight"),
    ("weights", "masked", masked, "masked values"),
    ("weights", "negative", lambda weight: -1.0 * np.asarray(weight), "weight"),
]
NAMES = {
    "labels": "y_true",
    "scores": "y_score",
    "ids": "qid",
    "weights": "sample_weight",
}
ROW = pytest.mark.parametrize(("role", "value", "change", "message"), TABLE)


def test_the_page_has_the_same_table():
    rows = re.findall(
        r"^\| (labels|scores|ids|weights) \| ([^|]+) \| refused", PAGE.read_text(), re.M
    )
    assert [(role, value.strip().strip("`")) for role, value in rows] == [
        (role, value) for role, value, *_ in TABLE
    ]


@ROW
def test_functions_refuse(role, value, change, message):
    argument = NAMES[role]
    refused = []
    for name, function in functions().items():
        if argument not in inspect.signature(function).parameters:
            continue
        if value == "one per row" and name in ("rank_positions", "utility"):
            continue  # without scores and labels a query of one row is as good as another
        given = arguments_of(function)
        given[argument] = change(ARRAYS[argument])
        with pytest.raises(ValueError, match=re.escape(message)):
            function(**given)
        refused.append(name)
    assert len(refused) > 3


@ROW
@pytest.mark.parametrize("ranker", [OrderPreservingRanker(), TopPushRanker()], ids=repr)
def test_fits_refuse(ranker, role, value, change, message):
    if role == "scores" or (role == "ids" and isinstance(ranker, TopPushRanker)):
        role, message = "labels", "known in part" if change is with_nan else "masked values"
        if change not in (with_nan, masked):
            return
    X = np.column_stack([ARRAYS["y_score"], np.arange(len(LABELS)) % 3])
    given = {"y": LABELS, "sample_weight": ARRAYS["sample_weight"]}
    if isinstance(ranker, OrderPreservingRanker):
        given["qid"] = IDS
    name = {"labels": "y", "ids": "qid", "weights": "sample_weight"}[role]
    given[name] = change(given[name])
    with pytest.raises(ValueError, match=re.escape(message)):
        ranker.fit(X, **given)
    assert not hasattr(ranker, "coef_")
