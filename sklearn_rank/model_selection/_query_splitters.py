"""Splitters that keep queries whole, ids of queries, and their names in routing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.metadata_routing import get_routing_for_object

from .._lists import group_rows
from .._sklearn_compat import num_samples, rows_at
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import (
    check_flag,
    check_qid,
    check_random_state,
    check_vector,
    check_whole,
    is_number,
    is_whole,
    shape_of,
)


@dataclass(frozen=True, eq=False)
class Queries:
    ids: AnyArray  # (n_queries,): In the order in which they appear
    offsets: IntArray  # (n_queries + 1,): Where the rows of each query begin in ``rows``, and n
    rows: IntArray  # (n,): Query by query

    @property
    def count(self) -> int:
        return len(self.ids)

    @property
    def lengths(self) -> IntArray:
        return np.diff(self.offsets)

    @cached_property
    def of_rows(self) -> IntArray:
        """Place of the query of each row among the ids."""
        places = np.empty(len(self.rows), dtype=np.intp)
        places[self.rows] = np.repeat(np.arange(self.count), self.lengths)
        return places

    def rows_of(self, queries: Any) -> IntArray:
        mask = np.zeros(self.count, dtype=bool)
        mask[queries] = True
        return np.flatnonzero(mask[self.of_rows])

    def strata(self, stratify: Collection[str], y: Any, least: int) -> list[FloatArray]:
        """Keys that the queries are sorted by, each of shape (n_queries,)."""
        keys = []
        if "length" in stratify:
            keys.append(self.lengths.astype(np.float64))
        if "relevance" in stratify:
            if y is None:
                raise ValueError(
                    "stratify='relevance' needs the grades, but y is None: pass split(X, y,"
                    " groups) or stratify='length'."
                )
            grade = check_vector("y", y, len(self.rows))[self.rows]
            keys.append(np.add.reduceat(grade, self.offsets[:-1]) / self.lengths)
        if len(keys) == 2:
            n_strata = max(int(np.sqrt(self.count / least)), 1)
            places = np.empty(self.count)
            places[np.argsort(keys[0], kind="stable")] = np.arange(self.count)
            keys[0] = np.floor(places * n_strata / self.count)
            # Every second stratum is reversed, so that neighbours across strata are alike.
            keys[1] = np.where(keys[0] % 2 == 0, keys[1], -keys[1])
        return keys


def places_of(ids: Any, n: int) -> IntArray | None:
    """Number of the id of each row by appearance, so that folds do not depend on names."""
    return None if ids is None else queries_of(ids, n, "The splitter").of_rows


def queries_of(groups: Any, n: int, caller: str, *, name: str = "groups") -> Queries:
    if groups is None:
        raise ValueError(
            f"{caller} got no groups, the query id of each row: pass split(X, y, groups=qid); in a"
            " search fit(X, y, groups=qid) and in cross-validation params={'groups': qid},"
            " after sklearn.set_config(enable_metadata_routing=True)."
        )
    if not shape_of(groups) and not isinstance(groups, str | bytes):
        raise ValueError(
            f"{name}={groups!r} is not an array, but {caller} needs one id for each of the {n}"
            f" rows: pass a one-dimensional array, such as {name}=frame['query']."
        )
    ids, offsets, rows = group_rows(check_qid(groups, n, name=name), by_appearance=True)
    return Queries(ids, offsets, np.arange(n) if rows is None else rows)


def check_stratify(stratify: Any) -> tuple[str, ...]:
    """Check the argument ``stratify``; returns names of strata."""
    if stratify is None:
        return ()
    strata = ("length", "relevance")
    names = (stratify,) if isinstance(stratify, str) else stratify
    if not isinstance(names, tuple | list | set | frozenset) or not all(
        isinstance(name, str) and name in strata for name in names
    ):
        raise ValueError(
            f"stratify={stratify!r} must be None, 'length', 'relevance' or ('length',"
            " 'relevance'); to stratify by other quantities, such as labels of queries, use"
            " scikit-learn's StratifiedGroupKFold."
        )
    return tuple(name for name in strata if name in names)


def _sort(n: int, keys: list[FloatArray], rng: np.random.RandomState | None) -> IntArray:
    """Order by the keys; ties keep their order or are shuffled."""
    start = np.arange(n) if rng is None else rng.permutation(n)
    if not keys:
        return start
    return start[np.lexsort([key[start] for key in reversed(keys)])]


def _folds(
    queries: Queries, y: Any, n_folds: int, stratify: Any, rng: np.random.RandomState | None
) -> IntArray:
    """Number of the fold of each query; a fold has one of any n_folds neighbours of an order."""
    n = queries.count
    if n_folds > n:
        raise ValueError(
            f"n_splits={n_folds} is greater than the number of queries in groups, {n}, which are"
            " kept whole: pass a smaller n_splits or more queries."
        )
    keys = queries.strata(check_stratify(stratify), y, n_folds)
    if rng is None and not keys:
        return np.sort(np.arange(n) % n_folds)
    order, folds = _sort(n, keys, rng), np.empty(n, dtype=np.intp)
    in_turn = np.arange(n_folds)
    for start in range(0, n, n_folds):
        block = order[start : start + n_folds]
        deal = in_turn if rng is None else rng.permutation(n_folds)
        folds[block], in_turn = deal[: len(block)], in_turn[::-1]
    return folds


def _spread_sample(
    queries: IntArray, size: int, keys: list[FloatArray], rng: np.random.RandomState
) -> IntArray:
    """Draw queries that are spread over an order. Shape (size,)."""
    n = len(queries)
    order = queries[_sort(n, [key[queries] for key in keys], rng)]
    if keys:
        width = int(np.ceil(n / max(min(size, n - size), 1)))
        for start in range(-int(rng.randint(width)), n, width):
            block = slice(max(start, 0), start + width)
            order[block] = rng.permutation(order[block])
    places = np.floor((rng.uniform() + np.arange(size)) * (n / size)).astype(np.intp)
    return order[np.minimum(places, n - 1)]


def groups_for(splitter: Any, groups: Any) -> Any:
    """The argument ``groups`` of a split; splitters of scikit-learn that do not use it warn."""
    requests = get_routing_for_object(splitter).consumes("split", ["groups"])
    return groups if requests or not hasattr(splitter, "get_metadata_routing") else None


class QueryKFold(BaseCrossValidator):
    """K-fold cross-validation with whole queries, the same number of queries in each fold.

    The numbers of queries of two folds differ by at most one. The numbers of rows vary with the
    lengths of the queries, and are nearly equal with ``stratify="length"``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Whether queries are assigned to folds at random. If False, queries that appear one
        after the other form a fold. With ``stratify``, neighbours in the stratified order are then
        assigned to folds in turn.
    stratify : {None, "length", "relevance"} or tuple of them, default=None
        Quantity to balance over the folds: the number of rows of the queries, the mean grade of
        their rows, or both. Queries are sorted by it, and each fold gets one of every n_splits
        neighbours. With both, they are sorted by relevance within strata of length.
    random_state : int, RandomState instance or None, default=None
        Random number generator or seed of the assignment. Pass an int for the same folds at each
        call.

    See Also
    --------
    query_train_test_split : One random split, with the same strata.
    sklearn.model_selection.GroupKFold : Folds with nearly equal numbers of rows.
    sklearn.model_selection.GroupShuffleSplit : Independent random splits.

    Notes
    -----
    A ranking measure is a mean over queries, so the number of queries of a fold determines its
    precision. A split depends on the order in which the queries appear, not on their ids, nor on
    the order of the rows within a query.

    ``stratify="relevance"`` makes the fold means more similar, ``stratify="length"`` the numbers
    of rows. The mean over all folds hardly changes. With stratification the spread between folds
    underestimates the spread over new queries; use :func:`~sklearn_rank.inference.metric_interval`
    for that.

    The cost is O(n log n) time for n queries, and O(n + rows) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.model_selection import QueryKFold
    >>> qid = np.array(["b", "a", "c", "a", "b", "d", "c", "d", "d"])
    >>> for train, test in QueryKFold(2, random_state=0).split(qid, groups=qid):
    ...     print(np.unique(qid[train]), np.unique(qid[test]))
    ['b' 'd'] ['a' 'c']
    ['a' 'c'] ['b' 'd']
    """

    # Like scikit-learn's GroupKFold: the array groups=... is passed to the splitter by routing.
    __metadata_request__split = {"groups": True}

    def __init__(self, n_splits=5, *, shuffle=True, stratify=None, random_state=None):
        self.n_splits = check_whole("n_splits", n_splits, 2)
        self.shuffle = check_flag("shuffle", shuffle)
        check_stratify(stratify)
        self.stratify = stratify
        if not shuffle and random_state is not None:
            raise ValueError(
                f"random_state={random_state!r} has no effect with shuffle=False: leave it out or"
                " pass shuffle=True."
            )
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Generate indices to split data into training and test part, keeping queries whole.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; only their number is used.
        y : array-like of shape (n_samples,), default=None
            Relevance grades; used for ``stratify="relevance"`` only.
        groups : array-like of shape (n_samples,)
            Query id of each row, in any order, of any sortable type.

        Yields
        ------
        train : ndarray
            Indices of the training rows, ascending.
        test : ndarray
            Indices of the test rows, ascending.
        """
        queries = queries_of(groups, num_samples(X), type(self).__name__)
        rng = check_random_state(self.random_state) if self.shuffle else None
        folds = _folds(queries, y, self.n_splits, self.stratify, rng)
        for fold in range(self.n_splits):
            yield queries.rows_of(folds != fold), queries.rows_of(folds == fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X : object, default=None
            Ignored; exists for API compatibility.
        y : object, default=None
            Ignored; exists for API compatibility.
        groups : object, default=None
            Ignored; exists for API compatibility.

        Returns
        -------
        int
            Number of splits.
        """
        return self.n_splits


def _check_size(name: str, size: Any) -> None:
    if size is None or (is_whole(size) and size > 0) or (is_number(size) and 0 < size < 1):
        return
    raise ValueError(f"{name}={size!r} must be a fraction in (0, 1), or a number of queries.")


def _counts(n: int, test_size: Any, train_size: Any) -> tuple[int, int]:
    if test_size is None and train_size is None:
        test_size = 0.25
    n_test, n_train = (
        size if size is None or is_whole(size) else to_whole(size * n)
        for size, to_whole in ((test_size, ceil), (train_size, floor))
    )
    n_test = n - n_train if n_test is None else n_test
    n_train = n - n_test if n_train is None else n_train
    if n_train < 1 or n_test < 1 or n_train + n_test > n:
        raise ValueError(
            f"test_size={test_size!r} and train_size={train_size!r} of {n} queries give {n_test}"
            f" queries to test on and {n_train} to train on: both need at least one, and together"
            f" at most {n}."
        )
    return int(n_train), int(n_test)


def query_train_test_split(
    *arrays: Any,
    qid: Any,
    test_size: Any = None,
    train_size: Any = None,
    stratify: Any = None,
    random_state: Any = None,
) -> list[Any]:
    """Split arrays into random training and test parts with whole queries.

    Like :func:`sklearn.model_selection.train_test_split`, but all rows of a query are in the same
    part.

    Parameters
    ----------
    *arrays : sequence of array-likes of n_samples rows
        Arrays, data frames, sparse matrices or lists, such as ``X, y``.
    qid : array-like of shape (n_samples,)
        Query id of each row, in any order.
    test_size : float, int or None, default=None
        Fraction of the queries for the test part, in (0, 1), or their number. None means the rest
        of ``train_size``, or 0.25 if both are None.
    train_size : float, int or None, default=None
        Fraction of the queries for the training part, in (0, 1), or their number. None means the
        rest of ``test_size``.
    stratify : {None, "length", "relevance"} or tuple of them, default=None
        Quantity to balance over both parts, as in :class:`QueryKFold`. For "relevance" the second
        array must hold the grades.
    random_state : int, RandomState instance or None, default=None
        Random number generator or seed of the split. Pass an int for the same split at each call.

    Returns
    -------
    list
        Training and test part of each array, followed by those of ``qid``.

    See Also
    --------
    QueryKFold : Folds of whole queries, with the same strata.
    sklearn.model_selection.GroupShuffleSplit : Random splits without ``stratify``.

    Notes
    -----
    Sizes count queries, not rows. Each query has the same probability of being drawn, also with
    ``stratify``: queries are drawn evenly from the order by this quantity.

    Examples
    --------
    >>> from sklearn_rank.model_selection import query_train_test_split
    >>> X, y, qid = (
    ...     [[1], [2], [3], [4], [5], [6]],
    ...     [0, 1, 0, 1, 2, 0],
    ...     [7, 7, 8, 8, 9, 9],
    ... )
    >>> X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    ...     X, y, qid=qid, test_size=1, random_state=0
    ... )
    >>> qid_train, qid_test, y_test
    ([8, 8, 9, 9], [7, 7], [0, 1])
    """
    if not arrays:
        raise ValueError("No array was passed: pass query_train_test_split(X, y, qid=qid).")
    n = num_samples(arrays[0])
    queries = queries_of(qid, n, "query_train_test_split", name="qid")
    for place, array in enumerate(arrays):
        if num_samples(array) != n:
            raise ValueError(
                f"Array {place} has {num_samples(array)} rows, but the first has {n}: pass arrays"
                " with the same number of rows."
            )
    _check_size("test_size", test_size)
    _check_size("train_size", train_size)
    n_train, n_test = _counts(queries.count, test_size, train_size)
    strata, least = check_stratify(stratify), -(-queries.count // min(n_train, n_test))
    keys = queries.strata(strata, arrays[1] if len(arrays) > 1 else None, least)
    rng = check_random_state(random_state)
    test = _spread_sample(np.arange(queries.count), n_test, keys, rng)
    train = np.setdiff1d(np.arange(queries.count), test)
    if n_train < len(train):
        train = _spread_sample(train, n_train, keys, rng)
    parts = queries.rows_of(train), queries.rows_of(test)
    return [rows_at(array, part) for array in (*arrays, qid) for part in parts]
