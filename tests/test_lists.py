"""Ids of queries in any order and of any type."""

import uuid

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_rank._lists import group_rows
from sklearn_rank._order import stable_order
from sklearn_rank._validation import check_qid, check_rows
from tests.naming import for_each


def check(qid, given=None):
    ids, offsets, order = group_rows(qid if given is None else check_qid(given, len(qid)))
    rows = np.arange(len(qid)) if order is None else order
    assert sorted(rows) == list(range(len(qid)))
    assert ids.tolist() == sorted(set(qid.tolist()))
    assert offsets[0] == 0
    assert offsets[-1] == len(qid)
    for i, one in enumerate(ids.tolist()):
        found = rows[offsets[i] : offsets[i + 1]].tolist()
        assert found == [row for row, other in enumerate(qid.tolist()) if other == one]


IDS = [
    np.array([3, 3, 5, 9, 9, 9]),
    np.array([9, 9, 3, 5, 5]),
    np.array([9, 3, 9, 3, 5]),
    np.array([2**40, 0, 2**40, -7]),
    np.array([-(2**63), 2**63 - 1, -(2**63)]),
    np.array([0, 2**64 - 1, 0], dtype=np.uint64),
    np.array([200, 100, 200], dtype=np.uint8),
    np.array([0.5, np.inf, 0.5, -np.inf]),
    np.array([True, False, True]),
    np.array(["b", "a", "b", "a"]),
    np.array(["b", "aa", "b"], dtype=object),
    np.array(["2020-01-02", "2020-01-01", "2020-01-02"], dtype="M8[D]"),
    np.array([7]),
]


@pytest.mark.parametrize("qid", IDS, ids=lambda qid: f"{qid.dtype}-{len(qid)}")
def test_rows_of_each_query(qid):
    check(qid)


def test_many_random_ids():
    rng = np.random.default_rng(0)
    for highest in (3, 50, 10**6, 2**60):
        check(rng.integers(-highest, highest, 200))


def test_more_queries_than_short_integers():
    qid = np.tile(np.random.default_rng(0).permutation(70_000), 2).astype(str)
    _, _, rows = group_rows(qid)
    assert (qid[rows] == np.repeat(np.unique(qid), 2)).all()
    assert (np.diff(rows.reshape(-1, 2)) == 70_000).all()


def test_rows_in_order_are_not_moved():
    assert group_rows(np.array([1, 1, 2]))[2] is None
    assert group_rows(np.array([2, 1, 1]))[2].tolist() == [1, 2, 0]


def test_ids_that_cannot_be_sorted_are_refused():
    with pytest.raises(ValueError, match="different types"):
        group_rows(np.array(["a", 1, "a"], dtype=object))


def columns(ids):
    """The same ids as users hold them."""
    words = np.array([f"query {i}" for i in ids.tolist()])
    categories = pd.Series(words).astype("category")
    return {
        "numbers": (ids, ids),
        "numpy strings": (words, words),
        "bytes": (words.astype("S"), words.astype("S")),
        "objects": (words, words.astype(object)),
        "list": (words, words.tolist()),
        "pandas strings": (words, pd.Series(words)),
        "pandas objects": (words, pd.Series(words, dtype=object)),
        "index": (words, pd.Index(words)),
        "nullable integers": (ids, pd.Series(ids, dtype="Int64")),
        "categorical": (words, categories),
        "unused categories": (words, categories.cat.add_categories(["z", "a"]).values),
        "categories in no order": (
            words,
            pd.Categorical(words, categories=np.random.default_rng(1).permutation(list({*words}))),
        ),
        "categories of numbers": (ids, pd.Categorical(ids)),
        "polars strings": (words, pl.Series(words.tolist())),
        "polars categorical": (words, pl.Series(words.tolist()).cast(pl.Categorical)),
        "polars enum": (words, pl.Series(words.tolist(), dtype=pl.Enum([*sorted({*words}), "z"]))),
        "uuid": tuple(
            [np.array([uuid.UUID(int=i + 100) for i in ids.tolist()], dtype=object)] * 2
        ),
        "tuples": tuple([as_objects([(i % 3, str(i)) for i in ids.tolist()])] * 2),
        "dates": tuple([np.datetime64("2020-01-01") + ids] * 2),
        "small": (ids.astype(np.int8), ids.astype(np.int8)),
    }


def as_objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@for_each("kind", columns(np.zeros(1, dtype=int)))
def test_columns_of_data_frames(kind):
    rng = np.random.default_rng(3)
    for ids in (
        rng.integers(-100, 20, 400),
        np.repeat(rng.permutation(60) - 30, 5),
        np.repeat(np.arange(-10, 90), 4),
    ):
        check(*columns(ids)[kind])


def test_ids_of_rows_without_weight_are_no_lists():
    qid = pd.Series(["b", "c", "a", "c"])
    for ids in (qid, qid.astype("category"), qid.to_numpy(dtype="U1")):
        checked = check_rows([1, 0, 1, 0], [1.0, 2, 3, 4], qid=ids, sample_weight=[1, 0, 1, 0])
        assert group_rows(checked.qid)[0].tolist() == ["a", "b"]


@pytest.mark.parametrize("column", [list, as_objects, pd.Series, pd.Categorical])
def test_missing_ids_are_refused(column):
    for lacking in (None, np.nan, pd.NA, pd.NaT):
        with pytest.raises(ValueError, match="qid is missing at row 2"):
            check_qid(column(["a", "b", lacking, "a", lacking]), 5)


def test_missing_ids_of_polars_are_refused():
    for kind in (pl.String, pl.Categorical, pl.Enum(["a", "b"])):
        with pytest.raises(ValueError, match="qid is missing at row 2"):
            check_qid(pl.Series(["a", "b", None, "a"], dtype=kind), 4)


def test_ids_that_cannot_be_hashed_are_refused():
    with pytest.raises(ValueError, match="qid has unhashable values"):
        check_qid(as_objects([[1], [2, 3], [1]]), 3)


def test_integers_of_any_range_are_ordered_alike():
    rng = np.random.default_rng(7)
    for dtype in (np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64):
        info = np.iinfo(dtype)
        for values in (
            rng.integers(info.min, info.max, 500, dtype=dtype, endpoint=True),
            rng.integers(info.max - 9, info.max, 500, dtype=dtype, endpoint=True),
        ):
            expected = np.argsort(values, kind="stable")
            np.testing.assert_array_equal(stable_order(values), expected)
