"""Hold-out of whole queries."""

import numpy as np
import pytest

from sklearn_rank._ensembles._group_adapter import held_out_lists
from sklearn_rank._lists import Lists, group_rows
from tests.naming import for_each


def hold_out_queries(qid, fraction, seed):
    ids, offsets, rows = group_rows(np.asarray(qid), by_appearance=True)
    lists = Lists(labels=np.zeros(len(qid)), offsets=offsets, ids=ids, rows=rows)
    held_out = lists.to_rows(lists.to_items(held_out_lists(lists, fraction, seed)), len(qid))
    return np.flatnonzero(held_out)


@for_each(("fraction", "held"), [(0.1, 2), (0.5, 10), (0.001, 1), (0.999, 19), (3, 3)])
def test_whole_queries_are_held_out(fraction, held):
    qid = np.random.default_rng(0).permutation(np.repeat(np.arange(20), 4))
    validation = hold_out_queries(qid, fraction, 0)
    assert len(validation) == 4 * held
    assert len(set(qid[validation])) == held
    names = np.array([f"q{7 * q % 20}" for q in qid])
    np.testing.assert_array_equal(hold_out_queries(names, fraction, 0), validation)
    if held == 10:
        other = hold_out_queries(qid, fraction, 1)
        assert set(qid[other]) != set(qid[validation])


def test_of_one_query_nothing_can_be_held_out():
    with pytest.raises(ValueError, match="the number of queries of positive weight is 1"):
        hold_out_queries([7, 7, 7], 0.5, 0)
    with pytest.raises(ValueError, match="validation_fraction=2 would hold out all 2"):
        hold_out_queries([7, 8, 7], 2, 0)
