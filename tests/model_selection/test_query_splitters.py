"""Splitters of whole queries."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate, learning_curve
from sklearn.utils.metadata_routing import get_routing_for_object

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.model_selection import QueryKFold, query_train_test_split
from tests.naming import for_each

from .query_estimators import queries, whole

X, y, qid = queries()
ROWS = np.arange(len(qid))
KINDS = [None, "length", "relevance", ("length", "relevance")]


def of_folds(**options):
    """Training and test rows of folds."""

    def split(ids=qid, y=y, rows=ROWS):
        folds = QueryKFold(5, **options).split(rows, y, ids)
        return [(rows[train].tolist(), rows[test].tolist()) for train, test in folds]

    return split


def of_parts(**options):
    """Training and test rows of a single split."""

    def split(ids=qid, y=y, rows=ROWS):
        train, test = query_train_test_split(rows, y, qid=ids, **options)[:2]
        return [(train.tolist(), test.tolist())]

    return split


SPLITS = {
    "folds": lambda **more: of_folds(random_state=0, **more),
    "folds in order": lambda **more: of_folds(shuffle=False, **more),
    "parts": lambda **more: of_parts(random_state=0, **more),
    "sizes": lambda **more: of_parts(random_state=0, test_size=7, train_size=0.5, **more),
}
each_split = pytest.mark.parametrize("make", SPLITS.values(), ids=SPLITS)
each_kind = pytest.mark.parametrize("stratify", KINDS, ids=str)


def shuffled_within(qid):
    """An order of the rows in which the queries appear as before."""
    first = np.unique(qid, return_index=True)[1]
    rest = np.random.default_rng(1).permutation(np.setdiff1d(np.arange(len(qid)), first))
    return np.r_[np.sort(first), rest]


@each_split
@each_kind
def test_queries_are_whole_and_neither_names_nor_the_order_within_them_count(make, stratify):
    split = make(stratify=stratify)
    expected = split()
    assert split() == expected
    for train, test in expected:
        assert not set(qid[train]) & set(qid[test])
        assert whole(qid[train], qid)
        assert whole(qid[test], qid)
        assert np.all(np.diff(train) > 0)
        assert np.all(np.diff(test) > 0)
    ids = np.array([f"{7919 * c % 1000:03d}" for c in qid])
    for same in (
        qid.tolist(),
        ids.astype(object),
        pd.Series(ids, dtype="category"),
        pl.Series(ids),
        -qid.astype(float),
        pd.Series(qid, index=qid[::-1]),
    ):
        assert split(same) == expected
    order = shuffled_within(qid)
    moved = split(qid[order], y[order], ROWS[order])
    assert [[sorted(part) for part in one] for one in moved] == [list(one) for one in expected]


@pytest.mark.parametrize("shuffle", [True, False])
@each_kind
def test_folds_are_a_partition_into_as_many_queries(stratify, shuffle):
    for n in (20, 23, 31):
        X, y, qid = queries(n)
        seed = 0 if shuffle else None
        splitter = QueryKFold(4, shuffle=shuffle, stratify=stratify, random_state=seed)
        folds = [test for _, test in splitter.split(X, y, qid)]
        assert len(folds) == splitter.get_n_splits() == 4
        assert sorted(np.concatenate(folds)) == list(range(len(qid)))
        counts = [len(set(qid[test])) for test in folds]
        assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(
    ("test_size", "train_size", "n_test", "n_train"),
    [
        (None, None, 8, 22),
        (0.3, None, 9, 21),
        (None, 0.3, 21, 9),
        (4, 5, 4, 5),
        (0.31, 0.31, 10, 9),
    ],
)
@each_kind
def test_sizes_count_queries(test_size, train_size, n_test, n_train, stratify):
    ((train, test),) = of_parts(test_size=test_size, train_size=train_size, stratify=stratify)()
    assert (len(set(qid[test])), len(set(qid[train]))) == (n_test, n_train)


@each_kind
def test_each_query_is_drawn_as_often(stratify):
    n, rng = 300, np.random.RandomState(0)
    split = of_parts(test_size=7, train_size=11, stratify=stratify, random_state=rng)
    drawn = np.zeros((2, 30))
    for _ in range(n):
        for side, rows in enumerate(split()[0]):
            drawn[side, np.unique(qid[rows])] += 1
    for side, size in enumerate([11, 7]):
        p = size / 30
        # Five standard errors.
        assert np.abs(drawn[side] / n - p).max() < 5 * np.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("name", ["length", "relevance"])
@pytest.mark.parametrize("make", [of_folds, of_parts])
def test_parts_are_alike_in_what_they_are_stratified_by(make, name):
    lengths = np.bincount(qid)
    values = lengths if name == "length" else np.bincount(qid, weights=y) / lengths

    def spread(**options):
        split = make(**options)
        return np.std(
            [values[np.unique(qid[test])].mean() for _ in range(30) for _, test in split()]
        )

    plain = spread(random_state=np.random.RandomState(0))
    for stratify, factor in [(name, 0.65), (["relevance", "length"], 0.75)]:
        rng = np.random.RandomState(0)
        assert spread(stratify=stratify, random_state=rng) < factor * plain
    if make is of_folds:
        assert spread(shuffle=False, stratify=name) < 0.4 * plain


def test_seeds():
    splitter = QueryKFold(5, random_state=0)
    expected = of_folds(random_state=0)()
    again = clone(splitter, safe=False).split(ROWS, y, qid)
    assert [test.tolist() for _, test in again] == [test for _, test in expected]
    moving = of_folds(random_state=np.random.RandomState(0))
    assert moving() == expected
    assert moving() != expected


def test_repr_and_y():
    assert repr(QueryKFold(3, stratify="length", random_state=1)) == (
        "QueryKFold(n_splits=3, random_state=1, shuffle=True, stratify='length')"
    )
    # Without stratification grades are not looked at: they may be words.
    words = np.where(y > 1, "good", "bad")
    assert of_folds(random_state=0)(y=words) == of_folds(random_state=0)(y=None)
    with pytest.raises(ValueError, match="y must be numeric"):
        of_folds(stratify="relevance")(y=words)
    with pytest.raises(ValueError, match="y is None: pass split"):
        of_folds(stratify="relevance")(y=None)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, r"got no groups.*fit\(X, y, groups=qid\).*enable_metadata_routing=True"),
        (0, "groups=0 is not an array"),
        ("query", r"such as groups=frame\['query'\]"),
        ([3, 4], "np.repeat"),
        ([None, *qid[1:]], "groups is missing at row 0"),
        (np.array([3, "a"] + [4] * (len(qid) - 2), dtype=object), "mixes ids"),
    ],
    ids=["none", "number", "name", "sizes", "missing", "mixed"],
)
def test_bad_groups(groups, message):
    with pytest.raises(ValueError, match=message):
        of_folds()(groups)


@for_each(
    ("make", "message"),
    [
        (lambda: QueryKFold(1), "n_splits"),
        (lambda: QueryKFold(2.5), "n_splits"),
        (lambda: QueryKFold(shuffle=1), "shuffle"),
        (lambda: QueryKFold(shuffle=False, random_state=0), "no effect"),
        (lambda: QueryKFold(stratify="y"), "StratifiedGroupKFold"),
        (lambda: QueryKFold(stratify=y), "stratify="),
        (of_parts(test_size=0), "test_size=0 must be a fraction"),
        (of_parts(train_size=1.0), "train_size=1.0 must be a fraction"),
        (lambda: next(QueryKFold(31).split(X, y, qid)), "number of queries in groups, 30"),
        (of_parts(test_size=30), "30 queries to test on and 0 to train on"),
        (of_parts(test_size=20, train_size=11), "at most 30"),
        (of_parts(train_size=0.01), "0 to train on"),
        (of_parts(stratify="y"), "StratifiedGroupKFold"),
        (lambda: query_train_test_split(qid=qid), "No array"),
        (lambda: query_train_test_split(X, y[1:], qid=qid), "Array 1 has"),
        (lambda: query_train_test_split(X, qid=None), "got no"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_train_test_split_of_anything():
    frame, column = pd.DataFrame(X, columns=list("abcd")), pd.Series(qid)
    found = query_train_test_split(
        X, y, frame, csr_matrix(X), y.tolist(), qid=column, stratify="relevance", random_state=0
    )
    qid_train, qid_test = found[-2:]
    assert isinstance(qid_train, pd.Series)
    assert not set(qid_train) & set(qid_test)
    assert len(set(qid_test)) == 8
    for place, of in enumerate(found[:-2]):
        part = qid_train if place % 2 == 0 else qid_test
        rows = of.toarray() if isinstance(of, csr_matrix) else np.asarray(of)
        assert len(rows) == len(part)
        if rows.ndim == 2:
            assert rows[:, 3].tolist() == part.tolist()
    assert isinstance(found[2 * 2], pd.DataFrame)


def test_ids_are_asked_for_as_group_k_fold_does():
    for splitter in (QueryKFold(), GroupKFold()):
        assert get_routing_for_object(splitter).consumes("split", ["groups"]) == {"groups"}
    with sklearn.config_context(enable_metadata_routing=True):
        other = QueryKFold().set_split_request(groups="query")
        assert get_routing_for_object(other).consumes("split", ["query"]) == {"query"}


@pytest.mark.parametrize("routing", [True, False])
def test_a_search_without_ids_ends(routing):
    # A splitter's error is not a fit's: error_score does not turn it into NaN.
    search = GridSearchCV(OrderPreservingRanker(), {"alpha": [1.0]}, cv=QueryKFold())
    with sklearn.config_context(enable_metadata_routing=routing):
        with pytest.raises(ValueError, match="QueryKFold got no groups"):
            search.fit(X, y)
        for helper in (cross_validate, learning_curve):
            with pytest.raises(ValueError, match="QueryKFold got no groups"):
                helper(OrderPreservingRanker(), X, y, cv=QueryKFold())
