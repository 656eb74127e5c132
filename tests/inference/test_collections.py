"""Intervals and tests from dask collections and accumulators are those of all rows in memory."""

import inspect
import pickle
from dataclasses import asdict, fields, is_dataclass

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from sklearn_rank import inference
from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import (
    Accumulator,
    Exponential,
    LocalAUC,
    Wilcoxon,
    _of_collections,
    _ranges,
    get_measure,
    get_measure_names,
    linear_rank_score,
    make_measure,
    partial_auc_score,
)
from sklearn_rank.metrics._shared import ListInParts
from tests.catalogue import scores_for
from tests.naming import for_each

N = 360


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def rows(seed=0, n=N):
    """Labels, scores of two systems with ties, ids and grades of queries."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    y[:2] = [0, 1]
    first = np.round(rng.normal(size=n) + y, 1)
    return {
        "y": y,
        "a": first,
        "b": np.round(first + rng.normal(size=n), 1),
        "g": rng.integers(0, 3, n),
        "q": np.repeat(np.arange(n // 9), 9),
        "w": rng.integers(0, 4, n),
    }


def lazy(columns, seed=0, whole=1):
    """The rows in chunks of any length, empty ones among them, cut at multiples of ``whole``."""
    rng = np.random.default_rng(seed)
    n = len(columns["y"]) // whole
    cuts = np.sort(rng.integers(0, n + 1, 5)) * whole
    lengths = tuple(np.diff(np.concatenate([[0], cuts, cuts[-1:], [n * whole]])).tolist())
    return {name: da.from_array(values, chunks=(lengths,)) for name, values in columns.items()}


def numbers(value):
    """All that a result says, as comparable values."""
    if is_dataclass(value):
        return numbers({x.name: getattr(value, x.name) for x in fields(value) if x.compare})
    if isinstance(value, dict):
        return {key: numbers(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [numbers(one) for one in value]
    if isinstance(value, float | np.ndarray):
        return pytest.approx(np.asarray(value), rel=1e-9, abs=1e-12, nan_ok=True)
    return value


def same(found, expected):
    assert type(found) is type(expected)
    for name, value in numbers(expected).items():
        assert _plain(getattr(found, name)) == value, name


def _plain(value):
    if is_dataclass(value):
        return _plain(asdict(value))
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


# What takes collections, on one list and on queries.
LISTS = {
    "metric_interval, wilson": lambda d: metric_interval("auc", d["y"], d["a"]),
    "metric_interval, delong": lambda d: metric_interval(
        "auc", d["y"], d["a"], method="delong", level=0.9
    ),
    "metric_interval, kl": lambda d: metric_interval("auc", d["y"], d["a"], method="kl"),
    "metric_interval, wilcoxon": lambda d: metric_interval(Wilcoxon(), d["y"], d["a"]),
    "metric_interval, rank exponential": lambda d: metric_interval(
        get_measure(linear_rank_score, phi=Exponential(5.0), normalize="mean"),
        d["y"],
        d["a"],
        conditional=False,
    ),
    "metric_interval, rank jump": lambda d: metric_interval(
        LocalAUC(0.7), d["y"], d["a"], conditional=False
    ),
    "metric_interval, rank dkw": lambda d: metric_interval(
        Wilcoxon(), d["y"], d["a"], method="dkw"
    ),
    "metric_interval, list": lambda d: metric_interval("bedroc@20", d["y"], d["a"]),
    "metric_interval, gini": lambda d: metric_interval(
        "gini", d["y"], d["a"], sample_weight=d["w"], weights="frequency"
    ),
    "metric_interval, enrichment": lambda d: metric_interval("enrichment@0.1", d["y"], d["a"]),
    "metric_interval, partial": lambda d: metric_interval(
        get_measure(partial_auc_score, max_fpr=0.3, scale="mcclish"), d["y"], d["a"]
    ),
    "metric_interval, top": lambda d: metric_interval("precision@top0.1", d["y"], d["a"]),
    "metric_interval, top exact": lambda d: metric_interval(
        "precision@top0.1", d["y"], d["a"], method="exact"
    ),
    "curve": lambda d: inference.curve(
        "lift", d["y"], d["a"], at=[0.1, 0.3], random_state=0
    ).together[1],
    "compare, unpaired": lambda d: compare(
        "auc", {"a": d["y"], "b": d["y"]}, {"a": d["a"], "b": d["b"]}
    ),
}
QUERIES = {
    "compare": lambda d: compare(
        "ndcg@5", d["g"], {"a": d["a"], "b": d["b"]}, qid=d["q"], random_state=0
    ),
    "metric_interval": lambda d: metric_interval("ndcg@5", d["g"], d["a"], qid=d["q"]),
    "metric_interval, shares": lambda d: metric_interval("success@1", d["y"], d["a"], qid=d["q"]),
    "metric_interval, bootstrap": lambda d: metric_interval(
        "ndcg@5", d["g"], d["a"], qid=d["q"], method="bca", random_state=0
    ),
    "metric_interval, weights": lambda d: metric_interval(
        "auc", d["y"], d["a"], qid=d["q"], sample_weight=1 + d["w"], weights="frequency"
    ),
    "metric_interval, undefined": lambda d: metric_interval(
        get_measure("ap@5", undefined=0.0), d["y"], d["a"], qid=d["q"]
    ),
    "compare, randomization": lambda d: compare(
        "ndcg@5",
        d["g"],
        {"a": d["a"], "b": d["b"]},
        qid=d["q"],
        random_state=0,
        method="randomization",
    ),
    "compare, wilcoxon": lambda d: compare(
        "success@1", d["y"], {"a": d["a"], "b": d["b"]}, qid=d["q"], method="wilcoxon"
    ),
    "compare, t": lambda d: compare(
        "ndcg@5", d["g"], {"a": d["a"], "b": d["b"]}, qid=d["q"], method="t"
    ),
}
# What needs the rows.
ROWS = {
    "compare, list": lambda d: compare("auc", d["y"], {"a": d["a"], "b": d["b"]}),
    "metric_interval, rank bootstrap": lambda d: metric_interval(
        Wilcoxon(), d["y"], d["a"], method="bootstrap"
    ),
    "compare, one": lambda d: compare(
        "auc", np.asarray(d["y"]), {"a": np.asarray(d["a"]), "b": d["b"]}
    ),
    "compare, swap": lambda d: compare("auc", d["y"], {"a": d["a"], "b": d["b"]}, method="swap"),
    "metric_interval, in part": lambda d: metric_interval("auc", d["y"], d["a"], design="all"),
    "compare, in part": lambda d: compare("auc", d["y"], {"a": d["a"], "b": d["b"]}, design="all"),
    "plan_labels": lambda d: inference.plan_labels("auc", d["a"], budget=3, y_true=d["y"]),
    "recall_certificate": lambda d: inference.recall_certificate(d["y"], design="all"),
    "batch_limits": lambda d: inference.batch_limits(d["y"], d["a"], d["b"]),
    "two_sample_rank_test": lambda d: inference.two_sample_rank_test(d["a"], d["b"]),
    # Groups of rows.
    "metric_interval, auc groups": lambda d: metric_interval("auc", d["y"], d["a"], groups=d["q"]),
    "metric_interval, rank groups": lambda d: metric_interval(
        Wilcoxon(), d["y"], d["a"], groups=d["q"]
    ),
    "metric_interval, resampled": lambda d: metric_interval(
        "pnorm@4", d["y"], d["a"], method="bootstrap"
    ),
    "metric_interval, groups of queries": lambda d: metric_interval(
        "ndcg", d["y"], d["a"], qid=d["q"], groups=d["q"]
    ),
    "curve, groups": lambda d: inference.curve(
        "lift", d["y"], d["a"], at=[0.1, 0.3], groups=d["q"]
    ),
    "curve, several rankers": lambda d: inference.curve(
        "lift", d["y"], {"a": d["a"], "b": d["b"]}, at=[0.1, 0.3]
    ),
    "compare, unpaired groups": lambda d: compare(
        "auc",
        {"a": d["y"], "b": d["y"]},
        {"a": d["a"], "b": d["b"]},
        groups={"a": d["q"], "b": d["q"]},
    ),
    "groups alone": lambda d: metric_interval(
        "auc", np.asarray(d["y"]), np.asarray(d["a"]), groups=d["q"]
    ),
}


def test_every_function_takes_collections_or_refuses_them():
    functions = {
        name for name in inference.__all__ if inspect.isfunction(getattr(inference, name))
    }
    tried = {call.split(",")[0] for call in (*LISTS, *QUERIES, *ROWS)}
    # Of numbers and a pilot in memory.
    assert functions - tried == {"sample_size"}


@pytest.mark.parametrize("name", LISTS)
def test_of_one_list(name):
    seed = [*LISTS].index(name) % 2
    data = rows(seed)
    same(LISTS[name](lazy(data, seed)), LISTS[name](data))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", QUERIES)
def test_of_queries(name):
    data = rows()
    same(QUERIES[name](lazy(data, whole=9)), QUERIES[name](data))


@for_each("name", ROWS)
def test_rows_are_refused(name):
    with pytest.raises(TypeError, match=r"is a dask collection, .*: pass .*\.compute\(\)"):
        ROWS[name](lazy(rows()))


def test_chunks_of_one_class_and_labels_that_are_words():
    data = rows()
    order = np.argsort(data["y"], kind="stable")
    y, score = np.array(["no", "yes"])[data["y"][order]], data["a"][order].astype(np.float32)
    found = metric_interval(
        "auc", da.from_array(y, chunks=40), da.from_array(score, chunks=40), pos_label="yes"
    )
    same(found, metric_interval("auc", y, score, pos_label="yes"))
    found = metric_interval(
        Wilcoxon(), da.from_array(y, chunks=40), da.from_array(score, chunks=33), pos_label="no"
    )
    same(found, metric_interval(Wilcoxon(), y, score, pos_label="no"))


def test_columns_of_a_dataframe_and_ids_that_are_words():
    data = rows()
    frame = pd.DataFrame(data)
    frame["q"] = "query " + frame["q"].astype(str)
    chunks = dd.from_pandas(frame, npartitions=1).repartition(divisions=[0, 90, 180, 279, 359])
    same(metric_interval("auc", chunks.y, chunks.a), metric_interval("auc", frame.y, frame.a))
    same(
        metric_interval("ndcg@5", chunks.g, chunks.a, qid=chunks.q),
        metric_interval("ndcg@5", frame.g, frame.a, qid=frame.q),
    )
    same(
        compare("ndcg@5", chunks.g, chunks[["a", "b"]], qid=chunks.q, method="t"),
        compare("ndcg@5", frame.g, frame[["a", "b"]], qid=frame.q, method="t"),
    )


def test_an_array_in_memory_beside_a_collection():
    data = rows()
    found = metric_interval("auc", data["y"], lazy(data)["a"])
    same(found, metric_interval("auc", data["y"], data["a"]))


def test_lists_in_rows():
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, (40, 7)), rng.normal(size=(40, 7))
    found = metric_interval(
        "ndcg@5", da.from_array(y, chunks=(13, 4)), da.from_array(score, chunks=(9, 7))
    )
    same(found, metric_interval("ndcg@5", y, score))


def test_one_class_only_has_a_warning_as_in_memory():
    y, score = da.ones(10, chunks=3), da.arange(10, chunks=3)
    with pytest.warns(UserWarning, match="one class only"):
        assert np.isnan(metric_interval("auc", y, score).estimate)
    with pytest.raises(ValueError, match="one class only, with no negative among 10"):
        metric_interval(Wilcoxon(), y, score)


@for_each(
    ("call", "message"),
    [
        (lambda d: metric_interval("auc", d["g"], d["a"]), r"chunk \d: .*pass"),
        (
            lambda d: metric_interval("auc", d["y"], da.where(d["a"] < 2, d["a"], np.nan)),
            r"chunk \d: .*y_score is NaN at row \d",
        ),
        (
            lambda d: metric_interval(
                "auc", d["y"], d["a"], sample_weight=d["w"] / 2, weights="frequency"
            ),
            "not a whole number",
        ),
        (
            lambda d: metric_interval(
                "auc", d["y"], d["a"], qid=d["q"], sample_weight=d["w"] / 2, weights="frequency"
            ),
            r"chunk \d: sample_weight is [01].5 at row",
        ),
        (
            lambda d: metric_interval(
                "auc", d["y"], d["a"], sample_weight=0 * d["w"], weights="frequency"
            ),
            "No row has positive",
        ),
        (lambda d: metric_interval("ndcg", d["g"], d["a"]), "qid"),
        (
            lambda d: metric_interval(Wilcoxon(), d["y"][:, None] + [0, 1], d["a"]),
            "one score for each label",
        ),
        (
            lambda d: metric_interval(
                make_measure(lambda y, s: 0.5, name="own", range=(0, 1), influence=lambda y, s: s),
                d["y"],
                d["a"],
            ),
            "all rows in memory.*compute",
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call(lazy(rows()))


def test_inverse_probabilities_belong_to_rows_in_memory():
    d = lazy(rows())
    with pytest.raises(TypeError, match=r"pass sample_weight\.compute\(\)"):
        metric_interval("auc", d["y"], d["a"], sample_weight=d["w"], weights="sampling")
    with pytest.raises(TypeError, match=r"pass y_true\.compute\(\)"):
        metric_interval("auc", d["y"], d["a"], sample_weight=rows()["w"], weights="sampling")


# ------------------------------------------------------------------------- ranges of scores


@pytest.fixture
def _in_ranges(monkeypatch):
    monkeypatch.setattr(_ranges, "ROWS_OF_RANGE", 10)


@pytest.mark.usefixtures("_in_ranges")
@pytest.mark.parametrize("seed", range(2))
def test_auc_of_ranges(seed, monkeypatch):
    data = rows(seed)
    if seed % 2:
        data["y"] = 1 - data["y"]
        data["a"] = data["a"].round(0)
    monkeypatch.setattr(ListInParts, "in_one_memory", None)
    for method in ("wilson", "chebyshev", "delong"):
        found = metric_interval("auc", *(lazy(data, seed)[name] for name in "ya"), method=method)
        same(found, metric_interval("auc", data["y"], data["a"], method=method))
    found = metric_interval(
        "auc",
        *(lazy(data, seed)[name] for name in "ya"),
        sample_weight=data["w"],
        weights="frequency",
    )
    same(
        found,
        metric_interval("auc", data["y"], data["a"], sample_weight=data["w"], weights="frequency"),
    )


@pytest.mark.usefixtures("_in_ranges")
def test_ranges_in_perfect_order_or_of_one_class():
    data = rows()
    columns = lazy({"y": data["y"], "s": data["y"] + np.arange(N) / N})
    found = metric_interval("auc", columns["y"], columns["s"])
    same(found, metric_interval("auc", data["y"], data["y"] + np.arange(N) / N))
    assert found.estimate == 1.0
    with pytest.warns(UserWarning, match="one class only"):
        assert np.isnan(metric_interval("auc", 0 * columns["y"], columns["s"]).estimate)


@pytest.mark.usefixtures("_in_ranges")
def test_other_intervals_take_one_memory(monkeypatch):
    data = rows()
    same(
        metric_interval(Wilcoxon(), *(lazy(data)[name] for name in "ya")),
        metric_interval(Wilcoxon(), data["y"], data["a"]),
    )
    monkeypatch.setattr(_of_collections, "MAX_TABLE_ROWS", 100)
    with pytest.raises(ValueError, match="distinct rows in memory: round the scores"):
        metric_interval(Wilcoxon(), *(lazy(data)[name] for name in "ya"))


# --------------------------------------------------------------------------------- accumulators


OF_LISTS = sorted(
    {name for name in get_measure_names() if get_measure(name).has_influence}
    | {"precision@top0.05", "rie@20"}
)


@for_each("name", OF_LISTS)
def test_accumulated_list(name):
    data, rng = rows(3), np.random.default_rng(0)
    data["a"] = scores_for(name, data["a"])
    several = [Accumulator(name) for _ in range(4)]
    for part in np.array_split(rng.permutation(N), 9):
        several[rng.integers(4)].update(data["y"][part], data["a"][part])
    merged = pickle.loads(pickle.dumps(several[2])).merge(several[0]).merge(several[3])
    found = metric_interval(merged.merge(several[1]))
    same(found, metric_interval(name, data["y"], data["a"]))


def test_accumulated_weights_are_repetitions():
    data = rows()
    twice = np.repeat(np.arange(N), data["w"])
    for phi in (Exponential(5.0), LocalAUC(0.8)):
        accumulator = Accumulator(phi).update(data["y"], data["a"], sample_weight=data["w"])
        expected = metric_interval(phi, data["y"][twice], data["a"][twice])
        same(metric_interval(accumulator, weights="frequency"), expected)
        with pytest.raises(ValueError, match="pass weights='frequency' if each row"):
            metric_interval(accumulator)
        with pytest.raises(ValueError, match="accumulators add up weights of equal rows"):
            metric_interval(accumulator, weights="sampling")
    half = Accumulator("auc").update(data["y"], data["a"], sample_weight=data["w"] / 2)
    with pytest.raises(ValueError, match="had a value that is not whole"):
        metric_interval(half, weights="frequency")


def test_accumulated_queries():
    data = rows()
    accumulator = Accumulator("ndcg@5")
    for part in np.array_split(np.arange(N), 8):
        accumulator.update(data["g"][part], data["a"][part], qid=data["q"][part])
    expected = metric_interval("ndcg@5", data["g"], data["a"], qid=data["q"], level=0.8)
    same(metric_interval(accumulator, level=0.8), expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda y, s, q: Accumulator("auc"), "No row has a positive weight"),
        (lambda y, s, q: Accumulator("rr").update(y, s), "pass qid"),
        (lambda y, s, q: Accumulator("lift@0.1").update(y[y == 1], s[y == 1]), "one class only"),
        (lambda y, s, q: Accumulator("ndcg").update(y, s, qid=q, query_weight=q), "query_weight"),
    ],
)
def test_accumulators_without_an_interval(make, message):
    data = rows()
    with pytest.raises(ValueError, match=message):
        metric_interval(make(data["y"], data["a"], data["q"]))


def test_an_accumulator_holds_the_rows():
    accumulator = Accumulator("auc").update([0, 1, 0, 1], [1, 2, 3, 4])
    for name in ("y_true", "y_score", "qid", "groups", "pos_label", "design"):
        with pytest.raises(TypeError, match=f"holds the rows, and {name} is given"):
            metric_interval(accumulator, **{name: [0, 1, 0, 1]})
    with pytest.raises(TypeError, match="keeps no rows to resample"):
        metric_interval(Accumulator("pnorm@4"), method="bootstrap")
    with pytest.raises(TypeError, match="y_score is missing"):
        metric_interval("auc", [0, 1])


@pytest.mark.parametrize("options", [{"method": "delong"}, {"conditional": False}])
def test_options_of_an_accumulator(options):
    data = rows()
    name = "lift@0.1" if "conditional" in options else "auc"
    accumulator = Accumulator(name).update(data["y"], data["a"])
    same(
        metric_interval(accumulator, **options),
        metric_interval(name, data["y"], data["a"], **options),
    )


@pytest.mark.slow
def test_on_processes(client):
    data = rows()
    same(
        metric_interval("auc", lazy(data)["y"], lazy(data)["a"]),
        metric_interval("auc", data["y"], data["a"]),
    )
