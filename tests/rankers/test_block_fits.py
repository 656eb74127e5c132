"""Fits to rows that are not in memory, beside fits to the same rows in memory."""

import gc
import os
import signal
import time
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank import (
    AccuracyAtTopRanker,
    AccuracyAtTopRankerCV,
    GroupRankerAdapter,
    OrderPreservingRanker,
    RankBoostRanker,
    losses,
)
from sklearn_rank.exceptions import ScorerSetupError
from sklearn_rank.rankers._blocked_rows import ChunkedLists

dask = pytest.importorskip("dask")

N_QUERIES = 24

# Without a gradient at its kinks, it has no minimum that a gradient certifies.
KINKED = {"comparison_hinge"}

pytestmark = pytest.mark.filterwarnings("ignore:.*is undefined for:UserWarning")


@pytest.fixture(autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def data(seed=0, *, sorted_ids=True):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, N_QUERIES)
    ids = np.arange(N_QUERIES) * 3 + 1
    qid = np.repeat(ids if sorted_ids else rng.permutation(ids), sizes)
    X = rng.normal(size=(len(qid), 3))
    y = rng.binomial(2, 1 / (1 + np.exp(-X[:, 0])))
    weights = {
        "sample_weight": rng.integers(0, 3, len(qid)).astype(float),
        "query_weight": rng.integers(0, 3, N_QUERIES)[np.searchsorted(ids, qid)].astype(float),
    }
    return X, y, qid, weights


def query_ends(qid):
    return np.flatnonzero(qid[1:] != qid[:-1]) + 1


def chunked(values, ends):
    """A dask array cut at some rows."""
    import dask.array as da

    n_rows = values.shape[0]
    if sp.issparse(values):
        parts = [values[a:b] for a, b in pairwise([0, *ends, n_rows])]
        return da.concatenate(
            [da.from_delayed(dask.delayed(part), part.shape, part.dtype) for part in parts]
        )
    lengths = tuple(int(n) for n in np.diff([0, *ends, n_rows]))
    chunks = (lengths,) if values.ndim == 1 else (lengths, (2, values.shape[1] - 2))
    return da.from_array(values, chunks=chunks)


def assert_same(found, expected):
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-10)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    assert found.lower_bound_ == pytest.approx(expected.lower_bound_, rel=1e-9, nan_ok=True)
    assert found.converged_
    assert found.n_queries_ == expected.n_queries_
    assert found.n_features_in_ == expected.n_features_in_
    assert found.training_queries_ == expected.training_queries_
    assert getattr(found, "intercept_", 0) == pytest.approx(
        getattr(expected, "intercept_", 0), rel=1e-6, abs=1e-10
    )


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.CalibrationWarning")
@pytest.mark.parametrize(
    "loss", [one for one in losses.get_loss_names() if one not in KINKED][::2]
)
def test_every_loss_has_the_minimum_of_rows_in_memory(loss):
    X, y, qid, _ = data()
    ranker = OrderPreservingRanker(loss, measure="dcg", tol=1e-9)
    expected = ranker.fit(X, y, qid=qid)
    ends = query_ends(qid)[[0, 6, 7, 15]]
    found = OrderPreservingRanker(loss, measure="dcg", tol=1e-9)
    found.fit(chunked(X, ends), chunked(y, ends), qid=chunked(qid, ends))
    assert_same(found, expected)
    assert found.alpha_ == pytest.approx(expected.alpha_, rel=1e-9)


@pytest.mark.parametrize(
    ("loss", "step"),
    [("comparison_hinge", 5), *(("comparison_squared_hinge", step) for step in (99, 1))],
)
@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.CalibrationWarning")
def test_hinges_of_pairs_have_the_minimum_of_rows_in_memory(loss, step):
    X, y, qid, weights = data(1, sorted_ids=False)
    tol = 1e-2 if loss == "comparison_hinge" else 1e-8
    expected = OrderPreservingRanker(loss, alpha=1.0, tol=tol).fit(X, y, qid=qid, **weights)
    ends = query_ends(qid)[::step]
    lazy = {name: chunked(values, ends) for name, values in {"qid": qid, **weights}.items()}
    found = OrderPreservingRanker(loss, alpha=1.0, tol=tol)
    found.fit(chunked(X, ends), chunked(y, ends), **lazy)
    assert_same(found, expected)
    np.testing.assert_allclose(found.predict(chunked(X, ends)).compute(), found.predict(X))


@pytest.mark.parametrize(
    ("measure", "form"), [("ndcg@3", "float32"), ("precision@2", "sparse"), ("auc", "sparse")]
)
def test_weights_undefined_queries_and_forms_of_rows(measure, form):
    X, y, qid, weights = data(2, sorted_ids=False)
    X = X.astype(np.float32) if form == "float32" else sp.csr_array(np.maximum(X, 0))
    y = y if measure.startswith("ndcg") else np.minimum(y, 1)
    y[qid == qid[0]] = 0
    expected = OrderPreservingRanker(measure=measure, tol=1e-9).fit(X, y, qid=qid, **weights)
    ends = query_ends(qid)[::5]
    lazy = {name: chunked(values, ends) for name, values in {"qid": qid, **weights}.items()}
    found = OrderPreservingRanker(measure=measure, tol=1e-9)
    assert_same(found.fit(chunked(X, ends), chunked(y, ends), **lazy), expected)


def test_queries_of_a_chunk_come_in_any_order_and_chunks_may_be_empty():
    import dask.array as da

    X, y, qid, weights = data(3)
    expected = OrderPreservingRanker(tol=1e-9).fit(X, y, qid=qid, **weights)
    middle = int(query_ends(qid)[10])
    rng = np.random.default_rng(0)
    order = np.append(rng.permutation(middle), middle + rng.permutation(len(y) - middle))
    lengths = (0, middle, 0, len(y) - middle)
    lazy = {
        name: da.from_array(values[order], chunks=(lengths, *values.shape[1:]))
        for name, values in {"X": X, "y": y, "qid": qid, **weights}.items()
    }
    found = OrderPreservingRanker(tol=1e-9).fit(lazy.pop("X"), lazy.pop("y"), **lazy)
    assert_same(found, expected)


def test_a_dataframe_of_dask_has_names_and_gives_lazy_scores():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y, qid, weights = data(4)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, qid=qid, **weights)
    early = frame["qid"] < 30
    lazy = dd.concat(
        [dd.from_pandas(part, npartitions=1) for part in (frame[early], frame[~early])]
    )
    names = ["a", "b", "c"]
    columns = {name: lazy[name] for name in ("qid", *weights)}
    expected = OrderPreservingRanker(tol=1e-9).fit(frame[names], y, qid=qid, **weights)
    found = OrderPreservingRanker(tol=1e-9).fit(lazy[names], lazy["y"], **columns)
    assert_same(found, expected)
    assert found.feature_names_in_.tolist() == names
    scores = found.predict(lazy[names])
    assert dask.is_dask_collection(scores)
    np.testing.assert_allclose(scores.compute(), expected.predict(frame[names]))
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        found.predict(lazy[["b", "a", "c"]])


@pytest.mark.parametrize("normalize", ["zscore", "rank"])
def test_features_are_normalised_within_queries(normalize):
    X, y, qid, weights = data(5, sorted_ids=False)
    made = {"normalize": normalize, "tol": 1e-9}
    expected = OrderPreservingRanker(**made).fit(X, y, qid=qid, **weights)
    scores = expected.predict(X, qid=qid)
    ends = query_ends(qid)[::4]
    lazy = {name: chunked(values, ends) for name, values in {"qid": qid, **weights}.items()}
    found = OrderPreservingRanker(**made).fit(chunked(X, ends), chunked(y, ends), **lazy)
    assert_same(found, expected)
    assert found.normalizer_.n_queries_ == expected.normalizer_.n_queries_
    np.testing.assert_allclose(found.predict(X, qid=qid), scores, atol=1e-8)
    lazy_scores = found.predict(chunked(X, ends), qid=lazy["qid"])
    np.testing.assert_allclose(lazy_scores.compute(), scores, atol=1e-8)
    with pytest.raises(ValueError, match="needs qid to score rows"):
        found.predict(chunked(X, ends))


def test_propensities():
    X, y, qid, _ = data(6)
    y = np.minimum(y, 1)
    propensity = np.random.default_rng(0).uniform(0.1, 1, len(y))
    made = {"loss": "pointwise_logistic", "measure": "dcg", "propensity_clip": 0.3, "tol": 1e-9}
    expected = OrderPreservingRanker(**made).fit(X, y, qid=qid, propensity=propensity)
    ends = query_ends(qid)[::4]
    lazy = {"qid": chunked(qid, ends), "propensity": chunked(propensity, ends)}
    assert_same(
        OrderPreservingRanker(**made).fit(chunked(X, ends), chunked(y, ends), **lazy), expected
    )
    ranker = OrderPreservingRanker(measure="ndcg")
    with pytest.raises(ValueError, match="depend on all labels of a query"):
        ranker.fit(chunked(X, ends), chunked(y, ends), **lazy)


def test_a_fit_goes_on_from_the_last():
    X, y, qid, _ = data(7)
    ranker = OrderPreservingRanker("pointwise_logistic", warm_start=True, tol=1e-9)
    first = ranker.fit(X, y, qid=qid).n_iter_
    assert first > 1
    ends = query_ends(qid)[::5]
    ranker.fit(chunked(X, ends), chunked(y, ends), qid=chunked(qid, ends))
    assert ranker.n_iter_ <= 1


def refused(match, X, y, *, error=ValueError, ranker=None, **columns):
    """A fit is refused, and leaves the ranker as it was."""
    ranker = OrderPreservingRanker() if ranker is None else ranker
    rows, labels, qid, _ = data(8)
    ranker.fit(rows, np.minimum(labels, 1), qid=qid)
    before = dict(vars(ranker))
    with pytest.raises(error, match=match):
        ranker.fit(X, y, **columns)
    assert vars(ranker).keys() == before.keys()
    assert all(vars(ranker)[name] is before[name] for name in before)


def test_queries_that_are_cut_between_chunks_are_refused():
    X, y, qid, _ = data()
    ends = [int(query_ends(qid)[3]) + 1]
    lazy = chunked(X, ends), chunked(y, ends)
    where = f"The query {qid[ends[0]]} has rows in the chunks 0 and 1"
    whole = rf"{where} \(queries split: 1\), .*repartition by query"
    refused(whole, *lazy, qid=chunked(qid, ends))
    normal = OrderPreservingRanker(normalize="rank").fit(X, y, qid=qid)
    with pytest.raises(ValueError, match=whole):
        normal.predict(lazy[0], qid=chunked(qid, ends))


def test_what_is_wrong_in_a_chunk_is_refused_with_its_number():
    X, y, qid, _ = data()
    ends = query_ends(qid)[:8]
    row = int(ends[6]) + 1
    ids = chunked(qid, ends)
    for bad in (np.nan, np.inf, -np.inf):
        wrong = X.copy()
        wrong[row, 1] = bad
        refused(
            "chunk 7: X contains NaN or infinity, first in row 1, column 1",
            *(chunked(wrong, ends), chunked(y, ends)),
            qid=ids,
        )
    words = y.astype(object)
    words[row] = "good"
    words = dask.array.from_array(words, chunks=(chunked(y, ends).chunks[0],))
    refused("chunk 7: y must be numeric", chunked(X, ends), words, qid=ids)
    negative = r"chunk \d: y has (-1 beside two classes|the relevance -1)"
    refused(negative, chunked(X, ends), chunked(y - 1, ends), qid=ids)


def test_labels_of_two_kinds_in_two_chunks_are_refused():
    X, y, qid, _ = data()
    ends = query_ends(qid)[[11]]
    mixed = np.minimum(y, 1)
    mixed[: ends[0]] = 2 * mixed[: ends[0]] - 1
    refused(
        "y has -1 beside two classes",
        *(chunked(X, ends), chunked(mixed, ends)),
        ranker=OrderPreservingRanker(measure="auc"),
        qid=chunked(qid, ends),
    )


def test_what_a_careless_user_types():
    X, y, qid, _ = data()
    ends = query_ends(qid)[[11]]
    lazy = chunked(X, ends), chunked(y, ends)
    refused("needs qid, one id per row", *lazy)
    refused("needs qid, one id per row", *lazy, qid=0)
    refused("queries have only one row", *lazy, qid=chunked(np.arange(len(y)), ends))
    refused(
        "No query has a row of positive utility",
        *(chunked(X, ends), chunked(0 * y, ends)),
        qid=chunked(qid, ends),
    )
    none, ids = chunked(np.zeros(len(y)), ends), chunked(qid, ends)
    refused("No row has positive sample_weight", *lazy, sample_weight=none, qid=ids)
    fitted = OrderPreservingRanker().fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="X has 2 features, but OrderPreservingRanker is expec"):
        fitted.predict(chunked(X, ends)[:, :2])
    with pytest.raises(TypeError, match="needs X in memory"):
        GroupRankerAdapter().fit(*lazy, qid=chunked(qid, ends))


def test_a_score_of_a_collection_is_that_of_rows_in_memory():
    import dask.array as da

    X, y, qid, weights = data(9)
    weights = {"query_weight": weights["query_weight"]}
    ranker = OrderPreservingRanker().fit(X, y, qid=qid)
    cut = int(query_ends(qid)[9])
    lazy = {
        name: da.from_array(values, chunks=((0, cut, len(y) - cut), *values.shape[1:]))
        for name, values in {"X": X, "y": y, "qid": qid, **weights}.items()
    }
    expected = ranker.score(X, y, qid=qid, **weights)
    assert ranker.score(**lazy) == pytest.approx(expected, rel=1e-12)
    assert ranker.score(lazy["X"], y, qid=qid, **weights) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ScorerSetupError, match="has no max_grade"):
        ranker.set_params(measure="rbp@0.8").score(**lazy)


def held_by(client):
    """Number of results that workers hold for this client."""
    gc.collect()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        held = sum(client.run(lambda dask_worker: len(dask_worker.data)).values())
        if held == len(client.futures) == 0:
            break
        time.sleep(0.05)
    return held


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_workers_that_die_errors_and_interrupts(client, monkeypatch):
    X, y, qid, _ = data(10)
    ends = query_ends(qid)[[7, 15]]
    row = int(ends[1])
    wrong = X.copy()
    wrong[row, 2] = np.nan
    lazy = chunked(X, ends), chunked(y, ends)
    ids = chunked(qid, ends)
    expected = OrderPreservingRanker("pairwise_squared").fit(X, y, qid=qid)
    total, calls = ChunkedLists.total, []

    def disturbed(do, at):
        calls.clear()

        def total_but(self, function, *arguments, **named):
            calls.append(function)
            if len(calls) == at:
                do()
            return total(self, function, *arguments, **named)

        monkeypatch.setattr(ChunkedLists, "total", total_but)

    with dask.config.set(scheduler="distributed"):
        process = next(iter(client.run(os.getpid).values()))
        disturbed(lambda: os.kill(process, signal.SIGKILL), 4)
        found = OrderPreservingRanker("pairwise_squared").fit(*lazy, qid=ids)
        assert_same(found, expected)
        assert held_by(client) == 0
        with pytest.raises(ValueError, match="chunk 2: X contains NaN") as raised:
            found.fit(chunked(wrong, ends), lazy[1], qid=ids)
        # The traceback is alive, and what it refers to is not.
        assert held_by(client) == 0
        assert raised.type is ValueError

        def interrupt():
            raise KeyboardInterrupt

        disturbed(interrupt, 3)
        before = dict(vars(found))
        with pytest.raises(KeyboardInterrupt):
            found.fit(*lazy, qid=ids)
        assert vars(found) == before
        assert held_by(client) == 0


@pytest.mark.parametrize(
    "ranker",
    [
        AccuracyAtTopRanker(),
        AccuracyAtTopRankerCV(),
        RankBoostRanker(),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_rankers_of_two_classes_that_need_all_rows_at_once_say_so(ranker):
    import dask.array as da

    X, y = np.eye(6), np.arange(6) % 2
    message = f"{type(ranker).__name__} needs X in memory, but X is of type Array: pass an array"
    with pytest.raises(TypeError, match=message):
        ranker.fit(da.from_array(X, chunks=(2, 6)), y)
    assert not hasattr(ranker, "n_features_in_")
