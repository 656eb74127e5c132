"""Ids of queries, in any order and of any type, into consecutive rows, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._order import ragged_ranges
from ._typing import AnyArray, IntArray

__all__ = ["Queries", "group_rows"]


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows query by query.

    Parameters
    ----------
    ids : ndarray of shape (n_queries,)
        Ids, ascending.
    offsets : ndarray of shape (n_queries + 1,)
        Where the rows of each query begin, and the number of rows.
    rows : ndarray of shape (n,) or None
        The rows in this order, those of one query in the order in which they came; None if they
        stand so already.
    """

    ids: AnyArray
    offsets: IntArray
    rows: IntArray | None


def group_rows(qid: AnyArray) -> Queries:
    """Find the rows of each query.

    Parameters
    ----------
    qid : ndarray of shape (n,)
        Id of the query of each row, from :func:`sklearn_rank._validation.check_qid`.

    Returns
    -------
    Queries
        The queries by ascending id.
    """
    starts = _changes(qid)
    heads = qid[starts]
    try:
        ascending = bool(np.all(heads[1:] > heads[:-1]))
        if ascending:
            return Queries(ids=heads, offsets=np.append(starts, len(qid)), rows=None)
        if len(np.unique(heads)) == len(heads):
            rank = np.argsort(heads)
            lengths = np.diff(starts, append=len(qid))[rank]
            rows = ragged_ranges(starts[rank], lengths)
            return Queries(ids=heads[rank], offsets=np.append(0, np.cumsum(lengths)), rows=rows)
        rows = np.argsort(_codes(qid), kind="stable")
    except TypeError:
        raise ValueError(
            "qid mixes ids of different types: make them all numbers or all strings."
        ) from None
    grouped = qid[rows]
    starts = _changes(grouped)
    return Queries(ids=grouped[starts], offsets=np.append(starts, len(qid)), rows=rows)


def _changes(qid: AnyArray) -> IntArray:
    """Rows whose id is not that of the row before."""
    new = np.ones(len(qid), dtype=bool)
    new[1:] = qid[1:] != qid[:-1]
    return np.flatnonzero(new)


def _codes(qid: AnyArray) -> AnyArray:
    """Integers in the order of the ids, short ones where that is possible: they sort fast."""
    if qid.dtype.kind in "iu":
        lowest = qid.min()
        if int(qid.max()) - int(lowest) < 2**16:
            return (qid - lowest).astype(np.uint16)
        return qid
    codes = np.unique(qid, return_inverse=True)[1]
    return codes.astype(np.uint16) if codes.max() < 2**16 else codes
