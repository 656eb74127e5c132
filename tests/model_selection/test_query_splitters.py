"""Splitters of whole queries."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_predict,
    cross_validate,
    learning_curve,
)
from sklearn.utils.metadata_routing import get_routing_for_object

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.model_selection import (
    QueryKFold,
    QueryShuffleSplit,
    RepeatedQueryKFold,
    query_train_test_split,
)

from .query_estimators import queries, whole

X, y, qid = queries()
KINDS = [None, "length", "relevance", ("length", "relevance")]
SPLITTERS = [
    QueryKFold(4, random_state=0),
    QueryKFold(4, shuffle=False),
    RepeatedQueryKFold(3, n_repeats=2, random_state=0),
    QueryShuffleSplit(3, random_state=0),
    QueryShuffleSplit(3, test_size=7, train_size=0.5, random_state=0),
]

each_splitter = pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
each_kind = pytest.mark.parametrize("stratify", KINDS, ids=str)


def parts(splitter, groups=qid, y=y):
    return [(train.tolist(), test.tolist()) for train, test in splitter.split(X, y, groups)]


def stratified(splitter, stratify):
    known = {**vars(splitter), "stratify": stratify}
    return type(splitter)(**known)


@each_splitter
@each_kind
def test_queries_are_whole_and_on_one_side(splitter, stratify):
    splitter = stratified(splitter, stratify)
    splits = list(splitter.split(X, y, qid))
    assert len(splits) == splitter.get_n_splits()
    for train, test in splits:
        assert not set(qid[train]) & set(qid[test])
        assert whole(qid[train], qid)
        assert whole(qid[test], qid)
        assert np.all(np.diff(train) > 0)
        assert np.all(np.diff(test) > 0)


@pytest.mark.parametrize("shuffle", [True, False])
@each_kind
def test_folds_are_a_partition_into_as_many_queries(stratify, shuffle):
    for n in (20, 23, 31):
        X, y, qid = queries(n)
        seed = 0 if shuffle else None
        splitter = QueryKFold(4, shuffle=shuffle, stratify=stratify, random_state=seed)
        folds = [test for _, test in splitter.split(X, y, qid)]
        assert sorted(np.concatenate(folds)) == list(range(len(qid)))
        counts = [len(set(qid[test])) for test in folds]
        assert max(counts) - min(counts) <= 1
        for train, test in splitter.split(X, y, qid):
            assert sorted([*train, *test]) == list(range(len(qid)))


def test_repeats_deal_anew():
    folds = [test for _, test in parts(RepeatedQueryKFold(3, n_repeats=4, random_state=0))]
    for start in range(0, 12, 3):
        assert sorted(np.concatenate(folds[start : start + 3])) == list(range(len(qid)))
    assert folds[0] not in folds[3:]


@pytest.mark.parametrize(
    ("test_size", "train_size", "n_test", "n_train"),
    [
        (None, None, 6, 24),
        (0.3, None, 9, 21),
        (None, 0.3, 21, 9),
        (4, 5, 4, 5),
        (0.31, 0.31, 10, 9),
    ],
)
@each_kind
def test_sizes_count_queries(test_size, train_size, n_test, n_train, stratify):
    splitter = QueryShuffleSplit(5, test_size=test_size, train_size=train_size, stratify=stratify)
    for train, test in splitter.split(X, y, qid):
        assert (len(set(qid[test])), len(set(qid[train]))) == (n_test, n_train)


@each_kind
def test_each_query_is_drawn_as_often(stratify):
    n = 1000
    splitter = QueryShuffleSplit(n, test_size=7, train_size=11, stratify=stratify, random_state=0)
    drawn = np.zeros((2, 30))
    for rows in splitter.split(X, y, qid):
        for side in range(2):
            drawn[side, np.unique(qid[rows[side]])] += 1
    for side, size in enumerate([11, 7]):
        p = size / 30
        # Five standard errors.
        assert np.abs(drawn[side] / n - p).max() < 5 * np.sqrt(p * (1 - p) / n)


def spread_of_means(splitter, values):
    means = [values[np.unique(qid[test])].mean() for _, test in splitter.split(X, y, qid)]
    return np.std(means)


@pytest.mark.parametrize("name", ["length", "relevance"])
@pytest.mark.parametrize(
    "kind", [lambda **o: RepeatedQueryKFold(5, **o), lambda **o: QueryShuffleSplit(50, **o)]
)
def test_parts_are_alike_in_what_they_are_stratified_by(kind, name):
    lengths = np.bincount(qid)
    values = lengths if name == "length" else np.bincount(qid, weights=y) / lengths
    plain = spread_of_means(kind(random_state=0), values)
    for stratify, factor in [(name, 0.65), (["relevance", "length"], 0.75)]:
        assert spread_of_means(kind(stratify=stratify, random_state=0), values) < factor * plain
    dealt = spread_of_means(QueryKFold(5, shuffle=False, stratify=name), values)
    assert dealt < 0.4 * plain


def shuffled_within(qid):
    """An order of the rows in which the queries appear as before."""
    first = np.unique(qid, return_index=True)[1]
    rest = np.random.default_rng(1).permutation(np.setdiff1d(np.arange(len(qid)), first))
    return np.r_[np.sort(first), rest]


@each_splitter
@each_kind
def test_names_of_ids_and_the_order_within_queries_do_not_count(splitter, stratify):
    splitter = stratified(splitter, stratify)
    expected = parts(splitter)
    ids = np.array([f"{7919 * c % 1000:03d}" for c in qid])
    for same in (
        qid.tolist(),
        ids,
        ids.astype(object),
        pd.Series(ids),
        pd.Series(ids, dtype="category"),
        pl.Series(ids),
        -qid.astype(float),
        [(c, "a") for c in qid] and pd.Series(qid, index=qid[::-1]),
    ):
        assert parts(splitter, same) == expected
    order = shuffled_within(qid)
    for (train, test), (a, b) in zip(
        splitter.split(X[order], y[order], qid[order]), expected, strict=True
    ):
        assert sorted(order[train]) == a
        assert sorted(order[test]) == b


@each_splitter
def test_same_seed_same_splits(splitter):
    assert parts(splitter) == parts(splitter) == parts(clone(splitter, safe=False))
    if splitter.random_state is not None:
        rng = np.random.RandomState(0)
        moving = type(splitter)(**{**vars(splitter), "random_state": rng})
        first, second = parts(moving), parts(moving)
        assert first == parts(splitter)
        assert first != second


def test_repr_and_y():
    assert repr(QueryKFold(3, stratify="length", random_state=1)) == (
        "QueryKFold(n_splits=3, random_state=1, shuffle=True, stratify='length')"
    )
    assert repr(RepeatedQueryKFold()).startswith("RepeatedQueryKFold(n_repeats=10, n_splits=5,")
    # Without stratification grades are not looked at: they may be words.
    words = np.where(y > 1, "good", "bad")
    assert parts(SPLITTERS[0], y=words) == parts(SPLITTERS[0], y=None)
    with pytest.raises(ValueError, match="y must be numeric"):
        parts(QueryKFold(stratify="relevance"), y=words)
    with pytest.raises(ValueError, match="y is None: pass split"):
        parts(QueryKFold(stratify="relevance"), y=None)


@each_splitter
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, r"got no groups.*fit\(X, y, groups=qid\).*enable_metadata_routing=True"),
        (0, "groups=0 is not an array"),
        ("query", r"pass the column, groups=frame\['query'\]"),
        ([3, 4], "np.repeat"),
        ([None, *qid[1:]], "groups is missing at row 0"),
        (np.array([3, "a"] + [4] * (len(qid) - 2), dtype=object), "mixes ids"),
    ],
    ids=["none", "number", "name", "sizes", "missing", "mixed"],
)
def test_bad_groups(splitter, groups, message):
    with pytest.raises(ValueError, match=message):
        parts(splitter, groups)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: QueryKFold(1), "n_splits"),
        (lambda: QueryKFold(2.5), "n_splits"),
        (lambda: QueryKFold(shuffle=1), "shuffle"),
        (lambda: QueryKFold(shuffle=False, random_state=0), "no effect"),
        (lambda: QueryKFold(stratify="y"), "StratifiedGroupKFold"),
        (lambda: QueryKFold(stratify=y), "stratify="),
        (lambda: RepeatedQueryKFold(n_repeats=0), "n_repeats"),
        (lambda: QueryShuffleSplit(0), "n_splits"),
        (lambda: QueryShuffleSplit(test_size=0), "test_size=0 must be a fraction"),
        (lambda: QueryShuffleSplit(train_size=1.0), "train_size=1.0 must be a fraction"),
        (lambda: parts(QueryKFold(31)), "number of queries in groups, 30"),
        (
            lambda: parts(QueryShuffleSplit(test_size=30)),
            "30 queries to test on and 0 to train on",
        ),
        (lambda: parts(QueryShuffleSplit(test_size=20, train_size=11)), "at most 30"),
        (lambda: parts(QueryShuffleSplit(train_size=0.01)), "0 to train on"),
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
    again = query_train_test_split(X, y, qid=qid, stratify="relevance", random_state=0)
    np.testing.assert_array_equal(again[0], found[0])
    assert len(set(query_train_test_split(X, qid=qid, test_size=0.5)[-1])) == 15


def test_ids_are_asked_for_as_group_k_fold_does():
    for splitter in (QueryKFold(), GroupKFold()):
        assert get_routing_for_object(splitter).consumes("split", ["groups"]) == {"groups"}
    with sklearn.config_context(enable_metadata_routing=True):
        other = QueryKFold().set_split_request(groups="query")
        assert get_routing_for_object(other).consumes("split", ["query"]) == {"query"}


@pytest.mark.slow
@each_splitter
def test_in_cross_validation_and_searches(splitter):
    ranker, ids = OrderPreservingRanker(alpha=0.1), {"groups": qid}
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            ranker, X, y, cv=splitter, params=ids, error_score="raise", return_indices=True
        )
        assert len(found["test_score"]) == splitter.get_n_splits()
        for train, test in zip(*found["indices"].values(), strict=True):
            assert not set(qid[train]) & set(qid[test])
        search = GridSearchCV(ranker, {"alpha": [0.1, 1.0]}, cv=splitter, error_score="raise")
        search.fit(X, y, groups=qid)
        nested = cross_validate(search, X, y, cv=splitter, params=ids, error_score="raise")
        assert np.isfinite(nested["test_score"]).all()
        if type(splitter) is QueryKFold:
            scores = cross_val_predict(ranker, X, y, cv=splitter, params=ids)
            assert np.isfinite(scores).all()
    assert np.isfinite(found["test_score"]).all()


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
