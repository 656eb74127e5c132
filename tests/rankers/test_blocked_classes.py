"""Rankers of two classes on dask collections: the fits of rows in memory."""

import gc
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_rank import (
    AccuracyAtTopRanker,
    PNormPushRanker,
    RankStatisticRanker,
    TopPushRanker,
)
from sklearn_rank._solvers import _design
from sklearn_rank.exceptions import PositiveClassWarning
from sklearn_rank.rankers._base import FitProgress
from tests.naming import shown

N, D = 400, 4


@pytest.fixture(autouse=True)
def _in_this_process(request):
    """Chunks are computed here, except on a cluster."""
    if "client" in request.fixturenames:
        yield
        return
    with dask.config.set(scheduler="synchronous"):
        yield


def data(seed=0, n=N, shift=2.0):
    """Rows in runs of one class, so that small chunks have one class."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) // 7 % 3 == 0).astype(int)
    X = rng.normal(size=(n, D))
    X[y == 1, 0] += shift
    return X, y, rng.integers(0, 4, n).astype(float)


def on_chunks(ranker, X, y, weight=None, *, size=90):
    if sp.issparse(X):
        starts = range(0, len(y), size)
        parts = [
            da.from_delayed(dask.delayed(X[i : i + size]), (min(size, len(y) - i), D), float)
            for i in starts
        ]
        rows = da.concatenate(parts)
    else:
        rows = da.from_array(X, chunks=(size, 3))
    weights = None if weight is None else da.from_array(weight, chunks=size)
    return ranker.fit(rows, da.from_array(y, chunks=57), weights), rows


RANKERS = [
    TopPushRanker(0.6, C=10.0),
    TopPushRanker(0.6, loss="hinge", C=10.0),
    TopPushRanker(5),
    PNormPushRanker(),
    PNormPushRanker(2, loss="logistic"),
    RankStatisticRanker("bedroc@20", anchor=0.0, bandwidth=0.5, n_init=2, random_state=0),
]


def assert_same(found, expected):
    for name, value in vars(expected).items():
        if name.endswith("_") and not isinstance(value, str):
            if np.asarray(value).dtype.kind == "f" and name not in ("dual_gap_",):
                scale = np.abs(value).max()
                np.testing.assert_allclose(
                    getattr(found, name), value, rtol=1e-6, atol=1e-6 * scale, err_msg=name
                )
            elif name == "n_iter_":  # rounding can decide about the last step
                assert abs(found.n_iter_ - value) <= 1
            elif name not in ("dual_gap_", "feature_names_in_"):
                np.testing.assert_array_equal(getattr(found, name), value, err_msg=name)


@pytest.mark.parametrize(
    ("ranker", "weighted"), [(ranker, i % 4 < 2) for i, ranker in enumerate(RANKERS)], ids=shown
)
def test_the_fit_is_that_of_rows_in_memory(ranker, weighted):
    X, y, weight = data()
    weight = weight if weighted else None
    expected = type(ranker)(**ranker.get_params()).fit(X, y, weight)
    found, rows = on_chunks(ranker, X, y, weight)
    assert_same(found, expected)
    decision, labels = found.decision_function(rows), found.predict(rows)
    np.testing.assert_allclose(decision, expected.decision_function(X), rtol=1e-5, atol=1e-5)
    assert type(decision) is da.Array
    np.testing.assert_array_equal(labels, found.predict(X))
    assert labels.dtype == y.dtype


@pytest.mark.parametrize(
    ("form", "size"), [("float32", 1), ("csr", 7), ("float32", N - 1), ("csr", N)]
)
def test_any_blocks_of_any_form(form, size):
    X, y, weight = data(n=60 if size == 1 else N)
    if form == "csr":
        X = sp.csr_array(np.where(np.abs(X) < 0.5, 0.0, X))
    else:
        X = X.astype(np.float32)
    ranker = TopPushRanker(0.4, C=10.0)
    expected = TopPushRanker(0.4, C=10.0).fit(X, y, weight)
    found, rows = on_chunks(ranker, X, y, weight, size=size)
    assert_same(found, expected)
    np.testing.assert_allclose(
        found.decision_function(rows), expected.decision_function(X), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_rows_that_are_too_many_for_a_copy_are_read_again(form, monkeypatch):
    X, y, weight = data(n=300)
    X = sp.csr_array(np.where(np.abs(X) < 0.5, 0.0, X)) if form == "csr" else X
    ranker = TopPushRanker(0.6, C=10.0)
    expected = TopPushRanker(**ranker.get_params()).fit(X, y, weight)
    monkeypatch.setattr(_design, "LARGEST_COPY", 100)
    assert_same(on_chunks(ranker, X, y, weight)[0], expected)


# --------------------------------------------------------------------------------- what is passed


def test_words_as_labels_and_chunks_of_one_class():
    X, y, _ = data()
    words = np.array(["spam", "ham"], dtype=object)[y]
    ranker = TopPushRanker(0.6, pos_label="ham")
    expected = TopPushRanker(0.6, pos_label="ham").fit(X, words)
    found, rows = on_chunks(ranker, X, words)
    assert found.pos_label_ == "ham"
    np.testing.assert_array_equal(found.classes_, ["ham", "spam"])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(found.predict(rows)), expected.predict(X))
    with pytest.warns(PositiveClassWarning, match="treats 'spam' as the positive class"):
        on_chunks(TopPushRanker(0.6), X, words)


def test_dataframes_of_unknown_lengths():
    X, y, weight = data()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, weight=weight)
    lazy = dd.from_pandas(frame, npartitions=5)
    lazy = lazy[lazy.a > -10]
    ranker = TopPushRanker(0.6).fit(lazy[list("abcd")], lazy.y, lazy.weight)
    expected = TopPushRanker(0.6).fit(frame[list("abcd")], frame.y, frame.weight)
    assert_same(ranker, expected)
    np.testing.assert_array_equal(ranker.feature_names_in_, expected.feature_names_in_)
    decision = ranker.decision_function(lazy[list("abcd")])
    np.testing.assert_allclose(decision, expected.decision_function(frame[list("abcd")]))
    labels = expected.predict(frame[list("abcd")])
    np.testing.assert_array_equal(ranker.predict(lazy[list("abcd")]), labels)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        ranker.predict(lazy[list("bacd")])


def test_a_start_that_was_fitted():
    X, y, _ = data()
    # The first class is positive: the classifier scores the second one high.
    words = np.array(["no", "yes"], dtype=object)[y]
    start = FrozenEstimator(LogisticRegression(C=0.1).fit(X[::3], words[::3]))
    ranker = RankStatisticRanker("auc", start=start, pos_label="no")
    expected = RankStatisticRanker("auc", start=start, pos_label="no").fit(X, words)
    assert expected.start_value_ > 0.9
    assert_same(on_chunks(ranker, X, words)[0], expected)
    with pytest.raises(ValueError, match=r"start=LogisticRegression\(\) needs rows in memory"):
        on_chunks(RankStatisticRanker(start=LogisticRegression()), X, y)


# --------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "ranker", [RankStatisticRanker(kernel="rbf"), PNormPushRanker(kernel="poly")]
)
def test_other_kernels_are_refused(ranker):
    X, y, _ = data()
    with pytest.raises(ValueError, match=r"kernel='\w+' needs all pairs of rows, but X is read"):
        on_chunks(ranker, X, y)


def test_rankers_that_need_all_rows_say_which_do_not():
    X, y, _ = data()
    with pytest.raises(TypeError, match=r"AtTopRanker needs X in memory.* or fit TopPushR"):
        on_chunks(AccuracyAtTopRanker(), X, y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(N, dtype=int), "needs rows of two classes with positive sample_weight"),
        (
            np.arange(N) % 3,
            "Only binary classification is supported. The type of the target is",
        ),
    ],
    ids=["one", "three"],
)
def test_other_numbers_of_classes_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        on_chunks(TopPushRanker(), data()[0], labels)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("X", "chunk 7: X contains NaN or infinity, first in row 3, column 2: impute the value"),
        ("y", "chunk 7: y has a missing label at row 3"),
        ("weight", "chunk 7: sample_weight is nan at row 3: it must be finite and at least 0"),
    ],
)
def test_what_is_wrong_is_said_with_chunk_and_row(name, message):
    X, y, weight = data()
    y = y.astype(float)
    {"X": X[:, 2], "y": y, "weight": weight}[name][7 * 20 + 3] = np.nan
    ranker = TopPushRanker(0.6).fit(*data()[:2])
    before = dict(vars(ranker))
    with pytest.raises(ValueError, match=message):
        ranker.fit(*(da.from_array(one, chunks=20) for one in (X, y, weight)))
    assert vars(ranker) == before


def test_labels_of_other_types_in_other_chunks_are_refused():
    X, y, _ = data()
    words = y[200:].astype(str).astype(object)
    parts = [da.from_delayed(dask.delayed(part), (200,), int) for part in (y[:200], words)]
    with pytest.raises(ValueError, match="y has dtype object in chunk 1, but int64 in chunk 0"):
        TopPushRanker().fit(da.from_array(X, chunks=(200, D)), da.concatenate(parts))


# ----------------------------------------------------------------------------------- on a cluster


def at_step(monkeypatch, number, action):
    """Do something in the middle of a fit, once."""
    steps = []

    def iteration(self, *what):
        steps.append(what)
        if len(steps) == number:
            action()

    monkeypatch.setattr(FitProgress, "iteration", iteration)


def n_tasks(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


@pytest.mark.slow
def test_an_interrupt_leaves_nothing_on_the_workers(client, monkeypatch):
    X, y, _ = data()
    ranker = PNormPushRanker().fit(X, y)
    before = dict(vars(ranker))

    def interrupt():
        assert n_tasks(client) > 0
        raise KeyboardInterrupt

    at_step(monkeypatch, 2, interrupt)
    with pytest.raises(KeyboardInterrupt):
        on_chunks(ranker, X, y)
    assert vars(ranker) == before
    for _ in range(100):
        gc.collect()
        if n_tasks(client) == 0:
            return
        time.sleep(0.1)
    raise AssertionError(f"{n_tasks(client)} tasks are left")
