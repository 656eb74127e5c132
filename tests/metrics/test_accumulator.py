"""Accumulators: the value of all rows, however they were split and merged."""

import pickle
from contextlib import contextmanager, nullcontext

import numpy as np
import pandas
import pyarrow
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import (
    Accumulator,
    get_measure,
)
from sklearn_rank.metrics._ranges import ScoreTable
from tests.catalogue import FUNCTIONS
from tests.naming import for_each

pytestmark = pytest.mark.filterwarnings(f"ignore::{SmallTopWarning.__module__}.SmallTopWarning")

N = 60
every_function = for_each("case", FUNCTIONS)


def data(case, seed, n=N):
    """Labels of all grades, scores of few values, ids, weights of the kind that is taken."""
    rng = np.random.default_rng(seed)
    y_true = rng.choice(case.grades, n)
    y_true[: len(case.grades)] = case.grades
    columns = {"y_true": y_true, "y_score": rng.integers(0, 8, n) / 4}
    if case.weights != "none" and seed % 3:
        whole = case.weights == "whole" or seed % 3 == 1
        weight = rng.integers(0, 3, n).astype(float) if whole else rng.choice([0.0, 1.5, 1.7], n)
        weight[: len(case.grades)] = 1.0
        columns["sample_weight"] = weight
    order = rng.permutation(n)
    return {name: column[order] for name, column in columns.items()}


def split(columns, parts):
    """Rows by the part that each is of, an empty part included."""
    for part in range(parts.max() + 2):
        yield {name: column[parts == part] for name, column in columns.items()}


def grown(measure, batches, rng, **options):
    """Accumulators of some batches each, merged as a random tree, pickled on the way."""
    several = []
    for batch in batches:
        if not several or rng.random() < 0.5:
            several.append(Accumulator(measure, **options))
        several[rng.integers(len(several))].update(**batch)
    while len(several) > 1:
        first = several.pop(rng.integers(len(several)))
        second = several[rng.integers(len(several))]
        before = pickle.dumps(first)
        second.merge(first)
        assert pickle.dumps(first) == before or first.result() == pickle.loads(before).result()
    return pickle.loads(pickle.dumps(several[0]))


def close(value):
    return pytest.approx(value, rel=1e-12, abs=1e-13, nan_ok=True)


@contextmanager
def in_update(number, message):
    with pytest.raises((TypeError, ValueError), match=f"^In update {number}: .*{message}"):
        yield


# ------------------------------------------------------------------------------ the same value


@every_function
def test_one_list_in_any_parts(case):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        columns, measure = data(case, seed), case.measure
        # Parts of one class, parts of one row, and parts in the order of the scores.
        parts = rng.integers(0, 1 + rng.integers(1, 8), N)
        if seed == 2:
            parts = np.searchsorted(np.unique(columns["y_true"]), columns["y_true"])
        accumulator = grown(measure, split(columns, parts), rng)
        assert accumulator.result() == close(case(**columns))
        counted = columns.get("sample_weight", np.ones(N)) > 0
        assert accumulator.n_items == np.count_nonzero(counted)


@every_function
def test_queries_in_any_parts(case):
    rng = np.random.default_rng(7)
    columns, measure = data(case, 1), case.measure
    columns["qid"] = rng.permutation(np.arange(N) % 7)
    columns["query_weight"] = (columns["qid"] % 3).astype(float)
    columns["y_true"][columns["qid"] == 5] = case.grades[0]
    if "sample_weight" in columns:
        columns["sample_weight"][columns["qid"] == 4] = 1.0
    part_of = rng.integers(0, 3, 7)
    with pytest.warns() if case.undefined([case.grades[0]] * 3) else nullcontext():
        expected = case(**columns)
        whole = grown(measure, split(columns, part_of[columns["qid"]]), rng)
        assert whole.result() == close(expected)
        parts = rng.integers(0, 4, N)
        scattered = grown(measure, split(columns, parts), rng, queries="split")
        assert scattered.result() == close(expected)


def test_rows_of_two_dimensions_are_lists():
    y_true = np.array([[1, 0, np.nan], [0, 0, 1], [1, 1, 0], [0, 1, 0]])
    y_score = np.array([[1, 2, 0], [1, 1, 1], [3, 1, 2], [0, 0, 1.0]])
    first = Accumulator("rr").update(y_true[:1], y_score[:1])
    second = Accumulator("rr").update(y_true[1:3], y_score[1:3]).update(y_true[3:], y_score[3:])
    expected = get_measure("rr")(y_true, y_score)
    assert first.merge(second).result() == close(expected)
    assert first.query_values.ids.tolist() == [0, 1, 2, 3]
    split = Accumulator("rr", queries="split").update(y_true[:1], y_score[:1])
    split.merge(Accumulator("rr", queries="split").update(y_true[1:], y_score[1:]))
    assert split.result() == close(expected)


TWO_TYPES = ["f2 i1", "i4 f4", "u4 i4", "i8 f4", "? f4"]


@for_each("dtypes", TWO_TYPES)
def test_scores_of_parts_compare_as_numpy_compares_them(dtypes):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 40)
    y_score = [rng.integers(0, 6, 20).astype(dtype) for dtype in dtypes.split()]
    accumulator = Accumulator("auc").update(y_true[:20], y_score[0])
    accumulator.update(y_true[20:], y_score[1])
    expected = get_measure("auc")(y_true, np.concatenate(y_score))
    assert accumulator.result() == close(expected)


def test_zeros_and_infinities():
    accumulator = Accumulator("auc").update([1, 0], [0.0, np.inf]).update([0, 1], [-0.0, -np.inf])
    assert accumulator.result() == get_measure("auc")([1, 0, 0, 1], [0.0, np.inf, -0.0, -np.inf])
    assert len(accumulator.table) == 4


@pytest.mark.parametrize("name", ["auc", "ap", "spearman", "precision@3", "precision@top0.3"])
def test_many_small_updates(name):
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 2, 500), rng.integers(0, 300, 500)
    accumulator = Accumulator(name)
    for row in range(500):
        accumulator.update(y_true[row : row + 1], y_score[row : row + 1])
        if row in (100, 300):
            so_far = y_true[: row + 1], y_score[: row + 1]
            assert accumulator.result() == close(get_measure(name)(*so_far))
    assert accumulator.result() == close(get_measure(name)(y_true, y_score))


def test_equal_rows_are_kept_once_and_are_seldom_looked_for(monkeypatch):
    looked = []
    found = ScoreTable.condensed
    monkeypatch.setattr(ScoreTable, "condensed", lambda *given: looked.append(0) or found(*given))
    rng = np.random.default_rng(0)
    distinct, tied = Accumulator("auc"), Accumulator("auc")
    for _ in range(1000):
        y_true = rng.integers(0, 2, 32)
        distinct.update(y_true, rng.random(32))
    assert len(looked) < 11
    assert len(distinct.table) == 32_000
    for _ in range(100):
        tied.update(rng.integers(0, 2, 32), rng.integers(0, 5, 32))
    assert sum(map(len, tied._kept._parts)) < 150
    assert len(tied.table) == 10
    assert tied.table.weight.sum() == tied.n_items == tied.table.single.n_rows == 3200


def test_what_is_kept_is_not_the_callers():
    for name in ("auc", "rr"):
        y_true, y_score = np.array([1, 0, 1.0]), np.array([1.0, 2.0, 3.0])
        accumulator = Accumulator(name).update(y_true, y_score)
        before = accumulator.result()
        y_score[:] = [3.0, 2.0, 1.0]
        assert accumulator.result() == before


def test_the_order_of_the_rows_that_a_system_sees_is_that_of_the_updates():
    measure = get_measure("ndcg@3", convention="lightgbm")
    y_true, y_score = [0, 2, 1, 0, 1], [1, 1, 1, 2, 1]
    accumulator = Accumulator(measure).update(y_true[:2], y_score[:2])
    accumulator.merge(Accumulator(measure).update(y_true[2:], y_score[2:]))
    assert accumulator.result() == measure(y_true, y_score)


# ---------------------------------------------------------------------------------- the labels


def test_classes_are_those_of_all_parts():
    words = np.array(["spam", "spam", "ham", "ham", "spam"])
    score = np.array([3.0, 1.0, 2.0, 0.0, 2.0])
    accumulator = Accumulator("auc", pos_label="spam")
    accumulator.update(words[2:4], score[2:4]).update(words[:2], score[:2])
    accumulator.update(pandas.Series(words[4:], dtype="category"), score[4:])
    assert accumulator.result() == get_measure("auc")(words, score, pos_label="spam")
    for labels in (["eggs", "spam"], ["eggs"], [0, 1]):
        before = accumulator.n_items
        with in_update(3, ""):
            accumulator.update(labels, [1.0, 2.0][: len(labels)])
        assert accumulator.n_items == before


@for_each(
    ("first", "second"),
    [([0, 1], [-1, 1]), ([1], ["1"]), ([0], [-1]), ([-1], [0, 1]), ([True, False], [-1])],
)
def test_labels_of_parts_that_are_not_read_alike(first, second):
    accumulator = Accumulator("auc").update(first, np.arange(len(first)))
    with pytest.raises(ValueError, match=r"^In update 1: y_true "):
        accumulator.update(second, np.arange(len(second)))
    other = Accumulator("auc", pos_label="1" if second == ["1"] else None)
    other.update(second, np.arange(len(second)))
    with pytest.raises(ValueError, match=r"updates had|pos_label=None and '1'"):
        accumulator.merge(other)


def test_labels_that_are_read_alike():
    accumulator = Accumulator("auc").update([1], [1.0]).update([False], [0.0])
    accumulator.update([1.0, 0.0], [0.5, 2.0]).update(np.array([1, 0], dtype=object), [0.5, 3.0])
    assert accumulator.result() == get_measure("auc")([1, 0, 1, 0, 1, 0], [1, 0, 0.5, 2, 0.5, 3])
    grades = Accumulator("ap(rel>=2)").update([0, 1], [1.0, 2.0]).update([3, 2], [0.0, 1.0])
    assert grades.result() == close(get_measure("ap(rel>=2)")([0, 1, 3, 2], [1.0, 2.0, 0.0, 1.0]))


def test_one_class_in_all():
    accumulator = Accumulator("auc").update([1], [1.0]).update([1], [2.0])
    with pytest.warns(UndefinedMetricWarning, match="roc_auc_score is undefined for the list"):
        assert np.isnan(accumulator.result())


# --------------------------------------------------------------------------------- the weights


def test_single_weights_decide_what_weights_are():
    # Sums of these are whole, the weights are not: the top is no whole number of items.
    y_true, score = np.array([1, 1, 0, 0, 1, 1]), np.array([3.0, 3.0, 2.0, 2.0, 1.0, 1.0])
    weight = np.array([0.5, 0.5, 0.25, 1.75, 1.5, 1.5])
    for name in ("precision@top0.3", "partial_auc@fpr0.4", "auc"):
        accumulator = Accumulator(name)
        for row in range(6):
            part = slice(row, row + 1)
            accumulator.update(y_true[part], score[part], sample_weight=weight[part])
        expected = get_measure(name)(y_true, score, sample_weight=weight)
        assert accumulator.result() == close(expected)
    with in_update(0, "not whole"):
        Accumulator("ap").update([1, 1], [1.0, 1.0], sample_weight=[0.5, 0.5])


@pytest.mark.parametrize(
    ("measure", "options", "qid"),
    [
        ("dcg", {}, None),
        ("dcg", {}, [7, 7]),
        ("dcg", {"queries": "split"}, [7, 7]),
        ("local_auc@0.5", {}, None),
    ],
)
def test_weights_below_1_are_refused_where_positions_are_counted(measure, options, qid):
    accumulator = Accumulator(measure, **options)
    with in_update(0, r"sample_weight is 0\.5 in row 1.* counts positions"):
        accumulator.update([1, 0], [1.0, 2.0], qid=qid, sample_weight=[1.5, 0.5])


def test_weights_of_all_updates_that_lose_the_lightest_are_refused():
    lost = Accumulator("dcg").update([1], [1.0], sample_weight=[1.5])
    lost.update([1], [1.0], sample_weight=[1e20])
    with pytest.raises(ValueError, match=r"2\*\*53 times its smallest"):
        lost.result()


def test_what_counts_for_nothing():
    accumulator = Accumulator("auc").update([], []).update(["x"], [np.nan], sample_weight=[0])
    accumulator.merge(Accumulator("auc"))
    with pytest.raises(ValueError, match="no rows to evaluate auc"):
        accumulator.result()
    accumulator.update([1, 0], [1.0, 2.0]).merge(Accumulator("auc"))
    assert accumulator.n_items == 2
    assert Accumulator("auc").merge(accumulator).result() == 0.0
    of_queries = Accumulator("ap").update([1, 0], [1, 2], qid=[0, 0], query_weight=[0, 0])
    with pytest.raises(ValueError, match="query_weight is zero for all queries"):
        of_queries.result()
    of_queries.update([1, 0], [2, 1], qid=[1, 1], query_weight=[2, 2])
    assert of_queries.result() == 1.0


# --------------------------------------------------------------------------------- the queries


@pytest.mark.parametrize("ids", [[3, 1, 2], ["c", "a", "b"], [2**63, 1, 5]])
def test_a_query_in_two_updates_is_refused(ids):
    accumulator = Accumulator("ap")
    for one in ids:
        accumulator.update([1, 0], [1.0, 2.0], qid=[one] * 2)
    other = "z" if ids[0] == "c" else 9
    with in_update(3, f"Query {ids[1]!r} has rows in two updates.*queries='split'"):
        accumulator.update(
            [1, 0, 1],
            [1.0, 2.0, 3.0],
            qid=[other, ids[1], ids[1]],
        )
    assert accumulator.n_items == 6
    with pytest.raises(ValueError, match="has rows in two updates"):
        accumulator.merge(accumulator)
    assert accumulator.query_values.ids.tolist() == sorted(ids)


def test_ids_of_two_types():
    accumulator = Accumulator("ap").update([1, 0], [1.0, 2.0], qid=[1, 1])
    with in_update(1, "qid has ids of different types"):
        accumulator.update([1, 0], [1.0, 2.0], qid=["1", "1"])
    accumulator.update([1, 0], [1.0, 2.0], qid=np.array([2.5, 2.5]))
    with in_update(2, "Query 1.0 has rows in two"):
        accumulator.update([1, 0], [1.0, 2.0], qid=np.array([1.0, 1.0]))


def test_a_scale_that_ends_with_the_highest_grade_of_all():
    with in_update(0, "max_grade=.*queries='split'"):
        Accumulator("err").update([2, 0], [1.0, 2.0], qid=[1, 1])
    split = Accumulator("err", queries="split").update([2, 0], [1.0, 2.0], qid=[1, 1])
    split.update([3, 0], [1.0, 2.0], qid=[2, 2])
    expected = get_measure("err")([2, 0, 3, 0], [1.0, 2.0] * 2, qid=[1, 1, 2, 2])
    assert split.result() == close(expected)
    assert Accumulator("err").update([1, 0], [1.0, 2.0], qid=[1, 1]).result() == 0.25


def test_undefined_queries_are_told_of_all():
    accumulator = Accumulator("ap").update([0, 0], [1, 2], qid=[5, 5]).update([1], [1], qid=[4])
    with pytest.warns(UndefinedMetricWarning, match=r"1 of 2 lists \(no positive\)"):
        assert accumulator.result() == 0.5
    raising = Accumulator(get_measure("ap", undefined="raise")).update([0], [1], qid=[5])
    raising.update([0], [1], qid=[3])
    with pytest.raises(ValueError, match="the list with qid 3 has no positive"):
        raising.result()


# -------------------------------------------------------------------------------- bad arguments


def test_forms_do_not_mix():
    accumulator = Accumulator("dcg").update([1, 0], [1.0, 2.0])
    with in_update(1, "This update has rows with qid, but earlier updates have rows of one list"):
        accumulator.update([1, 0], [1.0, 2.0], qid=[1, 1])
    with in_update(1, "one list per row"):
        accumulator.update([[1, 0]], [[1.0, 2.0]])
    with in_update(1, "query_weight weights queries"):
        accumulator.update([1, 0], [1.0, 2.0], query_weight=[1, 1])
    assert accumulator.result() == get_measure("dcg")([1, 0], [1.0, 2.0])


@for_each(
    ("arguments", "message"),
    [
        (([1, 0], [np.nan, 1.0]), "y_score is NaN at row 0"),
        (([1, 0], [1.0]), r"y_true has shape \(2,\), but y_score \(1,\)"),
        (([], [1.0]), "y_true is empty"),
        (([2, 0], [1.0, 2.0]), "pos_label"),
        (([[1], [0, 1]], [1.0, 2.0]), "rows of different lengths"),
    ],
)
def test_errors_say_in_which_update(arguments, message):
    accumulator = Accumulator("auc").update([1], [1.0])
    with in_update(1, message):
        accumulator.update(*arguments)
    assert accumulator.n_items == 1


def test_only_alike_accumulators_merge():
    for other in (Accumulator("ap"), Accumulator("auc", pos_label=1)):
        with pytest.raises(ValueError, match="make both with the same arguments"):
            Accumulator("auc").merge(other)
    with pytest.raises(TypeError, match="not with a list"):
        Accumulator("auc").merge([1])
    with pytest.raises(ValueError, match="queries='all'"):
        Accumulator("auc", queries="all")


# --------------------------------------------------------------------------------- from batches


def test_batches_of_any_kind():
    y_true, y_score = np.array([1, 0, 1, 0]), np.array([0.3, 0.2, 0.1, 0.2])
    qid = np.array([1, 1, 2, 2])
    frame = pandas.DataFrame({"label": y_true, "score": y_score, "query": qid})
    names = {"y_true": "label", "y_score": "score", "qid": "query"}
    batches = pyarrow.Table.from_pandas(frame).to_batches(max_chunksize=2)
    expected = get_measure("auc")(y_true, y_score, qid=qid)
    parts = [slice(2), slice(2, 4)]
    tuples = [(y_true[part], y_score[part], qid[part]) for part in parts]
    named = [dict(zip(("y_true", "y_score", "qid"), one, strict=True)) for one in tuples]
    assert Accumulator.from_batches(tuples, "auc").result() == expected
    assert Accumulator.from_batches(lambda: iter(named), "auc").result() == expected
    assert Accumulator.from_batches(batches, "auc", **names).result() == expected
    assert Accumulator.from_batches([frame[:2], frame[2:]], "auc", **names).result() == expected
    assert Accumulator.from_batches([], "auc").n_items == 0


def test_batches_that_are_none():
    with pytest.raises(ValueError, match="Batch 1, a DataFrame, has no columns"):
        Accumulator.from_batches([([1], [2]), pandas.DataFrame({"a": [1]})], "auc")
    with pytest.raises(ValueError, match="Batch 0 is a tuple of length 1"):
        Accumulator.from_batches([([1],)], "auc")
    assert repr(Accumulator("ndcg@10")) == "Accumulator('ndcg@10', n_items=0)"
