"""Inputs of two readings are refused at every door, with the line that mends them."""

import io
import json
import re
import tracemalloc
from contextlib import redirect_stderr, redirect_stdout
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import cycle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from lightgbm import LGBMRanker
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_rank import (
    AccuracyAtTopRanker,
    GroupRankerAdapter,
    OrderPreservingRanker,
    RankEnsemble,
    RankEnsembleClassifier,
    TopPushRanker,
)
from sklearn_rank._command import main
from sklearn_rank._validation import as_array, is_missing
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
from sklearn_rank.model_selection import TopThresholdClassifier, cross_val_interval
from tests.naming import for_each

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
            "RankEnsembleClassifier": RankEnsembleClassifier([("linear", LogisticRegression())]),
        }.items()
    },
    **{
        name: lambda X, y, s, qid, ranker=ranker: ranker.fit(X, y, qid=qid)
        for name, ranker in {
            "OrderPreservingRanker": OrderPreservingRanker(),
            "pairs": OrderPreservingRanker("comparison_hinge"),
            "GroupRankerAdapter": GroupRankerAdapter(LGBMRanker(verbose=-1)),
            "RankEnsemble": RankEnsemble([("linear", OrderPreservingRanker())]),
        }.items()
    },
}


@for_each(("name", "codes"), list(zip(DOORS, cycle([[-999], [9], [-1, -2]]))))
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
@for_each(("name", "other"), OTHERS)
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


@pytest.mark.parametrize(
    ("name", "types"),
    [*((name, "f4 f8") for name in JOINED), *zip(JOINED, cycle(["f8 f4", "f2 f8", "f4 f2"]))],
)
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


LOADERS = load_trec_run, load_qrels
LONG = [f"q{i // 6}" for i in range(N)]
LONG[:6] = 6 * ["x" * 100_000]  # 24 MB as an array of a fixed width


TEXTS = [LONG[0] if y else "no" for y in Y]
OF_LONG_TEXTS = {
    **{
        name: lambda name=name: DOORS[name](X, Y, S, LONG)
        for name in ("ndcg", "compare of queries", "OrderPreservingRanker")
    },
    "labels": lambda: roc_auc_score(TEXTS, S, pos_label=LONG[0]),
    "accumulator": lambda: Accumulator("ap", pos_label=LONG[0]).update(TEXTS, S).result(),
    "interval": lambda: metric_interval("auc", TEXTS, S, pos_label=LONG[0]),
    "groups": lambda: metric_interval("auc", Y, S, groups=LONG),
    "run": lambda: join_qrels(*(load({q: {"a": 1} for q in LONG}) for load in LOADERS)),
    "predictions": lambda: TopPushRanker(pos_label=LONG[0]).fit(X, TEXTS).predict(X),
    "scorer": lambda: get_scorer("auc")(
        TopPushRanker(pos_label=LONG[0]).fit(X, TEXTS), X, [*TEXTS[:-1], LONG[0]]
    ),
    "accuracy at the top": lambda: AccuracyAtTopRanker(pos_label=LONG[0]).fit(X, TEXTS),
    "threshold": lambda: TopThresholdClassifier(
        TopPushRanker(pos_label=LONG[0]), min_precision=0.1, random_state=0
    ).fit(X, TEXTS),
    "ensemble": lambda: RankEnsembleClassifier(
        [(name, TopPushRanker(pos_label=LONG[0])) for name in "ab"], pos_label=LONG[0], cv=2
    ).fit(X, TEXTS),
    "folds": lambda: cross_val_interval(
        TopPushRanker(pos_label=LONG[0]), X, TEXTS, measure="auc", cv=2
    ),
    "three classes": lambda: refused(lambda: TopPushRanker().fit(X, LONG)),
}


def refused(call):
    with pytest.raises(ValueError, match="binary") as caught:
        call()
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("call", OF_LONG_TEXTS.values(), ids=OF_LONG_TEXTS)
def test_one_long_text_costs_its_own_bytes(call):
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


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


# One table of columns and one of doors: each door reads in a column what is stated here.

GAPS = np.arange(N) % 7 == 1
PART = np.where(GAPS, np.nan, Y)
WORDS = np.where(Y == 1, "yes", "no")
LIST = [None if gap else int(label) for gap, label in zip(GAPS, Y, strict=True)]
DAY = np.datetime64("2020-01-01")


def arrow(values, kind=None):
    return pd.Series(values, dtype=None if kind is None else pd.ArrowDtype(kind))


def read_by_command(path, options, **columns):
    """What the command line reads in the columns, as text in a file."""

    def cells(values):
        if isinstance(values, np.ma.MaskedArray):
            values = values.astype(object).filled(None)
        items = values.to_pylist() if hasattr(values, "to_pylist") else values
        items = items.tolist() if hasattr(items, "tolist") else items
        return [*("" if is_missing(x) else x.decode() if type(x) is bytes else x for x in items)]

    pd.DataFrame({name: cells(x) for name, x in columns.items()}, dtype=object).to_csv(
        path, index=False
    )
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["evaluate", str(path), "--label", "y", "--format", "json", *options])
    if code:
        raise ValueError(err.getvalue())
    (of_measure,) = json.loads(out.getvalue())["results"]
    return of_measure["estimate"]


def dasked(values):
    if isinstance(values, pd.Series):
        return dd.from_pandas(values, npartitions=2)
    return da.from_array(
        values if isinstance(values, np.ma.MaskedArray) else as_array(values), chunks=N // 2
    )


class FirstColumn(BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


ADAPTER = LGBMRanker(verbose=-1, n_estimators=1, min_child_samples=2, n_jobs=1)
BOTH = {"a": S, "b": -S}


def of_classes(path, y, **positive):
    """Doors that read labels of two classes; of words with ``pos_label``."""
    option = ["--pos-label", next(iter(positive.values()))] if positive else []
    option = [x.decode() if type(x) is bytes else str(x) for x in option]
    one = [*option, "--one-list", "--score", "s", "--measure", "auc"]
    yield "command", lambda: read_by_command(path, one, y=y, s=S)
    yield "metric", lambda: roc_auc_score(y, S, **positive)
    yield "interval", lambda: metric_interval("auc", y, S, **positive).low
    yield "scorer", lambda: get_scorer("auc", **positive)(FirstColumn(), X, y)
    yield "ranker", lambda: TopPushRanker(**positive).fit(X, y).decision_function(X).sum()
    yield "accumulator", lambda: Accumulator("auc", **positive).update(y, S).result()
    yield "dask", lambda: float(roc_auc_score(dasked(y), like(y, S), **positive))
    yield "compare", lambda: compare("auc", y, BOTH, **positive).low[0]
    apart = dict.fromkeys(BOTH, y)
    yield "compare separate", lambda: compare("auc", apart, BOTH, **positive).low[0]
    design = {"design": "all", **positive}
    yield "interval in part", lambda: metric_interval("auc", y, S, **design).low
    yield "certificate in part", lambda: recall_certificate(y, recall=0.5, **design).n_found
    yield (
        "sequence in part",
        lambda: ConfidenceSequence("auc", **positive).update(y, S, design="all").low,
    )


def of_numbers(path, y):
    """Doors that read grades, or classes of numbers only."""
    ranked = ["--qid", "q", "--score", "s", "--measure", "ndcg"]
    ranker, adapter = OrderPreservingRanker(), GroupRankerAdapter(ADAPTER)
    yield "command of grades", lambda: read_by_command(path, ranked, y=y, s=S, q=QID)
    yield "ndcg", lambda: ndcg_score(y, S, qid=QID)
    yield "compare of queries", lambda: compare("ndcg", y, BOTH, qid=QID).pvalues[0]
    yield "scorer of grades", lambda: get_scorer("ndcg")(FirstColumn(), X, y, qid=QID)
    yield "ranker of queries", lambda: ranker.fit(X, y, qid=QID).predict(X).sum()
    yield "adapter", lambda: adapter.fit(X, y, qid=QID).predict(X).sum()
    yield "accumulator of queries", lambda: Accumulator("ndcg").update(y, S, qid=QID).result()


def like(column, values):
    """A dask collection of the kind that goes with a column."""
    return dasked(pd.Series(values) if isinstance(column, pd.Series) else values)


MISSING = r"missing label|masked values|is missing"
CODES = r"beside two classes: if that marks|holds 0, 1 and"
LABELS = {  # what is read, and its columns; in part where NaN, an error where a text
    "numbers": (
        Y,
        {
            **{kind: Y.astype(kind) for kind in ("u8", "f2", "g", ">i4", "O")},
            "bool": Y == 1,
            "list": Y.astype(int).tolist(),
            "objects of bool": (Y == 1).astype(object),
            "Decimal": [Decimal(int(label)) for label in Y],
            "Fraction": [Fraction(int(label)) for label in Y],
            "Int64": pd.Series(Y, dtype="Int64"),
            "boolean": pd.Series(Y == 1, dtype="boolean"),
            "Arrow": arrow(Y.astype(int), pa.int8()),
            "Arrow bool": arrow(Y == 1, pa.bool_()),
            "Arrow decimal": arrow([Decimal(int(label)) for label in Y], pa.decimal128(5, 2)),
            "category": pd.Series(Y, dtype="category"),
            "polars": pl.Series(Y),
            "pyarrow": pa.chunked_array([Y[:9], Y[9:]]),
            "another index": pd.Series(Y, index=np.arange(N) + 7),
            "unused mask": np.ma.masked_array(Y),
        },
    ),
    "missing": (
        PART,
        {
            "NaN": PART,
            "None": LIST,
            "objects": np.array(LIST, dtype=object),
            "Decimal NaN": [Decimal("NaN" if x is None else x) for x in LIST],
            "pandas.NA": [pd.NA if x is None else x for x in LIST],
            "NaT": [pd.NaT if x is None else x for x in LIST],
            "nullable": pd.Series(LIST, dtype="Int64"),
            "nullable bool": pd.Series(LIST, dtype="boolean"),
            "Arrow null": arrow(LIST, pa.int64()),
            "polars null": pl.Series(LIST),
            "category": pd.Series(LIST, dtype="category"),
            "mask": np.ma.masked_array(Y.astype(int), mask=GAPS),
        },
    ),
    "words": (
        Y,
        {
            "text": WORDS,
            "list": WORDS.tolist(),
            "objects": WORDS.astype(object),
            "category": pd.Series(WORDS, dtype="category"),
            "string": pd.Series(WORDS, dtype="string"),
            "Arrow": arrow(WORDS, pa.string()),
            "polars": pl.Series(WORDS, dtype=pl.Categorical),
            "pyarrow": pa.array(WORDS),
        },
    ),
    "words in part": (
        PART,
        {
            "None": np.where(GAPS, None, WORDS),
            "NaN in a list": [np.nan if gap else x for gap, x in zip(GAPS, WORDS, strict=True)],
        },
    ),
    CODES: (
        CODES,
        {
            **{str(code): np.where(GAPS, code, Y) for code in (-1, 99)},
            "unsigned": np.where(GAPS, 99, Y).astype("u1"),
            "objects": np.where(GAPS, -1, Y).astype(object),
            "Decimal": [Decimal(int(x)) for x in np.where(GAPS, -1, Y)],
            "nullable": pd.Series(np.where(GAPS, 9, Y), dtype="Int64"),
            "Arrow": arrow(np.where(GAPS, 9, Y), pa.int32()),
            "category": pd.Series(np.where(GAPS, 9, Y), dtype="category"),
        },
    ),
    "must be|has dates|takes value in|holds words|Complex|Unknown|unknown": (
        "must be|has dates|takes value in|holds words|Complex|Unknown|unknown",
        {
            "dates": DAY + Y.astype(int),
            "Timestamps": pd.Series(DAY + Y.astype(int)),
            "objects of dates": [date(2020, 1, 1 + int(label)) for label in Y],
            "complex": Y + 0j,
            "complex list": (Y + 0j).tolist(),
        },
    ),
}


@pytest.fixture(scope="module")
def plain_readings(tmp_path_factory):
    """What doors give for arrays of floats, each computed once."""
    path, known = tmp_path_factory.mktemp("plain") / "t.csv", {}

    def reading(key, doors, values):
        if key not in known:
            known[key] = {name: outcome(call) for name, call in doors(path, values)}
        return known[key]

    return reading


def outcome(call):
    """The value, or the text of an ordinary error that is meant for the user."""
    try:
        return float(call())
    except (TypeError, ValueError) as error:
        return str(error)


def disagreements(found, expected):
    """Doors that read something else, or refuse where it is to be read."""
    for name, value in found.items():
        right = expected if isinstance(expected, str) else expected[name]
        if isinstance(right, str):
            agree = isinstance(value, str) and re.search(right, value)
        else:
            agree = value == pytest.approx(right, rel=1e-9)
        if not agree:
            yield name, value, right


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "column"), [(kind, column) for kind in LABELS for column in LABELS[kind][1]]
)
def test_each_door_reads_the_same_labels(kind, column, plain_readings, tmp_path):
    reading, columns = LABELS[kind]
    y, path, positive = columns[column], tmp_path / "t.csv", {}
    if kind.startswith("words"):
        positive = {"pos_label": "yes"}
    of_y = {name: outcome(call) for name, call in of_classes(path, y, **positive)}
    if not isinstance(reading, str):
        reading = plain_readings((kind, "classes"), of_classes, reading)
        missing = {n: x if n.endswith("in part") else MISSING for n, x in reading.items()}
        reading = missing if np.isnan(LABELS[kind][0]).any() else reading
        assert [n for n, x in reading.items() if isinstance(x, str) and x != MISSING] == []
    assert list(disagreements(of_y, reading)) == []
    of_y = {name: outcome(call) for name, call in of_numbers(path, y)}
    if kind.startswith("words"):
        reading = dict.fromkeys(of_y, rf"== 'yes'|--pos-label yes|{MISSING}")
    elif not isinstance(reading, str):
        reading = plain_readings((kind, "numbers"), of_numbers, LABELS[kind][0])
        missing = {n: x if n.endswith("in part") else MISSING for n, x in reading.items()}
        reading = missing if np.isnan(LABELS[kind][0]).any() else reading
    assert list(disagreements(of_y, reading)) == []


def of_scores(path, s):
    one = ["--one-list", "--score", "s", "--measure", "auc"]
    yield "command", lambda: read_by_command(path, one, y=Y, s=s)
    yield "metric", lambda: roc_auc_score(Y, s)
    yield "ndcg", lambda: ndcg_score(Y, s, qid=QID)
    yield "interval", lambda: metric_interval("auc", Y, s).low
    yield "in part", lambda: metric_interval("auc", PART, s, design="all").low
    yield "compare", lambda: compare("auc", Y, {"a": s, "b": -S}).low[0]
    yield "separate", lambda: compare("auc", {"a": Y, "b": Y}, {"a": -S, "b": s}).low[0]
    yield "accumulator", lambda: Accumulator("auc").update(Y, s).result()
    yield "sequence", lambda: ConfidenceSequence("auc").update(Y, s).low
    yield "dask", lambda: float(roc_auc_score(like(s, Y), dasked(s)))


NO_SCORE = r"must be|has dates|Complex|not a number|NaN at row|is missing|masked|beyond 2"
SCORES = {
    **{kind: (S.astype(kind), S.astype(kind)) for kind in ("f2", ">f8", "g")},
    "int8": ((9 * S).astype("b"), (9 * S).astype("b")),
    "Decimal": ([Decimal(str(x)) for x in S], S),
    "Float64": (pd.Series(S, dtype="Float64"), S),
    "Arrow": (arrow(S, pa.float64()), S),
    "category": (pd.Series(S, dtype="category"), S),
    "polars": (pl.Series(S), S),
    "infinite": (np.where(GAPS, np.inf, S), np.where(GAPS, np.inf, S)),
    "NaN": (np.where(GAPS, np.nan, S), NO_SCORE),
    "None": ([None if gap else x for gap, x in zip(GAPS, S, strict=True)], NO_SCORE),
    "Arrow null": (arrow(np.where(GAPS, None, S), pa.float64()), NO_SCORE),
    "mask": (np.ma.masked_array(S, mask=GAPS), NO_SCORE),
    "words": (WORDS, NO_SCORE),
    "dates": (DAY + np.arange(N), NO_SCORE),
    "complex": ((S + 0j).tolist(), NO_SCORE),
    "large": (2**60 + np.arange(N), NO_SCORE),
}


def of_ids(path, ids):
    ranked = ["--qid", "q", "--score", "s", "--measure", "ndcg"]
    ranker, adapter = OrderPreservingRanker(), GroupRankerAdapter(ADAPTER)
    yield "command", lambda: read_by_command(path, ranked, y=Y, s=S, q=ids)
    yield "ndcg", lambda: ndcg_score(Y, S, qid=ids)
    yield "interval", lambda: metric_interval("ndcg", Y, S, qid=ids).low
    yield "groups", lambda: metric_interval("auc", Y, S, groups=ids).low
    yield "compare", lambda: compare("ndcg", Y, BOTH, qid=ids).low[0]
    yield "compare of groups", lambda: compare("auc", Y, BOTH, groups=ids).low[0]
    yield "scorer", lambda: get_scorer("ndcg")(FirstColumn(), X, Y, qid=ids)
    yield "ranker of queries", lambda: ranker.fit(X, Y, qid=ids).predict(X).sum()
    yield "adapter", lambda: adapter.fit(X, Y, qid=ids).predict(X).sum()
    yield "accumulator", lambda: Accumulator("ndcg").update(Y, S, qid=ids).result()
    design = LabelDesign(strata=ids)
    yield "strata", lambda: metric_interval("auc", PART, S, design=design).low
    yield "dask", lambda: float(ndcg_score(like(ids, Y), like(ids, S), qid=dasked(ids)))


NAMES = np.array([f"q{i}" for i in QID])
NO_ID = r"is missing|masked values|lengths|must be one-dim|has dtype|must be numeric"
IDS = {
    **{kind: (QID.astype(kind), QID) for kind in ("u8", "f2", "g", "O", ">i4", "m8[D]")},
    "text": (NAMES, QID),
    "bytes": (NAMES.astype("S"), QID),
    "list": (NAMES.tolist(), QID),
    "long texts": ([name + "x" * 10_000 * (name == "q3") for name in NAMES.tolist()], QID),
    "category": (pd.Series(NAMES, dtype="category"), QID),
    "Int64": (pd.Series(QID, dtype="Int64"), QID),
    "Arrow": (arrow(NAMES, pa.string()), QID),
    "polars": (pl.Series(NAMES), QID),
    "dates": (DAY + QID, DAY + QID),
    "Timestamps": (pd.Series(DAY + QID), DAY + QID),
    "objects of dates": ([date(2020, 1, 1 + int(i)) for i in QID], DAY + QID),
    "Decimal": ([Decimal(int(i)) for i in QID], QID),
    "large": (QID + 2**60, QID),
    "NaN": (np.where(GAPS, np.nan, QID), NO_ID),
    "None": (np.where(GAPS, None, NAMES), NO_ID),
    "nullable": (pd.Series(np.where(GAPS, None, QID), dtype="Int64"), NO_ID),
    "mask": (np.ma.masked_array(QID, mask=GAPS), NO_ID),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("doors", "column"),
    [(of_scores, name) for name in SCORES] + [(of_ids, name) for name in IDS],
)
def test_each_door_reads_the_same_scores_and_ids(doors, column, plain_readings, tmp_path):
    values, reading = (SCORES if doors is of_scores else IDS)[column]
    if not isinstance(reading, str):
        key = (doors, reading.tobytes())
        plain = reading if reading.dtype.kind == "M" else reading.astype(np.float64)
        reading = plain_readings(key, doors, plain)
        assert [x for x in reading.values() if isinstance(x, str)] == []
    found = {name: outcome(call) for name, call in doors(tmp_path / "t.csv", values)}
    assert list(disagreements(found, reading)) == []
