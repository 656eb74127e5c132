"""Inputs of two readings are refused at every door, with the line that mends them."""

import tracemalloc

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker

from sklearn_rank import (
    AccuracyAtTopRanker,
    GroupRankerAdapter,
    OrderPreservingRanker,
    RankEnsemble,
    RankEnsembleClassifier,
    TopPushRanker,
)
from sklearn_rank.datasets import join_qrels, load_qrels, load_trec_run
from sklearn_rank.inference import (
    ConfidenceSequence,
    LabelDesign,
    batch_limits,
    compare,
    metric_interval,
    plan_labels,
    recall_certificate,
    sample_size,
    two_sample_rank_test,
)
from sklearn_rank.metrics import (
    Accumulator,
    _ranges,
    average_precision_score,
    get_scorer,
    ndcg_score,
    roc_auc_score,
)

N = 60
RNG = np.random.default_rng(0)
Y = (np.arange(N) % 3 == 0).astype(float)
S = Y + RNG.normal(size=N)
X = np.c_[S, RNG.normal(size=(N, 2))]
QID = np.arange(N) // 6

# Each takes X, labels, scores, ids.
DOORS = {
    "auc": lambda X, y, s, qid: roc_auc_score(y, s),
    "ap": lambda X, y, s, qid: average_precision_score(y, s, qid=qid),
    "ndcg": lambda X, y, s, qid: ndcg_score(y, s, qid=qid),
    "metric_interval": lambda X, y, s, qid: metric_interval("auc", y, s),
    "compare": lambda X, y, s, qid: compare("auc", y, {"a": s, "b": s}),
    "compare of queries": lambda X, y, s, qid: compare("ndcg", y, {"a": s, "b": s}, qid=qid),
    "scorer": lambda X, y, s, qid: get_scorer("auc")(TopPushRanker().fit(X, Y), X, y),
    **{
        name: lambda X, y, s, qid, ranker=ranker: ranker.fit(X, y)
        for name, ranker in {
            "AccuracyAtTopRanker": AccuracyAtTopRanker(),
            "TopPushRanker": TopPushRanker(),
            "RankEnsembleClassifier": RankEnsembleClassifier(),
        }.items()
    },
    **{
        name: lambda X, y, s, qid, ranker=ranker: ranker.fit(X, y, qid=qid)
        for name, ranker in {
            "OrderPreservingRanker": OrderPreservingRanker(),
            "pairs": OrderPreservingRanker("comparison_hinge"),
            "GroupRankerAdapter": GroupRankerAdapter(LGBMRanker(verbose=-1)),
            "RankEnsemble": RankEnsemble(),
        }.items()
    },
}


@pytest.mark.parametrize("codes", [[-1], [9], [99], [-999], [-1, -2]])
@pytest.mark.parametrize("name", DOORS)
def test_numbers_that_may_mark_missing_labels_are_refused(name, codes):
    y = Y.copy()
    y[1::5] = np.resize(codes, len(y[1::5]))
    with pytest.raises(ValueError, match=r"beside two classes: if that marks|fitted on \[0"):
        DOORS[name](X, y, S, QID)


OTHERS = [
    *((name, "s") for name in ("auc", "ap", "ndcg", "metric_interval", "compare")),
    *((name, "qid") for name in ("ap", "ndcg", "compare of queries")),
    *((name, "y") for name in ("scorer", "AccuracyAtTopRanker", "RankEnsembleClassifier")),
    *((name, "qid") for name in ("OrderPreservingRanker", "GroupRankerAdapter", "RankEnsemble")),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "other"), OTHERS)
def test_columns_of_pandas_in_another_order_are_refused(name, other):
    data = {"X": pd.DataFrame(X), "y": pd.Series(Y), "s": pd.Series(S), "qid": pd.Series(QID)}
    data[other] = data[other].sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match=r"index of \S+ in another order.*\.loc\["):
        DOORS[name](**data)
    DOORS[name](**data | {other: data[other].to_numpy()})
    data[other].index = 100 + data[other].index  # another index says nothing of the order
    DOORS[name](**data)


def test_masked_labels_are_missing_where_labels_may_be_missing():
    y = np.ma.masked_array(Y.astype(int), mask=np.arange(N) % 2 == 1)
    plain = np.where(np.arange(N) % 2 == 1, np.nan, Y)
    for labels in (y, y.astype(bool), y.astype(object)):
        found = metric_interval("auc", labels, S, design="all")
        assert found == metric_interval("auc", plain, S, design="all")
    design = LabelDesign(strata=np.zeros(N))
    np.testing.assert_array_equal(design.sample_weight(y), design.sample_weight(plain))
    certificate = recall_certificate(y, design="all", recall=0.9)
    assert certificate == recall_certificate(plain, design="all", recall=0.9)
    with pytest.raises(ValueError, match="masked values"):
        metric_interval("auc", y, S)


def _updates(door, y, first, second, **columns):
    """Two updates with the rows of one list, or with halves of its queries."""
    for part, score in ((slice(None, N // 2), first), (slice(N // 2, None), second)):
        found = door.update(y[part], score, **{name: x[part] for name, x in columns.items()})
    return found


def _partitions(y, first, second):
    """Chunks of two types, as of files that were written by two versions of a program."""
    chunks = [dask.delayed(x) for x in (first, second)]
    lazy = [da.from_delayed(x, (N // 2,), dtype="f8") for x in chunks]
    with dask.config.set(scheduler="synchronous"):
        return roc_auc_score(da.from_array(y, chunks=N // 2), da.concatenate(lazy))


def _difference(y, first, second):
    sequence = ConfidenceSequence("ap", method="asymptotic")
    sequence.update(y[: N // 2], first, baseline_score=-first)
    return sequence.update(y[N // 2 :], second, baseline_score=-second)


# Each ranks scores that come in two parts, all in one list or those of ids.
JOINED = {
    "list": lambda y, *s: _updates(Accumulator("auc"), y, *s).result(),
    "list of grades": lambda y, *s: _updates(Accumulator("kendall"), 2 * y + QID % 2, *s).result(),
    "queries": lambda y, *s: _updates(
        Accumulator("ndcg", queries="split"), y, *s, qid=np.arange(N) % 5
    ).result(),
    "merged": lambda y, *s: (
        Accumulator("ap")
        .update(y[N // 2 :], s[1])
        .merge(Accumulator("ap").update(y[: N // 2], s[0]))
        .result()
    ),
    "partitions": _partitions,
    "ranges of partitions": _partitions,
    "sequence": lambda y, *s: _updates(ConfidenceSequence("ap"), y, *s),
    "sequence of differences": _difference,
    "two samples": lambda y, *s: two_sample_rank_test(*s).pvalue,
    "batch": lambda y, *s: batch_limits(y[: N // 2], *s, random_state=0).to_dict(),
}


@pytest.mark.parametrize("types", ["f4 f8", "f8 f4", "f2 f8", "f4 f2"])
@pytest.mark.parametrize("name", JOINED)
def test_ties_hold_between_scores_of_two_float_types(name, types, monkeypatch):
    if name == "ranges of partitions":
        monkeypatch.setattr(_ranges, "ROWS_OF_RANGE", 8)
        monkeypatch.setattr(_ranges, "N_CELLS", 16)
    tenths = (np.arange(N) * 7 % 11 + Y) / 10
    first, second = np.split(tenths, 2)
    kinds = types.split()
    expected = JOINED[name](Y, first, second)
    found = JOINED[name](Y, first.astype(kinds[0]), second.astype(kinds[1]))
    assert found == (pytest.approx(expected) if isinstance(found, float) else expected)


LONG = [f"q{i // 6}" for i in range(N)]
LONG[:6] = 6 * ["x" * 100_000]  # 24 MB as an array of a fixed width


@pytest.mark.parametrize(
    "name", ["ndcg", "compare of queries", "OrderPreservingRanker", "labels", "groups", "run"]
)
def test_one_long_text_costs_its_own_bytes(name):
    words = [LONG[0] if y else "no" for y in Y]
    entries = {query: {"a": 1.0} for query in LONG}
    doors = {
        "labels": lambda: roc_auc_score(words, S, pos_label=LONG[0]),
        "groups": lambda: metric_interval("auc", Y, S, groups=LONG),
        "run": lambda: join_qrels(load_trec_run(entries), load_qrels(entries)),
    }
    call = doors.get(name) or (lambda: DOORS[name](X, Y, S, LONG))
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


@pytest.mark.parametrize(
    "door",
    [
        lambda name, y: metric_interval(name, y, S),
        lambda name, y: metric_interval(
            name, np.where(np.arange(N) % 5, y, np.nan), S, design="all"
        ),
        lambda name, y: compare(name, y, {"a": S, "b": X[:, 1]}),
        lambda name, y: compare(name, y, {"a": S, "b": X[:, 1]}, method="swap", random_state=0),
        lambda name, y: compare(
            name, y, {"a": S, "b": X[:, 1]}, method="swap", groups=QID, random_state=0
        ),
        lambda name, y: compare(
            name, y, {"a": S, "b": X[:, 1]}, method="bootstrap", random_state=0
        ),
        lambda name, y: compare(
            name, y, {"a": S, "b": X[:, 1]}, qid=np.arange(N) // 20, method="t"
        ),
        lambda name, y: sample_size(name, pilot=(y, S), width=0.2),
        lambda name, y: plan_labels(name, S, y_true=np.where(S > 0, y, np.nan), budget=9),
    ],
)
@pytest.mark.parametrize("name", ["ap", "auc", "precision@top0.2"])
def test_grades_are_two_classes_where_the_name_says_which_are_relevant(name, door, monkeypatch):
    monkeypatch.setattr("sklearn_rank.inference._compare.SWAPS", 49)
    grades = Y * (2 + np.arange(N) % 2) + (1 - Y) * (np.arange(N) % 2)
    found, expected = door(f"{name}(rel>=2)", grades), door(name, Y)
    assert str(found).replace("(rel>=2)", "") == str(expected)
