"""Ids of queries in any order and of any type."""

import numpy as np
import pytest

from sklearn_rank._lists import group_rows


def check(qid):
    ids, offsets, order = group_rows(qid)
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
